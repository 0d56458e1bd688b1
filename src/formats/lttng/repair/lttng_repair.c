/* What becomes of files and blocks in the output. Decisions are made by the walk; here they are written into the plan. */
#include "formats/lttng/lttng.h"

#include <stdio.h>
#include <stdlib.h>

static const uint8_t zeros[65536];

static const char *rule_why(unsigned rule)
{
	return lttng_rules[rule].title;
}

/* Zeros for what is not there any more. */
static void put_zeros(struct lttng_trace *t, unsigned output, uint64_t length, unsigned rule)
{
	t->zeros += length;
	while (length && plan_status(t->scan->plan) == TM_OK) {
		size_t n = length < sizeof(zeros) ? (size_t)length : sizeof(zeros);
		(void)plan_literal(t->scan->plan, output, zeros, n, rule, "padding of the block");
		length -= n;
	}
}

void lttng_repair_made_up(struct lttng_trace *t, struct lttng_file *f, uint8_t *block, size_t data, uint64_t end, unsigned rule)
{
	const struct lttng_layout *l = t->layout;
	struct lttng_header h = f->last;
	uint64_t size = l->variable ? lttng_align(data, LTTNG_PAGE) : f->block_size;

	h.v[LF_BEGIN] = f->last.v[LF_END];
	h.v[LF_END] = end;
	h.v[LF_SIZE] = size;
	h.v[LF_UNUSED] = l->variable ? data : size - data;
	for (unsigned i = 0; i < LF_COUNT; i++)
		lttng_header_store(block, l, t->big_endian, (enum lttng_field)i, h.v[i]);
	(void)plan_literal(t->scan->plan, f->output, block, data, rule,
			   "declarations by what the events show, under made-up names");
	put_zeros(t, f->output, size - data, rule);
	f->last = h;
}

unsigned lttng_repair_output(struct lttng_trace *t, const struct lttng_file *f)
{
	const char *name = f->source->name;
	if (!f->flight || !f->metadata)
		return plan_output(t->scan->plan, name);
	/* control/flight-facilities_0 becomes control/facilities_0 */
	size_t directory = (size_t)(f->base - name);
	char *plain = malloc(strlen(name) + 1);
	if (!plain) {
		(void)lttng_no_memory(t);
		return 0;
	}
	memcpy(plain, name, directory);
	memcpy(plain + directory, f->base + 7, strlen(f->base + 7) + 1);
	const char *used = bundle_find(t->in, TM_ROLE_INPUT, plain) ? name : plain;
	unsigned output = plan_output(t->scan->plan, used);
	free(plain);
	return output;
}

void lttng_repair_copy(struct lttng_trace *t, struct source *s)
{
	plan_copy(t->scan->plan, plan_output(t->scan->plan, s->name), s, 0, s->size);
}

/* Under a hidden name, which readers and we pass over; nothing of the file is lost, and nothing of it is read. */
void lttng_repair_aside(struct lttng_trace *t, struct lttng_file *f)
{
	const struct source *s = f->source;
	const char *slash = strrchr(s->name, '/');
	size_t directory = slash ? (size_t)(slash + 1 - s->name) : 0;
	char *name = malloc(strlen(s->name) + 2);

	if (!name) {
		(void)lttng_no_memory(t);
		return;
	}
	memcpy(name, s->name, directory);
	name[directory] = '.';
	memcpy(name + directory + 1, s->name + directory, strlen(s->name + directory) + 1);
	if (bundle_find(t->in, TM_ROLE_INPUT, name)) {
		plan_drop(t->scan->plan, s, 0, s->size, f->aside_rule, f->aside_why);
	} else {
		plan_copy(t->scan->plan, plan_output(t->scan->plan, name), s, 0, s->size);
		plan_doubt(t->scan->plan, s, 0, s->size, f->aside_why);
	}
	if (f->channel && s->size)
		plan_lost(t->scan->plan, 0, TM_UNKNOWN_COUNT);
	free(name);
}

static const char why_torn[] = "stands right before bytes that are no event";
static const char why_behind[] = "stands right behind bytes that are no event";
static const char why_found[] = "found again behind damage; its clock may have turned meanwhile";

/* Events that were found again are in doubt up to the next damage. */
static uint64_t doubt_end(const struct lttng_trace *t, const struct lttng_walk *k, unsigned edit, uint64_t end)
{
	for (edit++; edit < k->edit_count; edit++)
		if (!t->edits[edit].length)
			return t->edits[edit].rel;
	return end;
}

/* Bytes came in somewhere in the block, or are gone: what is behind it is not where whole pages lead. */
static bool is_shifted(const struct lttng_trace *t, const struct lttng_file *f, const struct lttng_block *b)
{
	uint64_t unit = t->layout->variable || !f->block_size ? LTTNG_PAGE : f->block_size;
	return b->frame->length % unit && (b->frame->next_sound || b->frame->length > unit);
}

/* The data of the block with its edits. */
static void put_data(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, const struct lttng_walk *k)
{
	struct plan *p = t->scan->plan;
	uint64_t base = b->frame->offset, at = t->layout->size;

	for (unsigned i = 0; i < k->edit_count; i++) {
		const struct lttng_edit *e = &t->edits[i];
		plan_copy(p, f->output, f->source, base + at, e->rel - at);
		if (e->torn_from < e->torn_to)
			plan_doubt(p, f->source, base + e->torn_from, e->torn_to - e->torn_from, why_torn);
		if (e->length)
			(void)plan_replace(p, f->output, f->source, base + e->rel, e->drop, e->bytes, e->length, e->rule,
					   rule_why(e->rule));
		else
			plan_drop(p, f->source, base + e->rel, e->drop, e->rule, rule_why(e->rule));
		at = e->rel + e->drop;
		if (e->found_again)
			plan_doubt(p, f->source, base + at, doubt_end(t, k, i, b->data_end) - at, why_found);
		else if (e->found_to > at)
			plan_doubt(p, f->source, base + at, e->found_to - at, why_behind);
	}
	plan_copy(p, f->output, f->source, base + at, b->data_end - at);
	if (!(k->torn || is_shifted(t, f, b)) || k->last >= k->kept)
		return;
	plan_doubt(p, f->source, base + k->last, k->kept - k->last, why_torn);
	if (k->odd && k->odd < k->last && !k->edit_count)
		plan_doubt(p, f->source, base + k->odd, k->last - k->odd, "legal, but strange, up to bytes that are no event");
}

/* What is behind the data: padding of the output up to `size`. True: it was something else. */
static bool put_tail(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, uint64_t written, bool as_it_is)
{
	struct plan *p = t->scan->plan;
	uint64_t from = b->frame->offset + b->data_end, left = b->frame->length - b->data_end;
	uint64_t want = b->size - written;
	uint64_t have = left < want ? left : want;

	uint64_t nonzero = left ? window_skip_zeros(&t->w, from) : from;
	if (t->w.status != TM_OK) {
		t->status = t->w.status;
		return false;
	}
	if (!as_it_is && nonzero < from + have) {
		if (t->zeros + have <= LTTNG_ZEROS_MAX)
			have = nonzero - from;
		else
			plan_doubt(p, f->source, nonzero, from + have - nonzero,
				   "left behind the end of the data, where nothing reads it");
	}
	plan_copy(p, f->output, f->source, from, have);
	put_zeros(t, f->output, want - have, b->rule);
	plan_drop(p, f->source, from + have, left - have, b->rule, rule_why(b->rule));
	return !as_it_is && nonzero < from + left;
}

void lttng_repair_block(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, const struct lttng_walk *k)
{
	struct plan *p = t->scan->plan;
	const struct lttng_frame *frame = b->frame;
	uint64_t header = t->layout->size, written = b->data_end;

	/* What took its header may have reached the event before it. */
	if (b->rule == LTTNG_RULE_magic_lost_in_block && f->last_from < f->last_to)
		plan_doubt(p, f->source, f->last_from, f->last_to - f->last_from, why_torn);
	f->last_from = f->last_to = 0;
	if (b->keep && b->size > frame->length &&
	    b->size - frame->length > LTTNG_ZEROS_MAX - (t->zeros < LTTNG_ZEROS_MAX ? t->zeros : LTTNG_ZEROS_MAX)) {
		b->keep = false; /* more padding than there may be */
		b->lost = true;
		t->records -= k->events;
		plan_lost(p, k->events, TM_AT_LEAST);
	}
	if (!b->keep) {
		plan_drop(p, f->source, frame->offset, frame->length, b->rule, rule_why(b->rule));
		plan_lost(p, 0, b->lost ? TM_UNKNOWN_COUNT : TM_EXACT);
		return;
	}
	for (unsigned i = 0; i < k->edit_count; i++)
		written -= t->edits[i].drop - t->edits[i].length;
	plan_kept(p, k->events - k->patched);
	plan_patched(p, k->patched);
	t->kept += k->events;
	t->metadata_kept |= f->metadata;
	if (memcmp(b->head, b->header, (size_t)header) != 0)
		(void)plan_replace(p, f->output, f->source, frame->offset, header, b->header, (size_t)header, b->rule,
				   rule_why(b->rule));
	else
		plan_copy(p, f->output, f->source, frame->offset, header);
	if (b->made_up)
		plan_doubt(p, f->source, frame->offset + header, b->data_end - header,
			   "the header of this block was made up from its neighbours");
	else if (t->clock_made_up && b->data_end > header)
		plan_doubt(p, f->source, frame->offset + header, b->data_end - header,
			   "its times count by a clock that was made up");
	else if (is_shifted(t, f, b) && (!k->broken || k->end_moved) && !k->edit_count && b->data_end > header)
		plan_doubt(p, f->source, frame->offset + header, b->data_end - header,
			   "bytes came in somewhere among these, or are gone");
	put_data(t, f, b, k);
	if (k->events) {
		f->last_from = frame->offset + k->last;
		f->last_to = frame->offset + k->kept;
	}
	bool other = put_tail(t, f, b, written, !b->unknown_end && !k->broken && !k->end_moved && !k->edit_count);
	/* Of what a wrong end of the data leaves behind it, or of bytes that are gone, nobody knows how many events it was. */
	bool unknown = b->lost || is_shifted(t, f, b) || (other && !k->cut_known && !(b->unknown_end && k->stale <= b->data_end));
	plan_lost(p, k->dropped, unknown ? TM_UNKNOWN_COUNT : TM_EXACT);
}
