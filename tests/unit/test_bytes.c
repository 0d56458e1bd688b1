/* core/bytes.h, core/cursor.h, core/choices.h */
#include "unit.h"

#include "core/bytes.h"
#include "core/choices.h"
#include "core/cursor.h"

static void loads_either_order(void **state)
{
	static const uint8_t b[] = { 0xff, 1, 2, 3, 4, 5, 6, 7, 8 };
	(void)state;
	assert_int_equal(load_u16(b + 1, false), 0x0201);
	assert_int_equal(load_u16(b + 1, true), 0x0102);
	assert_int_equal(load_u32(b + 1, false), 0x04030201);
	assert_int_equal(load_u32(b + 1, true), 0x01020304);
	assert_true(load_u64(b + 1, false) == UINT64_C(0x0807060504030201));
	assert_true(load_u64(b + 1, true) == UINT64_C(0x0102030405060708));
}

static void grows_inserts_removes(void **state)
{
	struct bytes b = { .big_endian = true };
	(void)state;
	bytes_u8(&b, 1);
	bytes_u16(&b, 0x0203);
	bytes_u32(&b, 0x04050607);
	bytes_u64(&b, UINT64_C(0x08090a0b0c0d0e0f));
	assert_int_equal(b.size, 15);
	for (size_t i = 0; i < 15; i++)
		assert_int_equal(b.data[i], i + 1);
	bytes_align(&b, 8);
	assert_int_equal(b.size, 16);
	assert_int_equal(b.data[15], 0);
	bytes_align(&b, 8);
	assert_int_equal(b.size, 16);
	bytes_insert(&b, 1, "xy", 2);
	assert_memory_equal(b.data, "\1xy\2\3", 5);
	bytes_remove(&b, 0, 3);
	assert_memory_equal(b.data, "\2\3\4", 3);
	assert_int_equal(b.size, 15);
	bytes_text(&b, "end");
	bytes_printf(&b, "%d", 42);
	assert_memory_equal(b.data + 15, "end42", 5);
	assert_false(b.failed);
	bytes_free(&b);
}

static void nothing_can_be_added_to_nothing(void **state)
{
	struct bytes b = { 0 };
	(void)state;
	assert_non_null(bytes_grow(&b, 0));
	bytes_append(&b, NULL, 0);
	bytes_insert(&b, 0, NULL, 0);
	bytes_remove(&b, 0, 0);
	assert_int_equal(b.size, 0);
	assert_false(b.failed);
	bytes_free(&b);
}

static void impossible_sizes_fail_cleanly(void **state)
{
	struct bytes b = { 0 };
	(void)state;
	bytes_u8(&b, 7);
	assert_null(bytes_grow(&b, SIZE_MAX));
	assert_true(b.failed);
	bytes_u8(&b, 8);
	assert_true(b.size <= 1);
	bytes_free(&b);
}

static void cursor_stops_at_the_end(void **state)
{
	static const uint8_t data[] = { 1, 0, 2, 0, 0, 0, 3 };
	struct cursor c = cursor_make(data, sizeof(data), false);
	(void)state;
	assert_int_equal(cursor_u16(&c), 1);
	assert_int_equal(cursor_u32(&c), 2);
	assert_false(c.failed);
	assert_int_equal(cursor_u16(&c), 0); /* one byte is left */
	assert_true(c.failed);
	assert_int_equal(cursor_u8(&c), 0); /* sticky */
	assert_int_equal(cursor_left(&c), 1);

	c = cursor_make(data, sizeof(data), false);
	assert_null(cursor_take(&c, SIZE_MAX));
	assert_true(c.failed);
	c = cursor_make(data, sizeof(data), false);
	cursor_seek(&c, sizeof(data));
	assert_false(c.failed);
	cursor_seek(&c, sizeof(data) + 1);
	assert_true(c.failed);
	c = cursor_make(NULL, 0, true);
	assert_int_equal(cursor_u64(&c), 0);
	assert_true(c.failed);
}

static void zeros_are_seen(void **state)
{
	uint8_t data[67] = { 0 };
	(void)state;
	assert_true(bytes_are_zero(data, 0));
	assert_true(bytes_are_zero(data, sizeof(data)));
	for (size_t i = 0; i < sizeof(data); i++) {
		data[i] = 1;
		assert_false(bytes_are_zero(data, sizeof(data)));
		assert_true(bytes_are_zero(data, i));
		assert_true(bytes_are_zero(data + i + 1, sizeof(data) - i - 1));
		data[i] = 0;
	}
}

static void choices_are_replayable(void **state)
{
	struct choices a = choices_from_seed(7), b = choices_from_seed(7), c = choices_from_seed(8);
	bool differ = false;
	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t x = choices_below(&a, 1000);
		assert_true(x < 1000);
		assert_true(x == choices_below(&b, 1000));
		differ |= x != choices_below(&c, 1000);
		uint64_t y = choices_between(&a, 5, 9);
		assert_true(y >= 5 && y <= 9);
		assert_true(y == choices_between(&b, 5, 9));
	}
	assert_true(differ);
	assert_true(choices_between(&a, 0, UINT64_MAX) != choices_between(&a, 0, UINT64_MAX));
	assert_false(choices_done(&a));
}

static void used_up_choices_give_the_least(void **state)
{
	static const uint8_t one[] = { 0xff };
	struct choices c = choices_from_bytes(one, 1);
	(void)state;
	(void)choices_u64(&c);
	for (int i = 0; i < 10; i++) {
		assert_true(choices_done(&c));
		assert_int_equal(choices_below(&c, 10), 0);
		assert_int_equal(choices_between(&c, 3, 10), 3);
		assert_false(choices_chance(&c, 9, 10));
		assert_int_equal(choices_number(&c), 0);
	}
	c = choices_from_bytes(NULL, 0);
	assert_true(choices_done(&c) || !c.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(loads_either_order),
					    cmocka_unit_test(grows_inserts_removes),
					    cmocka_unit_test(impossible_sizes_fail_cleanly),
					    cmocka_unit_test(cursor_stops_at_the_end),
					    cmocka_unit_test(zeros_are_seen),
					    cmocka_unit_test(choices_are_replayable),
					    cmocka_unit_test(used_up_choices_give_the_least),
					    cmocka_unit_test(nothing_can_be_added_to_nothing) };
	return RUN(tests);
}
