/* Opening bundles: files, directories and standard input; captures in memory. */
#include "core/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/descriptor.h"
#include "core/spool.h"
#include "core/system.h"
#include "core/unpack.h"

/* ---- files: opened when first read, a bounded number at a time ---- */

struct file {
	struct stat seen; /* when it was added */
	char path[];
};

static struct file *file_new(const char *path, const struct stat *seen)
{
	size_t length = strlen(path) + 1;
	struct file *f = malloc(sizeof(*f) + length);

	if (!f)
		return NULL;
	f->seen = *seen;
	memcpy(f->path, path, length);
	return f;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static enum tracemend_status file_open(struct source *s, struct tracemend_error *error)
{
	struct bundle *b = s->bundle;
	const struct file *f = s->data;
	const char *path = f->path;
	struct stat st;

	/* O_NONBLOCK: opening must not wait where a FIFO has taken the place of the file. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		int why = errno;
		/* In the program's sandbox, another file than the one that was there at first cannot be opened. */
		if (stat(path, &st) == 0 && !same_file(&st, &f->seen))
			return fault_set(error, TM_IO, "%s: another file has taken its place while it was read", path);
		return fault_set(error, why == ENOMEM ? TM_NO_MEMORY : TM_IO, "%s: cannot open: %s", path, strerror(why));
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return fault_set(error, TM_IO, "%s: not a regular file", path);
	}
	if (!same_file(&st, &f->seen)) {
		(void)close(fd);
		return fault_set(error, TM_IO, "%s: another file has taken its place while it was read", path);
	}
	struct source **slot = &b->open[b->open_next++ % BUNDLE_OPEN_MAX];
	if (*slot) {
		(void)close((*slot)->fd);
		(*slot)->fd = -1;
	}
	*slot = s;
	s->fd = fd;
	system_read_ahead(fd);
	return TM_OK;
}

static enum tracemend_status file_read(struct source *s, uint64_t offset, void *buffer, size_t length,
				       struct tracemend_error *error)
{
	const char *path = ((const struct file *)s->data)->path;

	if (s->fd < 0) {
		enum tracemend_status status = file_open(s, error);
		if (status != TM_OK)
			return status;
	}
	if (descriptor_read(s->fd, offset, buffer, length) == length)
		return TM_OK;
	if (errno)
		return fault_set(error, TM_IO, "%s: cannot read: %s", path, strerror(errno));
	return fault_set(error, TM_IO, "%s: became shorter while it was read", path);
}

static void file_close(struct source *s)
{
	free(s->data);
}

static enum tracemend_status file_unchanged(struct source *s, struct tracemend_error *error)
{
	const struct file *f = s->data;
	struct stat now;
	const char *how = NULL;

	if (stat(f->path, &now) < 0)
		return fault_set(error, TM_IO, "%s: was removed while it was read: %s", f->path, strerror(errno));
	if (!same_file(&now, &f->seen))
		how = "was replaced";
	else if (now.st_size != f->seen.st_size)
		how = now.st_size > f->seen.st_size ? "grew" : "became shorter";
	else if (!same_time(system_modified(&now), system_modified(&f->seen)))
		how = "was written to";
	if (!how)
		return TM_OK;
	return fault_set(error, TM_IO, "%s: %s while it was read; wait until its recorder has ended, or repair a copy", f->path,
			 how);
}

static int file_descriptor(struct source *s)
{
	struct tracemend_error ignored = { 0 };

	return s->fd >= 0 || file_open(s, &ignored) == TM_OK ? s->fd : -1;
}

static const struct source_ops file_ops = {
	.read = file_read, .close = file_close, .unchanged = file_unchanged, .descriptor = file_descriptor
};

static enum tracemend_status bundle_add_file(struct bundle *b, enum tracemend_role role, enum source_kind kind, const char *path,
					     const char *name, const struct stat *seen)
{
	struct file *f = file_new(path, seen);
	if (!f)
		return fault_memory(&b->error);
	if (!bundle_add_source(b, role, kind, name, kind == SOURCE_FILE ? (uint64_t)seen->st_size : 0, &file_ops, f)) {
		free(f);
		return b->error.status;
	}
	return TM_OK;
}

/* ---- directories ---- */

static char *path_join(const char *directory, const char *name)
{
	char *path = NULL;
	size_t length = strlen(directory);
	const char *slash = length && directory[length - 1] != '/' ? "/" : "";
	return asprintf(&path, "%s%s%s", directory, slash, name) < 0 ? NULL : path;
}

static enum tracemend_status bundle_walk(struct bundle *b, enum tracemend_role role, const char *path, const char *prefix,
					 unsigned depth);

static enum tracemend_status bundle_add_entry(struct bundle *b, enum tracemend_role role, const char *path, const char *name,
					      unsigned depth)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return fault_set(&b->error, TM_IO, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return bundle_walk(b, role, path, name, depth + 1);
	enum source_kind kind = S_ISREG(st.st_mode) ? SOURCE_FILE : S_ISLNK(st.st_mode) ? SOURCE_SYMLINK : SOURCE_SPECIAL;
	return bundle_add_file(b, role, kind, path, name, &st);
}

static enum tracemend_status bundle_walk(struct bundle *b, enum tracemend_role role, const char *path, const char *prefix,
					 unsigned depth)
{
	if (depth > BUNDLE_DEPTH_MAX)
		return fault_set(&b->error, TM_LIMIT, "%s: more than %u directories deep", path, BUNDLE_DEPTH_MAX);
	DIR *directory = opendir(path);
	if (!directory)
		return fault_set(&b->error, errno == ENOMEM ? TM_NO_MEMORY : TM_IO, "%s: cannot open: %s", path, strerror(errno));
	enum tracemend_status status = TM_OK;
	bool empty = true;
	struct dirent *entry;
	while (status == TM_OK && (errno = 0, entry = readdir(directory)) != NULL) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		empty = false;
		char *full = path_join(path, entry->d_name);
		char *name = *prefix ? path_join(prefix, entry->d_name) : strdup(entry->d_name);
		status = full && name ? bundle_add_entry(b, role, full, name, depth) : fault_memory(&b->error);
		free(full);
		free(name);
	}
	if (status == TM_OK && errno)
		status = fault_set(&b->error, TM_IO, "%s: cannot read: %s", path, strerror(errno));
	(void)closedir(directory);
	if (status == TM_OK && empty && depth)
		status = bundle_add_file(b, role, SOURCE_DIRECTORY, path, prefix, &(struct stat){ 0 });
	return status;
}

/* ---- one path ---- */

/* Milliseconds after which it is asked whether to go on. */
#define STDIN_WAIT 200

static enum tracemend_status bundle_add_stdin(struct bundle *b, enum tracemend_role role)
{
	static const size_t step = 1u << 16;
	struct spool *spool = spool_new(b);
	char *buffer = malloc(step);
	enum tracemend_status status = spool && buffer ? TM_OK : fault_memory(&b->error);

	/* What writes to it may wait, and a signal may go to another thread. */
	while (status == TM_OK && (status = bundle_goes_on(b, spool_size(spool), 0)) == TM_OK) {
		int ready = poll(&(struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN }, 1, STDIN_WAIT);
		if (!ready || (ready < 0 && errno == EINTR))
			continue;
		ssize_t n = read(STDIN_FILENO, buffer, step);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			status = fault_set(&b->error, TM_IO, "standard input: cannot read: %s", strerror(errno));
		if (n <= 0)
			break;
		status = spool_append(b, spool, buffer, (size_t)n);
	}
	free(buffer);
	if (status != TM_OK)
		return status;
	struct source whole = { .name = "",
				.origin = "standard input",
				.size = spool_size(spool),
				.bundle = b,
				.ops = &spool_ops,
				.data = spool_slice(spool, 0),
				.fd = -1 };
	if (!whole.data)
		return fault_memory(&b->error);
	uint8_t head[UNPACK_PEEK];
	size_t got = whole.size < sizeof(head) ? (size_t)whole.size : sizeof(head);
	status = source_read(&whole, 0, head, got);
	if (status == TM_OK && unpack_recognises(head, got)) {
		status = unpack_into(b, &whole, role);
		spool_ops.close(&whole);
	} else if (status != TM_OK || !bundle_add_source(b, role, SOURCE_FILE, "", whole.size, &spool_ops, whole.data)) {
		spool_ops.close(&whole);
		status = b->error.status;
	}
	return status;
}

static const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static enum tracemend_status bundle_add_regular(struct bundle *b, enum tracemend_role role, const char *path,
						const struct stat *seen)
{
	uint64_t size = (uint64_t)seen->st_size;
	struct file *f = file_new(path, seen);
	if (!f)
		return fault_memory(&b->error);
	/* Look at its first bytes before it becomes a source: an archive is replaced by its members. */
	struct source whole = { .name = "", .origin = path, .size = size, .bundle = b, .ops = &file_ops, .data = f, .fd = -1 };
	uint8_t head[UNPACK_PEEK];
	size_t got = size < sizeof(head) ? (size_t)size : sizeof(head);
	enum tracemend_status status = source_read(&whole, 0, head, got);
	if (status == TM_OK && unpack_recognises(head, got))
		status = unpack_into(b, &whole, role);
	else if (status == TM_OK)
		/* Extra pieces are distinguished by their names; the only file of a capture has no name. */
		status = bundle_add_file(b, role, SOURCE_FILE, path, role == TM_ROLE_INPUT ? "" : path_base(path), seen);
	for (size_t i = 0; i < BUNDLE_OPEN_MAX; i++)
		if (b->open[i] == &whole)
			b->open[i] = NULL;
	if (whole.fd >= 0)
		(void)close(whole.fd);
	free(f);
	return status;
}

enum tracemend_status bundle_add_path(struct bundle *b, const char *path, enum tracemend_role role)
{
	struct stat st;
	size_t before = b->count;
	enum tracemend_status status;

	if (!strcmp(path, "-")) {
		status = bundle_add_stdin(b, role);
	} else if (stat(path, &st) < 0) {
		status = fault_set(&b->error, TM_IO, "%s: %s", path, strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		if (role == TM_ROLE_INPUT)
			b->directory = true;
		status = bundle_walk(b, role, path, "", 0);
	} else if (S_ISREG(st.st_mode)) {
		status = bundle_add_regular(b, role, path, &st);
	} else {
		status = fault_set(&b->error, TM_IO, "%s: is a %s, not a regular file or directory", path,
				   S_ISFIFO(st.st_mode)	  ? "FIFO"
				   : S_ISSOCK(st.st_mode) ? "socket"
							  : "device");
	}
	/* Extra pieces and donors have an origin of their own. */
	for (size_t i = before; i < b->count && role != TM_ROLE_INPUT && status == TM_OK; i++) {
		char *origin = strdup(path);
		if (!origin)
			return fault_memory(&b->error);
		free((void *)(uintptr_t)b->sources[i]->origin);
		b->sources[i]->origin = origin;
	}
	return status;
}

struct bundle *bundle_open(const char *path, const struct tracemend_options *options, struct tracemend_error *error)
{
	struct bundle *b = bundle_new(path, options);
	if (!b) {
		(void)fault_memory(error);
		return NULL;
	}
	if (bundle_add_path(b, path, TM_ROLE_INPUT) != TM_OK) {
		(void)fault_set(error, b->error.status, "%s", b->error.message);
		bundle_free(b);
		return NULL;
	}
	bundle_sort(b);
	return b;
}

struct bundle *bundle_open_memory(const char *path, const void *data, size_t size, const struct tracemend_options *options,
				  struct tracemend_error *error)
{
	struct bundle *b = bundle_new(path, options);
	if (!b) {
		(void)fault_memory(error);
		return NULL;
	}
	if (unpack_recognises(data, size)) {
		struct source whole = { .name = "",
					.origin = b->path,
					.size = size,
					.bundle = b,
					.ops = &bundle_memory_ops,
					.data = (void *)(uintptr_t)data,
					.fd = -1 };
		(void)unpack_into(b, &whole, TM_ROLE_INPUT);
	} else {
		(void)bundle_add_memory(b, "", data, size);
	}
	bundle_sort(b);
	if (b->error.status != TM_OK) {
		(void)fault_set(error, b->error.status, "%s", b->error.message);
		bundle_free(b);
		return NULL;
	}
	return b;
}
