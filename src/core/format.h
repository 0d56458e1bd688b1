/* The interface of a format, which is a folder and a line in formats/formats.c. */
#ifndef CORE_FORMAT_H
#define CORE_FORMAT_H

#include "core/bundle.h"
#include "core/bytes.h"
#include "core/choices.h"
#include "core/finding.h"
#include "core/outline.h"
#include "core/plan.h"
#include "core/window.h"

/* A bid of so many bits ends the recognition: a magic number of 8 bytes with a few damaged bits at most. */
#define BID_CERTAIN 60u
/* Fewer bits do not make a capture of a single file that was found in a search. Random bytes reach it once in 2^32 files. A magic
 * number of so many makes one at once. */
#define BID_FOUND 32u

/* How sure a format is that the input is one of its captures: the number of bits of the content that matched; 0: it is not. */
struct bid {
	unsigned bits;
	const char *declined; /* "Apple Unified Logging archive, which has another event format": recognised, but not supported.
				 Ends the recognition with TM_UNRECOGNISED and this text */
};

/* Advices of one walk; more are left out. */
#define ADVICE_MAX 4u

/* Where more of a capture may be; as struct tracemend_advice. */
struct advice {
	enum tracemend_role role;
	char path[192], text[384];
};

struct sink;

/* One walk over a capture. check, repair and info are the same walk, with different members set. */
struct scan {
	struct bundle *in;
	const char *profile;		  /* never NULL for a format that has profiles */
	struct findings *findings;	  /* never NULL */
	struct plan *plan;		  /* NULL: only check. Else the walk copies, replaces or drops every byte in it */
	struct facts *facts;		  /* NULL: not asked for */
	struct sink *sink;		  /* NULL: nobody asked for the records (core/sink.h). Without a plan only */
	struct outline *outline;	  /* NULL: not wanted. Filled by formats whose outline is made by outline_by_scan() */
	bool slow;			  /* for tests: use no fast path */
	unsigned threads;		  /* that may work on it (core/ahead.h), with that of the walk; 0: as 1 */
	uint64_t records;		  /* out: records as a reader of the format counts them */
	uint64_t fast;			  /* out: of these, records that the fast path took */
	char version[32];		  /* out: format version, for the report; escaped by the engine */
	struct advice advice[ADVICE_MAX]; /* out: escaped */
	size_t advice_count;
	char incomplete[256]; /* out: why the walk could not finish or stopped judging something; empty: it finished */
};

/* Adds a fact, escaped. Does nothing when s->facts is NULL. */
void scan_fact(struct scan *s, const char *key, const char *format, ...) PRINTF_LIKE(3, 4);
/* What the newest fact says, in parts for programs, at most FACT_FIELDS_MAX: first what they describe, then each. Names are string
 * literals, in the schema of the report; the text is escaped. Nothing happens where the fact was left out. */
void scan_fact_name(struct scan *s, const char *name);
void scan_fact_number(struct scan *s, const char *name, uint64_t number);
void scan_fact_text(struct scan *s, const char *name, const char *text);
/* Says where more of the capture may be; the path is escaped and so is the text. An advice that is there already is ignored. */
void scan_advise(struct scan *s, enum tracemend_role role, const char *path, const char *format, ...) PRINTF_LIKE(4, 5);
/* For a walk that reached a limit, so that the verdict is incomplete: sets s->incomplete, once, and returns TM_LIMIT. Findings may
 * be missing; those reported are right. */
enum tracemend_status scan_limit(struct scan *s, const char *format, ...) PRINTF_LIKE(2, 3);

/* When a breaker is called (core/breakers.h). */
enum gen_stage {
	GEN_SHAPE, /* nothing was drawn yet: requires what the capture must contain for the defect to be possible */
	GEN_MODEL, /* the model is complete, and nothing of it was written */
	GEN_PLANT, /* records are being written: one may be inserted here */
	GEN_BYTES, /* all files are complete */
	GEN_STAGES
};

/* One capture being made. */
struct gen {
	struct choices *choices;
	uint64_t size; /* wanted size in bytes, roughly; 0: a few hundred to a few thousand */
	int rule;      /* rule to break; -1: valid */
	bool sound;    /* see struct tracemend_recipe */
	const char *profile;
	/* By index in the format's features: those of the recipe; what the defect needs comes first. */
	uint64_t with, without;
	uint64_t has;	  /* out: features of the capture */
	uint64_t records; /* out: records of the valid capture, as scan would count them */
	struct gen_file *files;
	size_t file_count, file_capacity;
	bool *expected; /* by rule: what check must report */
	bool failed;	/* out of memory */
};

struct gen_file {
	char *name;
	struct bytes bytes;
	bool link; /* not a file but a symbolic link of that name; bytes is its target, without NUL */
};

/* The file of that name, which is made if it is new. Valid until the next call. NULL: out of memory (g->failed). */
struct bytes *gen_file(struct gen *g, const char *name);
void gen_file_remove(struct gen *g, const char *name);
/* Declares that check must report this rule, too. The rule to break is declared already. */
void gen_expect(struct gen *g, unsigned rule);

#define FEATURES_MAX 64u
#define FEATURE_BIT(feature) (UINT64_C(1) << (feature))

/* Whether the capture has a feature, as the recipe says, else as it was drawn; noted in g->has. It is drawn in any case, so that
 * the seed makes the same of all the rest. */
bool gen_has(struct gen *g, unsigned feature, bool drawn);
/* Which of some features, of which each capture has one, the recipe leaves: never none. */
uint64_t gen_choice(const struct gen *g, uint64_t features);

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
	const struct tracemend_feature *features; /* of its generator, at most FEATURES_MAX */
	size_t feature_count;
	const uint8_t *fast; /* enum fast_reason, by rule; NULL: there is no fast path */
	/* The bits of its magic number, fewer where some are damaged, with which the only file of a bundle begins; NULL: it has
	 * none. All formats are asked before any looks for more than its magic number. */
	unsigned (*magic)(struct window *w);
	/* w is a window on the only file of the bundle; its source is NULL when the bundle is a directory or empty. scan() is
	 * called for a directory only after a bid for it. */
	struct bid (*bid)(struct bundle *b, struct window *w);
	/* Returns TM_OK when it walked the whole capture, whatever it found; TM_NOTHING when a plan was wanted and nothing can be
	 * salvaged, TM_USAGE when it was wanted and there are two captures; else TM_IO, TM_NO_MEMORY, TM_LIMIT or TM_CANCELLED
	 * (details in b->error). */
	enum tracemend_status (*scan)(struct scan *s);
	/* Makes a valid capture, or one that breaks g->rule and reports exactly that rule and its gen_expect() companions. Further
	 * notes and warnings may be reported, further errors may not. */
	enum tracemend_status (*generate)(struct gen *g);
	/* Declares the parts of the files of o->in (core/outline.h) as a strict reader would see them. Damaged bytes stay
	 * undeclared. Takes any bytes, in linear time, and reports no findings. */
	enum tracemend_status (*outline)(struct outline *o, const char *profile);
};

/* defined in formats/formats.c */
extern const struct format *const formats[];
extern const struct tracemend_format *const formats_public[]; /* the same, as the public API returns them */
extern const size_t formats_count;

#endif
