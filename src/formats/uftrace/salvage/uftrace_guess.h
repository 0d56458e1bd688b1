/* The layout of values whose specification is lost, guessed from many records of one function. */
#ifndef UFTRACE_GUESS_H
#define UFTRACE_GUESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UFTRACE_GUESS_SAMPLE 128u /* bytes of values that are remembered */
#define UFTRACE_GUESS_SIZES 3u	  /* sizes that are counted */
#define UFTRACE_GUESS_STRAY 50u	  /* of a fixed size is what has it but for one record in so many: those that damage misled */
#define UFTRACE_GUESS_LEAK 1024u  /* records in which one contradiction is forgotten */
#define UFTRACE_GUESS_WORDS 18u	  /* of 64 hypotheses each */
#define UFTRACE_GUESS_TEXT 80u	  /* room for the longest text of uftrace_guess_items() */

/* Zero-initialised: nothing was seen. */
struct uftrace_guess {
	uint64_t dead[UFTRACE_GUESS_WORDS];	  /* hypotheses that too many records contradict, a bit each */
	uint64_t against[2][UFTRACE_GUESS_WORDS]; /* how many contradict the others, less one a UFTRACE_GUESS_LEAK: counters of two
						     bits */
	uint64_t count;				  /* of records */
	uint64_t often[UFTRACE_GUESS_SIZES];	  /* how often a size came, beyond what others took from it */
	uint64_t exact[UFTRACE_GUESS_SIZES];	  /* how often it came since it is listed */
	uint16_t sizes[UFTRACE_GUESS_SIZES];	  /* those that came most often */
	uint16_t sample_size;
	uint16_t letters; /* of strings in the sample */
	bool any;	  /* there was a record */
	uint8_t sample[UFTRACE_GUESS_SAMPLE];
};

/* Values of one more record. */
void uftrace_guess_take(struct uftrace_guess *g, const uint8_t *p, size_t size, bool big_endian);
/* The specification that fits all records: "arg1,arg2/s", "retval/x64", or bytes ("arg1/t24"). False: none does. */
bool uftrace_guess_items(const struct uftrace_guess *g, bool retval, bool big_endian, char out[UFTRACE_GUESS_TEXT]);

#endif
