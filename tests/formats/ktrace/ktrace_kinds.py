#!/usr/bin/env python3
"""500 generated captures show every kind of chunk that is known, sub-chunks included, and their property lists have content that Python reads.

    ktrace_kinds.py [--tool PROGRAM] [--count N]

The last line is "N passed, M failed": a kind is one test, and so are the lists of a kind.
"""
import argparse
import glob
import os
import plistlib
import struct
import subprocess
import sys
import tempfile
from collections import Counter

import ktrace_parse
import ktrace_write

SUBFILES = (0x800A, 0x800B)
# Numbers of the range that are not a known kind.
UNUSED = {0x8003}
LISTS = {*ktrace_write.LISTS, 0x8C00, 0x8009}


def chunks(data, at, end):
    while end - at >= 16:
        tag, _, _, size = struct.unpack_from("<IHHQ", data, at)
        yield tag, data[at + 16:at + 16 + size]
        if tag in SUBFILES:
            yield from chunks(data, at + 16, at + 16 + size)
        at = ktrace_parse.up(at + 16 + size, 8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    seen, keys, bad = Counter(), Counter(), set()
    with tempfile.TemporaryDirectory(prefix="kinds.") as folder:
        subprocess.run([options.tool, "gen", "-q", "-f", "ktrace", "--count", str(options.count), "-o", folder], check=True)
        for path in glob.glob(os.path.join(folder, "*.ktrace")):
            with open(path, "rb") as f:
                data = f.read()
            if struct.unpack_from("<I", data)[0] not in (ktrace_parse.V3, ktrace_parse.KERNEL):
                continue
            for tag, payload in chunks(data, 56, len(data)):
                seen[tag] += 1
                if tag in LISTS:
                    try:
                        keys[tag] += len(plistlib.loads(payload))
                    except Exception as error:  # plistlib raises what it pleases
                        bad.add(f"0x{tag:x}: {error!r}")
    missing = [f"no chunk 0x{tag:x}" for tag in sorted(ktrace_write.KNOWN - UNUSED) if not seen[tag]]
    empty = [f"0x{tag:x}: lists without content" for tag in sorted(LISTS) if seen[tag] and not keys[tag]]
    for line in (*missing, *empty, *sorted(bad)):
        print(line)
    failed = len(missing) + len(empty) + len(bad)
    print(f"{len(ktrace_write.KNOWN - UNUSED) + len(LISTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
