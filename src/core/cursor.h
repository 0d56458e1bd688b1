/* A bounded cursor: formats read fields in no other way. A read past the end returns 0 and sets `failed`, which stays set; callers
 * check it once, after a group of reads. */
#ifndef CORE_CURSOR_H
#define CORE_CURSOR_H

#include "core/bytes.h"

struct cursor {
	const uint8_t *data; /* borrowed */
	size_t size, position;
	bool big_endian, failed;
};

static inline struct cursor cursor_make(const void *data, size_t size, bool big_endian)
{
	return (struct cursor){ .data = data, .size = size, .big_endian = big_endian };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->size - c->position;
}

/* The next length bytes, or NULL past the end. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t length)
{
	if (c->failed || length > c->size - c->position) {
		c->failed = true;
		return NULL;
	}
	const uint8_t *p = c->data + c->position;
	c->position += length;
	return p;
}

static inline void cursor_skip(struct cursor *c, size_t length)
{
	(void)cursor_take(c, length);
}

/* Moves to an absolute position. Past the end it sets `failed`. */
static inline void cursor_seek(struct cursor *c, size_t position)
{
	if (position > c->size)
		c->failed = true;
	else
		c->position = position;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 1);
	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 2);
	return p ? load_u16(p, c->big_endian) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 4);
	return p ? load_u32(p, c->big_endian) : 0;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 8);
	return p ? load_u64(p, c->big_endian) : 0;
}

#endif
