/* info: the list of tasks, and that list against task.txt and the files of records. */
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_task.h"
#include "formats/uftrace/scan/uftrace_taskinfo.h"

static void rewrite(struct uftrace_walk *w, enum uftrace_rule rule, const char *why)
{
	struct uftrace_lines *l = &w->info->lines;

	if (!l->taskinfo_rewrite || !l->taskinfo_why) {
		l->taskinfo_rule = (unsigned)rule;
		l->taskinfo_why = why;
	}
	l->taskinfo_rewrite = true;
}

static bool tid_list(struct uftrace_walk *w, int64_t tid)
{
	if (!uftrace_walk_room(w, &w->taskinfo->tids, &w->taskinfo->capacity, w->taskinfo->count, sizeof(*w->taskinfo->tids)) ||
	    !uftrace_walk_set(w, &w->taskinfo->listed, tid, (uint32_t)w->taskinfo->count))
		return false;
	w->taskinfo->tids[w->taskinfo->count++] = tid;
	return true;
}

static struct source *info_source(struct uftrace_walk *w)
{
	return w->dir->info != UFTRACE_NONE ? w->dir->files[w->dir->info].source : NULL;
}

/* "t1,t2,..." */
static bool read_list(struct uftrace_walk *w, struct source *source, struct uftrace_str list, uint64_t offset, uint64_t *items)
{
	size_t at = 0;
	bool unsorted = false;
	char shown[TEXT_QUOTE_SIZE];

	while (at < list.length) {
		const char *text = list.text + at;
		const char *comma = memchr(text, ',', list.length - at);
		size_t n = comma ? (size_t)(comma - text) : list.length - at;
		uint64_t tid;
		++*items;
		if (!text_parse_u64(text, n, &tid) || tid == 0 || tid > INT32_MAX) {
			struct finding *fd = finding_report(w->findings, UFTRACE_RULE_taskinfo_tid_invalid, source, offset + at, n,
							    "'%s' is not a task id", text_quote(shown, text, n));
			finding_path(fd, "taskinfo:tids > item %llu", (unsigned long long)*items);
			w->taskinfo->fault = fd;
			rewrite(w, UFTRACE_RULE_taskinfo_tid_invalid, "the list without what is not a task id");
		} else if (map_get(&w->taskinfo->listed, tid) != UFTRACE_NONE) {
			struct finding *fd = finding_report(w->findings, UFTRACE_RULE_taskinfo_duplicate_tid, source, offset + at,
							    n, "task %llu is listed a second time: readers show its calls twice",
							    (unsigned long long)tid);
			finding_path(fd, "taskinfo:tids > item %llu", (unsigned long long)*items);
			rewrite(w, UFTRACE_RULE_taskinfo_duplicate_tid, "each task once");
		} else {
			if (w->taskinfo->count >= UFTRACE_TASKS_MAX)
				return uftrace_walk_limit(w, "tasks in info", UFTRACE_TASKS_MAX);
			if (w->taskinfo->count && w->taskinfo->tids[w->taskinfo->count - 1] > (int64_t)tid && !unsorted) {
				unsorted = true;
				finding_report(w->findings, UFTRACE_RULE_taskinfo_unsorted, source, offset + at, n,
					       "task %llu comes after task %lld", (unsigned long long)tid,
					       (long long)w->taskinfo->tids[w->taskinfo->count - 1]);
			}
			if (!tid_list(w, (int64_t)tid))
				return false;
		}
		at += n + (comma != NULL);
		if (comma && at == list.length)
			break; /* writers of 0.x end no list in a comma, readers do not mind one */
	}
	return true;
}

/* The list is missing, or readers do not find it. other: a line that stands in the way, or NULL. */
static void report_missing(struct uftrace_walk *w, struct source *source, const char *what, const struct uftrace_line *other)
{
	struct uftrace_lines *l = &w->info->lines;

	rewrite(w, UFTRACE_RULE_taskinfo_missing, "the tasks of task.txt and of the records");
	if (l->damage)
		finding_explains(l->damage, 1);
	else if (other)
		l->damage = finding_report(w->findings, UFTRACE_RULE_taskinfo_missing, source, other->offset, other->raw,
					   "a line of taskinfo is neither nr_tid nor tids: readers give up");
	else
		l->damage = finding_report(
			w->findings, UFTRACE_RULE_taskinfo_missing, source, 0, 0,
			"info does not list the tasks (%s is missing), so readers would open none of their files", what);
}

static void check_number(struct uftrace_walk *w, struct source *source, const struct uftrace_line *line, uint64_t items)
{
	struct uftrace_str text = { line->value.text + 7, line->value.length - 7 }; /* behind "nr_tid=" */
	uint64_t claimed = 0;
	char shown[TEXT_QUOTE_SIZE];

	if (text_parse_u64(text.text, text.length, &claimed) && claimed && claimed == items)
		return;
	struct finding *fd = finding_report(w->findings, UFTRACE_RULE_taskinfo_count_mismatch, source, line->offset, line->raw,
					    "nr_tid is '%s', and %llu tasks are listed", text_quote(shown, text.text, text.length),
					    (unsigned long long)items);
	finding_path(fd, "taskinfo:nr_tid");
	if (!w->taskinfo->fault && (!items || items < claimed))
		w->taskinfo->fault = fd;
	rewrite(w, UFTRACE_RULE_taskinfo_count_mismatch, "as many as are listed");
}

bool uftrace_taskinfo_read(struct uftrace_walk *w)
{
	struct uftrace_lines *l = &w->info->lines;
	struct source *source = info_source(w);
	const struct uftrace_line *number = NULL, *list = NULL, *other = NULL;
	uint64_t items = 0;

	for (size_t i = 0; i < l->count; i++) {
		const struct uftrace_line *line = &l->list[i];
		if (line->drop || line->bit != UFTRACE_I_TASKINFO)
			continue;
		if (uftrace_str_begins(line->value, "nr_tid=") && !number && !list)
			number = line;
		else if (uftrace_str_begins(line->value, "tids=") && !list)
			list = line;
		else if (!uftrace_str_begins(line->value, "lines="))
			other = line;
	}
	if (!number || !list || other)
		report_missing(w, source, number ? "taskinfo:tids" : list ? "taskinfo:nr_tid" : "taskinfo", other);
	if (!list)
		return true;
	l->tids_present = true;
	l->tids_offset = list->offset + (list->length - list->value.length) + 5; /* behind "tids=" */
	l->tids_length = list->value.length - 5;
	struct uftrace_str tids = { list->value.text + 5, list->value.length - 5 };
	if (!read_list(w, source, tids, l->tids_offset, &items))
		return false;
	if (number)
		check_number(w, source, number, items);
	return true;
}

/* Listed tasks that task.txt does not know. */
static bool check_listed(struct uftrace_walk *w)
{
	struct uftrace_lines *l = &w->info->lines;
	struct source *source = info_source(w);
	size_t kept = 0;

	for (size_t i = 0; i < w->taskinfo->count; i++) {
		int64_t tid = w->taskinfo->tids[i];
		struct uftrace_dat *dat = uftrace_records_of(w->records, (uint64_t)tid);
		if (map_get(&w->tasks->known, (uint64_t)tid) != UFTRACE_NONE) {
			w->taskinfo->tids[kept++] = tid;
			continue;
		}
		bool records = dat && dat->has_records;
		if (w->tasks->damage || w->dir->irregular_task) {
			if (w->tasks->damage)
				finding_explains(w->tasks->damage, 1);
		} else {
			struct finding *fd = finding_report(w->findings, UFTRACE_RULE_taskinfo_tid_not_in_task, source,
							    l->tids_offset, l->tids_length,
							    "task %lld is listed in info, and task.txt does not have it%s",
							    (long long)tid, records ? "" : "; it has no records");
			finding_path(fd, "taskinfo:tids > %lld", (long long)tid);
		}
		if (records) {
			if (!uftrace_rebuild_task(w, dat))
				return false;
			w->taskinfo->tids[kept++] = tid;
		} else {
			rewrite(w, UFTRACE_RULE_taskinfo_tid_not_in_task, "without a task that is in no other file");
		}
	}
	w->taskinfo->count = kept;
	return true;
}

/* Readers refuse an empty list, also where nothing but kernel records is left: it gets the task that stood there, or the
 * process of the session. */
static bool list_one_task(struct uftrace_walk *w, int64_t listed)
{
	int64_t tid = listed ? listed : w->sessions->list[0].pid;
	struct uftrace_dat without_records = { .tid = tid > 0 && tid <= INT32_MAX ? (uint64_t)tid : 1 };

	tid = (int64_t)without_records.tid;
	if (map_get(&w->tasks->known, (uint64_t)tid) == UFTRACE_NONE && !uftrace_rebuild_task(w, &without_records))
		return false;
	rewrite(w, UFTRACE_RULE_taskinfo_count_mismatch, "one task, since readers reject an empty list");
	return tid_list(w, tid);
}

/* A task that has records, and is not listed. */
static bool check_unlisted(struct uftrace_walk *w, struct uftrace_dat *dat, bool had_list)
{
	struct uftrace_lines *l = &w->info->lines;
	bool known = map_get(&w->tasks->known, dat->tid) != UFTRACE_NONE;
	const struct source *source = dat->file != UFTRACE_NONE ? w->dir->files[dat->file].source : info_source(w);
	struct finding *cause = known		   ? (l->damage ? l->damage : w->taskinfo->fault)
				: w->tasks->damage ? w->tasks->damage
						   : w->info->recorder_died;

	if (had_list || (!known && w->dir->task_txt != UFTRACE_NONE)) {
		enum uftrace_rule rule = known || cause ? UFTRACE_RULE_taskinfo_missing_tid : UFTRACE_RULE_dat_unreferenced;
		if (cause)
			finding_explains(cause, 1);
		else if (known)
			finding_report(w->findings, UFTRACE_RULE_taskinfo_missing_tid, info_source(w), l->tids_offset,
				       l->tids_length, "task %llu has records, and info does not list it: readers leave it out",
				       (unsigned long long)dat->tid);
		else
			finding_report(w->findings, UFTRACE_RULE_dat_unreferenced, source, 0, 0,
				       had_list ? "neither info nor task.txt knows task %llu: readers leave it out"
						: "task.txt does not know task %llu",
				       (unsigned long long)dat->tid);
		if (w->plan && rule == UFTRACE_RULE_dat_unreferenced && dat->file != UFTRACE_NONE)
			plan_doubt(w->plan, source, 0, source->size, "a task that no list has: it may be of another recording");
		if (cause && cause == w->taskinfo->fault)
			l->taskinfo_why = "the list with every task that has records";
		rewrite(w, rule, "with every task that has records");
	}
	return (known || uftrace_rebuild_task(w, dat)) && tid_list(w, (int64_t)dat->tid);
}

/* A list that is made anew has also the tasks that never recorded, as the recorder would list them. */
static bool list_known(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->tasks->count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[i];
		if ((line->kind != UFTRACE_LINE_TASK && line->kind != UFTRACE_LINE_FORK) || line->id <= 0 || line->id > INT32_MAX ||
		    map_get(&w->taskinfo->listed, (uint64_t)line->id) != UFTRACE_NONE)
			continue;
		if (!tid_list(w, line->id))
			return false;
	}
	return true;
}

/* Whether a word of the recorder's command line keeps calls out, so that a task may have none. A word of the program's own may look
 * like one; that errs on the side of the recording. */
static bool keeps_out(struct uftrace_str word)
{
	static const char *const options[] = { "--filter",	"--notrace",	"--trigger",	 "--caller-filter", "--depth",
					       "--time-filter", "--loc-filter", "--size-filter", "--hide",	    "--patch",
					       "--unpatch",	"--disable",	"--trace",	 "--signal",	    "--opt-file" };

	if (word.length < 2 || word.text[0] != '-')
		return false;
	if (word.text[1] != '-') {
		for (size_t i = 1; i < word.length; i++)
			if (strchr("FNTCDtLZHPUS", word.text[i]))
				return true;
		return false;
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (uftrace_str_begins(word, options[i]))
			return true;
	return false;
}

static bool records_all(struct uftrace_str command)
{
	for (size_t at = 0, end; at < command.length; at = end + 1) {
		for (end = at; end < command.length && command.text[end] != ' ';)
			end++;
		if (keeps_out((struct uftrace_str){ command.text + at, end - at }))
			return false;
	}
	return command.length > 0;
}

/* Tasks that are announced and listed, and have no records. */
static void check_recorded(struct uftrace_walk *w)
{
	const struct uftrace_task_line *first = NULL;
	uint64_t count = 0, recorded = 0;

	if (w->tasks->damage || w->info->recorder_died || w->info->lines.damage)
		return;
	for (size_t i = 0; i < w->taskinfo->count; i++) {
		const struct uftrace_dat *dat = uftrace_records_of(w->records, (uint64_t)w->taskinfo->tids[i]);
		uint32_t line = map_get(&w->tasks->known, (uint64_t)w->taskinfo->tids[i]);

		recorded += dat && dat->has_records;
		if ((dat && dat->has_records) || line == UFTRACE_NONE || w->tasks->lines[line].kind != UFTRACE_LINE_TASK)
			continue;
		if (!count++)
			first = &w->tasks->lines[line];
	}
	if (!count || !recorded)
		return;
	/* default.opts has the time filter, which may be given by other means than the command line. */
	uint32_t opts = uftrace_dir_find(w->dir, "default.opts");
	bool all = records_all(w->info->cmdline) && (opts == UFTRACE_NONE || !w->dir->files[opts].source->size);
	struct finding *fd = finding_milder(w->findings, UFTRACE_RULE_dat_missing, all ? TM_WARNING : TM_NOTE,
					    uftrace_task_source(w), first->offset, first->length);
	finding_path(fd, "line %u", first->number);
	if (count == 1)
		finding_say(fd, "task %lld is announced, and has no record in %lld.dat", (long long)first->id,
			    (long long)first->id);
	else
		finding_say(fd, "%llu tasks are announced and have no records; the first is %lld", (unsigned long long)count,
			    (long long)first->id);
	if (all && w->plan)
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
}

bool uftrace_taskinfo_check(struct uftrace_walk *w)
{
	struct uftrace_lines *l = &w->info->lines;
	int64_t first_listed = w->taskinfo->count ? w->taskinfo->tids[0] : 0;

	if (!check_listed(w))
		return false;
	check_recorded(w);
	for (size_t i = 0; i < w->records->dat_count; i++) {
		struct uftrace_dat *dat = &w->records->dats[i];
		if (dat->has_records && map_get(&w->taskinfo->listed, dat->tid) == UFTRACE_NONE &&
		    !check_unlisted(w, dat, l->tids_present))
			return false;
	}
	if (!l->tids_present)
		l->taskinfo_rewrite = true;
	if ((!l->tids_present || !w->taskinfo->count) && !list_known(w))
		return false;
	return w->taskinfo->count || list_one_task(w, first_listed);
}

void uftrace_taskinfo_free(struct uftrace_taskinfo *taskinfo)
{
	map_free(&taskinfo->listed);
	free(taskinfo->tids);
}
