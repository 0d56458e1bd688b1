#!/usr/bin/env python3
"""verify_manifest.py itself: hand-made manifests of both versions that it must take, and broken ones that it must refuse, each for
the reason named. The last line is "verify_manifest: N passed, N failed"."""
import copy
import hashlib
import os
import sys
import tempfile

from verify_manifest import Problem, verify

# Eight records of 16 bytes behind a header of 8. The bytes 4 and 5 of each are wrong, and its last four are doubtful.
HEADER, RECORD, COUNT = 8, 16, 8
DATA = bytes(range(HEADER)) + bytes((7 * i + i // 5) % 251 for i in range(RECORD * COUNT))
PATCH = b"XY"


def mended():
    records = [DATA[at:at + RECORD] for at in range(HEADER, len(DATA), RECORD)]
    return DATA[:HEADER] + b"".join(r[:4] + PATCH + r[6:] for r in records)


def manifest(path, version, out, segments, dropped, doubtful=()):
    made = {"tool": "tracemend", "version": "0.0.0", "format": "fxt",
            "inputs": [{"path": path, "file": "", "size": len(DATA), "sha256": hashlib.sha256(DATA).hexdigest()}],
            "outputs": [{"file": "", "size": len(out), "sha256": hashlib.sha256(out).hexdigest(), "segments": segments}],
            "dropped": dropped, "doubtful": list(doubtful),
            "records": {"kept": 0, "patched": COUNT, "added": 0, "dropped": 0, "dropped_is": "exact"}, "lost": False}
    return made if version == 1 else {**made, "manifest_version": version}


def kept(offset, length, start, **more):
    return {"offset": offset, "length": length, "input": 0, "from": start, **more}


def literal(offset, data, **more):
    return {"offset": offset, "length": len(data), "bytes": data.hex(), "rule": "fxt/some-rule", "why": "a reason", **more}


def dropped(start, length, **more):
    return {"input": 0, "from": start, "length": length, "rule": "fxt/some-rule", "why": "a reason", **more}


def doubted(start, length, **more):
    return {"input": 0, "from": start, "length": length, "why": "a reason", **more}


def run(count=COUNT, offset=RECORD, start=RECORD):
    return {"repeat": {"count": count, "offset": offset, "from": start}}


def run_of_ranges(count=COUNT, start=RECORD):
    return {"repeat": {"count": count, "from": start}}


def plain(path):
    """Version 1: each edit is an entry."""
    segments, drops, at = [kept(0, HEADER + 4, 0)], [], HEADER
    for i in range(COUNT):
        segments.append(literal(at + 4, PATCH))
        segments.append(kept(at + 6, RECORD - 2 if i < COUNT - 1 else RECORD - 6, at + 6))
        drops.append(dropped(at + 4, 2))
        at += RECORD
    return manifest(path, 1, mended(), segments, drops, [doubted(HEADER + 12, 4)])


def grouped(path):
    """Version 2: a group that comes as often as there are records."""
    group = [kept(HEADER, 4, HEADER), literal(HEADER + 4, PATCH), kept(HEADER + 6, 10, HEADER + 6)]
    return manifest(path, 2, mended(), [kept(0, HEADER, 0), {"group": group, **run()}],
                    [dropped(HEADER + 4, 2, **run_of_ranges())], [doubted(HEADER + 12, 4, **run_of_ranges())])


def separate(path):
    """Version 2: each kind of segment is a run of its own, so that they lie in between each other."""
    segments = [kept(0, HEADER, 0), kept(HEADER, 4, HEADER, **run()), literal(HEADER + 4, PATCH, **run(start=0)),
                kept(HEADER + 6, 10, HEADER + 6, **run())]
    return manifest(path, 2, mended(), segments, [dropped(HEADER + 4, 2, **run_of_ranges())])


def inserted(path):
    """Version 2: the output grows faster than the input goes on; ranges that repeat together."""
    out = DATA[:HEADER] + b"".join(PATCH + DATA[at:at + 4] + DATA[at + 6:at + 12] for at in range(HEADER, len(DATA), RECORD))
    group = [literal(HEADER, PATCH), kept(HEADER + 2, 4, HEADER), kept(HEADER + 6, 6, HEADER + 6)]
    return manifest(path, 2, out, [kept(0, HEADER, 0), {"group": group, **run(offset=12)}],
                    [{"group": [dropped(HEADER + 4, 2), dropped(HEADER + 12, 4)], **run_of_ranges()}])


def again(path):
    """Version 2: a range is copied twice, and says why."""
    once = [kept(0, len(DATA), 0)]
    twice = [kept(len(DATA), 4, HEADER, rule="fxt/some-rule", why="again", **run(2, 4, 4))]
    return manifest(path, 2, DATA + DATA[HEADER:HEADER + 8], once + twice, [])


def changed(make, change):
    def made(path):
        out = copy.deepcopy(make(path))
        change(out)
        return out
    return made


def segment(number, **values):
    return lambda m: m["outputs"][0]["segments"][number].update(values)


def member(number, **values):
    return lambda m: m["outputs"][0]["segments"][1]["group"][number].update(values)


def repeat(entry, **values):
    """Of the segments' group (-1), or of an entry of another list."""
    return lambda m: (m["outputs"][0]["segments"][1] if entry is None else m[entry][0])["repeat"].update(values)


GOOD = [plain, grouped, separate, inserted, again]
# (what is wrong, the manifest, what the refusal says)
BAD = [
    ("a run is one short", changed(grouped, repeat(None, count=COUNT - 1)), "128 bytes|bytes, not|not accounted"),
    ("a run is one too long", changed(grouped, repeat(None, count=COUNT + 1)), "copy past the end"),
    ("a run of one", changed(grouped, repeat(None, count=1)), "a run of 1"),
    ("a run of none", changed(grouped, repeat(None, count=0)), "a run of 0"),
    ("a run longer than the file", changed(grouped, repeat(None, count=1 << 40)), "a run of 1099511627776"),
    ("a count that is no number", changed(grouped, repeat(None, count="8")), "not a count"),
    ("a negative step", changed(grouped, repeat(None, offset=-RECORD)), "not a count"),
    ("the output's step is too short: overlap", changed(grouped, repeat(None, offset=RECORD - 1)), "gap or overlap"),
    ("the output's step is too long: gap", changed(grouped, repeat(None, offset=RECORD + 1)), "gap or overlap"),
    ("the input's step is too short", changed(grouped, repeat(None, **{"from": RECORD - 1})), "another sha256"),
    ("a member of a group overlaps the next", changed(grouped, member(0, length=5)), "gap or overlap"),
    ("a member of a group is shorter", changed(grouped, member(2, length=9)), "gap or overlap"),
    ("a literal of another length", changed(grouped, member(1, bytes="585900")), "literal of 3 bytes"),
    ("a literal without a rule", changed(grouped, lambda m: m["outputs"][0]["segments"][1]["group"][1].pop("rule")), "without rule"),
    ("an empty group", changed(grouped, lambda m: m["outputs"][0]["segments"][1].update(group=[])), "a group that is empty"),
    ("a group that does not repeat", changed(grouped, lambda m: m["outputs"][0]["segments"][1].pop("repeat")), "does not repeat"),
    ("a group with an offset", changed(grouped, lambda m: m["outputs"][0]["segments"][1].update(offset=8)), "a group with"),
    ("dropped: one short", changed(grouped, repeat("dropped", count=COUNT - 1)), "not accounted for"),
    ("dropped: one too long", changed(grouped, repeat("dropped", count=COUNT + 1)), "is not a range"),
    ("dropped: what is kept, too", changed(grouped, lambda m: m["dropped"][0].update(length=3)), "accounted for twice"),
    ("dropped: the step is off", changed(grouped, repeat("dropped", **{"from": RECORD + 1})), "accounted for|not a range"),
    ("dropped without a reason", changed(grouped, lambda m: m["dropped"][0].pop("why")), "without rule or reason"),
    ("dropped of no input", changed(grouped, lambda m: m["dropped"][0].update(input=1)), "no input 1"),
    ("doubtful past the end", changed(grouped, repeat("doubtful", count=COUNT + 1)), "doubtful range is not a range"),
    ("doubtful without a reason", changed(grouped, lambda m: m["doubtful"][0].pop("why")), "doubtful range without"),
    ("runs in between each other, one missing", changed(separate, lambda m: m["outputs"][0]["segments"].pop(2)), "gap or overlap"),
    ("runs in between each other, one twice", changed(separate, lambda m: m["outputs"][0]["segments"].append(
        m["outputs"][0]["segments"][2])), "gap or overlap"),
    ("a second copy without a reason", changed(again, lambda m: [m["outputs"][0]["segments"][1].pop(k) for k in ("rule", "why")]),
     "accounted for twice"),
    ("runs in version 1", changed(grouped, lambda m: m.update(manifest_version=1)), "version 1 with runs"),
    ("runs in no version", changed(grouped, lambda m: m.pop("manifest_version")), "version 1 with runs"),
    ("version 2 without runs", changed(plain, lambda m: m.update(manifest_version=2)), "version 2 without runs"),
    ("version 3", changed(plain, lambda m: m.update(manifest_version=3)), "version 3"),
    ("version 1: a gap", changed(plain, lambda m: m["outputs"][0]["segments"].pop(1)), "gap or overlap"),
    ("version 1: an overlap", changed(plain, segment(0, length=HEADER + 5)), "gap or overlap"),
    ("an empty segment", changed(plain, segment(0, length=0)), "gap or overlap|empty segment"),
    ("version 1: a drop is missing", changed(plain, lambda m: m["dropped"].pop()), "not accounted for"),
    ("another digest of the input", changed(plain, lambda m: m["inputs"][0].update(sha256="0" * 64)), "another sha256"),
    ("another size of the input", changed(plain, lambda m: m["inputs"][0].update(size=1)), "bytes, not 1"),
    ("another digest of the output", changed(plain, lambda m: m["outputs"][0].update(sha256="0" * 64)), "another sha256"),
    ("an output twice", changed(plain, lambda m: m["outputs"].append(m["outputs"][0])), "twice"),
    ("a loss that is a guess", changed(plain, lambda m: m["records"].update(dropped_is="at-least")), "a guess"),
    ("a loss of no known kind", changed(plain, lambda m: m["records"].update(dropped_is="some")), "dropped_is"),
    ("no list of doubts", changed(plain, lambda m: m.pop("doubtful")), "has no doubtful"),
]


def refusal(made):
    try:
        verify(made)
    except Problem as problem:
        return str(problem)
    return None


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="tracemend-manifest-") as work:
        path = os.path.join(work, "capture")
        with open(path, "wb") as f:
            f.write(DATA)
        results = [(make.__name__, refusal(make(path)), None) for make in GOOD]
        results += [(what, refusal(make(path)), words) for what, make, words in BAD]
    for what, said, words in results:
        good = said is None if words is None else said is not None and any(w in said for w in words.split("|"))
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"{what}: {'refused: ' + said if said else 'taken'}{', expected: ' + words if words else ''}")
    print(f"verify_manifest: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
