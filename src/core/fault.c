#include "core/fault.h"

#include "core/text.h"

enum tracemend_status fault_set(struct tracemend_error *error, enum tracemend_status status, const char *format, ...)
{
	if (error && error->status == TM_OK) {
		va_list arguments;
		va_start(arguments, format);
		error->status = status;
		text_format(error->message, sizeof(error->message), format, arguments);
		va_end(arguments);
	}
	return status;
}

enum tracemend_status fault_memory(struct tracemend_error *error)
{
	return fault_set(error, TM_NO_MEMORY, "out of memory");
}
