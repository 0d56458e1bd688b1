#!/usr/bin/env bats
# What is installed: the program, the library and its examples, pages, completions; packages and other builds are slow.

load helper

TOP=$HERE/../..

# The tree that `make install` makes, once for all tests of this file, below $BATS_FILE_TMPDIR/tree/usr; its .pc file leads there.
setup_file() {
	local top=$BATS_TEST_DIRNAME/../.. build
	build=$(dirname "$(realpath -m "${TRACEMEND:-$top/build/tracemend}")")
	make -s -C "$top" BUILD="$build" install DESTDIR="$BATS_FILE_TMPDIR/tree" PREFIX=/usr > "$BATS_FILE_TMPDIR/log" 2>&1 || {
		cat "$BATS_FILE_TMPDIR/log"
		return 1
	}
	cp -r "$BATS_FILE_TMPDIR/tree/usr/lib/pkgconfig" "$BATS_FILE_TMPDIR/pc"
	sed -i "s,^prefix=.*,prefix=$BATS_FILE_TMPDIR/tree/usr," "$BATS_FILE_TMPDIR/pc/libtracemend.pc"
}

usr() { echo "$BATS_FILE_TMPDIR/tree/usr"; }
pc() { PKG_CONFIG_PATH=$BATS_FILE_TMPDIR/pc pkg-config "$@" libtracemend; }
# with PROGRAM...: with the installed library.
with() { LD_LIBRARY_PATH=$(usr)/lib "$@"; }
commands() { "$TRACEMEND" --generate commands; }
needs() { command -v "$1" > /dev/null || skip "$1 is not installed"; }

@test "what make install installs, make uninstall removes" {
	local root=$BATS_TEST_TMPDIR/there
	cp -r "$(usr)/.." "$root"
	for f in bin/tracemend include/tracemend.h lib/libtracemend.a lib/libtracemend.so lib/libtracemend.so.0 lib/pkgconfig/libtracemend.pc \
		share/man/man1/tracemend.1 share/man/man1/tracemend-check.1 share/man/man3/libtracemend.3 share/man/man5/tracemend-manifest.5 \
		share/man/man5/tracemend-report.5 share/bash-completion/completions/tracemend share/zsh/site-functions/_tracemend \
		share/fish/vendor_completions.d/tracemend.fish; do
		[ -s "$root/usr/$f" ] || { echo "missing: $f"; return 1; }
	done
	[ "$("$root/usr/bin/tracemend" --version | head -1)" = "tracemend $(pc --modversion)" ]
	[ "$(readlink "$root/usr/lib/libtracemend.so.0")" = "libtracemend.so.$(pc --modversion)" ]
	make -s -C "$TOP" BUILD="$(dirname "$TRACEMEND")" uninstall DESTDIR="$root" PREFIX=/usr
	[ -z "$(find "$root" ! -type d)" ]
}

@test "install goes where it is told" {
	make -s -C "$TOP" BUILD="$(dirname "$TRACEMEND")" install DESTDIR="$PWD/d" PREFIX=/opt/tm libdir=/opt/tm/lib64 mandir=/man > /dev/null
	[ -e d/opt/tm/lib64/libtracemend.so.0 ] && [ -e d/man/man1/tracemend.1 ] && [ -x d/opt/tm/bin/tracemend ]
	grep -qx 'libdir=${prefix}/lib64' d/opt/tm/lib64/pkgconfig/libtracemend.pc
}

@test "the example in C, shared and static" {
	make_captures
	cc -std=c99 -Wall -Wextra -pedantic -Werror "$TOP/scripts/examples/check.c" $(pc --cflags --libs) -o shared
	with ldd shared | grep -q "libtracemend.so.0 => $(usr)/lib"
	with ./shared valid.bin broken.bin > said
	grep -q 'dangling-string-ref\]' said
	[ -e broken.bin.mended ] && [ ! -e valid.bin.mended ]
	exits 0 check -q broken.bin.mended
	rm broken.bin.mended
	# The archive only, with the private libraries from pkg-config.
	mkdir only && cp "$(usr)/lib/libtracemend.a" only
	cc "$TOP/scripts/examples/check.c" $(pc --cflags) -Lonly $(pc --static --libs | sed "s,-L[^ ]*,,") -o static
	refute sh -c 'ldd static | grep -q libtracemend'
	./static valid.bin broken.bin | cmp - said
	# Its internal names do not get in the way of a program's own.
	[ -z "$(nm -g --defined-only only/libtracemend.a | awk 'NF == 3 && $3 !~ /^tracemend_/')" ]
}

@test "the example in C++" {
	needs c++
	c++ -std=c++17 -Wall -Wextra -Werror "$TOP/scripts/examples/check.cpp" $(pc --cflags --libs) -o mend
	with ./mend > said
	[ "$(tail -1 said)" = "0 errors" ]
	refute grep -qx '0 errors' <(head -n -1 said)
}

@test "the example in Python" {
	make_captures
	LIBTRACEMEND=$(usr)/lib/libtracemend.so.0 python3 "$TOP/scripts/examples/check.py" valid.bin broken.bin > said
	grep -q '^valid.bin: .* 0 errors$' said
	grep -q ' error fxt/dangling-string-ref: ' said
	refute env LIBTRACEMEND="$(usr)/lib/libtracemend.so.0" python3 "$TOP/scripts/examples/check.py" nowhere.fxt
}

@test "the binary interface is the recorded one" {
	python3 "$TOP/tests/tools/abi.py" --library "$(usr)/lib/libtracemend.so"
}

@test "the binaries are hardened, and do not name the builder's folder" {
	local top
	top=$(realpath "$TOP")
	for f in "$(usr)/bin/tracemend" "$(usr)/lib/libtracemend.so.0"; do
		refute grep -qF "$top" "$f"
		readelf -d "$f" | grep -q BIND_NOW
		readelf -lW "$f" | grep -q GNU_RELRO
		refute sh -c 'readelf -lW "$1" | grep -q "GNU_STACK.*RWE"' - "$f"
	done
	readelf -h "$(usr)/bin/tracemend" | grep -q 'DYN'
}

@test "pages have nothing that mandoc or groff warns of" {
	local pages
	mapfile -t pages < <(find "$(usr)/share/man" -type f)
	[ ${#pages[@]} -ge 12 ]
	if command -v mandoc; then mandoc -T lint -W warning "${pages[@]}"; fi
	command -v groff || skip "groff is not installed"
	for page in "${pages[@]}"; do
		groff -ww -mandoc -Tutf8 "$page" 2>&1 > /dev/null | { refute grep . ; }
	done
}

@test "pages, packages and change log are of the same version and day" {
	version=$("$TRACEMEND" --version | sed -n '1s/tracemend //p')
	grep -q "^## $version" "$TOP/.github/CHANGELOG.md"
	grep -q "^tracemend ($version-" "$TOP/scripts/packaging/debian/changelog"
	day=$(date -ud "$(sed -n 's/^ -- .*>  //p' "$TOP/scripts/packaging/debian/changelog" | head -1)" '+%B %-d, %Y')
	[ "$("$TRACEMEND" --generate man | sed -n 's/^\.Dd //p')" = "$day" ]
	grep -hx '\.Dd .*' "$TOP"/scripts/packaging/man/* | sort -u | diff - <(echo ".Dd $day")
}

@test "pages of section 5 name every key of the schemas" {
	python3 - "$TOP" << 'END'
import json, re, sys
def keys(value):
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from inner if key == "properties" else ()
        yield from keys(inner)
    for inner in value if isinstance(value, list) else ():
        yield from keys(inner)
missing = []
for name in "report", "manifest":
    page = set(re.findall(r"\w+", open(f"{sys.argv[1]}/scripts/packaging/man/tracemend-{name}.5", encoding="utf-8").read()))
    known = set(keys(json.load(open(f"{sys.argv[1]}/src/report/{name}.schema.json", encoding="utf-8"))))
    assert len(known) > 10
    missing += [f"tracemend-{name}.5: {key}" for key in sorted(known - page)]
sys.exit("\n".join(missing) or 0)
END
}

@test "packages and container have the libraries that the program is linked with" {
	local library package
	for library in $(readelf -d "$TRACEMEND" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		case $library in libc.so* | libm.so* | libgcc_s.so* | ld-linux*) continue ;; esac
		package=$(dpkg -S "*/$library" | sed -n '1s/:.*//p')
		grep -qw "$package" "$TOP/scripts/packaging/Containerfile" || { echo "Containerfile lacks $package"; return 1; }
	done
	for package in $(sed -n 's/^build="\(.*\)"/\1/p' "$TOP/scripts/install.sh"); do
		[ "$package" = gcc ] || [ "$package" = make ] || grep -qw "$package" "$TOP/scripts/packaging/debian/control" || { echo "control lacks $package"; return 1; }
	done
}

@test "pages, --help and completions name the same options" {
	local command option name
	for command in $(commands); do
		"$TRACEMEND" "$command" --help | grep -oE '^  (-[a-zA-Z],|   ) --[a-z-]+' | grep -oE -- '--[a-z-]+' | sort > help
		[ -s help ]
		grep -oE 'Fl \\-[a-z\\-]+' "$(usr)/share/man/man1/tracemend-$command.1" | sed 's/Fl //; s/\\//g; s/^/-/' | sort > page
		diff help page
		sed -n "s/^\t$command:-\*) _tracemend_words '\(.*\)' ;;/\1/p" "$(usr)/share/bash-completion/completions/tracemend" |
			tr ' ' '\n' | sed -n 's/^\(--[a-z-]*\)=\{0,1\}$/\1/p' | sort > bash
		diff help bash
		sed -n "/^\t$command)\$/,/;;/p" "$(usr)/share/zsh/site-functions/_tracemend" | grep -oE "[')*]--[a-z-]+=?\[" | grep -oE -- '--[a-z-]+' | sort > zsh
		diff help zsh
		sed -n "s/.*__fish_seen_subcommand_from $command'.* -l \([a-z-]*\) *.*/--\1/p" "$(usr)/share/fish/vendor_completions.d/tracemend.fish" | sort > fish
		diff help fish
		grep -q "tracemend-$command 1" "$(usr)/share/man/man1/tracemend.1"
	done
}

# completes WORD... = EXPECTED...: by the bash function, with the cursor behind the last word.
completes() {
	local words=()
	while [ "$1" != == ]; do words+=("$1"); shift; done
	shift
	bash -c 'source "$1"; shift; program=$1; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_tracemend "$program"
		printf "%s\n" "${COMPREPLY[@]}"' - "$(usr)/share/bash-completion/completions/tracemend" "$TRACEMEND" "${words[@]}" > got
	printf '%s\n' "$@" | diff - got
}

@test "bash completes commands, options, formats and rules" {
	completes tracemend che == check
	completes tracemend check --fail == --fail-on=
	completes tracemend check --format = sarif- == sarif-github
	completes tracemend check --fail-on = == error warning note never
	completes tracemend gen -f kt == ktrace
	completes tracemend gen --damage = bit == bitflip
	completes tracemend explain fxt/dangling-s == fxt/dangling-string-ref
	completes tracemend check --ignore = uftrace/task-t == $("$TRACEMEND" --generate rules | grep ^uftrace/task-t)
	touch here.fxt
	completes tracemend check he == here.fxt
	"$TRACEMEND" --generate commands > all
	completes tracemend help '' == $(cat all)
}

@test "zsh completes commands, options, formats and rules" {
	needs zsh
	zsh_completes() { TRACEMEND=$TRACEMEND PATH=$(usr)/bin:$PATH timeout 60 zsh "$HERE/zsh-complete.zsh" "$(usr)/share/zsh/site-functions" "$1" | sort > got; printf '%s\n' "${@:2}" | sort | diff - got; }
	zsh_completes 'tracemend che' check
	zsh_completes 'tracemend check --fail' --fail-on
	zsh_completes 'tracemend check --format=sarif-' sarif-github
	zsh_completes 'tracemend gen -f kt' ktrace
	zsh_completes 'tracemend explain fxt/dangling-s' fxt/dangling-string-ref
}

@test "fish completes commands, options, formats and rules" {
	needs fish
	fish_completes() { HOME=$PWD PATH=$(usr)/bin:$PATH fish -c "source $(usr)/share/fish/vendor_completions.d/tracemend.fish; complete -C '$1'" | cut -f 1 > got; printf '%s\n' "${@:2}" | diff - got; }
	fish_completes 'tracemend che' check
	fish_completes 'tracemend check --fail' --fail-on
	fish_completes 'tracemend gen -f kt' ktrace
	fish_completes 'tracemend explain fxt/dangling-s' fxt/dangling-string-ref
}
