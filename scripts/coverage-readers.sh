#!/bin/sh
# How much code of Debian's trace-cmd and uftrace is reached by blind mutation, by our generator and by our mutator: a table; see
# tests/tools/coverage_readers.py for how it is measured, and for the arguments. Installs what is missing.
cd "$(dirname "$0")/.." || exit 2
scripts/install.sh --coverage && make -s -j2 all mutators || exit 2
exec python3 tests/tools/coverage_readers.py "$@"
