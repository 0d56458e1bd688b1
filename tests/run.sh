#!/bin/bash
# The tests. Each part prints a line, and why it failed; the last line is "N passed, N failed, N skipped".
#
#   tests/run.sh [PART...]         make test: all kinds of proof, small
#   tests/run.sh --all [PART...]   make test-all: the same parts larger, and the parts that take long
#   tests/run.sh --format NAME     make test-NAME: one format, in seconds; nothing is built
#   tests/run.sh --quick           tests/quick.sh: all formats, in seconds; nothing is built
#
# PART: one of those listed below. What it needs is built first.
#   BUILD        the folder of the build under test (build)        TEST_FUZZ    seconds a fuzz target, with --all (15; 0: none)
#   SAMPLES      folder of real captures, with --all               TEST_LINT    1: clang-tidy and cppcheck, with --all (0)
#   TEST_STYLE   1: the tree is as .clang-format makes it (0)      TEST_OSS_FUZZ 1: OSS-Fuzz's build, with --all (0)
set -u
cd "$(dirname "$0")/.."
: "${BUILD:=build}" "${TEST_FUZZ:=15}" "${TEST_LINT:=0}" "${TEST_OSS_FUZZ:=0}" "${TEST_STYLE:=0}"
[ -n "${SAMPLES:-}" ] || [ ! -d ../shared/samples ] || SAMPLES=$(cd ../shared/samples && pwd)
export WERROR=1 SAMPLES ASAN_OPTIONS=abort_on_error=1:detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

# Where python3 is a script that looks for the interpreter (pyenv), that takes longer than most tests: it is asked once.
if [ "$(head -c 2 "$(command -v python3)" 2> /dev/null | tr -d '\0')" = '#!' ]; then PATH=$(dirname "$(python3 -c 'import sys; print(sys.executable)')"):$PATH; fi

# Temporary files in memory, where there are 2 GB and programs may run: thousands of small outputs are synced to the disk otherwise.
memory() {
	[ -w /dev/shm ] && [ "$(df --output=avail -k /dev/shm | tail -1)" -gt 2000000 ] || return 1
	local probe
	probe=$(mktemp /dev/shm/tracemend-XXXXXX) && cp /bin/true "$probe" && chmod +x "$probe" && "$probe"
	local code=$?
	rm -f "$probe"
	return $code
}
if [ -z "${TMPDIR:-}" ] && memory 2> /dev/null; then export TMPDIR=/dev/shm; fi

tier=small format=
case ${1:-} in
--all) tier=all; shift ;;
--format) tier=format format=${2:?which format?}; shift 2 ;;
--quick) tier=quick; shift ;;
-*) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
case $tier in
small) parts="style build unit outcomes corpus replay generated written crosscheck manifest truth rules house cli readers reduce salvage damage" ;;
all) parts="style build unit outcomes corpus replay generated written crosscheck manifest truth rules house places cli readers reduce mutators samples salvage damage
	fuzz oss-fuzz lint" ;;
format) parts="outcomes corpus replay generated written unit crosscheck" ;;
quick) parts="unit outcomes replay" ;;
esac
[ $# = 0 ] || parts=$*
logs=$BUILD/test jobs=$(nproc)
passed=0 failed=0 skipped=0

# ---- how a part reports ----

small() { [ $tier != all ]; }
# Whether nothing is built, and the plain build is taken for everything.
built() { [ $tier = format ] || [ $tier = quick ]; }
# at SMALL ALL: the one of the tier.
at() { if small; then echo "$1"; else echo "$2"; fi; }
# The formats under test.
formats() { if [ -n "$format" ]; then echo "$format"; else TOOL=$BUILD/tracemend scripts/formats.sh; fi; }

part() { # NAME PASSED FAILED SKIPPED [TEXT]
	local log
	log=$(log_of "$1")
	passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
	printf '%-26s %5d passed %4d failed %4d skipped %4d s%s\n' "$1" "$2" "$3" "$4" "$(cat "$log.seconds" 2> /dev/null || echo 0)" "${5:+  ($5)}"
}
show() { sed 's/^/    /' "$1" | tail -n "${2:-15}"; }
log_of() { echo "$logs/${1//[^a-z0-9]/-}.log"; }
# Runs a command, its output in the log of its name; the exit code and the seconds that it took are kept beside it.
keep() { # NAME COMMAND...
	local log began=$SECONDS
	log=$(log_of "$1")
	shift
	"$@" > "$log" 2>&1
	echo $? > "$log.code"
	echo $((SECONDS - began)) > "$log.seconds"
}
# Reports a command that was run by keep(). Its last line tells the tests: "N passed, N failed", or "N captures"; else it is one.
# Exit 77 is skipped.
kept() { # NAME
	local log code line
	log=$(log_of "$1")
	code=$(cat "$log.code")
	line=$(tail -1 "$log")
	if [ "$code" = 77 ]; then
		part "$1" 0 0 1 "${line:0:80}"
	elif [[ $line =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
		local bad=${BASH_REMATCH[2]}
		[ "$code" = 0 ] || [ "$bad" != 0 ] || bad=1
		part "$1" "${BASH_REMATCH[1]}" "$bad" 0
		[ "$bad" = 0 ] || show "$log"
	elif [ "$code" != 0 ]; then
		part "$1" 0 1 0
		show "$log"
	elif [[ $line =~ ^([0-9]+)\ captures$ ]]; then
		part "$1" "${BASH_REMATCH[1]}" 0 0
	else
		part "$1" 1 0 0
	fi
}
# Waits until there is room for one more process in the background.
room() { while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done; }
# one NAME COMMAND...: a part that has the machine for itself.
one() {
	together
	keep "$@"
	kept "$1"
}
# beside NAME COMMAND...: a part that runs beside the ones like it, so many at a time. Reported in their order, by the next one() at the latest.
begun=()
beside() {
	room
	keep "$@" &
	begun+=("$1")
}
together() {
	local name
	wait
	for name in "${begun[@]}"; do kept "$name"; done
	begun=()
}
# each NAME COMMAND...: a part for each format; %f in the command and the name is the format.
each() {
	local f
	for f in $(formats); do beside "${@//%f/$f}"; done
}

# ---- the parts ----

test_style() { [ "$TEST_STYLE" = 0 ] && { part style 0 0 1 "TEST_STYLE=0"; return; }; one style timeout 300 scripts/format.sh --check; }

test_build() {
	one "build: gcc" make -s -j"$jobs" BUILD="$BUILD" all unit-tests "$BUILD/replay" "$BUILD/outcome"
	small || one "build: clang" make -s -j"$jobs" BUILD=build/clang CC=clang-14 OPT=-O0 all # for its warnings
	one "build: sanitizers" make -s -j"$jobs" asan
}

# Unit tests print what cmocka prints; a test may be several groups. Some at a time.
unit_tests() { # FOLDER TEST...
	local folder=$1 good=0 bad=0 test count work
	work=$(mktemp -d)
	shift
	for test in "$@"; do
		room
		{ timeout 600 "$folder/tests/unit/$test" > "$work/$test" 2>&1 || echo "$?" > "$work/$test.code"; } &
	done
	wait
	for test in "$@"; do
		count=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$work/$test" | paste -sd+)
		good=$((good + ${count:-0}))
		count=$(grep -c '^\[  FAILED  \] [^0-9]' "$work/$test")
		[ -e "$work/$test.code" ] && [ "$count" = 0 ] && count=1
		[ "$count" = 0 ] || { bad=$((bad + count)); echo "$test:"; grep -v ' OK \]\| RUN ' "$work/$test"; }
	done
	rm -rf "$work"
	echo "$good passed, $bad failed"
	[ $bad = 0 ]
}

# Of one format: its own, and those that go through the formats.
test_unit() {
	local tests
	mapfile -t tests < <(cd tests/unit && printf '%s\n' test_*.c | sed 's/\.c$//')
	if [ -n "$format" ]; then
		mapfile -t tests < <(cd tests/unit && { ls test_"$format"*.c 2> /dev/null; grep -l format_wanted test_*.c; } | sed 's/\.c$//' | sort -u)
		TEST_FORMAT=$format one unit unit_tests "$BUILD" "${tests[@]}"
		return
	fi
	one unit unit_tests "$BUILD" "${tests[@]}"
	built && return
	# The comparison with the slow paths takes a minute with sanitizers.
	! small || mapfile -t tests < <(printf '%s\n' "${tests[@]}" | grep -vx test_fast)
	one unit/asan unit_tests build/asan "${tests[@]}"
}

test_outcomes() { beside outcomes timeout "$(at 300 1800)" python3 tests/tools/outcomes.py --tool "$BUILD/outcome" ${format:+--format "$format"} $([ $tier = all ] && echo --deep); }

test_corpus() {
	beside corpus timeout 600 python3 tests/tools/corpus.py --tool "$BUILD/tracemend" ${format:+--format "$format"}
	[ -n "$format" ] || beside "corpus: regenerated" timeout 600 scripts/corpus.sh --check
}

# Every promise, for each file of the corpus: fuzz/oracle.h. With sanitizers, where they are built.
test_replay() {
	built && { each "replay: %f" timeout 300 "$BUILD/replay" -q -k 2 -f %f corpus/%f; return; }
	each "replay: %f" timeout 900 build/asan/replay -q -k "$(at 2 6)" -f %f corpus/%f
	each "prefixes: %f" prefixes %f
	# Of every allocation: what is found about the container is in no other capture.
	beside "replay: line ends" timeout 120 build/asan/replay -q -k 1 -f fxt corpus/fxt/regress/copied-as-text.fxt
	beside "replay: containers" bash -c "timeout 120 build/asan/replay -C \$(find corpus -name '*.gz' -o -name '*.zst' -o -name '*.tar' | head -$(at 12 40))"
}
prefixes() { # FORMAT: of its smallest captures
	# shellcheck disable=SC2012,SC2046
	timeout 300 build/asan/replay -q -k 0 -c "$(at 8 24)" -f "$1" $(ls -S -r corpus/"$1"/valid/* | head -"$(at 3 6)")
}

# The same for captures that are generated: valid ones, one a rule, and damaged ones.
test_generated() { each "generated: %f" generated %f; }
generated() { # FORMAT
	local program=build/asan/replay total=0 arguments said
	! built || program=$BUILD/replay
	for arguments in "-e repair -g $(at 12 60)" "-e check -g 1 -r all" "-e repair -d $(at 1 4)"; do
		# shellcheck disable=SC2086
		said=$(timeout 900 "$program" -f "$1" $arguments -s 1000 2>&1) || { echo "$said"; return 1; }
		total=$((total + ${said%% captures}))
	done
	echo "$total captures"
}

# Formats that have a writer of their own: tests/formats/FORMAT/FORMAT_write.py.
test_written() { beside written timeout 1800 python3 tests/tools/written.py --tool "$BUILD/tracemend" --count "$(at 40 1300)" ${format:+"$format"}; }

test_crosscheck() {
	beside "independent parsers" timeout 300 python3 tests/tools/crosscheck.py --tool "$BUILD/tracemend" ${format:+--format "$format"}
	[ "${format:-tracedat}" != tracedat ] || beside "bytes of tables: tracedat" timeout 300 python3 tests/formats/tracedat/every_byte.py \
		--tool "$BUILD/tracemend" --every "$(at 19 7)" corpus/tracedat/valid/valid-29.dat corpus/tracedat/valid/valid-56.dat
	[ "${format:-tracedat}" != tracedat ] || beside "single hits: tracedat" timeout 300 python3 tests/formats/tracedat/hits.py \
		--tool "$BUILD/tracemend" --seeds "$(at 4 8)"
	[ "${format:-ktrace}" != ktrace ] || beside "ktrace kinds" timeout 300 python3 tests/formats/ktrace/ktrace_kinds.py --tool "$BUILD/tracemend"
	[ "${format:-lttng}" != lttng ] || beside "lttng facilities" timeout 300 python3 tests/formats/lttng/facilities.py --tool "$BUILD/tracemend"
	[ "${format:-lttng}" != lttng ] || beside "characters of descriptions: lttng" timeout 300 python3 tests/formats/lttng/holes.py \
		--tool "$BUILD/tracemend" --texts --places "$(at 30 200)" corpus/lttng/valid/valid-49.tar
	[ "${format:-lttng}" != lttng ] || beside "single hits: lttng" timeout 600 python3 tests/formats/lttng/hits.py \
		--tool "$BUILD/tracemend" --seeds "$(at 1 4)"
}

test_manifest() { beside "manifest verifier" python3 tests/lib/verify_manifest_test.py; }

# The meter itself, and what it measures: tests/lib/truth_aims.py has the numbers.
test_truth() {
	beside "truth meter" timeout 300 python3 tests/lib/truth_test.py
	TRACEMEND=$BUILD/tracemend one "truth: small" timeout "$(at 120 600)" scripts/truth.sh --judge small --jobs "$jobs"
	small || TRACEMEND=$BUILD/tracemend one truth timeout 3000 scripts/truth.sh --judge all --jobs "$jobs"
}

test_rules() {
	beside rules timeout 600 scripts/rules.sh --table
	beside docs timeout 300 python3 tests/tools/docs.py --tool "$BUILD/tracemend"
}

# Floors, circles, headers and names, as src/README.md says; bytes of windows that may have moved.
test_house() {
	beside house timeout 300 python3 tests/tools/house.py --build "$BUILD"
	beside windows timeout 300 python3 tests/tools/windows.py
}

# Each place that reports a rule, silenced.
test_places() {
	one "build: places" make -s -j"$jobs" sites
	one places timeout 1800 python3 tests/tools/knockout.py --jobs "$jobs"
}

# The files at the same time; what takes a processor for seconds is tagged slow.
test_cli() {
	local log good bad skip
	log=$(log_of cli)
	export RAN
	RAN=$(realpath -m "$logs/ran-by-cli")
	rm -f "$RAN"
	together
	keep cli cli_files
	good=$(grep -c '^ok ' "$log") bad=$(grep -c '^not ok ' "$log") skip=$(grep -c '^ok .* # skip' "$log")
	[ "$good" -gt 0 ] || bad=1
	part cli $((good - skip)) "$bad" "$skip"
	[ "$bad" = 0 ] || grep -A6 '^not ok ' "$log" | head -30 | sed 's/^/    /'
	one "cli: options, exit codes" python3 tests/tools/ran.py --tool "$BUILD/tracemend" "$RAN"
}
# Those that take the longest come first.
cli_files() {
	local work
	work=$(mktemp -d)
	{ printf 'tests/cli/%s.bats\n' builds packages install repair report try search merge safety reduce; ls tests/cli/*.bats; } | awk '!seen[$0]++' |
		xargs -P "$jobs" -n 1 sh -c 'timeout 900 bats --tap "$@" > "$0/${1##*/}" 2>&1' "$work" $(at "--filter-tags !slow" "")
	cat "$work"/*
	rm -rf "$work"
}

# Small: fewer captures, and not what has to be fetched first. What takes longest is begun first.
test_readers() {
	small || beside "reader: chromium" timeout 1800 /usr/bin/python3 tests/readers/page_browser.py --tool "$BUILD/tracemend" --findings 100
	beside "reader: uftrace" timeout 600 tests/readers/uftrace_reader.sh "$(at 15 60)"
	beside "reader: uftrace, arguments" timeout 300 python3 tests/formats/uftrace/specifications.py --tool "$BUILD/tracemend"
	beside "reader: trace-cmd" timeout 900 tests/readers/tracecmd_reader.sh $(at "30 0" "150 6")
	if ! small || [ -s build/perfetto/trace_processor.wasm ]; then
		beside "reader: Perfetto" timeout 900 tests/readers/perfetto_reader.sh $(at "10 1" "60 4")
	else
		part "reader: Perfetto" 0 0 1 "not fetched: scripts/perfetto-setup.sh"
	fi
	beside "reader: planted bugs" timeout 900 python3 tests/readers/planted/planted.py --tool "$BUILD/tracemend" $(at python "python ubsan node rust go")
	small || beside "reader: Sarif.Multitool" timeout 600 tests/readers/sarif_multitool.sh
	small || beside "reader: chromium, large" timeout 900 /usr/bin/python3 tests/readers/page_browser.py --tool "$BUILD/tracemend" --formats fxt \
		--findings 100000 --large 100000000
	small || beside "reader: known crashes" timeout 600 tests/readers/known_reader.sh
}

# A few rules of each format; scripts/reduce.sh takes them all, at 1 MB.
test_reduce() { beside reduce timeout 900 python3 tests/tools/reduce.py --size "$(at 32K 128K)" --every "$(at 61 41)" --quiet; }

# The mutators under both engines, so many runs.
test_mutators() { one mutators timeout 900 tests/tools/mutators.sh; one "fuzzing kit" timeout 900 tests/tools/kit.sh; }

test_samples() {
	[ -d "${SAMPLES:-/nowhere}" ] || { part samples 0 0 1 "SAMPLES is not set"; return; }
	beside samples timeout 1800 tests/tools/samples.sh
}

test_salvage() {
	beside salvage timeout 600 python3 tests/tools/salvage.py --seeds "$(at 1 3)"
	beside "what is said of the loss" timeout 600 python3 tests/tools/claims.py --count "$(at 2 10)"
	beside "dump of the repaired" timeout 900 python3 tests/tools/dumped.py --tool "$BUILD/tracemend" --hits "$(at 1 4)"
}

# Formats whose independent parser knows where their size fields are.
test_damage() {
	local f
	for f in $(formats); do
		grep -qs '^def sizes' "tests/formats/$f/${f}_parse.py" || continue
		beside "damage: $f" timeout 600 python3 tests/tools/damage.py "$f" --generated "$(at 2 12)" --count 2
	done
}

test_fuzz() {
	local f
	[ "$TEST_FUZZ" = 0 ] && { part fuzz 0 0 1 "TEST_FUZZ=0"; return; }
	one "build: fuzz targets" make -s -j"$jobs" fuzz
	for f in $(formats) container; do
		beside "fuzz: $f, libFuzzer" scripts/fuzz.sh "$f" "$TEST_FUZZ" --fresh --runs 150
	done
	for f in $(formats) container; do
		beside "fuzz: $f, AFL++" scripts/fuzz.sh "$f" $((TEST_FUZZ * 2 / 3 + 1)) --engine afl --target repair --fresh --runs 100
	done
	one "fuzz: minimise" scripts/fuzz.sh container 120 --minimise
}

# One configuration of four; scripts/oss-fuzz-local.sh takes them all.
test_oss-fuzz() {
	[ "$TEST_FUZZ" = 0 ] || [ "$TEST_OSS_FUZZ" = 0 ] && { part oss-fuzz 0 0 1 "TEST_OSS_FUZZ=0"; return; }
	one "oss-fuzz: address" timeout 1800 scripts/oss-fuzz-local.sh --seeds 5 address
	one "fuzz: two instances" scripts/fuzz.sh fxt 4 --engine both --target check --jobs 2 --fresh --runs 60
}

test_lint() { [ "$TEST_LINT" = 0 ] && { part lint 0 0 1 "TEST_LINT=0"; return; }; one lint timeout 900 scripts/lint.sh; }

for p in $parts; do
	declare -F "test_$p" > /dev/null || { echo "run.sh: there is no part $p" >&2; exit 2; }
done
built || { scripts/install.sh --test && { small || { scripts/install.sh --packaging && scripts/install.sh --browser; }; }; } || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
mkdir -p "$logs"
case " $parts " in *" build "*) ;; *) built || test_build ;; esac
for p in $parts; do
	"test_$p"
done
together
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
