/* The facts that `info` prints. */
#include "formats/fxt/scan/fxt_walk.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/text.h"

/* Providers that are listed one by one. */
#define PROVIDERS_LISTED 64u

/* Ticks as nanoseconds; saturates. */
static uint64_t nanoseconds(uint64_t ticks, uint64_t rate)
{
	uint64_t seconds = ticks / rate, rest = ticks % rate;
	if (seconds > UINT64_MAX / FXT_TICKS_DEFAULT - 1)
		return UINT64_MAX;
	/* rest < rate; of both, low bits are left out that are less than a nanosecond in all. */
	while (rest > UINT64_MAX / FXT_TICKS_DEFAULT) {
		rest >>= 1;
		rate >>= 1;
	}
	return seconds * FXT_TICKS_DEFAULT + rest * FXT_TICKS_DEFAULT / rate;
}

static void counts(struct scan *s, const char *prefix, const uint64_t *list, const char *const *names)
{
	char key[64];
	for (unsigned i = 0; i < 16; i++)
		if (list[i]) {
			snprintf(key, sizeof(key), "%s: %s", prefix, names[i]);
			scan_fact(s, key, "%" PRIu64, list[i]);
			scan_fact_name(s, prefix);
			scan_fact_text(s, "type", names[i]);
			scan_fact_number(s, "count", list[i]);
		}
}

/* Whose fact the newest is. */
static void fact_of(struct scan *s, const char *name, const struct fxt_provider *provider)
{
	scan_fact_name(s, name);
	if (!provider->anonymous)
		scan_fact_number(s, "id", provider->id);
}

static void provider_facts(struct scan *s, const struct fxt_provider *provider)
{
	char key[64], quoted[TEXT_QUOTE_SIZE];
	char ticks[TEXT_COUNT_SIZE], records[TEXT_COUNT_SIZE], strings[TEXT_COUNT_SIZE], threads[TEXT_COUNT_SIZE];

	if (provider->anonymous)
		snprintf(key, sizeof(key), "before any provider");
	else
		snprintf(key, sizeof(key), "provider %" PRIu32, provider->id);
	text_quote(quoted, provider->name, provider->name_length);
	scan_fact(s, key, "\"%s\", %s a second, %s, %s, %s%s", quoted, text_count(ticks, provider->ticks, "tick"),
		  text_count(records, provider->records, "record"), text_count(strings, provider->strings, "string"),
		  text_count(threads, provider->threads, "thread"), provider->buffer_full ? ", buffer was full" : "");
	fact_of(s, "provider", provider);
	scan_fact_text(s, "name", quoted);
	scan_fact_number(s, "ticks_per_second", provider->ticks);
	scan_fact_number(s, "records", provider->records);
	scan_fact_number(s, "strings", provider->strings);
	scan_fact_number(s, "threads", provider->threads);
	scan_fact_number(s, "buffer_full", provider->buffer_full);
	if (!provider->timed)
		return;
	uint64_t ns = nanoseconds(provider->last - provider->first, provider->ticks);
	strncat(key, ", time", sizeof(key) - strlen(key) - 1);
	scan_fact(s, key, "tick %" PRIu64 " to %" PRIu64 ", %" PRIu64 " ns", provider->first, provider->last, ns);
	fact_of(s, "provider time", provider);
	scan_fact_number(s, "first_tick", provider->first);
	scan_fact_number(s, "last_tick", provider->last);
	scan_fact_number(s, "duration_ns", ns);
}

void fxt_facts(const struct fxt_walk *w)
{
	struct scan *s = w->s;
	unsigned listed = 0;

	if (!s->facts)
		return;
	scan_fact(s, "byte order", "%s", w->decoder.big_endian ? "big-endian" : "little-endian");
	scan_fact(s, "revision", "%s", s->profile);
	scan_fact(s, "providers", "%u", (unsigned)w->registry.count - 1);
	for (size_t i = 0; i < w->registry.count; i++) {
		const struct fxt_provider *provider = w->registry.list[i];
		if ((provider->anonymous && !provider->records) || listed == PROVIDERS_LISTED)
			continue;
		listed++;
		provider_facts(s, provider);
	}
	scan_fact(s, "threads", "%u", (unsigned)w->nesting.count);
	counts(s, "records", w->totals.by_type, fxt_type_names);
	counts(s, "events", w->totals.by_event, fxt_event_names);
}
