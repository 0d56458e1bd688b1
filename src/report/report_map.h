/* The damage map of one input: where its findings are, what a repair made of its bytes, and when its records were. Filled by the
 * calls of one walk, in memory that depends on the number of its files and not on their size. */
#ifndef REPORT_MAP_H
#define REPORT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/map.h"
#include "tracemend.h"

/* Bins of one file where there are few; files that have bins of their own where there are many, and then all bins together. */
#define REPORT_BINS 4096u
#define REPORT_STRIPS 48u
#define REPORT_STRIPS_BINS 12288u
/* Tracks with a line of their own, the bins of a line, and the gaps that are listed with their times. */
#define REPORT_TRACKS 96u
#define REPORT_TRACK_BINS 512u
#define REPORT_GAPS 64u

/* What a repair does with bytes of the input. */
enum report_fate { REPORT_CHANGED, REPORT_DROPPED, REPORT_DOUBTFUL, REPORT_MADE, REPORT_FATES };

/* The bins of one file. */
struct report_bins {
	uint32_t count;
	uint64_t width; /* bytes of each but the last */
	/* Findings that touch a bin, by severity: what begins at it less what ended before it; count + 1 of each. */
	int32_t *found[TM_ERROR + 1];
	uint64_t *fate[REPORT_FATES]; /* bytes; NULL: there is no repair */
};

struct report_strip {
	char *name; /* as findings have it */
	uint64_t size;
	enum tracemend_role role;
	bool file;  /* of the capture; else a donor's, a directory, link or device */
	bool made;  /* an output that has no part of the input */
	bool shown; /* drawn, rather than summed up with others: known at the end */
	uint64_t found[TM_ERROR + 1];
	uint64_t fate[REPORT_FATES];
	struct report_bins *bins; /* NULL: nothing to show, or too many files have something */
};

enum report_gap_why { REPORT_GAP_RECORDER, REPORT_GAP_DAMAGE, REPORT_GAP_DROPPED };

struct report_gap {
	uint32_t track;
	enum report_gap_why why;
	uint64_t from, to; /* the records around it */
	uint64_t lost;	   /* events; 0: unknown */
};

/* So many bins of time: those that are kept begin at first, and each is 2^shift units wide. */
struct report_scale {
	uint64_t first, total;
	unsigned shift;
};

struct report_track {
	char *name;
	uint64_t total, lost, gaps;
	bool lost_some; /* and more, it is not known how much */
	uint64_t last;	/* time of its last record */
	bool timed;
	uint64_t waiting; /* events that were lost since then; TM_LOST_UNKNOWN */
	bool waits;
	uint32_t counts[2][REPORT_TRACK_BINS];
	uint8_t flags[2][REPORT_TRACK_BINS]; /* a bit for each enum report_gap_why */
};

struct report_times {
	struct report_scale scale[2]; /* most records, and those far from them: a damaged time must not decide the scale */
	struct report_track *tracks;
	size_t count, capacity;
	struct map names;
	uint32_t current;	/* of the record before */
	size_t merged;		/* tracks without a line, which share the last one */
	const char *unit;	/* static */
	uint64_t untimed, gaps; /* records without a time; gaps in all */
	bool damaged, dropped;	/* between the record before and the next one */
	uint64_t damaged_file;	/* the hash of its name: what follows in other files has no gap there */
	struct report_gap list[REPORT_GAPS];
	size_t listed;
};

/* Input ranges that are dropped, in order: gaps in time. */
struct report_drop {
	uint32_t strip;
	uint64_t from, length;
};

struct report_map {
	struct report_strip *strips;
	size_t count, capacity;
	struct map names;
	uint32_t current; /* strip of the last place */
	uint32_t bins;	  /* of a strip */
	size_t binned;	  /* strips that have bins */
	bool failed;	  /* out of memory */
	bool repair;
	struct report_drop *drops;
	size_t drop_count, drop_capacity;
	uint32_t at_strip; /* of the last record */
	uint64_t at;	   /* and its end */
	struct report_times times;
};

/* A map of an input, still empty. NULL: out of memory. */
struct report_map *report_map_new(struct tracemend_input *input);
void report_map_free(struct report_map *m);
/* Sets the options of a check so that it fills the map, which must outlive it. */
void report_map_listen(struct report_map *m, struct tracemend_options *options);
/* Adds what a repair of the same input does. Before the check that fills the map. */
void report_map_repair(struct report_map *m, const struct tracemend_repair *repair);
/* After the check. */
void report_map_settle(struct report_map *m);
/* The strip of a file; SIZE_MAX: there is none. */
size_t report_map_strip(const struct report_map *m, const char *file);
/* Whether bytes of a range were dropped; of the strip and between the offsets. */
bool report_map_dropped(const struct report_map *m, size_t strip, uint64_t from, uint64_t to);
/* Whether new bytes of a repair are zeros in place of content, which is dropped then, and not replaced. */
bool report_literal_is_zeros(const struct tracemend_segment *s);

/* ---- report_times.c ---- */

/* Takes the next record. gap: bytes were dropped in front of it; damage is a record with a rule. False: out of memory. */
bool report_times_take(struct report_times *t, const struct tracemend_record *r, bool gap);
/* After the last record: decides about the times that are far from all others. */
void report_times_settle(struct report_times *t);
void report_times_free(struct report_times *t);
/* A hash of a text, the same everywhere. */
uint64_t report_hash(const char *text);

#endif
