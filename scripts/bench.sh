#!/bin/bash
# Speed and memory of check for captures of 100 MB and 1 GB, compared with `cat` and the format's usual reader, which run in turn
# on the same file in the page cache. Prints the best of several runs and the highest peak. Exit 1 when memory grows with the file.
#
#   scripts/bench.sh [FORMAT...]                          generated captures
#   scripts/bench.sh --repeat FILE [--head BYTES] FORMAT  repeats FILE without its first BYTES
#   scripts/bench.sh --repeat DIRECTORY lttng             repeats the blocks of a trace, with later times
#   scripts/bench.sh --seeds [N] [FORMAT...]              the slowest beside the median of generated captures of seeds 1 to N (12) of 60 MB,
#                                                         in seconds of processor, with -j1
#   --runs N  --sizes BYTES,BYTES  --seed-size BYTES
set -eu
cd "$(dirname "$0")/.."
[ -x build/tracemend ] || make -s
exec python3 tests/tools/bench.py "$@"
