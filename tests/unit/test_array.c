/* core/array.h: arrays grow, keep their elements, and are as they were after a failure; a place in them is found. */
#include "unit.h"

#include "../../fuzz/inject.h"
#include "core/array.h"

struct element {
	uint64_t key;
	char name[5];
};

static void elements_stay(void **state)
{
	struct element *list = NULL;
	size_t capacity = 0, count = 0;

	(void)state;
	while (count < 5000) {
		assert_int_equal(array_room(&list, &capacity, count, sizeof(*list), 5000), TM_OK);
		assert_true(capacity > count);
		list[count] = (struct element){ .key = count * 3, .name = "ab" };
		count++;
	}
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(list[i].key, i * 3);
		assert_string_equal(list[i].name, "ab");
	}
	free(list);
}

static void room_that_is_there_is_not_made_again(void **state)
{
	uint32_t *list = NULL;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(array_room(&list, &capacity, 0, sizeof(*list), 100), TM_OK);
	uint32_t *before = list;
	size_t room = capacity;
	inject_arm(1, true);
	for (size_t i = 0; i < room; i++)
		assert_int_equal(array_room(&list, &capacity, i, sizeof(*list), 100), TM_OK);
	assert_int_equal(inject.calls, 0);
	inject_disarm();
	assert_ptr_equal(list, before);
	assert_int_equal(capacity, room);
	free(list);
}

/* So that a list of n elements costs n, not n squared. */
static void it_grows_by_a_factor(void **state)
{
	uint8_t *list = NULL;
	size_t capacity = 0, moves = 0, before = 0;

	(void)state;
	for (size_t count = 0; count < 100000; count++) {
		assert_int_equal(array_room(&list, &capacity, count, 1, SIZE_MAX), TM_OK);
		moves += capacity != before;
		before = capacity;
	}
	assert_true(moves < 30);
	free(list);
}

static void a_bound_is_kept(void **state)
{
	uint64_t *list = NULL;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(array_room(&list, &capacity, 0, sizeof(*list), 0), TM_LIMIT);
	assert_null(list);
	assert_int_equal(capacity, 0);
	for (size_t count = 0; count < 40; count++)
		assert_int_equal(array_room(&list, &capacity, count, sizeof(*list), 40), TM_OK);
	/* Where the capacity ends, the bound is asked. */
	uint64_t *before = list;
	size_t full = capacity;
	assert_int_equal(array_room(&list, &capacity, full, sizeof(*list), full), TM_LIMIT);
	assert_ptr_equal(list, before);
	assert_int_equal(capacity, full);
	assert_int_equal(array_room(&list, &capacity, full, sizeof(*list), full + 1), TM_OK);
	assert_true(capacity > full);
	free(list);
}

static void it_is_as_it_was_after_a_failure(void **state)
{
	uint16_t *list = NULL;
	size_t capacity = 0;

	(void)state;
	inject_arm(1, true);
	assert_int_equal(array_room(&list, &capacity, 0, sizeof(*list), 100), TM_NO_MEMORY);
	inject_disarm();
	assert_null(list);
	assert_int_equal(capacity, 0);
	assert_int_equal(array_room(&list, &capacity, 0, sizeof(*list), 100), TM_OK);
	list[0] = 4711;
	uint16_t *before = list;
	size_t room = capacity;
	inject_arm(1, true);
	assert_int_equal(array_room(&list, &capacity, room, sizeof(*list), SIZE_MAX), TM_NO_MEMORY);
	inject_disarm();
	assert_ptr_equal(list, before);
	assert_int_equal(capacity, room);
	assert_int_equal(list[0], 4711);
	free(list);
}

/* A capacity whose bytes cannot be counted is not asked for. */
static void sizes_do_not_overflow(void **state)
{
	void *list = NULL;
	size_t capacity = 0;

	(void)state;
	inject_arm(0, false);
	assert_int_equal(array_room(&list, &capacity, 0, SIZE_MAX / 4, SIZE_MAX), TM_NO_MEMORY);
	capacity = SIZE_MAX / 16;
	assert_int_equal(array_room(&list, &capacity, capacity, 16, SIZE_MAX), TM_NO_MEMORY);
	assert_int_equal(capacity, SIZE_MAX / 16);
	assert_int_equal(inject.calls, 0);
	inject_disarm();
	assert_null(list);
}

/* The place is the one that a look at all of them finds, and few of them are looked at. */
static void a_place_is_found(void **state)
{
	uint32_t list[100], looks = 0;
	size_t place;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		list[i] = (uint32_t)(i / 3 * 2); /* each three times, and none that is odd */
	for (size_t count = 0; count <= 100; count++)
		for (uint32_t key = 0; key < 70; key++) {
			size_t plain = 0;
			while (plain < count && list[plain] < key)
				plain++;
			looks = 0;
			array_search(place, count, (looks++, list[place] < key));
			assert_int_equal(place, plain);
			assert_true(looks <= 7);
			while (plain < count && list[plain] <= key)
				plain++;
			array_search(place, count, list[place] <= key);
			assert_int_equal(place, plain);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_stay),
		cmocka_unit_test(room_that_is_there_is_not_made_again),
		cmocka_unit_test(it_grows_by_a_factor),
		cmocka_unit_test(a_bound_is_kept),
		cmocka_unit_test(it_is_as_it_was_after_a_failure),
		cmocka_unit_test(sizes_do_not_overflow),
		cmocka_unit_test(a_place_is_found),
	};
	return RUN(tests);
}
