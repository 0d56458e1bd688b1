#!/usr/bin/env python3
"""A parser of FXT record boundaries that shares nothing with the program: words, sizes, types, no more.

records(files) -> {name: [(start, end), ...]}   of the chain of records from the start, up to the first that cannot be
whole(files)   -> True when the chain reaches the end of the file
count(files)   -> how many records `check` should count
"""
import struct
import sys

MAGIC = 0x0016547846040010


def order_of(data):
    for order in "<", ">":
        if len(data) >= 8 and struct.unpack_from(order + "Q", data)[0] == MAGIC:
            return order
    return "<"


def chain(data):
    order, at, out = order_of(data), 0, []
    while len(data) - at >= 8:
        (header,) = struct.unpack_from(order + "Q", data, at)
        words = (header >> 4) & (0xFFFFFFFF if header & 15 == 15 else 0xFFF)
        if not words or words * 8 > len(data) - at:
            break
        out.append((at, at + words * 8))
        at += words * 8
    return out


def records(files):
    return {name: chain(data) for name, data in files.items()}


def whole(files):
    return all(len(data) == (spans[-1][1] if spans else 0) for data, spans in ((files[n], s) for n, s in records(files).items()))


def count(files):
    return sum(map(len, records(files).values()))


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, "rb") as f:
            content = {"": f.read()}
        print(path, count(content), "records" if whole(content) else "records, then what is none")
