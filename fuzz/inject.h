/* Counting and failing allocations of the code under test, by linking with INJECT_LDFLAGS of the Makefile
 * (--wrap=malloc and so on). Only what the program's own objects call is seen, not its libraries. */
#ifndef FUZZ_INJECT_H
#define FUZZ_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inject {
	bool armed;
	uint64_t fail_at; /* the allocation (1 is the first) that fails; 0: none */
	bool sticky;	  /* all later ones fail too */
	bool fired;	  /* out: an allocation failed */
	uint64_t calls;	  /* out: allocations so far */
	int64_t live;	  /* out: allocations not freed */
	size_t largest;	  /* out: bytes of the largest request */
	uint64_t bytes;	  /* out: bytes requested in all */
};

extern _Thread_local struct inject inject;

/* Zeroes the counters and starts. */
void inject_arm(uint64_t fail_at, bool sticky);
void inject_disarm(void);

#endif
