/* What the records of the last block changed of what was registered before them: providers that were entered or introduced again,
 * tick rates, strings and threads. A block of another capture, or of another place of this one, changes what the records behind it
 * mean; salvage/fxt_splice.h undoes that. */
#ifndef FXT_JOURNAL_H
#define FXT_JOURNAL_H

#include "formats/fxt/scan/fxt_table.h"

/* Forgets all changes, and what they own. */
void fxt_journal_close(struct fxt_registry *reg);
/* The number of changes that records made no further than FXT_JOURNAL_BYTES in front of the position; older ones are forgotten. */
unsigned fxt_journal_recent(struct fxt_registry *reg);
/* The n-th last of them, n from 1. */
struct fxt_change *fxt_journal_last(struct fxt_registry *reg, unsigned n);

/* Each notes a change before it is made, at the position. The provider that is current will not be, unless it is `next`. */
void fxt_journal_enter(struct fxt_registry *reg, const struct fxt_provider *next);
/* The provider is introduced: what it registered before, if anything, is kept here, and it has no tables. */
void fxt_journal_reset(struct fxt_registry *reg, struct fxt_provider *provider);
void fxt_journal_rate(struct fxt_registry *reg, uint64_t ticks);
/* The current provider registers that text or thread, perhaps in place of another one. */
void fxt_journal_string(struct fxt_registry *reg, uint32_t index, uint64_t hash);
void fxt_journal_thread(struct fxt_registry *reg, uint32_t index, uint64_t process, uint64_t thread);

/* Undoes the last n changes, the latest first. What is to be written so that readers undo them as well is up to the caller, who may
 * look at the changes before. Strings and threads that had a placeholder are not registered any more. */
void fxt_journal_undo(struct fxt_registry *reg, unsigned n);

/* The last record that was accepted, at `at` and with that header, is dropped: what it registered is not registered any more. */
void fxt_journal_unregister(struct fxt_registry *reg, uint64_t header, uint64_t at);

#endif
