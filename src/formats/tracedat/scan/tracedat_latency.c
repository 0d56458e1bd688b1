/* Latency output: the text of the kernel's trace file instead of pages. Each line of an event counts as a record. A line
 * that is cut, by the end of the file or by a lost chunk, is not counted and is left out. */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_page.h"

/* Reports that the text ends inside a line. */
static void text_end(struct tracedat_walk *w, struct tracedat_text_lines *l, uint64_t at, uint64_t length)
{
	if (!l->begun || l->torn || w->status != TM_OK)
		return;
	l->torn = true;
	if (!tracedat_cut_explains(w, w->dir.truncated))
		(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, at, length, "the last line of the latency output has no LF");
}

uint64_t tracedat_latency_text(struct tracedat_walk *w, uint64_t from, uint64_t to)
{
	struct tracedat_text_lines l = { 0 };
	for (uint64_t at = from; at < to && w->status == TM_OK;) {
		size_t got;
		const uint8_t *p = window_upto(&w->window, at, to - at < 65536 ? (size_t)(to - at) : 65536, &got);
		if (!p || !got)
			break;
		tracedat_text_count(w, &l, p, got, at);
		at += got;
		l.total += got;
	}
	/* Without its tag, text begins where nothing shows that it does. */
	const bool untagged = TRACEDAT_ANY(w, TRACEDAT_RULE_data_tag_invalid);
	if ((l.hit || untagged) && w->s->plan && w->status == TM_OK)
		tracedat_latency_doubt(w, from, from + l.whole);
	text_end(w, &l, from + l.whole, to - from - l.whole);
	return from + l.whole;
}

void tracedat_latency_section(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	const struct tracedat_section *section = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
	if (!section)
		return;
	uint64_t from = section->offset + TRACEDAT_SECTION_SIZE, to = from + section->size;
	if (!b->compressed) {
		b->text_stop = tracedat_latency_text(w, from, to);
		return;
	}
	/* Compressed text comes in chunks like pages (MAN7 "BUFFER_TEXT"): it is walked like the data of one CPU. */
	struct tracedat_cpu cpu = { .from = from, .length = section->size, .limit = to, .clipped = section->size_bad };
	struct tracedat_text_lines text = { .chunks = true, .torn = w->emitting && b->text_torn, .skip = false };
	struct tracedat_stream stream = { .buffer = b, .cpu = &cpu, .text = &text, .page_size = 1 };
	if (section->size >= 4)
		tracedat_chunks_walk(w, &stream);
	if (!w->emitting) {
		text_end(w, &text, from, section->size);
		b->text_torn = text.torn;
	}
	bytes_free(&text.carry);
}
