#!/bin/bash
# The salvage score of each format and kind of damage (tests/tools/salvage.py says how it is counted).
#   scripts/salvage.sh [--seeds N] [--size BYTES] [--format NAME] [--verbose]
set -eu
cd "$(dirname "$0")/.."
exec python3 tests/tools/salvage.py "$@"
