/* One event format file while it is parsed. */
#ifndef TRACEDAT_FORMAT_H
#define TRACEDAT_FORMAT_H

#include "formats/tracedat/scan/tracedat_walk.h"

struct tracedat_format {
	struct tracedat_walk *w;
	const struct tracedat_block *block; /* NULL: nothing is reported */
	size_t base;
	const char *text;
	size_t size;
	const char *system;
	char path[96];
	struct tracedat_field *fields;
	size_t field_count;
	const char *name;
	size_t name_length;
	uint64_t id;
	bool id_known, id_bad;	   /* bad: it is invalid, or another event has it */
	bool id_torn;		   /* it is no number */
	size_t common, common_end; /* the common block in the text */
	size_t own_end;
	size_t print, print_end; /* the print fmt line */
	bool fatal, print_bad;
	struct finding *torn; /* reports that its text was hit, and explains what is wrong behind that; NULL: nothing did */
	unsigned errors;
};

/* Reports an error of text[at, at + length). */
#define tracedat_format_report(p, rule, ...) \
	((void)PLACE(rule), tracedat_format_milder_at((p), (rule), tracedat_rules[rule].severity, __VA_ARGS__))
#define tracedat_format_milder(p, rule, ...) ((void)PLACE(rule), tracedat_format_milder_at((p), (rule), __VA_ARGS__))
void tracedat_format_milder_at(struct tracedat_format *p, unsigned rule, enum tracemend_severity severity, size_t at, size_t length,
			       const char *format, ...) PRINTF_LIKE(6, 7);

/* ---- tracedat_format_field.c ---- */

/* Checks of size and sign against the type, of offsets, of duplicate names, and of the common fields. */
void tracedat_field_check(struct tracedat_format *p, struct tracedat_field *f);
void tracedat_fields_names(struct tracedat_format *p);
void tracedat_fields_place(struct tracedat_format *p);
void tracedat_common_check(struct tracedat_format *p);

/* ---- tracedat_event.c: into the tables ---- */

/* placeholder: its fields are unknown. */
/* The event, its format or the name of its system may have been hit: its records are listed. */
void tracedat_event_hit(struct tracedat_walk *w, struct tracedat_event *e);
/* Whether the format of the event with that ID, or the name of its system, was hit; hit: it was. Repair parses the formats again,
 * with names that it has mended: once doubtful is always. */
bool tracedat_event_doubtful(struct tracedat_walk *w, uint32_t id, bool hit);
void tracedat_event_add(struct tracedat_format *p, bool placeholder);
/* Keeps a format whose only error is its ID, and the one with the same ID, for a later assignment. */
void tracedat_event_unassigned(struct tracedat_format *p);

/* ---- tracedat_format.c ---- */

/* Parses one format file (text of the block) into the event tables. Returns its errors.
 * changed gets the repaired text when repair is on and there are errors; empty: the file is dropped. */
unsigned tracedat_format_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t size, const char *system,
			       struct bytes *changed);

/* ---- tracedat_print.c ---- */

/* Checks a print format: text[0, size) after "print fmt:". Returns the number of its errors. */
struct tracedat_print {
	struct tracedat_walk *w;
	const struct tracedat_block *block; /* NULL: nothing is reported */
	size_t base;			    /* of text in the block */
	const char *text, *file;	    /* file: the format file that the fields index */
	size_t size;
	const struct tracedat_field *fields;
	size_t field_count;
	const char *path; /* "sched > sched_switch" */
};
unsigned tracedat_print_check(struct tracedat_print *p);

#endif
