#!/usr/bin/env bats
# What a killed trace-cmd record leaves: the files of the CPUs, a trace.dat that was begun, and donors of other machines; and a killed uftrace.
load helper
TOP=$HERE/../..

pages_of() { # FILE CPU OUT: the pages of a CPU of an uncompressed version 6 capture
	python3 - "$@" << 'EOP'
import sys
data = open(sys.argv[1], "rb").read()
order = "big" if data[12] else "little"
at = data.index(b"flyrecord\0") + 10 + 16 * int(sys.argv[2])
offset, size = (int.from_bytes(data[at + i:at + i + 8], order) for i in (0, 8))
assert size
open(sys.argv[3], "wb").write(data[offset:offset + size])
EOP
}

# A copy of the real one; skips without it.
samples() {
	real=$TOP/../shared/samples/tracedat
	[ -d "$real/killed-record" ] || skip "no real captures"
	cp -r "$real/killed-record" killed
	chmod -R u+w killed
}

@test "a trace.dat with events of its own beside .cpuN files is another recording" {
	mkdir both
	cp "$TOP/corpus/tracedat/valid/valid-59.dat" both/trace.dat
	cp "$TOP/corpus/tracedat/invalid/recorder-killed.dat" both/trace.dat.cpu0
	exits 2 repair both -o out
	said both/trace.dat
	said both/trace.dat.cpu0
	[ ! -e out ]
	exits 4 repair -f tracedat both -o out
	said "give each a folder of its own"
	exits 4 repair both/trace.dat --extra both/trace.dat.cpu0 -o out
	said "events of its own"
	exits 1 check both
	[ ! -e out ]
}

@test "a trace.dat into which the files of the CPUs were copied already is of the same recording" {
	mkdir same
	whole=$TOP/corpus/tracedat/valid/valid-29.dat
	cp "$whole" same/trace.dat
	pages_of "$whole" 0 same/trace.dat.cpu0
	pages_of "$whole" 1 same/trace.dat.cpu1
	exits 3 repair same -o out
	exits 0 check out
	[ "$("$TRACEMEND" dump out | grep -c " event ")" = "$("$TRACEMEND" dump "$whole" | grep -c " event ")" ]
}

@test "a file of a CPU that is missing or empty is named" {
	mkdir gap
	pages_of "$TOP/corpus/tracedat/valid/valid-29.dat" 0 gap/trace.dat.cpu1
	exits 1 check gap
	grep -q "there is no file of CPU 0" <<< "$output"
	exits 3 repair gap --donor "$TOP/corpus/tracedat/valid/valid-29.dat" -o out
	said "there is no file of CPU 0"
	said "so is the clock"
	: > gap/trace.dat.cpu0
	exits 1 check gap
	grep -q "1 of the files is empty" <<< "$output"
	: > gap/trace.dat.cpu1
	exits 4 repair gap --donor "$TOP/corpus/tracedat/valid/valid-29.dat" -o other
	said "no page of the .cpuN files can be read"
}

@test "a donor of another machine is named as such" {
	mkdir one
	pages_of "$TOP/corpus/tracedat/valid/valid-29.dat" 0 one/trace.dat.cpu0
	exits 4 repair one --donor "$TOP/corpus/tracedat/valid/valid-40.dat" -o out
	said "of another machine: big-endian, longs of 8 bytes"
	exits 4 repair one --donor "$TOP/corpus/tracedat/valid/valid-28.dat" -o out
	said "of another machine: little-endian, longs of 4 bytes"
	[ ! -e out ]
}

@test "killed recordings of a real recorder: what is not there is not claimed" {
	samples
	exits 3 repair killed --donor "$real/v7-none.dat" -o whole
	said "every record in the file was kept"
	truncate -s 1000000 killed/trace.dat.cpu0
	exits 3 repair killed --donor "$real/v6.dat" -o cut
	said "the records that could be read were kept"
	exits 4 repair killed --donor "$real/v7-syscalls.dat" -o none
	said "records can be decoded with it; event ID 443 has no format"
	head -c 7000 "$real/v7-none.dat" > killed/trace.dat
	exits 4 repair killed -o none
	said "the unfinished trace.dat does not fit"
	head -c 20000 "$real/v7-none.dat" > killed/trace.dat
	exits 3 repair killed -o begun
	said "the clock is taken to be local"
	if command -v trace-cmd > /dev/null; then
		[ "$(timeout 60 trace-cmd report whole 2> errors | grep -c ': ')" = 68718 ]
		[ "$(timeout 60 trace-cmd report cut 2>> errors | grep -c ': ')" = 46172 ]
		[ "$(timeout 60 trace-cmd report begun 2>> errors | grep -c ': ')" = 46172 ]
		[ ! -s errors ]
	fi
}

@test "the symbols of a trace.dat that is cut inside of them are not taken for latency output" {
	python3 - "$TOP/corpus/tracedat/valid/valid-29.dat" << 'EOP'
import re, sys
data = open(sys.argv[1], "rb").read()
order = "big" if data[12] else "little"
at = data.index(b"\n", data.rindex(b"print fmt:", 0, data.index(b"flyrecord")))
lines = re.compile(rb"[0-9a-f]{8,16} [A-Za-z] [^\n]+\n").search(data, at).start()
text = b"".join(b"%016x T symbol_%d\n" % (0xffffffff81000000 + 16 * i, i) for i in range(400))
open("cut.dat", "wb").write(data[:lines - 4] + len(text).to_bytes(4, order) + text[:9000])
EOP
	exits 1 check cut.dat
	grep -q "the file ends before the CPU table" <<< "$output"
	grep -q " 0 records" <<< "$output"
	! grep -q "latency" <<< "$output"
}

@test "a sound recording of the same program has the symbols and specifications of a killed uftrace" {
	mkdir whole
	tar xf "$TOP/corpus/uftrace/valid/valid-08.tar" -C whole
	cp -r whole killed
	rm killed/info killed/*.sym killed/libcart.so.1.dbg
	exits 3 repair killed --donor whole -o out
	exits 0 check out
	for f in shop.sym worker.sym libcart.so.1.sym libcart.so.1.dbg libstock-2.0.so.sym 1644.dat 1645.dat 1646.dat; do
		cmp "whole/$f" "out/$f"
	done
	[ "$(grep -a ^retauto: out/info)" = "$(grep -a ^retauto: whole/info | sed 's/;$//')" ]
}

@test "symbols of another build are not taken" {
	mkdir whole
	tar xf "$TOP/corpus/uftrace/valid/valid-08.tar" -C whole
	cp -r whole killed
	rm killed/info killed/*.sym
	sed -i 's/^# build-id: ..../# build-id: 0000/' whole/*.sym
	exits 3 repair killed --donor whole -o out
	exits 0 check out
	! grep -q "build-id: 0000" out/*.sym
}

@test "a trace.dat that got as far as its options names the clock, the trace id and the statistics, also beside a donor" {
	mkdir begun
	whole=$TOP/corpus/tracedat/valid/valid-29.dat
	pages_of "$whole" 0 begun/trace.dat.cpu0
	pages_of "$whole" 1 begun/trace.dat.cpu1
	python3 -c 'import sys
data = open(sys.argv[1], "rb").read()
open("begun/trace.dat", "wb").write(data[:data.index(b"flyrecord\0") + 10])' "$whole"
	for donor in "" "--donor $TOP/corpus/tracedat/valid/valid-28.dat"; do
		# shellcheck disable=SC2086
		exits 3 repair begun $donor -o out
		said "the metadata is that of trace.dat; CPU 0"
		exits 0 info out
		grep -q "clock global" <<< "$output"
		python3 - "$whole" out << 'EOP'
import sys
def options(path):
    data = open(path, "rb").read()
    at, out = data.index(b"options  \0") + 10, []
    while data[at:at + 2] != b"\0\0":
        size = 6 + int.from_bytes(data[at + 2:at + 6], "little")
        out.append(data[at:at + size])
        at += size
    return out
assert len(options(sys.argv[1])) > 3 and options(sys.argv[1]) == options(sys.argv[2])
EOP
		rm out
	done
}
