/* What a region of damage may have held. */
#ifndef FXT_LOST_H
#define FXT_LOST_H

#include "formats/fxt/salvage/fxt_resync.h"
#include "formats/fxt/scan/fxt_table.h"

/* Registrations whose headers are left in a region of damage, at most. */
#define FXT_LOST_KNOWN 4u

struct fxt_loss {
	uint64_t registrations; /* of strings and threads that are not known, at most; UINT64_MAX: it is not known */
	uint64_t bytes;		/* that the region has for them */
	bool others;		/* and a section, a provider or a tick rate */
	struct fxt_lost_entry {
		bool thread;
		uint16_t index;
	} known[FXT_LOST_KNOWN];
	unsigned known_count;
};

/* Of [from, until), behind the records of the current provider and in front of a sound one. A record in it is an event where its
 * header and its time were not hit, or its time, or where it is exact without the bytes that were inserted. */
struct fxt_loss fxt_lost(struct fxt_resync *y, const struct fxt_registry *reg, uint64_t from, uint64_t until);

#endif
