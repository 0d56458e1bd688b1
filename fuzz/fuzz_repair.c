/* Fuzzes repair of one format, and tests every promise. A tar is a directory. */
#include "oracle.h"

#ifndef FUZZ_FORMAT
#error "compile with -DFUZZ_FORMAT='\"fxt\"'"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct oracle o = { .format = FUZZ_FORMAT, .effort = ORACLE_REPAIR, .sample = ORACLE_SAMPLE };
	(void)oracle_bytes(&o, data, size);
	return 0;
}
