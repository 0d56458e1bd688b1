#!/bin/bash
# debian.sh [FOLDER]: the Debian packages, from a copy of the tree whose debian/ is at the top, into FOLDER (build/debian). What it
# needs: scripts/install.sh --packaging.
set -eu
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^.define TRACEMEND_VERSION "\(.*\)"/\1/p' src/tracemend.h)
out=$(realpath -m "${1:-build/debian}")
tree=$out/tracemend-$version
rm -rf "$out"
mkdir -p "$tree"
# What is in the repository; without one, all but what is built.
if git rev-parse --git-dir > /dev/null 2>&1; then git ls-files -z; else find . -path ./build -prune -o ! -type d -printf '%P\0'; fi |
	xargs -0 cp -dp --parents -t "$tree"
# The same tree makes the same archive.
date=$(dpkg-parsechangelog -l scripts/packaging/debian/changelog -S Timestamp)
tar --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner -C "$out" -cf - "tracemend-$version" | gzip -n > "$out/tracemend_$version.orig.tar.gz"
cp -r scripts/packaging/debian "$tree/debian"
cd "$tree"
# The real cause of a failure is in its output, and nothing signs here.
env -u BUILD dpkg-buildpackage -us -uc "-j$(nproc)"
ls "$out"/*.deb
