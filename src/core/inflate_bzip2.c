/* bzip2, by libbz2. */
#include <bzlib.h>
#include <string.h>

#include "core/inflate_stream.h"

/* Streams follow each other. libbz2 returns whole blocks (up to 900,000 bytes), of a cut stream those before the cut. */
enum tracemend_status inflate_bzip2(struct inflate *f)
{
	bz_stream z = { 0 };
	enum tracemend_status status = TM_OK;
	bool open = false, ended = false;
	const char *damage = NULL;

	while (status == TM_OK && !damage) {
		bool more = inflate_fetch(f, &status);
		if (status != TM_OK || (!more && !open))
			break;
		if (!open && BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK)
			return fault_memory(&f->bundle->error);
		open = true;
		z.next_in = (char *)f->in + f->used;
		z.avail_in = (unsigned)(f->have - f->used);
		z.next_out = (char *)f->out;
		z.avail_out = sizeof(f->out);
		int result = BZ2_bzDecompress(&z);
		size_t got = sizeof(f->out) - z.avail_out;
		f->used = f->have - z.avail_in;
		status = inflate_put(f, got);
		if (result == BZ_MEM_ERROR)
			status = fault_memory(&f->bundle->error);
		else if (result == BZ_DATA_ERROR_MAGIC)
			damage = ended ? "bytes after the end of the bzip2 stream" : "the bzip2 stream is damaged";
		else if (result != BZ_OK && result != BZ_STREAM_END)
			damage = "the bzip2 stream is damaged";
		else if (result == BZ_OK && !more && !got)
			damage = "the bzip2 stream ends too early";
		if (result == BZ_STREAM_END) {
			(void)BZ2_bzDecompressEnd(&z);
			memset(&z, 0, sizeof(z));
			open = false;
			ended = true;
		}
	}
	if (damage && status == TM_OK)
		inflate_damage(f, damage);
	if (open)
		(void)BZ2_bzDecompressEnd(&z);
	return status;
}
