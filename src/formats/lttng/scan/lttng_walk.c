/* Walking the events of a block: the loop, and where it ends. */
#include "formats/lttng/scan/lttng_walk.h"

/* So many zero bytes where an event should begin are no events. In 2.x a word of zeros is type 0 at one of 2^27 ticks, with a
 * payload of zeros; the few bits of compact words repeat sooner. */
#define ZEROS_MIN 16u
#define ZEROS_MIN_COMPACT 64u

void lttng_event_keep(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e)
{
	lttng_event_judge(t, k, e, k->stamp);
	if (t->scan->outline)
		lttng_outline_event(t, k, e);
	if (!k->events)
		k->first_stamp = e->stamp;
	k->events++;
	k->last = e->start;
	k->rel = k->kept = e->end;
	k->before = k->stamp;
	k->stamp = e->stamp;
	if (e->marker) {
		e->marker->used = true;
		/* Declarations and heartbeats that carry a stamp are looked at one by one. */
		bool plain = t->layout->era >= LTTNG_TRACE_MARKERS || e->id > 3 || (e->id == 2 && t->heartbeat);
		if (!k->file->metadata && e->marker->shape.known && plain && !k->open)
			lttng_fast_learn(t, k->file, e->marker, e->id);
	}
	/* Heartbeats that carry a whole stamp. */
	bool full = (t->layout->era == LTTNG_MARKERS && e->id == 3) ||
		    (t->layout->era == LTTNG_FACILITIES && t->layout->minor == 8 && e->id == 3);
	const uint8_t *p = full && e->end - e->payload >= 8 ? window_at(&t->w, k->base + e->payload, 8) : NULL;
	if (p)
		k->stamp = load_u64(p, t->big_endian);
}

void lttng_walk_stop(struct lttng_walk *k, struct finding *fd, unsigned rule, bool broken)
{
	k->broken = broken;
	k->finding = fd ? fd : k->cause;
	k->rule = rule;
}

enum zeros { ZEROS_NONE, ZEROS_PASSED, ZEROS_END };

/* Zeros where an event should begin: none, or passed over, or the walk is over. */
static enum zeros walk_zeros(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e)
{
	uint64_t zeros = window_skip_zeros(&t->w, k->base + e->start) - k->base;
	uint64_t run = (zeros < k->limit ? zeros : k->limit) - e->start;
	struct finding *fd = NULL;
	bool to_end = zeros >= k->limit;

	/* A declaration of zeros declares nothing. */
	uint64_t header = t->layout->era <= LTTNG_MARKERS && !t->heartbeat ? 12 : 8;
	uint64_t least = k->file->metadata ? header : k->file->compact ? ZEROS_MIN_COMPACT : ZEROS_MIN;
	if (run < least && !(to_end && (e->stamp > k->end || k->open)))
		return ZEROS_NONE;
	if (k->open)
		return ZEROS_END;
	unsigned rule = to_end ? LTTNG_RULE_data_end_in_padding : LTTNG_RULE_zero_hole;
	struct finding *before = k->mended && k->rel == k->mended_to ? k->mended
				 : k->rel == t->layout->size	     ? k->header_cause
								     : NULL;
	if (before) {
		/* The event or the header before reaches into the hole. */
		finding_explains(before, 1);
		fd = before;
	} else {
		fd = to_end ? lttng_event_report(t, k, LTTNG_RULE_data_end_in_padding, e->start, e->start + run,
						 "the last %llu bytes of the data are zeros", (unsigned long long)run)
			    : lttng_event_report(t, k, LTTNG_RULE_zero_hole, e->start, e->start + run,
						 "%llu zero bytes where an event should begin", (unsigned long long)run);
	}
	if (!to_end && lttng_resync(t, k, zeros, rule)) {
		lttng_note_mended(t, k, fd);
		return ZEROS_PASSED;
	}
	lttng_walk_stop(k, fd, rule, true);
	k->end_moved = true;
	k->torn = true;
	return ZEROS_END;
}

/* Rules for blocks whose end is not known: whether the event is still one of this block. */
static bool open_accepts(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e)
{
	if (e->start >= k->stale || e->stamp > k->bound || (e->has_full && (e->full < k->begin || e->full < k->stamp)))
		return false;
	return !lttng_seen_test(t, k, e);
}

/* A hole that took the header may have taken events, too: those behind it are looked for, although it is not known where they end.
 */
static void skip_lost_start(struct lttng_trace *t, struct lttng_walk *k)
{
	uint64_t zeros = window_skip_zeros(&t->w, k->base + k->rel) - k->base;
	if (t->w.status != TM_OK || zeros == k->rel || zeros >= k->limit)
		return;
	if (lttng_resync(t, k, zeros, LTTNG_RULE_zero_hole))
		lttng_note_mended(t, k, k->header_cause);
}

void lttng_walk_events(struct lttng_trace *t, struct lttng_walk *k)
{
	bool old = t->layout->era <= LTTNG_MARKERS;
	bool fast = !t->scan->outline && !k->file->compact && !k->file->metadata;

	k->stamp = k->before = k->begin;
	k->last = k->kept = k->rel;
	k->first_stamp = 0;
	if (k->headless)
		skip_lost_start(t, k);
	while (t->status == TM_OK) {
		struct lttng_event e;
		if (fast && !k->open)
			lttng_fast(t, k);
		enum lttng_defect defect = lttng_event_decode(t, k, k->rel, k->limit, k->stamp, &e);
		if (t->w.status != TM_OK)
			t->status = t->w.status;
		if (defect == EVENT_END || t->status != TM_OK)
			break;
		enum zeros zeros = !e.word && defect != EVENT_HEADER_CUT ? walk_zeros(t, k, &e) : ZEROS_NONE;
		if (zeros == ZEROS_END)
			break;
		if (zeros == ZEROS_PASSED)
			continue;
		if (k->open && (defect != EVENT_OK || !open_accepts(t, k, &e)))
			break;
		if (defect != EVENT_OK) {
			if (!lttng_mend(t, k, &e, defect))
				break;
			continue;
		}
		if (lttng_metadata_is_declaration(t, k, &e)) {
			/* A hole behind it may have cut its last text short. Where the data should end with the block, the hole is
			 * its padding. */
			struct lttng_event hole = { .start = lttng_align(e.end, old ? t->alignment : lttng_widest_align(t)),
						    .stamp = e.stamp };
			bool padding = k->limit == k->room && window_skip_zeros(&t->w, k->base + hole.start) >= k->base + k->limit;
			bool cut = hole.start < k->limit && !k->open && !padding && !lttng_metadata_is_whole(t, k, &e);
			zeros = cut ? walk_zeros(t, k, &hole) : ZEROS_NONE;
			if (zeros == ZEROS_END)
				break;
			if (zeros == ZEROS_PASSED)
				continue;
			struct finding *fd = NULL;
			unsigned rule = LTTNG_RULE_metadata_payload_length;
			if (!lttng_metadata_take(t, k, &e, &fd, &rule)) {
				if (rule == LTTNG_RULE_metadata_payload_length)
					lttng_metadata_lose(t, fd);
				if (t->status == TM_OK && (lttng_drop_event(t, k, &e, e.end, rule) ||
							   (!k->open && lttng_resync(t, k, e.start + 1, rule))))
					continue;
				lttng_walk_stop(k, fd, rule, true);
				break;
			}
		}
		if (k->open)
			lttng_seen_add(t, k, &e);
		lttng_event_keep(t, k, &e);
	}
	if (k->broken || k->end_moved || k->open)
		lttng_trim_edits(t, k);
}
