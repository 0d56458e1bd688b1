/* Recognising inputs, and searching those that are no capture for the captures in them. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "engine/engine.h"

const char *tracemend_recognise(struct tracemend_input *input, const struct tracemend_options *options,
				struct tracemend_error *error)
{
	struct tracemend_options own;
	struct tracemend_error fallback;

	error = engine_begin(error, &fallback);
	if (!input || !engine_options(&own, options, error))
		return input ? NULL : engine_null(error, "input");
	const struct format *f = format_recognise(input->bundle, &own, error);
	return f ? f->public.name : NULL;
}

/* The names that recorders and `gen` give to captures, in front of which a directory may stand and behind which a compression may.
 */
bool tracemend_name_expected(const char *path)
{
	static const char *const names[] = {
		"*.fxt",       "*.ktrace", "trace*.dat", "*.dat.cpu[0-9]", "*.dat.cpu[0-9][0-9]", "*.dat.cpu[0-9][0-9][0-9]",
		"uftrace.data"
	};
	static const char *const packed[] = { ".gz", ".zst", ".xz", ".bz2" };
	if (!path)
		return false;
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t length = strlen(base);
	bool expected = false;

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		size_t n = strlen(packed[i]);
		if (length > n && !strcmp(base + length - n, packed[i])) {
			length -= n;
			break;
		}
	}
	char *bare = strndup(base, length);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && bare; i++)
		expected = expected || !fnmatch(names[i], bare, 0);
	free(bare);
	return expected;
}

/* Whether the topmost files of a bundle are a capture, without the directories beside them. */
static bool top_is_recognised(struct bundle *b)
{
	struct bundle top = *b; /* no window or source of it is kept */
	struct source **files = calloc(b->count ? b->count : 1, sizeof(struct source *));

	top.sources = files;
	top.count = 0;
	for (size_t i = 0; i < b->count && files; i++)
		if (b->sources[i]->role == TM_ROLE_INPUT && !strchr(b->sources[i]->name, '/'))
			files[top.count++] = b->sources[i];
	bool recognised = files && format_recognise(&top, NULL, &(struct tracemend_error){ 0 });
	free(files);
	return recognised;
}

static bool bundle_is_tree(struct bundle *b, unsigned depth);

/* Whether a part is a capture (*tree: or has several). One that cannot be read is none. */
static bool part_is_capture(struct bundle *b, bool directory, const char *name, unsigned depth, bool *tree)
{
	struct tracemend_options options = { .found = true };
	struct tracemend_error error = { 0 };
	struct bundle *part = bundle_part(b, directory, name, &options, &error);
	bool capture = part && format_recognise(part, &options, &error);

	*tree = capture && directory && depth < BUNDLE_DEPTH_MAX && bundle_is_tree(part, depth + 1);
	bundle_free(part);
	return capture;
}

/* Whether a bundle has several captures: none at its top, and two or more in directories of their own, or one beside captures that
 * are files. A format that looks below the topmost directory takes these for one. */
static bool bundle_is_tree(struct bundle *b, unsigned depth)
{
	size_t captures = 0, length = 0;
	bool tree = false, files = false;

	if (!b->directory || !format_recognise(b, NULL, &(struct tracemend_error){ 0 }) || top_is_recognised(b))
		return false;
	for (size_t i = 0; i < b->count && b->sources[i]->role == TM_ROLE_INPUT && captures < 2 && !tree; i++) {
		const char *name = b->sources[i]->name, *slash = strchr(name, '/');
		if (!slash) {
			bool ignored;
			files = files || (b->sources[i]->kind == SOURCE_FILE && part_is_capture(b, false, name, depth, &ignored));
			length = 0;
			continue;
		}
		if (length && !strncmp(b->sources[i - 1]->name, name, length + 1))
			continue;
		length = (size_t)(slash - name);
		char *directory = strndup(name, length);
		captures += directory && part_is_capture(b, true, directory, depth, &tree);
		free(directory);
	}
	return tree || captures > 1 || (captures && files);
}

bool tracemend_is_tree(struct tracemend_input *input)
{
	return input && bundle_is_tree(input->bundle, 0);
}

struct search {
	struct tracemend_input *input;
	struct tracemend_options options;
	size_t passed_over;
	struct tracemend_error *error;
	struct tracemend_input *last; /* the part with the last member of the archive, */
	uint64_t last_serial;	      /* which has this serial */
};

static bool search_keep(struct search *s, struct bundle *part)
{
	struct tracemend_input *input = s->input;

	if (array_room(&input->parts, &input->part_capacity, input->part_count, sizeof(*input->parts), BUNDLE_SOURCES_MAX) !=
		    TM_OK ||
	    !(input->parts[input->part_count] = input_from_bundle(part, s->error))) {
		(void)fault_memory(s->error);
		return false;
	}
	input->part_count++;
	return true;
}

static void search_note_last(struct search *s, const struct source *member)
{
	if (s->last && member->serial < s->last_serial)
		return;
	s->last = s->input->parts[s->input->part_count - 1];
	s->last_serial = member->serial;
}

/* Whether the search can go on. A part that is not kept is freed. */
static bool search_offer(struct search *s, struct bundle *part, bool expected, bool *kept)
{
	struct tracemend_options options = s->options;

	options.found = !expected;
	*kept = format_recognise(part, &options, &(struct tracemend_error){ 0 }) && !bundle_is_tree(part, 0);
	/* The check of an expected one will say that it is none. */
	if (part->error.status != TM_OK)
		(void)fault_set(s->error, part->error.status, "%s", part->error.message);
	*kept = *kept || expected;
	if (part->error.status != TM_OK || !*kept) {
		enum tracemend_status status = part->error.status;
		bundle_free(part);
		return status == TM_OK;
	}
	return search_keep(s, part);
}

static bool search_file(struct search *s, const struct source *member)
{
	bool expected = tracemend_name_expected(member->name), kept = false;

	if (member->kind != SOURCE_FILE || (!member->size && !expected)) {
		s->passed_over += member->kind != SOURCE_DIRECTORY;
		return true;
	}
	struct bundle *part = bundle_part(s->input->bundle, false, member->name, &s->options, s->error);
	if (!part || !search_offer(s, part, expected, &kept))
		return false;
	if (kept)
		search_note_last(s, member);
	else
		s->passed_over++;
	return true;
}

/* Searches the members from first to end, whose names begin with the same `prefix` bytes: a directory and its '/'. */
static bool search_directory(struct search *s, size_t first, size_t end, size_t prefix, unsigned depth)
{
	struct source **members = s->input->bundle->sources;

	if (depth) {
		char *name = strndup(members[first]->name, prefix - 1);
		struct bundle *part = name ? bundle_part(s->input->bundle, true, name, &s->options, s->error) : NULL;
		bool kept = false;
		free(name);
		if (!part || !search_offer(s, part, false, &kept))
			return false;
		if (kept) {
			for (size_t i = first; i < end; i++)
				search_note_last(s, members[i]);
			return true;
		}
	}
	for (size_t i = first; i < end;) {
		const char *slash = strchr(members[i]->name + prefix, '/');
		size_t length = slash ? (size_t)(slash - members[i]->name) + 1 : 0, next = i + 1;
		while (slash && next < end && !strncmp(members[next]->name, members[i]->name, length))
			next++;
		if (slash && depth < BUNDLE_DEPTH_MAX) {
			if (!search_directory(s, i, next, length, depth + 1))
				return false;
		} else if (slash) {
			s->passed_over += next - i;
		} else if (!search_file(s, members[i])) {
			return false;
		}
		i = next;
	}
	return true;
}

size_t tracemend_split(struct tracemend_input *input, const struct tracemend_options *options, size_t *passed_over,
		       struct tracemend_error *error)
{
	struct tracemend_error fallback;
	struct search s = { .input = input, .error = engine_begin(error, &fallback) };
	size_t end = 0;

	if (!input || !engine_options(&s.options, options, s.error)) {
		if (!input)
			(void)engine_null(s.error, "input");
		return 0;
	}
	struct bundle *b = input->bundle;
	while (end < b->count && b->sources[end]->role == TM_ROLE_INPUT)
		end++;
	if (!b->directory || input->part_count || !search_directory(&s, 0, end, 0, 0))
		return s.error->status == TM_OK ? input->part_count : 0;
	/* What was cut off an archive is missing from its last member. */
	if (s.last && *b->damage)
		memcpy(s.last->bundle->damage, b->damage, sizeof(b->damage));
	if (passed_over)
		*passed_over += s.passed_over;
	return input->part_count;
}

struct tracemend_input *tracemend_part(struct tracemend_input *input, size_t index, const char **path)
{
	struct tracemend_input *part = input && index < input->part_count ? input->parts[index] : NULL;

	if (path)
		*path = part ? part->bundle->path : NULL;
	return part;
}
