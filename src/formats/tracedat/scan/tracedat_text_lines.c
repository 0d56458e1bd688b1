/* Lines of latency output, which come in pieces. */
#include "core/text.h"
#include "formats/tracedat/scan/tracedat_page.h"

/* Whether the bytes of a line, or of a piece of one that does not end with it, are text: UTF-8 without control characters. */
static bool line_is_text(const uint8_t *text, size_t size, bool ends)
{
	for (size_t i = 0; i < size; i++)
		if ((text[i] < 0x20 && text[i] != '\t') || text[i] == 0x7f)
			return false;
	const size_t valid = utf8_valid_prefix(text, size);
	/* A character may be cut at the end of a piece. */
	return ends ? valid == size : valid + 4 > size;
}

/* Why a line is reported, and doubtful. */
#define LINE_NO_TEXT "a line of the latency output is not text"

/* A line with other bytes than text, which stays as it is. where, length: of it, or of its chunk. */
static void line_suspect(struct tracedat_walk *w, uint64_t where, size_t length)
{
	(void)tracedat_report(w, TRACEDAT_RULE_latency_line_bytes, where, length, LINE_NO_TEXT);
	if (w->s->plan)
		plan_doubt(w->s->plan, w->source, where, length, LINE_NO_TEXT);
}

void tracedat_text_count(struct tracedat_walk *w, struct tracedat_text_lines *l, const uint8_t *text, size_t size, uint64_t offset)
{
	for (size_t at = 0; at < size;) {
		const uint8_t *lf = memchr(text + at, '\n', size - at);
		/* Headings begin with #. */
		if (!l->begun)
			l->event = text[at] != '#' && text[at] != '\n';
		l->begun = !lf;
		size_t length = lf ? (size_t)(lf - text) - at : size - at;
		if (!l->chunks && !line_is_text(text + at, length, lf != NULL)) {
			line_suspect(w, offset + at, length + (lf != NULL));
			l->hit = true;
		}
		if (!lf)
			return;
		bool counts = l->event && !l->skip;
		w->pages.records += counts;
		if (w->s->sink && counts)
			tracedat_line_give(w, offset + (l->chunks ? 0 : at), text + at, length);
		w->pages.lines += counts;
		/* Lines have no slow path of their own. */
		w->pages.fast += counts && !w->s->slow;
		l->skip = false;
		at = (size_t)(lf - text) + 1;
		l->whole = l->total + at;
	}
}

void tracedat_text_break(struct tracedat_text_lines *l)
{
	l->begun = false;
	l->skip = l->torn = true;
	l->carry.size = 0;
}

void tracedat_text_whole_lines(struct tracedat_text_lines *l, const uint8_t *text, size_t size, struct bytes *out)
{
	const uint8_t *lf = l->skip ? memchr(text, '\n', size) : NULL;
	if (l->skip && !lf)
		return;
	if (lf) {
		size -= (size_t)(lf + 1 - text);
		text = lf + 1;
		l->skip = false;
	}
	lf = text_last_byte(text, '\n', size);
	size_t whole = lf ? (size_t)(lf + 1 - text) : 0;
	if (whole) {
		bytes_append(out, l->carry.data, l->carry.size);
		bytes_append(out, text, whole);
		l->carry.size = 0;
	}
	/* Bounds what a hostile file without line ends can use. */
	if (l->carry.size < TRACEDAT_CHUNK_MAX)
		bytes_append(&l->carry, text + whole, size - whole);
}
