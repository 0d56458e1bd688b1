/* The length of a payload by its description. */
#include "formats/lttng/decode/lttng_event.h"

/* Whether a NUL is at or behind *rel, before limit; *rel moves to it, or behind what was searched. */
static bool find_nul(const struct lttng_stream *in, uint64_t *rel, uint64_t limit)
{
	while (*rel < limit) {
		size_t got;
		uint64_t want = limit - *rel < 4096 ? limit - *rel : 4096;
		const uint8_t *p = in->reader.upto(in->reader.owner, in->base + *rel, (size_t)want, &got);
		if (!p)
			return false;
		const uint8_t *nul = memchr(p, 0, got);
		*rel += nul ? (uint64_t)(nul - p) : got;
		if (nul)
			return true;
	}
	return false;
}

/* The same, which goes on from where it was searched before. */
static bool find_nul_seen(const struct lttng_stream *in, struct lttng_texts_seen *seen, uint64_t *rel, uint64_t limit)
{
	unsigned i = 0;

	while (i < LTTNG_TEXTS_SEEN && (*rel < seen->spans[i].from || *rel > seen->spans[i].to))
		i++;
	if (i == LTTNG_TEXTS_SEEN) {
		i = seen->oldest;
		seen->oldest = (i + 1) % LTTNG_TEXTS_SEEN;
		seen->spans[i].from = seen->spans[i].to = *rel;
		seen->spans[i].nul = false;
	}
	const uint64_t from = *rel = seen->spans[i].to;
	if (!seen->spans[i].nul)
		seen->spans[i].nul = find_nul(in, rel, limit);
	seen->spans[i].to = *rel;
	seen->searched += *rel - from;
	return seen->spans[i].nul && *rel < limit;
}

/* rel of the byte behind the next NUL, or 0 when there is none before limit. */
static uint64_t string_end(const struct lttng_stream *in, uint64_t rel, uint64_t limit)
{
	const bool found = in->seen ? find_nul_seen(in, in->seen, &rel, limit) : find_nul(in, &rel, limit);
	return found ? rel + 1 : 0;
}

uint64_t lttng_measure(const struct lttng_stream *in, const struct lttng_shape *shape, uint64_t rel, uint64_t limit,
		       enum lttng_defect *cut)
{
	const bool big = in->coding->big_endian;
	uint64_t at = 0; /* from the start of the payload, by which values are aligned */

	*cut = EVENT_PAYLOAD_CUT;
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct lttng_step *s = &shape->steps[i];
		at = lttng_align(at, s->align);
		if (s->kind == STEP_FIXED) {
			at += s->size;
		} else if (s->kind == STEP_STRING) {
			uint64_t end = rel + at < limit ? string_end(in, rel + at, limit) : 0;
			if (!end) {
				*cut = rel + at < limit ? EVENT_STRING_CUT : EVENT_PAYLOAD_CUT;
				return 0;
			}
			at = lttng_align(end - rel, s->pad);
		} else {
			const uint8_t *p = rel + at + s->count_size <= limit ? lttng_stream_at(in, rel + at, s->count_size) : NULL;
			if (!p)
				return 0;
			uint64_t count = s->count_size == 1   ? *p
					 : s->count_size == 2 ? load_u16(p, big)
					 : s->count_size == 4 ? load_u32(p, big)
							      : load_u64(p, big);
			if (count > UINT32_MAX)
				return 0;
			at = lttng_align(at + s->count_size, s->align);
			at = lttng_align(at + count * s->size, s->pad);
		}
		if (at > limit - rel)
			return 0;
	}
	return rel + at <= limit ? rel + at : 0;
}
