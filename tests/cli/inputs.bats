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

@test "files of other formats are named" {
	tell() { # TEXT: of the file "other"
		exits 4 check other
		said "$1"
		rm -r other
	}
	printf 'PERFILE2%s' "$(head -c 100 /dev/zero | tr '\0' x)" > other
	tell "a perf.data file"
	printf '\xc1\x1f\xfc\xc1more' > other
	tell "a CTF 1 stream"
	mkdir other
	printf '/* CTF 1.8 */ trace {}' > other/metadata
	printf '\xc1\x1f\xfc\xc1more' > other/channel0_0
	tell "CTF 1"
	cp "$TRACEMEND" other
	tell "an ELF file"
	printf '\xd4\xc3\xb2\xa1\x02\x00\x04\x00' > other
	tell "a pcap file"
	printf '\x0a\x0d\x0d\x0a\x1c\x00\x00\x00' > other
	tell "a pcapng file"
	printf 'LPKSHHRH\x00\x00\x00\x00' > other
	tell "a systemd journal"
	printf '{"traceEvents": [{"ph": "X", "ts": 1}]}' > other
	tell "Chrome"
	printf '# tracer: nop\n#\n bash-1 [000] 1.0: x\n' > other
	tell "trace-cmd record"
	printf '\x0a\x04\x10\x01\x18\x02\x0a\x02\x10\x01\x0a\x03\x08\x01\x00' > other
	tell "a protobuf trace of Perfetto"
	printf 'PK\x03\x04rest' > other
	tell "ZIP"
	mkdir other
	head -c 100 /dev/zero > other/uftrace-0123456789abcdef-1-000
	tell "--extra"
	printf 'hello\n' > other
	tell "a text file"
	head -c 64 /dev/zero > other
	tell "not a capture of a known format"
}

@test "what archives unpack to has a limit, which can be set" {
	head -c 3000000 /dev/zero > zeros
	gzip -k zeros
	exits 6 check --max-unpacked 1M zeros.gz
	said "unpacks to more than"
	exits 4 check --max-unpacked 3000000 zeros.gz
	exits 6 repair --max-unpacked 1M zeros.gz -o out
	exits 6 info --max-unpacked 1M zeros.gz
	[ ! -e out ]
}

@test "the .cpuN files of two killed trace-cmd recordings are not one capture, those of an instance are" {
	mkdir two instance
	head -c 8192 /dev/zero > page
	for name in two/a.dat two/b.dat instance/a.dat instance/a.dat.first; do
		cp page "$name.cpu0"
	done
	exits 2 repair two -o out
	said two/a.dat.cpu0
	said two/b.dat.cpu0
	[ ! -e out ]
	exits 4 repair instance -o out
	said "nothing can be salvaged"
}

@test "the files of two LTTng recordings in one folder are not one capture, one file of another one is no recording" {
	"$TRACEMEND" gen -q -f lttng -o made --with 2.3 --count 3
	cp -r made/valid-0001 two
	for name in made/valid-0003/*; do
		cp "$name" "two/$(basename "$name")-2"
	done
	exits 2 repair two -o out
	said "files of two recordings"
	said "that of fs_0, which started at 1206738629 s"
	said "that of flight-kernel_0-2, at 1120800441 s"
	[ ! -e out ]
	exits 1 check -q two
	cp -r made/valid-0001 one
	cp made/valid-0003/metadata_0 one/metadata_0-2
	exits 3 repair one -o out
}
