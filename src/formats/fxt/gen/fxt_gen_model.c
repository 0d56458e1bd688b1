/* What a capture may refer to at the place where it is being written: texts, string and thread tables of the current
 * provider, its clock, arguments. */
#include "core/bytes.h"
#include "formats/fxt/gen/fxt_gen_model.h"

static const char *const words[] = {
	"render",
	"vsync",
	"gfx",
	"main",
	"io",
	"net.recv",
	"alloc",
	"free",
	"lock",
	"Flush",
	"wait",
	"layout",
	"paint",
	"tick",
	"sched",
	"block",
	"dispatch:async",
	"fidl",
	"decode",
	"present",
	"kernel:sched",
	"frame_id",
	"x",
	"count",
	"payload",
	"a.rather.long.category.name",
	"std::vector<int>::push_back",
	"state",
	"result",
	"queue depth",
};

/* Characters of two, three and four bytes, at and across word boundaries. */
static const char *const foreign[] = {
	"\xc3\xa9t\xc3\xa9",		     /* 5 bytes */
	"Gr\xc3\xb6\xc3\x9f.",		     /* 7 */
	"na\xc3\xafve r\xc3\xa9sum\xc3\xa9", /* 15 */
	"\xe6\x8f\x8f\xe7\x94\xbb",	     /* 6 */
	"frame \xe2\x86\x92 gpu",	     /* a three-byte character over bytes 6 to 8 */
	"tracks \xf0\x9f\x94\xa5",	     /* four bytes over bytes 7 to 10 */
	"\xf4\x8f\xbf\xbf",		     /* U+10FFFF */
	"\xed\x9f\xbf\xee\x80\x80",	     /* both sides of the surrogates */
};

/* A record of 15 arguments whose names and values are all as long as this still fits its 4,095 words. */
#define TEXT_INLINE_MAX 255u

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct fxt_text fxt_text(const char *text)
{
	return (struct fxt_text){ (const uint8_t *)text, (uint16_t)strlen(text) };
}

struct fxt_text fxt_text_of(struct fxt_gen *g, unsigned length)
{
	return (struct fxt_text){ g->pattern + choices_below(g->c, 97), (uint16_t)length };
}

struct fxt_text fxt_text_any(struct fxt_gen *g)
{
	static const uint16_t edges[] = { 1, 0, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40, 63, 64, 65, 127, 128, 255 };

	if (g->has[FEATURE_LONG_STRINGS] && choices_chance(g->c, 1, 24))
		return fxt_text_of(g, choices_chance(g->c, 1, 2) ? 32000 : 31999);
	if (g->has[FEATURE_EDGE_LENGTHS] && choices_chance(g->c, 1, 3))
		return fxt_text_of(g, edges[choices_below(g->c, COUNT(edges))]);
	if (g->has[FEATURE_UTF8] && choices_chance(g->c, 1, 3))
		return fxt_text(foreign[choices_below(g->c, COUNT(foreign))]);
	return fxt_text(words[choices_below(g->c, COUNT(words))]);
}

/* ---- strings ---- */

struct fxt_ref fxt_ref_empty(void)
{
	return (struct fxt_ref){ .value = 0 };
}

struct fxt_ref fxt_ref_inline(struct fxt_text text)
{
	return (struct fxt_ref){ (uint16_t)(FXT_STRING_INLINE | text.length), text };
}

void fxt_register_string(struct fxt_gen *g, uint16_t index, struct fxt_text text)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	fxt_put_string(g, index, text);
	bit_set(g->string_used, index);
	for (unsigned i = 0; i < p->string_count; i++)
		if (p->strings[i].index == index) {
			p->strings[i].text = text;
			return;
		}
	if (p->string_count < FXT_GEN_STRINGS)
		p->strings[p->string_count++] = (struct fxt_gen_string){ index, text };
}

/* An index that this provider has not registered; 0: none left that can be remembered. */
static uint16_t string_next(struct fxt_gen *g)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	if (p->filled || p->string_count >= FXT_GEN_STRINGS)
		return 0;
	if (g->has[FEATURE_STRINGS] && p->next_string < FXT_STRING_INDEX_MAX && choices_chance(g->c, 1, 16))
		p->next_string = (uint16_t)choices_between(g->c, p->next_string + 1u, FXT_STRING_INDEX_MAX);
	while (p->next_string < FXT_STRING_INDEX_MAX && bit_get(g->string_aside, p->next_string + 1u))
		p->next_string++;
	return p->next_string < FXT_STRING_INDEX_MAX ? ++p->next_string : 0;
}

struct fxt_ref fxt_ref_indexed(struct fxt_gen *g, struct fxt_text text)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	for (unsigned i = 0; i < p->string_count; i++)
		if (p->strings[i].text.length == text.length &&
		    (!text.length || !memcmp(p->strings[i].text.data, text.data, text.length)))
			return (struct fxt_ref){ p->strings[i].index, text };
	const uint16_t index = string_next(g);
	if (!index) {
		if (text.length > TEXT_INLINE_MAX)
			text.length = TEXT_INLINE_MAX;
		return text.length ? fxt_ref_inline(text) : fxt_ref_empty();
	}
	fxt_register_string(g, index, text);
	return (struct fxt_ref){ index, text };
}

struct fxt_ref fxt_ref_to(struct fxt_gen *g, struct fxt_text text)
{
	if (!text.length && !choices_chance(g->c, 1, 3))
		return fxt_ref_empty();
	if (g->has[FEATURE_INLINE] && text.length <= TEXT_INLINE_MAX && choices_chance(g->c, 1, 2))
		return fxt_ref_inline(text);
	return fxt_ref_indexed(g, text);
}

struct fxt_ref fxt_ref_any(struct fxt_gen *g)
{
	return fxt_ref_to(g, fxt_text_any(g));
}

uint16_t fxt_string_unused(struct fxt_gen *g)
{
	unsigned index = (unsigned)choices_between(g->c, 1, choices_chance(g->c, 1, 2) ? FXT_STRING_INDEX_MAX : 200);
	for (unsigned tries = 0;
	     tries < FXT_STRING_INDEX_MAX && (bit_get(g->string_used, index) || bit_get(g->string_aside, index)); tries++)
		index = index % FXT_STRING_INDEX_MAX + 1;
	bit_set(g->string_aside, index);
	return (uint16_t)index;
}

/* ---- providers ---- */

struct fxt_gen_provider *fxt_provider(struct fxt_gen *g)
{
	return &g->providers[g->current];
}

/* Ticks per second. All of them divide or are multiples of what clocks count, none is implausible. */
static uint64_t rate_any(struct fxt_gen *g)
{
	static const uint64_t rates[] = { 1000000000, 1000000, 24000000, 19200000, 3000000000, 1000, 1000000000000, 62500000 };
	return rates[g->has[FEATURE_RATES] ? choices_below(g->c, COUNT(rates)) : 0];
}

void fxt_put_initial(struct fxt_gen *g)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	if (!p->initialised) /* a later one keeps the rate, so that times go on */
		p->rate = rate_any(g);
	p->initialised = true;
	if (g->has[FEATURE_LONG_INIT])
		fxt_put_long_initialization(g, p->rate, p->now, UINT64_C(1650419113989693816));
	else
		fxt_put_initialization(g, p->rate);
}

void fxt_introduce(struct fxt_gen *g)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	fxt_put_provider_info(g, p->id, p->name);
	p->introduced = true;
	if (p->initialised || (!p->timed && !g->has[FEATURE_NO_INIT]))
		fxt_put_initial(g);
}

void fxt_switch_provider(struct fxt_gen *g, unsigned provider)
{
	if (provider == g->current)
		return;
	g->current = provider;
	if (fxt_provider(g)->introduced)
		fxt_put_provider_section(g, fxt_provider(g)->id);
	else
		fxt_introduce(g);
}

unsigned fxt_add_provider(struct fxt_gen *g)
{
	if (g->provider_count >= g->provider_max)
		return g->current;
	const unsigned i = g->provider_count++;
	struct fxt_gen_provider *p = &g->providers[i];
	/* Distinct ids, the first of them as writers number theirs. */
	p->id = i == 1 ? (uint32_t)choices_below(g->c, 2) : i + 1;
	if (choices_chance(g->c, 1, 8))
		p->id = i << 20 | (uint32_t)choices_below(g->c, 1u << 20);
	else if (i == 1 && choices_chance(g->c, 1, 8))
		p->id = UINT32_MAX;
	p->name = fxt_text_any(g);
	if (p->name.length > FXT_PROVIDER_NAME_MAX)
		p->name = fxt_text_of(g, FXT_PROVIDER_NAME_MAX);
	p->now = choices_below(g->c, 4) * UINT64_C(250000);
	p->rate = FXT_TICKS_DEFAULT;
	return i;
}

uint64_t fxt_tick(struct fxt_gen *g)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	if (!g->has[FEATURE_EQUAL_TIMES] || choices_chance(g->c, 1, 2))
		p->now += 1 + choices_below(g->c, 400);
	p->timed = true;
	return p->now;
}

/* ---- threads ---- */

uint64_t fxt_koid(struct fxt_gen *g)
{
	/* Low halves never repeat, so that viewers that cut koids to 32 bits still tell them apart. */
	uint64_t koid = g->next_koid++;
	if (g->has[FEATURE_HIGH_KOIDS] && choices_chance(g->c, 1, 2))
		koid |= choices_between(g->c, 1, 0x7ffffffe) << 32;
	return koid;
}

struct fxt_gen_thread fxt_thread_fresh(struct fxt_gen *g)
{
	struct fxt_gen_thread t = { .provider = g->current };

	t.process = fxt_koid(g);
	t.thread = fxt_koid(g);
	if (g->has[FEATURE_ARTIFICIAL] && choices_chance(g->c, 1, 2))
		t.thread |= UINT64_C(1) << 63;
	return t;
}

unsigned fxt_thread_any(struct fxt_gen *g)
{
	unsigned count = 0, last = FXT_GEN_THREADS;
	for (unsigned i = 0; i < g->thread_count; i++)
		if (g->threads[i].provider == g->current) {
			count++;
			last = i;
		}
	if (g->thread_count < FXT_GEN_THREADS && (!count || (count < 6 && choices_chance(g->c, 1, 6)))) {
		struct fxt_gen_thread *t = &g->threads[g->thread_count];
		*t = fxt_thread_fresh(g);
		if (count && choices_chance(g->c, 1, 2))
			t->process = g->threads[last].process;
		return g->thread_count++;
	}
	if (!count)
		return FXT_GEN_THREADS;
	uint64_t nth = choices_below(g->c, count);
	for (unsigned i = 0; i < g->thread_count; i++)
		if (g->threads[i].provider == g->current && nth-- == 0)
			return i;
	return last;
}

struct fxt_who fxt_who_inline(const struct fxt_gen_thread *thread)
{
	return (struct fxt_who){ .process = thread->process, .thread = thread->thread };
}

/* An index that this provider has not registered; 0: none left. */
static uint8_t thread_next(struct fxt_gen *g)
{
	struct fxt_gen_provider *p = fxt_provider(g);

	if (g->has[FEATURE_STRINGS] && p->next_thread < FXT_THREAD_INDEX_MAX && choices_chance(g->c, 1, 16))
		p->next_thread = FXT_THREAD_INDEX_MAX - 1;
	while (p->next_thread < FXT_THREAD_INDEX_MAX && g->thread_aside[p->next_thread + 1u])
		p->next_thread++;
	return p->next_thread < FXT_THREAD_INDEX_MAX ? ++p->next_thread : 0;
}

/* No thread of the model refers to that index any more. */
void fxt_forget_thread_index(struct fxt_gen *g, uint8_t index)
{
	for (unsigned i = 0; i < g->thread_count; i++)
		if (g->threads[i].provider == g->current && g->threads[i].index == index)
			g->threads[i].index = 0;
}

struct fxt_who fxt_who(struct fxt_gen *g, unsigned thread)
{
	if (thread >= g->thread_count) {
		struct fxt_gen_thread fresh = fxt_thread_fresh(g);
		return fxt_who_inline(&fresh);
	}
	struct fxt_gen_thread *t = &g->threads[thread];
	if (g->has[FEATURE_INLINE] && choices_chance(g->c, 1, 3))
		return fxt_who_inline(t);
	if (!t->index) {
		const uint8_t index = thread_next(g);
		if (!index)
			return fxt_who_inline(t);
		fxt_put_thread(g, index, t->process, t->thread);
		g->thread_used[index] = true;
		t->index = index;
	}
	return (struct fxt_who){ t->index, t->process, t->thread };
}

struct fxt_who fxt_who_any(struct fxt_gen *g)
{
	if (g->has[FEATURE_UNKNOWN_THREAD] && choices_chance(g->c, 1, 6))
		return (struct fxt_who){ 0 };
	return fxt_who(g, fxt_thread_any(g));
}

uint8_t fxt_thread_unused(struct fxt_gen *g)
{
	unsigned index = (unsigned)choices_between(g->c, 1, FXT_THREAD_INDEX_MAX);
	for (unsigned tries = 0; tries < FXT_THREAD_INDEX_MAX && (g->thread_used[index] || g->thread_aside[index]); tries++)
		index = index % FXT_THREAD_INDEX_MAX + 1;
	g->thread_aside[index] = true;
	return (uint8_t)index;
}

/* ---- arguments ---- */

static uint64_t double_any(struct fxt_gen *g)
{
	static const double values[] = { 0.0, 1.5, -1.0, 0.1, 1e300, -0.0, 5e-324, 16777217.0 };
	double value = values[choices_below(g->c, COUNT(values))];
	uint64_t word;
	memcpy(&word, &value, sizeof(word));
	return word;
}

struct fxt_arg fxt_arg_of(struct fxt_gen *g, unsigned type, struct fxt_ref name)
{
	struct fxt_arg a = { .type = type, .name = name };

	switch (type) {
	case FXT_ARG_NULL:
		break;
	case FXT_ARG_DOUBLE:
		a.value = double_any(g);
		break;
	case FXT_ARG_STRING:
		a.text = fxt_ref_any(g);
		break;
	case FXT_ARG_KOID:
		a.value = fxt_koid(g);
		break;
	case FXT_ARG_BOOL:
		a.value = choices_below(g->c, 2);
		break;
	case FXT_ARG_BLOB:
		a.value = choices_below(g->c, 42);
		a.payload = g->pattern + FXT_GEN_PATTERN;
		break;
	default:
		a.value = choices_number(g->c);
		break;
	}
	return a;
}

struct fxt_arg fxt_arg_any(struct fxt_gen *g)
{
	const unsigned type = (unsigned)choices_below(g->c, g->latest ? FXT_ARG_BLOB + 1 : FXT_ARG_BOOL + 1);
	const struct fxt_ref name = g->has[FEATURE_EDGE_LENGTHS] && choices_chance(g->c, 1, 12) ? fxt_ref_empty() : fxt_ref_any(g);
	return fxt_arg_of(g, type, name);
}

unsigned fxt_args_any(struct fxt_gen *g, struct fxt_arg args[FXT_ARGS_MAX], unsigned least)
{
	unsigned count = least;
	if (g->has[FEATURE_ARGS])
		count = g->has[FEATURE_MANY_ARGS] && choices_chance(g->c, 1, 6) ? FXT_ARGS_MAX
										: (unsigned)choices_between(g->c, least, least + 3);
	if (count > FXT_ARGS_MAX)
		count = FXT_ARGS_MAX;
	for (unsigned i = 0; i < count; i++)
		args[i] = fxt_arg_any(g);
	return count;
}
