/* How the bytes of a trace's files are read. */
#include "formats/lttng/scan/lttng_trace.h"

static const uint8_t *read_at(void *owner, uint64_t offset, size_t length)
{
	return window_at(owner, offset, length);
}

static const uint8_t *read_upto(void *owner, uint64_t offset, size_t length, size_t *got)
{
	return window_upto(owner, offset, length, got);
}

struct lttng_stream lttng_stream_open(struct lttng_trace *t, const struct lttng_file *f, uint64_t base)
{
	const struct lttng_table *table = f->channel->table;
	return (struct lttng_stream){ .coding = &t->coding,
				      .types = table ? &table->types : NULL,
				      .reader = { &t->window, read_at, read_upto },
				      .base = base,
				      .metadata = f->metadata,
				      .compact = f->compact };
}

bool lttng_file_read(struct lttng_trace *t, const struct lttng_file *f, uint64_t offset, void *to, size_t length)
{
	const struct window *window = &t->window;
	if (window->source == f->source && offset >= window->base && offset - window->base <= window->length &&
	    length <= window->length - (offset - window->base)) {
		memcpy(to, window->buffer + (offset - window->base), length);
	} else if (source_read(f->source, offset, to, length) != TM_OK) {
		t->status = TM_IO;
		return false;
	}
	return true;
}

bool lttng_file_load(struct lttng_trace *t, struct lttng_file *f)
{
	const struct lttng_layout *l = t->coding.layout;
	uint8_t head[LTTNG_HEADER_MAX];

	f->layout = l;
	if (source_read(f->source, 0, head, l->size) != TM_OK) {
		t->status = TM_IO;
		return false;
	}
	lttng_header_load(&f->first, l, f->big_endian, head);
	return true;
}

void lttng_file_aside(struct lttng_file *f, unsigned rule, const char *why)
{
	f->aside = true;
	f->aside_rule = rule;
	f->aside_why = why;
}
