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

void tracedat_no_memory(struct tracedat *t)
{
	if (t->status == TM_OK)
		t->status = TM_NO_MEMORY;
}

bool tracedat_room(struct tracedat *t, void *array, size_t *capacity, size_t count, size_t size, size_t max)
{
	if (count < *capacity)
		return true;
	if (count >= max) {
		if (t->status == TM_OK)
			t->status = scan_limit(t->scan, "more than %zu items of a kind that a capture has few of", max);
		return false;
	}
	size_t wanted = *capacity ? 2 * *capacity : 16;
	void *old, *grown;
	memcpy(&old, array, sizeof(old));
	grown = realloc(old, wanted * size);
	if (!grown) {
		tracedat_no_memory(t);
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

void tracedat_drop(struct tracedat *t, uint64_t from, uint64_t length, unsigned rule, const char *why)
{
	if (!t->repair || !length)
		return;
	if (!tracedat_room(t, &t->drops, &t->drop_capacity, t->drop_count, sizeof(*t->drops), PLAN_RANGES_MAX))
		return;
	t->drops[t->drop_count++] = (struct tracedat_drop){ t->source, from, length, rule, why };
}

void tracedat_drop_block(struct tracedat *t, const struct tracedat_block *b, size_t at, size_t length, unsigned rule,
			 const char *why)
{
	if (!b->compressed)
		tracedat_drop(t, b->offset + at, length, rule, why);
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

bool tracedat_open(struct tracedat *t, struct scan *s, struct source *source)
{
	*t = (struct tracedat){ .scan = s,
				.findings = s->findings,
				.source = source,
				.repair = s->plan != NULL,
				.strings = -1,
				.clock_option = -1,
				.cpucount_option = -1,
				.symbol_low = UINT64_MAX };
	struct tracemend_options quiet = { .max_findings = 1 };
	window_open(&t->window, source);
	t->scratch = findings_new(s->in, tracedat_rules, TRACEDAT_RULE_COUNT, &quiet);
	t->event_index = calloc(65536, sizeof(*t->event_index));
	t->pids = calloc(1, TRACEDAT_PID_MAX / 8 + 1);
	t->fields = calloc(TRACEDAT_FIELDS_MAX, sizeof(*t->fields));
	if (!t->scratch || !t->event_index || !t->pids || !t->fields)
		tracedat_no_memory(t);
	return t->status == TM_OK;
}

void tracedat_close(struct tracedat *t)
{
	window_close(&t->window);
	tracedat_block_free(&t->meta);
	for (size_t i = 0; i < TRACEDAT_PARTS; i++)
		tracedat_pieces_free(&t->parts[i]);
	for (size_t i = 0; i < t->option_count; i++)
		bytes_free(&t->options[i].changed);
	for (size_t i = 0; i < t->section_count; i++)
		tracedat_block_free(&t->sections[i].block);
	for (size_t i = 0; i < t->buffer_count; i++) {
		free(t->buffers[i].cpus);
		bytes_free(&t->buffers[i].raw_name);
		bytes_free(&t->buffers[i].clock);
	}
	findings_free(t->scratch);
	tracedat_codec_close(t);
	tracedat_pieces_free(&t->out);
	bytes_free(&t->common);
	bytes_free(&t->string_data);
	free(t->event_index);
	free(t->events);
	free(t->dynamics);
	free(t->names);
	free(t->fields);
	free(t->unknown);
	free(t->pids);
	free(t->printk);
	free(t->options);
	free(t->stats);
	free(t->sections);
	free(t->buffers);
	free(t->chunk);
	free(t->previous);
	free(t->edits);
	free(t->drops);
	tracedat_orphans_free(t);
	free(t->ids_placed);
}

static void scan_facts(struct tracedat *t)
{
	static const char *const codecs[] = { "none", "zstd", "zlib" };
	struct scan *s = t->scan;

	if (!s->facts)
		return;
	scan_fact(s, "byte order", "%s", t->big_endian ? "big-endian" : "little-endian");
	scan_fact(s, "kernel long", "%u bytes", t->long_size);
	scan_fact(s, "page size", "%u bytes", t->page_size);
	if (t->version == 7)
		scan_fact(s, "compression", "%s", codecs[t->codec]);
	scan_fact(s, "event formats", "%zu", t->event_count);
	for (size_t i = 0; i < t->buffer_count; i++) {
		const struct tracedat_buffer *b = &t->buffers[i];
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

void tracedat_walk_file(struct tracedat *t)
{
	if (!tracedat_prefix(t) || t->status != TM_OK)
		return;
	if (t->version == 6)
		tracedat_v6(t);
	else
		tracedat_v7(t);
	if (t->status != TM_OK)
		return;
	tracedat_options_judge(t);
	tracedat_place(t);
	if (t->status == TM_OK)
		tracedat_cpus(t);
}

/* Texts that could not be kept. */
static bool memory_failed(const struct tracedat *t)
{
	bool failed = t->string_data.failed || t->common.failed;
	for (size_t i = 0; i < t->buffer_count; i++)
		failed |= t->buffers[i].raw_name.failed || t->buffers[i].clock.failed;
	for (size_t i = 0; i < t->option_count; i++)
		failed |= t->options[i].changed.failed;
	return failed;
}

/* What stopped the walk, wherever it was noticed. */
static enum tracemend_status scan_status(const struct tracedat *t)
{
	if (t->status == TM_OK && memory_failed(t))
		return TM_NO_MEMORY;
	if (t->window.status != TM_OK)
		return t->window.status;
	return t->status;
}

static enum tracemend_status scan_file(struct scan *s, struct source *source)
{
	struct tracedat *t = malloc(sizeof(*t));
	enum tracemend_status status = TM_NO_MEMORY;

	if (!t)
		return TM_NO_MEMORY;
	if (tracedat_open(t, s, source))
		tracedat_walk_file(t);
	status = scan_status(t);
	s->records = t->records;
	scan_facts(t);
	if (status == TM_OK && s->outline) {
		tracedat_outline_file(t);
		status = scan_status(t);
	}
	if (status == TM_OK && s->plan)
		status = tracedat_repair(t);
	tracedat_close(t);
	free(t);
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
static bool is_raw_pages(struct window *w)
{
	struct tracedat t = { .window = *w };
	bool raw = tracedat_shape_guess(&t);
	*w = t.window; /* it may have moved */
	return raw;
}

static bool has_header(struct window *w)
{
	const uint8_t *p = window_at(w, 0, 19);
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
	struct window w;
	window_open(&w, single);
	bool raw = !has_header(&w) && is_raw_pages(&w);
	window_close(&w);
	return raw ? tracedat_restore(s) : scan_file(s, single);
}

/* Bits of the prefix that match; a damaged magic is made up for by what follows it, a lost prefix by sections or formats. */
static struct bid bid(struct bundle *b, struct window *w)
{
	struct bid none = { 0, NULL };

	if (!bundle_single(b))
		return b->directory && has_cpu_files(b) ? (struct bid){ 40, NULL } : none;
	const uint8_t *p = window_at(w, 0, 32);
	if (!p)
		p = window_at(w, 0, 12);
	if (p && !memcmp(p, "\x17\x08\x44tracing", 10))
		return (struct bid){ 80, NULL };
	if (p && !memcmp(p + 3, "tracing", 7))
		return (struct bid){ 56, NULL };
	p = window_at(w, 0, 34);
	if (p &&
	    (!memcmp(p + 18, "header_page", 12) || !memcmp(p + 18, "zstd", 5) || !memcmp(p + 18, "zlib", 5) ||
	     !memcmp(p + 18, "none\0\0", 7)) &&
	    (p[10] == '6' || p[10] == '7'))
		return (struct bid){ 40, NULL };
	struct tracedat_inferred found;
	if (tracedat_infer(w, bundle_single(b)->size, &found))
		return (struct bid){ 28, NULL };
	return is_raw_pages(w) ? (struct bid){ 8, NULL } : none;
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
