/* Defects inside records: unassigned types, sizes of parts, arguments, objects, scheduling, blobs. */
#include "formats/fxt/gen/break/fxt_break.h"
#include "formats/fxt/gen/fxt_gen_items.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- unassigned types ---- */

/* Words that do not decode as records. */
static void put_opaque(struct fxt_gen *g, unsigned words)
{
	while (words--)
		fxt_put_word(g, fxt_break_word(g));
}

BREAKER(unknown_record_type, GEN_PLANT)
{
	fxt_put_begin(g);
	put_opaque(g, (unsigned)choices_below(g->c, 6));
	const uint64_t fields = choices_u64(g->c) & ~UINT64_C(0xffff);
	fxt_put_end(g, (unsigned)choices_between(g->c, 11, 14), fields);
}

BREAKER(unknown_metadata_type, GEN_PLANT)
{
	fxt_put_begin(g);
	put_opaque(g, (unsigned)choices_below(g->c, 4));
	const uint64_t type = choices_between(g->c, 4, 15);
	fxt_put_end(g, FXT_METADATA, fxt_field(16, 4, type == 4 ? 0 : type) | fxt_field(20, 32, choices_u64(g->c)));
}

BREAKER(unknown_trace_info_type, GEN_PLANT)
{
	fxt_put_begin(g);
	const uint64_t type = choices_between(g->c, 1, 15);
	fxt_put_end(g, FXT_METADATA,
		    fxt_field(16, 4, FXT_TRACE_INFO) | fxt_field(20, 4, type) | fxt_field(24, 40, choices_u64(g->c)));
}

BREAKER(unknown_provider_event, GEN_PLANT)
{
	fxt_break_leave(g);
	if (!fxt_provider(g)->introduced)
		fxt_break_provider(g);
	fxt_put_provider_event(g, fxt_provider(g)->id, (unsigned)choices_between(g->c, 1, 15));
}

BREAKER(unknown_event_type, GEN_PLANT)
{
	fxt_make_event(g, FXT_INSTANT, 0);
	fxt_last_set(g, g->start, 16, 4, choices_between(g->c, 11, 15));
}

BREAKER(unknown_scheduling_type, GEN_PLANT)
{
	fxt_put_begin(g);
	put_opaque(g, (unsigned)choices_below(g->c, 5));
	const uint64_t type = choices_between(g->c, 3, 15);
	if (!g->latest) /* where the types are, the 2022 revision has reserved bits */
		gen_expect(g->g, FXT_RULE_reserved_bits_set);
	fxt_put_end(g, FXT_SCHEDULING, fxt_field(60, 4, type) | fxt_field(16, 44, choices_u64(g->c)));
}

BREAKER(unknown_profiler_type, GEN_PLANT)
{
	fxt_put_begin(g);
	put_opaque(g, (unsigned)choices_below(g->c, 5));
	const uint64_t type = choices_between(g->c, 3, 15);
	fxt_put_end(g, FXT_PROFILER, fxt_field(16, 4, type) | fxt_field(20, 44, choices_u64(g->c)));
}

BREAKER(unknown_large_type, GEN_PLANT)
{
	fxt_put_begin(g);
	put_opaque(g, (unsigned)choices_below(g->c, 8));
	const uint64_t fields = fxt_field(40, 24, choices_u64(g->c));
	fxt_put_end_large(g, (unsigned)choices_between(g->c, 1, 15), fields);
}

BREAKER(unknown_blob_format, GEN_PLANT)
{
	fxt_make_large_blob(g, (size_t)choices_between(g->c, 3, 12));
	fxt_last_set(g, g->start, 40, 4, choices_between(g->c, 2, 15));
}

BREAKER(unknown_blob_type, GEN_PLANT)
{
	const uint64_t type = choices_between(g->c, 3, 255);
	const struct fxt_ref name = fxt_ref_to(g, fxt_text("blob of another type"));
	fxt_put_blob(g, name, type == 3 ? 0 : (unsigned)type, g->pattern, (size_t)choices_below(g->c, 40));
}

/* An event whose last argument is one of opaque words that the caller then types. Returns the argument's offset. */
static size_t opaque_argument(struct fxt_gen *g, unsigned type)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	unsigned count = (unsigned)choices_below(g->c, 3);
	for (unsigned i = 0; i < count; i++)
		args[i] = fxt_arg_any(g);
	args[count++] = fxt_arg_of(g, type, fxt_ref_any(g));
	fxt_break_event(g, FXT_INSTANT, args, count, 0);
	size_t at = g->start;
	for (unsigned i = 0; i < g->mark_count; i++)
		if (g->marks[i].kind == MARK_ARGUMENT)
			at = g->marks[i].offset;
	return at;
}

BREAKER(unknown_argument_type, GEN_PLANT)
{
	const size_t at = opaque_argument(g, choices_chance(g->c, 1, 2) ? FXT_ARG_UINT64 : FXT_ARG_UINT32);
	fxt_last_set(g, at, 0, 4, choices_between(g->c, 11, 15));
}

BREAKER(newer_feature, GEN_PLANT)
{
	/* What the 2022 revision does not know; the items for it are not drawn there. */
	const bool was = g->latest;
	g->latest = true;
	switch (choices_below(g->c, 7)) {
	case 0: {
		struct fxt_arg arg = fxt_arg_of(g, FXT_ARG_BLOB, fxt_ref_any(g));
		fxt_break_event(g, FXT_INSTANT, &arg, 1, 0);
		break;
	}
	case 1:
		fxt_put_blob(g, fxt_ref_to(g, fxt_text("perfetto-bootstrap")), FXT_BLOB_PERFETTO, "\x0a\x00", 2);
		break;
	default:
		fxt_make_leaf_of(g, (enum fxt_leaf)choices_between(g->c, LEAF_SWITCH, LEAF_BACKTRACE));
		break;
	}
	g->latest = was;
}

/* ---- sizes that are only remarkable ---- */

BREAKER(large_record_over_4095_words, GEN_PLANT)
{
	fxt_make_large_blob(g, (size_t)choices_between(g->c, 4100, 4400));
}

BREAKER(large_record_over_256k, GEN_PLANT)
{
	fxt_make_large_blob(g, (size_t)choices_between(g->c, FXT_LARGE_ENGINE_BYTES_MAX / FXT_WORD + 4, 33000));
}

BREAKER(unnecessary_large_record, GEN_PLANT)
{
	/* Without metadata, which a blob record could not carry. */
	struct fxt_gen_event e = { .category = fxt_ref_any(g) };
	e.name = fxt_ref_any(g);
	fxt_put_large_blob(g, false, &e, (size_t)choices_below(g->c, 300));
}

BREAKER(blob_size_shifted, GEN_PLANT)
{
	const struct fxt_gen_provider *p = fxt_provider(g);
	struct fxt_ref name = fxt_ref_empty();

	/* Over an index of more than 8 bits nobody could read the size. */
	for (unsigned i = 0; i < p->string_count; i++)
		if (p->strings[i].index < 256)
			name = (struct fxt_ref){ p->strings[i].index, p->strings[i].text };
	const size_t length = (size_t)choices_between(g->c, 1, 200);
	fxt_put_blob(g, name, FXT_BLOB_DATA, g->pattern + FXT_GEN_PATTERN, length);
	fxt_last_set(g, g->start, 32, 15, 0);
	fxt_last_set(g, g->start, 24, 23, length);
}

BREAKER(filler_blob, GEN_PLANT)
{
	fxt_put_blob(g, fxt_ref_empty(), FXT_BLOB_DATA, g->pattern + FXT_GEN_PATTERN, (size_t)choices_between(g->c, 8, 800));
}

BREAKER(nonstandard_inline_thread, GEN_PLANT)
{
	const struct fxt_gen_thread t = fxt_thread_fresh(g);
	const struct fxt_who who = fxt_who_inline(&t);
	if (g->latest && choices_chance(g->c, 1, 2)) {
		/* one koid where a profiler record has two */
		if (choices_chance(g->c, 1, 2))
			fxt_put_mmap(g, fxt_tick(g), who, 1, 5, 0x10000, 0x4000, 0);
		else
			fxt_put_module(g, fxt_tick(g), who, 1, fxt_text("libc.so"), fxt_text("0123456789abcdef"));
		if (!g->out->failed)
			bytes_remove(g->out, g->start + 3 * FXT_WORD, FXT_WORD);
	} else {
		/* two where a userspace object has one */
		struct fxt_arg args[FXT_ARGS_MAX];
		const struct fxt_ref name = fxt_ref_any(g);
		const unsigned count = fxt_args_any(g, args, 0);
		uint8_t koid[FXT_WORD];
		store_u64(koid, t.thread, g->out->big_endian);
		fxt_put_userspace(g, choices_u64(g->c) >> 16, who, name, args, count);
		if (!g->out->failed)
			bytes_insert(g->out, g->start + 3 * FXT_WORD, koid, sizeof(koid));
	}
	fxt_last_claim(g, fxt_last_size(g) / FXT_WORD);
}

/* ---- arguments ---- */

BREAKER(duplicate_argument_name, GEN_PLANT)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	const unsigned count = (unsigned)choices_between(g->c, 2, 5);
	const uint64_t first = choices_below(g->c, count - 1), second = choices_between(g->c, first + 1, count - 1);
	for (unsigned i = 0; i < count; i++)
		args[i] = fxt_arg_any(g);
	args[first].name = args[second].name = fxt_ref_to(g, fxt_text("twice"));
	fxt_break_event(g, FXT_INSTANT, args, count, 0);
}

BREAKER(empty_argument_name, GEN_PLANT)
{
	struct fxt_arg arg = fxt_arg_any(g);
	arg.name = fxt_ref_empty();
	fxt_break_event(g, FXT_INSTANT, &arg, 1, 0);
}

BREAKER(bool_value_bits, GEN_PLANT)
{
	const size_t at = opaque_argument(g, FXT_ARG_BOOL);
	fxt_last_set(g, at, (unsigned)choices_between(g->c, 33, 63), 1, 1);
}

BREAKER(argument_size_zero, GEN_PLANT)
{
	const size_t at = opaque_argument(g, (unsigned)choices_below(g->c, FXT_ARG_BLOB));
	fxt_last_set(g, at, 4, 12, 0);
	fxt_break_follow(g);
}

BREAKER(argument_overrun, GEN_PLANT)
{
	static const unsigned wide[] = { FXT_ARG_INT64, FXT_ARG_UINT64, FXT_ARG_DOUBLE, FXT_ARG_POINTER, FXT_ARG_KOID };
	const size_t at = opaque_argument(g, wide[choices_below(g->c, COUNT(wide))]);
	const uint64_t size = fxt_last_get(g, at, 4, 12);
	if (choices_chance(g->c, 1, 2)) /* too small for its value */
		fxt_last_set(g, at, 4, 12, choices_between(g->c, 1, size - 1));
	else /* past the end of the record, whose last argument it is */
		fxt_last_set(g, at, 4, 12, size + choices_between(g->c, 1, 100));
	fxt_break_follow(g);
}

BREAKER(argument_trailing_words, GEN_PLANT)
{
	const size_t at = opaque_argument(g, (unsigned)choices_below(g->c, FXT_ARG_BLOB));
	const uint64_t words = choices_between(g->c, 1, 3);
	for (uint64_t i = 0; i < words; i++)
		bytes_u64(g->out, fxt_break_word(g));
	fxt_last_set(g, at, 4, 12, fxt_last_get(g, at, 4, 12) + words);
	fxt_last_claim(g, fxt_last_size(g) / FXT_WORD);
}

BREAKER(argument_count_mismatch, GEN_PLANT)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	const unsigned count = (unsigned)choices_below(g->c, 4);
	const uint64_t claimed = choices_between(g->c, count + 1, FXT_ARGS_MAX);
	for (unsigned i = 0; i < count; i++)
		args[i] = fxt_arg_any(g);
	switch (choices_below(g->c, 3)) {
	case 0:
		fxt_break_event(g, FXT_INSTANT, args, count, 0);
		fxt_last_set(g, g->start, 20, 4, claimed);
		break;
	case 1: {
		const struct fxt_ref name = fxt_ref_any(g);
		fxt_put_kernel(g, 3, fxt_koid(g), name, args, count);
		fxt_last_set(g, g->start, 40, 4, claimed);
		break;
	}
	default: {
		const struct fxt_who process = fxt_who_any(g);
		const struct fxt_ref name = fxt_ref_any(g);
		fxt_put_userspace(g, choices_u64(g->c), process, name, args, count);
		fxt_last_set(g, g->start, 40, 4, claimed);
		break;
	}
	}
	fxt_break_follow(g);
}

BREAKER(wide_integer_not_needed, GEN_PLANT)
{
	struct fxt_arg arg = { .name = fxt_ref_any(g) };
	arg.type = choices_chance(g->c, 1, 2) ? FXT_ARG_INT64 : FXT_ARG_UINT64;
	arg.value = choices_below(g->c, 1u << 31);
	fxt_break_event(g, FXT_INSTANT, &arg, 1, 0);
}

/* ---- objects, scheduling, blobs ---- */

BREAKER(thread_object_without_process, GEN_PLANT)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	const struct fxt_ref name = fxt_ref_any(g);
	const unsigned count = fxt_args_any(g, args, 0);
	fxt_put_kernel(g, FXT_OBJECT_THREAD, fxt_koid(g), name, args, count);
}

BREAKER(process_argument_wrong_type, GEN_PLANT)
{
	static const unsigned types[] = { FXT_ARG_UINT64,  FXT_ARG_INT64,  FXT_ARG_UINT32,
					  FXT_ARG_POINTER, FXT_ARG_STRING, FXT_ARG_NULL };
	const struct fxt_ref process = fxt_ref_to(g, fxt_text("process"));
	const struct fxt_arg arg = fxt_arg_of(g, types[choices_below(g->c, COUNT(types))], process);
	const struct fxt_ref name = fxt_ref_any(g);
	fxt_put_kernel(g, FXT_OBJECT_THREAD, fxt_koid(g), name, &arg, 1);
}

BREAKER(unknown_object_type, GEN_PLANT)
{
	static const uint8_t types[] = { 7, 8, 10, 13, 60, 99, 128, 250, 255 };
	const struct fxt_ref name = fxt_ref_any(g);
	const unsigned type = types[choices_below(g->c, COUNT(types))];
	fxt_put_kernel(g, type, fxt_koid(g), name, NULL, 0);
}

static void put_state(struct fxt_gen *g, bool legacy, unsigned state)
{
	const struct fxt_who outgoing = fxt_who_any(g);
	const struct fxt_who incoming = fxt_who_any(g);
	const unsigned cpu = (unsigned)choices_below(g->c, 4);
	if (legacy)
		fxt_put_legacy_switch(g, fxt_tick(g), cpu, state, outgoing, incoming, 10, 20);
	else
		fxt_put_switch(g, fxt_tick(g), cpu, state, outgoing.thread, incoming.thread, NULL, 0);
}

BREAKER(invalid_thread_state, GEN_PLANT)
{
	const bool legacy = !g->latest || choices_chance(g->c, 1, 2);
	put_state(g, legacy, (unsigned)choices_between(g->c, 6, 15));
}

BREAKER(outgoing_state_running, GEN_PLANT)
{
	put_state(g, true, FXT_STATE_RUNNING);
}

BREAKER(cpu_number_implausible, GEN_PLANT)
{
	const unsigned cpu = (unsigned)(choices_chance(g->c, 3, 4) ? choices_between(g->c, FXT_CPU_MAX, 65535)
								   : choices_between(g->c, 1024, FXT_CPU_MAX - 1));
	const uint64_t thread = fxt_koid(g);
	if (choices_chance(g->c, 1, 2))
		fxt_put_wakeup(g, fxt_tick(g), cpu, thread, NULL, 0);
	else
		fxt_put_switch(g, fxt_tick(g), cpu, FXT_STATE_BLOCKED, thread, thread + 1, NULL, 0);
}

BREAKER(weight_argument_wrong_type, GEN_PLANT)
{
	static const char *const names[] = { "weight", "waker", "incoming_weight", "outgoing_weight" };
	static const unsigned types[] = { FXT_ARG_UINT32, FXT_ARG_UINT64, FXT_ARG_INT64, FXT_ARG_STRING, FXT_ARG_DOUBLE };
	const size_t which = (size_t)choices_below(g->c, 4);
	const struct fxt_ref name = fxt_ref_to(g, fxt_text(names[which]));
	const struct fxt_arg arg = fxt_arg_of(g, types[choices_below(g->c, COUNT(types))], name);
	const uint64_t thread = fxt_koid(g);
	if (which < 2)
		fxt_put_wakeup(g, fxt_tick(g), 1, thread, &arg, 1);
	else
		fxt_put_switch(g, fxt_tick(g), 1, FXT_STATE_BLOCKED, thread, thread + 1, &arg, 1);
}

BREAKER(context_switch_order, GEN_PLANT)
{
	const struct fxt_who outgoing = fxt_who_any(g);
	const struct fxt_who incoming = fxt_who_any(g);
	fxt_provider(g)->now += 2000;
	const uint64_t time = fxt_tick(g);
	const unsigned cpu = (unsigned)choices_below(g->c, 8);
	fxt_put_legacy_switch(g, time, cpu, FXT_STATE_BLOCKED, outgoing, incoming, 1, 2);
	const uint64_t back = choices_between(g->c, 1, 2000);
	fxt_put_legacy_switch(g, time - back, cpu, FXT_STATE_BLOCKED, incoming, outgoing, 2, 1);
}

BREAKER(blob_name_type_mix, GEN_PLANT)
{
	const struct fxt_text name = fxt_text("one stream");
	const bool order = choices_chance(g->c, 1, 2);
	fxt_put_blob(g, fxt_ref_to(g, name), order ? FXT_BLOB_DATA : FXT_BLOB_LAST_BRANCH, g->pattern, 9);
	if (choices_chance(g->c, 1, 2))
		fxt_make_event(g, FXT_INSTANT, 0);
	fxt_put_blob(g, fxt_ref_to(g, name), order ? FXT_BLOB_LAST_BRANCH : FXT_BLOB_DATA, g->pattern, 16);
}

BREAKER(perfetto_blob_invalid, GEN_PLANT)
{
	static const struct fxt_text payloads[] = {
		{ (const uint8_t *)"not a packet at all", 19 },
		{ (const uint8_t *)"\x0a\x05\x40\x05", 4 },	    /* a packet longer than its blob */
		{ (const uint8_t *)"\x12\x02\x40\x05", 4 },	    /* field 2 */
		{ (const uint8_t *)"\x0a\x02\x40\x05\xff\xff", 6 }, /* an unfinished number after a packet */
	};
	const struct fxt_text payload = payloads[choices_below(g->c, COUNT(payloads))];
	const struct fxt_ref name = fxt_ref_to(g, fxt_text("perfetto-other"));
	fxt_put_blob(g, name, FXT_BLOB_PERFETTO, payload.data, payload.length);
}
