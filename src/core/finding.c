#include "core/finding.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/sink.h"
#include "core/text.h"

struct finding {
	struct tracemend_finding public;
	struct findings *owner;
	struct source *source; /* NULL: the finding is about no file */
	bool kept;
};

struct tally {
	uint64_t count;
	size_t kept[TM_ERROR + 1]; /* or skipped, or without room; a severity: notes take no room from errors */
};

struct findings {
	const struct tracemend_rule *table;
	size_t rules;
	size_t max_kept; /* a rule and severity */
	size_t skip;	 /* so many more of these are not kept */
	bool full;
	enum tracemend_severity (*grade)(void *ctx, const struct tracemend_rule *rule, enum tracemend_severity severity);
	void *grade_ctx;
	bool preview;	       /* preview rules are reported */
	struct tally *tallies; /* a rule */
	struct finding **kept;
	size_t kept_count, kept_capacity;
	struct sink *sink;						  /* NULL: nobody observes */
	void (*tell)(void *ctx, const struct tracemend_finding *finding); /* NULL: nobody is told */
	void *tell_ctx;
	struct finding uncounted; /* the handle of findings that are not kept */
	uint64_t own_errors;	  /* before re-grading */
	uint64_t totals[TM_ERROR + 1];
	enum tracemend_status status;
};

struct findings *findings_new(const struct tracemend_rule *table, size_t count, const struct tracemend_options *options)
{
	struct findings *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->tallies = calloc(count ? count : 1, sizeof(*f->tallies));
	if (!f->tallies) {
		free(f);
		return NULL;
	}
	f->table = table;
	f->rules = count;
	f->max_kept = options && options->max_findings ? options->max_findings : SIZE_MAX;
	f->grade = options ? options->grade : NULL;
	f->grade_ctx = options ? options->grade_ctx : NULL;
	f->preview = options && options->preview;
	f->uncounted.owner = f;
	return f;
}

void findings_skip(struct findings *f, size_t n)
{
	f->skip = n;
}

bool findings_full(const struct findings *f)
{
	return f->full;
}

void findings_observe(struct findings *f, struct sink *sink)
{
	f->sink = sink;
}

void findings_tell(struct findings *f, void (*tell)(void *ctx, const struct tracemend_finding *finding), void *ctx)
{
	f->tell = tell;
	f->tell_ctx = ctx;
}

static const char no_text[] = "";

static void finding_text_free(const char *text)
{
	if (text != no_text)
		free((void *)(uintptr_t)text);
}

/* Replaces a text of a kept finding by a copy of an escaped one. */
static void finding_text_set(struct finding *fd, const char **text, const char *escaped)
{
	char *copy = strdup(escaped);
	if (!copy) {
		fd->owner->status = TM_NO_MEMORY;
		return;
	}
	finding_text_free(*text);
	*text = copy;
}

static void finding_text_format(struct finding *fd, const char **text, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));

static void finding_text_format(struct finding *fd, const char **text, const char *format, va_list arguments)
{
	char escaped[FINDING_TEXT_MAX];
	text_format(escaped, sizeof(escaped), format, arguments);
	finding_text_set(fd, text, escaped);
}

void findings_free(struct findings *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->kept_count; i++) {
		finding_text_free(f->kept[i]->public.message);
		finding_text_free(f->kept[i]->public.path);
		finding_text_free(f->kept[i]->public.field);
		finding_text_free(f->kept[i]->public.file);
		free(f->kept[i]);
	}
	free(f->kept);
	free(f->tallies);
	free(f);
}

static struct finding *findings_keep(struct findings *f, unsigned rule, enum tracemend_severity severity)
{
	size_t *kept = &f->tallies[rule].kept[severity];

	if (*kept >= f->max_kept || f->status != TM_OK)
		return &f->uncounted;
	(*kept)++;
	if (f->skip) {
		f->skip--;
		return &f->uncounted;
	}
	if (f->kept_count >= FINDINGS_KEPT_MAX) {
		f->full = true;
		return &f->uncounted;
	}
	bool room = array_room(&f->kept, &f->kept_capacity, f->kept_count, sizeof(struct finding *), FINDINGS_KEPT_MAX) == TM_OK;
	struct finding *fd = room ? calloc(1, sizeof(*fd)) : NULL;
	if (!fd) {
		f->status = TM_NO_MEMORY;
		return &f->uncounted;
	}
	fd->owner = f;
	fd->kept = true;
	fd->public.struct_size = sizeof(fd->public);
	fd->public.rule = &f->table[rule];
	fd->public.severity = severity;
	fd->public.message = fd->public.path = fd->public.field = fd->public.file = no_text;
	f->kept[f->kept_count++] = fd;
	return fd;
}

/* Reads the bytes for the hex rows: whole rows of 16, from the underlined bytes or the start of the finding on. */
static void finding_fetch(struct finding *fd, uint64_t offset)
{
	struct source *s = fd->source;
	uint64_t from = offset & ~UINT64_C(15);
	if (!s || s->kind != SOURCE_FILE || from >= s->size || fd->owner->status != TM_OK)
		return;
	uint64_t left = s->size - from;
	size_t length = left < TRACEMEND_CONTEXT ? (size_t)left : TRACEMEND_CONTEXT;
	if (source_read(s, from, fd->public.context, length) == TM_OK) {
		fd->public.context_offset = from;
		fd->public.context_length = (uint32_t)length;
	}
}

/* A length taken from the input may pass the end of the file; the finding does not. */
static uint64_t finding_within(const struct source *s, uint64_t offset, uint64_t length)
{
	uint64_t left = s->size - offset;
	return length < left ? length : left;
}

/* Gives the place of a finding to whoever observes. */
static void findings_place(const struct findings *f, const struct tracemend_rule *rule, enum tracemend_severity severity,
			   const struct source *s, uint64_t offset, uint64_t length)
{
	char name[FINDING_TEXT_MAX] = "";

	if (s) {
		offset = offset < s->size ? offset : s->size;
		length = finding_within(s, offset, length);
	}
	if (f->sink && severity == TM_ERROR)
		sink_damaged(f->sink, s, offset, s ? length : 0, rule);
	if (!f->tell)
		return;
	if (s)
		text_sanitise(name, sizeof(name), s->name);
	const struct tracemend_finding finding = { .struct_size = sizeof(finding),
						   .rule = rule,
						   .severity = severity,
						   .file = name,
						   .offset = offset,
						   .length = length,
						   .path = no_text,
						   .message = no_text,
						   .field = no_text };
	f->tell(f->tell_ctx, &finding);
}

struct finding *finding_milder_at(struct findings *f, unsigned rule, enum tracemend_severity severity, const struct source *s,
				  uint64_t offset, uint64_t length)
{
	if (place_silenced())
		return &f->uncounted;
	if (severity > f->table[rule].severity)
		severity = f->table[rule].severity;
	enum tracemend_severity graded = f->grade ? f->grade(f->grade_ctx, &f->table[rule], severity) : severity;
	if (f->table[rule].preview && !f->preview)
		graded = TM_IGNORE;

	f->tallies[rule].count++;
	if (severity == TM_ERROR)
		f->own_errors++;
	if (graded < TM_NOTE || graded > TM_ERROR)
		return &f->uncounted;
	f->totals[graded]++;
	if (f->sink || f->tell)
		findings_place(f, &f->table[rule], graded, s, offset, length);
	struct finding *fd = findings_keep(f, rule, graded);
	if (fd->kept) {
		fd->public.offset = offset;
		fd->public.length = length;
		if (s) {
			char name[FINDING_TEXT_MAX];
			text_sanitise(name, sizeof(name), s->name);
			finding_text_set(fd, &fd->public.file, name);
			fd->source = s->bundle->sources[s->index];
			fd->public.offset = offset < s->size ? offset : s->size;
			fd->public.length = finding_within(s, fd->public.offset, length);
			finding_fetch(fd, offset);
		}
	}
	return fd;
}

struct finding *finding_new_at(struct findings *f, unsigned rule, const struct source *s, uint64_t offset, uint64_t length)
{
	return finding_milder_at(f, rule, f->table[rule].severity, s, offset, length);
}

struct finding *finding_report_at(struct findings *f, unsigned rule, const struct source *s, uint64_t offset, uint64_t length,
				  const char *format, ...)
{
	struct finding *fd = finding_new_at(f, rule, s, offset, length);
	va_list arguments;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

void finding_say_list(struct finding *fd, const char *format, va_list arguments)
{
	if (fd->kept)
		finding_text_format(fd, &fd->public.message, format, arguments);
}

void finding_say(struct finding *fd, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

void finding_path(struct finding *fd, const char *format, ...)
{
	va_list arguments;
	if (!fd->kept)
		return;
	va_start(arguments, format);
	finding_text_format(fd, &fd->public.path, format, arguments);
	va_end(arguments);
}

void finding_field(struct finding *fd, uint64_t offset, uint32_t length, const char *format, ...)
{
	va_list arguments;
	if (!fd->kept)
		return;
	if (fd->source && offset > fd->source->size)
		offset = fd->source->size;
	fd->public.field_offset = offset;
	fd->public.field_length = fd->source ? (uint32_t)finding_within(fd->source, offset, length) : length;
	va_start(arguments, format);
	finding_text_format(fd, &fd->public.field, format, arguments);
	va_end(arguments);
	/* The hex rows must contain the field, which may be far behind the start of the record. */
	if (offset < fd->public.context_offset || offset - fd->public.context_offset + length > fd->public.context_length)
		finding_fetch(fd, offset);
}

void finding_extend(struct finding *fd, uint64_t length)
{
	if (fd->kept)
		fd->public.length = fd->source ? finding_within(fd->source, fd->public.offset, length) : length;
}

void finding_explains(struct finding *fd, uint64_t n)
{
	if (fd->kept)
		fd->public.explains += n;
}

bool finding_kept(const struct finding *fd)
{
	return fd->kept;
}

uint64_t findings_errors(const struct findings *f)
{
	return f->own_errors;
}

uint64_t findings_count(const struct findings *f, unsigned rule)
{
	return f->tallies[rule].count;
}

bool findings_any(const struct findings *f, const unsigned *of, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (f->tallies[of[i]].count)
			return true;
	return false;
}

enum tracemend_status findings_status(const struct findings *f)
{
	return f->status;
}

void findings_copy(struct findings *f, unsigned rule, const struct tracemend_finding *from)
{
	f->tallies[rule].count++;
	if (from->severity < TM_NOTE || from->severity > TM_ERROR)
		return;
	f->totals[from->severity]++;
	struct finding *fd = findings_keep(f, rule, from->severity);
	if (!fd->kept)
		return;
	struct tracemend_finding *to = &fd->public;
	const struct tracemend_rule *row = to->rule;
	*to = *from;
	to->struct_size = sizeof(*to);
	to->rule = row;
	to->message = to->path = to->field = to->file = no_text;
	finding_text_set(fd, &to->message, from->message);
	finding_text_set(fd, &to->path, from->path);
	finding_text_set(fd, &to->field, from->field);
	finding_text_set(fd, &to->file, from->file);
}

void findings_count_more(struct findings *f, unsigned rule, uint64_t n)
{
	f->tallies[rule].count += n;
}

size_t findings_kept_count(const struct findings *f)
{
	return f->kept_count;
}

const struct tracemend_finding *findings_kept_at(const struct findings *f, size_t index)
{
	return &f->kept[index]->public;
}

void findings_totals(const struct findings *f, uint64_t *errors, uint64_t *warnings, uint64_t *notes)
{
	*errors = f->totals[TM_ERROR];
	*warnings = f->totals[TM_WARNING];
	*notes = f->totals[TM_NOTE];
}
