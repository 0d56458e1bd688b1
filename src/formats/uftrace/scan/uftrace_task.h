/* task.txt: its lines. */
#ifndef UFTRACE_TASK_H
#define UFTRACE_TASK_H

#include "formats/uftrace/decode/uftrace_task_line.h"
#include "formats/uftrace/scan/uftrace_walk.h"

#include "core/edits.h"

struct uftrace_task_line {
	uint64_t offset, length; /* in task.txt with its LF; length 0: added by repair */
	uint32_t text;		 /* bytes of it in uftrace_tasks.text, without NUL bytes and LF */
	bool verbatim;		 /* it is these and the LF */
	enum uftrace_task_kind kind;
	uint32_t order, number; /* among the kept lines, from 0; in the file, from 1 */
	uint64_t time;
	int64_t id;	  /* SESS: pid; TASK, DLOP: tid; FORK: child pid */
	int64_t parent;	  /* TASK: pid; FORK: ppid */
	uint32_t session; /* SESS: its index; DLOP: that of its library; else UFTRACE_NONE */
};

struct uftrace_tasks {
	char *text;			 /* owned */
	size_t size, zeros;		 /* zeros: after the last line */
	struct uftrace_task_line *lines; /* owned: kept lines, file order */
	size_t count, capacity;
	struct map known;	      /* ids of TASK and FORK lines -> the last such line */
	struct map known_first;	      /* id -> its first TASK or FORK line */
	struct map parents;	      /* pid -> line of its FORK */
	struct finding *damage;	      /* explains lines which are missing */
	bool legacy_text, legacy_bad; /* the lines are of the binary file `task` */

	struct edits edits;	   /* of task.txt; only with a plan */
	unsigned rule;		   /* why lines are added */
	struct bytes added, front; /* lines that repair adds at the end, and at the beginning */
};

bool uftrace_task_walk(struct uftrace_walk *w);
/* The file that task lines come from; where there is none, one that stands for it in findings. */
struct source *uftrace_task_source(const struct uftrace_walk *w);
/* The process of a task: by its last line, or else itself. */
int64_t uftrace_task_process(const struct uftrace_tasks *tasks, uint64_t tid);
void uftrace_task_free(struct uftrace_tasks *tasks);

#endif
