/* Lines of info whose values have one form, whatever is recorded. */
#ifndef UFTRACE_INFO_VALUE_H
#define UFTRACE_INFO_VALUE_H

#include <stdbool.h>

#include "formats/uftrace/decode/uftrace_str.h"

/* Whether a recorder may have written the value for this bit of info_mask; true where values may be anything, and for one that is
 * empty, as the QEMU plugin writes them. Source: uftrace 0.13, cmds/info.c. */
bool uftrace_info_value_fits(unsigned bit, bool elapsed_time, struct uftrace_str value);

#endif
