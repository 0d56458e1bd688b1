/* Defects of providers, clocks, and of what events mean together. */
#include "formats/fxt/gen/fxt_gen.h"

/* ---- providers ---- */

static void info_again(struct fxt_gen *f, struct fxt_text name)
{
	if (!fxt_provider(f)->introduced)
		fxt_break_provider(f);
	struct fxt_gen_provider *p = fxt_provider(f);
	fxt_put_provider_info(f, p->id, name);
	/* Readers forget its tables: nothing registered so far is referred to any more. */
	p->string_count = 0;
	for (unsigned i = 0; i < f->thread_count; i++)
		if (f->threads[i].provider == f->current)
			f->threads[i].index = 0;
	if (p->initialised)
		fxt_put_initialization(f, p->rate);
	fxt_make_event(f, FXT_INSTANT, 0);
}

void fxt_break_duplicate_provider_info(struct fxt_gen *f)
{
	if (!fxt_provider(f)->introduced || choices_chance(f->c, 1, 2))
		fxt_break_provider(f);
	info_again(f, fxt_provider(f)->name);
}

void fxt_break_provider_name_changed(struct fxt_gen *f)
{
	if (!fxt_provider(f)->introduced || choices_chance(f->c, 1, 2))
		fxt_break_provider(f);
	info_again(f, fxt_text("another name"));
}

void fxt_break_unknown_provider_section(struct fxt_gen *f)
{
	const unsigned before = f->current;
	fxt_break_leave(f);
	const unsigned unknown = fxt_add_provider(f);
	/* Known to the model, so that a section record is all that is written. 0 is what readers call the anonymous
	 * one. */
	if (!f->providers[unknown].id)
		f->providers[unknown].id = 2;
	f->providers[unknown].introduced = true;
	fxt_switch_provider(f, unknown);
	fxt_break_settle(f);
	fxt_break_return(f, before);
}

void fxt_break_unknown_provider_event_id(struct fxt_gen *f)
{
	const uint32_t id = f->providers[f->current].id ^ 0x5a5a0000u ^ (uint32_t)choices_below(f->c, 256);
	fxt_put_provider_event(f, id, FXT_PROVIDER_BUFFER_FULL);
}

void fxt_break_provider_name_length_mismatch(struct fxt_gen *f)
{
	const unsigned before = f->current;
	fxt_break_leave(f);
	const unsigned provider = fxt_add_provider(f);
	struct fxt_gen_provider *p = &f->providers[provider];
	const unsigned length = (unsigned)choices_between(f->c, 9, 60);
	f->current = provider;
	p->introduced = true;
	fxt_put_provider_info(f, p->id, fxt_text_of(f, length));
	/* words where bytes are meant, or too few bytes */
	fxt_last_set(f, f->start, 52, 8, choices_chance(f->c, 2, 3) ? fxt_words(length) : choices_below(f->c, length - 8));
	fxt_put_initialization(f, FXT_TICKS_DEFAULT);
	p->initialised = true;
	fxt_make_event(f, FXT_INSTANT, 0);
	fxt_break_return(f, before);
}

void fxt_break_buffer_full(struct fxt_gen *f)
{
	if (!fxt_provider(f)->introduced)
		fxt_break_provider(f);
	fxt_put_provider_event(f, fxt_provider(f)->id, FXT_PROVIDER_BUFFER_FULL);
}

/* ---- clocks ---- */

/* A new provider without initialization. Returns the one that was current. */
static unsigned bare_provider(struct fxt_gen *f)
{
	const unsigned before = f->current;
	fxt_break_leave(f);
	const unsigned provider = fxt_add_provider(f);
	struct fxt_gen_provider *p = &f->providers[provider];
	f->current = provider;
	p->introduced = true;
	fxt_put_provider_info(f, p->id, p->name);
	return before;
}

void fxt_break_missing_initialization(struct fxt_gen *f)
{
	const unsigned before = bare_provider(f);
	fxt_break_settle(f);
	fxt_break_return(f, before);
}

void fxt_break_late_initialization(struct fxt_gen *f)
{
	static const uint64_t rates[] = { 1000000, 24000000, 19200000, 3000000000 };
	const unsigned before = bare_provider(f);
	if (choices_chance(f->c, 1, 2))
		fxt_put_initialization(f, FXT_TICKS_DEFAULT);
	fxt_break_settle(f);
	struct fxt_gen_provider *p = fxt_provider(f);
	p->rate = rates[choices_below(f->c, 4)];
	p->initialised = true;
	fxt_put_initialization(f, p->rate);
	fxt_break_settle(f);
	fxt_break_return(f, before);
}

static void end_early_initialization(struct fxt_gen *f)
{
	/* Between the magic and the first provider. */
	uint8_t record[2 * FXT_WORD];
	const bool big_endian = f->out->big_endian;
	store_u64(record, fxt_header(FXT_INITIALIZATION, 2), big_endian);
	store_u64(record + FXT_WORD, f->note, big_endian);
	bytes_insert(f->out, FXT_WORD, record, sizeof(record));
}

void fxt_break_initialization_in_other_context(struct fxt_gen *f)
{
	/* No provider of this capture has a record of its own. */
	fxt_break_settle(f);
	f->note = choices_between(f->c, 1, 3000) * 1000000;
	f->at_end = end_early_initialization;
}

void fxt_break_zero_tick_rate(struct fxt_gen *f)
{
	const unsigned before = bare_provider(f);
	fxt_put_initialization(f, 0);
	fxt_break_settle(f);
	fxt_break_return(f, before);
}

void fxt_break_implausible_tick_rate(struct fxt_gen *f)
{
	const unsigned before = bare_provider(f);
	struct fxt_gen_provider *p = fxt_provider(f);
	p->rate = choices_chance(f->c, 1, 2) ? choices_between(f->c, 100, 999)
					     : choices_between(f->c, UINT64_C(1000000000001), UINT64_C(1) << 50);
	fxt_put_initialization(f, p->rate);
	p->initialised = true;
	fxt_break_settle(f);
	fxt_break_return(f, before);
}

/* An instant on a thread of its own. */
static void lone_instant(struct fxt_gen *f, uint64_t time)
{
	const struct fxt_gen_thread t = fxt_thread_fresh(f);
	struct fxt_gen_event e = { .type = FXT_INSTANT, .who = fxt_who_inline(&t), .time = time };
	e.name = fxt_ref_any(f);
	fxt_put_event(f, &e);
}

void fxt_break_timestamp_overflow(struct fxt_gen *f)
{
	const unsigned before = bare_provider(f);
	fxt_put_initialization(f, choices_chance(f->c, 1, 2) ? FXT_TICKS_DEFAULT : 1000000);
	fxt_break_settle(f);
	lone_instant(f, UINT64_MAX - choices_below(f->c, UINT64_C(1) << 62));
	fxt_break_settle(f);
	fxt_break_return(f, before);
}

void fxt_break_non_monotonic_timestamps(struct fxt_gen *f)
{
	fxt_provider(f)->now += 1000;
	fxt_break_settle(f);
	lone_instant(f, fxt_provider(f)->now - choices_between(f->c, 1, 1000));
}

void fxt_break_timestamp_outlier(struct fxt_gen *f)
{
	const unsigned before = bare_provider(f);
	const uint64_t base = UINT64_C(1000000000000);
	fxt_put_initialization(f, FXT_TICKS_DEFAULT);
	fxt_provider(f)->initialised = true;
	fxt_provider(f)->now = base;
	for (unsigned i = 0; i < 24; i++)
		lone_instant(f, fxt_provider(f)->now += 50);
	lone_instant(f, choices_chance(f->c, 1, 2) ? 0 : base * choices_between(f->c, 3, 1000));
	for (unsigned i = 0; i < 24; i++)
		lone_instant(f, fxt_provider(f)->now += 50);
	fxt_break_return(f, before);
}

void fxt_break_suspicious_repeat(struct fxt_gen *f)
{
	static const enum fxt_leaf leaves[] = { LEAF_INSTANT, LEAF_COUNTER, LEAF_COMPLETE };
	fxt_make_leaf_of(f, leaves[choices_below(f->c, 3)]);
	const size_t start = f->start, size = fxt_last_size(f);
	uint8_t *copy = bytes_grow(f->out, size);
	if (copy)
		memcpy(copy, f->out->data + start, size);
}

/* ---- durations, async operations, flows ---- */

struct strand {
	struct fxt_gen_thread thread;
	struct fxt_text category, name;
	uint64_t id;
};

/* A thread, names and an id that nothing else uses. */
static struct strand strand_make(struct fxt_gen *f)
{
	struct strand s = { .thread = fxt_thread_fresh(f) };
	s.category = fxt_text("strand");
	s.name = choices_chance(f->c, 1, 2) ? fxt_text("work") : fxt_text_of(f, 1 + (unsigned)choices_below(f->c, 40));
	s.id = f->next_id++;
	return s;
}

static void strand_put(struct fxt_gen *f, const struct strand *s, unsigned type)
{
	struct fxt_gen_event e = { .type = type, .who = fxt_who_inline(&s->thread), .tail = s->id };
	e.category = fxt_ref_to(f, s->category);
	e.name = fxt_ref_to(f, s->name);
	e.time = fxt_tick(f);
	fxt_put_event(f, &e);
	if (choices_chance(f->c, 1, 4))
		fxt_make_event(f, FXT_INSTANT, 0);
}

void fxt_break_unmatched_duration_end(struct fxt_gen *f)
{
	const struct strand s = strand_make(f);
	strand_put(f, &s, FXT_DURATION_BEGIN);
	strand_put(f, &s, FXT_DURATION_END);
	strand_put(f, &s, FXT_DURATION_END);
}

void fxt_break_unclosed_duration(struct fxt_gen *f)
{
	const struct strand s = strand_make(f);
	strand_put(f, &s, FXT_DURATION_BEGIN);
	if (choices_chance(f->c, 1, 2)) {
		strand_put(f, &s, FXT_DURATION_BEGIN);
		strand_put(f, &s, FXT_DURATION_END);
	}
}

void fxt_break_duration_end_name_mismatch(struct fxt_gen *f)
{
	struct strand s = strand_make(f);
	s.name = fxt_text("one name");
	strand_put(f, &s, FXT_DURATION_BEGIN);
	s.name = fxt_text("other name");
	strand_put(f, &s, FXT_DURATION_END);
}

void fxt_break_complete_end_before_start(struct fxt_gen *f)
{
	fxt_provider(f)->now += 500;
	fxt_make_event(f, FXT_DURATION_COMPLETE, 0);
	const uint64_t start = fxt_last_get(f, f->start + FXT_WORD, 0, 64);
	fxt_last_set(f, f->out->size - FXT_WORD, 0, 64, start - choices_between(f->c, 1, 500));
}

void fxt_break_unmatched_async_begin(struct fxt_gen *f)
{
	const struct strand s = strand_make(f);
	strand_put(f, &s, FXT_ASYNC_BEGIN);
	if (choices_chance(f->c, 1, 2))
		strand_put(f, &s, FXT_ASYNC_INSTANT);
}

void fxt_break_unmatched_async_end(struct fxt_gen *f)
{
	const struct strand s = strand_make(f);
	if (choices_chance(f->c, 1, 2)) {
		strand_put(f, &s, FXT_ASYNC_BEGIN);
		strand_put(f, &s, FXT_ASYNC_END);
	}
	strand_put(f, &s, FXT_ASYNC_END);
}

void fxt_break_async_instant_outside(struct fxt_gen *f)
{
	const struct strand s = strand_make(f);
	if (choices_chance(f->c, 1, 2)) {
		strand_put(f, &s, FXT_ASYNC_BEGIN);
		strand_put(f, &s, FXT_ASYNC_END);
	}
	fxt_provider(f)->now++;
	strand_put(f, &s, FXT_ASYNC_INSTANT);
}

void fxt_break_unmatched_flow_begin(struct fxt_gen *f)
{
	const struct strand s = strand_make(f);
	strand_put(f, &s, FXT_FLOW_BEGIN);
	if (choices_chance(f->c, 1, 2))
		strand_put(f, &s, FXT_FLOW_STEP);
}

void fxt_break_flow_without_begin(struct fxt_gen *f)
{
	const struct strand s = strand_make(f);
	strand_put(f, &s, choices_chance(f->c, 1, 2) ? FXT_FLOW_STEP : FXT_FLOW_END);
}

void fxt_break_flow_id_reused(struct fxt_gen *f)
{
	const struct strand s = strand_make(f);
	strand_put(f, &s, FXT_FLOW_BEGIN);
	if (choices_chance(f->c, 1, 2))
		strand_put(f, &s, FXT_FLOW_STEP);
	strand_put(f, &s, FXT_FLOW_BEGIN);
	strand_put(f, &s, FXT_FLOW_END);
}

void fxt_break_flow_outside_duration(struct fxt_gen *f)
{
	const struct strand s = strand_make(f);
	strand_put(f, &s, FXT_FLOW_BEGIN);
	strand_put(f, &s, FXT_FLOW_END);
}

/* ---- counters ---- */

void fxt_break_counter_without_arguments(struct fxt_gen *f)
{
	fxt_break_event(f, FXT_COUNTER, NULL, 0, choices_number(f->c));
}

void fxt_break_counter_non_numeric(struct fxt_gen *f)
{
	static const unsigned types[] = { FXT_ARG_STRING, FXT_ARG_NULL, FXT_ARG_BOOL, FXT_ARG_KOID, FXT_ARG_POINTER };
	struct fxt_arg args[2];
	args[0] = fxt_arg_of(f, FXT_ARG_UINT32, fxt_ref_to(f, fxt_text("value")));
	const struct fxt_ref odd = fxt_ref_to(f, fxt_text("odd one"));
	args[1] = fxt_arg_of(f, types[choices_below(f->c, 5)], odd);
	fxt_break_event(f, FXT_COUNTER, args, 2, 1);
}

void fxt_break_counter_nan(struct fxt_gen *f)
{
	static const uint64_t values[] = {
		UINT64_C(0x7ff8000000000000), /* not a number */
		UINT64_C(0x7ff0000000000000), /* infinity */
		UINT64_C(0xfff0000000000000),
		UINT64_C(0x7ff0000000000001),
	};
	struct fxt_arg arg = { .type = FXT_ARG_DOUBLE, .name = fxt_ref_to(f, fxt_text("value")) };
	arg.value = values[choices_below(f->c, 4)];
	fxt_break_event(f, FXT_COUNTER, &arg, 1, 1);
}

/* ---- bounds of the checker ---- */

void fxt_break_semantic_bound_reached(struct fxt_gen *f)
{
	/* More named blobs than are followed: the cheapest of the bounds. */
	for (unsigned i = 0; i <= FXT_BLOB_STREAMS_MAX && !f->out->failed; i++) {
		char text[FXT_WORD] = { 'b', 'l', (char)('a' + i % 26), (char)('a' + i / 26 % 26), (char)('a' + i / 676 % 26) };
		const struct fxt_ref name = fxt_ref_inline((struct fxt_text){ (const uint8_t *)text, 5 });
		fxt_put_blob(f, name, FXT_BLOB_DATA, NULL, 0);
	}
}
