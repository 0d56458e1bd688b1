/* One run of check or repair: its bounds (P7), and the effect of a failing read or allocation (P8). */
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "inject.h"
#include "oracle_parts.h"

/* Bound on the bytes read from sources: a multiple of the input and a constant. There are a few passes, each of which may read a
 * record that spans two windows twice; small files of a directory are read whole for each purpose. */
#define WORK_FACTOR 24u
#define WORK_CONSTANT (1024u * 1024u)
/* The same for the memory that one run requests at once, and in all. */
#define REQUEST_LARGEST (64u * 1024u * 1024u)
#define REQUEST_FACTOR 4096u
#define REQUEST_CONSTANT (UINT64_C(256) * 1024 * 1024)

static void run_open(struct oracle_run *r, const struct oracle *o, const struct capture *c, size_t window)
{
	r->options = (struct tracemend_options){
		.format = o->format, .profile = o->profile, .max_findings = 64, .window = window, .facts = true
	};
	struct bundle *b = capture_bundle(c, &r->options, &r->faults);
	if (!b)
		(void)fault_memory(&r->error);
	else
		r->input = input_from_bundle(b, &r->error);
}

void oracle_run_close(struct oracle_run *r)
{
	tracemend_report_free(r->report);
	tracemend_repair_free(r->repair);
	tracemend_close(r->input);
	r->report = NULL;
	r->repair = NULL;
	r->input = NULL;
}

void oracle_run_check(struct oracle_run *r, const struct oracle *o, const struct capture *c, size_t window)
{
	run_open(r, o, c, window);
	if (r->input)
		r->report = tracemend_check(r->input, &r->options, &r->error);
	if (r->report ? tracemend_report_summary(r->report)->complete != (r->error.status == TM_OK) : r->error.status == TM_OK)
		oracle_broken("P8", "check gave %s and status %d (%s)",
			      !r->report				      ? "no report"
			      : tracemend_report_summary(r->report)->complete ? "a complete report"
									      : "an incomplete report",
			      (int)r->error.status, r->error.message);
	oracle_text_is_sane("error message", r->error.message);
}

void oracle_run_repair(struct oracle_run *r, const struct oracle *o, const struct capture *c, size_t window)
{
	run_open(r, o, c, window);
	if (r->input)
		r->repair = tracemend_repair(r->input, &r->options, &r->error);
	if (!r->repair == (r->error.status == TM_OK))
		oracle_broken("P8", "repair gave %s and status %d (%s)", r->repair ? "a plan" : "no plan", (int)r->error.status,
			      r->error.message);
	if (r->error.status == TM_BUG)
		oracle_broken("P1", "%s", r->error.message);
	oracle_text_is_sane("error message", r->error.message);
}

/* P7. */
void oracle_run_is_bounded(const struct oracle_run *r, const char *what, uint64_t size, unsigned passes)
{
	if (r->input) {
		uint64_t work = input_bundle(r->input)->bytes_read;
		if (work > size * WORK_FACTOR * passes + WORK_CONSTANT)
			oracle_broken("P7", "%s read %llu bytes of a capture of %llu", what, (unsigned long long)work,
				      (unsigned long long)size);
	}
	if (inject.largest > REQUEST_LARGEST)
		oracle_broken("P7", "%s asked for %zu bytes at once, for a capture of %llu", what, inject.largest,
			      (unsigned long long)size);
	if (inject.bytes > size * REQUEST_FACTOR + REQUEST_CONSTANT)
		oracle_broken("P7", "%s asked for %llu bytes in all, for a capture of %llu", what, (unsigned long long)inject.bytes,
			      (unsigned long long)size);
}

void oracle_run_print(struct oracle_text *t, const struct oracle_run *r)
{
	oracle_text_add(t, "status %d '%s'\n", (int)r->error.status, r->error.message);
	if (r->report)
		oracle_report_print(t, r->report);
	if (r->repair) {
		oracle_report_print(t, tracemend_repair_report(r->repair));
		oracle_plan_print(t, r->repair);
	}
}

/* ---- P8: faults ---- */

/* One run with the read or the allocation k failing; `expected` is the result without faults. */
static void fault_run(const struct oracle *o, const struct capture *c, oracle_run_function *run, bool read, uint64_t k, bool sticky,
		      const struct oracle_text *expected)
{
	struct oracle_run r = { 0 };
	struct oracle_text t = { 0 };
	const char *what = read ? "read" : "allocation";
	if (read)
		r.faults.fail_at = k;
	inject_arm(read ? 0 : k, sticky);
	run(&r, o, c, 0);
	bool armed_fired = read ? r.faults.fired : inject.fired;
	inject.armed = false;
	oracle_run_print(&t, &r);
	inject.armed = true;
	oracle_run_close(&r);
	inject_disarm();
	if (inject.live)
		oracle_broken("P8", "%lld allocations leak after failed %s %llu", (long long)inject.live, what,
			      (unsigned long long)k);
	if (armed_fired && r.error.status != (read ? TM_IO : TM_NO_MEMORY)) {
		/* A failure that is tolerated must not change the result. */
		char text[96];
		snprintf(text, sizeof(text), "status %d after failed %s %llu, and not the usual result", (int)r.error.status, what,
			 (unsigned long long)k);
		oracle_texts_agree("P8", text, expected, &t);
	}
	oracle_text_free(&t);
}

void oracle_faults(const struct oracle *o, const struct capture *c, oracle_run_function *run, unsigned faults, uint64_t rotate)
{
	struct oracle_run r = { 0 };
	struct oracle_text expected = { 0 };
	inject_arm(0, false);
	run(&r, o, c, 0);
	uint64_t allocations = inject.calls, reads = r.faults.reads;
	inject.armed = false;
	oracle_run_print(&expected, &r);
	inject.armed = true;
	oracle_run_close(&r);
	inject_disarm();
	if (inject.live)
		oracle_broken("P8", "%lld allocations leak", (long long)inject.live);
	for (int read = 0; read < 2; read++) {
		uint64_t total = read ? reads : allocations;
		if (!total)
			continue;
		uint64_t step = total > faults ? total / faults : 1;
		for (uint64_t k = 1 + rotate % (faults == 1 ? total : step); k <= total; k += step) {
			fault_run(o, c, run, read, k, (k + rotate) & 1, &expected);
			if (faults == 1)
				break;
		}
	}
	oracle_text_free(&expected);
}
