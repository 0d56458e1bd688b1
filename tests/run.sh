#!/bin/bash
# Everything that `make test` and CI run. Each part prints a line; the last line is "N passed, N failed, N skipped".
#
#   tests/run.sh [PART...]      only these parts (see `parts` below), after building
#
# TEST_VALID  valid captures generated a format (default 60)      TEST_RULES   captures generated a rule (1)
# TEST_DAMAGE captures generated a kind of damage (4)             TEST_FUZZ    seconds a fuzz target (15; 0: none)
# SAMPLES     folder of real captures (default ../shared/samples when it is there)
set -u
cd "$(dirname "$0")/.."
: "${TEST_VALID:=60}" "${TEST_RULES:=1}" "${TEST_DAMAGE:=4}" "${TEST_FUZZ:=15}"
[ -n "${SAMPLES:-}" ] || [ ! -d ../shared/samples ] || SAMPLES=$(cd ../shared/samples && pwd)
export SAMPLES ASAN_OPTIONS=abort_on_error=1:detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

parts="build unit corpus replay properties crosscheck manifest rules cli readers reduce mutators samples salvage damage fuzz oss-fuzz lint"
[ $# -gt 0 ] && parts=$*
logs=build/test
passed=0 failed=0 skipped=0 since=0

part() { # NAME PASSED FAILED SKIPPED [TEXT]
	passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
	printf '%-22s %5d passed %4d failed %4d skipped %4d s%s\n' "$1" "$2" "$3" "$4" $((SECONDS - since)) "${5:+  ($5)}"
	since=$SECONDS
}
show() { sed 's/^/    /' "$1" | tail -n "${2:-15}"; }
# Runs a command that either works or not: one test.
one() { # NAME COMMAND...
	local name=$1 log=$logs/${1//[^a-z0-9]/-}.log
	shift
	if "$@" > "$log" 2>&1; then part "$name" 1 0 0; else part "$name" 0 1 0; show "$log"; fi
}
# Runs a command whose last line is "...: N passed, N failed".
counted() { # NAME COMMAND...
	local name=$1 log=$logs/${1//[^a-z0-9]/-}.log code line
	shift
	"$@" > "$log" 2>&1
	code=$?
	line=$(tail -1 "$log")
	if [[ $line =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
		local good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
		[ $code != 0 ] && [ "$bad" = 0 ] && bad=1
		part "$name" "$good" "$bad" 0
		[ "$bad" = 0 ] || show "$log"
	else
		part "$name" 0 1 0
		show "$log"
	fi
}

formats() { scripts/formats.sh; }

test_build() {
	one "build: gcc" make -s -j2 all unit-tests build/replay
	one "build: clang" make -s -j2 BUILD=build/clang CC=clang-14 all
	one "build: sanitizers" make -s -j2 asan
}

test_unit() {
	local kind good bad test log count
	for kind in build build/asan; do
		good=0 bad=0
		for test in tests/unit/test_*.c; do
			test=$kind/tests/unit/$(basename "$test" .c)
			log=$logs/unit.log
			timeout 120 "$test" > "$log" 2>&1
			local code=$?
			# A test may be several groups.
			count=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | paste -sd+)
			good=$((good + ${count:-0}))
			count=$(grep -c '^\[  FAILED  \] [^0-9]' "$log")
			[ $code != 0 ] && [ "$count" = 0 ] && count=1
			[ "$count" = 0 ] || { bad=$((bad + count)); show "$log"; }
		done
		part "unit${kind#build}" $good $bad 0
	done
}

test_corpus() {
	[ -d corpus ] || { part corpus 0 0 1 "no corpus"; return; }
	counted corpus timeout 600 python3 tests/tools/corpus.py
	one "corpus: regenerated" timeout 600 scripts/corpus.sh --check
}

test_replay() {
	local f log=$logs/replay.log
	for f in $(formats); do
		[ -d "corpus/$f" ] || { part "replay: $f" 0 0 1 "no corpus"; continue; }
		if timeout 900 build/asan/replay -q -k 6 -f "$f" "corpus/$f" > "$log" 2>&1; then
			part "replay: $f" "$(sed -n 's/ captures$//p' "$log")" 0 0
		else
			part "replay: $f" 0 1 0
			show "$log"
		fi
		if timeout 300 build/asan/replay -q -k 0 -c 24 -f "$f" $(ls -S -r corpus/"$f"/valid/* | head -6) > "$log" 2>&1; then
			part "prefixes: $f" "$(sed -n 's/ captures$//p' "$log")" 0 0
		else
			part "prefixes: $f" 0 1 0
			show "$log"
		fi
	done
	if timeout 120 build/asan/replay -C $(find corpus -name '*.gz' -o -name '*.zst' -o -name '*.tar' | head -40) > "$log" 2>&1; then
		part "replay: containers" "$(sed -n 's/ captures$//p' "$log")" 0 0
	else
		part "replay: containers" 0 1 0
		show "$log"
	fi
}

test_properties() {
	local f log=$logs/properties.log
	for f in $(formats); do
		local good=0 bad=0 arguments
		for arguments in "-e repair -g $TEST_VALID -s 1000" "-e check -g $TEST_RULES -s 1000 -r all" "-e repair -d $TEST_DAMAGE -s 1000"; do
			# shellcheck disable=SC2086
			if timeout 900 build/asan/replay -f "$f" $arguments > "$log" 2>&1; then
				good=$((good + $(sed -n 's/ captures$//p' "$log")))
			else
				bad=$((bad + 1))
				show "$log"
			fi
		done
		part "generated: $f" $good $bad 0
	done
}

test_crosscheck() { counted "independent parsers" timeout 300 python3 tests/tools/crosscheck.py; }

test_manifest() { counted "manifest verifier" python3 tests/lib/verify_manifest_test.py; }

test_rules() {
	local log=$logs/rules.log good total
	timeout 600 scripts/rules.sh > "$log" 2>&1
	good=$(sed -n 's/^[a-z0-9]*: \([0-9]*\) of [0-9]* rules .*/\1/p' "$log" | paste -sd+ | bc)
	total=$(sed -n 's/^[a-z0-9]*: [0-9]* of \([0-9]*\) rules .*/\1/p' "$log" | paste -sd+ | bc)
	if [ -z "$total" ]; then part rules 0 1 0; show "$log"; return; fi
	part rules "$good" $((total - good)) 0
	[ "$good" = "$total" ] || show "$log" 30
}

test_cli() {
	local log=$logs/cli.log good bad skip
	[ -n "$(find tests/cli -name '*.bats' 2>/dev/null)" ] || { part cli 0 0 1 "no bats files"; return; }
	timeout 600 bats --tap tests/cli > "$log" 2>&1
	local code=$?
	good=$(grep -c '^ok ' "$log") bad=$(grep -c '^not ok ' "$log") skip=$(grep -c '^ok .* # skip' "$log")
	[ $code != 0 ] && [ "$bad" = 0 ] && bad=1
	part cli $((good - skip)) "$bad" "$skip"
	[ "$bad" = 0 ] || grep -A6 '^not ok ' "$log" | head -30 | sed 's/^/    /'
}

# Scripts of the formats: exit 0 passed, 77 skipped (the last line says why). They may print "N passed, N failed".
test_readers() {
	local script log name code
	for script in tests/readers/*_reader.sh; do
		[ -x "$script" ] || continue
		name=$(basename "$script" _reader.sh)
		log=$logs/$name.log
		timeout 600 "$script" > "$log" 2>&1
		code=$?
		if [ $code = 77 ]; then
			part "reader: $name" 0 0 1 "$(tail -1 "$log" | cut -c1-80)"
		elif [[ $(tail -1 "$log") =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
			part "reader: $name" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" 0
			[ $code = 0 ] || show "$log"
		elif [ $code = 0 ]; then
			part "reader: $name" 1 0 0
		else
			part "reader: $name" 0 1 0
			show "$log"
		fi
	done
}

test_samples() {
	[ -d "${SAMPLES:-/nowhere}" ] || { part samples 0 0 1 "SAMPLES is not set"; return; }
	counted samples timeout 1800 tests/tools/samples.sh
}

# A few rules of each format; scripts/reduce.sh takes them all, at 1 MB.
test_reduce() { counted reduce timeout 900 python3 tests/tools/reduce.py --size 128K --every 41 --quiet; }

# The mutators under both engines, so many runs.
test_mutators() { one mutators timeout 900 tests/tools/mutators.sh; }

test_salvage() {
	one salvage timeout 600 python3 tests/tools/salvage.py --seeds 3
	counted "what is said of the loss" timeout 600 python3 tests/tools/claims.py --count 10
}

# Formats whose independent parser knows where their size fields are.
test_damage() {
	local f
	for f in $(formats); do
		grep -qs '^def sizes' "tests/formats/$f/${f}_parse.py" || continue
		counted "damage: $f" timeout 600 python3 tests/tools/damage.py "$f" --generated 12 --count 2
	done
}

test_fuzz() {
	local f target engine
	[ "$TEST_FUZZ" = 0 ] && { part fuzz 0 0 1 "TEST_FUZZ=0"; return; }
	one "build: fuzz targets" make -s -j2 fuzz
	for f in $(formats) container; do
		one "fuzz: $f, libFuzzer" scripts/fuzz.sh "$f" "$TEST_FUZZ" --fresh --runs 150
	done
	for f in $(formats) container; do
		one "fuzz: $f, AFL++" scripts/fuzz.sh "$f" $((TEST_FUZZ * 2 / 3 + 1)) --engine afl --target repair --fresh --runs 100
	done
	one "fuzz: minimise" scripts/fuzz.sh container 120 --minimise
}

# One configuration of four; scripts/oss-fuzz-local.sh takes them all.
test_oss-fuzz() {
	[ "$TEST_FUZZ" = 0 ] && { part oss-fuzz 0 0 1 "TEST_FUZZ=0"; return; }
	[ "${TEST_OSS_FUZZ:-1}" = 0 ] && { part oss-fuzz 0 0 1 "TEST_OSS_FUZZ=0"; return; }
	counted "oss-fuzz: address" timeout 1800 scripts/oss-fuzz-local.sh --seeds 5 address
	one "fuzz: two instances" scripts/fuzz.sh fxt 4 --engine both --target check --jobs 2 --fresh --runs 60
}

test_lint() { [ "${TEST_LINT:-1}" = 0 ] && { part lint 0 0 1 "TEST_LINT=0"; return; }; one lint timeout 900 scripts/lint.sh; }

scripts/install.sh --test || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
mkdir -p $logs
case " $parts " in *" build "*) ;; *) test_build ;; esac
for p in $parts; do
	"test_$p"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
