"""The events of a legacy LTTng trace (0.3 to 0.8, 1.0, 2.0 to 2.6): the bytes of each, what it means, what it needs. Written from the
source document "The LTTng trace format" and the descriptions of the other versions; nothing is shared with the program.

    read(files, places=False) -> Reading    the protocol of tests/lib/truth.py

An event's meaning is its channel, CPU, time in ticks, the clock of the trace, its type (name, description, sizes of C types) and the bytes of
its values. Declarations (markers, loads of facilities) are registrations. An event needs what declares it, and the full stamp that its time is
counted from: that of its block's header, or of an event in front of it. It needs the stamp of an event between the two, too, where a wrap of
the clock cannot be seen without it.
"""
import os
import re
import struct
import sys
import tarfile
from collections import namedtuple

Reading = namedtuple("Reading", "events problems structure")

SUFFIX = ""
REGISTRATIONS = {"declaration"}
PLACEHOLDERS = {"declaration"}
JOINABLE = False

MAGIC = 0x00D6B7ED
# Where the magic number is, the size of the header, where each field is: name: (offset, bytes). begin and end are the stamps, data is
# lost_size (up to 2.4) or data_size, size is buf_size or sb_size; the trace's constants begin at the magic number.
Layout = namedtuple("Layout", "magic size fields")


def layout(fields, last=None):
    """fields: "name:bytes" in order."""
    out, at = {}, 0
    for name, size in (field.split(":") for field in fields.split()):
        out[name] = (at, int(size))
        at += int(size)
    return Layout(out["magic"][0], last or at, out)


ARCH = "magic:4 arch_type:4 arch_variant:4 float_order:4 arch_size:1 major:1 minor:1 flight:1 heartbeat:1 alignment:1 "
CLOCK = "start_freq:8 start_tsc:8 start_monotonic:8 start_sec:8 start_usec:8"
TICKS = "begin:8 begin_freq:8 end:8 end_freq:8 data:4 size:4 "
SIX = "begin_sec:8 begin_usec:8 begin:8 begin_freq:8 end_sec:8 end_usec:8 end:8 end_freq:8 data:4 size:4 " + ARCH + "has_tsc:1 " + CLOCK
TWO = "begin:8 end:8 magic:4 major:1 minor:1 arch_size:1 alignment:1 start_sec:8 start_usec:8 start_freq:8 freq_scale:4 data:4 size:4"
LAYOUTS = {
    (0, 3): layout("begin_sec:4 begin_usec:4 begin:8 end_sec:4 end_usec:4 end:8 data:4 size:4 " + ARCH + "has_tsc:1"),
    (0, 4): layout("begin_ns:8 begin:8 begin_freq:8 end_ns:8 end:8 end_freq:8 data:4 size:4 " + ARCH
                   + "has_tsc:1 start_freq:8 start_tsc:8 start_monotonic:8 start_sec:4 start_nsec:4"),
    (0, 5): layout(SIX), (0, 6): layout(SIX),
    (0, 7): layout(TICKS + ARCH + "freq_scale:4 " + CLOCK),
    (0, 8): layout(TICKS + ARCH + "truncate:1 tscbits:1 freq_scale:4 " + CLOCK),
    (1, 0): layout(TICKS + ARCH + "truncate:1 tscbits:1 shift:1 freq_scale:4 " + CLOCK),
    **{(2, minor): layout(TWO + (" events_lost:4 corrupt:4" if minor > 1 else "")) for minor in range(7)},
}
LITERAL = layout(TICKS + ARCH + "truncate:1 tscbits:1 shift:1 freq_scale:4 start_freq:8 start_tsc:8 start_monotonic:8 start_sec:4 start_nsec:4")
TIMES = ("start_freq", "freq_scale", "start_tsc", "start_sec", "start_usec", "start_nsec")
FORMS = {1: "B", 2: "H", 4: "I", 8: "Q"}
ARCHES = {1: "i386", 2: "ppc", 3: "sh", 4: "s390", 5: "mips", 6: "arm", 7: "ppc64", 8: "x86_64", 9: "c2", 10: "powerpc"}

FIELD = re.compile(r"##|%%|(?:#([nb]*)(ll|[hlLZztS1248])?([cspdiouxX])?)?%[-+ #0]*(ll|[hlLZztS])?([cspdiouxX])|([#%])")
TAG = re.compile(r"<!--.*?-->|<\?.*?\?>|<\s*(/?)\s*(\w+)((?:\s+\w+(?:\s*=\s*(?:\"[^\"]*\"|[^\s\"/>]+))?)*)\s*(/?)\s*>|(<)", re.S)
ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|([^\s\"/>]+))")
SCALARS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": "int", "uint": "int", "enum": "int", "long": "long", "ulong": "long", "pointer": "pointer",
           "size_t": "size_t", "ssize_t": "size_t", "off_t": "size_t", "int_fixed": None, "uint_fixed": None, "float": None}

# What an event is: its name and description; sizes of fields, 0 for a string, or None where a description cannot be used; the largest
# alignment; needs.
Type = namedtuple("Type", "meaning fields needs kind")


class Bad(Exception):
    """What stands at an offset cannot be. what: which."""


def align(at, to):
    return at + -at % to if to > 1 else at


# ---- facilities: 0.3 to 0.8 ----

class Node:
    def __init__(self, tag, attributes, start):
        self.tag, self.attributes, self.start, self.end, self.children = tag, attributes, start, start, []


def nodes(text):
    """The tree of a facility's description; a scalar needs no end. Returns (root, whether all of it is well-formed)."""
    root = Node("", {}, 0)
    path, sound, prose = [root], True, 0
    for match in TAG.finditer(text):
        closing, tag, attributes, empty, stray = match.groups()
        if prose and not (tag in ("description", "descriptiona") and closing):
            continue
        if stray:
            sound = False
        elif tag in ("description", "descriptiona"):
            prose = not closing and not empty
        elif tag and closing:
            if tag in (node.tag for node in path[1:]):
                while path[-1].tag != tag:
                    path[-1].end = match.start()
                    path.pop()
                path[-1].end = match.end()
                path.pop()
            elif tag not in SCALARS and tag not in ("string", "label", "typeref"):
                sound = False
        elif tag:
            node = Node(tag, {key: quoted or plain for key, quoted, plain in ATTRIBUTE.findall(attributes)}, match.start())
            node.end = match.end()
            path[-1].children.append(node)
            leaf = tag in ("string", "label", "typeref") or (tag in SCALARS and tag != "enum")
            if not empty and not leaf:
                path.append(node)
    return root, sound and len(path) == 1 and not prose


class Facility:
    """A description: the nodes of its events, in order. Its events need all of it: a reader of 0.7 refuses a facility of another checksum."""

    def __init__(self, name, data):
        self.file, self.text = name, data.decode("latin-1")
        root, self.sound = nodes(self.text)
        roots = [node for node in root.children if node.tag == "facility"]
        self.sound &= len(roots) == 1
        children = roots[0].children if roots else []
        self.types = {node.attributes.get("name"): node for node in children if node.tag == "type"}
        self.events = [node for node in children if node.tag == "event"]

    def shape(self, node, sizes, depth=0):
        """The type of a node: ("scalar", size, tag), ("string",), ("struct", (name, type)...), ("union", ...), ("array", n, type), ("sequence", length, type)."""
        if depth > 20:
            raise Bad("types in a circle")
        tag, given = node.tag, node.attributes.get("size")
        below = [child for child in node.children if child.tag not in ("label",)]
        if tag == "typeref" or tag == "type" or tag == "field":
            inner = self.types.get(node.attributes.get("name")) if tag == "typeref" else below[0] if len(below) == 1 else None
            if inner is None:
                raise Bad("no type")
            return self.shape(inner, sizes, depth + 1)
        if tag == "string":
            return ("string",)
        if tag in SCALARS:
            size = int(given) if given and given.isdigit() else sizes.get(SCALARS[tag], SCALARS[tag])
            if size not in (1, 2, 4, 8):
                raise Bad("a size")
            return ("scalar", size, tag)
        if tag in ("struct", "union"):
            return (tag, *((child.attributes.get("name"), self.shape(child, sizes, depth + 1)) for child in below))
        if tag == "array" and given and given.isdigit() and len(below) == 1:
            return ("array", int(given), self.shape(below[0], sizes, depth + 1))
        if tag == "sequence" and len(below) == 2:
            return ("sequence", self.shape(below[0], sizes, depth + 1), self.shape(below[1], sizes, depth + 1))
        raise Bad("a type")

    def body(self, node, sizes):
        """The shape of an event."""
        below = node.children
        if len(below) == 1 and below[0].tag in ("struct", "typeref"):
            return self.shape(below[0], sizes)
        if any(child.tag != "field" for child in below):
            raise Bad("a type")
        return ("struct", *((child.attributes.get("name"), self.shape(child, sizes)) for child in below))


def alignment_of(shape, most):
    """Of a value: its size, or that of its largest member, and the alignment of the trace at most."""
    kind = shape[0]
    if kind == "scalar":
        return min(shape[1], most)
    if kind in ("struct", "union"):
        return max((alignment_of(member, most) for _, member in shape[1:]), default=1)
    return 1 if kind == "string" else max(alignment_of(part, most) for part in shape[1:] if isinstance(part, tuple))


def measure_shape(shape, data, at, base, end, how):
    """The offset behind a value at `at`; offsets are counted from base. how: (alignment, size of a pointer, byte order)."""
    aligned, pointer, order = how
    pointer = min(pointer, aligned) if aligned else pointer
    if aligned:
        at = base + align(at - base, alignment_of(shape, aligned))
    kind = shape[0]
    if kind == "scalar":
        at += shape[1]
    elif kind == "string":
        nul = data.find(b"\0", at, end)
        if nul < 0:
            raise Bad("a string without an end")
        at = base + align(nul + 1 - base, pointer if aligned else 1)
    elif kind == "struct":
        for _, member in shape[1:]:
            at = measure_shape(member, data, at, base, end, how)
    elif kind == "union":
        at = max((measure_shape(member, data, at, base, end, how) for _, member in shape[1:]), default=at)
    else:
        count = shape[1]
        if kind == "sequence":
            if shape[1][0] != "scalar" or at + shape[1][1] > end:
                raise Bad("a sequence")
            count = struct.unpack_from(order + FORMS[shape[1][1]], data, at)[0]
            at += shape[1][1]
        if count > end - at:
            raise Bad("a sequence")
        for _ in range(count):
            at = measure_shape(shape[2], data, at, base, end, how)
        if kind == "sequence" and aligned:
            at = base + align(at - base, pointer)
    if at > end:
        raise Bad("values that go on behind the end")
    return at


# ---- markers: 1.0 and 2.x ----

def fields_of(text, sizes):
    """Sizes of the fields of a format, 0 for a string; None where it cannot be read. sizes: (int, long, pointer, size_t)."""
    out = []
    by = {"": sizes[0], "h": 2, "l": sizes[1], "ll": 8, "L": 8, "z": sizes[3], "Z": sizes[3], "t": sizes[2], "S": sizes[0], "1": 1, "2": 2, "4": 4, "8": 8}
    for match in FIELD.finditer(text):
        if match[0] in ("##", "%%"):
            continue
        if match[6]:
            return None
        qualifier, kind = (match[2] or "", match[3] or match[5]) if match[2] or match[3] else (match[4] or "", match[5])
        if match[5] == "s" or kind == "s":
            out.append(0)
        elif kind == "c":
            out.append(1)
        elif kind == "p":
            out.append(sizes[2])
        else:
            out.append(by[qualifier])
    return tuple(out)


class Trace:
    """The tracefiles of one root; names begin with prefix."""

    def __init__(self, prefix, files, places):
        self.prefix, self.files, self.places = prefix, files, places
        self.events, self.problems, self.structure = [], [], []
        self.types, self.names, self.formats, self.facilities, self.descriptions = {}, {}, {}, {}, {}
        self.usable = False

    def problem(self, name, at, length, what):
        self.problems.append((name, at, length, what))

    def place(self, name, at, length, what):
        if self.places and length > 0:
            self.structure.append((name, at, length, what))

    def u(self, data, at, size, end):
        if at + size > end:
            raise Bad("cut")
        return struct.unpack_from(self.order + FORMS[size], data, at)[0]

    # ---- names ----

    def tracefiles(self):
        """[(name, channel, cpu)], metadata first."""
        out, taken = [], set()
        for name in sorted(self.files):
            relative = name[len(self.prefix):]
            # Readers take digits, and pass over what is behind them.
            match = re.fullmatch(r"(.+)_(\d+)([^_]*)", relative)
            if re.search(r"(^|/)\.|^(eventdefs|info)/", relative) or relative == "bookmarks.xml":
                continue
            if not match or match[3] or str(int(match[2])) != match[2] or int(match[2]) > 4095:
                self.problem(name, 0, 0, "a file of another name")
            if not match:
                continue
            channel = match[1].removeprefix("flight-")
            if (channel, int(match[2])) in taken:
                self.problem(name, 0, 0, "a channel and CPU twice")
            taken.add((channel, int(match[2])))
            if channel.startswith("normal-") or (channel == "metadata" and match[1] != channel):
                self.problem(name, 0, 0, "a file of another name")
            out.append((name, channel, int(match[2])))
        return sorted(out, key=lambda file: (file[1].rpartition("/")[2] not in ("metadata", "facilities"), file))

    def identify(self, data):
        for version, form in LAYOUTS.items():
            for order in "<>":
                if len(data) >= form.size and struct.unpack_from(order + "I", data, form.magic)[0] == MAGIC:
                    if tuple(data[form.fields[key][0]] for key in ("major", "minor")) == version:
                        return version, order, form
        return None

    def learn(self, found, data):
        self.version, self.order, self.layout = found
        self.head = {key: self.field(data, 0, key) for key in self.layout.fields}
        self.arch, self.alignment = self.head["arch_size"], self.head["alignment"]
        if self.version == (2, 0) and self.arch == 8:
            self.layout = self.layout._replace(size=64)
        self.old = self.version < (2, 0)
        self.heartbeat = self.head.get("heartbeat", 1)
        self.natural = self.version in ((2, 4), (2, 5))
        if self.old:
            self.alignment = min(self.alignment, self.arch)
        self.home = "metadata" if self.version >= (2, 3) else "control/metadata" if not self.old else "control/facilities"
        self.usable = self.arch in (4, 8) and self.alignment in (0, 1, 2, 4, 8)
        if not self.usable:
            raise Bad("arch_size or alignment of the trace")
        self.clock = tuple(self.head[key] for key in TIMES if key in self.head)
        self.core()

    def field(self, data, base, key):
        at, size = self.layout.fields[key]
        return struct.unpack_from(self.order + FORMS[size], data, base + at)[0]

    def core(self):
        plain = lambda name, fields, kind: Type((name,), fields, (), kind)
        if self.version[0] == 0:
            return
        channel = (0,) if self.version >= (2, 3) else ()
        self.types["core", 0] = plain("core_marker_id", (*channel, 0, 2, 1, 1, 1, 1, 1), "declaration")
        self.types["core", 1] = plain("core_marker_format", (*channel, 0, 0), "declaration")
        self.types["core", 2] = plain("core_heartbeat_32", (), "event")
        self.types["core", 3] = plain("core_heartbeat_64", (8,), "event")

    # ---- blocks ----

    def header(self, name, data, base, block):
        """What is wrong with the header of a block."""
        fields = self.layout.fields
        for key, (at, size) in fields.items():
            if block < 3 or block % 50 == 0:
                self.place(name, base + at, size, f"header: {key}")
            # The first trace header of the trace is what all others must be.
            if at >= self.layout.magic and key not in ("data", "size", "events_lost", "corrupt") and self.field(data, base, key) != self.head[key]:
                self.problem(name, base + at, size, f"{key} is not that of the trace")
        begin, end = self.field(data, base, "begin"), self.field(data, base, "end")
        if end < begin:
            self.problem(name, base, self.layout.magic, "a block that ends before it begins")
        for key, low, high in (("start_freq", 1, 1 << 64), ("freq_scale", 1, 1 << 32), ("start_usec", 0, 1000000), ("start_nsec", 0, 10 ** 9), ("heartbeat", 0, 2),
                               ("flight", 0, 3), ("arch_type", 1, 13), ("start_sec", 1 << 29, 1 << 31), ("arch_variant", 0, 1), ("start_monotonic", 0, 1)):
            if key in fields and not low <= self.field(data, base, key) < high and self.version > (0, 4):
                self.problem(name, base + fields[key][0], fields[key][1], f"{key} beyond its values")

    def blocks(self, name, data):
        """(base, end of data, begin, end) of each block that can be read."""
        if not data:
            self.problem(name, 0, 0, "an empty file")
            return
        form, variable, at, block = self.layout, self.version >= (2, 5), 0, 0
        fixed, last, lost = None, 0, 0
        while at < len(data):
            if len(data) - at < form.size or struct.unpack_from(self.order + "I", data, at + form.magic)[0] != MAGIC:
                self.problem(name, at, min(form.size, len(data) - at), "no header of a block")
                if not fixed or variable:
                    return
                at += fixed
                continue
            size, lost_size = self.field(data, at, "size"), self.field(data, at, "data")
            if not variable:
                if fixed is None:
                    fixed = size
                if size != fixed:
                    self.problem(name, at + form.fields["size"][0], 4, "blocks of several sizes")
                    size = fixed
            if size < form.size or size % (4096 if variable else 1) or size & size - 1 and not variable or size > len(data) - at:
                self.problem(name, at + form.fields["size"][0], 4, "a size of a block that cannot be")
                return
            end = lost_size if variable else size - lost_size
            self.header(name, data, at, block)
            begin, stop = self.field(data, at, "begin"), self.field(data, at, "end")
            if begin < last:
                self.problem(name, at, 8, "a block that begins before the last one ends")
            last = stop
            if "events_lost" in form.fields:
                now = self.field(data, at, "events_lost")
                if now < lost:
                    self.problem(name, at + form.fields["events_lost"][0], 4, "lost events that become fewer")
                lost = now
            if form.size <= end <= size:
                yield at, at + end, begin, stop
            else:
                self.problem(name, at + form.fields["data"][0], 4, "an end of data that cannot be")
            at += size
            block += 1

    # ---- types ----

    def value_align(self, size):
        return 1 if not self.alignment or not size else size if self.natural else min(size, self.alignment)

    def measure(self, data, at, end, fields):
        """Behind values whose first is at `at`, which is aligned."""
        base = at
        for size in fields:
            if size:
                if self.alignment:
                    at = base + align(at - base, self.value_align(size))
                at += size
            else:
                at = data.find(b"\0", at, end) + 1
                if not at:
                    raise Bad("a string without an end")
            if at > end:
                raise Bad("values that go on behind the end")
        return at

    def marker(self, channel, number, home):
        """The type of a marker's event, or None."""
        space = channel if self.version >= (2, 3) else ""
        if home or (self.version == (1, 0) and number in (2, 3)):
            return self.types.get(("core", number)) if number < (4 if self.old else 2) else None
        if self.version < (2, 3) and number < 2:
            return None
        key = (space, number)
        if key not in self.types:
            found = self.names.get(key)
            form = self.formats.get((space, found[0][0])) if found else None
            if not found or not form:
                self.types[key] = None
            else:
                meaning, spans = found
                name, sizes = meaning
                needs = (spans if len(spans) == 1 else ()) + (form[1] if len(form[1]) == 1 else ())
                self.types[key] = Type((name, form[0], sizes), fields_of(form[0], sizes), needs, "event")
        return self.types[key]

    def declare(self, name, data, start, number, payload, stop):
        """A declaration of a marker."""
        texts = data[payload:stop].split(b"\0")
        channel = texts.pop(0).decode("latin-1") if self.version >= (2, 3) else ""
        marker, span = texts[0].decode("latin-1"), (name, start, stop - start)
        self.place(name, start, payload - start, "declaration: header")
        if number:
            self.place(name, payload, stop - payload, "declaration: format")
            text, spans = self.formats.get((channel, marker), (texts[1].decode("latin-1"), ()))
            if text != texts[1].decode("latin-1"):
                self.problem(name, start, stop - start, "a format that differs")
            if fields_of(text, (4, 4, 4, 4)) is None:
                self.problem(name, start, stop - start, "a format that cannot be read")
            self.formats[channel, marker] = (text, (*spans, span))
            return
        self.place(name, payload, stop - 7 - payload, "declaration: name")
        self.place(name, stop - 7, 2, "declaration: id")
        self.place(name, stop - 5, 5, "declaration: sizes")
        key, sizes = (channel, self.u(data, stop - 7, 2, stop)), tuple(data[stop - 5:stop - 1])
        if sizes[0] != 4 or sizes[1] not in (4, 8) or sizes[2] != self.arch or sizes[3] not in (4, 8) or data[stop - 1] != self.head["alignment"]:
            self.problem(name, stop - 5, 5, "sizes of types that cannot be")
        known, spans = self.names.get(key, ((marker, sizes), ()))
        if known != (marker, sizes):
            self.problem(name, start, stop - start, "an id of two markers")
        if channel == "metadata" or self.version < (2, 3) and key[1] < (8 if self.old else 2):
            if self.types.get(("core", key[1]), Type((None,), (), (), "")).meaning[0] != marker:
                self.problem(name, start, stop - start, "an id that is reserved")
        self.names[key] = (known, (*spans, span))

    def load(self, name, data, start, payload, stop):
        """A load of a facility: sizes of types follow its name."""
        nul = data.find(b"\0", payload, stop)
        at = payload + align(nul + 1 - payload, 4 if self.alignment else 1)
        count = 6 if self.version < (0, 5) else 7
        if nul < 0 or at + 4 * count != stop:
            self.problem(name, start, stop - start, "a load that cannot be read")
            return
        title, values = data[payload:nul].decode("latin-1"), struct.unpack_from(f"{self.order}{count}I", data, at)
        self.place(name, payload, nul - payload, "load: name")
        for i, what in enumerate(("checksum", "id", *(("int",) if count == 7 else ()), "long", "pointer", "size_t", "alignment")):
            self.place(name, at + 4 * i, 4, "load: " + what)
        sizes = dict(zip(("int", "long", "pointer", "size_t"), values[2:6] if count == 7 else (4, *values[2:5])))
        if any(size not in (4, 8) for size in sizes.values()) or sizes["pointer"] != self.arch:
            self.problem(name, at, 4 * count, "sizes of types that cannot be")
        known, spans = self.facilities.get(values[1], ((title, values[0], tuple(sizes.items())), ()))
        if known != (title, values[0], tuple(sizes.items())):
            self.problem(name, start, stop - start, "a facility of two names")
        self.facilities[values[1]] = (known, (*spans, (name, start, stop - start)))

    def described(self, title):
        if title not in self.descriptions:
            file = title + (f"_{ARCHES.get(self.head['arch_type'], '')}" if title.endswith("_arch") else "")
            name = f"{self.prefix}eventdefs/{file}.xml"
            found = self.descriptions[title] = Facility(name, self.files[name]) if name in self.files else None
            if not found or not found.sound:
                self.problem(name, 0, 0, "no description of a facility that can be read")
            for node in found.events if found else ():
                self.place(name, node.start, node.end - node.start, "description of an event")
        return self.descriptions[title]

    def facility_event(self, number):
        """The type of an event (facility << 8 | event), and its shape or None."""
        if number in self.types:
            return self.types[number]
        facility, index = number >> 8, number & 255
        out = None
        if facility == 0:
            name = ("facility_load", "facility_unload", "heartbeat", *(("heartbeat_full",) if self.version == (0, 8) else ()), "state_dump_facility_load")
            if index < len(name):
                out = Type((name[index],), None, (), "declaration" if name[index].endswith("_load") else "event"), None
        elif facility in self.facilities:
            (title, check, sizes), spans = self.facilities[facility]
            needs = spans if len(spans) == 1 else ()
            known = self.described(title)
            out = Type(((title, check, sizes), index, None), None, needs, "event"), None
            if known and index < len(known.events):
                out = self.of_node(known, known.events[index], (title, check, sizes), needs)
            elif known:
                self.problem(known.file, 0, 0, "an event that the facility does not have")
        self.types[number] = out
        return out

    def of_node(self, known, node, load, needs):
        try:
            shape = known.body(node, dict(load[2]))
        except Bad:
            shape = None
            self.problem(known.file, node.start, node.end - node.start, "a type that is not known")
        return Type((load, node.attributes.get("name"), shape), None, (*needs, (known.file, 0, len(known.text))), "event"), shape

    # ---- events ----

    def metadata_types(self):
        for name, channel, cpu in self.tracefiles():
            if channel == self.home:
                Walk(self, name, channel, cpu).run()
        self.types = {key: found for key, found in self.types.items() if isinstance(key, tuple) and key[0] == "core"}
        for (channel, _), (meaning, _) in self.names.items():
            if (channel, meaning[0]) not in self.formats and channel != "metadata":
                self.problem(self.prefix + self.home, 0, 0, "a marker without a format")
        for facility in self.facilities.values():
            self.described(facility[0][0])

    def read(self):
        order = self.tracefiles()
        for name, _, _ in order:
            found = self.identify(self.files[name])
            if found:
                self.learn(found, self.files[name])
                break
        else:
            self.problem(self.prefix, 0, 0, "no file with a header")
            return
        if not any(channel == self.home for _, channel, _ in order):
            self.problem(self.prefix, 0, 0, "no metadata")
        self.metadata_types()
        state = hash(self.state())
        for name, channel, cpu in order:
            if channel != self.home:
                self.remembered(name, channel, cpu, state)

    def state(self):
        texts = tuple((name, data) for name, data in sorted(self.files.items()) if name.startswith(self.prefix + "eventdefs/"))
        return repr((self.layout, self.head, self.order, self.names, self.formats, self.facilities, self.places)), texts

    def remembered(self, name, channel, cpu, state):
        """A file without declarations is read once for the same declarations: most damages leave most files alone."""
        key = (name, self.files[name], state)
        found = FILES.pop(key, None)
        if found is None:
            part = Trace(self.prefix, self.files, self.places)
            part.__dict__.update({**self.__dict__, "events": [], "problems": [], "structure": []})
            Walk(part, name, channel, cpu).run()
            found = part.events, part.problems, part.structure
        FILES[key] = found
        while len(FILES) > FILES_MAX:
            del FILES[next(iter(FILES))]
        for own, more in zip((self.events, self.problems, self.structure), found):
            own += more


FILES, FILES_MAX = {}, 600


class Walk:
    """The events of a tracefile."""

    def __init__(self, trace, name, channel, cpu):
        self.t, self.name, self.data, self.where = trace, name, trace.files[name], (channel, cpu)
        self.channel, self.home = channel, channel == trace.home
        self.compact = channel == "compact"
        self.count = 0

    def run(self):
        t = self.t
        for base, end, begin, stop in t.blocks(self.name, self.data):
            self.base, self.end, self.stop, self.start = base, end, stop, base + t.layout.size
            self.ticks, self.before, self.width = begin, None, 27
            self.time_needs, self.needs = ((self.name, base + t.layout.fields["begin"][0], 8),), {}
            self.carrier = None
            try:
                if t.old:
                    self.block_old()
                else:
                    self.block_new()
            except Bad as problem:
                t.problem(self.name, self.start, end - self.start, f"an event that cannot be read: {problem.args[0]}")

    def stamp(self, value, width, at, size):
        """Time from a stamp of width bits, the last in front of it being self.ticks."""
        if width == 64:
            if value < self.ticks and self.before is not None:
                self.t.problem(self.name, at, size, "a full stamp that steps back")
            if value < self.ticks and self.before is None:
                self.t.problem(self.name, at, size, "a full stamp in front of its block")
            self.time_needs, self.needs, self.before, self.carrier = ((self.name, at, size),), {}, value, None
            self.ticks = value
            return value
        now = self.ticks + ((value - self.ticks) & ((1 << width) - 1))
        if self.before is not None and now - self.before >= 1 << width and self.carrier:
            # Without the stamp in front of this one a wrap would not be seen.
            self.time_needs, self.needs = (*self.time_needs[-8:], self.carrier), {}
        self.before, self.ticks, self.carrier = self.ticks, now, (self.name, at, size)
        return now

    def emit(self, kind, start, payload, stop):
        t = self.t
        needs = self.needs.get(id(kind))
        if needs is None:
            needs = self.needs[id(kind)] = kind.needs + self.time_needs
        if self.ticks > self.stop:
            t.problem(self.name, start, payload - start, "an event later than its block ends")
        self.count += 1
        if t.places and (self.count < 50 or self.count % 500 == 0):
            t.place(self.name, start, 4, "event: word")
            t.place(self.name, start + 4, payload - start - 4, "event: rest of the header")
            t.place(self.name, payload, stop - payload, "event: values")
        t.events.append((self.name, ((start, stop - start),), (self.where, self.ticks, t.clock, kind.meaning, self.data[payload:stop]), needs, kind.kind))

    def block_new(self):
        t, data, base, end = self.t, self.data, self.base, self.end
        word_of, pair_of = struct.Struct(t.order + "I").unpack_from, struct.Struct(t.order + "HH").unpack_from
        word_align, at = min(t.alignment, 4), self.start
        while at < end:
            self.start = start = base + align(at - base, word_align)
            if start + 4 > end:
                raise Bad("a header that is cut")
            word, payload, size = word_of(data, start)[0], start + 4, None
            number, low = word >> 27, word & 0x7FFFFFF
            if number < 29:
                self.stamp(low, 27, start, 4)
            elif number == 31:
                number = t.u(data, payload, 2, end)
                payload += 2
                if number < 29:
                    t.problem(self.name, start, 6, "an id that needs no extension")
                self.stamp(low, 27, start, 4)
            else:
                form = number
                if payload + 4 > end:
                    raise Bad("a header that is cut")
                number, size = pair_of(data, payload)
                payload += 4
                if size == 0xFFFF:
                    size = t.u(data, payload, 4, end)
                    payload += 4
                    if size < 0xFFFF:
                        t.problem(self.name, start, 12, "a long size that is short")
                if form == 29:
                    payload = base + align(payload - base, (8 if t.natural else min(8, t.alignment)) if t.alignment else 1)
                    full = t.u(data, payload, 8, end)
                    if full & 0x7FFFFFF != low:
                        raise Bad("a full stamp of other low bits")
                    self.stamp(full, 64, payload, 8)
                    payload += 8
                else:
                    self.stamp(low, 27, start, 4)
            kind = t.marker(self.channel, number, self.home)
            if kind is None or kind.fields is None:
                if size is None or payload + size > end:
                    raise Bad("an event of no known type")
                t.problem(self.name, start, payload - start, "an event of no known type")
                at = payload + size
                continue
            if t.alignment:
                payload = base + align(payload - base, max(map(t.value_align, kind.fields), default=1))
            at = t.measure(data, payload, end, kind.fields)
            if size is not None and at - payload != size:
                raise Bad("another size than its header says")
            self.emit(kind, start, payload, at)
            if self.home:
                t.declare(self.name, data, start, number, payload, at)

    def block_old(self):
        at = self.start
        while at < self.end:
            at = self.event_compact(at) if self.compact else self.event_old(at)

    def event_old(self, at):
        t, data, base, end = self.t, self.data, self.base, self.end
        self.start = start = base + align(at - base, t.alignment)
        width = 4 if t.heartbeat else 8
        low = t.u(data, start, width, end)
        if t.version[0] == 0:
            number = t.u(data, start + width, 1, end) << 8 | t.u(data, start + width + 1, 1, end)
        else:
            number = t.u(data, start + width, 2, end)
        size = t.u(data, start + width + 2, 2, end)
        payload = base + align(start + width + 4 - base, t.alignment)
        given = None if size == 0xFFFF else payload + size
        if given and given > end:
            raise Bad("values that go on behind the end")
        self.stamp(low, 32 if t.heartbeat else 64, start, width)
        kind, stop = self.typed(number, payload, given)
        if kind is None:
            if given is None:
                raise Bad("an event of no known type")
            t.problem(self.name, start, payload - start, "an event of no known type")
            return given
        if given is not None and stop is not None and stop != given:
            t.problem(self.name, start, payload - start, "another size than its header says")
        stop = given if given is not None else stop
        if stop is None:
            raise Bad("an event without a size")
        self.full(kind, payload, stop)
        self.emit(kind, start, payload, stop)
        if kind.kind == "declaration":
            if t.version[0] == 0:
                t.load(self.name, data, start, payload, stop)
            else:
                t.declare(self.name, data, start, number, payload, stop)
        return stop

    def full(self, kind, payload, stop):
        """A heartbeat with a full stamp sets the clock."""
        if kind.meaning[0] in ("core_heartbeat_64", "heartbeat_full") and stop - payload == 8:
            value = self.t.u(self.data, payload, 8, stop)
            if value & 0xFFFFFFFF != self.ticks & 0xFFFFFFFF and not self.compact:
                self.t.problem(self.name, payload, 8, "a full stamp of other low bits")
            self.stamp(value, 64, payload, 8)

    def typed(self, number, payload, given):
        """(type, end of the values by it or None)."""
        t, data, end = self.t, self.data, self.end
        if t.version[0]:
            kind = t.marker(self.channel, number, self.home)
            if kind and kind.kind == "declaration" and not self.home:
                kind = None
            if kind is None or kind.fields is None:
                return None, None
            try:
                return kind, t.measure(data, payload, end, kind.fields)
            except Bad:
                if given is None:
                    raise
                return kind, -1
        found = t.facility_event(number)
        if found is None:
            return None, None
        kind, shape = found
        if shape is None and number >> 8:
            return kind, None
        try:
            if shape is None:
                return kind, self.core_end(kind, payload)
            return kind, measure_shape(shape, data, payload, payload, end, (t.alignment, t.arch, t.order))
        except Bad:
            if given is None:
                raise
            return kind, -1

    def core_end(self, kind, payload):
        t = self.t
        if kind.kind != "declaration":
            return payload + {"facility_unload": 4, "heartbeat": 0, "heartbeat_full": 8}[kind.meaning[0]]
        nul = self.data.find(b"\0", payload, self.end)
        if nul < 0:
            raise Bad("a string without an end")
        return payload + align(nul + 1 - payload, 4 if t.alignment else 1) + (24 if t.version < (0, 5) else 28)

    def event_compact(self, at):
        t, data, base, end = self.t, self.data, self.base, self.end
        self.start = start = base + align(at - base, min(t.alignment, 4))
        word, bits, lost = t.u(data, start, 4, end), t.head["tscbits"], t.head["truncate"]
        events = t.described("compact").events if t.version[0] == 0 and t.described("compact") else ()
        wide = t.head["shift"] - bits if t.version == (1, 0) else len(events).bit_length()
        if not 0 < bits < 32 or not 0 < wide <= 32 - bits:
            raise Bad("a word that has no room for an id")
        number, value = word >> bits & ((1 << wide) - 1), word & ((1 << bits) - 1)
        low = self.ticks & ((1 << lost) - 1)
        self.stamp(value << lost | low, bits + lost, start, 4)
        inline, payload = word >> bits + wide, start + 4
        if t.version == (1, 0):
            kind = t.marker(self.channel, number, self.home)
            if kind is None or kind.fields is None:
                raise Bad("an event of no known type")
            stop = t.measure(data, payload, end, kind.fields)
        else:
            if number >= len(events):
                raise Bad("an event of no known type")
            key = ("compact", number)
            if key not in t.types:
                loads = [found for found in t.facilities.values() if found[0][0] == "compact"]
                load, needs = (loads[0][0], loads[0][1]) if loads else (("compact", 0, (("int", 4), ("long", t.arch), ("pointer", t.arch), ("size_t", t.arch))), ())
                t.types[key] = t.of_node(t.described("compact"), events[number], load, needs)
            kind, shape = t.types[key]
            if shape is None:
                raise Bad("an event of no known type")
            stop = measure_shape(shape, data, payload, payload, end, (t.alignment, t.arch, t.order))
        kind = kind._replace(meaning=(*kind.meaning, inline))
        self.full(kind, payload, stop)
        self.emit(kind, start, payload, stop)
        return stop


# ---- the capture ----

def homes(files):
    """The prefixes of traces: where metadata is."""
    out = set()
    for name in files:
        if re.fullmatch(r"(metadata|facilities)_\d+", os.path.basename(name)):
            folder = re.sub(r"(^|/)control$", "", os.path.dirname(name))
            out.add(folder + "/" if folder else "")
    return sorted(out) or [""]


def read(files, places=False):
    events, problems, structure = [], [], []
    prefixes = homes(files)
    of = {prefix: {} for prefix in prefixes}
    for name, data in files.items():
        own = max((prefix for prefix in prefixes if name.startswith(prefix)), key=len, default=None)
        if own is None:
            problems.append((name, 0, 0, "a file outside of the trace"))
        else:
            of[own][name] = data
    for prefix, own in of.items():
        trace = Trace(prefix, own, places)
        try:
            trace.read()
        except Bad as problem:
            trace.problem(prefix, 0, 0, problem.args[0])
        if trace.usable and trace.version == (1, 0) and any("cannot be read" in problem[3] for problem in trace.problems):
            other = literally(prefix, own, places)
            if not any("cannot be read" in problem[3] for problem in other.problems):
                trace = other
        events += trace.events
        problems += trace.problems
        structure += trace.structure
    return Reading(events, problems, structure)


def literally(prefix, files, places):
    """1.0 as the document has it: the time of the start is two words of 32 bits."""
    trace, own = Trace(prefix, files, places), LAYOUTS[1, 0]
    LAYOUTS[1, 0] = LITERAL
    try:
        trace.read()
    except Bad as problem:
        trace.problem(prefix, 0, 0, problem.args[0])
    finally:
        LAYOUTS[1, 0] = own
    return trace


def texts(files):
    return [name for name in files if name.endswith(".xml")]


def family(files):
    """Blocks of another version are no blocks."""
    trace = Trace(homes(files)[0], files, False)
    for name, _, _ in trace.tracefiles():
        found = trace.identify(files[name])
        if found:
            return found[0], found[1]
    return None


def captures(folder):
    """The traces in the archives, without the folder that they are in. Of one with so many files that each reading takes minutes, one CPU's
    files and all metadata."""
    out = {}
    for entry in sorted(os.listdir(folder)):
        if not entry.endswith(".tar.gz"):
            continue
        with tarfile.open(os.path.join(folder, entry)) as archive:
            members = {member.name.removeprefix("./"): archive.extractfile(member).read() for member in archive if member.isfile()}
        inside = os.path.commonpath(members) if len(members) > 1 else ""
        members = {os.path.relpath(name, inside or "."): data for name, data in members.items()}
        if len(members) > 100:
            members = {name: data for name, data in members.items() if name.endswith("_2") or name.startswith("metadata_")}
        out[entry.removesuffix(".tar.gz")] = members
    return out


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        if os.path.isfile(argument):
            captured = captures(os.path.dirname(argument))[os.path.basename(argument).removesuffix(".tar.gz")]
        else:
            captured = {}
            for top, _, entries in os.walk(argument):
                for full in (os.path.join(top, entry) for entry in entries):
                    with open(full, "rb") as f:
                        captured[os.path.relpath(full, argument)] = f.read()
        reading = read(captured)
        print(argument, len(reading.events), "events", reading.problems[:5])
