/* Findings that are reported once a task, with a count. */
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_stream.h"

struct finding *uftrace_fold_at(struct uftrace_stream *t, struct uftrace_fold *fold, enum uftrace_rule rule,
				enum tracemend_severity severity, uint64_t offset, uint64_t length, const char *format, ...)
{
	va_list arguments;

	if (place_silenced())
		return NULL;
	fold->count++;
	if (fold->finding) {
		finding_explains(fold->finding, 1);
		return NULL;
	}
	fold->finding = finding_milder_at(t->w->findings, rule, severity, t->source, offset, length);
	va_start(arguments, format);
	finding_say_list(fold->finding, format, arguments);
	va_end(arguments);
	return fold->finding;
}

uint64_t uftrace_word_at(const struct uftrace_walk *w, uint64_t record, unsigned at, unsigned length)
{
	return record + 8 + (w->info->head.big_endian ? 8 - at - length : at);
}
