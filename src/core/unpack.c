#include "core/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/inflate.h"
#include "core/spool.h"
#include "core/text.h"

bool unpack_recognises(const uint8_t *head, size_t length)
{
	static const struct {
		const char *bytes;
		size_t offset, length;
	} marks[] = {
		{ "\x1f\x8b\x08", 0, 3 },     /* gzip, RFC 1952: magic and the only method */
		{ "\x28\xb5\x2f\xfd", 0, 4 }, /* zstd, RFC 8878 */
		{ "\xfd"
		  "7zXZ",
		  0, 6 },	     /* xz, with its NUL */
		{ "BZh", 0, 3 },     /* bzip2 */
		{ "ustar", 257, 5 }, /* POSIX and GNU tar */
	};
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (length >= marks[i].offset + marks[i].length && !memcmp(head + marks[i].offset, marks[i].bytes, marks[i].length))
			return true;
	return false;
}

struct unpack {
	struct bundle *bundle;
	struct source *from;
	uint64_t offset;
	struct spool *spool; /* of all members */
	uint8_t buffer[1u << 16];
};

static ssize_t unpack_read(struct archive *a, void *data, const void **buffer)
{
	struct unpack *u = data;
	uint64_t left = u->from->size - u->offset;
	size_t length = left < sizeof(u->buffer) ? (size_t)left : sizeof(u->buffer);

	*buffer = u->buffer;
	if (length && source_read(u->from, u->offset, u->buffer, length) != TM_OK) {
		archive_set_error(a, EIO, "%s", "cannot be read");
		return -1;
	}
	u->offset += length;
	return (ssize_t)length;
}

/* Records the message of libarchive about a damaged archive. */
static void unpack_damage(struct bundle *b, struct archive *a)
{
	text_sanitise(b->damage, sizeof(b->damage), archive_error_string(a) ? archive_error_string(a) : "unreadable");
}

/* Appends the data of one member to the spool. Returns ARCHIVE_OK, or what libarchive said; *status for failures of our own. */
static int unpack_member(struct unpack *u, struct archive *a, enum tracemend_status *status)
{
	struct spool *spool = u->spool;
	static const uint8_t zeros[4096];
	const void *block;
	size_t length;
	la_int64_t at;
	uint64_t start = spool_size(spool);
	int result;

	while ((result = archive_read_data_block(a, &block, &length, &at)) == ARCHIVE_OK) {
		/* A sparse member has no blocks for its holes. */
		while (*status == TM_OK && at > 0 && spool_size(spool) - start < (uint64_t)at) {
			uint64_t hole = (uint64_t)at - (spool_size(spool) - start);
			*status = spool_append(u->bundle, spool, zeros, hole < sizeof(zeros) ? (size_t)hole : sizeof(zeros));
		}
		if (*status == TM_OK)
			*status = spool_append(u->bundle, spool, block, length);
		if (*status != TM_OK)
			return ARCHIVE_FATAL;
	}
	return result == ARCHIVE_EOF ? ARCHIVE_OK : result;
}

/* The name of a member, without "./" and trailing '/'. NULL when it leads out of the archive. */
static const char *unpack_name(char *name)
{
	char *p = name;
	while (p[0] == '.' && p[1] == '/')
		for (p += 2; *p == '/';)
			p++;
	size_t length = strlen(p);
	while (length && p[length - 1] == '/')
		p[--length] = '\0';
	if (*p == '/')
		return NULL;
	for (const char *part = p; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (!strncmp(part, "..", 2) && (part[2] == '/' || part[2] == '\0'))
			return NULL;
	}
	return !strcmp(p, ".") ? p + 1 : p;
}

struct unpack_state {
	size_t first;	    /* index in the bundle of the first source */
	bool saw_directory; /* the archive has directory entries */
	bool rooted;	    /* names start with "./": they have no top directory to remove */
	bool raw;	    /* a compressed file, not an archive */
};

/* A regular member: its bytes become a source. */
static enum tracemend_status unpack_regular(struct unpack *u, struct archive *a, const char *name, enum tracemend_role role,
					    const struct unpack_state *state, bool *stop)
{
	struct bundle *b = u->bundle;
	uint64_t start = spool_size(u->spool);
	enum tracemend_status status = TM_OK;
	int result = unpack_member(u, a, &status);

	if (status != TM_OK)
		return status;
	if (result < ARCHIVE_WARN) {
		*stop = true;
		unpack_damage(b, a);
	}
	/* Of a damaged compressed file from which nothing was unpacked, no source is made. */
	if (*stop && spool_size(u->spool) == start && state->raw)
		return TM_OK;
	void *slice = spool_slice(u->spool, start);
	if (!slice)
		return fault_memory(&b->error);
	if (bundle_add_source(b, role, SOURCE_FILE, state->raw ? "" : name, spool_size(u->spool) - start, &spool_ops, slice))
		return TM_OK;
	free(slice);
	return b->error.status;
}

static enum tracemend_status unpack_entry(struct unpack *u, struct archive *a, struct archive_entry *entry,
					  enum tracemend_role role, struct unpack_state *state, bool *stop)
{
	struct bundle *b = u->bundle;
	const char *raw_name = archive_entry_pathname(entry);
	char *copy = strdup(raw_name ? raw_name : "");
	enum tracemend_status status = TM_OK;

	if (!copy)
		return fault_memory(&b->error);
	if (copy[0] == '.' && copy[1] == '/')
		state->rooted = true;
	const char *name = unpack_name(copy);
	if (!name) {
		status = fault_set(&b->error, TM_IO, "%s: the archive has a member whose name leads out of it: %s", b->path, copy);
	} else if (archive_entry_filetype(entry) == AE_IFDIR) {
		state->saw_directory = true;
	} else if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry)) {
		bool link = archive_entry_filetype(entry) == AE_IFLNK || archive_entry_hardlink(entry) != NULL;
		if (!bundle_add_source(b, role, link ? SOURCE_SYMLINK : SOURCE_SPECIAL, name, 0, NULL, NULL))
			status = b->error.status;
	} else {
		status = unpack_regular(u, a, name, role, state, stop);
	}
	free(copy);
	return status;
}

/* Removes the top directory from the names when all members are below the same one. */
static void unpack_strip(struct bundle *b, const struct unpack_state *state)
{
	if (state->rooted || state->first == b->count)
		return;
	const char *first = b->sources[state->first]->name;
	const char *slash = strchr(first, '/');
	size_t top = slash ? (size_t)(slash - first) + 1 : 0;
	for (size_t i = state->first; i < b->count && top; i++)
		if (strncmp(b->sources[i]->name, first, top) != 0 || !b->sources[i]->name[top])
			top = 0;
	for (size_t i = state->first; i < b->count && top; i++) {
		char *name = (char *)(uintptr_t)b->sources[i]->name;
		memmove(name, name + top, strlen(name + top) + 1);
	}
}

static enum tracemend_status unpack_all(struct unpack *u, struct archive *a, enum tracemend_role role)
{
	struct bundle *b = u->bundle;
	struct unpack_state state = { .first = b->count };
	enum tracemend_status status = TM_OK;
	bool stop = false;

	u->spool = spool_new(b);
	if (!u->spool)
		return fault_memory(&b->error);
	while (status == TM_OK && !stop) {
		struct archive_entry *entry;
		int result = archive_read_next_header(a, &entry);
		if (result == ARCHIVE_EOF)
			break;
		if (result == ARCHIVE_RETRY)
			continue;
		if (result < ARCHIVE_WARN) {
			if (archive_errno(a) == ENOMEM)
				return fault_memory(&b->error);
			unpack_damage(b, a);
			break;
		}
		state.raw = archive_format(a) == ARCHIVE_FORMAT_RAW;
		status = unpack_entry(u, a, entry, role, &state, &stop);
	}
	/* A read that failed is a failure, not damage of the archive. */
	if (status == TM_OK)
		status = b->error.status;
	if (status != TM_OK)
		return status;
	unpack_strip(b, &state);
	if (role == TM_ROLE_INPUT) {
		b->unpacked = true;
		b->directory = !state.raw && (state.saw_directory || b->count - state.first != 1);
		if (!b->directory && b->count > state.first)
			((char *)(uintptr_t)b->sources[state.first]->name)[0] = '\0';
	}
	return TM_OK;
}

/* Archives, and the compressions that libarchive decodes. */
static enum tracemend_status unpack_archive(struct bundle *b, struct source *from, enum tracemend_role role)
{
	struct unpack *u = malloc(sizeof(*u));
	struct archive *a = archive_read_new();
	enum tracemend_status status;

	if (!u || !a) {
		status = fault_memory(&b->error);
	} else {
		*u = (struct unpack){ .bundle = b, .from = from };
		(void)archive_read_support_filter_xz(a);
		(void)archive_read_support_filter_bzip2(a);
		(void)archive_read_support_format_tar(a);
		(void)archive_read_support_format_raw(a);
		if (archive_read_open(a, u, NULL, unpack_read, NULL) == ARCHIVE_OK) {
			status = unpack_all(u, a, role);
		} else if (b->error.status != TM_OK) {
			status = b->error.status;
		} else if (archive_errno(a) == ENOMEM) {
			status = fault_memory(&b->error);
		} else {
			unpack_damage(b, a);
			b->unpacked = true;
			status = TM_OK;
		}
	}
	if (a)
		(void)archive_read_free(a);
	free(u);
	return status;
}

/* Decodes gzip and zstd first; the result is an archive, or the capture itself. */
static enum tracemend_status unpack_compressed(struct bundle *b, struct source *from, bool gzip, enum tracemend_role role)
{
	struct spool *spool = spool_new(b);
	uint8_t head[UNPACK_PEEK];

	if (!spool)
		return fault_memory(&b->error);
	enum tracemend_status status = inflate_into(b, from, gzip, spool);
	if (status != TM_OK)
		return status;
	if (role == TM_ROLE_INPUT)
		b->unpacked = true;
	struct source whole = {
		.name = "", .origin = from->origin, .size = spool_size(spool), .bundle = b, .ops = &spool_ops, .fd = -1
	};
	size_t got = whole.size < sizeof(head) ? (size_t)whole.size : sizeof(head);
	if (!whole.size)
		return TM_OK;
	whole.data = spool_slice(spool, 0);
	if (!whole.data)
		return fault_memory(&b->error);
	status = source_read(&whole, 0, head, got);
	if (status == TM_OK && unpack_recognises(head, got) && !inflate_recognises(head, got)) {
		char damage[sizeof(b->damage)];
		memcpy(damage, b->damage, sizeof(damage));
		status = unpack_archive(b, &whole, role);
		if (*damage) /* the damage of the stream is the cause of that of the archive */
			memcpy(b->damage, damage, sizeof(damage));
		spool_ops.close(&whole);
	} else if (status != TM_OK || !bundle_add_source(b, role, SOURCE_FILE, "", whole.size, &spool_ops, whole.data)) {
		spool_ops.close(&whole);
		status = b->error.status;
	}
	return status;
}

enum tracemend_status unpack_into(struct bundle *b, struct source *from, enum tracemend_role role)
{
	uint8_t head[4] = { 0 };
	size_t got = from->size < sizeof(head) ? (size_t)from->size : sizeof(head);
	enum tracemend_status status = source_read(from, 0, head, got);

	if (status != TM_OK)
		return status;
	return inflate_recognises(head, got) ? unpack_compressed(b, from, head[0] == 0x1f, role) : unpack_archive(b, from, role);
}
