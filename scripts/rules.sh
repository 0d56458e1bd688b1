#!/bin/bash
# Every rule: emitted, explained, broken by its breaker, in the corpus, tested, and missed when it is switched off.
#   scripts/rules.sh [--format NAME]
set -eu
cd "$(dirname "$0")/.."
exec python3 tests/tools/rules.py "$@"
