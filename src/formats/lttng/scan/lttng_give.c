/* What an event is, for the sink of a scan. */
#include <inttypes.h>
#include <string.h>

#include "core/sink.h"
#include "formats/lttng/scan/lttng_walk.h"

void lttng_event_give(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	struct sink *sink = t->s->sink;
	char text[2 * TEXT_QUOTE_INPUT + 1];

	/* A walk that changes nothing is a trial. */
	if (!w->edits)
		return;
	struct sink_record *r = sink_begin(sink, w->file->source, w->in.base + e->start, e->end - e->start,
					   w->file->metadata ? "declaration" : "event");
	sink_time(r, e->stamp, "ticks");
	sink_track(r, "cpu %" PRId64, w->file->cpu);
	if (e->type && e->type->name)
		sink_name(r, e->type->name, strlen(e->type->name));
	else
		sink_name(r, "", 0);
	if (!sink->arguments)
		return;
	sink_argument(r, "id", 2, "%" PRIu32, e->id);
	uint64_t length = e->end - e->payload, shown = length < TEXT_QUOTE_INPUT ? length : TEXT_QUOTE_INPUT;
	const uint8_t *p = shown ? lttng_stream_at(&w->in, e->payload, shown) : NULL;
	if (p) {
		text_hex(text, p, (size_t)shown);
		sink_argument(r, "payload", 7, "%s%s", text, shown < length ? "..." : "");
	}
}
