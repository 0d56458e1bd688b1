#!/usr/bin/env bats
# repair --verify-with: a reader is asked before the result gets its name.

load helper

# asked COMMAND: repairs broken.bin into ./out with that reader; leaves $status.
asked() {
	rm -rf out m.json
	tm repair broken.bin -o out --manifest m.json --verify-with "$@"
}

# refused: nothing was written, and the reason is said.
refused() {
	[ "$status" = 3 ] || { echo "exit $status"; cat talk; return 1; }
	[ ! -e out ] && [ ! -e m.json ] && [ -z "$(find . -name '.tracemend-*')" ]
	said "nothing was written"
}

@test "a reader that accepts the result changes nothing about it" {
	make_captures
	tm repair broken.bin -o plain --manifest plain.json
	expected=$status
	asked 'test -e {} && cmp {} plain && echo "I read it"'
	[ "$status" = "$expected" ]
	cmp out plain
	cmp m.json plain.json
	said "the reader accepts the result: exit 0"
	said "  | I read it"
	[ -z "$(find . -name '.tracemend-*')" ]
	asked 'echo talk {}' -q
	[ ! -s talk ]
	cmp out plain
	[ "$(stat -c %a out)" = "$(stat -c %a plain)" ]
}

@test "a result that a reader rejects gets no name, and no manifest" {
	make_captures
	asked 'false {}'
	refused
	said "exit 1"
	asked 'echo one; echo two >&2; exit 7 # {}' -q
	refused
	said "exit 7"
	[ "$(grep -A1 -F '| one' talk | tail -1)" = "  | two" ]
	asked 'no-such-reader {}'
	refused
	said "exit 127"
	said "no-such-reader"
	asked 'kill -SEGV $$; : {}'
	refused
	said "SIGSEGV"
	exits 3 repair valid.bin -o out --verify-with 'false {}'
	refused
	# what is there stays there
	echo precious > kept
	exits 3 repair broken.bin -o kept --verify-with 'false {}'
	[ "$(cat kept)" = precious ]
	# a manifest that would be printed is not
	asked 'false {}' --manifest -
	refused
	[ -z "$output" ]
	tm repair broken.bin -o out --manifest - --verify-with 'true {}'
	echo "$output" > m.json
	validate manifest m.json
}

@test "a reader that does not end is stopped" {
	make_captures
	before=$SECONDS
	asked 'sleep 50 {}; sleep 50' --timeout 1
	[ $((SECONDS - before)) -lt 30 ]
	asked 'while :; do :; done; : {}' --timeout 1
	refused
	said "--timeout"
	asked 'exec sleep 50 # {}' --timeout 1
	refused
	said "--timeout"
	asked 'exec dd if=/dev/zero of=/dev/null bs=900M count=1 # {}' --memory 500M
	refused
}

@test "what a reader says is escaped, and of much the end is printed" {
	make_captures
	asked 'printf "\033[31mred\007\nnul\0nul\n\377\n::error::x\n"; false {}'
	refused
	plain talk
	said '\x1b[31mred'
	refute grep -q '^::' talk
	asked 'seq 100000; echo {} | wc -l; false'
	refused
	said '| 100000'
	[ "$(grep -c '^  | ' talk)" = 8 ]
	asked 'head -c 3000000 /dev/zero | tr "\0" x; false {}'
	refused
	[ "$(wc -c < talk)" -lt 2000 ]
}

@test "a reader that changes the result is noticed" {
	make_captures
	asked 'echo more >> {}'
	[ "$status" = 5 ]
	said "changed by a program that read it"
	[ ! -e out ] && [ ! -e m.json ]
	asked 'rm {}'
	[ "$status" = 5 ]
	asked 'rm {}; cp valid.bin {}'
	[ "$status" = 5 ]
	[ ! -e out ] && [ -z "$(find . -name '.tracemend-*')" ]
}

@test "the result of a directory is a directory" {
	FORMAT=uftrace RULE=uftrace/dat-event-length
	make_captures
	asked 'test -d {} && ls {} | sort > seen'
	ls out | sort > there
	cmp seen there
	asked 'touch {}/new'
	[ "$status" = 5 ]
	[ ! -e out ]
	asked 'false {}'
	refused
}

@test "in place, the input keeps its name unless the reader accepts" {
	make_captures
	cp broken.bin here
	exits 3 repair --in-place here --verify-with 'false {}'
	cmp here broken.bin
	[ ! -e here.orig ] && [ -z "$(find . -name '*tracemend-*')" ]
	tm repair --in-place here --verify-with 'true {}'
	cmp here.orig broken.bin
	exits 0 check here
	rm here.orig
	exits 3 repair --in-place here --verify-with 'false {}' # nothing to repair, and not accepted
	exits 0 repair --in-place here --verify-with 'true {}'
}

@test "each result of several is asked about" {
	make_captures
	exits 3 repair valid.bin broken.bin -o all --verify-with 'cmp {} valid.bin'
	cmp all/valid.bin valid.bin
	[ "$(ls all)" = valid.bin ]
}

@test "the temporary name has the extension of the result" {
	make_captures
	cp broken.bin in.fxt
	tm repair broken.bin -o out.fxt --verify-with 'echo {}'
	grep -qE '^  \| .*/\.tracemend-[A-Za-z0-9]{6}\.fxt$' talk
	tm repair --in-place in.fxt --verify-with 'case {} in *.fxt) ;; *) false ;; esac'
	[ "$status" != 3 ] || said "the reader accepts"
	tm repair broken.bin -o plain --verify-with 'echo {}'
	grep -qE '^  \| .*/\.tracemend-[A-Za-z0-9]{6}$' talk
	tm repair broken.bin -o name.with-a-very-long-end --verify-with 'echo {}'
	grep -qE '^  \| .*/\.tracemend-[A-Za-z0-9]{6}$' talk
}

@test "usage" {
	exits 2 repair x -o out --verify-with 'true'
	said "{}"
	exits 2 repair -n x --verify-with 'true {}'
	exits 2 check x --verify-with 'true {}'
}

@test "trace-cmd accepts what is mended" {
	command -v trace-cmd > /dev/null || skip "no trace-cmd"
	"$TRACEMEND" gen -q -f tracedat --host --damage hole -o made 2> /dev/null || "$TRACEMEND" gen -q -f tracedat --damage hole -o made
	cp "made/$(label 1 file)" broken.bin
	asked 'trace-cmd report {} > events'
	[ -e out ]
	said "exit 0"
	timeout 20 trace-cmd report out > again 2> /dev/null
	cmp events again
}

@test "uftrace accepts what is mended" {
	command -v uftrace > /dev/null || skip "no uftrace"
	"$TRACEMEND" gen -q -f uftrace --damage hole -o made
	cp -r "made/$(label 1 file)" broken.bin
	asked 'uftrace dump --no-pager -d {} > events'
	[ -e out ]
	said "exit 0"
	[ -s events ]
}
