/* The text files of a generated uftrace directory that say who ran what: task.txt (or its binary ancestor), the maps,
 * the symbol files, the debug files. */
#include "formats/uftrace/gen/uftrace_gen.h"

#include <stdio.h>

enum { NANOSECONDS = 1000000000 };

/* ---- task.txt ---- */

static void write_stamp(struct bytes *b, const char *keyword, uint64_t time)
{
	bytes_printf(b, "%s timestamp=%llu.%09llu ", keyword, (unsigned long long)(time / NANOSECONDS),
		     (unsigned long long)(time % NANOSECONDS));
}

/* `task` of 0.5: magic, type, length, body. The numbers of the types are today's. */
static void write_legacy_tasks(struct uftrace_gen *g)
{
	enum { LEGACY_MAGIC = 0xface, LEGACY_START = 3, LEGACY_FORK = 6, LEGACY_SESSION = 7 };
	struct bytes *b = gen_file(g->g, "task");

	if (!b)
		return;
	b->big_endian = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
	for (unsigned i = 0; i < g->line_count; i++) {
		const struct uftrace_gen_line *line = &g->lines[i];
		bool session = line->kind == UFTRACE_GEN_SESS;
		const struct uftrace_gen_session *s = &g->sessions[line->session];
		const char *path = g->modules[s->program].path;
		size_t length = strlen(path);

		if (line->kind == UFTRACE_GEN_DLOP)
			continue;
		bytes_u16(b, LEGACY_MAGIC);
		bytes_u16(b, session ? LEGACY_SESSION : line->kind == UFTRACE_GEN_TASK ? LEGACY_START : LEGACY_FORK);
		bytes_u32(b, session ? (uint32_t)(40 + ((length + 7) & ~(size_t)7)) : 16);
		bytes_u64(b, line->time);
		bytes_u32(b, (uint32_t)(session ? line->pid : line->other));
		bytes_u32(b, (uint32_t)line->pid);
		if (session) {
			bytes_append(b, s->sid, 16);
			bytes_u32(b, 0);
			bytes_u32(b, (uint32_t)length);
			bytes_text(b, path);
			bytes_align(b, 8);
		}
	}
}

void uftrace_gen_write_tasks(struct uftrace_gen *g)
{
	struct bytes *b;

	if (g->version < 60) {
		write_legacy_tasks(g);
		return;
	}
	b = gen_file(g->g, "task.txt");
	if (!b)
		return;
	for (unsigned i = 0; i < g->line_count; i++) {
		const struct uftrace_gen_line *line = &g->lines[i];
		const struct uftrace_gen_session *s = &g->sessions[line->session];

		if (uftrace_gen_has(g, UFTRACE_GEN_FOREIGN)) {
			if (line->kind == UFTRACE_GEN_SESS)
				bytes_printf(b, "SESS timestamp=0.0 pid=%d sid=0 exename=\"%s\"\n", line->pid,
					     g->modules[s->program].path);
			else
				bytes_printf(b, "TASK timestamp=0.0 tid=%d pid=%d\n", line->pid, line->other);
			continue;
		}
		switch (line->kind) {
		case UFTRACE_GEN_SESS:
			write_stamp(b, "SESS", line->time);
			bytes_printf(b, "%s=%d sid=%s exename=\"%s\"\n", g->version < 62 ? "tid" : "pid", line->pid, s->sid,
				     g->modules[s->program].path); /* 0.6 called it tid */
			break;
		case UFTRACE_GEN_TASK:
			write_stamp(b, "TASK", line->time);
			bytes_printf(b, "tid=%d pid=%d\n", line->pid, line->other);
			break;
		case UFTRACE_GEN_FORKED:
			write_stamp(b, "FORK", line->time);
			bytes_printf(b, "pid=%d ppid=%d\n", line->pid, line->other);
			break;
		case UFTRACE_GEN_DLOP:
			write_stamp(b, "DLOP", line->time);
			bytes_printf(b, "tid=%d sid=%s base=%llx libname=\"%s\"\n", line->pid, s->sid,
				     (unsigned long long)line->base, g->modules[line->module].path);
			break;
		}
	}
}

unsigned uftrace_gen_tids(const struct uftrace_gen *g, int tids[static UFTRACE_GEN_TASKS_MAX])
{
	unsigned count = 0;

	for (unsigned i = 0; i < g->task_count; i++) {
		unsigned at = count;

		for (; at && tids[at - 1] > g->tasks[i].tid; at--)
			tids[at] = tids[at - 1];
		tids[at] = g->tasks[i].tid;
		count++;
	}
	return count;
}

/* ---- maps ---- */

static void write_map_line(struct uftrace_gen *g, struct bytes *b, uint64_t start, uint64_t end, const char *protection,
			   uint64_t offset, const char *path)
{
	bool zeroed = g->version >= 92; /* offset, device and inode since 0.9.2 */

	bytes_printf(b, "%08llx-%08llx %s %08llx %s %-26u %s", (unsigned long long)start, (unsigned long long)end, protection,
		     zeroed ? 0ULL : (unsigned long long)offset, zeroed || *path == '[' ? "00:00" : "08:01",
		     zeroed || *path == '[' ? 0 : 131072 + (unsigned)(end >> 12 & 0xfff), path);
}

static void write_map(struct uftrace_gen *g, const struct uftrace_gen_session *s)
{
	char name[40];
	bool verbatim = g->version < 90 && !uftrace_gen_has(g, UFTRACE_GEN_FOREIGN);
	struct bytes *b;

	(void)snprintf(name, sizeof(name), "sid-%s.map", s->sid);
	b = gen_file(g->g, name);
	if (!b)
		return;
	if (uftrace_gen_has(g, UFTRACE_GEN_FOREIGN))
		bytes_text(b, "# map stack on highest address possible, to prevent uftrace\n# from considering any kernel "
			      "address\n");
	for (unsigned i = 0; i < s->map_count; i++) {
		const struct uftrace_gen_module *m = &g->modules[s->maps[i].module];
		uint64_t base = s->maps[i].base, end = base + m->length;

		if (verbatim) { /* a copy of /proc/self/maps: a line for each segment */
			write_map_line(g, b, base, end - 0x1000, "r-xp", 0, m->path);
			bytes_text(b, "\n");
			write_map_line(g, b, end - 0x1000, end, "rw-p", m->length - 0x1000, m->path);
			bytes_text(b, "\n");
			if (i == 0)
				bytes_printf(b, "%08llx-%08llx rw-p 00000000 00:00 0 \n", (unsigned long long)end,
					     (unsigned long long)end + 0x1000);
			continue;
		}
		write_map_line(g, b, base, end, "r-xp", 0, m->path);
		if (g->version >= 100 && m->build_id[0] && !uftrace_gen_has(g, UFTRACE_GEN_FOREIGN))
			bytes_printf(b, " build-id:%s", m->build_id);
		bytes_text(b, "\n");
	}
	if (uftrace_gen_has(g, UFTRACE_GEN_FOREIGN)) {
		bytes_text(b, "ffffffffffff-ffffffffffff rw-p 00000000 00:00 0                          [stack]\n");
		return;
	}
	write_map_line(g, b, s->stack_start, s->stack_end, "rw-p", 0, "[stack]");
	bytes_text(b, "\n");
}

void uftrace_gen_write_maps(struct uftrace_gen *g)
{
	for (unsigned i = 0; i < g->session_count; i++)
		write_map(g, &g->sessions[i]);
}

/* ---- symbol files ---- */

static bool is_function(char type)
{
	return type == 'T' || type == 't' || type == 'w';
}

/* The form without sizes (to 0.13): a sentinel ends what the next symbol does not. */
static void write_sized_by_order(struct uftrace_gen *g, struct bytes *b, const struct uftrace_gen_module *m, uint64_t base)
{
	for (unsigned i = 0; i < m->symbol_count; i++) {
		const struct uftrace_gen_symbol *s = &m->symbols[i], *next = i + 1 < m->symbol_count ? s + 1 : NULL;
		const char *sentinel = NULL;
		unsigned long long address = base + s->address;

		bytes_printf(b, "%016llx %c %s\n", address, s->type, s->name);
		if (!next || (s->type == 'P') != (next->type == 'P'))
			sentinel = s->type == 'P' ? "__dynsym_end" : "__sym_end";
		else if (g->version >= 93 && is_function(s->type) && !is_function(next->type))
			sentinel = "__func_end";
		if (sentinel)
			bytes_printf(b, "%016llx ? %s\n", address + s->size, sentinel);
	}
}

static void write_symbol_file(struct uftrace_gen *g, const struct uftrace_gen_module *m)
{
	char name[80];
	struct bytes *b;

	(void)snprintf(name, sizeof(name), "%s.sym", m->file);
	b = gen_file(g->g, name);
	if (!b)
		return;
	if (!uftrace_gen_has(g, UFTRACE_GEN_FOREIGN)) {
		if (g->version >= 93)
			bytes_printf(b, "# symbols: %u\n", m->symbol_count);
		if (g->version >= 100)
			bytes_printf(b, "# path name: %s\n", m->path);
		if (g->version >= 100 && m->build_id[0])
			bytes_printf(b, "# build-id: %s\n", m->build_id);
	}
	if (g->version < 140 && !uftrace_gen_has(g, UFTRACE_GEN_FOREIGN)) {
		/* before 0.6 the addresses were absolute */
		write_sized_by_order(g, b, m, g->version < 60 && m == g->modules ? g->sessions[0].maps[0].base : 0);
		return;
	}
	for (unsigned i = 0; i < m->symbol_count; i++)
		bytes_printf(b, uftrace_gen_has(g, UFTRACE_GEN_FOREIGN) ? "%012llx %012x %c %s\n" : "%016llx %08x %c %s\n",
			     (unsigned long long)m->symbols[i].address, m->symbols[i].size, m->symbols[i].type, m->symbols[i].name);
}

void uftrace_gen_write_symbols(struct uftrace_gen *g)
{
	for (unsigned m = 0; m < g->module_count; m++)
		if (g->modules[m].used && g->modules[m].file[0])
			write_symbol_file(g, &g->modules[m]);
}

/* ---- debug files ---- */

static void write_debug_file(struct uftrace_gen *g, const struct uftrace_gen_module *m)
{
	char name[80];
	struct bytes *b;
	unsigned line = 5;

	(void)snprintf(name, sizeof(name), "%s.dbg", m->file);
	b = gen_file(g->g, name);
	if (!b)
		return;
	if (g->version >= 100)
		bytes_printf(b, "# path name: %s\n", m->path);
	if (g->version >= 100 && m->build_id[0])
		bytes_printf(b, "# build-id: %s\n", m->build_id);
	bytes_text(b, "E: enum color {RED,GREEN=5,BLUE}\n");
	for (unsigned i = 0; i < m->symbol_count; i++) {
		const struct uftrace_gen_symbol *s = &m->symbols[i];
		const struct uftrace_gen_spec *spec = uftrace_gen_spec_of(g, s);

		if (!is_function(s->type))
			continue;
		bytes_printf(b, "F: %llx %s\nL: %u %.32s.c\n", (unsigned long long)s->address, s->name, line += 7, m->file);
		if (!spec || spec->source != UFTRACE_GEN_BY_DEBUG)
			continue;
		for (unsigned k = 0; k < spec->count; k++)
			bytes_printf(b, "%s%s", k ? "," : "A: @", spec->items[k].text);
		if (spec->count)
			bytes_text(b, "\n");
		if (spec->returns)
			bytes_printf(b, "R: @%s\n", spec->value.text);
	}
}

void uftrace_gen_write_debug(struct uftrace_gen *g)
{
	for (unsigned m = 0; m < g->module_count; m++)
		if (g->modules[m].used && g->modules[m].debug)
			write_debug_file(g, &g->modules[m]);
}
