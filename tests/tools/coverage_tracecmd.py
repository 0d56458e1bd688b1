#!/usr/bin/env python3
"""How much of libtracecmd is reached in the same time from the same seeds: by afl-fuzz, by afl-fuzz with our dictionary, with our
mutator beside its own, with our mutator alone, and by the generator alone.

    tests/tools/coverage_tracecmd.py HARNESS SEEDS [--seconds N] [--trials N] [--jobs N] [--method NAME] [-o FILE]

HARNESS is the library with AFL++'s instrumentation (scripts/fuzz-tracecmd.sh builds it), SEEDS a directory of captures. A trial lasts N
seconds (600). What is counted are the edges that afl-showmap sees in everything that the trial kept: queue, crashes and hangs of
afl-fuzz; all that was generated. The generator knows nothing of the reader: valid captures, a capture of each rule and damaged ones by turns, every
second round only what an ordinary host reads (--host). Each trial is a line of FILE (default build/fuzz/tracecmd/coverage.jsonl); what
is there is not run again. At the end: the medians, and for each pair of methods an exact Mann-Whitney test with two
sides and the share of pairs of trials in which the first method reached more (A of Vargha and Delaney)."""
import argparse
import concurrent.futures
import itertools
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../lib'))
from harness import rules  # noqa: E402

TOOL = os.path.abspath(os.environ.get('TRACEMEND', 'build/tracemend'))
MUTATOR = os.path.abspath('build/libtracemend-mutator.so')
DICTIONARY = os.path.abspath('build/tracemend-dictionary')
DAMAGES = ('truncate', 'hole', 'zero-tail', 'bitflip', 'duplicate', 'insert', 'delete')
# Milliseconds after which a run is a hang, for each method.
TIMEOUT = '500'
QUIET = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}


def environment(**more):
    return {'PATH': os.environ['PATH'], 'AFL_SKIP_CPUFREQ': '1', 'AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES': '1', 'AFL_NO_UI': '1',
            'AFL_NO_AFFINITY': '1', 'AFL_QUIET': '1', 'AFL_MAP_SIZE': '65536', **more}


def edges_of(harness, folder, scratch):
    """The edges that the files of a folder reach."""
    # afl-showmap opens what begins with /dev/ without making it; a relative path never does.
    out = os.path.relpath(os.path.join(scratch, 'map'))
    if os.path.exists(out):
        os.remove(out)
    subprocess.run(['afl-showmap', '-C', '-q', '-e', '-t', TIMEOUT, '-m', 'none', '-i', folder, '-o', out, '--', harness], env=environment(),
                   check=False, **QUIET)
    with open(out, encoding='ascii') as lines:
        return {line.split(':')[0] for line in lines}


def by_afl(harness, seeds, number, seconds, scratch, method):
    arguments, more = [], {}
    if method == 'dictionary':
        path = os.path.join(scratch, 'tracedat.dict')
        with open(path, 'wb') as out:
            subprocess.run([DICTIONARY, 'tracedat'], stdout=out, check=True)
        arguments = ['-x', path]
    if method.startswith('mutator'):
        more = {'AFL_CUSTOM_MUTATOR_LIBRARY': MUTATOR, 'TRACEMEND_FORMAT': 'tracedat'}
    if method == 'mutator alone':
        more['AFL_CUSTOM_MUTATOR_ONLY'] = '1'
    out = os.path.join(scratch, 'out')
    with subprocess.Popen(['afl-fuzz', '-i', seeds, '-o', out, '-s', str(number), '-t', TIMEOUT, '-m', 'none', *arguments, '--', harness],
                          env=environment(**more), **QUIET) as fuzzer:
        # Not -V: afl-fuzz looks at it between two inputs only, which can be minutes.
        try:
            fuzzer.wait(seconds)
        except subprocess.TimeoutExpired:
            fuzzer.send_signal(signal.SIGINT)
    with open(os.path.join(out, 'default', 'fuzzer_stats'), encoding='ascii') as lines:
        stats = dict((part.strip() for part in line.split(':', 1)) for line in lines if ':' in line)
    reached = set()
    for part in ('queue', 'crashes', 'hangs'):
        folder = os.path.join(out, 'default', part)
        shutil.rmtree(os.path.join(folder, '.state'), ignore_errors=True)
        if any(name.startswith('id') for name in os.listdir(folder)):
            reached |= edges_of(harness, folder, scratch)
    return reached, int(stats['execs_done'])


def by_generator(harness, seeds, number, seconds, scratch):
    ids = [r['id'] for r in rules(TOOL, 'tracedat')]
    kinds = [['--count', '200'], *[['--rule', i] for i in ids], *[['--damage', d, '--count', '30'] for d in DAMAGES]]
    until = time.monotonic() + seconds
    reached, runs = edges_of(harness, seeds, scratch), len(os.listdir(seeds))
    for turn in itertools.count():
        folder = os.path.join(scratch, 'made')
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for i, kind in enumerate(kinds):
            subprocess.run([TOOL, 'gen', '-q', '-f', 'tracedat', *kind, *(['--host'] if turn % 2 else []), '--seed',
                            str(number * 1000000 + turn * 1000), '-o', os.path.join(folder, str(i % 8))], check=False, **QUIET)
        for part in os.listdir(folder):
            part = os.path.join(folder, part)
            os.remove(os.path.join(part, 'labels.jsonl'))
            if time.monotonic() >= until:
                return reached, runs
            runs += len(os.listdir(part))
            reached |= edges_of(harness, part, scratch)
    return reached, runs


METHODS = ('afl-fuzz', 'dictionary', 'mutator', 'mutator alone', 'generator alone')


def trial(job, options):
    number, method = job
    with tempfile.TemporaryDirectory() as scratch:
        run = by_generator if method == 'generator alone' else lambda *a: by_afl(*a, method)
        reached, runs = run(options.harness, options.seeds, number, options.seconds, scratch)
    row = {'method': method, 'trial': number, 'seconds': options.seconds, 'edges': len(reached), 'runs': runs,
           'load': round(os.getloadavg()[2], 1)}
    with open(options.output, 'a', encoding='utf-8') as out:
        out.write(json.dumps(row) + '\n')
    print(json.dumps(row), file=sys.stderr, flush=True)


def mann_whitney(a, b):
    """The exact probability, two-sided, of ranks as uneven as these, and the share of pairs in which a is the larger (a tie: half)."""
    def wins(x, y):
        return sum(1 if i > j else 0.5 if i == j else 0 for i in x for j in y)

    both, middle = a + b, len(a) * len(b) / 2
    seen, as_far, all_ways = abs(wins(a, b) - middle), 0, 0
    for chosen in itertools.combinations(range(len(both)), len(a)):
        rest = [both[i] for i in range(len(both)) if i not in chosen]
        as_far += abs(wins([both[i] for i in chosen], rest) - middle) >= seen
        all_ways += 1
    return as_far / all_ways, wins(a, b) / (len(a) * len(b))


def table(rows, methods):
    edges = {m: sorted(r['edges'] for r in rows if r['method'] == m) for m in methods}
    print('| method | trials | edges, median (least..most) | runs, median |\n|---|---|---|---|')
    for m in methods:
        runs = statistics.median(r['runs'] for r in rows if r['method'] == m)
        print(f'| {m} | {len(edges[m])} | {statistics.median(edges[m]):,.0f} ({edges[m][0]:,}..{edges[m][-1]:,}) | {runs:,.0f} |')
    print('\n| first | second | p | first reached more |\n|---|---|---|---|')
    for a, b in itertools.combinations(methods, 2):
        p, share = mann_whitney(edges[a], edges[b])
        print(f'| {a} | {b} | {p:.3f} | {100 * share:.0f} % |')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('harness', type=os.path.abspath)
    parser.add_argument('seeds', type=os.path.abspath)
    parser.add_argument('--seconds', type=int, default=600)
    parser.add_argument('--trials', type=int, default=5)
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--method', action='append', choices=METHODS)
    parser.add_argument('-o', dest='output', default='build/fuzz/tracecmd/coverage.jsonl')
    options = parser.parse_args()
    methods = options.method or METHODS

    def done():
        if not os.path.exists(options.output):
            return []
        with open(options.output, encoding='utf-8') as lines:
            return [row for row in map(json.loads, lines) if row['seconds'] == options.seconds and row['trial'] <= options.trials]

    there = {(row['trial'], row['method']) for row in done()}
    # Trial by trial, so that what else the machine does falls on all methods alike.
    jobs = [job for job in itertools.product(range(1, options.trials + 1), methods) if job not in there]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda job: trial(job, options), jobs))
    table(done(), methods)
    return 0


if __name__ == '__main__':
    sys.exit(main())
