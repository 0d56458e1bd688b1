/* Output that appears whole under its name or not at all (P10). */
#ifndef CORE_PUBLISH_H
#define CORE_PUBLISH_H

#include "core/plan.h"

struct publication;

/* Makes a temporary file or directory beside path. NULL and *error on failure, when nothing is left on disk. */
struct publication *publication_begin(const char *path, bool directory, struct tracemend_error *error);
/* Begins a file of the output (name "" for a single file; parent directories are made). publication_write() appends to it. */
enum tracemend_status publication_file(struct publication *p, const char *name);
enum tracemend_status publication_write(struct publication *p, const void *data, size_t length);
/* Makes a symbolic link in a directory. For generated captures only: repair never makes one. */
enum tracemend_status publication_link(struct publication *p, const char *name, const char *target);
/* The path at which the temporary output can be read now. Files written so far are flushed. */
const char *publication_temporary(struct publication *p);
/* The first failure so far. */
enum tracemend_status publication_status(const struct publication *p);
const char *publication_message(const struct publication *p);
/* Writes to disk and renames into place. Frees p in every case, and removes the temporary output on failure. */
enum tracemend_status publication_commit(struct publication *p, struct tracemend_error *error);
/* Removes the temporary output and frees p, which may be NULL. */
void publication_abandon(struct publication *p);

#endif
