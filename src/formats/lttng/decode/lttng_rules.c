/* The table of the rules. */
#include "core/rule.h"
#include "formats/lttng/lttng.h"

#define RULE(sym, id, severity, class, title, clause, explanation, repair) \
	RULE_ROW("lttng", id, severity, class, title, clause, explanation, repair)
const struct tracemend_rule lttng_rules[LTTNG_RULE_COUNT] = {
#include "formats/lttng/lttng_rules.def"
};
#undef RULE
