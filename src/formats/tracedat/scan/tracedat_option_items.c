/* Options: items of id, size and payload that end in item 0 (MAN6 "REST OF TRACE-CMD HEADER", MAN7 "OPTIONS"). */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/scan/tracedat_blocks.h"

#define OPTION_SIZE_MAX (64u << 20)
#define RESYNCS_MAX 64u
/* Bytes behind a broken item, and items from each of them, that are tried one by one. */
#define FORWARD_MAX 4096u
#define ITEMS_MAX 256u

/* ---- items ---- */

static struct tracedat_option *option_add(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, uint16_t id,
					  uint32_t size, unsigned section)
{
	if (!tracedat_room(w, &w->dir.options, &w->dir.option_capacity, w->dir.option_count, sizeof(*w->dir.options),
			   TRACEDAT_OPTIONS_MAX))
		return NULL;
	struct tracedat_option *o = &w->dir.options[w->dir.option_count++];
	*o = (struct tracedat_option){ .block = b, .at = at, .size = size, .id = id, .section = (uint16_t)section, .buffer = -1 };
	if (id == TRACEDAT_TRACECLOCK)
		w->dir.clock_option = (int)w->dir.option_count - 1;
	if (id == TRACEDAT_CPUCOUNT)
		w->dir.cpucount_option = (int)w->dir.option_count - 1;
	return o;
}

/* Whether items of known kinds lead from `at` to the end of the options, at least one of them. */
static bool options_reach_done(const struct tracedat_walk *w, const uint8_t *data, size_t at, size_t end)
{
	for (unsigned items = 0; items < ITEMS_MAX && end - at >= TRACEDAT_OPTION_HEADER; items++) {
		unsigned id = load_u16(data + at, w->shape.big_endian);
		uint32_t size = load_u32(data + at + 2, w->shape.big_endian);
		if (id > TRACEDAT_ID_LAST || size > end - at - TRACEDAT_OPTION_HEADER || (!id && (size != 8 || !items)))
			return false;
		if (!id)
			return true;
		at += TRACEDAT_OPTION_HEADER + size;
	}
	return false;
}

/* After a broken item: the next offset from which items lead to the end. */
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
	size_t lead = at < stop ? tracedat_options_lead(&w->shape, data, at + 1, stop) : SIZE_MAX;
	if (lead != SIZE_MAX || w->shape.version == 6)
		return lead;
	/* The size of the section may be wrong. */
	for (size_t from = at + 1; from < end && from - at <= FORWARD_MAX; from++)
		if (options_reach_done(w, data, from, end))
			return from;
	return SIZE_MAX;
}

void tracedat_option_doubt(struct tracedat_walk *w, const struct tracedat_option *o)
{
	const struct tracedat_block *b = o->block;
	uint64_t from = b->compressed ? b->offset : b->offset + o->at - TRACEDAT_OPTION_HEADER;
	if (w->s->plan)
		plan_doubt(w->s->plan, w->source, from, b->compressed ? b->stored : TRACEDAT_OPTION_HEADER + (uint64_t)o->size,
			   "an option that was hit, or that stands in front of damage");
}

void tracedat_option_suspect(struct tracedat_walk *w, const struct tracedat_block *b, size_t at)
{
	const struct tracedat_option *o = w->dir.option_count ? &w->dir.options[w->dir.option_count - 1] : NULL;
	if (o && o->block == b && o->at + o->size == at)
		tracedat_option_doubt(w, o);
}

/* MAN7: DONE has a size and the offset of the next section. */
static size_t option_done(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, unsigned section)
{
	struct tracedat_section *sec = &w->dir.sections[section];

	sec->done = at;
	uint32_t size = end - at >= TRACEDAT_OPTION_HEADER ? load_u32(b->data + at + 2, w->shape.big_endian) : 0;
	if (size == 0x08000000 && end - at >= TRACEDAT_OPTION_HEADER + 8) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_host_order, b, at + 2, 4,
					    "the size of the DONE option is 0x08000000, expected 8: it is in the other byte order");
		size = 8;
		sec->has_done = true;
	} else if (size != 8 || end - at < TRACEDAT_OPTION_HEADER + 8) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_v7_done_size, b, at,
					    end - at < TRACEDAT_OPTION_HEADER ? end - at : TRACEDAT_OPTION_HEADER,
					    "the size of the DONE option is %u, expected 8", size);
		w->out.lost_other |= end - at > TRACEDAT_OPTION_HEADER + 8;
		tracedat_option_suspect(w, b, at);
		return SIZE_MAX;
	} else {
		sec->has_done = true;
	}
	return at + TRACEDAT_OPTION_HEADER + size;
}

/* Item 0 that is not the end of a section of options: zeros. Returns where more options lead to the end; SIZE_MAX: none do. */
static size_t option_not_done(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end)
{
	uint32_t size = end - at >= TRACEDAT_OPTION_HEADER ? load_u32(b->data + at + 2, w->shape.big_endian) : 8;
	if (size == 8 || size == 0x08000000)
		return SIZE_MAX;
	size_t next = option_resync(w, b->data, at, end);
	if (next == SIZE_MAX)
		return SIZE_MAX;
	(void)tracedat_block_report(w, TRACEDAT_RULE_option_size, b, at, next - at,
				    "%zu bytes that are not the end of the options: more options follow", next - at);
	w->out.lost_other = true;
	tracedat_drop_block(w, b, at, next - at, TRACEDAT_RULE_option_size, "not an option");
	return next;
}

/* Whether items of any kind lead from `at` to the end of the options: in version 6 to the tag behind them. */
static bool items_reach_end(const struct tracedat_walk *w, const uint8_t *data, size_t at, size_t end)
{
	for (unsigned items = 0; items < ITEMS_MAX && end - at >= TRACEDAT_OPTION_HEADER; items++) {
		uint32_t size = load_u32(data + at + 2, w->shape.big_endian);
		if (!load_u16(data + at, w->shape.big_endian))
			return tracedat_option_item_at(&w->shape, data, at, end);
		if (size > end - at - TRACEDAT_OPTION_HEADER)
			return false;
		at += TRACEDAT_OPTION_HEADER + size;
	}
	return false;
}

/* The size of the item at `at` by its content, where the stated one leads to no other item, or past the end of the options, and
 * this one does not. 0: it stays. */
static uint32_t option_remeasure(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, uint16_t id,
				 uint32_t size)
{
	size_t payload = at + TRACEDAT_OPTION_HEADER;
	if (end < payload)
		return 0;
	size_t room = end - payload < OPTION_SIZE_MAX ? end - payload : OPTION_SIZE_MAX;
	bool leads = size <= end - payload &&
		     (size == end - payload || tracedat_option_item_at(&w->shape, b->data, payload + size, end));
	if (leads && w->shape.version == 7)
		return 0;
	size_t real = tracedat_option_measure(&w->shape, id, b->data + payload, room);
	if (!real || real == size || real > room || !tracedat_option_item_at(&w->shape, b->data, payload + real, end))
		return 0;
	if (leads && (items_reach_end(w, b->data, payload + size, end) || !items_reach_end(w, b->data, payload + real, end)))
		return 0;
	(void)tracedat_block_report(w, TRACEDAT_RULE_option_size, b, at + 2, 4,
				    "the size of option %u is %u, expected the %zu bytes of its content", id, size, real);
	return (uint32_t)real;
}

/* Whether an item of that size is none: nothing that may follow one stands behind it, and its content has another size. */
static bool option_is_none(const struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, uint16_t id,
			   uint32_t size)
{
	size_t payload = at + TRACEDAT_OPTION_HEADER, real;
	/* Any number may be that of a later version, where all sizes up to the end confirm it. */
	if (id > TRACEDAT_ID_LATER)
		return size > end - payload || !items_reach_end(w, b->data, payload + size, end);
	if (payload + size == end || tracedat_option_item_at(&w->shape, b->data, payload + size, end))
		return false;
	if (id > TRACEDAT_ID_LAST)
		return !items_reach_end(w, b->data, payload + size, end);
	real = tracedat_option_measure(&w->shape, id, b->data + payload,
				       end - payload < OPTION_SIZE_MAX ? end - payload : OPTION_SIZE_MAX);
	return real && real != size;
}

/* Whether the item with id 0 at `at` is not the end: its size leads to other items, up to the end. Its id was hit. */
static bool option_goes_on(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end)
{
	if (end - at < TRACEDAT_OPTION_HEADER || (w->shape.version == 6 && tracedat_option_item_at(&w->shape, b->data, at, end)))
		return false;
	uint32_t size = load_u32(b->data + at + 2, w->shape.big_endian);
	if (size > end - at - TRACEDAT_OPTION_HEADER)
		return false;
	size_t next = at + TRACEDAT_OPTION_HEADER + size;
	if (w->shape.version == 6)
		return size && tracedat_option_item_at(&w->shape, b->data, next, end);
	return next < end && w->dir.resyncs++ < RESYNCS_MAX && tracedat_options_lead(&w->shape, b->data, next, end) == next;
}

/* The item at `at` cannot be read; `next`: the one behind it, SIZE_MAX: there is none. */
static void option_unread(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, size_t next)
{
	const bool last = next == SIZE_MAX, headed = end - at >= TRACEDAT_OPTION_HEADER;
	const uint16_t id = load_u16(b->data + at, w->shape.big_endian);
	const uint32_t size = headed ? load_u32(b->data + at + 2, w->shape.big_endian) : UINT32_MAX;
	const bool torn = last && id <= TRACEDAT_ID_LATER && (!headed || size > end - at - TRACEDAT_OPTION_HEADER);

	tracedat_option_suspect(w, b, at);
	if (!torn || !tracedat_tail_explained(w, b, end))
		(void)tracedat_block_report(w, TRACEDAT_RULE_option_size, b, at, last ? TRACEDAT_OPTION_HEADER : next - at,
					    "the size of option %u is %u, %zu bytes are left, and no option follows it", id, size,
					    end - at);
	w->out.lost_other = true;
	if (last)
		next = w->shape.version == 7 ? end : at;
	tracedat_drop_block(w, b, at, next - at, TRACEDAT_RULE_option_size, "an option that cannot be read");
}

size_t tracedat_options_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end, unsigned section)
{
	while (end - at >= 2 && w->status == TM_OK) {
		uint16_t id = load_u16(b->data + at, w->shape.big_endian);
		bool goes_on = !id && option_goes_on(w, b, at, end);
		if (!id && !goes_on && w->shape.version == 6 && tracedat_option_item_at(&w->shape, b->data, at, end))
			return at + 2;
		if (!id && !goes_on) {
			size_t next = option_not_done(w, b, at, end);
			if (next == SIZE_MAX)
				return w->shape.version == 6 ? at + 2 : option_done(w, b, at, end, section);
			tracedat_option_suspect(w, b, at);
			at = next;
			continue;
		}
		if (w->shape.version == 6 && end - at >= TRACEDAT_TAG_SIZE &&
		    (!memcmp(b->data + at, "flyrecord", 9) || !memcmp(b->data + at, "latency", 7))) {
			(void)tracedat_block_report(w, TRACEDAT_RULE_option_missing_done, b, at, TRACEDAT_TAG_SIZE,
						    "the options run into the tag that follows them: item 0 is missing");
			return at;
		}
		uint32_t size = end - at >= TRACEDAT_OPTION_HEADER ? load_u32(b->data + at + 2, w->shape.big_endian) : UINT32_MAX;
		uint32_t real = option_remeasure(w, b, at, end, id, size);
		if (real) {
			struct tracedat_option *o = option_add(w, b, at + TRACEDAT_OPTION_HEADER, id, real, section);
			if (!o)
				return SIZE_MAX;
			o->rule = TRACEDAT_RULE_option_size;
			o->why = "the size of its content";
			o->head_bad = true;
			/* The size was hit, or bytes of the content were removed. */
			tracedat_option_doubt(w, o);
			at += TRACEDAT_OPTION_HEADER + real;
			continue;
		}
		bool fits = end - at >= TRACEDAT_OPTION_HEADER && size <= end - at - TRACEDAT_OPTION_HEADER &&
			    size <= OPTION_SIZE_MAX;
		size_t next = SIZE_MAX;
		if (!fits || option_is_none(w, b, at, end, id, size)) {
			next = option_resync(w, b->data, at, end);
			fits &= next == SIZE_MAX && id <= TRACEDAT_ID_LATER;
		}
		if (!fits) {
			option_unread(w, b, at, end, next);
			if (next == SIZE_MAX)
				return SIZE_MAX;
			at = next;
			continue;
		}
		if (!option_add(w, b, at + TRACEDAT_OPTION_HEADER, id, size, section))
			return SIZE_MAX;
		at += TRACEDAT_OPTION_HEADER + size;
	}
	if (w->status == TM_OK && !tracedat_tail_explained(w, b, end)) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_option_missing_done, b, at, 0, "the options end without item 0");
	}
	return SIZE_MAX;
}
