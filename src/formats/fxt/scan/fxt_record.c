/* What a sound record means: it registers, refers, tells a time. fxt_events.c does the same for plain
 * events; everything else comes here. */
#include "formats/fxt/scan/fxt_walk.h"

#include <stdlib.h>

#define KOID_ARTIFICIAL (UINT64_C(1) << 63)
#define CPU_NOTED 1023u

static void check_koid(struct fxt_walk *x, uint64_t koid, uint64_t offset)
{
	if ((koid & ~KOID_ARTIFICIAL) >> 32)
		fxt_note(x, FXT_RULE_koid_exceeds_32_bits, offset, FXT_WORD, "koid %llu needs more than 32 bits",
			 (unsigned long long)koid);
}

/* ---- metadata ---- */

static void accept_info(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset)
{
	struct fxt_provider *p = fxt_provider_get(x, r->id);
	const uint8_t *name = r->data + r->text_at;
	if (!p)
		return;
	x->provider = p;
	if (p->introduced) {
		if (p->name_length != r->text_length || memcmp(p->name, name, p->name_length)) {
			fxt_report(x, FXT_RULE_provider_name_changed, offset, r->words * FXT_WORD,
				   "provider %u had another name before", r->id);
		} else
			fxt_report(x, FXT_RULE_duplicate_provider_info, offset, r->words * FXT_WORD,
				   "provider %u was introduced before; its strings and threads are forgotten", r->id);
	}
	fxt_provider_reset(x, p);
	p->sessions += p->timed != 0;
	p->introduced = true;
	p->made_up = false;
	p->offset = offset;
	p->name_length = (uint8_t)r->text_length;
	memcpy(p->name, name, p->name_length);
	p->ticks = FXT_TICKS_DEFAULT;
	p->tick_limit = INT64_MAX;
	p->initialized = false;
	x->info_seen = true;
}

static void accept_section(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset)
{
	struct fxt_provider *p = fxt_provider_find(x, r->id);
	if (!p && !r->id && !x->info_seen) {
		x->provider = x->first; /* readers know the context before any provider as number 0 */
		return;
	}
	if (!p) {
		uint64_t info = fxt_header(FXT_METADATA, 1) | fxt_field(16, 4, FXT_PROVIDER_INFO) | fxt_field(20, 32, r->id);
		p = fxt_provider_get(x, r->id);
		if (!p)
			return;
		if (x->damage) {
			finding_explains(x->damage, 1);
		} else
			fxt_report(x, FXT_RULE_unknown_provider_section, offset, FXT_WORD, "provider %u was never introduced",
				   r->id);
		fxt_doubt_provider(x, r->id);
		fxt_insert(x, offset, &info, 1, FXT_RULE_unknown_provider_section, "introduces the provider, whose name is lost");
		if (x->s->plan)
			plan_lost(x->s->plan, 0, TM_UNKNOWN_COUNT);
		p->introduced = p->made_up = true;
		x->info_seen = true;
	}
	x->provider = p;
}

static void accept_magic(struct fxt_walk *x, uint64_t offset)
{
	if (x->magic_seen) {
		fxt_report(x, FXT_RULE_duplicate_magic, offset, FXT_WORD, "the magic number stands here again");
		/* A second archive: what it introduces is new. */
		for (struct fxt_provider *p = x->first; p; p = p->next)
			p->introduced = false;
	} else if (offset && !x->lost_prefix) {
		x->headless = fxt_report(x, FXT_RULE_magic_not_first, offset, FXT_WORD,
					 "the magic number stands at offset %llu, expected 0", (unsigned long long)offset);
	}
	if (!x->magic_seen && x->magic_written && !x->info_seen) {
		fxt_drop(x, offset, offset + FXT_WORD, FXT_RULE_magic_not_first, "moved to the beginning");
		x->moved++;
	}
	x->magic_seen = true;
}

static void accept_metadata(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset)
{
	struct fxt_provider *p;
	switch (r->subtype) {
	case FXT_PROVIDER_INFO:
		accept_info(x, r, offset);
		break;
	case FXT_PROVIDER_SECTION:
		accept_section(x, r, offset);
		break;
	case FXT_PROVIDER_EVENT:
		p = fxt_provider_find(x, r->id);
		if (!p && (r->id || x->info_seen))
			fxt_note(x, FXT_RULE_unknown_provider_event_id, offset, FXT_WORD, "provider %u is not introduced so far",
				 r->id);
		if (fxt_bits(r->header, 52, 4) == FXT_PROVIDER_BUFFER_FULL) {
			x->buffer_full = true;
			if (p)
				p->buffer_full = true;
			fxt_report(x, FXT_RULE_buffer_full, offset, FXT_WORD,
				   "the buffer of provider %u was full: records were dropped", r->id);
		}
		break;
	case FXT_TRACE_INFO:
		if (r->known)
			accept_magic(x, offset);
		break;
	default:
		break;
	}
}

/* ---- events ---- */

void fxt_event_meaning(struct fxt_walk *x, unsigned event, struct fxt_thread *t, uint64_t process, uint64_t category, uint64_t name,
		       uint64_t time, uint64_t tail, uint64_t offset)
{
	switch (event) {
	case FXT_DURATION_BEGIN:
		if (t)
			fxt_duration_begin(x, t, time, offset, name);
		break;
	case FXT_DURATION_END:
		if (t)
			fxt_duration_end(x, t, time, offset, name);
		break;
	case FXT_DURATION_COMPLETE:
		if (t)
			t->completes = true;
		if (tail < time)
			fxt_report(x, FXT_RULE_complete_end_before_start, offset, 2 * FXT_WORD,
				   "the duration starts at %llu and ends at %llu", (unsigned long long)time,
				   (unsigned long long)tail);
		break;
	case FXT_ASYNC_BEGIN:
	case FXT_ASYNC_INSTANT:
	case FXT_ASYNC_END:
		fxt_async(x, event, process, category, name, tail, time, offset);
		break;
	case FXT_FLOW_BEGIN:
	case FXT_FLOW_STEP:
	case FXT_FLOW_END:
		fxt_flow(x, event, tail, time, offset, t);
		break;
	default:
		break;
	}
}

static void check_counter(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset)
{
	if (!r->argument_count)
		fxt_report(x, FXT_RULE_counter_without_arguments, offset, r->words * FXT_WORD, "the counter has no argument");
	for (unsigned n = 0; n < r->argument_count; n++) {
		const struct fxt_argument_view *a = &r->arguments[n];
		if (a->type == FXT_ARG_DOUBLE && (a->value >> 52 & 0x7ff) == 0x7ff)
			fxt_note(x, FXT_RULE_counter_nan, offset, r->words * FXT_WORD, "argument %u is infinite or not a number",
				 n + 1);
		if (a->type >= FXT_ARG_INT32 && a->type <= FXT_ARG_DOUBLE)
			continue;
		fxt_report(x, FXT_RULE_counter_non_numeric, offset, r->words * FXT_WORD,
			   "argument %u is of type %s, expected a number", n + 1, fxt_argument_names[a->type]);
	}
}

/* ---- arguments ---- */

static void check_argument(struct fxt_walk *x, const struct fxt_record *r, unsigned n, uint64_t offset)
{
	const struct fxt_argument_view *a = &r->arguments[n];

	if (a->name.ref == 0 || a->name.ref == FXT_STRING_INLINE)
		fxt_note(x, FXT_RULE_empty_argument_name, offset, r->words * FXT_WORD, "argument %u has no name", n + 1);
	bool wide = (a->type == FXT_ARG_UINT64 && a->value <= UINT32_MAX) ||
		    (a->type == FXT_ARG_INT64 && a->value + UINT64_C(0x80000000) <= UINT32_MAX);
	if (wide)
		fxt_note(x, FXT_RULE_wide_integer_not_needed, offset, r->words * FXT_WORD,
			 "argument %u is stored in 64 bits and fits 32", n + 1);
}

/* Names by which readers know an argument. */
static void check_known_argument(struct fxt_walk *x, const struct fxt_record *r, unsigned n, uint64_t hash, uint64_t offset)
{
	const struct fxt_argument_view *a = &r->arguments[n];

	if (r->type == FXT_KERNEL && r->object_type == FXT_OBJECT_THREAD && hash == x->hash_process && a->type != FXT_ARG_KOID)
		fxt_report(x, FXT_RULE_process_argument_wrong_type, offset, r->words * FXT_WORD,
			   "argument \"process\" is of type %s, expected koid", fxt_argument_names[a->type]);
	if (r->type != FXT_SCHEDULING)
		return;
	bool weight = hash == x->hash_weight || hash == x->hash_incoming || hash == x->hash_outgoing;
	bool waker = hash == x->hash_waker && r->subtype == FXT_WAKEUP;
	if ((weight && a->type != FXT_ARG_INT32) || (waker && a->type != FXT_ARG_KOID))
		fxt_report(x, FXT_RULE_weight_argument_wrong_type, offset, r->words * FXT_WORD,
			   "argument %u is of type %s, expected %s", n + 1, fxt_argument_names[a->type], weight ? "int32" : "koid");
}

static void check_arguments(struct fxt_walk *x, const struct fxt_record *r, const uint64_t *names, uint64_t offset)
{
	bool process = false;
	for (unsigned n = 0; n < r->argument_count; n++) {
		check_argument(x, r, n, offset);
		check_known_argument(x, r, n, names[n], offset);
		process = process || names[n] == x->hash_process;
		for (unsigned k = 0; k < n; k++)
			if (names[k] == names[n] && names[n]) {
				fxt_note(x, FXT_RULE_duplicate_argument_name, offset, r->words * FXT_WORD,
					 "arguments %u and %u have the same name", k + 1, n + 1);
				break;
			}
	}
	if (r->type == FXT_KERNEL && r->object_type == FXT_OBJECT_THREAD && !process)
		fxt_note(x, FXT_RULE_thread_object_without_process, offset, r->words * FXT_WORD,
			 "thread %llu has no argument \"process\"", (unsigned long long)r->tail);
}

/* ---- what later revisions of the document added ---- */

static void note_newer(struct fxt_walk *x, const struct fxt_record *r, enum fxt_newer kind, uint64_t field)
{
	static const char *const names[FXT_NEWER_COUNT] = {
		"this kind of context switch", "the wakeup record", "the profiler record",
		"the blob type \"Perfetto\"",  "the blob argument",
	};
	struct fxt_tally *t = &x->newer[kind];
	if (t->count++)
		return;
	t->finding = finding_new(x->s->findings, FXT_RULE_newer_feature, x->source, x->at, r->words * FXT_WORD);
	if (!finding_kept(t->finding))
		return;
	finding_say(t->finding, "%s is not in the document of 2022: readers of its time skip it", names[kind]);
	fxt_path(x, t->finding, r, NULL);
	finding_field(t->finding, x->at + field, FXT_WORD, "header");
}

static void check_newer(struct fxt_walk *x, const struct fxt_record *r)
{
	if (r->type == FXT_SCHEDULING && r->subtype != FXT_SWITCH_LEGACY)
		note_newer(x, r, r->subtype == FXT_WAKEUP ? FXT_NEWER_WAKEUP : FXT_NEWER_SWITCH, 0);
	else if (r->type == FXT_PROFILER)
		note_newer(x, r, FXT_NEWER_PROFILER, 0);
	else if (r->type == FXT_BLOB && r->id == FXT_BLOB_PERFETTO)
		note_newer(x, r, FXT_NEWER_PERFETTO_BLOB, 0);
	for (unsigned n = 0; n < r->argument_count; n++)
		if (r->arguments[n].type == FXT_ARG_BLOB)
			note_newer(x, r, FXT_NEWER_BLOB_ARGUMENT, r->arguments[n].at);
}

/* ---- objects, scheduling, blobs ---- */

static bool object_assigned(unsigned type)
{
	/* Zircon's numbers; 7, 8, 10 and 13 were never given out. */
	return type <= FXT_OBJECT_MAX && type != 7 && type != 8 && type != 10 && type != 13;
}

static void check_scheduling(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset)
{
	uint64_t length = r->words * FXT_WORD;

	if (r->cpu > CPU_NOTED) {
		if (r->cpu >= FXT_CPU_MAX)
			fxt_report(x, FXT_RULE_cpu_number_implausible, offset, length, "cpu number %u", r->cpu);
		else
			fxt_note_milder(x, FXT_RULE_cpu_number_implausible, offset, length, "cpu number %u", r->cpu);
	} else {
		if (!x->cpu_times) {
			x->cpu_times = calloc(FXT_CPU_FOLLOWED, sizeof(*x->cpu_times));
			if (!x->cpu_times) {
				x->status = fault_memory(&x->s->in->error);
				return;
			}
		}
		if (r->timestamp < x->cpu_times[r->cpu]) {
			fxt_note(x, FXT_RULE_context_switch_order, offset, length, "cpu %u is at tick %llu already", r->cpu,
				 (unsigned long long)x->cpu_times[r->cpu]);
		} else {
			x->cpu_times[r->cpu] = r->timestamp;
		}
	}
	if (r->subtype == FXT_WAKEUP)
		return;
	if (r->out_state > FXT_STATE_DEAD) {
		fxt_report(x, FXT_RULE_invalid_thread_state, offset, length,
			   "the outgoing thread has state %u, assigned are 0 to %u", r->out_state, FXT_STATE_DEAD);
	} else if (r->subtype == FXT_SWITCH_LEGACY && r->out_state == FXT_STATE_RUNNING)
		fxt_report(x, FXT_RULE_outgoing_state_running, offset, length, "the outgoing thread has state %u (running)",
			   r->out_state);
}

static void check_large(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset)
{
	uint64_t bytes = r->words * FXT_WORD;
	if (r->words > FXT_RECORD_WORDS_MAX) {
		fxt_note(x, FXT_RULE_large_record_over_4095_words, offset, bytes, "a record of %llu words",
			 (unsigned long long)r->words);
	} else if (r->known && r->blob_format == FXT_LARGE_BLOB_PLAIN)
		fxt_note(x, FXT_RULE_unnecessary_large_record, offset, bytes, "a payload of %llu bytes fits a blob record",
			 (unsigned long long)r->payload_length);
	if (bytes > FXT_LARGE_ENGINE_BYTES_MAX)
		fxt_note(x, FXT_RULE_large_record_over_256k, offset, bytes, "a record of %llu bytes", (unsigned long long)bytes);
}

static void check_blob(struct fxt_walk *x, const struct fxt_record *r, uint64_t name, uint64_t offset)
{
	if (r->id == FXT_BLOB_DATA && !r->strings[0].ref) {
		fxt_note(x, FXT_RULE_filler_blob, offset, r->words * FXT_WORD, "a nameless blob of %llu bytes",
			 (unsigned long long)r->payload_length);
		return;
	}
	fxt_blob_stream(x, name, r->id, r, offset);
}

/* ---- the whole record ---- */

/* The threads of the record; the track of the first one. */
static struct fxt_thread *accept_threads(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset, uint64_t *process)
{
	struct fxt_thread *track = NULL;
	for (unsigned n = 0; n < r->thread_count && x->status == TM_OK; n++) {
		const struct fxt_thread_ref *t = &r->threads[n];
		if (t->ref) {
			struct fxt_thread_entry *e = fxt_thread_use(x, r, t->ref, 0);
			if (e && !n) {
				track = e->track;
				*process = e->process;
			}
			continue;
		}
		check_koid(x, t->process, offset + t->at);
		check_koid(x, t->thread, offset + t->at);
		if (!t->process && !t->thread && !t->process_only && r->type != FXT_SCHEDULING)
			fxt_note(x, FXT_RULE_unknown_inline_thread, offset + t->at, 2 * FXT_WORD, "process koid 0, thread koid 0");
		if (!n) {
			*process = t->process;
			if (r->type == FXT_EVENT)
				track = fxt_thread_track(x, t->process, t->thread);
		}
	}
	return track;
}

void fxt_record_accept(struct fxt_walk *x, const struct fxt_record *r, uint64_t offset)
{
	uint64_t category = 0, name = 0, process = 0, arguments[FXT_ARGUMENTS_MAX] = { 0 };

	x->by_type[r->type]++;
	if (r->type == FXT_METADATA) {
		if (r->known)
			accept_metadata(x, r, offset);
		if (x->status == TM_OK)
			x->provider->records++;
		return;
	}
	x->provider->records++;
	if (!r->known)
		return;
	struct fxt_thread *track = r->type == FXT_THREAD ? NULL : accept_threads(x, r, offset, &process);
	for (unsigned n = 0; n < r->string_count && x->status == TM_OK; n++) {
		const struct fxt_string_ref *s = &r->strings[n];
		uint64_t hash = s->ref ? fxt_string_use(x, r, s) : 0;
		if (s->role == FXT_ROLE_CATEGORY)
			category = hash;
		else if (s->role == FXT_ROLE_NAME)
			name = hash;
		else if (s->role == FXT_ROLE_ARGUMENT_NAME)
			arguments[s->argument] = hash;
	}
	if (x->status != TM_OK)
		return;
	if (r->has_timestamp)
		fxt_time(x, r->timestamp, offset);
	check_arguments(x, r, arguments, offset);
	check_newer(x, r);
	switch (r->type) {
	case FXT_INITIALIZATION:
		fxt_initialize(x, r->tail, offset, r->words * FXT_WORD);
		break;
	case FXT_STRING:
		if (r->id)
			(void)fxt_string_register(x, r->id, fxt_hash(r->data + r->text_at, r->text_length), offset,
						  r->words * FXT_WORD);
		break;
	case FXT_THREAD:
		check_koid(x, r->threads[0].process, offset + FXT_WORD);
		check_koid(x, r->threads[0].thread, offset + FXT_WORD);
		if (r->id)
			(void)fxt_thread_register(x, r->id, r->threads[0].process, r->threads[0].thread, offset);
		break;
	case FXT_EVENT:
		x->by_event[r->subtype]++;
		x->eventful = true;
		if (r->subtype == FXT_COUNTER)
			check_counter(x, r, offset);
		fxt_event_meaning(x, r->subtype, track, process, category, name, r->timestamp, r->tail, offset);
		break;
	case FXT_KERNEL:
		if (!object_assigned(r->object_type))
			fxt_note(x, FXT_RULE_unknown_object_type, offset, r->words * FXT_WORD, "kernel object type %u",
				 r->object_type);
		break;
	case FXT_SCHEDULING:
		x->eventful = true;
		check_scheduling(x, r, offset);
		break;
	case FXT_BLOB:
		x->eventful = true;
		check_blob(x, r, name, offset);
		break;
	case FXT_LARGE:
		check_large(x, r, offset);
		x->eventful = true;
		break;
	case FXT_LOG:
		x->eventful = true;
		break;
	default:
		break;
	}
}
