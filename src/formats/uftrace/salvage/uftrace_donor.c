/* What a donor has: files and lines. */
#include "formats/uftrace/salvage/uftrace_donor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_str.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_session.h"

#define HEAD_BYTES 2048u	  /* the comments of a symbol file are within */
#define INFO_BYTES (1024u * 1024) /* of a donor's info that is looked at */

/* The first bytes of a donor's file; they end with a NUL. NULL: none, or no memory (w->status). */
static char *read_start(struct uftrace_walk *w, struct source *source, size_t most, size_t *size)
{
	*size = source->size < most ? (size_t)source->size : most;
	char *text = malloc(*size + 1);

	if (!text) {
		uftrace_walk_fail(w, TM_NO_MEMORY);
		return NULL;
	}
	if (source_read(source, 0, text, *size) != TM_OK) {
		free(text);
		uftrace_walk_fail(w, source->bundle->error.status);
		return NULL;
	}
	text[*size] = '\0';
	return text;
}

/* The rest of the first line that begins with key. */
static struct uftrace_str line_of(const char *text, size_t size, const char *key)
{
	struct uftrace_str rest = { text, size }, line;
	size_t n = strlen(key);

	while (uftrace_str_next(&rest, '\n', &line))
		if (uftrace_str_begins(line, key))
			return (struct uftrace_str){ line.text + n, line.length - n };
	return (struct uftrace_str){ NULL, 0 };
}

/* Whether the recording's own debug information of that name is not of another build. */
static bool is_own_build(struct uftrace_walk *w, const char *name, struct uftrace_str build_id)
{
	char own[256];
	size_t n = strlen(name) - 4, size;

	if (n + 5 > sizeof(own))
		return false;
	(void)snprintf(own, sizeof(own), "%.*s.dbg", (int)n, name);
	uint32_t file = uftrace_dir_find(w->dir, own);
	char *head = file != UFTRACE_NONE ? read_start(w, w->dir->files[file].source, HEAD_BYTES, &size) : NULL;
	struct uftrace_str id = head ? line_of(head, size, "# build-id: ") : (struct uftrace_str){ NULL, 0 };
	bool same = !id.length || !build_id.length || uftrace_str_equal(id, build_id);
	free(head);
	return same;
}

/* Whether a program of that path and build is in a map; where one of them has no build id, by its path. */
static bool is_mapped(const struct uftrace_walk *w, struct uftrace_str path, struct uftrace_str build_id)
{
	for (size_t i = 0; i < w->maps->count; i++)
		for (size_t k = 0; k < w->maps->list[i].count; k++) {
			const struct uftrace_mapping *m = &w->maps->list[i].list[k];
			if (path.length && uftrace_str_equal(m->path, path) &&
			    (!m->build_id.length || !build_id.length || uftrace_str_equal(m->build_id, build_id)))
				return true;
		}
	return false;
}

bool uftrace_donor_files(struct uftrace_walk *w)
{
	for (uint32_t i = 0; w->plan && i < w->dir->count; i++) {
		struct uftrace_file *f = &w->dir->files[i];
		struct uftrace_name name;
		const char *own = f->source->name;
		size_t size;
		if (f->source->role != TM_ROLE_DONOR || f->source->kind != SOURCE_FILE)
			continue;
		enum uftrace_kind kind = uftrace_name_read(&name, own);
		if ((kind != UFTRACE_FILE_SYM && kind != UFTRACE_FILE_DBG) || uftrace_dir_find(w->dir, own) != UFTRACE_NONE)
			continue;
		char *head = read_start(w, f->source, HEAD_BYTES, &size);
		if (!head)
			return false;
		struct uftrace_str id = line_of(head, size, "# build-id: ");
		if (is_mapped(w, line_of(head, size, "# path name: "), id) && is_own_build(w, own, id)) {
			uftrace_dir_adopt(w->dir, i, own);
			f->planned = false;
		}
		free(head);
		if (w->status != TM_OK)
			return false;
	}
	return true;
}

static bool is_program(const struct uftrace_walk *w, struct uftrace_str path)
{
	bool same = path.length && uftrace_str_equal(w->info->exename, path);

	for (size_t i = 0; i < w->sessions->count && !same && path.length; i++)
		same = uftrace_str_equal(w->sessions->list[i].exename, path);
	return same;
}

/* *specs: the line has specifications, or says that there are automatic ones. */
static bool is_wanted(struct uftrace_str line, bool *specs)
{
	static const char *const keys[] = { "argspec:", "retspec:", "argauto:", "retauto:", "enumauto:", "auto-args:" };

	if (uftrace_str_begins(line, "argspec:lines="))
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (uftrace_str_begins(line, keys[i]))
			return *specs = true;
	return uftrace_str_begins(line, "pattern_type:");
}

bool uftrace_donor_specs(struct uftrace_walk *w, struct bytes *lines)
{
	bool specs = false;

	for (size_t i = 0; w->plan && i < w->dir->count; i++) {
		struct source *source = w->dir->files[i].source;
		size_t size;
		if (source->role != TM_ROLE_DONOR || source->kind != SOURCE_FILE || strcmp(source->name, "info") != 0)
			continue;
		char *text = read_start(w, source, INFO_BYTES, &size);
		if (!text)
			return false;
		bool info = size > UFTRACE_HEADER_SIZE && !memcmp(text, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE);
		if (info && is_program(w, line_of(text + UFTRACE_HEADER_SIZE, size - UFTRACE_HEADER_SIZE, "exename:"))) {
			struct uftrace_str rest = { text + UFTRACE_HEADER_SIZE, size - UFTRACE_HEADER_SIZE }, line;
			while (uftrace_str_next(&rest, '\n', &line))
				if (is_wanted(line, &specs)) {
					bytes_append(lines, line.text, line.length);
					bytes_text(lines, "\n");
				}
		}
		free(text);
		if (lines->failed)
			return uftrace_walk_fail(w, TM_NO_MEMORY);
	}
	if (!specs) /* how they would match says nothing alone */
		bytes_free(lines);
	return true;
}
