#!/usr/bin/env bats
# report: the reports of several runs become one, and damage to them is noticed.

load helper

# Captures of all kinds in one directory, and their names in the order of a search; what is no capture is in one more.
make_directory() {
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --count 3
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --rule "$RULE" --count 2
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --damage bitflip --count 3
	rm -f made/labels.jsonl
	mapfile -t names < <(find made -mindepth 1 -maxdepth 1 | LC_ALL=C sort)
	[ "${#names[@]}" = 8 ]
}

# job FILE PATH...: a run with its report in FILE.
job() {
	local file=$1
	shift
	"$TRACEMEND" check -q --format jsonl "$@" > "$file" 2> talk || true
}

@test "two jobs over halves of a directory report what one run over all does" {
	make_directory
	job 1.jsonl "${names[@]:0:4}"
	job 2.jsonl "${names[@]:4}"
	for format in json jsonl sarif sarif-github junit github gitlab markdown text concise; do
		for fail in error note never; do
			tm check -q --fail-on=$fail --format=$format "${names[@]}"
			whole=$output code=$status
			exits "$code" report -q --fail-on=$fail --format=$format 1.jsonl 2.jsonl
			[ "$output" = "$whole" ]
		done
	done
	# The page of a check has the map of each capture, which a report of reports cannot draw: the findings are the same.
	tm check -q --format=html "${names[@]}"
	findings=$(grep -o '<details class="finding[^>]*>' <<< "$output")
	exits 1 report -q --format=html 1.jsonl 2.jsonl
	[ -n "$findings" ] && [ "$(grep -o '<details class="finding[^>]*>' <<< "$output")" = "$findings" ]
	tm check --format=json "${names[@]}"
	jq -S '.inputs | sort_by(.path)' <<< "$output" > whole.json
	exits 1 report --format=json 2.jsonl 1.jsonl
	echo "$output" > merged.json
	validate report merged.json
	jq -S '.inputs | sort_by(.path)' merged.json | cmp - whole.json
	# The lines of both in one file, and on standard input.
	exits 1 report --format=json <(cat 2.jsonl 1.jsonl)
	[ "$output" = "$(cat merged.json)" ]
	exits 1 report --format=json - < <(cat 2.jsonl 1.jsonl)
	[ "$output" = "$(cat merged.json)" ]
	exits 1 report -q --save html=merged.html --save jsonl=merged.jsonl 1.jsonl 2.jsonl
	cmp <(grep -v '^{"type":"end"' merged.jsonl) <(grep -hv '^{"type":"end"' 1.jsonl 2.jsonl)
	validate lines merged.jsonl
	grep -q '</html>' merged.html
}

@test "findings that a run did not list are counted" {
	make_directory
	tm check --max-findings=1 --format=jsonl "${names[@]}"
	echo "$output" > cut.jsonl
	grep -q '"unlisted"' cut.jsonl
	tm check --max-findings=1 --format=json "${names[@]}"
	whole=$output
	exits 1 report --format=json cut.jsonl
	[ "$output" = "$whole" ]
	job all.jsonl "${names[@]}"
	exits 1 report --max-findings=1 --format=json all.jsonl
	[ "$output" = "$whole" ]
}

@test "files that were passed over are counted together" {
	mkdir one two
	make_captures
	cp valid.bin one/ && cp valid.bin two/
	for i in 1 2 3; do echo "no capture" > "one/$i.txt"; done
	echo "no capture" > two/1.txt
	job 1.jsonl one
	job 2.jsonl two
	exits 0 report --format=json 1.jsonl 2.jsonl
	[ "$(jq .passed_over <<< "$output")" = 4 ]
	said "4 other files passed over"
}

@test "the most serious exit code wins" {
	make_captures
	: > empty
	echo "this is no capture" > other
	job clean.jsonl valid.bin
	job broken.jsonl broken.bin
	job empty.jsonl empty
	job other.jsonl other
	job nowhere.jsonl nowhere
	printf 'tar' > odd
	"$TRACEMEND" gen -q -f "$FORMAT" -o big --size 2M
	tar -czf big.tgz big
	job limit.jsonl --max-unpacked 1000 big.tgz
	declare -A code=([clean]=0 [broken]=1 [empty]=4 [other]=4 [nowhere]=5 [limit]=6)
	for job in "${!code[@]}"; do
		validate lines "$job.jsonl"
		exits "${code[$job]}" report "$job.jsonl"
	done
	exits 4 report broken.jsonl other.jsonl clean.jsonl
	exits 6 report limit.jsonl other.jsonl clean.jsonl
	exits 5 report nowhere.jsonl limit.jsonl broken.jsonl
	said "nowhere: "
	exits 0 report --fail-on=never clean.jsonl broken.jsonl
	exits 5 report clean.jsonl no-such.jsonl
	said "no-such.jsonl: cannot be opened"
	exits 2 report
	# Lines of a version that did not write the status.
	sed 's/,"status":"[a-z]*"//' nowhere.jsonl > old.jsonl
	exits 4 report old.jsonl
}

@test "a report that is cut at any place is called damaged, with the line" {
	make_captures
	job whole.jsonl broken.bin
	size=$(stat -c %s whole.jsonl)
	lines=$(wc -l < whole.jsonl)
	[ "$lines" -ge 2 ]
	for at in 0 1 $((size / 4)) $((size / 2)) $((size - 2)) $((size - 1)) $(head -1 whole.jsonl | wc -c); do
		head -c "$at" whole.jsonl > cut.jsonl
		exits 4 report --format json cut.jsonl
		said "cut.jsonl"
		[ "$at" = 0 ] || said "cut.jsonl:$((1 + $(head -c $((at - 1)) cut.jsonl | wc -l))): damaged"
		# It stands in the report, as something that was not checked.
		jq -e '.inputs | any(.path == "cut.jsonl" and .complete == false)' <<< "$output"
	done
	# A line that is missing in the middle.
	sed 1d whole.jsonl > missing.jsonl
	exits 4 report missing.jsonl
	said "lines are missing"
	# What is whole before the damage, and in other files, is reported.
	cat whole.jsonl cut.jsonl > both.jsonl
	exits 4 report --format json both.jsonl whole.jsonl
	[ "$(jq '.inputs | length' <<< "$output")" = 3 ]
	[ "$(jq '.inputs | map(select(.errors > 0)) | length' <<< "$output")" = 2 ]
}

@test "a report without its last line is damaged, and so is one whose last line counts others" {
	make_captures
	: > empty
	job whole.jsonl broken.bin valid.bin empty
	tail -1 whole.jsonl | jq -e '. == {"type": "end", "inputs": 3, "incomplete": 1}'
	validate lines whole.jsonl
	# Cut directly behind a summary: all that is there is whole.
	sed '$d' whole.jsonl > cut.jsonl
	exits 4 report cut.jsonl
	said "the last line of the run is missing"
	grep -n '"summary"' whole.jsonl | head -1 | cut -d: -f1 > first
	head -n "$(cat first)" whole.jsonl > cut.jsonl
	exits 4 report cut.jsonl
	said "cut.jsonl"
	(sed '$d' whole.jsonl; echo '{"type":"end","inputs":4,"incomplete":1}') > other.jsonl
	exits 4 report other.jsonl
	said "lines are missing"
	(sed '$d' whole.jsonl; echo '{"type":"end","inputs":3,"incomplete":0}') > other.jsonl
	exits 4 report other.jsonl
	(sed '$d' whole.jsonl; echo '{"type":"end","inputs":3}') > other.jsonl
	exits 4 report other.jsonl
	# Several runs in one file: each has its own.
	job more.jsonl valid.bin
	cat whole.jsonl more.jsonl > both.jsonl
	exits 4 report --format json both.jsonl
	[ "$(jq '.inputs | length' <<< "$output")" = 4 ]
	sed '$d' both.jsonl > cut.jsonl
	exits 4 report cut.jsonl
	said "the last line of the run is missing"
	# A run that is stopped by a signal writes none.
	mkfifo never # nobody writes to it: opened for both, it never ends
	timeout --preserve-status -s TERM 2 "$TRACEMEND" check --format jsonl broken.bin - <> never > stopped.jsonl 2> talk || true
	refute grep -q '"type":"end"' stopped.jsonl
}

@test "what report chooses and re-grades is what check chooses" {
	make_directory
	job all.jsonl "${names[@]}"
	for choice in "--only $RULE" "--ignore $RULE" "--severity $RULE=warning" "--severity $RULE=ignore --severity $OTHER=note" \
		"--only $RULE --only $OTHER --ignore $OTHER" "--only *-ref"; do
		read -ra words <<< "$choice"
		tm check -q --format=json "${words[@]}" "${names[@]}"
		whole=$output code=$status
		exits "$code" report -q --format=json "${words[@]}" all.jsonl
		[ "$output" = "$whole" ]
	done
	# Findings that are not listed are re-graded, too.
	tm check --max-findings=1 --format=jsonl "${names[@]}"
	echo "$output" > cut.jsonl
	tm check --format=json --max-findings=1 --ignore "$RULE" "${names[@]}"
	whole=$output
	tm report --format=json --ignore "$RULE" cut.jsonl
	[ "$output" = "$whole" ]
	exits 2 report --only "no-such-rule" all.jsonl
}

@test "hostile lines are refused, and nothing of them reaches the terminal" {
	make_captures
	job whole.jsonl broken.bin
	head -1 whole.jsonl > finding
	grep '"type":"summary"' whole.jsonl > summary
	tail -1 whole.jsonl > end
	sed -i '$d' whole.jsonl
	while IFS= read -r change; do
		jq -c "$change" finding > hostile.jsonl
		cat summary >> hostile.jsonl
		sed 1d whole.jsonl | sed '$d' >> hostile.jsonl
		exits 4 report hostile.jsonl
		said "hostile.jsonl:"
	done <<- 'CHANGES'
		.rule = "fxt/no-such-rule"
		.rule = 7
		.severity = "fatal"
		.offset = -1
		.offset = 1.5
		.length = "1"
		.explains = null
		.context.bytes = "0"
		.context.bytes = "zz"
		.context.bytes = ("00" * 49)
		.context.offset = 8
		.field = {"offset": 0, "length": 99999999999, "name": "x"}
		.input = "other"
		.type = "finds"
		del(.message)
		[.]
	CHANGES
	while IFS= read -r change; do
		(sed '$d' whole.jsonl && jq -c "$change" summary) > hostile.jsonl
		exits 4 report hostile.jsonl
		said "hostile.jsonl:$(wc -l < whole.jsonl): "
	done <<- 'CHANGES'
		.errors = 0
		.errors = 9223372036854775807
		.errors = 9223372036854775807 | .warnings = 9223372036854775807 | .notes = 9223372036854775807
		.format = "ktrace"
		.format = ""
		.format = "nonsense"
		.path = "other"
		.complete = false
		.complete = 1
		.incomplete = "why"
		.unlisted = {"no/rule": 1}
		.unlisted = {"container/truncated": -1}
		.size = -5
		.status = "fine"
	CHANGES
	# Texts are escaped again.
	(sed '$d' whole.jsonl && cat summary end) |
		jq -c '(.path, .input, .message | strings) |= . + "\u001b[31m\u202e\n##[error]"' > hostile.jsonl
	for format in text json junit markdown html github; do
		exits 1 report --format=$format hostile.jsonl
		echo "$output" > shown
		plain shown
		refute grep -qF '##[error]' shown
	done
	# No line end, no end, no file.
	head -c 1000000 /dev/zero | tr '\0' x > long.jsonl
	exits 4 report long.jsonl
	said "long.jsonl:1: damaged: the line is too long"
	exits 4 report /dev/zero
	exits 4 report broken.bin
	mkdir directory
	exits 5 report directory
	tm check --format json broken.bin
	echo "$output" > whole.json
	exits 4 report whole.json
	printf '%0100000d' 0 | tr 0 '[' > deep.jsonl
	echo >> deep.jsonl
	exits 4 report deep.jsonl
}

@test "the jobs of the README report together what one run does" {
	readme=$HERE/../../README.md
	mkdir bin
	ln -s "$TRACEMEND" bin/tracemend
	PATH=$PWD/bin:$PATH
	make_directory
	printf '%s\n' "${names[@]}" > list
	exits 1 check --format json "${names[@]}"
	jq -S '.inputs | sort_by(.path)' <<< "$output" > whole.json
	# same FILE...: their report is that of one run.
	same() {
		exits 1 report --format json "$@"
		jq -S '.inputs | sort_by(.path)' <<< "$output" | cmp - whole.json
	}
	# The tasks of an array: two, side by side.
	sed -n '/^    i=\${SLURM/,/^$/p' "$readme" | sed 's|/10 list|/2 list|' > task
	[ "$(grep -c . task)" = 2 ]
	grep -q '/2 list' task
	env -u JOB_COMPLETION_INDEX SLURM_ARRAY_TASK_ID=0 bash task 2> talk.0 &
	env -u SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX=1 bash task 2> talk.1 || true
	wait
	[ -s job-0.jsonl ] && [ -s job-1.jsonl ]
	same job-{0..1}.jsonl
	# A task that did not run.
	exits 5 report job-{0..2}.jsonl
	command=$(sed -n 's/^    \(parallel .*[^ ]\)  *# .*/\1/p' "$readme" | sed 's/-S one,two -n 50/-j2 -n 4/')
	[[ $command == "parallel -j2 -n 4 "*" < list > all.jsonl" ]]
	command -v parallel > /dev/null || skip "no GNU parallel"
	bash -c "$command" 2> talk || true
	same all.jsonl
}
