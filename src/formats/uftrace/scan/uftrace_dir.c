/* The files of the directory: which is which. */
#include <stdlib.h>

#include "core/text.h"
#include "formats/uftrace/scan/uftrace_dir.h"

uint32_t uftrace_dir_find(const struct uftrace_dir *dir, const char *name)
{
	const struct source *own = bundle_find(dir->in, TM_ROLE_INPUT, name);

	if (own)
		return own->kind == SOURCE_FILE ? own->index : UFTRACE_NONE;
	for (size_t i = 0; i < dir->adopted_count; i++)
		if (!strcmp(dir->files[dir->adopted[i]].as, name))
			return dir->adopted[i];
	return UFTRACE_NONE;
}

const char *uftrace_dir_name(const struct uftrace_file *file)
{
	return file->as[0] ? file->as : file->source->name;
}

static const char *kind_text(enum source_kind kind)
{
	return kind == SOURCE_DIRECTORY ? "a directory" : kind == SOURCE_SYMLINK ? "a symbolic link" : "a FIFO, socket or device";
}

static void report_irregular(struct uftrace_walk *w, struct uftrace_file *f)
{
	struct source *source = f->source;

	f->planned = true;
	if (f->kind == UFTRACE_FILE_CHANNEL) {
		finding_report(w->findings, UFTRACE_RULE_stale_channel, source, 0, 0,
			       "the recorder's FIFO is there: the recorder died, or is still running");
		return;
	}
	if (f->kind == UFTRACE_FILE_UNKNOWN || f->kind == UFTRACE_FILE_SHM) {
		finding_report(w->findings, UFTRACE_RULE_unknown_file, source, 0, 0, "%s of a name that is not part of a recording",
			       kind_text(source->kind));
		return;
	}
	finding_report(w->findings, UFTRACE_RULE_non_regular_file, source, 0, 0, "%s where a regular file should be",
		       kind_text(source->kind));
	if (w->plan)
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	w->dir->irregular_info |= f->kind == UFTRACE_FILE_INFO;
	w->dir->irregular_task |= f->kind == UFTRACE_FILE_TASK_TXT;
}

static void report_name(struct uftrace_walk *w, struct uftrace_file *f)
{
	struct source *source = f->source;
	char shown[TEXT_QUOTE_SIZE];

	if (f->kind == UFTRACE_FILE_UNKNOWN)
		finding_report(w->findings, UFTRACE_RULE_unknown_file, source, 0, 0,
			       "no version of uftrace has a file of this name");
	else if (f->kind == UFTRACE_FILE_CHANNEL)
		finding_report(w->findings, UFTRACE_RULE_stale_channel, source, 0, 0,
			       "the recorder's channel is there: the recorder died, or is still running");
	else if (f->kind == UFTRACE_FILE_DAT_ODD)
		finding_report(w->findings, UFTRACE_RULE_dat_name_invalid, source, 0, 0,
			       "'%s' is not a task id and .dat: readers never open it",
			       text_quote(shown, source->name, strlen(source->name)));
	else if (f->kind == UFTRACE_FILE_MAP_TMP)
		finding_report(w->findings, UFTRACE_RULE_map_tmp_leftover, source, 0, 0,
			       "the recorder stopped while it wrote build ids into this map");
}

/* Where the files of which there is one are. */
static void note_kind(struct uftrace_dir *dir, uint32_t index)
{
	const struct uftrace_file *f = &dir->files[index];

	if (f->kind == UFTRACE_FILE_INFO)
		dir->info = index;
	else if (f->kind == UFTRACE_FILE_TASK_TXT)
		dir->task_txt = index;
	else if (f->kind == UFTRACE_FILE_TASK)
		dir->task_legacy = index;
	else if (f->kind == UFTRACE_FILE_KERNEL_HEADER)
		dir->kernel_header = index;
	else if (f->kind == UFTRACE_FILE_EVENTS)
		dir->events = index;
	else if (f->kind == UFTRACE_FILE_PERF)
		dir->has_perf = true;
	else if (f->kind == UFTRACE_FILE_KERNEL_DAT)
		dir->has_kernel = dir->has_kernel || f->source->size;
}

void uftrace_dir_adopt(struct uftrace_dir *dir, uint32_t index, const char *name)
{
	struct uftrace_file *f = &dir->files[index];

	if (dir->adopted_count >= UFTRACE_ADOPTED_MAX || strlen(name) >= sizeof(f->as))
		return;
	memcpy(f->as, name, strlen(name) + 1);
	f->kind = uftrace_name_read(&f->name, f->as);
	dir->adopted[dir->adopted_count++] = index;
	note_kind(dir, index);
}

bool uftrace_dir_walk(struct uftrace_walk *w)
{
	w->dir->info = w->dir->task_txt = w->dir->task_legacy = w->dir->kernel_header = w->dir->events = UFTRACE_NONE;
	w->dir->in = w->in;
	w->dir->files = calloc(w->in->count + 1, sizeof(*w->dir->files));
	if (!w->dir->files)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	for (size_t i = 0; i < w->in->count; i++) {
		struct uftrace_file *f = &w->dir->files[w->dir->count++];
		f->source = w->in->sources[i];
		f->kind = uftrace_name_read(&f->name, f->source->name);
		if (f->source->role == TM_ROLE_DONOR) {
			f->kind = UFTRACE_FILE_UNKNOWN;
			f->planned = true;
			continue;
		}
		if (f->source->role == TM_ROLE_EXTRA) {
			if (f->kind != UFTRACE_FILE_SHM)
				f->kind = UFTRACE_FILE_UNKNOWN;
			if (f->source->kind != SOURCE_FILE)
				f->planned = true;
			continue;
		}
		if (f->source->kind != SOURCE_FILE) {
			report_irregular(w, f);
			f->kind = UFTRACE_FILE_UNKNOWN;
			continue;
		}
		note_kind(w->dir, (uint32_t)i);
	}
	return true;
}

bool uftrace_dir_names(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->dir->count; i++)
		if (w->dir->files[i].source->role == TM_ROLE_INPUT && w->dir->files[i].source->kind == SOURCE_FILE)
			report_name(w, &w->dir->files[i]);
	return true;
}

void uftrace_dir_free(struct uftrace_dir *dir)
{
	free(dir->files);
}
