/* What a file of a recording is by its name. */
#ifndef UFTRACE_NAME_H
#define UFTRACE_NAME_H

#include <stddef.h>
#include <stdint.h>

enum uftrace_kind {
	UFTRACE_FILE_UNKNOWN,
	UFTRACE_FILE_INFO,
	UFTRACE_FILE_TASK_TXT,
	UFTRACE_FILE_TASK,
	UFTRACE_FILE_MAP,
	UFTRACE_FILE_MAP_TMP,
	UFTRACE_FILE_SYM,
	UFTRACE_FILE_DBG,
	UFTRACE_FILE_DAT,
	UFTRACE_FILE_DAT_ODD,
	UFTRACE_FILE_PERF,
	UFTRACE_FILE_KERNEL_HEADER,
	UFTRACE_FILE_KALLSYMS,
	UFTRACE_FILE_KERNEL_DAT,
	UFTRACE_FILE_EVENTS,
	UFTRACE_FILE_OPTS,
	UFTRACE_FILE_EXTERN,
	UFTRACE_FILE_NOTE,
	UFTRACE_FILE_CHANNEL,
	UFTRACE_FILE_SHM
};

/* What the name says beside the kind. */
struct uftrace_name {
	uint64_t number; /* tid of DAT, of SHM */
	const char *sid; /* of MAP, MAP_TMP and SHM: within the name */
	size_t sid_length;
};

/* What a file is by its name. */
enum uftrace_kind uftrace_name_read(struct uftrace_name *out, const char *name);

#endif
