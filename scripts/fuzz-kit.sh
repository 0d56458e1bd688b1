#!/bin/bash
# Packs a kit for fuzzing trace readers with AFL++ or libFuzzer: mutators, dictionaries, seeds, options, and the page
# fuzz/KIT.md. Called by `make fuzz-kit`, which builds the parts; the same sources give the same archive.
#
#   scripts/fuzz-kit.sh BUILD
set -eu
cd "$(dirname "$0")/.."
build=$1
kit=$build/fuzz-kit
rm -rf "$kit"
mkdir -p "$kit/dictionaries" "$kit/options" "$kit/seeds"
cp "$build/libtracemend-mutator.so" "$build/tracemend-mutator.o" "$build/tracemend-with-directory" "$build/tracemend-labels" "$kit/"
cp fuzz/harness* LICENSE "$kit/"
cp fuzz/KIT.md "$kit/README.md"
for format in $(scripts/formats.sh); do
	"$build/tracemend-dictionary" "$format" > "$kit/dictionaries/$format.dict"
	mkdir "$kit/seeds/$format"
	# Valid ones, and one for each rule; what is compressed or large is another's business.
	find "corpus/$format/valid" "corpus/$format/invalid" -type f ! -name '*.gz' ! -name '*.zst' -size -64k | sort | while read -r file; do
		cp "$file" "$kit/seeds/$format/$(basename "$(dirname "$file")")-$(basename "$file")"
	done
	# Room for a few more records than the largest seed has.
	largest=$(find "$kit/seeds/$format" -type f -printf '%s\n' | sort -n | tail -1)
	printf '[libfuzzer]\nmax_len = %d\ndict = %s.dict\ntimeout = 10\nrss_limit_mb = 2560\n' $((largest * 2)) "$format" > "$kit/options/$format.options"
	printf '[environment]\nTRACEMEND_FORMAT=%s\n' "$format" > "$kit/options/$format.env"
done
strip --strip-debug "$kit/libtracemend-mutator.so" "$kit/tracemend-mutator.o" "$kit/tracemend-with-directory" "$kit/tracemend-labels"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$build" -cf - fuzz-kit | gzip -n > "$build/fuzz-kit.tar.gz"
echo "fuzz-kit: $build/fuzz-kit.tar.gz, $(stat -c %s "$build/fuzz-kit.tar.gz") bytes, $(find "$kit/seeds" -type f | wc -l) seeds"
