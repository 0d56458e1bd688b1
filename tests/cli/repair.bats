#!/usr/bin/env bats
# repair: exit codes, where it writes, the manifest, and that output is whole or not there.

load helper

digest() {
	find "$1" -type f -exec sha256sum {} + | sort
}

@test "a healthy capture comes out as it is" {
	make_captures
	exits 0 repair valid.bin -o out --manifest m.json
	diff -r valid.bin out
	said "nothing to repair"
	validate manifest m.json
	exits 0 repair -n valid.bin
	exits 0 repair -q valid.bin -o out2
	[ ! -s talk ]
}

@test "a broken one is mended, once" {
	make_captures
	before=$(digest broken.bin)
	tm repair broken.bin -o out --manifest m.json
	[ "$status" = 0 ] || [ "$status" = 3 ]
	first=$status
	[ "$first" = 0 ] || said "lost"
	[ "$(digest broken.bin)" = "$before" ]
	validate manifest m.json
	exits 0 check out
	exits 0 repair out -o again
	diff -r out again
	tm repair broken.bin -o out2 --manifest m2.json
	[ "$status" = "$first" ]
	diff -r out out2
	cmp m.json m2.json
}

@test "dry run with a format prints what was found as check does" {
	make_captures
	exits 1 repair -n --format json broken.bin
	echo "$output" > report.json
	validate report report.json
	exits 1 repair -n --format sarif valid.bin broken.bin
	echo "$output" > report.sarif
	validate sarif report.sarif
	exits 0 repair -n --format json valid.bin
	exits 1 repair -n --format html broken.bin
	grep -q "kept" <<< "$output"
	exits 2 repair --format json broken.bin -o out
	exits 2 repair -n --format json --manifest m.json broken.bin
	[ ! -e out ] && [ ! -e m.json ]
}

@test "dry run says what there is to do and writes nothing" {
	make_captures
	: > talk
	before=$(ls -A)
	exits 1 repair -n broken.bin
	[ -n "$output" ]
	exits 1 repair -n -o out broken.bin
	[ "$(ls -A)" = "$before" ]
	exits 1 repair -n broken.bin --manifest m.json
	validate manifest m.json
	tm repair broken.bin -o out --manifest m2.json
	cmp m.json m2.json
}

@test "the manifest and the output are two files, whatever they are called" {
	make_captures
	mkdir -p folder
	ln -s folder linked
	exits 2 repair broken.bin -o out --manifest ./out
	said "the same file"
	exits 2 repair broken.bin -o "$PWD/out" --manifest out
	exits 2 repair broken.bin -o folder/out --manifest linked/out
	exits 2 repair broken.bin -o folder/out/ --manifest linked/out
	[ ! -e out ] && [ ! -e folder/out ]
	: > out
	exits 2 repair broken.bin -o out --manifest ./out
	[ ! -s out ]
	tm repair broken.bin -o folder/out --manifest folder/out.json
	[ -s folder/out ] && [ -s folder/out.json ]
}

@test "a limit on the size of files is an I/O error, and leaves nothing" {
	tm gen -f fxt -o made --size 400K
	large=$(ls made/*.fxt)
	(ulimit -f 64 && exits 5 repair "$large" -o limited && said "too large")
	[ "$(find . -maxdepth 1 -name '*tracemend-*' -o -maxdepth 1 -name limited | wc -l)" = 0 ]
}

@test "the manifest goes to standard output when asked" {
	make_captures
	tm repair broken.bin -o out --manifest -
	echo "$output" > m.json
	validate manifest m.json
	tm repair broken.bin -n --manifest -
	[ "$status" = 1 ]
	echo "$output" > m2.json
	validate manifest m2.json
	said "records:"
}

@test "the input is never the output" {
	make_captures
	before=$(digest broken.bin)
	ln broken.bin hard
	ln -s broken.bin soft
	for out in broken.bin ./broken.bin hard soft; do
		exits 2 repair broken.bin -o "$out"
		exits 2 repair broken.bin -o mended --manifest "$out"
	done
	exits 2 repair broken.bin -o out --manifest out
	exits 2 repair valid.bin --extra broken.bin -o broken.bin
	exits 2 repair valid.bin --donor broken.bin -o broken.bin
	[ "$(digest broken.bin)" = "$before" ]
	[ ! -e mended ] && [ ! -e out ]
}

@test "the output is never inside the input" {
	mkdir -p capture/below
	make_captures
	cp broken.bin capture
	ln -s capture linked
	for out in capture/out capture/below/out linked/out ./capture/../capture/out capture; do
		exits 2 repair capture -o "$out"
		exits 2 repair broken.bin --extra capture -o "$out"
		exits 2 repair capture -o elsewhere --manifest "$out.json" || [ "$out" = capture ]
	done
	[ "$(find capture | sort | tr '\n' ' ')" = "capture capture/below capture/broken.bin " ]
}

@test "an output that cannot be written is exit 5 and leaves nothing" {
	make_captures
	exits 5 repair broken.bin -o nowhere/out
	exits 5 repair broken.bin -o out --manifest nowhere/m.json
	[ ! -e out ]
	mkdir taken
	: > taken/file
	exits 2 repair broken.bin -o taken
	[ "$(ls -A taken)" = file ]
	if [ "$(id -u)" != 0 ]; then
		mkdir locked
		chmod 555 locked
		exits 5 repair broken.bin -o locked/out
	fi
	[ -z "$(find . -name '.*tracemend*' -o -name '*.tmp*')" ]
}

@test "a full disk is exit 5 and leaves nothing" {
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --size 300K --rule "$RULE"
	file=made/$(label 1 file)
	[ -f "$file" ] || skip "this format is a directory"
	mkdir small
	# A limit on the size of files stands in for the disk: the write fails in the middle all the same.
	code=0
	(
		trap '' XFSZ
		ulimit -f 100
		exec "$TRACEMEND" repair "$file" -o small/out 2> talk
	) || code=$?
	[ "$code" = 5 ]
	[ -z "$(ls -A small)" ]
}

@test "a manifest on a full disk leaves no output" {
	[ -c /dev/full ] || skip "no /dev/full"
	make_captures
	exits 5 repair broken.bin -o out --manifest /dev/full
	[ ! -e out ]
}

@test "a killed repair leaves no output" {
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --size 24M --rule "$RULE"
	file=made/$(label 1 file)
	caught=0
	for attempt in 1 2 3 4 5; do
		rm -rf target && mkdir target
		"$TRACEMEND" repair -q "$file" -o target/out 2> talk &
		pid=$!
		# As soon as something temporary is there, it is in the middle of writing.
		while kill -0 $pid 2> /dev/null && [ -z "$(ls -A target)" ]; do :; done
		[ -e target/out ] || kill -9 $pid 2> /dev/null || true
		wait $pid && code=0 || code=$?
		if [ "$code" = 137 ]; then
			[ ! -e target/out ]
			caught=1
			break
		fi
	done
	[ $caught = 1 ] || skip "it was always faster than the signal"
	# And it does not stand in the way of the next one.
	tm repair -q "$file" -o target/out
	[ "$status" = 0 ] || [ "$status" = 3 ]
	exits 0 check -q "target/out"
}

@test "a repair that is asked to stop cleans up" {
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --size 24M --rule "$RULE"
	file=made/$(label 1 file)
	mkdir target
	"$TRACEMEND" repair -q "$file" -o target/out 2> talk &
	pid=$!
	while kill -0 $pid 2> /dev/null && [ -z "$(ls -A target)" ]; do :; done
	kill -TERM $pid 2> /dev/null || true
	wait $pid && code=0 || code=$?
	[ "$code" = 143 ] || skip "it was faster than the signal"
	[ -z "$(ls -A target)" ]
}

@test "names in the manifest can be told back" {
	"$TRACEMEND" gen -q -f uftrace -o made --rule dat-trailing-bytes > /dev/null
	cp -r "made/$(label 1 file)" odd
	printf 'kept\n' > odd/$'a\nb'
	printf 'kept\n' > 'odd/a\x0ab'
	tm repair odd -o out --manifest m.json
	[ "$status" = 0 ] || [ "$status" = 3 ]
	python3 "$HERE/../lib/verify_manifest.py" m.json out
	[ -f out/$'a\nb' ] && [ -f 'out/a\x0ab' ]
}

@test "lttng: a facility's description comes from a donor when it has the recorded checksum, and only then" {
	"$TRACEMEND" gen -q -f lttng -o made --rule vendor-0-8-loss-fields > /dev/null
	cp -r "made/$(label 1 file)" healthy
	cp -r healthy broken
	rm -r broken/eventdefs
	exits 0 repair broken -o mended --donor healthy --manifest m.json
	[ "$(grep -c "donor was not used" talk)" = 0 ]
	cmp healthy/eventdefs/kernel.xml mended/eventdefs/kernel.xml
	[ "$(jq '[.inputs[] | select(.role == "donor" and .file == "eventdefs/kernel.xml")] | length' m.json)" = 1 ]
	python3 "$HERE/../lib/verify_manifest.py" m.json mended
	exits 0 check mended
	cp -r healthy other
	sed -i 's/field_0/field_9/' other/eventdefs/kernel.xml
	# Without it, where its events end is unverified.
	exits 3 repair broken -o without --donor other
	said "the donor was not used: descriptions of facilities"
	said "the description that these events were recorded by is not there"
	[ ! -e without/eventdefs/kernel.xml ]
}

@test "lttng: a lost declaration costs its name, not the events behind" {
	# The hole takes the declarations of three event types.
	"$TRACEMEND" gen -q -f lttng -o made --seed 123 --size 5000 --damage hole > /dev/null
	exits 1 check --fail-on note "made/$(label 1 file)"
	echo "$output" | grep -F "the declaration of event type 34 of kernel is lost; the stamps after 11 of its events show that its payload has 2 bytes"
	exits 3 repair "made/$(label 1 file)" -o mended --manifest m.json
	cmp "made/$(label 1 file)/flight-kernel_0" mended/flight-kernel_0
	exits 0 check mended
	python3 "$HERE/../lib/verify_manifest.py" m.json mended
	exits 0 info --format json mended
	[ "$(echo "$output" | jq '.inputs[0].records')" -ge 310 ]
	grep -q lost_34 mended/metadata_0
}

@test "what is lost besides records is no success" {
	local corpus=$HERE/../../corpus name
	# Nothing of the records is gone, but something that a person would miss is.
	for name in uftrace/invalid/{events-malformed,info-build-id-format,map-field-too-long}.tar \
		    tracedat/invalid/{kallsyms-line,printk-line,field-syntax,option-hook-syntax}.dat; do
		rm -rf mended again
		exits 3 repair "$corpus/$name" -o mended --manifest m.json
		said "no record was dropped, but other content is lost or unverified"
		validate manifest m.json
		jq -e '.lost and .records.dropped == 0 and .records.dropped_is == "exact"' m.json
		exits 0 repair mended -o again --manifest m.json
		jq -e '.lost | not' m.json
	done
	# What is replaced is listed once, with the new bytes.
	rm -rf mended
	exits 3 repair "$corpus/tracedat/invalid/kallsyms-line.dat" -o mended
	said "dropped: "
	rm -rf mended
	exits 0 repair "$corpus/tracedat/invalid/kallsyms-size.dat" -o mended
	said "replaced or inserted: 4 bytes in 1 place"
	refute said "dropped: "
	# What is corrected, or said nothing, is no loss.
	for name in uftrace/invalid/{sym-crlf,dat-depth-exceeds-max-stack}.tar tracedat/invalid/kallsyms-size.dat \
		    fxt/invalid/mixed-endianness.fxt ktrace/invalid/raw-thread-count.ktrace lttng/invalid/arch-size-invalid.tar; do
		rm -rf mended
		exits 0 repair "$corpus/$name" -o mended
		said "nothing was lost"
	done
}

# bats test_tags=slow
@test "tracedat 6: options that were hit do not cost the instance that they name" {
	"$TRACEMEND" gen -q -f tracedat -o made --seed 9065 --size 6000 --with v6 --with instances --without kernel-events > /dev/null
	local whole options table at length records
	whole=made/$(label 1 file)
	options=$(grep -abo 'options  ' "$whole" | head -1 | cut -d: -f1)
	table=$(grep -abo 'flyrecord' "$whole" | head -1 | cut -d: -f1)
	records=$("$TRACEMEND" info --format json "$whole" | jq '.inputs[0].records')
	[ "$records" -gt 10 ]
	for at in $(seq $((options - 3)) 13 $((table + 20))); do
		for length in 2 16 64; do
			cp "$whole" broken.dat
			dd if=/dev/zero of=broken.dat bs=1 seek="$at" count="$length" conv=notrunc status=none
			rm -f mended.dat
			"$TRACEMEND" repair -q broken.dat -o mended.dat || [ $? = 3 ]
			[ "$("$TRACEMEND" info --format json mended.dat | jq '.inputs[0].records')" = "$records" ] || { echo "$length bytes at $at"; return 1; }
		done
	done
}

@test "uftrace: what was written twice is found as often as it was" {
	"$TRACEMEND" gen -q -f uftrace -o made > /dev/null
	cp -r made/valid-0001 often
	chmod -R u+w often
	local one i
	one=$(find often -name '[0-9]*.dat' -size -20k -printf '%s %p\n' | sort -n | tail -1 | cut -d' ' -f2)
	cp "$one" piece
	for ((i = 0; i < 400; i++)); do cat piece; done > "$one"
	[ "$(stat -c %s "$one")" -gt 300000 ]
	exits 0 repair often -o mended
	diff -r mended made/valid-0001
}

@test "uftrace: more maps are lost than programs are looked for" {
	"$TRACEMEND" gen -q -f uftrace -o made --seed 3 > /dev/null
	python3 - made/valid-0003 << 'EOF'
import os, re, sys
folder = sys.argv[1]
text = open(f"{folder}/task.txt").read()
time, pid, path = re.search(r'SESS timestamp=(\S+) pid=(\d+) sid=\w+ exename="([^"]+)"', text).groups()
records, symbols = (open(f"{folder}/{name}", "rb").read() for name in (f"{pid}.dat", os.path.basename(path) + ".sym"))
os.mkdir("many")
with open("many/task.txt", "w") as tasks:
    for i in range(300):
        program = f"{path}{i}"
        tasks.write(f'SESS timestamp={time} pid={100000 + i} sid={i:016x} exename="{program}"\n')
        tasks.write(f"TASK timestamp={time} tid={100000 + i} pid={100000 + i}\n")
        open(f"many/{100000 + i}.dat", "wb").write(records[:512])
        open(f"many/{os.path.basename(program)}.sym", "wb").write(symbols.replace(path.encode(), program.encode()))
open("many/info", "wb").write(open(f"{folder}/info", "rb").read())
EOF
	exits 3 repair many -o mended
	exits 0 check mended
}

@test "tracedat: symbols that are empty lines cost no memory" {
	"$TRACEMEND" gen -q -f tracedat -o made --seed 1 --count 12 > /dev/null
	python3 - made/*.dat > flood.dat << 'EOF'
import sys
data = next(d for d in (open(p, "rb").read() for p in sys.argv[1:]) if d[10:12] == b"6\0")
order, at = "big" if data[12] else "little", 18
number = lambda size: int.from_bytes(data[at:at + size], order)
for _ in range(2):
    at = data.index(b"\0", at) + 1
    at += 8 + number(8)
formats, at = number(4), at + 4
for _ in range(formats):
    at += 8 + number(8)
systems, at = number(4), at + 4
for _ in range(systems):
    at = data.index(b"\0", at) + 1
    formats, at = number(4), at + 4
    for _ in range(formats):
        at += 8 + number(8)
text = b"\n" * (5 << 20)
sys.stdout.buffer.write(data[:at] + len(text).to_bytes(4, order) + text + data[at + 4 + number(4):])
EOF
	(ulimit -v 150000; exec "$TRACEMEND" repair -q flood.dat -o mended.dat) || [ $? = 3 ]
	exits 0 check mended.dat
}

@test "a donor that does not help is told why" {
	"$TRACEMEND" gen -q -f tracedat -o made --rule recorder-killed
	"$TRACEMEND" gen -q -f fxt -o made
	"$TRACEMEND" gen -q -f tracedat -o made --rule bad-magic
	printf 'hello\n' > text
	exits 4 repair -n made/recorder-killed-0001.dat --donor made/valid-0001.fxt
	said "is a capture of the format fxt; one of tracedat is needed"
	exits 4 repair -n made/recorder-killed-0001.dat --donor text
	said "a text file"
	"$TRACEMEND" gen -q -f fxt -o made --rule dangling-string-ref
	exits 1 repair -n made/dangling-string-ref-0001.fxt --donor made/bad-magic-0001.dat
	grep -q "is a capture of the format tracedat" <<< "$output"
}

@test "the manifest has its name before the output, and goes if the output gets none" {
	make_captures
	tm repair broken.bin -o plain --manifest plain.json
	# Stopped between the two names: what is there is the manifest, with the hash of what is not.
	if command -v gdb > /dev/null; then
		timeout 60 gdb -q -batch -ex 'set debuginfod enabled off' -ex 'break publication_appear' -ex 'run' -ex 'continue' \
			-ex 'kill' --args "$TRACEMEND" repair -q -j1 broken.bin -o out --manifest m.json > log 2>&1 < /dev/null || true
		if grep -q 'Breakpoint 1, publication_appear' log; then
			[ ! -e out ]
			cmp m.json plain.json
			rm m.json
		fi
	fi
	# A directory that is not empty is refused before anything is written; an earlier manifest stays.
	"$TRACEMEND" gen -q -f uftrace -o dirs --damage hole
	dir=$(find dirs -mindepth 1 -maxdepth 1 -type d)
	tm repair "$dir" -o mended --manifest m.json
	cp m.json before.json
	exits 2 repair "$dir" -o mended --manifest m.json
	said "not empty"
	cmp m.json before.json
	# The output cannot get its name: the last thing that can fail.
	if command -v strace > /dev/null; then
		rm -f out m.json
		strace -f -o /dev/null -e inject=linkat:error=EIO:when=2 "$TRACEMEND" repair -q broken.bin -o out --manifest m.json 2> talk || true
		[ ! -e out ] && [ ! -e m.json ]
	fi
	# In place: before the input gets its new name.
	cp broken.bin here
	tm repair --in-place here --manifest m.json
	jq -e --arg sum "$(sha256sum < here | cut -d' ' -f1)" '.outputs[0].sha256 == $sum' m.json
}

@test "several captures are repaired side by side as one after the other" {
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --rule "$RULE" --count 5
	"$TRACEMEND" gen -q -f "$FORMAT" -o made
	: > made/empty
	tm repair -j1 made/*."${FORMAT}" made/empty -o one
	first=$status
	sed 's/ one\// DIR\//' talk > one.talk
	tm repair -j4 made/*."${FORMAT}" made/empty -o four
	[ "$status" = "$first" ] && [ "$status" = 4 ]
	diff -r one four
	sed 's/ four\// DIR\//' talk | diff one.talk -
	tm repair -n -j1 made/*."${FORMAT}"
	plan=$output
	exits "$status" repair -n -j3 made/*."${FORMAT}"
	[ "$output" = "$plan" ]
}

@test "of several captures where one is wanted, two are named" {
	make_captures
	mkdir two
	cp valid.bin two/a.bin
	cp broken.bin two/b.bin
	tar -cf two.tar two
	for path in two two.tar; do
		exits 2 repair "$path" -o out
		said "$path: has two captures, and one is wanted: $path/"
		said "a.bin and $path/"
		exits 2 repair -n "$path"
		exits 2 info "$path"
	done
	cp valid.bin two/c.bin
	exits 2 repair two -o out
	said "has 3 captures, and one is wanted: two/a.bin, two/b.bin and others"
	rm two/a.bin two/b.bin
	exits 2 repair two -o out
	said "is no capture, but has one: two/c.bin"
	[ ! -e out ]
	# Also where a format would take both for one.
	"$TRACEMEND" gen -q -f lttng -o traces --count 2
	rm traces/labels.jsonl
	exits 2 repair traces -o out
	said "has two captures"
	mkdir none
	exits 4 repair none -o out
}

@test "of what is dropped, the times of the records around it are said" {
	mkdir made
	for format in fxt ktrace tracedat uftrace lttng; do
		"$TRACEMEND" gen -q -f $format -o made/$format --damage hole --seed 3 --count 3 --size 20K
	done
	rm made/*/labels.jsonl
	for path in made/*/*; do
		tm repair -n "$path"
		echo "$output" > plan
		tm repair "$path" -o "mended.${path//\//-}"
		[ "$(grep -c '; from \|; before \|; after ' talk)" = "$(grep -c '; from \|; before \|; after ' plan)" ]
		tm dump --format jsonl "$path"
		echo "$output" > records
		tm repair -n --manifest - -q "$path"
		echo "$output" > manifest
		python3 - plan records manifest <<- 'END'
			import json, re, sys
			plan, records, manifest = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
			records = [json.loads(line) for line in records.splitlines()]
			files = [i["file"] for i in json.loads(manifest)["inputs"]]
			said = 0
			for place, length, times in re.findall(r"^    (\S*0x[0-9a-f]+) \+ ([0-9,]+) bytes?: .*?(; (?:from|before|after) .*)?$", plan.split("  kept, but")[0], re.M):
			    file, _, offset = place.rpartition(":")
			    start, end = int(offset, 16), int(offset, 16) + int(length.replace(",", ""))
			    mine = [r for r in records if r.get("time") is not None and r.get("file", "") == file]
			    before = [int(r["time"]) for r in mine if r["offset"] < start][-1:]
			    after = [int(r["time"]) for r in mine if r["offset"] >= end][:1]
			    if before and after and after < before:
			        after = []
			    got = [int(n.replace(",", "")) for n in re.findall(r"[0-9,]+", times)]
			    assert got == before + after, (place, got, before, after)
			    assert bool(times) == bool(before + after)
			    said += bool(times)
			print("said", said)
		END
	done > checked
	[ "$(grep -c '^said [1-9]' checked)" -ge 5 ] || { cat checked; return 1; }
}
