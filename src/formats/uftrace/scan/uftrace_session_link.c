/* task.txt: what its lines mean together. Sessions, parents, loaded libraries, and the maps they need. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_task.h"

static bool learn_session(struct uftrace_walk *w, uint32_t index)
{
	struct uftrace_session *session = &w->sessions->list[index];

	session->linked = true;
	session->before = map_get(&w->sessions->of_pid, (uint64_t)session->pid);
	return uftrace_walk_set(w, &w->sessions->of_pid, session->pid, index);
}

static bool link_session(struct uftrace_walk *w, struct map *by_sid, uint32_t index)
{
	const struct uftrace_session *session = &w->sessions->list[index];

	if (session->linked)
		return true;
	int64_t key = uftrace_sid_key(session->sid);
	return learn_session(w, index) &&
	       (map_get(by_sid, (uint64_t)key) != UFTRACE_NONE || uftrace_walk_set(w, by_sid, key, index));
}

static bool check_present(struct uftrace_walk *w)
{
	struct finding *fd;

	if (w->sessions->count)
		return true;
	if (w->dir->task_txt == UFTRACE_NONE && !w->tasks->count) {
		w->tasks->rule = w->dir->irregular_task ? UFTRACE_RULE_non_regular_file : UFTRACE_RULE_task_missing;
		if (w->tasks->damage || w->dir->irregular_task) {
			if (w->tasks->damage)
				finding_explains(w->tasks->damage, 1);
		} else {
			fd = finding_report(
				w->findings, UFTRACE_RULE_task_missing, uftrace_task_source(w), 0, 0,
				"the file task.txt, which says what process a task belongs to and which map holds, is missing");
			w->tasks->damage = fd;
		}
	} else {
		w->tasks->rule = UFTRACE_RULE_task_no_session;
		if (w->tasks->damage) {
			finding_explains(w->tasks->damage, 1);
		} else {
			fd = finding_report(w->findings, UFTRACE_RULE_task_no_session, uftrace_task_source(w), 0, 0,
					    "task.txt has %zu lines, and none of them is a session (SESS)", w->tasks->count);
			w->tasks->damage = fd;
		}
	}
	if (w->plan)
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	return uftrace_rebuild_session(w);
}

/* ---- the lines in their order ---- */

struct link {
	struct map by_sid;	 /* of sessions met so far */
	struct map all_sids;	 /* of all */
	struct map pids;	 /* everything that is a process or task anywhere */
	struct map first_of_pid; /* pid -> its first session in the file */
	bool disorder;
	bool without_session; /* a process has none */
};

static bool link_prepare(struct uftrace_walk *w, struct link *l)
{
	for (uint32_t i = 0; i < w->sessions->count; i++) {
		struct uftrace_session *session = &w->sessions->list[i];
		if (map_get(&l->first_of_pid, (uint64_t)session->pid) == UFTRACE_NONE &&
		    !uftrace_walk_set(w, &l->first_of_pid, session->pid, i))
			return false;
		if (map_get(&l->all_sids, (uint64_t)uftrace_sid_key(session->sid)) == UFTRACE_NONE) {
			if (!uftrace_walk_set(w, &l->all_sids, uftrace_sid_key(session->sid), i))
				return false;
		} else if (!w->info->foreign && session->line != UFTRACE_NONE) {
			const struct uftrace_task_line *line = &w->tasks->lines[session->line];
			finding_report(w->findings, UFTRACE_RULE_task_duplicate_sid, uftrace_task_source(w), line->offset,
				       line->length, "another session has the id %.*s too", (int)session->sid.length,
				       session->sid.text);
		}
		if (!uftrace_walk_set(w, &l->pids, session->pid, i) ||
		    (session->line == UFTRACE_NONE && !link_session(w, &l->by_sid, i)))
			return false;
	}
	for (size_t i = 0; i < w->tasks->count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[i];
		if ((line->kind == UFTRACE_LINE_TASK || line->kind == UFTRACE_LINE_FORK) &&
		    !uftrace_walk_set(w, &l->pids, line->id, 0))
			return false;
		if (line->kind == UFTRACE_LINE_TASK && !uftrace_walk_set(w, &l->pids, line->parent, 0))
			return false;
	}
	return true;
}

/* The session of this process comes later in the file, or begins later: it is brought in front. */
static bool bring_session(struct uftrace_walk *w, struct link *l, uint32_t index, const struct uftrace_task_line *line)
{
	struct uftrace_session *session = &w->sessions->list[index];
	const struct uftrace_task_line *own = session->line != UFTRACE_NONE ? &w->tasks->lines[session->line] : NULL;
	bool later = own && own->order > line->order, young = session->time > line->time;
	uftrace_session_early(w, line, later ? UFTRACE_EARLY_LINE : UFTRACE_EARLY_TIME);
	if (young)
		session->time = line->time;
	if (!session->brought)
		session->front = later ? line->order : UFTRACE_NONE;
	session->brought = true;
	session->young |= young;
	if (own && w->plan && young && w->tasks->legacy_text)
		/* The lines of the binary file are of what it was translated to. */
		plan_doubt(w->plan, uftrace_task_source(w), 0, uftrace_task_source(w)->size, "the time of a session is estimated");
	else if (own && w->plan && young)
		plan_doubt(w->plan, uftrace_task_source(w), line->offset, line->length, "the time of its session is estimated");
	return link_session(w, &l->by_sid, index);
}

/* Writes the sessions that are brought in front of their tasks. Once for each, as several tasks may ask for the same. */
static bool write_brought(struct uftrace_walk *w)
{
	struct edits *edits = &w->tasks->edits;
	const unsigned rule = UFTRACE_RULE_task_sess_after_task;

	for (uint32_t i = 0; i < w->sessions->count; i++) {
		const struct uftrace_session *session = &w->sessions->list[i];
		if (!(session->brought || session->other_pid) || session->line == UFTRACE_NONE)
			continue;
		const struct uftrace_task_line *own = &w->tasks->lines[session->line];
		const struct uftrace_task_line *front = !session->brought || session->front == UFTRACE_NONE
								? NULL
								: &w->tasks->lines[session->front];
		if (front && !session->young && own->verbatim) {
			edits_move(edits, own->offset, own->length, front->offset, rule);
			continue;
		}
		struct bytes text = { 0 };
		uftrace_rebuild_print(&text, session);
		if (text.failed) {
			bytes_free(&text);
			return uftrace_walk_fail(w, TM_NO_MEMORY);
		}
		if (front)
			uftrace_edit_add(w, edits, own->offset, own->length, NULL, 0, rule, "moved in front of its first task");
		uftrace_edit_add(w, edits, front ? front->offset : own->offset, front ? 0 : own->length, (const char *)text.data,
				 text.size, rule,
				 session->brought ? "the session, at the time of its first task"
						  : "the session, of the process of all tasks");
		bytes_free(&text);
	}
	return true;
}

static void drop_circle(struct uftrace_walk *w, const struct uftrace_task_line *line)
{
	struct finding *fd =
		finding_report(w->findings, UFTRACE_RULE_task_fork_cycle, uftrace_task_source(w), line->offset, line->length,
			       "%lld is said to come from %lld, which comes from %lld itself: readers follow that forever",
			       (long long)line->id, (long long)line->parent, (long long)line->id);
	finding_path(fd, "line %u", line->number);
	uftrace_edit_add(w, &w->tasks->edits, line->offset, line->length, NULL, 0, UFTRACE_RULE_task_fork_cycle,
			 "it closes a cycle of parents");
	w->tasks->damage = fd;
}

static bool link_task(struct uftrace_walk *w, struct link *l, const struct uftrace_task_line *line, bool *dropped)
{
	uint32_t before = map_get(&w->tasks->known, (uint64_t)line->id);

	/* A task of a process that was forked by that task. */
	if (line->parent != line->id && uftrace_session_leads(w->sessions, w->tasks, line->parent, line->id)) {
		drop_circle(w, line);
		*dropped = true;
		return true;
	}
	if (before != UFTRACE_NONE && w->tasks->lines[before].kind == UFTRACE_LINE_TASK) {
		uint32_t session = map_get(&w->sessions->of_pid, (uint64_t)line->parent);
		if (session == UFTRACE_NONE || w->sessions->list[session].line == UFTRACE_NONE ||
		    w->sessions->list[session].line < w->tasks->lines[before].order)
			finding_report(w->findings, UFTRACE_RULE_task_repeat_without_exec, uftrace_task_source(w), line->offset,
				       line->length, "task %lld begins a second time, without a new session between",
				       (long long)line->id);
	}
	if (uftrace_session_at(w->sessions, w->tasks, line->parent, line->time) == UFTRACE_NONE) {
		uint32_t first = map_get(&l->first_of_pid, (uint64_t)line->parent);
		if (first != UFTRACE_NONE) {
			if (!bring_session(w, l, first, line))
				return false;
		} else if (!w->info->foreign) {
			l->without_session = true;
			struct finding *fd = finding_milder(w->findings, UFTRACE_RULE_task_sess_after_task, TM_WARNING,
							    uftrace_task_source(w), line->offset, line->length);
			finding_say(fd, "no session is known for process %lld of task %lld: its names are not resolved",
				    (long long)line->parent, (long long)line->id);
			finding_path(fd, "line %u", line->number);
			/* Of which process it was, or the session, is lost. */
			uftrace_repair_doubt(w, uftrace_task_source(w), line->offset, line->length);
			if (w->plan)
				plan_lost_other(w->plan);
		}
	}
	return true;
}

#define GENERATIONS_MAX 16u

/* Readers give a forked process the session of its parent at that time. */
static bool check_fork_time(struct uftrace_walk *w, const struct link *l, struct uftrace_task_line *line)
{
	int64_t pid = line->parent;
	uint32_t first = map_get(&l->first_of_pid, (uint64_t)pid);

	if (w->info->foreign || uftrace_session_at(w->sessions, w->tasks, line->parent, line->time) != UFTRACE_NONE)
		return true;
	for (unsigned i = 0; first == UFTRACE_NONE && i < GENERATIONS_MAX; i++) {
		uint32_t parent = map_get(&w->tasks->parents, (uint64_t)pid);
		if (parent == UFTRACE_NONE)
			return true;
		pid = w->tasks->lines[parent].parent;
		first = map_get(&l->first_of_pid, (uint64_t)pid);
	}
	if (first == UFTRACE_NONE || !w->sessions->list[first].linked)
		return true;
	struct finding *fd = finding_report(w->findings, UFTRACE_RULE_task_sess_after_task, uftrace_task_source(w), line->offset,
					    line->length, "process %lld is forked before the session of its parent %lld begins",
					    (long long)line->id, (long long)line->parent);
	finding_path(fd, "line %u", line->number);
	return uftrace_rebuild_fork_time(w, line, w->sessions->list[first].time);
}

/* False with *dropped: the line closes a circle. */
static bool link_fork(struct uftrace_walk *w, struct link *l, struct uftrace_task_line *line, bool *dropped)
{
	struct source *source = uftrace_task_source(w);
	struct finding *fd;

	*dropped = false;
	if (line->parent == line->id) {
		fd = finding_report(w->findings, UFTRACE_RULE_task_fork_self, source, line->offset, line->length,
				    "process %lld is its own parent", (long long)line->id);
		finding_path(fd, "line %u", line->number);
		return true;
	}
	if (uftrace_session_leads(w->sessions, w->tasks, line->parent, line->id)) {
		drop_circle(w, line);
		*dropped = true;
		return true;
	}
	if (map_get(&l->pids, (uint64_t)line->parent) == UFTRACE_NONE) {
		fd = finding_report(w->findings, UFTRACE_RULE_task_fork_unknown_parent, source, line->offset, line->length,
				    "the parent %lld of process %lld is unknown", (long long)line->parent, (long long)line->id);
		finding_path(fd, "line %u", line->number);
	}
	return check_fork_time(w, l, line) && uftrace_walk_set(w, &w->tasks->parents, line->id, line->order);
}

static void move_library(struct uftrace_walk *w, const struct uftrace_task_line *line, uint64_t to)
{
	const unsigned rule = UFTRACE_RULE_dlop_unknown_session;

	if (!w->plan)
		return;
	if (line->verbatim) {
		edits_move(&w->tasks->edits, line->offset, line->length, to, rule);
		return;
	}
	uftrace_edit_add(w, &w->tasks->edits, to, 0, w->tasks->text + line->offset, line->text, rule,
			 "the library, after its session");
	uftrace_edit_add(w, &w->tasks->edits, to, 0, "\n", 1, rule, "the end of the line");
	uftrace_edit_add(w, &w->tasks->edits, line->offset, line->length, NULL, 0, rule, "moved after its session");
}

static bool link_library(struct uftrace_walk *w, struct link *l, const struct uftrace_task_line *line)
{
	struct uftrace_library *library = &w->sessions->libraries[line->session];
	struct source *source = uftrace_task_source(w);
	uint32_t found = map_get(&l->by_sid, (uint64_t)uftrace_sid_key(library->sid));
	struct finding *fd;

	if (found == UFTRACE_NONE) {
		uint32_t later = map_get(&l->all_sids, (uint64_t)uftrace_sid_key(library->sid));
		fd = finding_report(w->findings, UFTRACE_RULE_dlop_unknown_session, source, line->offset, line->length,
				    later == UFTRACE_NONE ? "no session has the id %.*s"
							  : "the session %.*s comes later in the file",
				    (int)library->sid.length, library->sid.text);
		finding_path(fd, "line %u", line->number);
		if (later == UFTRACE_NONE || w->sessions->list[later].line == UFTRACE_NONE) {
			uftrace_edit_lose(w, &w->tasks->edits, line->offset, line->length, UFTRACE_RULE_dlop_unknown_session,
					  "a library of a missing session");
			return true;
		}
		const struct uftrace_task_line *own = &w->tasks->lines[w->sessions->list[later].line];
		move_library(w, line, own->offset + own->length);
		found = later;
	}
	library->session = found;
	return true;
}

static bool link_lines(struct uftrace_walk *w, struct link *l)
{
	uint64_t previous = 0;

	for (uint32_t i = 0; i < w->tasks->count; i++) {
		struct uftrace_task_line *line = &w->tasks->lines[i];
		bool dropped = false;
		if (line->time < previous && !l->disorder && !w->info->foreign) {
			l->disorder = true;
			finding_report(w->findings, UFTRACE_RULE_task_time_order, uftrace_task_source(w), line->offset,
				       line->length, "the time of line %u is before that of the line in front of it", i + 1);
		}
		previous = line->time;
		switch (line->kind) {
		case UFTRACE_LINE_OTHER:
			continue; /* is never kept */
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
		if (map_get(&w->tasks->known_first, (uint64_t)line->id) == UFTRACE_NONE &&
		    !uftrace_walk_set(w, &w->tasks->known_first, line->id, i))
			return false;
		if (!uftrace_walk_set(w, &w->tasks->known, line->id, i))
			return false;
	}
	return !w->plan || write_brought(w);
}

/* Where a process has no session, one of no task may be its own, with another number. */
static void doubt_strays(struct uftrace_walk *w, const struct link *l)
{
	for (size_t i = 0; l->without_session && i < w->sessions->count; i++) {
		const struct uftrace_session *s = &w->sessions->list[i];
		if (s->line == UFTRACE_NONE || map_get(&w->tasks->known_first, (uint64_t)s->pid) != UFTRACE_NONE)
			continue;
		const struct uftrace_task_line *line = &w->tasks->lines[s->line];
		uftrace_repair_doubt(w, uftrace_task_source(w), line->offset, line->length);
		if (w->plan)
			plan_lost_other(w->plan);
	}
}

/* Libraries of tasks that are nowhere else. */
static void check_library_tasks(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->sessions->library_count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[w->sessions->libraries[i].line];
		if (map_get(&w->tasks->known, (uint64_t)line->id) != UFTRACE_NONE ||
		    w->sessions->libraries[i].session == UFTRACE_NONE)
			continue;
		finding_report(w->findings, UFTRACE_RULE_dlop_unknown_tid, uftrace_task_source(w), line->offset, line->length,
			       "task %lld, which loaded the library, has no line", (long long)line->id);
	}
}

/* ---- the maps of the sessions ---- */

static bool map_replace(struct uftrace_walk *w, struct uftrace_session *session)
{
	char name[UFTRACE_SID_LENGTH + 24], output[UFTRACE_SID_LENGTH + 16];

	snprintf(output, sizeof(output), "sid-%.*s.map", (int)session->sid.length, session->sid.text);
	(void)snprintf(name, sizeof(name), "%s.tmp", output);
	uint32_t file = uftrace_dir_find(w->dir, name);
	if (file == UFTRACE_NONE) {
		uftrace_repair_map(w, output);
		return true;
	}
	session->map = uftrace_map_load(w, file);
	return session->map != UFTRACE_NONE;
}

static void check_program(struct uftrace_walk *w, struct uftrace_session *session)
{
	const struct uftrace_map *map = &w->maps->list[session->map];
	struct source *source = w->dir->files[map->file].source;
	char shown[TEXT_QUOTE_SIZE];

	for (size_t k = 0; k < map->count; k++) {
		const struct uftrace_mapping *m = &map->list[k];
		if (!uftrace_str_equal(m->path, session->exename))
			continue;
		/* In one whose range is wrong the program is not. */
		session->unmapped = !w->info->foreign && session->line != UFTRACE_NONE && m->lines == 1 &&
				    !uftrace_map_is_somewhere(w, m->start, m->end);
		return;
	}
	session->unmapped = !w->info->foreign && session->line != UFTRACE_NONE;
	if (!map->count || session->line == UFTRACE_NONE)
		return;
	for (size_t k = 0; k < map->count; k++) {
		struct uftrace_str path = map->list[k].path;
		if (path.length < session->exename.length && !memcmp(path.text, session->exename.text, path.length) &&
		    session->exename.text[path.length] == ' ') {
			finding_report(w->findings, UFTRACE_RULE_map_path_truncated_at_space, source,
				       (uint64_t)(path.text - map->text), path.length,
				       "the program is '%s', and its path in the map ends at the space",
				       text_quote(shown, session->exename.text, session->exename.length));
			session->unmapped = false;
			return;
		}
	}
}

bool uftrace_session_programs(struct uftrace_walk *w)
{
	char shown[TEXT_QUOTE_SIZE];

	for (size_t i = 0; i < w->sessions->count; i++) {
		const struct uftrace_session *session = &w->sessions->list[i];
		if (!(session->unmapped || session->nameless) || !w->maps->list[session->map].count)
			continue;
		const struct uftrace_task_line *line = &w->tasks->lines[session->line];
		finding_say(finding_milder(w->findings, UFTRACE_RULE_map_exe_missing, TM_WARNING,
					   w->dir->files[w->maps->list[session->map].file].source, 0, 0),
			    session->unmapped
				    ? "the program '%s' of the session is not in its map"
				    : "hardly a record has an address of a function of the program '%s': where it was mapped, "
				      "or its symbol file, is not of this recording",
			    text_quote(shown, session->exename.text, session->exename.length));
		if (line->verbatim) /* of the two this one is read */
			uftrace_repair_doubt(w, uftrace_task_source(w), line->offset, line->length);
	}
	return true;
}

static bool link_maps(struct uftrace_walk *w)
{
	for (uint32_t i = 0; i < w->sessions->count; i++) {
		struct uftrace_session *session = &w->sessions->list[i];
		session->map = uftrace_map_of(w, session->sid);
		if (session->map == UFTRACE_NONE) {
			/* A session before this one may have had the same map made. */
			for (uint32_t k = 0; k < i && k < 1024 && session->map == UFTRACE_NONE; k++)
				if (uftrace_str_equal(w->sessions->list[k].sid, session->sid))
					session->map = w->sessions->list[k].map == UFTRACE_NONE ? UFTRACE_NONE - 1
												: w->sessions->list[k].map;
			if (session->map == UFTRACE_NONE - 1) {
				session->map = UFTRACE_NONE;
				continue;
			}
		}
		if (session->map == UFTRACE_NONE) {
			const struct uftrace_task_line *line = session->line == UFTRACE_NONE ? NULL
											     : &w->tasks->lines[session->line];
			if (line || !w->tasks->damage) {
				struct finding *fd = finding_new(w->findings, UFTRACE_RULE_task_session_without_map,
								 uftrace_task_source(w), line ? line->offset : 0,
								 line ? line->length : 0);
				w->sessions->map_damage = fd;
				finding_say(fd, "the file sid-%.*s.map of this session is missing", (int)session->sid.length,
					    session->sid.text);
			} else {
				finding_explains(w->tasks->damage, 1);
				w->sessions->map_damage = w->tasks->damage;
			}
			if (!map_replace(w, session))
				return false;
		}
		if (session->map != UFTRACE_NONE) {
			w->maps->list[session->map].referenced = true;
			check_program(w, session);
		}
	}
	return true;
}

static void list_orphans(struct uftrace_walk *w)
{
	struct uftrace_maps *maps = w->maps;

	for (uint32_t i = 0; i < maps->count && maps->orphan_count < UFTRACE_ORPHANS_MAX; i++)
		if (!maps->list[i].referenced && uftrace_map_useful(&maps->list[i]))
			maps->orphans[maps->orphan_count++] = i;
}

bool uftrace_session_link(struct uftrace_walk *w)
{
	struct link l = { 0 };

	bool good = check_present(w) && uftrace_session_mend(w) && link_prepare(w, &l) && link_lines(w, &l);
	uint32_t named = (uint32_t)w->sessions->count;

	if (good)
		doubt_strays(w, &l);
	good = good && uftrace_rebuild_orphans(w) && uftrace_rebuild_programs(w);
	for (uint32_t i = named; good && i < w->sessions->count; i++)
		good = learn_session(w, i);
	map_free(&l.by_sid);
	map_free(&l.all_sids);
	map_free(&l.pids);
	map_free(&l.first_of_pid);
	if (!good)
		return false;
	uftrace_session_write_ids(w);
	check_library_tasks(w);
	if (!link_maps(w))
		return false;
	list_orphans(w);
	return true;
}
