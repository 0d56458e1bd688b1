/* Fuzzes archives and compressed files, which are recognised by content. */
#include "oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	oracle_container(data, size);
	return 0;
}
