/* Zstandard, by libzstd. */
#include <zstd.h>
#include <zstd_errors.h>

#include "core/inflate_stream.h"

/* RFC 8878: frames follow each other. */
enum tracemend_status inflate_zstd(struct inflate *f)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	enum tracemend_status status = TM_OK;
	size_t wanted = 1; /* 0: at the end of a frame */

	if (!z || ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, INFLATE_ZSTD_WINDOW_LOG))) {
		(void)ZSTD_freeDCtx(z);
		return fault_memory(&f->bundle->error);
	}
	for (;;) {
		bool more = inflate_fetch(f, &status);
		ZSTD_inBuffer in = { f->in + f->used, f->have - f->used, 0 };
		ZSTD_outBuffer out = { f->out, sizeof(f->out), 0 };
		if (status != TM_OK || (!more && !wanted))
			break;
		size_t result = ZSTD_decompressStream(z, &out, &in);
		f->used += in.pos;
		status = inflate_put(f, out.pos);
		if (status != TM_OK)
			break;
		if (ZSTD_isError(result)) {
			if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
				status = fault_memory(&f->bundle->error);
			else if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
				status = inflate_too_large(f, "zstd", UINT64_C(1) << INFLATE_ZSTD_WINDOW_LOG);
			else
				inflate_damage(f, ZSTD_getErrorName(result));
			break;
		}
		wanted = result;
		if (!more && !out.pos) {
			inflate_damage(f, "the zstd stream ends too early");
			break;
		}
	}
	(void)ZSTD_freeDCtx(z);
	return status;
}
