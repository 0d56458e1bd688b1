#!/usr/bin/env bats
# reduce: small captures that still show it.

load helper

# big FORMAT RULE [SIZE]: ./big is a capture with that defect.
big() {
	"$TRACEMEND" gen -q -f "$1" --rule "$1/$2" --size "${3:-64K}" -o made
	rm -rf big
	mv "made/$(tail -1 made/labels.jsonl | jq -r .file)" big
}

files() { find "$1" -type f -printf '%s\n' | paste -sd+ | bc; }

# small FORMAT RULE BYTES: what is left of 64 KiB with that defect has it, no other error, and at most so many bytes.
small() {
	big "$1" "$2"
	rm -rf little
	exits 0 reduce big -o little --rule "$1/$2"
	[ "$(files little)" -le "$3" ] || { echo "$1/$2: $(files little) bytes"; return 1; }
	tm check --format=json little
	jq -e --arg rule "$1/$2" '[.inputs[0].findings[].rule] | index($rule) != null' <<< "$output"
	rm -rf again
	"$TRACEMEND" reduce -q big -o again --rule "$1/$2" # deterministic
	diff -r little again
}

@test "fxt becomes small" {
	small fxt dangling-string-ref 256
	small fxt record-content-overrun 256
	small fxt unmatched-duration-end 256
	small fxt argument-overrun 256
}

@test "uftrace becomes small" {
	small uftrace dat-event-length 1000
	small uftrace perf-record-size 1000
	small uftrace sym-leading-sentinels 1000
	small uftrace taskinfo-tid-not-in-task 1000
}

@test "tracedat becomes small" {
	small tracedat page-commit-length 8192
	small tracedat option-cpustat-empty 1024
	small tracedat v7-done-cycle 1024
	small tracedat record-unknown-event-id 8192
	small tracedat v7-buffer-size-minus-four 256 # in compressed chunks, whose start need not be a page's
	small tracedat cpu-range-in-header 1100 # behind which all data is lost
}

@test "ktrace becomes small" {
	for rule in $("$TRACEMEND" rules -f ktrace --format=json | jq -r '[.rules[].id][range(3; 113; 30)]'); do
		small ktrace "${rule#*/}" 1024
	done
}

# bats test_tags=slow
@test "lttng becomes small, with other errors where the defect needs the end of a block, and --strict without" {
	small lttng events-lost-decreases 1024
	small lttng event-size-escape-small 1024 # in blocks of less than a page
	small lttng magic-lost-in-block 1024 # of which two tell the size
	small lttng payload-truncated 512 # in blocks of a few words
	small lttng string-not-terminated 1024
	grep -q 'and errors that the whole capture does not have' <<< "$("$TRACEMEND" reduce big -o loose --rule string-not-terminated)"
	exits 0 reduce big -o strict --strict --rule string-not-terminated
	[ "$(files strict)" -gt 1024 ]
	tm check --format=json big
	jq '[.inputs[0].findings[] | select(.severity == "error") | .rule] | unique' <<< "$output" > before
	tm check --format=json strict
	jq -e --slurpfile before before '[.inputs[0].findings[] | select(.severity == "error") | .rule] - $before[0] == []' <<< "$output"
}

@test "the result is 1-minimal: no record can be left out" {
	big fxt duration-end-name-mismatch 16K
	exits 0 reduce big -o little --rule fxt/duration-end-name-mismatch
	exits 0 reduce little -o less --rule duration-end-name-mismatch
	cmp little less
}

@test "a command decides: the same signal, exit code, or no end" {
	"$TRACEMEND" gen -q -f fxt --size 8K -o made
	file=made/$(label 1 file)
	cat > reader <<-'END'
		#!/bin/sh
		n=$(stat -c %s "$1")
		[ "$n" -lt 200 ] && exit 3
		kill -SEGV $$
	END
	chmod +x reader
	exits 0 reduce "$file" -o little -- ./reader {}
	size=$(stat -c %s little)
	[ "$size" -ge 200 ]
	[ "$size" -lt 300 ]
	exits 0 check little
	exits 0 reduce "$file" -o shell --command './reader {} > /dev/null; [ $? = 139 ] && exit 7'
	cmp little shell
	exits 0 reduce little -o both --rule missing-initialization --tries 20 -- ./reader {} || [ "$status" = 4 ]
}

@test "the crash stays at its place, where a debugger finds it" {
	command -v gdb > /dev/null || skip "gdb is not installed"
	command -v gcc > /dev/null || skip "gcc is not installed"
	"$TRACEMEND" gen -q -f fxt --without large -o made
	file=made/$(label 1 file)
	cat > two.c <<-'END'
		#include <stdio.h>
		__attribute__((noinline)) static void small(volatile char *p) { *p = 1; }
		__attribute__((noinline)) static void large(volatile char *p) { *p = 2; }
		int main(int n, char **files)
		{
			FILE *in = n == 2 ? fopen(files[1], "rb") : NULL;
			long size = in && !fseek(in, 0, SEEK_END) ? ftell(in) : 0;
			(size < 300 ? small : large)((char *)0);
			return 0;
		}
	END
	gcc -g -O0 two.c -o two
	exits 0 reduce "$file" -o little --budget 20 --timeout 20 -- ./two {}
	grep -q '^  the command is killed by SIGSEGV in large < main$' <<< "$output"
	[ "$(stat -c %s little)" -ge 300 ]
	[ "$(stat -c %s little)" -lt "$(stat -c %s "$file")" ]
	exits 0 reduce "$file" -o any --timeout 20 --no-debugger -- ./two {}
	grep -q '^  the command is killed by SIGSEGV$' <<< "$output"
	[ "$(stat -c %s any)" -lt 100 ]
}

@test "what no format knows is reduced by bytes" {
	head -c 3000 /dev/urandom > noise
	printf 'needle' >> noise
	head -c 3000 /dev/urandom >> noise
	exits 0 reduce noise -o little --command 'grep -q needle {}'
	[ "$(cat little)" = needle ]
}

@test "the number of tries is bounded on request" {
	big fxt dangling-string-ref 64K
	exits 0 reduce big -o little --rule dangling-string-ref --tries 5
	grep -q 'in [1-6] tr' <<< "$output"
	exits 1 check little
}

@test "what makes no sense is refused, and what is not there is not found" {
	make_captures
	exits 2 reduce valid.bin -o out
	exits 2 reduce valid.bin --rule "$RULE"
	exits 2 reduce -o out --rule "$RULE"
	exits 2 reduce valid.bin broken.bin -o out --rule "$RULE"
	exits 2 reduce valid.bin -o out --command true
	exits 2 reduce valid.bin -o out --command 'true {}' -- true {}
	exits 2 reduce broken.bin -o broken.bin --rule "$RULE"
	exits 4 reduce valid.bin -o out --rule "$RULE"
	exits 4 reduce broken.bin -o out --rule "lttng/$("$TRACEMEND" rules -f lttng --format=json | jq -r '.rules[0].id' | cut -d/ -f2)"
	exits 5 reduce nowhere.bin -o out --rule "$RULE"
	exits 5 reduce valid.bin -o out -- ./no-such-reader {}
	[ ! -e out ]
}

@test "links are left out, and a defect that is one is not taken" {
	"$TRACEMEND" gen -q -f uftrace -o made --rule task-missing > /dev/null
	folder=made/$(label 1 file)
	ln -s /etc/passwd "$folder/link"
	exits 0 reduce "$folder" -o little --rule task-missing
	[ -z "$(find little -type l)" ]
	[ -L "$folder/link" ]
	"$TRACEMEND" gen -q -f uftrace -o made --rule non-regular-file > /dev/null
	exits 4 reduce "made/$(label 2 file)" -o none --rule non-regular-file
	[ ! -e none ]
}

# bats test_tags=slow
@test "when it is stopped, the smallest so far is kept" {
	big fxt dangling-string-ref
	printf '#!/bin/sh\nsleep 0.1\n[ $(wc -c < "$1") -lt 30000 ] || exit 7\n' > slow
	chmod +x slow
	exits 0 reduce big -o little --budget 1 -- ./slow {}
	grep -q '^stopped by --budget: this is the smallest so far$' <<< "$output"
	[ "$(files little)" -lt "$(files big)" ]
	"$TRACEMEND" reduce big -o halfway -- ./slow {} > said &
	sleep 1.5
	kill -TERM $!
	wait $! && false || [ $? = 143 ]
	grep -q '^stopped by a signal: this is the smallest so far$' said
	[ "$(files halfway)" -lt "$(files big)" ]
	# Nothing smaller was found in time.
	printf '#!/bin/sh\nsleep 1.2\nexit 7\n' > slow
	exits 6 reduce big -o none --budget 1 -- ./slow {}
	[ ! -e none ]
}

@test "what shows itself only at times is run several times" {
	big fxt dangling-string-ref 4K
	# Fails in each third run.
	printf '#!/bin/sh\nn=$(($(cat count 2> /dev/null || echo 0) + 1))\necho $n > count\n[ $((n %% 3)) != 0 ] || kill -SEGV $$\n' > flaky
	chmod +x flaky
	exits 0 reduce big -o little --repeat 3 -- ./flaky {}
	grep -q 'killed by SIGSEGV' <<< "$output"
	[ "$(files little)" -lt 100 ]
	# In three runs it fails once, not twice.
	rm -rf count
	exits 4 reduce big -o none --repeat 3 --enough 2 -- ./flaky {}
	exits 2 reduce big -o none --repeat 2 --enough 3 -- ./flaky {}
}

@test "the number of records stays wrong, and the capture valid" {
	"$TRACEMEND" gen -q -f fxt -o given --size 8K
	export TRACEMEND
	# It loses the last record where there is a thread record.
	cat > reader <<-'END'
		#!/bin/sh
		n=$("$TRACEMEND" dump "$1" | wc -l)
		"$TRACEMEND" dump "$1" | grep -q 'thread' && n=$((n - 1))
		echo "read $n records"
	END
	chmod +x reader
	exits 0 reduce given/valid-0001.fxt -o small.fxt --count-with 'read ([0-9]+)' -- ./reader {}
	grep -q '^  the command counts other records than check$' <<< "$output"
	[ "$(stat -c %s small.fxt)" -le 64 ]
	exits 0 check small.fxt
	[ "$(./reader small.fxt)" != "read $("$TRACEMEND" dump small.fxt | wc -l) records" ]
	# Nothing is wrong with these, or nobody can know.
	exits 4 reduce given/valid-0001.fxt -o no.fxt --count-with . -- "$TRACEMEND" dump {}
	big fxt truncated-record 4K
	exits 4 reduce big -o no.fxt --count-with 'read ([0-9]+)' -- ./reader {}
	[ ! -e no.fxt ]
	exits 2 reduce big -o no.fxt --count-with record --rule fxt/truncated-record
}

@test "readers disagree as they did" {
	"$TRACEMEND" gen -q -f fxt -o given --size 8K
	printf '#!/bin/sh\n[ "$(stat -c %%s "$1")" -lt 100 ] || { echo "too long" >&2; exit 3; }\n' > one
	printf '#!/bin/sh\n[ "$(stat -c %%s "$1")" -ge 50 ] || exit 3\n' > other
	chmod +x one other
	exits 0 reduce given/valid-0001.fxt -o small.fxt --tries 40 --reader './one {}' --reader './other {}'
	grep -q '^  the readers disagree$' <<< "$output"
	size=$(stat -c %s small.fxt)
	[ "$size" -ge 100 ] && [ "$size" -lt "$(stat -c %s given/valid-0001.fxt)" ]
	exits 4 reduce given/valid-0001.fxt -o no.fxt --reader './one {}' --reader 'sh one {}'
	exits 2 reduce given/valid-0001.fxt -o no.fxt --reader './one {}'
	exits 2 reduce given/valid-0001.fxt -o no.fxt --reader './one {}' --reader './other {}' --command './one {}'
	exits 2 reduce given/valid-0001.fxt -o no.fxt --reader './one {}' --reader './other {}' -- ./one {}
}
