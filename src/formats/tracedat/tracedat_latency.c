/* Latency output: the text of the kernel's trace file instead of pages. Each line of an event counts as a record. */
#include "tracedat.h"

#include <stdlib.h>

struct latency {
	struct tracedat *t;
	bool middle; /* of a line */
};

static void latency_count(struct latency *l, const uint8_t *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		const uint8_t *lf = memchr(text + at, '\n', size - at);
		/* Headings begin with #. */
		if (!l->middle && text[at] != '#' && text[at] != '\n') {
			l->t->records++;
			l->t->lines++;
		}
		l->middle = !lf;
		if (!lf)
			return;
		at = (size_t)(lf - text) + 1;
	}
}

void tracedat_latency_text(struct tracedat *t, uint64_t from, uint64_t to)
{
	struct latency l = { .t = t };
	for (uint64_t at = from; at < to && t->status == TM_OK;) {
		size_t got;
		const uint8_t *p = window_upto(&t->window, at, to - at < 65536 ? (size_t)(to - at) : 65536, &got);
		if (!p || !got)
			return;
		latency_count(&l, p, got);
		at += got;
	}
}

/* Compressed text comes in chunks as pages do (MAN7 "BUFFER_TEXT"). */
static void latency_chunks(struct tracedat *t, uint64_t from, uint64_t to)
{
	struct latency l = { .t = t };
	uint64_t at = from + 4;
	while (tracedat_chunk_begins(t, at, to) && t->status == TM_OK && !t->stopped) {
		const uint8_t *p = window_at(&t->window, at, 8);
		uint32_t csize = p ? load_u32(p, t->big_endian) : 0, usize = p ? load_u32(p + 4, t->big_endian) : 0;
		struct tracedat_decoded d;
		struct finding *fd;
		if (!csize || csize > to - at - 8 || csize > WINDOW_SPAN_MAX || usize > TRACEDAT_CHUNK_MAX) {
			fd = tracedat_report(t, TRACEDAT_RULE_v7_chunk_csize, at, 8);
			finding_say(fd, "sizes of %u and %u bytes", csize, usize);
			return;
		}
		uint8_t *text = malloc((size_t)usize + 1);
		p = window_at(&t->window, at + 8, csize);
		if (!text)
			tracedat_no_memory(t);
		if (text && p && tracedat_decode(t, t->codec, p, csize, text, usize, &d) && d.fits) {
			t->decoded += d.size;
			if (!tracedat_bomb(t, at, csize, 0))
				latency_count(&l, text, d.size);
		} else if (text && p && t->status == TM_OK) {
			fd = tracedat_report(t, TRACEDAT_RULE_v7_chunk_decode, at, 8 + (uint64_t)csize);
			finding_say(fd, "text of %u bytes cannot be decompressed", csize);
		}
		free(text);
		at += 8 + (uint64_t)csize;
	}
}

void tracedat_latency_section(struct tracedat *t, struct tracedat_buffer *b)
{
	const struct tracedat_section *s = b->section >= 0 ? &t->sections[b->section] : NULL;
	if (!s)
		return;
	if (b->compressed)
		latency_chunks(t, s->offset + 16, s->offset + 16 + s->size);
	else
		tracedat_latency_text(t, s->offset + 16, s->offset + 16 + s->size);
}
