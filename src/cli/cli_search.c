/* What check has to look at: the PATHs, and the files below a directory that is no capture. */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/array.h"

/* Directories below a PATH; the names of deeper ones are longer than what the system takes. */
#define SEARCH_DEPTH_MAX 2048u

/* Adds a target, and takes ownership of path. False: out of memory. */
static bool targets_add(struct cli_targets *t, char *path, bool found)
{
	if (!path || array_room(&t->list, &t->capacity, t->count, sizeof(struct cli_target), SIZE_MAX) != TM_OK) {
		free(path);
		return false;
	}
	t->list[t->count++] = (struct cli_target){ .path = path, .found = found, .first = SIZE_MAX };
	return true;
}

/* Whether a directory is to be searched: nothing recognises it. What else is wrong with it is for check to say. */
static bool target_is_searched(const struct cli_options *o, const char *path, bool found)
{
	struct tracemend_options library = o->library;
	struct tracemend_error error = { 0 };

	library.progress = NULL;
	library.found = found;
	library.format = NULL;
	struct tracemend_input *input = tracemend_open(path, &library, &error);
	bool tree = input && tracemend_recognise(input, &library, &error) && tracemend_is_tree(input);
	tracemend_close(input);
	return tree || error.status == TM_UNRECOGNISED || error.status == TM_LIMIT;
}

static int search_not_dots(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int search_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name); /* the same order in every locale */
}

static bool search_directory(struct cli_targets *t, const struct cli_options *o, const char *path, unsigned depth);

/* Symbolic links are not followed: they lead in circles, or to what is found elsewhere. */
static bool search_entry(struct cli_targets *t, const struct cli_options *o, char *path, unsigned depth)
{
	struct stat st;

	if (!path)
		return false;
	if (lstat(path, &st) || S_ISREG(st.st_mode))
		return targets_add(t, path, true);
	if (!S_ISDIR(st.st_mode)) {
		t->passed_over++;
		free(path);
		return true;
	}
	if (depth >= SEARCH_DEPTH_MAX || tracemend_name_expected(path) || !target_is_searched(o, path, true))
		return targets_add(t, path, true);
	bool good = search_directory(t, o, path, depth + 1);
	free(path);
	return good;
}

static bool search_directory(struct cli_targets *t, const struct cli_options *o, const char *path, unsigned depth)
{
	struct dirent **entries = NULL;
	const char *slash = *path && path[strlen(path) - 1] == '/' ? "" : "/";
	int count = scandir(path, &entries, search_not_dots, search_order);
	bool good = true;

	if (count < 0) /* check says why */
		return errno != ENOMEM && targets_add(t, strdup(path), true);
	for (int i = 0; i < count; i++) {
		char *full = NULL;
		if (good && !cli_signals_caught()) {
			if (asprintf(&full, "%s%s%s", path, slash, entries[i]->d_name) < 0)
				full = NULL;
			good = search_entry(t, o, full, depth);
		}
		free(entries[i]);
	}
	free(entries);
	return good;
}

/* A copy of a PATH, of a directory without the slashes at its end: the names of its files follow behind one. */
static char *target_name(const char *path)
{
	struct stat st;
	size_t length = strlen(path);

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		while (length > 1 && path[length - 1] == '/')
			length--;
	return strndup(path, length);
}

int cli_targets_find(struct cli_targets *t, const struct cli_options *o)
{
	bool good = true;

	*t = (struct cli_targets){ 0 };
	for (size_t i = 0; i < o->paths.count && good; i++) {
		const char *path = o->paths.items[i];
		struct stat st;
		size_t first = t->count;
		bool searched = strcmp(path, "-") != 0 && !stat(path, &st) && S_ISDIR(st.st_mode) &&
				target_is_searched(o, path, false);
		if (searched)
			good = search_directory(t, o, path, 0);
		good = good && targets_add(t, target_name(path), false);
		if (good && searched)
			t->list[t->count - 1].first = first;
	}
	return good ? CLI_CLEAN : cli_memory();
}

void cli_targets_free(struct cli_targets *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->list[i].path);
	free(t->list);
	*t = (struct cli_targets){ 0 };
}

int cli_refuse_several(const char *path, struct tracemend_input *input, const struct tracemend_options *library)
{
	struct tracemend_options own = *library;
	struct tracemend_error error = { 0 };
	const char *first, *second;
	size_t passed_over = 0;
	char number[32];

	own.format = NULL;
	size_t count = input && !library->format ? tracemend_split(input, &own, &passed_over, &error) : 0;
	if (!count)
		return CLI_CLEAN;
	(void)tracemend_part(input, 0, &first);
	if (count == 1)
		return cli_usage("%s: is no capture, but has one: %s", path, first);
	(void)tracemend_part(input, 1, &second);
	if (count == 2)
		return cli_usage("%s: has two captures, and one is wanted: %s and %s", path, first, second);
	return cli_usage("%s: has %s captures, and one is wanted: %s, %s and others", path, text_number(number, count), first,
			 second);
}
