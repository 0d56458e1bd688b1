/* The header of a block against those of the trace. "The block start/end header". */
#include "formats/lttng/salvage/lttng_salvage.h"
#include "formats/lttng/scan/lttng_block.h"

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
	struct finding *fd = finding_new_at(t->s->findings, rule, f->source, b->frame->from + from, length);
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
	const struct lttng_place *place = &t->coding.layout->places[field];
	const char *name = lttng_field_name(t->coding.layout, field);
	va_list arguments;
	if (block_folds(b, rule))
		return NULL;
	struct finding *fd = finding_new_at(t->s->findings, rule, f->source, b->frame->offset, t->coding.layout->size);
	finding_path(fd, "block %llu > %s", (unsigned long long)b->number, name);
	finding_field(fd, b->frame->offset + place->offset, place->width, "%s = %llu", name, (unsigned long long)b->h.v[field]);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	block_blame(b, rule, fd);
	return fd;
}

/* Whether the block is of zeros. Sets the end of the last block of this file that is, in the run of zeros that begins here. */
static bool is_zeros(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame)
{
	const uint64_t end = frame->offset + frame->length, size = t->coding.layout->variable ? 0 : f->block_size;

	if (end <= f->zeros_until)
		return true;
	uint64_t zeros = window_skip_zeros(&t->window, frame->from);
	if (t->window.status != TM_OK)
		t->status = t->window.status;
	if (zeros < end)
		return false;
	if (size && zeros < f->source->size)
		zeros -= (zeros - end) % size;
	f->zeros_until = size ? zeros : end;
	return true;
}

/* ---- the constants ---- */

static bool is_vendor_0_8(const struct lttng_trace *t, const struct lttng_block *b)
{
	return t->coding.layout->major == 0 && t->coding.layout->minor == 8 && b->number && !b->h.v[LF_SCALE] &&
	       t->constants.want.v[LF_SCALE];
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
	if (!f->has_last || v[LF_SEC] == t->constants.want.v[LF_SEC] || !v[LF_SEC])
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
	const struct lttng_layout *l = t->coding.layout;
	bool vendor = is_vendor_0_8(t, b), session = !lost_magic && is_session(t, f, b);

	if (vendor && !f->noted_vendor) {
		f->noted_vendor = true;
		lttng_field_report(t, f, b, LTTNG_RULE_vendor_0_8_loss_fields, LF_SCALE,
				   "freq_scale is 0, and start_freq holds counts of losses");
	}
	for (unsigned i = LF_FIRST_CONSTANT; i < LF_COUNT; i++) {
		enum lttng_field field = (enum lttng_field)i;
		if (!lttng_has(l, field) || b->h.v[i] == t->constants.want.v[i])
			continue;
		if ((vendor && (i == LF_SCALE || i == LF_FREQ)) || (session && is_start(i)))
			continue;
		if (t->constants.blame[i]) {
			/* Wrong everywhere, and reported once. */
			if (!b->errors)
				b->rule = t->constants.blame[i] - 1;
			b->errors = true;
		} else if (b->cause) {
			finding_explains(b->cause, 1);
		} else if (!lost_magic) {
			bool version = i == LF_MAJOR || i == LF_MINOR;
			lttng_field_report(t, f, b, version ? LTTNG_RULE_version_mixed : LTTNG_RULE_header_field_differs, field,
					   "%s is %llu, and %llu in the other blocks", lttng_field_names[i],
					   (unsigned long long)b->h.v[i], (unsigned long long)t->constants.want.v[i]);
		}
		b->h.v[i] = t->constants.want.v[i];
	}
}

/* ---- headers that are not where they should be ---- */

static void drop_block(struct lttng_block *b, unsigned rule)
{
	b->keep = false;
	b->rule = rule;
}

/* A block whose header is lost: it is dropped, or gets a new one from its neighbours. */
static void header_gone(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	const struct lttng_frame *frame = b->frame;
	bool again = frame->offset + frame->length <= f->zeros_until, zeros = is_zeros(t, f, frame);
	uint64_t whole = t->coding.layout->variable ? 0 : f->block_size;
	unsigned rule;

	if (t->status != TM_OK)
		return;
	bool tail = frame->last && (t->coding.layout->variable || frame->length < whole) && b->number;
	if (zeros)
		rule = LTTNG_RULE_zero_block;
	else if (load_u32(b->head + t->coding.layout->magic, !t->coding.big_endian) == LTTNG_MAGIC)
		rule = LTTNG_RULE_byte_order_mixed;
	else if (tail)
		rule = frame->length < t->coding.layout->size ? LTTNG_RULE_file_size_not_multiple : LTTNG_RULE_trailing_garbage;
	else
		rule = b->number ? LTTNG_RULE_magic_lost_in_block : LTTNG_RULE_bad_magic_first_block;
	/* Bytes that came in before push the end of the file away from the last block. */
	if (frame->last && f->cause && (tail || rule == LTTNG_RULE_zero_block) && frame->length < LTTNG_PAGE) {
		b->cause = f->cause;
		b->rule = rule;
	}
	/* One error for a run of them. */
	if (again) {
		b->cause = f->cause;
		b->errors = true;
	}
	switch (rule) {
	case LTTNG_RULE_zero_block:
		if (!again)
			lttng_block_report(t, f, b, LTTNG_RULE_zero_block, 0, f->zeros_until - frame->from,
					   "%llu bytes of zeros where a block should be",
					   (unsigned long long)(f->zeros_until - frame->from));
		break;
	case LTTNG_RULE_byte_order_mixed:
		lttng_block_report(t, f, b, LTTNG_RULE_byte_order_mixed, 0, frame->length,
				   "the magic number is in the other byte order than in the rest of the trace");
		break;
	case LTTNG_RULE_file_size_not_multiple:
	case LTTNG_RULE_trailing_garbage:
		lttng_block_report(t, f, b, rule, 0, frame->length, "%llu bytes that are not a block follow the last one",
				   (unsigned long long)frame->length);
		break;
	default:
		lttng_block_report(t, f, b, rule, 0, frame->length,
				   "there is no block header: neither the magic number nor most constants of the trace are there");
		break;
	}
	drop_block(b, rule);
	if (rule == LTTNG_RULE_magic_lost_in_block || rule == LTTNG_RULE_bad_magic_first_block) {
		b->keep = b->rebuilt = true;
		b->h = t->constants.want;
		b->h.v[LF_BEGIN] = f->has_last ? f->last.v[LF_END] : t->constants.begin;
	}
	b->lost = true; /* zeros, too, may be a block that never reached the disk */
}

/* Bytes that are those before them, and that are no block or a whole one. */
static void leave_out_twice(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, bool whole)
{
	const unsigned long long length = b->frame->length;

	if (whole)
		lttng_block_report(t, f, b, LTTNG_RULE_block_recorded_twice, 0, length,
				   "these %llu bytes are the block before again", length);
	else
		lttng_block_report(t, f, b, LTTNG_RULE_trailing_garbage, 0, length, "these %llu bytes are there twice", length);
	drop_block(b, whole ? LTTNG_RULE_block_recorded_twice : LTTNG_RULE_trailing_garbage);
	b->twice = true;
}

/* Whether it is the block before once more, byte for byte. Two that a tracer wrote have other stamps. */
static bool is_block_before(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b)
{
	const uint64_t *v = b->h.v, length = b->frame->length;

	return f->has_last && v[LF_BEGIN] < v[LF_END] && v[LF_BEGIN] == f->last.v[LF_BEGIN] && v[LF_END] == f->last.v[LF_END] &&
	       b->frame->offset >= length && lttng_repeat_before(t, f, b->frame->offset, length);
}

void lttng_header_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	const struct lttng_layout *l = t->coding.layout;
	uint64_t length = b->frame->length;
	unsigned of, score;

	b->keep = true;
	if (b->frame->again) {
		leave_out_twice(t, f, b, false);
		return;
	}
	if (b->frame->from != b->frame->offset) {
		header_gone(t, f, b);
		return;
	}
	if (length < l->size) {
		/* A beginning of a header is the beginning of a block; anything else is not. */
		if (length >= l->magic + 4u && load_u32(b->head + l->magic, t->coding.big_endian) == LTTNG_MAGIC) {
			lttng_block_report(t, f, b, LTTNG_RULE_block_beyond_eof, 0, length,
					   "the file ends within the header of the block, after %llu bytes",
					   (unsigned long long)length);
			drop_block(b, LTTNG_RULE_block_beyond_eof);
			b->lost = true;
		} else {
			header_gone(t, f, b);
			b->keep = b->rebuilt = false;
		}
		return;
	}
	lttng_header_load(&b->h, l, t->coding.big_endian, b->head);
	score = lttng_header_score(t, &b->h, &of);
	bool lost_magic = b->h.v[LF_MAGIC] != LTTNG_MAGIC;
	if (is_block_before(t, f, b)) {
		leave_out_twice(t, f, b, true);
		return;
	}
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
