/* uftrace data directories: what all rooms share. */
#ifndef UFTRACE_H
#define UFTRACE_H

#include <stdint.h>

#include "tracemend.h"

#define UFTRACE_NONE UINT32_MAX /* no index */

/* ---- limits of this reader; beyond them the scan stops with TM_LIMIT, unless said otherwise ---- */

#define UFTRACE_TEXT_BYTES_MAX (64u * 1024 * 1024)    /* of info, task.txt, a map, events.txt: read whole */
#define UFTRACE_SHIFT_MAX 8192u			      /* bytes too many in front of the lines of info */
#define UFTRACE_TASKS_MAX (256u * 1024)		      /* tids of task.txt, of info, and files TID.dat */
#define UFTRACE_SESSIONS_MAX (64u * 1024)	      /* SESS lines */
#define UFTRACE_LIBRARIES_MAX (64u * 1024)	      /* DLOP lines */
#define UFTRACE_MAPPINGS_MAX (1024u * 1024)	      /* lines of all maps */
#define UFTRACE_SYMBOLS_MAX (4u * 1024 * 1024)	      /* of all symbol files */
#define UFTRACE_SYMBOL_BYTES_MAX (256u * 1024 * 1024) /* names of all symbols */
#define UFTRACE_SPECS_MAX 16384u /* argument specifications; further ones are not used (dat/argument rules are mild then) */
#define UFTRACE_REGEX_MAX 256u	 /* regular expressions among them */
#define UFTRACE_MATCH_WORK_MAX (16u * 1024 * 1024) /* attempts to match a name; then specifications count as unknown */
#define UFTRACE_EVENTS_MAX (256u * 1024)	   /* lines of events.txt that are remembered */

/* ---- rules ---- */

enum uftrace_rule {
#define RULE(sym, id, severity, class, title, clause, explanation, repair) UFTRACE_RULE_##sym,
#include "formats/uftrace/uftrace_rules.def"
#undef RULE
	UFTRACE_RULE_COUNT
};

/* ---- the entry points, for struct format ---- */

struct gen;
struct outline;
struct scan;

extern const struct format uftrace_format;				       /* uftrace.c */
extern const uint8_t uftrace_fast_contract[UFTRACE_RULE_COUNT];		       /* scan/uftrace_fast.c */
enum tracemend_status uftrace_scan(struct scan *s);			       /* scan/uftrace_scan.c */
enum tracemend_status uftrace_outline(struct outline *o, const char *profile); /* outline/uftrace_outline.c */
enum tracemend_status uftrace_generate(struct gen *g);			       /* gen/uftrace_gen.c */

#endif
