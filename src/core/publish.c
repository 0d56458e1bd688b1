#include "core/publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/path.h"
#include "core/system.h"

struct publication {
	char *path;	 /* where it shall appear */
	char *temporary; /* a sibling of it; NULL: an unnamed file (O_TMPFILE), which leaves nothing behind when the process dies */
	char shown[32];	 /* the path of an unnamed file in this process */
	bool directory;
	int lock; /* of a named temporary: the file or directory itself, locked as long as the process lives; else -1 */
	int fd;	  /* of the file being written; -1: none */
	unsigned members;
	bool sync_all; /* more was written than was synced by itself */
	char *buffer;
	size_t buffered;
	struct tracemend_error error;
};

#define PUBLISH_BUFFER (1u << 18)
/* So many files of a directory are synced one by one; what is more, by one call for the file system. */
#define PUBLISH_SYNCED_SINGLY 16
/* Bytes that the system is asked to copy at a time. */
#define PUBLISH_COPY (1u << 30)
/* The names of temporaries: short, since that of the output may be as long as a name can be. */
#define TEMPORARY_PREFIX ".tracemend-"
#define TEMPORARY_TEMPLATE TEMPORARY_PREFIX "XXXXXX"
#define TEMPORARY_EXTENSION_MAX 12

/* ---- temporaries, and what is left of those of processes that were killed ---- */

/* The extension of a name, with its dot; "" if it has none, or a long one. */
static const char *name_extension(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

	return dot && dot != name && strlen(dot) <= TEMPORARY_EXTENSION_MAX ? dot : "";
}

/* A template for a temporary beside path. That of a file has its extension, by which some readers go. */
static char *temporary_name(const char *path, bool directory)
{
	char *name = NULL;
	const char *slash = strrchr(path, '/');
	int parent = slash ? (int)(slash - path) + 1 : 0;
	return asprintf(&name, "%.*s" TEMPORARY_TEMPLATE "%s", parent, path, directory ? "" : name_extension(path)) < 0 ? NULL
															: name;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

static void temporary_remove(const char *path, bool directory)
{
	/* One descriptor at a time: there may be no more. */
	if (directory)
		(void)nftw(path, remove_entry, 1, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	else
		(void)unlink(path);
}

/* Locks a temporary, so that publication_clean() of another process leaves it alone. False: it was about to be removed. Where
 * there are no locks, nobody can take one in order to remove it. */
static bool temporary_lock(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno != EWOULDBLOCK;
	return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

static bool is_temporary(const char *name)
{
	const size_t length = sizeof(TEMPORARY_TEMPLATE) - 1;

	return !strncmp(name, TEMPORARY_PREFIX, sizeof(TEMPORARY_PREFIX) - 1) && strlen(name) >= length &&
	       !memchr(name + sizeof(TEMPORARY_PREFIX) - 1, '.', length - (sizeof(TEMPORARY_PREFIX) - 1)) &&
	       (!name[length] || (name[length] == '.' && strlen(name + length) <= TEMPORARY_EXTENSION_MAX));
}

static void folder_clean(const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)) != NULL) {
		struct stat st;
		if (!is_temporary(entry->d_name))
			continue;
		int fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		/* Only our own: in a directory that all may write to, those of others may be traps. */
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
		    flock(fd, LOCK_EX | LOCK_NB) == 0) {
			char *full = NULL;
			if (asprintf(&full, "%s/%s", folder, entry->d_name) >= 0) {
				temporary_remove(full, S_ISDIR(st.st_mode));
				free(full);
			}
		}
		if (fd >= 0)
			(void)close(fd);
	}
	if (directory)
		(void)closedir(directory);
}

void publication_clean(const char *path)
{
	char *parent = path_parent(path);

	if (parent)
		folder_clean(parent);
	free(parent);
}

/* Once for each folder in a row: a program that writes thousands of files into one reads it once. */
static void publication_clean_once(const char *path)
{
	static _Atomic uint64_t cleaned;
	char *parent = path_parent(path);
	struct stat st;

	if (parent && stat(parent, &st) == 0) {
		uint64_t key = (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 32;
		if (atomic_exchange(&cleaned, key) != key)
			folder_clean(parent);
	}
	free(parent);
}

/* Makes a directory of the name that mkdtemp() finds, and opens it. */
static int directory_make(char *name)
{
	if (!mkdtemp(name))
		return -1;
	int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		int why = errno;
		(void)rmdir(name);
		errno = why;
	}
	return fd;
}

/* Makes a temporary with a name, and locks it. */
static bool publication_make_named(struct publication *p)
{
	for (int attempt = 0; attempt < 100; attempt++) {
		char *name = temporary_name(p->path, p->directory);
		if (!name) {
			errno = ENOMEM;
			return false;
		}
		int fd = -1;
		if (p->directory)
			fd = directory_make(name);
		else
			fd = system_temporary(name, strlen(name_extension(p->path)));
		if (fd >= 0 && temporary_lock(fd)) {
			p->temporary = name;
			p->lock = fd;
			p->fd = p->directory ? -1 : fd;
			return true;
		}
		free(name);
		if (fd < 0)
			return false;
		(void)close(fd);
	}
	return false;
}

static bool publication_make(struct publication *p)
{
	if (!p->directory) {
		char *parent = path_parent(p->path);
		p->fd = parent ? system_unnamed_output(parent, p->shown, sizeof(p->shown)) : -1;
		free(parent);
		if (p->fd >= 0)
			return true;
	}
	return publication_make_named(p);
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
	p->lock = -1;
	p->directory = directory;
	p->path = strndup(path, length);
	p->buffer = malloc(PUBLISH_BUFFER);
	if (!p->path || !p->buffer) {
		(void)fault_memory(error);
	} else if (!length) {
		(void)fault_set(error, TM_USAGE, "the name of the output is empty");
	} else if (publication_may_replace(p->path, directory, error) == TM_OK) {
		publication_clean_once(p->path);
		if (publication_make(p))
			return p;
		(void)fault_set(error, TM_IO, "%s: cannot be created: %s", p->path, strerror(errno));
	}
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

static enum tracemend_status publication_sync(struct publication *p, int fd)
{
	if (p->error.status == TM_OK && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
		(void)fault_set(&p->error, TM_IO, "%s: cannot write: %s", p->path, strerror(errno));
	return p->error.status;
}

/* Completes the file of a directory that is being written. */
static enum tracemend_status publication_finish_member(struct publication *p)
{
	if (p->fd < 0 || !p->directory)
		return p->error.status;
	(void)publication_flush(p);
	if (p->members++ < PUBLISH_SYNCED_SINGLY)
		(void)publication_sync(p, p->fd);
	else
		p->sync_all = true;
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

	if (publication_finish_member(p) != TM_OK)
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
		if (mkdir(full, 0777) == 0)
			p->sync_all = true;
		else if (errno != EEXIST)
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

bool publication_copy(struct publication *p, int from, uint64_t length)
{
	off_t at = 0;

	if (p->fd < 0 || publication_flush(p) != TM_OK)
		return false;
	while ((uint64_t)at < length) {
		uint64_t left = length - (uint64_t)at;
		ssize_t n = system_copy(from, &at, p->fd, left < PUBLISH_COPY ? (size_t)left : PUBLISH_COPY);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 && !at)
			return false;
		if (n < 0)
			(void)fault_set(&p->error, TM_IO, "%s: cannot write: %s", p->path, strerror(errno));
		else if (n == 0)
			(void)fault_set(&p->error, TM_IO, "%s: the input became shorter while it was copied", p->path);
		if (n <= 0)
			return false;
	}
	return true;
}

const char *publication_temporary(struct publication *p)
{
	if (p->directory)
		(void)publication_finish_member(p);
	else
		(void)publication_flush(p);
	return p->temporary ? p->temporary : p->shown;
}

/* Gives an unnamed file the name of a temporary. */
static enum tracemend_status publication_name(struct publication *p)
{
	for (int attempt = 0; attempt < 100 && !p->temporary && p->error.status == TM_OK; attempt++) {
		/* mkstemp() finds a name that is free; link() does not replace, so it is made free again. */
		char *name = temporary_name(p->path, false);
		int fd = name ? system_temporary(name, strlen(name_extension(p->path))) : -1;
		if (fd < 0) {
			(void)fault_set(&p->error, name ? TM_IO : TM_NO_MEMORY, "%s: cannot be created: %s", p->path,
					strerror(errno));
			free(name);
			return p->error.status;
		}
		(void)close(fd);
		(void)unlink(name);
		/* Locked before it has a name: the lock is the file's, not the name's. */
		(void)flock(p->fd, LOCK_EX | LOCK_NB);
		if (system_link(p->fd, name) == 0)
			p->temporary = name;
		else
			free(name);
	}
	if (!p->temporary && p->error.status == TM_OK)
		(void)fault_set(&p->error, TM_IO, "%s: cannot be created: %s", p->path, strerror(errno));
	return p->error.status;
}

const char *publication_named_temporary(struct publication *p)
{
	(void)publication_temporary(p);
	return publication_name(p) == TM_OK ? p->temporary : NULL;
}

const char *publication_path(const struct publication *p)
{
	return p->path;
}

int publication_descriptor(const struct publication *p)
{
	return p->fd;
}

enum tracemend_status publication_status(const struct publication *p)
{
	return p->error.status;
}

const char *publication_message(const struct publication *p)
{
	return p->error.message;
}

/* The directory entry must survive a power failure, too. */
static void sync_parent(const char *path)
{
	char *parent = path_parent(path);
	int fd = parent ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		(void)fsync(fd);
		(void)close(fd);
	}
	free(parent);
}

/* All bytes are on disk before the name makes them visible. */
static enum tracemend_status publication_complete(struct publication *p)
{
	if (!p->directory) {
		(void)publication_flush(p);
		return publication_sync(p, p->fd);
	}
	(void)publication_finish_member(p);
	if (p->sync_all && p->error.status == TM_OK && system_sync_all(p->lock) < 0)
		return fault_set(&p->error, TM_IO, "%s: cannot write: %s", p->path, strerror(errno));
	return publication_sync(p, p->lock);
}

/* Gives the temporary output its name. */
static enum tracemend_status publication_appear(struct publication *p)
{
	/* Temporaries with a name are private; the output gets the usual permissions. An unnamed one has them from the start. */
	if (p->temporary && p->lock >= 0 && fchmod(p->lock, (p->directory ? 0777 : 0666) & ~system_umask()) < 0)
		return fault_set(&p->error, TM_IO, "%s: %s", p->path, strerror(errno));
	if (!p->temporary && system_link(p->fd, p->path) == 0)
		return TM_OK;
	/* A file that is there is replaced by a rename. */
	if (!p->temporary && (errno != EEXIST || publication_name(p) != TM_OK))
		return fault_set(&p->error, TM_IO, "%s: cannot be created: %s", p->path, strerror(errno));
	if (rename(p->temporary, p->path) == 0) {
		free(p->temporary);
		p->temporary = NULL;
		return TM_OK;
	}
	if (p->directory && (errno == ENOTEMPTY || errno == EEXIST))
		return fault_set(&p->error, TM_USAGE, "%s: exists and is not empty", p->path);
	return fault_set(&p->error, TM_IO, "%s: cannot be renamed into place: %s", p->path, strerror(errno));
}

enum tracemend_status publication_commit(struct publication *p, struct tracemend_error *error)
{
	enum tracemend_status status = publication_complete(p);

	if (status == TM_OK)
		status = publication_appear(p);
	if (status == TM_OK)
		sync_parent(p->path);
	else
		(void)fault_set(error, status, "%s", p->error.message);
	publication_abandon(p);
	return status;
}

void publication_abandon(struct publication *p)
{
	if (!p)
		return;
	/* Closed first: where all descriptors are taken, these are what a directory is read with to be removed. */
	if (p->fd >= 0)
		(void)close(p->fd);
	if (p->lock >= 0 && p->lock != p->fd)
		(void)close(p->lock);
	if (p->temporary)
		temporary_remove(p->temporary, p->directory);
	free(p->temporary);
	free(p->path);
	free(p->buffer);
	free(p);
}
