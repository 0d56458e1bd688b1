/* task.txt: what its lines mean together. Sessions, parents, loaded libraries, and the maps they need. */
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_walk.h"

/* Steps along chains of sessions or parents, over the whole walk. A capture beyond it is not judged further in this. */
#define CHAIN_WORK_MAX (16u * 1024 * 1024)
/* Parents that a session is looked for in. */
#define PARENTS_MAX 64u

static struct source *task_source(struct uftrace_walk *w)
{
	uint32_t file = w->task_txt != UFTRACE_NONE ? w->task_txt : w->task_legacy;
	return file != UFTRACE_NONE	 ? w->files[file].source
	       : w->info != UFTRACE_NONE ? w->files[w->info].source
					 : w->in->sources[0];
}

static uint32_t own_session(struct uftrace_walk *w, int64_t pid, uint64_t time)
{
	uint32_t best = UFTRACE_NONE;

	for (uint32_t i = uftrace_ids_get(&w->pid_session, pid); i != UFTRACE_NONE && w->work < CHAIN_WORK_MAX;
	     i = w->sessions[i].before) {
		w->work++;
		if (w->sessions[i].time <= time && (best == UFTRACE_NONE || w->sessions[i].time > w->sessions[best].time))
			best = i;
	}
	return best;
}

uint32_t uftrace_session_at(struct uftrace_walk *w, int64_t pid, uint64_t time)
{
	for (unsigned depth = 0; depth < PARENTS_MAX; depth++) {
		uint32_t found = own_session(w, pid, time);
		if (found != UFTRACE_NONE)
			return found;
		uint32_t line = uftrace_ids_get(&w->parents, pid);
		if (line == UFTRACE_NONE || w->lines[line].parent == pid)
			return UFTRACE_NONE;
		pid = w->lines[line].parent;
	}
	return UFTRACE_NONE;
}

uint64_t uftrace_session_next(struct uftrace_walk *w, int64_t pid, uint64_t time)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = uftrace_ids_get(&w->pid_session, pid); i != UFTRACE_NONE && w->work < CHAIN_WORK_MAX;
	     i = w->sessions[i].before) {
		w->work++;
		if (w->sessions[i].time > time && w->sessions[i].time < next)
			next = w->sessions[i].time;
	}
	return next;
}

static bool set_id(struct uftrace_walk *w, struct uftrace_ids *ids, int64_t key, uint32_t value)
{
	return uftrace_ids_set(ids, key, value) || uftrace_walk_fail(w, TM_NO_MEMORY);
}

static int64_t sid_key(struct uftrace_str sid)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < sid.length; i++)
		hash = (hash ^ (uint8_t)sid.text[i]) * UINT64_C(0x100000001b3);
	return (int64_t)hash;
}

static bool link_session(struct uftrace_walk *w, struct uftrace_ids *by_sid, uint32_t index)
{
	struct uftrace_session *session = &w->sessions[index];

	if (session->linked)
		return true;
	session->linked = true;
	session->before = uftrace_ids_get(&w->pid_session, session->pid);
	return set_id(w, &w->pid_session, session->pid, index) &&
	       (uftrace_ids_get(by_sid, sid_key(session->sid)) != UFTRACE_NONE || set_id(w, by_sid, sid_key(session->sid), index));
}

/* ---- what is missing is made from the records ---- */

/* The task with the oldest record, or NULL. */
static const struct uftrace_dat *leader(const struct uftrace_walk *w)
{
	const struct uftrace_dat *best = NULL;

	for (size_t i = 0; i < w->dat_count; i++)
		if (w->dats[i].has_records && (!best || w->dats[i].first_time < best->first_time))
			best = &w->dats[i];
	return best;
}

static void print_time(struct bytes *b, uint64_t ns)
{
	bytes_printf(b, "%llu.%09llu", (unsigned long long)(ns / 1000000000u), (unsigned long long)(ns % 1000000000u));
}

static void print_session(struct bytes *b, const struct uftrace_session *session)
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
	while (n < f->sid_length && strchr("0123456789abcdef", f->sid[n]))
		n++;
	return n == UFTRACE_SID_LENGTH && n == f->sid_length;
}

/* A map for a session that has to be made: that of the oldest record's address, or the first. */
static uint32_t choose_map(const struct uftrace_walk *w, const struct uftrace_dat *oldest)
{
	uint32_t first = UFTRACE_NONE;

	for (size_t i = 0; i < w->map_count; i++) {
		if (!sid_is_regular(&w->files[w->maps[i].file]))
			continue;
		if (oldest && uftrace_map_find(&w->maps[i], oldest->first_address))
			return (uint32_t)i;
		if (first == UFTRACE_NONE)
			first = (uint32_t)i;
	}
	return first;
}

static bool add_missing_session(struct uftrace_walk *w)
{
	const struct uftrace_dat *oldest = leader(w);
	struct uftrace_session session = { .line = UFTRACE_NONE, .map = UFTRACE_NONE, .before = UFTRACE_NONE };

	session.time = oldest ? oldest->first_time : 2;
	session.pid = oldest ? (int64_t)oldest->tid : 1;
	for (size_t i = 0; i < w->line_count; i++) {
		const struct uftrace_task_line *line = &w->lines[i];
		if (line->kind == UFTRACE_LINE_TASK && line->id == session.pid && oldest)
			session.pid = line->parent;
		if (line->time < session.time && line->time)
			session.time = line->time;
	}
	session.time -= session.time > 2 ? 2 : 0;
	uint32_t map = choose_map(w, oldest);
	session.sid = (struct uftrace_str){ "0000000000000000", UFTRACE_SID_LENGTH };
	session.exename = (struct uftrace_str){ "unknown", 7 };
	if (map != UFTRACE_NONE) {
		const struct uftrace_file *f = &w->files[w->maps[map].file];
		session.sid = (struct uftrace_str){ f->sid, f->sid_length };
		if (w->maps[map].count && w->maps[map].list[0].path.text[0] != '[')
			session.exename = w->maps[map].list[0].path;
	} else {
		for (size_t i = 0; i < w->file_count; i++)
			if (w->files[i].kind == UFTRACE_FILE_MAP_TMP && sid_is_regular(&w->files[i]))
				session.sid = (struct uftrace_str){ w->files[i].sid, w->files[i].sid_length };
	}
	struct uftrace_session *list = uftrace_grow(w, w->sessions, &w->session_capacity, w->session_count, sizeof(*list));
	if (!list)
		return false;
	w->sessions = list;
	list[w->session_count++] = session;
	if (w->plan)
		print_session(&w->task_front, &session);
	return true;
}

/* The parent of a process, or the process of a task; the id itself when it has neither. */
static int64_t parent_of(const struct uftrace_walk *w, int64_t id)
{
	uint32_t line = uftrace_ids_get(&w->parents, id);

	if (line == UFTRACE_NONE)
		line = uftrace_ids_get(&w->known, id);
	return line == UFTRACE_NONE ? id : w->lines[line].parent;
}

/* True when following the parents of `from` leads to `target`. */
static bool leads_to(struct uftrace_walk *w, int64_t from, int64_t target)
{
	for (int64_t next = parent_of(w, from); next != from && w->work < CHAIN_WORK_MAX; next = parent_of(w, from)) {
		w->work++;
		from = next;
		if (from == target)
			return true;
	}
	return false;
}

bool uftrace_task_add(struct uftrace_walk *w, struct uftrace_dat *dat)
{
	struct uftrace_task_line line = { .kind = UFTRACE_LINE_TASK, .id = (int64_t)dat->tid, .session = UFTRACE_NONE };
	uint32_t session = 0;

	for (uint32_t i = 0; i < w->session_count; i++)
		if (w->sessions[i].pid == line.id)
			session = i;
	line.parent = w->session_count ? w->sessions[session].pid : line.id;
	if (leads_to(w, line.parent, line.id))
		line.parent = line.id; /* its children are known: it is a process of its own */
	line.time = dat->first_time ? dat->first_time - 1 : 0;
	if (w->session_count && line.time < w->sessions[session].time)
		line.time = w->sessions[session].time;
	/* The first thing that a forked child does is to return from fork. */
	if (dat->has_records && dat->first_type == UFTRACE_EXIT && line.parent != line.id)
		line.kind = UFTRACE_LINE_FORK;
	struct uftrace_task_line *lines = uftrace_grow(w, w->lines, &w->line_capacity, w->line_count, sizeof(*lines));
	if (!lines)
		return false;
	w->lines = lines;
	line.order = (uint32_t)w->line_count;
	lines[w->line_count++] = line;
	if (w->plan) {
		bool fork = line.kind == UFTRACE_LINE_FORK;
		bytes_text(&w->task_added, fork ? "FORK timestamp=" : "TASK timestamp=");
		print_time(&w->task_added, line.time);
		bytes_printf(&w->task_added, fork ? " pid=%lld ppid=%lld\n" : " tid=%lld pid=%lld\n", (long long)line.id,
			     (long long)line.parent);
	}
	if (!w->task_rule)
		w->task_rule = UFTRACE_RULE_dat_unreferenced;
	if (line.kind == UFTRACE_LINE_FORK && !set_id(w, &w->parents, line.id, line.order))
		return false;
	return set_id(w, &w->known, line.id, line.order) && set_id(w, &w->known_first, line.id, line.order);
}

static bool check_present(struct uftrace_walk *w)
{
	struct finding *fd;

	if (w->session_count)
		return true;
	if (w->task_txt == UFTRACE_NONE && !w->line_count) {
		w->task_rule = w->irregular_task ? UFTRACE_RULE_non_regular_file : UFTRACE_RULE_task_missing;
		if (w->task_damage || w->irregular_task) {
			if (w->task_damage)
				finding_explains(w->task_damage, 1);
		} else {
			fd = finding_report(
				w->findings, UFTRACE_RULE_task_missing, task_source(w), 0, 0,
				"the file task.txt, which says what process a task belongs to and which map holds, is missing");
			w->task_damage = fd;
		}
	} else {
		w->task_rule = UFTRACE_RULE_task_no_session;
		if (w->task_damage) {
			finding_explains(w->task_damage, 1);
		} else {
			fd = finding_report(w->findings, UFTRACE_RULE_task_no_session, task_source(w), 0, 0,
					    "task.txt has %zu lines, and none of them is a session (SESS)", w->line_count);
			w->task_damage = fd;
		}
	}
	if (w->plan)
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	return add_missing_session(w);
}

/* ---- the lines in their order ---- */

struct link {
	struct uftrace_ids by_sid;	 /* of sessions met so far */
	struct uftrace_ids all_sids;	 /* of all */
	struct uftrace_ids pids;	 /* everything that is a process or task anywhere */
	struct uftrace_ids first_of_pid; /* pid -> its first session in the file */
	bool disorder;
};

static bool link_prepare(struct uftrace_walk *w, struct link *l)
{
	for (uint32_t i = 0; i < w->session_count; i++) {
		struct uftrace_session *session = &w->sessions[i];
		if (uftrace_ids_get(&l->first_of_pid, session->pid) == UFTRACE_NONE &&
		    !set_id(w, &l->first_of_pid, session->pid, i))
			return false;
		if (uftrace_ids_get(&l->all_sids, sid_key(session->sid)) == UFTRACE_NONE) {
			if (!set_id(w, &l->all_sids, sid_key(session->sid), i))
				return false;
		} else if (!w->foreign && session->line != UFTRACE_NONE) {
			const struct uftrace_task_line *line = &w->lines[session->line];
			finding_report(w->findings, UFTRACE_RULE_task_duplicate_sid, task_source(w), line->offset, line->length,
				       "another session has the id %.*s too", (int)session->sid.length, session->sid.text);
		}
		if (!set_id(w, &l->pids, session->pid, i) || (session->line == UFTRACE_NONE && !link_session(w, &l->by_sid, i)))
			return false;
	}
	for (size_t i = 0; i < w->line_count; i++) {
		const struct uftrace_task_line *line = &w->lines[i];
		if ((line->kind == UFTRACE_LINE_TASK || line->kind == UFTRACE_LINE_FORK) && !set_id(w, &l->pids, line->id, 0))
			return false;
		if (line->kind == UFTRACE_LINE_TASK && !set_id(w, &l->pids, line->parent, 0))
			return false;
	}
	return true;
}

/* The session of this process comes later in the file, or begins later: it is brought in front. */
static bool bring_session(struct uftrace_walk *w, struct link *l, uint32_t index, const struct uftrace_task_line *line)
{
	struct uftrace_session *session = &w->sessions[index];
	const struct uftrace_task_line *own = session->line != UFTRACE_NONE ? &w->lines[session->line] : NULL;
	bool later = own && own->order > line->order, young = session->time > line->time;
	struct finding *fd = finding_report(w->findings, UFTRACE_RULE_task_sess_after_task, task_source(w), line->offset,
					    line->length,
					    later ? "task %lld begins before the line of the session of its process %lld"
						  : "task %lld begins before the session of its process %lld does",
					    (long long)line->id, (long long)line->parent);
	finding_path(fd, "line %u", line->order + 1);
	if (young)
		session->time = line->time;
	if (own && w->plan) {
		struct bytes text = { 0 };
		print_session(&text, session);
		if (text.failed) {
			bytes_free(&text);
			return uftrace_walk_fail(w, TM_NO_MEMORY);
		}
		if (young && w->plan)
			plan_doubt(w->plan, task_source(w), line->offset, line->length, "the time of its session is estimated");
		if (!young && own->verbatim)
			uftrace_edit_move(w, &w->task_edits, own->offset, own->length, line->offset,
					  UFTRACE_RULE_task_sess_after_task);
		else if (later) {
			uftrace_edit_add(w, &w->task_edits, line->offset, 0, (const char *)text.data, text.size,
					 UFTRACE_RULE_task_sess_after_task, "the session, at the time of its first task");
			uftrace_edit_add(w, &w->task_edits, own->offset, own->length, NULL, 0, UFTRACE_RULE_task_sess_after_task,
					 "moved in front of its first task");
		} else {
			uftrace_edit_add(w, &w->task_edits, own->offset, own->length, (const char *)text.data, text.size,
					 UFTRACE_RULE_task_sess_after_task, "the session, at the time of its first task");
		}
		bytes_free(&text);
	}
	return link_session(w, &l->by_sid, index);
}

static void drop_circle(struct uftrace_walk *w, const struct uftrace_task_line *line)
{
	struct finding *fd =
		finding_report(w->findings, UFTRACE_RULE_task_fork_cycle, task_source(w), line->offset, line->length,
			       "%lld is said to come from %lld, which comes from %lld itself: readers follow that for ever",
			       (long long)line->id, (long long)line->parent, (long long)line->id);
	finding_path(fd, "line %u", line->order + 1);
	uftrace_edit_add(w, &w->task_edits, line->offset, line->length, NULL, 0, UFTRACE_RULE_task_fork_cycle,
			 "it closes a circle of parents");
	w->task_damage = fd;
}

static bool link_task(struct uftrace_walk *w, struct link *l, const struct uftrace_task_line *line, bool *dropped)
{
	uint32_t before = uftrace_ids_get(&w->known, line->id);

	/* A task of a process that was forked by that task. */
	if (line->parent != line->id && leads_to(w, line->parent, line->id)) {
		drop_circle(w, line);
		*dropped = true;
		return true;
	}
	if (before != UFTRACE_NONE && w->lines[before].kind == UFTRACE_LINE_TASK) {
		uint32_t session = uftrace_ids_get(&w->pid_session, line->parent);
		if (session == UFTRACE_NONE || w->sessions[session].line == UFTRACE_NONE ||
		    w->sessions[session].line < w->lines[before].order)
			finding_report(w->findings, UFTRACE_RULE_task_repeat_without_exec, task_source(w), line->offset,
				       line->length, "task %lld begins a second time, without a new session between",
				       (long long)line->id);
	}
	if (uftrace_session_at(w, line->parent, line->time) == UFTRACE_NONE) {
		uint32_t first = uftrace_ids_get(&l->first_of_pid, line->parent);
		if (first != UFTRACE_NONE) {
			if (!bring_session(w, l, first, line))
				return false;
		} else if (!w->foreign) {
			struct finding *fd = finding_milder(w->findings, UFTRACE_RULE_task_sess_after_task, TM_WARNING,
							    task_source(w), line->offset, line->length);
			finding_say(fd, "no session is known for process %lld of task %lld: its names are not resolved",
				    (long long)line->parent, (long long)line->id);
			finding_path(fd, "line %u", line->order + 1);
		}
	}
	return true;
}

/* False with *dropped: the line closes a circle. */
static bool link_fork(struct uftrace_walk *w, struct link *l, const struct uftrace_task_line *line, bool *dropped)
{
	struct source *s = task_source(w);
	struct finding *fd;

	*dropped = false;
	if (line->parent == line->id) {
		fd = finding_report(w->findings, UFTRACE_RULE_task_fork_self, s, line->offset, line->length,
				    "process %lld is its own parent", (long long)line->id);
		finding_path(fd, "line %u", line->order + 1);
		return true;
	}
	if (leads_to(w, line->parent, line->id)) {
		drop_circle(w, line);
		*dropped = true;
		return true;
	}
	if (uftrace_ids_get(&l->pids, line->parent) == UFTRACE_NONE) {
		fd = finding_report(w->findings, UFTRACE_RULE_task_fork_unknown_parent, s, line->offset, line->length,
				    "the parent %lld of process %lld is unknown", (long long)line->parent, (long long)line->id);
		finding_path(fd, "line %u", line->order + 1);
	}
	return set_id(w, &w->parents, line->id, line->order);
}

static void move_library(struct uftrace_walk *w, const struct uftrace_task_line *line, uint64_t to)
{
	const unsigned rule = UFTRACE_RULE_dlop_unknown_session;

	if (line->verbatim) {
		uftrace_edit_move(w, &w->task_edits, line->offset, line->length, to, rule);
		return;
	}
	uftrace_edit_add(w, &w->task_edits, to, 0, w->task_text + line->offset, line->text, rule,
			 "the library, behind its session");
	uftrace_edit_add(w, &w->task_edits, to, 0, "\n", 1, rule, "the end of the line");
	uftrace_edit_add(w, &w->task_edits, line->offset, line->length, NULL, 0, rule, "moved behind its session");
}

static bool link_library(struct uftrace_walk *w, struct link *l, const struct uftrace_task_line *line)
{
	struct uftrace_library *library = &w->libraries[line->session];
	struct source *s = task_source(w);
	uint32_t found = uftrace_ids_get(&l->by_sid, sid_key(library->sid));
	struct finding *fd;

	if (found == UFTRACE_NONE) {
		uint32_t later = uftrace_ids_get(&l->all_sids, sid_key(library->sid));
		fd = finding_report(w->findings, UFTRACE_RULE_dlop_unknown_session, s, line->offset, line->length,
				    later == UFTRACE_NONE ? "no session has the id %.*s"
							  : "the session %.*s comes later in the file",
				    (int)library->sid.length, library->sid.text);
		finding_path(fd, "line %u", line->order + 1);
		if (later == UFTRACE_NONE || w->sessions[later].line == UFTRACE_NONE) {
			uftrace_edit_lose(w, &w->task_edits, line->offset, line->length, UFTRACE_RULE_dlop_unknown_session,
					  "a library of a session that is not there");
			return true;
		}
		const struct uftrace_task_line *own = &w->lines[w->sessions[later].line];
		move_library(w, line, own->offset + own->length);
		found = later;
	}
	library->session = found;
	return true;
}

static bool link_lines(struct uftrace_walk *w, struct link *l)
{
	uint64_t previous = 0;

	for (uint32_t i = 0; i < w->line_count; i++) {
		struct uftrace_task_line *line = &w->lines[i];
		bool dropped = false;
		if (line->time < previous && !l->disorder && !w->foreign) {
			l->disorder = true;
			finding_report(w->findings, UFTRACE_RULE_task_time_order, task_source(w), line->offset, line->length,
				       "the time of line %u is before that of the line in front of it", i + 1);
		}
		previous = line->time;
		switch (line->kind) {
		case UFTRACE_LINE_SESS:
			if (!link_session(w, &l->by_sid, line->session))
				return false;
			continue;
		case UFTRACE_LINE_DLOP:
			if (!link_library(w, l, line))
				return false;
			continue;
		case UFTRACE_LINE_FORK:
			if (!link_fork(w, l, line, &dropped))
				return false;
			break;
		case UFTRACE_LINE_TASK:
			if (!link_task(w, l, line, &dropped))
				return false;
			break;
		}
		if (dropped)
			continue;
		if (uftrace_ids_get(&w->known_first, line->id) == UFTRACE_NONE && !set_id(w, &w->known_first, line->id, i))
			return false;
		if (!set_id(w, &w->known, line->id, i))
			return false;
	}
	return true;
}

/* Libraries of tasks that are nowhere else. */
static void check_library_tasks(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->library_count; i++) {
		const struct uftrace_task_line *line = &w->lines[w->libraries[i].line];
		if (uftrace_ids_get(&w->known, line->id) != UFTRACE_NONE || w->libraries[i].session == UFTRACE_NONE)
			continue;
		finding_report(w->findings, UFTRACE_RULE_dlop_unknown_tid, task_source(w), line->offset, line->length,
			       "task %lld, which loaded the library, has no line", (long long)line->id);
	}
}

/* ---- the maps of the sessions ---- */

static bool map_replace(struct uftrace_walk *w, struct uftrace_session *session)
{
	char name[UFTRACE_SID_LENGTH + 24], output[UFTRACE_SID_LENGTH + 16];
	static const char stub[] = "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n";
	static const char stub32[] = "bffdf000-bffff000 rw-p 00000000 00:00 0                                  [stack]\n";

	snprintf(output, sizeof(output), "sid-%.*s.map", (int)session->sid.length, session->sid.text);
	int n = snprintf(name, sizeof(name), "%s.tmp", output);
	uint32_t file = uftrace_dir_find(w, name, (size_t)n);
	if (file != UFTRACE_NONE) {
		session->map = uftrace_map_load(w, file, output);
		return session->map != UFTRACE_NONE;
	}
	if (w->plan) {
		const char *text = w->head.class == UFTRACE_32 ? stub32 : stub;
		plan_literal(w->plan, plan_output(w->plan, output), text, strlen(text), UFTRACE_RULE_task_session_without_map,
			     "a map with nothing but the stack");
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	}
	return true;
}

static void check_program(struct uftrace_walk *w, struct uftrace_session *session)
{
	const struct uftrace_map *map = &w->maps[session->map];
	struct source *s = w->files[map->file].source;
	char shown[TEXT_QUOTE_SIZE];

	for (size_t k = 0; k < map->count; k++)
		if (uftrace_str_equal(map->list[k].path, session->exename))
			return;
	if (!map->count || session->line == UFTRACE_NONE)
		return;
	for (size_t k = 0; k < map->count; k++) {
		struct uftrace_str path = map->list[k].path;
		if (path.length < session->exename.length && !memcmp(path.text, session->exename.text, path.length) &&
		    session->exename.text[path.length] == ' ') {
			finding_report(w->findings, UFTRACE_RULE_map_path_truncated_at_space, s, (uint64_t)(path.text - map->text),
				       path.length, "the program is '%s', and its path in the map ends at the blank",
				       text_quote(shown, session->exename.text, session->exename.length));
			return;
		}
	}
	if (!w->foreign)
		finding_report(w->findings, UFTRACE_RULE_map_exe_missing, s, 0, 0,
			       "the program '%s' of the session is not in its "
			       "map",
			       text_quote(shown, session->exename.text, session->exename.length));
}

static bool link_maps(struct uftrace_walk *w)
{
	for (uint32_t i = 0; i < w->session_count; i++) {
		struct uftrace_session *session = &w->sessions[i];
		session->map = uftrace_map_of(w, session->sid);
		if (session->map == UFTRACE_NONE) {
			/* A session before this one may have had the same map made. */
			for (uint32_t k = 0; k < i && k < 1024 && session->map == UFTRACE_NONE; k++)
				if (uftrace_str_equal(w->sessions[k].sid, session->sid))
					session->map = w->sessions[k].map == UFTRACE_NONE ? UFTRACE_NONE - 1 : w->sessions[k].map;
			if (session->map == UFTRACE_NONE - 1) {
				session->map = UFTRACE_NONE;
				continue;
			}
		}
		if (session->map == UFTRACE_NONE) {
			const struct uftrace_task_line *line = session->line == UFTRACE_NONE ? NULL : &w->lines[session->line];
			if (line || !w->task_damage) {
				struct finding *fd = finding_new(w->findings, UFTRACE_RULE_task_session_without_map, task_source(w),
								 line ? line->offset : 0, line ? line->length : 0);
				w->map_damage = fd;
				finding_say(fd, "the file sid-%.*s.map of this session is missing", (int)session->sid.length,
					    session->sid.text);
			} else {
				finding_explains(w->task_damage, 1);
				w->map_damage = w->task_damage;
			}
			if (!map_replace(w, session))
				return false;
		}
		if (session->map != UFTRACE_NONE) {
			w->maps[session->map].referenced = true;
			check_program(w, session);
		}
	}
	return true;
}

bool uftrace_session_link(struct uftrace_walk *w)
{
	struct link l = { 0 };

	bool good = check_present(w) && link_prepare(w, &l) && link_lines(w, &l);
	uftrace_ids_free(&l.by_sid);
	uftrace_ids_free(&l.all_sids);
	uftrace_ids_free(&l.pids);
	uftrace_ids_free(&l.first_of_pid);
	if (!good)
		return false;
	check_library_tasks(w);
	return link_maps(w);
}
