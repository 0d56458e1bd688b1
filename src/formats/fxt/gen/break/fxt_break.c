/* The table of breakers, what they share, and the defects of the file as a whole and of record framing. */
#include "formats/fxt/decode/fxt_decode.h"
#include "formats/fxt/gen/fxt_gen.h"

static void (*const breakers[FXT_RULE_COUNT])(struct fxt_gen *) = {
#define RULE(sym, id, severity, class, title, clause, explanation, repair) fxt_break_##sym,
#include "formats/fxt/fxt_rules.def"
#undef RULE
};

void fxt_break(struct fxt_gen *f)
{
	breakers[f->g->rule](f);
}

void fxt_break_leave(struct fxt_gen *f)
{
	if (!fxt_provider(f)->introduced)
		fxt_close_all(f);
}

void fxt_break_provider(struct fxt_gen *f)
{
	fxt_break_leave(f);
	fxt_switch_provider(f, fxt_add_provider(f));
}

void fxt_break_return(struct fxt_gen *f, unsigned provider)
{
	if (f->providers[provider].introduced && choices_chance(f->c, 3, 4))
		fxt_switch_provider(f, provider);
}

void fxt_break_settle(struct fxt_gen *f)
{
	for (uint64_t n = 2 + choices_below(f->c, 3); n; n--)
		fxt_make_event(f, FXT_INSTANT, 0);
}

static bool last_is_ambiguous(const struct fxt_gen *f)
{
	const size_t size = fxt_last_size(f);
	struct fxt_decoder d = { .big_endian = f->out->big_endian, .profile = f->latest ? FXT_LATEST : FXT_2022 };
	struct fxt_record r;

	if (f->out->failed)
		return false;
	for (unsigned bit = 0; bit < 4; bit++) {
		const uint64_t type = fxt_bits(fxt_last_header(f), 0, 4) ^ (UINT64_C(1) << bit);
		/* Both kinds of object have one layout, and are told apart by what they refer to. */
		if (type == FXT_LARGE || type == FXT_KERNEL || type == FXT_USERSPACE)
			continue;
		d.flip = UINT64_C(1) << bit;
		if (fxt_decode(&d, &r, f->out->data + f->start, size, size, 0) && fxt_is_strict(&r) && r.words * FXT_WORD == size)
			return true;
	}
	return false;
}

bool fxt_break_withdraw(struct fxt_gen *f, unsigned tries)
{
	if (!tries || !last_is_ambiguous(f))
		return false;
	f->out->size = f->start;
	f->records--;
	return true;
}

uint64_t fxt_break_word(struct fxt_gen *f)
{
	const uint64_t fields = choices_u64(f->c) & ~UINT64_C(0xffff);
	const uint64_t type = choices_below(f->c, FXT_LARGE);
	return fields | UINT64_C(0xa5) << 48 | type;
}

void fxt_break_event(struct fxt_gen *f, unsigned type, const struct fxt_arg *args, unsigned count, uint64_t tail)
{
	struct fxt_gen_event e = { .type = type, .args = args, .arg_count = count, .tail = tail };
	e.who = fxt_who_any(f);
	e.category = fxt_ref_any(f);
	e.name = fxt_ref_any(f);
	e.time = fxt_tick(f);
	fxt_put_event(f, &e);
}

/* ---- the file ---- */

static void end_missing_magic(struct fxt_gen *f)
{
	bytes_remove(f->out, 0, FXT_WORD);
}

void fxt_break_missing_magic(struct fxt_gen *f)
{
	fxt_break_settle(f);
	f->at_end = end_missing_magic;
}

static void end_magic_not_first(struct fxt_gen *f)
{
	uint8_t magic[FXT_WORD];
	memcpy(magic, f->out->data, sizeof(magic));
	bytes_remove(f->out, 0, FXT_WORD);
	/* After the first record or one of the next; they are all well formed. */
	size_t at = 0;
	for (uint64_t n = 1 + choices_below(f->c, 4); n && at < f->out->size; n--) {
		const uint64_t header = load_u64(f->out->data + at, f->out->big_endian);
		const bool large = fxt_bits(header, 0, 4) == FXT_LARGE;
		at += (size_t)fxt_bits(header, 4, large ? 32 : 12) * FXT_WORD;
	}
	bytes_insert(f->out, at, magic, sizeof(magic));
}

void fxt_break_magic_not_first(struct fxt_gen *f)
{
	fxt_break_settle(f);
	f->at_end = end_magic_not_first;
}

void fxt_break_duplicate_magic(struct fxt_gen *f)
{
	fxt_put_magic(f);
	if (choices_chance(f->c, 1, 2))
		return;
	/* As where two archives were joined: whatever comes is introduced and registered anew. */
	const unsigned current = f->current;
	if (!f->providers[current].introduced)
		return;
	for (unsigned i = 0; i < f->provider_count; i++) {
		f->providers[i].introduced = false;
		f->providers[i].string_count = 0;
	}
	for (unsigned i = 0; i < f->thread_count; i++)
		f->threads[i].index = 0;
	fxt_introduce(f);
}

void fxt_break_bad_magic_size(struct fxt_gen *f)
{
	uint64_t words = choices_between(f->c, 1, 3);
	if (choices_chance(f->c, 1, 2) && !f->out->failed) {
		/* the one at the beginning */
		uint8_t *p = f->out->data;
		const uint8_t zeros[3 * FXT_WORD] = { 0 };
		store_u64(p, load_u64(p, f->out->big_endian) + (words << 4), f->out->big_endian);
		bytes_insert(f->out, FXT_WORD, zeros, (size_t)words * FXT_WORD);
		return;
	}
	fxt_put_begin(f);
	while (words--)
		fxt_put_word(f, 0);
	fxt_put_end(f, FXT_METADATA, FXT_MAGIC & ~UINT64_C(0xffff));
	fxt_break_settle(f);
}

void fxt_break_bad_magic_value(struct fxt_gen *f)
{
	const uint64_t flip = UINT64_C(1) << choices_between(f->c, 24, 55);
	if (choices_chance(f->c, 1, 2) && !f->out->failed) {
		store_u64(f->out->data, load_u64(f->out->data, f->out->big_endian) ^ flip, f->out->big_endian);
		return;
	}
	fxt_put_begin(f);
	fxt_put_end(f, FXT_METADATA, (FXT_MAGIC ^ flip) & ~UINT64_C(0xffff));
}

void fxt_break_big_endian_trace(struct fxt_gen *f)
{
	/* The byte order was set before the first record. */
	fxt_break_settle(f);
}

static void end_stray(struct fxt_gen *f)
{
	for (uint64_t n = f->note; n; n--)
		bytes_u8(f->out, (uint8_t)choices_between(f->c, 1, 255));
}

void fxt_break_file_size_not_multiple_of_8(struct fxt_gen *f)
{
	f->note = choices_between(f->c, 1, 7);
	f->at_end = end_stray;
}

/* A leaf of at least two words. Without arguments, and no large record: cut after one of their headers, what is left
 * reads like records. */
static void long_leaf(struct fxt_gen *f)
{
	f->has[FEATURE_ARGS] = f->has[FEATURE_MANY_ARGS] = false;
	for (unsigned tries = 0; tries < 8; tries++) {
		fxt_make_leaf(f);
		const bool large = fxt_bits(fxt_last_header(f), 0, 4) == FXT_LARGE;
		if (fxt_last_size(f) > FXT_WORD && !large && !fxt_last_mark(f, MARK_ARGUMENT))
			return;
	}
	fxt_make_event(f, FXT_INSTANT, 0);
}

static void end_truncated(struct fxt_gen *f)
{
	long_leaf(f);
	size_t kept = (size_t)choices_between(f->c, 1, fxt_last_size(f) / FXT_WORD - 1) * FXT_WORD;
	if (f->out->failed)
		return;
	/* A rest of zeros would be another defect. */
	if (bytes_are_zero(f->out->data + f->start + FXT_WORD, kept - FXT_WORD))
		kept = FXT_WORD;
	bytes_remove(f->out, f->start + kept, fxt_last_size(f) - kept);
}

void fxt_break_truncated_record(struct fxt_gen *f)
{
	f->at_end = end_truncated;
}

static void end_zeros(struct fxt_gen *f)
{
	(void)bytes_grow(f->out, (size_t)f->note * FXT_WORD);
}

void fxt_break_zero_filled_tail(struct fxt_gen *f)
{
	f->note = choices_chance(f->c, 1, 4) ? choices_between(f->c, 1, 512) : choices_between(f->c, 1, 16);
	f->at_end = end_zeros;
}

void fxt_break_zero_word_padding(struct fxt_gen *f)
{
	const uint64_t words = choices_chance(f->c, 1, 4) ? choices_between(f->c, 1, 512) : choices_between(f->c, 1, 8);
	(void)bytes_grow(f->out, (size_t)words * FXT_WORD);
	fxt_break_settle(f);
}

void fxt_break_no_events(struct fxt_gen *f)
{
	/* No item is drawn for this rule: registrations and objects only. */
	for (uint64_t n = choices_below(f->c, 8); n; n--) {
		static const enum fxt_leaf leaves[] = { LEAF_STRING, LEAF_THREAD, LEAF_KERNEL, LEAF_USERSPACE };
		fxt_make_leaf_of(f, leaves[choices_below(f->c, 4)]);
	}
}

static void swap_word(struct fxt_gen *f, size_t offset)
{
	if (!f->out->failed)
		store_u64(f->out->data + offset, load_u64(f->out->data + offset, false), true);
}

void fxt_break_mixed_endianness(struct fxt_gen *f)
{
	/* Small values, so that nothing reads as an argument in the order of the file. */
	static const unsigned types[] = { FXT_ARG_UINT32, FXT_ARG_INT32, FXT_ARG_INT64,	 FXT_ARG_UINT64,
					  FXT_ARG_KOID,	  FXT_ARG_BOOL,	 FXT_ARG_POINTER };
	struct fxt_arg args[4];
	const unsigned count = (unsigned)choices_between(f->c, 1, 4);

	for (unsigned i = 0; i < count; i++) {
		const struct fxt_ref name = fxt_ref_indexed(f, fxt_text_any(f));
		args[i] = fxt_arg_of(f, types[choices_below(f->c, 7)], name);
		args[i].value = args[i].type == FXT_ARG_BOOL ? 1 : choices_between(f->c, 1, 200);
	}
	fxt_break_event(f, FXT_INSTANT, args, count, 0);
	for (unsigned i = 0; i < f->mark_count; i++) {
		const struct fxt_mark *m = &f->marks[i];
		if (m->kind != MARK_ARGUMENT)
			continue;
		swap_word(f, m->offset);
		/* an inline name stays as it is; the value is the last word */
		if (m->role != FXT_ARG_UINT32 && m->role != FXT_ARG_INT32 && m->role != FXT_ARG_BOOL)
			swap_word(f, m->offset + m->length - FXT_WORD);
	}
}

/* ---- framing ---- */

void fxt_break_record_size_zero(struct fxt_gen *f)
{
	fxt_make_leaf(f);
	fxt_last_claim(f, 0);
	fxt_break_settle(f);
}

void fxt_break_record_size_too_small(struct fxt_gen *f)
{
	/* Words that the type needs at least. */
	static const struct {
		enum fxt_leaf leaf;
		unsigned least;
	} forms[] = {
		{ LEAF_INSTANT, 2 }, { LEAF_THREAD, 3 }, { LEAF_KERNEL, 2 }, { LEAF_USERSPACE, 2 }, { LEAF_LEGACY_SWITCH, 2 },
		{ LEAF_LOG, 2 },     { LEAF_LARGE, 3 },	 { LEAF_SWITCH, 4 }, { LEAF_WAKEUP, 3 },    { LEAF_MMAP, 5 },
	};
	const size_t form = (size_t)choices_below(f->c, f->latest ? 10 : 7);
	fxt_make_leaf_of(f, forms[form].leaf);
	const uint64_t words = choices_between(f->c, 1, forms[form].least - 1);
	fxt_last_claim(f, words);
	if (choices_chance(f->c, 1, 2) && !f->out->failed) /* what it claims is also all that is there */
		bytes_remove(f->out, f->start + (size_t)words * FXT_WORD, fxt_last_size(f) - (size_t)words * FXT_WORD);
	fxt_break_settle(f);
}

void fxt_break_record_content_overrun(struct fxt_gen *f)
{
	/* A length that says more than the record has. */
	const struct fxt_text text = fxt_text_of(f, 1 + (unsigned)choices_below(f->c, 60));
	const uint64_t length = text.length + choices_between(f->c, 8, 64);
	const struct fxt_gen_thread thread = fxt_thread_fresh(f);
	struct fxt_gen_event e = { .type = FXT_INSTANT, .who = fxt_who_inline(&thread), .name = fxt_ref_inline(text) };
	e.time = fxt_tick(f);
	switch (choices_below(f->c, 6)) {
	case 0:
		fxt_put_event(f, &e);
		fxt_last_set(f, f->start, 48, 15, length);
		break;
	case 1:
		fxt_put_string(f, fxt_string_unused(f), text);
		fxt_last_set(f, f->start, 32, 15, length);
		break;
	case 2:
		fxt_put_log(f, e.time, e.who, text);
		fxt_last_set(f, f->start, 16, 15, length);
		break;
	case 3:
		fxt_put_blob(f, fxt_ref_indexed(f, fxt_text("raw blob")), FXT_BLOB_DATA, text.data, text.length);
		fxt_last_set(f, f->start, 32, 15, length);
		break;
	case 4:
		fxt_put_kernel(f, 3, thread.thread, fxt_ref_inline(text), NULL, 0);
		fxt_last_set(f, f->start, 24, 15, length);
		break;
	default:
		fxt_put_large_blob(f, false, &e, text.length);
		fxt_last_set(f, f->out->size - (size_t)fxt_words(text.length) * FXT_WORD - FXT_WORD, 0, 64, length);
		break;
	}
	fxt_break_settle(f);
}

static void end_record_past_end(struct fxt_gen *f)
{
	fxt_make_leaf(f);
	const size_t start = f->start;
	for (uint64_t n = 2 + choices_below(f->c, 12); n; n--)
		fxt_make_event(f, FXT_INSTANT, 0);
	if (f->out->failed)
		return;
	/* Texts of 32,000 bytes are not drawn here, so the field can always say more than the file has. */
	const uint64_t left = (f->out->size - start) / FXT_WORD;
	f->start = start;
	fxt_last_claim(f, left < 4000 ? choices_between(f->c, left + 1, FXT_RECORD_WORDS_MAX) : FXT_RECORD_WORDS_MAX);
}

void fxt_break_record_past_end(struct fxt_gen *f)
{
	f->has[FEATURE_LONG_STRINGS] = false;
	f->at_end = end_record_past_end;
}

/* Instant events that refer to nothing and have nothing remarkable. */
static void put_plain(struct fxt_gen *f, unsigned count)
{
	const struct fxt_gen_thread t = fxt_thread_fresh(f);
	struct fxt_gen_event e = { .type = FXT_INSTANT, .who = fxt_who_inline(&t), .name = fxt_ref_inline(fxt_text("plain")) };
	while (count--) {
		e.time = fxt_tick(f);
		fxt_put_event(f, &e);
	}
}

void fxt_break_swallowed_records(struct fxt_gen *f)
{
	/* Without a scope word, which would stand between the record and those that it covers. */
	const bool was = f->has[FEATURE_SCOPE];
	f->has[FEATURE_SCOPE] = false;
	fxt_make_leaf(f);
	f->has[FEATURE_SCOPE] = was;
	const size_t start = f->start;
	put_plain(f, 2 + (unsigned)choices_below(f->c, 6));
	if (!f->out->failed) {
		const uint64_t words = (f->out->size - start) / FXT_WORD;
		f->start = start;
		fxt_last_claim(f, words);
	}
	fxt_break_settle(f);
}

void fxt_break_misaligned_records(struct fxt_gen *f)
{
	/* A word that is no record, so that the walk stops at it, and a part of one. */
	bytes_u64(f->out, fxt_break_word(f));
	for (uint64_t n = 1 + choices_below(f->c, 7); n; n--)
		bytes_u8(f->out, (uint8_t)choices_between(f->c, 1, 255));
	put_plain(f, 6);
	fxt_break_settle(f);
}

void fxt_break_unreadable_bytes(struct fxt_gen *f)
{
	/* A record whose type has another bit: it is faulty as what it says, and would be exact as what it was. Not right behind a
	 * blob, whose payload can look like a record that goes on to the end of the faulty one. */
	put_plain(f, 1);
	const struct fxt_gen_thread t = fxt_thread_fresh(f);
	unsigned flip = 1;
	switch (choices_below(f->c, 2)) {
	case 0: /* a thread as an initialization record */
		fxt_put_thread(f, fxt_thread_unused(f), t.process, t.thread);
		flip = FXT_THREAD ^ FXT_INITIALIZATION;
		break;
	default: { /* a string of 9 to 16 bytes as a thread record */
		const uint16_t index = fxt_string_unused(f);
		fxt_put_string(f, index, fxt_text_of(f, (unsigned)choices_between(f->c, 9, 16)));
		flip = FXT_STRING ^ FXT_THREAD;
		break;
	}
	}
	fxt_last_set(f, f->start, 0, 4, fxt_last_header(f) ^ flip);
	fxt_break_settle(f);
}

void fxt_break_record_trailing_words(struct fxt_gen *f)
{
	fxt_make_leaf(f);
	for (uint64_t n = 2 + choices_below(f->c, 3); n; n--)
		bytes_u64(f->out, fxt_break_word(f));
	fxt_last_claim(f, fxt_last_size(f) / FXT_WORD);
}

void fxt_break_known_extension(struct fxt_gen *f)
{
	const struct fxt_gen_provider *p = fxt_provider(f);
	if (choices_chance(f->c, 1, 2)) {
		struct fxt_gen_event e = { .scope = true };
		e.tail = choices_below(f->c, 3);
		e.who = fxt_who_any(f);
		e.name = fxt_ref_any(f);
		e.time = fxt_tick(f);
		fxt_put_event(f, &e);
		return;
	}
	fxt_put_long_initialization(f, p->rate, p->now, UINT64_C(1650419113989693816) + choices_below(f->c, 1000000));
}

void fxt_break_reserved_bits_set(struct fxt_gen *f)
{
	for (unsigned tries = 12;; tries--) {
		if (choices_chance(f->c, 1, 10) && fxt_provider(f)->introduced)
			fxt_put_provider_section(f, fxt_provider(f)->id);
		else if (tries)
			fxt_make_leaf(f);
		else
			fxt_make_leaf_of(f, LEAF_THREAD);
		const struct fxt_mark *m = fxt_last_mark(f, MARK_RESERVED);
		if (!m)
			continue;
		const uint64_t bit = choices_below(f->c, m->width);
		fxt_last_set(f, m->offset, m->shift, m->width, UINT64_C(1) << bit);
		if (!fxt_break_withdraw(f, tries))
			return;
	}
}
