/* Sections of version 7 whose header is lost, carved by their content. */
#include <ctype.h>

#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_blocks.h"

/* Bytes before the text of the first event format of a section: its header, the count, the size. */
#define FORMAT_HEAD (TRACEDAT_SECTION_SIZE + 4u + 8u)
/* Bytes of content that are needed to recognise it. */
#define CONTENT_READ 320u
/* Bytes of a body that are read: to decompress its beginning, or for the whole strings section. */
#define FRAME_READ 65536u
/* Bytes of the name of a system that are looked at. */
#define SYSTEM_NAME_SEEN 64u

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

/* The offset behind options and their DONE; 0: there are no valid options. */
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

bool tracedat_section_carve(struct tracedat_walk *w, uint64_t at, struct tracedat_carved *h)
{
	uint64_t body = at + TRACEDAT_SECTION_SIZE, end = w->source->size, size = 0, options;
	uint8_t content[CONTENT_READ];
	size_t got = 0;

	*h = (struct tracedat_carved){ 0 };
	const uint8_t *p = body < end ? window_upto(&w->window, body, FRAME_READ, &got) : NULL;
	if (!p || got < 12)
		return false;
	if ((options = options_end(w, body)) != 0) {
		h->size = options - body;
		return tracedat_section_sane(w, options);
	}
	p = window_upto(&w->window, body, FRAME_READ, &got);
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
		h->id = tracedat_content_kind(p, got < CONTENT_READ ? got : CONTENT_READ, w->shape.big_endian, &h->size);
		if (!h->id && got == end - body && got < FRAME_READ && !p[got - 1] && strings_are(p, got)) {
			h->id = TRACEDAT_STRINGS;
			h->size = end - body;
		}
	}
	if (!h->compressed && h->id >= TRACEDAT_HEADER_INFO && h->id <= TRACEDAT_EVENT_FORMATS)
		h->size = plain_size(w, h->id, body);
	/* What stands behind it agrees. */
	return h->id && h->size && h->size <= end - body && tracedat_section_sane(w, body + h->size);
}

/* Adds the section at `at`, whose own header is lost, and returns what reports it. */
static struct finding *adopt(struct tracedat_walk *w, uint64_t at, unsigned id, bool compressed, uint64_t size)
{
	struct tracedat_section *section = tracedat_section_add(w, at);
	if (!section)
		return NULL;
	section->id = (uint16_t)id;
	section->flags = compressed ? TRACEDAT_COMPRESSED : 0;
	section->description = -1;
	section->size = size;
	section->size_bad = true;
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_v7_section_size, at, TRACEDAT_SECTION_SIZE,
					     "%s follow a damaged section header",
					     id == TRACEDAT_FTRACE_EVENTS || id == TRACEDAT_EVENT_FORMATS ? "event formats"
					     : id == TRACEDAT_DONE					  ? "options"
								   : tracedat_id_name(section->id));
	finding_path(fd, "section %s", tracedat_id_name(section->id));
	return fd;
}

void tracedat_section_carved_add(struct tracedat_walk *w, uint64_t at, const struct tracedat_carved *h)
{
	(void)adopt(w, at, h->id, h->compressed, h->size);
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

/* Bytes of the name of an event system, with its NUL, that ends at `end`; 0: there is none. */
static size_t system_named(struct tracedat_walk *w, uint64_t end)
{
	const size_t most = end < SYSTEM_NAME_SEEN ? (size_t)end : SYSTEM_NAME_SEEN;
	const uint8_t *p = most ? window_at(&w->window, end - most, most) : NULL;
	size_t length = 0;

	if (!p || p[most - 1])
		return 0;
	while (length + 1 < most && (isalnum(p[most - 2 - length]) || p[most - 2 - length] == '_' || p[most - 2 - length] == '-'))
		length++;
	return length ? length + 1 : 0;
}

void tracedat_formats_section_add(struct tracedat_walk *w, uint64_t at, uint64_t to)
{
	/* In front of the number of formats of a system stands its name, and in front of the first one the number of systems. */
	const uint64_t count = at + TRACEDAT_SECTION_SIZE;
	const size_t name = system_named(w, count);
	bool ftrace = !name;

	if (name && name + 4 <= at)
		at -= name + 4;
	for (size_t i = 0; i < w->dir.section_count; i++)
		ftrace &= w->dir.sections[i].id != TRACEDAT_FTRACE_EVENTS;
	struct finding *fd = adopt(w, at, ftrace ? TRACEDAT_FTRACE_EVENTS : TRACEDAT_EVENT_FORMATS, false,
				   to - at - TRACEDAT_SECTION_SIZE);
	w->events.lost = true;
	if (!w->events.finding)
		w->events.finding = fd;
}
