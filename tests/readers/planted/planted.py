#!/usr/bin/env python3
"""planted.py [--tool PATH] [LANGUAGE...]: whether `tracemend try` finds each of 20 bugs that are planted in small readers of fxt, as
one group each, and nothing in a reader that refuses where the others have bugs. A language that is not installed is skipped."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import bugs

LANGUAGES = {
    # name: source, compiler and its arguments, command, environment
    "asan": (bugs.c(bugs.ASAN), "gcc", ["-w", "-g", "-O0", "-fsanitize=address"], "reader.c", ["./reader"], {}),
    "ubsan": (bugs.c(bugs.UBSAN), "gcc", ["-w", "-g", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all"], "reader.c", ["./reader"],
              {"UBSAN_OPTIONS": "print_stacktrace=1"}),
    "lsan": (bugs.c(bugs.LSAN), "gcc", ["-w", "-g", "-O0", "-fsanitize=leak"], "reader.c", ["./reader"], {}),
    "msan": (bugs.c(bugs.MSAN), "clang-14", ["-w", "-g", "-O0", "-fsanitize=memory"], "reader.c", ["./reader"], {}),
    "tsan": (bugs.c(bugs.TSAN), "gcc", ["-w", "-g", "-O0", "-fsanitize=thread"], "reader.c", ["./reader"], {}),
    "go": (bugs.go, "go", ["build"], "reader.go", ["./reader"], {"GO111MODULE": "off"}),
    "python": (bugs.python, None, [], "reader.py", ["python3", "reader.py"], {}),
    "node": (bugs.node, None, [], "reader.js", ["node", "reader.js"], {}),
    "rust": (bugs.rust, "rustc", ["-g", "-C", "debug-assertions", "--edition", "2021"], "reader.rs", ["./reader"], {"RUST_BACKTRACE": "1"}),
}


def tried(tool, folder, language, sound):
    """The report of try on a reader that is made in the folder."""
    source, compiler, options, name, command, settings = LANGUAGES[language]
    with open(os.path.join(folder, name), "w", encoding="ascii") as f:
        f.write(source(sound))
    environment = {k: v for k, v in os.environ.items() if k not in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "RUST_BACKTRACE")} | settings
    if compiler:
        subprocess.run([compiler, *options, "-o", "reader", name], cwd=folder, check=True, env=environment)
    run = subprocess.run([tool, "try", "-q", "-f", "fxt", "--memory", "0", "--ignore", "big-endian-trace", "--format", "json", "--outcomes",
                          "signal,crash,memory,hang,rejected", "--", *command, "{}"], cwd=folder, env=environment, stdout=subprocess.PIPE,
                         check=False)
    if run.returncode not in (0, 1):
        sys.exit(f"{language}: try ends with exit {run.returncode}")
    return json.loads(run.stdout)


def judged(language, report):
    """What is wrong with a report on a reader with bugs."""
    groups = report["groups"]
    sites = [" ".join(g["site"]) for g in groups]
    wrong = [f"{language}: bug {name} is not found" for name, _ in bugs.BUGS if not any(f"bug_{name}" in s for s in sites)]
    wrong += [f"{language}: a group that is no bug: {g['outcome']} {g['site']} {g['message']}" for g in groups
              if g["outcome"] == "rejected" or not any("bug_" in s for s in g["site"])]
    if not len(bugs.BUGS) - 1 <= len(groups) <= len(bugs.BUGS) + 1:
        wrong.append(f"{language}: {len(groups)} groups for {len(bugs.BUGS)} bugs: {sites}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("languages", nargs="*", default=list(LANGUAGES))
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    passed = failed = skipped = 0
    for language in options.languages:
        compiler, command = LANGUAGES[language][1], LANGUAGES[language][4]
        if not shutil.which(compiler or command[0]):
            print(f"planted: {language} is skipped: {compiler or command[0]} is not installed")
            skipped += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            report = tried(tool, folder, language, False)
            wrong = judged(language, report)
            sound = tried(tool, folder, language, True)
            wrong += [f"{language}: a finding in a sound reader: {g['outcome']} {g['message']} {g['first']}" for g in sound["groups"]]
            print(f"planted: {language}: {len(report['groups'])} groups for {len(bugs.BUGS)} bugs; {len(sound['groups'])} in the sound reader")
        for line in wrong:
            print(line)
        passed += not wrong
        failed += bool(wrong)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
