#!/bin/bash
# The main use, on two damaged captures: a recording whose recorder was killed, made on the spot where uftrace and gcc are there
# (else one out of the corpus), and a file with a hole. Check, repair, check again; the reader before and after; the manifest.
set -u
cd "$(dirname "$0")/.." || exit 1
scripts/install.sh --demo || exit 1
make -s -j2 all || exit 1
tool=$PWD/build/tracemend
verify=$PWD/tests/lib/verify_manifest.py
corpus=$PWD/corpus
work=$(mktemp -d "${TMPDIR:-/tmp}/tracemend-demo.XXXXXX")
trap 'rm -rf "$work"; rm -f /dev/shm/uftrace-"${session:-none}"-*' EXIT
cd "$work" || exit 1
wrong=0

say() { printf '\n# %s\n' "$*"; }
# Prints and runs a command, prints the first lines of its output, and tests its exit code.
try() { # "CODES" LINES COMMAND...
	local codes=$1 lines=$2 code
	shift 2
	local shown=${*/#"$tool"/tracemend}
	printf '$ %s\n' "${shown/"$verify"/verify_manifest.py}"
	timeout 120 "$@" > said 2>&1
	code=$?
	head -n "$lines" said
	local more=$(($(wc -l < said) - lines))
	[ $more -gt 0 ] && echo "  … $more more lines"
	echo "(exit $code)"
	case " $codes " in
	*" $code "*) ;;
	*) echo "demo: expected exit $codes"; wrong=1 ;;
	esac
}

# A program that is traced, and a recorder that is killed with it. False: that is not possible here.
record_and_kill() {
	cat > work.c << 'END'
#include <time.h>
static void rest(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 50000 }, 0);
}
static unsigned digits(unsigned n)
{
	return n < 10 ? n : n % 10 + digits(n / 10);
}
int main(void)
{
	unsigned sum = 0;
	for (unsigned n = 0; n < 1000000; n++) {
		sum += digits(n);
		rest();
	}
	return sum == 0;
}
END
	command -v uftrace > /dev/null && gcc -pg -o work work.c 2> /dev/null || return 1
	uftrace record --no-event -d killed ./work > recorder 2>&1 &
	local recorder=$! child
	sleep 2
	child=$(ps -o pid= --ppid $recorder)
	disown $recorder
	kill -9 $recorder
	sleep 0.2
	# shellcheck disable=SC2086
	[ -z "$child" ] || kill -9 $child 2> /dev/null
	session=$(sed -n 's/^SESS .*sid=\([0-9a-f]*\) .*/\1/p' killed/task.txt 2> /dev/null)
	[ -n "$session" ] && [ ! -e killed/info ] && find killed -name '[0-9]*.dat' -size +0 | grep -q .
}

say "1. A uftrace recording whose recorder was killed (kill -9)."
if record_and_kill; then
	say "The reader refuses it:"
	try 255 3 uftrace replay --no-pager -d killed
else
	echo "(uftrace cannot record here: a recording out of the corpus)"
	rm -rf killed
	mkdir killed
	tar xf "$corpus/uftrace/invalid/info-missing.tar" -C killed
fi
try 1 24 "$tool" check killed
say "Repair writes a directory that uftrace reads."
extra=()
[ -n "${session:-}" ] && [ -n "$(compgen -G "/dev/shm/uftrace-$session-*")" ] && extra=(--extra "/dev/shm/uftrace-$session-*")
try "0 3" 24 "$tool" repair killed -o mended --manifest manifest.json "${extra[@]}"
try 0 12 "$tool" check mended
try 0 3 python3 "$verify" manifest.json mended
if [ -n "${session:-}" ]; then
	try 0 12 uftrace replay --no-pager -d mended
fi

say "2. A Fuchsia trace with a hole: one block was never written to disk."
try 0 5 "$tool" gen -f fxt --seed 56 --size 12000 --damage hole -o .
mv hole-0056.fxt broken.fxt
before=$(sha256sum < broken.fxt)
try 1 24 "$tool" check broken.fxt
say "Salvage it into a new file. Exit code 3: the result is valid, but content was lost."
try "0 3" 24 "$tool" repair broken.fxt -o mended.fxt --manifest manifest.json
say "The result checks clean, and repairing it again changes nothing."
try 0 6 "$tool" check mended.fxt
try 0 6 "$tool" repair mended.fxt -o twice.fxt
cmp mended.fxt twice.fxt || wrong=1
[ "$before" = "$(sha256sum < broken.fxt)" ] || { echo "demo: the input was changed"; wrong=1; }
say "The manifest accounts for every byte: a page of Python rebuilds the output from it."
head -c 600 manifest.json
echo " …"
try 0 3 python3 "$verify" manifest.json mended.fxt

[ $wrong = 0 ] && say "All steps gave the expected results." || say "A step gave an unexpected result."
exit $wrong
