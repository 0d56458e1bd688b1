/* The documents that clauses of rules cite, and where they are published. A clause is "DOCUMENT, SECTION", or several of these with
 * "; " between them. */
#ifndef CORE_DOCUMENT_H
#define CORE_DOCUMENT_H

#include <stddef.h>

/* How the address of a section follows from that of its document. */
enum document_kind {
	DOCUMENT_WHOLE,	   /* sections have no address */
	DOCUMENT_PAGE,	   /* one page; a section or sentence in quotes is found by its text */
	DOCUMENT_HYPHENS,  /* the section's title in lower case and with hyphens is its anchor */
	DOCUMENT_CAPITALS, /* the title with underscores is its anchor */
	DOCUMENT_SOURCES,  /* source files: the section is "PATH, FUNCTION" */
	DOCUMENT_RFC,	   /* the number stands in the name */
};

struct document {
	const char *name; /* as in clauses; also of what begins with it and goes on with a blank and a version */
	const char *title;
	const char *url; /* NULL: not published */
	enum document_kind kind;
};

/* The document that a clause names first; NULL: an unknown one. *section (may be NULL) is what follows its name, without blanks,
 * commas and the rest of the clause: it is not terminated, *length is its length. */
const struct document *document_of(const char *clause, const char **section, size_t *length);
/* Writes the address of the section that a clause names first, percent-encoded; "" when there is none. Returns out. */
const char *document_url(const char *clause, char *out, size_t size);

#endif
