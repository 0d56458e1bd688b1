#include "formats/uftrace/scan/uftrace_walk.h"

#include "core/array.h"

bool uftrace_walk_room(struct uftrace_walk *w, void *list, size_t *capacity, size_t count, size_t size)
{
	enum tracemend_status status = array_room(list, capacity, count, size, SIZE_MAX);

	return status == TM_OK || uftrace_walk_fail(w, status);
}

bool uftrace_walk_set(struct uftrace_walk *w, struct map *m, int64_t key, uint32_t value)
{
	enum tracemend_status status = map_set(m, (uint64_t)key, value, SIZE_MAX);

	return status == TM_OK || uftrace_walk_fail(w, status);
}

bool uftrace_walk_fail(struct uftrace_walk *w, enum tracemend_status status)
{
	if (w->status == TM_OK)
		w->status = status;
	return false;
}

bool uftrace_walk_limit(struct uftrace_walk *w, const char *what, uint64_t limit)
{
	if (w->status == TM_OK)
		w->status = scan_limit(w->s, "more than %llu %s", (unsigned long long)limit, what);
	return false;
}

bool uftrace_walk_slurp(struct uftrace_walk *w, struct source *source, char **text, size_t *size)
{
	enum tracemend_status status = source_slurp(source, UFTRACE_TEXT_BYTES_MAX, text, size);

	if (status == TM_LIMIT) {
		w->status = scan_limit(w->s, "%s is larger than %u bytes, the most that is read of a text file", source->name,
				       UFTRACE_TEXT_BYTES_MAX);
		return false;
	}
	return status == TM_OK || uftrace_walk_fail(w, status);
}
