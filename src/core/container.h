/* The rules about archives and compressed files, and their breakers. */
#ifndef CORE_CONTAINER_H
#define CORE_CONTAINER_H

#include "core/format.h"
#include "core/rule.h"

enum container_rule {
#define RULE(symbol, ...) CONTAINER_RULE_##symbol,
#include "core/container_rules.def"
#undef RULE
	CONTAINER_RULE_COUNT
};

extern const struct tracemend_rule container_rules[CONTAINER_RULE_COUNT];

/* Reports what the unpacker of the bundle found. */
void container_report(const struct bundle *b, struct findings *f);
/* Packs the files of a generated capture (a directory into a tar) into one compressed file, and breaks `rule` in it. That file,
 * named "", replaces the files of g. TM_NO_MEMORY, TM_BUG, or TM_USAGE: that defect is not possible in them. */
enum tracemend_status container_break(struct gen *g, bool directory, unsigned rule);

#endif
