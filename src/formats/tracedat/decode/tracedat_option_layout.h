/* The layout of options: items of id, size and payload that end with item 0 (MAN6 "REST OF TRACE-CMD HEADER", MAN7
 * "OPTIONS"). */
#ifndef TRACEDAT_OPTION_LAYOUT_H
#define TRACEDAT_OPTION_LAYOUT_H

#include "formats/tracedat/decode/tracedat_shape.h"

/* Bytes in front of the end of the options that are searched for the first of them. */
#define TRACEDAT_OPTIONS_LEAD_MAX 65536u

/* Whether option items fill data[at, end) exactly and end in DONE. */
bool tracedat_options_fit(const struct tracedat_shape *shape, const uint8_t *data, size_t at, size_t end);
/* The first offset in [from, stop) from which option sizes lead, item by item, to the end of the options directly in front
 * of stop; at most TRACEDAT_OPTIONS_LEAD_MAX bytes back. SIZE_MAX: there is none. Dynamic programming backwards from stop,
 * one bit an offset. */
size_t tracedat_options_lead(const struct tracedat_shape *shape, const uint8_t *data, size_t from, size_t stop);
/* The size of an option of that id by its content, of which p has at most `room` bytes: a text ends with its NUL, numbers have a
 * size of their own. 0: the content does not show it. */
size_t tracedat_option_measure(const struct tracedat_shape *shape, unsigned id, const uint8_t *p, size_t room);
/* Whether an item, or the end of the options, may stand at data + at. */
bool tracedat_option_item_at(const struct tracedat_shape *shape, const uint8_t *data, size_t at, size_t end);
/* Whether a text begins as statistics do: "CPU: N" or "Buffer: NAME"; whether all its lines are such (Linux,
 * tracing_stats_read()). */
bool tracedat_cpustat_begins(const char *text, size_t size);
bool tracedat_cpustat_sound(const char *text, size_t size);
/* The name between brackets of a trace_clock text; *length 0: no name, or one that begins with a blank, a bracket or NUL. */
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
	bool clock_mended; /* a byte of the clock was hit, or bytes in front of the numbers are gone or were inserted: the clock is
			    * the one with which the numbers fill the payload */
};

/* Cuts a BUFFER payload; text: a BUFFER_TEXT payload. False where not even the texts end. */
bool tracedat_buffer_layout(const uint8_t *p, size_t size, bool be, bool text, struct tracedat_buffer_layout *l);
/* The size of a BUFFER payload at p by its numbers, also where these have moved; 0: they do not show it in `room` bytes. */
size_t tracedat_buffer_measure(const uint8_t *p, size_t room, bool be);

#endif
