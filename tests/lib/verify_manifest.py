#!/usr/bin/env python3
"""Rebuilds the output of a repair from its inputs and its manifest, without any code of the project, and holds the
manifest to what it promises: segments cover each output, segments and drops cover each input once, digests are right.
Reads manifest versions 1 and 2; version 2 has runs of equal entries ("repeat") and groups of segments that repeat together.

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


def runs_in(manifest):
    """Whether any entry stands for several."""
    lists = [output["segments"] for output in manifest["outputs"]] + [manifest["dropped"], manifest["doubtful"]]
    return any("repeat" in entry or "group" in entry for entries in lists for entry in entries)


def moved(entry, offset, start):
    """The entry, so much further in the output and in the input."""
    out = dict(entry)
    for key, by in (("offset", offset), ("from", start)):
        if key in out:
            out[key] = natural(out[key], key) + by
    return out


def expanded(entries, size):
    """The entries one by one: what stands for a run or a group is written out. size: of the file that they are about, which bounds
    how many there can be."""
    for entry in entries:
        repeat = entry.get("repeat", {"count": 1})
        count = natural(repeat["count"], "repeat.count")
        require(count > 0 if "repeat" not in entry else count > 1, f"a run of {count}")
        require(count <= max(size, 1), f"a run of {count} in {size} bytes")
        offset, start = natural(repeat.get("offset", 0), "repeat.offset"), natural(repeat.get("from", 0), "repeat.from")
        if "group" in entry:
            require(entry["group"] and "repeat" in entry, "a group that is empty, or does not repeat")
            require(set(entry) == {"group", "repeat"}, f"a group with {sorted(set(entry) - {'group', 'repeat'})}")
            members = list(expanded(entry["group"], size))
        else:
            members = [{key: value for key, value in entry.items() if key != "repeat"}]
        for i in range(count):
            for member in members:
                yield moved(member, i * offset, i * start)


def segments_of(output):
    """The segments of one output, one by one and in the order of the output."""
    return sorted(expanded(output["segments"], output["size"]), key=lambda segment: natural(segment["offset"], "offset"))


def ranges_of(manifest, key):
    """The entries of "dropped" or "doubtful", one by one."""
    for entry in expanded(manifest[key], max(member["size"] for member in manifest["inputs"])):
        require(natural(entry["input"], "input") < len(manifest["inputs"]), f"{key}: no input {entry['input']}")
        yield entry


def rebuild(entry, name, inputs, kept):
    """The bytes of one output. kept: a list an input, of (start, length) that is copied from it."""
    out = bytearray()
    for segment in segments_of(entry):
        length = natural(segment["length"], "length")
        require(segment["offset"] == len(out), f"output {name}: gap or overlap at {segment['offset']}")
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
    return bytes(out)


def read_inputs(manifest):
    inputs = []
    for entry in manifest["inputs"]:
        data = member_bytes(name_of(entry["path"]), name_of(entry["file"]))
        require(len(data) == natural(entry["size"], "size"), f"input {entry['file']}: {len(data)} bytes, not {entry['size']}")
        require(hashlib.sha256(data).hexdigest() == entry["sha256"], f"input {entry['file']}: another sha256")
        inputs.append(data)
    return inputs


def check_records(records):
    for key in ("kept", "patched", "added", "dropped"):
        natural(records[key], f"records.{key}")
    require(records["dropped_is"] in ("exact", "at-least", "unknown"), "records.dropped_is")
    require(records["dropped"] or records["dropped_is"] != "at-least", "at least 0 records were dropped: a guess")


def files_of(path):
    if not os.path.isdir(path):
        with open(path, "rb") as f:
            return {"": f.read()}
    out = {}
    for folder, _, names in os.walk(path):
        for full in (os.path.join(folder, name) for name in names):
            with open(full, "rb") as f:
                out[os.path.relpath(full, path)] = f.read()
    return out


def verify(manifest, output=None):
    """Returns the rebuilt outputs as {name: bytes}. Raises Problem."""
    for key in ("tool", "version", "format", "inputs", "outputs", "dropped", "doubtful", "records"):
        require(key in manifest, f"the manifest has no {key}")
    require(manifest["tool"] == "tracemend", "tool")
    version = manifest.get("manifest_version", 1)
    require(version == (2 if runs_in(manifest) else 1), f"manifest version {version} {'with' if runs_in(manifest) else 'without'} runs")
    inputs = read_inputs(manifest)
    kept = [[] for _ in inputs]
    rebuilt = {}
    for entry in manifest["outputs"]:
        name = name_of(entry["file"])
        require(name not in rebuilt, f"output {name} twice")
        rebuilt[name] = rebuild(entry, name, inputs, kept)
    for entry in ranges_of(manifest, "dropped"):
        start, length = natural(entry["from"], "from"), natural(entry["length"], "length")
        require(start + length <= len(inputs[entry["input"]]) and length, "a dropped range is not a range")
        require(entry.get("rule") and entry.get("why"), "a dropped range without rule or reason")
        kept[entry["input"]].append((start, length))
    for entry in ranges_of(manifest, "doubtful"):
        start, length = natural(entry["from"], "from"), natural(entry["length"], "length")
        require(start + length <= len(inputs[entry["input"]]), "a doubtful range is not a range")
        require(entry.get("why"), "a doubtful range without a reason")
    for number, entry in enumerate(manifest["inputs"]):
        if entry.get("role") != "donor":
            covered(kept[number], len(inputs[number]), f"input {entry['file'] or entry['path']}")
    check_records(manifest["records"])
    if output is not None:
        on_disk = files_of(output)
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
