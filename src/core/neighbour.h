/* Formats that are not ours, by their first bytes: so that a wrong file is told by its name. */
#ifndef CORE_NEIGHBOUR_H
#define CORE_NEIGHBOUR_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the beginning of a file that neighbour_name() looks at. */
#define NEIGHBOUR_BYTES 4096u

/* What a file of another format is: "a perf.data file". NULL: unknown. */
const char *neighbour_name(const uint8_t *p, size_t length);

#endif
