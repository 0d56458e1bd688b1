#!/usr/bin/env python3
"""Is what repair says of the loss true? Captures are generated and damaged; their labels tell how many records there were.

"Exactly N records were lost" is wrong when more are gone, "at least N" when fewer are; and exit 0 says that nothing is.
Where check sees no error repair claims nothing, and that is nobody's fault: counted apart.

    claims.py [--tool PATH] [--count N] [--seed N] [--size BYTES] [--format NAME]
The last line is "claims: N passed, N failed"; exit 1 when one failed.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import DAMAGES, execute, formats, generate  # noqa: E402


def judge(claim, exit_code, lost, before):
    """What is wrong with the manifest's account of `before` records; None: nothing."""
    gone = before - claim["kept"] - claim["patched"]
    if exit_code != (3 if lost else 0):
        return f"repair exits {exit_code}, and the manifest says lost: {lost}"
    if claim["dropped_is"] == "exact" and gone > claim["dropped"]:
        return f"{gone} of {before} records are gone, and exactly {claim['dropped']} are called lost"
    if claim["dropped_is"] == "at-least" and gone < claim["dropped"]:
        return f"{gone} of {before} records are gone, and at least {claim['dropped']} are called lost"
    return None


def case(options, name, path, before):
    with tempfile.TemporaryDirectory(prefix="tracemend-claims-") as work:
        manifest_path = os.path.join(work, "manifest")
        result = execute(options.tool, "repair", "-f", name, path, "-o", os.path.join(work, "out"), "--manifest", manifest_path)
        if result.returncode in (4, 6):
            return "refused", None
        if result.returncode not in (0, 3):
            return "failed", f"repair exits {result.returncode}: {result.stderr.decode(errors='replace')[:300]}"
        with open(manifest_path, encoding="utf-8") as f:
            manifest = json.load(f)
    wrong = judge(manifest["records"], result.returncode, manifest["lost"], before)
    if wrong and execute(options.tool, "check", "-q", "-f", name, path).returncode == 0:
        return "invisible", None
    return ("failed", wrong) if wrong else ("passed", None)


def cases(options, name, kind, work):
    made = generate(options.tool, name, os.path.join(work, f"{name}-{kind}"), "--damage", kind, "--seed", str(options.seed),
                    "--count", str(options.count), "--size", str(options.size))
    return [(path, label["records"]) for label, path in made]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=6000)
    parser.add_argument("--format")
    options = parser.parse_args()
    total = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="tracemend-claims-") as work, \
            concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name in [options.format] if options.format else formats(options.tool):
            row = collections.Counter()
            for kind in DAMAGES:
                jobs = [(path, pool.submit(case, options, name, path, before)) for path, before in cases(options, name, kind, work)]
                for path, job in jobs:
                    outcome, why = job.result()
                    row[outcome] += 1
                    if why:
                        print(f"{os.path.basename(path)} ({name}): {why}")
            print(f"{name:9}", " ".join(f"{row[k]:5} {k}" for k in ("passed", "failed", "invisible", "refused")), flush=True)
            total.update(row)
    print(f"claims: {total['passed']} passed, {total['failed']} failed")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
