/* What all files of the walk over a recording share. */
#ifndef UFTRACE_WALK_H
#define UFTRACE_WALK_H

#include "formats/uftrace/uftrace.h"

#include "core/format.h"
#include "core/map.h"

struct uftrace_dir;	 /* the files */
struct uftrace_info;	 /* what info says */
struct uftrace_taskinfo; /* the tasks that info lists */
struct uftrace_tasks;	 /* the lines of task.txt */
struct uftrace_sessions; /* sessions and the libraries that they loaded */
struct uftrace_maps;	 /* memory maps */
struct uftrace_symbols;	 /* symbols and debug information */
struct uftrace_specs;	 /* argument specifications */
struct uftrace_records;	 /* the records of the tasks */
struct uftrace_infer;	 /* specifications that are made anew */

/* The walk over one recording. What was read belongs to the files of scan/ that read it: each has a header of its own, and only
 * who includes that can look inside. */
struct uftrace_walk {
	struct scan *s;
	struct bundle *in;
	struct findings *findings;
	struct plan *plan;	      /* NULL: only check */
	enum tracemend_status status; /* sticky */

	struct uftrace_dir *dir;
	struct uftrace_info *info;
	struct uftrace_taskinfo *taskinfo;
	struct uftrace_tasks *tasks;
	struct uftrace_sessions *sessions;
	struct uftrace_maps *maps;
	struct uftrace_symbols *symbols;
	struct uftrace_specs *specs;
	struct uftrace_records *records;
	struct uftrace_infer *infer;
};

/* Each returns false when the walk must stop: w->status says why. */
bool uftrace_walk_fail(struct uftrace_walk *w, enum tracemend_status status);
bool uftrace_walk_limit(struct uftrace_walk *w, const char *what, uint64_t limit);
/* Reads a text file whole, up to UFTRACE_TEXT_BYTES_MAX. */
bool uftrace_walk_slurp(struct uftrace_walk *w, struct source *source, char **text, size_t *size);
/* Room for one more element of `size` bytes behind `count`: array_room(). The caller bounds the count. */
bool uftrace_walk_room(struct uftrace_walk *w, void *list, size_t *capacity, size_t count, size_t size);
/* map_set() of a map that is bounded by the table whose ids it has. */
bool uftrace_walk_set(struct uftrace_walk *w, struct map *m, int64_t key, uint32_t value);

#endif
