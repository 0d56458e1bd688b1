#!/usr/bin/env python3
"""Each place that reports a rule, silenced: does a test of `make test-<format>` fail?

    knockout.py [--format NAME] [--jobs N] [--build DIR] [--list]

Needs `make sites`: a build in which each place has a number (src/core/place.h). First the captures of the corpus are run once each, to
learn which places they reach; then each place is silenced over the captures that reach it, and the outcomes must not be those
that are kept. Prints the places that nothing reaches and those that nobody misses. Exit 1 if there are any.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import outcomes  # noqa: E402


def places(tool):
    """[(number, file, line, rule)]"""
    said = subprocess.run([tool], stderr=subprocess.PIPE, env={**os.environ, "TM_SITES": "list"}, check=False).stderr.decode()
    return [(int(n), path, int(line), rule) for n, path, line, rule in re.findall(r"^(\d+) ([^:]+):(\d+) (.*)$", said, re.M)]


def reached(tool, name, folder, jobs, run):
    """{place: [files that reach it]}; run: outcomes.outcomes or outcomes.sweep"""
    files = [one["file"] for one in outcomes.kept(folder)]
    of = {}

    def one(file):
        with tempfile.TemporaryDirectory(prefix="tracemend-places-") as work:
            hits = os.path.join(work, "hits")
            run(tool, name, folder, {"TM_SITES_HIT": hits}, [file])
            with open(hits, encoding="utf-8") as f:
                return file, {int(n) for n in f.read().split()}
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        for file, numbers in pool.map(one, files):
            for n in numbers:
                of.setdefault(n, []).append(file)
    return of


def missed(tool, name, folder, number, files, wanted, run):
    """Whether an outcome differs with that place silenced."""
    for at in range(0, len(files), 8):  # most places are missed in the first captures
        some = files[at:at + 8]
        now, codes = run(tool, name, folder, {"TM_KNOCKOUT": str(number)}, some)
        if any(codes) or [one for one in now] != [wanted[f] for f in some]:
            return True
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--format")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", default="build/sites")
    parser.add_argument("--list", action="store_true", help="print all places and the captures that reach each")
    options = parser.parse_args()
    os.chdir(os.path.join(HERE, "..", ".."))
    tool = os.path.abspath(os.path.join(options.build, "outcome"))
    every = places(tool)
    names = [options.format] if options.format else sorted(n for n in os.listdir("corpus") if os.path.exists(f"corpus/{n}/outcomes.jsonl"))
    bad = 0
    for name in names:
        folder = f"corpus/{name}"
        own = [p for p in every if p[1].startswith(f"src/formats/{name}/")]
        left, found = own, 0
        # Damaged copies take longer: only for places that no capture as it is misses.
        for run, file in ((outcomes.outcomes, "outcomes.jsonl"), (outcomes.sweep, "sweep.jsonl")):
            wanted = {one["file"]: one for one in outcomes.kept(folder, file)}
            by_place = reached(tool, name, folder, options.jobs, run) if left else {}
            with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
                jobs = [(p, pool.submit(missed, tool, name, folder, p[0], by_place[p[0]], wanted, run) if p[0] in by_place else None)
                        for p in left]
                left = [p for p, job in jobs if job is None or not job.result()]
            if options.list:
                for number, path, line, rule in own:
                    print(f"{number} {path}:{line} {rule}: {' '.join(by_place.get(number, [])[:5])}")
        for number, path, line, rule in left:
            print(f"{'not missed' if number in by_place else 'not reached'}: {path}:{line} {rule} {' '.join(by_place.get(number, [])[:3])}")
        found = len(own) - len(left)
        bad += len(own) - found
        print(f"{name}: {found} of {len(own)} places are missed when they are silent")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
