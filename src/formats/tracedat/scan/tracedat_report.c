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

void tracedat_follows(struct tracedat_walk *w, unsigned rule, struct finding *cause)
{
	finding_explains(cause, 1);
	w->follows[rule] = true;
}

bool tracedat_any(const struct tracedat_walk *w, const unsigned *of, size_t count)
{
	bool any = findings_any(w->findings, of, count);
	for (size_t i = 0; i < count && !any; i++)
		any = w->follows[of[i]];
	return any;
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

/* Captures have some ten sections. Of more than these looks, in all, what is found is reported by itself. */
#define LOOKS_MAX (1u << 20)

static bool look(struct tracedat_walk *w)
{
	return w->dir.looks < LOOKS_MAX && ++w->dir.looks;
}

bool tracedat_shift_explains(struct tracedat_walk *w, unsigned rule, const struct tracedat_section *upto, uint64_t by)
{
	struct tracedat_shift *shift = &w->dir.shift;
	struct finding *fd = by && shift->by == by ? shift->finding : NULL;
	uint64_t sum = 0;

	for (const struct tracedat_section *s = upto; by && s && s-- > w->dir.sections && look(w);) {
		if (!s->resized)
			continue;
		sum += s->size - s->declared;
		if (sum == by) {
			fd = s->resized;
			break;
		}
	}
	if (!fd)
		return false;
	shift->explains |= fd == shift->finding;
	tracedat_follows(w, rule, fd);
	return true;
}

bool tracedat_range_explained(struct tracedat_walk *w, unsigned rule, const struct tracedat_buffer *b, uint64_t by)
{
	const struct tracedat_section *section = b->section >= 0 ? &w->dir.sections[b->section] : NULL;
	return tracedat_shift_explains(w, rule, section ? section + 1 : NULL, by);
}

void tracedat_shift_note(struct tracedat_walk *w, struct finding *fd, uint64_t by)
{
	if (!w->dir.shift.explains && w->findings != w->scratch)
		w->dir.shift = (struct tracedat_shift){ .finding = fd, .by = by };
}

bool tracedat_size_explained(struct tracedat_walk *w, unsigned rule, const struct tracedat_block *b, uint64_t by)
{
	for (size_t i = 0; i < w->dir.section_count && look(w); i++) {
		const struct tracedat_section *s = &w->dir.sections[i];
		if (&s->block == b && s->resized && !b->compressed && s->size - s->declared == by) {
			tracedat_follows(w, rule, s->resized);
			return true;
		}
	}
	return false;
}

bool tracedat_garbled_explains(struct tracedat_walk *w, const struct tracedat_block *b)
{
	if (!b->compressed || !w->events.garbled)
		return false;
	finding_explains(w->events.garbled, 1);
	return true;
}

void tracedat_garbled_note(struct tracedat_walk *w, const struct tracedat_block *b, struct finding *fd)
{
	if (b->compressed && !w->events.garbled)
		w->events.garbled = fd;
}
