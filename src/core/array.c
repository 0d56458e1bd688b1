#include "core/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_FIRST 16u /* elements of an array that has only begun to grow */

enum tracemend_status array_room(void *list, size_t *capacity, size_t count, size_t size, size_t max)
{
	if (count >= max)
		return TM_LIMIT;
	if (count < *capacity)
		return TM_OK;
	size_t wanted = *capacity ? *capacity : ARRAY_FIRST / 2;
	if (wanted > SIZE_MAX / 2 / size)
		return TM_NO_MEMORY;
	wanted = wanted < max / 2 ? 2 * wanted : max;
	void *old;
	memcpy(&old, list, sizeof(old)); /* the pointer has another type there */
	void *grown = realloc(old, wanted * size);
	if (!grown)
		return TM_NO_MEMORY;
	memcpy(list, &grown, sizeof(grown));
	*capacity = wanted;
	return TM_OK;
}
