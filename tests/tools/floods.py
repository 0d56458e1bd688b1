#!/usr/bin/env python3
"""Hostile captures of 1, 2, 4, 8 and 16 MB, by family: time and memory of check and repair, as a table.

    floods.py [--tool PATH] [--format NAME] [--sizes MB,MB,...] [--family TEXT] [--rounds N] [--again N]

A row is a family and a command: processor time at each size (the least of N runs), the largest ratio of one size to the one of half of it
(of times beyond 0.1 s: shorter ones are noise), the growth over all sizes (fitted, for twice the size), and the largest memory. Where a
ratio is beyond 2.2, both sizes are measured again, up to N times (6). One that stays beyond it is "not linear" if the growth is as well,
or if the largest capture takes a tenth more per byte than each smaller one; else a "step", from a smaller capture that was kinder: each
is one of its own. Rows that are not linear, memory beyond 64 MB, a signal and an exit with 70 are bad, and the exit code is 1 then.
Needs time(1).
"""
import argparse
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import TOP, files_below, files_of, formats, generate, read, unpack  # noqa: E402

RATIO, MEMORY, NOISE = 2.2, 64 << 10, 0.1  # memory in kB, as the system counts it
TEXT = re.compile(rb"[\x09\x0a\x20-\x7e]{24,}")


def times(data, size):
    """The bytes again and again, to that size."""
    return (data * (size // max(1, len(data)) + 1))[:size] if data else bytes(size)


def spoil(data, step, change):
    data = bytearray(data)
    for at in range(step, len(data) - 8, step):
        data[at:at + 8] = change(bytes(data[at:at + 8]), at)
    return bytes(data)


def far(width):
    """Sizes that lead far away, in each of several places of a capture."""
    def words(old, at):
        value = (1 << 8 * width - 1) - 1 - (at & 0xff)
        return value.to_bytes(width, "little") * (8 // width)
    return words


class Families:
    """The families of a format. `make(size)` gives the bytes of the largest file; the other files are as they were."""

    def __init__(self, tool, name, work):
        self.tool, self.name, self.work, self.grown = tool, name, work, {}
        [(_, path)] = generate(tool, name, os.path.join(work, "small"), "--seed", "3")
        self.small = files_of(path)
        self.target = max(self.small, key=lambda n: len(self.small[n]))
        self.seed = self.small[self.target]
        tops = sorted(os.listdir(f"corpus/{name}/invalid"))
        self.broken = [self.largest(f"corpus/{name}/invalid/{one}") for one in tops[::max(1, len(tops) // 4)][:4]]
        self.names = sorted({n for n in self.small if TEXT.search(self.small[n][:4096])})

    def largest(self, source):
        if source.endswith(".tar"):
            folder = os.path.join(self.work, "unpacked")
            shutil.rmtree(folder, ignore_errors=True)
            unpack(source, folder)
            return max((read(path) for path in files_below(folder)), key=len)
        return read(source)

    def large(self, size):
        """{name: bytes} of a generated capture of that size."""
        if size not in self.grown:
            folder = os.path.join(self.work, "large")
            [(_, path)] = generate(self.tool, self.name, folder, "--seed", "3", "--size", str(size))
            self.grown = {size: files_of(path)}
            shutil.rmtree(folder)
        return dict(self.grown[size])

    def of_large(self, change):
        def make(size):
            files = self.large(size)
            for name in files:
                if len(files[name]) > 4096:
                    files[name] = change(files[name])
            return files
        return make

    def of_seed(self, change):
        return lambda size: {**self.small, self.target: change(self.seed, size)}

    def of_text(self, change):
        """The text files of a directory, or the long texts of a file, grown."""
        def make(size):
            files = dict(self.small)
            if list(files) == [""]:
                data = files[""]
                found = max(TEXT.finditer(data), key=lambda m: len(m.group()), default=None)
                at, end = found.span() if found else (len(data), len(data))
                files[""] = data[:at] + change(data[at:end], size) + data[end:]
            else:
                for name in self.names:
                    files[name] = change(files[name], size // max(1, len(self.names)))
            return files
        return make

    def all(self):
        rng = random.Random(5)
        noise = rng.randbytes(1 << 16)
        seed, broken = self.seed, self.broken
        yield "as gen makes it", self.large
        yield "each 997th byte is another", self.of_large(lambda d: spoil(d, 997, lambda old, _: bytes((old[0] ^ 0xff,)) + old[1:]))
        yield "each 64th byte is another", self.of_large(lambda d: spoil(d, 64, lambda old, _: bytes((old[0] ^ 0x41,)) + old[1:]))
        yield "every second block of 64 is zeros", self.of_large(lambda d: b"".join(
            d[i:i + 64] if i & 64 else bytes(len(d[i:i + 64])) for i in range(0, len(d), 64)))
        yield "blocks of 64 changed places", self.of_large(lambda d: b"".join(d[i + 64:i + 128] + d[i:i + 64] for i in range(0, len(d), 128)))
        yield "far sizes of 4 bytes", self.of_large(lambda d: spoil(d, 256, far(4)))
        yield "far sizes of 2 bytes", self.of_large(lambda d: spoil(d, 256, far(2)))
        yield "CR LF", self.of_large(lambda d: d.replace(b"\n", b"\r\n"))
        yield "many sessions", self.of_seed(times)
        yield "zeros behind", self.of_seed(lambda d, size: d + bytes(size))
        yield "FF behind", self.of_seed(lambda d, size: d + b"\xff" * size)
        yield "noise behind", self.of_seed(lambda d, size: d + times(noise, size))
        yield "the last 64 bytes again", self.of_seed(lambda d, size: d + times(d[-64:], size))
        for i, one in enumerate(broken):
            yield f"valid and invalid in turn, {i + 1}", self.of_seed(lambda d, size, one=one: d + times(one + seed, size))
            yield f"invalid again and again, {i + 1}", self.of_seed(lambda d, size, one=one: times(one, size))
        yield "texts of newlines", self.of_text(lambda d, size: b"\n" * size)
        yield "texts again and again", self.of_text(times)
        yield "a line without end", self.of_text(lambda d, size: d + b"a" * size)
        if self.name == "tracedat":
            yield "kallsyms of newlines", self.kallsyms(b"\n")
            yield "kallsyms of lines and newlines", self.kallsyms(b"0 t a\n\n")
            yield "kallsyms of NUL and newlines", self.kallsyms(b"\0\n\n")
            yield "kallsyms of short lines", self.kallsyms(b"0 t a\n")
            yield "statistics of many instances", self.statistics
            yield "statistics, and data of no CPU", self.statistics_lost
            yield "many instances of many CPUs", self.cpus
            yield "the most CPUs of version 6, all lost", self.cpus_lost
            yield "the most instances, none where its option says", self.instances_lost
        if self.name == "uftrace":
            yield "many sessions of programs", self.sessions()
            yield "many sessions of programs without maps", self.sessions(maps=False)
            yield "many sessions of programs, their ids hit", self.sessions((b" sid=", b" sid=f"))
            yield "many sessions of programs, their times hit", self.sessions((b"timestamp=", b"timestamp=9"))
        if self.name == "lttng":
            yield "a block of lost types, no zero in it", lambda size: self.lost_types([size])
            yield "blocks of lost types, no zero in them", lambda size: self.lost_types([1 << 16] * (size >> 16))
            yield "a block of lost types, a zero each 64 KB", lambda size: self.lost_types([size], 1 << 16)

    def sessions(self, hit=(b"", b""), maps=True):
        """A directory with as many sessions, each of a program of its own, with a task, symbols and, if so, a map: of that size on a disk,
        where each of these files and its name take blocks of 4 KB."""
        def make(size):
            time, pid, sid, path = re.search(rb'SESS timestamp=(\d+\.\d+) pid=(\d+) sid=(\w+) exename="([^"]+)"',
                                             self.small["task.txt"]).groups()
            records = self.small[f"{int(pid)}.dat"][:512]
            mapped, symbols = (self.small[n.decode()] for n in (b"sid-" + sid + b".map", os.path.basename(path) + b".sym"))
            text, files = b"", {"info": self.small["info"]}
            for i in range(size // 16384):
                number, own, program = 100000 + i, sid[:8] + b"%08x" % i, path + b"%d" % i
                text += b'SESS timestamp=%s pid=%d sid=%s exename="%s"\n' % (time, number, own, program)
                text += b"TASK timestamp=%s tid=%d pid=%d\n" % (time, number, number)
                files[f"{number}.dat"] = records
                files[os.path.basename(program).decode() + ".sym"] = symbols.replace(path, program)
                if maps:
                    files[f"sid-{own.decode()}.map"] = mapped.replace(path, program)
            return {**files, "task.txt": text.replace(*hit) if hit[0] else text}
        return make

    @staticmethod
    def lost_types(blocks, zeros=0):
        """A trace of 2.6 without declarations, of blocks of these sizes, full of events without a zero byte but one each so many bytes."""
        rng, data, time = random.Random(5), [], 0xf4f5e000101
        filling = bytes(rng.randrange(1, 256) for _ in range(1 << 16))
        for size in blocks:
            first, block = time, bytearray()
            while len(block) < size - 128:
                time += 0x1234
                event = (rng.randrange(1, 29) << 27 | time & 0x7ffffff).to_bytes(4, "little")
                if 0 not in event:
                    at, length = rng.randrange(len(filling) - 64), rng.randrange(4, 40)
                    block += event + filling[at:at + length]
            if zeros:
                block[zeros::zeros] = bytes(len(block[zeros::zeros]))
            header = b"".join(n.to_bytes(8, "little") for n in (first, time)) + b"\xed\xb7\xd6\0\2\6\x08\0"
            header += b"".join(n.to_bytes(8, "little") for n in (1190626383, 654741, 1430335567))
            header += b"".join(n.to_bytes(4, "little") for n in (1, 68 + len(block), size, 0, 0))
            data.append((header + block).ljust(size, b"\0"))
        return {"kernel_0": b"".join(data), "metadata_0": b""}

    @staticmethod
    def option(number, payload, order):
        return number.to_bytes(2, order) + len(payload).to_bytes(4, order) + payload

    def counts(self, size, order):
        """A heading as long as all the statistics behind it, whose name is at its end, and statistics of few CPUs."""
        few = b"".join(self.option(2, b"CPU: %d\nentries: 9\nread events: 0\n" % (i % 8) + b" " * 200, order)
                       for i in range(min(size // 512, 60000)))
        return self.option(2, b"\nBuffe: " * (size // 16) + b"Buffer: i\n", order) + few

    def of_version(self, size, version):
        """A generated capture of that version, without compression."""
        path = os.path.join(self.work, "version")
        for seed in range(99):
            [(_, one)] = generate(self.tool, self.name, path, "--seed", str(seed), "--size", str(size))
            data = read(one)
            shutil.rmtree(path)
            if data[10:12] == version + b"\0" and (version == b"6" or data[18:23] == b"none\0"):
                return data, "big" if data[12] else "little"
        raise RuntimeError("no capture of that version")

    def instances(self, count, cpus, counts):
        """A capture of version 7 and as many instances of so many CPUs, one with a page; and a page that none has."""
        data, order = self.of_version(1, b"7")
        page = next(data[at:at + 4096] for at in range(4096, len(data), 4096))
        table, sections, at = [], [], len(data)
        for i in range(count):
            first = (at + 16 + 4095) // 4096 * 4096
            size = first + 8192 - at - 16
            entries = [(0, first, 4096)] + [(cpu, 0, 0) for cpu in range(1, cpus)]
            table.append(self.option(3, at.to_bytes(8, order) + b"i%d\0local\0" % i + (4096).to_bytes(4, order)
                                     + cpus.to_bytes(4, order) + b"".join(
                                         cpu.to_bytes(4, order) + to.to_bytes(8, order) + n.to_bytes(8, order) for cpu, to, n in entries),
                                     order))
            sections.append((3).to_bytes(2, order) + bytes(6) + size.to_bytes(8, order) + bytes(size - 8192) + page * 2)
            at += 16 + size
        options = b"".join(table) + counts(order) + self.option(0, bytes(8), order)
        header = bytes(8) + len(options).to_bytes(8, order)
        last = data.rindex(self.option(0, bytes(8), order))
        data = data[:last + 6] + at.to_bytes(8, order) + data[last + 14:]
        return {"": data + b"".join(sections) + header + options}

    def statistics(self, size):
        return self.instances(100, 1, lambda order: self.counts(size // 2, order))

    def cpus(self, size):
        return self.instances(min(1000, size // 16384), 200, lambda _: b"")

    def instances_lost(self, size):
        """A capture of version 7 with sections of event data, and with options of buffers that name none of them."""
        data, order = self.of_version(1, b"7")
        number = lambda value, length: value.to_bytes(length, order)
        at = data.index(b"\0", 18) + 1
        at = data.index(b"\0", at) + 1
        sections = min(3000, size // 64)
        empty = number(3, 2) + number(0, 6) + number(16, 8) + bytes(16)
        options = b"".join(self.option(3, number(5 + i % 3, 8) + b"i%d\0local\0" % i + number(4096, 4) + number(0, 4), order)
                           for i in range(sections // 4))
        options += number(0, 2) + number(8, 4) + data[at:at + 8]
        first = len(data) + len(empty) * sections
        return {"": data[:at] + number(first, 8) + data[at + 8:] + empty * sections + number(0, 8) + number(len(options), 8) + options}

    def table(self, size):
        """A capture of version 6, its byte order, where its options and its table of CPUs begin, and their number."""
        data, order = self.of_version(size, b"6")
        at = data.index(b"options  \0") + 10
        return data, order, at, data.index(b"flyrecord\0") + 10, int.from_bytes(data[at - 14:at - 10], order)

    def cpus_lost(self, size):
        """A table of as many CPUs as there may be, of zeros."""
        data, order, at, table, cpus = self.table(size)
        return {"": data[:at - 14] + (8192).to_bytes(4, order) + data[at - 10:table] + bytes(16 * 8192) + data[table + 16 * cpus:]}

    def statistics_lost(self, size):
        """A capture of version 6 with statistics, whose tables of CPUs are zeros."""
        data, order, at, table, cpus = self.table(size // 2)
        counts = self.counts(size // 2, order)
        counts += self.option(16, bytes(-(len(counts) + 6) % (1 << 16)), order)
        return {"": data[:at] + counts + data[at:table] + bytes(16 * cpus) + data[table + 16 * cpus:]}

    def kallsyms(self, line):
        """A capture of version 6 whose symbols are that line again and again."""
        source = next(path for path in sorted(files_below("corpus/tracedat/valid")) if read(path)[10:12] == b"6\0")
        data = read(source)
        order = "big" if data[12] else "little"

        def make(size):
            at = 18
            for _ in range(2):  # header_page, header_event: a name, the size in 8 bytes, the text
                at = data.index(b"\0", at) + 1
                at += 8 + int.from_bytes(data[at:at + 8], order)
            count, at = int.from_bytes(data[at:at + 4], order), at + 4
            for _ in range(count):
                at += 8 + int.from_bytes(data[at:at + 8], order)
            systems, at = int.from_bytes(data[at:at + 4], order), at + 4
            for _ in range(systems):
                at = data.index(b"\0", at) + 1
                count, at = int.from_bytes(data[at:at + 4], order), at + 4
                for _ in range(count):
                    at += 8 + int.from_bytes(data[at:at + 8], order)
            end = at + 4 + int.from_bytes(data[at:at + 4], order)
            text = times(line, size)
            return {"": data[:at] + len(text).to_bytes(4, order) + text + data[end:]}
        return make


def write(files, path):
    for name, data in files.items():
        full = os.path.join(path, name) if name else path
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(data)


def measure(tool, name, command, path, work):
    """(exit code, processor seconds, kB)."""
    out = os.path.join(work, "out")
    arguments = [tool, command, "-q", "-f", name, *(["-o", out] if command == "repair" else ["-j1"]), path]
    # By a small process: a child's largest memory begins as that of the process that made it.
    done = subprocess.run(["time", "-q", "-f", "%U %S %M", "-o", os.path.join(work, "time"), *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    user, system, memory = read(os.path.join(work, "time")).split()[-3:]
    if os.path.lexists(out):
        (shutil.rmtree if os.path.isdir(out) else os.remove)(out)
    return done.returncode, float(user) + float(system), int(memory)


def steepest(rows):
    """(ratio, index of the larger size) of the pair of sizes whose times differ most for twice the size; (0, 0): all are too short."""
    return max(((b[2] / a[2] * 2 * a[0] / b[0], i) for i, (a, b) in enumerate(zip(rows, rows[1:]), 1) if a[2] > NOISE and b[0] > a[0]),
               default=(0.0, 0))


def growth(rows):
    """By how much time grows for twice the size: a line fitted to the logarithms of both."""
    points = [(math.log2(r[0]), math.log2(r[2])) for r in rows if r[2] > NOISE]
    if len(points) < 2:
        return 0.0
    x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    square = sum((p[0] - x) ** 2 for p in points)
    return 2 ** (sum((p[0] - x) * (p[1] - y) for p in points) / square) if square else 0.0


def times_of(options, name, command, capture, work, before=None):
    """A row's entry for (path, size): (size, exit code, least seconds, largest kB); of the runs before, too."""
    path, size = capture
    runs = [measure(options.tool, name, command, path, work) for _ in range(options.rounds)] + ([before[1:]] if before else [])
    return size, runs[0][0], min(r[1] for r in runs), max(r[2] for r in runs)


def family(options, name, what, make, work):
    """The rows of a family. Returns whether one is bad."""
    captures, bad = [], False
    for megabytes in options.sizes:
        path, files = os.path.join(work, f"in-{megabytes}"), make(megabytes << 20)
        captures.append((path, sum(map(len, files.values()))))
        write(files, path)
        del files
    for command in ("check", "repair"):
        rows = [times_of(options, name, command, c, work) for c in captures]
        for _ in range(options.again):
            ratio, at = steepest(rows)
            if ratio > RATIO:
                for i in (at - 1, at):
                    rows[i] = times_of(options, name, command, captures[i], work, rows[i])
        ratio, grows, memory = steepest(rows)[0], growth(rows), max(r[3] for r in rows)
        dear = rows[-1][2] / rows[-1][0] > RATIO / 2 * max((r[2] / r[0] for r in rows[:-1] if r[2] > NOISE), default=math.inf)
        wrong = [f"exit {r[1]}" for r in rows if r[1] >= 70][:1]  # 128 and more: a signal
        wrong += ["not linear"] if grows > RATIO or dear else []
        wrong += ["memory"] if memory > MEMORY else []
        bad = bad or bool(wrong)
        wrong += ["step"] if ratio > RATIO and "not linear" not in wrong else []
        seconds = " ".join(f"{r[2]:7.2f}" for r in rows)
        print(f"{name:9} {what:36.36} {command:6} {seconds}  x{ratio:4.2f} x{grows:4.2f} {memory / 1024:6.1f} MB  "
              f"exit {rows[-1][1]} {' '.join(wrong)}", flush=True)
    for path, _ in captures:
        (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--format")
    parser.add_argument("--sizes", default="1,2,4,8,16")
    parser.add_argument("--family", default="", help="only families whose name has this text")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--again", type=int, default=6, help="so often is a pair of sizes measured again whose ratio is beyond the limit")
    options = parser.parse_args()
    options.sizes = [int(n) for n in options.sizes.split(",")]
    os.chdir(TOP)
    bad = 0
    print(f"{'format':9} {'family':36} {'':6} {' '.join(f'{n:4} MB' for n in options.sizes)}  ratio growth  memory (seconds of processor time)")
    for name in [options.format] if options.format else formats(options.tool):
        with tempfile.TemporaryDirectory(prefix="tracemend-floods-") as work:
            for what, make in Families(options.tool, name, work).all():
                if options.family in what:
                    bad += family(options, name, what, make, work)
    print(f"floods: {bad} families are bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
