#!/bin/bash
# The salvage score of each format and kind of damage (tests/tools/salvage.py describes how it is computed).
#   scripts/salvage.sh [--seeds N] [--size BYTES] [--format NAME] [--verbose]
set -eu
cd "$(dirname "$0")/.."
exec python3 tests/tools/salvage.py "$@"
