/* The command that reads captures for --verify-with, reduce and try. It is run by a process that was started before the sandbox,
 * and that knows the command: what a hostile capture may make of this process cannot choose another one. */
#ifndef READER_H
#define READER_H

#include "cli/child.h"
#include "cli/cli.h"

enum reader_task {
	READER_RUN,    /* the command */
	READER_KEEP,   /* the command; its output is wanted */
	READER_DEBUG,  /* the command in gdb, whose output is wanted */
	READER_ORIGIN, /* no capture is read: lines "version ...", "build-id ...", "package ..." about the program */
};

struct reader_pool;

/* The program of a command, behind env, timeout and the like; of an interpreter its script. */
const char *reader_program(const struct cli_list *line, bool *script);

/* Starts the processes, one for each job, if there is a command and a sandbox. Before there are threads. Returns an exit code after
 * a message. */
int reader_start(struct cli_options *o);
/* Ends them. pool may be NULL. */
void reader_stop(struct reader_pool *pool);
/* Runs the command, with {} replaced by path, until it ends or a limit stops it. Several threads may do so. The caller frees
 * the result. With READER_ORIGIN, path is the program, behind "script:" if it cannot be asked itself. */
void reader_run(const struct cli_options *o, enum reader_task task, const char *path, struct child_result *result);
/* The same with that command of --reader. which: below compared.count. */
void reader_run_compared(const struct cli_options *o, size_t which, const char *path, struct child_result *result);

#endif
