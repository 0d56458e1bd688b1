/* What the bytes of a capture look like: settled by the initial block and header_page, or by the pages themselves. */
#ifndef TRACEDAT_SHAPE_H
#define TRACEDAT_SHAPE_H

#include "core/bytes.h"
#include "formats/tracedat/tracedat.h"

struct tracedat_shape {
	unsigned version;
	bool big_endian, old_ring; /* old_ring: the encoding of Linux 2.6.30 and before */
	uint8_t long_size;	   /* of the kernel */
	enum tracedat_codec codec;
	uint32_t page_size;
};

/* A word of the size of long of the machine that wrote the capture; so many bytes are at `at`. */
static inline uint64_t tracedat_long(const struct tracedat_shape *shape, const uint8_t *at)
{
	return shape->long_size == 8 ? load_u64(at, shape->big_endian) : load_u32(at, shape->big_endian);
}

/* Offset of the data in a page. */
static inline uint32_t tracedat_page_data(const struct tracedat_shape *shape)
{
	return 8u + shape->long_size;
}

static inline uint32_t tracedat_page_capacity(const struct tracedat_shape *shape, uint32_t page_size)
{
	return page_size - 8u - shape->long_size;
}

static inline bool tracedat_page_size_ok(uint64_t size)
{
	return size >= TRACEDAT_PAGE_MIN && size <= TRACEDAT_PAGE_MAX && !(size & (size - 1));
}

static inline uint64_t tracedat_align(uint64_t offset, uint64_t alignment)
{
	return (offset + alignment - 1) & ~(alignment - 1);
}

#endif
