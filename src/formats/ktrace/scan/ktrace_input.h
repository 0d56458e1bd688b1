/* The file, and what is known of it so far by which records are distinguished from other bytes. */
#ifndef KTRACE_INPUT_H
#define KTRACE_INPUT_H

#include "core/window.h"
#include "formats/ktrace/decode/ktrace_kind.h"
#include "formats/ktrace/scan/ktrace_table.h"

/* Holes of thread maps that are remembered. Of more, the last one takes in those behind it. */
#define KTRACE_HOLES_MAX 16u

struct ktrace_input {
	struct source *source;	     /* the only file of the bundle; borrowed */
	struct window window;	     /* on it */
	bool is_64;		     /* width of records and of entries of the thread map */
	bool thread_map;	     /* one was seen */
	uint32_t cpus;		     /* entries of the CPU map; 0: unknown */
	uint64_t last_time;	     /* of the last record; 0: there is none so far */
	struct ktrace_table threads; /* ids that thread maps and events introduced */
	uint64_t highest_thread;     /* id in a thread map */
	struct {
		uint64_t from, until;
	} holes[KTRACE_HOLES_MAX]; /* entries of zeros in thread maps, and those beside them */
	unsigned hole_count;
};

void ktrace_input_open(struct ktrace_input *in, struct source *source);
void ktrace_input_close(struct ktrace_input *in);

/* Probing reads just the bytes it needs, so that a hostile file cannot make a candidate cost a window. */

/* Reads the chunk header at offset. False when fewer than 16 bytes are left, or on a fault. */
bool ktrace_chunk_read(struct source *source, uint64_t offset, struct ktrace_chunk *chunk);
/* Whether count records at offset are all plausible: none is bad by ktrace_record_is_bad(). */
bool ktrace_events_plausible(struct source *source, uint64_t offset, uint64_t limit, bool is_64, unsigned count);
/* How many tests up to count records at offset fail; at most KTRACE_HEAD bytes of them are read. */
unsigned ktrace_events_failures(struct source *source, uint64_t offset, uint64_t limit, bool is_64, unsigned count);

#endif
