/* Reducing by the outline: smaller blocks, then from the largest parts to the smallest, texts, padding, and bytes without
 * structure. outline_write() corrects their measures in each candidate. */
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "engine/engine_reduce.h"

/* A capture that became so many times smaller gets a new outline, since writing costs in proportion to the old one. */
#define PARTS_RENEW 4u
/* Fewer bytes without structure are not worth the tries. */
#define PARTS_BYTES_MIN 8u
/* A leaf with this share of the capture (1 in n) and without structure is cut first, in this number of ranges: until then, every
 * candidate is expensive. */
#define PARTS_LARGE 4u
#define PARTS_LARGE_RANGES 64u

struct parts {
	struct reduction *r;
	struct outline o;
	uint64_t size;	/* of the capture when the outline was made */
	bool any;	/* anything was removed */
	uint32_t *list; /* the parts that can be removed */
	size_t count, room;
	struct part *saved; /* copies of them, to restore texts */
	size_t length;	    /* the length to which texts are cut */
};

/* ---- candidates ---- */

static struct tracemend_sample *parts_candidate(struct parts *p)
{
	struct tracemend_sample *s = reduction_blank(p->r);
	struct outline_output *outputs = calloc(p->o.file_count + 1, sizeof(*outputs));
	enum tracemend_status status = s && outputs ? outline_write(&p->o, outputs, NULL) : TM_NO_MEMORY;

	if (status == TM_NO_MEMORY) {
		(void)fault_memory(p->r->error);
		p->r->stop = true;
	}

	for (uint32_t i = 0; outputs && i < p->o.file_count; i++) {
		struct bytes *file = status == TM_OK && !outputs[i].deleted ? gen_file(&s->gen, p->o.files[outputs[i].file].name)
									    : NULL;
		if (file)
			*file = outputs[i].bytes;
		else
			bytes_free(&outputs[i].bytes);
	}
	free(outputs);
	if (status == TM_OK)
		return s;
	tracemend_sample_free(s);
	return NULL;
}

/* Tests the outline as it is now. When the predicate does not hold, the pool is cut to `pool` bytes again. */
static bool parts_offer(struct parts *p, size_t pool)
{
	struct tracemend_sample *candidate = parts_candidate(p);
	bool holds = candidate && reduction_offer(p->r, candidate);

	if (!holds) {
		p->o.pool.size = pool;
		p->o.status = p->o.status == TM_LIMIT ? TM_OK : p->o.status;
	}

	p->any = p->any || holds;
	p->r->renew = reduction_size(p->r) < p->size / PARTS_RENEW;
	return holds;
}

/* Advances *i to the next file or stream that was not removed. */
static bool parts_next_file(const struct parts *p, uint32_t *i)
{
	for (; *i < p->o.file_count + p->o.stream_count; ++*i) {
		uint32_t part = *i < p->o.file_count ? OUTLINE_NONE : p->o.files[*i].field;
		while (part != OUTLINE_NONE && !(p->o.parts[part].flags & PART_DELETED))
			part = p->o.parts[part].parent;
		if (part == OUTLINE_NONE)
			return true;
	}
	return false;
}

/* ---- files, groups and records ---- */

static bool parts_can_go(const struct parts *p, const struct part *part)
{
	if (part->flags & (PART_FIXED | PART_DELETED))
		return false;
	if (part->kind == PART_FILE)
		return p->o.directory && part->flags & PART_LOOSE;
	return part->kind == PART_RECORD || part->kind == PART_BYTES || (part->kind == PART_GROUP && part->flags & PART_LOOSE);
}

static void parts_list(struct parts *p, uint32_t part)
{
	if (array_room(&p->list, &p->room, p->count, sizeof(*p->list), OUTLINE_PARTS_MAX) != TM_OK) {
		(void)fault_memory(p->r->error);
		p->r->stop = true;
		return;
	}
	p->list[p->count++] = part;
}

/* Lists what can go `level` levels below a part. Returns whether there is anything at that level or below it. */
static bool parts_gather(struct parts *p, uint32_t part, unsigned level)
{
	bool deep = false;

	if (p->o.parts[part].flags & PART_DELETED)
		return false;
	if (!level) {
		if (parts_can_go(p, &p->o.parts[part]))
			parts_list(p, part);
		return true;
	}
	for (uint32_t i = p->o.parts[part].first; i != OUTLINE_NONE; i = p->o.parts[i].next)
		deep = parts_gather(p, i, level - 1) || deep;
	return deep;
}

/* reduction_removal */
static bool parts_remove(void *ctx, const size_t *which, size_t count)
{
	struct parts *p = ctx;

	for (size_t i = 0; i < count; i++)
		outline_delete(&p->o, p->list[which[i]]);
	if (parts_offer(p, p->o.pool.size))
		return true;
	for (size_t i = 0; i < count; i++)
		outline_restore(&p->o, p->list[which[i]]);
	return false;
}

/* Lists what can go `level` levels below the files. Returns whether there is anything at that level or below it. */
static bool parts_level(struct parts *p, unsigned level)
{
	bool deep = false;

	p->count = 0;
	for (uint32_t i = 0; parts_next_file(p, &i); i++)
		deep = parts_gather(p, p->o.files[i].part, level) || deep;
	return deep;
}

static void parts_levels(struct parts *p)
{
	for (unsigned level = 0; !p->r->stop && !p->r->renew && parts_level(p, level); level++)
		reduction_minimise(p->r, p->count, parts_remove, p);
}

/* ---- texts ---- */

static void parts_gather_texts(struct parts *p, uint32_t part)
{
	const struct part *leaf = &p->o.parts[part];

	if (leaf->flags & PART_DELETED)
		return;
	for (uint32_t i = leaf->flags & PART_REPLACED ? OUTLINE_NONE : leaf->fields; i != OUTLINE_NONE; i = p->o.parts[i].next) {
		const struct part *f = &p->o.parts[i];
		size_t length = f->flags & PART_REPLACED ? (uint32_t)f->value : f->length;
		if (f->field == FIELD_TEXT && !(f->flags & PART_FIXED) && length > p->length)
			parts_list(p, i);
	}
	for (uint32_t i = leaf->first; i != OUTLINE_NONE; i = p->o.parts[i].next)
		parts_gather_texts(p, i);
}

/* reduction_removal */
static bool parts_cut(void *ctx, const size_t *which, size_t count)
{
	struct parts *p = ctx;
	size_t pool = p->o.pool.size;

	for (size_t i = 0; i < count; i++) {
		uint32_t field = p->list[which[i]];
		const uint8_t *bytes = outline_bytes(&p->o, field);
		p->saved[which[i]] = p->o.parts[field];
		if (bytes)
			outline_replace(&p->o, field, bytes, p->length);
	}
	if (parts_offer(p, pool))
		return true;
	for (size_t i = 0; i < count; i++)
		p->o.parts[p->list[which[i]]] = p->saved[which[i]];
	return false;
}

/* Cuts texts to no bytes, then those that cannot be empty to one byte, and so on: limits of readers are near round numbers. */
static void parts_texts(struct parts *p)
{
	static const size_t lengths[] = { 0, 1, 4, 16, 64, 256, 1024, 4096, 32768, 262144 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && !p->r->stop && !p->r->renew; i++) {
		p->count = 0;
		p->length = lengths[i];
		for (uint32_t f = 0; parts_next_file(p, &f); f++)
			parts_gather_texts(p, p->o.files[f].part);
		free(p->saved);
		p->saved = calloc(p->count + 1, sizeof(*p->saved));
		if (!p->saved)
			return;
		reduction_minimise(p->r, p->count, parts_cut, p);
	}
}

/* ---- padding: blocks of a given size ---- */

/* Padding of blocks, and with `starts` parts that start where a block does; what is aligned to words is not worth the tries. */
static void parts_gather_paddings(struct parts *p, uint32_t part, bool starts)
{
	const struct part *leaf = &p->o.parts[part];

	if (leaf->flags & PART_DELETED)
		return;
	if ((leaf->kind == PART_PADDING || starts) && !(leaf->flags & PART_REPLACED) && leaf->unit > PARTS_BYTES_MIN)
		parts_list(p, part);
	for (uint32_t i = leaf->first; i != OUTLINE_NONE; i = p->o.parts[i].next)
		parts_gather_paddings(p, i, starts);
}

static bool parts_list_paddings(struct parts *p, bool starts)
{
	p->count = 0;
	for (uint32_t f = 0; parts_next_file(p, &f); f++)
		parts_gather_paddings(p, p->o.files[f].part, starts);
	free(p->saved);
	p->saved = calloc(p->count + 1, sizeof(*p->saved));
	if (!p->saved) {
		(void)fault_memory(p->r->error);
		p->r->stop = true;
	}
	return p->saved;
}

/* Reduces the alignment of the parts [begin, end) of the list to `unit` at most. */
static bool parts_align(struct parts *p, size_t begin, size_t end, uint32_t unit)
{
	bool less = false;

	for (size_t i = begin; i < end; i++) {
		struct part *padding = &p->o.parts[p->list[i]];
		p->saved[i] = *padding;
		less = less || padding->unit > unit;
		padding->unit = padding->unit > unit ? unit : padding->unit;
	}
	if (!less || parts_offer(p, p->o.pool.size))
		return true;
	for (size_t i = begin; i < end; i++)
		p->o.parts[p->list[i]] = p->saved[i];
	return false;
}

static const uint32_t parts_block_sizes[] = { 64, 128, 256, 512, 1024, 2048 };
#define PARTS_BLOCK_SIZES (sizeof(parts_block_sizes) / sizeof(parts_block_sizes[0]))

/* Tries smaller blocks in all files. */
static void parts_units(struct parts *p)
{
	if (!parts_list_paddings(p, true))
		return;
	for (size_t u = 0; u < PARTS_BLOCK_SIZES && !p->r->stop && !p->r->renew; u++)
		if (parts_align(p, 0, p->count, parts_block_sizes[u]))
			return;
}

/* Tries smaller blocks in one file after the other: the blocks of a file have one size. */
static void parts_units_by_file(struct parts *p)
{
	if (!parts_list_paddings(p, true))
		return;
	for (size_t begin = 0, end; begin < p->count; begin = end) {
		for (end = begin + 1; end < p->count && p->o.parts[p->list[end]].file == p->o.parts[p->list[begin]].file;)
			end++;
		for (size_t u = 0; u < PARTS_BLOCK_SIZES && !p->r->stop && !p->r->renew; u++)
			if (parts_align(p, begin, end, parts_block_sizes[u]))
				break;
	}
}

static void parts_paddings(struct parts *p)
{
	p->length = 0;
	if (parts_list_paddings(p, false))
		reduction_minimise(p->r, p->count, parts_cut, p);
}

/* Smaller blocks; and no padding at all, where further errors are allowed. */
static void parts_blocks(struct parts *p)
{
	if (!p->r->stop && !p->r->renew)
		parts_units(p);
	if (!p->r->stop && !p->r->renew)
		parts_units_by_file(p);
	if (p->r->predicate->bytes && !p->r->stop && !p->r->renew)
		parts_paddings(p);
}

/* ---- bytes without structure ---- */

struct parts_leaf {
	struct parts *parts;
	uint32_t part;
};

/* reduction_shorter */
static bool parts_offer_bytes(void *ctx, const struct bytes *shorter)
{
	struct parts_leaf *leaf = ctx;
	struct part saved = leaf->parts->o.parts[leaf->part];
	size_t pool = leaf->parts->o.pool.size;

	outline_replace(&leaf->parts->o, leaf->part, shorter->data, shorter->size);
	if (parts_offer(leaf->parts, pool))
		return true;
	leaf->parts->o.parts[leaf->part] = saved;
	return false;
}

/* Whether no field of the leaf measures anything: bytes, or the rest of a line. */
static bool parts_is_plain(const struct parts *p, uint32_t part)
{
	const struct part *leaf = &p->o.parts[part];

	if (leaf->first != OUTLINE_NONE || leaf->kind == PART_PADDING || leaf->length < PARTS_BYTES_MIN)
		return false;
	for (uint32_t i = leaf->fields; i != OUTLINE_NONE; i = p->o.parts[i].next)
		if (p->o.parts[i].measure != MEASURE_NOTHING)
			return false;
	return true;
}

/* The current bytes of a plain leaf, with its texts cut. */
static void parts_append(const struct parts *p, uint32_t part, struct bytes *content)
{
	const struct part *leaf = &p->o.parts[part];
	const uint8_t *data = outline_bytes(&p->o, part);
	uint32_t at = leaf->offset;

	if (leaf->flags & PART_REPLACED)
		bytes_append(content, p->o.pool.data + (leaf->value >> 32), (uint32_t)leaf->value);
	if (!data || leaf->flags & PART_REPLACED)
		return;
	for (uint32_t i = leaf->fields; i != OUTLINE_NONE; i = p->o.parts[i].next) {
		const struct part *f = &p->o.parts[i];
		if (!(f->flags & PART_REPLACED) || f->offset < at)
			continue;
		bytes_append(content, data + (at - leaf->offset), f->offset - at);
		bytes_append(content, p->o.pool.data + (f->value >> 32), (uint32_t)f->value);
		at = f->offset + f->length;
	}
	bytes_append(content, data + (at - leaf->offset), leaf->offset + leaf->length - at);
}

/* Removes ranges of leaves of `least` bytes or more, down to 1 in `share` of their length; share 0: down to single bytes. */
static void parts_bytes(struct parts *p, uint32_t part, uint64_t least, uint32_t share)
{
	const struct part *leaf = &p->o.parts[part];

	if (leaf->flags & PART_DELETED || p->r->stop || p->r->renew)
		return;
	for (uint32_t i = leaf->first; i != OUTLINE_NONE; i = p->o.parts[i].next)
		parts_bytes(p, i, least, share);
	if (leaf->length < least || !parts_is_plain(p, part))
		return;
	struct parts_leaf ctx = { .parts = p, .part = part };
	struct bytes content = { 0 };
	parts_append(p, part, &content);
	(void)reduction_ranges(p->r, &content, share ? leaf->length / share : 0, parts_offer_bytes, &ctx);
	bytes_free(&content);
}

static void parts_all_bytes(struct parts *p, uint64_t least, uint32_t share)
{
	for (uint32_t i = 0; !p->r->stop && !p->r->renew && parts_next_file(p, &i); i++)
		parts_bytes(p, p->o.files[i].part, least, share);
}

/* ---- all of it ---- */

/* The deepest level first: a group without its records is smaller when its turn comes. */
static void parts_levels_up(struct parts *p)
{
	unsigned level = 0;

	while (parts_level(p, level))
		level++;
	while (level-- && !p->r->stop && !p->r->renew) {
		(void)parts_level(p, level);
		reduction_minimise(p->r, p->count, parts_remove, p);
		parts_blocks(p);
	}
}

bool reduction_parts(struct reduction *r)
{
	struct parts p = { .r = r, .size = reduction_size(r) };
	struct tracemend_input *input = reduction_open(r);

	if (!input)
		return false;
	r->renew = false;
	enum tracemend_status status = outline_make(&p.o, input_bundle(input), r->format, r->profile, true);
	if (status == TM_OK) {
		parts_all_bytes(&p, p.size / PARTS_LARGE, PARTS_LARGE_RANGES);
		if (r->predicate->bytes) /* a block that must be filled to its end can lose nothing before its padding does */
			parts_blocks(&p);
		else if (!r->stop && !r->renew) /* few tries, and all that follow are shorter */
			parts_units(&p);
		if (!r->stop && !r->renew)
			(r->predicate->inside_out ? parts_levels_up : parts_levels)(&p);
		if (!r->stop && !r->renew)
			parts_texts(&p);
		parts_blocks(&p);
		parts_all_bytes(&p, 0, 0);
		parts_blocks(&p); /* blocks that contain less now */
	} else if (status == TM_NO_MEMORY) {
		(void)fault_memory(r->error);
		r->stop = true;
	}
	r->renew = false;
	outline_free(&p.o);
	tracemend_close(input);
	free(p.list);
	free(p.saved);
	return status == TM_LIMIT ? reduction_bytes(r) : p.any;
}
