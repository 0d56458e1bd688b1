#!/bin/bash
# trace-cmd as the real reader of generated captures: report must print as many events as were written. Its Debian build
# reads plain and zstd files; zlib ones are counted as left out. Then what repair makes of damage, by the same reader: the table
# of mutations, and cuts and zeroes at a few places. Prints "skip" and exits 77 where trace-cmd is not installed.
#   tests/readers/tracecmd_reader.sh [COUNT [PLACES [SEED]]]   default 150 captures with --host and half as many of any kind, 6 places
#                                                              (0: no damage), seed 1000
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
count=${1:-150} places=${2:-6} seed=${3:-1000}

command -v trace-cmd > /dev/null || { echo "skip: trace-cmd is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 left=0 events=0

# Lines of report that are no events: headings, hooks, callers of stacks, losses.
no_event=(-e '^cpus=' -e '^start .* end ' -e '^#' -e '^ *$' -e '^[[:space:]]*=> ' -e 'EVENTS DROPPED')
generated() { # NAME ARGUMENTS...: events are counted; with --host nothing may be said on the error output, and no capture is left out
	local name=$1 file records code lines
	shift
	"$build/tracemend" gen -f tracedat "$@" -o "$work/$name" > /dev/null || exit 1
	while IFS=$'\t' read -r file records; do
		timeout 20 trace-cmd report -i "$work/$name/$file" > "$work/out" 2> "$work/err"
		code=$?
		# 2: this build has no such decompressor
		[ $code != 2 ] || [ "$name" = host ] || { left=$((left + 1)); continue; }
		lines=$(grep -c -v "${no_event[@]}" "$work/out")
		if [ "$lines" = "$records" ] && { [ "$name" != host ] || { [ $code = 0 ] && [ ! -s "$work/err" ]; }; }; then
			passed=$((passed + 1)) events=$((events + records))
		else
			failed=$((failed + 1))
			echo "tracecmd: $name/$file: $lines lines, $records events were written (exit $code): $(head -1 "$work/err")"
		fi
	done < <(jq -r '[.file, .records] | @tsv' "$work/$name/labels.jsonl")
}
generated any --seed 1 --count $((count / 2))
generated host --host --seed "$seed" --count "$count"
echo "tracecmd: $events events read, $left captures with zlib left out"

# A script whose last line is "N passed, N failed".
more() { # COMMAND...
	local code
	"$@" > "$work/out" 2>&1
	code=$?
	if [[ $(tail -1 "$work/out") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
		passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
		grep -e FAILED -e '^    ' "$work/out"
		echo "$1: ${BASH_REMATCH[0]}"
	elif [ $code = 77 ]; then
		tail -1 "$work/out"
	else
		failed=$((failed + 1))
		tail -5 "$work/out"
	fi
}
if [ "$places" != 0 ]; then
	more tests/formats/tracedat/tracecmd_mutations.py "$build/tracemend"
	more tests/formats/tracedat/tracecmd_damage.py --tool "$build/tracemend" --places "$places"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
