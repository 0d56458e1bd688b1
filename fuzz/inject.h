/* Counts and fails allocations of the code under test, which is linked with INJECT_LDFLAGS of the Makefile (--wrap=malloc and so
 * on). Allocations of libraries are not affected. */
#ifndef FUZZ_INJECT_H
#define FUZZ_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inject {
	bool armed;
	uint64_t fail_at; /* the allocation to fail, counted from 1; 0: none */
	bool sticky;	  /* all later ones fail, too */
	bool fired;	  /* out: an allocation failed */
	uint64_t calls;	  /* out: allocations so far */
	int64_t live;	  /* out: allocations not freed */
	size_t largest;	  /* out: bytes of the largest request */
	uint64_t bytes;	  /* out: bytes requested in all */
};

extern _Thread_local struct inject inject;

/* Resets the counters and starts. */
void inject_arm(uint64_t fail_at, bool sticky);
void inject_disarm(void);

#endif
