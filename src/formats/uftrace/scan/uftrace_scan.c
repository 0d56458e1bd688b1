/* The walk over a recording, file by file. */
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_walk.h"

bool uftrace_walk_fail(struct uftrace_walk *w, enum tracemend_status status)
{
	if (w->status == TM_OK)
		w->status = status;
	return false;
}

bool uftrace_walk_limit(struct uftrace_walk *w, const char *what, uint64_t limit)
{
	if (w->status == TM_OK)
		w->status = scan_limit(w->scan, "more than %llu %s", (unsigned long long)limit, what);
	return false;
}

bool uftrace_slurp(struct uftrace_walk *w, struct source *s, char **text, size_t *size)
{
	enum tracemend_status status = source_slurp(s, UFTRACE_TEXT_BYTES_MAX, text, size);

	if (status == TM_LIMIT) {
		w->status = scan_limit(w->scan, "%s is larger than %u bytes, the most that is read of a text file", s->name,
				       UFTRACE_TEXT_BYTES_MAX);
		return false;
	}
	return status == TM_OK || uftrace_walk_fail(w, status);
}

static void walk_free(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->map_count; i++) {
		free(w->maps[i].text);
		free(w->maps[i].list);
	}
	for (size_t i = 0; i < w->module_count; i++) {
		free(w->modules[i].names);
		free(w->modules[i].symbols);
		free(w->modules[i].specs);
	}
	for (size_t i = 0; i < w->dbg_count; i++) {
		free(w->dbgs[i].text);
		free(w->dbgs[i].list);
	}
	uftrace_info_free(w);
	uftrace_argspec_free(w);
	uftrace_ids_free(&w->listed);
	uftrace_ids_free(&w->known);
	uftrace_ids_free(&w->pid_session);
	uftrace_ids_free(&w->known_first);
	uftrace_ids_free(&w->parents);
	uftrace_ids_free(&w->event_ids);
	uftrace_edits_free(&w->task_edits);
	bytes_free(&w->task_added);
	bytes_free(&w->task_front);
	free(w->files);
	free(w->dats);
	free(w->shm);
	free(w->maps);
	free(w->modules);
	free(w->dbgs);
	free(w->tids);
	free(w->task_text);
	free(w->lines);
	free(w->sessions);
	free(w->libraries);
}

static void say_time(struct scan *s, const char *key, uint64_t ns)
{
	scan_fact(s, key, "%llu.%09llu s", (unsigned long long)(ns / 1000000000u), (unsigned long long)(ns % 1000000000u));
}

static void walk_facts(struct uftrace_walk *w)
{
	struct scan *s = w->scan;
	static const char *const features[UFTRACE_F_COUNT] = { "PLTHOOK",    "TASK_SESSION", "KERNEL",	   "ARGUMENT",
							       "RETVAL",     "SYM_REL_ADDR", "MAX_STACK",  "EVENT",
							       "PERF_EVENT", "AUTO_ARGS",    "DEBUG_INFO", "ESTIMATE_RETURN",
							       "SYM_SIZE",   "CALLSITE" };

	if (!s->facts)
		return;
	scan_fact(s, "version", "%u", w->head.version);
	scan_fact(s, "byte order", "%s-endian", w->head.big_endian ? "big" : "little");
	scan_fact(s, "word size", "%u bit", w->head.class == UFTRACE_32 ? 32 : 64);
	char shown[TEXT_QUOTE_SIZE];
	if (w->version_text.length)
		scan_fact(s, "recorder", "%s", text_quote(shown, w->version_text.text, w->version_text.length));
	if (w->exename.length)
		scan_fact(s, "program", "%s", text_quote(shown, w->exename.text, w->exename.length));
	if (w->cmdline.length)
		scan_fact(s, "command line", "%s", text_quote(shown, w->cmdline.text, w->cmdline.length));
	if (w->head.present) {
		char list[256] = "";
		for (unsigned i = 0; i < UFTRACE_F_COUNT; i++) {
			if (!(w->head.feat & UFTRACE_BIT(i)))
				continue;
			size_t n = strlen(list);
			snprintf(list + n, sizeof(list) - n, "%s%s", n ? " " : "", features[i]);
		}
		scan_fact(s, "features", "%s", list);
		scan_fact(s, "max stack depth", "%u", w->head.max_stack);
	}
	scan_fact(s, "clock", "nanoseconds of the trace clock");
	if (w->records) {
		say_time(s, "first record", w->first_time);
		say_time(s, "last record", w->last_time);
		say_time(s, "span", w->last_time - w->first_time);
	}
	if (w->elapsed)
		say_time(s, "elapsed", w->elapsed);
	scan_fact(s, "sessions", "%zu", w->session_count);
	for (size_t i = 0; i < w->session_count; i++)
		scan_fact(s, "session", "%s", text_quote(shown, w->sessions[i].exename.text, w->sessions[i].exename.length));
	scan_fact(s, "tasks", "%zu", w->dat_count);
	for (size_t i = 0; i < w->dat_count; i++) {
		const struct uftrace_dat *d = &w->dats[i];
		uint32_t line = uftrace_ids_get(&w->known, (int64_t)d->tid);
		int64_t pid = line == UFTRACE_NONE			 ? 0
			      : w->lines[line].kind == UFTRACE_LINE_TASK ? w->lines[line].parent
									 : w->lines[line].id;
		scan_fact(s, "task", "tid %llu, pid %lld, %llu records, %llu.%09llu to %llu.%09llu s", (unsigned long long)d->tid,
			  (long long)pid, (unsigned long long)d->records, (unsigned long long)(d->first_time / 1000000000u),
			  (unsigned long long)(d->first_time % 1000000000u), (unsigned long long)(d->last_time / 1000000000u),
			  (unsigned long long)(d->last_time % 1000000000u));
	}
}

/* Whether there is one record at all; nothing else is worth judging without. */
static bool walk_has_data(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->dat_count; i++)
		if (w->dats[i].has_records)
			return true;
	if (w->has_kernel && w->kernel_header != UFTRACE_NONE)
		return true;
	for (size_t i = 0; i < w->file_count; i++)
		if (w->files[i].kind == UFTRACE_FILE_SHM)
			return true;
	return false;
}

static bool walk_files(struct uftrace_walk *w)
{
	if (!uftrace_dir_walk(w) || !uftrace_info_walk(w) || !uftrace_events_walk(w) || !uftrace_dat_probe(w))
		return false;
	if (!walk_has_data(w)) {
		const struct source *s = w->info != UFTRACE_NONE ? w->files[w->info].source
					 : w->in->count		 ? w->in->sources[0]
								 : NULL;
		if (s && w->info == UFTRACE_NONE && uftrace_dir_find(w, "default.opts", 12) == UFTRACE_NONE) {
			finding_report(w->findings, UFTRACE_RULE_dir_not_uftrace, s, 0, 0,
				       "neither info, nor default.opts, nor a task file with records");
		} else if (s) {
			finding_report(w->findings, UFTRACE_RULE_dat_all_empty, s, 0, 0,
				       "no task file (<tid>.dat) has a record: %zu are there", w->dat_count);
		}
		if (w->plan)
			return uftrace_walk_fail(w, TM_NOTHING);
	}
	return uftrace_map_walk(w) && uftrace_task_walk(w) && uftrace_session_link(w) && uftrace_sym_walk(w) &&
	       uftrace_dbg_walk(w) && uftrace_sym_link(w) && uftrace_argspec_ready(w) && uftrace_shm_walk(w) &&
	       uftrace_info_tasks(w) && uftrace_dat_walk(w) && uftrace_map_check(w) && uftrace_perf_walk(w) &&
	       uftrace_kernel_walk(w) && uftrace_misc_walk(w);
}

enum tracemend_status uftrace_scan(struct scan *s)
{
	struct uftrace_walk w = { .scan = s, .in = s->in, .findings = s->findings, .plan = s->plan };

	if (walk_files(&w)) {
		uftrace_info_late(&w);
		snprintf(s->version, sizeof(s->version), "%u", w.head.version);
		s->records = w.records;
		walk_facts(&w);
		if (w.plan && w.status == TM_OK && uftrace_info_plan(&w) && uftrace_task_plan(&w))
			uftrace_dir_plan(&w);
	}
	walk_free(&w);
	if (w.status == TM_OK && s->in->error.status != TM_OK)
		return s->in->error.status;
	return w.status;
}
