/* Probing a file for chunk headers and records, without the walk. */
#include "formats/ktrace/scan/ktrace_input.h"

#include "formats/ktrace/decode/ktrace_record.h"

void ktrace_input_open(struct ktrace_input *in, struct source *source)
{
	*in = (struct ktrace_input){ .source = source, .threads = { .max = KTRACE_THREADS_MAX } };
	window_open(&in->window, source);
}

void ktrace_input_close(struct ktrace_input *in)
{
	window_close(&in->window);
	ktrace_table_free(&in->threads);
}

bool ktrace_chunk_read(struct source *source, uint64_t offset, struct ktrace_chunk *chunk)
{
	uint8_t bytes[KTRACE_CHUNK_HEADER];
	if (offset > source->size || source->size - offset < sizeof(bytes) ||
	    source_read(source, offset, bytes, sizeof(bytes)) != TM_OK)
		return false;
	*chunk = ktrace_chunk_decode(bytes, offset);
	return true;
}

unsigned ktrace_events_failures(struct source *source, uint64_t offset, uint64_t limit, bool is_64, unsigned count)
{
	uint8_t head[KTRACE_HEAD];
	uint64_t there = offset < limit ? limit - offset : 0;
	size_t length = there < sizeof(head) ? (size_t)there : sizeof(head);

	if (length && source_read(source, offset, head, length) != TM_OK)
		return UINT32_MAX;
	return ktrace_records_failures(head, length, is_64, count);
}

bool ktrace_events_plausible(struct source *source, uint64_t offset, uint64_t limit, bool is_64, unsigned count)
{
	uint8_t record[64];
	uint32_t size = ktrace_event_size(is_64);
	uint64_t previous = 0;

	for (unsigned i = 0; i < count; i++, offset += size) {
		if (offset > limit || limit - offset < size)
			return i > 0;
		if (source_read(source, offset, record, size) != TM_OK || ktrace_record_is_bad(record, is_64, previous))
			return false;
		previous = ktrace_record_decode(record, is_64).time;
	}
	return true;
}
