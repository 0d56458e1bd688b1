/* What breakers share: finding and editing files, lines and records of a generated uftrace directory.
 * A breaker edits the finished files, at GEN_BYTES. */
#ifndef UFTRACE_BREAK_H
#define UFTRACE_BREAK_H

#include "formats/uftrace/gen/uftrace_gen.h"

/* At GEN_SHAPE: the features that the capture must have and must not have. */
void uftrace_gen_need(struct uftrace_gen *g, uint64_t want, uint64_t refuse);
/* At GEN_SHAPE: the versions of the writer (both included). */
void uftrace_gen_versions(struct uftrace_gen *g, unsigned low, unsigned high);

/* At GEN_SHAPE: a number that is drawn and not used. Without it, the rule's file in corpus/ would be another one. */
void uftrace_gen_unused(struct uftrace_gen *g, unsigned n);

/* ---- files ---- */

/* The file of that name; NULL when the capture has none. */
struct bytes *uftrace_genfile(struct uftrace_gen *g, const char *name);
/* One of the files whose names start and end so, and that are not empty; NULL: none. *name is set. */
struct bytes *uftrace_genfile_any(struct uftrace_gen *g, const char *prefix, const char *suffix, const char **name);
void uftrace_genfile_remove(struct uftrace_gen *g, const char *suffix);
struct bytes *uftrace_genfile_dat(struct uftrace_gen *g, unsigned task);
void uftrace_genfile_rename(struct uftrace_gen *g, const char *from, const char *to);

/* ---- lines of text files ---- */

struct uftrace_row {
	size_t at, length; /* with its LF */
	bool found;
};

/* The n-th line (from 0) that starts so. */
struct uftrace_row uftrace_row_find(const struct bytes *b, const char *prefix, unsigned n);
unsigned uftrace_row_count(const struct bytes *b, const char *prefix);
/* One of the lines that start so. */
struct uftrace_row uftrace_row_any(struct uftrace_gen *g, const struct bytes *b, const char *prefix);
/* The line that starts at an offset. */
struct uftrace_row uftrace_row_at(const struct bytes *b, size_t at);
void uftrace_row_remove(struct bytes *b, struct uftrace_row line);
/* Inserts text, with its LF, before an offset. */
void uftrace_row_insert(struct bytes *b, size_t at, const char *format, ...) PRINTF_LIKE(3, 4);
/* Inserts one of some texts before one of the lines. */
void uftrace_row_insert_any(struct uftrace_gen *g, struct bytes *b, const char *const texts[], unsigned count);
void uftrace_row_replace(struct bytes *b, struct uftrace_row line, const char *format, ...) PRINTF_LIKE(3, 4);
/* Exchanges a line with the one after it. */
void uftrace_row_swap(struct bytes *b, struct uftrace_row line);
/* Copies the line without LF, cut to the room. */
void uftrace_row_copy(const struct bytes *b, struct uftrace_row line, char *text, size_t room);
/* Replaces the first occurrence of `from` at or after an offset. False: there is none. */
bool uftrace_row_replace_text(struct bytes *b, size_t at, const char *from, const char *to);

/* ---- info ---- */

void uftrace_geninfo_set_u16(struct uftrace_gen *g, size_t offset, uint16_t value);
/* Sets and clears bits of a 64-bit mask of the header. */
void uftrace_geninfo_mask(struct uftrace_gen *g, size_t offset, uint64_t set, uint64_t clear);

/* ---- records ---- */

/* One of the records that pass; NULL: none. */
const struct uftrace_gen_mark *uftrace_mark_any(struct uftrace_gen *g,
						bool (*test)(const struct uftrace_gen *, const struct uftrace_gen_mark *));
/* The record after it in the same file; NULL: none. */
const struct uftrace_gen_mark *uftrace_mark_next(const struct uftrace_gen *g, const struct uftrace_gen_mark *mark);
const struct uftrace_gen_mark *uftrace_mark_previous(const struct uftrace_gen *g, const struct uftrace_gen_mark *mark);
/* The word of a record, to change it. */
uint64_t uftrace_record_word(struct uftrace_gen *g, const struct uftrace_gen_mark *mark);
void uftrace_record_set(struct uftrace_gen *g, const struct uftrace_gen_mark *mark, uint64_t time, uint64_t word);
/* Inserts a record before an offset of a task's file. */
void uftrace_record_insert(struct uftrace_gen *g, unsigned task, size_t at, uint64_t time, uint64_t word);
/* A word: type 0 to 3, depth, address or id. */
uint64_t uftrace_record_make(unsigned type, unsigned depth, uint64_t value);

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
