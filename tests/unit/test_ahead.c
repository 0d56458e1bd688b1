/* core/ahead.h: pieces come back in the order in which they were given, worked on once, with any number of threads. */
#include "unit.h"

#include "core/ahead.h"
#include "core/choices.h"

#define COUNT 7u

struct square {
	uint64_t number, result;
	unsigned times;
};

static void square(void *piece)
{
	struct square *s = piece;
	/* Some take longer. */
	for (volatile uint64_t i = 0; i < s->number % 5 * 1000; i++)
		;
	s->result = s->number * s->number;
	s->times++;
}

static void give(struct ahead *a, uint64_t number)
{
	struct square *s = ahead_room(a);
	*s = (struct square){ .number = number };
	ahead_give(a);
}

static void take(struct ahead *a, uint64_t number)
{
	const struct square *oldest = ahead_oldest(a);
	assert_non_null(oldest);
	assert_int_equal(oldest->number, number);
	const struct square *s = ahead_take(a);
	assert_ptr_equal(s, oldest);
	assert_int_equal(s->result, number * number);
	assert_int_equal(s->times, 1);
	ahead_free(a);
}

static void in_the_order_given(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 5; threads++) {
		struct square pieces[COUNT];
		struct choices c = choices_from_seed(threads);
		uint64_t given = 0, taken = 0;
		struct ahead *a = ahead_open(threads, pieces, sizeof(pieces[0]), COUNT, square);
		assert_non_null(a);
		assert_null(ahead_oldest(a));
		assert_null(ahead_take(a));
		for (unsigned step = 0; step < 20000; step++) {
			assert_int_equal(ahead_room(a) != NULL, given - taken < COUNT);
			switch (choices_below(&c, 16)) {
			case 0:
				ahead_drop(a);
				taken = given;
				assert_null(ahead_oldest(a));
				break;
			case 1:
			case 2:
			case 3:
			case 4:
			case 5:
			case 6:
			case 7:
				if (given > taken)
					take(a, taken++);
				break;
			default:
				if (given - taken < COUNT)
					give(a, given++);
			}
		}
		ahead_close(a);
	}
}

static void closed_while_pieces_wait(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct square pieces[COUNT];
		struct ahead *a = ahead_open(2, pieces, sizeof(pieces[0]), COUNT, square);
		assert_non_null(a);
		for (unsigned i = 0; i < round % (COUNT + 1); i++)
			give(a, i);
		ahead_close(a);
	}
	ahead_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_the_order_given),
		cmocka_unit_test(closed_while_pieces_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
