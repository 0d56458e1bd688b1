#!/usr/bin/env python3
"""Each place that reports a rule, silenced: does a test of `make test-<format>` fail?

    knockout.py [--format NAME] [--jobs N] [--build DIR] [--list]

Needs `make sites`: a build in which each place has a number (src/core/place.h). Three kinds of tests are asked, until one fails: the
outcomes of the captures of the corpus, those of damaged copies of them (outcomes.py), and the format's unit tests. Each is run
once to learn which places it reaches; then each place is silenced over what reaches it. Prints the places that nothing reaches and
those that no test misses. A place of which a comment above it says "No capture shows this:" and why is listed, and does not fail. The last line is "places: N passed, N failed"; exit 1 if one failed. --format core: the places outside of
the formats, with the tests of all of them.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import TOP, read  # noqa: E402
import outcomes  # noqa: E402

Place = collections.namedtuple("Place", "number file line rule")
AT_A_TIME = 8  # most places are missed in the first captures
TIMEOUT = 120


def places(tool):
    """The places of a program; their numbers are its own."""
    said = subprocess.run([tool], stderr=subprocess.PIPE, env={**os.environ, "TM_SITES": "list"}, check=False).stderr.decode()
    return [Place(int(n), path, int(line), rule) for n, path, line, rule in re.findall(r"^(\d+) ([^:]+):(\d+) (.*)$", said, re.M)]


def hits(run):
    """The numbers of the places that run(environment) reaches."""
    with tempfile.TemporaryDirectory(prefix="tracemend-places-") as work:
        path = os.path.join(work, "hits")
        run({"TM_SITES_HIT": path})
        return {int(n) for n in read(path).split()} if os.path.exists(path) else set()


class Captures:
    """The captures of a format, as they are or damaged, by the outcomes that are kept."""

    def __init__(self, build, name, run, kept):
        self.tool, self.name, self.run = os.path.abspath(os.path.join(build, "outcome")), name, run
        self.wanted = {one["file"]: one for one in outcomes.kept(f"corpus/{name}", kept)}
        self.numbers = {place[1:]: place.number for place in places(self.tool)}

    def outcome(self, environment, files):
        return self.run(self.tool, self.name, f"corpus/{self.name}", environment, files)

    def reached(self, pool):
        """{place: [files that reach it]}"""
        by_number = collections.defaultdict(list)
        for file, numbers in zip(self.wanted, pool.map(lambda f: hits(lambda e: self.outcome(e, [f])), self.wanted)):
            for number in numbers:
                by_number[number].append(file)
        return {key: by_number[number] for key, number in self.numbers.items() if number in by_number}

    def misses(self, key, files):
        for at in range(0, len(files), AT_A_TIME):
            some = files[at:at + AT_A_TIME]
            now, codes = self.outcome({"TM_KNOCKOUT": str(self.numbers[key])}, some)
            if any(codes) or now != [self.wanted[f] for f in some]:
                return True
        return False


class UnitTests:
    """The unit tests that `make test-<format>` runs."""

    def __init__(self, build, name):
        sources = sorted({*glob.glob(f"tests/unit/test_{name}*.c"),
                          *(s for s in glob.glob("tests/unit/test_*.c") if b"format_wanted" in read(s))})
        self.environment = {"TEST_FORMAT": name}
        self.programs = {p: {place[1:]: place.number for place in places(p)} for p in (f"{build}/{s[:-2]}" for s in sources)}

    def run(self, program, environment):
        return subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT, check=False,
                              env={**os.environ, **self.environment, **environment}).returncode

    def reached(self, pool):
        by_key = collections.defaultdict(list)
        for program, numbers in zip(self.programs, pool.map(lambda p: hits(lambda e: self.run(p, e)), self.programs)):
            for key, number in self.programs[program].items():
                if number in numbers:
                    by_key[key].append(program)
        return by_key

    def misses(self, key, programs):
        try:
            return any(self.run(p, {"TM_KNOCKOUT": str(self.programs[p][key])}) for p in programs)
        except subprocess.TimeoutExpired:
            return True


def tests_of(build, names):
    """Kinds of tests, the quickest first; only made when they are needed."""
    for name in names:
        yield lambda: Captures(build, name, outcomes.outcomes, "outcomes.jsonl")
    for name in names:
        yield lambda: Captures(build, name, outcomes.sweep, "sweep.jsonl")
        yield lambda: UnitTests(build, name)


def excuse(path, line):
    """Why nothing shows this place, as a comment in the lines above it says; None: no comment does."""
    with open(path, encoding="utf-8") as f:
        above = "".join(f.readlines()[max(line - 6, 0):line])
    found = re.search(r"No capture shows this: (.*?)\s*\*/", above, re.S)
    return re.sub(r"\s*\*?\s+", " ", found.group(1)) if found else None


def campaign(options, title, own, names, pool):
    """How many of the places `own` no test misses."""
    left, reached = [place[1:] for place in own], collections.defaultdict(list)
    for make in tests_of(options.build, names):
        if not left:
            break
        tests = make()
        now = tests.reached(pool)
        jobs = [(key, pool.submit(tests.misses, key, now[key]) if key in now else None) for key in left]
        for key in left:
            reached[key] += now.get(key, [])
        left = [key for key, job in jobs if job is None or not job.result()]
    excused = {key: why for key in left for why in [excuse(key[0], key[1])] if why}
    for key, why in excused.items():
        print(f"excused: {key[0]}:{key[1]} {key[2]}: {why}", flush=True)
    left = [key for key in left if key not in excused]
    for key in [place[1:] for place in own] if options.list else left:
        what = "not missed" if reached[key] else "not reached"
        print(f"{what if key in left else 'missed'}: {key[0]}:{key[1]} {key[2]} {' '.join(reached[key][:5])}".rstrip(), flush=True)
    print(f"{title}: {len(own) - len(left)} of {len(own)} places are missed when they are silent{f', {len(excused)} of them are excused' if excused else ''}", flush=True)
    return len(left)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--format")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", default="build/sites")
    parser.add_argument("--list", action="store_true", help="print all places and what reaches each")
    options = parser.parse_args()
    os.chdir(TOP)
    names = sorted(n for n in os.listdir("corpus") if os.path.exists(f"corpus/{n}/outcomes.jsonl"))
    every = places(os.path.join(options.build, "outcome"))
    count = failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for title in [options.format] if options.format else [*names, "core"]:
            own = [p for p in every if (p.file.startswith(f"src/formats/{title}/") if title != "core" else not p.file.startswith("src/formats/"))]
            failed += campaign(options, title, own, names if title == "core" else [title], pool)
            count += len(own)
    print(f"places: {count - failed} passed, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
