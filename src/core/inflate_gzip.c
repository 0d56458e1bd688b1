/* gzip, by zlib. */
#include <zlib.h>

#include "core/inflate_stream.h"

/* Writes decoded bytes that did not fit into the last output. Returns whether the stream ended. */
static bool inflate_rest(struct inflate *f, z_stream *z, enum tracemend_status *status)
{
	while (*status == TM_OK) {
		z->next_out = f->out;
		z->avail_out = sizeof(f->out);
		int result = inflate(z, Z_SYNC_FLUSH);
		size_t n = sizeof(f->out) - z->avail_out;
		*status = inflate_put(f, n);
		if (result == Z_STREAM_END)
			return true;
		if (!n || result != Z_OK)
			break;
	}
	return false;
}

/* RFC 1952: members follow each other. Zeros after the last one are padding of tapes and blocks. */
enum tracemend_status inflate_gzip(struct inflate *f)
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
		status = inflate_put(f, sizeof(f->out) - z.avail_out);
		if (result == Z_MEM_ERROR) {
			status = fault_memory(&f->bundle->error);
		} else if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
			inflate_damage(f, ended	  ? "bytes after the end of the gzip stream"
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
		inflate_damage(f, "the gzip stream ends too early");
	(void)inflateEnd(&z);
	return status;
}
