/* Options: items of id, size and payload that end in item 0 (MAN6 "REST OF TRACE-CMD HEADER", MAN7 "OPTIONS"). */
#include "formats/tracedat/tracedat.h"

#define OPTION_SIZE_MAX (64u << 20)
#define RESYNC_BYTES 65536u
#define RESYNCS_MAX 64u

struct tracedat_buffer *tracedat_buffer_add(struct tracedat_walk *w)
{
	if (!tracedat_room(w, &w->data.buffers, &w->data.buffer_capacity, w->data.buffer_count, sizeof(*w->data.buffers), TRACEDAT_BUFFERS_MAX))
		return NULL;
	struct tracedat_buffer *b = &w->data.buffers[w->data.buffer_count++];
	*b = (struct tracedat_buffer){ .section = -1, .option = SIZE_MAX };
	return b;
}

struct tracedat_cpu *tracedat_cpu_add(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	if (!tracedat_room(w, &b->cpus, &b->capacity, b->count, sizeof(*b->cpus), TRACEDAT_CPUS_MAX))
		return NULL;
	struct tracedat_cpu *c = &b->cpus[b->count++];
	*c = (struct tracedat_cpu){ 0 };
	return c;
}

void tracedat_option_drop(struct tracedat_option *o, unsigned rule, const char *why)
{
	o->dropped = true;
	o->rule = rule;
	o->why = why;
}

const char *tracedat_clock_name(const char *text, size_t size, size_t *length)
{
	const char *open = memchr(text, '[', size);
	const char *close = open ? memchr(open, ']', size - (size_t)(open - text)) : NULL;
	*length = close ? (size_t)(close - open - 1) : 0;
	return close ? open + 1 : NULL;
}

bool tracedat_clock_known(const char *name, size_t length)
{
	static const char *const clocks[] = { "local", "global", "counter", "uptime", "perf",	  "mono",    "mono_raw",
					      "boot",  "tai",	 "x86-tsc", "ppc-tb", "s390-tod", "tsc2nsec" };
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (strlen(clocks[i]) == length && !memcmp(clocks[i], name, length))
			return true;
	return false;
}

/* ---- items ---- */

bool tracedat_options_fit(const struct tracedat_walk *w, const uint8_t *data, size_t at, size_t end)
{
	while (end - at >= 2) {
		uint16_t id = load_u16(data + at, w->shape.big_endian);
		if (w->shape.version == 6 && !id)
			return at + 2 == end;
		if (end - at < TRACEDAT_OPTION_HEADER || id > TRACEDAT_ID_LAST)
			return false;
		uint32_t size = load_u32(data + at + 2, w->shape.big_endian);
		if (size > end - at - TRACEDAT_OPTION_HEADER)
			return false;
		at += TRACEDAT_OPTION_HEADER + size;
		if (!id)
			return size == 8 && at == end;
	}
	return false;
}

static struct tracedat_option *option_add(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, uint16_t id, uint32_t size,
					  unsigned section)
{
	if (!tracedat_room(w, &w->dir.options, &w->dir.option_capacity, w->dir.option_count, sizeof(*w->dir.options), TRACEDAT_OPTIONS_MAX))
		return NULL;
	struct tracedat_option *o = &w->dir.options[w->dir.option_count++];
	*o = (struct tracedat_option){ .block = b, .at = at, .size = size, .id = id, .section = (uint16_t)section, .buffer = -1 };
	if (id == TRACEDAT_TRACECLOCK)
		w->dir.clock_option = (int)w->dir.option_count - 1;
	if (id == TRACEDAT_CPUCOUNT)
		w->dir.cpucount_option = (int)w->dir.option_count - 1;
	return o;
}

size_t tracedat_options_lead(const struct tracedat_walk *w, const uint8_t *data, size_t from, size_t stop)
{
	const size_t done = w->shape.version == 6 ? 2 : TRACEDAT_OPTION_HEADER + 8;
	uint8_t leads[RESYNC_BYTES / 8] = { 0 }; /* a bit for each place in front of stop */
	size_t first = SIZE_MAX;

	if (stop - from > RESYNC_BYTES - 1)
		from = stop - (RESYNC_BYTES - 1);
	if (stop - from < done || load_u16(data + stop - done, w->shape.big_endian) ||
	    (w->shape.version != 6 && load_u32(data + stop - 8 - 4, w->shape.big_endian) != 8))
		return SIZE_MAX;
	leads[done / 8] |= (uint8_t)(1u << done % 8);
	for (size_t back = done + TRACEDAT_OPTION_HEADER; back <= stop - from; back++) {
		const uint8_t *p = data + stop - back;
		unsigned id = load_u16(p, w->shape.big_endian);
		uint32_t size = load_u32(p + 2, w->shape.big_endian);
		if (id - 1u >= TRACEDAT_ID_LAST || size > back - TRACEDAT_OPTION_HEADER - done)
			continue;
		size_t behind = back - TRACEDAT_OPTION_HEADER - size;
		if (leads[behind / 8] >> behind % 8 & 1) {
			leads[back / 8] |= (uint8_t)(1u << back % 8);
			first = stop - back;
		}
	}
	return first;
}

/* After a broken item: the next place from which items lead to the end. */
static size_t option_resync(struct tracedat_walk *w, const uint8_t *data, size_t at, size_t end)
{
	size_t stop = end;
	if (w->dir.resyncs++ >= RESYNCS_MAX)
		return SIZE_MAX;
	if (w->shape.version == 6) {
		const uint8_t *tag = memmem(data + at, end - at, "flyrecord", 10);
		if (!tag)
			return SIZE_MAX;
		stop = (size_t)(tag - data);
	}
	return at < stop ? tracedat_options_lead(w, data, at + 1, stop) : SIZE_MAX;
}

/* MAN7: DONE has a size and the offset of the next section. */
static size_t option_done(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, unsigned section)
{
	struct tracedat_section *s = &w->dir.sections[section];

	s->done = at;
	uint32_t size = end - at >= TRACEDAT_OPTION_HEADER ? load_u32(b->data + at + 2, w->shape.big_endian) : 0;
	if (size == 0x08000000 && end - at >= TRACEDAT_OPTION_HEADER + 8) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_host_order, b, at + 2, 4,
					    "the size of the end of the options is 0x08000000: 8 in the other byte order");
		size = 8;
		s->has_done = true;
	} else if (size != 8 || end - at < TRACEDAT_OPTION_HEADER + 8) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_size, b, at,
					    end - at < TRACEDAT_OPTION_HEADER ? end - at : TRACEDAT_OPTION_HEADER,
					    "the end of the options has a payload of %u bytes, expected 8", size);
		return SIZE_MAX;
	} else {
		s->has_done = true;
	}
	return at + TRACEDAT_OPTION_HEADER + size;
}

size_t tracedat_options(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, unsigned section)
{
	while (end - at >= 2 && w->status == TM_OK) {
		uint16_t id = load_u16(b->data + at, w->shape.big_endian);
		if (!id)
			return w->shape.version == 6 ? at + 2 : option_done(w, b, at, end, section);
		if (w->shape.version == 6 && end - at >= TRACEDAT_TAG_SIZE &&
		    (!memcmp(b->data + at, "flyrecord", 9) || !memcmp(b->data + at, "latency", 7))) {
			(void)tracedat_block_report(w, TRACEDAT_RULE_option_missing_done, b, at, TRACEDAT_TAG_SIZE,
						    "the options run into the word that follows them: their end is missing");
			return at;
		}
		uint32_t size = end - at >= TRACEDAT_OPTION_HEADER ? load_u32(b->data + at + 2, w->shape.big_endian) : UINT32_MAX;
		if (end - at < TRACEDAT_OPTION_HEADER || size > end - at - TRACEDAT_OPTION_HEADER || size > OPTION_SIZE_MAX) {
			size_t next = option_resync(w, b->data, at, end);
			(void)tracedat_block_report(
				w, TRACEDAT_RULE_option_size, b, at, next == SIZE_MAX ? TRACEDAT_OPTION_HEADER : next - at,
				"option %u claims %u bytes, more than the %zu that are left", id, size, end - at);
			w->out.lost_other = true;
			tracedat_drop_block(w, b, at,
					    (next == SIZE_MAX && w->shape.version == 7 ? end
					     : next == SIZE_MAX			 ? at
										 : next) -
						    at,
					    TRACEDAT_RULE_option_size, "an option that cannot be read");
			if (next == SIZE_MAX)
				return SIZE_MAX;
			at = next;
			continue;
		}
		if (!option_add(w, b, at + TRACEDAT_OPTION_HEADER, id, size, section))
			return SIZE_MAX;
		at += TRACEDAT_OPTION_HEADER + size;
	}
	if (w->status == TM_OK) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_option_missing_done, b, at, 0, "the options end without item 0");
	}
	return SIZE_MAX;
}
