#!/usr/bin/env bats
# The examples of README.md are run, and its numbers of rules compared.

load helper

README=$HERE/../../README.md

# The captures that the examples name.
setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir bin traces
	ln -s "$TRACEMEND" bin/tracemend
	PATH=$PWD/bin:$PATH
	tracemend gen -q -f fxt -o made --rule dangling-string-ref
	tracemend gen -q -f fxt -o made --count 3
	cp made/dangling-string-ref-0001.fxt broken.fxt
	cp made/valid-*.fxt traces/
}

@test "the commands of the recipes are understood and end as they say" {
	count=0
	while IFS= read -r command; do
		command=${command%%  # *}
		code=0
		timeout 120 bash -c "$command" > out 2> talk || code=$?
		case $code in
		0|1|3) ;;
		*) echo "exit $code: $command"; cat talk; return 1 ;;
		esac
		count=$((count + 1))
	done < <(grep -E '^    tracemend .*(broken|traces|corpus|cat \{)' "$README")
	[ "$count" -ge 10 ]
	[ -s mended.fxt ] && [ -s mended.json ] && [ -s small.fxt ] && [ -s tracemend.sarif ] && [ -s corpus/labels.jsonl ]
	exits 0 check -q mended.fxt
	jq -e '.version == "2.1.0"' tracemend.sarif
}

@test "every command and every exit code is in the README" {
	exits 0 --help
	for command in $(sed -n 's/^  \([a-z]*\)  .*/\1/p' <<< "$output"); do
		grep -q "^    tracemend $command " "$README"
	done
	for code in 0 1 2 3 4 5 6 70; do
		grep -q "^| $code |" "$README"
	done
}

@test "there are as many rules and formats as it says" {
	exits 0 rules
	[ "$(wc -l <<< "$output")" -gt "$(sed -n 's/^More than \([0-9]*\) rules:.*/\1/p' "$README")" ]
	for format in $("$HERE/../../scripts/formats.sh") container; do
		grep -q "^| $format | " "$README"
	done
}

@test "the files that it names are there" {
	for file in $(grep -o '](\.\?[a-zA-Z./-]*)' "$README" | tr -d '])('); do
		[ -e "$HERE/../../$file" ] || { echo "no $file"; return 1; }
	done
}

@test "the first example: a recorder that is killed is repaired, and its reader reads it" {
	command -v uftrace > /dev/null || skip "no uftrace"
	printf '%s\n' 'void leaf(void) {}' '#include <unistd.h>' \
		'int main(void) { for (int i = 0; i < 100000; i++) { leaf(); usleep(100); } return 0; }' > work.c
	gcc -pg -o work work.c || skip "no gcc"
	uftrace record --no-event -d killed ./work > /dev/null 2>&1 3>&- &
	recorder=$!
	for _ in $(seq 50); do
		sleep 0.2
		[ -n "$(find killed -name '[0-9]*.dat' -size +0 2> /dev/null)" ] && break
	done
	child=$(ps -o pid= --ppid $recorder)
	kill -9 $recorder
	sleep 0.2
	kill -9 $child 2> /dev/null || true
	[ -n "$(find killed -name '[0-9]*.dat' -size +0)" ] || skip "uftrace does not record here"
	sid=$(sed -n 's/^SESS .*sid=\([0-9a-f]*\) .*/\1/p' killed/task.txt)
	refute timeout 20 uftrace replay --no-pager -d killed
	exits 1 check killed
	line=$(grep "^next: tracemend repair killed -o killed.mended --extra '/dev/shm/uftrace-$sid-\*'$" <<< "$output")
	totals=$(grep "^  records: " <<< "$output")
	code=0
	bash -c "${line#next: }" 2> talk || code=$?
	rm -f /dev/shm/uftrace-"$sid"-*
	[ "$code" = 0 ] || [ "$code" = 3 ]
	said "$totals"
	exits 0 check killed.mended
	timeout 60 uftrace replay --no-pager -d killed.mended > replayed
	grep -q 'leaf();' replayed
}
