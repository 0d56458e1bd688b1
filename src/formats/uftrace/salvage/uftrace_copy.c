/* Records that are there twice: where the first of them are. */
#include <string.h>

#include "formats/uftrace/salvage/uftrace_resync.h"
#include "formats/uftrace/scan/uftrace_stream.h"

uint64_t uftrace_copy_find(struct uftrace_stream *t, uint64_t at, bool *unread)
{
	uint8_t first[UFTRACE_RECORD_SIZE];
	const uint8_t *p = window_at(&t->window, at, sizeof(first));
	const uint64_t most = at < UFTRACE_REREAD_MAX ? at : UFTRACE_REREAD_MAX;

	*unread = true;
	if (!p || most < sizeof(first))
		return at;
	memcpy(first, p, sizeof(first));
	for (uint64_t back = most < 512 ? most : 512;; back = back * 4 < most ? back * 4 : most) {
		size_t got = 0;
		if (t->reread < back) {
			*unread = true;
			return at;
		}
		t->reread -= back;
		uftrace_stream_open_other(t);
		p = window_upto(&t->other, at - back, (size_t)back, &got);
		const uint8_t *found = p && got == back ? memmem(p, (size_t)back, first, sizeof(first)) : NULL;
		/* The last one: the copy is as short as it can be. */
		for (const uint8_t *more = found; more; found = more ? more : found)
			more = memmem(found + 8, (size_t)(back - (size_t)(found + 8 - p)), first, sizeof(first));
		if (found)
			return at - back + (uint64_t)(found - p);
		*unread = !p || got != back;
		if (back == most)
			return at;
	}
}

bool uftrace_copy_is_there(struct uftrace_stream *t, uint64_t at)
{
	bool unread;

	return uftrace_copy_find(t, at, &unread) != at || unread;
}
