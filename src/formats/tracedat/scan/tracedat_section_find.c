/* Finds the sections of version 7, also behind wrong sizes (MAN7 "SECTIONS"). */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/scan/tracedat_blocks.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"

/* Checks at far offsets while sections are searched byte by byte; each may need a read. */
#define FAR_CHECKS_MAX 64u
/* Sections that are carved by their content, since their header is lost. */
#define CARVES_MAX 64u
/* Bytes of an options section that is found by its content. */
#define OPTIONS_SEARCH_MAX (1u << 20)
/* Bytes of the least section: the option at the end of a section of options. */
#define OPTIONS_LEAST 14u
/* Bytes of content that are looked at to tell sections from other bytes. */
#define SECTION_LEAST 17u

struct finder {
	struct tracedat_walk *w;
	unsigned far_checks, carves;
	bool nested; /* checking what follows another section */
};

/* Options among other bytes: items must fill them exactly. */
static bool options_plausible(struct finder *f, uint64_t at, uint64_t size)
{
	if (size < OPTIONS_LEAST || size > OPTIONS_SEARCH_MAX || !tracedat_body_fits(f->w, 0, at, size) ||
	    (size > 8192 && !f->far_checks))
		return false;
	f->far_checks -= size > 8192;
	const uint8_t *p = window_at(&f->w->window, at, (size_t)size);
	return p && tracedat_options_fit(&f->w->shape, p, 0, (size_t)size);
}

/* Whether the body holds options, which may be damaged. */
static bool options_are(struct finder *f, uint64_t at, uint64_t size)
{
	struct tracedat_carved other;
	/* Its end shows it, where an item was hit. */
	if (tracedat_options_done(f->w, at, size))
		return true;
	if (!tracedat_body_fits(f->w, TRACEDAT_DONE, at, size))
		return false;
	return options_plausible(f, at, size) || !f->carves || !f->carves-- ||
	       !tracedat_section_carve(f->w, at - TRACEDAT_SECTION_SIZE, &other) || other.id == TRACEDAT_DONE;
}

/* Whether a body that is found among other bytes begins like the text of its kind. */
static bool body_begins(struct window *window, unsigned id, uint64_t at, uint64_t size)
{
	const uint8_t *p = size >= 17 ? window_at(window, at, 17) : NULL;
	return p && tracedat_body_begins(p, id);
}

/* Checks a section without a signature: event data has zeros up to its first page, which may have moved; strings end in NUL. */
static bool content_fits(struct tracedat_walk *w, const struct tracedat_section_header *h, uint64_t body, uint64_t size)
{
	unsigned id = h->id;
	if (id == TRACEDAT_BUFFER) {
		uint32_t page = tracedat_page_size_ok(w->shape.page_size) ? w->shape.page_size : TRACEDAT_PAGE_MIN;
		size_t padding = (size_t)(tracedat_align(body, page) - body);
		const uint8_t *p = padding < size ? window_at(&w->window, body, padding) : NULL;
		if (p && bytes_are_zero(p, padding))
			return true;
		return p && h->flags & TRACEDAT_COMPRESSED &&
		       tracedat_chunks_shifted(w, body + padding, page, body, body + size) != UINT64_MAX;
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
		return h.size <= room && body_begins(&w->window, h.id, body, h.size) && tracedat_body_fits(w, h.id, body, h.size);
	if (h.id != TRACEDAT_BUFFER && h.id != TRACEDAT_BUFFER_TEXT && h.id != TRACEDAT_STRINGS && h.id != TRACEDAT_BTF_FILE &&
	    h.id != TRACEDAT_MODULES)
		return false;
	/* Their content has no signature: a plausible section must follow. */
	if (h.size > room || h.size < 16 || !f->far_checks || f->nested || !content_fits(w, &h, body, h.size))
		return false;
	f->far_checks--;
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

	/* A header is not all zeros. */
	while ((at = window_pass_zeros(&w->window, at, end, 1, TRACEDAT_SECTION_SIZE)) + TRACEDAT_SECTION_SIZE + 4 <= end) {
		size_t got, i;
		const uint8_t *p = window_upto(&w->window, at, 65536, &got);
		if (!p)
			return end;
		for (i = 0; i + TRACEDAT_SECTION_SIZE <= got; i++) {
			if (p[i] == 0x17 && !memcmp(p + i, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE))
				return at + i; /* another trace.dat */
			uint16_t id = load_u16(p + i, w->shape.big_endian), flags = load_u16(p + i + 2, w->shape.big_endian);
			uint64_t size = load_u64(p + i + 8, w->shape.big_endian);
			if (id > TRACEDAT_ID_LAST || flags > 1 ||
			    (id < TRACEDAT_STRINGS && id != TRACEDAT_BUFFER && id != TRACEDAT_DONE) || size > end - at - i ||
			    (!flags && size < OPTIONS_LEAST)) /* among others: zeros */
				continue;
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

static bool header_plausible(const struct tracedat_section_header *h)
{
	bool zero = !h->id && !h->flags && !h->description && !h->size;
	return !zero && h->id <= TRACEDAT_ID_LAST && h->flags <= 1 && h->description >= -1 && h->description < 65536;
}

/* A section with a wrong size ends where the next one is found. */
static void section_measure(struct tracedat_walk *w, struct tracedat_section *section, uint64_t end)
{
	struct finding *fd;

	if (!section)
		return;
	uint64_t room = w->source->size - section->offset - TRACEDAT_SECTION_SIZE;
	section->size = end - section->offset - TRACEDAT_SECTION_SIZE;
	section->size_bad = true;
	if (end == w->source->size && section->declared > room && !(section->declared >> 62)) {
		section->cut = true;
		w->dir.truncated = tracedat_report(w, TRACEDAT_RULE_truncated_file, section->offset, end - section->offset,
						   "the file ends inside section %s: it has %llu bytes, of which the file has %llu",
						   tracedat_id_name(section->id), (unsigned long long)section->declared,
						   (unsigned long long)room);
		return;
	}
	fd = tracedat_report(w, TRACEDAT_RULE_v7_section_size, section->offset + 8, 8,
			     "the size of the section is %llu, expected %llu up to the next one",
			     (unsigned long long)section->declared, (unsigned long long)section->size);
	finding_path(fd, "section %s", tracedat_id_name(section->id));
	section->resized = fd;
}

/* The section at `at` has header h, which leads to `next`, where there is no section. Carves: this section if its header or
 * size is lost, or the next one if that one's header is lost. Returns where the walk continues; 0: no known content. */
static uint64_t section_by_content(struct finder *f, uint64_t at, const struct tracedat_section_header *h, uint64_t next)
{
	struct tracedat_walk *w = f->w;
	uint64_t body = at + TRACEDAT_SECTION_SIZE;
	struct tracedat_carved found;

	if (f->carves && f->carves-- && tracedat_section_carve(w, at, &found)) {
		if (header_plausible(h) && h->id == found.id && h->size == found.size) {
			/* The header behind it is damaged. No capture shows this: a damaged header is carved, or measured, before
			 * its neighbour is; the place is a net below both. */
			(void)tracedat_section_add(w, at);
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_size, next, TRACEDAT_SECTION_SIZE,
					      "the header of a section is damaged");
		} else if (header_plausible(h) && h->id == found.id) {
			section_measure(w, tracedat_section_add(w, at), body + found.size);
		} else {
			tracedat_section_carved_add(w, at, &found);
		}
		return body + found.size;
	}
	bool options = h->id == TRACEDAT_DONE;
	if (next >= w->source->size || !header_plausible(h) || (options && !options_are(f, body, h->size)) || !f->carves ||
	    !f->carves-- || !tracedat_section_carve(w, next, &found))
		return 0;
	/* Texts may be anything: only behind options that end there they are strings. */
	if (found.id == TRACEDAT_STRINGS && !(options && options_plausible(f, body, h->size)))
		return 0;
	(void)tracedat_section_add(w, at);
	return next;
}

/* The offset behind the section with header h at `at`, by its size; beyond the file if that is too large. */
static uint64_t chain_leads(struct finder *f, uint64_t at, const struct tracedat_section_header *h)
{
	struct tracedat_walk *w = f->w;
	uint64_t end = w->source->size, room = end - at - TRACEDAT_SECTION_SIZE;
	return h->size <= room ? at + TRACEDAT_SECTION_SIZE + h->size : end + 1;
}

/* Whether the file ends inside the header at `at`, or so soon behind it that the content does not show what it is. */
static bool header_is_cut(struct tracedat_walk *w, uint64_t at)
{
	uint8_t begin[TRACEDAT_SECTION_SIZE] = { 0 };
	struct tracedat_section_header h;
	uint64_t left = w->source->size - at;
	size_t some = left < sizeof(begin) ? (size_t)left : sizeof(begin);
	const uint8_t *p = left && left < sizeof(begin) + SECTION_LEAST ? window_at(&w->window, at, some) : NULL;

	if (!p)
		return false;
	if (left == 1)
		return *p <= TRACEDAT_ID_LAST;
	/* Of numbers that are cut themselves nothing is known. */
	memcpy(begin, p, some < 4 ? some & ~(size_t)1 : some < 16 ? some & ~(size_t)3 : some);
	tracedat_section_header_read(begin, w->shape.big_endian, &h);
	return header_plausible(&h) && (some < sizeof(begin) || (!(h.size >> 62) && h.size > left - some));
}

/* Bytes that are removed or inserted at once, of which the section behind is looked for at both sides of its place. */
#define BESIDE_MAX 64u

/* Whether what stands at `next` leads beyond the end of the file, while a section that fits its content is beside it. */
static bool next_is_beside(struct finder *f, uint64_t next)
{
	struct tracedat_section_header h;
	uint64_t end = f->w->source->size, size;

	const uint8_t *magic = window_at(&f->w->window, next, TRACEDAT_MAGIC_SIZE);
	if (!magic || !memcmp(magic, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE) || !tracedat_section_header_at(f->w, next, &h) ||
	    h.size <= end - next - TRACEDAT_SECTION_SIZE)
		return false;
	for (uint64_t step = 1; step <= BESIDE_MAX; step++)
		if ((next > f->w->prefix.header_end + step && finder_plausible(f, next - step, end, &size)) ||
		    finder_plausible(f, next + step, end, &size))
			return true;
	return false;
}

/* Whether the section at `at` ends at *next. For a section that should hold options and does not, *next becomes unknown. */
static bool chain_fits(struct finder *f, uint64_t at, const struct tracedat_section_header *h, uint64_t *next)
{
	struct tracedat_walk *w = f->w;
	uint64_t end = w->source->size;

	/* An unknown kind is accepted where another section follows it. */
	if (*next > end || (!tracedat_section_sane(w, *next) && !header_is_cut(w, *next)) ||
	    (h->id > TRACEDAT_ID_LAST && *next >= end && !w->dir.section_count) || next_is_beside(f, *next))
		return false;
	if (h->id != TRACEDAT_DONE || h->flags & 1 || options_are(f, at + TRACEDAT_SECTION_SIZE, h->size))
		return true;
	*next = end + 1;
	return false;
}

/* Bytes behind a damaged header in which lines are looked for: what may have been hit at once. */
#define LINES_SEARCH (8192u + 512u)

/* The kind of the lines of a section whose header at `at`, size and first lines may be damaged, and which ends at `to`; 0: it is
 * none of lines. */
static unsigned lines_kind(struct tracedat_walk *w, uint64_t at, uint64_t to)
{
	size_t got, size = to - at < LINES_SEARCH ? (size_t)(to - at) : LINES_SEARCH;
	const uint8_t *p = w->shape.codec == TRACEDAT_NONE ? window_upto(&w->window, at, size, &got) : NULL;
	unsigned kind = p && got > TRACEDAT_SECTION_SIZE + 8
				? tracedat_lines_kind(p + TRACEDAT_SECTION_SIZE + 4, got - TRACEDAT_SECTION_SIZE - 4)
				: 0;
	const uint8_t *last = kind ? window_at(&w->window, to - 1, 1) : NULL;
	return last && *last == '\n' ? kind : 0;
}

/* Lists lines on both sides of a header at `at` that was hit: a block of another file may have brought some of its own. */
static void lines_doubt(struct tracedat_walk *w, uint64_t at, uint64_t to)
{
	const struct tracedat_section *before = w->dir.section_count ? &w->dir.sections[w->dir.section_count - 1] : NULL;
	uint64_t from = at, reach = TRACEDAT_SECTION_SIZE + LINES_SEARCH / 2;

	if (before && before->id >= TRACEDAT_KALLSYMS && before->id <= TRACEDAT_CMDLINES)
		from = at - before->offset < TRACEDAT_BLOCK_OF_DISK ? before->offset : at - TRACEDAT_BLOCK_OF_DISK;
	if (w->s->plan)
		plan_doubt(w->s->plan, w->source, from, (to - at < reach ? to : at + reach) - from,
			   "lines beside a header that was hit, which may have been hit with it");
}

/* A section with a wrong size and unknown content: it ends at the next plausible header. Returns where the walk continues.
 * *trusted: the header up to which a section of correct size was accepted. */
static uint64_t section_by_next(struct finder *f, uint64_t at, const struct tracedat_section_header *h, uint64_t next,
				uint64_t *trusted)
{
	struct tracedat_walk *w = f->w;
	uint64_t found = find_next(f, at + 1), real = 0;
	bool fits = next < found && found != *trusted && tracedat_body_fits(w, h->id, at + TRACEDAT_SECTION_SIZE, h->size);
	uint64_t lost = w->shape.codec == TRACEDAT_NONE ? tracedat_formats_begin(w, fits ? next : at, found) : found;

	if (fits && (lost < found || lines_kind(w, next, found))) {
		/* The header behind it is lost, its formats or lines are not. Once: each such search is as long as the gap. */
		(void)tracedat_section_add(w, at);
		*trusted = found;
		return next;
	}
	bool whole = found - at >= TRACEDAT_SECTION_SIZE;
	bool cut = found == w->source->size && !(h->size >> 62) && h->size + TRACEDAT_SECTION_SIZE > found - at;
	bool own = finder_plausible(f, at, w->source->size, &real) || h->id == TRACEDAT_BUFFER ||
		   (whole && header_plausible(h) &&
		    ((at == w->prefix.header_end && tracedat_id_is_section(h->id)) || h->id == TRACEDAT_BUFFER_TEXT || cut ||
		     tracedat_body_fits(w, h->id, at + 16, found - at - 16)));
	if (!own && lost < found) {
		tracedat_drop(w, at, lost - at, TRACEDAT_RULE_v7_section_size, "bytes that are not a section");
		tracedat_formats_section_add(w, lost, found);
		return found;
	}
	unsigned kind = own || !whole ? 0 : lines_kind(w, at, found);
	own |= kind && header_plausible(h) && h->id == kind;
	if (kind && !own) {
		lines_doubt(w, at, found);
		tracedat_section_carved_add(w, at, &(struct tracedat_carved){ kind, false, found - at - TRACEDAT_SECTION_SIZE });
		return found;
	}
	struct tracedat_section *section = own && whole ? tracedat_section_add(w, at) : NULL;
	if (section) {
		section_measure(w, section, found);
	} else {
		(void)tracedat_report(w, TRACEDAT_RULE_v7_section_size, at, found - at, "%llu bytes that are not a section",
				      (unsigned long long)(found - at));
		w->data.errors = true;
	}
	return found;
}

/* A block of another file in the place of ours. Returns where the next section begins. */
static uint64_t block_skip(struct finder *f, uint64_t at, uint64_t behind)
{
	uint64_t found = find_next(f, behind);

	(void)tracedat_report(f->w, TRACEDAT_RULE_v7_section_size, at, found - at,
			      "%llu bytes that are not a section: a block of another trace.dat begins here",
			      (unsigned long long)(found - at));
	tracedat_drop(f->w, at, found - at, TRACEDAT_RULE_v7_section_size, "a block of another trace.dat, and what it tore");
	f->w->data.errors = true;
	f->w->out.lost_is = TM_UNKNOWN_COUNT;
	return found;
}

/* The walk over sections: each size must lead to a header or the end of the file. */
void tracedat_sections_find(struct tracedat_walk *w)
{
	struct finder f = { w, FAR_CHECKS_MAX, CARVES_MAX, false };
	uint64_t at = w->prefix.header_end, end = w->source->size, trusted = 0;

	/* With a lost initial block, which is reported already, the first section has to be searched. */
	if (w->prefix.lost)
		w->prefix.header_end = at = tracedat_formats_begin(w, at, find_next(&f, at));
	while (at < end && w->status == TM_OK) {
		struct tracedat_section_header h;
		const uint8_t *magic = at ? window_at(&w->window, at, TRACEDAT_MAGIC_SIZE) : NULL;
		bool other = magic && !memcmp(magic, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE);
		uint64_t behind = other ? tracedat_foreign_block(w, at) : 0;
		if (behind) {
			at = block_skip(&f, at, behind);
			continue;
		}
		if (other) {
			(void)tracedat_report(w, TRACEDAT_RULE_v7_section_size, at, end - at,
					      "another trace.dat of %llu bytes begins here", (unsigned long long)(end - at));
			tracedat_drop(w, at, end - at, TRACEDAT_RULE_v7_section_size, "another trace.dat");
			w->out.lost_is = TM_UNKNOWN_COUNT;
			return;
		}
		if (end - at < TRACEDAT_SECTION_SIZE || !tracedat_section_header_at(w, at, &h)) {
			w->dir.truncated = tracedat_report(w, TRACEDAT_RULE_truncated_file, at, end - at,
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
	if (!w->dir.section_count && !w->dir.truncated)
		w->dir.truncated = tracedat_report(w, TRACEDAT_RULE_truncated_file, at, 0, "the file has no section");
}
