/* Latency output: the text of the kernel's trace file instead of pages. */
#include "tracedat.h"

static void latency_events(struct tracedat *t, const uint8_t *text, size_t size)
{
	/* A line of an event begins with a task name; headings begin with #. Readers print the text as it is. */
	(void)t;
	(void)text;
	(void)size;
}

void tracedat_latency_text(struct tracedat *t, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to && t->status == TM_OK;) {
		size_t got;
		const uint8_t *p = window_upto(&t->window, at, to - at < 65536 ? (size_t)(to - at) : 65536, &got);
		if (!p || !got)
			return;
		latency_events(t, p, got);
		at += got;
	}
}

void tracedat_latency_section(struct tracedat *t, struct tracedat_buffer *b)
{
	(void)t;
	(void)b;
}
