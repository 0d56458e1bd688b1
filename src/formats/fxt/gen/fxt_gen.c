/* One capture: draws features, writes items, calls the breaker on the way, fills up to the size that was asked for. */
#include <stdlib.h>

#include "formats/fxt/gen/break/fxt_break.h"
#include "formats/fxt/gen/fxt_gen_items.h"

/* Bytes that items make of a large capture; the rest is repeated. */
#define ITEMS_BYTES_MAX (256u * 1024)
/* Providers beside the anonymous one: the many of one feature, the few of the others, and those that breakers add. */
#define PROVIDERS_MANY 310u
#define PROVIDERS_FEW 12u

/* One in so many seeds has it. The first ones would be half of all captures if each were drawn evenly. */
static const struct {
	enum fxt_feature feature;
	unsigned in;
} rare[] = {
	{ FEATURE_ANONYMOUS, 6 },     { FEATURE_NO_INIT, 5 },	      { FEATURE_BUFFER_FULL, 30 }, { FEATURE_DEEP, 60 },
	{ FEATURE_LONG_STRINGS, 50 }, { FEATURE_FULL_RECORD, 50 },    { FEATURE_HUGE_BLOB, 50 },   { FEATURE_FULL_STRINGS, 300 },
	{ FEATURE_FULL_THREADS, 60 }, { FEATURE_MANY_PROVIDERS, 60 },
};

/* What cannot be without the other. */
static const struct {
	enum fxt_feature feature, needs;
} needs[] = {
	{ FEATURE_DEEP, FEATURE_DURATIONS },
	{ FEATURE_MANY_ARGS, FEATURE_ARGS },
	{ FEATURE_HUGE_BLOB, FEATURE_LARGE },
	{ FEATURE_MANY_PROVIDERS, FEATURE_PROVIDERS },
};

static bool asked_for(const struct fxt_gen *g, enum fxt_feature feature)
{
	return (g->g->with & FEATURE_BIT(feature)) != 0;
}

static void draw_features(struct fxt_gen *g)
{
	/* Swarm testing (Groce et al., 2012): a seed has many features or few, and so has combinations that an even draw of all
	 * features never makes. */
	const unsigned density = (unsigned)choices_below(g->c, 4);

	for (unsigned i = 0; i < FEATURE_COMMON; i++)
		g->has[i] = choices_chance(g->c, density, 4);
	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		g->has[rare[i].feature] = choices_chance(g->c, 1, rare[i].in);
	g->has[FEATURE_BIG_ENDIAN] = g->out->big_endian;
	for (unsigned i = 0; i < FEATURE_COUNT; i++)
		g->has[i] = (g->has[i] && !fxt_gen_barred(g, i)) || asked_for(g, i);
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		g->has[needs[i].feature] &= !fxt_gen_barred(g, needs[i].needs);
	if (asked_for(g, FEATURE_PROVIDERS) || asked_for(g, FEATURE_MANY_PROVIDERS))
		g->has[FEATURE_ANONYMOUS] = false;
	if (g->has[FEATURE_ANONYMOUS])
		g->has[FEATURE_PROVIDERS] = g->has[FEATURE_MANY_PROVIDERS] = false;
	if (!g->latest)
		g->has[FEATURE_SWITCH] = g->has[FEATURE_WAKEUP] = g->has[FEATURE_PROFILER] = g->has[FEATURE_PROTO] = false;
	if (g->g->rule >= 0) /* breakers need free indexes, and a capture that does not excuse what it lacks */
		g->has[FEATURE_FULL_STRINGS] = g->has[FEATURE_FULL_THREADS] = g->has[FEATURE_BUFFER_FULL] = false;
	for (unsigned i = 0; i < FEATURE_COUNT; i++) {
		g->has[i] = (g->has[i] && !g->shape.without[i]) || g->shape.with[i];
		g->g->has |= g->has[i] ? FEATURE_BIT(i) : 0;
	}
}

static bool pattern_make(struct fxt_gen *g)
{
	static const char letters[] = "etaoin shrdlu cmfwyp vbgkjqxz ETAOIN 0123456789 _.:/-";

	g->pattern = malloc(2 * (size_t)FXT_GEN_PATTERN);
	if (!g->pattern)
		return false;
	uint32_t state = 1;
	for (size_t i = 0; i < 2 * (size_t)FXT_GEN_PATTERN; i++) {
		state = state * 1664525 + 1013904223;
		const uint32_t drawn = state >> 16;
		g->pattern[i] = (uint8_t)(i < FXT_GEN_PATTERN ? (uint8_t)letters[drawn % (sizeof(letters) - 1)] : drawn);
	}
	return true;
}

/* ---- large captures ---- */

#define BLOCK_TIMES 512u

/* A part of the capture that leaves nothing open, and the offsets of its timestamps. */
struct block {
	size_t start, size;
	uint64_t records, ticks;
	size_t times[BLOCK_TIMES]; /* offsets in it */
	unsigned time_count;
};

static void block_put(struct fxt_gen *g, struct block *b, struct fxt_gen_event *e, unsigned type, uint64_t ahead)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	e->type = type;
	e->time = p->now += 1 + choices_below(g->c, 4);
	e->tail = type == FXT_DURATION_COMPLETE ? e->time + ahead : 1;
	fxt_put_event(g, e);
	if (b->time_count + 2 > BLOCK_TIMES)
		return;
	b->times[b->time_count++] = g->start + FXT_WORD - b->start;
	if (type == FXT_DURATION_COMPLETE) {
		b->times[b->time_count++] = g->out->size - FXT_WORD - b->start;
		p->now += ahead;
	}
}

static void block_make(struct fxt_gen *g, struct block *b)
{
	const uint64_t records = g->records, now = fxt_provider(g)->now;
	struct fxt_who who[4];
	struct fxt_arg arg = { .type = FXT_ARG_UINT32, .name = fxt_ref_indexed(g, fxt_text("value")), .value = 7 };
	struct fxt_gen_event e = { .args = &arg };

	for (unsigned i = 0; i < 4; i++)
		who[i] = fxt_who(g, fxt_thread_any(g));
	static const char *const texts[] = { "work", "step", "depth" };
	struct fxt_ref names[3];
	for (unsigned i = 0; i < 3; i++)
		names[i] = fxt_ref_indexed(g, fxt_text(texts[i]));
	e.category = names[0];
	*b = (struct block){ .start = g->out->size };
	b->records = g->records - records;
	for (unsigned i = 0; i < 48; i++) {
		e.who = who[i % 4];
		e.name = names[i % 3];
		e.arg_count = i % 2 && !fxt_gen_barred(g, FEATURE_ARGS);
		if (!fxt_gen_barred(g, FEATURE_DURATIONS))
			block_put(g, b, &e, FXT_DURATION_BEGIN, 0);
		e.arg_count = (i + 1) % 3 == 0 && !fxt_gen_barred(g, FEATURE_ARGS);
		block_put(g, b, &e, i % 5 && !fxt_gen_barred(g, FEATURE_COMPLETE) ? FXT_DURATION_COMPLETE : FXT_INSTANT, 3);
		e.arg_count = 1;
		if (i % 6 == 0 && !fxt_gen_barred(g, FEATURE_COUNTERS))
			block_put(g, b, &e, FXT_COUNTER, 0);
		e.arg_count = 0;
		if (!fxt_gen_barred(g, FEATURE_DURATIONS))
			block_put(g, b, &e, FXT_DURATION_END, 0);
	}
	b->size = g->out->size - b->start;
	b->records = g->records - records - b->records;
	b->ticks = fxt_provider(g)->now - now + 1;
}

/* Repeats a block, later each time, until the capture is as large as it shall be. */
static void fill(struct fxt_gen *g, uint64_t size)
{
	struct block b;

	block_make(g, &b);
	fxt_provider(g)->timed = true;
	for (uint64_t round = 1; !g->out->failed && g->out->size + b.size <= size; round++) {
		uint8_t *copy = bytes_grow(g->out, b.size);
		if (!copy)
			return;
		memcpy(copy, g->out->data + b.start, b.size);
		for (unsigned i = 0; i < b.time_count; i++) {
			uint8_t *time = copy + b.times[i];
			store_u64(time, load_u64(time, g->out->big_endian) + round * b.ticks, g->out->big_endian);
		}
		g->records += b.records;
		fxt_provider(g)->now += b.ticks;
	}
}

/* ---- the capture ---- */

static void capture_make(struct fxt_gen *g)
{
	static const unsigned lengths[] = { 0, 12, 40, 160 };
	const uint64_t size = g->g->size;
	const uint64_t items_bytes = size < ITEMS_BYTES_MAX ? size : ITEMS_BYTES_MAX;

	fxt_break(g, GEN_SHAPE);
	g->out->big_endian = gen_has(g->g, FEATURE_BIG_ENDIAN, choices_chance(g->c, 1, 3)) || g->shape.big_endian;
	draw_features(g);
	/* Most captures are short. */
	const unsigned length = lengths[choices_below(g->c, choices_chance(g->c, 1, 3) ? 4 : 3)];
	uint64_t items = length + choices_below(g->c, length ? length : 4);
	if (size)
		items = items_bytes / 64;
	if (g->shape.no_items)
		items = 0;
	const uint64_t broken_at = choices_below(g->c, items + 1);
	const uint64_t rarities_at = choices_below(g->c, items + 1);

	fxt_put_magic(g);
	if (!items && g->g->rule < 0)
		return;
	if (!g->has[FEATURE_ANONYMOUS])
		fxt_switch_provider(g, fxt_add_provider(g));
	else if (!g->has[FEATURE_NO_INIT])
		fxt_put_initial(g);
	for (uint64_t i = 0; i <= items && !g->out->failed; i++) {
		if (i == rarities_at)
			fxt_make_rarities(g);
		if (i == broken_at)
			fxt_break(g, GEN_PLANT);
		if (i < items && (!size || g->out->size < items_bytes))
			fxt_make_item(g);
	}
	if (g->out->size + 8192 < size && !g->shape.no_items)
		fill(g, size);
	fxt_close_all(g);
	if (!g->out->failed)
		fxt_break(g, GEN_BYTES);
}

enum tracemend_status fxt_generate(struct gen *gen)
{
	struct bytes *out = gen_file(gen, "");
	struct fxt_gen *g = calloc(1, sizeof(*g));

	if (out && g) {
		g->g = gen;
		g->c = gen->choices;
		g->out = out;
		g->latest = !gen->profile || strcmp(gen->profile, "2022") != 0;
		g->next_koid = 1000;
		g->next_id = 1;
		g->provider_max = 1 + PROVIDERS_MANY + PROVIDERS_FEW;
		g->providers = calloc(g->provider_max, sizeof(*g->providers));
		g->provider_count = 1;
		if (g->providers && pattern_make(g)) {
			g->providers[0].rate = FXT_TICKS_DEFAULT;
			capture_make(g);
			gen->records = g->records;
		} else {
			gen->failed = true;
		}
		free(g->providers);
		free(g->pattern);
		gen->failed |= out->failed;
	} else {
		gen->failed = true;
	}
	free(g);
	return gen->failed ? TM_NO_MEMORY : TM_OK;
}
