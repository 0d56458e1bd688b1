/* The table of all breakers. */
#include "formats/uftrace/gen/uftrace_gen.h"

#define BREAKERS_TABLE
#define BREAKERS_FORMAT uftrace
#define BREAKERS_RULES "formats/uftrace/uftrace_rules.def"
#include "core/breakers.h"
