#!/bin/bash
# The main use, on two generated captures: check, repair, check again, and rebuild the output from its manifest.
set -u
cd "$(dirname "$0")/.."
scripts/install.sh || exit 1
make -s -j2 all || exit 1
tool=build/tracemend
work=$(mktemp -d "${TMPDIR:-/tmp}/tracemend-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
wrong=0

say() { printf '\n# %s\n' "$*"; }
# Prints and runs a command, prints the first lines of its output, and tests its exit code.
try() { # "CODES" LINES COMMAND...
	local codes=$1 lines=$2 code
	shift 2
	printf '$ %s\n' "$(printf '%s' "${*/#$tool/tracemend}" | sed "s,$work/,,g")"
	"$@" > "$work/said" 2>&1
	code=$?
	sed "s,$work/,,g" "$work/said" | head -n "$lines"
	local more=$(($(wc -l < "$work/said") - lines))
	[ $more -gt 0 ] && echo "  … $more more lines"
	echo "(exit $code)"
	case " $codes " in
	*" $code "*) ;;
	*) echo "demo: expected exit $codes"; wrong=1 ;;
	esac
}

say "1. A Fuchsia trace with a hole: one block was never written to disk."
try 0 5 $tool gen -f fxt --seed 56 --size 12000 --damage hole -o "$work/fxt"
capture=$(find "$work/fxt" -name '*.fxt' | head -1)
mv "$capture" "$work/broken.fxt"
capture=$work/broken.fxt
before=$(sha256sum < "$capture")
say "Its defects:"
try 1 24 $tool check "$capture"
say "Salvage it into a new file. Exit code 3: the result is valid, but content was lost."
try "0 3" 24 $tool repair "$capture" -o "$work/mended.fxt" --manifest "$work/manifest.json"
say "The result checks clean, and repairing it again changes nothing."
try 0 6 $tool check "$work/mended.fxt"
try 0 6 $tool repair "$work/mended.fxt" -o "$work/twice.fxt"
cmp "$work/mended.fxt" "$work/twice.fxt" || wrong=1
[ "$before" = "$(sha256sum < "$capture")" ] || { echo "demo: the input was changed"; wrong=1; }
say "The manifest accounts for every byte: a page of Python rebuilds the output from it."
head -c 900 "$work/manifest.json"
echo " …"
try 0 3 python3 tests/lib/verify_manifest.py "$work/manifest.json" "$work/mended.fxt"

if scripts/formats.sh | grep -qx uftrace; then
	say "2. An uftrace directory whose recorder was killed: no info file, no symbols, the last record cut."
	try 0 3 $tool gen -f uftrace --seed 16 --size 20000 -o "$work/uftrace"
	mv "$(find "$work/uftrace" -mindepth 1 -maxdepth 1 -type d | head -1)" "$work/killed"
	rm -f "$work"/killed/info "$work"/killed/*.sym
	last=$(find "$work/killed" -name '[0-9]*.dat' -size +0 | sort | tail -1)
	truncate -s -5 "$last"
	try 1 24 $tool check -f uftrace "$work/killed"
	say "Repair writes a directory that uftrace can read."
	try "0 3" 24 $tool repair -f uftrace "$work/killed" -o "$work/mended" --manifest "$work/manifest.json"
	try 0 6 $tool check "$work/mended"
	try 0 3 python3 tests/lib/verify_manifest.py "$work/manifest.json" "$work/mended"
	if command -v uftrace > /dev/null; then
		try 0 12 timeout 20 uftrace replay --no-pager -d "$work/mended"
	fi
fi
[ $wrong = 0 ] && say "All steps gave the expected results." || say "A step gave an unexpected result."
exit $wrong
