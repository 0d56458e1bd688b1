/* What the files of the walk over a recording share. Private to this folder. */
#ifndef UFTRACE_WALK_H
#define UFTRACE_WALK_H

#include <stdio.h>

#include "core/text.h"
#include "formats/uftrace/uftrace.h"

#define UFTRACE_NONE UINT32_MAX
/* A frame whose address is not known: after lost records. */
#define UFTRACE_ANY UINT64_MAX

/* ---- files ---- */

enum uftrace_kind {
	UFTRACE_FILE_UNKNOWN,
	UFTRACE_FILE_INFO,
	UFTRACE_FILE_TASK_TXT,
	UFTRACE_FILE_TASK,
	UFTRACE_FILE_MAP,
	UFTRACE_FILE_MAP_TMP,
	UFTRACE_FILE_SYM,
	UFTRACE_FILE_DBG,
	UFTRACE_FILE_DAT,
	UFTRACE_FILE_DAT_ODD,
	UFTRACE_FILE_PERF,
	UFTRACE_FILE_KERNEL_HEADER,
	UFTRACE_FILE_KALLSYMS,
	UFTRACE_FILE_KERNEL_DAT,
	UFTRACE_FILE_EVENTS,
	UFTRACE_FILE_OPTS,
	UFTRACE_FILE_EXTERN,
	UFTRACE_FILE_NOTE,
	UFTRACE_FILE_CHANNEL,
	UFTRACE_FILE_SHM
};

struct uftrace_file {
	struct source *source;
	enum uftrace_kind kind;
	uint64_t number; /* tid of DAT, of SHM */
	const char *sid; /* of MAP, MAP_TMP and SHM: within the name */
	size_t sid_length;
	bool planned;	  /* the plan has all of its bytes */
	uint32_t renamed; /* MAP_TMP: it takes the place of a missing map */
};

/* A run of bytes in memory; not terminated. */
struct uftrace_str {
	const char *text;
	size_t length;
};

bool uftrace_str_is(struct uftrace_str s, const char *text);
bool uftrace_str_equal(struct uftrace_str a, struct uftrace_str b);
struct uftrace_str uftrace_basename(struct uftrace_str path);

/* ---- edits of a text file: everything else is copied ---- */

struct uftrace_edit {
	uint64_t from, length; /* replaced range; length 0: an insertion */
	char *text;	       /* owned; NULL: nothing, or a move */
	size_t text_length;
	uint64_t move_from, move_length; /* a range copied to here from elsewhere; its own place is an edit with `moved` */
	bool moved;
	unsigned rule;
	const char *why; /* static, or from plan_why() */
	size_t order;
};

struct uftrace_edits {
	struct uftrace_edit *list;
	size_t count, capacity;
	bool failed; /* out of memory */
};

/* All edits are no-ops without a plan. text is copied. */
struct uftrace_walk;
void uftrace_edit_add(struct uftrace_walk *w, struct uftrace_edits *e, uint64_t from, uint64_t length, const char *text,
		      size_t text_length, unsigned rule, const char *why);
/* Moves [from, from + length) in front of `to`. */
/* Leaves a range out that said something. */
void uftrace_edit_lose(struct uftrace_walk *w, struct uftrace_edits *e, uint64_t from, uint64_t length, unsigned rule,
		       const char *why);
void uftrace_edit_move(struct uftrace_walk *w, struct uftrace_edits *e, uint64_t from, uint64_t length, uint64_t to, unsigned rule);
/* Appends the source with its edits to the output of that name, and frees the edits. */
void uftrace_edits_apply(struct uftrace_walk *w, struct uftrace_edits *e, struct uftrace_file *file, const char *output);
void uftrace_edits_free(struct uftrace_edits *e);

/* ---- a hash of ids: open addressing, grows by itself ---- */

struct uftrace_ids {
	int64_t *keys;
	uint32_t *values;
	size_t capacity, count;
};

/* The value of key, or UFTRACE_NONE. */
uint32_t uftrace_ids_get(const struct uftrace_ids *ids, int64_t key);
/* Sets it; false: out of memory. */
bool uftrace_ids_set(struct uftrace_ids *ids, int64_t key, uint32_t value);
void uftrace_ids_free(struct uftrace_ids *ids);

/* ---- info ---- */

struct uftrace_head {
	bool present; /* there is a header whose fields can be used */
	bool damaged; /* the recorder died: info is missing, or was not completed */
	bool big_endian;
	unsigned class; /* 1 or 2, inferred when the field makes no sense */
	unsigned version;
	uint64_t feat, mask;
	unsigned max_stack;
	uint64_t new_feat, new_mask;
	unsigned new_max_stack;
};

/* ---- task.txt ---- */

enum uftrace_task_kind { UFTRACE_LINE_SESS, UFTRACE_LINE_TASK, UFTRACE_LINE_FORK, UFTRACE_LINE_DLOP };

struct uftrace_task_line {
	uint64_t offset, length; /* in task.txt with its LF; length 0: added by repair */
	uint32_t text;		 /* bytes of it in task_text, without NUL bytes and LF */
	bool verbatim;		 /* it is these and the LF */
	enum uftrace_task_kind kind;
	uint32_t order;
	uint64_t time;
	int64_t id;	  /* SESS: pid; TASK, DLOP: tid; FORK: child pid */
	int64_t parent;	  /* TASK: pid; FORK: ppid */
	uint32_t session; /* SESS: its index; DLOP: that of its session, or UFTRACE_NONE */
};

struct uftrace_session {
	struct uftrace_str sid, exename;
	uint64_t time;
	int64_t pid;
	uint32_t line;	 /* UFTRACE_NONE: added by repair */
	uint32_t map;	 /* UFTRACE_NONE: no file */
	uint32_t before; /* the session of this pid that was met before; UFTRACE_NONE */
	bool linked;
};

struct uftrace_library { /* a DLOP line */
	uint64_t time, base;
	uint32_t session, module;
	uint32_t line;
	struct uftrace_str name, sid;
};

/* ---- maps and symbols ---- */

struct uftrace_mapping {
	uint64_t start, end;
	struct uftrace_str path, build_id;
	uint32_t module; /* index of its symbols; UFTRACE_NONE */
	bool used;	 /* a record has an address in it */
};

struct uftrace_map {
	uint32_t file;
	char *text; /* owned */
	size_t size;
	struct uftrace_mapping *list; /* owned, ascending */
	size_t count, capacity;
	bool stack;	 /* has a [stack] line */
	bool unreadable; /* has lines that are no mappings: they may have been */
	bool build_ids;
	bool referenced; /* by a session */
};

struct uftrace_symbol {
	uint64_t address, end; /* relative; [address, end) */
	uint32_t name;	       /* offset in the module's names */
	uint32_t length : 24, type : 8;
};

/* Arguments of one function: what the bytes after a record are. */
struct uftrace_spec;

struct uftrace_module {
	uint32_t file;
	struct uftrace_str path, build_id; /* of its head; in names */
	char *names;			   /* owned: the bytes of the file */
	struct uftrace_symbol *symbols;	   /* owned, ascending */
	size_t count;
	bool sized, headed, matched;
	const struct uftrace_spec **specs; /* owned; by symbol, two each; NULL: not asked yet */
};

struct uftrace_dbg_function {
	uint64_t address;
	struct uftrace_str args, retval; /* texts after "@" */
};

struct uftrace_dbg {
	uint32_t file;
	struct uftrace_str path, build_id;
	char *text;			   /* owned */
	struct uftrace_dbg_function *list; /* owned, ascending */
	size_t count;
};

/* ---- argument specifications ---- */

struct uftrace_item {
	uint16_t size; /* bytes; 0 with string unset: an empty structure */
	bool string, retval;
	uint8_t floating; /* index space: 0 integer, 1 floating point */
	uint16_t index;
};

enum uftrace_spec_state { UFTRACE_SPEC_UNKNOWN, UFTRACE_SPEC_NONE, UFTRACE_SPEC_KNOWN };

struct uftrace_spec {
	enum uftrace_spec_state state;
	size_t count;
	struct uftrace_item items[];
};

struct uftrace_argspecs; /* uftrace_argspec.c */

/* ---- a task's records ---- */

struct uftrace_dat {
	uint64_t tid;
	uint32_t file;		       /* UFTRACE_NONE: only leftover buffers */
	uint32_t shm_first, shm_count; /* in w->shm */
	bool listed, known;	       /* in taskinfo; in task.txt */
	bool has_records;
	uint64_t first_time, first_address, last_time, records;
	enum uftrace_type first_type;
	bool forked; /* a FORK line is its first */
};

struct uftrace_walk { /* NOLINT(clang-analyzer-optin.performance.Padding): one at a time, and grouped by what belongs together */
	struct scan *scan;
	struct bundle *in;
	struct findings *findings;
	struct plan *plan;
	enum tracemend_status status; /* sticky */

	struct uftrace_file *files;
	size_t file_count;
	uint32_t info, task_txt, task_legacy, kernel_header, events; /* indices into files or UFTRACE_NONE */
	bool irregular_info, irregular_task;
	bool foreign; /* written by another tool: QEMU plugin */
	bool has_perf, has_kernel, drop_kernel;

	struct uftrace_head head;
	struct uftrace_lines *info_lines; /* uftrace_info.c */
	struct finding *recorder_died;	  /* what explains that much is missing */
	struct finding *no_info_lines;
	char *info_text; /* owned: the file */
	size_t info_size;
	struct uftrace_str exename, version_text, cmdline;
	uint64_t elapsed; /* ns; 0 unknown */
	bool auto_args, pattern_known;
	unsigned pattern_type;	   /* 0 simple, 1 regex, 2 glob */
	unsigned version_number;   /* major * 10000 + minor * 100 + patch; 0 unknown */
	struct uftrace_ids listed; /* tids of taskinfo */
	int64_t *tids;		   /* owned: in order, valid and unique */
	size_t tid_count, tid_capacity;

	char *task_text;	      /* owned */
	size_t task_size, task_zeros; /* zeros: after the last line */
	struct uftrace_edits task_edits;
	struct uftrace_task_line *lines; /* owned: kept lines, file order */
	size_t line_count, line_capacity;
	bool task_rebuilt;			/* there is no task.txt: all lines are added */
	struct finding *map_damage;		/* a session has no map */
	struct finding *task_damage, *task_odd; /* explain lines which are missing */
	bool legacy_text, legacy_bad;		/* the lines are of the binary file `task` */
	unsigned task_rule;			/* why lines are added */
	struct uftrace_session *sessions;	/* owned */
	size_t session_count, session_capacity;
	struct uftrace_ids known;	   /* ids of TASK and FORK lines -> the last such line */
	struct uftrace_library *libraries; /* owned */
	size_t library_count;
	struct uftrace_ids pid_session; /* pid -> the session of it that was met last; `before` leads on */
	struct uftrace_ids parents;	/* pid -> line of its FORK */
	struct uftrace_ids known_first; /* id -> its first TASK or FORK line */
	size_t library_capacity;
	uint64_t work;			     /* steps along chains of sessions and parents */
	struct bytes task_added, task_front; /* lines that repair adds at the end, and at the beginning */

	struct uftrace_map *maps; /* owned */
	size_t map_count;
	size_t map_sorted, map_capacity, mapping_count; /* mappings of all */
	struct uftrace_module *modules;			/* owned */
	size_t module_count;
	size_t symbol_count, symbol_bytes;
	struct {
		char name[512];
		uint32_t module;
	} renamed[64]; /* names that symbol files are given by repair: everything else sees them under these */
	size_t renamed_count;
	struct uftrace_dbg *dbgs; /* owned */
	size_t dbg_count;
	struct uftrace_argspecs *argspecs;
	bool has_argspec; /* info bit 10 */

	struct uftrace_ids event_ids;

	uint32_t *shm; /* owned: files of leftover buffers that are used, by tid and time */
	size_t shm_count;
	struct uftrace_dat *dats; /* owned, by tid */
	size_t dat_count;
	uint64_t first_time, last_time; /* of all records */
	uint64_t records;
	unsigned deepest; /* max_stack that the records need */
	bool arguments, retvals;
	uint64_t unresolved_payloads;
	struct finding *argspec_missing;
};

/* Each returns false when the walk must stop: w->status says why. */
bool uftrace_walk_fail(struct uftrace_walk *w, enum tracemend_status status);
bool uftrace_walk_limit(struct uftrace_walk *w, const char *what, uint64_t limit);
/* Reads a text file whole, up to UFTRACE_TEXT_BYTES_MAX. */
bool uftrace_slurp(struct uftrace_walk *w, struct source *s, char **text, size_t *size);
/* Room for one more element of `size` bytes. Returns the list (moved, perhaps), or NULL with w->status set. */
void *uftrace_grow(struct uftrace_walk *w, void *list, size_t *capacity, size_t count, size_t size);

/* uftrace_dir.c */
/* What a file is by its name; sets f->number and f->sid. */
enum uftrace_kind uftrace_dir_kind(struct uftrace_file *f, const char *name);
bool uftrace_dir_walk(struct uftrace_walk *w);
/* The file of that exact name among the capture's own, or UFTRACE_NONE. */
uint32_t uftrace_dir_find(const struct uftrace_walk *w, const char *name, size_t length);
/* The records of that task, or NULL; after those of all tasks were sorted. */
struct uftrace_dat *uftrace_dat_of(struct uftrace_walk *w, uint64_t tid);
void uftrace_dats_sort(struct uftrace_walk *w);
/* Copies or drops what no one has planned. */
void uftrace_dir_plan(struct uftrace_walk *w);
void uftrace_file_drop(struct uftrace_walk *w, struct uftrace_file *file, unsigned rule, const char *why);

/* One line of info. */
struct uftrace_line {
	uint64_t offset;	  /* in info */
	size_t length, raw;	  /* without and with its CR and LF */
	struct uftrace_str value; /* after the key and the colon */
	unsigned bit;		  /* of info_mask; UFTRACE_I_COUNT: unknown key */
	bool key_second;	  /* elapsed_time; for ARG_SPEC any but argspec */
	bool drop, ended;
	unsigned rule;
	const char *why;
	char *text; /* owned: what is written instead, with its LF; NULL: itself */
};

struct uftrace_lines {
	struct uftrace_line *list; /* owned */
	size_t count, capacity;
	uint64_t trailing;    /* offset where the text ends, for readers */
	bool trailing_drop;   /* what is after it is a cut line */
	unsigned header_rule; /* UFTRACE_RULE_COUNT: the header is sound */
	const char *header_why;
	bool taskinfo_rewrite;
	unsigned taskinfo_rule;
	const char *taskinfo_why;
	uint64_t tids_offset, tids_length; /* of the list of tids */
	bool tids_present;
	struct finding *damage; /* a finding that explains lines which are missing */
};

/* uftrace_info.c: the header. uftrace_info_plan() writes the file, once all else is known. */
bool uftrace_info_walk(struct uftrace_walk *w);
void uftrace_info_late(struct uftrace_walk *w); /* feature bits against the files */
bool uftrace_info_plan(struct uftrace_walk *w);
void uftrace_info_free(struct uftrace_walk *w);
/* uftrace_info_text.c: the lines after it */
bool uftrace_info_text(struct uftrace_walk *w);
/* uftrace_taskinfo.c: the list of tasks, and that list against task.txt and the records */
bool uftrace_taskinfo_read(struct uftrace_walk *w);
bool uftrace_info_tasks(struct uftrace_walk *w);

/* uftrace_task.c */
bool uftrace_task_walk(struct uftrace_walk *w);
bool uftrace_task_plan(struct uftrace_walk *w);
/* uftrace_session.c */
bool uftrace_session_link(struct uftrace_walk *w);
/* Adds a line for a task that task.txt does not have. */
bool uftrace_task_add(struct uftrace_walk *w, struct uftrace_dat *dat);
/* The session that holds for a process at a time; UFTRACE_NONE. */
uint32_t uftrace_session_at(struct uftrace_walk *w, int64_t pid, uint64_t time);
/* The earliest start after `time` of a session of this process; UINT64_MAX. */
uint64_t uftrace_session_next(struct uftrace_walk *w, int64_t pid, uint64_t time);

/* uftrace_map.c */
bool uftrace_map_walk(struct uftrace_walk *w);
/* Reads one map; output: the name under which the plan writes it. UFTRACE_NONE: w->status. */
uint32_t uftrace_map_load(struct uftrace_walk *w, uint32_t file, const char *output);
/* The map of a session, or UFTRACE_NONE. */
uint32_t uftrace_map_of(struct uftrace_walk *w, struct uftrace_str sid);
bool uftrace_map_check(struct uftrace_walk *w);
struct uftrace_mapping *uftrace_map_find(const struct uftrace_map *map, uint64_t address);

/* uftrace_sym.c */
bool uftrace_sym_walk(struct uftrace_walk *w);
bool uftrace_sym_link(struct uftrace_walk *w);
uint32_t uftrace_sym_find(const struct uftrace_module *m, uint64_t relative);

/* uftrace_dbg.c */
bool uftrace_dbg_walk(struct uftrace_walk *w);

/* uftrace_argspec.c */
bool uftrace_argspec_walk(struct uftrace_walk *w, struct uftrace_str key, struct uftrace_str value, uint64_t offset);
bool uftrace_argspec_ready(struct uftrace_walk *w);
/* Never NULL but when memory is short. */
const struct uftrace_spec *uftrace_argspec_of(struct uftrace_walk *w, uint32_t module, uint32_t symbol, bool retval);
/* Bytes that the values take with their padding, read from data; -1: they pass `size`, or a string cannot be so long.
 * longest: the longest string. */
int uftrace_argspec_size(const struct uftrace_spec *spec, const uint8_t *data, size_t size, bool big_endian, unsigned *longest);
void uftrace_argspec_free(struct uftrace_walk *w);

/* uftrace_dat.c */
bool uftrace_dat_probe(struct uftrace_walk *w);
bool uftrace_dat_walk(struct uftrace_walk *w);

/* uftrace_shm.c */
bool uftrace_shm_walk(struct uftrace_walk *w);

/* uftrace_perf.c, uftrace_kernel.c, uftrace_misc.c */
bool uftrace_perf_walk(struct uftrace_walk *w);
bool uftrace_kernel_walk(struct uftrace_walk *w);
bool uftrace_events_walk(struct uftrace_walk *w); /* fills event_ids; before the records */
bool uftrace_misc_walk(struct uftrace_walk *w);

#endif
