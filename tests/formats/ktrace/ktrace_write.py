"""A writer of Darwin ktrace files, from ktrace(5) and the public descriptions of the chunks alone; nothing is shared with the program.

    make(rng) -> (files, records)   {"": bytes} of a valid capture, and how many events it has (those in sub-files belong to these)

Everything that a writer may do is drawn: both magic numbers, widths 32 and 64, chunks of all known kinds and of unknown ones in any order (ktrace(5):
"chunks should not be required to be found in any order, aside from header chunks coming before body chunks"), in all their forms; a header size
with and without the padding of its last chunk; the RAW versions 0, 1 (three layouts, with and without a CPU map) and 2. All known writers are
little-endian: there is no other byte order.
"""
import json
import plistlib
import struct
from itertools import count

V3, KERNEL, RAW1, RAW2 = 0x55AA0300, 0x1000, 0x55AA0101, 0x55AA0200
SUBCHUNKS = 0x8000
PAGE = 4096
CLASSES = (*range(1, 13), 20, *range(30, 47), *range(49, 55), *range(128, 138), 255)
NEWTHREAD, LOST = 0x07000004, 0x07020008
STRING_GLOBAL, THREADNAME, THREADNAME_PREV, LOOKUP, LOOKUP_DONE = 0x07010000, 0x07010010, 0x07010014, 0x03010090, 0x0301009C
STRINGS = {STRING_GLOBAL, THREADNAME, THREADNAME_PREV, LOOKUP, LOOKUP_DONE}
# Events of the trace class that describe others; what they say must be so.
SPECIAL = {NEWTHREAD, LOST, 0x07020014, 0x07020018}


def up(n, to):
    return -(-n // to) * to


class Model:
    """What the chunks of one capture share."""

    def __init__(self, rng, wide):
        self.rng, self.wide = rng, wide
        self.threads, self.pids = [], {}
        self.next_thread = rng.choice((1, 0x64, 0x2581, 0xFFFFF, (1 << 31) - 5000))
        self.time = rng.choice((1, 1000, rng.randrange(1, 1 << 40), rng.randrange(1, 1 << 52)))
        self.cpus = rng.choice((1, 2, 4, 10, 32))
        self.records = 0
        self.strings = count(1)

    # ---- threads and CPUs ----

    def thread(self, tid, pid, name):
        field = name[:19].ljust(20, b"\0")
        return struct.pack("<Qi20s" if self.wide else "<Ii20s", tid, pid, field)

    def name_of(self, pid):
        names = (b"launchd", b"WindowServer", b"nineteen_bytes_name", "été".encode(), b"a", b"mds (64-bit) [x]")
        if pid == 1:
            return self.rng.choice((b"kernel_task", b"launchd"))
        return self.pids.setdefault(pid, self.rng.choice(names))

    def thread_map(self, entries, unused=True):
        out = b""
        for _ in range(entries):
            if unused and self.rng.random() < 0.05:
                out += self.thread(self.new_thread(), 0, b"")
                continue
            pid = self.rng.choice((1, 1, self.rng.randrange(2, 40), self.rng.randrange(2, 99999)))
            tid = self.new_thread()
            out += self.thread(tid, pid, self.name_of(pid))
        return out

    def new_thread(self):
        self.next_thread += self.rng.randrange(1, 40)
        self.threads.append(self.next_thread)
        return self.next_thread

    def cpu_map(self, form):
        """bare: no prefix; legacy: that of RAW version 1; extended: longer names."""
        coprocessors = self.rng.randrange(self.cpus)
        entry = "<II32s" if form == "extended" else "<II8s"
        out = b"" if form == "bare" else struct.pack("<II", 1 if form == "extended" else RAW1, self.cpus)
        for number in range(self.cpus):
            iop = number >= self.cpus - coprocessors
            name = self.rng.choice((b"ANS", b"SIO", b"DCP0")) if iop else self.rng.choice((b"AP", b"AP-E", b"AP-P"))
            out += struct.pack(entry, number, iop, name)
        return out

    # ---- events ----

    def record(self, tid, debugid, arguments, cpu=None):
        rng = self.rng
        self.time += rng.choice((0, 1, rng.randrange(200), rng.randrange(1 << 20)))
        self.records += 1
        cpu = rng.randrange(self.cpus) if cpu is None else cpu
        if self.wide:
            return struct.pack("<Q4QQIIQ", self.time, *arguments, tid, debugid, cpu, 0)
        return struct.pack("<Q4III", self.time | cpu << 56, *(a & 0xFFFFFFFF for a in arguments), tid, debugid)

    def anything(self):
        rng = self.rng
        return rng.choice((0, 1, rng.randrange(256), rng.getrandbits(32), rng.getrandbits(64), (1 << 64) - 1, 0x1E00, V3))

    def plain_id(self):
        while True:
            debugid = self.rng.choice(CLASSES) << 24 | self.rng.randrange(1 << 22) << 2
            if debugid not in STRINGS and debugid not in SPECIAL:
                return debugid

    def any_thread(self):
        return self.rng.choice(self.threads) if self.threads else self.new_thread()

    def string(self, tid, event):
        """A string over the events that it needs, as the kernel cuts it; its first event has the id, or the vnode."""
        rng, word = self.rng, 8 if self.wide else 4
        head = {STRING_GLOBAL: 2, LOOKUP: 1, LOOKUP_DONE: 1}.get(event, 0)
        most = {STRING_GLOBAL: 1024, LOOKUP: 512, LOOKUP_DONE: 512}.get(event, 64)
        text = bytes(rng.randrange(32, 127) for _ in range(rng.randrange(1, most)))
        first = (4 - head) * word
        pieces = [text[:first].ljust(first, b"\0")]
        pieces += [text[at:at + 4 * word].ljust(4 * word, b"\0") for at in range(first, len(text), 4 * word)]
        out = b""
        for number, piece in enumerate(pieces):
            words = [int.from_bytes(piece[at:at + word], "little") for at in range(0, len(piece), word)]
            if not number and event == STRING_GLOBAL:
                words = [0x01400000, 0x70AC << 48 | next(self.strings), *words]
            elif not number and head:
                words = [rng.getrandbits(62), *words]
            out += self.record(tid, event | (number == 0) | (number == len(pieces) - 1) << 1, words)
        return out

    def some(self):
        rng, tid = self.rng, self.any_thread()
        kind = rng.randrange(12)
        if kind == 0:
            event = self.plain_id()
            return b"".join(self.record(tid, event | which, [self.anything() for _ in range(4)]) for which in (1, 2))
        if kind == 1:
            return self.string(tid, rng.choice(sorted(STRINGS)))
        if kind == 2:
            born = self.new_thread()
            return self.record(tid, NEWTHREAD, (born, rng.randrange(2, 99999), 0, rng.getrandbits(40)))
        if kind == 3 and rng.random() < 0.2:
            return self.record(tid, LOST, (rng.randrange(2), 0, 0, 0))
        if kind == 4 and rng.random() < 0.5:
            return self.record(0, self.plain_id(), [self.anything() for _ in range(4)])
        return self.record(tid, self.plain_id() | rng.choice((0, 0, 0, 0, 1, 2)), [self.anything() for _ in range(4)])

    def events(self, about):
        return b"".join(self.some() for _ in range(about))

    # ---- payloads of the other chunks ----

    def value(self, depth=0):
        rng = self.rng
        kind = rng.randrange(9 if depth < 3 else 6)
        if kind < 6:
            return (rng.random() < 0.5, rng.getrandbits(63), rng.random(), rng.randbytes(rng.randrange(300)),
                    "".join(chr(rng.choice((65, 233, 0x4E2D, 32))) for _ in range(rng.randrange(40))), plistlib.UID(rng.randrange(99)))[kind]
        if kind < 8:
            return [self.value(depth + 1) for _ in range(rng.randrange(20))]
        return self.dictionary(depth + 1)

    def dictionary(self, depth=0):
        return {f"key{n}": self.value(depth) for n in range(self.rng.randrange(24))}

    def plist(self, keys=()):
        """A property list: binary, XML, or JSON."""
        root = {**self.dictionary(), **{key: self.value(2) for key in keys}}
        form = self.rng.randrange(8)
        if form == 0:
            return json.dumps({"pid": 1, "names": ["a", "b"]}).encode()
        if form == 1:
            return plistlib.dumps({"pid": 1, "names": ["a", "b"], "data": bytes(20)}, fmt=plistlib.FMT_XML)
        return plistlib.dumps(root, fmt=plistlib.FMT_BINARY)

    def opaque(self, least=0, most=200):
        """Bytes that may be anything; often zeros."""
        size = self.rng.randrange(least, most)
        return bytes(size) if self.rng.random() < 0.3 else self.rng.randbytes(size)

    def machine(self):
        return plistlib.dumps({"kern_version": "Darwin Kernel Version 22.1.0", "hw_memsize": 1 << 34, "hw_pagesize": 16384, "os_name": "macOS",
                               "arch": "arm64e", "active_cpus": self.cpus, "max_cpus": self.cpus}, fmt=plistlib.FMT_BINARY)

    def stackshot(self):
        return self.rng.choice((b"\x07\x58\xa2\x59", b"\x9a\xa5\x17\xde", b"PMOC")) + self.opaque()

    def compressed(self):
        events = self.rng.randrange(20)
        return struct.pack("<QI", 0, events) + self.rng.randbytes(self.rng.randint(3 * events, 65 * events))

    def time_sync(self):
        return struct.pack("<QQIIQIiiI", self.time, 0, *self.timebase, 1_600_000_000, 250_000, 480, 1, self.rng.randrange(2))

    def summary(self):
        return struct.pack("<Q", self.time + self.rng.randrange(2000)) + (bytes(8) if self.rng.random() < 0.1 else b"")

    def codes(self):
        return b"".join(b"0x%x NAME_%d%s" % (self.plain_id(), n, self.rng.choice((b"\n", b"\n", b" and more\n"))) for n in range(self.rng.randrange(1, 30)))


def chunk(tag, payload, version=(0, 0)):
    return tag, version, payload


def framed(at, chunks, pad_last=True):
    """The bytes of chunks that begin at `at`, and the end of the last one's data."""
    out, end = b"", at
    for number, (tag, (major, minor), payload) in enumerate(chunks):
        size = len(payload)
        out += struct.pack("<IHHQ", tag, major, minor, size) + payload
        end = at + len(out)
        if number < len(chunks) - 1 or pad_last:
            out += bytes(-(at + len(out)) % 8)
    return out, end


# Property lists by tag, with keys that are known of them.
LISTS = {0x5002: ("Kernel64bit",), 0x51FA: (), 0x8001: ("Binaries",), 0x8004: (), 0x8005: ("Binaries",), 0x8006: ("owner_kind", "kdebug_state"), 0x8008: (),
         0x8010: (), 0x8011: ("Events",), 0x8012: ("StringIndex",), 0x900A: ("mach_abs_time", "mach_cont_time")}
VERSIONS = {0x8004: (1, 0), 0x5002: (1, 1), 0x8006: (1, 4), 0x8013: (1, 0), 0x8002: (1, 0), 0xE001E001: (1, 1)}
OPAQUE = (0x1B00, 0x5001, 0x51F6, 0x51F9, 0x51FB, 0x51FE, 0x51FF, 0x8014, 0x9000, 0x9008, 0x9009, 0xE001E001)
KNOWN = {*LISTS, *OPAQUE, 0x1A00, 0x1C00, 0x1D00, 0x1E00, 0x1F00, 0x2000, 0x5203, *range(0x8001, 0x8015), 0x8030, 0x8C00, 0x8C01, 0x8C02, 0x12001}


def unknown_tag(rng):
    """ktrace(5): "unrecognized chunks should be skipped", whatever their tag. All ones marks one that is not finished."""
    while True:
        tag = rng.choice((rng.randrange(1 << 32), 0, rng.randrange(1, 0x20000), rng.randrange(0x8100, 0x8A00), 0x4000, 0xE001E002))
        if tag not in KNOWN and tag not in (0xFFFFFFFF, V3, KERNEL, RAW1, RAW2):
            return tag


def unknown(model):
    rng = model.rng
    version = rng.choice(((0, 0), (1, 0), (rng.randrange(17), rng.randrange(17)), (rng.getrandbits(15), rng.getrandbits(16))))
    out = [chunk(unknown_tag(rng), model.opaque(), version) for _ in range(rng.choice((1, 1, 2, 3, 20)))]
    # An empty chunk with tag 0 is what a hole leaves, and one with another version than writers give is noise.
    return [(tag, given, payload) if tag else (tag, (0, 0), payload or bytes(8)) for tag, given, payload in out]


def header_chunks(model):
    rng, out = model.rng, []
    if rng.random() < 0.8:
        out.append(chunk(0x1C00, model.cpu_map(rng.choice(("bare", "legacy", "extended", "extended"))), (rng.randrange(2), 0)))
    if rng.random() < 0.5:
        out.append(chunk(0x8C00, model.machine()))
    if rng.random() < 0.5:
        out.append(chunk(0x8C01, rng.randbytes(16)))
    for tag in (0x1A00, 0x8C02):
        if rng.random() < 0.2:
            out.append(chunk(tag, model.opaque(), (rng.randrange(2), 0)))
    if rng.random() < 0.3:
        out += unknown(model)
    if rng.random() < 0.3:
        out.append(chunk(0x2000, bytes(rng.randrange(200))))
    rng.shuffle(out)
    return out


def subfiles(model):
    """The header and the bodies of a sub-file, which hold chunks themselves: events, too."""
    rng, number = model.rng, model.rng.randrange(1, 1000)
    identity = chunk(0x800C, struct.pack("<I", number))
    structure = struct.pack("<IHHQIIQQIiII", V3, 1, 0, 40, *model.timebase, 0, 1_600_000_000, 0, 0, 0, model.wide)
    first = [identity, chunk(0x800D, structure)]
    if rng.random() < 0.5:
        first.append(chunk(0x8009, plistlib.dumps({"type": "bridge"}, fmt=plistlib.FMT_BINARY)))
    if rng.random() < 0.5:
        first.append(chunk(0x8C00, model.machine()))
    out = [chunk(0x800A, framed(0, first, rng.random() < 0.5)[0], (SUBCHUNKS, 0))]
    for _ in range(rng.randrange(3)):
        inner = [identity]
        if rng.random() < 0.5:
            inner.append(chunk(0x1D00, model.thread_map(rng.randrange(1, 5))))
        if rng.random() < 0.5:
            before = model.records
            inner.append(chunk(0x1E00, bytes(8) + model.events(rng.randrange(1, 5))))
            model.records = before
        if rng.random() < 0.5:
            inner.append(chunk(0x2000, bytes(rng.randrange(30))))
        out.append(chunk(0x800B, framed(0, inner, rng.random() < 0.5)[0], (SUBCHUNKS, 0)))
    return out


def nested(model):
    """A whole file in a chunk."""
    config, _ = framed(56, [chunk(0x8006, model.plist(LISTS[0x8006]))])
    return struct.pack("<IHHQIIQQIiII", V3, 1, 0, 40, *model.timebase, 0, 1_600_000_000, 0, 0, 0, model.wide) + config


def other_chunks(model):
    """Chunks of the body but maps and events, some of each kind now and then."""
    rng, out = model.rng, []
    for tag, keys in LISTS.items():
        if rng.random() < 0.12:
            out.append(chunk(tag, model.plist(keys), VERSIONS.get(tag, (0, 0))))
    for tag in OPAQUE:
        if rng.random() < 0.12:
            out.append(chunk(tag, model.opaque(), VERSIONS.get(tag, (0, 0))))
    for tag, make_one in ((0x8002, model.stackshot), (0x1F00, model.compressed), (0x8013, model.time_sync), (0x800F, model.codes),
                          (0x8030, lambda: model.opaque(48, 80)), (0x800E, lambda: struct.pack("<dQQ", 1.0, model.time, model.time)),
                          (0x2000, lambda: bytes(rng.randrange(5000))), (0x5203, lambda: nested(model)),
                          (0x12001, lambda: b'{"1": "exit", "2": "fork"}')):
        if rng.random() < 0.15:
            out.append(chunk(tag, make_one(), VERSIONS.get(tag, (0, 0))))
    if rng.random() < 0.4:
        out += unknown(model)
    return out


def aligned_null(model, at):
    """A null chunk that moves the records of the next chunk to a page, as libktrace does; at: where it begins."""
    return chunk(0x2000, bytes((PAGE - 8 - 16 - 16 - at) % PAGE))


def body_chunks(model, at):
    """Thread maps before, between and behind the events."""
    rng = model.rng
    groups = [[chunk(0x1D00, model.thread_map(rng.choice((1, 3, 40))), (rng.randrange(2), 0))] for _ in range(rng.choice((0, 1, 1, 1, 2)))]
    groups += [[each] for each in other_chunks(model)]
    if rng.random() < 0.15:
        groups.append(subfiles(model))
    rng.shuffle(groups)
    places = sorted(rng.randrange(len(groups) + 1) for _ in range(rng.choice((0, 1, 1, 2, 4))))
    out = []
    for number in range(len(groups) + 1):
        for _ in range(places.count(number)):
            if rng.random() < 0.3:
                out.append(aligned_null(model, up(framed(at, out)[1], 8)))
            out.append(chunk(0x1E00, bytes(8) + model.events(rng.choice((0, 1, 2, 5, 30, 300))), (rng.randrange(2), 0)))
        out += groups[number] if number < len(groups) else []
    if rng.random() < 0.4:
        out.append(chunk(0x8007, model.summary()))
    return out


def version3(rng):
    model = Model(rng, rng.random() < 0.7)
    model.timebase = rng.choice(((1, 1), (125, 3), (125, 3), (1000, 24), (rng.randrange(1, 1000), rng.randrange(1, 100))))
    magic = rng.choice((V3, V3, V3, V3, KERNEL))
    major = 1 if magic == KERNEL else rng.randrange(2)
    stamp = rng.choice((0, model.time))
    head = header_chunks(model)
    inner, end = framed(56, head)
    size = rng.choice((end, up(end, 8))) - 16 if head else 40
    seconds = rng.choice((0, 1_600_000_000 + rng.randrange(10 ** 8)))
    structure = struct.pack("<IHHQIIQQIiII", magic, major, 0, size, *model.timebase, stamp, seconds, rng.randrange(10 ** 6) if seconds else 0,
                            rng.randrange(-840, 721), rng.randrange(7), model.wide)
    start = up(end, 8) if head else 56
    body, _ = framed(start, body_chunks(model, start), rng.random() < 0.5)
    data = structure + inner
    if not body:
        data = data[:16 + size]
    return data + body, model.records


def raw(rng, version):
    wide = rng.random() < 0.6
    model = Model(rng, wide)
    entries = rng.choice((1, 2, 20, 100, 128, 300, 1000))
    with_cpus = version == 1 and rng.random() < 0.6
    threads = model.thread_map(entries, False)
    if version == 0:
        head = struct.pack("<I", entries)
    elif version == 1:
        head = struct.pack("<IIQI", RAW1, entries, 1_600_000_000, rng.randrange(10 ** 6))
        # 32-bit kernels whose structures are aligned to 8 bytes have the word, too.
        head += struct.pack("<I", 0) if wide or rng.random() < 0.3 else b""
    else:
        head = struct.pack("<IIQIIQ", RAW2, entries, rng.choice((0, 1_600_000_000)), 0, wide, rng.choice((24_000_000, 10 ** 9))) + bytes(256)
    data = head + threads
    if with_cpus:
        # It lies in what the thread map leaves of its page.
        cpus = model.cpu_map("legacy")
        if len(cpus) <= -len(data) % PAGE:
            data += cpus
    if version:
        # Kernels since xnu 1699 leave a whole page out where the map ends at one already.
        data += bytes(-len(data) % PAGE)
    # The width is stored in version 2 only: the others must show it in their first events.
    events = model.events(rng.choice((4, 30, 300)) if version == 2 else rng.choice((30, 300)))
    return data + events, model.records


def make(rng):
    """One valid capture, and its number of events."""
    kind = rng.randrange(10)
    data, records = raw(rng, kind) if kind < 3 else version3(rng)
    return {"": data}, records
