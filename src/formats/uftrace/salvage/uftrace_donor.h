/* --donor: a sound recording of the same program has what this one lost of its symbols and specifications. */
#ifndef UFTRACE_DONOR_H
#define UFTRACE_DONOR_H

#include "core/bytes.h"
#include "formats/uftrace/scan/uftrace_walk.h"

/* Takes symbol files and debug information that the recording does not have, of programs that its maps have; after the maps. */
bool uftrace_donor_files(struct uftrace_walk *w);
/* Appends the lines of a donor's info that have specifications, and how their patterns match, where it is of the same program;
 * nothing, where it has no specifications. */
bool uftrace_donor_specs(struct uftrace_walk *w, struct bytes *lines);

#endif
