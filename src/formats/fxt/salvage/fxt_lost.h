/* What a region of damage may have held. */
#ifndef FXT_LOST_H
#define FXT_LOST_H

#include "formats/fxt/salvage/fxt_resync.h"

struct fxt_loss {
	uint64_t registrations; /* of strings and threads, at most; UINT64_MAX: it is not known */
	bool others;		/* and a section, a provider or a tick rate */
};

/* Of [from, until), behind the records of `p` and in front of a sound one. A record in it is an event where its header and its time
 * were not hit, or its time, or where it is exact without the bytes that were inserted. */
struct fxt_loss fxt_lost(struct fxt_resync *y, const struct fxt_provider *p, uint64_t from, uint64_t until);

#endif
