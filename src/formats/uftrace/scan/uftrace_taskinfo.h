/* The list of tasks in info. */
#ifndef UFTRACE_TASKINFO_H
#define UFTRACE_TASKINFO_H

#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_taskinfo {
	struct map listed; /* tids */
	int64_t *tids;	   /* owned: in order, valid and unique */
	size_t count, capacity;
	struct finding *fault; /* the list has fewer tasks than it had: why */
};

bool uftrace_taskinfo_read(struct uftrace_walk *w);
/* The list against task.txt and the files of records. */
bool uftrace_taskinfo_check(struct uftrace_walk *w);
void uftrace_taskinfo_free(struct uftrace_taskinfo *taskinfo);

#endif
