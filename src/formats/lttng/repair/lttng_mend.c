/* What becomes of an event that is not as it should be. */
#include "formats/lttng/scan/lttng_walk.h"

uint64_t lttng_widest_align(const struct lttng_trace *t)
{
	return !t->alignment ? 1 : t->layout->natural ? 8 : t->alignment;
}

/* Whether an event decodes at rel, or the data ends there. */
static bool decodes(struct lttng_trace *t, const struct lttng_walk *k, uint64_t rel, uint64_t stamp, struct lttng_event *e)
{
	enum lttng_defect d = lttng_event_decode(t, k, rel, k->limit, stamp, e);
	return d == EVENT_END || (d == EVENT_OK && e->word);
}

struct lttng_edit *lttng_edit_add(struct lttng_trace *t, struct lttng_walk *k)
{
	if (k->edit_count == LTTNG_EDITS_MAX)
		return NULL;
	struct lttng_edit *e = &t->edits[k->edit_count++];
	*e = (struct lttng_edit){ 0 };
	return e;
}

void lttng_trim_edits(const struct lttng_trace *t, struct lttng_walk *k)
{
	while (k->edit_count && t->edits[k->edit_count - 1].rel >= k->kept)
		k->edit_count--;
	k->rel = k->kept;
}

bool lttng_drop_event(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, uint64_t end, unsigned rule)
{
	struct lttng_event next;
	uint64_t step = lttng_event_align(t, k->file);
	uint64_t from = lttng_align(k->rel, step), to = end;

	if (!end || end > k->limit || end <= from || end - from > UINT32_MAX)
		return false;
	if (end < k->limit) {
		to = lttng_align(end, step);
		if (to >= k->limit || (to - from) % lttng_widest_align(t) ||
		    lttng_event_decode(t, k, end, k->limit, e->stamp, &next) == EVENT_HEADER_CUT)
			return false;
		uint64_t turn = t->layout->era >= LTTNG_TRACE_MARKERS ? LTTNG_TIME_MASK : UINT32_MAX;
		if (!next.has_full && (next.stamp - k->stamp > turn || e->has_full))
			return false;
	} else {
		/* The padding before it goes, too, and with it what was left out just before. */
		lttng_trim_edits(t, k);
		from = k->rel;
	}
	struct lttng_edit *edit = lttng_edit_add(t, k);
	if (!edit)
		return false;
	edit->rel = from;
	edit->drop = (uint32_t)(to - from);
	edit->rule = rule;
	k->dropped++;
	k->rel = to;
	return true;
}

bool lttng_walk_patch(struct lttng_trace *t, struct lttng_walk *k, uint64_t rel, const void *bytes, size_t length, unsigned rule)
{
	struct lttng_edit *edit = lttng_edit_add(t, k);
	if (!edit || length > sizeof(edit->bytes))
		return false;
	edit->rel = rel;
	edit->drop = (uint32_t)length;
	edit->length = (uint8_t)length;
	edit->rule = rule;
	memcpy(edit->bytes, bytes, length);
	return true;
}

static bool patch_event(struct lttng_trace *t, struct lttng_walk *k, uint64_t at, unsigned width, uint64_t value, unsigned rule)
{
	uint8_t bytes[4];
	if (width == 2)
		store_u16(bytes, (uint16_t)value, t->big_endian);
	else
		store_u32(bytes, (uint32_t)value, t->big_endian);
	return lttng_walk_patch(t, k, at, bytes, width, rule);
}

/* The size in the header is not that of the description. */
static bool mend_size(struct lttng_trace *t, struct lttng_walk *k, struct lttng_event *e)
{
	struct lttng_event next;
	unsigned rule = lttng_defect_rule(t, k, e, EVENT_SIZE);
	uint64_t size = e->end - e->payload;
	uint64_t most = e->size_width == 2 ? LTTNG_SIZE_ESCAPE - 1u : UINT32_MAX;

	if (e->escaped && e->size_width == 2) /* 32 bits of size follow, and are right */
		size = most = LTTNG_SIZE_ESCAPE;

	unsigned edits = k->edit_count;
	if (e->end && size <= most && decodes(t, k, e->end, e->stamp, &next) &&
	    patch_event(t, k, e->size_at, e->size_width, size, rule)) {
		struct finding *fd = NULL;
		unsigned ignored = rule;
		if (!lttng_metadata_is_declaration(t, k, e) || lttng_metadata_take(t, k, e, &fd, &ignored)) {
			k->resynced |= e->sized_end < e->end; /* or a text that lost its end took in what follows */
			lttng_event_keep(t, k, e);
			k->patched++;
			return true;
		}
		k->edit_count = edits;
	}
	return decodes(t, k, e->sized_end, e->stamp, &next) && lttng_drop_event(t, k, e, e->sized_end, rule);
}

/* 2.x: a size that was hit may say 0xFFFF, or no longer, and all behind it is misread. If the event is whole when it is read
 * the other way, its size is all that is wrong. */
static bool misread_escape(struct lttng_trace *t, const struct lttng_walk *k, struct lttng_event *e)
{
	struct lttng_walk other = *k;
	struct lttng_event o, next;

	if (e->form != LTTNG_FORM_FULL && e->form != LTTNG_FORM_SIZE)
		return false;
	other.escape = e->escaped ? ESCAPE_NEVER : ESCAPE_ALWAYS;
	enum lttng_defect defect = lttng_event_decode(t, &other, k->rel, k->limit, k->stamp, &o);
	if (defect != (e->escaped ? EVENT_SIZE : EVENT_OK) || !o.end || !decodes(t, k, o.end, o.stamp, &next))
		return false;
	if (!e->escaped) {
		o.size = e->size;
		o.size_at -= 2;
		o.size_width = 2;
	}
	*e = o;
	return true;
}

static bool mend_low_bits(struct lttng_trace *t, struct lttng_walk *k, struct lttng_event *e)
{
	struct lttng_event next;
	if (e->end && (!e->size_width || e->end - e->payload == e->size) && e->full >= k->stamp && e->full <= k->end &&
	    decodes(t, k, e->end, e->full, &next) &&
	    patch_event(t, k, e->start, 4, (e->word & ~LTTNG_TIME_MASK) | (e->full & LTTNG_TIME_MASK),
			LTTNG_RULE_full_stamp_low_bits)) {
		lttng_event_keep(t, k, e);
		k->patched++;
		return true;
	}
	return lttng_drop_event(t, k, e, e->end, LTTNG_RULE_full_stamp_low_bits);
}

/* The event crosses the end of the data. If it is whole within the block, the end is wrong: go on without one. */
static bool cross_end(struct lttng_trace *t, struct lttng_walk *k)
{
	struct lttng_event e;
	if (k->limit >= k->room || k->cut_explained)
		return false;
	if (lttng_event_decode(t, k, k->rel, k->room, k->stamp, &e) != EVENT_OK || e.start >= k->limit || e.stamp > k->end ||
	    !e.word)
		return false;
	struct finding *fd = lttng_event_named(t, k, &e, LTTNG_RULE_data_end_mid_event, e.start, e.end,
					       "the data ends %llu bytes into event %s, which is whole and has %llu",
					       (unsigned long long)(k->limit - e.start), lttng_event_name(&e),
					       (unsigned long long)(e.end - e.start));
	lttng_walk_stop(k, fd, LTTNG_RULE_data_end_mid_event, false);
	k->open = true;
	k->end_moved = true;
	k->limit = k->room;
	k->bound = k->end;
	return true;
}

void lttng_note_mended(struct lttng_trace *t, struct lttng_walk *k, struct finding *fd)
{
	if (k->file->metadata)
		lttng_metadata_lose(t, fd);
	k->mended = fd;
	k->mended_to = k->rel;
}

bool lttng_mend(struct lttng_trace *t, struct lttng_walk *k, struct lttng_event *e, enum lttng_defect defect)
{
	struct finding *fd;
	bool mended = false;
	unsigned rule;

	if (misread_escape(t, k, e))
		defect = EVENT_SIZE;
	rule = lttng_defect_rule(t, k, e, defect);
	if (defect == EVENT_HEADER_CUT || defect == EVENT_PAYLOAD_CUT || defect == EVENT_STRING_CUT) {
		if (cross_end(t, k))
			return true;
		fd = k->cut_explained ? NULL : lttng_defect_finding(t, k, e, defect);
		if (!k->cut_explained && lttng_resync(t, k, e->start + 1, rule)) {
			lttng_note_mended(t, k, fd);
			return true;
		}
		lttng_walk_stop(k, fd, rule, true);
		k->cut_known = !k->cut_explained;
		k->dropped += k->cut_known && defect != EVENT_HEADER_CUT;
		k->end_moved = true;
		k->torn = true;
		return false;
	}
	fd = lttng_defect_finding(t, k, e, defect);
	if (defect == EVENT_SIZE)
		mended = mend_size(t, k, e);
	else if (defect == EVENT_LOW_BITS)
		mended = mend_low_bits(t, k, e);
	else
		mended = lttng_drop_event(t, k, e, e->sized_end, rule);
	if (!mended)
		mended = lttng_resync(t, k, e->start + 1, rule);
	if (!mended) {
		lttng_walk_stop(k, fd, rule, true);
		k->torn = true;
	}
	lttng_note_mended(t, k, fd);
	return mended;
}
