/* The checks of a data record, for both paths over the records of a page: the fast one leaves a record where one of them holds, the
 * slow one reports it. */
#ifndef TRACEDAT_RECORD_H
#define TRACEDAT_RECORD_H

#include "core/array.h"
#include "core/bytes.h"
#include "formats/tracedat/scan/tracedat_page.h"

/* Bytes of the common fields that all events have. */
#define TRACEDAT_COMMON_MIN 8u

/* The format of the event does not allow the size. */
static inline bool tracedat_size_odd(const struct tracedat_event *e, uint32_t size)
{
	return size - e->fixed > e->slack;
}

/* A process id in range that command lines or earlier records have; 0 is the idle task, which needs no name. */
static inline bool tracedat_pid_known(const struct tracedat_texts *texts, uint32_t pid)
{
	return pid <= TRACEDAT_PID_MAX && (!pid || tracedat_pids_has(&texts->pids, pid));
}

/* Flags and preemption count that no kernel writes. */
static inline bool tracedat_flags_odd(uint32_t flags, uint32_t preempt)
{
	return (flags & 0x48) == 0x40 || (preempt & 15) == 15;
}

static inline bool tracedat_flags_impossible(const uint8_t *payload)
{
	return tracedat_flags_odd(payload[2], payload[3]);
}

static inline bool tracedat_symbol_known(const struct tracedat_texts *texts, uint64_t address)
{
	return address >= texts->symbol_low && address <= texts->symbol_high;
}

static inline bool tracedat_printk_known(const struct tracedat_texts *texts, uint64_t address)
{
	size_t i;
	array_search(i, texts->printk_count, texts->printk[i].address < address);
	return i < texts->printk_count && texts->printk[i].address == address;
}

/* A dynamic array of a record: where in the payload. */
struct tracedat_array {
	uint32_t offset, length;
};

static inline struct tracedat_array tracedat_array_read(const struct tracedat_dynamic *d, const uint8_t *payload, bool be)
{
	uint32_t v = load_u32(payload + d->offset, be);
	return (struct tracedat_array){ (v & 0xffff) + (d->relative ? d->offset + 4u : 0), v >> 16 };
}

/* It is in the fixed fields, or ends behind the record. */
static inline bool tracedat_array_outside(const struct tracedat_array *a, const struct tracedat_event *e, uint32_t size)
{
	return a->length && (a->offset < e->fixed || a->offset + a->length > size);
}

/* All dynamic arrays of a record are inside of it. */
static inline bool tracedat_arrays_sound(const struct tracedat_events *events, const struct tracedat_event *e,
					 const uint8_t *payload, uint32_t size, bool be)
{
	for (uint32_t i = 0; i < e->dynamic_count; i++) {
		struct tracedat_array a = tracedat_array_read(&events->dynamics[e->dynamic + i], payload, be);
		if (tracedat_array_outside(&a, e, size))
			return false;
	}
	return true;
}

/* A text that has no NUL; it is not outside. */
static inline bool tracedat_array_without_nul(const struct tracedat_array *a, const struct tracedat_dynamic *d,
					      const uint8_t *payload)
{
	return a->length && d->text && !memchr(payload + a->offset, 0, a->length);
}

/* Bytes that a record may have behind its arrays, which begin behind the last field: the kernel's structure ends aligned to 8
 * bytes, and the record to 4. */
static inline uint32_t tracedat_arrays_slack(const struct tracedat_event *e)
{
	return ((8u - e->fixed % 8) & 7u) + 3;
}

/* ---- tracedat_fast.c ---- */

/* Takes records from `at` of the page's data on, as long as the slow path would report and change nothing. Returns where the
 * first record begins that it leaves; p->carry must be 0. */
uint32_t tracedat_fast(struct tracedat_page *p, uint32_t at);
/* The same from the first record of a page on: *r is what it takes. False: the page has no length, or no time. */
bool tracedat_fast_begin(const struct tracedat_walk *w, const uint8_t *page, uint32_t page_size, struct tracedat_run *r);
/* The same from r->at on. */
void tracedat_fast_more(const struct tracedat_walk *w, const uint8_t *page, struct tracedat_run *r);

#endif
