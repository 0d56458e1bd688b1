#!/bin/sh
# What reduce makes of 1 MB captures with one defect each, a row a rule; see tests/tools/reduce.py for the arguments.
cd "$(dirname "$0")/.." || exit 2
exec python3 tests/tools/reduce.py "$@"
