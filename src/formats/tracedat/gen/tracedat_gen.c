/* A capture being made: its shape, then the model (tracedat_gen_model.c), then the bytes (tracedat_gen_file.c). */
#include "formats/tracedat/gen/tracedat_gen.h"

#include <stdio.h>
#include <stdlib.h>

/* The value of a kind that the recipe leaves, from the one that was drawn on. first: the feature of value 0. */
static unsigned choose(const struct gen *g, unsigned first, unsigned count, unsigned drawn)
{
	const uint64_t left = gen_choice(g, ((UINT64_C(1) << count) - 1) << first);

	while (!(left & FEATURE_BIT(first + drawn)))
		drawn = (drawn + count - 1) % count;
	return drawn;
}

/* What the recipe says of the shape that was drawn. */
static void ask(struct tracedat_gen *g)
{
	struct gen *gen = g->g;
	const uint64_t sections = FEATURE_BIT(TRACEDAT_FEATURE_BTF) | FEATURE_BIT(TRACEDAT_FEATURE_MODULES);
	const uint64_t packed = FEATURE_BIT(TRACEDAT_FEATURE_ZLIB) | FEATURE_BIT(TRACEDAT_FEATURE_ZSTD) | sections;
	const uint64_t plain = FEATURE_BIT(TRACEDAT_FEATURE_PLAIN), six = FEATURE_BIT(TRACEDAT_FEATURE_V6);
	const bool wide = (gen->with & FEATURE_BIT(TRACEDAT_FEATURE_COMPAT)) != 0, compat = g->user_long < g->long_size;
	const bool bare = (gen->with & FEATURE_BIT(TRACEDAT_FEATURE_NO_OPTIONS)) != 0;

	if (bare)
		g->version = 6;
	if (gen->with >> TRACEDAT_FEATURE_INSTANCES) /* what is in pages or options */
		g->latency = g->no_options = false;
	if (gen->with & sections && !(gen->with & plain) && g->codec == TRACEDAT_NONE)
		g->codec = TRACEDAT_ZSTD;
	if (((gen->with & packed && !(gen->with & plain)) || gen->without & plain) && !(gen->with & six))
		g->version = 7;
	g->version = 6 + choose(gen, TRACEDAT_FEATURE_V6, 2, g->version - 6);
	g->codec = g->version == 6 ? TRACEDAT_NONE : (enum tracedat_codec)choose(gen, TRACEDAT_FEATURE_PLAIN, 3, g->codec);
	g->big_endian = gen_has(gen, TRACEDAT_FEATURE_BIG_ENDIAN, g->big_endian);
	g->long_size = gen_has(gen, TRACEDAT_FEATURE_NARROW, g->long_size == 4 && !wide) ? 4 : 8;
	g->user_long = g->long_size == 8 && gen_has(gen, TRACEDAT_FEATURE_COMPAT, compat) ? 4 : g->long_size;
	g->page_size = gen_has(gen, TRACEDAT_FEATURE_OTHER_PAGES, g->page_size == 8192) ? 8192 : 4096;
	g->latency = gen_has(gen, TRACEDAT_FEATURE_LATENCY, g->latency && !bare);
	g->no_options = g->version == 6 && !g->latency && gen_has(gen, TRACEDAT_FEATURE_NO_OPTIONS, g->no_options);
	gen->has |= FEATURE_BIT(TRACEDAT_FEATURE_V6 + g->version - 6) | FEATURE_BIT(TRACEDAT_FEATURE_PLAIN + g->codec);
}

static void make_shape(struct tracedat_gen *g)
{
	struct choices *c = g->choices;
	g->version = 6;
	g->codec = TRACEDAT_NONE;
	g->long_size = g->user_long = 8;
	g->page_size = 4096;
	g->chunk_pages = 10;
	if (g->g->rule >= 0) { /* breakers know one shape */
		g->version = strstr(tracedat_rules[g->g->rule].id, "/v7-") ? 7 : 6;
		bool zstd = strstr(tracedat_rules[g->g->rule].id, "/v7-chunk") ||
			    strstr(tracedat_rules[g->g->rule].id, "/v7-block");
		g->codec = zstd ? TRACEDAT_ZSTD : TRACEDAT_NONE;
	} else {
		g->version = 6 + (unsigned)choices_below(c, 2);
		g->codec = g->version == 7 ? (enum tracedat_codec)choices_below(c, 3) : TRACEDAT_NONE;
		g->big_endian = choices_chance(c, 1, 3);
		g->long_size = choices_chance(c, 1, 4) ? 4 : 8;
		g->user_long = g->long_size == 8 && choices_chance(c, 1, 8) ? 4 : g->long_size;
		g->page_size = choices_chance(c, 1, 8) ? 8192 : 4096;
		g->latency = choices_chance(c, 1, 12);
		g->no_options = g->version == 6 && !g->latency && choices_chance(c, 1, 16);
		ask(g);
	}
	g->header_page_size = g->page_size;
}

/* Every buffer of the model, one after the other; NULL: that was all. */
static struct bytes *model_bytes(struct tracedat_gen *g, size_t at)
{
	struct bytes *texts[] = { &g->header_page, &g->header_event, &g->kallsyms,	   &g->printk,
				  &g->cmdlines,	   &g->text,	     &g->text_chunks.bytes };
	if (at < sizeof(texts) / sizeof(*texts))
		return texts[at];
	at -= sizeof(texts) / sizeof(*texts);
	if (at < TRACEDAT_GEN_FORMATS)
		return &g->formats[at].text;
	at -= TRACEDAT_GEN_FORMATS;
	if (at < TRACEDAT_GEN_OPTIONS)
		return &g->options[at].data;
	at -= TRACEDAT_GEN_OPTIONS;
	if (at >= 2 * TRACEDAT_GEN_BUFFERS * TRACEDAT_GEN_CPUS)
		return NULL;
	struct tracedat_gen_cpu *c = &g->buffers[at / 2 / TRACEDAT_GEN_CPUS].cpus[at / 2 % TRACEDAT_GEN_CPUS];
	return at % 2 ? &c->chunks.bytes : &c->pages;
}

/* Whether an allocation failed so far. A stage needs a complete model and checks this first. */
static bool gen_failed(struct tracedat_gen *g)
{
	struct bytes *part;
	g->g->failed |= g->out->failed;
	for (size_t i = 0; (part = model_bytes(g, i)); i++)
		g->g->failed |= part->failed;
	return g->g->failed;
}

static void gen_free(struct tracedat_gen *g)
{
	struct bytes *part;
	for (size_t i = 0; (part = model_bytes(g, i)); i++)
		bytes_free(part);
	free(g);
}

static void gen_stage(struct tracedat_gen *g, enum gen_stage stage)
{
	if (!gen_failed(g))
		tracedat_break(g, stage);
}

enum tracemend_status tracedat_generate(struct gen *gen)
{
	struct tracedat_gen *g = calloc(1, sizeof(*g));
	struct bytes *out = gen_file(gen, "");

	if (!g || !out) {
		free(g);
		return TM_NO_MEMORY;
	}
	g->g = gen;
	g->choices = gen->choices;
	g->out = out;
	make_shape(g);
	gen_stage(g, GEN_SHAPE);
	out->big_endian = g->big_endian;
	tracedat_gen_model(g);
	gen_stage(g, GEN_MODEL);
	for (size_t i = 0; i < g->buffer_count; i++)
		for (size_t j = 0; j < g->buffers[i].count; j++)
			gen->records += g->buffers[i].cpus[j].records;
	if (!gen_failed(g))
		tracedat_gen_serialise(g);
	gen_stage(g, GEN_BYTES);
	bool failed = gen_failed(g);
	gen_free(g);
	return failed ? TM_NO_MEMORY : TM_OK;
}
