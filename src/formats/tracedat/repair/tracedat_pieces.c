/* A composition of an output in its own order. */
#include "formats/tracedat/repair/tracedat_pieces.h"

#include <stdlib.h>

#include "core/array.h"

void tracedat_pieces_free(struct tracedat_pieces *p)
{
	free(p->list);
	bytes_free(&p->literals);
	*p = (struct tracedat_pieces){ 0 };
}

static struct tracedat_piece *piece_new(struct tracedat_pieces *p)
{
	if (array_room(&p->list, &p->capacity, p->count, sizeof(*p->list), PLAN_RANGES_MAX) == TM_OK)
		return &p->list[p->count++];
	p->failed = true;
	return NULL;
}

void tracedat_pieces_copy(struct tracedat_pieces *p, const struct source *from_source, uint64_t from, uint64_t length)
{
	if (!length || p->failed)
		return;
	p->size += length;
	struct tracedat_piece *last = p->count ? &p->list[p->count - 1] : NULL;
	if (last && !last->literal && last->source == from_source && last->from + last->length == from) {
		last->length += length;
		return;
	}
	struct tracedat_piece *piece = piece_new(p);
	if (piece)
		*piece = (struct tracedat_piece){ .source = from_source, .from = from, .length = length, .old = TRACEDAT_NO_OLD };
}

size_t tracedat_pieces_field(struct tracedat_pieces *p, const struct source *from_source, uint64_t old, const void *bytes,
			     size_t length, unsigned rule, const char *why)
{
	if (!length || p->failed)
		return SIZE_MAX;
	p->size += length;
	struct tracedat_piece *piece = piece_new(p);
	if (!piece)
		return SIZE_MAX;
	*piece = (struct tracedat_piece){ .source = from_source,
					  .from = p->literals.size,
					  .length = length,
					  .old = old,
					  .why = why,
					  .rule = (uint16_t)rule,
					  .literal = true };
	bytes_append(&p->literals, bytes, length);
	if (p->literals.failed) {
		p->failed = true;
		p->count--;
		return SIZE_MAX;
	}
	return p->count - 1;
}

size_t tracedat_pieces_literal(struct tracedat_pieces *p, const void *bytes, size_t length, unsigned rule, const char *why)
{
	return tracedat_pieces_field(p, NULL, TRACEDAT_NO_OLD, bytes, length, rule, why);
}

void tracedat_pieces_fill(struct tracedat_pieces *p, size_t piece, const void *bytes)
{
	if (!p->failed && piece < p->count && p->list[piece].literal)
		memcpy(p->literals.data + p->list[piece].from, bytes, (size_t)p->list[piece].length);
}

static const uint8_t zeros[4096];

void tracedat_pieces_zeros(struct tracedat_pieces *out, uint64_t n, unsigned rule, const char *why)
{
	while (n) {
		size_t step = n < sizeof(zeros) ? (size_t)n : sizeof(zeros);
		(void)tracedat_pieces_literal(out, zeros, step, rule, why);
		n -= step;
	}
}
