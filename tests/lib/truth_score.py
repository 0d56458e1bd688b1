"""The five numbers of one damage and its repair. No process, no file: captures are {file name: bytes}.

Definitions (DESIGN: "The truth meter"), and how they are read here:

- An event is *hit* when a byte of it differs, is gone, or no longer stands beside the next one. Bytes that were overwritten with what they
  were are not hit; bytes that were moved as a whole are not, either.
- Its prerequisites are hit when their bytes are, or when they now stand behind it in the same file.
- *found*: an event of the output that comes from the bytes of an event of the original and means the same. An event that was hit counts as
  found (mended), too, where the output has an event of the same meaning that comes from no other event of the original.
- *listed*: a doubtful range of the manifest overlaps its bytes; or it has literal bytes and no byte that was hit; or it means something else
  only since a registration that it refers to is, or has, a literal (a placeholder). What is dropped is listed by its absence.
- *lost*: not hit, its prerequisites were not, and it is not in the output.
- *doubted*: the same, but it is in the output and listed.
- *altered*: not hit, in the output with another meaning, not listed; also where its prerequisites were hit.
  (*behind doubt*: those of them that need something that is itself doubtful: a tick rate, a provider. That lists the rate, not the events.)
- *invented*: in the output, not found, not listed, and not an altered one. That is: bytes that were hit come out as a sound event, or intact
  bytes are read as what they are not; the same bytes of the damaged capture as two events; an event a second time in its file (a block that is
  doubled), where neither is listed; and each event that is not a registration and consists of literals only, unless it is one of the events
  that stood in the bytes of which these were made, or all those bytes are doubtful.
- *claims*: exit 0, or the words "nothing was lost", where an event of the original (hit or not) is not found, or anything is doubtful.
- *invisible*: a hit of which, applied alone, neither `check` nor the independent parser says an error or warning that the undamaged capture
  does not have. A block of another capture, or one that is doubled, is such a hit where its events decode strictly and no check can tell that it
  was not there. All invisible hits together are applied to the original, and the independent parser reads that: an event of the original
  that it does not find follows from them, and no longer counts in any of the five. An invented event counts here, too, when all hits
  that its bytes have are invisible, or when the same bytes are an event there.
- A deletion inside of events is two hits: events that go, and one that has the bytes of two. Where check says no error of the whole (only what it
  says of events that are missing), the second is looked at alone: its bytes take the place of either event in the original. Where that is
  invisible, it is.

Rates are of the events that were not hit, whose prerequisites were not, and that do not follow from invisible hits.
"""
from bisect import bisect_left, bisect_right
from collections import Counter, namedtuple

from truth_damage import Edit, Hit, Intact, apply

# outputs: {name: bytes}, or None. segments: {name: [(offset, length, input name or None, from)]} in order; a literal has instead of "from" the
# ranges of the input ((name, from, length), ...) that were dropped for it.
# doubts: {input name: [(from, to)]}. said: whether the program said that nothing was lost.
Result = namedtuple("Result", "exit outputs segments doubts said")
Traced = namedtuple("Traced", "parts hits literal spans made", defaults=((),))

LISTED = 100  # how many single findings a tally keeps


class Original:
    """An undamaged capture with its events. read: the parser's function; several captures may be in one (names with a prefix)."""

    def __init__(self, files, events):
        self.files, self.events = files, events
        self.by_ranges = {(event[0], event[1]): i for i, event in enumerate(events)}
        self.spans = {}
        for i, (name, ranges, _, _, _) in enumerate(events):
            for start, length in ranges:
                self.spans.setdefault(name, []).append((start, start + length, i))
        for spans in self.spans.values():
            spans.sort()

    def holding(self, name, start):
        """The event that has this byte, or None."""
        spans = self.spans.get(name, ())
        i = bisect_right(spans, (start, 1 << 64, 0)) - 1
        return spans[i][2] if i >= 0 and spans[i][1] > start else None


class Trace:
    """From bytes of an output to the original: pieces are (start, length, file or None, from, hit or None, damaged file, from there)."""

    def __init__(self, segments, damaged):
        self.pieces, self.starts, self.cuts, self.damaged = {}, {}, damaged.cuts, damaged.pieces
        for name, entries in segments.items():
            out = self.pieces[name] = []
            for offset, length, source, start in entries:
                if source is None:
                    out.append((offset, length, None, 0, None, None, start))
                    continue
                out += [(offset + low - start, high - low, *piece, source, low) for low, high, *piece in self.origins(source, start, length)]
            self.starts[name] = [piece[0] for piece in out]

    def origins(self, source, start, length):
        """The pieces of a range of the damaged capture: (from, to, file, origin, hit)."""
        pieces = self.damaged.get(source, ())
        i = bisect_right(pieces, start, key=lambda piece: piece.start) - 1
        while i < len(pieces) and pieces[i].start < start + length:
            piece = pieces[i]
            low, high = max(start, piece.start), min(start + length, piece.start + piece.length)
            if low < high:
                yield low, high, piece.file, piece.origin + low - piece.start, piece.hit
            i += 1

    def __call__(self, name, ranges):
        """Where the bytes come from: parts of the original [(file, from, length)], hits, whether there is a literal, spans of the damaged file."""
        parts, hits, literal, spans, made = [], set(), False, [], []
        pieces, starts = self.pieces.get(name, ()), self.starts.get(name, ())
        for start, length in ranges:
            i, end, first = bisect_right(starts, start) - 1, start + length, len(parts)
            while 0 <= i < len(pieces) and pieces[i][0] < end:
                at, run, file, origin, hit, source, there = pieces[i]
                low, high = max(at, start), min(at + run, end)
                if source is None:
                    literal = True
                    made += there or ()
                else:
                    span = (source, there + low - at, high - low)
                    if spans and spans[-1][0] == source and spans[-1][1] + spans[-1][2] == span[1]:
                        _, begin, before = spans.pop()
                        span = (source, begin, before + span[2])
                    spans.append(span)
                    if file is None:
                        hits.add(hit)
                    else:
                        part = (file, origin + low - at, high - low)
                        if len(parts) > first and parts[-1][0] == file and parts[-1][1] + parts[-1][2] == part[1]:
                            part = (file, parts[-1][1], parts.pop()[2] + part[2])
                        parts.append(part)
                i += 1
        for source, at, length in spans:
            cuts = self.cuts.get(source)
            if cuts:
                i = bisect_right(cuts, (at, 1 << 62))
                while i < len(cuts) and cuts[i][0] < at + length:
                    hits.add(cuts[i][1])
                    i += 1
        return Traced(tuple(parts), hits, literal, tuple(spans), tuple(dict.fromkeys(made)))


def identity(files):
    """The segments of an output that is its input."""
    return {name: [(0, len(data), name, 0)] if data else [] for name, data in files.items()}


def exactly(original, traced, ranges):
    """The number of the event of the original whose bytes these are, all of them and nothing else; or None."""
    if traced.literal or traced.hits or len(traced.parts) != len(ranges):
        return None
    name = traced.parts[0][0]
    if any(part[0] != name for part in traced.parts):
        return None
    return original.by_ranges.get((name, tuple((start, length) for _, start, length in traced.parts)))


def states(original, intact):
    """For each event of the original: 0 it was hit, 1 something that it needs was, 2 neither."""
    out = []
    for name, ranges, _, needs, _ in original.events:
        found = [intact.find(name, *r) for r in ranges]
        if not all(found):
            out.append(0)
            continue
        there, at = found[0][-1]
        state = 2
        for file, start, length in needs:
            copies = intact.find(file, start, length)
            if not copies or (file == name and start < ranges[0][0] and all(c[0] == there and c[1] > at for c in copies)):
                state = 1
                break
        out.append(state)
    return out


def overlaps(doubts, spans):
    for name, at, length in spans:
        entries = doubts.get(name)
        if entries:
            i = bisect_left(entries, (at + length, 0)) - 1
            if i >= 0 and entries[i][1] > at:
                return True
    return False


def covers(doubts, span):
    name, at, length = span
    entries = doubts.get(name, ())
    i = bisect_right(entries, (at, 1 << 64)) - 1
    return i >= 0 and entries[i][1] >= at + length


def merged(entries):
    """Sorted ranges (from, to) without overlap."""
    out = []
    for start, end in sorted(entries):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


class Matching:
    """The events of one output, matched to those of the original. After it: found, present, and doubted are sets of numbers of the original;
    wrong is {number: event of the output}; strange is [(event of the output, traced)]."""

    def __init__(self, original, state, events, trace, doubts, registrations, placeholders):
        self.original, self.state = original, state
        self.found, self.present, self.doubted = set(), set(), set()
        self.wrong, self.strange, self.listed = {}, [], 0
        self.trace, self.doubts = trace, doubts
        self.registrations, self.placeholders = registrations, placeholders
        self.kinds = {(event[0], *event[1][0]): event[4] for event in events if event[4] in placeholders}
        # Events that were hit, by meaning: what comes out with one of these was mended.
        self.mendable = {}
        for i, event in enumerate(original.events):
            if state[i] == 0:
                self.mendable.setdefault(event[2], []).append(i)
        self.used, self.literals, self.places, self.remade = Counter(), {}, {}, {}
        for event in events:
            self.match(event)
        # An event that is found elsewhere, too, is not the one that is wrong. Another copy of it is nothing new; what is not a copy is.
        for i in self.found & set(self.wrong):
            other = self.wrong.pop(i)
            traced = trace(*other[:2])
            if exactly(original, traced, other[1]) is None:
                self.strange.append((other, traced))

    def stood_in(self, made, meaning):
        """An event of the original, not found so far, that has this meaning and stood in these ranges of the damaged capture; or None."""
        if made not in self.remade:
            known = self.remade[made] = {}
            for name, start, length in made:
                for low, high, file, origin, _ in self.trace.origins(name, start, length):
                    spans = self.original.spans.get(file, ())
                    first = bisect_left(spans, (origin, 0, 0))
                    for at in range(first, bisect_left(spans, (origin + high - low, 0, 0))):
                        known.setdefault(self.original.events[spans[at][2]][2], []).append(spans[at][2])
        entries = self.remade[made].get(meaning, [])
        while entries:
            i = entries.pop()
            if i not in self.found:
                return i
        return None

    def placeholder(self, event):
        """Whether something that it refers to has a literal."""
        for need in event[3]:
            if need in self.kinds:
                if need not in self.literals:
                    self.literals[need] = self.trace(need[0], ((need[1], need[2]),)).literal
                if self.literals[need]:
                    return True
        return False

    def behind_doubt(self, event):
        """Whether something that it needs is doubtful, which alone does not list the event."""
        return any(overlaps(self.doubts, self.trace(name, ((start, length),)).spans) for name, start, length in event[3])

    def match(self, event):
        name, ranges, meaning, _, kind = event
        traced = self.trace(name, ranges)
        i = exactly(self.original, traced, ranges)
        doubtful = overlaps(self.doubts, traced.spans)
        twice = False
        if kind not in self.registrations and traced.spans:
            self.used[traced.spans] += 1
            twice = self.used[traced.spans] > 1
        if twice:
            self.strange.append((event, traced))
        elif i is not None:
            self.known(i, event, doubtful)
        elif meaning in self.mendable and self.mendable[meaning]:
            i = self.mendable[meaning].pop()
            self.found.add(i)
            self.present.add(i)
        else:
            self.other(event, traced, doubtful)

    def known(self, i, event, doubtful):
        if self.places.setdefault(i, event[0]) == event[0] and i in self.found and event[4] not in self.registrations:
            # A second copy in the same file. One of the two may be listed: it is the one too many.
            if doubtful:
                self.listed += 1
            elif i in self.doubted:
                self.doubted.discard(i)
            else:
                self.strange.append((event, self.trace(*event[:2])))
            return
        self.present.add(i)
        if event[2] == self.original.events[i][2]:
            self.found.add(i)
            if doubtful:
                self.doubted.add(i)
        elif doubtful or self.placeholder(event):
            self.doubted.add(i)
            self.listed += 1
        else:
            self.wrong[i] = event

    def other(self, event, traced, doubtful):
        if not traced.spans:
            # All of it is literal.
            i = self.stood_in(traced.made, event[2])
            if i is not None:
                self.found.add(i)
                self.present.add(i)
                if any(overlaps(self.doubts, (span,)) for span in traced.made):
                    self.doubted.add(i)
            elif traced.made and all(covers(self.doubts, span) for span in traced.made):
                self.listed += 1
            elif event[4] not in self.registrations:
                self.strange.append((event, traced))
            return
        i = self.original.holding(*traced.parts[0][:2]) if traced.parts else None
        listed = doubtful or (traced.literal and not traced.hits)
        if i is not None and self.state[i] and i not in self.present:
            # An event that was not hit, and that repair changed.
            self.present.add(i)
            if event[2] == self.original.events[i][2]:
                self.found.add(i)
            elif listed:
                self.doubted.add(i)
            else:
                self.wrong[i] = event
        elif listed:
            self.listed += 1
        else:
            self.strange.append((event, traced))


class Invisible:
    """What follows from invisible hits alone. hits: {number: Hit}; which: the numbers of those that are invisible."""

    def __init__(self, original, hits, which, read):
        self.which, self.events, self.keys = which, set(), set()
        if not which:
            return
        damaged = apply(original.files, {number: hits[number] for number in which})
        trace = Trace(identity(damaged.files), damaged)
        events = read(damaged.files).events
        match = Matching(original, states(original, Intact(damaged)), events, trace, {}, (), ())
        self.events = {i for i in range(len(original.events)) if i not in match.found}
        self.keys = {(traced.parts, event[2]) for event, traced in match.strange}

    def explains(self, event, traced):
        return bool(traced.hits) and traced.hits <= self.which or (traced.parts, event[2]) in self.keys


def deletes(hit):
    return bool(hit.edits) and all(edit.new == b"" for edit in hit.edits)


def joint_unseen(original, event, traced, outputs, silent):
    """Whether an event that has the bytes of two, where what stood between them was deleted, is invisible in the place of either."""
    name, ranges = event[:2]
    if traced.literal or len(ranges) != 1:
        return False
    start, length = ranges[0]
    for file, at, _ in traced.parts:
        i = original.holding(file, at)
        if i is not None and [size for _, size in original.events[i][1]] == [length]:
            place = original.events[i][1][0][0]
            if silent([Hit([Edit(file, place, length, outputs[name][start:start + length])])]):
                return True
    return False


def score(original, hits, result, parser, silent):
    """A tally (dict) of one damage. hits: [Hit]. parser: read(), REGISTRATIONS, PLACEHOLDERS. silent(hits) -> numbers of the invisible ones; asked
    only where something is lost, doubted, altered, invented or claimed."""
    numbered = dict(enumerate(hits))
    damaged = apply(original.files, numbered)
    state = states(original, Intact(damaged))
    segments = result.segments if result.outputs is not None else {}
    reading = parser.read(result.outputs) if result.outputs is not None else None
    events = reading.events if reading else []
    match = Matching(original, state, events, Trace(segments, damaged), result.doubts, parser.REGISTRATIONS, parser.PLACEHOLDERS)
    everything = range(len(original.events))
    gone = [i for i in everything if i not in match.found]
    sure = result.exit == 0 or result.said
    unlisted = bool(result.doubts) or bool(gone)
    which = silent(hits) if gone or match.doubted or match.strange or (sure and unlisted) else set()
    invisible = Invisible(original, numbered, which, parser.read)
    excused = invisible.events
    whole = [i for i in everything if state[i] == 2 and i not in excused]
    lost = [i for i in whole if i not in match.present]
    doubted = [i for i in whole if i in match.doubted]
    altered = [(i, event) for i, event in sorted(match.wrong.items()) if state[i] and i not in excused]
    invented = [(event, traced) for event, traced in match.strange if not invisible.explains(event, traced)]
    # A result that does not hold a visibly hit event, or that is doubtful, and that calls itself complete.
    claims = sure and (any(i not in excused for i in gone) or bool(result.doubts))
    mild = which | getattr(silent, "mild", set())
    invented = [(event, traced) for event, traced in invented
                if not (traced.hits and all(n in mild and deletes(hits[n]) for n in traced.hits)
                        and joint_unseen(original, event, traced, result.outputs, silent))]
    return {
        "events": len(whole), "lost": len(lost), "doubted": len(doubted), "altered": len(altered), "invented": len(invented),
        "claims": int(claims), "no output": int(result.outputs is None),
        "hits": len(hits), "invisible hits": len(which), "all events": len(original.events),
        "invisible events": len([i for i in gone if i in excused]),
        "no error": len([t for _, t in invented if t.hits and t.hits <= mild]) + int(claims and len(mild) == len(hits)),
        "behind doubt": len([1 for _, event in altered if match.behind_doubt(event)]),
        "problems": reading.problems if reading else (),
        "kinds": Counter([("intact", original.events[i][4]) for i in whole] + [("lost", original.events[i][4]) for i in lost]
                         + [("doubted", original.events[i][4]) for i in doubted]
                         + [("altered", original.events[i][4]) for i, _ in altered] + [("invented", event[4]) for event, _ in invented]),
        "found": [describe("lost", original.events[i]) for i in lost[:LISTED]]
                 + [describe("doubted", original.events[i]) for i in doubted[:LISTED]]
                 + [describe("altered", original.events[i], event) for i, event in altered[:LISTED]]
                 + [describe("invented", event, traced=traced) for event, traced in invented[:LISTED]]
                 + ([describe("claim", original.events[next((i for i in gone if i not in excused), 0)])] if claims and original.events else []),
    }


def describe(number, event, after=None, traced=None):
    """One finding, for people. In the original for lost, doubted, altered, claim; in the output for invented."""
    out = {"number": number, "file": event[0], "ranges": event[1], "kind": event[4], "meaning": repr(event[2])}
    if after is not None:
        out["after"], out["now"] = repr(after[2]), after[1]
    if traced is not None:
        out["from"], out["hits"] = traced.spans, sorted(traced.hits)
    return out
