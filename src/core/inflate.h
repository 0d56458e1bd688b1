/* Decoding of compressed streams into a spool, with everything that a cut or damaged stream still gives. The filters of libarchive
 * return decoded bytes in blocks, and lose the last block of a cut stream; captures that were cut together with their compressed
 * file are common. */
#ifndef CORE_INFLATE_H
#define CORE_INFLATE_H

#include "core/spool.h"

/* The format that a file begins with: "gzip" (RFC 1952), "zstd" (RFC 8878), "xz", "bzip2"; NULL: none of them. Six bytes are
 * enough. */
const char *inflate_recognises(const uint8_t *head, size_t length);
/* Decodes the whole of `from`, a file in the format that inflate_recognises() returned, into the spool. A damaged stream is not a
 * failure: b->damage describes it, and the bytes decoded so far are kept. TM_IO, TM_NO_MEMORY, TM_LIMIT: more bytes than
 * spool_append() takes, or a window larger than that of the strongest preset of the format's own program. */
enum tracemend_status inflate_into(struct bundle *b, struct source *from, const char *format, struct spool *to);

#endif
