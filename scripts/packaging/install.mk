# Included by the Makefile: make install, uninstall, static, and the pages and completions that they install.
PREFIX ?= /usr/local
prefix ?= $(PREFIX)
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
datarootdir ?= $(prefix)/share
mandir ?= $(datarootdir)/man
docdir ?= $(datarootdir)/doc/tracemend
pkgconfigdir ?= $(libdir)/pkgconfig
bashcompdir ?= $(datarootdir)/bash-completion/completions
zshcompdir ?= $(datarootdir)/zsh/site-functions
fishcompdir ?= $(datarootdir)/fish/vendor_completions.d
INSTALL ?= install
# Runs while installing; where it is built for another machine: a tracemend of this version for this one.
TOOL ?= $(BUILD)/tracemend

COMMANDS := $(shell sed -n 's/^\t\t\.name = "\(.*\)",/\1/p' src/cli/main.c)
MAN1 := $(BUILD)/man/tracemend.1 $(COMMANDS:%=$(BUILD)/man/tracemend-%.1)
MAN3 := $(wildcard scripts/packaging/man/*.3)
MAN5 := $(wildcard scripts/packaging/man/*.5)
COMPLETIONS := $(BUILD)/completions/bash $(BUILD)/completions/zsh $(BUILD)/completions/fish

# All of them are made of the tables of the program.
GENERATE = @mkdir -p $(@D) && $(TOOL) --generate $(1) > $@.new && mv $@.new $@
$(BUILD)/man/tracemend.1: $(TOOL)
	$(call GENERATE,man)
$(COMMANDS:%=$(BUILD)/man/tracemend-%.1): $(BUILD)/man/tracemend-%.1: $(TOOL)
	$(call GENERATE,man-$*)
$(COMPLETIONS): $(BUILD)/completions/%: $(TOOL)
	$(call GENERATE,$*)

pages: $(MAN1) $(COMPLETIONS)

# A library with a name in pkg-config is required; others, and -pthread, are private flags.
PC_PRIVATE = $(foreach l,$(patsubst -l%,%,$(LIBS)),$(if $(PC_$(l)),,-l$(l)))
$(BUILD)/libtracemend.pc: FORCE
	@mkdir -p $(@D)
	@{ echo 'prefix=$(prefix)'; echo 'libdir=$(patsubst $(prefix)/%,$${prefix}/%,$(libdir))'; \
	echo 'includedir=$(patsubst $(prefix)/%,$${prefix}/%,$(includedir))'; echo; \
	echo 'Name: libtracemend'; echo 'Description: checks, repairs and generates binary trace captures'; echo 'Version: $(VERSION)'; \
	echo 'Cflags: -I$${includedir}'; echo 'Libs: -L$${libdir} -ltracemend'; \
	echo 'Requires.private: $(strip $(foreach l,$(patsubst -l%,%,$(LIBS)),$(PC_$(l))))'; \
	echo 'Libs.private: -pthread $(strip $(PC_PRIVATE))'; } > $@

INSTALLED = $(bindir)/tracemend $(includedir)/tracemend.h $(libdir)/libtracemend.a \
	$(sort $(libdir)/$(SHARED) $(SHARED_NAME:%=$(libdir)/%) $(libdir)/$(SHARED_LINK)) $(pkgconfigdir)/libtracemend.pc \
	$(patsubst %,$(mandir)/man1/%,$(notdir $(MAN1))) $(patsubst %,$(mandir)/man3/%,$(notdir $(MAN3))) \
	$(patsubst %,$(mandir)/man5/%,$(notdir $(MAN5))) \
	$(bashcompdir)/tracemend $(zshcompdir)/_tracemend $(fishcompdir)/tracemend.fish

install: all pages $(BUILD)/libtracemend.pc
	@for d in $(sort $(dir $(INSTALLED))); do $(INSTALL) -d "$(DESTDIR)$$d"; done
	@$(INSTALL) -m 755 $(BUILD)/tracemend "$(DESTDIR)$(bindir)/tracemend"
	@$(INSTALL) -m 644 src/tracemend.h "$(DESTDIR)$(includedir)/tracemend.h"
	@$(INSTALL) -m 644 $(BUILD)/libtracemend.a "$(DESTDIR)$(libdir)/libtracemend.a"
	@$(INSTALL) -m 755 $(BUILD)/$(SHARED) "$(DESTDIR)$(libdir)/$(SHARED)"
	@for name in $(SHARED_NAME) $(SHARED_LINK); do ln -sf $(SHARED) "$(DESTDIR)$(libdir)/$$name"; done
	@$(INSTALL) -m 644 $(BUILD)/libtracemend.pc "$(DESTDIR)$(pkgconfigdir)/libtracemend.pc"
	@$(INSTALL) -m 644 $(MAN1) "$(DESTDIR)$(mandir)/man1"
	@$(INSTALL) -m 644 $(MAN3) "$(DESTDIR)$(mandir)/man3"
	@$(INSTALL) -m 644 $(MAN5) "$(DESTDIR)$(mandir)/man5"
	@$(INSTALL) -m 644 $(BUILD)/completions/bash "$(DESTDIR)$(bashcompdir)/tracemend"
	@$(INSTALL) -m 644 $(BUILD)/completions/zsh "$(DESTDIR)$(zshcompdir)/_tracemend"
	@$(INSTALL) -m 644 $(BUILD)/completions/fish "$(DESTDIR)$(fishcompdir)/tracemend.fish"
	@echo 'installed in $(DESTDIR)$(prefix)'

# What is in folders of others stays; our own, which are none, need not be removed.
uninstall:
	@for f in $(INSTALLED); do rm -f "$(DESTDIR)$$f"; done

# A program that needs no library of the machine. libarchive would bring in libxml2 and what that needs, only for writing xar archives,
# which are not written here: this answers ARCHIVE_FATAL.
STATIC_LIBS = $(filter-out -lxml2,$(shell pkg-config --static --libs $(foreach l,$(patsubst -l%,%,$(LIBS)),$(PC_$(l)))) $(PC_PRIVATE))
static: $(BUILD)/static/tracemend
$(BUILD)/static/tracemend: $(CLI_OBJ) $(LIB_OBJ)
	@mkdir -p $(@D)
	@echo '  LD      $@'
	@echo 'int archive_write_set_format_xar(void *a); int archive_write_set_format_xar(void *a) { return a ? -30 : -30; }' | \
		$(CC) $(filter -m%,$(CFLAGS)) -x c -c - -o $(@D)/xar.o
	@$(CC) -static $(CLI_OBJ) $(LIB_OBJ) $(@D)/xar.o $(LDFLAGS_ALL) -Wl,--start-group $(STATIC_LIBS) $(SECCOMP) -Wl,--end-group -o $@

# The Debian packages, in build/debian: scripts/packaging/debian.sh.
debian:
	@scripts/packaging/debian.sh

FORCE:
.PHONY: install uninstall pages static debian FORCE
