#!/usr/bin/env python3
"""How much code of Debian's trace-cmd and uftrace is reached from the same capture in the same time: blind mutation (zzuf,
afl-fuzz -n), captures of our generator, and our mutator (afl-fuzz -n with it and nothing else).

    tests/tools/coverage_readers.py [--seconds N] [--trials N] [--reader NAME] [--method NAME]

What is counted are distinct addresses of instructions in the reader's program and its own libraries that qemu-x86_64-static
translates, which it does when they are about to be run. Trial I of each method begins with the same valid capture of the
corpus; it ends after N seconds (30) of processor time, in which inputs are made and the reader runs on each, under qemu. Nothing feeds
back: no method learns what was reached. A directory (uftrace) is blindly mutated one file at a time by turns, its names and the
other files stay. A row is the median of the trials (5). Exit 77: something is not installed."""
import argparse
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import files_below, rules, unpack  # noqa: E402

TOOL = os.path.abspath(os.environ.get('TRACEMEND', 'build/tracemend'))
MUTATOR = os.path.abspath('build/libtracemend-mutator.so')
QEMU = 'qemu-x86_64-static'
# Where qemu-user puts a position-independent program.
BASE = 0x4000000000
# Seconds of processor time for one input, and bytes of memory. What takes longer counts as a hang.
INPUT_SECONDS, INPUT_MEMORY = 10, 4 << 30
# Inputs that afl-fuzz makes at a time.
BATCH = 60

READERS = {
    'trace-cmd': ('tracedat', ['trace-cmd', 'report', '{}'], r'libtraceevent|libtracefs|libtracecmd'),
    'uftrace': ('uftrace', ['uftrace', 'replay', '--no-pager', '-d', '{}'], r'(?!)'),
}


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def code_of(path):
    """Offset and size of the executable segment."""
    out = subprocess.check_output(['readelf', '-lW', path], text=True)
    row = next(line.split() for line in out.splitlines() if line.split()[:1] == ['LOAD'] and ' R E ' in line)
    return int(row[2], 16), int(row[5], 16)


class Reader:
    def __init__(self, name, scratch):
        self.name, (self.format, self.argv, own) = name, READERS[name]
        self.program = shutil.which(self.argv[0])
        self.log = os.path.join(scratch, 'log')
        self.environment = {'PATH': os.environ['PATH'], 'HOME': scratch, 'LC_ALL': 'C', 'TERM': 'dumb'}
        loaded = subprocess.check_output([QEMU, '-E', 'LD_TRACE_LOADED_OBJECTS=1', self.program], text=True)
        images = [(self.program, BASE)]
        images += [(path, int(at, 16)) for path, at in re.findall(r'=> (\S+) \((0x[0-9a-f]+)\)', loaded) if re.search(own, path)]
        self.ranges = []
        for path, at in images:
            offset, size = code_of(path)
            self.ranges.append((at + offset, size))

    def run(self, path):
        """The addresses that it reaches, and how it ends: '', 'crash' or 'hang'."""
        command = [QEMU, '-d', 'in_asm', '-dfilter', ','.join(f'0x{at:x}+0x{size:x}' for at, size in self.ranges),
                   '-D', self.log, self.program] + [path if word == '{}' else word for word in self.argv[1:]]

        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (INPUT_SECONDS, INPUT_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (INPUT_MEMORY, INPUT_MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=self.environment, preexec_fn=limits, check=False)
        with open(self.log, 'rb') as log:
            reached = {int(at, 16) for at in re.findall(rb'^0x([0-9a-f]+):', log.read(), re.M)}
        end = '' if done.returncode >= 0 else 'hang' if -done.returncode in (signal.SIGKILL, signal.SIGXCPU) else 'crash'
        return reached, end


class Seed:
    """A capture: its file as it travels, and the files that blind mutation may change."""

    def __init__(self, path, scratch):
        self.path, self.folder = path, None
        self.files = [path]
        if path.endswith('.tar'):
            self.folder = os.path.join(scratch, 'seed')
            unpack(path, self.folder)
            self.files = sorted(files_below(self.folder))
            self.files = [f for f in self.files if os.path.getsize(f)]

    def with_file(self, changed, mutant, target):
        """The capture with another content of one of its files; the path for the reader."""
        if not self.folder:
            return mutant
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.folder, target)
        shutil.copyfile(mutant, os.path.join(target, os.path.relpath(changed, self.folder)))
        return target


# ---- methods: each yields paths of inputs, without end ----

def by_zzuf(reader, seed, trial, scratch):
    for i in itertools.count():
        changed = seed.files[i % len(seed.files)]
        mutant = os.path.join(scratch, 'mutant')
        with open(changed, 'rb') as source, open(mutant, 'wb') as out:
            subprocess.run(['zzuf', '-q', '-s', str(trial << 20 | i), '-r', '0.00001:0.02'], stdin=source, stdout=out, check=True)
        yield seed.with_file(changed, mutant, os.path.join(scratch, 'capture'))


def afl_batch(source, count, number, scratch, more):
    """What afl-fuzz makes of a file, in the order in which it runs it."""
    work = tempfile.mkdtemp(dir=scratch)
    for name in 'in', 'store':
        os.mkdir(os.path.join(work, name))
    shutil.copyfile(source, os.path.join(work, 'in', 'seed'))
    store = os.path.join(work, 'store')
    environment = {'PATH': os.environ['PATH'], 'AFL_SKIP_CPUFREQ': '1', 'AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES': '1',
                   'AFL_NO_UI': '1', 'AFL_NO_AFFINITY': '1', 'AFL_QUIET': '1', **more}
    subprocess.run(['afl-fuzz', '-n', '-i', os.path.join(work, 'in'), '-o', os.path.join(work, 'out'), '-E', str(count),
                    '-s', str(number), '-t', '5000', '-m', 'none', '--', '/bin/sh', '-c', 'cp "$1" "$0/$$"', store, '@@'],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=False)
    made = sorted((os.stat(os.path.join(store, name)).st_mtime_ns, name) for name in os.listdir(store))
    if len(made) < count // 2:
        raise RuntimeError(f'afl-fuzz made {len(made)} of {count} inputs')
    # The first one is the seed.
    return work, [os.path.join(store, name) for _, name in made[1:]]


def by_afl(reader, seed, trial, scratch):
    for i in itertools.count():
        batches = [(changed, *afl_batch(changed, max(10, BATCH // len(seed.files)), trial << 20 | i, scratch, {}))
                   for changed in seed.files]
        for turn in itertools.zip_longest(*[made for _, _, made in batches]):
            for (changed, _, _), mutant in zip(batches, turn):
                if mutant:
                    yield seed.with_file(changed, mutant, os.path.join(scratch, 'capture'))
        for _, work, _ in batches:
            shutil.rmtree(work)


def by_mutator(reader, seed, trial, scratch):
    more = {'AFL_CUSTOM_MUTATOR_LIBRARY': MUTATOR, 'AFL_CUSTOM_MUTATOR_ONLY': '1', 'TRACEMEND_FORMAT': reader.format}
    target = os.path.join(scratch, 'capture')
    for i in itertools.count():
        work, made = afl_batch(seed.path, BATCH, trial << 20 | i, scratch, more)
        for mutant in made:
            if seed.folder:
                shutil.rmtree(target, ignore_errors=True)
                unpack(mutant, target)
            yield target if seed.folder else mutant
        shutil.rmtree(work)


def by_generator(reader, seed, trial, scratch):
    """A valid capture and one with a defect, by turns; each rule once, then from the beginning."""
    ids = [r['id'] for r in rules(TOOL, reader.format)]
    random.Random(trial).shuffle(ids)
    for i in itertools.count():
        folder = os.path.join(scratch, 'made')
        shutil.rmtree(folder, ignore_errors=True)
        kind = ['--rule', ids[i // 2 % len(ids)]] if i % 2 else ['--valid']
        subprocess.run([TOOL, 'gen', '-q', '-f', reader.format, *kind, '--seed', str(trial << 20 | i), '-o', folder],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        try:
            with open(os.path.join(folder, 'labels.jsonl'), encoding='utf-8') as labels:
                yield os.path.join(folder, json.loads(labels.readline())['file'])
        except FileNotFoundError:
            continue


METHODS = {'zzuf': by_zzuf, 'afl-fuzz -n': by_afl, 'generator': by_generator, 'mutator': by_mutator}


def seeds_of(reader, trials, scratch):
    """Valid captures that the reader takes, spread over the corpus."""
    folder = os.path.join('corpus', reader.format, 'valid')
    names = sorted(n for n in os.listdir(folder) if n.endswith(('.dat', '.tar')))
    random.Random(1).shuffle(names)
    good = []
    for name in names:
        path = os.path.join(folder, name)
        seed = Seed(path, tempfile.mkdtemp(dir=scratch))
        done = subprocess.run([w if w != '{}' else seed.folder or path for w in reader.argv], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=reader.environment, check=False)
        if done.returncode == 0 and done.stdout.count(b'\n') > 3:
            good.append(seed)
        if len(good) == trials:
            break
    return good


def trial(reader, method, seed, number, seconds, scratch):
    reached, _ = reader.run(seed.folder or seed.path)
    at_first, inputs, ends = len(reached), 0, {'': 0, 'crash': 0, 'hang': 0}
    since = spent()
    for path in METHODS[method](reader, seed, number, scratch):
        found, end = reader.run(path)
        reached |= found
        inputs += 1
        ends[end] += 1
        if spent() - since >= seconds:
            break
    return {'reader': reader.name, 'method': method, 'seed': os.path.basename(seed.path), 'inputs': inputs,
            'reached': len(reached), 'beyond': len(reached) - at_first, 'crashes': ends['crash'], 'hangs': ends['hang']}


def table(name, rows, seconds):
    def cell(method, key):
        values = sorted(row[key] for row in rows if row['method'] == method)
        return f'{statistics.median(values):.0f} ({values[0]}..{values[-1]})'

    print(f'{" ".join(READERS[name][1][:2])}, {len(rows) // len({r["method"] for r in rows})} trials of {seconds:g} s: median (least..most)')
    print(f'  {"":12}{"inputs":>18}{"reached":>24}{"beyond the seed":>22}{"crashes":>12}{"hangs":>10}')
    for method in dict.fromkeys(row['method'] for row in rows):
        print(f'  {method:12}' + ''.join(f'{cell(method, key):>{width}}' for key, width in
              (('inputs', 18), ('reached', 24), ('beyond', 22), ('crashes', 12), ('hangs', 10))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seconds', type=float, default=30)
    parser.add_argument('--trials', type=int, default=5)
    parser.add_argument('--reader', action='append', choices=list(READERS))
    parser.add_argument('--method', action='append', choices=list(METHODS))
    options = parser.parse_args()
    for program in [QEMU, 'zzuf', 'afl-fuzz', 'readelf', *(options.reader or READERS)]:
        if not shutil.which(program):
            print(f'skip: {program} is not installed')
            return 77
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        readers = [Reader(name, scratch) for name in options.reader or READERS]
        seeds = {reader.name: seeds_of(reader, options.trials, scratch) for reader in readers}
        # Trial by trial, so that what else the machine does falls on all methods alike.
        for number, reader, method in itertools.product(range(options.trials), readers, options.method or METHODS):
            inner = tempfile.mkdtemp(dir=scratch)
            rows.append(trial(reader, method, seeds[reader.name][number], number + 1, options.seconds, inner))
            shutil.rmtree(inner)
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    for name in options.reader or READERS:
        table(name, [row for row in rows if row['reader'] == name], options.seconds)
    return 0


sys.exit(main())
