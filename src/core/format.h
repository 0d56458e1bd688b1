/* What a format is: one folder, and one line in formats/formats.c. */
#ifndef CORE_FORMAT_H
#define CORE_FORMAT_H

#include "core/bundle.h"
#include "core/bytes.h"
#include "core/choices.h"
#include "core/finding.h"
#include "core/outline.h"
#include "core/plan.h"
#include "core/window.h"

/* Bits of a bid from which on no other format is asked: a magic number of 8 bytes, at most a few bits of it damaged. */
#define BID_CERTAIN 60u

/* How sure a format is that the input is its own: bits of the content that matched. 0: not at all. */
struct bid {
	unsigned bits;
	const char *declined; /* "Apple Unified Logging archive, which has another event format": known, but not checked.
				 Ends the recognition with TM_UNRECOGNISED and this text */
};

/* One walk over a capture. check, repair and info are this walk with different members set. */
struct scan {
	struct bundle *in;
	const char *profile;	   /* never NULL where the format has profiles */
	struct findings *findings; /* always there */
	struct plan *plan;	   /* NULL: only check. Else every byte is copied, replaced or dropped as the walk goes */
	struct facts *facts;	   /* NULL: not asked for */
	struct outline *outline;   /* NULL: not asked for. Formats whose outline is made by outline_by_scan() fill it */
	bool slow;		   /* tests: no fast path */
	uint64_t records;	   /* out: as a reader counts them */
	uint64_t fast;		   /* out: of these, records that the fast path took */
	char version[32];	   /* out: format version, for the report; escaped by the engine */
	char incomplete[256];	   /* out: why the walk could not finish or stopped judging something; empty: it did */
};

/* Adds a fact. No-op when s->facts is NULL. Escapes. */
void scan_fact(struct scan *s, const char *key, const char *format, ...) PRINTF_LIKE(3, 4);
/* A bound was reached and the verdict is not complete: fills s->incomplete once and returns TM_LIMIT. Some findings may be
 * missing; none is wrong. */
enum tracemend_status scan_limit(struct scan *s, const char *format, ...) PRINTF_LIKE(2, 3);

/* When a breaker is called (core/breakers.h). */
enum gen_stage {
	GEN_SHAPE, /* nothing is drawn yet: what the capture must have for the defect to be possible */
	GEN_MODEL, /* the model is made, and nothing of it is written */
	GEN_PLANT, /* records are being written: one may be put in here */
	GEN_BYTES, /* all files are complete */
};

/* One capture being made. */
struct gen {
	struct choices *choices;
	uint64_t size;	      /* wanted bytes, roughly; 0: a few hundred to a few thousand */
	int rule;	      /* rule to break; -1: valid */
	enum gen_stage stage; /* of the call of the breaker */
	const char *profile;
	uint64_t records; /* out: records of the valid capture, as scan would count them */
	struct gen_file *files;
	size_t file_count, file_capacity;
	bool *expected; /* by rule: what check must report */
	bool failed;	/* out of memory */
};

struct gen_file {
	char *name;
	struct bytes bytes;
	bool link; /* not a file but a symbolic link of that name; bytes is where it leads, without NUL */
};

/* The file of that name; made empty when it is new. Valid until the next call. NULL: out of memory (g->failed). */
struct bytes *gen_file(struct gen *g, const char *name);
void gen_file_remove(struct gen *g, const char *name);
/* check must report this rule too. The broken rule itself is expected already. */
void gen_expect(struct gen *g, unsigned rule);

/* Why a fast path cannot hide a rule: each format that has one says it for each of its rules (<f>_fast.c), in a list that does
 * not compile with a rule missing. tests/unit/test_fast.c holds it to that. */
enum fast_reason {
	FAST_LEAVES = 1, /* it tests for the defect, or for more, and leaves the record to the walk */
	FAST_KEEPS,	 /* it keeps the same state as the walk, from which the rule is judged elsewhere */
	FAST_ELSEWHERE,	 /* the rule is about what the fast path never passes: headers, texts, other kinds of records */
};

struct format {
	struct tracemend_format public;
	const struct tracemend_rule *rules;
	size_t rule_count;
	const uint8_t *fast; /* enum fast_reason, by rule; NULL: there is no fast path */
	/* w is a window on the only file of the bundle; its source is NULL when the bundle is a directory or empty. scan() is
	 * called for a directory only after a bid for it. */
	struct bid (*bid)(struct bundle *b, struct window *w);
	/* Returns TM_OK when it walked the whole capture, whatever it found; TM_NOTHING when a plan was asked for and there
	 * is nothing to salvage; else TM_IO, TM_NO_MEMORY, TM_LIMIT, TM_CANCELLED (b->error says more). */
	enum tracemend_status (*scan)(struct scan *s);
	/* Makes a valid capture, or one that breaks g->rule and reports exactly it and its gen_expect() companions (notes
	 * and warnings may come along; errors may not). */
	enum tracemend_status (*generate)(struct gen *g);
	/* Declares the parts of the files of o->in (outline.h): what a strict reader would see. What is damaged stays
	 * undeclared. Any bytes whatever; linear; findings are no business of it. */
	enum tracemend_status (*outline)(struct outline *o, const char *profile);
};

/* formats/formats.c */
extern const struct format *const formats[];
extern const struct tracemend_format *const formats_public[]; /* the same, as the API shows them */
extern const size_t formats_count;

#endif
