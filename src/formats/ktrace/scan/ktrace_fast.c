/* The fast path over records of events. It is a filter: it takes records about whose fields the walk (ktrace_event.c) would say
 * nothing, and leaves all others. What events mean is judged where the walk judges it. */
#include "formats/ktrace/scan/ktrace_event.h"
#include "formats/ktrace/scan/ktrace_event_walk.h"

/* ---- the contract: why it cannot hide a rule ---- */

enum {
	/* tested for, and left to the walk */
	FAST_events_damaged = FAST_LEAVES, /* a record that fails one of the tests of real ones */
	FAST_event_before_future_timestamp = FAST_LEAVES,
	FAST_event_unused_nonzero = FAST_LEAVES,
	FAST_event_debugid_zero = FAST_LEAVES, /* its class is none */
	FAST_event_timestamp_zero = FAST_LEAVES,
	FAST_event_timestamp_implausible = FAST_LEAVES,
	FAST_event_timestamp_order = FAST_LEAVES,
	FAST_event_timestamp_order_cpu = FAST_LEAVES,
	FAST_event_before_header_timestamp = FAST_LEAVES,
	FAST_event_cpu_out_of_map = FAST_LEAVES,
	FAST_event_tid_dangling = FAST_LEAVES, /* threads that were not looked up yet are left */
	FAST_event_tid_zero = FAST_LEAVES,
	FAST_event_start_end_both = FAST_LEAVES,
	FAST_events_lost = FAST_LEAVES,		   /* the class of the tracing itself */
	FAST_events_retrograde = FAST_LEAVES,	   /* the same */
	FAST_string_sequence_broken = FAST_LEAVES, /* strings are left */
	FAST_string_id_signature = FAST_LEAVES,
	FAST_string_id_unknown = FAST_LEAVES,
	FAST_string_too_long = FAST_LEAVES,

	/* checked elsewhere from state that both keep */
	FAST_event_end_without_start = FAST_KEEPS,   /* the starts that are open */
	FAST_event_start_unclosed = FAST_KEEPS,	     /* the same */
	FAST_summary_before_last_event = FAST_KEEPS, /* the time of the last record */
	FAST_no_events = FAST_KEEPS,		     /* the number of records */

	/* about what is no record of an event */
	FAST_bad_magic = FAST_ELSEWHERE,
	FAST_legacy_raw_file = FAST_ELSEWHERE,
	FAST_kernel_v3_magic = FAST_ELSEWHERE,
	FAST_header_truncated = FAST_ELSEWHERE,
	FAST_header_major_unsupported = FAST_ELSEWHERE,
	FAST_header_minor_nonzero = FAST_ELSEWHERE,
	FAST_header_size_below_minimum = FAST_ELSEWHERE,
	FAST_header_size_past_eof = FAST_ELSEWHERE,
	FAST_header_size_unfinished = FAST_ELSEWHERE,
	FAST_header_size_splits_chunk = FAST_ELSEWHERE,
	FAST_header_size_excludes_header_chunk = FAST_ELSEWHERE,
	FAST_header_size_includes_body_chunk = FAST_ELSEWHERE,
	FAST_header_size_not_multiple_of_8 = FAST_ELSEWHERE,
	FAST_header_size_64_structure = FAST_ELSEWHERE,
	FAST_header_shifted = FAST_ELSEWHERE,
	FAST_timebase_zero = FAST_ELSEWHERE,
	FAST_timebase_implausible = FAST_ELSEWHERE,
	FAST_walltime_missing = FAST_ELSEWHERE,
	FAST_walltime_usec_range = FAST_ELSEWHERE,
	FAST_walltime_before_2000 = FAST_ELSEWHERE,
	FAST_minutes_west_range = FAST_ELSEWHERE,
	FAST_dst_range = FAST_ELSEWHERE,
	FAST_flags_reserved_bits = FAST_ELSEWHERE,
	FAST_flags_bitness_mismatch = FAST_ELSEWHERE,
	FAST_chunk_header_truncated = FAST_ELSEWHERE,
	FAST_chunk_header_misaligned = FAST_ELSEWHERE,
	FAST_chunk_size_past_eof = FAST_ELSEWHERE,
	FAST_chunk_size_unknown = FAST_ELSEWHERE,
	FAST_chunk_size_overflow = FAST_ELSEWHERE,
	FAST_chunk_size_damaged = FAST_ELSEWHERE,
	FAST_chunk_unfinished = FAST_ELSEWHERE,
	FAST_chunk_garbage = FAST_ELSEWHERE,
	FAST_chunk_size_includes_padding = FAST_ELSEWHERE,
	FAST_chunk_size_includes_header = FAST_ELSEWHERE,
	FAST_chunk_size_zero_at_eof = FAST_ELSEWHERE,
	FAST_chunk_padding_nonzero = FAST_ELSEWHERE,
	FAST_chunk_padding_missing_at_eof = FAST_ELSEWHERE,
	FAST_trailing_garbage = FAST_ELSEWHERE,
	FAST_chunk_unknown_tag = FAST_ELSEWHERE,
	FAST_file_header_in_body = FAST_ELSEWHERE,
	FAST_chunk_unsupported_major = FAST_ELSEWHERE,
	FAST_chunk_reserved_version_bit = FAST_ELSEWHERE,
	FAST_subchunk_walk_failed = FAST_ELSEWHERE,
	FAST_subchunk_depth = FAST_ELSEWHERE,
	FAST_header_chunk_in_body = FAST_ELSEWHERE,
	FAST_body_chunk_in_header = FAST_ELSEWHERE,
	FAST_duplicate_singleton_chunk = FAST_ELSEWHERE,
	FAST_null_chunk_nonzero = FAST_ELSEWHERE,
	FAST_cpumap_form = FAST_ELSEWHERE,
	FAST_cpumap_bare = FAST_ELSEWHERE,
	FAST_cpumap_count_mismatch = FAST_ELSEWHERE,
	FAST_cpumap_id_out_of_range = FAST_ELSEWHERE,
	FAST_cpumap_duplicate_id = FAST_ELSEWHERE,
	FAST_cpumap_order = FAST_ELSEWHERE,
	FAST_cpumap_flags = FAST_ELSEWHERE,
	FAST_cpumap_name_unterminated = FAST_ELSEWHERE,
	FAST_cpumap_missing = FAST_ELSEWHERE,
	FAST_cpumap_empty = FAST_ELSEWHERE,
	FAST_threadmap_size = FAST_ELSEWHERE,
	FAST_threadmap_name_unterminated = FAST_ELSEWHERE,
	FAST_threadmap_name_control_bytes = FAST_ELSEWHERE,
	FAST_threadmap_name_not_utf8 = FAST_ELSEWHERE,
	FAST_threadmap_name_residue = FAST_ELSEWHERE,
	FAST_threadmap_zero_tid = FAST_ELSEWHERE,
	FAST_threadmap_unused_entry = FAST_ELSEWHERE,
	FAST_threadmap_negative_pid = FAST_ELSEWHERE,
	FAST_threadmap_duplicate_tid = FAST_ELSEWHERE,
	FAST_threadmap_pid_name_conflict = FAST_ELSEWHERE,
	FAST_threadmap_missing = FAST_ELSEWHERE,
	FAST_events_size_short = FAST_ELSEWHERE,
	FAST_events_empty = FAST_ELSEWHERE,
	FAST_events_partial_record = FAST_ELSEWHERE,
	FAST_events_size_excludes_future = FAST_ELSEWHERE,
	FAST_events_future_timestamp_set = FAST_ELSEWHERE,
	FAST_compressed_count = FAST_ELSEWHERE,
	FAST_plist_magic = FAST_ELSEWHERE,
	FAST_plist_trailer = FAST_ELSEWHERE,
	FAST_stackshot_magic = FAST_ELSEWHERE,
	FAST_fixed_payload_short = FAST_ELSEWHERE,
	FAST_timesync_conflict = FAST_ELSEWHERE,
	FAST_subfile_id_unmatched = FAST_ELSEWHERE,
	FAST_trace_codes_syntax = FAST_ELSEWHERE,
	FAST_nested_ktrace_invalid = FAST_ELSEWHERE,
	FAST_raw_threadmap_truncated = FAST_ELSEWHERE,
	FAST_raw_thread_count = FAST_ELSEWHERE,
	FAST_raw_pad_nonzero = FAST_ELSEWHERE,
	FAST_raw_extra_page = FAST_ELSEWHERE,
	FAST_raw_cpumap_count = FAST_ELSEWHERE,
	FAST_raw_events_partial = FAST_ELSEWHERE,
	FAST_v2_frequency_zero = FAST_ELSEWHERE,
	FAST_v2_reserved_nonzero = FAST_ELSEWHERE,
	FAST_v2_event_offset_ambiguous = FAST_ELSEWHERE,
};

#define RULE(symbol, ...) [KTRACE_RULE_##symbol] = FAST_##symbol,
const uint8_t ktrace_fast_contract[KTRACE_RULE_COUNT] = {
#include "formats/ktrace/ktrace_rules.def"
};
#undef RULE

/* ---- records ---- */

/* What the tests compare records with. */
struct bounds {
	uint64_t time;	  /* of the record before; no record is earlier, or days later */
	uint64_t latest;  /* no record is later */
	uint32_t cpus;	  /* no CPU has this number, or a larger one */
	uint64_t *of_cpu; /* the time of the last record of each CPU */
};

static inline bool fields_plain(const struct bounds *b, const uint64_t *met, const struct ktrace_event *e, bool is_64)
{
	return e->time >= b->time && !ktrace_record_leaps(e, b->time) && e->time <= b->latest && e->cpu < b->cpus &&
	       e->time >= b->of_cpu[e->cpu] && ktrace_class_exists(e->debugid) && e->debugid != UINT32_MAX && e->tid &&
	       met[ktrace_met_slot(e->tid)] == e->tid && (!is_64 || !(e->unused | e->tid >> KTRACE_TID_BITS));
}

/* As ktrace_fast(), a copy for each width; until: the end of the bytes that it may read. */
static inline uint64_t fast_walk(struct stretch_walk *ev, struct bounds *b, uint64_t offset, uint64_t until, bool is_64)
{
	const struct window *window = &ev->walk->in.window;
	const uint32_t size = ktrace_event_size(is_64);
	const uint8_t *data = window->buffer + (offset - window->base);

	for (; until - offset >= size && !ev->is_odd; offset += size, data += size) {
		const struct ktrace_event e = ktrace_record_decode(data, is_64);
		if (!fields_plain(b, ev->met, &e, is_64))
			break;
		b->time = b->of_cpu[e.cpu] = e.time;
		if (ktrace_event_means(e.debugid)) {
			/* Decoded again: a record of which the address is taken is stored in any case, and loading it stalls. */
			const struct ktrace_event whole = ktrace_record_decode(data, is_64);
			ktrace_event_meaning(ev, &whole, offset);
		}
	}
	return offset;
}

uint64_t ktrace_fast(struct stretch_walk *ev, uint64_t offset, uint64_t end)
{
	struct ktrace_walk *w = ev->walk;
	const uint64_t held = w->in.window.base + w->in.window.length;
	const uint64_t until = end < held ? end : held;
	struct bounds b = {
		.time = w->in.last_time, .latest = KTRACE_TIME_MAX, .cpus = KTRACE_CPUS_TIMED, .of_cpu = w->events.time_of_cpu
	};

	if (until < offset || !window_holds(&w->in.window, w->in.source, offset, until - offset))
		return offset;
	/* Before the first events are there that the header and the chunks before promise, each record is one to report. */
	if (!b.time || b.time < w->events.future || b.time < w->clock.header_time)
		return offset;
	b.latest = ev->peak < b.latest ? ev->peak : b.latest;
	b.latest = ev->block < b.latest ? ev->block : b.latest;
	b.cpus = w->in.cpus && w->in.cpus < b.cpus ? w->in.cpus : b.cpus;
	const uint64_t at = w->in.is_64 ? fast_walk(ev, &b, offset, until, true) : fast_walk(ev, &b, offset, until, false);
	const uint64_t records = (at - offset) / ktrace_event_size(w->in.is_64);
	w->in.last_time = b.time;
	w->scan->records += records;
	w->scan->fast += records;
	return at;
}
