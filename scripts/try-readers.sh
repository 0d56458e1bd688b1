#!/bin/sh
# Crashes and hangs of Debian's trace-cmd and uftrace with generated captures, as a table. See tests/readers/try_readers.py.
cd "$(dirname "$0")/.." || exit 2
exec python3 tests/readers/try_readers.py "$@"
