#!/usr/bin/env python3
"""A parser of legacy LTTng traces (0.6 to 0.8, 1.0, 2.0 to 2.6) that shares nothing with the program. It follows blocks, decodes
event headers, reads the declarations, and measures payloads by them; 0.x payloads by the size in their headers.

records(files) -> {name: [(start, end), ...]}   the events of each tracefile, up to the first place that cannot be
bad(files)     -> {name: offset}                those places
stuck(files)   -> {name: (end of the event before, offset + 1)}
whole(files)   -> True when there are none
count(files)   -> how many events `check` should count
sizes(files)   -> {name: [(offset, bytes, big endian), ...]}   the size fields of blocks and events
killed(files, rng) -> traces whose last blocks were never closed
cost(files, name, start, end) -> {name: [(start, end), ...]}   what damage of these bytes may cost: the rest of the block, and events of types
                  whose declarations were hit

files maps names below the trace to bytes. literal=True reads 1.0 as the document has it."""
import collections
import os
import re
import struct
import sys

MAGIC = 0x00D6B7ED
# version: (offset of the magic number, header size, offsets of begin, lost or data size, block size, heartbeat, alignment)
LAYOUTS = {
    (0, 6): (72, 135, 16, 64, 68, 92, 93), (0, 7): (40, 106, 0, 32, 36, 60, 61), (0, 8): (40, 108, 0, 32, 36, 60, 61),
    (1, 0): (40, 109, 0, 32, 36, 60, 61),
}
LAYOUTS.update({(2, minor): (16, 60 if minor < 2 else 68, 0, 52, 56, None, 23) for minor in range(7)})


Followed = collections.namedtuple("Followed", "spans kinds bad")  # (start, end) and (start, end, number, block) of events


class Bad(Exception):
    """What is at an offset cannot be."""


def align(offset, to):
    return offset + -offset % to if to > 1 else offset


class Trace:
    def __init__(self, files, literal=False):
        self.files, self.literal = files, literal
        self.declarations = {}  # (channel, name): [(file, start, end)]
        self.kinds = {}  # file: [(start, end, number, block)]
        self.stuck = {}  # file: (end of the last event, behind the first byte that cannot be)
        self.shapes = {}  # field sizes by format and sizes of types
        self.ids, self.formats, self.facilities = {}, {}, {}
        self.head = None
        self.sizes = None
        # The directory of the declarations is the trace.
        homes = [os.path.dirname(n) for n in files if re.fullmatch(r"(flight-)?(metadata|facilities)_\d+", os.path.basename(n))]
        home = re.sub(r"(^|/)control$", "", homes[0]) if homes else ""
        self.prefix = home + "/" if home else ""

    def tracefiles(self):
        for name in sorted(self.files):
            relative = name[len(self.prefix):] if name.startswith(self.prefix) else name
            match = re.fullmatch(r"(.*)_(\d+)", relative)
            if match and not re.search(r"(^|/)(\.|eventdefs/|info/)", relative) and self.files[name]:
                channel = match.group(1).removeprefix("flight-")
                yield name, channel, channel in ("metadata", "control/metadata", "control/facilities")

    def identify(self, data):
        for (major, minor), layout in LAYOUTS.items():
            magic, size = layout[0], layout[1]
            if len(data) < size:
                continue
            where = 20 if major == 2 else magic + 17
            if tuple(data[where:where + 2]) != (major, minor):
                continue
            for order in "<", ">":
                if struct.unpack_from(order + "I", data, magic)[0] == MAGIC:
                    return order, (major, minor), layout
        return None

    def learn(self, data):
        """What holds for the whole trace."""
        found = self.identify(data)
        if not found:
            return False
        self.order, self.version, layout = found
        self.magic, self.size, self.begin_at, self.lost_at, self.size_at, heartbeat, alignment = layout
        self.arch = data[22] if self.version[0] == 2 else data[self.magic + 16]
        if self.version == (2, 0) and self.arch == 8:
            self.size = 64
        if self.version == (1, 0) and self.literal:
            self.size = 101
        self.heartbeat = bool(data[heartbeat]) if heartbeat else True
        self.alignment = data[alignment]
        self.old = self.version < (2, 0)
        if self.old:
            self.alignment = min(self.alignment, self.arch)
        if self.version in ((0, 8), (1, 0)):
            self.truncate, self.tscbits = data[62], data[63]
            self.shift = data[64] if self.version == (1, 0) else None
        self.natural = self.version in ((2, 4), (2, 5))
        return True

    def u(self, data, at, width, end):
        if at + width > end:
            raise Bad
        return struct.unpack_from(self.order + {1: "B", 2: "H", 4: "I", 8: "Q"}[width], data, at)[0]

    def value_align(self, size):
        if not self.alignment:
            return 1
        return size if self.natural else min(size, self.alignment)

    def blocks(self, data):
        """(start, end of data) of each block."""
        at = 0
        fixed = self.u(data, self.size_at, 4, len(data))
        while at < len(data):
            if len(data) - at < self.size or self.u(data, at + self.magic, 4, len(data)) != MAGIC:
                raise Bad(at)
            size = fixed if self.version < (2, 5) else self.u(data, at + self.size_at, 4, len(data))
            lost = self.u(data, at + self.lost_at, 4, len(data))
            end = lost if self.version >= (2, 5) else size - lost
            if size < self.size or size > len(data) - at or not self.size <= end <= size:
                raise Bad(at)
            yield at, at + end
            at += size

    # ---- payloads ----

    def fields(self, text):
        """Sizes of the fields of a format; 0 is a string."""
        sizes = dict(zip(("int", "long", "pointer", "size_t"), self.sizes or (4, self.arch, self.arch, self.arch)))
        field = re.compile(r"##|%%|(?:#([nb]*)((?:ll|[hlLZztS1248])?)([cspdiouxX]?))?%[-+ #0]*((?:ll|[hlLZztS])?)([cspdiouxX])")

        def size(qualifier, letter):
            if letter == "c":
                return 1
            if letter == "p":
                return sizes["pointer"]
            return {"h": 2, "1": 1, "2": 2, "4": 4, "8": 8, "ll": 8, "L": 8, "l": sizes["long"], "z": sizes["size_t"],
                    "Z": sizes["size_t"], "t": sizes["pointer"]}.get(qualifier, sizes["int"])

        out = []
        for match in field.finditer(text):
            attributes, wire, wire_letter, qualifier, letter = match.groups()
            if letter is None or (attributes and "b" in attributes and self.version == (1, 0)):
                continue
            out.append(0 if letter == "s" else size(wire, wire_letter) if wire or wire_letter else size(qualifier, letter))
        return out

    def measure(self, data, start, end, fields):
        at = start
        for size in fields:
            if size:
                at = start + align(at - start, self.value_align(size)) + size
            else:
                nul = data.find(b"\0", at, end)
                if nul < 0:
                    raise Bad
                # 0.x pads strings to the size of a pointer.
                pad = self.arch if self.version[0] == 0 and self.alignment else 1
                at = start + align(nul + 1 - start, pad)
            if at > end:
                raise Bad
        return at

    # ---- events ----

    def kind(self, channel, metadata, number):
        """Field sizes of an event type; None: only a size in its header can tell."""
        if self.version[0] == 0:
            return None
        core = {0: [0, 2, 1, 1, 1, 1, 1], 1: [0, 0], 2: [], 3: [8]}
        if metadata or self.version == (1, 0) and number in (2, 3):
            if number > (3 if self.version == (1, 0) else 1):
                raise Bad
            extra = [0] if self.version >= (2, 3) and number < 2 else []
            return extra + core[number]
        key = channel if self.version >= (2, 3) else ""
        name = self.ids.get((key, number))
        if name is None or (key, name) not in self.formats:
            raise Bad
        text = self.formats[key, name]
        if (text, self.sizes) not in self.shapes:
            self.shapes[text, self.sizes] = self.fields(text)
        return self.shapes[text, self.sizes]

    def event(self, data, base, at, end, channel, metadata):
        """Decodes the event at `at`: (start, number, start of the payload, end)."""
        compact = channel == "compact"
        if self.old and not compact:
            start = self.start = base + align(at - base, self.alignment)
            width = 4 if self.heartbeat else 8
            if self.version[0] == 0:
                number = (self.u(data, start + width, 1, end) << 8) | self.u(data, start + width + 1, 1, end)
            else:
                number = self.u(data, start + width, 2, end)
            size = self.u(data, start + width + 2, 2, end)
            payload = base + align(start + width + 4 - base, self.alignment)
        else:
            start = self.start = base + align(at - base, min(self.alignment, 4))
            word = self.u(data, start, 4, end)
            payload, size = start + 4, None
            if compact:
                bits = (self.shift if self.shift is not None else self.tscbits + self.compact_bits()) - self.tscbits
                number = word >> self.tscbits & ((1 << bits) - 1)
            else:
                number = word >> 27
            if not compact and number >= 29:
                form, number = number, self.u(data, payload, 2, end)
                payload += 2
                if form < 31:
                    size = self.u(data, payload, 2, end)
                    payload += 2
                    if size == 0xFFFF:
                        size = self.u(data, payload, 4, end)
                        payload += 4
                if form == 29:
                    payload = base + align(payload - base, 8 if self.natural and self.alignment else min(8, self.alignment))
                    if self.u(data, payload, 8, end) & (1 << 27) - 1 != word & (1 << 27) - 1:
                        raise Bad
                    payload += 8
        fields = self.compact(number) if compact and self.version[0] == 0 else self.kind(channel, metadata, number)
        if fields is None and size == 0xFFFF and number >> 8 == 0:
            size = self.core_size(data, number, payload, end)
        if fields is None and size == 0xFFFF and self.facilities.get(number >> 8):
            # Too long for the field, or said to be: the description tells.
            events = self.described(self.facilities[number >> 8])
            fields = events[number & 0xFF] if number & 0xFF < len(events) else None
        if fields is None:
            if size in (None, 0xFFFF) or payload + size > end:
                raise Bad
            return start, number, payload, payload + size
        if not self.old:
            widest = max((self.value_align(f) for f in fields if f), default=1)
            payload = base + align(payload - base, widest)
        stop = self.measure(data, payload, end, fields)
        if size is not None and not (self.old and size == 0xFFFF) and stop - payload != size:
            raise Bad
        return start, number, payload, stop

    def core_size(self, data, number, payload, end):
        """Payload of a core event of 0.x: a load of a facility, an unload, a heartbeat, or a heartbeat with a stamp."""
        if number in (1, 2) or (number == 3 and self.version == (0, 8)):
            return {1: 4, 2: 0, 3: 8}[number]
        nul = data.find(b"\0", payload, end)
        if number > 4 or nul < 0:
            raise Bad
        return align(nul + 1 - payload, 4 if self.alignment else 1) + 28

    def compact_bits(self):
        return len(self.described("compact")).bit_length()

    def compact(self, number):
        events = self.described("compact")
        if number >= len(events):
            raise Bad
        return events[number]

    def described(self, facility):
        """Field sizes of the events of a facility whose types are all plain."""
        text = self.files.get(f"{self.prefix}eventdefs/{facility}.xml", b"").decode("latin-1")
        plain = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "string": 0, "pointer": self.arch, "long": self.arch,
                 "ulong": self.arch, "int": 4, "uint": 4, "enum": 4, "size_t": self.arch}
        out = []
        for body in re.findall(r"<event\b[^>]*?(?:/>|>(.*?)</event>)", text, re.S):
            sizes = []
            for tag, attributes in re.findall(r"<field\b[^>]*>\s*(?:<description[^>]*/>\s*)?<(\w+)([^>]*)>", body):
                given = re.search(r"size=\"?(\d+)", attributes)
                sizes.append(int(given.group(1)) if given else plain[tag])
            out.append(sizes)
        return out

    def declare(self, data, number, payload, end):
        """Takes a declaration in."""
        if self.version[0] == 0:
            if number in (0, 3, 4) and end - payload > 28:
                text = data[payload:data.index(b"\0", payload)]
                at = payload + align(len(text) + 1, 4 if self.alignment else 1)
                self.facilities[self.u(data, at + 4, 4, end)] = text.decode("latin-1")
            return
        if number > 1:
            return
        texts = data[payload:end].split(b"\0")
        channel = texts.pop(0).decode("latin-1") if self.version >= (2, 3) else ""
        name = texts[0].decode("latin-1")
        if number:
            self.formats[channel, name] = texts[1].decode("latin-1")
        else:
            self.sizes = tuple(data[end - 5:end - 1])
            if not all(self.sizes):
                raise Bad
            self.ids[channel, self.u(data, end - 7, 2, end)] = name

    def declared(self, data, number, payload, end):
        """The type that a declaration is about, and whether it numbers or describes it."""
        texts = data[payload:end].split(b"\0")
        channel = texts.pop(0).decode("latin-1") if self.version >= (2, 3) else ""
        return channel, texts[0].decode("latin-1"), number

    def take(self, name, data, start, number, payload, stop):
        self.declare(data, number, payload, stop)
        self.declarations.setdefault(self.declared(data, number, payload, stop), []).append((name, start, stop))

    def known(self):
        """All that decides what the events of a file without declarations are, beside its bytes."""
        texts = sorted(n for n in self.files if n.startswith(f"{self.prefix}eventdefs/"))
        apart = ("files", "declarations", "kinds", "stuck", "shapes", "start")
        return repr(sorted(item for item in vars(self).items() if item[0] not in apart)), *(self.files[n] for n in texts)

    def follow(self, data, channel, take=None):
        """The events of a tracefile; take(): called with each that declares something."""
        spans, kinds, bad = [], [], None
        self.start = 0
        try:
            for base, end in self.blocks(data):
                at = self.start = base + self.size
                while at < end:
                    start, number, payload, stop = self.event(data, base, at, end, channel, take is not None)
                    spans.append((start, stop))
                    kinds.append((start, stop, number, base))
                    if take:
                        take(start, number, payload, stop)
                    at = stop
                self.start = end
        except Bad as problem:
            bad = problem.args[0] if problem.args else self.start
        return Followed(spans, kinds, bad)

    def walk(self):
        """Events and the first bad offset of each tracefile, declarations first."""
        events, bad = {}, {}
        order = sorted(self.tracefiles(), key=lambda file: (not file[2], file[0]))
        for name, _, _ in order:
            if self.learn(self.files[name]):
                break
        else:
            return {}, {name: 0 for name, _, _ in order}
        for name, channel, metadata in order:
            data = self.files[name]
            if metadata:
                file = self.follow(data, channel, lambda *event: self.take(name, data, *event))
            else:
                file = followed((data, channel, self.known()), lambda: self.follow(data, channel))
            events[name], self.kinds[name] = file.spans, file.kinds
            if file.bad is not None:
                bad[name] = file.bad
                self.stuck[name] = (min(file.bad, file.spans[-1][1] if file.spans else 0), file.bad + 1)
        return events, bad


_last = []
_files = {}
FILES_MAX = 300  # files that are remembered: of captures that differ in one file, the others need to be followed once


def followed(key, follow):
    file = _files.pop(key, None) or follow()
    _files[key] = file
    while len(_files) > FILES_MAX:
        del _files[next(iter(_files))]
    return file


def walked(files, literal=False):
    """The trace of these files, its events and its bad places; the last few are remembered."""
    for known, how, result in _last:
        if known is files and how == literal:
            return result
    trace = Trace(files, literal)
    _last.insert(0, (files, literal, (trace, *trace.walk())))
    del _last[4:]
    return _last[0][2]


def sizes(files):
    trace = walked(files)[0]
    return {name: list(size_fields(trace, name, channel)) for name, channel, _ in trace.tracefiles()}


def size_fields(trace, name, channel):
    data, kinds, big = trace.files[name], trace.kinds.get(name, ()), trace.order == ">"
    for base in sorted({block for _, _, _, block in kinds}):
        yield base + trace.lost_at, 4, big
        yield base + trace.size_at, 4, big
    for start, _, _, _ in kinds:
        if trace.old and channel != "compact":
            yield start + (4 if trace.heartbeat else 8) + 2, 2, big
        elif not trace.old and trace.u(data, start, 4, len(data)) >> 27 in (29, 30):
            yield start + 6, 2, big
            if trace.u(data, start + 6, 2, len(data)) == 0xFFFF:
                yield start + 8, 4, big


def cost(files, name, start, end):
    trace = walked(files)[0]
    out = {name: []}
    # A size field of four bytes or less is put right; other damage may cost the rest of the block.
    channel = next((channel for file, channel, _ in trace.tracefiles() if file == name), "")
    is_field = end - start <= 4 and (start, end) in {(at, at + width) for at, width, _ in size_fields(trace, name, channel)}
    if name in trace.kinds and not is_field:
        for block, data_end in trace.blocks(files[name]):
            if block < end and start < data_end:
                out[name].append((max(start, block), data_end))
    gone = set()
    for declaration, places in trace.declarations.items():
        if all(file == name and any(low < e and s < high for low, high in out[name] + [(start, end)]) for file, s, e in places):
            gone.add(declaration[:2])
    if not gone:
        return out
    for file, channel, metadata in trace.tracefiles():
        key = channel if trace.version >= (2, 3) else ""
        for s, e, number, block in trace.kinds.get(file, ()):
            # 0.x: facilities are loaded by name, their events described elsewhere.
            lost = trace.version[0] == 0 or (key, trace.ids.get((key, number))) in gone
            if lost and not metadata:
                rest = next(end for base, end in trace.blocks(files[file]) if base == block)
                out.setdefault(file, []).append((s, e if trace.old and channel != "compact" else rest))
    return out


def killed(files, rng):
    """Traces of a machine that died: the last block of each file was never closed, and behind its events are those of an earlier
    use of the same memory, or none."""
    trace = walked(files)[0]
    variable = trace.version >= (2, 5)
    end_at = 8 if not trace.old else 48 if trace.version == (0, 6) else 16
    ones = b"\xff" * 4
    for size in (None, bytes(4), ones) if variable else (None, ones):
        for lap in (False, True):
            changed, places = {}, {}
            for name, _, _ in trace.tracefiles():
                data, blocks = bytearray(files[name]), list(trace.blocks(files[name]))
                base, end = blocks[-1]
                data[base + end_at:base + end_at + 8] = bytes(8)
                data[base + trace.lost_at:base + trace.lost_at + 4] = ones
                if size:
                    data[base + trace.size_at:base + trace.size_at + 4] = size
                if lap and len(blocks) > 1:
                    number = rng.randrange(max(0, len(blocks) - 5), len(blocks) - 1)
                    before = files[name][blocks[number][0]:blocks[number + 1][0]]
                    data[end:] = before[end - base:] or data[end:]
                    data += bytes(-len(data) % 4096)
                changed[name], places[name] = bytes(data), (base, end)
            name = next(iter(changed))
            data = changed.pop(name)
            yield name, *places[name], data, f"all last blocks open, size {size}, {'an earlier lap' if lap else 'nothing'} behind", changed


def records(files, literal=False):
    return walked(files, literal)[1]


def bad(files, literal=False):
    return walked(files, literal)[2]


def stuck(files):
    return walked(files)[0].stuck


def whole(files):
    return not bad(files) or not bad(files, True)


def count(files):
    _, spans, problems = walked(files)
    if problems:
        _, again, fewer = walked(files, True)
        spans = again if not fewer else spans
    return sum(map(len, spans.values()))


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        content = {}
        for folder, _, names in os.walk(argument):
            for full in (os.path.join(folder, name) for name in names):
                with open(full, "rb") as f:
                    content[os.path.relpath(full, argument)] = f.read()
        print(argument, count(content), "events", "".join(f", stuck in {n} at {o}" for n, o in bad(content).items()))
