/* The walk over a recording, file by file. */
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/salvage/uftrace_donor.h"
#include "formats/uftrace/salvage/uftrace_infer.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_side.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_sym.h"
#include "formats/uftrace/scan/uftrace_task.h"
#include "formats/uftrace/scan/uftrace_taskinfo.h"

static void say_time(struct scan *s, const char *key, uint64_t ns)
{
	scan_fact(s, key, "%llu.%09llu s", (unsigned long long)(ns / 1000000000u), (unsigned long long)(ns % 1000000000u));
	scan_fact_name(s, key);
	scan_fact_number(s, "ns", ns);
}

static void walk_facts(struct uftrace_walk *w)
{
	struct scan *s = w->s;
	static const char *const features[UFTRACE_F_COUNT] = { "PLTHOOK",    "TASK_SESSION", "KERNEL",	   "ARGUMENT",
							       "RETVAL",     "SYM_REL_ADDR", "MAX_STACK",  "EVENT",
							       "PERF_EVENT", "AUTO_ARGS",    "DEBUG_INFO", "ESTIMATE_RETURN",
							       "SYM_SIZE",   "CALLSITE" };

	if (!s->facts)
		return;
	scan_fact(s, "version", "%u", w->info->head.version);
	scan_fact(s, "byte order", "%s-endian", w->info->head.big_endian ? "big" : "little");
	scan_fact(s, "word size", "%u bit", w->info->head.class == UFTRACE_32 ? 32 : 64);
	char shown[TEXT_QUOTE_SIZE];
	if (w->info->version_text.length)
		scan_fact(s, "recorder", "%s", text_quote(shown, w->info->version_text.text, w->info->version_text.length));
	if (w->info->exename.length)
		scan_fact(s, "program", "%s", text_quote(shown, w->info->exename.text, w->info->exename.length));
	if (w->info->cmdline.length)
		scan_fact(s, "command line", "%s", text_quote(shown, w->info->cmdline.text, w->info->cmdline.length));
	if (w->info->head.present) {
		char list[256] = "";
		for (unsigned i = 0; i < UFTRACE_F_COUNT; i++) {
			if (!(w->info->head.feat & UFTRACE_BIT(i)))
				continue;
			size_t n = strlen(list);
			snprintf(list + n, sizeof(list) - n, "%s%s", n ? " " : "", features[i]);
		}
		scan_fact(s, "features", "%s", list);
		scan_fact(s, "max stack depth", "%u", w->info->head.max_stack);
	}
	scan_fact(s, "clock", "nanoseconds of the trace clock");
	if (w->records->count) {
		say_time(s, "first record", w->records->first_time);
		say_time(s, "last record", w->records->last_time);
		say_time(s, "span", w->records->last_time - w->records->first_time);
	}
	if (w->info->elapsed)
		say_time(s, "elapsed", w->info->elapsed);
	scan_fact(s, "sessions", "%zu", w->sessions->count);
	for (size_t i = 0; i < w->sessions->count; i++)
		scan_fact(s, "session", "%s",
			  text_quote(shown, w->sessions->list[i].exename.text, w->sessions->list[i].exename.length));
	scan_fact(s, "tasks", "%zu", w->records->dat_count);
	for (size_t i = 0; i < w->records->dat_count; i++) {
		const struct uftrace_dat *d = &w->records->dats[i];
		char counted[TEXT_COUNT_SIZE];
		int64_t pid = map_get(&w->tasks->known, d->tid) == UFTRACE_NONE ? 0 : uftrace_task_process(w->tasks, d->tid);
		scan_fact(s, "task", "tid %llu, pid %lld, %s, %llu.%09llu to %llu.%09llu s", (unsigned long long)d->tid,
			  (long long)pid, text_count(counted, d->records, "record"),
			  (unsigned long long)(d->first_time / 1000000000u), (unsigned long long)(d->first_time % 1000000000u),
			  (unsigned long long)(d->last_time / 1000000000u), (unsigned long long)(d->last_time % 1000000000u));
		scan_fact_name(s, "task");
		scan_fact_number(s, "tid", d->tid);
		if (pid >= 0)
			scan_fact_number(s, "pid", (uint64_t)pid);
		scan_fact_number(s, "records", d->records);
		scan_fact_number(s, "first_ns", d->first_time);
		scan_fact_number(s, "last_ns", d->last_time);
	}
}

/* Whether there is one record at all; nothing else is worth judging without. */
static bool walk_has_data(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->records->dat_count; i++)
		if (w->records->dats[i].has_records)
			return true;
	if (w->dir->has_kernel && w->dir->kernel_header != UFTRACE_NONE)
		return true;
	for (size_t i = 0; i < w->dir->count; i++)
		if (w->dir->files[i].kind == UFTRACE_FILE_SHM)
			return true;
	return false;
}

static void report_no_data(struct uftrace_walk *w)
{
	const struct uftrace_dir *dir = w->dir;
	bool info = dir->info != UFTRACE_NONE;

	if (!info && !w->in->count)
		return;
	const struct source *source = info ? dir->files[dir->info].source : w->in->sources[0];
	if (!info && uftrace_dir_find(dir, "default.opts") == UFTRACE_NONE)
		finding_report(w->findings, UFTRACE_RULE_dir_not_uftrace, source, 0, 0,
			       "neither info, nor default.opts, nor a task file with records");
	else
		finding_report(w->findings, UFTRACE_RULE_dat_all_empty, source, 0, 0,
			       "no task file (<tid>.dat) has a record: %zu are there", w->records->dat_count);
}

/* The files in the order in which one is needed to read the next. */
static bool walk_files(struct uftrace_walk *w)
{
	static bool (*const first[])(struct uftrace_walk *) = { uftrace_dir_walk,   uftrace_adopt_heads, uftrace_records_begin,
								uftrace_info_walk,  uftrace_events_walk, uftrace_task_walk,
								uftrace_adopt_rest, uftrace_dir_names,	 uftrace_records_probe,
								uftrace_infer_begin };
	static bool (*const then[])(struct uftrace_walk *) = {
		uftrace_map_walk,	uftrace_session_link, uftrace_donor_files,  uftrace_sym_walk,	uftrace_session_programs,
		uftrace_dbg_walk,	uftrace_sym_link,     uftrace_shm_walk,	    uftrace_infer_walk, uftrace_map_write,
		uftrace_taskinfo_check, uftrace_records_walk, uftrace_rebuild_exec, uftrace_map_check,	uftrace_perf_walk,
		uftrace_kernel_walk,	uftrace_misc_walk,    uftrace_feat_check,
	};

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (!first[i](w))
			return false;
	if (!walk_has_data(w)) {
		report_no_data(w);
		if (w->plan && !uftrace_records_lost(w))
			return uftrace_walk_fail(w, TM_NOTHING);
	}
	for (size_t i = 0; i < sizeof(then) / sizeof(then[0]); i++)
		if (!then[i](w))
			return false;
	return true;
}

/* Of a recorder that died, what it had not saved yet is in shared memory until the machine is restarted. */
static void walk_advise(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->in->count; i++)
		if (w->in->sources[i]->role == TM_ROLE_EXTRA)
			return;
	for (size_t i = 0; w->info->recorder_died && i < w->sessions->count; i++) {
		const struct uftrace_session *session = &w->sessions->list[i];
		struct uftrace_str sid = session->sid;
		uint64_t value;
		char path[64];
		if (sid.length != 16 || !text_parse_hex(sid.text, sid.length, &value))
			continue;
		if (!value && session->line == UFTRACE_NONE)
			continue; /* it was made up */
		(void)snprintf(path, sizeof(path), "/dev/shm/uftrace-%.16s-*", sid.text);
		scan_advise(w->s, TM_ROLE_EXTRA, path,
			    "What the recorder had not saved may still be in shared memory of the machine that recorded, "
			    "until it is restarted");
		scan_fact(w->s, "unsaved records", "%s", path);
	}
}

enum tracemend_status uftrace_scan(struct scan *s)
{
	struct uftrace_dir dir = { 0 };
	struct uftrace_info info = { 0 };
	struct uftrace_taskinfo taskinfo = { 0 };
	struct uftrace_tasks tasks = { 0 };
	struct uftrace_sessions sessions = { 0 };
	struct uftrace_maps maps = { 0 };
	struct uftrace_symbols symbols = { 0 };
	struct uftrace_specs specs = { 0 };
	struct uftrace_records records = { 0 };
	struct uftrace_infer infer = { 0 };
	struct uftrace_walk w = { .s = s,
				  .in = s->in,
				  .findings = s->findings,
				  .plan = s->plan,
				  .dir = &dir,
				  .info = &info,
				  .taskinfo = &taskinfo,
				  .tasks = &tasks,
				  .sessions = &sessions,
				  .maps = &maps,
				  .symbols = &symbols,
				  .specs = &specs,
				  .records = &records,
				  .infer = &infer };

	if (w.plan)
		plan_keep_doubts(w.plan);
	bool walked = walk_files(&w);
	if (walked) {
		snprintf(s->version, sizeof(s->version), "%u", info.head.version);
		s->records = records.count;
		s->fast = records.fast;
		walk_facts(&w);
		if (w.plan && w.status == TM_OK && uftrace_repair_info(&w) && uftrace_repair_tasks(&w)) {
			uftrace_infer_write(&w);
			uftrace_repair_files(&w);
			if (plan_doubtful_count(w.plan))
				plan_lost_other(w.plan); /* what is in doubt may be wrong */
		}
	}
	walk_advise(&w);
	uftrace_dir_free(&dir);
	uftrace_info_free(&info);
	uftrace_taskinfo_free(&taskinfo);
	uftrace_task_free(&tasks);
	uftrace_session_free(&sessions);
	uftrace_map_free(&maps);
	uftrace_sym_free(&symbols);
	uftrace_spec_free(&specs);
	uftrace_records_free(&records);
	uftrace_infer_free(&infer);
	if (w.status == TM_OK && s->in->error.status != TM_OK)
		return s->in->error.status;
	return w.status;
}
