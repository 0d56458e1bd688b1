#!/usr/bin/env python3
"""The corpus through the command line: every file does what corpus/<format>/expectations.jsonl says of it.

    corpus.py [--tool PATH] [--root DIR] [--format NAME]      test
    corpus.py --write --labels FILE --format NAME             (scripts/corpus.sh) write the expectations
    corpus.py --agree --labels FILE --format NAME             only whether they are what the generator promised

A line of the expectations: {"file", "rules", "only", "records", "check", "repair", "profile"}
  rules    ids that check must report; no other error may be reported beside them
  only     true: these are all the errors there may be (valid and invalid files; damage may show in more ways)
  records  records that check counts
  check    exit code of check -f FORMAT
  repair   exit code of repair -f FORMAT
  profile  of both, where it is not the default

Beside that, for each file: the report is the same twice; the manifest rebuilds the output; the output checks clean with as
many records as the manifest says; repairing it again changes nothing; a file without errors is left as it is.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import Problem, check, repair_and_verify, require, rules_of  # noqa: E402



def profile_of(line):
    return ["--profile", line["profile"]] if line and line.get("profile") else []


def shows(tool, name, root, expected, *options):
    """The file is reported as expected; the report. Raises Problem."""
    code, report = check(tool, name, os.path.join(root, name, expected["file"]), *profile_of(expected), *options)
    require(code == expected["check"], f"check exits {code}, expected {expected['check']}")
    require(report["records"] == expected["records"], f"{report['records']} records, expected {expected['records']}")
    require(report["format"] == name, f"format {report['format']}")
    found = rules_of(report)
    for rule in expected["rules"]:
        require(rule in found, f"{rule} is not reported")
    if expected["only"]:
        surplus = rules_of(report, "error") - set(expected["rules"])
        require(not surplus, f"also reports {', '.join(sorted(surplus))}")
    return code, report


def expectation_test(tool, name, root, expected):
    path = os.path.join(root, name, expected["file"])
    with tempfile.TemporaryDirectory(prefix="tracemend-corpus-") as work:
        code, report = shows(tool, name, root, expected)
        require((code, report) == check(tool, name, path, *profile_of(expected)), "two checks differ")
        code = repair_and_verify(tool, name, path, report, work, profile_of(expected))
        require(code == expected["repair"], f"repair exits {code}, expected {expected['repair']}")


def load(root, name):
    with open(os.path.join(root, name, "expectations.jsonl"), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def test(options):
    names = [options.format] if options.format else sorted(
        n for n in os.listdir(options.root) if os.path.exists(os.path.join(options.root, n, "expectations.jsonl")))
    failed = passed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name in names:
            lines = load(options.root, name)
            listed = {line["file"] for line in lines}
            present = {os.path.join(kind, f) for kind in ("valid", "invalid", "damaged", "regress")
                       if os.path.isdir(os.path.join(options.root, name, kind))
                       for f in os.listdir(os.path.join(options.root, name, kind))}
            for odd in sorted(listed ^ present):
                print(f"{name}/{odd}: {'is missing' if odd in listed else 'has no expectation'}")
                failed += 1
            jobs = [(line, pool.submit(expectation_test, options.tool, name, options.root, line)) for line in lines
                    if line["file"] in present]
            for line, job in jobs:
                try:
                    job.result()
                    passed += 1
                except (Problem, subprocess.TimeoutExpired, KeyError, OSError) as problem:
                    failed += 1
                    print(f"{name}/{line['file']}: {problem}")
    print(f"corpus: {passed} passed, {failed} failed")
    return 1 if failed else 0


def expectation_make(tool, name, root, file, label):
    """The expectation of one file. What the generator promised (label) is demanded; exit codes of repair and what damage
    shows are recorded, and are for a person to read over in the diff."""
    path = os.path.join(root, name, file)
    kind = file.split("/")[0]
    profile = profile_of(label)
    code, report = check(tool, name, path, *profile)
    require(code in (0, 1), f"check exits {code}")
    if kind == "valid":
        require(code == 0 and not report["errors"], f"valid, but: {sorted(rules_of(report, 'error'))}")
        require(report["records"] == label["records"], f"{report['records']} records, the generator made {label['records']}")
        rules = []
    elif kind == "invalid":
        rules = label["expect"] or [label["rule"]]
        require(rules[0] == label["rule"], f"expects {rules} for {label['rule']}")
        missing = [r for r in rules if r not in rules_of(report)]
        require(not missing, f"does not report {', '.join(missing)}")
        surplus = rules_of(report, "error") - set(rules)
        require(not surplus, f"also reports {', '.join(sorted(surplus))}")
    else:
        rules = sorted(rules_of(report, "error"))
    with tempfile.TemporaryDirectory(prefix="tracemend-corpus-") as work:
        repaired = repair_and_verify(tool, name, path, report, work, profile)
    line = {"file": file, "rules": rules, "only": kind in ("valid", "invalid"), "records": report["records"], "check": code,
            "repair": repaired}
    return {**line, "profile": label["profile"]} if profile else line


def write(options):
    name = options.format
    labels = labels_of(options) if options.labels else {}
    files = []
    for kind in ("valid", "invalid", "damaged", "regress"):
        folder = os.path.join(options.root, name, kind)
        if os.path.isdir(folder):
            files += [f"{kind}/{f}" for f in sorted(os.listdir(folder))]
    failed = 0
    lines = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = [(file, pool.submit(expectation_make, options.tool, name, options.root, file, labels.get(file)))
                for file in files]
        for file, job in jobs:
            try:
                lines.append(job.result())
            except (Problem, subprocess.TimeoutExpired, KeyError, TypeError, OSError) as problem:
                print(f"{name}/{file}: {problem}", file=sys.stderr)
                failed += 1
                if options.keep_going:
                    os.remove(os.path.join(options.root, name, file))
    with open(os.path.join(options.root, name, "expectations.jsonl"), "w", encoding="utf-8") as f:
        for line in lines:
            f.write(json.dumps(line) + "\n")
    print(f"{name}: {len(lines)} files, {failed} without expectation")
    return 1 if failed else 0


def labels_of(options):
    with open(options.labels, encoding="utf-8") as f:
        return {label["corpus_file"]: label for label in map(json.loads, f)}


def agree(options):
    lines = {line["file"]: line for line in load(options.root, options.format)}
    failed = 0
    for file, label in labels_of(options).items():
        kind, line = file.split("/")[0], lines.get(file, {})
        good = line and line.get("profile") == label.get("profile")
        good = good and (kind != "valid" or line["records"] == label["records"] and not line["rules"])
        good = good and (kind != "invalid" or line["rules"] == (label["expect"] or [label["rule"]]))
        failed += not good
        if not good:
            print(f"{options.format}/{file}: expected {line}, and the generator promised {label}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--root", default="corpus")
    parser.add_argument("--format")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--agree", action="store_true")
    parser.add_argument("--labels")
    parser.add_argument("--keep-going", action="store_true", help="with --write: leave out what does not keep its promise")
    options = parser.parse_args()
    if not shutil.which(options.tool):
        sys.exit(f"{options.tool}: not there")
    return write(options) if options.write else agree(options) if options.agree else test(options)


if __name__ == "__main__":
    sys.exit(main())
