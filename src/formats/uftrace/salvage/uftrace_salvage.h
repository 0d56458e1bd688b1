/* What is missing, from what is left. */
#ifndef UFTRACE_SALVAGE_H
#define UFTRACE_SALVAGE_H

#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_dat;
struct uftrace_module;

/* uftrace_head.c: how many more of the first records of the tasks have the magic in big-endian order than in little-endian order */
int uftrace_head_votes(const struct uftrace_walk *w);
/* The byte order of the records, by majority vote; little-endian when in doubt. */
bool uftrace_head_order(const struct uftrace_walk *w);
/* A header for an info that has none that could be used: everything is taken from the other files. */
void uftrace_head_rebuild(struct uftrace_walk *w);
/* The features that the files show. */
void uftrace_head_bits(struct uftrace_walk *w);

/* uftrace_adopt.c: files with other names than they should have. First those of which there is one; then, after task.txt and the
 * list of tasks, maps and records */
bool uftrace_adopt_heads(struct uftrace_walk *w);
bool uftrace_adopt_rest(struct uftrace_walk *w);

/* uftrace_rebuild.c: a session where task.txt has none */
bool uftrace_rebuild_session(struct uftrace_walk *w);
/* Sessions of tasks that have none, where a map that no session names has their addresses; after the lines are linked. */
bool uftrace_rebuild_orphans(struct uftrace_walk *w);
/* The maps that no session names: how many were found, `most` at most. */
size_t uftrace_rebuild_maps_left(struct uftrace_walk *w, uint32_t *list, size_t most);
/* The session of a process at its first record; UFTRACE_NONE: none is known, or the task is a thread of another one. */
uint32_t uftrace_rebuild_first_session(struct uftrace_walk *w, const struct uftrace_dat *dat);
/* A session of the process, which began the program of that map at that time; `at`: its first record. */
bool uftrace_rebuild_program(struct uftrace_walk *w, uint32_t map, const struct uftrace_dat *dat, uint64_t at, uint64_t time);
/* uftrace_rebuild_programs.c: sessions of programs that processes began, by their records; after those of tasks that have none. */
bool uftrace_rebuild_programs(struct uftrace_walk *w);
/* A line for a task that task.txt does not have. */
bool uftrace_rebuild_task(struct uftrace_walk *w, struct uftrace_dat *dat);
/* Gives the first line of a task the time of its first record, at `at` of the source. False: it cannot be. */
bool uftrace_rebuild_task_time(struct uftrace_walk *w, uint64_t tid, struct source *source, uint64_t at, uint64_t time);
/* The line of a forked process gets another time: its own is before any session of its parents. */
bool uftrace_rebuild_fork_time(struct uftrace_walk *w, struct uftrace_task_line *line, uint64_t time);
/* Lines of tasks whose process began another program, and which task.txt does not have; after the records. */
bool uftrace_rebuild_exec(struct uftrace_walk *w);
/* Appends a SESS line. */
void uftrace_rebuild_print(struct bytes *out, const struct uftrace_session *session);

/* uftrace_place_map.c: gives the sessions of a program that are `unmapped` the mapping that the addresses of the records show. */
bool uftrace_place_map(struct uftrace_walk *w, const struct uftrace_module *m);

/* uftrace_shm.c: which buffers that were left in /dev/shm belong to the recording; after task.txt */
bool uftrace_shm_walk(struct uftrace_walk *w);

#endif
