#!/usr/bin/env bats
# dump and diff: the records of captures.

load helper

# The number of lines of the output, and the first of them.
count() { grep -c "" <<< "$output"; }
first() { head -1 <<< "$output"; }

trace() { "$TRACEMEND" gen -q -f fxt --size 4K -o made; echo "made/$(tail -1 made/labels.jsonl | jq -r .file)"; }

@test "as many lines as there are records, in each format" {
	for format in fxt ktrace lttng tracedat uftrace; do
		"$TRACEMEND" gen -q -f "$format" --size 8K -o "$format"
		capture=$format/$(tail -1 "$format/labels.jsonl" | jq -r .file)
		exits 0 dump "$capture"
		[ "$(count)" = "$("$TRACEMEND" info --format=json "$capture" | jq .inputs[0].records)" ]
		exits 0 dump --format=jsonl "$capture"
		jq -es --argjson n "$(count)" 'length == $n and all(has("offset") and has("kind") and has("track"))' <<< "$output"
	done
}

@test "the arguments of lttng's events are in their bytes, under the names of the format" {
	"$TRACEMEND" gen -q -f lttng --count 12 -o made
	cat > look.py <<-'END'
		import json, os, re, sys
		texts = numbers = 0
		for line in sys.stdin:
		    r = json.loads(line)
		    if r["kind"] != "event" or "payload=" in r["arguments"]:
		        continue
		    with open(os.path.join(sys.argv[1], r["file"]), "rb") as f:
		        f.seek(r["offset"])
		        data = f.read(r["length"])
		    for name, value in re.findall(r"(\w+)=(.*?)(?= \w+=|$)", r["arguments"]):
		        if name == "id":
		            continue
		        if re.fullmatch(r"-?\d+|0x[0-9a-f]+", value):
		            n = int(value, 0)
		            forms = [n.to_bytes(size, order, signed=n < 0) for size in (1, 2, 4, 8) for order in ("little", "big")
		                     if -(1 << 8 * size - 1) <= n < 1 << 8 * size]
		            assert any(form in data for form in forms), (r, name)
		            numbers += 1
		        elif "\\" not in value and not value.endswith("..."):
		            assert value.encode() + b"\0" in data, (r, name)
		            texts += 1
		print(texts, numbers)
	END
	texts=0 numbers=0
	for capture in made/valid-*; do
		"$TRACEMEND" dump --format=jsonl "$capture" > records
		read -r t n < <(python3 look.py "$capture" < records)
		texts=$((texts + t)) numbers=$((numbers + n))
	done
	[ "$texts" -gt 50 ]
	[ "$numbers" -gt 500 ]
	# By hand: seed 1 is little-endian and packed.
	"$TRACEMEND" dump made/valid-0001 | grep '^kernel_0:0x00000052 ' | grep -q 'printk  id=45 string=a longer text, of several words$'
}

@test "ranges of offsets and of times, and the surroundings of an offset" {
	capture=$(trace)
	tm dump --format=jsonl "$capture"
	jq -rs '.[10:14][] | .offset' <<< "$output" > offsets
	from=$(head -1 offsets) to=$(tail -1 offsets)
	exits 0 dump --range="$from-$to" "$capture"
	[ "$(count)" = 4 ]
	exits 0 dump --range="$(printf '0x%x' "$from")-" "$capture"
	[ "$(jq -s 'length - 10' <<< "$("$TRACEMEND" dump --format=jsonl "$capture")")" = "$(count)" ]
	exits 0 dump --around "$from" "$capture"
	[ "$(count)" = 17 ]
	[[ $(sed -n 9p <<< "$output") == "$(printf '0x%08x' "$from") "* ]]
	time=$(jq -rs '[.[] | select(.time)][3].time' <<< "$("$TRACEMEND" dump --format=jsonl "$capture")")
	exits 0 dump --times="$time-$time" "$capture"
	[[ $output == *" $time ticks "* ]]
	for wrong in 5-3 - x 1-2-3 0xg; do
		exits 2 dump --range="$wrong" "$capture"
	done
	exits 2 dump --around there "$capture"
}

@test "damaged places are told beside the records, at their place" {
	"$TRACEMEND" gen -q -f fxt --rule fxt/dangling-string-ref -o made
	capture=made/$(tail -1 made/labels.jsonl | jq -r .file)
	exits 1 dump "$capture"
	said '  !! fxt/dangling-string-ref: '
	[ "$(count)" = "$("$TRACEMEND" info --format=json "$capture" | jq .inputs[0].records)" ]
	exits 1 dump --format=jsonl "$capture"
	jq -es '[.[] | select(.damaged)] | length == 1' <<< "$output"
	# Between the records, at its offset.
	"$TRACEMEND" gen -q -f fxt --rule fxt/argument-overrun --size 4K -o overrun
	exits 1 dump --format=jsonl overrun/*.fxt
	jq -es 'map(.offset) as $at | $at == ($at | sort) and (map(.damaged) | index("fxt/argument-overrun") | . > 0 and . < ($at | length) - 1)' <<< "$output"
}

@test "info: a histogram counts each record with a time once" {
	for format in fxt ktrace lttng tracedat uftrace; do
		"$TRACEMEND" gen -q -f "$format" --size 8K -o "$format"
		capture=$format/$(tail -1 "$format/labels.jsonl" | jq -r .file)
		timed=$("$TRACEMEND" dump --format=jsonl "$capture" | jq -s 'map(select(.time)) | length')
		exits 0 info -v "$capture"
		rows=$(sed -n '/^  over time/,$p' <<< "$output" | sed 1d)
		[ "$(sed 's/.*[ #]//; s/,//g' <<< "$rows" | paste -sd+ | bc)" = "$timed" ]
		[ "$(wc -l <<< "$rows")" -le 16 ]
		exits 0 info "$capture"
		[[ $output != *"over time"* ]]
	done
}

@test "several captures are named, and what is none is an error" {
	capture=$(trace)
	exits 0 dump "$capture" "$capture"
	[[ $(first) == "$capture:0x00000000 "* ]]
	touch empty
	exits 4 dump empty
	exits 2 dump
}

@test "texts of a capture cannot write to a terminal" {
	python3 - << 'END'
import struct
word = lambda *values: struct.pack("<%dQ" % len(values), *values)
name = b"a\x1b[2J\nb".ljust(8, b"\0")
string = 2 | 3 << 4 | 1 << 16 | 8 << 32
event = 4 | 5 << 4 | 0 << 20 | 1 << 48
open("odd.fxt", "wb").write(word(0x0016547846040010) + word(2 | 2 << 4 | 1 << 16 | 7 << 32) + name + word(event, 5, 1, 2, 0)[:40])
END
	tm dump odd.fxt
	[[ $output == *'a\x1b[2J\x0ab'* ]]
	[[ $output != *$'\e'* ]]
}

@test "diff: the same records, others, and what a repair took away" {
	capture=$(trace)
	exits 0 diff "$capture" "$capture"
	[[ $output == *'0 only in'*'0 only in'* ]]
	size=$(stat -c %s "$capture")
	head -c $((size - 100)) "$capture" > cut.fxt
	exits 3 repair -q cut.fxt -o mended.fxt
	exits 1 diff "$capture" mended.fxt
	[[ $output == *'- 0x'* ]]
	[[ $output != *'+ 0x'* ]]
	lost=$(grep -c '^- ' <<< "$output")
	[ "$(grep -c '' <<< "$("$TRACEMEND" dump "$capture")")" = $((lost + $(grep -c '' <<< "$("$TRACEMEND" dump mended.fxt)"))) ]
	exits 1 diff -q mended.fxt "$capture"
	[ "$(count)" = 1 ]
	exits 2 diff "$capture"
}
