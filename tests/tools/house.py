#!/usr/bin/env python3
"""Is the tree built as src/README.md says? Exit 1 if not.

    house.py [--build DIR] [--format NAME] [--list circles|arrows|complexity]

Reads the object files of a finished `make` (nm tells which file uses which), the sources, and pmccabe where it is
installed. Says: circles of files that use each other without a comment "circle:" in one of them that says why; arrows
between floors that run upwards; decode rooms that know findings, plans or walks; file names that come twice; format
headers beyond 200 lines; exported names without their module's prefix; functions beyond complexity 30.
"""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FLOORS = {"core": 0, "formats": 1, "engine": 2, "report": 3, "cli": 4}
COMPLEXITY_MAX, HEADER_MAX = 30, 200
# What a decode room may include: bytes, texts, rules and issues, no finding, plan or walk.
DECODE_MAY = re.compile(r"core/(array|bytes|cursor|issue|limits|map|rule|text|fault|place)\.h|formats/\w+/(decode/\w+|\w+)\.h|formats/\w+/\w+_rules\.def|tracemend\.h")


def symbols(build):
    """({file: names it defines}, {file: names it uses}), by object file."""
    defines, uses = {}, {}
    for path in sorted(glob.glob(f"{build}/src/**/*.o", recursive=True)):
        source = os.path.relpath(path, build)[:-2] + ".c"
        if not os.path.exists(source):
            continue
        text = subprocess.run(["nm", path], stdout=subprocess.PIPE, check=True).stdout.decode()
        names = [line.split()[-2:] for line in text.splitlines()]
        defines[source] = {name for kind, name in names if kind in "TDRBCVW"}
        uses[source] = {name for kind, name in names if kind == "U"}
    return defines, uses


def arrows(defines, uses):
    owner = {name: path for path, names in defines.items() for name in names}
    return {path: {owner[name] for name in names if name in owner} - {path} for path, names in uses.items()}


def circles(graph):
    """Tarjan: strongly connected components of more than one file."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in sorted(graph.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = []
            while True:
                w = stack.pop()
                on.discard(w)
                group.append(w)
                if w == v:
                    break
            if len(group) > 1:
                found.append(sorted(group))
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


def explained(group):
    return any("circle:" in open(path, encoding="utf-8").read() for path in group)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--format")
    parser.add_argument("--list", choices=["circles", "arrows", "complexity"])
    options = parser.parse_args()
    sys.setrecursionlimit(10000)
    if os.path.exists(os.path.join(HERE, "..", "..", "Makefile")):
        os.chdir(os.path.join(HERE, "..", ".."))
    bad = []
    mine = (lambda p: f"formats/{options.format}/" in p) if options.format else (lambda p: True)
    defines, uses = symbols(options.build)
    graph = arrows(defines, uses)
    if options.list == "arrows":
        for a in sorted(graph):
            if mine(a):
                print(a, "->", " ".join(sorted(os.path.basename(b) for b in graph[a] if not b.startswith("src/core/"))))
        return 0
    for group in circles(graph):
        if any(mine(p) for p in group) and not explained(group):
            bad.append(f"circle of {len(group)}: " + " ".join(os.path.basename(p) for p in group))
            if options.list == "circles":
                for a in group:
                    for b in sorted(graph[a] & set(group)):
                        names = sorted(uses[a] & defines[b])
                        print(f"  {os.path.basename(a)} -> {os.path.basename(b)}: {' '.join(names)}")
    for a in graph:
        for b in graph[a]:
            floor_a, floor_b = FLOORS[a.split("/")[1]], FLOORS[b.split("/")[1]]
            if mine(a) and floor_b > floor_a:
                bad.append(f"upwards: {a} uses {b}: {' '.join(sorted(uses[a] & defines[b]))}")
            if mine(a) and floor_a == floor_b == 1 and a.split("/")[2] != b.split("/")[2] and a != "src/formats/formats.c":
                bad.append(f"another format: {a} uses {b}")
            if mine(a) and "/decode/" in a and re.search(r"/(scan|salvage|repair|gen|outline)/", b):
                bad.append(f"decode looks up: {a} uses {b}: {' '.join(sorted(uses[a] & defines[b]))}")
    files = [f for f in glob.glob("src/**/*.[ch]", recursive=True)]
    names = collections.Counter(os.path.basename(f) for f in files)
    bad += [f"name comes twice: {n}" for n, k in names.items() if k > 1]
    for f in sorted(files):
        text = open(f, encoding="utf-8").read()
        lines = text.count("\n")
        if not mine(f):
            continue
        if f.startswith("src/formats/") and f.endswith(".h") and lines > HEADER_MAX and "header: a table" not in text:
            bad.append(f"header of {lines} lines: {f}")
        if "/decode/" in f:
            bad += [f"decode includes {i}: {f}" for i in re.findall(r'#include "([^"]+)"', text) if not DECODE_MAY.fullmatch(i)]
            words = sorted(set(re.findall(r"\bstruct (finding|findings|plan|scan|\w+_walk)\b", re.sub(r"/\*.*?\*/", "", text, flags=re.S))))
            bad += [f"decode knows {w}: {f}" for w in words]
    for path, exported in sorted(defines.items()):
        if mine(path) and path.startswith("src/formats/") and path != "src/formats/formats.c":
            prefix = path.split("/")[2] + "_"
            bad += [f"no prefix {prefix}: {name} in {path}" for name in sorted(exported) if not name.startswith(prefix)]
    try:
        said = subprocess.run(["pmccabe", *sorted(f for f in files if f.endswith(".c"))], stdout=subprocess.PIPE, check=True).stdout.decode()
        rows = sorted(((int(r.split("\t")[0]), r.split("\t")[-1], r.split("\t")[5]) for r in said.splitlines()), reverse=True)
        bad += [f"complexity {n}: {name} in {where}" for n, name, where in rows if n > COMPLEXITY_MAX and mine(where)]
        if options.list == "complexity":
            print("\n".join(f"{n} {name} {where}" for n, name, where in rows if n > 20 and mine(where)))
    except FileNotFoundError:
        print("house: pmccabe is not installed; complexity was not looked at")
    print("\n".join(bad))
    print(f"house: {len(bad)} broken rules, {len(files)} files" if bad else f"house: {len(files)} files as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
