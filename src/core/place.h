/* Places that report: in a test build (TM_SITES) each has a number, and one of them can be silenced while the program runs, to
 * show that a test fails without it. In any other build all of this is nothing.
 *
 *	TM_KNOCKOUT=n		the place of that number reports nothing
 *	TM_SITES=list		prints "n file:line rule" for each place, and ends
 *	TM_SITES_HIT=FILE	appends the numbers of the places that were reached, one a line, when the program ends
 *
 * Macros that report begin with PLACE(rule); wrappers of a format do the same, so that the place is where the format's own code
 * stands and not the wrapper. */
#ifndef CORE_PLACE_H
#define CORE_PLACE_H

#include <stdbool.h>

#ifdef TM_SITES

struct report_place {
	const char *file, *rule;
	unsigned line;
};

/* Notes that this place is about to report. True: it is silenced, and what is reported next is not counted. */
bool place_reached(const struct report_place *const *place);
/* True when the place that was reached last is silenced. */
bool place_silenced(void);

/* The section holds pointers, since the compiler may align and pad structures in it. */
#define PLACE(of) \
	__extension__({ \
		static const struct report_place place_here = { __FILE__, #of, __LINE__ }; \
		static const struct report_place *const place_entry __attribute__((section("tm_sites"), used)) = &place_here; \
		place_reached(&place_entry); \
	})

#else

static inline bool place_silenced(void)
{
	return false;
}

#define PLACE(of) ((void)sizeof(of), false)

#endif
#endif
