/* Async operations, flows and blob streams, which are identified by an id or a name and not by nesting. */
#ifndef FXT_ASYNC_H
#define FXT_ASYNC_H

#include "formats/fxt/scan/fxt_nesting.h"

/* What is open of one kind. */
struct fxt_ids {
	struct map keys;     /* to the place in list */
	struct fxt_id *list; /* owned */
	size_t count, capacity;
	uint32_t closed; /* 1 + the index of an entry that is not open, whose key is the same of the next such entry; 0: none */
};

struct fxt_operations {
	struct fxt_report *report;
	struct fxt_ids asyncs, flows, blobs;
};

/* last: the highest timestamp of the provider so far. */
void fxt_async(struct fxt_operations *o, unsigned event, const uint64_t key[4], uint64_t time, uint64_t last, uint64_t offset);
void fxt_flow(struct fxt_operations *o, unsigned event, uint64_t id, uint64_t time, uint64_t last, uint64_t offset,
	      struct fxt_thread *t);
/* Offset of the first blob of that name where it has another type, for the first that differs; else FXT_BLOB_ALONE. */
#define FXT_BLOB_ALONE UINT64_MAX
uint64_t fxt_blob_stream(struct fxt_operations *o, uint32_t provider, uint64_t name, const struct fxt_record *r, uint64_t offset);
/* Reports what stayed open. */
void fxt_operations_report(struct fxt_operations *o);
void fxt_operations_close(struct fxt_operations *o);

#endif
