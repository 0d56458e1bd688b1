/* Failures of the program, as opposed to findings about the capture; see enum tracemend_status. */
#ifndef CORE_FAULT_H
#define CORE_FAULT_H

#include "tracemend.h"

#define PRINTF_LIKE(text, first) __attribute__((__format__(__printf__, text, first)))

/* Records the first fault; later ones are ignored, since they usually follow from it. error may be NULL. Returns status. The
 * message, which may contain names from the input, is escaped. */
enum tracemend_status fault_set(struct tracemend_error *error, enum tracemend_status status, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* fault_set(error, TM_NO_MEMORY, "out of memory"). */
enum tracemend_status fault_memory(struct tracemend_error *error);

#endif
