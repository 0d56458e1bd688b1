#!/bin/bash
# Regenerates corpus/<format>/{valid,invalid,damaged} and expectations.jsonl with build/tracemend gen; regress/ has files for bugs
# that were found, which are only listed in the expectations. The same program gives the same bytes. Directories are stored as
# plain tar files. What check and repair make of all of them is written, too (tests/tools/outcomes.py): read that diff.
#
#   scripts/corpus.sh [--keep-going] [FORMAT...]   write
#   scripts/corpus.sh --check [FORMAT...]          compare: exit 1 if anything differs
#
# --keep-going leaves out, and names, files for which check does not report what the generator declares; without it they are an error.
set -eu
cd "$(dirname "$0")/.."

tool=build/tracemend
check=0
keep=()
[ "${1:-}" = --check ] && { check=1; shift; }
[ "${1:-}" = --keep-going ] && { keep=(--keep-going); shift; }
[ -x $tool ] || { echo "corpus.sh: run make first" >&2; exit 2; }
formats=("$@")
[ ${#formats[@]} -gt 0 ] || mapfile -t formats < <(scripts/formats.sh)

work=$(mktemp -d "${TMPDIR:-/tmp}/tracemend-corpus.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=corpus
[ $check = 0 ] || root=$work/corpus
status=0
for f in "${formats[@]}"; do
	mkdir -p "$root/$f"
	python3 tests/tools/corpus_make.py --tool $tool --root "$root" --labels "$work/labels" --format "$f" || status=1
	if [ $check = 1 ]; then
		python3 tests/tools/corpus.py --agree --labels "$work/labels" --format "$f" || status=1
		diff -r -x '*.jsonl' -x regress "corpus/$f" "$root/$f" || status=1
		continue
	fi
	python3 tests/tools/corpus.py --write ${keep[@]+"${keep[@]}"} --tool $tool --labels "$work/labels" --format "$f" || status=1
	{ make -s build/outcome && python3 tests/tools/outcomes.py --write --format "$f"; } || status=1
done
[ ${#keep[@]} = 0 ] || status=0
[ $check = 0 ] || [ $status != 0 ] || echo "corpus: regenerated without a difference"
exit $status
