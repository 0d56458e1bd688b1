/* What an event is, for the sink of a scan. Its name is the event id of trace.codes(5): class, subclass and code. */
#include <inttypes.h>
#include <stdio.h>

#include "core/sink.h"
#include "formats/ktrace/scan/ktrace_event.h"

void ktrace_event_give(struct ktrace_walk *w, const struct ktrace_event *e, uint64_t offset)
{
	static const char *const kinds[] = { "event", "event, start", "event, end", "event, start and end" };
	static const char *const names[] = { "arg1", "arg2", "arg3", "arg4" };
	struct sink *sink = w->scan->sink;
	char id[16];

	struct sink_record *r = sink_begin(sink, w->in.source, offset, ktrace_event_size(w->in.is_64),
					   kinds[e->debugid & KTRACE_FUNC_MASK]);
	sink_time(r, e->time, "ticks");
	sink_track(r, "cpu %" PRIu32 ", thread %" PRIu64, e->cpu, e->tid);
	int n = snprintf(id, sizeof(id), "0x%08" PRIx32, e->debugid & ~KTRACE_FUNC_MASK);
	sink_name(r, id, (size_t)n);
	for (unsigned i = 0; i < 4 && sink->arguments; i++)
		sink_argument(r, names[i], 4, "0x%" PRIx64, e->args[i]);
}
