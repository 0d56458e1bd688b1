#!/usr/bin/env bats
# Nothing that comes from outside reaches a terminal or a document as it is.

load helper

# Names that a terminal would obey, break out of a line with, or choke on.
hostile() {
	printf '%s\0' $'esc\033[31mred' $'line\nfeed: error: fake [fxt-fake]' $'\xff\xfe' $'c1\xc2\x9b31m' \
		$'bidi\xe2\x80\xaegnp.exe' $'quote"\\' '<b>&amp;' $'tab\there' $'\xed\xa0\x80' '%s%n%d'
}

# report_everything PATH NUMBER: its reports in every format into reports/NUMBER.*; check_everything holds them all.
report_everything() {
	local path=$1 number=$2 format
	mkdir -p reports
	for format in text concise json jsonl sarif sarif-github junit github markdown html; do
		timeout 60 "$TRACEMEND" check --format=$format "$path" > "reports/$number.$format" 2> "reports/$number.$format-talk" || true
	done
	timeout 60 "$TRACEMEND" info "$path" > "reports/$number.info" 2> "reports/$number.info-talk" || true
	timeout 60 "$TRACEMEND" info --format=json "$path" > "reports/$number.info-json" 2> /dev/null || true
}

check_everything() {
	mapfile -t -d '' files < <(find reports -type f ! -name '*.info-json' -print0)
	plain "${files[@]}"
	validate report reports/*.json
	validate lines reports/*.jsonl
	validate sarif reports/*.sarif
	python3 -c 'import sys, xml.dom.minidom; [xml.dom.minidom.parse(p) for p in sys.argv[1:]]' reports/*.junit
	[ -z "$(grep -l '<b>' reports/*.html reports/*.markdown)" ]
	[ -z "$(grep -hv '^::' reports/*.github)" ]
	jq -e . reports/*.info-json > /dev/null
}

@test "hostile file names" {
	local number=0
	make_captures
	while IFS= read -r -d '' name; do
		number=$((number + 1))
		cp -r broken.bin "$name"
		report_everything "$name" $number
		[ "$(timeout 60 "$TRACEMEND" check -q --format=concise --only "$RULE" "$name" | wc -l)" = 1 ]
		timeout 60 "$TRACEMEND" repair -n "$name" > report 2> talk || true
		plain report
		timeout 60 "$TRACEMEND" repair "$name" -o "$name.out" --manifest m$number.json > report 2> talk || true
		plain talk
		rm -r "$name" "$name.out"
		report_everything "$name" missing-$number
	done < <(hostile)
	validate manifest m*.json
	check_everything
}

@test "hostile directories and members" {
	local number=0
	while IFS= read -r -d '' name; do
		number=$((number + 1))
		mkdir "$name"
		echo x > "$name/$name"
		report_everything "$name" $number
	done < <(hostile)
	check_everything
}

@test "hostile arguments" {
	while IFS= read -r -d '' name; do
		for arguments in check "explain" "check --format" "check --only" "check -f" "gen -f $FORMAT -o x --damage" "repair -n -o"; do
			# shellcheck disable=SC2086
			timeout 60 "$TRACEMEND" $arguments "$name" > report 2> talk || true
			plain talk
			plain report
		done
		timeout 60 "$TRACEMEND" "$name" > report 2> talk || true
		plain talk
	done < <(hostile)
}

@test "a SARIF path leads back to the file" {
	make_captures
	while IFS= read -r -d '' name; do
		cp -r broken.bin "$name"
		timeout 60 "$TRACEMEND" check --format=sarif "$name" > report 2> talk || true
		jq -r '.runs[0].artifacts[0].location.uri' report > uri
		python3 - "$name" <<- 'EOF'
			import os, sys, urllib.parse
			uri = open("uri").read().rstrip("\n")
			sys.exit(urllib.parse.unquote_to_bytes(uri) != os.fsencode(sys.argv[1]))
		EOF
	done < <(hostile)
}

@test "hostile bytes in the payload" {
	make_captures
	[ -f broken.bin ] || skip "this format is a directory"
	python3 - <<- 'EOF'
		# Text of the capture, and whatever else looks like it, is replaced by what a terminal would obey.
		import re
		data = open("broken.bin", "rb").read()
		bad = b"\x1b]0;x\x07\x1b[31m\n\r\xff\xfe\xc2\x9b\xe2\x80\xae"
		swap = lambda m: (bad * (len(m.group()) // len(bad) + 1))[:len(m.group())]
		open("hostile.bin", "wb").write(data[:16] + re.sub(rb"[ -~]{3,}", swap, data[16:]))
	EOF
	refute cmp -s broken.bin hostile.bin
	report_everything hostile.bin 1
	check_everything
	timeout 60 "$TRACEMEND" repair -v -n hostile.bin > report 2> talk || true
	plain report
	plain talk
}

@test "names of files give no commands to a CI system" {
	make_captures
	mkdir names
	cp broken.bin 'names/::add-mask::x.fxt'
	cp broken.bin 'names/##[add-mask]x.fxt'
	cp broken.bin 'names/##vso[task.setvariable variable=a]b.fxt'
	printf -v invisible 'a\u00ad\u180e\u3164\U000e0041b.fxt'
	cp broken.bin "names/$invisible"
	cd names
	for format in text concise json jsonl sarif junit github gitlab markdown html; do
		tm check -v --format=$format ./* ::add-mask::x.fxt '##[add-mask]x.fxt' nowhere ::nowhere
		[ "$status" = 5 ]
		[ "$format" = github ] || refute grep -qE '^ *::' <<< "$output"
		refute grep -q '::add-mask::' <<< "$(sed 's/^::[a-z]* file=//' <<< "$output" | grep '^ *::')"
		refute grep -qE '##(\[|vso)' <<< "$output"
		refute grep -qE '^ *::|##(\[|vso)' talk
		LC_ALL=C.UTF-8 grep -qP '\x{e0041}' <<< "$invisible"
		LC_ALL=C.UTF-8 refute grep -qP '[\x{ad}\x{180e}\x{3164}\x{e0041}]' <<< "$output"
	done
	tm info ./* ::add-mask::x.fxt
	refute grep -qE '^ *::|##(\[|vso)' <<< "$output"
}

# inside OPTION...: a check that waits for its input is in the sandbox.
inside() {
	mkfifo wait
	"$TRACEMEND" check - "$@" < wait > /dev/null 2>&1 &
	local pid=$! state=1 i
	exec 8> wait
	for ((i = 0; i < 100; i++)); do
		# It has opened its standard input, and reads.
		if grep -q pipe_read "/proc/$pid/wchan" 2> /dev/null || [ $i = 99 ]; then
			grep -q '^NoNewPrivs:.*1' "/proc/$pid/status" && state=0
			break
		fi
		sleep 0.05
	done
	exec 8>&-
	wait $pid || true
	rm wait
	return $state
}

@test "a capture is read inside the sandbox, and what reads the result is outside" {
	tm --version
	[[ $output != *"sandbox: none"* ]] || skip "$output"
	inside
	refute inside --no-sandbox
	make_captures
	mkdir elsewhere result
	tm repair broken.bin -o result/out --verify-with 'grep -c . /etc/passwd && cp {} elsewhere/copy'
	[ "$status" = 3 ] || [ "$status" = 0 ]
	cmp result/out elsewhere/copy
	said "the reader accepts the result"
	tm try --no-debugger -f fxt --valid --count 2 -j2 -- sh -c 'cat {} >> elsewhere/read'
	[ -s elsewhere/read ]
	tm reduce broken.bin -o result/small --command 'echo x >> elsewhere/reduced; exit 7 # {}'
	[ "$status" = 0 ] && [ -s elsewhere/reduced ] && [ -e result/small ]
}

@test "good and bad symbols in turn take memory as they take bytes" {
	command -v time > /dev/null || [ -x /usr/bin/time ] || skip "time is not installed"
	python3 "$HERE/../tools/floods.py" --tool "$TRACEMEND" --format tracedat --family "kallsyms of" --sizes 8 --rounds 1
}
