/* The format as the engine sees it, and what all of its files use. */
#include "formats/tracedat/tracedat.h"

#include <stdlib.h>

#include "core/rule.h"

#define RULE(symbol, id, severity, class, title, clause, explanation, repair) \
	RULE_ROW("tracedat", id, severity, class, title, clause, explanation, repair)
const struct tracemend_rule tracedat_rules[] = {
#include "formats/tracedat/tracedat_rules.def"
};
#undef RULE

/* ---- small things ---- */

void tracedat_no_memory(struct tracedat_walk *w)
{
	if (w->status == TM_OK)
		w->status = TM_NO_MEMORY;
}

bool tracedat_room(struct tracedat_walk *w, void *array, size_t *capacity, size_t count, size_t size, size_t max)
{
	if (count < *capacity)
		return true;
	if (count >= max) {
		if (w->status == TM_OK)
			w->status = scan_limit(w->s, "more than %zu items of a kind that a capture has few of", max);
		return false;
	}
	size_t wanted = *capacity ? 2 * *capacity : 16;
	void *old, *grown;
	memcpy(&old, array, sizeof(old));
	grown = realloc(old, wanted * size);
	if (!grown) {
		tracedat_no_memory(w);
		return false;
	}
	memcpy(array, &grown, sizeof(grown));
	*capacity = wanted;
	return true; /* cppcheck-suppress memleak; it cannot see that the array has it */
}

bool tracedat_page_size_ok(uint64_t size)
{
	return size >= TRACEDAT_PAGE_MIN && size <= TRACEDAT_PAGE_MAX && !(size & (size - 1));
}

uint64_t tracedat_align(uint64_t offset, uint64_t alignment)
{
	return (offset + alignment - 1) & ~(alignment - 1);
}

const char *tracedat_id_name(unsigned id)
{
	static const char *const names[TRACEDAT_ID_LAST + 1] = { "options",	   "date",	     "CPU statistics", "buffer",
								 "trace clock",	   "uname",	     "hook",	       "offset",
								 "CPU count",	   "version",	     "process map",    "trace id",
								 "time shift",	   "guest",	     "TSC conversion", "strings",
								 "headers",	   "ftrace formats", "event formats",  "kallsyms",
								 "printk formats", "command lines",  "buffer text",    "BTF",
								 "last boot",	   "modules" };
	return id <= TRACEDAT_ID_LAST ? names[id] : "unknown";
}

void tracedat_block_free(struct tracedat_block *b)
{
	free(b->data);
	b->data = NULL;
	b->size = 0;
}

/* ---- drops ---- */

void tracedat_drop(struct tracedat_walk *w, uint64_t from, uint64_t length, unsigned rule, const char *why)
{
	if (!w->repair || !length)
		return;
	if (!tracedat_room(w, &w->out.drops, &w->out.drop_capacity, w->out.drop_count, sizeof(*w->out.drops), PLAN_RANGES_MAX))
		return;
	w->out.drops[w->out.drop_count++] = (struct tracedat_drop){ w->source, from, length, rule, why };
}

void tracedat_drop_block(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t length, unsigned rule,
			 const char *why)
{
	if (!b->compressed)
		tracedat_drop(w, b->offset + at, length, rule, why);
}

/* ---- pieces ---- */

void tracedat_pieces_free(struct tracedat_pieces *p)
{
	free(p->list);
	bytes_free(&p->literals);
	*p = (struct tracedat_pieces){ 0 };
}

static struct tracedat_piece *piece_new(struct tracedat_pieces *p)
{
	if (p->count == p->capacity) {
		size_t wanted = p->capacity ? 2 * p->capacity : 32;
		struct tracedat_piece *list = wanted <= PLAN_RANGES_MAX ? realloc(p->list, wanted * sizeof(*list)) : NULL;
		if (!list) {
			p->failed = true;
			return NULL;
		}
		p->list = list;
		p->capacity = wanted;
	}
	return &p->list[p->count++];
}

void tracedat_copy(struct tracedat_pieces *p, const struct source *s, uint64_t from, uint64_t length)
{
	if (!length || p->failed)
		return;
	p->size += length;
	struct tracedat_piece *last = p->count ? &p->list[p->count - 1] : NULL;
	if (last && !last->literal && last->source == s && last->from + last->length == from) {
		last->length += length;
		return;
	}
	struct tracedat_piece *piece = piece_new(p);
	if (piece)
		*piece = (struct tracedat_piece){ .source = s, .from = from, .length = length, .old = TRACEDAT_NO_OLD };
}

size_t tracedat_field(struct tracedat_pieces *p, const struct source *s, uint64_t old, const void *bytes, size_t length,
		      unsigned rule, const char *why)
{
	if (!length || p->failed)
		return SIZE_MAX;
	p->size += length;
	struct tracedat_piece *piece = piece_new(p);
	if (!piece)
		return SIZE_MAX;
	*piece = (struct tracedat_piece){ .source = s,
					  .from = p->literals.size,
					  .length = length,
					  .old = old,
					  .why = why,
					  .rule = (uint16_t)rule,
					  .literal = true };
	bytes_append(&p->literals, bytes, length);
	if (p->literals.failed) {
		p->failed = true;
		p->count--;
		return SIZE_MAX;
	}
	return p->count - 1;
}

size_t tracedat_literal(struct tracedat_pieces *p, const void *bytes, size_t length, unsigned rule, const char *why)
{
	return tracedat_field(p, NULL, TRACEDAT_NO_OLD, bytes, length, rule, why);
}

void tracedat_fill(struct tracedat_pieces *p, size_t piece, const void *bytes)
{
	if (!p->failed && piece < p->count && p->list[piece].literal)
		memcpy(p->literals.data + p->list[piece].from, bytes, p->list[piece].length);
}

/* ---- one scan ---- */

bool tracedat_open(struct tracedat_walk *w, struct scan *s, struct source *source)
{
	*w = (struct tracedat_walk){ .s = s,
				     .findings = s->findings,
				     .source = source,
				     .repair = s->plan != NULL,
				     .texts = { .symbol_low = UINT64_MAX },
				     .dir = { .clock_option = -1, .cpucount_option = -1 } };
	struct tracemend_options quiet = { .max_findings = 1 };
	window_open(&w->window, source);
	w->scratch = findings_new(s->in, tracedat_rules, TRACEDAT_RULE_COUNT, &quiet);
	w->events.index = calloc(65536, sizeof(*w->events.index));
	w->texts.pids = calloc(1, TRACEDAT_PID_MAX / 8 + 1);
	w->events.fields = calloc(TRACEDAT_FIELDS_MAX, sizeof(*w->events.fields));
	if (!w->scratch || !w->events.index || !w->texts.pids || !w->events.fields)
		tracedat_no_memory(w);
	return w->status == TM_OK;
}

void tracedat_close(struct tracedat_walk *w)
{
	window_close(&w->window);
	tracedat_block_free(&w->meta.v6);
	for (size_t i = 0; i < TRACEDAT_PARTS; i++)
		tracedat_pieces_free(&w->meta.parts[i]);
	for (size_t i = 0; i < w->dir.option_count; i++)
		bytes_free(&w->dir.options[i].changed);
	for (size_t i = 0; i < w->dir.section_count; i++)
		tracedat_block_free(&w->dir.sections[i].block);
	for (size_t i = 0; i < w->data.buffer_count; i++) {
		free(w->data.buffers[i].cpus);
		bytes_free(&w->data.buffers[i].raw_name);
		bytes_free(&w->data.buffers[i].clock);
	}
	findings_free(w->scratch);
	tracedat_codec_close(w);
	tracedat_pieces_free(&w->out.pieces);
	bytes_free(&w->events.common);
	bytes_free(&w->dir.strings);
	free(w->events.index);
	free(w->events.list);
	free(w->events.dynamics);
	free(w->events.names);
	free(w->events.fields);
	free(w->events.unknown);
	free(w->texts.pids);
	free(w->texts.printk);
	free(w->dir.options);
	free(w->dir.stats);
	free(w->dir.sections);
	free(w->data.buffers);
	free(w->pages.chunk);
	free(w->pages.previous);
	free(w->pages.edits);
	free(w->out.drops);
	tracedat_orphans_free(w);
	free(w->events.placeholders);
}

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
		for (size_t j = 0; j < b->count; j++) {
			const struct tracedat_cpu *c = &b->cpus[j];
			if (c->records)
				scan_fact(s, "CPU", "%s%s%u: %llu events from %llu to %llu", b->name, *b->name ? " " : "", c->cpu,
					  (unsigned long long)c->records, (unsigned long long)c->first_time,
					  (unsigned long long)c->last_time);
		}
	}
}

void tracedat_walk_file(struct tracedat_walk *w)
{
	if (!tracedat_prefix(w) || w->status != TM_OK)
		return;
	if (w->shape.version == 6)
		tracedat_v6(w);
	else
		tracedat_v7(w);
	if (w->status != TM_OK)
		return;
	tracedat_options_judge(w);
	tracedat_place(w);
	if (w->status == TM_OK)
		tracedat_cpus(w);
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

static bool has_cpu_files(const struct bundle *b)
{
	uint32_t cpu;
	for (size_t i = 0; i < b->count; i++)
		if (b->sources[i]->role == TM_ROLE_INPUT && b->sources[i]->kind == SOURCE_FILE && *b->sources[i]->name &&
		    tracedat_cpu_file(b->sources[i]->name, &cpu))
			return true;
	return false;
}

/* Raw pages without a header, by their look. */
static bool is_raw_pages(struct window *window)
{
	struct tracedat_walk w = { .window = *window };
	bool raw = tracedat_shape_guess(&w);
	*window = w.window; /* it may have moved */
	return raw;
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
	bool raw = !has_header(&window) && is_raw_pages(&window);
	window_close(&window);
	return raw ? tracedat_restore(s) : scan_file(s, single);
}

/* Bits of the prefix that match; a damaged magic is made up for by what follows it, a lost prefix by sections or formats. */
static struct bid bid(struct bundle *b, struct window *window)
{
	struct bid none = { 0, NULL };

	if (!bundle_single(b))
		return b->directory && has_cpu_files(b) ? (struct bid){ 40, NULL } : none;
	const uint8_t *p = window_at(window, 0, 32);
	if (!p)
		p = window_at(window, 0, 12);
	if (p && !memcmp(p, "\x17\x08\x44tracing", 10))
		return (struct bid){ 80, NULL };
	if (p && !memcmp(p + 3, "tracing", 7))
		return (struct bid){ 56, NULL };
	p = window_at(window, 0, 34);
	if (p &&
	    (!memcmp(p + 18, "header_page", 12) || !memcmp(p + 18, "zstd", 5) || !memcmp(p + 18, "zlib", 5) ||
	     !memcmp(p + 18, "none\0\0", 7)) &&
	    (p[10] == '6' || p[10] == '7'))
		return (struct bid){ 40, NULL };
	struct tracedat_inferred found;
	if (tracedat_infer(window, bundle_single(b)->size, &found))
		return (struct bid){ 28, NULL };
	return is_raw_pages(window) ? (struct bid){ 8, NULL } : none;
}

const struct format tracedat_format = {
	.public = { .name = "tracedat", .title = "trace-cmd trace.dat", .extension = ".dat", .profiles = NULL, .directory = false },
	.rules = tracedat_rules,
	.rule_count = TRACEDAT_RULE_COUNT,
	.bid = bid,
	.scan = scan,
	.generate = tracedat_generate,
	.outline = tracedat_outline,
};
