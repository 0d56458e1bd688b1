/* Runs other programs: each as a child in a process group of its own, with limits on time and memory, a limit on the output that
 * is kept, and without address space randomisation (where the system allows that). Several threads may run children at once. */
#ifndef CHILD_H
#define CHILD_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The limit on elapsed time, as a multiple of the limit on processor time. */
#define CHILD_PATIENCE 5u
/* Bytes of standard output that are kept, from its end. */
#define CHILD_OUTPUT_MAX (128u * 1024)
/* Bytes of standard error that are kept, from its start. */
#define CHILD_MESSAGES_MAX 512u
/* Bytes of standard error that are kept from its end: room for the report of a sanitizer. */
#define CHILD_TRAIL_MAX (64u * 1024)

struct child_limits {
	unsigned seconds; /* of processor time */
	uint64_t memory;  /* bytes of address space; 0: no limit */
	int stop;	  /* a descriptor: the child is stopped when it can be read, or when its writer has closed it; -1: none */
	const regex_t *count; /* what to count on standard output (child_count.h); NULL: nothing */
};

enum child_end {
	CHILD_EXITED,	/* code: exit code */
	CHILD_KILLED,	/* code: the signal */
	CHILD_HUNG,	/* stopped at a limit of time */
	CHILD_NOT_RUN,	/* code: errno */
	CHILD_CANCELLED /* tracemend itself was told to stop */
};

struct child_result {
	enum child_end end;
	int code;
	bool counted;			   /* a line of standard output matched limits.count */
	uint64_t count;			   /* of those lines, or the sum of their numbers */
	bool wrote_messages;		   /* something was written to standard error */
	char messages[CHILD_MESSAGES_MAX]; /* the start of standard error */
	char *trail;			   /* the end of standard error, with a NUL; NULL: nothing was written */
	size_t trail_size;
	char *output; /* NULL unless asked for */
	size_t output_size;
};

/* Frees what a result owns. */
void child_result_free(struct child_result *r);

/* The command with each "{}" replaced by path; NULL-terminated. NULL: out of memory. */
char **child_arguments(const char *const *command, size_t count, const char *path);
void child_arguments_free(char **arguments);
/* A command as one line for a shell. NULL: out of memory. */
char *child_quote(const char *const *arguments, size_t count);

/* Runs a command until it ends or is stopped, and kills what is left of its process group. keep: standard output is wanted. The
 * caller frees the result. */
void child_run(char *const *arguments, const struct child_limits *limits, bool keep, struct child_result *result);

/* "SIGSEGV", or "signal 77". Returns name. */
const char *child_signal_name(char name[32], int number);

#endif
