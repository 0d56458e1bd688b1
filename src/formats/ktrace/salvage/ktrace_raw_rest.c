/* Records of a file whose beginning is lost. */
#include "formats/ktrace/salvage/ktrace_raw_rest.h"

/* Where they end with the file, so many are enough. */
#define REST_LEAST 16u
/* Machines with more processors than this do not run Darwin; in 32-bit records little else can be tested. */
#define REST_CPUS 256u

bool ktrace_raw_rest_begins(struct window *window, uint64_t at, bool is_64)
{
	const uint32_t size = ktrace_event_size(is_64);
	const uint64_t left = window_left(window, at), there = left / size;
	const uint64_t records = there < KTRACE_REST_RECORDS ? there : KTRACE_REST_RECORDS;
	uint64_t previous = 0, distinct = 0;

	if (records < KTRACE_REST_RECORDS && (records < REST_LEAST || left % size))
		return false;
	for (uint64_t i = 0; i < records; i++) {
		const uint8_t *p = window_at(window, at + i * size, size);
		if (!p)
			return false;
		struct ktrace_event e = ktrace_record_decode(p, is_64);
		if (ktrace_record_failures(&e, is_64) || e.cpu >= REST_CPUS || e.time < previous ||
		    ktrace_record_leaps(&e, previous))
			return false;
		distinct += e.time != previous;
		previous = e.time;
	}
	/* The same bytes again and again are in order, too. */
	return distinct > records / 2;
}

uint64_t ktrace_raw_rest_before(struct window *window, uint64_t at, uint64_t first)
{
	const uint32_t size = ktrace_event_size(true);
	const uint8_t *p = window_at(window, at, size);
	const uint64_t time = p ? ktrace_record_decode(p, true).time : 0;

	for (unsigned n = 0; n < KTRACE_REST_RECORDS && at - first >= size; n++, at -= size) {
		p = window_at(window, at - size, size);
		const struct ktrace_event e = p ? ktrace_record_decode(p, true) : (struct ktrace_event){ 0 };
		if (!p || !e.debugid || ktrace_record_failures(&e, true) || e.cpu >= REST_CPUS || ktrace_record_leaps(&e, time))
			break;
	}
	return at;
}

struct ktrace_raw_rest ktrace_raw_rest_find(struct window *window)
{
	const uint64_t from = window_skip_zeros(window, 0);
	const uint64_t first = from < 8 ? 0 : from - 7; /* the lowest bytes of a time may be zeros */

	for (uint64_t at = first; at - first < KTRACE_REST_BYTES && window_left(window, at); at++)
		for (unsigned is_64 = 2; is_64--;)
			if (ktrace_raw_rest_begins(window, at, is_64))
				return (struct ktrace_raw_rest){ at, is_64 };
	return (struct ktrace_raw_rest){ UINT64_MAX, false };
}
