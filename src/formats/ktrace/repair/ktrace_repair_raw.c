/* RAW files: counts and flags of the header, padding. */
#include "formats/ktrace/repair/ktrace_repair_raw.h"

static void raw_word(struct ktrace_repair *r, uint64_t at, uint32_t value, enum ktrace_rule rule, const char *why)
{
	uint8_t bytes[4];

	store_u32(bytes, value, false);
	ktrace_repair_replace(r, at, bytes, sizeof(bytes), rule, why);
}

void ktrace_repair_raw_magic(struct ktrace_repair *r, uint32_t magic)
{
	raw_word(r, 0, magic, KTRACE_RULE_bad_magic, "magic number");
}

void ktrace_repair_raw2_width(struct ktrace_repair *r, bool is_64)
{
	raw_word(r, 20, is_64, KTRACE_RULE_flags_bitness_mismatch, "width of the records by their content");
}

void ktrace_repair_raw_walltime(struct ktrace_repair *r, uint64_t seconds, uint32_t usec)
{
	uint8_t bytes[12];

	store_u64(bytes, seconds, false);
	store_u32(bytes + 8, usec, false);
	ktrace_repair_replace(r, 8, bytes, sizeof(bytes), KTRACE_RULE_walltime_usec_range,
			      "wall time with the seconds carried over");
}

void ktrace_repair_raw_threads(struct ktrace_repair *r, uint32_t at, uint64_t threads, enum ktrace_rule rule)
{
	raw_word(r, at, (uint32_t)threads, rule, "number of entries of the thread map");
}

void ktrace_repair_raw_gap(struct ktrace_repair *r, uint64_t events, bool cut)
{
	ktrace_repair_pad(r, events, KTRACE_PAGE, cut ? KTRACE_RULE_raw_events_partial : KTRACE_RULE_events_damaged,
			  "padding up to the page at which readers look for events");
}
