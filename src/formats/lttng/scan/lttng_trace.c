/* One trace: from its names to its last event. */
#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"
#include "formats/lttng/repair/lttng_repair.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* ---- channels without declarations ---- */

static bool is_walked(const struct lttng_file *f)
{
	return f->channel && !f->aside && !f->empty;
}

static bool has_events(struct lttng_trace *t, struct lttng_file *f)
{
	struct lttng_frame frame;
	struct lttng_header h;
	for (uint64_t at = 0; lttng_frame_at(t, f, at, &frame); at = frame.offset + frame.length)
		if (!lttng_header_at(t, f, at, &h) ||
		    lttng_header_data_end(t->coding.layout, &h, frame.length) != t->coding.layout->size)
			return true;
	return false;
}

/* 2.3 and later: nothing of a channel can be read of which no type is known. */
static void judge_declared(struct lttng_trace *t, struct lttng_file *f)
{
	if (t->coding.layout->era != LTTNG_CHANNEL_MARKERS || f->channel->declared || f->channel->table || !has_events(t, f))
		return;
	if (t->declared.broken)
		finding_explains(t->declared.broken, 1);
	lttng_file_aside(f, LTTNG_RULE_undeclared_channel, lttng_loss_why(LTTNG_RULE_undeclared_channel, f->channel->unsearched));
}

static bool any_declared(const struct lttng_trace *t, const struct lttng_channel *c)
{
	const struct lttng_table *table = t->declared.table;
	if (t->coding.layout->era == LTTNG_CHANNEL_MARKERS)
		return c->declared;
	for (uint32_t id = 0; id <= table->types.highest; id++) {
		const struct lttng_marker *m = lttng_table_get(table, id);
		if (m && m->type.declared)
			return true;
	}
	return false;
}

/* A channel with events and no declared type: a file of declarations, or its last blocks, are missing as a whole, and nothing else
 * tells of it. */
static void judge_undeclared(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->files.count && !t->declared.broken && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (!is_walked(f) || f->metadata || any_declared(t, f->channel) || !has_events(t, f))
			continue;
		t->declared.broken = finding_report(t->s->findings, LTTNG_RULE_undeclared_channel, f->source, 0, f->source->size,
						    "no event type of channel %s is declared", f->channel->name);
		t->declared.lost = true;
	}
}

/* ---- the walk ---- */

static void scan_files(struct lttng_trace *t, bool metadata)
{
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (!is_walked(f) || f->metadata != metadata)
			continue;
		if (t->coding.layout->era != LTTNG_CHANNEL_MARKERS)
			f->channel->table = t->declared.table;
		if (!f->metadata)
			judge_declared(t, f);
		if (!f->aside)
			lttng_file_scan(t, f);
	}
}

static void look_at_xml(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		const struct lttng_file *f = &t->files.list[i];
		if (!f->channel && f->base && (!strcmp(f->base, "system.xml") || !strncmp(f->base, "bookmarks", 9)))
			lttng_info_report(t, f->source);
	}
}

/* Gives the files of layout `was` the trace's. False: t->status. */
static bool relay(struct lttng_trace *t, const struct lttng_layout *was)
{
	for (size_t i = 0; i < t->files.count; i++)
		if (t->files.list[i].layout == was && !lttng_file_load(t, &t->files.list[i]))
			return false;
	return true;
}

/* 1.0 as the document says it: only the first event shows which of the two layouts it is. */
static void judge_literal(struct lttng_trace *t)
{
	const struct lttng_layout *was = t->coding.layout;
	const enum lttng_fit fit = was->major == 1 && !was->literal ? lttng_census_fit(t) : LTTNG_FITS;
	if (fit == LTTNG_FITS)
		return;
	struct lttng_header want = t->constants.want;
	t->coding.layout++;
	if (!relay(t, was))
		return;
	for (size_t i = 0; i < t->files.count; i++)
		if (t->files.list[i].layout == t->coding.layout) {
			t->constants.want.v[LF_SEC] = t->files.list[i].first.v[LF_SEC];
			t->constants.want.v[LF_SUBSEC] = t->files.list[i].first.v[LF_SUBSEC];
		}
	if (lttng_census_fit(t) > fit) {
		/* The headers were compared by the other layout. */
		t->constants.doubted = NULL;
		finding_report(t->s->findings, LTTNG_RULE_seed_literal_start_time, NULL, 0, 0,
			       "events follow a header of 101 bytes, as the document says; tracers wrote 109");
		return;
	}
	const struct lttng_layout *literal = t->coding.layout;
	t->coding.layout = was;
	t->constants.want = want;
	for (size_t i = 0; i < t->files.count; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->layout == literal && f->source->size < was->size)
			f->layout = NULL;
	}
	(void)relay(t, literal);
}

static void trace_facts(struct lttng_trace *t)
{
	struct scan *s = t->s;
	unsigned long long blocks = 0, files = 0;
	int64_t cpus = -1;
	for (size_t i = 0; i < t->files.count; i++) {
		const struct lttng_file *f = &t->files.list[i];
		if (!f->channel)
			continue;
		files++;
		blocks += f->blocks;
		cpus = f->cpu > cpus && !f->aside ? f->cpu : cpus;
	}
	scan_fact(s, "version", "%s%s", t->coding.layout->name, t->coding.layout->literal ? " (literal)" : "");
	scan_fact(s, "byte order", "%s", t->coding.big_endian ? "big-endian" : "little-endian");
	scan_fact(s, "pointer size", "%u", t->coding.arch);
	scan_fact(s, "alignment", "%u", t->coding.alignment);
	scan_fact(s, "files", "%llu", files);
	scan_fact(s, "cpus", "%lld", (long long)cpus + 1);
	scan_fact(s, "blocks", "%llu", blocks);
	scan_fact(s, "events", "%llu", (unsigned long long)t->totals.records);
	scan_fact(s, "events lost", "%llu", (unsigned long long)t->totals.lost_events);
	scan_fact(s, "start time", "%llu.%0*llu s", (unsigned long long)t->constants.want.v[LF_SEC],
		  t->coding.layout->nanoseconds ? 9 : 6, (unsigned long long)t->constants.want.v[LF_SUBSEC]);
	scan_fact_name(s, "start time");
	scan_fact_number(s, "seconds", t->constants.want.v[LF_SEC]);
	scan_fact_number(s, t->coding.layout->nanoseconds ? "ns" : "us", t->constants.want.v[LF_SUBSEC]);
	double freq = lttng_frequency(t->coding.layout, &t->constants.want);
	scan_fact(s, "clock", "%.0f Hz", freq);
	if (t->totals.last_stamp > t->constants.begin && freq > 0) {
		scan_fact(s, "duration", "%.9f s", (double)(t->totals.last_stamp - t->constants.begin) / freq);
		scan_fact_name(s, "duration");
		scan_fact_number(s, "ticks", t->totals.last_stamp - t->constants.begin);
	}
	for (const struct lttng_channel *c = t->declared.channels; c; c = c->hh.next) {
		char counted[TEXT_COUNT_SIZE];
		uint64_t events = 0;
		for (size_t i = 0; i < t->files.count && c->has_file; i++)
			events += t->files.list[i].channel == c ? t->files.list[i].events : 0;
		if (!c->has_file || !s->facts)
			continue;
		scan_fact(s, "channel", "%s: %s", c->name, text_count(counted, events, "event"));
		scan_fact_name(s, "channel");
		scan_fact_text(s, "name", c->name);
		scan_fact_number(s, "events", events);
	}
}

/* Where declarations give no sizes, or impossible ones, those of the machine hold. */
static void choose_sizes(struct lttng_trace *t)
{
	struct lttng_coding *c = &t->coding;
	struct lttng_sizes *sizes = &c->sizes;
	struct lttng_sizes machine = { { 4, c->arch, c->arch, c->arch, (uint8_t)t->constants.want.v[LF_ALIGNMENT] } };

	if (!t->declared.sizes_known || sizes->v[SIZE_INT] != 4 || sizes->v[SIZE_POINTER] != c->arch ||
	    (sizes->v[SIZE_LONG] != 4 && sizes->v[SIZE_LONG] != 8) || (sizes->v[SIZE_SIZE_T] != 4 && sizes->v[SIZE_SIZE_T] != 8))
		*sizes = machine;
	/* In 0.x it is a flag or a value. */
	if (c->layout->era != LTTNG_FACILITIES || !sizes->v[SIZE_ALIGNMENT] != !machine.v[SIZE_ALIGNMENT])
		sizes->v[SIZE_ALIGNMENT] = machine.v[SIZE_ALIGNMENT];
}

static void judge_identities(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++)
		if (t->files.list[i].channel && !t->files.list[i].aside)
			lttng_identity_judge(t, &t->files.list[i]);
}

static void trace_walk(struct lttng_trace *t)
{
	t->coding.compact_facility = UINT32_MAX;
	lttng_constants_apply(t);
	judge_identities(t);
	/* Twice: what one file shows of the channel's blocks helps the others. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++)
			if (is_walked(&t->files.list[i]) && !t->files.list[i].block_size)
				lttng_frame_open(t, &t->files.list[i]);
	lttng_dir_judge(t);
	if (t->status != TM_OK || !lttng_table_core(t))
		return;
	judge_literal(t);
	lttng_census(t);
	if (t->status != TM_OK)
		return;
	lttng_constants_judge(t);
	/* Where headers are was asked before that; what is one is known only now. */
	for (size_t i = 0; i < t->files.count; i++)
		t->files.list[i].resync = 0;
	choose_sizes(t);
	scan_files(t, true);
	if (t->status == TM_OK && t->coding.layout->era >= LTTNG_TRACE_MARKERS)
		judge_undeclared(t);
	if (t->status == TM_OK && !lttng_infer(t) && t->declared.absent)
		lttng_dir_aside(t, LTTNG_RULE_no_metadata_file);
	scan_files(t, false);
	if (t->status == TM_OK)
		lttng_metadata_unused(t);
	look_at_xml(t);
}

enum tracemend_status lttng_trace_scan(struct lttng_trace *t)
{
	struct scan *s = t->s;
	bool any = false;

	t->edits = calloc(1, sizeof(*t->edits));
	if (!t->edits) {
		(void)lttng_no_memory(t);
		return t->status;
	}
	/* Damage to names and descriptions is no error of a tracefile. */
	if (s->plan)
		plan_keep_doubts(s->plan);
	lttng_dir_collect(t);
	for (size_t i = 0; i < t->files.count; i++) {
		t->files.list[i].serial = (uint32_t)i + 1;
		any |= t->files.list[i].channel != NULL;
	}
	if (t->status == TM_OK && any) {
		window_open(&t->window, t->files.list[0].source);
		lttng_vote(t);
	}
	const struct lttng_layout *l = t->coding.layout;
	if (s->plan && t->status == TM_OK && l && lttng_repair_refuses(t))
		return t->status;
	if (t->status == TM_OK && l) {
		if (!*s->version)
			(void)snprintf(s->version, sizeof(s->version), "%s", l->name);
		trace_walk(t);
		if (t->status == TM_OK && s->facts)
			trace_facts(t);
	} else if (t->status == TM_OK && any) {
		judge_identities(t);
	} else if (t->status == TM_OK) {
		finding_report(s->findings, LTTNG_RULE_trace_dir_missing, NULL, 0, 0, "no file has the name of a tracefile");
	}
	s->records += t->totals.records;
	if (t->status == TM_OK && s->plan) {
		lttng_repair_rest(t);
		/* Errors, and no event to keep, or no declaration by which to read it: there is nothing to salvage. */
		if (t->status == TM_OK && (!l || (t->declared.lost && !(t->out.kept && t->declared.kept))))
			t->status = TM_NOTHING;
	}
	return t->status;
}

void lttng_trace_free(struct lttng_trace *t)
{
	lttng_declarations_free(t);
	free(t->parts);
	lttng_seen_free(t);
	lttng_fast_free(t->fast);
	if (t->edits)
		edits_free(&t->edits->edits);
	if (t->edits)
		free(t->edits->guesses);
	free(t->edits);
	if (t->window.source)
		window_close(&t->window);
	free(t->files.list);
}
