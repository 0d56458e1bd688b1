/* Names of C++ functions as readers show and match them: qualified, without template arguments and parameters. */
#ifndef UFTRACE_DEMANGLE_H
#define UFTRACE_DEMANGLE_H

#include "formats/uftrace/decode/uftrace_str.h"

#define UFTRACE_DEMANGLE_MAX 1024u /* bytes of a mangled name that is read */

/* Writes the name behind "_Z..." to out, which has `size` bytes; *result is there. False: the name is not mangled, or has parts
 * that are not read here (expressions, substitutions in the name itself). */
bool uftrace_demangle(struct uftrace_str mangled, char *out, size_t size, struct uftrace_str *result);

#endif
