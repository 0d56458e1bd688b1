/* Breakers of the CPU data: where it is, pages, records. */
#include "formats/tracedat/gen/tracedat_gen.h"

/* ---- tables ---- */

static size_t entry(const struct tracedat_gen *g, size_t cpu)
{
	return g->buffers[0].table_at + 16 * cpu;
}

BREAKER(cpu_offset_alignment, GEN_BYTES)
{
	tracedat_gen_u64(g, entry(g, 0), g->buffers[0].cpus[0].at + 8);
}

BREAKER(cpu_range_eof, GEN_BYTES)
{
	tracedat_gen_u64(g, entry(g, 1) + 8, g->buffers[0].cpus[1].size + 4 * g->page_size);
}

BREAKER(cpu_range_wrap, GEN_BYTES)
{
	tracedat_gen_u64(g, entry(g, 1), UINT64_MAX - g->page_size + 1);
	tracedat_gen_u64(g, entry(g, 1) + 8, 2 * g->page_size);
}

BREAKER(cpu_range_in_header, GEN_BYTES)
{
	tracedat_gen_u64(g, entry(g, 1), g->page_size < g->buffers[0].cpus[0].at ? g->page_size : 0);
}

BREAKER(cpu_range_overlap, GEN_BYTES)
{
	tracedat_gen_u64(g, entry(g, 1), g->buffers[0].cpus[0].at);
}

BREAKER(cpu_size_not_page_multiple, GEN_BYTES)
{
	tracedat_gen_u64(g, entry(g, 1) + 8, g->buffers[0].cpus[1].size - 100);
}

BREAKER(cpu_order, GEN_BYTES)
{
	for (size_t i = 0; i < 2; i++) {
		tracedat_gen_u64(g, entry(g, i), g->buffers[0].cpus[1 - i].at);
		tracedat_gen_u64(g, entry(g, i) + 8, g->buffers[0].cpus[1 - i].size);
	}
}

BREAKER(cpu_gap_nonzero, GEN_BYTES)
{
	g->out->data[g->buffers[0].cpus[0].at - 1] = 'x';
}

BREAKER(data_unreferenced, GEN_BYTES)
{
	tracedat_gen_u64(g, entry(g, 1), 0);
	tracedat_gen_u64(g, entry(g, 1) + 8, 0);
}

BREAKER(trailing_bytes, GEN_BYTES)
{
	bytes_text(g->out, "something else");
}

BREAKER(truncated_file, GEN_BYTES)
{
	g->out->size = g->at.flyrecord + 12;
	g->g->records = 0;
}

/* ---- pages ---- */

static struct tracedat_gen_cpu *first_cpu(struct tracedat_gen *g)
{
	return &g->buffers[0].cpus[0];
}

static uint8_t *first_page(struct tracedat_gen *g)
{
	return tracedat_gen_page(g, first_cpu(g), 0);
}

/* The one that is open: it has room behind its records. */
static uint8_t *open_page(struct tracedat_gen *g)
{
	return tracedat_gen_last_page(g, first_cpu(g));
}

static void commit_add(struct tracedat_gen *g, uint8_t *page, int64_t delta)
{
	tracedat_gen_commit_set(g, page, tracedat_gen_commit(g, page) + (uint64_t)delta);
}

static void commit_or(struct tracedat_gen *g, uint8_t *page, uint64_t bits)
{
	tracedat_gen_commit_set(g, page, tracedat_gen_commit(g, page) | bits);
}

BREAKER(page_commit_reserved, GEN_MODEL)
{
	commit_or(g, first_page(g), 1u << 28);
}

BREAKER(page_commit_length, GEN_MODEL)
{
	tracedat_gen_commit_set(g, first_page(g), 5000);
}

BREAKER(page_commit_unaligned, GEN_MODEL)
{
	commit_add(g, open_page(g), 2);
}

BREAKER(page_commit_mid_record, GEN_MODEL)
{
	commit_add(g, first_page(g), -4);
}

BREAKER(page_missed_stored_alone, GEN_MODEL)
{
	commit_or(g, first_page(g), 1u << 30);
}

/* Fills the open page of a CPU to its last byte. Returns where its last record begins. */
static uint32_t fill_page(struct tracedat_gen *g)
{
	struct tracedat_gen_cpu *c = first_cpu(g);
	uint8_t p[128] = { 0 };
	uint32_t last = 0;
	tracedat_gen_common(g, p, 300, 42);
	while (c->used && g->page_size - c->used >= 80)
		tracedat_gen_record(g, c, p, 24, 10);
	if (c->used) {
		last = c->used;
		tracedat_gen_record(g, c, p, g->page_size - c->used - 4, 10);
	}
	tracedat_gen_stats(g);
	return last;
}

BREAKER(page_missed_no_room, GEN_MODEL)
{
	(void)fill_page(g);
	commit_or(g, open_page(g), 3u << 30);
}

BREAKER(page_missed_count, GEN_MODEL)
{
	commit_or(g, open_page(g), 3u << 30);
}

BREAKER(page_tail_not_zero, GEN_MODEL)
{
	open_page(g)[g->page_size - 1] = 1;
}

BREAKER(page_missed_events, GEN_MODEL)
{
	commit_or(g, first_page(g), 1u << 31);
}

static uint8_t *add_page(struct tracedat_gen *g)
{
	tracedat_gen_page_end(g, first_cpu(g));
	return bytes_grow(&first_cpu(g)->pages, g->page_size);
}

BREAKER(page_empty, GEN_MODEL)
{
	uint8_t *page = add_page(g);
	if (page)
		store_u64(page, first_cpu(g)->last + 1000, g->big_endian);
}

BREAKER(page_all_zero, GEN_MODEL)
{
	(void)add_page(g);
}

BREAKER(page_all_ones, GEN_MODEL)
{
	uint8_t *page = add_page(g);
	if (page)
		memset(page, 0xff, g->page_size);
}

BREAKER(page_duplicate, GEN_MODEL)
{
	uint8_t *page = add_page(g);
	if (page)
		memcpy(page, page - g->page_size, g->page_size);
	first_cpu(g)->records += first_cpu(g)->page_records;
	tracedat_gen_stats(g);
}

BREAKER(page_timestamp_zero, GEN_MODEL)
{
	memset(first_page(g), 0, 8);
}

static void late_page(struct tracedat_gen *g, int64_t delta)
{
	struct tracedat_gen_cpu *c = first_cpu(g);
	tracedat_gen_page_end(g, c);
	c->last += (uint64_t)delta;
	tracedat_gen_tick(g, c);
	tracedat_gen_stats(g);
}

BREAKER(page_time_backwards, GEN_MODEL)
{
	late_page(g, -1000000);
}

BREAKER(record_time_ahead, GEN_MODEL)
{
	struct tracedat_gen_cpu *c = first_cpu(g);
	uint64_t last = c->last;
	tracedat_gen_stamp(g, c, 30, UINT64_C(4) << 30);
	tracedat_gen_tick(g, c);
	tracedat_gen_page_end(g, c);
	c->last = last;
	tracedat_gen_tick(g, c);
	tracedat_gen_stats(g);
}

BREAKER(page_time_jump, GEN_MODEL)
{
	late_page(g, INT64_C(7200000000000));
}

/* ---- records ---- */

static void first_word(struct tracedat_gen *g, uint32_t type, uint32_t delta, uint32_t next)
{
	uint8_t *at = first_page(g) + 8 + g->long_size;
	store_u32(at, g->big_endian ? type << 27 | delta : delta << 5 | type, g->big_endian);
	if (next != UINT32_MAX)
		store_u32(at + 4, next, g->big_endian);
}

BREAKER(record_null_padding_inside, GEN_MODEL)
{
	first_word(g, 29, 0, UINT32_MAX);
}

BREAKER(record_padding_length, GEN_MODEL)
{
	first_word(g, 29, 1, 3);
}

BREAKER(record_data_length, GEN_MODEL)
{
	first_word(g, 0, 0, 2);
}

BREAKER(record_past_commit, GEN_MODEL)
{
	uint32_t last = fill_page(g);
	uint8_t *at = open_page(g) + last;
	store_u32(at, g->big_endian ? 28u << 27 | 10 : 10u << 5 | 28, g->big_endian);
}

static void bare_format(struct tracedat_gen *g)
{
	tracedat_gen_format_add(g, "bare", "bare", 303, "", "\"\"");
}

BREAKER(record_small_type_len, GEN_MODEL)
{
	uint8_t p[8];
	bare_format(g);
	g->keep_small = true;
	tracedat_gen_common(g, p, 303, 42);
	tracedat_gen_record(g, first_cpu(g), p, 8, 10);
}

BREAKER(record_time_extend_dangling, GEN_MODEL)
{
	tracedat_gen_stamp(g, first_cpu(g), 30, 1u << 28);
}

BREAKER(record_absolute_backwards, GEN_MODEL)
{
	tracedat_gen_stamp(g, first_cpu(g), 31, first_cpu(g)->last - 50);
	tracedat_gen_tick(g, first_cpu(g));
}

/* A record of that event, size bytes of zeros behind the common fields. */
static void odd_record(struct tracedat_gen *g, unsigned id, uint32_t pid, uint32_t size)
{
	uint8_t p[112] = { 0 };
	tracedat_gen_common(g, p, id, pid);
	tracedat_gen_record(g, first_cpu(g), p, size, 10);
}

BREAKER(record_payload_short, GEN_MODEL)
{
	g->keep_small = true;
	odd_record(g, 300, 42, 4);
}

BREAKER(record_unknown_event_id, GEN_MODEL)
{
	odd_record(g, 999, 42, 16);
	odd_record(g, 999, 42, 16);
}

BREAKER(record_shorter_than_format, GEN_MODEL)
{
	odd_record(g, 300, 42, 16);
}

BREAKER(record_longer_than_format, GEN_MODEL)
{
	odd_record(g, 300, 42, 40);
}

static void dynamic_record(struct tracedat_gen *g, unsigned id, uint32_t first, uint32_t second, uint32_t size)
{
	uint8_t p[64];
	memset(p, 'x', sizeof(p));
	tracedat_gen_common(g, p, id, 42);
	store_u32(p + 8, first, g->big_endian);
	store_u32(p + 12, second, g->big_endian);
	if (id == 303)
		p[19] = p[23] = 0;
	tracedat_gen_record(g, first_cpu(g), p, size, 10);
}

BREAKER(record_data_loc_range, GEN_MODEL)
{
	dynamic_record(g, 301, 100u << 16 | 16, 0, 24);
}

BREAKER(record_data_loc_string, GEN_MODEL)
{
	dynamic_record(g, 301, 4u << 16 | 16, 0, 20);
}

BREAKER(record_data_loc_order, GEN_MODEL)
{
	tracedat_gen_format_add(g, "pair", "pair", 303,
				"\tfield:__data_loc char[] one;\toffset:8;\tsize:4;\tsigned:0;\n"
				"\tfield:__data_loc char[] two;\toffset:12;\tsize:4;\tsigned:0;\n",
				"\"%s %s\", __get_str(one), __get_str(two)");
	dynamic_record(g, 303, 4u << 16 | 20, 4u << 16 | 16, 24);
}

BREAKER(record_pid_unknown, GEN_MODEL)
{
	odd_record(g, 300, 77, 24);
}

BREAKER(record_pid_range, GEN_MODEL)
{
	odd_record(g, 300, UINT32_MAX - 4, 24);
}

BREAKER(record_printk_dangling, GEN_MODEL)
{
	odd_record(g, 6, 42, 8 + 2u * g->long_size);
}

BREAKER(record_ip_dangling, GEN_MODEL)
{
	odd_record(g, 1, 42, 8 + 2u * g->long_size);
}

BREAKER(record_flags_impossible, GEN_MODEL)
{
	uint8_t p[24] = { 0 };
	tracedat_gen_common(g, p, 300, 42);
	p[2] = 0x40;
	tracedat_gen_record(g, first_cpu(g), p, sizeof(p), 10);
}

/* ---- statistics ---- */

BREAKER(cpustat_event_count, GEN_MODEL)
{
	tracedat_gen_tick(g, first_cpu(g));
}

BREAKER(cpustat_overrun_no_missed, GEN_MODEL)
{
	tracedat_gen_swap(&tracedat_gen_option(g, TRACEDAT_CPUSTAT)->data, "overrun: 0", "overrun: 5");
}

BREAKER(cpustat_time_range, GEN_MODEL)
{
	tracedat_gen_stamp(g, first_cpu(g), 30, UINT64_C(20000000000));
	tracedat_gen_tick(g, first_cpu(g));
}

/* ---- a killed recorder ---- */

BREAKER(recorder_killed, GEN_BYTES)
{
	g->out->size = 0;
	bytes_append(g->out, first_cpu(g)->pages.data, first_cpu(g)->pages.size);
	g->g->records = first_cpu(g)->records;
}
