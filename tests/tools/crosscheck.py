#!/usr/bin/env python3
"""Record counts of the valid corpus against the independent parsers (tests/formats/<f>/<f>_parse.py), which must also get to the
end of each file. A parser that can tell where it is stuck (stuck()) is held against the whole corpus: both find a capture
whole, or check reports its first error no later than where the parser is stuck. crosscheck.py [--tool PATH] [--format NAME]; the last line is "crosscheck: N passed, N failed"."""
import argparse
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import capture_of, check_all, parser_of  # noqa: E402


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


def valid(tool, name, independent, paths):
    """(path, what differs or None) of captures that both must get through."""
    for path, report in check_all(tool, name, paths).items():
        content = capture_of(path)
        ours, theirs, whole = report["records"], independent.count(content), independent.whole(content)
        yield path, None if ours == theirs and whole else (f"check counts {ours}, the independent parser {theirs}"
                                                           f"{'' if whole else ', and it does not get to the end'}")


def others(tool, name, independent, paths):
    for path, report in check_all(tool, name, [p for p in paths if not p.endswith((".gz", ".zst", ".tar"))]).items():
        yield path, differs(independent, report, capture_of(path))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--root", default="corpus")
    parser.add_argument("--format")
    options = parser.parse_args()
    passed = failed = 0
    for name in [options.format] if options.format else sorted(os.listdir(options.root)):
        independent = parser_of(name)
        if independent is None:
            continue
        paths = {kind: sorted(glob.glob(os.path.join(options.root, name, kind, "*"))) for kind in ("valid", "invalid", "damaged", "regress")}
        results = list(valid(options.tool, name, independent, paths.pop("valid")))
        if hasattr(independent, "stuck"):
            results += others(options.tool, name, independent, sum(paths.values(), []))
        for path, difference in results:
            passed, failed = passed + (difference is None), failed + (difference is not None)
            if difference:
                print(f"{path}: {difference}")
    print(f"crosscheck: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
