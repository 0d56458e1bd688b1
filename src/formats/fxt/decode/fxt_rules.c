/* The table of rules, and the names of types for messages. */
#include "core/rule.h"

#include "formats/fxt/fxt.h"

#define RULE(sym, id, severity, class, title, clause, explanation, repair) \
	RULE_ROW("fxt", id, severity, class, title, "trace-format.md, \"" clause "\"", explanation, repair)
const struct tracemend_rule fxt_rules[FXT_RULE_COUNT] = {
#include "formats/fxt/fxt_rules.def"
};
#undef RULE

const char *const fxt_type_names[16] = { "metadata",	     "initialization", "string",     "thread", "event",	   "blob",
					 "userspace object", "kernel object",  "scheduling", "log",    "profiler", "unknown",
					 "unknown",	     "unknown",	       "unknown",    "large" };

const char *const fxt_event_names[16] = { "instant",	       "counter",     "duration begin", "duration end",
					  "duration complete", "async begin", "async instant",	"async end",
					  "flow begin",	       "flow step",   "flow end",	"unknown",
					  "unknown",	       "unknown",     "unknown",	"unknown" };

const char *const fxt_argument_names[16] = { "null", "int32", "uint32", "int64",   "uint64",  "double",	 "string",  "pointer",
					     "koid", "bool",  "blob",	"unknown", "unknown", "unknown", "unknown", "unknown" };
