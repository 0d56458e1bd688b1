/* The files of a trace, and how their bytes are read. */
#ifndef LTTNG_FILE_H
#define LTTNG_FILE_H

#include "formats/lttng/scan/lttng_types.h"

struct lttng_file {
	struct source *source;
	const char *base;	       /* borrowed: the last part of the name */
	struct lttng_channel *channel; /* NULL: not a tracefile */
	int64_t cpu;
	uint32_t serial; /* from 1 */
	bool flight, metadata, compact, control, empty;
	/* What its first block shows. */
	const struct lttng_layout *layout; /* NULL: none */
	int major, minor;		   /* known or not; -1: none */
	bool big_endian;
	uint32_t header;	   /* bytes of a header of that version; 0: of none that is known */
	struct lttng_header first; /* the first header, when layout is set */
	/* Of its blocks. */
	uint64_t block_size; /* up to 2.4 */
	uint64_t resync;     /* the next sound header behind resync_from; 0: none was searched; UINT64_MAX: there is none */
	uint64_t resync_from;
	uint64_t events, blocks;
	uint64_t beats_exact, beats_skewed; /* heartbeats that carry their own stamp, and others */
	struct lttng_header last;	    /* the last block's header as kept, when has_last */
	bool has_last;
	bool unheaded;	       /* repair: one of them had no header */
	struct finding *cause; /* of an error in the block before */
	uint64_t zeros_until;  /* end of the last run of blocks of zeros; 0: none */
	struct {
		uint64_t offset, length;
	} laps[LTTNG_LAPS]; /* the blocks before; length 0: none */
	unsigned lap;	    /* the one to be replaced */
	bool noted_padding, noted_order, noted_freq, noted_switch, noted_session, noted_vendor; /* once a file */
	/* Of repair. */
	bool aside; /* not walked: set aside or dropped by repair, for `aside_rule` */
	unsigned aside_rule;
	const char *aside_why;	     /* NULL: its bytes are dropped */
	uint64_t kept_to;	     /* of a description: the rest is left out; 0: nothing is */
	unsigned output;	     /* of the plan */
	uint64_t last_from, last_to; /* bytes of the source: the last event that repair keeps of the block before; equal: none */
};

struct lttng_files {
	const char *root; /* prefix of their names, with '/', or "" */
	size_t root_length;
	struct lttng_file *list; /* owned; in order of name */
	size_t count, capacity;
};

/* Of the stream of events of a block at `base`; the bytes come from t->window. */
struct lttng_stream lttng_stream_open(struct lttng_trace *t, const struct lttng_file *f, uint64_t base);
/* Copies bytes that the file has, without moving the window. */
bool lttng_file_read(struct lttng_trace *t, const struct lttng_file *f, uint64_t offset, void *to, size_t length);
/* Loads the first header of a file by t's layout, which becomes the file's. False: t->status. */
bool lttng_file_load(struct lttng_trace *t, struct lttng_file *f);
void lttng_file_aside(struct lttng_file *f, unsigned rule, const char *why);

#endif
