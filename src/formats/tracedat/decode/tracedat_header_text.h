/* The texts of header_page and header_event (MAN6 "HEADER INFO FORMAT"): the shape of a page. */
#ifndef TRACEDAT_HEADER_TEXT_H
#define TRACEDAT_HEADER_TEXT_H

#include "core/bytes.h"
#include "formats/tracedat/decode/tracedat_field.h"

struct tracedat_page_fields {
	struct tracedat_field timestamp, commit, overwrite, data;
	bool has_timestamp, has_commit, has_overwrite, has_data, strange;
};

/* Parses the lines of header_page. False: a line cannot be parsed, is missing, or is out of order; the fields of the others are
 * there. */
bool tracedat_page_fields_parse(const char *text, size_t size, struct tracedat_page_fields *p);
/* The number behind `label` in the text of header_event; -1: it is not there. */
int tracedat_header_event_number(const char *text, size_t size, const char *label);
/* The default header_page text of that shape; for repair and the generator. */
void tracedat_header_page_text(struct bytes *b, unsigned long_size, uint32_t page_size);
void tracedat_header_event_text(struct bytes *b);

#endif
