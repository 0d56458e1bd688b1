#!/bin/bash
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite do, without a container, and tests the result by the rules of their
# check_build.
#
#   scripts/oss-fuzz-local.sh [--seeds N] [CONFIGURATION...]     address, undefined, coverage, afl; all of them by default
#
# fuzz/oss-fuzz/build.sh runs in a clean environment with the flags of the base image, on a copy of the tracked files. Then the
# output is moved elsewhere. Each target must have a valid name, be built for this machine, include its libraries and dictionary,
# start, be instrumented by its sanitizer and no other, and run on its seeds (N of them; 0, the default: all). The last line is
# "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
top=$PWD seeds=0 passed=0 failed=0
[ "${1:-}" = --seeds ] && { seeds=$2; shift 2; }
configurations=${*:-address undefined coverage afl}
scripts/install.sh --oss-fuzz || exit 1
: "${OSS_FUZZ_CC:=clang-14}" "${OSS_FUZZ_CXX:=clang++-14}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

good() { passed=$((passed + 1)); }
bad() { # TARGET WHAT [LOG]
	failed=$((failed + 1))
	echo "  FAIL $configuration $1: $2"
	[ $# -lt 3 ] || tail -5 "$3" | sed 's/^/      /'
}

# The flags of the base image for C, by configuration.
common="-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION"
kinds=array-bounds,bool,builtin,enum,float-divide-by-zero,function,integer-divide-by-zero,null,object-size,return
kinds=$kinds,returns-nonnull-attribute,shift,signed-integer-overflow,unreachable,vla-bound
settings() {
	cc=$OSS_FUZZ_CC cxx=$OSS_FUZZ_CXX sanitizer=$configuration engine=libfuzzer library=-fsanitize=fuzzer flags=
	case $configuration in
	address) flags="-fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link" ;;
	undefined) flags="-fsanitize=$kinds,unsigned-integer-overflow -fno-sanitize-recover=$kinds -fsanitize=fuzzer-no-link" ;;
	coverage) flags="-fprofile-instr-generate -fcoverage-mapping -pthread -Wl,--no-as-needed -Wl,-ldl -Wl,-lm -Wno-unused-command-line-argument" ;;
	afl) cc=afl-clang-fast cxx=afl-clang-fast++ sanitizer=address engine=afl library=$work/libFuzzingEngine.a
		flags="-fsanitize=address -fsanitize-address-use-after-scope"
		cp "$(find /usr/lib /usr/local/lib -name libAFLDriver.a | head -1)" "$library" ;;
	*) echo "oss-fuzz-local: unknown configuration $configuration" >&2; exit 2 ;;
	esac
}

build() {
	local src=$work/$configuration/src
	out=$work/$configuration/out
	mkdir -p "$src/tracemend" "$out" "$work/$configuration/work"
	if git rev-parse --git-dir > /dev/null 2>&1; then git ls-files -z; else find . -path ./build -prune -o ! -type d -print0; fi |
		xargs -0 cp -P --parents -t "$src/tracemend"
	cp fuzz/oss-fuzz/build.sh "$src/build.sh"
	env -i PATH="$PATH" HOME="$HOME" ${CCACHE_DIR+CCACHE_DIR="$CCACHE_DIR"} ${CCACHE_BASEDIR+CCACHE_BASEDIR="$work/$configuration"} \
		${CCACHE_NOHASHDIR+CCACHE_NOHASHDIR=1} AFL_QUIET=1 \
		SRC="$src" OUT="$out" WORK="$work/$configuration/work" CC="$cc" CXX="$cxx" CFLAGS="$common $flags" CXXFLAGS="$common $flags" \
		LIB_FUZZING_ENGINE="$library" SANITIZER="$sanitizer" FUZZING_ENGINE="$engine" FUZZING_LANGUAGE=c ARCHITECTURE=x86_64 \
		bash -eu "$src/build.sh" > "$work/$configuration.log" 2>&1 || { bad build.sh "exit $?" "$work/$configuration.log"; return 1; }
	# What was built must not look back.
	rm -rf "$src" "$work/$configuration/work"
	mv "$out" "$work/$configuration/elsewhere"
	out=$work/$configuration/elsewhere
}

calls() { objdump -d "$1" | grep -cE "call +[0-9a-f]+ <__$2"; }

check_sanitizer() { # TARGET
	local asan ubsan msan
	asan=$(calls "$out/$1" asan) ubsan=$(calls "$out/$1" ubsan) msan=$(calls "$out/$1" msan)
	[ "$msan" -le 3 ] || { bad "$1" "$msan calls of MSan"; return; }
	case $configuration in
	address|afl)
		[ "$asan" -ge 1000 ] || { bad "$1" "$asan calls of ASan: not instrumented"; return; }
		[ "$ubsan" -le 200 ] || { bad "$1" "$ubsan calls of UBSan in an ASan build"; return; } ;;
	undefined)
		[ "$ubsan" -ge 168 ] || { bad "$1" "$ubsan calls of UBSan: not instrumented"; return; }
		[ "$asan" = 0 ] || { bad "$1" "$asan calls of ASan in a UBSan build"; return; } ;;
	esac
	good
}

check_libraries() { # TARGET
	local strange
	ldd "$out/$1" > "$work/log" 2>&1 || { bad "$1" "ldd" "$work/log"; return; }
	strange=$(awk -v lib="$out/lib/" '/not found/ { print $1 } $2 == "=>" && index($3, lib) != 1 { print $3 }' "$work/log" |
		grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s)\.so')
	if [ -z "$strange" ]; then good; else bad "$1" "libraries outside of the base image: $(echo "$strange" | tr '\n' ' ')"; fi
}

check_seeds() { # TARGET: a zip of its own name; unpacks it, all or some
	local zip=$out/${1}_seed_corpus.zip
	mkdir -p "$work/seeds"
	rm -rf "$work/seeds/$1"
	unzip -q "$zip" -d "$work/seeds/$1" 2> "$work/log" || { bad "$1" "no seed corpus" "$work/log"; mkdir -p "$work/seeds/$1"; return; }
	[ "$seeds" = 0 ] || find "$work/seeds/$1" -type f | LC_ALL=C sort | tail -n +$((seeds + 1)) | xargs -r rm
	if [ -n "$(ls -A "$work/seeds/$1")" ]; then good; else bad "$1" "an empty seed corpus"; fi
}

check_dictionary() { # TARGET: there is one where the input is a capture, and an engine takes it
	case $1 in fuzz_check_*|fuzz_repair_*) ;; *) return ;; esac
	if [ "$(grep -c '^[a-z_0-9]*="' "$out/$1.dict" 2> /dev/null)" -ge 8 ]; then good; else bad "$1" "no dictionary"; fi
}

check_libfuzzer() { # TARGET
	local log=$work/log edges dictionary=()
	[ ! -e "$out/$1.dict" ] || dictionary=(-dict="$out/$1.dict")
	"$out/$1" -seed=1337 -runs=4 ${dictionary[@]+"${dictionary[@]}"} > "$log" 2>&1
	edges=$(sed -n 's/^INFO: Loaded [0-9]* modules* *(\([0-9]*\) inline.*/\1/p' "$log" | head -1)
	[ "${edges:-0}" -ge 100 ] || { bad "$1" "${edges:-no} edges: no coverage instrumentation" "$log"; return; }
	grep -q '^Done 4 runs' "$log" || { bad "$1" "does not start" "$log"; return; }
	good
	if "$out/$1" -rss_limit_mb=2560 -timeout=25 -runs=0 "$work/seeds/$1" > "$log" 2>&1; then good; else bad "$1" "crashes on its seeds" "$log"; fi
}

check_afl() { # TARGET
	local log=$work/log dictionary=()
	[ ! -e "$out/$1.dict" ] || dictionary=(-x "$out/$1.dict")
	mkdir -p "$work/one"
	rm -rf "$work/one/"* "$work/afl-out"
	find "$work/seeds/$1" -type f -size +0 -printf '%s %p\n' | sort -n -k1,1 -k2 | head -1 | cut -d' ' -f2- | xargs -I{} cp {} "$work/one/seed"
	AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1 AFL_FORKSRV_INIT_TMOUT=30000 \
		timeout -s INT 60 afl-fuzz -i "$work/one" -o "$work/afl-out" -E 5 -t 5000+ -m none ${dictionary[@]+"${dictionary[@]}"} -- "$out/$1" > "$log" 2>&1
	if grep -q 'All set and ready to roll' "$log" && ! grep -q 'target binary \(crashed\|terminated\)' "$log"; then good
	else bad "$1" "afl-fuzz does not take it" "$log"; fi
}

check_coverage() { # TARGET: a run on a seed leaves a profile that covers something
	local log=$work/log raw=$work/profraw
	rm -f "$raw"
	find "$work/seeds/$1" -type f | LC_ALL=C sort | head -3 > "$work/list"
	LLVM_PROFILE_FILE=$raw xargs -r "$out/$1" < "$work/list" > "$log" 2>&1 || { bad "$1" "crashes on a seed" "$log"; return; }
	if llvm-profdata-14 show "$raw" 2> /dev/null | grep -q '^Maximum function count: [1-9]'; then good; else bad "$1" "no profile" "$log"; fi
}

check() {
	local targets target zip
	targets=$(find "$out" -maxdepth 1 -type f -perm -u+x ! -name 'afl-*' -exec grep -la LLVMFuzzerTestOneInput {} + | xargs -rn1 basename | LC_ALL=C sort)
	[ -n "$targets" ] || { bad all "no fuzz targets"; return; }
	for zip in "$out"/*_seed_corpus.zip "$out"/*.options "$out"/*.dict; do
		[ -e "$zip" ] || continue
		target=$(basename "$zip" | sed 's/_seed_corpus\.zip$//; s/\.options$//; s/\.dict$//')
		if [ -x "$out/$target" ]; then good; else bad "$target" "$(basename "$zip") belongs to no target"; fi
	done
	for target in $targets; do
		[[ $target =~ ^[a-zA-Z0-9_-]+$ ]] && good || bad "$target" "a name that ClusterFuzz does not take"
		file -L "$out/$target" | grep -q 'x86-64' && good || bad "$target" "not for x86-64"
		check_libraries "$target"
		check_seeds "$target"
		check_dictionary "$target"
		case $configuration in
		coverage) check_coverage "$target" ;;
		afl) check_sanitizer "$target"; check_afl "$target" ;;
		*) check_sanitizer "$target"; check_libfuzzer "$target" ;;
		esac
	done
	echo "$configuration: $(echo "$targets" | wc -l) targets, $(find "$out" -name '*_seed_corpus.zip' | wc -l) seed corpora, $(find "$out/lib" -type f | wc -l) libraries"
}

export UBSAN_OPTIONS=silence_unsigned_overflow=1:print_stacktrace=1
for configuration in $configurations; do
	settings
	if build; then check; fi
	rm -rf "${work:?}/$configuration" "$work/seeds"
done
cd "$top" || exit 1
echo "$passed passed, $failed failed"
[ $failed = 0 ]
