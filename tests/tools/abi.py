#!/usr/bin/env python3
"""The binary interface of the library: is it what scripts/packaging/abi.txt records? Exit 1 if not.

    abi.py [--library PATH] [--strict] [--write | --anew]

Looks at the functions that the shared library exports, with their version, and at the sizes of the structures of tracemend.h and
the offsets of their members, as the compiler lays them out (x86-64 and other LP64 machines). Within one soname only additions are
allowed: a new function; a new member behind all others of a structure that may grow. --write records additions, and refuses
anything else; --anew records everything, before the first release of a soname. --strict, for a release: all is recorded.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
RECORD = os.path.join(TOP, "scripts", "packaging", "abi.txt")
HEADER = os.path.join(TOP, "src", "tracemend.h")
FROZEN = {"tracemend_error", "tracemend_file", "tracemend_segment", "tracemend_advice", "tracemend_range"}


def exported(library):
    said = subprocess.run(["objdump", "-T", library], stdout=subprocess.PIPE, check=True).stdout.decode()
    rows = re.findall(r"\bDF \.text\t\S+\s+\(?(\S+?)\)?\s+(\w+)$", said, re.M)
    return {f"function {name} {version}" for version, name in rows}


def structures(text):
    """[(structure, [members])] of the header, without comments."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = []
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
        members = []
        for line in body.split(";"):
            line = line.strip()
            pointer = re.match(r".*\(\*(\w+)\)\(", line, re.S)
            if pointer:
                members.append(pointer.group(1))
            elif line:
                for part in line.split(","):
                    members.append(re.search(r"(\w+)(\[[^\]]*\])?$", part.strip()).group(1))
        found.append((name, members))
    return found


def layout(text):
    lines = []
    for name, members in structures(text):
        lines.append(f'printf("struct {name} size %zu\\n", sizeof(struct {name}));')
        lines += [f'printf("struct {name} member {m} at %zu of %zu\\n", offsetof(struct {name}, {m}), sizeof(((struct {name} *)0)->{m}));'
                  for m in members]
    for name, body in re.findall(r"^enum (\w+) \{(.*?)\};", re.sub(r"/\*.*?\*/", "", text, flags=re.S), re.M | re.S):
        lines += [f'printf("enum {name} {value} %d\\n", (int){value});' for value in re.findall(r"\b(TM_\w+)", body)
                  if value != "TM_DAMAGE_COUNT"]
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w", encoding="utf-8") as f:
            f.write('#include <stdio.h>\n#include "tracemend.h"\nint main(void)\n{\n' + "\n".join(lines) + "\nreturn 0;\n}\n")
        subprocess.run([os.environ.get("CC", "cc"), "-I", os.path.dirname(HEADER), source, "-o", program], check=True)
        return set(subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines())


def may_go(line):
    """The size of a structure that may grow."""
    grows = re.fullmatch(r"struct (\w+) size \d+", line)
    return bool(grows) and grows.group(1) not in FROZEN


def may_come(line, recorded):
    """A function; a member behind all that are recorded; a new structure or value."""
    member = re.fullmatch(r"struct (\w+) member \w+ at (\d+) of \d+", line)
    if not member:
        return True
    known = [re.fullmatch(rf"struct {member.group(1)} member \w+ at (\d+) of \d+", old) for old in recorded]
    last = max((int(k.group(1)) for k in known if k), default=-1)
    return int(member.group(2)) > last and (last < 0 or member.group(1) not in FROZEN)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", default=os.path.join(TOP, "build", "libtracemend.so"))
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--anew", action="store_true")
    options = parser.parse_args()
    with open(HEADER, encoding="utf-8") as f:
        text = f.read()
    now = exported(options.library) | layout(text)
    bad = []
    declared = set(re.findall(r"\b(tracemend_\w+)\(", re.sub(r"/\*.*?\*/", "", " ".join(re.findall(r"TRACEMEND_API[^;]*;", text)), flags=re.S)))
    declared -= {name for name in declared if f"(*{name})" in text}
    functions = {line.split()[1] for line in now if line.startswith("function ")}
    for what, names in (("declared, but not exported", declared - functions), ("exported, but not declared", functions - declared)):
        bad += [f"{what}: {name}" for name in sorted(names)]
    recorded = set()
    if os.path.exists(RECORD):
        with open(RECORD, encoding="utf-8") as f:
            recorded = {line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")}
    broken = [f"gone or changed: {line}" for line in sorted(recorded - now) if not may_go(line)]
    broken += [f"not at the end: {line}" for line in sorted(now - recorded) if options.strict and not may_come(line, recorded)]
    if options.anew:
        broken = []
    news = sorted(now - recorded)
    if (options.write or options.anew) and not bad + broken:
        with open(RECORD, "w", encoding="utf-8") as f:
            f.write("# The binary interface of libtracemend.so.0: tests/tools/abi.py. Lines are only added, and the sizes of structures grow.\n")
            f.write("\n".join(sorted(now)) + "\n")
        news = []
    elif options.strict:
        broken += [f"not recorded: {line}" for line in news]
    print("\n".join(bad + broken) or f"abi: {len(functions)} functions, {len(now)} lines, {len(news)} of them not recorded yet (--write)")
    return 1 if bad or broken else 0


if __name__ == "__main__":
    sys.exit(main())
