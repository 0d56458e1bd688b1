#!/usr/bin/env python3
"""For every rule of every format: is it emitted by the source, explained, broken by its breaker, in the corpus, tested?
And does switching it off make its test fail?

    rules.py [--tool PATH] [--format NAME]
Prints the rules that lack something, then a line of counts a format. Exit 1 if any does.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import TOP, Problem, read, rules as rules_of_tool, run  # noqa: E402
import corpus  # noqa: E402
from corpus_make import PROFILES  # noqa: E402

TEXTS = ("title", "clause", "explanation", "repair", "class", "severity")


def symbols(name):
    """{kebab name: C symbol} of a format's table."""
    table = "src/core/container_rules.def" if name == "container" else f"src/formats/{name}/{name}_rules.def"
    return {kebab: symbol for symbol, kebab in re.findall(r'\bRULE\(\s*(\w+)\s*,\s*"([^"]+)"', read(table).decode())}


def sources(name):
    """The text of what may emit: not the tables, not the breakers."""
    pattern = "src/core/container*.c" if name == "container" else f"src/formats/{name}/**/*.[ch]"
    text = ""
    for path in sorted(glob.glob(pattern, recursive=True)):
        if re.search(r"_(gen|break)", os.path.basename(path)):
            continue
        text += re.sub(r"/\*.*?\*/|//[^\n]*", "", read(path).decode(), flags=re.S)
    return text


def emitted(text, symbol):
    return re.search(rf"(?:\b|_){re.escape(symbol)}\b", text) is not None


def lacks(options, rule, text, symbol_of, expectations):
    missing = []
    name, kebab = rule["id"].split("/")
    if not emitted(text, symbol_of.get(kebab, "?")):
        missing.append("not emitted")
    if any(not rule.get(key) for key in TEXTS):
        missing.append("an empty text")
    said = run(options.tool, "explain", rule["id"])
    if said.returncode or rule["id"] not in said.stdout.decode():
        missing.append("not explained")
    homes = [options.format] if options.format else options.formats
    for home in homes if name == "container" else [name]:
        with tempfile.TemporaryDirectory(prefix="tracemend-rules-") as work:
            if all(run(options.tool, "gen", "-f", home, "--rule", rule["id"], "-o", work, *profile).returncode
                   for profile in [[], *(["--profile", p] for p in PROFILES.get(home, []))]):
                missing.append(f"no breaker for {home}")
    shown = [(home, line) for home in expectations for line in expectations[home]
             if line["file"].startswith("invalid/") and line["rules"][:1] == [rule["id"]]]
    if not shown:
        missing.append("not in the corpus")
    for home, line in shown[:1]:
        try:
            corpus.shows(options.tool, home, "corpus", line)
        except Problem as problem:
            missing.append(f"its corpus file fails: {problem}")
        try:
            corpus.shows(options.tool, home, "corpus", line, "--ignore", rule["id"])
            missing.append("switched off, and no test fails")
        except Problem:
            pass
    return missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--format")
    options = parser.parse_args()
    os.chdir(TOP)
    rules = rules_of_tool(options.tool)
    names = list(dict.fromkeys(r["format"] for r in rules))
    options.formats = [n for n in names if n != "container"]
    expectations = {n: corpus.load("corpus", n) for n in names if os.path.exists(f"corpus/{n}/expectations.jsonl")}
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name in [options.format] if options.format else names:
            own = [r for r in rules if r["format"] == name]
            text, symbol_of = sources(name), symbols(name)
            jobs = [(r, pool.submit(lacks, options, r, text, symbol_of, expectations)) for r in own]
            complete = 0
            for rule, job in jobs:
                missing = job.result()
                complete += not missing
                if missing:
                    print(f"{rule['id']}: {'; '.join(missing)}")
            if len(symbol_of) != len(own):
                print(f"{name}: {len(symbol_of)} rows and {len(own)} rules")
                bad += 1
            bad += len(own) - complete
            print(f"{name}: {complete} of {len(own)} rules emitted, explained, broken, in the corpus, tested and missed when off")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
