/* A histogram of records over time, for people: so many rows, of a width that doubles until all of them fit. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

/* Bins are counted from 0 at time 0; those that are kept begin at h->first, and each is 2^h->shift units of time wide. */
static void histogram_widen(struct cli_histogram *h, uint64_t time)
{
	uint64_t counts[CLI_HISTOGRAM_ROWS] = { 0 }, first = h->first >> 1;

	/* Earlier than all of them: the last row stays the last. */
	if (time >> h->shift < h->first) {
		uint64_t last = (h->first + CLI_HISTOGRAM_ROWS - 1) >> 1;
		first = last < CLI_HISTOGRAM_ROWS ? 0 : last - (CLI_HISTOGRAM_ROWS - 1);
	}
	for (unsigned i = 0; i < CLI_HISTOGRAM_ROWS; i++)
		if (h->counts[i])
			counts[((h->first + i) >> 1) - first] += h->counts[i];
	memcpy(h->counts, counts, sizeof(counts));
	h->first = first;
	h->shift++;
}

void cli_histogram_add(void *ctx, const struct tracemend_record *r)
{
	struct cli_histogram *h = ctx;

	if (r->rule || !r->timed)
		return;
	if (!h->total++) {
		h->first = r->time;
		h->unit = r->unit;
	}
	while (r->time >> h->shift < h->first || (r->time >> h->shift) - h->first >= CLI_HISTOGRAM_ROWS)
		histogram_widen(h, r->time);
	h->counts[(r->time >> h->shift) - h->first]++;
}

void cli_histogram_print(const struct cli_histogram *h)
{
	static const char bar[] = "########################################";
	const uint64_t width = sizeof(bar) - 1;
	uint64_t most = 0;
	unsigned from = CLI_HISTOGRAM_ROWS, to = 0;
	char a[32], b[32];

	for (unsigned i = 0; i < CLI_HISTOGRAM_ROWS; i++) {
		if (!h->counts[i])
			continue;
		from = from < i ? from : i;
		to = i;
		most = most > h->counts[i] ? most : h->counts[i];
	}
	if (!most)
		return;
	printf("  %-16s %s with a time; each row is %s %s\n", "over time", text_count((char[64]){ 0 }, h->total, "record"),
	       text_number(a, UINT64_C(1) << h->shift), h->unit);
	for (unsigned i = from; i <= to; i++) {
		/* A count times the width may pass 64 bits where no capture has so many records. */
		uint64_t length = h->counts[i] / most * width + h->counts[i] % most * width / most;
		length += h->counts[i] && !length;
		printf("  %26s  %-*.*s %s\n", text_number(a, (h->first + i) << h->shift), (int)width, (int)length, bar,
		       text_number(b, h->counts[i]));
	}
}
