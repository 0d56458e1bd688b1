/* Breakers: one a rule, called by stage (core/breakers.h); fxt has GEN_SHAPE, before anything is drawn, GEN_PLANT, between two
 * items, and GEN_BYTES. */
#ifndef FXT_BREAK_H
#define FXT_BREAK_H

#include "formats/fxt/gen/fxt_gen.h"

#define BREAKERS_FORMAT fxt
#define BREAKERS_RULES "formats/fxt/fxt_rules.def"
#include "core/breakers.h"

/* ---- fxt_break_common.c: what breakers share ---- */

/* Closes what the anonymous context has open, since no record returns to it. Called before another provider comes. */
void fxt_break_leave(struct fxt_gen *g);
/* A new provider, introduced and current. */
void fxt_break_provider(struct fxt_gen *g);
/* Goes back to the provider that was current, unless it is the anonymous one. */
void fxt_break_return(struct fxt_gen *g, unsigned provider);
/* True, and the record written last is removed, when it decodes without a fault as a record of another type that differs in one
 * bit: then it is not decidable which of the two is damaged. `tries` are left; the last one is always kept. */
bool fxt_break_withdraw(struct fxt_gen *g, unsigned tries);
/* A few valid records that follow a damaged one. */
void fxt_break_follow(struct fxt_gen *g);
/* A word that no record and no argument begins with: its size would be 0. */
uint64_t fxt_break_word(struct fxt_gen *g);
/* An instant event with arguments that are given; who and names are any. */
void fxt_break_event(struct fxt_gen *g, unsigned type, const struct fxt_arg *args, unsigned count, uint64_t tail);

#endif
