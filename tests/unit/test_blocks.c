/* core/blocks.h: blocks that were exchanged, or written twice, are told by where the errors are; and stand where they belong when
 * that is undone. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/blocks.h"

#define SIZE 20000u
#define BLOCK 512u

static void fill(uint8_t *out)
{
	for (size_t i = 0; i < SIZE; i++)
		out[i] = (uint8_t)(i / BLOCK * 37 + i % 251);
}

static struct bundle *open_file(const uint8_t *bytes, size_t size)
{
	struct capture c = { .count = 1 };

	c.files[0].data = bytes;
	c.files[0].size = size;
	struct bundle *b = capture_bundle(&c, NULL, NULL);
	assert_non_null(b);
	return b;
}

/* Whether the move is in the list; and whether it is the first of its size. */
static bool has_move(const struct block_move *list, unsigned count, struct block_move m)
{
	for (unsigned i = 0; i < count; i++)
		if (list[i].size == m.size && list[i].first == m.first && list[i].second == m.second && list[i].twice == m.twice)
			return true;
	return false;
}

static void assert_undone(struct bundle *b, const struct block_move *m, const uint8_t *expected, size_t size)
{
	static uint8_t undone[SIZE + BLOCK];
	struct tracemend_error error = { 0 };
	struct plan *p = plan_new(b, NULL, 0);

	assert_non_null(p);
	blocks_undo(p, b->sources[0], m, 0);
	assert_int_equal(plan_verify(p, &error), TM_OK);
	assert_int_equal(plan_size(p, 0), size);
	assert_int_equal(plan_read(p, 0, 0, undone, size), TM_OK);
	assert_memory_equal(undone, expected, size);
	plan_free(p);
}

static void exchanged(void **state)
{
	static uint8_t sound[SIZE], bytes[SIZE];
	struct block_move list[BLOCKS_TRIALS_MOST];
	const struct block_move m = { .size = BLOCK, .first = 4 * BLOCK, .second = 9 * BLOCK };
	/* A record that the first seam cuts, one that is behind the second, one in front of the fourth; the third one does not
	 * show. */
	const struct block_place errors[] = { { m.first - 24, 48 }, { m.first + BLOCK + 16, 0 }, { m.second + BLOCK - 8, 8 } };
	(void)state;

	fill(sound);
	memcpy(bytes, sound, SIZE);
	memcpy(bytes + m.first, sound + m.second, BLOCK);
	memcpy(bytes + m.second, sound + m.first, BLOCK);
	struct bundle *b = open_file(bytes, SIZE);
	unsigned count = blocks_moved(b->sources[0], errors, 3, list);
	assert_true(has_move(list, count, m));
	for (unsigned i = 1; i < count; i++)
		assert_true(list[i].errors <= list[i - 1].errors);
	assert_undone(b, &m, sound, SIZE);
	assert_int_equal(blocks_moved(b->sources[0], errors, 0, list), 0);
	/* One error is at no two ends. */
	assert_int_equal(blocks_moved(b->sources[0], &(struct block_place){ 2 * BLOCK + 200, 8 }, 1, list), 0);
	bundle_free(b);
}

static void side_by_side(void **state)
{
	static uint8_t sound[SIZE], bytes[SIZE];
	struct block_move list[BLOCKS_TRIALS_MOST];
	const struct block_move m = { .size = BLOCK, .first = 0, .second = BLOCK };
	const struct block_place errors[] = { { 0, 8 }, { BLOCK - 8, 32 }, { 2 * BLOCK - 8, 8 } };
	(void)state;

	fill(sound);
	memcpy(bytes, sound, SIZE);
	memcpy(bytes, sound + BLOCK, BLOCK);
	memcpy(bytes + BLOCK, sound, BLOCK);
	struct bundle *b = open_file(bytes, SIZE);
	assert_true(has_move(list, blocks_moved(b->sources[0], errors, 3, list), m));
	assert_undone(b, &m, sound, SIZE);
	bundle_free(b);
}

static void twice(void **state)
{
	static uint8_t sound[SIZE], bytes[SIZE + BLOCK];
	struct block_move list[BLOCKS_TRIALS_MOST];
	const struct block_move m = { .size = BLOCK, .first = 4 * BLOCK, .second = 5 * BLOCK, .twice = true };
	const struct block_place error = { m.second - 32, 64 };
	(void)state;

	fill(sound);
	memcpy(bytes, sound, m.second);
	memcpy(bytes + m.second, sound + m.first, SIZE - m.first);
	struct bundle *b = open_file(bytes, SIZE + BLOCK);
	unsigned count = blocks_moved(b->sources[0], &error, 1, list);
	assert_true(count && has_move(list, 1, m));
	assert_undone(b, &m, sound, SIZE);
	bundle_free(b);
	/* Zeros twice are no copy. */
	memset(bytes + m.first, 0, 2 * BLOCK);
	b = open_file(bytes, SIZE + BLOCK);
	assert_false(has_move(list, blocks_moved(b->sources[0], &error, 1, list), m));
	bundle_free(b);
}

static void first(void **state)
{
	static uint8_t bytes[SIZE];
	struct block_move list[BLOCKS_SIZES];
	(void)state;

	fill(bytes);
	struct bundle *b = open_file(bytes, SIZE);
	assert_int_equal(blocks_first(b->sources[0], 0, list), 0);
	assert_int_equal(blocks_first(b->sources[0], BLOCK + 1, list), 0);
	assert_int_equal(blocks_first(b->sources[0], 3 * BLOCK, list), 1);
	assert_int_equal(list[0].size, BLOCK);
	assert_int_equal(list[0].second, 3 * BLOCK);
	assert_int_equal(blocks_first(b->sources[0], 8 * BLOCK, list), BLOCKS_SIZES);
	/* The last block is not whole. */
	assert_int_equal(blocks_first(b->sources[0], SIZE / BLOCK * BLOCK, list), 0);
	bundle_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(exchanged), cmocka_unit_test(side_by_side), cmocka_unit_test(twice),
					    cmocka_unit_test(first) };

	return RUN(tests);
}
