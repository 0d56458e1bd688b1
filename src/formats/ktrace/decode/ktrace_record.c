/* Tests of several records. */
#include "formats/ktrace/decode/ktrace_record.h"

unsigned ktrace_records_failures(const uint8_t *p, size_t length, bool is_64, unsigned count)
{
	uint32_t size = ktrace_event_size(is_64);
	unsigned failures = 0;

	for (unsigned i = 0; i < count && length >= size; i++, p += size, length -= size) {
		struct ktrace_event e = ktrace_record_decode(p, is_64);
		failures += ktrace_record_failures(&e, is_64);
	}
	return failures;
}

bool ktrace_records_other_width(const uint8_t *head, size_t length, bool is_64)
{
	return ktrace_records_failures(head, length, is_64, 8) >= 3 && !ktrace_records_failures(head, length, !is_64, 8);
}
