/* Output that appears whole under its name or not at all (P10).
 *
 * A file has no name until it is complete, where the system has O_TMPFILE: what is left when the process is killed, the system
 * removes. A directory, a file that replaces another, and a file on other systems have a temporary sibling, ".tracemend-", six
 * characters and the extension, which is locked as long as its process lives. */
#ifndef CORE_PUBLISH_H
#define CORE_PUBLISH_H

#include "core/plan.h"

struct publication;

/* Removes what killed processes left behind in the folder of path: temporaries of this user that nobody holds locked.
 * publication_begin() does it, too, once for each folder. */
void publication_clean(const char *path);
/* Makes a temporary file or directory beside path. NULL and *error on failure, when nothing is left on disk. */
struct publication *publication_begin(const char *path, bool directory, struct tracemend_error *error);
/* Begins a file of the output (name "" for a single file; parent directories are made). publication_write() appends to it. */
enum tracemend_status publication_file(struct publication *p, const char *name);
enum tracemend_status publication_write(struct publication *p, const void *data, size_t length);
/* Appends the first `length` bytes of a file, copied by the system without passing through this process. False, and nothing was
 * appended: the system cannot, or something failed (publication_status()). */
bool publication_copy(struct publication *p, int from, uint64_t length);
/* Makes a symbolic link in a directory. For generated captures only: repair never makes one. */
enum tracemend_status publication_link(struct publication *p, const char *name, const char *target);
/* The path that was asked for. */
const char *publication_path(const struct publication *p);
/* The file being written, for a caller that writes to it by itself. */
int publication_descriptor(const struct publication *p);
/* The path at which this process can read the temporary output now. Files written so far are flushed. */
const char *publication_temporary(struct publication *p);
/* A path at which other processes can read it, too. NULL: it could not get one (publication_status()). */
const char *publication_named_temporary(struct publication *p);
/* The first failure so far. */
enum tracemend_status publication_status(const struct publication *p);
const char *publication_message(const struct publication *p);
/* Writes to disk and renames into place. Frees p in every case, and removes the temporary output on failure. */
enum tracemend_status publication_commit(struct publication *p, struct tracemend_error *error);
/* Removes the temporary output and frees p, which may be NULL. */
void publication_abandon(struct publication *p);

#endif
