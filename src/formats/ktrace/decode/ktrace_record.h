/* Records of events, and tests of whether bytes are plausible ones. Layout: kd_buf of xnu's bsd/sys/kdebug.h. */
#ifndef KTRACE_RECORD_H
#define KTRACE_RECORD_H

#include "formats/ktrace/ktrace.h"

/* Bytes of the first records of a stretch that are tested for their width. */
#define KTRACE_HEAD 512u

struct ktrace_event {
	uint64_t time, args[4], tid;
	uint32_t debugid, cpu;
	uint64_t unused;
};

#define KTRACE_FUNC_START 1u
#define KTRACE_FUNC_END 2u
#define KTRACE_FUNC_MASK 3u

#define KTRACE_CLASS_TRACE 7u /* the tracing itself */
#define KTRACE_TIME_MAX ((UINT64_C(1) << 56) - 1)

enum ktrace_debugid {
	KTRACE_VFS_LOOKUP = 0x03010090,
	KTRACE_VFS_LOOKUP_DONE = 0x0301009c,
	KTRACE_NEWTHREAD = 0x07000004,
	KTRACE_STRING_GLOBAL = 0x07010000,
	KTRACE_STRING_THREADNAME = 0x07010010,
	KTRACE_STRING_THREADNAME_PREV = 0x07010014,
	KTRACE_LOST_EVENTS = 0x07020008,
	KTRACE_RETROGRADE = 0x07020014,
	KTRACE_PAST = 0x07020018
};

static inline struct ktrace_event ktrace_record_decode(const uint8_t *p, bool is_64)
{
	const uint64_t time = load_u64(p, false);

	if (is_64)
		return (struct ktrace_event){ .time = time,
					      .args = { load_u64(p + 8, false), load_u64(p + 16, false), load_u64(p + 24, false),
							load_u64(p + 32, false) },
					      .tid = load_u64(p + 40, false),
					      .debugid = load_u32(p + 48, false),
					      .cpu = load_u32(p + 52, false),
					      .unused = load_u64(p + 56, false) };
	return (struct ktrace_event){ .time = time & KTRACE_TIME_MAX,
				      .args = { load_u32(p + 8, false), load_u32(p + 12, false), load_u32(p + 16, false),
						load_u32(p + 20, false) },
				      .tid = load_u32(p + 24, false),
				      .debugid = load_u32(p + 28, false),
				      .cpu = (uint32_t)(time >> 56) };
}

/* Classes of xnu's kdebug.h, as bits. */
static inline bool ktrace_class_exists(uint32_t debugid)
{
	static const uint64_t classes[4] = {
		UINT64_C(0x007e7fffc0101ffe) /* 1-12, 20, 30-36 ... 54 */, 0, UINT64_C(0x3ff), /* 128-137 */
		UINT64_C(1) << 63,							       /* 255 */
	};
	uint32_t class = debugid >> 24;
	return (classes[class / 64] >> (class % 64)) & 1;
}

/* How many of the tests that real records pass this one fails. */
static inline unsigned ktrace_record_failures(const struct ktrace_event *e, bool is_64)
{
	/* A debug id of 0 has no class: it fails once. */
	unsigned failures = e->time ? 0u : 1u;
	/* Bytes of ones fail as bytes of zeros do. */
	failures += e->debugid != UINT32_MAX ? 0u : e->time >= KTRACE_TIME_MAX ? 2u : 1u;
	failures += ktrace_class_exists(e->debugid) ? 0u : 1u;
	if (is_64) {
		failures += e->unused ? 1u : 0u;
		failures += e->cpu >= 4096 ? 1u : 0u;
		failures += e->time >> 56 ? 1u : 0u;
		failures += e->tid >> KTRACE_TID_BITS ? 1u : 0u;
	}
	return failures;
}

/* Whether its time is days away from `previous`, that of the record before (0: there is none). */
static inline bool ktrace_record_leaps(const struct ktrace_event *e, uint64_t previous)
{
	uint64_t distance = e->time > previous ? e->time - previous : previous - e->time;
	return previous && distance >> 44;
}

/* Whether the bytes at p fail the tests by so much that they are probably not a record. */
static inline bool ktrace_record_is_bad(const uint8_t *p, bool is_64, uint64_t previous)
{
	struct ktrace_event e = ktrace_record_decode(p, is_64);
	return ktrace_record_failures(&e, is_64) + ktrace_record_leaps(&e, previous) >= 2;
}

/* Whether a record that is not bad is to be dropped all the same at the edge of damage: it fails a test other than that of the
 * class. */
static inline bool ktrace_record_is_suspect(const struct ktrace_event *e, bool is_64)
{
	return ktrace_record_failures(e, is_64) > (e->debugid && !ktrace_class_exists(e->debugid) ? 1u : 0u);
}

/* How many tests of real records the first ones of `length` bytes fail; count: at most so many records. */
unsigned ktrace_records_failures(const uint8_t *p, size_t length, bool is_64, unsigned count);
/* Whether the first records of a file are valid only in the other width. */
bool ktrace_records_other_width(const uint8_t *head, size_t length, bool is_64);

#endif
