/* One block: its header is judged, its events are walked, and what is to become of it is decided. */
#include "formats/lttng/repair/lttng_repair.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Events that must follow each other in a block without a header before it counts as one. A declaration has texts, and is enough.
 */
#define REBUILT_MIN 4u

/* ---- stamps ---- */

static void judge_end(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	uint64_t begin = b->h.v[LF_BEGIN], end = b->h.v[LF_END];

	b->bad_end |= b->rebuilt || end < begin;
	if (!(b->rebuilt || end < begin) || b->rebuilt || b->open)
		return;
	lttng_field_report(t, f, b, end ? LTTNG_RULE_end_before_begin : LTTNG_RULE_end_stamp_zero, LF_END,
			   "the block begins at %llu and ends at %llu", (unsigned long long)begin, (unsigned long long)end);
}

/* The begin of a block by what comes before it. */
static uint64_t begin_before(const struct lttng_trace *t, const struct lttng_file *f)
{
	const uint64_t low = f->has_last ? f->last.v[LF_END] : t->constants.begin;
	return low <= LTTNG_CLOCK_MAX ? low : 0;
}

/* A begin of 0 of a block with events, where the clock of the trace runs already. In a header that is damaged otherwise, see
 * mend_begin(). */
static bool begins_at_zero(const struct lttng_trace *t, const struct lttng_file *f, const struct lttng_block *b)
{
	return !b->h.v[LF_BEGIN] && begin_before(t, f) && !b->open && !b->errors && !f->noted_session &&
	       b->data_end > t->coding.layout->size;
}

/* Stamps that no clock reaches. */
static void judge_clock(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	static const enum lttng_field fields[] = { LF_BEGIN, LF_END };

	for (unsigned i = 0; i < 2 && !b->rebuilt; i++) {
		const enum lttng_field field = fields[i];
		const bool zero = !i && begins_at_zero(t, f, b);
		if ((b->h.v[field] <= LTTNG_CLOCK_MAX && !zero) || (i && b->open))
			continue;
		lttng_field_report(t, f, b, LTTNG_RULE_stamp_beyond_clocks, field, "the block %s at %llu, %s",
				   i ? "ends" : "begins", (unsigned long long)b->h.v[field],
				   zero ? "and the clock of the trace runs already" : "which no clock reaches");
		b->begin_lost |= !i;
		b->bad_end |= i == 1;
	}
	if (b->begin_lost)
		b->h.v[LF_BEGIN] = begin_before(t, f);
}

/* Where bytes came into the stamps of the first block, or right behind them, the header is found behind where it was, and the
 * stamps are other ones. A hole over the first blocks may reach into the stamps of the next one. */
static bool mend_pushed(struct lttng_trace *t, const struct lttng_file *f, struct lttng_block *b)
{
	const bool pushed = !f->flight && b->frame->offset < t->coding.layout->size, hole = !b->h.v[LF_BEGIN] && f->cause;

	if (!b->number || f->has_last || !(pushed || hole) || b->h.v[LF_BEGIN] == t->constants.begin)
		return false;
	if (!b->errors) {
		b->errors = true;
		b->rule = LTTNG_RULE_bad_magic_first_block;
		b->cause = f->cause;
	}
	b->begin_lost = true;
	b->h.v[LF_BEGIN] = t->constants.begin;
	b->bad_end |= b->h.v[LF_END] < t->constants.begin;
	return true;
}

/* In a header that is damaged: a begin stamp behind that of the next block, or behind the own end, which fits, is the one that is
 * wrong. The events count from the end of the block before, then. */
static void mend_begin(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	uint64_t begin = b->h.v[LF_BEGIN], end = b->h.v[LF_END], low = begin_before(t, f);
	struct lttng_header next;

	if (b->rebuilt || b->open || mend_pushed(t, f, b) || !b->errors || begin == low)
		return;
	/* A hole over the header: no clock begins there. */
	if (!begin && low) {
		b->begin_lost = true;
		b->h.v[LF_BEGIN] = low;
		b->bad_end |= end < low;
		return;
	}
	bool bound = b->frame->next_sound && lttng_header_at(t, f, b->frame->offset + b->frame->length, &next) &&
		     next.v[LF_BEGIN] >= low;
	bool behind_next = bound && begin > next.v[LF_BEGIN];
	if (!behind_next && !(begin > end && end >= low))
		return;
	b->begin_lost = true;
	b->h.v[LF_BEGIN] = low;
	b->bad_end = end > LTTNG_CLOCK_MAX || end < low || (behind_next && end > next.v[LF_BEGIN]);
}

/* The latest stamp that an event of a block without end can have. */
static uint64_t upper_bound(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b)
{
	struct lttng_header next;
	uint64_t bound = b->bad_end ? UINT64_MAX : b->h.v[LF_END];
	if (b->frame->next_sound && lttng_header_at(t, f, b->frame->offset + b->frame->length, &next) &&
	    next.v[LF_BEGIN] >= b->h.v[LF_BEGIN])
		bound = next.v[LF_BEGIN] < bound ? next.v[LF_BEGIN] : bound;
	else if (b->bad_end)
		bound = lttng_latest(t);
	return bound;
}

/* ---- the events ---- */

/* Zeros at the end of a block that are its padding. */
#define PADDING_MIN 16u

/* Whether a block without a usable end of data was closed: a recorder that died left an end stamp of zero, or of the lap before.
 * Then nothing but zeros is behind the data. */
static bool was_closed(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, uint64_t room)
{
	uint8_t tail[PADDING_MIN];
	bool died = b->open && b->bad_end;

	if (died || room < t->coding.layout->size + PADDING_MIN ||
	    !lttng_file_read(t, f, b->frame->offset + room - PADDING_MIN, tail, PADDING_MIN))
		return false;
	return bytes_are_zero(tail, PADDING_MIN);
}

/* The walk over the events of the block, before its first step. */
static struct lttng_walk open_walk(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b)
{
	uint64_t room = b->frame->length < b->size ? b->frame->length : b->size;
	struct lttng_walk w = { .in = lttng_stream_open(t, f, b->frame->offset),
				.file = f,
				.edits = t->edits,
				.number = b->number,
				.limit = b->data_end < room ? b->data_end : room,
				.room = room,
				.repeat = b->frame->repeat,
				.begin = b->h.v[LF_BEGIN],
				.end = b->bad_end ? UINT64_MAX : b->h.v[LF_END],
				.headless = b->rebuilt,
				.endless = b->unknown_end && !b->open && !f->metadata,
				.open = b->unknown_end,
				.bound = UINT64_MAX,
				.stale = UINT64_MAX,
				.at.rel = t->coding.layout->size,
				.causes = { .block = b->cut || b->frame->length > b->size ? b->cause : NULL,
					    .header = b->cause,
					    .cut = b->data_end > room } };
	w.floor = begin_before(t, f) < w.begin ? begin_before(t, f) : w.begin;
	w.end |= lttng_stamp_slack(&t->coding, f->compact);
	w.due = b->bad_end && !b->unknown_end && t->s->plan ? upper_bound(t, f, b) : w.end;
	w.due |= lttng_stamp_slack(&t->coding, f->compact);
	if (b->unknown_end) {
		w.limit = room;
		w.bound = upper_bound(t, f, b);
		w.end = w.due = UINT64_MAX;
		w.padded = w.bound != UINT64_MAX && was_closed(t, f, b, room);
		w.open = !w.padded;
		/* What is wrong with the header has lost the end, and may have lost events, too. */
		if (w.padded)
			w.causes.block = b->cause;
	}
	return w;
}

/* What the walk says of the block. */
static void close_walk(struct lttng_block *b, const struct lttng_walk *w)
{
	const struct lttng_outcome *out = &w->out;
	size_t edits = w->edits->edits.count;

	if (out->end_moved || out->broken || b->unknown_end || w->causes.cut)
		b->data_end = w->at.rel;
	else if (w->repeated)
		b->data_end += w->repeat.length;
	if (out->rule && (out->broken || out->end_moved) && !b->errors)
		b->rule = out->rule;
	if (edits && !b->errors && !out->rule)
		b->rule = w->edits->edits.list[0].rule;
	b->errors |= out->broken || out->end_moved || edits;
	b->lost |= (out->broken && !out->cut_known) || out->resynced;
	/* What hit the sizes may have reached all of its events. */
	b->lost |= b->unknown_end && !b->open && !w->at.events;
}

static void walk_block(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, struct lttng_walk *w)
{
	*w = open_walk(t, f, b);
	if (b->unknown_end) {
		w->stale = lttng_stale_tail(t, f, b->frame, w->room);
		w->open |= w->stale != UINT64_MAX;
		w->padded &= !w->open;
		lttng_seen_gather(t, f);
	}
	lttng_walk_events(t, w);
	lttng_seen_free(t);
	/* Without another event behind it, it may be the event that is wrong, and not the end of the data. */
	w->out.torn |= w->out.crossed && w->out.crossed == w->at.last;
	/* What stands behind the events is of no earlier lap yet, and is no event. */
	const uint64_t to = w->stale < w->limit ? w->stale : w->limit;
	w->out.stopped = b->unknown_end && !b->open && w->open && w->at.kept < to &&
			 window_skip_zeros_to(&t->window, w->in.base + w->at.kept, w->in.base + to) < w->in.base + to;
	if (t->edits->edits.failed)
		(void)lttng_no_memory(t);
	close_walk(b, w);
}

/* What is behind the data of a block whose end is sure. */
static void judge_padding(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b)
{
	uint64_t at = b->frame->offset + b->data_end, end = b->frame->offset + b->frame->length;
	if (f->noted_padding || b->errors || at >= end)
		return;
	uint64_t nonzero = window_skip_zeros_to(&t->window, at, end);
	if (t->window.status != TM_OK)
		t->status = t->window.status;
	if (nonzero >= end || t->status != TM_OK)
		return;
	f->noted_padding = true;
	struct finding *fd = finding_report(t->s->findings, LTTNG_RULE_padding_not_zero, f->source, nonzero, end - nonzero,
					    "the padding from 0x%llx to 0x%llx is not all zeros", (unsigned long long)at,
					    (unsigned long long)end);
	finding_path(fd, "block %llu > padding", (unsigned long long)b->number);
}

static void close_block(struct lttng_trace *t, struct lttng_block *b, const struct lttng_walk *w)
{
	const struct lttng_layout *l = t->coding.layout;
	uint64_t data = lttng_edits_size(t->edits, b->data_end);
	uint64_t last = w->at.events && w->at.stamp > b->h.v[LF_BEGIN] ? w->at.stamp : b->h.v[LF_BEGIN];
	if (last > LTTNG_CLOCK_MAX)
		last = LTTNG_CLOCK_MAX;

	if (l->variable) {
		/* The pages that are there stay, where the end of the data is where it was. */
		bool keep = b->size % LTTNG_PAGE == 0 && !b->unknown_end && !b->cut && !w->out.broken && !w->out.end_moved;
		b->size = keep ? b->size : lttng_align(data, LTTNG_PAGE);
		b->h.v[LF_UNUSED] = data;
	} else {
		b->h.v[LF_UNUSED] = b->size - data;
	}
	b->h.v[LF_SIZE] = b->size;
	if (b->bad_end || ((b->open || b->unknown_end) && b->h.v[LF_END] < last))
		b->h.v[LF_END] = last;
	if (b->rebuilt) {
		b->h.v[LF_BEGIN_FREQ] = b->h.v[LF_END_FREQ] = 0;
		memset(b->header, 0, sizeof(b->header));
	} else {
		memcpy(b->header, b->head, l->size);
	}
	for (unsigned i = 0; i < LF_COUNT; i++)
		lttng_header_store(b->header, l, t->coding.big_endian, (enum lttng_field)i, b->h.v[i]);
}

/* A block that stays: its stamps and padding are judged, and it counts. */
static void keep_block(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, const struct lttng_walk *w)
{
	b->repeated = f->has_last && w->at.events && b->h.v[LF_BEGIN] == f->last.v[LF_BEGIN] &&
		      b->h.v[LF_END] == f->last.v[LF_END] && b->h.v[LF_BEGIN] < b->h.v[LF_END];
	b->early = f->has_last && !f->noted_session && b->h.v[LF_BEGIN] < f->last.v[LF_BEGIN] &&
		   b->h.v[LF_END] >= f->last.v[LF_END];
	lttng_time_judge(t, f, b, w);
	judge_padding(t, f, b);
	close_block(t, b, w);
	f->last = b->h;
	f->has_last = true;
	f->events += w->at.events;
	t->totals.records += w->at.events;
	t->s->fast += w->fast < w->at.events ? w->fast : w->at.events;
	if (w->at.events && w->at.stamp > t->totals.last_stamp)
		t->totals.last_stamp = w->at.stamp;
}

/* What the next blocks need to know of this one. */
static void remember_block(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *w)
{
	f->cause = w->out.finding ? w->out.finding : b->cause;
	if (f->metadata && !b->twice && (b->lost || b->unknown_end || !b->keep))
		lttng_declarations_lose(&t->declared, f->cause);
	f->laps[f->lap].offset = b->frame->offset;
	f->laps[f->lap].length = b->keep && b->frame->from == b->frame->offset ? b->frame->length : 0;
	f->lap = (f->lap + 1) % LTTNG_LAPS;
}

/* Up to 1.0: readers ask for a file of declarations, and some types need none. The only block of such a file stays, without events.
 */
static bool is_needed_empty(const struct lttng_trace *t, const struct lttng_file *f, const struct lttng_block *b)
{
	return t->coding.layout->era <= LTTNG_MARKERS && f->metadata && !b->number && b->frame->last && f->cpu == 0;
}

static void scan_block(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame)
{
	struct lttng_block b = { .frame = frame, .number = f->blocks++ };
	struct lttng_walk w = { .file = f, .edits = t->edits };
	size_t n = frame->length < t->coding.layout->size ? (size_t)frame->length : t->coding.layout->size;

	edits_clear(&t->edits->edits);
	t->edits->guess_count = 0;
	t->edits->unsearched = f->channel->unsearched;
	if (frame->from == frame->offset && !lttng_file_read(t, f, frame->offset, b.head, n))
		return;
	if (t->window.source != f->source)
		window_reset(&t->window, f->source);
	lttng_header_judge(t, f, &b);
	if (b.keep && t->status == TM_OK) {
		lttng_sizes_judge(t, f, &b);
		judge_clock(t, f, &b);
		judge_end(t, f, &b);
		mend_begin(t, f, &b);
		lttng_losses_judge(t, f, &b);
		if (t->s->outline)
			lttng_outline_block(t, f, frame);
		walk_block(t, f, &b, &w);
		if (t->s->outline)
			lttng_outline_block_end(t, frame, b.data_end);
		if (b.rebuilt && w.at.events < (f->metadata ? 1 : REBUILT_MIN))
			b.keep = is_needed_empty(t, f, &b);
	}
	if (t->status != TM_OK)
		return;
	if (b.keep)
		keep_block(t, f, &b, &w);
	remember_block(t, f, &b, &w);
	if (t->s->plan)
		lttng_repair_block(t, f, &b, &w);
}

void lttng_file_scan(struct lttng_trace *t, struct lttng_file *f)
{
	struct lttng_frame frame;
	if (t->s->plan)
		f->output = lttng_repair_output(t, f);
	if (t->s->outline)
		lttng_outline_file(t, f);
	for (uint64_t at = 0; t->status == TM_OK && lttng_frame_at(t, f, at, &frame); at = frame.offset + frame.length)
		scan_block(t, f, &frame);
	if (t->s->plan)
		lttng_repair_file_end(t, f);
	if (t->s->outline)
		lttng_outline_file_end(t);
}
