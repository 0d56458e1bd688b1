/* Breakers: for each rule a function that puts its defect, once, into a generated uftrace directory.
 *
 * A breaker is called twice. Before anything is made, uftgen_ready() takes down what the capture must have for the
 * defect to be possible, and is false; when the files are written it is true, and the breaker edits them:
 *
 *	void uftrace_break_dlop_unknown_tid(struct uftrace_gen *u)
 *	{
 *		if (!uftgen_ready(u, UFTGEN_DLOPEN, 0))
 *			return;
 *		...
 *	}
 */
#ifndef UFTRACE_BREAK_H
#define UFTRACE_BREAK_H

#include "formats/uftrace/gen/uftrace_gen.h"

#define RULE(sym, id, severity, class, title, clause, explanation, repair) void uftrace_break_##sym(struct uftrace_gen *u);
#include "formats/uftrace/uftrace_rules.def"
#undef RULE

/* Whether the capture is made. Before that, notes the features that it must have and must not have. */
bool uftgen_ready(struct uftrace_gen *u, uint64_t want, uint64_t refuse);
/* Narrows the versions of the writer (both included); before uftgen_ready(). */
void uftgen_versions(struct uftrace_gen *u, unsigned low, unsigned high);

/* ---- files ---- */

/* The file of that name; NULL when the capture has none. */
struct bytes *break_file(struct uftrace_gen *u, const char *name);
/* One of the files whose names start and end so, and that are not empty; NULL: none. *name is set. */
struct bytes *break_any_file(struct uftrace_gen *u, const char *prefix, const char *suffix, const char **name);
void break_remove_files(struct uftrace_gen *u, const char *suffix);
struct bytes *break_dat(struct uftrace_gen *u, unsigned task);
void break_rename(struct uftrace_gen *u, const char *from, const char *to);

/* ---- lines of text files ---- */

struct row {
	size_t at, length; /* with its LF */
	bool found;
};

/* The n-th line (from 0) that starts so. */
struct row row_find(const struct bytes *b, const char *prefix, unsigned n);
unsigned row_count(const struct bytes *b, const char *prefix);
/* One of the lines that start so. */
struct row row_any(struct uftrace_gen *u, const struct bytes *b, const char *prefix);
/* The line that starts at an offset. */
struct row row_at(const struct bytes *b, size_t at);
void row_remove(struct bytes *b, struct row line);
/* Inserts text, with its LF, before an offset. */
void row_insert(struct bytes *b, size_t at, const char *format, ...) PRINTF_LIKE(3, 4);
/* Inserts one of some texts before one of the lines. */
void row_insert_any(struct uftrace_gen *u, struct bytes *b, const char *const texts[], unsigned count);
void row_replace(struct bytes *b, struct row line, const char *format, ...) PRINTF_LIKE(3, 4);
/* Exchanges a line with the one after it. */
void row_swap(struct bytes *b, struct row line);
/* Copies the line without LF, cut to the room. */
void row_copy(const struct bytes *b, struct row line, char *text, size_t room);
/* Replaces the first occurrence of `from` at or after an offset. False: there is none. */
bool text_replace(struct bytes *b, size_t at, const char *from, const char *to);

/* ---- info ---- */

void info_set_u16(struct uftrace_gen *u, size_t offset, uint16_t value);
/* Sets and clears bits of a 64-bit mask of the header. */
void info_mask(struct uftrace_gen *u, size_t offset, uint64_t set, uint64_t clear);

/* ---- records ---- */

/* One of the records that pass; NULL: none. */
const struct uftgen_mark *mark_any(struct uftrace_gen *u, bool (*test)(const struct uftrace_gen *, const struct uftgen_mark *));
/* The record after it in the same file; NULL: none. */
const struct uftgen_mark *mark_next(const struct uftrace_gen *u, const struct uftgen_mark *mark);
const struct uftgen_mark *mark_previous(const struct uftrace_gen *u, const struct uftgen_mark *mark);
/* The word of a record, to change it. */
uint64_t record_word(struct uftrace_gen *u, const struct uftgen_mark *mark);
void record_set(struct uftrace_gen *u, const struct uftgen_mark *mark, uint64_t time, uint64_t word);
/* Inserts a record before an offset of a task's file. */
void record_insert(struct uftrace_gen *u, unsigned task, size_t at, uint64_t time, uint64_t word);
/* A word: type 0 to 3, depth, address or id. */
uint64_t record_make(unsigned type, unsigned depth, uint64_t value);

enum {
	RECORD_ENTRY,
	RECORD_EXIT,
	RECORD_LOST,
	RECORD_EVENT,
	INFO_MAX_STACK = 32,
	INFO_FEAT = 16,
	INFO_MASK = 24,
};

#endif
