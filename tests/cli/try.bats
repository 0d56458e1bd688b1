#!/usr/bin/env bats
# try: readers are small shell scripts that know captures by their names, which say what is wrong with them.

load helper

# reader BODY: makes ./reader, which is given a capture as $1 and has $what (its name without seed).
reader() {
	printf '#!/bin/sh\nwhat=$(basename "$1")\nwhat=${what%%%%-[0-9]*}\n%s\n' "$1" > reader
	chmod +x reader
}

# One of each: a crash, a hang, a wrong rejection, silence.
bad_reader() {
	reader 'case $what in
	dangling-string-ref) kill -SEGV $$ ;;
	truncated-record) while :; do :; done ;;
	valid) echo "what is this?" >&2; exit 3 ;;
	bad-magic-value) exit 0 ;;
	*) exit 1 ;;
	esac'
}

TRY=(--timeout 1 --no-debugger -f fxt)
ONLY=(--valid --only dangling-string-ref --only truncated-record --only bad-magic-value --only zero-tick-rate)

@test "each outcome is told, the gravest first" {
	bad_reader
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --format=json -- ./reader {}
	jq -e '.outcomes == {signal: 1, hang: 1, rejected: 1, silent: 1, fine: 1} and .captures == 5' <<< "$output"
	jq -e '[.groups[] | [.outcome, .rule]] == [["signal", "fxt/dangling-string-ref"], ["hang", "fxt/truncated-record"],
		["rejected", null], ["silent", "fxt/bad-magic-value"]]' <<< "$output"
	jq -e '[.groups[].signal] == ["SIGSEGV", null, null, null] and [.groups[].exit] == [null, null, 3, null]' <<< "$output"
	jq -e '.groups[2] | .valid and .message == "what is this?"' <<< "$output"
	jq -e '.groups[0].first | startswith("tracemend gen -f fxt --rule fxt/dangling-string-ref --seed 1")' <<< "$output"
	exits 1 try "${TRY[@]}" "${ONLY[@]}" -- ./reader {}
	grep -q '^killed by SIGSEGV$' <<< "$output"
	grep -q '^  fxt/truncated-record: 1 of 1$' <<< "$output"
	grep -q '^5 captures: 1 killed by a signal, 1 hung, 1 valid but rejected, 1 invalid but accepted silently, 1 fine$' <<< "$output"
}

@test "--host is said in the command that makes the capture again" {
	reader 'exit 3'
	exits 1 try --no-debugger --host -f tracedat --valid --format=json -- ./reader {}
	jq -e '.groups[0].first | startswith("tracemend gen -f tracedat --host --valid --seed 1")' <<< "$output"
}

@test "--outcomes chooses what is reported" {
	bad_reader
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --outcomes signal,silent --format=json -- ./reader {}
	jq -e '[.groups[].outcome] == ["signal", "silent"] and .outcomes.rejected == 1' <<< "$output"
	exits 0 try "${TRY[@]}" --valid --outcomes signal -- ./reader {}
	exits 2 try "${TRY[@]}" --outcomes signal,often -- ./reader {}
	exits 2 try "${TRY[@]}" --outcomes '' -- ./reader {}
}

# bats test_tags=slow
@test "captures with one defect and one end are one group; -j changes nothing" {
	bad_reader
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --count 3 --outcomes signal,rejected,silent --format=json -- ./reader {}
	jq -e '[.groups[] | [.captures, .of]] == [[3, 3], [3, 3], [3, 3]]' <<< "$output"
	echo "$output" > one
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --count 3 --outcomes signal,rejected,silent --format=json -j4 -- ./reader {}
	echo "$output" > four
	cmp one four
}

@test "-o keeps a reduced sample of each group that does the same again" {
	bad_reader
	exits 1 try "${TRY[@]}" --rule dangling-string-ref --size 4K -o kept --format=json -- ./reader {}
	sample=$(jq -r '.groups[0].sample' <<< "$output")
	[ "$sample" = kept/signal-dangling-string-ref.fxt ]
	[ "$(ls -A kept)" = signal-dangling-string-ref.fxt ]
	jq -e '.groups[0] | .size < .first_size and .replay == "./reader kept/signal-dangling-string-ref.fxt"' <<< "$output"
	[ "$(stat -c %s "$sample")" = "$(jq '.groups[0].size' <<< "$output")" ]
	exits 1 check --format=json "$sample"
	jq -e '[.inputs[0].findings[] | select(.severity == "error") | .rule] == ["fxt/dangling-string-ref"]' <<< "$output"
	exits 1 try "${TRY[@]}" --rule dangling-string-ref --size 4K -o kept --tries 0 --format=json -- ./reader {}
	jq -e '.groups[0] | .size == .first_size' <<< "$output"
}

@test "folders are given as folders, and kept as such" {
	reader '[ -f "$1/info" ] || exit 9; kill -ABRT $$'
	exits 1 try --no-debugger -f uftrace --valid -o kept --tries 30 --format=json -- ./reader {}
	jq -e '.groups[0] | .signal == "SIGABRT" and .sample == "kept/signal-valid"' <<< "$output"
	exits 0 check kept/signal-valid
}

@test "captures can be given" {
	make_captures
	echo "no capture" > strange.bin
	reader 'exit 0'
	exits 1 try --no-debugger broken.bin valid.bin strange.bin --format=json -- ./reader {}
	jq -e --arg rule "$RULE" '[.groups[] | [.outcome, .rule, .first]] == [["silent", null, "strange.bin"], ["silent", $rule, "broken.bin"]]' <<< "$output"
	exits 5 try nowhere.bin -- ./reader {}
	exits 2 try --rule "$RULE" valid.bin -- ./reader {}
	exits 2 try - -- ./reader {}
}

# bats test_tags=slow
@test "nothing to say of a good reader" {
	for format in fxt uftrace tracedat ktrace lttng; do
		exits 0 try --no-debugger -f $format -j2 -- "$TRACEMEND" check -q {}
	done
}

# bats test_tags=slow
@test "time and memory are limited, and nothing is left running" {
	reader 'sleep 600 & echo $! > child; sleep 600'
	exits 1 try --timeout 1 --no-debugger -f fxt --valid --format=json -- ./reader {}
	jq -e '.outcomes.hang == 1' <<< "$output"
	refute kill -0 "$(cat child)" 2> /dev/null || refute grep -q sleep "/proc/$(cat child)/cmdline"
	reader 'yes; exit 1'
	exits 1 try --timeout 1 --no-debugger -f fxt --valid --format=json -- ./reader {}
	jq -e '.outcomes.hang == 1' <<< "$output"
	reader 'ulimit -v >&2; exit 1'
	exits 1 try --memory 100M --no-debugger -f fxt --valid --format=json -- ./reader {}
	jq -e '.groups[0].message == "102400"' <<< "$output"
}

@test "what a reader says is escaped, and does not name the scratch directory" {
	reader 'printf "%s: \033[31mred\377\n" "$1" >&2; exit 1'
	exits 1 try --no-debugger -f fxt --valid --format=json -- ./reader {}
	jq -e '.groups[0].message == "valid-0001.fxt: \\x1b[31mred\\xff"' <<< "$output"
	exits 1 try --no-debugger -f fxt --valid -- ./reader {}
	echo "$output" > shown
	plain shown
}

@test "a debugger tells where it crashed" {
	command -v gdb > /dev/null || skip "gdb is not installed"
	command -v gcc > /dev/null || skip "gcc is not installed"
	cat > crash.c <<-'END'
		#include <stdio.h>
		__attribute__((noinline)) static void look(volatile char *where, int c) { *where = (char)c; }
		int main(int n, char **files)
		{
			FILE *in = fopen(files[1], "rb");
			int c = in ? getc(in) : 0;
			if (n == 2 && c != EOF)
				look((char *)0, c);
			return 0;
		}
	END
	gcc -g -O0 crash.c -o crash
	exits 1 try --timeout 20 -f fxt --valid --format=json -- ./crash {}
	jq -e '.groups[0].site[0:2] == ["look", "main"]' <<< "$output"
}

@test "a recursion without end is at one place, wherever the stack ends" {
	command -v gdb > /dev/null || skip "gdb is not installed"
	command -v gcc > /dev/null || skip "gcc is not installed"
	cat > deep.c <<-'END'
		#include <string.h>
		int odd(volatile char *p);
		int leaf(volatile char *p) { char room[3000]; memset(room, *p, sizeof(room)); return room[*p & 7]; }
		int even(volatile char *p) { return leaf(p) + odd(p) + *p; }
		int odd(volatile char *p) { return leaf(p) + even(p) + *p; }
		int main(int n, char **files) { return n == 2 ? even(files[1]) : 0; }
	END
	gcc -g -O0 deep.c -o deep
	for pad in 1 2222 5555; do
		export PAD=$(printf "%${pad}s" x)
		exits 1 try --timeout 20 -f fxt --valid --format=json -- ./deep {}
		jq -e '.groups[0].site == ["even", "odd"]' <<< "$output"
	done
}

@test "a reader finds its memory at the same place each time" {
	command -v gcc > /dev/null || skip "gcc is not installed"
	setarch -R true || skip "addresses are always random here"
	cat > where.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		int main(void) { FILE *out = fopen("places", "a"); return fprintf(out, "%p %p\n", malloc(9), (void *)main) < 0; }
	END
	gcc where.c -o where
	exits 0 try -f fxt --valid --count 6 -j2 -- ./where {}
	[ "$(wc -l < places)" = 6 ]
	[ "$(sort -u places | wc -l)" = 1 ]
}

@test "what makes no sense is refused" {
	exits 2 try -f fxt
	exits 2 try -f fxt -- cat
	exits 2 try -- cat {}
	exits 2 try --rule container/compressed -- cat {}
	exits 2 try -f fxt --rule lttng/no-such -- cat {}
	exits 2 try -f fxt --timeout 0 -- cat {}
	exits 5 try -f fxt --valid -- ./no-such-reader {}
	said "no-such-reader"
	: > file
	exits 2 try -f fxt --valid -o file -- true {}
	exits 5 try -f fxt --valid -o file/below -- true {}
}

@test "a command that does not exist is said once" {
	exits 5 try -f fxt -- ./nosuch {}
	[ "$(wc -l < talk)" = 1 ]
	said "./nosuch: cannot be run"
	exits 5 try -f fxt -- no-such-command-anywhere {}
	[ "$(wc -l < talk)" = 1 ]
}
