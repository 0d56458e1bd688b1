#!/usr/bin/env python3
"""A sample of operator mutants in the scanners and repairers: is each one noticed by the format's corpus?

    mutants.py [--format NAME] [--count N] [--seed N]

Each mutant changes one operator of one line in a copy of one source file, which is compiled and linked into a program of
its own; the corpus test of that format then runs with it. Prints the survivors, then a line of counts a format. Needs a
finished `make`. Exit 0: this measures, it does not judge; some survivors are equivalent programs.
"""
import argparse
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "), (" && ", " || "),
         (" || ", " && "), (" + 1", " + 2"), (" - 1", " - 0"), (" + ", " - "), (" & ", " | "), ("return true;", "return false;"),
         ("return false;", "return true;"), ("if (!", "if ("), (" += ", " -= "), ("continue;", "break;")]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-O1", "-w", "-fPIC", "-fvisibility=hidden", "-pthread"]
LIBRARIES = ["-pthread", "-ljansson", "-larchive", "-lnettle", "-lz", "-lzstd"]


def places(path):
    """[(line number, column, from, to)] of what can be changed; comments, directives and texts are left alone."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    found, comment = [], False
    for number, line in enumerate(lines):
        code = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: "_" * len(m.group()), line)
        if comment or code.lstrip().startswith(("#", "/*", "*", "//")):
            comment = "*/" not in code if comment or "/*" in code else False
            continue
        code = code.split("/*")[0]
        comment = "/*" in line and "*/" not in line
        for old, new in SWAPS:
            found += [(number, m.start(), old, new) for m in re.finditer(re.escape(old), code)]
    return lines, found


def judge(program, name):
    """Whether the corpus notices: how, or None."""
    try:
        result = subprocess.run([sys.executable, os.path.join(HERE, "corpus.py"), "--tool", program, "--format", name],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return "hang"
    return "failed" if result.returncode else None


def mutate(name, path, change, lines, work):
    number, column, old, new = change
    changed = list(lines)
    changed[number] = changed[number][:column] + new + changed[number][column + len(old):]
    source = os.path.join(work, os.path.basename(path))
    with open(source, "w", encoding="utf-8") as f:
        f.write("\n".join(changed))
    mutant, program = os.path.join(work, "mutant.o"), os.path.join(work, "tracemend")
    folder = os.path.dirname(path)
    if subprocess.run(["gcc", *FLAGS, "-Isrc", "-c", source, "-o", mutant], stderr=subprocess.DEVNULL, check=False).returncode:
        return "does not compile"
    own = os.path.join("build", path[:-2] + ".o")
    objects = [o for o in glob.glob("build/src/**/*.o", recursive=True) if o != own]
    subprocess.run(["gcc", *objects, mutant, *LIBRARIES, "-o", program], check=True)
    return judge(program, name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--format")
    parser.add_argument("--count", type=int, default=20, help="mutants a format")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.chdir(os.path.join(HERE, ".."))
    names = [options.format] if options.format else subprocess.run(["scripts/formats.sh"], stdout=subprocess.PIPE,
                                                                   check=True).stdout.decode().split()
    for name in names:
        draw = random.Random(f"{name}-{options.seed}")
        candidates = []
        for path in sorted(glob.glob(f"src/formats/{name}/**/*.c", recursive=True)):
            if not re.search(r"_(gen|break)", os.path.basename(path)):
                lines, found = places(path)
                candidates += [(path, change) for change in found]
        tried = killed = broken = 0
        for path, change in draw.sample(candidates, min(options.count, len(candidates))):
            lines, _ = places(path)
            with tempfile.TemporaryDirectory(prefix="tracemend-mutant-") as work:
                verdict = mutate(name, path, change, lines, work)
            if verdict == "does not compile":
                broken += 1
                continue
            tried += 1
            killed += verdict is not None
            if verdict is None:
                print(f"survives: {path}:{change[0] + 1}: '{change[2].strip()}' to '{change[3].strip()}': {lines[change[0]].strip()[:90]}",
                      flush=True)
        print(f"{name}: {killed} of {tried} mutants noticed by the corpus ({len(candidates)} places; {broken} do not compile)", flush=True)


if __name__ == "__main__":
    main()
