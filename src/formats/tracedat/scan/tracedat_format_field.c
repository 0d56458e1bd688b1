/* Checks of the fields of an event format: types, offsets, names, and the common fields. */
#include "formats/tracedat/scan/tracedat_format.h"

#include <stdlib.h>

/* Bytes behind the first format that are searched for the next two. */
#define MAJORITY_READ (64u * 1024)

/* A field name to show; the text of a format may hold anything. */
static const char *field_name(const struct tracedat_format *p, const struct tracedat_field *f, char shown[TEXT_QUOTE_SIZE])
{
	return text_quote(shown, p->text + f->name, f->name_length);
}

/* Whether the field is an argument of a system call, which the kernel states as a long, unsigned, whatever its C type is
 * (Linux, kernel/trace/trace_syscalls.c). */
static bool is_call_argument(const struct tracedat_format *p, const struct tracedat_field *f)
{
	return !f->array && !f->dynamic && f->size == p->w->shape.long_size && !strcmp(p->system, "syscalls");
}

void tracedat_field_check(struct tracedat_format *p, struct tracedat_field *f)
{
	unsigned long_size = p->w->shape.long_size;
	char shown[TEXT_QUOTE_SIZE];
	size_t length = f->line_end - f->line;

	if (f->dynamic) {
		if (f->size != 4) {
			f->bad = f->size != 2;
			tracedat_format_milder(p, TRACEDAT_RULE_data_loc_size, f->size == 2 ? TM_NOTE : TM_ERROR, f->line, length,
					       "dynamic field %s has a descriptor of %u bytes, expected 4", field_name(p, f, shown),
					       f->size);
		}
		return;
	}
	const struct tracedat_type *shape = f->pointer ? NULL : tracedat_type_find(p->text + f->type, f->type_length);
	unsigned size = f->pointer ? long_size : shape ? (shape->size ? shape->size : long_size) : 0;
	bool argument = is_call_argument(p, f);
	if (argument && size < f->size)
		size = f->size;
	if (!f->size && !f->open_array) {
		f->bad = true;
		tracedat_format_report(p, TRACEDAT_RULE_field_size_zero, f->line, length, "field %s has size 0",
				       field_name(p, f, shown));
		return;
	}
	uint64_t expected = f->array ? (uint64_t)size * f->elements : size;
	if (f->open_array)
		expected = 0;
	if (size && (!f->array || f->elements || f->open_array) && expected != f->size && !(f->open_array && f->size)) {
		f->bad = true;
		tracedat_format_report(p, TRACEDAT_RULE_field_size_type, f->line, length,
				       "the size of field %s is %u, expected %llu by its type", field_name(p, f, shown), f->size,
				       (unsigned long long)expected);
		return;
	}
	if (shape && !argument && shape->is_signed >= 0 && f->has_signed && f->is_signed != (shape->is_signed == 1))
		tracedat_format_report(p, TRACEDAT_RULE_field_signedness, f->line, length,
				       "field %s is marked %s, which its type is not", field_name(p, f, shown),
				       f->is_signed ? "signed" : "unsigned");
	if (size > 1 && f->offset % (size > long_size ? long_size : size))
		tracedat_format_report(p, TRACEDAT_RULE_field_misaligned, f->line, length,
				       "field %s of %u-byte values is at offset %u, which is not a multiple",
				       field_name(p, f, shown), size, f->offset);
}

struct extent {
	uint32_t from, to, field;
};

static int extent_order(const void *left, const void *right)
{
	const struct extent *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->field < b->field ? -1 : a->field > b->field;
}

static uint32_t common_end(const struct tracedat_format *p)
{
	uint64_t end = 0;
	for (size_t i = 0; i < p->field_count; i++) {
		const struct tracedat_field *f = &p->fields[i];
		if (f->common && (uint64_t)f->offset + f->size > end)
			end = (uint64_t)f->offset + f->size;
	}
	return end > 256 ? 256 : (uint32_t)end;
}

void tracedat_fields_place(struct tracedat_format *p)
{
	struct extent extents[TRACEDAT_FIELDS_MAX];
	char shown[TEXT_QUOTE_SIZE], other[TEXT_QUOTE_SIZE];
	uint32_t page = tracedat_page_size_ok(p->w->shape.page_size) ? p->w->shape.page_size : TRACEDAT_PAGE_MAX,
		 common = common_end(p);
	size_t n = 0;

	for (size_t i = 0; i < p->field_count; i++) {
		struct tracedat_field *f = &p->fields[i];
		size_t length = f->line_end - f->line;
		if (f->bad || f->common)
			continue;
		if ((uint64_t)f->offset + f->size > page - 8 - p->w->shape.long_size) {
			f->bad = true;
			tracedat_format_report(p, TRACEDAT_RULE_field_out_of_page, f->line, length,
					       "field %s ends at byte %llu, beyond the data of a page of %u",
					       field_name(p, f, shown), (unsigned long long)f->offset + f->size, page);
		} else if (f->offset < common) {
			f->bad = true;
			tracedat_format_report(p, TRACEDAT_RULE_field_overlaps_common, f->line, length,
					       "field %s is at offset %u, inside the %u bytes of common fields",
					       field_name(p, f, shown), f->offset, common);
		} else if (f->size) {
			extents[n++] = (struct extent){ f->offset, f->offset + f->size, (uint32_t)i };
		}
	}
	if (n > 1)
		qsort(extents, n, sizeof(*extents), extent_order);
	for (size_t i = 1, last = 0; i < n; i++) {
		struct tracedat_field *f = &p->fields[extents[i].field];
		if (extents[i].from < extents[last].to) {
			f->bad = true;
			tracedat_format_report(p, TRACEDAT_RULE_field_overlap, f->line, f->line_end - f->line,
					       "field %s at offset %u begins inside field %s", field_name(p, f, shown), f->offset,
					       field_name(p, &p->fields[extents[last].field], other));
		} else {
			last = i;
		}
	}
}

void tracedat_fields_names(struct tracedat_format *p)
{
	char shown[TEXT_QUOTE_SIZE];
	/* Bounded by TRACEDAT_FIELDS_MAX; events have a dozen fields. */
	for (size_t i = 1; i < p->field_count; i++)
		for (size_t j = 0; j < i; j++) {
			struct tracedat_field *f = &p->fields[i], *g = &p->fields[j];
			if (f->bad || f->name_length != g->name_length ||
			    memcmp(p->text + f->name, p->text + g->name, f->name_length))
				continue;
			f->bad = true;
			tracedat_format_report(p, TRACEDAT_RULE_field_name_duplicate, f->line, f->line_end - f->line,
					       "a second field named %s", field_name(p, f, shown));
			break;
		}
}

static const struct tracedat_field *common_find(const struct tracedat_format *p, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < p->field_count; i++)
		if (p->fields[i].common && p->fields[i].name_length == n && !memcmp(p->text + p->fields[i].name, name, n))
			return &p->fields[i];
	return NULL;
}

/* The length of the common block of the next format in text[*at, end), and *at moved behind it; 0: there is none. */
static size_t common_next(const char *text, size_t *at, size_t end, const char **common)
{
	static const char before[] = "\nformat:\n";
	const char *begin = memmem(text + *at, end - *at, before, sizeof(before) - 1);
	if (!begin)
		return 0;
	begin += sizeof(before) - 1;
	const char *stop = memmem(begin, end - (size_t)(begin - text), "\n\n", 2);
	if (!stop)
		return 0;
	*common = begin;
	*at = (size_t)(stop - text) + 2;
	return (size_t)(stop - begin) + 1;
}

/* The common block of the file, by majority vote of the first three formats of its lists: that of the first, unless the next two
 * agree on another. */
static void common_by_majority(struct tracedat_format *p, size_t length)
{
	struct tracedat_walk *w = p->w;
	const char *own = p->text + p->common, *next = NULL, *second = NULL, *text = p->block ? (const char *)p->block->data : NULL;
	size_t at = p->base + p->size, end = !p->block ? 0 : p->block->formats_end ? p->block->formats_end : p->block->size;
	if (at < end && end - at > MAJORITY_READ)
		end = at + MAJORITY_READ;
	size_t next_length = at < end ? common_next(text, &at, end, &next) : 0;
	size_t second_length = next_length ? common_next(text, &at, end, &second) : 0;
	bool other = second_length && next_length == second_length && !memcmp(next, second, second_length) &&
		     (next_length != length || memcmp(next, own, length));

	w->events.common_size = common_end(p);
	if (other) {
		w->events.common_size = 0;
		for (size_t line = 0, stop; line < next_length; line = stop + 1) {
			struct tracedat_field f;
			stop = (size_t)((const char *)memchr(next + line, '\n', next_length - line) - next);
			bool fine = tracedat_field_line(next, (uint32_t)line, (uint32_t)(stop - line), &f);
			uint32_t reach = fine && f.size <= 256 && f.offset <= 256 ? f.offset + f.size : 0;
			w->events.common_size = reach > w->events.common_size ? reach : w->events.common_size;
		}
		own = next;
		length = next_length;
	}
	bytes_append(&w->events.common, own, length);
	if (w->events.common.failed)
		tracedat_no_memory(w);
}

void tracedat_common_check(struct tracedat_format *p)
{
	struct tracedat_walk *w = p->w;
	const struct tracedat_field *type = common_find(p, "common_type"), *pid = common_find(p, "common_pid");

	if (!type || type->offset != 0 || type->size != 2) {
		p->fatal = true;
		tracedat_format_report(p, TRACEDAT_RULE_common_type_shape, p->common, p->common_end - p->common,
				       "common_type is %s, expected 2 bytes at offset 0",
				       type ? "at another offset or of another size" : "missing");
		return;
	}
	if (!pid || pid->offset != 4 || pid->size != 4) {
		p->fatal = true;
		tracedat_format_report(p, TRACEDAT_RULE_common_pid_shape, p->common, p->common_end - p->common,
				       "common_pid is %s, expected 4 bytes at offset 4",
				       pid ? "at another offset or of another size" : "missing");
		return;
	}
	size_t length = p->common_end - p->common;
	for (size_t i = 0; i < p->field_count; i++)
		p->fatal |= p->fields[i].common && p->fields[i].bad;
	if (p->fatal)
		return; /* reported already: without its line the block differs from the others */
	if (!w->events.common.size)
		common_by_majority(p, length);
	if (length != w->events.common.size || memcmp(p->text + p->common, w->events.common.data, length)) {
		p->fatal = true;
		tracedat_format_report(p, TRACEDAT_RULE_common_fields_differ, p->common, length,
				       "the common fields differ from those of the other events");
	}
}
