"""A reader of trace.dat files for tests that hold trace-cmd's report against ours. It shares no code with the project: it
knows little-endian files of 64-bit kernels with one buffer, as the two dialects write them, and decodes with zstd(1)."""
import collections
import re
import struct
import subprocess

LIMIT = 15
LINE = re.compile(r'^\s*(?P<task>.*)-(?P<pid>\d+|<\.\.\.>)\s+\[(?P<cpu>\d+)\]\s+(?P<time>-?[\d.]+):\s+(?P<event>[^\s:]+):?(?P<text>.*)$')


def run(*argv):
    """Exit code (negative: signal, None: too slow) and output."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=LIMIT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, b''


def report(path, *options):
    """trace-cmd's exit code, and the lines of its events: without headings, hooks, callers of stacks, losses."""
    code, out = run('timeout', '10', 'trace-cmd', 'report', '-t', *options, path)
    return code, [line for line in out.decode('latin1').splitlines()
                  if line.strip() and not line.startswith(('cpus=', 'start ')) and not line.lstrip().startswith('=> ')
            and 'EVENTS DROPPED' not in line]


def events(path):
    code, lines = report(path)
    return code, collections.Counter(lines)


class Marks(dict):
    __getattr__ = dict.__getitem__


def u32(d, at):
    return struct.unpack_from('<I', d, at)[0]


def u64(d, at):
    return struct.unpack_from('<Q', d, at)[0]


def formats_of(d, at, count, system, out):
    """Formats in a list: out gets (from, to, system, event)."""
    for _ in range(count):
        size = u64(d, at)
        text = bytes(d[at + 8:at + 8 + size])
        out.append((at, at + 8 + size, system, text.split(b'\n')[0][6:].decode()))
        at += 8 + size
    return at


def systems_of(d, at, out):
    count, at = u32(d, at), at + 4
    for _ in range(count):
        end = d.index(b'\0', at) + 1
        system, begin, first = bytes(d[at:end - 1]).decode(), at, len(out)
        at = formats_of(d, end + 4, u32(d, end), system, out)
        # Name and count belong to all formats of the system.
        out.extend((begin, end + 4, system, event) for _, _, _, event in out[first:])
    return at


def walk_v6(d):
    """Where the parts of a version 6 file are."""
    m = Marks(hp=18, formats=[])
    at = 30 + 8 + u64(d, 30)
    m['he'] = at
    at += 13 + 8 + u64(d, at + 13)
    m['ftrace'] = at
    if u32(d, at):
        m['format'] = at + 4
    at = formats_of(d, at + 4, u32(d, at), 'ftrace', m.formats)
    m['systems'] = at
    first = len(m.formats)
    at = systems_of(d, at, m.formats)
    if len(m.formats) > first:
        m['event'] = m.formats[first][0]
    m['kallsyms'] = at
    at += 4 + u32(d, at)
    m['printk'] = at
    at += 4 + u32(d, at)
    m['cmdlines'] = at
    at += 8 + u64(d, at)
    m['cpus'], m['tag'] = at, at + 4
    at += 14
    m['option'] = {}
    while struct.unpack_from('<H', d, at)[0]:
        m.option.setdefault(struct.unpack_from('<H', d, at)[0], at)
        at += 6 + u32(d, at + 2)
    m['done'] = at
    m['fly'] = at + 2
    m['table'] = at + 12
    m['data'], m['size'] = u64(d, m.table), u64(d, m.table + 8)
    m['clock'] = m.table + 16 * u32(d, m.cpus)
    return m


def walk_v7(d):
    """The same for version 7."""
    at = d.index(b'\0', d.index(b'\0', 18) + 1) + 1
    m = Marks(options=at, section={}, done=[], option={})
    at += 8
    while at < len(d):
        ident, size = struct.unpack_from('<H', d, at)[0], u64(d, at + 8)
        m.section.setdefault(ident, at)
        if ident == 0:
            m.done.append(at + 16 + size - 14)
            item = at + 16
            while item < m.done[-1]:
                m.option.setdefault(struct.unpack_from('<H', d, item)[0], item)
                item += 6 + u32(d, item + 2)
        at += 16 + size
    item = m.section[3] + 16 + u64(d, m.section[3] + 8) + 16
    m['buffer'] = item + 6
    name = d.index(b'\0', item + 14) + 1
    m['page'] = d.index(b'\0', name) + 1
    m['entry'] = m.page + 8
    m['data'] = u64(d, m.entry + 4)
    return m


def records_of(page):
    """Where the data records of a page end."""
    at, ends = 16, []
    stop = min(16 + (u32(page, 8) & 0x7ffffff), len(page) - 8)
    while at < stop:
        word = u32(page, at)
        kind = word & 31
        if kind >= 30:
            at += 8
        elif kind and kind < 29:
            at += 4 + 4 * kind
            ends.append(at)
        else:
            at += 4 + max(u32(page, at + 4), 4)
            if kind == 0:
                ends.append(at)
    return ends


class Capture:
    """Records of a capture in the order of each CPU: (from, to) of the page or chunk that holds one, and where the bytes that
    it needs end. `metadata`: ranges of the file as (from, to, kind, events)."""

    def __init__(self, data, work):
        self.data, self.records, self.metadata = data, {}, []
        v6 = data[10:11] == b'6'
        m = walk_v6(data) if v6 else walk_v7(data)
        self.compressed = not v6 and data[18:23] == b'zstd\0'
        if v6:
            cpus = [(i, u64(data, m.table + 16 * i), u64(data, m.table + 16 * i + 8)) for i in range(u32(data, m.cpus))]
            self.metadata += [(m.kallsyms, m.printk, 'symbols', None), (m.printk, m.cmdlines, 'symbols', None),
                              (m.cmdlines, m.cpus, 'tasks', None)]
            self.formats(m.formats)
        else:
            cpus = [struct.unpack_from('<IQQ', data, m.entry + 20 * i) for i in range(u32(data, m.page + 4))]
            self.sections(m)
        for cpu, at, size in cpus:
            if not size:
                continue
            take = self.chunks(at, work) if self.compressed else [(at, at + size, data[at:at + size])]
            self.records[cpu] = [where for chunk in take for where in self.pages(*chunk)]

    def formats(self, formats):
        self.metadata += [(a, b, 'formats', {event}) for a, b, _, event in formats]

    def sections(self, m):
        kinds = {17: 'formats', 18: 'formats', 19: 'symbols', 20: 'symbols', 21: 'tasks'}
        for ident, at in m.section.items():
            end = at + 16 + u64(self.data, at + 8)
            if ident not in kinds:
                continue
            if self.compressed or kinds[ident] != 'formats':
                self.metadata.append((at, end, kinds[ident], None))
                continue
            formats = []
            if ident == 17:
                formats_of(self.data, at + 20, u32(self.data, at + 16), 'ftrace', formats)
            else:
                systems_of(self.data, at + 16, formats)
            self.formats(formats)

    def chunks(self, at, work):
        count, at = u32(self.data, at), at + 4
        for _ in range(count):
            size = u32(self.data, at)
            with open(work + '/frame', 'wb') as f:
                f.write(self.data[at + 8:at + 8 + size])
            yield at, at + 8 + size, run('zstd', '-dcq', work + '/frame')[1]
            at += 8 + size

    def pages(self, begin, end, decoded):
        page = u32(self.data, 14)
        for at in range(0, len(decoded) - page + 1, page):
            for stop in records_of(decoded[at:at + page]):
                yield (begin, end, end) if self.compressed else (begin + at, begin + at + page, begin + at + stop)
