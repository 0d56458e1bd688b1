/* The steps of a walk: an event stays, the walk ends, something was mended. */
#include "formats/lttng/salvage/lttng_salvage.h"

void lttng_walk_begin(struct lttng_walk *w)
{
	w->at.stamp = w->at.before = w->begin;
	w->at.last = w->at.kept = w->at.rel;
	w->at.first_stamp = 0;
}

/* Heartbeats that carry a whole stamp. */
static bool carries_stamp(const struct lttng_coding *c, const struct lttng_event *e)
{
	return e->id == 3 && (c->layout->era == LTTNG_MARKERS || (c->layout->era == LTTNG_FACILITIES && c->layout->minor == 8));
}

/* To 1.0: *beat is the event with the full stamp that it carries. False: it is not such a heartbeat. */
static bool heartbeat_of(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e,
			 struct lttng_event *beat)
{
	const uint8_t *p = carries_stamp(&t->coding, e) && e->end - e->payload >= 8 ? lttng_stream_at(&w->in, e->payload, 8) : NULL;
	if (!p)
		return false;
	*beat = *e;
	beat->has_full = true;
	beat->full = load_u64(p, t->coding.big_endian);
	return true;
}

/* The fast path may take the next events of that type. Declarations and heartbeats that carry a stamp stay with the walk. */
static void event_learn(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	bool plain = t->coding.layout->era >= LTTNG_TRACE_MARKERS || e->id > 3 || (e->id == 2 && t->coding.heartbeat);
	bool doubted = t->s->plan && lttng_marker_of(e->type)->guessed;
	if (!w->file->metadata && e->type->shape.known && plain && !w->open && !doubted)
		lttng_fast_learn(t, w->file, lttng_marker_of(e->type));
}

/* Ticks between the stamp of a heartbeat and the one that it carries: the tracer reads the clock twice. */
#define SKEW_MAX (UINT32_C(1) << 24)
/* By less than this: not by one interrupt in between. More shows damage, to few of the bits. */
#define SKEW_USUAL (UINT32_C(1) << 16)

/* A wrap of the clock by so many ticks from one event to the next, where no full stamp announces it, may be none. */
#define LEAP_MIN (UINT64_C(1) << 20)

static const char why_untimely[] = "a stamp here is not within the times of the block";
static const char why_lap[] = "the clock wraps here, and no full stamp announces it: a stamp is damaged, or bytes are missing";
static const char why_back[] = "a full stamp behind these is lower than theirs: one of them is damaged";

static const char why_stray[] =
	"a part of another place may end here, where the clock leaps, not far behind one where it steps back";
static const char why_order[] = "the stamps step back here: one of them is damaged";
static const char why_beat[] = "the heartbeat before these carries a stamp that does not fit its own: one of them is damaged";
static const char why_skew[] = "the stamp of a heartbeat is not the one that it carries: one of them is damaged";

static const char why_escape[] =
	"the size of this event is given as 65,535 or more, and is less: it may be damaged, or what describes it";

/* Whether a full stamp shows that laps of the clock were counted before it that never were. */
static bool counts_back(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	if (t->coding.layout->era >= LTTNG_TRACE_MARKERS)
		return e->has_full && e->full < w->at.before;
	return t->coding.heartbeat && !w->file->compact && e->has_full && e->full < e->stamp && e->stamp - e->full > SKEW_MAX;
}

/* To 1.0 without heartbeats each event has a whole stamp, which is its own. */
static bool steps_back(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	return t->coding.layout->era <= LTTNG_MARKERS && !t->coding.heartbeat && e->has_full && e->full < w->at.before;
}

/* Whether the stamp of a heartbeat is further from the one that it carries. */
static bool is_skewed(const struct lttng_walk *w, const struct lttng_event *beat, uint32_t most)
{
	const uint32_t ahead = (uint32_t)beat->full - (uint32_t)beat->stamp;
	return !w->file->compact && (ahead < -ahead ? ahead : -ahead) > most;
}

/* Heartbeats that carry their own stamp, for one that does not, where damage is likelier than a second look at the clock. */
#define EXACT_SHARE 4u

static bool is_exact(const struct lttng_file *f)
{
	return f->beats_exact > EXACT_SHARE * f->beats_skewed;
}

static void count_beat(struct lttng_file *f, const struct lttng_event *beat)
{
	if ((uint32_t)beat->full == (uint32_t)beat->stamp)
		f->beats_exact++;
	else
		f->beats_skewed++;
}

/* Whether it is known already where: at a wrap that none announced. */
static bool is_explained(const struct lttng_walk *w, const struct lttng_event *e)
{
	const struct lttng_walk_laps *l = &w->laps;
	return l->was.doubtful && (!l->anchored || l->anchors[l->anchored - 1].stamp <= e->full);
}

/* Why an event that stays is doubtful; NULL: it is not. */
static const char *doubt_of(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	const char *guessed = lttng_marker_of(e->type)->guessed;
	if (guessed || w->open)
		return guessed;
	if (e->stamp > w->due || e->stamp < w->floor || (e->has_full && e->full < w->begin))
		return why_untimely;
	if (t->coding.layout->era <= LTTNG_MARKERS && e->escaped && e->end - e->payload < LTTNG_SIZE_ESCAPE)
		return why_escape;
	if (counts_back(t, w, e))
		return is_explained(w, e) ? NULL : why_back;
	if (steps_back(t, w, e))
		return why_order;
	if (w->laps.skewed)
		return why_beat;
	if (t->coding.heartbeat && carries_stamp(&t->coding, e) && e->has_full &&
	    is_skewed(w, e, is_exact(w->file) ? 0 : SKEW_USUAL))
		return why_skew;
	return w->laps.doubtful ? why_lap : NULL;
}

/* Whether the event at `rel` is a lap later behind one of `stamp` than behind one of `before`. */
static bool is_lap_later(const struct lttng_walk *w, uint64_t rel, uint64_t limit, uint64_t before, uint64_t stamp)
{
	struct lttng_event e, alone;
	return lttng_event_decode(&w->in, rel, limit, stamp, &e) == EVENT_OK &&
	       lttng_event_decode(&w->in, rel, limit, before, &alone) == EVENT_OK && alone.stamp < e.stamp;
}

bool lttng_event_lapses(const struct lttng_walk *w, uint64_t rel, uint64_t limit, uint64_t stamp, uint64_t *end)
{
	struct lttng_event e;

	*end = 0;
	if (lttng_event_decode(&w->in, rel, limit, stamp, &e) != EVENT_OK)
		return false;
	*end = e.end;
	return !e.has_full && is_lap_later(w, e.end, limit, stamp, e.stamp);
}

bool lttng_damage_lapses(const struct lttng_walk *w, const struct lttng_event *e, uint64_t *next_end)
{
	const bool next = lttng_event_lapses(w, e->end, w->limit, e->stamp, next_end);
	return next || (!e->has_full && is_lap_later(w, e->end, w->limit, w->at.stamp, e->stamp));
}

uint64_t lttng_walk_before(const struct lttng_walk *w, uint64_t rel)
{
	const uint64_t align = lttng_event_align(w->in.coding, w->in.compact), reach = align ? align : 1;
	return rel >= w->in.coding->layout->size + reach ? rel - reach : rel;
}

/* Events that stay, and that are doubtful. before: the start of the event before it; lapped: times are wrong from there on. */
static void note_doubt(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, uint64_t before, bool lapped)
{
	const char *why = doubt_of(t, w, e);
	uint64_t from = why == why_lap && lapped && w->edits ? lttng_walk_before(w, lttng_laps_leap(w, before)) : e->start;
	enum tracemend_status status = TM_OK;
	const bool lapses = t->coding.layout->era >= LTTNG_TRACE_MARKERS || t->coding.heartbeat;
	const bool first = why == why_untimely && w->untimely != before;
	/* Which of the events before it brought the wrong time, or is the first of another block, is not known. */
	if (why == why_back || (first && lapses))
		from = lttng_laps_from(w, e);
	const uint64_t ahead = first && lapses ? lttng_laps_ahead(w, e) : UINT64_MAX;
	if (ahead != UINT64_MAX && lttng_walk_before(w, ahead) < from)
		from = lttng_walk_before(w, ahead);
	/* An event of a guessed type may be one that was hit, from the end of the one before it on. */
	if (lttng_marker_of(e->type)->rare && lttng_walk_before(w, e->start) < from)
		from = lttng_walk_before(w, e->start);
	if (why == why_lap && w->laps.misled && lttng_walk_before(w, w->laps.unsure) < from)
		from = lttng_walk_before(w, w->laps.unsure);
	if ((why == why_order || why == why_skew || first) && lttng_walk_before(w, before) < from)
		from = lttng_walk_before(w, before);
	/* A full stamp within them ends it. */
	w->untimely = why == why_untimely && !(e->has_full && e->full >= w->begin && e->full <= w->due) ? e->start : 0;
	if (lapses)
		lttng_laps_anchor(w, e);
	if (why && w->edits)
		status = lttng_edits_guess(w->edits, from, e->end, lttng_event_align(&t->coding, w->file->compact), why);
	if (status != TM_OK)
		t->status = status;
}

/* Behind a full stamp that steps back by so many ticks may be a part of another place, of up to so many bytes. */
#define STRAY_MIN (UINT64_C(1) << 21)
#define STRAY_SPAN (LTTNG_PAGE + 512u)

/* Where such a part ends, the clock leaps, and an event may be one half of two. */
static void note_stray(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, uint64_t before)
{
	if (t->coding.layout->era < LTTNG_TRACE_MARKERS || w->open || w->file->metadata || !w->edits)
		return;
	if (e->has_full && e->full + STRAY_MIN < w->at.before)
		w->strayed = e->start;
	else if (w->strayed && (e->has_full || e->start - w->strayed > STRAY_SPAN))
		w->strayed = 0;
	else if (w->strayed && e->stamp - w->at.before >= LEAP_MIN) {
		enum tracemend_status status = lttng_edits_guess(w->edits, lttng_walk_before(w, before), e->end,
								 lttng_event_align(&t->coding, w->file->compact), why_stray);
		if (status != TM_OK)
			t->status = status;
	}
}

/* The event may be taken back, and what was said of those before it with it. */
static void remember_doubts(struct lttng_walk *w, const struct lttng_event *e)
{
	if (!w->edits)
		return;
	w->was.rel = e->start;
	w->was.guesses = w->edits->guess_count;
	w->was.last = lttng_edits_guessed(w->edits);
	w->was.untimely = w->untimely;
}

uint64_t lttng_lap(const struct lttng_coding *c)
{
	return c->layout->era >= LTTNG_TRACE_MARKERS ? LTTNG_TIME_MASK : UINT32_MAX;
}

/* A full stamp tells whether laps of the clock were lost since the walk resynchronised: one more would have brought the event
 * before behind it. */
static void settle(const struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	const bool sure = e->full >= w->at.stamp && e->full - w->at.stamp <= lttng_lap(&t->coding);
	for (size_t i = w->edits ? w->edits->edits.count : 0; i-- > 0;) {
		struct lttng_doubt *d = &w->edits->doubts[i];
		if (d->settled)
			break;
		/* A heartbeat has its own stamp from the events before it. */
		d->settled = t->coding.layout->era >= LTTNG_TRACE_MARKERS ? e->start : e->end;
		d->sure = sure && !d->late;
	}
	w->unsettled = false;
}

/* Behind damage, whose bytes may have been those of another place: the low bits of an event fall, and not as a clock that runs from
 * its end to its start. A lap too much is counted from here on, and no later stamp that is higher shows it. */
static void watch_leap(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	if (t->coding.layout->era < LTTNG_TRACE_MARKERS || e->has_full || e->stamp - w->at.stamp < LEAP_MIN ||
	    !((e->stamp ^ w->at.stamp) >> LTTNG_TIME_BITS))
		return;
	for (size_t i = w->edits ? w->edits->edits.count : 0; i-- > 0 && !w->edits->doubts[i].settled;)
		w->edits->doubts[i].late = true;
}

void lttng_event_keep(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	const uint64_t before = w->at.last;
	const bool lapped = lttng_laps_keep(t, w, e);
	struct lttng_event beat;
	const bool beats = heartbeat_of(t, w, e, &beat);
	const struct lttng_event *timed = beats ? &beat : e;

	lttng_event_judge(t, w, e, w->at.stamp);
	if (t->s->outline)
		lttng_outline_event(t, &w->in, e);
	if (t->s->sink)
		lttng_event_give(t, w, e);
	if (w->unsettled)
		watch_leap(t, w, e);
	if (w->unsettled && timed->has_full)
		settle(t, w, timed);
	if (beats)
		w->laps.skewed = is_skewed(w, &beat, SKEW_MAX);
	if (!w->at.events)
		w->at.first_stamp = e->stamp;
	w->at.events++;
	w->at.last = e->start;
	w->at.rel = w->at.kept = e->end;
	w->at.before = w->at.stamp;
	if (e->stamp > w->end && w->at.stamp <= w->end)
		w->at.timely = w->at.stamp;
	w->at.stamp = e->stamp;
	if (e->type) {
		lttng_marker_of(e->type)->used = true;
		event_learn(t, w, e);
		if (t->s->plan) {
			remember_doubts(w, e);
			note_doubt(t, w, timed, before, lapped);
			note_stray(t, w, e, before);
		}
	}
	if (beats) {
		w->at.stamp = beat.full;
		count_beat(w->file, &beat);
	}
}

void lttng_walk_stop(struct lttng_walk *w, struct finding *fd, unsigned rule, bool broken)
{
	w->out.broken = broken;
	w->out.finding = fd ? fd : w->causes.block;
	w->out.rule = rule;
}

void lttng_walk_trim(struct lttng_walk *w)
{
	lttng_edits_trim(w->edits, w->at.kept);
	w->at.rel = w->at.kept;
}

uint64_t lttng_walk_torn(const struct lttng_walk *w)
{
	/* The last event may have been taken back. */
	return w->at.last < w->at.kept ? w->at.last : lttng_walk_before(w, w->at.kept);
}

void lttng_walk_mended(struct lttng_trace *t, struct lttng_walk *w, struct finding *fd)
{
	if (w->file->metadata)
		lttng_declarations_lose(&t->declared, fd);
	w->causes.mended = fd;
	w->causes.mended_to = w->at.rel;
}
