#!/usr/bin/env python3
"""The truth meter's own test: repairs that were spoiled on purpose are each caught, sound ones give five zeros; and the independent parsers
find nothing in the valid captures of the corpus, and something in each that breaks a rule of severity error.

The repairs are made here, from a list of what is copied and what is literal; the program is not asked.
"""
import contextlib
import io
import json
import os
import random
import struct
import sys
import tempfile
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import truth
import truth_aims
import truth_damage
from truth_damage import KINDS, OTHER, Aim, Edit, Hit, Intact, apply, make
from truth_score import Original, Result, score

TOP = os.path.dirname(truth.TESTS)
FIVE = ("lost", "doubted", "altered", "invented", "claims")
FAILED = []
COUNT = 0


def expect(what, condition, shown=""):
    global COUNT
    COUNT += 1
    if not condition:
        FAILED.append(what)
        print(f"FAILED: {what} {shown}")


# ---- a small trace of each format, with the places of its parts ----

def fxt_trace():
    """Two providers with the same indexes, a string and a thread that are registered again."""
    parts = {}
    out = bytearray()

    def add(name, *words, text=b""):
        body = struct.pack(f"<{len(words)}Q", *words) + text + bytes(-len(text) % 8)
        parts[name] = (len(out), len(body))
        out.extend(body)

    def string(name, index, text):
        add(name, 2 | (1 + (len(text) + 7) // 8) << 4 | index << 16 | len(text) << 32, text=text)

    def event(name, time, thread=1, category=1, label=2):
        header = 4 | 4 << 4 | 1 << 20 | thread << 24 | category << 32 | label << 48
        add(name, header, time, 4 | 2 << 4 | 3 << 16, time * 7)

    add("magic", 0x0016547846040010)
    for number, name in ((1, b"first"), (2, b"second")):
        add(f"provider {number}", 2 << 4 | 1 << 16 | number << 20 | len(name) << 52, text=name)
        add(f"initialization {number}", 1 | 2 << 4, 10 ** 9 * number)
        for index, text in ((1, b"category"), (2, b"name of " + name), (3, b"value")):
            string(f"string {number} {index}", index, text)
        add(f"thread {number}", 3 | 3 << 4 | 1 << 16, 100 * number, 100 * number + 1)
        for i in range(4):
            event(f"event {number} {i}", 1000 * number + i)
    add("section 1", 1 << 4 | 2 << 16 | 1 << 20)
    event("event 1 4", 1010)
    add("thread again", 3 | 3 << 4 | 1 << 16, 100, 999)
    event("event 1 5", 1011)
    string("string again", 2, b"another name")
    event("event 1 6", 1012)
    return bytes(out), parts


def ktrace_trace():
    parts = {}
    out = bytearray(struct.pack("<IHHQIIQQIiII", 0x55AA0300, 0, 0, 40, 125, 3, 900, 1500000000, 0, 0, 0, 1))
    parts["header"] = (0, 56)

    def chunk(name, tag, data):
        out.extend(bytes(-len(out) % 8))
        parts[name] = (len(out), 16 + len(data))
        out.extend(struct.pack("<IHHQ", tag, 0, 0, len(data)) + data)

    chunk("threads", 0x1D00, b"".join(struct.pack("<Qi20s", 100 + i, 10 + i, b"process") for i in range(2)))
    records = [struct.pack("<Q4QQIIQ", 1000 + i, i, 2, 3, 4, 100 + i % 2, 0x040C0014, i % 2, 0) for i in range(8)]
    chunk("events", 0x1E00, bytes(8) + b"".join(records))
    for i in range(8):
        parts[f"event {i}"] = (parts["events"][0] + 24 + 64 * i, 64)
    chunk("unknown", 0x4000, b"opaque data")
    return bytes(out), parts


class Bench:
    """One format, its trace, and repairs of it."""

    def __init__(self, name, trace):
        self.parser = truth.parser_of(name)
        self.data, self.parts = trace()
        reading = self.parser.read({"": self.data})
        self.clean = Counter(problem[3] for problem in reading.problems)
        expect(f"{name}: the trace is sound", not reading.problems, reading.problems)
        self.original = Original({"": self.data}, reading.events)
        # As if check saw every hit.
        self.loud = False

    def silent(self, hits):
        """The invisible ones: the independent parser alone is asked."""
        if self.loud:
            return set()
        damaged = [apply({"": self.data}, {0: hit}).files for hit in hits]
        return {n for n, files in enumerate(damaged) if not truth.grown(Counter(p[3] for p in self.parser.read(files).problems), self.clean)}

    def edit(self, part, at, new, length=None):
        return Edit("", self.parts[part][0] + at, len(new) if length is None else length, new)

    def tally(self, edits, plan, code=3, doubts=(), said=False, made=()):
        """edits: one hit each. plan: what the output has, in pieces of the damaged file, as [(from, to) or bytes]; None for no output.
        made: the spans that were dropped for its literals."""
        hits = [Hit([edit]) for edit in edits]
        damaged = apply({"": self.data}, dict(enumerate(hits))).files[""]
        if plan is None:
            return score(self.original, hits, Result(code, None, {}, {}, said), self.parser, self.silent)
        out, segments = bytearray(), []
        for piece in plan(len(damaged)):
            literal = isinstance(piece, bytes)
            new = piece if literal else damaged[piece[0]:piece[1]]
            of = tuple(("", start, end - start) for start, end in made)
            segments.append((len(out), len(new), None if literal else "", of if literal else piece[0]))
            out += new
        result = Result(code, {"": bytes(out)}, {"": segments}, {"": sorted(doubts)} if doubts else {}, said)
        return score(self.original, hits, result, self.parser, self.silent)

    def span(self, part):
        start, length = self.parts[part]
        return start, start + length

    def without(self, *names):
        """A plan: all but these parts, which are in place in the damaged file."""
        spans = sorted(self.span(name) for name in names)

        def plan(size):
            at = 0
            for start, end in spans:
                yield at, start
                at = end
            yield at, size
        return plan

    def replaced(self, part, new):
        """A plan: this part is literal."""
        start, end = self.span(part)
        return lambda size: [(0, start), new, (end, size)]


def same(what, tally, **numbers):
    expected = {key: numbers.get(key, 0) for key in FIVE}
    found = {key: tally[key] for key in FIVE}
    expect(what, found == expected, f"{found}, not {expected}: {tally['found'][:2]}")
    return tally


def WHOLE(size):
    return [(0, size)]


def test_fxt():
    b = Bench("fxt", fxt_trace)
    ruined = [b.edit("event 1 1", 0, bytes(8))]  # a header of zeros: size 0
    same("fxt: nothing is damaged", b.tally([], WHOLE, 0))
    same("fxt: a sound repair drops what was hit", b.tally(ruined, b.without("event 1 1")))
    same("fxt: a sound repair restores the header", b.tally(ruined, b.replaced("event 1 1", b.data[slice(*b.span("event 1 1"))]), 0))
    same("fxt: the same without a word of the loss", b.tally(ruined, b.without("event 1 1"), 0), claims=1)
    same("fxt: \"nothing was lost\" at exit 3", b.tally(ruined, b.without("event 1 1"), 3, said=True), claims=1)
    same("fxt: doubt at exit 0", b.tally([], WHOLE, 0, [b.span("event 1 0")]), doubted=1, claims=1)
    same("fxt: an intact event is dropped, too", b.tally(ruined, b.without("event 1 1", "event 1 2")), lost=1)
    same("fxt: an intact event is dropped, nothing is said", b.tally([], b.without("event 2 2"), 0), lost=1, claims=1)
    same("fxt: intact events are doubted", b.tally(ruined, b.without("event 1 1"), 3, [(b.span("event 1 2")[0], b.span("event 1 3")[1])]), doubted=2)
    same("fxt: no output", b.tally(ruined, None, 4), lost=len(b.original.events) - 1)
    spoiled_fxt(b)
    lost_registrations(b)
    invisible_fxt(b)


def spoiled_fxt(b):
    first, second = b.span("event 1 2"), b.span("event 1 3")
    # The time of the one with the rest of the other, all of it copied.
    swapped = lambda size: [(0, first[0] + 8), (second[0] + 8, second[0] + 16), (first[0] + 16, size)]
    same("fxt: an event gets the time of another", b.tally([], swapped, 3), altered=1)
    double = [Edit("", first[1], 0, ("", first[0], first[1] - first[0]))]
    again = (first[1], first[1] + first[1] - first[0])
    late = [b.edit("event 1 1", 0, bytes(8))]
    tally = same("fxt: a block is doubled, and nothing tells it", b.tally(double, WHOLE, 0))
    expect("fxt: that is invisible", tally["invisible hits"] == 1, tally)
    same("fxt: the same beside a visible hit", b.tally(double + late, b.without("event 1 1"), 3))
    b.loud = True
    same("fxt: a block is doubled, which check tells", b.tally(double, WHOLE, 3), invented=1)
    same("fxt: the same, with one of the two listed", b.tally(double, WHOLE, 3, [again]))
    same("fxt: the same, with the other listed", b.tally(double, WHOLE, 3, [first]))
    b.loud = False
    made = b.data[first[0]:first[0] + 8] + bytes(8) + b.data[first[0] + 16:first[1]]
    same("fxt: an event is made up as a literal", b.tally([], lambda size: [(0, first[0]), made, (first[0], size)], 3), invented=1)
    anew = lambda new, **more: b.tally([], lambda size: [(0, first[0]), new, (first[1], size)], 3, made=[first], **more)
    same("fxt: an event is written anew, as it was", anew(b.data[slice(*first)]))
    same("fxt: the same, and what it was made of is doubtful", anew(b.data[slice(*first)], doubts=[first]), doubted=1)
    same("fxt: an event is made anew as another", anew(made), lost=1, invented=1)
    same("fxt: the same, and what it was made of is doubtful", anew(made, doubts=[first]), lost=1)
    same("fxt: the same, and a part of that is doubtful", anew(made, doubts=[(first[0] + 8, first[1])]), lost=1, invented=1)
    same("fxt: an event comes twice", b.tally([], lambda size: [(0, first[1]), first, (first[1], size)], 3), invented=1)
    same("fxt: events move to another thread", b.tally([], b.without("thread again"), 3), lost=1, altered=2)
    same("fxt: events move to another provider", b.tally([], b.without("section 1"), 3), lost=1, altered=5)
    same("fxt: the same, listed as doubtful", b.tally([], b.without("section 1"), 3, [(b.span("section 1")[1], len(b.data))]), lost=1, doubted=5)
    same("fxt: the tick rate is lost", b.tally([], b.without("initialization 2"), 3), lost=1, altered=4)
    tally = same("fxt: doubt of a rate is not doubt of the times", b.tally([b.edit("initialization 2", 8, bytes(8))], WHOLE, 3,
                                                                           [b.span("initialization 2")]), altered=4)
    expect("fxt: they are counted apart", tally["behind doubt"] == 4, tally["behind doubt"])
    # A type of argument that is not assigned: the event is no longer what it was.
    hit = [b.edit("event 1 2", 16, b"\x2e")]
    same("fxt: a damaged event passed off as sound", b.tally(hit, WHOLE, 3), invented=1)
    same("fxt: the same at exit 0", b.tally(hit, WHOLE, 0), invented=1, claims=1)
    same("fxt: the same, listed", b.tally(hit, WHOLE, 3, [b.span("event 1 2")]))
    # The header is mended, the value that was hit with it stays.
    hit = [b.edit("event 1 2", 16, b"\xff" * 12)]
    start, end = b.span("event 1 2")
    mended = lambda size: [(0, start + 16), b.data[start + 16:start + 24], (start + 24, size)]
    same("fxt: a mended header passes a damaged value off", b.tally(hit, mended, 3), invented=1)


def lost_registrations(b):
    hit = [b.edit("string 2 2", 0, bytes(8))]
    placeholder = struct.pack("<Q", 2 | 3 << 4 | 2 << 16 | 10 << 32) + b"<lost nam>" + bytes(6)
    same("fxt: a placeholder for a string that was hit", b.tally(hit, b.replaced("string 2 2", placeholder), 3))
    same("fxt: the same at exit 0", b.tally(hit, b.replaced("string 2 2", placeholder), 0), claims=1)
    hit = [b.edit("string again", 0, bytes(8))]
    same("fxt: a name that is out of date", b.tally(hit, b.without("string again"), 3), altered=1)
    same("fxt: the same, listed", b.tally(hit, b.without("string again"), 3, [b.span("event 1 6")]))


def invisible_fxt(b):
    hit = [b.edit("event 1 2", 8, b"\x01")]
    tally = same("fxt: a time that was changed cannot be seen", b.tally(hit, WHOLE, 0))
    expect("fxt: it counts as invisible", (tally["invisible hits"], tally["invisible events"]) == (1, 1), tally)
    tally = same("fxt: with a visible hit beside it", b.tally(hit + [b.edit("event 1 1", 0, bytes(8))], b.without("event 1 1"), 3))
    expect("fxt: one of two is invisible", tally["invisible hits"] == 1, tally)
    tally = same("fxt: an invisible index moves events to another thread", b.tally([b.edit("thread again", 2, b"\x05")], WHOLE, 0))
    expect("fxt: they follow from it", tally["invisible events"] >= 3, tally)
    hit = [b.edit("thread again", 2, b"\x05"), b.edit("event 1 1", 0, bytes(8))]
    same("fxt: what follows from the visible one counts", b.tally(hit, b.without("event 1 1", "event 2 2"), 3), lost=1)


def test_ktrace():
    b = Bench("ktrace", ktrace_trace)
    hit = [b.edit("event 3", 56, b"\xff" * 8)]  # a word that must be 0
    same("ktrace: nothing is damaged", b.tally([], WHOLE, 0))
    same("ktrace: damaged events are certified", b.tally(hit, WHOLE, 0), invented=1, claims=1)
    same("ktrace: damaged events are doubted", b.tally(hit, WHOLE, 3, [b.span("event 3")]))
    size_at = b.parts["events"][0] + 8
    short = lambda size: [(0, size_at), struct.pack("<Q", 8 + 64 * 7), (size_at + 8, b.span("event 3")[0]), (b.span("event 3")[1], size)]
    same("ktrace: a damaged event is dropped", b.tally(hit, short, 3))
    wrong = lambda size: [(0, size_at), struct.pack("<Q", 8 + 64 * 6), (size_at + 8, b.span("event 3")[0]), (b.span("event 4")[1], size)]
    same("ktrace: an intact event is dropped with it", b.tally(hit, wrong, 3), lost=1)
    flag = b.parts["header"][0] + 16
    guess = lambda size: [(0, flag), struct.pack("<II", 1, 1), (flag + 8, size)]
    same("ktrace: the timebase is replaced by a guess", b.tally([b.edit("header", 16, bytes(8))], guess, 3), altered=8)
    same("ktrace: an unknown chunk is dropped", b.tally([], b.without("unknown"), 3), lost=1)
    first, second = b.span("event 1"), b.span("event 2")
    moved = lambda size: [(0, first[0] + 48), (second[0] + 48, second[0] + 56), (first[0] + 56, size)]
    same("ktrace: an event gets the CPU of another", b.tally([], moved, 3), altered=1)


class Warned:
    """As if check said a warning, or an error, of each deletion; of what else is hit, the parser is asked."""

    def __init__(self, bench, mild):
        self.bench, self.mild, self.deaf = bench, {0} if mild else set(), False

    def __call__(self, hits):
        return set() if self.deaf or any(edit.new == b"" for hit in hits for edit in hit.edits) else Bench.silent(self.bench, hits)


def test_joints():
    b = Bench("ktrace", ktrace_trace)
    size_at = b.parts["events"][0] + 8
    mended = lambda size: [(0, size_at), struct.pack("<Q", 8 + 64 * 6), (size_at + 8, size)]
    # The first word of one event, the time, with the rest of another.
    joint = [b.edit("event 2", 8, b"", 128)]
    b.silent = Warned(b, mild=True)
    same("ktrace: the joint of a deletion of which check warns is invisible", b.tally(joint, mended, 3))
    same("ktrace: but not as complete", b.tally(joint, mended, 0), claims=1)
    b.silent.deaf = True
    same("ktrace: the joint is visible by itself", b.tally(joint, mended, 3), invented=1)
    b.silent = Warned(b, mild=False)
    same("ktrace: check says an error of the deletion", b.tally(joint, mended, 3), invented=1)
    b.silent = Warned(b, mild=True)
    hit = [b.edit("event 3", 8, b"\1" * 8)]
    b.silent.deaf = True
    same("ktrace: what was not deleted is no joint", b.tally(hit, WHOLE, 3), invented=1)


def test_damage():
    data, _ = fxt_trace()
    data = data * 300
    files = {"": data[:1 << 18]}
    other = {"": bytes(range(256)) * 64}
    structure = [("", 0, 8, "magic"), ("", 64, 30, "header"), ("", 128, 77, "header")]
    aim = Aim(files, structure)
    reached = {aim.byte(k)[1] for k in range(2 * 107)}
    expect("damage: each byte of the structure is hit", reached == {*range(8), *range(64, 94), *range(128, 205)}, len(reached))
    for kind in KINDS:
        for k in range(4):
            hits = make(kind, files, other, (), True, aim, k, random.Random(k))
            if not hits:
                continue
            whole = {**files, OTHER: other[""]}
            damaged = apply(whole, dict(enumerate(hits)))
            out = damaged.files.get("", b"")
            pieces = damaged.pieces.get("", ())
            rebuilt = all(p.file is None or whole[p.file][p.origin:p.origin + p.length] == out[p.start:p.start + p.length] for p in pieces)
            expect(f"damage: {kind}: pieces say where bytes come from", rebuilt and sum(p.length for p in pieces) == len(out))
            intact = Intact(damaged)
            for at in range(0, len(data[:1 << 18]) - 40, 4099):
                for name, start in intact.find("", at, 40):
                    expect(f"damage: {kind}: an intact range is the same", damaged.files[name][start:start + 40] == files[""][at:at + 40])
    lines = {"one": b"a\nb\nc\n", "two": b"x\n"}
    for kind in ("line deleted", "line doubled", "character changed", "file deleted", "file emptied", "file renamed", "file doubled"):
        damaged = apply(lines, dict(enumerate(make(kind, lines, None, ("one",), False, Aim(lines, ()), 0, random.Random(1)))))
        expect(f"damage: {kind}: something is different", damaged.files != lines)


class Lines:
    """A format of folders: each line is an event, which needs the file "info"."""

    REGISTRATIONS, PLACEHOLDERS = set(), set()

    @staticmethod
    def read(files, places=False):
        events = []
        for name, data in sorted(files.items()):
            needs = (("info", 0, 4),) if name != "info" and "info" in files else ()
            events += [(name, ((start, end - start),), data[start:end], needs, "line") for start, end in truth_damage.lines(data)]
        return truth.Reading(events, [] if "info" in files else [("", 0, 0, "no info")])


def test_folder():
    """Files that go, come and change their name."""
    files = {"info": b"abc\n", "one": b"a\nb\n", "two": b"c\nd\n"}
    original = Original(files, Lines.read(files).events)

    def tally(hit, code=3, drop=()):
        damaged = apply(files, {0: hit})
        out = {name: data for name, data in damaged.files.items() if name not in drop}
        segments = {name: [(0, len(data), name, 0)] for name, data in out.items()}
        return score(original, [hit], Result(code, out, segments, {}, False), Lines, lambda hits: set())

    same("folder: a file is deleted", tally(Hit((), ("two",))))
    same("folder: the same at exit 0", tally(Hit((), ("two",)), 0), claims=1)
    same("folder: what is needed is deleted", tally(Hit((), ("info",))))
    same("folder: a file has another name", tally(Hit((), (), {"one": "three"}), 0))
    same("folder: it is dropped for that", tally(Hit((), (), {"one": "three"}), 3, ["three"]), lost=2)
    same("folder: a file comes twice", tally(Hit((), (), {}, {"one": "three"}), 0))
    same("folder: lines are swapped", tally(Hit([Edit("one", 0, 4, ("two", 0, 4)), Edit("two", 0, 4, ("one", 0, 4))]), 0))


def test_program():
    """A parser that is a program answers as the module does."""
    with tempfile.TemporaryDirectory() as folder:
        path, trace = os.path.join(folder, "parser"), os.path.join(folder, "trace.fxt")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\nexec {sys.executable} {os.path.abspath(truth.__file__)} --list "$1" fxt ${{2:+"$2"}}\n')
        os.chmod(path, 0o755)
        with open(trace, "wb") as f:
            f.write(fxt_trace()[0][:-8])
        module, program = truth.parser_of("fxt"), truth.Program(path)
        files = truth.files_of(trace)
        ours, theirs = module.read(files, True), program.read(files, True)
        for what in ("events", "problems", "structure"):
            expect(f"program: {what}", getattr(ours, what) == getattr(theirs, what) and getattr(ours, what))
        expect("program: about", (program.SUFFIX, program.REGISTRATIONS, program.JOINABLE) == (module.SUFFIX, module.REGISTRATIONS, module.JOINABLE))


def test_aims():
    """Ceilings are judged, in both directions; none is below its target, or for a format or number that is not there."""
    tally = {"kind": "one bit", "capture": "one", "exit": 3, "found": [], "events": 1000, "lost": 1, "doubted": 11, "altered": 0, "invented": 2, "claims": 0}
    rows = [("ALL, ONE HIT", [tally]), ("ALL", [tally])]

    def judged(ceilings, faults=(), exit_code=0):
        verdicts = truth_aims.Verdicts(None)
        verdicts.ceilings = {"fxt": ceilings}
        with contextlib.redirect_stdout(io.StringIO()) as said:
            verdicts.judge("fxt", [tally, {**tally, "kind": "undamaged", "exit": exit_code}], rows, dict(faults))
            verdicts.end()
        return verdicts.failed, said.getvalue()

    expect("aims: what is above its target fails", judged({})[0] == 2, judged({})[1])
    expect("aims: ceilings allow it", judged({"invented": 2, "doubted, one hit": 1.1})[0] == 0)
    expect("aims: and no more", judged({"invented": 1, "doubted, one hit": 1.1})[0] == 1)
    expect("aims: a ceiling that is no longer needed is named", "take its ceiling out" in judged({"claims": 5})[1])
    expect("aims: exit 70 fails", judged({"invented": 2, "doubted, one hit": 1.1}, {"exit 70": 1})[0] == 1)
    expect("aims: a sound capture at exit 3 fails", judged({"invented": 2, "doubted, one hit": 1.1}, (), 3)[0] == 1)
    for part, formats in truth_aims.CEILINGS.items():
        for name, ceilings in formats.items():
            for number, ceiling in ceilings.items():
                expect(f"aims: {part}, {name}: {number}", part in truth_aims.PARTS and truth.parser_of(name) and ceiling > truth_aims.NUMBERS[number][2])


def test_corpus():
    """The parsers know what is valid, and see each rule that is an error."""
    for name in ("fxt", "ktrace"):
        parser, folder = truth.parser_of(name), os.path.join(TOP, "corpus", name)
        with open(os.path.join(folder, "expectations.jsonl"), encoding="utf-8") as f:
            entries = [json.loads(line) for line in f]
        for entry in entries:
            kind, _, base = entry["file"].partition("/")
            if not base.endswith(parser.SUFFIX) or kind not in ("valid", "invalid"):
                continue
            problems = parser.read(truth.files_of(os.path.join(folder, entry["file"]))).problems
            if kind == "valid":
                expect(f"{entry['file']}: the parser finds nothing", not problems, problems[:1])
            elif entry["check"] == 1:
                expect(f"{entry['file']}: the parser finds something", problems)


def main():
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            test()
    print(f"{COUNT - len(FAILED)} of {COUNT} expectations hold")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
