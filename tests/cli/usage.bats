#!/usr/bin/env bats
# The command line: what is refused, and that it is said in a sentence.

load helper

@test "no command, or an unknown one, is a usage error" {
	exits 2
	exits 2 frobnicate
	said "unknown command 'frobnicate'"
	exits 2 --frobnicate
	exits 2 help frobnicate
}

@test "the nearest command, option, value and format are named" {
	exits 2 chekc x
	said "did you mean check?"
	: > trace.fxt
	exits 2 trace.fxt
	said "tracemend check trace.fxt"
	exits 2 check --fail-no=error x
	said "did you mean --fail-on?"
	exits 2 check --seed 3 x
	said "check has no option '--seed'; gen has it"
	exits 2 check -f json x
	said "did you mean --format json?"
	exits 2 check --format fxt x
	said "did you mean -f fxt"
	exits 2 check --format jsn x
	said "did you mean json?"
	exits 2 check -f uftrce x
	said "did you mean uftrace?"
	exits 2 check -f trace-cmd x
	said "did you mean tracedat?"
	exits 2 check -f Fuchsia x
	said "did you mean fxt?"
	exits 2 check -f nonsense x
	said "expected fxt, uftrace, tracedat, ktrace or lttng"
	exits 2 check --fail-on=warn x
	said "expected error, warning, note or never"
}

@test "every command has its help, on standard output" {
	exits 0 --help
	for command in check repair gen info rules explain; do
		grep -q "^  $command " <<< "$output"
	done
	for command in check repair gen info rules explain; do
		exits 0 "$command" --help
		[[ $output == "Usage: tracemend $command "* ]]
		[ ! -s talk ]
		with_h=$output
		exits 0 "$command" -h
		[ "$output" = "$with_h" ]
		exits 0 help "$command"
		[ "$output" = "$with_h" ]
	done
}

@test "the version is printed" {
	exits 0 --version
	[[ $output =~ ^tracemend\ [0-9]+\.[0-9]+\.[0-9]+$'\n'sandbox:\ .+$ ]]
	version=$output
	exits 0 check --version
	[ "$output" = "$version" ]
}

@test "unknown options are named" {
	for command in check repair gen info rules explain; do
		exits 2 "$command" --frobnicate x
		said "--frobnicate"
		exits 2 "$command" -X x
		said "-X"
	done
	exits 2 check -n x # of repair only
	said "-n"
}

@test "options without their argument, or with one too many, are named" {
	exits 2 check --fail-on
	said "--fail-on needs LEVEL"
	exits 2 repair x -o
	said "--output needs PATH"
	exits 2 check --quiet=yes x
	said "--quiet takes no argument"
}

@test "values that make no sense are refused" {
	exits 2 check --fail-on=maybe x
	exits 2 check --format=xml x
	exits 2 check --color=pink x
	exits 2 check --max-findings=-1 x
	exits 2 check --max-findings=1x x
	exits 2 check --max-findings=99999999999999999999999 x
	exits 2 check -j 0 x
	exits 2 check -j x x
	exits 2 check -f nothing x
	said "unknown format 'nothing'"
	exits 2 check --profile nothing x
	exits 2 check -f uftrace --profile latest x
	exits 2 check --severity "$RULE" x
	exits 2 check --severity "$RULE=loud" x
	exits 2 check --severity no-such-rule=error x
	exits 2 check --only 'no-such-*' x
	exits 2 check --ignore 'no-such-*' x
	exits 2 gen -f "$FORMAT" -o d --size 5T
	exits 2 gen -f "$FORMAT" -o d --size 99999999999G
	exits 2 gen -f "$FORMAT" -o d --damage love
	exits 2 gen -f "$FORMAT" -o d --seed 1.5
	exits 2 rules --format=sarif
	[ ! -e d ]
}

@test "missing and surplus arguments are refused" {
	exits 2 check
	exits 2 info
	exits 2 explain
	exits 2 repair -o out
	exits 2 repair - < /dev/null
	said "-o OUT"
	exits 2 repair x --in-place -o out
	exits 2 repair x y --manifest m.json
	exits 2 repair a/x b/x -o out
	said "a/x and b/x"
	exits 2 repair x -o -
	exits 2 gen -f "$FORMAT"
	exits 2 gen -o d
	exits 2 gen -f "$FORMAT" -o d x
	exits 2 gen -f "$FORMAT" -o d --valid --damage hole
	exits 2 gen -f "$FORMAT" -o d --rule "$RULE" --damage hole
	exits 2 rules x
	exits 2 check - -
	[ ! -e out ] && [ ! -e d ]
}

@test "-- ends the options" {
	make_captures
	mv valid.bin -- --help
	exits 0 check -- --help
	[[ $output == *--help:* ]]
	exits 0 check -q -- --help
}
