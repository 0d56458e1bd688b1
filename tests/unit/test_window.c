/* core/window.h: the same bytes for every window size, and failures that cannot be missed. */
#include "unit.h"

#include "../../fuzz/capture.h"
#include "core/limits.h"
#include "core/window.h"

static struct capture one_file(const void *data, size_t size)
{
	struct capture c = { .count = 1 };
	c.files[0].data = data;
	c.files[0].size = size;
	return c;
}

static const size_t windows[] = { 1, 2, 7, 64, 4096, 0 };
#define EACH_WINDOW(i) for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++)

static void bytes_are_the_same_for_every_size(void **state)
{
	uint8_t data[1000];
	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	struct capture c = one_file(data, sizeof(data));
	EACH_WINDOW(i)
	{
		struct tracemend_options options = { .window = windows[i] };
		struct bundle *b = capture_bundle(&c, &options, NULL);
		struct window w;
		window_open(&w, bundle_single(b));
		for (size_t at = 0; at <= sizeof(data); at++) {
			for (size_t n = 0; n <= 9; n++) {
				const uint8_t *p = window_at(&w, at, n);
				if (n <= sizeof(data) - at) {
					assert_non_null(p);
					assert_memory_equal(p, data + at, n);
				} else {
					assert_null(p);
				}
			}
		}
		/* Backwards, and far past the end. */
		for (size_t at = sizeof(data) - 3; at >= 3; at -= 3)
			assert_memory_equal(window_at(&w, at, 3), data + at, 3);
		assert_null(window_at(&w, UINT64_MAX, 1));
		assert_null(window_at(&w, 5, SIZE_MAX));
		assert_null(window_at(&w, sizeof(data) + 1, 0));
		assert_int_equal(w.status, TM_OK);
		size_t got;
		assert_non_null(window_upto(&w, 990, 64, &got));
		assert_int_equal(got, 10);
		(void)window_upto(&w, 1000, 64, &got);
		assert_int_equal(got, 0);
		assert_int_equal(window_left(&w, 990), 10);
		assert_int_equal(window_left(&w, 2000), 0);
		window_close(&w);
		bundle_free(b);
	}
}

/* A window of 4,096 bytes on a file of LONG. */
#define LONG 100000u
static struct bundle *long_file(struct window *w)
{
	static const uint8_t data[LONG];
	const struct capture c = one_file(data, sizeof(data));
	const struct tracemend_options options = { .window = 4096 };
	struct bundle *b = capture_bundle(&c, &options, NULL);
	window_open(w, bundle_single(b));
	return b;
}

static void a_window_walk_reads_each_byte_once(void **state)
{
	struct window w;
	struct bundle *b = long_file(&w);
	(void)state;
	for (size_t at = 0; at < LONG; at += 8)
		assert_non_null(window_at(&w, at, 8));
	assert_true(b->bytes_read <= LONG);
	window_close(&w);
	bundle_free(b);
}

/* As a search does that asks at each place for a long record. */
static void long_requests_that_overlap_read_little(void **state)
{
	struct window w;
	struct bundle *b = long_file(&w);
	(void)state;
	for (size_t at = 0; at + 5000 < LONG; at += 8)
		assert_non_null(window_at(&w, at, 5000));
	assert_true(b->bytes_read <= 3 * LONG);
	window_close(&w);
	bundle_free(b);
}

/* As a search does that tries places on both sides of where something should be, the near ones first. */
static void a_search_on_both_sides_reads_little(void **state)
{
	struct window w;
	struct bundle *b = long_file(&w);
	(void)state;
	for (size_t step = 1; step < 4096; step++) {
		assert_non_null(window_at(&w, LONG / 2 + step, 4096));
		assert_non_null(window_at(&w, LONG / 2 - step, 4096));
	}
	assert_true(b->bytes_read <= 3 * LONG);
	window_close(&w);
	bundle_free(b);
}

/* As searches do that look at many places by turns. */
static void places_far_from_each_other_by_turns_read_little(void **state)
{
	static const uint8_t data[64 * WINDOW_FIRST];
	const struct capture c = one_file(data, sizeof(data));
	const struct tracemend_options options = { .window = 16 * WINDOW_FIRST };
	struct bundle *b = capture_bundle(&c, &options, NULL);
	struct window w;
	uint32_t random = 1;

	(void)state;
	window_open(&w, bundle_single(b));
	for (unsigned i = 0; i < 200; i++) {
		random = random * 1103515245u + 12345u;
		assert_non_null(window_at(&w, (uint64_t)(random >> 16) % 60 * WINDOW_FIRST, 8));
	}
	assert_true(b->bytes_read <= 2 * 200 * WINDOW_FIRST);
	/* As far apart as the window is long, the second place is where the first one ends. */
	const uint64_t before = b->bytes_read;
	for (uint64_t at = 0; at < 100 * 1000; at += 1000) {
		assert_non_null(window_at(&w, at, 8));
		assert_non_null(window_at(&w, at + options.window, 8));
	}
	assert_true(b->bytes_read - before <= 2 * 100 * WINDOW_FIRST);
	window_close(&w);
	bundle_free(b);
}

static void failed_reads_stick(void **state)
{
	static uint8_t data[100];
	struct capture c = one_file(data, sizeof(data));
	struct capture_faults faults = { .fail_at = 2 };
	struct tracemend_options options = { .window = 10 };
	struct bundle *b = capture_bundle(&c, &options, &faults);
	struct window w;
	(void)state;
	window_open(&w, bundle_single(b));
	assert_non_null(window_at(&w, 0, 4));
	assert_null(window_at(&w, 50, 4));
	assert_int_equal(w.status, TM_IO);
	assert_null(window_at(&w, 60, 4));
	assert_int_equal(b->error.status, TM_IO);
	assert_non_null(strstr(b->error.message, "injected"));
	window_close(&w);
	bundle_free(b);
}

static void zeros_are_skipped(void **state)
{
	static uint8_t data[5000];
	struct capture c = one_file(data, sizeof(data));
	(void)state;
	data[3] = 1;
	data[4500] = 1;
	EACH_WINDOW(i)
	{
		struct tracemend_options options = { .window = windows[i] };
		struct bundle *b = capture_bundle(&c, &options, NULL);
		struct window w;
		window_open(&w, bundle_single(b));
		assert_int_equal(window_skip_zeros(&w, 0), 3);
		assert_int_equal(window_skip_zeros(&w, 3), 3);
		assert_int_equal(window_skip_zeros(&w, 4), 4500);
		assert_int_equal(window_skip_zeros(&w, 4501), sizeof(data));
		assert_int_equal(window_skip_zeros_to(&w, 4, 4500), 4500);
		assert_int_equal(window_skip_zeros_to(&w, 4, 200), 200);
		assert_int_equal(window_skip_zeros_to(&w, 4, 4502), 4500);
		assert_int_equal(window_skip_zeros_to(&w, 300, 200), 300);
		assert_int_equal(window_pass_zeros(&w, 0, 5000, 1, 16), 0);
		assert_int_equal(window_pass_zeros(&w, 4, 5000, 1, 16), 4485);
		assert_int_equal(window_pass_zeros(&w, 4, 5000, 8, 16), 4492);
		assert_int_equal(window_pass_zeros(&w, 4485, 5000, 1, 16), 4485);
		assert_int_equal(window_pass_zeros(&w, 4501, 5000, 1, 16), 4985);
		assert_int_equal(window_pass_zeros(&w, 4990, 5000, 1, 16), 4990);
		window_close(&w);
		bundle_free(b);
	}
}

static void lines_are_cut_alike(void **state)
{
	static const char text[] = "one\n\ntwo three four five six seven eight\nlast";
	static const struct {
		const char *text;
		uint64_t offset;
		bool ended;
	} expected[] = {
		{ "one", 0, true },
		{ "", 4, true },
		{ "two three four five six seven eight", 5, true },
		{ "last", 41, false },
	};
	struct capture c = one_file(text, sizeof(text) - 1);
	(void)state;
	EACH_WINDOW(i)
	{
		struct tracemend_options options = { .window = windows[i] };
		struct bundle *b = capture_bundle(&c, &options, NULL);
		struct window w;
		struct line line;
		uint64_t at = 0;
		window_open(&w, bundle_single(b));
		for (size_t k = 0; k < 4; k++) {
			assert_true(window_line(&w, &at, &line));
			assert_int_equal(line.length, strlen(expected[k].text));
			assert_memory_equal(line.text, expected[k].text, line.length);
			assert_int_equal(line.offset, expected[k].offset);
			assert_int_equal(line.ended, expected[k].ended);
			assert_false(line.cut);
		}
		assert_false(window_line(&w, &at, &line));
		assert_int_equal(w.status, TM_OK);
		window_close(&w);
		bundle_free(b);
	}
}

static void overlong_lines_are_bounded(void **state)
{
	size_t size = WINDOW_SPAN_MAX + 1000;
	char *text = malloc(size);
	struct capture c = one_file(text, size);
	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	text[size - 4] = '\n';
	struct bundle *b = capture_bundle(&c, NULL, NULL);
	struct window w;
	struct line line;
	uint64_t at = 0;
	window_open(&w, bundle_single(b));
	assert_true(window_line(&w, &at, &line));
	assert_true(line.cut);
	assert_true(line.length <= WINDOW_SPAN_MAX);
	assert_true(window_line(&w, &at, &line));
	assert_int_equal(line.length, 3);
	assert_false(line.cut);
	assert_false(window_line(&w, &at, &line));
	window_close(&w);
	bundle_free(b);
	free(text);
}

static void slurping_is_bounded(void **state)
{
	struct capture c = one_file("hello", 5);
	struct bundle *b = capture_bundle(&c, NULL, NULL);
	char *text = NULL;
	size_t size = 0;
	(void)state;
	assert_int_equal(source_slurp(bundle_single(b), 5, &text, &size), TM_OK);
	assert_int_equal(size, 5);
	assert_string_equal(text, "hello");
	free(text);
	text = NULL;
	assert_int_equal(source_slurp(bundle_single(b), 4, &text, &size), TM_LIMIT);
	free(text);
	bundle_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_the_same_for_every_size),
		cmocka_unit_test(a_window_walk_reads_each_byte_once),
		cmocka_unit_test(long_requests_that_overlap_read_little),
		cmocka_unit_test(places_far_from_each_other_by_turns_read_little),
		cmocka_unit_test(a_search_on_both_sides_reads_little),
		cmocka_unit_test(failed_reads_stick),
		cmocka_unit_test(zeros_are_skipped),
		cmocka_unit_test(lines_are_cut_alike),
		cmocka_unit_test(overlong_lines_are_bounded),
		cmocka_unit_test(slurping_is_bounded),
	};
	return RUN(tests);
}
