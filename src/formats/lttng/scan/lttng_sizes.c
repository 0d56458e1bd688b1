/* The size fields of a block: "lost_size", "buf_size", and from 2.5 on data_size and sb_size. */
#include "formats/lttng/scan/lttng_block.h"

/* The marks of an open block. */
static void judge_open(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	bool last = b->frame->last || !b->frame->next_sound;
	unsigned rule = last ? LTTNG_RULE_unterminated_block : LTTNG_RULE_unterminated_not_last;
	enum lttng_field field = b->h.v[LF_UNUSED] == LTTNG_OPEN ? LF_UNUSED : LF_SIZE;
	lttng_field_report(t, f, b, rule, field, "%s is 0xffffffff: the block was never closed",
			   lttng_field_name(t->coding.layout, field));
	b->open = true;
}

/* Bytes are missing somewhere in the block, up to the next header, and the end of its data is not among what is left: it is so much
 * earlier. */
static bool end_moves(const struct lttng_trace *t, const struct lttng_block *b, uint64_t data, uint64_t size)
{
	const uint64_t length = b->frame->length;
	return b->frame->next_sound && length < size && data > length && data <= size &&
	       data - (size - length) >= t->coding.layout->size;
}

/* Whether the data may end there: with something, and before zeros, of which so many are looked at. */
#define LOOK 16u
static bool may_end(struct lttng_trace *t, struct lttng_file *f, const struct lttng_block *b, uint64_t end)
{
	uint8_t before[LOOK], behind[LOOK];
	const uint64_t length = b->frame->length, header = t->coding.layout->size;

	if (end > length || end < header)
		return false;
	const size_t first = end - header < LOOK ? (size_t)(end - header) : LOOK,
		     rest = length - end < LOOK ? (size_t)(length - end) : LOOK;
	if (!lttng_file_read(t, f, b->frame->offset + end - first, before, first) ||
	    !lttng_file_read(t, f, b->frame->offset + end, behind, rest))
		return true; /* t->status */
	return (!first || !bytes_are_zero(before, first)) && bytes_are_zero(behind, rest);
}

/* The block is too long by bytes that are there twice. */
static void report_repeat(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	const struct lttng_repeat *r = &b->frame->repeat;
	lttng_block_report(t, f, b, LTTNG_RULE_trailing_garbage, r->from, r->length,
			   "these %llu bytes are there twice, and the next block begins so much too late",
			   (unsigned long long)r->length);
}

/* To 2.4: every block has the size of the file's blocks. */
static void judge_fixed(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	uint64_t size = f->block_size, length = b->frame->length, claimed = b->h.v[LF_SIZE], lost = b->h.v[LF_UNUSED];

	b->size = size;
	if (!b->open && !b->rebuilt && claimed != size) {
		lttng_field_report(t, f, b, claimed ? LTTNG_RULE_buf_size_not_constant : LTTNG_RULE_buf_size_zero, LF_SIZE,
				   "buf_size is %llu, and the blocks of this file have %llu bytes", (unsigned long long)claimed,
				   (unsigned long long)size);
	}
	if (!b->open && !b->rebuilt && lost > size - t->coding.layout->size) {
		lttng_field_report(t, f, b, LTTNG_RULE_lost_size_range, LF_UNUSED,
				   "lost_size is %llu in a block of %llu with a header of %u", (unsigned long long)lost,
				   (unsigned long long)size, t->coding.layout->size);
	}
	/* What damaged one size may have done so with the other. */
	b->unknown_end = b->rebuilt || lost > size - t->coding.layout->size ||
			 (!b->open && claimed != size && !may_end(t, f, b, size - lost));
	b->data_end = b->unknown_end ? size : size - lost;
	if (length < size) {
		b->cut = true;
		b->lost = b->frame->last || b->data_end > length; /* blocks may have followed */
		if (!b->open && !b->unknown_end && end_moves(t, b, b->data_end, size))
			b->data_end -= size - length;
		lttng_block_report(t, f, b, b->frame->last ? LTTNG_RULE_block_beyond_eof : LTTNG_RULE_buf_size_not_constant, 0,
				   length,
				   b->frame->last ? "%llu bytes of the block are there, of %llu"
						  : "the next block begins after %llu bytes, and blocks of this file have %llu",
				   (unsigned long long)length, (unsigned long long)size);
	} else if (b->frame->repeat.length) {
		report_repeat(t, f, b);
	} else if (length > size) {
		lttng_block_report(t, f, b, LTTNG_RULE_trailing_garbage, 0, length,
				   "the next block begins %llu bytes after the end of this one",
				   (unsigned long long)(length - size));
	}
	b->h.v[LF_SIZE] = size;
}

/* From 2.5 on: the block size leads to the next block. */
static void judge_distance(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	uint64_t length = b->frame->length, size = b->h.v[LF_SIZE], data = b->h.v[LF_UNUSED];
	bool whole = length % LTTNG_PAGE == 0 && data <= length;

	if (!size) {
		lttng_field_report(t, f, b, LTTNG_RULE_buf_size_zero, LF_SIZE, "sb_size is 0, and the block has %llu bytes",
				   (unsigned long long)length);
	} else if (size % LTTNG_PAGE) {
		lttng_field_report(t, f, b, LTTNG_RULE_sb_size_not_page_multiple, LF_SIZE,
				   "sb_size is %llu, which is not a multiple of 4096; the block has %llu bytes",
				   (unsigned long long)size, (unsigned long long)length);
	} else if (!b->frame->last || (whole && lttng_align(data, LTTNG_PAGE) == length)) {
		lttng_field_report(t, f, b, LTTNG_RULE_sb_size_misleads, LF_SIZE,
				   "sb_size is %llu, and the next block begins after %llu bytes", (unsigned long long)size,
				   (unsigned long long)length);
	} else {
		b->cut = true;
		lttng_block_report(t, f, b, LTTNG_RULE_block_beyond_eof, 0, length, "%llu bytes of the block are there, of %llu",
				   (unsigned long long)length, (unsigned long long)size);
	}
}

/* From 2.5 on: sizes that agree with each other are those of the block, and bytes are missing there. */
static bool ends_early(const struct lttng_trace *t, const struct lttng_block *b)
{
	const uint64_t size = b->h.v[LF_SIZE], data = b->h.v[LF_UNUSED];
	return lttng_align(data, LTTNG_PAGE) == size && end_moves(t, b, data, size);
}

/* From 2.5 on: the data against the block. */
static void judge_data_size(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	uint64_t length = b->frame->length, size = b->h.v[LF_SIZE], data = b->h.v[LF_UNUSED];
	bool short_data = data < t->coding.layout->size;

	if (!short_data && (data <= length || b->cut) && data <= size)
		return;
	b->unknown_end = short_data || (data > length && !ends_early(t, b));
	if (!b->cut && (short_data || !b->errors || size > data))
		lttng_field_report(t, f, b, LTTNG_RULE_data_size_range, LF_UNUSED,
				   "data_size is %llu in a block of %llu with a header of %u", (unsigned long long)data,
				   (unsigned long long)length, t->coding.layout->size);
}

static void judge_variable(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{
	uint64_t length = b->frame->length - b->frame->repeat.length, size = b->h.v[LF_SIZE], data = b->h.v[LF_UNUSED];
	uint64_t pages = lttng_align(data, LTTNG_PAGE);

	b->size = length;
	b->unknown_end = b->rebuilt || data < t->coding.layout->size || data == LTTNG_OPEN;
	if (b->rebuilt) {
		b->data_end = length;
		return;
	}
	if (b->frame->repeat.length)
		report_repeat(t, f, b);
	else if (!b->open && size != length)
		judge_distance(t, f, b);
	if (!b->open)
		judge_data_size(t, f, b);
	if (!b->open && !b->errors && pages != size && (size & (size - 1)))
		lttng_field_report(t, f, b, LTTNG_RULE_sb_size_not_minimal, LF_SIZE,
				   "sb_size is %llu, and %llu bytes of data need %llu", (unsigned long long)size,
				   (unsigned long long)data, (unsigned long long)pages);
	b->data_end = b->unknown_end ? length : data;
	b->lost = b->cut && (b->frame->last || b->data_end > length);
	if (!b->unknown_end && !b->open && ends_early(t, b)) {
		b->data_end -= size - length;
		b->lost = true;
	}
}

void lttng_sizes_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b)
{

	if (!b->rebuilt && (b->h.v[LF_UNUSED] == LTTNG_OPEN || b->h.v[LF_SIZE] == LTTNG_OPEN))
		judge_open(t, f, b);
	if (t->coding.layout->variable) {
		judge_variable(t, f, b);
		return;
	}
	judge_fixed(t, f, b);
	if (b->number || b->errors)
		return;
	if (b->size & (b->size - 1)) {
		lttng_field_report(t, f, b, LTTNG_RULE_buf_size_not_power_of_two, LF_SIZE, "buf_size is %llu",
				   (unsigned long long)b->size);
	}
	if (b->size < LTTNG_PAGE) {
		lttng_field_report(t, f, b, LTTNG_RULE_buf_size_below_page, LF_SIZE, "buf_size is %llu",
				   (unsigned long long)b->size);
	}
}
