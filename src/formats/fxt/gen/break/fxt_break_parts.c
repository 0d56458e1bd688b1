/* Defects inside records: unassigned types, sizes of parts, arguments, objects, scheduling, blobs. */
#include "formats/fxt/gen/fxt_gen.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- unassigned types ---- */

/* Words that nothing takes for records. */
static void put_opaque(struct fxt_gen *f, unsigned words)
{
	while (words--)
		fxt_put_word(f, fxt_break_word(f));
}

void fxt_break_unknown_record_type(struct fxt_gen *f)
{
	fxt_put_begin(f);
	put_opaque(f, (unsigned)choices_below(f->c, 6));
	const uint64_t fields = choices_u64(f->c) & ~UINT64_C(0xffff);
	fxt_put_end(f, (unsigned)choices_between(f->c, 11, 14), fields);
}

void fxt_break_unknown_metadata_type(struct fxt_gen *f)
{
	fxt_put_begin(f);
	put_opaque(f, (unsigned)choices_below(f->c, 4));
	const uint64_t type = choices_between(f->c, 4, 15);
	fxt_put_end(f, FXT_METADATA, fxt_field(16, 4, type == 4 ? 0 : type) | fxt_field(20, 32, choices_u64(f->c)));
}

void fxt_break_unknown_trace_info_type(struct fxt_gen *f)
{
	fxt_put_begin(f);
	const uint64_t type = choices_between(f->c, 1, 15);
	fxt_put_end(f, FXT_METADATA,
		    fxt_field(16, 4, FXT_TRACE_INFO) | fxt_field(20, 4, type) | fxt_field(24, 40, choices_u64(f->c)));
}

void fxt_break_unknown_provider_event(struct fxt_gen *f)
{
	fxt_break_leave(f);
	if (!fxt_provider(f)->introduced)
		fxt_break_provider(f);
	fxt_put_provider_event(f, fxt_provider(f)->id, (unsigned)choices_between(f->c, 1, 15));
}

void fxt_break_unknown_event_type(struct fxt_gen *f)
{
	fxt_make_event(f, FXT_INSTANT, 0);
	fxt_last_set(f, f->start, 16, 4, choices_between(f->c, 11, 15));
}

void fxt_break_unknown_scheduling_type(struct fxt_gen *f)
{
	fxt_put_begin(f);
	put_opaque(f, (unsigned)choices_below(f->c, 5));
	const uint64_t type = choices_between(f->c, 3, 15);
	if (!f->latest) /* where the types are, the 2022 revision has reserved bits */
		gen_expect(f->g, FXT_RULE_reserved_bits_set);
	fxt_put_end(f, FXT_SCHEDULING, fxt_field(60, 4, type) | fxt_field(16, 44, choices_u64(f->c)));
}

void fxt_break_unknown_profiler_type(struct fxt_gen *f)
{
	fxt_put_begin(f);
	put_opaque(f, (unsigned)choices_below(f->c, 5));
	const uint64_t type = choices_between(f->c, 3, 15);
	fxt_put_end(f, FXT_PROFILER, fxt_field(16, 4, type) | fxt_field(20, 44, choices_u64(f->c)));
}

void fxt_break_unknown_large_type(struct fxt_gen *f)
{
	fxt_put_begin(f);
	put_opaque(f, (unsigned)choices_below(f->c, 8));
	const uint64_t fields = fxt_field(40, 24, choices_u64(f->c));
	fxt_put_end_large(f, (unsigned)choices_between(f->c, 1, 15), fields);
}

void fxt_break_unknown_blob_format(struct fxt_gen *f)
{
	fxt_make_large_blob(f, (size_t)choices_between(f->c, 3, 12));
	fxt_last_set(f, f->start, 40, 4, choices_between(f->c, 2, 15));
}

void fxt_break_unknown_blob_type(struct fxt_gen *f)
{
	const uint64_t type = choices_between(f->c, 3, 255);
	const struct fxt_ref name = fxt_ref_to(f, fxt_text("blob of another type"));
	fxt_put_blob(f, name, type == 3 ? 0 : (unsigned)type, f->pattern, choices_below(f->c, 40));
}

/* An event whose last argument is one of opaque words that the caller then types. Returns the argument's offset. */
static size_t opaque_argument(struct fxt_gen *f, unsigned type)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	unsigned count = (unsigned)choices_below(f->c, 3);
	for (unsigned i = 0; i < count; i++)
		args[i] = fxt_arg_any(f);
	args[count++] = fxt_arg_of(f, type, fxt_ref_any(f));
	fxt_break_event(f, FXT_INSTANT, args, count, 0);
	size_t at = f->start;
	for (unsigned i = 0; i < f->mark_count; i++)
		if (f->marks[i].kind == MARK_ARGUMENT)
			at = f->marks[i].offset;
	return at;
}

void fxt_break_unknown_argument_type(struct fxt_gen *f)
{
	const size_t at = opaque_argument(f, choices_chance(f->c, 1, 2) ? FXT_ARG_UINT64 : FXT_ARG_UINT32);
	fxt_last_set(f, at, 0, 4, choices_between(f->c, 11, 15));
}

void fxt_break_newer_feature(struct fxt_gen *f)
{
	/* What the 2022 revision does not know; the items for it are not drawn there. */
	const bool was = f->latest;
	f->latest = true;
	switch (choices_below(f->c, 7)) {
	case 0: {
		struct fxt_arg arg = fxt_arg_of(f, FXT_ARG_BLOB, fxt_ref_any(f));
		fxt_break_event(f, FXT_INSTANT, &arg, 1, 0);
		break;
	}
	case 1:
		fxt_put_blob(f, fxt_ref_to(f, fxt_text("perfetto-bootstrap")), FXT_BLOB_PERFETTO, "\x0a\x00", 2);
		break;
	default:
		fxt_make_leaf_of(f, (enum fxt_leaf)choices_between(f->c, LEAF_SWITCH, LEAF_BACKTRACE));
		break;
	}
	f->latest = was;
}

/* ---- sizes that are only remarkable ---- */

void fxt_break_large_record_over_4095_words(struct fxt_gen *f)
{
	fxt_make_large_blob(f, (size_t)choices_between(f->c, 4100, 4400));
}

void fxt_break_large_record_over_256k(struct fxt_gen *f)
{
	fxt_make_large_blob(f, (size_t)choices_between(f->c, FXT_LARGE_ENGINE_BYTES_MAX / FXT_WORD + 4, 33000));
}

void fxt_break_unnecessary_large_record(struct fxt_gen *f)
{
	/* Without metadata, which a blob record could not carry. */
	struct fxt_gen_event e = { .category = fxt_ref_any(f) };
	e.name = fxt_ref_any(f);
	fxt_put_large_blob(f, false, &e, choices_below(f->c, 300));
}

void fxt_break_filler_blob(struct fxt_gen *f)
{
	fxt_put_blob(f, fxt_ref_empty(), FXT_BLOB_DATA, f->pattern + FXT_GEN_PATTERN, choices_between(f->c, 8, 800));
}

void fxt_break_nonstandard_inline_thread(struct fxt_gen *f)
{
	const struct fxt_gen_thread t = fxt_thread_fresh(f);
	const struct fxt_who who = fxt_who_inline(&t);
	if (f->latest && choices_chance(f->c, 1, 2)) {
		/* one koid where a profiler record has two */
		if (choices_chance(f->c, 1, 2))
			fxt_put_mmap(f, fxt_tick(f), who, 1, 5, 0x10000, 0x4000, 0);
		else
			fxt_put_module(f, fxt_tick(f), who, 1, fxt_text("libc.so"), fxt_text("0123456789abcdef"));
		if (!f->out->failed)
			bytes_remove(f->out, f->start + 3 * FXT_WORD, FXT_WORD);
	} else {
		/* two where a userspace object has one */
		struct fxt_arg args[FXT_ARGS_MAX];
		const struct fxt_ref name = fxt_ref_any(f);
		const unsigned count = fxt_args_any(f, args, 0);
		uint8_t koid[FXT_WORD];
		store_u64(koid, t.thread, f->out->big_endian);
		fxt_put_userspace(f, choices_u64(f->c) >> 16, who, name, args, count);
		if (!f->out->failed)
			bytes_insert(f->out, f->start + 3 * FXT_WORD, koid, sizeof(koid));
	}
	fxt_last_claim(f, fxt_last_size(f) / FXT_WORD);
}

/* ---- arguments ---- */

void fxt_break_duplicate_argument_name(struct fxt_gen *f)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	const unsigned count = (unsigned)choices_between(f->c, 2, 5);
	const uint64_t first = choices_below(f->c, count - 1), second = choices_between(f->c, first + 1, count - 1);
	for (unsigned i = 0; i < count; i++)
		args[i] = fxt_arg_any(f);
	args[first].name = args[second].name = fxt_ref_to(f, fxt_text("twice"));
	fxt_break_event(f, FXT_INSTANT, args, count, 0);
}

void fxt_break_empty_argument_name(struct fxt_gen *f)
{
	struct fxt_arg arg = fxt_arg_any(f);
	arg.name = fxt_ref_empty();
	fxt_break_event(f, FXT_INSTANT, &arg, 1, 0);
}

void fxt_break_bool_value_bits(struct fxt_gen *f)
{
	const size_t at = opaque_argument(f, FXT_ARG_BOOL);
	fxt_last_set(f, at, (unsigned)choices_between(f->c, 33, 63), 1, 1);
}

void fxt_break_argument_size_zero(struct fxt_gen *f)
{
	const size_t at = opaque_argument(f, (unsigned)choices_below(f->c, FXT_ARG_BLOB));
	fxt_last_set(f, at, 4, 12, 0);
	fxt_break_settle(f);
}

void fxt_break_argument_overrun(struct fxt_gen *f)
{
	static const unsigned wide[] = { FXT_ARG_INT64, FXT_ARG_UINT64, FXT_ARG_DOUBLE, FXT_ARG_POINTER, FXT_ARG_KOID };
	const size_t at = opaque_argument(f, wide[choices_below(f->c, COUNT(wide))]);
	const uint64_t size = fxt_last_get(f, at, 4, 12);
	if (choices_chance(f->c, 1, 2)) /* too small for its value */
		fxt_last_set(f, at, 4, 12, choices_between(f->c, 1, size - 1));
	else /* past the end of the record, whose last argument it is */
		fxt_last_set(f, at, 4, 12, size + choices_between(f->c, 1, 100));
	fxt_break_settle(f);
}

void fxt_break_argument_trailing_words(struct fxt_gen *f)
{
	const size_t at = opaque_argument(f, (unsigned)choices_below(f->c, FXT_ARG_BLOB));
	const uint64_t words = choices_between(f->c, 1, 3);
	for (uint64_t i = 0; i < words; i++)
		bytes_u64(f->out, fxt_break_word(f));
	fxt_last_set(f, at, 4, 12, fxt_last_get(f, at, 4, 12) + words);
	fxt_last_claim(f, fxt_last_size(f) / FXT_WORD);
}

void fxt_break_argument_count_mismatch(struct fxt_gen *f)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	const unsigned count = (unsigned)choices_below(f->c, 4);
	const uint64_t claimed = choices_between(f->c, count + 1, FXT_ARGS_MAX);
	for (unsigned i = 0; i < count; i++)
		args[i] = fxt_arg_any(f);
	switch (choices_below(f->c, 3)) {
	case 0:
		fxt_break_event(f, FXT_INSTANT, args, count, 0);
		fxt_last_set(f, f->start, 20, 4, claimed);
		break;
	case 1: {
		const struct fxt_ref name = fxt_ref_any(f);
		fxt_put_kernel(f, 3, fxt_koid(f), name, args, count);
		fxt_last_set(f, f->start, 40, 4, claimed);
		break;
	}
	default: {
		const struct fxt_who process = fxt_who_any(f);
		const struct fxt_ref name = fxt_ref_any(f);
		fxt_put_userspace(f, choices_u64(f->c), process, name, args, count);
		fxt_last_set(f, f->start, 40, 4, claimed);
		break;
	}
	}
	fxt_break_settle(f);
}

void fxt_break_wide_integer_not_needed(struct fxt_gen *f)
{
	struct fxt_arg arg = { .name = fxt_ref_any(f) };
	arg.type = choices_chance(f->c, 1, 2) ? FXT_ARG_INT64 : FXT_ARG_UINT64;
	arg.value = choices_below(f->c, 1u << 31);
	fxt_break_event(f, FXT_INSTANT, &arg, 1, 0);
}

/* ---- objects, scheduling, blobs ---- */

void fxt_break_thread_object_without_process(struct fxt_gen *f)
{
	struct fxt_arg args[FXT_ARGS_MAX];
	const struct fxt_ref name = fxt_ref_any(f);
	const unsigned count = fxt_args_any(f, args, 0);
	fxt_put_kernel(f, FXT_OBJECT_THREAD, fxt_koid(f), name, args, count);
}

void fxt_break_process_argument_wrong_type(struct fxt_gen *f)
{
	static const unsigned types[] = { FXT_ARG_UINT64,  FXT_ARG_INT64,  FXT_ARG_UINT32,
					  FXT_ARG_POINTER, FXT_ARG_STRING, FXT_ARG_NULL };
	const struct fxt_ref process = fxt_ref_to(f, fxt_text("process"));
	const struct fxt_arg arg = fxt_arg_of(f, types[choices_below(f->c, COUNT(types))], process);
	const struct fxt_ref name = fxt_ref_any(f);
	fxt_put_kernel(f, FXT_OBJECT_THREAD, fxt_koid(f), name, &arg, 1);
}

void fxt_break_unknown_object_type(struct fxt_gen *f)
{
	static const uint8_t types[] = { 7, 8, 10, 13, 60, 99, 128, 250, 255 };
	const struct fxt_ref name = fxt_ref_any(f);
	const unsigned type = types[choices_below(f->c, COUNT(types))];
	fxt_put_kernel(f, type, fxt_koid(f), name, NULL, 0);
}

static void put_state(struct fxt_gen *f, bool legacy, unsigned state)
{
	const struct fxt_who outgoing = fxt_who_any(f);
	const struct fxt_who incoming = fxt_who_any(f);
	const unsigned cpu = (unsigned)choices_below(f->c, 4);
	if (legacy)
		fxt_put_legacy_switch(f, fxt_tick(f), cpu, state, outgoing, incoming, 10, 20);
	else
		fxt_put_switch(f, fxt_tick(f), cpu, state, outgoing.thread, incoming.thread, NULL, 0);
}

void fxt_break_invalid_thread_state(struct fxt_gen *f)
{
	const bool legacy = !f->latest || choices_chance(f->c, 1, 2);
	put_state(f, legacy, (unsigned)choices_between(f->c, 6, 15));
}

void fxt_break_outgoing_state_running(struct fxt_gen *f)
{
	put_state(f, true, FXT_STATE_RUNNING);
}

void fxt_break_cpu_number_implausible(struct fxt_gen *f)
{
	const unsigned cpu = (unsigned)(choices_chance(f->c, 3, 4) ? choices_between(f->c, FXT_CPU_MAX, 65535)
								   : choices_between(f->c, 1024, FXT_CPU_MAX - 1));
	const uint64_t thread = fxt_koid(f);
	if (choices_chance(f->c, 1, 2))
		fxt_put_wakeup(f, fxt_tick(f), cpu, thread, NULL, 0);
	else
		fxt_put_switch(f, fxt_tick(f), cpu, FXT_STATE_BLOCKED, thread, thread + 1, NULL, 0);
}

void fxt_break_weight_argument_wrong_type(struct fxt_gen *f)
{
	static const char *const names[] = { "weight", "waker", "incoming_weight", "outgoing_weight" };
	static const unsigned types[] = { FXT_ARG_UINT32, FXT_ARG_UINT64, FXT_ARG_INT64, FXT_ARG_STRING, FXT_ARG_DOUBLE };
	const size_t which = (size_t)choices_below(f->c, 4);
	const struct fxt_ref name = fxt_ref_to(f, fxt_text(names[which]));
	const struct fxt_arg arg = fxt_arg_of(f, types[choices_below(f->c, COUNT(types))], name);
	const uint64_t thread = fxt_koid(f);
	if (which < 2)
		fxt_put_wakeup(f, fxt_tick(f), 1, thread, &arg, 1);
	else
		fxt_put_switch(f, fxt_tick(f), 1, FXT_STATE_BLOCKED, thread, thread + 1, &arg, 1);
}

void fxt_break_context_switch_order(struct fxt_gen *f)
{
	const struct fxt_who outgoing = fxt_who_any(f);
	const struct fxt_who incoming = fxt_who_any(f);
	fxt_provider(f)->now += 2000;
	const uint64_t time = fxt_tick(f);
	const unsigned cpu = (unsigned)choices_below(f->c, 8);
	fxt_put_legacy_switch(f, time, cpu, FXT_STATE_BLOCKED, outgoing, incoming, 1, 2);
	const uint64_t back = choices_between(f->c, 1, 2000);
	fxt_put_legacy_switch(f, time - back, cpu, FXT_STATE_BLOCKED, incoming, outgoing, 2, 1);
}

void fxt_break_blob_name_type_mix(struct fxt_gen *f)
{
	const struct fxt_text name = fxt_text("one stream");
	const bool order = choices_chance(f->c, 1, 2);
	fxt_put_blob(f, fxt_ref_to(f, name), order ? FXT_BLOB_DATA : FXT_BLOB_LAST_BRANCH, f->pattern, 9);
	if (choices_chance(f->c, 1, 2))
		fxt_make_event(f, FXT_INSTANT, 0);
	fxt_put_blob(f, fxt_ref_to(f, name), order ? FXT_BLOB_LAST_BRANCH : FXT_BLOB_DATA, f->pattern, 16);
}

void fxt_break_perfetto_blob_invalid(struct fxt_gen *f)
{
	static const struct fxt_text payloads[] = {
		{ (const uint8_t *)"not a packet at all", 19 },
		{ (const uint8_t *)"\x0a\x05\x40\x05", 4 },	    /* a packet longer than its blob */
		{ (const uint8_t *)"\x12\x02\x40\x05", 4 },	    /* field 2 */
		{ (const uint8_t *)"\x0a\x02\x40\x05\xff\xff", 6 }, /* an unfinished number after a packet */
	};
	const struct fxt_text payload = payloads[choices_below(f->c, COUNT(payloads))];
	const struct fxt_ref name = fxt_ref_to(f, fxt_text("perfetto-other"));
	fxt_put_blob(f, name, FXT_BLOB_PERFETTO, payload.data, payload.length);
}
