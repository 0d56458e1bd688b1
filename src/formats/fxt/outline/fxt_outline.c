/* The parts of an FXT file, declared from what fxt_decode.c decodes. */
#include "formats/fxt/outline/fxt_outline.h"

#include "formats/fxt/decode/fxt_decode.h"

/* One record being declared. */
struct declaration {
	struct outline *o;
	const struct fxt_record *r;
	uint64_t at;	 /* of the record in the file */
	uint32_t record; /* its part */
};

static uint32_t bits(const struct declaration *s, const char *name, enum field_kind kind, unsigned low, unsigned width)
{
	return outline_bits(s->o, name, kind, s->at, FXT_WORD, low, width);
}

static void word(const struct declaration *s, const char *name, enum field_kind kind, uint64_t at)
{
	(void)outline_field(s->o, name, kind, s->at + at, FXT_WORD);
}

/* A stream of bytes with its padding; `size` is the field that measures it, less `bias`. */
static void stream(const struct declaration *s, const char *name, enum field_kind kind, uint64_t at, uint64_t length, uint32_t size,
		   int64_t bias)
{
	uint32_t text = outline_field(s->o, name, kind, s->at + at, length);
	outline_measure(s->o, size, MEASURE_LENGTH, text, 1, bias);
	(void)outline_padding(s->o, s->at + at + length, s->at + at + fxt_words(length) * FXT_WORD, FXT_WORD, s->record);
}

/* The 16 bits of a string reference in the word at `at`. Its text is declared later: the word may have more fields. */
static uint32_t reference(const struct declaration *s, const char *name, uint64_t at, unsigned low, uint16_t ref)
{
	/* The flag of an index is not part of the field: with it, inline text would have to follow. */
	bool text = ref & FXT_STRING_INLINE;
	return outline_bits(s->o, name, text ? FIELD_SIZE : FIELD_REFERENCE, s->at + at, FXT_WORD, low, text ? 16 : 15);
}

static void inline_text(const struct declaration *s, const struct fxt_string_ref *ref, const char *name, uint32_t size)
{
	if (ref->ref & FXT_STRING_INLINE)
		stream(s, name, FIELD_TEXT, ref->at, ref->ref & (uint16_t)~FXT_STRING_INLINE, size, FXT_STRING_INLINE);
}

static void koids(const struct declaration *s, const struct fxt_thread_ref *t)
{
	if (t->ref)
		return;
	word(s, "process koid", FIELD_ID, t->at);
	if (!t->process_only)
		word(s, "thread koid", FIELD_ID, t->at + FXT_WORD);
}

/* ---- arguments ---- */

static void argument(const struct declaration *s, const struct fxt_argument_view *a)
{
	struct outline *o = s->o;
	uint64_t at = s->at + a->at;
	uint32_t part = outline_open(o, PART_RECORD, "argument", at, 0), value = OUTLINE_NONE;

	(void)outline_bits(o, "argument type", FIELD_TAG, at, FXT_WORD, 0, 4);
	outline_measure(o, outline_bits(o, "argument size", FIELD_SIZE, at, FXT_WORD, 4, 12), MEASURE_LENGTH, part, FXT_WORD, 0);
	uint32_t name = reference(s, "string ref", a->at, 16, a->name.ref);
	switch (a->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		(void)outline_bits(o, "value 32", FIELD_VALUE, at, FXT_WORD, 32, 32);
		break;
	case FXT_ARG_BOOL:
		(void)outline_bits(o, "bool", FIELD_VALUE, at, FXT_WORD, 32, 1);
		break;
	case FXT_ARG_STRING:
		value = reference(s, "string ref", a->at, 32, (uint16_t)a->value);
		break;
	case FXT_ARG_BLOB:
		value = outline_bits(o, "blob size", FIELD_SIZE, at, FXT_WORD, 32, 32);
		break;
	default:
		break;
	}
	inline_text(s, &a->name, "text", name);
	if (a->type == FXT_ARG_STRING && a->value & FXT_STRING_INLINE)
		stream(s, "text", FIELD_TEXT, a->value_at, a->value & ~(uint64_t)FXT_STRING_INLINE, value, FXT_STRING_INLINE);
	else if (a->type == FXT_ARG_BLOB)
		stream(s, "payload", FIELD_TEXT, a->value_at, a->value, value, 0);
	else if (a->value_at)
		word(s, a->type == FXT_ARG_KOID ? "koid" : "value 64", a->type == FXT_ARG_KOID ? FIELD_ID : FIELD_VALUE,
		     a->value_at);
	outline_close(o, at + a->words * FXT_WORD);
}

/* A record without arguments has room for some, too: at `from`. */
static void arguments(const struct declaration *s, uint32_t count, uint64_t from)
{
	const struct fxt_record *r = s->r;
	uint64_t end = from;

	/* Arguments in the other byte order are not declared: their fields cannot be changed consistently. */
	if (r->swapped)
		return;
	if (r->argument_count) {
		const struct fxt_argument_view *last = &r->arguments[r->argument_count - 1];
		from = r->arguments[0].at;
		end = last->at + last->words * FXT_WORD;
	}
	uint32_t group = outline_open(s->o, PART_GROUP, "arguments", s->at + from, PART_FIXED);
	outline_measure(s->o, count, MEASURE_COUNT, group, 1, 0);
	for (unsigned i = 0; i < r->argument_count; i++)
		argument(s, &r->arguments[i]);
	outline_close(s->o, s->at + end);
}

/* ---- record types ---- */

static void metadata(const struct declaration *s)
{
	const struct fxt_record *r = s->r;

	(void)bits(s, "metadata type", FIELD_TAG, 16, 4);
	if (r->subtype == FXT_TRACE_INFO)
		return;
	(void)bits(s, "provider id", FIELD_ID, 20, 32);
	if (r->subtype == FXT_PROVIDER_INFO) {
		uint32_t size = bits(s, "name length", FIELD_SIZE, 52, 8);
		stream(s, "text", FIELD_TEXT, r->text_at, r->text_length, size, 0);
	} else if (r->subtype == FXT_PROVIDER_EVENT) {
		(void)bits(s, "provider event", FIELD_TAG, 52, 4);
	}
}

static void event(const struct declaration *s)
{
	const struct fxt_record *r = s->r;

	(void)bits(s, "event type", FIELD_TAG, 16, 4);
	uint32_t count = bits(s, "argument count", FIELD_COUNT, 20, 4);
	(void)bits(s, "thread ref", FIELD_REFERENCE, 24, 8);
	uint32_t category = reference(s, "string ref", 0, 32, r->strings[0].ref);
	uint32_t name = reference(s, "string ref", 0, 48, r->strings[1].ref);
	word(s, "timestamp", FIELD_TIME, FXT_WORD);
	koids(s, &r->threads[0]);
	inline_text(s, &r->strings[0], "text", category);
	inline_text(s, &r->strings[1], "text", name);
	arguments(s, count, (r->content - r->has_tail) * FXT_WORD);
	if (r->has_tail)
		word(s, r->subtype == FXT_DURATION_COMPLETE ? "end time" : "id",
		     r->subtype == FXT_DURATION_COMPLETE ? FIELD_TIME : FIELD_ID, (r->content - 1) * FXT_WORD);
}

static void object(const struct declaration *s)
{
	const struct fxt_record *r = s->r;
	bool kernel = r->type == FXT_KERNEL;

	(void)bits(s, kernel ? "object type" : "thread ref", kernel ? FIELD_TAG : FIELD_REFERENCE, 16, 8);
	uint32_t name = reference(s, "string ref", 0, 24, r->strings[0].ref);
	uint32_t count = bits(s, "argument count", FIELD_COUNT, 40, 4);
	word(s, kernel ? "koid" : "pointer", FIELD_ID, FXT_WORD);
	if (!kernel)
		koids(s, &r->threads[0]);
	inline_text(s, &r->strings[0], "text", name);
	arguments(s, count, r->content * FXT_WORD);
}

static void scheduling(const struct declaration *s)
{
	const struct fxt_record *r = s->r;

	if (r->subtype == FXT_SWITCH_LEGACY) {
		(void)bits(s, "cpu 8", FIELD_VALUE, 16, 8);
		(void)bits(s, "thread state", FIELD_TAG, 24, 4);
		(void)bits(s, "thread ref", FIELD_REFERENCE, 28, 8);
		(void)bits(s, "thread ref", FIELD_REFERENCE, 36, 8);
		(void)bits(s, "priority", FIELD_VALUE, 44, 8);
		(void)bits(s, "priority", FIELD_VALUE, 52, 8);
		(void)bits(s, "scheduling type", FIELD_TAG, 60, 4);
		word(s, "timestamp", FIELD_TIME, FXT_WORD);
		koids(s, &r->threads[0]);
		koids(s, &r->threads[1]);
		return;
	}
	uint32_t count = bits(s, "argument count", FIELD_COUNT, 16, 4);
	(void)bits(s, "cpu", FIELD_VALUE, 20, 16);
	if (r->subtype == FXT_SWITCH)
		(void)bits(s, "thread state", FIELD_TAG, 36, 4);
	(void)bits(s, "scheduling type", FIELD_TAG, 60, 4);
	word(s, "timestamp", FIELD_TIME, FXT_WORD);
	word(s, "koid", FIELD_ID, 2 * FXT_WORD);
	if (r->subtype == FXT_SWITCH)
		word(s, "koid", FIELD_ID, 3 * FXT_WORD);
	arguments(s, count, r->content * FXT_WORD);
}

static void profiler(const struct declaration *s)
{
	const struct fxt_record *r = s->r;

	(void)bits(s, "profiler type", FIELD_TAG, 16, 4);
	(void)bits(s, "thread ref", FIELD_REFERENCE, 20, 8);
	uint32_t name = OUTLINE_NONE, build = OUTLINE_NONE, frames = OUTLINE_NONE;
	if (r->subtype == FXT_PROFILER_BACKTRACE)
		frames = bits(s, "frame count", FIELD_COUNT, 28, 8);
	else
		(void)bits(s, "module id", FIELD_ID, 28, 16);
	if (r->subtype == FXT_PROFILER_MODULE) {
		name = bits(s, "name length", FIELD_SIZE, 44, 8);
		build = bits(s, "build id length", FIELD_SIZE, 52, 8);
	}
	word(s, "timestamp", FIELD_TIME, FXT_WORD);
	koids(s, &r->threads[0]);
	uint64_t at = 2 * FXT_WORD + (r->threads[0].ref ? 0 : (r->threads[0].process_only ? 1 : 2) * FXT_WORD);
	if (r->subtype == FXT_PROFILER_MODULE) {
		stream(s, "text", FIELD_TEXT, at, r->text_length, name, 0);
		at += fxt_words(r->text_length) * FXT_WORD;
		stream(s, "build id", FIELD_TEXT, at, fxt_bits(r->header, 52, 8), build, 0);
	} else if (r->subtype == FXT_PROFILER_MMAP) {
		word(s, "address", FIELD_VALUE, at);
		word(s, "length", FIELD_VALUE, at + FXT_WORD);
		word(s, "address", FIELD_VALUE, at + 2 * FXT_WORD);
	} else {
		uint64_t end = r->content * FXT_WORD;
		uint32_t group = outline_open(s->o, PART_GROUP, "frames", s->at + at, 0);
		outline_measure(s->o, frames, MEASURE_COUNT, group, 1, 0);
		for (; at < end; at += FXT_WORD) {
			(void)outline_open(s->o, PART_RECORD, "frame", s->at + at, 0);
			word(s, "address", FIELD_VALUE, at);
			outline_close(s->o, s->at + at + FXT_WORD);
		}
		outline_close(s->o, s->at + end);
	}
}

static void large(const struct declaration *s)
{
	const struct fxt_record *r = s->r;
	uint64_t second = s->at + FXT_WORD;
	bool plain = r->blob_format == FXT_LARGE_BLOB_PLAIN;
	uint32_t count = OUTLINE_NONE;

	(void)bits(s, "large type", FIELD_TAG, 36, 4);
	(void)bits(s, "blob format", FIELD_TAG, 40, 4);
	uint32_t category = reference(s, "string ref", FXT_WORD, 0, r->strings[0].ref);
	uint32_t name = reference(s, "string ref", FXT_WORD, 16, r->strings[1].ref);
	if (!plain) {
		count = outline_bits(s->o, "argument count", FIELD_COUNT, second, FXT_WORD, 32, 4);
		(void)outline_bits(s->o, "thread ref", FIELD_REFERENCE, second, FXT_WORD, 36, 8);
	}
	inline_text(s, &r->strings[0], "text", category);
	inline_text(s, &r->strings[1], "text", name);
	if (!plain) {
		uint64_t at = 2 * FXT_WORD;
		for (unsigned i = 0; i < 2; i++)
			if (r->strings[i].ref & FXT_STRING_INLINE)
				at += fxt_words(r->strings[i].ref & (uint16_t)~FXT_STRING_INLINE) * FXT_WORD;
		word(s, "timestamp", FIELD_TIME, at);
		koids(s, &r->threads[0]);
		arguments(s, count, r->payload_at - FXT_WORD);
	}
	uint32_t size = outline_field(s->o, "blob size", FIELD_SIZE, s->at + r->payload_at - FXT_WORD, FXT_WORD);
	stream(s, "payload", FIELD_TEXT, r->payload_at, r->payload_length, size, 0);
}

static void body(const struct declaration *s)
{
	const struct fxt_record *r = s->r;
	uint32_t size, name;

	switch (r->type) {
	case FXT_METADATA:
		metadata(s);
		break;
	case FXT_INITIALIZATION:
		word(s, "ticks", FIELD_VALUE, FXT_WORD);
		break;
	case FXT_STRING:
		(void)bits(s, "string index", FIELD_ID, 16, 15);
		size = bits(s, "length", FIELD_SIZE, 32, 15);
		stream(s, "text", FIELD_TEXT, r->text_at, r->text_length, size, 0);
		break;
	case FXT_THREAD:
		(void)bits(s, "thread index", FIELD_ID, 16, 8);
		koids(s, &r->threads[0]);
		break;
	case FXT_EVENT:
		event(s);
		break;
	case FXT_BLOB:
		name = reference(s, "string ref", 0, 16, r->strings[0].ref);
		size = bits(s, "blob size", FIELD_SIZE, 32, 15);
		(void)bits(s, "blob type", FIELD_TAG, 48, 8);
		inline_text(s, &r->strings[0], "text", name);
		stream(s, "payload", FIELD_TEXT, r->payload_at, r->payload_length, size, 0);
		break;
	case FXT_USERSPACE:
	case FXT_KERNEL:
		object(s);
		break;
	case FXT_SCHEDULING:
		scheduling(s);
		break;
	case FXT_LOG:
		size = bits(s, "length", FIELD_SIZE, 16, 15);
		(void)bits(s, "thread ref", FIELD_REFERENCE, 32, 8);
		word(s, "timestamp", FIELD_TIME, FXT_WORD);
		koids(s, &r->threads[0]);
		stream(s, "text", FIELD_TEXT, r->text_at, r->text_length, size, 0);
		break;
	case FXT_PROFILER:
		profiler(s);
		break;
	case FXT_LARGE:
		large(s);
		break;
	default:
		break;
	}
}

static const char *record_name(const struct fxt_record *r)
{
	return r->type == FXT_EVENT ? fxt_event_names[r->subtype & 15] : fxt_type_names[r->type & 15];
}

static void record(struct outline *o, const struct fxt_record *r, uint64_t at)
{
	struct declaration s = { .o = o, .r = r, .at = at };
	bool magic = r->header == FXT_MAGIC && !at;

	if (magic) {
		(void)outline_open(o, PART_RECORD, "magic number", at, PART_FIXED);
		word(&s, "magic number", FIELD_MAGIC, 0);
		outline_close(o, at + FXT_WORD);
		return;
	}
	s.record = outline_open(o, PART_RECORD, record_name(r), at, 0);
	(void)bits(&s, "record type", FIELD_TAG, 0, 4);
	uint32_t size = bits(&s, "record size", FIELD_SIZE, 4, r->type == FXT_LARGE ? 32 : 12);
	outline_measure(o, size, MEASURE_LENGTH, s.record, FXT_WORD, 0);
	if (r->known)
		body(&s);
	outline_close(o, at + r->words * FXT_WORD);
}

enum tracemend_status fxt_outline(struct outline *o, const char *profile)
{
	struct fxt_decoder d = { .profile = profile && !strcmp(profile, "2022") ? FXT_2022 : FXT_LATEST };
	struct fxt_record r;
	bool big = false;
	size_t offset;

	if (o->file_count != 1 || o->files[0].size < FXT_WORD)
		return TM_OK;
	const uint8_t *data = o->files[0].data;
	uint64_t size = o->files[0].size;
	if (load_u64(data, false) != FXT_MAGIC && load_u64(data, true) != FXT_MAGIC)
		(void)fxt_probe(data, size < FXT_PROBE_BYTES ? (size_t)size : FXT_PROBE_BYTES, size, &big, &offset);
	d.big_endian = o->big_endian = big || load_u64(data, true) == FXT_MAGIC;
	(void)outline_open_file(o, 0, "trace", 0);
	for (uint64_t at = 0; size - at >= FXT_WORD && o->status == TM_OK;) {
		uint64_t left = size - at, words = fxt_size(load_u64(data + at, d.big_endian));
		if (!words || words > left / FXT_WORD) {
			/* The size is unusable: continue at the next word that may begin a record. */
			at += FXT_WORD;
			continue;
		}
		/* The whole record is in memory: `have` may be more than a walk through a window sees. */
		if (fxt_decode(&d, &r, data + at, words * FXT_WORD, left, 0))
			record(o, &r, at);
		else
			(void)outline_leaf(o, PART_BYTES, "damage", at, words * FXT_WORD, 0);
		at += words * FXT_WORD;
	}
	outline_close_file(o);
	return TM_OK;
}
