#!/usr/bin/env python3
"""Every byte of the tables of a trace.dat (initial block, sizes and counts, options, section headers, CPU tables, clocks, chunk headers) is set to
three other values, one at a time, and repaired. No event that was not hit may be lost, or come out as another one without being listed, and
what is lost is not called whole: the truth meter's numbers (tests/lib/truth_score.py).

    every_byte.py [--tool PROGRAM] [--every N] [--jobs N] [--details FILE] [--at OFFSET] [--again FILE] PATH...

--every N   only each N-th byte, and of it one of the three values (tests); default 1: all bytes, all values
--at N      only this byte, all values, with what was found
--again F   only the bytes and values of the details of an earlier run
The last line is "N passed, M failed": a byte and value that changes nothing else is one that passed.
"""
import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import truth
import truth_score
from truth_damage import Edit, Hit, apply

# Texts are not tables: their bytes are the truth meter's.
TEXTS = ("format text", "header_page text", "header_event text", "page header")
JUDGED = ("lost", "altered", "invented", "claims")


def values_of(byte):
    """Three other values: nothing, the highest bit, and one more or all ones."""
    out = []
    for value in (0, byte ^ 0x80, (byte + 1) & 255, 255, byte ^ 1, byte ^ 2):
        if value != byte and value not in out:
            out.append(value)
    return out[:3]


def places(parser, files):
    """{offset: what} of each byte of the structure."""
    out = {}
    for _, start, length, what in parser.read(files, True).structure:
        if what not in TEXTS:
            for at in range(start, start + length):
                out.setdefault(at, what)
    return out


class Sweep:
    def __init__(self, tool, parser, path):
        self.tool, self.parser = tool, parser
        self.files = truth.files_of(path)
        self.capture = truth.Capture(os.path.basename(path), self.files, parser, tool.findings([self.files])[0], 0)

    def one(self, task):
        at, value, what = task
        hits = [Hit([Edit("", at, 1, bytes([value]))])]
        silence = truth.Silence(self.capture, self.capture.original, self.tool, self.parser)
        damaged = apply(self.files, dict(enumerate(hits))).files
        tally = truth_score.score(self.capture.original, hits, self.tool.repair(damaged), self.parser, silence)
        return at, value, what, {key: tally[key] for key in (*JUDGED, "doubted", "no output", "invisible hits")}, tally["found"][:5]


SWEEP = None


def one(task):
    return SWEEP.one(task)


def main():
    global SWEEP
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--tool", default="build/tracemend")
    options.add_argument("--every", type=int, default=1)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--details")
    options.add_argument("--at", type=lambda text: int(text, 0))
    options.add_argument("--again")
    options.add_argument("paths", nargs="+")
    options = options.parse_args()
    again = None
    if options.again:
        with open(options.again, encoding="utf-8") as f:
            again = {(entry["path"], entry["at"], entry["value"]) for entry in map(json.loads, f)}
    parser = truth.parser_of("tracedat")
    passed = failed = 0
    details = []
    with tempfile.TemporaryDirectory(prefix="every-byte.") as work:
        tool = truth.Tool(os.path.abspath(options.tool), parser, work)
        for path in options.paths:
            SWEEP = Sweep(tool, parser, path)
            tasks = [(at, value, what) for number, (at, what) in enumerate(sorted(places(parser, SWEEP.files).items()))
                     if number % options.every == 0 and options.at in (None, at)
                     for value in values_of(SWEEP.files[""][at])[:3 if options.every == 1 else 1]
                     if again is None or (path, at, value) in again]
            with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
                done = pool.map(one, tasks, 4)
            sums, cases = Counter(), Counter()
            for at, value, what, tally, found in done:
                bad = [key for key in JUDGED if tally[key]]
                passed, failed = passed + (not bad), failed + bool(bad)
                sums.update(tally)
                cases.update({key: 1 for key in tally if tally[key]})
                if bad or options.at is not None:
                    details.append({"path": path, "at": at, "value": value, "what": what, **tally, "found": found})
                    print(f"{path}: byte {at} ({what}) {SWEEP.files[''][at]:#04x} becomes {value:#04x}: "
                          + (", ".join(f"{tally[key]} {key}" for key in bad) or "nothing"))
                if options.at is not None:
                    print("\n".join(map(json.dumps, found)))
            print(f"{path}: {len(done)} changes; " + ", ".join(f"{key} {sums[key]} in {cases[key]}" for key in sums))
    if options.details:
        with open(options.details, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(entry) + "\n" for entry in details)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
