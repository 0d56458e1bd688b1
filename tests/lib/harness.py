"""What the Python tests share: the folders of tests/, the program as a child process, captures as {file name: bytes}.

A test puts this folder into sys.path and imports harness, which adds the folders of the formats and of the tools.
"""
import importlib
import json
import os
import subprocess
import sys
import tarfile

from verify_manifest import Problem, member_bytes, require, verify

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.dirname(TESTS)
TIMEOUT = 120
# Kinds of damage that `gen --damage` knows.
DAMAGES = ("truncate", "hole", "zero-tail", "bitflip", "duplicate", "insert", "delete")

for _folder in ("tools", *(f"formats/{name}" for name in sorted(os.listdir(os.path.join(TESTS, "formats"))))):
    sys.path.append(os.path.join(TESTS, _folder))


# ---- the program ----

def execute(tool, *arguments, timeout=TIMEOUT):
    """The finished process of one run; no input, both outputs kept."""
    return subprocess.run([tool, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, check=False)


def run(tool, *arguments):
    """execute(), held to ending by an exit code and without a word from a sanitizer."""
    result = execute(tool, *arguments)
    require(result.returncode >= 0, f"{' '.join(arguments)}: killed by signal {-result.returncode}")
    require(b"Sanitizer" not in result.stderr and b"runtime error" not in result.stderr,
            f"{' '.join(arguments)}: {result.stderr.decode(errors='replace')[:2000]}")
    return result


def rules(tool, name=None):
    """The rules of a format, or of all, as `rules --format json` has them."""
    done = subprocess.run([tool, "rules", *(["-f", name] if name else []), "--format", "json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["rules"]


def formats(tool="build/tracemend"):
    """The names of all formats, as scripts/formats.sh prints them."""
    return sorted({rule["format"] for rule in rules(tool)} - {"container"})


def reports(tool, name, paths, *options):
    """(exit code, {path: report}) of one check --format json over several captures."""
    result = run(tool, "check", "-f", name, "--format", "json", "--max-findings", "0", *options, *paths)
    try:
        document = json.loads(result.stdout.decode("utf-8"))
    except ValueError as error:
        raise Problem(f"check of {paths[0]} exits {result.returncode} and prints no JSON: {error}: "
                      f"{result.stderr.decode(errors='replace')[:300]}") from None
    require([entry["path"] for entry in document["inputs"]] == list(paths), f"{paths[0]}: the inputs in the report are others")
    return result.returncode, {entry["path"]: entry for entry in document["inputs"]}


def check(tool, name, path, *options):
    """(exit code, report of the input) of check --format json."""
    code, found = reports(tool, name, [path], *options)
    return code, found[path]


def check_all(tool, name, paths, *options):
    """{path: report} of many captures."""
    return reports(tool, name, paths, *options)[1] if paths else {}


def rules_of(report, severity=None):
    return {f["rule"] for f in report["findings"] if severity is None or f["severity"] == severity}


def generate(tool, name, folder, *options):
    """[(label, path)] of one run of gen. Raises Problem."""
    result = execute(tool, "gen", "-q", "-f", name, "-o", folder, *options)
    require(result.returncode == 0, f"gen -f {name} {' '.join(options)}: {result.stderr.decode(errors='replace').strip()}")
    with open(os.path.join(folder, "labels.jsonl"), encoding="utf-8") as f:
        labels = [json.loads(line) for line in f]
    return [(label, os.path.join(folder, label["file"])) for label in labels]


def repair_and_verify(tool, name, path, report, work, options=()):
    """Repairs path into work/out with the manifest work/manifest.json, holds the result to every promise, returns the exit code."""
    out, manifest_path = os.path.join(work, "out"), os.path.join(work, "manifest.json")
    before = files_of(path)
    result = run(tool, "repair", "-f", name, *options, "-o", out, "--manifest", manifest_path, path)
    require(files_of(path) == before, "repair changed its input")
    if result.returncode in (4, 6):
        require(not os.path.exists(out), f"repair exits {result.returncode} and wrote an output")
        require(report["errors"] or not report["complete"], f"nothing is wrong, and repair exits {result.returncode}")
        return result.returncode
    require(result.returncode in (0, 3), f"repair exits {result.returncode}: {result.stderr.decode(errors='replace')[:600]}")
    require(os.path.exists(out), "repair wrote nothing")
    with open(manifest_path, encoding="utf-8") as f:
        manifest = json.load(f)
    rebuilt = verify(manifest, out)
    records = manifest["records"]
    require(result.returncode == (3 if manifest["lost"] else 0), f"repair exits {result.returncode}, and the manifest says lost: {manifest['lost']}")
    require(manifest["lost"] or (records["dropped"] == 0 and records["dropped_is"] == "exact"),
            f"nothing is called lost, and {records['dropped']} ({records['dropped_is']}) records are dropped")
    if not report["errors"]:
        for member in manifest["inputs"]:
            require(rebuilt.get(member["file"]) == member_bytes(member["path"], member["file"]),
                    f"a capture without errors was changed: {member['file']}")
    code, after = check(tool, name, out, *options)
    require(code == 0 and after["errors"] == 0 and after["complete"],
            f"the output has {after['errors']} errors: {[f['message'] for f in after['findings'] if f['severity'] == 'error'][:1]}")
    require(after["records"] == records["kept"] + records["patched"] + records["added"],
            f"the output has {after['records']} records, the manifest says {records}")
    again = os.path.join(work, "again")
    result2 = run(tool, "repair", "-f", name, *options, "-o", again, out)
    # What the first found doubtful still is; and what only warnings show stays unknown.
    require(result2.returncode == 0 or (result2.returncode == 3 and (manifest["doubtful"] or after["warnings"])),
            f"the second repair exits {result2.returncode}")
    require(files_of(again) == files_of(out), "the second repair changes the output of the first")
    return result.returncode


# ---- captures ----

def read(path):
    with open(path, "rb") as f:
        return f.read()


def files_of(path):
    """{name: bytes} of a file or directory, as it is."""
    if not os.path.isdir(path):
        return {"": read(path)}
    return {os.path.relpath(full, path): read(full) for full in files_below(path) if not os.path.islink(full)}


def capture_of(path):
    """The same, but what is in a plain tar, as which directories are in the corpus."""
    if not path.endswith(".tar"):
        return files_of(path)
    with tarfile.open(path) as tar:
        return {m.name.removeprefix("./"): tar.extractfile(m).read() for m in tar if m.isreg()}


def unpack(tar, folder):
    """Unpacks a capture that travels as a tar; members that a mutated one has no business with are left out."""
    os.makedirs(folder, exist_ok=True)
    try:
        with tarfile.open(tar) as archive:
            for member in archive:
                if member.isfile() and ".." not in member.name.split("/") and not member.name.startswith("/"):
                    archive.extract(member, folder, set_attrs=False)
    except (tarfile.TarError, OSError, ValueError):
        pass


def files_below(path):
    """The paths of all files of a capture."""
    return [path] if os.path.isfile(path) else [os.path.join(d, n) for d, _, names in os.walk(path) for n in names]


def size_of(path):
    return sum(map(os.path.getsize, files_below(path)))


# ---- independent parsers ----

def parser_of(name):
    """The module tests/formats/<name>/<name>_parse.py, or None."""
    if not os.path.exists(os.path.join(TESTS, "formats", name, f"{name}_parse.py")):
        return None
    return importlib.import_module(f"{name}_parse")
