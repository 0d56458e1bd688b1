#!/usr/bin/env bats
# The files for continuous integration: they are what their readers take, and their commands run.

load helper
TOP=$HERE/../..

@test "the script of the action: annotations, SARIF, a summary, the exit code" {
	make_captures
	mkdir temp traces
	cp broken.bin traces/a.fxt
	ln -s "$TRACEMEND" temp/tracemend
	PATH=$PWD/temp:$PATH RUNNER_TEMP=temp GITHUB_OUTPUT=out GITHUB_STEP_SUMMARY=summary PATHS=traces OPTIONS="--only $RULE" \
		"$TOP/.github/actions/check/check.sh" > log
	grep -q "^::error file=traces/a.fxt,title=$RULE::" log
	grep -qx "code=1" out
	grep -qx "sarif=temp/tracemend.sarif" out
	validate sarif temp/tracemend.sarif
	grep -q "traces/a" summary
	: > out
	PATH=$PWD/temp:$PATH RUNNER_TEMP=temp GITHUB_OUTPUT=out GITHUB_STEP_SUMMARY=summary PATHS=nowhere \
		"$TOP/.github/actions/check/check.sh" > log 2> talk
	grep -qx "code=5" out
	: > out
	PATH=$PWD/temp:$PATH RUNNER_TEMP=temp GITHUB_OUTPUT=out GITHUB_STEP_SUMMARY=summary PATHS=traces FAIL_ON=never \
		"$TOP/.github/actions/check/check.sh" > log
	grep -qx "code=0" out
}

@test "the commands of the templates run" {
	make_captures
	mkdir temp traces
	cp broken.bin traces/a.fxt
	ln -s "$TRACEMEND" temp/tracemend
	export PATH=$PWD/temp:$PATH TRACES=traces
	code=0
	eval "$(sed -n 's/^    - \(tracemend check .*\)/\1/p' "$TOP/.github/templates/gitlab-ci.yml")" > log || code=$?
	[ $code = 1 ]
	jq -e 'length > 0' gl-code-quality.json
	python3 -c 'import xml.etree.ElementTree as t; assert t.parse("tracemend.xml").getroot().find(".//failure").text'
	code=0
	eval "$(sed -n "s/.*sh '\(tracemend check .*\)'/\1/p" "$TOP/.github/templates/Jenkinsfile")" > log || code=$?
	[ $code = 1 ]
	validate sarif tracemend.sarif
	code=0
	eval "$(sed -n 's/^  entry: //p' "$TOP/.pre-commit-hooks.yaml") traces/a.fxt" > log || code=$?
	[ $code = 1 ]
	grep -q "^traces/a.fxt:0x" log
}
