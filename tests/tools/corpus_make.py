#!/usr/bin/env python3
"""Makes corpus/<format>/{valid,invalid,damaged} with the program's generator, and says what it promised of each file.
scripts/corpus.sh calls it, and writes the expectations with corpus.py.

    corpus_make.py [--tool PATH] --root DIR --labels FILE --format NAME
"""
import argparse
import concurrent.futures
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import DAMAGES, Problem, generate, read, rules  # noqa: E402

VALID_WANTED, VALID_SEEDS, VALID_MAX = 24, 64, 12288  # files, seeds tried, bytes: large ones add nothing
RULE_SEEDS = 5  # the smallest of so many is taken
DAMAGE_SEEDS, DAMAGE_WANTED, DAMAGE_MAX = range(3, 20), 2, 65536  # seeds tried, files, bytes
PROFILES = {"fxt": ["2022"], "lttng": ["literal"]}  # beside the default, for rules that only these have


def made_or_why(tool, name, work, *arguments):
    """[(label, path)] of one run of gen, or None and what it said."""
    try:
        return generate(tool, name, tempfile.mkdtemp(dir=work), *arguments), ""
    except Problem as problem:
        return None, str(problem)


def packed(path):
    """The bytes of a file; of a directory, a plain tar that is the same everywhere."""
    if not os.path.isdir(path):
        return read(path)
    out = io.BytesIO()
    names = []
    for folder, folders, files in os.walk(path):
        names += [os.path.relpath(os.path.join(folder, n), path) for n in files]
        names += [os.path.relpath(os.path.join(folder, n), path) for n in folders]
    # Alone, or below one folder, the names would be taken for those of a file, or of an archive of that folder.
    rooted = len(names) == 1 or len({n.split(os.sep)[0] for n in names}) == 1
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        if rooted:
            root = tarfile.TarInfo("./")
            root.type = tarfile.DIRTYPE
            root.mode = 0o755
            tar.addfile(root)
        for name in sorted(names, key=os.fsencode):
            entry = tar.gettarinfo(os.path.join(path, name), arcname=name)
            entry.mtime = entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if entry.isdir() else 0o644
            if entry.isreg():
                with open(os.path.join(path, name), "rb") as f:
                    tar.addfile(entry, f)
            else:
                tar.addfile(entry)
        end = tar.offset
    # Without the padding to 10 KiB: two blocks of zeros end a tar.
    return out.getvalue()[:end] + bytes(1024)


def suffix(label, path):
    if os.path.isdir(path):
        return ".tar"
    base = label["file"]
    return base[base.index("."):] if "." in base else ""


class Maker:
    def __init__(self, options):
        self.options = options
        self.lines = []
        self.failed = 0

    def keep(self, kind, stem, label, path, data=None, profile=None):
        file = f"{kind}/{stem}{suffix(label, path)}"
        target = os.path.join(self.options.root, self.options.format, file)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as f:
            f.write(packed(path) if data is None else data)
        self.lines.append({**label, "corpus_file": file, **({"profile": profile} if profile else {})})

    def valid(self, work):
        name = self.options.format
        made, said = made_or_why(self.options.tool, name, work, "--count", str(VALID_SEEDS))
        if made is None:
            self.lacks("valid", said)
            return
        seen = set()
        for label, path in made:
            data = packed(path)
            digest = hashlib.sha256(data).digest()
            if digest in seen or len(data) > VALID_MAX * (2 if os.path.isdir(path) else 1) or len(seen) == VALID_WANTED:
                continue
            seen.add(digest)
            self.keep("valid", f"valid-{label['seed']:02}", label, path, data)
        for profile in PROFILES.get(name, []):
            made, said = made_or_why(self.options.tool, name, work, "--profile", profile, "--count", "4")
            if made is None:
                self.lacks(f"valid, profile {profile}", said)
            for label, path in made or []:
                self.keep("valid", f"valid-{profile}-{label['seed']:02}", label, path, profile=profile)

    def lacks(self, what, said):
        print(f"{what}: {said}", file=sys.stderr)
        self.failed += 1

    def rule(self, rule, work):
        name, kebab = rule.split("/")
        said = ""
        for profile in [None, *PROFILES.get(self.options.format, [])]:
            more = ["--profile", profile] if profile else []
            made, why = made_or_why(self.options.tool, self.options.format, work, "--rule", rule, "--count", str(RULE_SEEDS), *more)
            said = said or why
            if made:
                sized = [(len(packed(path)), i) for i, (label, path) in enumerate(made)]
                label, path = made[min(sized)[1]]
                return (f"container-{kebab}" if name == "container" else kebab), label, path, profile
        self.lacks(rule, said)
        return None

    def run(self):
        options = self.options
        for kind in ("valid", "invalid", "damaged"):
            shutil.rmtree(os.path.join(options.root, options.format, kind), ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix="tracemend-corpus-") as work:
            self.valid(work)
            with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
                wanted = [r["id"] for r in rules(options.tool) if r["format"] in (options.format, "container")]
                for made in pool.map(lambda rule: self.rule(rule, work), wanted):
                    if made:
                        stem, label, path, profile = made
                        self.keep("invalid", stem, label, path, profile=profile)
            for damage in DAMAGES:
                kept = 0
                for seed in DAMAGE_SEEDS:
                    made, said = made_or_why(options.tool, options.format, work, "--damage", damage, "--seed", str(seed))
                    if made is None:
                        self.lacks(damage, said)
                    elif len(packed(made[0][1])) <= DAMAGE_MAX:
                        kept += 1
                        self.keep("damaged", f"{damage}-{kept}", *made[0])
                    if kept == DAMAGE_WANTED:
                        break
        with open(options.labels, "w", encoding="utf-8") as f:
            for line in self.lines:
                f.write(json.dumps(line) + "\n")
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--root", default="corpus")
    parser.add_argument("--labels", required=True)
    parser.add_argument("--format", required=True)
    return Maker(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
