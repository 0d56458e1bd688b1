/* Records of events: one stretch of them after the other. */
#ifndef KTRACE_EVENT_H
#define KTRACE_EVENT_H

#include "formats/ktrace/salvage/ktrace_records.h"
#include "formats/ktrace/scan/ktrace_walk.h"

void ktrace_events_open(struct ktrace_events *k);
void ktrace_events_free(struct ktrace_events *k);
/* Whether memory was short for one of its tables. */
bool ktrace_events_failed(const struct ktrace_events *k);

/* Walks the records of a stretch; reports, and with a plan keeps or drops every byte of it. Returns the bytes kept. */
uint64_t ktrace_events_walk(struct ktrace_walk *w, const struct ktrace_stretch *stretch);
/* ktrace_give.c: gives an event to the sink of the scan. */
void ktrace_event_give(struct ktrace_walk *w, const struct ktrace_event *e, uint64_t offset);
/* Why the fast path (ktrace_fast.c) cannot hide a rule: enum fast_reason of core/format.h, by rule. */
extern const uint8_t ktrace_fast_contract[KTRACE_RULE_COUNT];
/* Checks that need the last event. */
void ktrace_events_finish(struct ktrace_walk *w);

#endif
