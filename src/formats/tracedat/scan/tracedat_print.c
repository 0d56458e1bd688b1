/* Print formats: STRING { STRING } { "," EXPR }. One pass over the text, no recursion: expressions are only tokenised, which
 * is enough to match conversions with arguments and to find what crashes readers. */
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
static void print_milder_at(struct print_state *state, unsigned rule, enum tracemend_severity severity, size_t at,
			    const char *format, ...)
{
	struct tracedat_print *p = state->p;
	va_list arguments;

	state->errors += severity == TM_ERROR;
	if (!p->block || tracedat_garbled_explains(p->w, p->block))
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

static void print_blanks(struct print_state *state)
{
	while (state->at < state->p->size &&
	       (state->p->text[state->at] == ' ' || state->p->text[state->at] == '\t' || state->p->text[state->at] == '\n'))
		state->at++;
}

static void conversion_add(struct print_state *state, char kind)
{
	if (state->conversion_count < CONVERSIONS_MAX)
		state->conversions[state->conversion_count] = kind;
	state->conversion_count++;
}

/* One width or precision: digits or '*'. */
static void conversion_width(struct print_state *state, size_t begin)
{
	const char *text = state->p->text;
	uint64_t width = 0;
	if (state->at < state->p->size && text[state->at] == '*') {
		conversion_add(state, '*');
		state->at++;
		return;
	}
	while (state->at < state->p->size && is_digit(text[state->at])) {
		width = width < 1000000000 ? width * 10 + (uint64_t)(text[state->at] - '0') : width;
		state->at++;
	}
	if (width > TRACEDAT_PRINT_WIDTH_MAX)
		print_report(state, TRACEDAT_RULE_print_fmt_width, begin, "the width is %llu%s, expected up to %u",
			     (unsigned long long)width, width >= 1000000000 ? " or more" : "", TRACEDAT_PRINT_WIDTH_MAX);
}

/* A conversion, behind its '%'. */
static void print_conversion(struct print_state *state)
{
	const char *text = state->p->text;
	size_t size = state->p->size, begin = state->at;

	while (state->at < size && (text[state->at] == '-' || text[state->at] == '+' || text[state->at] == '#' ||
				    text[state->at] == '0' || text[state->at] == ' '))
		state->at++;
	conversion_width(state, begin);
	if (state->at < size && text[state->at] == '.') {
		state->at++;
		conversion_width(state, begin);
	}
	while (state->at < size &&
	       (text[state->at] == 'l' || text[state->at] == 'h' || text[state->at] == 'z' || text[state->at] == 't' ||
		text[state->at] == 'L' || text[state->at] == 'q' || text[state->at] == 'j'))
		state->at++;
	if (state->at >= size)
		return;
	char c = text[state->at];
	if (c == '"')
		return; /* a lone % at the end of the string prints itself */
	state->at++;
	if (c == '%')
		return;
	if (c == 'n') {
		print_report(state, TRACEDAT_RULE_print_fmt_width, begin, "the conversion %%n, which writes to memory");
		conversion_add(state, 'd');
		return;
	}
	if (c != 's' && c != 'p')
		c = 'd';
	conversion_add(state, c);
}

/* A string, behind its quote. False where it is not closed. */
static bool print_string(struct print_state *state, bool is_format)
{
	const char *text = state->p->text;
	while (state->at < state->p->size) {
		char c = text[state->at++];
		if (c == '"')
			return true;
		if (c == '\\')
			state->at++;
		else if (c == '%' && is_format)
			print_conversion(state);
	}
	state->at = state->p->size;
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

/* REC->NAME, whose REC was read; `next` is behind the blanks that follow. */
static void argument_field(struct print_state *state, struct argument *a, size_t from, size_t next)
{
	const char *text = state->p->text;
	size_t size = state->p->size;

	while (next < size && (text[next] == ')' || text[next] == ' '))
		next++;
	bool direct = a->tokens == 0 && next == state->at;
	if (size - next < 3 || text[next] != '-' || text[next + 1] != '>')
		return;
	size_t name = next + 2;
	while (name < size && text[name] == ' ')
		name++;
	size_t end = name;
	while (end < size && (is_word(text[end]) || text[end] == '.'))
		end++;
	while (end > name && text[end - 1] == '.')
		end--;
	const struct tracedat_field *f = field_find(state->p, text + name, end - name);
	const char *dot = f ? NULL : memchr(text + name, '.', end - name);
	if (dot)
		f = field_find(state->p, text + name, (size_t)(dot - text) - name);
	if (!f) {
		char shown[TEXT_QUOTE_SIZE];
		print_report(state, TRACEDAT_RULE_print_fmt_unknown_field, from, "REC->%s is not a field of the event",
			     text_quote(shown, text + name, end - name));
	}
	if (direct) {
		a->field = f;
		state->at = end;
	}
}

/* A word of an expression. */
static void argument_word(struct print_state *state, struct argument *a)
{
	const char *text = state->p->text;
	size_t size = state->p->size, from = state->at;

	while (state->at < size && is_word(text[state->at]))
		state->at++;
	size_t length = state->at - from, next = state->at;
	while (next < size && text[next] == ' ')
		next++;
	if (length == 3 && !memcmp(text + from, "REC", 3)) {
		argument_field(state, a, from, next);
		return;
	}
	if (next >= size || text[next] != '(' || is_digit(text[from]))
		return;
	a->get_text |= a->tokens == 0 && length == 9 && !memcmp(text + from, "__get_str", 9);
	if (!helper_known(text + from, length) && !state->noted_function) {
		char shown[TEXT_QUOTE_SIZE];
		state->noted_function = true;
		print_report(state, TRACEDAT_RULE_print_fmt_kernel_function, from,
			     "the print format calls %s(), which is not a known helper", text_quote(shown, text + from, length));
	}
}

/* Whether the operand behind a division is the number -1: divided by it the least number of 64 bits has no result. */
static bool divisor_is_minus_one(const struct print_state *state)
{
	const char *text = state->p->text;
	size_t at = state->at;
	while (at < state->p->size && (text[at] == ' ' || text[at] == '('))
		at++;
	if (at + 1 >= state->p->size || text[at] != '-')
		return false;
	for (at++; at < state->p->size && text[at] == ' ';)
		at++;
	return at < state->p->size && text[at] == '1' &&
	       (at + 1 == state->p->size || (!is_word(text[at + 1]) && text[at + 1] != '.'));
}

/* Whether the operand behind a division is the number 0. */
static bool divisor_is_zero(const struct print_state *state)
{
	const char *text = state->p->text;
	size_t at = state->at;
	while (at < state->p->size && (text[at] == ' ' || text[at] == '('))
		at++;
	if (at >= state->p->size || text[at] != '0')
		return false;
	size_t digit = at;
	if (at + 1 < state->p->size && (text[at + 1] == 'x' || text[at + 1] == 'X'))
		digit = at + 2;
	while (digit < state->p->size && text[digit] == '0')
		digit++;
	while (digit < state->p->size && (text[digit] == 'U' || text[digit] == 'L' || text[digit] == 'u' || text[digit] == 'l'))
		digit++;
	return digit >= state->p->size || (!is_word(text[digit]) && text[digit] != '.');
}

static void argument_deep(struct print_state *state, struct argument *a)
{
	if (a->deep)
		return;
	a->deep = true;
	print_report(state, TRACEDAT_RULE_print_fmt_depth, a->begin, "an expression has more than %u nested levels",
		     TRACEDAT_PRINT_DEPTH_MAX);
}

/* One token that is neither word nor string. Returns false at the end of the argument. */
static bool argument_sign(struct print_state *state, struct argument *a)
{
	const char *text = state->p->text;
	char c = text[state->at];

	if (c == ',' && !a->depth)
		return false;
	state->at++;
	switch (c) {
	case '(':
	case '[':
	case '{':
		if (state->at >= 2 && text[state->at - 2] == ')')
			a->casts++;
		if (a->depth < TRACEDAT_PRINT_DEPTH_MAX)
			a->open[a->depth] = c;
		if (++a->depth > TRACEDAT_PRINT_DEPTH_MAX)
			argument_deep(state, a);
		break;
	case ')':
	case ']':
	case '}':
		if (!a->depth) {
			state->unterminated = true;
			break;
		}
		a->depth--;
		break;
	case '?':
		a->ternaries++;
		break;
	case '/':
	case '%':
		if (divisor_is_zero(state))
			print_report(state, TRACEDAT_RULE_print_fmt_const_div_zero, state->at - 1, "the divisor is the number 0");
		else if (divisor_is_minus_one(state))
			print_report(state, TRACEDAT_RULE_print_fmt_const_div_zero, state->at - 1, "the divisor is the number -1");
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
		argument_deep(state, a);
	return true;
}

/* %s needs text, %d a number: only single fields and strings are checked. */
static void argument_type(struct print_state *state, const struct argument *a, size_t index)
{
	if (index >= CONVERSIONS_MAX || index >= state->conversion_count || a->tokens != 1 || !state->conversions[index])
		return;
	char kind = state->conversions[index];
	bool number = a->field && !a->field->pointer && !a->field->array && !a->field->dynamic && a->field->size <= 8;
	if (kind == 's' && number)
		print_report(state, TRACEDAT_RULE_print_fmt_arg_type, a->begin, "argument %zu is a number, printed with %%s",
			     index + 1);
	else if (kind == 'd' && a->literal)
		print_report(state, TRACEDAT_RULE_print_fmt_arg_type, a->begin, "argument %zu is text, printed as a number",
			     index + 1);
}

static void print_argument(struct print_state *state)
{
	const char *text = state->p->text;
	struct argument a = { .begin = state->at };

	for (;;) {
		print_blanks(state);
		if (state->at >= state->p->size)
			break;
		char c = text[state->at];
		if (c == '"') {
			state->at++;
			if (!a.depth && a.tokens == 0)
				a.literal = true;
			if (!print_string(state, false))
				state->unterminated = true;
		} else if (c == '\'') {
			state->at++;
			while (state->at < state->p->size && text[state->at] != '\'')
				state->at += text[state->at] == '\\' ? 2 : 1;
			state->at += state->at < state->p->size;
		} else if (is_word(c)) {
			argument_word(state, &a);
			a.chain = 0;
		} else if (!argument_sign(state, &a)) {
			break;
		}
		if (state->at > state->p->size)
			state->at = state->p->size;
		a.tokens++;
	}
	if (a.depth)
		state->unterminated = true;
	argument_type(state, &a, state->arguments);
	state->arguments++;
}

unsigned tracedat_print_check(struct tracedat_print *p)
{
	struct print_state state = { .p = p };
	size_t strings = 0;

	for (;;) {
		print_blanks(&state);
		if (state.at >= p->size || p->text[state.at] != '"')
			break;
		state.at++;
		strings++;
		if (!print_string(&state, true))
			state.unterminated = true;
	}
	if (state.at > p->size)
		state.at = p->size;
	if (!strings)
		state.unterminated = true;
	while (!state.unterminated && state.at < p->size && p->text[state.at] == ',') {
		state.at++;
		print_argument(&state);
		if (state.errors > 16)
			break;
	}
	if (state.unterminated || (state.at < p->size && state.errors <= 16)) {
		print_report(&state, TRACEDAT_RULE_print_fmt_unterminated, 0, "%s",
			     !strings ? "the print format has no string" : "a string or bracket of the print format is not closed");
	} else if (!state.errors && state.conversion_count != state.arguments) {
		print_report(&state, TRACEDAT_RULE_print_fmt_arg_count, 0,
			     "the print format has %zu conversions, but %zu arguments", state.conversion_count, state.arguments);
	}
	return state.errors;
}
