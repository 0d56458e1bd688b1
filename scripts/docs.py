#!/usr/bin/env python3
"""make docs: pages about rules, formats, reports and commands, as HTML in build/docs.

    docs.py [--tool PATH] [-o FOLDER]

Nothing stands here twice: rules come from `tracemend rules`, examples from the corpus, checked and repaired by the program while the
pages are made, formats from README.md, what readers do from fuzz/readers.tsv where a script has asked them, commands and files
from the manual pages (mandoc). The pages need no network and work without the script, which filters the list of rules.
"""
import argparse
import base64
import collections
import concurrent.futures
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LEVELS = ("error", "warning", "note")
ROW = 16  # bytes of a hex row
ROWS_MAX = 12

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d4d9df; --panel: #f5f7f9; --link: #0b57b0; --mark: #ffe08a; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #15181c; --ink: #e3e7eb; --soft: #a3adb8; --line: #343b43; --panel: #1d2126; --link: #86b7f5; --mark: #6b5200; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1rem; }
main { overflow-wrap: break-word; }
footer { color: var(--soft); font-size: .8125rem; padding: 2rem 1.25rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 1rem 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.125rem; margin: 1.75rem 0 .5rem; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .8125rem; }
pre { margin: .5rem 0; padding: .5rem .75rem; overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 4px; line-height: 1.4; }
mark { background: var(--mark); color: inherit; }
.soft { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0; border-bottom: 1px solid var(--line); }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
ul.rules { list-style: none; padding: 0; }
ul.rules li { padding: .125rem 0; overflow-wrap: anywhere; }
input { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: 4px; padding: .3rem .6rem; width: 100%; max-width: 30rem; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
dt { font-weight: 600; margin-top: .5rem; }
dd { margin: 0 0 0 1.5rem; }
.head, .foot { width: 100%; color: var(--soft); font-size: .8125rem; }
.head-vol { text-align: center; } .head-rtitle, .foot-os { text-align: right; }
.manual-text h1 { font-size: 1.125rem; }
.manual-text h1 a { color: inherit; text-decoration: none; }
@media print { header a, input { display: none; } }
"""

SCRIPT = """
"use strict";
(() => {
  const box = document.getElementById("filter"), said = document.getElementById("found");
  const items = [...document.querySelectorAll("ul.rules li")], groups = [...document.querySelectorAll("section.format")];
  document.getElementById("search").hidden = false;
  const choose = () => {
    const words = box.value.toLowerCase().split(/\\s+/).filter((w) => w);
    let shown = 0;
    for (const li of items) {
      li.hidden = !words.every((w) => li.textContent.toLowerCase().includes(w));
      shown += !li.hidden;
    }
    for (const g of groups) g.hidden = ![...g.querySelectorAll("li")].some((li) => !li.hidden);
    said.textContent = words.length ? shown + (shown === 1 ? " rule" : " rules") : "";
  };
  box.addEventListener("input", choose);
  choose();
})();
"""


def esc(text):
    return html.escape(str(text))


def number(n):
    return f"{n:,}"


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


class Docs:
    def __init__(self, tool, out):
        self.tool, self.out = os.path.realpath(tool), out
        self.rules = json.loads(self.run("rules", "--format", "json")[1])["rules"]
        self.version = self.run("--version")[1].split("\n")[0]
        with open("README.md", encoding="utf-8") as f:
            self.readme = f.read()
        self.profiles, self.readers = {}, collections.defaultdict(list)
        for name in self.formats():
            with open(f"corpus/{name}/expectations.jsonl", encoding="utf-8") as f:
                self.profiles.update((f"corpus/{name}/{x['file']}", x["profile"]) for x in map(json.loads, f) if x.get("profile"))
        if os.path.exists("fuzz/readers.tsv"):
            with open("fuzz/readers.tsv", encoding="utf-8") as f:
                for row in f:
                    if not row.startswith("#"):
                        rule, *rest = row.rstrip("\n").split("\t")
                        self.readers[rule].append(rest)

    def formats(self):
        return [n for n in dict.fromkeys(r["format"] for r in self.rules) if os.path.isdir(f"corpus/{n}")]

    def run(self, *arguments, **more):
        done = subprocess.run([self.tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60, **more)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def section(self, title, text=None):
        """A section of README.md, without its title."""
        found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", self.readme if text is None else text, re.M | re.S)
        if not found:
            sys.exit(f"docs: README.md has no section \"{title}\"")
        return found.group(1)

    def page(self, path, title, body, script=""):
        up = "../" * path.count("/")
        policy = f"default-src 'none'; style-src {digest(STYLE)}" + (f"; script-src {digest(script)}" if script else "")
        full = os.path.join(self.out, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(f"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    f"<meta http-equiv=\"Content-Security-Policy\" content=\"{esc(policy)}\">\n<title>{esc(title)} · tracemend</title>\n<style>{STYLE}</style></head>\n"
                    f"<body><header><a href=\"{up}index.html\">tracemend</a></header>\n<main>\n{body}</main>\n<footer>{esc(self.version)}</footer>\n"
                    + (f"<script>{script}</script>\n" if script else "") + "</body></html>\n")

    # ---- examples ----

    def capture_of(self, rule):
        """The capture of the corpus that shows a rule, None: there is none."""
        name, short = rule["id"].split("/")
        if name == "container":
            name, short = self.formats()[0], "container-" + short
        folder = f"corpus/{name}/invalid"
        found = sorted(f for f in os.listdir(folder) if f.split(".")[0] == short)
        return f"{folder}/{found[0]}" if found else None

    def options(self, capture):
        return ["--profile", self.profiles[capture]] if capture in self.profiles else []

    def example(self, rule):
        """What check and repair say of the capture of a rule, as HTML; None: the program does not report the rule."""
        capture = self.capture_of(rule)
        if not capture:
            return None
        report = json.loads(self.run("check", "--format=json", "--no-config", "--preview", *self.options(capture), capture)[1])["inputs"][0]
        found = [f for f in report["findings"] if f["rule"] == rule["id"]]
        if not found:
            return None
        f = found[0]
        at = f"{f['file']}, " if f["file"] else ""
        body = (f"<h2>Example</h2>\n<p>In a capture of the tests, <code>{esc(capture)}</code> ({number(report['size'])} bytes):</p>\n"
                f"<p class=\"message\"><strong>{esc(f['severity'])}:</strong> {esc(f['message'])}</p>\n"
                f"<p class=\"soft\">{esc(at)}offset 0x{f['offset']:x}, {number(f['length'])} bytes{': ' if f['path'] else ''}{esc(f['path'])}</p>\n")
        if f.get("context", {}).get("bytes"):
            body += hex_rows(f)
        return body + self.repaired(capture)

    def repaired(self, capture):
        with tempfile.TemporaryDirectory(prefix="tracemend-docs-") as work:
            result = os.path.join(work, "mended" + os.path.splitext(capture)[1])
            shown = "mended" + os.path.splitext(capture)[1]
            code, _, said = self.run("repair", *self.options(capture), "-o", result, capture)
            said = said.replace(result, shown).replace(work + "/", "")
        lines = [line for line in said.split("\n") if line.strip()]
        meaning = {0: "nothing was lost", 3: "content was lost, or it is not known whether any was", 4: "nothing was written"}
        return (f"<h2>What repair makes of it</h2>\n<pre tabindex=\"0\">$ tracemend repair {esc(' '.join(self.options(capture) + [capture]))} -o {esc(shown)}\n"
                f"{esc(chr(10).join(lines))}</pre>\n<p>Exit code {code}{': ' + meaning[code] if code in meaning else ''}.</p>\n")

    # ---- pages ----

    def rule_page(self, rule):
        example = self.example(rule)
        clause = f"<a href=\"{esc(rule['url'])}\">{esc(rule['clause'])}</a>" if rule["url"] else esc(rule["clause"])
        home = "../../formats/" + rule["format"] + ".html" if rule["format"] in self.formats() else "../../index.html"
        body = (f"<p><a href=\"{home}\">{esc(rule['format'])}</a></p>\n<h1>{esc(rule['title'])}</h1>\n"
                f"<p class=\"soft\"><code>{esc(rule['id'])}</code> · {esc(rule['severity'])} · {esc(rule['class'])}{' · preview' if rule['preview'] else ''}</p>\n"
                f"<p>{esc(rule['explanation'])}</p>\n<dl><dt>Because</dt><dd>{clause}</dd><dt>Repair</dt><dd>{esc(rule['repair'])}</dd></dl>\n"
                f"{example or ''}")
        if self.readers.get(rule["id"]):
            body += "<h2>What readers do with this capture</h2>\n<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>Reader</th><th>Answer</th><th>Its words</th></tr></thead><tbody>\n"
            for reader, answer, words in self.readers[rule["id"]]:
                body += f"<tr><td>{esc(reader)}</td><td>{esc(answer)}</td><td><code>{esc(words)}</code></td></tr>\n"
            body += "</tbody></table></div>\n"
        self.page(f"rules/{rule['id']}.html", rule["title"], body)
        return rule["id"] if example is None else None

    def format_page(self, name):
        cells = {c[0]: c for c in table_of(self.section("Formats"))}[name]
        body = f"<h1>{esc(name)}</h1>\n<p>{markdown(cells[1])}</p>\n<dl><dt>Written by</dt><dd>{markdown(cells[2])}</dd><dt>Read by</dt><dd>{markdown(cells[3])}</dd></dl>\n"
        recorders = [r for r in table_of(self.section("A recorder crashed")) if name in FORMAT_OF.get(r[0].split(" ")[0], "")
                     or f"({name})" in r[0]]
        if recorders:
            body += "<h2>What comes back of real captures</h2>\n" + table(("Recorder", "What happened", "What comes back"), [[markdown(c) for c in r] for r in recorders])
        body += ("<h2>What comes back after each kind of damage</h2>\n<p>Captures of the tests, as a crash leaves them, and what <code>tracemend repair</code> "
                 "says of them.</p>\n" + table(("Damage", "Capture", "Bytes", "Records kept", "Records lost", "Bytes unverified", "Exit code"), self.damages(name)))
        limits = [line[len(f"- {name}"):].lstrip(" 0123456789.to") for line in re.sub(r"\n  ", " ", self.section("What it cannot do")).split("\n")
                  if re.match(rf"- {name}\b", line)]
        if limits:
            body += "<h2>What repair cannot do</h2>\n<ul>" + "".join(f"<li>{markdown(line.lstrip(': '))}</li>\n" for line in limits) + "</ul>\n"
        body += "<h2>Rules</h2>\n" + self.rule_list([r for r in self.rules if r["format"] == name], "../")
        self.page(f"formats/{name}.html", f"{name}", body)

    def damages(self, name):
        rows = []
        for file in sorted(os.listdir(f"corpus/{name}/damaged")):
            capture = f"corpus/{name}/damaged/{file}"
            with tempfile.TemporaryDirectory(prefix="tracemend-docs-") as work:
                manifest = os.path.join(work, "manifest")
                code = self.run("repair", "-q", *self.options(capture), "-o", os.path.join(work, "out"), "--manifest", manifest, capture)[0]
                if not os.path.exists(manifest):
                    rows.append([esc(re.sub(r"-\d+\..*|\..*", "", file)), f"<code>{esc(file)}</code>", "", "nothing", "all", "", code])
                    continue
                with open(manifest, encoding="utf-8") as f:
                    m = json.load(f)
            r, doubt = m["records"], covered(m["doubtful"])
            lost = number(r["dropped"]) if r["dropped_is"] == "exact" else "unknown" if r["dropped_is"] == "unknown" else f"{number(r['dropped'])} or more"
            rows.append([esc(re.sub(r"-\d+\..*|\..*", "", file)), f"<code>{esc(file)}</code>", number(sum(i["size"] for i in m["inputs"])),
                         number(r["kept"]), lost, number(doubt), code])
        return rows

    def rule_list(self, rules, up=""):
        return "<ul class=\"rules\">\n" + "".join(
            f"<li><a href=\"{up}rules/{esc(r['id'])}.html\"><code>{esc(r['id'])}</code></a> <span class=\"soft\">{esc(r['severity'])}</span> {esc(r['title'])}</li>\n"
            for r in rules) + "</ul>\n"

    def manuals(self):
        """[(name with section, what it is)] of the manual pages, which are written as well."""
        found = []
        sources = [(f"scripts/packaging/man/{f}", None) for f in sorted(os.listdir("scripts/packaging/man"))]
        sources += [("tracemend.1", "man")] + [(f"tracemend-{c}.1", f"man-{c}") for c in self.run("--generate", "commands")[1].split()]
        names = {os.path.basename(p) for p, _ in sources}
        for path, generated in sorted(sources, key=lambda s: (s[0].rsplit(".", 1)[-1], os.path.basename(s[0]))):
            if generated:
                text = self.run("--generate", generated)[1]
            else:
                with open(path, encoding="utf-8") as f:
                    text = f.read()
            made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
            # Manuals of other packages are named, not linked. Frames would need inline styles.
            made = re.sub(r'<a class="Xr" href="([^"]+)\.html">(.*?)</a>', lambda m: m.group(0) if m.group(1) in names else f"<b>{m.group(2)}</b>", made)
            made = re.sub(r' style="[^"]*"', "", made).replace("<pre>", "<pre tabindex=\"0\">")
            name = os.path.basename(path)
            about = re.search(r'class="Nd">(.*?)</span>', made, re.S)
            self.page(f"man/{name}.html", name, made)
            found.append((name, re.sub(r"\s+", " ", about.group(1)) if about else ""))
        return found

    def schema_page(self, path, name, manual):
        with open(path, encoding="utf-8") as f:
            schema = json.load(f)
        rows = []

        def walk(node, at):
            if "$ref" in node:
                node = {**schema["$defs"][node["$ref"].rsplit("/", 1)[-1]], **{k: v for k, v in node.items() if k != "$ref"}}
            kinds = node.get("type") or ("one of " + ", ".join(map(str, node["enum"])) if "enum" in node else repr(node["const"]) if "const" in node else "")
            if at:
                rows.append([f"<code>{esc(at)}</code>", esc(kinds), esc(node.get("description", ""))])
            if at.count(".") > 5:
                return
            for key, child in node.get("properties", {}).items():
                walk(child, f"{at}.{key}" if at else key)
            if isinstance(node.get("items"), dict):
                for child in node["items"].get("oneOf", [node["items"]]):
                    walk(child, at + "[]")

        walk(schema, "")
        rows = [r for i, r in enumerate(rows) if r not in rows[:i]]
        self.page(f"{name}.html", schema["title"], f"<h1>{esc(schema['title'])}</h1>\n<p>{esc(schema['description'])}</p>\n"
                  f"<p>The schema is <code>{esc(path)}</code>; <a href=\"man/{manual}.html\">{manual}</a> explains it.</p>\n"
                  + table(("Key", "Type", "Meaning"), rows))

    def index(self, manuals):
        body = ("<h1>tracemend</h1>\n<p>Checks, repairs and generates binary trace captures.</p>\n<h2>Formats</h2>\n"
                + table(("Format", "What is covered", "Rules"), [[f"<a href=\"formats/{c[0]}.html\">{c[0]}</a>" if c[0] in self.formats() else c[0], markdown(c[1]),
                                                             number(sum(r["format"] == c[0] for r in self.rules))] for c in table_of(self.section("Formats"))])
                + "<h2>Reports and commands</h2>\n<ul><li><a href=\"report.html\">report.html</a>: the JSON report of check</li>\n"
                "<li><a href=\"manifest.html\">manifest.html</a>: the manifest of repair</li>\n"
                + "".join(f"<li><a href=\"man/{name}.html\">{name}</a>: {about}</li>\n" for name, about in manuals) + "</ul>\n<h2>Rules</h2>\n"
                "<div id=\"search\" hidden><label for=\"filter\">Words that a rule must have</label><br><input id=\"filter\" type=\"search\"> "
                "<span id=\"found\" aria-live=\"polite\" class=\"soft\"></span></div>\n"
                + "".join(f"<section class=\"format\"><h3>{esc(name)}</h3>\n" + self.rule_list([r for r in self.rules if r["format"] == name]) + "</section>\n"
                          for name in dict.fromkeys(r["format"] for r in self.rules)))
        self.page("index.html", "Rules, formats, commands", body, SCRIPT)


# Recorders in README's table -> formats.
FORMAT_OF = {"uftrace": "uftrace", "trace-cmd": "tracedat", "magic-trace": "fxt", "iOS": "ktrace", "LTTng": "lttng"}


def covered(ranges):
    """Bytes of ranges, which may overlap and repeat."""
    spans = []
    for r in ranges:
        repeat = r.get("repeat", {"count": 1})
        if "group" in r:
            continue
        spans += [(r["input"], r["from"] + i * repeat.get("from", 0), r["from"] + i * repeat.get("from", 0) + r["length"]) for i in range(repeat["count"])]
    total, last = 0, (-1, 0)
    for source, start, end in sorted(spans):
        start = max(start, last[1]) if source == last[0] else start
        total += max(end - start, 0)
        last = (source, max(end, last[1] if source == last[0] else 0))
    return total


def hex_rows(finding):
    """The rows of bytes around a finding, with the field marked."""
    at, data, field = finding["context"]["offset"], bytes.fromhex(finding["context"]["bytes"]), finding.get("field")
    place = field or finding
    lines = []
    for row in range(at - at % ROW, at + len(data), ROW):
        if len(lines) == ROWS_MAX:
            lines.append("…")
            break
        cells, text, marked = [], "", False
        for i in range(row, row + ROW):
            if not at <= i < at + len(data):
                cells.append("  ")
                text += " "
                continue
            byte = data[i - at]
            inside = place["offset"] <= i < place["offset"] + place["length"]
            cells.append(("<mark>" if inside and not marked else "") + ("" if inside or not marked else "</mark>") + f"{byte:02x}")
            marked = inside
            text += chr(byte) if 32 <= byte < 127 else "."
        joined = " ".join(cells).replace(" </mark>", "</mark> ") + ("</mark>" if marked else "")
        lines.append(f"{row:6x}  {joined}   {esc(text)}")
    name = f"<p class=\"soft\">Marked: {esc(field['name'])}</p>\n" if field and field.get("name") else ""
    return "<pre class=\"bytes\" tabindex=\"0\">" + "\n".join(lines) + "</pre>\n" + name


def markdown(text):
    """The few marks that README's tables use."""
    text = esc(text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r"\1", text)


def table_of(text):
    """The rows of the first table in a text, without its head."""
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in text.split("\n") if line.startswith("|")]
    return rows[2:]


def table(head, rows):
    def cell(c):
        return f"<td class=\"n\">{c}</td>" if re.fullmatch(r"[\d,]+", str(c)) else f"<td>{c}</td>"

    return ("<div class=\"wide\" tabindex=\"0\"><table><thead><tr>" + "".join(f"<th scope=\"col\">{esc(h)}</th>" for h in head) + "</tr></thead><tbody>\n"
            + "".join("<tr>" + "".join(map(cell, r)) + "</tr>\n" for r in rows) + "</tbody></table></div>\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("-o", "--output", default="build/docs")
    options = parser.parse_args()
    os.chdir(ROOT)
    if not shutil.which("mandoc"):
        sys.exit("docs: mandoc is not installed (scripts/install.sh --test)")
    new = options.output + ".new"
    shutil.rmtree(new, ignore_errors=True)
    docs = Docs(options.tool, new)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bare = [r for r in pool.map(docs.rule_page, docs.rules) if r]
        list(pool.map(docs.format_page, docs.formats()))
    docs.schema_page("src/report/report.schema.json", "report", "tracemend-report.5")
    docs.schema_page("src/report/manifest.schema.json", "manifest", "tracemend-manifest.5")
    docs.index(docs.manuals())
    for rule in bare:
        print(f"docs: no capture of the corpus shows {rule}", file=sys.stderr)
    shutil.rmtree(options.output, ignore_errors=True)
    os.replace(new, options.output)
    print(f"docs: {len(docs.rules)} rules, {len(docs.formats())} formats: {options.output}/index.html")
    return 1 if bare else 0


if __name__ == "__main__":
    sys.exit(main())
