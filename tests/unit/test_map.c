/* core/map.h: the map does what a plain list does, within its bound, and is as it was after a failure. */
#include "unit.h"

#include "../../fuzz/inject.h"
#include "core/map.h"

/* A plain list of keys and values. */
struct model {
	uint64_t keys[4096];
	uint32_t values[4096];
	size_t count;
};

static size_t model_find(const struct model *m, uint64_t key)
{
	size_t i = 0;
	while (i < m->count && m->keys[i] != key)
		i++;
	return i;
}

static void model_set(struct model *m, uint64_t key, uint32_t value)
{
	size_t i = model_find(m, key);
	m->keys[i] = key;
	m->values[i] = value;
	m->count += i == m->count;
}

static void model_remove(struct model *m, uint64_t key)
{
	size_t i = model_find(m, key);
	if (i == m->count)
		return;
	m->count--;
	m->keys[i] = m->keys[m->count];
	m->values[i] = m->values[m->count];
}

static void assert_same(const struct map *map, const struct model *m)
{
	assert_int_equal(map->count, m->count);
	for (size_t i = 0; i < m->count; i++)
		assert_int_equal(map_get(map, m->keys[i]), m->values[i]);
}

static uint64_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void an_empty_map_has_no_key(void **state)
{
	struct map map = { 0 };

	(void)state;
	assert_int_equal(map_get(&map, 0), MAP_NONE);
	assert_int_equal(map_get(&map, UINT64_MAX), MAP_NONE);
	map_remove(&map, 0);
	map_clear(&map);
	map_free(&map);
	assert_int_equal(map.count, 0);
}

static void any_key_and_any_value_but_one(void **state)
{
	static const uint64_t keys[] = { 0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX };
	static const uint32_t values[] = { 0, 1, MAP_NONE - 1 };
	struct map map = { 0 };

	(void)state;
	for (size_t v = 0; v < 3; v++) {
		for (size_t i = 0; i < 6; i++)
			assert_int_equal(map_set(&map, keys[i], values[v], 6), TM_OK);
		for (size_t i = 0; i < 6; i++)
			assert_int_equal(map_get(&map, keys[i]), values[v]);
		assert_int_equal(map.count, 6);
	}
	map_free(&map);
}

/* Few keys, so that they come again; and keys whose slots collide or wrap around, as all of one kind of bits do. */
static void it_does_what_a_list_does(void **state)
{
	static struct model model;

	(void)state;
	for (unsigned shift = 0; shift < 64; shift += 9) {
		struct map map = { 0 };
		uint64_t random = shift;
		model.count = 0;
		for (unsigned step = 0; step < 6000; step++) {
			uint64_t key = (draw(&random) % 300) << shift;
			uint32_t value = (uint32_t)draw(&random);
			switch (draw(&random) % 8) {
			case 0:
			case 1:
			case 2:
				map_remove(&map, key);
				model_remove(&model, key);
				break;
			case 3:
				assert_int_equal(map_get(&map, key), model_find(&model, key) < model.count
									     ? model.values[model_find(&model, key)]
									     : MAP_NONE);
				break;
			default:
				assert_int_equal(map_set(&map, key, value, SIZE_MAX), TM_OK);
				model_set(&model, key, value);
				break;
			}
			if (step % 500 == 0)
				assert_same(&map, &model);
		}
		assert_same(&map, &model);
		map_clear(&map);
		assert_int_equal(map.count, 0);
		for (size_t i = 0; i < model.count; i++)
			assert_int_equal(map_get(&map, model.keys[i]), MAP_NONE);
		map_free(&map);
	}
}

static void a_bound_is_kept(void **state)
{
	struct map map = { 0 };

	(void)state;
	assert_int_equal(map_set(&map, 1, 1, 0), TM_LIMIT);
	assert_int_equal(map_get(&map, 1), MAP_NONE);
	for (uint64_t key = 0; key < 100; key++)
		assert_int_equal(map_set(&map, key, 7, 100), TM_OK);
	assert_int_equal(map_set(&map, 100, 7, 100), TM_LIMIT);
	assert_int_equal(map.count, 100);
	assert_int_equal(map_get(&map, 100), MAP_NONE);
	/* A key that is there has its place. */
	assert_int_equal(map_set(&map, 99, 8, 100), TM_OK);
	assert_int_equal(map_get(&map, 99), 8);
	map_remove(&map, 5);
	assert_int_equal(map_set(&map, 100, 9, 100), TM_OK);
	assert_int_equal(map_get(&map, 100), 9);
	map_free(&map);
}

/* Runs of taken slots are short, whichever bits the keys differ in: a lookup is a few steps. */
static void no_kind_of_key_makes_it_slow(void **state)
{
	(void)state;
	for (unsigned shift = 0; shift <= 48; shift += 4) {
		struct map map = { 0 };
		size_t run = 0, longest = 0;
		for (uint64_t i = 0; i < 40000; i++)
			assert_int_equal(map_set(&map, i << shift, (uint32_t)i, SIZE_MAX), TM_OK);
		assert_true(map.capacity >= 2 * map.count);
		for (size_t slot = 0; slot < map.capacity; slot++) {
			run = map.values[slot] == MAP_NONE ? 0 : run + 1;
			longest = run > longest ? run : longest;
		}
		assert_true(longest < 1000);
		map_free(&map);
	}
}

static void it_is_as_it_was_after_a_failure(void **state)
{
	(void)state;
	for (uint64_t fail_at = 1; fail_at <= 12; fail_at++) {
		struct map map = { 0 };
		uint64_t set = 0;
		inject_arm(fail_at, false);
		while (set < 300 && map_set(&map, set, (uint32_t)set, SIZE_MAX) == TM_OK)
			set++;
		bool fired = inject.fired;
		if (fired) {
			assert_true(set < 300);
			assert_int_equal(map_get(&map, set), MAP_NONE);
			assert_int_equal(map.count, set);
			for (uint64_t key = 0; key < set; key++)
				assert_int_equal(map_get(&map, key), key);
			/* And goes on. */
			assert_int_equal(map_set(&map, set, 77, SIZE_MAX), TM_OK);
			assert_int_equal(map_get(&map, set), 77);
		} else {
			assert_int_equal(set, 300);
		}
		map_free(&map);
		assert_int_equal(inject.live, 0);
		inject_disarm();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_no_key),	cmocka_unit_test(any_key_and_any_value_but_one),
		cmocka_unit_test(it_does_what_a_list_does),	cmocka_unit_test(a_bound_is_kept),
		cmocka_unit_test(no_kind_of_key_makes_it_slow), cmocka_unit_test(it_is_as_it_was_after_a_failure),
	};
	return RUN(tests);
}
