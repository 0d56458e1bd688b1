#!/usr/bin/env python3
"""What check and repair make of each capture of the corpus, against what is kept in corpus/<format>/outcomes.jsonl.

    outcomes.py [--format NAME] [--tool PATH] [--deep] [--write] [--quiet]

Each finding's rule, severity, place and what it explains; counts, hashes and ranges of the repair; no texts. And of damaged
copies of each capture (sweep.c): sums, a hash, and a hash of the texts (sweep.jsonl). Where only "texts" differs, only words did.
With --deep, of four times as many copies as well (deep.jsonl), which takes some minutes of processor time.
The lines are not promises (expectations.jsonl has those): they show any change of behaviour in a diff, for a person to read over
before --write. A process a core for all captures of a format (build/outcome), a few seconds.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Damaged copies of each capture: as many as take five seconds a format.
DAMAGED = {"fxt": 96, "ktrace": 192, "uftrace": 64, "tracedat": 40, "lttng": 40}
DEEP = 4  # times as many
KINDS = ("valid", "invalid", "damaged", "regress")


def profiles(folder):
    """{file: profile} of the captures that are of a profile which is not the default."""
    with open(os.path.join(folder, "expectations.jsonl"), encoding="utf-8") as f:
        return {line["file"]: line["profile"] for line in map(json.loads, f) if line.get("profile")}


def copies(name, times=1):
    """The arguments for damaged copies."""
    return ["-x", str(DAMAGED.get(name, min(DAMAGED.values())) * times)]


def captures(folder):
    """The captures of a format, in the order of their names."""
    return [f"{kind}/{f}" for kind in KINDS if os.path.isdir(os.path.join(folder, kind)) for f in sorted(os.listdir(os.path.join(folder, kind)))]


def run(tool, name, folder, files, more=(), seconds=300, **process):
    """The outcome of each of the files, as they come, without those behind a crash or `seconds` of work; then the exit code if not 0."""
    of = profiles(folder)
    for profile in sorted({of.get(f, "") for f in files}):
        arguments = ["-f", name, *more] + (["-p", profile] if profile else [])
        some = [f for f in files if of.get(f, "") == profile]
        with subprocess.Popen(["prlimit", f"--cpu={seconds}", os.path.abspath(tool), *arguments, *some], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              **process) as child:
            try:
                for line in child.stdout:
                    if line.endswith(b"\n"):  # else it is cut by a crash
                        yield json.loads(line)
            except GeneratorExit:
                child.kill()  # nobody wants the rest
                raise
        if child.returncode:
            yield child.returncode


def outcomes(tool, name, folder, environment=None, files=None, more=()):
    """[outcome] of the captures of a format, in the order of their names; the exit codes of the tool. A crash ends early."""
    files = captures(folder) if files is None else files
    jobs = min(os.cpu_count(), len(files))
    found, codes = {}, []
    with concurrent.futures.ThreadPoolExecutor(max(jobs, 1)) as pool:
        for some in pool.map(lambda i: list(run(tool, name, folder, files[i::jobs], more, env={**os.environ, **(environment or {})})), range(jobs)):
            codes += [one for one in some if isinstance(one, int)]
            found.update((one["file"], one) for one in some if not isinstance(one, int))
    return [found[f] for f in files if f in found], codes


def sweep(tool, name, folder, environment=None, files=None):
    """The same as outcomes(), of damaged copies."""
    return outcomes(tool, name, folder, environment, files, copies(name))


def deep(tool, name, folder, environment=None, files=None):
    """The same as sweep(), of more copies."""
    return outcomes(tool, name, folder, environment, files, copies(name, DEEP))


def kept(folder, file="outcomes.jsonl"):
    try:
        with open(os.path.join(folder, file), encoding="utf-8") as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def difference(wanted, got, path=""):
    """Where two outcomes differ first, in words."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in dict.fromkeys([*wanted, *got]):
            if wanted.get(key) != got.get(key):
                return difference(wanted.get(key), got.get(key), f"{path}.{key}" if path else key)
    if isinstance(wanted, list) and isinstance(got, list):
        for i in range(max(len(wanted), len(got))):
            a, b = (x[i] if i < len(x) else None for x in (wanted, got))
            if a != b:
                return difference(a, b, f"{path}[{i}]")
    return f"{path}: {got}, kept is {wanted}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--format")
    parser.add_argument("--tool", default="build/outcome")
    parser.add_argument("--root", default="corpus")
    parser.add_argument("--deep", action="store_true", help="more damaged copies as well")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quiet", action="store_true", help="no line a capture that differs")
    options = parser.parse_args()
    os.chdir(os.path.join(HERE, "..", ".."))
    names = [options.format] if options.format else sorted(
        n for n in os.listdir(options.root) if os.path.exists(os.path.join(options.root, n, "expectations.jsonl")))
    passed = failed = 0
    for name in names:
        folder = os.path.join(options.root, name)
        for of, file in ((outcomes, "outcomes.jsonl"), (sweep, "sweep.jsonl"), (deep, "deep.jsonl"))[:3 if options.deep or options.write else 2]:
            now, codes = of(options.tool, name, folder)
            if any(codes):
                print(f"{name}: the tool ended with {codes}")
                failed += 1
            for one in now:
                if one.get("bugs"):  # no input may lead there, so this is never kept
                    print(f"{name}/{one['file']}: an internal check fails for {one['bugs']} of its damaged copies (build/outcome -x names them)")
                    failed += 1
            if options.write:
                with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
                    f.writelines(json.dumps(one, separators=(",", ":")) + "\n" for one in now)
                continue
            old, new = ({one["file"]: one for one in some} for some in (kept(folder, file), now))
            for one in sorted({**old, **new}):
                same = old.get(one) == new.get(one)
                passed += same
                failed += not same
                if not same and not options.quiet:
                    print(f"{name}/{one}: {difference(old.get(one), new.get(one))}"[:400])
    if not options.write:
        print(f"outcomes: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
