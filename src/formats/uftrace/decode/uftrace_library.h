/* Library functions whose arguments are recorded automatically. */
#ifndef UFTRACE_LIBRARY_H
#define UFTRACE_LIBRARY_H

#include "formats/uftrace/decode/uftrace_str.h"

/* The items of the arguments, or of the return value, of that function ("arg1/s,arg2/p"); NULL: it is not known, or has none. */
const char *uftrace_library_items(struct uftrace_str name, bool retval);

#endif
