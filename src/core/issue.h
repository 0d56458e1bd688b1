/* Issues: what decoding finds odd in the bytes before it. It looks at nothing else: an issue has a rule, a place and values, and no
 * text. Scanning turns issues into findings, resynchronising only counts them, repair edits what they point at. */
#ifndef CORE_ISSUE_H
#define CORE_ISSUE_H

#include <stdint.h>

#include "core/place.h"
#include "core/rule.h"

struct issue {
	uint16_t rule;
	uint8_t severity;   /* enum tracemend_severity: the row's, or milder */
	int8_t which;	    /* of several parts of a record: which one; -1: the record itself */
	uint32_t length;    /* bytes at `at` that are wrong */
	uint64_t at;	    /* from the first byte that was given to decode */
	uint64_t got, want; /* as the rule says; of bits to clear: the word and the mask */
};

/* A bounded list over memory of its owner. Further issues are counted and not kept. */
struct issues {
	struct issue *list;
	uint32_t count, room;
	uint32_t more; /* that had no room */
	uint8_t worst; /* the gravest severity of all; TM_NOTE when there are none */
};

/* Adds an issue with its row's severity, or as milder one. Use the macros. */
void issue_add_at(struct issues *list, struct issue issue);

/* rules: the format's table. rule: a constant or an expression. */
#define issue_add(list, rules, of, ...) \
	do { \
		if (!PLACE(of)) \
			issue_add_at((list), (struct issue){ .rule = (uint16_t)(of), \
							     .severity = (uint8_t)(rules)[of].severity, \
							     .which = -1, \
							     __VA_ARGS__ }); \
	} while (0)

#endif
