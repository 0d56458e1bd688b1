/* Decompression within the limits of the scan. */
#include "formats/tracedat/scan/tracedat_walk.h"

#include <stdlib.h>

bool tracedat_bytes_room(uint8_t **bytes, size_t *capacity, size_t size)
{
	if (*capacity >= size)
		return true;
	uint8_t *grown = realloc(*bytes, size);
	if (!grown)
		return false;
	*bytes = grown;
	*capacity = size;
	return true;
}

bool tracedat_decompress(struct tracedat_walk *w, const uint8_t *data, size_t size, uint8_t *out, size_t room,
			 struct tracedat_decoded *d)
{
	bool fine = tracedat_decode(&w->pages.decoder, w->shape.codec, data, size, out, room, d);
	if (w->pages.decoder.no_memory)
		tracedat_no_memory(w);
	return fine;
}

bool tracedat_ratio_exceeded(struct tracedat_walk *w, uint64_t at, uint64_t stored, uint64_t decoded)
{
	uint64_t all = w->pages.decoded + decoded;
	bool one = decoded > (1u << 20) && decoded / (stored ? stored : 1) > TRACEDAT_RATIO_MAX;
	bool sum = all > (UINT64_C(64) << 20) && all / (w->source->size ? w->source->size : 1) > TRACEDAT_RATIO_ALL_MAX;

	if (!one && !sum)
		return false;
	if (!w->stopped) {
		struct finding *fd = tracedat_finding(w, TRACEDAT_RULE_size_overflow_bomb, at, stored);
		if (one)
			finding_say(fd, "%llu bytes decompress to %llu, expected at most %u times as many",
				    (unsigned long long)stored, (unsigned long long)decoded, TRACEDAT_RATIO_MAX);
		else
			finding_say(fd,
				    "with this block %llu bytes were decompressed from a file of %llu; decompression stops here",
				    (unsigned long long)all, (unsigned long long)w->source->size);
	}
	w->stopped |= sum;
	return true;
}
