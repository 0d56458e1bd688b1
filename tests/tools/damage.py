#!/usr/bin/env python3
"""Damage of known extent, and what must come of it: a capture cut anywhere, with 512 bytes zeroed anywhere, with one size
field set to 0, to all ones, one more or one less, or as a writer leaves it that dies.

For each: where the independent parser (tests/formats/<f>/<f>_parse.py) cannot read the damaged capture, check exits 1 and an error lies
at the damage, or where that parser is stuck; repair keeps every record that the damage did not cost, passes nothing off as a record that was none,
the result checks clean, a second repair changes nothing, and the manifest rebuilds it.

    damage.py [--tool PATH] [--count N] [--seed N] [--kind NAME] [--generated N] [--keep DIR] FORMAT [SAMPLE...]

N cuts and N zeroed places a sample, and N of its size fields (--count 0: all of them, and 200 of the others). Without SAMPLE,
generated captures. SAMPLE: a file, a directory, or an archive, whose content is damaged. Last line: "N passed, N failed".

A parser module may say more than the others need:
  sizes(files)                   {name: [(offset, bytes, big endian)]}   the size fields of a capture
  cost(files, name, start, end)  [(start, end)]   what damage of these bytes may cost, beside them: the rest of a block, say;
                                 {name: [(start, end)]} where it may cost something in other files, too
  killed(files, rng)             (name, start, end, data, what)   captures as a writer leaves them that dies: the file, what of it is
                                 not as it was, what it then is; what its records are is still where it was. A sixth value gives
                                 other files that changed with it, {name: data}
"""
import argparse
import bisect
import collections
import json
import os
import random
import shutil
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import Problem, check, files_of, generate, parser_of, repair_and_verify, require, unpack  # noqa: E402
from spans import doubtful_spans, kept_runs, literal_spans, within  # noqa: E402

KINDS = ("cut", "zero512", "size", "killed")
HOLE = 512

# One damage: bytes [start, end) of file `name` are changed or gone; data is what the file then is, others what others are.
Damage = collections.namedtuple("Damage", "kind name start end data what others", defaults=({},))


class Capture:
    """An undamaged capture: its files, its records, and a place where a damaged copy of it lies."""

    def __init__(self, parser, path, work):
        self.parser, self.single = parser, not os.path.isdir(path)
        self.path = os.path.join(work, "damaged" + ("" if self.single else "-trace"))
        if self.single:
            shutil.copy(path, self.path)
        else:
            shutil.copytree(path, self.path, symlinks=True)
        self.files = files_of(self.path)
        require(parser.whole(self.files), f"{path}: the independent parser does not get through it undamaged")
        self.records = parser.records(self.files)

    def contents(self, names):
        """How often each record is in these files."""
        return collections.Counter(self.files[n][s:e] for n in names for s, e in self.records.get(n, ()))

    def write(self, name, data):
        with open(self.path if self.single else os.path.join(self.path, name), "wb") as f:
            f.write(data)


def pick(rng, files):
    """A file, each byte as likely as any other, and an offset in it."""
    at = rng.randrange(sum(map(len, files.values())))
    for name in sorted(files):
        if at < len(files[name]):
            return name, at
        at -= len(files[name])
    raise AssertionError


def cuts(rng, capture, count):
    for _ in range(count):
        name, at = pick(rng, capture.files)
        data = capture.files[name]
        yield Damage("cut", name, at, len(data), data[:at], f"{name} cut at {at} of {len(data)}")


def holes(rng, capture, count):
    for _ in range(count):
        name, at = pick(rng, capture.files)
        data = capture.files[name]
        end = min(at + HOLE, len(data))
        yield Damage("zero512", name, at, end, data[:at] + bytes(end - at) + data[end:], f"{name} zeroed from {at} to {end}")


def sizes(rng, capture, count):
    fields = [(name, *field) for name, found in getattr(capture.parser, "sizes", lambda _: {})(capture.files).items() for field in found]
    for name, at, width, big in rng.sample(fields, count) if 0 < count < len(fields) else fields:
        data, order = capture.files[name], "big" if big else "little"
        value, top = int.from_bytes(data[at:at + width], order), (1 << 8 * width) - 1
        for new in sorted({0, top, min(value + 1, top), max(value - 1, 0)} - {value}):
            yield Damage("size", name, at, at + width, data[:at] + new.to_bytes(width, order) + data[at + width:],
                         f"{name} size of {width} bytes at {at}: {value} becomes {new}")


def kills(rng, capture, _):
    for values in getattr(capture.parser, "killed", lambda *_: ())(capture.files, rng):
        yield Damage("killed", *values)


def overlaps(a, b):
    return a[0] < b[1] and b[0] < a[1]


def touches(finding, start, end):
    return finding["offset"] <= end and finding["offset"] + finding["length"] >= start


def check_names_cause(capture, damage, report, code, damaged):
    """check exits 1 where the damage can be seen, with an error at its place."""
    stuck = capture.parser.stuck(damaged) if hasattr(capture.parser, "stuck") else {}
    visible = bool(stuck) or not capture.parser.whole(damaged)
    require(code == 1 or not visible, f"the capture cannot be read, and check exits {code}")
    errors = [f for f in report["findings"] if f["severity"] == "error"]
    places = [(damage.start, damage.end), stuck.get(damage.name, (damage.start, damage.end))]
    require(not visible or any(f["file"] == damage.name and touches(f, *place) for f in errors for place in places),
            f"no error at {places}; the first of {len(errors)} is at {errors[0]['offset'] if errors else None}")


def costs(capture, damage):
    """Ranges, by file, whose records the damage may cost."""
    if damage.kind == "killed":
        return {}  # what is not written is not there, and nothing else is lost
    ranges = {damage.name: [(damage.start, damage.end)]}
    if hasattr(capture.parser, "cost"):
        more = capture.parser.cost(capture.files, damage.name, damage.start, damage.end)
        for name, places in (more if isinstance(more, dict) else {damage.name: more}).items():
            ranges.setdefault(name, []).extend(places)
    return {name: merged(places) for name, places in ranges.items()}


def merged(ranges):
    out = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def hits(ranges, span):
    """Whether a span overlaps one of the merged ranges."""
    i = bisect.bisect_left(ranges, (span[1],))
    return i > 0 and overlaps(ranges[i - 1], span)


def hold_repair(options, capture, damage, report, work):
    code = repair_and_verify(options.tool, options.format, capture.path, report, work)
    gone = costs(capture, damage)
    alive = {name: [s for s in spans if (name != damage.name or s[1] <= len(damage.data)) and not hits(gone.get(name, ()), s)]
             if name in gone or name == damage.name else spans for name, spans in capture.records.items()}
    if code in (4, 6):
        require(not any(alive.values()), f"repair exits {code}, and {sum(map(len, alive.values()))} records are there")
        return
    with open(os.path.join(work, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    for name, spans in alive.items():
        runs = kept_runs(manifest, name)
        if within(runs, 0, len(capture.files[name])):
            continue
        lost = [s for s in spans if not within(runs, *s)]
        require(not lost, f"{len(lost)} of {len(spans)} records that are there are not kept, the first of {name} at {lost[0][0] if lost else 0}")
    if not report["errors"]:
        return
    repaired = files_of(os.path.join(work, "out"))
    changed = {name for name in {*capture.files, *repaired} if capture.files.get(name) != repaired.get(name)}
    left = capture.contents(changed)
    for name, spans in capture.parser.records(repaired).items():
        if name not in changed:
            continue
        excused = merged(literal_spans(manifest, name) + doubtful_spans(manifest, name))
        for span in spans:
            left[repaired[name][slice(*span)]] -= 1
            require(left[repaired[name][slice(*span)]] >= 0 or hits(excused, span),
                    f"{name}: the record at {span[0]} of the output is none of the capture, or is there again, and is not called doubtful")


def hold(options, capture, damage, scratch):
    work = os.path.join(scratch, "work")
    os.mkdir(work)
    changed = {**damage.others, damage.name: damage.data}
    for name, data in changed.items():
        capture.write(name, data)
    try:
        if not damage.data and capture.single:
            return
        code, report = check(options.tool, options.format, capture.path)
        require(code in (0, 1, 4), f"check exits {code}")
        damaged = {**capture.files, **changed}
        check_names_cause(capture, damage, report, code, damaged)
        hold_repair(options, capture, damage, report, work)
    finally:
        for name in changed:
            capture.write(name, capture.files[name])
        shutil.rmtree(work)


def unpacked(path, work):
    if os.path.isdir(path) or not tarfile.is_tarfile(path):
        return path
    folder = os.path.join(work, "unpacked")
    unpack(path, folder)
    return folder


def sample(options, parser, path, seed):
    """(passed, failed) of one capture."""
    rng = random.Random(seed)
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="tracemend-damage-") as scratch:
        if path is None:
            size = ["--size", str(options.size)] if options.size else []
            [(_, path)] = generate(options.tool, options.format, os.path.join(scratch, "gen"), "--seed", str(seed), *size)
        capture = Capture(parser, unpacked(path, scratch), scratch)
        label = os.path.basename(path)
        for kind, make in zip(KINDS, (cuts, holes, sizes, kills)):
            if options.kind not in (None, kind):
                continue
            for damage in make(rng, capture, options.count or (200 if kind in ("cut", "zero512") else 0)):
                try:
                    hold(options, capture, damage, scratch)
                    passed += 1
                except Problem as problem:
                    failed += 1
                    print(f"{label}: {damage.what}: {problem}", flush=True)
                    if options.keep:
                        capture.write(damage.name, damage.data)
                        kept = os.path.join(options.keep, f"{label}-{damage.kind}-{failed}")
                        (shutil.copy if capture.single else shutil.copytree)(capture.path, kept)
                        capture.write(damage.name, capture.files[damage.name])
    return passed, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--generated", type=int, default=12, help="captures, where no sample is named")
    parser.add_argument("--size", type=int, default=0, help="bytes of a generated capture, roughly")
    parser.add_argument("--keep", help="copy the captures that fail into this folder")
    parser.add_argument("format")
    parser.add_argument("samples", nargs="*")
    options = parser.parse_intermixed_args()
    independent = parser_of(options.format)
    passed = failed = 0
    for number, path in enumerate(options.samples or [None] * options.generated):
        good, bad = sample(options, independent, path, options.seed + number)
        passed, failed = passed + good, failed + bad
    print(f"damage of {options.format}: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
