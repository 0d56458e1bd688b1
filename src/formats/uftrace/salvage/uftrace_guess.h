/* The layout of values whose specification is lost, guessed from many records of one function. */
#ifndef UFTRACE_GUESS_H
#define UFTRACE_GUESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UFTRACE_GUESS_SAMPLE 128u /* bytes of values that are remembered */
#define UFTRACE_GUESS_TEXT 80u	  /* room for the longest text of uftrace_guess_items() */

/* Zero-initialised: nothing was seen. */
struct uftrace_guess {
	uint64_t dead[6]; /* hypotheses that some record contradicts, a bit each */
	uint16_t size, sample_size;
	uint16_t letters; /* of strings in the sample */
	bool any, varies; /* there was a record; not all have `size` bytes */
	uint8_t sample[UFTRACE_GUESS_SAMPLE];
};

/* Values of one more record. */
void uftrace_guess_take(struct uftrace_guess *g, const uint8_t *p, size_t size, bool big_endian);
/* The specification that fits all records: "arg1,arg2/s", "retval/x64", or bytes ("arg1/t24"). False: none does. */
bool uftrace_guess_items(const struct uftrace_guess *g, bool retval, bool big_endian, char out[UFTRACE_GUESS_TEXT]);

#endif
