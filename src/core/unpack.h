/* Archives and compressed files, through libarchive: each member becomes a source over spooled bytes. */
#ifndef CORE_UNPACK_H
#define CORE_UNPACK_H

#include "core/bundle.h"

/* Whether the bytes at the start of a file (up to UNPACK_PEEK of them) are those of an archive or a compressed file. */
#define UNPACK_PEEK 512
bool unpack_recognises(const uint8_t *head, size_t length);

/* Reads the archive or compressed file `from` (of no bundle; the caller frees it) and adds what is in it to the bundle as
 * sources of `role`. What a damaged archive gives before it breaks is kept, and b->damage says so. */
enum tracemend_status unpack_into(struct bundle *b, struct source *from, enum tracemend_role role);

#endif
