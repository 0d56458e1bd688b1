#include "core/inflate_stream.h"

#include <string.h>

bool inflate_fetch(struct inflate *f, enum tracemend_status *status)
{
	if (f->used < f->have)
		return true;
	uint64_t left = f->from->size - f->offset;
	f->have = left < sizeof(f->in) ? (size_t)left : sizeof(f->in);
	f->used = 0;
	if (!f->have)
		return false;
	*status = source_read(f->from, f->offset, f->in, f->have);
	f->offset += f->have;
	spool_allow(f->bundle, f->offset);
	return *status == TM_OK;
}

enum tracemend_status inflate_put(struct inflate *f, size_t length)
{
	return spool_append(f->bundle, f->to, f->out, length);
}

void inflate_damage(struct inflate *f, const char *what)
{
	struct bundle *b = f->bundle;
	size_t length = strlen(what);

	if (length >= sizeof(b->damage))
		length = sizeof(b->damage) - 1;
	memcpy(b->damage, what, length);
	b->damage[length] = '\0';
}

enum tracemend_status inflate_too_large(struct inflate *f, const char *format, uint64_t limit)
{
	return fault_set(&f->bundle->error, TM_LIMIT,
			 "%s: decoding this %s stream takes more than %llu MiB of memory; unpack it with %s", f->bundle->path,
			 format, (unsigned long long)(limit >> 20), format);
}
