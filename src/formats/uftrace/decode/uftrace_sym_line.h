/* The lines of NAME.sym. */
#ifndef UFTRACE_SYM_LINE_H
#define UFTRACE_SYM_LINE_H

#include "formats/uftrace/decode/uftrace_str.h"

#include <stdint.h>

struct uftrace_sym_line {
	uint64_t address, size;
	bool sized; /* it has a size */
	char type;
	struct uftrace_str name;
	uint64_t offset; /* of the line, and its length with the LF: for the caller */
	size_t raw;
};

/* "address [size] type name", all but the name hexadecimal; a tab ends the name. */
bool uftrace_sym_line_read(const char *text, size_t length, struct uftrace_sym_line *out);

#endif
