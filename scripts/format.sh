#!/bin/bash
# Formats the C sources with clang-format 14.
#
#   scripts/format.sh [FILE...]           changes the files (default: all of src, fuzz, tests)
#   scripts/format.sh --check [FILE...]   changes nothing: exit 1 and a diff if a file is not formatted
set -u
cd "$(dirname "$0")/.."
check=0
[ "${1:-}" = --check ] && { check=1; shift; }
command -v clang-format-14 > /dev/null || { echo "format: clang-format-14 is not installed"; exit 77; }
mapfile -t files < <(find src fuzz tests -name '*.[ch]' | LC_ALL=C sort)
[ $# = 0 ] || files=("$@")
if [ $check = 0 ]; then
	clang-format-14 -i "${files[@]}"
	exit
fi
differences() {
	for file; do clang-format-14 "$file" | diff -u --label "$file" --label "$file, formatted" "$file" -; done
}
export -f differences
diffs=$(printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "$(nproc)" bash -c 'differences "$@"' differences)
[ -z "$diffs" ] || echo "$diffs"
bad=$(grep -c '^--- ' <<< "$diffs")
echo "format: $((${#files[@]} - bad)) passed, $bad failed"
[ $bad = 0 ]
