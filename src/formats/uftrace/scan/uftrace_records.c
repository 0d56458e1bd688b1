/* The records of all tasks: which files have them, the first of each, and the walk over one after the other. */
#include <stdlib.h>

#include "formats/uftrace/repair/uftrace_repair_dat.h"
#include "formats/uftrace/salvage/uftrace_resync.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/scan/uftrace_task.h"
#include "formats/uftrace/scan/uftrace_taskinfo.h"

static int dat_compare(const void *a, const void *b)
{
	const struct uftrace_dat *x = a, *y = b;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void uftrace_records_sort(struct uftrace_records *records)
{
	if (records->dat_count)
		qsort(records->dats, records->dat_count, sizeof(*records->dats), dat_compare);
}

struct uftrace_dat *uftrace_records_of(const struct uftrace_records *records, uint64_t tid)
{
	const struct uftrace_dat key = { .tid = tid };

	return records->dat_count ? bsearch(&key, records->dats, records->dat_count, sizeof(*records->dats), dat_compare) : NULL;
}

bool uftrace_records_begin(struct uftrace_walk *w)
{
	struct uftrace_records *records = w->records;

	records->dats = calloc(w->dir->count + 1, sizeof(*records->dats));
	records->shm = calloc(w->dir->count + 1, sizeof(*records->shm));
	if (!records->dats || !records->shm)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	for (uint32_t i = 0; i < w->dir->count; i++) {
		const struct uftrace_file *f = &w->dir->files[i];
		if (f->kind != UFTRACE_FILE_DAT)
			continue;
		if (records->dat_count >= UFTRACE_TASKS_MAX)
			return uftrace_walk_limit(w, "task files", UFTRACE_TASKS_MAX);
		records->dats[records->dat_count++] = (struct uftrace_dat){ .tid = f->name.number, .file = i };
	}
	uftrace_records_sort(records);
	return true;
}

void uftrace_records_free(struct uftrace_records *records)
{
	free(records->dats);
	free(records->shm);
	map_free(&records->event_ids);
}

/* Finds the records by which the task is known, where the walk will find them: the stream has no map yet. */
static bool probe(struct uftrace_stream *t, struct uftrace_dat *dat, struct source *source, uint64_t at, uint64_t end)
{
	struct uftrace_walk *w = t->w;
	uint8_t record[UFTRACE_RECORD_SIZE];

	for (unsigned i = 0; i < 256 && at < end && end - at >= sizeof(record); i++) {
		if (source_read(source, at, record, sizeof(record)) != TM_OK)
			return uftrace_walk_fail(w, source->bundle->error.status);
		uint64_t time = load_u64(record, w->info->head.big_endian), word = load_u64(record + 8, w->info->head.big_endian);
		if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC) {
			window_reset(&t->window, source);
			at = uftrace_resync(t, at + 1, end, end, 0);
			if (t->window.status != TM_OK)
				return uftrace_walk_fail(w, t->window.status);
			continue;
		}
		dat->has_records = true;
		/* Its time is not that of a record of the task. */
		if (time >= UFTRACE_TIME_MAX || (!time && uftrace_word_type(word) == UFTRACE_LOST)) {
			at += sizeof(record);
			continue;
		}
		dat->first_time = time;
		dat->first_type = uftrace_word_type(word);
		dat->first_address = uftrace_word_address(word);
		return true;
	}
	return true;
}

/* Leftover buffers: of tasks that have no file yet, or nothing in it. */
static bool probe_leftovers(struct uftrace_stream *t)
{
	struct uftrace_walk *w = t->w;
	struct map tids = { 0 };
	bool good = true;

	for (uint32_t i = 0; i < w->records->dat_count && good; i++)
		good = uftrace_walk_set(w, &tids, (int64_t)w->records->dats[i].tid, i);
	for (size_t i = 0; i < w->dir->count && good; i++) {
		const struct uftrace_file *f = &w->dir->files[i];
		if (f->kind != UFTRACE_FILE_SHM || !f->name.number ||
		    (f->source->role != TM_ROLE_EXTRA && !w->info->recorder_died) || f->source->size < 2 * UFTRACE_SHM_HEADER_SIZE)
			continue;
		uint32_t index = map_get(&tids, f->name.number);
		struct uftrace_dat *dat = &w->records->dats[index == UFTRACE_NONE ? w->records->dat_count : index];
		if (index == UFTRACE_NONE)
			*dat = (struct uftrace_dat){ .tid = f->name.number, .file = UFTRACE_NONE };
		if (!dat->has_records)
			good = probe(t, dat, f->source, UFTRACE_SHM_HEADER_SIZE, f->source->size);
		if (good && index == UFTRACE_NONE && dat->has_records)
			good = uftrace_walk_set(w, &tids, (int64_t)dat->tid, (uint32_t)w->records->dat_count++);
	}
	map_free(&tids);
	return good;
}

bool uftrace_records_probe(struct uftrace_walk *w)
{
	struct uftrace_stream *t = calloc(1, sizeof(*t));
	size_t own = w->records->dat_count;
	bool good = true;

	if (!t)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	t->w = w;
	t->session.next = UINT64_MAX;
	for (size_t i = 0; i < own && good; i++) {
		struct source *source = w->dir->files[w->records->dats[i].file].source;
		good = probe(t, &w->records->dats[i], source, 0, source->size);
	}
	good = good && probe_leftovers(t);
	if (t->window.source)
		window_close(&t->window);
	free(t);
	if (w->records->dat_count > own)
		uftrace_records_sort(w->records);
	return good;
}

bool uftrace_records_lost(const struct uftrace_walk *w)
{
	bool lost = false;

	for (size_t i = 0; i < w->dir->count && !lost; i++) {
		const struct uftrace_file *f = &w->dir->files[i];
		bool content = f->kind == UFTRACE_FILE_PERF || f->kind == UFTRACE_FILE_DAT;
		lost = content && f->source->kind == SOURCE_FILE && f->source->size;
	}
	bool tasks = w->taskinfo->count,
	     ours = w->dir->info != UFTRACE_NONE || uftrace_dir_find(w->dir, "default.opts") != UFTRACE_NONE;
	for (size_t i = 0; i < w->taskinfo->count && !lost; i++)
		lost = !uftrace_records_of(w->records, (uint64_t)w->taskinfo->tids[i]);
	for (size_t i = 0; i < w->tasks->count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[i];
		if (line->kind != UFTRACE_LINE_TASK && line->kind != UFTRACE_LINE_FORK)
			continue;
		tasks = true;
		lost = lost || !uftrace_records_of(w->records, (uint64_t)line->id);
	}
	return tasks && lost && ours;
}

bool uftrace_records_walk(struct uftrace_walk *w)
{
	struct uftrace_stream *t = uftrace_stream_new(w);
	bool good = true, buffers = w->records->dat_count > 0;

	if (!t)
		return false;
	for (size_t i = 0; i < w->records->dat_count && good; i++) {
		if (w->records->dats[i].file == UFTRACE_NONE && !w->records->dats[i].shm_count)
			continue;
		if (!t->window.source)
			window_open(&t->window, w->records->dats[i].file != UFTRACE_NONE
							? w->dir->files[w->records->dats[i].file].source
							: w->dir->files[w->records->shm[w->records->dats[i].shm_first]].source);
		good = uftrace_stream_walk(t, &w->records->dats[i]);
		buffers &= w->records->dats[i].shm_count > 0;
	}
	uftrace_stream_free(t);
	if (good && w->plan && !w->records->count && !(w->dir->has_kernel && w->dir->kernel_header != UFTRACE_NONE)) {
		/* What seemed to be records at first was not. */
		if (!uftrace_records_lost(w))
			return uftrace_walk_fail(w, TM_NOTHING);
		uftrace_repair_mark(w, (uint64_t)w->taskinfo->tids[0]);
	}
	/* The recorder died: what its buffers held is known only if they are here, all of them. */
	if (good && w->plan && w->info->recorder_died && !buffers)
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	if (good && w->records->unresolved && w->specs->present && w->dir->info != UFTRACE_NONE) {
		struct finding *fd = finding_milder(w->findings, UFTRACE_RULE_argspec_unparsable, TM_NOTE,
						    w->dir->files[w->dir->info].source, 0, 0);
		finding_say(fd,
			    "the arguments of %llu records were skipped without their specification, which could not be determined",
			    (unsigned long long)w->records->unresolved);
	}
	return good;
}
