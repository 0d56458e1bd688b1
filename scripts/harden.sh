#!/bin/bash
# Measures how thoroughly the program is tested, as tables; takes minutes to hours.
#
#   scripts/harden.sh [--format NAME] [PART...]
#
#   coverage   line and branch coverage of each scanner and repair by the committed corpus
#   faults     every failing allocation and every failing read, over the whole corpus
#   prefixes   every prefix of the small captures of the corpus
#   bytes      every single-byte change of the smallest captures, 3 changes for each byte of the small ones
#   knockout   whether a test fails when a place that reports a rule is silenced
#   linear     instructions for hostile captures and for ones four times as large
#   floods     hostile captures of 1 to 16 MB by family: time and memory of check and repair, as a table
#   hits       HITS (default 10000) damaged captures a format, two in three of real ones: crashes, hangs, exit 70
#   threads    the library in eight threads, and check -j8 over the corpus, with the thread sanitizer
#   kills      repairs of 500 MB that are killed, and inputs that change meanwhile
#   mutants    whether the corpus detects changed operators, for a sample
#
# MUTANTS (default 40) a format. Exit 1 if a promise breaks; coverage and mutants only measure.
set -u
cd "$(dirname "$0")/.."
formats=$(scripts/formats.sh)
[ "${1:-}" = --format ] && { formats=$2; shift 2; }
parts=${*:-coverage faults prefixes bytes knockout linear floods hits threads kills mutants}
: "${MUTANTS:=40}"
export ASAN_OPTIONS=abort_on_error=1:detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
mkdir -p build/harden
scripts/install.sh --harden || exit 1
failed=0

fail() { failed=1; echo "$1"; tail -5 "$2" | sed 's/^/    /'; }
small() { find "corpus/$1" -type f ! -name '*.jsonl' -size "-$2c" | LC_ALL=C sort; }
# Runs replay in a process for each file, so that a broken promise does not hide others.
replayed() { # NAME FORMAT FILES ARGUMENTS...
	local name=$1 format=$2 files=$3 log=build/harden/$1-$2.log good=0 bad=0 file
	shift 3
	: > "$log"
	for file in $files; do
		if timeout 3600 build/asan/replay -q "$@" -f "$format" "$file" >> "$log" 2>&1; then
			good=$((good + 1))
		else
			bad=$((bad + 1)) failed=1
			grep -a 'oracle: \|ERROR: \|runtime error' "$log" | tail -1 | sed "s|^|    $file: |"
		fi
	done
	printf '%-10s %-10s %5d captures hold, %d do not\n' "$name" "$format" $good $bad
}

for part in $parts; do
	case $part in
	coverage)
		make -s -j2 BUILD=build/coverage CC=clang-14 OPT='-O1 -g' SANITIZE='-fprofile-instr-generate -fcoverage-mapping' \
			build/coverage/replay > build/harden/coverage.log 2>&1 || { fail "coverage: does not build" build/harden/coverage.log; continue; }
		for format in $formats; do
			# Once with the format named, once with it recognised.
			LLVM_PROFILE_FILE=build/harden/$format-1.raw build/coverage/replay -q -k 6 -f "$format" "corpus/$format" > build/harden/coverage.log 2>&1 &&
				LLVM_PROFILE_FILE=build/harden/$format-2.raw build/coverage/replay -q -k 0 -e check "corpus/$format" >> build/harden/coverage.log 2>&1 ||
				{ fail "coverage: $format breaks a promise" build/harden/coverage.log; continue; }
			llvm-profdata-14 merge -sparse build/harden/"$format"-[12].raw -o "build/harden/$format.profile"
			sources=$(find src/formats/"$format" -name "*.c" | grep -v '_gen\|_break\|_put')
			# shellcheck disable=SC2086
			llvm-cov-14 export -summary-only build/coverage/replay -instr-profile="build/harden/$format.profile" $sources | jq -r '
				def row: "\(.summary.lines.percent | floor)% \(.summary.branches.covered)/\(.summary.branches.count) \(.summary.branches.percent | floor)%";
				.data[0] | (.files | sort_by(.summary.branches.percent)[] | "  \(.filename | split("/") | last) \(row)"),
				"'"$format"' \({summary: .totals} | row)"' |
				awk '{ printf "%-30s lines %5s  branches %11s %5s\n", ($0 ~ /^ / ? "  " : "") $1, $2, $3, $4 }'
			# shellcheck disable=SC2086
			llvm-cov-14 show build/coverage/replay -instr-profile="build/harden/$format.profile" -show-branches=count $sources \
				> "build/harden/$format-coverage.txt"
		done
		echo "coverage: uncovered lines are in build/harden/FORMAT-coverage.txt" ;;
	faults|prefixes|bytes)
		make -s -j2 asan > build/harden/asan.log 2>&1 || { fail "$part: does not build" build/harden/asan.log; continue; }
		for format in $formats; do
			case $part in
			faults) replayed faults "$format" "$(small "$format" 100000000)" -k 4000000000 ;;
			prefixes) replayed prefixes "$format" "$(small "$format" 3000)" -k 0 -c 4096 ;;
			bytes)
				replayed bytes "$format" "$(small "$format" 3000 | xargs -r ls -S -r | head -12)" -k 0 -b 4096 -v 255
				replayed bytes-3 "$format" "$(small "$format" 12000)" -k 0 -b 1024 -v 3 ;;
			esac
		done ;;
	knockout) scripts/rules.sh || failed=1 ;;
	linear) for format in $formats; do python3 tests/tools/linear.py --format "$format" || failed=1; done ;;
	floods|hits)
		make -s -j2 all > build/harden/build.log 2>&1 || { fail "$part: does not build" build/harden/build.log; continue; }
		for format in $formats; do
			if [ $part = floods ]; then
				python3 tests/tools/floods.py --format "$format" || failed=1
			else
				python3 tests/tools/hits.py --format "$format" --count "${HITS:-10000}" || failed=1
			fi
		done ;;
	threads)
		make -s -j2 BUILD=build/tsan OPT='-O1 -g' SANITIZE=-fsanitize=thread all build/tsan/tests/unit/test_threads > build/harden/threads.log 2>&1 ||
			{ fail "threads: does not build" build/harden/threads.log; continue; }
		export TSAN_OPTIONS=halt_on_error=1:exitcode=66
		# Its shadow memory does not go with all random places of a program.
		setarch -R timeout 600 build/tsan/tests/unit/test_threads > build/harden/threads.log 2>&1 || fail "threads: the library" build/harden/threads.log
		setarch -R timeout 3600 build/tsan/tracemend check -j8 -q --no-config --fail-on never --format jsonl corpus > build/harden/threads-8.jsonl 2> build/harden/threads.log
		[ $? != 66 ] && ! grep -q ThreadSanitizer build/harden/threads.log || fail "threads: check -j8" build/harden/threads.log
		build/tsan/tracemend check -j1 -q --no-config --fail-on never --format jsonl corpus > build/harden/threads-1.jsonl 2> /dev/null
		cmp build/harden/threads-1.jsonl build/harden/threads-8.jsonl || fail "threads: -j8 says something else than -j1" build/harden/threads.log
		echo "threads    $(wc -l < build/harden/threads-8.jsonl) lines of check -j8" ;;
	kills) make -s -j2 all && python3 tests/tools/interrupted.py || failed=1 ;;
	mutants) for format in $formats; do python3 tests/tools/mutants.py --format "$format" --count "$MUTANTS"; done ;;
	*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
done
exit $failed
