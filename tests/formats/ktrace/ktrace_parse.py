#!/usr/bin/env python3
"""A parser of ktrace framing that shares nothing with the program: header structure, chunk sizes, records of events.

records(files) -> {name: [(start, end), ...]}   of the event records, up to the first chunk that cannot be
whole(files)   -> True when chunks, or the records of a RAW file, fill the file
count(files)   -> how many records `check` should count
sizes(files)   -> {name: [(offset, bytes, big endian)]}  the size of the header, of each chunk, the count of a RAW file's threads
killed(files, rng)                              what writers leave that died, for damage.py
stuck(files)   -> {name: (from, to)}            where what is wrong lies: from the last chunk that begins well to the first
                                                byte that fits nothing; nothing for files that are whole
BEYOND         rules about what is no framing: a file that breaks only these is whole
"""
import struct
import sys

V3, KERNEL, RAW1, RAW1_OLD, RAW2 = 0x55AA0300, 0x1000, 0x55AA0101, 0x55AA0100, 0x55AA0200
THREADS, EVENTS, COMPRESSED, UNFINISHED = 0x1D00, 0x1E00, 0x1F00, 0xFFFFFFFF
PAGE = 4096
# The last: entries of the map behind those that are counted stand in the padding, which readers skip.
BEYOND = {"ktrace/bad-magic", "ktrace/events-damaged", "ktrace/flags-bitness-mismatch", "ktrace/walltime-usec-range", "ktrace/raw-thread-count",
          "ktrace/cpumap-form", "ktrace/cpumap-count-mismatch"}


def up(n, to):
    return -(-n // to) * to


def chunk_at(data, at, end):
    """(tag, size) of the chunk header there, or None when it can be none."""
    if end - at < 16:
        return None
    tag, major, minor, size = struct.unpack_from("<IHHQ", data, at)
    if tag in (0, UNFINISHED) or size > end - at - 16:
        return None
    # No writer has counted so far; a chunk that ends with the file, and has a tag of those that are given out, is one all the same.
    if (major & 0x7FFF > 16 or minor > 16) and (not 0x1000 <= tag < 0x20000 or up(at + 16 + size, 8) != end):
        return None
    return tag, size


def time_at(data, at, wide):
    return struct.unpack_from("<Q", data, at)[0] & (1 << 64 if wide else 1 << 56) - 1


def tag_is_hit(data, at, tag, size, wide, last):
    """Whether the chunk says that it is none of records or threads, and holds nothing else. last: the time of the record before it.
    Readers skip a kind that they do not know: of more than a byte, it is hit only if its records go on where those before it end."""
    record, entry, end = 64 if wide else 32, 32 if wide else 28, at + 16 + size
    if tag in (THREADS, EVENTS, COMPRESSED):
        return False
    apart = sum(tag >> shift & 255 != EVENTS >> shift & 255 for shift in (0, 8, 16, 24))
    if apart > 1 and size >= 16 and time_at(data, at + 24, wide) < last:
        return False
    if size >= 8 + 4 * record and (size - 8) % record == 0 and not failures(data[:end], at + 24, wide):
        return True
    names = [data[at + 16 + i + entry - 20:at + 16 + i + entry] for i in range(0, size, entry)] if size % entry == 0 else []
    return len(names) > 2 and map_fits(data[:end], at + 16, len(names), entry) and all(name[0] and name == name.split(b"\0")[0].ljust(20, b"\0") for name in names)


def map_swallows(data, at, size, entry):
    """Whether a chunk ends where the thread map does, and begins in what is no entry: the map has lost entries."""
    end = up(at + 16 + size, 8)
    for start in range(end - 16, max(at + 16, end - 4096) - 1, -8):
        chunk, first = chunk_at(data, start, len(data)), start - (start - at - 16) % entry
        if chunk and chunk[1] and up(start + 16 + chunk[1], 8) == end and map_misfits(data, first, (at + 16 + size - first) // entry, entry):
            return True
    return False


def chunks(data):
    """[(offset, tag, size)], and None or the range that cannot be read."""
    if len(data) < 56:
        return [], (0, len(data))
    header_end = 16 + struct.unpack_from("<Q", data, 8)[0]
    wide = struct.unpack_from("<I", data, 52)[0] & 1
    record, entry = (64, 32) if wide else (32, 28)
    out, at, previous, last = [], 56, 0, 0
    if not 56 <= header_end <= len(data):
        return [], (0, 16)
    while at < len(data):
        if at < header_end <= at + 7 or at == up(header_end, 8):
            header_end = 0  # the header ends where a chunk does
        elif header_end and at > header_end:
            return out, (0, at)
        if len(data) - at < 16 and not any(data[at:]):
            break
        chunk = chunk_at(data, at, len(data))
        if chunk is None:
            return out, (previous, at)
        tag, size = chunk
        if tag == EVENTS and (size < 8 or (size - 8) % record) or tag == COMPRESSED and size < 12 or tag == THREADS and size % entry:
            return out, (previous, at + 16 + size)
        if tag_is_hit(data, at, tag, size, wide, last) or tag == THREADS and map_swallows(data, at, size, entry):
            return out, (previous, at + 16)
        if tag == EVENTS and size > 8:
            last = time_at(data, at + 16 + size - record, wide)
        out.append((at, tag, size))
        previous, at = at, up(at + 16 + size, 8)
    return out, None


def name_fits(field):
    name = field.split(b"\0")[0]
    return len(name) == len(field) or all(c >= 32 for c in name)


def map_misfits(data, at, count, entry):
    """How many of the first 100 entries are none."""
    misfits = 0
    for i in range(min(count, 100)):
        row = data[at + i * entry:at + (i + 1) * entry]
        if len(row) < entry:
            return 101
        misfits += bool(not name_fits(row[-20:]) or (not any(row[:4]) and (row[-20:-19] != b"\0" or i == 0)) or
                        not 0 <= struct.unpack_from("<i", row, entry - 24)[0] < 100000 or (entry == 32 and row[6:8] != b"\0\0"))
    return misfits


def map_fits(data, at, count, entry):
    return not map_misfits(data, at, count, entry)


def failures(data, at, wide):
    bad = 0
    for i in range(8 if wide else 16):
        row = data[at + i * (64 if wide else 32):][:64 if wide else 32]
        if len(row) < (64 if wide else 32):
            break
        if wide:
            time, tid, debugid, cpu, unused = struct.unpack_from("<Q32xQIIQ", row)
            bad += (not 0 < time < 1 << 56) + (tid >> 48 > 0) + (debugid < 1 << 24) + (cpu >= 4096) + (unused > 0)
        else:
            time, debugid = struct.unpack_from("<Q20xI", row)
            bad += (not time & (1 << 56) - 1) + (debugid < 1 << 24)
    return bad


def raw(data):
    """(end of the thread map, offset of the events, bytes of a record), or None."""
    first, count = struct.unpack_from("<II", data)
    if first in (RAW1, RAW1_OLD, RAW2) and len(data) < (288 if first == RAW2 else 24):
        return None
    if first == RAW2:
        wide = data[20] != 0
        end = 288 + count * (32 if wide else 28)
        # Streams that were cut out of other files have no padding.
        step = 64 if wide else 32
        if end + step <= len(data) < up(end, PAGE) and not failures(data, end, wide):
            return end, end, step
    elif first in (RAW1, RAW1_OLD):
        misfits = {(at, wide): map_misfits(data, at, count, 32 if wide else 28) for at, wide in ((20, False), (24, False), (24, True))}
        least = min(misfits.values())
        forms = [form for form in misfits if misfits[form] == least]
        # One entry in four, at most, was hit.
        if least and (count < 2 or least > min(count, 100) // 4 + 1):
            return None
        at, wide = min(forms, key=lambda f: failures(data, up(f[0] + count * (32 if f[1] else 28), PAGE), f[1]))
        end = at + count * (32 if wide else 28)
    else:
        wide = not map_fits(data, 4, first, 28)
        if wide and not map_fits(data, 4, first, 32): # a hole in the map: by the events behind it
            wide = failures(data, 4 + first * 32, True) < failures(data, 4 + first * 28, False)
        end = 4 + first * (32 if wide else 28)
        # Without threads nothing but its records makes it such a file.
        if not first and failures(data, end, wide) > 2:
            return None
        return end, end, 64 if wide else 32
    # Some writers fill up a page more than is needed.
    at = up(end, PAGE)
    while first == RAW1 and len(data) - at >= PAGE and not any(data[at:at + PAGE]):
        at += PAGE
    return end, at, 64 if wide else 32


def parse(data):
    """Spans of the records, and where the file cannot be read."""
    if len(data) < 8:
        return [], (0, len(data))
    if struct.unpack_from("<I", data)[0] in (V3, KERNEL):
        found, bad = chunks(data)
        step = 64 if len(data) >= 56 and data[52] & 1 else 32
        return [(at, at + step) for start, tag, size in found if tag == EVENTS
                for at in range(start + 24, start + 16 + size - step + 1, step)], bad
    shape = raw(data)
    if shape is None or shape[0] > len(data):
        return [], (0, len(data))
    end, start, step = shape
    if start > len(data) > end:
        return [], (end, len(data))
    spans = [(at, at + step) for at in range(start, len(data) - step + 1, step)]
    rest = max(0, len(data) - start) % step
    return spans, (len(data) - rest, len(data)) if rest else None


def records(files):
    return {name: parse(data)[0] for name, data in files.items()}


def stuck(files):
    found = {name: parse(data)[1] for name, data in files.items()}
    return {name: bad for name, bad in found.items() if bad}


def sizes(files):
    out = {}
    for name, data in files.items():
        if struct.unpack_from("<I", data)[0] in (V3, KERNEL):
            out[name] = [(8, 8, False)] + [(at + 8, 8, False) for at, _, _ in chunks(data)[0]]
        else:
            out[name] = [(4 if data[2:4] == b"\xaa\x55" else 0, 4, False)]
    return out


def killed(files, rng):
    """What writers leave that died while they wrote the last events: (name, start, end, data, what)."""
    for name, data in files.items():
        if struct.unpack_from("<I", data)[0] not in (V3, KERNEL):
            continue
        events = [(at, size) for at, tag, size in chunks(data)[0] if tag == EVENTS and size > 8]
        if not events:
            continue
        at, size = events[-1]
        ones = b"\xff" * 8
        forms = {"size never filled in": data[at:at + 8] + ones, "placeholder of ones": 2 * ones,
                 "placeholder without a version": ones[:4] + bytes(4) + ones, "size 0": data[at:at + 8] + bytes(8)}
        for what, header in forms.items():
            for end in (at + 16 + size, at + 24 + rng.randrange(size - 7)):
                for first in (data[8:16], ones):
                    yield (name, at, len(data), data[:8] + first + data[16:at] + header + data[at + 16:end],
                           f"{what}{', the header unfinished' if first == ones else ''}, the file ends {end - at - 16} of {size} bytes into the last events")


def whole(files):
    return not stuck(files)


def count(files):
    return sum(map(len, records(files).values()))


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, "rb") as f:
            content = {"": f.read()}
        print(path, count(content), "records" if whole(content) else f"records, then what is none: {stuck(content)['']}")
