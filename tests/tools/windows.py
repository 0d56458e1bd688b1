#!/usr/bin/env python3
"""Does anything in src use bytes of a window after it may have moved? Exit 1 if so.

    windows.py [FILE...]

window_at() and window_upto() give a pointer that holds until the window is asked for other bytes. Says where, in one function, a
variable that was set by them, or by a function that returns bytes and calls them, is used after a call that may ask the same or an
unknown window: of any function through which window_at() or window_reset() can be reached. Reads C as text: a line is a step, and
what is set or tested in a loop counts as it stands there. Begins with a few lines in which it is known what is to be found.
"""
import collections
import glob
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FUNCTION = re.compile(r"^((?:static |inline |const |struct |enum |unsigned |[a-z_0-9]+ |\*)+)\**([a-z_0-9]+)\(([^;{}]*?)\)\n\{\n(.*?)^\}", re.S | re.M)
CALL = re.compile(r"\b([a-z_][a-z_0-9]*)\(")
POINTER = re.compile(r"\b(?:uint8_t|char) \*$")
ROOTS = ("window_at", "window_upto", "window_reset")
SOURCES = re.compile(r"\b(?:window_at|window_upto)\((&?[\w>.-]+)")
ENDS = re.compile(r"\s*(return|goto|break|continue)\b")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


class Tree:
    """The functions of some C files, and which of them may move a window."""

    def __init__(self, files):
        self.functions, self.shared, self.givers = {}, collections.defaultdict(list), set()
        for path in files:
            text = re.sub(r"/\*.*?\*/", blank, open(path, encoding="utf-8").read(), flags=re.S)
            text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
            for m in FUNCTION.finditer(text):
                self.functions[path, m[2]] = (text[: m.start(4)].count("\n") + 1, m[4])
                if POINTER.search(text[m.start() : m.start(2)]):
                    self.givers.add((path, m[2]))
                if "static" not in m[1] or path.endswith(".h"):
                    self.shared[m[2]].append((path, m[2]))
        calls = {key: set(CALL.findall(body)) for key, (_, body) in self.functions.items()}
        self.movers, more = set(), True
        while more:
            found = {key for key, names in calls.items() if key not in self.movers and any(self.moves(key[0], n) for n in names)}
            self.movers |= found
            more = bool(found)

    def keys(self, path, name):
        return [(path, name)] if (path, name) in self.functions else self.shared.get(name, ())

    def moves(self, path, name):
        return name in ROOTS or any(key in self.movers for key in self.keys(path, name))

    def window(self, path, text):
        """The window that bytes come from which the text takes; "": not known; None: it takes none."""
        direct = SOURCES.search(text)
        if direct:
            return direct[1]
        return "" if any(key in self.givers & self.movers for name in CALL.findall(text) for key in self.keys(path, name)) else None

    def stale(self):
        """Lines "FILE:LINE: FUNCTION uses NAME, and CALL may have moved the window"."""
        for (path, name), (first, body) in sorted(self.functions.items()):
            lines = body.split("\n")
            for i, line in enumerate(lines):
                m = re.search(r"(\w+) = ", line)
                end = i
                while ";" not in lines[end] and end + 1 < len(lines):
                    end += 1
                window = self.window(path, " ".join(lines[i : end + 1]).split(" = ", 1)[-1]) if m else None
                if window is None or ("*" not in line and not SOURCES.search(line)):
                    continue
                for k, call, text in self.uses(path, lines, end + 1, m[1], window, len(line) - len(line.lstrip("\t"))):
                    yield f"{path}:{first + k}: {name}() uses {m[1]}, and {call}() may have moved the window: {text}"

    def uses(self, path, lines, begin, variable, window, depth):
        """The first use of the variable after a call that moves its window."""
        moved, inner, word = None, 0, re.compile(rf"(?<![\w>.]){variable}\b")
        for k in range(begin, len(lines)):
            line = lines[k]
            tabs = len(line) - len(line.lstrip("\t"))
            if line.strip() and tabs < depth:
                return
            if re.search(rf"(?<![\w>.]){variable} = ", line):
                return
            calls = [(c.start(), c[1]) for c in CALL.finditer(line) if self.moves(path, c[1])]
            direct = {s.start(): s[1] for s in SOURCES.finditer(line)}
            calls = [(at, c) for at, c in calls if not window or direct.get(at, window) == window]
            for use in word.finditer(line):
                before = moved or next((c for at, c in calls if closes(line, at) < use.start()), None)
                if before:
                    yield k, before, line.strip()
                    return
            if not ENDS.match(line):
                moved, inner = (calls[0][1], tabs) if calls else (moved, inner)
            elif depth < tabs == inner:
                moved = None  # what comes next is not reached from there


def closes(line, at):
    """Where the call that begins at `at` ends; behind the line where it does not."""
    depth = 0
    for i in range(at, len(line)):
        depth += (line[i] == "(") - (line[i] == ")")
        if line[i] == ")" and not depth:
            return i
    return len(line)


KNOWN = """static bool far(struct walk *w)
{
	return window_at(&w->window, 9, 1) != NULL;
}

static bool near(struct walk *w)
{
	const uint8_t *p = window_at(&w->window, 0, 4), *q = NULL;
	bool good = p && *p;
	q = window_at(&w->other, 0, 4);
	good |= p && q && *q == *p;
	return good && far(w);
}

static bool stale(struct walk *w)
{
	const uint8_t *p = window_at(&w->window, 0, 4);
	return p && far(w) && *p;
}

static bool later(struct walk *w)
{
	const uint8_t *p = window_at(&w->window, 0, 4);
	if (!p) {
		far(w);
		return false;
	}
	if (near(w))
		return true;
	return *p;
}
"""


def self_test():
    with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="utf-8") as f:
        f.write(KNOWN)
        f.flush()
        return [line.split(": ")[1].split("(")[0] for line in Tree([f.name]).stale()]


def main():
    os.chdir(os.path.join(HERE, "..", ".."))
    found = self_test()
    if found != ["later", "stale"]:
        print(f"windows: of the known lines, these functions are found: {found}")
        return 1
    files = sorted(sys.argv[1:] or glob.glob("src/**/*.[ch]", recursive=True))
    bad = list(Tree(files).stale())
    print("\n".join(bad + [f"windows: {len(bad)} uses of bytes that may be gone, {len(files)} files"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
