/* Signs of damage in a record that are no errors: what no revision of the document describes, and times that cannot be. */
#ifndef FXT_STRANGE_H
#define FXT_STRANGE_H

#include "formats/fxt/scan/fxt_table.h"

/* Whether the record of that provider has such a sign. damaged: there was damage before it. */
bool fxt_is_strange(const struct fxt_record *r, const struct fxt_provider *p, bool damaged);
/* Whether its header has one. */
bool fxt_is_strange_header(const struct fxt_record *r);

#endif
