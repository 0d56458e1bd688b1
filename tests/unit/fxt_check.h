/* Checks of captures of fxt that a test has written. */
#ifndef FXT_CHECK_H
#define FXT_CHECK_H

#include "unit.h"

#include "core/bundle.h"
#include "core/format.h"
#include "formats/fxt/decode/fxt_decode.h"

extern const struct format fxt_format;

/* What check finds, and how many records; fxt_check_end() frees both. slow: without the fast path. */
static inline struct findings *fxt_check(const struct bytes *capture, bool slow, struct scan *s)
{
	struct tracemend_options options = { 0 };
	struct tracemend_error error = { 0 };

	assert_false(capture->failed);
	struct bundle *b = bundle_open_memory("capture", capture->data, capture->size, &options, &error);
	assert_non_null(b);
	struct findings *f = findings_new(fxt_rules, FXT_RULE_COUNT, &options);
	assert_non_null(f);
	*s = (struct scan){ .in = b, .profile = "latest", .findings = f, .slow = slow };
	assert_int_equal(fxt_format.scan(s), TM_OK);
	return f;
}

static inline void fxt_check_end(struct findings *f, struct scan *s)
{
	findings_free(f);
	bundle_free(s->in);
}

#endif
