/* Lines of sessions whose id or process is damaged: the maps and the other lines have it. */
#include <string.h>

#include "core/text.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_task.h"

#define MADE_SIDS 4u /* ids for sessions whose own readers cannot take, and that have no map */
/* The first sessions of a recording, for which a map is looked for if they have none; not the first without one: these are others
 * once it is repaired. */
#define SIDS_MAX 1024u

int64_t uftrace_sid_key(struct uftrace_str sid)
{
	return (int64_t)text_hash(sid.text, sid.length);
}

/* ---- sessions whose id is damaged ---- */

/* Bytes of ids that are others, or that one of them does not have. */
static unsigned differing(struct uftrace_str a, struct uftrace_str b)
{
	const size_t least = a.length < b.length ? a.length : b.length, most = a.length < b.length ? b.length : a.length;
	unsigned n = 0;
	size_t front = 0, behind = 0;

	for (size_t i = 0; i < least; i++)
		n += a.text[i] != b.text[i];
	if (least == most)
		return n;
	while (front < least && a.text[front] == b.text[front])
		front++;
	while (behind < least - front && a.text[a.length - 1 - behind] == b.text[b.length - 1 - behind])
		behind++;
	return front + behind == least ? (unsigned)(most - least) : UFTRACE_SID_LENGTH;
}

#define DIGITS_HIT 2u	/* so many digits of an id may be others, */
#define LETTERS_HIT 10u /* so many of one that is no number: two hits of eight bytes leave six */

/* The map that no session names, that has the program of this one, and whose id is the session's but for what a hit may change;
 * where there is but one session and one such map, whatever its id is. */
static uint32_t map_without_session(const struct uftrace_walk *w, const struct map *sids, const struct uftrace_session *s)
{
	uint32_t found = UFTRACE_NONE;
	unsigned near = 0, most = uftrace_str_is_hex(s->sid) ? DIGITS_HIT : LETTERS_HIT;

	if (w->sessions->count == 1)
		most = UFTRACE_SID_LENGTH;

	for (uint32_t i = 0; i < w->maps->count; i++) {
		const struct uftrace_map *map = &w->maps->list[i];
		const struct uftrace_name *name = &w->dir->files[map->file].name;
		struct uftrace_str sid = { name->sid, name->sid_length };
		bool program = false;
		if (sid.length != UFTRACE_SID_LENGTH || map_get(sids, (uint64_t)uftrace_sid_key(sid)) != UFTRACE_NONE)
			continue;
		for (size_t k = 0; k < map->count && !program; k++)
			program = uftrace_str_equal(map->list[k].path, s->exename);
		if (!program)
			continue;
		if (differing(sid, s->sid) <= most) {
			near++;
			found = i;
		}
	}
	return near == 1 ? found : UFTRACE_NONE;
}

/* Readers end an id at a blank, and look for the map of what they have. */
static bool sid_is_cut(struct uftrace_str sid)
{
	for (size_t i = 0; i < sid.length; i++)
		if (sid.text[i] <= ' ' || sid.text[i] == 127)
			return true;
	return false;
}

static void rename_session(struct uftrace_walk *w, struct uftrace_session *s, struct uftrace_str sid)
{
	s->at = (uint64_t)(s->sid.text - w->tasks->text);
	s->renamed = (uint32_t)s->sid.length;
	s->sid = sid;
	w->tasks->lines[s->line].verbatim = false; /* where it is moved, it is written anew */
}

/* The session takes the id of the map, where nothing else names its own. */
static bool mend_sid(struct uftrace_walk *w, struct uftrace_session *s, uint32_t map)
{
	struct uftrace_task_line *line = &w->tasks->lines[s->line];
	const struct uftrace_file *file = &w->dir->files[w->maps->list[map].file];

	for (size_t i = 0; i < w->sessions->library_count; i++)
		if (uftrace_str_equal(w->sessions->libraries[i].sid, s->sid))
			return true;
	struct finding *fd = finding_report(
		w->findings, UFTRACE_RULE_task_session_without_map, uftrace_task_source(w), line->offset, line->length,
		"there is no map of this session; %s, which has its program, is of none", file->source->name);
	finding_path(fd, "line %u", line->number);
	rename_session(w, s, (struct uftrace_str){ file->name.sid, file->name.sid_length });
	return true;
}

static bool mend_sids(struct uftrace_walk *w)
{
	static const char *const made[MADE_SIDS] = { "0000000000000001", "0000000000000002", "0000000000000003",
						     "0000000000000004" };
	struct map sids = { 0 };
	bool good = true;

	for (uint32_t i = 0; good && i < w->sessions->count; i++)
		good = uftrace_walk_set(w, &sids, uftrace_sid_key(w->sessions->list[i].sid), i);
	for (uint32_t i = 0; good && i < w->sessions->count && i < SIDS_MAX; i++) {
		struct uftrace_session *s = &w->sessions->list[i];
		if (s->line == UFTRACE_NONE || !w->tasks->lines[s->line].verbatim || uftrace_map_of(w, s->sid) != UFTRACE_NONE)
			continue;
		uint32_t map = map_without_session(w, &sids, s);
		struct uftrace_str own = { made[i % MADE_SIDS], UFTRACE_SID_LENGTH };
		if (map != UFTRACE_NONE)
			good = mend_sid(w, s, map) && uftrace_walk_set(w, &sids, uftrace_sid_key(s->sid), i);
		else if (sid_is_cut(s->sid) && map_get(&sids, (uint64_t)uftrace_sid_key(own)) == UFTRACE_NONE) {
			rename_session(w, s, own);
			good = uftrace_walk_set(w, &sids, uftrace_sid_key(s->sid), i);
		}
	}
	map_free(&sids);
	return good;
}

void uftrace_session_write_ids(struct uftrace_walk *w)
{
	for (uint32_t i = 0; w->plan && i < w->sessions->count; i++) {
		const struct uftrace_session *s = &w->sessions->list[i];
		if (!s->renamed)
			continue;
		plan_lost_other(w->plan);
		if (!s->brought && !s->other_pid)
			uftrace_edit_add(w, &w->tasks->edits, s->at, s->renamed, s->sid.text, s->sid.length,
					 UFTRACE_RULE_task_session_without_map,
					 uftrace_map_of(w, s->sid) == UFTRACE_NONE ? "an id that readers can take"
										   : "the id of the map that has its program");
	}
}

/* ---- a session whose process is damaged ---- */

void uftrace_session_early(struct uftrace_walk *w, const struct uftrace_task_line *line, enum uftrace_early why)
{
	struct finding *fd =
		finding_report(w->findings, UFTRACE_RULE_task_sess_after_task, uftrace_task_source(w), line->offset, line->length,
			       why == UFTRACE_EARLY_LINE ? "task %lld begins before the line of the session of its process %lld"
			       : why == UFTRACE_EARLY_TIME
				       ? "task %lld begins before the session of its process %lld does"
				       : "task %lld is of process %lld, as all are, and the only session is of another process",
			       (long long)line->id, (long long)line->parent);
	finding_path(fd, "line %u", line->number);
}

/* Processes that were forked. False: one of them, or one that forked, is `pid`; or the walk has failed. */
static bool forked_without(struct uftrace_walk *w, int64_t pid, struct map *forked)
{
	for (size_t i = 0; i < w->tasks->count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[i];
		if (line->kind != UFTRACE_LINE_FORK)
			continue;
		if (line->id == pid || line->parent == pid || !uftrace_walk_set(w, forked, line->id, 0))
			return false;
	}
	return true;
}

/* A line of the one process that all others come from, which is not `pid`; NULL: there is none, or several. */
static const struct uftrace_task_line *only_process(const struct uftrace_walk *w, int64_t pid, const struct map *forked)
{
	const struct uftrace_task_line *found = NULL;
	bool known = !uftrace_records_of(w->records, (uint64_t)pid);

	for (size_t i = 0; i < w->tasks->count; i++) {
		const struct uftrace_task_line *line = &w->tasks->lines[i];
		if (line->kind != UFTRACE_LINE_TASK && line->kind != UFTRACE_LINE_FORK)
			continue;
		known |= line->kind == UFTRACE_LINE_TASK && line->id == pid;
		if (line->parent == pid)
			return NULL;
		if (map_get(forked, (uint64_t)line->parent) != UFTRACE_NONE)
			continue;
		if (found && found->parent != line->parent)
			return NULL;
		if (!found || (found->kind == UFTRACE_LINE_FORK && line->kind == UFTRACE_LINE_TASK))
			found = line;
	}
	return known && found && found->kind == UFTRACE_LINE_TASK ? found : NULL;
}

/* The only session is of a process that no line has, and all tasks are of another one: it is theirs. */
static bool mend_pid(struct uftrace_walk *w)
{
	struct map forked = { 0 };
	struct uftrace_session *s = w->sessions->count == 1 ? &w->sessions->list[0] : NULL;

	if (!s || s->line == UFTRACE_NONE || w->info->foreign || w->tasks->legacy_text ||
	    !(w->tasks->lines[s->line].verbatim || s->renamed))
		return true;
	const struct uftrace_task_line *task = forked_without(w, s->pid, &forked) ? only_process(w, s->pid, &forked) : NULL;
	map_free(&forked);
	if (task) {
		uftrace_session_early(w, task, UFTRACE_EARLY_PROCESS);
		s->pid = task->parent;
		s->other_pid = true;
		w->tasks->lines[s->line].verbatim = false;
		if (w->plan)
			plan_lost_other(w->plan);
	}
	return w->status == TM_OK;
}

bool uftrace_session_mend(struct uftrace_walk *w)
{
	return mend_sids(w) && mend_pid(w);
}
