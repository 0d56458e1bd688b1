/* Archives and compressed files, by libarchive: each member becomes a source of spooled bytes. */
#ifndef CORE_UNPACK_H
#define CORE_UNPACK_H

#include "core/bundle.h"

/* Whether the first bytes of a file (up to UNPACK_PEEK) are those of an archive or a compressed file. */
#define UNPACK_PEEK 512
bool unpack_recognises(const uint8_t *head, size_t length);

/* Reads the archive or compressed file `from` (which belongs to no bundle; the caller frees it) and adds its members to the bundle
 * as sources of `role`. What can be unpacked of a damaged archive is added, and b->damage describes the damage. */
enum tracemend_status unpack_into(struct bundle *b, struct source *from, enum tracemend_role role);

#endif
