#!/usr/bin/env python3
"""make docs: every link leads to a page and a place in it, every rule has a page with an example that the program made.

    docs.py [--tool PATH] [FOLDER]

Without FOLDER, the pages are made in a temporary one. Addresses elsewhere are counted, not opened.
"""
import argparse
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LONELY = ("area", "base", "br", "hr", "img", "input", "link", "meta", "wbr")


class Page(html.parser.HTMLParser):
    """Links, ids and classes of a page, and whether its elements close in order."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.classes, self.open, self.wrong = [], set(), [], [], []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())
        self.wrong += [f"<{e}> is not closed" for e in self.open if e not in ("p", "dt", "dd", "li")]

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [attrs[k] for k in ("href", "src") if k in attrs]
        self.classes += (attrs.get("class") or "").split()
        if attrs.get("id") in self.ids:
            self.wrong.append(f"id {attrs['id']} comes twice")
        self.ids |= {attrs["id"]} if "id" in attrs else set()
        if tag not in LONELY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in LONELY:
            return
        while self.open and self.open[-1] != tag and self.open[-1] in ("p", "dt", "dd", "li"):
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at line {self.getpos()[0]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("folder", nargs="?")
    options = parser.parse_args()
    os.chdir(os.path.join(HERE, "..", ".."))
    failed, checked, elsewhere = [], 0, set()
    with tempfile.TemporaryDirectory(prefix="tracemend-docs-") as work:
        folder = options.folder or os.path.join(work, "docs")
        if not options.folder and subprocess.run(["scripts/docs.py", "--tool", options.tool, "-o", folder], stdout=subprocess.DEVNULL, check=False).returncode:
            failed.append("scripts/docs.py failed")
        pages = {os.path.join(at, f): Page(os.path.join(at, f)) for at, _, some in os.walk(folder) for f in some if f.endswith(".html")}
        reached = set()
        for path, page in pages.items():
            failed += [f"{os.path.relpath(path, folder)}: {w}" for w in page.wrong]
            for link in page.links:
                if re.match(r"https?://", link):
                    elsewhere.add(link)
                    continue
                target, _, place = link.partition("#")
                to = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
                checked += 1
                reached.add(to)
                if to not in pages or (place and place not in pages[to].ids):
                    failed.append(f"{os.path.relpath(path, folder)}: {link} leads nowhere")
        failed += [f"no page leads to {os.path.relpath(p, folder)}" for p in pages if p not in reached]
        for rule in json.loads(subprocess.run([options.tool, "rules", "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)["rules"]:
            page = pages.get(os.path.join(folder, "rules", rule["id"] + ".html"))
            checked += 1
            if not page or "message" not in page.classes:
                failed.append(f"{rule['id']}: no page with an example")
    for line in failed:
        print(line)
    print(f"docs: {checked - len(failed)} passed, {len(failed)} failed ({len(pages)} pages; {len(elsewhere)} addresses elsewhere)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
