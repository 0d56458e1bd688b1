/* Blocks of a disk that are from elsewhere, and begin between two records: what is in them shows it. */
#ifndef FXT_BLOCK_H
#define FXT_BLOCK_H

#include "formats/fxt/scan/fxt_table.h"

/* Blocks that are replaced as a whole: sizes are powers of two. */
#define FXT_SECTOR_BYTES 512u
#define FXT_BLOCK_BYTES 4096u
#define FXT_NO_BLOCK UINT64_MAX

/* Where a block begins that ends in [from, until), which is damage, and is from elsewhere; FXT_NO_BLOCK: there is none. archive:
 * the last magic number that is not the first record; 0: there is none. */
uint64_t fxt_block_foreign(struct fxt_registry *reg, uint64_t archive, uint64_t from, uint64_t until);
/* Whether what is in the block of so many bytes that begins at `begin`, in front of the position, shows that it is from elsewhere.
 * known: the bytes in front of it are, so that any sign will do. */
bool fxt_block_odd(struct fxt_registry *reg, uint64_t begin, uint64_t size, bool known);

#endif
