#!/usr/bin/env python3
"""What reduce makes of large captures with one defect: of each rule, its size before and after, records, tries and seconds.

    tests/tools/reduce.py [FORMAT...] [--size BYTES] [--every K] [--only GLOB] [--limit SECONDS] [--quiet]

A row fails when check does not report the rule for the result; when it has an error there that the large capture had not, and
reduce did not say so; when the result has more than 1024 bytes (tracedat: 8192; some defects need more, see INHERENT); or when
it took longer than the limit (60 s of processor time, which is what is listed). --every takes each K-th rule only. "+" stands
where other errors came along. The last line is "N passed, N failed"."""
import argparse
import fnmatch
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import Problem, formats, generate, rules as rules_of, size_of  # noqa: E402

TOOL = os.environ.get('TRACEMEND', 'build/tracemend')
BOUND = {'tracedat': 8192}
# Defects that take more bytes than that: the least that each of them needs.
INHERENT = {
    'fxt/string-too-long': 33000,               # text beyond 32,000 bytes
    'fxt/large-record-over-4095-words': 33000,  # a record beyond 32,760 bytes
    'fxt/large-record-over-256k': 263000,       # beyond 262,144
    'fxt/semantic-bound-reached': 65560,        # 4,097 ids that are open at a time, a record each
    'uftrace/info-line-too-long': 4800,         # a line beyond 4,095 bytes
    'uftrace/sym-name-too-long': 1700,          # a name beyond 1,024 bytes
    'ktrace/raw-thread-count': 4160,            # events at a page are what tells the count: a page, and one of them
    'ktrace/raw-extra-page': 28704,             # 877 threads: the only number below 1,901 that ends at a page; a page of zeros; one event
}
# Defects that are no bytes: reduce takes regular files only, as its help says, and must say that nothing is there (exit 4).
NOT_TAKEN = {'uftrace/non-regular-file'}


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(path):
    """Rules that check reports, those of errors, and the number of records."""
    done = subprocess.run([TOOL, 'check', '--format=json', '--max-findings=1', path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    one = json.loads(done.stdout)['inputs'][0]
    return ({f['rule'] for f in one['findings']}, {f['rule'] for f in one['findings'] if f['severity'] == 'error'},
            one['records'])


def row(rule, options, work):
    """Reduces one capture. Returns why it fails, or None, and the columns."""
    try:
        [(_, source)] = generate(TOOL, rule.split('/')[0], work, '--rule', rule, '--size', options.size)
    except Problem as problem:
        return f'not made: {problem}', ()
    target = os.path.join(work, 'small')
    before, errors, records = report(source)
    if rule not in before:
        return 'check does not report it', ()
    since = processor_time()
    try:
        done = subprocess.run([TOOL, 'reduce', source, '-o', target, '--rule', rule], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=10 * options.limit)
    except subprocess.TimeoutExpired:
        return f'longer than {10 * options.limit} s by the clock', ()
    seconds = processor_time() - since
    if rule in NOT_TAKEN:
        return (None if done.returncode == 4 and not os.path.exists(target) else 'taken'), ()
    if done.returncode:
        return f'exit {done.returncode}: {done.stderr.strip()}', ()
    after, errors_after, records_after = report(target)
    tries = done.stdout.split(' in ')[-1].split(' tr')[0]
    loose = 'and errors that' in done.stdout
    columns = size_of(source), size_of(target), records, records_after, tries, f'{seconds:.1f}', '+' if loose else ''
    if rule not in after:
        return 'the result does not show it', columns
    if errors_after - errors and not loose:
        return 'new errors: ' + ' '.join(sorted(errors_after - errors)), columns
    if columns[1] > INHERENT.get(rule, BOUND.get(rule.split('/')[0], 1024)):
        return 'too large', columns
    if seconds > options.limit:
        return 'too slow', columns
    return None, columns


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('formats', nargs='*')
    parser.add_argument('--size', default='1M')
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--only', default='*')
    parser.add_argument('--limit', type=float, default=60)
    parser.add_argument('--quiet', action='store_true')
    options = parser.parse_args()
    passed = failed = 0
    for name in options.formats or formats(TOOL):
        rules = rules_of(TOOL, name)
        sizes, times = [], []
        for rule in [r['id'] for r in rules if fnmatch.fnmatch(r['id'].split('/')[1], options.only)][::options.every]:
            work = tempfile.mkdtemp()
            why, columns = row(rule, options, work)
            shutil.rmtree(work)
            passed += why is None
            failed += why is not None
            if columns:
                sizes.append(columns[1])
                times.append(float(columns[5]))
            if why or not options.quiet:
                text = '%8d to %6d bytes, %6d to %4d records, %6s tries, %5s s%2s' % columns if columns else ''
                print(f'{rule:45} {text}{"  FAIL: " + why if why else ""}', flush=True)
        if sizes:
            sizes.sort()
            print(f'{name}: {len(sizes)} rules, median {sizes[len(sizes) // 2]} bytes, largest {sizes[-1]}, '
                  f'{sum(times) / len(times):.1f} s each, slowest {max(times):.1f} s')
    print(f'{passed} passed, {failed} failed')
    return failed > 0


sys.exit(main())
