/* The table of rules. */
#include "formats/ktrace/ktrace.h"

const struct tracemend_rule ktrace_rules[KTRACE_RULE_COUNT] = {
#define RULE(symbol, id, severity, class, ...) RULE_ROW("ktrace", id, severity, class, __VA_ARGS__)
#include "formats/ktrace/ktrace_rules.def"
#undef RULE
};
