/* Sections of version 7: finding them whatever their sizes say (MAN7 "SECTIONS"). */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/scan/tracedat_blocks.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"

/* Looks at far places while sections are searched byte by byte; each may cost a read. */
#define FAR_LOOKS 64u
/* Sections whose header is lost that are told by their content. */
#define HEADLESS_LOOKS 64u
/* Bytes of an options section that is found by its look. */
#define OPTIONS_SEARCH_MAX (1u << 20)

struct finder {
	struct tracedat_walk *w;
	unsigned far, looks;
	bool nested; /* looking at what follows another section */
};

/* Options among other bytes: items must fill them exactly. */
static bool options_plausible(struct finder *f, uint64_t at, uint64_t size)
{
	if (size < 14 || size > OPTIONS_SEARCH_MAX || !tracedat_body_fits(f->w, 0, at, size) || (size > 8192 && !f->far))
		return false;
	f->far -= size > 8192;
	const uint8_t *p = window_at(&f->w->window, at, (size_t)size);
	return p && tracedat_options_fit(&f->w->shape, p, 0, (size_t)size);
}

/* Whether a section of that id holds options, as far as damage lets them be known. */
static bool options_are(struct finder *f, uint64_t at, uint64_t size)
{
	struct tracedat_headless other;
	if (!tracedat_body_fits(f->w, TRACEDAT_DONE, at, size))
		return false;
	return options_plausible(f, at, size) || !f->looks || !f->looks-- ||
	       !tracedat_headless(f->w, at - TRACEDAT_SECTION_SIZE, &other) || other.id == TRACEDAT_DONE;
}

/* Whether a body that is found among other bytes begins like the text of its kind. */
static bool body_begins(struct tracedat_walk *w, unsigned id, uint64_t at, uint64_t size)
{
	const uint8_t *p = size >= 17 ? window_at(&w->window, at, 17) : NULL;
	return p && tracedat_body_begins(p, id);
}

/* Of a section whose content has no beginning of its own: zeros up to the first page of event data, texts of strings. */
static bool content_fits(struct tracedat_walk *w, unsigned id, uint64_t body, uint64_t size)
{
	if (id == TRACEDAT_BUFFER) {
		uint32_t page = tracedat_page_size_ok(w->shape.page_size) ? w->shape.page_size : TRACEDAT_PAGE_MIN;
		size_t padding = (size_t)(tracedat_align(body, page) - body);
		const uint8_t *p = padding < size ? window_at(&w->window, body, padding) : NULL;
		return p && bytes_are_zero(p, padding);
	}
	const uint8_t *p = id == TRACEDAT_STRINGS ? window_at(&w->window, body + size - 1, 1) : NULL;
	return id != TRACEDAT_STRINGS || (p && !*p);
}

static bool finder_plausible(struct finder *f, uint64_t at, uint64_t limit, uint64_t *size)
{
	struct tracedat_walk *w = f->w;
	struct tracedat_section_header h;
	uint64_t real = 0;

	if (limit < at + TRACEDAT_SECTION_SIZE || !tracedat_section_header_at(w, at, &h))
		return false;
	uint64_t room = limit - at - TRACEDAT_SECTION_SIZE, body = at + TRACEDAT_SECTION_SIZE;
	if (h.id > TRACEDAT_ID_LAST || h.flags > 1 || h.description < -1 || h.description > 65535)
		return false;
	*size = h.size;
	if (h.flags & TRACEDAT_COMPRESSED && (tracedat_id_is_metadata(h.id) || h.id == TRACEDAT_STRINGS || h.id == TRACEDAT_DONE)) {
		if (!tracedat_frame_fits(w, body, room, &real))
			return false;
		if (h.size != real && real <= room)
			*size = real;
		return *size <= room;
	}
	if (h.id == TRACEDAT_DONE)
		return h.size <= room && options_plausible(f, body, h.size);
	if (tracedat_id_is_metadata(h.id))
		return h.size <= room && body_begins(w, h.id, body, h.size) && tracedat_body_fits(w, h.id, body, h.size);
	if (h.id != TRACEDAT_BUFFER && h.id != TRACEDAT_BUFFER_TEXT && h.id != TRACEDAT_STRINGS && h.id != TRACEDAT_BTF_FILE &&
	    h.id != TRACEDAT_MODULES)
		return false;
	/* Their content says nothing: what stands behind must be beyond doubt. */
	if (h.size > room || h.size < 16 || !f->far || f->nested || !content_fits(w, h.id, body, h.size))
		return false;
	f->far--;
	if (body + h.size == w->source->size)
		return true;
	uint64_t none;
	f->nested = true;
	bool fits = finder_plausible(f, body + h.size, limit, &none);
	f->nested = false;
	return fits;
}

/* The next plausible header at or after `at`; the end of the file if there is none. */
static uint64_t find_next(struct finder *f, uint64_t at)
{
	struct tracedat_walk *w = f->w;
	uint64_t end = w->source->size;

	while (at + TRACEDAT_SECTION_SIZE + 4 <= end) {
		size_t got, i;
		const uint8_t *p = window_upto(&w->window, at, 65536, &got);
		if (!p)
			return end;
		for (i = 0; i + TRACEDAT_SECTION_SIZE <= got; i++) {
			uint16_t id = load_u16(p + i, w->shape.big_endian);
			if (id > TRACEDAT_ID_LAST || load_u16(p + i + 2, w->shape.big_endian) > 1 ||
			    (id < TRACEDAT_STRINGS && id != TRACEDAT_BUFFER && id != TRACEDAT_DONE) ||
			    load_u64(p + i + 8, w->shape.big_endian) > end - at - i)
				continue;
			uint64_t size;
			if (finder_plausible(f, at + i, end, &size))
				return at + i;
			p = window_upto(&w->window, at, 65536, &got);
			if (!p)
				return end;
		}
		at += i ? i : 1;
	}
	return end;
}

static bool header_known(const struct tracedat_section_header *h)
{
	bool zero = !h->id && !h->flags && !h->description && !h->size;
	return !zero && h->id <= TRACEDAT_ID_LAST && h->flags <= 1 && h->description >= -1 && h->description < 65536;
}

/* A section whose size leads nowhere ends where the next one is found. */
static void section_measure(struct tracedat_walk *w, struct tracedat_section *s, uint64_t end)
{
	struct finding *fd;

	if (!s)
		return;
	uint64_t room = w->source->size - s->offset - TRACEDAT_SECTION_SIZE;
	s->size = end - s->offset - TRACEDAT_SECTION_SIZE;
	s->size_bad = true;
	if (end == w->source->size && s->declared > room && !(s->declared >> 62)) {
		(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, s->offset, end - s->offset,
				      "the file ends inside a section: %s, %llu bytes, of which %llu are there",
				      tracedat_id_name(s->id), (unsigned long long)s->declared, (unsigned long long)room);
		return;
	}
	fd = tracedat_report(w, TRACEDAT_RULE_v7_section_size, s->offset + 8, 8,
			     "the size of the section is %llu, but %llu bytes lead to the next one",
			     (unsigned long long)s->declared, (unsigned long long)s->size);
	finding_path(fd, "section %s", tracedat_id_name(s->id));
}

/* The section at `at`, whose header is h and leads to `next` where none is, if content tells what it is: its own, where that
 * header is lost or its size is; that of the next section, whose header is lost. Returns where to go on; 0: nothing tells. */
static uint64_t section_by_content(struct finder *f, uint64_t at, const struct tracedat_section_header *h, uint64_t next)
{
	struct tracedat_walk *w = f->w;
	uint64_t body = at + TRACEDAT_SECTION_SIZE;
	struct tracedat_headless found;

	if (f->looks && f->looks-- && tracedat_headless(w, at, &found)) {
		if (header_known(h) && h->id == found.id && h->size == found.size) {
			/* What stands behind it is at fault. */
			(void)tracedat_section_add(w, at);
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_size, next, TRACEDAT_SECTION_SIZE,
					      "the header of a section is damaged");
		} else if (header_known(h) && h->id == found.id) {
			section_measure(w, tracedat_section_add(w, at), body + found.size);
		} else {
			tracedat_headless_adopt(w, at, &found);
		}
		return body + found.size;
	}
	bool options = h->id == TRACEDAT_DONE;
	if (next >= w->source->size || !header_known(h) || (options && !options_are(f, body, h->size)) || !f->looks ||
	    !f->looks-- || !tracedat_headless(w, next, &found))
		return 0;
	/* Texts may be anything: only behind options that end there they are strings. */
	if (found.id == TRACEDAT_STRINGS && !(options && options_plausible(f, body, h->size)))
		return 0;
	(void)tracedat_section_add(w, at);
	return next;
}

/* Where the chain goes on behind the header h at `at`, going by its size alone; beyond the file where it does not. */
static uint64_t chain_leads(struct finder *f, uint64_t at, const struct tracedat_section_header *h)
{
	struct tracedat_walk *w = f->w;
	uint64_t end = w->source->size, room = end - at - TRACEDAT_SECTION_SIZE;
	return h->size <= room ? at + TRACEDAT_SECTION_SIZE + h->size : end + 1;
}

/* Whether the section at `at` ends at *next; of options that do not fit nobody knows where they end. */
static bool chain_fits(struct finder *f, uint64_t at, const struct tracedat_section_header *h, uint64_t *next)
{
	struct tracedat_walk *w = f->w;
	uint64_t end = w->source->size;

	/* An unknown kind counts where the chain goes on behind it. */
	if (*next > end || !tracedat_section_sane(w, *next) || (h->id > TRACEDAT_ID_LAST && *next >= end && !w->dir.section_count))
		return false;
	if (h->id != TRACEDAT_DONE || h->flags & 1 || options_are(f, at + TRACEDAT_SECTION_SIZE, h->size))
		return true;
	*next = end + 1;
	return false;
}

/* The section at `at` where its size leads nowhere and nothing tells what it is: up to the next plausible header. Returns where to
 * go on. *trusted: the header up to which such a section was taken as it is. */
static uint64_t section_by_next(struct finder *f, uint64_t at, const struct tracedat_section_header *h, uint64_t next,
				uint64_t *trusted)
{
	struct tracedat_walk *w = f->w;
	uint64_t found = find_next(f, at + 1), real = 0;
	bool fits = next < found && found != *trusted && tracedat_body_fits(w, h->id, at + TRACEDAT_SECTION_SIZE, h->size);
	uint64_t lost = w->shape.codec == TRACEDAT_NONE ? tracedat_formats_begin(w, fits ? next : at, found) : found;

	if (fits && lost < found) {
		/* The header behind it is lost, its formats are not. Once: each such search is as long as the gap. */
		(void)tracedat_section_add(w, at);
		*trusted = found;
		return next;
	}
	bool whole = found - at >= TRACEDAT_SECTION_SIZE;
	bool own = finder_plausible(f, at, w->source->size, &real) || h->id == TRACEDAT_BUFFER ||
		   (whole && header_known(h) &&
		    (at == w->prefix.header_end || h->id == TRACEDAT_BUFFER_TEXT ||
		     tracedat_body_fits(w, h->id, at + 16, found - at - 16)));
	if (!own && lost < found) {
		tracedat_drop(w, at, lost - at, TRACEDAT_RULE_v7_section_size, "bytes that are no section");
		tracedat_formats_adopt(w, lost, found);
		return found;
	}
	struct tracedat_section *s = own && whole ? tracedat_section_add(w, at) : NULL;
	if (s) {
		section_measure(w, s, found);
	} else {
		(void)tracedat_report(w, TRACEDAT_RULE_v7_section_size, at, found - at, "%llu bytes that are no section",
				      (unsigned long long)(found - at));
		w->data.errors = true;
	}
	return found;
}

/* The walk: each size must lead to a header or the end. */
void tracedat_sections_find(struct tracedat_walk *w)
{
	struct finder f = { w, FAR_LOOKS, HEADLESS_LOOKS, false };
	uint64_t at = w->prefix.header_end, end = w->source->size, trusted = 0;

	/* Where the sections begin nothing tells when the initial block is lost; that is reported already. */
	if (w->prefix.lost)
		w->prefix.header_end = at = tracedat_formats_begin(w, at, find_next(&f, at));
	while (at < end && w->status == TM_OK) {
		struct tracedat_section_header h;
		if (end - at < TRACEDAT_SECTION_SIZE || !tracedat_section_header_at(w, at, &h)) {
			(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, at, end - at,
					      "the file ends inside the header of a section");
			tracedat_drop(w, at, end - at, TRACEDAT_RULE_truncated_file, "the beginning of a section that is cut");
			return;
		}
		uint64_t next = chain_leads(&f, at, &h);
		if (chain_fits(&f, at, &h, &next)) {
			(void)tracedat_section_add(w, at);
			at = next;
			continue;
		}
		uint64_t stop = section_by_content(&f, at, &h, next);
		at = stop ? stop : section_by_next(&f, at, &h, next, &trusted);
	}
	if (!w->dir.section_count)
		(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, at, 0, "the file has no section");
}
