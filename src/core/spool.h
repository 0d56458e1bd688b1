/* A spool: bytes that can be read only once and are needed more often, kept in memory up to UNPACK_MEMORY_MAX, then in an unlinked
 * temporary file. */
#ifndef CORE_SPOOL_H
#define CORE_SPOOL_H

#include "core/bundle.h"

struct spool;

/* An empty spool, which belongs to the bundle and is freed with it. NULL: out of memory. */
struct spool *spool_new(struct bundle *b);
/* Sets what the first `read` bytes of an archive or compressed file may unpack to (b->unpack_max), unless the caller chose a limit.
 */
void spool_allow(struct bundle *b, uint64_t read);
/* TM_LIMIT when the spool would have more than b->unpack_max bytes, TM_NO_MEMORY, TM_IO; also in b->error. */
enum tracemend_status spool_append(struct bundle *b, struct spool *spool, const void *data, size_t length);
uint64_t spool_size(const struct spool *spool);
/* The data of a source that starts at `from` in the spool; spool_ops frees it. NULL: out of memory. */
void *spool_slice(struct spool *spool, uint64_t from);
/* A slice that begins where `slice` does. */
void *spool_slice_again(const void *slice);
extern const struct source_ops spool_ops;
/* Frees all spools of the bundle; for bundle_free(). */
void spool_free_all(struct bundle *b);

#endif
