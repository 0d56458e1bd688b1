/* The one list of formats. A new format is a folder and a line. */
#include "../core/format.h"

#define FORMATS(X)

#define DECLARE(name) extern const struct format name##_format;
#define ENTRY(name) &name##_format,

FORMATS(DECLARE)

const struct format *const formats[] = { FORMATS(ENTRY) NULL };
const size_t formats_count = sizeof(formats) / sizeof(formats[0]) - 1;
