"""Damage to a capture, as edits whose origin stays known.

A capture is {file name: bytes}; a single file has the name "". An edit replaces a range of a file by bytes or by a copy of another range.
A hit is one act of damage: one or more edits, and files that go, come or change their name. A damage is a list of hits with edits that
do not overlap, so that each can be applied alone.
"""
from bisect import bisect_right
from collections import namedtuple

# new: bytes, or (file, from, length) of the undamaged capture.
Edit = namedtuple("Edit", "file start length new")
# remove: names; rename, double: {name: new name}.
Hit = namedtuple("Hit", "edits remove rename double", defaults=((), {}, {}))
# Where bytes of a damaged file come from: [start, start + length) from `file` at `origin`, or from a hit when file is None.
Piece = namedtuple("Piece", "start length file origin hit")
Damaged = namedtuple("Damaged", "files pieces cuts")

# A second capture that the damage brings in: its files have names that begin with this.
OTHER = "other capture/"


def differing(old, new):
    """[(from, to, equal)] runs of two byte strings of one length."""
    out, at = [], 0
    while at < len(old):
        equal, end = old[at] == new[at], at + 1
        while end < len(old) and (old[end] == new[end]) == equal:
            end += 1
        out.append((at, end, equal))
        at = end
    return out


def add_piece(pieces, piece):
    """Appends, as one with the last where both go on."""
    if not piece.length:
        return
    if pieces:
        last = pieces[-1]
        if last.file == piece.file and last.hit == piece.hit and (last.file is None or last.origin + last.length == piece.origin):
            pieces[-1] = last._replace(length=last.length + piece.length)
            return
    pieces.append(piece)


def apply(files, hits):
    """The damaged capture. hits: {number: Hit}. pieces and cuts are by file; a cut is (position, hit) where bytes are missing."""
    removed = {name for hit in hits.values() for name in hit.remove}
    renamed = {old: new for hit in hits.values() for old, new in hit.rename.items()}
    doubled = {old: new for hit in hits.values() for old, new in hit.double.items()}
    damaged = Damaged({}, {}, {})
    for name, data in files.items():
        if name in removed:
            continue
        edits = sorted((edit.start, edit.length, number, edit.new) for number, hit in hits.items() for edit in hit.edits if edit.file == name)
        out, pieces, cuts, at = bytearray(), [], [], 0
        for start, length, number, new in edits:
            assert start >= at, "hits overlap"
            add_piece(pieces, Piece(len(out), start - at, name, at, None))
            out += data[at:start]
            if isinstance(new, tuple):
                source, first, count = new
                add_piece(pieces, Piece(len(out), count, source, first, None))
                cuts += [(len(out), number), (len(out) + count, number)]
                out += files[source][first:first + count]
            elif len(new) == length:
                for low, high, equal in differing(data[start:start + length], new):
                    piece = (name, start + low, None) if equal else (None, 0, number)
                    add_piece(pieces, Piece(len(out) + low, high - low, *piece))
                out += new
            else:
                add_piece(pieces, Piece(len(out), len(new), None, 0, number))
                cuts.append((len(out), number))
                out += new
            at = start + length
        add_piece(pieces, Piece(len(out), len(data) - at, name, at, None))
        out += data[at:]
        # Where both sides are beside each other in the original, too, nothing is missing.
        starts = {piece.start for piece in pieces}
        cuts = [cut for cut in cuts if cut[0] in starts or cut[0] == len(out)]
        for target in {renamed.get(name, name)} | ({doubled[name]} if name in doubled else set()):
            damaged.files[target], damaged.pieces[target], damaged.cuts[target] = bytes(out), pieces, sorted(cuts)
    return damaged


class Intact:
    """Where ranges of the undamaged capture are in the damaged one."""

    def __init__(self, damaged):
        self.runs = {}
        for name, pieces in damaged.pieces.items():
            for piece in pieces:
                if piece.file is not None:
                    self.runs.setdefault(piece.file, []).append((piece.origin, piece.length, name, piece.start))
        self.starts, self.longest = {}, {}
        for name, runs in self.runs.items():
            runs.sort()
            self.starts[name] = [run[0] for run in runs]
            # What may hold a range begins at most so far in front of it, as long as no run is copied: then few are looked at.
            high, reach = 0, []
            for origin, length, _, _ in runs:
                high = max(high, origin + length)
                reach.append(high)
            self.longest[name] = reach
        self.known = {}

    def find(self, file, start, length):
        """[(file, from)] of whole copies, usually one."""
        key = (file, start, length)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.search(file, start, length)
        return found

    def search(self, file, start, length):
        runs, out = self.runs.get(file, ()), []
        i = bisect_right(self.starts.get(file, ()), start) - 1
        while i >= 0 and self.longest[file][i] >= start + length:
            origin, run, name, at = runs[i]
            if origin + run >= start + length:
                out.append((name, at + start - origin))
            i -= 1
        return out


# ---- kinds ----

SIZES = (8, 16, 64, 512, 4096)
SHIFTS = (1, 4, 8, 64, 4096)
FILLS = ("zeros", "FF", "noise")
MANY = (2, 25, 400)
# Kinds that come several times while the others come once: there is so much to hit.
OFTEN = {"header byte": 4}
# A capture is large enough for many hits when there are so many bytes a hit.
ROOM = 2048

UNDAMAGED = "undamaged"
# A sound event between two that were hit: chance seldom hits two that are so near each other.
BESIDE = "hits on both sides"
KINDS = ("one bit", "header byte",
         *(f"{fill} {size}" for fill in FILLS for size in SIZES),
         "cut", "cut, noise behind",
         *(f"insert {size}" for size in SHIFTS), *(f"delete {size}" for size in SHIFTS),
         "blocks swapped", "block doubled", "foreign block", "CR LF", "joined", "cut and joined",
         *(f"{count} hits of 8" for count in MANY), BESIDE,
         "line deleted", "line doubled", "character changed",
         "file deleted", "file emptied", "file renamed", "file doubled", "two recordings")


def filled(fill, size, rng):
    return bytes(size) if fill == "zeros" else b"\xff" * size if fill == "FF" else rng.randbytes(size)


class Aim:
    """Chooses places: by turns in each kind of place that the parser names, so that with enough damages all bytes of each come; else by
    chance, in proportion to the sizes of files. first: the kind of place to begin with, so that captures do not all begin with the same."""

    def __init__(self, files, structure, seed=0, first=0, events=()):
        self.files, self.seed, self.first = files, seed, first
        # The ranges of events that are in one piece, in their order.
        self.events = sorted({(name, *ranges[0]) for name, ranges, *_ in events if len(ranges) == 1})
        groups = {}
        for name, start, length, what in structure:
            groups.setdefault(what, []).append((name, start, length))
        self.groups = [groups[what] for what in sorted(groups)]
        self.totals = [sum(length for _, _, length in group) for group in self.groups]

    def byte(self, k):
        """(file, offset) of the k-th byte of the structure, or None without one."""
        groups = len(self.groups)
        if not groups:
            return None
        number = (k + self.first) % groups
        group, total = self.groups[number], self.totals[number]
        # A step without a common divisor with the total visits every byte; near the golden section, far apart.
        step = max(1, int(total * 0.618))
        while gcd(step, total) != 1:
            step += 1
        n = ((k // groups + 1000 * self.seed) * step) % total
        for name, start, length in group:
            if n < length:
                return name, start + n
            n -= length
        return None

    def anywhere(self, rng):
        n = rng.randrange(max(1, sum(map(len, self.files.values()))))
        for name, data in sorted(self.files.items()):
            if n < len(data):
                return name, n
            n -= len(data)
        return sorted(self.files)[0], 0

    def at(self, k, size, rng):
        """(file, offset) with room for size bytes, in the structure or anywhere, by turns."""
        name, at = (self.byte(k // 2) if k % 2 == 0 else None) or self.anywhere(rng)
        return name, max(0, min(at, len(self.files[name]) - size))


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def block_of(data, rng, count=1):
    """count different ranges of equal size, aligned to it where the file allows."""
    size = rng.choice((512, 4096))
    while size > 8 and len(data) // size < 2 * count:
        size //= 2
    if len(data) // size < count:
        return None
    return [(n * size, size) for n in rng.sample(range(len(data) // size), count)]


def one_byte(value, k, rng):
    return (value ^ 1 << rng.randrange(8), 0, 0xFF, (value + 1) & 255, (value - 1) & 255, rng.randrange(256), value ^ 0x80)[k % 7]


def overwrite(kind, files, aim, k, rng):
    fill, size = kind.rsplit(" ", 1)
    size = int(size)
    name, at = aim.at(k, size, rng)
    size = min(size, len(files[name]) - at)
    return [Hit([Edit(name, at, size, filled(fill, size, rng))])]


def scattered(kind, files, rng):
    count = int(kind.split()[0])
    names = [name for name, data in sorted(files.items()) if len(data) >= 8]
    sizes = [len(files[name]) for name in names]
    if sum(sizes) < count * ROOM:
        return None
    taken, hits = {name: [] for name in names}, []
    while len(hits) < count:
        name = rng.choices(names, sizes)[0]
        at = rng.randrange(len(files[name]) - 7)
        if all(abs(at - other) > 8 for other in taken[name]):
            taken[name].append(at)
            hits.append(Hit([Edit(name, at, 8, rng.randbytes(8))]))
    return hits


def both_sides(files, aim, rng):
    """The first bytes of what comes before an event, and of what comes behind it."""
    if len(aim.events) < 3:
        return None
    n = rng.randrange(1, len(aim.events) - 1)
    near = [aim.events[i] for i in (n - 1, n, n + 1)]
    name, before, _ = near[0]
    _, start, length = near[1]
    _, behind, _ = near[2]
    if len({place[0] for place in near}) > 1 or before + 8 > start or behind < start + length or behind + 8 > len(files[name]):
        return None
    return [Hit([Edit(name, at, 8, rng.randbytes(8))]) for at in (before, behind)]


def carriage_returns(files, k):
    """Line ends of the other kind: one hit, since one act does it."""
    old, new = (b"\n", b"\r\n") if k % 2 == 0 or not any(b"\r\n" in data for data in files.values()) else (b"\r\n", b"\n")
    edits = []
    for name, data in files.items():
        at = data.find(old)
        while at >= 0:
            edits.append(Edit(name, at, 0, b"\r") if len(new) > len(old) else Edit(name, at, 1, b""))
            at = data.find(old, at + len(old))
    return [Hit(edits)] if edits else None


def block_kinds(kind, files, other, aim, k, rng):
    name, _ = aim.at(k, 1, rng)
    data = files[name]
    blocks = block_of(data, rng, 2 if kind == "blocks swapped" else 1)
    if not blocks:
        return None
    at, size = blocks[0]
    if kind == "blocks swapped":
        second = blocks[1][0]
        return [Hit([Edit(name, at, size, (name, second, size)), Edit(name, second, size, (name, at, size))])]
    if kind == "block doubled":
        return [Hit([Edit(name, at + size, 0, (name, at, size))])]
    source = max(other.values(), key=len, default=b"") if other else b""
    if len(source) < size:
        return None
    start = rng.randrange(len(source) // size) * size
    return [Hit([Edit(name, at, size, source[start:start + size])])]


def line_kinds(kind, files, texts, rng):
    choice = [(name, start, end) for name in texts for start, end in lines(files[name])]
    if not choice:
        return None
    name, start, end = rng.choice(choice)
    line = files[name][start:end]
    if kind == "line deleted":
        return [Hit([Edit(name, start, end - start, b"")])]
    if kind == "line doubled":
        return [Hit([Edit(name, end, 0, (name, start, end - start))])]
    at = rng.randrange(len(line))
    return [Hit([Edit(name, start + at, 1, bytes([rng.choice([c for c in range(32, 127) if c != line[at]])]))])]


def lines(data):
    out, at = [], 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        out.append((at, end))
        at = end
    return out


def file_kinds(kind, files, k):
    if list(files) == [""]:
        return None
    name = sorted(files)[k % len(files)]
    if kind == "file deleted":
        return [Hit((), (name,))]
    if kind == "file emptied":
        return [Hit([Edit(name, 0, len(files[name]), b"")])] if files[name] else None
    stem, dot, tail = name.rpartition(".")
    other = f"{stem}-copy{dot}{tail}" if stem else f"{name}-copy"
    return [Hit((), (), {name: other})] if kind == "file renamed" else [Hit((), (), {}, {name: other})]


def joined(kind, own, other, joinable, aim, k, rng):
    """The second capture behind the first. Where two are not a capture together, its bytes are as foreign as noise."""
    if not other:
        return None
    at = len(own[""]) if kind == "joined" else aim.at(k, 1, rng)[1]
    # With nothing left of the first it is the second one, sound.
    if not at:
        return None
    rest = len(own[""]) - at
    if joinable:
        return [Hit([Edit("", at, rest, (OTHER, 0, len(other[""])))], (OTHER,))]
    return [Hit([Edit("", at, rest, other[""])])]


def make(kind, files, other, texts, joinable, aim, k, rng):
    """The hits of the k-th damage of a kind, or None where the capture has no place for it. other: a second capture; for two recordings in
    one folder it is among files, too, with names prefixed by OTHER. joinable: two captures one behind the other are a capture."""
    if kind == UNDAMAGED:
        return []
    own = {name: data for name, data in files.items() if not name.startswith(OTHER)}
    single = list(own) == [""]
    if kind in ("one bit", "header byte"):
        place = aim.byte(k) if kind == "header byte" else None
        name, at = place or aim.at(k, 1, rng)
        value = own[name][at]
        new = value ^ 1 << rng.randrange(8) if kind == "one bit" else one_byte(value, k // max(1, len(aim.groups)) + k, rng)
        return None if new == value else [Hit([Edit(name, at, 1, bytes([new]))])]
    if kind.split()[0] in FILLS:
        return overwrite(kind, own, aim, k, rng)
    if kind.startswith("cut") and kind != "cut and joined":
        name, at = aim.at(k, 1, rng)
        behind = rng.randbytes(rng.choice((5, 64, 4096))) if kind != "cut" else b""
        return [Hit([Edit(name, at, len(own[name]) - at, behind)])]
    if kind.startswith("insert"):
        name, at = aim.at(k, 0, rng)
        return [Hit([Edit(name, at, 0, rng.randbytes(int(kind.split()[1])) if k % 3 else bytes(int(kind.split()[1])))])]
    if kind.startswith("delete"):
        size = int(kind.split()[1])
        name, at = aim.at(k, size, rng)
        return [Hit([Edit(name, at, min(size, len(own[name]) - at), b"")])] if len(own[name]) > 2 * size else None
    if kind in ("blocks swapped", "block doubled", "foreign block"):
        return block_kinds(kind, own, other, aim, k, rng)
    if kind == "CR LF":
        return carriage_returns(own, k)
    if kind in ("joined", "cut and joined"):
        return joined(kind, own, other, joinable, aim, k, rng) if single else None
    if kind.endswith("hits of 8"):
        return scattered(kind, own, rng)
    if kind == BESIDE:
        return both_sides(own, aim, rng)
    if kind.startswith(("line", "character")):
        return line_kinds(kind, own, texts, rng)
    if kind.startswith("file"):
        return file_kinds(kind, own, k)
    # Two recordings in one folder: of single files the folder is made by the driver.
    if not other or single:
        return [] if other else None
    moved = {name: name[len(OTHER):] if name[len(OTHER):] not in own else name[len(OTHER):] + "-2" for name in files if name.startswith(OTHER)}
    return [Hit((), (), moved)]
