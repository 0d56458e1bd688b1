#!/bin/bash
# Every command of fuzz/KIT.md, in the order of the page and from the packed kit, with fewer runs: each harness builds, and finds its
# planted bug or new paths. Commands of a compiler that is not installed are said and left out.
#
#   tests/tools/kit.sh [RUNS]    (default 3000; the wrapper, which starts two programs for each, the first forty seconds)
set -u
cd "$(dirname "$0")/../.." || exit 2
runs=${1:-3000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
make -s -j2 fuzz-kit > "$work/build.log" 2>&1 || { tail -20 "$work/build.log"; exit 1; }
page=$PWD/fuzz/KIT.md
cp build/fuzz-kit.tar.gz "$work/"
cd "$work" || exit 2

# The names that Debian's clang-14 has without the version, where the package clang is not there.
mkdir bin
for tool in clang clang++; do command -v $tool > /dev/null || ln -s "$(command -v $tool-14)" bin/$tool; done
export PATH=$work/bin:$PATH GOFLAGS=-mod=mod GO111MODULE=off GOCACHE=$work/go
export AFL_QUIET=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1
unset ASAN_OPTIONS UBSAN_OPTIONS # of the tests of this program

good() { passed=$((passed + 1)); echo "kit: $1"; }
bad() { failed=$((failed + 1)); echo "kit: FAILED: $1"; tail -12 "$work/log"; }

afl() { # COMMAND, with "-o FOLDER"
	local out
	out=$(sed 's/.* -o \([^ ]*\) .*/\1/' <<< "$1")
	local queue limit="-E $((2 * runs))" least=3
	if [[ $1 == *with-directory* ]]; then # calibrating the seeds would take most of it
		rm -f seeds/uftrace/invalid-*
		limit="-V 40" least=0
	fi
	eval "${1/afl-fuzz /timeout 200 afl-fuzz $limit -t 5000+ -m none }" > "$work/log" 2>&1
	queue=$(find "$out" -path '*queue/id:*' ! -name '*orig:*' 2> /dev/null | wc -l)
	if [ "$queue" -ge "$least" ] && grep -q 'Statistics: ' "$work/log"; then
		good "afl-fuzz, $out: $queue new paths, $(find "$out" -path '*crashes/id:*' | wc -l) crashes"
	else
		bad "$1"
	fi
}
libfuzzer() { # COMMAND
	eval "${1/ -max_len/ -runs=$runs -seed=1 -max_len}" > "$work/log" 2>&1
	local code=$?
	if [ $code = 77 ]; then
		good "$(sed 's/.*\(\.\/[a-z-]*\) .*/\1/' <<< "$1"): the planted bug is found"
	elif [ $code = 0 ] && grep -q '^#[0-9]*[[:space:]]\(NEW\|REDUCE\).*Custom' "$work/log"; then # it may have found all paths before
		good "$(sed 's/.*\(\.\/[a-z-]*\) .*/\1/' <<< "$1"): new paths"
	else
		bad "$1 (exit $code)"
	fi
}

left=
while IFS= read -r line; do
	case $line in
	rustc*|go*) command -v "${line%% *}" > /dev/null || { echo "kit: no ${line%% *}: not tried"; skipped=$((skipped + 1)) left="$left ${line%% *}"; continue; } ;;
	*example-rust*) [[ $left != *rustc* ]] || continue ;;
	*example-go*) [[ $left != *go* ]] || continue ;;
	esac
	case $line in
	*afl-fuzz*) afl "$line" ;;
	*-max_len*) libfuzzer "$line" ;;
	*) if eval "$line" > "$work/log" 2>&1; then good "${line:0:60}"; else bad "$line"; fi ;;
	esac
done < <(sed -n '/^```/,/^```/d; s/^    //p' "$page")

# harness.h: nothing is written outside the folder, a tar may end anywhere, and the folder is removed with what was added to it.
cat > unpack.c <<-'END'
	#include "harness.h"
	int main(int argc, char **argv)
	{
		static uint8_t data[1 << 16];
		FILE *f = fopen(argv[1], "rb");
		size_t size = fread(data, 1, sizeof(data), f), step = argc > 2 ? 1 : size;
		for (size_t n = size; n <= size; n -= step) {
			uint8_t *copy = memcpy(malloc(n + !n), data, n);
			char *path = tracemend_unpack(copy, n), line[8192], memory[TRACEMEND_PATH];
			snprintf(line, sizeof(line), "cd $TMPDIR && find * -type f && touch %s/added", path);
			if (argc == 2 && system(line)) abort();
			int fd = tracemend_memory_file(copy, n, memory);
			FILE *again = fopen(memory, "rb");
			if (fread(line, 1, 1, again) != (n > 0) || (n && line[0] != (char)copy[0])) abort();
			fclose(again), close(fd), tracemend_remove(path), free(copy);
			if (!n || argc == 2) break;
		}
		return 0;
	}
END
python3 - <<-'END'
	import io, tarfile
	with tarfile.open("hostile.tar", "w", format=tarfile.USTAR_FORMAT) as t:
	    for name in ("../evil", "/tmp/tracemend-evil", "a/../../evil", "a/b", "..c", "n" * 90 + "/" + "m" * 90):
	        member = tarfile.TarInfo(name)
	        member.size = 3
	        t.addfile(member, io.BytesIO(b"abc"))
END
mkdir -p t
clang -g -fsanitize=address,undefined unpack.c -o unpack > "$work/log" 2>&1
long=$(printf 'n%.0s' {1..90})/$(printf 'm%.0s' {1..90})
said=$(TMPDIR=$PWD/t ./unpack hostile.tar 2>> "$work/log" | sed 's/tracemend-[^/]*/D/' | sort)
if [ "$said" = "$(printf 'D/%s\n' ..c a/b "$long" | sort)" ] && TMPDIR=$PWD/t ./unpack hostile.tar cut >> "$work/log" 2>&1 && [ -z "$(ls t)" ] && [ ! -e evil ] &&
	[ ! -e /tmp/tracemend-evil ]; then
	good "harness.h: hostile and cut archives"
else
	bad "harness.h: $said"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 10 ]
