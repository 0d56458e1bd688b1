/* Composes version 7: sections in their order, options that name them, and missing ones of both. */
#include "formats/tracedat/repair/tracedat_repair.h"

#include <stdlib.h>

enum fix_kind {
	FIX_SECTION, /* offset of a section */
	FIX_PART,    /* offset of a part that repair adds */
	FIX_BUFFER,  /* offset of a buffer's section */
	FIX_CPU,     /* offset of a CPU's data */
	FIX_CPU_SIZE,
};

struct fix {
	size_t piece;
	enum fix_kind kind;
	size_t index, cpu;
};

/* An options section of the output. */
struct link {
	size_t turn; /* the number of options that were read before those of the section */
	uint64_t at; /* where it is */
	size_t done; /* piece of the offset of the next one */
};

struct compose {
	struct tracedat_walk *w;
	struct fix *fixes;
	size_t fix_count, fix_capacity;
	size_t first_options; /* piece of the header's offset */
	struct link *links;
	size_t link_count, link_capacity;
	uint64_t added[TRACEDAT_PARTS]; /* where added parts are; 0: not added */
	bool named[TRACEDAT_PARTS];
	int part_section[TRACEDAT_PARTS];
	bool extras_put;
};

static void fix_add(struct compose *c, size_t piece, enum fix_kind kind, size_t index, size_t cpu)
{
	if (tracedat_room(c->w, &c->fixes, &c->fix_capacity, c->fix_count, sizeof(*c->fixes), 1u << 24))
		c->fixes[c->fix_count++] = (struct fix){ piece, kind, index, cpu };
}

static void fixes_fill(struct compose *c)
{
	struct tracedat_walk *w = c->w;
	for (size_t i = 0; i < c->fix_count; i++) {
		const struct fix *f = &c->fixes[i];
		uint64_t value = 0;
		switch (f->kind) {
		case FIX_SECTION:
			value = w->dir.sections[f->index].moved;
			break;
		case FIX_PART:
			value = c->added[f->index];
			break;
		case FIX_BUFFER:
			value = w->data.buffers[f->index].moved;
			break;
		case FIX_CPU:
			value = w->data.buffers[f->index].cpus[f->cpu].moved;
			break;
		case FIX_CPU_SIZE:
			value = w->data.buffers[f->index].cpus[f->cpu].moved_size;
			break;
		}
		tracedat_fill_u64(w, f->piece, value);
	}
}

static void put_u16(struct tracedat_walk *w, uint64_t old, uint16_t value, unsigned rule, const char *why)
{
	uint8_t number[2];
	store_u16(number, value, w->shape.big_endian);
	(void)tracedat_pieces_field(&w->out.pieces, w->source, old, number, 2, rule, why);
}

/* A section header. Returns the piece of its size; the body begins behind it. */
static size_t put_header(struct tracedat_walk *w, const struct tracedat_section *section, unsigned id, unsigned flags)
{
	static const char why[] = "the value that the content of the section needs";
	uint64_t old = section ? section->offset : TRACEDAT_NO_OLD;
	put_u16(w, old, (uint16_t)id, TRACEDAT_RULE_v7_section_id_mismatch, why);
	put_u16(w, section ? old + 2 : old, (uint16_t)flags, TRACEDAT_RULE_v7_section_compress_flag, why);
	(void)tracedat_put_u32(w, section ? old + 4 : old, section ? (uint32_t)section->description : UINT32_MAX,
			       TRACEDAT_RULE_v7_mandatory_section, "no description");
	return tracedat_put_u64(w, section ? old + 8 : old, 0, TRACEDAT_RULE_v7_section_size,
				"the size that leads to the next section");
}

static void put_frame(struct tracedat_walk *w, const struct bytes *content, unsigned rule, const char *why)
{
	struct bytes frame = { .big_endian = w->shape.big_endian };
	bytes_u32(&frame, 0);
	bytes_u32(&frame, (uint32_t)content->size);
	if (tracedat_encode(w->shape.codec, content->data, content->size, &frame) && !frame.failed) {
		store_u32(frame.data, (uint32_t)(frame.size - 8), w->shape.big_endian);
		(void)tracedat_pieces_literal(&w->out.pieces, frame.data, frame.size, rule, why);
	}
	w->out.pieces.failed |= frame.failed;
	bytes_free(&frame);
}

/* The frame of a section as it is, with its two sizes. */
static void copy_frame(struct tracedat_walk *w, const struct tracedat_section *section)
{
	uint64_t at = section->offset + TRACEDAT_SECTION_SIZE, body = section->size - 8;
	const uint8_t *p = window_at(&w->window, at, 4);
	/* Slack that the count leaves out is legal enough: it stays. */
	bool slack = p && load_u32(p, w->shape.big_endian) == section->frame;
	(void)tracedat_put_u32(w, at, (uint32_t)section->frame, TRACEDAT_RULE_v7_block_csize, "the size of the frame");
	(void)tracedat_put_u32(w, at + 4, (uint32_t)section->block.size, TRACEDAT_RULE_v7_block_usize, "the decompressed size");
	tracedat_pieces_copy(&w->out.pieces, w->source, at + 8, slack ? body : section->frame);
}

/* ---- metadata ---- */

uint64_t tracedat_put_part_section(struct tracedat_walk *w, struct tracedat_section *section, unsigned k)
{
	const struct tracedat_pieces *p = &w->meta.parts[k];
	const struct tracedat_block *b = w->meta.blocks[k];
	bool compressed = section && section->flags & TRACEDAT_COMPRESSED && w->shape.codec != TRACEDAT_NONE;

	uint64_t at = w->out.pieces.size;
	if (section)
		section->moved = at;
	size_t size = put_header(w, section, TRACEDAT_HEADER_INFO + k, section ? section->flags : 0);
	uint64_t body = w->out.pieces.size;
	if (!compressed) {
		tracedat_put_part(w, p, b && !b->compressed ? b : NULL);
	} else if (b && b->compressed && !section->damage && tracedat_part_unchanged(p, b)) {
		copy_frame(w, section);
	} else {
		struct bytes content = { .big_endian = w->shape.big_endian };
		if (b)
			tracedat_part_flatten(p, b, &content);
		else
			tracedat_part_flatten(p, &(struct tracedat_block){ 0 }, &content);
		const char *why = !b		    ? "an empty section for one that is lost"
				  : section->damage ? "what comes before the damage of the section, compressed again"
						    : "the section is compressed again with its repaired content";
		put_frame(w, &content, section->lost ? section->rule : TRACEDAT_RULE_v7_block_decode, why);
		if (section->lost)
			tracedat_drop(w, section->offset + 16, section->size, section->rule, section->why);
		else
			tracedat_drop(w, section->offset + 16, section->size, TRACEDAT_RULE_v7_block_decode, why);
		w->out.pieces.failed |= content.failed;
		bytes_free(&content);
	}
	tracedat_fill_u64(w, size, w->out.pieces.size - body);
	return at;
}

void tracedat_put_strings(struct tracedat_walk *w, struct tracedat_section *section)
{
	const struct tracedat_block *b = &section->block;
	bool ended = b->data && b->size && !b->data[b->size - 1];
	section->moved = w->out.pieces.size;
	size_t size = put_header(w, section, section->id, section->flags);
	uint64_t body = w->out.pieces.size;
	if (b->compressed && ended) {
		copy_frame(w, section);
	} else if (b->compressed) {
		struct bytes content = { 0 };
		bytes_append(&content, b->data, b->size);
		bytes_u8(&content, 0);
		put_frame(w, &content, TRACEDAT_RULE_v7_strings_nul, "the strings with their last NUL");
		w->out.pieces.failed |= content.failed;
		bytes_free(&content);
	} else {
		tracedat_pieces_copy(&w->out.pieces, w->source, section->offset + 16, section->size);
		if (!ended)
			(void)tracedat_pieces_literal(&w->out.pieces, "", 1, TRACEDAT_RULE_v7_strings_nul,
						      "the NUL of the last string");
	}
	tracedat_fill_u64(w, size, w->out.pieces.size - body);
}

/* ---- options ---- */

static void put_option_head(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, unsigned id, uint32_t size,
			    unsigned rule, const char *why)
{
	uint8_t head[6];
	store_u16(head, (uint16_t)id, w->shape.big_endian);
	store_u32(head + 2, size, w->shape.big_endian);
	(void)tracedat_pieces_field(&w->out.pieces, w->source, b && !b->compressed ? b->offset + at : TRACEDAT_NO_OLD, head, 6,
				    rule, why);
}

/* A field of an option's payload in the input, or no place. */
static uint64_t old_of(const struct tracedat_option *o, size_t at)
{
	return o && !o->block->compressed ? o->block->offset + o->at + at : TRACEDAT_NO_OLD;
}

/* A BUFFER option with the values of the buffer. o: the option of the input, or NULL. */
static void put_buffer_option(struct compose *c, size_t index, const struct tracedat_option *o)
{
	struct tracedat_walk *w = c->w;
	struct tracedat_buffer *b = &w->data.buffers[index];
	size_t names = b->raw_name.size + b->clock.size, count = 0;
	static const char why[] = "the values of the buffer and the offsets of its data";
	unsigned rule = o && o->rule ? o->rule : TRACEDAT_RULE_v7_buffer_missing;

	for (size_t i = 0; i < b->count; i++)
		count += b->cpus[i].cpu < TRACEDAT_CPUS_MAX;
	size_t size = 8 + names + (b->text ? 0 : 8 + 20 * count);
	/* Where the entries are as many as they were each stays at its place. */
	bool same = o && o->size == size && !o->changed.size;
	const struct tracedat_option *was = same ? o : NULL;
	put_option_head(w, o ? o->block : NULL, o ? o->at - 6 : 0, b->text ? TRACEDAT_BUFFER_TEXT : TRACEDAT_BUFFER, (uint32_t)size,
			rule, why);
	fix_add(c, tracedat_put_u64(w, old_of(was, 0), 0, rule, why), FIX_BUFFER, index, 0);
	(void)tracedat_pieces_field(&w->out.pieces, w->source, old_of(was, 8), b->raw_name.data, b->raw_name.size, rule, why);
	(void)tracedat_pieces_field(&w->out.pieces, w->source, old_of(was, 8 + b->raw_name.size), b->clock.data, b->clock.size,
				    rule, why);
	if (b->text)
		return;
	size_t at = 8 + names;
	(void)tracedat_put_u32(w, old_of(was, at), b->page_size, rule, why);
	(void)tracedat_put_u32(w, old_of(was, at + 4), (uint32_t)count, rule, why);
	at += 8;
	for (size_t i = 0; i < b->count; i++) {
		if (b->cpus[i].cpu >= TRACEDAT_CPUS_MAX)
			continue;
		(void)tracedat_put_u32(w, old_of(was, at), b->cpus[i].cpu, rule, why);
		fix_add(c, tracedat_put_u64(w, old_of(was, at + 4), 0, rule, why), FIX_CPU, index, i);
		fix_add(c, tracedat_put_u64(w, old_of(was, at + 12), 0, rule, why), FIX_CPU_SIZE, index, i);
		at += 20;
	}
}

/* The section that an option of that id leads to in the output. */
static bool pointer_target(struct compose *c, const struct tracedat_option *o, enum fix_kind *kind, size_t *index)
{
	struct tracedat_walk *w = c->w;
	if (o->id <= TRACEDAT_CMDLINES) {
		unsigned k = o->id - TRACEDAT_HEADER_INFO;
		uint64_t at = o->size == 8 ? load_u64(o->block->data + o->at, w->shape.big_endian) : 0;
		int named = tracedat_section_at(&w->dir, at);
		c->named[k] = true;
		*kind = c->part_section[k] >= 0 ? FIX_SECTION : FIX_PART;
		*index = c->part_section[k] >= 0 ? (size_t)c->part_section[k] : k;
		if (named >= 0 && w->dir.sections[named].id == o->id && !w->dir.sections[named].lost) {
			*kind = FIX_SECTION;
			*index = (size_t)named;
		}
		return c->part_section[k] >= 0 || c->added[k];
	}
	int named = o->size == 8 ? tracedat_section_at(&w->dir, load_u64(o->block->data + o->at, w->shape.big_endian))
				 : tracedat_section_of(&w->dir, o->id);
	*kind = FIX_SECTION;
	*index = named >= 0 ? (size_t)named : 0;
	return named >= 0 && w->dir.sections[named].id == o->id;
}

static void put_option(struct compose *c, struct tracedat_option *o)
{
	struct tracedat_walk *w = c->w;
	enum fix_kind kind;
	size_t index;

	if (o->dropped) {
		tracedat_drop_block(w, o->block, o->at - 6, 6 + (size_t)o->size, o->rule, o->why);
		return;
	}
	if (o->buffer >= 0) {
		put_buffer_option(c, (size_t)o->buffer, o);
		return;
	}
	if (tracedat_id_is_pointer(o->id) && pointer_target(c, o, &kind, &index)) {
		put_option_head(w, o->block, o->at - 6, o->id, 8, o->rule, o->why);
		fix_add(c,
			tracedat_put_u64(w, o->size == 8 ? old_of(o, 0) : TRACEDAT_NO_OLD, 0, TRACEDAT_RULE_v7_section_id_mismatch,
					 "where the section is"),
			kind, index, 0);
		return;
	}
	if (o->changed.size) {
		put_option_head(w, o->block, o->at - 6, o->id, (uint32_t)o->changed.size, o->rule, o->why);
		uint64_t old = o->changed.size == o->size ? old_of(o, 0) : TRACEDAT_NO_OLD;
		(void)tracedat_pieces_field(&w->out.pieces, w->source, old, o->changed.data, o->changed.size, o->rule, o->why);
		return;
	}
	if (o->head_bad) {
		put_option_head(w, o->block, o->at - 6, o->id, o->size, o->rule, o->why);
		tracedat_put_block(w, o->block, o->at, o->size, o->rule, o->why);
		return;
	}
	tracedat_put_block(w, o->block, o->at - 6, 6 + (size_t)o->size, TRACEDAT_RULE_option_unknown,
			   "an option that was compressed");
}

/* Options for sections and buffers that no option names. */
static void put_extra_options(struct compose *c)
{
	struct tracedat_walk *w = c->w;
	static const char why[] = "an option for what no option of the file names";

	for (unsigned k = 0; k < TRACEDAT_PARTS; k++) {
		if (c->named[k] || (c->part_section[k] < 0 && !c->added[k]))
			continue;
		bool named = false;
		for (size_t i = 0; i < w->dir.option_count; i++)
			named |= w->dir.options[i].id == TRACEDAT_HEADER_INFO + k && !w->dir.options[i].dropped;
		if (named)
			continue;
		put_option_head(w, NULL, 0, TRACEDAT_HEADER_INFO + k, 8, TRACEDAT_RULE_v7_mandatory_section, why);
		fix_add(c, tracedat_put_u64(w, TRACEDAT_NO_OLD, 0, TRACEDAT_RULE_v7_mandatory_section, why),
			c->part_section[k] >= 0 ? FIX_SECTION : FIX_PART, c->part_section[k] >= 0 ? (size_t)c->part_section[k] : k,
			0);
	}
	tracedat_put_clock(w);
	uint32_t cpus = 0;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++)
			if (w->data.buffers[i].cpus[j].cpu < TRACEDAT_CPUS_MAX && w->data.buffers[i].cpus[j].cpu + 1 > cpus)
				cpus = w->data.buffers[i].cpus[j].cpu + 1;
	if (w->dir.cpucount_option < 0 && cpus) {
		put_option_head(w, NULL, 0, TRACEDAT_CPUCOUNT, 4, TRACEDAT_RULE_option_cpucount_value, why);
		(void)tracedat_put_u32(w, TRACEDAT_NO_OLD, cpus, TRACEDAT_RULE_option_cpucount_value, why);
	}
	for (size_t i = 0; i < w->data.buffer_count; i++)
		if (w->data.buffers[i].option == SIZE_MAX && w->data.buffers[i].section >= 0)
			put_buffer_option(c, i, NULL);
	c->extras_put = true;
}

/* The end of an options section. Returns the piece of the offset of the next one, which chain_fill() fills in. */
static size_t put_done(struct compose *c, const struct tracedat_section *section)
{
	struct tracedat_walk *w = c->w;
	bool there = section && section->has_done && !section->block.compressed;
	put_option_head(w, there ? &section->block : NULL, there ? section->done : 0, TRACEDAT_DONE, 8, TRACEDAT_RULE_v7_done_size,
			"the end of the options");
	return tracedat_put_u64(w, there ? section->block.offset + section->done + 6 : TRACEDAT_NO_OLD, 0,
				TRACEDAT_RULE_v7_done_target, "the options in the order in which they were read");
}

static int link_order(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	return x->turn != y->turn ? (x->turn > y->turn) - (x->turn < y->turn) : (x->at > y->at) - (x->at < y->at);
}

/* The chain of the options sections, in the order in which they were read: of two options of a kind the last one counts. */
static void chain_fill(struct compose *c)
{
	size_t from = c->first_options;
	if (c->link_count)
		qsort(c->links, c->link_count, sizeof(*c->links), link_order);
	for (size_t i = 0; i < c->link_count; i++) {
		tracedat_fill_u64(c->w, from, c->links[i].at);
		from = c->links[i].done;
	}
}

static void put_options_section(struct compose *c, struct tracedat_section *section, bool last)
{
	struct tracedat_walk *w = c->w;
	struct link link = { .turn = section ? section->first_option : SIZE_MAX, .at = w->out.pieces.size };
	if (section)
		section->moved = w->out.pieces.size;
	size_t size = put_header(w, section, TRACEDAT_DONE, section ? section->flags & ~1u : 0);
	uint64_t body = w->out.pieces.size;
	for (size_t i = 0; section && i < section->option_count && w->status == TM_OK; i++)
		put_option(c, &w->dir.options[section->first_option + i]);
	if (last)
		put_extra_options(c);
	link.done = put_done(c, section);
	if (tracedat_room(w, &c->links, &c->link_capacity, c->link_count, sizeof(*c->links), 1u << 24))
		c->links[c->link_count++] = link;
	tracedat_fill_u64(w, size, w->out.pieces.size - body);
}

/* ---- event data ---- */

/* The section of a buffer; s is NULL where its header is lost. */
static void put_buffer_data(struct tracedat_walk *w, struct tracedat_section *section, struct tracedat_buffer *b)
{
	b->moved = w->out.pieces.size;
	if (section)
		section->moved = b->moved;
	/* What the buffer was read as. */
	unsigned flags = (section ? section->flags & ~(unsigned)TRACEDAT_COMPRESSED : 0) | b->compressed;
	size_t size = put_header(w, section, b->text ? TRACEDAT_BUFFER_TEXT : TRACEDAT_BUFFER, flags);
	uint64_t body = w->out.pieces.size, at = section ? section->offset + 16 : 0;
	if (b->text && section && b->compressed) {
		tracedat_put_text(w, b);
	} else if (b->text && section) {
		tracedat_pieces_copy(&w->out.pieces, w->source, at, b->text_stop - at);
		tracedat_drop(w, b->text_stop, at + section->size - b->text_stop, TRACEDAT_RULE_truncated_file,
			      "an incomplete line");
	} else if (!b->text) {
		tracedat_put_cpus(w, b, &at);
		for (size_t i = 0; i < b->count; i++)
			if (!b->cpus[i].length)
				b->cpus[i].moved = tracedat_align(w->out.pieces.size, b->page_size);
	}
	tracedat_fill_u64(w, size, w->out.pieces.size - body);
}

static void put_buffer_section(struct tracedat_walk *w, struct tracedat_section *section, size_t index)
{
	int owner = -1;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		if (w->data.buffers[i].section == (int)index)
			owner = (int)i;
	if (owner < 0) {
		tracedat_drop(w, section->offset, 16 + section->size, TRACEDAT_RULE_v7_buffer_missing,
			      "event data without a readable record");
		return;
	}
	put_buffer_data(w, section, &w->data.buffers[owner]);
}

static void put_section(struct compose *c, size_t index, size_t last_options)
{
	struct tracedat_walk *w = c->w;
	struct tracedat_section *section = &w->dir.sections[index];
	unsigned k = section->id - TRACEDAT_HEADER_INFO;

	if (section->id == TRACEDAT_DONE) {
		if (section->lost)
			tracedat_drop(w, section->offset, 16 + section->size, section->rule, section->why);
		else
			put_options_section(c, section, index == last_options);
	} else if (k < TRACEDAT_PARTS && c->part_section[k] == (int)index) {
		(void)tracedat_put_part_section(w, section, k);
	} else if (section->id == TRACEDAT_STRINGS && section->block.data && !section->lost) {
		tracedat_put_strings(w, section);
	} else if (section->id == TRACEDAT_BUFFER || section->id == TRACEDAT_BUFFER_TEXT) {
		put_buffer_section(w, section, index);
	} else if (section->lost) {
		tracedat_drop(w, section->offset, 16 + section->size, section->rule, section->why);
	} else {
		section->moved = w->out.pieces.size;
		size_t size = put_header(w, section, section->id, section->flags);
		tracedat_pieces_copy(&w->out.pieces, w->source, section->offset + 16, section->size);
		tracedat_fill_u64(w, size, section->size);
	}
}

/* Which section stands for each part: the one that was parsed, else the one whose content is lost. */
static void parts_choose(struct compose *c)
{
	struct tracedat_walk *w = c->w;
	for (unsigned k = 0; k < TRACEDAT_PARTS; k++) {
		c->part_section[k] = -1;
		for (size_t i = 0; i < w->dir.section_count; i++) {
			const struct tracedat_section *section = &w->dir.sections[i];
			if (section->id == TRACEDAT_HEADER_INFO + k &&
			    (w->meta.blocks[k] ? w->meta.blocks[k] == &section->block : section->lost))
				c->part_section[k] = (int)i;
		}
	}
}

void tracedat_put_compression(struct tracedat_walk *w)
{
	static const char *const names[] = { "none", "zstd", "zlib" };
	if (!w->prefix.codec_bad) {
		tracedat_pieces_copy(&w->out.pieces, w->source, w->prefix.end, w->prefix.options_at - w->prefix.end);
		return;
	}
	const char *version = tracedat_codec_version(w->shape.codec);
	(void)tracedat_pieces_literal(&w->out.pieces, names[w->shape.codec], 5, TRACEDAT_RULE_v7_compressor_name,
				      "the compressor of the sections");
	(void)tracedat_pieces_literal(&w->out.pieces, version, strlen(version) + 1, TRACEDAT_RULE_v7_compressor_name,
				      "a version of the compressor");
}

void tracedat_compose_v7(struct tracedat_walk *w)
{
	struct compose c = { .w = w };
	size_t last_options = SIZE_MAX;

	tracedat_put_prefix(w);
	tracedat_put_compression(w);
	c.first_options = tracedat_put_u64(w, w->prefix.options_at ? w->prefix.options_at : TRACEDAT_NO_OLD, 0,
					   TRACEDAT_RULE_v7_options_offset, "where the first options are");
	parts_choose(&c);
	for (size_t i = 0; i < w->dir.section_count; i++)
		if (w->dir.sections[i].id == TRACEDAT_DONE && !w->dir.sections[i].lost &&
		    (last_options == SIZE_MAX || w->dir.sections[i].first_option >= w->dir.sections[last_options].first_option))
			last_options = i;
	/* Headers and event formats have to be there; the others may be missing. */
	for (unsigned k = 0; k < TRACEDAT_PARTS; k++)
		if (c.part_section[k] < 0 && (k == 0 || k == 2))
			c.added[k] = tracedat_put_part_section(w, NULL, k);
	for (size_t i = 0; i < w->dir.section_count && w->status == TM_OK; i++)
		put_section(&c, i, last_options);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++)
		/* Buffers without a section, or whose option names the section of another. */
		if (!w->data.buffers[i].moved && w->data.buffers[i].option != SIZE_MAX &&
		    !w->dir.options[w->data.buffers[i].option].dropped)
			put_buffer_data(w, NULL, &w->data.buffers[i]);
	if (last_options == SIZE_MAX)
		put_options_section(&c, NULL, true);
	chain_fill(&c);
	fixes_fill(&c);
	free(c.links);
	free(c.fixes);
}
