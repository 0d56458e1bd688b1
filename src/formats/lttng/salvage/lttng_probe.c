/* Declarations that are missing, and nothing in their files tells of it: the last blocks never reached the disk, or bytes were cut
 * out between two records. A hit to an event makes one of a type that nothing declares; several of one type, each where an event
 * must begin, are no hits. The first blocks of each file are looked at. */
#include "formats/lttng/salvage/lttng_salvage.h"

/* Blocks of a file. */
#define BLOCKS_MAX 16u
/* Events of one type that none declares. */
#define MET_MIN 3u

/* Events from the start of a block on, as long as they tell their size or have a type. Whether a type was met so often. */
static bool probe_block(struct lttng_trace *t, struct lttng_file *f, const struct lttng_stream *in, const struct lttng_header *h,
			uint64_t limit)
{
	uint64_t rel = t->coding.layout->size, stamp = h->v[LF_BEGIN];
	struct lttng_event e;

	while (t->status == TM_OK && t->window.status == TM_OK) {
		const enum lttng_defect defect = lttng_event_decode(in, rel, limit, stamp, &e);
		const bool unknown = defect == EVENT_DANGLING;
		if ((defect != EVENT_OK && !unknown) || !e.word || e.stamp < stamp || e.stamp > h->v[LF_END])
			return false;
		struct lttng_marker *m = unknown ? lttng_table_make(t, f->channel->table, e.id) : NULL;
		if (m && ++m->met >= MET_MIN)
			return true;
		const uint64_t end = unknown ? e.sized_end : e.end;
		if (end <= rel)
			return false;
		rel = end;
		stamp = e.stamp;
	}
	return false;
}

static bool probe_file(struct lttng_trace *t, struct lttng_file *f)
{
	struct lttng_frame frame;
	struct lttng_header h;
	bool met = false;

	if (t->coding.layout->era != LTTNG_CHANNEL_MARKERS)
		f->channel->table = t->declared.table;
	if (!f->channel->table)
		return false;
	window_reset(&t->window, f->source);
	for (uint64_t at = 0, n = 0; !met && n < BLOCKS_MAX && lttng_frame_at(t, f, at, &frame);
	     at = frame.offset + frame.length, n++) {
		if (frame.from != frame.offset || !lttng_header_at(t, f, at, &h) || h.v[LF_BEGIN] > h.v[LF_END])
			continue;
		const uint64_t data = lttng_header_data_end(t->coding.layout, &h, frame.length);
		const struct lttng_stream in = lttng_stream_open(t, f, at);
		met = probe_block(t, f, &in, &h, data < frame.length ? data : frame.length);
	}
	if (t->window.status != TM_OK)
		t->status = t->window.status;
	return met;
}

bool lttng_probe(struct lttng_trace *t)
{
	bool met = false;

	for (size_t i = 0; i < t->files.count && t->status == TM_OK && !met && !t->s->outline; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->channel && !f->metadata && !f->aside && !f->empty && !f->compact)
			met = probe_file(t, f);
	}
	return met && t->status == TM_OK;
}
