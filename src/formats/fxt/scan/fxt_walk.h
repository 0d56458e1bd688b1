/* One walk over an FXT file. Each part of its state has a header and functions of its own, which get that part and no other. */
#ifndef FXT_WALK_H
#define FXT_WALK_H

#include "formats/fxt/repair/fxt_repair.h"
#include "formats/fxt/salvage/fxt_doubt.h"
#include "formats/fxt/salvage/fxt_resync.h"
#include "formats/fxt/scan/fxt_async.h"
#include "formats/fxt/scan/fxt_check.h"
#include "formats/fxt/scan/fxt_clock.h"
#include "formats/fxt/scan/fxt_fast.h"
#include "formats/fxt/scan/fxt_nesting.h"
#include "formats/fxt/scan/fxt_report.h"
#include "formats/fxt/scan/fxt_table.h"

/* Records by kind; for facts, and for what a trace without events is. */
struct fxt_totals {
	uint64_t by_type[16], by_event[16];
	bool eventful; /* there is a record that a viewer shows, besides those of by_type[FXT_EVENT] */
};

/* The event before the current record. */
struct fxt_previous {
	uint64_t header, time; /* header 0: none */
};

struct fxt_walk {
	struct scan *s;
	struct window window;
	struct fxt_decoder decoder;
	struct fxt_record record; /* being walked */
	struct fxt_totals totals;
	struct fxt_previous previous;
	uint64_t corrected;		 /* end of the last record that had an error and stays; 0: none */
	bool magic_written, lost_prefix; /* a magic number was put in front; damage precedes the first record */
	struct fxt_report report;
	struct fxt_nesting nesting;
	struct fxt_registry registry;
	struct fxt_clock clock;
	struct fxt_operations operations;
	struct fxt_check check;
	struct fxt_resync resync;
	struct fxt_repair repair;
	struct fxt_doubt doubt;
	struct fxt_fast fast;
};

/* fxt_record.c: takes a sound record into account: tables, clocks, references, meaning. */
void fxt_record_accept(struct fxt_walk *w, const struct fxt_record *r, uint64_t offset);

/* fxt_fast.c: takes plain records at the position, which are in the window, into account. False: the first one is not plain. */
bool fxt_fast_run(struct fxt_walk *w, uint64_t header);

/* fxt_give.c: gives an accepted record to the sink of the scan, if there is one. r->data must be in sight. */
void fxt_record_give(const struct fxt_walk *w, const struct fxt_record *r, uint64_t offset);

/* fxt_facts.c: what `info` tells. */
void fxt_facts(const struct fxt_walk *w);

#endif
