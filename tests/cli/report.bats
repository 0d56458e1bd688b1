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
	[[ ${output##*$'\n'} == "broken.bin: $FORMAT"*" 1 error, 0 warnings, 0 notes" ]]
	[ ! -s talk ]
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
			exits $code check --only "$RULE" --severity "$RULE=$level" --fail-on="$fail" broken.bin
			grep -q ": $level: " <<< "$output"
		done
	done
	exits 0 check --only "$RULE" --severity "$RULE=ignore" --fail-on=note broken.bin
	[[ $output == *": clean" ]]
}

@test "--only, --ignore and --severity take ids, bare names and globs" {
	make_captures
	bare=${RULE#*/}
	exits 1 check --only "$bare" broken.bin
	exits 1 check --only "$FORMAT/*" broken.bin
	exits 0 check --only "${OTHER#*/}" broken.bin
	exits 1 check --only "${OTHER#*/}" --only "$RULE" broken.bin
	exits 0 check --ignore "$RULE" --only "$RULE" broken.bin
	exits 0 check --only "$RULE" --ignore "${bare%?}?" broken.bin
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
	tm check --max-findings=1 --only "$rule" "$path"
	grep -qF "and $((count - 1)) more of this rule: --max-findings 0 shows all" <<< "$output"
	tm check --max-findings=1 --only "$rule" --format=concise "$path"
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

@test "github annotates, a line a finding" {
	make_captures
	exits 1 check --format=github --only "$RULE" broken.bin
	[[ $output =~ ^::error\ file=broken\.bin,title=$RULE::0x[0-9a-f]+:\ .+$ ]]
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

@test "a reader that went away is exit 5, and no crash" {
	"$TRACEMEND" gen -q -f "$FORMAT" -o many --count 300
	set +o pipefail
	{ code=0; "$TRACEMEND" check --format=json many/* 2> talk || code=$?; echo "$code" > code; } | true
	[ "$(cat code)" = 5 ]
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

@test "progress is shown on a terminal, after a second, and erased" {
	make_captures
	[ -f valid.bin ] || skip "this format is a directory"
	cat > slow.sh <<- EOF
		{ head -c 50 valid.bin; sleep 1.5; tail -c +51 valid.bin; } | "$TRACEMEND" check \$* --only "$RULE" -
	EOF
	script -qec "sh slow.sh" /dev/null > terminal
	erase=$(printf '\r\033[K')
	grep -qF "MB read, " terminal
	grep -qF "%$erase" terminal
	sed "s/.*$erase//" terminal | refute grep -q "MB read"
	script -qec "sh slow.sh -q" /dev/null > terminal
	refute grep -qF "MB read, " terminal
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
