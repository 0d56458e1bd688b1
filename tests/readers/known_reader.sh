#!/bin/sh
# Documented crashes and hangs of Debian's trace-cmd and uftrace, seen again with generated captures; not reduced here.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 tests/readers/try_readers.py --known --count 2 --tries 0 -o "$work"
