/* Whether the files of a killed recorder are one recording, and whether the metadata at hand is theirs. */
#include "formats/tracedat/repair/tracedat_restore.h"
#include "formats/tracedat/scan/tracedat_place.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a thousand records, how many may have an unknown event or another size; with more the donor does not fit. */
#define MISFIT_MAX 10u

void tracedat_restore_say(struct tracedat_restore *r, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(r->scan->incomplete, sizeof(r->scan->incomplete), format, arguments);
	va_end(arguments);
}

/* ---- one recording or several ---- */

static const struct tracedat_piece_file *file_of_cpu(const struct tracedat_restore *r, uint32_t cpu, size_t *from)
{
	for (size_t i = *from; i < r->count; i++)
		if (r->files[i].cpu == cpu) {
			*from = i + 1;
			return &r->files[i];
		}
	return NULL;
}

/* Whether an event of that time is in the first page of the file. */
static bool file_begins_at(const struct tracedat_piece_file *f, const struct tracedat_shape *shape, uint64_t time)
{
	uint8_t word[8];
	if (source_read(f->source, 0, word, 8) != TM_OK || load_u64(word, shape->big_endian) > time)
		return false;
	return f->source->size < shape->page_size + UINT64_C(8) || source_read(f->source, shape->page_size, word, 8) != TM_OK ||
	       load_u64(word, shape->big_endian) >= time;
}

/* trace-cmd copies the files of the CPUs into the trace.dat when the recording ends: what it has copied already begins as they do.
 */
static bool has_own_events(const struct tracedat_restore *r, const struct tracedat_walk *w)
{
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			const struct tracedat_piece_file *f;
			size_t from = 0;
			bool copied = !c->records;
			while (!copied && (f = file_of_cpu(r, c->cpu, &from)))
				copied = f->source->size > 16 && file_begins_at(f, &w->shape, c->first_time);
			if (!copied)
				return true;
		}
	return w->data.latency && w->pages.lines;
}

/* Whether the trace.dat beside the files has events that are not theirs. */
static bool main_is_another(const struct tracedat_restore *r, struct bundle *b)
{
	struct tracemend_options quiet = { .max_findings = 1 };
	struct scan scan = { .in = b, .findings = findings_new(tracedat_rules, TRACEDAT_RULE_COUNT, &quiet) };
	struct tracedat_walk *w = calloc(1, sizeof(*w));
	bool own = false;

	if (w && scan.findings) {
		if (tracedat_open(w, &scan, r->main)) {
			w->findings = w->scratch;
			tracedat_walk_file(w);
			own = has_own_events(r, w);
		}
		tracedat_close(w);
	}
	findings_free(scan.findings);
	free(w);
	return own;
}

const char *tracedat_restore_several(const struct tracedat_restore *r, struct bundle *b)
{
	const struct tracedat_piece_file *first = r->files;

	/* The files of an instance are NAME.INSTANCE.cpuN; files that are named with --extra are taken as they are. */
	for (size_t i = 1; i < r->count && b->directory; i++)
		if (memcmp(r->files[i].name, first->name, first->stem) != 0 || r->files[i].name[first->stem] != '.')
			return "has the .cpuN files of several recordings: give each a folder of its own";
	if (r->main && r->count && main_is_another(r, b))
		return "has a trace.dat with events of its own, and the .cpuN files of another recording: give each a folder of "
		       "its own";
	return NULL;
}

void tracedat_restore_gaps(const struct tracedat_restore *r, char *text, size_t size)
{
	uint32_t expected = 0, first = 0;
	size_t missing = 0, empty = 0;
	char cpus[60] = "";

	for (size_t i = 0; i < r->count; i++) {
		const struct tracedat_piece_file *f = &r->files[i];
		empty += !f->source->size;
		if (f->stem != r->files[0].stem || !f->named || f->cpu < expected)
			continue;
		if (f->cpu > expected && !missing)
			first = expected;
		missing += f->cpu - expected;
		expected = f->cpu + 1;
	}
	if (missing > 1)
		(void)snprintf(cpus, sizeof(cpus), "%zu CPUs, the first CPU %u", missing, first);
	else
		(void)snprintf(cpus, sizeof(cpus), "CPU %u", first);
	(void)snprintf(text, size, "%s%s", missing ? "; there is no file of " : "", missing ? cpus : "");
	size_t used = strlen(text);
	if (empty)
		(void)snprintf(text + used, size - used, "; %zu of the files %s empty", empty, empty == 1 ? "is" : "are");
}

/* ---- does the metadata fit? ---- */

uint64_t tracedat_restore_count(const struct tracedat_restore *r, struct tracedat_walk *w)
{
	uint64_t total = 0;
	for (size_t i = 0; i < r->count && w->status == TM_OK; i++) {
		struct source *from_source = r->files[i].source;
		w->source = from_source;
		window_reset(&w->window, from_source);
		if (!w->shape.page_size)
			(void)tracedat_shape_infer(&w->window, &w->shape);
		for (uint64_t at = 0; w->shape.page_size && from_source->size - at >= w->shape.page_size;
		     at += w->shape.page_size) {
			uint32_t records = 0;
			const uint8_t *p = window_at(&w->window, at, w->shape.page_size);
			if (!p)
				return total;
			if (!tracedat_page_sound(&w->shape, NULL, p, w->shape.page_size, &records))
				continue;
			total += records;
			if (r->scan->sink)
				tracedat_blind_give(w, r->files[i].cpu, at, records);
		}
	}
	return total;
}

/* Records of an event without a format; the ID that most of them have. */
static uint64_t unknown_records(const struct tracedat_walk *w, uint32_t *worst)
{
	uint64_t n = 0, most = 0;
	for (uint32_t id = 0; w->events.unknown && id < 65536; id++) {
		n += w->events.unknown[id].records;
		if (w->events.unknown[id].records > most) {
			most = w->events.unknown[id].records;
			*worst = id;
		}
	}
	return n;
}

/* The shape of the first page of all files. */
static bool files_shape(const struct tracedat_restore *r, struct tracedat_shape *shape)
{
	for (size_t i = 0; i < r->count; i++) {
		struct window window;
		window_open(&window, r->files[i].source);
		bool found = tracedat_shape_infer(&window, shape);
		window_close(&window);
		if (found)
			return true;
	}
	return false;
}

static const char *order_name(const struct tracedat_shape *shape)
{
	return shape->big_endian ? "big-endian" : "little-endian";
}

bool tracedat_restore_fits(struct tracedat_restore *r, uint64_t bad)
{
	struct tracedat_walk *w = r->w;
	struct tracedat_shape own = { 0 }, theirs = w->shape;
	const char *whose = r->metadata == r->main ? "the unfinished trace.dat" : "the donor";
	uint32_t worst = 0;
	uint64_t misfits = unknown_records(w, &worst) + bad;
	uint64_t good = w->pages.records > misfits ? w->pages.records - misfits : 0;

	if (!files_shape(r, &own)) {
		if (good)
			return true; /* the first pages are damaged */
		tracedat_restore_say(r, "no page of the .cpuN files can be read");
		return false;
	}
	bool machine = own.big_endian != theirs.big_endian || own.long_size != theirs.long_size;
	/* A large page with little in it looks like a smaller one. */
	if (machine || (!good && own.page_size != theirs.page_size)) {
		tracedat_restore_say(r,
				     "%s is of another machine: %s, longs of %u bytes, pages of %u; the .cpuN files: %s, %u bytes, "
				     "pages of %u",
				     whose, order_name(&theirs), theirs.long_size, theirs.page_size, order_name(&own),
				     own.long_size, own.page_size);
		return false;
	}
	struct sink *sink = r->scan->sink;
	r->scan->sink = NULL;
	uint64_t all = tracedat_restore_count(r, w);
	r->scan->sink = sink;
	if (misfits <= w->pages.records / 1000 * MISFIT_MAX + 1 && good >= all / 2)
		return true;
	tracedat_restore_say(r, "%s does not fit: %llu of %llu records can be decoded with it%s", whose, (unsigned long long)good,
			     (unsigned long long)(all > good ? all : w->pages.records),
			     r->metadata == r->main ? "; give a capture of the same kernel with --donor" : "");
	if (worst) {
		size_t used = strlen(r->scan->incomplete);
		(void)snprintf(r->scan->incomplete + used, sizeof(r->scan->incomplete) - used, "; event ID %u has no format",
			       worst);
	}
	return false;
}
