/* The table of all breakers. */
#include "formats/uftrace/gen/uftrace_gen.h"

#define BREAKERS_TABLE
#include "core/breakers.h"
