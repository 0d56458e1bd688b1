#include "formats/fxt/salvage/fxt_again.h"

bool fxt_again_next(struct fxt_again *a, uint64_t *at, uint64_t size)
{
	while (*at < size) {
		while (a->until <= *at && a->from != UINT64_MAX)
			if (!a->plan || !plan_dropped_next(a->plan, &a->walk, &a->from, &a->until))
				a->from = a->until = UINT64_MAX;
		if (a->from <= *at) {
			*at = a->until;
			continue;
		}
		const uint64_t end = a->from < size ? a->from : size;
		if (fxt_decode_other(a->resync, *at) && a->resync->other.words <= (end - *at) / FXT_WORD)
			return true;
		*at += FXT_WORD;
	}
	return false;
}
