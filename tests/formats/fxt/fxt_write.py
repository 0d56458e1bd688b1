"""A writer of Fuchsia traces, from the document alone (with its later revisions for scheduling, profiler and blob arguments); nothing is
shared with the program.

    make(rng) -> (files, records)   {"": bytes} of a valid capture, and how many records it has

Everything that a writer may do is drawn: both byte orders, providers with and without a name, sections, tick rates, every kind of record,
inline and indexed strings and threads, all types of arguments, none to fifteen of them, texts and payloads around the ends of words, and
the extensions that writers are known to add (the scope of an instant, the base time of an initialization).
"""
import struct

MAGIC = 0x0016547846040010
WORDS = ("render", "vsync", "x", "seven_7", "eight_88", "nine_9_99", "été", "描画", "a name of two dozen bytes", "tracks 🔥", "kernel:sched")
NUMBERS = (0, 1, 7, 255, 1 << 16, (1 << 31) - 1)
RATES = (10 ** 9, 10 ** 6, 24_000_000, 19_200_000, 3_000_000_000)
TAILED = (1, 4, 5, 6, 7, 8, 9, 10)
STRING_MAX, THREAD_MAX = 0x7FFF, 0xFF


class Provider:
    def __init__(self, number):
        self.id = number
        self.strings, self.threads = {}, {}
        self.time = 1000 * number
        self.open = {}


class Writer:
    def __init__(self, rng):
        self.rng, self.order = rng, rng.choice("<<>")
        self.out, self.records = bytearray(), 0
        self.providers, self.provider = [], None
        self.next_koid = 1000
        self.flows, self.asyncs = 1, 1
        self.blobs = {}

    # ---- atoms ----

    def pack(self, *words):
        return struct.pack(f"{self.order}{len(words)}Q", *words)

    def stream(self, raw):
        return raw + bytes(-len(raw) % 8)

    def put(self, kind, header, body):
        """A record: its header without type and size, and what is behind it."""
        size = 1 + len(body) // 8
        self.out += self.pack(kind | size << 4 | header) + body
        self.records += 1

    def koid(self):
        self.next_koid += 1
        return self.next_koid

    def tick(self):
        self.provider.time += self.rng.randrange(1, 500)
        return self.provider.time

    def text(self):
        if self.rng.random() < 0.1:
            return "".join(self.rng.choice("abcdefgh ") for _ in range(self.rng.choice((1, 7, 8, 9, 15, 16, 17, 64, 255))))
        return self.rng.choice(WORDS)

    # ---- references ----

    def string(self, text=None):
        """(reference, bytes) of a string; it is registered first where that is needed."""
        text = self.text() if text is None else text
        raw, known = text.encode(), self.provider.strings
        if not raw:
            return 0, b""
        if text not in known and (self.rng.random() < 0.3 or len(known) > 200):
            return 0x8000 | len(raw), self.stream(raw)
        if text not in known:
            index = len(known) + 1 if STRING_MAX not in known.values() and self.rng.random() < 0.98 else None
            if index is None:
                return 0x8000 | len(raw), self.stream(raw)
            self.put(2, index << 16 | len(raw) << 32, self.stream(raw))
            known[text] = index
        return known[text], b""

    def thread(self):
        """(reference, bytes, koids)."""
        known = self.provider.threads
        koids = self.rng.choice(list(known)) if known and self.rng.random() < 0.8 else (self.koid(), self.koid())
        if koids not in known and (self.rng.random() < 0.3 or len(known) > 20):
            return 0, self.pack(*koids), koids
        if koids not in known:
            index = len(known) + 1
            self.put(3, index << 16, self.pack(*koids))
            known[koids] = index
        return known[koids], b"", koids

    def argument(self, kind, name=None):
        ref, inline = self.string(name or self.text())
        value, high = b"", 0
        if kind == 1:
            high = self.rng.choice((0, 1, 0xFFFFFFFF, 1 << 31)) << 32
        elif kind == 2:
            high = self.rng.choice((0, 1, 0xFFFFFFFF)) << 32
        elif kind in (3, 4):
            value = self.pack(self.rng.choice((1 << 40, 1 << 63, 0xFFFFFFFF00000000)))
        elif kind == 5:
            value = struct.pack(self.order + "d", self.rng.choice((0.0, -1.5, 1e300, 0.1)))
        elif kind == 6:
            other, value = self.string()
            high = other << 32
        elif kind in (7, 8):
            value = self.pack(self.koid())
        elif kind == 9:
            high = self.rng.randrange(2) << 32
        elif kind == 10:
            raw = self.rng.randbytes(self.rng.choice((0, 1, 7, 8, 9, 40)))
            value, high = self.stream(raw), len(raw) << 32
        return self.pack(kind | (1 + (len(inline) + len(value)) // 8) << 4 | ref << 16 | high) + inline + value

    def arguments(self, kinds=tuple(range(11)), least=0):
        count = self.rng.choice((least, least, least + 1, least + 2, 15))
        return count, b"".join(self.argument(self.rng.choice(kinds)) for _ in range(count))

    # ---- records ----

    def introduce(self):
        self.provider = Provider(len(self.providers) + 1)
        self.providers.append(self.provider)
        name = self.rng.choice((b"", self.text().encode()))[:255]
        self.put(0, 1 << 16 | self.provider.id << 20 | len(name) << 52, self.stream(name))
        if self.rng.random() < 0.8:
            self.initialize()

    def initialize(self):
        more = (self.provider.time, 1_650_419_113_989_693_816) if self.rng.random() < 0.2 else ()
        self.put(1, 0, self.pack(self.rng.choice(RATES), *more))

    def section(self):
        self.provider = self.rng.choice(self.providers)
        self.put(0, 2 << 16 | self.provider.id << 20, b"")

    def buffer_full(self):
        self.put(0, 3 << 16 | self.provider.id << 20, b"")

    def event(self, kind=None, names=None, koids=None):
        kind = self.rng.randrange(11) if kind is None else kind
        if kind in (2, 3, 5, 6, 7, 8, 9, 10) and names is None:
            self.group(kind)
            return
        ref, inline, _ = koids or self.thread()
        category, first = self.string(names[0] if names else None)
        name, second = self.string(names[1] if names else None)
        count, arguments = self.arguments((1, 2, 3, 4, 5) if kind == 1 else tuple(range(11)), 1 if kind == 1 else 0)
        time = self.tick()
        tail = b""
        if kind in TAILED:
            tail = self.pack(time + 5 if kind == 4 else self.provider.open.get("id", 1))
        elif kind == 0 and self.rng.random() < 0.2:
            tail = self.pack(self.rng.randrange(3))
        self.put(4, kind << 16 | count << 20 | ref << 24 | category << 32 | name << 48, self.pack(time) + inline + first + second + arguments + tail)

    def group(self, kind):
        """A duration, an async operation or a flow, from its begin to its end."""
        thread, names = self.thread(), (self.text(), self.text())
        self.provider.open["id"] = self.koid()
        first, step, last = (2, 0, 3) if kind < 4 else (5, 6, 7) if kind < 8 else (8, 9, 10)
        flow = first == 8
        if flow:
            self.event(2, names, thread)
        self.event(first, names, thread)
        if step and self.rng.random() < 0.5:
            self.event(step, names, thread)
        self.event(last, names, thread)
        if flow:
            self.event(3, names, thread)

    def blob(self):
        kind = self.rng.choice((1, 2, 3))
        name, inline = self.string(("raw", "branches", "packets")[kind - 1])
        raw = b"\n\x02@\x05\n\x00" if kind == 3 else self.rng.randbytes(self.rng.choice((0, 1, 8, 24, 63, 300)))
        self.put(5, name << 16 | len(raw) << 32 | kind << 48, inline + self.stream(raw))

    def userspace(self):
        ref, inline, koids = self.thread()
        inline = b"" if ref else self.pack(koids[0])
        name, text = self.string()
        count, arguments = self.arguments()
        self.put(6, ref << 16 | name << 24 | count << 40, self.pack(self.koid()) + inline + text + arguments)

    def kernel(self):
        kind = self.rng.choice((1, 2, 2, 3, 17))
        name, text = self.string()
        arguments = self.argument(8, "process") if kind == 2 else b""
        self.put(7, kind << 16 | name << 24 | (kind == 2) << 40, self.pack(self.koid()) + text + arguments)

    def scheduling(self):
        kind, cpu = self.rng.randrange(3), self.rng.randrange(8)
        state = self.rng.choice((0, 2, 3, 4, 5))
        time = self.pack(self.tick())
        if kind == 0:
            (leaving, first, _), (coming, second, _) = self.thread(), self.thread()
            self.put(8, cpu << 16 | state << 24 | leaving << 28 | coming << 36 | 20 << 44 | 30 << 52, time + first + second)
            return
        arguments = b"".join(self.argument(1, name) for name in self.rng.choice(((), ("incoming_weight", "outgoing_weight")[:3 - kind])))
        count = 0 if not arguments else 3 - kind
        if kind == 1:
            self.put(8, count << 16 | cpu << 20 | state << 36 | 1 << 60, time + self.pack(self.koid(), self.koid()) + arguments)
        else:
            if count:
                arguments = self.argument(1, "weight")
            self.put(8, count << 16 | cpu << 20 | 2 << 60, time + self.pack(self.koid()) + arguments)

    def log(self):
        ref, inline, _ = self.thread()
        raw = self.text().encode()
        self.put(9, len(raw) << 16 | ref << 32, self.pack(self.tick()) + inline + self.stream(raw))

    def profiler(self):
        kind, (ref, inline, _) = self.rng.randrange(3), self.thread()
        time, number = self.pack(self.tick()), self.rng.randrange(100)
        if kind == 0:
            name, build = self.text().encode()[:255], self.rng.randbytes(self.rng.choice((0, 8, 16, 20)))
            self.put(10, ref << 20 | number << 28 | len(name) << 44 | len(build) << 52, time + inline + self.stream(name) + self.stream(build))
        elif kind == 1:
            self.put(10, 1 << 16 | ref << 20 | number << 28 | self.rng.randrange(8) << 44, time + inline + self.pack(1 << 20, 4096, 0))
        else:
            frames = [self.koid() << 12 for _ in range(self.rng.choice((0, 1, 5, 255)))]
            self.put(10, 2 << 16 | ref << 20 | len(frames) << 28, time + inline + self.pack(*frames))

    def large(self):
        form = self.rng.randrange(2)
        category, first = self.string()
        name, second = self.string()
        layout, body = category | name << 16, first + second
        raw = self.rng.randbytes(self.rng.choice((0, 1, 8, 1000, 40_000)))
        if form == 0:
            ref, inline, _ = self.thread()
            count, arguments = self.arguments()
            layout |= count << 32 | ref << 36
            body = first + second + self.pack(self.tick()) + inline + arguments
        self.put(15, form << 40, self.pack(layout) + body + self.pack(len(raw)) + self.stream(raw))

    def again(self):
        """A text that is registered again, under its own index or in place of another."""
        known = self.provider.strings
        if known:
            old = self.rng.choice(list(known))
            new = self.rng.choice((old, "again " + self.text()))
            index = known.pop(old)
            known.pop(new, None)
            self.put(2, index << 16 | len(new.encode()) << 32, self.stream(new.encode()))
            known[new] = index

    def make(self):
        self.put(0, 0, b"")
        self.out[:8] = self.pack(MAGIC)
        self.introduce()
        kinds = [self.event] * 8 + [self.blob, self.userspace, self.kernel, self.scheduling, self.log, self.profiler, self.large]
        # Swarms: a capture has many kinds or few.
        kinds = [kind for kind in kinds if self.rng.random() < self.rng.choice((0.3, 1))] or [self.event]
        rare = [self.introduce, self.section, self.buffer_full, self.again]
        for _ in range(self.rng.choice((0, 3, 30, 200))):
            self.rng.choice(rare if self.rng.random() < 0.05 else kinds)()
        return {"": bytes(self.out)}, self.records


def make(rng):
    return Writer(rng).make()
