/* Breakers: the table of all. They have the stages GEN_SHAPE (which version and width the defect needs), GEN_MODEL (changes the
 * model) and GEN_BYTES (changes the finished file). */
#include "formats/ktrace/gen/ktrace_gen.h"

#define BREAKERS_TABLE
#include "core/breakers.h"
