#!/usr/bin/env python3
"""validate.py report|lines|info|manifest|sarif|rules FILE...: each is valid against the schema, and its parts agree.

Exits 0, or 1 after it has printed what is wrong.
"""
import json
import re
import pathlib
import sys
import urllib.parse

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
from verify_manifest import segments_of  # noqa: E402

SOURCE = HERE.parent.parent / "src" / "report"
SCHEMAS = {
    "report": SOURCE / "report.schema.json",
    "lines": SOURCE / "report.schema.json",
    "info": SOURCE / "report.schema.json",
    "manifest": SOURCE / "manifest.schema.json",
    "sarif": HERE / "sarif-subset.schema.json",
}


def complain(text):
    print(text, file=sys.stderr)
    sys.exit(1)


def require(condition, text):
    if not condition:
        complain(text)


def validate(schema, value):
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(value))
    for error in errors[:5]:
        print("/".join(map(str, error.absolute_path)), error.message[:300], file=sys.stderr)
    require(not errors, "not valid")


def check_counts(summary, findings):
    """Listed and unlisted findings are all of them."""
    for key, level in (("errors", "error"), ("warnings", "warning"), ("notes", "note")):
        listed = sum(f["severity"] == level for f in findings)
        require(listed <= summary[key], f"{key}: {listed} are listed and {summary[key]} are counted")
    total = len(findings) + sum(summary.get("unlisted", {}).values())
    counted = summary["errors"] + summary["warnings"] + summary["notes"]
    require(total == counted, f"{total} findings are listed or not, and {counted} are counted")


def check_report(text, schema):
    report = json.loads(text)
    validate(schema, report)
    for entry in report["inputs"]:
        check_counts(entry, entry["findings"])


def check_lines(text, schema):
    schema = {**schema, "$ref": "#/$defs/line"}
    for key in ("type", "required", "properties", "additionalProperties"):
        schema.pop(key)
    findings, summaries, ended = [], [], True
    for line in text.splitlines():
        value = json.loads(line)
        validate(schema, value)
        ended = value["type"] == "end"
        if ended:
            require(value["inputs"] == len(summaries), "inputs of the last line")
            require(value["incomplete"] == sum(not s["complete"] for s in summaries), "incomplete of the last line")
            summaries = []
        if value["type"] == "finding":
            findings.append(value)
        elif value["type"] == "summary":
            require(all(f["input"] == value["path"] for f in findings), "a finding of another input")
            check_counts(value, findings)
            summaries.append(value)
            findings = []
    require(not findings, "findings without a summary")
    require(ended, "no last line")


# Facts that are names or texts of the capture: digits in them are no numbers.
TEXTS = {"version", "recorder", "program", "command line", "session", "features"}


def check_info(text, schema):
    """Each fact that says more than one number has fields, and says them as they are."""
    schema = {**schema, "$ref": "#/$defs/info"}
    for key in ("type", "required", "properties", "additionalProperties"):
        schema.pop(key)
    report = json.loads(text)
    validate(schema, report)
    for fact in (f for entry in report["inputs"] for f in entry["facts"]):
        digits = re.sub(r'"[^"]*"', "", fact["value"])
        if "fields" not in fact:
            require(fact["key"] in TEXTS or len(re.findall(r"\d+", digits)) <= ("number" in fact) + ("." in digits),
                    f"text only: {fact}")
            continue
        for name, value in fact["fields"].items():
            said = str(value)
            if name == "ns" or name.endswith("_ns"):
                said = rf"{int(value) // 10**9}\.{int(value) % 10**9:09}|{value}"
            elif name in ("us", "buffer_full", "bound_reached", "ticks"):
                continue
            elif name in ("name", "buffer", "clock", "type"):
                said = re.escape(said)
            elif name not in ("tid", "pid", "cpu", "id") and not re.search(r"time|tick$|_ns$", name):
                said = f"{said}|{int(value):,}"
            require(re.search(said, fact["key"] + " " + fact["value"]), f"{name} is not in the value of {fact}")


def check_manifest(text, schema):
    manifest = json.loads(text)
    validate(schema, manifest)
    for output in manifest["outputs"]:
        at = 0
        for segment in segments_of(output):
            require(segment["offset"] == at, f"segment at {segment['offset']}, expected {at}")
            require("bytes" not in segment or len(segment["bytes"]) == 2 * segment["length"], "length of a literal")
            at += segment["length"]
        require(at == output["size"], "the segments do not make the output")


def check_sarif(text, schema):
    sarif = json.loads(text)
    validate(schema, sarif)
    run = sarif["runs"][0]
    rules, artifacts = run["tool"]["driver"]["rules"], run["artifacts"]
    for result in run["results"]:
        require(rules[result["ruleIndex"]]["id"] == result["ruleId"], "ruleIndex")
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        require(artifacts[place["index"]]["location"]["uri"] == place["uri"], "artifact index")
        urllib.parse.unquote_to_bytes(place["uri"])


def check_rules(text, _):
    rules = json.loads(text)["rules"]
    keys = ["id", "format", "severity", "preview", "class", "title", "clause", "url", "explanation", "repair"]
    classes = "malformed alignment reference truncation size text order semantics loss".split()
    require(rules, "no rules")
    require(len({r["id"] for r in rules}) == len(rules), "two rules of one id")
    for rule in rules:
        require(list(rule) == keys, f"keys of {rule}")
        require(rule["id"].startswith(rule["format"] + "/"), f"id of {rule['id']}")
        require(rule["severity"] in ("error", "warning", "note"), f"severity of {rule['id']}")
        require(rule["preview"] in (True, False) and not (rule["preview"] and rule["severity"] == "error"), f"preview of {rule['id']}")
        require(rule["class"] in classes, f"class of {rule['id']}")
        require(all(rule[k].strip() for k in keys if k not in ("url", "preview")), f"empty text of {rule['id']}")
        require(re.fullmatch(r"(https://\S+)?", rule["url"]), f"address of {rule['id']}")


def main():
    kind, *paths = sys.argv[1:]
    schema = json.loads(SCHEMAS[kind].read_text()) if kind in SCHEMAS else None
    for path in paths:
        text = pathlib.Path(path).read_bytes().decode("utf-8")  # strictly: a report is valid UTF-8
        {"report": check_report, "lines": check_lines, "info": check_info, "manifest": check_manifest, "sarif": check_sarif,
         "rules": check_rules}[kind](text, schema)


main()
