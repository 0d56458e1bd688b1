/* The last mutants of an engine that does not name what it keeps by its origin (libFuzzer names it by its SHA-1): a file with a
 * line of JSON for each, which outlives the process. tracemend-labels reads it. */
#ifndef FUZZ_RECENT_H
#define FUZZ_RECENT_H

#include "mutate.h"

/* Lines of the file, each so many bytes; the oldest is written over. Spaces before the line's end fill it. */
#define RECENT_LINES 4096u
#define RECENT_LINE 512u
/* In lower-case hex, with NUL. */
#define RECENT_DIGEST_SIZE 41u

/* Zero-initialised is closed: nothing is noted. */
struct recent {
	char *lines;
	uint32_t next;
};

/* False, with a message to stderr: the file cannot be made. */
bool recent_open(struct recent *r, const char *path);
/* Notes bytes that were made of `from`. m: by which mutation; NULL: by the engine itself. */
void recent_note(struct recent *r, const struct mutation *m, const char from[RECENT_DIGEST_SIZE], const uint8_t *data, size_t size);
const char *recent_digest(const uint8_t *data, size_t size, char out[RECENT_DIGEST_SIZE]);

#endif
