#!/usr/bin/env python3
"""Checks captures with the library, without a structure of its own: findings come as JSON.

    check.py CAPTURE...     LIBTRACEMEND in the environment: the path of the library, where the linker does not find it
"""
import ctypes
import ctypes.util
import json
import os
import sys


class Error(ctypes.Structure):
    """struct tracemend_error, which never grows."""
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 512)]


class Print(ctypes.Structure):
    """struct tracemend_print: the library takes the members that its size says."""
    _fields_ = [("size", ctypes.c_size_t), ("format", ctypes.c_char_p)]


def load():
    path = os.environ.get("LIBTRACEMEND") or ctypes.util.find_library("tracemend")
    if not path:
        sys.exit("check.py: libtracemend is not installed; LIBTRACEMEND may name it")
    library = ctypes.CDLL(path)
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, arguments in [
            ("tracemend_version", text, []),
            ("tracemend_open", pointer, [text, pointer, ctypes.POINTER(Error)]),
            ("tracemend_close", None, [pointer]),
            ("tracemend_check", pointer, [pointer, pointer, ctypes.POINTER(Error)]),
            ("tracemend_report_free", None, [pointer]),
            ("tracemend_report_text", pointer, [pointer, ctypes.POINTER(Print), ctypes.POINTER(Error)]),
            ("tracemend_free", None, [pointer])]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def check(library, path):
    """The report of one capture, as `tracemend check --format=json` prints it."""
    error = Error()
    opened = library.tracemend_open(os.fsencode(path), None, ctypes.byref(error))
    report = library.tracemend_check(opened, None, ctypes.byref(error)) if opened else None
    wanted = Print(ctypes.sizeof(Print), b"json")
    text = library.tracemend_report_text(report, ctypes.byref(wanted), ctypes.byref(error)) if report else None
    try:
        if not text:
            raise RuntimeError(error.message.decode())
        return json.loads(ctypes.string_at(text))["inputs"][0]
    finally:
        library.tracemend_free(text)
        library.tracemend_report_free(report)
        library.tracemend_close(opened)


def main(paths):
    library = load()
    print("libtracemend", library.tracemend_version().decode())
    failed = False
    for path in paths:
        try:
            report = check(library, path)
        except RuntimeError as problem:
            print(problem, file=sys.stderr)
            failed = True
            continue
        print(f"{report['path']}: {report['format']}, {report['records']} records, {report['errors']} errors")
        for finding in report["findings"]:
            print(f"  0x{finding['offset']:x} {finding['severity']} {finding['rule']}: {finding['message']}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
