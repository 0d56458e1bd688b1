/* One block: judge the header, walk the events, decide. */
#ifndef LTTNG_BLOCK_H
#define LTTNG_BLOCK_H

#include "formats/lttng/scan/lttng_frame.h"
#include "formats/lttng/scan/lttng_walk.h"

struct lttng_block {
	const struct lttng_frame *frame;
	uint64_t number;
	uint8_t head[LTTNG_HEADER_MAX];	  /* as it is */
	uint8_t header[LTTNG_HEADER_MAX]; /* as it should be */
	struct lttng_header h;		  /* its values, as they should be */
	uint64_t size;			  /* of the block, as it should be */
	uint64_t data_end;		  /* rel, where the data ends; before the walk as the header says */
	bool keep;			  /* it stays */
	bool open;			  /* the marks of a block that was never closed */
	bool unknown_end;		  /* where its data ends is not known */
	bool bad_end;			  /* its end stamp is wrong */
	bool cut;			  /* the file ends within it */
	bool rebuilt;			  /* the header is lost, and made anew from other blocks */
	bool begin_lost;		  /* its begin stamp is wrong, and was made up */
	bool twice;			  /* its bytes are those right before it: it is left out */
	bool repeated;			  /* it has the stamps of the block before */
	bool early;			  /* it begins before the block before does, and does not end before it */
	bool lost;			  /* something of it is lost, it cannot be known how much */
	unsigned rule;			  /* of the first error: what changes are for */
	struct finding *cause;
	bool errors;
};

/* lttng_block.c */
void lttng_file_scan(struct lttng_trace *t, struct lttng_file *f);

/* lttng_header.c: the header of a block against those of the trace. */
void lttng_header_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b);
/* Reports something on bytes [from, from + length) of the block. The first error is the reason for what repair changes; later
 * errors of the same block follow from the same damage: they are folded, and NULL is returned. */
#define lttng_block_report(t, f, b, rule, ...) ((void)PLACE(rule), lttng_block_report_at((t), (f), (b), (rule), __VA_ARGS__))
struct finding *lttng_block_report_at(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, unsigned rule,
				      uint64_t from, uint64_t length, const char *format, ...) PRINTF_LIKE(7, 8);
/* The same on a field of the header. */
#define lttng_field_report(t, f, b, rule, ...) ((void)PLACE(rule), lttng_field_report_at((t), (f), (b), (rule), __VA_ARGS__))
struct finding *lttng_field_report_at(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, unsigned rule,
				      enum lttng_field field, const char *format, ...) PRINTF_LIKE(6, 7);

/* lttng_sizes.c: the size fields of a block. */
void lttng_sizes_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b);

/* lttng_time.c */
/* Stamps of a block against each other, the trace and the block before; after the walk. */
void lttng_time_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b, const struct lttng_walk *w);
void lttng_losses_judge(struct lttng_trace *t, struct lttng_file *f, struct lttng_block *b);

#endif
