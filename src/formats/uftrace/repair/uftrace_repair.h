/* What the output is: edits, files left out, files and headers made anew. */
#ifndef UFTRACE_REPAIR_H
#define UFTRACE_REPAIR_H

#include "formats/uftrace/scan/uftrace_walk.h"

#include "core/edits.h"

struct uftrace_file;

/* ---- uftrace_repair.c ---- */

/* edits_add() where there is a plan; without one nothing is kept. */
void uftrace_edit_add(struct uftrace_walk *w, struct edits *e, uint64_t at, uint64_t remove, const char *text, size_t length,
		      unsigned rule, const char *why);
/* Leaves a range out that said something. */
void uftrace_edit_lose(struct uftrace_walk *w, struct edits *e, uint64_t at, uint64_t remove, unsigned rule, const char *why);
/* Keeps a line of a text that may not be as it was written: it is listed as doubtful. */
void uftrace_repair_doubt(struct uftrace_walk *w, const struct source *source, uint64_t at, uint64_t length);
/* The same for the line of text[0, size), which is that of the source, that has the byte at `at`. */
void uftrace_repair_doubt_line(struct uftrace_walk *w, const struct source *source, const char *text, size_t size, size_t at);
/* Appends the file with its edits to the output of that name, and frees the edits. */
bool uftrace_edit_apply(struct uftrace_walk *w, struct edits *e, struct uftrace_file *file, const char *output);
/* Leaves a whole file out. */
void uftrace_repair_drop(struct uftrace_walk *w, struct uftrace_file *file, unsigned rule, const char *why);
/* Copies or drops the files that nothing else has planned. */
void uftrace_repair_files(struct uftrace_walk *w);

/* ---- uftrace_repair_info.c, uftrace_repair_text.c: with a plan, once all else is known ---- */

bool uftrace_repair_info(struct uftrace_walk *w);
bool uftrace_repair_tasks(struct uftrace_walk *w);
/* A map for a session that has none. */
void uftrace_repair_map(struct uftrace_walk *w, const char *output);
/* Writes a symbol file without sizes, whose lines are out of order, in ascending order. text: the file. Of the edits, those of the
 * lines that say whose file it is are made. */
bool uftrace_repair_symbols(struct uftrace_walk *w, struct uftrace_file *file, const char *text, size_t size,
			    const struct edits *edits, const char *output);

#endif
