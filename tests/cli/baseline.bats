#!/usr/bin/env bats
# --baseline: what is known does not count again, and what is new does.

load helper

@test "a baseline takes what is known out of the report and out of the exit code" {
	make_captures
	exits 0 check --baseline known.jsonl --update-baseline --fail-on=note valid.bin broken.bin
	[ -s known.jsonl ]
	jq -es 'all(.[]; .type == "known" and .count >= 1 and (.fingerprint | test("^[0-9a-f]{32}$")))' known.jsonl
	exits 0 check --baseline known.jsonl --fail-on=note valid.bin broken.bin
	grep -qE "^broken\.bin: .*: nothing new, [0-9]+ known findings?$" <<< "$output"
	refute grep -q ": clean" <<< "$output"
	[ ! -s talk ]
	exits 0 check --baseline known.jsonl --fail-on=note --format json broken.bin valid.bin
	echo "$output" > report.json
	validate report report.json
	jq -e '.inputs[0] | .known > 0 and .errors == 0 and (.findings | length) == 0' report.json
	# Without it, all is as it was.
	exits 1 check broken.bin
	exits 1 check --baseline=/dev/null broken.bin
}

@test "the same finding once more is new, and so is another one" {
	make_captures
	exits 0 check --baseline known.jsonl --update-baseline broken.bin
	cp broken.bin again.bin
	exits 1 check --baseline known.jsonl --format json broken.bin again.bin
	[ "$(jq -c '[.inputs[].errors > 0]' <<< "$output")" = "[false,true]" ]
	"$TRACEMEND" gen -q -f "$FORMAT" -o more --rule "$OTHER"
	other=more/$(jq -r .file more/labels.jsonl)
	exits 1 check --baseline known.jsonl --format json broken.bin "$other"
	jq -e --arg rule "$OTHER" '.inputs[1].findings | any(.rule == $rule)' <<< "$output"
	# The number of threads decides nothing.
	exits 1 check -j4 --baseline known.jsonl --format json broken.bin again.bin "$other"
	parallel=$output
	exits 1 check -j1 --baseline known.jsonl --format json broken.bin again.bin "$other"
	[ "$output" = "$parallel" ]
}

@test "what no longer occurs is named, unless its rule was not looked at" {
	make_captures
	exits 0 check --baseline known.jsonl --update-baseline broken.bin
	exits 0 check --baseline known.jsonl valid.bin
	said "[$RULE] in broken.bin"
	said "--update-baseline forgets it"
	exits 0 check --baseline known.jsonl --ignore "$RULE" valid.bin
	refute grep -qF "[$RULE]" talk
	# Nor if not everything was checked.
	: > empty
	exits 4 check --baseline known.jsonl valid.bin empty
	refute grep -qF "[$RULE]" talk
	cp known.jsonl before
	exits 4 check --baseline known.jsonl --update-baseline valid.bin empty
	said "not written, as not everything was checked"
	cmp known.jsonl before
	exits 0 check --baseline known.jsonl --update-baseline valid.bin
	refute grep -qF "$RULE" known.jsonl
}

@test "the baseline of a run and that of its report are the same" {
	make_captures
	exits 1 check --format jsonl valid.bin broken.bin
	echo "$output" > job.jsonl
	exits 0 check --baseline a.jsonl --update-baseline valid.bin broken.bin
	exits 0 report --baseline b.jsonl --update-baseline job.jsonl
	cmp a.jsonl b.jsonl
	exits 0 report --baseline a.jsonl --fail-on=note job.jsonl
	[ ! -s talk ]
	# A job with a baseline says how much it left out, and the report does, too.
	exits 0 check --baseline a.jsonl --format jsonl valid.bin broken.bin
	echo "$output" > job.jsonl
	validate lines job.jsonl
	exits 0 check --baseline a.jsonl --format json valid.bin broken.bin
	whole=$output
	exits 0 report --format json job.jsonl
	[ "$output" = "$whole" ]
}

@test "a limit on listed findings hides none from the baseline" {
	make_captures
	exits 0 check --max-findings=1 --baseline few.jsonl --update-baseline broken.bin
	exits 0 check --baseline all.jsonl --update-baseline broken.bin
	cmp few.jsonl all.jsonl
	exits 0 check --max-findings=1 --fail-on=note --baseline all.jsonl broken.bin
}

@test "a baseline that is damaged, or would be written over an input, is refused" {
	make_captures
	exits 0 check --baseline known.jsonl --update-baseline broken.bin
	exits 5 check --baseline nowhere.jsonl broken.bin
	exits 2 check --update-baseline broken.bin
	exits 2 check --baseline= broken.bin
	head -c -5 known.jsonl > cut.jsonl
	exits 2 check --baseline cut.jsonl broken.bin
	said "cut.jsonl:$(wc -l < known.jsonl): damaged"
	while IFS= read -r change; do
		jq -c "$change" known.jsonl > hostile.jsonl
		exits 2 check --baseline hostile.jsonl broken.bin
		said "hostile.jsonl:1: "
	done <<- 'CHANGES'
		.type = "finding"
		.count = 0
		.count = -1
		.fingerprint = "x"
		.rule = "no/rule"
		del(.message)
		[.]
	CHANGES
	cp broken.bin kept
	exits 2 check --baseline broken.bin --update-baseline broken.bin
	cmp broken.bin kept
	mkdir inputs
	cp broken.bin inputs/
	exits 2 check --baseline inputs/known.jsonl --update-baseline inputs
	[ ! -e inputs/known.jsonl ]
}

@test "an entry that a section of the settings ignores is not gone" {
	make_captures
	mkdir -p old new
	cp broken.bin old/a.bin
	exits 0 check --baseline known.jsonl --update-baseline --no-config old/a.bin
	printf '%s\n' '[old/**]' "ignore = $RULE" > .tracemend.ini
	exits 0 check --baseline known.jsonl old/a.bin
	refute grep -qF "[$RULE]" talk
	# Elsewhere it is looked for.
	mv old/a.bin new/a.bin
	sed -i 's|old/a.bin|new/a.bin|' known.jsonl
	cp valid.bin new/a.bin
	exits 0 check --baseline known.jsonl new/a.bin
	said "[$RULE]"
	# In an archive, by the archive.
	cp broken.bin new/a.bin
	mkdir -p old && tar -cf old/two.tar -C new a.bin
	(cd new && cp a.bin b.bin) && tar -rf old/two.tar -C new b.bin
	exits 0 check --baseline tar.jsonl --update-baseline --no-config old/two.tar
	exits 0 check --baseline tar.jsonl old/two.tar
	refute grep -qF "[$RULE]" talk
}
