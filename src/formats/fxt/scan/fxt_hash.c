#include "formats/fxt/scan/fxt_hash.h"

uint64_t fxt_hash(const void *data, size_t length)
{
	const uint8_t *p = data;
	uint64_t h = length * FXT_HASH_SEED, rest = 0;
	if (!length)
		return 0;
	for (; length >= FXT_WORD; length -= FXT_WORD, p += FXT_WORD)
		h = fxt_hash_mix(h, load_u64(p, false));
	for (size_t i = 0; i < length; i++)
		rest |= (uint64_t)p[i] << (8 * i);
	if (length)
		h = fxt_hash_mix(h, rest);
	return h ? h : 1;
}
