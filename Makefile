# tracemend: make            builds build/tracemend and libtracemend
#            make demo       the main job on a damaged capture
#            make test       everything that CI runs

ifeq ($(origin CC),default)
CC = gcc
endif
AR ?= ar
BUILD ?= build
OPT ?= -O2 -g
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes \
       -Wold-style-definition -Wcast-qual -Wcast-align -Wpointer-arith -Wundef -Wvla -Wformat=2 -Wwrite-strings \
       -Wdouble-promotion -Wnull-dereference -Wswitch-enum -Werror
STD = -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
CFLAGS_ALL = $(STD) $(OPT) $(WARN) -fPIC -fvisibility=hidden -fno-common -pthread $(SANITIZE) $(CFLAGS)
LDFLAGS_ALL = -pthread $(SANITIZE) $(LDFLAGS)
LIBS_CORE = -larchive -lnettle -lz -lzstd
LIBS_CLI = -ljansson

LIB_SRC := $(sort $(wildcard src/*.c src/core/*.c src/formats/*.c src/formats/*/*.c))
CLI_SRC := $(sort $(wildcard src/report/*.c src/cli/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)

all: $(if $(CLI_SRC),$(BUILD)/tracemend) $(BUILD)/libtracemend.a $(BUILD)/libtracemend.so

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	@$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# One relocatable object whose internal names are local, so that a program that links the archive sees the API only.
$(BUILD)/libtracemend.a: $(LIB_OBJ)
	@echo '  AR      $@'
	@$(LD) -r $(LIB_OBJ) -o $(BUILD)/libtracemend.o
	@objcopy --localize-hidden $(BUILD)/libtracemend.o
	@rm -f $@
	@$(AR) rcs $@ $(BUILD)/libtracemend.o

$(BUILD)/libtracemend.so: $(LIB_OBJ)
	@echo '  LD      $@'
	@$(CC) -shared -Wl,-soname,libtracemend.so.0 -Wl,--no-undefined $(LIB_OBJ) $(LDFLAGS_ALL) $(LIBS_CORE) -o $@

$(BUILD)/tracemend: $(CLI_OBJ) $(BUILD)/libtracemend.a
	@echo '  LD      $@'
	@$(CC) $(CLI_OBJ) $(BUILD)/libtracemend.a $(LDFLAGS_ALL) $(LIBS_CLI) $(LIBS_CORE) -o $@

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

.PHONY: all clean
