#!/usr/bin/env python3
"""The mutations of a trace.dat that trace-cmd is known to crash on, to hang on or to pass over: one change at a time to
generated captures, and what trace-cmd makes of each beside what tracemend does.

    tests/formats/tracedat/tracecmd_mutations.py [--only TEXT] [TRACEMEND]        default build/tracemend

Each row: the mutation; trace-cmd's exit code (or the signal, or "hang") and lines; repair's exit code and the lines of the
repaired file; the errors that check reports. A row fails

  - when check does not report the error that names the cause, or anything crashes or takes longer than 5 s;
  - when the repaired file has errors;
  - when it shows an event that the original did not, or not every event whose bytes were not hit:
      ALL       every line as it was
      PAGES     every line of pages (chunks, when compressed) in which no byte was changed
      HIT(...)  every event at its CPU and time; the lines named may be written otherwise, for the mutation hit the bytes
                that their text is made from: the format, the symbol, the command line
      NOTHING   the mutation leaves no event
  - LEGAL: the specification allows it, so there is no error and the repaired file is the mutant, byte for byte.

The last line is "N passed, N failed". Exit 77: trace-cmd is not installed."""
import argparse
import collections
import json
import os
import re
import shutil
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
from verify_manifest import ranges_of  # noqa: E402
from tracecmd_parse import LINE, Capture, events, records_of, report, run, u32, u64, walk_v6, walk_v7

SLOW = 5
ALL, PAGES, LEGAL, NOTHING = 'all', 'pages', 'legal', 'nothing'


class HIT:
    """Lines whose text was hit: of an event, with a text in it, of a process."""

    def __init__(self, event=None, text='', pid=None):
        self.event, self.text, self.pid = event, text, pid

    def covers(self, line):
        m = LINE.match(line)
        return m and m['event'] == (self.event or m['event']) and self.text in m['text'] and m['pid'] == (self.pid or m['pid'])


def put(fmt, at, value):
    return lambda d: d[:at] + struct.pack('<' + fmt, value) + d[at + struct.calcsize(fmt):]


def raw(at, data):
    return lambda d: d[:at] + data + d[at + len(data):]


def both(*changes):
    def change(d):
        for c in changes:
            d = c(d)
        return d
    return change


def swap(old, new):
    """Texts of one length: nothing else moves."""
    assert len(old) == len(new), (old, new)

    def change(d):
        assert old in d, old
        return d.replace(old, new, 1)
    return change


def insert(m, at, remove, data, size=None):
    """Other bytes in the header of version 6; padding or whole pages make up for their number. size: a field that counts."""
    def change(d):
        grown, header = len(data) - remove, m.clock + 8 + u64(d, m.clock)
        out = d[:at] + data + d[at + remove:]
        if 0 <= grown <= m.data - header:
            out = out[:m.data] + out[m.data + grown:]
        else:
            pages = (max(grown, 0) + 4095) // 4096 * 4096
            out = out[:header + grown] + bytes(m.data + pages - header - grown) + d[m.data:]
            for i in range(u32(d, m.cpus)):
                out = put('Q', m.table + grown + 16 * i, u64(d, m.table + 16 * i) + pages)(out)
        if size:
            out = put(size[0], size[1], struct.unpack_from('<' + size[0], d, size[1])[0] + grown)(out)
        return out
    return change


def text(m, d, old, new):
    """Another text in the format of the event tick."""
    at = d.index(old, m.event)
    return insert(m, at, len(old), new, ('Q', m.event))


def option(m, d, ident, payload):
    """Another option in place of the first CPU's statistics; what is left of those is an option that nobody knows."""
    at = m.option[2]
    room = u32(d, at + 2) - len(payload) - 6
    return raw(at, struct.pack('<HI', ident, len(payload)) + payload + struct.pack('<HI', 900, room))


def mutations_v6(d, m):
    o, page, last = m.option, m.data, len(d)
    word, commit, end = page + 16, u32(d, m.data + 8), m.data + m.size
    second = u64(d, m.table + 16)
    tick, ksize, hsize = HIT('tick'), u32(d, m.kallsyms), u64(d, m.hp + 12)
    label = page + records_of_event(d, page, 301)
    final = ([16] + records_of(d[page:page + 4096]))[-2]
    values = b'REC->count, REC->value'
    return [
        ('magic altered', raw(0, b'\0'), ALL, 'bad-magic'), ('tracing altered', raw(3, b'T'), ALL, 'bad-magic'),
        *[(f'version {v}', raw(10, v.encode()), ALL, 'version-unsupported') for v in '05x8'],
        ('version -1', lambda d: d[:10] + b'-1\0' + d[12:m.data - 1] + d[m.data:], ALL, 'version-unsupported'),
        ('endian byte 2', raw(12, b'\2'), ALL, 'endian-flag-invalid'), ('endian byte wrong', raw(12, b'\1'), ALL, 'endian-flag-mismatch'),
        ('user long 0', raw(13, b'\0'), ALL, 'user-long-invalid'), ('user long 255', raw(13, b'\xff'), ALL, 'user-long-invalid'),
        *[(f'page size {v}', put('I', 14, v), ALL, 'page-size-invalid') for v in (0, 4095, 512, 1 << 31)],
        ('page size 2048', put('I', 14, 2048), ALL, 'page-size-vs-header-page'),
        ('header_page size +1', put('Q', m.hp + 12, hsize + 1), ALL, 'header-page-size'),
        ('header_page size -1', put('Q', m.hp + 12, hsize - 1), ALL, 'header-page-size'),
        ('header_page commit size 4', swap(b'commit;\toffset:8;\tsize:8', b'commit;\toffset:8;\tsize:4'), ALL, 'header-page-data-range'),
        ('header_page garbage', raw(m.hp + 20, b'?' * 100), ALL, 'header-page-fields'),
        ('header_event garbage', raw(m.he + 21, b'?' * 100), LEGAL, None),
        ('ftrace count +1', put('I', m.ftrace, u32(d, m.ftrace) + 1), ALL, 'ftrace-count-implausible'),
        ('ftrace count -1', put('I', m.ftrace, u32(d, m.ftrace) - 1), ALL, 'ftrace-count-implausible'),
        ('system count +1', put('I', m.systems, u32(d, m.systems) + 1), ALL, 'system-count-implausible'),
        ('system count -1', put('I', m.systems, u32(d, m.systems) - 1), ALL, 'system-count-implausible'),
        ('format size 2^50', put('Q', m.event, 1 << 50), ALL, 'format-size-mismatch'),
        ('format ID duplicate', swap(b'ID: 302', b'ID: 300'), ALL, 'event-id-duplicate'),
        ('format ID duplicate, first', swap(b'ID: 300', b'ID: 302'), ALL, 'event-id-duplicate'),
        # Any other format without records could be the one: that 999 was 300 nothing in the file says.
        ('format ID dangling', swap(b'ID: 300', b'ID: 999'), tick, 'record-unknown-event-id'),
        ('format ID 70000', text(m, d, b'ID: 300', b'ID: 70000'), ALL, 'event-id-range'),
        ('format ID -5', text(m, d, b'ID: 300', b'ID: -5'), ALL, 'event-id-range'),
        *[(f'field offset {v}', text(m, d, b'value;\toffset:16', b'value;\toffset:%d' % v), tick, 'field-out-of-page')
          for v in (80000, 900000000, 2000000000)],
        ('common block of the first format', swap(b'common_flags;\toffset:2;\tsize:1', b'common_flags;\toffset:2;\tsize:2'), HIT('function'), None),
        ('format truncated', put('Q', m.event, u64(d, m.event) - 40), ALL, 'format-size-mismatch'),
        ('print fmt missing', swap(b'\nprint fmt: "count', b'\nprint xxx: "count'), tick, 'field-syntax'),
        *[(f'print fmt {name}', text(m, d, values, arguments), tick, rule) for name, arguments, rule in (
            ('200k parentheses', b'(' * 200000 + b'REC->count' + b')' * 200000 + b', 1', 'print-fmt-depth'),
            ('100k casts', b'(int)' * 100000 + b'REC->count, 1', 'print-fmt-depth'),
            ('100k ternaries', b'1 ? ' * 100000 + b'REC->count' + b' : 0' * 100000 + b', 1', 'print-fmt-depth'),
            ('x / 0', b'REC->count / 0, 1', 'print-fmt-const-div-zero'), ('x % 0', b'REC->count % 0, 1', 'print-fmt-const-div-zero'),
            ('INT64_MIN / -1', b'REC->count, (-9223372036854775807 - 1) / -1', 'print-fmt-const-div-zero'))],
        ('print fmt %2000000000d', text(m, d, b'count=%u', b'count=%2000000000d'), tick, 'print-fmt-width'),
        ('kallsyms size +1', put('I', m.kallsyms, ksize + 1), ALL, 'kallsyms-size'),
        ('kallsyms size -1', put('I', m.kallsyms, ksize - 1), ALL, 'kallsyms-size'),
        ('kallsyms size 0xffffffff', put('I', m.kallsyms, 0xffffffff), ALL, 'kallsyms-size'),
        ('printk size 0xffffffff', put('I', m.printk, 0xffffffff), ALL, 'printk-size'),
        # A line of garbage costs nothing; one that was a symbol costs that symbol, and nothing behind it.
        ('kallsyms garbage line', insert(m, m.kallsyms + 4, 0, b'?garbage\n', ('I', m.kallsyms)), ALL, 'kallsyms-line'),
        ('kallsyms line garbled', raw(m.kallsyms + 4, b'?'), HIT('function', '_text'), 'kallsyms-line'),
        ('printk line without colon', swap(b' : "', b' ; "'), ALL, 'printk-line'),
        ('printk line empty', insert(m, m.printk + 4, 0, b'\n', ('I', m.printk)), ALL, 'printk-line'),
        ('cmdlines size 0', put('Q', m.cmdlines, 0), ALL, 'cmdlines-size'), ('cmdlines size 1', put('Q', m.cmdlines, 1), ALL, 'cmdlines-size'),
        ('cmdlines size 2^62', put('Q', m.cmdlines, 1 << 62), ALL, 'cmdlines-size'),
        ('cmdlines bad line', insert(m, m.cmdlines + 8, 0, b'garbage\n', ('Q', m.cmdlines)), ALL, 'cmdlines-line'),
        ('cmdlines line garbled', raw(m.cmdlines + 8, b'x'), HIT(pid='1'), 'cmdlines-line'),
        ('system name of 8192 bytes', insert(m, m.systems + 4, 0, b'x' * 8192), ALL, 'system-name-bad'),
        ('cpu count 0', put('I', m.cpus, 0), ALL, 'cpu-count-range'), ('cpu count 2^31', put('I', m.cpus, 1 << 31), ALL, 'cpu-count-range'),
        ('cpu count 1 of 2', put('I', m.cpus, 1), ALL, 'cpu-count-range'), ('cpu count 3 of 2', put('I', m.cpus, 3), ALL, 'cpu-count-range'),
        ('data tag Options', raw(m.tag, b'O'), ALL, 'data-tag-invalid'), ('data tag Flyrecord', raw(m.fly, b'F'), ALL, 'data-tag-invalid'),
        ('data tag twice options', raw(m.fly, b'options  \0'), ALL, 'options-tag-twice'), ('tag padding altered', raw(m.tag + 8, b'x'), LEGAL, None),
        ('option size 0xffffffff', put('I', o[5] + 2, 0xffffffff), ALL, 'option-size'),
        ('CPUSTAT size 0', option(m, d, 2, b''), ALL, 'option-cpustat-empty'), ('PROCMAPS size 0', option(m, d, 10, b''), ALL, 'option-procmaps-syntax'),
        ('HOOK empty', option(m, d, 6, b'\0'), ALL, 'option-hook-syntax'), ('HOOK unparsable', option(m, d, 6, b'a/b,\0'), ALL, 'option-hook-syntax'),
        ('TRACECLOCK []', lambda x: x[:o[4] + 6] + x[o[4] + 6:o[5]].replace(b'[', b'(').replace(b']', b')') + x[o[5]:], ALL, 'option-clock-brackets'),
        ('TRACECLOCK [ ]', lambda x: x[:o[4] + 6] + re.sub(rb'\[(\w+)\]', lambda f: b'[' + b' ' * len(f[1]) + b']', x[o[4] + 6:o[5]]) + x[o[5]:], ALL, 'option-clock-brackets'),
        ('clock block [ ]', raw(m.clock + 8, b'[' + b' ' * (u64(d, m.clock) - 2) + b']'), ALL, 'v6-clock-block-missing'),
        ('clock block []', raw(m.clock + 8, b'[]' + b' ' * (u64(d, m.clock) - 2)), ALL, 'v6-clock-block-missing'),
        *[(f'{name} without NUL', option(m, d, ident, value), ALL, 'option-string-nul')
          for name, ident, value in (('UNAME', 5, b'Linux'), ('VERSION', 9, b'3.1'), ('DATE', 1, b'0x0'))],
        ('CPUCOUNT of 2 bytes', option(m, d, 8, b'\2\0'), ALL, 'option-cpucount-size'),
        *[(f'CPUCOUNT {n}', option(m, d, 8, struct.pack('<I', n)), ALL, 'option-cpucount-value') for n in (0, 1, 4)],
        ('GUEST cpu -5', option(m, d, 13, b'g\0' + struct.pack('<QIiI', 7, 1, -5, 9)), ALL, 'option-guest-layout'),
        ('TIME_SHIFT 0 samples', option(m, d, 12, struct.pack('<QIII', 7, 0, 1, 0)), ALL, 'option-timeshift-empty-cpu'),
        ('TIME_SHIFT huge counts', option(m, d, 12, struct.pack('<QIII', 7, 0, 1, 1 << 30)), ALL, 'option-timeshift-layout'),
        ('TSC2NSEC shift 64', option(m, d, 14, struct.pack('<IIQ', 5, 64, 0)), ALL, 'option-tsc2nsec-range'),
        ('TSC2NSEC shift -1', option(m, d, 14, struct.pack('<IiQ', 5, -1, 0)), ALL, 'option-tsc2nsec-range'),
        ('BUFFER offset bad', option(m, d, 3, struct.pack('<Q', 77) + b'instance\0'), ALL, 'v6-buffer-offset'),
        ('CPU offset +8', put('Q', m.table, page + 8), ALL, 'cpu-offset-alignment'),
        ('CPU offset beyond EOF', put('Q', m.table, last + 4096), ALL, 'cpu-range-eof'),
        ('CPU size huge', put('Q', m.table + 8, 1 << 40), ALL, 'cpu-range-eof'),
        # Which table entry is whose only the statistics tell, and those may be old.
        ('CPU tables swapped', raw(m.table, d[m.table + 16:m.table + 32] + d[m.table:m.table + 16]), LEGAL, None),
        ('CPU tables overlapping', put('Q', m.table + 16, page), ALL, 'cpu-range-overlap'),
        ('file cut in CPU data', lambda x: x[:second + 4096 - 100], PAGES, 'cpu-range-eof'),
        ('file one byte short', lambda x: x[:-1], PAGES, 'cpu-range-eof'),
        ('file cut in metadata', lambda x: x[:m.kallsyms + 9], NOTHING, 'truncated-file'),
        ('trailing junk', lambda x: x + b'junk' * 25, LEGAL, None),
        *[(f'page time {name}', put('Q', page, v), LEGAL, None) for name, v in (('0', 0), ('2^64-1', (1 << 64) - 1), ('2^63', 1 << 63))],
        ('commit 0', put('Q', page + 8, 0), ALL, 'page-commit-length'), ('commit 8', put('I', page + 8, 8), ALL, 'page-commit-mid-record'),
        ('commit mid event', put('I', page + 8, commit - 4), ALL, 'page-commit-mid-record'),
        # It looks like a full page with zeroes at its end; a last record that ends in zeroes might be one of them.
        ('commit 4080 on less', put('I', page + 8, 4080), PAGES, 'record-data-length'),
        ('commit 4088', put('I', page + 8, 4088), ALL, 'page-commit-length'), ('commit 5000', put('I', page + 8, 5000), ALL, 'page-commit-length'),
        ('commit 5000, later page', put('I', page + 4104, 5000), ALL, 'page-commit-length'),
        *[(f'commit bit {n}', put('Q', page + 8, commit | 1 << n), ALL, 'page-commit-reserved') for n in (27, 29, 40)],
        ('MISSED_STORED alone', put('I', page + 8, commit | 1 << 30), ALL, 'page-missed-stored-alone'),
        ('page all 0xff', raw(page, b'\xff' * 4096), PAGES, 'page-all-ones'),
        ('page all 0xff, later page', raw(page + 4096, b'\xff' * 4096), PAGES, 'page-all-ones'),
        ('type 29, length -4', raw(word, struct.pack('<II', 29 | 1 << 5, 0xfffffffc)), PAGES, 'record-padding-length'),
        ('type 29, length huge', raw(word, struct.pack('<II', 29 | 1 << 5, 0x7ffffff0)), PAGES, 'record-padding-length'),
        ('type 0, length -4', raw(word, struct.pack('<II', 0, 0xfffffffc)), PAGES, 'record-data-length'),
        ('type 0, length huge', raw(word, struct.pack('<II', 0, 0x7ffffff0)), PAGES, 'record-data-length'),
        ('type 0, length 0', raw(word, bytes(8)), PAGES, 'record-data-length'), ('page zero-filled', raw(page + 64, bytes(4032)), PAGES, 'record-data-length'),
        ('event length past commit', raw(page + final, bytes([d[page + final] & 0xe0 | 28])), PAGES, 'record-past-commit'),
        ('data_loc out of record', put('I', label, 0x0010ffff), HIT('label'), 'record-data-loc-range'),
        ('512 bytes zeroed in a page', raw(page + 64, bytes(512)), PAGES, 'record-data-length'),
        ('512 bytes zeroed at a page', raw(page, bytes(512)), PAGES, 'page-commit-length'),
        ('page duplicate', raw(page + 4096, d[page:page + 4096]), LEGAL, None),
        ('pages backwards', raw(page, d[page + 4096:page + 8192] + d[page:page + 4096]), LEGAL, None),
        ('pages of the file zero', raw(page, bytes(end - page)), LEGAL, None),
    ]


def records_of_event(d, page, ident):
    """Where in a page the dynamic field of a record of that event is: its first own field."""
    at = 16
    for stop in records_of(d[page:page + 4096]):
        start = at
        while d[page + start] & 31 in (30, 31):
            start += 8
        if struct.unpack_from('<H', d, page + start + 4)[0] == ident:
            return start + 12
        at = stop
    raise KeyError(ident)


def mutations_v7(d, m):
    s, page, first = m.section, m.data, u32(d, m.data + 4)
    later = page + 12 + first
    done = [x + 6 for x in m.done]
    size = lambda ident: u64(d, s[ident] + 8)
    return [
        ('unknown compressor', raw(18, b'x'), ALL, 'v7-compressor-name'),
        *[(f'section {i} size -16', put('Q', s[i] + 8, (1 << 64) - 16), ALL, 'v7-section-size') for i in (16, 17, 18, 19, 20, 21, 0, 3, 15)],
        ('junk section, size -16', lambda x: x + struct.pack('<HHiQ', 19, 0, -1, (1 << 64) - 16), ALL, None),
        ('section size +1', put('Q', s[19] + 8, size(19) + 1), ALL, 'v7-section-size'),
        ('DONE -> itself', put('Q', done[1], m.done_section[1]), ALL, 'v7-done-cycle'), ('DONE -> earlier', put('Q', done[1], s[0]), ALL, 'v7-done-cycle'),
        ('DONE 0 too early', put('Q', done[0], 0), ALL, 'v7-done-target'),
        ('DONE size 0', put('I', m.done[1] + 2, 0), ALL, 'v7-done-size'), ('DONE size 4', put('I', m.done[0] + 2, 4), ALL, 'v7-done-size'),
        ('section id 16 -> 99', put('H', s[16], 99), ALL, 'v7-section-id-mismatch'), ('section id 16 -> 17', put('H', s[16], 17), ALL, 'v7-section-id-mismatch'),
        ('section id 19 -> 17', put('H', s[19], 17), ALL, 'v7-section-id-mismatch'), ('flags 0xfffe', put('H', s[16] + 2, 0xffff), LEGAL, None),
        ('options offset 0', put('Q', m.options, 0), ALL, 'v7-options-offset'), ('options offset into header', put('Q', m.options, 20), ALL, 'v7-options-offset'),
        *[(f'compressed flag cleared, {i}', put('H', s[i] + 2, 0), ALL, 'v7-section-compress-flag') for i in (16, 18, 19)],
        ('csize +1', put('I', s[18] + 16, u32(d, s[18] + 16) + 1), ALL, 'v7-block-csize'), ('csize -1', put('I', s[18] + 16, u32(d, s[18] + 16) - 1), ALL, 'v7-block-csize'),
        ('csize 0', put('I', s[18] + 16, 0), ALL, 'v7-block-csize'), ('usize 0', put('I', s[18] + 20, 0), ALL, 'v7-block-usize'),
        ('usize larger', put('I', s[18] + 20, u32(d, s[18] + 20) + 99), ALL, 'v7-block-usize'),
        *[(f'frame corrupt, {i}', raw(s[i] + 28, b'\xff' * 4), hit, 'v7-block-decode')
          for i, hit in ((16, ALL), (17, HIT('function')), (18, HIT()), (19, HIT('function')), (20, ALL), (21, HIT()))],
        ('BUFFER count +1', put('I', m.page + 4, u32(d, m.page + 4) + 1), ALL, 'v7-buffer-layout'), ('BUFFER count 2^32-1', put('I', m.page + 4, 0xffffffff), ALL, 'v7-buffer-layout'),
        ('BUFFER cpu 2^31', put('I', m.entry, 1 << 31), ALL, 'v7-buffer-cpu-id'), ('BUFFER cpu twice', put('I', m.entry + 20, u32(d, m.entry)), ALL, 'v7-buffer-cpu-id'),
        *[(f'top page size {v}', put('I', m.page, v), ALL, 'v7-buffer-page-size') for v in (0, 2048)],
        ('chunk count 0', put('I', page, 0), ALL, 'v7-chunk-count'), ('chunk count +1', put('I', page, u32(d, page) + 1), ALL, 'v7-chunk-count'),
        ('chunk csize 0', put('I', page + 4, 0), ALL, 'v7-chunk-csize'), ('chunk usize +1', put('I', page + 8, u32(d, page + 8) + 1), ALL, 'v7-chunk-usize'),
        ('chunk usize 2^31', put('I', page + 8, 1 << 31), ALL, 'v7-chunk-usize'),
        ('chunk corrupt', raw(page + 16, b'\xff' * 8), PAGES, 'v7-chunk-decode'), ('chunk corrupt, later', raw(later + 16, b'\xff' * 8), PAGES, 'v7-chunk-decode'),
        ('section 3 id', put('H', s[3], 30), ALL, 'v7-buffer-section'), ('section 3 size', put('Q', s[3] + 8, 5), ALL, 'v7-section-size'),
        ('buffer flag cleared', put('H', s[3] + 2, 0), ALL, 'v7-section-compress-flag'),
    ]


def mutations_instance(d, m):
    at = d.index(b'inst', m.buffer + 8)
    offset = at - 8
    page = d.index(b'\0', d.index(b'\0', at) + 1) + 1
    return [*[(f'instance page size {v}', put('I', page, v), ALL, 'v7-buffer-page-size') for v in (0, 1, 16, 1 << 31)],
            ('instance page size 2048', put('I', page, 2048), ALL, None),
            ('instance offset beyond EOF', put('Q', offset, len(d) + 4096), ALL, 'v7-buffer-section')]


# ---- captures to mutate ----

def plain_v6(d):
    m = walk_v6(d)
    records_of_event(d, m.data, 301)
    return (m if {2, 4, 5, 9} <= set(m.option) and not {1, 3, 7, 8, 12, 14} & set(m.option) and d[m.fly:m.fly + 9] == b'flyrecord' and
            u32(d, m.cpus) == 2 and m.size >= 8192 and u64(d, m.table + 24) >= 8192 and u32(d, m.kallsyms) > 50 and
            u32(d, m.printk) > 20 and u64(d, m.cmdlines) > 9 and b'wide' in d and u64(d, m.table) + m.size <= len(d) else None)


def plain_v7(d):
    m = walk_v7(d)
    m['done_section'] = [at for at in sections_of(d, m) if u32(d, at) & 0xffff == 0]
    return m if (d[18:22] == b'zstd' and u32(d, m.page + 4) == 2 and len(m.done) == 2 and b'inst' not in d and u32(d, m.data) > 1 and
                 not {1, 7, 12, 14} & set(m.option) and set(m.section) >= {0, 3, 15, 16, 17, 18, 19, 20, 21}) else None


def instance_v7(d):
    m = walk_v7(d)
    return m if d[18:22] == b'none' and b'inst' in d[m.buffer:] and not {1, 7, 12, 14} & set(m.option) else None


def sections_of(d, m):
    at = m.options + 8
    while at < len(d):
        yield at
        at += 16 + u64(d, at + 8)


# Events and options of which the rows below do not know.
WITHOUT = ('kernel-events', 'lost-events', 'hooks', 'later-options', 'date', 'time-shift', 'guests')


def base(tool, work, version, wanted, size):
    """A generated little-endian capture with enough in it, and where its parts are."""
    features = [f'--with=v{version.decode()}'] + [f'--without={feature}' for feature in WITHOUT]
    for seed in range(1, 2000):
        shutil.rmtree(work + '/gen', ignore_errors=True)
        run(tool, 'gen', '-f', 'tracedat', '--host', *features, '--seed', str(seed), '--size', str(size), '-o', work + '/gen')
        name = [n for n in os.listdir(work + '/gen') if n.endswith('.dat')][0]
        with open(f'{work}/gen/{name}', 'rb') as f:
            data = f.read()
        # Full pages: of one that was left early, hardly anything else than its commit word says what it has.
        with open(work + '/gen/labels.jsonl', encoding='utf-8') as f:
            if version == b'6' and json.loads(f.readline())['records'] < 500:
                continue
        if data[10:12] != version + b'\0' or data[12:18] != b'\0\x08\0\x10\0\0':
            continue
        try:
            marks = wanted(data)
        except (struct.error, ValueError, KeyError, IndexError):
            continue
        if marks:
            return data, marks
    raise SystemExit('no base capture found')


# ---- one row ----

def key_of(line):
    m = LINE.match(line)
    return (m['cpu'], m['time']) if m else line


def due_of_pages(path, data, mutant, work):
    """Lines of the events whose page or chunk has no changed byte."""
    due = collections.Counter()
    for cpu, places in Capture(data, work).records.items():
        lines = report(path, '--cpu', str(cpu))[1]
        assert len(lines) == len(places)
        due += collections.Counter(line for line, (a, b, stop) in zip(lines, places)
                                   if data[a:b] == mutant[a:b] or (len(mutant) < b and stop <= len(mutant) and data[a:stop] == mutant[a:stop]))
    return due


def missing_and_new(keep, due, original, after):
    """How many events are missing and new in the repaired file."""
    if isinstance(keep, HIT):
        other = lambda lines: collections.Counter(key_of(x) if keep.covers(x) else x for x in lines.elements())
        hit = collections.Counter({key_of(x): n for x, n in original.items() if keep.covers(x)})
        rest = collections.Counter({x: n for x, n in original.items() if not keep.covers(x)})
        left = after - rest
        keys = collections.Counter(key_of(x) for x in left.elements())
        return sum((rest - after).values()) + sum((hit - keys).values()), sum((keys - hit).values())
    return sum((due - after).values()), sum((after - original).values())


def doubtful_of(manifest):
    """The ranges [a, b) of the input that the manifest lists as doubtful."""
    return [(d['from'], d['from'] + d['length']) for d in ranges_of(manifest, 'doubtful')]


def row(options, work, data, original, name, change, keep, rule):
    path, out = work + '/mutant.dat', work + '/repaired.dat'
    mutant = bytes(change(data))
    with open(path, 'wb') as f:
        f.write(mutant)
    if os.path.exists(out):
        os.unlink(out)
    theirs, lines = events(path)
    begin = time.monotonic()
    code, found = run(options.tool, 'check', '--format', 'json', '--max-findings', '0', path)
    mended, _ = run(options.tool, 'repair', path, '-o', out, '--manifest', work + '/manifest.json')
    took = time.monotonic() - begin
    errors = sorted({x['rule'].split('/')[1] for x in json.loads(found)['inputs'][0]['findings'] if x['severity'] == 'error'}
                    if code in (0, 1) else ())
    wrong, after = [], collections.Counter()
    if code not in (0, 1):
        wrong.append(f'check exits {code}')
    if took > SLOW:
        wrong.append(f'{took:.1f} s')
    if (keep == LEGAL) != (not errors) or (rule and rule not in errors):
        wrong.append(f'expected {rule or "an error" if keep != LEGAL else "no error"}')
    if mended in (0, 3):
        if run(options.tool, 'check', '-q', out)[0] != 0:
            wrong.append('the repaired file has errors')
        after = events(out)[1]
        if keep == LEGAL:
            with open(out, 'rb') as f:
                wrong += [] if f.read() == mutant else ['what is legal was changed']
        else:
            due = due_of_pages(work + '/base.dat', data, mutant, work) if keep == PAGES else \
                collections.Counter() if keep == NOTHING else original
            missing, new = missing_and_new(keep, due, original, after)
            wrong += [f'{missing} events are missing'] if missing else []
            # Records behind what was hit may come out at another time; then they are listed. None is shorter than eight bytes.
            if keep == PAGES and new:
                with open(work + '/manifest.json', encoding='utf-8') as f:
                    new = 0 if sum(b - a for a, b in doubtful_of(json.load(f))) >= 8 * new else new
            wrong += [f'{new} events are new'] if new else []
    elif mended != 4 or keep != NOTHING:
        wrong.append(f'repair exits {mended}')
    said = 'hang' if theirs in (None, 124) else f'signal {-theirs}' if theirs < 0 else f'signal {theirs - 128}' \
        if 128 < theirs < 160 else f'exit {theirs}'
    print(f'{name:27} {said:9} {sum(lines.values()):7}   {str(mended):>4} {sum(after.values()):4}   {", ".join(errors)}'
          f'{"   FAILED: " + "; ".join(wrong) if wrong else ""}')
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', default='', help='rows with this in their name')
    parser.add_argument('tool', nargs='?', default='build/tracemend')
    options = parser.parse_args()
    if not shutil.which('trace-cmd') or not shutil.which('zstd'):
        print('skip: trace-cmd or zstd is not installed')
        sys.exit(77)
    results = []
    with tempfile.TemporaryDirectory() as work:
        for version, wanted, table, size in ((b'6', plain_v6, mutations_v6, 120000), (b'7', plain_v7, mutations_v7, 120000),
                                             (b'7', instance_v7, mutations_instance, 40000)):
            data, marks = base(options.tool, work, version, wanted, size)
            with open(work + '/base.dat', 'wb') as f:
                f.write(data)
            original = events(work + '/base.dat')[1]
            print(f'version {version.decode()}, {len(data)} bytes, {sum(original.values())} events')
            print(f'{"mutation":27} {"trace-cmd":9} {"lines":>7} {"repair":>6} {"lines":>4}   errors that check reports')
            results += [row(options, work, data, original, *entry) for entry in table(data, marks) if options.only in entry[0]]
    print(f'{results.count(True)} passed, {results.count(False)} failed')
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
