/* Breakers of version 7: sections, the chain of options, buffers, chunks. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

static void byte_set(struct tracedat_gen *g, size_t at, uint8_t value)
{
	if (at < g->out->size)
		g->out->data[at] = value;
}

static size_t kallsyms(const struct tracedat_gen *g)
{
	return g->at.section[TRACEDAT_KALLSYMS];
}

BREAK(v7_compressor_name)
{
	BYTES byte_set(g, 18, 'x');
}

BREAK(v7_compressor_version)
{
	SHAPE g->codec = TRACEDAT_ZLIB;
	BYTES byte_set(g, 23, '9');
}

BREAK(v7_options_offset)
{
	BYTES tracedat_gen_u64(g, g->at.options_offset, 7);
}

BREAK(v7_section_size)
{
	BYTES tracedat_gen_u64(g, kallsyms(g) + 8, tracedat_gen_get64(g, kallsyms(g) + 8) + 5);
}

BREAK(v7_section_id_unknown)
{
	MODEL
	{
		g->extra_section = true;
		g->extra_id = 99;
	}
}

BREAK(v7_section_id_mismatch)
{
	BYTES tracedat_gen_u16(g, kallsyms(g), 99);
}

BREAK(v7_section_flags)
{
	BYTES tracedat_gen_u16(g, kallsyms(g) + 2, 2);
}

BREAK(v7_section_desc)
{
	BYTES tracedat_gen_u32(g, kallsyms(g) + 4, 3);
}

BREAK(v7_strings_missing)
{
	MODEL g->omit[TRACEDAT_STRINGS] = true;
}

BREAK(v7_strings_nul)
{
	BYTES byte_set(g, g->out->size - 1, 'x');
}

BREAK(v7_section_duplicate)
{
	MODEL
	{
		g->extra_section = true;
		g->extra_id = TRACEDAT_KALLSYMS;
	}
}

BREAK(v7_section_compress_flag)
{
	BYTES tracedat_gen_u16(g, kallsyms(g) + 2, 1);
}

BREAK(v7_block_csize)
{
	BYTES tracedat_gen_u32(g, kallsyms(g) + 16, tracedat_gen_get32(g, kallsyms(g) + 16) + 3);
}

BREAK(v7_block_usize)
{
	BYTES tracedat_gen_u32(g, kallsyms(g) + 20, 0);
}

BREAK(v7_block_decode)
{
	/* The descriptor of the frame: a reserved bit makes it invalid. */
	BYTES byte_set(g, kallsyms(g) + 28, 0xff);
}

BREAK(v7_done_size)
{
	BYTES tracedat_gen_u32(g, g->at.done[1] + 2, 4);
}

BREAK(v7_done_not_last)
{
	MODEL g->junk_after_done = true;
}

BREAK(v7_done_cycle)
{
	BYTES tracedat_gen_u64(g, g->at.done[1] + 6, g->at.section[TRACEDAT_DONE]);
}

BREAK(v7_done_target)
{
	BYTES tracedat_gen_u64(g, g->at.done[0] + 6, 0);
}

BREAK(v7_done_host_order)
{
	BYTES tracedat_gen_u32(g, g->at.done[1] + 2, 0x08000000);
}

BREAK(v7_option_section_size)
{
	MODEL g->short_pointer = TRACEDAT_KALLSYMS;
}

BREAK(v7_mandatory_section)
{
	MODEL g->omit[TRACEDAT_HEADER_INFO] = true;
}

/* ---- buffers ---- */

/* Fields of the first BUFFER option: offset, "" and "local", page size, count, entries of 20 bytes. */
static size_t buffer_field(const struct tracedat_gen *g, size_t at)
{
	return g->buffers[0].option_at + at;
}

BREAK(v7_buffer_missing)
{
	MODEL g->omit[TRACEDAT_BUFFER] = true;
}

BREAK(v7_buffer_layout)
{
	BYTES tracedat_gen_u32(g, buffer_field(g, 19), 3);
}

BREAK(v7_buffer_cpu_id)
{
	BYTES tracedat_gen_u32(g, buffer_field(g, 23), 0x80000000);
}

BREAK(v7_buffer_page_size)
{
	BYTES tracedat_gen_u32(g, buffer_field(g, 15), 512);
}

BREAK(v7_buffer_section)
{
	BYTES tracedat_gen_u64(g, buffer_field(g, 0), 7);
}

BREAK(v7_buffer_cpu_outside_section)
{
	SHAPE g->extra_at_end = true;
	BYTES tracedat_gen_u64(g, buffer_field(g, 23 + 20 + 4),
			       tracedat_align(g->out->size - (tracedat_gen_extra(g) - g->page_size), g->page_size));
}

BREAK(v7_buffer_clock_unknown)
{
	MODEL(void) snprintf(g->buffers[0].clock, sizeof(g->buffers[0].clock), "sundial");
}

BREAK(v7_buffer_size_minus_four)
{
	SHAPE g->codec = TRACEDAT_ZSTD;
	MODEL g->minus_four = true;
}

/* ---- chunks: count, then sizes and frame of each ---- */

static size_t chunk(const struct tracedat_gen *g)
{
	return g->buffers[0].cpus[0].at;
}

BREAK(v7_chunk_count)
{
	BYTES tracedat_gen_u32(g, chunk(g), 0);
}

BREAK(v7_chunk_csize)
{
	BYTES tracedat_gen_u32(g, chunk(g) + 4, 0);
}

BREAK(v7_chunk_usize)
{
	BYTES tracedat_gen_u32(g, chunk(g) + 8, 0);
}

BREAK(v7_chunk_decode)
{
	BYTES byte_set(g, chunk(g) + 16, 0xff);
}

/* ---- others ---- */

BREAK(v7_btf_modules_none)
{
	MODEL
	{
		g->extra_section = true;
		g->extra_id = TRACEDAT_BTF_FILE;
	}
}

BREAK(v7_dangling_23_25)
{
	MODEL(void) tracedat_gen_option_add(g, TRACEDAT_BTF_FILE, "\5\0\0\0\0\0\0", 8);
}

BREAK(size_overflow_bomb)
{
	SHAPE
	{
		g->version = 7;
		g->codec = TRACEDAT_ZSTD;
	}
	MODEL
	{
		uint8_t *p = bytes_grow(&g->printk, 8u << 20);
		if (p)
			memset(p, 'a', 8u << 20);
	}
}
