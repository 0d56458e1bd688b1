#!/usr/bin/env python3
"""Record counts of the valid corpus against the independent parsers (tests/formats/<f>/<f>_parse.py), which must also get to the
end of each file. A parser that can tell where it is stuck (stuck()) is held against the whole corpus: both find a capture
whole, or check reports its first error no later than where the parser is stuck. crosscheck.py [--tool PATH]; the last line is "crosscheck: N passed, N failed"."""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import capture_of, check, parser_of  # noqa: E402


def differs(independent, report, content):
    """What the two disagree about, or None."""
    errors = [f for f in report["findings"] if f["severity"] == "error"]
    stuck = independent.stuck(content)
    if stuck:
        start, end = stuck[""]
        if not errors or min(f["offset"] for f in errors) > end:
            return f"the independent parser is stuck between {start} and {end}, and check reports {'no error' if not errors else 'one behind it'}"
    elif {f["rule"] for f in errors} - independent.BEYOND:
        return f"the independent parser finds nothing wrong, and check reports {errors[0]['rule']} at {errors[0]['offset']}"
    elif not errors and independent.count(content) != report["records"]:
        return f"check counts {report['records']}, the independent parser {independent.count(content)}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--root", default="corpus")
    options = parser.parse_args()
    passed = failed = 0
    for name in sorted(os.listdir(options.root)):
        folder = os.path.join(options.root, name, "valid")
        independent = parser_of(name)
        if not os.path.isdir(folder) or independent is None:
            continue
        for file in sorted(os.listdir(folder)):
            path = os.path.join(folder, file)
            content = capture_of(path)
            ours = check(options.tool, name, path)[1]["records"]
            theirs, whole = independent.count(content), independent.whole(content)
            if ours == theirs and whole:
                passed += 1
            else:
                failed += 1
                print(f"{path}: check counts {ours}, the independent parser {theirs}{'' if whole else ', and it does not get to the end'}")
        for folder in ("invalid", "damaged", "regress") if hasattr(independent, "stuck") else ():
            folder = os.path.join(options.root, name, folder)
            for file in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
                path = os.path.join(folder, file)
                if file.endswith((".gz", ".zst", ".tar")):
                    continue
                difference = differs(independent, check(options.tool, name, path)[1], capture_of(path))
                passed, failed = passed + (difference is None), failed + (difference is not None)
                if difference:
                    print(f"{path}: {difference}")
    print(f"crosscheck: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
