/* References to indexes that are not registered: #string-references, #thread-references. */
#include "formats/fxt/scan/fxt_missing.h"

#include <stdio.h>

#include "core/array.h"

uint32_t fxt_missing_add(struct fxt_registry *reg, const struct fxt_record *r, bool thread, uint16_t index, uint64_t field)
{
	struct fxt_position *here = &reg->report->here;

	if (reg->missing_count == FXT_DANGLING_MAX) {
		reg->missing[reg->missing_count - 1].count++;
		return (uint32_t)reg->missing_count - 1;
	}
	if (array_room(&reg->missing, &reg->missing_capacity, reg->missing_count, sizeof(*reg->missing), FXT_DANGLING_MAX) !=
	    TM_OK) {
		fxt_report_no_memory(reg->report);
		return UINT32_MAX;
	}
	reg->missing[reg->missing_count] = (struct fxt_missing){
		.provider = reg->provider,
		.index = index,
		.thread = thread,
		.type = r->type,
		.subtype = r->subtype,
		.elsewhere = thread ? reg->anywhere_threads[index] : reg->anywhere_strings[index],
		.record = here->records,
		.offset = here->at,
		.length = r->words * FXT_WORD,
		.field = here->at + field,
		.count = 1,
		.cause = reg->report->damage,
		.nobody = reg->provider->cause,
		.no_magic = !reg->report->magic_seen,
		.before = here->records ? fxt_position_recent(here, FXT_RECENT) : here->at,
	};
	return (uint32_t)reg->missing_count++;
}

static const char *role_name(const struct fxt_missing *m)
{
	static const char *const names[] = { "reference", "category", "name", "argument name", "argument value" };
	return m->thread ? "thread" : names[m->role];
}

/* The finding that explains it; NULL: none. */
static struct finding *missing_cause(const struct fxt_registry *reg, const struct fxt_missing *m)
{
	if (m->cause)
		return m->cause;
	if (m->elsewhere && m->nobody)
		return m->nobody;
	return m->no_magic ? reg->report->no_magic : NULL;
}

/* Indexes so near each other are lost together, where none between them is registered: writers count them up. */
#define NEIGHBOURS 8u

/* The neighbour of the index in the direction of `step` that is missing as it is; NULL: none. */
static struct fxt_missing *missing_neighbour(const struct fxt_registry *reg, const struct fxt_missing *m, int step)
{
	const struct fxt_tables *t = m->provider->tables;
	const uint32_t last = m->thread ? FXT_THREAD_INDEX_MAX : FXT_STRING_INDEX_MAX;

	/* Below 0, the index is beyond the last one. */
	for (uint32_t index = m->index + (uint32_t)step, i = 0; i < NEIGHBOURS && index && index <= last;
	     index += (uint32_t)step, i++) {
		const struct fxt_entry e = fxt_entry_of(t, m->thread, index);
		if (e.state & FXT_REGISTERED)
			return NULL;
		if (!(e.state & FXT_DANGLING))
			continue;
		struct fxt_missing *n = &reg->missing[e.missing];
		const bool same = n->provider == m->provider && n->index == index && !n->reported && !n->forward &&
				  n->elsewhere == m->elsewhere;
		return same && !missing_cause(reg, n) ? n : NULL;
	}
	return NULL;
}

/* Indexes that one finding reports: those of an entry and of its neighbours. */
struct missing_run {
	unsigned low, high, count;
	uint64_t uses;
};

static struct missing_run missing_run_take(struct fxt_registry *reg, struct fxt_missing *m)
{
	struct missing_run run = { m->index, m->index, 1, m->count };

	m->reported = true;
	for (int step = -1; !m->forward && step <= 1; step += 2)
		for (struct fxt_missing *n = m; (n = missing_neighbour(reg, n, step)) != NULL;) {
			n->reported = true;
			run.low = step < 0 ? n->index : run.low;
			run.high = step > 0 ? n->index : run.high;
			run.count++;
			run.uses += n->count;
		}
	return run;
}

static void missing_say(struct finding *fd, const struct fxt_missing *m, const struct missing_run *run)
{
	const char *kind = m->thread ? "thread" : "string", *many = run->count > 1 ? "are" : "is";
	const int digits = m->thread ? 2 : 4;
	char indexes[80];

	if (run->count > 1)
		snprintf(indexes, sizeof(indexes), "%u %s indexes from 0x%0*x to 0x%0*x", run->count, kind, digits, run->low,
			 digits, run->high);
	else
		snprintf(indexes, sizeof(indexes), "%s index 0x%0*x", kind, digits, run->low);
	if (m->forward)
		finding_say(fd, "%s is used before its registration", indexes);
	else if (m->elsewhere)
		finding_say(fd, "%s %s registered by another provider only", indexes, many);
	else
		finding_say(fd, "%s %s not registered", indexes, many);
}

static void missing_report(struct fxt_registry *reg, struct fxt_missing *m)
{
	static const uint8_t rules[2][3] = {
		{ FXT_RULE_dangling_string_ref, FXT_RULE_forward_string_ref, FXT_RULE_cross_provider_string_ref },
		{ FXT_RULE_dangling_thread_ref, FXT_RULE_forward_thread_ref, FXT_RULE_cross_provider_thread_ref },
	};

	m->cause = missing_cause(reg, m);
	if (m->cause) {
		m->reported = true;
		finding_explains(m->cause, m->count);
		return;
	}
	const struct missing_run run = missing_run_take(reg, m);
	struct finding *fd = finding_new(reg->report->s->findings,
					 rules[m->thread][m->forward	 ? 1
							  : m->elsewhere ? 2
									 : 0],
					 reg->report->source, m->offset, m->length);
	if (!finding_kept(fd))
		return;
	missing_say(fd, m, &run);
	struct fxt_record r = { .type = m->type, .subtype = m->subtype };
	char record[64];
	fxt_describe(&r, record, sizeof(record));
	if (m->argument >= 0 && !m->thread)
		finding_path(fd, "provider %u > record %llu (%s) > argument %d > %s", m->provider->id,
			     (unsigned long long)m->record, record, m->argument + 1, role_name(m));
	else
		finding_path(fd, "provider %u > record %llu (%s) > %s", m->provider->id, (unsigned long long)m->record, record,
			     role_name(m));
	finding_field(fd, m->field, m->thread ? 1 : 2, "%s = 0x%0*x", role_name(m), m->thread ? 2 : 4, (unsigned)m->index);
	finding_explains(fd, run.uses - 1);
}

void fxt_missing_forward(struct fxt_registry *reg, uint32_t n)
{
	struct fxt_missing *m = &reg->missing[n];
	m->forward = true;
	/* In a file without a magic number missing registrations are reported at the end, when it is known whether it has one. */
	if (!m->reported && !m->no_magic)
		missing_report(reg, m);
}

void fxt_missing_report(struct fxt_registry *reg)
{
	for (size_t i = 0; i < reg->missing_count; i++)
		if (!reg->missing[i].reported)
			missing_report(reg, &reg->missing[i]);
}
