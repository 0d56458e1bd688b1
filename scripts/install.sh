#!/bin/bash
# Installs the Debian packages that building (default), or building and testing (--test), the demo (--demo), scripts/harden.sh (--harden),
# scripts/oss-fuzz-local.sh (--oss-fuzz), coverage-readers.sh and fuzz-tracecmd.sh (--coverage), or packages, `make static` and builds for
# other machines (--packaging), or tests/readers/page_browser.py (--browser), or scripts/other-machines.sh (--machine COMPILER) need; only
# what is missing.
set -u
build="gcc make libarchive-dev libjansson-dev nettle-dev zlib1g-dev libdeflate-dev libzstd-dev liblzma-dev libbz2-dev uthash-dev libseccomp-dev"
# What libarchive.a is linked with: its package does not depend on them.
static="libacl1-dev liblz4-dev libxml2-dev"
test="clang-14 libclang-rt-14-dev clang-tidy-14 clang-format-14 cppcheck pmccabe afl++ libcmocka-dev bats btrfs-progs gdb jq python3 python3-jsonschema zstd xz-utils bzip2 zip time uftrace trace-cmd
	g++ binutils pkg-config mandoc groff zsh fish $static"
wanted=$build
[ "${1:-}" = --test ] && wanted="$build $test"
[ "${1:-}" = --demo ] && wanted="$build uftrace procps python3"
[ "${1:-}" = --oss-fuzz ] && wanted="$build clang-14 libclang-rt-14-dev llvm-14 afl++ zip unzip file binutils python3 zstd git"
[ "${1:-}" = --coverage ] && wanted="$build trace-cmd uftrace afl++ zzuf qemu-user-static binutils python3 pkg-config libtraceevent-dev libtracefs-dev"
[ "${1:-}" = --harden ] && wanted="$build $test llvm-14 valgrind"
[ "${1:-}" = --packaging ] && wanted="$build debhelper dpkg-dev fakeroot lintian musl-tools gcc-multilib abigail-tools pkg-config
	$static python3 git"
[ "${1:-}" = --machine ] && wanted="$build ${2:?which compiler?} qemu-user-static"
[ "${1:-}" = --browser ] && wanted="$build chromium chromium-driver python3-selenium fonts-dejavu-core"

missing=()
for package in $wanted; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
[ ${#missing[@]} = 0 ] && exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo > /dev/null; then
		echo "install: these Debian packages are missing, and there is neither root nor sudo: ${missing[*]}" >&2
		exit 1
	fi
	as_root=(sudo)
fi
echo "installing ${missing[*]}"
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
install() { ${as_root[@]+"${as_root[@]}"} apt-get install -o DPkg::Lock::Timeout=300 -y -q --no-install-recommends "${missing[@]}" >> "$log" 2>&1; }
if ! install && ! { ${as_root[@]+"${as_root[@]}"} apt-get update -q >> "$log" 2>&1 && install; }; then
	tail -5 "$log" >&2
	echo "install: apt-get could not install ${missing[*]}; the log is $log" >&2
	exit 1
fi
rm -f "$log"
