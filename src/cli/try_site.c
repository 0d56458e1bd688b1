/* The place of a crash: gdb runs the program again and prints its stack. */
#include "cli/try.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text.h"

#define SITE_MARK "\n--tracemend-site--\n"
#define SITE_FRAMES 3
#define SITE_LOOK 40 /* frames at either end of the stack that gdb prints */
/* A function with this many frames is a recursion that ran out of stack: which of its functions was the last varies with the
 * environment. */
#define SITE_RECURSION 8
#define SITE_NAME_MAX 200

bool try_site_possible(void)
{
	const char *path = getenv("PATH");
	char candidate[4096];

	for (; path && *path; path += *path == ':') {
		size_t length = strcspn(path, ":");
		if (snprintf(candidate, sizeof(candidate), "%.*s/gdb", (int)length, path) < (int)sizeof(candidate) &&
		    access(candidate, X_OK) == 0)
			return true;
		path += length;
	}
	return false;
}

/* Functions between the cause of an abort and the signal. */
static bool site_is_machinery(const char *name)
{
	static const char *const names[] = { "raise",
					     "gsignal",
					     "abort",
					     "pthread_kill",
					     "__pthread_kill_implementation",
					     "__pthread_kill_internal",
					     "__libc_message",
					     "__fortify_fail",
					     "__chk_fail",
					     "__stack_chk_fail",
					     "__assert_fail",
					     "__assert_fail_base",
					     "__GI_raise",
					     "__GI_abort",
					     "__GI___fortify_fail",
					     "__GI___chk_fail",
					     "__GI___assert_fail",
					     "malloc_printerr",
					     "__pthread_kill",
					     "__GI___pthread_kill",
					     "__kill",
					     "kill",
					     "<signal handler called>" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A module of the program, as gdb lists them. */
struct site_module {
	const char *name; /* of the file */
	size_t length;
	unsigned long long offset; /* of the address in the file */
};

/* maps: rows of start, end, size, offset, rights, path. */
static bool site_module_at(const char *maps, unsigned long long address, struct site_module *m)
{
	for (const char *line = maps, *next; line && *line; line = next) {
		char *at;
		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
		unsigned long long start = strtoull(line, &at, 16), end = strtoull(at, &at, 16);
		(void)strtoull(at, &at, 16); /* the size */
		unsigned long long offset = strtoull(at, &at, 16);
		if (address < start || address >= end)
			continue;
		size_t length = strcspn(line, "\n");
		const char *path = text_last_byte(line, '/', length);
		if (!path)
			return false;
		*m = (struct site_module){ path + 1, (size_t)(line + length - path - 1), address - start + offset };
		return true;
	}
	return false;
}

/* The C library, allocators and runtimes of sanitizers. Which of their functions it is depends on the processor ("__strcmp_evex"),
 * and whether it has a name on the debug symbols that are installed: neither is the reader's. */
static bool site_is_library(const struct site_module *m)
{
	static const char *const names[] = { "libc.so.",   "libc-2.",	 "libc.musl-",	"ld-linux",   "ld-musl-",
					     "ld-2.",	   "ld64.so.",	 "libpthread",	"libasan.so", "libubsan.so",
					     "libtsan.so", "liblsan.so", "libjemalloc", "libtcmalloc" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (m->length > strlen(names[i]) && !memcmp(m->name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* The function of a frame: "#3  0x00007f... in name (...) from /lib/x.so" or "#0  name (...) at x.c:7"; without one
 * "trace-cmd+0x1f3c4", which is the same in every run, unlike the address. *library: one of the C library. */
static bool site_frame(const char *line, const char *maps, char out[SITE_NAME_MAX], bool *library)
{
	struct site_module module;
	bool known = false;
	size_t length = strcspn(line, "\n");
	const char *name = line + 1 + strspn(line + 1, "0123456789");

	name += strspn(name, " ");
	if (!strncmp(name, "0x", 2)) {
		known = site_module_at(maps, strtoull(name, NULL, 16), &module);
		name = strstr(name, " in ");
		if (!name || name >= line + length)
			return false;
		name += 4;
	}
	const char *end = strstr(name, " (");
	if (!end || end > line + length)
		end = line + length;
	(void)snprintf(out, SITE_NAME_MAX, "%.*s", (int)(end - name), name);
	*library = site_is_machinery(out) || (known && site_is_library(&module));
	if (strcmp(out, "??") != 0)
		return true;
	if (known)
		(void)snprintf(out, SITE_NAME_MAX, "%.*s+0x%llx", (int)module.length, module.name, module.offset);
	return known;
}

struct site_trace {
	char names[SITE_LOOK][SITE_NAME_MAX]; /* the innermost first */
	unsigned count;
};

/* The frames of the reader, or, where it has none, those of the C library. */
static void site_frames(const char *output, bool libraries, struct site_trace *t)
{
	const char *maps = strstr(output, "Mapped address spaces");

	if (maps)
		maps = strstr(maps, "objfile");
	for (const char *line = output; *line == '#' && t->count < SITE_LOOK;) {
		char *name = t->names[t->count];
		bool library = false;
		t->count += site_frame(line, maps ? strchr(maps, '\n') : NULL, name, &library) &&
			    (libraries ? !site_is_machinery(name) : !library);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
}

static bool site_recurs(const struct site_trace *t, const char *name)
{
	unsigned times = 0;

	for (unsigned i = 0; i < t->count; i++)
		times += !strcmp(t->names[i], name);
	return times >= SITE_RECURSION;
}

/* The frame to begin with: in a recursion, that of the alphabetically first name, since any of them may be the last; else the
 * innermost. */
static unsigned site_begin(const struct site_trace *t, bool recursion)
{
	unsigned begin = 0;

	while (recursion && !site_recurs(t, t->names[begin]))
		begin++;
	for (unsigned i = begin + 1; recursion && i < t->count; i++)
		if (site_recurs(t, t->names[i]) && strcmp(t->names[i], t->names[begin]) < 0)
			begin = i;
	return begin;
}

char *try_site_parse(const char *output)
{
	const char *mark = NULL;
	char site[SITE_FRAMES * (SITE_NAME_MAX + 3) + 1] = "";
	struct site_trace t = { .count = 0 };
	unsigned frames = 0;

	for (const char *p = output; (p = strstr(p, SITE_MARK)); p++)
		mark = p;
	for (unsigned libraries = 0; mark && !t.count && libraries < 2; libraries++)
		site_frames(mark + strlen(SITE_MARK), libraries, &t);
	bool recursion = t.count && site_recurs(&t, t.names[t.count - 1]);
	unsigned begin = site_begin(&t, recursion);
	for (unsigned i = begin; i < t.count && frames < SITE_FRAMES; i++) {
		if (i > begin && recursion && !strcmp(t.names[i], t.names[begin]))
			break; /* one round is enough */
		if (i > begin && !strcmp(t.names[i], t.names[i - 1]))
			continue;
		size_t have = strlen(site);
		(void)snprintf(site + have, sizeof(site) - have, "%s%s", frames ? " < " : "", t.names[i]);
		frames++;
	}
	if (!frames)
		return NULL;
	char *shown = malloc(4 * sizeof(site));
	if (shown)
		tracemend_escape(shown, 4 * sizeof(site), site);
	return shown;
}

char **try_site_command(char *const *arguments)
{
	static const char *const gdb[] = { "gdb",
					   "-nx",
					   "-batch",
					   "-iex",
					   "set debuginfod enabled off",
					   "-iex",
					   "set auto-load off",
					   "-ex",
					   "set width 0",
					   "-ex",
					   "set startup-with-shell off",
					   "-ex",
					   "set print frame-arguments none",
					   "-ex",
					   "set print frame-info location-and-address",
					   "-ex",
					   "run",
					   "-ex",
					   "printf \"\\n--tracemend-site--\\n\"",
					   "-ex",
					   "bt 40",
					   "-ex",
					   "info proc mappings",
					   "--args" };
	size_t fixed = sizeof(gdb) / sizeof(gdb[0]), count = 0;

	while (arguments[count])
		count++;
	const char **all = calloc(fixed + count + 1, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, gdb, sizeof(gdb));
	for (size_t i = 0; i < count; i++)
		all[fixed + i] = arguments[i];
	char **copy = child_arguments(all, fixed + count, "{}");
	free(all);
	return copy;
}
