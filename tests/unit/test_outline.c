/* core/outline.h over the corpus: an outline nests, tiles and writes what it read; a record that is left out leaves a file
 * whose structure is sound. */
#include "unit.h"

#include <dirent.h>

#include "../../fuzz/capture.h"
#include "core/outline.h"
#include "engine/engine.h"

/* Records of one file that are left out, one at a time; spread over the file. */
#define DELETIONS_MAX 60u

static char *read_whole(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;
	if (f && !fseek(f, 0, SEEK_END)) {
		*size = (size_t)ftell(f);
		rewind(f);
		data = malloc(*size + 1);
		assert_non_null(data);
		assert_int_equal(fread(data, 1, *size, f), *size);
		fclose(f);
	}
	return data;
}

static const char *profile_of(const struct format *f, const char *name)
{
	for (const char *const *p = f->public.profiles; p && *p; p++)
		if (strstr(name, *p))
			return *p;
	return f->public.profiles ? f->public.profiles[0] : NULL;
}

/* The outputs as a bundle of their own. */
static struct bundle *bundle_of(const struct outline *o, const struct outline_output *out, const struct tracemend_options *options)
{
	struct bundle *b = bundle_new("outline", options);
	assert_non_null(b);
	b->directory = o->directory;
	for (uint32_t i = 0; i < o->file_count; i++)
		if (!out[i].deleted)
			assert_non_null(bundle_add_memory(b, o->files[i].name,
							  out[i].bytes.size ? out[i].bytes.data : (const uint8_t *)"",
							  out[i].bytes.size));
	bundle_sort(b);
	return b;
}

static void outputs_free(struct outline_output *out, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes_free(&out[i].bytes);
	free(out);
}

/* Children tile their parent, fields lie on their leaf. Returns the parts below. */
static unsigned check_tree(const struct outline *o, uint32_t part)
{
	const struct part *p = &o->parts[part];
	unsigned parts = 1;
	uint32_t at = p->offset, last = 0;

	for (uint32_t i = p->first; i != OUTLINE_NONE; i = o->parts[i].next) {
		assert_int_equal(o->parts[i].parent, part);
		assert_int_equal(o->parts[i].offset, at);
		at += o->parts[i].length;
		parts += check_tree(o, i);
	}
	if (p->first != OUTLINE_NONE)
		assert_int_equal(at, p->offset + p->length);
	for (uint32_t i = p->fields; i != OUTLINE_NONE; i = o->parts[i].next) {
		const struct part *f = &o->parts[i];
		assert_true(f->offset >= p->offset && f->offset + f->length <= p->offset + p->length);
		assert_true(f->offset >= last);
		last = f->offset;
	}
	return parts;
}

static bool is_structural(const char *class_name)
{
	return !strcmp(class_name, "malformed") || !strcmp(class_name, "size") || !strcmp(class_name, "alignment") ||
	       !strcmp(class_name, "truncation");
}

/* The structural error that check finds in what the outline writes; NULL: none. Only in that file: what other files say of
 * a part that is gone (the sizes of arguments, of a function without its symbol) are dangling references. */
static const struct tracemend_finding *structural(struct outline *o, const struct format *f, const char *profile, const char *file,
						  struct tracemend_report **report)
{
	const struct tracemend_options options = { .format = f->public.name, .profile = profile, .max_findings = 0 };
	struct outline_output *out = calloc(o->file_count, sizeof(*out));
	struct tracemend_error error;
	enum tracemend_status status;
	uint32_t misfits;

	assert_non_null(out);
	assert_int_equal(outline_write(o, out, &misfits), TM_OK);
	/* Also what was left out of a stream is gone from the file. */
	bool changed = false;
	for (uint32_t i = 0; i < o->file_count; i++)
		changed = changed || out[i].bytes.size != o->files[i].size ||
			  (o->files[i].size && memcmp(out[i].bytes.data, o->files[i].data, o->files[i].size) != 0);
	assert_true(changed);
	struct bundle *b = bundle_of(o, out, &options);
	*report = engine_scan(b, f, &options, NULL, &status, &error);
	assert_non_null(*report);
	const struct tracemend_finding *found = NULL;
	for (size_t i = 0; i < tracemend_report_finding_count(*report) && !found; i++) {
		const struct tracemend_finding *fd = tracemend_report_finding(*report, i);
		if (fd->severity == TM_ERROR && !strcmp(fd->file, file) && is_structural(fd->rule->class_name))
			found = fd;
	}
	bundle_free(b);
	outputs_free(out, o->file_count);
	return found;
}

struct tally {
	unsigned files, streams, parts, records, deletions, broken;
	uint64_t declared, bytes;
};

static void check_identity(struct outline *o, const char *path)
{
	struct outline_output *out = calloc(o->file_count + 1, sizeof(*out));
	uint32_t misfits;
	assert_non_null(out);
	assert_int_equal(outline_write(o, out, &misfits), TM_OK);
	for (uint32_t i = 0; misfits && i < o->count; i++)
		if (o->parts[i].room && o->lengths[i] > o->parts[i].room)
			print_error("%s at %u: %u bytes, room for %u\n", o->parts[i].name, o->parts[i].offset, o->lengths[i],
				    o->parts[i].room);
	if (misfits)
		fail_msg("%s: %u measures do not fit", path, misfits);
	for (uint32_t i = 0; i < o->file_count; i++)
		if (out[i].bytes.size != o->files[i].size ||
		    (o->files[i].size && memcmp(out[i].bytes.data, o->files[i].data, o->files[i].size) != 0))
			fail_msg("%s: '%s' is not what it was", path, o->files[i].name);
	outputs_free(out, o->file_count);
}

static void check_deletions(struct outline *o, const struct format *f, const char *profile, const char *path, struct tally *t)
{
	uint32_t records = 0, n = 0;
	for (uint32_t i = 0; i < o->count; i++)
		records += o->parts[i].kind == PART_RECORD && !(o->parts[i].flags & PART_FIXED);
	uint32_t step = records / DELETIONS_MAX + 1;
	t->records += records;
	for (uint32_t i = 0; i < o->count; i++) {
		if (o->parts[i].kind != PART_RECORD || o->parts[i].flags & PART_FIXED || n++ % step)
			continue;
		struct tracemend_report *report;
		outline_delete(o, i);
		const struct tracemend_finding *fd = structural(o, f, profile, o->files[o->parts[i].file].name, &report);
		t->deletions++;
		if (fd) {
			t->broken++;
			if (t->broken <= 10)
				print_error("%s: without the %s at %u+%u of '%s': %s at %llu of '%s': %s\n", path, o->parts[i].name,
					    o->parts[i].offset, o->parts[i].length, o->files[o->parts[i].file].name, fd->rule->id,
					    (unsigned long long)fd->offset, fd->file, fd->message);
		}
		tracemend_report_free(report);
		outline_restore(o, i);
	}
}

static void check_file(const struct format *f, const char *folder, const char *name, bool valid, struct tally *t)
{
	char path[512];
	size_t size = 0;
	struct capture c;
	struct outline o;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	char *data = read_whole(path, &size);
	if (!data)
		return;
	capture_parse(&c, (const uint8_t *)data, size);
	const char *profile = profile_of(f, name);
	for (int fields = 0; fields < 2; fields++) {
		struct bundle *b = capture_bundle(&c, NULL, NULL);
		assert_non_null(b);
		assert_int_equal(outline_make(&o, b, f, profile, fields != 0), TM_OK);
		for (uint32_t i = 0; i < o.file_count + o.stream_count; i++) {
			t->parts += check_tree(&o, o.files[i].part);
			t->bytes += o.files[i].size;
		}
		check_identity(&o, path);
		if (valid && fields)
			check_deletions(&o, f, profile, path, t);
		t->files += fields != 0;
		t->streams += fields ? o.stream_count : 0;
		outline_free(&o);
		bundle_free(b);
	}
	capture_free(&c);
	free(data);
}

static void check_folder(const struct format *f, const char *kind, struct tally *t)
{
	char folder[256];
	struct dirent **list;

	snprintf(folder, sizeof(folder), "corpus/%s/%s", f->public.name, kind);
	int n = scandir(folder, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		/* Archives and compressed files are the container's. */
		const char *name = list[i]->d_name, *dot = strrchr(name, '.');
		if (name[0] != '.' && dot && strcmp(dot, ".gz") != 0 && strcmp(dot, ".zst") != 0)
			check_file(f, folder, name, !strcmp(kind, "valid"), t);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static void test_corpus(void **state)
{
	static const char *const kinds[] = { "valid", "invalid", "damaged", "regress" };
	unsigned broken = 0;
	(void)state;

	for (size_t i = 0; i < formats_count; i++) {
		struct tally t = { 0 };
		if (!formats[i]->outline || !format_wanted(formats[i]->public.name))
			continue;
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			check_folder(formats[i], kinds[k], &t);
		print_message("outline: %s: %u files, %u streams, %u parts, %u records in valid files, %u of %u left out with "
			      "structural errors\n",
			      formats[i]->public.name, t.files, t.streams, t.parts, t.records, t.broken, t.deletions);
		broken += t.broken;
	}
	assert_int_equal(broken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),
	};
	return RUN(tests);
}
