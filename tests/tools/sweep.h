/* Damaged copies of a capture, by seed: raw bytes that are hit anywhere or at the parts of its outline, lines of its texts, fields
 * and records that are changed in well-formed captures, files that are lost, exchanged or given
 * as extra pieces; now and then with the undamaged capture as a donor. */
#ifndef TESTS_SWEEP_H
#define TESTS_SWEEP_H

#include "../../fuzz/mutate.h"

struct sweep {
	const char *format, *profile;
	const uint8_t *data; /* borrowed */
	size_t size;
	struct mutation_input in; /* the undamaged capture; not open where it is no capture */
	uint16_t *group;	  /* by part: which name it has, from 1; 0: no target */
	uint32_t *members;	  /* by name: how many parts */
	uint32_t groups;
};

/* A capture: a file, or a plain tar of a directory. sweep_close() is due. */
void sweep_open(struct sweep *s, const char *format, const char *profile, const uint8_t *data, size_t size);
/* Makes the damaged copy of that seed, which borrows from the data. capture_free() is due. */
void sweep_copy(const struct sweep *s, uint64_t seed, struct capture *copy);
void sweep_close(struct sweep *s);

#endif
