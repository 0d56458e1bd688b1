#include "formats/fxt/repair/fxt_repair.h"

#include "core/text.h"

void fxt_repair_open(struct fxt_repair *p, struct plan *plan, struct source *source)
{
	p->plan = plan;
	p->source = source;
	if (plan)
		p->output = plan_output(plan, "");
}

void fxt_repair_close(struct fxt_repair *p)
{
	edits_free(&p->edits);
}

void fxt_repair_keep(struct fxt_repair *p, uint64_t until)
{
	if (!p->plan)
		return;
	if (until > p->keep_from)
		plan_copy(p->plan, p->output, p->source, p->keep_from, until - p->keep_from);
	p->keep_from = until;
}

void fxt_repair_drop(struct fxt_repair *p, uint64_t from, uint64_t until, unsigned rule, const char *why)
{
	if (!p->plan || from == until)
		return;
	fxt_repair_keep(p, from);
	plan_drop(p->plan, p->source, from, until - from, rule, why);
	p->keep_from = until;
}

void fxt_repair_lost(struct fxt_repair *p, uint64_t records, enum tracemend_exactness exactness)
{
	if (p->plan)
		plan_lost(p->plan, records, exactness);
}

void fxt_repair_insert(struct fxt_repair *p, uint64_t before, const uint64_t *words, size_t count, unsigned rule, const char *why)
{
	uint8_t bytes[8 * FXT_WORD];

	if (!p->plan)
		return;
	fxt_repair_keep(p, before);
	for (size_t i = 0; i < count && i < sizeof(bytes) / FXT_WORD; i++)
		store_u64(bytes + i * FXT_WORD, words[i], p->big_endian);
	plan_literal(p->plan, p->output, bytes, count * FXT_WORD, rule, why);
	plan_added(p->plan, 1);
}

void fxt_repair_copy(struct fxt_repair *p, uint64_t before, uint64_t from, uint64_t length, unsigned rule, const char *why)
{
	if (!p->plan)
		return;
	fxt_repair_keep(p, before);
	plan_copy_again(p->plan, p->output, p->source, from, length, rule, why);
	plan_added(p->plan, 1);
}

void fxt_repair_insert_string(struct fxt_repair *p, uint64_t before, uint16_t index)
{
	static const char digits[] = "0123456789abcdef";
	char text[] = "<lost string 0x0000>";
	uint8_t bytes[4 * FXT_WORD] = { 0 };
	uint64_t length = sizeof(text) - 1;

	if (!p->plan)
		return;
	for (unsigned i = 0; i < 4; i++)
		text[15 + i] = digits[index >> (12 - 4 * i) & 15];
	fxt_repair_keep(p, before);
	store_u64(bytes, fxt_header(FXT_STRING, 1 + fxt_words(length)) | fxt_field(16, 15, index) | fxt_field(32, 15, length),
		  p->big_endian);
	memcpy(bytes + FXT_WORD, text, (size_t)length);
	plan_literal(p->plan, p->output, bytes, FXT_WORD * (size_t)(1 + fxt_words(length)), FXT_RULE_dangling_string_ref,
		     "placeholder for a string that the file does not register");
	plan_added(p->plan, 1);
	plan_lost(p->plan, 0, TM_UNKNOWN_COUNT);
}

void fxt_repair_insert_thread(struct fxt_repair *p, uint64_t before, uint8_t index)
{
	uint64_t words[3] = { fxt_header(FXT_THREAD, 3) | fxt_field(16, 8, index), 0, UINT64_C(0xffffffff00000000) + index };

	fxt_repair_insert(p, before, words, 3, FXT_RULE_dangling_thread_ref,
			  "placeholder for a thread that the file does not register");
	fxt_repair_lost(p, 0, TM_UNKNOWN_COUNT);
}

void fxt_repair_magic(struct fxt_repair *p, uint64_t at, unsigned rule)
{
	uint8_t magic[FXT_WORD];

	if (!p->plan)
		return;
	store_u64(magic, FXT_MAGIC, p->big_endian);
	fxt_repair_keep(p, at);
	plan_replace(p->plan, p->output, p->source, at, FXT_WORD, magic, FXT_WORD, rule, "the magic number");
	plan_patched(p->plan, 1);
	p->patched++;
	p->keep_from = at + FXT_WORD;
}

void fxt_repair_patched(struct fxt_repair *p)
{
	if (p->plan)
		plan_patched(p->plan, 1);
	p->patched += p->plan != NULL;
}

/* ---- corrections in place ---- */

/* Issues of several rules may be about bits of one word. */
static bool clears_bits(const struct issue *i)
{
	return i->severity == TM_ERROR && (i->rule == FXT_RULE_reserved_bits_set || i->rule == FXT_RULE_string_flag_bit_set ||
					   i->rule == FXT_RULE_bool_value_bits);
}

static void edit_word(struct fxt_repair *p, uint64_t at, uint64_t word, bool big_endian, unsigned rule)
{
	uint8_t bytes[FXT_WORD];

	store_u64(bytes, word, big_endian);
	edits_add(&p->edits, at, FXT_WORD, bytes, FXT_WORD, rule, "corrected in place");
}

/* Clears all bits of the word that issues name, under the rule of the first one. */
static void edit_bits(struct fxt_repair *p, const struct fxt_record *r, uint32_t n)
{
	const struct issue *first = &r->issues.list[n];
	uint64_t mask = 0;

	for (uint32_t k = 0; k < r->issues.count; k++) {
		const struct issue *i = &r->issues.list[k];
		if (!clears_bits(i) || i->at != first->at)
			continue;
		if (k < n)
			return;
		mask |= i->want;
	}
	edit_word(p, first->at, load_u64(r->data + first->at, p->big_endian) & ~mask, p->big_endian, first->rule);
}

/* Each invalid byte becomes a question mark, so that no length changes. */
static void edit_text(struct fxt_repair *p, const struct fxt_record *r, const struct issue *i)
{
	edits_add(&p->edits, i->at, i->length, r->data + i->at, i->length, i->rule, "corrected in place");
	if (p->edits.failed)
		return;
	uint8_t *text = p->edits.bytes.data + p->edits.list[p->edits.count - 1].bytes;
	for (size_t at = 0; at < i->length; at++) {
		at += utf8_valid_prefix(text + at, i->length - at);
		if (at < i->length)
			text[at] = '?';
	}
}

static void edit_arguments(struct fxt_repair *p, const struct fxt_record *r, unsigned rule)
{
	for (unsigned n = 0; n < r->argument_count; n++) {
		const struct fxt_argument_view *a = &r->arguments[n];
		edit_word(p, a->at, load_u64(r->data + a->at, p->big_endian), !p->big_endian, rule);
		if (fxt_argument_layouts[a->type].words == 2)
			edit_word(p, a->value_at, load_u64(r->data + a->value_at, p->big_endian), !p->big_endian, rule);
	}
}

static void edit_issue(struct fxt_repair *p, const struct fxt_record *r, uint32_t n, uint64_t offset)
{
	static const uint8_t zeros[FXT_WORD];
	const struct issue *i = &r->issues.list[n];

	switch (i->rule) {
	case FXT_RULE_reserved_bits_set:
	case FXT_RULE_string_flag_bit_set:
	case FXT_RULE_bool_value_bits:
		edit_bits(p, r, n);
		break;
	case FXT_RULE_nonzero_padding:
		edits_add(&p->edits, i->at, i->length, zeros, i->length, i->rule, "corrected in place");
		break;
	case FXT_RULE_invalid_utf8:
		edit_text(p, r, i);
		if (memchr(r->data + i->at, 0, i->length)) { /* no writer puts a NUL into a text */
			plan_doubt(p->plan, p->source, offset, r->words * FXT_WORD,
				   "a text with NUL bytes may contain the bytes of records");
			plan_lost(p->plan, 0, TM_UNKNOWN_COUNT);
		}
		break;
	case FXT_RULE_zero_tick_rate:
		edit_word(p, i->at, FXT_TICKS_DEFAULT, p->big_endian, i->rule);
		plan_doubt(p->plan, p->source, offset, r->words * FXT_WORD, "the tick rate was 0 and was replaced by the default");
		break;
	/* The header was read as it should be. */
	case FXT_RULE_blob_size_shifted:
	case FXT_RULE_record_size_zero:
	case FXT_RULE_record_size_too_small:
	case FXT_RULE_record_content_overrun:
	case FXT_RULE_record_past_end:
	case FXT_RULE_swallowed_records:
		edit_word(p, 0, r->header, p->big_endian, i->rule);
		break;
	case FXT_RULE_mixed_endianness:
		edit_arguments(p, r, i->rule);
		break;
	default:
		break;
	}
}

enum tracemend_status fxt_repair_record(struct fxt_repair *p, const struct fxt_record *r, uint64_t offset)
{
	if (!p->plan)
		return TM_OK;
	edits_clear(&p->edits);
	for (uint32_t n = 0; n < r->issues.count; n++)
		if (r->issues.list[n].severity == TM_ERROR)
			edit_issue(p, r, n, offset);
	if (p->edits.failed)
		return TM_NO_MEMORY;
	if (!p->edits.count)
		return TM_OK;
	edits_sort(&p->edits);
	const struct edit *last = &p->edits.list[p->edits.count - 1];
	uint64_t from = p->edits.list[0].at, until = last->at + last->remove;
	fxt_repair_keep(p, offset + from);
	edits_apply(&p->edits, p->plan, p->output, p->source, offset, from, until);
	p->keep_from = offset + until;
	plan_patched(p->plan, 1);
	p->patched++;
	return TM_OK;
}
