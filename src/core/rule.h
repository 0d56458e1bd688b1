/* Rules: one row each, in <format>_rules.def:
 *
 * RULE(dangling_string_ref, "dangling-string-ref", ERROR, REFERENCE, "title", "clause", "explanation", "repair")
 *
 * The row is expanded into the enum (FXT_RULE_dangling_string_ref), the table that `rules`, `explain` and SARIF print, and the
 * table of breakers, so that a rule without `fxt_break_dangling_string_ref` does not link. */
#ifndef CORE_RULE_H
#define CORE_RULE_H

#include "tracemend.h"

#define RULE_CLASS_MALFORMED "malformed"
#define RULE_CLASS_ALIGNMENT "alignment"
#define RULE_CLASS_REFERENCE "reference"
#define RULE_CLASS_TRUNCATION "truncation"
#define RULE_CLASS_SIZE "size"
#define RULE_CLASS_TEXT "text"
#define RULE_CLASS_ORDER "order"
#define RULE_CLASS_SEMANTICS "semantics"
#define RULE_CLASS_LOSS "loss"

/* A row of the table of rules of format `name` (a string literal). */
#define RULE_ROW(name, id, severity, class, title, clause, explanation, repair) \
	{ name "/" id, name, TM_##severity, RULE_CLASS_##class, title, clause, explanation, repair },

#endif
