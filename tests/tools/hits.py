#!/usr/bin/env python3
"""Thousands of damaged captures: no crash, no hang, no exit 70.

    hits.py [--tool PATH] [--format NAME] [--count N] [--seed N] [--samples DIR] [--keep DIR]

Each is checked and repaired. Two in three come from real captures (of up to 4 MB), where --samples or SAMPLES names some; the others are
generated. One to three kinds of damage each. Of a run, the exit codes are counted; it is bad when it is ended by a signal, when it
exits with 70 or a code that is none of the documented ones, when a sanitizer speaks, or when it takes more than 2 seconds, and 2 more for
each MB, of processor time. Bad ones are kept. Exit 1 if there are any.
"""
import argparse
import collections
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import TOP, files_of, formats, generate, unpack  # noqa: E402

LARGEST = 4 << 20
SECONDS, A_MEGABYTE = 2.0, 2.0
DOCUMENTED = {"check": {0, 1, 4, 5, 6}, "repair": {0, 3, 4, 6}}
WORDS = (0, 1, 0x7f, 0x7fffffff, 0x80000000, 0xffffffff, 0xffff, 0x10000, 0x1000)


def place(rng, data, length=1):
    """An offset; in half of all cases near the beginning, where headers are."""
    room = max(len(data) - length, 0)
    return rng.randint(0, min(room, 4096) if rng.random() < 0.5 else room)


def fill(rng, length):
    return rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length)))


def bits(rng, data, _):
    for _ in range(rng.choice((1, 2, 25, 400))):
        if data:
            data[place(rng, data)] ^= 1 << rng.randrange(8)


def overwritten(rng, data, _):
    length = min(rng.choice((1, 8, 16, 64, 512, 4096)), len(data))
    at = place(rng, data, length)
    data[at:at + length] = fill(rng, length)


def word(rng, data, _):
    for _ in range(rng.choice((1, 1, 8))):
        size = rng.choice((2, 4, 8))
        at = place(rng, data, size) & -size
        value = (rng.choice(WORDS) + rng.choice((-1, 0, 0, 1))) % (1 << 8 * size)
        if at + size <= len(data):
            data[at:at + size] = value.to_bytes(size, rng.choice(("little", "big")))


def cut(rng, data, _):
    del data[place(rng, data):]
    if rng.random() < 0.4:
        data += fill(rng, rng.choice((1, 8, 512, 4096)))


def inserted(rng, data, _):
    at = place(rng, data)
    data[at:at] = fill(rng, rng.choice((1, 4, 8, 64, 4096)))


def deleted(rng, data, _):
    at = place(rng, data)
    del data[at:at + rng.choice((1, 4, 8, 64, 4096))]


def blocks(rng, data, other):
    length = rng.choice((8, 64, 512, 4096))
    at, to = place(rng, data, length) & -8, place(rng, data, length) & -8
    block = bytes(data[at:at + length])
    kind = rng.randrange(3)
    if kind == 0:
        data[at:at + length], data[to:to + length] = bytes(data[to:to + length]), block
    elif kind == 1:
        data[to:to] = block
    else:
        start = place(rng, other, length) & -8
        data[at:at + length] = other[start:start + length]


def lines(rng, data, _):
    if rng.random() < 0.2:
        data[:] = data.replace(b"\n", b"\r\n")
        return
    rows = bytes(data).split(b"\n")
    k = rng.randrange(len(rows))
    kind = rng.randrange(3)
    if kind == 0:
        del rows[k]
    elif kind == 1:
        rows.insert(k, rows[k] * rng.choice((1, 1, 200)))
    else:
        rows[k] = fill(rng, len(rows[k]))
    data[:] = b"\n".join(rows)


KINDS = (bits, overwritten, word, cut, inserted, deleted, blocks, lines)


def damaged(rng, files, other):
    files = {name: bytearray(data) for name, data in files.items()}
    spare = max(other.values(), key=len, default=b"")
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(sorted(files))
        if len(files) > 1 and rng.random() < 0.1:
            kind = rng.randrange(4)
            if kind == 0:
                del files[name]
            elif kind == 1:
                files[name] = bytearray()
            elif kind == 2:
                files[name + rng.choice((".orig", "~", "0"))] = files.pop(name)
            else:
                files[name] = bytearray(files[rng.choice(sorted(files))])
            continue
        rng.choice(KINDS)(rng, files[name], spare)
    return files


def write(files, path):
    if list(files) == [""]:
        with open(path, "wb") as f:
            f.write(files[""])
        return
    for name, data in files.items():
        full = os.path.join(path, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(data)
    os.makedirs(path, exist_ok=True)


def real(samples, name, work):
    """The real captures of a format: {file: bytes} each."""
    folder = os.path.join(samples or "", name)
    found = []
    for one in sorted(os.listdir(folder)) if samples and os.path.isdir(folder) else []:
        path = os.path.join(folder, one)
        if one.endswith(".tar.gz"):
            target = os.path.join(work, one)
            unpack(path, target)
            path = target
            while len(os.listdir(path)) == 1 and os.path.isdir(os.path.join(path, os.listdir(path)[0])):
                path = os.path.join(path, os.listdir(path)[0])
        files = files_of(path)
        if 0 < sum(map(len, files.values())) <= LARGEST:
            found.append(files)
    return found


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(tool, name, command, path, out):
    """(exit code, seconds, what is bad about it or None)."""
    arguments = [tool, command, "-q", *(["-o", out] if command == "repair" else ["-j1"]), path]
    if name:
        arguments[2:2] = ["-f", name]
    before = spent()
    try:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return None, spent() - before, "no end"
    seconds = spent() - before
    if done.returncode < 0:
        return done.returncode, seconds, f"signal {-done.returncode}"
    if b"Sanitizer" in done.stderr or b"runtime error" in done.stderr:
        return done.returncode, seconds, "sanitizer"
    if done.returncode not in DOCUMENTED[command]:
        return done.returncode, seconds, f"exit {done.returncode}: {done.stderr.decode(errors='replace')[:200]}"
    return done.returncode, seconds, None


def campaign(options, name, work):
    rng = random.Random(f"{options.seed} {name}")
    own = [files_of(path) for _, path in generate(options.tool, name, os.path.join(work, "made"), "--count", "12", "--size", "16K")]
    recorded = real(options.samples, name, work)
    codes, bad, worst = collections.Counter(), 0, 0.0
    for k in range(options.count):
        pool = recorded if recorded and k % 3 else own
        files = damaged(rng, rng.choice(pool), rng.choice(rng.choice((own, recorded or own))))
        path, out = os.path.join(work, "in"), os.path.join(work, "out")
        write(files, path)
        megabytes = sum(map(len, files.values())) / (1 << 20)
        for command in ("check", "repair"):
            # One in four is recognised, and not told.
            code, seconds, why = run(options.tool, name if k % 4 else None, command, path, out)
            codes[f"{command} {code}"] += 1
            worst = max(worst, seconds / (1 + megabytes))
            if not why and seconds > SECONDS + A_MEGABYTE * megabytes:
                why = f"{seconds:.1f} s for {megabytes:.2f} MB"
            if why:
                bad += 1
                kept = os.path.join(options.keep, f"{name}-{options.seed}-{k}")
                print(f"{name}: {k}: {command}: {why}; kept as {kept}", flush=True)
                if not os.path.exists(kept):
                    os.makedirs(options.keep, exist_ok=True)
                    (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, kept)
        for one in (path, out):
            if os.path.isdir(one):
                shutil.rmtree(one)
            elif os.path.exists(one):
                os.remove(one)
    said = ", ".join(f"{what}: {n}" for what, n in sorted(codes.items()))
    print(f"{name}: {options.count} damaged captures, {len(recorded)} real ones among their sources; {said}; at most {worst:.2f} s a MB (and one); {bad} bad", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--format")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", default=os.environ.get("SAMPLES") or "../shared/samples")
    parser.add_argument("--keep", default="build/hits")
    options = parser.parse_args()
    os.chdir(TOP)
    if not os.path.isdir(options.samples):
        options.samples = None
    bad = 0
    for name in [options.format] if options.format else formats(options.tool):
        with tempfile.TemporaryDirectory(prefix="tracemend-hits-") as work:
            bad += campaign(options, name, work)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
