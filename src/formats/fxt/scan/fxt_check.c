#include "formats/fxt/scan/fxt_check.h"

#include <stdlib.h>

#include "formats/fxt/scan/fxt_hash.h"

/* Cpus whose times are tracked, and the highest number that is not noted. */
#define CPU_FOLLOWED 1024u
#define CPU_NOTED 1023u

void fxt_check_koid(struct fxt_check *c, uint64_t koid, uint64_t offset)
{
	if (fxt_koid_is_wide(koid))
		fxt_note(c->report, FXT_RULE_koid_exceeds_32_bits, offset, FXT_WORD, "koid %llu has more than 32 bits",
			 (unsigned long long)koid);
}

void fxt_check_open(struct fxt_check *c, struct fxt_report *report)
{
	c->report = report;
	c->process = fxt_hash("process", 7);
	c->weight = fxt_hash("weight", 6);
	c->incoming_weight = fxt_hash("incoming_weight", 15);
	c->outgoing_weight = fxt_hash("outgoing_weight", 15);
	c->waker = fxt_hash("waker", 5);
}

void fxt_check_close(struct fxt_check *c)
{
	free(c->cpu_times);
}

/* A warning of what the record says: repair lists the record as doubtful. */
#define odd(c, rule, ...) ((c)->report->odd++, fxt_report((c)->report, rule, __VA_ARGS__))

/* ---- events ---- */

void fxt_check_counter(struct fxt_check *c, const struct fxt_record *r, uint64_t offset)
{
	if (!r->argument_count)
		fxt_report(c->report, FXT_RULE_counter_without_arguments, offset, r->words * FXT_WORD,
			   "the counter has 0 arguments, expected at least 1");
	for (unsigned n = 0; n < r->argument_count; n++) {
		const struct fxt_argument_view *a = &r->arguments[n];
		if (a->type == FXT_ARG_DOUBLE && (a->value >> 52 & 0x7ff) == 0x7ff)
			fxt_note(c->report, FXT_RULE_counter_nan, offset, r->words * FXT_WORD,
				 "the value of argument %u is infinite or not a number", n + 1);
		if (a->type >= FXT_ARG_INT32 && a->type <= FXT_ARG_DOUBLE)
			continue;
		odd(c, FXT_RULE_counter_non_numeric, offset, r->words * FXT_WORD, "argument %u is of type %s, expected a number",
		    n + 1, fxt_argument_names[a->type]);
	}
}

void fxt_check_complete(struct fxt_check *c, uint64_t start, uint64_t end, uint64_t offset)
{
	if (end < start)
		fxt_report(c->report, FXT_RULE_complete_end_before_start, offset, 2 * FXT_WORD,
			   "the duration starts at tick %llu and ends at tick %llu", (unsigned long long)start,
			   (unsigned long long)end);
}

/* ---- arguments ---- */

static void check_argument(struct fxt_check *c, const struct fxt_record *r, unsigned n, uint64_t offset)
{
	const struct fxt_argument_view *a = &r->arguments[n];

	if (a->name.ref == 0 || a->name.ref == FXT_STRING_INLINE)
		fxt_note(c->report, FXT_RULE_empty_argument_name, offset, r->words * FXT_WORD, "argument %u has no name", n + 1);
	if (fxt_integer_fits_32(a->type, a->value))
		fxt_note(c->report, FXT_RULE_wide_integer_not_needed, offset, r->words * FXT_WORD,
			 "the value of argument %u is stored in 64 bits and fits 32 bits", n + 1);
}

/* Names by which readers know an argument. */
static void check_known_argument(struct fxt_check *c, const struct fxt_record *r, unsigned n, uint64_t hash, uint64_t offset)
{
	const struct fxt_argument_view *a = &r->arguments[n];

	if (r->type == FXT_KERNEL && r->object_type == FXT_OBJECT_THREAD && hash == c->process && a->type != FXT_ARG_KOID)
		odd(c, FXT_RULE_process_argument_wrong_type, offset, r->words * FXT_WORD,
		    "argument \"process\" is of type %s, expected koid", fxt_argument_names[a->type]);
	if (r->type != FXT_SCHEDULING)
		return;
	bool weight = hash == c->weight || hash == c->incoming_weight || hash == c->outgoing_weight;
	bool waker = hash == c->waker && r->subtype == FXT_WAKEUP;
	if ((weight && a->type != FXT_ARG_INT32) || (waker && a->type != FXT_ARG_KOID))
		odd(c, FXT_RULE_weight_argument_wrong_type, offset, r->words * FXT_WORD, "argument %u is of type %s, expected %s",
		    n + 1, fxt_argument_names[a->type], weight ? "int32" : "koid");
}

void fxt_check_arguments(struct fxt_check *c, const struct fxt_record *r, const uint64_t *names, uint64_t offset)
{
	bool process = false;
	for (unsigned n = 0; n < r->argument_count; n++) {
		check_argument(c, r, n, offset);
		check_known_argument(c, r, n, names[n], offset);
		process = process || names[n] == c->process;
		for (unsigned k = 0; k < n; k++)
			if (names[k] == names[n] && names[n]) {
				fxt_note(c->report, FXT_RULE_duplicate_argument_name, offset, r->words * FXT_WORD,
					 "arguments %u and %u have the same name", k + 1, n + 1);
				break;
			}
	}
	if (r->type == FXT_KERNEL && r->object_type == FXT_OBJECT_THREAD && !process)
		fxt_note(c->report, FXT_RULE_thread_object_without_process, offset, r->words * FXT_WORD,
			 "the object of thread %llu has no argument \"process\"", (unsigned long long)r->tail);
}

/* ---- what later revisions of the document added ---- */

void fxt_check_newer(struct fxt_check *c, const struct fxt_record *r)
{
	if (r->type == FXT_SCHEDULING && r->subtype != FXT_SWITCH_LEGACY)
		fxt_note_newer(c->report, r->subtype == FXT_WAKEUP ? FXT_NEWER_WAKEUP : FXT_NEWER_SWITCH, 0);
	else if (r->type == FXT_PROFILER)
		fxt_note_newer(c->report, FXT_NEWER_PROFILER, 0);
	else if (r->type == FXT_BLOB && r->id == FXT_BLOB_PERFETTO)
		fxt_note_newer(c->report, FXT_NEWER_PERFETTO_BLOB, 0);
	for (unsigned n = 0; n < r->argument_count; n++)
		if (r->arguments[n].type == FXT_ARG_BLOB)
			fxt_note_newer(c->report, FXT_NEWER_BLOB_ARGUMENT, r->arguments[n].at);
}

/* ---- objects, scheduling, blobs ---- */

static bool object_assigned(unsigned type)
{
	/* Zircon's numbers; 7, 8, 10 and 13 are not assigned. */
	return type <= FXT_OBJECT_MAX && type != 7 && type != 8 && type != 10 && type != 13;
}

void fxt_check_kernel_object(struct fxt_check *c, const struct fxt_record *r, uint64_t offset)
{
	if (!object_assigned(r->object_type))
		fxt_note(c->report, FXT_RULE_unknown_object_type, offset, r->words * FXT_WORD,
			 "kernel object type is %u, which is not assigned", r->object_type);
}

void fxt_check_scheduling(struct fxt_check *c, const struct fxt_record *r, uint64_t offset)
{
	uint64_t length = r->words * FXT_WORD;

	if (r->cpu > CPU_NOTED) {
		if (r->cpu >= FXT_CPU_MAX)
			odd(c, FXT_RULE_cpu_number_implausible, offset, length, "cpu number %u", r->cpu);
		else
			fxt_note_milder(c->report, FXT_RULE_cpu_number_implausible, offset, length, "cpu number %u", r->cpu);
	} else {
		if (!c->cpu_times) {
			c->cpu_times = calloc(CPU_FOLLOWED, sizeof(*c->cpu_times));
			if (!c->cpu_times) {
				fxt_report_no_memory(c->report);
				return;
			}
		}
		if (r->timestamp < c->cpu_times[r->cpu]) {
			fxt_note(c->report, FXT_RULE_context_switch_order, offset, length,
				 "cpu %u: an earlier record of this cpu has the later tick %llu", r->cpu,
				 (unsigned long long)c->cpu_times[r->cpu]);
		} else {
			c->cpu_times[r->cpu] = r->timestamp;
		}
	}
	if (r->subtype == FXT_WAKEUP)
		return;
	if (r->out_state > FXT_STATE_DEAD) {
		odd(c, FXT_RULE_invalid_thread_state, offset, length, "outgoing thread state is %u, expected 0 to %u", r->out_state,
		    FXT_STATE_DEAD);
	} else if (r->subtype == FXT_SWITCH_LEGACY && r->out_state == FXT_STATE_RUNNING)
		odd(c, FXT_RULE_outgoing_state_running, offset, length,
		    "outgoing thread state is %u (running), expected another state", r->out_state);
}

void fxt_check_large(struct fxt_check *c, const struct fxt_record *r, uint64_t offset)
{
	uint64_t bytes = r->words * FXT_WORD;
	if (r->words > FXT_RECORD_WORDS_MAX) {
		fxt_report(c->report, FXT_RULE_large_record_over_4095_words, offset, bytes,
			   "the size of the record is %llu words, and some readers take at most 4095",
			   (unsigned long long)r->words);
	} else if (r->known && r->blob_format == FXT_LARGE_BLOB_PLAIN)
		fxt_note(c->report, FXT_RULE_unnecessary_large_record, offset, bytes,
			 "the payload of %llu bytes fits a blob record", (unsigned long long)r->payload_length);
	if (bytes > FXT_LARGE_ENGINE_BYTES_MAX)
		fxt_note(c->report, FXT_RULE_large_record_over_256k, offset, bytes,
			 "the size of the record is %llu bytes, more than 256 KiB", (unsigned long long)bytes);
}
