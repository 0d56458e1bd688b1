/* Integers in either byte order, sets of bits, and a growable buffer to append integers to. */
#ifndef CORE_BYTES_H
#define CORE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Loads from memory of any alignment. The caller has checked the bounds. */
static inline uint16_t load_u16(const void *p, bool big_endian)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap16(v) : v;
}

static inline uint32_t load_u32(const void *p, bool big_endian)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap32(v) : v;
}

static inline uint64_t load_u64(const void *p, bool big_endian)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap64(v) : v;
}

static inline void store_u16(void *p, uint16_t v, bool big_endian)
{
	v = load_u16(&v, big_endian);
	memcpy(p, &v, sizeof(v));
}

static inline void store_u32(void *p, uint32_t v, bool big_endian)
{
	v = load_u32(&v, big_endian);
	memcpy(p, &v, sizeof(v));
}

static inline void store_u64(void *p, uint64_t v, bool big_endian)
{
	v = load_u64(&v, big_endian);
	memcpy(p, &v, sizeof(v));
}

/* In how many bytes two numbers differ: what was hit in one of them is near the other. */
static inline unsigned bytes_apart(uint64_t one, uint64_t other)
{
	unsigned apart = 0;

	for (uint64_t bits = one ^ other; bits; bits >>= 8)
		apart += (bits & 0xff) != 0;
	return apart;
}

/* True when length bytes are all zero. */
bool bytes_are_zero(const void *data, size_t length);

/* A set of small numbers: a bit for each, in an array of the caller's, zeros at first. The caller has checked that i is in it. */
static inline bool bit_get(const uint8_t *set, uint64_t i)
{
	return set[i / 8] >> i % 8 & 1;
}

static inline void bit_set(uint8_t *set, uint64_t i)
{
	set[i / 8] |= (uint8_t)(1u << i % 8);
}

static inline void bit_clear(uint8_t *set, uint64_t i)
{
	set[i / 8] &= (uint8_t) ~(1u << i % 8);
}

/* A growable buffer. Zero-initialised is empty. A failed allocation sets `failed`, after which appends do nothing; the owner
 * checks it once, at the end. */
struct bytes {
	uint8_t *data;
	size_t size, capacity;
	bool failed;
	bool big_endian; /* byte order of bytes_u16() and wider ones */
};

/* Appends length zero bytes and returns them; NULL after a failure. */
uint8_t *bytes_grow(struct bytes *b, size_t length);
void bytes_append(struct bytes *b, const void *data, size_t length);
void bytes_text(struct bytes *b, const char *text); /* without the terminator */
void bytes_printf(struct bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bytes_u8(struct bytes *b, uint8_t v);
void bytes_u16(struct bytes *b, uint16_t v);
void bytes_u32(struct bytes *b, uint32_t v);
void bytes_u64(struct bytes *b, uint64_t v);
/* Appends zeros up to the next multiple of alignment (a power of two). */
void bytes_align(struct bytes *b, size_t alignment);
/* Inserts length bytes at offset, at most size. Removes length bytes at offset, which must be within the buffer. */
void bytes_insert(struct bytes *b, size_t offset, const void *data, size_t length);
void bytes_remove(struct bytes *b, size_t offset, size_t length);
void bytes_free(struct bytes *b);

#endif
