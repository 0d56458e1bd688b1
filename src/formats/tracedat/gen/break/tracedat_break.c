/* Breakers of the header: initial block, header_page, event formats. One a rule, each makes exactly its defect. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

static void byte_set(struct tracedat_gen *g, size_t at, uint8_t value)
{
	if (at < g->out->size)
		g->out->data[at] = value;
}

/* ---- initial block ---- */

BREAKER(bad_magic, GEN_BYTES)
{
	byte_set(g, 0, 0x16);
}

BREAKER(version_unsupported, GEN_BYTES)
{
	byte_set(g, 10, '5');
}

BREAKER(version_not_canonical, GEN_BYTES)
{
	byte_set(g, 11, ' ');
}

BREAKER(perf_tracing_blob, GEN_BYTES)
{
	bytes_insert(g->out, 10, "0.", 2);
	g->g->records = 0;
}

BREAKER(endian_flag_invalid, GEN_BYTES)
{
	byte_set(g, 12, 2);
}

BREAKER(endian_flag_mismatch, GEN_BYTES)
{
	byte_set(g, 12, 1);
}

BREAKER(user_long_invalid, GEN_BYTES)
{
	byte_set(g, 13, 0);
}

BREAKER(user_long_exceeds_kernel_long, GEN_SHAPE)
{
	g->long_size = 4;
}

BREAKER(page_size_invalid, GEN_BYTES)
{
	tracedat_gen_u32(g, 14, 0);
}

BREAKER(page_size_vs_header_page, GEN_BYTES)
{
	tracedat_gen_u32(g, 14, 2 * g->page_size);
}

/* ---- header_page and header_event ---- */

BREAKER(header_page_tag, GEN_BYTES)
{
	byte_set(g, g->at.header, 'H');
}

BREAKER(header_event_tag, GEN_BYTES)
{
	byte_set(g, g->at.header_event, 'H');
}

BREAKER(header_page_size, GEN_MODEL)
{
	g->hp_delta = 1;
}

BREAKER(header_page_fields, GEN_MODEL)
{
	tracedat_gen_swap(&g->header_page, "local_t commit", "local_t comment");
}

BREAKER(header_page_timestamp_size, GEN_MODEL)
{
	tracedat_gen_swap(&g->header_page, "offset:0;\tsize:8", "offset:0;\tsize:4");
}

BREAKER(header_page_commit_size, GEN_MODEL)
{
	tracedat_gen_swap(&g->header_page, "commit;\toffset:8;\tsize:8", "commit;\toffset:8;\tsize:6");
}

BREAKER(header_page_data_range, GEN_MODEL)
{
	tracedat_gen_swap(&g->header_page, "data;\toffset:16", "data;\toffset:24");
}

BREAKER(header_event_constants, GEN_MODEL)
{
	tracedat_gen_swap(&g->header_event, "27 bits", "26 bits");
}

BREAKER(header_sizes_old_kernel, GEN_MODEL)
{
	g->header_page.size = g->header_event.size = 0;
	for (size_t i = 0; i < g->buffers[0].count; i++) {
		struct tracedat_gen_cpu *c = &g->buffers[0].cpus[i];
		uint8_t *page;
		for (c->records = 0; (page = tracedat_gen_page(g, c, (size_t)c->records)) != NULL; c->records++) {
			memset(page + 8, 0, g->page_size - 8);
			tracedat_gen_commit_set(g, page, 20);
			/* One record: type 3, four units of 4 bytes. */
			store_u32(page + 16, 100u << 5 | 4u << 2 | 3u, g->big_endian);
			tracedat_gen_common(g, page + 20, 300, 42);
		}
	}
	tracedat_gen_stats(g);
}

/* ---- lists of formats ---- */

BREAKER(ftrace_count_implausible, GEN_MODEL)
{
	g->ftrace_delta = 1;
}

BREAKER(system_count_implausible, GEN_MODEL)
{
	g->systems_delta = 1;
}

static struct tracedat_gen_format *last_format(struct tracedat_gen *g)
{
	return &g->formats[g->format_count - 1];
}

static void rename_system(struct tracedat_gen *g, const char *name)
{
	(void)snprintf(last_format(g)->system, sizeof(last_format(g)->system), "%s", name);
}

BREAKER(system_name_bad, GEN_MODEL)
{
	rename_system(g, "wi/de");
}

BREAKER(system_duplicate, GEN_MODEL)
{
	rename_system(g, "demo#2");
}

BREAKER(system_ftrace_in_events, GEN_MODEL)
{
	rename_system(g, "ftrace#2");
}

BREAKER(format_size_zero, GEN_MODEL)
{
	tracedat_gen_format_add(g, "wide", "empty", 303, "", "\"\"");
	last_format(g)->text.size = 0;
}

BREAKER(format_size_mismatch, GEN_MODEL)
{
	last_format(g)->size_delta = 5;
}

BREAKER(format_no_name, GEN_MODEL)
{
	tracedat_gen_swap(tracedat_gen_format_of(g, "label"), "name: label\n", "");
}

BREAKER(format_no_id, GEN_MODEL)
{
	tracedat_gen_swap(tracedat_gen_format_of(g, "label"), "ID: 301\n", "");
}

BREAKER(event_id_range, GEN_MODEL)
{
	tracedat_gen_swap(tracedat_gen_format_of(g, "label"), "ID: 301", "ID: 70000");
}

BREAKER(event_id_duplicate, GEN_MODEL)
{
	tracedat_gen_swap(tracedat_gen_format_of(g, "wide"), "ID: 302", "ID: 300");
}

BREAKER(event_name_duplicate, GEN_MODEL)
{
	rename_system(g, "demo");
	tracedat_gen_swap(tracedat_gen_format_of(g, "wide"), "name: wide", "name: tick");
}

/* ---- fields ---- */

static void swap_in(struct tracedat_gen *g, const char *event, const char *what, const char *with)
{
	tracedat_gen_swap(tracedat_gen_format_of(g, event), what, with);
}

BREAKER(common_fields_differ, GEN_MODEL)
{
	swap_in(g, "wide", "unsigned char common_flags", "u8 common_flags");
}

BREAKER(common_type_shape, GEN_MODEL)
{
	swap_in(g, "wide", "common_type;\toffset:0;\tsize:2", "common_type;\toffset:0;\tsize:4");
}

BREAKER(common_pid_shape, GEN_MODEL)
{
	swap_in(g, "wide", "common_pid;\toffset:4;\tsize:4", "common_pid;\toffset:4;\tsize:2");
}

BREAKER(field_syntax, GEN_MODEL)
{
	swap_in(g, "wide", "bytes[200];\toffset:8", "bytes[200];\tat:8");
}

BREAKER(field_size_zero, GEN_MODEL)
{
	swap_in(g, "wide", "size:200", "size:0");
}

BREAKER(field_size_type, GEN_MODEL)
{
	swap_in(g, "tick", "count;\toffset:8;\tsize:4", "count;\toffset:8;\tsize:2");
}

BREAKER(field_overlap, GEN_MODEL)
{
	swap_in(g, "tick", "value;\toffset:16", "value;\toffset:10");
}

BREAKER(field_overlaps_common, GEN_MODEL)
{
	swap_in(g, "tick", "count;\toffset:8", "count;\toffset:6");
}

BREAKER(field_out_of_page, GEN_MODEL)
{
	swap_in(g, "wide", "offset:8;\tsize:200", "offset:80000;\tsize:200");
}

BREAKER(field_misaligned, GEN_MODEL)
{
	swap_in(g, "tick", "value;\toffset:16", "value;\toffset:12");
}

BREAKER(field_signedness, GEN_MODEL)
{
	swap_in(g, "tick", "count;\toffset:8;\tsize:4;\tsigned:0", "count;\toffset:8;\tsize:4;\tsigned:1");
}

BREAKER(data_loc_size, GEN_MODEL)
{
	swap_in(g, "label", "name;\toffset:8;\tsize:4", "name;\toffset:8;\tsize:8");
}

BREAKER(field_name_duplicate, GEN_MODEL)
{
	swap_in(g, "tick", "u64 value", "u64 count");
}

/* ---- print formats ---- */

BREAKER(print_fmt_missing, GEN_MODEL)
{
	swap_in(g, "wide", "print fmt: \"first=%u\", REC->bytes[0]\n", "");
}

BREAKER(print_fmt_unterminated, GEN_MODEL)
{
	swap_in(g, "wide", "\"first=%u\"", "\"first=%u");
}

BREAKER(print_fmt_arg_count, GEN_MODEL)
{
	swap_in(g, "wide", "first=%u", "first=%u second=%u");
}

BREAKER(print_fmt_unknown_field, GEN_MODEL)
{
	swap_in(g, "wide", "REC->bytes", "REC->octets");
}

BREAKER(print_fmt_arg_type, GEN_MODEL)
{
	swap_in(g, "tick", "count=%u", "count=%s");
}

BREAKER(print_fmt_const_div_zero, GEN_MODEL)
{
	swap_in(g, "wide", "REC->bytes[0]", "REC->bytes[0] / 0");
}

BREAKER(print_fmt_depth, GEN_MODEL)
{
	char deep[2 * 300 + 2];
	memset(deep, '(', 300);
	deep[300] = '1';
	memset(deep + 301, ')', 300);
	deep[601] = '\0';
	swap_in(g, "wide", "REC->bytes[0]", deep);
}

BREAKER(print_fmt_width, GEN_MODEL)
{
	swap_in(g, "wide", "first=%u", "first=%2000000000u");
}

BREAKER(print_fmt_kernel_function, GEN_MODEL)
{
	swap_in(g, "wide", "REC->bytes[0]", "jiffies_to_msecs(REC->bytes[0])");
}

BREAKER(format_text_bytes, GEN_MODEL)
{
	struct bytes *text = tracedat_gen_format_of(g, "wide");
	if (text->size > 30)
		text->data[30] = 0;
}

/* ---- the table ---- */

#define BREAKERS_TABLE
#include "core/breakers.h"
