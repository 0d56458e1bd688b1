#!/usr/bin/env python3
"""Damaged captures, repaired, in front of a real reader: Perfetto must load what repair wrote, and show the slices of the
undamaged capture less those that were hit.

For each kind of damage and seed: damage, check, repair, check again, repair again, rebuild from the manifest, load. What
Perfetto should show is worked out here, by a decoder of its own: the begins and ends of the undamaged capture whose records
survive, as the manifest has it, matched thread by thread in the order of time. It must show exactly that, so a slice that is
gone or has another duration is one whose begin or end is among the records that were lost, or that stood around one.

    perfetto_damage.py [--tool PATH] [--cases N] [--first SEED] [--capture FILE] [--kind KIND] [--verbose]
Without --capture, one is made up. Exit 1 when a case fails. scripts/perfetto-setup.sh must have fetched the reader.
"""
import argparse
import collections
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import TESTS, Problem, execute, read, require, verify  # noqa: E402
from verify_manifest import ranges_of, segments_of  # noqa: E402
import fxt_parse  # noqa: E402

# Hits of eight bytes, as many as the name says, and of a hundred intact records how many may be lost by them.
HITS = {"25 hits": 0.2, "100 hits": 0.5, "400 hits": 2.0}
KINDS = ("bitflip", "zeros", "cut", "insert", *HITS)
BYTES_A_HIT = 2048  # a capture with more damage than that is left out
STRING, THREAD, EVENT = 2, 3, 4
INSTANT, COUNTER, BEGIN, END, COMPLETE = range(5)
INLINE = 0x8000


# ---- a capture, when there is no real one ----

def text(data):
    return data + bytes(-len(data) % 8)


def made_up(events=6000):
    """Calls on two threads, as a function tracer writes them: strings before their first use, two arguments a begin."""
    rng = random.Random(1)
    out = [struct.pack("<Q", fxt_parse.MAGIC), struct.pack("<Q", 2 << 4 | 1 << 16 | 7 << 52), text(b"made up"),
           struct.pack("<QQ", 1 | 2 << 4, 10 ** 9)]
    strings = {}

    def string(name):
        if name not in strings:
            strings[name] = len(strings) + 1
            data = name.encode()
            out.append(struct.pack("<Q", STRING | (1 + -(-len(data) // 8)) << 4 | strings[name] << 16 | len(data) << 32) + text(data))
        return strings[name]

    for index in 1, 2:
        out.append(struct.pack("<QQQ", THREAD | 3 << 4 | index << 16, 100, 100 + index))
    stacks = {1: [], 2: []}
    now = 1000
    for n in range(events):
        now += rng.choice((0, 0, 1, 5, 40))
        thread = rng.choice((1, 2))
        stack = stacks[thread]
        if len(stack) < 2 or (len(stack) < 12 and rng.random() < 0.5):
            name, address, symbol = string(f"function_{rng.randrange(300)}"), string("address"), string("symbol")
            stack.append(name)
            out.append(struct.pack("<QQ", EVENT | 5 << 4 | BEGIN << 16 | 2 << 20 | thread << 24 | name << 48, now))
            out.append(struct.pack("<QQ", 7 | 2 << 4 | address << 16, 0x400000 + n) + struct.pack("<Q", 6 | 1 << 4 | symbol << 16 | name << 32))
        else:
            out.append(struct.pack("<QQ", EVENT | 2 << 4 | END << 16 | thread << 24 | stack.pop() << 48, now))
    return b"".join(out)


# ---- damage ----

def damage(kind, data, spans, seed):
    """The damaged bytes, and the function from an undamaged offset to where it is now, or None."""
    rng = random.Random(f"{kind} {seed}")
    out = bytearray(data)
    if kind == "bitflip":
        start, _ = rng.choice(spans)
        bit = rng.randrange(64)
        out[start + bit // 8] ^= 1 << bit % 8
        return bytes(out), lambda at: at
    if kind in HITS:
        for _ in range(int(kind.split()[0])):
            at = rng.randrange(len(data) - 8)
            out[at:at + 8] = rng.randbytes(8)
        return bytes(out), lambda offset: offset
    at = rng.randrange(8, len(data))
    if kind == "zeros":
        out[at:at + 512] = bytes(len(out[at:at + 512]))
        return bytes(out), lambda offset: offset
    if kind == "cut":
        return bytes(out[:at]), lambda offset: offset if offset < at else None
    out[at:at] = rng.randbytes(100)
    return bytes(out), lambda offset: offset if offset < at else offset + 100


# ---- what a viewer should show ----

def inline(record, at, ref):
    length = ref & (INLINE - 1)
    return record[at:at + length], at + (length + 7) // 8 * 8


class Viewer:
    """Slices from records that are fed in the order of the file."""

    def __init__(self):
        self.strings, self.threads, self.events, self.unshown = {0: b""}, {}, [], 0

    def feed(self, record):
        header, = struct.unpack_from("<Q", record)
        kind, ref = header & 15, header >> 24 & 0xff
        if kind == 0 and header >> 16 & 15 == 1:
            self.strings, self.threads = {0: b""}, {}
        elif kind == STRING and header >> 16 & 0x7fff:
            self.strings[header >> 16 & 0x7fff] = record[8:8 + (header >> 32 & 0x7fff)]
        elif kind == THREAD:
            self.threads[header >> 16 & 0xff] = struct.unpack_from("<QQ", record, 8)
        elif kind == EVENT:
            time, = struct.unpack_from("<Q", record, 8)
            at, category, name = 16, header >> 32 & 0xffff, header >> 48
            thread = self.threads.get(ref, (0, 0))
            if not ref:
                thread, at = struct.unpack_from("<QQ", record, at), at + 16
            if category & INLINE:
                at = inline(record, at, category)[1]
            named = inline(record, at, name)[0] if name & INLINE else self.strings.get(name, b"")
            tail = struct.unpack_from("<Q", record, len(record) - 8)[0]
            if time >> 63:
                self.unshown += 1  # a reader has no such time, and says so
                return
            self.events.append((time, header >> 16 & 15, named, tuple(k & 0xffffffff for k in thread), tail))

    def slices(self):
        """Counter of (ts, dur, name, pid, tid), and whether events came whose slices this does not know how to count."""
        out, unknown = [], False
        stacks = collections.defaultdict(list)
        for time, event, name, thread, tail in sorted(self.events, key=lambda e: e[0]):
            name = name.split(b"\0")[0].decode("utf-8", "replace")
            if event in (INSTANT, BEGIN, COMPLETE):
                if event == BEGIN:
                    stacks[thread].append(len(out))
                out.append([time, {INSTANT: 0, BEGIN: -1, COMPLETE: tail - time}[event], name, *thread])
            elif event == END and stacks[thread]:
                begun = out[stacks[thread].pop()]
                begun[1] = time - begun[0]
            elif event > COMPLETE:
                unknown = True
        return collections.Counter(map(tuple, out)), unknown


# ---- one case ----

class Case:
    def __init__(self, options, kind, seed, capture, work):
        self.kind, self.seed = kind, seed
        stem = os.path.join(work, f"{kind}-{seed}")
        self.damaged, self.repaired, again, manifest_path = (stem + end for end in (".fxt", "-repaired.fxt", "-again.fxt", ".json"))
        data, where = damage(kind, capture.data, capture.spans, seed)
        with open(self.damaged, "wb") as f:
            f.write(data)
        code = execute(options.tool, "check", "-f", "fxt", "-q", self.damaged).returncode
        require(code in (0, 1), f"check exits {code}")
        self.visible = code == 1
        code = execute(options.tool, "repair", "-f", "fxt", self.damaged, "-o", self.repaired, "--manifest", manifest_path).returncode
        require(code in (0, 3), f"repair exits {code}")
        require(execute(options.tool, "check", "-f", "fxt", "-q", self.repaired).returncode == 0, "what was repaired is not clean")
        # 3: its bytes are as they should be, and still nobody knows whether something is missing.
        code = execute(options.tool, "repair", "-f", "fxt", self.repaired, "-o", again).returncode
        require(code in (0, 3), f"a second repair exits {code}")
        output = read(self.repaired)
        require(read(again) == output, "a second repair changes something")
        os.remove(again)
        require(self.visible or output == data, "damage that check does not see, and repair changes")
        with open(manifest_path, encoding="utf-8") as f:
            manifest = json.load(f)
        verify(manifest, self.repaired)
        self.account(capture, data, where, output, manifest)

    def account(self, capture, data, where, output, manifest):
        """Which records of the undamaged capture are in the output, and what else is."""
        came = {}  # offset in the output of a record that came whole from the damaged file: offset there
        runs = [s for s in segments_of(manifest["outputs"][0]) if "bytes" not in s and not s.get("why")]
        output_spans = fxt_parse.chain(output)
        require(output_spans and output_spans[-1][1] == len(output), "the output is no chain of records")
        merged = []
        for run in runs:
            if merged and merged[-1][0] + merged[-1][1] == run["offset"] and merged[-1][2] + merged[-1][1] == run["from"]:
                merged[-1][1] += run["length"]
            else:
                merged.append([run["offset"], run["length"], run["from"]])
        doubtful = list(ranges_of(manifest, "doubtful"))
        at = 0
        for start, end in output_spans:
            while at < len(merged) and merged[at][0] + merged[at][1] <= start:
                at += 1
            if at < len(merged) and merged[at][0] <= start and end <= merged[at][0] + merged[at][1]:
                came[start] = start - merged[at][0] + merged[at][2]
        intact = {}  # offset in the damaged file of a record that is whole there: its span in the undamaged one
        for start, end in capture.spans:
            first, last = where(start), where(end - 1)
            if last is not None and last - first == end - 1 - start and data[first:last + 1] == capture.data[start:end]:
                intact[first] = (start, end)
        spans = {came[start]: (start, end) for start, end in output_spans if start in came}
        self.kept = {intact[a] for a in spans if a in intact and spans[a][1] - spans[a][0] == intact[a][1] - intact[a][0]}
        self.hit = len(capture.spans) - len(intact)
        self.lost = len(capture.spans) - len(self.kept)
        self.foreign = len(output_spans) - len(self.kept)
        self.unlisted = 0
        model = Viewer()
        for start, end in output_spans:
            origin = intact.get(came.get(start))
            if origin in self.kept:
                model.feed(capture.data[origin[0]:origin[1]])
                continue
            model.feed(output[start:end])
            if start in came:
                doubts = any(d["from"] < came[start] + end - start and came[start] < d["from"] + d["length"] for d in doubtful)
                self.unlisted += not doubts
        self.slices, self.unknown = model.slices()
        self.unshown = model.unshown
        claimed, exact = manifest["records"]["dropped"], manifest["records"]["dropped_is"] == "exact"
        require(claimed <= self.lost, f"{self.lost} records are gone, and the manifest counts {claimed}")
        require(not exact or not self.visible or claimed + self.foreign >= self.lost,
                f"{self.lost} records are gone, {self.foreign} stand for them, and the manifest counts exactly {claimed}")
        most = HITS.get(self.kind, 0) / 100 * len(intact)
        require(0 <= self.lost - self.hit <= most, f"{self.hit} records were hit, and {self.lost} are gone")
        # What hits make of an argument, nobody sees.
        require(not self.visible or not self.unlisted or self.kind in HITS, f"{self.unlisted} records are no longer what they were, and the manifest does not say so")

    def compare(self, capture, seen):
        require(not seen["error"], f"Perfetto: {seen['error']}")
        require(seen["trace_type"] == "fuchsia", f"Perfetto takes it for {seen['trace_type']!r}")
        bad = {name for name in seen["stats"] if name.startswith("fuchsia_")} - ({"fuchsia_timestamp_overflow"} if self.unshown else set())
        require(not self.visible or not bad, f"Perfetto complains: {bad}")
        shown = seen["slices"]
        self.shown, self.same = sum(shown.values()), sum((shown & capture.slices).values())
        if self.unknown:
            return
        wrong = (shown - self.slices) + (self.slices - shown)
        require(not wrong, f"Perfetto shows {sum(wrong.values())} slices otherwise than they survive, as {next(iter(wrong), None)}")


class Capture:
    def __init__(self, data):
        self.data, self.spans = data, fxt_parse.chain(data)
        require(self.spans and self.spans[-1][1] == len(data), "the undamaged capture is no chain of records")
        model = Viewer()
        for start, end in self.spans:
            model.feed(data[start:end])
        self.slices, unknown = model.slices()
        require(not unknown, "the undamaged capture has events that are not modelled here")


def perfetto(paths):
    seen = {}
    with tempfile.TemporaryFile() as answers:  # node cuts what it has not yet written to a pipe when it exits
        subprocess.run(["node", os.path.join(TESTS, "readers/perfetto_count.mjs"), "--slices", *paths], stdin=subprocess.DEVNULL,
                       stdout=answers, stderr=subprocess.DEVNULL, timeout=60 + 5 * len(paths), check=False)
        answers.seek(0)
        for line in answers:
            entry = json.loads(line)
            entry["slices"] = collections.Counter((int(ts), int(dur), *rest) for ts, dur, *rest in entry["slices"])
            seen[entry["file"]] = entry
    return seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--cases", type=int, default=4)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--capture")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    capture = Capture(read(options.capture) if options.capture else made_up())
    passed = failed = 0
    print(f"{'damage':8} {'cases':>6} {'visible':>8} {'hit':>6} {'lost':>6} {'added':>6} {'slices':>9} {'shown':>9} {'as before':>10} {'failed':>7}")
    for kind in [options.kind] if options.kind else KINDS:
        if kind in HITS and int(kind.split()[0]) * BYTES_A_HIT > len(capture.data):
            continue
        total = collections.Counter()
        with tempfile.TemporaryDirectory(prefix="tracemend-perfetto-") as work:
            whole = os.path.join(work, "whole.fxt")
            with open(whole, "wb") as f:
                f.write(capture.data)
            cases = []
            for seed in range(options.first, options.first + options.cases):
                try:
                    cases.append(Case(options, kind, seed, capture, work))
                except Problem as problem:
                    print(f"{kind} {seed}: {problem}", file=sys.stderr)
                    total["failed"] += 1
            seen = perfetto([whole] + [case.repaired for case in cases])
            require(whole in seen and seen[whole]["slices"] == capture.slices,
                    "of the undamaged capture, Perfetto shows other slices than were counted here")
            for case in cases:
                try:
                    require(case.repaired in seen, "Perfetto stopped")
                    case.compare(capture, seen[case.repaired])
                    total["passed"] += 1
                    total.update(visible=case.visible, hit=case.hit, lost=case.lost, added=case.foreign, shown=case.shown, same=case.same,
                                 slices=sum(capture.slices.values()))
                    if options.verbose:
                        print(f"{kind} {case.seed}: {case.hit} records hit, {case.lost} lost, {case.foreign} others; "
                              f"{case.shown} slices, {case.same} as before{'' if case.visible else '; not visible'}")
                except Problem as problem:
                    print(f"{kind} {case.seed}: {problem}", file=sys.stderr)
                    total["failed"] += 1
        passed += total["passed"]
        failed += total["failed"]
        print(f"{kind:8} {options.cases:6} {total['visible']:8} {total['hit']:6} {total['lost']:6} {total['added']:6} {total['slices']:9} "
              f"{total['shown']:9} {total['same']:10} {total['failed']:7}", flush=True)
    print(f"repaired captures in Perfetto: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
