/* Small text files that appear as a whole or not at all, and comparisons of paths. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory of a path; the caller frees it. NULL: out of memory. */
static char *cli_path_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

bool cli_file_begin(struct cli_file *f, const char *path)
{
	*f = (struct cli_file){ 0 };
	if (!strcmp(path, "-")) {
		f->stream = stdout;
		return true;
	}
	struct stat st;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		cli_error("%s: exists and is not a regular file", path);
		return false;
	}
	f->path = strdup(path);
	char *parent = cli_path_parent(path);
	if (!f->path || !parent || asprintf(&f->temporary, "%s/.tracemend-XXXXXX", parent) < 0) {
		f->temporary = NULL;
		free(parent);
		cli_file_abandon(f);
		cli_error("out of memory");
		return false;
	}
	free(parent);
	mode_t mask = umask(077);
	int fd = mkostemp(f->temporary, O_CLOEXEC);
	(void)umask(mask);
	if (fd >= 0 && fchmod(fd, 0666 & ~mask) == 0)
		f->stream = fdopen(fd, "w");
	if (!f->stream) {
		cli_error("%s: cannot be written: %s", path, strerror(errno));
		if (fd >= 0) {
			(void)close(fd);
			(void)unlink(f->temporary);
		}
		free(f->temporary);
		f->temporary = NULL;
		cli_file_abandon(f);
		return false;
	}
	return true;
}

bool cli_file_flush(struct cli_file *f)
{
	if (!f->temporary)
		return true; /* standard output is checked when the program ends */
	if (ferror(f->stream) || fflush(f->stream) || fsync(fileno(f->stream))) {
		cli_error("%s: cannot be written: %s", f->path, strerror(errno));
		cli_file_abandon(f);
		return false;
	}
	return true;
}

bool cli_file_commit(struct cli_file *f)
{
	bool good = true;

	if (f->temporary) {
		good = !fclose(f->stream) && !rename(f->temporary, f->path);
		f->stream = NULL;
		if (good) {
			free(f->temporary);
			f->temporary = NULL;
		} else {
			cli_error("%s: cannot be written: %s", f->path, strerror(errno));
		}
	}
	cli_file_abandon(f);
	return good;
}

void cli_file_abandon(struct cli_file *f)
{
	if (f->stream && f->stream != stdout)
		(void)fclose(f->stream);
	if (f->temporary)
		(void)unlink(f->temporary);
	free(f->temporary);
	free(f->path);
	*f = (struct cli_file){ 0 };
}

bool cli_path_same(const char *path, const char *other)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool cli_path_inside(const char *path, const char *other)
{
	struct stat directory;
	char resolved[PATH_MAX];
	bool inside = false;

	if (stat(other, &directory) || !S_ISDIR(directory.st_mode))
		return false;
	char *parent = cli_path_parent(path);
	if (!parent || !realpath(parent, resolved)) {
		free(parent);
		return false;
	}
	free(parent);
	for (;;) {
		struct stat st;
		if (stat(resolved, &st) == 0 && st.st_dev == directory.st_dev && st.st_ino == directory.st_ino)
			inside = true;
		char *slash = strrchr(resolved, '/');
		if (inside || !slash || !slash[1])
			return inside; /* found, or at the root */
		slash[slash == resolved ? 1 : 0] = '\0';
	}
}

static int cli_remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	(void)remove(path);
	return 0;
}

void cli_path_remove(const char *path)
{
	(void)nftw(path, cli_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

char *cli_scratch_make(void)
{
	const char *base = getenv("TMPDIR");
	char *path = NULL;

	if (asprintf(&path, "%s/tracemend-XXXXXX", base && *base ? base : "/tmp") < 0) {
		cli_error("out of memory");
		return NULL;
	}
	if (mkdtemp(path))
		return path;
	cli_error("%s: cannot create a temporary directory: %s", path, strerror(errno));
	free(path);
	return NULL;
}

bool cli_errors_open(struct cli_errors *e)
{
	*e = (struct cli_errors){ .of = calloc(tracemend_rule_count(NULL) + 1, sizeof(*e->of)) };
	return e->of;
}

void cli_errors_close(struct cli_errors *e)
{
	free(e->of);
}

static size_t rule_index(const struct tracemend_rule *rule)
{
	size_t count = tracemend_rule_count(NULL), i = 0;

	while (i < count && tracemend_rule_at(NULL, i) != rule)
		i++;
	return i;
}

bool cli_errors_known(struct cli_errors *e, const struct tracemend_report *report)
{
	bool first = !e->known, known = true;

	e->known = true;
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *f = tracemend_report_finding(report, i);
		if (f->severity == TM_ERROR && first)
			e->of[rule_index(f->rule)] = true;
		else if (f->severity == TM_ERROR)
			known = known && e->of[rule_index(f->rule)];
	}
	return known;
}

uint64_t cli_sample_size(const struct tracemend_sample *sample)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < tracemend_sample_file_count(sample); i++) {
		const uint8_t *data;
		size_t size;
		(void)tracemend_sample_file(sample, i, &data, &size);
		sum += size;
	}
	return sum;
}
