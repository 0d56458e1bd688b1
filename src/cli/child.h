/* Runs other people's programs: each as a child in a process group of its own, under limits of time and memory, with its
 * output read to a bound, and with the same addresses each time (where the system lets them). Several threads may run children at
 * once. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A child that only waits is given that many times its processor time by the clock. */
#define CHILD_PATIENCE 5u
/* Bytes of standard output that are kept: the last ones. */
#define CHILD_OUTPUT_MAX (128u * 1024)
/* Bytes of standard error that are kept: the first ones. */
#define CHILD_TALK_MAX 512u

struct child_limits {
	unsigned seconds; /* of processor time */
	uint64_t memory;  /* bytes of address space; 0: no limit */
};

enum child_end {
	CHILD_EXITED,	/* code: exit code */
	CHILD_KILLED,	/* code: the signal */
	CHILD_HUNG,	/* stopped at the limit of time */
	CHILD_NOT_RUN,	/* code: errno */
	CHILD_CANCELLED /* the program itself was told to stop */
};

struct child_result {
	enum child_end end;
	int code;
	bool talked;		   /* there was something on standard error */
	char talk[CHILD_TALK_MAX]; /* how that began */
	char *output;		   /* NULL unless asked for */
	size_t output_size;
};

/* The command with each "{}" replaced by path; NULL-terminated. NULL: out of memory. */
char **child_arguments(const char *const *command, size_t count, const char *path);
void child_arguments_free(char **arguments);
/* A command as one line that a shell takes as it is. NULL: out of memory. */
char *child_quote(const char *const *arguments, size_t count);

/* Runs a command to its end, whatever that is. What is left of its process group is killed. keep: standard output is
 * wanted, and is then the caller's to free. */
void child_run(char *const *arguments, const struct child_limits *limits, bool keep, struct child_result *result);

/* "SIGSEGV", or "signal 77". Returns name. */
const char *child_signal_name(char name[32], int number);

#endif
