/* Building an outline. Parts nest by construction: see outline_open(). */
#include "core/outline_part.h"

#include <stdlib.h>

#include "core/format.h"
#include "core/system.h"

static void append_child(struct outline *o, uint32_t parent, uint32_t child)
{
	struct part *p = &o->parts[parent], *c = &o->parts[child];
	c->parent = parent;
	c->previous = p->last;
	if (p->last != OUTLINE_NONE)
		o->parts[p->last].next = child;
	else
		p->first = child;
	p->last = child;
}

/* ---- fields on their leaf ---- */

static void field_refuse(struct part *f)
{
	f->flags |= PART_DELETED;
	f->parent = f->next = OUTLINE_NONE;
	f->measure = MEASURE_NOTHING;
}

static uint64_t field_mask(const struct part *f)
{
	return f->width ? (f->width < 64 ? (UINT64_C(1) << f->width) - 1 : UINT64_MAX) << f->shift : UINT64_MAX;
}

/* Attaches the pending fields to a leaf if they lie within it and do not overlap; else, or without a leaf (OUTLINE_NONE), they are
 * dropped. */
static void attach_fields(struct outline *o, uint32_t leaf)
{
	uint32_t next, last = OUTLINE_NONE, at = leaf == OUTLINE_NONE ? 0 : o->parts[leaf].offset;
	uint32_t end = leaf == OUTLINE_NONE ? 0 : at + o->parts[leaf].length;
	uint64_t used = 0;

	for (uint32_t i = o->open[o->depth - 1].pending; i != OUTLINE_NONE; i = next) {
		struct part *f = &o->parts[i], *word = last == OUTLINE_NONE ? NULL : &o->parts[last];
		next = f->next;
		bool same = word && f->offset == word->offset && f->length == word->length && f->width && word->width;
		if (leaf == OUTLINE_NONE || f->offset + f->length > end || (same ? (used & field_mask(f)) != 0 : f->offset < at)) {
			field_refuse(f);
			continue;
		}
		used = (same ? used : 0) | field_mask(f);
		at = f->offset + f->length;
		f->parent = leaf;
		f->previous = last;
		f->next = OUTLINE_NONE;
		if (word)
			word->next = i;
		else
			o->parts[leaf].fields = i;
		last = i;
	}
	o->open[o->depth - 1].pending = o->open[o->depth - 1].pending_last = OUTLINE_NONE;
}

/* Declares the bytes up to `end` that no part covers. */
static void fill_gap(struct outline *o, uint64_t end)
{
	if (end > o->at) {
		uint32_t i = outline_part_new(o, PART_BYTES, "bytes");
		if (i == OUTLINE_NONE)
			return;
		struct part *p = &o->parts[i];
		p->flags |= PART_FIXED;
		p->file = o->parts[o->open[0].part].file;
		p->offset = o->at;
		p->length = (uint32_t)end - o->at;
		append_child(o, o->open[o->depth - 1].part, i);
		attach_fields(o, i);
		o->at = (uint32_t)end;
	} else {
		attach_fields(o, OUTLINE_NONE);
	}
}

/* ---- declaring ---- */

static void push(struct outline *o, uint32_t part)
{
	o->open[o->depth].part = part;
	o->open[o->depth].pending = o->open[o->depth].pending_last = OUTLINE_NONE;
	o->depth++;
}

uint32_t outline_open_file(struct outline *o, uint32_t file, const char *name, unsigned flags)
{
	if (o->status != TM_OK || file >= o->file_count + o->stream_count)
		return OUTLINE_NONE;
	o->depth = o->refused = 0;
	o->at = 0;
	push(o, o->files[file].part);
	o->parts[o->files[file].part].name = name;
	o->parts[o->files[file].part].flags |= (uint8_t)flags;
	return o->files[file].part;
}

static uint64_t place(const struct outline *o, uint64_t offset)
{
	uint32_t size = o->files[o->parts[o->open[0].part].file].size;
	return offset < o->at ? o->at : offset > size ? size : offset;
}

uint32_t outline_open(struct outline *o, enum part_kind kind, const char *name, uint64_t offset, unsigned flags)
{
	uint32_t i = OUTLINE_NONE;
	if (o->depth && o->depth < OUTLINE_DEPTH_MAX && !o->refused) {
		offset = place(o, offset);
		fill_gap(o, offset);
		i = outline_part_new(o, kind, name);
	}
	if (i == OUTLINE_NONE) {
		o->refused++;
		return i;
	}
	struct part *p = &o->parts[i];
	p->flags |= (uint8_t)flags;
	p->file = o->parts[o->open[0].part].file;
	p->offset = (uint32_t)offset;
	append_child(o, o->open[o->depth - 1].part, i);
	push(o, i);
	return i;
}

void outline_close(struct outline *o, uint64_t end)
{
	if (o->refused) {
		o->refused--;
		return;
	}
	if (!o->depth || o->status != TM_OK)
		return;
	uint32_t i = o->open[o->depth - 1].part;
	end = place(o, end);
	o->parts[i].length = (uint32_t)end - o->parts[i].offset;
	if (o->parts[i].first != OUTLINE_NONE || o->parts[i].kind == PART_FILE)
		fill_gap(o, end);
	else
		attach_fields(o, i);
	o->at = (uint32_t)end;
	o->depth--;
}

void outline_close_file(struct outline *o)
{
	while (o->status == TM_OK && o->depth > 1)
		outline_close(o, o->at);
	if (o->status == TM_OK && o->depth)
		outline_close(o, UINT64_MAX);
	o->depth = o->refused = 0;
}

uint32_t outline_leaf(struct outline *o, enum part_kind kind, const char *name, uint64_t offset, uint64_t length, unsigned flags)
{
	uint32_t i = outline_open(o, kind, name, offset, flags);
	outline_close(o, length > UINT64_MAX - offset ? UINT64_MAX : offset + length);
	return i;
}

uint32_t outline_padding(struct outline *o, uint64_t offset, uint64_t end, uint32_t alignment, uint32_t base)
{
	uint32_t i = outline_open(o, PART_PADDING, "padding", offset, PART_FIXED);
	outline_close(o, end);
	if (i != OUTLINE_NONE) {
		o->parts[i].unit = alignment ? alignment : 1;
		o->parts[i].base = base;
	}
	return i;
}

uint32_t outline_bits(struct outline *o, const char *name, enum field_kind kind, uint64_t offset, uint64_t length, unsigned shift,
		      unsigned width)
{
	bool measures = kind == FIELD_SIZE || kind == FIELD_COUNT || kind == FIELD_OFFSET || kind == FIELD_CHECKSUM;
	uint32_t size = o->depth ? o->files[o->parts[o->open[0].part].file].size : 0;

	if (o->refused || !o->depth || (!o->fields && !measures) || offset > size || length > size - offset ||
	    (width && (length > 8 || shift + width > 8 * length)))
		return OUTLINE_NONE;
	uint32_t i = outline_part_new(o, PART_FIELD, name);
	if (i == OUTLINE_NONE)
		return i;
	struct part *f = &o->parts[i];
	f->field = (uint8_t)kind;
	f->file = o->parts[o->open[0].part].file;
	f->offset = (uint32_t)offset;
	f->length = (uint32_t)length;
	f->shift = (uint8_t)shift;
	f->width = (uint8_t)width;
	uint32_t *pending = &o->open[o->depth - 1].pending, *last = &o->open[o->depth - 1].pending_last;
	if (*last != OUTLINE_NONE)
		o->parts[*last].next = i;
	else
		*pending = i;
	*last = i;
	return i;
}

uint32_t outline_field(struct outline *o, const char *name, enum field_kind kind, uint64_t offset, uint64_t length)
{
	return outline_bits(o, name, kind, offset, length, 0, 0);
}

void outline_measure(struct outline *o, uint32_t field, enum field_measure measure, uint32_t target, uint32_t unit, int64_t bias)
{
	if (field == OUTLINE_NONE || target == OUTLINE_NONE)
		return;
	o->parts[field].measure = (uint8_t)measure;
	o->parts[field].target = target;
	o->parts[field].unit = unit ? unit : 1;
	o->parts[field].bias = bias;
}

void outline_measure_from(struct outline *o, uint32_t field, uint32_t target, uint32_t base, uint32_t unit, int64_t bias)
{
	outline_measure(o, field, MEASURE_START, target, unit, bias);
	if (field != OUTLINE_NONE)
		o->parts[field].base = base;
}

void outline_coding(struct outline *o, uint32_t field, enum field_coding coding)
{
	if (field != OUTLINE_NONE)
		o->parts[field].coding = (uint8_t)coding;
}

void outline_align(struct outline *o, uint32_t part, uint32_t alignment)
{
	if (part != OUTLINE_NONE)
		o->parts[part].unit = alignment;
}

void outline_fix(struct outline *o, uint32_t part)
{
	if (part != OUTLINE_NONE)
		o->parts[part].flags |= PART_FIXED;
}

void outline_room(struct outline *o, uint32_t part, uint32_t bytes)
{
	if (part != OUTLINE_NONE)
		o->parts[part].room = bytes;
}

static bool is_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/* The coding of a word. A hexadecimal number without a letter is taken as decimal. */
static enum field_coding word_coding(const uint8_t *p, uint64_t length, bool *number)
{
	bool decimal = length <= 19, hex = length <= 16;
	for (uint64_t i = 0; i < length && hex; i++) {
		decimal = decimal && p[i] >= '0' && p[i] <= '9';
		hex = (p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f');
	}
	decimal = decimal && hex && (length < 8 || p[0] != '0');
	*number = decimal || (hex && (length >= 4 || length == 1));
	return decimal ? CODING_DECIMAL : CODING_HEX;
}

void outline_words(struct outline *o, uint64_t from, uint64_t end)
{
	if (!o->depth || o->refused || !o->fields)
		return;
	const struct outline_file *file = &o->files[o->parts[o->open[0].part].file];
	end = end < file->size ? end : file->size;
	for (uint64_t at = from; at < end && o->status == TM_OK;) {
		uint64_t start = at;
		bool number;
		while (at < end && is_word(file->data[at]))
			at++;
		if (at == start) {
			at++;
			continue;
		}
		enum field_coding coding = word_coding(file->data + start, at - start, &number);
		uint32_t i = outline_field(o, number ? "number" : "word", number ? FIELD_VALUE : FIELD_TEXT, start, at - start);
		if (number)
			outline_coding(o, i, coding);
	}
}

uint32_t outline_stream(struct outline *o, uint32_t field, uint8_t *data, uint32_t size, outline_encode encode, int codec)
{
	uint32_t index = o->file_count + o->stream_count;
	struct outline_file *files = NULL;

	/* A field of 8 bytes or less could be edited as a number. */
	bool there = field != OUTLINE_NONE && o->parts[field].parent != OUTLINE_NONE && o->parts[field].length > sizeof(uint64_t);
	if (there && o->status == TM_OK && size <= OUTLINE_STREAMS_MAX - o->stream_bytes) {
		files = system_resize(o->files, (size_t)index + 1, sizeof(*files));
		o->status = files ? TM_OK : TM_NO_MEMORY;
	}
	if (!files) {
		free(data);
		return OUTLINE_NONE;
	}
	o->files = files;
	files[index] = (struct outline_file){
		.name = "", .data = data, .size = size, .part = OUTLINE_NONE, .field = field, .encode = encode, .codec = codec
	};
	o->stream_count++;
	o->stream_bytes += size;
	uint32_t part = outline_part_file(o, index);
	outline_measure(o, field, MEASURE_CODED, part, 1, 0);
	return part == OUTLINE_NONE ? OUTLINE_NONE : index;
}

enum tracemend_status outline_by_scan(struct outline *o, const struct format *f, const char *profile)
{
	const struct tracemend_options options = { .max_findings = 1 };
	struct findings *findings = findings_new(f->rules, f->rule_count, &options);
	if (!findings)
		return TM_NO_MEMORY;
	struct scan s = { .in = o->in, .profile = profile, .findings = findings, .outline = o };
	enum tracemend_status status = f->scan(&s);
	if (status == TM_OK)
		status = findings_status(findings);
	findings_free(findings);
	outline_close_file(o);
	/* Where the walk stopped early, the rest is bytes. */
	return status == TM_LIMIT || status == TM_NOTHING || status == TM_UNRECOGNISED ? TM_OK : status;
}

/* ---- making ---- */

static enum tracemend_status read_files(struct outline *o)
{
	struct bundle *b = o->in;
	uint64_t total = 0;

	o->files = calloc(b->count ? b->count : 1, sizeof(*o->files));
	if (!o->files)
		return TM_NO_MEMORY;
	for (size_t i = 0; i < b->count; i++) {
		struct source *s = b->sources[i];
		if (s->role != TM_ROLE_INPUT || s->kind != SOURCE_FILE)
			continue;
		total += s->size;
		if (s->size > OUTLINE_BYTES_MAX || total > OUTLINE_BYTES_MAX)
			return TM_LIMIT;
		uint8_t *data = malloc(s->size ? (size_t)s->size : 1);
		if (!data)
			return TM_NO_MEMORY;
		o->files[o->file_count++] =
			(struct outline_file){ .source = s, .name = s->name, .data = data, .size = (uint32_t)s->size };
		enum tracemend_status status = s->size ? source_read(s, 0, data, (size_t)s->size) : TM_OK;
		if (status != TM_OK)
			return status;
	}
	for (uint32_t i = 0; i < o->file_count; i++)
		(void)outline_part_file(o, i);
	return o->status;
}

enum tracemend_status outline_make(struct outline *o, struct bundle *in, const struct format *f, const char *profile, bool fields)
{
	*o = (struct outline){ .in = in, .fields = fields, .directory = in->directory };
	enum tracemend_status status = read_files(o);

	if (status == TM_OK && f->outline)
		status = f->outline(o, profile);
	if (status == TM_OK)
		status = o->status;
	/* Files that the format did not open are bytes. */
	for (uint32_t i = 0; i < o->file_count && status == TM_OK; i++)
		if (o->parts[o->files[i].part].first == OUTLINE_NONE && o->files[i].size) {
			(void)outline_open_file(o, i, "file", PART_LOOSE);
			(void)outline_leaf(o, PART_BYTES, "bytes", 0, o->files[i].size, 0);
			outline_close_file(o);
			status = o->status;
		}
	if (status == TM_OK)
		status = outline_verify(o);
	if (status != TM_OK)
		outline_free(o);
	o->status = status;
	return status;
}

void outline_free(struct outline *o)
{
	for (uint32_t i = 0; i < o->file_count + o->stream_count; i++) {
		free((void *)(uintptr_t)o->files[i].data);
		bytes_free(&o->files[i].plain);
		bytes_free(&o->files[i].coded);
	}
	free(o->files);
	free(o->parts);
	free(o->starts);
	free(o->lengths);
	bytes_free(&o->pool);
	*o = (struct outline){ 0 };
}
