/* Events of TID.dat. */
#include "formats/uftrace/decode/uftrace_record.h"

bool uftrace_event_length(uint64_t id, unsigned long_size, unsigned *min, unsigned *max)
{
	if (id < UFTRACE_E_READ_PROC_STATM || id > UFTRACE_E_CALLSITE)
		return false;
	*min = *max = 16;
	if (id == UFTRACE_E_READ_PROC_STATM || id == UFTRACE_E_DIFF_PROC_STATM)
		*min = *max = 24;
	else if (id == UFTRACE_E_WATCH_CPU)
		*min = *max = 4;
	else if (id == UFTRACE_E_CALLSITE)
		*min = *max = 8;
	else if (id == UFTRACE_E_WATCH_VAR) {
		*min = long_size + 1;
		*max = long_size + 8;
	}
	return true;
}
