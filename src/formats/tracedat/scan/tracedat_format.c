/* One event format file: the kernel's description of the records of an event. */
#include "formats/tracedat/scan/tracedat_format.h"

#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the text ---- */

static size_t line_end(const struct tracedat_format *p, size_t at)
{
	const char *end = memchr(p->text + at, '\n', p->size - at);
	return end ? (size_t)(end - p->text) : p->size;
}

static void id_parse(struct tracedat_format *p, size_t at, size_t end)
{
	size_t first = at + 3;
	while (first < end && p->text[first] == ' ')
		first++;
	p->id_torn = !text_parse_u64(p->text + first, end - first, &p->id);
	if (p->id_torn || p->id == 0 || p->id > 65535) {
		char shown[TEXT_QUOTE_SIZE];
		p->id_bad = true;
		tracedat_format_report(p, TRACEDAT_RULE_event_id_range, at, end - at, "the ID is %s, expected 1 to 65535",
				       text_quote(shown, p->text + first, end - first));
		return;
	}
	p->id_known = true;
}

static void name_parse(struct tracedat_format *p, size_t at, size_t end)
{
	size_t first = at + 5;
	char shown[TEXT_QUOTE_SIZE], system[TEXT_QUOTE_SIZE];
	while (first < end && p->text[first] == ' ')
		first++;
	p->name = p->text + first;
	p->name_length = end - first;
	(void)snprintf(p->path, sizeof(p->path), "%.40s > %.48s", text_quote(system, p->system, strlen(p->system)),
		       text_quote(shown, p->name, p->name_length));
}

/* Adds the field of the line text[at, end). */
static void field_parse(struct tracedat_format *p, size_t at, size_t end, bool common)
{
	char shown[TEXT_QUOTE_SIZE];
	struct tracedat_field f;

	if (p->field_count >= TRACEDAT_FIELDS_MAX)
		return;
	if (!tracedat_field_line(p->text, (uint32_t)at, (uint32_t)(end - at), &f)) {
		tracedat_format_report(p, TRACEDAT_RULE_field_syntax, at, end - at, "the line \"%s\" is not a field line",
				       text_quote(shown, p->text + at, end - at));
		f.bad = true;
		f.name_length = 0;
	}
	f.line_end = (uint32_t)(end < p->size ? end + 1 : end);
	f.common = common;
	p->fields[p->field_count++] = f;
}

static void lines_parse(struct tracedat_format *p)
{
	bool in_fields = false, own = false, id_seen = false;

	for (size_t at = 0, end; at < p->size; at = end + 1) {
		end = line_end(p, at);
		const char *line = p->text + at;
		size_t length = end - at;
		if (!in_fields && length > 5 && !memcmp(line, "name:", 5)) {
			name_parse(p, at, end);
		} else if (!in_fields && length >= 3 && !memcmp(line, "ID:", 3)) {
			id_seen = true;
			id_parse(p, at, end);
		} else if (!in_fields && length >= 7 && !memcmp(line, "format:", 7)) {
			in_fields = true;
			p->common = p->common_end = end + 1 < p->size ? end + 1 : p->size;
		} else if (length >= 10 && !memcmp(line, "print fmt:", 10)) {
			p->print = at;
			p->print_end = p->size;
			break;
		} else if (in_fields && !length) {
			if (!own && p->common_end > p->common)
				own = true;
		} else if (in_fields) {
			if (!own)
				p->common_end = end < p->size ? end + 1 : end;
			field_parse(p, at, end, !own);
		}
	}
	if (p->size < 5 || memcmp(p->text, "name:", 5) || !p->name_length) {
		p->fatal = true;
		tracedat_format_report(p, TRACEDAT_RULE_format_no_name, 0, p->size,
				       "the format does not begin with the name of an event");
	}
	if (!id_seen) {
		p->fatal = true;
		tracedat_format_report(p, TRACEDAT_RULE_format_no_id, 0, p->size, "the format has no line with an ID");
	}
}

static void text_check(struct tracedat_format *p)
{
	p->w->events.text_hit = p->w->events.size_near;
	for (size_t i = 0; i < p->size; i++) {
		uint8_t c = (uint8_t)p->text[i];
		if (c != 0 && c < 0x80)
			continue;
		if (c == 0) {
			p->fatal = true;
			tracedat_format_report(p, TRACEDAT_RULE_format_text_bytes, i, 1, "a NUL at byte %zu of the format", i);
			return;
		}
		tracedat_format_milder(p, TRACEDAT_RULE_format_text_bytes, TM_WARNING, i, 1,
				       "byte %zu of the format is 0x%02x, not ASCII", i, c);
		/* The print format may have text of any language. */
		p->w->events.text_hit |= !memmem(p->text, i, "\nprint fmt:", 11) || !utf8_is_valid(p->text, p->size);
		return;
	}
}

/* The size of a text counts its last line with its LF. */
static void end_check(struct tracedat_format *p)
{
	if (p->text[p->size - 1] != '\n')
		tracedat_format_report(p, TRACEDAT_RULE_format_size_mismatch, p->size - 1, 1,
				       "the text of the format does not end in LF");
}

static void print_check(struct tracedat_format *p)
{
	if (!p->print_end) {
		tracedat_format_report(p, TRACEDAT_RULE_print_fmt_missing, 0, p->size, "the format has no \"print fmt:\" line");
		return;
	}
	size_t at = p->print + 10;
	struct tracedat_print print = { .w = p->w,
					.block = p->block,
					.base = p->base + at,
					.text = p->text + at,
					.file = p->text,
					.size = p->print_end - at,
					.fields = p->fields,
					.field_count = p->field_count,
					.path = p->path };
	unsigned errors = tracedat_print_check(&print);
	p->errors += errors;
	p->print_bad = errors > 0;
}

static void format_check(struct tracedat_format *p)
{
	text_check(p);
	if (p->fatal)
		return;
	lines_parse(p);
	if (p->fatal)
		return;
	end_check(p);
	tracedat_common_check(p);
	if (p->fatal)
		return;
	for (size_t i = 0; i < p->field_count; i++)
		if (!p->fields[i].bad)
			tracedat_field_check(p, &p->fields[i]);
	tracedat_fields_place(p);
	tracedat_fields_names(p);
	if (!p->errors)
		print_check(p);
	else
		p->print_bad = true; /* checked again without the bad lines */
}

/* ---- repair ---- */

/* The text without its bad lines, and with an empty print format where that is bad. */
static void format_repair(const struct tracedat_format *p, bool print_bad, struct bytes *out)
{
	size_t at = 0, stop = p->print_end ? p->print : p->size;
	for (size_t i = 0; i < p->field_count; i++) {
		const struct tracedat_field *f = &p->fields[i];
		if (!f->bad)
			continue;
		bytes_append(out, p->text + at, f->line - at);
		at = f->line_end;
	}
	bytes_append(out, p->text + at, stop - at);
	if (print_bad && p->print_end)
		bytes_text(out, "print fmt: \"\"\n");
	else if (p->print_end)
		bytes_append(out, p->text + stop, p->size - stop);
	if (out->size && out->data[out->size - 1] != '\n')
		bytes_text(out, "\n");
}

static unsigned format_recheck(const struct tracedat_format *p, const struct bytes *text)
{
	struct tracedat_walk *w = p->w;
	struct tracedat_field *fields = calloc(TRACEDAT_FIELDS_MAX, sizeof(*fields));
	if (!fields) {
		tracedat_no_memory(w);
		return 1;
	}
	struct tracedat_format again = {
		.w = w, .text = (const char *)text->data, .size = text->size, .system = p->system, .fields = fields
	};
	format_check(&again);
	unsigned errors = again.errors;
	free(fields);
	return errors;
}

unsigned tracedat_format_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t size, const char *system,
			       struct bytes *changed)
{
	struct tracedat_format p = { .w = w,
				     .block = b,
				     .base = at,
				     .text = (const char *)b->data + at,
				     .size = size,
				     .system = system,
				     .fields = w->events.fields };
	(void)snprintf(p.path, sizeof(p.path), "%.60s", system);
	format_check(&p);
	if (p.fatal && !p.id_known && p.errors && !p.field_count) {
		/* Where only the text is damaged the ID may still be there: it spares its records a finding each. */
		struct tracedat_format again = p;
		again.block = NULL;
		again.fatal = false;
		again.errors = 0;
		lines_parse(&again);
		p.id = again.id;
		p.id_known = again.id_known;
		p.name = NULL;
	}
	tracedat_event_add(&p, p.fatal);
	if (p.id_bad && p.errors == 1 && w->repair && w->findings != w->scratch)
		tracedat_event_unassigned(&p);
	p.fatal |= p.id_bad;
	w->events.lost |= p.fatal;
	if (!p.errors || p.fatal || !w->repair)
		return p.errors;
	/* First without the bad lines only, then without the print format. */
	format_repair(&p, false, changed);
	if (!changed->failed && format_recheck(&p, changed)) {
		changed->size = 0;
		format_repair(&p, true, changed);
		if (!changed->failed && format_recheck(&p, changed))
			changed->size = 0;
	}
	if (changed->failed)
		tracedat_no_memory(w);
	if (!changed->size && w->events.index[p.id])
		w->events.list[w->events.index[p.id] - 1].placeholder = true;
	return p.errors;
}
