/* The table of breakers. */
#include "formats/fxt/gen/break/fxt_break.h"

#define BREAKERS_TABLE
#include "core/breakers.h"
