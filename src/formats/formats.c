/* The one list of formats. A new format is a folder and a line. */
#include "core/format.h"

/* clang-format off */
#define FORMATS(X) \
	X(fxt) \
	X(uftrace) \
	X(ktrace) \
	X(tracedat) \
	X(lttng)
/* clang-format on */

#define DECLARE(name) extern const struct format name##_format;
#define ENTRY(name) &name##_format,
#define PUBLIC(name) &name##_format.public,

FORMATS(DECLARE)

const struct format *const formats[] = { FORMATS(ENTRY) NULL };
const struct tracemend_format *const formats_public[] = { FORMATS(PUBLIC) NULL };
const size_t formats_count = sizeof(formats) / sizeof(formats[0]) - 1;
