/* Opening bundles: files, directories and standard input; captures in memory. */
#include "core/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/spool.h"
#include "core/unpack.h"

/* ---- files: opened when first read, a bounded number at a time ---- */

static enum tracemend_status file_open(struct source *s, struct tracemend_error *error)
{
	struct bundle *b = s->bundle;
	const char *path = s->data;
	struct stat st;

	/* O_NONBLOCK: opening must not wait where a FIFO has taken the place of the file. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fault_set(error, TM_IO, "%s: cannot open: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return fault_set(error, TM_IO, "%s: not a regular file", path);
	}
	struct source **slot = &b->open[b->open_next++ % BUNDLE_OPEN_MAX];
	if (*slot) {
		(void)close((*slot)->fd);
		(*slot)->fd = -1;
	}
	*slot = s;
	s->fd = fd;
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return TM_OK;
}

static enum tracemend_status file_read(struct source *s, uint64_t offset, void *buffer, size_t length,
				       struct tracemend_error *error)
{
	uint8_t *p = buffer;

	if (s->fd < 0) {
		enum tracemend_status status = file_open(s, error);
		if (status != TM_OK)
			return status;
	}
	while (length) {
		ssize_t n = pread(s->fd, p, length, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_set(error, TM_IO, "%s: cannot read: %s", (const char *)s->data, strerror(errno));
		if (n == 0)
			return fault_set(error, TM_IO, "%s: became shorter while it was read", (const char *)s->data);
		p += n;
		offset += (uint64_t)n;
		length -= (size_t)n;
	}
	return TM_OK;
}

static void file_close(struct source *s)
{
	free(s->data);
}

static const struct source_ops file_ops = { .read = file_read, .close = file_close };

static enum tracemend_status bundle_add_file(struct bundle *b, enum tracemend_role role, enum source_kind kind, const char *path,
					     const char *name, uint64_t size)
{
	char *copy = strdup(path);
	if (!copy)
		return fault_memory(&b->error);
	if (!bundle_add_source(b, role, kind, name, size, &file_ops, copy)) {
		free(copy);
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
	return bundle_add_file(b, role, kind, path, name, kind == SOURCE_FILE ? (uint64_t)st.st_size : 0);
}

static enum tracemend_status bundle_walk(struct bundle *b, enum tracemend_role role, const char *path, const char *prefix,
					 unsigned depth)
{
	if (depth > BUNDLE_DEPTH_MAX)
		return fault_set(&b->error, TM_LIMIT, "%s: more than %u directories deep", path, BUNDLE_DEPTH_MAX);
	DIR *directory = opendir(path);
	if (!directory)
		return fault_set(&b->error, TM_IO, "%s: cannot open: %s", path, strerror(errno));
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
		status = bundle_add_file(b, role, SOURCE_DIRECTORY, path, prefix, 0);
	return status;
}

/* ---- one path ---- */

static enum tracemend_status bundle_add_stdin(struct bundle *b, enum tracemend_role role)
{
	static const size_t step = 1u << 16;
	struct spool *spool = spool_new(b);
	char *buffer = malloc(step);
	enum tracemend_status status = spool && buffer ? TM_OK : fault_memory(&b->error);

	while (status == TM_OK) {
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

static enum tracemend_status bundle_add_regular(struct bundle *b, enum tracemend_role role, const char *path, uint64_t size)
{
	char *copy = strdup(path);
	if (!copy)
		return fault_memory(&b->error);
	/* Look at its first bytes before it becomes a source: an archive is replaced by its members. */
	struct source whole = { .name = "", .origin = path, .size = size, .bundle = b, .ops = &file_ops, .data = copy, .fd = -1 };
	uint8_t head[UNPACK_PEEK];
	size_t got = size < sizeof(head) ? (size_t)size : sizeof(head);
	enum tracemend_status status = source_read(&whole, 0, head, got);
	if (status == TM_OK && unpack_recognises(head, got))
		status = unpack_into(b, &whole, role);
	else if (status == TM_OK)
		/* Extra pieces are distinguished by their names; the only file of a capture has no name. */
		status = bundle_add_file(b, role, SOURCE_FILE, path, role == TM_ROLE_INPUT ? "" : path_base(path), size);
	for (size_t i = 0; i < BUNDLE_OPEN_MAX; i++)
		if (b->open[i] == &whole)
			b->open[i] = NULL;
	if (whole.fd >= 0)
		(void)close(whole.fd);
	free(copy);
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
		status = bundle_add_regular(b, role, path, (uint64_t)st.st_size);
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
