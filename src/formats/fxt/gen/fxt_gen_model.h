/* What a capture may refer to: texts, tables, threads, clocks, arguments. */
#ifndef FXT_GEN_MODEL_H
#define FXT_GEN_MODEL_H

#include "formats/fxt/gen/fxt_gen.h"

struct fxt_text fxt_text(const char *text);
/* A text of exactly that many ASCII bytes, at most 32,670. */
struct fxt_text fxt_text_of(struct fxt_gen *g, unsigned length);
/* Any text that the features allow. */
struct fxt_text fxt_text_any(struct fxt_gen *g);

struct fxt_ref fxt_ref_inline(struct fxt_text text);
/* Registers the text first when it has to. */
struct fxt_ref fxt_ref_indexed(struct fxt_gen *g, struct fxt_text text);
struct fxt_ref fxt_ref_to(struct fxt_gen *g, struct fxt_text text);
struct fxt_ref fxt_ref_any(struct fxt_gen *g);
/* The empty string by index 0. */
struct fxt_ref fxt_ref_empty(void);
/* Registers a text under an index of the current provider, known or new. */
void fxt_register_string(struct fxt_gen *g, uint16_t index, struct fxt_text text);
/* An index that no provider registers in this capture. */
uint16_t fxt_string_unused(struct fxt_gen *g);
uint8_t fxt_thread_unused(struct fxt_gen *g);

/* The current provider. */
struct fxt_gen_provider *fxt_provider(struct fxt_gen *g);
/* Writes the info record of the current provider, and its initialization. */
void fxt_introduce(struct fxt_gen *g);
/* Makes that provider the current one: info the first time, section later. */
void fxt_switch_provider(struct fxt_gen *g, unsigned provider);
/* Adds a provider that no record names so far. Returns its number; the current one when there is no room. */
unsigned fxt_add_provider(struct fxt_gen *g);
/* An initialization record of the current provider. */
void fxt_put_initial(struct fxt_gen *g);
/* The time of the next record; moves the provider's clock. */
uint64_t fxt_tick(struct fxt_gen *g);
uint64_t fxt_koid(struct fxt_gen *g);
/* A thread of the current provider, by its place in g->threads. */
unsigned fxt_thread_any(struct fxt_gen *g);
/* A thread that nothing else in the capture uses. */
struct fxt_gen_thread fxt_thread_fresh(struct fxt_gen *g);
/* A reference to it: registers it, or not. */
struct fxt_who fxt_who(struct fxt_gen *g, unsigned thread);
struct fxt_who fxt_who_inline(const struct fxt_gen_thread *thread);
struct fxt_who fxt_who_any(struct fxt_gen *g);
/* That index of the current provider's table will be registered for another thread. */
void fxt_forget_thread_index(struct fxt_gen *g, uint8_t index);
struct fxt_arg fxt_arg_any(struct fxt_gen *g);
struct fxt_arg fxt_arg_of(struct fxt_gen *g, unsigned type, struct fxt_ref name);
/* A list of arguments; returns how many. At least `least`. */
unsigned fxt_args_any(struct fxt_gen *g, struct fxt_arg args[FXT_ARGS_MAX], unsigned least);

#endif
