/* A bundle: the input as named byte sources. A file is one source; a directory or an archive has one for each member; a fuzzer's
 * buffer and the plan of a repair can be sources as well. No other code opens input files.
 *
 * Sources are read, never mapped: a process that reads a mapping of a file that was cut short is killed by SIGBUS. */
#ifndef CORE_BUNDLE_H
#define CORE_BUNDLE_H

#include "core/fault.h"
#include "core/limits.h"

struct bundle;
struct source;

enum source_kind {
	SOURCE_FILE,	  /* a regular file: the only kind that has bytes */
	SOURCE_DIRECTORY, /* an empty directory; a directory with files appears only in their names */
	SOURCE_SYMLINK,
	SOURCE_SPECIAL, /* FIFO, socket, device */
};

struct source_ops {
	/* Reads exactly length bytes at offset; the range lies within the source. On failure it fills *error and returns its
	 * status. */
	enum tracemend_status (*read)(struct source *s, uint64_t offset, void *buffer, size_t length,
				      struct tracemend_error *error);
	void (*close)(struct source *s); /* frees `data`; may be NULL */
	/* TM_IO and *error when the file is another one by now, or was written to. NULL: its bytes cannot change. */
	enum tracemend_status (*unchanged)(struct source *s, struct tracemend_error *error);
	/* A descriptor of the file, which stays the source's own; -1: it cannot be opened. NULL: the bytes are not those of a file.
	 */
	int (*descriptor)(struct source *s);
};

struct source {
	const char *name;   /* path below the bundle, with '/' between its parts; "" when the bundle is a single file. Raw bytes of
			       the input: print it with text_quote() or in a finding only */
	const char *origin; /* the PATH that it came from */
	enum tracemend_role role;
	enum source_kind kind;
	uint64_t size;
	uint32_t index; /* position in bundle.sources */
	struct bundle *bundle;
	const struct source_ops *ops;
	void *data;	 /* for ops */
	int fd;		 /* of the file while it is open; else -1 */
	uint64_t serial; /* order in which it was added */
};

struct bundle {
	struct source **sources; /* ordered by role, then by name in byte order (P9) */
	size_t count, capacity;
	const char *path;	      /* path of the input; shown in reports */
	bool directory;		      /* the capture is a directory (or an archive of several files) */
	bool unpacked;		      /* it came out of an archive or a compressed file */
	uint64_t line_ends;	      /* bytes that are left out of it, since it was copied as text (core/line_ends.h) */
	char damage[160];	      /* message of the unpacker about a cut or damaged archive; empty: the archive is intact */
	uint64_t bytes_read;	      /* bytes read from sources so far, repeated reads included */
	uint64_t bytes_total;	      /* sizes of all sources */
	struct tracemend_error error; /* the first fault of any read; sticky */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
	uint64_t progress_next;
	bool trial;			      /* one error is enough: a walk may end with TM_CANCELLED where it knows of one */
	size_t window;			      /* bytes a window reads at a time */
	struct source *open[BUNDLE_OPEN_MAX]; /* ring of the files whose fd is open */
	uint32_t open_next;
	struct spool *spools; /* unpacked bytes, freed with the bundle */
	uint64_t bytes_unpacked;
	uint64_t unpack_max;	/* bytes that one archive or stream may unpack to; TM_LIMIT */
	const char *unpack_why; /* why that is the limit: "" or an apposition, static */
	bool unpack_chosen;	/* the caller set it */
};

/* Makes an empty bundle. options may be NULL. NULL: out of memory. */
struct bundle *bundle_new(const char *path, const struct tracemend_options *options);
/* Opens PATH ("-": standard input) into a new bundle, or adds it to one. */
struct bundle *bundle_open(const char *path, const struct tracemend_options *options, struct tracemend_error *error);
enum tracemend_status bundle_add_path(struct bundle *b, const char *path, enum tracemend_role role);
/* The same for a capture in memory: one file, which may be an archive or compressed. data must outlive the bundle. */
struct bundle *bundle_open_memory(const char *path, const void *data, size_t size, const struct tracemend_options *options,
				  struct tracemend_error *error);
/* The operations of sources in memory: data is the first byte. */
extern const struct source_ops bundle_memory_ops;
/* Adds a source in memory that outlives the bundle. name is copied. NULL: out of memory, or a limit was reached (b->error). */
struct source *bundle_add_memory(struct bundle *b, const char *name, const void *data, uint64_t size);
/* Adds a source that is read by the functions of the caller. On success the bundle owns data, and calls ops->close. */
struct source *bundle_add_source(struct bundle *b, enum tracemend_role role, enum source_kind kind, const char *name, uint64_t size,
				 const struct source_ops *ops, void *data);
/* Tells the progress. TM_CANCELLED: the work is to stop. */
enum tracemend_status bundle_goes_on(struct bundle *b, uint64_t done, uint64_t total);
/* Sorts the sources. Call it once, after the last source was added (bundle_open() does). */
void bundle_sort(struct bundle *b);
void bundle_free(struct bundle *b);

/* A part of a bundle as a bundle of its own, which reads from the whole and must not outlive it: a directory and all below it, or
 * one file, unpacked if it is an archive or compressed. NULL and *error on failure. */
struct bundle *bundle_part(struct bundle *whole, bool directory, const char *name, const struct tracemend_options *options,
			   struct tracemend_error *error);

/* The source with that role and name, or NULL. Binary search. */
struct source *bundle_find(const struct bundle *b, enum tracemend_role role, const char *name);
/* The only regular file of a bundle that is one file; NULL if it is a directory. */
struct source *bundle_single(const struct bundle *b);

/* TM_IO and *error when a file of the bundle was replaced or written to since it was added. */
enum tracemend_status bundle_unchanged(struct bundle *b, struct tracemend_error *error);
/* A descriptor for reading the bytes of the source, which the next read of the bundle may close; -1: there is none. */
int source_descriptor(struct source *s);
/* Counts bytes that were read otherwise than by source_read(). TM_CANCELLED: the caller of the library wants no more. */
enum tracemend_status bundle_passed(struct bundle *b, uint64_t length);
/* Reads exactly length bytes. A range that passes the end of the source is TM_IO. Failures are kept in b->error, too. */
enum tracemend_status source_read(struct source *s, uint64_t offset, void *buffer, size_t length);

#endif
