/* The format as the engine sees it: recognition and scan. */
#include "formats/tracedat/gen/tracedat_gen.h"
#include "formats/tracedat/outline/tracedat_outline.h"
#include "formats/tracedat/repair/tracedat_restore.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_fast.h"
#include "formats/tracedat/scan/tracedat_place.h"

#include <stdlib.h>

#include "core/rule.h"
#include "core/text.h"

static void scan_facts(struct tracedat_walk *w)
{
	static const char *const codecs[] = { "none", "zstd", "zlib" };
	struct scan *s = w->s;

	if (!s->facts)
		return;
	scan_fact(s, "byte order", "%s", w->shape.big_endian ? "big-endian" : "little-endian");
	scan_fact(s, "kernel long", "%u bytes", w->shape.long_size);
	scan_fact(s, "page size", "%u bytes", w->shape.page_size);
	if (w->shape.version == 7)
		scan_fact(s, "compression", "%s", codecs[w->shape.codec]);
	scan_fact(s, "event formats", "%zu", w->events.count);
	for (size_t i = 0; i < w->data.buffer_count; i++) {
		const struct tracedat_buffer *b = &w->data.buffers[i];
		scan_fact(s, "buffer", "%s%s%s", *b->name ? b->name : "(top)", b->clock.size ? ", clock " : "",
			  b->clock.size ? (const char *)b->clock.data : "");
		scan_fact_name(s, "buffer");
		scan_fact_text(s, "name", b->name);
		if (b->clock.size)
			scan_fact_text(s, "clock", (const char *)b->clock.data);
		for (size_t j = 0; j < b->count; j++) {
			const struct tracedat_cpu *c = &b->cpus[j];
			char counted[TEXT_COUNT_SIZE];
			if (!c->records)
				continue;
			scan_fact(s, "CPU", "%s%s%u: %s from %llu to %llu", b->name, *b->name ? " " : "", c->cpu,
				  text_count(counted, c->records, "event"), (unsigned long long)c->first_time,
				  (unsigned long long)c->last_time);
			scan_fact_name(s, "cpu");
			scan_fact_text(s, "buffer", b->name);
			scan_fact_number(s, "cpu", c->cpu);
			scan_fact_number(s, "events", c->records);
			scan_fact_number(s, "first_time", c->first_time);
			scan_fact_number(s, "last_time", c->last_time);
		}
	}
}

/* Texts that could not be kept. */
static bool memory_failed(const struct tracedat_walk *w)
{
	bool failed = w->dir.strings.failed || w->events.common.failed;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		failed |= w->data.buffers[i].raw_name.failed || w->data.buffers[i].clock.failed;
	for (size_t i = 0; i < w->dir.option_count; i++)
		failed |= w->dir.options[i].changed.failed;
	return failed;
}

/* What stopped the walk, wherever it was noticed. */
static enum tracemend_status scan_status(const struct tracedat_walk *w)
{
	if (w->status == TM_OK && memory_failed(w))
		return TM_NO_MEMORY;
	if (w->window.status != TM_OK)
		return w->window.status;
	return w->status;
}

static enum tracemend_status scan_file(struct scan *s, struct source *source)
{
	struct tracedat_walk *w = malloc(sizeof(*w));
	enum tracemend_status status = TM_NO_MEMORY;

	if (!w)
		return TM_NO_MEMORY;
	if (tracedat_open(w, s, source))
		tracedat_walk_file(w);
	status = scan_status(w);
	s->records = w->pages.records;
	s->fast = w->pages.fast;
	scan_facts(w);
	if (status == TM_OK && s->outline) {
		tracedat_outline_file(w);
		status = scan_status(w);
	}
	if (status == TM_OK && s->plan)
		status = tracedat_repair(w);
	tracedat_close(w);
	free(w);
	return status;
}

/* ---- recognition ---- */

/* The files of the CPUs of a recorder that was killed: NAME.cpuN, and NAME.INSTANCE.cpuN of its instances. */
static struct bid bid_directory(struct bundle *b)
{
	struct tracedat_restore r = { 0 };
	struct bid bid = { 0, NULL };

	if (tracedat_restore_collect(&r, b) && r.count) {
		bid = (struct bid){ 40, tracedat_restore_several(&r, b) };
		if (bid.declined)
			bid.bits = BID_CERTAIN;
	}
	free(r.files);
	return bid;
}

/* Whether the file consists of raw pages without a header. */
static bool is_raw_pages(struct window *window)
{
	struct tracedat_shape shape = { 0 };
	return tracedat_shape_infer(window, &shape);
}

static bool has_header(struct window *window)
{
	const uint8_t *p = window_at(window, 0, 19);
	return p && (!memcmp(p + 3, "tracing", 7) || !memcmp(p, "\x17\x08\x44", 3) || p[18] == 'h' || p[18] == 'z' || p[18] == 'n');
}

static enum tracemend_status scan(struct scan *s)
{
	struct source *single = bundle_single(s->in);
	bool extras = false;

	for (size_t i = 0; i < s->in->count; i++)
		extras |= s->in->sources[i]->role == TM_ROLE_EXTRA;
	if (!single || extras)
		return tracedat_restore(s);
	struct window window;
	window_open(&window, single);
	struct tracedat_inferred found;
	/* Formats or sections behind the first page: it stands where the beginning of a trace.dat was. */
	bool raw = !has_header(&window) && is_raw_pages(&window) && !tracedat_infer(&window, single->size, &found);
	window_close(&window);
	return raw ? tracedat_restore(s) : scan_file(s, single);
}

/* Bits of the prefix that match. With a damaged magic the fields behind it count. */
static unsigned magic(struct window *window)
{
	const uint8_t *p = window_at(window, 0, 32);
	if (!p)
		p = window_at(window, 0, 12);
	if (p && !memcmp(p, "\x17\x08\x44tracing", 10))
		return 80;
	if (p && !memcmp(p + 3, "tracing", 7))
		return 56;
	p = window_at(window, 0, 34);
	if (p &&
	    (!memcmp(p + 18, "header_page", 12) || !memcmp(p + 18, "zstd", 5) || !memcmp(p + 18, "zlib", 5) ||
	     !memcmp(p + 18, "none\0\0", 7)) &&
	    (p[10] == '6' || p[10] == '7'))
		return 40;
	return 0;
}

/* Where the prefix is lost, the sections or formats count. */
static struct bid bid(struct bundle *b, struct window *window)
{
	struct bid none = { 0, NULL };

	if (!bundle_single(b))
		return b->directory ? bid_directory(b) : none;
	const unsigned known = magic(window);
	if (known)
		return (struct bid){ known, NULL };
	struct tracedat_inferred found;
	if (tracedat_infer(window, bundle_single(b)->size, &found))
		return (struct bid){ 28, NULL };
	return is_raw_pages(window) ? (struct bid){ 8, NULL } : none;
}

extern const struct format tracedat_format;

static enum tracemend_status outline(struct outline *o, const char *profile)
{
	return outline_by_scan(o, &tracedat_format, profile);
}

static const struct tracemend_feature features[] = {
#define FEATURE(symbol, name, one_of, host, text) { name, text, one_of, host },
#include "formats/tracedat/gen/tracedat_features.def"
#undef FEATURE
};

const struct format tracedat_format = {
	.public = { .name = "tracedat", .title = "trace-cmd trace.dat", .extension = ".dat", .profiles = NULL, .directory = false },
	.rules = tracedat_rules,
	.rule_count = TRACEDAT_RULE_COUNT,
	.features = features,
	.feature_count = TRACEDAT_FEATURE_COUNT,
	.fast = tracedat_fast_contract,
	.magic = magic,
	.bid = bid,
	.scan = scan,
	.generate = tracedat_generate,
	.outline = outline,
};
