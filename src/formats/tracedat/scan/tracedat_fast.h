/* The fast path of trace.dat, as the format shows it. */
#ifndef TRACEDAT_FAST_H
#define TRACEDAT_FAST_H

#include "formats/tracedat/tracedat.h"

/* enum fast_reason, by rule. */
extern const uint8_t tracedat_fast_contract[TRACEDAT_RULE_COUNT];

#endif
