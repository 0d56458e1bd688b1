/* The extent of lists of event formats, by their sizes (MAN6 "FTRACE EVENT FORMATS", "EVENT FORMATS"). */
#ifndef TRACEDAT_FORMAT_LIST_H
#define TRACEDAT_FORMAT_LIST_H

#include "formats/tracedat/tracedat.h"

/* Bytes in which the NUL of a system's name is searched. */
#define TRACEDAT_SYSTEM_NAME_MAX 16384u
#define TRACEDAT_SYSTEMS_MAX 65536u

/* The offset behind a list of `count` formats that begins at `at`, by the sizes alone; SIZE_MAX: the sizes do not fit. */
size_t tracedat_formats_end(bool big_endian, const uint8_t *data, size_t at, size_t size, uint32_t count);
/* The same for a list of systems, which begins with its count. */
size_t tracedat_systems_end(bool big_endian, const uint8_t *data, size_t at, size_t size);
/* Whether a format file begins there: a size, and a text that begins with "name:". */
bool tracedat_format_begins(const uint8_t *data, size_t at, size_t end);

#endif
