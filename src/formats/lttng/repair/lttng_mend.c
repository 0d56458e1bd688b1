/* What becomes of an event that is not as it should be. */
#include "formats/lttng/repair/lttng_repair.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Whether an event decodes at rel, or the data ends there. */
static bool decodes(const struct lttng_walk *w, uint64_t rel, uint64_t stamp)
{
	struct lttng_event e;
	enum lttng_defect d = lttng_event_decode(&w->in, rel, w->limit, stamp, &e);
	return d == EVENT_END || (d == EVENT_OK && e.word);
}

bool lttng_drop_event(struct lttng_walk *w, const struct lttng_event *e, uint64_t end, unsigned rule, bool hit)
{
	const struct lttng_coding *c = w->in.coding;
	struct lttng_event next = { 0 };
	uint64_t step = lttng_event_align(c, w->in.compact);
	uint64_t from = lttng_align(w->at.rel, step), to = end;

	if (!end || end > w->limit || end <= from || end - from > UINT32_MAX)
		return false;
	if (end < w->limit) {
		to = lttng_align(end, step);
		if (to >= w->limit || (to - from) % lttng_widest_align(c) ||
		    lttng_event_decode(&w->in, end, w->limit, e->stamp, &next) == EVENT_HEADER_CUT)
			return false;
		uint64_t turn = c->layout->era >= LTTNG_TRACE_MARKERS ? LTTNG_TIME_MASK : UINT32_MAX;
		if (!next.has_full && (next.stamp - w->at.stamp > turn || e->has_full))
			return false;
	} else {
		/* The padding before it is left out, too, and what was left out just before joins it. */
		lttng_walk_trim(w);
		from = w->at.rel;
	}
	/* What hit it may reach into its neighbours. Its length may be damaged, too: then more is left out than one event, and the
	 * clock may have wrapped. */
	const bool again = hit && end < w->limit && !next.has_full;
	const struct lttng_doubt doubt = {
		.torn_from = lttng_walk_torn(w), .torn_to = w->at.kept, .found_to = next.end, .found_again = again
	};
	if (!lttng_edits_add(w->edits, from, to - from, NULL, 0, rule, hit ? &doubt : NULL))
		return false;
	w->out.dropped++;
	w->at.rel = to;
	w->unsettled |= again;
	return true;
}

static bool patch_event(struct lttng_walk *w, uint64_t at, unsigned width, uint64_t value, unsigned rule,
			const struct lttng_doubt *doubt)
{
	uint8_t bytes[4];
	if (width == 2)
		store_u16(bytes, (uint16_t)value, w->in.coding->big_endian);
	else
		store_u32(bytes, (uint32_t)value, w->in.coding->big_endian);
	return lttng_edits_add(w->edits, at, width, bytes, width, rule, doubt);
}

/* Keeps the event, which was patched. False: it is a declaration that cannot be taken, and what was patched behind the first
 * `edits` is undone. */
static bool keep_patched(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, size_t edits, unsigned rule)
{
	struct finding *fd = NULL;

	if (lttng_event_declares(&w->in, e) && !lttng_metadata_take(t, w, e, &fd, &rule)) {
		lttng_edits_cut(w->edits, edits);
		return false;
	}
	lttng_event_keep(t, w, e);
	w->out.patched++;
	return true;
}

/* The size in the header is not that of the description. */
static bool mend_size(struct lttng_trace *t, struct lttng_walk *w, struct lttng_event *e)
{
	unsigned rule = lttng_defect_rule(w, e, EVENT_SIZE);
	uint64_t size = e->end - e->payload;
	uint64_t most = e->size_width == 2 ? LTTNG_SIZE_ESCAPE - 1u : UINT32_MAX;

	if (e->escaped && e->size_width == 2) /* 32 bits of size follow, and are right */
		size = most = LTTNG_SIZE_ESCAPE;

	size_t edits = w->edits->edits.count;
	/* What hit the size may reach into the values, and into the events before and behind. */
	struct lttng_doubt doubt = { .torn_from = lttng_walk_torn(w), .torn_to = e->end };
	doubt.late = doubt.found_again = e->end && lttng_damage_lapses(w, e, &doubt.found_to);
	if (e->end && size <= most && decodes(w, e->end, e->stamp) &&
	    patch_event(w, e->size_at, e->size_width, size, rule, &doubt) && keep_patched(t, w, e, edits, rule)) {
		w->out.resynced |= e->sized_end < e->end; /* or a text that lost its end took in what follows */
		return true;
	}
	return decodes(w, e->sized_end, e->stamp) && lttng_drop_event(w, e, e->sized_end, rule, true);
}

/* 2.x: a damaged size may be 0xFFFF, or no longer, and all behind it is misread. If the event is whole when it is read
 * the other way, its size is all that is wrong. */
static bool misread_escape(const struct lttng_walk *w, struct lttng_event *e)
{
	struct lttng_stream other = w->in;
	struct lttng_event o;

	if (e->form != LTTNG_FORM_FULL && e->form != LTTNG_FORM_SIZE)
		return false;
	other.escape = e->escaped ? ESCAPE_NEVER : ESCAPE_ALWAYS;
	enum lttng_defect defect = lttng_event_decode(&other, w->at.rel, w->limit, w->at.stamp, &o);
	if (defect != (e->escaped ? EVENT_SIZE : EVENT_OK) || !o.end || !decodes(w, o.end, o.stamp))
		return false;
	if (!e->escaped) {
		o.size = e->size;
		o.size_at -= 2;
		o.size_width = 2;
	}
	*e = o;
	return true;
}

/* Whether the event behind e has another time if the word of e is right, and not its full stamp. */
static bool rests_on_full(const struct lttng_walk *w, const struct lttng_event *e)
{
	const uint64_t other = w->at.stamp + ((e->word - w->at.stamp) & LTTNG_TIME_MASK);
	struct lttng_event next, alone;
	return e->end && lttng_event_decode(&w->in, e->end, w->limit, e->full, &next) == EVENT_OK &&
	       lttng_event_decode(&w->in, e->end, w->limit, other, &alone) == EVENT_OK && next.stamp != alone.stamp;
}

static bool mend_low_bits(struct lttng_trace *t, struct lttng_walk *w, struct lttng_event *e)
{
	const size_t edits = w->edits->edits.count;
	/* What hit the word may begin in front of it; and the full stamp may be what was hit. */
	struct lttng_doubt doubt = { .torn_from = lttng_walk_torn(w), .torn_to = e->end > w->at.kept ? e->end : w->at.kept };
	doubt.late = doubt.found_again = rests_on_full(w, e);
	if (e->end && (!e->size_width || e->end - e->payload == e->size) && e->full >= w->at.stamp && e->full <= w->end &&
	    decodes(w, e->end, e->full) &&
	    patch_event(w, e->start, 4, (e->word & ~LTTNG_TIME_MASK) | (e->full & LTTNG_TIME_MASK), LTTNG_RULE_full_stamp_low_bits,
			&doubt) &&
	    keep_patched(t, w, e, edits, LTTNG_RULE_full_stamp_low_bits))
		return true;
	return lttng_drop_event(w, e, e->end, LTTNG_RULE_full_stamp_low_bits, true);
}

/* The event crosses the end of the data. If it is whole within the block, the end is wrong: go on without one. */
static bool cross_end(struct lttng_trace *t, struct lttng_walk *w)
{
	struct lttng_event e;
	if (w->limit >= w->room || w->causes.cut)
		return false;
	if (lttng_event_decode(&w->in, w->at.rel, w->room, w->at.stamp, &e) != EVENT_OK || e.start >= w->limit ||
	    e.stamp > w->end || !e.word)
		return false;
	struct finding *fd = lttng_event_named(t, w, &e, LTTNG_RULE_data_end_mid_event, e.start, e.end,
					       "the data ends %llu bytes into event %s, which is whole and has %llu",
					       (unsigned long long)(w->limit - e.start), lttng_event_name(&e),
					       (unsigned long long)(e.end - e.start));
	lttng_walk_stop(w, fd, LTTNG_RULE_data_end_mid_event, false);
	w->open = true;
	w->out.end_moved = true;
	w->out.crossed = e.start;
	w->limit = w->room;
	w->bound = w->end;
	return true;
}

/* The event goes on behind the end of the data. */
static bool mend_cut(struct lttng_trace *t, struct lttng_walk *w, struct lttng_event *e, enum lttng_defect defect)
{
	const unsigned rule = lttng_defect_rule(w, e, defect);
	struct finding *fd = NULL;

	if (cross_end(t, w))
		return true;
	if (!w->causes.cut) {
		fd = lttng_defect_finding(t, w, e, defect);
		if (lttng_resync(t, w, e->start + 1, rule)) {
			lttng_walk_mended(t, w, fd);
			return true;
		}
	}
	lttng_walk_stop(w, fd, rule, true);
	/* A text that lost its end takes in what stands behind it, and other declarations with it. */
	if (w->file->metadata && fd)
		lttng_declarations_lose(&t->declared, fd);
	w->out.cut_known = !w->causes.cut && defect != EVENT_STRING_CUT;
	w->out.dropped += !w->causes.cut && defect != EVENT_HEADER_CUT;
	w->out.end_moved = true;
	w->out.torn = true;
	return false;
}

/* The event was mended, or else the next one is searched for. False: there is none, and the walk is over. */
static bool mend_or_search(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, struct finding *fd,
			   unsigned rule, bool mended)
{
	const bool goes_on = mended || lttng_resync(t, w, e->start + 1, rule);
	if (!goes_on) {
		lttng_walk_stop(w, fd, rule, true);
		w->out.torn = true;
	}
	lttng_walk_mended(t, w, fd);
	return goes_on;
}

bool lttng_mend(struct lttng_trace *t, struct lttng_walk *w, struct lttng_event *e, enum lttng_defect defect)
{
	struct finding *fd;
	bool mended = false;
	unsigned rule;

	if (misread_escape(w, e))
		defect = EVENT_SIZE;
	rule = lttng_defect_rule(w, e, defect);
	if (defect == EVENT_HEADER_CUT || defect == EVENT_PAYLOAD_CUT || defect == EVENT_STRING_CUT)
		return mend_cut(t, w, e, defect);
	fd = lttng_defect_finding(t, w, e, defect);
	if (defect == EVENT_SIZE)
		mended = mend_size(t, w, e);
	else if (defect == EVENT_LOW_BITS)
		mended = mend_low_bits(t, w, e);
	else
		mended = e->sized_end && lttng_size_leads_on(t, w, e) &&
			 lttng_drop_event(w, e, e->sized_end, rule, !t->declared.lost || t->declared.unseen);
	return mend_or_search(t, w, e, fd, rule, mended);
}

bool lttng_mend_wild(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	struct finding *fd =
		lttng_event_report(t, w, LTTNG_RULE_unannounced_wraps, e->start, e->end,
				   "the clock wraps here and in the next events, and no full stamp announces it: these are "
				   "not events");
	return mend_or_search(t, w, e, fd, LTTNG_RULE_unannounced_wraps, false);
}

bool lttng_mend_stray(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	const unsigned rule = LTTNG_RULE_unannounced_wraps;
	const struct edits *edits = &w->edits->edits;
	const uint64_t from = w->at.last;
	struct lttng_doubt doubt = { 0 };
	struct finding *fd = lttng_event_report(
		t, w, LTTNG_RULE_unannounced_wraps, from, w->at.kept,
		"the stamp %llu of this event is not between those of its neighbours, %llu and %llu",
		(unsigned long long)(w->at.stamp & LTTNG_TIME_MASK), (unsigned long long)(w->at.before & LTTNG_TIME_MASK),
		(unsigned long long)(e->stamp & LTTNG_TIME_MASK));
	/* What was changed in it, or left out behind it, goes with it. */
	for (size_t i = edits->count; i-- > 0 && edits->list[i].at >= from;) {
		w->out.patched -= edits->list[i].length != 0;
		if (w->edits->doubts[i].found_again && !doubt.found_again)
			doubt = w->edits->doubts[i];
	}
	lttng_edits_trim(w->edits, from);
	lttng_take_back(t, w);
	/* What made it stray may reach into its neighbours. */
	doubt.torn_from = lttng_walk_torn(w);
	doubt.torn_to = w->at.kept;
	doubt.found_to = e->end;
	doubt.stamp = w->at.stamp;
	if (!lttng_edits_add(w->edits, from, e->start - from, NULL, 0, rule, &doubt)) {
		lttng_walk_stop(w, fd, rule, true);
		return false;
	}
	w->at.rel = e->start;
	lttng_walk_mended(t, w, fd);
	return true;
}
