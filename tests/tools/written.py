#!/usr/bin/env python3
"""Valid captures of independent writers, made from the source documents alone: check reports no error and counts their records, repair
gives back the same bytes.

    written.py [FORMAT...] [--count N] [--seed N] [--tool PROGRAM] [--keep DIR]

A format brings tests/formats/<f>/<f>_write.py with make(rng) -> ({file name: bytes}, records or None); a single file has the name "".
--keep leaves those that fail in DIR. The last line is "N passed, M failed".
"""
import argparse
import importlib
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

import harness
import truth

BATCH = 50


def problem_of(tool, name, path, report, records, folder):
    """What is wrong with a capture and its report, or None."""
    errors = [f for f in report["findings"] if f["severity"] == "error"]
    if errors:
        return f"{errors[0]['rule']} at {errors[0]['offset']}: {errors[0]['message']}"
    if report["format"] != name:
        return f"is taken for {report['format']}"
    if records is not None and report["records"] != records:
        return f"has {records} records; check counts {report['records']}"
    out = os.path.join(folder, "out")
    result = harness.run(tool, "repair", "-q", "-f", name, "-o", out, path)
    if result.returncode not in (0, 3) or not os.path.exists(out):
        return f"repair exits {result.returncode}"
    same = truth.files_of(out) == truth.files_of(path)
    shutil.rmtree(out) if os.path.isdir(out) else os.remove(out)
    return None if same else "repair changes it"


def judge(tool, name, seeds, keep):
    """[(seed, what is wrong)] of the captures of these seeds."""
    writer, bad = importlib.import_module(f"{name}_write"), []
    with tempfile.TemporaryDirectory(prefix="written.") as folder:
        paths, made = {}, {}
        for seed in seeds:
            files, records = writer.make(random.Random(f"{name} {seed}"))
            paths[seed] = truth.write(files, os.path.join(folder, f"{name}-{seed}"), f".{name}")
            made[seed] = files, records
        found = harness.check_all(tool, name, list(paths.values()))
        for seed, path in paths.items():
            files, records = made[seed]
            what = problem_of(tool, name, path, found[path], records, folder)
            if what is None:
                continue
            bad.append((seed, what))
            if keep:
                truth.write(files, os.path.join(keep, os.path.basename(path).partition(".")[0]), os.path.splitext(path)[1])
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", metavar="FORMAT")
    parser.add_argument("--count", type=int, default=40, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first capture")
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    here = [name for name in harness.formats(options.tool) if os.path.exists(os.path.join(harness.TESTS, "formats", name, f"{name}_write.py"))]
    names = [name for name in options.formats or here if name in here]
    if not names:
        print("no writer for " + " ".join(options.formats))
        return 77
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    failed = 0
    for name in names:
        for first in range(options.seed, options.seed + options.count, BATCH):
            seeds = range(first, min(first + BATCH, options.seed + options.count))
            for seed, what in judge(options.tool, name, seeds, options.keep):
                print(f"{name}, seed {seed}: {what}")
                failed += 1
    print(f"{len(names) * options.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
