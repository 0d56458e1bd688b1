/* One trace: what its parts share. Each member is a structure of its own, which its owner fills; the others read it. */
#ifndef LTTNG_TRACE_H
#define LTTNG_TRACE_H

#include "core/format.h"
#include "formats/lttng/scan/lttng_file.h"

struct lttng_edits;
struct lttng_fast;
struct lttng_part_list;
struct lttng_seen;

/* What every header of the trace should say. Owner: salvage/lttng_vote.c, then scan/lttng_constants.c. */
struct lttng_constants {
	struct lttng_header want;
	unsigned blame[LF_COUNT]; /* rule that a constant broke everywhere, + 1 */
	uint64_t begin;		  /* of the trace: the first begin stamp of most files */
	const char *doubted;	  /* static; why its times are doubtful. NULL: they are not */
	bool lone;		  /* one header says it all */
};

/* Counts over all files. Owner: scan/lttng_block.c. */
struct lttng_totals {
	uint64_t records;
	uint64_t lost_events, corrupt_blocks; /* as the recorder counted them */
	uint64_t last_stamp;
};

/* What repair has written so far. Owner: repair/lttng_repair.c. */
struct lttng_output {
	uint64_t kept;		     /* events */
	uint64_t zeros;		     /* bytes, against LTTNG_ZEROS_MAX */
	struct lttng_file declaring; /* without a source: made where no file declares anything. Owner: repair/lttng_redeclare.c */
};

/* Upper bound of stamps in blocks without end. Owner: salvage/lttng_stale.c. */
struct lttng_latest {
	uint64_t stamp; /* UINT64_MAX: none */
	bool known;
};

/* Parts of scan->outline that are open. Owner: outline/lttng_outline.c. */
struct lttng_outline {
	uint32_t block, unused; /* the open block, and its lost_size or data_size */
	uint64_t at;		/* rel: end of the last event that has its part */
};

/* Whether the tracer writes a full stamp for each wrap of the clock. Owner: salvage/lttng_laps.c. */
enum lttng_laps {
	LAPS_UNKNOWN,
	LAPS_ANNOUNCED, /* it does */
	LAPS_STEPS,	/* it does, and its clock steps back a little, now and then */
	LAPS_SILENT	/* it does not, or that is not known */
};

/* Bytes of a block that are there twice: `length` of them may be left out, whichever begin at or behind `from` and not behind `to`,
 * which are rel. length 0: there are none. Owner: salvage/lttng_repeat.c */
struct lttng_repeat {
	uint64_t from, to, length;
};

struct lttng_trace {
	struct scan *s;
	struct window window;	      /* events */
	enum tracemend_status status; /* sticky */
	struct lttng_coding coding;
	struct lttng_constants constants;
	struct lttng_files files;
	struct lttng_declarations declared;
	struct lttng_totals totals;
	struct lttng_output out;
	struct lttng_latest latest;
	enum lttng_laps laps;
	struct lttng_outline outline;
	struct lttng_edits *edits;     /* owned; of the block in work */
	struct lttng_part_list *parts; /* owned; of the file in work, if something in it is damaged; else NULL */
	struct lttng_seen *seen;       /* owned, by salvage/lttng_stale.c */
	struct lttng_fast *fast;       /* owned, by scan/lttng_fast.c */
};

/* Remembers the failure; returns false. */
bool lttng_no_memory(struct lttng_trace *t);

/* One trace: its files are those of t->files. */
enum tracemend_status lttng_trace_scan(struct lttng_trace *t);
void lttng_trace_free(struct lttng_trace *t);

/* lttng_roots.c: all traces of the bundle. */
enum tracemend_status lttng_scan(struct scan *s);

/* lttng_dir.c: names. */
bool lttng_files_add(struct lttng_trace *t, struct source *s);
/* Judges the names of the files below the root of the trace. */
void lttng_dir_collect(struct lttng_trace *t);
/* What the version asks of the directory; needs t->coding.layout. */
void lttng_dir_judge(struct lttng_trace *t);
/* No tracefile is walked: they are set aside, for that rule. */
void lttng_dir_aside(struct lttng_trace *t, unsigned rule);
/* lttng_cpus.c: cpus that files have, and channels lack. */
void lttng_cpus_judge(struct lttng_trace *t);
/* Files of a channel that are one, under the names of several cpus: all but one are set aside. */
void lttng_cpus_copies(struct lttng_trace *t);
/* Of files of the same channel and cpu, all but the first are set aside. */
void lttng_cpus_duplicates(struct lttng_trace *t);

/* lttng_identity.c: what a file is whose first bytes are not those of this trace. */
void lttng_identity_judge(struct lttng_trace *t, struct lttng_file *f);

/* lttng_constants.c */
/* Takes from the headers how bytes are read. */
void lttng_constants_apply(struct lttng_trace *t);
/* Reports what is wrong with what the headers agree on. */
void lttng_constants_judge(struct lttng_trace *t);
/* Ticks in a second; 0: not known. */
double lttng_frequency(const struct lttng_layout *l, const struct lttng_header *h);

/* lttng_metadata.c: taking declarations in. */
struct lttng_walk;
/* Takes the declaration in. False: it is not to be kept (an error was reported, *rule). */
bool lttng_metadata_take(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, struct finding **fd,
			 unsigned *rule);
/* The type of the tracer itself that has that name; NULL: there is none. */
const struct lttng_marker *lttng_metadata_core(const struct lttng_table *table, const char *name);
/* After the last data file. */
void lttng_metadata_unused(struct lttng_trace *t);

/* lttng_facility.c: 0.x */
/* Reads eventdefs/<name>.xml and fills the table for facility id, which the event of `length` bytes at `at` loads. */
void lttng_facility_describe(struct lttng_trace *t, const char *name, uint32_t id, uint32_t checksum, const struct lttng_file *f,
			     uint64_t at, uint64_t length);

/* After the last data file: loads whose names no description has are doubtful, if no load has the name of some description. */
void lttng_facilities_doubt(struct lttng_trace *t);

/* lttng_info.c: reads info/system.xml and bookmarks. */
void lttng_info_report(struct lttng_trace *t, struct source *s);

/* lttng_outline.c: declares the parts as the walk goes, when the scan has an outline. */
struct lttng_frame;
void lttng_outline_file(struct lttng_trace *t, const struct lttng_file *f);
void lttng_outline_file_end(struct lttng_trace *t);
void lttng_outline_block(struct lttng_trace *t, const struct lttng_file *f, const struct lttng_frame *frame);
void lttng_outline_block_end(struct lttng_trace *t, const struct lttng_frame *frame, uint64_t rel);
void lttng_outline_event(struct lttng_trace *t, const struct lttng_stream *in, const struct lttng_event *e);

#endif
