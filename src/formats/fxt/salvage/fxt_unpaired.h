/* Begins and ends without a counterpart show threads whose koids were hit: nothing else does. */
#ifndef FXT_UNPAIRED_H
#define FXT_UNPAIRED_H

#include "core/plan.h"
#include "formats/fxt/salvage/fxt_resync.h"
#include "formats/fxt/scan/fxt_nesting.h"

/* Threads with one begin or end alone, for each error: of more, the recorder makes such ones. */
#define FXT_SINGLES_MAX 4u
/* Begins and ends that are compared; and registrations that are listed with what refers to them. Of more, none is. */
#define FXT_UNPAIRED_MAX 4096u
#define FXT_UNPAIRED_THREADS_MAX 4u
/* Threads of such ones that are looked at among all. */
#define FXT_UNPAIRED_COMPARED 32u
/* Where no more have no counterpart, they are all listed. */
#define FXT_UNPAIRED_FEW 4u
/* A begin and an end so near each other may have lost their counterparts by one cut between them. */
#define FXT_UNPAIRED_BYTES 512u

struct fxt_unpaired {
	struct fxt_resync *resync;
	const struct fxt_nesting *nesting;
	struct plan *plan;
	struct source *source;
};

/* At the end of the file, where something is repaired: lists what may have been hit. errors: of the file; the report has the begins
 * and ends without a counterpart that the recorder did not leave. */
void fxt_unpaired_doubt(const struct fxt_unpaired *u, uint64_t errors, const struct fxt_report *report);

#endif
