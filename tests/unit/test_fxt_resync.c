/* salvage/fxt_resync.c: looks far ahead are rationed, by the offset that they start from. */
#include "unit.h"

#include "core/bundle.h"
#include "formats/fxt/salvage/fxt_resync.h"

/* A far look is one beyond 64 KiB: the payload is larger. */
#define PAYLOAD 70000u
#define LARGE_WORDS (3 + PAYLOAD / FXT_WORD)
/* Far looks that are free, and bytes of the file for one more. */
#define RATION 64u
#define BYTES_A_LOOK (64u * 1024)

static const struct fxt_decoder little;

/* `large` large blobs in a row, and one small record. */
static size_t capture(uint8_t **out, unsigned large)
{
	size_t size = (large * LARGE_WORDS + 2) * FXT_WORD;
	uint8_t *p = *out = calloc(1, size);

	assert_non_null(p);
	for (unsigned i = 0; i < large; i++, p += LARGE_WORDS * FXT_WORD) {
		store_u64(p, fxt_header(FXT_LARGE, LARGE_WORDS) | fxt_field(40, 4, FXT_LARGE_BLOB_PLAIN), false);
		store_u64(p + 2 * FXT_WORD, PAYLOAD, false);
	}
	store_u64(p, fxt_header(FXT_INITIALIZATION, 2), false);
	store_u64(p + FXT_WORD, 1000000, false);
	return size;
}

static void far_looks_are_rationed(void **state)
{
	struct tracemend_error error;
	uint8_t *data;
	size_t size = capture(&data, 4);
	struct bundle *b = bundle_open_memory("capture", data, size, NULL, &error);
	struct fxt_resync *y = calloc(1, sizeof(*y));
	struct window walk;
	const uint64_t last = 3 * LARGE_WORDS * FXT_WORD;

	(void)state;
	assert_non_null(b);
	assert_non_null(y);
	window_open(&walk, bundle_single(b));
	fxt_resync_open(y, bundle_single(b), &walk, &little);
	/* Near looks cost nothing. */
	for (unsigned i = 0; i < 2 * RATION; i++)
		assert_true(fxt_next_is_sound(y, size - 2 * FXT_WORD));
	assert_int_equal(y->far_reads, 0);
	/* From the beginning of the file as many as are free. Each asks for two records, both of them far. */
	for (unsigned i = 0; i < RATION / 2; i++)
		assert_true(fxt_next_is_sound(y, 0));
	assert_false(fxt_next_is_sound(y, 0));
	/* And some more further on: one each 64 KiB. */
	unsigned further = 0;
	while (further < 2 * RATION && fxt_next_is_sound(y, last))
		further++;
	assert_in_range(further, 1, last / BYTES_A_LOOK);
	/* Where nothing may be looked at, nothing speaks against what stands in front. */
	assert_true(fxt_next_fits(y, 0, PAYLOAD, false));
	assert_int_equal(y->window.status, TM_OK);
	fxt_resync_close(y);
	window_close(&walk);
	free(y);
	bundle_free(b);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(far_looks_are_rationed) };
	return RUN(tests);
}
