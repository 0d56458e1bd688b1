/* Defects of providers, clocks, and of the relations between events. */
#include "formats/fxt/gen/break/fxt_break.h"
#include "formats/fxt/gen/fxt_gen_items.h"

/* ---- providers ---- */

static void info_again(struct fxt_gen *g, struct fxt_text name)
{
	if (!fxt_provider(g)->introduced)
		fxt_break_provider(g);
	struct fxt_gen_provider *p = fxt_provider(g);
	fxt_put_provider_info(g, p->id, name);
	/* Readers forget its tables: nothing registered so far is referred to any more. */
	p->string_count = 0;
	for (unsigned i = 0; i < g->thread_count; i++)
		if (g->threads[i].provider == g->current)
			g->threads[i].index = 0;
	if (p->initialised)
		fxt_put_initialization(g, p->rate);
	fxt_make_event(g, FXT_INSTANT, 0);
}

BREAKER(duplicate_provider_info, GEN_PLANT)
{
	if (!fxt_provider(g)->introduced || choices_chance(g->c, 1, 2))
		fxt_break_provider(g);
	info_again(g, fxt_provider(g)->name);
}

BREAKER(provider_name_changed, GEN_PLANT)
{
	if (!fxt_provider(g)->introduced || choices_chance(g->c, 1, 2))
		fxt_break_provider(g);
	info_again(g, fxt_text("another name"));
}

BREAKER(unknown_provider_section, GEN_PLANT)
{
	const unsigned before = g->current;
	fxt_break_leave(g);
	const unsigned unknown = fxt_add_provider(g);
	/* Known to the model, so that a section record is all that is written. 0 is what readers call the anonymous
	 * one. */
	if (!g->providers[unknown].id)
		g->providers[unknown].id = 2;
	g->providers[unknown].introduced = true;
	fxt_switch_provider(g, unknown);
	fxt_break_follow(g);
	fxt_break_return(g, before);
}

BREAKER(unknown_provider_event_id, GEN_PLANT)
{
	const uint32_t id = g->providers[g->current].id ^ 0x5a5a0000u ^ (uint32_t)choices_below(g->c, 256);
	fxt_put_provider_event(g, id, FXT_PROVIDER_BUFFER_FULL);
}

BREAKER(provider_name_length_mismatch, GEN_PLANT)
{
	const unsigned before = g->current;
	fxt_break_leave(g);
	const unsigned provider = fxt_add_provider(g);
	struct fxt_gen_provider *p = &g->providers[provider];
	const unsigned length = (unsigned)choices_between(g->c, 9, 60);
	g->current = provider;
	p->introduced = true;
	fxt_put_provider_info(g, p->id, fxt_text_of(g, length));
	/* words where bytes are meant, or too few bytes */
	fxt_last_set(g, g->start, 52, 8, choices_chance(g->c, 2, 3) ? fxt_words(length) : choices_below(g->c, length - 8));
	fxt_put_initialization(g, FXT_TICKS_DEFAULT);
	p->initialised = true;
	fxt_make_event(g, FXT_INSTANT, 0);
	fxt_break_return(g, before);
}

BREAKER(buffer_full, GEN_PLANT)
{
	if (!fxt_provider(g)->introduced)
		fxt_break_provider(g);
	fxt_put_provider_event(g, fxt_provider(g)->id, FXT_PROVIDER_BUFFER_FULL);
}

/* ---- clocks ---- */

/* A new provider without initialization. Returns the one that was current. */
static unsigned bare_provider(struct fxt_gen *g)
{
	const unsigned before = g->current;
	fxt_break_leave(g);
	const unsigned provider = fxt_add_provider(g);
	struct fxt_gen_provider *p = &g->providers[provider];
	g->current = provider;
	p->introduced = true;
	fxt_put_provider_info(g, p->id, p->name);
	return before;
}

/* An initialization of the anonymous context would be misplaced, not missing. */
BREAKER_OF(missing_initialization, GEN_PLANT, g->shape.without[FEATURE_ANONYMOUS] = true)
{
	const unsigned before = bare_provider(g);
	fxt_break_follow(g);
	fxt_break_return(g, before);
}

BREAKER(late_initialization, GEN_PLANT)
{
	static const uint64_t rates[] = { 1000000, 24000000, 19200000, 3000000000 };
	const unsigned before = bare_provider(g);
	if (choices_chance(g->c, 1, 2))
		fxt_put_initialization(g, FXT_TICKS_DEFAULT);
	fxt_break_follow(g);
	struct fxt_gen_provider *p = fxt_provider(g);
	p->rate = rates[choices_below(g->c, 4)];
	p->initialised = true;
	fxt_put_initialization(g, p->rate);
	fxt_break_follow(g);
	fxt_break_return(g, before);
}

static void no_initialization(struct fxt_gen *g)
{
	g->shape.with[FEATURE_NO_INIT] = true;
	g->shape.without[FEATURE_ANONYMOUS] = true;
}

/* No provider of this capture has a record of its own. */
static void choose_rate(struct fxt_gen *g)
{
	fxt_break_follow(g);
	g->note = choices_between(g->c, 1, 3000) * 1000000;
}

static void insert_initialization(struct fxt_gen *g)
{
	/* Between the magic and the first provider. */
	uint8_t record[2 * FXT_WORD];
	const bool big_endian = g->out->big_endian;
	store_u64(record, fxt_header(FXT_INITIALIZATION, 2), big_endian);
	store_u64(record + FXT_WORD, g->note, big_endian);
	bytes_insert(g->out, FXT_WORD, record, sizeof(record));
}

BREAKER_STAGES(initialization_in_other_context, [GEN_SHAPE] = no_initialization, [GEN_PLANT] = choose_rate,
	       [GEN_BYTES] = insert_initialization)

BREAKER(zero_tick_rate, GEN_PLANT)
{
	const unsigned before = bare_provider(g);
	fxt_put_initialization(g, 0);
	fxt_break_follow(g);
	fxt_break_return(g, before);
}

BREAKER(implausible_tick_rate, GEN_PLANT)
{
	const unsigned before = bare_provider(g);
	struct fxt_gen_provider *p = fxt_provider(g);
	p->rate = choices_chance(g->c, 1, 2) ? choices_between(g->c, 100, 999)
					     : choices_between(g->c, UINT64_C(1000000000001), UINT64_C(1) << 50);
	fxt_put_initialization(g, p->rate);
	p->initialised = true;
	fxt_break_follow(g);
	fxt_break_return(g, before);
}

/* An instant on a thread of its own. */
static void lone_instant(struct fxt_gen *g, uint64_t time)
{
	const struct fxt_gen_thread t = fxt_thread_fresh(g);
	struct fxt_gen_event e = { .type = FXT_INSTANT, .who = fxt_who_inline(&t), .time = time };
	e.name = fxt_ref_any(g);
	fxt_put_event(g, &e);
}

BREAKER(timestamp_overflow, GEN_PLANT)
{
	const unsigned before = bare_provider(g);
	fxt_put_initialization(g, choices_chance(g->c, 1, 2) ? FXT_TICKS_DEFAULT : 1000000);
	fxt_break_follow(g);
	lone_instant(g, UINT64_MAX - choices_below(g->c, UINT64_C(1) << 62));
	fxt_break_follow(g);
	fxt_break_return(g, before);
}

BREAKER(non_monotonic_timestamps, GEN_PLANT)
{
	fxt_provider(g)->now += 1000;
	fxt_break_follow(g);
	lone_instant(g, fxt_provider(g)->now - choices_between(g->c, 1, 1000));
}

BREAKER(timestamp_outlier, GEN_PLANT)
{
	const unsigned before = bare_provider(g);
	const uint64_t base = UINT64_C(1000000000000);
	fxt_put_initialization(g, FXT_TICKS_DEFAULT);
	fxt_provider(g)->initialised = true;
	fxt_provider(g)->now = base;
	for (unsigned i = 0; i < 24; i++)
		lone_instant(g, fxt_provider(g)->now += 50);
	lone_instant(g, choices_chance(g->c, 1, 2) ? 0 : base * choices_between(g->c, 3, 1000));
	for (unsigned i = 0; i < 24; i++)
		lone_instant(g, fxt_provider(g)->now += 50);
	fxt_break_return(g, before);
}

BREAKER(suspicious_repeat, GEN_PLANT)
{
	static const enum fxt_leaf leaves[] = { LEAF_INSTANT, LEAF_COUNTER, LEAF_COMPLETE };
	fxt_make_leaf_of(g, leaves[choices_below(g->c, 3)]);
	const size_t start = g->start, size = fxt_last_size(g);
	uint8_t *copy = bytes_grow(g->out, size);
	if (copy)
		memcpy(copy, g->out->data + start, size);
}

/* ---- durations, async operations, flows ---- */

struct operation {
	struct fxt_gen_thread thread;
	struct fxt_text category, name;
	uint64_t id;
};

/* A thread, names and an id that nothing else uses. */
static struct operation operation_make(struct fxt_gen *g)
{
	struct operation s = { .thread = fxt_thread_fresh(g) };
	s.category = fxt_text("strand");
	s.name = choices_chance(g->c, 1, 2) ? fxt_text("work") : fxt_text_of(g, 1 + (unsigned)choices_below(g->c, 40));
	s.id = g->next_id++;
	return s;
}

static void operation_put(struct fxt_gen *g, const struct operation *s, unsigned type)
{
	struct fxt_gen_event e = { .type = type, .who = fxt_who_inline(&s->thread), .tail = s->id };
	e.category = fxt_ref_to(g, s->category);
	e.name = fxt_ref_to(g, s->name);
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
	if (choices_chance(g->c, 1, 4))
		fxt_make_event(g, FXT_INSTANT, 0);
}

BREAKER(unmatched_duration_end, GEN_PLANT)
{
	const struct operation s = operation_make(g);
	operation_put(g, &s, FXT_DURATION_BEGIN);
	operation_put(g, &s, FXT_DURATION_END);
	operation_put(g, &s, FXT_DURATION_END);
}

BREAKER(unclosed_duration, GEN_PLANT)
{
	const struct operation s = operation_make(g);
	operation_put(g, &s, FXT_DURATION_BEGIN);
	if (choices_chance(g->c, 1, 2)) {
		operation_put(g, &s, FXT_DURATION_BEGIN);
		operation_put(g, &s, FXT_DURATION_END);
	}
}

BREAKER(duration_end_name_mismatch, GEN_PLANT)
{
	struct operation s = operation_make(g);
	s.name = fxt_text("one name");
	operation_put(g, &s, FXT_DURATION_BEGIN);
	s.name = fxt_text("other name");
	operation_put(g, &s, FXT_DURATION_END);
}

BREAKER(complete_end_before_start, GEN_PLANT)
{
	fxt_provider(g)->now += 500;
	fxt_make_event(g, FXT_DURATION_COMPLETE, 0);
	const uint64_t start = fxt_last_get(g, g->start + FXT_WORD, 0, 64);
	fxt_last_set(g, g->out->size - FXT_WORD, 0, 64, start - choices_between(g->c, 1, 500));
}

BREAKER(unmatched_async_begin, GEN_PLANT)
{
	const struct operation s = operation_make(g);
	operation_put(g, &s, FXT_ASYNC_BEGIN);
	if (choices_chance(g->c, 1, 2))
		operation_put(g, &s, FXT_ASYNC_INSTANT);
}

BREAKER(unmatched_async_end, GEN_PLANT)
{
	const struct operation s = operation_make(g);
	if (choices_chance(g->c, 1, 2)) {
		operation_put(g, &s, FXT_ASYNC_BEGIN);
		operation_put(g, &s, FXT_ASYNC_END);
	}
	operation_put(g, &s, FXT_ASYNC_END);
}

BREAKER(async_instant_outside, GEN_PLANT)
{
	const struct operation s = operation_make(g);
	if (choices_chance(g->c, 1, 2)) {
		operation_put(g, &s, FXT_ASYNC_BEGIN);
		operation_put(g, &s, FXT_ASYNC_END);
	}
	fxt_provider(g)->now++;
	operation_put(g, &s, FXT_ASYNC_INSTANT);
}

BREAKER(unmatched_flow_begin, GEN_PLANT)
{
	const struct operation s = operation_make(g);
	operation_put(g, &s, FXT_FLOW_BEGIN);
	if (choices_chance(g->c, 1, 2))
		operation_put(g, &s, FXT_FLOW_STEP);
}

BREAKER(flow_without_begin, GEN_PLANT)
{
	const struct operation s = operation_make(g);
	operation_put(g, &s, choices_chance(g->c, 1, 2) ? FXT_FLOW_STEP : FXT_FLOW_END);
}

BREAKER(flow_id_reused, GEN_PLANT)
{
	const struct operation s = operation_make(g);
	operation_put(g, &s, FXT_FLOW_BEGIN);
	if (choices_chance(g->c, 1, 2))
		operation_put(g, &s, FXT_FLOW_STEP);
	operation_put(g, &s, FXT_FLOW_BEGIN);
	operation_put(g, &s, FXT_FLOW_END);
}

BREAKER(flow_outside_duration, GEN_PLANT)
{
	const struct operation s = operation_make(g);
	operation_put(g, &s, FXT_FLOW_BEGIN);
	operation_put(g, &s, FXT_FLOW_END);
}

/* ---- counters ---- */

BREAKER(counter_without_arguments, GEN_PLANT)
{
	fxt_break_event(g, FXT_COUNTER, NULL, 0, choices_number(g->c));
}

BREAKER(counter_non_numeric, GEN_PLANT)
{
	static const unsigned types[] = { FXT_ARG_STRING, FXT_ARG_NULL, FXT_ARG_BOOL, FXT_ARG_KOID, FXT_ARG_POINTER };
	struct fxt_arg args[2];
	args[0] = fxt_arg_of(g, FXT_ARG_UINT32, fxt_ref_to(g, fxt_text("value")));
	const struct fxt_ref odd = fxt_ref_to(g, fxt_text("odd one"));
	args[1] = fxt_arg_of(g, types[choices_below(g->c, 5)], odd);
	fxt_break_event(g, FXT_COUNTER, args, 2, 1);
}

BREAKER(counter_nan, GEN_PLANT)
{
	static const uint64_t values[] = {
		UINT64_C(0x7ff8000000000000), /* not a number */
		UINT64_C(0x7ff0000000000000), /* infinity */
		UINT64_C(0xfff0000000000000),
		UINT64_C(0x7ff0000000000001),
	};
	struct fxt_arg arg = { .type = FXT_ARG_DOUBLE, .name = fxt_ref_to(g, fxt_text("value")) };
	arg.value = values[choices_below(g->c, 4)];
	fxt_break_event(g, FXT_COUNTER, &arg, 1, 1);
}

/* ---- bounds of the checker ---- */

BREAKER(semantic_bound_reached, GEN_PLANT)
{
	/* More named blobs than are tracked: the bound that needs the fewest bytes. */
	for (unsigned i = 0; i <= FXT_BLOB_STREAMS_MAX && !g->out->failed; i++) {
		char text[FXT_WORD] = { 'b', 'l', (char)('a' + i % 26), (char)('a' + i / 26 % 26), (char)('a' + i / 676 % 26) };
		const struct fxt_ref name = fxt_ref_inline((struct fxt_text){ (const uint8_t *)text, 5 });
		fxt_put_blob(g, name, FXT_BLOB_DATA, NULL, 0);
	}
}
