/* Names of tracefiles: "A trace is contained in a directory tree". */
#ifndef LTTNG_NAME_H
#define LTTNG_NAME_H

#include "formats/lttng/lttng.h"

#define LTTNG_FLIGHT "flight-"
#define LTTNG_FLIGHT_LENGTH (sizeof(LTTNG_FLIGHT) - 1)

/* The last part of a path. */
const char *lttng_name_base(const char *name);
/* Splits "name_3": length of the name part, or 0. *cpu is -1 when it is negative or has no digits, *loose that there is more
 * than digits or a leading zero. */
size_t lttng_name_split(const char *base, int64_t *cpu, bool *loose);
/* Whether [name, name + length) is `text`. */
bool lttng_name_is(const char *name, size_t length, const char *text);
bool lttng_name_is_flight(const char *base);
/* Whether a file of that name declares events: by its channel, without prefix. */
bool lttng_name_is_metadata(const char *base);
/* Whether some part of the path begins with a dot. */
bool lttng_name_is_hidden(const char *name);
/* Whether a directory of that name is in the path. */
bool lttng_name_has_directory(const char *name, const char *directory);

#endif
