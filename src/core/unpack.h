/* Archives and compressed files, through libarchive: each member becomes a source over spooled bytes. */
#ifndef CORE_UNPACK_H
#define CORE_UNPACK_H

#include "core/bundle.h"

struct spool;

/* Whether the bytes at the start of a file (up to UNPACK_PEEK of them) are those of an archive or a compressed file. */
#define UNPACK_PEEK 512
bool unpack_recognises(const uint8_t *head, size_t length);

/* Reads the archive or compressed file `from` (of no bundle; the caller frees it) and adds what is in it to the bundle as
 * sources of `role`. What a damaged archive gives before it breaks is kept, and b->damage says so. */
enum tracemend_status unpack_into(struct bundle *b, struct source *from, enum tracemend_role role);

/* A spool holds bytes that were read once and are needed often: in memory up to UNPACK_MEMORY_MAX, then in an unlinked
 * temporary file. It belongs to the bundle. NULL: out of memory. */
struct spool *spool_new(struct bundle *b);
enum tracemend_status spool_append(struct bundle *b, struct spool *spool, const void *data, size_t length);
uint64_t spool_size(const struct spool *spool);
/* A source over spool[from, from + size), to be added with bundle_add_source(). NULL data: out of memory. */
void *spool_slice(struct spool *spool, uint64_t from);
extern const struct source_ops spool_ops;
void spool_free_all(struct bundle *b);

#endif
