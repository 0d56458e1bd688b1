"""The records of a Fuchsia trace: the bytes of each, what it means, what it needs. Written from the document alone (Fuchsia trace
format, and its later revisions for scheduling, profiler and blob arguments); nothing is shared with the program.

    read(files, places=False) -> Reading    the protocol of tests/lib/truth.py

Meaning: kind of event, provider (id, name), ticks per second, time, thread (process, thread), category, name, arguments, last word;
references are resolved. Words that no revision of the document describes are part of the meaning.
Prerequisites: the provider's records, its initialization, the string and thread records in force.
A second provider record with the same id empties the provider's tables, as the readers of Fuchsia and Perfetto do.
"""
import struct
from collections import namedtuple

Reading = namedtuple("Reading", "events problems structure")

SUFFIX = ".fxt"
# Kinds of items whose text a repair may replace by a placeholder, in a literal that says so. (Not the initialization, nor a section: a
# rate or a provider that was guessed is not seen to be one.)
PLACEHOLDERS = {"string", "thread", "provider"}
# Kinds of items that only describe others.
REGISTRATIONS = {"magic", "provider", "section", "initialization", "string", "thread"}
# Two traces that are joined are a trace again.
JOINABLE = True

MAGIC = 0x0016547846040010
EVENT_TYPES = ("instant", "counter", "duration begin", "duration end", "duration complete", "async begin", "async instant", "async end",
               "flow begin", "flow step", "flow end")
TAILED = {1, 4, 5, 6, 7, 8, 9, 10}
ARGUMENT_TYPES = ("null", "int32", "uint32", "int64", "uint64", "double", "string", "pointer", "koid", "bool", "blob")
DEFAULT_RATE = (10 ** 9,)


class Malformed(Exception):
    pass


class Provider:
    def __init__(self, number, name, context):
        self.id, self.name, self.info, self.context = number, name, context, context
        self.rate, self.initialization = DEFAULT_RATE, ()
        self.strings, self.threads = {}, {}

    def needs(self):
        return [*self.context, *self.initialization]

    def identity(self):
        return (self.id, self.name)


class Reader:
    """One walk over one file. at and end are word numbers; every record is read between them."""

    def __init__(self, name, data, places):
        self.name, self.data = name, data
        self.order = ">" if data[:8] == MAGIC.to_bytes(8, "big") else "<"
        self.count = len(data) // 8
        self.words = struct.unpack(f"{self.order}{self.count}Q", data[:self.count * 8])
        self.events, self.problems, self.structure = [], [], []
        self.places = places
        self.provider = Provider(None, "", ())
        self.providers = {}
        self.start = self.at = self.end = 0

    # ---- notes ----

    def problem(self, what):
        self.problems.append((self.name, self.start * 8, (self.end - self.start) * 8, what))

    def reserved(self, value, what="reserved bits are set"):
        if value:
            self.problem(what)

    def place(self, words, what, at=None):
        if self.places:
            self.structure.append((self.name, (self.at if at is None else at) * 8, words * 8, what))

    def span(self):
        return (self.name, self.start * 8, (self.end - self.start) * 8)

    def item(self, kind, meaning, needs):
        self.events.append((self.name, ((self.start * 8, (self.end - self.start) * 8),), meaning, tuple(needs), kind))

    # ---- atoms ----

    def word(self):
        if self.at >= self.end:
            raise Malformed("the content does not fit the size")
        self.at += 1
        return self.words[self.at - 1]

    def stream(self, length, end=None):
        at = self.at
        self.at += (length + 7) >> 3
        if self.at > (self.end if end is None else end):
            raise Malformed("a stream does not fit the size")
        if self.data[at * 8 + length:self.at * 8].strip(b"\0"):
            self.problem("padding is not zero")
        return self.data[at * 8:at * 8 + length]

    def text(self, raw, strict=True):
        if strict:
            try:
                raw.decode()
            except UnicodeDecodeError:
                self.problem("text is not UTF-8")
        return raw.decode("latin-1")

    def string(self, ref, needs, strict=True):
        if not ref:
            return ""
        if ref & 0x8000:
            return self.text(self.stream(ref & 0x7FFF), strict)
        entry = self.provider.strings.get(ref)
        if entry is None:
            self.problem("a string reference that is not registered")
            return ("not registered", ref)
        needs.append(entry[1])
        return entry[0]

    def thread(self, ref, needs):
        if not ref:
            return (self.word(), self.word())
        entry = self.provider.threads.get(ref)
        if entry is None:
            self.problem("a thread reference that is not registered")
            return ("not registered", ref)
        needs.append(entry[1])
        return entry[0]

    def rest(self, known=None):
        """The words that are left, as part of the meaning. known: a test of an extension that is known."""
        extra = self.words[self.at:self.end]
        if extra and not (known and known(extra)):
            self.problem("words behind the content")
        return extra

    # ---- arguments ----

    def arguments(self, count, needs):
        out = []
        for _ in range(count):
            at = self.at
            self.place(1, "argument header")
            header = self.word()
            kind, size, end = header & 15, header >> 4 & 0xFFF, self.end
            if not size or at + size > end:
                raise Malformed("an argument does not fit the size")
            self.end = at + size
            try:
                out.append(self.argument(header, kind, needs))
                extra = self.words[self.at:self.end]
                if extra:
                    out.append(("words behind an argument", extra))
            finally:
                self.end = end
            if extra:
                self.problem("words behind the content of an argument")
            self.at = at + size
        return tuple(out)

    def argument(self, header, kind, needs):
        name, high = self.string(header >> 16 & 0xFFFF, needs), header >> 32
        if kind == 0:
            self.reserved(high)
            return ("null", name)
        if kind == 1:
            return ("int32", name, high - (1 << 32) if high >> 31 else high)
        if kind == 2:
            return ("uint32", name, high)
        if kind in (3, 4, 5, 7, 8):
            # The bits are the value; a double is compared by its bits, so that NaN equals itself.
            self.reserved(high)
            return (ARGUMENT_TYPES[kind], name, self.word())
        if kind == 6:
            self.reserved(high >> 16)
            return ("string", name, self.string(high & 0xFFFF, needs))
        if kind == 9:
            self.reserved(high >> 1)
            return ("bool", name, high & 1)
        if kind == 10:
            return ("blob", name, self.stream(high))
        self.problem("a type of argument that is not assigned")
        value = self.data[self.at * 8:self.end * 8]
        self.at = self.end
        return ("unknown argument", kind, name, high, value)

    # ---- records ----

    def metadata(self, header):
        kind = header >> 16 & 15
        number = header >> 20 & 0xFFFFFFFF
        if kind == 1:
            self.place(self.end - self.start, "provider", self.start)
            self.reserved(header >> 60)
            name = self.text(self.stream(header >> 52 & 0xFF))
            extra = self.rest()
            self.item("provider", ("provider", number, name, extra), ())
            known = self.providers.get(number)
            if known:
                self.problem("a provider that is introduced again")
            self.provider = self.providers[number] = Provider(number, name, (self.span(),))
        elif kind == 2:
            self.place(self.end - self.start, "section", self.start)
            self.reserved(header >> 52)
            provider = self.providers.get(number)
            if provider is None:
                self.problem("a section of a provider that nothing introduced")
                provider = self.providers[number] = Provider(number, "", ())
            provider.context = (*provider.info, self.span())
            self.provider = provider
            self.item("section", ("section", provider.identity(), self.rest()), provider.info)
        elif kind == 3:
            self.place(self.end - self.start, "provider event", self.start)
            self.reserved(header >> 56)
            if header >> 52 & 15:
                self.problem("a provider event that is not assigned")
            self.item("provider event", ("provider event", number, header >> 52 & 15, self.rest()), ())
        elif kind == 4 and not header >> 20 & 15:
            self.place(1, "magic", self.start)
            if header != MAGIC:
                self.problem("a magic number that is not the one")
            self.item("magic", ("magic", header, self.rest()), ())
        else:
            self.unknown("metadata")

    def initialization(self, header):
        self.place(self.end - self.start, "initialization", self.start)
        self.reserved(header >> 16)
        rate = self.word()
        if not rate:
            self.problem("0 ticks per second")
        # Jane Street's writers add a base tick and the wall-clock time at it.
        known = self.end - self.at == 2
        extra = self.rest(lambda words: known)
        self.item("initialization", ("initialization", self.provider.identity(), rate, extra), self.provider.context)
        self.provider.rate, self.provider.initialization = (rate, *extra) if known else (rate,), (self.span(),)

    def register_string(self, header):
        self.place(self.end - self.start, "string", self.start)
        self.reserved(header & 1 << 31 | header & 1 << 47 | header >> 48)
        index = header >> 16 & 0x7FFF
        text = self.text(self.stream(header >> 32 & 0x7FFF))
        self.item("string", ("string", self.provider.identity(), index, text, self.rest()), self.provider.context)
        if index:
            self.provider.strings[index] = (text, self.span())
        else:
            self.problem("a string for index 0")

    def register_thread(self, header):
        self.place(self.end - self.start, "thread", self.start)
        self.reserved(header >> 24)
        index, koids = header >> 16 & 0xFF, (self.word(), self.word())
        self.item("thread", ("thread", self.provider.identity(), index, koids, self.rest()), self.provider.context)
        if index:
            self.provider.threads[index] = (koids, self.span())
        else:
            self.problem("a thread for index 0")

    def event(self, header):
        self.place(1, "event header", self.start)
        needs = self.provider.needs()
        kind = header >> 16 & 15
        time = self.word()
        thread = self.thread(header >> 24 & 0xFF, needs)
        category = self.string(header >> 32 & 0xFFFF, needs)
        name = self.string(header >> 48, needs)
        arguments = self.arguments(header >> 20 & 15, needs)
        tail = None
        if kind in TAILED:
            self.place(1, "last word of an event")
            tail = self.word()
        if kind > 10:
            self.problem("a type of event that is not assigned")
            extra = self.words[self.at:self.end]
        elif kind == 0:
            # Fuchsia's engine appends the scope of an instant: thread, process, global.
            extra = self.rest(lambda words: len(words) == 1 and words[0] <= 2)
        else:
            extra = self.rest()
        if kind == 4 and tail < time:
            self.problem("an end before its begin")
        self.item("event", (EVENT_TYPES[kind] if kind <= 10 else kind, self.provider.identity(), self.provider.rate, time, thread, category, name,
                            arguments, tail, extra), needs)

    def blob(self, header):
        self.place(1, "blob header", self.start)
        needs = list(self.provider.context)
        kind = header >> 48 & 0xFF
        self.reserved(header & 1 << 47 | header >> 56)
        name = self.string(header >> 16 & 0xFFFF, needs)
        self.item("blob", ("blob", self.provider.identity(), kind, name, self.stream(header >> 32 & 0x7FFF), self.rest()), needs)

    def userspace_object(self, header):
        self.place(1, "object header", self.start)
        needs = list(self.provider.context)
        self.reserved(header >> 44)
        pointer, ref = self.word(), header >> 16 & 0xFF
        process = self.thread(ref, needs)[0] if ref else self.word()
        name = self.string(header >> 24 & 0xFFFF, needs)
        arguments = self.arguments(header >> 40 & 15, needs)
        self.item("object", ("userspace object", self.provider.identity(), pointer, process, name, arguments, self.rest()), needs)

    def kernel_object(self, header):
        self.place(1, "object header", self.start)
        needs = list(self.provider.context)
        self.reserved(header >> 44)
        koid = self.word()
        name = self.string(header >> 24 & 0xFFFF, needs, strict=False)
        arguments = self.arguments(header >> 40 & 15, needs)
        self.item("object", ("kernel object", self.provider.identity(), header >> 16 & 0xFF, koid, name, arguments, self.rest()), needs)

    def scheduling(self, header):
        self.place(1, "scheduling header", self.start)
        needs = self.provider.needs()
        kind = header >> 60
        time = self.word() if kind < 3 else None
        state = None
        if kind == 0:
            state = header >> 24 & 15
            leaving = self.thread(header >> 28 & 0xFF, needs)
            coming = self.thread(header >> 36 & 0xFF, needs)
            what = ("context switch", header >> 16 & 0xFF, state, leaving, coming, header >> 44 & 0xFF, header >> 52 & 0xFF)
            if state == 1:
                self.problem("a thread that leaves is running")
        elif kind == 1:
            state = header >> 36 & 15
            self.reserved(header >> 40 & 0xFFFFF)
            leaving, coming = self.word(), self.word()
            what = ("context switch", header >> 20 & 0xFFFF, state, leaving, coming, self.arguments(header >> 16 & 15, needs))
        elif kind == 2:
            self.reserved(header >> 36 & 0xFFFFFF)
            what = ("wakeup", header >> 20 & 0xFFFF, self.word(), self.arguments(header >> 16 & 15, needs))
        else:
            self.unknown("scheduling record")
            return
        if state is not None and state > 5:
            self.problem("a state of a thread that is not assigned")
        self.item("event", (*what, self.provider.identity(), self.provider.rate, time, self.rest()), needs)

    def log(self, header):
        self.place(1, "log header", self.start)
        needs = self.provider.needs()
        self.reserved(header & 1 << 31 | header >> 40)
        time = self.word()
        thread = self.thread(header >> 32 & 0xFF, needs)
        message = self.text(self.stream(header >> 16 & 0x7FFF))
        self.item("event", ("log", self.provider.identity(), self.provider.rate, time, thread, message, self.rest()), needs)

    def profiler(self, header):
        self.place(1, "profiler header", self.start)
        needs = self.provider.needs()
        kind, ref = header >> 16 & 15, header >> 20 & 0xFF
        if kind > 2:
            self.unknown("profiler record")
            return
        time = self.word()
        if ref or kind == 2:
            thread = self.thread(ref, needs)
        else:
            # Some writers leave the thread's koid, which is always 0 here, out.
            body = ((header >> 44 & 0xFF) + 7 >> 3) + ((header >> 52 & 0xFF) + 7 >> 3) if kind == 0 else 3
            short = self.end - self.at == 1 + body
            thread = (self.word(), 0 if short else self.word())
        if kind == 0:
            self.reserved(header >> 60)
            what = ("module", header >> 28 & 0xFFFF, self.text(self.stream(header >> 44 & 0xFF)), self.stream(header >> 52 & 0xFF))
        elif kind == 1:
            self.reserved(header >> 47)
            what = ("mmap", header >> 28 & 0xFFFF, header >> 44 & 7, self.word(), self.word(), self.word())
        else:
            self.reserved(header >> 36)
            what = ("backtrace", tuple(self.word() for _ in range(header >> 28 & 0xFF)))
        self.item("event", (*what, self.provider.identity(), self.provider.rate, time, thread, self.rest()), needs)

    def large(self, header):
        self.place(2, "large header", self.start)
        kind, form = header >> 36 & 15, header >> 40 & 15
        if kind or form > 1:
            self.unknown("large record")
            return
        self.reserved(header >> 44)
        layout = self.word()
        needs = self.provider.needs() if form == 0 else list(self.provider.context)
        category = self.string(layout & 0xFFFF, needs)
        name = self.string(layout >> 16 & 0xFFFF, needs)
        what = ()
        if form == 0:
            self.reserved(layout >> 44)
            time = self.word()
            thread = self.thread(layout >> 36 & 0xFF, needs)
            what = (self.provider.rate, time, thread, self.arguments(layout >> 32 & 15, needs))
        else:
            self.reserved(layout >> 32)
        self.place(1, "large header")
        self.item("blob", ("large blob", self.provider.identity(), form, category, name, *what, self.stream(self.word()), self.rest()), needs)

    def unknown(self, what):
        self.problem(f"a type of {what} that is not assigned")
        self.item("unknown", ("unknown", self.provider.identity(), self.data[self.start * 8:self.end * 8]), self.provider.needs())

    RECORDS = (metadata, initialization, register_string, register_thread, event, blob, userspace_object, kernel_object, scheduling, log, profiler)

    def walk(self):
        words, count, at = self.words, self.count, 0
        if not count or words[0] != MAGIC:
            self.problem("no magic number at the start")
        while at < count:
            header = words[at]
            kind = header & 15
            size = header >> 4 & (0xFFFFFFFF if kind == 15 else 0xFFF)
            self.start, self.end, self.at = at, at + size, at + 1
            if not size or self.end > count:
                self.end = count
                self.problem("a record of size 0" if not size else "a record that ends behind the file")
                return
            try:
                if kind < 11:
                    self.RECORDS[kind](self, header)
                elif kind == 15:
                    self.large(header)
                else:
                    self.unknown("record")
            except Malformed as error:
                self.end = at + size
                self.problem(str(error))
            at += size
        if len(self.data) % 8:
            self.problems.append((self.name, count * 8, len(self.data) % 8, "bytes behind the last word"))


def family(files):
    """Only traces of one byte order can be one trace."""
    return files[""][:8] == MAGIC.to_bytes(8, "big")


def read(files, places=False):
    events, problems, structure = [], [], []
    for name, data in sorted(files.items()):
        reader = Reader(name, data, places)
        reader.walk()
        events += reader.events
        problems += reader.problems
        structure += reader.structure
    return Reading(events, problems, structure)
