/* The lines of sid-<sid>.map, which are those of /proc/<pid>/maps and a build id. */
#ifndef UFTRACE_MAP_LINE_H
#define UFTRACE_MAP_LINE_H

#include "formats/uftrace/decode/uftrace_str.h"

#include <stdbool.h>
#include <stdint.h>

enum uftrace_map_state {
	UFTRACE_MAP_GOOD,
	UFTRACE_MAP_ANONYMOUS, /* it has no path */
	UFTRACE_MAP_SKIPPED,   /* a comment */
	UFTRACE_MAP_BAD,
	UFTRACE_MAP_LONG,    /* the protection or the path is longer than the buffers of readers */
	UFTRACE_MAP_LONG_ID, /* the build id is */
};

struct uftrace_map_line {
	uint64_t start, end;
	struct uftrace_str path, build_id; /* build_id.text NULL: none */
	size_t prot;			   /* bytes of the protection */
	size_t id_at;			   /* where the build id begins, with the blank before it */
	bool rest;			   /* something stands behind the path, which is not "(deleted)" */
	bool odd;			   /* readers take it, and no system writes it so */
	uint32_t column;		   /* set by the scan: of the path */
	bool id_lost;			   /* set by the scan: what stands behind the path is no build id */
};

enum uftrace_map_state uftrace_map_line_read(const char *text, size_t length, struct uftrace_map_line *out);
/* Of a line that is UFTRACE_MAP_BAD: whether its range, its flags and the path at its end are whole, and only the fields between
 * these, which nobody needs, are not: [*at, *at + *size). */
bool uftrace_map_line_recover(const char *text, size_t length, struct uftrace_map_line *out, size_t *at, size_t *size);

#endif
