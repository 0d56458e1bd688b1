/* events.txt, extern.dat and default.opts. */
#include <stdlib.h>

#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/decode/uftrace_str.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_side.h"

/* "EVENT: <id> <provider>:<event>" */
static bool event_line(const char *text, size_t length, uint64_t *id, bool *too_long)
{
	*too_long = false;
	if (length < 8 || memcmp(text, "EVENT: ", 7) != 0)
		return false;
	size_t at = 7, n = 0;
	while (at + n < length && text[at + n] >= '0' && text[at + n] <= '9')
		n++;
	if (!text_parse_u64(text + at, n, id) || at + n >= length || text[at + n] != ' ')
		return false;
	at += n + 1;
	const char *colon = memchr(text + at, ':', length - at);
	size_t provider = colon ? (size_t)(colon - text) - at : length - at;
	*too_long = provider > UFTRACE_EVENT_NAME_MAX || (colon && length - at - provider - 1 > UFTRACE_EVENT_NAME_MAX);
	return colon && provider && length - at - provider - 1 > 0;
}

/* Read before the records, which refer to it; nothing here depends on them. */
bool uftrace_events_walk(struct uftrace_walk *w)
{
	struct edits edits = { 0 };
	char *text = NULL;
	size_t size = 0;
	uint64_t number = 0;

	if (w->dir->events == UFTRACE_NONE)
		return true;
	struct uftrace_file *f = &w->dir->files[w->dir->events];
	if (!uftrace_walk_slurp(w, f->source, &text, &size))
		return false;
	for (size_t at = 0; at < size && w->status == TM_OK;) {
		const char *line = text + at, *end = memchr(line, '\n', size - at);
		size_t raw = end ? (size_t)(end - line) + 1 : size - at, length = end ? raw - 1 : raw;
		uint64_t id = 0;
		bool too_long;
		bool good = event_line(line, length, &id, &too_long);
		struct finding *fd = NULL;
		number++;
		if (too_long) {
			fd = finding_report(w->findings, UFTRACE_RULE_events_malformed, f->source, at, raw,
					    "a name is longer than 511 bytes: readers crash");
			uftrace_edit_lose(w, &edits, at, raw, UFTRACE_RULE_events_malformed, "a line that crashes readers");
		} else if (!good) {
			fd = finding_milder(w->findings, UFTRACE_RULE_events_malformed, TM_WARNING, f->source, at, raw);
			finding_say(fd, "the line is not 'EVENT: <id> <provider>:<event>'; readers skip it");
		} else if (map_get(&w->records->event_ids, id) != UFTRACE_NONE) {
			fd = finding_report(w->findings, UFTRACE_RULE_events_duplicate_id, f->source, at, raw,
					    "event %llu is there already", (unsigned long long)id);
		} else if (map_set(&w->records->event_ids, id, 0, UFTRACE_EVENTS_MAX) == TM_NO_MEMORY) {
			uftrace_walk_fail(w, TM_NO_MEMORY);
		}
		if (fd)
			finding_path(fd, "line %llu", (unsigned long long)number);
		at += raw;
	}
	free(text);
	uftrace_edit_apply(w, &edits, f, uftrace_dir_name(f));
	edits_free(&edits);
	return w->status == TM_OK;
}

/* "<sec>[.<frac>] <message>"; here the fraction is a decimal one. */
static bool extern_line(const char *text, size_t length, uint64_t *time)
{
	size_t at = 0;
	uint64_t ns = 0, scale = 100000000;

	while (at < length && text[at] >= '0' && text[at] <= '9')
		at++;
	if (!text_parse_u64(text, at, time) || *time > UINT64_C(10000000000))
		return false;
	if (at < length && text[at] == '.')
		for (at++; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
			ns += (uint64_t)(text[at] - '0') * scale;
			scale /= 10;
		}
	*time = *time * 1000000000u + ns;
	return at + 1 < length && text[at] == ' ';
}

static bool walk_extern(struct uftrace_walk *w, struct source *source)
{
	struct window window;
	struct line line;
	uint64_t at = 0, previous = 0, number = 0;
	bool unsorted = false;

	window_open(&window, source);
	while (window_line(&window, &at, &line)) {
		uint64_t time = 0;
		number++;
		if (!line.length || line.text[0] == '#')
			continue;
		bool good = extern_line(line.text, line.length, &time);
		struct finding *fd = NULL;
		if (!good) {
			fd = finding_report(w->findings, UFTRACE_RULE_extern_malformed, source, line.offset, line.length,
					    "the line is not '<seconds>[.<fraction>] <message>'");
		} else if (time < previous && !unsorted) {
			unsorted = true;
			fd = finding_report(w->findings, UFTRACE_RULE_extern_unsorted, source, line.offset, line.length,
					    "the time is before that of the line in front of it, so it is shown late");
		}
		if (fd)
			finding_path(fd, "line %llu", (unsigned long long)number);
		if (good)
			previous = time;
	}
	enum tracemend_status status = window.status;
	window_close(&window);
	return status == TM_OK || uftrace_walk_fail(w, status);
}

/* "-t <number><unit>", as recorders write it. */
static bool is_time_filter(const char *text, size_t length)
{
	size_t at = 2;

	if (length < 3 || memcmp(text, "-t", 2) != 0)
		return false;
	while (at < length && text[at] == ' ')
		at++;
	size_t digits = at;
	while (at < length && ((text[at] >= '0' && text[at] <= '9') || text[at] == '.'))
		at++;
	if (at == digits)
		return false;
	while (at < length && text[at] && strchr("nusmh", text[at]))
		at++;
	while (at < length && (text[at] == ' ' || text[at] == '\n'))
		at++;
	return at == length;
}

static bool walk_options(struct uftrace_walk *w, struct uftrace_file *f)
{
	struct source *source = f->source;
	char *text = NULL;
	size_t size = 0, blank = 0;

	if (!source->size)
		return true;
	if (!uftrace_walk_slurp(w, source, &text, &size))
		return false;
	while (blank < size && text[blank] && strchr(" \t\r\n\v\f", text[blank]))
		blank++;
	if (blank == size || !text[blank]) { /* a NUL is the end for readers */
		finding_report(w->findings, UFTRACE_RULE_default_opts_whitespace, source, 0, size,
			       "%zu bytes, and nothing but white space%s: every command crashes", size,
			       blank == size ? "" : " up to a NUL");
		if (w->plan)
			(void)plan_output(w->plan, uftrace_dir_name(f));
		if (w->plan && blank < size)
			plan_lost_other(w->plan);
		uftrace_repair_drop(w, f, UFTRACE_RULE_default_opts_whitespace, "white space that crashes readers");
	} else if (!is_time_filter(text, size)) {
		char shown[TEXT_QUOTE_SIZE];
		finding_report(w->findings, UFTRACE_RULE_default_opts_unexpected, source, 0, size,
			       "every command takes '%s' as if it were typed", text_quote(shown, text, size));
		if (!uftrace_str_is_text((struct uftrace_str){ text, size - (text[size - 1] == '\n') }))
			uftrace_repair_doubt(w, source, 0, size);
	}
	free(text);
	return true;
}

bool uftrace_misc_walk(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->dir->count; i++) {
		struct uftrace_file *f = &w->dir->files[i];
		if (f->kind == UFTRACE_FILE_EXTERN && !walk_extern(w, f->source))
			return false;
		if (f->kind == UFTRACE_FILE_OPTS && !walk_options(w, f))
			return false;
	}
	return true;
}
