/* Walking the events of a block: the loop, and where it ends. */
#include "formats/lttng/repair/lttng_repair.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* So many zero bytes where an event should begin are not events. In 2.x a word of zeros is type 0 at one of 2^27 ticks, with a
 * payload of zeros; the few bits of compact words repeat sooner. */
#define ZEROS_MIN 16u
#define ZEROS_MIN_COMPACT 64u

/* What the walk does next. */
enum step { STEP_TAKE, STEP_PASSED, STEP_END };

/* Zero bytes that cannot be an event. */
static uint64_t least_zeros(const struct lttng_trace *t, const struct lttng_walk *w)
{
	/* A declaration of zeros declares nothing. */
	if (w->file->metadata)
		return t->coding.layout->era <= LTTNG_MARKERS && !t->coding.heartbeat ? 12 : 8;
	return w->file->compact ? ZEROS_MIN_COMPACT : ZEROS_MIN;
}

/* Whether what follows such an event comes before it, or is zeros as well: then it is not one. */
static bool next_is_earlier(const struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_event next;
	enum lttng_defect defect = e->end ? lttng_event_decode(&w->in, e->end, w->limit, w->at.stamp, &next) : EVENT_MALFORMED;
	if (defect == EVENT_END)
		return false;
	return defect != EVENT_OK || !next.word || next.stamp < e->stamp;
}

/* Data files of 2.x: a hole over an event word leaves an event of type 0 at the next whole lap of the clock, and brings all behind
 * it a lap too late. True: it cannot be, by the end of the block or by the next event. */
static bool is_zeroed_word(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	if (t->coding.layout->era < LTTNG_TRACE_MARKERS || w->file->metadata || w->open || e->stamp <= w->at.stamp)
		return false;
	return e->stamp > w->end || next_is_earlier(w, e);
}

/* Reports zeros, unless they follow from what was reported before. */
static struct finding *zeros_finding(struct lttng_trace *t, struct lttng_walk *w, uint64_t from, uint64_t run, bool to_end)
{
	struct finding *before = w->causes.mended && w->at.rel == w->causes.mended_to ? w->causes.mended
				 : w->at.rel == t->coding.layout->size		      ? w->causes.header
										      : NULL;
	if (before) {
		/* The event or the header before reaches into the hole. */
		finding_explains(before, 1);
		return before;
	}
	if (to_end)
		return lttng_event_report(t, w, LTTNG_RULE_data_end_in_padding, from, from + run,
					  "the last %llu bytes of the data are zeros", (unsigned long long)run);
	return lttng_event_report(t, w, LTTNG_RULE_zero_hole, from, from + run, "%llu zero bytes where an event should begin",
				  (unsigned long long)run);
}

/* Zeros where an event should begin: none, or passed over, or the walk is over. */
static enum step walk_zeros(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	uint64_t zeros = window_skip_zeros_to(&t->window, w->in.base + e->start, w->in.base + w->limit) - w->in.base;
	uint64_t run = (zeros < w->limit ? zeros : w->limit) - e->start;
	bool to_end = zeros >= w->limit;

	if (to_end && w->padded)
		return STEP_END;
	if (run < least_zeros(t, w) && !(to_end && (e->stamp > w->end || w->open)) && !is_zeroed_word(t, w, e))
		return STEP_TAKE;
	if (w->open)
		return STEP_END;
	unsigned rule = to_end ? LTTNG_RULE_data_end_in_padding : LTTNG_RULE_zero_hole;
	struct finding *fd = zeros_finding(t, w, e->start, run, to_end);
	/* The word of the next event may begin with zeros. */
	uint64_t from = run > sizeof(e->word) + 3 ? zeros - 3 : e->start + sizeof(e->word);
	if (!to_end && lttng_resync(t, w, from < zeros ? from : zeros, rule)) {
		lttng_walk_mended(t, w, fd);
		return STEP_PASSED;
	}
	lttng_walk_stop(w, fd, rule, true);
	w->out.end_moved = true;
	w->out.torn = true;
	return STEP_END;
}

/* Rules for blocks whose end is not known: whether the event is still one of this block. */
static bool open_accepts(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	if (e->start >= w->stale || e->stamp > w->bound || (e->has_full && (e->full < w->begin || e->full < w->at.stamp)))
		return false;
	return !lttng_seen_test(t, w, e);
}

/* A hole over the header may reach over events, too: searches those behind it, although it is not known where they end. */
static void skip_lost_start(struct lttng_trace *t, struct lttng_walk *w)
{
	uint64_t zeros = window_skip_zeros_to(&t->window, w->in.base + w->at.rel, w->in.base + w->limit) - w->in.base;
	if (t->window.status != TM_OK || zeros == w->at.rel || zeros >= w->limit)
		return;
	if (lttng_resync(t, w, zeros, LTTNG_RULE_zero_hole))
		lttng_walk_mended(t, w, w->causes.header);
}

/* Damage to the header, which lost the end of the data, may have reached the first events, too, or have moved them: searches those
 * behind it. */
static void skip_torn_start(struct lttng_trace *t, struct lttng_walk *w)
{
	struct lttng_event e;
	const enum lttng_defect defect = lttng_event_decode(&w->in, w->at.rel, w->limit, w->at.stamp, &e);

	if (defect == EVENT_OK || defect == EVENT_END || t->window.status != TM_OK)
		return;
	if (lttng_resync(t, w, w->at.rel + 1, lttng_defect_rule(w, &e, defect)))
		lttng_walk_mended(t, w, w->causes.header);
}

/* A hole right behind a declaration may have cut its last text short. Where the data should end with the block, the hole is its
 * padding. */
static enum step declaration_zeros(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	bool old = t->coding.layout->era <= LTTNG_MARKERS;
	struct lttng_event hole = { .start = lttng_align(e->end, old ? t->coding.alignment : lttng_widest_align(&t->coding)),
				    .stamp = e->stamp };

	if (w->limit == w->room &&
	    window_skip_zeros_to(&t->window, w->in.base + hole.start, w->in.base + w->limit) >= w->in.base + w->limit)
		return STEP_TAKE;
	if (hole.start >= w->limit || w->open || lttng_declaration_is_whole(&w->in, e))
		return STEP_TAKE;
	return walk_zeros(t, w, &hole);
}

/* A declaration whose text goes on behind its end is left out. */
static enum step walk_cut_text(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	const unsigned rule = LTTNG_RULE_metadata_payload_length;
	if (w->open || !lttng_text_is_cut(t, w, e))
		return STEP_TAKE;
	struct finding *fd = lttng_event_named(t, w, e, LTTNG_RULE_metadata_payload_length, e->start, e->end,
					       "the text of this declaration ends here, and the rest of it stands behind");
	if (lttng_resync(t, w, e->end, rule)) {
		lttng_walk_mended(t, w, fd);
		return STEP_PASSED;
	}
	lttng_declarations_lose(&t->declared, fd);
	lttng_walk_stop(w, fd, rule, true);
	w->out.torn = true;
	return STEP_END;
}

/* Takes a declaration in, or leaves it out. */
static enum step walk_declaration(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	enum step zeros = declaration_zeros(t, w, e);
	if (zeros == STEP_TAKE)
		zeros = walk_cut_text(t, w, e);
	struct finding *fd = NULL;
	unsigned rule = LTTNG_RULE_metadata_payload_length;
	uint64_t next;

	if (zeros != STEP_TAKE || lttng_metadata_take(t, w, e, &fd, &rule))
		return zeros;
	if (rule == LTTNG_RULE_metadata_payload_length)
		lttng_declarations_lose(&t->declared, fd);
	/* Damage to its text may have moved its end into the next one, whose stamp then brings all behind it a lap too late. */
	const bool hit = lttng_event_lapses(w, e->end, w->limit, w->at.stamp, &next);
	if (t->status == TM_OK &&
	    (lttng_drop_event(w, e, e->end, rule, hit) || (!w->open && lttng_resync(t, w, e->start + 1, rule))))
		return STEP_PASSED;
	lttng_walk_stop(w, fd, rule, true);
	return STEP_END;
}

/* One event, at w->at.rel. STEP_TAKE: it stays. */
static enum step walk_event(struct lttng_trace *t, struct lttng_walk *w, struct lttng_event *e)
{
	enum lttng_defect defect = lttng_event_decode(&w->in, w->at.rel, w->limit, w->at.stamp, e);

	if (t->window.status != TM_OK)
		t->status = t->window.status;
	if (defect == EVENT_END || t->status != TM_OK)
		return STEP_END;
	enum step zeros = !e->word && defect != EVENT_HEADER_CUT ? walk_zeros(t, w, e) : STEP_TAKE;
	if (zeros != STEP_TAKE)
		return zeros;
	if (w->open && (defect != EVENT_OK || !open_accepts(t, w, e)))
		return STEP_END;
	if (defect != EVENT_OK)
		return lttng_mend(t, w, e, defect) ? STEP_PASSED : STEP_END;
	if (lttng_laps_stray(t, w, e))
		return lttng_mend_stray(t, w, e) ? STEP_PASSED : STEP_END;
	if (lttng_laps_wild(t, w, e))
		return lttng_mend_wild(t, w, e) ? STEP_PASSED : STEP_END;
	return lttng_event_declares(&w->in, e) ? walk_declaration(t, w, e) : STEP_TAKE;
}

void lttng_walk_events(struct lttng_trace *t, struct lttng_walk *w)
{
	bool fast = !t->s->slow && !t->s->outline && !w->file->metadata;
	enum step step = STEP_TAKE;

	lttng_walk_begin(w);
	if (w->headless)
		skip_lost_start(t, w);
	else if (w->endless)
		skip_torn_start(t, w);
	while (step != STEP_END && t->status == TM_OK) {
		struct lttng_event e;
		if (w->repeat.length)
			lttng_repeat_skip(w);
		if (fast && (!w->repeat.length || w->repeated) && !w->open && !w->unsettled && !lttng_laps_pending(w) &&
		    !w->laps.guessed && !w->strayed &&
		    !((w->laps.doubtful || w->laps.skewed || w->at.stamp < w->floor) && t->s->plan))
			lttng_fast(t, w);
		step = walk_event(t, w, &e);
		if (step != STEP_TAKE)
			continue;
		if (w->open)
			lttng_seen_add(t, w, &e);
		lttng_event_keep(t, w, &e);
	}
	if (w->out.broken || w->out.end_moved || w->open)
		lttng_walk_trim(w);
}
