/* Decoding of gzip and zstd streams into a spool, with everything that a cut or damaged stream still gives. */
#ifndef CORE_INFLATE_H
#define CORE_INFLATE_H

#include "core/spool.h"

/* Whether the bytes at the start of a file are those of a gzip or zstd stream. */
bool inflate_recognises(const uint8_t *head, size_t length);
/* Decodes the whole of `from` into the spool. A damaged stream is not a failure: b->damage describes it, and the bytes decoded so
 * far are kept. TM_IO, TM_NO_MEMORY, TM_LIMIT (UNPACK_BYTES_MAX). */
enum tracemend_status inflate_into(struct bundle *b, struct source *from, bool gzip, struct spool *to);

#endif
