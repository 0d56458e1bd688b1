/* The rules, and the names of the kinds of options and sections. */
#include "formats/tracedat/tracedat.h"

#include "core/rule.h"

#define RULE(symbol, id, severity, class, title, clause, explanation, repair) \
	RULE_ROW("tracedat", id, severity, class, title, clause, explanation, repair)
const struct tracemend_rule tracedat_rules[] = {
#include "formats/tracedat/tracedat_rules.def"
};
#undef RULE

const char *tracedat_id_name(unsigned id)
{
	static const char *const names[TRACEDAT_ID_LAST + 1] = { "options",	   "date",	     "CPU statistics", "buffer",
								 "trace clock",	   "uname",	     "hook",	       "offset",
								 "CPU count",	   "version",	     "process map",    "trace id",
								 "time shift",	   "guest",	     "TSC conversion", "strings",
								 "headers",	   "ftrace formats", "event formats",  "kallsyms",
								 "printk formats", "command lines",  "buffer text",    "BTF",
								 "last boot",	   "modules" };
	return id <= TRACEDAT_ID_LAST ? names[id] : "unknown";
}
