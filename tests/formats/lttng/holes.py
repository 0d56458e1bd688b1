#!/usr/bin/env python3
"""Holes at many places of a trace, one at a time: zeros, ones and noise of several sizes, each over some event. After repair the truth meter's
numbers (tests/lib/truth_score.py) are judged: nothing altered, nothing invented, nothing claimed, and at most --lost percent of the events lost
over all holes. Check must see each hole of zeros over the word that an event begins with; how many others it sees is printed.

    holes.py [--tool PROGRAM] [--places N] [--sizes N,N,...] [--fills zeros,FF,noise] [--seed N] [--jobs N] [--lost PERCENT] [--only GLOB]
             [--at PLACE] [--texts] PATH...

PATH is a trace, or a .tar of one, or a .tar.gz of a folder with one.
--places  of each size and fill (default 300)
--only    holes in files of these names
--at      one hole again, by the place in the output (FILE:OFFSET:SIZE:FILL), with what was found
--texts   instead: bytes of the descriptions (eventdefs/*.xml) become other ones, one at a time, and what is lost is not judged
The last line is "N passed, M failed"; a hole passes when it altered, invented and claimed nothing, and was seen where it must be."""
import argparse
import fnmatch
import json
import multiprocessing
import os
import random
import sys
import tarfile
import tempfile
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
import truth  # noqa: E402
import truth_score  # noqa: E402
from truth_damage import Edit, Hit, apply, filled  # noqa: E402

JUDGED = ("altered", "invented", "claims")
SHOWN = ("events", "lost", "doubted", *JUDGED, "no output", "invisible hits")
# Characters that take the place of those of a text, by turns; one that is the same is changed to the next one.
OTHERS = b'x<>/"= \x00\xff'


def capture_of(path, parser, tool):
    if os.path.isdir(path):
        files = truth.files_of(path)
    elif path.endswith(".tar"):
        with tarfile.open(path) as archive:
            files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
    else:
        with tempfile.TemporaryDirectory(prefix="holes.") as folder:
            os.symlink(os.path.abspath(path), os.path.join(folder, os.path.basename(path)))
            files = next(iter(parser.captures(folder).values()))
    return truth.Capture(os.path.basename(path.rstrip("/")), files, parser, tool.findings([files])[0], 0)


class Holes:
    def __init__(self, tool, parser, path):
        self.tool, self.parser = tool, parser
        self.capture = capture_of(path, parser, tool)

    def places(self, size, fill, options):
        """[(file, offset, size, fill)]: each hole has at least a byte of the event that it was aimed at."""
        rng = random.Random(f"{options.seed} {size} {fill}")
        files = self.capture.files
        events = [event for event in self.capture.original.events if len(files[event[0]]) >= size and fnmatch.fnmatch(event[0], options.only)]
        out = []
        for _ in range(options.places if events else 0):
            name, ranges = rng.choice(events)[:2]
            start, length = ranges[0]
            at = rng.randrange(start - size + 1, start + length)
            out.append((name, max(0, min(at, len(files[name]) - size)), size, fill))
        return out

    def characters(self, options):
        """[(file, offset, 1, number)] of bytes of the descriptions, as far from each other as so many places are."""
        out = [(name, at, 1, at) for name in self.capture.texts if fnmatch.fnmatch(name, options.only) for at in range(len(self.capture.files[name]))]
        step = max(1, len(out) // options.places)
        return out[options.seed % step::step]

    def edit(self, place):
        name, at, size, fill = place
        old = self.capture.files[name][at:at + size]
        if isinstance(fill, int):
            new = OTHERS[fill % len(OTHERS)]
            return Edit(name, at, 1, bytes([new if new != old[0] else old[0] ^ 1]))
        return Edit(name, at, size, filled(fill, size, random.Random(f"{name} {at}")))

    def words(self, edit):
        """Whether the hole changes all of a word that an event begins with."""
        old = self.capture.files[edit.file]
        for at in range(edit.start, edit.start + edit.length - 3):
            i = self.capture.original.holding(edit.file, at)
            if i is not None and self.capture.original.events[i][1][0][0] == at and any(old[at:at + 4]):
                return True
        return False

    def one(self, place):
        """(place, tally, whether check saw it, whether it had to)."""
        edit = self.edit(place)
        hits, original = [Hit([edit])], self.capture.original
        damaged = apply(self.capture.files, dict(enumerate(hits))).files
        silence = truth.Silence(self.capture, original, self.tool, self.parser)
        tally = truth_score.score(original, hits, self.tool.repair(damaged), self.parser, silence)
        now = self.tool.findings([damaged])[0]
        return place, tally, now is None or truth.grown(now, self.capture.base), edit.new == bytes(edit.length) and self.words(edit)


HOLES = None


def one(place):
    return HOLES.one(place)


def title(place):
    return ":".join(map(str, place))


def measured(places, jobs):
    if jobs <= 1:
        yield from map(one, places)
        return
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        yield from pool.imap(one, places, 1)


def sweep(places, what, options):
    """Prints a line for the places, and one for each that fails. (passed, failed, sums)."""
    sums, failed, seen = Counter(), 0, 0
    for place, tally, sight, must in measured(places, options.jobs):
        sums.update({key: tally[key] for key in SHOWN})
        seen += sight
        bad = [f"{tally[key]} {key}" for key in JUDGED if tally[key]] + (["check does not see it"] if must and not sight else [])
        failed += bool(bad)
        if bad or options.at:
            print(f"  {title(place)}: {', '.join(bad) or 'nothing'}; {tally['lost']} lost, {tally['doubted']} doubted", flush=True)
        if options.at:
            print("\n".join(map(json.dumps, tally["found"])))
    shares = ", ".join(f"{key} {sums[key]}" for key in SHOWN)
    print(f"{what}: {len(places)} times, {seen} seen by check; {shares}", flush=True)
    return len(places) - failed, failed, sums


def parts(options):
    """[(what, places)]."""
    name = HOLES.capture.name
    if options.at:
        file, at, size, fill = options.at.rsplit(":", 3)
        return [(name, [(file, int(at), int(size), int(fill) if fill.isdigit() else fill)])]
    if options.texts:
        return [(f"{name}: texts", HOLES.characters(options))]
    return [(f"{name}: {fill} {size}", HOLES.places(size, fill, options)) for fill in options.fills.split(",") for size in
            map(int, options.sizes.split(","))]


def main():
    global HOLES
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--tool", default="build/tracemend")
    options.add_argument("--places", type=int, default=300)
    options.add_argument("--sizes", default="16,64,512")
    options.add_argument("--fills", default="zeros,FF,noise")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--lost", type=float, default=0.1)
    options.add_argument("--only", default="*")
    options.add_argument("--at")
    options.add_argument("--texts", action="store_true")
    options.add_argument("paths", nargs="+")
    options = options.parse_args()
    parser = truth.parser_of("lttng")
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="holes.") as work:
        tool = truth.Tool(os.path.abspath(options.tool), parser, work)
        for path in options.paths:
            HOLES = Holes(tool, parser, path)
            for what, places in parts(options):
                good, bad, sums = sweep(places, what, options)
                much = not options.texts and 100 * sums["lost"] > options.lost * sums["events"]
                if much:
                    print(f"  more than {options.lost:g} % are lost")
                passed, failed = passed + good, failed + bad + much
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
