#!/usr/bin/env python3
"""Crashes and hangs of trace-cmd and uftrace that `tracemend try` finds, as groups by the place in the reader, and whether each of them
can be relied on: its sample is replayed under gdb (a hang: with a time limit), and reduced once more for a third of the time.

    readers-groups.py [-o DIR] [--tool PATH] [--count N] [--damaged N] [--tries N] [--timeout SECONDS] [--jobs N] [--reduce N] [--command NAME] [--write]

Folders of groups go below DIR (default build/groups), two for each command: --count N captures of each rule (default 2), and --damaged N
damaged ones (default 200). --reduce N: of the first N samples that crash, the capture that
was tried first is reduced for up to 30 s, and again with a SIGINT after a third of that time. --write puts the table into
fuzz/READERS.md, in front of "## All". The last line is "N passed, N failed"."""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
COMMANDS = {
    "trace-cmd report": ("tracedat", ["trace-cmd", "report", "{}"]),
    "trace-cmd dump": ("tracedat", ["trace-cmd", "dump", "-v", "{}"]),
    "uftrace replay": ("uftrace", ["uftrace", "replay", "--no-pager", "-d", "{}"]),
    "uftrace report": ("uftrace", ["uftrace", "report", "--no-pager", "-d", "{}"]),
    "uftrace dump": ("uftrace", ["uftrace", "dump", "--no-pager", "-d", "{}"]),
    "uftrace graph": ("uftrace", ["uftrace", "graph", "--no-pager", "-d", "{}"]),
    "uftrace info": ("uftrace", ["uftrace", "info", "--no-pager", "-d", "{}"]),
}
DAMAGES = ("truncate", "hole", "zero-tail", "bitflip", "duplicate", "insert", "delete")
BEGIN, END = "## Groups\n", "## All\n"


def find(name, options):
    """The groups of one command, with their folders: of captures of each rule, and of damaged ones."""
    kind, argv = COMMANDS[name]
    damages = [f"--damage={d}" for d in DAMAGES] + ["--count", str(options.damaged), "--seed", "1000"]
    groups = {}
    for what, captures in (("rules", ["--count", str(options.count)]), ("damaged", damages if options.damaged else None)):
        folder = os.path.join(options.output, f"{name.replace(' ', '-')}-{what}")
        shutil.rmtree(folder, ignore_errors=True)
        if not captures:
            continue
        done = subprocess.run([options.tool, "try", "-q", "-f", kind, "--host", "-j", str(options.jobs), *captures, "--tries",
                               str(options.tries), "--timeout", str(options.timeout), "--outcomes", "signal,hang,memory", "--format=json",
                               "-o", folder, "--", *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode > 1:
            print(f"{name}: exit {done.returncode}: {done.stderr.decode()[-300:]}")
            continue
        for g in json.loads(done.stdout)["groups"]:
            g["command"], g["folder"] = name, os.path.join(folder, g["id"])
            groups.setdefault(g["id"], g)
    return list(groups.values())


def replay(group, options):
    """How the sample ends in the reader, under gdb: (signal or "hang" or "exit", functions on the stack)."""
    argv = [a.replace("{}", group["sample"]) for a in COMMANDS[group["command"]][1]]
    gdb = ["gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", f"run {shlex.join(argv[1:])} > /dev/null 2>&1",
           "-ex", "bt 12", argv[0]]
    if not group["signal"]:
        start = time.monotonic()
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            try:
                child.wait(options.timeout * 3)
            except subprocess.TimeoutExpired:
                child.kill()
        return ("hang" if time.monotonic() - start > options.timeout * 2 else "exit"), []
    try:
        said = subprocess.run(gdb, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False).stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return "hang", []
    end = re.search(r"received signal (SIG\w+)", said)
    return end.group(1) if end else "exit", re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?([\w.@]+)", said, re.M)


def group_of(path, name, options):
    """The id of the group in which a capture ends."""
    argv = COMMANDS[name][1]
    done = subprocess.run([options.tool, "try", "-q", "--timeout", str(options.timeout), "--format=json", path, "--", *argv], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    groups = json.loads(done.stdout)["groups"] if done.returncode <= 1 else []
    return {g["id"] for g in groups}


def size_of(path):
    if os.path.isdir(path):
        return sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(path) for f in fs)
    return os.path.getsize(path) if os.path.exists(path) else 0


def reduce(group, options, seconds=30):
    """[what is wrong]: a larger capture of the group's defect, reduced whole and with an interruption."""
    name, wrong = group["command"], []
    kind, argv = COMMANDS[name]
    folder = os.path.join(options.output, "reduce", group["id"] + "-" + kind)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    made = shlex.split(group["first"])
    made[made.index("DIR")] = folder
    subprocess.run([options.tool, *made[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    path = next((os.path.join(folder, f) for f in os.listdir(folder) if f != "labels.jsonl"), None)
    if not path:
        return ["cannot be made again"], 0, 0, 0
    first, before = group_of(path, name, options), size_of(path)
    sizes = []
    for interrupted in (False, True):
        out = os.path.join(folder, f"reduced-{interrupted}")
        begin = time.monotonic()
        with subprocess.Popen([options.tool, "reduce", "-q", path, "-o", out, "--timeout", str(options.timeout), "--budget", str(seconds), "--", *argv],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            try:
                child.wait(took / 3 if interrupted else None)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGINT)
                child.wait()
        took = time.monotonic() - begin
        sizes.append(size_of(out))
        if not os.path.exists(out):
            wrong.append("interrupted: nothing is there" if interrupted else "nothing is there")
        elif not interrupted and not first & group_of(out, name, options):
            wrong.append("another group")
        elif not interrupted and sizes[0] > 8192:
            wrong.append(f"{sizes[0]} bytes")
        elif interrupted and sizes[1] >= before and sizes[0] < before:
            wrong.append("interrupted: not smaller")
    return wrong, before, sizes[0], sizes[1]


def write(rows, versions, options):
    with open("fuzz/READERS.md", encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"## Groups\n.*?(?=## All\n)", "", text, flags=re.S)
    table = (f"{BEGIN}\nMade by `scripts/readers-groups.py`: crashes and hangs that `tracemend try --host` finds in {versions} with {options.count} captures of each\n"
             f"rule and {options.damaged} damaged ones, by the place in the reader; each sample was replayed\nunder gdb and ended at this place. Bytes are those of the reduced sample.\n\n"
             "| reader | ends | rule | captures | bytes | place |\n|---|---|---|---|---|---|\n")
    for g in rows:
        table += (f"| {g['command']} | {g['signal'] or 'hang'} | {g['rule'] or 'no defect'} | {g['captures']} | {g['size'] or ''} | "
                  f"{'`' + ' < '.join(g['site'][:3]) + '`' if g['site'] else ''} |\n")
    with open("fuzz/READERS.md", "w", encoding="utf-8") as f:
        f.write(text.replace(END, table + "\n" + END, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", default="build/groups")
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--damaged", type=int, default=200)
    parser.add_argument("--tries", type=int, default=120)
    parser.add_argument("--timeout", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reduce", type=int, default=0)
    parser.add_argument("--least", type=int, default=20)
    parser.add_argument("--command", action="append")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    os.chdir(ROOT)
    options.tool, options.output = os.path.realpath(options.tool), os.path.abspath(options.output)
    os.makedirs(options.output, exist_ok=True)
    names = [n for n in options.command or COMMANDS if shutil.which(COMMANDS[n][1][0])]
    if not names:
        print("skip: neither trace-cmd nor uftrace is installed")
        return 77
    rows, passed, failed = [], 0, 0
    for name in names:
        found = find(name, options)
        print(f"{name}: {len(found)} groups", flush=True)
        rows += found
    for g in rows:
        end, stack = replay(g, options)
        # Places without a symbol are those of try, which asks gdb as well.
        named = [f for f in g["site"][:3] if "+0x" not in f]
        held = end == (g["signal"] or "hang") and (any(f in stack for f in named) if named else not g["site"] or g["id"] in group_of(g["sample"], g["command"], options))
        g["held"] = held
        passed += held
        failed += not held
        print(f"{'held' if held else 'LOST'}  {g['command']}  {g['signal'] or 'hang'}  {g['rule'] or 'no defect'}  {g['size']}  {' < '.join(g['site'][:3])}"
              + ("" if held else f"  ({end}: {' < '.join(stack[:4])})"), flush=True)
    kinds = {(g["command"].split()[0], g["signal"] or "hang", tuple(g["site"][:3]) or g["rule"]) for g in rows if g["held"]}
    print(f"{len(rows)} groups, {len(kinds)} distinct ones over the commands of a reader")
    if not options.command:
        passed, failed = passed + (len(kinds) >= options.least), failed + (len(kinds) < options.least)
    for g in [g for g in rows if g["signal"] and g["held"]][:options.reduce]:
        wrong, before, after, cut = reduce(g, options)
        passed += not wrong
        failed += bool(wrong)
        print(f"reduce  {g['command']}  {g['rule']}  {before} -> {after}, interrupted {cut}  {', '.join(wrong) or 'its own group'}", flush=True)
    if options.write:
        versions = ", ".join(f"{c} {re.search(r'[0-9]+[.][0-9.]+', subprocess.run([c, '--version'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()).group(0)}"
                             for c in dict.fromkeys(n.split()[0] for n in names))
        write([g for g in rows if g["held"]], versions, options)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
