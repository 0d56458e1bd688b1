#!/usr/bin/env python3
"""Single hits to numbers of a trace.dat that become another valid one, in small generated captures: the offset of an instance becomes that of
another buffer, the ID of a format that of another, a CPU the one beside it; or a byte of a count text. And bytes that are
inserted in a page, or removed, behind which all that was not hit stands moved. After repair the truth meter's numbers (tests/lib/truth_score.py) are judged: nothing altered,
nothing invented, nothing claimed, no event lost. And what is no hit: the number of an option of a later version is no error.

    hits.py [--tool PROGRAM] [--seeds N] [--part PART] [--only PART:SEED:OFFSET]
--seeds  captures of each part (default 4)
--part   one of the parts: option, offset, id, cpu, systems, shift, header, instance, page
--only   one hit again, by what the output calls it, with what was found
The last line is "N passed, M failed"."""
import argparse
import json
import os
import random
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
import truth  # noqa: E402
import truth_score  # noqa: E402
from truth_damage import Edit, Hit, apply  # noqa: E402

BUFFER, DATE, VERSION = 3, 1, 9
FEATURES = {"option": (("v6",), ("v7", "plain")), "offset": (("v6", "instances"),), "id": (("v6", "kernel-events"),),
            "cpu": (("v7", "plain"),), "systems": (("v6",),), "shift": (("v6",), ("v7", "plain")),
            "header": (("v6",), ("v7", "plain")), "instance": (("v6", "instances"),), "page": (("v6", "instances"),)}
# Further seeds with which something was wrong once.
ONCE = {"offset": (11, 14), "cpu": (16,), "id": (9,)}
# Of a page with a shift, the records on both sides of it may be lost.
BESIDE = 4


def generated(tool, seed, features):
    """A capture, or None where the seed makes none with events."""
    folder = tempfile.mkdtemp(dir=tool.work)
    named = [word for feature in features for word in ("--with", feature)]
    code, _, talk = tool.run("gen", "-q", "-f", "tracedat", "--seed", str(seed), *named, "-o", folder)
    if code != 0:
        sys.exit(f"gen --seed {seed} {' '.join(named)}: {talk.decode(errors='replace')}")
    with open(os.path.join(folder, "labels.jsonl"), encoding="utf-8") as f:
        files = truth.files_of(os.path.join(folder, json.loads(f.readline())["file"]))
    capture = truth.Capture(str(seed), files, tool.parser, tool.findings([files])[0], 0)
    return capture if capture.original.events else None


def order_of(data):
    return ">" if data[12 + data[10:].index(0) - 1] else "<"


def options(data):
    """(offset, id, size) of each option in front of the tag, version 6; of the sections of options, version 7."""
    order = order_of(data)
    at = data.find(b"options  \0") + 10
    if data[10:12] == b"7\0":
        name = data.index(0, 18) + 1
        at = struct.unpack_from(order + "Q", data, data.index(0, name) + 1)[0] + 16
    while at >= 16:
        ident, size = struct.unpack_from(order + "HI", data, at)
        if ident:
            yield at, ident, size
            at += 6 + size
        else:
            following = struct.unpack_from(order + "Q", data, at + 6)[0] if data[10:12] == b"7\0" else 0
            at = following + 16 if following else 0


def later(capture):
    """The number of an option that says nothing about others becomes one that no version has yet."""
    data = capture.files[""]
    for at, ident, _ in options(data):
        if ident in (DATE, VERSION):
            yield at, struct.pack(order_of(data) + "H", 32767)


def offsets(capture):
    """The offset of each instance becomes that of each other buffer."""
    data = capture.files[""]
    order = order_of(data)
    found = [(at + 6, *struct.unpack_from(order + "Q", data, at + 6)) for at, ident, _ in options(data) if ident == BUFFER]
    tags = [data.find(b"flyrecord\0"), *(tag for _, tag in found)]
    for at, own in found:
        for tag in tags:
            if tag != own:
                yield at, struct.pack(order + "Q", tag)


def identities(capture):
    """The ID of a format of an event that has records becomes that of the one behind it."""
    data = capture.files[""]
    found = [(match.start(1), match.group(1)) for match in re.finditer(rb"\nID: (\d+)\n", data)]
    for (at, own), (_, other) in zip(found, found[1:]):
        if len(own) == len(other) and own != other:
            yield at, other


def cpus(capture):
    """The number of a CPU in the option of the top buffer becomes that of the one beside it."""
    data = capture.files[""]
    order = order_of(data)
    for at, ident, size in options(data):
        if ident != BUFFER:
            continue
        clock = data.index(0, at + 14) + 1
        entries = data.index(0, clock) + 9
        for entry, other in zip(range(entries, at + 6 + size - 20, 20), range(entries + 20, at + 6 + size, 20)):
            yield entry, data[other:other + 4]
            yield other, data[entry:entry + 4]


def systems(capture):
    """The last byte of the number of systems becomes text, as the name behind it is."""
    found = re.search(rb"\n[\1-\x20]\0\0(\0)[a-z][a-z_0-9]*\0[\1-\x40]\0\0\0.{8}name: ", capture.files[""], re.S)
    if found:
        yield found.start(1), b"@"


def shifts(capture):
    """Bytes are removed from the middle record of a page, or inserted in it."""
    data = capture.files[""]
    size = struct.unpack_from(order_of(data) + "I", data, 14)[0]
    pages = {}
    for event in capture.original.events:
        if event[4] == "event":
            pages.setdefault(event[1][0][0] // size, []).append(event[1][0])
    for records in pages.values():
        at, length = records[len(records) // 2]
        if len(records) > 8:
            for removed, new in ((1, b""), (4, b""), (32, b""), (0, b"\x07"), (0, b"\x7a" * 8)):
                yield at + length // 2, new, removed


def headers(capture):
    """Number and size of an option are hit."""
    for at, _, _ in options(capture.files[""]):
        for fill in (0, 255):
            yield at, bytes([fill]) * 6


def instances(capture):
    """Offset and name of an instance are hit, with its NUL."""
    for at, ident, size in options(capture.files[""]):
        if ident == BUFFER:
            for fill in (0, 255):
                yield at + 6, bytes([fill]) * size


def pages(capture):
    """A page of zeros or of noise is inserted in front of the last page."""
    data = capture.files[""]
    size = struct.unpack_from(order_of(data) + "I", data, 14)[0]
    at = (len(data) - 1) // size * size
    for new in (bytes(size), random.Random(capture.name).randbytes(size)):
        yield at, new, 0


PARTS = {"option": later, "offset": offsets, "id": identities, "cpu": cpus, "systems": systems, "shift": shifts,
         "header": headers, "instance": instances, "page": pages}


def hits_of(tool, part, seeds):
    """(title, capture, edit)."""
    for features in FEATURES[part]:
        for seed in (*range(1, 1 + seeds), *(once for once in ONCE.get(part, ()) if once > seeds)):
            capture = generated(tool, seed, features)
            for at, new, *removed in PARTS[part](capture) if capture else ():
                name = f"{part}:{'+'.join(features)}:{seed}:{at}:{'-'.join((*map(str, removed), new[:16].hex()))}"
                yield name, capture, Edit("", at, *(removed or [len(new)]), new)


def judge(tool, part, capture, edit):
    """(what is wrong, the tally)."""
    hits = [Hit([edit])]
    damaged = apply(capture.files, dict(enumerate(hits))).files
    if part == "option":
        errors = {rule: count for (severity, rule), count in tool.findings([damaged])[0].items() if severity == "error"}
        return [f"{count} {rule}" for rule, count in errors.items()], None
    tally = truth_score.score(capture.original, hits, tool.repair(damaged), tool.parser, truth.Silence(capture, capture.original, tool, tool.parser))
    kinds = ("event", "option") if part == "header" else ("event",)
    lost = sum(found["number"] == "lost" and found["kind"] in kinds for found in tally["found"])
    bad = [f"{tally[key]} {key}" for key in ("altered", "invented", "claims") if tally[key]]
    return bad + ([f"{lost} events lost"] if lost > (BESIDE if part == "shift" else 0) else []), tally


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--tool", default="build/tracemend")
    arguments.add_argument("--seeds", type=int, default=4)
    arguments.add_argument("--part")
    arguments.add_argument("--only")
    arguments = arguments.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="hits.") as work:
        tool = truth.Tool(os.path.abspath(arguments.tool), truth.parser_of("tracedat"), work)
        for part in PARTS if arguments.part is None else (arguments.part,):
            count = passed
            for title, capture, edit in hits_of(tool, part, arguments.seeds):
                if arguments.only not in (None, title):
                    continue
                bad, tally = judge(tool, part, capture, edit)
                passed, failed = passed + (not bad), failed + bool(bad)
                if bad or arguments.only:
                    print(f"{title}: {', '.join(bad) or 'nothing'}", flush=True)
                if arguments.only and tally:
                    print("\n".join(map(json.dumps, tally["found"])))
            if arguments.only is None and passed == count:
                sys.exit(f"{part}: no hit passed")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
