#include "core/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/descriptor.h"
#include "core/system.h"

struct spool {
	struct spool *next;
	struct bytes memory;
	int fd; /* -1: in memory */
	uint64_t size;
};

#define SPOOL_HOLE 4096

struct slice {
	const struct spool *spool;
	uint64_t from;
};

struct spool *spool_new(struct bundle *b)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	if (spool) {
		spool->fd = -1;
		spool->next = b->spools;
		b->spools = spool;
	}
	return spool;
}

void spool_free_all(struct bundle *b)
{
	while (b->spools) {
		struct spool *spool = b->spools;
		b->spools = spool->next;
		bytes_free(&spool->memory);
		if (spool->fd >= 0)
			(void)close(spool->fd);
		free(spool);
	}
}

/* Writes the bytes behind those that the file has. Whole steps of zeros, of which floods are made, become holes. */
static enum tracemend_status spool_write(struct bundle *b, const struct spool *spool, uint64_t at, const void *data, size_t length)
{
	const uint8_t *p = data;
	if (length >= SPOOL_HOLE && bytes_are_zero(p, length) && ftruncate(spool->fd, (off_t)(at + length)) == 0)
		return TM_OK;
	while (length) {
		ssize_t n = pwrite(spool->fd, p, length, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_set(&b->error, TM_IO, "%s: cannot write its unpacked bytes to a temporary file: %s", b->path,
					 strerror(errno));
		p += n;
		at += (uint64_t)n;
		length -= (size_t)n;
	}
	return TM_OK;
}

/* Opens an unlinked temporary file and moves what is in memory there. */
static enum tracemend_status spool_to_disk(struct bundle *b, struct spool *spool)
{
	const char *directory = getenv("TMPDIR");
	if (!directory || !*directory)
		directory = "/tmp";
	spool->fd = system_unnamed_file(directory);
	if (spool->fd < 0)
		return fault_set(&b->error, TM_IO, "%s: cannot make a temporary file for its unpacked bytes in %s: %s", b->path,
				 directory, strerror(errno));
	enum tracemend_status status = spool_write(b, spool, 0, spool->memory.data, spool->memory.size);
	bytes_free(&spool->memory);
	return status;
}

void spool_allow(struct bundle *b, uint64_t read)
{
	if (b->unpack_chosen)
		return;
	uint64_t most = read > UNPACK_BYTES_MAX / UNPACK_RATIO ? UNPACK_BYTES_MAX : read * UNPACK_RATIO;
	b->unpack_max = most > UNPACK_BYTES_FREE ? most : UNPACK_BYTES_FREE;
	b->unpack_why = most > UNPACK_BYTES_FREE && most < UNPACK_BYTES_MAX ? ", 200 times what was read of it" : "";
}

enum tracemend_status spool_append(struct bundle *b, struct spool *spool, const void *data, size_t length)
{
	enum tracemend_status status = TM_OK;

	if (spool->size > b->unpack_max || length > b->unpack_max - spool->size)
		return fault_set(&b->error, TM_LIMIT, "%s: unpacks to more than %llu bytes%s; --max-unpacked allows more", b->path,
				 (unsigned long long)b->unpack_max, b->unpack_why);
	if (spool->fd < 0 && spool->size + length > UNPACK_MEMORY_MAX)
		status = spool_to_disk(b, spool);
	if (status == TM_OK && spool->fd >= 0) {
		status = spool_write(b, spool, spool->size, data, length);
	} else if (status == TM_OK) {
		bytes_append(&spool->memory, data, length);
		if (spool->memory.failed)
			status = fault_memory(&b->error);
	}
	if (status == TM_OK) {
		spool->size += length;
		b->bytes_unpacked += length;
	}
	return status;
}

uint64_t spool_size(const struct spool *spool)
{
	return spool->size;
}

void *spool_slice(struct spool *spool, uint64_t from)
{
	struct slice *slice = malloc(sizeof(*slice));
	if (slice)
		*slice = (struct slice){ .spool = spool, .from = from };
	return slice;
}

void *spool_slice_again(const void *slice)
{
	struct slice *again = malloc(sizeof(*again));
	if (again)
		memcpy(again, slice, sizeof(*again));
	return again;
}

static enum tracemend_status slice_read(struct source *s, uint64_t offset, void *buffer, size_t length,
					struct tracemend_error *error)
{
	const struct slice *slice = s->data;

	offset += slice->from;
	if (slice->spool->fd < 0) {
		memcpy(buffer, slice->spool->memory.data + offset, length);
		return TM_OK;
	}
	if (descriptor_read(slice->spool->fd, offset, buffer, length) == length)
		return TM_OK;
	return fault_set(error, TM_IO, "%s: cannot read back its unpacked bytes: %s", s->origin,
			 errno ? strerror(errno) : "the temporary file is shorter");
}

static void slice_close(struct source *s)
{
	free(s->data);
}

const struct source_ops spool_ops = { .read = slice_read, .close = slice_close };
