#include "core/blocks.h"

#include <string.h>

#define SIZE_LEAST BLOCKS_LEAST
#define SIZE_MOST (BLOCKS_LEAST << (BLOCKS_SIZES - 1))
/* In front of an error and behind it, in bytes and in parts of a block, the seam may be: the record that it cuts is reported, or a
 * part of it, or what follows. */
#define NEAR 16u
#define BEHIND_PART 4u
/* Seams, blocks beside them, and blocks with errors within, for each size. */
#define SEAMS_MOST 24u
#define BLOCKS_MOST (3 * SEAMS_MOST)
/* An error is at so many seams at most, at each of its ends. */
#define SEAMS_OF_ERROR 2u
/* Seams of an exchange that show, of four or three: the others may happen to be between two records. */
#define SEAMS_LEAST 2u

/* Errors, a bit each. */
struct errors {
	uint64_t bits[BLOCKS_PLACES_MOST / 64];
};

struct seams {
	uint64_t list[SEAMS_MOST];
	struct errors at[SEAMS_MOST];
	unsigned count;
	uint64_t size; /* of the blocks that meet there */
};

/* Blocks of one size: where they meet at the errors, and where those with errors within begin. */
struct evidence {
	struct seams seams, within;
};

struct moves {
	struct source *source;
	struct block_move *list;
	unsigned count, most;
};

/* Number of the seam; SEAMS_MOST: it is none. */
static unsigned seam_of(const struct seams *s, uint64_t at)
{
	unsigned i = 0;

	while (i < s->count && s->list[i] != at)
		i++;
	return i < s->count ? i : SEAMS_MOST;
}

static void add_seam(struct seams *s, uint64_t at, unsigned error)
{
	unsigned i = seam_of(s, at);

	if (i == SEAMS_MOST && s->count < SEAMS_MOST)
		s->list[i = s->count++] = at;
	if (i < SEAMS_MOST)
		s->at[i].bits[error / 64] |= UINT64_C(1) << error % 64;
}

/* Where blocks of this size meet, at the errors. */
static void find_seams(struct seams *s, const struct block_place *errors, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const uint64_t from = errors[i].offset > NEAR ? errors[i].offset - NEAR : 0,
			       until = errors[i].offset + errors[i].length + s->size / BEHIND_PART;
		const uint64_t first = (from + s->size - 1) / s->size * s->size, last = until / s->size * s->size;
		for (unsigned n = 0; n < SEAMS_OF_ERROR && first + n * s->size <= last; n++) {
			add_seam(s, first + n * s->size, i);
			add_seam(s, last - n * s->size, i);
		}
	}
}

/* Adds the errors at that place to all. Returns whether there are some. */
static bool add_errors(struct errors *all, const struct seams *s, uint64_t at)
{
	const unsigned n = seam_of(s, at);

	for (unsigned k = 0; n < SEAMS_MOST && k < BLOCKS_PLACES_MOST / 64; k++)
		all->bits[k] |= s->at[n].bits[k];
	return n < SEAMS_MOST;
}

static unsigned count_errors(const struct errors *all)
{
	unsigned errors = 0;

	for (unsigned k = 0; k < BLOCKS_PLACES_MOST / 64; k++)
		errors += (unsigned)__builtin_popcountll(all->bits[k]);
	return errors;
}

/* How many errors are at the ends of the two blocks; 0 unless there are some at two ends, or at one, and others within the block
 * that is not there. */
static unsigned errors_of(const struct evidence *e, uint64_t a, uint64_t b)
{
	const uint64_t size = e->seams.size;
	struct errors all = { { 0 } };
	const unsigned first = add_errors(&all, &e->seams, a) + add_errors(&all, &e->seams, a + size),
		       second = (b == a + size ? 0u : add_errors(&all, &e->seams, b)) + add_errors(&all, &e->seams, b + size);

	if (first + second >= SEAMS_LEAST)
		return count_errors(&all);
	if (!(first + second) || !add_errors(&all, &e->within, first ? b : a))
		return 0;
	const unsigned errors = count_errors(&all);
	return errors > 1 ? errors : 0;
}

/* Keeps the most likely ones, in order: of those alike the larger blocks, which come first. */
static void add_move(struct moves *m, struct block_move move)
{
	if (m->count == m->most && m->list[m->count - 1].errors >= move.errors)
		return;
	unsigned at = m->count < m->most ? m->count++ : m->most - 1;
	for (; at && m->list[at - 1].errors < move.errors; at--)
		m->list[at] = m->list[at - 1];
	m->list[at] = move;
}

/* Whether two blocks are equal; of one byte again and again they are no copies. */
static bool are_equal(struct source *s, uint64_t a, uint64_t b, uint64_t size)
{
	uint8_t one[SIZE_MOST], other[SIZE_MOST];

	return source_read(s, a, one, (size_t)size) == TM_OK && source_read(s, b, other, (size_t)size) == TM_OK &&
	       !memcmp(one, other, (size_t)size) && memcmp(one, one + 1, (size_t)size - 1) != 0;
}

static bool is_within(const struct source *s, uint64_t at, uint64_t size)
{
	return at <= s->size && size <= s->size - at;
}

static void find_copies(struct moves *m, uint64_t size, const uint64_t *blocks, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (blocks[i] >= size && are_equal(m->source, blocks[i] - size, blocks[i], size))
			add_move(m, (struct block_move){ size, blocks[i] - size, blocks[i], true, BLOCKS_PLACES_MOST });
}

static void find_exchanges(struct moves *m, const struct evidence *e, const uint64_t *blocks, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		for (unsigned k = i + 1; k < count; k++) {
			const uint64_t a = blocks[i] < blocks[k] ? blocks[i] : blocks[k], b = blocks[i] + blocks[k] - a;
			const unsigned errors = errors_of(e, a, b);
			if (errors)
				add_move(m, (struct block_move){ e->seams.size, a, b, false, errors });
		}
	}
}

/* Puts the block into the list, unless it is there. */
static void add_block(const struct source *s, uint64_t at, uint64_t size, uint64_t *blocks, unsigned *count)
{
	unsigned i = 0;

	if (!is_within(s, at, size))
		return;
	while (i < *count && blocks[i] != at)
		i++;
	if (i == *count)
		blocks[(*count)++] = at;
}

/* The most likely moves of blocks of that size. */
static void find_moves(struct moves *m, const struct block_place *errors, unsigned count, uint64_t size)
{
	struct evidence e = { .seams.size = size };
	uint64_t blocks[BLOCKS_MOST];
	unsigned n = 0;

	find_seams(&e.seams, errors, count);
	for (unsigned i = 0; i < count; i++)
		add_seam(&e.within, errors[i].offset / size * size, i);
	for (unsigned i = 0; i < e.seams.count; i++) {
		add_block(m->source, e.seams.list[i], size, blocks, &n);
		add_block(m->source, e.seams.list[i] - size, size, blocks, &n);
	}
	find_copies(m, size, blocks, n);
	for (unsigned i = 0; i < e.within.count; i++)
		add_block(m->source, e.within.list[i], size, blocks, &n);
	find_exchanges(m, &e, blocks, n);
}

unsigned blocks_moved(struct source *s, const struct block_place *errors, unsigned count, struct block_move out[BLOCKS_TRIALS_MOST])
{
	struct moves all = { s, out, 0, BLOCKS_TRIALS_MOST };

	for (uint64_t size = SIZE_MOST; size >= SIZE_LEAST; size /= 2) {
		struct block_move list[BLOCKS_TRIALS_OF_SIZE];
		struct moves m = { s, list, 0, BLOCKS_TRIALS_OF_SIZE };
		find_moves(&m, errors, count, size);
		for (unsigned i = 0; i < m.count; i++)
			add_move(&all, list[i]);
	}
	return s->bundle->error.status == TM_OK ? all.count : 0;
}

unsigned blocks_first(const struct source *s, uint64_t at, struct block_move out[BLOCKS_SIZES])
{
	unsigned count = 0;

	for (uint64_t size = SIZE_MOST; size >= SIZE_LEAST; size /= 2)
		if (at && at % size == 0 && is_within(s, at, size))
			out[count++] = (struct block_move){ size, 0, at, false, BLOCKS_PLACES_MOST };
	return count;
}

void blocks_undo(struct plan *p, const struct source *s, const struct block_move *m, unsigned rule)
{
	const unsigned output = plan_output(p, s->name);
	const uint64_t end = m->second + m->size;

	if (m->twice) {
		plan_copy(p, output, s, 0, m->second);
		plan_drop(p, s, m->second, m->size, rule, "repeats the block before it, which was written twice");
	} else {
		plan_copy(p, output, s, 0, m->first);
		plan_copy(p, output, s, m->second, m->size);
		plan_copy(p, output, s, m->first + m->size, m->second - m->first - m->size);
		plan_copy(p, output, s, m->first, m->size);
	}
	plan_copy(p, output, s, end, s->size - end);
}
