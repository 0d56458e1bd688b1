/* Entries of a thread map. Layout: kd_threadmap of xnu's bsd/sys/kdebug.h. */
#ifndef KTRACE_THREAD_H
#define KTRACE_THREAD_H

#include "formats/ktrace/ktrace.h"

struct ktrace_thread {
	uint64_t tid;
	int32_t pid;
	const uint8_t *name; /* KTRACE_NAME bytes; ends with the first NUL */
};

/* p: an entry of ktrace_thread_size(is_64) bytes, which the result borrows. */
static inline struct ktrace_thread ktrace_thread_decode(const uint8_t *p, bool is_64)
{
	return (struct ktrace_thread){ .tid = is_64 ? load_u64(p, false) : load_u32(p, false),
				       .pid = (int32_t)load_u32(p + (is_64 ? 8 : 4), false),
				       .name = p + (is_64 ? 12 : 8) };
}

/* Whether a control byte is in the name before its end. */
static inline bool ktrace_thread_name_has_control(const struct ktrace_thread *thread)
{
	for (unsigned i = 0; i < KTRACE_NAME && thread->name[i]; i++)
		if (thread->name[i] < 0x20)
			return true;
	return false;
}

#endif
