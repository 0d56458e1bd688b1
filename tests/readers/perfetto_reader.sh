#!/bin/sh
# Perfetto as the real reader of fxt: it must take generated captures for Fuchsia traces, complain of nothing, and show as many
# slices and counter values as their headers announce. Prints "skip" and exits 77 where the reader cannot be fetched.
# Then repaired captures, DAMAGED of each kind of damage: see tests/readers/perfetto_damage.py.
#   tests/readers/perfetto_reader.sh [COUNT [DAMAGED]]   default 60 captures, 4 damaged. SAMPLES=DIR also checks the real capture there.
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
count=${1:-60} damaged=${2:-4}

scripts/perfetto-setup.sh || { echo "skip: no Perfetto"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

timeout 60 "$build/tracemend" gen -f fxt --count "$count" -o "$work/valid" || { echo "FAIL: gen"; exit 1; }
real=
set -- "$work"/valid/*.fxt
if [ -n "${SAMPLES:-}" ] && [ -e "$SAMPLES/fxt/magic-trace.fxt" ]; then
	real=$SAMPLES/fxt/magic-trace.fxt
	set -- "$@" "$real"
fi
timeout 300 node tests/readers/perfetto_count.mjs "$@" > "$work/counts" 2> "$work/log" || {
	tail -n 3 "$work/log"
	echo "FAIL: Perfetto stopped after $(wc -l < "$work/counts") of $# captures"
	exit 1
}
[ "$(wc -l < "$work/counts")" -eq $# ] || { echo "FAIL: $# captures, $(wc -l < "$work/counts") answers"; exit 1; }
# What the reader is known not to take is left out by the rule that each line names.
jq -r 'select(.skip != "") | .skip' "$work/counts" | sort | uniq -c | sed 's/^ */left out: /'
wrong=$(jq -c 'select(.skip == "") | select(.error != "" or .trace_type != "fuchsia" or .slice != .expected.slice or
	.counter != .expected.counter or ([.stats | keys[] | select(startswith("fuchsia_"))] | length) > 0)' "$work/counts")
[ -z "$wrong" ] || { echo "$wrong"; echo "FAIL: Perfetto differs"; exit 1; }
read_all=$(jq -s '[.[] | select(.skip == "")] | length' "$work/counts")
slices=$(jq -s '[.[] | select(.skip == "") | .slice] | add' "$work/counts")
counters=$(jq -s '[.[] | select(.skip == "") | .counter] | add' "$work/counts")
[ "$read_all" -gt 0 ] || { echo "FAIL: nothing was compared"; exit 1; }
echo "ok: Perfetto reads $read_all of $# captures, $slices slices and $counters counter values, as many as were written"
PYTHONDONTWRITEBYTECODE=1 timeout 900 python3 tests/readers/perfetto_damage.py --tool "$build/tracemend" --cases "$damaged" ${real:+--capture "$real"}
