/* What a capture is made of. */
#ifndef FXT_GEN_ITEMS_H
#define FXT_GEN_ITEMS_H

#include "formats/fxt/gen/fxt_gen_model.h"

/* Anything legal here, by the features of the seed; and what the large features add, once. */
void fxt_make_item(struct fxt_gen *g);
void fxt_make_rarities(struct fxt_gen *g);
/* Ends every open duration, async operation and flow. */
void fxt_close_all(struct fxt_gen *g);

/* An instant, counter or complete event of any thread with at least so many arguments. */
void fxt_make_event(struct fxt_gen *g, unsigned type, unsigned least_args);
void fxt_make_begin(struct fxt_gen *g, unsigned thread);
void fxt_make_end(struct fxt_gen *g, unsigned thread);
/* A large blob of about that many words, at least 3. */
void fxt_make_large_blob(struct fxt_gen *g, size_t words);

/* Records on which no other record depends: a defect in one of them has no consequences. */
enum fxt_leaf {
	LEAF_INSTANT,
	LEAF_COUNTER,
	LEAF_COMPLETE,
	LEAF_LOG,
	LEAF_BLOB,
	LEAF_KERNEL,
	LEAF_USERSPACE,
	LEAF_LARGE,
	LEAF_LEGACY_SWITCH,
	LEAF_STRING,
	LEAF_THREAD,
	/* not in the 2022 profile, which takes an instant event instead: */
	LEAF_SWITCH,
	LEAF_WAKEUP,
	LEAF_MODULE,
	LEAF_MMAP,
	LEAF_BACKTRACE,
	FXT_LEAVES
};
void fxt_make_leaf_of(struct fxt_gen *g, enum fxt_leaf leaf);
void fxt_make_leaf(struct fxt_gen *g);

#endif
