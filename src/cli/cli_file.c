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

#include "core/path.h"
#include "core/publish.h"

int cli_file_begin(struct cli_file *f, const char *path)
{
	struct tracemend_error error = { 0 };

	*f = (struct cli_file){ 0 };
	if (!strcmp(path, "-")) {
		f->stream = stdout;
		return CLI_CLEAN;
	}
	f->publication = publication_begin(path, false, &error);
	if (!f->publication) {
		const int code = cli_fail(&error);
		return code == CLI_USAGE ? CLI_IO : code; /* the input has been examined by now */
	}
	int fd = dup(publication_descriptor(f->publication));
	f->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (f->stream)
		return CLI_CLEAN;
	const int code = errno == ENOMEM ? CLI_LIMIT : CLI_IO;
	cli_error("%s: cannot be written: %s", path, strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	cli_file_abandon(f);
	return code;
}

bool cli_file_flush(struct cli_file *f)
{
	if (!f->publication)
		return true; /* standard output is checked when the program ends */
	if (ferror(f->stream) || fflush(f->stream) || fsync(fileno(f->stream))) {
		cli_error("%s: cannot be written: %s", publication_path(f->publication), strerror(errno));
		cli_file_abandon(f);
		return false;
	}
	return true;
}

bool cli_file_commit(struct cli_file *f)
{
	struct tracemend_error error = { 0 };

	if (!f->publication)
		return true;
	if (ferror(f->stream) || fflush(f->stream)) {
		cli_error("%s: cannot be written: %s", publication_path(f->publication), strerror(errno));
		cli_file_abandon(f);
		return false;
	}
	struct publication *p = f->publication;
	f->publication = NULL;
	cli_file_abandon(f);
	if (publication_commit(p, &error) == TM_OK)
		return true;
	cli_error("%s", error.message);
	return false;
}

void cli_file_abandon(struct cli_file *f)
{
	if (f->stream && f->stream != stdout)
		(void)fclose(f->stream);
	publication_abandon(f->publication);
	*f = (struct cli_file){ 0 };
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether two paths at which there is nothing yet would be the same: the same name in the same folder. */
static bool will_be_same(const char *path, const char *other)
{
	struct stat a, b;
	size_t m, n;
	const char *last = path_last(path, &m), *last_other = path_last(other, &n);
	char *parent = path_parent(path), *parent_other = path_parent(other);
	bool same = parent && parent_other && m == n && !memcmp(last, last_other, n) && stat(parent, &a) == 0 &&
		    stat(parent_other, &b) == 0 && is_same_file(&a, &b);

	free(parent);
	free(parent_other);
	return same;
}

bool cli_path_same(const char *path, const char *other)
{
	struct stat a, b;

	if (!strcmp(path, other))
		return true;
	bool there = stat(path, &a) == 0, other_there = stat(other, &b) == 0;
	return there && other_there ? is_same_file(&a, &b) : there == other_there && will_be_same(path, other);
}

bool cli_path_inside(const char *path, const char *other)
{
	struct stat directory;
	char resolved[PATH_MAX];
	bool inside = false;

	if (stat(other, &directory) || !S_ISDIR(directory.st_mode))
		return false;
	char *parent = path_parent(path);
	if (!parent || !realpath(parent, resolved)) {
		free(parent);
		return false;
	}
	free(parent);
	for (;;) {
		struct stat st;
		if (stat(resolved, &st) == 0 && is_same_file(&st, &directory))
			inside = true;
		char *slash = strrchr(resolved, '/');
		if (inside || !slash || !slash[1])
			return inside; /* found, or at the root */
		slash[slash == resolved ? 1 : 0] = '\0';
	}
}

int cli_path_check_output(const char *option, const char *path, const char *input)
{
	if (!strcmp(input, "-"))
		return CLI_CLEAN;
	if (cli_path_same(path, input))
		return cli_usage("%s %s: is the input itself, which is never written to", option, path);
	if (cli_path_inside(path, input))
		return cli_usage("%s %s: lies inside the input %s, which is never written to", option, path, input);
	return CLI_CLEAN;
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
	(void)nftw(path, cli_remove_entry, 1, FTW_DEPTH | FTW_PHYS);
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
