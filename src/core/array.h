/* A growing array: the pointer, the count and the capacity are members of whoever owns it. */
#ifndef CORE_ARRAY_H
#define CORE_ARRAY_H

#include <stddef.h>

#include "tracemend.h"

/* Makes room for one more element of `size` bytes behind `count` elements. list: the address of the array's pointer, which
 * moves; NULL is an empty array. max: elements that the array may ever have.
 * TM_OK; TM_LIMIT when count has reached max; TM_NO_MEMORY. After a failure the array is as it was. The caller frees it. */
enum tracemend_status array_room(void *list, size_t *capacity, size_t count, size_t size, size_t max);

#endif
