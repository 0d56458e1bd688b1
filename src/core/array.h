/* A growing array: the pointer, the count and the capacity are members of whoever owns it. */
#ifndef CORE_ARRAY_H
#define CORE_ARRAY_H

#include <stddef.h>

#include "tracemend.h"

/* Makes room for one more element of `size` bytes behind `count` elements. list: the address of the array's pointer, which
 * moves; NULL is an empty array. max: elements that the array may ever have.
 * TM_OK; TM_LIMIT when count has reached max; TM_NO_MEMORY. After a failure the array is as it was. The caller frees it. */
enum tracemend_status array_room(void *list, size_t *capacity, size_t count, size_t size, size_t max);

/* Sets i, a size_t, to the number of elements that come before a place of an array of `count` that is in order. before: an
 * expression of i, whether element i does. It is asked for few of them. */
#define array_search(i, count, before) \
	do { \
		size_t low_ = 0, high_ = (count); \
		while (low_ < high_) { \
			(i) = low_ + (high_ - low_) / 2; \
			if (before) \
				low_ = (i) + 1; \
			else \
				high_ = (i); \
		} \
		(i) = low_; \
	} while (0)

#endif
