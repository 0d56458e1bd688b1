#!/usr/bin/env python3
"""Calls build/libtracemend-mutator.so as afl-fuzz does: the same seed gives the same mutants, trimming keeps what the target
needs and ends, and a description is a piece of a file name.

    tests/tools/mutator_afl.py LIBRARY FORMAT FILE"""
import ctypes
import os
import re
import sys


def load(path):
    lib = ctypes.CDLL(path)
    lib.afl_custom_init.restype = ctypes.c_void_p
    lib.afl_custom_init.argtypes = [ctypes.c_void_p, ctypes.c_uint]
    lib.afl_custom_deinit.argtypes = [ctypes.c_void_p]
    lib.afl_custom_fuzz.restype = ctypes.c_size_t
    lib.afl_custom_fuzz.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p),
                                    ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t]
    lib.afl_custom_describe.restype = ctypes.c_char_p
    lib.afl_custom_describe.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    lib.afl_custom_init_trim.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    lib.afl_custom_trim.restype = ctypes.c_size_t
    lib.afl_custom_trim.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
    lib.afl_custom_post_trim.argtypes = [ctypes.c_void_p, ctypes.c_int]
    return lib


def mutants(lib, data, seed, count):
    state = lib.afl_custom_init(None, seed)
    made = []
    for _ in range(count):
        out = ctypes.c_void_p()
        size = lib.afl_custom_fuzz(state, data, len(data), ctypes.byref(out), data, len(data), 1 << 20)
        made.append(ctypes.string_at(out, size))
        short = lib.afl_custom_describe(state, 60).decode("ascii")
        assert short.startswith("op:") and len(short) <= 60 and not set(short) & set("/ \n"), short
        name = lib.afl_custom_describe(state, 200).decode("ascii")
        assert re.fullmatch(r"op:[^/ \n]+,rule:[^/ \n]+,seed:[0-9]+", name), name
    lib.afl_custom_deinit(state)
    return made


def trim(lib, data, needs):
    """Trims as afl-fuzz does, for a target that behaves the same as long as `needs` holds."""
    state = lib.afl_custom_init(None, 1)
    steps = lib.afl_custom_init_trim(state, data, len(data))
    best, step, rounds = data, 0, 0
    while step < steps:
        out = ctypes.c_void_p()
        size = lib.afl_custom_trim(state, ctypes.byref(out))
        candidate = ctypes.string_at(out, size)
        good = needs(candidate)
        if good:
            best = candidate
        after = lib.afl_custom_post_trim(state, 1 if good else 0)
        assert after > step, (after, step)
        step, rounds = after, rounds + 1
        assert rounds <= 1000
    lib.afl_custom_deinit(state)
    return best, rounds


def main():
    library, name, path = sys.argv[1:4]
    os.environ["TRACEMEND_FORMAT"] = name
    lib = load(library)
    with open(path, "rb") as f:
        data = f.read()
    assert mutants(lib, data, 7, 50) == mutants(lib, data, 7, 50), "the same seed gives other mutants"
    assert mutants(lib, data, 7, 50) != mutants(lib, data, 8, 50)
    # What a target may need: bytes from the last third of the file, or before it where that is zeros.
    at = len(data) * 2 // 3
    places = [*range(at, len(data) - 8), *range(at, -1, -1)]
    marker = next(data[i:i + 8] for i in places if len(set(data[i:i + 8])) > 4)
    small, rounds = trim(lib, data, lambda c: marker in c)
    assert marker in small and len(small) <= len(data)
    print(f"mutator: {name}: {len(data)} bytes trimmed to {len(small)} in {rounds} steps")


if __name__ == "__main__":
    main()
