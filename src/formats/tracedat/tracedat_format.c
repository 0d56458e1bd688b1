/* One event format file: what the kernel says of the records of an event. */
#include "tracedat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes behind the first format in which the next two are looked at. */
#define ELECT_MAX (64u * 1024)

struct format_parse {
	struct tracedat *t;
	const struct tracedat_block *block; /* NULL: quiet */
	size_t base;
	const char *text;
	size_t size;
	const char *system;
	char path[96];
	struct tracedat_field *fields;
	size_t field_count;
	const char *name;
	size_t name_length;
	uint64_t id;
	bool id_known, id_bad;	   /* bad: it is none, or another event's */
	size_t common, common_end; /* the common block in the text */
	size_t own_end;
	size_t print, print_end;   /* the print fmt line */
	bool fatal, print_bad;
	unsigned errors;
};

static void bad(struct format_parse *p, unsigned rule, enum tracemend_severity severity, size_t at, size_t length,
		const char *format, ...) PRINTF_LIKE(6, 7);
static void bad(struct format_parse *p, unsigned rule, enum tracemend_severity severity, size_t at, size_t length,
		const char *format, ...)
{
	char message[FINDING_TEXT_MAX];
	va_list arguments;

	p->errors += severity == TM_ERROR;
	if (!p->block)
		return;
	struct finding *fd = tracedat_at_as(p->t, rule, severity, p->block, p->base + at, length);
	finding_path(fd, "%s > %s", p->block->name, p->path);
	if (!finding_kept(fd))
		return;
	va_start(arguments, format);
	text_format(message, sizeof(message), format, arguments);
	va_end(arguments);
	finding_say(fd, "%s", message);
	if (severity == TM_ERROR && !p->t->format_finding)
		p->t->format_finding = fd;
}

/* ---- lines ---- */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A decimal after label at text[*at]; moves *at behind the ';'. */
static bool line_number(const char *text, uint32_t *at, uint32_t end, const char *label, uint32_t *value)
{
	size_t n = strlen(label);
	uint64_t number = 0;
	uint32_t i = *at;
	while (i < end && (text[i] == '\t' || text[i] == ' '))
		i++;
	if (end - i < n || memcmp(text + i, label, n))
		return false;
	i += (uint32_t)n;
	uint32_t first = i;
	while (i < end && text[i] >= '0' && text[i] <= '9' && i - first < 11)
		number = number * 10 + (uint64_t)(text[i++] - '0');
	if (i == first || i == end || text[i] != ';' || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	*at = i + 1;
	return true;
}

/* TYPE NAME [LEN] of a field. */
static bool declaration_parse(const char *text, uint32_t from, uint32_t to, struct tracedat_field *f)
{
	while (from < to && text[from] == ' ')
		from++;
	while (to > from && text[to - 1] == ' ')
		to--;
	uint32_t end = to;
	if (end > from && text[end - 1] == ']') {
		uint32_t open = end - 1;
		while (open > from && text[open] != '[')
			open--;
		if (text[open] != '[')
			return false;
		f->array = true;
		uint64_t n = 0;
		if (open + 1 == end - 1 || (end - open == 3 && text[open + 1] == '0'))
			f->open_array = true;
		else if (text_parse_u64(text + open + 1, end - open - 2, &n) && n <= UINT32_MAX)
			f->elements = (uint32_t)n;
		end = open;
	}
	while (end > from && text[end - 1] == ' ')
		end--;
	uint32_t name = end;
	while (name > from && (is_word(text[name - 1]) || text[name - 1] == '.'))
		name--;
	f->name = name;
	f->name_length = end - name;
	while (end > from && (name > from && text[name - 1] == ' '))
		name--;
	f->type = from;
	f->type_length = name - from;
	const char *type = text + from;
	f->dynamic = f->type_length > 10 && (!memcmp(type, "__data_loc", 10) || !memcmp(type, "__rel_loc ", 10));
	f->relative = f->dynamic && type[2] == 'r';
	if (f->dynamic) {
		f->text = memmem(type, f->type_length, "char[]", 6) != NULL && !memmem(type, f->type_length, "unsigned char", 13);
		f->open_array = false;
	}
	f->pointer = memchr(type, '*', f->type_length) != NULL;
	return f->name_length > 0 && f->type_length > 0;
}

bool tracedat_field_line(const char *text, uint32_t line, uint32_t size, struct tracedat_field *f)
{
	uint32_t at = line, end = line + size, flag = 0;

	*f = (struct tracedat_field){ .line = line, .line_end = end };
	if (at == end || text[at] != '\t')
		return false;
	at++;
	if (end - at > 6 && !memcmp(text + at, "field:", 6))
		at += 6;
	else if (end - at > 14 && !memcmp(text + at, "field special:", 14))
		at += 14;
	else
		return false;
	const char *semicolon = memchr(text + at, ';', end - at);
	if (!semicolon)
		return false;
	uint32_t stop = (uint32_t)(semicolon - text);
	if (!declaration_parse(text, at, stop, f))
		return false;
	at = stop + 1;
	if (!line_number(text, &at, end, "offset:", &f->offset) || !line_number(text, &at, end, "size:", &f->size))
		return false;
	if (at < end) {
		if (!line_number(text, &at, end, "signed:", &flag) || flag > 1)
			return false;
		f->has_signed = true;
		f->is_signed = flag == 1;
	}
	return at == end;
}

/* ---- types ---- */

struct type_shape {
	const char *name;
	uint8_t size;	 /* 0: the kernel's long */
	int8_t is_signed; /* -1: depends on the machine */
};

static const struct type_shape type_shapes[] = {
	{ "char", 1, -1 }, { "signed char", 1, 1 }, { "unsigned char", 1, 0 }, { "u8", 1, 0 }, { "s8", 1, 1 }, { "__u8", 1, 0 },
	{ "__s8", 1, 1 }, { "bool", 1, 0 }, { "_Bool", 1, 0 }, { "uint8_t", 1, 0 }, { "int8_t", 1, 1 }, { "short", 2, 1 },
	{ "unsigned short", 2, 0 }, { "short unsigned int", 2, 0 }, { "u16", 2, 0 }, { "s16", 2, 1 }, { "__u16", 2, 0 },
	{ "__s16", 2, 1 }, { "uint16_t", 2, 0 }, { "int16_t", 2, 1 }, { "umode_t", 2, 0 }, { "int", 4, 1 },
	{ "unsigned int", 4, 0 }, { "unsigned", 4, 0 }, { "u32", 4, 0 }, { "s32", 4, 1 }, { "__u32", 4, 0 }, { "__s32", 4, 1 },
	{ "uint32_t", 4, 0 }, { "int32_t", 4, 1 }, { "pid_t", 4, 1 }, { "uid_t", 4, 0 }, { "gid_t", 4, 0 }, { "gfp_t", 4, 0 },
	{ "dev_t", 4, 0 }, { "long", 0, 1 }, { "unsigned long", 0, 0 }, { "size_t", 0, 0 }, { "ssize_t", 0, 1 },
	{ "long long", 8, 1 }, { "unsigned long long", 8, 0 }, { "u64", 8, 0 }, { "s64", 8, 1 }, { "__u64", 8, 0 },
	{ "__s64", 8, 1 }, { "uint64_t", 8, 0 }, { "int64_t", 8, 1 }, { "loff_t", 8, 1 }, { "ktime_t", 8, 1 },
};

/* The shape of a C type; NULL when it is not one that is the same everywhere. */
static const struct type_shape *type_find(const char *type, size_t length)
{
	while (length > 6 && !memcmp(type, "const ", 6)) {
		type += 6;
		length -= 6;
	}
	for (size_t i = 0; i < sizeof(type_shapes) / sizeof(*type_shapes); i++)
		if (strlen(type_shapes[i].name) == length && !memcmp(type, type_shapes[i].name, length))
			return &type_shapes[i];
	return NULL;
}

/* ---- fields ---- */

/* A field name to show; the text of a format may hold anything. */
static const char *field_name(const struct format_parse *p, const struct tracedat_field *f, char shown[TEXT_QUOTE_SIZE])
{
	return text_quote(shown, p->text + f->name, f->name_length);
}

static void field_type_judge(struct format_parse *p, struct tracedat_field *f)
{
	unsigned long_size = p->t->long_size;
	char shown[TEXT_QUOTE_SIZE];
	size_t length = f->line_end - f->line;

	if (f->dynamic) {
		if (f->size != 4) {
			f->bad = f->size != 2;
			bad(p, TRACEDAT_RULE_data_loc_size, f->size == 2 ? TM_NOTE : TM_ERROR, f->line, length,
			    "dynamic field %s has a descriptor of %u bytes, expected 4", field_name(p, f, shown), f->size);
		}
		return;
	}
	const struct type_shape *shape = f->pointer ? NULL : type_find(p->text + f->type, f->type_length);
	unsigned size = f->pointer ? long_size : shape ? (shape->size ? shape->size : long_size) : 0;
	if (!f->size && !f->open_array) {
		f->bad = true;
		bad(p, TRACEDAT_RULE_field_size_zero, TM_ERROR, f->line, length, "field %s has size 0", field_name(p, f, shown));
		return;
	}
	uint64_t expected = f->array ? (uint64_t)size * f->elements : size;
	if (f->open_array)
		expected = 0;
	if (size && (!f->array || f->elements || f->open_array) && expected != f->size && !(f->open_array && f->size)) {
		f->bad = true;
		bad(p, TRACEDAT_RULE_field_size_type, TM_ERROR, f->line, length, "field %s has %u bytes; its type has %llu",
		    field_name(p, f, shown), f->size, (unsigned long long)expected);
		return;
	}
	if (shape && shape->is_signed >= 0 && f->has_signed && f->is_signed != (shape->is_signed == 1))
		bad(p, TRACEDAT_RULE_field_signedness, TM_WARNING, f->line, length, "field %s is marked %s, its type is not",
		    field_name(p, f, shown), f->is_signed ? "signed" : "unsigned");
	if (size > 1 && f->offset % (size > long_size ? long_size : size))
		bad(p, TRACEDAT_RULE_field_misaligned, TM_NOTE, f->line, length, "field %s of %u-byte values is at offset %u",
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

static uint32_t common_end(const struct format_parse *p)
{
	uint64_t end = 0;
	for (size_t i = 0; i < p->field_count; i++) {
		const struct tracedat_field *f = &p->fields[i];
		if (f->common && (uint64_t)f->offset + f->size > end)
			end = (uint64_t)f->offset + f->size;
	}
	return end > 256 ? 256 : (uint32_t)end;
}

static void fields_place(struct format_parse *p)
{
	struct extent extents[TRACEDAT_FIELDS_MAX];
	char shown[TEXT_QUOTE_SIZE], other[TEXT_QUOTE_SIZE];
	uint32_t page = tracedat_page_size_ok(p->t->page_size) ? p->t->page_size : TRACEDAT_PAGE_MAX, common = common_end(p);
	size_t n = 0;

	for (size_t i = 0; i < p->field_count; i++) {
		struct tracedat_field *f = &p->fields[i];
		size_t length = f->line_end - f->line;
		if (f->bad || f->common)
			continue;
		if ((uint64_t)f->offset + f->size > page - 8 - p->t->long_size) {
			f->bad = true;
			bad(p, TRACEDAT_RULE_field_out_of_page, TM_ERROR, f->line, length,
			    "field %s ends at byte %llu, beyond a page of %u", field_name(p, f, shown),
			    (unsigned long long)f->offset + f->size, page);
		} else if (f->offset < common) {
			f->bad = true;
			bad(p, TRACEDAT_RULE_field_overlaps_common, TM_ERROR, f->line, length,
			    "field %s is at offset %u, inside of the %u bytes of common fields", field_name(p, f, shown), f->offset, common);
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
			bad(p, TRACEDAT_RULE_field_overlap, TM_ERROR, f->line, f->line_end - f->line,
			    "field %s at offset %u begins inside of field %s", field_name(p, f, shown), f->offset,
			    field_name(p, &p->fields[extents[last].field], other));
		} else {
			last = i;
		}
	}
}

static void fields_names(struct format_parse *p)
{
	char shown[TEXT_QUOTE_SIZE];
	/* Bounded by TRACEDAT_FIELDS_MAX; events have a dozen fields. */
	for (size_t i = 1; i < p->field_count; i++)
		for (size_t j = 0; j < i; j++) {
			struct tracedat_field *f = &p->fields[i], *g = &p->fields[j];
			if (f->bad || f->name_length != g->name_length || memcmp(p->text + f->name, p->text + g->name, f->name_length))
				continue;
			f->bad = true;
			bad(p, TRACEDAT_RULE_field_name_duplicate, TM_ERROR, f->line, f->line_end - f->line, "a second field named %s",
			    field_name(p, f, shown));
			break;
		}
}

static const struct tracedat_field *common_find(const struct format_parse *p, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < p->field_count; i++)
		if (p->fields[i].common && p->fields[i].name_length == n && !memcmp(p->text + p->fields[i].name, name, n))
			return &p->fields[i];
	return NULL;
}

/* The common block of the format that follows text[*at, end), which then moves on; 0: there is none. */
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

/* The common block that the file goes by: that of the first format, unless the two behind it agree on another. */
static void common_elect(struct format_parse *p, size_t length)
{
	struct tracedat *t = p->t;
	const char *own = p->text + p->common, *next = NULL, *second = NULL, *text = p->block ? (const char *)p->block->data : NULL;
	size_t at = p->base + p->size, end = !p->block ? at : p->block->size - at < ELECT_MAX ? p->block->size : at + ELECT_MAX;
	size_t next_length = text && at < end ? common_next(text, &at, end, &next) : 0;
	size_t second_length = next_length ? common_next(text, &at, end, &second) : 0;
	bool other = second_length && next_length == second_length && !memcmp(next, second, second_length) &&
		     (next_length != length || memcmp(next, own, length));

	t->common_size = common_end(p);
	if (other) {
		t->common_size = 0;
		for (size_t line = 0, stop; line < next_length; line = stop + 1) {
			struct tracedat_field f;
			stop = (size_t)((const char *)memchr(next + line, '\n', next_length - line) - next);
			bool fine = tracedat_field_line(next, (uint32_t)line, (uint32_t)(stop - line), &f);
			uint32_t reach = fine && f.size <= 256 && f.offset <= 256 ? f.offset + f.size : 0;
			t->common_size = reach > t->common_size ? reach : t->common_size;
		}
		own = next;
		length = next_length;
	}
	bytes_append(&t->common, own, length);
	if (t->common.failed)
		tracedat_no_memory(t);
}

static void common_judge(struct format_parse *p)
{
	struct tracedat *t = p->t;
	const struct tracedat_field *type = common_find(p, "common_type"), *pid = common_find(p, "common_pid");

	if (!type || type->offset != 0 || type->size != 2) {
		p->fatal = true;
		bad(p, TRACEDAT_RULE_common_type_shape, TM_ERROR, p->common, p->common_end - p->common,
		    "common_type is %s, expected 2 bytes at offset 0", type ? "elsewhere or of another size" : "missing");
		return;
	}
	if (!pid || pid->offset != 4 || pid->size != 4) {
		p->fatal = true;
		bad(p, TRACEDAT_RULE_common_pid_shape, TM_ERROR, p->common, p->common_end - p->common,
		    "common_pid is %s, expected 4 bytes at offset 4", pid ? "elsewhere or of another size" : "missing");
		return;
	}
	size_t length = p->common_end - p->common;
	for (size_t i = 0; i < p->field_count; i++)
		p->fatal |= p->fields[i].common && p->fields[i].bad;
	if (p->fatal)
		return; /* told already: without its line the block is not what the others have */
	if (!t->common.size)
		common_elect(p, length);
	if (length != t->common.size || memcmp(p->text + p->common, t->common.data, length)) {
		p->fatal = true;
		bad(p, TRACEDAT_RULE_common_fields_differ, TM_ERROR, p->common, length,
		    "the common fields are not those of other events of the file");
	}
}

/* ---- the text ---- */

static size_t line_end(const struct format_parse *p, size_t at)
{
	const char *end = memchr(p->text + at, '\n', p->size - at);
	return end ? (size_t)(end - p->text) : p->size;
}

static void id_parse(struct format_parse *p, size_t at, size_t end)
{
	size_t first = at + 3;
	while (first < end && p->text[first] == ' ')
		first++;
	if (!text_parse_u64(p->text + first, end - first, &p->id) || p->id == 0 || p->id > 65535) {
		char shown[TEXT_QUOTE_SIZE];
		p->id_bad = true;
		bad(p, TRACEDAT_RULE_event_id_range, TM_ERROR, at, end - at, "the ID is %s, expected 1 to 65535",
		    text_quote(shown, p->text + first, end - first));
		return;
	}
	p->id_known = true;
}

static void name_parse(struct format_parse *p, size_t at, size_t end)
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

static void lines_parse(struct format_parse *p)
{
	bool in_fields = false, own = false, id_seen = false;
	char shown[TEXT_QUOTE_SIZE];

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
			struct tracedat_field f;
			if (!own)
				p->common_end = end < p->size ? end + 1 : end;
			if (p->field_count >= TRACEDAT_FIELDS_MAX)
				continue;
			if (!tracedat_field_line(p->text, (uint32_t)at, (uint32_t)length, &f)) {
				bad(p, TRACEDAT_RULE_field_syntax, TM_ERROR, at, length, "the line \"%s\" is no field",
				    text_quote(shown, line, length));
				f.bad = true;
				f.name_length = 0;
			}
			f.line_end = (uint32_t)(end < p->size ? end + 1 : end);
			f.common = !own;
			p->fields[p->field_count++] = f;
		}
	}
	if (p->size < 5 || memcmp(p->text, "name:", 5) || !p->name_length) {
		p->fatal = true;
		bad(p, TRACEDAT_RULE_format_no_name, TM_ERROR, 0, p->size, "the format does not begin with the name of an event");
	}
	if (!id_seen) {
		p->fatal = true;
		bad(p, TRACEDAT_RULE_format_no_id, TM_ERROR, 0, p->size, "the format has no line with an ID");
	}
}

static void text_judge(struct format_parse *p)
{
	for (size_t i = 0; i < p->size; i++) {
		uint8_t c = (uint8_t)p->text[i];
		if (c != 0 && c < 0x80)
			continue;
		if (c == 0) {
			p->fatal = true;
			bad(p, TRACEDAT_RULE_format_text_bytes, TM_ERROR, i, 1, "a NUL at byte %zu of the format", i);
			return;
		}
		bad(p, TRACEDAT_RULE_format_text_bytes, TM_WARNING, i, 1, "byte %zu of the format is 0x%02x, not ASCII", i, c);
		return;
	}
}

/* The size of a text counts its last line with its LF. */
static void end_judge(struct format_parse *p)
{
	if (p->text[p->size - 1] != '\n')
		bad(p, TRACEDAT_RULE_format_size_mismatch, TM_ERROR, p->size - 1, 1, "the text of the format does not end in LF");
}

static void print_judge(struct format_parse *p)
{
	if (!p->print_end) {
		bad(p, TRACEDAT_RULE_print_fmt_missing, TM_WARNING, 0, p->size, "the format has no print fmt line");
		return;
	}
	size_t at = p->print + 10;
	struct tracedat_print print = { .t = p->t, .block = p->block, .base = p->base + at, .text = p->text + at, .file = p->text,
					.size = p->print_end - at, .fields = p->fields, .field_count = p->field_count,
					.path = p->path };
	unsigned errors = tracedat_print_check(&print);
	p->errors += errors;
	p->print_bad = errors > 0;
}

static void format_judge(struct format_parse *p)
{
	text_judge(p);
	if (p->fatal)
		return;
	lines_parse(p);
	if (p->fatal)
		return;
	end_judge(p);
	common_judge(p);
	if (p->fatal)
		return;
	for (size_t i = 0; i < p->field_count; i++)
		if (!p->fields[i].bad)
			field_type_judge(p, &p->fields[i]);
	fields_place(p);
	fields_names(p);
	if (!p->errors)
		print_judge(p);
	else
		p->print_bad = true; /* judged again when the bad lines are gone */
}

/* ---- into the tables ---- */

static uint64_t name_hash(const char *system, const char *name, size_t length)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; system[i]; i++)
		h = (h ^ (uint8_t)system[i]) * UINT64_C(0x100000001b3);
	h = (h ^ 0xff) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < length; i++)
		h = (h ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
	return h ? h : 1;
}

/* Remembers a hash; false when it was there. */
static bool name_add(struct tracedat *t, uint64_t hash)
{
	if (!t->names) {
		t->name_capacity = 1u << 18;
		t->names = calloc(t->name_capacity, sizeof(*t->names));
		if (!t->names) {
			tracedat_no_memory(t);
			return true;
		}
	}
	size_t mask = t->name_capacity - 1, i = (size_t)(hash ^ hash >> 29) & mask;
	for (size_t tries = 0; tries < 64; tries++, i = (i + 1) & mask) {
		if (t->names[i] == hash)
			return false;
		if (!t->names[i]) {
			t->names[i] = hash;
			return true;
		}
	}
	return true;
}

static bool named(const struct format_parse *p, const struct tracedat_field *f, const char *name)
{
	return f->name_length == strlen(name) && !memcmp(p->text + f->name, name, f->name_length);
}

static bool event_named(const struct format_parse *p, const char *name)
{
	return p->name && p->name_length == strlen(name) && !memcmp(p->name, name, p->name_length);
}

static void event_fields(struct format_parse *p, struct tracedat_event *e)
{
	struct tracedat *t = p->t;
	bool ftrace = !strcmp(p->system, "ftrace");
	bool stack = ftrace && (event_named(p, "kernel_stack") || event_named(p, "user_stack"));
	bool print = ftrace && (event_named(p, "bprint") || event_named(p, "bputs"));

	e->fixed = t->common_size > 8 ? t->common_size : 8;
	e->slack = 7;
	e->dynamic = (uint32_t)t->dynamic_count;
	for (size_t i = 0; i < p->field_count; i++) {
		const struct tracedat_field *f = &p->fields[i];
		if (f->common)
			continue;
		if (f->bad) {
			e->slack = UINT32_MAX;
			continue;
		}
		uint32_t end = f->offset + f->size;
		if (f->open_array)
			end = f->offset;
		if (f->open_array || f->dynamic)
			e->slack = UINT32_MAX;
		if (stack && named(p, f, "caller")) {
			e->slack = UINT32_MAX;
			end = f->offset;
		}
		if (end > e->fixed)
			e->fixed = end;
		if (f->dynamic && f->size == 4 &&
		    tracedat_room(t, &t->dynamics, &t->dynamic_capacity, t->dynamic_count, sizeof(*t->dynamics), 1u << 22)) {
			t->dynamics[t->dynamic_count++] = (struct tracedat_dynamic){ (uint16_t)f->offset, f->relative, f->text };
			e->dynamic_count++;
			e->special = true;
		}
		if (print && f->size == t->long_size && (named(p, f, "fmt") || named(p, f, "str")))
			e->printk = (uint16_t)f->offset;
		if (ftrace && f->size == t->long_size && (named(p, f, "ip") || named(p, f, "parent_ip")))
			e->ip[e->ip[0] != 0] = (uint16_t)f->offset;
	}
	e->special |= e->printk || e->ip[0];
}

static void event_add(struct format_parse *p, bool placeholder)
{
	struct tracedat *t = p->t;
	char shown[TEXT_QUOTE_SIZE];

	if (!p->id_known)
		return;
	const struct tracedat_event *other = tracedat_event_of(t, (uint32_t)p->id);
	if (!placeholder && tracedat_orphan_moved(t, name_hash(p->system, p->name, p->name_length), (uint32_t)p->id)) {
		p->fatal = true;
		bad(p, TRACEDAT_RULE_event_id_duplicate, TM_ERROR, 0, p->size, "the ID is another event's");
		return;
	}
	if (other) {
		if (!placeholder) {
			p->fatal = p->id_bad = true;
			bad(p, TRACEDAT_RULE_event_id_duplicate, TM_ERROR, 0, p->size, "the ID %llu is that of %s too",
			    (unsigned long long)p->id, other->name);
		}
		return;
	}
	if (!tracedat_room(t, &t->events, &t->event_capacity, t->event_count, sizeof(*t->events), 65536))
		return;
	struct tracedat_event *e = &t->events[t->event_count];
	*e = (struct tracedat_event){ .id = (uint32_t)p->id, .placeholder = placeholder, .block = p->block, .text = p->base,
				      .text_size = p->size };
	(void)snprintf(e->system, sizeof(e->system), "%s", p->system);
	text_sanitise(e->name, sizeof(e->name), p->name ? text_quote(shown, p->name, p->name_length) : "unknown");
	if (placeholder) {
		e->fixed = t->common_size > 8 ? t->common_size : 8;
		e->slack = UINT32_MAX;
	} else {
		event_fields(p, e);
		e->hash = name_hash(p->system, p->name, p->name_length);
		if (!name_add(t, e->hash))
			bad(p, TRACEDAT_RULE_event_name_duplicate, TM_WARNING, 0, p->size, "a second event of this name in the system");
		if (!strcmp(p->system, "ftrace") && event_named(p, "user_stack"))
			t->blk_id = e->id + 1;
	}
	t->event_count++;
	t->event_index[e->id] = (uint16_t)t->event_count;
}

/* A format that has nothing wrong but its ID may still be of use; and so may the one that has the same ID. */
static void orphan_add(struct format_parse *p)
{
	struct tracedat *t = p->t;
	struct tracedat_event own = { .text = p->base, .text_size = p->size };
	struct tracedat_event *holder = p->id_known ? &t->events[t->event_index[p->id] - 1] : NULL;

	event_fields(p, &own);
	struct tracedat_orphan *first = NULL, *o = tracedat_orphan_add(t, p->block, &own);
	if (o && holder && !holder->contested && !holder->placeholder && tracedat_unknown_table(t))
		first = tracedat_orphan_add(t, holder->block, holder);
	if (!first) {
		/* Without its rival a format with an ID that comes twice is nobody's. */
		if (o && holder)
			bytes_free(&t->orphans[--t->orphan_count].text);
		return;
	}
	holder->contested = holder->special = true;
	o->claim = first->claim = (uint32_t)p->id;
	o->rival = (int)(first - t->orphans);
	first->holder = true;
}

/* ---- repair ---- */

/* The text without its bad lines, and with an empty print format where that is bad. */
static void format_mend(const struct format_parse *p, bool print_bad, struct bytes *out)
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

static unsigned format_recheck(const struct format_parse *p, const struct bytes *text)
{
	struct tracedat *t = p->t;
	struct tracedat_field *fields = calloc(TRACEDAT_FIELDS_MAX, sizeof(*fields));
	if (!fields) {
		tracedat_no_memory(t);
		return 1;
	}
	struct format_parse again = { .t = t, .text = (const char *)text->data, .size = text->size, .system = p->system,
				      .fields = fields };
	format_judge(&again);
	unsigned errors = again.errors;
	free(fields);
	return errors;
}

unsigned tracedat_format_parse(struct tracedat *t, const struct tracedat_block *b, size_t at, size_t size, const char *system,
			       struct bytes *changed)
{
	struct format_parse p = { .t = t, .block = b, .base = at, .text = (const char *)b->data + at, .size = size,
				  .system = system, .fields = t->fields };
	(void)snprintf(p.path, sizeof(p.path), "%.60s", system);
	format_judge(&p);
	if (p.fatal && !p.id_known && p.errors && !p.field_count) {
		/* Where only the text is damaged the ID may still be there: it spares its records a finding each. */
		struct format_parse look = p;
		look.block = NULL;
		look.fatal = false;
		look.errors = 0;
		lines_parse(&look);
		p.id = look.id;
		p.id_known = look.id_known;
		p.name = NULL;
	}
	event_add(&p, p.fatal);
	if (p.id_bad && p.errors == 1 && t->repair && t->findings != t->scratch)
		orphan_add(&p);
	p.fatal |= p.id_bad;
	t->formats_lost |= p.fatal;
	if (!p.errors || p.fatal || !t->repair)
		return p.errors;
	/* First without the bad lines only, then without the print format. */
	format_mend(&p, false, changed);
	if (!changed->failed && format_recheck(&p, changed)) {
		changed->size = 0;
		format_mend(&p, true, changed);
		if (!changed->failed && format_recheck(&p, changed))
			changed->size = 0;
	}
	if (changed->failed)
		tracedat_no_memory(t);
	if (!changed->size && t->event_index[p.id])
		t->events[t->event_index[p.id] - 1].placeholder = true;
	return p.errors;
}

void tracedat_placeholder_text(const struct tracedat *t, uint32_t id, struct bytes *out)
{
	static const char common[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
				     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
				     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";
	bytes_printf(out, "name: unknown_%u\nID: %u\nformat:\n", id, id);
	if (t->common.size)
		bytes_append(out, t->common.data, t->common.size);
	else
		bytes_text(out, common);
	bytes_printf(out, "\n\tfield:unsigned char data[];\toffset:%u;\tsize:0;\tsigned:0;\n\nprint fmt: \"\"\n",
		     t->common_size > 8 ? t->common_size : 8);
}
