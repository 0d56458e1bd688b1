/* One block: its header is judged, its events are walked, and what is to become of it is decided. */
#include "formats/lttng/lttng.h"

/* Events that must follow each other in a block without a header before it counts as one. */
#define MADE_UP_MIN 4u

/* True: the error follows from one that was reported. */
static bool block_folds(const struct lttng_block *b, unsigned rule)
{
	if (lttng_rules[rule].severity != TM_ERROR || !b->cause)
		return false;
	finding_explains(b->cause, 1);
	return true;
}

static void block_blame(struct lttng_block *b, unsigned rule, struct finding *fd)
{
	if (lttng_rules[rule].severity != TM_ERROR)
		return;
	b->rule = rule;
	b->cause = fd;
	b->errors = true;
}

struct finding *lttng_block_report_at(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, unsigned rule,
				      uint64_t from, uint64_t length, const char *format, ...)
{
	va_list arguments;
	if (block_folds(b, rule))
		return NULL;
	struct finding *fd = finding_new_at(t->f, rule, f->source, b->frame->offset + from, length);
	finding_path(fd, "block %llu", (unsigned long long)b->number);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	block_blame(b, rule, fd);
	return fd;
}

struct finding *lttng_field_report_at(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, unsigned rule,
				      enum lttng_field field, const char *format, ...)
{
	const struct lttng_place *place = &t->layout->places[field];
	const char *name = lttng_field_name(t->layout, field);
	va_list arguments;
	if (block_folds(b, rule))
		return NULL;
	struct finding *fd = finding_new_at(t->f, rule, f->source, b->frame->offset, t->layout->size);
	finding_path(fd, "block %llu > %s", (unsigned long long)b->number, name);
	finding_field(fd, b->frame->offset + place->offset, place->width, "%s = %llu", name, (unsigned long long)b->h.v[field]);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	block_blame(b, rule, fd);
	return fd;
}

/* Length of the zeros at the start of the block. */
static uint64_t zeros_at_start(struct lttng_trace *t, const struct lttng_frame *frame)
{
	uint64_t end = window_skip_zeros(&t->w, frame->offset);
	if (t->w.status != TM_OK)
		t->status = t->w.status;
	return end - frame->offset < frame->length ? end - frame->offset : frame->length;
}

/* ---- the constants ---- */

static bool is_vendor_0_8(const struct lttng_trace *t, const struct lttng_block *b)
{
	return t->layout->major == 0 && t->layout->minor == 8 && b->number && !b->h.v[LF_SCALE] && t->want.v[LF_SCALE];
}

static bool is_start(unsigned field)
{
	return field == LF_SEC || field == LF_SUBSEC || field == LF_FREQ || field == LF_SCALE || field == LF_TSC ||
	       field == LF_MONOTONIC;
}

/* A second recording behind the first: other start fields from here on, and time begins anew. */
static bool is_session(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	const uint64_t *v = b->h.v;
	if (!f->has_last || v[LF_SEC] == t->want.v[LF_SEC] || !v[LF_SEC])
		return false;
	if (f->noted_session && v[LF_SEC] == f->last.v[LF_SEC] && v[LF_SUBSEC] == f->last.v[LF_SUBSEC])
		return true;
	if (v[LF_BEGIN] >= f->last.v[LF_BEGIN] || v[LF_SEC] < f->last.v[LF_SEC])
		return false;
	f->noted_session = true;
	lttng_field_report(t, f, b, LTTNG_RULE_appended_sessions, LF_SEC,
			   "start time and stamps begin anew: a recording that started at %llu s follows",
			   (unsigned long long)v[LF_SEC]);
	return true;
}

static void judge_constants(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, bool lost_magic)
{
	const struct lttng_layout *l = t->layout;
	bool vendor = is_vendor_0_8(t, b), session = !lost_magic && is_session(t, f, b);

	if (vendor && !f->noted_vendor) {
		f->noted_vendor = true;
		lttng_field_report(t, f, b, LTTNG_RULE_vendor_0_8_loss_fields, LF_SCALE,
				   "freq_scale is 0, and start_freq holds counts of losses");
	}
	for (unsigned i = LF_FIRST_CONSTANT; i < LF_COUNT; i++) {
		enum lttng_field field = (enum lttng_field)i;
		if (!lttng_has(l, field) || b->h.v[i] == t->want.v[i])
			continue;
		if ((vendor && (i == LF_SCALE || i == LF_FREQ)) || (session && is_start(i)))
			continue;
		if (t->blame[i]) {
			/* Wrong everywhere, and reported once. */
			if (!b->errors)
				b->rule = t->blame[i] - 1;
			b->errors = true;
		} else if (b->cause) {
			finding_explains(b->cause, 1);
		} else if (!lost_magic) {
			bool version = i == LF_MAJOR || i == LF_MINOR;
			lttng_field_report(t, f, b, version ? LTTNG_RULE_version_mixed : LTTNG_RULE_header_field_differs, field,
					   "%s is %llu, and %llu in the other blocks", lttng_field_names[i],
					   (unsigned long long)b->h.v[i], (unsigned long long)t->want.v[i]);
		}
		b->h.v[i] = t->want.v[i];
	}
}

/* ---- headers that are not where they should be ---- */

static void drop_block(struct lttng_block *b, unsigned rule)
{
	b->keep = false;
	b->rule = rule;
}

/* A block whose header is gone: it may be worth nothing, or be made up from its neighbours. */
static void header_gone(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	const struct lttng_frame *frame = b->frame;
	uint64_t zeros = zeros_at_start(t, frame);
	uint64_t whole = t->layout->variable ? 0 : f->block_size;
	unsigned rule;

	if (t->status != TM_OK)
		return;
	bool tail = frame->last && (t->layout->variable || frame->length < whole) && b->number;
	if (zeros == frame->length)
		rule = LTTNG_RULE_zero_block;
	else if (load_u32(b->head + t->layout->magic, !t->big_endian) == LTTNG_MAGIC)
		rule = LTTNG_RULE_byte_order_mixed;
	else if (tail)
		rule = frame->length < t->layout->size ? LTTNG_RULE_file_size_not_multiple : LTTNG_RULE_trailing_garbage;
	else
		rule = b->number ? LTTNG_RULE_magic_lost_in_block : LTTNG_RULE_bad_magic_first_block;
	/* Bytes that came in before push the end of the file away from the last block. */
	if (frame->last && f->cause && (tail || rule == LTTNG_RULE_zero_block) && frame->length < LTTNG_PAGE) {
		b->cause = f->cause;
		b->rule = rule;
	}
	switch (rule) {
	case LTTNG_RULE_zero_block:
		lttng_block_report(t, f, b, LTTNG_RULE_zero_block, 0, frame->length, "%llu bytes of zeros where a block should be",
				   (unsigned long long)frame->length);
		break;
	case LTTNG_RULE_byte_order_mixed:
		lttng_block_report(t, f, b, LTTNG_RULE_byte_order_mixed, 0, frame->length,
				   "the block's byte order is not that of the trace");
		break;
	case LTTNG_RULE_file_size_not_multiple:
	case LTTNG_RULE_trailing_garbage:
		lttng_block_report(t, f, b, rule, 0, frame->length, "%llu bytes that are no block follow the last one",
				   (unsigned long long)frame->length);
		break;
	default:
		lttng_block_report(t, f, b, rule, 0, frame->length,
				   "there is no block header, and none of its fields is what it should be");
		break;
	}
	drop_block(b, rule);
	if (rule == LTTNG_RULE_magic_lost_in_block || rule == LTTNG_RULE_bad_magic_first_block) {
		b->keep = b->made_up = true;
		b->h = t->want;
		b->h.v[LF_BEGIN] = f->has_last ? f->last.v[LF_END] : t->begin;
	}
	b->lost = true; /* zeros, too, may be a block that never reached the disk */
}

static void judge_header(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	const struct lttng_layout *l = t->layout;
	uint64_t length = b->frame->length;
	unsigned of, score;

	b->keep = true;
	if (length < l->size) {
		/* A beginning of a header is the beginning of a block; anything else is not. */
		if (length >= l->magic + 4u && load_u32(b->head + l->magic, t->big_endian) == LTTNG_MAGIC) {
			lttng_block_report(t, f, b, LTTNG_RULE_block_beyond_eof, 0, length,
					   "the file ends within the header of the block, after %llu bytes",
					   (unsigned long long)length);
			drop_block(b, LTTNG_RULE_block_beyond_eof);
			b->lost = true;
		} else {
			header_gone(t, f, b);
			b->keep = b->made_up = false;
		}
		return;
	}
	lttng_header_load(&b->h, l, t->big_endian, b->head);
	score = lttng_header_score(t, &b->h, &of);
	bool lost_magic = b->h.v[LF_MAGIC] != LTTNG_MAGIC;
	if (lost_magic && 2 * score < of + (of == 0)) {
		header_gone(t, f, b);
	} else {
		if (lost_magic) {
			lttng_field_report(t, f, b, b->number ? LTTNG_RULE_magic_lost_in_block : LTTNG_RULE_bad_magic_first_block,
					   LF_MAGIC, "the magic number is 0x%08llx; it should be 0x%08x",
					   (unsigned long long)b->h.v[LF_MAGIC], LTTNG_MAGIC);
		}
		judge_constants(t, f, b, lost_magic);
	}
}

/* ---- stamps ---- */

static void judge_end(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	uint64_t begin = b->h.v[LF_BEGIN], end = b->h.v[LF_END];

	b->bad_end = b->made_up || end < begin;
	if (!b->bad_end || b->made_up || b->open)
		return;
	lttng_field_report(t, f, b, end ? LTTNG_RULE_end_before_begin : LTTNG_RULE_end_stamp_zero, LF_END,
			   "the block begins at %llu and ends at %llu", (unsigned long long)begin, (unsigned long long)end);
}

/* Stamps beyond it are of no event of a block without end. */
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

static void walk_block(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, struct lttng_walk *k)
{
	uint64_t room = b->frame->length < b->size ? b->frame->length : b->size;

	*k = (struct lttng_walk){ .file = f,
				  .base = b->frame->offset,
				  .room = room,
				  .begin = b->h.v[LF_BEGIN],
				  .end = b->bad_end ? UINT64_MAX : b->h.v[LF_END],
				  .bound = UINT64_MAX,
				  .stale = UINT64_MAX,
				  .open = b->unknown_end,
				  .number = b->number,
				  .rel = t->layout->size,
				  .headless = b->made_up };
	/* Compact stamps lack their lowest bits. */
	if (f->compact && t->want.v[LF_TRUNCATE] < 32)
		k->end |= (UINT64_C(1) << t->want.v[LF_TRUNCATE]) - 1;
	k->limit = b->data_end < room ? b->data_end : room;
	k->cut_explained = b->data_end > room;
	k->header_cause = b->cause;
	k->cause = b->cut || b->frame->length > b->size ? b->cause : NULL;
	if (b->unknown_end) {
		k->limit = room;
		k->bound = upper_bound(t, f, b);
		k->end = UINT64_MAX;
		k->stale = lttng_stale_tail(t, f, b->frame, room);
		lttng_seen_gather(t, f);
	}
	lttng_walk_events(t, k);
	lttng_seen_free(t);
	if (k->end_moved || k->broken || b->unknown_end || k->cut_explained)
		b->data_end = k->rel;
	if (k->rule && (k->broken || k->end_moved) && !b->errors)
		b->rule = k->rule;
	if (k->edit_count && !b->errors && !k->rule)
		b->rule = t->edits[0].rule;
	b->errors |= k->broken || k->end_moved || k->edit_count;
	b->lost |= (k->broken && !k->cut_known) || k->resynced;
}

/* window_skip_zeros() that reads no further than it must: behind the padding is the next block, which the window may hold. */
static uint64_t skip_zeros(struct lttng_trace *t, uint64_t at, uint64_t end)
{
	size_t got;
	const uint8_t *p;

	while (at < end && (p = window_upto(&t->w, at, end - at < LTTNG_PAGE ? (size_t)(end - at) : LTTNG_PAGE, &got)) != NULL) {
		if (!bytes_are_zero(p, got)) {
			while (!*p++)
				at++;
			return at;
		}
		at += got;
	}
	if (t->w.status != TM_OK)
		t->status = t->w.status;
	return at;
}

/* What is behind the data of a block whose end is sure. */
static void judge_padding(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b)
{
	uint64_t at = b->frame->offset + b->data_end, end = b->frame->offset + b->frame->length;
	if (f->noted_padding || b->errors || at >= end)
		return;
	uint64_t nonzero = skip_zeros(t, at, end);
	if (nonzero >= end || t->status != TM_OK)
		return;
	f->noted_padding = true;
	struct finding *fd = finding_report(t->f, LTTNG_RULE_padding_not_zero, f->source, nonzero, end - nonzero,
					    "the padding from 0x%llx to 0x%llx is not all zeros", (unsigned long long)at,
					    (unsigned long long)end);
	finding_path(fd, "block %llu > padding", (unsigned long long)b->number);
}

static void close_block(struct lttng_trace *t, struct lttng_block *b, const struct lttng_walk *k)
{
	const struct lttng_layout *l = t->layout;
	uint64_t data = b->data_end;
	uint64_t last = k->events && k->stamp > b->h.v[LF_BEGIN] ? k->stamp : b->h.v[LF_BEGIN];

	for (unsigned i = 0; i < k->edit_count; i++)
		data -= t->edits[i].drop - t->edits[i].length;
	if (l->variable) {
		/* The pages that are there stay, where the end of the data is where it was. */
		bool keep = b->frame->length % LTTNG_PAGE == 0 && !b->unknown_end && !b->cut && !k->broken && !k->end_moved;
		b->size = keep ? b->frame->length : lttng_align(data, LTTNG_PAGE);
		b->h.v[LF_UNUSED] = data;
	} else {
		b->h.v[LF_UNUSED] = b->size - data;
	}
	b->h.v[LF_SIZE] = b->size;
	if (b->bad_end || ((b->open || b->unknown_end) && b->h.v[LF_END] < last))
		b->h.v[LF_END] = last;
	if (b->made_up) {
		b->h.v[LF_BEGIN_FREQ] = b->h.v[LF_END_FREQ] = 0;
		memset(b->header, 0, sizeof(b->header));
	} else {
		memcpy(b->header, b->head, l->size);
	}
	for (unsigned i = 0; i < LF_COUNT; i++)
		lttng_header_store(b->header, l, t->big_endian, (enum lttng_field)i, b->h.v[i]);
}

static void scan_block(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame)
{
	struct lttng_block b = { .frame = frame, .number = f->blocks++ };
	struct lttng_walk k = { .file = f };
	size_t n = frame->length < t->layout->size ? (size_t)frame->length : t->layout->size;

	if (!lttng_read(t, f, frame->offset, b.head, n))
		return;
	if (t->w.source != f->source)
		window_reset(&t->w, f->source);
	judge_header(t, f, &b);
	if (b.keep && t->status == TM_OK) {
		lttng_sizes_judge(t, f, &b);
		judge_end(t, f, &b);
		lttng_losses_judge(t, f, &b);
		if (t->scan->outline)
			lttng_outline_block(t, f, frame);
		walk_block(t, f, &b, &k);
		if (t->scan->outline)
			lttng_outline_block_end(t, frame, b.data_end);
		if (b.made_up && k.events < MADE_UP_MIN)
			b.keep = false;
	}
	if (t->status != TM_OK)
		return;
	if (b.keep) {
		lttng_time_judge(t, f, &b, &k);
		judge_padding(t, f, &b);
		close_block(t, &b, &k);
		f->last = b.h;
		f->has_last = true;
		f->events += k.events;
		t->records += k.events;
		if (k.events) {
			t->first_stamp = !t->first_stamp || k.first_stamp < t->first_stamp ? k.first_stamp : t->first_stamp;
			t->last_stamp = k.stamp > t->last_stamp ? k.stamp : t->last_stamp;
		}
	}
	if (f->metadata && (b.lost || b.unknown_end || !b.keep))
		lttng_metadata_lose(t, k.finding ? k.finding : b.cause);
	f->cause = k.finding ? k.finding : b.cause;
	f->laps[f->lap].offset = frame->offset;
	f->laps[f->lap].length = b.keep ? frame->length : 0;
	f->lap = (f->lap + 1) % LTTNG_LAPS;
	if (t->scan->plan)
		lttng_repair_block(t, f, &b, &k);
}

void lttng_file_scan(struct lttng_trace *t, struct lttng_file *f)
{
	struct lttng_frame frame;
	if (t->scan->plan)
		f->output = lttng_repair_output(t, f);
	if (t->scan->outline)
		lttng_outline_file(t, f);
	for (uint64_t at = 0; t->status == TM_OK && lttng_frame_at(t, f, at, &frame); at += frame.length)
		scan_block(t, f, &frame);
	if (t->scan->outline)
		lttng_outline_file_end(t);
}
