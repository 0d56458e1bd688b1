/* What a record is, for the sink of a scan: the function's name is that of the symbol at its address. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/sink.h"
#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/scan/uftrace_sym.h"

static void name_give(struct uftrace_stream *t, struct sink_record *r, uint64_t address)
{
	uint32_t module, symbol;
	char text[24];

	uftrace_place_symbol(t, address, &module, &symbol);
	if (symbol != UFTRACE_NONE) {
		const struct uftrace_module *m = &t->w->symbols->modules[module];
		sink_name(r, m->names + m->symbols[symbol].name, m->symbols[symbol].length);
		return;
	}
	int n = snprintf(text, sizeof(text), "0x%" PRIx64, address);
	sink_name(r, text, (size_t)n);
}

void uftrace_record_give(struct uftrace_stream *t, uint64_t at, uint64_t next, uint64_t time, uint64_t word)
{
	static const char *const kinds[] = { "entry", "exit", "lost", "event" };
	struct sink *sink = t->w->s->sink;
	enum uftrace_type type = uftrace_word_type(word);
	uint64_t value = uftrace_word_address(word);
	struct sink_record *r = sink_begin(sink, t->source, at, next - at, kinds[type]);
	char text[2 * TEXT_QUOTE_INPUT + 1];

	if (type != UFTRACE_LOST)
		sink_time(r, time, "ns");
	sink_track(r, "task %" PRIu64, t->dat->tid);
	if (type == UFTRACE_ENTRY || type == UFTRACE_EXIT) {
		name_give(t, r, value);
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
	if (p) {
		size_t shown = length < TEXT_QUOTE_INPUT ? length : TEXT_QUOTE_INPUT;
		text_hex(text, p, shown);
		sink_argument(r, "payload", 7, "%s%s", text, shown < length ? "..." : "");
	}
}
