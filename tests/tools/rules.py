#!/usr/bin/env python3
"""For every rule of every format: is it emitted by the source, explained, broken by its breaker, in the corpus, tested: by an
outcome that is kept of its corpus file, without which the test of outcomes fails?

    rules.py [--tool PATH] [--format NAME]
Prints the rules that lack something, then a line of counts a format. The last line is "rules: N passed, N failed"; exit 1 if one
failed. knockout.py goes on to each place that reports a rule.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import TOP, execute, read, rules as rules_of_tool  # noqa: E402
import corpus  # noqa: E402
import outcomes  # noqa: E402
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


def breaks(options, rule, home):
    """Whether the generator makes a capture of `home` with that defect."""
    with tempfile.TemporaryDirectory(prefix="tracemend-rules-") as work:
        return any(not execute(options.tool, "gen", "-q", "-f", home, "--rule", rule, "-o", work, *profile).returncode
                   for profile in [[], *(["--profile", p] for p in PROFILES.get(home, []))])


def lacks(options, rule, text, symbol_of, explained, shown):
    """What a rule lacks. shown: {rule: [outcome]} of the corpus files that are named after it."""
    missing = []
    name, kebab = rule["id"].split("/")
    if not emitted(text, symbol_of.get(kebab, "?")):
        missing.append("not emitted")
    if any(not rule.get(key) for key in TEXTS):
        missing.append("an empty text")
    if rule["id"] not in explained:
        missing.append("not explained")
    missing += [f"no breaker for {home}" for home in (options.formats if name == "container" else [name]) if not breaks(options, rule["id"], home)]
    if rule["id"] not in shown:
        missing.append("not in the corpus")
    elif not all(any(finding.split()[0] == rule["id"] for finding in one["findings"]) for one in shown[rule["id"]]):
        missing.append("no outcome of its corpus file has it")
    return missing


def corpus_files(names):
    """{rule: [outcome]}: the captures of corpus/<format>/invalid by the rule that they show, and what is kept of them."""
    shown = collections.defaultdict(list)
    for name in names:
        kept = {one["file"]: one for one in outcomes.kept(f"corpus/{name}")}
        for line in corpus.load("corpus", name):
            if line["file"].startswith("invalid/"):
                shown[line["rules"][0]].append(kept.get(line["file"], {"findings": []}))
    return shown


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--format")
    options = parser.parse_args()
    os.chdir(TOP)
    rules = rules_of_tool(options.tool)
    names = list(dict.fromkeys(r["format"] for r in rules))
    options.formats = [options.format] if options.format else [n for n in names if n != "container"]
    shown = corpus_files(options.formats)
    explained = execute(options.tool, "explain", *(r["id"] for r in rules)).stdout.decode()
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name in [options.format] if options.format else names:
            own = [r for r in rules if r["format"] == name]
            text, symbol_of = sources(name), symbols(name)
            complete = 0
            for rule, missing in zip(own, pool.map(lambda r: lacks(options, r, text, symbol_of, explained, shown), own)):
                complete += not missing
                if missing:
                    print(f"{rule['id']}: {'; '.join(missing)}")
            if len(symbol_of) != len(own):
                print(f"{name}: {len(symbol_of)} rows and {len(own)} rules")
                failed += 1
            passed, failed = passed + complete, failed + len(own) - complete
            print(f"{name}: {complete} of {len(own)} rules emitted, explained, broken, in the corpus, tested")
    print(f"rules: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
