#!/usr/bin/env python3
"""The salvage score: how much of what damage left whole does repair bring back, and does it pass off anything that is not
what it was?

For each format whose independent parser (tests/formats/<f>/<f>_parse.py) knows where records are, seed and kind of damage: the undamaged twin tells
where its records are; a record is salvageable when its bytes survive in the damaged capture. It is salvaged when the
manifest keeps them, in one piece. A record of the output that is no record of the twin, byte for byte, and was not
written by a rule is altered, unless the manifest lists it as doubtful; where the damage cannot be seen (check reports no
error) that is nobody's fault and counted apart.

    salvage.py [--tool PATH] [--seeds N] [--first N] [--format NAME] [--floor PERCENT] [--verbose]
Exit 1 when a record was altered visibly, or less than --floor percent were salvaged in any row.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import DAMAGES, execute, files_of, formats, generate, parser_of, verify  # noqa: E402
from spans import doubtful_spans, kept_runs, literal_spans, within  # noqa: E402


def prefix(a, b):
    n = min(len(a), len(b))
    if a[:n] == b[:n]:
        return n
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def survivors(twin, damaged, spans):
    """Where each record of the twin is in the damaged file, for those whose bytes are all there."""
    if len(twin) == len(damaged):
        return {span: span[0] for span in spans if twin[span[0]:span[1]] == damaged[span[0]:span[1]]}
    head = prefix(twin, damaged)
    tail = prefix(twin[::-1], damaged[::-1])
    tail = min(tail, min(len(twin), len(damaged)) - head)
    shift = len(damaged) - len(twin)
    out = {}
    for start, end in spans:
        if end <= head:
            out[(start, end)] = start
        elif start >= len(twin) - tail:
            out[(start, end)] = start + shift
    return out


def score(options, name, kind, seed):
    parser = parser_of(name)
    row = collections.Counter(captures=1)
    with tempfile.TemporaryDirectory(prefix="tracemend-salvage-") as work:
        common = ["--seed", str(seed), *(["--size", str(options.size)] if options.size else [])]
        [(_, twin_path)] = generate(options.tool, name, os.path.join(work, "twin"), *common)
        [(_, damaged_path)] = generate(options.tool, name, os.path.join(work, "damaged"), *common, "--damage", kind)
        twin, damaged = files_of(twin_path), files_of(damaged_path)
        spans = parser.records(twin)
        if not parser.whole(twin):
            raise RuntimeError(f"{name} seed {seed}: the independent parser does not get through the undamaged twin")
        checked = execute(options.tool, "check", "-f", name, "--format", "json", damaged_path)
        visible = checked.returncode == 1
        out, manifest_path = os.path.join(work, "out"), os.path.join(work, "manifest")
        result = execute(options.tool, "repair", "-f", name, damaged_path, "-o", out, "--manifest", manifest_path)
        alive = {file: survivors(twin[file], damaged.get(file, b""), spans[file]) for file in spans}
        row["salvageable"] += sum(map(len, alive.values()))
        row["records"] += sum(map(len, spans.values()))
        if result.returncode not in (0, 3):
            row["refused"] += 1
            return row
        with open(manifest_path, encoding="utf-8") as f:
            manifest = json.load(f)
        verify(manifest, out)
        for file, where in alive.items():
            runs = kept_runs(manifest, file)
            for (start, end), at in where.items():
                if within(runs, at, at + end - start):
                    row["salvaged"] += 1
                elif options.verbose:
                    print(f"{name} {kind} seed {seed}: lost {file}[{start}:{end}] at {at} of the damaged file", file=sys.stderr)
        original = collections.Counter(twin[file][s:e] for file in spans for s, e in spans[file])
        repaired = files_of(out)
        for file, places in parser.records(repaired).items():
            literals, doubts = literal_spans(manifest, file), doubtful_spans(manifest, file)
            for start, end in places:
                row["emitted"] += 1
                if repaired[file][start:end] in original:
                    continue
                if any(low < end and start < high for low, high in literals):
                    row["patched"] += 1
                elif any(low < end and start < high for low, high in doubts):
                    row["doubtful"] += 1
                elif visible:
                    row["altered"] += 1
                    if options.verbose:
                        print(f"{name} {kind} seed {seed}: altered {file}[{start}:{end}] of the output", file=sys.stderr)
                else:
                    row["invisible"] += 1
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--format")
    parser.add_argument("--floor", type=float, default=0)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    names = [options.format] if options.format else [n for n in formats(options.tool) if hasattr(parser_of(n), "records")]
    bad = 0
    head = ("format", "damage", "captures", "salvageable", "salvaged", "%", "emitted", "patched", "doubtful", "altered", "invisible", "refused")
    print("{:9} {:10} {:>8} {:>11} {:>8} {:>7} {:>8} {:>7} {:>8} {:>7} {:>9} {:>7}".format(*head))
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name in names:
            for kind in DAMAGES:
                total = collections.Counter()
                jobs = [pool.submit(score, options, name, kind, options.first + i) for i in range(options.seeds)]
                for job in jobs:
                    try:
                        total.update(job.result())
                    except Exception as error:  # noqa: BLE001: each is a line of the table's account
                        print(f"{name} {kind}: {error}", file=sys.stderr)
                        bad += 1
                share = 100 * total["salvaged"] / total["salvageable"] if total["salvageable"] else 100.0
                bad += total["altered"] > 0 or share < options.floor
                print(f"{name:9} {kind:10} {total['captures']:8} {total['salvageable']:11} {total['salvaged']:8} {share:7.2f} "
                      f"{total['emitted']:8} {total['patched']:7} {total['doubtful']:8} {total['altered']:7} {total['invisible']:9} {total['refused']:7}",
                      flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
