"""What the truth meter's numbers must be in the tests: `scripts/truth.sh --judge small` in make test, `--judge all` in make test-all.

Each number of a format has a target, and a ceiling where it does not meet it yet. Ceilings only go down: who makes a format better writes the
new one here, or takes it out. The captures, damages and seed of a part are fixed, so the same program gives the same numbers.
"""

# The options of each part. The small one takes no large captures, which take longer to be read than to be repaired, and no captures of real
# recorders, which are not everywhere.
PARTS = {
    "small": {"damages": 90, "seed": 1, "largest": 100 << 10, "samples": False},
    "all": {"damages": 300, "seed": 1},
    "generated": {"damages": 300, "seed": 1, "samples": False},
}

# Number: (row of the table, what of it, target). Counts, or percent of the events that count.
NUMBERS = {
    "altered": ("ALL", "altered", 0),
    "invented": ("ALL", "invented", 0),
    "claims": ("ALL", "claims", 0),
    "lost, one hit": ("ALL, ONE HIT", "lost", 0.1),
    "doubted, one hit": ("ALL, ONE HIT", "doubted", 1.0),
    "lost, 25 hits": ("25 hits of 8", "lost", 0.5),
    "lost, 400 hits": ("400 hits of 8", "lost", 2.0),
}
COUNTED = ("altered", "invented", "claims")

# Above the target so far: {part: {format: {number: ceiling}}}. A format that meets every target has no number here; one that is not here at all is
# measured and not judged.
CEILINGS = {
    "small": {
        "fxt": {"doubted, one hit": 5.0},
        "ktrace": {},
        "lttng": {"doubted, one hit": 2.24, "lost, 25 hits": 0.78},
        "tracedat": {},
        "uftrace": {},
    },
    "all": {
        "fxt": {"invented": 1},
        "ktrace": {},
        "lttng": {},
        "tracedat": {},
        "uftrace": {},
    },
    # What "all" is where there are no captures of real recorders: the captures and their damages are others then.
    "generated": {
        "fxt": {"invented": 1},
        "ktrace": {},
        "lttng": {},
        "tracedat": {},
        "uftrace": {},
    },
}


def value_of(number, rows):
    """A number of the table's rows [(title, tallies)], or None where nothing was measured."""
    row, what, _ = NUMBERS[number]
    group = dict(rows).get(row)
    if not group:
        return None
    count, events = sum(t[what] for t in group), sum(t["events"] for t in group)
    return count if what in COUNTED else 100 * count / events if events else None


class Verdicts:
    """Counts the numbers that hold and those that do not."""

    def __init__(self, part):
        self.ceilings, self.passed, self.failed = CEILINGS.get(part, {}), 0, 0

    def one(self, good, text):
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        print(f"  {'holds' if good else 'FAILS'}: {text}")

    def judge(self, name, tallies, rows, faults):
        """tallies: all; rows: of the table; faults: {what: count} of the program itself."""
        ceilings = self.ceilings.get(name)
        if ceilings is None:
            print(f"  {name}: not judged: tests/lib/truth_aims.py has no ceilings for it")
            return
        for number, (_, _, target) in NUMBERS.items():
            value = value_of(number, rows)
            if value is None:
                continue
            most = ceilings.get(number, target)
            text = f"{name}: {number} {value:.4g}, at most {most:g}"
            if most > target:
                text += f" (the target is {target:g})"
            if value <= target < most:
                text += ": take its ceiling out of tests/lib/truth_aims.py"
            self.one(value <= most, text)
        own = [what for what in faults if not what.startswith("the parser says")]
        self.one(not own, f"{name}: each run ends in time, by itself, with a manifest that adds up" + "".join(f"; {faults[what]} times {what}" for what in own))
        changed = [t["capture"] for t in tallies if t["kind"] == "undamaged" and (t["exit"] != 0 or t["found"])]
        self.one(not changed, f"{name}: sound captures come out as they are, at exit 0" + "".join(f"; not {capture}" for capture in changed))

    def end(self):
        """Prints the last line; the exit code."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
