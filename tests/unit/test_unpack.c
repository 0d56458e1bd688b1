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

static struct bundle *unpack(const char *pack)
{
	char line[512];
	struct tracemend_error error = { 0 };
	snprintf(line, sizeof(line), "cd '%s' && %s", scratch, pack);
	assert_int_equal(system(line), 0);
	snprintf(line, sizeof(line), "%s/x", scratch);
	struct bundle *b = bundle_open(line, NULL, &error);
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
		b->bytes_unpacked = UNPACK_BYTES_MAX - 100;
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
		T(what_is_unpacked_is_bounded),
		T(what_is_appended_is_counted),
	};
	return RUN(tests);
}
