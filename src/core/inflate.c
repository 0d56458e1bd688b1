/* gzip and zstd are decoded here and not by the filters of libarchive, which return decoded bytes in blocks of 64 KiB and lose the
 * last block of a cut stream. Captures that were cut together with their compressed file are common. */
#include "core/inflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define INFLATE_STEP (1u << 16)

struct inflate {
	struct bundle *bundle;
	struct source *from;
	struct spool *to;
	uint64_t offset;   /* in the source: of the next byte to read */
	size_t have, used; /* bytes in `in`, and how many of them were decoded */
	uint8_t in[INFLATE_STEP], out[INFLATE_STEP];
};

/* Reads more input when all of it was decoded. False at the end of the source or after a failure. */
static bool inflate_fetch(struct inflate *f, enum tracemend_status *status)
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
	return *status == TM_OK;
}

static void inflate_damage(struct bundle *b, const char *what)
{
	size_t length = strlen(what);
	if (length >= sizeof(b->damage))
		length = sizeof(b->damage) - 1;
	memcpy(b->damage, what, length);
	b->damage[length] = '\0';
}

/* Writes decoded bytes that did not fit into the last output. Returns whether the stream ended. */
static bool inflate_rest(struct inflate *f, z_stream *z, enum tracemend_status *status)
{
	while (*status == TM_OK) {
		z->next_out = f->out;
		z->avail_out = sizeof(f->out);
		int result = inflate(z, Z_SYNC_FLUSH);
		size_t n = sizeof(f->out) - z->avail_out;
		*status = spool_append(f->bundle, f->to, f->out, n);
		if (result == Z_STREAM_END)
			return true;
		if (!n || result != Z_OK)
			break;
	}
	return false;
}

/* RFC 1952: members follow each other. Zeros after the last one are padding of tapes and blocks. */
static enum tracemend_status inflate_gzip(struct inflate *f)
{
	z_stream z = { 0 };
	enum tracemend_status status = TM_OK;
	bool ended = false;

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return fault_memory(&f->bundle->error);
	while (status == TM_OK && inflate_fetch(f, &status)) {
		if (ended && f->in[f->used] == 0) {
			f->used++;
			continue;
		}
		if (ended && inflateReset(&z) != Z_OK)
			break;
		z.next_in = f->in + f->used;
		z.avail_in = (uInt)(f->have - f->used);
		z.next_out = f->out;
		z.avail_out = sizeof(f->out);
		int result = inflate(&z, Z_NO_FLUSH);
		f->used = f->have - z.avail_in;
		status = spool_append(f->bundle, f->to, f->out, sizeof(f->out) - z.avail_out);
		if (result == Z_MEM_ERROR) {
			status = fault_memory(&f->bundle->error);
		} else if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
			inflate_damage(f->bundle, ended	  ? "bytes after the end of the gzip stream"
						  : z.msg ? z.msg
							  : "the gzip stream is damaged");
			ended = true;
			break;
		}
		ended = result == Z_STREAM_END;
	}
	if (!ended)
		ended = inflate_rest(f, &z, &status);
	if (status == TM_OK && !ended)
		inflate_damage(f->bundle, "the gzip stream ends too early");
	(void)inflateEnd(&z);
	return status;
}

/* RFC 8878: frames follow each other. */
static enum tracemend_status inflate_zstd(struct inflate *f)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	enum tracemend_status status = TM_OK;
	size_t wanted = 1; /* 0: at the end of a frame */

	if (!z)
		return fault_memory(&f->bundle->error);
	for (;;) {
		bool more = inflate_fetch(f, &status);
		ZSTD_inBuffer in = { f->in + f->used, f->have - f->used, 0 };
		ZSTD_outBuffer out = { f->out, sizeof(f->out), 0 };
		if (status != TM_OK || (!more && !wanted))
			break;
		size_t result = ZSTD_decompressStream(z, &out, &in);
		f->used += in.pos;
		status = spool_append(f->bundle, f->to, f->out, out.pos);
		if (status != TM_OK)
			break;
		if (ZSTD_isError(result)) {
			if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
				status = fault_memory(&f->bundle->error);
			else
				inflate_damage(f->bundle, ZSTD_getErrorName(result));
			break;
		}
		wanted = result;
		if (!more && !out.pos) {
			inflate_damage(f->bundle, "the zstd stream ends too early");
			break;
		}
	}
	(void)ZSTD_freeDCtx(z);
	return status;
}

bool inflate_recognises(const uint8_t *head, size_t length)
{
	return (length >= 3 && !memcmp(head, "\x1f\x8b\x08", 3)) || (length >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4));
}

enum tracemend_status inflate_into(struct bundle *b, struct source *from, bool gzip, struct spool *to)
{
	struct inflate *f = malloc(sizeof(*f));
	if (!f)
		return fault_memory(&b->error);
	f->bundle = b;
	f->from = from;
	f->to = to;
	f->offset = 0;
	f->have = f->used = 0;
	enum tracemend_status status = gzip ? inflate_gzip(f) : inflate_zstd(f);
	free(f);
	return status;
}
