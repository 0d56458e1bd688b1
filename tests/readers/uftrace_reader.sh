#!/bin/bash
# uftrace as the real reader of generated directories: replay, report and dump must take them without complaint, with a name
# for every function, and dump must show as many records as were written. Prints "skip" and exits 77 where uftrace is not installed.
#   tests/readers/uftrace_reader.sh [COUNT]   default 60 directories
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
count=${1:-60}

command -v uftrace > /dev/null || { echo "skip: uftrace is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
declare -A left_out
passed=0 failed=0 records=0

byte() { od -An -tu1 -j"$2" -N1 "$1/info" | tr -d ' '; }

# Why this reader is not asked: what its release does not know, or gets wrong. Sets $reason; empty: it is asked.
judge() {
	reason=
	[ "$(byte "$1" 14)" = 1 ] || { reason="big-endian: payloads are not swapped by readers"; return; }
	[ "$(byte "$1" 15)" = 2 ] || { reason="32-bit: values are read with the host's word size"; return; }
	[ "$(byte "$1" 8)" = 4 ] || { reason="version 3: its task file had other numbers"; return; }
	[ "$(byte "$1" 17)" -lt 16 ] || { reason="a later writer: symbols with sizes are not read by 0.13"; return; }
	[ ! -s "$1/default.opts" ] || { reason="default.opts filters what is shown"; return; }
	[ ! -e "$1/kernel_header" ] || { reason="kernel data: no reader sees them here, it may be root"; return; }
}

# Why dump is not asked, in $reason: it gets these wrong.
judge_dump() {
	reason=
	! grep -aqE '/f80|fparg[0-9]+/80' "$1"/info "$1"/*.dbg 2> /dev/null || reason="dump only, long double: it aborts"
	[ $(($(byte "$1" 33) * 256 + $(byte "$1" 32))) -le 1024 ] || reason="dump only, nesting beyond 1024: it leaves records out"
}

ask() { # COMMAND DIR: its output to $work/out; false when it fails or complains
	(
		ulimit -v 4000000
		timeout 10 uftrace "$1" --no-pager -d "$2" < /dev/null > "$work/out" 2>&1
	) || { echo "FAIL: uftrace $1 $2: exit $?: $(grep -aim1 error "$work/out")"; return 1; }
	local complaint='invalid rstack read|inverted time|missing argument|\| *<[0-9a-f]+>\('
	# dump takes the time 0 of records of lost events for a step back, and their count for an address.
	[ "$1" = dump ] && grep -aq '\[lost \]' "$work/out" && complaint='invalid rstack read|missing argument'
	if grep -aqE "$complaint" "$work/out"; then
		echo "FAIL: uftrace $1 $2: $(grep -aEm1 "$complaint" "$work/out")"
		return 1
	fi
}

# Records that dump lists from the files of tasks.
shown() {
	awk '/^reading / { task = $2 ~ /^[0-9]+\.dat$/ } task && /^[0-9]+\.[0-9]+ +[0-9]+: \[(entry|exit |lost |event)\]/ { n++ }
		END { print n + 0 }' "$work/out"
}

timeout 120 "$build/tracemend" gen -f uftrace --count "$count" -o "$work/valid" || { echo "0 passed, 1 failed"; exit 1; }
while read -r name written; do
	dir=$work/valid/$name
	judge "$dir"
	if [ -n "$reason" ]; then
		left_out[$reason]=$((${left_out[$reason]:-0} + 1))
		continue
	fi
	good=1
	ask replay "$dir" && ask report "$dir" || good=0
	judge_dump "$dir"
	if [ $good = 1 ] && [ -z "$reason" ]; then
		ask dump "$dir" || good=0
		[ $good = 0 ] || [ "$(shown)" = "$written" ] || { echo "FAIL: $name: dump shows $(shown) of $written records"; good=0; }
		records=$((records + written))
	elif [ $good = 1 ]; then
		left_out[$reason]=$((${left_out[$reason]:-0} + 1))
	fi
	passed=$((passed + good)) failed=$((failed + 1 - good))
done < <(jq -r '"\(.file) \(.records)"' "$work/valid/labels.jsonl")
for reason in "${!left_out[@]}"; do
	echo "left out: ${left_out[$reason]} ($reason)"
done | sort
echo "uftrace replays, reports and dumps $records records"
[ "$passed" -gt 0 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
