/* What the program gives up before it reads the first byte of a capture: a capture may come from a stranger, and be made to take
 * over the process that reads it. Best effort: what the system does not have is not given up, and --version says so. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <stdbool.h>

#include "cli/cli.h"

/* Gives up the right to open files other than those of the options (Landlock), and to run programs, to make sockets, to trace
 * processes and the like (seccomp). For this thread and those that it starts from now on. Nothing with --no-sandbox. */
void sandbox_enter(const struct cli_options *o);
/* Whether the program is going to give up anything: then it cannot run commands itself. */
bool sandbox_wanted(const struct cli_options *o);
/* Prints the version of the program, and what this system and this build have of the sandbox. */
void sandbox_print_version(FILE *out);

/* ---- sandbox_calls.c ---- */

/* Gives up system calls. False: this build or this system cannot. */
bool sandbox_forbid_calls(void);
/* Whether this build and this system can. */
bool sandbox_can_forbid_calls(void);

#endif
