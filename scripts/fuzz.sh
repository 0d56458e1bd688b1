#!/bin/bash
# A fuzzing campaign on one format.
#
#   scripts/fuzz.sh FORMAT SECONDS [--engine libfuzzer|afl|both] [--target check|repair|gen|all] [--fresh] [--runs N]
#                                  [--executions N] [--size BYTES] [--mutator] [--jobs N] [--shared DIR] [--minimise]
#
# FORMAT may be "container". Each target runs for SECONDS with each engine, with ASan and UBSan, from the corpus and the queues of
# earlier campaigns (build/fuzz/queue and minimised; --fresh ignores them). --runs stops after N runs and fixes the random numbers, so
# that the same build repeats the same campaign. --executions stops after N, and adds what was run to fuzz/campaigns.tsv: engine, target,
# executions, edges, finds, commit and date, of which tests/tools/fuzz_table.py makes a section of fuzz/README.md. --size: inputs of at most
# so many bytes (16384), from seeds that are no larger, in a queue of their own: more executions. --mutator changes and splices inputs by
# the parts of their format (check and repair). --jobs runs N instances of the engine that share their queue: with AFL++, a main instance
# and secondary ones with different schedules. --shared keeps the queue in DIR, which several machines may share: the first one runs the
# main instance. --minimise does not fuzz, and must not run during a campaign: from the corpus and the queues of both engines it selects the
# fewest inputs with the same coverage (in SECONDS at most) and stores them in build/fuzz/minimised, from which later campaigns start.
# Exit 1 if anything was found.
set -u
cd "$(dirname "$0")/.."

usage() { sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2; }
number() { case ${1:-} in ''|*[!0-9]*|0) usage ;; esac; }
[ $# -ge 2 ] || usage
format=$1 seconds=$2
shift 2
engines="libfuzzer" wanted=all fresh=0 jobs=1 shared= minimise=0 executions=0 size= mutator=0 limit_libfuzzer=() limit_afl=()
while [ $# -gt 0 ]; do
	case $1 in
	--engine) case ${2:-} in libfuzzer|afl) engines=$2 ;; both) engines="libfuzzer afl" ;; *) usage ;; esac; shift 2 ;;
	--target) wanted=${2:-}; shift 2 ;;
	--fresh) fresh=1; shift ;;
	--minimise) minimise=1; shift ;;
	--runs) number "${2:-}"; limit_libfuzzer=(-runs="$2" -seed=1) limit_afl=(-E "$2" -s 1); shift 2 ;;
	--executions) number "${2:-}"; executions=$2 limit_libfuzzer=(-runs="$2") limit_afl=(-E "$2"); shift 2 ;;
	--size) number "${2:-}"; size=$2; shift 2 ;;
	--mutator) mutator=1; shift ;;
	--jobs) number "${2:-}"; jobs=$2; shift 2 ;;
	--shared) [ -n "${2:-}" ] || usage; shared=$2; shift 2 ;;
	*) usage ;;
	esac
done
number "$seconds"
[ $minimise = 0 ] || engines=libfuzzer # its merge
if [ "$format" = container ]; then
	targets=container
elif [ "$wanted" = all ]; then
	targets="check_$format repair_$format gen_$format"
else
	targets="${wanted}_$format"
fi

mkdir -p build
for engine in $engines; do
	# shellcheck disable=SC2086
	make -s -j2 fuzz-$engine FUZZ_BIN="$(printf "build/fuzz/$engine/fuzz_%s " $targets)" > build/fuzz-build.log 2>&1 || { tail -20 build/fuzz-build.log; echo "fuzz: the $engine targets do not build"; exit 2; }
done
if [ $mutator = 1 ]; then
	make -s -j2 mutators build/tracemend-with-directory > build/fuzz-build.log 2>&1 || { tail -20 build/fuzz-build.log; exit 2; }
	export TRACEMEND_FORMAT=$format AFL_CUSTOM_MUTATOR_LIBRARY=$PWD/build/libtracemend-mutator.so
fi
# Of one input, to libFuzzer. Without -entropic=0, its own accounts take half of the time where a run takes a millisecond.
bounds=(-timeout=10 -rss_limit_mb=3000 -malloc_limit_mb=512 -max_len="${size:-16384}" -entropic=0)
# What is freed stays poisoned for longer than a run takes, and no longer: with ASan's 256 MB, each run is given memory that the caches
# do not hold. Stacks of allocations are short; a replay without this variable prints them whole.
quick=quarantine_size_mb=8:malloc_context_size=4
host=$(hostname | tr -c 'a-zA-Z0-9\n' -)
found=0

# One or more processes that share the queue, which libFuzzer reads again from time to time. Sets $code to the worst exit code.
run_libfuzzer() {
	local job pids=() one
	for ((job = 1; job <= jobs; job++)); do
		ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:$quick timeout $((seconds + 120)) \
			"$binary" -max_total_time="$seconds" ${limit_libfuzzer[@]+"${limit_libfuzzer[@]}"} "${bounds[@]}" \
			-print_final_stats=1 -artifact_prefix="$artifacts/" "$queue" "$seeds" > "$log.$job" 2>&1 &
		pids+=($!)
	done
	code=0
	for one in "${pids[@]}"; do
		wait "$one" || code=$?
	done
	for ((job = 1; job <= jobs; job++)); do cat "$log.$job"; rm "$log.$job"; done > "$log"
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | paste -sd+ | bc)
	[ $code = 0 ] && return
	found=1
	echo "FOUND by $engine in $target (exit $code):"
	grep -m3 'oracle: \|ERROR: \|runtime error\|SUMMARY: ' "$log"
}

afl() { # LOG ARGUMENTS...
	local to=$1
	shift
	AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_IGNORE_PROBLEMS=1 \
		ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1:$quick \
		UBSAN_OPTIONS=abort_on_error=1:symbolize=0:halt_on_error=1 timeout $((seconds + 120)) \
		afl-fuzz -i "$seeds" -o "$queue" -V "$seconds" ${size:+-G "$size"} ${limit_afl[@]+"${limit_afl[@]}"} -t 5000+ -m none "$@" -- "$binary" > "$to" 2>&1
}

# A single instance, or a main one and secondary ones. Instances of other machines are in the same directory, with their names.
run_afl() {
	local schedules=(explore fast coe lin quad exploit rare) names=() pids=() job name one
	if [ "$jobs" = 1 ] && [ -z "$shared" ]; then
		rm -rf "$queue/default"
		afl "$log"
		code=$?
		names=(default)
	else
		for ((job = 0; job < jobs; job++)); do
			name=$host-$job
			rm -rf "${queue:?}/$name"
			# mkdir succeeds for one machine only
			if [ $job = 0 ] && { mkdir "$queue/.main" 2> /dev/null && echo "$host" > "$queue/.main/host" ||
				[ "$(cat "$queue/.main/host" 2> /dev/null)" = "$host" ]; }; then
				afl "$log.$job" -M "$name" &
			else
				afl "$log.$job" -S "$name" -p "${schedules[job % ${#schedules[@]}]}" &
			fi
			pids+=($!)
			names+=("$name")
		done
		code=0
		for one in "${pids[@]}"; do
			wait "$one" || code=$?
		done
		for ((job = 0; job < jobs; job++)); do cat "$log.$job"; rm "$log.$job"; done > "$log"
	fi
	runs=0
	for name in "${names[@]}"; do
		one=$(sed -n 's/^execs_done *: *//p' "$queue/$name/fuzzer_stats" 2> /dev/null)
		runs=$((runs + ${one:-0}))
		for one in "$queue/$name"/crashes/id* "$queue/$name"/hangs/id*; do
			[ ! -e "$one" ] || cp "$one" "$artifacts/$name-$(basename "$one")"
		done
		[ -e "$queue/$name/fuzzer_stats" ] && continue
		found=1
		echo "FOUND by $engine in $target: it did not run (exit $code):"
		grep -a -m3 'PROGRAM ABORT\|oracle:\|SUMMARY' "$log"
	done
	[ -z "$(ls -A "$artifacts")" ] && return
	found=1
	echo "FOUND by $engine in $target: $(ls "$artifacts" | wc -l) inputs"
}

# The libFuzzer target of our mutator.
make_libfuzzer() {
	make -s -j2 fuzz-libfuzzer FUZZ_BIN="$1" > build/fuzz-build.log 2>&1 || { tail -20 build/fuzz-build.log; return 1; }
}

# A row of the table of campaigns.
remember() { # SECONDS
	local edges=0 name dirty=
	if [ "$engine" = libfuzzer ]; then
		edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | sort -n | tail -1)
	else
		for name in "$queue"/*/fuzzer_stats; do
			edges=$(printf '%s\n' "$edges" "$(sed -n 's/^edges_found *: *//p' "$name" 2> /dev/null)" | sort -n | tail -1)
		done
	fi
	git diff --quiet HEAD -- src fuzz ':!fuzz/campaigns.tsv' ':!fuzz/README.md' 2> /dev/null || dirty=+
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$engine$([ $mutator = 0 ] || echo ' with mutator')" "$target" "${runs:-0}" "$1" "${edges:-0}" \
		"$(find "$artifacts" -type f | wc -l)" "$(git rev-parse --short HEAD 2> /dev/null)$dirty" "$(date +%F)" >> fuzz/campaigns.tsv
}

# Inputs are selected by the coverage of the libFuzzer target; those that crash it are left out.
run_minimise() {
	local into=build/fuzz/minimised/$target queues=${shared:-build/fuzz/queue} from=("$seeds") one all
	for one in "$queues/libfuzzer/$target" "$queues/afl/$target"/*/queue; do
		[ ! -d "$one" ] || from+=("$one")
	done
	rm -rf "$into.new"
	mkdir -p "$into.new"
	if ! ASAN_OPTIONS=allocator_may_return_null=1 timeout "$seconds" "build/fuzz/libfuzzer/fuzz_$target" -merge=1 \
		"${bounds[@]}" "$into.new" "${from[@]}" > "build/fuzz/minimise-$target.log" 2>&1; then
		echo "fuzz: $target is not minimised: $(tail -1 "build/fuzz/minimise-$target.log")"
		found=1
		return
	fi
	all=$(find "${from[@]}" -type f ! -path '*/.state/*' ! -name README.txt | wc -l)
	rm -rf "$into" "$queues/libfuzzer/$target" "$queues/afl/$target"
	mv "$into.new" "$into"
	echo "fuzz: $target: $(ls -A "$into" | wc -l) of $all inputs have the coverage of all of them"
}

for target in $targets; do
	seeds=build/fuzz/seeds/$target
	rm -rf "$seeds"
	scripts/seeds.sh "$target" "$seeds"
	if [ $minimise = 1 ]; then
		run_minimise
		continue
	fi
	[ $fresh = 0 ] || rm -rf "build/fuzz/minimised/$target"
	[ ! -d "build/fuzz/minimised/$target" ] || cp "build/fuzz/minimised/$target"/* "$seeds"
	[ -z "$size" ] || find "$seeds" -type f -size +"${size}c" -delete
	for engine in $engines; do
		binary=build/fuzz/$engine/fuzz_$target
		if [ $mutator = 1 ] && [ $engine = libfuzzer ] && [[ $target != gen_* ]]; then
			binary=build/fuzz/libfuzzer/mutating_$target
			make_libfuzzer "$binary" || exit 2
		fi
		queue=${shared:-build/fuzz/queue${size:+-$size}}/$engine/$target
		artifacts=build/fuzz/artifacts/$engine/$target
		log=build/fuzz/$engine-$target.log
		[ $fresh = 1 ] && rm -rf "$queue"
		rm -rf "$artifacts"
		mkdir -p "$queue" "$artifacts"
		[ -x "$binary" ] || { echo "fuzz: no $binary (is $format a format?)"; exit 2; }
		since=$SECONDS
		run_$engine
		[ $executions = 0 ] || remember $((SECONDS - since))
		echo "fuzz: $target, $engine, ${seconds} s: ${runs:-0} runs, $(ls -A "$artifacts" | wc -l) artifacts"
		for artifact in "$artifacts"/*; do
			[ -e "$artifact" ] || continue
			echo "  replay it with:  build/fuzz/libfuzzer/fuzz_$target $artifact"
			echo "  keep it with:    cp $artifact corpus/${format}/regress/NAME && scripts/corpus.sh $format   (once fixed)"
			break
		done
	done
done
exit $found
