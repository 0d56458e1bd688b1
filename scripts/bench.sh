#!/bin/bash
# Speed and memory of check on a capture of 100 MB and one of 1 GB, beside `cat` and the format's usual reader, alternately
# on the same file, from the page cache; the best of several runs, and the highest peak. Exit 1 when memory grows with the file.
#
#   scripts/bench.sh [FORMAT...]                          generated captures
#   scripts/bench.sh --repeat FILE [--head BYTES] FORMAT  FILE again and again, but for its first BYTES
#   scripts/bench.sh --repeat DIRECTORY lttng             the blocks of a trace again and again, later each time
#   --runs N  --sizes BYTES,BYTES
set -eu
cd "$(dirname "$0")/.."
[ -x build/tracemend ] || make -s
exec python3 tests/tools/bench.py "$@"
