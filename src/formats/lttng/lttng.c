/* The format as the engine sees it. */
#include "formats/lttng/decode/lttng_name.h"
#include "formats/lttng/gen/lttng_gen.h"
#include "formats/lttng/outline/lttng_outline.h"
#include "formats/lttng/scan/lttng_walk.h"

extern const struct format lttng_format;

static const char *const profiles[] = { "wire", "literal", NULL };

/* ---- recognition ---- */

/* Files whose first bytes are read; nearly always the first one is enough. */
#define BID_FILES_MAX 64u
#define BID_BYTES 96u

static bool is_metadata_name(const char *name)
{
	const char *base = lttng_name_base(name);
	int64_t cpu;
	bool loose;
	size_t n = lttng_name_split(base, &cpu, &loose);
	return lttng_name_is(base, n, "metadata") || lttng_name_is(base, n, "facilities");
}

/* Bits of the content of a file that match, 0 if none do. */
static unsigned bid_file(struct source *s)
{
	uint8_t head[BID_BYTES];
	bool big;
	int major, minor;
	size_t n = s->size < sizeof(head) ? (size_t)s->size : sizeof(head);
	if (n < 24 || source_read(s, 0, head, n) != TM_OK)
		return 0;
	return lttng_identify(head, n, &big, &major, &minor) ? 48 : major >= 0 && major <= 2 ? 40 : 0;
}

static unsigned magic(struct window *w)
{
	return bid_file(w->source);
}

static struct bid bid(struct bundle *b, struct window *w)
{
	struct bid best = { 0, NULL };
	struct source *single = bundle_single(b);
	(void)w;
	if (single) {
		best.bits = bid_file(single);
		return best;
	}
	unsigned looked = 0;
	bool metadata = false, prehistoric = false;
	for (size_t i = 0; i < b->count && best.bits < 48; i++) {
		struct source *s = b->sources[i];
		int64_t cpu;
		bool loose;
		if (s->kind != SOURCE_FILE || s->role != TM_ROLE_INPUT)
			continue;
		prehistoric |= !strcmp(s->name, "cpu/0");
		if (!lttng_name_split(lttng_name_base(s->name), &cpu, &loose))
			continue;
		metadata |= is_metadata_name(s->name);
		if (looked++ < BID_FILES_MAX || is_metadata_name(s->name)) {
			unsigned bits = looked <= 2 * BID_FILES_MAX ? bid_file(s) : 0;
			best.bits = bits > best.bits ? bits : best.bits;
		}
	}
	/* A trace whose headers are all damaged is still recognised by its names. */
	if (!best.bits && metadata)
		best.bits = 4;
	if (!best.bits && prehistoric && bundle_find(b, TM_ROLE_INPUT, "info/system.xml"))
		best.declined = "a trace of the original LTT, before tracefiles had block headers; LTTng 0.6 to 2.6 are checked";
	return best;
}

/* ---- the format ---- */

static enum tracemend_status outline(struct outline *o, const char *profile)
{
	enum tracemend_status status = outline_by_scan(o, &lttng_format, profile);
	if (status == TM_OK)
		lttng_outline_texts(o);
	return status;
}

static const struct tracemend_feature features[] = {
#define FEATURE(symbol, name, one_of, text) { name, text, one_of, true },
#include "formats/lttng/gen/lttng_features.def"
#undef FEATURE
};

const struct format lttng_format = {
	.public = { .name = "lttng",
		    .title = "legacy LTTng/LTTV trace, before CTF",
		    .extension = "",
		    .profiles = profiles,
		    .directory = true,
		    .donor = "descriptions of facilities (0.6 to 0.8) are taken where the trace has none and the donor's has the "
			     "checksum "
			     "that was recorded; markers (1.0 and later) have other numbers in every recording, and those of "
			     "another "
			     "one could not be checked" },
	.rules = lttng_rules,
	.rule_count = LTTNG_RULE_COUNT,
	.features = features,
	.feature_count = LTTNG_FEATURE_COUNT,
	.fast = lttng_fast_contract,
	.magic = magic,
	.bid = bid,
	.scan = lttng_scan,
	.generate = lttng_generate,
	.outline = outline,
};
