#!/usr/bin/env python3
"""Repairs that are killed, and inputs that change meanwhile: P10 and P11 with real processes and a large capture.

    interrupted.py [--tool PATH] [--size BYTES] [--kills N] [--work DIR] [--seed N]

A damaged fxt capture of --size (500M) is repaired, with a manifest, and killed (SIGKILL) at --kills (50) moments that are spread over the
time of an undisturbed run: the input is as it was; the output is not there, or is whole; a manifest never stands beside an output that it
does not fit; the next run succeeds and leaves nothing else behind. Then the input grows, shrinks, is replaced, and is rewritten in
place, at five moments each: the run ends with 5, or with the result of one of the two inputs where it was read before or after the
change; and the other content is untouched. The last line is "N passed, N failed"."""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def digest(path):
    sha = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()


def size_of(text):
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]] if text[-1] in "KMG" else int(text)


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.input, self.output = os.path.join(work, "in.fxt"), os.path.join(work, "out.fxt")
        self.manifest = os.path.join(work, "manifest.json")
        self.passed = self.failed = 0

    def judge(self, what, wrong):
        self.passed += not wrong
        self.failed += bool(wrong)
        if wrong:
            print(f"FAILED {what}: {wrong}", flush=True)

    def start(self):
        return subprocess.Popen([self.options.tool, "repair", "-q", self.input, "-o", self.output, "--manifest", self.manifest], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def clear(self):
        for path in (self.output, self.manifest):
            if os.path.exists(path):
                os.remove(path)

    def make(self):
        small = os.path.join(self.work, "made")
        subprocess.run([self.options.tool, "gen", "-q", "-f", "fxt", "--size", "4M", "--seed", str(self.options.seed), "--without", "big-endian", "-o", small], check=True)
        part = next(os.path.join(small, f) for f in os.listdir(small) if f.endswith(".fxt"))
        with open(part, "rb") as f:
            data = f.read()
        # The same records again and again, each time with a hole.
        with open(self.input, "wb") as f:
            for number in range(max(1, size_of(self.options.size) // len(data))):
                at = 4096 + 8 * (number * 977 % (len(data) // 8 - 1024))
                f.write(data[:at] + bytes(64) + data[at + 64:])
        shutil.rmtree(small)

    def left(self):
        """What stands in the folder beside what is known."""
        known = {os.path.basename(p) for p in (self.input, self.output, self.manifest)} | {"keep.fxt"}
        return sorted(set(os.listdir(self.work)) - known)

    def manifest_fits(self):
        if not os.path.exists(self.manifest):
            return ""
        with open(self.manifest, encoding="utf-8") as f:
            try:
                said = json.dumps(json.load(f))
            except ValueError:
                return "the manifest is cut"
        if not os.path.exists(self.output):
            return "" # a manifest gets its name before the output; it names the digest of what was to come
        return "" if digest(self.output) in said else "the manifest does not fit the output"


def kills(b, whole, good, before):
    for n in range(b.options.kills):
        b.clear()
        with b.start() as child:
            time.sleep(whole * (n + 1) / (b.options.kills + 1))
            child.kill()
            code = child.wait()
        wrong = b.manifest_fits()
        if not wrong and os.path.exists(b.output) and digest(b.output) != good:
            wrong = "a part of the output has its name"
        if not wrong and n % 10 == 9 and digest(b.input) != before:
            wrong = "the input is another one"
        b.judge(f"kill {n + 1} of {b.options.kills} (exit {code})", wrong)
    with b.start() as child:
        code = child.wait()
    b.judge("the next run", "" if code in (0, 1, 3) and digest(b.output) == good and not b.left() else f"exit {code}, left {b.left()}")


def changes(b, whole, good, before):
    keep = os.path.join(b.work, "keep.fxt")
    os.rename(b.input, keep)

    def grow():
        with open(b.input, "ab") as f:
            f.write(bytes(4096))

    def shrink():
        os.truncate(b.input, os.path.getsize(b.input) // 2)

    def replace():
        other = b.input + ".new"
        shutil.copyfile(keep, other)
        with open(other, "r+b") as f:
            f.write(b"replaced")
        os.rename(other, b.input)

    def rewrite():
        with open(b.input, "r+b") as f:
            f.seek(os.path.getsize(b.input) // 3)
            f.write(b"rewritten" * 100)
    for change in (grow, shrink, replace, rewrite):
        for n in range(5):
            b.clear()
            shutil.copyfile(keep, b.input)
            with b.start() as child:
                time.sleep(whole * (n + 1) / 7)
                running = child.poll() is None
                change()
                changed = digest(b.input)
                code = child.wait()
            wrong = b.manifest_fits()
            there = os.path.exists(b.output)
            if not wrong and digest(b.input) != changed:
                wrong = "the input was changed by us"
            if not wrong and running and (code != 5 or there) and not (there and digest(b.output) == good):
                wrong = f"exit {code}, output {'is there' if there else 'is not there'}"
            if not wrong and b.left():
                wrong = f"left: {b.left()}"
            b.judge(f"{change.__name__} at {n + 1}/7", wrong)
    b.judge("the kept capture", "" if digest(keep) == before else "was changed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default=os.path.join(HERE, "..", "..", "build", "tracemend"))
    parser.add_argument("--size", default="500M")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work")
    options = parser.parse_args()
    options.tool = os.path.realpath(options.tool)
    with tempfile.TemporaryDirectory(prefix="tracemend-interrupted-", dir=options.work) as work:
        b = Bench(options, work)
        b.make()
        before = digest(b.input)
        begin = time.monotonic()
        with b.start() as child:
            code = child.wait()
        whole = time.monotonic() - begin
        if code not in (0, 1, 3) or not os.path.exists(b.output):
            print(f"the repair ends with {code}")
            return 1
        good = digest(b.output)
        print(f"{os.path.getsize(b.input)} bytes, repaired in {whole:.1f} s (exit {code})", flush=True)
        kills(b, whole, good, before)
        changes(b, whole, good, before)
    print(f"{b.passed} passed, {b.failed} failed")
    return b.failed > 0


sys.exit(main())
