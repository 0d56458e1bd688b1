/* The extent of lists of event formats, by their sizes. */
#include "formats/tracedat/decode/tracedat_format_list.h"

#include "core/bytes.h"

bool tracedat_format_begins(const uint8_t *data, size_t at, size_t end)
{
	return at <= end && end - at >= 13 && !memcmp(data + at + 8, "name:", 5);
}

size_t tracedat_formats_end(bool big_endian, const uint8_t *data, size_t at, size_t size, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (at > size || size - at < 8)
			return SIZE_MAX;
		uint64_t length = load_u64(data + at, big_endian);
		if (!length || length > TRACEDAT_FORMAT_MAX || length > size - at - 8 || !tracedat_format_begins(data, at, size) ||
		    data[at + 8 + length - 1] != '\n')
			return SIZE_MAX;
		at += 8 + (size_t)length;
	}
	return at;
}

size_t tracedat_systems_end(bool big_endian, const uint8_t *data, size_t at, size_t size)
{
	if (at > size || size - at < 4)
		return SIZE_MAX;
	uint32_t systems = load_u32(data + at, big_endian);
	at += 4;
	if (systems > TRACEDAT_SYSTEMS_MAX)
		return SIZE_MAX;
	for (uint32_t i = 0; i < systems && at != SIZE_MAX; i++) {
		const uint8_t *nul = memchr(data + at, 0,
					    size - at < TRACEDAT_SYSTEM_NAME_MAX ? size - at : TRACEDAT_SYSTEM_NAME_MAX);
		size_t count = nul ? (size_t)(nul - data) + 1 : size;
		if (size - count < 4)
			return SIZE_MAX;
		at = tracedat_formats_end(big_endian, data, count + 4, size, load_u32(data + count, big_endian));
		/* More formats than counted. */
		if (at != SIZE_MAX && tracedat_format_begins(data, at, size))
			return SIZE_MAX;
	}
	return at;
}
