#!/bin/sh
# Code coverage of Debian's trace-cmd and uftrace by blind mutation, the generator and the mutator, as a table. The method and the
# arguments are described in tests/tools/coverage_readers.py. Installs missing packages.
cd "$(dirname "$0")/.." || exit 2
scripts/install.sh --coverage && make -s -j2 all mutators || exit 2
exec python3 tests/tools/coverage_readers.py "$@"
