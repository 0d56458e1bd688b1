/* ktrace: recognition, the start of the walk, facts. */
#include "formats/ktrace/ktrace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/rule.h"

static const struct tracemend_rule rules[KTRACE_RULE_COUNT] = {
#define RULE(symbol, id, severity, class, ...) RULE_ROW("ktrace", id, severity, class, __VA_ARGS__)
#include "formats/ktrace/ktrace_rules.def"
#undef RULE
};

/* ---- sets ---- */

static uint64_t set_hash(uint64_t key)
{
	key ^= key >> 32;
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ (key >> 29);
}

static struct ktrace_slot *set_slot(const struct ktrace_set *set, uint64_t key)
{
	size_t mask = set->capacity - 1, i = (size_t)set_hash(key) & mask;
	while (set->slots[i].used && set->slots[i].key != key)
		i = (i + 1) & mask;
	return &set->slots[i];
}

static bool set_grow(struct ktrace_set *set)
{
	struct ktrace_set bigger = { .capacity = set->capacity ? 2 * set->capacity : 64 };
	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < set->capacity; i++)
		if (set->slots[i].used)
			*set_slot(&bigger, set->slots[i].key) = set->slots[i];
	free(set->slots);
	set->slots = bigger.slots;
	set->capacity = bigger.capacity;
	return true;
}

uint64_t *ktrace_set_get(const struct ktrace_set *set, uint64_t key)
{
	if (!set->capacity)
		return NULL;
	struct ktrace_slot *slot = set_slot(set, key);
	return slot->used ? &slot->value : NULL;
}

uint64_t *ktrace_set_put(struct ktrace_set *set, uint64_t key, bool *failed)
{
	uint64_t *value = ktrace_set_get(set, key);
	if (value)
		return value;
	if (set->used >= set->max) {
		set->full = true;
		return NULL;
	}
	if (2 * (set->used + 1) > set->capacity && !set_grow(set)) {
		*failed = true;
		return NULL;
	}
	struct ktrace_slot *slot = set_slot(set, key);
	*slot = (struct ktrace_slot){ .key = key, .used = true };
	set->used++;
	return &slot->value;
}

void ktrace_set_free(struct ktrace_set *set)
{
	free(set->slots);
	*set = (struct ktrace_set){ 0 };
}

/* ---- recognition ---- */

static bool raw0_entry_plausible(struct window *w, uint64_t index, uint32_t entry)
{
	const uint8_t *p = window_at(w, 4 + index * entry, entry);
	if (!p || !load_u32(p, false))
		return false;
	const uint8_t *name = p + entry - KTRACE_NAME;
	for (unsigned j = 0; j < KTRACE_NAME && name[j]; j++)
		if (name[j] < 0x20)
			return false;
	return name[0];
}

/* Whether the first entries of the map look like ones: an id that is not 0, and a name without control bytes before its end.
 * *hole: some behind the first are all zeros. */
static bool raw0_plausible(struct window *w, uint32_t threads, uint32_t entry, bool *hole)
{
	if (!threads || threads > KTRACE_RAW0_THREADS_MAX || w->source->size < 4 + (uint64_t)threads * entry)
		return false;
	for (uint32_t i = 0; i < threads && i < 100; i++) {
		if (raw0_entry_plausible(w, i, entry))
			continue;
		const uint8_t *p = i ? window_at(w, 4 + (uint64_t)i * entry, entry) : NULL;
		if (!p || !bytes_are_zero(p, entry))
			return false;
		*hole = true;
	}
	return true;
}

/* How many tests of real records the first eight behind the map fail; where there is none, as many as zeros do. kept: the
 * records that repair keeps, instead. */
static unsigned raw0_failures(struct window *w, uint32_t threads, uint32_t entry, const struct ktrace_walk *kept)
{
	bool is_64 = entry == 32;
	uint64_t at = 4 + (uint64_t)threads * entry, file = w->source->size;
	/* Past a hole, in step with what was there. */
	uint64_t zeros = kept || at >= file ? 0 : window_skip_zeros(w, at) - at, size = ktrace_event_size(is_64);
	if (zeros >= size)
		at += (zeros + size - 1) / size * size; /* NOLINT(clang-analyzer-core.DivideZero): it is 32 or 64 */
	uint64_t there = kept ? kept->head_length : at < file ? file - at : 0;
	unsigned records = there / ktrace_event_size(is_64) < 8 ? (unsigned)(there / ktrace_event_size(is_64)) : 8;
	unsigned failures = kept ? ktrace_records_failures(kept->head, kept->head_length, is_64, 8)
				 : ktrace_events_failures(w->source, at, file, is_64, 8);
	/* Process ids are small. */
	const uint8_t *p = window_at(w, 4 + entry - KTRACE_NAME - 4, 4);
	unsigned odd = p && load_u32(p, false) <= KTRACE_PID_MAX ? 0 : 64;
	return (records ? failures * 8 / records : 16) + odd;
}

/* Process ids and the ends of names keep text from passing. */
static bool raw0_entry_sure(struct window *w, uint64_t index, uint32_t entry)
{
	const uint8_t *p = raw0_entry_plausible(w, index, entry) ? window_at(w, 4 + index * entry, entry) : NULL;
	return p && load_u32(p + entry - KTRACE_NAME - 4, false) <= KTRACE_PID_MAX && !p[entry - 1];
}

/* How many entries there are before records begin; 0: nothing says. What looks like one more entry is no record. */
static uint32_t raw0_count(struct window *w, uint32_t entry)
{
	bool more = raw0_entry_sure(w, 0, entry);
	for (uint32_t count = 1; count <= KTRACE_RAW0_THREADS_MAX && more; count++) {
		more = raw0_entry_sure(w, count, entry);
		if (w->source->size - (4 + (uint64_t)count * entry) < ktrace_event_size(entry == 32))
			return 0;
		if (!more && !raw0_failures(w, count, entry, NULL))
			return count;
	}
	return 0;
}

struct ktrace_raw0 ktrace_raw0_find(struct window *w, uint32_t stored, const struct ktrace_walk *kept)
{
	struct ktrace_raw0 found = { 0 };
	unsigned fewest = UINT32_MAX;

	/* Where both widths look right, the events decide. */
	for (uint32_t entry = 28; entry <= 32; entry += 4) {
		bool hole = false;
		unsigned failures = raw0_plausible(w, stored, entry, &hole) ? raw0_failures(w, stored, entry, kept) : UINT32_MAX;
		if (failures < fewest && !(hole && failures)) {
			found = (struct ktrace_raw0){ .entry = entry, .threads = stored };
			fewest = failures;
		}
	}
	if (!fewest || kept)
		return found;
	for (uint32_t entry = 28; entry <= 32; entry += 4) {
		uint32_t threads = raw0_count(w, entry);
		if (threads && threads != stored)
			return (struct ktrace_raw0){ .entry = entry, .threads = threads, .counted = true };
	}
	return found;
}

/* ---- which form it is ---- */

/* The header of version 3 behind a damaged magic, and a chunk behind that. */
static bool v3_header_sound(struct window *w)
{
	const uint8_t *p = window_at(w, 0, KTRACE_HEADER);
	struct ktrace_chunk chunk;

	if (!p || load_u64(p + 8, false) < 40 || load_u64(p + 8, false) >= w->source->size || !load_u32(p + 20, false) ||
	    load_u32(p + 40, false) >= 1000000)
		return false;
	bool is_64 = load_u32(p + 52, false) & KTRACE_FLAG_64;
	return ktrace_chunk_plausible(w->source, KTRACE_HEADER, w->source->size, is_64) &&
	       ktrace_chunk_read(w->source, KTRACE_HEADER, &chunk) && ktrace_kind_find(chunk.tag) &&
	       ktrace_chunk_lands(w->source, KTRACE_HEADER, w->source->size, is_64);
}

/* What a file is by its magic or, where that is lost, by what follows. */
struct form {
	uint32_t magic; /* that it has or had; of RAW version 0 its first word, since that has none */
	bool raw;
	unsigned bits; /* how sure that is, as a bid says it; 0: nothing tells */
};

static struct form form_find(struct window *w, uint32_t word)
{
	if (word == KTRACE_MAGIC)
		return (struct form){ .magic = word, .bits = 32 };
	if (word == KTRACE_MAGIC_RAW2 || word == KTRACE_MAGIC_RAW1 || word == KTRACE_MAGIC_RAW1_OLD)
		return (struct form){ .magic = word, .raw = true, .bits = 32 };
	if (word == KTRACE_MAGIC_KERNEL) {
		const uint8_t *p = window_at(w, 0, KTRACE_HEADER);
		bool sound = p && load_u16(p + 4, false) <= 14 && load_u64(p + 8, false) >= 40;
		return (struct form){ .magic = word, .bits = sound ? 24 : 0 };
	}
	if (v3_header_sound(w))
		return (struct form){ .magic = word, .bits = 12 };
	if (ktrace_raw2_begins(w))
		return (struct form){ .magic = KTRACE_MAGIC_RAW2, .raw = true, .bits = 12 };
	struct ktrace_raw0 raw0 = ktrace_raw0_find(w, word, NULL);
	return (struct form){ .magic = word, .raw = raw0.entry != 0, .bits = !raw0.entry ? 0 : raw0.counted ? 8 : 16 };
}

static struct bid ktrace_bid(struct bundle *b, struct window *w)
{
	(void)b;
	const uint8_t *p = w->source ? window_at(w, 0, 4) : NULL;
	if (!p)
		return (struct bid){ 0 };
	uint32_t word = load_u32(p, false), swapped = load_u32(p, true);
	if (swapped == KTRACE_MAGIC || swapped == KTRACE_MAGIC_RAW2 || swapped == KTRACE_MAGIC_RAW1)
		return (struct bid){ .declined =
					     "a ktrace file in big-endian byte order, which no writer makes and no reader reads" };
	if (word == KTRACE_MAGIC_ARTRACE)
		return (struct bid){ .declined = "an artrace (Ariadne) recording, which is not a ktrace file" };
	if (word == KTRACE_MAGIC_KERNEL && (p = window_at(w, 0, KTRACE_HEADER)) != NULL && load_u16(p + 4, false) == 17)
		return (struct bid){ .declined = "an Apple Unified Logging archive (tracev3): the same container as ktrace with "
						 "other contents, which are not checked here" };
	return (struct bid){ .bits = form_find(w, word).bits };
}

/* ---- the walk ---- */

static void ktrace_facts(struct ktrace_walk *w)
{
	struct scan *s = w->scan;
	scan_fact(s, "event width", "%s", w->is_64 ? "64-bit" : "32-bit");
	if (w->numer && w->denom)
		scan_fact(s, "timebase", "%" PRIu32 "/%" PRIu32 " ns a tick", w->numer, w->denom);
	if (w->chunks)
		scan_fact(s, "chunks", "%" PRIu32, w->chunks);
	scan_fact(s, "CPUs", "%" PRIu32, w->cpus);
	scan_fact(s, "threads", "%zu%s", w->threads.used, w->threads.full ? " (bound reached)" : "");
	scan_fact(s, "events", "%" PRIu64, s->records);
	if (s->records)
		scan_fact(s, "event times", "%" PRIu64 " to %" PRIu64 " ticks", w->first_time, w->last_time);
}

static enum tracemend_status ktrace_scan(struct scan *s)
{
	struct ktrace_walk *w = calloc(1, sizeof(*w));
	uint8_t head[4] = { 0 };

	if (!w)
		return TM_NO_MEMORY;
	w->scan = s;
	w->source = bundle_single(s->in);
	w->threads.max = w->unknown.max = KTRACE_THREADS_MAX;
	w->open.max = w->strings.max = w->spans.max = w->subfiles.max = KTRACE_OPEN_MAX;
	w->output = s->plan ? plan_output(s->plan, "") : 0;
	window_open(&w->window, w->source);
	enum tracemend_status status = TM_OK;
	if (w->source->size >= sizeof(head))
		status = source_read(w->source, 0, head, sizeof(head));
	if (status == TM_OK) {
		struct form form = form_find(&w->window, load_u32(head, false));
		status = form.raw ? ktrace_raw_walk(w, form.magic) : ktrace_v3_walk(w);
	}
	if (status == TM_OK && w->no_memory)
		status = TM_NO_MEMORY;
	if (status == TM_OK && w->window.status != TM_OK)
		status = w->window.status;
	if (status == TM_OK)
		ktrace_facts(w);
	window_close(&w->window);
	ktrace_set_free(&w->threads);
	ktrace_set_free(&w->unknown);
	ktrace_set_free(&w->open);
	ktrace_set_free(&w->strings);
	ktrace_set_free(&w->spans);
	ktrace_set_free(&w->subfiles);
	free(w);
	return status;
}

const struct format ktrace_format = {
	.public = { .name = "ktrace", .title = "Darwin ktrace", .extension = ".ktrace" },
	.rules = rules,
	.rule_count = KTRACE_RULE_COUNT,
	.bid = ktrace_bid,
	.scan = ktrace_scan,
	.generate = ktrace_generate,
	.outline = ktrace_outline,
};
