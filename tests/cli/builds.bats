#!/usr/bin/env bats
# The sources compile for other machines, and link in other ways. What is needed: scripts/install.sh --packaging.

load helper

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

needs() { command -v "$1" > /dev/null || skip "$1 is not installed"; }

# compiles COMPILER...: every source, without a warning. Headers of libraries that are the same for all machines are found last.
compiles() {
	mkdir -p headers
	local h
	for h in archive.h archive_entry.h zlib.h zconf.h zstd.h zstd_errors.h nettle jansson.h jansson_config.h uthash.h utarray.h lzma.h lzma bzlib.h \
		libdeflate.h ini.h gmp.h; do
		for h in /usr/include/$h /usr/include/x86_64-linux-gnu/$h; do [ ! -e "$h" ] || ln -sf "$h" headers; done
	done
	find "$TOP/src" -name '*.c' -print0 | xargs -0 -n 8 -P "$(nproc)" "$@" -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 "-I$TOP/src" -idirafter headers \
		-Wall -Wextra -Werror -fsyntax-only 2> said || { head -20 said; return 1; }
}

# bats test_tags=slow
@test "for 32 bits" {
	echo 'int main(void) { return sizeof(void *) == 4 ? 0 : 1; }' | gcc -m32 -x c - -o probe 2> /dev/null || skip "gcc-multilib is not installed"
	compiles gcc -m32 -Wconversion
}

# bats test_tags=slow
@test "for musl" {
	needs musl-gcc
	compiles musl-gcc
}

# scripts/other-machines.sh macos fetches Apple's headers.
# bats test_tags=slow
@test "for macOS" {
	local headers=$TOP/build/macos/include
	[ -d "$headers" ] || skip "Apple's headers were not fetched"
	compiles clang-14 --target=x86_64-apple-macosx11 -nostdinc -isystem "$(clang-14 -print-resource-dir)/include" -isystem "$headers"
}

# bats test_tags=slow
@test "with link-time optimisation, and a static library of it" {
	make -s -j"$(nproc)" -C "$TOP" BUILD="$PWD/build" WERROR= OPT='-O0 -flto=auto' all > log 2>&1 || { tail -20 log; return 1; }
	make_captures
	build/tracemend check -q valid.bin
	refute build/tracemend check -q broken.bin
	cc -I"$TOP/src" "$TOP/scripts/examples/check.c" build/libtracemend.a $(pkg-config --libs libarchive nettle zlib libdeflate libzstd liblzma jansson) -lbz2 -lpthread -o static
	./static valid.bin | grep -q 'libtracemend'
}

# bats test_tags=slow
@test "without any library of the machine" {
	[ -e /usr/lib/x86_64-linux-gnu/libacl.a ] || skip "the static libraries are not installed"
	make -s -C "$TOP" BUILD="$(dirname "$TRACEMEND")" static > log 2>&1 || { tail log; return 1; }
	make_captures
	refute ldd "$(dirname "$TRACEMEND")/static/tracemend"
	"$(dirname "$TRACEMEND")/static/tracemend" check -q valid.bin
	gzip valid.bin
	"$(dirname "$TRACEMEND")/static/tracemend" check -q --only 'fxt/*' valid.bin.gz
}
