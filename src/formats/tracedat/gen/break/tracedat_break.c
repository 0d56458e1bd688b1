/* Breakers of the header: initial block, header_page, event formats. One a rule, each makes exactly its defect. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

static void poke(struct tracedat_gen *b, size_t at, uint8_t value)
{
	if (at < b->out->size)
		b->out->data[at] = value;
}

/* ---- initial block ---- */

BREAK(bad_magic)
{
	BYTES poke(b, 0, 0x16);
}

BREAK(version_unsupported)
{
	BYTES poke(b, 10, '5');
}

BREAK(version_not_canonical)
{
	BYTES poke(b, 11, ' ');
}

BREAK(perf_tracing_blob)
{
	BYTES
	{
		bytes_insert(b->out, 10, "0.", 2);
		b->g->records = 0;
	}
}

BREAK(endian_flag_invalid)
{
	BYTES poke(b, 12, 2);
}

BREAK(endian_flag_mismatch)
{
	BYTES poke(b, 12, 1);
}

BREAK(user_long_invalid)
{
	BYTES poke(b, 13, 0);
}

BREAK(user_long_exceeds_kernel_long)
{
	WORLD b->long_size = 4;
}

BREAK(page_size_invalid)
{
	BYTES tracedat_gen_u32(b, 14, 0);
}

BREAK(page_size_vs_header_page)
{
	BYTES tracedat_gen_u32(b, 14, 2 * b->page_size);
}

/* ---- header_page and header_event ---- */

BREAK(header_page_tag)
{
	BYTES poke(b, b->at.header, 'H');
}

BREAK(header_event_tag)
{
	BYTES poke(b, b->at.header_event, 'H');
}

BREAK(header_page_size)
{
	MODEL b->hp_delta = 1;
}

BREAK(header_page_fields)
{
	MODEL tracedat_gen_swap(&b->header_page, "local_t commit", "local_t comment");
}

BREAK(header_page_timestamp_size)
{
	MODEL tracedat_gen_swap(&b->header_page, "offset:0;\tsize:8", "offset:0;\tsize:4");
}

BREAK(header_page_commit_size)
{
	MODEL tracedat_gen_swap(&b->header_page, "commit;\toffset:8;\tsize:8", "commit;\toffset:8;\tsize:6");
}

BREAK(header_page_data_range)
{
	MODEL tracedat_gen_swap(&b->header_page, "data;\toffset:16", "data;\toffset:24");
}

BREAK(header_event_constants)
{
	MODEL tracedat_gen_swap(&b->header_event, "27 bits", "26 bits");
}

BREAK(header_sizes_old_kernel)
{
	MODEL
	{
		b->header_page.size = b->header_event.size = 0;
		for (size_t i = 0; i < b->buffers[0].count; i++) {
			struct gen_cpu *c = &b->buffers[0].cpus[i];
			uint8_t *page;
			for (c->records = 0; (page = tracedat_gen_page(b, c, c->records)) != NULL; c->records++) {
				memset(page + 8, 0, b->page_size - 8);
				tracedat_gen_commit_set(b, page, 20);
				/* One record: type 3, four units of 4 bytes. */
				store_u32(page + 16, 100u << 5 | 4u << 2 | 3u, b->big_endian);
				tracedat_gen_common(b, page + 20, 300, 42);
			}
		}
		tracedat_gen_stats(b);
	}
}

/* ---- lists of formats ---- */

BREAK(ftrace_count_implausible)
{
	MODEL b->ftrace_delta = 1;
}

BREAK(system_count_implausible)
{
	MODEL b->systems_delta = 1;
}

static struct gen_format_text *last_format(struct tracedat_gen *b)
{
	return &b->formats[b->format_count - 1];
}

static void rename_system(struct tracedat_gen *b, const char *name)
{
	(void)snprintf(last_format(b)->system, sizeof(last_format(b)->system), "%s", name);
}

BREAK(system_name_bad)
{
	MODEL rename_system(b, "wi/de");
}

BREAK(system_duplicate)
{
	MODEL rename_system(b, "demo#2");
}

BREAK(system_ftrace_in_events)
{
	MODEL rename_system(b, "ftrace#2");
}

BREAK(format_size_zero)
{
	MODEL
	{
		tracedat_gen_format_add(b, "wide", "empty", 303, "", "\"\"");
		last_format(b)->text.size = 0;
	}
}

BREAK(format_size_mismatch)
{
	MODEL last_format(b)->size_delta = 5;
}

BREAK(format_no_name)
{
	MODEL tracedat_gen_swap(tracedat_gen_format_of(b, "label"), "name: label\n", "");
}

BREAK(format_no_id)
{
	MODEL tracedat_gen_swap(tracedat_gen_format_of(b, "label"), "ID: 301\n", "");
}

BREAK(event_id_range)
{
	MODEL tracedat_gen_swap(tracedat_gen_format_of(b, "label"), "ID: 301", "ID: 70000");
}

BREAK(event_id_duplicate)
{
	MODEL tracedat_gen_swap(tracedat_gen_format_of(b, "wide"), "ID: 302", "ID: 300");
}

BREAK(event_name_duplicate)
{
	MODEL
	{
		rename_system(b, "demo");
		tracedat_gen_swap(tracedat_gen_format_of(b, "wide"), "name: wide", "name: tick");
	}
}

/* ---- fields ---- */

static void swap_in(struct tracedat_gen *b, const char *event, const char *what, const char *with)
{
	tracedat_gen_swap(tracedat_gen_format_of(b, event), what, with);
}

BREAK(common_fields_differ)
{
	MODEL swap_in(b, "wide", "unsigned char common_flags", "u8 common_flags");
}

BREAK(common_type_shape)
{
	MODEL swap_in(b, "wide", "common_type;\toffset:0;\tsize:2", "common_type;\toffset:0;\tsize:4");
}

BREAK(common_pid_shape)
{
	MODEL swap_in(b, "wide", "common_pid;\toffset:4;\tsize:4", "common_pid;\toffset:4;\tsize:2");
}

BREAK(field_syntax)
{
	MODEL swap_in(b, "wide", "bytes[200];\toffset:8", "bytes[200];\tat:8");
}

BREAK(field_size_zero)
{
	MODEL swap_in(b, "wide", "size:200", "size:0");
}

BREAK(field_size_type)
{
	MODEL swap_in(b, "tick", "count;\toffset:8;\tsize:4", "count;\toffset:8;\tsize:2");
}

BREAK(field_overlap)
{
	MODEL swap_in(b, "tick", "value;\toffset:16", "value;\toffset:10");
}

BREAK(field_overlaps_common)
{
	MODEL swap_in(b, "tick", "count;\toffset:8", "count;\toffset:6");
}

BREAK(field_out_of_page)
{
	MODEL swap_in(b, "wide", "offset:8;\tsize:200", "offset:80000;\tsize:200");
}

BREAK(field_misaligned)
{
	MODEL swap_in(b, "tick", "value;\toffset:16", "value;\toffset:12");
}

BREAK(field_signedness)
{
	MODEL swap_in(b, "tick", "count;\toffset:8;\tsize:4;\tsigned:0", "count;\toffset:8;\tsize:4;\tsigned:1");
}

BREAK(data_loc_size)
{
	MODEL swap_in(b, "label", "name;\toffset:8;\tsize:4", "name;\toffset:8;\tsize:8");
}

BREAK(field_name_duplicate)
{
	MODEL swap_in(b, "tick", "u64 value", "u64 count");
}

/* ---- print formats ---- */

BREAK(print_fmt_missing)
{
	MODEL swap_in(b, "wide", "print fmt: \"first=%u\", REC->bytes[0]\n", "");
}

BREAK(print_fmt_unterminated)
{
	MODEL swap_in(b, "wide", "\"first=%u\"", "\"first=%u");
}

BREAK(print_fmt_arg_count)
{
	MODEL swap_in(b, "wide", "first=%u", "first=%u second=%u");
}

BREAK(print_fmt_unknown_field)
{
	MODEL swap_in(b, "wide", "REC->bytes", "REC->octets");
}

BREAK(print_fmt_arg_type)
{
	MODEL swap_in(b, "tick", "count=%u", "count=%s");
}

BREAK(print_fmt_const_div_zero)
{
	MODEL swap_in(b, "wide", "REC->bytes[0]", "REC->bytes[0] / 0");
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
		swap_in(b, "wide", "REC->bytes[0]", deep);
	}
}

BREAK(print_fmt_width)
{
	MODEL swap_in(b, "wide", "first=%u", "first=%2000000000u");
}

BREAK(print_fmt_kernel_function)
{
	MODEL swap_in(b, "wide", "REC->bytes[0]", "jiffies_to_msecs(REC->bytes[0])");
}

BREAK(format_text_bytes)
{
	MODEL
	{
		struct bytes *text = tracedat_gen_format_of(b, "wide");
		if (text->size > 30)
			text->data[30] = 0;
	}
}
