/* What becomes of files and blocks in the output. Decisions are made by the walk; here they are written into the plan. */
#include "formats/lttng/repair/lttng_repair.h"
#include "formats/lttng/salvage/lttng_salvage.h"

static const uint8_t zeros[65536];

/* Zeros for what is not there any more. */
static void put_zeros(struct lttng_trace *t, unsigned output, uint64_t length, unsigned rule)
{
	t->out.zeros += length;
	while (length && plan_status(t->s->plan) == TM_OK) {
		size_t n = length < sizeof(zeros) ? (size_t)length : sizeof(zeros);
		(void)plan_literal(t->s->plan, output, zeros, n, rule, "padding of the block");
		length -= n;
	}
}

void lttng_repair_new_block(struct lttng_trace *t, struct lttng_file *f, uint8_t *block, size_t data, uint64_t end, unsigned rule)
{
	const struct lttng_layout *l = t->coding.layout;
	struct lttng_header h = f->last;
	uint64_t size = l->variable ? lttng_align(data, LTTNG_PAGE) : f->block_size;

	h.v[LF_BEGIN] = f->last.v[LF_END];
	h.v[LF_END] = end;
	h.v[LF_SIZE] = size;
	h.v[LF_UNUSED] = l->variable ? data : size - data;
	for (unsigned i = 0; i < LF_COUNT; i++)
		lttng_header_store(block, l, t->coding.big_endian, (enum lttng_field)i, h.v[i]);
	(void)plan_literal(t->s->plan, f->output, block, data, rule, "declarations inferred from the events, under made-up names");
	put_zeros(t, f->output, size - data, rule);
	f->last = h;
}

static const char why_torn[] = "stands right before bytes that are not an event";
static const char why_resized[] = "a part of this event was wrong: its other values may be damaged as well";
static const char why_crossed[] = "the data ended within this event: that end or the event is wrong";
static const char why_misread[] = "the clock leaps here, up to bytes that are not an event: these may be misread";
static const char why_part[] = "a part of another place may stand here: the clock leaps at one end of it, and the other is damaged";
static const char why_moved[] = "a part of another place may stand here: by its stamps it belongs where other events are damaged";
static const char why_behind[] = "directly follows bytes that are not an event";
static const char why_missing[] =
	"the end of the header before these is lost: bytes may be missing in between, and laps of the clock";
static const char why_scattered[] = "a header stands at the place of another part of this file: the parts are not where they were";
static const char why_shifted[] = "bytes were inserted somewhere among these, or are missing";
static const char why_found[] = "resynchronised after damage; the clock may have wrapped in between";

/* Of a block that is cut off: bytes that the last event may leave; so small a part may have been deleted anywhere; and events may
 * come so many times as often as in the rest. */
#define CUT_OFF_REST 512u
#define CUT_OFF_PART 64u
#define CUT_OFF_RATE 4.0

/* Whether no lap of the clock was lost in the block: one more would bring its last event behind its end. */
static bool clock_is_sure(const struct lttng_trace *t, const struct lttng_block *b, const struct lttng_walk *w)
{
	return !w->file->compact && !b->unknown_end && !b->bad_end && !b->begin_lost && w->at.stamp <= w->end &&
	       w->end - w->at.stamp <= lttng_lap(&t->coding);
}

/* Whether a constant of the header is not that of the trace. */
static bool header_is_hit(const struct lttng_trace *t, const struct lttng_block *b)
{
	struct lttng_header h;

	if (b->rebuilt)
		return true;
	lttng_header_load(&h, t->coding.layout, t->coding.big_endian, b->head);
	if (!t->coding.layout->variable && h.v[LF_SIZE] != b->size)
		return true;
	for (unsigned i = LF_FIRST_CONSTANT; i < LF_COUNT; i++)
		if (lttng_has(t->coding.layout, (enum lttng_field)i) && t->constants.want.v[i] && h.v[i] != t->constants.want.v[i])
			return true;
	return false;
}

/* Whether the end of the block is what is missing, and nothing in it: its events go on up to the end of the file, and the time up
 * to the end stamp that the missing part would have taken is missing, too. */
static bool is_cut_off(const struct lttng_trace *t, const struct lttng_block *b, const struct lttng_walk *w)
{
	struct lttng_header h;

	if (!b->cut || !b->frame->sound || header_is_hit(t, b))
		return false;
	lttng_header_load(&h, t->coding.layout, t->coding.big_endian, b->head);
	if (h.v[LF_SIZE] <= b->frame->length)
		return false;
	const uint64_t have = w->at.kept - t->coding.layout->size, missing = h.v[LF_SIZE] - b->frame->length;
	if (b->unknown_end || b->bad_end || b->begin_lost || w->end < w->at.stamp || w->at.stamp <= w->begin ||
	    b->frame->length - w->at.kept > CUT_OFF_REST || missing < have / CUT_OFF_PART)
		return false;
	return (double)(w->end - w->at.stamp) * CUT_OFF_RATE * (double)have >= (double)(w->at.stamp - w->begin) * (double)missing;
}

/* Whether the last event crosses the end of the data, and bytes that are too few for a block are left behind this one: what came
 * in, in a text that grew by it, pushed them there. So it did where the next header is not so far behind. */
static bool pushed_out(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *w)
{
	const uint64_t end = b->frame->offset + b->frame->length, left = f->source->size - end, few = t->coding.layout->size;
	struct lttng_header next;

	if (!w->out.crossed || b->frame->next_sound)
		return false;
	for (uint64_t i = 1; i < few && i < left; i++)
		if (lttng_header_at(t, f, end + i, &next))
			return true;
	return left && left < few;
}

/* Whether the data ends so much too early as bytes of the last block are missing: that many are, somewhere in front. */
static bool moved_up(const struct lttng_trace *t, const struct lttng_block *b, const struct lttng_walk *w)
{
	struct lttng_header h;

	if (!b->cut || !b->frame->last || !w->out.end_moved || b->unknown_end)
		return false;
	lttng_header_load(&h, t->coding.layout, t->coding.big_endian, b->head);
	return h.v[LF_SIZE] > b->frame->length && h.v[LF_SIZE] - b->frame->length == w->limit - w->at.kept;
}

/* Bytes were inserted somewhere in the block, or are missing: the next block is not at a whole number of pages. */
static bool is_shifted(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *w)
{
	uint64_t unit = t->coding.layout->variable || !f->block_size ? LTTNG_PAGE : f->block_size;
	return !w->repeated && (pushed_out(t, f, b, w) || moved_up(t, b, w) ||
				(b->frame->length % unit &&
				 (b->frame->next_sound || b->frame->length > unit || header_is_hit(t, b)) && !is_cut_off(t, b, w)));
}

/* Two blocks meet where the tracer changes from one to the other; real ones were up to 3,522 ticks apart. A gap of less than this
 * part of the block is one of these. */
#define GAP_PART 16u

/* Whether the end of another block may have taken the place of the own one, with its times: there is damage in the block, and the
 * next one begins long after it ends, as if one of them were missing. Where the data goes on behind its end and nothing follows,
 * that cannot be excluded. */
static bool is_joined(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *w)
{
	const uint64_t begin = b->h.v[LF_BEGIN], end = b->h.v[LF_END];
	const bool crossed = w->open && !b->unknown_end;
	struct lttng_header next;

	if (!(crossed || w->out.end_moved || w->out.broken || w->edits->edits.count > w->repeated) || b->unknown_end ||
	    b->bad_end || end <= begin || f->metadata)
		return false;
	if (!b->frame->next_sound || !lttng_header_at(t, f, b->frame->offset + b->frame->length, &next))
		return crossed && b->number;
	return next.v[LF_BEGIN] > end && next.v[LF_BEGIN] - end > (end - begin) / GAP_PART;
}

/* Where anything is doubtful, nothing is called whole. */
static void doubt(struct plan *p, const struct source *s, uint64_t from, uint64_t length, const char *why)
{
	plan_doubt(p, s, from, length, why);
	plan_lost_other(p);
}

/* The events up to `to`, where there is damage, that may be misread; the walk went on at `next`. Whether there are any. */
static bool put_misread(struct lttng_trace *t, const struct source *s, const struct lttng_walk *w, struct lttng_misread *m,
			uint64_t to, uint64_t next)
{
	const uint64_t from = lttng_misread_from(t, w, m, to, next), first = lttng_walk_before(w, from);

	/* What made them so may begin in the event before them. */
	if (from < to)
		doubt(t->s->plan, s, w->in.base + first, to - first, why_misread);
	return from < to;
}

/* What the edits say of the events around them. */
static void put_doubts(struct lttng_trace *t, const struct source *s, const struct lttng_block *b, const struct lttng_walk *w)
{
	struct plan *p = t->s->plan;
	const struct edits *edits = &w->edits->edits;
	const bool sure = clock_is_sure(t, b, w);
	uint64_t base = b->frame->offset;
	struct lttng_misread misread;
	uint64_t again = 0; /* up to here times are doubtful already */

	lttng_misread_open(&misread, w);
	for (size_t i = 0; i < edits->count; i++) {
		const struct lttng_doubt *d = &w->edits->doubts[i];
		uint64_t at = edits->list[i].at + edits->list[i].remove;
		/* Their stamps may bring what follows a lap too late. */
		const bool leapt = !edits->list[i].length && put_misread(t, s, w, &misread, edits->list[i].at, at);
		if (d->torn_from < d->torn_to)
			doubt(p, s, base + d->torn_from, d->torn_to - d->torn_from,
			      d->torn_to > edits->list[i].at ? why_resized : why_torn);
		/* Further damage does not end the doubt: a stamp that is too late stays so for readers. */
		if (d->found_again && (leapt || !(d->settled ? d->sure : sure && !d->late))) {
			const uint64_t from = again > at ? again : at;
			const uint64_t end = d->settled && d->settled < b->data_end ? d->settled : b->data_end;
			if (from < end)
				doubt(p, s, base + from, end - from, why_found);
			again = again > end ? again : end;
		} else if (d->found_to > at) {
			doubt(p, s, base + at, d->found_to - at, why_behind);
		}
	}
	if (w->out.torn)
		(void)put_misread(t, s, w, &misread, w->at.kept, w->at.kept);
}

/* Whether the block is to be searched for parts of another place: it is damaged, or one in front of it is. */
static bool may_have_parts(struct lttng_trace *t, const struct lttng_block *b, const struct lttng_walk *w)
{
	const bool damaged = w->edits->edits.count || w->edits->guess_count || w->out.torn || w->out.end_moved || w->out.broken;

	if (w->file->metadata || t->coding.layout->era < LTTNG_TRACE_MARKERS || (!damaged && !t->parts))
		return false;
	if (!t->parts) {
		t->parts = calloc(1, sizeof(*t->parts));
		if (!t->parts)
			return lttng_no_memory(t);
		t->parts->first = b->frame->offset;
	}
	return true;
}

/* Events of a part of another place, between a leap of the clock and damage. */
static void put_parts(struct lttng_trace *t, const struct source *s, const struct lttng_block *b, const struct lttng_walk *w)
{
	struct lttng_parts parts;
	uint64_t from, to;

	if (!may_have_parts(t, b, w))
		return;
	lttng_parts_open(t, &parts, w, b->data_end);
	while (lttng_parts_next(t, w, &parts, &from, &to))
		doubt(t->s->plan, s, b->frame->offset + from, to - from, why_part);
}

void lttng_repair_file_end(struct lttng_trace *t, struct lttng_file *f)
{
	uint64_t from, to;

	if (!t->parts)
		return;
	lttng_parts_front(t, f);
	for (size_t i = 0; t->status == TM_OK && lttng_parts_moved(t->parts, &i, &from, &to);)
		doubt(t->s->plan, f->source, from, to - from, why_moved);
	free(t->parts);
	t->parts = NULL;
}

/* Events that are doubtful by themselves, and that stay. */
static void put_guesses(struct plan *p, const struct source *s, const struct lttng_block *b, const struct lttng_walk *w)
{
	const struct lttng_edits *e = w->edits;
	for (size_t i = 0; i < e->guess_count; i++) {
		struct lttng_guess all = e->guesses[i];
		/* What was taken back is behind the end. */
		if (all.from >= b->data_end)
			continue;
		doubt(p, s, b->frame->offset + all.from, (all.to < b->data_end ? all.to : b->data_end) - all.from, all.why);
	}
}

/* The data of the block with its edits. */
static void put_data(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *w)
{
	struct plan *p = t->s->plan;
	uint64_t base = b->frame->offset;

	edits_apply(&w->edits->edits, p, f->output, f->source, base, t->coding.layout->size, b->data_end);
	put_doubts(t, f->source, b, w);
	put_parts(t, f->source, b, w);
	put_guesses(p, f->source, b, w);
	/* The last event may have the wrong stamp by which the next one is none; what made it so may begin in the one before it. */
	const uint64_t torn = w->out.stopped ? lttng_walk_before(w, lttng_walk_torn(w)) : lttng_walk_torn(w);
	if (!(w->out.torn || w->out.stopped || is_shifted(t, f, b, w)) || torn >= w->at.kept)
		return;
	doubt(p, f->source, base + torn, w->at.kept - torn,
	      w->out.crossed && w->out.crossed == w->at.last ? why_crossed : why_torn);
	if (w->out.unusual && w->out.unusual < w->at.last && !w->edits->edits.count)
		doubt(p, f->source, base + w->out.unusual, w->at.last - w->out.unusual,
		      "legal, but unusual, up to bytes that are not an event");
}

/* What is behind the data: padding of the output up to `size`. True: it was something else. */
static bool put_tail(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, uint64_t written, bool as_it_is)
{
	struct plan *p = t->s->plan;
	uint64_t from = b->frame->offset + b->data_end, left = b->frame->length - b->data_end;
	uint64_t want = b->size > written ? b->size - written : 0;
	uint64_t have = left < want ? left : want;

	uint64_t nonzero = window_skip_zeros_to(&t->window, from, from + left);
	if (t->window.status != TM_OK) {
		t->status = t->window.status;
		return false;
	}
	if (!as_it_is && nonzero < from + have) {
		if (t->out.zeros + have <= LTTNG_ZEROS_MAX)
			have = nonzero - from;
		else
			doubt(p, f->source, nonzero, from + have - nonzero,
			      "left after the end of the data, where no reader reads it");
	}
	plan_copy(p, f->output, f->source, from, have);
	put_zeros(t, f->output, want - have, b->rule);
	plan_drop(p, f->source, from + have, left - have, b->rule, lttng_loss_why(b->rule, t->edits->unsearched));
	return !as_it_is && nonzero < from + left;
}

/* Behind the last field of a header: 2.0 may have a hole there. */
static unsigned fields_end(const struct lttng_layout *l)
{
	unsigned end = 0;
	for (unsigned i = 0; i < LF_COUNT; i++)
		if (l->places[i].width && l->places[i].offset + l->places[i].width > end)
			end = l->places[i].offset + l->places[i].width;
	return end;
}

/* Whether the end of the header was not what it should be: the damage may go on. Not a field that repair computes anew. */
static bool end_damaged(const struct lttng_trace *t, const struct lttng_block *b)
{
	const struct lttng_layout *l = t->coding.layout;
	const struct lttng_place *size = &l->places[LF_SIZE];
	const unsigned end = fields_end(l);
	const bool computed = size->offset + size->width == end && (l->variable || b->open);
	const bool filled = !bytes_are_zero(b->head + end, l->size - end) && memcmp(b->head, b->header, l->size) != 0;

	return !b->cut && (filled || (!computed && b->head[end - 1] != b->header[end - 1]));
}

/* Where the times of a block stop to depend on a begin stamp that was made up: behind the first full stamp, if that is within the
 * times that the block can have. rel. */
static uint64_t untimed_end(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *w)
{
	const struct lttng_walk_laps *l = &w->laps;
	struct lttng_header next;
	const bool bound = b->frame->next_sound && lttng_header_at(t, f, b->frame->offset + b->frame->length, &next);
	const uint64_t latest = bound ? next.v[LF_BEGIN] : lttng_latest(t);
	const bool timed = t->coding.layout->era >= LTTNG_TRACE_MARKERS && l->first && l->first_stamp >= b->h.v[LF_BEGIN] &&
			   l->first_stamp <= latest;

	return timed && l->first_end < b->data_end ? l->first_end : b->data_end;
}

/* The first event stands right behind a damaged header. Where its stamp is what makes those behind it a lap later than the begin
 * of the block would, they may be too late, up to a full stamp. */
static void doubt_first(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *w)
{
	const uint64_t header = t->coding.layout->size;
	uint64_t first;
	if (!w->at.events)
		return;
	const bool lapses = lttng_event_lapses(w, header, b->data_end, w->begin, &first);
	if (!first)
		return;
	const uint64_t to = lapses ? untimed_end(t, f, b, w) : first;
	doubt(t->s->plan, f->source, b->frame->offset + header, to - header, "directly follows a header that is damaged");
}

/* Whether the last two constants of the header, of those whose values are known, are both wrong, and the first event stands right
 * behind it: bytes may be missing between them, and with them laps of the clock. */
static bool tail_is_lost(const struct lttng_trace *t, const struct lttng_block *b, const struct lttng_walk *w)
{
	const struct lttng_layout *l = t->coding.layout;
	const struct edits *edits = &w->edits->edits;
	struct lttng_header h;
	unsigned wrong = 0;

	if (b->cut || (edits->count && edits->list[0].at <= l->size))
		return false;
	lttng_header_load(&h, l, t->coding.big_endian, b->head);
	for (unsigned end = UINT32_MAX, at = 0, i = 0; wrong < 2; end = at, at = 0) {
		for (unsigned k = LF_FIRST_CONSTANT; k < LF_COUNT; k++)
			if (lttng_has(l, (enum lttng_field)k) && t->constants.want.v[k] && l->places[k].offset < end &&
			    l->places[k].offset >= at) {
				at = l->places[k].offset;
				i = k;
			}
		if (!at || h.v[i] == t->constants.want.v[i])
			return false;
		wrong++;
	}
	return true;
}

/* Whether a header stands at the place of another part of its file: a block has none, and one behind it is longer than what is left
 * of the file. */
static bool is_scattered(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b)
{
	const uint64_t next = b->frame->offset + b->frame->length;
	struct lttng_header h;

	if (!b->rebuilt)
		return b->cut && b->frame->sound && f->unheaded;
	return b->frame->next_sound && lttng_header_at(t, f, next, &h) && h.v[LF_SIZE] < LTTNG_OPEN &&
	       h.v[LF_SIZE] > f->source->size - next;
}

/* Why all of the block is doubtful, by its stamps; NULL: it is not. */
static const char *times_doubt(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b)
{
	if (is_scattered(t, f, b))
		return why_scattered;
	if (b->rebuilt)
		return "the header of this block was made up from its neighbours";
	if (b->begin_lost)
		return "the begin stamp of this block was made up: its events may be off in time";
	if (b->early)
		return "this block begins before the one before it does, and ends behind it: its events may be off in time";
	if (t->constants.doubted)
		return t->constants.doubted;
	if (t->constants.lone && !b->number && !f->flight && lttng_has(t->coding.layout, LF_TSC) &&
	    b->h.v[LF_BEGIN] != b->h.v[LF_TSC])
		return "the block does not begin when the trace starts: one of the two stamps is damaged";
	return NULL;
}

/* The same, by its bytes. */
static const char *bytes_doubt(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *w)
{
	/* Damage to events may be where that happened, unless the header was hit. */
	if (is_shifted(t, f, b, w) && (header_is_hit(t, b) || !w->edits->edits.count))
		return why_shifted;
	if (is_joined(t, f, b, w))
		return "the end of another block may have taken the place of the end of this one, with its times";
	return tail_is_lost(t, b, w) ? why_missing : NULL;
}

/* The header of the block, and doubts about all of its data. */
static void put_header(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *w)
{
	struct plan *p = t->s->plan;
	const uint64_t at = b->frame->offset, header = t->coding.layout->size;
	const char *why = times_doubt(t, f, b);

	if (memcmp(b->head, b->header, (size_t)header) != 0)
		(void)plan_replace(p, f->output, f->source, b->frame->from, at + header - b->frame->from, b->header, (size_t)header,
				   b->rule, lttng_loss_why(b->rule, t->edits->unsearched));
	else
		plan_copy(p, f->output, f->source, at, header);
	if (!why)
		why = bytes_doubt(t, f, b, w);
	if (!why && end_damaged(t, b))
		doubt_first(t, f, b, w);
	if (!why && b->repeated)
		why = "the block has the stamps of the one before it: it may be there twice";
	if (why && (b->rebuilt || b->data_end > header)) {
		const bool untimed = !t->constants.doubted && (b->rebuilt || b->begin_lost || b->early || why == why_missing);
		const uint64_t end = untimed && why != why_scattered ? untimed_end(t, f, b, w) : b->data_end;
		doubt(p, f->source, at + header, end - header, why);
		/* It may have been in a text, without which nothing tells. */
		if (f->metadata && why == why_shifted && w->out.end_moved && !w->edits->edits.count)
			lttng_declarations_doubt(t, f->source, at, at + b->frame->length,
						 "bytes may be missing in the description of these events, or too many");
	}
}

/* Whether there is room for the zeros that the block needs. */
static bool fits_zeros(const struct lttng_trace *t, const struct lttng_block *b)
{
	uint64_t left = LTTNG_ZEROS_MAX - (t->out.zeros < LTTNG_ZEROS_MAX ? t->out.zeros : LTTNG_ZEROS_MAX);
	return b->size <= b->frame->length || b->size - b->frame->length <= left;
}

/* A block that does not stay. */
static void drop_block(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b)
{
	const uint64_t from = b->frame->from;
	plan_drop(t->s->plan, f->source, from, b->frame->offset + b->frame->length - from, b->rule,
		  lttng_loss_why(b->rule, t->edits->unsearched));
	plan_lost(t->s->plan, 0, b->lost ? TM_UNKNOWN_COUNT : TM_EXACT);
}

void lttng_repair_block(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, const struct lttng_walk *w)
{
	struct plan *p = t->s->plan;
	uint64_t written = lttng_edits_size(w->edits, b->data_end);

	/* Damage to the header may have reached the event before it. */
	if (b->rule == LTTNG_RULE_magic_lost_in_block && f->last_from < f->last_to)
		doubt(p, f->source, f->last_from, f->last_to - f->last_from, why_torn);
	f->last_from = f->last_to = 0;
	f->unheaded |= b->rebuilt;
	if (b->keep && !fits_zeros(t, b)) {
		b->keep = false;
		b->lost = true;
		t->totals.records -= w->at.events;
		t->s->fast -= w->fast < w->at.events ? w->fast : w->at.events;
		plan_lost(p, w->at.events, TM_AT_LEAST);
	}
	if (!b->keep) {
		drop_block(t, f, b);
		return;
	}
	plan_kept(p, w->at.events - w->out.patched);
	plan_patched(p, w->out.patched);
	t->out.kept += w->at.events;
	t->declared.kept |= f->metadata;
	put_header(t, f, b, w);
	put_data(t, f, b, w);
	if (w->at.events) {
		f->last_from = b->frame->offset + w->at.last;
		f->last_to = b->frame->offset + w->at.kept;
	}
	bool as_it_is = !b->unknown_end && !w->out.broken && !w->out.end_moved && !w->edits->edits.count;
	bool other = put_tail(t, f, b, written, as_it_is);
	/* It is not known how many events are behind a wrong end of the data, or were in missing bytes. */
	bool unknown = b->lost || is_shifted(t, f, b, w) ||
		       (other && !w->out.cut_known && !(b->unknown_end && w->stale <= b->data_end));
	plan_lost(p, w->out.dropped, unknown ? TM_UNKNOWN_COUNT : TM_EXACT);
}
