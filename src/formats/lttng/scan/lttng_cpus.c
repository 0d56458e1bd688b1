/* Cpus: which channels have a file of which. "The root directory contains a tracefile for each cpu". */
#include <stdlib.h>

#include "core/text.h"
#include "formats/lttng/scan/lttng_trace.h"

struct slot {
	const struct lttng_channel *channel;
	int64_t cpu;
	size_t file;
};

static int slot_order(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;
	int order = a->channel == b->channel ? 0 : strcmp(a->channel->name, b->channel->name);
	if (order)
		return order;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->file < b->file ? -1 : a->file > b->file;
}

/* The slots of files that are walked, metadata files or only others; NULL with t->status set. The caller frees them. */
static struct slot *find_slots(struct lttng_trace *t, bool metadata, size_t *count)
{
	struct slot *slots = malloc((t->files.count + 1) * sizeof(*slots));
	*count = 0;
	if (!slots) {
		(void)lttng_no_memory(t);
		return NULL;
	}
	for (size_t i = 0; i < t->files.count; i++) {
		const struct lttng_file *f = &t->files.list[i];
		if (f->channel && !f->aside && (metadata || !f->metadata))
			slots[(*count)++] = (struct slot){ f->channel, f->cpu, i };
	}
	if (*count)
		qsort(slots, *count, sizeof(*slots), slot_order);
	return slots;
}

void lttng_cpus_duplicates(struct lttng_trace *t)
{
	size_t count;
	struct slot *slots = find_slots(t, true, &count);
	for (size_t i = 1; slots && i < count; i++) {
		if (slots[i].channel != slots[i - 1].channel || slots[i].cpu != slots[i - 1].cpu)
			continue;
		struct lttng_file *f = &t->files.list[slots[i].file], *other = &t->files.list[slots[i - 1].file];
		finding_report(t->s->findings, LTTNG_RULE_duplicate_channel_cpu, f->source, 0, 0,
			       "%s and %s are both channel %s, cpu %lld", other->base, f->base, f->channel->name,
			       (long long)f->cpu);
		lttng_file_aside(f, LTTNG_RULE_duplicate_channel_cpu, "another file is of the same channel and cpu");
		slots[i].file = slots[i - 1].file;
	}
	free(slots);
}

/* ---- cpus that channels have or lack ---- */

struct cpu_set {
	uint64_t bits[(LTTNG_CPU_MAX + 1) / 64];
};

static bool cpu_set_has(const struct cpu_set *set, int64_t cpu)
{
	return set->bits[cpu / 64] >> (cpu % 64) & 1;
}

static void judge_channel_cpus(struct lttng_trace *t, const struct cpu_set *have, unsigned highest, const struct slot *slots,
			       size_t count)
{
	struct cpu_set of = { { 0 } };
	for (size_t i = 0; i < count; i++) {
		of.bits[slots[i].cpu / 64] |= UINT64_C(1) << (slots[i].cpu % 64);
		if (!cpu_set_has(have, slots[i].cpu)) {
			finding_report(t->s->findings, LTTNG_RULE_channel_cpu_without_metadata_cpu,
				       t->files.list[slots[i].file].source, 0, 0, "there is no declarations file of cpu %lld",
				       (long long)slots[i].cpu);
			lttng_declarations_lose(&t->declared, NULL);
		}
	}
	for (unsigned i = 0; i <= highest; i++)
		if (cpu_set_has(have, i) && !cpu_set_has(&of, i)) {
			finding_report(t->s->findings, LTTNG_RULE_channel_cpu_missing, NULL, 0, 0,
				       "channel %s has no file of cpu %u", slots[0].channel->name, i);
			break;
		}
}

/* ---- files that are those of another cpu ---- */

#define PIECE 4096u

struct copy {
	struct lttng_file *f;
	uint64_t hash; /* of its first bytes */
	bool declared; /* its cpu has a file of declarations */
};

/* Files that may be equal follow each other; the one that stays comes first. */
static int copy_order(const void *left, const void *right)
{
	const struct copy *a = left, *b = right;
	const int order = a->f->channel == b->f->channel ? 0 : strcmp(a->f->channel->name, b->f->channel->name);
	if (order)
		return order;
	if (a->f->source->size != b->f->source->size)
		return a->f->source->size < b->f->source->size ? -1 : 1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->declared != b->declared)
		return a->declared ? -1 : 1;
	return (a->f->cpu > b->f->cpu) - (a->f->cpu < b->f->cpu);
}

/* Whether the first block has events: those of two cpus differ in their stamps. */
static bool has_events(struct lttng_trace *t, const struct lttng_file *f, uint64_t *hash)
{
	const struct lttng_layout *l = t->coding.layout;
	const size_t n = f->source->size < PIECE ? (size_t)f->source->size : PIECE;
	uint8_t bytes[PIECE];
	struct lttng_header h;

	if (n < l->size || !lttng_file_read(t, f, 0, bytes, n))
		return false;
	lttng_header_load(&h, l, t->coding.big_endian, bytes);
	*hash = text_hash(bytes, n);
	return lttng_header_data_end(l, &h, f->source->size) > l->size && !bytes_are_zero(bytes + l->size, n - l->size);
}

static bool are_equal(struct lttng_trace *t, const struct lttng_file *a, const struct lttng_file *b)
{
	uint8_t one[PIECE], two[PIECE];
	const uint64_t size = a->source->size;

	if (size != b->source->size || a->channel != b->channel)
		return false;
	for (uint64_t at = 0; at < size; at += PIECE) {
		const size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
		if (!lttng_file_read(t, a, at, one, n) || !lttng_file_read(t, b, at, two, n) || memcmp(one, two, n) != 0)
			return false;
	}
	return true;
}

static void report_copy(struct lttng_trace *t, const struct copy *first, const struct copy *c)
{
	struct lttng_file *f = c->f;

	finding_report(t->s->findings, LTTNG_RULE_block_recorded_twice, f->source, 0, f->source->size,
		       "%s is %s again, byte for byte: one file under two names", f->base, first->f->base);
	lttng_file_aside(f, LTTNG_RULE_block_recorded_twice, "the file of another cpu has the same bytes");
	/* It could be the other way round. */
	if (t->s->plan && c->declared == first->declared) {
		plan_doubt(t->s->plan, first->f->source, 0, first->f->source->size,
			   "the file of another cpu has the same bytes: of which cpu they are is not known");
		plan_lost_other(t->s->plan);
	}
}

static struct cpu_set declared_cpus(const struct lttng_trace *t)
{
	struct cpu_set have = { { 0 } };

	for (size_t i = 0; i < t->files.count; i++) {
		const struct lttng_file *f = &t->files.list[i];
		if (f->channel && !f->aside && f->metadata)
			have.bits[f->cpu / 64] |= UINT64_C(1) << (f->cpu % 64);
	}
	return have;
}

void lttng_cpus_copies(struct lttng_trace *t)
{
	const struct cpu_set have = declared_cpus(t);
	struct copy *copies = malloc((t->files.count + 1) * sizeof(*copies));
	size_t count = 0;

	if (!copies) {
		(void)lttng_no_memory(t);
		return;
	}
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->channel && !f->aside && !f->metadata && !f->empty && has_events(t, f, &copies[count].hash)) {
			copies[count].f = f;
			copies[count++].declared = cpu_set_has(&have, f->cpu);
		}
	}
	if (count)
		qsort(copies, count, sizeof(*copies), copy_order);
	for (size_t i = 1, first = 0; i < count && t->status == TM_OK; i++)
		if (copies[i].hash == copies[first].hash && are_equal(t, copies[first].f, copies[i].f))
			report_copy(t, &copies[first], &copies[i]);
		else
			first = i;
	free(copies);
}

void lttng_cpus_judge(struct lttng_trace *t)
{
	struct cpu_set have = { { 0 } };
	unsigned highest = 0, cpus = 0;
	size_t count;
	struct slot *slots = find_slots(t, false, &count);

	if (!slots)
		return;
	for (size_t i = 0; i < t->files.count; i++) {
		const struct lttng_file *f = &t->files.list[i];
		if (!f->channel || f->aside || !f->metadata)
			continue;
		have.bits[f->cpu / 64] |= UINT64_C(1) << (f->cpu % 64);
		highest = f->cpu > (int64_t)highest ? (unsigned)f->cpu : highest;
		cpus++;
	}
	if (cpus && highest + 1 != cpus) {
		finding_report(t->s->findings, LTTNG_RULE_cpu_gap, NULL, 0, 0,
			       "there are %u declaration files, and the highest cpu number is %u", cpus, highest);
		finding_report(t->s->findings, LTTNG_RULE_reader_abort_risk, NULL, 0, 0,
			       "the text module of LTTV crashes where cpu numbers have gaps");
	}
	for (size_t i = 0, first = 0; cpus && count && i <= count; i++)
		if (i == count || slots[i].channel != slots[first].channel) {
			judge_channel_cpus(t, &have, highest, slots + first, i - first);
			first = i;
		}
	free(slots);
}
