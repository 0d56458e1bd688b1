/* Defects of the file as a whole and of record framing. */
#include "formats/fxt/gen/break/fxt_break.h"
#include "formats/fxt/gen/fxt_gen_items.h"

/* ---- the file ---- */

static void remove_magic(struct fxt_gen *g)
{
	bytes_remove(g->out, 0, FXT_WORD);
}

BREAKER_STAGES(missing_magic, [GEN_PLANT] = fxt_break_follow, [GEN_BYTES] = remove_magic)

/* The record beside the damaged magic number must be recognisable, which a provider info record is. */
static void no_anonymous(struct fxt_gen *g)
{
	g->shape.without[FEATURE_ANONYMOUS] = true;
}

static void move_magic(struct fxt_gen *g)
{
	uint8_t magic[FXT_WORD];
	memcpy(magic, g->out->data, sizeof(magic));
	bytes_remove(g->out, 0, FXT_WORD);
	/* After the first record or one of the next; they are all well formed. */
	size_t at = 0;
	for (uint64_t n = 1 + choices_below(g->c, 4); n && at < g->out->size; n--) {
		const uint64_t header = load_u64(g->out->data + at, g->out->big_endian);
		const bool large = fxt_bits(header, 0, 4) == FXT_LARGE;
		at += (size_t)fxt_bits(header, 4, large ? 32 : 12) * FXT_WORD;
	}
	bytes_insert(g->out, at, magic, sizeof(magic));
}

BREAKER_STAGES(magic_not_first, [GEN_SHAPE] = no_anonymous, [GEN_PLANT] = fxt_break_follow, [GEN_BYTES] = move_magic)

BREAKER(duplicate_magic, GEN_PLANT)
{
	fxt_put_magic(g);
	if (choices_chance(g->c, 1, 2))
		return;
	/* As where two archives were joined: whatever comes is introduced and registered anew. */
	const unsigned current = g->current;
	if (!g->providers[current].introduced)
		return;
	for (unsigned i = 0; i < g->provider_count; i++) {
		g->providers[i].introduced = false;
		g->providers[i].string_count = 0;
	}
	for (unsigned i = 0; i < g->thread_count; i++)
		g->threads[i].index = 0;
	fxt_introduce(g);
}

BREAKER_OF(bad_magic_size, GEN_PLANT, no_anonymous(g))
{
	uint64_t words = choices_between(g->c, 1, 3);
	if (choices_chance(g->c, 1, 2) && !g->out->failed) {
		/* the one at the beginning */
		uint8_t *p = g->out->data;
		const uint8_t zeros[3 * FXT_WORD] = { 0 };
		store_u64(p, load_u64(p, g->out->big_endian) + (words << 4), g->out->big_endian);
		bytes_insert(g->out, FXT_WORD, zeros, (size_t)words * FXT_WORD);
		return;
	}
	fxt_put_begin(g);
	while (words--)
		fxt_put_word(g, 0);
	fxt_put_end(g, FXT_METADATA, FXT_MAGIC & ~UINT64_C(0xffff));
	fxt_break_follow(g);
}

BREAKER(bad_magic_value, GEN_PLANT)
{
	const uint64_t flip = UINT64_C(1) << choices_between(g->c, 24, 55);
	if (choices_chance(g->c, 1, 2) && !g->out->failed) {
		store_u64(g->out->data, load_u64(g->out->data, g->out->big_endian) ^ flip, g->out->big_endian);
		return;
	}
	fxt_put_begin(g);
	fxt_put_end(g, FXT_METADATA, (FXT_MAGIC ^ flip) & ~UINT64_C(0xffff));
}

BREAKER_OF(big_endian_trace, GEN_PLANT, g->shape.big_endian = true)
{
	/* The byte order was set before the first record. */
	fxt_break_follow(g);
}

static void choose_stray(struct fxt_gen *g)
{
	g->note = choices_between(g->c, 1, 7);
}

static void append_stray(struct fxt_gen *g)
{
	for (uint64_t n = g->note; n; n--)
		bytes_u8(g->out, (uint8_t)choices_between(g->c, 1, 255));
}

BREAKER_STAGES(file_size_not_multiple_of_8, [GEN_PLANT] = choose_stray, [GEN_BYTES] = append_stray)

/* A leaf of at least two words. Without arguments, and no large record: cut after one of their headers, what is left
 * reads like records. */
static void long_leaf(struct fxt_gen *g)
{
	g->has[FEATURE_ARGS] = g->has[FEATURE_MANY_ARGS] = false;
	for (unsigned tries = 0; tries < 8; tries++) {
		fxt_make_leaf(g);
		const bool large = fxt_bits(fxt_last_header(g), 0, 4) == FXT_LARGE;
		if (fxt_last_size(g) > FXT_WORD && !large && !fxt_last_mark(g, MARK_ARGUMENT))
			return;
	}
	fxt_make_event(g, FXT_INSTANT, 0);
}

BREAKER(truncated_record, GEN_BYTES)
{
	long_leaf(g);
	size_t kept = (size_t)choices_between(g->c, 1, fxt_last_size(g) / FXT_WORD - 1) * FXT_WORD;
	if (g->out->failed)
		return;
	/* A record that ends in zeros would be another defect. */
	if (bytes_are_zero(g->out->data + g->start + FXT_WORD, kept - FXT_WORD))
		kept = FXT_WORD;
	bytes_remove(g->out, g->start + kept, fxt_last_size(g) - kept);
}

static void choose_zeros(struct fxt_gen *g)
{
	g->note = choices_chance(g->c, 1, 4) ? choices_between(g->c, 1, 512) : choices_between(g->c, 1, 16);
}

static void append_zeros(struct fxt_gen *g)
{
	(void)bytes_grow(g->out, (size_t)g->note * FXT_WORD);
}

BREAKER_STAGES(zero_filled_tail, [GEN_PLANT] = choose_zeros, [GEN_BYTES] = append_zeros)

BREAKER(zero_word_padding, GEN_PLANT)
{
	const uint64_t words = choices_chance(g->c, 1, 4) ? choices_between(g->c, 1, 512) : choices_between(g->c, 1, 8);
	(void)bytes_grow(g->out, (size_t)words * FXT_WORD);
	fxt_break_follow(g);
}

static void only_common(struct fxt_gen *g)
{
	g->shape.no_items = true;
	for (unsigned i = FEATURE_COMMON; i < FEATURE_COUNT; i++)
		g->shape.without[i] = true;
}

BREAKER_OF(no_events, GEN_PLANT, only_common(g))
{
	/* No item is drawn for this rule: registrations and objects only. */
	for (uint64_t n = choices_below(g->c, 8); n; n--) {
		static const enum fxt_leaf leaves[] = { LEAF_STRING, LEAF_THREAD, LEAF_KERNEL, LEAF_USERSPACE };
		fxt_make_leaf_of(g, leaves[choices_below(g->c, 4)]);
	}
}

static void swap_word(struct fxt_gen *g, size_t offset)
{
	if (!g->out->failed)
		store_u64(g->out->data + offset, load_u64(g->out->data + offset, false), true);
}

BREAKER(mixed_endianness, GEN_PLANT)
{
	/* Small values, so that nothing reads as an argument in the order of the file. */
	static const unsigned types[] = { FXT_ARG_UINT32, FXT_ARG_INT32, FXT_ARG_INT64,	 FXT_ARG_UINT64,
					  FXT_ARG_KOID,	  FXT_ARG_BOOL,	 FXT_ARG_POINTER };
	struct fxt_arg args[4];
	const unsigned count = (unsigned)choices_between(g->c, 1, 4);

	for (unsigned i = 0; i < count; i++) {
		const struct fxt_ref name = fxt_ref_indexed(g, fxt_text_any(g));
		args[i] = fxt_arg_of(g, types[choices_below(g->c, 7)], name);
		args[i].value = args[i].type == FXT_ARG_BOOL ? 1 : choices_between(g->c, 1, 200);
	}
	fxt_break_event(g, FXT_INSTANT, args, count, 0);
	for (unsigned i = 0; i < g->mark_count; i++) {
		const struct fxt_mark *m = &g->marks[i];
		if (m->kind != MARK_ARGUMENT)
			continue;
		swap_word(g, m->offset);
		/* an inline name stays as it is; the value is the last word */
		if (m->role != FXT_ARG_UINT32 && m->role != FXT_ARG_INT32 && m->role != FXT_ARG_BOOL)
			swap_word(g, m->offset + m->length - FXT_WORD);
	}
}

/* ---- framing ---- */

/* Instant events without references, to which no rule applies. */
static void put_plain(struct fxt_gen *g, unsigned count)
{
	const struct fxt_gen_thread t = fxt_thread_fresh(g);
	struct fxt_gen_event e = { .type = FXT_INSTANT, .who = fxt_who_inline(&t), .name = fxt_ref_inline(fxt_text("plain")) };
	while (count--) {
		e.time = fxt_tick(g);
		fxt_put_event(g, &e);
	}
}

BREAKER(record_size_zero, GEN_PLANT)
{
	fxt_make_leaf(g);
	fxt_last_claim(g, 0);
	fxt_break_follow(g);
}

BREAKER(record_size_too_small, GEN_PLANT)
{
	/* Words that the type needs at least. */
	static const struct {
		enum fxt_leaf leaf;
		unsigned least;
	} forms[] = {
		{ LEAF_INSTANT, 2 }, { LEAF_THREAD, 3 }, { LEAF_KERNEL, 2 }, { LEAF_USERSPACE, 2 }, { LEAF_LEGACY_SWITCH, 2 },
		{ LEAF_LOG, 2 },     { LEAF_LARGE, 3 },	 { LEAF_SWITCH, 4 }, { LEAF_WAKEUP, 3 },    { LEAF_MMAP, 5 },
	};
	const size_t form = (size_t)choices_below(g->c, g->latest ? 10 : 7);
	fxt_make_leaf_of(g, forms[form].leaf);
	const uint64_t words = choices_between(g->c, 1, forms[form].least - 1);
	fxt_last_claim(g, words);
	if (choices_chance(g->c, 1, 2) && !g->out->failed) /* the record has no more words than its size field says */
		bytes_remove(g->out, g->start + (size_t)words * FXT_WORD, fxt_last_size(g) - (size_t)words * FXT_WORD);
	/* A record of one word, such as that of an empty text, would pass for the rest of this one. */
	put_plain(g, 1);
	fxt_break_follow(g);
}

BREAKER(record_content_overrun, GEN_PLANT)
{
	/* A length field that exceeds the record. */
	const struct fxt_text text = fxt_text_of(g, 1 + (unsigned)choices_below(g->c, 60));
	const uint64_t length = text.length + choices_between(g->c, 8, 64);
	const struct fxt_gen_thread thread = fxt_thread_fresh(g);
	struct fxt_gen_event e = { .type = FXT_INSTANT, .who = fxt_who_inline(&thread), .name = fxt_ref_inline(text) };
	e.time = fxt_tick(g);
	switch (choices_below(g->c, 6)) {
	case 0:
		fxt_put_event(g, &e);
		fxt_last_set(g, g->start, 48, 15, length);
		break;
	case 1:
		fxt_put_string(g, fxt_string_unused(g), text);
		fxt_last_set(g, g->start, 32, 15, length);
		break;
	case 2:
		fxt_put_log(g, e.time, e.who, text);
		fxt_last_set(g, g->start, 16, 15, length);
		break;
	case 3:
		fxt_put_blob(g, fxt_ref_indexed(g, fxt_text("raw blob")), FXT_BLOB_DATA, text.data, text.length);
		fxt_last_set(g, g->start, 32, 15, length);
		break;
	case 4:
		fxt_put_kernel(g, 3, thread.thread, fxt_ref_inline(text), NULL, 0);
		fxt_last_set(g, g->start, 24, 15, length);
		break;
	default:
		fxt_put_large_blob(g, false, &e, text.length);
		fxt_last_set(g, g->out->size - (size_t)fxt_words(text.length) * FXT_WORD - FXT_WORD, 0, 64, length);
		break;
	}
	fxt_break_follow(g);
}

static void short_strings(struct fxt_gen *g)
{
	g->has[FEATURE_LONG_STRINGS] = false;
}

static void exceed_end(struct fxt_gen *g)
{
	fxt_make_leaf(g);
	const size_t start = g->start;
	for (uint64_t n = 2 + choices_below(g->c, 12); n; n--)
		fxt_make_event(g, FXT_INSTANT, 0);
	if (g->out->failed)
		return;
	/* Texts of 32,000 bytes are not drawn here, so the field can always say more than the file has. */
	const uint64_t left = (g->out->size - start) / FXT_WORD;
	g->start = start;
	fxt_last_claim(g, left < 4000 ? choices_between(g->c, left + 1, FXT_RECORD_WORDS_MAX) : FXT_RECORD_WORDS_MAX);
}

BREAKER_STAGES(record_past_end, [GEN_PLANT] = short_strings, [GEN_BYTES] = exceed_end)

BREAKER(swallowed_records, GEN_PLANT)
{
	/* Without a scope word, which would be between the record and those that it covers. */
	const bool was = g->has[FEATURE_SCOPE];
	g->has[FEATURE_SCOPE] = false;
	fxt_make_leaf(g);
	g->has[FEATURE_SCOPE] = was;
	const size_t start = g->start;
	put_plain(g, 2 + (unsigned)choices_below(g->c, 6));
	if (!g->out->failed) {
		const uint64_t words = (g->out->size - start) / FXT_WORD;
		g->start = start;
		fxt_last_claim(g, words);
	}
	fxt_break_follow(g);
}

BREAKER(misaligned_records, GEN_PLANT)
{
	/* A word that is not a record, so that the walk stops at it, and a part of a word. */
	bytes_u64(g->out, fxt_break_word(g));
	for (uint64_t n = 1 + choices_below(g->c, 7); n; n--)
		bytes_u8(g->out, (uint8_t)choices_between(g->c, 1, 255));
	put_plain(g, 6);
	fxt_break_follow(g);
}

BREAKER(unreadable_bytes, GEN_PLANT)
{
	/* A record whose type has another bit: it is faulty as what it says, and would be exact as what it was. Not right behind a
	 * blob, whose payload can look like a record that goes on to the end of the faulty one. */
	put_plain(g, 1);
	const struct fxt_gen_thread t = fxt_thread_fresh(g);
	unsigned flip = 1;
	switch (choices_below(g->c, 2)) {
	case 0: /* a thread as an initialization record */
		fxt_put_thread(g, fxt_thread_unused(g), t.process, t.thread);
		flip = FXT_THREAD ^ FXT_INITIALIZATION;
		break;
	default: { /* a string of 9 to 16 bytes as a thread record */
		const uint16_t index = fxt_string_unused(g);
		fxt_put_string(g, index, fxt_text_of(g, (unsigned)choices_between(g->c, 9, 16)));
		flip = FXT_STRING ^ FXT_THREAD;
		break;
	}
	}
	fxt_last_set(g, g->start, 0, 4, fxt_last_header(g) ^ flip);
	fxt_break_follow(g);
}

BREAKER(record_trailing_words, GEN_PLANT)
{
	fxt_make_leaf(g);
	for (uint64_t n = 2 + choices_below(g->c, 3); n; n--)
		bytes_u64(g->out, fxt_break_word(g));
	fxt_last_claim(g, fxt_last_size(g) / FXT_WORD);
}

BREAKER(known_extension, GEN_PLANT)
{
	const struct fxt_gen_provider *p = fxt_provider(g);
	if (choices_chance(g->c, 1, 2)) {
		struct fxt_gen_event e = { .scope = true };
		e.tail = choices_below(g->c, 3);
		e.who = fxt_who_any(g);
		e.name = fxt_ref_any(g);
		e.time = fxt_tick(g);
		fxt_put_event(g, &e);
		return;
	}
	fxt_put_long_initialization(g, p->rate, p->now, UINT64_C(1650419113989693816) + choices_below(g->c, 1000000));
}

BREAKER(reserved_bits_set, GEN_PLANT)
{
	for (unsigned tries = 12;; tries--) {
		if (choices_chance(g->c, 1, 10) && fxt_provider(g)->introduced)
			fxt_put_provider_section(g, fxt_provider(g)->id);
		else if (tries)
			fxt_make_leaf(g);
		else
			fxt_make_leaf_of(g, LEAF_THREAD);
		const struct fxt_mark *m = fxt_last_mark(g, MARK_RESERVED);
		if (!m)
			continue;
		const uint64_t bit = choices_below(g->c, m->width);
		fxt_last_set(g, m->offset, m->shift, m->width, UINT64_C(1) << bit);
		if (!fxt_break_withdraw(g, tries))
			return;
	}
}
