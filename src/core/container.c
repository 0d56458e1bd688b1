#include "core/container.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "core/facts.h"
#include "core/line_ends.h"
#include "core/text.h"

const struct tracemend_rule container_rules[CONTAINER_RULE_COUNT] = {
#define RULE(symbol, id, severity, class, ...) RULE_ROW("container", id, severity, class, __VA_ARGS__)
#include "core/container_rules.def"
#undef RULE
};

void container_report(const struct bundle *b, struct findings *f)
{
	if (*b->damage) {
		struct finding *fd = finding_new(f, CONTAINER_RULE_truncated, NULL, 0, 0);
		const struct source *last = NULL;
		for (size_t i = 0; i < b->count && b->directory; i++)
			if (b->sources[i]->role == TM_ROLE_INPUT && (!last || b->sources[i]->serial > last->serial))
				last = b->sources[i];
		char name[TEXT_QUOTE_SIZE];
		finding_say(fd, "unpacking stopped early: %s%s%s", b->damage, last ? "; the last file that came out is " : "",
			    last ? text_quote(name, last->name, strlen(last->name)) : "");
	} else if (b->unpacked) {
		struct finding *fd = finding_new(f, CONTAINER_RULE_compressed, NULL, 0, 0);
		finding_say(fd, "unpacked from an archive or compressed file: %zu file%s, %llu byte%s", b->count,
			    b->count == 1 ? "" : "s", (unsigned long long)b->bytes_unpacked, b->bytes_unpacked == 1 ? "" : "s");
	}
	if (b->line_ends) {
		struct finding *fd = finding_new(f, CONTAINER_RULE_line_ends, NULL, 0, 0);
		finding_say(fd, "%llu bytes 0x0d were put in front of bytes 0x0a, as if this were text; it is read without them",
			    (unsigned long long)b->line_ends);
	}
}

/* ---- breakers ---- */

static void container_break_compressed(struct gen *g, struct bytes *packed)
{
	(void)g;
	(void)packed;
}

/* The files were converted before they were packed. */
static void container_break_line_ends(struct gen *g, struct bytes *packed)
{
	(void)g;
	(void)packed;
}

static void container_break_truncated(struct gen *g, struct bytes *packed)
{
	/* In the trailer of 8 bytes (RFC 1952, 2.3.1): the whole capture can still be unpacked. */
	size_t cut = 1 + (size_t)choices_below(g->choices, 8);
	if (packed->size > cut)
		packed->size -= cut;
}

static void (*const breakers[CONTAINER_RULE_COUNT])(struct gen *g, struct bytes *packed) = {
#define RULE(symbol, ...) [CONTAINER_RULE_##symbol] = container_break_##symbol,
#include "core/container_rules.def"
#undef RULE
};

/* Puts 0x0d in front of each 0x0a of the binary files. TM_USAGE: there are too few. */
static enum tracemend_status convert_line_ends(struct gen *g)
{
	uint64_t converted = 0;

	for (size_t i = 0; i < g->file_count; i++) {
		struct bytes *from = &g->files[i].bytes, to = { 0 };
		if (g->files[i].link || !from->size || !memchr(from->data, 0, from->size))
			continue;
		for (size_t at = 0; at < from->size; at++) {
			if (from->data[at] == '\n') {
				bytes_append(&to, "\r", 1);
				converted++;
			}
			bytes_append(&to, from->data + at, 1);
		}
		bytes_free(from);
		*from = to;
		g->failed = g->failed || to.failed;
	}
	return converted < LINE_ENDS_FEWEST ? TM_USAGE : TM_OK;
}

static la_ssize_t pack_write(struct archive *a, void *data, const void *buffer, size_t length)
{
	struct bytes *packed = data;
	bytes_append(packed, buffer, length);
	if (packed->failed)
		archive_set_error(a, ENOMEM, "%s", "out of memory");
	return packed->failed ? -1 : (la_ssize_t)length;
}

static bool pack_file(struct archive *a, const struct gen_file *file, bool directory)
{
	struct archive_entry *entry = archive_entry_new();
	if (!entry)
		return false;
	archive_entry_set_pathname(entry, directory ? file->name : "capture");
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (la_int64_t)file->bytes.size);
	bool ok = archive_write_header(a, entry) == ARCHIVE_OK &&
		  archive_write_data(a, file->bytes.data, file->bytes.size) == (la_ssize_t)file->bytes.size;
	archive_entry_free(entry);
	return ok;
}

/* An entry for the directory itself makes the archive a directory, even with a single file. */
static bool pack_root(struct archive *a)
{
	struct archive_entry *entry = archive_entry_new();
	if (!entry)
		return false;
	archive_entry_set_pathname(entry, "./");
	archive_entry_set_filetype(entry, AE_IFDIR);
	archive_entry_set_perm(entry, 0755);
	bool ok = archive_write_header(a, entry) == ARCHIVE_OK;
	archive_entry_free(entry);
	return ok;
}

enum tracemend_status container_break(struct gen *g, bool directory, unsigned rule)
{
	if (rule == CONTAINER_RULE_line_ends && convert_line_ends(g) != TM_OK)
		return TM_USAGE;
	struct bytes packed = { 0 };
	struct archive *a = archive_write_new();
	bool ok = a != NULL;

	if (ok) {
		(void)archive_write_add_filter_gzip(a);
		(void)(directory ? archive_write_set_format_ustar(a) : archive_write_set_format_raw(a));
		(void)archive_write_set_options(a, "gzip:!timestamp");
		(void)archive_write_set_bytes_in_last_block(a, 1);
		ok = archive_write_open(a, &packed, NULL, pack_write, NULL) == ARCHIVE_OK;
		ok = ok && (!directory || pack_root(a));
		for (size_t i = 0; i < g->file_count && ok; i++)
			ok = pack_file(a, &g->files[i], directory);
		ok = archive_write_close(a) == ARCHIVE_OK && ok;
		(void)archive_write_free(a);
	}
	if (!ok || packed.failed) {
		bytes_free(&packed);
		return packed.failed ? TM_NO_MEMORY : TM_BUG;
	}
	breakers[rule](g, &packed);
	gen_files_free(g);
	struct bytes *file = gen_file(g, "");
	if (!file) {
		bytes_free(&packed);
		return TM_NO_MEMORY;
	}
	*file = packed;
	return TM_OK;
}
