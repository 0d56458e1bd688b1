#!/usr/bin/env python3
"""Rebuilds the output of a repair from its inputs and its manifest, without any code of the project, and holds the
manifest to what it promises: segments cover each output, segments and drops cover each input once, digests are right.

    verify_manifest.py MANIFEST [OUTPUT]
"""
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile


class Problem(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Problem(text)


def unpacked(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        # What a cut file still gives counts, too.
        out = bytearray()
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as g:
            try:
                while piece := g.read1(65536):
                    out += piece
            except (EOFError, OSError):
                pass
        return bytes(out)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=False).stdout
    return data


def member_bytes(path, name, cache={}):
    """The bytes of an input as the manifest names it: a file, a file of a directory, or a member of an archive."""
    if os.path.isdir(path):
        full = os.path.join(path, name)
        if os.path.islink(full) or not os.path.isfile(full):
            return b""  # a link, an empty folder: listed, without bytes
        with open(full, "rb") as f:
            return f.read()
    key = (path, os.stat(path).st_mtime_ns, os.stat(path).st_size)
    if key not in cache:
        cache.clear()
        data = unpacked(path)
        members = {}
        if data[257:262] == b"ustar":
            try:
                with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                    for member in tar:
                        members[member.name.removeprefix("./")] = tar.extractfile(member).read() if member.isreg() else b""
            except tarfile.TarError:
                pass
        else:
            members[""] = data
        cache[key] = members
    members = cache[key]
    if name in members:
        return members[name]
    for other, data in members.items():
        if other.endswith("/" + name):
            return data
    if "" in members and name == os.path.basename(path):
        return members[""]
    raise Problem(f"input {path} has no member {name!r}")


def name_of(shown):
    """A name as the file system has it: \\xNN stands for a byte, a backslash is \\x5c."""
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), shown.encode())
    return os.fsdecode(raw)


def natural(value, what):
    require(isinstance(value, int) and not isinstance(value, bool) and value >= 0, f"{what} is {value!r}, not a count")
    return value


def covered(ranges, size, what):
    at = 0
    for start, length in sorted(ranges):
        require(start >= at, f"{what}: bytes at {start} are accounted for twice")
        require(start == at, f"{what}: bytes at {at} are not accounted for")
        at = start + length
    require(at == size, f"{what}: bytes at {at} of {size} are not accounted for")


def verify(manifest, output=None):
    """Returns the rebuilt outputs as {name: bytes}. Raises Problem."""
    for key in ("tool", "version", "format", "inputs", "outputs", "dropped", "doubtful", "records"):
        require(key in manifest, f"the manifest has no {key}")
    require(manifest["tool"] == "tracemend", "tool")
    inputs = []
    kept = []
    for entry in manifest["inputs"]:
        data = member_bytes(name_of(entry["path"]), name_of(entry["file"]))
        require(len(data) == natural(entry["size"], "size"), f"input {entry['file']}: {len(data)} bytes, not {entry['size']}")
        require(hashlib.sha256(data).hexdigest() == entry["sha256"], f"input {entry['file']}: another sha256")
        inputs.append(data)
        kept.append([])
    rebuilt = {}
    for entry in manifest["outputs"]:
        out = bytearray()
        name = name_of(entry["file"])
        for segment in entry["segments"]:
            length = natural(segment["length"], "length")
            require(natural(segment["offset"], "offset") == len(out), f"output {name}: gap or overlap at {segment['offset']}")
            require(length > 0, f"output {name}: empty segment")
            if "bytes" in segment:
                piece = bytes.fromhex(segment["bytes"])
                require(len(piece) == length, f"output {name}: literal of {len(piece)} bytes called {length}")
                require(segment.get("rule") and segment.get("why"), f"output {name}: literal without rule or reason")
            else:
                number, start = natural(segment["input"], "input"), natural(segment["from"], "from")
                require(number < len(inputs), f"output {name}: no input {number}")
                piece = inputs[number][start:start + length]
                require(len(piece) == length, f"output {name}: copy past the end of input {number}")
                if segment.get("rule") or segment.get("why"):
                    require(segment.get("why"), f"output {name}: second copy without a reason")
                else:
                    kept[number].append((start, length))
            out += piece
        require(len(out) == entry["size"], f"output {name}: {len(out)} bytes, not {entry['size']}")
        require(hashlib.sha256(out).hexdigest() == entry["sha256"], f"output {name}: another sha256")
        require(name not in rebuilt, f"output {name} twice")
        rebuilt[name] = bytes(out)
    for entry in manifest["dropped"]:
        number, start, length = (natural(entry[k], k) for k in ("input", "from", "length"))
        require(number < len(inputs) and start + length <= len(inputs[number]) and length, "a dropped range is no range")
        require(entry.get("rule") and entry.get("why"), "a dropped range without rule or reason")
        kept[number].append((start, length))
    for entry in manifest["doubtful"]:
        number, start, length = (natural(entry[k], k) for k in ("input", "from", "length"))
        require(number < len(inputs) and start + length <= len(inputs[number]), "a doubtful range is no range")
        require(entry.get("why"), "a doubtful range without a reason")
    for number, entry in enumerate(manifest["inputs"]):
        if entry.get("role") != "donor":
            covered(kept[number], len(inputs[number]), f"input {entry['file'] or entry['path']}")
    records = manifest["records"]
    for key in ("kept", "patched", "added", "dropped"):
        natural(records[key], f"records.{key}")
    require(records["dropped_is"] in ("exact", "at-least", "unknown"), "records.dropped_is")
    if output is not None:
        on_disk = {}
        if os.path.isdir(output):
            for folder, _, names in os.walk(output):
                for name in names:
                    path = os.path.join(folder, name)
                    with open(path, "rb") as f:
                        on_disk[os.path.relpath(path, output)] = f.read()
        else:
            with open(output, "rb") as f:
                on_disk[""] = f.read()
        require(sorted(on_disk) == sorted(rebuilt), f"{output} holds {sorted(on_disk)}, the manifest {sorted(rebuilt)}")
        for name, data in rebuilt.items():
            require(on_disk[name] == data, f"{output} {name}: not what the manifest rebuilds")
    return rebuilt


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        manifest = json.load(f)
    try:
        rebuilt = verify(manifest, *sys.argv[2:])
    except Problem as problem:
        sys.exit(f"{sys.argv[1]}: {problem}")
    print(f"{sys.argv[1]}: {len(rebuilt)} outputs rebuilt, {sum(map(len, rebuilt.values()))} bytes")


if __name__ == "__main__":
    main()
