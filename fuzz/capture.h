/* A capture as one byte string, for fuzzers and tests: a single file as it is, several files as an uncompressed tar.
 *
 * The reader accepts damaged tars (no checksums; sizes are cut to what there is), so that a capture with a mutated header is still
 * a capture. Members below "@extra/" and "@donor/" get those roles. */
#ifndef FUZZ_CAPTURE_H
#define FUZZ_CAPTURE_H

#include "core/bundle.h"
#include "tracemend.h"

#define CAPTURE_FILES_MAX 96u
#define CAPTURE_NAME_MAX 257u

struct capture_file {
	char name[CAPTURE_NAME_MAX];
	enum tracemend_role role;
	enum source_kind kind; /* only SOURCE_FILE has bytes */
	const uint8_t *data;   /* borrowed from the byte string, or owned (see struct capture) */
	size_t size;
	uint8_t *owned; /* freed by capture_free(); NULL: borrowed */
};

struct capture {
	struct capture_file files[CAPTURE_FILES_MAX];
	size_t count;
	bool directory;
};

/* Read failures to inject. Zero-initialised: none. */
struct capture_faults {
	uint64_t reads;	  /* out: reads so far */
	uint64_t fail_at; /* the read to fail, counted from 1; 0: none */
	bool fired;
};

/* Fills *c, which borrows data. A string without "ustar" at byte 257 is a single file. */
void capture_parse(struct capture *c, const uint8_t *data, size_t size);
/* The files of a generated sample, borrowed. */
void capture_from_sample(struct capture *c, const struct tracemend_sample *sample);
void capture_free(struct capture *c);
const struct capture_file *capture_find(const struct capture *c, enum tracemend_role role, const char *name);
/* The same by the escaped name of reports and manifests. */
const struct capture_file *capture_find_shown(const struct capture *c, enum tracemend_role role, const char *shown);
uint64_t capture_size(const struct capture *c);

/* A bundle of the capture. The capture and faults (NULL: none) must outlive it. NULL: out of memory. */
struct bundle *capture_bundle(const struct capture *c, const struct tracemend_options *options, struct capture_faults *faults);

#endif
