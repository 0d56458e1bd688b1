/* What depends on damage, and on records that are doubtful: what indexes have, whose records are, and at what rate. For the files
 * that list what is doubtful (fxt_doubt.h); all need a plan. */
#ifndef FXT_DISTRUST_H
#define FXT_DISTRUST_H

#include "formats/fxt/salvage/fxt_doubt.h"
#include "formats/fxt/salvage/fxt_lost.h"

/* Whether a tick rate is one that recorders write: numbers of other fields, and such as were hit, are seldom whole thousands. */
bool fxt_rate_is_round(uint64_t ticks);
/* The record at `at`, which was accepted, is doubtful: so is what it registers. */
void fxt_distrust(struct fxt_doubt *d, uint64_t at);
/* Whose the records behind the position are is doubtful, where what says so is at `from` or behind it. */
void fxt_distrust_context(struct fxt_doubt *d, uint64_t from);
/* What records from `from` to `until` registered is doubtful; and which providers they introduced, and what rates they set, of
 * whichever provider. */
void fxt_distrust_range(struct fxt_doubt *d, uint64_t from, uint64_t until);
/* A region of damage ends at `until`: what it may have held has its effect behind it. */
void fxt_distrust_region(struct fxt_doubt *d, uint64_t until, struct fxt_loss loss);
/* Registrations turn out to be missing behind the last region of damage: more than it had room for may be a block from elsewhere.
 */
void fxt_distrust_replaced(struct fxt_doubt *d);
/* Records up to the position may be another provider's, since some record before it. */
void fxt_distrust_section(struct fxt_doubt *d);
/* A registration is missing in front of the position: a tick rate near by may have bytes of other records. */
void fxt_distrust_rate(struct fxt_doubt *d);
/* In front of the next region, or at the end of the file: what the regions so far may have held is what is missing. */
void fxt_distrust_settle(struct fxt_doubt *d);
/* Why the record is doubtful though nothing about itself is; NULL: it is not. The text lives as long as the program. */
const char *fxt_distrust_why(struct fxt_doubt *d, const struct fxt_record *r);

#endif
