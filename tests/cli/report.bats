#!/usr/bin/env bats
# The report of check: formats, choosing rules, exit codes, order.

load helper

@test "a finding says where, what, why, and what repair does" {
	make_captures
	exits 1 check --only "$RULE" broken.bin
	grep -qE "^broken\.bin:0x[0-9a-f]+: error: .+ \[$RULE\]$" <<< "$output"
	grep -qE '^  [0-9a-f]{4,}  ( {3})*[0-9a-f]{2} ' <<< "$output"
	grep -q '^  because  ' <<< "$output"
	grep -q '^  repair   ' <<< "$output"
	grep -qE "^broken\.bin: $FORMAT.* 1 error, 0 warnings, 0 notes$" <<< "$output"
	[ ! -s talk ]
}

@test "what to do next with a capture that is named by dots" {
	"$TRACEMEND" gen -q -f uftrace -o made --rule uftrace/dat-bad-magic
	mkdir work
	cp -r "made/$(label 1 file)" work/capture
	cd work/capture
	line=$("$TRACEMEND" check . | grep "^next: tracemend repair ")
	bash -c "\"$TRACEMEND\" ${line#next: tracemend }" 2> ../talk || [ $? = 3 ]
	exits 0 check ../capture.mended
}

@test "after errors, check says what to do next" {
	make_captures
	exits 0 check valid.bin
	refute grep -q "^next: " <<< "$output"
	for name in broken.bin "it's broken.fxt" -broken.fxt "two
lines"; do
		rm -rf work
		mkdir work
		cp broken.bin "work/$name"
		cd work
		exits 1 check -- "$name"
		line=$(grep "^next: tracemend repair " <<< "$output")
		totals=$(grep "^  records: " <<< "$output")
		# The command can be pasted, and keeps what check said that it keeps.
		code=0
		bash -c "\"$TRACEMEND\" ${line#next: tracemend }" 2> talk || code=$?
		[ "$code" = 0 ] || [ "$code" = 3 ]
		said "$totals"
		[ "$(find . -name '*.mended*' -printf x | wc -c)" = 1 ]
		cd ..
	done
	exits 1 check -q broken.bin
	refute grep -q "^next: " <<< "$output"
	exits 1 check --format=concise broken.bin
	refute grep -q "^next: " <<< "$output"
}

@test "a killed uftrace recorder leaves more in shared memory, a killed trace-cmd needs a donor" {
	"$TRACEMEND" gen -q -f uftrace -o made --rule info-missing
	directory=$(find made -mindepth 1 -maxdepth 1 -type d)
	sid=$(sed -n 's/^SESS .*sid=\([0-9a-f]\{16\}\) .*/\1/p' "$directory/task.txt" | head -1)
	exits 1 check "$directory"
	grep -qF "/dev/shm/uftrace-$sid-*" <<< "$output"
	tm repair "$directory" -o out
	said "--extra '/dev/shm/uftrace-$sid-*'"
	"$TRACEMEND" gen -q -f tracedat -o made --rule recorder-killed
	directory=made/recorder-killed-0001.dat
	exits 1 check "$directory"
	grep -q "^next: tracemend repair .*\.mended\.dat --donor donor.dat$" <<< "$output"
	grep -q "trace-cmd record -e all -o donor.dat" <<< "$output"
	exits 4 repair "$directory" -o out.dat
	said "trace-cmd record -e all -o donor.dat"
}

@test "a quoted pattern stands for the pieces that match it" {
	"$TRACEMEND" gen -q -f uftrace -o made --rule shm-leftover
	directory=$(find made -mindepth 1 -maxdepth 1 -type d)
	mkdir shm
	mv "$directory"/uftrace-*-* shm/
	mv "$directory/info" .
	tm repair -n "$directory" --extra shm/uftrace-*-*
	whole=$output code=$status
	[ "$code" = 1 ]
	exits 1 repair -n "$directory" --extra 'shm/uftrace-*'
	[ "$output" = "$whole" ]
	exits 5 repair -n "$directory" --extra 'shm/nothing-*'
}

@test "--extra auto takes what the recorder left in shared memory, of the capture's owner" {
	[ -w /dev/shm ] || skip "no /dev/shm"
	"$TRACEMEND" gen -q -f uftrace -o made --rule shm-leftover
	directory=$(find made -mindepth 1 -maxdepth 1 -type d)
	# A sid of its own: other tests run meanwhile.
	sid=$(sed -n 's/^SESS .*sid=\([0-9a-f]\{16\}\) .*/\1/p' "$directory/task.txt" | head -1)
	own=$(printf '%016x' $((0x7e57000000000000 + $$)))
	sed -i "s/$sid/$own/g" "$directory/task.txt"
	mv "$directory/sid-$sid.map" "$directory/sid-$own.map"
	rm "$directory/info"
	mkdir shm
	for piece in "$directory"/uftrace-*-*; do
		name=$(basename "$piece")
		mv "$piece" "shm/${name/$sid/$own}"
	done
	tm repair -n "$directory"
	without=$(grep "records:" <<< "$output")
	tm repair -n "$directory" --extra "shm/uftrace-*"
	whole=$(grep "records:" <<< "$output")
	[ "$without" != "$whole" ]
	tm info "$directory"
	grep -q "unsaved records *'*/dev/shm/uftrace-$own-\*" <<< "$output"
	ln -s "$PWD"/shm/uftrace-"$own"-* /dev/shm/
	tm repair -n "$directory" --extra auto
	links=$(grep "records:" <<< "$output")
	rm -f /dev/shm/uftrace-"$own"-*
	cp shm/uftrace-"$own"-* /dev/shm/
	tm repair -n "$directory" --extra auto
	files=$(grep "records:" <<< "$output")
	rm -f /dev/shm/uftrace-"$own"-*
	[ "$links" = "$without" ]
	[ "$files" = "$whole" ]
	# Where there is nothing, it is as without.
	tm repair -n "$directory" --extra auto
	[ "$(grep "records:" <<< "$output")" = "$without" ]
}

@test "hex rows show the bytes of the file at the offset of the finding" {
	make_captures
	exits 1 check --format=json --only "$RULE" broken.bin
	offset=$(jq '.inputs[0].findings[0].offset' <<< "$output")
	length=$(jq '.inputs[0].findings[0].length' <<< "$output")
	[ "$length" -gt 0 ]
	expected=$(dd if=broken.bin bs=1 skip="$offset" count=$((16 - offset % 16 < length ? 16 - offset % 16 : length)) \
		status=none | od -An -v -tx1 -w16)
	exits 1 check --only "$RULE" broken.bin
	row=$(grep -E "^  $(printf %04x $((offset - offset % 16)))  " <<< "$output" | head -1)
	[ "$(cut -c9-55 <<< "$row" | xargs)" = "$(xargs <<< "$expected")" ]
}

@test "the mark is under the bytes of the field" {
	make_captures
	exits 1 check --only "$RULE" broken.bin
	mark=$(grep -n '^ *^^' <<< "$output" | head -1)
	[ -n "$mark" ]
	row=$(sed -n "$((${mark%%:*} - 1))p" <<< "$output")
	line=${mark#*:}
	blanks=${line%%^*}
	[[ ${row:${#blanks}:2} =~ ^[0-9a-f]{2}$ ]]
	[ "${row:$((${#blanks} - 1)):1}" = " " ]
}

@test "a clean capture is called clean" {
	make_captures
	exits 0 check --only "$RULE" valid.bin
	[[ $output == "valid.bin: $FORMAT"*": clean" ]]
	exits 0 check -q --only "$RULE" valid.bin
	[ -z "$output" ]
}

@test "--fail-on: all of the matrix" {
	make_captures
	for level in error warning note; do
		for fail in error warning note never; do
			case $level-$fail in
			error-error|error-warning|error-note|warning-warning|warning-note|note-note) code=1 ;;
			*) code=0 ;;
			esac
			exits $code check -v --only "$RULE" --severity "$RULE=$level" --fail-on="$fail" broken.bin
			grep -q ": $level: " <<< "$output"
		done
	done
	exits 0 check --only "$RULE" --severity "$RULE=ignore" --fail-on=note broken.bin
	[[ $output == *": clean" ]]
}

@test "text lists errors and warnings in the order of the file, and counts notes" {
	make_captures
	exits 0 check --only "$RULE" --severity "$RULE=note" broken.bin
	[ "$(wc -l <<< "$output")" = 1 ]
	[[ $output == *": clean, 1 note (-v lists it)" ]]
	for format in text concise; do
		exits 0 check -v --format=$format --only "$RULE" --severity "$RULE=note" broken.bin
		grep -q ": note: .*\[$RULE\]" <<< "$output"
		[[ ${output##*$'\n'} == *": clean, 1 note" ]]
		exits 1 check --fail-on=note --format=$format --only "$RULE" --severity "$RULE=note" broken.bin
		grep -q ": note: .*\[$RULE\]" <<< "$output"
	done
	"$TRACEMEND" gen -q -f fxt -o many --count 20 --damage hole --size 20K
	for file in many/*.fxt; do
		tm check --max-findings=0 --format=concise "$file"
		offsets=$(sed -n 's/^.*:0x\([0-9a-f]*\): .*/\1/p' <<< "$output")
		[ "$offsets" = "$(python3 -c 'import sys; print(*sorted(sys.stdin.read().split(), key=lambda x: int(x, 16)), sep="\n")' <<< "$offsets")" ]
	done
}

@test "--only, --ignore and --severity take ids, bare names and globs" {
	make_captures
	bare=${RULE#*/}
	exits 1 check --only "$bare" broken.bin
	exits 1 check --only "$FORMAT/*" broken.bin
	exits 0 check --only "${OTHER#*/}" broken.bin
	exits 1 check --only "${OTHER#*/}" --only "$RULE" broken.bin
	exits 2 check --ignore "$RULE" --only "$RULE" broken.bin
	exits 2 check --ignore '*' broken.bin
	said "leave no rule"
	exits 0 check --only "$RULE" --only "$OTHER" --ignore "${bare%?}?" broken.bin
	exits 0 check --only "$RULE" --severity "$bare=note" broken.bin
	exits 1 check --only "$RULE" --severity "$RULE=note" --severity "$RULE=error" broken.bin # the last one counts
}

@test "--max-findings stops printing and not counting" {
	make_captures
	exits 0 check --format=json --max-findings=0 --severity "$OTHER=note" --fail-on=never valid.bin broken.bin
	jq -e 'all(.inputs[]; has("unlisted") | not)' <<< "$output"
	all=$(jq -c '[.inputs[] | [.errors, .warnings, .notes]]' <<< "$output")
	tm check --format=json --max-findings=1 valid.bin broken.bin
	echo "$output" > report.json
	validate report report.json
	[ "$(jq -c '[.inputs[] | [.errors, .warnings, .notes]]' <<< "$output")" = "$all" ]
	jq -e 'all(.inputs[].findings | group_by(.rule)[]; length == 1)' <<< "$output"
}

@test "what is not listed is said to be" {
	make_captures
	# A damaged capture with more than one finding of some rule.
	"$TRACEMEND" gen -q -f "$FORMAT" -o many --count 30 --damage hole --size 4K
	tm check --format=json --max-findings=0 many/*
	pick=$(jq -r '[.inputs[] | .path as $p | .findings | group_by(.rule)[] | select(length > 1) | "\($p) \(.[0].rule) \(length)"][0]' <<< "$output")
	read -r path rule count <<< "$pick"
	[ "$count" -gt 1 ]
	tm check -v --max-findings=1 --only "$rule" "$path"
	grep -qF "and $((count - 1)) more of this rule: --max-findings 0 shows all" <<< "$output"
	tm check -v --max-findings=1 --only "$rule" --format=concise "$path"
	grep -qF "and $((count - 1)) more [$rule]" <<< "$output"
	tm check --max-findings=1 --only "$rule" --format=json "$path"
	jq -e --arg rule "$rule" ".inputs[0].unlisted[\$rule] == $count - 1" <<< "$output"
	tm check --max-findings=0 --only "$rule" "$path"
	refute grep -q "more of this rule" <<< "$output"
}

@test "concise is a line a finding" {
	make_captures
	exits 1 check -q --format=concise --only "$RULE" broken.bin
	[ "$(wc -l <<< "$output")" = 1 ]
	[[ $output =~ ^broken\.bin:0x[0-9a-f]+:\ error:\ .+\ \[$RULE\]$ ]]
}

@test "json, jsonl and sarif are valid, for every kind of input" {
	make_captures
	: > empty
	for limit in 0 1 20; do
		exits 5 check --max-findings=$limit --format=json valid.bin broken.bin empty nowhere
		echo "$output" > report.json
		validate report report.json
		jq -e '[.inputs[].complete] == [true, true, false, false]' report.json
		exits 5 check --max-findings=$limit --format=jsonl valid.bin broken.bin empty nowhere
		echo "$output" > report.jsonl
		validate lines report.jsonl
		for format in sarif sarif-github; do
			exits 5 check --max-findings=$limit --format=$format valid.bin broken.bin empty nowhere
			echo "$output" > report.sarif
			validate sarif report.sarif
			jq -e '.runs[0].invocations[0].executionSuccessful == false' report.sarif
		done
	done
	exits 1 check --format=sarif broken.bin
	jq -e '.runs[0].invocations[0].executionSuccessful' <<< "$output"
	jq -e --arg rule "$RULE" '[.runs[0].results[].ruleId] | index($rule) != null' <<< "$output"
}

@test "junit fails where --fail-on says so" {
	make_captures
	: > empty
	for level in error warning note never; do
		tm check --format=junit --fail-on=$level --only "$RULE" --severity "$RULE=warning" valid.bin broken.bin empty
		echo "$output" > report.xml
		counts=$(python3 -c 'if True:
			import xml.etree.ElementTree as tree
			cases = tree.parse("report.xml").getroot().findall("testsuite/testcase")
			print([(len(c.findall("failure")), len(c.findall("error"))) for c in cases])')
		case $level in
		warning|note) [ "$counts" = "[(0, 0), (1, 0), (0, 1)]" ] ;;
		*) [ "$counts" = "[(0, 0), (0, 0), (0, 1)]" ] ;;
		esac
	done
}

@test "junit: the text of a failure says what was found" {
	make_captures
	exits 1 check --format=junit --only "$RULE" broken.bin
	echo "$output" > report.xml
	python3 - "$RULE" <<- 'EOF'
		import sys, xml.etree.ElementTree as tree
		failure = tree.parse("report.xml").getroot().find("testsuite/testcase/failure")
		assert failure.text.startswith("0x") and sys.argv[1] in failure.text, failure.text
	EOF
}

@test "gitlab: Code Quality, with fingerprints that differ" {
	"$TRACEMEND" gen -q -f fxt -o many --count 10 --damage hole --size 20K > /dev/null
	: > many/x.fxt
	exits 4 check --format=gitlab ./many
	echo "$output" > quality.json
	jq -e 'all(.[]; (.description | length > 0) and (.check_name | length > 0) and (.fingerprint | length > 0) and
		(.severity | IN("info", "minor", "major", "critical", "blocker")) and (.location.path | startswith("many/")) and .location.lines.begin == 1)' \
		quality.json
	jq -e '([.[].fingerprint] | length) == ([.[].fingerprint] | unique | length)' quality.json
	exits 4 check --format=json many
	[ "$(jq '[.inputs[].findings[]] | length + 1' <<< "$output")" = "$(jq length quality.json)" ]
	exits 0 check --format=gitlab --only dangling-string-ref many/hole-0001.fxt
	[ "$(jq length <<< "$output")" = 0 ]
}

@test "formats for machines list everything, those for people 20 a rule" {
	# 100 events that refer to a string that nobody registers; each in its own way, so that none explains another.
	"$TRACEMEND" gen -q -f fxt -o made --seed 3 --size 1M > /dev/null
	local format=fxt rule
	exits 0 check --format=json made
	rule=$(jq -r '[.inputs[].findings | group_by(.rule)[] | select(length > 20)][0][0].rule' <<< "$output")
	if [ "$rule" = null ]; then
		python3 - <<- 'EOF'
			data = bytearray(open("made/valid-0003.fxt", "rb").read())
			for at in range(4096, len(data) - 4096, 8192):
			    data[at:at + 64] = bytes(64)
			open("made/valid-0003.fxt", "wb").write(data)
		EOF
	fi
	tm check --format=json made
	rule=$(jq -r '[.inputs[].findings | group_by(.rule)[] | select(length > 20)][0][0].rule' <<< "$output")
	[ "$rule" != null ]
	local all
	all=$(jq --arg r "$rule" '[.inputs[].findings[] | select(.rule == $r)] | length' <<< "$output")
	jq -e '.inputs[0] | has("unlisted") | not' <<< "$output"
	for format in jsonl sarif concise; do
		tm check -v --only "$rule" --format=$format made
		[ "$(grep -c "$rule" <<< "$output")" -ge "$all" ]
	done
	for format in text markdown html; do
		tm check -v --only "$rule" --format=$format made
		grep -q "$((all - 20)) more" <<< "$output"
		tm check -v --only "$rule" --max-findings=0 --format=$format made
		refute grep -q "more of" <<< "$output"
	done
}

@test "a fingerprint survives a shifted offset, and tells findings apart" {
	make_captures
	[ "$FORMAT" = fxt ] || skip "made for fxt"
	tm check --format=json --only "$RULE" broken.bin
	before=$(jq -c '.inputs[0].findings[] | [.offset, .fingerprint]' <<< "$output")
	# An event record of 8 bytes more, the string record of index 900, behind the magic number.
	{ head -c 8 broken.bin; printf '\x22\x00\x84\x03\x01\x00\x00\x00x\0\0\0\0\0\0\0'; tail -c +9 broken.bin; } > shifted.bin
	tm check --format=json --only "$RULE" shifted.bin
	after=$(jq -c '.inputs[0].findings[] | [.offset - 16, .fingerprint]' <<< "$output")
	[ "$before" = "$after" ]
}

@test "github annotates, a line a finding" {
	make_captures
	exits 1 check --format=github --only "$RULE" broken.bin
	[[ $output =~ ^::error\ file=broken\.bin,title=$RULE::0x[0-9a-f]+:\ .+$ ]]
	"$TRACEMEND" gen -q -f fxt -o many --count 30 --damage hole --size 20K > /dev/null
	exits 1 check --format=json many
	local errors warnings
	errors=$(jq '[.inputs[].errors] | add' <<< "$output")
	warnings=$(jq '[.inputs[].warnings] | add' <<< "$output")
	[ "$errors" -gt 10 ] && [ "$warnings" -gt 10 ]
	exits 1 check --format=github many
	[ "$(grep -c '^::error ' <<< "$output")" = 10 ]
	[ "$(grep -c '^::warning ' <<< "$output")" = 10 ]
	grep -q "^::error title=tracemend::and $((errors - 9)) errors more; all are in [0-9]* inputs$" <<< "$output"
	grep -q "^::warning title=tracemend::and $((warnings - 9)) warnings more; all are in [0-9]* inputs$" <<< "$output"
	[ "$(sed 's/ .*//' <<< "$output" | uniq)" = "$(printf '::error\n::warning\n::notice')" ]
	exits 5 check --format=github nowhere
	[[ $output == "::error file=nowhere,title=not checked::"* ]]
}

@test "sarif has the regions of json" {
	make_captures
	tm check --format=json broken.bin
	json=$(jq -c '[.inputs[0].findings[] | [.rule, .offset, .length]]' <<< "$output")
	tm check --format=sarif broken.bin
	sarif=$(jq -c '[.runs[0].results[] | [.ruleId, (.locations[0].physicalLocation.region | .byteOffset, .byteLength)]]' <<< "$output")
	[ "$json" = "$sarif" ]
}

@test "-j changes nothing in the report" {
	make_captures
	"$TRACEMEND" gen -q -f "$FORMAT" -o many --count 40
	"$TRACEMEND" gen -q -f "$FORMAT" -o many --count 40 --damage hole --size 20K
	: > many/empty
	for format in text json sarif; do
		tm check --format=$format many/* broken.bin nowhere
		serial=$output code=$status
		for jobs in 2 8 200; do
			tm check -j $jobs --format=$format many/* broken.bin nowhere
			[ "$output" = "$serial" ]
			[ "$status" = "$code" ]
		done
	done
}

@test "colour only where it is wanted" {
	make_captures
	esc=$(printf '\033')
	exits 1 check broken.bin
	[[ $output != *"$esc"* ]]
	exits 1 check --color=always broken.bin
	[[ $output == *"$esc[1;31m"* ]]
	NO_COLOR=1 exits 1 check --color=auto broken.bin
	[[ $output != *"$esc"* ]]
	export TERM=xterm
	script -qec "'$TRACEMEND' check broken.bin" /dev/null > terminal || true
	grep -q "$esc\[1;31m" terminal
	NO_COLOR=1 script -qec "'$TRACEMEND' check broken.bin" /dev/null > terminal || true
	refute grep -q "$esc" terminal
	NO_COLOR= script -qec "'$TRACEMEND' check --color=never broken.bin" /dev/null > terminal || true
	refute grep -q "$esc" terminal
}

@test "a report that cannot be written is exit 5" {
	[ -c /dev/full ] || skip "no /dev/full"
	make_captures
	for arguments in "check valid.bin" "check --format=json valid.bin" "check --format=sarif broken.bin" "info valid.bin" \
		"rules" "rules --format=json" "explain $RULE" "--help" "check --help" "--version" "repair -n broken.bin"; do
		code=0
		# shellcheck disable=SC2086
		"$TRACEMEND" $arguments > /dev/full 2> talk || code=$?
		[ "$code" = 5 ]
		said "standard output"
	done
	code=0
	"$TRACEMEND" check valid.bin >&- 2> talk || code=$?
	[ "$code" = 5 ]
}

@test "a reader that went away ends the program silently, as the signal does" {
	# Its standard output is a pipe that nobody reads any more when it begins.
	cat > unread.py <<- 'EOF'
		import os, subprocess, sys
		reader, writer = os.pipe()
		os.close(reader)
		done = subprocess.run(sys.argv[1:], stdout=writer, stderr=open("talk", "wb"), restore_signals=True)
		sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
	EOF
	"$TRACEMEND" gen -q -f "$FORMAT" -o many --count 300
	for arguments in "check --format=json many/*.fxt" rules "rules --format=json" "rules --format=markdown" --help "gen --help"; do
		code=0
		# shellcheck disable=SC2086
		python3 unread.py "$TRACEMEND" $arguments || code=$?
		[ "$code" = 141 ]
		[ ! -s talk ]
	done
}

@test "a signal stops the work" {
	mkfifo never
	sleep 5 > never &
	holder=$!
	timeout --preserve-status -s TERM 1 "$TRACEMEND" check --format=json - < never > report 2> talk && code=0 || code=$?
	kill $holder 2> /dev/null || true
	[ "$code" = 143 ]
	refute grep -q '"complete":true' report
}

@test "info knows what check knows" {
	make_captures
	exits 0 info valid.bin
	grep -qE "^  format +$FORMAT" <<< "$output"
	exits 0 check --format=json valid.bin
	records=$(jq '.inputs[0].records' <<< "$output")
	exits 0 info --format=json valid.bin
	[ "$(jq '.inputs[0].records' <<< "$output")" = "$records" ]
	jq -e '.inputs[0].facts | type == "array"' <<< "$output"
	exits 0 info broken.bin
}

@test "info: counts are grouped, one is no plural, and JSON has the plain number" {
	exits 0 info "$HERE"/../../corpus/*/valid/*
	refute grep -E '(^|[ (])1 (record|event|string|thread|tick|byte)s([ ,)]|$)|[0-9]{4,} (record|event|byte|string|thread)s?' <<< "$output"
	grep -qE '[0-9],[0-9]{3} ticks a second' <<< "$output"
	exits 0 info --format=json "$HERE"/../../corpus/lttng/valid/*
	jq -e '[.inputs[].facts[] | select(.key == "clock") | .number] | length > 0 and all(. > 999999)' <<< "$output"
}

@test "progress is shown on a terminal, after a second, and erased" {
	"$TRACEMEND" gen -q -f fxt --size 12M -o made
	mv made/*.fxt valid.bin
	cat > slow.sh <<- EOF
		{ head -c 50 valid.bin; sleep 2; tail -c +51 valid.bin; } | "$TRACEMEND" check \$* --only "fxt/bad-magic-value" -
	EOF
	script -qec "sh slow.sh" /dev/null > terminal
	erase=$(printf '\r\033[K')
	grep -qF "MB read$erase" terminal
	grep -qF "MB read, " terminal
	grep -qF "%$erase" terminal
	sed "s/.*$erase//" terminal | refute grep -q "MB read"
	script -qec "sh slow.sh -q" /dev/null > terminal
	refute grep -qF "MB read" terminal
	sh slow.sh > report 2> talk
	[ ! -s talk ]
}

@test "several inputs are summed up" {
	make_captures
	: > empty
	exits 0 check --only "$RULE" valid.bin
	refute grep -q "inputs" <<< "$output"
	exits 4 check --only "$RULE" valid.bin broken.bin empty broken.bin
	[ "$(tail -1 <<< "$output")" = "4 inputs: 2 with errors, 1 not checked completely" ]
	exits 0 check --only "$RULE" valid.bin valid.bin
	[ "$(tail -1 <<< "$output")" = "2 inputs: 0 with errors" ]
}

@test "--save never writes over an input, nor into one, nor twice" {
	make_captures
	cp -r broken.bin it
	before=$(find it -type f -exec sha256sum {} + | sort)
	exits 2 check --save json=it it
	if [ -d it ]; then
		exits 2 check --save json=it/new it
		[ ! -e it/new ]
	fi
	[ "$(find it -type f -exec sha256sum {} + | sort)" = "$before" ]
	exits 2 check --save json=twice --save html=./twice it
	[ ! -e twice ]
	# A directory that is searched is no capture: a report may be written into it, again and again, but not over what it has.
	mkdir tree
	cp -r it tree/it
	exits 1 check --save json=tree/report.json tree
	exits 1 check --save json=tree/report.json tree
	validate report tree/report.json
	exits 2 check --save json=tree/it tree
	"$TRACEMEND" check --format jsonl it > run.jsonl || true
	before=$(sha256sum run.jsonl)
	exits 2 report --save json=run.jsonl run.jsonl
	[ "$(sha256sum run.jsonl)" = "$before" ]
}

@test "--save writes further reports of the same run, and changes no exit code" {
	make_captures
	: > empty
	for format in text sarif json jsonl junit markdown html gitlab github; do
		exits 4 check --format=$format valid.bin broken.bin empty
		echo "$output" > alone.$format
	done
	exits 4 check --save sarif=a.sarif --save json=a.json --save jsonl=a.jsonl --save junit=a.junit --save markdown=a.markdown \
		--save html=a.html --save gitlab=a.gitlab --save github=a.github valid.bin broken.bin empty
	diff <(echo "$output") alone.text
	for format in sarif json jsonl junit markdown html gitlab github; do
		diff a.$format alone.$format
	done
	exits 0 check --fail-on=never --format=json --save text=a.text valid.bin broken.bin
	exits 0 check --fail-on=never valid.bin broken.bin
	diff <(echo "$output") a.text
	exits 2 check --save sarif valid.bin
	exits 2 check --save nothing=file valid.bin
	exits 2 check --save sarif=- valid.bin
	exits 5 check --save sarif=nowhere/file valid.bin
	[ -z "$(find . -name '.tracemend*')" ]
}

@test "facts that are numbers are numbers in JSON, and versions are not" {
	"$TRACEMEND" gen -q -f lttng -o traces
	rm traces/labels.jsonl
	exits 0 info --format=json traces/*
	jq -e '.inputs[0].facts | any(.key == "cpus" and .number == (.value | tonumber))' <<< "$output"
	jq -e '.inputs[0].facts | any(.key == "clock" and .unit == "Hz" and (.number | type) == "number")' <<< "$output"
	jq -e '.inputs[0].facts | all(.key != "version" or (has("number") | not))' <<< "$output"
}

@test "facts that say several numbers have each of them as a field, in each format, as the schema says" {
	"$TRACEMEND" gen -q -f "$FORMAT" --count 6 -o traces
	rm traces/labels.jsonl
	exits 0 info --format=json traces/*
	echo "$output" > info
	validate info info
	jq -e '[.inputs[].facts[] | select(.fields)] | length >= 6 and all(.name and (.fields | length > 0))' info
	# Numbers that are not what the text says are noticed.
	jq '(.inputs[].facts[] | select(.fields) | .fields[] | numbers) += 1' info > altered
	refute validate info altered
}

@test "html: damaged times do not decide the scale of the time lines" {
	exits 0 gen -q -f ktrace -o made --valid --count 1 --size 64K
	python3 - made/*.ktrace "$TRACEMEND" << 'END'
import json, random, re, subprocess, sys
path, tool = sys.argv[1:]
def run(*words): return subprocess.run([tool, *words], stdout=subprocess.PIPE, check=False).stdout.decode()
events = [json.loads(line) for line in run("dump", "--format=jsonl", path).splitlines()]
events = [e for e in events if e.get("kind") == "event"]
for some in 0, 1, len(events) // 20:
    draw, data = random.Random(some), bytearray(open(path, "rb").read())
    for e in draw.sample(events, some):
        data[e["offset"]:e["offset"] + 6] = draw.randbytes(6)
    open("damaged", "wb").write(data)
    page = run("check", "--format=html", "damaged")
    counts = [c for track in re.findall(r'"counts":\[([-0-9,]+)\]', page) for c in map(int, track.split(","))]
    used = sum(c > 0 for c in counts)
    assert used > 100, f"{some} damaged times: records in {used} bins"
    assert ("with times far from all others" in page) == (some > 0), f"{some} damaged times: not said"
END
}

# bats test_tags=slow
@test "more findings than a report has room for are all listed" {
	"$TRACEMEND" gen -q -f fxt --size 36M -o made
	python3 - made/valid-0001.fxt <<-'END'
		import random, sys
		data, r = bytearray(open(sys.argv[1], "rb").read()), random.Random(5)
		for i in range(230000):
		    data[r.randrange(4096, len(data))] ^= r.randrange(1, 256)
		open("many.fxt", "wb").write(data)
	END
	mv made/valid-0001.fxt sound.fxt
	tar cf two.tar many.fxt sound.fxt
	"$TRACEMEND" check --format jsonl --save sarif=many.sarif two.tar > many.jsonl || [ $? = 1 ]
	cp many.jsonl run.jsonl
	"$TRACEMEND" report --format jsonl run.jsonl > merged.jsonl || [ $? = 1 ]
	python3 - <<-'END'
		import json
		lines = [json.loads(line) for line in open("many.jsonl")]
		findings = [f for f in lines if f["type"] == "finding" and f["input"] == "two.tar/many.fxt"]
		summary, = (s for s in lines if s["type"] == "summary" and s["path"] == "two.tar/many.fxt")
		counted = summary["errors"] + summary["warnings"] + summary["notes"]
		assert len(findings) == counted > 105000 and "unlisted" not in summary, (len(findings), counted)
		places = {(f["rule"], f["offset"], f["path"], f["message"], f.get("field", {}).get("offset")) for f in findings}
		assert len(places) == counted, len(places)
		run = json.load(open("many.sarif"))["runs"][0]
		assert len(run["results"]) == sum(f["type"] == "finding" for f in lines)
		# Merged, as many are listed as there is room for, and all are counted.
		lines = [json.loads(line) for line in open("merged.jsonl")]
		merged, = (s for s in lines if s["type"] == "summary" and s["path"] == "two.tar/many.fxt")
		assert merged["errors"] + merged["warnings"] + merged["notes"] == counted
		listed = sum(f["type"] == "finding" and f["input"] == "two.tar/many.fxt" for f in lines)
		assert listed + sum(merged["unlisted"].values()) == counted and listed >= 100000
	END
}

@test "numbers that count are grouped for people, and plain for machines" {
	"$TRACEMEND" gen -q -f fxt --size 300K -o made
	gzip made/valid-0001.fxt
	exits 0 check -v made/valid-0001.fxt.gz
	message=$(grep -o 'unpacked from[^[]*' <<< "$output")
	[[ $message =~ ,\ [0-9]{3},[0-9]{3}\ bytes ]]
	exits 0 check --format jsonl made/valid-0001.fxt.gz
	[[ $(jq -r 'select(.rule == "container/compressed") | .message' <<< "$output") =~ ,\ [0-9]{6}\ bytes$ ]]
}
