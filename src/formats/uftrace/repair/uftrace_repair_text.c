/* task.txt, maps and symbol files that are made anew. */
#include <stdlib.h>
#include <string.h>

#include "formats/uftrace/decode/uftrace_sym_line.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_task.h"

bool uftrace_repair_tasks(struct uftrace_walk *w)
{
	struct bytes *front = &w->tasks->front, *end = &w->tasks->added;

	if (front->failed || end->failed)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	if (w->tasks->legacy_text && !w->tasks->legacy_bad && !front->size && !end->size && !w->tasks->edits.count)
		return true; /* the binary file serves, and is copied as it is */
	unsigned out = plan_output(w->plan, "task.txt");
	unsigned rule = w->dir->task_txt == UFTRACE_NONE ? UFTRACE_RULE_task_missing : w->tasks->rule;
	const char *why = "made from the maps and the records";
	if (front->size)
		plan_literal(w->plan, out, front->data, front->size, rule, why);
	if (end->size && w->tasks->zeros && !w->tasks->legacy_text) /* harmless only as long as nothing comes after them */
		uftrace_edit_add(w, &w->tasks->edits, w->tasks->size - w->tasks->zeros, w->tasks->zeros, NULL, 0,
				 UFTRACE_RULE_task_nul_bytes, "zeros where lines are added");
	if (w->dir->task_txt != UFTRACE_NONE)
		uftrace_edit_apply(w, &w->tasks->edits, &w->dir->files[w->dir->task_txt], "task.txt");
	if (w->tasks->legacy_text) {
		struct bytes text = { 0 };
		edits_apply_bytes(&w->tasks->edits, (const uint8_t *)w->tasks->text, w->tasks->size, &text);
		bool failed = text.failed || w->tasks->edits.failed;
		edits_free(&w->tasks->edits);
		if (!failed)
			plan_literal(w->plan, out, text.data, text.size, UFTRACE_RULE_task_legacy_shadow,
				     "what the binary file said");
		bytes_free(&text);
		if (failed)
			return uftrace_walk_fail(w, TM_NO_MEMORY);
		struct uftrace_file *f = &w->dir->files[w->dir->task_legacy];
		uftrace_repair_drop(w, f, UFTRACE_RULE_task_legacy_shadow, "written as task.txt");
	}
	if (end->size)
		plan_literal(w->plan, out, end->data, end->size, rule, why);
	return w->status == TM_OK;
}

static int order_compare(const void *a, const void *b)
{
	const struct uftrace_sym_line *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The lines of a text, each with its address if it is a symbol. *heads: lines at the beginning that are none. NULL: no memory. */
static struct uftrace_sym_line *sym_lines(struct uftrace_walk *w, const char *data, size_t size, size_t *count, size_t *heads)
{
	struct uftrace_sym_line *list = NULL;
	size_t capacity = 0;

	*count = *heads = 0;
	for (size_t at = 0; at < size;) {
		const char *text = data + at;
		const char *end = memchr(text, '\n', size - at);
		size_t raw = end ? (size_t)(end - text) + 1 : size - at, length = end ? raw - 1 : raw;
		struct uftrace_sym_line line = { 0 };
		length = uftrace_line_length(text, length);
		bool symbol = uftrace_sym_line_read(text, length, &line) && text[0] != '#';
		if (!uftrace_walk_room(w, &list, &capacity, *count, sizeof(*list))) {
			free(list);
			return NULL;
		}
		line.offset = at;
		line.raw = raw;
		line.address = symbol ? line.address : 0;
		list[(*count)++] = line;
		*heads += !symbol && *count == *heads + 1;
		at += raw;
	}
	return list;
}

/* What was written of a symbol file so far. */
struct sym_output {
	struct plan *p;
	unsigned out;
	const struct source *source;
	const char *text;
	bool counted;		 /* there was a line "# symbols" */
	uint64_t marks, symbols; /* end marks at the beginning; all data lines */
	uint64_t mark_address;
};

/* Whether the line is one that crashes readers: a second count, or a second end mark at the beginning. */
static bool sym_is_dropped(struct sym_output *o, const struct uftrace_sym_line *line, size_t length)
{
	const char *text = o->text + line->offset;
	struct uftrace_sym_line parsed = { 0 };
	bool symbol = text[0] != '#' && uftrace_sym_line_read(text, length, &parsed);
	bool first_mark = symbol && parsed.type == '?' && o->marks == o->symbols;

	if (line->raw > 11 && !memcmp(text, "# symbols: ", 11)) {
		if (o->counted) {
			plan_drop(o->p, o->source, line->offset, line->raw, UFTRACE_RULE_sym_count_dangerous, "a second header");
			return true;
		}
		o->counted = true;
	}
	if (first_mark && o->marks && o->mark_address == parsed.address) {
		plan_drop(o->p, o->source, line->offset, line->raw, UFTRACE_RULE_sym_leading_sentinels,
			  "a second end marker at the beginning");
		return true;
	}
	if (first_mark) {
		o->marks++;
		o->mark_address = parsed.address;
	}
	o->symbols += symbol;
	return false;
}

/* The edits of the lines that say whose file it is: its path, its build id. */
#define IDENTITY_MAX 2u
struct sym_identity {
	const struct edit *list[IDENTITY_MAX];
	size_t count;
};

static struct sym_identity identity_edits(const struct edits *edits)
{
	struct sym_identity found = { .count = 0 };

	for (size_t i = 0; i < edits->count && found.count < IDENTITY_MAX; i++)
		if (edits->list[i].rule == UFTRACE_RULE_sym_mismatched_identity)
			found.list[found.count++] = &edits->list[i];
	return found;
}

/* Makes those of the line at `at`. True: one stands in place of the line. */
static bool identity_made(struct sym_output *o, const struct sym_identity *identity, const struct edits *edits, uint64_t at)
{
	bool replaced = false;

	for (size_t i = 0; i < identity->count; i++) {
		const struct edit *e = identity->list[i];
		if (e->at != at)
			continue;
		plan_literal(o->p, o->out, edits_bytes(edits, e), e->length, e->rule, e->why);
		if (e->remove)
			plan_drop(o->p, o->source, at, e->remove, e->rule, e->why);
		replaced |= e->remove > 0;
	}
	return replaced;
}

bool uftrace_repair_symbols(struct uftrace_walk *w, struct uftrace_file *file, const char *text, size_t size,
			    const struct edits *edits, const char *output)
{
	size_t count, heads;
	struct uftrace_sym_line *list = sym_lines(w, text, size, &count, &heads);
	struct sym_output o = { .p = w->plan, .out = plan_output(w->plan, output), .source = file->source, .text = text };
	struct sym_identity identity = identity_edits(edits);

	if (!list)
		return false;
	/* Comments stay at the front as they are. Behind them what is no symbol has address 0. */
	if (count > heads)
		qsort(list + heads, count - heads, sizeof(*list), order_compare);
	/* A second repair must find nothing to do: CRs and lines that crash readers are dealt with here, too. */
	for (size_t i = 0; i < count; i++) {
		uint64_t at = list[i].offset;
		size_t raw = list[i].raw;
		bool lf = raw && text[at + raw - 1] == '\n';
		size_t ends = raw - lf, length = uftrace_line_length(text + at, ends);
		if (identity_made(&o, &identity, edits, at))
			continue;
		if (sym_is_dropped(&o, &list[i], length))
			continue;
		plan_copy(o.p, o.out, o.source, at, length);
		if (length < ends)
			plan_drop(o.p, o.source, at + length, ends - length, UFTRACE_RULE_sym_crlf, "a CR");
		if (lf)
			plan_copy(o.p, o.out, o.source, at + raw - 1, 1);
		else if (i + 1 < count)
			plan_literal(o.p, o.out, "\n", 1, UFTRACE_RULE_sym_unsorted, "the end of a line that was the last");
	}
	free(list);
	file->planned = true;
	return true;
}

void uftrace_repair_map(struct uftrace_walk *w, const char *output)
{
	static const char wide[] = "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n";
	static const char narrow[] = "bffdf000-bffff000 rw-p 00000000 00:00 0                                  [stack]\n";
	const char *text = w->info->head.class == UFTRACE_32 ? narrow : wide;

	if (!w->plan)
		return;
	plan_literal(w->plan, plan_output(w->plan, output), text, strlen(text), UFTRACE_RULE_task_session_without_map,
		     "a map with nothing but the stack");
	plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
}
