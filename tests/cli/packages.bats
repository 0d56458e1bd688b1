#!/usr/bin/env bats
# The Debian packages. What is needed: scripts/install.sh --packaging.

load helper

# bats test_tags=slow
@test "the packages build, please lintian, are installed, run, and leave nothing behind" {
	command -v dpkg-buildpackage > /dev/null && command -v dh > /dev/null || skip "debhelper is not installed"
	local top=$HERE/../.. deb
	# Without optimisation it takes half as long; the workflow builds as a release does.
	# WERROR: a warning that only such a build has is nobody's error.
	WERROR= DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS-noopt} "$top/scripts/packaging/debian.sh" "$PWD/packages" > log 2>&1 || { tail -30 log; return 1; }
	for deb in tracemend libtracemend0 libtracemend-dev; do [ -e packages/${deb}_*.deb ]; done
	! command -v lintian || lintian --allow-root --fail-on error packages/*.changes
	# Into a folder of its own: unpacked by dpkg, which notes what belongs to whom.
	mkdir -p root/var/lib/dpkg/{info,updates} && touch root/var/lib/dpkg/status
	root() { fakeroot dpkg --root="$PWD/root" --force-depends --force-not-root --force-script-chrootless "$@" > dpkg.log 2>&1 || { cat dpkg.log; return 1; }; }
	root -i packages/tracemend_*.deb packages/libtracemend0_*.deb packages/libtracemend-dev_*.deb
	make_captures
	root/usr/bin/tracemend check -q valid.bin
	refute root/usr/bin/tracemend check -q broken.bin
	cc "$top/scripts/examples/check.c" -Iroot/usr/include -Lroot/usr/lib/"$(dpkg-architecture -qDEB_HOST_MULTIARCH)" -ltracemend -o example
	LD_LIBRARY_PATH=root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH) ./example valid.bin
	root --purge libtracemend-dev libtracemend0 tracemend
	[ -z "$(find root -name '*tracemend*' ! -path '*/var/lib/dpkg/*' ! -path '*/var/log/*')" ]
}
