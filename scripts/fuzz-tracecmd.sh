#!/bin/bash
# Runs the mutator on another program's reader: libtracecmd with AFL++.
#
#   scripts/fuzz-tracecmd.sh SOURCE SECONDS [--blind]
#   scripts/fuzz-tracecmd.sh SOURCE --compare [--seconds N] [--trials N] [--jobs N]
#
# SOURCE has the unpacked sources of trace-cmd 3.1.x, which need libtraceevent-dev and libtracefs-dev of Debian 12. The library is
# compiled with coverage; the harness is fuzz/harness_tracecmd.c. --blind runs without the mutator, for comparison. Prints the
# statistics, and the names of the files that were kept. --compare measures how much of the library five methods reach, with a rank
# test: tests/tools/coverage_tracecmd.py (five trials of ten minutes each: 250 minutes for one job).
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source=$(cd "$1" && pwd) seconds=$2 blind=${3:-}
out=build/fuzz/tracecmd
mkdir -p $out/obj

scripts/install.sh --coverage
make -s -j2 all mutators dictionary
flags="-O1 -g -w -D_GNU_SOURCE -DHAVE_ZLIB -DHAVE_ZSTD $(pkg-config --cflags libtraceevent libtracefs)"
include="-I$source/lib/trace-cmd/include -I$source/lib/trace-cmd/include/private -I$source/include/trace-cmd -I$source/include -I$source/lib/trace-cmd"
local="-I$source/tracecmd/include"
objects=()
for file in "$source"/lib/trace-cmd/*.c; do
	name=$(basename "$file" .c)
	# What needs more than the two libraries, or only records.
	case $name in test|trace-timesync-kvm|trace-perf) continue ;; esac
	object=$out/obj/$name.o
	[ "$object" -nt "$file" ] || AFL_QUIET=1 afl-clang-fast $flags $include $local -c "$file" -o "$object"
	objects+=("$object")
done
AFL_QUIET=1 afl-clang-fast $flags $include fuzz/harness_tracecmd.c "${objects[@]}" -fsanitize=fuzzer \
	$(pkg-config --libs libtracefs libtraceevent) -lz -lzstd -o $out/harness

# Few seeds, so that findings are due to the mutator and not to the corpus.
rm -rf $out/seeds $out/queue
mkdir -p $out/seeds
cp corpus/tracedat/valid/valid-28.dat corpus/tracedat/valid/valid-44.dat $out/seeds/
if [ "$seconds" = --compare ]; then
	shift 2
	exec python3 tests/tools/coverage_tracecmd.py $out/harness $out/seeds "$@"
fi
[ "$blind" = --blind ] || export AFL_CUSTOM_MUTATOR_LIBRARY=$PWD/build/libtracemend-mutator.so AFL_CUSTOM_MUTATOR_ONLY=1 TRACEMEND_FORMAT=tracedat
AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 \
	timeout $((seconds + 60)) afl-fuzz -i $out/seeds -o $out/queue -V "$seconds" -t 2000+ -m none -- $out/harness > $out/log 2>&1 || true
[ -f $out/queue/default/fuzzer_stats ] || { tail -20 $out/log; echo "fuzz-tracecmd: afl-fuzz did not run"; exit 1; }
stat() { sed -n "s/^$1 *: *//p" $out/queue/default/fuzzer_stats; }
echo "runs $(stat execs_done), $(stat execs_per_sec) a second; edges $(stat edges_found); queue $(stat corpus_count); crashes $(stat saved_crashes); hangs $(stat saved_hangs)"
ls $out/queue/default/crashes $out/queue/default/hangs 2>/dev/null | grep '^id' | sed 's/^/  /' | head -40
