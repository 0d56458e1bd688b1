/* Sessions of task.txt, and the libraries that were loaded in them. */
#ifndef UFTRACE_SESSION_H
#define UFTRACE_SESSION_H

#include "formats/uftrace/decode/uftrace_str.h"
#include "formats/uftrace/scan/uftrace_task.h"
#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_session {
	struct uftrace_str sid, exename;
	uint64_t time;
	int64_t pid;
	uint32_t line;	 /* UFTRACE_NONE: added by repair */
	uint32_t map;	 /* UFTRACE_NONE: no file */
	uint32_t before; /* the session of this pid that was met before; UFTRACE_NONE */
	bool linked;
	bool exec;	     /* added by repair: a program that the process began later */
	bool unmapped;	     /* its map does not have its program */
	bool nameless;	     /* hardly a record has the address of a function of its program */
	bool used, begun;    /* records of its process are in it; a line of the process is */
	bool brought, young; /* it is to come in front of the line `front`; its own time is later than that of a task of it */
	bool other_pid;	     /* its process is written anew */
	uint64_t at;	     /* of the id in task.txt, where another is written: */
	uint32_t renamed;    /* so many bytes of it; 0: it stays */
	uint32_t front;	     /* UFTRACE_NONE: it stays where it is */
};

struct uftrace_library { /* a DLOP line */
	uint64_t time, base;
	uint32_t session, module;
	uint32_t line;
	struct uftrace_str name, sid;
};

struct uftrace_sessions {
	struct uftrace_session *list; /* owned */
	size_t count, capacity;
	struct uftrace_library *libraries; /* owned */
	size_t library_count, library_capacity;
	struct map of_pid;	    /* pid -> the session of it that was met last; `before` leads on */
	uint64_t work;		    /* steps along chains of sessions and parents */
	struct finding *map_damage; /* a session has no map */
};

/* Steps along chains of sessions or parents, over the whole walk. A capture beyond it is not judged further in this. */
#define UFTRACE_CHAIN_WORK_MAX (16u * 1024 * 1024)
/* Steps through all libraries, for addresses that no mapping has; with those above. */
#define UFTRACE_LIBRARY_WORK_MAX (64u * 1024 * 1024)

/* uftrace_session_link.c: brings the lines of task.txt together: sessions, parents, libraries, and the maps they need. */
bool uftrace_session_link(struct uftrace_walk *w);
/* uftrace_session_mend.c: gives sessions the id or the process that their lines do not have any more, and writes the ids. */
bool uftrace_session_mend(struct uftrace_walk *w);
void uftrace_session_write_ids(struct uftrace_walk *w);
/* The key of a session's id in maps. */
int64_t uftrace_sid_key(struct uftrace_str sid);

enum uftrace_early { UFTRACE_EARLY_LINE, UFTRACE_EARLY_TIME, UFTRACE_EARLY_PROCESS };

/* Reports a task that readers know no session of: the line of that comes later, its time does, or it is of another process. */
void uftrace_session_early(struct uftrace_walk *w, const struct uftrace_task_line *line, enum uftrace_early why);
/* Reports the programs that are in no map; after the symbol files, which may show where they were mapped. */
bool uftrace_session_programs(struct uftrace_walk *w);
/* The session that holds for a process at a time; UFTRACE_NONE. */
uint32_t uftrace_session_at(struct uftrace_sessions *sessions, const struct uftrace_tasks *tasks, int64_t pid, uint64_t time);
/* Whether readers know a session of the task at that time: from its first line on, or that of its process or parent. */
bool uftrace_session_reaches(const struct uftrace_tasks *tasks, int64_t tid, uint64_t time);
/* The earliest start after `time` of a session of this process; UINT64_MAX. */
uint64_t uftrace_session_next(struct uftrace_sessions *sessions, int64_t pid, uint64_t time);
/* True when following the parents of `from` leads to `target`. */
bool uftrace_session_leads(struct uftrace_sessions *sessions, const struct uftrace_tasks *tasks, int64_t from, int64_t target);
void uftrace_session_free(struct uftrace_sessions *sessions);

#endif
