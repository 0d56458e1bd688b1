/* What the walk does to the plan. Records that stay are not touched one by one: everything since the last break is one
 * copy. */
#include "formats/fxt/scan/fxt_walk.h"

#include "core/text.h"

#include <stdlib.h>

void fxt_keep_flush(struct fxt_walk *x, uint64_t until)
{
	if (!x->s->plan)
		return;
	if (until > x->keep_from)
		plan_copy(x->s->plan, x->output, x->source, x->keep_from, until - x->keep_from);
	x->keep_from = until;
}

void fxt_drop(struct fxt_walk *x, uint64_t from, uint64_t until, unsigned rule, const char *why)
{
	if (!x->s->plan || from == until)
		return;
	fxt_keep_flush(x, from);
	plan_drop(x->s->plan, x->source, from, until - from, rule, why);
	x->keep_from = until;
}

void fxt_insert(struct fxt_walk *x, uint64_t before, const uint64_t *words, size_t count, unsigned rule, const char *why)
{
	uint8_t bytes[8 * FXT_WORD];
	if (!x->s->plan)
		return;
	fxt_keep_flush(x, before);
	for (size_t i = 0; i < count && i < sizeof(bytes) / FXT_WORD; i++)
		store_u64(bytes + i * FXT_WORD, words[i], x->decoder.big_endian);
	plan_literal(x->s->plan, x->output, bytes, count * FXT_WORD, rule, why);
	plan_added(x->s->plan, 1);
}

void fxt_insert_string(struct fxt_walk *x, uint64_t before, uint16_t index)
{
	static const char digits[] = "0123456789abcdef";
	char text[] = "<lost string 0x0000>";
	uint8_t bytes[4 * FXT_WORD] = { 0 };
	uint64_t length = sizeof(text) - 1;

	if (!x->s->plan)
		return;
	for (unsigned i = 0; i < 4; i++)
		text[15 + i] = digits[index >> (12 - 4 * i) & 15];
	fxt_keep_flush(x, before);
	store_u64(bytes, fxt_header(FXT_STRING, 1 + fxt_words(length)) | fxt_field(16, 15, index) | fxt_field(32, 15, length),
		  x->decoder.big_endian);
	memcpy(bytes + FXT_WORD, text, length);
	plan_literal(x->s->plan, x->output, bytes, FXT_WORD * (size_t)(1 + fxt_words(length)), FXT_RULE_dangling_string_ref,
		     "stands for a string that the file does not register");
	plan_added(x->s->plan, 1);
	plan_lost(x->s->plan, 0, TM_UNKNOWN_COUNT);
}

void fxt_insert_thread(struct fxt_walk *x, uint64_t before, uint8_t index)
{
	uint64_t words[3] = { fxt_header(FXT_THREAD, 3) | fxt_field(16, 8, index), 0, UINT64_C(0xffffffff00000000) + index };
	fxt_insert(x, before, words, 3, FXT_RULE_dangling_thread_ref, "stands for a thread that the file does not register");
	if (x->s->plan)
		plan_lost(x->s->plan, 0, TM_UNKNOWN_COUNT);
}

/* ---- patches in place ---- */

struct patch {
	uint64_t at;
	uint32_t length;
	uint16_t rule;
	enum { PATCH_CLEAR, PATCH_ZERO, PATCH_TEXT, PATCH_SWAP, PATCH_TICKS } how;
	uint64_t mask;
};

static void patch_add(struct patch *list, unsigned *count, struct patch p)
{
	unsigned i = *count;
	/* Bits of one word may be wrong for two reasons. */
	for (unsigned k = 0; k < *count; k++)
		if (list[k].at == p.at && list[k].how == PATCH_CLEAR && p.how == PATCH_CLEAR) {
			list[k].mask |= p.mask;
			return;
		}
	for (; i > 0 && list[i - 1].at > p.at; i--)
		list[i] = list[i - 1];
	list[i] = p;
	(*count)++;
}

/* Bad bytes become question marks, one for one: no length changes. */
static void patch_text(uint8_t *text, size_t length)
{
	for (size_t at = 0; at < length; at++) {
		at += utf8_valid_prefix(text + at, length - at);
		if (at < length)
			text[at] = '?';
	}
}

static void patch_apply(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset, const struct patch *p)
{
	bool big_endian = x->decoder.big_endian;
	uint8_t word[FXT_WORD] = { 0 };
	uint8_t *text = NULL, *bytes = word;

	switch (p->how) {
	case PATCH_CLEAR:
		store_u64(word, load_u64(r->data + p->at, big_endian) & ~p->mask, big_endian);
		break;
	case PATCH_SWAP:
		store_u64(word, load_u64(r->data + p->at, big_endian), !big_endian);
		break;
	case PATCH_TICKS:
		store_u64(word, FXT_TICKS_DEFAULT, big_endian);
		break;
	case PATCH_TEXT:
		text = malloc(p->length);
		if (!text) {
			x->status = fault_memory(&x->s->in->error);
			return;
		}
		memcpy(text, r->data + p->at, p->length);
		patch_text(text, p->length);
		bytes = text;
		break;
	case PATCH_ZERO:
		break;
	}
	fxt_keep_flush(x, offset + p->at);
	plan_replace(x->s->plan, x->output, x->source, offset + p->at, p->length, bytes, p->length, p->rule, "corrected in place");
	x->keep_from = offset + p->at + p->length;
	free(text);
}

void fxt_patch(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset)
{
	struct patch list[FXT_ISSUES_MAX + 2 * FXT_ARGUMENTS_MAX];
	unsigned count = 0;

	if (!x->s->plan)
		return;
	for (uint32_t n = 0; n < r->issues.count; n++) {
		const struct issue *i = &r->issues.list[n];
		struct patch p = { .at = i->at, .length = i->length, .rule = i->rule, .how = PATCH_CLEAR, .mask = i->want };
		if (i->severity != TM_ERROR)
			continue;
		switch (i->rule) {
		case FXT_RULE_reserved_bits_set:
		case FXT_RULE_string_flag_bit_set:
		case FXT_RULE_bool_value_bits:
			patch_add(list, &count, p);
			break;
		case FXT_RULE_nonzero_padding:
			p.how = PATCH_ZERO;
			patch_add(list, &count, p);
			break;
		case FXT_RULE_invalid_utf8:
			p.how = PATCH_TEXT;
			patch_add(list, &count, p);
			if (memchr(r->data + p.at, 0, p.length)) { /* no writer puts a NUL into a text */
				plan_doubt(x->s->plan, x->source, offset, r->words * FXT_WORD,
					   "a text with NUL bytes may have taken records in");
				plan_lost(x->s->plan, 0, TM_UNKNOWN_COUNT);
			}
			break;
		case FXT_RULE_zero_tick_rate:
			p.how = PATCH_TICKS;
			patch_add(list, &count, p);
			plan_doubt(x->s->plan, x->source, offset, r->words * FXT_WORD,
				   "the tick rate was 0; the default was put in");
			break;
		case FXT_RULE_mixed_endianness:
			for (unsigned a = 0; a < r->argument_count; a++) {
				p.how = PATCH_SWAP;
				p.length = FXT_WORD;
				p.at = r->arguments[a].at;
				patch_add(list, &count, p);
				p.at = r->arguments[a].value_at;
				if (fxt_argument_layouts[r->arguments[a].type].words == 2)
					patch_add(list, &count, p);
			}
			break;
		default:
			break;
		}
	}
	for (unsigned n = 0; n < count && x->status == TM_OK; n++)
		patch_apply(x, r, offset, &list[n]);
	if (count) {
		plan_patched(x->s->plan, 1);
		x->patched++;
	}
}
