#!/usr/bin/env python3
"""What real readers do with a capture of each rule: fuzz/readers.tsv and fuzz/READERS.md, of which `make docs` takes its tables.

    readers-table.py [--tool PATH] [--jobs N] [--only RULE]

Readers: trace-cmd and uftrace of Debian, and Perfetto where npm is reached (scripts/perfetto-setup.sh). For each rule a capture that
breaks it (gen --host), from the first seed whose sound capture the reader reads whole. A process has 20 s and 2 GB. Takes some minutes. Nothing is decided by exit codes alone: the events that
the reader shows are counted against the records that check counts. The groups that readers-groups.py wrote stay.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SECONDS, MEMORY, SEEDS = 20, 2 << 30, range(1, 25)
TASK_FILE, RECORD = re.compile(r"^reading (\d+\.dat)"), re.compile(r"^\d+\.\d+ +\d+: \[(entry|exit |lost |event)\]")


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def lines_of_trace_cmd(text):
    return sum(1 for line in text.split("\n") if line.strip() and not line.startswith(("cpus=", "#")) and "EVENTS DROPPED" not in line)


def lines_of_uftrace(text):
    count, task = 0, False
    for line in text.split("\n"):
        if line.startswith("reading "):
            task = bool(TASK_FILE.match(line))
        count += task and bool(RECORD.match(line))
    return count


# name: (format, command, how events are counted)
READERS = {
    "trace-cmd report": ("tracedat", ["trace-cmd", "report", "-i"], lines_of_trace_cmd),
    "uftrace dump": ("uftrace", ["uftrace", "dump", "--no-pager", "-d"], lines_of_uftrace),
    "uftrace replay": ("uftrace", ["uftrace", "replay", "--no-pager", "-d"], None),
}


def ask(reader, path):
    """(answer, words): crash SIGNAL, hang, refuses, or how many events it shows; None events: it shows something."""
    _, command, count = READERS[reader]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with subprocess.Popen([*command, path], stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limits, start_new_session=True) as child:
            try:
                code = child.wait(SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                code = None
        out.seek(0)
        err.seek(0)
        shown, said = (f.read(64 << 20).decode("utf-8", "replace") for f in (out, err))
    words = next((re.sub(r"\x1b\[[0-9;]*m", "", line).strip().replace(path, "FILE") for line in reversed(said.split("\n")) if line.strip()), "")
    events = count(shown) if count else (1 if shown.strip() else 0)
    if code is None:
        return "hangs", words, events
    if code < 0:
        return f"crashes, {signal.Signals(-code).name}", words, events
    if code and not events:
        return "refuses", words, events
    return "", words, events


def verdict(reader, path, records):
    answer, words, events = ask(reader, path)
    if answer:
        return answer, words
    if not READERS[reader][2]:
        return ("reads" if events else "shows nothing"), words
    if events == records:
        return "reads all", words
    if not events and records:
        return "shows nothing", words
    return (f"shows {events} of {records} events" if events < records else f"shows {events} events, of {records}"), words


def generate(tool, name, folder, *more):
    made = subprocess.run([tool, "gen", "-q", "--host", "-f", name, "-o", folder, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if made.returncode:
        return None
    with open(os.path.join(folder, "labels.jsonl"), encoding="utf-8") as f:
        return os.path.join(folder, json.loads(f.readlines()[-1])["file"])


def records_of(tool, path):
    done = subprocess.run([tool, "check", "--format=json", "--no-config", "--max-findings=1", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout)["inputs"][0]["records"]


def perfetto(work, rules, tool):
    """Rows of fxt: what Perfetto counts, against the headers; errors it states in its table of statistics."""
    if subprocess.run(["scripts/perfetto-setup.sh"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
        return []
    rows = []
    for rule in rules:
        path = generate(tool, "fxt", os.path.join(work, rule["id"].replace("/", "-")), "--rule", rule["id"])
        if not path:
            continue
        try:
            done = subprocess.run(["node", "tests/readers/perfetto_count.mjs", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            rows.append((rule["id"], "Perfetto", "hangs", ""))
            continue
        if done.returncode or not done.stdout:
            rows.append((rule["id"], "Perfetto", "crashes", done.stderr.decode("utf-8", "replace").strip().split("\n")[-1][:160]))
            continue
        one = json.loads(done.stdout)
        stats = ", ".join(f"{k} {v}" for k, v in sorted(one["stats"].items()))
        if one["error"]:
            answer = "refuses"
        elif one["trace_type"] != "fuchsia":
            answer = "takes it for another format" if one["trace_type"] else "shows nothing"
        elif one["skip"] or (one["slice"], one["counter"]) == (one["expected"]["slice"], one["expected"]["counter"]):
            answer = "reads, and counts errors" if stats else "reads"
        else:
            answer = f"shows {one['slice']} of {one['expected']['slice']} slices"
        rows.append((rule["id"], "Perfetto", answer, (one["error"] or stats)[:160]))
    return rows


def kind_of(answer):
    return re.sub(r"^shows \d.*", "skips or invents events", re.sub(r", SIG.*", "", answer))


def write(rows, rules, versions):
    rows.sort(key=lambda r: ([x["id"] for x in rules].index(r[0]), r[1]))
    with open("fuzz/readers.tsv", "w", encoding="utf-8") as f:
        f.write("# rule, reader, answer, its words; made by scripts/readers-table.py\n")
        f.writelines("\t".join(re.sub(r"[\t\r\n]", " ", c) for c in r) + "\n" for r in rows)
    by = collections.defaultdict(collections.Counter)
    for _, reader, answer, _ in rows:
        by[reader][kind_of(answer)] += 1
    severity = {r["id"]: r["severity"] for r in rules}
    with open("fuzz/READERS.md", encoding="utf-8") as f:
        groups = re.search(r"## Groups\n.*?(?=## All\n)", f.read(), re.S)
    with open("fuzz/READERS.md", "w", encoding="utf-8") as f:
        f.write("# What readers do with a capture of each rule\n\nMade by `scripts/readers-table.py`; not written by hand. One capture a rule, "
                f"from a seed whose sound capture the reader reads whole.\n{versions}. Events are counted against the records that `check` counts.\n\n")
        kinds = sorted({k for c in by.values() for k in c})
        f.write("| reader | " + " | ".join(kinds) + " |\n|---|" + "---|" * len(kinds) + "\n")
        for reader in sorted(by):
            f.write(f"| {reader} | " + " | ".join(str(by[reader][k] or "") for k in kinds) + " |\n")
        f.write("\n## Crashes and hangs\n\n| rule | severity | reader | answer | its words |\n|---|---|---|---|---|\n")
        for rule, reader, answer, words in rows:
            if answer.startswith(("crashes", "hangs")):
                f.write(f"| {rule} | {severity[rule]} | {reader} | {answer} | {cell(words)} |\n")
        f.write("\n" + (groups.group() if groups else "") + "## All\n\n| rule | reader | answer |\n|---|---|---|\n")
        f.writelines(f"| {rule} | {reader} | {answer} |\n" for rule, reader, answer, _ in rows)


def cell(text):
    return "`" + text.replace("|", "\\|").replace("`", "'")[:100] + "`" if text else ""


def version(command):
    text = subprocess.run([command, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
    return f"{command} {re.search(r'[0-9]+[.][0-9.]+', text).group(0)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.chdir(ROOT)
    tool = os.path.realpath(options.tool)
    rules = [r for r in json.loads(subprocess.run([tool, "rules", "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)["rules"] if options.only in r["id"]]
    rows, names = [], []
    with tempfile.TemporaryDirectory(prefix="tracemend-readers-") as work:
        for reader, (name, command, _) in READERS.items():
            if not shutil.which(command[0]):
                print(f"{reader} is not installed", file=sys.stderr)
                continue
            names.append(command[0])
            good = []
            for seed in SEEDS:
                path = generate(tool, name, os.path.join(work, f"{reader}-sound-{seed}".replace(" ", "-")), "--seed", str(seed))
                if path and verdict(reader, path, records_of(tool, path))[0] in ("reads all", "reads"):
                    good.append(seed)
            if not good:
                print(f"{reader} reads none of the sound captures", file=sys.stderr)
                continue

            def one(rule, reader=reader, name=name, good=good):
                found = None
                for seed in good[:3]:
                    folder = os.path.join(work, f"{reader}-{rule['id']}-{seed}".replace("/", "-").replace(" ", "-"))
                    path = generate(tool, name, folder, "--seed", str(seed), "--rule", rule["id"])
                    if not path:
                        return None
                    answer, words = verdict(reader, path, records_of(tool, path))
                    shutil.rmtree(folder, ignore_errors=True)
                    found = found or (rule["id"], reader, answer, words)
                    if answer != "refuses":
                        return rule["id"], reader, answer, words
                return found

            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                rows += [r for r in pool.map(one, [r for r in rules if r["format"] == name]) if r]
            print(f"{reader}: {len(rows)} rows so far; seeds {good}", flush=True)
        rows += perfetto(work, [r for r in rules if r["format"] == "fxt"], tool)
    versions = ", ".join(version(n) for n in dict.fromkeys(names)) + (" and Perfetto" if any(r[1] == "Perfetto" for r in rows) else "")
    if options.only:
        for r in rows:
            print("\t".join(r))
    else:
        write(rows, rules, versions)
        print(f"{len(rows)} rows: fuzz/readers.tsv, fuzz/READERS.md ({versions})")


if __name__ == "__main__":
    main()
