/* Rules: one row each, in <format>_rules.def:
 *
 * RULE(dangling_string_ref, "dangling-string-ref", ERROR, REFERENCE, "title", "clause", "explanation", "repair")
 *
 * The row is expanded into the enum (FXT_RULE_dangling_string_ref), the table that `rules`, `explain` and SARIF print, and the
 * table of breakers, so that a rule without `fxt_break_dangling_string_ref` does not link.
 *
 * The severity is ERROR, WARNING or NOTE; of a new rule PREVIEW_WARNING or PREVIEW_NOTE ("What users may rely on", src/README.md).
 * A preview rule cannot be an error: repair acts on errors, and would act on what check does not report. */
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

#define RULE_SEVERITY_ERROR TM_ERROR
#define RULE_SEVERITY_WARNING TM_WARNING
#define RULE_SEVERITY_NOTE TM_NOTE
#define RULE_SEVERITY_PREVIEW_WARNING TM_WARNING
#define RULE_SEVERITY_PREVIEW_NOTE TM_NOTE
#define RULE_IS_ERROR false
#define RULE_IS_WARNING false
#define RULE_IS_NOTE false
#define RULE_IS_PREVIEW_WARNING true
#define RULE_IS_PREVIEW_NOTE true

/* A row of the table of rules of format `name` (a string literal). */
#define RULE_ROW(name, id, severity, class, title, clause, explanation, repair) \
	{ name "/" id, name, RULE_SEVERITY_##severity, RULE_CLASS_##class, title, clause, explanation, repair, RULE_IS_##severity },

#endif
