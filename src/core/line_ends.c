#include "core/line_ends.h"

#include <string.h>

#include "core/window.h"

/* Files that are looked at, and bytes of each at first. */
#define FILES_MOST 64u
#define SAMPLE_BYTES 65536u
#define STEP_BYTES 4096u
/* Of bytes 0x0a one of so many at most is without 0x0d: it was hit later. Of random ones few have it. */
#define BARE_SHARE 16u

struct line_ends {
	uint64_t all, converted;
	bool binary; /* a byte 0: it is no text */
};

/* Counts in [from, from + length) of the source, which are at p, with the byte before them, if there is one. */
static void count(struct line_ends *n, const uint8_t *p, size_t length, bool after_cr)
{
	n->binary = n->binary || memchr(p, 0, length);
	for (const uint8_t *at = p, *end = p + length; at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
		n->all++;
		n->converted += at > p ? at[-1] == '\r' : after_cr;
	}
}

static bool is_file(const struct source *s)
{
	return s->role == TM_ROLE_INPUT && s->kind == SOURCE_FILE;
}

/* In a file of the input; in another source nothing. */
static struct line_ends count_in(struct window *w, struct source *s)
{
	struct line_ends n = { 0 };
	bool after_cr = false;
	size_t got;

	if (!is_file(s))
		return n;
	window_reset(w, s);
	for (uint64_t at = 0; at < s->size; at += got) {
		const uint8_t *p = window_upto(w, at, STEP_BYTES, &got);
		if (!p || !got)
			break;
		count(&n, p, got, after_cr);
		after_cr = p[got - 1] == '\r';
	}
	return n;
}

static bool is_converted(const struct line_ends *n, unsigned fewest)
{
	return n->binary && n->all >= fewest && n->all - n->converted <= n->all / BARE_SHARE;
}

bool line_ends_suspected(struct bundle *b)
{
	uint8_t step[STEP_BYTES];
	unsigned files = 0;

	/* They are ordered by role. With extra pieces and donors it would have to be told what of all was converted. */
	if (b->count && b->sources[b->count - 1]->role != TM_ROLE_INPUT)
		return false;
	for (size_t i = 0; i < b->count && files < FILES_MOST; i++) {
		struct source *s = b->sources[i];
		struct line_ends n = { 0 };
		bool after_cr = false;
		if (!is_file(s))
			continue;
		files++;
		for (uint64_t at = 0; at < s->size && at < SAMPLE_BYTES; at += STEP_BYTES) {
			size_t length = s->size - at < STEP_BYTES ? (size_t)(s->size - at) : STEP_BYTES;
			if (source_read(s, at, step, length) != TM_OK)
				return false;
			count(&n, step, length, after_cr);
			after_cr = step[length - 1] == '\r';
			if (n.all >= LINE_ENDS_FEWEST && !n.converted)
				break;
		}
		if (is_converted(&n, LINE_ENDS_FEWEST))
			return true;
	}
	return false;
}

/* Copies the source without the converted bytes. Returns how many. */
static uint64_t undo(struct window *w, struct plan *p, unsigned output, struct source *s, unsigned rule)
{
	uint64_t from = 0, dropped = 0;
	size_t got;

	for (uint64_t at = 0; at + 1 < s->size && plan_status(p) == TM_OK;) {
		const uint8_t *bytes = window_upto(w, at, STEP_BYTES, &got);
		if (!bytes || got < 2)
			break;
		const uint8_t *cr = memchr(bytes, '\r', got - 1);
		if (!cr) {
			at += got - 1;
			continue;
		}
		at += (uint64_t)(cr - bytes);
		if (cr[1] == '\n') {
			plan_copy(p, output, s, from, at - from);
			plan_drop(p, s, at, 1, rule, "put in front of a line end");
			from = at + 1;
			dropped++;
		}
		at++;
	}
	plan_copy(p, output, s, from, s->size - from);
	return dropped;
}

uint64_t line_ends_undo(struct bundle *b, struct plan *p, unsigned rule)
{
	struct window w;
	uint64_t dropped = 0;
	/* Whether each file with enough of them is converted: then so is one with a single one. And whether there is one: then so
	 * is a text that has no other line ends. */
	bool all = true, some = false;

	window_open(&w, b->count ? b->sources[0] : NULL);
	for (size_t i = 0; i < b->count; i++) {
		const struct line_ends n = count_in(&w, b->sources[i]);
		const bool converted = is_converted(&n, LINE_ENDS_FEWEST);
		all = all && (!n.binary || n.all < LINE_ENDS_FEWEST || converted);
		some = some || converted;
	}
	for (size_t i = 0; i < b->count; i++) {
		struct source *s = b->sources[i];
		if (!is_file(s))
			continue;
		const unsigned output = plan_output(p, s->name);
		const struct line_ends n = count_in(&w, s);
		const bool beside = all && b->directory, text = beside && some && n.all && n.converted == n.all;
		if ((text || is_converted(&n, beside ? 1 : LINE_ENDS_FEWEST)) && n.converted <= LINE_ENDS_MOST - dropped)
			dropped += undo(&w, p, output, s, rule);
		else
			plan_copy(p, output, s, 0, s->size);
	}
	window_close(&w);
	return b->error.status == TM_OK && plan_status(p) == TM_OK ? dropped : 0;
}
