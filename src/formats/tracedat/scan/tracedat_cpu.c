/* The pages of each CPU, plain or in compressed chunks (MAN6, MAN7 "CPU DATA"), and their statistics. */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_page.h"

#include <stdlib.h>

/* The last piece of a range that is no whole page: it is completed with zeros. */
static const uint8_t *partial_page(struct tracedat_walk *w, uint64_t at, uint32_t n, uint32_t size)
{
	if (w->pages.chunk_capacity < size) {
		uint8_t *grown = realloc(w->pages.chunk, size);
		if (!grown) {
			tracedat_no_memory(w);
			return NULL;
		}
		w->pages.chunk = grown;
		w->pages.chunk_capacity = size;
	}
	const uint8_t *p = window_at(&w->window, at, n);
	if (!p)
		return NULL;
	memcpy(w->pages.chunk, p, n);
	memset(w->pages.chunk + n, 0, size - n);
	return w->pages.chunk;
}

/* Bytes are missing in the page, and nothing inside of it shows where. */
static void page_is_short(struct tracedat_walk *w, const struct tracedat_stream *stream, uint64_t at, uint64_t length)
{
	if (!w->emitting && w->s->plan && !stream->holed)
		plan_doubt(w->s->plan, w->source, at, length, "bytes of this page are missing, and nothing shows where");
}

/* Bytes were inserted in front of `at`: in a sound page that is in its last record, or behind it. */
static void last_is_longer(struct tracedat_walk *w, const struct tracedat_stream *stream, uint64_t at)
{
	if (!w->emitting && w->s->plan && stream->sound && stream->last_at < at)
		plan_doubt(w->s->plan, w->source, stream->last_at, at - stream->last_at,
			   "bytes were inserted in front of the next page, and nothing shows where");
}

static void plain_partial(struct tracedat_walk *w, struct tracedat_stream *stream, uint64_t at, uint32_t n)
{
	uint32_t size = stream->page_size, records = 0, bad = 0;
	struct tracedat_page_place where = { .offset = at, .length = n, .available = n };
	struct findings *findings = w->findings;
	const uint8_t *page = n >= tracedat_page_data(&w->shape) + 4 ? partial_page(w, at, n, size) : NULL;
	enum tracedat_verdict verdict = TRACEDAT_LEAVE;

	if (page && w->scratch) {
		/* That the page is cut is reported already. */
		w->findings = w->scratch;
		verdict = tracedat_page_check(w, stream, page, &where, &records, &bad);
		w->findings = findings;
		/* The data of another CPU, or a table, begins too early: the file is not cut there. */
		if (records && stream->cpu->clipped && !(stream->cpu->size % size) && at + n < tracedat_file_end(w))
			page_is_short(w, stream, at, n);
	}
	w->pages.records += w->emitting ? 0 : records;
	if (!w->emitting)
		return;
	static const char why[] = "completes the page that was cut";
	if (verdict == TRACEDAT_LEAVE || !records) {
		tracedat_drop(w, at, n, TRACEDAT_RULE_cpu_size_not_page_multiple,
			      "the beginning of a page without a complete record");
		w->out.lost_is = TM_UNKNOWN_COUNT;
		return;
	}
	if (verdict == TRACEDAT_KEEP)
		edits_clear(&w->pages.edits);
	/* Zeros that an edit adds at the end complete the page. */
	uint64_t before = w->out.pieces.size;
	tracedat_page_emit(w, at, n);
	if (w->out.pieces.size - before < size)
		tracedat_pieces_zeros(&w->out.pieces, size - (w->out.pieces.size - before),
				      TRACEDAT_RULE_cpu_size_not_page_multiple, why);
	tracedat_page_account(&w->out, TRACEDAT_PATCH, records, bad);
	w->out.lost_is = TM_UNKNOWN_COUNT;
}

/* Where the page that should be at `at` is, less than a page away: bytes were inserted or removed in the page before. UINT64_MAX:
 * it is there, or nowhere. */
static uint64_t page_moved(struct tracedat_walk *w, const struct tracedat_stream *stream, uint64_t at, uint64_t end)
{
	const struct tracedat_cpu *c = stream->cpu;
	uint32_t size = stream->page_size;
	const uint8_t *next = w->source->size - at >= size ? window_at(&w->window, at, size) : NULL;

	/* Of a CPU that ends inside of a page, the next one may begin too early. */
	if (next ? tracedat_page_plausible(w, next, size, NULL) || bytes_are_zero(next, size) : stream->sound || !c->clipped)
		return UINT64_MAX;
	if (end - at < size && !c->clipped)
		return UINT64_MAX;
	uint64_t high = c->limit > end ? c->limit : end;
	return tracedat_page_shifted(w, at, size, (end - at) / size, at - size + 4, high);
}

static void page_step(struct tracedat_walk *w, const struct tracedat_stream *stream, uint64_t at, uint64_t place)
{
	uint32_t size = stream->page_size;
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_cpu_offset_alignment, place, size,
					     "the pages continue at 0x%llx, expected 0x%llx: bytes were inserted or removed before",
					     (unsigned long long)place, (unsigned long long)at);
	finding_path(fd, "CPU %u > page %llu", stream->cpu->cpu, (unsigned long long)stream->index);
	stream->cpu->stepped = true;
	if (place > at) {
		tracedat_drop(w, at, place - at, TRACEDAT_RULE_cpu_offset_alignment, "bytes between two pages");
		last_is_longer(w, stream, at);
	} else {
		page_is_short(w, stream, at - size, size - (at - place));
	}
}

static void walk_plain(struct tracedat_walk *w, struct tracedat_stream *stream)
{
	struct tracedat_cpu *c = stream->cpu;
	uint32_t size = stream->page_size;

	bool first = true;
	uint64_t whole = c->from + (c->size > c->length ? c->size : c->length);
	for (uint64_t at = c->from, end = c->from + c->length; at < end && w->status == TM_OK; at += size, stream->index++) {
		uint64_t place = first ? UINT64_MAX : page_moved(w, stream, at, end);
		first = false;
		if (place != UINT64_MAX) {
			page_step(w, stream, at, place);
			/* What was removed moves the end as well, unless it was found already. */
			whole += place - at;
			end = place > at ? end + (place - at) : whole < end ? whole : end;
			if (end > c->limit && c->limit)
				end = c->limit;
			c->end = end;
			at = place;
			if (at >= end)
				break;
		}
		if (end - at < size) {
			plain_partial(w, stream, at, (uint32_t)(end - at));
			break;
		}
		const uint8_t *page = window_at(&w->window, at, size);
		struct tracedat_page_place where = { .offset = at, .length = size, .more = end - at >= 2 * (uint64_t)size };
		uint32_t records, bad;
		if (!page)
			return;
		enum tracedat_verdict verdict = tracedat_page_check(w, stream, page, &where, &records, &bad);
		if (!w->emitting) {
			w->pages.records += records;
			continue;
		}
		if (verdict == TRACEDAT_KEEP)
			tracedat_pieces_copy(&w->out.pieces, w->source, at, size);
		else if (verdict == TRACEDAT_PATCH)
			tracedat_page_emit(w, at, size);
		else
			tracedat_drop(w, at, size, TRACEDAT_RULE_page_commit_length, "a page without a readable record");
		tracedat_page_account(&w->out, verdict, records, bad);
	}
}

void tracedat_cpu_walk(struct tracedat_walk *w, struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	struct tracedat_stream stream = { .buffer = b, .cpu = c, .page_size = b->page_size };
	c->end = c->from + c->length;
	if (!w->emitting) {
		c->stat = tracedat_stat_of(&w->dir, b->name, c->cpu);
		c->read_whole = c->stat && !c->stat->read;
	}
	if (!c->length || w->status != TM_OK || w->stopped)
		return;
	if (b->compressed)
		tracedat_chunks_walk(w, &stream);
	else
		walk_plain(w, &stream);
}

/* The kernel takes the number of entries in the buffer first, and the number of read events later. In between the recorder may read
 * whole pages, whose events are in both. */
static bool stat_agrees(const struct tracedat_stat *stat, const struct tracedat_cpu *c)
{
	uint64_t records = c->records - c->repeated;
	uint64_t most = stat->entries + stat->read, least = stat->entries > stat->read ? stat->entries : stat->read;
	return records == most || (records >= least && records < most && c->read_whole);
}

/* Whether the kernel can have recorded as many events up to the time of its statistics: fewer than a hundred a microsecond. Numbers
 * that were hit may be larger. */
static bool is_possible(const struct tracedat_stat *stat, uint64_t events)
{
	return !stat->now_us || events / 100 <= stat->now_us;
}

/* Compares the kernel's statistics with the data. */
static void cpu_compare(struct tracedat_walk *w, const struct tracedat_buffer *b, struct tracedat_cpu *c)
{
	const struct tracedat_stat *stat = c->stat;
	struct finding *fd;

	if (!stat || w->stopped)
		return;
	const struct tracedat_option *o = &w->dir.options[stat->option];
	c->agrees = stat->known && stat_agrees(stat, c);
	if (stat->known && !c->agrees) {
		unsigned long long least = stat->entries > stat->read ? stat->entries : stat->read,
				   most = stat->entries + stat->read;
		c->missing = c->records - c->repeated < least && is_possible(stat, least) ? least - (c->records - c->repeated) : 0;
		fd = tracedat_block_finding(w, TRACEDAT_RULE_cpustat_event_count, o->block, o->at, o->size);
		if (least == most || stat->entries == 0 || stat->read == 0)
			finding_say(fd, "the kernel counted %llu events, the capture has %llu", most,
				    (unsigned long long)c->records);
		else
			finding_say(fd, "the kernel counted %llu to %llu events, the capture has %llu", least, most,
				    (unsigned long long)c->records);
		finding_path(fd, "%s%sCPU %u", b->name, *b->name ? " > " : "", c->cpu);
	}
	if (stat->overrun && !c->missed) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_cpustat_overrun_no_missed, o->block, o->at, o->size,
					    "CPU %u: %llu events were overwritten", c->cpu, (unsigned long long)stat->overrun);
	}
	c->late = stat->now_us && c->records && c->last_time / 1000 > stat->now_us + 1;
	if (c->late) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_cpustat_time_range, o->block, o->at, o->size,
					    "CPU %u: the last event is at %llu us, the statistics were taken at %llu us", c->cpu,
					    (unsigned long long)(c->last_time / 1000), (unsigned long long)stat->now_us);
	}
}

void tracedat_cpus_walk(struct tracedat_walk *w)
{
	w->events.trusted = !findings_errors(w->findings);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		if (b->text) {
			tracedat_latency_section(w, b);
			continue;
		}
		for (size_t j = 0; j < b->count && w->status == TM_OK; j++) {
			tracedat_cpu_walk(w, b, &b->cpus[j]);
			cpu_compare(w, b, &b->cpus[j]);
		}
	}
	if (w->data.latency && w->status == TM_OK)
		w->data.latency_stop = tracedat_latency_text(w, w->data.latency_at, w->source->size);
}
