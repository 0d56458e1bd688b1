#!/usr/bin/env python3
"""The records of a repaired capture against those of the original, as `dump` and `diff` see them: what is not the same is what the
manifest says, and nothing else.

    dumped.py [--tool PATH] [--formats NAME...] [--hits N] [--seed N] [-v]

Valid captures of the corpus are hit with noise or cut, so that offsets stay what they were, and repaired. A record of the original that
is missing touches bytes that were hit, dropped, changed or doubtful. A record that is new touches bytes that were made, changed or
doubtful. A record of which all bytes were kept says the same again; only a name may be a placeholder, where its declaration was lost.
Where the hit changed a declaration into another valid one, nobody can see it: records that refer to it say what it says now.
"""
import argparse
import collections
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from verify_manifest import ranges_of, segments_of  # noqa: E402

FORMATS = ("fxt", "ktrace", "lttng", "tracedat", "uftrace")
# Of directories: the files that hold records. What names and maps say is in no record.
RECORDS = {"uftrace": ".dat", "lttng": ""}
# Kinds of records to which others refer.
DECLARATIONS = ("string", "thread", "metadata", "initialization", "declaration")


def run(tool, *words):
    return subprocess.run([tool, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False)


def dump(tool, path):
    """The records, as dicts with a key that tells their meaning; None: it stopped early."""
    out = []
    done = run(tool, "dump", "--format=jsonl", path)
    for line in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        one = json.loads(line)
        if "kind" in one:
            one["key"] = (one["kind"], one["track"], one.get("time"), one["name"], one["arguments"])
            out.append(one)
    return out if done.returncode in (0, 1) else None


class Ranges:
    """Byte ranges of files."""

    def __init__(self):
        self.of = collections.defaultdict(list)

    def add(self, file, start, length):
        self.of[file].append((start, start + length))

    def touch(self, file, start, length):
        return any(a < start + length and start < b or a == b and start <= a <= start + length for a, b in self.of[file])


class Manifest:
    """Where bytes went: what is not kept as it was, of the input and of the output; and pieces of the output by their source."""

    def __init__(self, path, folder):
        with open(path, encoding="utf-8") as f:
            m = json.load(f)
        names = [member["file"] if folder else "" for member in m["inputs"]]
        self.input, self.output, self.copies = Ranges(), Ranges(), collections.defaultdict(list)
        for key in ("dropped", "doubtful"):
            for r in ranges_of(m, key):
                self.input.add(names[r["input"]], r["from"], r["length"])
        for output in m["outputs"]:
            end = collections.defaultdict(int)
            for s in segments_of(output):
                if "bytes" in s or s.get("why"):
                    self.output.add(output["file"], s["offset"], s["length"])
                    continue
                name = names[s["input"]]
                if s["from"] != end[name]:  # something stood here that is no longer there
                    self.input.add(name, end[name], s["from"] - end[name])
                    self.output.add(output["file"], s["offset"], 0)
                end[name] = s["from"] + s["length"]
                self.copies[output["file"]].append((s["offset"], s["length"], name, s["from"]))

    def source(self, file, start, length):
        """Where whole bytes of an output come from, (file, offset); None: from several places."""
        for offset, size, name, begin in self.copies[file]:
            if offset <= start and start + length <= offset + size:
                return name, begin + start - offset
        return None


def hit(draw, path, name, folder):
    """Damages the capture, and returns the ranges."""
    hits = Ranges()
    files = [path] if not folder else sorted(f for at, _, some in os.walk(path) for f in (os.path.join(at, one) for one in some)
                                             if f.endswith(RECORDS[name]) and os.path.getsize(f))
    file = draw.choice(files)
    size = os.path.getsize(file)
    member = os.path.relpath(file, path) if folder else ""
    with open(file, "r+b") as out:
        if draw.random() < .3:
            at = draw.randrange(size // 2, size)
            out.truncate(at)
            hits.add(member, at, size - at)
        else:
            at = draw.randrange(size)
            data = draw.randbytes(draw.choice((1, 4, 8, 16, 64)))[:size - at]
            out.seek(at)
            out.write(data)
            hits.add(member, at, len(data))
    return hits


def counted(records):
    return collections.Counter(r["key"] for r in records)


def compare(before, after, hits, manifest):
    """What the manifest does not say."""
    gone, new = counted(before) - counted(after), counted(after) - counted(before)
    places = {(r["file"], r["offset"]): r for r in before}
    declared = any(r["kind"].startswith(DECLARATIONS) and hits.touch(r["file"], r["offset"], r["length"]) for r in before)
    for r in after:
        if new[r["key"]] <= 0 or manifest.output.touch(r["file"], r["offset"], r["length"]):
            continue
        source = manifest.source(r["file"], r["offset"], r["length"])
        if not source or hits.touch(*source, r["length"]) or manifest.input.touch(*source, r["length"]):
            continue
        old = places.get(source)
        if not old:
            yield f"a record that the original does not have: {describe(r)}"
        elif not declared and not any("lost" in (text or "") for text in r["key"][1:]):
            yield f"kept, and says something else: {describe(old)} -> {describe(r)}"
        gone[old["key"] if old else None] -= 1
    for r in before:
        place = (r["file"], r["offset"])
        gone[r["key"]] -= hits.touch(*place, r["length"]) or manifest.input.touch(*place, r["length"])
    for key in +gone:
        yield f"missing, and the manifest does not say so, {gone[key]} times: {' '.join(k for k in key if k)}"


def describe(r):
    return f"{r['file']}:0x{r['offset']:x}+{r['length']} " + " ".join(str(k) for k in r["key"] if k)


def one(tool, name, path, seed, folder, work):
    """A case. Returns (what is wrong, records that differ), or None where there is nothing to compare."""
    broken, mended, told = (os.path.join(work, n) for n in ("broken", "mended", "manifest"))
    for old in (broken, mended):
        shutil.rmtree(old, ignore_errors=True)
        if os.path.exists(old):
            os.remove(old)
    if folder:
        shutil.copytree(path, broken)
        subprocess.run(["chmod", "-R", "u+w", broken], check=True)
    else:
        shutil.copyfile(path, broken)
    hits = hit(random.Random(f"{os.path.basename(path)} {seed}"), broken, name, folder)
    if run(tool, "repair", "-q", "-f", name, "--manifest", told, "-o", mended, broken).returncode not in (0, 3):
        return None
    before, after = dump(tool, path), dump(tool, mended)
    os.chmod(told, 0o644)
    found = list(compare(before, after, hits, Manifest(told, folder)))
    os.remove(told)
    # diff says the same of what is not in both.
    differ = sum((counted(before) - counted(after)).values()), sum((counted(after) - counted(before)).values())
    lines = run(tool, "diff", path, mended).stdout.decode("utf-8", "surrogateescape").splitlines()
    said = sum(line.startswith("- ") for line in lines), sum(line.startswith("+ ") for line in lines)
    if said != differ:
        found.append(f"diff names {said[0]} and {said[1]} records, dump has {differ[0]} and {differ[1]}")
    return found, sum(differ)


def captures(tool, name, work):
    """Valid captures whose records have bytes of their own, with whether they are directories."""
    for path in sorted(glob.glob(os.path.join(ROOT, "corpus", name, "valid", "*"))):
        if path.endswith((".gz", ".zst", ".xz", ".bz2")):
            continue
        facts = json.loads(run(tool, "info", "--format=json", path).stdout)["inputs"][0]["facts"]
        if any(f["key"] == "compression" for f in facts):
            continue
        folder = path.endswith(".tar")
        if folder:
            with tarfile.open(path) as tar:
                path = os.path.join(work, "sound-" + os.path.basename(path)[:-4])
                tar.extractall(path)
            while len(os.listdir(path)) == 1 and os.path.isdir(os.path.join(path, os.listdir(path)[0])):
                path = os.path.join(path, os.listdir(path)[0])
        yield path, folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default=os.path.join(ROOT, "build", "tracemend"))
    parser.add_argument("--formats", nargs="*", default=FORMATS)
    parser.add_argument("--hits", type=int, default=4, help="damaged copies of each capture")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    for name in options.formats:
        cases = differ = 0
        with tempfile.TemporaryDirectory() as work:
            for path, folder in captures(options.tool, name, work):
                for i in range(options.hits):
                    got = one(options.tool, name, path, options.seed + i, folder, work)
                    if not got:
                        continue
                    cases += 1
                    differ += got[1]
                    passed += not got[0]
                    failed += bool(got[0])
                    for line in got[0][:5]:
                        print(f"{name} {os.path.basename(path)} seed {options.seed + i}: {line}", flush=True)
        if options.verbose:
            print(f"{name}: {cases} repairs, {differ} records differ", flush=True)
        if not differ:
            failed += 1
            print(f"{name}: no record differs in {cases} repairs: nothing was compared")
    print(f"dumped: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
