#!/usr/bin/env bats
# What may be named as PATH, and the exit codes of what may not.

load helper

@test "a missing file is exit 5" {
	for command in check info; do
		exits 5 "$command" nowhere
		said "nowhere"
	done
	exits 5 repair nowhere -o out
	exits 5 repair nowhere -n
	[ ! -e out ]
}

@test "an unreadable file is exit 5" {
	[ "$(id -u)" != 0 ] || skip "root reads everything"
	make_captures
	chmod 0 valid.bin
	exits 5 check valid.bin
}

@test "FIFOs, sockets and devices are exit 5, and nobody waits for them" {
	mkfifo fifo
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
	for path in fifo socket /dev/null /dev/zero; do
		exits 5 check "$path"
		said "$path"
		exits 5 repair "$path" -o out
	done
	[ ! -e out ]
}

@test "an empty file is exit 4" {
	: > empty
	exits 4 check empty
	said "empty"
	exits 4 repair empty -o out
	exits 4 check - < empty
	[ ! -e out ]
}

@test "a PNG is exit 4" {
	printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde' > picture.png
	exits 4 check picture.png
	exits 4 repair picture.png -o out
	exits 4 info picture.png
	[ ! -e out ]
}

@test "a directory without a capture is exit 4" {
	mkdir -p nothing/here
	exits 4 check nothing
	echo hello > nothing/here/file
	exits 4 check nothing
	exits 4 repair nothing -o out
	[ ! -e out ]
}

@test "a capture is read from a file, from standard input, and out of gzip, whatever it is called" {
	make_captures
	exits 0 check --format=json valid.bin
	records=$(jq '.inputs[0].records' <<< "$output")
	[ "$records" -gt 0 ]
	exits 0 check --format=json - < valid.bin
	[ "$(jq '.inputs[0].records' <<< "$output")" = "$records" ]
	gzip -k valid.bin
	mv valid.bin.gz packed
	exits 0 check --format=json packed
	[ "$(jq '.inputs[0].records' <<< "$output")" = "$records" ]
	exits 1 check - < broken.bin
}

@test "the most serious of several inputs decides" {
	make_captures
	: > empty
	exits 0 check valid.bin valid.bin
	exits 1 check valid.bin broken.bin
	exits 4 check broken.bin empty valid.bin
	exits 4 check empty broken.bin
	exits 5 check nowhere empty broken.bin
	exits 5 check broken.bin empty nowhere
	[[ $output == *"$RULE"* ]] # the others were examined all the same
}

@test "a broken archive never passes as clean" {
	make_captures
	gzip -c valid.bin > packed.gz
	size=$(stat -c %s packed.gz)
	for cut in 1 4 8 9 20; do
		head -c $((size - cut)) packed.gz > cut.gz
		tm check cut.gz
		[ "$status" != 0 ]
	done
}
