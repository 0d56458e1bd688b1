#!/usr/bin/env python3
"""Damaged recordings, repaired, in front of the real uftrace: repair never ends with 70, and uftrace reads whatever it wrote.

Captures of real recorders ($SAMPLES) and generated ones are damaged as the truth meter does it, kind by kind, and repaired. uftrace is asked
about results of those captures that it reads undamaged: replay, report, dump and info must end by themselves with 0 and in time.

    uftrace_damaged.py [--tool PATH] [--count N] [--seed N] [--kind GLOB] [--capture GLOB] [--keep DIR]
N damages (default 200; about 0.2 s each). A failure names the damage, which --kind, --capture and --seed find again; --keep leaves its folder
there. The last line is "N passed, N failed". Exit 77 where uftrace is not installed.
"""
import argparse
import collections
import fnmatch
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import truth  # noqa: E402
from truth_damage import KINDS, OTHER, apply  # noqa: E402

COMMANDS = ("replay", "report", "dump", "info")
SECONDS = 20
LARGEST = 2 << 20  # a large capture takes uftrace long, and has no other files


def refusal(path):
    """Which command of uftrace refuses the directory, and what it says; None."""
    for command in COMMANDS:
        try:
            done = subprocess.run(["uftrace", command, "--no-pager", "-d", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"uftrace {command}: takes more than {SECONDS} s"
        if done.returncode:
            return f"uftrace {command}: exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[:200]}"
    return None


class Campaign:
    def __init__(self, options, work):
        self.options, self.work, self.count = options, work, collections.Counter()
        options.samples, options.largest = True, LARGEST
        parser = truth.parser_of("uftrace")
        self.meter = truth.Meter("uftrace", parser, truth.Tool(os.path.abspath(options.tool), parser, work), options)
        self.readable = [self.reads(capture.files) for capture in self.meter.captures]

    def folder(self):
        return tempfile.mkdtemp(dir=self.work)

    def reads(self, files):
        folder = self.folder()
        good = refusal(truth.write(files, os.path.join(folder, "capture"), "")) is None
        shutil.rmtree(folder)
        return good

    def damage(self, kind, number, k):
        """The damaged files, and whether uftrace reads all that went into them; None where the capture has no place for the damage."""
        hits = self.meter.hits_of(kind, number, k)
        if not hits:
            return None
        capture, other = self.meter.captures[number], self.meter.other(number, k)
        files, readable = capture.files, self.readable[number]
        if kind in ("two recordings", "foreign block"):
            readable &= self.readable[self.meter.captures.index(other)]
        if kind == "two recordings":
            files = {**files, **{OTHER + name: data for name, data in other.files.items()}}
        return apply(files, dict(enumerate(hits))).files, readable

    def judge(self, files, readable):
        """(what is wrong or None, the folder)."""
        folder = self.folder()
        path, out = truth.write(files, os.path.join(folder, "capture"), ""), os.path.join(folder, "out")
        try:
            done = subprocess.run([self.options.tool, "repair", "-q", "-o", out, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=truth.TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return "repair takes too long", folder
        self.count[f"exit {done.returncode}"] += 1
        if done.returncode not in (0, 3, 4):
            return f"repair: exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[:200]}", folder
        if done.returncode == 4 or not readable:
            return None, folder
        self.count["read by uftrace"] += 1
        return refusal(out), folder

    def run(self):
        captures, failed, done, k = self.meter.captures, 0, 0, 0
        kinds = [kind for kind in KINDS if fnmatch.fnmatch(kind, self.options.kind)]
        idle = 0
        while done < self.options.count and captures and idle < len(kinds) * len(captures):
            kind, number = kinds[k % len(kinds)], (k // len(kinds) + k) % len(captures)
            damaged = self.damage(kind, number, k // len(kinds))
            k += 1
            idle = idle + 1 if damaged is None else 0
            if damaged is None:
                continue
            done += 1
            wrong, folder = self.judge(*damaged)
            if wrong:
                failed += 1
                print(f"FAIL: {kind}, {captures[number].name}, {(k - 1) // len(kinds)}: {wrong}", flush=True)
                if self.options.keep:
                    shutil.copytree(folder, os.path.join(self.options.keep, f"{failed:04}"))
            shutil.rmtree(folder)
        print(f"{len(captures)} captures, {sum(self.readable)} that uftrace reads; " + ", ".join(f"{n} {what}" for what, n in sorted(self.count.items())))
        print(f"{done - failed} passed, {failed} failed")
        return 1 if failed or not done else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="*")
    parser.add_argument("--capture", default="*")
    parser.add_argument("--keep")
    options = parser.parse_args()
    if not shutil.which("uftrace"):
        print("skip: uftrace is not installed")
        return 77
    work = tempfile.mkdtemp()
    try:
        return Campaign(options, work).run()
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
