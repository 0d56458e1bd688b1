#!/usr/bin/env python3
"""What the program documents about itself, and no test ran: options and exit codes.

    ran.py [--tool PATH] LOG

LOG has a line for each run of the program by tests/cli: the exit code, the command and the arguments, with tabs between them
(helper.bash writes it, if RAN names it). "skip" in place of the code, then a code and a command: the test that shows it could not
run on this machine, and said so. What there is to run is read from `--help` of each command: the options, and the codes
below "Exit status". The last line is "N passed, N failed".
"""
import argparse
import re
import subprocess
import sys

# How a program ends, and not a command: one run of any command is enough.
COMMON = {70, 130, 141, 143}


def printed(tool, *arguments):
    return subprocess.run([tool, *arguments], stdout=subprocess.PIPE, check=True).stdout.decode()


def documented(tool):
    """[(command, what)] where what is "--option", "-o", or a code as a number."""
    found = []
    for command in printed(tool, "--generate", "commands").split():
        text = printed(tool, command, "--help")
        for letter, name in re.findall(r"^  (?:-(\w),|   ) --([a-z-]+)", text, re.M):
            found += [(command, "--" + name)] + ([(command, "-" + letter)] if letter else [])
        status = re.search(r"^Exit status:.*\n((?:  .*\n)+)", text, re.M)
        codes = set()
        for line in status.group(1).splitlines() if status else []:
            codes |= {int(code) for code in re.findall(r"^  (\d+) |\b(14[13])\b", line) for code in code if code}
        found += [("" if code in COMMON else command, code) for code in sorted(codes)]
    return list(dict.fromkeys(found))


def options_of(arguments, takes):
    """The options of a command line as they were given: "--name" or "-n". takes: letters with an argument."""
    for argument in arguments:
        if argument == "--":
            return
        if re.fullmatch(r"--[a-z][a-z-]*(=.*)?", argument, re.S):
            yield argument.split("=")[0]
        elif re.fullmatch(r"-[a-zA-Z].*", argument, re.S):
            for letter in argument[1:]:
                yield "-" + letter
                if letter in takes:
                    break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("log")
    options = parser.parse_args()
    ran, skipped = set(), set()
    with open(options.log, encoding="utf-8", errors="surrogateescape", newline="\n") as log:
        for line in log:
            code, *words = line.rstrip("\n").split("\t")
            if code == "skip" and words:
                skipped.add((words[1] if len(words) > 1 else "", int(words[0])))
            if not code.isdigit():
                continue
            command = next((word for word in words if not word.startswith("-")), "")
            ran |= {(command, int(code)), ("", int(code))}
            # A refused command line shows nothing about the options that it has; that --help exits with 0 does.
            if int(code) != 2:
                ran |= {(command, option) for option in options_of(words, "foj")}
    wanted = documented(options.tool)
    missing = [what for what in wanted if what not in ran and what not in skipped]
    for command, what in missing:
        print(f"no test runs it: {command or 'any command'} " + (f"with exit code {what}" if isinstance(what, int) else what))
    print(f"{len(wanted) - len(missing)} passed, {len(missing)} failed")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
