/* Every promise of the program as one function, which the fuzzers, the replay driver and the tests call.
 *
 * A broken promise prints "oracle: P3 broken: ..." and aborts. The promises are numbered as in DESIGN:
 *   P1 what repair gives checks without error        P2 a capture without errors is left as it is
 *   P3 repairing twice is repairing once             P4 the plan adds up, replayed from the public accessors
 *   P7 bounded work and memory, sane text            P8 a failed read or allocation is never "clean", and leaks nothing
 *   P9 the same result twice, and for every window size */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

#include "capture.h"

enum oracle_effort {
	ORACLE_CHECK,  /* check only, one other window size */
	ORACLE_REPAIR, /* and repair; one failing read and one failing allocation */
	ORACLE_ALL,    /* and all window sizes, and `faults` failing reads and allocations */
};

struct oracle {
	const char *format;  /* forced; NULL: recognised */
	const char *profile; /* NULL: the default */
	enum oracle_effort effort;
	unsigned faults; /* ORACLE_ALL: reads and allocations of check and repair to fail, spread evenly; 0: none */
};

/* What a capture turned out to be. */
struct oracle_verdict {
	bool recognised;
	uint64_t errors, warnings, notes, records;
	bool repaired; /* repair gave an output */
	bool changed;  /* that differs from the input */
};

/* Holds every property for one capture. */
struct oracle_verdict oracle_capture(const struct oracle *o, const struct capture *c);
/* capture_parse() and oracle_capture(). */
struct oracle_verdict oracle_bytes(const struct oracle *o, const uint8_t *data, size_t size);
/* What the generator makes by this recipe checks as it promises; then oracle_capture(). A rule that the profile does not
 * have (TM_USAGE) is passed over. */
void oracle_recipe(const struct oracle *o, const struct tracemend_recipe *recipe);
/* Each of up to `cuts` prefixes of each file of a valid capture keeps every property, and is reported or allowed. */
void oracle_prefixes(const struct oracle *o, const struct capture *c, unsigned cuts);
/* So does every capture that differs from c in one byte: up to `values` (255 is all) other values for each of up to `places`
 * bytes of each file, spread evenly. */
void oracle_byte_changes(const struct oracle *o, const struct capture *c, unsigned places, unsigned values);
/* All that a report and a repair tell, as a text by which two of them can be compared; either may be NULL. To be freed. */
char *oracle_text(const struct tracemend_report *report, const struct tracemend_repair *repair);
/* An archive, a compressed file or anything else, opened as the program opens it. */
void oracle_container(const uint8_t *data, size_t size);

#endif
