/* The header structure of version 3: its fields, each by itself. */
#include "formats/ktrace/decode/ktrace_header.h"

#include "core/cursor.h"

#define header_issue(issues, symbol, offset, size, value) \
	issue_add((issues), ktrace_rules, KTRACE_RULE_##symbol, .at = (offset), .length = (size), .got = (value))

static void header_check_time(const struct ktrace_header *h, struct issues *issues)
{
	bool stated = h->numer && h->denom;

	bool erased = h->numer == UINT32_MAX || h->denom == UINT32_MAX;

	/* A tick of more than a millisecond, or of less than a thousandth of a nanosecond. */
	if (stated && (erased || (uint64_t)h->numer > (uint64_t)h->denom * 1000000 || (uint64_t)h->numer * 1000 < h->denom))
		header_issue(issues, timebase_implausible, KTRACE_AT_TIMEBASE, 8, (uint64_t)h->numer << 32 | h->denom);
	if (h->usec >= 1000000)
		header_issue(issues, walltime_usec_range, KTRACE_AT_USEC, 4, h->usec);
	if (h->seconds && h->seconds < 946684800)
		header_issue(issues, walltime_before_2000, KTRACE_AT_SECONDS, 8, h->seconds);
	if (h->west < -840 || h->west > 720)
		header_issue(issues, minutes_west_range, KTRACE_AT_WEST, 4, (uint64_t)(int64_t)h->west);
	if (h->dst > 6)
		header_issue(issues, dst_range, KTRACE_AT_DST, 4, h->dst);
}

static void header_check(const struct ktrace_header *h, struct issues *issues)
{
	if (h->magic == KTRACE_MAGIC_KERNEL)
		header_issue(issues, kernel_v3_magic, KTRACE_AT_MAGIC, 4, h->magic);
	else if (h->magic != KTRACE_MAGIC)
		header_issue(issues, bad_magic, KTRACE_AT_MAGIC, 4, h->magic);
	if (h->major > (h->magic == KTRACE_MAGIC_KERNEL ? KTRACE_MAJOR_KERNEL : 1u))
		header_issue(issues, header_major_unsupported, KTRACE_AT_MAJOR, 2, (uint64_t)h->major << 16 | h->minor);
	if (h->minor)
		header_issue(issues, header_minor_nonzero, KTRACE_AT_MINOR, 2, h->minor);
	header_check_time(h, issues);
	if (h->flags & ~KTRACE_FLAG_64)
		header_issue(issues, flags_reserved_bits, KTRACE_AT_FLAGS, 4, h->flags);
}

struct ktrace_header ktrace_header_decode(const uint8_t bytes[KTRACE_HEADER], struct issues *issues)
{
	struct ktrace_header h = { 0 };
	struct cursor c = cursor_make(bytes, KTRACE_HEADER, false);

	h.magic = cursor_u32(&c);
	h.major = cursor_u16(&c);
	h.minor = cursor_u16(&c);
	h.size = cursor_u64(&c);
	h.numer = cursor_u32(&c);
	h.denom = cursor_u32(&c);
	h.time = cursor_u64(&c);
	h.seconds = cursor_u64(&c);
	h.usec = cursor_u32(&c);
	h.west = (int32_t)cursor_u32(&c);
	h.dst = cursor_u32(&c);
	h.flags = cursor_u32(&c);
	header_check(&h, issues);
	return h;
}
