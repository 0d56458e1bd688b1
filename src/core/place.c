#include "core/place.h"

#ifdef TM_SITES
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bounds of the section, from the linker. */
extern const struct report_place *const __start_tm_sites[] __attribute__((visibility("default")));
extern const struct report_place *const __stop_tm_sites[] __attribute__((visibility("default")));

static uint8_t *hit; /* a byte a place; threads only ever set one to 1 */
static const struct report_place *const *knocked_out;
static _Thread_local bool silenced;

static void places_write(void)
{
	FILE *out = fopen(getenv("TM_SITES_HIT"), "a");
	if (!out)
		return;
	for (const struct report_place *const *p = __start_tm_sites; p < __stop_tm_sites; p++)
		if (hit[p - __start_tm_sites])
			fprintf(out, "%zu\n", (size_t)(p - __start_tm_sites));
	fclose(out);
}

static void places_list(void)
{
	for (const struct report_place *const *p = __start_tm_sites; p < __stop_tm_sites; p++)
		fprintf(stderr, "%zu %s:%u %s\n", (size_t)(p - __start_tm_sites), (*p)->file, (*p)->line, (*p)->rule);
	exit(0);
}

__attribute__((constructor)) static void places_begin(void)
{
	size_t count = (size_t)(__stop_tm_sites - __start_tm_sites);
	const char *out = getenv("TM_KNOCKOUT"), *list = getenv("TM_SITES");

	if (list && !strcmp(list, "list"))
		places_list();
	if (out && *out && strtoul(out, NULL, 10) < count)
		knocked_out = __start_tm_sites + strtoul(out, NULL, 10);
	if (getenv("TM_SITES_HIT") && (hit = calloc(count, 1)))
		(void)atexit(places_write);
}

bool place_reached(const struct report_place *const *place)
{
	if (hit)
		hit[place - __start_tm_sites] = 1;
	silenced = place == knocked_out;
	return silenced;
}

bool place_silenced(void)
{
	return silenced;
}
#else
typedef int place_is_empty; /* a translation unit has at least one declaration */
#endif
