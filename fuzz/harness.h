/* For harnesses of trace readers: gives an input of the fuzzer to a reader that takes a path. Nothing but this file is needed, and
 * it is compiled as the reader is: C, C++, or cgo. A folder is what the mutator makes of it, a plain tar.
 *
 *     char *path = tracemend_unpack(data, size);     a folder, or one file if the input is no tar
 *     if (path)
 *         read_trace(path);
 *     tracemend_remove(path);
 *
 *     char path[TRACEMEND_PATH];
 *     int fd = tracemend_memory_file(data, size, path);   one file, by descriptor or by path
 *     read_trace(path);
 *     close(fd); */
#ifndef TRACEMEND_HARNESS_H
#define TRACEMEND_HARNESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_CLOEXEC
#error "compile with -D_GNU_SOURCE, or include harness.h first"
#endif

#define TRACEMEND_PATH 32
#define TRACEMEND_TAR_BLOCK 512u

static int tracemend_put(int fd, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);
		if (n <= 0)
			return -1;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* A file in memory. Returns its descriptor, which stands at its beginning, and which the caller closes; -1: none. path: by which it
 * can be opened until then. */
static inline int tracemend_memory_file(const uint8_t *data, size_t size, char path[TRACEMEND_PATH])
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd >= 0 && (tracemend_put(fd, data, size) || lseek(fd, 0, SEEK_SET) != 0)) {
		(void)close(fd);
		fd = -1;
	}
	(void)snprintf(path, TRACEMEND_PATH, "/proc/self/fd/%d", fd);
	return fd;
}

static int tracemend_remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

/* Removes what tracemend_unpack() made, whatever the reader added, and frees the path. NULL does nothing. */
static inline void tracemend_remove(char *path)
{
	if (!path)
		return;
	/* The path of a single file is that of its directory and this. */
	size_t length = strlen(path);
	if (length > 6 && !strcmp(path + length - 6, "/input"))
		path[length - 6] = '\0';
	(void)nftw(path, tracemend_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(path);
}

/* Whether the name stays below the directory. */
static int tracemend_inside(const char *name)
{
	if (!*name || *name == '/')
		return 0;
	for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
		if (!strncmp(part, "..", 2) && (!part[2] || part[2] == '/'))
			return 0;
	return 1;
}

static void tracemend_write_file(const char *directory, const char *name, const uint8_t *data, size_t size)
{
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/%s", directory, name);

	if (length < 0 || (size_t)length >= sizeof(path))
		return;
	for (char *slash = strchr(path + strlen(directory) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0) {
		(void)tracemend_put(fd, data, size);
		(void)close(fd);
	}
}

static uint64_t tracemend_octal(const uint8_t *field, size_t length)
{
	uint64_t n = 0;

	for (size_t i = 0; i < length && field[i] >= '0' && field[i] <= '7'; i++)
		n = n << 3 | (uint64_t)(field[i] - '0');
	return n;
}

/* The name of a member: a prefix and a rest. */
static void tracemend_member(const uint8_t *header, char name[257])
{
	size_t prefix = strnlen((const char *)header + 345, 155), rest = strnlen((const char *)header, 100);

	memcpy(name, header + 345, prefix);
	if (prefix)
		name[prefix++] = '/';
	memcpy(name + prefix, header, rest);
	name[prefix + rest] = '\0';
}

/* Writes an input into a new directory below TMPDIR (else /dev/shm): the regular files of a tar, else one file. Returns the path of
 * the directory or the file; tracemend_remove() is due. NULL: it cannot be written. */
static inline char *tracemend_unpack(const uint8_t *data, size_t size)
{
	const char *base = getenv("TMPDIR");
	char *path = (char *)malloc(4096), name[257];
	int tar = size >= TRACEMEND_TAR_BLOCK && !memcmp(data + 257, "ustar", 5);

	if (!path)
		return NULL;
	(void)snprintf(path, 3072, "%s/tracemend-XXXXXX", base && *base ? base : "/dev/shm");
	if (!mkdtemp(path)) {
		free(path);
		return NULL;
	}
	if (!tar) {
		tracemend_write_file(path, "input", data, size);
		return strcat(path, "/input");
	}
	for (size_t at = 0; size - at >= TRACEMEND_TAR_BLOCK && data[at];) {
		const uint8_t *header = data + at;
		uint64_t length = tracemend_octal(header + 124, 12), room = size - at - TRACEMEND_TAR_BLOCK;
		length = length < room ? length : room;
		tracemend_member(header, name);
		if ((header[156] == '0' || !header[156]) && tracemend_inside(name))
			tracemend_write_file(path, name, header + TRACEMEND_TAR_BLOCK, (size_t)length);
		uint64_t blocks = (length + TRACEMEND_TAR_BLOCK - 1) / TRACEMEND_TAR_BLOCK + 1;
		at = blocks * TRACEMEND_TAR_BLOCK < size - at ? at + (size_t)(blocks * TRACEMEND_TAR_BLOCK) : size;
	}
	return path;
}

#endif
