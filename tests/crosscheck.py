#!/usr/bin/env python3
"""Record counts of the valid corpus against the independent parsers (tests/<format>_parse.py), which must also get to the
end of each file. crosscheck.py [--tool PATH]; the last line is "crosscheck: N passed, N failed"."""
import argparse
import importlib
import json
import os
import subprocess
import sys
import tarfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)


def load(path):
    if path.endswith(".tar"):
        with tarfile.open(path) as tar:
            return {m.name.removeprefix("./"): tar.extractfile(m).read() for m in tar if m.isreg()}
    with open(path, "rb") as f:
        return {"": f.read()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--root", default="corpus")
    options = parser.parse_args()
    passed = failed = 0
    for name in sorted(os.listdir(options.root)):
        folder = os.path.join(options.root, name, "valid")
        if not os.path.isdir(folder) or not os.path.exists(os.path.join(here, f"{name}_parse.py")):
            continue
        independent = importlib.import_module(f"{name}_parse")
        for file in sorted(os.listdir(folder)):
            path = os.path.join(folder, file)
            content = load(path)
            result = subprocess.run([options.tool, "check", "--format", "json", path], stdout=subprocess.PIPE, check=False)
            ours = json.loads(result.stdout)["inputs"][0]["records"]
            theirs, whole = independent.count(content), independent.whole(content)
            if ours == theirs and whole:
                passed += 1
            else:
                failed += 1
                print(f"{path}: check counts {ours}, the independent parser {theirs}{'' if whole else ', and it does not get to the end'}")
    print(f"crosscheck: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
