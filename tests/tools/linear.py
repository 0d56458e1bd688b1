#!/usr/bin/env python3
"""Is the work linear in the input, also when it is built to be hostile? Instructions are counted, not seconds.

    linear.py [--tool PATH] [--format NAME] [--size BYTES]

For each format, captures of a size and of four times that size: what gen makes, the same with every 997th byte changed,
and the bytes of each invalid corpus file again and again. A row is the family whose instructions a byte grew most. Four
times the input may take LIMIT times the work of a run less the work of an empty one. Exit 1 when one takes more. Needs valgrind.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import TOP, files_below, formats, generate, read, unpack  # noqa: E402

LIMIT = 4.8  # 4 is linear; a bounded logarithm or a table that grows by doubling stays below


def instructions(tool, name, path):
    with tempfile.TemporaryDirectory() as scratch:
        result = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", tool, "check", "-q", "-f", name,
                                 path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=1800, check=False)
    found = re.search(rb"Collected : (\d+)", result.stderr)
    if not found or result.returncode not in (0, 1, 4, 6):
        raise RuntimeError(f"{path}: exit {result.returncode}: {result.stderr.decode(errors='replace')[-300:]}")
    return int(found.group(1))


def largest(path):
    return max(files_below(path), key=os.path.getsize)


def generated(tool, name, size, folder):
    [(_, path)] = generate(tool, name, folder, "--seed", "3", "--size", str(size))
    return path


def spoiled(path):
    for file in files_below(path):
        with open(file, "r+b") as f:
            data = bytearray(f.read())
            for at in range(997, len(data), 997):
                data[at] ^= 0xff
            f.seek(0)
            f.write(data)
    return path


def repeated(source, size, folder):
    """The capture with the bytes of its largest file again and again."""
    target = os.path.join(folder, "repeated")
    if source.endswith(".tar"):
        unpack(source, target)
    else:
        shutil.copy(source, target)
    file = largest(target)
    data = read(file)
    if not data:
        return None
    with open(file, "wb") as f:
        for _ in range(max(1, size // len(data))):
            f.write(data)
    return target


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--format")
    parser.add_argument("--size", type=int, default=250_000)
    parser.add_argument("--every", type=int, default=8, help="every which invalid corpus file")
    options = parser.parse_args()
    os.chdir(TOP)
    names = [options.format] if options.format else formats(options.tool)
    failed = False
    for name in names:
        families = {"generated": lambda size, folder: generated(options.tool, name, size, folder + "/g"),
                    "generated, spoiled": lambda size, folder: spoiled(generated(options.tool, name, size, folder + "/g"))}
        for source in sorted(glob.glob(f"corpus/{name}/invalid/*"))[::options.every]:
            families[os.path.basename(source)] = lambda size, folder, source=source: repeated(source, size, folder)
        worst, rows = 0.0, 0
        for family, make in families.items():
            work = []
            for size in (options.size // 16, options.size, 4 * options.size):
                with tempfile.TemporaryDirectory(prefix="tracemend-linear-") as folder:
                    path = make(size, folder)
                    if path is None:
                        break
                    work.append((sum(map(os.path.getsize, files_below(path))), instructions(options.tool, name, path)))
            if len(work) < 3:
                continue
            rows += 1
            (s0, w0), (s1, w1), (s2, w2) = work
            # Work a byte of the second and of the third stretch, so that what a run costs anyway drops out.
            growth = ((w2 - w0) / max(1, s2 - s0)) / max(1e-9, (w1 - w0) / max(1, s1 - s0)) * 4 if w1 > w0 else 4.0
            worst = max(worst, growth)
            if growth > LIMIT:
                failed = True
                print(f"{name}: {family}: {s1} bytes take {w1} instructions, {s2} bytes {w2}: {growth:.2f} times", flush=True)
        print(f"{name}: {rows} families, four times the input is at most {worst:.2f} times the work (limit {LIMIT})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
