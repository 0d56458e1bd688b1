/* Buffers that the traced program left in /dev/shm: uftrace-<sid>-<tid>-<seq>. Their records belong after those of the
 * task's file. */
#include <stdlib.h>

#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_records.h"

struct leftover {
	uint32_t file;
	uint64_t tid, time;
};

static int leftover_compare(const void *a, const void *b)
{
	const struct leftover *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

static bool session_known(const struct uftrace_walk *w, const struct uftrace_file *f)
{
	struct uftrace_str sid = { f->name.sid, f->name.sid_length };

	for (size_t i = 0; i < w->sessions->count; i++)
		if (uftrace_str_equal(w->sessions->list[i].sid, sid))
			return true;
	return false;
}

bool uftrace_shm_walk(struct uftrace_walk *w)
{
	struct leftover *list = calloc(w->dir->count + 1, sizeof(*list));
	size_t count = 0;

	if (!list)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	for (size_t i = 0; i < w->dir->count; i++) {
		struct uftrace_file *f = &w->dir->files[i];
		struct source *source = f->source;
		uint8_t head[UFTRACE_SHM_HEADER_SIZE + UFTRACE_RECORD_SIZE] = { 0 };
		if (f->kind != UFTRACE_FILE_SHM)
			continue;
		size_t n = source->size < sizeof(head) ? (size_t)source->size : sizeof(head);
		if (source_read(source, 0, head, n) != TM_OK) {
			free(list);
			return uftrace_walk_fail(w, source->bundle->error.status);
		}
		uint32_t size = load_u32(head, w->info->head.big_endian), flag = load_u32(head + 4, w->info->head.big_endian);
		bool sound = source->size >= UFTRACE_SHM_HEADER_SIZE && size <= source->size - UFTRACE_SHM_HEADER_SIZE;
		bool full = sound && size >= UFTRACE_RECORD_SIZE && flag & UFTRACE_SHM_RECORDING;
		bool ours = session_known(w, f);
		if (ours) {
			if (full)
				finding_report(w->findings, UFTRACE_RULE_shm_leftover, source, 0, 0,
					       "a buffer of task %llu with %u bytes that the recorder did not save",
					       (unsigned long long)f->name.number, size);
			else
				finding_report(w->findings, UFTRACE_RULE_shm_leftover, source, 0, 0, "a buffer of task %llu %s",
					       (unsigned long long)f->name.number,
					       sound ? "that the recorder has saved, or that is empty"
						     : "whose header is not valid");
		}
		/* Those beside the recording are used when it needs repair anyway. */
		bool use = source->role == TM_ROLE_EXTRA || w->info->recorder_died;
		struct uftrace_dat *dat = uftrace_records_of(w->records, f->name.number);
		if (!use)
			continue;
		if (!full || !ours || !dat) {
			if (source->role == TM_ROLE_EXTRA)
				uftrace_repair_drop(w, f, UFTRACE_RULE_shm_leftover,
						    !ours   ? "a buffer of another recording"
						    : sound ? "a buffer that was saved already, or is empty"
							    : "a buffer whose header is not valid");
			continue;
		}
		list[count++] = (struct leftover){ (uint32_t)i, f->name.number,
						   load_u64(head + UFTRACE_SHM_HEADER_SIZE, w->info->head.big_endian) };
	}
	if (count)
		qsort(list, count, sizeof(*list), leftover_compare);
	for (size_t i = 0; i < count; i++) {
		struct uftrace_dat *dat = uftrace_records_of(w->records, list[i].tid);
		if (!dat)
			continue;
		if (!dat->shm_count++)
			dat->shm_first = (uint32_t)w->records->shm_count;
		w->records->shm[w->records->shm_count++] = list[i].file;
	}
	free(list);
	return true;
}
