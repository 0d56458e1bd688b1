"""Readers of fxt in several languages with the same 20 bugs: what they forget to check, and what happens then. The walk is the same
in each; every bug is a function of its own. (n: words of a record; left: words from it to the end; lo, hi: its header.)"""

# Name and condition, in what C, Python, JavaScript and Rust have in common.
BUGS = [
    ("size_zero", "n == 0"),
    ("past_end", "n > left"),
    ("tick_size", "t == 1 && n != 2 && n != 0"),
    ("magic_value", "i == 0 && t == 0 && (lo != 0x46040010 || hi != 0x00165478)"),
    ("record_type", "t >= 11 && t <= 14"),
    ("profiler_type", "t == 10 && b > 4"),
    ("metadata_type", "t == 0 && b > 4"),
    ("provider_event", "t == 0 && b == 3 && ((hi >> 20) & 15) != 0"),
    ("info_type", "t == 0 && b == 4 && ((lo >> 20) & 15) != 0"),
    ("string_index", "t == 2 && ((lo >> 16) & 0x7fff) == 0"),
    ("thread_index", "t == 3 && ((lo >> 16) & 255) == 0"),
    ("event_type", "t == 4 && b > 10"),
    ("blob_type", "t == 5 && ((hi >> 16) & 255) > 4"),
    ("object_type", "t == 7 && ((lo >> 16) & 255) > 40"),
    ("scheduling_type", "t == 8 && ((hi >> 28) & 15) > 3"),
    ("thread_state", "t == 8 && ((hi >> 28) & 15) == 0 && ((lo >> 24) & 15) > 5"),
    ("tick_rate", "t == 1 && word == 0"),
    ("large_type", "t == 15 && ((hi >> 4) & 15) != 0"),
    ("sched_size", "(t == 6 || t == 8) && n == 1"),
    ("rest", "rest != 0"),
]

# What a reader does when it meets the defect. `v` is a number that the compiler does not know: 0.
ASAN = ["char *p = malloc(4); return p[4 + v];", "char *p = malloc(4); free(p); return p[v];", "char p[4] = { 0 }; return p[4 + v];",
        "char *p = malloc(4); memset(p, 0, 8 + (size_t)v); return *p;", "char *p = malloc(4); free(p); if (!v) free(p); return 0;",
        "return *(volatile int *)(long)v;", "assert(v); return 1;", "return 7 / v;", "return table[9 + v];", "if (!v) abort(); return 0;"]
UBSAN = ["return 0x7fffffff + (v + 1);", "return 1 << (40 + v);", "return 7 / v;", "return ((int *)(long)v)[0];", "return table[9 + v];",
         "return -(-0x7fffffff - 1 + v);", "return *(int *)((char *)table + 1 + v);", "if (!v) __builtin_unreachable(); return 0;"]
# Four times each: a register may still hold the last.
LSAN = ["for (int k = 0; k < 4; k++) sink = *(char *)memset(malloc(64), v, 64); return 0;",
        "for (int k = 0; k < 4; k++) sink = *(char *)memset(realloc(NULL, 32), v, 32); return 0;",
        "for (int k = 0; k < 4; k++) sink = *(char *)calloc(2 + (size_t)v, 16); return 0;"]
MSAN = ["int *p = malloc(16); if (p[1 + v] > 4) return 1; return 2;", "int a[4]; if (a[v]) return 1; return 2;",
        "char *p = malloc(4); return table[p[v] & 7] + 1;", "char a[8]; a[1] = 'x'; return (int)strlen(a + v);",
        "char *p = malloc(4); free(p); if (p[v] > 1) return 1; return 2;"]
# The thread writes first, without a word to this one.
TSAN = ["RACE(table[v]++)", "RACE(table[v] = 1)", "RACE(sink = table[v])", "RACE(memset(table, v, 8))"]
GO = ["return []int{1, 2}[v+9]", "var p *page; return p.size", "return 1 / v", "return len(make([]byte, v-1))", "var m map[string]int; m[\"x\"] = v; return 0",
      "panic(\"bad record\")", "var a any = v; return len(a.(string))", "b := []byte{1, 2}; return len(b[v+2 : v+1])",
      "var f func() int; return f()", "c := make(chan int); close(c); close(c); return 0", "panic(fmt.Errorf(\"bad record %d\", v))"]
PYTHON = ["[0][9]", "{}['name']", "None.size", "1 // v", "int('x')", "(v - 1).to_bytes(2, 'little')", "b'\\xff'.decode()", "'a' + v",
          "bytes(4).index(b'x')", "__import__('struct').unpack('<Q', b'short')"]
NODE = ["return null.size;", "return undefined.name();", "return new Array(v - 1);", "throw new Error('bad record');",
        "return Buffer.alloc(4).readUInt32LE(9);", "return JSON.parse('{');", "return BigInt(1.5);", "return (1).toFixed(200);",
        "return missing;", "return 'x'.repeat(v - 1);"]
RUST = ["[1u8, 2][v as usize + std::hint::black_box(9)] as u32", "None::<u32>.unwrap()", "Err::<u32, &str>(\"bad\").unwrap()", "1 / v",
        "v - std::hint::black_box(1)", "std::hint::black_box(u32::MAX) + 1 + v", "panic!(\"bad record\")", "unreachable!()",
        "assert_eq!(v, 1); 0", "\"x\".parse::<u32>().unwrap()", "vec![0u8; 4][std::hint::black_box(3)..][..9].len() as u32"]

REFUSE = "bad record"

# What a sound reader refuses. Kinds that are not assigned are for later versions of the format: it reads on behind them.
REFUSED = {"size_zero", "past_end", "magic_value", "sched_size", "rest"}


def checked(sound):
    """The bugs, or the checks, inside the loop over the records."""
    return [(name, rule) for name, rule in BUGS if name != "rest" and (not sound or name in REFUSED)]


def c(faults):
    def make(sound):
        functions = "".join(f"__attribute__((noinline)) static int bug_{name}(int v)\n{{\n\t{faults[k % len(faults)]}\n}}\n"
                            for k, (name, _) in enumerate(BUGS))
        act = (lambda name: f'{{ fputs("{REFUSE}\\n", stderr); exit(1); }}') if sound else (lambda name: f"sink = bug_{name}(zero);")
        checks = "".join(f"\t\tif ({rule}) {act(name)}\n" for name, rule in checked(sound))
        return f"""#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int zero, sink;
static int table[8];
static void *writer(void *written)
{{
	table[0]++;
	__atomic_store_n((int *)written, 1, __ATOMIC_RELAXED);
	return NULL;
}}
#define RACE(what) \\
	pthread_t other; int written = 0; pthread_create(&other, NULL, writer, &written); \\
	while (!__atomic_load_n(&written, __ATOMIC_RELAXED)) continue; \\
	what; pthread_join(other, NULL); return 0;
{"" if sound else functions}
static uint32_t at(const uint8_t *p) {{ return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24; }}
int main(int argc, char **argv)
{{
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
	if (!f)
		return 9;
	static uint8_t data[1 << 22];
	size_t size = fread(data, 1, sizeof(data), f), rest = size % 8;
	fclose(f);
	(void)writer;
	for (size_t o = 0, i = 0; o + 8 <= size; i++) {{
		uint32_t lo = at(data + o), hi = at(data + o + 4), t = lo & 15, b = lo >> 16 & 15;
		size_t left = (size - o) / 8, n = t == 15 ? (lo >> 4 | (hi & 15) << 28) : (lo >> 4 & 0xfff);
		uint64_t word = left > 1 ? at(data + o + 8) | (uint64_t)at(data + o + 12) << 32 : 1;
{checks}		if (!n || n > left)
			return 1;
		o += 8 * n;
	}}
	if (rest) {act("rest")}
	(void)sink;
	return 0;
}}
"""
    return make


def python(sound):
    functions = "".join(f"def bug_{name}(v):\n    return {PYTHON[k % len(PYTHON)]}\n\n\n" for k, (name, _) in enumerate(BUGS))
    act = (lambda name: f"sys.exit('{REFUSE}')") if sound else (lambda name: f"bug_{name}(0)")
    checks = "".join(f"        if {rule.replace('&&', 'and').replace('||', 'or')}:\n            {act(name)}\n" for name, rule in checked(sound))
    return f"""import struct
import sys

{"" if sound else functions}
def read(data):
    o, i, rest = 0, 0, len(data) % 8
    while o + 8 <= len(data):
        lo, hi = struct.unpack_from('<II', data, o)
        t, b, left = lo & 15, lo >> 16 & 15, (len(data) - o) // 8
        n = lo >> 4 | (hi & 15) << 28 if t == 15 else lo >> 4 & 0xfff
        word = struct.unpack_from('<Q', data, o + 8)[0] if left > 1 else 1
{checks}        o += 8 * n
        i += 1
    if rest:
        {act("rest")}


read(open(sys.argv[1], 'rb').read())
"""


def node(sound):
    functions = "".join(f"function bug_{name}(v) {{ {NODE[k % len(NODE)]} }}\n" for k, (name, _) in enumerate(BUGS))
    act = (lambda name: f"{{ console.error('{REFUSE}'); process.exit(1); }}") if sound else (lambda name: f"bug_{name}(0);")
    checks = "".join(f"    if ({rule}) {act(name)}\n" for name, rule in checked(sound))
    return f"""{"" if sound else functions}
function read(data) {{
  const rest = data.length % 8;
  for (let o = 0, i = 0; o + 8 <= data.length; i++) {{
    const lo = data.readUInt32LE(o), hi = data.readUInt32LE(o + 4), t = lo & 15, b = lo >>> 16 & 15;
    const left = Math.floor((data.length - o) / 8), n = t === 15 ? (lo >>> 4) + (hi & 15) * 2 ** 28 : lo >>> 4 & 0xfff;
    const word = left > 1 ? data.readBigUInt64LE(o + 8) : 1n;
{checks}    o += 8 * n;
  }}
  if (rest) {act("rest")}
}}
read(require('fs').readFileSync(process.argv[2]));
"""


def go(sound):
    functions = "".join(f"//go:noinline\nfunc bug_{name}(v int) int {{ {GO[k % len(GO)]} }}\n\n" for k, (name, _) in enumerate(BUGS))
    act = (lambda name: f'fmt.Fprintln(os.Stderr, "{REFUSE}"); os.Exit(1)') if sound else (lambda name: f"sink = bug_{name}(zero)")
    checks = "".join(f"\t\tif {rule} {{ {act(name)} }}\n" for name, rule in checked(sound))
    return f"""package main

import (
	"encoding/binary"
	"fmt"
	"os"
)

type page struct{{ size int }}

var zero, sink int

{"" if sound else functions}
func main() {{
	data, err := os.ReadFile(os.Args[1])
	if err != nil {{ fmt.Fprintln(os.Stderr, err); os.Exit(9) }}
	o, i, rest := 0, 0, len(data)%8
	for o+8 <= len(data) {{
		lo, hi := binary.LittleEndian.Uint32(data[o:]), binary.LittleEndian.Uint32(data[o+4:])
		t, b, left := lo&15, (lo>>16)&15, (len(data)-o)/8
		n, word := int((lo>>4)&0xfff), uint64(1)
		if t == 15 {{ n = int(lo>>4 | (hi&15)<<28) }}
		if left > 1 {{ word = binary.LittleEndian.Uint64(data[o+8:]) }}
		_, _, _ = b, word, i
{checks}		if n == 0 || n > left {{ os.Exit(1) }}
		o += 8 * n
		i++
	}}
	if rest != 0 {{ {act("rest")} }}
}}
"""


def rust(sound):
    functions = "".join(f"#[inline(never)]\nfn bug_{name}(v: u32) -> u32 {{\n    {RUST[k % len(RUST)]}\n}}\n" for k, (name, _) in enumerate(BUGS))
    act = (lambda name: f'{{ eprintln!("{REFUSE}"); std::process::exit(1); }}') if sound else \
        (lambda name: f"{{ std::hint::black_box(bug_{name}(std::hint::black_box(0))); }}")
    checks = "".join(f"        if {rule} {act(name)}\n" for name, rule in checked(sound))
    return f"""#![allow(unconditional_panic, arithmetic_overflow, unused, clippy::all)]
{"" if sound else functions}
fn main() {{
    let data = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
    let at = |o: usize| u32::from_le_bytes(data[o..o + 4].try_into().unwrap());
    let (mut o, mut i, rest) = (0, 0, data.len() % 8);
    while o + 8 <= data.len() {{
        let (lo, hi) = (at(o), at(o + 4));
        let (t, b, left) = (lo & 15, lo >> 16 & 15, (data.len() - o) / 8);
        let n = if t == 15 {{ (lo >> 4 | (hi & 15) << 28) as usize }} else {{ (lo >> 4 & 0xfff) as usize }};
        let word = if left > 1 {{ at(o + 8) as u64 | (at(o + 12) as u64) << 32 }} else {{ 1 }};
{checks}        if n == 0 || n > left {{
            std::process::exit(1);
        }}
        o += 8 * n;
        i += 1;
    }}
    if rest != 0 {act("rest")}
}}
"""
