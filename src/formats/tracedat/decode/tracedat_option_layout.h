/* Options by their bytes alone: items of id, size and payload that end in item 0 (MAN6 "REST OF TRACE-CMD HEADER", MAN7 "OPTIONS").
 */
#ifndef TRACEDAT_OPTION_LAYOUT_H
#define TRACEDAT_OPTION_LAYOUT_H

#include "formats/tracedat/decode/tracedat_shape.h"

/* Bytes in front of a place in which options that lead there are looked for. */
#define TRACEDAT_OPTIONS_LEAD_MAX 65536u

/* Whether option items fill data[at, end) exactly and end in DONE. */
bool tracedat_options_fit(const struct tracedat_shape *shape, const uint8_t *data, size_t at, size_t end);
/* The first place in [from, stop) from which options lead to the end of options that is right in front of stop; no further back
 * than TRACEDAT_OPTIONS_LEAD_MAX. SIZE_MAX: there is none. */
size_t tracedat_options_lead(const struct tracedat_shape *shape, const uint8_t *data, size_t from, size_t stop);
/* The name between brackets of a trace_clock text; *length 0: none. */
const char *tracedat_clock_name(const char *text, size_t size, size_t *length);
bool tracedat_clock_known(const char *name, size_t length);

/* The parts of a BUFFER payload of v7. */
struct tracedat_buffer_layout {
	uint64_t offset;
	const char *name, *clock;
	size_t name_size, clock_size; /* with their NUL */
	uint32_t page_size, count;
	size_t entries, fitting; /* where they begin, how many fit */
	bool exact;
};

/* Cuts a BUFFER payload; text: a BUFFER_TEXT payload. False where not even the texts end. */
bool tracedat_buffer_layout(const uint8_t *p, size_t size, bool be, bool text, struct tracedat_buffer_layout *l);

#endif
