/* core/unpack.h and core/spool.h: what comes out of archives, and its bounds. */
#include "unit.h"

#include "core/spool.h"
#include "core/unpack.h"

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

/* Runs a shell command that makes "x", and opens that. */
static struct bundle *open_packed(const char *pack, uint64_t max, struct tracemend_error *error)
{
	char line[1024];
	struct tracemend_options options = { .size = sizeof(options), .max_unpacked = max };
	snprintf(line, sizeof(line), "cd '%s' && rm -rf d x && %s", scratch, pack);
	assert_int_equal(system(line), 0);
	snprintf(line, sizeof(line), "%s/x", scratch);
	return bundle_open(line, &options, error);
}

static struct bundle *unpack(const char *pack)
{
	struct tracemend_error error = { 0 };
	struct bundle *b = open_packed(pack, 0, &error);
	assert_non_null(b);
	assert_string_equal(b->damage, "");
	return b;
}

static void reads(struct bundle *b, const char *name, uint64_t offset, const char *text)
{
	char buffer[32] = "";
	struct source *s = bundle_find(b, TM_ROLE_INPUT, name);
	assert_non_null(s);
	assert_int_equal(source_read(s, offset, buffer, strlen(text)), TM_OK);
	assert_string_equal(buffer, text);
}

static void zeros(struct bundle *b, const char *name, uint64_t from, uint64_t end)
{
	struct source *s = bundle_find(b, TM_ROLE_INPUT, name);
	for (uint64_t at = from; at < end; at++) {
		uint8_t byte = 1;
		assert_int_equal(source_read(s, at, &byte, 1), TM_OK);
		assert_int_equal(byte, 0);
	}
}

/* A sparse member, between two others: tar -S leaves the holes out. */
static void holes_are_filled(void **state)
{
	(void)state;
	struct bundle *b = unpack(
		"mkdir d && truncate -s 40000 d/a && printf head | dd of=d/a conv=notrunc status=none && "
		"printf middle | dd of=d/a bs=1 seek=20480 conv=notrunc status=none && "
		"printf tail | dd of=d/a bs=1 seek=39996 conv=notrunc status=none && head -c 5000 d/a | tr '\\0' b > d/b && "
		"printf next > d/c && tar -S --sparse-version=1.0 --format=pax -cf x d/b d/a d/c && test $(wc -c < x) -lt 35000");
	assert_int_equal(bundle_find(b, TM_ROLE_INPUT, "a")->size, 40000);
	reads(b, "a", 0, "head");
	reads(b, "a", 20480, "middle");
	reads(b, "a", 39996, "tail");
	zeros(b, "a", 4, 20480);
	zeros(b, "a", 20486, 39996);
	reads(b, "b", 4994, "bbbbbb");
	reads(b, "c", 0, "next");
	bundle_free(b);
}

static void a_hole_may_come_first(void **state)
{
	(void)state;
	struct bundle *b = unpack("mkdir d && truncate -s 20480 d/a && printf data >> d/a && tar -S -cf x d");
	assert_int_equal(bundle_find(b, TM_ROLE_INPUT, "a")->size, 20484);
	zeros(b, "a", 0, 20480);
	reads(b, "a", 20480, "data");
	bundle_free(b);
}

/* A capture that a crash left with zeros at its end. */
static void a_hole_may_come_last(void **state)
{
	static const char *const formats[] = { "gnu", "pax --sparse-version=0.1", "pax --sparse-version=1.0" };
	char line[256];
	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		snprintf(line, sizeof(line),
			 "mkdir d && printf data > d/a && truncate -s 1048576 d/a && printf next > d/b && "
			 "tar -S --format=%s -cf x d && test $(wc -c < x) -lt 35000",
			 formats[i]);
		struct bundle *b = unpack(line);
		assert_int_equal(bundle_find(b, TM_ROLE_INPUT, "a")->size, 1048576);
		reads(b, "a", 0, "data");
		zeros(b, "a", 4, 1048576);
		reads(b, "b", 0, "next");
		bundle_free(b);
	}
	/* Of a member that was cut off, the rest is not made up. */
	struct tracemend_error error = { 0 };
	struct bundle *b = open_packed(
		"mkdir d && head -c 100000 /dev/zero | tr '\\0' a > d/a && tar -cf y d && head -c 50000 y > x", 0, &error);
	assert_non_null(b);
	assert_string_not_equal(b->damage, "");
	assert_true(b->sources[0]->size > 40000 && b->sources[0]->size < 50000);
	bundle_free(b);
}

static void a_hard_link_has_the_bytes_of_its_target(void **state)
{
	(void)state;
	struct bundle *b = unpack("mkdir d && printf first > d/a && printf other > d/b && ln d/a d/c && ln d/b d/z && tar -cf x d");
	assert_int_equal(b->count, 4);
	for (size_t i = 0; i < b->count; i++) {
		assert_int_equal(b->sources[i]->kind, SOURCE_FILE);
		assert_int_equal(b->sources[i]->size, 5);
	}
	reads(b, "c", 0, "first");
	reads(b, "z", 0, "other");
	bundle_free(b);
	/* Its target is missing. */
	b = unpack("mkdir d && printf first > d/a && printf k > d/k && ln d/a d/c && tar -cf y d/a d/c d/k && tar --delete -f y "
		   "d/a && mv y x");
	assert_int_equal(b->count, 2);
	assert_int_equal(bundle_find(b, TM_ROLE_INPUT, "c")->kind, SOURCE_SYMLINK);
	bundle_free(b);
}

static void names_are_made_plain(void **state)
{
	(void)state;
	struct bundle *b = unpack("mkdir -p d/s && printf 1 > d/a && printf 2 > d/b && printf 3 > d/s/c && "
				  "tar -P -cf x d/./a d//b d/./s//c");
	reads(b, "a", 0, "1");
	reads(b, "b", 0, "2");
	reads(b, "s/c", 0, "3");
	bundle_free(b);
}

static void a_zip_is_an_archive(void **state)
{
	(void)state;
	struct bundle *b =
		unpack("mkdir d && printf first > d/a && head -c 20000 /dev/zero > d/b && zip -qr y.zip d && mv y.zip x");
	assert_true(b->directory);
	assert_int_equal(b->count, 2);
	reads(b, "a", 0, "first");
	zeros(b, "b", 0, 20000);
	bundle_free(b);
	b = unpack("mkdir d && printf first > d/a && cd d && zip -q y.zip a && mv y.zip ../x");
	assert_false(b->directory);
	reads(b, "", 0, "first");
	bundle_free(b);
}

/* What is left of a stream that was cut is what the format's own program gives, at least. */
static void a_cut_stream_gives_what_is_left(void **state)
{
	static const char *const tools[] = { "gzip", "zstd -q", "xz", "bzip2 -1" };
	char line[512], name[100];
	(void)state;
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		for (int cut = 1; cut < 4; cut++) {
			struct tracemend_error error = { 0 };
			struct stat st;
			snprintf(line, sizeof(line),
				 "seq 1 150000 > w && %s < w > y && s=$(wc -c < y) && head -c $((s * %d / 4)) y > x && "
				 "{ %s -dc < x > z 2> /dev/null; cmp -n $(wc -c < z) w z; }",
				 tools[i], cut, tools[i]);
			struct bundle *b = open_packed(line, 0, &error);
			assert_non_null(b);
			assert_string_not_equal(b->damage, "");
			snprintf(name, sizeof(name), "%s/z", scratch);
			assert_int_equal(stat(name, &st), 0);
			assert_true(b->count == 1 || st.st_size == 0);
			if (b->count) {
				assert_true(b->sources[0]->size >= (uint64_t)st.st_size && b->sources[0]->size < 938895);
				reads(b, "", 0, "1\n2\n3\n");
			}
			bundle_free(b);
		}
		snprintf(line, sizeof(line), "printf one > w && printf two > v && { %s < w; %s < v; } > x", tools[i], tools[i]);
		struct bundle *b = unpack(line);
		reads(b, "", 0, "onetwo");
		bundle_free(b);
	}
}

static void limited(const char *pack, uint64_t max)
{
	struct tracemend_error error = { 0 };
	assert_null(open_packed(pack, max, &error));
	assert_int_equal(error.status, TM_LIMIT);
}

static void floods_are_limits(void **state)
{
	(void)state;
	/* Memory that the header of a stream asks for. */
	limited("head -c 100 /dev/zero | xz --lzma2=dict=1GiB > x", 0);
	limited("head -c 300000000 /dev/zero | zstd -q --long=28 > x", 0);
	/* Bytes: more than the caller allows, or than is plausible. */
	limited("head -c 3000000 /dev/zero | gzip > x", 2999999);
	limited("head -c 600000000 /dev/zero | xz -0 > x", 0);
	/* What follows allows nothing for what comes before it: 200 times the size of this file is 800 MB. */
	limited("(head -c 600000000 /dev/zero; head -c 4000000 /dev/urandom) | zstd -q > x", 0);
	limited("mkdir d && truncate -s 600000000 d/a && printf x >> d/a && tar -S -cf x d", 0);
	struct tracemend_error error = { 0 };
	struct bundle *b = open_packed("head -c 3000000 /dev/zero | gzip > x", 3000000, &error);
	assert_non_null(b);
	bundle_free(b);
}

/* In memory and, from UNPACK_MEMORY_MAX on, on disk. */
static void what_is_unpacked_is_bounded(void **state)
{
	uint8_t page[4096] = { 0 };
	(void)state;
	for (int large = 0; large < 2; large++) {
		struct bundle *b = bundle_new("x", NULL);
		struct spool *spool = spool_new(b);
		while (large && spool_size(spool) <= UNPACK_MEMORY_MAX)
			assert_int_equal(spool_append(b, spool, page, sizeof(page)), TM_OK);
		uint64_t size = spool_size(spool);
		b->unpack_max = size + 100;
		assert_int_equal(spool_append(b, spool, page, 101), TM_LIMIT);
		assert_int_equal(b->error.status, TM_LIMIT);
		assert_int_equal(spool_size(spool), size);
		assert_int_equal(spool_append(b, spool, page, 100), TM_OK);
		assert_int_equal(spool_append(b, spool, page, 1), TM_LIMIT);
		assert_int_equal(spool_size(spool), size + 100);
		bundle_free(b);
	}
}

static void what_is_appended_is_counted(void **state)
{
	(void)state;
	struct bundle *b = unpack("mkdir d && truncate -s 20480 d/a && printf data >> d/a && printf next > d/b && tar -S -cf x d");
	assert_int_equal(b->bytes_unpacked, 20484 + 4);
	bundle_free(b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(holes_are_filled),
		T(a_hole_may_come_first),
		T(a_hole_may_come_last),
		T(a_hard_link_has_the_bytes_of_its_target),
		T(names_are_made_plain),
		T(a_zip_is_an_archive),
		T(a_cut_stream_gives_what_is_left),
		T(floods_are_limits),
		T(what_is_unpacked_is_bounded),
		T(what_is_appended_is_counted),
	};
	return RUN(tests);
}
