#include "formats/fxt/salvage/fxt_lines.h"

/* Bytes that are converted at first. */
#define LINES_NEAR 4096u
/* A record may begin so many bytes behind the damage: one for each line end in the record before. */
#define LINES_SHIFT 16u
/* Strict records in a row that are not chance; and once line ends are known to be converted. */
#define LINES_CHAIN 6u
#define LINES_CHAIN_KNOWN 3u
/* Bytes that may be converted for each byte of the file: breaks of the grid are 256 bytes apart where bytes are random. */
#define LINES_FACTOR 64u

/* Converts what is at `at`. False where there is no line end, or where too much was converted already. */
static bool convert(struct fxt_resync *y, uint64_t at, size_t most)
{
	struct fxt_lines *l = &y->lines;
	size_t length;
	bool converted = false;

	if (at > l->until) {
		l->budget += (at - l->until) * LINES_FACTOR;
		l->until = at;
	}
	l->size = 0;
	if (l->budget < most)
		return false;
	const uint8_t *p = window_upto(&y->window, at, most, &length);
	if (!p)
		return false;
	length = length < most ? length : most;
	l->budget -= most;
	l->whole = at + length == y->size;
	l->size = 0;
	for (size_t i = 0; i < length; i++) {
		if (p[i] == '\r' && i + 1 < length && p[i + 1] == '\n') {
			converted = true;
			continue;
		}
		l->raw[l->size] = (uint16_t)i;
		l->bytes[l->size++] = p[i];
	}
	l->raw[l->size] = (uint16_t)length;
	return converted;
}

/* Whether a line end was converted in [from, until) of the converted bytes. */
static bool has_line_end(const struct fxt_lines *l, size_t from, size_t until)
{
	return (size_t)(l->raw[until] - l->raw[from]) != until - from;
}

/* Whether enough strict records, or those up to the end of the file, follow each other from `at`. *first: where the first one ends;
 * *is_short: there are not bytes enough to tell. */
static bool chain(struct fxt_resync *y, size_t at, size_t *first, bool *is_short)
{
	const struct fxt_lines *l = &y->lines;
	const unsigned wanted = l->known ? LINES_CHAIN_KNOWN : LINES_CHAIN;
	unsigned k = 0, anchors = 0;

	for (; k < wanted && l->size - at >= FXT_WORD; k++) {
		uint64_t words = fxt_size(load_u64(l->bytes + at, y->decoder->big_endian));
		if (!l->whole && words > (l->size - at) / FXT_WORD && words <= FXT_LINES_BYTES / FXT_WORD) {
			*is_short = k > 0;
			return false;
		}
		if (!fxt_decode(y->decoder, &y->other, l->bytes + at, l->size - at, l->size - at, FXT_DECODE_STRICT) ||
		    !fxt_is_exact(&y->other))
			return false;
		anchors += !fxt_may_be_argument(&y->other) && !y->other.odd;
		at += (size_t)y->other.words * FXT_WORD;
		if (!k)
			*first = at;
	}
	*is_short = k < wanted && !l->whole;
	return anchors >= 2 && (k == wanted || (l->whole && at == l->size));
}

bool fxt_lines_record(struct fxt_resync *y, struct fxt_record *r, uint64_t at, uint64_t *end)
{
	struct fxt_lines *l = &y->lines;
	size_t first = 0;
	bool is_short = false;

	bool found = convert(y, at, LINES_NEAR) && chain(y, 0, &first, &is_short);
	if (is_short)
		found = convert(y, at, FXT_LINES_BYTES) && chain(y, 0, &first, &is_short);
	if (!found || !has_line_end(l, 0, first))
		return false;
	l->known = true;
	*end = at + l->raw[first];
	return fxt_decode(y->decoder, r, l->bytes, first, first, FXT_DECODE_STRICT);
}

/* Where records begin that are sound then, a few bytes behind `bad`, to which a line end has pushed them. */
static bool resume_shifted(struct fxt_resync *y, uint64_t bad, struct fxt_resume *resume)
{
	size_t first = 0, most = LINES_NEAR;
	bool is_short;

	do {
		is_short = false;
		if (!convert(y, bad, most) && !y->lines.known)
			return false;
		for (size_t at = 1; at < LINES_SHIFT && at < y->lines.size; at++) {
			bool more = false;
			if (chain(y, at, &first, &more)) {
				y->lines.known = true;
				*resume = (struct fxt_resume){ .at = bad + y->lines.raw[at],
							       .shifted = y->lines.raw[at] % FXT_WORD != 0 };
				return true;
			}
			is_short = is_short || more;
		}
		most *= 4;
	} while (is_short && most <= FXT_LINES_BYTES);
	return false;
}

struct fxt_resume fxt_resync(struct fxt_resync *y, uint64_t bad, const struct fxt_record *r)
{
	struct fxt_resume resume = fxt_resync_near(y, bad, r);

	if (resume.at == bad && !resume_shifted(y, bad, &resume))
		resume = fxt_resync_search(y, bad);
	return resume;
}
