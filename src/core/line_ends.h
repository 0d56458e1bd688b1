/* Captures that were copied as text: a byte 0x0d was put in front of each byte 0x0a, as FTP does in its text mode (RFC 959, "ASCII
 * type") and programs that convert line ends do. */
#ifndef CORE_LINE_ENDS_H
#define CORE_LINE_ENDS_H

#include "core/plan.h"

/* Bytes 0x0a, in a file, from which it can be seen. */
#define LINE_ENDS_FEWEST 2u
/* So many at most are taken out of a capture, since each is a drop of its own: those of about 128 MB. Files with more stay as they
 * are. */
#define LINE_ENDS_MOST (512u * 1024)

/* Whether the beginning of a file of the input looks so. Reads little. Never with extra pieces or a donor. */
bool line_ends_suspected(struct bundle *b);

/* Plans the input without these bytes, which are dropped as `rule`; files that are not converted are copied. Returns how many
 * they are; 0 also where reading fails (b->error) or the plan does. */
uint64_t line_ends_undo(struct bundle *b, struct plan *p, unsigned rule);

#endif
