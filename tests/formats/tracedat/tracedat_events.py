"""The events of a trace.dat of trace-cmd, versions 6 and 7: the bytes of each, what it means, what it needs. Written from the manual pages
trace-cmd.dat(5) and the layout of the kernel's ring buffer; nothing is shared with the program.

    read(files, places=False) -> Reading    the protocol of tests/lib/truth.py

Meaning of an event: buffer, CPU, time, system and name, fields of its format, the bytes of its payload (process, flags and arguments). It needs
its format, the timestamp of its page, and what names its buffer and CPU. It does not need the words in front of it in its page, although its time
hangs on their deltas: an event behind damage is to be kept, and listed where its time cannot be known.
Formats, command lines, symbols, printk formats and the options that say something are registrations; latency output is lines.
What is compressed has the bytes of its whole frame, and a part of it again as a mark, so that no two have the same.
"""
import ctypes
import ctypes.util
import re
import struct
import zlib
from collections import namedtuple

Reading = namedtuple("Reading", "events problems structure")

SUFFIX = ".dat"
REGISTRATIONS = {"format", "task", "symbol", "printk", "option"}
# A format that is lost may be replaced by one without fields.
PLACEHOLDERS = {"format"}
JOINABLE = False

MAGIC = b"\x17\x08\x44tracing"
OPTIONS, FLYRECORD, LATENCY = b"options  \0", b"flyrecord\0", b"latency  \0"
(DONE, DATE, CPUSTAT, BUFFER, TRACECLOCK, UNAME, HOOK, OFFSET, CPUCOUNT, VERSION, PROCMAPS, TRACEID, TIME_SHIFT, GUEST, TSC2NSEC, STRINGS,
 HEADER_INFO, FTRACE, FORMATS, KALLSYMS, PRINTK, CMDLINES, BUFFER_TEXT, BTF, LAST_BOOT, MODULES) = range(26)
# Options that say something, and are not only about where something is.
SAYING = {DATE, CPUSTAT, TRACECLOCK, UNAME, HOOK, OFFSET, VERSION, PROCMAPS, TRACEID, TIME_SHIFT, GUEST, TSC2NSEC, LAST_BOOT}
POINTERS = {HEADER_INFO, FTRACE, FORMATS, KALLSYMS, PRINTK, CMDLINES, BTF, MODULES}
TEXTS = {DATE, UNAME, HOOK, OFFSET, VERSION, PROCMAPS, LAST_BOOT}
UNKNOWN_OPTION = "an option of an unknown kind"
CPUS_MAX = 8192
DECODED_MAX = 64 << 20
MISSED, STORED, LENGTH = 1 << 31, 1 << 30, (1 << 27) - 1
PADDING, EXTEND, STAMP = 29, 30, 31
FIELD = re.compile(rb"^\tfield( special)?:(.*?);\toffset:(\d+);\tsize:(\d+);(?:\tsigned:([01]);)?$")
SYMBOL = re.compile(rb"^[0-9a-f]{1,16} [A-Za-z?] [^\s]+(\t\[[^\]]+\])?$")
PRINTF = re.compile(rb'^0x[0-9a-f]+ : ".*"$')
COMMAND = re.compile(rb"^\d+ .+$", re.S)

ZSTD = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ZSTD.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


class Malformed(Exception):
    pass


def decompress(codec, data, room):
    """The content of one frame that fills data."""
    if codec == "zstd":
        out = ctypes.create_string_buffer(room + 1)
        size = ZSTD.ZSTD_decompress(out, room, data, len(data))
        if size > room or ZSTD.ZSTD_findFrameCompressedSize(data, len(data)) != len(data):
            raise Malformed("a frame that cannot be decompressed")
        return out.raw[:size]
    try:
        stream = zlib.decompressobj()
        out = stream.decompress(data, room + 1)
    except zlib.error as error:
        raise Malformed("a frame that cannot be decompressed") from error
    if not stream.eof or stream.unused_data:
        raise Malformed("a frame that cannot be decompressed")
    return out


class View:
    """Bytes to read, of the file itself (from base on) or of a frame [frame, frame + stored) of it."""

    def __init__(self, data, base, frame=None, stored=0):
        self.data, self.base, self.frame, self.stored = data, base, frame, stored

    def ranges(self, at, length):
        if self.frame is None:
            return ((self.base + at, length),)
        lines, along = divmod(at, self.stored // 2 + 1)
        return ((self.frame, self.stored), (self.frame + along, 1 + lines % max(1, self.stored // 2)))


class Events:
    """An event's format: id, fields, and what it needs."""

    def __init__(self, system, name, fields, need, least, most):
        self.system, self.name, self.fields, self.need, self.least, self.most = system, name, fields, need, least, most


class Reader:
    def __init__(self, name, data, places):
        self.name, self.data, self.places = name, data, places
        self.events, self.problems, self.structure = [], [], []
        self.order, self.long, self.page, self.codec, self.version = "<", 8, 4096, "none", 6
        self.formats, self.stats, self.blk = {}, [], None
        self.clock = self.count = None
        self.ranges = []

    # ---- notes ----

    def problem(self, at, length, what):
        self.problems.append((self.name, at, length, what))

    def wrong(self, view, at, length, what):
        self.problem(*(view.ranges(at, length)[0]), what)

    def place(self, view, at, length, what):
        if not self.places or length <= 0:
            return
        if view.frame is None:
            self.structure.append((self.name, view.base + at, length, what))

    def item(self, view, at, length, kind, meaning, needs=()):
        self.events.append((self.name, view.ranges(at, length), meaning, needs, kind))

    def need(self, view, at, length):
        return (self.name, *view.ranges(at, length)[0])

    def number(self, data, at, letter):
        return struct.unpack_from(self.order + letter, data, at)[0]

    # ---- blocks of metadata, the same in both versions ----

    def sized(self, view, at, end, letter, what):
        """A size and so many bytes; where they begin and end."""
        width = struct.calcsize(letter)
        if end - at < width:
            raise Malformed(f"{what}: cut")
        size = self.number(view.data, at, letter)
        self.place(view, at, width, f"{what} size")
        if size > end - at - width:
            self.wrong(view, at, width, f"{what}: a size past the end")
            raise Malformed(f"{what}: a size past the end")
        return at + width, at + width + size

    def header(self, view, at, end):
        for tag, what in ((b"header_page\0", "header_page"), (b"header_event\0", "header_event")):
            if view.data[at:at + len(tag)] != tag:
                self.wrong(view, at, len(tag), f"no {what}")
                raise Malformed(f"no {what}")
            self.place(view, at, len(tag), "header tag")
            start, stop = self.sized(view, at + len(tag), end, "Q", what)
            text = view.data[start:stop]
            self.place(view, start, stop - start, f"{what} text")
            if what == "header_page":
                self.header_page(view, start, text)
            elif text and not all(word in text for word in (b"5 bits", b"27 bits", b"32 bits", b"type == 29", b"type == 30", b"== 28")):
                self.wrong(view, start, len(text), "header_event is not that of a kernel")
            at = stop
        return at

    def header_page(self, view, start, text):
        fields = [FIELD.match(line) for line in text.splitlines()]
        if not text or not all(fields):
            self.wrong(view, start, len(text), "header_page cannot be read")
            return
        fields = [(f[2].split()[-1], int(f[3]), int(f[4])) for f in fields]
        names = [name for name, _, _ in fields]
        if names not in ([b"timestamp", b"commit", b"overwrite", b"data"], [b"timestamp", b"commit", b"data"]):
            self.wrong(view, start, len(text), "header_page has other fields")
            return
        _, at, size = fields[1]
        if fields[0][1:] != (0, 8) or at != 8 or size not in (4, 8) or fields[-1][1] != 8 + size:
            self.wrong(view, start, len(text), "the fields of header_page are not where they are")
            return
        self.long = size
        if fields[-1][1] + fields[-1][2] != self.page:
            self.wrong(view, start, len(text), "header_page has another page size")
            self.page = fields[-1][1] + fields[-1][2]

    def format_list(self, view, at, end, count, system, needs):
        for _ in range(count):
            size_at = at
            start, at = self.sized(view, at, end, "Q", "format")
            self.place(view, start, at - start, "format text")
            self.format(view, size_at, start, at, system, needs)
        return at

    def format(self, view, size_at, start, stop, system, needs):
        text = bytes(view.data[start:stop])
        lines = text.split(b"\n")
        head = len(lines) >= 4 and lines[0].startswith(b"name: ") and lines[1].startswith(b"ID: ") and lines[2] == b"format:" and text.endswith(b"\n")
        if not head or not lines[1][4:].isdigit() or not 0 < int(lines[1][4:]) < 65536:
            self.wrong(view, start, stop - start, "a format without name and ID")
            self.item(view, size_at, stop - size_at, "format", ("format", system, text), needs)
            return
        name, number = lines[0][6:].decode("latin-1"), int(lines[1][4:])
        fields, least, most, common, printed = [], 8, 8, True, None
        for line in lines[3:-1]:
            if line.startswith(b"print fmt:"):
                printed = line
            elif printed is not None:
                printed += b"\n" + line
            elif not line:
                common = False
            else:
                field = FIELD.match(line)
                if not field:
                    self.wrong(view, start, stop - start, "a field that cannot be read")
                    continue
                kind, offset, size = field[2], int(field[3]), int(field[4])
                fields.append((kind, offset, size, field[5]))
                least = max(least, offset + size)
                if common and not re.search(rb"common_\w+$", kind):
                    self.wrong(view, start, stop - start, "a common field that is none")
                if kind.startswith((b"__data_loc", b"__rel_loc")) or kind.endswith(b"[]"):
                    most = None
                elif system == "ftrace" and name in ("kernel_stack", "user_stack") and b"caller" in kind:
                    least, most = max(8, offset), None
                if offset + size > self.page:
                    self.wrong(view, start, stop - start, "a field that no page can hold")
        if printed is None:
            self.wrong(view, start, stop - start, "a format without print fmt")
        if not {rb"unsigned short common_type", rb"int common_pid"} <= {kind for kind, *_ in fields[:6]}:
            self.wrong(view, start, stop - start, "a format without the common fields")
        if len({kind.split()[-1] for kind, *_ in fields}) != len(fields):
            self.wrong(view, start, stop - start, "a field twice")
        own = tuple(fields)
        if number in self.formats:
            self.wrong(view, start, stop - start, "an ID twice")
        else:
            self.formats[number] = Events(system, name, own, (*needs, self.need(view, size_at, stop - size_at)), least, most)
        if system == "ftrace" and name == "user_stack":
            self.blk = number + 1
        self.item(view, size_at, stop - size_at, "format", ("format", system, name, number, own, printed), needs)

    def ftrace(self, view, at, end):
        self.place(view, at, 4, "format count")
        if end - at < 4:
            raise Malformed("ftrace formats: cut")
        return self.format_list(view, at + 4, end, min(self.number(view.data, at, "I"), 65536), "ftrace", ())

    def systems(self, view, at, end):
        if end - at < 4:
            raise Malformed("event formats: cut")
        count = self.number(view.data, at, "I")
        self.place(view, at, 4, "format count")
        at += 4
        for _ in range(min(count, 65536)):
            nul = view.data.find(b"\0", at, end)
            if nul < 0 or end - nul < 5:
                raise Malformed("a system without a name")
            raw = bytes(view.data[at:nul])
            if not re.fullmatch(rb"[!-~]+", raw):
                self.wrong(view, at, nul - at, "a system whose name is not text")
            self.place(view, at, nul + 1 - at, "system name")
            self.place(view, nul + 1, 4, "format count")
            needs = (self.need(view, at, nul + 1 - at),) if view.frame is None else ()
            at = self.format_list(view, nul + 5, end, min(self.number(view.data, nul + 1, "I"), 65536), raw.decode("latin-1"), needs)
        return at

    def lines(self, view, start, stop, kind, shape):
        """Each line of a text."""
        if stop > start and view.data[stop - 1] == 0:
            stop -= 1
        at = start
        while at < stop:
            end = view.data.find(b"\n", at, stop) + 1 or stop
            line = bytes(view.data[at:end])
            if not shape.match(line.rstrip(b"\n")) or not line.endswith(b"\n"):
                self.wrong(view, at, end - at, f"a line of {kind}s that is none")
            self.item(view, at, end - at, kind, (kind, line.rstrip(b"\n")))
            at = end

    def kallsyms(self, view, at, end):
        start, stop = self.sized(view, at, end, "I", "kallsyms")
        self.lines(view, start, stop, "symbol", SYMBOL)
        return stop

    def printk(self, view, at, end):
        start, stop = self.sized(view, at, end, "I", "printk")
        self.lines(view, start, stop, "printk", PRINTF)
        return stop

    def cmdlines(self, view, at, end):
        start, stop = self.sized(view, at, end, "Q", "cmdlines")
        self.lines(view, start, stop, "task", COMMAND)
        return stop

    # ---- options ----

    def options(self, view, at, end):
        """[(id, view, at, size)] and where they end; the payload of DONE in the last one."""
        out = []
        while True:
            if end - at < 2:
                raise Malformed("options without an end")
            number = self.number(view.data, at, "H")
            if number == DONE and self.version == 6:
                self.place(view, at, 2, "option DONE")
                return out, at + 2
            if end - at < 6:
                raise Malformed("options without an end")
            size = self.number(view.data, at + 2, "I")
            self.place(view, at, 6, "option header")
            if size > end - at - 6:
                self.wrong(view, at, 6, "an option past the end")
                raise Malformed("an option past the end")
            out.append((number, view, at + 6, size))
            self.place(view, at + 6, size, f"option {number}")
            if number > MODULES or number == STRINGS:
                self.wrong(view, at, 6, UNKNOWN_OPTION)
            at += 6 + size
            if number == DONE:
                return out, at

    def option(self, number, view, at, size):
        raw = bytes(view.data[at:at + size])
        if number in SAYING:
            self.item(view, at - 6, 6 + size, "option", ("option", number, raw.rstrip(b"\0\n") if number in TEXTS | {CPUSTAT, TRACECLOCK} else raw))
        if number in TEXTS and (not raw.endswith(b"\0") or b"\0" in raw[:-1]):
            self.wrong(view, at, size, "a text without an end")
        if number == CPUSTAT:
            self.cpustat(view, at, raw)
        elif number == CPUCOUNT:
            if size != 4 or not 0 < self.number(raw, 0, "I") <= CPUS_MAX:
                self.wrong(view, at, size, "a number of CPUs that is none")
            else:
                self.count = self.number(raw, 0, "I")
        elif number == TRACECLOCK:
            self.clock = re.search(rb"\[([^\]]+)\]", raw)
            if raw and not self.clock:
                self.wrong(view, at, size, "no clock is selected")
            self.clock = self.clock[1] if self.clock else b""
        elif number in (DATE, OFFSET) and not re.fullmatch(rb"[-+]?(0x[0-9a-f]+|\d+)\0+", raw):
            self.wrong(view, at, size, "a number that is none")
        elif number == TSC2NSEC and (size != 16 or not self.number(raw, 0, "I") or self.number(raw, 4, "I") > 63):
            self.wrong(view, at, size, "a conversion that is none")
        elif number == TRACEID and size < 8:
            self.wrong(view, at, size, "a trace id that is too short")

    def cpustat(self, view, at, raw):
        name = re.search(rb"Buffer: (.*)\n", raw)
        if name:
            self.stats.append((name[1].decode("latin-1"), None, None, None))
            return
        found = [re.search(rb"^%s:\s*(\d+)\s*$" % what, raw, re.M) for what in (b"CPU", b"entries", b"read events")]
        if not found[0] or not raw.rstrip(b"\0\n"):
            self.wrong(view, at, len(raw), "statistics of no CPU")
            return
        values = [int(f[1]) if f else None for f in found]
        self.stats.append((None, *values))

    def statistics(self, counts):
        """Compares what the kernel counted with what is there."""
        buffer = ""
        for name, cpu, entries, been in self.stats:
            if cpu is None:
                buffer = name
            elif entries is not None and been is not None and (buffer, cpu) in counts:
                total = counts[buffer, cpu]
                # The kernel takes the two numbers one after the other, while pages are read.
                if not max(entries, been) <= total <= entries + been:
                    self.problem(0, len(self.data), "a CPU with fewer or more events than the kernel counted")

    # ---- pages ----

    def pages(self, view, start, stop, path, last):
        """The pages of view[start, stop), each of self.page bytes. Returns the number of events and the time of the last."""
        count = 0
        for at in range(start, stop - self.page + 1, self.page):
            n, last = self.one_page(view, at, path, last)
            count += n
        if (stop - start) % self.page:
            self.wrong(view, stop - (stop - start) % self.page, (stop - start) % self.page, "a page that is cut")
        return count, last

    def one_page(self, view, start, path, last):
        data, head, capacity = view.data, 8 + self.long, self.page - 8 - self.long
        self.place(view, start, head, "page header")
        time, commit = self.number(data, start, "Q"), self.number(data, start + 8, "Q" if self.long == 8 else "I")
        length = commit & LENGTH
        begin = start + head
        if not time and not commit:
            if any(data[start:start + self.page]):
                self.wrong(view, start, self.page, "a page without a header")
            return 0, last
        extended = self.long == 8 and commit >> 31 == (1 << 33) - 1
        if commit >> 27 & 7 or (commit >> 32 and not extended) or length > capacity or length & 3:
            if commit >> 27 & 7 == 0 or not commit & STORED:
                self.wrong(view, start, head, "a page whose length cannot be")
        if commit & STORED and (not commit & MISSED or capacity - length < self.long):
            self.wrong(view, start, head, "a count of lost events that has no place")
        length = min(length & ~3, capacity)
        tail = begin + length + (self.long if commit & STORED else 0)
        if any(data[tail:start + self.page]):
            self.wrong(view, tail, start + self.page - tail, "bytes behind the data of a page")
        if length and (time < last or not time):
            self.wrong(view, start, 8, "a page that steps back in time")
        needs = (self.need(view, start, 8),)
        if view.frame is not None:
            needs = needs[:1]
        at, stop, count = begin, begin + length, 0
        while at < stop:
            size, payload, time, kind = self.word(view, at, stop, time)
            if not size:
                self.wrong(view, at, stop - at, "records that do not fit the length of their page")
                break
            if time < last:
                self.wrong(view, at, size, "an event before the last")
            last = time
            if kind < PADDING:
                self.record(view, at, size, payload, path, time, needs)
                count += 1
            at += size
        return count, last

    def word(self, view, at, stop, time):
        """(size with words, size of the words, time of it, type); size 0: it does not fit."""
        data = view.data
        word = self.number(data, at, "I")
        kind, delta = (word & 31, word >> 5) if self.order == "<" else (word >> 27, word & LENGTH)
        second = self.number(data, at + 4, "I") if stop - at >= 8 else 0
        if 0 < kind < PADDING:
            size, skip = 4 + 4 * kind, 4
        elif kind in (EXTEND, STAMP):
            size, skip = 8, 8
        else:
            size, skip = 4 + second, 8
            if second < 5 and kind == 0 or second < 4 or second & 3 or (kind == PADDING and not delta):
                return 0, 0, time, kind
        if size > stop - at:
            return 0, 0, time, kind
        if kind == STAMP:
            time = ((second << 27) + delta) & ((1 << 59) - 1) | time & ~((1 << 59) - 1)
        elif kind == EXTEND:
            time += (second << 27) + delta
        elif kind != PADDING or delta != 1:
            time += delta
        return size, skip, time, kind

    def record(self, view, at, size, skip, path, time, needs):
        payload = bytes(view.data[at + skip:at + size])
        number = self.number(payload, 0, "H") if len(payload) >= 8 else None
        event = self.formats.get(number)
        if number is None:
            self.wrong(view, at, size, "a record without the common fields")
        elif event is None:
            if number != self.blk or not number:
                self.wrong(view, at, size, "an event without a format")
        elif len(payload) < event.least or (event.most is not None and len(payload) > event.least + 7):
            self.wrong(view, at, size, "an event of another size than its format")
        elif not self.arrays(payload, event):
            self.wrong(view, at, size, "an array outside of its event")
        if number is not None and not 0 <= self.number(payload, 4, "i") <= 4194304:
            self.wrong(view, at, size, "a process id that is none")
        who = (event.system, event.name, event.fields) if event else (number,)
        self.item(view, at, size, "event", (*path[0], time, who, payload), (*path[1], *needs, *(event.need if event else ())))

    def arrays(self, payload, event):
        for kind, offset, size, _ in event.fields:
            if kind.startswith((b"__data_loc", b"__rel_loc")) and size == 4:
                value = self.number(payload, offset, "I")
                start, length = (value & 0xFFFF) + (offset + 4 if kind.startswith(b"__rel") else 0), value >> 16
                if length and (start < event.least or start + length > len(payload)):
                    return False
        return True

    # ---- version 6 ----

    def version6(self):
        view, end = View(self.data, 0), len(self.data)
        at = self.header(view, 18, end)
        for step in (self.ftrace, self.systems, self.kallsyms, self.printk, self.cmdlines):
            at = step(view, at, end)
        if end - at < 14:
            raise Malformed("the file ends before its CPUs")
        self.place(view, at, 4, "CPU count")
        cpus, instances = self.number(self.data, at, "I"), []
        if not 0 < cpus <= CPUS_MAX:
            self.problem(at, 4, "a number of CPUs that is none")
            raise Malformed("a number of CPUs that is none")
        at += 4
        self.place(view, at, 10, "tag")
        if self.data[at:at + 7] == OPTIONS[:7]:
            if self.data[at:at + 10] != OPTIONS:
                self.problem(at, 10, "a tag that is not exact")
            options, at = self.options(view, at + 10, end)
            for number, of, where, size in options:
                if number == BUFFER:
                    instances.append((where, size))
                self.option(number, of, where, size)
            self.place(view, at, 10, "tag")
        counts = {}
        cpus = self.count or cpus
        if self.data[at:at + 10] == LATENCY:
            self.latency(view, at + 10, end, "")
            return
        self.table6(view, at, cpus, "", (), counts)
        for where, size in instances:
            nul = self.data.find(b"\0", where + 8, where + size)
            if size < 9 or nul < 0:
                self.problem(where, size, "a buffer without a name")
                continue
            name = self.data[where + 8:nul].decode("latin-1")
            self.table6(view, self.number(self.data, where, "Q"), cpus, name, ((self.name, where + 8, nul + 1 - where - 8),), counts)
        self.statistics(counts)
        self.overlaps()

    def table6(self, view, at, cpus, name, needs, counts):
        if self.data[at:at + 10] != FLYRECORD:
            self.problem(at, 10, "no table of CPUs")
            if self.data[at:at + 9] != FLYRECORD[:9]:
                return
        self.place(view, at, 10, "tag")
        if len(self.data) - at < 10 + 16 * cpus:
            self.problem(at, 10, "a table of CPUs that is cut")
            return
        rows = []
        for cpu in range(cpus):
            row = at + 10 + 16 * cpu
            self.place(view, row, 16, "CPU table")
            rows.append((cpu, row, *struct.unpack_from(self.order + "QQ", self.data, row)))
        behind = at + 10 + 16 * cpus
        if self.clock is not None:
            self.clock_block(view, behind)
        for cpu, row, offset, size in rows:
            counts[name, cpu] = 0
            if not size:
                continue
            if offset + size > len(self.data) or offset % self.page or size % self.page or offset < behind:
                self.problem(row, 16, "pages that are not where they can be")
            if offset < len(self.data):
                self.ranges.append((offset, min(offset + size, len(self.data)), row))
                stop = min(offset + size, len(self.data))
                counts[name, cpu], _ = self.pages(view, offset, stop, ((name, cpu), needs), 0)

    def clock_block(self, view, at):
        if len(self.data) - at < 8:
            self.problem(at, 8, "no clock")
            return
        size = self.number(self.data, at, "Q")
        text = self.data[at + 8:at + 8 + size] if size <= 4096 else b""
        self.place(view, at, 8 + min(size, 4096), "clock")
        found = re.search(rb"\[([^\]]+)\]", text)
        if not found or (self.clock and found[1] != self.clock):
            self.problem(at, 8, "a clock that is not the one of the option")

    def overlaps(self):
        self.ranges.sort()
        for (_, stop, _), (start, _, row) in zip(self.ranges, self.ranges[1:]):
            if start < stop:
                self.problem(row, 16, "pages of two CPUs in one place")

    def latency(self, view, at, end, name):
        """Text of the kernel: each line is an event."""
        while at < end:
            stop = view.data.find(b"\n", at, end) + 1 or end
            line = bytes(view.data[at:stop])
            if not line.endswith(b"\n") or b"\0" in line:
                self.wrong(view, at, stop - at, "a line that is none")
            self.item(view, at, stop - at, "line", (name, "line", line.rstrip(b"\n")))
            at = stop

    # ---- version 7 ----

    def version7(self):
        data = self.data
        first = data.find(b"\0", 18, 64)
        second = data.find(b"\0", first + 1, 128) if first >= 0 else -1
        if second < 0 or len(data) - second < 9:
            raise Malformed("no compressor")
        whole = View(data, 0)
        self.codec = data[18:first].decode("latin-1")
        self.place(whole, 18, second + 1 - 18, "compressor")
        self.place(whole, second + 1, 8, "offset of options")
        if self.codec not in ("none", "zstd", "zlib"):
            self.problem(18, first - 18, "a compressor that is not known")
            raise Malformed("a compressor that is not known")
        if (self.codec == "none") != (second == first + 1):
            self.problem(first, second - first, "a version of a compressor that cannot be")
        sections = self.sections(second + 9)
        options = self.chain(sections, self.number(data, second + 1, "Q"))
        found = {}
        for number, view, at, size in options:
            self.option(number, view, at, size)
            if number in POINTERS:
                where = self.number(view.data, at, "Q") if size == 8 else None
                if where not in sections or sections[where][0] != number:
                    self.wrong(view, at, size, "an option for a section that is not there")
                else:
                    found[number] = where
        for number in (HEADER_INFO, FTRACE, FORMATS, KALLSYMS, PRINTK, CMDLINES):
            if number in found:
                self.part(number, sections[found[number]])
            elif any(section[0] == number for section in sections.values()):
                self.problem(0, 0, "a section that no option names")
            elif number in (HEADER_INFO, FORMATS):
                self.problem(0, 0, "a section that is not there")
        counts = {}
        for number, view, at, size in options:
            if number == BUFFER:
                self.buffer(view, at, size, sections, counts)
            elif number == BUFFER_TEXT:
                self.buffer_text(view, at, size, sections)
        self.statistics(counts)
        self.overlaps()

    def sections(self, at):
        """{offset: (id, flags, body, size)}"""
        out, data, strings = {}, self.data, 0
        while at < len(data):
            if len(data) - at < 16:
                self.problem(at, len(data) - at, "bytes that are no section")
                break
            number, flags, text, size = struct.unpack_from(self.order + "HHiQ", data, at)
            self.place(View(data, 0), at, 16, "section header")
            if size > len(data) - at - 16 or number > 1024:
                self.problem(at, 16, "a section past the end")
                break
            if flags & ~1 or (number > MODULES and number):
                self.problem(at, 16, "a section of an unknown kind")
            out[at] = (number, flags, at + 16, size, text)
            at += 16 + size
        ends = {-1}
        for number, flags, body, size, _ in out.values():
            if number == STRINGS:
                try:
                    raw = self.content(number, flags, body, size).data
                except Malformed:
                    self.problem(body, size, "strings that cannot be read")
                    raw = b""
                if not raw.endswith(b"\0"):
                    self.problem(body, size, "strings without an end")
                starts = [0] + [i + 1 for i, c in enumerate(raw) if not c]
                ends |= {strings + start for start in starts if start < len(raw)}
                strings += len(raw)
        for start, (_, _, _, _, text) in out.items():
            if strings and text not in ends:
                self.problem(start, 16, "a description that is none")
        return out

    def content(self, number, flags, body, size):
        if not flags & 1:
            return View(self.data[body:body + size], body)
        if size < 8:
            raise Malformed("a frame that is cut")
        stored, decoded = struct.unpack_from(self.order + "II", self.data, body)
        self.place(View(self.data, 0), body, 8, "frame header")
        if 8 + stored > size or decoded > DECODED_MAX:
            self.problem(body, 8, "a frame past its section")
            raise Malformed("a frame past its section")
        if 8 + stored != size:
            self.problem(body, 8, "bytes behind a frame")
        raw = decompress(self.codec, self.data[body + 8:body + 8 + stored], decoded)
        if len(raw) != decoded:
            self.problem(body, 8, "a frame of another size")
        return View(raw, 0, body + 8, stored)

    def chain(self, sections, at):
        out, seen = [], set()
        while at:
            if at not in sections or sections[at][0] != DONE or at in seen:
                self.problem(at, 16, "no options where they should be")
                break
            seen.add(at)
            view = self.content(*sections[at][:4])
            items, end = self.options(view, 0, len(view.data))
            done = items.pop()
            out += items
            if end != len(view.data) or done[3] != 8:
                self.wrong(view, end, 1, "options that do not fill their section")
            if done[3] < 8:
                break
            at = self.number(view.data, done[2], "Q")
        if not out:
            raise Malformed("no options")
        if any(section[0] == DONE and start not in seen for start, section in sections.items()):
            self.problem(0, 0, "options that are not in the chain")
        return out

    def part(self, number, section):
        step = {HEADER_INFO: self.header, FTRACE: self.ftrace, FORMATS: self.systems, KALLSYMS: self.kallsyms, PRINTK: self.printk,
                CMDLINES: self.cmdlines}[number]
        try:
            view = self.content(*section[:4])
            end = step(view, 0, len(view.data))
            if end != len(view.data):
                self.wrong(view, end, 1, "bytes behind the content of a section")
        except Malformed as error:
            self.problem(section[2], section[3], str(error))

    def names(self, view, at, size):
        """Name and clock of a buffer, and where its numbers begin."""
        name = view.data.find(b"\0", at + 8, at + size)
        clock = view.data.find(b"\0", name + 1, at + size) if name >= 0 else -1
        if size < 10 or clock < 0:
            self.wrong(view, at, size, "a buffer without a name")
            return None
        if self.clock and view.data[name + 1:clock] != self.clock and at:
            self.wrong(view, at, size, "a buffer with another clock")
        return view.data[at + 8:name].decode("latin-1"), self.need(view, at + 8, name + 1 - at - 8), clock + 1

    def buffer(self, view, at, size, sections, counts):
        named = self.names(view, at, size)
        if not named:
            return
        name, need, where = named
        if at + size - where < 8:
            self.wrong(view, at, size, "a buffer that is cut")
            return
        page, count = struct.unpack_from(self.order + "II", view.data, where)
        section = sections.get(self.number(view.data, at, "Q"))
        if section is None or section[0] != BUFFER:
            self.wrong(view, at, size, "a buffer whose section is not there")
            section = (BUFFER, self.codec != "none", 0, len(self.data), 0)
        if page != self.page or where + 8 + 20 * count != at + size:
            self.wrong(view, at, size, "a buffer whose table does not fit")
        for row in range(where + 8, min(at + size, where + 8 + 20 * count) - 19, 20):
            cpu, offset, length = struct.unpack_from(self.order + "IQQ", view.data, row)
            if cpu >= CPUS_MAX or (self.count is not None and cpu >= self.count) or (name, cpu) in counts:
                self.wrong(view, row, 20, "a CPU that cannot be")
            if offset < section[2] or offset + length > section[2] + section[3] or offset % self.page:
                self.wrong(view, row, 20, "pages that are not where they can be")
            counts[name, cpu] = 0
            path = ((name, cpu), (need, self.need(view, row, 4)))
            if section[1] & 1:
                counts[name, cpu] = self.chunks(view, row, offset, length, path)
            elif offset + length <= len(self.data):
                if length % self.page:
                    self.wrong(view, row, 20, "pages that are not where they can be")
                self.ranges.append((offset, offset + length, row))
                counts[name, cpu], _ = self.pages(View(self.data, 0), offset, offset + length, path, 0)

    def chunks(self, table, row, at, length, path):
        """The chunks of a CPU. trace-cmd states 4 bytes less than there are."""
        if len(self.data) - at < 4:
            return 0
        count, start, events, last = self.number(self.data, at, "I"), at, 0, 0
        self.place(View(self.data, 0), at, 4, "chunk count")
        at += 4
        for _ in range(count):
            if len(self.data) - at < 8:
                self.wrong(table, row, 20, "chunks past the end")
                return events
            stored, decoded = struct.unpack_from(self.order + "II", self.data, at)
            self.place(View(self.data, 0), at, 8, "chunk header")
            if stored > len(self.data) - at - 8 or decoded > 10 << 20:
                self.problem(at, 8, "a chunk past the end")
                return events
            try:
                raw = decompress(self.codec, self.data[at + 8:at + 8 + stored], max(decoded, 1))
                if len(raw) != decoded or decoded % self.page:
                    self.problem(at, 8, "a chunk of another size")
                n, last = self.pages(View(raw, 0, at + 8, stored), 0, len(raw), path, last)
                events += n
            except Malformed as error:
                self.problem(at, 8 + stored, str(error))
            at += 8 + stored
        if at - start not in (length, length + 4):
            self.wrong(table, row, 20, "chunks of another size")
        self.ranges.append((start, at, row))
        return events

    def buffer_text(self, view, at, size, sections):
        named = self.names(view, at, size)
        section = sections.get(self.number(view.data, at, "Q")) if named else None
        if section is None or section[0] != BUFFER_TEXT:
            self.wrong(view, at, size, "a buffer whose section is not there")
            return
        if not section[1] & 1:
            self.latency(View(self.data, 0), section[2], section[2] + section[3], named[0])
            return
        at, raw, frames = section[2] + 4, b"", []
        for _ in range(self.number(self.data, section[2], "I") if section[3] >= 4 else 0):
            if len(self.data) - at < 8:
                break
            stored, decoded = struct.unpack_from(self.order + "II", self.data, at)
            self.place(View(self.data, 0), at, 8, "chunk header")
            if stored > len(self.data) - at - 8 or decoded > 10 << 20:
                self.problem(at, 8, "a chunk past the end")
                break
            try:
                raw += decompress(self.codec, self.data[at + 8:at + 8 + stored], max(decoded, 1))
            except Malformed as error:
                self.problem(at, 8 + stored, str(error))
            frames.append((at, 8 + stored))
            at += 8 + stored
        if frames:
            self.latency(View(raw, 0, frames[0][0], at - frames[0][0]), 0, len(raw), named[0])

    # ---- all ----

    def walk(self):
        data = self.data
        whole = View(data, 0)
        self.place(whole, 0, 18, "initial block")
        if data[:10] != MAGIC or data[10:12] not in (b"6\0", b"7\0") or data[12:13] not in (b"\0", b"\1") or data[13:14] not in (b"\4", b"\x08"):
            self.problem(0, 18, "no trace.dat")
            if data[10:12] not in (b"6\0", b"7\0"):
                raise Malformed("no trace.dat")
        self.version = data[10] - 48
        self.order = ">" if data[12:13] == b"\1" else "<"
        self.long = data[13] if data[13:14] in (b"\4", b"\x08") else 8
        self.page = self.number(data, 14, "I")
        if self.page & (self.page - 1) or not 1024 <= self.page <= 1 << 20:
            self.problem(14, 4, "a page size that is none")
            self.page = 4096
        if self.version == 6:
            self.version6()
        else:
            self.version7()


def family(files):
    """Only captures of one version and compression take blocks from each other."""
    return files[""][10:11] + (files[""][18:22] if files[""][10:11] == b"7" else b"") if "" in files else b""


def read(files, places=False):
    events, problems, structure = [], [], []
    for name, data in sorted(files.items()):
        reader = Reader(name, data, places)
        try:
            reader.walk()
        except (struct.error, Malformed, IndexError) as error:
            reader.problem(0, len(data), str(error) if isinstance(error, Malformed) else "a structure that is cut")
        events += reader.events
        problems += reader.problems
        structure += reader.structure
    return Reading(events, problems, structure)
