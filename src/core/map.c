#include "core/map.h"

#include <stdlib.h>
#include <string.h>

#define MAP_FIRST 64u /* slots of a map with its first key */

/* The slot that a key comes to where none is taken. Fibonacci hashing (Knuth, The Art of Computer Programming 6.4): the uppermost
 * bits, as many as the capacity has, since only they depend on all bits of the key. Capacities are powers of two from MAP_FIRST on.
 */
static size_t map_home(const struct map *m, uint64_t key)
{
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> __builtin_clzll(m->capacity - 1));
}

static size_t map_slot(const struct map *m, uint64_t key)
{
	size_t slot = map_home(m, key);

	while (m->values[slot] != MAP_NONE && m->keys[slot] != key)
		slot = (slot + 1) & (m->capacity - 1);
	return slot;
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	return m->capacity ? m->values[map_slot(m, key)] : MAP_NONE;
}

uint32_t *map_at(const struct map *m, uint64_t key)
{
	uint32_t *value = m->capacity ? &m->values[map_slot(m, key)] : NULL;
	return value && *value != MAP_NONE ? value : NULL;
}

static bool map_grow(struct map *m)
{
	struct map more = { .capacity = m->capacity ? m->capacity * 2 : MAP_FIRST };

	if (more.capacity > SIZE_MAX / sizeof(*more.keys))
		return false;
	more.keys = malloc(more.capacity * sizeof(*more.keys));
	more.values = malloc(more.capacity * sizeof(*more.values));
	if (!more.keys || !more.values) {
		map_free(&more);
		return false;
	}
	memset(more.values, 0xff, more.capacity * sizeof(*more.values)); /* MAP_NONE */
	for (size_t i = 0; i < m->capacity; i++) {
		if (m->values[i] == MAP_NONE)
			continue;
		size_t slot = map_slot(&more, m->keys[i]);
		more.keys[slot] = m->keys[i];
		more.values[slot] = m->values[i];
	}
	more.count = m->count;
	map_free(m);
	*m = more;
	return true;
}

enum tracemend_status map_set(struct map *m, uint64_t key, uint32_t value, size_t max)
{
	size_t slot = 0;

	if (m->capacity) {
		slot = map_slot(m, key);
		if (m->values[slot] != MAP_NONE) {
			m->values[slot] = value;
			return TM_OK;
		}
	}
	if (m->count >= max)
		return TM_LIMIT;
	if (m->count * 2 >= m->capacity) {
		if (!map_grow(m))
			return TM_NO_MEMORY;
		slot = map_slot(m, key);
	}
	m->keys[slot] = key;
	m->values[slot] = value;
	m->count++;
	return TM_OK;
}

/* Knuth, Algorithm 6.4R: later keys move back over the hole, so that no marks of deleted keys are needed. */
void map_remove(struct map *m, uint64_t key)
{
	const size_t mask = m->capacity - 1;
	size_t hole = m->capacity ? map_slot(m, key) : 0;

	if (!m->capacity || m->values[hole] == MAP_NONE)
		return;
	for (size_t i = (hole + 1) & mask; m->values[i] != MAP_NONE; i = (i + 1) & mask) {
		/* A key may move unless its home lies between the hole and its slot. */
		if (((i - map_home(m, m->keys[i])) & mask) < ((i - hole) & mask))
			continue;
		m->keys[hole] = m->keys[i];
		m->values[hole] = m->values[i];
		hole = i;
	}
	m->values[hole] = MAP_NONE;
	m->count--;
}

void map_clear(struct map *m)
{
	if (m->capacity)
		memset(m->values, 0xff, m->capacity * sizeof(*m->values));
	m->count = 0;
}

void map_free(struct map *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct map){ 0 };
}
