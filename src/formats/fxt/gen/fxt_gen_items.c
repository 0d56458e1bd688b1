/* What a capture is made of: each item writes one record, or a few that belong together, with the registrations that
 * they need before them. Every item is legal at any place, and fxt_close_all() ends what items leave open. */
#include "formats/fxt/gen/fxt_gen_items.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes of payloads, which are not text. */
static const uint8_t *payload(struct fxt_gen *g)
{
	return g->pattern + FXT_GEN_PATTERN;
}

/* A text that is short enough to be inline in every record. */
static struct fxt_text short_text(struct fxt_gen *g)
{
	const struct fxt_text text = fxt_text_any(g);
	return text.length > 255 ? fxt_text_of(g, 255) : text;
}

/* Any category and name of an event. Both may be empty, as one writer does for flows. */
static void name_event(struct fxt_gen *g, struct fxt_gen_event *e)
{
	e->category = fxt_ref_any(g);
	e->name = fxt_ref_any(g);
}

/* ---- events ---- */

void fxt_make_event(struct fxt_gen *g, unsigned type, unsigned least_args)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_gen_event e = { .type = type, .args = args };

	e.who = fxt_who_any(g);
	name_event(g, &e);
	if (type == FXT_COUNTER) {
		static const unsigned numeric[] = { FXT_ARG_INT32, FXT_ARG_UINT32, FXT_ARG_INT64, FXT_ARG_UINT64, FXT_ARG_DOUBLE };
		e.arg_count = (unsigned)choices_between(g->c, least_args ? least_args : 1, g->has[FEATURE_MANY_ARGS] ? 15 : 3);
		for (unsigned i = 0; i < e.arg_count; i++) {
			const struct fxt_ref name = fxt_ref_any(g);
			args[i] = fxt_arg_of(g, numeric[choices_below(g->c, COUNT(numeric))], name);
		}
		e.tail = choices_number(g->c);
	} else {
		e.arg_count = fxt_args_any(g, args, least_args);
	}
	e.time = fxt_tick(g);
	if (type == FXT_DURATION_COMPLETE) {
		/* Everything later starts where it ends, so that it nests in whatever is open. */
		struct fxt_gen_provider *p = fxt_provider(g);
		p->now += choices_below(g->c, 300);
		e.tail = p->now;
	}
	if (type == FXT_INSTANT && g->has[FEATURE_SCOPE] && choices_chance(g->c, 1, 2)) {
		e.scope = true;
		e.tail = choices_below(g->c, 3);
	}
	fxt_put_event(g, &e);
}

static void item_instant(struct fxt_gen *g)
{
	fxt_make_event(g, FXT_INSTANT, 0);
}

static void item_counter(struct fxt_gen *g)
{
	fxt_make_event(g, FXT_COUNTER, 0);
}

static void item_complete(struct fxt_gen *g)
{
	fxt_make_event(g, FXT_DURATION_COMPLETE, 0);
}

void fxt_make_begin(struct fxt_gen *g, unsigned thread)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_gen_event e = { .type = FXT_DURATION_BEGIN, .args = args };

	e.who = fxt_who(g, thread);
	name_event(g, &e);
	e.arg_count = fxt_args_any(g, args, 0);
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
	struct fxt_gen_thread *t = &g->threads[thread];
	if (t->depth < FXT_GEN_STACK) {
		t->category[t->depth] = e.category.text;
		t->name[t->depth] = e.name.text;
	}
	t->depth++;
}

void fxt_make_end(struct fxt_gen *g, unsigned thread)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_gen_event e = { .type = FXT_DURATION_END, .args = args };
	struct fxt_gen_thread *t = &g->threads[thread];

	t->depth--;
	e.who = fxt_who(g, thread);
	if (t->depth < FXT_GEN_STACK) {
		e.category = fxt_ref_to(g, t->category[t->depth]);
		e.name = fxt_ref_to(g, t->name[t->depth]);
	}
	if (choices_chance(g->c, 1, 4))
		e.arg_count = fxt_args_any(g, args, 0);
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
}

static void item_duration(struct fxt_gen *g)
{
	const unsigned thread = fxt_thread_any(g);

	if (thread >= g->thread_count)
		item_instant(g);
	else if (g->threads[thread].depth && choices_chance(g->c, 1, 2))
		fxt_make_end(g, thread);
	else
		fxt_make_begin(g, thread);
}

/* 1,000 durations inside each other, in the smallest form. */
static void item_deep(struct fxt_gen *g)
{
	struct fxt_gen_thread t = fxt_thread_fresh(g);
	struct fxt_gen_event e = { .who = fxt_who_inline(&t) };

	e.name = fxt_ref_any(g);
	for (unsigned i = 0; i < 2000; i++) {
		e.type = i < 1000 ? FXT_DURATION_BEGIN : FXT_DURATION_END;
		e.time = fxt_tick(g);
		fxt_put_event(g, &e);
	}
}

/* The end of a duration written before its begin, as recorders do that learn late; or a lone event of the past. */
static void item_backward(struct fxt_gen *g)
{
	struct fxt_gen_thread t = fxt_thread_fresh(g);
	struct fxt_gen_event e = { .type = FXT_DURATION_END, .who = fxt_who_inline(&t) };

	name_event(g, &e);
	e.time = fxt_tick(g);
	if (!e.time)
		return;
	if (choices_chance(g->c, 1, 2) || fxt_gen_barred(g, FEATURE_DURATIONS))
		e.type = FXT_INSTANT;
	else
		fxt_put_event(g, &e);
	e.type = e.type == FXT_INSTANT ? FXT_INSTANT : FXT_DURATION_BEGIN;
	e.time -= choices_between(g->c, 1, e.time < 5000 ? e.time : 5000);
	fxt_put_event(g, &e);
}

static void put_open(struct fxt_gen *g, const struct fxt_gen_open *o, unsigned type)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_gen_event e = { .type = type, .args = args, .tail = o->id };

	e.who = fxt_who(g, o->thread);
	e.category = fxt_ref_to(g, o->category);
	e.name = fxt_ref_to(g, o->name);
	if (choices_chance(g->c, 1, 3))
		e.arg_count = fxt_args_any(g, args, 0);
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
}

/* A correlation id: new, or one whose operation has ended. */
static uint64_t id_any(struct fxt_gen *g)
{
	if (g->reuse_id && choices_chance(g->c, 1, 4)) {
		const uint64_t id = g->reuse_id;
		g->reuse_id = 0;
		return id;
	}
	const uint64_t id = g->next_id++;
	return choices_chance(g->c, 1, 6) ? id | choices_between(g->c, 1, 0xffff) << 48 : id;
}

static void open_end(struct fxt_gen *g, unsigned i)
{
	put_open(g, &g->open[i], g->open[i].flow ? FXT_FLOW_END : FXT_ASYNC_END);
	if (!g->open[i].flow)
		g->reuse_id = g->open[i].id;
	g->open[i] = g->open[--g->open_count];
}

static void item_open(struct fxt_gen *g, bool flow)
{
	const unsigned thread = fxt_thread_any(g);

	if (thread >= g->thread_count) {
		item_instant(g);
		return;
	}
	for (unsigned i = 0; i < g->open_count; i++) {
		const struct fxt_gen_open *o = &g->open[i];
		if (o->flow != flow || g->threads[o->thread].provider != g->current || choices_chance(g->c, 1, 3))
			continue;
		if (choices_chance(g->c, 1, 2))
			put_open(g, o, flow ? FXT_FLOW_STEP : FXT_ASYNC_INSTANT);
		else
			open_end(g, i);
		return;
	}
	if (g->open_count >= FXT_GEN_OPEN)
		return;
	struct fxt_gen_open *o = &g->open[g->open_count++];
	*o = (struct fxt_gen_open){ .flow = flow, .thread = thread };
	o->category = short_text(g);
	o->name = short_text(g);
	o->id = id_any(g);
	if (flow && !g->threads[thread].depth && choices_chance(g->c, 1, 2) && !fxt_gen_barred(g, FEATURE_DURATIONS))
		fxt_make_begin(g, thread);
	put_open(g, o, flow ? FXT_FLOW_BEGIN : FXT_ASYNC_BEGIN);
}

static void item_async(struct fxt_gen *g)
{
	item_open(g, false);
}

static void item_flow(struct fxt_gen *g)
{
	item_open(g, true);
}

void fxt_close_all(struct fxt_gen *g)
{
	while (g->open_count) {
		fxt_switch_provider(g, g->threads[g->open[g->open_count - 1].thread].provider);
		open_end(g, g->open_count - 1);
	}
	for (unsigned i = 0; i < g->thread_count; i++)
		while (g->threads[i].depth) {
			fxt_switch_provider(g, g->threads[i].provider);
			fxt_make_end(g, i);
		}
}

/* ---- blobs ---- */

/* One name for each type: blobs of a name are one stream. */
static void item_blob(struct fxt_gen *g)
{
	static const uint16_t lengths[] = { 0, 1, 7, 8, 9, 24, 63, 64, 65, 300 };
	const bool branches = choices_chance(g->c, 1, 3);
	const unsigned chunks = choices_chance(g->c, 1, 4) ? 3 : 1;
	const struct fxt_text name = fxt_text(branches ? "lbr" : "raw blob");

	for (unsigned i = 0; i < chunks; i++) {
		const struct fxt_ref ref = fxt_ref_to(g, name);
		const uint8_t *data = payload(g) + choices_below(g->c, 64);
		const uint16_t length = lengths[choices_below(g->c, COUNT(lengths))];
		fxt_put_blob(g, ref, branches ? FXT_BLOB_LAST_BRANCH : FXT_BLOB_DATA, data, length);
	}
}

/* Perfetto trace packets: field 1, length-delimited, with a timestamp (field 8) inside, or nothing. */
static void item_proto(struct fxt_gen *g)
{
	static const uint8_t packets[] = { 0x0a, 0x02, 0x40, 0x05, 0x0a, 0x00, 0x0a, 0x03, 0x40, 0x90, 0x03, 0x0a, 0x00 };
	static const uint8_t ends[] = { 4, 6, 11, 13 };
	const struct fxt_ref name = fxt_ref_to(g, fxt_text("perfetto-bootstrap"));
	fxt_put_blob(g, name, FXT_BLOB_PERFETTO, packets, ends[choices_below(g->c, COUNT(ends))]);
}

static void item_filler(struct fxt_gen *g)
{
	static const uint16_t lengths[] = { 8, 16, 64, 512, 4000 };
	fxt_put_blob(g, fxt_ref_empty(), FXT_BLOB_DATA, payload(g), lengths[choices_below(g->c, COUNT(lengths))]);
}

void fxt_make_large_blob(struct fxt_gen *g, size_t words)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	struct fxt_gen_event e = { .args = args };
	const bool metadata = choices_chance(g->c, 1, 2);
	size_t fixed = 3;

	if (words > 3 || metadata)
		name_event(g, &e);
	if (metadata) {
		e.who = fxt_who_any(g);
		e.arg_count = fxt_args_any(g, args, 0);
		e.time = fxt_tick(g);
		fixed = 4;
	}
	/* Of what is asked for, the rest after the fixed part and inline texts is payload; not always whole words of
	 * it. */
	const size_t other = fixed + (e.category.value & FXT_STRING_INLINE ? (size_t)fxt_words(e.category.text.length) : 0) +
			     (e.name.value & FXT_STRING_INLINE ? (size_t)fxt_words(e.name.text.length) : 0) +
			     (metadata && !e.who.index ? 2 : 0);
	size_t length = words > other ? (words - other) * FXT_WORD : 0;
	if (length)
		length -= (size_t)choices_below(g->c, FXT_WORD);
	fxt_put_large_blob(g, metadata, &e, length);
}

static void item_large(struct fxt_gen *g)
{
	static const uint16_t sizes[] = { 3, 4, 5, 8, 40 };
	fxt_make_large_blob(g, sizes[choices_below(g->c, COUNT(sizes))]);
}

static void item_huge_blob(struct fxt_gen *g)
{
	static const uint16_t sizes[] = { 4095, 4096, 4097, 8193, 8200 };
	fxt_make_large_blob(g, sizes[choices_below(g->c, COUNT(sizes))]);
}

/* ---- objects, scheduling, logs, profiles ---- */

static void item_userspace(struct fxt_gen *g)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	const struct fxt_who process = fxt_who(g, fxt_thread_any(g));
	const struct fxt_ref name = fxt_ref_any(g);
	const unsigned count = fxt_args_any(g, args, 0);
	fxt_put_userspace(g, choices_number(g->c), process, name, args, count);
}

static void item_kernel(struct fxt_gen *g)
{
	static const uint8_t types[] = { 1,  2,	 3,  4,	 5,  6,	 9,  11, 12, 14, 15, 16, 17, 18,
					 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };
	struct fxt_arg args[FXT_ARGS_MAX];
	const unsigned type = types[choices_below(g->c, COUNT(types))];
	const unsigned thread = fxt_thread_any(g);
	uint64_t koid = fxt_koid(g);
	unsigned count = 0;
	struct fxt_ref name = fxt_ref_any(g);

	if (type == FXT_OBJECT_THREAD) {
		args[count] = (struct fxt_arg){ .type = FXT_ARG_KOID, .name = fxt_ref_to(g, fxt_text("process")) };
		args[count].value = koid;
		if (thread < g->thread_count) {
			koid = g->threads[thread].thread;
			args[count].value = g->threads[thread].process;
		}
		count++;
	} else {
		if (type == FXT_OBJECT_PROCESS && thread < g->thread_count)
			koid = g->threads[thread].process;
		count = fxt_args_any(g, args, 0);
	}
	/* Names come from fixed buffers of the kernel and may be cut inside a character. */
	if (g->latest && g->has[FEATURE_UTF8] && choices_chance(g->c, 1, 6))
		name = fxt_ref_inline((struct fxt_text){ (const uint8_t *)"caf\xc3", 4 });
	fxt_put_kernel(g, type, koid, name, args, count);
}

static unsigned cpu_any(struct fxt_gen *g, unsigned limit)
{
	return (unsigned)(choices_chance(g->c, 1, 8) ? choices_below(g->c, limit) : choices_below(g->c, 4));
}

static unsigned outgoing_state(struct fxt_gen *g)
{
	static const uint8_t states[] = { FXT_STATE_BLOCKED, FXT_STATE_NEW, FXT_STATE_SUSPENDED, FXT_STATE_DYING, FXT_STATE_DEAD };
	return states[choices_below(g->c, COUNT(states))];
}

static void item_legacy_switch(struct fxt_gen *g)
{
	const struct fxt_who outgoing = fxt_who_any(g), incoming = fxt_who_any(g);
	const unsigned cpu = cpu_any(g, 256), state = outgoing_state(g);
	const unsigned priorities = (unsigned)choices_below(g->c, 65536);
	fxt_put_legacy_switch(g, fxt_tick(g), cpu, state, outgoing, incoming, priorities & 255, priorities >> 8);
}

static uint64_t thread_koid(struct fxt_gen *g)
{
	const unsigned thread = fxt_thread_any(g);
	return thread < g->thread_count ? g->threads[thread].thread : fxt_koid(g);
}

static unsigned weight_args(struct fxt_gen *g, struct fxt_arg *args, unsigned count, const char *const *names)
{
	if (!g->has[FEATURE_ARGS] || choices_chance(g->c, 1, 3))
		return 0;
	for (unsigned i = 0; i < count; i++) {
		args[i] = fxt_arg_of(g, FXT_ARG_INT32, fxt_ref_to(g, fxt_text(names[i])));
		args[i].value = choices_below(g->c, 256);
	}
	return count;
}

static void item_switch(struct fxt_gen *g)
{
	static const char *const names[] = { "outgoing_weight", "incoming_weight" };
	struct fxt_arg args[FXT_ARGS_MAX];
	const uint64_t outgoing = thread_koid(g), incoming = thread_koid(g);
	const unsigned count = weight_args(g, args, 2, names);
	/* Here, unlike in the legacy form, the state may be "running": the document excludes it there only. */
	const unsigned cpu = cpu_any(g, 1024), state = outgoing_state(g);
	fxt_put_switch(g, fxt_tick(g), cpu, state, outgoing, incoming, args, count);
}

static void item_wakeup(struct fxt_gen *g)
{
	static const char *const names[] = { "weight" };
	struct fxt_arg args[FXT_ARGS_MAX];
	const uint64_t thread = thread_koid(g);
	unsigned count = weight_args(g, args, 1, names);
	if (count && choices_chance(g->c, 1, 2)) {
		args[count] = (struct fxt_arg){ .type = FXT_ARG_KOID, .name = fxt_ref_to(g, fxt_text("waker")) };
		args[count++].value = thread_koid(g);
	}
	const unsigned cpu = cpu_any(g, 1024);
	fxt_put_wakeup(g, fxt_tick(g), cpu, thread, args, count);
}

static void item_log(struct fxt_gen *g)
{
	const struct fxt_who who = fxt_who_any(g);
	const struct fxt_text message = fxt_text_any(g);
	fxt_put_log(g, fxt_tick(g), who, message);
}

static void item_module(struct fxt_gen *g)
{
	const struct fxt_who who = fxt_who_any(g);
	const unsigned module = (unsigned)choices_below(g->c, 4);
	const struct fxt_text build_id = { payload(g), (uint16_t)(choices_chance(g->c, 1, 2) ? 20 : 16) };
	const struct fxt_text name = short_text(g);
	fxt_put_module(g, fxt_tick(g), who, module, name, build_id);
}

static void item_mmap(struct fxt_gen *g)
{
	const struct fxt_who who = fxt_who_any(g);
	const unsigned module = (unsigned)choices_below(g->c, 4), flags = (unsigned)choices_below(g->c, 8);
	const uint64_t start = choices_between(g->c, 1, 0xffff) << 12;
	fxt_put_mmap(g, fxt_tick(g), who, module, flags, start, 0x4000, 0x1000);
}

static void item_backtrace(struct fxt_gen *g)
{
	const struct fxt_who who = fxt_who_any(g);
	const unsigned frames = choices_chance(g->c, 1, 12) ? 255 : (unsigned)choices_below(g->c, 9);
	fxt_put_backtrace(g, fxt_tick(g), who, frames);
}

static void item_profiler(struct fxt_gen *g)
{
	item_module(g);
	item_mmap(g);
	item_backtrace(g);
}

/* ---- registrations that nothing needs ---- */

static void item_strings(struct fxt_gen *g)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	switch (choices_below(g->c, 4)) {
	case 0:
		(void)fxt_ref_indexed(g, fxt_text_any(g));
		break;
	case 1:
		(void)fxt_ref_indexed(g, fxt_text(""));
		break;
	case 2: /* the same again */
		if (p->string_count) {
			const struct fxt_gen_string *s = &p->strings[choices_below(g->c, p->string_count)];
			fxt_put_string(g, s->index, s->text);
		}
		break;
	default:
		fxt_switch_provider(g, g->current);
		if (p->introduced) /* a section of the provider that is current anyway */
			fxt_put_provider_section(g, p->id);
		break;
	}
}

static void item_redefine(struct fxt_gen *g)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	if (p->string_count && choices_chance(g->c, 1, 2)) {
		const uint16_t index = p->strings[choices_below(g->c, p->string_count)].index;
		fxt_register_string(g, index, fxt_text_any(g));
		return;
	}
	const unsigned thread = fxt_thread_any(g);
	if (thread < g->thread_count && g->threads[thread].index) {
		const uint8_t index = g->threads[thread].index;
		const unsigned other = fxt_thread_any(g);
		fxt_forget_thread_index(g, index);
		fxt_put_thread(g, index, g->threads[other].process, g->threads[other].thread);
		g->threads[other].index = index;
	}
}

static void item_full_strings(struct fxt_gen *g)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	if (p->filled)
		return;
	for (unsigned i = 1; i < FXT_STRING_INDEX_MAX; i++) {
		bool known = false;
		for (unsigned k = 0; k < p->string_count; k++)
			known |= p->strings[k].index == i;
		if (!known)
			fxt_put_string(g, (uint16_t)i, (struct fxt_text){ g->pattern + i % 97, (uint16_t)(1 + i % 8) });
	}
	if (p->string_count == FXT_GEN_STRINGS)
		p->string_count--;
	fxt_register_string(g, FXT_STRING_INDEX_MAX, fxt_text("the last of the table"));
	p->filled = true;
	item_instant(g);
}

static void item_full_threads(struct fxt_gen *g)
{
	struct fxt_gen_provider *p = fxt_provider(g);
	const unsigned used = p->next_thread;

	/* Of all indexes, those that the model did not give out yet. */
	for (unsigned i = used + 1; i <= FXT_THREAD_INDEX_MAX; i++) {
		const struct fxt_gen_thread t = fxt_thread_fresh(g);
		struct fxt_gen_event e = { .who = { (uint8_t)i, t.process, t.thread } };
		fxt_put_thread(g, (uint8_t)i, t.process, t.thread);
		e.time = fxt_tick(g);
		fxt_put_event(g, &e);
	}
	p->next_thread = FXT_THREAD_INDEX_MAX;
}

/* A record of 4,095 words: a blob with its payload, or an event of two arguments that share them. */
static void item_full_record(struct fxt_gen *g)
{
	const bool blob = choices_chance(g->c, 1, 2);
	if ((blob && !fxt_gen_barred(g, FEATURE_FILLER)) || fxt_gen_barred(g, FEATURE_ARGS)) {
		const size_t length = (FXT_RECORD_WORDS_MAX - 1) * FXT_WORD;
		fxt_put_blob(g, fxt_ref_empty(), FXT_BLOB_DATA, payload(g), (size_t)(length - choices_below(g->c, FXT_WORD)));
		return;
	}
	struct fxt_gen_thread t = fxt_thread_fresh(g);
	struct fxt_arg args[2] = { { .type = FXT_ARG_STRING }, { .type = FXT_ARG_STRING } };
	struct fxt_gen_event e = { .type = FXT_INSTANT, .who = fxt_who_inline(&t), .args = args, .arg_count = 2 };
	/* header, time and koids; a header and an inline name of a word for each argument */
	const unsigned fixed = 4 + 2 * 2, first = 3900;
	args[0].name = fxt_ref_inline(fxt_text("text"));
	args[1].name = fxt_ref_inline(fxt_text("rest"));
	args[0].text = fxt_ref_inline(fxt_text_of(g, first * FXT_WORD));
	args[1].text = fxt_ref_inline(fxt_text_of(g, (FXT_RECORD_WORDS_MAX - first - fixed) * FXT_WORD - 3));
	e.time = fxt_tick(g);
	fxt_put_event(g, &e);
}

static void item_long_strings(struct fxt_gen *g)
{
	item_instant(g);
	if (fxt_gen_barred(g, FEATURE_LOG))
		return;
	const struct fxt_who who = fxt_who(g, fxt_thread_any(g));
	const struct fxt_text message = fxt_text_of(g, 32000);
	fxt_put_log(g, fxt_tick(g), who, message);
}

static void item_provider(struct fxt_gen *g)
{
	if (g->provider_count <= 3 && choices_chance(g->c, 1, 2))
		fxt_switch_provider(g, fxt_add_provider(g));
	else if (g->provider_count > 2)
		fxt_switch_provider(g, (unsigned)choices_between(g->c, 1, g->provider_count - 1));
}

static void item_many_providers(struct fxt_gen *g)
{
	for (unsigned i = 0; i < 300; i++) {
		fxt_switch_provider(g, fxt_add_provider(g));
		item_instant(g);
	}
}

static void item_buffer_full(struct fxt_gen *g)
{
	if (fxt_provider(g)->introduced)
		fxt_put_provider_event(g, fxt_provider(g)->id, FXT_PROVIDER_BUFFER_FULL);
}

/* ---- leaves, for breakers ---- */

static void leaf_string(struct fxt_gen *g)
{
	const uint16_t index = fxt_string_unused(g);
	fxt_put_string(g, index, fxt_text_any(g));
}

static void leaf_thread(struct fxt_gen *g)
{
	const uint8_t index = fxt_thread_unused(g);
	const struct fxt_gen_thread t = fxt_thread_fresh(g);
	fxt_put_thread(g, index, t.process, t.thread);
}

void fxt_make_leaf_of(struct fxt_gen *g, enum fxt_leaf leaf)
{
	static void (*const make[FXT_LEAVES])(struct fxt_gen *) = {
		[LEAF_INSTANT] = item_instant,
		[LEAF_COUNTER] = item_counter,
		[LEAF_COMPLETE] = item_complete,
		[LEAF_LOG] = item_log,
		[LEAF_BLOB] = item_blob,
		[LEAF_KERNEL] = item_kernel,
		[LEAF_USERSPACE] = item_userspace,
		[LEAF_LARGE] = item_large,
		[LEAF_LEGACY_SWITCH] = item_legacy_switch,
		[LEAF_STRING] = leaf_string,
		[LEAF_THREAD] = leaf_thread,
		[LEAF_SWITCH] = item_switch,
		[LEAF_WAKEUP] = item_wakeup,
		[LEAF_MODULE] = item_module,
		[LEAF_MMAP] = item_mmap,
		[LEAF_BACKTRACE] = item_backtrace,
	};
	make[!g->latest && leaf >= LEAF_SWITCH ? LEAF_INSTANT : leaf](g);
}

void fxt_make_leaf(struct fxt_gen *g)
{
	fxt_make_leaf_of(g, (enum fxt_leaf)choices_below(g->c, FXT_LEAVES));
}

/* ---- the draw ---- */

static const struct item {
	int feature; /* -1: always */
	unsigned weight;
	void (*make)(struct fxt_gen *g);
} items[] = {
	{ -1, 2, item_instant },
	{ FEATURE_COUNTERS, 2, item_counter },
	{ FEATURE_DURATIONS, 6, item_duration },
	{ FEATURE_COMPLETE, 2, item_complete },
	{ FEATURE_ASYNC, 3, item_async },
	{ FEATURE_FLOW, 3, item_flow },
	{ FEATURE_BLOBS, 1, item_blob },
	{ FEATURE_PROTO, 1, item_proto },
	{ FEATURE_FILLER, 1, item_filler },
	{ FEATURE_LARGE, 1, item_large },
	{ FEATURE_USERSPACE, 1, item_userspace },
	{ FEATURE_KERNEL, 1, item_kernel },
	{ FEATURE_LEGACY_SWITCH, 2, item_legacy_switch },
	{ FEATURE_SWITCH, 2, item_switch },
	{ FEATURE_WAKEUP, 2, item_wakeup },
	{ FEATURE_LOG, 1, item_log },
	{ FEATURE_PROFILER, 1, item_profiler },
	{ FEATURE_STRINGS, 1, item_strings },
	{ FEATURE_REDEFINE, 1, item_redefine },
	{ FEATURE_BACKWARD, 1, item_backward },
	{ FEATURE_PROVIDERS, 2, item_provider },
	{ FEATURE_BUFFER_FULL, 1, item_buffer_full },
};

/* Once a capture, since they are large. */
static const struct item rarities[] = {
	{ FEATURE_DEEP, 1, item_deep },
	{ FEATURE_LONG_STRINGS, 1, item_long_strings },
	{ FEATURE_FULL_RECORD, 1, item_full_record },
	{ FEATURE_HUGE_BLOB, 1, item_huge_blob },
	{ FEATURE_FULL_STRINGS, 1, item_full_strings },
	{ FEATURE_FULL_THREADS, 1, item_full_threads },
	{ FEATURE_MANY_PROVIDERS, 1, item_many_providers },
};

void fxt_make_item(struct fxt_gen *g)
{
	unsigned total = 0;
	for (size_t i = 0; i < COUNT(items); i++)
		if (items[i].feature < 0 || g->has[items[i].feature])
			total += items[i].weight;
	uint64_t drawn = choices_below(g->c, total);
	for (size_t i = 0; i < COUNT(items); i++) {
		if (items[i].feature >= 0 && !g->has[items[i].feature])
			continue;
		if (drawn < items[i].weight) {
			items[i].make(g);
			return;
		}
		drawn -= items[i].weight;
	}
}

void fxt_make_rarities(struct fxt_gen *g)
{
	for (size_t i = 0; i < COUNT(rarities); i++)
		if (g->has[rarities[i].feature] && !(g->has[FEATURE_ANONYMOUS] && rarities[i].feature == FEATURE_MANY_PROVIDERS))
			rarities[i].make(g);
}
