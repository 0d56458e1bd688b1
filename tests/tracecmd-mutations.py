#!/usr/bin/env python3
"""One change at a time to generated trace.dat files: what trace-cmd makes of each, and what tracemend does.

    tests/tracecmd-mutations.py [TRACEMEND]        default build/tracemend

Each row: the mutation; trace-cmd's exit code (or the signal, or "hang") and lines; errors that check reports; repair's exit
code; lines of the repaired file. A row fails when a mutation that breaks the specification is not an error, when anything
takes long or crashes, when the repaired file has errors, or shows an event that the original did not, or fewer than it must.
The last line is "N passed, N failed". Exit 77: trace-cmd is not installed."""
import collections
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

TOOL = sys.argv[1] if len(sys.argv) > 1 else 'build/tracemend'
LIMIT = 15


def run(*argv):
    """Exit code (negative: signal, None: too slow) and output."""
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=LIMIT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, b''


def events(path):
    code, out = run('timeout', '10', 'trace-cmd', 'report', '-t', path)
    lines = [line for line in out.decode('latin1').splitlines()
             if line.strip() and not line.startswith('cpus=') and 'EVENTS DROPPED' not in line]
    return code, collections.Counter(lines)


class Marks(dict):
    __getattr__ = dict.__getitem__


def walk_v6(d):
    """Where the parts of a little-endian version 6 file are."""
    m = Marks(hp=18)
    u32 = lambda at: struct.unpack_from('<I', d, at)[0]
    u64 = lambda at: struct.unpack_from('<Q', d, at)[0]
    at = 30 + 8 + u64(30)
    m['he'] = at
    at += 13 + 8 + u64(at + 13)
    m['ftrace'] = at
    at += 4
    for _ in range(u32(m.ftrace)):
        m.setdefault('format', at)
        at += 8 + u64(at)
    m['systems'] = at
    at += 4
    for _ in range(u32(m.systems)):
        at = d.index(b'\0', at) + 1
        count, at = u32(at), at + 4
        for _ in range(count):
            m.setdefault('event', at)
            at += 8 + u64(at)
    m['kallsyms'] = at
    at += 4 + u32(at)
    m['printk'] = at
    at += 4 + u32(at)
    m['cmdlines'] = at
    at += 8 + u64(at)
    m['cpus'], m['tag'] = at, at + 4
    at += 14
    m['option'] = {}
    while struct.unpack_from('<H', d, at)[0]:
        m.option.setdefault(struct.unpack_from('<H', d, at)[0], at)
        at += 6 + u32(at + 2)
    m['done'] = at
    m['fly'] = at + 2
    m['table'] = at + 12
    m['data'], m['size'] = u64(m.table), u64(m.table + 8)
    m['clock'] = m.table + 16 * u32(m.cpus)
    return m


def walk_v7(d):
    """The same for a little-endian, compressed version 7 file."""
    at = d.index(b'\0', d.index(b'\0', 18) + 1) + 1
    m = Marks(options=at, section={}, done=[])
    at += 8
    while at < len(d):
        ident, size = struct.unpack_from('<H', d, at)[0], struct.unpack_from('<Q', d, at + 8)[0]
        m.section.setdefault(ident, at)
        if ident == 0:
            m.done.append(at + 16 + size - 14)
        at += 16 + size
    item = m.section[3] + 16 + struct.unpack_from('<Q', d, m.section[3] + 8)[0] + 16
    m['buffer'] = item + 6
    name = d.index(b'\0', item + 14) + 1
    m['page'] = d.index(b'\0', name) + 1
    m['entry'] = m.page + 8
    m['data'] = struct.unpack_from('<Q', d, m.entry + 4)[0]
    return m


def put(fmt, at, value):
    def change(d):
        struct.pack_into('<' + fmt, d, at, value)
        return d
    return change


def raw(at, data):
    def change(d):
        d[at:at + len(data)] = data
        return d
    return change


def swap(old, new):
    """Texts of one length: nothing else moves."""
    def change(d):
        assert old in d and len(old) == len(new), old
        at = d.index(old)
        d[at:at + len(old)] = new
        return d
    return change


ALL, PAGE, SOME = 'all', 'but a page', 'some'


def mutations_v6(d, m):
    o, page = m.option, m.data
    word = page + 16
    last = len(d)
    return [
        ('magic altered', raw(0, b'\0'), ALL), ('version 5', raw(10, b'5'), ALL), ('version 8', raw(10, b'8'), ALL),
        ('endian byte 2', raw(12, b'\2'), ALL), ('endian byte wrong', raw(12, b'\1'), ALL), ('user long 0', raw(13, b'\0'), ALL),
        ('page size 0', put('I', 14, 0), ALL), ('page size 4095', put('I', 14, 4095), ALL),
        ('page size 2^31', put('I', 14, 1 << 31), ALL), ('header_page size +1', put('Q', m.hp + 12, d[m.hp + 12] + 1), ALL),
        ('header_page commit size 4', swap(b'commit;\toffset:8;\tsize:8', b'commit;\toffset:8;\tsize:4'), ALL),
        ('ftrace count +1', put('I', m.ftrace, d[m.ftrace] + 1), ALL), ('ftrace count -1', put('I', m.ftrace, d[m.ftrace] - 1), ALL),
        ('system count +1', put('I', m.systems, d[m.systems] + 1), ALL),
        ('system count -1', put('I', m.systems, d[m.systems] - 1), ALL),
        ('format size 2^50', put('Q', m.event, 1 << 50), ALL), ('format ID duplicate', swap(b'ID: 302', b'ID: 300'), SOME),
        ('format ID dangling', swap(b'ID: 300', b'ID: 999'), SOME), ('field offset 80000', swap(b'u64 value;\toffset:16;', b'u64 vv;\toffset:99999;'), SOME),
        ('print fmt x / 0', swap(b'REC->count, REC->value', b'REC->count / 0, 5 + 22'), SOME),
        ('print fmt %2000000000d', swap(b'count=%u value=%llu', b'%u%2000000000000llu'), SOME),
        ('kallsyms size +1', put('I', m.kallsyms, struct.unpack_from('<I', d, m.kallsyms)[0] + 1), ALL),
        ('kallsyms size 0xffffffff', put('I', m.kallsyms, 0xffffffff), ALL),
        ('printk size 0xffffffff', put('I', m.printk, 0xffffffff), ALL),
        ('kallsyms garbage line', raw(m.kallsyms + 4, b'?'), SOME), ('printk line without colon', swap(b' : "', b' ; "'), ALL),
        ('cmdlines size 0', put('Q', m.cmdlines, 0), ALL), ('cmdlines size 2^62', put('Q', m.cmdlines, 1 << 62), ALL),
        ('cmdlines bad line', raw(m.cmdlines + 8, b'x'), SOME), ('cpu count 0', put('I', m.cpus, 0), ALL),
        ('cpu count 2^31', put('I', m.cpus, 1 << 31), ALL), ('data tag Options', raw(m.tag, b'O'), ALL),
        ('data tag Flyrecord', raw(m.fly, b'F'), ALL), ('option size 0xffffffff', put('I', o[5] + 2, 0xffffffff), ALL),
        ('CPUSTAT size 0', lambda x: x[:o[2] + 2] + bytes(4) + x[o[2] + 6:], ALL),
        ('TRACECLOCK []', lambda x: x[:o[4] + 6] + x[o[4] + 6:o[5]].replace(b'[', b'(').replace(b']', b')') + x[o[5]:], ALL),
        ('UNAME without NUL', raw(o[9] - 1, b'x'), ALL), ('CPU offset +8', put('Q', m.table, page + 8), ALL),
        ('CPU offset beyond EOF', put('Q', m.table, last + 4096), ALL), ('CPU size huge', put('Q', m.table + 8, 1 << 40), ALL),
        ('file cut in CPU data', lambda x: x[:page + 4096 - 100], PAGE), ('file one byte short', lambda x: x[:-1], PAGE),
        ('page ts zero, no error', put('Q', page, 0), None), ('commit mid event', put('I', page + 8, struct.unpack_from('<I', d, page + 8)[0] - 4), PAGE),
        ('commit 4080 on less', put('I', page + 8, 4080), ALL), ('commit 5000', put('I', page + 8, 5000), ALL),
        ('commit bit 29', put('I', page + 8, struct.unpack_from('<I', d, page + 8)[0] | 1 << 29), ALL),
        ('MISSED_STORED alone', put('I', page + 8, struct.unpack_from('<I', d, page + 8)[0] | 1 << 30), ALL),
        ('page all 0xff', raw(page, b'\xff' * 4096), PAGE), ('type 29, length -4', raw(word, struct.pack('<II', 29 | 1 << 5, 0xfffffffc)), PAGE),
        ('type 0, length -4', raw(word, struct.pack('<II', 0, 0xfffffffc)), PAGE), ('type 0, length 0', raw(word, bytes(8)), PAGE),
        ('event length past commit', raw(word, bytes([28])), PAGE), ('512 bytes zeroed in a page', raw(page + 64, bytes(512)), PAGE),
        ('512 bytes zeroed at a page', raw(page, bytes(512)), PAGE),
    ]


def mutations_v7(d, m):
    s, page = m.section, m.data
    ksize = struct.unpack_from('<Q', d, s[19] + 8)[0]
    return [
        ('unknown compressor', raw(18, b'x'), ALL), ('section size -16', put('Q', s[19] + 8, (1 << 64) - 16), ALL),
        ('section size +1', put('Q', s[19] + 8, ksize + 1), ALL), ('STRINGS size -16', put('Q', s[15] + 8, (1 << 64) - 16), ALL),
        ('DONE -> itself', put('Q', m.done[1] + 6, s[0]), ALL), ('DONE 0 too early', put('Q', m.done[0] + 6, 0), ALL),
        ('DONE size 0', put('I', m.done[1] + 2, 0), ALL), ('DONE size 4', put('I', m.done[0] + 2, 4), ALL),
        ('section id 99', put('H', s[16], 99), ALL), ('section id 17', put('H', s[19], 17), ALL),
        ('options offset 0', put('Q', m.options, 0), ALL), ('options offset into header', put('Q', m.options, 20), ALL),
        ('compressed flag cleared', put('H', s[18] + 2, 0), ALL),
        ('csize +1', put('I', s[18] + 16, struct.unpack_from('<I', d, s[18] + 16)[0] + 1), ALL),
        ('csize 0', put('I', s[18] + 16, 0), ALL), ('usize 0', put('I', s[18] + 20, 0), ALL),
        ('kallsyms frame corrupt', raw(s[19] + 28, b'\xff' * 4), SOME), ('BUFFER count +1', put('I', m.page + 4, d[m.page + 4] + 1), ALL),
        ('BUFFER count 2^32-1', put('I', m.page + 4, 0xffffffff), ALL), ('BUFFER cpu 2^31', put('I', m.entry, 1 << 31), ALL),
        ('chunk count 0', put('I', page, 0), ALL), ('chunk count +1', put('I', page, d[page] + 1), ALL),
        ('chunk csize 0', put('I', page + 4, 0), ALL), ('chunk usize +1', put('I', page + 8, struct.unpack_from('<I', d, page + 8)[0] + 1), ALL),
        ('chunk usize 2^31', put('I', page + 8, 1 << 31), ALL), ('chunk corrupt', raw(page + 16, b'\xff' * 8), SOME),
        ('section 3 id', put('H', s[3], 30), ALL), ('section 3 size', put('Q', s[3] + 8, 5), ALL),
    ]


def base(work, wanted):
    """A generated little-endian capture with enough in it."""
    for seed in range(1, 400):
        shutil.rmtree(work + '/gen', ignore_errors=True)
        run(TOOL, 'gen', '-f', 'tracedat', '--seed', str(seed), '--size', '20000', '-o', work + '/gen')
        name = [n for n in os.listdir(work + '/gen') if n.endswith('.dat')][0]
        data = open(f'{work}/gen/{name}', 'rb').read()
        if data[12] or data[13] != 8 or data[14:18] != b'\0\x10\0\0' or not wanted(data):
            continue
        return data
    raise SystemExit('no base capture found')


def plain_v6(d):
    try:
        m = walk_v6(d) if d[10:11] == b'6' and b'options  \0' in d else None
        return m and 3 not in m.option and 2 in m.option and d[m.fly:m.fly + 9] == b'flyrecord' and m.size >= 8192
    except (struct.error, ValueError, KeyError):
        return False


def plain_v7(d):
    return d[10:11] == b'7' and d[18:22] == b'zstd' and d.count(b'inst') == 0


def row(work, name, data, change, keep, original):
    path, out = work + '/mutant.dat', work + '/repaired.dat'
    with open(path, 'wb') as f:
        f.write(bytes(change(bytearray(data))))
    theirs, lines = events(path)
    code, report = run(TOOL, 'check', '--format', 'json', path)
    found = []
    if code in (0, 1):
        found = sorted({x['rule'].split('/')[1] for x in json.loads(report)['inputs'][0]['findings'] if x['severity'] == 'error'})
    if os.path.exists(out):
        os.unlink(out)
    mended, _ = run(TOOL, 'repair', path, '-o', out)
    after, wrong = collections.Counter(), []
    if code is None or mended is None or code not in (0, 1):
        wrong.append(f'check exits {code}')
    if keep and not found:
        wrong.append('no error')
    if mended not in (0, 3):
        wrong.append(f'repair exits {mended}')
    else:
        if run(TOOL, 'check', out)[0] != 0:
            wrong.append('the repaired file has errors')
        after = events(out)[1]
        strange = sum((after - original).values())
        least = {ALL: sum(original.values()), PAGE: 1}.get(keep, 0)
        if keep in (ALL, PAGE) and strange:
            wrong.append(f'{strange} lines are new')
        if sum(after.values()) < least:
            wrong.append(f'{sum(after.values())} of {least} lines')
    said = 'hang' if theirs in (None, 124) else f'signal {theirs - 128}' if theirs and theirs > 128 and theirs < 160 else f'exit {theirs}'
    print(f'{name:28} {said:10} {sum(lines.values()):4}   {", ".join(found)[:44]:44}  repair {mended} {sum(after.values()):4}'
          f'{"   FAILED: " + "; ".join(wrong) if wrong else ""}')
    return not wrong


def main():
    if not shutil.which('trace-cmd'):
        print('skip: trace-cmd is not installed')
        sys.exit(77)
    work = tempfile.mkdtemp()
    passed = failed = 0
    try:
        for wanted, walk, table in ((plain_v6, walk_v6, mutations_v6), (plain_v7, walk_v7, mutations_v7)):
            data = base(work, wanted)
            with open(work + '/base.dat', 'wb') as f:
                f.write(data)
            original = events(work + '/base.dat')[1]
            print(f'version {chr(data[10])}, {len(data)} bytes, {sum(original.values())} events')
            print(f'{"mutation":28} {"trace-cmd":10} lines  {"errors that check reports":44}  repair, lines after it')
            for name, change, keep in table(data, walk(data)):
                if row(work, name, data, change, keep, original):
                    passed += 1
                else:
                    failed += 1
    finally:
        shutil.rmtree(work)
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


main()
