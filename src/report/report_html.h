/* The parts of the HTML page. All text of captures and paths goes through html_text() or html_json(). */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "report/report.h"
#include "report/report_map.h"

/* A page has fewer bytes than this for any input. The findings that are listed beyond the first of each rule, and the inputs that
 * are described at all, are bounded by it; the others are counted. */
#define HTML_BYTES_MAX 2800000u
/* Of these, for listed findings; and beyond which a further input gets no map. */
#define HTML_FINDINGS_MAX 1100000u
#define HTML_MAPS_MAX 1300000u

/* Of one page. */
struct html_page {
	size_t used;	 /* bytes of the inputs so far */
	size_t left_out; /* inputs that are counted only */
	size_t left_bad; /* of these, with errors */
	bool *explained; /* by rule: its explanation stands on the page already */
	size_t rules;	 /* that there are */
};

/* The script and the style of the page: lines, the last one NULL. Made of page.js and page.css (Makefile). */
extern const char *const html_script[];
extern const char *const html_style[];

void html_text(FILE *out, const char *text);
/* A text as a JSON string that may stand in a <script> element. */
void html_json(FILE *out, const char *text);
/* A number as html_text() with an element around it is not needed: 1,234. */
void html_number(FILE *out, uint64_t n);
/* aria-label="WHAT", of the input `ordinal` (from 0): labels of landmarks differ within a page. */
void html_label(FILE *out, const char *what, size_t ordinal);

/* Prints the findings, grouped by rule, with `ordinal` of the input in their ids; and, as JSON, those that are listed. */
void html_findings(FILE *out, FILE *marks, struct report_run *run, struct html_page *page, const struct report_entry *entry,
		   size_t ordinal);
/* Prints bins and time lines as JSON members. */
void html_data(FILE *out, const struct report_map *m);
/* Prints the tables of files, tracks and gaps. */
void html_tables(FILE *out, const struct report_map *m, size_t ordinal);
#endif
