/* zstd and zlib, with bounds: a compressed section is an attack until it is decoded. */
#include "formats/tracedat/decode/tracedat_codec.h"

#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define ZSTD_LEVEL 3

bool tracedat_frame_begins(enum tracedat_codec codec, const uint8_t *data, size_t size)
{
	if (codec == TRACEDAT_ZSTD)
		return size >= 4 && data[0] == 0x28 && data[1] == 0xb5 && data[2] == 0x2f && data[3] == 0xfd;
	/* RFC 1950: deflate with a window up to 32 KiB, and a header that is a multiple of 31. */
	return codec == TRACEDAT_ZLIB && size >= 2 && (data[0] & 0x0f) == 8 && (data[0] >> 4) <= 7 &&
	       ((unsigned)data[0] << 8 | data[1]) % 31 == 0 && !(data[1] & 0x20);
}

/* A frame that is whole and fits: it is decoded where it is to be, while a stream is decoded elsewhere and copied. False: it is
 * neither, or memory is short. */
static bool decode_zstd_whole(struct tracedat_decoder *decoder, const uint8_t *data, size_t size, uint8_t *out, size_t room,
			      struct tracedat_decoded *d)
{
	d->fits = true;
	if (!decoder->zstd)
		decoder->zstd = ZSTD_createDCtx();
	d->consumed = decoder->zstd ? ZSTD_findFrameCompressedSize(data, size) : 0;
	if (!d->consumed || ZSTD_isError(d->consumed))
		return false;
	d->size = ZSTD_decompressDCtx(decoder->zstd, out, room, data, d->consumed);
	return !ZSTD_isError(d->size);
}

/* Any frame: what a broken one still gives, and where it is too long. */
static bool decode_zstd(struct tracedat_decoder *decoder, const uint8_t *data, size_t size, uint8_t *out, size_t room,
			struct tracedat_decoded *d)
{
	d->fits = true;
	if (!decoder->zstd) {
		decoder->no_memory = true;
		return false;
	}
	ZSTD_inBuffer in = { data, size, 0 };
	ZSTD_outBuffer to = { .size = room };
	to.dst = out;
	(void)ZSTD_DCtx_reset(decoder->zstd, ZSTD_reset_session_only);
	/* The window of the frame may not exceed what a block may hold. */
	(void)ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, 26);
	for (;;) {
		size_t in_before = in.pos, out_before = to.pos;
		size_t left = ZSTD_decompressStream(decoder->zstd, &to, &in);
		d->size = to.pos;
		d->consumed = in.pos;
		if (ZSTD_isError(left)) {
			if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
				decoder->no_memory = true;
			return false;
		}
		if (!left)
			return true;
		if (to.pos == to.size) {
			d->fits = false;
			return true;
		}
		if (in.pos == in_before && to.pos == out_before)
			return false; /* cut */
	}
}

/* A stream that is whole and fits, in less than half the time that zlib takes. False: it is neither, or memory is short. */
static bool decode_deflate(struct tracedat_decoder *decoder, const uint8_t *data, size_t size, uint8_t *out, size_t room,
			   struct tracedat_decoded *d)
{
	d->fits = true;
	if (!decoder->deflate)
		decoder->deflate = libdeflate_alloc_decompressor();
	return decoder->deflate &&
	       libdeflate_zlib_decompress_ex(decoder->deflate, data, size, out, room, &d->consumed, &d->size) == LIBDEFLATE_SUCCESS;
}

/* Any stream: what a broken one still gives, and where it is too long. */
static bool decode_zlib(struct tracedat_decoder *decoder, const uint8_t *data, size_t size, uint8_t *out, size_t room,
			struct tracedat_decoded *d)
{
	z_stream z = { 0 };
	d->fits = true;
	int status = inflateInit(&z);
	if (status != Z_OK) {
		decoder->no_memory = true;
		return false;
	}
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)(size < UINT32_MAX ? size : UINT32_MAX);
	z.next_out = out;
	z.avail_out = (uInt)room;
	status = inflate(&z, Z_FINISH);
	d->size = room - z.avail_out;
	d->consumed = (size_t)(z.next_in - data);
	bool full = status == Z_BUF_ERROR && !z.avail_out;
	if (status == Z_MEM_ERROR)
		decoder->no_memory = true;
	(void)inflateEnd(&z);
	if (full)
		d->fits = false;
	return status == Z_STREAM_END || full;
}

bool tracedat_decode(struct tracedat_decoder *decoder, enum tracedat_codec codec, const uint8_t *data, size_t size, uint8_t *out,
		     size_t room, struct tracedat_decoded *d)
{
	*d = (struct tracedat_decoded){ 0 };
	if (!tracedat_frame_begins(codec, data, size))
		return false;
	if (codec == TRACEDAT_ZSTD)
		return decode_zstd_whole(decoder, data, size, out, room, d) || decode_zstd(decoder, data, size, out, room, d);
	return decode_deflate(decoder, data, size, out, room, d) || decode_zlib(decoder, data, size, out, room, d);
}

static size_t frame_size_zlib(const uint8_t *data, size_t size)
{
	uint8_t scrap[16384];
	z_stream z = { 0 };
	size_t consumed = 0;
	int status;

	if (inflateInit(&z) != Z_OK)
		return 0;
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)(size < UINT32_MAX ? size : UINT32_MAX);
	do {
		z.next_out = scrap;
		z.avail_out = sizeof(scrap);
		status = inflate(&z, Z_NO_FLUSH);
	} while (status == Z_OK && z.total_out <= TRACEDAT_CHUNK_MAX);
	if (status == Z_STREAM_END)
		consumed = (size_t)(z.next_in - data);
	(void)inflateEnd(&z);
	return consumed;
}

size_t tracedat_frame_size(enum tracedat_codec codec, const uint8_t *data, size_t size)
{
	if (!tracedat_frame_begins(codec, data, size))
		return 0;
	if (codec == TRACEDAT_ZLIB)
		return frame_size_zlib(data, size);
	size_t n = ZSTD_findFrameCompressedSize(data, size);
	return ZSTD_isError(n) ? 0 : n;
}

bool tracedat_encode(enum tracedat_codec codec, const void *data, size_t size, struct bytes *out)
{
	if (codec == TRACEDAT_NONE) {
		bytes_append(out, data, size);
		return !out->failed;
	}
	size_t at = out->size;
	size_t bound = codec == TRACEDAT_ZSTD ? ZSTD_compressBound(size) : compressBound((uLong)size);
	uint8_t *room = bytes_grow(out, bound);
	if (!room)
		return false;
	if (codec == TRACEDAT_ZSTD) {
		size_t n = ZSTD_compress(room, bound, data, size, ZSTD_LEVEL);
		if (ZSTD_isError(n))
			return false;
		out->size = at + n;
		return true;
	}
	uLongf n = (uLongf)bound;
	if (compress2(room, &n, data, (uLong)size, 9) != Z_OK)
		return false;
	out->size = at + n;
	return true;
}

const char *tracedat_codec_version(enum tracedat_codec codec)
{
	return codec == TRACEDAT_ZSTD ? "1.5.4" : codec == TRACEDAT_ZLIB ? "1.2.13" : "";
}

void tracedat_decoder_free(struct tracedat_decoder *decoder)
{
	(void)ZSTD_freeDCtx(decoder->zstd);
	libdeflate_free_decompressor(decoder->deflate);
	decoder->zstd = decoder->deflate = NULL;
}
