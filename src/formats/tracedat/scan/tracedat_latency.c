/* Latency output: the text of the kernel's trace file instead of pages. Each line of an event counts as a record. A line that is
 * cut, by the end of the file or by a chunk that is lost, counts for nothing and is left out. */
#include "formats/tracedat/scan/tracedat_page.h"

/* Says that the text ends in the middle of a line. */
static void text_end(struct tracedat_walk *w, struct tracedat_text *l, uint64_t at, uint64_t length)
{
	if (!l->begun || l->torn || w->status != TM_OK)
		return;
	l->torn = true;
	(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, at, length, "the last line of the latency output has no end");
}

uint64_t tracedat_latency_text(struct tracedat_walk *w, uint64_t from, uint64_t to)
{
	struct tracedat_text l = { 0 };
	for (uint64_t at = from; at < to && w->status == TM_OK;) {
		size_t got;
		const uint8_t *p = window_upto(&w->window, at, to - at < 65536 ? (size_t)(to - at) : 65536, &got);
		if (!p || !got)
			break;
		tracedat_text_count(w, &l, p, got);
		at += got;
		l.total += got;
	}
	text_end(w, &l, from + l.whole, to - from - l.whole);
	return from + l.whole;
}

void tracedat_latency_section(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	const struct tracedat_section *s = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
	if (!s)
		return;
	uint64_t from = s->offset + TRACEDAT_SECTION_SIZE, to = from + s->size;
	if (!b->compressed) {
		b->text_stop = tracedat_latency_text(w, from, to);
		return;
	}
	/* Compressed text comes in chunks as pages do (MAN7 "BUFFER_TEXT"): those of one CPU, so to speak. */
	struct tracedat_cpu cpu = { .from = from, .length = s->size, .limit = to, .clipped = s->size_bad };
	struct tracedat_text text = { .torn = w->emitting && b->text_torn, .skip = false };
	struct tracedat_stream stream = { .buffer = b, .cpu = &cpu, .text = &text, .page_size = 1 };
	if (s->size >= 4)
		tracedat_chunks(w, &stream);
	if (!w->emitting) {
		text_end(w, &text, from, s->size);
		b->text_torn = text.torn;
	}
	bytes_free(&text.carry);
}
