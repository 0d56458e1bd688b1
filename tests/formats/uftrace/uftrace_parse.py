#!/usr/bin/env python3
"""A parser of uftrace <TID>.dat record boundaries that shares nothing with the program.

It does not know argument specifications: where a record has a payload, the payload ends at the first multiple of 8 from
which a chain of plausible records goes on. records(), whole(), count(): as in fxt_parse.py.
"""
import os
import re
import struct
import sys

PAYLOAD_MAX = 1024
LOOKAHEAD = 6
ENTRY, EXIT, LOST, EVENT = range(4)


def order_of(files):
    info = files.get("info", b"")
    return ">" if len(info) > 14 and info[14] == 2 else "<"


def record_at(order, data, at):
    """(time, type, more, depth, address) or None."""
    if len(data) - at < 16:
        return None
    time, word = struct.unpack_from(order + "QQ", data, at)
    if (word >> 3) & 7 != 5:
        return None
    return time, word & 3, (word >> 2) & 1, (word >> 6) & 0x3FF, word >> 16


def plausible(order, data, at, time, left, horizon):
    """Whether a chain of records that goes on from `time` starts at `at`; (length of the proof)."""
    if left == 0 or at == len(data):
        return True
    record = record_at(order, data, at)
    if record is None:
        return False
    if record[1] != LOST and not time <= record[0] + 64 <= time + horizon:
        return False
    if record[1] == LOST and record[2]:
        return False
    time = max(time, record[0])
    if not record[2]:
        return plausible(order, data, at + 16, time, left - 1, horizon)
    return any(plausible(order, data, at + 16 + n, time, left - 1, horizon) for n in payloads(order, data, at + 16, record[1]))


def payloads(order, data, at, kind):
    """Lengths that a payload at `at` may have."""
    if kind == EVENT:
        if len(data) - at < 2:
            return []
        (length,) = struct.unpack_from(order + "H", data, at)
        return [(length + 2 + 7) // 8 * 8]
    return range(0, min(PAYLOAD_MAX, len(data) - at) + 1, 8)


def chain(order, data):
    at, out, last = 0, [], 0
    while record := record_at(order, data, at):
        time, kind, more = record[:3]
        end = at + 16
        if kind != LOST:
            last = time
        if more:
            for left in range(LOOKAHEAD, 0, -1):
                found = next((n for n in payloads(order, data, end, kind)
                              if end + n <= len(data) and plausible(order, data, end + n, last, left, 10**13)), None)
                if found is not None:
                    end += found
                    break
            else:
                break
        out.append((at, end))
        at = end
    return out


def records(files):
    order = order_of(files)
    return {name: chain(order, data) for name, data in files.items() if re.fullmatch(r"[0-9]+\.dat", name)}


def whole(files):
    return all(len(files[name]) == (spans[-1][1] if spans else 0) for name, spans in records(files).items())


def count(files):
    return sum(map(len, records(files).values()))


if __name__ == "__main__":
    for path in sys.argv[1:]:
        content = {}
        for entry in os.scandir(path):
            if entry.is_file():
                with open(entry.path, "rb") as f:
                    content[entry.name] = f.read()
        print(path, count(content), "records" if whole(content) else "records, then what is none")
