#!/bin/sh
# Crashes and hangs of Debian's trace-cmd and uftrace, found with generated captures: the table; see tests/readers/try_readers.py.
cd "$(dirname "$0")/.." || exit 2
exec python3 tests/readers/try_readers.py "$@"
