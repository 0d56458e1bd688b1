#include "core/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/inflate.h"
#include "core/spool.h"
#include "core/text.h"

static bool is_archive(const uint8_t *head, size_t length)
{
	static const struct {
		const char *bytes;
		size_t offset, length;
	} marks[] = {
		{ "ustar", 257, 5 },	/* POSIX and GNU tar */
		{ "PK\x03\x04", 0, 4 }, /* zip: a member */
		{ "PK\x05\x06", 0, 4 }, /* an empty zip */
	};
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (length >= marks[i].offset + marks[i].length && !memcmp(head + marks[i].offset, marks[i].bytes, marks[i].length))
			return true;
	return false;
}

bool unpack_recognises(const uint8_t *head, size_t length)
{
	return inflate_recognises(head, length) || is_archive(head, length);
}

struct unpack {
	struct bundle *bundle;
	struct source *from;
	uint64_t offset;
	struct spool *spool;	 /* of all members */
	struct hard_link *links; /* to other members */
	size_t link_count, link_capacity;
	uint8_t buffer[1u << 16];
};

/* A member that is another name of one before it. */
struct hard_link {
	char *name, *target; /* as unpack_name() leaves them */
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
	if (u->from->ops != &spool_ops) /* that of a stream has the limit of the stream */
		spool_allow(u->bundle, u->offset);
	return (ssize_t)length;
}

/* For zip, whose directory is at its end. */
static la_int64_t unpack_seek(struct archive *a, void *data, la_int64_t offset, int whence)
{
	struct unpack *u = data;
	uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? u->offset : u->from->size;
	uint64_t at = base + (uint64_t)offset;

	(void)a;
	if ((offset < 0 && (uint64_t)-offset > base) || at > u->from->size)
		return ARCHIVE_FATAL;
	u->offset = at;
	return (la_int64_t)at;
}

static la_int64_t unpack_skip(struct archive *a, void *data, la_int64_t count)
{
	struct unpack *u = data;
	uint64_t left = u->from->size - u->offset, n = count > 0 ? (uint64_t)count : 0;

	(void)a;
	n = n < left ? n : left;
	u->offset += n;
	return (la_int64_t)n;
}

/* Records the message of libarchive about a damaged archive. */
static void unpack_damage(struct bundle *b, struct archive *a)
{
	text_sanitise(b->damage, sizeof(b->damage), archive_error_string(a) ? archive_error_string(a) : "unreadable");
}

/* Appends zeros to the member that begins at `start` of the spool, until it has `size` bytes: a sparse one has no blocks for its
 * holes. */
static enum tracemend_status unpack_hole(struct unpack *u, uint64_t start, uint64_t size)
{
	static const uint8_t zeros[1u << 16];
	enum tracemend_status status = TM_OK;

	while (status == TM_OK && spool_size(u->spool) - start < size) {
		uint64_t hole = size - (spool_size(u->spool) - start);
		status = spool_append(u->bundle, u->spool, zeros, hole < sizeof(zeros) ? (size_t)hole : sizeof(zeros));
	}
	return status;
}

/* Appends the data of one member to the spool. Returns ARCHIVE_OK, or what libarchive said; *status for failures of our own. */
static int unpack_member(struct unpack *u, struct archive *a, struct archive_entry *entry, enum tracemend_status *status)
{
	struct spool *spool = u->spool;
	const void *block;
	size_t length;
	la_int64_t at;
	uint64_t start = spool_size(spool);
	int result;

	while ((result = archive_read_data_block(a, &block, &length, &at)) == ARCHIVE_OK) {
		if (at > 0)
			*status = unpack_hole(u, start, (uint64_t)at);
		if (*status == TM_OK)
			*status = spool_append(u->bundle, spool, block, length);
		if (*status != TM_OK)
			return ARCHIVE_FATAL;
	}
	/* The last hole. */
	if (result == ARCHIVE_EOF && archive_entry_size_is_set(entry) && archive_entry_size(entry) > 0)
		*status = unpack_hole(u, start, (uint64_t)archive_entry_size(entry));
	return result == ARCHIVE_EOF ? ARCHIVE_OK : result;
}

/* Takes "." and empty parts out of the name of a member, in place. NULL when it leads out of the archive. */
static const char *unpack_name(char *name)
{
	char *end = name;

	if (*name == '/')
		return NULL;
	for (const char *part = name; *part;) {
		size_t length = strcspn(part, "/");
		if (length == 2 && part[0] == '.' && part[1] == '.')
			return NULL;
		if (length && !(length == 1 && *part == '.')) {
			if (end != name)
				*end++ = '/';
			memmove(end, part, length);
			end += length;
		}
		part += length + (part[length] == '/');
	}
	*end = '\0';
	return name;
}

struct unpack_state {
	size_t first;	    /* index in the bundle of the first source */
	bool saw_directory; /* the archive has directory entries */
	bool rooted;	    /* names start with "./": they have no top directory to remove */
};

/* A regular member: its bytes become a source. */
static enum tracemend_status unpack_regular(struct unpack *u, struct archive *a, struct archive_entry *entry, const char *name,
					    enum tracemend_role role, bool *stop)
{
	struct bundle *b = u->bundle;
	uint64_t start = spool_size(u->spool);
	enum tracemend_status status = TM_OK;
	int result = unpack_member(u, a, entry, &status);

	if (status != TM_OK)
		return status;
	if (result < ARCHIVE_WARN) {
		*stop = true;
		unpack_damage(b, a);
	}
	void *slice = spool_slice(u->spool, start);
	if (!slice)
		return fault_memory(&b->error);
	if (bundle_add_source(b, role, SOURCE_FILE, name, spool_size(u->spool) - start, &spool_ops, slice))
		return TM_OK;
	free(slice);
	return b->error.status;
}

/* Another name of a member before it, whose bytes it gets when all are known. */
static enum tracemend_status unpack_hard_link(struct unpack *u, const char *name, const char *target)
{
	char *copy = strdup(target);
	const char *end = copy ? unpack_name(copy) : NULL;
	struct hard_link link = { .name = strdup(name), .target = copy };

	if (end && link.name &&
	    array_room(&u->links, &u->link_capacity, u->link_count, sizeof(link), BUNDLE_SOURCES_MAX) == TM_OK) {
		u->links[u->link_count++] = link;
		return TM_OK;
	}
	free(link.name);
	free(copy);
	if (copy && !end)
		return fault_set(&u->bundle->error, TM_IO, "%s: the archive has a link whose target is outside of it: %s",
				 u->bundle->path, target);
	return fault_memory(&u->bundle->error);
}

static int by_name(const void *left, const void *right)
{
	const struct source *a = *(struct source *const *)left, *b = *(struct source *const *)right;
	int order = strcmp(a->name, b->name);

	return order ? order : a->serial < b->serial ? -1 : a->serial > b->serial;
}

/* The last source of that name among `count` that are ordered by_name(); NULL: none. */
static const struct source *source_named(struct source *const *sorted, size_t count, const char *name)
{
	size_t i;

	array_search(i, count, strcmp(sorted[i]->name, name) <= 0);
	return i && !strcmp(sorted[i - 1]->name, name) ? sorted[i - 1] : NULL;
}

/* Adds the hard links. One whose target is not in the archive is a link that leads nowhere. */
static enum tracemend_status unpack_links(struct unpack *u, enum tracemend_role role, size_t first)
{
	struct bundle *b = u->bundle;
	size_t count = b->count - first;
	enum tracemend_status status = TM_OK;

	if (!u->link_count)
		return TM_OK;
	struct source **sorted = calloc(count + 1, sizeof(struct source *));
	if (!sorted)
		return fault_memory(&b->error);
	if (count)
		memcpy(sorted, b->sources + first, count * sizeof(struct source *));
	qsort(sorted, count, sizeof(struct source *), by_name);
	for (size_t i = 0; i < u->link_count && status == TM_OK; i++) {
		const struct source *target = source_named(sorted, count, u->links[i].target);
		bool file = target && target->kind == SOURCE_FILE;
		void *slice = file ? spool_slice_again(target->data) : NULL;
		if (file && !slice)
			status = fault_memory(&b->error);
		else if (!bundle_add_source(b, role, file ? SOURCE_FILE : SOURCE_SYMLINK, u->links[i].name, file ? target->size : 0,
					    file ? &spool_ops : NULL, slice))
			status = b->error.status;
		if (status != TM_OK)
			free(slice);
	}
	free(sorted);
	return status;
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
	} else if (archive_entry_hardlink(entry) && archive_entry_size(entry) <= 0) {
		status = unpack_hard_link(u, name, archive_entry_hardlink(entry));
	} else if (archive_entry_filetype(entry) != AE_IFREG) {
		bool link = archive_entry_filetype(entry) == AE_IFLNK;
		if (!bundle_add_source(b, role, link ? SOURCE_SYMLINK : SOURCE_SPECIAL, name, 0, NULL, NULL))
			status = b->error.status;
	} else {
		status = unpack_regular(u, a, entry, name, role, stop);
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
		status = unpack_entry(u, a, entry, role, &state, &stop);
	}
	/* A read that failed is a failure, not damage of the archive. */
	if (status == TM_OK)
		status = b->error.status;
	if (status == TM_OK)
		status = unpack_links(u, role, state.first);
	if (status != TM_OK)
		return status;
	unpack_strip(b, &state);
	if (role == TM_ROLE_INPUT) {
		b->unpacked = true;
		b->directory = state.saw_directory || b->count - state.first != 1;
		if (!b->directory && b->count > state.first)
			((char *)(uintptr_t)b->sources[state.first]->name)[0] = '\0';
	}
	return TM_OK;
}

static enum tracemend_status unpack_archive(struct bundle *b, struct source *from, enum tracemend_role role)
{
	struct unpack *u = malloc(sizeof(*u));
	struct archive *a = archive_read_new();
	enum tracemend_status status;

	if (!u || !a) {
		status = fault_memory(&b->error);
	} else {
		*u = (struct unpack){ .bundle = b, .from = from };
		(void)archive_read_support_format_tar(a);
		(void)archive_read_support_format_zip(a);
		(void)archive_read_set_seek_callback(a, unpack_seek);
		if (archive_read_open2(a, u, NULL, unpack_read, unpack_skip, NULL) == ARCHIVE_OK) {
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
	for (size_t i = 0; u && i < u->link_count; i++) {
		free(u->links[i].name);
		free(u->links[i].target);
	}
	if (u)
		free(u->links);
	free(u);
	return status;
}

/* Decodes a compressed stream first; the result is an archive, or the capture itself. */
static enum tracemend_status unpack_compressed(struct bundle *b, struct source *from, const char *format, enum tracemend_role role)
{
	struct spool *spool = spool_new(b);
	uint8_t head[UNPACK_PEEK];

	if (!spool)
		return fault_memory(&b->error);
	enum tracemend_status status = inflate_into(b, from, format, spool);
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
	if (status == TM_OK && is_archive(head, got)) {
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
	uint8_t head[8] = { 0 };
	size_t got = from->size < sizeof(head) ? (size_t)from->size : sizeof(head);
	enum tracemend_status status = source_read(from, 0, head, got);

	if (status != TM_OK)
		return status;
	const char *format = inflate_recognises(head, got);
	uint64_t before = b->unpack_max;
	spool_allow(b, 0);
	status = format ? unpack_compressed(b, from, format, role) : unpack_archive(b, from, role);
	b->unpack_max = before;
	return status;
}
