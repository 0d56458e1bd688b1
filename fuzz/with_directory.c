/* tracemend-with-directory FILE COMMAND [ARGUMENT...]: unpacks a tar, which is what the mutator makes of a directory, into a new
 * directory, runs the command with each {} replaced by its path, removes it, and ends as the command ended: by the same signal, or
 * with its exit code. A FILE that is not a tar is copied there, and {} is its path.
 *
 * For fuzzers: afl-fuzz with AFL_NO_FORKSRV=1, since one directory serves one run. The directory is made in TMPDIR, which should
 * be in memory. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/bytes.h"
#include "capture.h"

#define FAILED 125 /* not the command's doing */
#define INPUT_MAX (64u * 1024 * 1024)

static char directory[4096];
static volatile sig_atomic_t child, stopped;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void clean_up(void)
{
	if (*directory)
		(void)nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* On a time limit the command must not be left running, and main() removes the directory. */
static void on_signal(int number)
{
	stopped = number;
	if (child > 0)
		(void)kill(child, SIGKILL);
}

static bool read_input(const char *path, struct bytes *out)
{
	uint8_t buffer[65536];
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && out->size < INPUT_MAX && (n = read(fd, buffer, sizeof(buffer))) > 0)
		bytes_append(out, buffer, (size_t)n);
	if (fd >= 0)
		(void)close(fd);
	return fd >= 0 && n == 0 && !out->failed;
}

/* Names are below the directory: capture_parse() skips all others. */
static bool write_file(const char *name, const uint8_t *data, size_t size)
{
	char path[sizeof(directory) + CAPTURE_NAME_MAX + 8];
	int n = snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	for (char *slash = strchr(path + strlen(directory) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	FILE *f = fopen(path, "wb");
	bool ok = f && (!size || fwrite(data, 1, size, f) == size);
	return f && !fclose(f) && ok;
}

static bool unpack(const struct bytes *input, char target[sizeof(directory) + 16])
{
	struct capture *c = calloc(1, sizeof(*c));
	bool ok = c != NULL;

	if (!c)
		return false;
	capture_parse(c, input->data, input->size);
	snprintf(target, sizeof(directory) + 16, c->directory ? "%s" : "%s/input", directory);
	for (size_t i = 0; i < c->count && ok; i++)
		if (c->files[i].kind == SOURCE_FILE && c->files[i].role == TM_ROLE_INPUT)
			/* A file whose name is not possible (too long) is left out. */
			(void)write_file(c->directory ? c->files[i].name : "input", c->files[i].data, c->files[i].size);
	capture_free(c);
	free(c);
	return ok;
}

/* Ends as the command did, without a core file of this program. */
static int end_as(int status)
{
	if (!WIFSIGNALED(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
	const struct rlimit none = { 0, 0 };
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(WTERMSIG(status), SIG_DFL);
	(void)raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *base = getenv("TMPDIR");
	struct bytes input = { 0 };
	char target[sizeof(directory) + 16];
	int status = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE COMMAND [ARGUMENT...]   ({} is the directory)\n", argv[0]);
		return FAILED;
	}
	snprintf(directory, sizeof(directory), "%s/tracemend-XXXXXX", base && *base ? base : "/tmp");
	if (!read_input(argv[1], &input) || !mkdtemp(directory)) {
		fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], strerror(errno));
		*directory = '\0';
		return FAILED;
	}
	(void)signal(SIGTERM, on_signal);
	(void)signal(SIGINT, on_signal);
	(void)signal(SIGALRM, on_signal);
	if (unpack(&input, target) && !stopped) {
		for (int i = 2; i < argc; i++)
			if (!strcmp(argv[i], "{}"))
				argv[i] = target;
		child = fork();
		if (!child) {
			(void)execvp(argv[2], argv + 2);
			fprintf(stderr, "%s: %s: %s\n", argv[0], argv[2], strerror(errno));
			_exit(FAILED);
		}
		while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		child = 0;
	}
	clean_up();
	bytes_free(&input);
	return stopped ? 128 + stopped : end_as(status);
}
