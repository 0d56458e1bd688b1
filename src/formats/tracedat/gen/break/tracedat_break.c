/* Breakers of the header: initial block, header_page, event formats. One a rule, each makes exactly its defect. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

static void byte_set(struct tracedat_gen *g, size_t at, uint8_t value)
{
	if (at < g->out->size)
		g->out->data[at] = value;
}

/* ---- initial block ---- */

BREAK(bad_magic)
{
	BYTES byte_set(g, 0, 0x16);
}

BREAK(version_unsupported)
{
	BYTES byte_set(g, 10, '5');
}

BREAK(version_not_canonical)
{
	BYTES byte_set(g, 11, ' ');
}

BREAK(perf_tracing_blob)
{
	BYTES
	{
		bytes_insert(g->out, 10, "0.", 2);
		g->g->records = 0;
	}
}

BREAK(endian_flag_invalid)
{
	BYTES byte_set(g, 12, 2);
}

BREAK(endian_flag_mismatch)
{
	BYTES byte_set(g, 12, 1);
}

BREAK(user_long_invalid)
{
	BYTES byte_set(g, 13, 0);
}

BREAK(user_long_exceeds_kernel_long)
{
	SHAPE g->long_size = 4;
}

BREAK(page_size_invalid)
{
	BYTES tracedat_gen_u32(g, 14, 0);
}

BREAK(page_size_vs_header_page)
{
	BYTES tracedat_gen_u32(g, 14, 2 * g->page_size);
}

/* ---- header_page and header_event ---- */

BREAK(header_page_tag)
{
	BYTES byte_set(g, g->at.header, 'H');
}

BREAK(header_event_tag)
{
	BYTES byte_set(g, g->at.header_event, 'H');
}

BREAK(header_page_size)
{
	MODEL g->hp_delta = 1;
}

BREAK(header_page_fields)
{
	MODEL tracedat_gen_swap(&g->header_page, "local_t commit", "local_t comment");
}

BREAK(header_page_timestamp_size)
{
	MODEL tracedat_gen_swap(&g->header_page, "offset:0;\tsize:8", "offset:0;\tsize:4");
}

BREAK(header_page_commit_size)
{
	MODEL tracedat_gen_swap(&g->header_page, "commit;\toffset:8;\tsize:8", "commit;\toffset:8;\tsize:6");
}

BREAK(header_page_data_range)
{
	MODEL tracedat_gen_swap(&g->header_page, "data;\toffset:16", "data;\toffset:24");
}

BREAK(header_event_constants)
{
	MODEL tracedat_gen_swap(&g->header_event, "27 bits", "26 bits");
}

BREAK(header_sizes_old_kernel)
{
	MODEL
	{
		g->header_page.size = g->header_event.size = 0;
		for (size_t i = 0; i < g->buffers[0].count; i++) {
			struct tracedat_gen_cpu *c = &g->buffers[0].cpus[i];
			uint8_t *page;
			for (c->records = 0; (page = tracedat_gen_page(g, c, c->records)) != NULL; c->records++) {
				memset(page + 8, 0, g->page_size - 8);
				tracedat_gen_commit_set(g, page, 20);
				/* One record: type 3, four units of 4 bytes. */
				store_u32(page + 16, 100u << 5 | 4u << 2 | 3u, g->big_endian);
				tracedat_gen_common(g, page + 20, 300, 42);
			}
		}
		tracedat_gen_stats(g);
	}
}

/* ---- lists of formats ---- */

BREAK(ftrace_count_implausible)
{
	MODEL g->ftrace_delta = 1;
}

BREAK(system_count_implausible)
{
	MODEL g->systems_delta = 1;
}

static struct tracedat_gen_format *last_format(struct tracedat_gen *g)
{
	return &g->formats[g->format_count - 1];
}

static void rename_system(struct tracedat_gen *g, const char *name)
{
	(void)snprintf(last_format(g)->system, sizeof(last_format(g)->system), "%s", name);
}

BREAK(system_name_bad)
{
	MODEL rename_system(g, "wi/de");
}

BREAK(system_duplicate)
{
	MODEL rename_system(g, "demo#2");
}

BREAK(system_ftrace_in_events)
{
	MODEL rename_system(g, "ftrace#2");
}

BREAK(format_size_zero)
{
	MODEL
	{
		tracedat_gen_format_add(g, "wide", "empty", 303, "", "\"\"");
		last_format(g)->text.size = 0;
	}
}

BREAK(format_size_mismatch)
{
	MODEL last_format(g)->size_delta = 5;
}

BREAK(format_no_name)
{
	MODEL tracedat_gen_swap(tracedat_gen_format_of(g, "label"), "name: label\n", "");
}

BREAK(format_no_id)
{
	MODEL tracedat_gen_swap(tracedat_gen_format_of(g, "label"), "ID: 301\n", "");
}

BREAK(event_id_range)
{
	MODEL tracedat_gen_swap(tracedat_gen_format_of(g, "label"), "ID: 301", "ID: 70000");
}

BREAK(event_id_duplicate)
{
	MODEL tracedat_gen_swap(tracedat_gen_format_of(g, "wide"), "ID: 302", "ID: 300");
}

BREAK(event_name_duplicate)
{
	MODEL
	{
		rename_system(g, "demo");
		tracedat_gen_swap(tracedat_gen_format_of(g, "wide"), "name: wide", "name: tick");
	}
}

/* ---- fields ---- */

static void swap_in(struct tracedat_gen *g, const char *event, const char *what, const char *with)
{
	tracedat_gen_swap(tracedat_gen_format_of(g, event), what, with);
}

BREAK(common_fields_differ)
{
	MODEL swap_in(g, "wide", "unsigned char common_flags", "u8 common_flags");
}

BREAK(common_type_shape)
{
	MODEL swap_in(g, "wide", "common_type;\toffset:0;\tsize:2", "common_type;\toffset:0;\tsize:4");
}

BREAK(common_pid_shape)
{
	MODEL swap_in(g, "wide", "common_pid;\toffset:4;\tsize:4", "common_pid;\toffset:4;\tsize:2");
}

BREAK(field_syntax)
{
	MODEL swap_in(g, "wide", "bytes[200];\toffset:8", "bytes[200];\tat:8");
}

BREAK(field_size_zero)
{
	MODEL swap_in(g, "wide", "size:200", "size:0");
}

BREAK(field_size_type)
{
	MODEL swap_in(g, "tick", "count;\toffset:8;\tsize:4", "count;\toffset:8;\tsize:2");
}

BREAK(field_overlap)
{
	MODEL swap_in(g, "tick", "value;\toffset:16", "value;\toffset:10");
}

BREAK(field_overlaps_common)
{
	MODEL swap_in(g, "tick", "count;\toffset:8", "count;\toffset:6");
}

BREAK(field_out_of_page)
{
	MODEL swap_in(g, "wide", "offset:8;\tsize:200", "offset:80000;\tsize:200");
}

BREAK(field_misaligned)
{
	MODEL swap_in(g, "tick", "value;\toffset:16", "value;\toffset:12");
}

BREAK(field_signedness)
{
	MODEL swap_in(g, "tick", "count;\toffset:8;\tsize:4;\tsigned:0", "count;\toffset:8;\tsize:4;\tsigned:1");
}

BREAK(data_loc_size)
{
	MODEL swap_in(g, "label", "name;\toffset:8;\tsize:4", "name;\toffset:8;\tsize:8");
}

BREAK(field_name_duplicate)
{
	MODEL swap_in(g, "tick", "u64 value", "u64 count");
}

/* ---- print formats ---- */

BREAK(print_fmt_missing)
{
	MODEL swap_in(g, "wide", "print fmt: \"first=%u\", REC->bytes[0]\n", "");
}

BREAK(print_fmt_unterminated)
{
	MODEL swap_in(g, "wide", "\"first=%u\"", "\"first=%u");
}

BREAK(print_fmt_arg_count)
{
	MODEL swap_in(g, "wide", "first=%u", "first=%u second=%u");
}

BREAK(print_fmt_unknown_field)
{
	MODEL swap_in(g, "wide", "REC->bytes", "REC->octets");
}

BREAK(print_fmt_arg_type)
{
	MODEL swap_in(g, "tick", "count=%u", "count=%s");
}

BREAK(print_fmt_const_div_zero)
{
	MODEL swap_in(g, "wide", "REC->bytes[0]", "REC->bytes[0] / 0");
}

BREAK(print_fmt_depth)
{
	MODEL
	{
		char deep[2 * 300 + 2];
		memset(deep, '(', 300);
		deep[300] = '1';
		memset(deep + 301, ')', 300);
		deep[601] = '\0';
		swap_in(g, "wide", "REC->bytes[0]", deep);
	}
}

BREAK(print_fmt_width)
{
	MODEL swap_in(g, "wide", "first=%u", "first=%2000000000u");
}

BREAK(print_fmt_kernel_function)
{
	MODEL swap_in(g, "wide", "REC->bytes[0]", "jiffies_to_msecs(REC->bytes[0])");
}

BREAK(format_text_bytes)
{
	MODEL
	{
		struct bytes *text = tracedat_gen_format_of(g, "wide");
		if (text->size > 30)
			text->data[30] = 0;
	}
}

/* ---- the table ---- */

#define BREAKERS_FORMAT tracedat
#define BREAKERS_RULES "formats/tracedat/tracedat_rules.def"
#define BREAKERS_TABLE
#include "core/breakers.h"
