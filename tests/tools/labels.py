#!/usr/bin/env python3
"""Checks the labels.jsonl that tracemend-labels wrote: a line for each file of the folder, with the keys of 'tracemend gen' and those
of mutants; what names say is in them, `expect` is what check says, and with --known enough seeds are known.

    tests/tools/labels.py FOLDER [--known PERCENT]"""
import argparse
import json
import os
import re
import subprocess

KEYS = ["file", "format", "seed", "rule", "expect", "damage", "records", "operators", "source"]


def checked(tool, path):
    found = subprocess.run([tool, "check", "--format", "json", path], capture_output=True, check=False)
    report = json.loads(found.stdout)["inputs"][0]
    return {f["rule"] for f in report["findings"] if f["severity"] in ("error", "warning")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--known", type=int, default=0)
    parser.add_argument("--tool", default="build/tracemend")
    args = parser.parse_args()
    with open(os.path.join(args.folder, "labels.jsonl"), encoding="utf-8") as lines:
        labels = {label["file"]: label for label in map(json.loads, lines)}
    files = {name for name in os.listdir(args.folder)
             if name[0] != "." and name not in ("labels.jsonl", "README.txt") and os.path.isfile(os.path.join(args.folder, name))}
    assert files == set(labels) and files, files ^ set(labels)
    known = 0
    for number, (name, label) in enumerate(sorted(labels.items())):
        assert list(label) == KEYS, label
        said = re.search(r"op:([^,]*)(?:.*,rule:([^,]*))?(?:.*,seed:(\d+))?", name)
        if said:
            assert label["operators"] == said[1].split("+"), label
            assert str(label["seed"]) == (said[3] or "None"), label
        known += label["seed"] is not None
        assert label["rule"] is None or label["rule"].startswith(label["format"] + "/"), label
        if number < 20 and label["format"]:
            assert set(label["expect"]) == checked(args.tool, os.path.join(args.folder, name)), label
    assert known * 100 >= args.known * len(labels), f"{known} of {len(labels)} have a seed"
    print(f"labels: {len(labels)} files, {known} with a seed")


if __name__ == "__main__":
    main()
