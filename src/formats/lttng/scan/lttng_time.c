/* Stamps of blocks, and counters of losses. */
#include "formats/lttng/scan/lttng_block.h"

static void judge_begin(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	uint64_t begin = b->h.v[LF_BEGIN];

	if (!b->number && !f->flight && begin != t->constants.begin) {
		lttng_field_report(t, f, b, LTTNG_RULE_first_begin_differs, LF_BEGIN,
				   "the file begins at %llu, and most files of the trace at %llu", (unsigned long long)begin,
				   (unsigned long long)t->constants.begin);
		/* Blocks may be missing in front of it: that is not to be called whole. */
		if (t->s->plan && begin > t->constants.begin)
			plan_lost(t->s->plan, 0, TM_UNKNOWN_COUNT);
	}
	if (!b->number && !f->flight && lttng_has(t->coding.layout, LF_TSC) && begin != b->h.v[LF_TSC]) {
		lttng_field_report(t, f, b, LTTNG_RULE_start_tsc_mismatch, LF_BEGIN,
				   "the first block begins at %llu, and start_tsc is %llu", (unsigned long long)begin,
				   (unsigned long long)b->h.v[LF_TSC]);
	}
	if (!f->has_last || f->noted_order)
		return;
	if (begin < f->last.v[LF_BEGIN]) {
		f->noted_order = true;
		if (f->noted_session)
			return;
		lttng_field_report(t, f, b, LTTNG_RULE_blocks_not_sorted, LF_BEGIN,
				   "the block begins at %llu, and the one before it at %llu", (unsigned long long)begin,
				   (unsigned long long)f->last.v[LF_BEGIN]);
	} else if (begin < f->last.v[LF_END]) {
		f->noted_order = true;
		lttng_field_report(t, f, b, LTTNG_RULE_blocks_overlap, LF_BEGIN,
				   "the block begins at %llu, and the one before it ends at %llu", (unsigned long long)begin,
				   (unsigned long long)f->last.v[LF_END]);
	}
}

void lttng_time_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, const struct lttng_walk *w)
{
	const uint64_t *v = b->h.v;

	/* What follows from an open or lost header is none of its own. */
	if (b->open || b->rebuilt)
		return;
	/* A begin that was made up is not in the file. */
	if (!b->begin_lost)
		judge_begin(t, f, b);
	if (f->has_last && !b->begin_lost && !f->noted_switch && w->at.events && v[LF_BEGIN] == f->last.v[LF_END] &&
	    w->at.first_stamp != v[LF_BEGIN]) {
		f->noted_switch = true;
		lttng_field_report(t, f, b, LTTNG_RULE_block_switch_first_event, LF_BEGIN,
				   "the block follows at %llu, and its first event is at %llu", (unsigned long long)v[LF_BEGIN],
				   (unsigned long long)w->at.first_stamp);
	}
	for (unsigned i = 0; i < 2 && lttng_has(t->coding.layout, LF_BEGIN_FREQ) && !f->noted_freq; i++) {
		enum lttng_field field = i ? LF_END_FREQ : LF_BEGIN_FREQ;
		if (!v[field] || v[field] == t->constants.want.v[LF_FREQ])
			continue;
		f->noted_freq = true;
		lttng_field_report(t, f, b, LTTNG_RULE_block_freq_differs, field, "%s is %llu, and start_freq %llu",
				   lttng_field_names[field], (unsigned long long)v[field],
				   (unsigned long long)t->constants.want.v[LF_FREQ]);
	}
	if (t->coding.layout->era <= LTTNG_MARKERS && t->coding.heartbeat && !b->bad_end && v[LF_END] > w->at.stamp &&
	    v[LF_END] - w->at.stamp > UINT32_MAX) {
		lttng_field_report(t, f, b, LTTNG_RULE_wrap_without_heartbeat, LF_END,
				   "%llu ticks pass without an event before the end of the block",
				   (unsigned long long)(v[LF_END] - w->at.stamp));
	}
}

void lttng_losses_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	for (unsigned i = 0; i < 2; i++) {
		enum lttng_field field = i ? LF_CORRUPT : LF_EVENTS_LOST;
		if (!lttng_has(t->coding.layout, field))
			continue;
		uint32_t now = (uint32_t)b->h.v[field], before = f->has_last ? (uint32_t)f->last.v[field] : 0;
		if (b->rebuilt) {
			b->h.v[field] = before;
			continue;
		}
		if (f->has_last && (int32_t)(now - before) < 0) {
			if (!b->open) {
				lttng_field_report(t, f, b, LTTNG_RULE_events_lost_decreases, field,
						   "%s is %u, and was %u in the block before", lttng_field_names[field], now,
						   before);
			}
			b->h.v[field] = before;
			continue;
		}
		if (now == before || b->open)
			continue;
		if (i)
			t->totals.corrupt_blocks += now - before;
		else
			t->totals.lost_events += now - before;
		lttng_field_report(t, f, b, i ? LTTNG_RULE_subbuf_corrupt : LTTNG_RULE_events_lost, field,
				   i ? "%u corrupt blocks were counted" : "%u events were lost", now - before);
	}
}
