#!/usr/bin/env bats
# Nothing that comes from outside reaches a terminal or a document as it is.

load helper

# Names that a terminal would obey, break out of a line with, or choke on.
hostile() {
	printf '%s\0' $'esc\033[31mred' $'line\nfeed: error: fake [fxt-fake]' $'\xff\xfe' $'c1\xc2\x9b31m' \
		$'bidi\xe2\x80\xaegnp.exe' $'quote"\\' '<b>&amp;' $'tab\there' $'\xed\xa0\x80' '%s%n%d'
}

check_everything() { # PATH: its report is plain in every format, with and without success
	local path=$1 format
	for format in text concise json jsonl sarif sarif-github junit github markdown html; do
		timeout 60 "$TRACEMEND" check --format=$format "$path" > report 2> talk || true
		plain report
		plain talk
	done
	timeout 60 "$TRACEMEND" check --format=json "$path" > report 2> talk || true
	validate report report
	timeout 60 "$TRACEMEND" check --format=jsonl "$path" > report 2> talk || true
	validate lines report
	timeout 60 "$TRACEMEND" check --format=sarif "$path" > report 2> talk || true
	validate sarif report
	timeout 60 "$TRACEMEND" check --format=junit "$path" > report 2> talk || true
	python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("report")'
	timeout 60 "$TRACEMEND" check --format=html "$path" > report 2> talk || true
	! grep -q '<b>' report
	timeout 60 "$TRACEMEND" check --format=markdown "$path" > report 2> talk || true
	! grep -q '<b>' report
	timeout 60 "$TRACEMEND" check --format=github "$path" > report 2> talk || true
	! grep -qv '^::' report
	timeout 60 "$TRACEMEND" info "$path" > report 2> talk || true
	plain report
	plain talk
	timeout 60 "$TRACEMEND" info --format=json "$path" > report 2> talk || true
	jq -e . report > /dev/null
}

@test "hostile file names" {
	make_captures
	while IFS= read -r -d '' name; do
		cp -r broken.bin "$name"
		check_everything "$name"
		[ "$(timeout 60 "$TRACEMEND" check -q --format=concise --only "$RULE" "$name" | wc -l)" = 1 ]
		timeout 60 "$TRACEMEND" repair -n "$name" > report 2> talk || true
		plain report
		timeout 60 "$TRACEMEND" repair "$name" -o "$name.out" --manifest m.json > report 2> talk || true
		plain talk
		validate manifest m.json
		rm -r "$name" "$name.out"
		check_everything "$name" # which is missing now
	done < <(hostile)
}

@test "hostile directories and members" {
	while IFS= read -r -d '' name; do
		mkdir "$name"
		echo x > "$name/$name"
		check_everything "$name"
	done < <(hostile)
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
	! cmp -s broken.bin hostile.bin
	check_everything hostile.bin
	timeout 60 "$TRACEMEND" repair -v -n hostile.bin > report 2> talk || true
	plain report
	plain talk
}
