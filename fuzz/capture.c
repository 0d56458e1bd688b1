#include "capture.h"

#include <stdlib.h>
#include <string.h>

#define TAR_BLOCK 512u

static uint64_t tar_octal(const uint8_t *field, size_t length)
{
	uint64_t value = 0;
	for (size_t i = 0; i < length && value < UINT32_MAX; i++) {
		if (field[i] < '0' || field[i] > '7')
			break;
		value = value * 8 + (uint64_t)(field[i] - '0');
	}
	return value;
}

static size_t tar_text(char *out, const uint8_t *field, size_t length)
{
	size_t n = 0;
	while (n < length && field[n])
		n++;
	memcpy(out, field, n);
	out[n] = '\0';
	return n;
}

/* A relative path without empty, "." or ".." parts. */
static bool name_is_sane(const char *name)
{
	if (!*name)
		return false;
	for (const char *part = name;; part++) {
		size_t n = strcspn(part, "/");
		if (!n || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		part += n;
		if (!*part)
			return true;
	}
}

static enum tracemend_role name_role(char *name)
{
	enum tracemend_role role = TM_ROLE_INPUT;
	if (!strncmp(name, "@extra/", 7))
		role = TM_ROLE_EXTRA;
	else if (!strncmp(name, "@donor/", 7))
		role = TM_ROLE_DONOR;
	if (role != TM_ROLE_INPUT)
		memmove(name, name + 7, strlen(name + 7) + 1);
	return role;
}

const struct capture_file *capture_find(const struct capture *c, enum tracemend_role role, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->files[i].role == role && !strcmp(c->files[i].name, name))
			return &c->files[i];
	return NULL;
}

const struct capture_file *capture_find_shown(const struct capture *c, enum tracemend_role role, const char *shown)
{
	const struct capture_file *found = NULL;

	for (size_t i = 0; i < c->count && !found; i++) {
		size_t room = 4 * strlen(c->files[i].name) + 8;
		char *escaped = c->files[i].role == role ? malloc(room) : NULL;
		if (!escaped)
			continue;
		tracemend_escape(escaped, room, c->files[i].name);
		if (!strcmp(escaped, shown))
			found = &c->files[i];
		free(escaped);
	}
	return found;
}

/* A name that is also a directory of another file cannot exist on a disk. */
static bool name_collides(const struct capture *c, enum tracemend_role role, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < c->count; i++) {
		const struct capture_file *f = &c->files[i];
		size_t m = strlen(f->name);
		if (f->role != role)
			continue;
		if (!strncmp(f->name, name, n < m ? n : m) && (n == m || (n < m && f->name[n] == '/') || (m < n && name[m] == '/')))
			return true;
	}
	return false;
}

void capture_parse(struct capture *c, const uint8_t *data, size_t size)
{
	memset(c, 0, sizeof(*c));
	if (size < TAR_BLOCK || memcmp(data + 257, "ustar", 5) != 0) {
		c->count = 1;
		c->files[0].data = data;
		c->files[0].size = size;
		return;
	}
	c->directory = true;
	for (size_t at = 0; size - at >= TAR_BLOCK && c->count < CAPTURE_FILES_MAX;) {
		const uint8_t *header = data + at;
		if (!header[0])
			break;
		struct capture_file *f = &c->files[c->count];
		size_t n = 0;
		if (header[345]) {
			n = tar_text(f->name, header + 345, 155);
			f->name[n++] = '/';
		}
		tar_text(f->name + n, header, 100);
		if (!strncmp(f->name, "./", 2))
			memmove(f->name, f->name + 2, strlen(f->name + 2) + 1);
		uint64_t length = tar_octal(header + 124, 12);
		uint8_t type = header[156];
		at += TAR_BLOCK;
		if (length > size - at)
			length = size - at;
		f->role = name_role(f->name);
		f->kind = type == '0' || type == 0 ? SOURCE_FILE : type == '2' ? SOURCE_SYMLINK : SOURCE_SPECIAL;
		bool wanted = f->kind == SOURCE_FILE || type == '2' || type == '6';
		if (wanted && name_is_sane(f->name) && !name_collides(c, f->role, f->name)) {
			f->data = data + at;
			f->size = f->kind == SOURCE_FILE ? (size_t)length : 0;
			f->owned = NULL;
			c->count++;
		}
		uint64_t padded = (length + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
		at += padded > size - at ? size - at : (size_t)padded;
	}
}

void capture_from_sample(struct capture *c, const struct tracemend_sample *sample)
{
	memset(c, 0, sizeof(*c));
	c->directory = tracemend_sample_is_directory(sample);
	size_t count = tracemend_sample_file_count(sample);
	for (size_t i = 0; i < count && c->count < CAPTURE_FILES_MAX; i++) {
		struct capture_file *f = &c->files[c->count];
		const char *name = tracemend_sample_file(sample, i, &f->data, &f->size);
		if (strlen(name) >= sizeof(f->name))
			continue;
		strcpy(f->name, name);
		c->count++;
	}
}

void capture_free(struct capture *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->files[i].owned);
	c->count = 0;
}

uint64_t capture_size(const struct capture *c)
{
	uint64_t size = 0;
	for (size_t i = 0; i < c->count; i++)
		size += c->files[i].size;
	return size;
}

struct capture_source {
	const uint8_t *data;
	struct capture_faults *faults;
};

static enum tracemend_status capture_read(struct source *s, uint64_t offset, void *buffer, size_t length,
					  struct tracemend_error *error)
{
	const struct capture_source *cs = s->data;
	if (cs->faults && ++cs->faults->reads == cs->faults->fail_at) {
		cs->faults->fired = true;
		return fault_set(error, TM_IO, "an injected read error");
	}
	if (length)
		memcpy(buffer, cs->data + offset, length);
	return TM_OK;
}

static void capture_close(struct source *s)
{
	free(s->data);
}

static const struct source_ops capture_ops = { .read = capture_read, .close = capture_close };

struct bundle *capture_bundle(const struct capture *c, const struct tracemend_options *options, struct capture_faults *faults)
{
	struct bundle *b = bundle_new("capture", options);
	if (!b)
		return NULL;
	b->directory = c->directory;
	for (size_t i = 0; i < c->count; i++) {
		const struct capture_file *f = &c->files[i];
		if (f->kind != SOURCE_FILE) {
			if (!bundle_add_source(b, f->role, f->kind, f->name, 0, NULL, NULL)) {
				bundle_free(b);
				return NULL;
			}
			continue;
		}
		struct capture_source *cs = malloc(sizeof(*cs));
		if (!cs) {
			bundle_free(b);
			return NULL;
		}
		cs->data = f->data;
		cs->faults = faults;
		if (!bundle_add_source(b, f->role, SOURCE_FILE, f->name, f->size, &capture_ops, cs)) {
			free(cs);
			bundle_free(b);
			return NULL;
		}
	}
	bundle_sort(b);
	return b;
}
