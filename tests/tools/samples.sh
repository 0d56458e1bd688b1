#!/bin/bash
# Real captures: SAMPLES is a folder laid out as its README.md describes. Each row of that table that concerns a format of
# this program is held. The last line is "samples: N passed, N failed".
set -u
cd "$(dirname "$0")/../.."
tool=${TOOL:-build/tracemend}
samples=${SAMPLES:?set SAMPLES to the folder of real captures}
work=$(mktemp -d "${TMPDIR:-/tmp}/tracemend-samples.XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "samples: $*"; }
has() { scripts/formats.sh | grep -qx "$1"; }
records() { jq -r '.inputs[0].records' "$work/report"; }
# check PATH: exit code; the report is in $work/report
check() { timeout 300 $tool check --format json "$1" > "$work/report" 2> "$work/err"; }
same() { if [ -d "$1" ]; then diff -r "$1" "$2" > /dev/null; else cmp -s "$1" "$2"; fi; }

# A healthy capture: no error, the number of records (empty: any), identical when repaired, manifest sound.
healthy() { # PATH RECORDS [UNPACKED]
	rm -rf "$work/out"
	check "$1" || { bad "$1: check exits $?: $(jq -r '.inputs[0].findings[] | select(.severity == "error") | .message' "$work/report" 2>/dev/null | head -1)"; return; }
	[ -z "${2:-}" ] || [ "$(records)" = "$2" ] || { bad "$1: $(records) records, not $2"; return; }
	timeout 300 $tool repair "$1" -o "$work/out" --manifest "$work/manifest" > "$work/err" 2>&1 || { bad "$1: repair exits $?: $(head -1 "$work/err")"; return; }
	same "${3:-$1}" "$work/out" || { bad "$1: repair changed it"; return; }
	python3 tests/lib/verify_manifest.py "$work/manifest" "$work/out" > /dev/null 2> "$work/err" || { bad "$(cat "$work/err")"; return; }
	ok
}

# Zeros in what all of the capture hangs on cost no record that they did not hit; or a few, where LEAST is less than RECORDS.
holes() { # CAPTURE RECORDS FROM TO STEP LENGTH [FILE OF A DIRECTORY] [LEAST]
	local at lost=0 count
	for at in $(seq "$3" "$5" "$4"); do
		rm -rf "$work/broken" "$work/out"
		cp -r --no-preserve=mode "$1" "$work/broken"
		dd if=/dev/zero of="$work/broken${7:+/$7}" bs=1 seek="$at" count="$6" conv=notrunc status=none
		timeout 300 $tool repair "$work/broken" -o "$work/out" > "$work/err" 2>&1
		check "$work/out" && count=$(records) && [ "$count" -ge "${8:-$2}" ] && [ "$count" -le "$2" ] && continue
		lost=$((lost + 1))
		echo "samples: $1${7:+/$7}: $6 bytes of zeros at $at leave $(records) of $2 records"
	done
	[ "$lost" = 0 ] && ok || bad "$1${7:+/$7}: holes of $6 bytes cost what they did not hit"
}

if has fxt; then
	healthy "$samples/fxt/magic-trace.fxt" 35463
	[ "$(jq '.inputs[0].warnings' "$work/report")" = 0 ] && ok || bad "fxt: warnings on the real capture"
fi

if has uftrace; then
	for name in basic threads fork exec dlopen autoargs argspec signals deep cxx killed-target; do
		[ -d "$samples/uftrace/$name" ] || continue
		count=$(timeout 60 python3 tests/formats/uftrace/uftrace_parse.py "$samples/uftrace/$name" | awk '{print $2}')
		healthy "$samples/uftrace/$name" "$count"
	done
	dead=$samples/uftrace/killed-recorder
	check "$dead" && bad "$dead: check exits 0" || ok
	errors=$(jq '.inputs[0].errors' "$work/report")
	[ "$errors" -le 10 ] && ok || bad "$dead: $errors errors"
	whole=$(python3 tests/formats/uftrace/uftrace_parse.py "$dead" | awk '{print $2}')
	# What a buffer holds that is not saved: its flags have RECORDING (4), and its size is in front.
	unsaved() { python3 -c 'import struct, sys
for path in sys.argv[1:]:
	size, flags = struct.unpack("<II", open(path, "rb").read(8))
	print(size // 16 if flags & 4 else 0)' "$@" | awk '{n += $1} END {print n + 0}'; }
	calls=0
	for extra in "" "$dead".shm/*-* "$dead.shm"; do
		[ -z "$extra" ] || [ -e "$extra" ] || continue
		rm -rf "$work/out"
		timeout 120 $tool repair "$dead" ${extra:+--extra "$extra"} -o "$work/out" --manifest "$work/manifest" > "$work/err" 2>&1
		code=$?
		case $code in 0|3) ok ;; *) bad "$dead $extra: repair exits $code: $(head -1 "$work/err")"; continue ;; esac
		python3 tests/lib/verify_manifest.py "$work/manifest" "$work/out" > /dev/null 2> "$work/err" && ok || bad "$dead $extra: $(cat "$work/err")"
		check "$work/out" && ok || bad "$dead $extra: the output has errors"
		mapfile -t buffers < <([ -z "$extra" ] || find "$extra" -type f)
		more=$(unsaved "${buffers[@]}")
		[ "$(records)" = $((whole + more)) ] && ok || bad "$dead $extra: $(records) records, not $whole and $more"
		if command -v uftrace > /dev/null; then
			lines=$(timeout 60 uftrace replay --no-pager -d "$work/out" 2> "$work/err" | wc -l)
			[ "$lines" -gt 100 ] && ok || bad "$dead $extra: uftrace replay shows $lines lines: $(head -1 "$work/err")"
			now=$(timeout 60 uftrace dump --no-pager -d "$work/out" 2> "$work/err" | grep -c '\[entry\]')
			[ "$now" -gt $((more ? calls : 0)) ] && ok || bad "$dead $extra: uftrace dump shows $now calls, no more than without it"
			[ -n "$extra" ] || calls=$now
		fi
	done
fi

if has tracedat; then
	for file in "$samples"/tracedat/v6*.dat "$samples"/tracedat/v7*.dat; do
		[ -f "$file" ] || continue
		count=
		command -v trace-cmd > /dev/null && count=$(timeout 120 trace-cmd report -i "$file" 2> /dev/null | grep -c '\[[0-9][0-9]*\]')
		healthy "$file" "$count"
	done
	if [ -f "$samples/tracedat/v6-instance.dat" ]; then # its options and tables, 0x68b0 to 0x6c00
		holes "$samples/tracedat/v6-instance.dat" 1547 26784 27648 29 16
		holes "$samples/tracedat/v6-instance.dat" 1547 26280 27610 73 512
		# The table of the instance; and what is in front of the events as a whole.
		holes "$samples/tracedat/v6-instance.dat" 1547 32704 32828 13 64
		holes "$samples/tracedat/v6-instance.dat" 1547 31700 32760 151 4096
		[ ! -f "$samples/tracedat/v6-stacks.dat" ] || holes "$samples/tracedat/v6-stacks.dat" 2570 34800 36800 211 4096
	fi
	for donor in v7-none.dat v7-zstd.dat v6.dat; do
		[ -d "$samples/tracedat/killed-record" ] || continue
		rm -rf "$work/out"
		timeout 300 $tool repair "$samples/tracedat/killed-record" --donor "$samples/tracedat/$donor" -o "$work/out" > "$work/err" 2>&1
		code=$?
		case $code in 0|3) ok ;; *) bad "killed-record with $donor: repair exits $code: $(head -1 "$work/err")"; continue ;; esac
		if command -v trace-cmd > /dev/null; then
			lines=$(timeout 120 trace-cmd report -i "$work/out" 2> /dev/null | wc -l)
			[ "$lines" = 68719 ] && ok || bad "killed-record with $donor: $lines lines"
		fi
	done
fi

if has ktrace; then
	healthy "$samples/ktrace/device-stream-v2.ktrace" 1966
	holes "$samples/ktrace/device-stream-v2.ktrace" 1966 0 300 13 16
	holes "$samples/ktrace/device-stream-v2.ktrace" 1966 0 600 37 512
	check "$samples/ktrace/minimal-v3.ktrace" && [ "$(jq '.inputs[0] | .errors + .warnings' "$work/report")" = 0 ] && ok || bad "minimal-v3.ktrace: above note"
	timeout 60 $tool check "$samples/ktrace/unified-log.tracev3" > /dev/null 2>&1
	[ $? = 4 ] && ok || bad "unified-log.tracev3 is not declined"
fi

if has lttng; then
	for row in trace-1021events-nolost-1cpu:1021 trace-698650events_3029lost-8CPU:698650 trace-15316events_nolost_newformat:15316 trace-2.6:219558; do
		file=$samples/lttng/${row%%:*}.tar.gz
		[ -f "$file" ] || continue
		rm -rf "$work/unpacked"
		mkdir "$work/unpacked"
		tar -C "$work/unpacked" -xzf "$file"
		top=$(find "$work/unpacked" -mindepth 1 -maxdepth 1)
		[ "$(wc -l <<< "$top")" = 1 ] && [ -d "$top" ] || top=$work/unpacked
		healthy "$file" "${row##*:}" "$top"
		if [ "${row##*:}" = 15316 ]; then # lost declarations are made up, for events of any channel; lost headers as well
			holes "$top" 15330 0 12700 97 16 metadata_0 15310
			holes "$top" 15340 0 12700 509 512 metadata_0 15290
			holes "$top" 15316 56 136 9 16 vm_state_0 15290
			holes "$top" 15316 0 512 64 512 kernel_0 15200
		fi
		places=3
		[ "${row##*:}" != 219558 ] || places=16 # its events are short: a neighbour is easily taken for the next
		timeout 900 python3 tests/formats/lttng/lost_declarations.py --places $places "$top" > "$work/err" 2>&1 && ok || bad "$(cat "$work/err")"
		[ "${row##*:}" = 698650 ] && continue # takes minutes
		timeout 900 python3 tests/formats/lttng/lost_declarations.py --files --kept 90 --wrong 0.1 "$top" > "$work/err" 2>&1 && ok || bad "$(cat "$work/err")"
	done
fi
echo "samples: $passed passed, $failed failed"
[ $failed = 0 ]
