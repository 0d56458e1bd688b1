/* The content of a section of version 7, decompressed if necessary (MAN7 "SECTIONS"). */
#include "formats/tracedat/scan/tracedat_blocks.h"

#include <stdlib.h>

static void section_lose(struct tracedat_section *section, unsigned rule, const char *why)
{
	tracedat_block_free(&section->block);
	section->lost = true;
	section->rule = rule;
	section->why = why;
}

/* Of lines that were cut only whole ones count. */
static void lines_trim(struct tracedat_section *section)
{
	struct tracedat_block *b = &section->block;
	if (section->id < TRACEDAT_KALLSYMS)
		return;
	while (b->size && b->data[b->size - 1] != '\n')
		b->size--;
}

/* Damage inside a frame; that the file is cut there is reported already. */
static struct finding *frame_damaged(struct tracedat_walk *w, const struct tracedat_section *section, size_t decoded)
{
	if (section->cut)
		return w->dir.truncated;
	if (section->resized) {
		/* Bytes of it are missing, or too many. */
		tracedat_follows(w, TRACEDAT_RULE_v7_block_decode, section->resized);
		return section->resized;
	}
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_v7_block_decode, section->offset, 16 + section->size,
					     "the compressed content is damaged after %zu decoded bytes", decoded);
	finding_path(fd, "section %s", tracedat_id_name(section->id));
	return fd;
}

static bool load_plain(struct tracedat_walk *w, struct tracedat_section *section)
{
	struct tracedat_block *b = &section->block;
	b->data = malloc((size_t)section->size + 16);
	if (!b->data) {
		tracedat_no_memory(w);
		return false;
	}
	if (source_read(w->source, b->offset, b->data, (size_t)section->size) != TM_OK) {
		w->status = w->source->bundle->error.status;
		return false;
	}
	memset(b->data + section->size, 0, 16);
	b->size = (size_t)section->size;
	b->stored = section->size;
	if (section->cut && tracedat_id_is_metadata(section->id))
		lines_trim(section);
	return true;
}

/* Decodes into a buffer that grows up to the limits. Of damaged metadata it keeps what was decoded before the damage. */
static bool load_frame(struct tracedat_walk *w, struct tracedat_section *section, const uint8_t *frame, size_t size, uint32_t usize)
{
	struct tracedat_block *b = &section->block;
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
			struct finding *fd = frame_damaged(w, section, d.size);
			if (d.size && tracedat_id_is_metadata(section->id)) {
				section->damage = fd;
				break;
			}
			section_lose(section, TRACEDAT_RULE_v7_block_decode, "a section that cannot be decompressed");
			return false;
		}
		if (d.fits)
			break;
		if (room == most) {
			if (most == TRACEDAT_BLOCK_MAX && !tracedat_ratio_exceeded(w, section->offset, size, UINT64_C(1) + most))
				w->status = scan_limit(w->s, "section %s decompresses to more than %u bytes",
						       tracedat_id_name(section->id), TRACEDAT_BLOCK_MAX);
			else if (most != TRACEDAT_BLOCK_MAX)
				(void)tracedat_ratio_exceeded(w, section->offset, size, (uint64_t)most + size * TRACEDAT_RATIO_MAX);
			section_lose(section, TRACEDAT_RULE_size_overflow_bomb,
				     "a section that decompresses to far more than its size");
			return false;
		}
		room = room < most / 4 ? 4 * room : most;
	}
	if (tracedat_ratio_exceeded(w, section->offset, size, d.size)) {
		section_lose(section, TRACEDAT_RULE_size_overflow_bomb, "a section that decompresses to far more than its size");
		return false;
	}
	w->pages.decoded += d.size;
	memset(b->data + d.size, 0, 16);
	b->size = d.size;
	section->frame = d.consumed;
	return true;
}

static bool load_compressed(struct tracedat_walk *w, struct tracedat_section *section)
{
	struct finding *fd;
	const char *name = tracedat_id_name(section->id);
	uint8_t *stored = malloc((size_t)section->size + 1);

	if (!stored) {
		tracedat_no_memory(w);
		return false;
	}
	if (source_read(w->source, section->offset + 16, stored, (size_t)section->size) != TM_OK) {
		w->status = w->source->bundle->error.status;
		free(stored);
		return false;
	}
	uint32_t csize = load_u32(stored, w->shape.big_endian), usize = load_u32(stored + 4, w->shape.big_endian);
	bool loaded = load_frame(w, section, stored + 8, (size_t)section->size - 8, usize);
	free(stored);
	if (!loaded)
		return false;
	section->block.offset = section->offset;
	section->block.stored = 16 + section->size;
	section->block.compressed = true;
	if (section->damage) {
		lines_trim(section);
		return true;
	}
	/* The count may include the slack of its section or not; the frame itself must be inside the section. */
	uint64_t slack = section->size - 8 - section->frame;
	if (csize != section->size - 8 || slack) {
		bool warn = csize == section->frame && slack;
		fd = tracedat_milder(w, TRACEDAT_RULE_v7_block_csize, warn ? TM_WARNING : TM_ERROR, section->offset + 16, 4);
		finding_path(fd, "section %s", name);
		if (warn)
			finding_say(fd, "%llu bytes follow the compressed content", (unsigned long long)slack);
		else
			finding_say(fd, "the compressed size is %u, expected the %llu bytes of the content, in a section of %llu",
				    csize, (unsigned long long)section->frame, (unsigned long long)section->size);
	}
	if (usize != section->block.size) {
		fd = tracedat_report(w, TRACEDAT_RULE_v7_block_usize, section->offset + 20, 4,
				     "the decompressed size is stated as %u, expected %zu", usize, section->block.size);
		finding_path(fd, "section %s", name);
	}
	return true;
}

bool tracedat_section_load(struct tracedat_walk *w, struct tracedat_section *section)
{
	uint64_t real = 0;
	struct finding *fd;

	if (section->block.data)
		return true;
	if (section->lost || w->stopped || w->status != TM_OK)
		return false;
	section->block.name = tracedat_id_name(section->id);
	section->block.offset = section->offset + TRACEDAT_SECTION_SIZE;
	if (section->size > TRACEDAT_BLOCK_MAX) {
		w->status = scan_limit(w->s, "section %s is larger than %u bytes", tracedat_id_name(section->id),
				       TRACEDAT_BLOCK_MAX);
		return false;
	}
	bool flagged = section->flags & TRACEDAT_COMPRESSED;
	bool frame = w->shape.codec != TRACEDAT_NONE && tracedat_frame_fits(w, section->offset + 16, section->size, &real);
	bool plain = tracedat_body_fits(w, section->id, section->offset + 16, section->size);
	if (flagged != frame && (flagged ? plain || w->shape.codec == TRACEDAT_NONE : frame && !plain)) {
		fd = tracedat_report(w, TRACEDAT_RULE_v7_section_compress_flag, section->offset + 2, 2,
				     "the section is marked %s and its content is %s", flagged ? "compressed" : "plain",
				     frame ? "compressed" : "plain");
		finding_path(fd, "section %s", tracedat_id_name(section->id));
		flagged = frame;
		section->flags = (uint16_t)((section->flags & ~1u) | flagged);
	}
	if (!flagged)
		return load_plain(w, section);
	if (section->size < 12 && section->cut) {
		section_lose(section, TRACEDAT_RULE_truncated_file, "a section without content");
		return false;
	}
	if (section->size < 12) {
		(void)tracedat_report(w, TRACEDAT_RULE_v7_block_csize, section->offset, 16 + section->size,
				      "the compressed section has %llu bytes, expected at least 12",
				      (unsigned long long)section->size);
		section_lose(section, TRACEDAT_RULE_v7_block_csize, "a section without content");
		return false;
	}
	return load_compressed(w, section);
}
