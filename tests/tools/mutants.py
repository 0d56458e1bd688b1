#!/usr/bin/env python3
"""A sample of operator mutants of each format: does a test of `make test-<format>` notice?

    mutants.py [--format NAME] [--count N] [--seed N] [--jobs N] [--files GLOB] [--survivors DIR]

Each mutant changes one operator of one line of decode, scan, salvage or repair in a copy of one source file, which is compiled and linked
into programs of its own; the outcomes of the corpus and of damaged copies (outcomes.py) are compared with those that are kept, then
the format's unit tests run, then the promises are asked of the corpus (replay), then more damaged copies are compared (--deep). Prints the survivors, then a line of counts a format. Needs a
finished `make`. Exit 1 if fewer than nine in ten are noticed; survivors that are known, with a reason each, stand in
survivors/<format>.txt and are passed over, but counted: file, from, to, the line of code, and why no test can notice it (or why it
need not), with tabs between. A reason that begins with "open:" says what a test would need: such a one is counted as it is. The smaller or greater of two, "a < b ? a : b", is the same with <=, and is not drawn either; nor are
"malloc(n + 1)", "a > b ? a - b : 0" and the first of "at < end && end - at >= size".
"""
import argparse
import concurrent.futures
import fnmatch
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import outcomes  # noqa: E402

SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "), (" && ", " || "),
         (" || ", " && "), (" + 1", " + 2"), (" - 1", " - 0"), (" + ", " - "), (" & ", " | "), ("return true;", "return false;"),
         ("return false;", "return true;"), ("if (!", "if ("), (" += ", " -= "), ("continue;", "break;")]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-Isrc", "-O1", "-w", "-fPIC", "-fvisibility=hidden", "-pthread"]
with open(os.path.join(HERE, "..", "..", "Makefile"), encoding="utf-8") as makefile:
    LIBRARIES = ["-pthread", *" ".join(re.findall(r"^LIBS_(?:CORE|CLI) = (.*)$", makefile.read(), re.M)).split(), *["-lseccomp"] * os.path.exists("/usr/include/seccomp.h")]
WRAPPED = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup,--wrap=strndup"
# The changed file is seen by these, as the suite sees all files once: undefined behaviour is noticed where it changes nothing, too.
CHECKED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
LINKER = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []
RUNS = {"outcomes": outcomes.outcomes, "sweep": outcomes.sweep, "deep": outcomes.deep}
# Files that no capture of one file reaches, by a part of their names, and the test of the program that does.
BATS = {"tracedat": {"restore": "tests/cli/killed.bats"}}
ROOMS = ("decode", "scan", "salvage", "repair")
SECONDS = 60


def places(path):
    """[(line number, column, from, to)] of what can be changed; comments, directives and texts are left alone."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    found, comment = [], False
    for number, line in enumerate(lines):
        code = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: "_" * len(m.group()), line)
        if comment or code.lstrip().startswith(("#", "/*", "*", "//")):
            comment = "*/" not in code if comment or "/*" in code else False
            continue
        code = code.split("/*")[0]
        comment = "/*" in line and "*/" not in line
        for old, new in SWAPS:
            if old == " + 1" and re.search(r"\b[mc]alloc\(", code):
                continue  # one more of what is allocated: nobody can see it
            found += [(number, m.start(), old, new) for m in re.finditer(re.escape(old), code)
                      if old.strip()[:1] not in "<>" or not (is_choice(code, m) or is_guard(code, m) or is_difference(code, m))]
    return lines, found


def is_choice(code, match):
    """Whether the comparison only chooses one of what it compares: a < b ? a : b. At equality both are the same."""
    before, after = code[:match.start()], re.sub(r"\? \(\w+\)", "? ", code[match.end():])
    right = re.match(r"([^?]+?) \? (.+)", after)
    if not right:
        return False
    chosen = right.group(2)
    for start in range(len(before)):
        left = before[start:]
        if (start == 0 or not re.match(r"[\w.>\]\[]", before[start - 1])) and left.strip() == left and left and any(
                chosen.startswith(f"{a} : {b}") and not re.match(r"[\w.\[(+*/-]| [-+*/]", chosen[len(f"{a} : {b}"):])
                for a, b in ((left, right.group(1)), (right.group(1), left))):
            return True
    return False


TERM = r"[\w.>\]\[-]+"


def is_difference(code, match):
    """Whether both choices are the same at equality: a > b ? a - b : 0, a - b > c ? b + c : a, a - b < c ? (size_t)(a - b) : c."""
    before = re.search(rf"({TERM}(?: - {TERM})?)$", code[:match.start()])
    after = re.match(rf"({TERM}) \? (?:\(\w+\))?\(?([^?:]+?)\)? : ({TERM})(?![\\w(]| [-+*/])", code[match.end():])
    if not before or not after:
        return False
    left, (right, chosen, other) = before.group(1), after.groups()
    a, _, b = left.partition(" - ")
    return (other == "0" and chosen in (f"{left} - {right}", f"{right} - {left}") or {chosen, other} == {left, right} or
            bool(b) and {chosen, other} == {f"{b} + {right}", a})


def is_guard(code, match):
    """Whether the comparison only guards a subtraction: at < end && end - at >= size. At equality the second one says no."""
    left = re.search(r"([\w.>\]\[-]+)$", code[:match.start()])
    right = re.match(r"([\w.>\]\[-]+) && ([\w.>\]\[-]+) - ([\w.>\]\[-]+) >= ", code[match.end():])
    return bool(left and right and match.group() == " < " and right.group(1) == right.group(2) and left.group(1) == right.group(3))


def known(folder):
    """{(file, line of code, from, to): reason}, of all files in the folder"""
    out = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        with open(path, encoding="utf-8") as f:
            for row in f:
                if row.strip() and not row.startswith("#"):
                    file, old, new, rest = row.rstrip("\n").split("\t", 3)
                    code, reason = rest.rsplit("\t", 1)  # a line of code may have tabs
                    if not reason.startswith("open:"):
                        out[file, code, old, new] = reason
    return out


def limited(command, **more):
    """The exit code; SECONDS of work at most, however busy the machine is."""
    return subprocess.run(["prlimit", f"--cpu={SECONDS}", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                          **more).returncode


class Programs:
    """What is linked with the mutants of a format: the test programs, each compiled once."""

    def __init__(self, name, work):
        self.library = [o for o in glob.glob("build/src/**/*.o", recursive=True) if not o.startswith(("build/src/cli/", "build/src/report/"))]
        fuzz = sorted(glob.glob("build/fuzz/[cio]*.o"))
        self.outcome = [*self.compile(work, "tests/tools/outcome.c", "tests/tools/sweep.c"), *glob.glob("build/fuzz/mutate*.o"),
                        "build/fuzz/capture.o"]
        self.replay = [*self.compile(work, "fuzz/replay.c"), *fuzz, WRAPPED]
        self.cli = glob.glob("build/src/cli/*.o") + glob.glob("build/src/report/*.o")
        self.tests = {test: [*self.compile(work, test), *fuzz, WRAPPED, "-lcmocka"] for test in unit_tests(name)}

    def compile(self, work, *sources):
        objects = [os.path.join(work, os.path.basename(source)[:-2] + ".o") for source in sources]
        for source, program in zip(sources, objects):
            subprocess.run(["gcc", *FLAGS, "-Ifuzz", "-c", source, "-o", program], check=True)
        return objects

    def link(self, path, mutant, more, program, checked=True):
        own = os.path.join("build", path[:-2] + ".o")
        subprocess.run(["gcc", *LINKER, *[o for o in self.library if o != own], mutant, *more, *(CHECKED if checked else []), *LIBRARIES, "-o", program], check=True)


def unit_tests(name):
    """The unit tests of a format that pass without a mutant."""
    good = []
    for test in sorted(glob.glob(f"tests/unit/test_{name}_*.c")) + ["tests/unit/test_fields.c", "tests/unit/test_fast.c"]:
        program = "build/" + test[:-2]
        subprocess.run(["make", "-s", program], stdout=subprocess.DEVNULL, check=True)
        if limited([program], env={**os.environ, "TEST_FORMAT": name}):
            print(f"{test} fails without any mutant and is left out", flush=True)
        else:
            good.append(test)
    return good


def differs(program, name, wanted, arguments, seconds=SECONDS):
    """Whether one of the captures comes to another outcome; ends at the first."""
    rest = dict(wanted)
    for one in outcomes.run(program, name, f"corpus/{name}", list(rest), arguments, seconds):
        if isinstance(one, int) or one != rest.pop(one["file"]):
            return True
    return bool(rest)


def mutate(name, path, change, lines, wanted, programs):
    """How the mutant was noticed, None if it was not, or "does not compile"."""
    number, column, old, new = change
    changed = list(lines)
    changed[number] = changed[number][:column] + new + changed[number][column + len(old):]
    with tempfile.TemporaryDirectory(prefix="tracemend-mutant-") as work:
        source, mutant, program = (os.path.join(work, n) for n in (os.path.basename(path), "mutant.o", "program"))
        with open(source, "w", encoding="utf-8") as f:
            f.write("\n".join(changed))
        if subprocess.run(["gcc", *FLAGS, *CHECKED, "-c", source, "-o", mutant], stderr=subprocess.DEVNULL, check=False).returncode:
            return "does not compile"
        programs.link(path, mutant, programs.outcome, program)
        for how, arguments in (("outcomes", []), ("sweep", outcomes.copies(name))):
            if differs(program, name, wanted[how], arguments):
                return how
        for test, objects in programs.tests.items():
            programs.link(path, mutant, objects, program)
            if limited([program], env={**os.environ, "TEST_FORMAT": name}):
                return os.path.basename(test)
        programs.link(path, mutant, programs.replay, program)
        if limited([program, "-q", "-k", "2", "-f", name, f"corpus/{name}"]):
            return "replay"
        for part, test in BATS.get(name, {}).items():
            if part in os.path.basename(path):
                programs.link(path, mutant, programs.cli, program)
                if limited(["bats", test], env={**os.environ, "TRACEMEND": program, "ASAN_OPTIONS": "detect_leaks=0"}):
                    return os.path.basename(test)
        # Many captures: without sanitizers, which would take minutes.
        subprocess.run(["gcc", *FLAGS, "-c", source, "-o", mutant], check=True)
        programs.link(path, mutant, programs.outcome, program, checked=False)
        if differs(program, name, wanted["deep"], outcomes.copies(name, outcomes.DEEP), outcomes.DEEP * SECONDS):
            return "deep"
    return None


def drawn(order, excused, count):
    """The first `count` changes that are not listed in survivors/, and how many listed ones stood between them."""
    some, left_out = [], 0
    for path, change, lines in order:
        if len(some) == count:
            break
        if (path, lines[change[0]].strip(), change[2].strip(), change[3].strip()) in excused:
            left_out += 1
        else:
            some.append((path, change, lines))
    return some, left_out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--format")
    parser.add_argument("--count", type=int, default=80, help="mutants a format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--files", default="*", help="only source files of such names")
    parser.add_argument("--survivors", default=os.path.join(HERE, "survivors"))
    options = parser.parse_args()
    os.chdir(os.path.join(HERE, "..", ".."))
    names = [options.format] if options.format else subprocess.run(["scripts/formats.sh"], stdout=subprocess.PIPE,
                                                                   check=True).stdout.decode().split()
    excused = known(options.survivors)
    all_tried = all_noticed = 0
    for name in names:
        draw = random.Random(f"{name}-{options.seed}")
        candidates = []
        for room in ROOMS:
            for path in sorted(glob.glob(f"src/formats/{name}/{room}/*.c")):
                if fnmatch.fnmatch(os.path.basename(path), options.files):
                    lines, found = places(path)
                    candidates += [(path, change, lines) for change in found]
        wanted = {how: {one["file"]: one for one in outcomes.kept(f"corpus/{name}", f"{how}.jsonl")} for how in RUNS}
        for how, run in RUNS.items():
            if run("build/outcome", name, f"corpus/{name}")[0] != list(wanted[how].values()):
                sys.exit(f"{name}: the {how} of the corpus are not those that are kept, without any mutant")
        tried = noticed = broken = 0
        with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool, tempfile.TemporaryDirectory(prefix="tracemend-mutant-") as work:
            programs = Programs(name, work)
            # A limit of time that is too short for this machine must not be taken for a test that fails.
            path, _, lines = candidates[0]
            if mutate(name, path, (0, 0, "", ""), lines, wanted, programs):
                sys.exit(f"{name}: {path} is noticed without any change")
            some, left_out = drawn(draw.sample(candidates, len(candidates)), excused, options.count)
            for (path, change, lines), how in zip(some, pool.map(lambda c: mutate(name, *c[:3], wanted, programs), some)):
                if how == "does not compile":
                    broken += 1
                    continue
                tried += 1
                noticed += how is not None
                if how is None:
                    print(f"survives: {path}:{change[0] + 1}\t{change[2].strip()}\t{change[3].strip()}\t{lines[change[0]].strip()}", flush=True)
        all_tried += tried
        all_noticed += noticed
        print(f"{name}: {noticed} of {tried} mutants noticed ({100 * noticed // max(tried, 1)} %; {len(candidates)} places; "
              f"{left_out} more are listed with a reason; {broken} do not compile)",
              flush=True)
    print(f"mutants: {all_noticed} of {all_tried} noticed, {100 * all_noticed / max(all_tried, 1):.1f} %")
    return 0 if all_noticed * 10 >= all_tried * 9 else 1


if __name__ == "__main__":
    sys.exit(main())
