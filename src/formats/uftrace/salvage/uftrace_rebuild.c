/* Lines of task.txt that are missing, made from the records and the maps. */
#include <string.h>

#include "core/text.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/scan/uftrace_taskinfo.h"

#define ORPHANS_MAX 64u /* maps without a session, and sessions, that are looked into for an address */

/* The task with the oldest record, or NULL. */
static const struct uftrace_dat *oldest_task(const struct uftrace_walk *w)
{
	const struct uftrace_dat *best = NULL;

	for (size_t i = 0; i < w->records->dat_count; i++)
		if (w->records->dats[i].has_records && (!best || w->records->dats[i].first_time < best->first_time))
			best = &w->records->dats[i];
	return best;
}

static void print_time(struct bytes *b, uint64_t ns)
{
	bytes_printf(b, "%llu.%09llu", (unsigned long long)(ns / 1000000000u), (unsigned long long)(ns % 1000000000u));
}

void uftrace_rebuild_print(struct bytes *b, const struct uftrace_session *session)
{
	bytes_text(b, "SESS timestamp=");
	print_time(b, session->time);
	bytes_printf(b, " pid=%lld sid=", (long long)session->pid);
	bytes_append(b, session->sid.text, session->sid.length);
	bytes_text(b, " exename=\"");
	bytes_append(b, session->exename.text, session->exename.length);
	bytes_text(b, "\"\n");
}

static bool sid_is_regular(const struct uftrace_file *f)
{
	size_t n = 0;
	while (n < f->name.sid_length && strchr("0123456789abcdef", f->name.sid[n]))
		n++;
	return n == UFTRACE_SID_LENGTH && n == f->name.sid_length;
}

/* Whether the map has the program that the recorder was started with. */
static bool has_program(const struct uftrace_walk *w, const struct uftrace_map *map)
{
	for (size_t k = 0; w->info->exename.length && k < map->count; k++)
		if (uftrace_str_equal(map->list[k].path, w->info->exename))
			return true;
	return false;
}

/* A map for a session that has to be made: one that has the oldest record's address, and the program. */
static uint32_t choose_map(const struct uftrace_walk *w, const struct uftrace_dat *oldest)
{
	uint32_t best = UFTRACE_NONE;
	unsigned most = 0;

	for (uint32_t i = 0; i < w->maps->count; i++) {
		const struct uftrace_map *map = &w->maps->list[i];
		if (!sid_is_regular(&w->dir->files[map->file]))
			continue;
		const bool mapped = oldest && uftrace_map_find(map, oldest->first_address);
		const unsigned fits = 1u + (mapped ? 2u : 0u) + (has_program(w, map) ? 1u : 0u);
		if (fits > most)
			best = i;
		most = fits > most ? fits : most;
	}
	return best;
}

bool uftrace_rebuild_session(struct uftrace_walk *w)
{
	const struct uftrace_dat *oldest = oldest_task(w);
	struct uftrace_session session = { .line = UFTRACE_NONE, .map = UFTRACE_NONE, .before = UFTRACE_NONE };

	session.time = oldest ? oldest->first_time : 2;
	session.pid = oldest ? (int64_t)oldest->tid : 1;
	for (size_t i = 0; i < w->tasks->count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[i];
		if (line->kind == UFTRACE_LINE_TASK && line->id == session.pid && oldest)
			session.pid = line->parent;
		if (line->time < session.time)
			session.time = line->time;
	}
	session.time -= session.time > 2 ? 2 : 0;
	uint32_t map = choose_map(w, oldest);
	session.sid = (struct uftrace_str){ "0000000000000000", UFTRACE_SID_LENGTH };
	session.exename = (struct uftrace_str){ "unknown", 7 };
	if (map != UFTRACE_NONE) {
		const struct uftrace_file *f = &w->dir->files[w->maps->list[map].file];
		session.sid = (struct uftrace_str){ f->name.sid, f->name.sid_length };
		if (w->maps->list[map].count && w->maps->list[map].list[0].path.text[0] != '[')
			session.exename = w->maps->list[map].list[0].path;
	} else {
		for (size_t i = 0; i < w->dir->count; i++)
			if (w->dir->files[i].kind == UFTRACE_FILE_MAP_TMP && sid_is_regular(&w->dir->files[i]))
				session.sid = (struct uftrace_str){ w->dir->files[i].name.sid, w->dir->files[i].name.sid_length };
	}
	if (!uftrace_walk_room(w, &w->sessions->list, &w->sessions->capacity, w->sessions->count, sizeof(*w->sessions->list)))
		return false;
	w->sessions->list[w->sessions->count++] = session;
	if (w->plan)
		uftrace_rebuild_print(&w->tasks->front, &session);
	return true;
}

/* The session that maps the first address of the task, of those that had begun by `time`; UFTRACE_NONE. */
static uint32_t session_of_address(const struct uftrace_walk *w, const struct uftrace_dat *dat, uint64_t time)
{
	for (uint32_t i = 0; i < w->sessions->count && i < ORPHANS_MAX && dat->first_time; i++) {
		const struct uftrace_session *session = &w->sessions->list[i];
		uint32_t map = session->time <= time ? uftrace_map_of(w, session->sid) : UFTRACE_NONE;
		if (map != UFTRACE_NONE && uftrace_map_find(&w->maps->list[map], dat->first_address))
			return i;
	}
	return UFTRACE_NONE;
}

size_t uftrace_rebuild_maps_left(struct uftrace_walk *w, uint32_t *list, size_t most)
{
	struct map sids = { 0 };
	size_t count = 0;
	bool good = true;

	for (uint32_t i = 0; good && i < w->sessions->count; i++) {
		struct uftrace_str sid = w->sessions->list[i].sid;
		good = uftrace_walk_set(w, &sids, (int64_t)text_hash(sid.text, sid.length), i);
	}
	for (uint32_t i = 0; good && i < w->maps->count && count < most; i++) {
		const struct uftrace_file *f = &w->dir->files[w->maps->list[i].file];
		if (sid_is_regular(f) && map_get(&sids, text_hash(f->name.sid, f->name.sid_length)) == UFTRACE_NONE)
			list[count++] = i;
	}
	map_free(&sids);
	return count;
}

/* Whether no session is known for the task: no list has it, and no session maps its first address; or the line of its session may
 * be one of those that are damaged. */
static bool wants_session(const struct uftrace_walk *w, const struct uftrace_dat *dat)
{
	if (!dat->first_time)
		return false;
	if (map_get(&w->tasks->known, dat->tid) == UFTRACE_NONE)
		return map_get(&w->taskinfo->listed, dat->tid) == UFTRACE_NONE &&
		       session_of_address(w, dat, dat->first_time) == UFTRACE_NONE;
	return w->tasks->damage &&
	       uftrace_session_at(w->sessions, w->tasks, uftrace_task_process(w->tasks, dat->tid), dat->first_time) == UFTRACE_NONE;
}

/* One that repair adds. */
static struct uftrace_session session_of_map(const struct uftrace_walk *w, uint32_t map)
{
	const struct uftrace_map *m = &w->maps->list[map];
	const struct uftrace_file *f = &w->dir->files[m->file];

	return (struct uftrace_session){
		.sid = { f->name.sid, f->name.sid_length },
		.exename = m->list[0].path.text[0] == '[' ? (struct uftrace_str){ "unknown", 7 } : m->list[0].path,
		.line = UFTRACE_NONE,
		.map = UFTRACE_NONE,
		.before = UFTRACE_NONE,
	};
}

/* A session of the process, whose first record is the oldest that has an address of the map. */
static bool add_orphan(struct uftrace_walk *w, uint32_t map, const struct uftrace_dat *dat)
{
	uint32_t known = map_get(&w->tasks->known_first, dat->tid);
	struct uftrace_session session = session_of_map(w, map);

	session.pid = known == UFTRACE_NONE ? (int64_t)dat->tid : uftrace_task_process(w->tasks, dat->tid);
	session.time = dat->first_time > 2 ? dat->first_time - 2 : dat->first_time;
	if (known != UFTRACE_NONE && w->tasks->lines[known].time < session.time)
		session.time = w->tasks->lines[known].time;
	if (!uftrace_walk_room(w, &w->sessions->list, &w->sessions->capacity, w->sessions->count, sizeof(session)))
		return false;
	w->sessions->list[w->sessions->count++] = session;
	if (w->plan)
		uftrace_rebuild_print(known == UFTRACE_NONE ? &w->tasks->added : &w->tasks->front, &session);
	if (!w->tasks->rule)
		w->tasks->rule = known == UFTRACE_NONE ? UFTRACE_RULE_dat_unreferenced : UFTRACE_RULE_task_line_malformed;
	return true;
}

bool uftrace_rebuild_orphans(struct uftrace_walk *w)
{
	uint32_t maps[ORPHANS_MAX];
	const struct uftrace_dat *oldest[ORPHANS_MAX] = { 0 };
	size_t count = uftrace_rebuild_maps_left(w, maps, ORPHANS_MAX);

	if (!count)
		return w->status == TM_OK;
	for (size_t i = 0; i < w->records->dat_count; i++) {
		const struct uftrace_dat *dat = &w->records->dats[i];
		if (!wants_session(w, dat))
			continue;
		size_t k = 0;
		while (k < count && !uftrace_map_find(&w->maps->list[maps[k]], dat->first_address))
			k++;
		if (k < count && (!oldest[k] || dat->first_time < oldest[k]->first_time))
			oldest[k] = dat;
	}
	for (size_t k = 0; k < count; k++)
		if (oldest[k] && !add_orphan(w, maps[k], oldest[k]))
			return false;
	return true;
}

uint32_t uftrace_rebuild_first_session(struct uftrace_walk *w, const struct uftrace_dat *dat)
{
	if (map_get(&w->tasks->known, dat->tid) == UFTRACE_NONE)
		return session_of_address(w, dat, dat->first_time);
	const int64_t process = uftrace_task_process(w->tasks, dat->tid);
	return process == (int64_t)dat->tid ? uftrace_session_at(w->sessions, w->tasks, process, dat->first_time) : UFTRACE_NONE;
}

/* A process line of that time. */
static void print_process(struct bytes *out, uint64_t time, int64_t pid)
{
	bytes_text(out, "TASK timestamp=");
	print_time(out, time);
	bytes_printf(out, " tid=%lld pid=%lld\n", (long long)pid, (long long)pid);
}

static void print_program(struct bytes *out, const struct uftrace_session *session)
{
	uftrace_rebuild_print(out, session);
	print_process(out, session->time, session->pid);
}

bool uftrace_rebuild_program(struct uftrace_walk *w, uint32_t map, const struct uftrace_dat *dat, uint64_t at, uint64_t time)
{
	struct uftrace_session session = session_of_map(w, map);

	session.pid = (int64_t)dat->tid;
	session.time = time;
	session.exec = true;
	if (!w->tasks->damage) {
		char shown[TEXT_QUOTE_SIZE];
		struct finding *fd = finding_report(
			w->findings, UFTRACE_RULE_dat_unreferenced, w->dir->files[dat->file].source, at, UFTRACE_RECORD_SIZE,
			"task %llu began another program, '%s', and task.txt has no session of it: readers "
			"find no function of its calls",
			(unsigned long long)dat->tid, text_quote(shown, session.exename.text, session.exename.length));
		finding_path(fd, "task %llu", (unsigned long long)dat->tid);
		finding_field(fd, uftrace_word_at(w, at, 2, 6), 6, "address, of the other program");
	}
	if (w->plan)
		plan_lost_other(w->plan); /* when it began */
	if (!uftrace_walk_room(w, &w->sessions->list, &w->sessions->capacity, w->sessions->count, sizeof(session)))
		return false;
	w->sessions->list[w->sessions->count++] = session;
	/* Behind the line of its task, which uftrace_rebuild_task() writes where there is none. */
	if (w->plan && map_get(&w->tasks->known, dat->tid) != UFTRACE_NONE)
		print_program(&w->tasks->added, &session);
	if (!w->tasks->rule)
		w->tasks->rule = w->tasks->damage ? UFTRACE_RULE_task_line_malformed : UFTRACE_RULE_dat_unreferenced;
	return true;
}

bool uftrace_rebuild_task(struct uftrace_walk *w, struct uftrace_dat *dat)
{
	struct uftrace_task_line line = { .kind = UFTRACE_LINE_TASK, .id = (int64_t)dat->tid, .session = UFTRACE_NONE };
	uint32_t session = UFTRACE_NONE;

	for (uint32_t i = 0; i < w->sessions->count; i++)
		if (w->sessions->list[i].pid == line.id && !w->sessions->list[i].exec)
			session = i;
	if (session == UFTRACE_NONE)
		session = session_of_address(w, dat, dat->first_time);
	if (session == UFTRACE_NONE)
		session = session_of_address(w, dat, UINT64_MAX);
	if (session == UFTRACE_NONE)
		session = 0;
	line.parent = w->sessions->count ? w->sessions->list[session].pid : line.id;
	if (uftrace_session_leads(w->sessions, w->tasks, line.parent, line.id))
		line.parent = line.id; /* its children are known: it is a process of its own */
	line.time = dat->first_time ? dat->first_time - 1 : 0;
	if (w->sessions->count && line.time < w->sessions->list[session].time)
		line.time = w->sessions->list[session].time;
	/* The first thing that a forked child does is to return from fork. */
	if (dat->has_records && dat->first_type == UFTRACE_EXIT && line.parent != line.id)
		line.kind = UFTRACE_LINE_FORK;
	if (!uftrace_walk_room(w, &w->tasks->lines, &w->tasks->capacity, w->tasks->count, sizeof(*w->tasks->lines)))
		return false;
	line.order = (uint32_t)w->tasks->count;
	w->tasks->lines[w->tasks->count++] = line;
	if (w->plan) {
		bool fork = line.kind == UFTRACE_LINE_FORK;
		plan_lost_other(w->plan); /* when it began */
		bytes_text(&w->tasks->added, fork ? "FORK timestamp=" : "TASK timestamp=");
		print_time(&w->tasks->added, line.time);
		bytes_printf(&w->tasks->added, fork ? " pid=%lld ppid=%lld\n" : " tid=%lld pid=%lld\n", (long long)line.id,
			     (long long)line.parent);
		for (size_t i = 0; i < w->sessions->count; i++)
			if (w->sessions->list[i].exec && w->sessions->list[i].pid == line.id)
				print_program(&w->tasks->added, &w->sessions->list[i]);
	}
	if (!w->tasks->rule)
		w->tasks->rule = UFTRACE_RULE_dat_unreferenced;
	if (line.kind == UFTRACE_LINE_FORK && !uftrace_walk_set(w, &w->tasks->parents, line.id, line.order))
		return false;
	return uftrace_walk_set(w, &w->tasks->known, line.id, line.order) &&
	       uftrace_walk_set(w, &w->tasks->known_first, line.id, line.order);
}

/* The digits of the time in a line: *from it, how many. 0: none. */
static size_t time_of_line(const struct uftrace_walk *w, const struct uftrace_task_line *line, size_t *from)
{
	static const char key[] = "timestamp=";
	const char *text = w->tasks->text + line->offset, *found = memmem(text, line->text, key, sizeof(key) - 1);
	size_t length = 0;

	*from = found ? (size_t)(found - text) + sizeof(key) - 1 : 0;
	while (found && *from + length < line->text && strchr("0123456789.", text[*from + length]))
		length++;
	return length;
}

bool uftrace_rebuild_fork_time(struct uftrace_walk *w, struct uftrace_task_line *line, uint64_t time)
{
	size_t from, length = line->verbatim ? time_of_line(w, line, &from) : 0;
	struct bytes b = { 0 };

	if (!length)
		return true;
	line->time = time;
	line->verbatim = false;
	if (!w->plan)
		return true;
	print_time(&b, time);
	bool failed = b.failed;
	if (!failed)
		uftrace_edit_add(w, &w->tasks->edits, line->offset + from, length, (const char *)b.data, b.size,
				 UFTRACE_RULE_task_sess_after_task, "the time at which the session of its parent begins");
	bytes_free(&b);
	plan_lost_other(w->plan);
	return !failed || uftrace_walk_fail(w, TM_NO_MEMORY);
}

bool uftrace_rebuild_task_time(struct uftrace_walk *w, uint64_t tid, struct source *source, uint64_t at, uint64_t time)
{
	uint32_t first = map_get(&w->tasks->known_first, tid);
	struct uftrace_task_line *line = first != UFTRACE_NONE ? &w->tasks->lines[first] : NULL;

	if (!line || !line->verbatim)
		return false;
	/* A fork before the session of its parent would be moved back to it. */
	if (line->kind == UFTRACE_LINE_FORK && !w->info->foreign &&
	    uftrace_session_at(w->sessions, w->tasks, line->parent, time) == UFTRACE_NONE &&
	    uftrace_session_at(w->sessions, w->tasks, line->parent, line->time) != UFTRACE_NONE)
		return false;
	const char *text = w->tasks->text + line->offset;
	size_t from, length = time_of_line(w, line, &from);
	if (!length)
		return false;
	struct finding *fd = finding_report(w->findings, UFTRACE_RULE_dat_time_before_task, source, at, UFTRACE_RECORD_SIZE,
					    "the records begin at %llu ns, and task.txt begins the task at %llu ns",
					    (unsigned long long)time, (unsigned long long)line->time);
	finding_field(fd, at, 8, "time = %llu", (unsigned long long)time);
	/* The line may be that of a program which the process began later. */
	bool own = uftrace_session_at(w->sessions, w->tasks, line->parent, time) ==
		   uftrace_session_at(w->sessions, w->tasks, line->parent, line->time);
	line->time = time;
	if (!w->plan)
		return true;
	struct bytes b = { 0 };
	if (!own)
		bytes_append(&b, text, from);
	print_time(&b, time);
	if (!own) {
		bytes_append(&b, text + from + length, line->text - from - length);
		bytes_text(&b, "\n");
	}
	bool failed = b.failed;
	if (!failed && own)
		uftrace_edit_add(w, &w->tasks->edits, line->offset + from, length, (const char *)b.data, b.size,
				 UFTRACE_RULE_dat_time_before_task, "the time of its first record");
	else if (!failed)
		uftrace_edit_add(w, &w->tasks->edits, line->offset, 0, (const char *)b.data, b.size,
				 UFTRACE_RULE_dat_time_before_task, "the task, from its first record on");
	bytes_free(&b);
	plan_lost_other(w->plan);
	return !failed || uftrace_walk_fail(w, TM_NO_MEMORY);
}

bool uftrace_rebuild_exec(struct uftrace_walk *w)
{
	struct uftrace_sessions *sessions = w->sessions;

	if (w->info->foreign || w->tasks->legacy_text)
		return true;
	for (size_t i = 0; i < w->tasks->count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[i];
		if (line->kind != UFTRACE_LINE_TASK && line->kind != UFTRACE_LINE_FORK)
			continue;
		uint32_t session = uftrace_session_at(sessions, w->tasks, line->id, line->time);
		if (session != UFTRACE_NONE)
			sessions->list[session].begun = true;
	}
	for (size_t i = 0; i < sessions->count; i++) {
		const struct uftrace_session *s = &sessions->list[i];
		uint32_t first = map_get(&w->tasks->known_first, (uint64_t)s->pid);
		bool earlier = first != UFTRACE_NONE && w->tasks->lines[first].time < s->time;
		if (s->begun || !s->used || !earlier || s->line == UFTRACE_NONE || s->brought)
			continue;
		const struct uftrace_task_line *own = &w->tasks->lines[s->line];
		if (w->tasks->damage)
			finding_explains(w->tasks->damage, 1);
		else
			w->tasks->damage = finding_report(w->findings, UFTRACE_RULE_dat_unreferenced, uftrace_task_source(w),
							  own->offset, own->length,
							  "process %lld has records in this session, and no TASK line in it: "
							  "readers find no function of them",
							  (long long)s->pid);
		if (!w->plan)
			continue;
		plan_lost_other(w->plan);
		struct bytes b = { 0 };
		print_process(&b, s->time, s->pid);
		bool failed = b.failed;
		if (!failed)
			uftrace_edit_add(w, &w->tasks->edits, own->offset + own->length, 0, (const char *)b.data, b.size,
					 UFTRACE_RULE_task_line_malformed, "the process, in the session that it began");
		bytes_free(&b);
		if (failed)
			return uftrace_walk_fail(w, TM_NO_MEMORY);
	}
	return true;
}
