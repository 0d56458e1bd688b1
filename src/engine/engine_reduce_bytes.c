/* Reducing captures of unknown structure: whole files of a directory, then ranges of bytes. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_reduce.h"

/* The best with other content of one file (NULL: without the file). NULL: out of memory. */
static struct tracemend_sample *bytes_candidate(struct reduction *r, const char *name, const struct bytes *content)
{
	struct tracemend_sample *s = reduction_blank(r);

	for (size_t i = 0; s && i < r->best->gen.file_count; i++) {
		const struct gen_file *file = &r->best->gen.files[i];
		bool other = !strcmp(file->name, name);
		if (other && !content)
			continue;
		struct bytes *copy = gen_file(&s->gen, file->name);
		if (copy)
			bytes_append(copy, other ? content->data : file->bytes.data, other ? content->size : file->bytes.size);
		if (copy)
			s->gen.files[s->gen.file_count - 1].link = file->link;
	}
	return s;
}

static bool bytes_without_file(struct reduction *r, const char *name)
{
	return reduction_offer(r, bytes_candidate(r, name, NULL));
}

/* Bytes of candidates for one content, roughly. Of long content only long ranges are removed; as it becomes shorter, so do the
 * ranges, down to single bytes. */
#define RANGES_WORK (UINT64_C(192) << 20)

bool reduction_ranges(struct reduction *r, struct bytes *content, size_t finest, reduction_shorter offer, void *ctx)
{
	size_t step = 1, affordable = (size_t)(2 * (uint64_t)content->size * content->size / RANGES_WORK);
	bool any = false;

	finest = finest > affordable ? finest : affordable;
	while (step < content->size)
		step *= 2;
	for (; step > finest && content->size && !content->failed && !r->stop && !r->renew; step /= 2) {
		size_t end = content->size;
		while (end && !r->stop && !r->renew) {
			size_t begin = (end - 1) / step * step;
			struct bytes shorter = { 0 };
			bytes_append(&shorter, content->data, begin);
			bytes_append(&shorter, content->data + end, content->size - end);
			if (!shorter.failed && offer(ctx, &shorter)) {
				bytes_free(content);
				*content = shorter;
				any = true;
			} else {
				bytes_free(&shorter);
			}
			end = begin;
		}
	}
	return any;
}

struct bytes_file {
	struct reduction *r;
	const char *name;
};

/* reduction_shorter */
static bool bytes_offer(void *ctx, const struct bytes *shorter)
{
	const struct bytes_file *file = ctx;

	return reduction_offer(file->r, bytes_candidate(file->r, file->name, shorter));
}

static bool bytes_of_file(struct reduction *r, const char *name)
{
	struct bytes_file file = { .r = r, .name = name };
	struct bytes content = { 0 };

	for (size_t i = 0; i < r->best->gen.file_count; i++)
		if (!strcmp(r->best->gen.files[i].name, name))
			bytes_append(&content, r->best->gen.files[i].bytes.data, r->best->gen.files[i].bytes.size);
	bool any = reduction_ranges(r, &content, 0, bytes_offer, &file);
	bytes_free(&content);
	return any;
}

/* A copy of the names, since the files change during the loop. */
static char **bytes_names(struct reduction *r, size_t *count)
{
	const struct gen *g = &r->best->gen;
	char **names = calloc(g->file_count + 1, sizeof(*names));

	*count = 0;
	for (size_t i = 0; names && i < g->file_count; i++)
		if ((names[*count] = strdup(g->files[i].name)))
			++*count;
	return names;
}

bool reduction_bytes(struct reduction *r)
{
	size_t count;
	char **names = bytes_names(r, &count);
	bool any = false;

	if (!names) {
		(void)fault_memory(r->error);
		r->stop = true;
		return false;
	}
	for (size_t i = count; i-- > 0 && !r->stop;) {
		bool gone = r->best->directory && count > 1 && bytes_without_file(r, names[i]);
		any = gone || any;
		if (!gone)
			any = bytes_of_file(r, names[i]) || any;
	}
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return any;
}
