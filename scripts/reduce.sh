#!/bin/sh
# Results of reduce for captures of 1 MB with one defect, a row for each rule. tests/tools/reduce.py describes the arguments.
cd "$(dirname "$0")/.." || exit 2
exec python3 tests/tools/reduce.py "$@"
