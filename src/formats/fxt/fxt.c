/* The format as the engine sees it. */
#include "formats/fxt/decode/fxt_decode.h"

#include "core/format.h"
#include "formats/fxt/gen/fxt_gen.h"
#include "formats/fxt/outline/fxt_outline.h"
#include "formats/fxt/scan/fxt_fast.h"
#include "formats/fxt/scan/fxt_scan.h"

static const char *const profiles[] = { "latest", "2022", NULL };

/* INRIA's FxT has the same extension; its files begin with a small big-endian number of blocks. */
static const char *other_format(const uint8_t *p, size_t length)
{
	static const uint8_t inria[] = { 0x00, 0x00, 0x00, 0x02 };
	if (length >= 4 && !memcmp(p, inria, sizeof(inria)))
		return "an INRIA FxT trace, which has the extension in common with the Fuchsia format and nothing else";
	return NULL;
}

/* Records at the beginning that are decoded, among which three must be strict. */
#define BEGINNING_RECORDS 8u

/* Whether the file begins with records, however long they are: three strict ones, or two where that is all there is,
 * and none with an error. */
static bool begins_with_records(struct window *w, bool big_endian)
{
	const struct fxt_decoder d = { .big_endian = big_endian };
	struct fxt_record r;
	uint64_t at = 0;
	unsigned strict = 0;

	for (unsigned n = 0; n < BEGINNING_RECORDS && strict < 3; n++) {
		uint64_t left = window_left(w, at);
		const uint8_t *p = left >= FXT_WORD ? window_at(w, at, FXT_WORD) : NULL;
		uint64_t words = p ? fxt_size(load_u64(p, big_endian)) : 0;
		if (!words || words > left / FXT_WORD)
			break;
		p = window_at(w, at, fxt_span(words));
		if (!p || !fxt_decode(&d, &r, p, fxt_span(words), left, FXT_DECODE_STRICT) || r.issues.worst == TM_ERROR)
			return false;
		strict += fxt_is_strict(&r);
		at += words * FXT_WORD;
	}
	return strict >= 3 || (strict == 2 && !window_left(w, at));
}

static unsigned magic(struct window *w)
{
	const uint8_t *p = window_at(w, 0, FXT_WORD);

	if (!p)
		return 0;
	int apart = __builtin_popcountll(load_u64(p, false) ^ FXT_MAGIC);
	int apart_big = __builtin_popcountll(load_u64(p, true) ^ FXT_MAGIC);
	apart = apart_big < apart ? apart_big : apart;
	return apart <= FXT_MAGIC_DAMAGE_MAX ? 64 - (unsigned)apart : 0;
}

static struct bid bid(struct bundle *b, struct window *w)
{
	struct bid none = { 0, NULL };
	struct source *s = bundle_single(b);
	size_t got, offset;
	bool big_endian;
	unsigned known = s ? magic(w) : 0;
	const uint8_t *p = s && !known ? window_upto(w, 0, FXT_PROBE_BYTES, &got) : NULL;

	if (!p || got < FXT_WORD)
		return (struct bid){ known, NULL };
	/* A lost prefix or a damaged first word. Files of other formats have three records in a row by chance now and then. */
	unsigned chain = fxt_probe(p, got, s->size, &big_endian, &offset);
	if (chain)
		return (struct bid){ chain == FXT_PROBE_SURE ? 32 : 16, NULL };
	none.declined = other_format(p, got);
	if (begins_with_records(w, false) || begins_with_records(w, true))
		return (struct bid){ 24, NULL };
	return none;
}

static const struct tracemend_feature features[] = {
#define FEATURE(symbol, name, host, text) { name, text, NULL, host },
#include "formats/fxt/gen/fxt_features.def"
#undef FEATURE
};

extern const struct format fxt_format;
const struct format fxt_format = {
	.public = { .name = "fxt", .title = "Fuchsia trace format", .extension = ".fxt", .profiles = profiles, .directory = false },
	.rules = fxt_rules,
	.rule_count = FXT_RULE_COUNT,
	.features = features,
	.feature_count = FEATURE_COUNT,
	.fast = fxt_fast_contract,
	.magic = magic,
	.bid = bid,
	.scan = fxt_scan,
	.generate = fxt_generate,
	.outline = fxt_outline,
};
