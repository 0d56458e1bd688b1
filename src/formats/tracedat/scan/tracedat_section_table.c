/* The table of known sections, and checks whether a section begins at an offset (MAN7 "SECTIONS"). */
#include "core/array.h"
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/scan/tracedat_blocks.h"

bool tracedat_section_header_at(struct tracedat_walk *w, uint64_t at, struct tracedat_section_header *h)
{
	const uint8_t *p = window_at(&w->window, at, TRACEDAT_SECTION_SIZE);
	if (p)
		tracedat_section_header_read(p, w->shape.big_endian, h);
	return p != NULL;
}

bool tracedat_body_fits(struct tracedat_walk *w, unsigned id, uint64_t at, uint64_t size)
{
	const uint8_t *p = window_at(&w->window, at, size < 17 ? (size_t)size : 17);
	return p && tracedat_body_is(p, id, size, w->shape.big_endian);
}

bool tracedat_options_done(struct tracedat_walk *w, uint64_t at, uint64_t size)
{
	const unsigned done = TRACEDAT_OPTION_HEADER + 8;
	const uint8_t *p = size >= done && size <= w->source->size && at <= w->source->size - size
				   ? window_at(&w->window, at + size - done, done)
				   : NULL;
	return p && !load_u16(p, w->shape.big_endian) && load_u32(p + 2, w->shape.big_endian) == 8;
}

bool tracedat_frame_fits(struct tracedat_walk *w, uint64_t at, uint64_t size, uint64_t *real)
{
	const uint8_t *p = size >= 12 ? window_at(&w->window, at, 12) : NULL;
	if (!p || !tracedat_frame_begins(w->shape.codec, p + 8, 4))
		return false;
	*real = 8 + (uint64_t)load_u32(p, w->shape.big_endian);
	return true;
}

/* Whether a valid header may begin there, by its own bytes. */
bool tracedat_section_sane(struct tracedat_walk *w, uint64_t at)
{
	struct tracedat_section_header h;
	if (at == w->source->size)
		return true;
	if (at > w->source->size || w->source->size - at < 16 || !tracedat_section_header_at(w, at, &h))
		return false;
	/* Another trace.dat follows, which is reported. */
	const uint8_t *magic = window_at(&w->window, at, TRACEDAT_MAGIC_SIZE);
	if (magic && !memcmp(magic, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE))
		return true;
	/* Unknown flags are accepted where the size fits. */
	if ((h.flags > 1 && h.size > w->source->size - at - 16) || h.description < -1 || h.description > 65535)
		return false;
	uint64_t real;
	if (h.id == TRACEDAT_DONE && h.flags & TRACEDAT_COMPRESSED)
		return tracedat_frame_fits(w, at + TRACEDAT_SECTION_SIZE, w->source->size - at - TRACEDAT_SECTION_SIZE, &real);
	/* Options show themselves where the id of their section was hit, too. */
	if ((h.id == TRACEDAT_DONE || !tracedat_id_is_section(h.id)) && h.flags <= 1 &&
	    tracedat_options_done(w, at + TRACEDAT_SECTION_SIZE, h.size))
		return true;
	if (h.id == TRACEDAT_DONE)
		return tracedat_body_fits(w, 0, at + 16, h.size < TRACEDAT_BLOCK_MAX ? h.size : 14);
	/* An unknown kind is accepted where its size fits the file. */
	if (h.id > TRACEDAT_ID_LAST)
		return h.size <= w->source->size - at - 16 && h.id <= TRACEDAT_ID_LATER && h.size;
	return h.id >= TRACEDAT_BUFFER && (h.id == TRACEDAT_BUFFER || h.id >= TRACEDAT_STRINGS);
}

struct tracedat_section *tracedat_section_add(struct tracedat_walk *w, uint64_t offset)
{
	struct tracedat_section_header h;
	if (!tracedat_section_header_at(w, offset, &h) ||
	    !tracedat_room(w, &w->dir.sections, &w->dir.section_capacity, w->dir.section_count, sizeof(*w->dir.sections),
			   TRACEDAT_SECTIONS_MAX))
		return NULL;
	struct tracedat_section *section = &w->dir.sections[w->dir.section_count++];
	*section = (struct tracedat_section){ .offset = offset,
					      .size = h.size,
					      .declared = h.size,
					      .id = h.id,
					      .flags = h.flags,
					      /* An invalid offset counts as no description, and repair writes it so. */
					      .description = h.description >= -1 && h.description < 65536 ? h.description : -1 };
	return section;
}

int tracedat_section_of(const struct tracedat_directory *dir, unsigned id)
{
	for (size_t i = dir->section_count; i-- > 0;)
		if (dir->sections[i].id == id)
			return (int)i;
	return -1;
}

int tracedat_section_at(const struct tracedat_directory *dir, uint64_t offset)
{
	size_t i;
	array_search(i, dir->section_count, dir->sections[i].offset < offset);
	return i < dir->section_count && dir->sections[i].offset == offset ? (int)i : -1;
}

const char *tracedat_clock_selected(const struct tracedat_directory *dir, size_t *length)
{
	if (dir->clock_option < 0)
		return NULL;
	const struct tracedat_option *o = &dir->options[dir->clock_option];
	const char *name = tracedat_clock_name((const char *)o->block->data + o->at, o->size, length);
	return name && *length && !memchr(name, 0, *length) ? name : NULL;
}
