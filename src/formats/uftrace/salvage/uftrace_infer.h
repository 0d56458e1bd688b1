/* Argument specifications, and symbols to name them by, where info or the symbol files are lost. */
#ifndef UFTRACE_INFER_H
#define UFTRACE_INFER_H

#include "core/bytes.h"
#include "core/map.h"
#include "formats/uftrace/decode/uftrace_argspec.h"
#include "formats/uftrace/salvage/uftrace_guess.h"
#include "formats/uftrace/scan/uftrace_walk.h"

struct uftrace_dbg_function;
struct uftrace_mapping;

#define UFTRACE_INFER_FUNCTIONS_MAX 16384u /* further ones have no specification: their values are left out */
#define UFTRACE_INFER_PROGRAMS_MAX 256u	   /* programs and libraries */

/* What the records show of the arguments, or of the return value, of a function. */
struct uftrace_infer_side {
	struct uftrace_guess guess;
	const struct uftrace_spec *spec; /* of the debug information or the library: owned; NULL: none */
	bool given;			 /* info has one: `spec`, borrowed, or NULL where it is not understood here */
	bool conflict;			 /* functions of the same name differ */
	char items[UFTRACE_GUESS_TEXT];	 /* a specification by name that is added; empty: none */
	uint32_t fits, misfits;		 /* records that go on after as many bytes as `spec` says, and others */
};

/* A function, by the address that its records have. */
struct uftrace_infer_function {
	uint64_t address; /* from the start of the program */
	uint32_t program;
	struct uftrace_infer_side sides[2]; /* arguments, return value */
	const struct uftrace_dbg_function *dbg;
	struct uftrace_str name;      /* empty: not known */
	const char *library_items[2]; /* of the table of known functions; NULL */
};

/* A program or library that records have addresses in. */
struct uftrace_infer_program {
	struct uftrace_str path, build_id;
	uint64_t size;
	uint32_t module; /* its symbols; UFTRACE_NONE: there were none */
	uint32_t dbg;	 /* index of its debug information, or UFTRACE_NONE */
	bool dbg_used;
	struct bytes symbols;	/* owned: the text of a symbol file that is made anew; empty: none */
	char symbols_name[300]; /* of that file */
	bool behind;		/* there is one of that name, without symbols: they are written behind what is in it */
};

struct uftrace_infer {
	bool damaged;	      /* some are there, and some are lost */
	bool wanted;	      /* records have values, and their specifications are lost */
	struct source *first; /* where the first record with values is; NULL: none was found */
	uint64_t first_at;
	bool nameless;				  /* there are all specifications, and no symbols by which readers find them */
	struct finding *cause;			  /* why they are lost */
	uint64_t values;			  /* records with values */
	uint64_t sized, needed;			  /* those whose values are not empty; so many must be for anything to be said */
	unsigned guessed;			  /* specifications by nothing but the sizes of the values and their strings */
	struct uftrace_infer_program *programs;	  /* owned */
	struct uftrace_infer_function *functions; /* owned */
	size_t program_count, program_capacity, function_count, function_capacity;
	struct map by_address; /* program and address -> function */
	struct bytes donor;    /* owned: lines of a donor's info with specifications; empty: none */
	struct bytes block;    /* owned: the lines of info with the specifications, as they are written */
};

/* uftrace_infer.c */

/* Whether specifications are lost that records need; after the records were probed. */
bool uftrace_infer_begin(struct uftrace_walk *w);
/* Learns from all records, and puts specifications, symbols and build ids where the walk looks for them; after everything that
 * the directory still has of them was read. */
bool uftrace_infer_walk(struct uftrace_walk *w);
/* The same in the midst of the walk over the records, which has met values of a program that has no symbols, at `at` of the source:
 * the first time. What was known of addresses and specifications is to be forgotten. */
bool uftrace_infer_nameless(struct uftrace_walk *w, struct source *source, uint64_t at);
/* The same where info says in both masks that no record has values, and the walk has met some. */
bool uftrace_infer_unannounced(struct uftrace_walk *w);
/* Whether the specification of the function at an address of the mapping is a guess from so few records that one which contradicts
 * it, as the last of a file, shows more of the guess than of the record. */
bool uftrace_infer_is_weak(const struct uftrace_walk *w, const struct uftrace_mapping *m, uint64_t address, bool retval);
/* Writes the symbol files. */
void uftrace_infer_write(struct uftrace_walk *w);
void uftrace_infer_free(struct uftrace_infer *n);
/* uftrace_infer_function.c */

/* The function at an address; made when it is new. NULL: not mapped, too many of them, or no memory (w->status). */
struct uftrace_infer_function *uftrace_infer_function_at(struct uftrace_walk *w, struct uftrace_mapping *m, uint64_t address);

/* uftrace_learn.c: walks all records for what they show of their values */
bool uftrace_learn(struct uftrace_walk *w);

#endif
