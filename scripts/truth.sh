#!/bin/bash
# The truth meter: damages captures, repairs them, and counts what is lost, doubted, altered, invented and wrongly claimed to be whole, a format
# and kind of damage (tests/lib/truth.py).
#
#   scripts/truth.sh [FORMAT...] [--damages N] [--jobs N] [--seed N] [--kind GLOB] [--capture GLOB] [--largest BYTES] [--details FILE]
#   scripts/truth.sh --strict ...         exit 1 where altered, invented or claims are not 0
#   scripts/truth.sh --judge small|all    the fixed parts of the tests: fails where a number is above its ceiling (tests/lib/truth_aims.py)
#   scripts/truth.sh --list events|problems|structure FORMAT PATH   what the independent parser says
#   scripts/truth.sh --only ID [--keep DIR]   one damage again, by the id in the details
set -eu
cd "$(dirname "$0")/.."
[ -n "${TRACEMEND-}" ] || [ -x build/tracemend ] || make -s
exec python3 tests/lib/truth.py "$@"
