/* What the output is: the walk decides what is kept, dropped and inserted, and this room writes the plan. Without a plan all
 * functions do nothing. */
#ifndef FXT_REPAIR_H
#define FXT_REPAIR_H

#include "core/edits.h"
#include "core/plan.h"
#include "formats/fxt/decode/fxt_decode.h"

struct fxt_repair {
	struct plan *plan; /* NULL: only check */
	struct source *source;
	unsigned output;
	bool big_endian;
	uint64_t keep_from; /* input bytes from here on are kept, and not in the plan yet */
	uint64_t patched;   /* records that were corrected */
	uint64_t moved;	    /* records that are written elsewhere */
	uint64_t again;	    /* registrations that were written a second time */
	struct edits edits; /* of the record being corrected */
};

void fxt_repair_open(struct fxt_repair *p, struct plan *plan, struct source *source);
void fxt_repair_close(struct fxt_repair *p);
/* Keeps everything up to `until` that was not dropped or replaced. Kept records do not get a segment each: everything since the
 * last drop, insertion or correction is one copy. */
void fxt_repair_keep(struct fxt_repair *p, uint64_t until);
void fxt_repair_drop(struct fxt_repair *p, uint64_t from, uint64_t until, unsigned rule, const char *why);
/* Records that are lost with what was dropped or replaced. */
void fxt_repair_lost(struct fxt_repair *p, uint64_t records, enum tracemend_exactness exactness);
/* Writes one record that the input does not have, of at most 8 words. */
void fxt_repair_insert(struct fxt_repair *p, uint64_t before, const uint64_t *words, size_t count, unsigned rule, const char *why);
/* Writes a record of the input again, which is kept in its place as well. */
void fxt_repair_copy(struct fxt_repair *p, uint64_t before, uint64_t from, uint64_t length, unsigned rule, const char *why);
/* Registrations that the input lacks. */
void fxt_repair_insert_string(struct fxt_repair *p, uint64_t before, uint16_t index);
void fxt_repair_insert_thread(struct fxt_repair *p, uint64_t before, uint8_t index);
/* Writes the magic number in place of the word at `at`. */
void fxt_repair_magic(struct fxt_repair *p, uint64_t at, unsigned rule);
/* A record was changed. */
void fxt_repair_patched(struct fxt_repair *p);
/* Corrects in place what the issues of the record at offset name. TM_OK or TM_NO_MEMORY. */
enum tracemend_status fxt_repair_record(struct fxt_repair *p, const struct fxt_record *r, uint64_t offset);

#endif
