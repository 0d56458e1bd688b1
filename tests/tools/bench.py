#!/usr/bin/env python3
"""Speed and memory of check beside cat and the format's usual reader, on the same file in the same run. See bench.sh."""
import argparse
import math
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import Problem, files_below, files_of, formats, generate, read, size_of  # noqa: E402
import lttng_parse  # noqa: E402

READERS = {
    "uftrace": ["uftrace", "report", "-d", "{}"],
    "tracedat": ["trace-cmd", "report", "-i", "{}"],
}


def measure(command):
    """(seconds, peak resident KiB, exit code) of one run. time(1) stands between, as the peak of a child that Python
    forks counts Python's own memory."""
    with tempfile.NamedTemporaryFile("r") as peak:
        start = time.monotonic()
        code = subprocess.call(["/usr/bin/time", "-q", "-f", "%M", "-o", peak.name, *command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        return seconds, int(peak.read().split()[-1]), code


def cat_of(path):
    return ["cat", *sorted(files_below(path))]


def repeat(path, size, head, folder):
    """A file of `size` bytes: the first `head` bytes of path once, the rest again and again (whole). Or a trace of LTTng 2.x."""
    if os.path.isdir(path):
        return repeat_later(path, size, folder)
    out = os.path.join(folder, "repeated" + os.path.splitext(path)[1])
    data = read(path)
    first, body = data[:head], data[head:]
    with open(out, "wb") as f:
        f.write(first)
        for _ in range(max(1, (size - head) // len(body))):
            f.write(body)
    return out


def stamps(data, events):
    """Where a tracefile of LTTng 2.x has whole stamps, all 64 bits: begin and end of its blocks, and events that tell theirs."""
    order = "<" if data[16:20] == struct.pack("<I", lttng_parse.MAGIC) else ">"
    natural = tuple(data[20:22]) in ((2, 4), (2, 5))
    at = 0
    while at < len(data):
        yield order, at
        yield order, at + 8
        at += struct.unpack_from(order + "I", data, at + 56)[0]
    for start, _ in events:
        if struct.unpack_from(order + "I", data, start)[0] >> 27 == 29:
            yield order, lttng_parse.align(start + 8, data[23] and (8 if natural else data[23]))


def repeat_later(path, size, folder):
    """A trace of at least `size` bytes: the blocks of each tracefile again and again, each time later by a multiple of 2^27 cycles,
    which the stamps of most events do not show. Counts of lost events start anew, which check reports."""
    files = files_of(path)
    events = lttng_parse.records(files)
    places = {name: [(order, at, struct.unpack_from(order + "Q", data, at)[0]) for order, at in stamps(data, events.get(name, []))]
              for name, data in files.items() if re.search(r"_\d+$", name) and "metadata" not in name and data}
    if not places:
        raise RuntimeError(f"{path}: has no tracefiles")
    seen = [stamp for each in places.values() for _, _, stamp in each]
    step = ((max(seen) - min(seen) >> 27) + 1) << 27
    once = sum(len(files[name]) for name in places)
    out = os.path.join(folder, "repeated")
    for name, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(out, name)), exist_ok=True)
        with open(os.path.join(out, name), "wb") as f:
            for again in range(-(-size // once) if name in places else 1):
                later = bytearray(data)
                for order, at, stamp in places.get(name, ()):
                    struct.pack_into(order + "Q", later, at, stamp + again * step)
                f.write(later)
    return out


def bench(options, what, path, lines):
    size = size_of(path)
    best = {}
    peak = {}
    code = {}
    commands = {"cat": cat_of(path), "check": [options.tool, "check", "-q", path]}
    reader = READERS.get(what)
    if reader and shutil.which(reader[0]) and size <= options.reader_max:
        commands[" ".join(reader[:2])] = [part.format(path) for part in reader]
    measure(commands["cat"])  # into the page cache
    for _ in range(options.runs):
        for label, command in commands.items():
            if label not in ("cat", "check") and label in best:
                continue  # the slow ones once
            seconds, rss, exit_code = measure(command)
            best[label] = min(best.get(label, seconds), seconds)
            peak[label] = max(peak.get(label, 0), rss)
            code[label] = exit_code
    for label in commands:
        lines.append((what, f"{size / 1e6:.0f} MB", label, f"{best[label]:.3f}", f"{size / 1e6 / best[label]:.0f}",
                      f"{best['cat'] / best[label]:.2f}", f"{peak[label] / 1024:.1f}", str(code[label])))
    return peak["check"], code["check"]


def processor_time(command):
    """Seconds of processor, its children's included, of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.call(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bench_seeds(options, name, lines):
    """The slowest of the captures of many seeds, and their median, in bytes a second of processor: what one seed shows may be luck.
    The captures take turns in each run, so that a slow moment of the machine does not count for one of them alone."""
    with tempfile.TemporaryDirectory(prefix="tracemend-bench-") as folder:
        best = {}
        for seed in range(1, options.seeds + 1):
            path = generate(options.tool, name, os.path.join(folder, str(seed)), "--size", str(options.seed_size), "--seed", str(seed))[0][1]
            best[seed, path] = {"check": math.inf, "cat": math.inf}
        for _ in range(options.runs):
            for (_, path), seconds in best.items():
                for label, command in (("cat", cat_of(path)), ("check", [options.tool, "check", "-q", "-j1", "--no-config", path])):
                    seconds[label] = min(seconds[label], processor_time(command))
        speeds = sorted((size_of(path) / max(seconds["check"], 1e-6), seconds["cat"] / max(seconds["check"], 1e-6), seed, size_of(path), seconds["check"])
                        for (seed, path), seconds in best.items())
    for what, (speed, of_cat, seed, size, seconds) in (("slowest", speeds[0]), ("median", speeds[len(speeds) // 2])):
        lines.append((name, f"{size / 1e6:.0f} MB", f"check, {what}: {seed}", f"{seconds:.3f}", f"{speed / 1e6:.0f}", f"{of_cat:.2f}", "", ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="?", const=12, default=0, metavar="N",
                        help="the slowest and the median of the captures of seeds 1 to N (12), by processor time")
    parser.add_argument("--seed-size", type=int, default=60_000_000)
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sizes", default="100000000,1000000000")
    parser.add_argument("--reader-max", type=int, default=200_000_000, help="larger captures are not given to slow readers")
    parser.add_argument("--repeat", help="use this file or trace of LTTng 2.x, repeated, instead of gen")
    parser.add_argument("--head", type=int, default=8, help="bytes of --repeat that come only once")
    parser.add_argument("formats", nargs="*")
    options = parser.parse_args()
    names = options.formats or formats(options.tool)
    lines = [("format", "capture", "program", "seconds", "MB/s", "of cat", "peak MiB", "exit")]
    failed = False
    for name in names if options.seeds else ():
        try:
            bench_seeds(options, name, lines)
        except (Problem, RuntimeError) as error:
            print(error, file=sys.stderr)
            failed = True
    for name in () if options.seeds else names:
        peaks = []
        for size in map(int, options.sizes.split(",")):
            with tempfile.TemporaryDirectory(prefix="tracemend-bench-") as folder:
                try:
                    path = repeat(options.repeat, size, options.head, folder) if options.repeat else generate(
                        options.tool, name, folder, "--size", str(size))[0][1]
                except (Problem, RuntimeError) as error:
                    print(error, file=sys.stderr)
                    failed = True
                    continue
                if size_of(path) < size / 2:
                    print(f"{name}: gen --size {size} made {size_of(path)} bytes", file=sys.stderr)
                    failed = True
                peak, code = bench(options, name, path, lines)
                failed |= code not in (0, 1)
                peaks.append(peak)
        if len(peaks) == 2 and peaks[1] > peaks[0] * 1.5 + 4096:
            print(f"{name}: memory grows with the file: {peaks[0]} KiB, then {peaks[1]} KiB", file=sys.stderr)
            failed = True
    for line in lines:
        print("{:9} {:>9} {:<20} {:>8} {:>7} {:>7} {:>9} {:>5}".format(*line))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
