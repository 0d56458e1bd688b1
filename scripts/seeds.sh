#!/bin/bash
# Writes the seeds of a fuzz target into a directory: the corpus of its format, and pieces of real captures (SAMPLES) where there are
# any beside the project; for a generator, byte strings of a few lengths.
#   scripts/seeds.sh TARGET DIR      TARGET as in repair_fxt, or container
set -eu
cd "$(dirname "$0")/.."
target=$1 into=$2
mkdir -p "$into"

flat() { # FILES on standard input
	while IFS= read -r f; do
		cp "$f" "$into/$(echo "$f" | tr / _)"
	done
}

case $target in
gen_*)
	for n in 3 16 64 256 1024; do
		head -c "$n" /dev/zero | tr '\0' '\1' > "$into/ones-$n"
		python3 -c "import random,sys; sys.stdout.buffer.write(random.Random($n).getrandbits(8 * $n).to_bytes($n, 'little'))" > "$into/random-$n"
	done ;;
container)
	find corpus -type f \( -name '*.gz' -o -name '*.zst' -o -name '*.tar' \) -size -64k | LC_ALL=C sort | head -60 | flat
	printf 'x' > "$into/x"
	printf 'hello' | gzip -n > "$into/hello.gz"
	if command -v zstd > /dev/null; then printf 'hello' | zstd -q > "$into/hello.zst"; fi ;;
*)
	find "corpus/${target#*_}" -type f ! -name '*.jsonl' -size -64k | flat
	samples=${SAMPLES:-../shared/samples}
	[ ! -d "$samples" ] || python3 tests/tools/seed_pieces.py "$samples" "${target#*_}" "$into"
	printf 'x' > "$into/x" ;;
esac
