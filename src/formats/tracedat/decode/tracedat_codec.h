/* zstd and zlib, with bounds (MAN7 "COMPRESSION HEADER"; RFC 8878, RFC 1950). */
#ifndef TRACEDAT_CODEC_H
#define TRACEDAT_CODEC_H

#include "core/bytes.h"
#include "formats/tracedat/tracedat.h"

/* What is kept from one frame to the next. Zero-initialised is ready. */
struct tracedat_decoder {
	void *zstd, *deflate; /* owned */
	bool no_memory;	      /* sticky */
};

void tracedat_decoder_free(struct tracedat_decoder *decoder);

struct tracedat_decoded {
	size_t size;	 /* bytes that came out */
	size_t consumed; /* bytes of the frame */
	bool fits;	 /* false: it wants more than the room */
};

/* Decodes one frame or stream from data[0, size) into out[0, room). False: the frame is broken, or memory is short. */
bool tracedat_decode(struct tracedat_decoder *decoder, enum tracedat_codec codec, const uint8_t *data, size_t size, uint8_t *out,
		     size_t room, struct tracedat_decoded *d);
/* Bytes of the frame at data, or 0 when it does not end within size. */
size_t tracedat_frame_size(enum tracedat_codec codec, const uint8_t *data, size_t size);
bool tracedat_frame_begins(enum tracedat_codec codec, const uint8_t *data, size_t size);
/* Appends the frame of data. False: memory is short. */
bool tracedat_encode(enum tracedat_codec codec, const void *data, size_t size, struct bytes *out);
/* The version text of a compressor for the header of a file. */
const char *tracedat_codec_version(enum tracedat_codec codec);

#endif
