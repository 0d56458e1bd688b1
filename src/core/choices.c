#include "core/choices.h"

#include <string.h>

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): mixes any seed, 0 included. */
static uint64_t choices_mix(uint64_t *seed)
{
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

struct choices choices_from_seed(uint64_t seed)
{
	struct choices c = { 0 };
	c.state[0] = choices_mix(&seed);
	c.state[1] = choices_mix(&seed) | 1;
	return c;
}

struct choices choices_from_bytes(const uint8_t *data, size_t size)
{
	static const uint8_t none;
	return (struct choices){ .data = data ? data : &none, .size = data ? size : 0 };
}

/* A decision of `width` bytes, little-endian. A decision takes no more bytes of the string than it needs, so that one byte of a
 * fuzzer is one decision. */
static uint64_t choices_draw(struct choices *c, unsigned width)
{
	if (!c->data) {
		/* xorshift128+ (Vigna: Further scramblings of Marsaglia's xorshift generators, 2014) */
		uint64_t s1 = c->state[0];
		const uint64_t s0 = c->state[1];
		const uint64_t result = s0 + s1;
		c->state[0] = s0;
		s1 ^= s1 << 23;
		c->state[1] = s1 ^ s0 ^ (s1 >> 18) ^ (s0 >> 5);
		return width >= 8 ? result : (result >> 11) & ((UINT64_C(1) << (8 * width)) - 1);
	}
	uint64_t v = 0;
	for (unsigned i = 0; i < width && c->position < c->size; i++)
		v |= (uint64_t)c->data[c->position++] << (8 * i);
	return v;
}

uint64_t choices_below(struct choices *c, uint64_t n)
{
	if (n <= 1)
		return 0;
	if (!c->data && n <= UINT32_MAX)
		return (choices_draw(c, 4) * n) >> 32;
	return choices_draw(c, n <= 0x100 ? 1 : n <= 0x10000 ? 2 : n <= UINT64_C(0x100000000) ? 4 : 8) % n;
}

uint64_t choices_between(struct choices *c, uint64_t low, uint64_t high)
{
	uint64_t span = high - low;
	return low + (span == UINT64_MAX ? choices_draw(c, 8) : choices_below(c, span + 1));
}

bool choices_chance(struct choices *c, unsigned in, unsigned of)
{
	/* True is the high end, so that a string that is used up gives false. */
	return choices_below(c, of) >= (uint64_t)of - in;
}

uint64_t choices_number(struct choices *c)
{
	switch (choices_below(c, 4)) {
	case 0:
		return choices_below(c, 16);
	case 1: {
		uint64_t power = UINT64_C(1) << choices_below(c, 64);
		return power + choices_below(c, 3) - 1;
	}
	case 2: {
		/* One draw in each statement: C leaves the order of two draws in one expression open. */
		uint64_t value = choices_u64(c);
		return value >> choices_below(c, 64);
	}
	default:
		return choices_chance(c, 1, 4) ? UINT64_MAX : choices_u64(c);
	}
}

uint64_t choices_u64(struct choices *c)
{
	return choices_draw(c, 8);
}

bool choices_done(const struct choices *c)
{
	return c->data && c->position >= c->size;
}
