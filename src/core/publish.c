#include "core/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct publication {
	char *path;	 /* where it shall appear */
	char *temporary; /* a sibling of it */
	bool directory;
	int fd; /* of the file being written; -1: none */
	char *buffer;
	size_t buffered;
	struct tracemend_error error;
};

#define PUBLISH_BUFFER (1u << 18)

/* "dir/.name.tracemend-XXXXXX" for "dir/name". */
static char *temporary_name(const char *path)
{
	char *name = NULL;
	const char *slash = strrchr(path, '/');
	int parent = slash ? (int)(slash - path) + 1 : 0;
	return asprintf(&name, "%.*s.%s.tracemend-XXXXXX", parent, path, path + parent) < 0 ? NULL : name;
}

/* A directory may be replaced only if it is empty: rename(2) makes sure of that, this only reports it early. */
static enum tracemend_status publication_may_replace(const char *path, bool directory, struct tracemend_error *error)
{
	struct stat st;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? TM_OK : fault_set(error, TM_IO, "%s: %s", path, strerror(errno));
	if (directory && S_ISDIR(st.st_mode))
		return TM_OK;
	if (directory)
		return fault_set(error, TM_USAGE, "%s: exists and is not a directory; the output is one", path);
	if (S_ISDIR(st.st_mode))
		return fault_set(error, TM_USAGE, "%s: is a directory; the output is a file", path);
	if (!S_ISREG(st.st_mode))
		return fault_set(error, TM_USAGE, "%s: exists and is not a regular file", path);
	return TM_OK;
}

struct publication *publication_begin(const char *path, bool directory, struct tracemend_error *error)
{
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	struct publication *p = calloc(1, sizeof(*p));
	if (!p) {
		(void)fault_memory(error);
		return NULL;
	}
	p->fd = -1;
	p->directory = directory;
	p->path = strndup(path, length);
	char *temporary = p->path ? temporary_name(p->path) : NULL;
	p->buffer = malloc(PUBLISH_BUFFER);
	if (!p->path || !temporary || !p->buffer) {
		(void)fault_memory(error);
	} else if (!length) {
		(void)fault_set(error, TM_USAGE, "the name of the output is empty");
	} else if (publication_may_replace(p->path, directory, error) == TM_OK) {
		bool made = false;
		if (directory) {
			made = mkdtemp(temporary) != NULL;
		} else {
			p->fd = mkostemp(temporary, O_CLOEXEC);
			made = p->fd >= 0;
		}
		if (made) {
			p->temporary = temporary;
			return p;
		}
		(void)fault_set(error, TM_IO, "%s: cannot be created: %s", p->path, strerror(errno));
	}
	free(temporary);
	publication_abandon(p);
	return NULL;
}

static enum tracemend_status publication_flush(struct publication *p)
{
	const char *from = p->buffer;
	while (p->buffered && p->error.status == TM_OK) {
		ssize_t n = write(p->fd, from, p->buffered);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_set(&p->error, TM_IO, "%s: cannot write: %s", p->path, strerror(errno));
		from += n;
		p->buffered -= (size_t)n;
	}
	return p->error.status;
}

/* Completes the file being written: its bytes are on disk before the rename makes them visible. */
static enum tracemend_status publication_finish_file(struct publication *p)
{
	if (p->fd < 0)
		return p->error.status;
	(void)publication_flush(p);
	if (p->error.status == TM_OK && fsync(p->fd) < 0 && errno != EINVAL && errno != EROFS)
		(void)fault_set(&p->error, TM_IO, "%s: cannot write: %s", p->path, strerror(errno));
	if (close(p->fd) < 0)
		(void)fault_set(&p->error, TM_IO, "%s: cannot write: %s", p->path, strerror(errno));
	p->fd = -1;
	p->buffered = 0;
	return p->error.status;
}

/* Names may come from archives: they must stay below the output. */
static bool name_is_safe(const char *name)
{
	if (*name == '/' || !*name)
		return false;
	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (!*part || *part == '/' || !strcmp(part, ".") || !strcmp(part, "..") || !strncmp(part, "../", 3) ||
		    !strncmp(part, "./", 2))
			return false;
	}
	return true;
}

/* The temporary path of a file of the directory; makes its parent directories. NULL after a failure. */
static char *publication_member(struct publication *p, const char *name)
{
	char *full = NULL;

	if (publication_finish_file(p) != TM_OK)
		return NULL;
	if (!name_is_safe(name)) {
		(void)fault_set(&p->error, TM_IO, "%s: a file of the capture cannot be written under its name: %s", p->path, name);
		return NULL;
	}
	if (asprintf(&full, "%s/%s", p->temporary, name) < 0) {
		(void)fault_memory(&p->error);
		return NULL;
	}
	for (char *slash = strchr(full + strlen(p->temporary) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(full, 0777) < 0 && errno != EEXIST)
			(void)fault_set(&p->error, TM_IO, "%s: cannot be created: %s", full, strerror(errno));
		*slash = '/';
	}
	return full;
}

enum tracemend_status publication_file(struct publication *p, const char *name)
{
	if (!p->directory) {
		if (*name || p->fd < 0)
			return fault_set(&p->error, TM_BUG, "%s: the output is one file", p->path);
		return p->error.status;
	}

	char *full = publication_member(p, name);
	if (full && p->error.status == TM_OK) {
		p->fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (p->fd < 0)
			(void)fault_set(&p->error, TM_IO, "%s: cannot be created: %s", full, strerror(errno));
	}
	free(full);
	return p->error.status;
}

enum tracemend_status publication_link(struct publication *p, const char *name, const char *target)
{
	if (!p->directory)
		return fault_set(&p->error, TM_BUG, "%s: the output is one file", p->path);

	char *full = publication_member(p, name);
	if (full && p->error.status == TM_OK && symlink(target, full) < 0)
		(void)fault_set(&p->error, TM_IO, "%s: cannot be created: %s", full, strerror(errno));
	free(full);
	return p->error.status;
}

enum tracemend_status publication_write(struct publication *p, const void *data, size_t length)
{
	const uint8_t *from = data;

	if (p->fd < 0 && p->error.status == TM_OK)
		return fault_set(&p->error, TM_BUG, "%s: no file was begun", p->path);
	while (length && p->error.status == TM_OK) {
		size_t room = PUBLISH_BUFFER - p->buffered, n = length < room ? length : room;
		memcpy(p->buffer + p->buffered, from, n);
		p->buffered += n;
		from += n;
		length -= n;
		if (p->buffered == PUBLISH_BUFFER)
			(void)publication_flush(p);
	}
	return p->error.status;
}

const char *publication_temporary(struct publication *p)
{
	(void)publication_finish_file(p);
	return p->temporary;
}

enum tracemend_status publication_status(const struct publication *p)
{
	return p->error.status;
}

const char *publication_message(const struct publication *p)
{
	return p->error.message;
}

/* The umask, read without setting it: other threads may be creating files. */
static mode_t process_umask(void)
{
	unsigned long mask = 022;
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Umask:", 6))
			mask = strtoul(line + 6, NULL, 8);
	if (f)
		(void)fclose(f);
	return (mode_t)(mask & 0777);
}

/* The directory entry must survive a power failure, too. */
static void sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	if (!parent)
		return;
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		(void)fsync(fd);
		(void)close(fd);
	}
	free(parent);
}

enum tracemend_status publication_commit(struct publication *p, struct tracemend_error *error)
{
	(void)publication_finish_file(p);
	/* mkostemp() and mkdtemp() make private files; the output gets the usual permissions. */
	if (p->error.status == TM_OK && chmod(p->temporary, (p->directory ? 0777 : 0666) & ~process_umask()) < 0)
		(void)fault_set(&p->error, TM_IO, "%s: %s", p->path, strerror(errno));
	if (p->error.status == TM_OK && rename(p->temporary, p->path) < 0) {
		if (p->directory && (errno == ENOTEMPTY || errno == EEXIST))
			(void)fault_set(&p->error, TM_USAGE, "%s: exists and is not empty", p->path);
		else
			(void)fault_set(&p->error, TM_IO, "%s: cannot be renamed into place: %s", p->path, strerror(errno));
	}
	enum tracemend_status status = p->error.status;
	if (status == TM_OK) {
		sync_parent(p->path);
		free(p->temporary);
		p->temporary = NULL;
	} else {
		(void)fault_set(error, status, "%s", p->error.message);
	}
	publication_abandon(p);
	return status;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

void publication_abandon(struct publication *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		(void)close(p->fd);
	if (p->temporary) {
		if (p->directory)
			(void)nftw(p->temporary, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
		else
			(void)unlink(p->temporary);
	}
	free(p->temporary);
	free(p->path);
	free(p->buffer);
	free(p);
}
