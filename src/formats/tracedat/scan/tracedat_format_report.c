#include <stdarg.h>

#include "formats/tracedat/scan/tracedat_format.h"

/* Whether the rule says that text is not what was written, and not only that it is wrong. */
static bool tears(const struct tracedat_format *p, unsigned rule)
{
	return rule == TRACEDAT_RULE_field_syntax || rule == TRACEDAT_RULE_format_text_bytes ||
	       rule == TRACEDAT_RULE_format_no_id || rule == TRACEDAT_RULE_format_no_name ||
	       (rule == TRACEDAT_RULE_event_id_range && p->id_torn);
}

void tracedat_format_milder_at(struct tracedat_format *p, unsigned rule, enum tracemend_severity severity, size_t at, size_t length,
			       const char *format, ...)
{
	va_list arguments;

	p->errors += severity == TM_ERROR;
	if (!p->block)
		return;
	if (p->torn) {
		finding_explains(p->torn, 1);
		return;
	}
	if (tracedat_garbled_explains(p->w, p->block))
		return;
	struct finding *fd = tracedat_block_milder_at(p->w, rule, severity, p->block, p->base + at, length);
	finding_path(fd, "%s > %s", p->block->name, p->path);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	if (severity == TM_ERROR && tears(p, rule)) {
		p->torn = fd;
		tracedat_garbled_note(p->w, p->block, fd);
	}
	if (severity == TM_ERROR && !p->w->events.finding)
		p->w->events.finding = fd;
}
