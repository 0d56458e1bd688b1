#!/usr/bin/env bats
# Every example of the help, of the manual pages, and every command of the README is run, or stands in a list that says where.

load helper

TOP=$HERE/../..
README=$TOP/README.md

# What the examples name.
setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir bin traces corpus
	ln -s "$TRACEMEND" bin/tracemend
	PATH=$PWD/bin:$PATH
	tracemend gen -q -f fxt -o made --rule dangling-string-ref
	tracemend gen -q -f fxt -o made --damage hole --count 2
	cp made/dangling-string-ref-0001.fxt broken.fxt
	cp broken.fxt trace.fxt
	cp broken.fxt crashed.fxt
	cp broken.fxt big.fxt
	cp made/*.fxt traces/
	cp broken.fxt corpus/
	tracemend gen -q -f uftrace -o u
	cp -r u/valid-0001 uftrace.data
	tracemend gen -q -f tracedat -o good
	cp good/valid-0001.dat good.dat
	cp good.dat traces/a.dat
	head -c $(($(stat -c %s good.dat) * 3 / 4)) good.dat > cut.dat
	# A reader that fails with this capture.
	head -c 100 good.dat > crash.dat
	mkdir killed
	cp "$TOP/corpus/tracedat/invalid/recorder-killed.dat" killed/trace.dat.cpu0
	printf '%s\n' '#!/bin/sh' 'exec cat "$2"' > my-reader
	chmod +x my-reader
	tracemend check -q --format jsonl broken.fxt > job-1.jsonl || true
	cp job-1.jsonl job-2.jsonl
}

# examples COMMAND: those of its help, one a line.
examples() {
	tracemend "$1" --help | sed -n '/^Examples\{0,1\}:$/,$s/^  \(tracemend .*\)/\1/p'
}

# A run as a shell runs it; what it came to is noted for ran.py, without what the shell does with it.
runs() {
	local code=0 words
	timeout 240 bash -c "$1" > out 2> talk < /dev/null || code=$?
	case $code in
	0|1|3) ;;
	*) echo "exit $code: $1"; cat talk; return 1 ;;
	esac
	read -ra words <<< "${1%%>*}"
	ran "$code" "${words[@]:1}"
}

@test "every example of every --help, as it stands there" {
	count=0
	for command in $(tracemend --generate commands); do
		while IFS= read -r example; do
			count=$((count + 1))
			case $example in
			*trace-cmd*) command -v trace-cmd > /dev/null || continue ;;
			*uftrace\ replay*) command -v uftrace > /dev/null || continue ;;
			esac
			case $example in
			# Hundreds of runs of a reader: fewer are enough here.
			*"try -f tracedat"*) example="${example/try -f/try --rule tracedat/page-size-invalid --count 1 --no-debugger -f}" ;;
			*"try -f uftrace"*) example="${example/--count 5/--count 1 --valid --no-debugger}" ;;
			*"--count 1000"*) example="${example/1000/20}" ;;
			esac
			runs "$example"
		done < <(examples "$command")
	done
	[ "$count" -ge 18 ]
	for made in report.sarif report.xml report.html mended.fxt mended.json small.fxt files/labels.jsonl tried.json; do
		[ -s "$made" ] || { echo "no $made"; return 1; }
	done
}

@test "a manual page has the examples of the help, and no others" {
	for command in $(tracemend --generate commands); do
		examples "$command" > help
		tracemend --generate "man-$command" | sed -n 's/^\.Dl //p' | sed 's/\\-/-/g; s/\\&//g' > page
		diff help page
	done
}

@test "the program in libtracemend.3 compiles and runs" {
	sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$TOP/scripts/packaging/man/libtracemend.3" | sed -n '/^#include/,/^}/p' > example.c
	mkdir -p include
	cp "$TOP/src/tracemend.h" include/
	library=$(dirname "$TRACEMEND")
	[ -e "$library/libtracemend.so.0" ] || skip "no shared library"
	cc -Iinclude example.c -L"$library" -ltracemend -o example
	LD_LIBRARY_PATH=$library ./example broken.fxt > out
	grep -q 'broken.fxt: fxt' out
}

# What readme.bats, merge.bats, install.bats, packages.bats and builds.bats run, or what is the output of a command above it; and the
# synopses, whose commands usage.bats asks for their help.
KNOWN='scripts/install\.sh && make |sudo make install |parallel -S one,two |tracemend report --format junit all\.jsonl|i=\$\{SLURM|split -n |\$ '
KNOWN+='|tracemend [a-z]+ +(\[-f FORMAT\]|-f FORMAT |PATH|JSONL|RULE|A B )|make( |$)|TOP=|cc |fail-on = |ignore = |\[traces/|severity = '

@test "every command of the README is run by a test" {
	unknown=0
	while IFS= read -r line; do
		example=${line#    }
		grep -qE "^($KNOWN)" <<< "$example" && continue
		case $example in
		"tracemend "*) ;;
		*) continue ;; # output, settings, and what a block goes on with
		esac
		example=${example%%  # *}
		# The example that comes with more time.
		grep -qE '(broken|traces|corpus|cat \{)' <<< "$example" || { echo "no test runs: $example"; unknown=1; }
	done < <(grep '^    ' "$README")
	[ $unknown = 0 ]
	# And each that is said to be run elsewhere is there.
	grep -q '^    parallel -S one,two' "$README" && grep -q 'SLURM_ARRAY_TASK_ID' "$HERE/merge.bats"
}

@test "the settings of the README are understood" {
	sed -n '/^    fail-on = warning/,/^$/p; /^    \[traces/,/^$/p' "$README" | sed 's/^    //' > .tracemend.ini
	[ "$(grep -c = .tracemend.ini)" = 3 ]
	mkdir traces/old
	cp trace.fxt traces/old/
	exits 1 check -v traces
	said "settings of"
}

@test "an internal check that fails is exit 70, and nothing is written" {
	command -v gdb > /dev/null || { ran skip 70; skip "no gdb"; }
	# There is no input for it: a debugger makes each check of what would be written find an error.
	cat > force <<- 'END'
		set confirm off
		set debuginfod enabled off
		set breakpoint pending off
		break report_own_errors
		commands
		silent
		return 1
		continue
		end
		run
		print $_exitcode
	END
	timeout 100 gdb -q -batch -x force --args "$TRACEMEND" repair --no-sandbox -j1 broken.fxt -o out.fxt > log 2>&1 < /dev/null || true
	grep -q 'exited' log || { ran skip 70; skip "gdb cannot run the program here"; }
	grep -q '= 70$' log || { tail log; return 1; }
	grep -q 'internal check failed; nothing was written' log
	[ ! -e out.fxt ]
	ran 70 repair broken.fxt -o out.fxt
}
