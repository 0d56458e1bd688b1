/* Where blocks begin and end. */
#ifndef LTTNG_FRAME_H
#define LTTNG_FRAME_H

#include "formats/lttng/scan/lttng_trace.h"

struct lttng_frame {
	uint64_t offset, length; /* length: to the next block, or to the end of the file */
	uint64_t from; /* of its first byte. Not `offset`: bytes came into its header, or are missing there; then offset is where
			* the block would begin for its events to be where they should, modulo 2^64 */
	bool last;
	bool next_sound;	    /* a sound header follows */
	bool sound;		    /* its own header was found sound by a search */
	bool again;		    /* all of it comes again behind it, or the bytes between two copies of its header do */
	struct lttng_repeat repeat; /* it is longer by these */
};
/* Finds the size of the file's blocks, up to 2.4. */
void lttng_frame_open(struct lttng_trace *t, struct lttng_file *f);
/* Whether a sound header of this trace is behind the beginning of the file. */
bool lttng_frame_follows(struct lttng_trace *t, struct lttng_file *f);
/* The frame at offset; false at the end of the file. */
bool lttng_frame_at(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, struct lttng_frame *frame);
/* How many constants of the header agree with the trace, and how many there are. */
unsigned lttng_header_score(const struct lttng_trace *t, const struct lttng_header *h, unsigned *of);
/* Whether it is what a hole left of a header of this trace: constants that agree, and zeros. */
bool lttng_header_is_rest(const struct lttng_trace *t, const struct lttng_header *h);
/* Whether a sound header of this trace is at that offset. */
bool lttng_header_at(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, struct lttng_header *h);

#endif
