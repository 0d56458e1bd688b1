/* The table of breakers. */
#include "formats/fxt/gen/break/fxt_break.h"

#define BREAKERS_FORMAT fxt
#define BREAKERS_RULES "formats/fxt/fxt_rules.def"
#define BREAKERS_TABLE
#include "core/breakers.h"
