#!/bin/bash
# Runs clang-tidy and cppcheck over the sources; exit 1 if either reports anything. The last line has the number of files.
set -u
cd "$(dirname "$0")/.."
flags="-std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Isrc"
# The harness of libtracecmd needs headers that are otherwise not required.
mapfile -t files < <(find src fuzz -name '*.c' ! -name harness_tracecmd.c | LC_ALL=C sort)
[ $# -gt 0 ] && files=("$@")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
if ! printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" sh -c 'clang-tidy-14 --quiet --warnings-as-errors="*" "$@" -- '"$flags"' -DFUZZ_FORMAT="\"fxt\"" 2> /dev/null' sh > "$log"; then
	grep -E 'warning:|error:' "$log" | sort -u
	status=1
fi
if ! cppcheck -q -j "$(nproc)" --std=c11 --inline-suppr --error-exitcode=1 --enable=warning,performance,portability \
	--suppressions-list=.cppcheck -D_GNU_SOURCE -DFUZZ_FORMAT='"fxt"' -Isrc "${files[@]}" > "$log" 2>&1; then
	cat "$log"
	status=1
fi
echo "lint: ${#files[@]} files"
exit $status
