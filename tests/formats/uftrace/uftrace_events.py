"""The events of a uftrace directory: the bytes of each, what it means, what it needs. Written from the page "Data Format" and from what uftrace 0.13
does; nothing is shared with the program.

    read(files, places=False) -> Reading    the protocol of tests/lib/truth.py

An event is a record of a task with its values (task, time, kind, depth, address, bytes of the values), a perf record, a page of the kernel. The
length of values is not taken from the specifications: it is the first behind which a record stands that fits, by its magic, its time, its
depth, and its address, which must be mapped, or that of the open call. All else is lines: each line of a text is a registration, with its text as
its meaning. What only repeats or frames (the header of info, lists of tasks, numbers of lines, argument specifications) is none.
"""
import os
import re
import struct
import sys
from collections import namedtuple

Reading = namedtuple("Reading", "events problems structure")

SUFFIX = ""
REGISTRATIONS = {"line", "lost"}
PLACEHOLDERS = {"line", "lost"}
JOINABLE = False

ENTRY, EXIT, LOST, EVENT = range(4)
RECORD, PAYLOAD_MAX, HEADER = 16, 1024, 40
HORIZON = 1 << 46
LIBRARY_MAX = 1 << 26  # of a library that was loaded later: its size stands nowhere
EVENT_SIZES = {100001: 24, 100002: 16, 100003: 24, 100004: 16, 100011: 4, 100013: 8, **{n: 16 for n in range(100005, 100011)}}
LINE_FORMS = {
    "task.txt": rb'(SESS timestamp=\d+\.\d+ [pt]id=\d+ sid=[0-9a-f]{1,16} exename=".*"|TASK timestamp=\d+\.\d+ tid=\d+ pid=\d+|FORK timestamp=\d+\.\d+ pid=\d+ ppid=-?\d+'
                rb'|DLOP timestamp=\d+\.\d+ tid=\d+ sid=[0-9a-f]{1,16} base=[0-9a-f]+ libname=".*")',
    ".map": rb"#.*|[0-9a-f]+-[0-9a-f]+ [r-][w-][x-][ps] [0-9a-f]+ [0-9a-f]+:[0-9a-f]+ \d+\s+(\S+( build-id:[0-9a-f]{40})?)?",
    ".sym": rb"#.*|[0-9a-f]{1,16} ([0-9a-f]+ )?[?TtwPKDdvu] [^\x00-\x1f]+",
    ".dbg": rb"#.*|[FL]: [0-9a-f]+ .+|[AR]: @.*|E: enum .+",
    "events.txt": rb"EVENT: \d+ [^:]+:.+",
}
INFO_KEYS = [("exename", 0), ("build_id", 1), ("exit_status", 2), ("cmdline", 3), ("cpuinfo", 4), ("meminfo", 5), ("osinfo", 6), ("taskinfo", 7), ("usageinfo", 8),
             ("loadinfo", 9), ("argspec", 10), ("retspec", 10), ("argauto", 10), ("retauto", 10), ("enumauto", 10), ("auto-args", 10), ("record_date", 11),
             ("elapsed_time", 11), ("pattern_type", 12), ("uftrace_version", 13), ("utc_offset", 14), ("sysctl", 15)]
FRAMING = re.compile(rb"taskinfo:|\w+:lines=|argspec:|retspec:|argauto:|retauto:|enumauto:|auto-args:|# symbols:")


def kind_of(name):
    """What a file is by its name: a key of LINE_FORMS, or another word; None for what is not of a recording."""
    if name in ("info", "task.txt", "events.txt", "extern.dat", "note.txt", "default.opts"):
        return name
    if re.fullmatch(r"[1-9][0-9]*\.dat", name):
        return "task"
    if re.fullmatch(r"perf-cpu[0-9]+\.dat", name):
        return "perf"
    if re.fullmatch(r"kernel-cpu[0-9]+\.dat", name):
        return "kernel"
    for suffix in (".map", ".sym", ".dbg"):
        if name.endswith(suffix):
            return suffix
    return None


def lines(data, start=0):
    """(from, text without its end) of each line."""
    at = start
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield at, data[at:end]
        at = end + 1


class Directory:
    def __init__(self, files, places):
        self.files, self.places = files, places
        self.events, self.problems, self.structure = [], [], []
        info = files.get("info", b"")
        self.order = ">" if len(info) > 14 and info[14] == 2 else "<"
        self.tasks, self.sids, self.ranges = set(), [], []

    def problem(self, name, at, length, what):
        self.problems.append((name, at, length, what))

    def place(self, name, at, length, what):
        if self.places and length > 0:
            self.structure.append((name, at, length, what))

    # ---- texts ----

    def text(self, name, kind, start=0):
        data, form = self.files[name], LINE_FORMS.get(kind)
        for at, line in lines(data, start):
            self.place(name, at, len(line) + 1, f"line of {kind}")
            if kind in ("task.txt", ".map") and line.endswith(b"\r"):
                line = line[:-1]  # no reader minds it
            if form and not re.fullmatch(form, line):
                self.problem(name, at, len(line), f"a line of {kind} of another form")
            if not FRAMING.match(line) and line:
                self.events.append((name, ((at, len(line)),), (kind, name if kind == ".map" else "", line), (), "line"))
        if len(data) > start and not data.endswith(b"\n"):
            self.problem(name, len(data), 0, "a text without an end of its last line")

    def info(self):
        data = self.files["info"]
        if len(data) < HEADER or data[:8] != b"Ftrace!\0":
            self.problem("info", 0, min(HEADER, len(data)), "no header")
            return
        version, size, endian, word, features, mask, depth = struct.unpack_from(self.order + "IHBBQQH", data, 8)
        for at, length, what in ((0, 8, "magic"), (8, 8, "version and order"), (16, 8, "features"), (24, 8, "mask"), (32, 8, "depth")):
            self.place("info", at, length, what)
        for bad, what in ((version not in (3, 4), "version"), (size != HEADER, "header size"), (endian not in (1, 2), "byte order"), (word not in (1, 2), "class"),
                          (not features & 2, "features"), (features >> 14, "features"), (mask >> 16, "mask"), (any(data[34:40]), "reserved"), (depth == 0 and version == 4, "depth")):
            if bad:
                self.problem("info", 8, 32, f"{what} of the header")
        seen, last = 0, -1
        for at, line in lines(data, HEADER):
            key = line.split(b":")[0].decode("latin-1")
            bit = dict(INFO_KEYS).get(key)
            if bit is None or bit < last or (bit == last and bit not in (4, 6, 7, 8, 10, 11)):
                self.problem("info", at, len(line), "a line of info that is not expected there")
            last = bit if bit is not None else last
            seen |= 1 << bit if bit is not None else 0
        if seen != mask & 0xFFFF:
            self.problem("info", 24, 8, "the mask is not that of the lines")
        for bit in (4, 6, 7, 8, 10):
            own = [line for _, line in lines(data, HEADER) if dict(INFO_KEYS).get(line.split(b":")[0].decode("latin-1")) == bit]
            count = re.fullmatch(rb"\w+:lines=(\d+)", own[0]) if own else None
            if own and (len(own) != int(count[1]) + 1 if count else bit != 10 or len(own) > 1):
                self.problem("info", HEADER, 0, "a block with another number of lines than it says")
        tids = re.search(rb"\ntaskinfo:nr_tid=(\d+)\ntaskinfo:tids=([0-9,]+)\n", data)
        self.tasks = set(map(int, filter(None, tids[2].split(b",")))) if tids else set()
        if not tids or len(self.tasks) != int(tids[1]):
            self.problem("info", HEADER, 0, "a list of tasks that cannot be read")
        self.text("info", "info", HEADER)

    def side(self):
        known = set()
        for _, line in lines(self.files.get("task.txt", b"")):
            for tid in re.findall(rb" [pt]id=(\d+)", line):
                known.add(int(tid))
            sid = re.match(rb"SESS .* sid=(\w+) ", line)
            if sid:
                self.sids.append(sid[1].decode())
        for sid in self.sids:
            if f"sid-{sid}.map" not in self.files:
                self.problem("task.txt", 0, 0, "a session without its map")
        if not self.sids:
            self.problem("task.txt", 0, 0, "no session")
        if self.tasks - known:
            self.problem("info", HEADER, 0, "a task that task.txt does not have")
        for name, data in self.files.items():
            if kind_of(name) == ".map":
                for _, line in lines(data):
                    found = re.match(rb"([0-9a-f]{1,16})-([0-9a-f]{1,16}) ", line)
                    if found:
                        self.ranges.append((int(found[1], 16), int(found[2], 16)))
        for base in re.findall(rb"^DLOP .* base=([0-9a-f]{1,16}) ", self.files.get("task.txt", b""), re.M):
            self.ranges.append((int(base, 16), int(base, 16) + LIBRARY_MAX))
        self.ranges.sort()
        self.mapped = {}

    def is_mapped(self, address):
        if address not in self.mapped:
            self.mapped[address] = not self.ranges or any(low <= address < high for low, high in self.ranges)
        return self.mapped[address]

    # ---- records ----

    def dat(self, name):
        Task(self, name).walk()

    def perf(self, name):
        data, at = self.files[name], 0
        while len(data) - at >= 8:
            kind, _, size = struct.unpack_from(self.order + "IHH", data, at)
            if size < 8 or size > len(data) - at:
                break
            self.events.append((name, ((at, size),), ("perf", name, data[at:at + size]), (), "perf"))
            if at < 4096:
                self.place(name, at, 8, "perf header")
            if kind not in (3, 4, 7, 14) or size % 8:
                self.problem(name, at, size, "a perf record of another kind")
            at += size
        if at < len(data):
            self.problem(name, at, len(data) - at, "a perf record that is cut")

    def read(self):
        if "info" in self.files:
            self.info()
        else:
            self.problem("info", 0, 0, "no info")
        self.side()
        for name in sorted(self.files):
            kind = kind_of(name)
            if kind == "task":
                self.dat(name)
                if int(name[:-4]) not in self.tasks and self.files[name]:
                    self.problem(name, 0, 0, "a task that info does not list")
            elif kind == "perf":
                self.perf(name)
            elif kind == "kernel":
                data = self.files[name]
                for at in range(0, len(data), 4096):
                    self.events.append((name, ((at, len(data[at:at + 4096])),), ("page", name, data[at:at + 4096]), (), "page"))
            elif kind is None:
                self.problem(name, 0, len(self.files[name]), "a file of another name")
            elif kind != "info":
                self.text(name, kind)
        return Reading(self.events, self.problems, self.structure)


class Task:
    """The records of a task."""

    def __init__(self, directory, name):
        self.d, self.name, self.data = directory, name, directory.files[name]
        self.tid = int(name[:-4])
        self.pair = struct.Struct(directory.order + "QQ")
        self.frames, self.known, self.first = [], False, 0
        begin = re.search(rb"^(?:TASK|FORK) timestamp=(\d+)\.(\d{9}) (?:tid|pid)=%d " % self.tid, directory.files.get("task.txt", b""), re.M)
        self.begin = int(begin[1] + begin[2]) if begin else 0

    def record(self, at):
        """(time, type, more, depth, address) or None."""
        if len(self.data) - at < RECORD:
            return None
        time, word = self.pair.unpack_from(self.data, at)
        return None if word >> 3 & 7 != 5 else (time, word & 3, word >> 2 & 1, word >> 6 & 1023, word >> 16)

    def fits(self, at, time, depth, chain, exact):
        """Whether records go on at `at`. depth: calls that are open."""
        if at == len(self.data):
            return True
        record = self.record(at)
        if record is None:
            return False
        when, kind, more, level, address = record
        if kind == LOST:
            lost = not when and not more and 0 < address < 1 << 24
            return lost and (chain == 1 or self.fits(at + RECORD, time, depth, chain - 1, False))
        if not time <= when <= time + HORIZON:
            return False
        if kind == EVENT:
            return address in EVENT_SIZES or 1000000 <= address < 2000000
        if not self.d.is_mapped(address):
            return False
        if exact and level != (depth if kind == ENTRY else depth - 1) & 1023:
            return False
        if exact and kind == EXIT and chain == 3 and 0 < depth <= len(self.frames) and self.frames[depth - 1] not in (None, address):
            return False
        if more or chain == 1:
            return True
        return self.fits(at + RECORD, when, depth + 1 if kind == ENTRY else depth - 1, chain - 1, exact)

    def length(self, at, record, depth):
        """Of the values at `at`; None where no record follows."""
        if record[1] == EVENT:
            size = struct.unpack_from(self.d.order + "H", self.data, at)[0] if len(self.data) - at >= 2 else 0
            whole = (size + 2 + 7) // 8 * 8
            return whole if EVENT_SIZES.get(record[4]) == size and at + whole <= len(self.data) else None
        # In a file with damage the calls that are open are not known everywhere, and time may go back, to any time of the task.
        for size in range(0, min(PAYLOAD_MAX, len(self.data) - at) + 1, 8):
            if at + size < len(self.data) and (self.fits(at + size, record[0], depth, 3, False) or self.fits(at + size, self.first, depth, 3, True)):
                return size
        # Where a block at the wrong place begins, so that the records behind it are of other times and depths.
        for size in range(0, min(PAYLOAD_MAX, len(self.data) - at) + 1, 8):
            if at + size < len(self.data) and self.fits(at + size, record[0], depth, 1, True):
                return size
        # Where the records behind it are of an earlier time of the task than its first one here.
        for size in range(0, min(PAYLOAD_MAX, len(self.data) - at) + 1, 8):
            if at + size < len(self.data) and self.begin and self.fits(at + size, self.begin, depth, 3, False):
                return size
        rest = len(self.data) - at
        return rest if rest % 8 == 0 and rest <= PAYLOAD_MAX else None

    def nest(self, at, kind, level, address):
        frames = self.frames
        if kind == ENTRY:
            if self.known and level != len(frames) & 1023:
                self.d.problem(self.name, at, RECORD, "a call at another depth")
            if len(frames) < 1024:
                del frames[level:]
                frames += [None] * (level - len(frames))
            frames.append(address)
        else:
            if self.known and level != (len(frames) - 1) & 1023:
                self.d.problem(self.name, at, RECORD, "a return at another depth")
            elif self.known and frames[-1] not in (None, address):
                self.d.problem(self.name, at, RECORD, "a return of another call")
            if len(frames) <= 1024:
                del frames[level + 1:]
                frames += [None] * (level + 1 - len(frames))
            frames.pop()
        self.known = True

    def walk(self):
        data, name, at, last, count = self.data, self.name, 0, 0, 0
        while at < len(data):
            record = self.record(at)
            if record is None:
                self.d.problem(name, at, len(data) - at, "bytes that are not a record")
                return
            time, kind, more, level, address = record
            self.first = self.first or time
            if kind == LOST:
                self.known = False
                self.frames = [None] * len(self.frames)
                self.d.events.append((name, ((at, RECORD),), (self.tid, "lost", address), (), "lost"))
                if more or time:
                    self.d.problem(name, at, RECORD, "lost events with more than a number")
                at += RECORD
                continue
            if time < last or not 0 < time < 1 << 62 or (last and time - last > HORIZON):
                self.d.problem(name, at, RECORD, "a time out of order")
            if kind in (ENTRY, EXIT):
                if not self.d.is_mapped(address):
                    self.d.problem(name, at, RECORD, "an address that is not mapped")
                self.nest(at, kind, level, address)
            end = at + RECORD
            if more:
                size = self.length(end, record, len(self.frames))
                if size is None:
                    self.d.problem(name, at, len(data) - at, "values of no length")
                    return
                end += size
            self.d.events.append((name, ((at, end - at),), (self.tid, time, kind, level, address, data[at + RECORD:end]), (("info", 14, 1),), "record"))
            if self.d.places and (count < 100 or count % 500 == 0):
                self.d.place(name, at, 8, "time")
                self.d.place(name, at + 8, 8, "word")
                self.d.place(name, at + RECORD, end - at - RECORD, "values")
            last, at, count = time, end, count + 1


def texts(files):
    return [name for name in files if kind_of(name) in (*LINE_FORMS, "info")]


def captures(folder):
    """The recordings: not the buffers that belong to one."""
    found = {}
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        if os.path.isdir(path) and os.path.exists(os.path.join(path, "task.txt")):
            found[entry] = {}
            for name in os.listdir(path):
                with open(os.path.join(path, name), "rb") as f:
                    found[entry][name] = f.read()
    return found


def read(files, places=False):
    return Directory(files, places).read()


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        entries = {entry.name: open(entry.path, "rb").read() for entry in os.scandir(argument) if entry.is_file()}
        reading = read(entries)
        print(argument, len([event for event in reading.events if event[4] == "record"]), "records", reading.problems[:5])
