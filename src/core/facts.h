/* Facts about a capture, collected for `info`. */
#ifndef CORE_FACTS_H
#define CORE_FACTS_H

#include "core/format.h"

/* Facts kept for one capture; more are left out. */
#define FACTS_MAX 4096u

/* Fields that a fact may have. */
#define FACT_FIELDS_MAX 8u

struct facts {
	struct tracemend_fact *list; /* owned, with its strings, its fields and their texts */
	size_t count, capacity;
	bool full;   /* the newest fact was left out, and so are its fields */
	bool failed; /* out of memory */
};

void facts_free(struct facts *f);
/* Frees the files of a generator; for the engine. */
void gen_files_free(struct gen *g);

#endif
