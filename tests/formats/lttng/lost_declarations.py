#!/usr/bin/env python3
"""What does a hole in the declarations of an LTTng trace cost? 512 bytes of a metadata file are zeroed at several places; each time
repair writes a trace that checks clean, and the independent parser reads events by the declarations in it. An event is right when the
undamaged trace has one of the same bytes in the same file, but for zeros at its end: padding looks like a value that is zero.
--files: instead, the metadata file with the declarations, and then all of them, are deleted, emptied, zeroed and cut.

    lost_declarations.py [--tool PATH] [--places N | --files] [--kept PERCENT] [--wrong PERCENT] TRACE
Exit 1 when fewer than --kept percent of the events outside of the metadata come back, or more than --wrong percent are none of them."""
import argparse
import collections
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
from harness import execute, files_of  # noqa: E402
import lttng_parse  # noqa: E402

HOLE = 512


def events(files):
    """Of each file but the metadata, the bytes of its events and how often they are there."""
    spans = lttng_parse.records(files)
    return {name: collections.Counter(files[name][start:end].rstrip(b"\0") for start, end in found) for name, found in spans.items()
            if not os.path.basename(name).removeprefix("flight-").startswith("metadata_")}


def lose(path, loss, bytes_left):
    """The file is lost, as a whole or from `bytes_left` on."""
    if loss == "deleted":
        os.remove(path)
    elif loss == "zeroed":
        size = os.path.getsize(path)
        os.truncate(path, 0)
        os.truncate(path, size)
    else:
        os.truncate(path, bytes_left)


def losses(names):
    """Of all metadata files, and of the one with the declarations: how they are lost, and what is left of each."""
    for some in names[:1], names:
        for loss in "deleted", "emptied", "zeroed":
            yield f"{', '.join(some)} {loss}", some, loss, 0
        for left in 1000, 4096, 6000:
            yield f"{', '.join(some)} cut to {left} bytes", some, "cut", left
        if len(names) == 1:
            return


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--places", type=int, default=6)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--kept", type=float, default=99.9)
    parser.add_argument("--wrong", type=float, default=0.05)
    parser.add_argument("trace")
    options = parser.parse_args()
    files = files_of(options.trace)
    twin = events(files)
    whole = sum(found.total() for found in twin.values())
    declarations = lttng_parse.walked(files)[0].declarations
    name = next(iter(declarations.values()))[0][0]
    failed = False

    def judge(what, damage):
        nonlocal failed
        with tempfile.TemporaryDirectory(prefix="tracemend-declarations-") as work:
            damaged, mended = os.path.join(work, "damaged"), os.path.join(work, "mended")
            shutil.copytree(options.trace, damaged, copy_function=shutil.copyfile)
            damage(damaged)
            code = execute(options.tool, "repair", damaged, "-o", mended, timeout=300).returncode
            clean = code in (0, 3) and execute(options.tool, "check", "-q", mended, timeout=300).returncode == 0
            found = events(files_of(mended)) if clean else {}
        right = sum((counts & twin[file]).total() for file, counts in found.items())
        wrong = sum((counts - twin[file]).total() for file, counts in found.items())
        bad = not clean or 100 * right < options.kept * whole or 100 * wrong > options.wrong * whole
        failed |= bad
        print(f"{os.path.basename(options.trace)}: {what}: {right} of {whole} events, {wrong} others"
              f"{'' if clean else ', repair fails'}{' FAILED' if bad else ''}", flush=True)

    def zero(path, at, size):
        with open(path, "r+b") as f:
            f.seek(at)
            f.write(bytes(size))

    if options.files:
        names = [name] + [other for other in sorted(files) if other != name
                          and os.path.basename(other).removeprefix("flight-").startswith("metadata_")]
        for what, some, loss, left in losses(names):
            judge(what, lambda top, some=some, loss=loss, left=left: [lose(os.path.join(top, file), loss, left) for file in some])
        return failed
    ends = [end for places in declarations.values() for file, _, end in places if file == name]
    for i in range(options.places):
        at = max(ends) * (2 * i + 1) // (2 * options.places)
        judge(f"{name} zeroed from {at}", lambda top, at=at: zero(os.path.join(top, name), at, min(HOLE, max(ends) - at)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
