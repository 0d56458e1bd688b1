/* A capture being made: its shape, then the model (tracedat_gen_model.c), then the bytes (tracedat_gen_file.c). */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>
#include <stdlib.h>

static void make_world(struct tracedat_gen *b)
{
	struct choices *c = b->choices;
	b->version = 6;
	b->codec = TRACEDAT_NONE;
	b->long_size = b->user_long = 8;
	b->page_size = 4096;
	b->chunk_pages = 10;
	if (b->g->rule >= 0) {
		b->version = strstr(tracedat_rules[b->g->rule].id, "/v7-") ? 7 : 6;
		bool zstd = strstr(tracedat_rules[b->g->rule].id, "/v7-chunk") ||
			    strstr(tracedat_rules[b->g->rule].id, "/v7-block");
		b->codec = zstd ? TRACEDAT_ZSTD : TRACEDAT_NONE;
		b->page_size = 1024;
	} else {
		b->version = 6 + (unsigned)choices_below(c, 2);
		b->codec = b->version == 7 ? (enum tracedat_codec)choices_below(c, 3) : TRACEDAT_NONE;
		b->big_endian = choices_chance(c, 1, 3);
		b->long_size = choices_chance(c, 1, 4) ? 4 : 8;
		b->user_long = b->long_size == 8 && choices_chance(c, 1, 8) ? 4 : b->long_size;
		b->page_size = choices_chance(c, 1, 8) ? 8192 : 4096;
		b->latency = choices_chance(c, 1, 12);
		b->no_options = b->version == 6 && !b->latency && choices_chance(c, 1, 16);
	}
	b->header_page_size = b->page_size;
}

/* Every buffer of the model, one after the other; NULL: that was all. */
static struct bytes *model_bytes(struct tracedat_gen *b, size_t at)
{
	struct bytes *texts[] = { &b->header_page, &b->header_event, &b->kallsyms,	   &b->printk,
				  &b->cmdlines,	   &b->text,	     &b->text_chunks.bytes };
	if (at < sizeof(texts) / sizeof(*texts))
		return texts[at];
	at -= sizeof(texts) / sizeof(*texts);
	if (at < GEN_FORMATS)
		return &b->formats[at].text;
	at -= GEN_FORMATS;
	if (at < GEN_OPTIONS)
		return &b->options[at].data;
	at -= GEN_OPTIONS;
	if (at >= 2 * GEN_BUFFERS * GEN_CPUS)
		return NULL;
	struct gen_cpu *c = &b->buffers[at / 2 / GEN_CPUS].cpus[at / 2 % GEN_CPUS];
	return at % 2 ? &c->chunks.bytes : &c->pages;
}

/* Whether memory went short so far. What is built on must be whole: a stage looks here first. */
static bool gen_failed(struct tracedat_gen *b)
{
	struct bytes *part;
	b->g->failed |= b->out->failed;
	for (size_t i = 0; (part = model_bytes(b, i)); i++)
		b->g->failed |= part->failed;
	return b->g->failed;
}

static void gen_free(struct tracedat_gen *b)
{
	struct bytes *part;
	for (size_t i = 0; (part = model_bytes(b, i)); i++)
		bytes_free(part);
	free(b);
}

#define RULE(symbol, ...) tracedat_break_##symbol,
static tracedat_breaker *const breakers[] = {
#include "formats/tracedat/tracedat_rules.def"
};
#undef RULE

static void gen_stage(struct tracedat_gen *b, enum tracedat_stage stage)
{
	b->stage = stage;
	if (b->g->rule >= 0 && !gen_failed(b))
		breakers[b->g->rule](b);
}

enum tracemend_status tracedat_generate(struct gen *g)
{
	struct tracedat_gen *b = calloc(1, sizeof(*b));
	struct bytes *out = gen_file(g, "");

	if (!b || !out) {
		free(b);
		return TM_NO_MEMORY;
	}
	b->g = g;
	b->choices = g->choices;
	b->out = out;
	make_world(b);
	gen_stage(b, TRACEDAT_STAGE_WORLD);
	out->big_endian = b->big_endian;
	tracedat_gen_model(b);
	gen_stage(b, TRACEDAT_STAGE_MODEL);
	for (size_t i = 0; i < b->buffer_count; i++)
		for (size_t j = 0; j < b->buffers[i].count; j++)
			g->records += b->buffers[i].cpus[j].records;
	if (!gen_failed(b))
		tracedat_gen_serialise(b);
	gen_stage(b, TRACEDAT_STAGE_BYTES);
	bool failed = gen_failed(b);
	gen_free(b);
	return failed ? TM_NO_MEMORY : TM_OK;
}
