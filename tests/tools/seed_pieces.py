#!/usr/bin/env python3
"""Pieces of real captures as seeds for the fuzz targets of a format.

    seed_pieces.py SAMPLES FORMAT INTO

SAMPLES is a folder of real captures, laid out as its README.md describes. A file comes whole if it is small, else as its
beginning in three lengths, and as its first pages with a piece from behind. A directory becomes a tar of its files, each cut
to four lengths. No seed is larger than 64 KB.
"""
import io
import os
import sys
import tarfile

LARGEST = 64 << 10
LENGTHS = (2 << 10, 8 << 10, 40 << 10)
HEAD, PIECE, PLACES = 8 << 10, 16 << 10, 3


def pieces(data):
    """(name, bytes) of the seeds that a file gives."""
    if len(data) <= LARGEST:
        yield "whole", data
    for length in LENGTHS:
        if length < len(data):
            yield f"first-{length}", data[:length]
    for i in range(PLACES if len(data) > HEAD + PIECE else 0):
        at = HEAD + (len(data) - HEAD - PIECE) * i // PLACES & ~7
        yield f"piece-{at}", data[:HEAD] + data[at:at + PIECE]


def tar(files, length):
    """The plain tar of {name: bytes}, each cut to `length` bytes; None: it is too large."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size = min(len(data), length)
            archive.addfile(info, io.BytesIO(data[:length]))
    return out.getvalue() if len(out.getvalue()) <= LARGEST else None


def directories(samples, form):
    """(name, {file: bytes}) of the captures that are directories."""
    folder = os.path.join(samples, form)
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            files = {}
            for root, _, names in os.walk(path):
                for one in names:
                    full = os.path.join(root, one)
                    if os.path.isfile(full) and not os.path.islink(full):
                        with open(full, "rb") as file:
                            files[os.path.relpath(full, path)] = file.read()
            yield name, files
        elif name.endswith(".tar.gz"):
            with tarfile.open(path) as archive:
                files = {m.name: archive.extractfile(m).read(LARGEST) for m in archive.getmembers() if m.isfile()}
            top = os.path.commonpath(list(files)) if files else ""
            yield name, {os.path.relpath(n, top): data for n, data in files.items()}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    samples, form, into = sys.argv[1:]
    folder = os.path.join(samples, form)
    seeds = {}
    if not os.path.isdir(folder):
        return
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and not name.endswith(".tar.gz"):
            with open(path, "rb") as file:
                for what, data in pieces(file.read()):
                    seeds[f"real-{name}-{what}"] = data
    for name, files in directories(samples, form):
        for length in (512,) + LENGTHS:
            seeds[f"real-{name}-{length}.tar"] = tar(files, length)
    for name, data in seeds.items():
        if data:
            with open(os.path.join(into, name), "wb") as file:
                file.write(data)


main()
