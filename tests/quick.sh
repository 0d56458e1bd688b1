#!/bin/bash
# What must hold before each landing, in seconds: the unit tests, and the properties on a few generated captures of every
# format that can generate.
set -u
cd "$(dirname "$0")/.."
failed=0

make -s -j2 all unit-tests build/replay > build/quick.log 2>&1 || { tail -30 build/quick.log; echo "quick: does not build"; exit 1; }
for test in build/tests/unit/test_*; do
	[ -x "$test" ] || continue
	case $test in *.d|*.o) continue ;; esac
	if ! timeout 30 "$test" > build/quick.log 2>&1; then
		grep -v ' OK \]\| RUN ' build/quick.log | head -20
		echo "quick: $test failed"
		failed=1
	fi
done
# The corpus is replayed for crashes and broken promises, with few injected faults.
for folder in corpus/*/valid corpus/*/regress; do
	[ -d "$folder" ] || continue
	format=${folder#corpus/}
	format=${format%/*}
	if ! timeout 20 build/replay -q -e repair -f "$format" "$folder" > build/quick.log 2>&1; then
		tail -5 build/quick.log
		echo "quick: warning: $folder breaks a promise"
	fi
done
[ $failed = 0 ] && echo "quick: ok"
exit $failed
