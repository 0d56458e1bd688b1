/* Where repair writes: default names, several inputs into a directory, and in place of the input. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Endings of compressed files, and then of archives, which the output does not have. */
static const char *const endings[] = { ".gz", ".zst", ".xz", ".bz2", ".tar", ".tgz", ".zip" };
#define ENDINGS_COMPRESSED 4
#define ENDINGS_ALL (sizeof(endings) / sizeof(endings[0]))

/* The length of the first `length` bytes of a name without one of the first `count` endings. */
static size_t output_unpacked(const char *name, size_t length, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(endings[i]);
		if (length > n && !strncmp(name + length - n, endings[i], n))
			return length - n;
	}
	return length;
}

bool cli_output_is_packed(const char *path)
{
	size_t length = strlen(path);

	return output_unpacked(path, length, ENDINGS_COMPRESSED) < length;
}

/* The length of a path without slashes at its end. */
static size_t output_length(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

/* The whole name of a directory that is named by dots: what is beside it is not in front of them. NULL: it is not. */
static char *output_undotted(const char *path, size_t length)
{
	size_t name = length;

	while (name && path[name - 1] != '/')
		name--;
	const char *last = path + name;
	bool dots = (length - name == 1 && *last == '.') || (length - name == 2 && last[0] == '.' && last[1] == '.');
	return dots ? realpath(path, NULL) : NULL;
}

char *cli_output_named(const char *path, bool directory, const char *made)
{
	size_t packed, length = output_length(path);
	char *output = NULL, *whole = output_undotted(path, length);

	if (whole && strcmp(whole, "/") != 0)
		output = cli_output_named(whole, directory, made);
	free(whole);
	if (output)
		return output;
	if (!strcmp(path, "-"))
		return asprintf(&output, "mended%s", made) < 0 ? NULL : output;
	do {
		packed = length;
		length = output_unpacked(path, packed, ENDINGS_ALL);
	} while (length < packed);
	size_t dot = length;
	while (!directory && dot > 1 && path[dot - 1] != '.' && path[dot - 1] != '/')
		dot--;
	bool extension = !directory && dot > 1 && path[dot - 1] == '.' && path[dot - 2] != '/';
	size_t stem = extension ? dot - 1 : length;
	if (asprintf(&output, "%.*s.mended%.*s%s", (int)stem, path, (int)(length - stem), path + stem, extension ? "" : made) < 0)
		return NULL;
	return output;
}

char *cli_output_beside(const char *path)
{
	struct stat st;

	return cli_output_named(path, stat(path, &st) == 0 && S_ISDIR(st.st_mode), "");
}

char *cli_output_below(const char *directory, const char *path)
{
	char *copy = strndup(path, output_unpacked(path, output_length(path), ENDINGS_COMPRESSED)), *made = NULL;

	if (!copy)
		return NULL;
	const char *slash = strrchr(copy, '/');
	if (asprintf(&made, "%s/%s", directory, slash ? slash + 1 : copy) < 0)
		made = NULL;
	free(copy);
	return made;
}

bool cli_output_exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* The path with something before and behind the last part of its name. */
static char *output_named(const char *path, const char *before, const char *behind)
{
	const char *slash = strrchr(path, '/');
	int parent = slash ? (int)(slash - path) + 1 : 0;
	char *name = NULL;

	return asprintf(&name, "%.*s%s%s%s", parent, path, before, path + parent, behind) < 0 ? NULL : name;
}

char *cli_output_original(const char *path)
{
	return output_named(path, "", ".orig");
}

/* A file has its name all the time: the original gets a second one before the result takes the first. */
static bool output_swap(const char *path, const char *made, const char *original)
{
	struct stat st;
	bool directory = !lstat(path, &st) && S_ISDIR(st.st_mode);

	if (!directory)
		return !link(path, original) && !rename(made, path);
	if (cli_output_exists(original)) {
		errno = EEXIST;
		return false;
	}
	if (rename(path, original))
		return false;
	if (!rename(made, path))
		return true;
	int why = errno;
	(void)rename(original, path);
	errno = why;
	return false;
}

int cli_output_in_place(struct tracemend_repair *repair, const char *path, struct cli_verify *verify)
{
	char *made = output_named(path, ".tracemend-new.", ""), *original = cli_output_original(path);
	int code = CLI_CLEAN;

	if (!made || !original) {
		code = cli_memory();
	} else {
		cli_path_remove(made); /* of a run that was killed */
		code = cli_verify_publish(verify, repair, made, false);
		if (!code && !cli_verify_ready(verify)) {
			code = CLI_IO;
			cli_path_remove(made);
		}
		if (!code && !output_swap(path, made, original)) {
			code = errno == EEXIST ? CLI_USAGE : CLI_IO;
			cli_error("%s: cannot be renamed to %s: %s", path, original, strerror(errno));
			cli_path_remove(made);
		}
	}
	free(made);
	free(original);
	return code;
}
