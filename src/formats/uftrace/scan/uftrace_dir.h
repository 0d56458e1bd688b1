/* The files of a recording. */
#ifndef UFTRACE_DIR_H
#define UFTRACE_DIR_H

#include "formats/uftrace/decode/uftrace_name.h"
#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_file {
	struct source *source;
	char as[48]; /* the name that it should have; empty: its own */
	enum uftrace_kind kind;
	struct uftrace_name name;
	bool planned; /* the plan has all of its bytes */
};

#define UFTRACE_ADOPTED_MAX 64u /* further ones keep their names */

struct uftrace_dir {
	const struct bundle *in;
	struct uftrace_file *files; /* owned; in the order of the sources of `in` */
	size_t count;
	uint32_t info, task_txt, task_legacy, kernel_header, events; /* indices into files or UFTRACE_NONE */
	bool irregular_info, irregular_task;			     /* the name is taken by what is not a regular file */
	bool has_perf, has_kernel;
	uint32_t adopted[UFTRACE_ADOPTED_MAX]; /* files with another name than they should have */
	size_t adopted_count;
};

bool uftrace_dir_walk(struct uftrace_walk *w);
/* Takes a file for the one of that name, which is missing. */
void uftrace_dir_adopt(struct uftrace_dir *dir, uint32_t index, const char *name);
/* The name under which a file is written. */
const char *uftrace_dir_name(const struct uftrace_file *file);
/* What is to be said of names; after files were adopted. */
bool uftrace_dir_names(struct uftrace_walk *w);
/* The file of that exact name among the capture's own, or UFTRACE_NONE. */
uint32_t uftrace_dir_find(const struct uftrace_dir *dir, const char *name);
void uftrace_dir_free(struct uftrace_dir *dir);

#endif
