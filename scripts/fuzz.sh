#!/bin/bash
# A fuzzing campaign on one format.
#
#   scripts/fuzz.sh FORMAT SECONDS [--engine libfuzzer|afl|both] [--target check|repair|gen|all] [--fresh] [--runs N]
#
# FORMAT may be "container". Each target runs SECONDS on each engine, with ASan and UBSan, from the corpus and what earlier
# campaigns found interesting (build/fuzz/queue; --fresh forgets it). --runs stops after so many runs and fixes the random
# numbers, so that the same build does the same again. Exit 1 if anything was found.
set -u
cd "$(dirname "$0")/.."

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
format=$1 seconds=$2
shift 2
engines="libfuzzer" wanted=all fresh=0 limit_libfuzzer=() limit_afl=()
while [ $# -gt 0 ]; do
	case $1 in
	--engine) case ${2:-} in libfuzzer|afl) engines=$2 ;; both) engines="libfuzzer afl" ;; *) usage ;; esac; shift 2 ;;
	--target) wanted=${2:-}; shift 2 ;;
	--fresh) fresh=1; shift ;;
	--runs) case ${2:-} in ''|*[!0-9]*) usage ;; esac; limit_libfuzzer=(-runs="$2" -seed=1) limit_afl=(-E "$2" -s 1); shift 2 ;;
	*) usage ;;
	esac
done
case $seconds in ''|*[!0-9]*) usage ;; esac
if [ "$format" = container ]; then
	targets=container
elif [ "$wanted" = all ]; then
	targets="check_$format repair_$format gen_$format"
else
	targets="${wanted}_$format"
fi

mkdir -p build
for engine in $engines; do
	make -s -j2 fuzz-$engine > build/fuzz-build.log 2>&1 || { tail -20 build/fuzz-build.log; echo "fuzz: the $engine targets do not build"; exit 2; }
done

# Seeds: the corpus, flat. A generator's seeds are only its choices: a few lengths of bytes.
seeds_for() { # TARGET DIR
	mkdir -p "$2"
	case $1 in
	gen_*)
		local n
		for n in 3 16 64 256 1024; do
			head -c "$n" /dev/zero | tr '\0' '\1' > "$2/ones-$n"
			python3 -c "import random,sys; sys.stdout.buffer.write(random.Random($n).randbytes($n))" > "$2/random-$n"
		done ;;
	container)
		find corpus -type f \( -name '*.gz' -o -name '*.zst' -o -name '*.tar' \) -size -64k 2> /dev/null | head -60 | while read -r f; do
			cp "$f" "$2/$(echo "$f" | tr / _)"
		done
		printf 'x' > "$2/x"
		printf 'hello' | gzip -n > "$2/hello.gz"
		printf 'hello' | zstd -q > "$2/hello.zst" ;;
	*)
		find "corpus/$format" -type f ! -name '*.jsonl' -size -64k 2>/dev/null | while read -r f; do
			cp "$f" "$2/$(echo "$f" | tr / _)"
		done
		printf 'x' > "$2/x" ;;
	esac
}

found=0
for target in $targets; do
	seeds=build/fuzz/seeds/$target
	rm -rf "$seeds"
	seeds_for "$target" "$seeds"
	for engine in $engines; do
		binary=build/fuzz/$engine/fuzz_$target
		queue=build/fuzz/queue/$engine/$target
		artifacts=build/fuzz/artifacts/$engine/$target
		log=build/fuzz/$engine-$target.log
		[ $fresh = 1 ] && rm -rf "$queue"
		rm -rf "$artifacts"
		mkdir -p "$queue" "$artifacts"
		[ -x "$binary" ] || { echo "fuzz: no $binary (is $format a format?)"; exit 2; }
		if [ $engine = libfuzzer ]; then
			ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 timeout $((seconds + 120)) \
				"$binary" -max_total_time="$seconds" ${limit_libfuzzer[@]+"${limit_libfuzzer[@]}"} -timeout=10 -rss_limit_mb=3000 -malloc_limit_mb=512 -max_len=65536 \
				-print_final_stats=1 -artifact_prefix="$artifacts/" "$queue" "$seeds" > "$log" 2>&1
			code=$?
			runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
			if [ $code != 0 ]; then
				found=1
				echo "FOUND by $engine in $target (exit $code):"
				grep -m3 'oracle: \|ERROR: \|runtime error\|SUMMARY: ' "$log"
			fi
		else
			rm -rf "$queue/default"
			AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_IGNORE_PROBLEMS=1 \
				ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1 \
				UBSAN_OPTIONS=abort_on_error=1:symbolize=0:halt_on_error=1 timeout $((seconds + 120)) \
				afl-fuzz -i "$seeds" -o "$queue" -V "$seconds" ${limit_afl[@]+"${limit_afl[@]}"} -t 5000+ -m none -- "$binary" > "$log" 2>&1
			code=$?
			runs=$(sed -n 's/^execs_done *: *//p' "$queue/default/fuzzer_stats" 2>/dev/null)
			cp "$queue"/default/crashes/id* "$queue"/default/hangs/id* "$artifacts/" 2>/dev/null
			if [ -z "$runs" ] || [ "$runs" = 0 ]; then
				found=1
				echo "FOUND by $engine in $target: it did not run (exit $code):"
				grep -a -m3 'PROGRAM ABORT\|oracle:\|SUMMARY' "$log"
			elif [ -n "$(ls -A "$artifacts")" ]; then
				found=1
				echo "FOUND by $engine in $target: $(ls "$artifacts" | wc -l) inputs"
			fi
		fi
		echo "fuzz: $target, $engine, ${seconds} s: ${runs:-0} runs, $(ls -A "$artifacts" | wc -l) artifacts"
		for artifact in "$artifacts"/*; do
			[ -e "$artifact" ] || continue
			echo "  replay it with:  build/fuzz/libfuzzer/fuzz_$target $artifact"
			echo "  keep it with:    cp $artifact corpus/${format}/regress/NAME && scripts/corpus.sh $format   (once mended)"
			break
		done
	done
done
exit $found
