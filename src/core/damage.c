#include "core/damage.h"

#include <string.h>

/* Chooses the file to damage, in proportion to its size. */
static struct bytes *damage_pick(struct gen *g)
{
	uint64_t total = 0;
	for (size_t i = 0; i < g->file_count; i++)
		total += g->files[i].bytes.size;
	if (!total)
		return NULL;
	uint64_t at = choices_below(g->choices, total);
	for (size_t i = 0;; i++) {
		if (at < g->files[i].bytes.size)
			return &g->files[i].bytes;
		at -= g->files[i].bytes.size;
	}
}

/* A range of one to max bytes within the buffer. */
static size_t damage_range(struct choices *c, const struct bytes *b, size_t max, size_t *length)
{
	size_t at = (size_t)choices_below(c, b->size), left = b->size - at;
	*length = 1 + (size_t)choices_below(c, left < max ? left : max);
	return at;
}

void damage_apply(struct gen *g, enum tracemend_damage damage)
{
	struct choices *c = g->choices;
	struct bytes *b = damage_pick(g);
	uint8_t scratch[512];
	size_t at, length;

	if (!b)
		return;
	switch (damage) {
	case TM_DAMAGE_TRUNCATE:
		b->size = (size_t)choices_below(c, b->size);
		break;
	case TM_DAMAGE_HOLE: /* a block that was never written to disk */
		at = damage_range(c, b, 512, &length);
		memset(b->data + at, 0, length);
		break;
	case TM_DAMAGE_ZERO_TAIL: /* a file that was extended before it was written */
		at = damage_range(c, b, b->size, &length);
		memset(b->data + at, 0, b->size - at);
		break;
	case TM_DAMAGE_BITFLIP:
		at = (size_t)choices_below(c, b->size);
		b->data[at] = (uint8_t)(b->data[at] ^ (1u << choices_below(c, 8)));
		break;
	case TM_DAMAGE_DUPLICATE:
		at = damage_range(c, b, sizeof(scratch), &length);
		memcpy(scratch, b->data + at, length);
		bytes_insert(b, at + length, scratch, length);
		break;
	case TM_DAMAGE_INSERT:
		at = (size_t)choices_below(c, b->size + 1);
		length = 1 + (size_t)choices_below(c, 128);
		for (size_t i = 0; i < length; i++)
			scratch[i] = (uint8_t)choices_below(c, 256);
		bytes_insert(b, at, scratch, length);
		break;
	case TM_DAMAGE_DELETE:
		at = damage_range(c, b, 512, &length);
		bytes_remove(b, at, length);
		break;
	case TM_DAMAGE_NONE:
	case TM_DAMAGE_COUNT:
		break;
	}
}
