#!/usr/bin/env python3
"""Specifications of arguments and return values, asked of uftrace itself: one that it refuses is an error where a record has values, one
that it takes is not, and its values have as many bytes as uftrace reads.

    specifications.py [--tool PROGRAM] [--reader PROGRAM] [--all]

Each is put into a recording of two calls, as "foo@ITEMS". --all prints the answer to each. Prints "skip" and exits 77 where uftrace
0.13 is not installed: other releases take others. The last line is "N passed, M failed".
"""
import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))

import harness

BASE, MAIN, FOO = 0x400000, 0x1000, 0x1100
TID = 4711
FORMATS = ["", "/", "/d", "/i", "/u", "/x", "/p", "/c", "/s", "/S", "/f", "/o", "/t", "/e", "/z", "/q", "/D", "/F", "/ ", "/8", "/16", "/32",
           "/64", "/80", "/0", "/-8", "/7", "/d8", "/d16", "/d32", "/d64", "/d80", "/d0", "/d7", "/d128", "/i8", "/i16", "/i32", "/i64",
           "/i-8", "/i32x", "/i 32", "/i+32", "/u8", "/u32", "/u64", "/x8", "/x16", "/x32", "/x64", "/x80", "/p32", "/p64", "/c8", "/c32",
           "/c16", "/s8", "/s:x", "/s/i", "/s64", "/str", "/f32", "/f64", "/f80", "/f8", "/f16", "/f128", "/f33", "/t8", "/t16", "/t24",
           "/t0", "/t-1", "/t:name", "/t16:name", "/t1", "/t1000", "/t1024", "/t8%rdi", "/e:", "/e:name", "/e:uft_signal", "/e32",
           "/e:name%rdi", "/o32", "/d%rdi", "/d32%rsi", "/i%stack", "/i%stack+1", "/i%stack1", "%rdi", "%rsi", "%RDI", "%xmm0", "%xmm8",
           "%stack+8", "%stack", "%foo", "%", "%x0", "%a0", "%r9", "%r10", "//", "x", "-", "+", ":", "/d/d", "/d,", "/x%", "/f%xmm1", "/s%rdx"]
ITEMS = [*(f"arg1{f}" for f in FORMATS), *(f"fparg1{f}" for f in FORMATS if not f or f[1:2] in "/dfisx0123468%-" or f[:2] == "/t"),
         "arg1,arg2,arg3", "arg1/s,arg2/s", "arg1,arg1/s", "arg1/s,arg1", "arg2/s,arg1/i32", "arg0", "arg", "arg-1", "arg 1", "arg+1", "arg1 ",
         "arg01", "arg1x", "arg99", "arg100", "arg1000", "arg65536", "arg4294967297", "arga", "ARG1", "fparg", "fparg0", "fparg9", "fparg100",
         "fparg1,arg1", "arg1,fparg1/32", "", ",", ",,arg1", "arg1,,arg2", "arg1,nonsense", "nonsense,arg1", "nonsense", "arg1,retval",
         "retval,arg1", "retval", "retval/s", "retval/z,arg1", "arg1,trace", "trace", "trace,arg1", "trace_on,arg1", "trace=on,arg1",
         "filter,arg1", "notrace,arg1", "hide,arg1", "depth=1,arg1", "depth=,arg1", "depth=x,arg1", "time=1us,arg1", "time=x,arg1",
         "size=8,arg1", "color=red,arg1", "color=x,arg1", "read=proc/statm,arg1", "read=x,arg1", "recover,arg1", "finish,arg1",
         "caller,arg1", "backtrace,arg1", "auto-args,arg1", "auto-args", "libfoo.so,arg1", "arg1,libfoo.so", "PLT,arg1", "plt,arg1",
         "kernel,arg1", "arg1,kernel", "demo,arg1", "dem,arg1", "demo.so,arg1", "DEMO,arg1", "@arg1", "arg1@", "arg1@arg2", "arg1/e:a:b",
         "arg1/e:,arg2", "arg1 /s", " arg1", "arg1/ s", "arg1\t", "arg1/t8,arg2/s,arg3/c", "arg1/c,arg2/c", "arg1/i8,arg2/i16,arg3/i32"]


RETVALS = [*(f"retval{f}" for f in FORMATS), "retval,arg1", "arg1,retval", "retval/s,retval/c", "retval/c,retval/s", "arg1/z,retval", "arg1/z",
           "retval,arg1/z", "fparg1/q,retval", "retval1", "retvalx", "retval ", "ret", "trace,retval", "retval,nonsense", "depth=x,retval", ""]


def lines(*of):
    return "".join(f"{line}\n" for line in of).encode()


def record(time, kind, address, depth, more=False):
    return struct.pack("<QQ", time, kind | more << 2 | 5 << 3 | depth << 6 | address << 16)


def recording(items, values, retval=False):
    """A directory whose only call of foo has these values, or returns them."""
    head = struct.pack("<8sIHBBQQHHI", b"Ftrace!\0", 4, 40, 1, 2, 0x7b, 1 << 0 | 1 << 4 | 1 << 7 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13, 1024, 0, 0)
    info = lines("exename:/opt/demo", "cpuinfo:lines=2", "cpuinfo:nr_cpus=2 / 2 (online/possible)", "cpuinfo:desc=x86", "taskinfo:lines=2", "taskinfo:nr_tid=1", f"taskinfo:tids={TID}", "argspec:lines=1",
                 f"{'ret' if retval else 'arg'}spec:foo@{items}", "record_date:Sat Nov 21 00:25:54 2026", "elapsed_time:0.1 sec", "pattern_type:regex",
                 "uftrace_version:v0.13 ( x86_64 )")
    call, back = (b"", values) if retval else (values, b"")
    return {
        "info": head + info,
        "task.txt": lines(f'SESS timestamp=1.000000000 pid={TID} sid=0123456789abcdef exename="/opt/demo"',
                          f"TASK timestamp=1.000000100 tid={TID} pid={TID}"),
        "sid-0123456789abcdef.map": lines(f"{BASE:08x}-{BASE + 0x3000:08x} r-xp 00000000 00:00 0                          /opt/demo",
                                          f"7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]"),
        "demo.sym": lines("# symbols: 3", "# path name: /opt/demo", "# build-id: ", f"{MAIN:016x} T main", f"{FOO:016x} T foo",
                          f"{FOO + 0x100:016x} ? __sym_end"),
        "default.opts": b"",
        f"{TID}.dat": (record(1000000200, 0, BASE + MAIN, 0) + record(1000000300, 0, BASE + FOO, 1, not retval) + call +
                       record(1000000400, 1, BASE + FOO, 1, retval) + back + record(1000000500, 1, BASE + MAIN, 0)),
    }


def write(files, path):
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    for name, data in files.items():
        with open(os.path.join(path, name), "wb") as f:
            f.write(data)


def reading(reader, command, path):
    done = subprocess.run(["timeout", "10", reader, command, "--no-pager", "-d", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode(errors="replace")


def ask(reader, path, items, retval):
    """How many bytes uftrace reads for foo@ITEMS, or a multiple of 8 around them; None where it refuses the specification."""
    write(recording(items, bytes(4096), retval), path)
    text = reading(reader, "dump", path)
    if "missing argument info" in text:
        return None
    found = re.search(r"\[(?:args |retval)\] length = (\d+)", text)
    if found:
        return int(found[1])
    # dump aborts at a long double; replay goes on where the next record is in the right place.
    for size in range(0, 64, 8):
        write(recording(items, bytes(size), retval), path)
        text = reading(reader, "replay", path)
        if re.search(r"main\(\) \{\n.* foo\(.*;\n.*\} /\* main \*/", text):
            return size
    raise SystemExit(f"foo@{items}: uftrace says neither:\n{text}")


def judge(tool, path, items, retval, size):
    """What check says wrongly, or None."""
    values = bytes(8 if size is None else (size + 7) & ~7)
    write(recording(items, values, retval), path)
    found = harness.check_all(tool, "uftrace", [path])[path]
    errors = [f for f in found["findings"] if f["severity"] == "error"]
    if size is None:
        return None if errors else "uftrace refuses it, and check reports no error"
    return f"uftrace reads {size} bytes, and check says: {errors[0]['message']}" if errors else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tool", default="build/tracemend")
    parser.add_argument("--reader", default="uftrace")
    parser.add_argument("--all", action="store_true")
    o = parser.parse_args()
    version = subprocess.run([o.reader, "--version"], stdout=subprocess.PIPE, check=False).stdout if shutil.which(o.reader) else b""
    if b"v0.13" not in version:
        print("skip: uftrace 0.13 is not installed")
        return 77
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="specifications.") as folder:
        path = os.path.join(folder, "recording")
        for items, retval in [*((items, False) for items in ITEMS), *((items, True) for items in RETVALS)]:
            size = ask(o.reader, path, items, retval)
            what = judge(o.tool, path, items, retval, size)
            name = f"{'retspec' if retval else 'argspec'}:foo@{items}"
            if o.all:
                print(f"{name}: {'refused' if size is None else f'{size} bytes'}")
            if what:
                print(f"FAIL: {name}: {what}")
                failed += 1
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
