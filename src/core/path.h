/* The parts of a path, as text: nothing is looked up. */
#ifndef CORE_PATH_H
#define CORE_PATH_H

#include <stddef.h>

/* The last name of a path, without slashes behind it; *length is that of the name. Points into path. */
const char *path_last(const char *path, size_t *length);
/* The directory that contains what the path names: "." where it has no slash, "/" for names in the root. The caller frees it. NULL:
 * out of memory. */
char *path_parent(const char *path);

#endif
