#include "core/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool bytes_are_zero(const void *data, size_t length)
{
	const uint8_t *p = data;
	/* The first byte is zero, and each byte equals its neighbour. */
	return length == 0 || (p[0] == 0 && memcmp(p, p + 1, length - 1) == 0);
}

static bool bytes_reserve(struct bytes *b, size_t length)
{
	if (b->failed)
		return false;
	if (length > SIZE_MAX / 2 - b->size) {
		b->failed = true;
		return false;
	}
	size_t need = b->size + length;
	if (need <= b->capacity)
		return true;
	size_t capacity = b->capacity ? b->capacity : 256;
	while (capacity < need)
		capacity *= 2;
	uint8_t *data = realloc(b->data, capacity);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->capacity = capacity;
	return true;
}

uint8_t *bytes_grow(struct bytes *b, size_t length)
{
	/* Reserve one byte at least: without a buffer there is no pointer to return. */
	if (!bytes_reserve(b, length ? length : 1))
		return NULL;
	uint8_t *p = b->data + b->size;
	if (length)
		memset(p, 0, length);
	b->size += length;
	return p;
}

void bytes_append(struct bytes *b, const void *data, size_t length)
{
	if (length && bytes_reserve(b, length)) {
		memcpy(b->data + b->size, data, length);
		b->size += length;
	}
}

void bytes_text(struct bytes *b, const char *text)
{
	bytes_append(b, text, strlen(text));
}

void bytes_printf(struct bytes *b, const char *format, ...)
{
	va_list arguments, again;
	va_start(arguments, format);
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, arguments);
	/* vsnprintf() writes a terminator, which is not counted in the size. */
	if (length < 0) {
		b->failed = true;
	} else if (bytes_reserve(b, (size_t)length + 1)) {
		(void)vsnprintf((char *)b->data + b->size, (size_t)length + 1, format, again);
		b->size += (size_t)length;
	}
	va_end(again);
	va_end(arguments);
}

void bytes_u8(struct bytes *b, uint8_t v)
{
	bytes_append(b, &v, 1);
}

void bytes_u16(struct bytes *b, uint16_t v)
{
	store_u16(&v, v, b->big_endian);
	bytes_append(b, &v, sizeof(v));
}

void bytes_u32(struct bytes *b, uint32_t v)
{
	store_u32(&v, v, b->big_endian);
	bytes_append(b, &v, sizeof(v));
}

void bytes_u64(struct bytes *b, uint64_t v)
{
	store_u64(&v, v, b->big_endian);
	bytes_append(b, &v, sizeof(v));
}

void bytes_align(struct bytes *b, size_t alignment)
{
	size_t rest = b->size & (alignment - 1);
	if (rest)
		(void)bytes_grow(b, alignment - rest);
}

void bytes_insert(struct bytes *b, size_t offset, const void *data, size_t length)
{
	if (!length || !bytes_reserve(b, length))
		return;
	memmove(b->data + offset + length, b->data + offset, b->size - offset);
	memcpy(b->data + offset, data, length);
	b->size += length;
}

void bytes_remove(struct bytes *b, size_t offset, size_t length)
{
	if (!length || b->failed)
		return;
	memmove(b->data + offset, b->data + offset + length, b->size - offset - length);
	b->size -= length;
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ .big_endian = b->big_endian };
}
