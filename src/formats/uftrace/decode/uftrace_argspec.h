/* Argument specifications: what the values behind a record are. */
#ifndef UFTRACE_ARGSPEC_H
#define UFTRACE_ARGSPEC_H

#include "formats/uftrace/decode/uftrace_str.h"

#include <stdint.h>

#define UFTRACE_ITEMS_MAX 64u /* of one function */

struct uftrace_item {
	uint16_t size; /* bytes; 0 with string unset: an empty structure */
	bool string, retval;
	uint8_t floating; /* index space: 0 integer, 1 floating point */
	uint16_t index;
};

enum uftrace_spec_state { UFTRACE_SPEC_UNKNOWN, UFTRACE_SPEC_NONE, UFTRACE_SPEC_KNOWN };

struct uftrace_spec {
	enum uftrace_spec_state state;
	unsigned fixed; /* bytes of the values with their padding; 0: their strings say */
	size_t count;
	struct uftrace_item items[];
};

/* Whose registers items can name: as readers tell it from the processor's name, else that of most of them. */
enum uftrace_machine { UFTRACE_MACHINE_X86, UFTRACE_MACHINE_ARM, UFTRACE_MACHINE_AARCH64, UFTRACE_MACHINE_RISCV };

/* Which function the items are for, and who reads them. */
struct uftrace_argspec_of {
	unsigned long_size; /* 4 or 8 */
	enum uftrace_machine machine;
	bool octal;		   /* readers know the format 'o', of 0.16 */
	struct uftrace_str module; /* the file name of the program or library; text NULL: any */
	bool plt;		   /* a call through the PLT */
};

enum uftrace_argspec_state {
	UFTRACE_ARGSPEC_TAKEN,
	UFTRACE_ARGSPEC_ELSEWHERE, /* the items are for another module */
	UFTRACE_ARGSPEC_REFUSED	   /* readers leave the specification out */
};

/* Reads the items of a specification, separated by commas: adds those of arguments, or of the return value, to
 * items[UFTRACE_ITEMS_MAX], where a later one replaces an earlier one of its index. *any is set where there is an item of either.
 * Nothing is added where the specification is not taken. Items of the other kind do not matter, not even where they are refused. */
enum uftrace_argspec_state uftrace_argspec_items(struct uftrace_str t, const struct uftrace_argspec_of *of, bool retval,
						 struct uftrace_item *items, size_t *count, bool *any);
/* A specification that is known, of these items; free() it. NULL: out of memory. */
struct uftrace_spec *uftrace_argspec_known(const struct uftrace_item *items, size_t count);
/* Bytes that the values take with their padding, read from data; -1: they pass `size`, or a string cannot be so long.
 * *strings: what is said of those that were read. */
struct uftrace_strings {
	unsigned longest;
	bool nul; /* one has a NUL within: no writer goes on behind one */
};
int uftrace_argspec_size(const struct uftrace_spec *spec, const uint8_t *data, size_t size, bool big_endian,
			 struct uftrace_strings *strings);

#endif
