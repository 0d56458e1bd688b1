/* Choices: every decision of a generator is drawn from a byte string, which comes from a seed or from a fuzzer. When the string is
 * used up, every draw gives 0, which must lead to the smallest valid output. */
#ifndef CORE_CHOICES_H
#define CORE_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct choices {
	const uint8_t *data; /* NULL: unlimited choices, from the seed */
	size_t size, position;
	uint64_t state[2];
};

struct choices choices_from_seed(uint64_t seed);
struct choices choices_from_bytes(const uint8_t *data, size_t size);

/* A number below n (n > 0). 0 when the string is used up. */
uint64_t choices_below(struct choices *c, uint64_t n);
/* A number from low to high, both included. */
uint64_t choices_between(struct choices *c, uint64_t low, uint64_t high);
/* True with the probability `in` / `of`; false when the string is used up. */
bool choices_chance(struct choices *c, unsigned in, unsigned of);
/* Any 64-bit number; small numbers, powers of two and their neighbours, and all ones are more likely. */
uint64_t choices_number(struct choices *c);
uint64_t choices_u64(struct choices *c);
bool choices_done(const struct choices *c);

#endif
