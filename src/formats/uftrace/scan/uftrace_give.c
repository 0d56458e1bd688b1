/* What a record is, for the sink of a scan: the function's name is that of the symbol at its address. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/sink.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/scan/uftrace_sym.h"

static void name_give(struct uftrace_stream *t, struct sink_record *r, uint64_t address, uint32_t module, uint32_t symbol)
{
	char text[24];

	if (symbol != UFTRACE_NONE) {
		const struct uftrace_module *m = &t->w->symbols->modules[module];
		sink_name(r, m->names + m->symbols[symbol].name, m->symbols[symbol].length);
		return;
	}
	int n = snprintf(text, sizeof(text), "0x%" PRIx64, address);
	sink_name(r, text, (size_t)n);
}

static void bytes_give(struct sink_record *r, const char *name, const uint8_t *p, size_t length)
{
	char text[2 * TEXT_QUOTE_INPUT + 1];
	size_t shown = length < TEXT_QUOTE_INPUT ? length : TEXT_QUOTE_INPUT;

	text_hex(text, p, shown);
	sink_argument(r, name, strlen(name), "%s%s", text, shown < length ? "..." : "");
}

/* The values of a call, by the items of the function's specification: integers are shown as signed. False: they do not fit. */
static bool values_give(struct uftrace_stream *t, struct sink_record *r, const struct uftrace_spec *spec, const uint8_t *p,
			size_t size)
{
	bool big = t->w->info->head.big_endian;
	char shown[TEXT_QUOTE_SIZE];
	struct uftrace_strings strings;

	if (!spec || spec->state != UFTRACE_SPEC_KNOWN || uftrace_argspec_size(spec, p, size, big, &strings) < 0)
		return false;
	for (size_t i = 0; i < spec->count; i++) {
		const struct uftrace_item *item = &spec->items[i];
		size_t length = item->string ? load_u16(p, big) : item->size;
		const uint8_t *value = p + (item->string ? 2 : 0);
		char name[16];
		int n = item->retval ? snprintf(name, sizeof(name), "retval")
				     : snprintf(name, sizeof(name), "%sarg%u", item->floating ? "fp" : "", item->index);
		if (item->string)
			sink_argument(r, name, (size_t)n, "\"%s\"",
				      text_quote(shown, value, length && !value[length - 1] ? length - 1 : length));
		else if (item->floating || (length != 1 && length != 2 && length != 4 && length != 8))
			bytes_give(r, name, value, length);
		else
			sink_argument(r, name, (size_t)n, "%" PRId64,
				      length == 1   ? (int8_t)*value
				      : length == 2 ? (int16_t)load_u16(value, big)
				      : length == 4 ? (int32_t)load_u32(value, big)
						    : (int64_t)load_u64(value, big));
		p += (length + (item->string ? 2 : 0) + 3) & ~(size_t)3;
	}
	return true;
}

void uftrace_record_give(struct uftrace_stream *t, uint64_t at, uint64_t next, uint64_t time, uint64_t word)
{
	static const char *const kinds[] = { "entry", "exit", "lost", "event" };
	struct sink *sink = t->w->s->sink;
	enum uftrace_type type = uftrace_word_type(word);
	uint64_t value = uftrace_word_address(word);
	struct sink_record *r = sink_begin(sink, t->source, at, next - at, kinds[type]);
	uint32_t module = UFTRACE_NONE, symbol = UFTRACE_NONE;
	char text[32];

	if (type != UFTRACE_LOST)
		sink_time(r, time, "ns");
	sink_track(r, "task %" PRIu64, t->dat->tid);
	bool call = type == UFTRACE_ENTRY || type == UFTRACE_EXIT;
	if (call) {
		uftrace_place_symbol(t, value, &module, &symbol);
		name_give(t, r, value, module, symbol);
	} else if (type == UFTRACE_EVENT) {
		int n = snprintf(text, sizeof(text), "event %" PRIu64, value);
		sink_name(r, text, (size_t)n);
	}
	if (!sink->arguments)
		return;
	if (type == UFTRACE_LOST)
		sink_argument(r, "count", 5, "%" PRIu64, value);
	else
		sink_argument(r, "depth", 5, "%u", uftrace_word_depth(word));
	size_t length = (size_t)(next - at - UFTRACE_RECORD_SIZE);
	const uint8_t *p = length ? window_at(&t->window, at + UFTRACE_RECORD_SIZE, length) : NULL;
	if (!p)
		return;
	const struct uftrace_spec *spec = call && symbol != UFTRACE_NONE
						  ? uftrace_spec_of(t->w, module, symbol, type == UFTRACE_EXIT)
						  : NULL;
	if (!values_give(t, r, spec, p, length))
		bytes_give(r, "payload", p, length);
}
