# What the tests of the program share. They run from any directory, on generated captures and hand-made bytes. Most look at
# the program and not at a format, and take one format for all; FORMAT, RULE (an error) and OTHER (a rule of it) may name another.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${TRACEMEND:=$HERE/../../build/tracemend}"
TRACEMEND=$(realpath -m "$TRACEMEND")
: "${FORMAT:=fxt}"
: "${RULE:=fxt/dangling-string-ref}"
: "${OTHER:=fxt/truncated-record}"

setup() {
	unset NO_COLOR
	[ -x "$TRACEMEND" ] || { echo "no program at $TRACEMEND"; return 1; }
	cd "$BATS_TEST_TMPDIR" || return 1
}

# ran CODE ARGUMENTS...: notes a run of the program for tests/tools/ran.py. tm() does it by itself.
ran() {
	[ -z "${RAN:-}" ] || printf '%s\n' "$(IFS=$'\t'; echo "${*//[$'\n\t']/ }")" >> "$RAN"
}

# Runs the program with stdout and stderr apart: $output and $status are set, stderr is in the file "talk".
tm() {
	run_status=0
	output=$(timeout 180 "$TRACEMEND" "$@" 2> talk) || run_status=$?
	status=$run_status
	ran "$status" "$@"
}

# exits CODE ARGUMENTS...: the program ends with that code, and says something unless it is 0, 1 or 3.
exits() {
	local code=$1
	shift
	tm "$@"
	if [ "$status" != "$code" ]; then
		echo "expected exit $code and got $status: tracemend $*"
		echo "$output" | head -20
		head -20 talk
		return 1
	fi
	case $code in
	0|1|3) ;;
	*) [ -s talk ] ;;
	esac
}

# said TEXT: the talk has that text.
said() {
	grep -qF -- "$1" talk || { echo "not said: $1"; cat talk; return 1; }
}

# refute COMMAND...: it fails. (A plain "! command" never fails a test, but as its last line.)
refute() {
	if "$@"; then
		echo "should fail: $*"
		return 1
	fi
}

# A valid and a broken capture: valid.bin, broken.bin. The names do not matter to the program.
make_captures() {
	"$TRACEMEND" gen -q -f "$FORMAT" -o made > /dev/null
	"$TRACEMEND" gen -q -f "$FORMAT" -o made --rule "$RULE" > /dev/null
	cp -r "made/$(label 1 file)" valid.bin
	cp -r "made/$(label 2 file)" broken.bin
}

# label LINE KEY: a value out of made/labels.jsonl.
label() {
	sed -n "$1p" made/labels.jsonl | jq -r ".$2"
}

# validate KIND FILE...: see validate.py.
validate() {
	# Another python3 may come first in PATH, and the package is the system's.
	local found=$BATS_FILE_TMPDIR/python
	[ -s "$found" ] || if python3 -c 'import jsonschema' 2> /dev/null; then echo python3; else echo /usr/bin/python3; fi > "$found"
	"$(cat "$found")" "$HERE/validate.py" "$@"
}

# plain FILE...: nothing in them that a terminal obeys, and all of it UTF-8.
plain() {
	LC_ALL=C refute grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$@" && iconv -f UTF-8 -t UTF-8 "$@" > /dev/null
}
