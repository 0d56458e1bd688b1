#!/usr/bin/env bats
# check DIR: what is found below a directory or in an archive, and what is passed over.

load helper

# A tree of captures of all formats, every fiftieth with a defect, and of other files.
make_tree() {
	local captures=$1 others=$2 i=0 format at
	mkdir made
	bad=$((captures / 50))
	for format in ktrace tracedat uftrace lttng; do
		"$TRACEMEND" gen -q -f $format -o made/$format --count $((captures / 5)) > /dev/null
	done
	"$TRACEMEND" gen -q -f fxt -o made/fxt --count $((captures / 5 - bad)) > /dev/null
	"$TRACEMEND" gen -q -f fxt -o made/fxt --rule fxt/dangling-string-ref --count $bad > /dev/null
	mkdir -p tree/{a,b/c,d}
	for at in made/*/*; do
		[ "${at##*/}" = labels.jsonl ] && continue
		i=$((i + 1))
		case $((i % 3)) in
		0) mv "$at" "tree/a/$i-${at##*/}" ;;
		1) mv "$at" "tree/b/c/$i-${at##*/}" ;;
		2) mv "$at" "tree/d/$i-${at##*/}" ;;
		esac
	done
	for i in $(seq "$others"); do
		case $((i % 5)) in
		0) echo "text $i" > "tree/a/note-$i.txt" ;;
		1) : > "tree/d/empty-$i" ;;
		2) head -c $((i * 7)) "$TRACEMEND" > "tree/b/program-$i" ;;
		3) ln -s ../a "tree/d/link-$i" ;;
		4) echo "{\"file\":\"x\"}" | gzip > "tree/b/c/packed-$i.gz" ;;
		esac
	done
}

@test "a directory is searched, in every format and with any number of threads" {
	make_tree 50 25
	exits 1 check -j1 tree
	[ "$(tail -1 <<< "$output")" = "50 inputs: 1 with errors; passed over 25 other files" ]
	for format in text concise json jsonl sarif sarif-github junit github markdown html; do
		exits 1 check -j1 --format=$format tree
		local one=$output
		exits 1 check -j8 --format=$format tree
		[ "$output" = "$one" ] || { echo "$format"; return 1; }
	done
	exits 1 check --format=json tree
	echo "$output" > report.json
	validate report report.json
	jq -e '(.inputs | length) == 50 and .passed_over == 25 and all(.inputs[]; .complete)' report.json
	[ "$(jq -r '.inputs[].path' report.json)" = "$(jq -r '.inputs[].path' report.json | LC_ALL=C sort)" ]
	exits 1 check --format=jsonl tree
	echo "$output" > report.jsonl
	validate lines report.jsonl
	exits 0 check --fail-on=never tree
}

# bats test_tags=slow
@test "a thousand captures among five hundred other files" {
	make_tree 1000 500
	for format in text concise json jsonl sarif junit github markdown html; do
		exits 1 check -j1 --format=$format tree
		local one=$output
		exits 1 check -j8 --format=$format tree
		[ "$output" = "$one" ] || { echo "$format"; return 1; }
	done
	exits 1 check tree
	[ "$(tail -1 <<< "$output")" = "1,000 inputs: 20 with errors; passed over 500 other files" ]
	exits 1 check --format=json tree
	jq -e '(.inputs | length) == 1000 and .passed_over == 500' <<< "$output"
}

@test "a file with the name of a capture that is none is named, and is exit 4" {
	make_captures
	mkdir tree
	cp -r valid.bin tree/good
	exits 0 check tree
	refute grep -q "passed over" <<< "$output"
	for name in x.fxt x.ktrace trace.dat trace-2.dat trace.dat.gz; do
		echo nonsense > "tree/$name"
		exits 4 check tree
		said "tree/$name: not a"
		[[ $output == *"tree/good"* ]]
		rm "tree/$name"
	done
	: > tree/empty.fxt
	exits 4 check tree
	said "tree/empty.fxt: is empty"
	rm tree/empty.fxt
	for name in x.dat x.txt labels.jsonl fxt; do
		echo nonsense > "tree/$name"
		exits 0 check tree
		[ ! -s talk ]
		[ "$(tail -1 <<< "$output")" = "1 input: 0 with errors; passed over 1 other file" ]
		rm "tree/$name"
	done
	mkdir tree/uftrace.data
	echo nonsense > tree/uftrace.data/file
	exits 4 check tree
	said "tree/uftrace.data"
}

@test "a directory without a capture is exit 4; links lead nowhere" {
	make_captures
	mkdir -p nothing/here away
	cp -r valid.bin away/x.fxt
	echo hello > nothing/here/file
	ln -s ../away nothing/away
	ln -s . nothing/self
	mkfifo nothing/fifo.fxt
	exits 4 check nothing
	said "no capture is below it"
	exits 4 check --format=json nothing
	jq -e '.passed_over == 4 and (.inputs | length) == 1 and .inputs[0].path == "nothing"' <<< "$output"
	exits 0 check nothing/away/
	exits 4 check nothing away
	[[ $output == *away/x.fxt* ]]
}

@test "what gen made can be checked whole, labels or not" {
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --count 3 > /dev/null
	exits 0 check made
	[ "$(tail -1 <<< "$output")" = "3 inputs: 0 with errors; passed over 1 other file" ]
	exits 0 check made/*
	[ "$(tail -1 <<< "$output")" = "3 inputs: 0 with errors; passed over 1 other file" ]
	exits 4 check made/labels.jsonl
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --rule "$RULE" > /dev/null
	exits 1 check made/*
}

@test "with -f, captures of other formats are passed over" {
	"$TRACEMEND" gen -q -f fxt -o made --count 2 > /dev/null
	"$TRACEMEND" gen -q -f ktrace -o made --count 3 > /dev/null
	"$TRACEMEND" gen -q -f uftrace -o made --count 1 > /dev/null
	exits 0 check -f ktrace made
	[ "$(tail -1 <<< "$output")" = "3 inputs: 0 with errors; passed over 4 other files" ]
	exits 0 check -f uftrace made
	[ "$(tail -1 <<< "$output")" = "1 input: 0 with errors; passed over 6 other files" ]
}

@test "an archive with several captures is several inputs" {
	"$TRACEMEND" gen -q -f fxt -o made --count 2 > /dev/null
	"$TRACEMEND" gen -q -f fxt -o made --rule fxt/dangling-string-ref > /dev/null
	"$TRACEMEND" gen -q -f uftrace -o made/deep > /dev/null
	"$TRACEMEND" gen -q -f tracedat -o made/deep/er > /dev/null
	echo text > made/README
	gzip made/valid-0001.fxt
	tar -cf all.tar made
	tar -czf all.tgz -C made .
	for archive in all.tar all.tgz; do
		exits 1 check --format=json $archive
		echo "$output" > report.json
		validate report report.json
		jq -e '(.inputs | length) == 5 and .passed_over == 4 and all(.inputs[]; .complete)' report.json
		jq -e --arg a $archive '[.inputs[].path] | index($a + "/valid-0001.fxt.gz") != null and index($a + "/valid-0002.fxt") != null' report.json
		for path in made/valid-0001.fxt.gz made/valid-0002.fxt made/dangling-string-ref-0001.fxt; do
			tm check --format=json $path
			[ "$(jq .inputs[0].records <<< "$output")" = "$(jq --arg p "$archive/${path#made/}" '.inputs[] | select(.path == $p).records' report.json)" ]
			[ "$(jq .inputs[0].errors <<< "$output")" = "$(jq --arg p "$archive/${path#made/}" '.inputs[] | select(.path == $p).errors' report.json)" ]
		done
	done
	# Also where it was found itself, and cut.
	mkdir tree
	mv all.tgz tree
	exits 1 check --format=json tree
	jq -e '(.inputs | length) == 5' <<< "$output"
	head -c $(($(stat -c %s all.tar) - 12000)) all.tar > cut.tar
	tm check --format=json cut.tar
	jq -e '[.inputs[].findings[] | select(.rule == "container/truncated")] | length == 1' <<< "$output"
	exits 1 check --only container/truncated cut.tar
}

@test "a slash behind a directory changes nothing" {
	"$TRACEMEND" gen -q -f uftrace -o made --rule uftrace/dat-missing > /dev/null
	exits 0 check made/*/
	[[ $output == made/dat-missing-0001/task.txt:0x* ]]
	exits 0 check made/dat-missing-0001
	[[ $output == made/dat-missing-0001/task.txt:0x* ]]
	exits 5 check made/labels.jsonl/
}
