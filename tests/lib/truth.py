#!/usr/bin/env python3
"""The truth meter: captures of real recorders and generated ones are damaged, repaired, and each event of the output is traced through the
manifest to the bytes it came from. Prints five numbers a format and kind of damage: lost, doubted, altered, invented, claims. What each
means exactly is in truth_score.py; kinds of damage are in truth_damage.py.

    truth.py --list events|problems|structure FORMAT PATH    what the independent parser says, as JSON lines
    truth.py [FORMAT...] [--damages N] [--jobs N] [--seed N] [--kind GLOB] [--capture GLOB] [--strict] [--details FILE]
    truth.py --judge small|all [FORMAT...] [--jobs N]
    truth.py --only ID [--keep DIR]

--damages   so many a format, all kinds by turns (default 200); a capture of more than 50,000 events gets 50 at most
--strict    exit 1 where altered, invented or claims are not 0
--details   one JSON line for each damage in which anything was found, with the events
--only      one damage again, by the id that --details gives (FORMAT/KIND/CAPTURE/K), with the same --seed and --capture;
            --keep DIR leaves its files there
--judge     the tests' fixed parts (truth_aims.py): small, or all; the last line is "N passed, M failed"
Environment: TRACEMEND (default build/tracemend), SAMPLES (default ../shared/samples).

A format brings tests/formats/<f>/<f>_events.py (or an executable of that name without ".py", in any language) with an independent parser:

    read(files, places=False) -> (events, problems, structure)      files: {name: bytes}; a single file has the name ""
        events      [(file, ((from, length), ...), meaning, ((file, from, length), ...), kind)]: bytes, meaning, prerequisites
        problems    [(file, from, length, what)] of a strict reading; empty for a valid capture
        structure   [(file, from, length, what)] headers, tables and options, where damage is aimed; only with places
    SUFFIX          of a file's name
    JOINABLE        whether one capture behind another is a capture (optional, False)
    family(files)   captures of different families take no blocks from each other (optional)
    REGISTRATIONS   kinds of events that only describe others; PLACEHOLDERS: those of them for which repair may put a placeholder
    texts(files)    names of the files made of lines (optional)
    captures(folder) -> {name: files}   where the default, each file or directory of the folder, is not right (optional)

A program answers `PROGRAM events|problems|structure PATH` with one JSON object a line: {"file", "ranges": [[from, length]...], "meaning": [...],
"prerequisites": [[file, from, length]...], "kind"} or {"file", "from", "length", "what"}; `PROGRAM about` with one object: {"suffix",
"registrations", "placeholders", "joinable"}.
"""
import argparse
import fnmatch
import importlib
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import truth_aims
import truth_damage
import truth_score
from truth_damage import OTHER, Aim, apply
from truth_score import Original, Result

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMEOUT = 120
# The seeds of generated captures, with the size asked for (None: the default, a few KB). 25 hits need 50 KB, 400 need 800 KB.
GENERATED = ((1, None), (2, None), (3, None), (4, 16 << 10), (5, 16 << 10), (6, 60 << 10), (7, 60 << 10), (8, 250 << 10), (9, 900 << 10), (10, 900 << 10))
LARGE, FEW = 50000, 50
BATCH = 32
AIMS = ("altered", "invented", "claims")


# ---- parsers ----

class Program:
    """A parser in another language, as a module."""

    def __init__(self, path):
        self.path = path
        about = json.loads(subprocess.run([path, "about"], stdout=subprocess.PIPE, check=True, timeout=TIMEOUT).stdout)
        self.SUFFIX, self.REGISTRATIONS = about["suffix"], set(about.get("registrations", ()))
        self.PLACEHOLDERS, self.JOINABLE = set(about.get("placeholders", ())), about.get("joinable", False)

    def ask(self, what, path):
        done = subprocess.run([self.path, what, path], stdout=subprocess.PIPE, check=True, timeout=TIMEOUT)
        return [frozen(json.loads(line)) for line in done.stdout.splitlines()]

    def read(self, files, places=False):
        with tempfile.TemporaryDirectory(prefix="truth.") as folder:
            path = write(files, os.path.join(folder, "capture"), self.SUFFIX)
            events = [tuple(e[key] for key in EVENT) for e in self.ask("events", path)]
            notes = [[tuple(e[key] for key in PLACE) for e in self.ask(what, path)]
                     for what in ("problems", *(["structure"] if places else []))]
        return Reading(events, *notes)


class Reading:
    def __init__(self, events, problems, structure=()):
        self.events, self.problems, self.structure = events, problems, structure


EVENT = ("file", "ranges", "meaning", "prerequisites", "kind")
PLACE = ("file", "from", "length", "what")


def listed(parser, what, path=None):
    """The lines that a program would print for a parser that is a module."""
    if what == "about":
        about = {"suffix": parser.SUFFIX, "registrations": sorted(parser.REGISTRATIONS), "placeholders": sorted(parser.PLACEHOLDERS),
                 "joinable": getattr(parser, "JOINABLE", False)}
        return [json.dumps(about)]
    entries = getattr(parser.read(files_of(path), True), what)
    return [json.dumps(dict(zip(EVENT if what == "events" else PLACE, entry)), default=lambda raw: raw.decode("latin-1")) for entry in entries]


def frozen(value):
    """Lists as tuples, so that a meaning can be a key."""
    if isinstance(value, list):
        return tuple(map(frozen, value))
    if isinstance(value, dict):
        return {key: frozen(entry) for key, entry in value.items()}
    return value


def parser_of(name):
    """The parser of a format, or None."""
    folder = os.path.join(TESTS, "formats", name)
    if os.path.exists(os.path.join(folder, f"{name}_events.py")):
        sys.path.insert(0, folder)
        return importlib.import_module(f"{name}_events")
    program = os.path.join(folder, f"{name}_events")
    return Program(program) if os.access(program, os.X_OK) else None


# ---- the program under test ----

def write(files, path, suffix):
    """Writes a capture; returns the path, which has the suffix for a single file."""
    if list(files) == [""]:
        path += suffix
        with open(path, "wb") as f:
            f.write(files[""])
        return path
    for name, data in files.items():
        full = os.path.join(path, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(data)
    os.makedirs(path, exist_ok=True)
    return path


def files_of(path):
    """{name: bytes} of a file or directory."""
    if os.path.isfile(path):
        with open(path, "rb") as f:
            return {"": f.read()}
    out = {}
    for folder, _, names in os.walk(path):
        for full in (os.path.join(folder, name) for name in names):
            if os.path.isfile(full) and not os.path.islink(full):
                with open(full, "rb") as f:
                    out[os.path.relpath(full, path)] = f.read()
    return out


class Tool:
    def __init__(self, path, parser, work):
        self.path, self.parser, self.work = path, parser, work
        self.faults = Counter()

    def run(self, *arguments):
        """(exit code, output, talk); the code is None for a run that took too long."""
        try:
            done = subprocess.run([self.path, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            self.faults["took too long"] += 1
            return None, b"", b""
        if done.returncode < 0:
            self.faults[f"killed by signal {-done.returncode}"] += 1
        return done.returncode, done.stdout, done.stderr

    def findings(self, captures):
        """For each capture: what check reports as error or warning, {(severity, rule): count}; None where it could not judge."""
        out = []
        for first in range(0, len(captures), BATCH):
            folder = tempfile.mkdtemp(dir=self.work)
            batch = captures[first:first + BATCH]
            paths = [write(files, os.path.join(folder, str(i)), self.parser.SUFFIX) for i, files in enumerate(batch)]
            _, text, _ = self.run("check", "--format", "json", "--max-findings", "0", *paths)
            shutil.rmtree(folder)
            try:
                reports = {entry["path"]: entry for entry in json.loads(text)["inputs"]}
            except (ValueError, KeyError):
                reports = {}
            for path in paths:
                report = reports.get(path)
                sound = report is not None and report.get("format") and report["complete"]
                out.append(Counter((f["severity"], f["rule"]) for f in report["findings"] if f["severity"] != "note") if sound else None)
        return out

    def repair(self, files, keep=None):
        """A Result, and the manifest."""
        folder = keep or tempfile.mkdtemp(dir=self.work)
        os.makedirs(folder, exist_ok=True)
        path = write(files, os.path.join(folder, "capture"), self.parser.SUFFIX)
        out, manifest = os.path.join(folder, "out"), os.path.join(folder, "manifest.json")
        code, text, talk = self.run("repair", "-o", out, "--manifest", manifest, path)
        said = b"nothing was lost" in text + talk
        if code == 70:
            self.faults["exit 70"] += 1
        result = Result(code, None, {}, {}, said and code in (0, 3))
        if code in (0, 3) and os.path.exists(out):
            with open(manifest, encoding="utf-8") as f:
                result = of_manifest(json.load(f), out, code, said, self.faults)
        if not keep:
            shutil.rmtree(folder)
        return result


def of_manifest(manifest, out, code, said, faults):
    """The Result that a manifest describes; what the verifier says against it is a fault."""
    from verify_manifest import Problem, name_of, ranges_of, segments_of, verify
    try:
        verify(manifest, out)
    except Problem as problem:
        faults[f"manifest: {str(problem)[:80]}"] += 1
    names = [name_of(entry["file"]) for entry in manifest["inputs"]]
    # What was made anew of bytes of the input has the rule and the words with which these are dropped.
    made = {}
    for entry in ranges_of(manifest, "dropped"):
        made.setdefault((entry["rule"], entry["why"]), []).append((names[entry["input"]], entry["from"], entry["length"]))
    made = {key: tuple(ranges) for key, ranges in made.items()}
    segments = {name_of(entry["file"]): [(s["offset"], s["length"], *((None, made.get((s["rule"], s["why"]), ())) if "bytes" in s
                                                                      else (names[s["input"]], s["from"])))
                                         for s in segments_of(entry)] for entry in manifest["outputs"]}
    doubts = {}
    for entry in ranges_of(manifest, "doubtful"):
        doubts.setdefault(names[entry["input"]], []).append((entry["from"], entry["from"] + entry["length"]))
    return Result(code, files_of(out), segments, {name: truth_score.merged(entries) for name, entries in doubts.items()}, said)


# ---- captures ----

class Capture:
    """A sound capture, read once. Also as the undamaged side of what is joined with another."""

    def __init__(self, name, files, parser, base, seed):
        self.name, self.files = name, files
        reading = parser.read(files, True)
        self.original = Original(files, reading.events)
        self.problems = Counter(problem[3] for problem in reading.problems)
        self.base = base
        self.aim = Aim(files, reading.structure, seed, zlib.crc32(name.encode()), reading.events)
        self.texts = parser.texts(files) if hasattr(parser, "texts") else ()

    def with_other(self, other, without=()):
        """The Original of both, without the events of some files of the other."""
        events = [(OTHER + name, ranges, meaning, tuple((OTHER + file, start, length) for file, start, length in needs), kind)
                  for name, ranges, meaning, needs, kind in other.original.events if OTHER + name not in without]
        files = {**self.files, **{OTHER + name: data for name, data in other.files.items()}}
        return Original(files, self.original.events + events)


def samples_folder():
    return os.environ.get("SAMPLES", os.path.join(TESTS, "..", "..", "shared", "samples"))


def samples_of(name, parser):
    folder = os.path.join(samples_folder(), name)
    if not os.path.isdir(folder):
        return {}
    if hasattr(parser, "captures"):
        return parser.captures(folder)
    return {entry: files_of(os.path.join(folder, entry)) for entry in sorted(os.listdir(folder))}


def generated(name, tool):
    """{name: files} of GENERATED."""
    out = {}
    for seed, size in GENERATED:
        folder = tempfile.mkdtemp(dir=tool.work)
        code, _, talk = tool.run("gen", "-q", "-f", name, "--seed", str(seed), *(["--size", str(size)] if size else []), "-o", folder)
        if code != 0:
            sys.exit(f"gen -f {name} --seed {seed}: {talk.decode(errors='replace')}")
        with open(os.path.join(folder, "labels.jsonl"), encoding="utf-8") as f:
            for line in f:
                out[f"seed {seed}{f', {size >> 10} KB' if size else ''}"] = files_of(os.path.join(folder, json.loads(line)["file"]))
        shutil.rmtree(folder)
    return out


def captures_of(name, parser, tool, options):
    """The sound captures of a format, and what was left out and why."""
    found = {**(samples_of(name, parser) if options.samples else {}), **generated(name, tool)}
    found = {key: files for key, files in found.items()
             if fnmatch.fnmatch(key, options.capture) and sum(map(len, files.values())) <= options.largest}
    out, left = [], []
    for (key, files), base in zip(found.items(), tool.findings(list(found.values()))):
        capture = Capture(key, files, parser, base, options.seed) if base is not None else None
        if capture is None or not capture.original.events:
            left.append(f"{key}: not a capture of the format" if capture is None else f"{key}: no events")
        elif errors(key, files, tool):
            left.append(f"{key}: has errors already")
        else:
            if capture.problems:
                left.append(f"{key}: used, though the independent parser says {dict(capture.problems)}")
            out.append(capture)
    return out, left


def errors(key, files, tool):
    """Whether check finds an error."""
    folder = tempfile.mkdtemp(dir=tool.work)
    code, _, _ = tool.run("check", "-q", write(files, os.path.join(folder, "capture"), tool.parser.SUFFIX))
    shutil.rmtree(folder)
    return code != 0


# ---- which hits are invisible ----

def grown(now, before):
    return any(count > before[what] for what, count in now.items())


class Silence:
    """Asks check, then the parser, about each hit alone. The parser is asked about several hits at once first: where it is silent about all,
    it is about each."""

    def __init__(self, capture, original, tool, parser):
        self.capture, self.original, self.tool, self.parser = capture, original, tool, parser
        self.base, self.problems = capture.base, capture.problems
        # Hits of which check says no error, alone.
        self.mild = set()

    def __call__(self, hits):
        quiet = []
        for first in range(0, len(hits), BATCH):
            numbers = range(first, min(first + BATCH, len(hits)))
            found = self.tool.findings([apply(self.original.files, {n: hits[n]}).files for n in numbers])
            judged = [(n, rules) for n, rules in zip(numbers, found) if rules is not None]
            quiet += [n for n, rules in judged if not grown(rules, self.base)]
            self.mild |= {n for n, rules in judged if not grown({key: count for key, count in rules.items() if key[0] == "error"}, self.base)}
        return set(self.unread(hits, quiet))

    def unread(self, hits, numbers):
        if not numbers:
            return []
        files = apply(self.original.files, {n: hits[n] for n in numbers}).files
        if not grown(Counter(problem[3] for problem in self.parser.read(files).problems), self.problems):
            return numbers
        if len(numbers) == 1:
            return []
        half = len(numbers) // 2
        return self.unread(hits, numbers[:half]) + self.unread(hits, numbers[half:])


# ---- one damage ----

class Meter:
    def __init__(self, name, parser, tool, options):
        self.name, self.parser, self.tool, self.options = name, parser, tool, options
        self.joinable = getattr(parser, "JOINABLE", False)
        self.captures, self.left = captures_of(name, parser, tool, options)

    def plan(self):
        """[(kind, number of the capture, k)]: each capture undamaged, then kinds by turns, each on all captures by turns."""
        kinds = [kind for kind in truth_damage.KINDS if fnmatch.fnmatch(kind, self.options.kind)]
        given, used = Counter(), Counter()
        out = []
        turn, idle = {kind: i for i, kind in enumerate(kinds)}, set()
        while len(out) < self.options.damages and len(idle) < len(kinds):
            for kind in (kind for kind in kinds for _ in range(truth_damage.OFTEN.get(kind, 1))):
                if len(out) >= self.options.damages:
                    break
                task = self.next_of(kind, turn, given, used)
                if task:
                    out.append(task)
                else:
                    idle.add(kind)
        return [(truth_damage.UNDAMAGED, number, 0) for number in range(len(self.captures))] + out

    def next_of(self, kind, turn, given, used):
        for _ in range(len(self.captures)):
            number = turn[kind] % len(self.captures)
            turn[kind] += 1
            capture = self.captures[number]
            if len(capture.original.events) > LARGE and used[number] >= FEW:
                continue
            for _ in range(3):
                k = given[kind, number]
                given[kind, number] += 1
                if self.hits_of(kind, number, k) is not None:
                    used[number] += 1
                    return kind, number, k
        return None

    def other(self, number, k):
        """Another capture, of the same size or less, so that the other does not outweigh."""
        own = self.captures[number]
        size = sum(map(len, own.files.values()))
        family = getattr(self.parser, "family", lambda files: None)
        rest = [c for c in self.captures if c is not own and sum(map(len, c.files.values())) <= 2 * size and family(c.files) == family(own.files)]
        return rest[k % len(rest)] if rest else None

    def hits_of(self, kind, number, k):
        capture, other = self.captures[number], self.other(number, k)
        rng = random.Random(f"{self.options.seed} {self.name} {kind} {capture.name} {k}")
        files = capture.files
        if other and kind == "two recordings":
            files = {**files, **{OTHER + name: data for name, data in other.files.items()}}
        return truth_damage.make(kind, files, other.files if other else None, capture.texts, self.joinable, capture.aim, k, rng)

    def measure(self, kind, number, k, keep=None):
        """The tally of one damage."""
        capture, other = self.captures[number], self.other(number, k)
        hits = self.hits_of(kind, number, k)
        both = kind == "two recordings" or (kind in ("joined", "cut and joined") and self.joinable)
        original = capture.with_other(other) if both else capture.original
        folder = {"first" + self.parser.SUFFIX: "", "second" + self.parser.SUFFIX: OTHER}
        if kind == "two recordings" and list(capture.files) == [""]:
            # One folder with two files: each keeps its name.
            files = {name: original.files[source] for name, source in folder.items()}
            hits = [truth_damage.Hit((), (), {source: name for name, source in folder.items()})]
        else:
            files = apply(original.files, dict(enumerate(hits))).files
        result = self.tool.repair(files, keep)
        if kind == "two recordings" and list(capture.files) != [""]:
            # What has no name that a reader knows, since the first recording has it, is passed over: none of it is lost that is kept as it is.
            passed = {old for old, new in hits[0].rename.items() if OTHER + new != old and (result.outputs or {}).get(new) == files[new]}
            original = capture.with_other(other, passed)
        if kind == "two recordings" and result.exit == 2:
            # The command line asks for one of them: nothing was examined.
            tally = dict.fromkeys(SUMMED, 0) | {"found": [], "kinds": Counter(), "problems": ()}
        else:
            tally = truth_score.score(original, hits, result, self.parser, Silence(capture, original, self.tool, self.parser))
        if result.outputs is not None:
            bad = Counter(problem[3] for problem in tally["problems"])
            for what in bad:
                if bad[what] > capture.problems[what]:
                    self.tool.faults[f"the parser says of an output: {what}"] += 1
        faults, self.tool.faults = self.tool.faults, Counter()
        identity = f"{self.name}/{kind}/{capture.name}/{k}"
        del tally["problems"]
        return tally | {"id": identity, "kind": kind, "capture": capture.name, "exit": result.exit, "faults": faults}


METER = None


def one(task):
    return METER.measure(*task)


# ---- the table ----

SUMMED = ("events", "lost", "doubted", "altered", "invented", "claims", "no output", "hits", "invisible hits", "all events", "invisible events", "no error", "behind doubt")


def percent(part, whole):
    return "-" if not whole else "0" if not part else f"{100 * part / whole:.3f}" if part / whole < 0.1 else f"{100 * part / whole:.1f}"


def rows_of(tallies):
    """[(title, [tally])]: the kinds, then sums."""
    rows = [(kind, [t for t in tallies if t["kind"] == kind]) for kind in (truth_damage.UNDAMAGED, *truth_damage.KINDS)]
    tallies = [t for t in tallies if t["kind"] != truth_damage.UNDAMAGED]
    many = {truth_damage.BESIDE, *(f"{count} hits of 8" for count in truth_damage.MANY)}
    single = [t for t in tallies if t["kind"] not in many and not t["kind"].startswith(("two rec", "joined", "cut and", "CR"))]
    return [row for row in rows if row[1]] + [("ALL, ONE HIT", single), ("ALL", tallies)]


# Title of a column, its width, and what of the sums it shows.
COLUMNS = (("events", 9, lambda s: s["events"]), ("lost", 7, lambda s: s["lost"]), ("%", 8, lambda s: percent(s["lost"], s["events"])),
           ("doubted", 8, lambda s: s["doubted"]), ("%", 8, lambda s: percent(s["doubted"], s["events"])), ("altered", 8, lambda s: s["altered"]),
           ("invented", 9, lambda s: s["invented"]), ("claims", 7, lambda s: s["claims"]), ("no error", 9, lambda s: s["no error"]),
           ("no out", 7, lambda s: s["no output"]), ("invisible hits", 15, lambda s: f"{s['invisible hits']}/{s['hits']}"),
           ("events %", 9, lambda s: percent(s["invisible events"], s["all events"])))


def table(tallies):
    out = [f"{'damage':<20}{'times':>6}" + "".join(f"{title:>{width}}" for title, width, _ in COLUMNS) + "  worst of 1,000 events or more"]
    for title, group in rows_of(tallies):
        s = {key: sum(t[key] for t in group) for key in SUMMED}
        big = [t for t in group if t["events"] >= 1000]
        worst = max(big, key=lambda t: ((t["lost"] + t["altered"] + t["invented"]) / t["events"], t["doubted"] / t["events"]), default=None)
        text = ""
        if worst:
            shares = ", ".join(f"{percent(worst[key], worst['events'])} % {key}" for key in ("lost", "doubted", "altered"))
            text = f"{shares}: {worst['capture']}"
        out.append(f"{title:<20}{len(group):>6}" + "".join(f"{show(s):>{width}}" for _, width, show in COLUMNS) + "  " + text)
    return out


def report(name, meter, tallies):
    """Prints; returns whether the aims are met."""
    print(f"{name}: {len(tallies)} damages of {len(meter.captures)} captures, {sum(len(c.original.events) for c in meter.captures)} events")
    for line in meter.left:
        print(f"  {line}")
    print("\n".join(table(tallies)))
    kinds = sum((t["kinds"] for t in dict(rows_of(tallies))["ALL, ONE HIT"]), Counter())
    for kind in sorted(kind for (of, kind) in kinds if of == "intact"):
        whole = kinds["intact", kind]
        print(f"  one hit, {kind}: {percent(kinds['lost', kind], whole)} % lost, {percent(kinds['doubted', kind], whole)} % doubted of {whole} intact")
    kinds = sum((t.pop("kinds") for t in tallies), Counter())
    for number in ("lost", "doubted", "altered", "invented"):
        print(f"  {number}: " + (", ".join(f"{count} {kind}" for (of, kind), count in kinds.most_common() if of == number) or "nothing"))
    behind = sum(t["behind doubt"] for t in tallies)
    if behind:
        print(f"  {behind} of those altered need something that is doubtful, and are not doubtful themselves")
    faults = sum((t["faults"] for t in tallies), Counter())
    for what, count in faults.most_common(20):
        print(f"  {count} times {what}")
    return faults


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", metavar="FORMAT")
    parser.add_argument("--damages", type=int, default=200, metavar="N")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--kind", default="*", metavar="GLOB")
    parser.add_argument("--capture", default="*", metavar="GLOB")
    parser.add_argument("--largest", type=int, default=1 << 62, metavar="BYTES")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--judge", choices=tuple(truth_aims.PARTS))
    parser.add_argument("--details", metavar="FILE")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--only", metavar="ID")
    parser.add_argument("--list", choices=("events", "problems", "structure", "about"))
    options = parser.parse_args(arguments)
    options.samples = True
    if options.judge == "all" and not os.path.isdir(samples_folder()):
        options.judge = "generated"
    if options.judge:
        vars(options).update(truth_aims.PARTS[options.judge])
    return options


def again(meter, options):
    """One damage, with all that was found."""
    _, kind, capture, k = options.only.split("/")
    number = next((i for i, c in enumerate(meter.captures) if c.name == capture), None)
    if number is None or meter.hits_of(kind, number, int(k)) is None:
        sys.exit(f"{options.only}: no such damage")
    tally = meter.measure(kind, number, int(k), options.keep)
    for edit in (edit for hit in meter.hits_of(kind, number, int(k)) for edit in hit.edits[:20]):
        print(f"edit: {edit.file or 'at'} {edit.start} {edit.length} bytes become {edit.new if isinstance(edit.new, tuple) else edit.new[:32].hex()}")
    for found in tally.pop("found"):
        print(json.dumps(found))
    tally["kinds"] = {" ".join(key): count for key, count in tally["kinds"].items()}
    print(json.dumps(tally))


def measured(jobs):
    """The tallies of METER's plan."""
    tasks = METER.plan()
    if jobs <= 1:
        return [one(task) for task in tasks]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        # The large captures first, so that no process is left with one of them at the end.
        order = sorted(range(len(tasks)), key=lambda n: -len(METER.captures[tasks[n][1]].original.events))
        done = dict(zip(order, pool.imap(one, [tasks[n] for n in order], 1)))
    return [done[n] for n in range(len(tasks))]


def main():
    global METER
    options = options_of(sys.argv[1:])
    tool = os.path.abspath(os.environ.get("TRACEMEND", os.path.join(TESTS, "..", "build", "tracemend")))
    if options.list:
        print("\n".join(listed(parser_of(options.formats[0]), options.list, *options.formats[1:])))
        return 0
    names = options.formats or sorted(n for n in os.listdir(os.path.join(TESTS, "formats")) if options.judge or parser_of(n))
    if options.only:
        names = [options.only.split("/")[0]]
    good, details, verdicts = True, [], truth_aims.Verdicts(options.judge)
    with tempfile.TemporaryDirectory(prefix="truth.") as work:
        # A copy, so that a build meanwhile does not matter.
        tool = shutil.copy(tool, os.path.join(work, "tracemend"))
        for name in names:
            parser = parser_of(name)
            if parser is None:
                if not options.judge:
                    sys.exit(f"{name}: no parser tests/formats/{name}/{name}_events.py")
                print(f"{name}: skipped: no parser tests/formats/{name}/{name}_events.py")
                continue
            METER = Meter(name, parser, Tool(tool, parser, work), options)
            if not METER.captures:
                sys.exit(f"{name}: no captures")
            if options.only:
                again(METER, options)
                continue
            tallies = measured(options.jobs)
            faults = report(name, METER, tallies)
            good &= not faults["exit 70"] and not any(t[key] for t in tallies for key in AIMS)
            details += [t for t in tallies if t["found"] or t["faults"]]
            if options.judge:
                verdicts.judge(name, tallies, rows_of(tallies), faults)
    if options.details:
        with open(options.details, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(t) + "\n" for t in details)
    if options.judge:
        return verdicts.end()
    return 0 if good or not options.strict else 1


if __name__ == "__main__":
    sys.exit(main())
