/* The files of the output: edits of a text, and files that are kept or left out whole. */
#include "formats/uftrace/repair/uftrace_repair.h"

#include <string.h>

#include "core/text.h"
#include "formats/uftrace/scan/uftrace_dir.h"

void uftrace_edit_add(struct uftrace_walk *w, struct edits *e, uint64_t at, uint64_t remove, const char *text, size_t length,
		      unsigned rule, const char *why)
{
	if (w->plan)
		edits_add(e, at, remove, text, length, rule, why);
}

void uftrace_edit_lose(struct uftrace_walk *w, struct edits *e, uint64_t at, uint64_t remove, unsigned rule, const char *why)
{
	if (!w->plan)
		return;
	edits_add(e, at, remove, NULL, 0, rule, why);
	plan_lost_other(w->plan);
}

void uftrace_repair_doubt(struct uftrace_walk *w, const struct source *source, uint64_t at, uint64_t length)
{
	if (w->plan && length)
		plan_doubt(w->plan, source, at, length, "a line that may not be as it was written");
}

void uftrace_repair_doubt_line(struct uftrace_walk *w, const struct source *source, const char *text, size_t size, size_t at)
{
	const char *before = at ? text_last_byte(text, '\n', at) : NULL, *end = memchr(text + at, '\n', size - at);
	size_t from = before ? (size_t)(before - text) + 1 : 0;

	uftrace_repair_doubt(w, source, from, (end ? (size_t)(end - text) + 1 : size) - from);
}

bool uftrace_edit_apply(struct uftrace_walk *w, struct edits *e, struct uftrace_file *file, const char *output)
{
	bool failed = e->failed;

	if (w->plan && !failed) {
		edits_apply(e, w->plan, plan_output(w->plan, output), file->source, 0, 0, file->source->size);
		file->planned = true;
	}
	edits_free(e);
	return !failed || uftrace_walk_fail(w, TM_NO_MEMORY);
}

void uftrace_repair_drop(struct uftrace_walk *w, struct uftrace_file *file, unsigned rule, const char *why)
{
	if (w->plan && !file->planned && file->source->size)
		plan_drop(w->plan, file->source, 0, file->source->size, rule, why);
	file->planned = true;
}

void uftrace_repair_files(struct uftrace_walk *w)
{
	for (size_t i = 0; w->plan && i < w->dir->count; i++) {
		struct uftrace_file *f = &w->dir->files[i];
		if (f->planned)
			continue;
		if (f->source->role == TM_ROLE_EXTRA)
			uftrace_repair_drop(w, f, UFTRACE_RULE_unknown_file, "not a buffer of this recording");
		else if (f->kind == UFTRACE_FILE_CHANNEL)
			uftrace_repair_drop(w, f, UFTRACE_RULE_stale_channel, "the recorder is gone");
		else {
			unsigned out = plan_output(w->plan, uftrace_dir_name(f));
			plan_copy(w->plan, out, f->source, 0, f->source->size);
			f->planned = true;
		}
	}
}
