/* Records of a file whose beginning is lost. */
#ifndef KTRACE_RAW_REST_H
#define KTRACE_RAW_REST_H

#include "core/window.h"
#include "formats/ktrace/decode/ktrace_record.h"

/* RAW files are records up to their end: where nothing else is left, they are known by these. */
struct ktrace_raw_rest {
	uint64_t events; /* offset of the first record; UINT64_MAX: none was found */
	bool is_64;
};

/* The first records in the first KTRACE_REST_BYTES behind zeros, at any byte. */
#define KTRACE_REST_BYTES (64u * 1024)
struct ktrace_raw_rest ktrace_raw_rest_find(struct window *window);

/* Whether KTRACE_REST_RECORDS records stand at `at`, or as many as fill the file, that pass every test and are in order of time. */
#define KTRACE_REST_RECORDS 64u
bool ktrace_raw_rest_begins(struct window *window, uint64_t at, bool is_64);

/* Where 64-bit records begin that go on at `at`, not in front of `first`: those a recorder notes when it starts are later than the
 * ones behind them. */
uint64_t ktrace_raw_rest_before(struct window *window, uint64_t at, uint64_t first);

#endif
