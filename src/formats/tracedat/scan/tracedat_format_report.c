#include <stdarg.h>

#include "formats/tracedat/scan/tracedat_format.h"

void tracedat_format_milder_at(struct format_parse *p, unsigned rule, enum tracemend_severity severity, size_t at, size_t length,
			       const char *format, ...)
{
	va_list arguments;

	p->errors += severity == TM_ERROR;
	if (!p->block)
		return;
	struct finding *fd = tracedat_block_milder_at(p->w, rule, severity, p->block, p->base + at, length);
	finding_path(fd, "%s > %s", p->block->name, p->path);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	if (severity == TM_ERROR && !p->w->events.finding)
		p->w->events.finding = fd;
}
