/* The traces of a bundle: which one a file belongs to. "A trace is contained in a directory tree". */
#include <stdio.h>
#include <stdlib.h>

#include "formats/lttng/decode/lttng_name.h"
#include "formats/lttng/repair/lttng_repair.h"

/* Length of the directory part with its slash, less a last "control/". */
static size_t root_of(const char *name)
{
	static const char control[] = "control/";
	size_t n = (size_t)(lttng_name_base(name) - name), c = sizeof(control) - 1;
	if (n >= c && !memcmp(name + n - c, control, c) && (n == c || name[n - c - 1] == '/'))
		n -= c;
	return n;
}

/* ---- traces of a bundle ---- */

struct root {
	const char *name; /* borrowed */
	size_t length;
};

struct member {
	size_t root;
	size_t source;
};

static int root_order(const void *left, const void *right)
{
	const struct root *a = left, *b = right;
	size_t n = a->length < b->length ? a->length : b->length;
	int order = n ? memcmp(a->name, b->name, n) : 0;
	return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

static int member_order(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	return a->source < b->source ? -1 : a->source > b->source;
}

static bool is_candidate(const struct source *s)
{
	int64_t cpu;
	bool loose;
	return s->kind == SOURCE_FILE && s->role == TM_ROLE_INPUT && !lttng_name_is_hidden(s->name) &&
	       !lttng_name_has_directory(s->name, "info") && !lttng_name_has_directory(s->name, "eventdefs") &&
	       lttng_name_split(lttng_name_base(s->name), &cpu, &loose) != 0;
}

#define NO_ROOT SIZE_MAX

/* The deepest root above the file; NO_ROOT when there is none. */
static size_t root_for(const struct root *roots, size_t count, const char *name)
{
	struct root key = { name, (size_t)(lttng_name_base(name) - name) };
	for (;;) {
		const struct root *found = bsearch(&key, roots, count, sizeof(*roots), root_order);
		if (found)
			return (size_t)(found - roots);
		if (!key.length)
			return NO_ROOT;
		key.length--;
		while (key.length && name[key.length - 1] != '/')
			key.length--;
	}
}

/* Puts roots in order, each once. */
static size_t roots_unite(struct root *roots, size_t count)
{
	size_t kept = 0;
	if (count)
		qsort(roots, count, sizeof(*roots), root_order);
	for (size_t i = 0; i < count; i++)
		if (!kept || root_order(&roots[kept - 1], &roots[i]))
			roots[kept++] = roots[i];
	return kept;
}

/* The directories that hold declarations, and those of tracefiles that have none above them; in order, at least one. */
static size_t find_roots(const struct bundle *b, struct root *roots)
{
	size_t declared, count = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct source *s = b->sources[i];
		if (is_candidate(s) && lttng_name_is_metadata(lttng_name_base(s->name)))
			roots[count++] = (struct root){ s->name, root_of(s->name) };
	}
	declared = count = roots_unite(roots, count);
	for (size_t i = 0; i < b->count; i++)
		if (is_candidate(b->sources[i]) && root_for(roots, declared, b->sources[i]->name) == NO_ROOT)
			roots[count++] = (struct root){ b->sources[i]->name, root_of(b->sources[i]->name) };
	if (!count)
		roots[count++] = (struct root){ "", 0 };
	return roots_unite(roots, count);
}

/* The files of one trace, in order of name. */
static void trace_collect(struct lttng_trace *t, const struct member *members, size_t count)
{
	for (size_t i = 0; i < count && t->status == TM_OK; i++) {
		struct source *s = t->s->in->sources[members[i].source];
		(void)lttng_files_add(t, s);
	}
}

static void scan_single(struct scan *s, struct source *source)
{
	finding_report(s->findings, LTTNG_RULE_trace_dir_missing, source, 0, source ? source->size : 0, "%s",
		       source && source->size ? "this is a single tracefile; the directory with its declarations is needed"
					      : "there is no tracefile here");
}

/* A single tracefile, or nothing at all. */
static enum tracemend_status scan_rest(struct scan *s, struct source *single)
{
	bool big;
	int major, minor;
	uint8_t head[96];
	size_t n = single && single->size < sizeof(head) ? (size_t)single->size : sizeof(head);

	scan_single(s, single);
	if (single && source_read(single, 0, head, n) == TM_OK) {
		const struct lttng_layout *l = lttng_identify(head, n, &big, &major, &minor);
		(void)snprintf(s->version, sizeof(s->version), "%s", l ? l->name : "");
	}
	if (s->plan)
		(void)snprintf(
			s->incomplete, sizeof(s->incomplete), "%s",
			single ? "the events of a tracefile are described by other files of its trace: give the whole directory"
			       : "there is no tracefile");
	return s->plan ? TM_NOTHING : TM_OK;
}

/* The files of each root, in order of root and name. */
static size_t find_members(const struct bundle *b, const struct root *roots, size_t root_count, struct member *members)
{
	size_t count = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct source *source = b->sources[i];
		if (source->kind != SOURCE_FILE || source->role != TM_ROLE_INPUT)
			continue;
		size_t root = root_for(roots, root_count, source->name);
		members[count++] = (struct member){ root == NO_ROOT ? 0 : root, i };
	}
	if (count)
		qsort(members, count, sizeof(*members), member_order);
	return count;
}

/* One trace after the other. */
static enum tracemend_status scan_roots(struct scan *s, const struct root *roots, size_t root_count, const struct member *members,
					size_t count, struct lttng_trace *t)
{
	enum tracemend_status status = TM_OK;
	uint64_t kept = 0;
	bool hopeless = false;

	for (size_t i = 0, at = 0; i < root_count && status == TM_OK; i++) {
		size_t first = at;
		while (at < count && members[at].root == i)
			at++;
		memset(t, 0, sizeof(*t));
		t->s = s;
		t->declared.budget.max = LTTNG_TABLE_BYTES_MAX;
		t->files.root = roots[i].name;
		t->files.root_length = roots[i].length;
		trace_collect(t, members + first, at - first);
		status = lttng_trace_scan(t);
		kept += t->out.kept;
		hopeless |= status == TM_NOTHING;
		if (status == TM_NOTHING && root_count > 1)
			status = TM_OK;
		if (status == TM_OK && (kept || !hopeless))
			*s->incomplete = '\0'; /* what one trace lacks does not stop the others */
		lttng_trace_free(t);
	}
	return status == TM_OK && hopeless && !kept ? TM_NOTHING : status;
}

enum tracemend_status lttng_scan(struct scan *s)
{
	struct bundle *b = s->in;
	struct source *single = bundle_single(b);
	enum tracemend_status status;

	if (single || !b->count)
		return scan_rest(s, single);
	struct root *roots = malloc((b->count + 1) * sizeof(*roots));
	struct member *members = malloc(b->count * sizeof(*members));
	struct lttng_trace *t = malloc(sizeof(*t));
	if (!roots || !members || !t) {
		status = fault_memory(&b->error);
	} else {
		size_t root_count = find_roots(b, roots), count = find_members(b, roots, root_count, members);
		if (s->plan)
			lttng_repair_extras(s);
		status = scan_roots(s, roots, root_count, members, count, t);
	}
	free(roots);
	free(members);
	free(t);
	return status;
}
