/* What callers give, in the size that this version knows; and the version. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

const char *tracemend_version(void)
{
	return TRACEMEND_VERSION;
}

unsigned tracemend_version_number(void)
{
	return TRACEMEND_VERSION_NUMBER;
}

void tracemend_free(void *memory)
{
	free(memory);
}

bool engine_take(void *own, size_t size, size_t first_size, const void *given, size_t given_size, struct tracemend_error *error)
{
	const unsigned char *bytes = given;

	memset(own, 0, size);
	if (!given)
		return true;
	if (!given_size)
		given_size = first_size;
	memcpy(own, given, given_size < size ? given_size : size);
	for (size_t i = size; i < given_size; i++)
		if (bytes[i]) {
			(void)fault_set(error, TM_USAGE, "a structure has members of a newer version than " TRACEMEND_VERSION);
			return false;
		}
	return true;
}

bool engine_options(struct tracemend_options *own, const struct tracemend_options *given, struct tracemend_error *error)
{
	/* The size of version 0.1.0: as long as there is no other version, all of it. */
	return engine_take(own, sizeof(*own), sizeof(*own), given, given ? given->size : 0, error);
}

struct tracemend_error *engine_begin(struct tracemend_error *error, struct tracemend_error *fallback)
{
	error = error ? error : fallback;
	*error = (struct tracemend_error){ 0 };
	return error;
}

void *engine_null(struct tracemend_error *error, const char *what)
{
	(void)fault_set(error, TM_USAGE, "%s is NULL", what);
	return NULL;
}
