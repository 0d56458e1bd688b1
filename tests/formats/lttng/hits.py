#!/usr/bin/env python3
"""Single hits to what tells how all the rest is read, in small generated traces: the clock in a header, numbers and names of declarations, a
description of 1.0 that is lost, a header that changes its place with other bytes, bytes that came into a header, a text of a declaration that
takes in all behind it, bytes that are missing in one, or too many in a text of an event, a hole up to the begin stamp of the second block, pieces
of data that changed places, sectors that did, a file under two names, a size that leads over the next block, a begin of zero, an escape for a size, declarations that
end too early. After repair the truth meter's numbers (tests/lib/truth_score.py) are judged: nothing altered, nothing invented, nothing claimed; and where a description of 1.0 is lost, whose events tell their sizes, no event is. Where a text took in declarations,
or their file ends too early, up to a tenth of the events of a trace of 60 KB may be lost.

    hits.py [--tool PROGRAM] [--seeds N] [--only PART:VERSION:SEED:FILE:OFFSET]
--seeds  traces of each version (default 4); of 1.0, for lost descriptions, ten at least
--part   one of the parts: clock, number, name, swap, lost, insert, text, missing, longer, begin, exchange, swallow, zero,
         escape, end, sector, copy
--only   one hit again, by what the output calls it, with what was found
The last line is "N passed, M failed"."""
import argparse
import json
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
import lttng_events  # noqa: E402
import truth  # noqa: E402
import truth_score  # noqa: E402
from truth_damage import Edit, Hit, apply  # noqa: E402

VERSIONS = ("0.6", "0.7", "0.8", "1.0", "2.0", "2.2", "2.3", "2.6")
CLOCK = lttng_events.TIMES
LOSSES = 10
SECTORS = 10
LARGE, MEDIUM, EXCHANGED = 60 << 10, 16 << 10, 9728


def generated(tool, version, seed, size=None):
    """A capture, or None where the seed makes none with events."""
    folder = tempfile.mkdtemp(dir=tool.work)
    sized = ["--size", str(size)] if size else []
    code, _, talk = tool.run("gen", "-q", "-f", "lttng", "--seed", str(seed), "--with", version, *sized, "-o", folder)
    if code != 0:
        sys.exit(f"gen --seed {seed} --with {version}: {talk.decode(errors='replace')}")
    with open(os.path.join(folder, "labels.jsonl"), encoding="utf-8") as f:
        files = truth.files_of(os.path.join(folder, json.loads(f.readline())["file"]))
    capture = truth.Capture(f"{version}:{seed}", files, tool.parser, tool.findings([files])[0], 0)
    return capture if capture.original.events else None


def identified(data):
    """(version, byte order, layout) of a file."""
    for version, form in lttng_events.LAYOUTS.items():
        for order in "<>":
            if len(data) >= form.size and struct.unpack_from(order + "I", data, form.magic)[0] == lttng_events.MAGIC \
                    and tuple(data[form.fields[key][0]] for key in ("major", "minor")) == version:
                return version, order, form
    raise ValueError("no header")


def clocks(capture, rng):
    """A bit of each part of the clock, in the first header of some file."""
    tracefiles = sorted({event[0] for event in capture.original.events})
    for name in tracefiles[:2]:
        found = identified(capture.files[name])
        for field in CLOCK:
            if field in found[2].fields:
                at, size = found[2].fields[field]
                at += rng.randrange(size)
                yield name, at, bytes([capture.files[name][at] ^ 1 << rng.randrange(8)])


def declarations(capture, what=None):
    """(file, start, length) of the declarations of that kind."""
    return [(event[0], *event[1][0]) for event in capture.original.events
            if event[4] == "declaration" and (what is None or event[2][3][0] == what)]


def numbers(capture, rng):
    """A bit of the number of some declarations, which stands in front of five sizes."""
    places = declarations(capture, "core_marker_id")
    for name, start, length in rng.sample(places, min(4, len(places))):
        at = start + length - 7 + rng.randrange(2)
        yield name, at, bytes([capture.files[name][at] ^ 1 << rng.randrange(8)])


def names(capture, rng):
    """A byte of the name or checksum with which a facility is loaded."""
    for name, start, length in declarations(capture, "facility_load")[:2]:
        at = start + length - 28 - rng.randrange(8)
        yield name, at, bytes([capture.files[name][at] ^ 1 << rng.randrange(8)])


def swaps(capture, rng):
    """The first bytes of a file, with its header, and others of it."""
    for name in sorted({event[0] for event in capture.original.events}):
        size = rng.choice((512, 2048))
        if len(capture.files[name]) >= 2 * size:
            at = rng.randrange(1, len(capture.files[name]) // size) * size
            yield name, at, (name, 0, size)


def losses(capture, _rng):
    """Each description in turn, as a whole."""
    for name, start, length in declarations(capture, "core_marker_format"):
        yield name, start, bytes(length)


def inserts(capture, rng):
    """Bytes that come into the header of the file with the declarations, in front of the size of its block."""
    for name in sorted({place[0] for place in declarations(capture)})[:1]:
        _, _, form = identified(capture.files[name])
        for count in (1, 4):
            at = rng.randrange(1, form.fields["size"][0])
            yield name, at, [Edit(name, at, 0, rng.randbytes(count))]


def texts(capture, _rng):
    """All from the first text of a file with declarations to its last one, where other files have some, too."""
    places = declarations(capture)
    names = sorted({place[0] for place in places})
    for name in names if len(names) > 1 else ():
        own = [(start, start + length) for file, start, length in places if file == name]
        at, end = own[0][0] + 8, own[-1][1]
        yield name, at, bytes([255]) * (end - at)


def missing(capture, _rng):
    """Four bytes of the description of an event type, where its file ends with that block."""
    for name, start, length in declarations(capture, "core_marker_format")[:3]:
        if length > 48:
            yield name, start + length - 16, [Edit(name, start + length - 16, 4, b"")]


def longer(capture, rng):
    """Four bytes in a text of an event, in a data file."""
    places = [(event[0], *event[1][0]) for event in capture.original.events if event[4] == "event" and event[2][4][:8].isalpha()]
    for name, start, length in rng.sample(places, min(3, len(places))):
        at = start + length - len(capture.files[name][start:start + length].rsplit(b"\0", 1)[-1]) - 3
        yield name, at, [Edit(name, at, 0, b"KK22")]


def begins(capture, _rng):
    """All from the first stamp of a file up to the first one of its second block."""
    for name in sorted({event[0] for event in capture.original.events if event[4] == "event"})[-2:]:
        _, order, form = identified(capture.files[name])
        size = struct.unpack_from(order + "I", capture.files[name], form.fields["size"][0])[0]
        if size < len(capture.files[name]):
            yield name, 8, bytes(size + form.fields["begin"][0])


def exchanges(capture, _rng):
    """Two pieces of a file, one behind the other: the first joint is within an event, and times fall at the second one only."""
    for name in sorted({event[0] for event in capture.original.events if event[4] == "event"})[:1]:
        yield name, EXCHANGED, [Edit(name, EXCHANGED, 512, (name, EXCHANGED + 512, 512)), Edit(name, EXCHANGED + 512, 512, (name, EXCHANGED, 512))]


def sectors(capture, rng):
    """Two sectors of a data file change places, anywhere."""
    name = max(sorted({event[0] for event in capture.original.events if event[4] == "event"}), key=lambda name: len(capture.files[name]))
    for _ in range(SECTORS):
        a, b = sorted(512 * n for n in rng.sample(range(len(capture.files[name]) // 512), 2))
        yield name, f"{a}-{b}", [Edit(name, a, 512, (name, b, 512)), Edit(name, b, 512, (name, a, 512))]


def copies(capture, _rng):
    """A data file under the name of another cpu as well."""
    name = min({event[0] for event in capture.original.events if event[4] == "event"})
    yield name, 0, {name: f"{name.rpartition('_')[0]}_99"}


def stamped(capture, files=3):
    """(file, offset, version's layout, byte order) of block headers of some files, by their magic numbers."""
    for name in sorted({event[0] for event in capture.original.events if event[4] == "event"})[:files]:
        data = capture.files[name]
        _, order, form = identified(data)
        magic = struct.pack(order + "I", lttng_events.MAGIC)
        at = data.find(magic)
        while at >= 0:
            yield name, at - form.magic, form, order
            at = data.find(magic, at + 4)


def swallows(capture, _rng):
    """Sizes that lead from a block to the one behind the next, or to the end of the file."""
    headers = list(stamped(capture, None))
    for (name, at, form, order), (same, _, _, _), (last, to, _, _) in zip(headers, headers[1:], headers[2:] + [(None,) * 4]):
        if name == same:
            yield name, at + form.fields["size"][0], struct.pack(order + "I", (to if last == name else len(capture.files[name])) - at)


def zeros(capture, _rng):
    """Stamps of 0 with which blocks begin."""
    for name, at, form, _ in list(stamped(capture))[:6]:
        place, width = form.fields["begin"]
        yield name, at + place, bytes(width)


def escapes(capture, rng):
    """Sizes of events that become the escape for large ones."""
    events = [event for event in capture.original.events if event[4] == "event" and "compact" not in event[0] and event[1][0][1] > 16]
    for name, ranges, *_ in rng.sample(events, min(3, len(events))):
        data, start = capture.files[name], ranges[0][0]
        field = lttng_events.LAYOUTS[identified(data)[0]].fields["heartbeat"][0]
        yield name, start + (6 if data[field] else 10), bytes([255, 255])


def ends(capture, _rng):
    """The only block of a file of declarations ends behind some of them, and nothing in it tells that there were more."""
    for name in sorted({place[0] for place in declarations(capture)}):
        own, data = [place for place in declarations(capture) if place[0] == name], capture.files[name]
        _, order, form = identified(data)
        size = struct.unpack_from(order + "I", data, form.fields["size"][0])[0]
        if len(own) > 7 and len(data) == size:
            end = own[-7][1] + own[-7][2]
            told = size - end if identified(data)[0] < (2, 5) else end
            yield name, end, [Edit(name, form.fields["data"][0], 4, struct.pack(order + "I", told)), Edit(name, end, size - end, bytes(size - end))]


PARTS = {"missing": missing, "longer": longer, "begin": begins, "exchange": exchanges, "clock": clocks, "number": numbers, "name": names,
         "swap": swaps, "lost": losses, "insert": inserts, "text": texts, "swallow": swallows, "zero": zeros, "escape": escapes, "end": ends,
         "sector": sectors, "copy": copies}


def hits_of(tool, options):
    """(title, capture, edits)."""
    for part, make in PARTS.items():
        if options.part not in (None, part):
            continue
        versions = {"name": VERSIONS[:3], "number": VERSIONS[3:], "lost": ("1.0",), "swap": ("2.3", "2.5", "2.6"),
                    "text": VERSIONS[4:], "missing": VERSIONS[3:], "longer": ("1.0", "2.1", "2.6"), "begin": ("2.0", "2.3"),
                    "exchange": ("2.2",), "swallow": ("2.5", "2.6"), "end": ("1.0", "2.3", "2.6"),
                    "escape": VERSIONS[:4], "sector": ("2.1", "2.6")}.get(part, VERSIONS)
        for version in versions:
            for seed in (17,) if part == "exchange" else range(1, 1 + (max(LOSSES, options.seeds) if part == "lost" else options.seeds)):
                capture = generated(tool, version, seed, LARGE if part in ("text", "swallow", "end", "sector") else MEDIUM if part in ("longer", "begin", "exchange") else None)
                for name, at, new in make(capture, random.Random(f"{part} {version} {seed}")) if capture else ():
                    edits = new if isinstance(new, (list, dict)) else [Edit(name, at, len(new), new)] if isinstance(new, bytes) \
                        else [Edit(name, at, new[2], new), Edit(name, 0, new[2], (name, at, new[2]))]
                    yield f"{part}:{version}:{seed}:{name}:{at}", capture, edits


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--tool", default="build/tracemend")
    options.add_argument("--seeds", type=int, default=4)
    options.add_argument("--part")
    options.add_argument("--only")
    options = options.parse_args()
    parser = truth.parser_of("lttng")
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="hits.") as work:
        tool = truth.Tool(os.path.abspath(options.tool), parser, work)
        for title, capture, edits in hits_of(tool, options):
            if options.only not in (None, title):
                continue
            hits = [Hit((), (), {}, edits) if isinstance(edits, dict) else Hit(edits)]
            damaged = apply(capture.files, dict(enumerate(hits))).files
            result = tool.repair(damaged)
            tally = truth_score.score(capture.original, hits, result, parser, truth.Silence(capture, capture.original, tool, parser))
            bad = [f"{tally[key]} {key}" for key in ("altered", "invented", "claims") if tally[key]]
            # Compact events do not tell their sizes.
            lost = [found["file"] for found in tally["found"] if (found["number"], found["kind"]) == ("lost", "event") and "compact" not in found["file"]]
            if title.startswith("lost") and lost:
                bad.append(f"{len(lost)} events lost")
            # What a wrong size of a block takes in, and an event whose size is not told any more, nobody counts: they are to be listed.
            if title.startswith("swallow") and not truth.grown(tool.findings([damaged])[0], capture.base):
                bad.append("check does not see it")
            if title.startswith("copy") and len(parser.read(result.outputs).events) != len(capture.original.events):
                bad.append("its events come twice")
            if title.startswith("escape") and result.exit == 0:
                bad.append("not listed")
            if title.startswith("end"):
                whole, kept = [sum(event[4] == "event" and "compact" not in event[0] for event in reading.events)
                               for reading in (capture.original, parser.read(result.outputs))]
                if 10 * kept < 9 * whole:
                    bad.append(f"{kept} of {whole} kept")
            if title.startswith("text") and 10 * tally["lost"] > tally["events"]:
                bad.append(f"{tally['lost']} of {tally['events']} lost")
            passed, failed = passed + (not bad), failed + bool(bad)
            if bad or options.only:
                print(f"{title}: {', '.join(bad) or 'nothing'}; {tally['lost']} lost, {tally['doubted']} doubted of {tally['events']}", flush=True)
            if options.only:
                print("\n".join(map(json.dumps, tally["found"])))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
