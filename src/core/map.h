/* A map from integers to integers, bounded, for ids that the input chooses.
 *
 * Own code, not uthash: a million keys of a hostile capture are one allocation of 16 bytes a slot instead of an allocation
 * of 56 bytes and more a key. Linear probing over a power of two, at most half full; the hash is fixed, so that the same input
 * takes the same steps everywhere. */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracemend.h"

#define MAP_NONE UINT32_MAX

/* Zero-initialised is empty. */
struct map {
	uint64_t *keys;	  /* owned */
	uint32_t *values; /* owned; MAP_NONE: the slot is free */
	size_t capacity, count;
};

/* The value of key, or MAP_NONE. */
uint32_t map_get(const struct map *m, uint64_t key);
/* The place of its value, where another one but MAP_NONE may be stored; NULL: it has none. Valid until a new key is set. */
uint32_t *map_at(const struct map *m, uint64_t key);
/* Sets the value of key (not MAP_NONE), which may be new. max: keys that the map may ever have.
 * TM_OK, TM_LIMIT, TM_NO_MEMORY; after a failure the map is as it was. */
enum tracemend_status map_set(struct map *m, uint64_t key, uint32_t value, size_t max);
/* Forgets a key, if it is there. */
void map_remove(struct map *m, uint64_t key);
/* Forgets all keys and keeps the memory. */
void map_clear(struct map *m);
void map_free(struct map *m);

#endif
