#!/bin/bash
# The mutators for AFL++ and libFuzzer, as others use them, for a few runs each: both engines run with them, on a reader with
# a planted bug and on our own checker; they find new paths, and what is kept is named by operator and rule.
#
#   tests/tools/mutators.sh [RUNS]    (default 600 a target of AFL++; libFuzzer 16 times that)
set -u
cd "$(dirname "$0")/../.." || exit 2
runs=${1:-600}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "mutators: $*"; failed=1; }
have() { command -v "$1" > /dev/null || { echo "mutators: no $1: not tried"; return 1; }; }

make -s -j2 fuzz-kit build/tests/unit/test_mutate > "$work/build.log" 2>&1 || { tail -20 "$work/build.log"; exit 1; }
kit=$PWD/build/fuzz-kit
MUTANTS=1000 timeout 300 build/tests/unit/test_mutate > "$work/unit.log" 2>&1 || { cat "$work/unit.log"; fail "1,000 mutants a format: too many are broken"; }
grep 'mutate: ' "$work/unit.log"

# A dictionary has one word for each value of a tag, and no token twice.
types=$(grep -c '^record_type_' "$kit/dictionaries/fxt.dict")
[ "$types" -ge 9 ] && [ "$types" -le 16 ] || fail "fxt.dict: $types words for the types of records"
[ -z "$(cat "$kit"/dictionaries/fxt.dict | sed -n 's/^[^#=]*=//p' | sort | uniq -d)" ] || fail "fxt.dict: a token is there twice"

# The kit does not change from one packing to the next.
first=$(sha256sum < build/fuzz-kit.tar.gz)
make -s fuzz-kit > /dev/null 2>&1
[ "$first" = "$(sha256sum < build/fuzz-kit.tar.gz)" ] || fail "the kit is not the same twice"

# As afl-fuzz calls it: determinism, trimming, names.
for format in $(scripts/formats.sh); do
	file=$(find "corpus/$format/valid" -type f -size -20k | sort | tail -1)
	timeout 120 python3 tests/tools/mutator_afl.py "$kit/libtracemend-mutator.so" "$format" "$file" || fail "$format: trimming or naming"
done

mkdir "$work/seeds"
cp corpus/fxt/valid/valid-01.fxt "$work/seeds/"
libs=$(sed -n "s/^LIBS_CORE = //p" Makefile)
export TRACEMEND_FORMAT=fxt
if have clang-14; then
	clang-14 -O1 -g -fsanitize=fuzzer fuzz/harness_example.c "$kit/tracemend-mutator.o" $libs -o "$work/lf" || fail "the libFuzzer harness does not link"
	mkdir "$work/corpus" "$work/artifacts"
	cp "$work/seeds/"* "$work/corpus/"
	# The planted bug, or new paths at the least.
	TRACEMEND_RECENT=$work/recent timeout 300 "$work/lf" -max_len=4096 -runs=$((16 * runs)) -seed=1 -artifact_prefix="$work/artifacts/" -dict="$kit/dictionaries/fxt.dict" "$work/corpus" > "$work/lf.log" 2>&1
	[ "$(ls "$work/corpus" | wc -l)" -gt 10 ] || { tail -5 "$work/lf.log"; fail "libFuzzer with the mutator finds no new paths"; }
	grep -q 'Custom' "$work/lf.log" || fail "libFuzzer does not call the mutator"
	# The first inputs of the corpus are older than what is still noted; a crash is the newest.
	"$kit/tracemend-labels" -r "$work/recent" "$work/corpus" > "$work/labels.log" 2>&1 && python3 tests/tools/labels.py "$work/corpus" --known 10 || { cat "$work/labels.log"; fail "labels of libFuzzer's corpus"; }
	if [ -n "$(ls "$work/artifacts")" ]; then
		"$kit/tracemend-labels" -r "$work/recent" "$work/artifacts" > "$work/labels.log" 2>&1 && python3 tests/tools/labels.py "$work/artifacts" &&
			grep -q '"operators":\["' "$work/artifacts/labels.jsonl" || { cat "$work/artifacts/labels.jsonl"; fail "labels of libFuzzer's crash"; }
	fi
	echo "mutators: libFuzzer: $(ls "$work/corpus" | wc -l) inputs, planted bug $([ -n "$(ls "$work"/artifacts/crash-* 2>/dev/null)" ] && echo found || echo "not found in $((16 * runs)) runs")"
fi
if have afl-fuzz; then
	# afl-fuzz refuses options of the sanitizers that do not say this.
	export ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1
	export UBSAN_OPTIONS=abort_on_error=1:symbolize=0:halt_on_error=1
	export AFL_QUIET=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1
	afl-clang-fast -O1 -g -fsanitize=fuzzer fuzz/harness_example.c -o "$work/afl" > /dev/null 2>&1 || fail "the AFL++ harness does not build"
	# Our own checker, as a program that reads a file: named by the reader's author, not by us.
	afl() { # NAME SEEDS COMMAND...
		local name=$1 seeds=$2
		shift 2
		AFL_CUSTOM_MUTATOR_LIBRARY=$kit/libtracemend-mutator.so AFL_CUSTOM_MUTATOR_ONLY=1 timeout 300 \
			afl-fuzz -i "$seeds" -o "$work/$name" -E "$runs" -s 1 -t 5000+ -m none -x "$kit/dictionaries/$TRACEMEND_FORMAT.dict" -- "$@" > "$work/$name.log" 2>&1
		local queue=$work/$name/default/queue
		[ -d "$queue" ] || { tail -5 "$work/$name.log"; fail "afl-fuzz does not run on $name"; return; }
		[ "$(find "$queue" -name 'id:*op:*,rule:*' | wc -l)" -gt 3 ] || fail "afl-fuzz on $name: new paths are not named by operator and rule"
		echo "mutators: AFL++, $name: $(find "$queue" -name 'id:*' | wc -l) inputs, $(find "$work/$name/default/crashes" -name 'id:*' | wc -l) crashes"
	}
	afl example "$work/seeds" "$work/afl"
	# Mixed with its own mutations, and all of it labelled.
	AFL_CUSTOM_MUTATOR_LIBRARY=$kit/libtracemend-mutator.so timeout 300 afl-fuzz -i "$work/seeds" -o "$work/mixed" -E "$((4 * runs))" -s 1 -t 5000+ \
		-m none -- "$work/afl" > "$work/mixed.log" 2>&1
	"$kit/tracemend-labels" "$work/mixed/default/queue" "$work/mixed/default/crashes" > "$work/labels.log" 2>&1 &&
		python3 tests/tools/labels.py "$work/mixed/default/queue" --known 20 || { cat "$work/labels.log"; fail "labels of mixed mode"; }
	grep -q '"operators":\["havoc' "$work/mixed/default/queue/labels.jsonl" || fail "mixed mode: nothing that havoc made was labelled"
	for format in fxt tracedat; do
		target=build/fuzz/afl/fuzz_check_$format
		[ -x "$target" ] || { echo "mutators: no $target (make fuzz-afl): not tried"; continue; }
		mkdir -p "$work/own-$format"
		find "corpus/$format/valid" -type f | sort | head -3 | xargs -I{} cp {} "$work/own-$format/"
		TRACEMEND_FORMAT=$format ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1 afl "check_$format" "$work/own-$format" "$target"
	done
	# A directory, through the wrapper: the reader is a shell that knows one file.
	mkdir "$work/tar"
	cp corpus/uftrace/valid/valid-20.tar "$work/tar/"
	"$kit/tracemend-with-directory" "$work/tar/valid-20.tar" \
		sh -c 'test -s "$0/info"' '{}' || fail "the wrapper does not unpack"
	{ "$kit/tracemend-with-directory" "$work/tar/valid-20.tar" sh -c 'kill -SEGV $$'; } 2> /dev/null
	[ $? = 139 ] || fail "the wrapper does not end by its command's signal"
fi
[ $failed = 0 ] && echo "mutators: ok"
exit $failed
