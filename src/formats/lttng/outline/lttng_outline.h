/* The parts of an LTTng trace, for core's outline. */
#ifndef LTTNG_OUTLINE_H
#define LTTNG_OUTLINE_H

#include "formats/lttng/scan/lttng_frame.h"

/* The XML files of the trace, which no walk goes over. */
void lttng_outline_texts(struct outline *o);

#endif
