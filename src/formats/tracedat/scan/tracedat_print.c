/* Print formats: STRING { STRING } { "," EXPR }. One pass over the text, no recursion: expressions are only tokenised, which
 * is enough to match conversions with arguments and to find what kills readers. */
#include "formats/tracedat/scan/tracedat_format.h"

#include <stdarg.h>
#include <stdio.h>

#define CONVERSIONS_MAX 256u

struct print_state {
	struct tracedat_print *p;
	size_t at;
	unsigned errors;
	char conversions[CONVERSIONS_MAX]; /* 's': text; 'p': pointer; '*': a width; 'd': any number */
	size_t conversion_count;
	size_t arguments;
	bool unterminated;
	bool noted_function;
};

#define print_report(s, rule, ...) ((void)PLACE(rule), print_milder_at((s), (rule), tracedat_rules[rule].severity, __VA_ARGS__))
#define print_milder(s, rule, ...) ((void)PLACE(rule), print_milder_at((s), (rule), __VA_ARGS__))
static void print_milder_at(struct print_state *s, unsigned rule, enum tracemend_severity severity, size_t at, const char *format,
			    ...) PRINTF_LIKE(5, 6);
static void print_milder_at(struct print_state *s, unsigned rule, enum tracemend_severity severity, size_t at, const char *format,
			    ...)
{
	struct tracedat_print *p = s->p;
	va_list arguments;

	s->errors += severity == TM_ERROR;
	if (!p->block)
		return;
	size_t left = p->size - (at < p->size ? at : p->size);
	struct finding *fd = tracedat_block_milder_at(p->w, rule, severity, p->block, p->base + at, left < 32 ? left : 32);
	finding_path(fd, "%s > %s > print fmt", p->block->name, p->path);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void print_blanks(struct print_state *s)
{
	while (s->at < s->p->size && (s->p->text[s->at] == ' ' || s->p->text[s->at] == '\t' || s->p->text[s->at] == '\n'))
		s->at++;
}

static void conversion_add(struct print_state *s, char kind)
{
	if (s->conversion_count < CONVERSIONS_MAX)
		s->conversions[s->conversion_count] = kind;
	s->conversion_count++;
}

/* One width or precision: digits or '*'. */
static void conversion_width(struct print_state *s, size_t begin)
{
	const char *text = s->p->text;
	uint64_t width = 0;
	if (s->at < s->p->size && text[s->at] == '*') {
		conversion_add(s, '*');
		s->at++;
		return;
	}
	while (s->at < s->p->size && is_digit(text[s->at])) {
		width = width < 1000000000 ? width * 10 + (uint64_t)(text[s->at] - '0') : width;
		s->at++;
	}
	if (width > TRACEDAT_PRINT_WIDTH_MAX)
		print_report(s, TRACEDAT_RULE_print_fmt_width, begin, "a width of %llu%s, expected up to %u",
			     (unsigned long long)width, width >= 1000000000 ? " or more" : "", TRACEDAT_PRINT_WIDTH_MAX);
}

/* A conversion, behind its '%'. */
static void print_conversion(struct print_state *s)
{
	const char *text = s->p->text;
	size_t size = s->p->size, begin = s->at;

	while (s->at < size &&
	       (text[s->at] == '-' || text[s->at] == '+' || text[s->at] == '#' || text[s->at] == '0' || text[s->at] == ' '))
		s->at++;
	conversion_width(s, begin);
	if (s->at < size && text[s->at] == '.') {
		s->at++;
		conversion_width(s, begin);
	}
	while (s->at < size && (text[s->at] == 'l' || text[s->at] == 'h' || text[s->at] == 'z' || text[s->at] == 't' ||
				text[s->at] == 'L' || text[s->at] == 'q' || text[s->at] == 'j'))
		s->at++;
	if (s->at >= size)
		return;
	char c = text[s->at];
	if (c == '"')
		return; /* a lone % at the end of the string prints itself */
	s->at++;
	if (c == '%')
		return;
	if (c == 'n') {
		print_report(s, TRACEDAT_RULE_print_fmt_width, begin, "%%n writes to memory");
		conversion_add(s, 'd');
		return;
	}
	if (c != 's' && c != 'p')
		c = 'd';
	conversion_add(s, c);
}

/* A string, behind its quote. False where it is not closed. */
static bool print_string(struct print_state *s, bool is_format)
{
	const char *text = s->p->text;
	while (s->at < s->p->size) {
		char c = text[s->at++];
		if (c == '"')
			return true;
		if (c == '\\')
			s->at++;
		else if (c == '%' && is_format)
			print_conversion(s);
	}
	s->at = s->p->size;
	return false;
}

/* ---- arguments ---- */

struct argument {
	size_t begin;
	unsigned depth, ternaries, casts, chain;
	char open[TRACEDAT_PRINT_DEPTH_MAX + 1];
	bool deep;
	/* its shape, when it is that simple */
	size_t tokens;
	const struct tracedat_field *field; /* REC->field */
	bool get_text, literal;
};

static const struct tracedat_field *field_find(const struct tracedat_print *p, const char *name, size_t length)
{
	for (size_t i = 0; i < p->field_count; i++)
		if (!p->fields[i].bad && p->fields[i].name_length == length && !memcmp(p->file + p->fields[i].name, name, length))
			return &p->fields[i];
	return NULL;
}

static bool helper_known(const char *name, size_t length)
{
	static const char *const known[] = { "__get_str",
					     "__get_dynamic_array",
					     "__get_dynamic_array_len",
					     "__get_bitmask",
					     "__get_cpumask",
					     "__get_sockaddr",
					     "__get_rel_str",
					     "__get_rel_dynamic_array",
					     "__get_rel_dynamic_array_len",
					     "__get_rel_bitmask",
					     "__get_rel_cpumask",
					     "__get_rel_sockaddr",
					     "__print_symbolic",
					     "__print_flags",
					     "__print_symbolic_u64",
					     "__print_flags_u64",
					     "__print_hex",
					     "__print_hex_str",
					     "__print_array",
					     "__print_hex_dump",
					     "__print_dynamic_array",
					     "__get_buf",
					     "sizeof",
					     "REC",
					     "u8",
					     "u16",
					     "u32",
					     "u64",
					     "s8",
					     "s16",
					     "s32",
					     "s64",
					     "if" };
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i]) == length && !memcmp(known[i], name, length))
			return true;
	return false;
}

/* REC->NAME, whose REC was read; `look` is behind the blanks that follow. */
static void argument_field(struct print_state *s, struct argument *a, size_t from, size_t look)
{
	const char *text = s->p->text;
	size_t size = s->p->size;

	while (look < size && (text[look] == ')' || text[look] == ' '))
		look++;
	bool direct = a->tokens == 0 && look == s->at;
	if (size - look < 3 || text[look] != '-' || text[look + 1] != '>')
		return;
	size_t name = look + 2;
	while (name < size && text[name] == ' ')
		name++;
	size_t end = name;
	while (end < size && (is_word(text[end]) || text[end] == '.'))
		end++;
	while (end > name && text[end - 1] == '.')
		end--;
	const struct tracedat_field *f = field_find(s->p, text + name, end - name);
	const char *dot = f ? NULL : memchr(text + name, '.', end - name);
	if (dot)
		f = field_find(s->p, text + name, (size_t)(dot - text) - name);
	if (!f) {
		char shown[TEXT_QUOTE_SIZE];
		print_report(s, TRACEDAT_RULE_print_fmt_unknown_field, from, "REC->%s is no field of the event",
			     text_quote(shown, text + name, end - name));
	}
	if (direct) {
		a->field = f;
		s->at = end;
	}
}

/* A word of an expression. */
static void argument_word(struct print_state *s, struct argument *a)
{
	const char *text = s->p->text;
	size_t size = s->p->size, from = s->at;

	while (s->at < size && is_word(text[s->at]))
		s->at++;
	size_t length = s->at - from, look = s->at;
	while (look < size && text[look] == ' ')
		look++;
	if (length == 3 && !memcmp(text + from, "REC", 3)) {
		argument_field(s, a, from, look);
		return;
	}
	if (look >= size || text[look] != '(' || is_digit(text[from]))
		return;
	a->get_text |= a->tokens == 0 && length == 9 && !memcmp(text + from, "__get_str", 9);
	if (!helper_known(text + from, length) && !s->noted_function) {
		char shown[TEXT_QUOTE_SIZE];
		s->noted_function = true;
		print_report(s, TRACEDAT_RULE_print_fmt_kernel_function, from, "it calls %s()",
			     text_quote(shown, text + from, length));
	}
}

/* Whether the operand behind a division is the number -1: divided by it the least number of 64 bits has no result. */
static bool divisor_is_minus_one(const struct print_state *s)
{
	const char *text = s->p->text;
	size_t at = s->at;
	while (at < s->p->size && (text[at] == ' ' || text[at] == '('))
		at++;
	if (at + 1 >= s->p->size || text[at] != '-')
		return false;
	for (at++; at < s->p->size && text[at] == ' ';)
		at++;
	return at < s->p->size && text[at] == '1' && (at + 1 == s->p->size || (!is_word(text[at + 1]) && text[at + 1] != '.'));
}

/* Whether the operand behind a division is the number 0. */
static bool divisor_is_zero(const struct print_state *s)
{
	const char *text = s->p->text;
	size_t at = s->at;
	while (at < s->p->size && (text[at] == ' ' || text[at] == '('))
		at++;
	if (at >= s->p->size || text[at] != '0')
		return false;
	size_t digit = at;
	if (at + 1 < s->p->size && (text[at + 1] == 'x' || text[at + 1] == 'X'))
		digit = at + 2;
	while (digit < s->p->size && text[digit] == '0')
		digit++;
	while (digit < s->p->size && (text[digit] == 'U' || text[digit] == 'L' || text[digit] == 'u' || text[digit] == 'l'))
		digit++;
	return digit >= s->p->size || (!is_word(text[digit]) && text[digit] != '.');
}

static void argument_deep(struct print_state *s, struct argument *a)
{
	if (a->deep)
		return;
	a->deep = true;
	print_report(s, TRACEDAT_RULE_print_fmt_depth, a->begin, "an expression nested more than %u deep",
		     TRACEDAT_PRINT_DEPTH_MAX);
}

/* One token that is neither word nor string. Returns false at the end of the argument. */
static bool argument_sign(struct print_state *s, struct argument *a)
{
	const char *text = s->p->text;
	char c = text[s->at];

	if (c == ',' && !a->depth)
		return false;
	s->at++;
	switch (c) {
	case '(':
	case '[':
	case '{':
		if (s->at >= 2 && text[s->at - 2] == ')')
			a->casts++;
		if (a->depth < TRACEDAT_PRINT_DEPTH_MAX)
			a->open[a->depth] = c;
		if (++a->depth > TRACEDAT_PRINT_DEPTH_MAX)
			argument_deep(s, a);
		break;
	case ')':
	case ']':
	case '}':
		if (!a->depth) {
			s->unterminated = true;
			break;
		}
		a->depth--;
		break;
	case '?':
		a->ternaries++;
		break;
	case '/':
	case '%':
		if (divisor_is_zero(s))
			print_report(s, TRACEDAT_RULE_print_fmt_const_div_zero, s->at - 1, "a division by the number 0");
		else if (divisor_is_minus_one(s))
			print_report(s, TRACEDAT_RULE_print_fmt_const_div_zero, s->at - 1, "a division by the number -1");
		break;
	case '-':
	case '!':
	case '~':
	case '*':
	case '&':
	case '+':
		a->chain++;
		break;
	default:
		break;
	}
	if (a->ternaries > TRACEDAT_PRINT_DEPTH_MAX || a->casts > TRACEDAT_PRINT_DEPTH_MAX || a->chain > TRACEDAT_PRINT_DEPTH_MAX)
		argument_deep(s, a);
	return true;
}

/* %s wants text, %d a number: only what is plain to see is judged. */
static void argument_type(struct print_state *s, const struct argument *a, size_t index)
{
	if (index >= CONVERSIONS_MAX || index >= s->conversion_count || a->tokens != 1 || !s->conversions[index])
		return;
	char kind = s->conversions[index];
	bool number = a->field && !a->field->pointer && !a->field->array && !a->field->dynamic && a->field->size <= 8;
	if (kind == 's' && number)
		print_report(s, TRACEDAT_RULE_print_fmt_arg_type, a->begin, "argument %zu is a number, printed with %%s",
			     index + 1);
	else if (kind == 'd' && a->literal)
		print_report(s, TRACEDAT_RULE_print_fmt_arg_type, a->begin, "argument %zu is text, printed as a number", index + 1);
}

static void print_argument(struct print_state *s)
{
	const char *text = s->p->text;
	struct argument a = { .begin = s->at };

	for (;;) {
		print_blanks(s);
		if (s->at >= s->p->size)
			break;
		char c = text[s->at];
		if (c == '"') {
			s->at++;
			if (!a.depth && a.tokens == 0)
				a.literal = true;
			if (!print_string(s, false))
				s->unterminated = true;
		} else if (c == '\'') {
			s->at++;
			while (s->at < s->p->size && text[s->at] != '\'')
				s->at += text[s->at] == '\\' ? 2 : 1;
			s->at += s->at < s->p->size;
		} else if (is_word(c)) {
			argument_word(s, &a);
			a.chain = 0;
		} else if (!argument_sign(s, &a)) {
			break;
		}
		if (s->at > s->p->size)
			s->at = s->p->size;
		a.tokens++;
	}
	if (a.depth)
		s->unterminated = true;
	argument_type(s, &a, s->arguments);
	s->arguments++;
}

unsigned tracedat_print_check(struct tracedat_print *p)
{
	struct print_state s = { .p = p };
	size_t strings = 0;

	for (;;) {
		print_blanks(&s);
		if (s.at >= p->size || p->text[s.at] != '"')
			break;
		s.at++;
		strings++;
		if (!print_string(&s, true))
			s.unterminated = true;
	}
	if (s.at > p->size)
		s.at = p->size;
	if (!strings)
		s.unterminated = true;
	while (!s.unterminated && s.at < p->size && p->text[s.at] == ',') {
		s.at++;
		print_argument(&s);
		if (s.errors > 16)
			break;
	}
	if (s.unterminated || (s.at < p->size && s.errors <= 16)) {
		print_report(&s, TRACEDAT_RULE_print_fmt_unterminated, 0, "%s",
			     !strings ? "the print format has no string" : "a string or bracket of the print format is not closed");
	} else if (!s.errors && s.conversion_count != s.arguments) {
		print_report(&s, TRACEDAT_RULE_print_fmt_arg_count, 0, "%zu conversions, but %zu arguments", s.conversion_count,
			     s.arguments);
	}
	return s.errors;
}
