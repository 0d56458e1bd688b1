/* Hashes of texts and keys. They decide about notes and nesting only, so a collision can never make an error or hide one. The
 * multiplier is one of the finalizer of MurmurHash3 (Appleby). */
#ifndef FXT_HASH_H
#define FXT_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "core/bytes.h"
#include "formats/fxt/fxt.h"

#define FXT_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t fxt_hash_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
	return h ^ h >> 32;
}

/* The empty text is 0, and no other. */
uint64_t fxt_hash(const void *data, size_t length);

/* As fxt_hash(), of text that is not empty and has zero padding: by whole words. */
static inline uint64_t fxt_hash_padded(const uint8_t *text, uint64_t length)
{
	uint64_t h = length * FXT_HASH_SEED;
	for (const uint8_t *end = text + length; text < end; text += FXT_WORD)
		h = fxt_hash_mix(h, load_u64(text, false));
	return h ? h : 1;
}

#endif
