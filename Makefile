# tracemend: make            builds build/tracemend and libtracemend
#            make demo       the main job on a damaged capture
#            make test       all kinds of proof, small; test-all: what CI runs; test-FORMAT: one format, in seconds
#            make docs       pages about each rule, format and command, in build/docs
#            make install    DESTDIR, PREFIX (/usr/local), bindir, libdir, includedir, mandir, ... are honoured; uninstall
#            make static     build/static/tracemend, which needs no library
# CC, CPPFLAGS, CFLAGS, LDFLAGS and OPT are yours. WERROR=1: warnings are errors. HARDEN=: without the hardening flags.

ifeq ($(origin CC),default)
CC := $(if $(shell command -v gcc),gcc,cc)
endif
AR ?= ar
BUILD ?= build
OPT ?= -O2 -g
SYSTEM := $(shell uname -s)
VERSION := $(shell sed -n 's/^.define TRACEMEND_VERSION "\(.*\)"/\1/p' src/tracemend.h)
SONAME_VERSION = 0
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes \
       -Wold-style-definition -Wcast-qual -Wcast-align -Wpointer-arith -Wundef -Wvla -Wformat=2 -Wwrite-strings \
       -Wdouble-promotion -Wnull-dereference -Wswitch-enum $(if $(filter-out 0,$(WERROR)),-Werror)
STD = -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Isrc

comma := ,
# The options of $(1) that the compiler takes, as far as compiling (-S) goes; of $(1), as far as linking goes.
takes = $(shell for o in $(1); do $(CC) -Werror $$o -S -x c /dev/null -o /dev/null 2> /dev/null && echo $$o; done)
links = $(shell for o in $(1); do echo 'int main(void) { return 0; }' | $(CC) -Werror $$o -x c - -o $${TMPDIR:-/tmp}/tracemend-probe.$$$$ \
	2> /dev/null && echo $$o; rm -f $${TMPDIR:-/tmp}/tracemend-probe.$$$$; done)

# Sanitizers have checks of their own, which these would hide.
ifeq (,$(findstring -fsanitize,$(SANITIZE) $(CFLAGS)))
# FORTIFY needs an optimising compiler.
HARDEN := $(if $(filter -O1 -O2 -O3 -Os -O,$(OPT) $(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) $(call takes,-fstack-protector-strong -fstack-clash-protection -fcf-protection)
HARDEN_LD := $(call links,$(subst :,$(comma),-Wl:-z:relro -Wl:-z:now))
HARDEN_PIE := $(call links,-pie)
endif
# What opens files or runs programs when it ends cannot be in the sandbox.
ifneq (,$(findstring -fsanitize,$(SANITIZE) $(CFLAGS))$(findstring -fprofile,$(SANITIZE) $(CFLAGS))$(findstring --coverage,$(SANITIZE) $(CFLAGS))$(findstring TM_SITES,$(CFLAGS)))
SANDBOX := -DTM_NO_SANDBOX
endif
# Used where it is installed, by the program only: SECCOMP= builds without.
SECCOMP ?= $(shell echo 'void *seccomp_init(unsigned); int main(void) { return !seccomp_init(0); }' | \
	$(CC) $(filter -m%,$(CFLAGS)) -x c - -lseccomp -o $${TMPDIR:-/tmp}/tracemend-probe.$$$$ 2> /dev/null && echo -lseccomp; rm -f $${TMPDIR:-/tmp}/tracemend-probe.$$$$)
SECCOMP := $(SECCOMP)
SANDBOX += $(if $(SECCOMP),-DTM_SECCOMP)
# The builder's path stays out of the binaries.
MAP := $(call takes,-ffile-prefix-map=$(CURDIR)=.)
LTO := $(findstring -flto,$(OPT) $(CFLAGS) $(LDFLAGS))

CFLAGS_ALL = $(STD) $(OPT) $(WARN) $(HARDEN) $(SANDBOX) $(MAP) -fPIC -fvisibility=hidden -fno-common -pthread $(SANITIZE) $(CPPFLAGS) $(CFLAGS)
LDFLAGS_ALL = -pthread $(SANITIZE) $(HARDEN_LD) $(if $(LTO),$(OPT) $(CFLAGS)) $(LDFLAGS)
# The libraries, and their names in pkg-config where they have one: scripts/packaging/libtracemend.pc is made of them.
LIBS_CORE = -larchive -lnettle -lz -ldeflate -lzstd -llzma -lbz2
LIBS_CLI = -ljansson
LIBS = $(LIBS_CORE) $(LIBS_CLI)
PC_archive = libarchive
PC_nettle = nettle
PC_z = zlib
PC_zstd = libzstd
PC_jansson = jansson
PC_lzma = liblzma
PC_deflate = libdeflate

LIB_SRC := $(sort $(shell find src/core src/formats src/engine src/report -name '*.c'))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/src/report/page.o
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
# Without printers, which need a library more.
ENGINE_OBJ := $(filter-out $(BUILD)/src/report/%,$(LIB_OBJ))

ifeq ($(SYSTEM),Darwin)
SHARED = libtracemend.$(SONAME_VERSION).dylib
SHARED_LINK = libtracemend.dylib
SHARED_FLAGS = -dynamiclib -install_name $(libdir)/$(SHARED) -current_version $(VERSION) -compatibility_version $(SONAME_VERSION)
else
SHARED = libtracemend.so.$(VERSION)
SHARED_NAME = libtracemend.so.$(SONAME_VERSION)
SHARED_LINK = libtracemend.so
SHARED_FLAGS = -shared -Wl,-soname,$(SHARED_NAME) -Wl,--version-script=scripts/packaging/libtracemend.map \
	$(if $(SANITIZE),,-Wl,--no-undefined)
endif

all: $(BUILD)/tracemend $(BUILD)/libtracemend.a $(BUILD)/$(SHARED_LINK)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	@$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# The script and the style of the HTML report, as lists of lines.
$(BUILD)/src/report/page.c: src/report/page.js src/report/page.css Makefile
	@mkdir -p $(@D)
	@{ echo '#include "report/report_html.h"'; for part in script:page.js style:page.css; do \
		echo "const char *const html_$${part%%:*}[] = {"; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n",/' src/report/$${part##*:}; \
		echo '0 };'; done; } > $@.new && mv $@.new $@

$(BUILD)/src/report/page.o: $(BUILD)/src/report/page.c
	@echo '  CC      $<'
	@$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# One relocatable object whose internal names are local, so that a program that links the archive sees the API only. Where there is
# no objcopy (or with clang's LTO, whose objects are not machine code yet), the archive has all objects, and their hidden names.
# macOS: ld -r makes hidden names local.
RELOCATABLE = $(CC) -r -nostdlib $(filter -m%,$(CFLAGS)) $(if $(LTO),$(OPT) $(CFLAGS) -flinker-output=nolto-rel)
GCC := $(if $(shell $(CC) --version | grep -i 'free software foundation'),yes)
ifeq ($(SYSTEM),Darwin)
LOCALIZE = :
else
LOCALIZE := $(if $(shell command -v objcopy),objcopy --localize-hidden)
endif
$(BUILD)/libtracemend.a: $(LIB_OBJ)
	@echo '  AR      $@'
	@rm -f $@
ifneq (,$(and $(LOCALIZE),$(if $(LTO),$(GCC),yes)))
	@$(RELOCATABLE) $(LIB_OBJ) -o $(BUILD)/libtracemend.o
	@$(LOCALIZE) $(BUILD)/libtracemend.o
	@$(AR) rcs $@ $(BUILD)/libtracemend.o
else
	@$(or $(if $(LTO),$(shell $(CC) -print-prog-name=llvm-ar)),$(AR)) rcs $@ $(LIB_OBJ)
endif

$(BUILD)/$(SHARED): $(LIB_OBJ) $(wildcard scripts/packaging/libtracemend.map)
	@echo '  LD      $@'
	@$(CC) $(SHARED_FLAGS) $(LIB_OBJ) $(LDFLAGS_ALL) $(LIBS) -o $@

$(BUILD)/$(SHARED_LINK): $(BUILD)/$(SHARED)
	@cd $(BUILD) && for name in $(SHARED_NAME) $(SHARED_LINK); do ln -sf $(SHARED) $$name; done

$(BUILD)/tracemend: $(CLI_OBJ) $(LIB_OBJ)
	@echo '  LD      $@'
	@$(CC) $(HARDEN_PIE) $(CLI_OBJ) $(LIB_OBJ) $(LDFLAGS_ALL) $(LIBS) $(SECCOMP) -o $@

include scripts/packaging/install.mk

# ---- proof: unit tests, the oracle's replay driver, fuzz targets ----

# The code under test is linked as objects, not as the archive, since tests reach behind the public API.
INJECT_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup,--wrap=strndup
FORMATS := $(shell sed -n '/^.define FORMATS(X)/,/[^\\]$$/p' src/formats/formats.c | grep -o 'X([a-z0-9_]*)' | sed 's/X(\(.*\))/\1/')
TEST_CFLAGS = $(filter-out -Wmissing-prototypes,$(CFLAGS_ALL))
MUTATE_OBJ := $(patsubst %.c,$(BUILD)/%.o,fuzz/mutate.c fuzz/mutate_part.c fuzz/mutate_field.c)
ORACLE_OBJ := $(patsubst %.c,$(BUILD)/%.o,fuzz/capture.c fuzz/inject.c $(sort $(wildcard fuzz/oracle*.c)))
LIB_OBJ_USED = $(LIB_OBJ)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
FUZZ_BIN := $(foreach f,$(FORMATS),$(BUILD)/fuzz_check_$(f) $(BUILD)/fuzz_repair_$(f) $(BUILD)/fuzz_gen_$(f)) $(BUILD)/fuzz_container

$(BUILD)/replay: fuzz/replay.c $(ORACLE_OBJ) $(LIB_OBJ)
	@echo '  LD      $@'
	@$(CC) $(TEST_CFLAGS) $^ $(LDFLAGS_ALL) $(INJECT_LDFLAGS) $(LIBS) -o $@

$(BUILD)/tests/unit/%: tests/unit/%.c $(ORACLE_OBJ) $(LIB_OBJ)
	@mkdir -p $(@D)
	@echo '  LD      $@'
	@$(CC) $(TEST_CFLAGS) $< $(ORACLE_OBJ) $(LIB_OBJ_USED) $(LDFLAGS_ALL) $(INJECT_LDFLAGS) -lcmocka $(LIBS) -o $@

# The oracle's own test brings a format table of its own.
$(BUILD)/tests/unit/test_oracle: LIB_OBJ_USED = $(filter-out $(BUILD)/src/formats/%,$(LIB_OBJ))

$(BUILD)/tests/unit/test_mutate: $(MUTATE_OBJ)
$(BUILD)/tests/unit/test_mutate: LIB_OBJ_USED = $(MUTATE_OBJ) $(LIB_OBJ)
$(BUILD)/tests/unit/test_fast: tests/tools/sweep.c $(MUTATE_OBJ)
$(BUILD)/tests/unit/test_fast: LIB_OBJ_USED = tests/tools/sweep.c $(MUTATE_OBJ) $(LIB_OBJ)

# Of the program, not of the library.
$(BUILD)/tests/unit/test_sandbox: $(BUILD)/src/cli/sandbox.o $(BUILD)/src/cli/sandbox_calls.o
$(BUILD)/tests/unit/test_sandbox: LIB_OBJ_USED = $(BUILD)/src/cli/sandbox.o $(BUILD)/src/cli/sandbox_calls.o $(LIB_OBJ) $(SECCOMP)

# Between a publication and the disk.
$(BUILD)/tests/unit/test_publish: INJECT_LDFLAGS += -Wl,--wrap=fsync,--wrap=rename,--wrap=linkat,--wrap=syncfs

unit-tests: $(UNIT_BIN)

# What check and repair make of many captures, in one process (tests/tools/outcomes.py).
$(BUILD)/outcome: tests/tools/outcome.c tests/tools/sweep.c $(BUILD)/fuzz/capture.o $(MUTATE_OBJ) $(LIB_OBJ)
	@echo '  LD      $@'
	@$(CC) $(TEST_CFLAGS) $^ $(LDFLAGS_ALL) $(LIBS) -o $@

# Linked by FUZZ_LD, since an engine may be written in C++.
FUZZ_LD ?= $(CC)
FUZZ_LINK = $(FUZZ_LD) $^ $(LDFLAGS_ALL) $(FUZZ_DRIVER) $(INJECT_LDFLAGS) $(LIBS) -o $@

# mutating_*: with our own mutator in it (libFuzzer). MUTATOR is of another build, without sanitizers and coverage.
MUTATOR ?= build/tracemend-mutator.o
define FUZZ_RULE
$(BUILD)/fuzz/$(1)_$(2).o: fuzz/fuzz_$(1).c
	@mkdir -p $$(@D)
	@$$(CC) $$(TEST_CFLAGS) -MMD -MP -DFUZZ_FORMAT='"$(2)"' -c $$< -o $$@
$(BUILD)/mutating_$(1)_$(2): $(BUILD)/fuzz/$(1)_$(2).o $(ORACLE_OBJ) $(LIB_OBJ) $(MUTATOR)
	@echo '  LD      $$@'
	@$$(FUZZ_LINK)
$(BUILD)/fuzz_$(1)_$(2): $(BUILD)/fuzz/$(1)_$(2).o $(ORACLE_OBJ) $(LIB_OBJ)
	@echo '  LD      $$@'
	@$$(FUZZ_LINK)
endef
$(foreach f,$(FORMATS),$(foreach k,check repair gen,$(eval $(call FUZZ_RULE,$(k),$(f)))))

$(BUILD)/fuzz_container: $(BUILD)/fuzz/fuzz_container.o $(ORACLE_OBJ) $(LIB_OBJ)
	@echo '  LD      $@'
	@$(FUZZ_LINK)

fuzz-targets: $(FUZZ_BIN)

# ---- for fuzzing other people's readers: fuzz/README.md ----

# Only the functions that the engines call are seen from outside: the object goes into harnesses that have names of their own,
# our own targets among them.
$(BUILD)/tracemend-mutator-afl.o: $(BUILD)/fuzz/mutator_afl.o $(BUILD)/fuzz/capture.o $(MUTATE_OBJ) $(ENGINE_OBJ)
	@echo '  LD      $@'
	@$(RELOCATABLE) $^ -o $@
	@objcopy -w -G 'afl_custom_*' $@

$(BUILD)/libtracemend-mutator.so: $(BUILD)/tracemend-mutator-afl.o
	@echo '  LD      $@'
	@$(CC) -shared -Wl,--no-undefined $^ $(LDFLAGS_ALL) $(LIBS_CORE) -o $@

$(BUILD)/tracemend-mutator.o: $(BUILD)/fuzz/mutator_libfuzzer.o $(BUILD)/fuzz/recent.o $(BUILD)/fuzz/capture.o $(MUTATE_OBJ) $(ENGINE_OBJ)
	@echo '  LD      $@'
	@$(RELOCATABLE) $^ -o $@
	@objcopy -w -G 'LLVMFuzzerCustom*' $@

mutators: $(BUILD)/libtracemend-mutator.so $(BUILD)/tracemend-mutator.o

$(BUILD)/tracemend-with-directory: $(BUILD)/fuzz/with_directory.o $(BUILD)/fuzz/capture.o $(ENGINE_OBJ)
	@echo '  LD      $@'
	@$(CC) $^ $(LDFLAGS_ALL) $(LIBS_CORE) -o $@

$(BUILD)/tracemend-dictionary: $(BUILD)/fuzz/dictionary.o $(BUILD)/fuzz/capture.o $(MUTATE_OBJ) $(ENGINE_OBJ)
	@echo '  LD      $@'
	@$(FUZZ_LD) $^ $(LDFLAGS_ALL) $(LIBS_CORE) -o $@

# Prints JSON, as the program does.
$(BUILD)/tracemend-labels: $(BUILD)/fuzz/labels.o $(BUILD)/fuzz/recent.o $(BUILD)/fuzz/capture.o $(MUTATE_OBJ) $(LIB_OBJ)
	@echo '  LD      $@'
	@$(CC) $^ $(LDFLAGS_ALL) $(LIBS) -o $@

dictionary: $(BUILD)/tracemend-dictionary

# Mutators, dictionaries, seeds, options and their page, to carry elsewhere: build/fuzz-kit.tar.gz.
fuzz-kit: all mutators $(BUILD)/tracemend-with-directory $(BUILD)/tracemend-labels $(BUILD)/tracemend-dictionary
	@scripts/fuzz-kit.sh $(BUILD)

# What searches compare there is scores, and bytes at all offsets, at which a fuzzer cannot aim; to trace it takes as long as all the
# rest, and of lttng four times as long.
$(patsubst %.c,$(BUILD)/%.o,$(wildcard src/formats/*/salvage/*.c) src/formats/ktrace/decode/ktrace_kind.c): CFLAGS += $(UNTRACED)

# Both engines from the same source, into build/fuzz/libfuzzer and build/fuzz/afl. Alignment and the overflow of pointers are left to
# the latter: their checks compare, and libFuzzer traces each comparison, of which they would be two in five.
FUZZING = -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
fuzz: fuzz-libfuzzer fuzz-afl
fuzz-libfuzzer:
	$(MAKE) BUILD=build/fuzz/libfuzzer CC=clang-14 OPT='-O2 -g1' FUZZ_DRIVER=-fsanitize=fuzzer \
		SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=alignment,pointer-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer' \
		UNTRACED=-fno-sanitize-coverage=trace-cmp CPPFLAGS='$(CPPFLAGS) $(FUZZING)' fuzz-targets
fuzz-afl:
	AFL_QUIET=1 AFL_USE_ASAN=1 AFL_USE_UBSAN=1 $(MAKE) BUILD=build/fuzz/afl CC=afl-clang-fast OPT='-O2 -g1' HARDEN= \
		FUZZ_DRIVER=-fsanitize=fuzzer CPPFLAGS='$(CPPFLAGS) $(FUZZING)' fuzz-targets

# Tests reach into sanitized builds of their own.
asan:
	$(MAKE) BUILD=build/asan OPT='-O1 -g1' \
		SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' all build/asan/replay unit-tests

# Places that report have numbers, and one of them can be silenced (src/core/place.h): for scripts/rules.sh.
sites:
	$(MAKE) BUILD=build/sites OPT=-O1 CFLAGS=-DTM_SITES all unit-tests build/sites/replay build/sites/outcome

# Small, within five minutes; what CI runs; one format, in seconds.
test:
	tests/run.sh
test-all:
	tests/run.sh --all
$(FORMATS:%=test-%): test-%: all unit-tests $(BUILD)/replay $(BUILD)/outcome
	@BUILD=$(BUILD) tests/run.sh --format $*

# Pages about rules, formats, reports and commands, in $(BUILD)/docs.
docs: $(BUILD)/tracemend
	@scripts/docs.py --tool $(BUILD)/tracemend -o $(BUILD)/docs

demo:
	scripts/demo.sh

corpus: all
	scripts/corpus.sh

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/src $(BUILD)/fuzz -type f -name '*.d' 2> /dev/null)

.PHONY: all clean docs dictionary unit-tests fuzz-targets fuzz fuzz-libfuzzer fuzz-afl asan sites test test-all $(FORMATS:%=test-%) demo corpus
