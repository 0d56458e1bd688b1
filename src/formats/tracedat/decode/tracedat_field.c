/* Field lines of event formats and of header_page, and the C types in them. */
#include "formats/tracedat/decode/tracedat_field.h"

#include "core/text.h"

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

/* clang-format off */
/* clang-format off */
static const struct tracedat_type types[] = {
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
/* clang-format on */

/* The shape of a C type; NULL when it is not one that is the same everywhere. */
const struct tracedat_type *tracedat_type_find(const char *type, size_t length)
{
	while (length > 6 && !memcmp(type, "const ", 6)) {
		type += 6;
		length -= 6;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strlen(types[i].name) == length && !memcmp(type, types[i].name, length))
			return &types[i];
	return NULL;
}
