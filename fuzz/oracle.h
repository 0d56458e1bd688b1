/* Every promise of the program as one function, called by the fuzzers, the replay driver and the tests.
 *
 * A broken promise prints "oracle: P3 broken: ..." and aborts. The promises are those of src/README.md:
 * P1 the output of repair checks without error     P2 a capture without errors is not changed
 * P3 repairing twice is the same as once           P4 the plan adds up, replayed with the public functions
 * P7 bounded work and memory, escaped text         P8 a failed read or allocation is never "clean", and leaks nothing
 * P9 the same result twice, and for every window size */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

#include "capture.h"

enum oracle_effort {
	ORACLE_CHECK,  /* check only, with one other window size */
	ORACLE_REPAIR, /* and repair; one failing read and one failing allocation in each */
	ORACLE_ALL,    /* and all window sizes; `faults` failing reads and allocations in each */
};

struct oracle {
	const char *format;  /* forced; NULL: recognised */
	const char *profile; /* NULL: the default */
	enum oracle_effort effort;
	unsigned
		faults; /* ORACLE_ALL: number of reads and of allocations to fail, in check and in repair, spread evenly; 0: none */
	/* All of this is tested for one input in so many, chosen by its bytes; of the others, what one check, one repair and one
	 * look at the result show (P1, P2, P4, P7, escaped texts). 0: for each. */
	unsigned sample;
};

/* The `sample` of the fuzz targets: most of the time goes into new inputs. */
#define ORACLE_SAMPLE 64u

/* The results for a capture. */
struct oracle_verdict {
	bool recognised;
	uint64_t errors, warnings, notes, records;
	bool repaired; /* repair gave an output */
	bool changed;  /* that differs from the input */
};

/* Tests every property for one capture. */
struct oracle_verdict oracle_capture(const struct oracle *o, const struct capture *c);
/* capture_parse() and oracle_capture(). */
struct oracle_verdict oracle_bytes(const struct oracle *o, const uint8_t *data, size_t size);
/* Generates a capture, tests that check reports what was declared, and calls oracle_capture(). A rule that the profile does not
 * have (TM_USAGE) is skipped. */
void oracle_recipe(const struct oracle *o, const struct tracemend_recipe *recipe);
/* Tests every property for up to `cuts` prefixes of each file of a valid capture: a cut must be reported, or allowed by the
 * format. */
void oracle_prefixes(const struct oracle *o, const struct capture *c, unsigned cuts);
/* Tests every property for captures that differ from c in one byte: up to `values` other values (255 is all) for each of up to
 * `places` bytes of each file, spread evenly. */
void oracle_byte_changes(const struct oracle *o, const struct capture *c, unsigned places, unsigned values);
/* The content of a report and a repair as a text, to compare two of them; either may be NULL. The caller frees it. */
char *oracle_text(const struct tracemend_report *report, const struct tracemend_repair *repair);
/* Tests check of an archive, a compressed file or any other bytes, opened as the program opens them. */
void oracle_container(const uint8_t *data, size_t size);

#endif
