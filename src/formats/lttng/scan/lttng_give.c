/* What an event is, for the sink of a scan. */
#include <inttypes.h>
#include <string.h>

#include "core/sink.h"
#include "formats/lttng/scan/lttng_walk.h"

/* A number of 1 to 8 bytes as its conversion shows it. */
static void give_number(struct sink_record *r, const struct lttng_coding *c, const struct lttng_format_field *f, const uint8_t *p)
{
	unsigned bits = 8 * f->step.size;
	uint64_t v = 0;

	for (uint32_t i = 0; i < f->step.size; i++)
		v |= (uint64_t)p[i] << 8 * (c->big_endian ? f->step.size - 1 - i : i);
	if (f->letter == 'd' || f->letter == 'i') {
		if (bits < 64 && v >> (bits - 1))
			v |= ~UINT64_C(0) << bits;
		sink_argument(r, f->name, f->name_length, "%" PRId64, (int64_t)v);
	} else if (strchr("xXp", f->letter)) {
		sink_argument(r, f->name, f->name_length, "0x%" PRIx64, v);
	} else {
		sink_argument(r, f->name, f->name_length, "%" PRIu64, v);
	}
}

/* The fields of an event whose format is known. False where they do not fit the payload: nothing, or less, was given then. */
static bool give_fields(struct sink_record *r, const struct lttng_walk *w, const struct lttng_event *e)
{
	const struct lttng_coding *c = w->in.coding;
	const char *at = e->type->format;
	struct lttng_format_field f;
	char quoted[TEXT_QUOTE_SIZE];
	uint64_t rel = e->payload;

	while (lttng_format_next(c, &at, &f)) {
		if (f.flaws & FORMAT_BAD || f.step.size > sizeof(uint64_t))
			return false;
		if (f.elsewhere)
			continue;
		rel = lttng_align(rel, f.step.align);
		if (rel > e->end)
			return false;
		uint64_t left = e->end - rel, most = left < TEXT_QUOTE_INPUT ? left : TEXT_QUOTE_INPUT;
		uint64_t need = f.step.kind == STEP_FIXED ? f.step.size : most;
		const uint8_t *p = need && need <= left ? lttng_stream_at(&w->in, rel, need) : NULL;
		if (!p)
			return false;
		if (f.step.kind == STEP_FIXED) {
			give_number(r, c, &f, p);
			rel += f.step.size;
			continue;
		}
		const uint8_t *nul = memchr(p, 0, (size_t)need);
		size_t length = nul ? (size_t)(nul - p) : (size_t)need;
		sink_argument(r, f.name, f.name_length, "%s%s", text_quote(quoted, (const char *)p, length), nul ? "" : "...");
		if (!nul)
			return false; /* where the next field is would have to be searched */
		rel += length + 1;
	}
	return true;
}

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
	if (e->type && e->type->format && !w->file->metadata && give_fields(r, w, e))
		return;
	uint64_t length = e->end - e->payload, shown = length < TEXT_QUOTE_INPUT ? length : TEXT_QUOTE_INPUT;
	const uint8_t *p = shown ? lttng_stream_at(&w->in, e->payload, shown) : NULL;
	if (p) {
		text_hex(text, p, (size_t)shown);
		sink_argument(r, "payload", 7, "%s%s", text, shown < length ? "..." : "");
	}
}
