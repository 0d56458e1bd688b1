"""The events of a Darwin ktrace file (version 3, and the RAW versions 0 to 2): the bytes of each, what it means, what it needs. Written from
the manual page ktrace(5) and public descriptions of the chunks; nothing is shared with the program.

    read(files, places=False) -> Reading    the protocol of tests/lib/truth.py

Kinds and meaning: an event (timebase, time, thread id, CPU, debugid, arguments; the words that must be 0 where they are not); an entry of a thread
map or CPU map; the file header (times; its size only frames); headers of maps and of events chunks; any other chunk with its data. Null chunks
and padding mean nothing. An event needs the timebase and the flags of its file header, not the header of its chunk; what is in a sub-file needs
the header of that. The name of a process belongs to the thread map, and no event needs it.
"""
import struct
from collections import namedtuple

Reading = namedtuple("Reading", "events problems structure")

SUFFIX = ".ktrace"
REGISTRATIONS = {"header", "map header", "events header", "container"}
PLACEHOLDERS = set()
# Two files that are joined are not a file of this format.
JOINABLE = False

V3, KERNEL, RAW0, RAW1_OLD, RAW1, RAW2 = 0x55AA0300, 0x1000, 0, 0x55AA0100, 0x55AA0101, 0x55AA0200
CPU_MAP, THREAD_MAP, EVENTS, COMPRESSED, NULL, UNFINISHED = 0x1C00, 0x1D00, 0x1E00, 0x1F00, 0x2000, 0xFFFFFFFF
STACKSHOT, MACHINE, UUID, TIME_SYNC = 0x8002, 0x8C00, 0x8C01, 0x8013
SUBFILES = {0x800A, 0x800B}
IN_HEADER = {0x1A00, CPU_MAP, MACHINE, UUID, 0x8C02}
IN_BODY = {THREAD_MAP, EVENTS, COMPRESSED}
STACKSHOTS = (b"\x07\x58\xa2\x59", b"\x9a\xa5\x17\xde", b"PMOC")
LISTS = {0x8001, 0x8004, 0x8005, 0x8006, 0x8008, 0x8009, 0x8010, 0x8011, 0x8012, MACHINE}
SHORTEST = {0x8007: 8, 0x800C: 4, 0x800D: 56, 0x800E: 24, TIME_SYNC: 48, UUID: 16, 0x8030: 48}
# The highest major version that the readers of Apple take.
MAJORS = {CPU_MAP: 1, STACKSHOT: 1, 0x8006: 1, 0x8007: 0, UUID: 0, 0x8009: 0, 0x800C: 0, 0x800D: 0, 0x9000: 0, TIME_SYNC: 1, 0x8014: 1}
SINGLE = {CPU_MAP, MACHINE, UUID, 0x8006, TIME_SYNC, 0x8014}
NEW_THREAD, LOST_EVENTS = 0x07000004, 0x07020008
EXTRA_CPUS = 32
UNKNOWN_SIZE = (1 << 64) - 1
PAGE = 4096
DEEPEST = 4


def up(n, to):
    return -(-n // to) * to


def text_of(field):
    return field.split(b"\0")[0].decode("latin-1")


class Reader:
    def __init__(self, name, data, places):
        self.name, self.data, self.places = name, data, places
        self.events, self.problems, self.structure = [], [], []
        self.wide, self.base, self.needs = True, None, ()
        # The headers of the chunks that this one is in.
        self.inside = ()
        self.threads, self.cpus, self.last, self.lost = None, None, {}, False
        self.dangling = []
        self.seen = set()

    def problem(self, at, length, what):
        self.problems.append((self.name, at, length, what))

    def place(self, at, length, what):
        if self.places and length > 0:
            self.structure.append((self.name, at, length, what))

    def item(self, at, length, kind, meaning, needs=()):
        self.events.append((self.name, ((at, length),), meaning, needs, kind))

    # ---- contents that all versions share ----

    def thread_map(self, at, count, filler=False):
        """The entries; filler: entries of zeros are normal."""
        size, seen, names = (32 if self.wide else 28), set(), {}
        self.threads = self.threads if self.threads is not None else set()
        for where in range(at, at + count * size, size):
            tid, pid = struct.unpack_from("<Qi" if self.wide else "<Ii", self.data, where)
            field = self.data[where + size - 20:where + size]
            name = text_of(field)
            if filler and not any(self.data[where:where + size]):
                continue
            self.place(where, size, "thread map entry")
            self.item(where, size, "thread", ("thread", tid, pid, name))
            self.threads.add(tid)
            if b"\0" not in field:
                self.problem(where, size, "a name of a process without an end")
            if any(c < " " for c in name):
                self.problem(where, size, "a control character in the name of a process")
            if not tid and pid and not filler:
                self.problem(where, size, "a thread map entry of thread 0")
            if not 0 <= pid <= 99999:
                self.problem(where, size, "a process id that is not one")
            if tid in seen:
                self.problem(where, size, "a thread twice in a map")
            if pid > 1 and names.setdefault(pid, name) != name:
                self.problem(where, size, "a process with two names")
            seen.add(tid)

    def cpu_map(self, at, size):
        """The entries behind a chunk header or, in RAW files, in the padding; the bytes of its prefix, or None where it has no form."""
        first, count = struct.unpack_from("<II", self.data, at) if size >= 8 else (None, 0)
        if first == 1 and size == 8 + 40 * count:
            prefix, entry = 8, 40
        elif first == RAW1 and size == 8 + 16 * count:
            prefix, entry = 8, 16
        elif size % 16 == 0:
            prefix, entry, count = 0, 16, size // 16
        else:
            self.problem(at, size, "a CPU map of no known form")
            return None
        ids = set()
        for where in range(at + prefix, at + prefix + count * entry, entry):
            number, flags = struct.unpack_from("<II", self.data, where)
            field = self.data[where + 8:where + entry]
            self.place(where, entry, "CPU map entry")
            self.item(where, entry, "cpu", ("cpu", number, flags, text_of(field)))
            if number >= count:
                self.problem(where, entry, "a CPU number outside its map")
            if number in ids:
                self.problem(where, entry, "a CPU twice in the map")
            if flags & ~1:
                self.problem(where, entry, "flags of a CPU that are not known")
            if b"\0" not in field:
                self.problem(where, entry, "a name of a CPU without an end")
            ids.add(number)
        if not count and prefix == 8:
            self.problem(at, size, "a CPU map without entries")
        self.cpus = count
        return prefix

    def records(self, at, end, path=()):
        size = 64 if self.wide else 32
        layout = struct.Struct("<Q4QQIIQ" if self.wide else "<Q4III")
        for where in range(at, end - size + 1, size):
            self.place(where, size, "event")
            fields = layout.unpack_from(self.data, where)
            if self.wide:
                time, arguments, (tid, debugid, cpu, unused) = fields[0], fields[1:5], fields[5:]
            else:
                time, cpu = fields[0] & (1 << 56) - 1, fields[0] >> 56
                arguments, (tid, debugid), unused = fields[1:5], fields[5:], 0
            self.item(where, size, "event", (*path, self.base, time, tid, cpu, debugid, arguments, unused), self.needs)
            self.judge(where, size, time, cpu, debugid, unused, tid, arguments)

    def judge(self, where, size, time, cpu, debugid, unused, tid, arguments):
        if unused:
            self.problem(where, size, "a word of an event that must be 0 is not")
        if not debugid:
            self.problem(where, size, "an event with debugid 0")
        if not time:
            self.problem(where, size, "an event at time 0")
        if time >= 1 << 56:
            self.problem(where, size, "an event at 2^56 or later")
        if time < self.last.get(cpu, 0):
            self.problem(where, size, "an event before the last on its CPU")
        if time < self.last.get(None, 0):
            self.problem(where, size, "an event before the last")
        self.last[cpu] = self.last[None] = time
        if self.cpus is not None and cpu >= self.cpus + EXTRA_CPUS:
            self.problem(where, size, "an event of a CPU far outside the map")
        elif self.cpus is not None and cpu >= self.cpus:
            self.problem(where, size, "an event of a CPU outside the map")
        if debugid & ~3 == NEW_THREAD and self.threads is not None:
            self.threads.add(arguments[0])
        if debugid & ~3 == LOST_EVENTS:
            self.lost = True
        if tid and not self.lost:
            self.dangling.append((where, size, tid))

    def finish(self):
        """What can be said at the end only: a thread may be named behind its first event."""
        if self.threads:
            for where, size, tid in self.dangling:
                if tid not in self.threads:
                    self.problem(where, size, "an event of a thread that nothing names")

    # ---- version 3 ----

    def version3(self, magic):
        data = self.data
        if len(data) < 56:
            self.problem(0, len(data), "a header that is cut")
            return
        self.place(0, 56, "file header")
        major, minor, rest = struct.unpack_from("<HHQ", data, 4)
        numerator, denominator, stamp, seconds, micros, west, summer, flags = struct.unpack_from("<IIQQIiII", data, 16)
        if magic == KERNEL and major == 17:
            self.problem(0, 56, "a file of Apple's unified log, not of ktrace")
            return
        self.item(0, 56, "header", ("header", magic, major, minor, numerator, denominator, stamp, seconds, micros, west, summer, flags))
        self.wide, self.base = bool(flags & 1), (numerator, denominator)
        self.needs = ((self.name, 16, 8), (self.name, 52, 4))  # timebase, flags
        end = 16 + rest
        for bad, what in ((major > (1 if magic == V3 else 14), "a major version that is not known"), (rest < 40, "a header size below 40"),
                          (end > len(data), "a header size past the end of the file"), (not numerator or not denominator, "a timebase of 0"),
                          (micros >= 10 ** 6, "a million microseconds or more"), (not -840 <= west <= 720, "a time zone that is not one"),
                          (summer > 6, "a kind of daylight saving time that is not known"), (flags & ~1, "flags that are not known"),
                          (0 < seconds < 946684800, "a wall-clock time before 2000")):
            if bad:
                self.problem(0, 56, what)
        if rest < 40 or end > len(data):
            return
        at = self.chunks(56, end, True, (), 0)
        if at is None:
            return
        if not end <= at <= up(end, 8):
            self.problem(8, 8, "a header size that ends inside a chunk")
        at = self.chunks(up(end, 8), len(data), False, (), 0)
        if at is not None and at < len(data) and any(data[at:]):
            self.problem(at, len(data) - at, "bytes behind the last chunk")

    def chunks(self, at, limit, header, path, depth):
        """Walks chunks; where the next would begin, or None behind one that cannot be framed."""
        while limit - at >= 16:
            tag, major, minor, size = struct.unpack_from("<IHHQ", self.data, at)
            start = at + 16
            self.place(at, 16, "chunk header")
            if tag == UNFINISHED:
                self.problem(at, 16, "a chunk that was not finished")
                return None
            if size == UNKNOWN_SIZE:
                self.problem(at, 16, "a chunk of unknown size")
                return None
            if start + size > limit:
                self.problem(at, 16, "a chunk that ends behind its limit")
                return None
            if tag == EVENTS and self.short_by_8(start, size, limit):
                self.problem(at, 16, "a size that leaves the timestamp out")
                size += 8
            self.chunk(at, tag, major, minor, size, header, path, depth)
            at = up(start + size, 8)
            if any(self.data[start + size:min(at, limit)]):
                self.problem(start + size, at - start - size, "padding is not zero")
        return at

    def short_by_8(self, start, size, limit):
        """Kernels from xnu 8792 on leave the future timestamp out of the size."""
        step = 64 if self.wide else 32
        if not size or size % step or start + size + 8 > limit:
            return False
        return start + size + 8 == limit or (self.framed(start + size + 8, limit) and not self.framed(start + size, limit))

    def framed(self, at, limit):
        if limit - at < 16:
            return False
        tag, major, minor, size = struct.unpack_from("<IHHQ", self.data, at)
        return 0 < tag < 0x20000 and major & 0x7FFF <= 16 and minor <= 16 and size <= limit - at - 16

    def is_list(self, start):
        return self.data[start:start + 6] == b"bplist" or self.data[start:start + 1] in (b"<", b"{")

    def chunk(self, at, tag, major, minor, size, header, path, depth):
        start = at + 16
        version = (major, minor)
        for bad, what in ((tag == 0, "a chunk with tag 0"), (tag == V3, "the header of another file"), (major & 0x7FFF > MAJORS.get(tag, 0x7FFF), "a version of a chunk that readers refuse"),
                          (major >> 15 and tag not in SUBFILES, "a chunk that holds chunks and should not"),
                          (header and tag in IN_BODY, "a chunk of the body in the header"),
                          (not header and not depth and tag in IN_HEADER, "a chunk of the header in the body"),
                          (tag in SINGLE and (path, tag) in self.seen, "a second chunk of a kind that is there once"),
                          (size < SHORTEST.get(tag, 0), "a chunk shorter than its content"),
                          (tag == STACKSHOT and self.data[start:start + 4] not in STACKSHOTS, "a stackshot without its magic number"),
                          (tag in LISTS and size and not self.is_list(start), "a property list that is none")):
            if bad:
                self.problem(at, 16 + size, what)
        self.seen.add((path, tag))
        if tag == NULL:
            return
        if tag == CPU_MAP:
            prefix = self.cpu_map(start, size)
            if prefix is None:
                self.item(at, 16 + size, "chunk", (*path, tag, version, self.data[start:start + size]), self.inside)
            else:
                self.place(start, prefix, "CPU map prefix")
                self.item(at, 16 + prefix, "map header", (*path, "CPU map", version, prefix), self.inside)
        elif tag == THREAD_MAP:
            entry = 32 if self.wide else 28
            self.item(at, 16, "map header", (*path, "thread map", version), self.inside)
            self.thread_map(start, size // entry)
            if size % entry:
                self.problem(at, 16, "a thread map that ends inside an entry")
        elif tag == EVENTS:
            step = 64 if self.wide else 32
            if size < 8:
                self.problem(at, 16, "a chunk of events without its timestamp")
                return
            self.place(start, 8, "future timestamp")
            self.item(at, 24, "events header", (*path, "events", version, self.data[start:start + 8]), self.inside)
            self.records(start + 8, start + size, path)
            if (size - 8) % step:
                self.problem(at, 16, "a chunk of events that ends inside one")
        elif tag in SUBFILES and major >> 15 and depth < DEEPEST:
            self.item(at, 16, "container", (*path, tag, version), self.inside)
            self.needs, self.inside = (*self.needs, (self.name, at, 16)), (*self.inside, (self.name, at, 16))
            end = self.chunks(start, start + size, False, (*path, tag), depth + 1)
            self.needs, self.inside = self.needs[:-1], self.inside[:-1]
            if end is None or end < start + size and any(self.data[end:start + size]):
                self.problem(at, 16, "chunks that do not fill the one that holds them")
        else:
            if tag == COMPRESSED:
                count = struct.unpack_from("<I", self.data, start + 8)[0] if size >= 12 else 0
                if size < 12 or not 3 * count <= size - 12 <= 65 * count:
                    self.problem(at, 16, "a chunk of compressed events whose count cannot be")
            self.item(at, 16 + size, "chunk", (*path, tag, version, self.data[start:start + size]), self.inside)

    # ---- RAW files ----

    def name_fits(self, where, entry):
        field = self.data[where + entry - 20:where + entry]
        name = field.split(b"\0")[0]
        return all(c >= 32 for c in name)

    def map_misfits(self, at, count, entry):
        """How many of the first 100 entries are none, by the first word and the name, as Apple's readers ask."""
        seen = min(count, 100)
        if at + count * entry > len(self.data):
            return seen + 1
        misfits = 0
        for i in range(seen):
            where = at + i * entry
            tid, pid = struct.unpack_from("<Qi" if entry == 32 else "<Ii", self.data, where)
            misfits += not self.name_fits(where, entry) or not 0 <= pid <= 99999 or (not tid and (not i or bool(self.data[where + entry - 20])))
        return misfits

    def implausible(self, at, wide):
        """How many of the first records cannot be events of this width, in 32nds."""
        size, bad, seen = (64 if wide else 32), 0, 0
        for where in range(at, min(len(self.data), at + 1024) - size + 1, size):
            seen += 1
            if wide:
                time, tid, debugid, cpu, unused = struct.unpack_from("<Q32xQIIQ", self.data, where)
                bad += not 0 < time < 1 << 56 or tid >> 48 > 0 or debugid < 1 << 24 or cpu >= 4096 or unused > 0
            else:
                time, debugid = struct.unpack_from("<Q20xI", self.data, where)
                bad += not time & (1 << 56) - 1 or debugid < 1 << 24
        return 32 * bad // max(1, seen) + (0 if (len(self.data) - at) % size == 0 else 1)

    def raw(self, magic):
        data = self.data
        if magic == RAW2:
            if len(data) < 288:
                self.problem(0, len(data), "a header that is cut")
                return
            count, seconds, micros, flag, frequency = struct.unpack_from("<IQIIQ", data, 4)
            self.place(0, 32, "file header")
            self.wide, self.base, self.needs = flag != 0, frequency, ((self.name, 20, 12),)
            self.item(0, 288, "header", ("header", magic, seconds, micros, self.wide, frequency, data[32:288]))
            for bad, what in ((any(data[32:288]), "reserved bytes are set"), (flag > 1, "a flag that is neither 0 nor 1"),
                              (not frequency, "a frequency of 0"), (micros >= 10 ** 6, "a million microseconds or more")):
                if bad:
                    self.problem(0, 288, what)
            at = 288
        else:
            forms = ((20, False), (24, False), (24, True)) if magic else ((4, False), (4, True))
            count = struct.unpack_from("<I", data, 4 if magic else 0)[0] if len(data) >= 8 else 1 << 32
            # An entry that was hit does not make the whole map another one.
            misfits = {form: self.map_misfits(form[0], count, 32 if form[1] else 28) for form in forms} if count <= 100000 else {}
            least = min(misfits.values(), default=1)
            forms = [form for form in misfits if misfits[form] == least]
            if least and (count < 2 or least > max(1, min(count, 100) // 8)):
                self.problem(0, len(data), "a count of threads that does not fit")
                return
            at, self.wide = min(forms, key=lambda form: self.implausible(self.raw_events(magic, form[0] + count * (32 if form[1] else 28)), form[1]))
            self.place(0, at, "file header")
            if magic:
                self.item(0, at, "header", ("header", magic, data[8:at]))
                if struct.unpack_from("<I", data, 16)[0] >= 10 ** 6:
                    self.problem(0, at, "a million microseconds or more")
            else:
                self.item(0, 4, "header", ("header", 0))
        end = at + count * (32 if self.wide else 28)
        if end > len(data):
            self.problem(4, 4, "a thread map that ends behind the file")
            return
        self.thread_map(at, count, True)
        start = self.raw_events(magic, end)
        if start > len(data) > end:
            self.problem(end, len(data) - end, "a file that ends before its events")
        self.raw_padding(magic, end, min(start, len(data)))
        self.records(start, len(data))
        if start <= len(data) and (len(data) - start) % (64 if self.wide else 32):
            self.problem(start, len(data) - start, "events that end inside one")

    def raw_events(self, magic, end):
        """Where the events begin, behind a thread map that ends there."""
        if not magic:
            return end
        at = up(end, PAGE)
        if magic == RAW2:
            return at
        # Some kernels add a page where none is needed, and put the CPU map there.
        while len(self.data) - at >= PAGE and (not any(self.data[at:at + PAGE]) or self.data[at:at + 4] == struct.pack("<I", RAW1)):
            at += PAGE
        return at

    def raw_padding(self, magic, end, start):
        if magic == RAW1 and start - end > 24 and self.data[end:end + 4] == struct.pack("<I", RAW1):
            count = struct.unpack_from("<I", self.data, end + 4)[0]
            if count > 1000 or end + 8 + 16 * count > start:
                self.problem(end, 8, "a CPU map that does not fit")
                return
            self.place(end, 8, "CPU map prefix")
            self.item(end, 8, "map header", ("CPU map", "RAW"))
            self.cpu_map(end, 8 + 16 * count)
            end += 8 + 16 * count
        if any(self.data[end:start]):
            self.problem(end, start - end, "padding is not zero")

    def walk(self):
        magic = struct.unpack_from("<I", self.data)[0] if len(self.data) >= 4 else None
        if magic in (V3, KERNEL):
            self.version3(magic)
        elif magic in (RAW1, RAW1_OLD, RAW2):
            self.raw(magic)
        elif magic is not None and magic <= 100000:
            self.raw(RAW0)
        else:
            self.problem(0, 4, "no magic number that is known")
        self.finish()


def family(files):
    """Only captures of one kind take blocks from each other."""
    return files[""][:4] if files[""][2:4] == b"\xaa\x55" else b""


def read(files, places=False):
    events, problems, structure = [], [], []
    for name, data in sorted(files.items()):
        reader = Reader(name, data, places)
        try:
            reader.walk()
        except struct.error:
            reader.problem(0, len(data), "a structure that is cut")
        events += reader.events
        problems += reader.problems
        structure += reader.structure
    return Reading(events, problems, structure)
