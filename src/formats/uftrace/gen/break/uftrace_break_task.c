/* Breakers of the rules about task.txt and the maps: who ran which image when. */
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdio.h>

enum { NANOSECONDS = 1000000000, UNUSED_TID = 4000000 };

/* What the capture must and must not have, as uftrace_gen_need(); it has a task.txt. */
static void tasks_need(struct uftrace_gen *g, uint64_t want, uint64_t refuse)
{
	g->version_low = 60;
	uftrace_gen_need(g, want, refuse);
}

static struct bytes *tasks(struct uftrace_gen *g)
{
	return uftrace_genfile(g, "task.txt");
}

static const char *stamp(char text[static 48], uint64_t time)
{
	(void)snprintf(text, 48, "%llu.%09llu", (unsigned long long)(time / NANOSECONDS), (unsigned long long)(time % NANOSECONDS));
	return text;
}

BREAKER_OF(task_missing, GEN_BYTES, tasks_need(g, 0, 0))
{
	gen_file_remove(g->g, "task.txt");
}

BREAKER_OF(task_legacy_shadow, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	(void)gen_file(g->g, "task");
}

BREAKER_OF(task_line_malformed, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	static const char *const wrong[] = {
		"TASK timestamp=1.000000001 tid=abc pid=1\n",
		"TASK timestamp=1.000000001 pid=1\n",
		"FORK  timestamp=1.000000001 pid=2 ppid=1\n",
		"DLOP timestamp=1.000000001 tid=1 sid=0123456789abcdef base=xyz libname=\"/opt/shop/lib/none.so\"\n",
		"SESS timestamp= pid=1 sid=0123456789abcdef exename=\"/opt/shop/bin/shop\"\n",
	};
	struct bytes *b = tasks(g);

	if (b)
		uftrace_row_insert_any(g, b, wrong, 5);
}

BREAKER_OF(task_line_unknown, GEN_BYTES, tasks_need(g, 0, 0))
{
	static const char *const wrong[] = { "NOTE a new keyword\n", "EXIT timestamp=1.000000001 tid=1\n", "sess\n" };
	struct bytes *b = tasks(g);

	if (b)
		uftrace_row_insert_any(g, b, wrong, 3);
}

BREAKER_OF(task_truncated_tail, GEN_BYTES, tasks_need(g, 0, 0))
{
	static const char whole[] = "TASK timestamp=9999999.999999999 tid=4000001 pid=4000001";
	struct bytes *b = tasks(g);

	if (b)
		bytes_append(b, whole, 5 + uftrace_gen_below(g, sizeof(whole) - 10));
}

BREAKER_OF(task_nul_bytes, GEN_BYTES, tasks_need(g, 0, 0))
{
	static const uint8_t zeros[64];
	struct bytes *b = tasks(g);

	if (b) {
		size_t count = 1 + uftrace_gen_below(g, 64);

		bytes_insert(b, uftrace_row_any(g, b, "").at, zeros, count);
	}
}

BREAKER_OF(task_timestamp_digits, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	struct bytes *b = tasks(g);
	struct uftrace_row l = b ? uftrace_row_find(b, "SESS timestamp=", 0) : (struct uftrace_row){ 0, 0, false };
	const uint8_t *dot = l.found ? memchr(b->data + l.at, '.', l.length) : NULL;

	if (dot) /* the first line: it may become earlier, not later */
		bytes_remove(b, (size_t)(dot - b->data) + 1 + 2, 1 + uftrace_gen_below(g, 5));
}

BREAKER_OF(task_sid_format, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_FOREIGN), uftrace_gen_unused(g, 12))
{
	struct bytes *b = tasks(g);
	const struct uftrace_gen_session *s = &g->sessions[0];
	char wrong[24], from[40], to[40];
	unsigned keep = 4 + uftrace_gen_below(g, 12);

	if (!b)
		return;
	(void)snprintf(wrong, sizeof(wrong), "%.*s%s", (int)keep, s->sid, uftrace_gen_below(g, 2) ? "" : "X");
	for (size_t at = 0; uftrace_row_replace_text(b, at, s->sid, "\x01"); at++)
		;
	while (uftrace_row_replace_text(b, 0, "\x01", wrong))
		;
	(void)snprintf(from, sizeof(from), "sid-%s.map", s->sid);
	(void)snprintf(to, sizeof(to), "sid-%s.map", wrong);
	uftrace_genfile_rename(g, from, to);
}

BREAKER_OF(task_duplicate_sid, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_DLOPEN))
{
	/* Only one of the two gets what a DLOP line adds. */
	struct bytes *b = tasks(g);
	struct uftrace_row l = b ? uftrace_row_find(b, "SESS ", 0) : (struct uftrace_row){ 0, 0, false };
	char text[512];

	if (!l.found)
		return;
	uftrace_row_copy(b, l, text, sizeof(text));
	uftrace_row_insert(b, l.at + l.length, "%s\n", text);
}

BREAKER_OF(task_exename_quoting, GEN_BYTES, tasks_need(g, 0, 0))
{
	struct bytes *b = tasks(g);
	struct uftrace_row l = b ? uftrace_row_any(g, b, "SESS ") : (struct uftrace_row){ 0, 0, false };

	if (!l.found)
		return;
	if (uftrace_gen_below(g, 2)) /* the end of the name is the last quote, or the end of the line */
		bytes_remove(b, l.at + l.length - 2, 1);
	else
		(void)uftrace_row_replace_text(b, l.at, "exename=\"", "exename='");
}

BREAKER_OF(task_no_session, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_DLOPEN | UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = tasks(g);

	while (b && uftrace_row_find(b, "SESS ", 0).found)
		uftrace_row_remove(b, uftrace_row_find(b, "SESS ", 0));
}

BREAKER_OF(task_sess_after_task, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_DLOPEN | UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = tasks(g);
	struct uftrace_row l = b ? uftrace_row_find(b, "SESS ", 0) : (struct uftrace_row){ 0, 0, false };
	char time[48];

	if (!l.found)
		return;
	uftrace_row_replace(b, l, "SESS timestamp=%s pid=%d sid=%s exename=\"%s\"\n",
			    stamp(time, g->end + 1 + uftrace_gen_below(g, 1000)), g->tasks[0].pid, g->sessions[0].sid,
			    g->modules[0].path);
	while (uftrace_row_at(b, l.at + uftrace_row_at(b, l.at).length).found) {
		uftrace_row_swap(b, l);
		l = uftrace_row_at(b, l.at + uftrace_row_at(b, l.at).length);
	}
}

BREAKER_OF(task_session_without_map, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_ORPHAN | UFTRACE_GEN_PAYLOADS))
{
	const char *name = NULL;

	if (uftrace_genfile_any(g, "sid-", ".map", &name))
		gen_file_remove(g->g, name);
}

BREAKER(map_orphan, GEN_SHAPE)
{
	uftrace_gen_need(g, UFTRACE_GEN_ORPHAN, UFTRACE_GEN_FOREIGN);
}

/* ---- forks ---- */

/* Replaces the parent in one of the FORK lines; 0 is the child itself. */
static void set_parent(struct uftrace_gen *g, struct bytes *b, int parent)
{
	unsigned count = 0;

	for (unsigned i = 0; i < g->line_count; i++)
		count += g->lines[i].kind == UFTRACE_GEN_FORKED;
	if (!count)
		return;
	count = uftrace_gen_below(g, count);
	for (unsigned i = 0; i < g->line_count; i++) {
		char from[64], to[64];

		if (g->lines[i].kind != UFTRACE_GEN_FORKED || count--)
			continue;
		(void)snprintf(from, sizeof(from), " pid=%d ppid=%d\n", g->lines[i].pid, g->lines[i].other);
		(void)snprintf(to, sizeof(to), " pid=%d ppid=%d\n", g->lines[i].pid, parent ? parent : g->lines[i].pid);
		(void)uftrace_row_replace_text(b, 0, from, to);
		return;
	}
}

BREAKER_OF(task_fork_cycle, GEN_BYTES, tasks_need(g, UFTRACE_GEN_FORK, UFTRACE_GEN_FOREIGN))
{
	struct bytes *b = tasks(g);
	char time[48];

	for (unsigned i = 0; b && i < g->line_count; i++) {
		const struct uftrace_gen_line *line = &g->lines[i];
		struct uftrace_row l = uftrace_row_find(b, "", i);

		if (line->kind != UFTRACE_GEN_FORKED || !l.found)
			continue;
		uftrace_row_insert(b, l.at + l.length, "FORK timestamp=%s pid=%d ppid=%d\n", stamp(time, line->time), line->other,
				   line->pid);
		return;
	}
}

BREAKER_OF(task_fork_unknown_parent, GEN_BYTES, tasks_need(g, UFTRACE_GEN_FORK, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = tasks(g);

	if (b)
		set_parent(g, b, UNUSED_TID + (int)uftrace_gen_below(g, 1000));
}

BREAKER_OF(task_fork_self, GEN_BYTES, tasks_need(g, UFTRACE_GEN_FORK, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = tasks(g);

	if (b)
		set_parent(g, b, 0);
}

BREAKER_OF(task_repeat_without_exec, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	struct bytes *b = tasks(g);
	struct uftrace_row l = b ? uftrace_row_find(b, "TASK ", 0) : (struct uftrace_row){ 0, 0, false };
	char text[512];

	if (!l.found)
		return;
	uftrace_row_copy(b, l, text, sizeof(text));
	uftrace_row_insert(b, l.at + l.length, "%s\n", text);
}

BREAKER_OF(task_time_order, GEN_BYTES,
	   tasks_need(g, UFTRACE_GEN_THREADS,
		      UFTRACE_GEN_FOREIGN | UFTRACE_GEN_FORK_EXEC | UFTRACE_GEN_SPAWN | UFTRACE_GEN_EXEC | UFTRACE_GEN_DLOPEN))
{
	struct bytes *b = tasks(g);

	if (b) /* two threads of one process, or the first and a thread */
		uftrace_row_swap(b, uftrace_row_find(b, "TASK ", uftrace_gen_below(g, uftrace_row_count(b, "TASK ") - 1)));
}

/* ---- dlopen ---- */

BREAKER_OF(dlop_unknown_session, GEN_BYTES, tasks_need(g, UFTRACE_GEN_DLOPEN, UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = tasks(g);
	struct uftrace_row l = b ? uftrace_row_any(g, b, "DLOP ") : (struct uftrace_row){ 0, 0, false };
	char text[512], sid[17];

	if (!l.found)
		return;
	uftrace_row_copy(b, l, text, sizeof(text));
	if (uftrace_gen_below(g, 2)) { /* before its session */
		uftrace_row_remove(b, l);
		uftrace_row_insert(b, 0, "%s\n", text);
		return;
	}
	uftrace_gen_hex_digits(g, sid, 16);
	sid[0] = 'f';
	(void)uftrace_row_replace_text(b, l.at, g->sessions[0].sid, sid);
}

BREAKER_OF(dlop_unknown_tid, GEN_BYTES, tasks_need(g, UFTRACE_GEN_DLOPEN, UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = tasks(g);
	struct uftrace_row l = b ? uftrace_row_any(g, b, "DLOP ") : (struct uftrace_row){ 0, 0, false };
	char from[32], to[32];

	if (!l.found)
		return;
	(void)snprintf(from, sizeof(from), " tid=%d ", g->tasks[0].tid);
	(void)snprintf(to, sizeof(to), " tid=%d ", UNUSED_TID + (int)uftrace_gen_below(g, 1000));
	(void)uftrace_row_replace_text(b, l.at, from, to);
}

/* ---- maps ---- */

/* The map of the first session, and where its [stack] line starts. */
static struct bytes *map(struct uftrace_gen *g, size_t *stack)
{
	struct bytes *b;
	char name[40];

	(void)snprintf(name, sizeof(name), "sid-%s.map", g->sessions[0].sid);
	b = uftrace_genfile(g, name);
	*stack = 0;
	for (struct uftrace_row l = { 0, 0, true }; b && l.found; l = uftrace_row_at(b, l.at + l.length)) {
		l = uftrace_row_at(b, l.at);
		if (l.length > 8 && memcmp(b->data + l.at + l.length - 8, "[stack]\n", 8) == 0)
			*stack = l.at;
	}
	return b;
}

/* Where a module that the capture does not have could be: below the stack, above everything else. */
static uint64_t free_address(const struct uftrace_gen *g)
{
	return g->sessions[0].stack_start - 0x400000;
}

static void insert_module(struct uftrace_gen *g, struct bytes *b, size_t at, uint64_t start, uint64_t end, const char *protection,
			  const char *tail)
{
	(void)g;
	uftrace_row_insert(b, at, "%08llx-%08llx %s 00000000 00:00 0                          /usr/lib/libextra.so.3%s\n",
			   (unsigned long long)start, (unsigned long long)end, protection, tail);
}

BREAKER(map_line_malformed, GEN_BYTES)
{
	static const char *const wrong[] = { "a map has no such line\n", "00400000 00401000 r-xp 0 0 0\n",
					     "zzz-yyy r-xp 00000000 00:00 0 /x\n" };
	size_t stack;
	struct bytes *b = map(g, &stack);

	if (b)
		uftrace_row_insert_any(g, b, wrong, 3);
}

BREAKER(map_no_stack, GEN_BYTES)
{
	size_t stack;
	struct bytes *b = map(g, &stack);

	if (b)
		uftrace_row_remove(b, uftrace_row_at(b, stack));
}

BREAKER_OF(map_range_invalid, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	size_t stack;
	struct bytes *b = map(g, &stack);
	uint64_t at = free_address(g);

	if (!b)
		return;
	if (uftrace_gen_below(g, 2))
		insert_module(g, b, stack, at + 0x1000 * (uint64_t)uftrace_gen_below(g, 8), at, "r-xp", "");
	else
		insert_module(g, b, stack + uftrace_row_at(b, stack).length, (uint64_t)1 << 50, ((uint64_t)1 << 50) + 0x1000,
			      "r-xp", "");
}

BREAKER_OF(map_overlap, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	size_t stack;
	struct bytes *b = map(g, &stack);
	struct uftrace_row first = b ? uftrace_row_at(b, 0) : (struct uftrace_row){ 0, 0, false };
	uint64_t end = g->sessions[0].maps[0].base + g->modules[g->sessions[0].program].length;

	if (!first.found)
		return;
	if (g->version < 90) /* the program has two lines and one for the heap */
		first.length += uftrace_row_at(b, first.length).length;
	insert_module(g, b, first.length, end - 0x1000, end + 0x2000, "r-xp", "");
}

BREAKER_OF(map_unsorted, GEN_BYTES, uftrace_gen_versions(g, 90, 999), uftrace_gen_need(g, UFTRACE_GEN_LIBRARIES, 0))
{
	size_t stack;
	struct bytes *b = map(g, &stack);

	if (b)
		uftrace_row_swap(b, uftrace_row_find(b, "", uftrace_gen_below(g, uftrace_row_count(b, "") - 1)));
}

BREAKER_OF(map_path_truncated_at_space, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	struct bytes *b = tasks(g), *info;
	char from[112], to[128];

	if (!b)
		return;
	(void)snprintf(from, sizeof(from), "%s\"\n", g->modules[0].path);
	(void)snprintf(to, sizeof(to), "%s %s\"\n", g->modules[0].path, uftrace_gen_below(g, 2) ? "front" : "two words");
	for (unsigned i = 0; uftrace_row_replace_text(b, 0, from, "\x01") && i < UFTRACE_GEN_LINES_MAX; i++)
		;
	while (uftrace_row_replace_text(b, 0, "\x01", to))
		;
	info = uftrace_genfile(g, "info");
	if (info) {
		to[strlen(to) - 2] = '\0';
		uftrace_row_replace(info, uftrace_row_find(info, "exename:", 0), "exename:%s\n", to);
	}
}

BREAKER_OF(map_field_too_long, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	size_t stack;
	struct bytes *b = map(g, &stack);
	uint64_t at = free_address(g);

	if (!b)
		return;
	switch (uftrace_gen_below(g, 3)) {
	case 0:
		insert_module(g, b, stack, at, at + 0x1000, "r-xp-and-more", "");
		break;
	case 1:
		insert_module(g, b, stack, at, at + 0x1000, "r-xp",
			      " build-id:00000000000000000000000000000000000000000000000000000000000000000000");
		break;
	default:
		insert_module(g, b, stack, at, at + 0x1000, "r-xp", "");
		for (unsigned i = 0; i < 4100; i += 10)
			bytes_insert(b, stack + uftrace_row_at(b, stack).length - 1, "/directory", 10);
		break;
	}
}

/* Debug information is found by them, and types of arguments are in it. */
BREAKER_OF(map_buildid_missing, GEN_BYTES, uftrace_gen_versions(g, 100, 999),
	   uftrace_gen_need(g, 0, UFTRACE_GEN_COLLIDE | UFTRACE_GEN_FOREIGN | UFTRACE_GEN_DEBUG))
{
	for (size_t i = 0; i < g->g->file_count; i++) {
		struct bytes *b = &g->g->files[i].bytes;
		const char *name = g->g->files[i].name;

		if (strncmp(name, "sid-", 4) != 0)
			continue;
		for (size_t at = 0; at + 50 <= b->size; at++)
			if (memcmp(b->data + at, " build-id:", 10) == 0)
				bytes_remove(b, at, 50);
	}
}

BREAKER_OF(map_buildid_format, GEN_BYTES, uftrace_gen_versions(g, 100, 999), uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	static const char *const wrong[] = { " build-id:0123456789abcdef", " build-id:0123456789abcdef0123456789abcdef0123456z",
					     " build-id:" };
	size_t stack;
	struct bytes *b = map(g, &stack);

	uint64_t at = free_address(g);
	if (b)
		insert_module(g, b, stack, at, at + 0x1000, "r-xp", wrong[uftrace_gen_below(g, 3)]);
}

BREAKER_OF(map_exe_missing, GEN_BYTES, tasks_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	struct bytes *b = tasks(g), *info;
	char from[112];

	if (!b)
		return;
	(void)snprintf(from, sizeof(from), "%s\"\n", g->modules[0].path);
	while (uftrace_row_replace_text(b, 0, from, "/opt/other/program\"\n"))
		;
	info = uftrace_genfile(g, "info");
	if (info)
		uftrace_row_replace(info, uftrace_row_find(info, "exename:", 0), "exename:/opt/other/program\n");
}
