/* Lists of event formats by their sizes alone (MAN6 "FTRACE EVENT FORMATS", "EVENT FORMATS"). */
#ifndef TRACEDAT_FORMAT_LIST_H
#define TRACEDAT_FORMAT_LIST_H

#include "formats/tracedat/tracedat.h"

/* Bytes of the name of a system that are looked at. */
#define TRACEDAT_SYSTEM_NAME_MAX 16384u
#define TRACEDAT_SYSTEMS_MAX 65536u

/* Where a list of formats that begins at `at` ends, going by sizes alone; SIZE_MAX where they make no sense. */
size_t tracedat_formats_hop(bool big_endian, const uint8_t *data, size_t at, size_t size, uint32_t count);
/* The same for a list of systems, which begins with their number. */
size_t tracedat_systems_hop(bool big_endian, const uint8_t *data, size_t at, size_t size);
/* Whether a format file begins there: a size, and a text that begins as one does. */
bool tracedat_format_begins(const uint8_t *data, size_t at, size_t end);

#endif
