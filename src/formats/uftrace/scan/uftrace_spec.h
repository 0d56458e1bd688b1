/* Which argument specification holds for a function. */
#ifndef UFTRACE_SPEC_H
#define UFTRACE_SPEC_H

#include "formats/uftrace/decode/uftrace_argspec.h"
#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_function_spec; /* one specification: a pattern and its items */

struct uftrace_specs {
	struct uftrace_function_spec *list; /* owned */
	size_t count, capacity;
	const struct uftrace_spec **made; /* owned, with what they point at */
	size_t made_count, made_capacity;
	unsigned regexes; /* compiled */
	uint64_t work;	  /* attempts to match a name */
	bool overflow;	  /* there were more than UFTRACE_SPECS_MAX */
	bool present;	  /* info bit 10 */
	bool refused;	  /* readers leave one of them out */
	bool auto_args;
};

/* A line of info: its key and value, and where the line begins; 0: it is made anew, and nothing is reported. */
bool uftrace_spec_line(struct uftrace_walk *w, struct uftrace_str key, struct uftrace_str value, uint64_t offset);
/* Whether readers leave out one specification of such a line, "name@arg1/i32", whatever function it is for. */
bool uftrace_spec_is_refused(const struct uftrace_walk *w, struct uftrace_str one);
/* What their patterns look like: UFTRACE_PATTERN_GLOB or UFTRACE_PATTERN_REGEX; UFTRACE_PATTERN_SIMPLE where none of them is one,
 * and none is for all names. */
unsigned uftrace_spec_patterns(const struct uftrace_walk *w);
/* How items are read that are for that module; UFTRACE_NONE: for any. symbol: as below. */
struct uftrace_argspec_of uftrace_spec_for(const struct uftrace_walk *w, uint32_t module, uint32_t symbol);
/* Forgets all of them, and what was found by them. */
void uftrace_spec_clear(struct uftrace_walk *w);
/* Those of a function, by its module and symbol. NULL when memory is short: w->status. */
const struct uftrace_spec *uftrace_spec_of(struct uftrace_walk *w, uint32_t module, uint32_t symbol, bool retval);
void uftrace_spec_free(struct uftrace_specs *specs);

#endif
