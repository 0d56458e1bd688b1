/* When it was that records were lost: the times of the records around what is dropped. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

/* The records are read once more for it; those of larger captures are not. */
#define WINDOW_BYTES_MAX (UINT64_C(64) << 20)

static void window_record(void *ctx, const struct tracemend_record *record)
{
	struct cli_windows *windows = ctx;

	if (!record->timed || record->rule)
		return;
	for (size_t i = 0; i < windows->count; i++) {
		struct cli_window *w = &windows->list[i];
		if (strcmp(w->file, record->file) != 0)
			continue;
		if (record->offset < w->from) {
			w->before = record->time;
			w->has_before = true;
		} else if (record->offset >= w->from + w->length && !w->has_after) {
			w->after = record->time;
			w->has_after = true;
		}
		(void)snprintf(w->unit, sizeof(w->unit), "%s", record->unit);
	}
}

void cli_windows_find(struct cli_windows *windows, struct tracemend_input *input, const struct tracemend_repair *r,
		      const struct tracemend_options *library)
{
	struct tracemend_options own = *library;
	size_t count = tracemend_repair_dropped_count(r);

	*windows = (struct cli_windows){ .count = 0 };
	if (!count || count > CLI_WINDOWS_MAX || tracemend_report_summary(tracemend_repair_report(r))->size > WINDOW_BYTES_MAX)
		return;
	for (size_t i = 0; i < count; i++) {
		struct tracemend_range range = tracemend_repair_dropped(r, i);
		const struct tracemend_member *m = tracemend_repair_member(r, range.input);
		if (m->role == TM_ROLE_INPUT && range.times == 1)
			windows->list[windows->count++] =
				(struct cli_window){ .file = m->file, .from = range.from, .length = range.length };
	}
	own.record = window_record;
	own.record_ctx = windows;
	struct tracemend_report *report = windows->count ? tracemend_check(input, &own, NULL) : NULL;
	if (!report)
		windows->count = 0;
	tracemend_report_free(report);
}

void cli_windows_say(FILE *out, const struct cli_windows *windows, const char *file, uint64_t from)
{
	char before[32], after[32];

	for (size_t i = 0; i < windows->count; i++) {
		const struct cli_window *w = &windows->list[i];
		if (w->from != from || strcmp(w->file, file) != 0)
			continue;
		/* Behind what ends one stream, another may begin with earlier times. */
		bool to = w->has_after && (!w->has_before || w->after >= w->before);
		if (w->has_before && to)
			fprintf(out, "; from %s to %s %s", text_number(before, w->before), text_number(after, w->after), w->unit);
		else if (w->has_before || to)
			fprintf(out, "; %s %s %s", to ? "before" : "after", text_number(after, to ? w->after : w->before), w->unit);
		return;
	}
}
