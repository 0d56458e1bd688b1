/* The fast path over the records of a page: it allocates nothing and reports nothing. It is a filter: it takes records about
 * which the slow path (tracedat_record.c) would report nothing, and leaves all others. */
#include "formats/tracedat/scan/tracedat_fast.h"

#include "core/format.h"
#include "core/inline.h"
#include "formats/tracedat/scan/tracedat_record.h"

/* ---- the contract: why it cannot hide a rule ---- */

enum {
	/* tested for, and left to the slow path */
	FAST_event_id_duplicate = FAST_LEAVES, /* records of a contested ID are left: their sizes decide which format gets the ID */
	FAST_page_commit_mid_record = FAST_LEAVES, /* a record or time word beyond the length */
	FAST_record_null_padding_inside = FAST_LEAVES,
	FAST_record_padding_length = FAST_LEAVES,
	FAST_record_data_length = FAST_LEAVES,
	FAST_record_past_commit = FAST_LEAVES,
	FAST_record_small_type_len = FAST_LEAVES,	/* types 1 and 2 */
	FAST_record_time_extend_dangling = FAST_LEAVES, /* a time extension at the end */
	FAST_record_absolute_backwards = FAST_LEAVES,	/* all absolute times */
	FAST_record_payload_short = FAST_LEAVES,
	FAST_record_unknown_event_id = FAST_LEAVES,
	FAST_record_shorter_than_format = FAST_LEAVES,
	FAST_record_longer_than_format = FAST_LEAVES,
	FAST_record_data_loc_range = FAST_LEAVES,
	FAST_record_data_loc_string = FAST_LEAVES,
	FAST_record_data_loc_order = FAST_LEAVES,
	FAST_record_pid_unknown = FAST_LEAVES,
	FAST_record_pid_range = FAST_LEAVES,
	FAST_record_printk_dangling = FAST_LEAVES,
	FAST_record_ip_dangling = FAST_LEAVES,
	FAST_record_flags_impossible = FAST_LEAVES,

	/* checked elsewhere from state that both paths keep */
	FAST_page_time_backwards = FAST_KEEPS, /* the time of the last record */
	FAST_page_time_jump = FAST_KEEPS,      /* the same */
	FAST_record_time_ahead = FAST_KEEPS,   /* the same: the page is walked again, without this */
	FAST_cpustat_event_count = FAST_KEEPS, /* the number of records */
	FAST_cpustat_time_range = FAST_KEEPS,  /* the time of the last record */

	/* about what is not in the records of pages */
	FAST_bad_magic = FAST_ELSEWHERE,
	FAST_version_unsupported = FAST_ELSEWHERE,
	FAST_version_not_canonical = FAST_ELSEWHERE,
	FAST_perf_tracing_blob = FAST_ELSEWHERE,
	FAST_endian_flag_invalid = FAST_ELSEWHERE,
	FAST_endian_flag_mismatch = FAST_ELSEWHERE,
	FAST_user_long_invalid = FAST_ELSEWHERE,
	FAST_user_long_exceeds_kernel_long = FAST_ELSEWHERE,
	FAST_page_size_invalid = FAST_ELSEWHERE,
	FAST_page_size_vs_header_page = FAST_ELSEWHERE,
	FAST_header_page_tag = FAST_ELSEWHERE,
	FAST_header_event_tag = FAST_ELSEWHERE,
	FAST_header_page_size = FAST_ELSEWHERE,
	FAST_header_page_fields = FAST_ELSEWHERE,
	FAST_header_page_timestamp_size = FAST_ELSEWHERE,
	FAST_header_page_commit_size = FAST_ELSEWHERE,
	FAST_header_page_data_range = FAST_ELSEWHERE,
	FAST_header_event_constants = FAST_ELSEWHERE,
	FAST_header_sizes_old_kernel = FAST_ELSEWHERE,
	FAST_ftrace_count_implausible = FAST_ELSEWHERE,
	FAST_system_count_implausible = FAST_ELSEWHERE,
	FAST_system_name_bad = FAST_ELSEWHERE,
	FAST_system_duplicate = FAST_ELSEWHERE,
	FAST_system_ftrace_in_events = FAST_ELSEWHERE,
	FAST_format_size_zero = FAST_ELSEWHERE,
	FAST_format_size_mismatch = FAST_ELSEWHERE,
	FAST_format_no_name = FAST_ELSEWHERE,
	FAST_format_no_id = FAST_ELSEWHERE,
	FAST_event_id_range = FAST_ELSEWHERE,
	FAST_event_name_duplicate = FAST_ELSEWHERE,
	FAST_common_fields_differ = FAST_ELSEWHERE,
	FAST_common_type_shape = FAST_ELSEWHERE,
	FAST_common_pid_shape = FAST_ELSEWHERE,
	FAST_field_syntax = FAST_ELSEWHERE,
	FAST_field_size_zero = FAST_ELSEWHERE,
	FAST_field_size_type = FAST_ELSEWHERE,
	FAST_field_overlap = FAST_ELSEWHERE,
	FAST_field_overlaps_common = FAST_ELSEWHERE,
	FAST_field_out_of_page = FAST_ELSEWHERE,
	FAST_field_misaligned = FAST_ELSEWHERE,
	FAST_field_signedness = FAST_ELSEWHERE,
	FAST_data_loc_size = FAST_ELSEWHERE,
	FAST_field_name_duplicate = FAST_ELSEWHERE,
	FAST_print_fmt_missing = FAST_ELSEWHERE,
	FAST_print_fmt_unterminated = FAST_ELSEWHERE,
	FAST_print_fmt_arg_count = FAST_ELSEWHERE,
	FAST_print_fmt_unknown_field = FAST_ELSEWHERE,
	FAST_print_fmt_arg_type = FAST_ELSEWHERE,
	FAST_print_fmt_const_div_zero = FAST_ELSEWHERE,
	FAST_print_fmt_depth = FAST_ELSEWHERE,
	FAST_print_fmt_width = FAST_ELSEWHERE,
	FAST_print_fmt_kernel_function = FAST_ELSEWHERE,
	FAST_format_text_bytes = FAST_ELSEWHERE,
	FAST_kallsyms_size = FAST_ELSEWHERE,
	FAST_kallsyms_empty = FAST_ELSEWHERE,
	FAST_kallsyms_line = FAST_ELSEWHERE,
	FAST_kallsyms_no_final_newline = FAST_ELSEWHERE,
	FAST_kallsyms_all_zero = FAST_ELSEWHERE,
	FAST_kallsyms_unsorted = FAST_ELSEWHERE,
	FAST_kallsyms_digit_width = FAST_ELSEWHERE,
	FAST_kallsyms_module_bracket = FAST_ELSEWHERE,
	FAST_kallsyms_nul = FAST_ELSEWHERE,
	FAST_printk_size = FAST_ELSEWHERE,
	FAST_printk_line = FAST_ELSEWHERE,
	FAST_printk_duplicate_address = FAST_ELSEWHERE,
	FAST_printk_bad_escape = FAST_ELSEWHERE,
	FAST_cmdlines_size = FAST_ELSEWHERE,
	FAST_cmdlines_line = FAST_ELSEWHERE,
	FAST_cmdlines_pid_range = FAST_ELSEWHERE,
	FAST_cmdlines_duplicate_pid = FAST_ELSEWHERE,
	FAST_cmdlines_comm_length = FAST_ELSEWHERE,
	FAST_cpu_count_range = FAST_ELSEWHERE,
	FAST_data_tag_invalid = FAST_ELSEWHERE,
	FAST_data_tag_padding = FAST_ELSEWHERE,
	FAST_options_tag_twice = FAST_ELSEWHERE,
	FAST_option_size = FAST_ELSEWHERE,
	FAST_option_missing_done = FAST_ELSEWHERE,
	FAST_option_unknown = FAST_ELSEWHERE,
	FAST_option_id_content = FAST_ELSEWHERE,
	FAST_option_v7_in_v6 = FAST_ELSEWHERE,
	FAST_option_duplicate = FAST_ELSEWHERE,
	FAST_option_string_nul = FAST_ELSEWHERE,
	FAST_option_date_syntax = FAST_ELSEWHERE,
	FAST_option_offset_syntax = FAST_ELSEWHERE,
	FAST_option_cpustat_empty = FAST_ELSEWHERE,
	FAST_option_cpustat_shape = FAST_ELSEWHERE,
	FAST_option_clock_brackets = FAST_ELSEWHERE,
	FAST_option_hook_syntax = FAST_ELSEWHERE,
	FAST_option_cpucount_size = FAST_ELSEWHERE,
	FAST_option_cpucount_value = FAST_ELSEWHERE,
	FAST_option_procmaps_syntax = FAST_ELSEWHERE,
	FAST_option_traceid_size = FAST_ELSEWHERE,
	FAST_option_timeshift_layout = FAST_ELSEWHERE,
	FAST_option_timeshift_empty_cpu = FAST_ELSEWHERE,
	FAST_option_timeshift_order = FAST_ELSEWHERE,
	FAST_option_guest_layout = FAST_ELSEWHERE,
	FAST_option_tsc2nsec_range = FAST_ELSEWHERE,
	FAST_option_buffer_name = FAST_ELSEWHERE,
	FAST_v6_buffer_offset = FAST_ELSEWHERE,
	FAST_v6_clock_block_missing = FAST_ELSEWHERE,
	FAST_v6_clock_block_orphan = FAST_ELSEWHERE,
	FAST_v6_clock_conflict = FAST_ELSEWHERE,
	FAST_latency_line_bytes = FAST_ELSEWHERE,
	FAST_v6_latency_with_clock_option = FAST_ELSEWHERE,
	FAST_cpu_offset_alignment = FAST_ELSEWHERE,
	FAST_cpu_range_eof = FAST_ELSEWHERE,
	FAST_cpu_range_wrap = FAST_ELSEWHERE,
	FAST_cpu_range_in_header = FAST_ELSEWHERE,
	FAST_cpu_range_overlap = FAST_ELSEWHERE,
	FAST_cpu_size_not_page_multiple = FAST_ELSEWHERE,
	FAST_cpu_order = FAST_ELSEWHERE,
	FAST_cpu_gap_nonzero = FAST_ELSEWHERE,
	FAST_data_unreferenced = FAST_ELSEWHERE,
	FAST_trailing_bytes = FAST_ELSEWHERE,
	FAST_page_commit_reserved = FAST_ELSEWHERE,
	FAST_page_commit_length = FAST_ELSEWHERE,
	FAST_page_commit_unaligned = FAST_ELSEWHERE,
	FAST_page_missed_stored_alone = FAST_ELSEWHERE,
	FAST_page_missed_no_room = FAST_ELSEWHERE,
	FAST_page_missed_count = FAST_ELSEWHERE,
	FAST_page_tail_not_zero = FAST_ELSEWHERE,
	FAST_page_missed_events = FAST_ELSEWHERE,
	FAST_page_empty = FAST_ELSEWHERE,
	FAST_page_all_zero = FAST_ELSEWHERE,
	FAST_page_all_ones = FAST_ELSEWHERE,
	FAST_page_duplicate = FAST_ELSEWHERE,
	FAST_page_timestamp_zero = FAST_ELSEWHERE,
	FAST_cpustat_overrun_no_missed = FAST_ELSEWHERE,
	FAST_v7_compressor_name = FAST_ELSEWHERE,
	FAST_v7_compressor_version = FAST_ELSEWHERE,
	FAST_v7_options_offset = FAST_ELSEWHERE,
	FAST_v7_section_size = FAST_ELSEWHERE,
	FAST_v7_section_id_unknown = FAST_ELSEWHERE,
	FAST_v7_section_id_mismatch = FAST_ELSEWHERE,
	FAST_v7_section_flags = FAST_ELSEWHERE,
	FAST_v7_section_desc = FAST_ELSEWHERE,
	FAST_v7_strings_missing = FAST_ELSEWHERE,
	FAST_v7_strings_nul = FAST_ELSEWHERE,
	FAST_v7_section_duplicate = FAST_ELSEWHERE,
	FAST_v7_section_compress_flag = FAST_ELSEWHERE,
	FAST_v7_block_csize = FAST_ELSEWHERE,
	FAST_v7_block_usize = FAST_ELSEWHERE,
	FAST_v7_block_decode = FAST_ELSEWHERE,
	FAST_v7_done_size = FAST_ELSEWHERE,
	FAST_v7_done_not_last = FAST_ELSEWHERE,
	FAST_v7_done_cycle = FAST_ELSEWHERE,
	FAST_v7_done_target = FAST_ELSEWHERE,
	FAST_v7_done_host_order = FAST_ELSEWHERE,
	FAST_v7_option_section_size = FAST_ELSEWHERE,
	FAST_v7_mandatory_section = FAST_ELSEWHERE,
	FAST_v7_buffer_missing = FAST_ELSEWHERE,
	FAST_v7_buffer_layout = FAST_ELSEWHERE,
	FAST_v7_buffer_cpu_id = FAST_ELSEWHERE,
	FAST_v7_buffer_page_size = FAST_ELSEWHERE,
	FAST_v7_buffer_section = FAST_ELSEWHERE,
	FAST_v7_buffer_cpu_outside_section = FAST_ELSEWHERE,
	FAST_v7_buffer_clock_unknown = FAST_ELSEWHERE,
	FAST_v7_buffer_size_minus_four = FAST_ELSEWHERE,
	FAST_v7_chunk_count = FAST_ELSEWHERE,
	FAST_v7_chunk_csize = FAST_ELSEWHERE,
	FAST_v7_chunk_usize = FAST_ELSEWHERE,
	FAST_v7_chunk_decode = FAST_ELSEWHERE,
	FAST_v7_btf_modules_none = FAST_ELSEWHERE,
	FAST_v7_dangling_23_25 = FAST_ELSEWHERE,
	FAST_truncated_file = FAST_ELSEWHERE,
	FAST_restored_without_clock = FAST_ELSEWHERE,
	FAST_size_overflow_bomb = FAST_ELSEWHERE,
	FAST_host_order_cpucount = FAST_ELSEWHERE,
	FAST_recorder_killed = FAST_ELSEWHERE,
};

#define RULE(symbol, ...) [TRACEDAT_RULE_##symbol] = FAST_##symbol,
const uint8_t tracedat_fast_contract[TRACEDAT_RULE_COUNT] = {
#include "formats/tracedat/tracedat_rules.def"
};
#undef RULE

/* ---- records ---- */

static inline bool arrays_plain(const struct tracedat_events *events, const struct tracedat_event *e, const uint8_t *payload,
				uint32_t size, bool be)
{
	uint32_t end = 0;
	for (uint32_t i = 0; i < e->dynamic_count; i++) {
		const struct tracedat_dynamic *d = &events->dynamics[e->dynamic + i];
		struct tracedat_array a = tracedat_array_read(d, payload, be);
		if (!a.length)
			continue;
		if (tracedat_array_outside(&a, e, size) || tracedat_array_without_nul(&a, d, payload) || a.offset < end)
			return false;
		end = a.offset + a.length;
	}
	return (!e->dynamic_count && !e->loose) || e->open || size - (end > e->fixed ? end : e->fixed) <= tracedat_arrays_slack(e);
}

/* Of an event with dynamic arrays or addresses, or of none that is known. */
static NEVER_INLINE bool special_plain(const struct tracedat_walk *w, const uint8_t *payload, uint32_t size, bool be)
{
	const uint16_t index = w->events.index[load_u16(payload, be)];
	if (!index)
		return false;
	const struct tracedat_event *e = &w->events.list[index - 1];
	if (tracedat_size_odd(e, size) || e->contested || e->doubtful || e->blind || size < e->fixed ||
	    !arrays_plain(&w->events, e, payload, size, be))
		return false;
	if (e->printk && !tracedat_printk_known(&w->texts, tracedat_long(&w->shape, payload + e->printk)))
		return false;
	for (unsigned i = 0; i < 2 && e->ip[i] && w->texts.symbols; i++)
		if (!tracedat_symbol_known(&w->texts, tracedat_long(&w->shape, payload + e->ip[i])))
			return false;
	return true;
}

/* The common fields of a record. */
struct common {
	uint32_t id, flags, preempt, pid;
};

static ALWAYS_INLINE struct common common_read(const uint8_t *payload, bool be)
{
	const uint64_t v = load_u64(payload, be);
	if (be)
		return (struct common){ (uint32_t)(v >> 48), v >> 40 & 255, v >> 32 & 255, (uint32_t)v };
	return (struct common){ v & 0xffff, v >> 16 & 255, v >> 24 & 255, (uint32_t)(v >> 32) };
}

/* Takes the record at r->at, or an extension of its time; false: it is left. */
static NEVER_INLINE bool fast_one(const struct tracedat_walk *w, const uint8_t *data, struct tracedat_run *r, bool be)
{
	struct tracedat_word word;
	if (r->limit - r->at < 4 + TRACEDAT_COMMON_MIN || !tracedat_word_read(data, r->at, r->limit, be, &word))
		return false;
	const uint8_t *payload = data + r->at + word.skip;
	const uint32_t size = word.total - word.skip;
	if (word.type == TRACEDAT_WORD_EXTEND) {
		r->time += ((uint64_t)load_u32(payload, be) << 27) + word.delta;
		r->at += word.total;
		return true;
	}
	if (word.type - 1 < 2 || word.type > 28 || size < TRACEDAT_COMMON_MIN)
		return false;
	const struct common c = common_read(payload, be);
	const struct tracedat_plain *plain = &w->events.plain[c.id];
	if (!tracedat_pid_known(&w->texts, c.pid) || tracedat_flags_odd(c.flags, c.preempt) ||
	    (size - plain->fixed > plain->slack && !special_plain(w, payload, size, be)))
		return false;
	r->time += word.delta;
	r->last = r->at;
	r->at += word.total;
	r->records++;
	return true;
}

/* What was decompressed, or copied, is not in the fastest cache: memory is asked for this many bytes in front of the record. The
 * address may be behind the page; nothing is read from there. */
#define FAST_AHEAD 512u
static ALWAYS_INLINE void fetch_ahead(const uint8_t *data, uint32_t at)
{
	__builtin_prefetch((const void *)((uintptr_t)data + at + FAST_AHEAD));
}

/* Takes records from r->at on; a copy for each byte order. The loop inside calls nothing: all that it needs is in registers. */
static ALWAYS_INLINE void fast_walk(const struct tracedat_walk *w, const uint8_t *data, struct tracedat_run *r, bool be)
{
	const struct tracedat_plain *const plains = w->events.plain;
	const uint32_t limit = r->limit;

	do {
		uint32_t at = r->at, last = r->last, records = r->records, known = 0;
		uint64_t time = r->time;
		while (at + 4 + TRACEDAT_COMMON_MIN <= limit) {
			fetch_ahead(data, at);
			const struct tracedat_word_head head = tracedat_word_head(data + at, be);
			const uint32_t size = 4 * head.type, next = at + 4 + size;
			if (head.type - 3 > 28 - 3 || next > limit)
				break;
			const struct common c = common_read(data + at + 4, be);
			const struct tracedat_plain *plain = &plains[c.id];
			/* Records of one process follow each other; 0 is known without a name. */
			if ((c.pid != known && !tracedat_pid_known(&w->texts, c.pid)) || size - plain->fixed > plain->slack ||
			    tracedat_flags_odd(c.flags, c.preempt))
				break;
			known = c.pid;
			time += head.delta;
			last = at;
			at = next;
			records++;
		}
		*r = (struct tracedat_run){ at, limit, last, records, r->from, time };
	} while (fast_one(w, data, r, be));
}

static void fast_run(const struct tracedat_walk *w, const uint8_t *data, struct tracedat_run *r)
{
	if (w->shape.big_endian)
		fast_walk(w, data, r, true);
	else
		fast_walk(w, data, r, false);
}

uint32_t tracedat_fast(struct tracedat_page *p, uint32_t at)
{
	const struct tracedat_run *known = p->where->run;
	struct tracedat_run r = { .at = at, .limit = p->limit, .last = p->last, .time = p->time };

	if (known && !at && p->limit == known->limit && p->time == known->from)
		r = *known;
	else
		fast_run(p->w, p->data, &r);
	p->time = r.time;
	p->last = r.last;
	p->records += r.records;
	p->fast += r.records;
	return r.at;
}

bool tracedat_fast_begin(const struct tracedat_walk *w, const uint8_t *page, uint32_t page_size, struct tracedat_run *r)
{
	*r = (struct tracedat_run){ .from = load_u64(page, w->shape.big_endian) };
	if (!r->from || !tracedat_page_length(&w->shape, page, page_size, &r->limit))
		return false;
	r->time = r->from;
	tracedat_fast_more(w, page, r);
	return true;
}

void tracedat_fast_more(const struct tracedat_walk *w, const uint8_t *page, struct tracedat_run *r)
{
	fast_run(w, page + tracedat_page_data(&w->shape), r);
}
