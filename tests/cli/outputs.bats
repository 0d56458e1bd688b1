#!/usr/bin/env bats
# Where repair writes: default names, several inputs, in place.

load helper

@test "without -o, the output is beside the input, and nothing is replaced" {
	make_captures
	mkdir sub
	cp broken.bin sub/a.fxt
	exits 3 repair sub/a.fxt
	said "written to sub/a.mended.fxt"
	exits 0 check -q sub/a.mended.fxt
	cmp broken.bin sub/a.fxt
	before=$(sha256sum sub/*)
	exits 2 repair sub/a.fxt
	said "sub/a.mended.fxt exists already"
	[ "$before" = "$(sha256sum sub/*)" ]
	gzip -c broken.bin > b.fxt.gz
	tm repair b.fxt.gz
	cmp b.mended.fxt sub/a.mended.fxt
	cp broken.bin noextension
	exits 3 repair noextension
	cmp noextension.mended sub/a.mended.fxt
	"$TRACEMEND" gen -q -f uftrace -o dirs > /dev/null
	exits 0 repair dirs/valid-0001/
	diff -r dirs/valid-0001 dirs/valid-0001.mended
}

@test "in place: the input keeps its bytes under another name" {
	make_captures
	cp broken.bin a.fxt
	exits 3 repair a.fxt -o mended
	exits 3 repair --in-place a.fxt
	said "a.fxt.orig"
	cmp a.fxt mended
	cmp a.fxt.orig broken.bin
	exits 2 repair --in-place a.fxt
	said "a.fxt.orig exists already"
	rm a.fxt.orig
	exits 0 repair --in-place a.fxt # nothing to do: nothing is renamed
	[ ! -e a.fxt.orig ]
	cp broken.bin b.fxt
	gzip b.fxt
	exits 2 repair --in-place b.fxt.gz
	said "--in-place is not possible"
	[ -f b.fxt.gz ] && [ ! -e b.fxt.gz.orig ]
	"$TRACEMEND" gen -q -f uftrace -o dirs --rule uftrace/dat-trailing-bytes > /dev/null
	name=$(basename dirs/*-0001)
	cp -r "dirs/$name" kept
	tm repair --in-place "dirs/$name"
	[ "$status" = 0 ] || [ "$status" = 3 ]
	diff -r kept "dirs/$name.orig"
	exits 0 check -q "dirs/$name"
	[ -z "$(find . -name '.*tracemend*')" ]
}

@test "several inputs go into a directory; the most serious exit code wins" {
	make_captures
	mkdir in
	cp broken.bin in/a.fxt
	cp valid.bin in/b.fxt
	exits 3 repair in/a.fxt in/b.fxt -o out
	exits 0 check -q out/a.fxt out/b.fxt
	cmp in/b.fxt out/b.fxt
	exits 5 repair in/a.fxt nowhere in/b.fxt -o again
	cmp out/a.fxt again/a.fxt && cmp out/b.fxt again/b.fxt
	: > file
	exits 2 repair in/a.fxt in/b.fxt -o file
	exits 3 repair in/a.fxt in/b.fxt
	cmp in/a.mended.fxt out/a.fxt && cmp in/b.mended.fxt out/b.fxt
	exits 1 repair -n in/a.fxt in/b.fxt
	[ "$(grep -c "^in/[ab].fxt: " <<< "$output")" = 2 ]
}

@test "a compressed name is not that of a compressed output, and this is said" {
	make_captures
	gzip -c broken.bin > x.fxt.gz
	tm repair x.fxt.gz -o y.fxt.gz
	said "y.fxt.gz, which is not compressed"
	exits 0 check -q y.fxt.gz
}
