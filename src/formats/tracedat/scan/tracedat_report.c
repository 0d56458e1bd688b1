#include "formats/tracedat/scan/tracedat_walk.h"

struct finding *tracedat_milder_at(struct tracedat_walk *w, unsigned rule, enum tracemend_severity severity, uint64_t offset,
				   uint64_t length)
{
	uint64_t size = w->source->size;
	offset = offset < size ? offset : size;
	length = length < size - offset ? length : size - offset;
	return finding_milder_at(w->findings, rule, severity, w->source, offset, length);
}

struct finding *tracedat_finding_at(struct tracedat_walk *w, unsigned rule, uint64_t offset, uint64_t length)
{
	return tracedat_milder_at(w, rule, tracedat_rules[rule].severity, offset, length);
}

struct finding *tracedat_report_at(struct tracedat_walk *w, unsigned rule, uint64_t offset, uint64_t length, const char *format,
				   ...)
{
	struct finding *fd = tracedat_finding_at(w, rule, offset, length);
	va_list arguments;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

struct finding *tracedat_block_milder_at(struct tracedat_walk *w, unsigned rule, enum tracemend_severity severity,
					 const struct tracedat_block *b, size_t at, size_t length)
{
	struct finding *fd;
	if (b->compressed) {
		fd = tracedat_milder_at(w, rule, severity, b->offset, b->stored);
		finding_path(fd, "%s > decompressed byte %zu", b->name, at);
	} else {
		fd = tracedat_milder_at(w, rule, severity, b->offset + at, length);
		finding_path(fd, "%s", b->name);
	}
	return fd;
}

struct finding *tracedat_block_finding_at(struct tracedat_walk *w, unsigned rule, const struct tracedat_block *b, size_t at,
					  size_t length)
{
	return tracedat_block_milder_at(w, rule, tracedat_rules[rule].severity, b, at, length);
}

struct finding *tracedat_block_report_at(struct tracedat_walk *w, unsigned rule, const struct tracedat_block *b, size_t at,
					 size_t length, const char *format, ...)
{
	struct finding *fd = tracedat_block_finding_at(w, rule, b, at, length);
	va_list arguments;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

bool tracedat_cut_explains(struct tracedat_walk *w, bool follows)
{
	if (follows)
		finding_explains(w->dir.truncated, 1);
	return follows;
}

bool tracedat_tail_explained(struct tracedat_walk *w, const struct tracedat_block *b, size_t end)
{
	return tracedat_cut_explains(w, w->dir.truncated && b == &w->meta.v6 && end == b->size);
}
