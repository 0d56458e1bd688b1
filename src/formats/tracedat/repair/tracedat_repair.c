/* The repaired file: the blocks as the scan noted them, in the order of the input. Sizes, offsets and counts are recomputed;
 * where they are unchanged, the bytes are copies. */
#include "formats/tracedat/repair/tracedat_repair.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"

#include <stdlib.h>

/* Statistics among which the one that fits is looked for. */
#define STATS_MAX 4096u

/* Whether the number of events shows that data without a table is that of this CPU. */
static bool is_verified(const struct tracedat_walk *w, const struct tracedat_cpu *c)
{
	const struct tracedat_stat *own = c->stat;
	if (!own || !own->known || !c->records || !c->agrees || w->dir.stat_count > STATS_MAX)
		return false;
	for (size_t i = 0; i < w->dir.stat_count; i++) {
		const struct tracedat_stat *other = &w->dir.stats[i];
		if (other != own && (!other->known || other->entries + other->read == c->records))
			return false;
	}
	return true;
}

/* Whether tables or options say wrongly where data is, so that data may be given to the wrong CPU or buffer. */
static bool places_damaged(const struct tracedat_walk *w)
{
	return w->data.errors || w->data.tables_cut ||
	       TRACEDAT_ANY(w, TRACEDAT_RULE_cpu_range_eof, TRACEDAT_RULE_cpu_range_wrap, TRACEDAT_RULE_cpu_range_in_header,
			    TRACEDAT_RULE_cpu_range_overlap, TRACEDAT_RULE_cpu_offset_alignment, TRACEDAT_RULE_cpu_count_range,
			    TRACEDAT_RULE_data_unreferenced, TRACEDAT_RULE_v6_buffer_offset, TRACEDAT_RULE_v7_buffer_layout,
			    TRACEDAT_RULE_v7_buffer_section, TRACEDAT_RULE_v7_buffer_missing, TRACEDAT_RULE_v7_buffer_cpu_id,
			    TRACEDAT_RULE_v7_buffer_cpu_outside_section, TRACEDAT_RULE_data_tag_invalid, TRACEDAT_RULE_option_size,
			    TRACEDAT_RULE_option_missing_done, TRACEDAT_RULE_v7_chunk_count);
}

/* Whether data without a table was found for each CPU of the only buffer, so that the order alone says whose it is: a part
 * of it is in no order. */
static bool all_found(const struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	if (w->shape.version != 6 || w->data.buffer_count != 1 || b->count != w->data.cpu_count ||
	    TRACEDAT_ANY(w, TRACEDAT_RULE_cpu_count_range))
		return false;
	for (size_t i = 0; i < w->dir.option_count; i++)
		if (w->dir.options[i].id == TRACEDAT_BUFFER)
			return false;
	for (size_t i = 0; i < b->count; i++)
		if (tracedat_cpu_contradicted(&b->cpus[i]) || !b->cpus[i].found || !b->cpus[i].length || b->cpus[i].cpu != i ||
		    (i && b->cpus[i].from < b->cpus[i - 1].from))
			return false;
	return true;
}

/* Where the data of the first CPU begins that has a page twice, and there are pages that no table names: data behind it is not
 * where tables say. */
static uint64_t page_inserted(const struct tracedat_walk *w)
{
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < w->data.buffer_count && TRACEDAT_ANY(w, TRACEDAT_RULE_data_unreferenced); i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			first = c->repeated && c->from < first ? c->from : first;
		}
	return first;
}

/* Whether data was found where the table has that of another CPU, and its events are not those that the kernel counted: it may be
 * of that CPU, whatever else was hit. */
static bool is_another(const struct tracedat_buffer *b, const struct tracedat_cpu *c)
{
	if (!c->sought || !c->length || !c->stat || !c->stat->known || c->agrees)
		return false;
	for (size_t i = 0; i < b->count; i++) {
		const struct tracedat_cpu *other = &b->cpus[i];
		if (other != c && c->from >= other->offset && c->from - other->offset < other->size)
			return true;
	}
	return false;
}

/* Data that is listed as doubtful. Returns whether some is lost without being counted; *missing: events that the kernel counted and
 * that are not there. */
static bool account_cpus(struct tracedat_walk *w, uint64_t *missing)
{
	struct plan *plan = w->s->plan;
	bool unknown = false, damaged = places_damaged(w);
	uint64_t inserted = page_inserted(w);

	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			if (w->data.buffers[i].name_doubtful && c->length)
				plan_doubt(plan, w->source, c->from, c->end > c->from ? c->end - c->from : c->length,
					   "the name of this instance is a guess, or was hit");
			if (c->found && !is_verified(w, c) && !all_found(w, &w->data.buffers[i]))
				plan_doubt(plan, w->source, c->from, c->length,
					   plan_why(plan, "no table names this data; CPU %u is inferred", c->cpu));
			/* A page twice, bytes between pages, or records that were hit: why the number of events is another, and
			 * other data elsewhere. */
			else if (!c->found && !c->stepped && !c->repeated && damaged && c->length && tracedat_cpu_contradicted(c))
				plan_doubt(plan, w->source, c->from, c->end > c->from ? c->end - c->from : c->length,
					   "tables are damaged, and the kernel counted another number of events of this CPU");
			else if (is_another(&w->data.buffers[i], c))
				plan_doubt(plan, w->source, c->from, c->end > c->from ? c->end - c->from : c->length,
					   "the table has the data of another CPU here, and the kernel counted another number of "
					   "events");
			else if (c->length && c->from > inserted)
				plan_doubt(plan, w->source, c->from, c->length,
					   "a page is there twice in front of this data, which no table says: it may be that of "
					   "another CPU");
			if (c->stat && c->stat->known && !c->agrees) {
				const struct tracedat_option *o = &w->dir.options[c->stat->option];
				plan_doubt(plan, w->source, o->block->compressed ? o->block->offset : o->block->offset + o->at,
					   o->block->compressed ? o->block->stored : o->size,
					   c->missing ? "by these statistics there were more events than there are"
						      : "by these statistics there were fewer events than there are");
			}
			*missing += c->missing;
			unknown |= c->lost || c->clipped || c->fewer;
		}
	return unknown;
}

static bool account_sections(struct tracedat_walk *w)
{
	struct plan *plan = w->s->plan;
	bool unknown = false;

	for (size_t i = 0; i < w->dir.section_count; i++) {
		const struct tracedat_section *section = &w->dir.sections[i];
		bool text_cut = section->id == TRACEDAT_BUFFER_TEXT && section->size_bad;
		unknown |= section->lost || section->damage || text_cut;
		if (text_cut)
			plan_doubt(plan, w->source, section->offset, TRACEDAT_SECTION_SIZE + section->size,
				   "bytes were inserted into or removed from this text at an unknown offset");
		if (section->damage)
			plan_doubt(plan, w->source, section->offset, TRACEDAT_SECTION_SIZE + section->size,
				   "decompressed up to the first detected damage, which may begin earlier");
	}
	/* A section that an option names and that is missing had content. */
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (!o->dropped || o->rule == TRACEDAT_RULE_v7_buffer_section) /* named twice */
			continue;
		unknown |= (o->id >= TRACEDAT_HEADER_INFO && o->id <= TRACEDAT_CMDLINES) || o->id == TRACEDAT_BUFFER ||
			   o->id == TRACEDAT_BUFFER_TEXT;
		w->out.lost_other |= o->size > 0;
	}
	return unknown;
}

/* Whether anything but the end of the options was not reported because it follows from another finding. */
static bool any_follows(const struct tracedat_walk *w)
{
	bool any = false;
	for (unsigned rule = 0; rule < TRACEDAT_RULE_COUNT; rule++)
		any |= w->follows[rule] && rule != TRACEDAT_RULE_v7_done_target;
	return any;
}

static void account(struct tracedat_walk *w)
{
	struct plan *plan = w->s->plan;
	uint64_t missing = 0;
	/* A truncated file or invalid tables: the number of lost records is unknown. */
	bool unknown = w->out.lost_is == TM_UNKNOWN_COUNT || w->data.errors ||
		       TRACEDAT_ANY(w, TRACEDAT_RULE_truncated_file, TRACEDAT_RULE_data_unreferenced,
				    TRACEDAT_RULE_data_tag_invalid, TRACEDAT_RULE_v6_buffer_offset);
	/* A section with a wrong size may be complete. If there are other errors, its size may have been correct. */
	uint64_t resized = findings_count(w->findings, TRACEDAT_RULE_v7_section_size);
	unknown |= resized && (any_follows(w) ||
			       findings_errors(w->findings) > resized + findings_count(w->findings, TRACEDAT_RULE_v7_done_target));
	unknown |= account_cpus(w, &missing);
	if (!w->shape.old_ring)
		tracedat_displaced_doubt(w);
	unknown |= account_sections(w);
	if (w->prefix.torn)
		plan_doubt(plan, w->source, 0, w->source->size,
			   "another trace.dat begins inside of the initial block: nothing else is left of the one that began here");
	if (w->prefix.lost)
		plan_doubt(plan, w->source, 0, w->prefix.end,
			   plan_why(plan, "inferred from the content: version %u, %s, longs of %u bytes, pages of %u",
				    w->shape.version, w->shape.big_endian ? "big-endian" : "little-endian", w->shape.long_size,
				    w->shape.page_size));
	plan_kept(plan, w->out.kept + w->pages.lines);
	/* The kernel's statistics may know of more than was seen to be lost, unless it may be with another CPU or buffer. */
	bool elsewhere = w->dir.chain_cut || TRACEDAT_ANY(w, TRACEDAT_RULE_data_tag_invalid, TRACEDAT_RULE_v6_buffer_offset,
							  TRACEDAT_RULE_v7_buffer_layout, TRACEDAT_RULE_v7_buffer_section,
							  TRACEDAT_RULE_v7_buffer_missing, TRACEDAT_RULE_v7_buffer_cpu_id);
	if (missing > w->out.lost && findings_errors(w->findings) && !elsewhere)
		plan_lost(plan, missing, TM_AT_LEAST);
	else
		plan_lost(plan, w->out.lost, unknown || (elsewhere && missing) ? TM_UNKNOWN_COUNT : w->out.lost_is);
	/* Of what is doubtful nobody knows whether it is what was recorded. */
	if (w->out.lost_other || plan_doubtful_count(plan))
		plan_lost_other(plan);
}

/* Carved data may belong to more CPUs than the option states. */
static void cpucount_correct(struct tracedat_walk *w)
{
	uint32_t wanted = tracedat_table_entries(&w->data);
	for (size_t i = 0; i < w->dir.option_count; i++) {
		struct tracedat_option *o = &w->dir.options[i];
		if (o->id != TRACEDAT_CPUCOUNT || o->dropped)
			continue;
		const uint8_t *p = o->changed.size == 4 ? o->changed.data : o->block->data + o->at;
		uint32_t value = o->changed.size == 4 || o->size == 4 ? load_u32(p, w->shape.big_endian) : 0;
		if (w->shape.version == 6 ? value == wanted : value >= wanted && value <= TRACEDAT_CPUS_MAX)
			continue;
		o->changed.size = 0;
		o->changed.big_endian = w->shape.big_endian;
		bytes_u32(&o->changed, wanted);
		o->rule = TRACEDAT_RULE_option_cpucount_value;
		o->why = "the number of CPUs that fits the data";
		if (o->changed.failed)
			tracedat_no_memory(w);
	}
}

enum tracemend_status tracedat_repair(struct tracedat_walk *w)
{
	plan_keep_doubts(w->s->plan);
	if (!w->shape.version || (!w->pages.records && !w->meta.seen[2] && !w->data.latency))
		return findings_errors(w->findings) ? TM_NOTHING : TM_OK;
	if (w->stopped)
		return TM_NOTHING;
	tracedat_metadata_doubt(w);
	tracedat_foreign_doubt(w);
	if (!tracedat_metadata_finish(w))
		return w->status;
	if (!w->data.latency)
		cpucount_correct(w);
	if (w->status != TM_OK)
		return w->status;
	if (w->shape.version == 6)
		tracedat_compose_v6(w);
	else
		tracedat_compose_v7(w);
	account(w);
	return tracedat_output_plan(w);
}
