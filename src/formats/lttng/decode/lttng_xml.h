/* The small XML of this format: descriptions of facilities, system.xml and bookmarks. */
#ifndef LTTNG_XML_H
#define LTTNG_XML_H

#include "formats/lttng/lttng.h"

struct lttng_xml {
	const char *text;
	size_t length, position;
	bool failed; /* not well-formed */
	size_t failed_at;
	const char *why;
};
enum lttng_xml_kind { XML_END, XML_OPEN, XML_CLOSE };
struct lttng_xml_tag {
	enum lttng_xml_kind kind;
	const char *name;
	size_t name_length;
	const char *attributes;
	size_t attributes_length;
	bool empty; /* <a/> */
	size_t at;
};

/* The next tag; text between tags, comments, and declarations are skipped. Dialects without a prolog and with unquoted
 * attributes are read, too. */
bool lttng_xml_next(struct lttng_xml *x, struct lttng_xml_tag *tag);
bool lttng_xml_is(const struct lttng_xml_tag *tag, const char *name);
/* The value of an attribute; NULL: it has none. */
const char *lttng_xml_attribute(const struct lttng_xml_tag *tag, const char *name, size_t *length);
bool lttng_xml_number(const struct lttng_xml_tag *tag, const char *name, uint64_t *value);

/* Whether each element of the text has an end of its name, and each tag can be read. is_leaf: elements that need no end. False: see
 * x->failed; true: x is at its begin again. A reader that goes by what begins would not see that an end was hit. */
#define LTTNG_XML_DEPTH_MAX 128u
bool lttng_xml_paired(struct lttng_xml *x, bool (*is_leaf)(const struct lttng_xml_tag *tag));

/* What system.xml or bookmarks.xml holds. */
struct lttng_xml_info {
	const char *what; /* "system description" or "list of bookmarks"; NULL: neither */
	const char *flaw; /* an attribute that is missing or makes no sense; NULL: none */
	size_t locations; /* bookmarks */
};
/* Reads all of x; x->failed says whether it is well-formed. */
struct lttng_xml_info lttng_xml_info(struct lttng_xml *x);

#endif
