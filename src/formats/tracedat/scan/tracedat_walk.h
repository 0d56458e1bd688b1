/* One walk over a file. Its parts have headers of their own. */
#ifndef TRACEDAT_WALK_H
#define TRACEDAT_WALK_H

#include "core/format.h"
#include "core/text.h"
#include "formats/tracedat/decode/tracedat_section_layout.h"
#include "formats/tracedat/repair/tracedat_output.h"
#include "formats/tracedat/scan/tracedat_data.h"
#include "formats/tracedat/scan/tracedat_directory.h"
#include "formats/tracedat/scan/tracedat_metadata.h"
#include "formats/tracedat/scan/tracedat_report.h"

struct tracedat_walk {
	struct scan *s;
	struct findings *findings; /* of the scan, or a scratch list while repair walks again */
	struct findings *scratch;
	struct source *source;
	struct window window;
	enum tracemend_status status; /* sticky: TM_NO_MEMORY, TM_LIMIT, TM_IO, TM_CANCELLED */
	bool repair;		      /* compose pieces */
	bool emitting;		      /* second walk over the pages: append them to out */
	bool stopped;		      /* a decompression bomb: nothing more is decoded */
	struct tracedat_shape shape;
	struct tracedat_prefix prefix;
	struct tracedat_metadata meta;
	struct tracedat_events events;
	struct tracedat_texts texts;
	struct tracedat_directory dir;
	struct tracedat_data data;
	struct tracedat_pages pages;
	struct tracedat_output out;
	bool follows[TRACEDAT_RULE_COUNT]; /* what would have been reported as the rule follows from another finding */
};

/* Where the file ends, or another trace.dat begins in it. */
static inline uint64_t tracedat_file_end(const struct tracedat_walk *w)
{
	return w->meta.other ? w->meta.other : w->source->size;
}

/* Sets up and tears down; repair/tracedat_restore.c runs more than one. */
bool tracedat_open(struct tracedat_walk *w, struct scan *s, struct source *source);
void tracedat_close(struct tracedat_walk *w);
void tracedat_walk_file(struct tracedat_walk *w);

/* ---- tracedat_status.c ---- */

/* Grows an array for one more element. False and a sticky status when memory is short or max is reached. */
bool tracedat_room(struct tracedat_walk *w, void *array, size_t *capacity, size_t count, size_t size, size_t max);
void tracedat_no_memory(struct tracedat_walk *w);
void tracedat_block_free(struct tracedat_block *b);
/* Notes why input bytes will not be in the output. */
void tracedat_drop(struct tracedat_walk *w, uint64_t from, uint64_t length, unsigned rule, const char *why);
/* The same for a range of which literal bytes with this rule and why have the content. */
void tracedat_drop_remade(struct tracedat_walk *w, uint64_t from, uint64_t length, unsigned rule, const char *why);
/* The same for a range of a block. */
void tracedat_drop_block(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t length, unsigned rule,
			 const char *why);

/* ---- tracedat_decompress.c ---- */

/* Makes *bytes, which the caller owns, at least so large. False: memory is short, and nothing changed. */
bool tracedat_bytes_room(uint8_t **bytes, size_t *capacity, size_t size);

/* tracedat_decode() with the compressor of the file; sets the status when memory is short. */
bool tracedat_decompress(struct tracedat_walk *w, const uint8_t *data, size_t size, uint8_t *out, size_t room,
			 struct tracedat_decoded *d);
/* True when decoding `decoded` bytes from `stored` is beyond the limits; reports it. */
bool tracedat_ratio_exceeded(struct tracedat_walk *w, uint64_t at, uint64_t stored, uint64_t decoded);

/* ---- tracedat_tables.c ---- */

struct tracedat_buffer *tracedat_buffer_add(struct tracedat_walk *w);
struct tracedat_cpu *tracedat_cpu_add(struct tracedat_walk *w, struct tracedat_buffer *b);

#endif
