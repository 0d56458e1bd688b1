/* A part of a bundle: one of several captures in an archive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bundle.h"
#include "core/unpack.h"

static enum tracemend_status part_read(struct source *s, uint64_t offset, void *buffer, size_t length,
				       struct tracemend_error *error)
{
	struct source *whole = s->data;
	enum tracemend_status status = source_read(whole, offset, buffer, length);

	return status == TM_OK ? TM_OK : fault_set(error, status, "%s", whole->bundle->error.message);
}

static const struct source_ops part_ops = { .read = part_read };

static void part_add_file(struct bundle *part, struct source *s)
{
	struct source view = {
		.name = "", .origin = part->path, .size = s->size, .bundle = part, .ops = &part_ops, .data = s, .fd = -1
	};
	uint8_t head[UNPACK_PEEK];
	size_t got = s->size < sizeof(head) ? (size_t)s->size : sizeof(head);

	if (source_read(&view, 0, head, got) != TM_OK)
		return;
	if (unpack_recognises(head, got))
		(void)unpack_into(part, &view, TM_ROLE_INPUT);
	else
		(void)bundle_add_source(part, TM_ROLE_INPUT, SOURCE_FILE, "", s->size, &part_ops, s);
}

static void part_add_directory(struct bundle *part, struct bundle *whole, const char *name)
{
	size_t prefix = strlen(name);

	part->directory = true;
	for (size_t i = 0; i < whole->count && part->error.status == TM_OK; i++) {
		struct source *s = whole->sources[i];
		if (s->role != TM_ROLE_INPUT || (prefix && (strncmp(s->name, name, prefix) != 0 || s->name[prefix] != '/')))
			continue;
		(void)bundle_add_source(part, TM_ROLE_INPUT, s->kind, s->name + prefix + (prefix ? 1 : 0), s->size, &part_ops, s);
	}
}

struct bundle *bundle_part(struct bundle *whole, bool directory, const char *name, const struct tracemend_options *options,
			   struct tracemend_error *error)
{
	char *path = NULL;

	if (asprintf(&path, "%s%s%s", whole->path, *name ? "/" : "", name) < 0)
		path = NULL;
	struct bundle *part = path ? bundle_new(path, options) : NULL;
	free(path);
	if (!part) {
		(void)fault_memory(error);
		return NULL;
	}
	part->unpacked = whole->unpacked;
	struct source *file = directory ? NULL : bundle_find(whole, TM_ROLE_INPUT, name);
	if (directory)
		part_add_directory(part, whole, name);
	else if (file && file->kind == SOURCE_FILE)
		part_add_file(part, file);
	bundle_sort(part);
	if (!part->bytes_unpacked && part->unpacked)
		part->bytes_unpacked = part->bytes_total;
	if (part->error.status != TM_OK) {
		(void)fault_set(error, part->error.status, "%s", part->error.message);
		bundle_free(part);
		return NULL;
	}
	return part;
}
