#!/usr/bin/env python3
"""The section of fuzz/README.md about what was run, from fuzz/campaigns.tsv.

    fuzz_table.py            prints it
    fuzz_table.py --write    writes it between the marks of fuzz/README.md

A row of the file is a campaign of scripts/fuzz.sh --executions: engine, target, executions, seconds, edges, finds, commit, date.
A row of the section is a target and an engine: the campaigns of the commit that was fuzzed last, and the sums of all commits.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FUZZ = os.path.join(HERE, "..", "..", "fuzz")
COLUMNS = ("engine", "target", "executions", "seconds", "edges", "finds", "commit", "date")
BEGIN, END = "<!-- campaigns: tests/tools/fuzz_table.py -->\n", "<!-- end of campaigns -->\n"


def campaigns():
    """Lists of {column: value}, in the order of the file, by (target, engine)."""
    found = {}
    with open(os.path.join(FUZZ, "campaigns.tsv"), encoding="utf-8") as file:
        for line in file:
            row = dict(zip(COLUMNS, line.rstrip("\n").split("\t"), strict=True))
            row.update({name: int(row[name]) for name in ("executions", "seconds", "edges", "finds")})
            found.setdefault((row["target"], row["engine"]), []).append(row)
    return found


def total(rows, column):
    return sum(row[column] for row in rows)


def section():
    found = campaigns()
    if not found:
        return "No campaign is recorded yet.\n"
    lines = ["| target | engine | executions | a second | edges | finds | commit | date | executions in all | finds in all |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for (target, engine), every in sorted(found.items()):
        last = [row for row in every if row["commit"] == every[-1]["commit"]]
        rate = total(last, "executions") // max(total(last, "seconds"), 1)
        edges = max(row["edges"] for row in last)
        lines.append(f"| {target} | {engine} | {total(last, 'executions'):,} | {rate:,} | {edges:,} | {total(last, 'finds')} "
                     f"| {last[-1]['commit']} | {last[-1]['date']} | {total(every, 'executions'):,} | {total(every, 'finds')} |")
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
