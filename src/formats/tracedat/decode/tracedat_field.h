/* A field line of a format (MAN6 "EVENT FORMATS"): "field:TYPE NAME; offset:N; size:N; signed:N;". */
#ifndef TRACEDAT_FIELD_H
#define TRACEDAT_FIELD_H

#include "formats/tracedat/tracedat.h"

struct tracedat_field {
	uint32_t name, name_length, type, type_length; /* in the text */
	uint32_t line, line_end;
	uint32_t offset, size;
	uint32_t elements; /* of a fixed array; 0: not one, or unknown */
	bool array, open_array, dynamic, relative, text, pointer, common, bad;
	bool has_signed, is_signed;
};

/* Parses one field line, text[0, size) without its LF, whose offset in the format is line. False: not a field line. */
bool tracedat_field_line(const char *text, uint32_t line, uint32_t size, struct tracedat_field *f);

struct tracedat_type {
	const char *name;
	uint8_t size;	  /* 0: the kernel's long */
	int8_t is_signed; /* -1: depends on the machine */
};

/* The shape of a C type; NULL when it is not one that is the same everywhere. */
const struct tracedat_type *tracedat_type_find(const char *type, size_t length);

#endif
