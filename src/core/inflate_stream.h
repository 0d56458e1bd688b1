/* What the decoders of compressed streams share: input in steps, output into a spool. */
#ifndef CORE_INFLATE_STREAM_H
#define CORE_INFLATE_STREAM_H

#include "core/inflate.h"

#define INFLATE_STEP (1u << 16)

struct inflate {
	struct bundle *bundle;
	struct source *from;
	struct spool *to;
	uint64_t offset;   /* in the source: of the next byte to read */
	size_t have, used; /* bytes in `in`, and how many of them were decoded */
	uint8_t in[INFLATE_STEP], out[INFLATE_STEP];
};

/* Reads more input when all of it was decoded. False at the end of the source or after a failure. */
bool inflate_fetch(struct inflate *f, enum tracemend_status *status);
/* Appends the first `length` bytes of `out` to the spool. */
enum tracemend_status inflate_put(struct inflate *f, size_t length);
/* Describes the damage of the stream, in words of our own or of the library. */
void inflate_damage(struct inflate *f, const char *what);
/* TM_LIMIT: decoding takes more memory than this program gives. */
enum tracemend_status inflate_too_large(struct inflate *f, const char *format, uint64_t limit);

/* Each decodes the whole source. A damaged stream is described, and what was decoded of it is kept. */
enum tracemend_status inflate_gzip(struct inflate *f);
enum tracemend_status inflate_zstd(struct inflate *f);
enum tracemend_status inflate_xz(struct inflate *f);
enum tracemend_status inflate_bzip2(struct inflate *f);

#endif
