/* The content of a section of version 7, unfolded where it is compressed (MAN7 "SECTIONS"). */
#include "formats/tracedat/scan/tracedat_blocks.h"

#include <stdlib.h>

static void section_lose(struct tracedat_section *s, unsigned rule, const char *why)
{
	tracedat_block_free(&s->block);
	s->lost = true;
	s->rule = rule;
	s->why = why;
}

static bool load_plain(struct tracedat_walk *w, struct tracedat_section *s)
{
	struct tracedat_block *b = &s->block;
	b->data = malloc((size_t)s->size + 16);
	if (!b->data) {
		tracedat_no_memory(w);
		return false;
	}
	if (source_read(w->source, b->offset, b->data, (size_t)s->size) != TM_OK) {
		w->status = w->source->bundle->error.status;
		return false;
	}
	memset(b->data + s->size, 0, 16);
	b->size = (size_t)s->size;
	b->stored = s->size;
	return true;
}

/* Of lines that were cut only whole ones count. */
static void lines_trim(struct tracedat_section *s)
{
	struct tracedat_block *b = &s->block;
	if (s->id < TRACEDAT_KALLSYMS)
		return;
	while (b->size && b->data[b->size - 1] != '\n')
		b->size--;
}

/* Decodes into a buffer that grows as far as the limits allow. Of damaged metadata it keeps what comes before the damage. */
static bool load_frame(struct tracedat_walk *w, struct tracedat_section *s, const uint8_t *frame, size_t size, uint32_t usize)
{
	struct tracedat_block *b = &s->block;
	size_t most = TRACEDAT_BLOCK_MAX;
	if ((uint64_t)size * TRACEDAT_RATIO_MAX + (1u << 20) < most)
		most = size * TRACEDAT_RATIO_MAX + (1u << 20);
	size_t room = usize && usize <= most ? usize : size * 8 + 4096 < most ? size * 8 + 4096 : most;
	struct tracedat_decoded d;

	for (;;) {
		uint8_t *grown = realloc(b->data, room + 16);
		if (!grown) {
			tracedat_no_memory(w);
			return false;
		}
		b->data = grown;
		bool fine = tracedat_decompress(w, frame, size, b->data, room, &d);
		if (w->status != TM_OK)
			return false;
		if (!fine) {
			struct finding *fd = tracedat_report(w, TRACEDAT_RULE_v7_block_decode, s->offset, 16 + s->size,
							     "the compressed content is damaged after %zu decoded bytes", d.size);
			finding_path(fd, "section %s", tracedat_id_name(s->id));
			if (d.size && tracedat_id_is_metadata(s->id)) {
				s->damage = fd;
				break;
			}
			section_lose(s, TRACEDAT_RULE_v7_block_decode, "a section that cannot be decompressed");
			return false;
		}
		if (d.fits)
			break;
		if (room == most) {
			if (most == TRACEDAT_BLOCK_MAX && !tracedat_bomb(w, s->offset, size, UINT64_C(1) + most))
				w->status = scan_limit(w->s, "section %s unfolds to more than %u bytes", tracedat_id_name(s->id),
						       TRACEDAT_BLOCK_MAX);
			else if (most != TRACEDAT_BLOCK_MAX)
				(void)tracedat_bomb(w, s->offset, size, (uint64_t)most + size * TRACEDAT_RATIO_MAX);
			section_lose(s, TRACEDAT_RULE_size_overflow_bomb, "a section that unfolds beyond all reason");
			return false;
		}
		room = room < most / 4 ? 4 * room : most;
	}
	if (tracedat_bomb(w, s->offset, size, d.size)) {
		section_lose(s, TRACEDAT_RULE_size_overflow_bomb, "a section that unfolds beyond all reason");
		return false;
	}
	w->pages.decoded += d.size;
	memset(b->data + d.size, 0, 16);
	b->size = d.size;
	s->frame = d.consumed;
	return true;
}

static bool load_compressed(struct tracedat_walk *w, struct tracedat_section *s)
{
	struct finding *fd;
	const char *name = tracedat_id_name(s->id);
	uint8_t *stored = malloc((size_t)s->size + 1);

	if (!stored) {
		tracedat_no_memory(w);
		return false;
	}
	if (source_read(w->source, s->offset + 16, stored, (size_t)s->size) != TM_OK) {
		w->status = w->source->bundle->error.status;
		free(stored);
		return false;
	}
	uint32_t csize = load_u32(stored, w->shape.big_endian), usize = load_u32(stored + 4, w->shape.big_endian);
	bool loaded = load_frame(w, s, stored + 8, (size_t)s->size - 8, usize);
	free(stored);
	if (!loaded)
		return false;
	s->block.offset = s->offset;
	s->block.stored = 16 + s->size;
	s->block.compressed = true;
	if (s->damage) {
		lines_trim(s);
		return true;
	}
	/* The count may include slack that its section has, or leave it out; the frame itself must lie within. */
	uint64_t slack = s->size - 8 - s->frame;
	if (csize != s->size - 8 || slack) {
		bool warn = csize == s->frame && slack;
		fd = tracedat_milder(w, TRACEDAT_RULE_v7_block_csize, warn ? TM_WARNING : TM_ERROR, s->offset + 16, 4);
		finding_path(fd, "section %s", name);
		if (warn)
			finding_say(fd, "%llu bytes follow the compressed content", (unsigned long long)slack);
		else
			finding_say(fd, "the compressed size is %u, but the content has %llu bytes in a section of %llu", csize,
				    (unsigned long long)s->frame, (unsigned long long)s->size);
	}
	if (usize != s->block.size) {
		fd = tracedat_report(w, TRACEDAT_RULE_v7_block_usize, s->offset + 20, 4,
				     "the decompressed size is stated as %u, but %zu bytes come out", usize, s->block.size);
		finding_path(fd, "section %s", name);
	}
	return true;
}

bool tracedat_section_load(struct tracedat_walk *w, struct tracedat_section *s)
{
	uint64_t real = 0;
	struct finding *fd;

	if (s->block.data)
		return true;
	if (s->lost || w->stopped || w->status != TM_OK)
		return false;
	s->block.name = tracedat_id_name(s->id);
	s->block.offset = s->offset + TRACEDAT_SECTION_SIZE;
	if (s->size > TRACEDAT_BLOCK_MAX) {
		w->status = scan_limit(w->s, "section %s is larger than %u bytes", tracedat_id_name(s->id), TRACEDAT_BLOCK_MAX);
		return false;
	}
	bool flagged = s->flags & TRACEDAT_COMPRESSED;
	bool frame = w->shape.codec != TRACEDAT_NONE && tracedat_frame_fits(w, s->offset + 16, s->size, &real);
	bool plain = tracedat_body_fits(w, s->id, s->offset + 16, s->size);
	if (flagged != frame && (flagged ? plain || w->shape.codec == TRACEDAT_NONE : frame && !plain)) {
		fd = tracedat_report(w, TRACEDAT_RULE_v7_section_compress_flag, s->offset + 2, 2,
				     "the section is marked %s and its content is %s", flagged ? "compressed" : "plain",
				     frame ? "compressed" : "plain");
		finding_path(fd, "section %s", tracedat_id_name(s->id));
		flagged = frame;
		s->flags = (uint16_t)((s->flags & ~1u) | flagged);
	}
	if (!flagged)
		return load_plain(w, s);
	if (s->size < 12) {
		(void)tracedat_report(w, TRACEDAT_RULE_v7_block_csize, s->offset, 16 + s->size,
				      "a compressed section of %llu bytes", (unsigned long long)s->size);
		section_lose(s, TRACEDAT_RULE_v7_block_csize, "a section without content");
		return false;
	}
	return load_compressed(w, s);
}
