#include "core/bundle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "core/spool.h"

struct bundle *bundle_new(const char *path, const struct tracemend_options *options)
{
	struct bundle *b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->path = strdup(path);
	if (!b->path) {
		free(b);
		return NULL;
	}
	b->window = options && options->window ? options->window : WINDOW_DEFAULT;
	if (b->window > WINDOW_SPAN_MAX)
		b->window = WINDOW_SPAN_MAX;
	b->unpack_max = options && options->max_unpacked ? options->max_unpacked : UNPACK_BYTES_MAX;
	b->unpack_chosen = options && options->max_unpacked;
	b->unpack_why = "";
	if (options) {
		b->progress = options->progress;
		b->progress_ctx = options->progress_ctx;
	}
	return b;
}

static void source_free(struct source *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	if (s->ops && s->ops->close)
		s->ops->close(s);
	free((void *)(uintptr_t)s->name);
	free((void *)(uintptr_t)s->origin);
	free(s);
}

void bundle_free(struct bundle *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->count; i++)
		source_free(b->sources[i]);
	free(b->sources);
	spool_free_all(b);
	free((void *)(uintptr_t)b->path);
	free(b);
}

struct source *bundle_add_source(struct bundle *b, enum tracemend_role role, enum source_kind kind, const char *name, uint64_t size,
				 const struct source_ops *ops, void *data)
{
	if (b->count >= BUNDLE_SOURCES_MAX) {
		(void)fault_set(&b->error, TM_LIMIT, "%s: more than %u files", b->path, BUNDLE_SOURCES_MAX);
		return NULL;
	}
	if (array_room(&b->sources, &b->capacity, b->count, sizeof(struct source *), BUNDLE_SOURCES_MAX) != TM_OK) {
		(void)fault_memory(&b->error);
		return NULL;
	}
	struct source *s = calloc(1, sizeof(*s));
	char *copy = strdup(name), *origin = strdup(b->path);
	if (!s || !copy || !origin) {
		free(s);
		free(copy);
		free(origin);
		(void)fault_memory(&b->error);
		return NULL;
	}
	*s = (struct source){ .name = copy,
			      .origin = origin,
			      .role = role,
			      .kind = kind,
			      .size = size,
			      .bundle = b,
			      .ops = ops,
			      .data = data,
			      .fd = -1,
			      .index = (uint32_t)b->count,
			      .serial = b->count };
	b->sources[b->count++] = s;
	b->bytes_total += size;
	return s;
}

static enum tracemend_status memory_read(struct source *s, uint64_t offset, void *buffer, size_t length,
					 struct tracemend_error *error)
{
	(void)error;
	memcpy(buffer, (const uint8_t *)s->data + offset, length);
	return TM_OK;
}

const struct source_ops bundle_memory_ops = { .read = memory_read };

struct source *bundle_add_memory(struct bundle *b, const char *name, const void *data, uint64_t size)
{
	return bundle_add_source(b, TM_ROLE_INPUT, SOURCE_FILE, name, size, &bundle_memory_ops, (void *)(uintptr_t)data);
}

static int source_order(const void *left, const void *right)
{
	const struct source *a = *(struct source *const *)left, *b = *(struct source *const *)right;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	int order = strcmp(a->name, b->name);
	if (order)
		return order;
	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void bundle_sort(struct bundle *b)
{
	if (b->count)
		qsort(b->sources, b->count, sizeof(*b->sources), source_order);
	/* An archive may hold a name twice. The last member stays, as when it is unpacked to disk. */
	size_t kept = 0;
	for (size_t i = 0; i < b->count; i++) {
		struct source *s = b->sources[i];
		struct source *next = i + 1 < b->count ? b->sources[i + 1] : NULL;
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no entry is NULL */
		if (next && s->role == TM_ROLE_INPUT && next->role == s->role && !strcmp(s->name, next->name)) {
			b->bytes_total -= s->size;
			source_free(s);
			continue;
		}
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no entry is NULL */
		s->index = (uint32_t)kept;
		b->sources[kept++] = s;
	}
	b->count = kept;
}

struct source *bundle_find(const struct bundle *b, enum tracemend_role role, const char *name)
{
	struct source *const *s = b->sources;
	size_t i;
	array_search(i, b->count, s[i]->role < role || (s[i]->role == role && strcmp(s[i]->name, name) < 0));
	return i < b->count && s[i]->role == role && !strcmp(s[i]->name, name) ? s[i] : NULL;
}

struct source *bundle_single(const struct bundle *b)
{
	if (b->directory || !b->count || b->sources[0]->role != TM_ROLE_INPUT || b->sources[0]->kind != SOURCE_FILE)
		return NULL;
	return b->sources[0];
}

enum tracemend_status bundle_unchanged(struct bundle *b, struct tracemend_error *error)
{
	enum tracemend_status status = TM_OK;

	for (size_t i = 0; i < b->count && status == TM_OK; i++) {
		struct source *s = b->sources[i];
		if (s->kind == SOURCE_FILE && s->ops->unchanged)
			status = s->ops->unchanged(s, error);
	}
	return status;
}

int source_descriptor(struct source *s)
{
	return s->kind == SOURCE_FILE && s->ops->descriptor ? s->ops->descriptor(s) : -1;
}

enum tracemend_status bundle_goes_on(struct bundle *b, uint64_t done, uint64_t total)
{
	if (!b->progress || b->progress(b->progress_ctx, done, total))
		return TM_OK;
	return fault_set(&b->error, TM_CANCELLED, "stopped on request");
}

enum tracemend_status bundle_passed(struct bundle *b, uint64_t length)
{
	b->bytes_read += length;
	if (b->bytes_read < b->progress_next)
		return TM_OK;
	b->progress_next = b->bytes_read + (4u << 20);
	return bundle_goes_on(b, b->bytes_read, b->bytes_total);
}

enum tracemend_status source_read(struct source *s, uint64_t offset, void *buffer, size_t length)
{
	struct bundle *b = s->bundle;

	if (s->kind != SOURCE_FILE || offset > s->size || length > s->size - offset)
		return fault_set(&b->error, TM_IO, "%s%s%s: read past the end", s->origin, *s->name ? ": " : "", s->name);
	if (!length)
		return TM_OK;
	enum tracemend_status status = bundle_passed(b, length);
	if (status != TM_OK)
		return status;
	status = s->ops->read(s, offset, buffer, length, &b->error);
	/* The engine looks at b->error after the walk, so a walk that ignores the failure cannot hide it. */
	if (status != TM_OK)
		(void)fault_set(&b->error, status, "%s%s%s: cannot be read", s->origin, *s->name ? ": " : "", s->name);
	return status;
}
