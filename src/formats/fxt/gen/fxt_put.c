/* Records, bit for bit. Nothing here decides anything. */
#include "formats/fxt/gen/fxt_gen.h"

void fxt_put_mark(struct fxt_gen *g, enum fxt_mark_kind kind, unsigned role, size_t offset, unsigned shift, unsigned width,
		  size_t length)
{
	if (g->mark_count < FXT_MARKS_MAX)
		g->marks[g->mark_count++] = (struct fxt_mark){
			.kind = (uint8_t)kind,
			.role = (uint8_t)role,
			.shift = (uint8_t)shift,
			.width = (uint8_t)width,
			.offset = offset,
			.length = length,
		};
}

static void mark_bits(struct fxt_gen *g, enum fxt_mark_kind kind, size_t offset, unsigned shift, unsigned width)
{
	fxt_put_mark(g, kind, 0, offset, shift, width, 8);
}

void fxt_put_begin(struct fxt_gen *g)
{
	g->start = g->out->size;
	g->mark_count = 0;
	bytes_u64(g->out, 0);
}

static void put_end(struct fxt_gen *g, uint64_t header)
{
	g->records++;
	if (!g->out->failed)
		store_u64(g->out->data + g->start, header, g->out->big_endian);
}

void fxt_put_end(struct fxt_gen *g, unsigned type, uint64_t fields)
{
	put_end(g, fields | fxt_field(0, 4, type) | fxt_field(4, 12, fxt_last_size(g) / 8));
}

void fxt_put_end_large(struct fxt_gen *g, unsigned large_type, uint64_t fields)
{
	put_end(g, fields | fxt_field(0, 4, FXT_LARGE) | fxt_field(4, 32, fxt_last_size(g) / 8) | fxt_field(36, 4, large_type));
}

void fxt_put_word(struct fxt_gen *g, uint64_t word)
{
	mark_bits(g, MARK_FIXED, g->out->size, 0, 64);
	bytes_u64(g->out, word);
}

void fxt_put_time(struct fxt_gen *g, uint64_t ticks)
{
	mark_bits(g, MARK_TIME, g->out->size, 0, 64);
	bytes_u64(g->out, ticks);
}

void fxt_put_stream(struct fxt_gen *g, enum fxt_stream_role role, const void *data, size_t length)
{
	if (!length)
		return;
	fxt_put_mark(g, MARK_STREAM, role, g->out->size, 0, 0, length);
	if (data)
		bytes_append(g->out, data, length);
	else
		(void)bytes_grow(g->out, length);
	/* Up to a word of the record: the record itself need not lie on one. */
	(void)bytes_grow(g->out, (FXT_WORD - length % FXT_WORD) % FXT_WORD);
}

static void put_text(struct fxt_gen *g, struct fxt_ref ref)
{
	if (ref.value & FXT_STRING_INLINE)
		fxt_put_stream(g, STREAM_TEXT, ref.text.data, ref.text.length);
}

static void put_who(struct fxt_gen *g, struct fxt_who who)
{
	if (who.index)
		return;
	fxt_put_mark(g, MARK_KOIDS, 0, g->out->size, 0, 0, 16);
	bytes_u64(g->out, who.process);
	bytes_u64(g->out, who.thread);
}

static uint64_t string_field(struct fxt_gen *g, size_t offset, unsigned shift, struct fxt_ref ref)
{
	mark_bits(g, MARK_STRING, offset, shift, 16);
	return fxt_field(shift, 16, ref.value);
}

static uint64_t thread_field(struct fxt_gen *g, size_t offset, unsigned shift, struct fxt_who who)
{
	mark_bits(g, MARK_THREAD, offset, shift, 8);
	return fxt_field(shift, 8, who.index);
}

static void reserved(struct fxt_gen *g, size_t offset, unsigned first, unsigned last)
{
	mark_bits(g, MARK_RESERVED, offset, first, last - first + 1);
}

void fxt_put_args(struct fxt_gen *g, const struct fxt_arg *args, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct fxt_arg *a = &args[i];
		const size_t at = g->out->size;
		const unsigned mark = g->mark_count;
		fxt_put_mark(g, MARK_ARGUMENT, a->type, at, 0, 0, 0);
		uint64_t header = fxt_field(0, 4, a->type) | string_field(g, at, 16, a->name);
		bytes_u64(g->out, 0);
		put_text(g, a->name);
		switch (a->type) {
		case FXT_ARG_NULL:
			reserved(g, at, 32, 63);
			break;
		case FXT_ARG_INT32:
		case FXT_ARG_UINT32:
			header |= fxt_field(32, 32, a->value);
			break;
		case FXT_ARG_STRING:
			header |= string_field(g, at, 32, a->text);
			reserved(g, at, 48, 63);
			put_text(g, a->text);
			break;
		case FXT_ARG_BOOL:
			/* the other bits have a rule of their own, and are not marked as reserved here */
			header |= fxt_field(32, 1, a->value);
			break;
		case FXT_ARG_BLOB:
			header |= fxt_field(32, 32, a->value);
			fxt_put_stream(g, STREAM_BYTES, a->payload, (size_t)a->value);
			break;
		default:
			reserved(g, at, 32, 63);
			bytes_u64(g->out, a->value);
			break;
		}
		if (g->out->failed)
			return;
		const size_t size = g->out->size - at;
		store_u64(g->out->data + at, header | fxt_field(4, 12, size / 8), g->out->big_endian);
		if (mark < FXT_MARKS_MAX)
			g->marks[mark].length = size;
	}
}

void fxt_put_magic(struct fxt_gen *g)
{
	fxt_put_begin(g);
	fxt_put_end(g, FXT_METADATA, FXT_MAGIC & ~UINT64_C(0xffff));
}

void fxt_put_provider_info(struct fxt_gen *g, uint32_t id, struct fxt_text name)
{
	fxt_put_begin(g);
	fxt_put_stream(g, STREAM_PROVIDER, name.data, name.length);
	reserved(g, g->start, 60, 63);
	fxt_put_end(g, FXT_METADATA, fxt_field(16, 4, FXT_PROVIDER_INFO) | fxt_field(20, 32, id) | fxt_field(52, 8, name.length));
}

void fxt_put_provider_section(struct fxt_gen *g, uint32_t id)
{
	fxt_put_begin(g);
	reserved(g, g->start, 52, 63);
	fxt_put_end(g, FXT_METADATA, fxt_field(16, 4, FXT_PROVIDER_SECTION) | fxt_field(20, 32, id));
}

void fxt_put_provider_event(struct fxt_gen *g, uint32_t id, unsigned event)
{
	fxt_put_begin(g);
	reserved(g, g->start, 56, 63);
	fxt_put_end(g, FXT_METADATA, fxt_field(16, 4, FXT_PROVIDER_EVENT) | fxt_field(20, 32, id) | fxt_field(52, 4, event));
}

void fxt_put_initialization(struct fxt_gen *g, uint64_t rate)
{
	fxt_put_begin(g);
	fxt_put_word(g, rate);
	reserved(g, g->start, 16, 63);
	fxt_put_end(g, FXT_INITIALIZATION, 0);
}

void fxt_put_long_initialization(struct fxt_gen *g, uint64_t rate, uint64_t ticks, uint64_t wall_ns)
{
	fxt_put_begin(g);
	fxt_put_word(g, rate);
	fxt_put_word(g, ticks);
	fxt_put_word(g, wall_ns);
	reserved(g, g->start, 16, 63);
	fxt_put_end(g, FXT_INITIALIZATION, 0);
}

void fxt_put_string(struct fxt_gen *g, uint16_t index, struct fxt_text text)
{
	fxt_put_begin(g);
	fxt_put_stream(g, STREAM_TEXT, text.data, text.length);
	reserved(g, g->start, 48, 63);
	fxt_put_end(g, FXT_STRING, fxt_field(16, 15, index) | fxt_field(32, 15, text.length));
}

void fxt_put_thread(struct fxt_gen *g, uint8_t index, uint64_t process, uint64_t thread)
{
	fxt_put_begin(g);
	fxt_put_word(g, process);
	fxt_put_word(g, thread);
	reserved(g, g->start, 24, 63);
	fxt_put_end(g, FXT_THREAD, fxt_field(16, 8, index));
}

/* Whether events of that type end with a word. */
static bool event_has_tail(unsigned type)
{
	return type == FXT_COUNTER || type >= FXT_DURATION_COMPLETE;
}

void fxt_put_event(struct fxt_gen *g, const struct fxt_gen_event *e)
{
	fxt_put_begin(g);
	uint64_t fields = fxt_field(16, 4, e->type) | fxt_field(20, 4, e->arg_count) | thread_field(g, g->start, 24, e->who) |
			  string_field(g, g->start, 32, e->category) | string_field(g, g->start, 48, e->name);
	fxt_put_time(g, e->time);
	put_who(g, e->who);
	put_text(g, e->category);
	put_text(g, e->name);
	fxt_put_args(g, e->args, e->arg_count);
	if (event_has_tail(e->type) || (e->type == FXT_INSTANT && e->scope))
		fxt_put_word(g, e->tail);
	fxt_put_end(g, FXT_EVENT, fields);
}

void fxt_put_blob(struct fxt_gen *g, struct fxt_ref name, unsigned type, const void *data, size_t length)
{
	fxt_put_begin(g);
	uint64_t fields = string_field(g, g->start, 16, name) | fxt_field(32, 15, length) | fxt_field(48, 8, type);
	reserved(g, g->start, 56, 63);
	put_text(g, name);
	fxt_put_stream(g, STREAM_BYTES, data, length);
	fxt_put_end(g, FXT_BLOB, fields);
}

void fxt_put_userspace(struct fxt_gen *g, uint64_t pointer, struct fxt_who process, struct fxt_ref name, const struct fxt_arg *args,
		       unsigned arg_count)
{
	fxt_put_begin(g);
	uint64_t fields = thread_field(g, g->start, 16, process) | string_field(g, g->start, 24, name) |
			  fxt_field(40, 4, arg_count);
	reserved(g, g->start, 44, 63);
	fxt_put_word(g, pointer);
	if (!process.index) {
		fxt_put_mark(g, MARK_KOIDS, 0, g->out->size, 0, 0, 8);
		bytes_u64(g->out, process.process);
	}
	put_text(g, name);
	fxt_put_args(g, args, arg_count);
	fxt_put_end(g, FXT_USERSPACE, fields);
}

void fxt_put_kernel(struct fxt_gen *g, unsigned object_type, uint64_t koid, struct fxt_ref name, const struct fxt_arg *args,
		    unsigned arg_count)
{
	fxt_put_begin(g);
	uint64_t fields = fxt_field(16, 8, object_type) | string_field(g, g->start, 24, name) | fxt_field(40, 4, arg_count);
	reserved(g, g->start, 44, 63);
	fxt_put_word(g, koid);
	if (name.value & FXT_STRING_INLINE)
		fxt_put_stream(g, STREAM_OBJECT_NAME, name.text.data, name.text.length);
	fxt_put_args(g, args, arg_count);
	fxt_put_end(g, FXT_KERNEL, fields);
}

void fxt_put_legacy_switch(struct fxt_gen *g, uint64_t time, unsigned cpu, unsigned state, struct fxt_who outgoing,
			   struct fxt_who incoming, unsigned outgoing_priority, unsigned incoming_priority)
{
	fxt_put_begin(g);
	uint64_t fields = fxt_field(16, 8, cpu) | fxt_field(24, 4, state) | thread_field(g, g->start, 28, outgoing) |
			  thread_field(g, g->start, 36, incoming) | fxt_field(44, 8, outgoing_priority) |
			  fxt_field(52, 8, incoming_priority);
	fxt_put_time(g, time);
	put_who(g, outgoing);
	put_who(g, incoming);
	fxt_put_end(g, FXT_SCHEDULING, fields);
}

void fxt_put_switch(struct fxt_gen *g, uint64_t time, unsigned cpu, unsigned state, uint64_t outgoing, uint64_t incoming,
		    const struct fxt_arg *args, unsigned arg_count)
{
	fxt_put_begin(g);
	reserved(g, g->start, 40, 59);
	fxt_put_time(g, time);
	fxt_put_word(g, outgoing);
	fxt_put_word(g, incoming);
	fxt_put_args(g, args, arg_count);
	fxt_put_end(g, FXT_SCHEDULING,
		    fxt_field(16, 4, arg_count) | fxt_field(20, 16, cpu) | fxt_field(36, 4, state) | fxt_field(60, 4, FXT_SWITCH));
}

void fxt_put_wakeup(struct fxt_gen *g, uint64_t time, unsigned cpu, uint64_t thread, const struct fxt_arg *args, unsigned arg_count)
{
	fxt_put_begin(g);
	reserved(g, g->start, 36, 59);
	fxt_put_time(g, time);
	fxt_put_word(g, thread);
	fxt_put_args(g, args, arg_count);
	fxt_put_end(g, FXT_SCHEDULING, fxt_field(16, 4, arg_count) | fxt_field(20, 16, cpu) | fxt_field(60, 4, FXT_WAKEUP));
}

void fxt_put_log(struct fxt_gen *g, uint64_t time, struct fxt_who who, struct fxt_text message)
{
	fxt_put_begin(g);
	uint64_t fields = fxt_field(16, 15, message.length) | thread_field(g, g->start, 32, who);
	reserved(g, g->start, 40, 63);
	fxt_put_time(g, time);
	put_who(g, who);
	fxt_put_stream(g, STREAM_TEXT, message.data, message.length);
	fxt_put_end(g, FXT_LOG, fields);
}

void fxt_put_module(struct fxt_gen *g, uint64_t time, struct fxt_who who, unsigned module, struct fxt_text name,
		    struct fxt_text build_id)
{
	fxt_put_begin(g);
	uint64_t fields = fxt_field(16, 4, FXT_PROFILER_MODULE) | thread_field(g, g->start, 20, who) | fxt_field(28, 16, module) |
			  fxt_field(44, 8, name.length) | fxt_field(52, 8, build_id.length);
	reserved(g, g->start, 60, 63);
	fxt_put_time(g, time);
	put_who(g, who);
	fxt_put_stream(g, STREAM_TEXT, name.data, name.length);
	fxt_put_stream(g, STREAM_BYTES, build_id.data, build_id.length);
	fxt_put_end(g, FXT_PROFILER, fields);
}

void fxt_put_mmap(struct fxt_gen *g, uint64_t time, struct fxt_who who, unsigned module, unsigned flags, uint64_t start,
		  uint64_t range, uint64_t vaddr)
{
	fxt_put_begin(g);
	uint64_t fields = fxt_field(16, 4, FXT_PROFILER_MMAP) | thread_field(g, g->start, 20, who) | fxt_field(28, 16, module) |
			  fxt_field(44, 3, flags);
	reserved(g, g->start, 47, 63);
	fxt_put_time(g, time);
	put_who(g, who);
	fxt_put_word(g, start);
	fxt_put_word(g, range);
	fxt_put_word(g, vaddr);
	fxt_put_end(g, FXT_PROFILER, fields);
}

void fxt_put_backtrace(struct fxt_gen *g, uint64_t time, struct fxt_who who, unsigned frames)
{
	fxt_put_begin(g);
	uint64_t fields = fxt_field(16, 4, FXT_PROFILER_BACKTRACE) | thread_field(g, g->start, 20, who) | fxt_field(28, 8, frames);
	reserved(g, g->start, 36, 63);
	fxt_put_time(g, time);
	put_who(g, who);
	for (unsigned i = 0; i < frames; i++)
		fxt_put_word(g, UINT64_C(0x10000) + choices_below(g->c, 0x100000) * 4);
	fxt_put_end(g, FXT_PROFILER, fields);
}

void fxt_put_large_blob(struct fxt_gen *g, bool metadata, const struct fxt_gen_event *e, size_t payload)
{
	fxt_put_begin(g);
	const size_t format = g->out->size;
	uint64_t fields = string_field(g, format, 0, e->category) | string_field(g, format, 16, e->name);
	if (metadata) {
		fields |= fxt_field(32, 4, e->arg_count) | thread_field(g, format, 36, e->who);
		reserved(g, format, 44, 63);
	} else {
		reserved(g, format, 32, 63);
	}
	reserved(g, g->start, 44, 63);
	bytes_u64(g->out, fields);
	put_text(g, e->category);
	put_text(g, e->name);
	if (metadata) {
		fxt_put_time(g, e->time);
		put_who(g, e->who);
		fxt_put_args(g, e->args, e->arg_count);
	}
	fxt_put_word(g, payload);
	fxt_put_stream(g, STREAM_BYTES, NULL, payload);
	fxt_put_end_large(g, FXT_LARGE_BLOB, fxt_field(40, 4, metadata ? FXT_LARGE_BLOB_METADATA : FXT_LARGE_BLOB_PLAIN));
}

/* ---- the record written last ---- */

size_t fxt_last_size(const struct fxt_gen *g)
{
	return g->out->failed ? 8 : g->out->size - g->start;
}

uint64_t fxt_last_get(const struct fxt_gen *g, size_t offset, unsigned shift, unsigned width)
{
	if (g->out->failed)
		return 0;
	uint64_t word = load_u64(g->out->data + offset, g->out->big_endian) >> shift;
	return width == 64 ? word : word & ((UINT64_C(1) << width) - 1);
}

void fxt_last_set(struct fxt_gen *g, size_t offset, unsigned shift, unsigned width, uint64_t value)
{
	if (g->out->failed)
		return;
	const uint64_t mask = width == 64 ? UINT64_MAX : ((UINT64_C(1) << width) - 1) << shift;
	uint64_t word = load_u64(g->out->data + offset, g->out->big_endian);
	word = (word & ~mask) | ((value << shift) & mask);
	store_u64(g->out->data + offset, word, g->out->big_endian);
}

uint64_t fxt_last_header(const struct fxt_gen *g)
{
	return fxt_last_get(g, g->start, 0, 64);
}

void fxt_last_claim(struct fxt_gen *g, uint64_t words)
{
	bool large = (fxt_last_header(g) & 15) == FXT_LARGE;
	fxt_last_set(g, g->start, 4, large ? 32 : 12, words);
}

const struct fxt_mark *fxt_last_mark(struct fxt_gen *g, enum fxt_mark_kind kind)
{
	unsigned count = 0;
	for (unsigned i = 0; i < g->mark_count; i++)
		count += g->marks[i].kind == kind;
	if (!count)
		return NULL;
	uint64_t nth = choices_below(g->c, count);
	for (unsigned i = 0; i < g->mark_count; i++)
		if (g->marks[i].kind == kind && nth-- == 0)
			return &g->marks[i];
	return NULL;
}
