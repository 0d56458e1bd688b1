#!/bin/bash
# Every rule: emitted, explained, broken by its breaker, in the corpus, tested; and every place that reports one, silenced, makes a test
# of `make test-FORMAT` fail.
#
#   scripts/rules.sh [--table] [--format NAME] [--jobs N]
#
# --table: only the rules, not the places, which need a build of their own (`make sites`).
set -u
cd "$(dirname "$0")/.."
table=0 format=() jobs=$(nproc)
while [ $# -gt 0 ]; do
	case $1 in
	--table) table=1; shift ;;
	--format) format=(--format "${2:?which format?}"); shift 2 ;;
	--jobs) jobs=${2:?how many?}; shift 2 ;;
	*) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
done
status=0
python3 tests/tools/rules.py ${format[@]+"${format[@]}"} || status=1
if [ $table = 0 ]; then
	mkdir -p build
	make -s -j"$jobs" sites > build/sites.log 2>&1 || { tail -20 build/sites.log; echo "rules: the build with numbered places fails"; exit 1; }
	python3 tests/tools/knockout.py --jobs "$jobs" ${format[@]+"${format[@]}"} || status=1
fi
exit $status
