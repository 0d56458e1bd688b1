/* The files of the directory: which is which, and what is done with those that nothing else looks at. */
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_walk.h"

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

static bool ends_with(const char *name, size_t length, const char *suffix)
{
	size_t n = strlen(suffix);
	return length > n && !memcmp(name + length - n, suffix, n);
}

/* uftrace-<sid>-<tid>-<seq>: a buffer that was left in /dev/shm. */
static bool name_is_leftover(struct uftrace_file *f, const char *name)
{
	const char *base = strrchr(name, '/');
	uint64_t sequence;

	base = base ? base + 1 : name;
	if (strncmp(base, "uftrace-", 8) != 0)
		return false;
	base += 8;
	size_t n = strcspn(base, "-");
	if (!n || n > UFTRACE_SID_LENGTH || base[n] != '-')
		return false;
	f->sid = base;
	f->sid_length = n;
	base += n + 1;
	n = digits(base);
	if (base[n] != '-' || !text_parse_u64(base, n, &f->number) || f->number > INT32_MAX)
		return false;
	base += n + 1;
	return text_parse_u64(base, strlen(base), &sequence);
}

static enum uftrace_kind numbered(struct uftrace_file *f, const char *name, const char *prefix, enum uftrace_kind kind)
{
	size_t n = strlen(prefix);

	if (strncmp(name, prefix, n) != 0)
		return UFTRACE_FILE_UNKNOWN;
	size_t d = digits(name + n);
	if (!d || strcmp(name + n + d, ".dat") != 0 || !text_parse_u64(name + n, d, &f->number))
		return UFTRACE_FILE_UNKNOWN;
	return kind;
}

enum uftrace_kind uftrace_dir_kind(struct uftrace_file *f, const char *name)
{
	static const struct {
		const char *name;
		enum uftrace_kind kind;
	} fixed[] = {
		{ "info", UFTRACE_FILE_INFO },	       { "task.txt", UFTRACE_FILE_TASK_TXT },
		{ "task", UFTRACE_FILE_TASK },	       { "kernel_header", UFTRACE_FILE_KERNEL_HEADER },
		{ "kallsyms", UFTRACE_FILE_KALLSYMS }, { "events.txt", UFTRACE_FILE_EVENTS },
		{ "default.opts", UFTRACE_FILE_OPTS }, { "extern.dat", UFTRACE_FILE_EXTERN },
		{ "note.txt", UFTRACE_FILE_NOTE },     { ".channel", UFTRACE_FILE_CHANNEL },
		{ "gmon.out", UFTRACE_FILE_NOTE },
	};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!strcmp(name, fixed[i].name))
			return fixed[i].kind;
	if (name_is_leftover(f, name))
		return UFTRACE_FILE_SHM;
	if (strchr(name, '/'))
		return UFTRACE_FILE_UNKNOWN;
	if (!strncmp(name, "sid-", 4)) {
		f->sid = name + 4;
		if (ends_with(name, length, ".map.tmp") && length > 12) {
			f->sid_length = length - 12;
			return UFTRACE_FILE_MAP_TMP;
		}
		if (ends_with(name, length, ".map") && length > 8) {
			f->sid_length = length - 8;
			return UFTRACE_FILE_MAP;
		}
		return UFTRACE_FILE_UNKNOWN;
	}
	if (ends_with(name, length, ".sym"))
		return UFTRACE_FILE_SYM;
	if (ends_with(name, length, ".dbg"))
		return UFTRACE_FILE_DBG;
	enum uftrace_kind kind = numbered(f, name, "perf-cpu", UFTRACE_FILE_PERF);
	if (kind == UFTRACE_FILE_UNKNOWN)
		kind = numbered(f, name, "kernel-cpu", UFTRACE_FILE_KERNEL_DAT);
	if (kind != UFTRACE_FILE_UNKNOWN)
		return kind;
	if (ends_with(name, length, ".dat") && name[0] >= '0' && name[0] <= '9') {
		size_t d = digits(name);
		if (d == length - 4 && (name[0] != '0' || d == 1) && text_parse_u64(name, d, &f->number) &&
		    f->number <= INT32_MAX && f->number > 0)
			return UFTRACE_FILE_DAT;
		return UFTRACE_FILE_DAT_ODD;
	}
	return UFTRACE_FILE_UNKNOWN;
}

uint32_t uftrace_dir_find(const struct uftrace_walk *w, const char *name, size_t length)
{
	size_t low = 0, high = w->file_count;

	/* Sources are ordered by role, then by name; the capture's own role is the first. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct source *s = w->files[middle].source;
		int order = s->role != TM_ROLE_INPUT ? 1 : strncmp(s->name, name, length);
		if (!order && s->name[length])
			order = 1;
		if (!order)
			return s->kind == SOURCE_FILE ? (uint32_t)middle : UFTRACE_NONE;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return UFTRACE_NONE;
}

static const char *kind_text(enum source_kind kind)
{
	return kind == SOURCE_DIRECTORY ? "a directory" : kind == SOURCE_SYMLINK ? "a symbolic link" : "a FIFO, socket or device";
}

static void report_irregular(struct uftrace_walk *w, struct uftrace_file *f)
{
	struct source *s = f->source;

	f->planned = true;
	if (f->kind == UFTRACE_FILE_CHANNEL) {
		finding_report(w->findings, UFTRACE_RULE_stale_channel, s, 0, 0,
			       "the recorder's FIFO is there: the recorder "
			       "died, or is still running");
		return;
	}
	if (f->kind == UFTRACE_FILE_UNKNOWN || f->kind == UFTRACE_FILE_SHM) {
		finding_report(w->findings, UFTRACE_RULE_unknown_file, s, 0, 0, "%s of a name that is not part of a recording",
			       kind_text(s->kind));
		return;
	}
	finding_report(w->findings, UFTRACE_RULE_non_regular_file, s, 0, 0, "%s where a regular file should be",
		       kind_text(s->kind));
	if (w->plan)
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	w->irregular_info |= f->kind == UFTRACE_FILE_INFO;
	w->irregular_task |= f->kind == UFTRACE_FILE_TASK_TXT;
}

static void report_name(struct uftrace_walk *w, struct uftrace_file *f)
{
	struct source *s = f->source;
	char shown[TEXT_QUOTE_SIZE];

	if (f->kind == UFTRACE_FILE_UNKNOWN)
		finding_report(w->findings, UFTRACE_RULE_unknown_file, s, 0, 0, "no version of uftrace has a file of this name");
	else if (f->kind == UFTRACE_FILE_CHANNEL)
		finding_report(w->findings, UFTRACE_RULE_stale_channel, s, 0, 0,
			       "the recorder's channel is there: the recorder "
			       "died, or is still running");
	else if (f->kind == UFTRACE_FILE_DAT_ODD)
		finding_report(w->findings, UFTRACE_RULE_dat_name_invalid, s, 0, 0,
			       "'%s' is not a task id and .dat: readers "
			       "never open it",
			       text_quote(shown, s->name, strlen(s->name)));
	else if (f->kind == UFTRACE_FILE_MAP_TMP)
		finding_report(w->findings, UFTRACE_RULE_map_tmp_leftover, s, 0, 0,
			       "the recorder stopped while it wrote build "
			       "ids into this map");
}

static int dat_compare(const void *a, const void *b)
{
	const struct uftrace_dat *x = a, *y = b;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void uftrace_dats_sort(struct uftrace_walk *w)
{
	if (w->dat_count)
		qsort(w->dats, w->dat_count, sizeof(*w->dats), dat_compare);
}

struct uftrace_dat *uftrace_dat_of(struct uftrace_walk *w, uint64_t tid)
{
	const struct uftrace_dat key = { .tid = tid };

	return w->dat_count ? bsearch(&key, w->dats, w->dat_count, sizeof(*w->dats), dat_compare) : NULL;
}

bool uftrace_dir_walk(struct uftrace_walk *w)
{
	w->info = w->task_txt = w->task_legacy = w->kernel_header = w->events = UFTRACE_NONE;
	w->files = calloc(w->in->count + 1, sizeof(*w->files));
	w->dats = calloc(w->in->count + 1, sizeof(*w->dats));
	w->shm = calloc(w->in->count + 1, sizeof(*w->shm));
	if (!w->files || !w->dats || !w->shm)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	for (size_t i = 0; i < w->in->count; i++) {
		struct uftrace_file *f = &w->files[w->file_count++];
		f->source = w->in->sources[i];
		f->kind = uftrace_dir_kind(f, f->source->name);
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
		report_name(w, f);
		uint32_t index = (uint32_t)i;
		if (f->kind == UFTRACE_FILE_INFO)
			w->info = index;
		else if (f->kind == UFTRACE_FILE_TASK_TXT)
			w->task_txt = index;
		else if (f->kind == UFTRACE_FILE_TASK)
			w->task_legacy = index;
		else if (f->kind == UFTRACE_FILE_KERNEL_HEADER)
			w->kernel_header = index;
		else if (f->kind == UFTRACE_FILE_EVENTS)
			w->events = index;
		else if (f->kind == UFTRACE_FILE_PERF)
			w->has_perf = true;
		else if (f->kind == UFTRACE_FILE_KERNEL_DAT)
			w->has_kernel = w->has_kernel || f->source->size;
		else if (f->kind == UFTRACE_FILE_DAT) {
			if (w->dat_count >= UFTRACE_TASKS_MAX)
				return uftrace_walk_limit(w, "task files", UFTRACE_TASKS_MAX);
			w->dats[w->dat_count++] = (struct uftrace_dat){ .tid = f->number, .file = index };
		}
	}
	uftrace_dats_sort(w);
	return true;
}

void uftrace_file_drop(struct uftrace_walk *w, struct uftrace_file *file, unsigned rule, const char *why)
{
	if (w->plan && !file->planned && file->source->size)
		plan_drop(w->plan, file->source, 0, file->source->size, rule, why);
	file->planned = true;
}

void uftrace_dir_plan(struct uftrace_walk *w)
{
	for (size_t i = 0; w->plan && i < w->file_count; i++) {
		struct uftrace_file *f = &w->files[i];
		if (f->planned)
			continue;
		if (f->source->role == TM_ROLE_EXTRA)
			uftrace_file_drop(w, f, UFTRACE_RULE_unknown_file, "not a buffer of this recording");
		else if (f->kind == UFTRACE_FILE_CHANNEL)
			uftrace_file_drop(w, f, UFTRACE_RULE_stale_channel, "the recorder is gone");
		else {
			unsigned out = plan_output(w->plan, f->source->name);
			plan_copy(w->plan, out, f->source, 0, f->source->size);
			f->planned = true;
		}
	}
}
