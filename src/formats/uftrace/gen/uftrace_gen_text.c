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
static void write_legacy_tasks(struct uftrace_gen *u)
{
	enum { LEGACY_MAGIC = 0xface, LEGACY_START = 3, LEGACY_FORK = 6, LEGACY_SESSION = 7 };
	struct bytes *b = gen_file(u->g, "task");

	if (!b)
		return;
	b->big_endian = uftgen_has(u, UFTGEN_BIG_ENDIAN);
	for (unsigned i = 0; i < u->line_count; i++) {
		const struct uftgen_line *line = &u->lines[i];
		bool session = line->kind == UFTGEN_SESS;
		const struct uftgen_session *s = &u->sessions[line->session];
		const char *path = u->modules[s->program].path;
		size_t length = strlen(path);

		if (line->kind == UFTGEN_DLOP)
			continue;
		bytes_u16(b, LEGACY_MAGIC);
		bytes_u16(b, session ? LEGACY_SESSION : line->kind == UFTGEN_TASK ? LEGACY_START : LEGACY_FORK);
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

void uftgen_write_tasks(struct uftrace_gen *u)
{
	struct bytes *b;

	if (u->version < 60) {
		write_legacy_tasks(u);
		return;
	}
	b = gen_file(u->g, "task.txt");
	if (!b)
		return;
	for (unsigned i = 0; i < u->line_count; i++) {
		const struct uftgen_line *line = &u->lines[i];
		const struct uftgen_session *s = &u->sessions[line->session];

		if (uftgen_has(u, UFTGEN_FOREIGN)) {
			if (line->kind == UFTGEN_SESS)
				bytes_printf(b, "SESS timestamp=0.0 pid=%d sid=0 exename=\"%s\"\n", line->pid,
					     u->modules[s->program].path);
			else
				bytes_printf(b, "TASK timestamp=0.0 tid=%d pid=%d\n", line->pid, line->other);
			continue;
		}
		switch (line->kind) {
		case UFTGEN_SESS:
			write_stamp(b, "SESS", line->time);
			bytes_printf(b, "%s=%d sid=%s exename=\"%s\"\n", u->version < 62 ? "tid" : "pid", line->pid, s->sid,
				     u->modules[s->program].path); /* 0.6 called it tid */
			break;
		case UFTGEN_TASK:
			write_stamp(b, "TASK", line->time);
			bytes_printf(b, "tid=%d pid=%d\n", line->pid, line->other);
			break;
		case UFTGEN_FORKED:
			write_stamp(b, "FORK", line->time);
			bytes_printf(b, "pid=%d ppid=%d\n", line->pid, line->other);
			break;
		case UFTGEN_DLOP:
			write_stamp(b, "DLOP", line->time);
			bytes_printf(b, "tid=%d sid=%s base=%llx libname=\"%s\"\n", line->pid, s->sid,
				     (unsigned long long)line->base, u->modules[line->module].path);
			break;
		}
	}
}

unsigned uftgen_tids(const struct uftrace_gen *u, int tids[static UFTGEN_TASKS_MAX])
{
	unsigned count = 0;

	for (unsigned i = 0; i < u->task_count; i++) {
		unsigned at = count;

		for (; at && tids[at - 1] > u->tasks[i].tid; at--)
			tids[at] = tids[at - 1];
		tids[at] = u->tasks[i].tid;
		count++;
	}
	return count;
}

/* ---- maps ---- */

static void write_map_line(struct uftrace_gen *u, struct bytes *b, uint64_t start, uint64_t end, const char *protection,
			   uint64_t offset, const char *path)
{
	bool zeroed = u->version >= 92; /* offset, device and inode since 0.9.2 */

	bytes_printf(b, "%08llx-%08llx %s %08llx %s %-26u %s", (unsigned long long)start, (unsigned long long)end, protection,
		     zeroed ? 0ULL : (unsigned long long)offset, zeroed || *path == '[' ? "00:00" : "08:01",
		     zeroed || *path == '[' ? 0 : 131072 + (unsigned)(end >> 12 & 0xfff), path);
}

static void write_map(struct uftrace_gen *u, const struct uftgen_session *s)
{
	char name[40];
	bool verbatim = u->version < 90 && !uftgen_has(u, UFTGEN_FOREIGN);
	struct bytes *b;

	(void)snprintf(name, sizeof(name), "sid-%s.map", s->sid);
	b = gen_file(u->g, name);
	if (!b)
		return;
	if (uftgen_has(u, UFTGEN_FOREIGN))
		bytes_text(b, "# map stack on highest address possible, to prevent uftrace\n# from considering any kernel "
			      "address\n");
	for (unsigned i = 0; i < s->map_count; i++) {
		const struct uftgen_module *m = &u->modules[s->maps[i].module];
		uint64_t base = s->maps[i].base, end = base + m->length;

		if (verbatim) { /* a copy of /proc/self/maps: a line for each segment */
			write_map_line(u, b, base, end - 0x1000, "r-xp", 0, m->path);
			bytes_text(b, "\n");
			write_map_line(u, b, end - 0x1000, end, "rw-p", m->length - 0x1000, m->path);
			bytes_text(b, "\n");
			if (i == 0)
				bytes_printf(b, "%08llx-%08llx rw-p 00000000 00:00 0 \n", (unsigned long long)end,
					     (unsigned long long)end + 0x1000);
			continue;
		}
		write_map_line(u, b, base, end, "r-xp", 0, m->path);
		if (u->version >= 100 && m->build_id[0] && !uftgen_has(u, UFTGEN_FOREIGN))
			bytes_printf(b, " build-id:%s", m->build_id);
		bytes_text(b, "\n");
	}
	if (uftgen_has(u, UFTGEN_FOREIGN)) {
		bytes_text(b, "ffffffffffff-ffffffffffff rw-p 00000000 00:00 0                          [stack]\n");
		return;
	}
	write_map_line(u, b, s->stack_start, s->stack_end, "rw-p", 0, "[stack]");
	bytes_text(b, "\n");
}

void uftgen_write_maps(struct uftrace_gen *u)
{
	for (unsigned i = 0; i < u->session_count; i++)
		write_map(u, &u->sessions[i]);
}

/* ---- symbol files ---- */

static bool is_function(char type)
{
	return type == 'T' || type == 't' || type == 'w';
}

/* The form without sizes (to 0.13): a sentinel ends what the next symbol does not. */
static void write_sized_by_order(struct uftrace_gen *u, struct bytes *b, const struct uftgen_module *m, uint64_t base)
{
	for (unsigned i = 0; i < m->symbol_count; i++) {
		const struct uftgen_symbol *s = &m->symbols[i], *next = i + 1 < m->symbol_count ? s + 1 : NULL;
		const char *sentinel = NULL;
		unsigned long long address = base + s->address;

		bytes_printf(b, "%016llx %c %s\n", address, s->type, s->name);
		if (!next || (s->type == 'P') != (next->type == 'P'))
			sentinel = s->type == 'P' ? "__dynsym_end" : "__sym_end";
		else if (u->version >= 93 && is_function(s->type) && !is_function(next->type))
			sentinel = "__func_end";
		if (sentinel)
			bytes_printf(b, "%016llx ? %s\n", address + s->size, sentinel);
	}
}

static void write_symbol_file(struct uftrace_gen *u, const struct uftgen_module *m)
{
	char name[80];
	struct bytes *b;

	(void)snprintf(name, sizeof(name), "%s.sym", m->file);
	b = gen_file(u->g, name);
	if (!b)
		return;
	if (!uftgen_has(u, UFTGEN_FOREIGN)) {
		if (u->version >= 93)
			bytes_printf(b, "# symbols: %u\n", m->symbol_count);
		if (u->version >= 100)
			bytes_printf(b, "# path name: %s\n", m->path);
		if (u->version >= 100 && m->build_id[0])
			bytes_printf(b, "# build-id: %s\n", m->build_id);
	}
	if (u->version < 140 && !uftgen_has(u, UFTGEN_FOREIGN)) {
		/* before 0.6 the addresses were absolute */
		write_sized_by_order(u, b, m, u->version < 60 && m == u->modules ? u->sessions[0].maps[0].base : 0);
		return;
	}
	for (unsigned i = 0; i < m->symbol_count; i++)
		bytes_printf(b, uftgen_has(u, UFTGEN_FOREIGN) ? "%012llx %012x %c %s\n" : "%016llx %08x %c %s\n",
			     (unsigned long long)m->symbols[i].address, m->symbols[i].size, m->symbols[i].type, m->symbols[i].name);
}

void uftgen_write_symbols(struct uftrace_gen *u)
{
	for (unsigned m = 0; m < u->module_count; m++)
		if (u->modules[m].used && u->modules[m].file[0])
			write_symbol_file(u, &u->modules[m]);
}

/* ---- debug files ---- */

static void write_debug_file(struct uftrace_gen *u, const struct uftgen_module *m)
{
	char name[80];
	struct bytes *b;
	unsigned line = 5;

	(void)snprintf(name, sizeof(name), "%s.dbg", m->file);
	b = gen_file(u->g, name);
	if (!b)
		return;
	if (u->version >= 100)
		bytes_printf(b, "# path name: %s\n", m->path);
	if (u->version >= 100 && m->build_id[0])
		bytes_printf(b, "# build-id: %s\n", m->build_id);
	bytes_text(b, "E: enum color {RED,GREEN=5,BLUE}\n");
	for (unsigned i = 0; i < m->symbol_count; i++) {
		const struct uftgen_symbol *s = &m->symbols[i];
		const struct uftgen_spec *spec = uftgen_spec_of(u, s);

		if (!is_function(s->type))
			continue;
		bytes_printf(b, "F: %llx %s\nL: %u %.32s.c\n", (unsigned long long)s->address, s->name, line += 7, m->file);
		if (!spec || spec->source != UFTGEN_BY_DEBUG)
			continue;
		for (unsigned k = 0; k < spec->count; k++)
			bytes_printf(b, "%s%s", k ? "," : "A: @", spec->items[k].text);
		if (spec->count)
			bytes_text(b, "\n");
		if (spec->returns)
			bytes_printf(b, "R: @%s\n", spec->value.text);
	}
}

void uftgen_write_debug(struct uftrace_gen *u)
{
	for (unsigned m = 0; m < u->module_count; m++)
		if (u->modules[m].used && u->modules[m].debug)
			write_debug_file(u, &u->modules[m]);
}
