/* What a check finds odd is kept, and listed as doubtful: it may have been damaged, and nothing in a ktrace file tells a damaged
 * record or field from an odd one. */
#ifndef KTRACE_ODD_H
#define KTRACE_ODD_H

#include "formats/ktrace/repair/ktrace_repair.h"

/* Whether findings of that rule cast doubt on what they are about: warnings and errors, but for habits of writers that are known,
 * and for what has no content. */
bool ktrace_rule_casts_doubt(enum ktrace_rule rule);
/* Lists [from, until) as doubtful where the rule casts doubt. */
void ktrace_odd_report(struct ktrace_repair *r, enum ktrace_rule rule, uint64_t from, uint64_t until);

/* Doubtful records of one stretch, in the order of the file. Ranges that are near each other become one: nearer than a record at
 * first, and further apart the more there are, so that their number is bounded. */
struct ktrace_odd {
	struct ktrace_repair *repair;
	uint64_t from, until; /* the last range, not listed yet; empty: none */
	uint64_t count;	      /* of ranges listed */
};

void ktrace_odd_add(struct ktrace_odd *o, uint64_t from, uint64_t until);
/* Lists the last range. */
void ktrace_odd_end(struct ktrace_odd *o);

#endif
