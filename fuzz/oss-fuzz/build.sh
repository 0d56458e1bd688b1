#!/bin/bash -eu
# Also under the Apache License 2.0, which OSS-Fuzz asks for: http://www.apache.org/licenses/LICENSE-2.0
#
# Builds every fuzz target into $OUT with its seeds, options and libraries, as OSS-Fuzz and ClusterFuzzLite call it: CC, CXX,
# CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and OUT are set. scripts/oss-fuzz-local.sh does the same without a container.
cd "$SRC/tracemend"

# Another compiler has other warnings; here none is an error. The libraries that the image for running lacks go along in
# $OUT/lib, where an old-style path finds them also for each other.
make -j"$(nproc)" BUILD="$WORK/build" CC="$CC" FUZZ_LD="$CXX $CXXFLAGS" OPT= WARN=-w FUZZ_DRIVER="$LIB_FUZZING_ENGINE" \
	LDFLAGS="-Wl,--disable-new-dtags -Wl,-rpath,'\$\$ORIGIN/lib'" fuzz-targets dictionary

# Runs the dictionary maker, which is instrumented as all the rest is, and not what is built here.
dictionary() { # FORMAT
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=silence_unsigned_overflow=1 LLVM_PROFILE_FILE=/dev/null \
		"$WORK/build/tracemend-dictionary" "$1"
}

base='/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|ld-linux-[^/]*)\.so'
mkdir -p "$OUT/lib"
for binary in "$WORK"/build/fuzz_*; do
	[ -f "$binary" ] && [ -x "$binary" ] || continue
	name=$(basename "$binary")
	cp "$binary" "$OUT/$name"
	ldd "$binary" | awk '$2 == "=>" && $3 ~ "^/" { print $3 }' | { grep -vE "$base" || true; } | while read -r library; do
		cp -Lu "$library" "$OUT/lib/"
	done
	seeds=$WORK/seeds/$name
	rm -rf "$seeds"
	scripts/seeds.sh "${name#fuzz_}" "$seeds"
	rm -f "$OUT/${name}_seed_corpus.zip"
	zip -q -j -X "$OUT/${name}_seed_corpus.zip" -r "$seeds"
	printf '[libfuzzer]\nmax_len = 65536\ntimeout = 25\n' > "$OUT/$name.options"
	# The others take choices, or any archive.
	case $name in fuzz_check_*|fuzz_repair_*) dictionary "${name##*_}" > "$OUT/$name.dict" ;; esac
done
