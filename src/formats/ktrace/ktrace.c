/* ktrace: recognition, the start of the walk, facts. */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/ktrace/gen/ktrace_gen.h"
#include "formats/ktrace/outline/ktrace_outline.h"
#include "formats/ktrace/scan/ktrace_event.h"
#include "formats/ktrace/scan/ktrace_raw.h"
#include "formats/ktrace/scan/ktrace_v3.h"

/* ---- recognition ---- */

static unsigned ktrace_magic(struct window *w)
{
	const uint8_t *p = window_at(w, 0, 4);
	const uint32_t word = p ? load_u32(p, false) : 0;
	const bool known = word == KTRACE_MAGIC || word == KTRACE_MAGIC_RAW2 || word == KTRACE_MAGIC_RAW1 ||
			   word == KTRACE_MAGIC_RAW1_OLD;
	return known || ktrace_raw0_is_sure(w, word) ? 32 : 0;
}

static struct bid ktrace_bid(struct bundle *b, struct window *w)
{
	(void)b;
	const uint8_t *p = w->source ? window_at(w, 0, 4) : NULL;
	if (!p)
		return (struct bid){ 0 };
	uint32_t word = load_u32(p, false), swapped = load_u32(p, true);
	if (swapped == KTRACE_MAGIC || swapped == KTRACE_MAGIC_RAW2 || swapped == KTRACE_MAGIC_RAW1)
		return (struct bid){ .declined =
					     "a ktrace file in big-endian byte order, which no writer makes and no reader reads" };
	if (word == KTRACE_MAGIC_ARTRACE)
		return (struct bid){ .declined = "an artrace (Ariadne) recording, which is not a ktrace file" };
	if (word == KTRACE_MAGIC_KERNEL && (p = window_at(w, 0, KTRACE_HEADER)) != NULL && load_u16(p + 4, false) == 17)
		return (struct bid){ .declined = "an Apple Unified Logging archive (tracev3): the same container as ktrace with "
						 "other contents, which are not checked here" };
	return (struct bid){ .bits = ktrace_form_find(w, word).bits };
}

/* ---- the walk ---- */

static void ktrace_facts(struct ktrace_walk *w)
{
	struct scan *s = w->scan;
	scan_fact(s, "event width", "%s", w->in.is_64 ? "64-bit" : "32-bit");
	scan_fact_name(s, "event width");
	scan_fact_number(s, "bits", w->in.is_64 ? 64 : 32);
	if (w->clock.numer && w->clock.denom) {
		scan_fact(s, "timebase", "%" PRIu32 "/%" PRIu32 " ns a tick", w->clock.numer, w->clock.denom);
		scan_fact_name(s, "timebase");
		scan_fact_number(s, "numerator", w->clock.numer);
		scan_fact_number(s, "denominator", w->clock.denom);
	}
	if (w->chunks)
		scan_fact(s, "chunks", "%" PRIu32, w->chunks);
	scan_fact(s, "CPUs", "%" PRIu32, w->in.cpus);
	scan_fact(s, "threads", "%zu%s", w->in.threads.map.count, w->in.threads.full ? " (bound reached)" : "");
	scan_fact_name(s, "threads");
	scan_fact_number(s, "count", w->in.threads.map.count);
	scan_fact_number(s, "bound_reached", w->in.threads.full);
	scan_fact(s, "events", "%" PRIu64, s->records);
	if (s->records) {
		const struct ktrace_events *k = &w->events;
		uint64_t first = k->earliest && k->earliest < k->first_time ? k->earliest : k->first_time;
		uint64_t last = k->latest > w->in.last_time ? k->latest : w->in.last_time;
		scan_fact(s, "event times", "%" PRIu64 " to %" PRIu64 " ticks", first, last);
		scan_fact_name(s, "event times");
		scan_fact_number(s, "first_tick", first);
		scan_fact_number(s, "last_tick", last);
	}
}

static enum tracemend_status scan_form(struct ktrace_walk *w)
{
	uint8_t head[4] = { 0 };
	enum tracemend_status status = TM_OK;

	if (w->in.source->size >= sizeof(head))
		status = source_read(w->in.source, 0, head, sizeof(head));
	if (status != TM_OK)
		return status;
	struct ktrace_form form = ktrace_form_find(&w->in.window, load_u32(head, false));
	status = form.raw ? ktrace_raw_walk(w, &form) : ktrace_v3_walk(w);
	if (status != TM_OK)
		return status;
	status = ktrace_repair_finish(&w->repair);
	if (status == TM_OK && (w->in.threads.failed || w->subfiles.failed || ktrace_events_failed(&w->events)))
		status = TM_NO_MEMORY;
	return status != TM_OK ? status : w->in.window.status;
}

static enum tracemend_status ktrace_scan(struct scan *s)
{
	struct ktrace_walk *w = calloc(1, sizeof(*w));

	if (!w)
		return TM_NO_MEMORY;
	w->scan = s;
	ktrace_input_open(&w->in, bundle_single(s->in));
	ktrace_repair_open(&w->repair, s->plan, w->in.source);
	ktrace_events_open(&w->events);
	w->subfiles.max = KTRACE_OPEN_MAX;
	enum tracemend_status status = scan_form(w);
	if (status == TM_OK)
		ktrace_facts(w);
	ktrace_input_close(&w->in);
	ktrace_repair_free(&w->repair);
	ktrace_events_free(&w->events);
	ktrace_table_free(&w->subfiles);
	free(w);
	return status;
}

static const struct tracemend_feature features[] = {
#define FEATURE(symbol, name, one_of, text) { name, text, one_of, true },
#include "formats/ktrace/gen/ktrace_features.def"
#undef FEATURE
};

extern const struct format ktrace_format;
const struct format ktrace_format = {
	.public = { .name = "ktrace", .title = "Darwin ktrace", .extension = ".ktrace" },
	.rules = ktrace_rules,
	.rule_count = KTRACE_RULE_COUNT,
	.features = features,
	.feature_count = KTRACE_FEATURE_COUNT,
	.fast = ktrace_fast_contract,
	.magic = ktrace_magic,
	.bid = ktrace_bid,
	.scan = ktrace_scan,
	.generate = ktrace_generate,
	.outline = ktrace_outline,
};
