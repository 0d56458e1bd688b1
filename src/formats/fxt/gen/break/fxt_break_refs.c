/* Defects of streams, texts, registrations and references. */
#include "formats/fxt/gen/break/fxt_break.h"
#include "formats/fxt/gen/fxt_gen_items.h"

/* A mark of the record written last that a stream of that role has, and that is at least so long and, when asked,
 * padded. */
static const struct fxt_mark *stream_mark(struct fxt_gen *g, unsigned least, bool padded, bool text)
{
	for (unsigned i = 0; i < g->mark_count; i++) {
		const struct fxt_mark *m = &g->marks[i];
		if (m->kind == MARK_STREAM && m->length >= least && (!padded || m->length % FXT_WORD) &&
		    (!text || m->role == STREAM_TEXT))
			return m;
	}
	return NULL;
}

/* A leaf with such a stream. Failing that, a log message. NULL when memory is short. */
static const struct fxt_mark *make_stream(struct fxt_gen *g, unsigned least, bool padded, bool text)
{
	for (unsigned tries = 0; tries < 12; tries++) {
		fxt_make_leaf(g);
		const struct fxt_mark *m = stream_mark(g, least, padded, text);
		if (m)
			return m;
	}
	const struct fxt_who who = fxt_who_any(g);
	const struct fxt_text message = fxt_text_of(g, least + (padded && least % FXT_WORD == 0));
	fxt_put_log(g, fxt_tick(g), who, message);
	return stream_mark(g, least, padded, text);
}

/* Fills a text with letters before a defect is put into it. */
static void text_fill(struct fxt_gen *g, const struct fxt_mark *m)
{
	if (!g->out->failed)
		memset(g->out->data + m->offset, 'x', m->length);
}

static void bytes_put(struct fxt_gen *g, size_t offset, const void *data, size_t length)
{
	if (!g->out->failed)
		memcpy(g->out->data + offset, data, length);
}

BREAKER(nonzero_padding, GEN_PLANT)
{
	for (unsigned tries = 12;; tries--) {
		const struct fxt_mark *m = make_stream(g, 1, true, false);
		if (!m)
			return;
		const size_t padding = FXT_WORD - m->length % FXT_WORD;
		const uint8_t byte = (uint8_t)choices_between(g->c, 1, 255);
		bytes_put(g, (size_t)(m->offset + m->length + choices_below(g->c, padding)), &byte, 1);
		if (!fxt_break_withdraw(g, tries))
			return;
	}
}

BREAKER(invalid_utf8, GEN_PLANT)
{
	static const char *const bad[] = {
		"\xff",		    /* no byte of UTF-8 */
		"\x80",		    /* a continuation without a beginning */
		"\xc0\x80",	    /* overlong */
		"\xed\xa0\x80",	    /* a surrogate */
		"\xf4\x90\x80\x80", /* beyond U+10FFFF */
	};
	const char *bytes = bad[choices_below(g->c, 5)];
	const size_t length = strlen(bytes);
	for (unsigned tries = 12;; tries--) {
		/* With a letter before and after it, whatever stood there. */
		const struct fxt_mark *m = make_stream(g, (unsigned)length + 2, false, true);
		if (!m)
			return;
		text_fill(g, m);
		bytes_put(g, (size_t)(m->offset + 1 + choices_below(g->c, m->length - length - 1)), bytes, length);
		if (!fxt_break_withdraw(g, tries))
			return;
	}
}

BREAKER(string_too_long, GEN_PLANT)
{
	const struct fxt_text text = fxt_text_of(g, (unsigned)choices_between(g->c, FXT_STRING_BYTES_ADVISED + 1, 32100));
	const struct fxt_arg arg = { .type = FXT_ARG_STRING,
				     .name = fxt_ref_indexed(g, fxt_text("s")),
				     .text = fxt_ref_inline(text) };
	struct fxt_gen_event e = { .who = { 0, 1, 2 }, .name = fxt_ref_inline(text) };
	switch (choices_below(g->c, 3)) {
	case 0:
		fxt_put_string(g, fxt_string_unused(g), text);
		break;
	case 1:
		e.time = fxt_tick(g);
		fxt_put_event(g, &e);
		break;
	default:
		fxt_break_event(g, FXT_INSTANT, &arg, 1, 0);
		break;
	}
}

BREAKER(embedded_nul, GEN_PLANT)
{
	const struct fxt_mark *m = make_stream(g, 3, false, true);
	if (!m)
		return;
	text_fill(g, m);
	bytes_put(g, (size_t)(m->offset + 1 + choices_below(g->c, m->length - 2)), "", 1);
}

BREAKER(control_character_in_string, GEN_PLANT)
{
	const struct fxt_mark *m = make_stream(g, 3, false, true);
	if (!m)
		return;
	static const char control[] = { 0x01, 0x07, 0x08, 0x0b, 0x1b, 0x1f, 0x7f };
	text_fill(g, m);
	const size_t at = (size_t)(m->offset + 1 + choices_below(g->c, m->length - 2));
	bytes_put(g, at, &control[choices_below(g->c, sizeof(control))], 1);
}

BREAKER(string_index_zero, GEN_PLANT)
{
	fxt_put_string(g, 0, fxt_text_any(g));
}

BREAKER(string_flag_bit_set, GEN_PLANT)
{
	static const struct {
		enum fxt_leaf leaf;
		unsigned bit;
	} forms[] = { { LEAF_STRING, 31 }, { LEAF_STRING, 47 }, { LEAF_LOG, 31 }, { LEAF_BLOB, 47 } };
	for (unsigned tries = 12;; tries--) {
		const size_t form = (size_t)choices_below(g->c, 4);
		fxt_make_leaf_of(g, forms[form].leaf);
		fxt_last_set(g, g->start, forms[form].bit, 1, 1);
		if (!fxt_break_withdraw(g, tries))
			return;
	}
}

BREAKER(empty_string_record, GEN_PLANT)
{
	fxt_put_string(g, fxt_string_unused(g), fxt_text(""));
}

BREAKER(zero_length_inline_string, GEN_PLANT)
{
	struct fxt_arg arg = { .type = FXT_ARG_NULL, .name = fxt_ref_indexed(g, fxt_text("x")) };
	struct fxt_gen_event e = { .type = FXT_INSTANT, .who = fxt_who_any(g), .args = &arg, .arg_count = 1 };
	const struct fxt_ref empty = fxt_ref_inline(fxt_text(""));
	switch (choices_below(g->c, 4)) {
	case 0:
		e.category = empty;
		break;
	case 1:
		e.name = empty;
		break;
	case 2:
		arg.name = empty;
		break;
	default:
		arg.type = FXT_ARG_STRING;
		arg.text = empty;
		break;
	}
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
}

BREAKER(string_redefinition, GEN_PLANT)
{
	const uint16_t index = fxt_string_unused(g);
	fxt_put_string(g, index, fxt_text("before"));
	if (choices_chance(g->c, 1, 2))
		fxt_make_event(g, FXT_INSTANT, 0);
	fxt_put_string(g, index, fxt_text("after"));
}

BREAKER(duplicate_string_registration, GEN_PLANT)
{
	const uint16_t index = fxt_string_unused(g);
	const struct fxt_text text = fxt_text_any(g);
	fxt_put_string(g, index, text);
	if (choices_chance(g->c, 1, 2))
		fxt_make_event(g, FXT_INSTANT, 0);
	fxt_put_string(g, index, text);
}

BREAKER(unused_string, GEN_PLANT)
{
	fxt_make_leaf_of(g, LEAF_STRING);
}

BREAKER(unused_thread, GEN_PLANT)
{
	fxt_make_leaf_of(g, LEAF_THREAD);
}

/* ---- references ---- */

/* A record one of whose string references is that index. */
static void refer_to_string(struct fxt_gen *g, uint16_t index)
{
	for (unsigned tries = 0; tries < 12; tries++) {
		fxt_make_leaf(g);
		const struct fxt_mark *m = fxt_last_mark(g, MARK_STRING);
		/* An inline one has its text in the record. */
		if (m && !(fxt_last_get(g, m->offset, m->shift, 16) & FXT_STRING_INLINE)) {
			fxt_last_set(g, m->offset, m->shift, 16, index);
			return;
		}
	}
	struct fxt_gen_event e = { .who = fxt_who_any(g) };
	e.name.value = index;
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
}

static void refer_to_thread(struct fxt_gen *g, uint8_t index)
{
	for (unsigned tries = 0; tries < 12; tries++) {
		fxt_make_leaf(g);
		const struct fxt_mark *m = fxt_last_mark(g, MARK_THREAD);
		if (m && fxt_last_get(g, m->offset, m->shift, 8)) {
			fxt_last_set(g, m->offset, m->shift, 8, index);
			if (!fxt_break_withdraw(g, 1))
				return;
		}
	}
	struct fxt_gen_event e = { .who = { index, 0, 0 } };
	e.name = fxt_ref_any(g);
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
}

BREAKER(dangling_string_ref, GEN_PLANT)
{
	const uint16_t index = fxt_string_unused(g);
	refer_to_string(g, index);
}

BREAKER(forward_string_ref, GEN_PLANT)
{
	const uint16_t index = fxt_string_unused(g);
	refer_to_string(g, index);
	if (choices_chance(g->c, 1, 2))
		fxt_break_follow(g);
	fxt_put_string(g, index, fxt_text_any(g));
}

BREAKER(dangling_thread_ref, GEN_PLANT)
{
	const uint8_t index = fxt_thread_unused(g);
	refer_to_thread(g, index);
}

static void register_thread(struct fxt_gen *g, uint8_t index)
{
	const struct fxt_gen_thread t = fxt_thread_fresh(g);
	fxt_put_thread(g, index, t.process, t.thread);
}

BREAKER(forward_thread_ref, GEN_PLANT)
{
	const uint8_t index = fxt_thread_unused(g);
	refer_to_thread(g, index);
	if (choices_chance(g->c, 1, 2))
		fxt_break_follow(g);
	register_thread(g, index);
}

BREAKER(cross_provider_string_ref, GEN_PLANT)
{
	const unsigned before = g->current;
	const uint16_t index = fxt_string_unused(g);
	fxt_break_provider(g);
	fxt_put_string(g, index, fxt_text_any(g));
	fxt_make_event(g, FXT_INSTANT, 0);
	fxt_break_provider(g);
	fxt_break_return(g, before);
	refer_to_string(g, index);
	fxt_break_return(g, before);
}

BREAKER(cross_provider_thread_ref, GEN_PLANT)
{
	const unsigned before = g->current;
	const uint8_t index = fxt_thread_unused(g);
	fxt_break_provider(g);
	register_thread(g, index);
	fxt_make_event(g, FXT_INSTANT, 0);
	fxt_break_provider(g);
	fxt_break_return(g, before);
	refer_to_thread(g, index);
	fxt_break_return(g, before);
}

BREAKER(thread_index_zero, GEN_PLANT)
{
	register_thread(g, 0);
}

BREAKER(thread_redefinition, GEN_PLANT)
{
	const uint8_t index = fxt_thread_unused(g);
	register_thread(g, index);
	if (choices_chance(g->c, 1, 2))
		fxt_make_event(g, FXT_INSTANT, 0);
	register_thread(g, index);
}

BREAKER(unknown_inline_thread, GEN_PLANT)
{
	struct fxt_gen_event e = { .type = FXT_INSTANT };
	e.name = fxt_ref_any(g);
	e.time = fxt_tick(g);
	if (choices_chance(g->c, 1, 3))
		fxt_put_log(g, e.time, e.who, fxt_text_any(g));
	else
		fxt_put_event(g, &e);
}

BREAKER(koid_exceeds_32_bits, GEN_PLANT)
{
	struct fxt_gen_thread t = fxt_thread_fresh(g);
	t.thread |= choices_between(g->c, 1, 0x7ffffffe) << 32;
	const struct fxt_who who = fxt_who_inline(&t);
	if (choices_chance(g->c, 1, 2)) {
		fxt_put_thread(g, fxt_thread_unused(g), t.process, t.thread);
		return;
	}
	struct fxt_gen_event e = { .type = FXT_INSTANT, .who = who };
	e.name = fxt_ref_any(g);
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
}
