/* Sections of version 7 whose header is lost: what they are and where they end is told by their content. */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_blocks.h"

/* Bytes before the text of the first event format of a section: its header, the count, the size. */
#define FORMAT_HEAD (TRACEDAT_SECTION_SIZE + 4u + 8u)
/* Bytes of content that are looked at. */
#define LOOK 320u
/* Bytes of a body that are looked at: for those of a compressed one, and for all strings of a file. */
#define LOOK_FRAME 65536u

/* Behind `count` texts with their sizes; 0: they do not fit the file. */
static uint64_t texts_end(struct tracedat_walk *w, uint64_t at, uint32_t count)
{
	for (; count; count--) {
		const uint8_t *p = window_at(&w->window, at, 8);
		uint64_t size = p ? load_u64(p, w->shape.big_endian) : 0;
		if (size < 8 || size > TRACEDAT_FORMAT_MAX || size > w->source->size - at - 8)
			return 0;
		at += 8 + size;
	}
	return at;
}

/* Bytes of a list of formats, or of the headers, in plain; 0: its sizes do not fit the file. */
static uint64_t plain_size(struct tracedat_walk *w, unsigned id, uint64_t body)
{
	const uint8_t *p = window_at(&w->window, body, 12);
	uint64_t at = body + 4;
	if (!p)
		return 0;
	uint32_t count = load_u32(p, w->shape.big_endian);
	if (id == TRACEDAT_HEADER_INFO) {
		at = texts_end(w, body + 12, 1);
		p = at ? window_at(&w->window, at, 13) : NULL;
		at = p && !memcmp(p, "header_event", 13) ? texts_end(w, at + 13, 1) : 0;
	} else if (id == TRACEDAT_FTRACE_EVENTS) {
		at = texts_end(w, at, count);
	} else {
		for (; at && count; count--) {
			size_t got;
			p = window_upto(&w->window, at, 256 + 5, &got);
			size_t name = p ? strnlen((const char *)p, got) + 1 : 0;
			at = name && got >= name + 4 ? texts_end(w, at + name + 4, load_u32(p + name, w->shape.big_endian)) : 0;
		}
	}
	return at ? at - body : 0;
}

/* Behind options and the DONE that ends them; 0: they are none. */
static uint64_t options_end(struct tracedat_walk *w, uint64_t at)
{
	for (unsigned items = 0; items < TRACEDAT_SECTIONS_MAX; items++) {
		const uint8_t *p = window_at(&w->window, at, 6);
		unsigned id = p ? load_u16(p, w->shape.big_endian) : TRACEDAT_ID_LAST + 1;
		uint32_t size = p ? load_u32(p + 2, w->shape.big_endian) : 0;
		if (id > TRACEDAT_ID_LAST || size > w->source->size - at - 6 || (id == TRACEDAT_DONE && (size != 8 || !items)))
			return 0;
		at += 6 + (uint64_t)size;
		if (id == TRACEDAT_DONE)
			return at;
	}
	return 0;
}

/* Texts, the last of which may be cut. */
static bool strings_are(const uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (p[i] && (p[i] < ' ' || p[i] >= 0x7f))
			return false;
	return size > 1 && p[0];
}

bool tracedat_headless(struct tracedat_walk *w, uint64_t at, struct tracedat_headless *h)
{
	uint64_t body = at + TRACEDAT_SECTION_SIZE, end = w->source->size, size = 0, options;
	uint8_t content[LOOK];
	size_t got = 0;

	*h = (struct tracedat_headless){ 0 };
	const uint8_t *p = body < end ? window_upto(&w->window, body, LOOK_FRAME, &got) : NULL;
	if (!p || got < 12)
		return false;
	if ((options = options_end(w, body)) != 0) {
		h->size = options - body;
		return tracedat_section_sane(w, options);
	}
	p = window_upto(&w->window, body, LOOK_FRAME, &got);
	if (!p)
		return false;
	h->size = 8 + (uint64_t)load_u32(p, w->shape.big_endian);
	if (tracedat_frame_begins(w->shape.codec, p + 8, got - 8) && h->size <= end - body) {
		struct tracedat_decoded d;
		size_t stored = h->size < got ? (size_t)h->size - 8 : got - 8;
		if (!tracedat_decompress(w, p + 8, stored, content, sizeof(content), &d) && d.size < sizeof(content))
			return false;
		h->compressed = true;
		h->id = tracedat_content_kind(content, d.size, w->shape.big_endian, &size);
		if (!h->id && body + h->size == end && strings_are(content, d.size))
			h->id = TRACEDAT_STRINGS;
	} else if (w->shape.codec == TRACEDAT_NONE) {
		h->id = tracedat_content_kind(p, got < LOOK ? got : LOOK, w->shape.big_endian, &h->size);
		if (!h->id && got == end - body && got < LOOK_FRAME && !p[got - 1] && strings_are(p, got)) {
			h->id = TRACEDAT_STRINGS;
			h->size = end - body;
		}
	}
	if (!h->compressed && h->id >= TRACEDAT_HEADER_INFO && h->id <= TRACEDAT_EVENT_FORMATS)
		h->size = plain_size(w, h->id, body);
	/* What stands behind it agrees. */
	return h->id && h->size && h->size <= end - body && tracedat_section_sane(w, body + h->size);
}

/* The section at `at`, whose own header says nothing. */
static void adopt(struct tracedat_walk *w, uint64_t at, unsigned id, bool compressed, uint64_t size)
{
	struct tracedat_section *s = tracedat_section_add(w, at);
	if (!s)
		return;
	s->id = (uint16_t)id;
	s->flags = compressed ? TRACEDAT_COMPRESSED : 0;
	s->description = -1;
	s->size = size;
	s->size_bad = true;
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_v7_section_size, at, TRACEDAT_SECTION_SIZE,
					     "%s follow, but the header of their section is damaged",
					     id == TRACEDAT_FTRACE_EVENTS || id == TRACEDAT_EVENT_FORMATS ? "event formats"
					     : id == TRACEDAT_DONE					  ? "options"
								   : tracedat_id_name(s->id));
	finding_path(fd, "section %s", tracedat_id_name(s->id));
}

void tracedat_headless_adopt(struct tracedat_walk *w, uint64_t at, const struct tracedat_headless *h)
{
	adopt(w, at, h->id, h->compressed, h->size);
}

/* ---- formats of which the first ones may be lost, too ---- */

uint64_t tracedat_formats_begin(struct tracedat_walk *w, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; to > at && to - at > FORMAT_HEAD;) {
		size_t got;
		const uint8_t *p = window_upto(&w->window, at, to - at < 65536 ? (size_t)(to - at) : 65536, &got);
		const uint8_t *text = p ? memmem(p, got, "name: ", 6) : NULL;
		if (!p || got <= FORMAT_HEAD)
			break;
		if (!text) {
			at += got - FORMAT_HEAD;
			continue;
		}
		uint64_t place = at + (uint64_t)(text - p);
		at = place + 6;
		if (place < from + 8)
			continue;
		p = window_at(&w->window, place - 8, 8);
		uint64_t size = p ? load_u64(p, w->shape.big_endian) : 0;
		p = size > FORMAT_HEAD && size <= TRACEDAT_FORMAT_MAX && size <= to - place
			    ? window_at(&w->window, place + size - 1, 1)
			    : NULL;
		if (p && *p == '\n')
			return place - from > FORMAT_HEAD ? place - FORMAT_HEAD : from;
	}
	return to;
}

void tracedat_formats_adopt(struct tracedat_walk *w, uint64_t at, uint64_t to)
{
	bool ftrace = true;
	for (size_t i = 0; i < w->dir.section_count; i++)
		ftrace &= w->dir.sections[i].id != TRACEDAT_FTRACE_EVENTS;
	adopt(w, at, ftrace ? TRACEDAT_FTRACE_EVENTS : TRACEDAT_EVENT_FORMATS, false, to - at - TRACEDAT_SECTION_SIZE);
}
