#!/bin/bash
# What must hold before each landing, in seconds: it builds; the unit tests; what check and repair make of the corpus; every promise, for
# each file of it. `make test` has all of that, and more.
set -u
cd "$(dirname "$0")/.."
mkdir -p build
make -s -j2 all unit-tests build/replay build/outcome > build/quick.log 2>&1 || { tail -30 build/quick.log; echo "quick: does not build"; exit 1; }
tests/run.sh --quick || { echo "quick: failed"; exit 1; }
echo "quick: ok"
