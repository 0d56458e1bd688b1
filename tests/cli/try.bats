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
	bad-magic-value | sound-*) exit 0 ;;
	*) exit 1 ;;
	esac'
}

TRY=(--timeout 1 --no-debugger -f fxt)
ONLY=(--valid --only dangling-string-ref --only truncated-record --only bad-magic-value --only zero-tick-rate)

@test "each outcome is told, the gravest first" {
	bad_reader
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --format=json -- ./reader {}
	jq -e '.outcomes == {signal: 1, crash: 0, memory: 0, hang: 1, differ: 0, count: 0, rejected: 1, silent: 1, fine: 1} and .captures == 5' <<< "$output"
	jq -e '[.groups[] | [.outcome, .rule]] == [["signal", "fxt/dangling-string-ref"], ["hang", "fxt/truncated-record"],
		["rejected", null], ["silent", "fxt/bad-magic-value"]]' <<< "$output"
	jq -e '[.groups[].signal] == ["SIGSEGV", null, null, null] and [.groups[].exit] == [null, null, 3, null]' <<< "$output"
	jq -e '.groups[2] | .valid and .message == "what is this?"' <<< "$output"
	jq -e '.groups[0].first | startswith("tracemend gen -f fxt --rule fxt/dangling-string-ref --seed 1")' <<< "$output"
	exits 1 try "${TRY[@]}" "${ONLY[@]}" -- ./reader {}
	grep -q '^killed by SIGSEGV$' <<< "$output"
	grep -q '^  fxt/truncated-record: 1 of 1$' <<< "$output"
	grep -q '^5 captures: 1 killed by a signal, 0 that the reader reports as a crash, 0 out of memory, 1 hung, 1 valid but rejected, 1 invalid but accepted silently, 1 fine$' <<< "$output"
}

@test "--host is said in the command that makes the capture again" {
	reader 'exit 3'
	exits 1 try --no-debugger --host -f tracedat --valid --format=json -- ./reader {}
	jq -e '.groups[0].first | startswith("tracemend gen -f tracedat --host --valid --seed 1")' <<< "$output"
	exits 1 try --no-debugger -f fxt --with log --without large --valid --format=json -- ./reader {}
	jq -e '.groups[0].first | startswith("tracemend gen -f fxt --with log --without large --valid --seed 1")' <<< "$output"
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
	jq -e '[.groups[] | [.captures, .of]] == [[3, 3], [3, 15], [3, 3]]' <<< "$output"
	echo "$output" > one
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --count 3 --outcomes signal,rejected,silent --format=json -j4 -- ./reader {}
	echo "$output" > four
	cmp one four
}

@test "-o keeps a reduced sample of each group that does the same again" {
	bad_reader
	exits 1 try "${TRY[@]}" --rule dangling-string-ref --size 4K -o kept --format=json -- ./reader {}
	sample=$(jq -r '.groups[0].sample' <<< "$output")
	id=$(jq -r '.groups[0].id' <<< "$output")
	[ "$sample" = "kept/$id/signal-dangling-string-ref.fxt" ]
	[ "$(ls -A kept/"$id" | xargs)" = "report.casrep report.md signal-dangling-string-ref.fxt" ]
	[ "$(ls -A kept | grep -v "$id" | xargs)" = "index.html index.json index.txt" ]
	jq -e '.groups[0] | .size < .first_size and .replay == "./reader kept/\(.id)/signal-dangling-string-ref.fxt"' <<< "$output"
	jq -S . kept/index.json > kept.json
	jq -S . <<< "$output" | cmp - kept.json
	[ "$(stat -c %s "$sample")" = "$(jq '.groups[0].size' <<< "$output")" ]
	exits 1 check --format=json "$sample"
	jq -e '[.inputs[0].findings[] | select(.severity == "error") | .rule] == ["fxt/dangling-string-ref"]' <<< "$output"
	exits 1 try "${TRY[@]}" --rule dangling-string-ref --size 4K -o kept --tries 0 --format=json -- ./reader {}
	jq -e '.groups[0] | .size == .first_size' <<< "$output"
}

@test "folders are given as folders, and kept as such" {
	reader '[ -f "$1/info" ] || exit 9; kill -ABRT $$'
	exits 1 try --no-debugger -f uftrace --valid -o kept --tries 30 --format=json -- ./reader {}
	jq -e '.groups[0] | .signal == "SIGABRT" and (.sample | endswith("/signal-valid"))' <<< "$output"
	exits 0 check kept/*/signal-valid
}

@test "captures can be given" {
	make_captures
	echo "no capture" > strange.bin
	reader 'exit 0'
	exits 1 try --no-debugger broken.bin valid.bin strange.bin --format=json -- ./reader {}
	jq -e --arg rule "$RULE" '[.groups[] | [.outcome, .rule, .first]] == [["silent", $rule, "broken.bin"], ["silent", null, "strange.bin"]]' <<< "$output"
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
	jq -e '.groups[0].message == "{}: \\x1b[31mred\\xff"' <<< "$output"
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

@test "the C library's functions are not the place of a crash" {
	command -v gdb > /dev/null || skip "gdb is not installed"
	command -v gcc > /dev/null || skip "gcc is not installed"
	unset ASAN_OPTIONS UBSAN_OPTIONS # of the tests of this program
	cat > sorts.c <<-'END'
		#include <stdlib.h>
		#include <string.h>
		__attribute__((noinline)) static size_t string_length(const char *s) { return strlen(s); }
		__attribute__((noinline)) static int compare(const void *a, const void *b)
		{
			return (int)string_length(*(char *const *)a) - (int)string_length(*(char *const *)b);
		}
		__attribute__((noinline)) static int sort_all(char **list) { qsort(list, 3, sizeof(*list), compare); return *list[0] & 0; }
		int main(int n, char **files) { char *list[3] = { files[1], (char *)(long)(n - 1), files[1] }; return n == 2 ? sort_all(list) : 0; }
	END
	gcc -g -O0 sorts.c -o plain
	gcc -g -O0 -fsanitize=address sorts.c -o sanitized
	exits 1 try --timeout 20 -f fxt --valid --format=json -- ./plain {}
	jq -e '.groups[0].site == ["string_length", "compare", "sort_all"]' <<< "$output"
	exits 1 try --timeout 20 --memory 0 --no-debugger -f fxt --valid --format=json -- ./sanitized {}
	jq -e '.groups[0].site == ["string_length", "compare", "sort_all"]' <<< "$output"
	gcc -O0 sorts.c -s -o stripped
	exits 1 try --timeout 20 -f fxt --valid --format=json -- ./stripped {}
	jq -e '.groups[0].site | length == 3 and all(startswith("stripped+0x"))' <<< "$output"
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
	[ "$(wc -l < places)" = 7 ] # and once for its version
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

# crash_of TEXT [CODE]: what try makes of a reader that writes that to standard error.
crash_of() {
	printf '%s\n' "$1" > said
	reader "cat $PWD/said >&2; exit ${2:-1}"
	exits 1 try --no-debugger -f fxt --valid --format=json -- ./reader {}
	jq -r '.groups[0] | [.outcome, .message, (.site | join(" < "))] | join("|")' <<< "$output"
}

@test "reports of sanitizers, panics and uncaught exceptions are crashes, each at its place" {
	[ "$(crash_of '==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x4f
READ of size 1 at 0x602000000011 thread T0
    #0 0x7f1 in __interceptor_memcpy (/lib/libasan.so+0x1)
    #1 0x4f2 in copy_name(char const*, int) /src/names.cc:12:3
    #2 0x4f3 in (anonymous namespace)::read(Page&) /src/page.cc:40
    #3 0x4f4 in main /src/main.cc:9
    #4 0x7f5 in __libc_start_main (/lib/libc.so.6+0x2)

0x602 is located 0 bytes after
    #0 0x4f9 in somewhere_else /src/x.c:1')" = 'crash|AddressSanitizer: heap-buffer-overflow|copy_name < (anonymous namespace)::read < main' ]
	[ "$(crash_of '==3==WARNING: MemorySanitizer: use-of-uninitialized-value
    #0 0x4f2  (/usr/bin/reader+0x1f3c) (BuildId: 12ab)
    #1 0x4f3 in walk page.c:40')" = 'crash|MemorySanitizer: use-of-uninitialized-value|reader+0x1f3c < walk' ]
	[ "$(crash_of 'WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 4 at 0x7b by thread T1:
    #0 count_events page.c:40 (reader+0x12)
    #1 read_all(char*) /src/all.cc:9 (reader+0x34)' 66)" = 'crash|ThreadSanitizer: data race (pid=7)|count_events < read_all' ]
	[ "$(crash_of '/src/page.c:12:3: runtime error: index 9 out of bounds' 0)" = 'crash|UndefinedBehaviorSanitizer: index 9 out of bounds|page.c:12:3' ]
	[ "$(crash_of 'reader: page.c:12: read_page: Assertion `size < 10'"'"' failed.')" = "crash|assertion: size < 10' failed.|read_page" ]
	[ "$(crash_of 'panic: runtime error: index out of range [9] with length 4

goroutine 1 [running]:
runtime.goPanicIndex(0x9, 0x4)
	/usr/lib/go/panic.go:88 +0x1
main.readPage(0xc0000, 0x2)
	/src/page.go:12 +0x1d
main.main()
	/src/main.go:9 +0x2' 2)" = 'crash|Go: runtime error: index out of range [9] with length 4|main.readPage < main.main' ]
	[ "$(crash_of "thread 'main' panicked at src/page.rs:12:3:
index out of bounds: the len is 4 but the index is 9
stack backtrace:
   0: rust_begin_unwind
             at /rustc/1/library/std/src/panicking.rs:1:1
   1: core::panicking::panic_fmt
   2: reader::page::read::h0123456789abcdef
             at ./src/page.rs:12:3
   3: reader::main" 101)" = 'crash|Rust: index out of bounds: the len is 4 but the index is 9|reader::page::read < reader::main' ]
	[ "$(crash_of "thread 'main' (28758) panicked at src/page.rs:12:3:
index out of bounds: the len is 4 but the index is 9
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/1/library/std/src/panicking.rs:689:5
   1: <usize as core::slice::index::SliceIndex<[T]>>::index
             at /rustc/1/library/core/src/slice/index.rs:272:10
   2: <reader::Page as core::fmt::Display>::fmt
   3: reader::main" 101)" = 'crash|Rust: index out of bounds: the len is 4 but the index is 9|<reader::Page as core::fmt::Display>::fmt < reader::main' ]
	[ "$(crash_of "thread 'main' panicked at 'index out of bounds', src/page.rs:12:3" 101)" = "crash|Rust: 'index out of bounds', src/page.rs:12:3|src/page.rs:12:3" ]
	[ "$(crash_of 'Traceback (most recent call last):
  File "/src/reader.py", line 9, in <module>
    main()
  File "/src/reader.py", line 7, in main
    read(data)
  File "/src/page.py", line 3, in read
    return data[9]
IndexError: list index out of range')" = 'crash|Python: IndexError: list index out of range|page.py:read < reader.py:main < reader.py:<module>' ]
	[ "$(crash_of 'Exception in thread "main" java.lang.ArrayIndexOutOfBoundsException: Index 9 out of bounds
	at java.base/java.util.Arrays.check(Arrays.java:1)
	at reader.Page.read(Page.java:12)
	at reader.Main.main(Main.java:9)')" = 'crash|Java: java.lang.ArrayIndexOutOfBoundsException: Index 9 out of bounds|reader.Page.read < reader.Main.main' ]
	[ "$(crash_of '/src/page.js:3
	throw new TypeError("no page");

TypeError: no page
    at readPage (/src/page.js:3:8)
    at Object.<anonymous> (/src/main.js:9:1)
    at Module._compile (node:internal/modules/cjs/loader:1:1)')" = 'crash|exception: TypeError: no page|readPage' ]
	[ "$(crash_of 'node:internal/buffer:88
  throw new ERR_OUT_OF_RANGE(type || "offset",
  ^

RangeError [ERR_OUT_OF_RANGE]: The value is out of range.
    at boundsError (node:internal/buffer:88:9)
    at Buffer.readUInt32LE (node:internal/buffer:222:5)
    at readPage (/src/page.js:3:8)

Node.js v20.20.2')" = 'crash|exception: RangeError [ERR_OUT_OF_RANGE]: The value is out of range.|readPage' ]
	[ "$(crash_of 'Bad [Error]: no page,
and no header
    at readPage (/src/page.js:3:8)')" = 'crash|exception: Bad [Error]: no page,|readPage' ]
	[ "$(crash_of '/src/page.js:3
	throw "no page";
	^
no page
(Use `node --trace-uncaught ...` to show where the exception was thrown)

Node.js v20.20.2')" = 'crash|exception: no page|' ]
	[ "$(crash_of 'FormatError: no page')" = 'rejected|FormatError: no page|' ]
	[ "$(crash_of 'fatal error: stack overflow

runtime stack:
runtime.throw({0x47c2b9?, 0x510fc0?})
	/usr/lib/go/panic.go:1047 +0x5d

goroutine 1 [running]:
main.readPage(0xc0000, 0x2)
	/src/page.go:12 +0x1d
main.main()
	/src/main.go:9 +0x2' 2)" = 'crash|Go: stack overflow|main.readPage < main.main' ]
	[ "$(crash_of 'no panic: the file is not a trace')" = 'rejected|no panic: the file is not a trace|' ]
}

@test "a crash of one place is one group, whatever the rule; another place is another group" {
	reader 'case $what in
	truncated-record) echo "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0"; echo "    #0 0x1 in other /x.c:1" ;;
	valid | sound-*) exit 0 ;;
	*) echo "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x$$"; echo "    #0 0x$$ in same /x.c:1" ;;
	esac >&2; exit 1'
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --format=json -- ./reader {}
	jq -e '[.groups[] | [.site[0], .captures, (.rules | length)]] == [["other", 1, 1], ["same", 3, 3]]' <<< "$output"
	exits 1 try "${TRY[@]}" "${ONLY[@]}" -- ./reader {}
	grep -q '^crash: AddressSanitizer: SEGV in same$' <<< "$output"
	grep -q '^  fxt/[a-z-]* and 2 other rules: 3 of 5$' <<< "$output"
	exits 0 try "${TRY[@]}" "${ONLY[@]}" --outcomes signal -- ./reader {}
}

@test "own exit codes and patterns of a crash" {
	reader 'case $what in sound-*) exit 0 ;; esac; echo "bad thing 7 happened" >&2; exit 44'
	exits 1 try "${TRY[@]}" --rule truncated-record --rule dangling-string-ref --crash-exit 44 --format=json -- ./reader {}
	jq -e '.groups[0] | .outcome == "crash" and .exit == 44 and .captures == 2 and .not_the_cause == 0' <<< "$output"
	exits 1 try "${TRY[@]}" --rule truncated-record --crash-pattern '^bad .* [0-9]+' --format=json -- ./reader {}
	jq -e '.groups[0] | .outcome == "crash" and .message == "bad thing 7 happened"' <<< "$output"
	exits 0 try "${TRY[@]}" --rule truncated-record --crash-pattern 'thing$' -- ./reader {}
	exits 2 try "${TRY[@]}" --rule truncated-record --crash-pattern '(' -- ./reader {}
	exits 2 try "${TRY[@]}" --rule truncated-record --crash-exit 0 -- ./reader {}
}

@test "real reports: AddressSanitizer, UndefinedBehaviorSanitizer, assert, Python" {
	command -v gcc > /dev/null || skip "gcc is not installed"
	unset ASAN_OPTIONS UBSAN_OPTIONS # of the tests of this program
	cat > bad.c <<-'END'
		#include <assert.h>
		#include <stdio.h>
		#include <stdlib.h>
		__attribute__((noinline)) static int over(int n) { volatile char *p = malloc(4); return p[n]; }
		__attribute__((noinline)) static int flow(int n) { return 0x7fffffff + n; }
		__attribute__((noinline)) static int sure(int n) { assert(n < 0); return n; }
		int main(int n, char **files) { return files[1][0] == 0 ? 0 : WHAT(n + 8) & 0; }
	END
	gcc -g -O0 -fsanitize=address -DWHAT=over bad.c -o over
	gcc -g -O0 -fsanitize=undefined -DWHAT=flow bad.c -o flow
	gcc -g -O0 -DWHAT=sure bad.c -o sure
	printf 'import sys\ndef look(d):\n    return d[10 ** 9]\nlook(open(sys.argv[1], "rb").read())\n' > look.py
	exits 1 try --memory 0 --no-debugger -f fxt --valid --format=json -- ./over {}
	jq -e '.groups[0] | .outcome == "crash" and .site[0] == "over" and (.message | startswith("AddressSanitizer: heap-buffer-overflow"))' <<< "$output"
	exits 1 try --no-debugger -f fxt --valid --format=json -- ./flow {}
	jq -e '.groups[0] | .outcome == "crash" and (.site[0] | startswith("bad.c:5"))' <<< "$output"
	exits 1 try --no-debugger -f fxt --valid --format=json -- ./sure {}
	jq -e '.groups[0] | .outcome == "signal" and .signal == "SIGABRT" and .site[0] == "sure"' <<< "$output"
	exits 1 try --no-debugger -f fxt --valid --format=json -- python3 look.py {}
	jq -e '.groups[0] | .outcome == "crash" and .site == ["look.py:look", "look.py:<module>"]' <<< "$output"
}

@test "a reduced sample crashes at the place that the reader reports" {
	reader 'if [ "$(stat -c %s "$1")" -gt 1500 ]; then echo "==1==ERROR: AddressSanitizer: SEGV"; echo "    #0 0x1 in large /x.c:1"
	else echo "==1==ERROR: AddressSanitizer: SEGV"; echo "    #0 0x1 in small /x.c:1"; fi >&2; exit 1'
	exits 1 try "${TRY[@]}" --valid --size 4K -o kept --format=json -- ./reader {}
	jq -e '.groups[0] | .site == ["large"] and .size > 1500 and .size < 4000' <<< "$output"
	"$TRACEMEND" gen -q -f fxt --size 4K -o whole
	exits 0 reduce whole/valid-0001.fxt -o small.fxt -- ./reader {}
	[ "$(stat -c %s small.fxt)" -gt 1500 ]
}

@test "what the reader does without the defect as well is not the defect's doing" {
	reader 'case $what in
	*truncated-record) echo "this host cannot read pages of $$ bytes" >&2; exit 9 ;;
	dangling-string-ref) exit 9 ;;
	*) exit 0 ;;
	esac'
	exits 1 try "${TRY[@]}" --rule truncated-record --rule dangling-string-ref --format=json -- ./reader {}
	jq -e '[.groups[] | [.outcome, .rule, .captures, .not_the_cause]] == [["rejected", null, 2, 1]]' <<< "$output"
	jq -e '.groups[0].first | contains("--rule fxt/truncated-record --sound --seed 1")' <<< "$output"
	exits 1 try "${TRY[@]}" --rule truncated-record -- ./reader {}
	grep -q '^    also    1 capture with a defect, which is not the cause$' <<< "$output"
	grep -q '^    hint    --host makes only what readers on an ordinary host open$' <<< "$output"
	# It dies of the defect in another way than without it.
	reader 'case $what in
	truncated-record) kill -SEGV $$ ;;
	*) echo no >&2; exit 9 ;;
	esac'
	exits 1 try "${TRY[@]}" --rule truncated-record --format=json -- ./reader {}
	jq -e '[.groups[] | [.outcome, .rule]] == [["signal", "fxt/truncated-record"]]' <<< "$output"
}

@test "a group has a name that is the same in another folder and with other numbers" {
	reader 'test "$1" = --version && { echo "reader v1.2 (here)"; exit 0; }
	echo "page $$ of 0x$$ is bad" >&2; kill -SEGV $$'
	exits 1 try "${TRY[@]}" --valid --count 3 --format=json -- ./reader {}
	jq -e '[.groups[].captures] == [3] and .reader.version == "1.2" and .reader.name == "reader"' <<< "$output"
	id=$(jq -r '.groups[0].id' <<< "$output")
	[[ $id =~ ^[0-9a-f]{12}$ ]]
	mkdir elsewhere
	mv reader elsewhere
	exits 1 try "${TRY[@]}" --valid --seed 9 --size 4K --format=json -- elsewhere/reader {}
	[ "$(jq -r '.groups[0].id' <<< "$output")" = "$id" ]
	sed -i 's/v1.2/v1.3/' elsewhere/reader
	exits 1 try "${TRY[@]}" --valid --format=json -- elsewhere/reader {}
	[ "$(jq -r '.groups[0].id' <<< "$output")" != "$id" ]
	# The name of a script is that of the reader, whatever runs it.
	exits 1 try "${TRY[@]}" --valid --format=json -- timeout 5 sh -e elsewhere/reader {}
	jq -e '.reader.name == "reader" and .reader.version == ""' <<< "$output"
}

@test "groups whose innermost function is the same are linked, not merged" {
	reader 'case $what in
	truncated-record) echo "==1==ERROR: AddressSanitizer: SEGV"; echo "    #0 0x1 in leaf /x.c:1"; echo "    #1 0x2 in one /x.c:9" ;;
	dangling-string-ref) echo "==1==ERROR: AddressSanitizer: SEGV"; echo "    #0 0x1 in leaf /x.c:1"; echo "    #1 0x2 in two /x.c:9" ;;
	bad-magic-value) echo "==1==ERROR: AddressSanitizer: SEGV"; echo "    #0 0x1 in leafy /x.c:1" ;;
	*) exit 0 ;;
	esac >&2; exit 1'
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --outcomes crash --format=json -- ./reader {}
	jq -e '[.groups[] | [.site[0], (.similar | length)]] | sort == [["leaf", 1], ["leaf", 1], ["leafy", 0]]' <<< "$output"
	jq -e '.groups as $g | [$g[] | select(.site[0] == "leaf")] | .[0].similar == [.[1].id]' <<< "$output"
	exits 1 try "${TRY[@]}" "${ONLY[@]}" -- ./reader {}
	[ "$(grep -c '^    like    [0-9a-f]\{12\}$' <<< "$output")" = 2 ]
}

@test "readers that run out of memory are told from those that crash" {
	reader 'case $what in
	truncated-record) echo "terminate called after throwing an instance of '"'std::bad_alloc'"'" >&2; kill -ABRT $$ ;;
	dangling-string-ref) echo "fatal error: runtime: out of memory" >&2; exit 2 ;;
	bad-magic-value) echo "std::bad_alloc is not what happened" >&2; exit 0 ;;
	*) exit 0 ;;
	esac'
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --format=json -- ./reader {}
	jq -e '[.groups[] | select(.outcome == "memory") | .rule] == ["fxt/dangling-string-ref", "fxt/truncated-record"]' <<< "$output"
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --outcomes memory -- ./reader {}
	grep -q '^memory: it takes more than the limit$' <<< "$output"
}

@test "-o writes reports that can be sent; no text of the reader is markup" {
	reader 'test "$1" = --version && exit 1
	case $what in sound-* | valid) exit 0 ;; esac
	printf "%s\n" "**bad** <script>alert(1)</script> \`x\`" "==1==ERROR: AddressSanitizer: SEGV" "    #0 0x1 in <b>leaf /x.c:1" >&2
	exit 1'
	exits 1 try "${TRY[@]}" --rule dangling-string-ref -o found -- ./reader {}
	folder=$(dirname found/*/report.md)
	grep -v '^    ' "$folder/report.md" > text
	refute grep -q '[^\\]<script' text
	grep -q '^- Reader: reader$' "$folder/report.md"
	grep -q '^- Broken rule: fxt/dangling-string-ref$' "$folder/report.md"
	grep -q '^    ./reader found/[0-9a-f]*/crash-dangling-string-ref.fxt$' "$folder/report.md"
	grep -q '^    ==1==ERROR: AddressSanitizer: SEGV$' "$folder/report.md"
	grep -q '^The clause: ' "$folder/report.md"
	grep -q '^```$' "$folder/report.md"
	jq -e '.CrashLine | contains("leaf")' "$folder/report.casrep"
	jq -e '.Stacktrace | length == 1' "$folder/report.casrep"
	refute grep -q '<b>leaf' found/index.html
	grep -q "href=\"${folder#found/}/crash-dangling-string-ref.fxt\"" found/index.html
	cmp <("$TRACEMEND" try "${TRY[@]}" --rule dangling-string-ref -o found -- ./reader {}) found/index.txt
}

@test "SARIF names each group by its fingerprint" {
	bad_reader
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --format=sarif -o found -- ./reader {}
	jq -e '.version == "2.1.0" and .runs[0].tool.driver.name == "tracemend try"' <<< "$output"
	jq -e '[.runs[0].results[] | [.ruleId, .level]] == [["signal", "error"], ["hang", "error"], ["rejected", "warning"], ["silent", "warning"]]' <<< "$output"
	jq -r '.runs[0].results[] | .partialFingerprints["tracemendGroup/v1"]' <<< "$output" | while read -r id; do
		[ -d "found/$id" ]
	done
	jq -r '.runs[0].results[].locations[0].physicalLocation.artifactLocation.uri' <<< "$output" | while read -r path; do
		[ -e "$path" ]
	done
}

@test "--count-with: numbers of records that are not those of check" {
	export TRACEMEND
	"$TRACEMEND" gen -q -f fxt --count 3 -o given
	# It loses the first record, and says so in lines or as a number.
	reader '[ "$1" = --version ] && exit; n=$("$TRACEMEND" dump "$1" | wc -l); seq 2 $n | sed "s/^/record /"; echo "read $((n - 1)) of all"; echo "skipped 1"'
	for pattern in '^record [0-9]+$' 'read ([0-9]+) of' '(^read |^skipped )([0-9]+)'; do
		exits 1 try --no-debugger --count-with "$pattern" --format=json given/*.fxt -- ./reader {}
		jq -e '[.groups[] | [.outcome, .captures, .rule]] == [["count", 3, null]]' <<< "$output"
	done
	jq -e '.groups[0].message | test("^[0-9]+ records?, check counts [0-9]+$")' <<< "$output"
	exits 0 try --no-debugger --count-with '^.ecord|^skipped' given/*.fxt -- ./reader {}
	exits 1 try --no-debugger --count-with 'total: ([0-9]+)' given/*.fxt -- ./reader {}
	grep -q '^    counts  nothing that --count-with matches$' <<< "$output"
	grep -q ' 3 counted wrong, ' <<< "$output"
	exits 1 try --no-debugger --count-with 'record' --outcomes count -o found given/*.fxt -- ./reader {}
	grep -q '^- Numbers: [0-9]* records*, check counts [0-9]*$' found/*/report.md
	# Nobody knows the number of records of a damaged capture; one that is refused is not counted.
	exits 0 try --no-debugger --count-with record -f fxt --rule truncated-record -- sh -c 'echo no >&2' {}
	exits 0 try --no-debugger --count-with record -f fxt --valid --outcomes count -- sh -c 'exit 3' {}
	exits 2 try --count-with '(' -f fxt -- ./reader {}
}

@test "--reader: where several readers disagree" {
	reader 'case $what in sound-*) ;; *truncated-record*) echo "short of $$ bytes" >&2; exit 3 ;; *dangling-string-ref*) kill -SEGV $$ ;; esac; echo 7 records'
	cp reader other
	sed -i 's/truncated-record/bad-magic-value/; s/SEGV/ABRT/' other
	exits 1 try "${TRY[@]}" "${ONLY[@]}" --reader './reader {}' --reader './other {}' --format=json -o found
	jq -e '.outcomes.differ == 2 and .outcomes.fine == 3 and .command == ["./reader {}", "./other {}"]' <<< "$output"
	jq -e '.reader.name == "reader, other"' <<< "$output"
	jq -e '[.groups[] | [.outcome, .rule, .message]] == [
		["differ", "fxt/bad-magic-value", "reader reads it; other refuses it (exit 3): short of " + (.groups[0].message | match("[0-9]+ bytes$").string)],
		["differ", "fxt/truncated-record", "reader refuses it (exit 3): short of " + (.groups[1].message | match("[0-9]+ bytes").string) + "; other reads it"]]' <<< "$output"
	jq -re '.groups[0].replay' <<< "$output" > replay
	grep -q '^./reader found/.*fxt; ./other found/.*fxt$' replay
	sh replay | grep -q "^7 records$"
	grep -q '^    other:$' found/*/report.md
	grep -q '^    short of [0-9]* bytes$' found/*/report.md
	# Numbers: of two versions with one name.
	mkdir old
	reader 'test $what = valid && echo 6 records; exit 0'
	mv reader old
	reader 'test $what = valid && echo 7 records; exit 0'
	exits 1 try "${TRY[@]}" --valid --count 2 --rule truncated-record --reader './old/reader {}' --reader './reader {}' --count-with '([0-9]+) records'
	grep -q '^differ: the readers do not end alike$' <<< "$output"
	grep -q '^    differ  reader 1 reads 6 records; reader 2 reads 7 records$' <<< "$output"
	grep -q '^  no defect: 2 of 2$' <<< "$output"
	grep -q ', 2 on which the readers disagree, ' <<< "$output"
	# What they do without the defect as well is not its doing.
	reader 'case $what in *truncated-record) exit 3 ;; esac'
	exits 1 try "${TRY[@]}" --rule truncated-record --reader './old/reader {}' --reader './reader {}' --format=json
	jq -e '[.groups[] | [.outcome, .rule, .not_the_cause]] == [["differ", null, 1]]' <<< "$output"
	exits 0 try "${TRY[@]}" "${ONLY[@]}" --reader './reader {}' --reader 'sh reader {}'
	exits 2 try "${TRY[@]}" --reader './reader {}'
	exits 2 try "${TRY[@]}" --reader './reader {}' --reader './other'
	exits 2 try "${TRY[@]}" --reader './reader {}' --reader './other {}' -- ./reader {}
	exits 5 try "${TRY[@]}" --reader './reader {}' --reader './nosuch {}'
}
