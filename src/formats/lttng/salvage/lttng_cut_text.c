/* Declarations whose text damage has cut short: a zero byte came into a format, whose rest then stands behind its end. Such a
 * declaration is sound by itself, and all events of its type are misread by it. */
#include "core/text.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* So many bytes are searched for the next declaration. */
#define REST_MAX 512u
/* A text that is shorter may be left of a word. */
#define PIECE_MIN 2u

static bool is_declaration(const struct lttng_walk *w, uint64_t rel, uint64_t stamp)
{
	struct lttng_event e;
	const enum lttng_defect defect = lttng_event_decode(&w->in, rel, w->limit, stamp, &e);
	/* One of a wrong size is one as well. */
	return (defect == EVENT_OK || defect == EVENT_SIZE) && e.word && e.id <= 1 && lttng_event_declares(&w->in, &e);
}

static bool is_text(const uint8_t *p, size_t length)
{
	return p[0] >= 0x20 && utf8_is_valid(p, length);
}

bool lttng_text_is_cut(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	if (t->coding.layout->era < LTTNG_TRACE_MARKERS || e->id != 1 || e->size_width || e->end >= w->limit ||
	    is_declaration(w, e->end, e->stamp))
		return false;
	const uint64_t left = w->limit - e->end, span = left < REST_MAX ? left : REST_MAX;
	const uint8_t *rest = lttng_stream_at(&w->in, e->end, span);
	unsigned pieces = 0;
	size_t run = 0;

	/* The rest of a format is one text. Of a declaration that was hit, two or more are left. */
	for (uint64_t i = 0; rest && i < span && pieces <= 1; i++) {
		if (rest[i]) {
			run++;
			continue;
		}
		/* An event of another type is no text. */
		if (run >= PIECE_MIN && !is_text(rest + i - run, run))
			return false;
		pieces += run >= PIECE_MIN;
		run = 0;
		if (pieces == 1 && is_declaration(w, e->end + i + 1, e->stamp))
			return true;
		/* That moves the window. */
		rest = lttng_stream_at(&w->in, e->end, span);
	}
	/* The last one: bytes came in, and the end of its text is behind that of the data. */
	return rest && span == left && !pieces && run == left && run >= PIECE_MIN && is_text(rest, run);
}
