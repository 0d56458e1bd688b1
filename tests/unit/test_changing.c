/* Inputs that are written to, replaced or removed while they are repaired: TM_IO, a sentence, and no output. */
#include "unit.h"

#include "tracemend.h"

static char scratch[64], in[96], out[96];

/* The capture at `in`: a sound one, or one with a defect. */
static void capture_write(bool sound)
{
	struct tracemend_error error = { 0 };
	struct tracemend_recipe recipe = { .format = "fxt", .rule = sound ? NULL : "fxt/dangling-string-ref", .seed = 3 };
	struct tracemend_sample *sample = tracemend_generate(&recipe, &error);

	assert_non_null(sample);
	assert_int_equal(tracemend_sample_write_as(sample, in, &error), TM_OK);
	tracemend_sample_free(sample);
}

static int set_up(void **state)
{
	(void)state;
	scratch_make(scratch);
	snprintf(in, sizeof(in), "%s/in", scratch);
	snprintf(out, sizeof(out), "%s/out", scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(scratch);
	return 0;
}

static void grow(void)
{
	FILE *f = fopen(in, "ab");
	assert_non_null(f);
	assert_int_equal(fwrite("\0\0\0\0\0\0\0\0", 1, 8, f), 8);
	assert_int_equal(fclose(f), 0);
}

static void shrink(void)
{
	assert_int_equal(truncate(in, 24), 0);
}

static void overwrite(void)
{
	int fd = open(in, O_WRONLY);
	uint8_t byte = 0xa5;
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &byte, 1, 17), 1);
	assert_int_equal(close(fd), 0);
	/* Clocks of file systems are coarse. */
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1000000000 } };
	assert_int_equal(utimensat(AT_FDCWD, in, times, 0), 0);
}

static void replace(void)
{
	assert_int_equal(rename(in, out), 0);
	capture_write(true);
	assert_int_equal(unlink(out), 0);
}

static void remove_it(void)
{
	assert_int_equal(unlink(in), 0);
}

static void repaired(bool sound, bool digest, void (*change)(void), const char *says)
{
	struct tracemend_error error = { 0 };

	capture_write(sound);
	struct tracemend_input *input = tracemend_open(in, NULL, &error);
	assert_non_null(input);
	struct tracemend_repair *repair = tracemend_repair(input, NULL, &error);
	assert_non_null(repair);
	if (digest)
		assert_int_equal(tracemend_repair_digest(repair, &error), TM_OK);
	if (change)
		change();
	assert_int_equal(tracemend_repair_publish(repair, out, &error), change ? TM_IO : TM_OK);
	if (change) {
		assert_int_not_equal(access(out, F_OK), 0);
		assert_non_null(strstr(error.message, says));
		/* No temporary is left either. */
		assert_int_equal(directory_count(scratch), access(in, F_OK) == 0);
	} else {
		assert_int_equal(unlink(out), 0);
	}
	tracemend_repair_free(repair);
	tracemend_close(input);
	(void)unlink(in);
}

static void a_change_after_the_plan_is_seen(void **state)
{
	static const struct {
		void (*change)(void);
		const char *says;
	} changes[] = { { NULL, "" },
			{ grow, "grew" },
			{ shrink, "became shorter" },
			{ overwrite, "was written to" },
			{ replace, "replaced" },
			{ remove_it, "removed" } };
	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		for (int how = 0; how < 4; how++)
			repaired(how & 1, how & 2, changes[i].change, changes[i].says);
}

/* What the manifest promises is what is written, also where the times of the file do not tell. */
static void bytes_have_the_digest_that_was_promised(void **state)
{
	struct tracemend_error error = { 0 };
	struct stat st;
	(void)state;
	capture_write(true);
	assert_int_equal(stat(in, &st), 0);
	struct tracemend_input *input = tracemend_open(in, NULL, &error);
	struct tracemend_repair *repair = tracemend_repair(input, NULL, &error);
	assert_non_null(repair);
	assert_int_equal(tracemend_repair_digest(repair, &error), TM_OK);
	overwrite();
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st.st_mtim };
	assert_int_equal(utimensat(AT_FDCWD, in, times, 0), 0);
	assert_int_equal(tracemend_repair_publish(repair, out, &error), TM_IO);
	assert_non_null(strstr(error.message, "was written to while it was read"));
	assert_int_equal(directory_count(scratch), 1);
	tracemend_repair_free(repair);
	tracemend_close(input);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = { T(a_change_after_the_plan_is_seen), T(bytes_have_the_digest_that_was_promised) };
	return RUN(tests);
}
