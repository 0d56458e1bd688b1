/* The header structure of version 3. Layout: ktrace(5), BINARY FORMAT. */
#ifndef KTRACE_HEADER_H
#define KTRACE_HEADER_H

#include "core/issue.h"
#include "formats/ktrace/ktrace.h"

/* Offsets of its fields. */
enum ktrace_header_field {
	KTRACE_AT_MAGIC = 0,
	KTRACE_AT_MAJOR = 4,
	KTRACE_AT_MINOR = 6,
	KTRACE_AT_SIZE = 8,
	KTRACE_AT_TIMEBASE = 16,
	KTRACE_AT_SECONDS = 32,
	KTRACE_AT_USEC = 40,
	KTRACE_AT_WEST = 44,
	KTRACE_AT_DST = 48,
	KTRACE_AT_FLAGS = 52,
};

struct ktrace_header {
	uint32_t magic, numer, denom, usec, flags, dst;
	int32_t west;
	uint16_t major, minor;
	uint64_t size, time, seconds;
};

#define KTRACE_HEADER_ISSUES 16u /* that its fields can have at most */

/* Decodes the structure, and adds an issue for each field that is odd by itself: `got` is the field (of the timebase numerator
 * and denominator, in the upper and the lower half; of the major version with the minor one below it). */
struct ktrace_header ktrace_header_decode(const uint8_t bytes[KTRACE_HEADER], struct issues *issues);

/* Whether the timebase is one of Apple's machines: 1/1, or 125/3. */
static inline bool ktrace_timebase_is_known(const struct ktrace_header *h)
{
	return (h->numer == 1 && h->denom == 1) || (h->numer == 125 && h->denom == 3);
}

#endif
