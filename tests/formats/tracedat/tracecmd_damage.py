#!/usr/bin/env python3
"""Captures cut, or 512 bytes of them zeroed, at places all over them: does everything come back that was not hit?

    tests/formats/tracedat/tracecmd_damage.py [--tool TRACEMEND] [--places N] [--first N] [--at N,N...] [--kind cut|zero] [--keep DIR] [-v] [CAPTURE...]

CAPTUREs are little-endian trace.dat files of 64-bit kernels with one buffer; without any, three are generated (version 6,
version 7 plain and zstd). Damage at N places spread evenly (default 8), the first and the last byte among them. What
trace-cmd report prints of the undamaged file is the truth; tracecmd_parse.py knows which bytes each event is in. At each place

  - no event may be lost whose record is before the cut, or whose page (chunk, when compressed) has no zeroed byte;
  - no event may be shown that was not there: CPU and time tell it, and its text unless the zeroes hit formats, symbols,
    messages or command lines that the text is made from; of a page or chunk that was hit it may, if the manifest doubts it;
  - check must find errors in what is damaged, none in what was repaired; repairing that again changes nothing; the manifest
    must hold (verify_manifest.py).

Without CAPTUREs also: the first 512 bytes zeroed of N generated captures (default 20) of every version, byte order, long size,
page size and compressor. Each must be recognised, have errors, and keep as many records as were written.

A row counts a capture and a kind of damage. The last line is "N passed, N failed". Exit 77: trace-cmd is not installed."""
import argparse
import collections
import concurrent.futures
import json
import os
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
from harness import Problem, verify  # noqa: E402
from verify_manifest import ranges_of  # noqa: E402
from tracecmd_parse import LINE, Capture, records_of, report, run, walk_v6, walk_v7  # noqa: E402

ZEROED = 512


def key_of(line):
    """CPU and time: what damage of metadata cannot change."""
    m = LINE.match(line)
    return (int(m['cpu']), m['time']) if m else (None, line)


class Truth:
    """Each event of a capture: its key, its line, and where it is."""

    def __init__(self, path, work):
        with open(path, 'rb') as f:
            self.capture = Capture(f.read(), work)
        self.events = []
        for cpu, places in self.capture.records.items():
            lines = report(path, '--cpu', str(cpu))[1]
            if len(lines) != len(places):
                raise SystemExit(f'{path}: CPU {cpu} has {len(places)} records, trace-cmd prints {len(lines)}')
            self.events += [(key_of(line), line, where) for line, where in zip(lines, places)]

    def cut(self, at):
        """The events that must come back, and whether a line may be written otherwise."""
        return [e for e in self.events if e[2][2] <= at], lambda line, other: False

    def zero(self, at):
        hit = [m for m in self.capture.metadata if m[0] < at + ZEROED and m[1] > at]
        kinds = {m[2] for m in hit}
        events = {name for m in hit if m[2] == 'formats' for name in m[3] or ['*']}

        def may_differ(line, other):
            a, b = LINE.match(line), LINE.match(other)
            if '*' in events or a['event'] in events:
                return True
            same = a['event'] == b['event'] and ('symbols' in kinds or a['text'] == b['text'])
            return same and bool(kinds) and ('tasks' in kinds or a['task'] == b['task'])
        return [e for e in self.events if e[2][0] >= at + ZEROED or e[2][1] <= at], may_differ


def is_legal(truth, damaged, at):
    """Whether zeroes left a page as a recorder might have written it: they are in the payload of one record, or all of it."""
    if truth.capture.compressed:
        return False
    pages = {e[2][:2] for e in truth.events if e[2][0] < at + ZEROED and e[2][1] > at}
    return bool(pages) and all(not any(damaged[a:b]) or (damaged[a:a + 16] == truth.capture.data[a:a + 16] and
                                                         records_of(damaged[a:b]) == records_of(truth.capture.data[a:b]))
                               for a, b in pages)


class Tally:
    def __init__(self):
        self.due = self.back = self.extra = self.doubted = self.otherwise = 0
        self.failures = []


def mend(options, damaged, work):
    """Exit codes of check and repair, the path of the repaired file, ranges of doubt, and what is wrong with it in itself."""
    path, out, again = work + '/damaged.dat', work + '/repaired.dat', work + '/again.dat'
    with open(path, 'wb') as f:
        f.write(damaged)
    for name in (out, again):
        if os.path.exists(name):
            os.unlink(name)
    wrong, doubtful = [], []
    checked = run(options.tool, 'check', '-q', path)[0]
    repaired = run(options.tool, 'repair', path, '-o', out, '--manifest', work + '/manifest.json')[0]
    if repaired in (0, 3):
        if run(options.tool, 'check', '-q', out)[0] != 0:
            wrong.append('the repaired file has errors')
        code = run(options.tool, 'repair', out, '-o', again)[0]
        # 3: its bytes are as they should be, and still nobody knows whether something is missing.
        with open(out, 'rb') as a, open(again, 'rb') if code in (0, 3) else open(os.devnull, 'rb') as b:
            if a.read() != b.read():
                wrong.append(f'repairing again exits {code} or changes it')
        try:
            with open(work + '/manifest.json', encoding='utf-8') as f:
                manifest = json.load(f)
            doubtful = [(d['from'], d['from'] + d['length']) for d in ranges_of(manifest, 'doubtful')]
            verify(manifest, out)
        except Problem as problem:
            wrong.append(f'manifest: {problem}')
    return checked, repaired, out, doubtful, wrong


def place(options, truth, kind, at, tally):
    data = truth.capture.data
    damaged = data[:at] if kind == 'cut' else data[:at] + bytes(len(data[at:at + ZEROED])) + data[at + ZEROED:]
    due, may_differ = truth.cut(at) if kind == 'cut' else truth.zero(at)
    if damaged == data:
        due = truth.events
    with tempfile.TemporaryDirectory() as work:
        checked, repaired, out, doubtful, wrong = mend(options, damaged, work)
        shown = report(out)[1] if repaired in (0, 3) else []
    # Of an empty file, or where nothing but the file's name is left, there is nothing to mend.
    if damaged != data and checked != 1 and not (checked == 4 and not due) and not (checked == 0 and is_legal(truth, damaged, at)):
        wrong.append(f'check exits {checked}')
    if repaired not in (0, 3) and not (repaired == 4 and not due):
        wrong.append(f'repair exits {repaired}')
    lines = collections.defaultdict(list)
    for line in shown:
        lines[key_of(line)].append(line)
    count = len(shown)
    otherwise = 0
    for key, line, where in sorted(due, key=lambda e: e[0]):
        found = lines.get(key)
        if not found:
            continue
        tally.back += 1
        other = line if line in found else found[0]
        found.remove(other)
        if other != line:
            otherwise += 1
            if not may_differ(line, other):
                wrong.append(f'instead of "{line.strip()}" it says "{other.strip()}"')
    rest = collections.Counter(key for key, found in lines.items() for _ in found)
    hit = collections.Counter(e[0] for e in truth.events) - collections.Counter(e[0] for e in due)
    extra, lost = sum((rest - hit).values()), len(due) - (count - sum(rest.values()))
    # What a damaged chunk unfolds to, or a page whose time was hit, may be wrong; then it must be listed as doubtful.
    doubted = collections.Counter(e[2][:2] for e in truth.events) - collections.Counter(e[2][:2] for e in due)
    doubted = extra <= sum(n for (a, b), n in doubted.items() if any(c < b and a < d for c, d in doubtful))
    tally.doubted += extra if doubted else 0
    extra = 0 if doubted else extra
    tally.due += len(due)
    tally.extra += extra
    tally.otherwise += otherwise
    if lost:
        wrong.append(f'{lost} of {len(due)} events are lost')
    if extra:
        wrong.append(f'{extra} events were not there: {next(iter(rest - hit))}')
    if wrong:
        tally.failures.append((at, wrong))


def places_of(size, count):
    """Evenly from the first byte to the last, both included."""
    return sorted({i * (size - 1) // max(count - 1, 1) for i in range(count)})


def row(options, path, kind):
    with tempfile.TemporaryDirectory() as work:
        truth = Truth(path, work)
    size = len(truth.capture.data)
    places = [int(at) for at in options.at.split(',')] if options.at else places_of(size, options.places)
    tally = Tally()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job in [pool.submit(place, options, truth, kind, at, tally) for at in places]:
            job.result()
    name = f'{os.path.basename(path)} ({len(truth.capture.data)} bytes, {len(truth.events)} events)'
    print(f'{name:44} {kind:5} {len(places):5} {tally.due:9} {tally.back:9} {tally.due - tally.back:6} {tally.extra:6} {tally.doubted:8} '
          f'{tally.otherwise:9} {len(tally.failures):7}')
    for at, wrong in sorted(tally.failures):
        print(f'    {kind} at {at}: {"; ".join(wrong if options.verbose else wrong[:2])}')
    sys.stdout.flush()
    return len(places) - len(tally.failures), len(tally.failures)


def beginnings(options, work):
    """Captures of any kind that have lost their beginning. How many passed and failed."""
    run(options.tool, 'gen', '-f', 'tracedat', '--seed', '1000', '--count', str(options.first), '--size', '30000', '-o', work + '/first')
    failed = 0
    with open(work + '/first/labels.jsonl', encoding='utf-8') as f:
        labels = [json.loads(line) for line in f]
    for label in labels:
        with open(f'{work}/first/{label["file"]}', 'rb') as f:
            data = f.read()
        checked, repaired, _, _, wrong = mend(options, bytes(ZEROED) + data[ZEROED:], work)
        kept = None
        if repaired in (0, 3):
            with open(work + '/manifest.json', encoding='utf-8') as f:
                kept = json.load(f)['records']['kept']
        if checked != 1 or kept != label['records'] or wrong:
            failed += 1
            print(f'    seed {label["seed"]}: check exits {checked}, repair {repaired}, {kept} of {label["records"]} records; {"; ".join(wrong)}')
    print(f'the first {ZEROED} bytes zeroed of {len(labels)} captures: {failed} failed')
    return len(labels) - failed, failed


def generated(options, work):
    """One capture of each kind with events on more than one CPU."""
    wanted = {'v6': lambda d: d[10:11] == b'6', 'v7-none': lambda d: d[10:22] == b'7\0\0\x08\0\x10\0\0none',
              'v7-zstd': lambda d: d[10:22] == b'7\0\0\x08\0\x10\0\0zstd'}
    for seed in range(1, 600):
        run(options.tool, 'gen', '-f', 'tracedat', '--seed', str(seed), '--size', '60000', '-o', work + '/gen')
        name = next(n for n in os.listdir(work + '/gen') if n.endswith('.dat'))
        with open(f'{work}/gen/{name}', 'rb') as f:
            data = f.read()
        os.rename(f'{work}/gen/{name}', work + '/candidate.dat')
        shutil.rmtree(work + '/gen')
        kind = next((k for k, fits in wanted.items() if fits(data)), None)
        if not kind or data[12:18] != b'\0\x08\0\x10\0\0':
            continue
        try:
            m = walk_v6(data) if kind == 'v6' else walk_v7(data)
            if kind == 'v6' and (3 in m.option or data[m.fly:m.fly + 9] != b'flyrecord'):
                continue
            # Options that shift times are in no other place.
            if {1, 7, 12, 14} & set(m.option):
                continue
            truth = Truth(work + '/candidate.dat', work)
        except (struct.error, KeyError, ValueError, IndexError, SystemExit):
            continue # a part that the reader of this test does not know
        if len(truth.capture.records) < 2 or len(truth.events) < 50:
            continue
        os.rename(work + '/candidate.dat', f'{work}/{kind}.dat')
        if options.keep:
            shutil.copy(f'{work}/{kind}.dat', options.keep)
        yield f'{work}/{kind}.dat'
        del wanted[kind]
        if not wanted:
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tool', default='build/tracemend')
    parser.add_argument('--places', type=int, default=8)
    parser.add_argument('--first', type=int, default=20)
    parser.add_argument('--at', help='places, in place of --places')
    parser.add_argument('--kind', choices=('cut', 'zero'))
    parser.add_argument('-j', '--jobs', type=int, default=2)
    parser.add_argument('-v', '--verbose', action='store_true')
    parser.add_argument('--keep', help='a folder for the captures that are generated')
    parser.add_argument('captures', nargs='*')
    options = parser.parse_args()
    if not shutil.which('trace-cmd') or not shutil.which('zstd'):
        print('skip: trace-cmd or zstd is not installed')
        sys.exit(77)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        print(f'{"capture":44} {"kind":5} {"places":>5} {"due":>8} {"back":>9} {"lost":>6} {"new":>6} {"doubtful":>8} {"otherwise":>9} {"failed":>7}')
        for path in options.captures or generated(options, work):
            for kind in [options.kind] if options.kind else ['cut', 'zero']:
                good, bad = row(options, path, kind)
                passed, failed = passed + good, failed + bad
        if not options.captures:
            good, bad = beginnings(options, work)
            passed, failed = passed + good, failed + bad
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


main()
