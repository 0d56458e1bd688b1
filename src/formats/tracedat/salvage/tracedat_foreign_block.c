/* Blocks of a disk that hold the beginning of another trace.dat. Where it breaks off in its first block, what follows is ours. */
#include "formats/tracedat/decode/tracedat_format_list.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"

/* Bytes that are looked at: the first block, and what crosses its end. */
#define LOOK_MAX (256u * 1024)
/* Bytes of the initial block in front of what its version says. */
#define PREFIX_SIZE 18u
#define NAME_MAX 256u

struct other {
	const uint8_t *data; /* from its magic on */
	size_t size;	     /* bytes that are looked at */
	uint64_t left;	     /* bytes up to the end of the file */
	bool big_endian;
	size_t last; /* where the last thing that stands begins */
};

/* Behind header_page and header_event; SIZE_MAX: they are not there. */
static size_t headers_end(const struct other *o)
{
	static const char *const names[] = { "header_page", "header_event" };
	size_t at = PREFIX_SIZE;

	for (size_t i = 0; i < 2; i++) {
		size_t name = strlen(names[i]) + 1;
		if (o->size - at < name + 8 || memcmp(o->data + at, names[i], name))
			return SIZE_MAX;
		uint64_t size = load_u64(o->data + at + name, o->big_endian);
		at += name + 8;
		if (size > o->size - at)
			return SIZE_MAX;
		at += (size_t)size;
	}
	return at;
}

/* Behind the name of a system and the number of its formats; SIZE_MAX: they are not there. */
static size_t system_end(const struct other *o, size_t at)
{
	size_t length = 0;

	while (length < NAME_MAX && at + length < o->size && o->data[at + length] > 0x20 && o->data[at + length] < 0x7f)
		length++;
	return length && o->size - at > length + 4 && !o->data[at + length] ? at + length + 5 : SIZE_MAX;
}

/* Whether it breaks off in its first block. Version 6: event formats follow each other by their sizes. */
static bool breaks_v6(struct other *o)
{
	size_t at = headers_end(o);
	uint32_t left, systems = 0;
	bool counted = false;

	if (at == SIZE_MAX || o->size - at < 8)
		return at == SIZE_MAX;
	left = load_u32(o->data + at, o->big_endian);
	for (at += 4; o->size - at >= 13;) {
		if (!left && !counted) {
			systems = load_u32(o->data + at, o->big_endian);
			counted = true;
			at += 4;
		} else if (!left) {
			size_t end = systems-- ? system_end(o, at) : SIZE_MAX;
			/* Texts follow the last one, which may be anything. */
			if (end == SIZE_MAX)
				return systems != UINT32_MAX;
			left = load_u32(o->data + end - 4, o->big_endian);
			at = end;
		} else {
			uint64_t size = load_u64(o->data + at, o->big_endian);
			if (!tracedat_format_begins(o->data, at, o->size))
				return true;
			if (at > TRACEDAT_BLOCK_OF_DISK || size > o->size - at - 8)
				return false;
			o->last = at;
			at += 8 + (size_t)size;
			left--;
			if (!size || o->data[at - 1] != '\n')
				return true;
		}
	}
	return false;
}

static bool section_stands(const uint8_t *p, bool be, struct tracedat_section_header *h)
{
	tracedat_section_header_read(p, be, h);
	return tracedat_id_is_section(h->id) && h->flags <= 1 && h->description >= -1 && h->description < 65536 && h->size;
}

/* Version 7: sections follow each other by their sizes, and there are options where it says. */
static bool breaks_v7(struct tracedat_walk *w, struct other *o, uint64_t begin)
{
	const uint8_t *name = memchr(o->data + PREFIX_SIZE, 0, o->size - PREFIX_SIZE);
	const uint8_t *end = name ? memchr(name + 1, 0, o->size - (size_t)(name + 1 - o->data)) : NULL;
	size_t at = end ? (size_t)(end + 1 - o->data) : o->size;
	struct tracedat_section_header h;

	if (o->size - at < 8 + TRACEDAT_SECTION_SIZE)
		return true;
	const uint64_t options = load_u64(o->data + at, o->big_endian);
	for (at += 8; o->size - at >= TRACEDAT_SECTION_SIZE;) {
		if (!section_stands(o->data + at, o->big_endian, &h))
			return true;
		if (at > TRACEDAT_BLOCK_OF_DISK || h.size > o->size - at - TRACEDAT_SECTION_SIZE)
			break;
		o->last = at;
		at += TRACEDAT_SECTION_SIZE + (size_t)h.size;
	}
	if (o->left < TRACEDAT_SECTION_SIZE || options > o->left - TRACEDAT_SECTION_SIZE)
		return false;
	const uint8_t *p = window_at(&w->window, begin + options, TRACEDAT_SECTION_SIZE);
	return p && (!section_stands(p, o->big_endian, &h) || h.id != TRACEDAT_DONE);
}

uint64_t tracedat_foreign_block(struct tracedat_walk *w, uint64_t at)
{
	struct other o = { .left = w->source->size - at };

	if (at % TRACEDAT_SECTOR_OF_DISK)
		return 0;
	o.data = window_upto(&w->window, at, LOOK_MAX, &o.size);
	if (!o.data || o.size < TRACEDAT_SECTOR_OF_DISK || memcmp(o.data, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE) || o.data[11])
		return 0;
	o.big_endian = o.data[12] == 1;
	bool breaks = o.data[10] == '6' ? breaks_v6(&o) : o.data[10] == '7' && breaks_v7(w, &o, at);
	uint64_t block = o.last < TRACEDAT_SECTOR_OF_DISK ? TRACEDAT_SECTOR_OF_DISK : TRACEDAT_BLOCK_OF_DISK;
	return breaks ? at + (block < o.left ? block : o.left) : 0;
}

/* ---- what may stand in such a block, where its beginning is not known ---- */

/* Whether the options are where a size that is wrong by inserted or removed bytes puts them: the blocks are ours. */
static bool is_shifted(const struct tracedat_walk *w, const struct tracedat_section *torn)
{
	const uint64_t place = w->prefix.options_offset + (torn->size - torn->declared);
	const int i = w->prefix.options_at ? tracedat_section_at(&w->dir, place) : -1;
	return i >= 0 && w->dir.sections[i].id == TRACEDAT_DONE;
}

/* Lists the sections beside one that is torn where blocks of a disk meet: the block in front or behind may be that of another file.
 */
static void beside_doubt(struct tracedat_walk *w, const struct tracedat_section *torn)
{
	const uint64_t begin = torn->offset, end = begin + TRACEDAT_SECTION_SIZE + torn->size;
	const uint64_t first = tracedat_align(begin, TRACEDAT_SECTOR_OF_DISK),
		       last = end / TRACEDAT_SECTOR_OF_DISK * TRACEDAT_SECTOR_OF_DISK;
	const uint64_t low = first > TRACEDAT_BLOCK_OF_DISK ? first - TRACEDAT_BLOCK_OF_DISK : 0,
		       high = last + TRACEDAT_BLOCK_OF_DISK;

	if (last < first)
		return;
	for (size_t i = 0; i < w->dir.section_count; i++) {
		const struct tracedat_section *s = &w->dir.sections[i];
		const uint64_t stop = s->offset + TRACEDAT_SECTION_SIZE + s->size;
		const bool front = stop <= begin && s->offset >= low, behind = s->offset >= end && stop <= high;
		if ((front || behind) && !s->lost && (tracedat_id_is_metadata(s->id) || s->id == TRACEDAT_DONE))
			plan_doubt(w->s->plan, w->source, s->offset, TRACEDAT_SECTION_SIZE + s->size,
				   "a block of the file with this section in it may be that of another file");
	}
}

void tracedat_foreign_doubt(struct tracedat_walk *w)
{
	if (w->shape.version != 7 || !TRACEDAT_ANY(w, TRACEDAT_RULE_v7_options_offset, TRACEDAT_RULE_v7_section_id_mismatch))
		return;
	for (size_t i = 0; i < w->dir.section_count; i++) {
		const struct tracedat_section *s = &w->dir.sections[i];
		const bool torn = s->size_bad && !s->cut && (s->lost || s->damage || s->id == TRACEDAT_BUFFER);
		if (torn && !is_shifted(w, s))
			beside_doubt(w, s);
	}
}
