#!/usr/bin/env bats
# gen and its labels.

load helper

@test "labels say what the files are" {
	exits 0 gen -f "$FORMAT" -o made --seed 7 --count 3
	exits 0 gen -f "$FORMAT" -o made --rule "$RULE" --seed 9
	exits 0 gen -f "$FORMAT" -o made --damage truncate --count 2
	[ "$(wc -l < made/labels.jsonl)" = 6 ]
	jq -es 'all(.[]; keys_unsorted == ["file", "format", "seed", "rule", "expect", "damage", "records"])' made/labels.jsonl
	jq -es '[.[].seed] == [7, 8, 9, 9, 1, 2]' made/labels.jsonl
	jq -es --arg rule "$RULE" '[.[].rule] == [null, null, null, $rule, null, null]' made/labels.jsonl
	jq -es --arg rule "$RULE" '.[3].expect[0] == $rule' made/labels.jsonl
	jq -es '[.[].damage] == [null, null, null, null, "truncate", "truncate"]' made/labels.jsonl
	[ "$(jq -r .file made/labels.jsonl | sort | uniq -d)" = "" ]
	for file in $(jq -r .file made/labels.jsonl); do
		[ -e "made/$file" ]
	done
	[ "$(ls -A made | wc -l)" = 7 ] # nothing else is left there
}

@test "labels tell the truth" {
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --count 5
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --count 5 --rule "$RULE"
	while read -r line; do
		file=$(jq -r .file <<< "$line")
		tm check --format=json --max-findings=0 "made/$file"
		[ "$status" = "$(jq 'if .rule then 1 else 0 end' <<< "$line")" ]
		jq -e --argjson line "$line" '[.inputs[0].findings[].rule] as $met | all($line.expect[]; . as $e | $met | index($e) != null)' <<< "$output"
		if [ "$(jq .rule <<< "$line")" = null ]; then
			[ "$(jq '.inputs[0].records' <<< "$output")" = "$(jq .records <<< "$line")" ]
		fi
	done < made/labels.jsonl
}

@test "the same options give the same bytes" {
	"$TRACEMEND" gen -q -f "$FORMAT" -o one --count 3 --damage bitflip
	"$TRACEMEND" gen -q -f "$FORMAT" -o two --count 3 --damage bitflip
	diff -r one two
	"$TRACEMEND" gen -q -f "$FORMAT" -o two --count 3 --damage bitflip # once more into the same directory
	diff -r one two
	"$TRACEMEND" gen -q -f "$FORMAT" -o three --seed 2 --damage bitflip
	file=$(jq -r .file three/labels.jsonl)
	cmp "one/$file" "three/$file"
}

@test "--size is roughly kept" {
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --size 200K
	size=$(du -sb --exclude=labels.jsonl made | cut -f1)
	[ "$size" -gt 100000 ]
	[ "$size" -lt 1000000 ]
}

@test "rules of archives go with any format" {
	exits 0 gen -f "$FORMAT" -o made --rule container/compressed
	file=$(jq -r .file made/labels.jsonl)
	exits 0 check -v --only container/compressed "made/$file"
	grep -q 'container/compressed' <<< "$output"
}

@test "a bare name that several formats have is of the format of -f, wherever that stands" {
	exits 0 rules --format=json
	bare=$(jq -r '[.rules[].id | select(startswith("container/") | not) | split("/")[1]] | group_by(.)[] | select(length > 1)[0]' <<< "$output" | head -1)
	[ -n "$bare" ] || skip "no two formats have one"
	mapfile -t ids < <(jq -r --arg bare "$bare" '.rules[].id | select(split("/")[1] == $bare)' <<< "$output")
	exits 2 gen -o made --rule "$bare"
	said "several formats"
	for id in "${ids[@]}"; do
		exits 0 gen -f "${id%/*}" -o made --rule "$bare"
		exits 0 gen --rule "$bare" -f "${id%/*}" -o made --seed 2
	done
	jq -es --args '[.[].rule] == [$ARGS.positional[] | ., .]' "${ids[@]}" < made/labels.jsonl
}

@test "a rule of another format is refused" {
	exits 0 rules --format=json
	other=$(jq -r --arg format "$FORMAT" '[.rules[] | select(.format != $format and .format != "container")][0].id // empty' <<< "$output")
	[ -n "$other" ] || skip "there is no other format"
	exits 2 gen -f "$FORMAT" -o made --rule "$other"
	[ ! -e made ]
}

@test "where files cannot be written it is exit 5, or 2 when the place makes no sense" {
	: > file
	exits 2 gen -f "$FORMAT" -o file
	exits 5 gen -f "$FORMAT" -o file/below
	echo "no label" > labels.jsonl
	exits 5 gen -f "$FORMAT" -o .
	[ "$(cat labels.jsonl)" = "no label" ]
}

@test "several rules make several captures, and one capture can go to standard output" {
	exits 0 gen -f fxt -o made --rule dangling-string-ref --rule truncated-record --count 2
	[ "$(jq -r .rule made/labels.jsonl | sort | uniq -c | xargs)" = "2 fxt/dangling-string-ref 2 fxt/truncated-record" ]
	exits 2 gen -f fxt -o other --rule dangling-string-ref --rule uftrace/info-missing
	said "not a rule of the format fxt"
	[ ! -e other ]
	"$TRACEMEND" gen -f fxt --rule dangling-string-ref -o - > piped.fxt
	cmp piped.fxt made/dangling-string-ref-0001.fxt
	"$TRACEMEND" gen -f fxt -o - | "$TRACEMEND" check -q -
	exits 2 gen -f fxt -o - --count 2
	exits 2 gen -f uftrace -o -
	said "is a directory"
	exits 0 gen --help
	grep -q "make captures of this format" <<< "$output"
}

# bats test_tags=slow
@test "--sound leaves the defect out, and nothing else is wrong" {
	for format in fxt uftrace tracedat ktrace lttng; do
		mapfile -t rules < <("$TRACEMEND" rules -f "$format" | grep -o "^ *$format/[a-z0-9-]*" | sed 's/^ */--rule=/')
		[ "${#rules[@]}" -gt 50 ]
		# Some rules are of another profile.
		"$TRACEMEND" gen -f "$format" "${rules[@]}" --sound -o "$format" || true
		[ "$(ls "$format" | wc -l)" -gt 50 ]
		"$TRACEMEND" check --fail-on=error --format=jsonl "$format"/sound-* > reports || true
		# What is wrong with these two is the shape of the capture.
		jq -r 'select(.severity == "error") | .rule' reports > errors
		refute grep -v -x -e lttng/byte-order-mixed -e lttng/compact-without-heartbeat errors
		jq -se '[.[] | select(.expect != [])] == []' "$format/labels.jsonl"
	done
	exits 2 gen -f fxt --sound -o none
	exits 0 gen -f fxt --rule dangling-string-ref --sound -o one
	exits 0 check one/sound-dangling-string-ref-0001.fxt
}

# How many captures of the folder have lines of dump that match.
dumped() { # FOLDER REGEX
	local n=0 capture
	for capture in "$1"/valid-*; do
		if "$TRACEMEND" dump "$capture" 2> /dev/null | grep -E -c -- "$2" > count; then n=$((n + 1)); fi
	done
	echo $n
}

@test "--with and --without: records of a kind" {
	declare -A kinds=([counters]='event, counter' [log]='  log  ' [profiler]='  profiler, ' [userspace]='  userspace object  '
		[durations]='event, duration (begin|end)' [flow]='event, flow')
	for feature in "${!kinds[@]}"; do
		exits 0 gen -q -f fxt --count 24 --seed 5 --with "$feature" -o with
		[ "$(dumped with "${kinds[$feature]}")" -gt 8 ] # a short capture may not come to it
		exits 0 gen -q -f fxt --count 24 --seed 5 --without "$feature" -o without
		[ "$(dumped without "${kinds[$feature]}")" = 0 ]
		exits 0 gen -q -f fxt --count 2 --size 100K --without "$feature" -o large
		[ "$(dumped large "${kinds[$feature]}")" = 0 ]
		rm -r with without large
	done
}

@test "--with and --without: files, versions, byte order" {
	exits 0 gen -q -f uftrace --count 30 -o without --without perf --without default-opts --without events --without probes
	[ -z "$(find without -name 'perf-cpu*' -o -name default.opts -o -name events.txt)" ]
	exits 0 gen -q -f uftrace --count 10 -o with --with probes --with note
	[ "$(find with -name events.txt | wc -l) $(find with -name note.txt | wc -l)" = '10 10' ]
	exits 0 gen -q -f lttng --count 10 -o lttng --with 2.3 --with 0.7 --without big-endian
	exits 0 gen -q -f tracedat --count 10 -o tracedat --with zlib --with zstd --without big-endian
	for capture in lttng/valid-* tracedat/valid-*; do
		exits 0 info "$capture"
		grep -qE 'lttng (2\.3|0\.7)|compress.*(zstd|zlib)' <<< "$output"
		refute grep -qi 'big.endian' <<< "$output"
	done
}

@test "--with and --without: what is not there, and what cannot be" {
	exits 2 gen -f fxt --with countres -o made
	grep -q 'did you mean counters?' talk
	exits 2 gen -f fxt --with log --without log -o made
	exits 2 gen -f fxt --profile 2022 --with switch -o made
	grep -q "no capture of fxt, profile 2022 has 'switch'" talk
	exits 2 gen -f uftrace --with qemu --with threads -o made
	exits 2 gen -f tracedat --without v6 --without v7 -o made
	exits 2 try -f fxt --without countres -- true {}
	[ ! -e made ]
	# A defect comes first.
	exits 0 gen -f fxt --rule big-endian-trace --without big-endian -o made
	exits 0 gen --list-features
	for format in fxt uftrace tracedat ktrace lttng; do
		grep -q "^$format " <<< "$output"
	done
	exits 0 gen --list-features -f fxt
	[ "$(grep -c '^fxt ' <<< "$output")" = "$(($(wc -l <<< "$output") - 1))" ]
}

@test "with --host, captures are of an ordinary host, and each has its defect all the same" {
	for format in fxt tracedat uftrace; do
		"$TRACEMEND" gen -q -f $format --host -o $format --count 12
		for capture in $format/valid-*; do
			exits 0 info --format=json "$capture"
			refute grep -qiE 'big.endian|zlib|32.bit' <<< "$output"
		done
	done
	rules=(page-time-backwards option-cpustat-empty cpu-range-in-header v7-chunk-csize)
	exits 0 gen -f tracedat --host -o pages $(printf -- '--rule %s ' "${rules[@]}")
	for capture in pages/*.dat; do
		exits 0 info --format=json "$capture"
		jq -e 'any(.inputs[0].facts[]; .key == "page size" and .number == 4096)' <<< "$output"
		name=${capture#pages/}
		tm check --format=json --preview "$capture"
		jq -e --arg rule "tracedat/${name%-0001.dat}" 'any(.inputs[0].findings[]; .rule == $rule)' <<< "$output"
	done
	exits 2 check --host "$FORMAT"
}
