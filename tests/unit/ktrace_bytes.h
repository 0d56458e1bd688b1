/* A file of ktrace, made piece by piece, for its unit tests. */
#ifndef KTRACE_BYTES_H
#define KTRACE_BYTES_H

#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/format.h"
#include "formats/ktrace/ktrace.h"

extern const struct format ktrace_format;

/* The file that is being made. */
static struct bytes file;

static inline void begin(void)
{
	bytes_free(&file);
	file = (struct bytes){ 0 };
}

static inline void fill(uint8_t byte, size_t count)
{
	uint8_t *p = bytes_grow(&file, count);
	assert_non_null(p);
	memset(p, byte, count);
}

/* The header of version 3. */
static inline void file_header(void)
{
	bytes_u32(&file, KTRACE_MAGIC);
	bytes_u32(&file, 0);
	bytes_u64(&file, KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED);
	bytes_u32(&file, 125);
	bytes_u32(&file, 3);
	bytes_u64(&file, 1000);
	bytes_u64(&file, 1500000000);
	for (unsigned i = 0; i < 3; i++)
		bytes_u32(&file, 0);
	bytes_u32(&file, KTRACE_FLAG_64);
}

static inline void chunk_header(uint32_t tag, uint64_t size)
{
	bytes_u32(&file, tag);
	bytes_u32(&file, 0);
	bytes_u64(&file, size);
}

static inline void summary(void)
{
	chunk_header(KTRACE_SUMMARY, 8);
	bytes_u64(&file, 2000);
}

static inline void record(uint64_t time, uint64_t tid, uint32_t debugid)
{
	bytes_u64(&file, time);
	for (unsigned i = 0; i < 4; i++)
		bytes_u64(&file, 7);
	bytes_u64(&file, tid);
	bytes_u32(&file, debugid);
	bytes_u32(&file, 1);
	bytes_u64(&file, 0);
}

/* Records of either width that pass every test. */
static inline void record_64(uint64_t time)
{
	record(time, 0x64, 0x01400000);
}

static inline void record_32(uint64_t time)
{
	bytes_u64(&file, time | UINT64_C(1) << 56);
	for (unsigned i = 0; i < 4; i++)
		bytes_u32(&file, 0x70007);
	bytes_u32(&file, 0x64);
	bytes_u32(&file, 0x01400000);
}

/* The file as it is now. Valid until the next call, and until a byte is added. */
static inline struct bundle *file_bundle(struct capture_faults *faults)
{
	static struct capture capture;

	assert_false(file.failed);
	capture = (struct capture){ .count = 1 };
	capture.files[0].data = file.data;
	capture.files[0].size = file.size;
	struct bundle *b = capture_bundle(&capture, NULL, faults);
	assert_non_null(b);
	return b;
}

#endif
