/* Doubt about what checks find odd. */
#include "formats/ktrace/repair/ktrace_odd.h"

#define MANY 1024u /* ranges after which twice as many bytes may lie between two that become one */

/* Warnings without doubt. */
static const bool habit[KTRACE_RULE_COUNT] = {
	/* As known writers write it. */
	[KTRACE_RULE_kernel_v3_magic] = true,
	[KTRACE_RULE_header_size_excludes_header_chunk] = true,
	[KTRACE_RULE_cpumap_bare] = true,
	[KTRACE_RULE_chunk_size_includes_padding] = true,
	[KTRACE_RULE_raw_extra_page] = true,
	[KTRACE_RULE_v2_event_offset_ambiguous] = true,
	/* Sizes and marks that are mended, and say nothing else. */
	[KTRACE_RULE_bad_magic] = true,
	[KTRACE_RULE_header_size_unfinished] = true,
	[KTRACE_RULE_header_size_64_structure] = true,
	/* About the header that states the bound, not about the events. */
	[KTRACE_RULE_event_before_future_timestamp] = true,
	/* The recorder's own word. */
	[KTRACE_RULE_events_lost] = true,
	/* Padding. */
	[KTRACE_RULE_chunk_padding_nonzero] = true,
	[KTRACE_RULE_raw_pad_nonzero] = true,
};

bool ktrace_rule_casts_doubt(enum ktrace_rule rule)
{
	return ktrace_rules[rule].severity >= TM_WARNING && !habit[rule];
}

void ktrace_odd_report(struct ktrace_repair *r, enum ktrace_rule rule, uint64_t from, uint64_t until)
{
	if (r->plan && ktrace_rule_casts_doubt(rule))
		ktrace_repair_doubt(r, from, until, "it is not as a writer writes it, and may be damaged");
}

static uint64_t odd_near(const struct ktrace_odd *o)
{
	uint64_t steps = o->count / MANY;
	return UINT64_C(64) << (steps < 40 ? steps : 40);
}

static void odd_list(struct ktrace_odd *o, uint64_t from, uint64_t until)
{
	ktrace_repair_doubt(o->repair, from, until, "records that are not as a writer writes them, or stand beside one");
	o->count++;
}

void ktrace_odd_add(struct ktrace_odd *o, uint64_t from, uint64_t until)
{
	if (!o->repair->plan)
		return;
	/* What an earlier record is to be blamed for, far in front of the last range. */
	if (o->until && o->count < MANY && until + odd_near(o) < o->from) {
		odd_list(o, from, until);
		return;
	}
	if (o->until && from <= o->until + odd_near(o)) {
		o->from = from < o->from ? from : o->from;
		o->until = until > o->until ? until : o->until;
		return;
	}
	ktrace_odd_end(o);
	o->from = from;
	o->until = until;
}

void ktrace_odd_end(struct ktrace_odd *o)
{
	if (o->until)
		odd_list(o, o->from, o->until);
	o->from = o->until = 0;
}
