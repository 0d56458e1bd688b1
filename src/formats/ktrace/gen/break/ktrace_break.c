/* Breakers: the table, and the defects of the file header, of chunks and of RAW files. */
#include "formats/ktrace/gen/ktrace_gen.h"

#include <string.h>

static void (*const breakers[KTRACE_RULE_COUNT])(struct ktrace_gen *) = {
#define RULE(symbol, ...) [KTRACE_RULE_##symbol] = ktrace_break_##symbol,
#include "formats/ktrace/ktrace_rules.def"
#undef RULE
};

int ktrace_break_shape(struct ktrace_gen *k)
{
	switch (k->g->rule) {
	case KTRACE_RULE_legacy_raw_file:
	case KTRACE_RULE_raw_events_partial:
	case KTRACE_RULE_raw_threadmap_truncated:
		return 1 + (int)choices_below(k->c, 2);
	case KTRACE_RULE_raw_pad_nonzero:
	case KTRACE_RULE_raw_extra_page:
	case KTRACE_RULE_raw_cpumap_count:
		return 1;
	case KTRACE_RULE_raw_thread_count: /* version 1 does not tell its width any more, then */
	case KTRACE_RULE_v2_frequency_zero:
	case KTRACE_RULE_v2_reserved_nonzero:
	case KTRACE_RULE_v2_event_offset_ambiguous:
		return 2;
	default:
		return -1;
	}
}

bool ktrace_break_needs_64(const struct ktrace_gen *k)
{
	return k->g->rule == KTRACE_RULE_event_unused_nonzero || k->g->rule == KTRACE_RULE_event_timestamp_implausible ||
	       k->g->rule == KTRACE_RULE_string_id_signature;
}

void ktrace_break(struct ktrace_gen *k)
{
	breakers[k->g->rule](k);
}

static void last_is_sound(struct ktrace_gen *k, uint32_t tag)
{
	struct ktrace_made *m = ktrace_make_chunk(k, tag, 0, false);
	if (m && tag == KTRACE_SUMMARY)
		bytes_u64(&m->payload, k->time + 1);
}

/* ---- the file header ---- */

void ktrace_break_bad_magic(struct ktrace_gen *k)
{
	/* Still a ktrace file when it is called one: the rest of the header is sound. */
	k->magic = KTRACE_MAGIC ^ (UINT32_C(1) << (16 + choices_below(k->c, 8)));
}

void ktrace_break_legacy_raw_file(struct ktrace_gen *k)
{
	(void)k;
}

void ktrace_break_kernel_v3_magic(struct ktrace_gen *k)
{
	k->magic = KTRACE_MAGIC_KERNEL;
	k->major = 1;
}

static void cut_to_value(struct ktrace_gen *k)
{
	if (k->finish_value < k->out->size)
		k->out->size = k->finish_value;
}

void ktrace_break_header_truncated(struct ktrace_gen *k)
{
	k->finish_value = 4 + choices_below(k->c, KTRACE_HEADER - 4);
	k->finish = cut_to_value;
	k->g->records = 0;
}

void ktrace_break_header_major_unsupported(struct ktrace_gen *k)
{
	k->major = 2 + (uint16_t)choices_below(k->c, 30);
}

void ktrace_break_header_minor_nonzero(struct ktrace_gen *k)
{
	k->minor = 1 + (uint16_t)choices_below(k->c, 9);
}

void ktrace_break_header_size_below_minimum(struct ktrace_gen *k)
{
	k->header_size = choices_below(k->c, 40);
}

void ktrace_break_header_size_past_eof(struct ktrace_gen *k)
{
	k->header_size = UINT64_C(1) << (32 + choices_below(k->c, 24));
}

void ktrace_break_header_size_unfinished(struct ktrace_gen *k)
{
	k->header_size = UINT64_MAX;
}

void ktrace_break_header_size_splits_chunk(struct ktrace_gen *k)
{
	/* Into the payload of the CPU map, which every header has. */
	uint64_t end = KTRACE_HEADER;
	for (unsigned i = 0; i < k->count && k->chunks[i].in_header; i++) {
		if (k->chunks[i].tag == KTRACE_CPU_MAP) {
			k->header_size = end + KTRACE_CHUNK_HEADER + 8 - KTRACE_HEADER_UNCOUNTED;
			return;
		}
		end = ktrace_align(end + KTRACE_CHUNK_HEADER + k->chunks[i].payload.size);
	}
}

void ktrace_break_header_size_excludes_header_chunk(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_made_find(k, KTRACE_CPU_MAP);
	/* The last header chunk is the CPU map: it becomes the first of the body. */
	if (m)
		m->in_header = false;
}

void ktrace_break_header_size_includes_body_chunk(struct ktrace_gen *k)
{
	for (unsigned i = 0; i < k->count; i++)
		if (k->chunks[i].tag != KTRACE_EVENTS && k->chunks[i].tag != KTRACE_SUMMARY)
			k->chunks[i].in_header = true;
		else
			break;
}

void ktrace_break_header_size_not_multiple_of_8(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_TRIMMED, 0, true);
	k->counts_padding = false;
	if (m)
		(void)bytes_grow(&m->payload, 1 + choices_below(k->c, 7));
}

void ktrace_break_header_size_64_structure(struct ktrace_gen *k)
{
	k->header_gap = 8;
}

void ktrace_break_timebase_zero(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_made_find(k, KTRACE_TIME_SYNC);
	if (m)
		m->tag = KTRACE_NULL;
	if (m)
		memset(m->payload.data, 0, m->payload.size);
	if (choices_chance(k->c, 1, 2))
		k->numer = 0;
	else
		k->denom = 0;
}

void ktrace_break_timebase_implausible(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_made_find(k, KTRACE_TIME_SYNC);
	k->numer = UINT32_C(2000000) * (1 + (uint32_t)choices_below(k->c, 50));
	k->denom = 1;
	if (m)
		store_u32(m->payload.data + 16, k->numer, false);
	if (m)
		store_u32(m->payload.data + 20, 1, false);
}

static void no_time_sync(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_made_find(k, KTRACE_TIME_SYNC);
	if (m)
		m->tag = 0x8055; /* unknown: skipped */
}

void ktrace_break_walltime_missing(struct ktrace_gen *k)
{
	no_time_sync(k);
	k->seconds = 0;
}

void ktrace_break_walltime_usec_range(struct ktrace_gen *k)
{
	k->usec = UINT32_C(1000000) + (uint32_t)choices_below(k->c, 5000000);
}

void ktrace_break_walltime_before_2000(struct ktrace_gen *k)
{
	k->seconds = 1 + choices_below(k->c, 900000000);
}

void ktrace_break_minutes_west_range(struct ktrace_gen *k)
{
	k->west = (int32_t)(721 + choices_below(k->c, 100000));
}

void ktrace_break_dst_range(struct ktrace_gen *k)
{
	k->dst = 7 + (uint32_t)choices_below(k->c, 100);
}

void ktrace_break_flags_reserved_bits(struct ktrace_gen *k)
{
	k->flags |= UINT32_C(2) << choices_below(k->c, 30);
}

void ktrace_break_flags_bitness_mismatch(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_made_find(k, KTRACE_EVENTS);
	k->flags ^= KTRACE_FLAG_64;
	if (m)
		ktrace_make_events(k, &m->payload, 8);
}

/* ---- chunks ---- */

static void append_tail(struct ktrace_gen *k)
{
	for (uint64_t i = 0; i < k->finish_value; i++)
		bytes_u8(k->out, (uint8_t)(0xa1 + i));
}

void ktrace_break_chunk_header_truncated(struct ktrace_gen *k)
{
	last_is_sound(k, KTRACE_SUMMARY);
	k->counts_padding = false;
	k->finish_value = 1 + choices_below(k->c, 15);
	k->finish = append_tail;
}

/* An events chunk in front whose size leaves a rest, and chunks behind it. */
void ktrace_break_chunk_header_misaligned(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->no_padding = true;
	last_is_sound(k, KTRACE_SUMMARY);
	k->chunks[k->count - 1].no_padding = true;
	last_is_sound(k, KTRACE_SUMMARY);
}

void ktrace_break_chunk_size_past_eof(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_EVENTS, 0, false);
	if (!m)
		return;
	bytes_u64(&m->payload, 0);
	ktrace_make_events(k, &m->payload, 1 + choices_below(k->c, 9));
	m->stored_size = m->payload.size + 64 + choices_below(k->c, 4096);
	k->counts_padding = false;
}

void ktrace_break_chunk_size_unknown(struct ktrace_gen *k)
{
	ktrace_break_chunk_size_past_eof(k);
	k->chunks[k->count - 1].stored_size = KTRACE_SIZE_UNFINISHED;
}

void ktrace_break_chunk_size_overflow(struct ktrace_gen *k)
{
	last_is_sound(k, KTRACE_SUMMARY);
	struct ktrace_made *m = ktrace_made_find(k, KTRACE_EVENTS);
	if (m)
		m->stored_size = UINT64_MAX - 2 - choices_below(k->c, 100);
}

void ktrace_break_chunk_size_damaged(struct ktrace_gen *k)
{
	last_is_sound(k, KTRACE_SUMMARY);
	struct ktrace_made *m = ktrace_made_find(k, KTRACE_EVENTS);
	if (m)
		m->stored_size = choices_chance(k->c, 1, 2) ? 0 : m->payload.size + 4096 + 8 * choices_below(k->c, 4096);
}

void ktrace_break_chunk_unfinished(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_TAG_UNFINISHED, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8 * (1 + choices_below(k->c, 8)));
}

void ktrace_break_chunk_garbage(struct ktrace_gen *k)
{
	/* A chunk whose header never reached the disk, between sound ones. */
	struct ktrace_made *m = ktrace_make_chunk(k, 0, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8 * (1 + choices_below(k->c, 32)));
	last_is_sound(k, KTRACE_SUMMARY);
}

void ktrace_break_chunk_size_includes_padding(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_SUBFILE_ID, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8);
}

void ktrace_break_chunk_size_includes_header(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	for (uint64_t lines = 1 + choices_below(k->c, 5); lines; lines--)
		bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->stored_size = m->payload.size + 16;
	last_is_sound(k, KTRACE_SUMMARY);
	last_is_sound(k, KTRACE_SUMMARY);
}

void ktrace_break_chunk_size_zero_at_eof(struct ktrace_gen *k)
{
	(void)ktrace_make_chunk(k, KTRACE_NULL, 0, false);
}

void ktrace_break_chunk_padding_nonzero(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->padding = 1 + (uint8_t)choices_below(k->c, 255);
	last_is_sound(k, KTRACE_SUMMARY);
}

void ktrace_break_chunk_padding_missing_at_eof(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_TRACE_CODES, 0, false);
	if (!m)
		return;
	bytes_text(&m->payload, "0x1400000 MACH_SCHED\n");
	m->no_padding = true;
}

void ktrace_break_trailing_garbage(struct ktrace_gen *k)
{
	last_is_sound(k, KTRACE_SUMMARY);
	k->counts_padding = false;
	k->finish_value = 16 + choices_below(k->c, 200);
	k->finish = append_tail;
}

void ktrace_break_chunk_unknown_tag(struct ktrace_gen *k)
{
	bool in_header = choices_chance(k->c, 1, 3);
	uint32_t tag = 0x8200 + (uint32_t)choices_below(k->c, 256);
	struct ktrace_made *m = ktrace_make_chunk(k, tag, 0, in_header);
	if (m)
		(void)bytes_grow(&m->payload, choices_below(k->c, 64));
}

void ktrace_break_chunk_unsupported_major(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_SUMMARY, 1 + (uint16_t)choices_below(k->c, 12), false);
	if (m)
		bytes_u64(&m->payload, k->time + 1);
}

void ktrace_break_chunk_reserved_version_bit(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_NULL, KTRACE_SUBCHUNKS, false);
	if (m)
		(void)bytes_grow(&m->payload, 16);
}

static struct bytes *subfile(struct ktrace_gen *k, uint32_t tag, uint32_t id)
{
	struct ktrace_made *m = ktrace_make_chunk(k, tag, KTRACE_SUBCHUNKS, false);
	if (!m)
		return NULL;
	bytes_u32(&m->payload, KTRACE_SUBFILE_ID);
	bytes_u32(&m->payload, 0);
	bytes_u64(&m->payload, 4);
	bytes_u32(&m->payload, id);
	bytes_align(&m->payload, 8);
	return &m->payload;
}

void ktrace_break_subchunk_walk_failed(struct ktrace_gen *k)
{
	struct bytes *b = subfile(k, KTRACE_SUBFILE_HEADER, 9);
	if (!b)
		return;
	bytes_u32(b, KTRACE_NULL);
	bytes_u32(b, 0);
	bytes_u64(b, 1000 + choices_below(k->c, 1000));
	(void)bytes_grow(b, 16);
}

void ktrace_break_subchunk_depth(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_SUBFILE_HEADER, KTRACE_SUBCHUNKS, false);
	for (uint64_t depth = 6; m && depth; depth--) {
		bytes_u32(&m->payload, KTRACE_SUBFILE_HEADER);
		bytes_u16(&m->payload, KTRACE_SUBCHUNKS);
		bytes_u16(&m->payload, 0);
		bytes_u64(&m->payload, 16 * (depth - 1));
	}
}

void ktrace_break_header_chunk_in_body(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_TRIMMED, 0, false);
	if (m)
		(void)bytes_grow(&m->payload, 8);
}

void ktrace_break_body_chunk_in_header(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, 0x8010, 0, true);
	if (m)
		ktrace_make_plist(&m->payload);
}

void ktrace_break_duplicate_singleton_chunk(struct ktrace_gen *k)
{
	for (unsigned i = 0; i < 2; i++) {
		struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_MACHINE, 0, true);
		if (m)
			ktrace_make_plist(&m->payload);
	}
}

void ktrace_break_null_chunk_nonzero(struct ktrace_gen *k)
{
	struct ktrace_made *m = ktrace_make_chunk(k, KTRACE_NULL, 0, false);
	uint8_t *p = m ? bytes_grow(&m->payload, 32) : NULL;
	if (!p)
		return;
	uint8_t value = 1 + (uint8_t)choices_below(k->c, 255);
	p[8 + choices_below(k->c, 24)] = value;
}

/* ---- RAW ---- */

void ktrace_break_raw_threadmap_truncated(struct ktrace_gen *k)
{
	k->events.size = 0;
	k->gap.size = 0;
	k->g->records = 0;
	k->finish_value = (k->raw == 2 ? KTRACE_RAW2_HEADER : k->is_64 ? 24 : 20) + k->map.size - choices_below(k->c, 20);
	k->raw_count += k->finish_value % 2 ? 2 : 5;
	k->finish = cut_to_value;
}

void ktrace_break_raw_thread_count(struct ktrace_gen *k)
{
	/* More than the file has room for. */
	ktrace_make_events(k, &k->events, 16);
	k->raw_count += (uint32_t)(k->events.size / 28) + 1000 + (uint32_t)choices_below(k->c, 100000);
}

void ktrace_break_raw_pad_nonzero(struct ktrace_gen *k)
{
	(void)bytes_grow(&k->gap, 32);
	bytes_u8(&k->gap, 1 + (uint8_t)choices_below(k->c, 255));
}

void ktrace_break_raw_extra_page(struct ktrace_gen *k)
{
	/* Filler entries up to the end of the page, then a page of zeros. */
	uint32_t head = k->is_64 ? 24 : 20, entry = ktrace_thread_size(k->is_64);
	k->gap.size = 0;
	while ((head + k->map.size) % KTRACE_PAGE && !k->map.failed && k->raw_count < 100000) {
		(void)bytes_grow(&k->map, entry);
		k->raw_count++;
	}
	(void)bytes_grow(&k->gap, KTRACE_PAGE);
}

void ktrace_break_raw_cpumap_count(struct ktrace_gen *k)
{
	k->gap.size = 0;
	bytes_u32(&k->gap, KTRACE_MAGIC_RAW1);
	bytes_u32(&k->gap, 1001 + (uint32_t)choices_below(k->c, 100000));
}

void ktrace_break_raw_events_partial(struct ktrace_gen *k)
{
	uint64_t partial = 1 + choices_below(k->c, ktrace_event_size(k->is_64) - 1);
	k->events.size -= ktrace_event_size(k->is_64) - partial;
	k->g->records--;
}

void ktrace_break_v2_frequency_zero(struct ktrace_gen *k)
{
	k->frequency = 0;
}

void ktrace_break_v2_reserved_nonzero(struct ktrace_gen *k)
{
	k->reserved = 1 + (uint8_t)choices_below(k->c, 255);
}

void ktrace_break_v2_event_offset_ambiguous(struct ktrace_gen *k)
{
	/* A map of a whole number of pages: 128 entries of 32 bytes, 1024 of 28. */
	while (k->map.size % KTRACE_PAGE && !k->map.failed) {
		(void)bytes_grow(&k->map, ktrace_thread_size(k->is_64));
		k->raw_count++;
	}
}
