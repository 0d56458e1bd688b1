/* The lines of task.txt: SESS, TASK, FORK and DLOP with their fields. */
#ifndef UFTRACE_TASK_LINE_H
#define UFTRACE_TASK_LINE_H

#include "formats/uftrace/decode/uftrace_str.h"

#include <stdint.h>

enum uftrace_task_kind { UFTRACE_LINE_SESS, UFTRACE_LINE_TASK, UFTRACE_LINE_FORK, UFTRACE_LINE_DLOP, UFTRACE_LINE_OTHER };

struct uftrace_task_parsed {
	enum uftrace_task_kind kind;
	uint64_t time;
	int64_t id;		      /* SESS: pid; TASK, DLOP: tid; FORK: child pid */
	int64_t parent;		      /* TASK: pid; FORK: ppid */
	uint64_t base;		      /* DLOP */
	struct uftrace_str sid, path; /* SESS, DLOP */
	bool odd_digits;	      /* the fraction of the time does not have nine digits */
	bool odd_quotes;	      /* the path is not in quotes */
};

/* By the first word of a line. */
enum uftrace_task_kind uftrace_task_keyword(const char *text, size_t length);
/* Reads a line of out->kind, without its LF. False: it does not have the fields of its keyword. */
bool uftrace_task_line_read(const char *text, size_t length, struct uftrace_task_parsed *out);

/* The most bytes of the words between the values that uftrace_task_line_mend() takes for hit. */
#define UFTRACE_LINE_WRONG_MAX 4
/* Reads a line in whose words, its keyword among them, bytes were hit, and whose values fill it as those of exactly one kind do.
 * Writes the words anew. Returns the number of bytes that changed; 0: it is not such a line, and is as it was. */
unsigned uftrace_task_line_mend(char *text, size_t length, struct uftrace_task_parsed *out);
/* Reads a line that has more blanks than one between its words. Takes them out of it; returns the length that it has then, 0: it is
 * not such a line, and is as it was. *sure: they are all behind the keyword, so that no digit was one of them. */
size_t uftrace_task_line_squeeze(char *text, size_t length, struct uftrace_task_parsed *out, bool *sure);
/* Reads a line of whose keyword and the blank behind it at most four letters are left, and the rest of which has the fields of
 * exactly one kind. Returns how many bytes stand in their place; SIZE_MAX: it is not such a line. */
size_t uftrace_task_line_behead(const char *text, size_t length, struct uftrace_task_parsed *out);
/* The keyword of a kind but UFTRACE_LINE_OTHER, and a blank. */
const char *uftrace_task_word(enum uftrace_task_kind kind);

#endif
