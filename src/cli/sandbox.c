/* The sandbox: the files that the options name stay usable, and nothing else. */
#include "cli/sandbox.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/path.h"
#include "core/system.h"

/* Sanitizers, profiles and TM_SITES open files and run programs when the process ends: TM_NO_SANDBOX (Makefile). */
#ifdef TM_NO_SANDBOX
#define SANDBOX_BUILT false
#else
#define SANDBOX_BUILT true
#endif

/* Of a directory into which output is written, with temporaries that are read again. */
#define SANDBOX_FOLDER ((unsigned)SYSTEM_READ | SYSTEM_LIST | SYSTEM_WRITE | SYSTEM_MAKE)

/* Whether the command has an option, which tells what it does. */
static bool has_option(const struct cli_options *o, char key)
{
	return strchr(o->command->accepts, key) != NULL;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void allow_reading(int list, const char *path)
{
	if (path && strcmp(path, "-") != 0)
		system_confine_allow(list, path, SYSTEM_READ | SYSTEM_LIST);
}

/* The folder of a file that shall be written. */
static void allow_writing(int list, const char *path)
{
	if (!path || !*path || !strcmp(path, "-"))
		return;
	char *parent = path_parent(path);
	if (parent)
		system_confine_allow(list, parent, SANDBOX_FOLDER);
	free(parent);
}

static void allow_inputs(int list, const struct cli_options *o)
{
	const struct cli_list *const lists[] = { &o->paths, &o->extra, &o->donor };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			allow_reading(list, lists[i]->items[k]);
	allow_reading(list, o->baseline);
}

static void allow_outputs(int list, const struct cli_options *o)
{
	bool repairs = has_option(o, 'P') && !o->dry_run;

	allow_writing(list, o->dry_run ? NULL : o->output);
	if (o->output && !o->dry_run && is_directory(o->output))
		system_confine_allow(list, o->output, SANDBOX_FOLDER);
	allow_writing(list, o->manifest);
	allow_writing(list, o->page);
	for (size_t i = 0; i < o->save.count; i++)
		allow_writing(list, strchr(o->save.items[i], '=') + 1);
	if (o->update_baseline)
		allow_writing(list, o->baseline);
	for (size_t i = 0; i < o->paths.count && repairs && !o->output; i++)
		allow_writing(list, o->paths.items[i]);
}

/* What is unpacked goes to files without a name, which cannot be had everywhere; captures for other programs have names. */
static void allow_temporaries(int list, const struct cli_options *o)
{
	const char *folder = getenv("TMPDIR");
	char shown[32];

	if (!folder || !*folder)
		folder = "/tmp";
	int fd = system_unnamed_output(folder, shown, sizeof(shown));
	bool named = fd < 0 || has_option(o, '-');
	if (fd >= 0)
		(void)close(fd);
	system_confine_allow(list, folder, named ? SANDBOX_FOLDER : SYSTEM_READ | SYSTEM_WRITE);
}

/* The buffers of killed recorders, for which check and repair look by themselves. */
static void allow_leftovers(int list, const struct cli_options *o)
{
	glob_t found = { 0 };

	if (!has_option(o, 'L') && !has_option(o, 'P'))
		return;
	system_confine_allow(list, "/dev/shm", SYSTEM_LIST);
	if (!glob("/dev/shm/uftrace-*", GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			system_confine_allow(list, found.gl_pathv[i], SYSTEM_READ);
	globfree(&found);
}

/* A file of settings is chosen when it is known whether it lies in a capture, which is read for that. */
static void allow_settings(int list, const struct cli_options *o)
{
	char *folder = o->no_config || o->config_path ? NULL : realpath(".", NULL);

	allow_reading(list, o->config_path);
	while (folder) {
		char *path = NULL;
		if (asprintf(&path, "%s/" CLI_CONFIG_NAME, folder) >= 0 && !is_directory(path))
			system_confine_allow(list, path, SYSTEM_READ);
		free(path);
		char *slash = strrchr(folder, '/');
		if (!slash || slash == folder) {
			bool root = !slash || !folder[1];
			folder[slash ? 1 : 0] = '\0';
			if (root)
				break;
		} else {
			*slash = '\0';
		}
	}
	free(folder);
}

bool sandbox_wanted(const struct cli_options *o)
{
	return SANDBOX_BUILT && !o->no_sandbox && has_option(o, 'y');
}

void sandbox_enter(const struct cli_options *o)
{
	if (!sandbox_wanted(o))
		return;
	int list = system_confine_begin();
	if (list >= 0) {
		allow_inputs(list, o);
		allow_outputs(list, o);
		allow_temporaries(list, o);
		allow_leftovers(list, o);
		allow_settings(list, o);
		(void)system_confine(list);
	}
	(void)sandbox_forbid_calls();
}

void sandbox_print_version(FILE *out)
{
	int version = SANDBOX_BUILT ? system_confinement() : 0;
	bool calls = SANDBOX_BUILT && sandbox_can_forbid_calls();

	fprintf(out, "tracemend %s\nsandbox: ", TRACEMEND_VERSION);
	if (!SANDBOX_BUILT)
		fputs("none in this build", out);
	else if (!version && !calls)
		fputs("none on this system", out);
	if (version)
		fprintf(out, "files by Landlock %d", version);
	if (calls)
		fprintf(out, "%ssystem calls by seccomp", version ? ", " : "");
	fputc('\n', out);
}
