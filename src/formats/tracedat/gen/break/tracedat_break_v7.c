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

BREAKER(v7_compressor_name, GEN_BYTES)
{
	byte_set(g, 18, 'x');
}

BREAKER_OF(v7_compressor_version, GEN_BYTES, g->codec = TRACEDAT_ZLIB)
{
	byte_set(g, 23, '9');
}

BREAKER(v7_options_offset, GEN_BYTES)
{
	tracedat_gen_u64(g, g->at.options_offset, 7);
}

BREAKER(v7_section_size, GEN_BYTES)
{
	tracedat_gen_u64(g, kallsyms(g) + 8, tracedat_gen_get64(g, kallsyms(g) + 8) + 5);
}

BREAKER(v7_section_id_unknown, GEN_MODEL)
{
	g->extra_section = true;
	g->extra_id = 99;
}

BREAKER(v7_section_id_mismatch, GEN_BYTES)
{
	tracedat_gen_u16(g, kallsyms(g), 99);
}

BREAKER(v7_section_flags, GEN_BYTES)
{
	tracedat_gen_u16(g, kallsyms(g) + 2, 2);
}

BREAKER(v7_section_desc, GEN_BYTES)
{
	tracedat_gen_u32(g, kallsyms(g) + 4, 3);
}

BREAKER(v7_strings_missing, GEN_MODEL)
{
	g->omit[TRACEDAT_STRINGS] = true;
}

BREAKER(v7_strings_nul, GEN_BYTES)
{
	byte_set(g, g->out->size - 1, 'x');
}

BREAKER(v7_section_duplicate, GEN_MODEL)
{
	g->extra_section = true;
	g->extra_id = TRACEDAT_KALLSYMS;
}

BREAKER(v7_section_compress_flag, GEN_BYTES)
{
	tracedat_gen_u16(g, kallsyms(g) + 2, 1);
}

BREAKER(v7_block_csize, GEN_BYTES)
{
	tracedat_gen_u32(g, kallsyms(g) + 16, tracedat_gen_get32(g, kallsyms(g) + 16) + 3);
}

BREAKER(v7_block_usize, GEN_BYTES)
{
	tracedat_gen_u32(g, kallsyms(g) + 20, 0);
}

BREAKER(v7_block_decode, GEN_BYTES)
{
	/* The descriptor of the frame: a reserved bit makes it invalid. */
	byte_set(g, kallsyms(g) + 28, 0xff);
}

BREAKER(v7_done_size, GEN_BYTES)
{
	tracedat_gen_u32(g, g->at.done[1] + 2, 4);
}

BREAKER(v7_done_not_last, GEN_MODEL)
{
	g->junk_after_done = true;
}

BREAKER(v7_done_cycle, GEN_BYTES)
{
	tracedat_gen_u64(g, g->at.done[1] + 6, g->at.section[TRACEDAT_DONE]);
}

BREAKER(v7_done_target, GEN_BYTES)
{
	tracedat_gen_u64(g, g->at.done[0] + 6, 0);
}

BREAKER(v7_done_host_order, GEN_BYTES)
{
	tracedat_gen_u32(g, g->at.done[1] + 2, 0x08000000);
}

BREAKER(v7_option_section_size, GEN_MODEL)
{
	g->short_pointer = TRACEDAT_KALLSYMS;
}

BREAKER(v7_mandatory_section, GEN_MODEL)
{
	g->omit[TRACEDAT_HEADER_INFO] = true;
}

/* ---- buffers ---- */

/* Fields of the first BUFFER option: offset, "" and "local", page size, count, entries of 20 bytes. */
static size_t buffer_field(const struct tracedat_gen *g, size_t at)
{
	return g->buffers[0].option_at + at;
}

BREAKER(v7_buffer_missing, GEN_MODEL)
{
	g->omit[TRACEDAT_BUFFER] = true;
}

BREAKER(v7_buffer_layout, GEN_BYTES)
{
	tracedat_gen_u32(g, buffer_field(g, 19), 3);
}

BREAKER(v7_buffer_cpu_id, GEN_BYTES)
{
	tracedat_gen_u32(g, buffer_field(g, 23), 0x80000000);
}

BREAKER(v7_buffer_page_size, GEN_BYTES)
{
	tracedat_gen_u32(g, buffer_field(g, 15), 512);
}

BREAKER(v7_buffer_section, GEN_BYTES)
{
	tracedat_gen_u64(g, buffer_field(g, 0), 7);
}

BREAKER_OF(v7_buffer_cpu_outside_section, GEN_BYTES, g->extra_at_end = true)
{
	tracedat_gen_u64(g, buffer_field(g, 23 + 20 + 4),
			 tracedat_align(g->out->size - (tracedat_gen_extra(g) - g->page_size), g->page_size));
}

BREAKER(v7_buffer_clock_unknown, GEN_MODEL)
{
	(void)snprintf(g->buffers[0].clock, sizeof(g->buffers[0].clock), "sundial");
}

BREAKER_OF(v7_buffer_size_minus_four, GEN_MODEL, g->codec = TRACEDAT_ZSTD)
{
	g->minus_four = true;
}

/* ---- chunks: count, then sizes and frame of each ---- */

static size_t chunk(const struct tracedat_gen *g)
{
	return (size_t)g->buffers[0].cpus[0].at;
}

BREAKER(v7_chunk_count, GEN_BYTES)
{
	tracedat_gen_u32(g, chunk(g), 0);
}

BREAKER(v7_chunk_csize, GEN_BYTES)
{
	tracedat_gen_u32(g, chunk(g) + 4, 0);
}

BREAKER(v7_chunk_usize, GEN_BYTES)
{
	tracedat_gen_u32(g, chunk(g) + 8, 0);
}

BREAKER(v7_chunk_decode, GEN_BYTES)
{
	byte_set(g, chunk(g) + 16, 0xff);
}

/* ---- others ---- */

BREAKER(v7_btf_modules_none, GEN_MODEL)
{
	g->extra_section = true;
	g->extra_id = TRACEDAT_BTF_FILE;
}

BREAKER(v7_dangling_23_25, GEN_MODEL)
{
	(void)tracedat_gen_option_add(g, TRACEDAT_BTF_FILE, "\5\0\0\0\0\0\0", 8);
}

BREAKER_OF(size_overflow_bomb, GEN_MODEL, g->version = 7, g->codec = TRACEDAT_ZSTD)
{
	uint8_t *p = bytes_grow(&g->printk, 8u << 20);
	if (p)
		memset(p, 'a', 8u << 20);
}
