/* Which session holds for a process at a time. */
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_session.h"

/* Generations of parents in which a session is searched for. */
#define PARENTS_MAX 64u

static uint32_t own_session(struct uftrace_sessions *sessions, int64_t pid, uint64_t time)
{
	uint32_t best = UFTRACE_NONE;

	for (uint32_t i = map_get(&sessions->of_pid, (uint64_t)pid); i != UFTRACE_NONE && sessions->work < UFTRACE_CHAIN_WORK_MAX;
	     i = sessions->list[i].before) {
		sessions->work++;
		if (sessions->list[i].time <= time && (best == UFTRACE_NONE || sessions->list[i].time > sessions->list[best].time))
			best = i;
	}
	return best;
}

uint32_t uftrace_session_at(struct uftrace_sessions *sessions, const struct uftrace_tasks *tasks, int64_t pid, uint64_t time)
{
	for (unsigned depth = 0; depth < PARENTS_MAX; depth++) {
		uint32_t found = own_session(sessions, pid, time);
		if (found != UFTRACE_NONE)
			return found;
		uint32_t line = map_get(&tasks->parents, (uint64_t)pid);
		if (line == UFTRACE_NONE || tasks->lines[line].parent == pid)
			return UFTRACE_NONE;
		pid = tasks->lines[line].parent;
		/* What its parent runs later is not its own. */
		time = tasks->lines[line].time < time ? tasks->lines[line].time : time;
	}
	return UFTRACE_NONE;
}

uint64_t uftrace_session_next(struct uftrace_sessions *sessions, int64_t pid, uint64_t time)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = map_get(&sessions->of_pid, (uint64_t)pid); i != UFTRACE_NONE && sessions->work < UFTRACE_CHAIN_WORK_MAX;
	     i = sessions->list[i].before) {
		sessions->work++;
		if (sessions->list[i].time > time && sessions->list[i].time < next)
			next = sessions->list[i].time;
	}
	return next;
}

/* The parent of a process, or the process of a task; the id itself when it has neither. */
static int64_t parent_of(const struct uftrace_tasks *tasks, int64_t id)
{
	uint32_t line = map_get(&tasks->parents, (uint64_t)id);

	if (line == UFTRACE_NONE)
		line = map_get(&tasks->known, (uint64_t)id);
	return line == UFTRACE_NONE ? id : tasks->lines[line].parent;
}

bool uftrace_session_reaches(const struct uftrace_tasks *tasks, int64_t tid, uint64_t time)
{
	for (unsigned depth = 0; depth < PARENTS_MAX; depth++) {
		uint32_t line = map_get(&tasks->known_first, (uint64_t)tid);
		if (line == UFTRACE_NONE)
			return false;
		if (tasks->lines[line].time <= time)
			return true;
		if (tasks->lines[line].parent == tid)
			return false;
		tid = tasks->lines[line].parent;
	}
	return false;
}

bool uftrace_session_leads(struct uftrace_sessions *sessions, const struct uftrace_tasks *tasks, int64_t from, int64_t target)
{
	for (int64_t next = parent_of(tasks, from); next != from && sessions->work < UFTRACE_CHAIN_WORK_MAX;
	     next = parent_of(tasks, from)) {
		sessions->work++;
		from = next;
		if (from == target)
			return true;
	}
	return false;
}

void uftrace_session_free(struct uftrace_sessions *sessions)
{
	free(sessions->list);
	free(sessions->libraries);
	map_free(&sessions->of_pid);
}
