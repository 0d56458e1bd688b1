#!/usr/bin/env python3
"""The section of fuzz/README.md about what was run, from fuzz/campaigns.tsv.

    fuzz_table.py            prints it
    fuzz_table.py --write    writes it between the marks of fuzz/README.md

A row of the file is a campaign of scripts/fuzz.sh --executions: engine, target, executions, seconds, edges, finds, commit, date.
Campaigns of one engine, target and commit are one row of the section.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FUZZ = os.path.join(HERE, "..", "..", "fuzz")
BEGIN, END = "<!-- campaigns: tests/tools/fuzz_table.py -->\n", "<!-- end of campaigns -->\n"


def rows():
    found = {}
    with open(os.path.join(FUZZ, "campaigns.tsv"), encoding="utf-8") as file:
        for line in file:
            engine, target, runs, seconds, edges, finds, commit, date = line.rstrip("\n").split("\t")
            row = found.setdefault((target, engine, commit), [0, 0, 0, 0, date])
            row[0] += int(runs)
            row[1] += int(seconds)
            row[2] = max(row[2], int(edges))
            row[3] += int(finds)
            row[4] = date
    return found


def section():
    if not rows():
        return "No campaign is recorded yet.\n"
    lines = ["| target | engine | executions | a second | edges | finds | commit | date |", "|---|---|---|---|---|---|---|---|"]
    for (target, engine, commit), (runs, seconds, edges, finds, date) in sorted(rows().items()):
        lines.append(f"| {target} | {engine} | {runs:,} | {runs // max(seconds, 1):,} | {edges:,} | {finds} | {commit} | {date} |")
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    if not sys.argv[1:]:
        print(section(), end="")
        return
    path = os.path.join(FUZZ, "README.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    new = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + section() + END, text, flags=re.S)
    if BEGIN not in text:
        sys.exit("fuzz/README.md: no marks")
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)


main()
