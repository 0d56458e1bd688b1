/* core/bundle.h and core/unpack.h: files, directories, archives and what is none of these. */
#include "unit.h"

#include "core/bundle.h"

static char scratch[64];

static int set_up(void **state)
{
	(void)state;
	scratch_make(scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(scratch);
	return 0;
}

static void shell(const char *command)
{
	char line[512];
	snprintf(line, sizeof(line), "cd '%s' && %s", scratch, command);
	assert_int_equal(system(line), 0);
}

static struct bundle *open_path(const char *name, enum tracemend_status expected)
{
	char path[256];
	struct tracemend_error error = { 0 };
	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	struct bundle *b = bundle_open(path, NULL, &error);
	assert_int_equal(error.status, expected);
	assert_int_equal(b == NULL, expected != TM_OK);
	assert_int_equal(*error.message == '\0', expected == TM_OK);
	return b;
}

static void holds(const struct bundle *b, const char *name, const char *text)
{
	char buffer[256] = "";
	struct source *s = bundle_find(b, TM_ROLE_INPUT, name);
	assert_non_null(s);
	assert_int_equal(s->size, strlen(text));
	assert_int_equal(source_read(s, 0, buffer, s->size), TM_OK);
	assert_string_equal(buffer, text);
}

static void one_file(void **state)
{
	(void)state;
	file_write(scratch, "a", "hello", 5);
	struct bundle *b = open_path("a", TM_OK);
	char buffer[8];
	assert_false(b->directory);
	holds(b, "", "hello");
	assert_int_equal(bundle_single(b)->size, 5);
	assert_int_equal(b->bytes_total, 5);
	/* Past the end is a fault, not a short read, and it sticks. */
	assert_int_equal(source_read(bundle_single(b), 3, buffer, 3), TM_IO);
	assert_int_equal(b->error.status, TM_IO);
	bundle_free(b);
}

static void a_directory_in_byte_order(void **state)
{
	(void)state;
	shell("mkdir -p d/sub d/empty && printf 1 > d/b && printf 2 > d/B && printf 3 > d/sub/c && printf 4 > d/a && "
	      "ln -s /etc/passwd d/link && mkfifo d/pipe");
	struct bundle *b = open_path("d", TM_OK);
	assert_true(b->directory);
	assert_null(bundle_single(b));
	for (size_t i = 1; i < b->count; i++)
		assert_true(strcmp(b->sources[i - 1]->name, b->sources[i]->name) < 0);
	holds(b, "a", "4");
	holds(b, "sub/c", "3");
	assert_int_equal(bundle_find(b, TM_ROLE_INPUT, "link")->kind, SOURCE_SYMLINK);
	assert_int_equal(bundle_find(b, TM_ROLE_INPUT, "pipe")->kind, SOURCE_SPECIAL);
	assert_int_equal(bundle_find(b, TM_ROLE_INPUT, "empty")->kind, SOURCE_DIRECTORY);
	assert_null(bundle_find(b, TM_ROLE_INPUT, "none"));
	assert_null(bundle_find(b, TM_ROLE_EXTRA, "a"));
	bundle_free(b);
}

static void archives_are_directories(void **state)
{
	static const char *const pack[] = { "tar -cf x d", "tar -czf x d", "tar --zstd -cf x d", "tar -C d -cf x a sub" };
	(void)state;
	shell("mkdir -p d/sub && printf first > d/a && printf second > d/sub/c");
	for (size_t i = 0; i < sizeof(pack) / sizeof(*pack); i++) {
		shell(pack[i]);
		struct bundle *b = open_path("x", TM_OK);
		assert_true(b->directory);
		assert_true(b->unpacked);
		holds(b, "a", "first");
		holds(b, "sub/c", "second");
		bundle_free(b);
	}
}

static void compressed_files_are_files(void **state)
{
	static const char *const pack[] = { "gzip -c a > x", "zstd -q -f -o x a" };
	(void)state;
	shell("printf hello > a");
	for (size_t i = 0; i < 2; i++) {
		shell(pack[i]);
		struct bundle *b = open_path("x", TM_OK);
		assert_false(b->directory);
		assert_true(b->unpacked);
		holds(b, "", "hello");
		bundle_free(b);
	}
}

static void large_compressed_files_are_spooled(void **state)
{
	uint8_t buffer[16];
	(void)state;
	shell("head -c 3000000 /dev/zero | tr '\\0' 'z' > a && gzip -c a > x && rm a");
	struct bundle *b = open_path("x", TM_OK);
	struct source *s = bundle_single(b);
	assert_int_equal(s->size, 3000000);
	assert_int_equal(source_read(s, 3000000 - 16, buffer, 16), TM_OK);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(buffer[i], 'z');
	bundle_free(b);
}

static void cut_archives_say_so(void **state)
{
	(void)state;
	shell("mkdir d && head -c 20000 /dev/urandom > d/a && printf x > d/b && tar -czf x d && head -c 9000 x > y");
	struct bundle *b = open_path("y", TM_OK);
	assert_true(b->damage && *b->damage);
	bundle_free(b);
	b = open_path("x", TM_OK);
	assert_false(b->damage && *b->damage);
	bundle_free(b);
}

static void archives_cannot_leave_their_directory(void **state)
{
	(void)state;
	shell("mkdir d && printf x > d/a && printf y > evil && tar -P -cf x --transform 's,evil,../../evil,' d evil 2>/dev/null");
	struct tracemend_error error = { 0 };
	char path[128];
	snprintf(path, sizeof(path), "%s/x", scratch);
	struct bundle *b = bundle_open(path, NULL, &error);
	for (size_t i = 0; b && i < b->count; i++)
		assert_null(strstr(b->sources[i]->name, ".."));
	bundle_free(b);
}

static void what_is_no_file_is_refused(void **state)
{
	(void)state;
	(void)open_path("missing", TM_IO);
	shell("mkfifo pipe");
	(void)open_path("pipe", TM_IO);
	struct tracemend_error error = { 0 };
	assert_null(bundle_open("/dev/null", NULL, &error));
	assert_int_equal(error.status, TM_IO);
}

static void too_deep_is_a_limit(void **state)
{
	(void)state;
	shell("p=d; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do p=$p/$i; done; mkdir -p $p && printf x > $p/f");
	(void)open_path("d", TM_LIMIT);
}

static void pieces_and_donors_have_roles(void **state)
{
	char path[128];
	(void)state;
	shell("printf a > a && mkdir e && printf b > e/b && printf c > c");
	struct bundle *b = open_path("a", TM_OK);
	snprintf(path, sizeof(path), "%s/e", scratch);
	assert_int_equal(bundle_add_path(b, path, TM_ROLE_EXTRA), TM_OK);
	snprintf(path, sizeof(path), "%s/c", scratch);
	assert_int_equal(bundle_add_path(b, path, TM_ROLE_DONOR), TM_OK);
	bundle_sort(b);
	assert_false(b->directory);
	holds(b, "", "a");
	assert_non_null(bundle_find(b, TM_ROLE_EXTRA, "b"));
	assert_non_null(bundle_find(b, TM_ROLE_DONOR, "c"));
	bundle_free(b);
}

static void many_files_stay_within_open_ones(void **state)
{
	uint8_t byte;
	(void)state;
	shell("mkdir d && for i in $(seq 1 200); do printf x > d/f$i; done");
	struct bundle *b = open_path("d", TM_OK);
	assert_int_equal(b->count, 200);
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < b->count; i++)
			assert_int_equal(source_read(b->sources[i], 0, &byte, 1), TM_OK);
	size_t open_now = 0;
	for (size_t i = 0; i < b->count; i++)
		open_now += b->sources[i]->fd >= 0;
	assert_in_range(open_now, 1, 32);
	bundle_free(b);
}

static void a_file_that_shrinks_is_a_fault(void **state)
{
	uint8_t buffer[8];
	char path[128];
	(void)state;
	file_write(scratch, "a", "0123456789", 10);
	struct bundle *b = open_path("a", TM_OK);
	snprintf(path, sizeof(path), "%s/a", scratch);
	assert_int_equal(truncate(path, 3), 0);
	assert_int_equal(source_read(bundle_single(b), 2, buffer, 8), TM_IO);
	bundle_free(b);
}

/* The kind is looked at again when the file is opened: what took its place may never end, or never begin. */
static void a_file_that_is_replaced_is_a_fault(void **state)
{
	static const char *const replace[] = { "ln -s /dev/zero d/a", "mkfifo d/a", "mkdir d/a" };
	char byte;
	(void)state;
	for (size_t i = 0; i < sizeof(replace) / sizeof(*replace); i++) {
		shell("rm -rf d && mkdir d && printf hello > d/a");
		struct bundle *b = open_path("d", TM_OK);
		shell("rm d/a");
		shell(replace[i]);
		struct source *s = bundle_find(b, TM_ROLE_INPUT, "a");
		assert_int_equal(source_read(s, 0, &byte, 1), TM_IO);
		assert_non_null(strstr(b->error.message, "not a regular file"));
		assert_int_equal(s->fd, -1);
		bundle_free(b);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = { T(one_file),
					    T(a_directory_in_byte_order),
					    T(archives_are_directories),
					    T(compressed_files_are_files),
					    T(large_compressed_files_are_spooled),
					    T(cut_archives_say_so),
					    T(archives_cannot_leave_their_directory),
					    T(what_is_no_file_is_refused),
					    T(too_deep_is_a_limit),
					    T(pieces_and_donors_have_roles),
					    T(many_files_stay_within_open_ones),
					    T(a_file_that_shrinks_is_a_fault),
					    T(a_file_that_is_replaced_is_a_fault) };
	return RUN(tests);
}
