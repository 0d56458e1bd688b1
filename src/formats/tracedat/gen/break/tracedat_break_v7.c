/* Breakers of version 7: sections, the chain of options, buffers, chunks. */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>

static void poke(struct tracedat_gen *b, size_t at, uint8_t value)
{
	if (at < b->out->size)
		b->out->data[at] = value;
}

static size_t kallsyms(const struct tracedat_gen *b)
{
	return b->at.section[TRACEDAT_KALLSYMS];
}

BREAK(v7_compressor_name)
{
	BYTES poke(b, 18, 'x');
}

BREAK(v7_compressor_version)
{
	WORLD b->codec = TRACEDAT_ZLIB;
	BYTES poke(b, 23, '9');
}

BREAK(v7_options_offset)
{
	BYTES tracedat_gen_u64(b, b->at.options_offset, 7);
}

BREAK(v7_section_size)
{
	BYTES tracedat_gen_u64(b, kallsyms(b) + 8, tracedat_gen_get64(b, kallsyms(b) + 8) + 5);
}

BREAK(v7_section_id_unknown)
{
	MODEL
	{
		b->extra_section = true;
		b->extra_id = 99;
	}
}

BREAK(v7_section_id_mismatch)
{
	BYTES tracedat_gen_u16(b, kallsyms(b), 99);
}

BREAK(v7_section_flags)
{
	BYTES tracedat_gen_u16(b, kallsyms(b) + 2, 2);
}

BREAK(v7_section_desc)
{
	BYTES tracedat_gen_u32(b, kallsyms(b) + 4, 3);
}

BREAK(v7_strings_missing)
{
	MODEL b->omit[TRACEDAT_STRINGS] = true;
}

BREAK(v7_strings_nul)
{
	BYTES poke(b, b->out->size - 1, 'x');
}

BREAK(v7_section_duplicate)
{
	MODEL
	{
		b->extra_section = true;
		b->extra_id = TRACEDAT_KALLSYMS;
	}
}

BREAK(v7_section_compress_flag)
{
	BYTES tracedat_gen_u16(b, kallsyms(b) + 2, 1);
}

BREAK(v7_block_csize)
{
	BYTES tracedat_gen_u32(b, kallsyms(b) + 16, tracedat_gen_get32(b, kallsyms(b) + 16) + 3);
}

BREAK(v7_block_usize)
{
	BYTES tracedat_gen_u32(b, kallsyms(b) + 20, 0);
}

BREAK(v7_block_decode)
{
	/* The descriptor of the frame: a reserved bit makes it invalid. */
	BYTES poke(b, kallsyms(b) + 28, 0xff);
}

BREAK(v7_done_size)
{
	BYTES tracedat_gen_u32(b, b->at.done[1] + 2, 4);
}

BREAK(v7_done_not_last)
{
	MODEL b->junk_after_done = true;
}

BREAK(v7_done_cycle)
{
	BYTES tracedat_gen_u64(b, b->at.done[1] + 6, b->at.section[TRACEDAT_DONE]);
}

BREAK(v7_done_target)
{
	BYTES tracedat_gen_u64(b, b->at.done[0] + 6, 0);
}

BREAK(v7_done_host_order)
{
	BYTES tracedat_gen_u32(b, b->at.done[1] + 2, 0x08000000);
}

BREAK(v7_option_section_size)
{
	MODEL b->short_pointer = TRACEDAT_KALLSYMS;
}

BREAK(v7_mandatory_section)
{
	MODEL b->omit[TRACEDAT_HEADER_INFO] = true;
}

/* ---- buffers ---- */

/* Fields of the first BUFFER option: offset, "" and "local", page size, count, entries of 20 bytes. */
static size_t buffer_field(const struct tracedat_gen *b, size_t at)
{
	return b->buffers[0].option_at + at;
}

BREAK(v7_buffer_missing)
{
	MODEL b->omit[TRACEDAT_BUFFER] = true;
}

BREAK(v7_buffer_layout)
{
	BYTES tracedat_gen_u32(b, buffer_field(b, 19), 3);
}

BREAK(v7_buffer_cpu_id)
{
	BYTES tracedat_gen_u32(b, buffer_field(b, 23), 0x80000000);
}

BREAK(v7_buffer_page_size)
{
	BYTES tracedat_gen_u32(b, buffer_field(b, 15), 512);
}

BREAK(v7_buffer_section)
{
	BYTES tracedat_gen_u64(b, buffer_field(b, 0), 7);
}

BREAK(v7_buffer_cpu_outside_section)
{
	WORLD b->extra_at_end = true;
	BYTES tracedat_gen_u64(b, buffer_field(b, 23 + 20 + 4),
			       tracedat_align(b->out->size - (tracedat_gen_extra(b) - b->page_size), b->page_size));
}

BREAK(v7_buffer_clock_unknown)
{
	MODEL(void) snprintf(b->buffers[0].clock, sizeof(b->buffers[0].clock), "sundial");
}

BREAK(v7_buffer_size_minus_four)
{
	WORLD b->codec = TRACEDAT_ZSTD;
	MODEL b->minus_four = true;
}

/* ---- chunks: count, then sizes and frame of each ---- */

static size_t chunk(const struct tracedat_gen *b)
{
	return b->buffers[0].cpus[0].at;
}

BREAK(v7_chunk_count)
{
	BYTES tracedat_gen_u32(b, chunk(b), 0);
}

BREAK(v7_chunk_csize)
{
	BYTES tracedat_gen_u32(b, chunk(b) + 4, 0);
}

BREAK(v7_chunk_usize)
{
	BYTES tracedat_gen_u32(b, chunk(b) + 8, 0);
}

BREAK(v7_chunk_decode)
{
	BYTES poke(b, chunk(b) + 16, 0xff);
}

/* ---- what else ---- */

BREAK(v7_btf_modules_none)
{
	MODEL
	{
		b->extra_section = true;
		b->extra_id = TRACEDAT_BTF_FILE;
	}
}

BREAK(v7_dangling_23_25)
{
	MODEL(void) tracedat_gen_option_add(b, TRACEDAT_BTF_FILE, "\5\0\0\0\0\0\0", 8);
}

BREAK(size_overflow_bomb)
{
	WORLD
	{
		b->version = 7;
		b->codec = TRACEDAT_ZSTD;
	}
	MODEL
	{
		uint8_t *p = bytes_grow(&b->printk, 8u << 20);
		if (p)
			memset(p, 'a', 8u << 20);
	}
}
