/* What a record is, for the sink of a scan: #string-references, #thread-references, #arguments. */
#include <inttypes.h>
#include <stdio.h>

#include "core/sink.h"
#include "formats/fxt/scan/fxt_walk.h"

/* A text of a record: in it, or in the string record that registered it. */
struct fxt_text {
	const uint8_t *bytes;
	size_t length;
	uint8_t read[TEXT_QUOTE_INPUT + 1]; /* where it was registered; one more byte tells that there is more */
};

/* Texts that repair would write are not known here. */
static void fxt_text_of(const struct fxt_walk *w, const struct fxt_record *r, uint16_t ref, uint64_t at, struct fxt_text *text)
{
	uint8_t head[FXT_WORD];

	*text = (struct fxt_text){ .bytes = text->read };
	if (ref & FXT_STRING_INLINE) {
		text->bytes = r->data + at;
		text->length = ref & ~FXT_STRING_INLINE;
		return;
	}
	const struct fxt_tables *t = w->registry.provider->tables;
	if (!ref || !(fxt_string_state(t, ref) & FXT_REGISTERED))
		return;
	uint64_t offset = t->pages[ref / FXT_PAGE]->offset[ref % FXT_PAGE];
	if (source_read(w->report.source, offset, head, sizeof(head)) != TM_OK)
		return;
	size_t length = (size_t)fxt_bits(load_u64(head, w->decoder.big_endian), 32, 15);
	if (length > sizeof(text->read))
		length = sizeof(text->read);
	if (offset + FXT_WORD + length <= w->report.source->size &&
	    source_read(w->report.source, offset + FXT_WORD, text->read, length) == TM_OK)
		text->length = length;
}

static void fxt_argument_give(const struct fxt_walk *w, const struct fxt_record *r, const struct fxt_argument_view *a,
			      struct sink_record *out)
{
	struct fxt_text name, value;
	char quoted[TEXT_QUOTE_SIZE];
	double number;

	fxt_text_of(w, r, a->name.ref, a->name.at, &name);
	switch (a->type) {
	case FXT_ARG_NULL:
		sink_argument(out, name.bytes, name.length, "null");
		break;
	case FXT_ARG_INT32:
		sink_argument(out, name.bytes, name.length, "%" PRId32, (int32_t)(uint32_t)a->value);
		break;
	case FXT_ARG_INT64:
		sink_argument(out, name.bytes, name.length, "%" PRId64, (int64_t)a->value);
		break;
	case FXT_ARG_DOUBLE:
		memcpy(&number, &a->value, sizeof(number));
		sink_argument(out, name.bytes, name.length, "%.17g", number);
		break;
	case FXT_ARG_STRING:
		fxt_text_of(w, r, (uint16_t)a->value, a->value_at, &value);
		sink_argument(out, name.bytes, name.length, "\"%s\"", text_quote(quoted, value.bytes, value.length));
		break;
	case FXT_ARG_POINTER:
		sink_argument(out, name.bytes, name.length, "0x%" PRIx64, a->value);
		break;
	case FXT_ARG_BOOL:
		sink_argument(out, name.bytes, name.length, "%s", a->value ? "true" : "false");
		break;
	case FXT_ARG_BLOB:
		sink_argument(out, name.bytes, name.length, "blob of %" PRIu64 " bytes", a->value);
		break;
	default:
		sink_argument(out, name.bytes, name.length, "%" PRIu64, a->value);
		break;
	}
}

/* The thread or process of a record. */
static void fxt_track_give(const struct fxt_walk *w, const struct fxt_record *r, struct sink_record *out)
{
	uint64_t process = r->threads[0].process, thread = r->threads[0].thread;
	bool process_only = r->threads[0].process_only;

	if (r->threads[0].ref && r->type != FXT_THREAD) {
		const struct fxt_thread_entry *e = &w->registry.provider->tables->threads[r->threads[0].ref];
		if (!(e->state & FXT_REGISTERED)) {
			sink_track(out, "provider %" PRIu32 ", thread ref %u", w->registry.provider->id, r->threads[0].ref);
			return;
		}
		process = e->process;
		thread = e->thread;
	}
	if (process_only)
		sink_track(out, "process %" PRIu64, process);
	else
		sink_track(out, "thread %" PRIu64 "/%" PRIu64, process, thread);
}

void fxt_record_give(const struct fxt_walk *w, const struct fxt_record *r, uint64_t offset)
{
	struct sink *sink = w->s->sink;
	struct fxt_text text;
	char kind[64], quoted[TEXT_QUOTE_SIZE];

	if (!sink)
		return;
	fxt_describe(r, kind, sizeof(kind));
	struct sink_record *out = sink_begin(sink, w->report.source, offset, r->words * FXT_WORD, kind);
	if (r->has_timestamp)
		sink_time(out, r->timestamp, "ticks");
	if (r->type == FXT_SCHEDULING)
		sink_track(out, "cpu %u", r->cpu);
	else if (r->thread_count)
		fxt_track_give(w, r, out);
	if (r->known && r->text_length && r->text_at + r->text_length <= fxt_span(r->words))
		sink_name(out, r->data + r->text_at, (size_t)r->text_length);
	for (unsigned i = 0; i < r->string_count; i++) {
		if (r->strings[i].role == FXT_ROLE_NAME) {
			fxt_text_of(w, r, r->strings[i].ref, r->strings[i].at, &text);
			sink_name(out, text.bytes, text.length);
		} else if (r->strings[i].role == FXT_ROLE_CATEGORY && sink->arguments) {
			fxt_text_of(w, r, r->strings[i].ref, r->strings[i].at, &text);
			sink_argument(out, "category", 8, "\"%s\"", text_quote(quoted, text.bytes, text.length));
		}
	}
	if (r->has_tail && sink->arguments) {
		const char *tail = r->type == FXT_EVENT && r->subtype == FXT_DURATION_COMPLETE ? "end"
				   : r->type == FXT_INITIALIZATION			       ? "ticks a second"
											       : "id";
		sink_argument(out, tail, strlen(tail), "%" PRIu64, r->tail);
	}
	for (unsigned i = 0; i < r->argument_count && sink->arguments; i++)
		fxt_argument_give(w, r, &r->arguments[i], out);
}
