/* xz, by liblzma. */
#include <lzma.h>

#include "core/inflate_stream.h"

static const char *xz_damage(lzma_ret result)
{
	switch ((int)result) {
	case LZMA_FORMAT_ERROR:
		return "bytes after the end of the xz stream";
	case LZMA_OPTIONS_ERROR:
		return "the xz stream asks for what this version of liblzma does not know";
	case LZMA_BUF_ERROR:
		return "the xz stream ends too early";
	default:
		return "the xz stream is damaged";
	}
}

/* The .xz file format, 2: streams and their padding follow each other, which liblzma takes care of. */
enum tracemend_status inflate_xz(struct inflate *f)
{
	lzma_stream z = LZMA_STREAM_INIT;
	enum tracemend_status status = TM_OK;
	lzma_ret result = lzma_stream_decoder(&z, INFLATE_XZ_MEMORY, LZMA_CONCATENATED);

	if (result != LZMA_OK)
		return fault_memory(&f->bundle->error);
	while (status == TM_OK && result == LZMA_OK) {
		bool more = inflate_fetch(f, &status);
		if (status != TM_OK)
			break;
		z.next_in = f->in + f->used;
		z.avail_in = f->have - f->used;
		z.next_out = f->out;
		z.avail_out = sizeof(f->out);
		result = lzma_code(&z, more ? LZMA_RUN : LZMA_FINISH);
		f->used = f->have - z.avail_in;
		status = inflate_put(f, sizeof(f->out) - z.avail_out);
	}
	if (status == TM_OK && result == LZMA_MEMLIMIT_ERROR)
		status = inflate_too_large(f, "xz", INFLATE_XZ_MEMORY);
	else if (status == TM_OK && result == LZMA_MEM_ERROR)
		status = fault_memory(&f->bundle->error);
	else if (status == TM_OK && result != LZMA_STREAM_END)
		inflate_damage(f, xz_damage(result));
	lzma_end(&z);
	return status;
}
