/* The outcome of a reader on a capture. */
#include "cli/try.h"

static const char *const try_names[TRY_OUTCOMES] = { "fine", "silent", "rejected", "hang", "signal" };

const char *try_outcome_name(enum try_outcome outcome)
{
	return try_names[outcome];
}

enum try_outcome try_outcome_judge(bool valid, const struct child_result *r)
{
	if (r->end == CHILD_KILLED)
		return TRY_SIGNAL;
	if (r->end == CHILD_HUNG)
		return TRY_HANG;
	if (valid)
		return r->code ? TRY_REJECTED : TRY_FINE;
	return !r->code && !r->wrote_messages ? TRY_SILENT : TRY_FINE;
}
