#include "core/inflate.h"

#include <stdlib.h>
#include <string.h>

#include "core/inflate_stream.h"

static const struct {
	const char *name, *magic;
	size_t length;
	enum tracemend_status (*decode)(struct inflate *f);
} inflate_formats[] = {
	{ "gzip", "\x1f\x8b\x08", 3, inflate_gzip }, /* the magic, and the only method */
	{ "zstd", "\x28\xb5\x2f\xfd", 4, inflate_zstd },
	{ "xz",
	  "\xfd"
	  "7zXZ",
	  6, inflate_xz }, /* with its NUL */
	{ "bzip2", "BZh", 3, inflate_bzip2 },
};
#define INFLATE_FORMATS (sizeof(inflate_formats) / sizeof(inflate_formats[0]))

const char *inflate_recognises(const uint8_t *head, size_t length)
{
	for (size_t i = 0; i < INFLATE_FORMATS; i++)
		if (length >= inflate_formats[i].length && !memcmp(head, inflate_formats[i].magic, inflate_formats[i].length))
			return inflate_formats[i].name;
	return NULL;
}

enum tracemend_status inflate_into(struct bundle *b, struct source *from, const char *format, struct spool *to)
{
	struct inflate *f = malloc(sizeof(*f));
	enum tracemend_status status = TM_BUG;

	if (!f)
		return fault_memory(&b->error);
	f->bundle = b;
	f->from = from;
	f->to = to;
	f->offset = 0;
	f->have = f->used = 0;
	for (size_t i = 0; i < INFLATE_FORMATS; i++)
		if (!strcmp(inflate_formats[i].name, format))
			status = inflate_formats[i].decode(f);
	free(f);
	return status;
}
