/* Sections of version 7: finding them whatever their sizes say, and loading their content (MAN7 "SECTIONS"). */
#include "tracedat.h"

#include <stdlib.h>

/* Looks at far places while sections are searched byte by byte; each may cost a read. */
#define FAR_LOOKS 64u
/* Sections whose header is lost that are told by their content. */
#define HEADLESS_LOOKS 64u
/* Bytes of an options section that is found by its look. */
#define OPTIONS_SEARCH_MAX (1u << 20)

struct finder {
	struct tracedat *t;
	unsigned far, looks;
	bool nested; /* looking at what follows another section */
};

struct header {
	uint16_t id, flags;
	int32_t description;
	uint64_t size;
};

static bool header_read(struct tracedat *t, uint64_t at, struct header *h)
{
	const uint8_t *p = window_at(&t->window, at, TRACEDAT_SECTION_SIZE);
	if (!p)
		return false;
	h->id = load_u16(p, t->big_endian);
	h->flags = load_u16(p + 2, t->big_endian);
	h->description = (int32_t)load_u32(p + 4, t->big_endian);
	h->size = load_u64(p + 8, t->big_endian);
	return true;
}

static bool id_is_metadata(unsigned id)
{
	return id >= TRACEDAT_HEADER_INFO && id <= TRACEDAT_CMDLINES;
}

/* Whether an uncompressed body looks like what its id says. size is the declared one. */
static bool body_fits(struct tracedat *t, unsigned id, uint64_t at, uint64_t size)
{
	bool be = t->big_endian;
	const uint8_t *p = window_at(&t->window, at, size < 17 ? (size_t)size : 17);
	if (!p)
		return false;
	switch (id) {
	case TRACEDAT_DONE:
		return size >= 14 && load_u16(p, be) <= TRACEDAT_ID_LAST && (load_u32(p + 2, be) <= size - 6 ||
									      load_u32(p + 2, be) == 0x08000000);
	case TRACEDAT_HEADER_INFO:
		return size >= 12 && !memcmp(p, "header_page", 12);
	case TRACEDAT_FTRACE_EVENTS:
		return size >= 4 && (size >= 17 ? !memcmp(p + 12, "name:", 5) : size == 4 && !load_u32(p, be));
	case TRACEDAT_EVENT_FORMATS:
		return size >= 4 && (size >= 17 ? load_u32(p, be) - 1 < 65536 && p[4] > 0x20 && p[4] < 0x7f : size == 4);
	case TRACEDAT_KALLSYMS:
	case TRACEDAT_PRINTK:
		return size >= 4 && load_u32(p, be) == size - 4;
	case TRACEDAT_CMDLINES:
		return size >= 8 && load_u64(p, be) == size - 8;
	default:
		return false;
	}
}

/* Whether a body that is found among other bytes begins like the text of its kind. */
static bool body_begins(struct tracedat *t, unsigned id, uint64_t at, uint64_t size)
{
	const uint8_t *p = size >= 17 ? window_at(&t->window, at, 17) : NULL;
	if (!p)
		return false;
	switch (id) {
	case TRACEDAT_KALLSYMS:
		return (p[4] >= '0' && p[4] <= '9') || (p[4] >= 'a' && p[4] <= 'f');
	case TRACEDAT_PRINTK:
		return p[4] == '0' && p[5] == 'x';
	case TRACEDAT_CMDLINES:
		return p[8] >= '0' && p[8] <= '9';
	default:
		return true;
	}
}

/* A compressed metadata body: *real is its size by its own count. */
static bool frame_fits(struct tracedat *t, uint64_t at, uint64_t size, uint64_t *real)
{
	const uint8_t *p = size >= 12 ? window_at(&t->window, at, 12) : NULL;
	if (!p || !tracedat_frame_begins(t->codec, p + 8, 4))
		return false;
	*real = 8 + (uint64_t)load_u32(p, t->big_endian);
	return true;
}

/* A header that may stand behind another section: only its own bytes are looked at. */
bool tracedat_section_sane(struct tracedat *t, uint64_t at)
{
	struct header h;
	if (at == t->source->size)
		return true;
	if (at > t->source->size || t->source->size - at < 16 || !header_read(t, at, &h))
		return false;
	/* Odd flags are only odd where the size is fine. */
	if ((h.flags > 1 && h.size > t->source->size - at - 16) || h.description < -1 || h.description > 65535)
		return false;
	if (h.id == TRACEDAT_DONE)
		return body_fits(t, 0, at + 16, h.size <= t->source->size - at - 16 ? h.size : 14);
	/* A kind that nobody knows counts where its size leads to the end or on. */
	if (h.id > TRACEDAT_ID_LAST)
		return h.size <= t->source->size - at - 16 && h.id < 1024 && h.size;
	return h.id >= TRACEDAT_BUFFER && (h.id == TRACEDAT_BUFFER || h.id >= TRACEDAT_STRINGS);
}

/* Options among other bytes: items must fill them exactly. */
static bool options_plausible(struct finder *f, uint64_t at, uint64_t size)
{
	if (size < 14 || size > OPTIONS_SEARCH_MAX || !body_fits(f->t, 0, at, size) || (size > 8192 && !f->far))
		return false;
	f->far -= size > 8192;
	const uint8_t *p = window_at(&f->t->window, at, (size_t)size);
	return p && tracedat_options_fit(f->t, p, 0, (size_t)size);
}

/* Whether a section of that id holds options, as far as damage lets them be known. */
static bool options_are(struct finder *f, uint64_t at, uint64_t size)
{
	struct tracedat_headless other;
	if (!body_fits(f->t, TRACEDAT_DONE, at, size))
		return false;
	return options_plausible(f, at, size) || !f->looks || !f->looks-- ||
	       !tracedat_headless(f->t, at - TRACEDAT_SECTION_SIZE, &other) || other.id == TRACEDAT_DONE;
}

/* Of a section whose content has no beginning of its own: zeros up to the first page of event data, texts of strings. */
static bool content_fits(struct tracedat *t, unsigned id, uint64_t body, uint64_t size)
{
	if (id == TRACEDAT_BUFFER) {
		uint32_t page = tracedat_page_size_ok(t->page_size) ? t->page_size : TRACEDAT_PAGE_MIN;
		size_t padding = (size_t)(tracedat_align(body, page) - body);
		const uint8_t *p = padding < size ? window_at(&t->window, body, padding) : NULL;
		return p && bytes_are_zero(p, padding);
	}
	const uint8_t *p = id == TRACEDAT_STRINGS ? window_at(&t->window, body + size - 1, 1) : NULL;
	return id != TRACEDAT_STRINGS || (p && !*p);
}

static bool finder_plausible(struct finder *f, uint64_t at, uint64_t limit, uint64_t *size)
{
	struct tracedat *t = f->t;
	struct header h;
	uint64_t real = 0;

	if (limit < at + TRACEDAT_SECTION_SIZE || !header_read(t, at, &h))
		return false;
	uint64_t room = limit - at - TRACEDAT_SECTION_SIZE, body = at + TRACEDAT_SECTION_SIZE;
	if (h.id > TRACEDAT_ID_LAST || h.flags > 1 || h.description < -1 || h.description > 65535)
		return false;
	*size = h.size;
	if (h.flags & TRACEDAT_COMPRESSED && (id_is_metadata(h.id) || h.id == TRACEDAT_STRINGS || h.id == TRACEDAT_DONE)) {
		if (!frame_fits(t, body, room, &real))
			return false;
		if (h.size != real && real <= room)
			*size = real;
		return *size <= room;
	}
	if (h.id == TRACEDAT_DONE)
		return h.size <= room && options_plausible(f, body, h.size);
	if (id_is_metadata(h.id))
		return h.size <= room && body_begins(t, h.id, body, h.size) && body_fits(t, h.id, body, h.size);
	if (h.id != TRACEDAT_BUFFER && h.id != TRACEDAT_BUFFER_TEXT && h.id != TRACEDAT_STRINGS && h.id != TRACEDAT_BTF_FILE &&
	    h.id != TRACEDAT_MODULES)
		return false;
	/* Their content says nothing: what stands behind must be beyond doubt. */
	if (h.size > room || h.size < 16 || !f->far || f->nested || !content_fits(t, h.id, body, h.size))
		return false;
	f->far--;
	if (body + h.size == t->source->size)
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
	struct tracedat *t = f->t;
	uint64_t end = t->source->size;

	while (at + TRACEDAT_SECTION_SIZE + 4 <= end) {
		size_t got, i;
		const uint8_t *p = window_upto(&t->window, at, 65536, &got);
		if (!p)
			return end;
		for (i = 0; i + TRACEDAT_SECTION_SIZE <= got; i++) {
			uint16_t id = load_u16(p + i, t->big_endian);
			if (id > TRACEDAT_ID_LAST || load_u16(p + i + 2, t->big_endian) > 1 ||
			    (id < TRACEDAT_STRINGS && id != TRACEDAT_BUFFER && id != TRACEDAT_DONE) ||
			    load_u64(p + i + 8, t->big_endian) > end - at - i)
				continue;
			uint64_t size;
			if (finder_plausible(f, at + i, end, &size))
				return at + i;
			p = window_upto(&t->window, at, 65536, &got);
			if (!p)
				return end;
		}
		at += i ? i : 1;
	}
	return end;
}

struct tracedat_section *tracedat_section_add(struct tracedat *t, uint64_t offset)
{
	struct header h;
	if (!header_read(t, offset, &h) ||
	    !tracedat_room(t, &t->sections, &t->section_capacity, t->section_count, sizeof(*t->sections), TRACEDAT_SECTIONS_MAX))
		return NULL;
	struct tracedat_section *s = &t->sections[t->section_count++];
	*s = (struct tracedat_section){ .offset = offset, .size = h.size, .declared = h.size, .id = h.id, .flags = h.flags,
					.description = h.description };
	return s;
}

int tracedat_section_at(const struct tracedat *t, uint64_t offset)
{
	size_t low = 0, high = t->section_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->sections[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->section_count && t->sections[low].offset == offset ? (int)low : -1;
}

static bool header_known(const struct header *h)
{
	bool zero = !h->id && !h->flags && !h->description && !h->size;
	return !zero && h->id <= TRACEDAT_ID_LAST && h->flags <= 1 && h->description >= -1 && h->description < 65536;
}

/* A section whose size leads nowhere ends where the next one is found. */
static void section_measure(struct tracedat *t, struct tracedat_section *s, uint64_t end)
{
	struct finding *fd;

	if (!s)
		return;
	uint64_t room = t->source->size - s->offset - TRACEDAT_SECTION_SIZE;
	s->size = end - s->offset - TRACEDAT_SECTION_SIZE;
	s->size_bad = true;
	if (end == t->source->size && s->declared > room && !(s->declared >> 62)) {
		fd = tracedat_report(t, TRACEDAT_RULE_truncated_file, s->offset, end - s->offset);
		finding_say(fd, "the file ends inside a section: %s, %llu bytes, of which %llu are there", tracedat_id_name(s->id),
			    (unsigned long long)s->declared, (unsigned long long)room);
		return;
	}
	fd = tracedat_report(t, TRACEDAT_RULE_v7_section_size, s->offset + 8, 8);
	finding_path(fd, "section %s", tracedat_id_name(s->id));
	finding_say(fd, "the size of the section is %llu, but %llu bytes lead to the next one", (unsigned long long)s->declared,
		    (unsigned long long)s->size);
}

/* The section at `at`, whose header is h and leads to `next` where none is, if content tells what it is: its own, where that
 * header is lost or its size is; that of the next section, whose header is lost. Returns where to go on; 0: nothing tells. */
static uint64_t section_by_content(struct finder *f, uint64_t at, const struct header *h, uint64_t next)
{
	struct tracedat *t = f->t;
	uint64_t body = at + TRACEDAT_SECTION_SIZE;
	struct tracedat_headless found;

	if (f->looks && f->looks-- && tracedat_headless(t, at, &found)) {
		if (header_known(h) && h->id == found.id)
			section_measure(t, tracedat_section_add(t, at), body + found.size);
		else
			tracedat_headless_adopt(t, at, &found);
		return body + found.size;
	}
	bool options = h->id == TRACEDAT_DONE;
	if (next >= t->source->size || !header_known(h) || (options && !options_are(f, body, h->size)) || !f->looks || !f->looks-- ||
	    !tracedat_headless(t, next, &found))
		return 0;
	/* Texts may be anything: only behind options that end there they are strings. */
	if (found.id == TRACEDAT_STRINGS && !(options && options_plausible(f, body, h->size)))
		return 0;
	(void)tracedat_section_add(t, at);
	return next;
}

/* The walk: each size must lead to a header or the end. */
void tracedat_sections_find(struct tracedat *t)
{
	struct finder f = { t, FAR_LOOKS, HEADLESS_LOOKS, false };
	uint64_t at = t->header_end, end = t->source->size, trusted = 0;
	struct finding *fd;

	/* Where the sections begin nothing tells when the initial block is lost; that is reported already. */
	if (t->prefix_lost)
		t->header_end = at = tracedat_formats_begin(t, at, find_next(&f, at));
	while (at < end && t->status == TM_OK) {
		struct header h;
		if (end - at < TRACEDAT_SECTION_SIZE || !header_read(t, at, &h)) {
			fd = tracedat_report(t, TRACEDAT_RULE_truncated_file, at, end - at);
			finding_say(fd, "the file ends inside the header of a section");
			tracedat_drop(t, at, end - at, TRACEDAT_RULE_truncated_file, "the beginning of a section that is cut");
			return;
		}
		uint64_t room = end - at - TRACEDAT_SECTION_SIZE;
		uint64_t next = h.size <= room ? at + TRACEDAT_SECTION_SIZE + h.size : end + 1;
		bool known = h.id <= TRACEDAT_ID_LAST;
		/* An unknown kind counts where the chain goes on behind it. */
		if (next <= end && tracedat_section_sane(t, next) && (known || next < end || t->section_count)) {
			if (h.id == TRACEDAT_DONE && !(h.flags & 1) && !options_are(&f, at + TRACEDAT_SECTION_SIZE, h.size)) {
				next = end + 1;
			} else {
				(void)tracedat_section_add(t, at);
				at = next;
				continue;
			}
		}
		uint64_t stop = section_by_content(&f, at, &h, next);
		if (stop) {
			at = stop;
			continue;
		}
		uint64_t found = find_next(&f, at + 1);
		bool fits = next < found && found != trusted && body_fits(t, h.id, at + TRACEDAT_SECTION_SIZE, h.size);
		uint64_t real = 0, lost = t->codec == TRACEDAT_NONE ? tracedat_formats_begin(t, fits ? next : at, found) : found;
		if (fits && lost < found) {
			/* The header behind it is lost, its formats are not. Once: each such search is as long as the gap. */
			(void)tracedat_section_add(t, at);
			trusted = found;
			at = next;
			continue;
		}
		bool whole = found - at >= TRACEDAT_SECTION_SIZE;
		bool own = finder_plausible(&f, at, end, &real) || h.id == TRACEDAT_BUFFER ||
			   (whole && header_known(&h) &&
			    (at == t->header_end || h.id == TRACEDAT_BUFFER_TEXT || body_fits(t, h.id, at + 16, found - at - 16)));
		if (!own && lost < found) {
			tracedat_drop(t, at, lost - at, TRACEDAT_RULE_v7_section_size, "bytes that are no section");
			tracedat_formats_adopt(t, lost, found);
			at = found;
			continue;
		}
		struct tracedat_section *s = own && whole ? tracedat_section_add(t, at) : NULL;
		if (s) {
			section_measure(t, s, found);
		} else {
			fd = tracedat_report(t, TRACEDAT_RULE_v7_section_size, at, found - at);
			finding_say(fd, "%llu bytes that are no section", (unsigned long long)(found - at));
			t->data_errors = true;
		}
		at = found;
	}
	if (!t->section_count) {
		fd = tracedat_report(t, TRACEDAT_RULE_truncated_file, at, 0);
		finding_say(fd, "the file has no section");
	}
}

/* ---- content ---- */

static void section_lose(struct tracedat_section *s, unsigned rule, const char *why)
{
	tracedat_block_free(&s->block);
	s->lost = true;
	s->rule = rule;
	s->why = why;
}

static bool load_plain(struct tracedat *t, struct tracedat_section *s)
{
	struct tracedat_block *b = &s->block;
	b->data = malloc((size_t)s->size + 16);
	if (!b->data) {
		tracedat_no_memory(t);
		return false;
	}
	if (source_read(t->source, b->offset, b->data, (size_t)s->size) != TM_OK) {
		t->status = t->source->bundle->error.status;
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
static bool load_frame(struct tracedat *t, struct tracedat_section *s, const uint8_t *frame, size_t size, uint32_t usize)
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
			tracedat_no_memory(t);
			return false;
		}
		b->data = grown;
		bool fine = tracedat_decode(t, t->codec, frame, size, b->data, room, &d);
		if (t->status != TM_OK)
			return false;
		if (!fine) {
			struct finding *fd = tracedat_report(t, TRACEDAT_RULE_v7_block_decode, s->offset, 16 + s->size);
			finding_path(fd, "section %s", tracedat_id_name(s->id));
			finding_say(fd, "the compressed content is damaged after %zu decoded bytes", d.size);
			if (d.size && id_is_metadata(s->id)) {
				s->damage = fd;
				break;
			}
			section_lose(s, TRACEDAT_RULE_v7_block_decode, "a section that cannot be decompressed");
			return false;
		}
		if (d.fits)
			break;
		if (room == most) {
			if (most == TRACEDAT_BLOCK_MAX && !tracedat_bomb(t, s->offset, size, UINT64_C(1) + most))
				t->status = scan_limit(t->scan, "section %s unfolds to more than %u bytes", tracedat_id_name(s->id),
						       TRACEDAT_BLOCK_MAX);
			else if (most != TRACEDAT_BLOCK_MAX)
				(void)tracedat_bomb(t, s->offset, size, (uint64_t)most + size * TRACEDAT_RATIO_MAX);
			section_lose(s, TRACEDAT_RULE_size_overflow_bomb, "a section that unfolds beyond all reason");
			return false;
		}
		room = room < most / 4 ? 4 * room : most;
	}
	if (tracedat_bomb(t, s->offset, size, d.size)) {
		section_lose(s, TRACEDAT_RULE_size_overflow_bomb, "a section that unfolds beyond all reason");
		return false;
	}
	t->decoded += d.size;
	memset(b->data + d.size, 0, 16);
	b->size = d.size;
	s->frame = d.consumed;
	return true;
}

static bool load_compressed(struct tracedat *t, struct tracedat_section *s)
{
	struct finding *fd;
	const char *name = tracedat_id_name(s->id);
	uint8_t *stored = malloc((size_t)s->size + 1);

	if (!stored) {
		tracedat_no_memory(t);
		return false;
	}
	if (source_read(t->source, s->offset + 16, stored, (size_t)s->size) != TM_OK) {
		t->status = t->source->bundle->error.status;
		free(stored);
		return false;
	}
	uint32_t csize = load_u32(stored, t->big_endian), usize = load_u32(stored + 4, t->big_endian);
	bool loaded = load_frame(t, s, stored + 8, (size_t)s->size - 8, usize);
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
		fd = tracedat_report_as(t, TRACEDAT_RULE_v7_block_csize, warn ? TM_WARNING : TM_ERROR, s->offset + 16, 4);
		finding_path(fd, "section %s", name);
		if (warn)
			finding_say(fd, "%llu bytes follow the compressed content", (unsigned long long)slack);
		else
			finding_say(fd, "the compressed size is %u, but the content has %llu bytes in a section of %llu", csize,
				    (unsigned long long)s->frame, (unsigned long long)s->size);
	}
	if (usize != s->block.size) {
		fd = tracedat_report(t, TRACEDAT_RULE_v7_block_usize, s->offset + 20, 4);
		finding_path(fd, "section %s", name);
		finding_say(fd, "the decompressed size is stated as %u, but %zu bytes come out", usize, s->block.size);
	}
	return true;
}

bool tracedat_section_load(struct tracedat *t, struct tracedat_section *s)
{
	uint64_t real = 0;
	struct finding *fd;

	if (s->block.data)
		return true;
	if (s->lost || t->stopped || t->status != TM_OK)
		return false;
	s->block.name = tracedat_id_name(s->id);
	s->block.offset = s->offset + TRACEDAT_SECTION_SIZE;
	if (s->size > TRACEDAT_BLOCK_MAX) {
		t->status = scan_limit(t->scan, "section %s is larger than %u bytes", tracedat_id_name(s->id), TRACEDAT_BLOCK_MAX);
		return false;
	}
	bool flagged = s->flags & TRACEDAT_COMPRESSED;
	bool frame = t->codec != TRACEDAT_NONE && frame_fits(t, s->offset + 16, s->size, &real);
	bool plain = body_fits(t, s->id, s->offset + 16, s->size);
	if (flagged != frame && (flagged ? plain || t->codec == TRACEDAT_NONE : frame && !plain)) {
		fd = tracedat_report(t, TRACEDAT_RULE_v7_section_compress_flag, s->offset + 2, 2);
		finding_path(fd, "section %s", tracedat_id_name(s->id));
		finding_say(fd, "the section is marked %s and its content is %s", flagged ? "compressed" : "plain",
			    frame ? "compressed" : "plain");
		flagged = frame;
		s->flags = (uint16_t)((s->flags & ~1u) | flagged);
	}
	if (!flagged)
		return load_plain(t, s);
	if (s->size < 12) {
		fd = tracedat_report(t, TRACEDAT_RULE_v7_block_csize, s->offset, 16 + s->size);
		finding_say(fd, "a compressed section of %llu bytes", (unsigned long long)s->size);
		section_lose(s, TRACEDAT_RULE_v7_block_csize, "a section without content");
		return false;
	}
	return load_compressed(t, s);
}
