#!/usr/bin/env python3
"""Crashes and hangs of Debian's trace-cmd and uftrace, from generated captures alone: a table of what `tracemend try` finds,
each with the rule that the capture breaks and a reduced sample.

    tests/readers/try_readers.py [-o DIR] [--count N] [--tries N] [--timeout SECONDS] [--jobs N] [--known] [--least N]

Samples go below DIR (default build/try), a folder for each command; REPORT.json there is the whole report. --known generates only
captures of the rules whose effect on these readers is documented (the list below). The last line is "N passed, N failed":
a documented effect that was seen passes; fewer than --least (10) of them in all is a failure. Exit 77: neither reader is there."""
import argparse
import json
import os
import shutil
import subprocess
import sys

TOOL = os.environ.get('TRACEMEND', 'build/tracemend')

COMMANDS = {
    'trace-cmd report': ('tracedat', ['trace-cmd', 'report', '{}']),
    'trace-cmd dump -v': ('tracedat', ['trace-cmd', 'dump', '-v', '{}']),
    'uftrace info': ('uftrace', ['uftrace', 'info', '--no-pager', '-d', '{}']),
    'uftrace replay': ('uftrace', ['uftrace', 'replay', '--no-pager', '-d', '{}']),
    'uftrace dump': ('uftrace', ['uftrace', 'dump', '--no-pager', '-d', '{}']),
    'uftrace dump --chrome': ('uftrace', ['uftrace', 'dump', '--chrome', '--no-pager', '-d', '{}']),
}

# What is known of the releases in Debian 12 (trace-cmd 3.1.6, uftrace 0.13): rule, outcome, signal, in words, whether
# only "uftrace dump" does it.
KNOWN = [
    ('tracedat/page-size-invalid', 'signal', 'SIGFPE', 'page size 0: division by zero'),
    ('tracedat/option-cpustat-empty', 'signal', 'SIGSEGV', 'CPU statistics of size 0: write far outside'),
    ('tracedat/option-procmaps-syntax', 'signal', 'SIGSEGV', 'process maps of size 0'),
    ('tracedat/option-hook-syntax', 'signal', 'SIGSEGV', 'a hook option that is empty or cannot be parsed'),
    ('tracedat/option-clock-brackets', 'signal', 'SIGSEGV', 'a clock text without the clock in use'),
    ('tracedat/v7-done-cycle', 'signal', 'SIGSEGV', 'options that lead to themselves: recursion without end'),
    ('tracedat/v7-done-cycle', 'hang', None, 'options that lead to themselves: dump never ends'),
    ('tracedat/print-fmt-const-div-zero', 'signal', 'SIGFPE', 'a print format that divides by zero'),
    ('tracedat/print-fmt-depth', 'signal', 'SIGSEGV', 'a print format nested too deeply'),
    ('tracedat/print-fmt-width', 'hang', None, 'a print format of absurd width'),
    ('tracedat/page-all-ones', 'signal', 'SIGSEGV', 'a page of 0xff bytes'),
    ('tracedat/record-padding-length', 'hang', None, 'a discarded record of negative length'),
    ('tracedat/record-data-length', 'hang', None, 'a record of negative length'),
    ('tracedat/v7-section-size', 'hang', None, 'a section of negative size'),
    ('uftrace/feat-task-session-clear', 'signal', 'SIGSEGV', 'the feature bit of sessions is clear'),
    ('uftrace/taskinfo-count-mismatch', 'signal', 'SIGTRAP', 'the number of tasks is wrong'),
    ('uftrace/taskinfo-tid-not-in-task', 'signal', 'SIGSEGV', 'an unknown task id in the list (chrome)'),
    ('uftrace/task-fork-cycle', 'hang', None, 'a circle of parents'),
    ('uftrace/dlop-unknown-session', 'signal', 'SIGTRAP', 'a library loaded in an unknown session'),
    ('uftrace/map-field-too-long', 'signal', 'SIGABRT', 'a build id longer than the memory for it'),
    ('uftrace/dat-event-length', 'signal', 'SIGTRAP', 'an event of wrong length'),
    ('uftrace/perf-record-size', 'hang', None, 'a perf record of size 0'),
    ('uftrace/perf-record-size', 'signal', 'SIGABRT', 'a perf record of a size that it cannot have'),
    ('uftrace/events-malformed', 'signal', 'SIGSEGV', 'an event name of 3000 bytes'),
    ('uftrace/default-opts-whitespace', 'signal', 'SIGSEGV', 'default.opts is one line end'),
    ('uftrace/kernel-header-malformed', 'signal', 'SIGABRT', 'a block of kernel_header larger than the memory for it'),
    ('uftrace/kernel-page-malformed', 'signal', 'SIGSEGV', 'garbage in a page of kernel records'),
    ('uftrace/sym-count-dangerous', 'signal', 'SIGSEGV', 'a symbol file whose head has a wrong count'),
    ('uftrace/sym-leading-sentinels', 'signal', 'SIGSEGV', 'a symbol file that begins with two end marks'),
]
DUMP_OVERFLOW = 'a long double: dump copies 10 bytes into 8'


def known(command, group):
    """The index of a documented effect, or None."""
    for i, (rule, outcome, signal, _) in enumerate(KNOWN):
        if rule in group['rules'] and (group['outcome'], group['signal']) == (outcome, signal):
            return i
    if command == 'uftrace dump' and group['signal'] == 'SIGABRT' and 'buffer overflow' in (group['message'] or ''):
        return len(KNOWN)
    return None


def run(command, options):
    name, argv = COMMANDS[command]
    folder = os.path.join(options.output, command.replace(' ', '-').replace('--', ''))
    shutil.rmtree(folder, ignore_errors=True)
    only = []
    if options.known:
        for rule in sorted({k[0].split('/')[1] for k in KNOWN if k[0].startswith(name + '/')}):
            only += ['--only', rule]
    done = subprocess.run([TOOL, 'try', '-f', name, *only, '-j', str(options.jobs), '--count', str(options.count),
                           '--tries', str(options.tries), '--timeout', str(options.timeout), '--outcomes', 'signal,hang',
                           '--format=json', '-o', folder, '--', *argv], stdout=subprocess.PIPE, check=False)
    if done.returncode > 1:
        print(f'{command}: tracemend try ended with exit {done.returncode}')
        return None
    report = json.loads(done.stdout)
    with open(os.path.join(folder, 'REPORT.json'), 'wb') as out:
        out.write(done.stdout)
    return report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-o', '--output', default='build/try')
    parser.add_argument('--count', type=int, default=4)
    parser.add_argument('--tries', type=int, default=300)
    parser.add_argument('--timeout', type=int, default=2)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--least', type=int, default=10)
    parser.add_argument('--known', action='store_true')
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    seen, rows, failed, captures = {}, [], 0, 0
    for command, (_, argv) in COMMANDS.items():
        if not shutil.which(argv[0]):
            continue
        report = run(command, options)
        if report is None:
            failed += 1
            continue
        captures += report['captures']
        for group in report['groups']:
            which = known(command, group)
            if which is not None:
                seen.setdefault(which, (command, group))
            text = '' if which is None else DUMP_OVERFLOW if which == len(KNOWN) else KNOWN[which][3]
            rows.append((command, group['signal'] or 'hang', group['rule'] or 'no defect', f"{group['captures']}/{group['of']}",
                         str(group['size'] or ''), ' < '.join(group['site'][:2]), text))
    if not captures:
        print('skip: neither trace-cmd nor uftrace is installed')
        return 77
    heads = ('command', 'ends', 'rule', 'seen', 'bytes', 'place', 'documented as')
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, *rows]:
        print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print(f'\n{captures} generated captures; {len(rows)} groups; {len(seen)} documented effects:')
    for which, (command, group) in sorted(seen.items()):
        print(f"  {(KNOWN[which][3] if which < len(KNOWN) else DUMP_OVERFLOW)}: {group['replay']}")
    failed += len(seen) < options.least
    print(f'{len(seen)} passed, {failed} failed')
    return failed > 0


sys.exit(main())
