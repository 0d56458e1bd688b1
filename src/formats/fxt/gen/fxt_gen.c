/* One capture: draws features, writes items, calls the breaker on the way, fills up to the size that was asked for. */
#include <stdlib.h>

#include "formats/fxt/gen/fxt_gen.h"

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

static void draw_features(struct fxt_gen *f)
{
	/* Swarms: a seed is dense or sparse, and sees combinations that an even draw of all features never makes. */
	const unsigned density = (unsigned)choices_below(f->c, 4);

	for (unsigned i = 0; i < FEATURE_COMMON; i++)
		f->has[i] = choices_chance(f->c, density, 4);
	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		f->has[rare[i].feature] = choices_chance(f->c, 1, rare[i].in);
	if (f->has[FEATURE_ANONYMOUS])
		f->has[FEATURE_PROVIDERS] = f->has[FEATURE_MANY_PROVIDERS] = false;
	if (!f->latest)
		f->has[FEATURE_SWITCH] = f->has[FEATURE_WAKEUP] = f->has[FEATURE_PROFILER] = f->has[FEATURE_PROTO] = false;
	if (f->g->rule >= 0) /* breakers need free indexes, and a capture that does not excuse what it lacks */
		f->has[FEATURE_FULL_STRINGS] = f->has[FEATURE_FULL_THREADS] = f->has[FEATURE_BUFFER_FULL] = false;
	if (f->g->rule == FXT_RULE_initialization_in_other_context) {
		f->has[FEATURE_NO_INIT] = true;
		f->has[FEATURE_ANONYMOUS] = false;
	}
	/* An initialization of the anonymous context would be misplaced, not missing; and what stands beside a spoilt magic
	 * number has to be recognisable, which a provider is. */
	if (f->g->rule == FXT_RULE_missing_initialization || f->g->rule == FXT_RULE_magic_not_first ||
	    f->g->rule == FXT_RULE_bad_magic_size)
		f->has[FEATURE_ANONYMOUS] = false;
	if (f->g->rule == FXT_RULE_no_events)
		for (unsigned i = FEATURE_COMMON; i < FEATURE_COUNT; i++)
			f->has[i] = false;
}

static bool pattern_make(struct fxt_gen *f)
{
	static const char letters[] = "etaoin shrdlu cmfwyp vbgkjqxz ETAOIN 0123456789 _.:/-";

	f->pattern = malloc(2 * (size_t)FXT_GEN_PATTERN);
	if (!f->pattern)
		return false;
	uint32_t state = 1;
	for (size_t i = 0; i < 2 * (size_t)FXT_GEN_PATTERN; i++) {
		state = state * 1664525 + 1013904223;
		const uint32_t drawn = state >> 16;
		f->pattern[i] = (uint8_t)(i < FXT_GEN_PATTERN ? (uint8_t)letters[drawn % (sizeof(letters) - 1)] : drawn);
	}
	return true;
}

/* ---- large captures ---- */

#define BLOCK_TIMES 512u

/* A piece of capture that leaves nothing open, and where its times are. */
struct block {
	size_t start, size;
	uint64_t records, ticks;
	size_t times[BLOCK_TIMES]; /* offsets in it */
	unsigned time_count;
};

static void block_put(struct fxt_gen *f, struct block *b, struct fxt_gen_event *e, unsigned type, uint64_t ahead)
{
	struct fxt_gen_provider *p = fxt_provider(f);

	e->type = type;
	e->time = p->now += 1 + choices_below(f->c, 4);
	e->tail = type == FXT_DURATION_COMPLETE ? e->time + ahead : 1;
	fxt_put_event(f, e);
	if (b->time_count + 2 > BLOCK_TIMES)
		return;
	b->times[b->time_count++] = f->start + FXT_WORD - b->start;
	if (type == FXT_DURATION_COMPLETE) {
		b->times[b->time_count++] = f->out->size - FXT_WORD - b->start;
		p->now += ahead;
	}
}

static void block_make(struct fxt_gen *f, struct block *b)
{
	const uint64_t records = f->records, now = fxt_provider(f)->now;
	struct fxt_who who[4];
	struct fxt_arg arg = { .type = FXT_ARG_UINT32, .name = fxt_ref_indexed(f, fxt_text("value")), .value = 7 };
	struct fxt_gen_event e = { .args = &arg };

	for (unsigned i = 0; i < 4; i++)
		who[i] = fxt_who(f, fxt_thread_any(f));
	static const char *const texts[] = { "work", "step", "depth" };
	struct fxt_ref names[3];
	for (unsigned i = 0; i < 3; i++)
		names[i] = fxt_ref_indexed(f, fxt_text(texts[i]));
	e.category = names[0];
	*b = (struct block){ .start = f->out->size };
	b->records = f->records - records;
	for (unsigned i = 0; i < 48; i++) {
		e.who = who[i % 4];
		e.name = names[i % 3];
		e.arg_count = i % 2;
		block_put(f, b, &e, FXT_DURATION_BEGIN, 0);
		e.arg_count = (i + 1) % 3 == 0;
		block_put(f, b, &e, i % 5 ? FXT_DURATION_COMPLETE : FXT_INSTANT, 3);
		e.arg_count = 1;
		if (i % 6 == 0)
			block_put(f, b, &e, FXT_COUNTER, 0);
		e.arg_count = 0;
		block_put(f, b, &e, FXT_DURATION_END, 0);
	}
	b->size = f->out->size - b->start;
	b->records = f->records - records - b->records;
	b->ticks = fxt_provider(f)->now - now + 1;
}

/* Repeats a block, later each time, until the capture is as large as it shall be. */
static void fill(struct fxt_gen *f, uint64_t size)
{
	struct block b;

	block_make(f, &b);
	fxt_provider(f)->timed = true;
	for (uint64_t round = 1; !f->out->failed && f->out->size + b.size <= size; round++) {
		uint8_t *copy = bytes_grow(f->out, b.size);
		if (!copy)
			return;
		memcpy(copy, f->out->data + b.start, b.size);
		for (unsigned i = 0; i < b.time_count; i++) {
			uint8_t *time = copy + b.times[i];
			store_u64(time, load_u64(time, f->out->big_endian) + round * b.ticks, f->out->big_endian);
		}
		f->records += b.records;
		fxt_provider(f)->now += b.ticks;
	}
}

/* ---- the capture ---- */

static void capture_make(struct fxt_gen *f)
{
	static const unsigned lengths[] = { 0, 12, 40, 160 };
	const uint64_t size = f->g->size;
	const uint64_t items_bytes = size < ITEMS_BYTES_MAX ? size : ITEMS_BYTES_MAX;

	f->out->big_endian = choices_chance(f->c, 1, 3) || f->g->rule == FXT_RULE_big_endian_trace;
	draw_features(f);
	/* Most captures are short. */
	const unsigned length = lengths[choices_below(f->c, choices_chance(f->c, 1, 3) ? 4 : 3)];
	uint64_t items = length + choices_below(f->c, length ? length : 4);
	if (size)
		items = items_bytes / 64;
	if (f->g->rule == FXT_RULE_no_events)
		items = 0;
	const uint64_t broken_at = choices_below(f->c, items + 1);
	const uint64_t rarities_at = choices_below(f->c, items + 1);

	fxt_put_magic(f);
	if (!items && f->g->rule < 0)
		return;
	if (!f->has[FEATURE_ANONYMOUS])
		fxt_switch_provider(f, fxt_add_provider(f));
	else if (!f->has[FEATURE_NO_INIT])
		fxt_put_initial(f);
	for (uint64_t i = 0; i <= items && !f->out->failed; i++) {
		if (i == rarities_at)
			fxt_make_rarities(f);
		if (i == broken_at && f->g->rule >= 0)
			fxt_break(f);
		if (i < items && (!size || f->out->size < items_bytes))
			fxt_make_item(f);
	}
	if (f->out->size + 8192 < size && f->g->rule != FXT_RULE_no_events)
		fill(f, size);
	fxt_close_all(f);
	if (f->at_end && !f->out->failed)
		f->at_end(f);
}

enum tracemend_status fxt_generate(struct gen *g)
{
	const bool latest = !g->profile || strcmp(g->profile, "2022") != 0;
	struct bytes *out = gen_file(g, "");
	struct fxt_gen *f = calloc(1, sizeof(*f));

	if (out && f) {
		f->g = g;
		f->c = g->choices;
		f->out = out;
		f->latest = latest;
		f->next_koid = 1000;
		f->next_id = 1;
		f->provider_max = 1 + PROVIDERS_MANY + PROVIDERS_FEW;
		f->providers = calloc(f->provider_max, sizeof(*f->providers));
		f->provider_count = 1;
		if (f->providers && pattern_make(f)) {
			f->providers[0].rate = FXT_TICKS_DEFAULT;
			capture_make(f);
			g->records = f->records;
		} else {
			g->failed = true;
		}
		free(f->providers);
		free(f->pattern);
		g->failed |= out->failed;
	} else {
		g->failed = true;
	}
	free(f);
	return g->failed ? TM_NO_MEMORY : TM_OK;
}
