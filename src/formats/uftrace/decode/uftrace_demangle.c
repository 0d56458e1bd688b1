/* Names of C++ functions by the grammar of the Itanium C++ ABI, section 5.1 ("External Names (a.k.a. Mangling)").
 *
 * Not libiberty or the C++ runtime: what they print grows exponentially with some names, and readers of uftrace spell names in a
 * way of their own ("std::vector::push_back", "operator(cast)"). Here each byte is read once, nothing is kept, and what is not
 * needed for the name (types, template arguments) is only skipped. */
#include "formats/uftrace/decode/uftrace_demangle.h"

#include <string.h>

#define NESTING_MAX 48u

struct mangled {
	const char *at, *end;
	char *out; /* NULL: nothing is written, names are skipped */
	size_t size, used;
	unsigned nesting;
	struct uftrace_str last; /* the last plain name, for constructors */
	bool failed;
};

static void skip_type(struct mangled *m);
static void read_name(struct mangled *m);

static char peek(const struct mangled *m, size_t ahead)
{
	return (size_t)(m->end - m->at) > ahead ? m->at[ahead] : '\0';
}

static bool take(struct mangled *m, char c)
{
	if (peek(m, 0) != c)
		return false;
	m->at++;
	return true;
}

static void give_up(struct mangled *m)
{
	m->failed = true;
	m->at = m->end;
}

static void put(struct mangled *m, const char *text, size_t length)
{
	if (!m->out)
		return;
	if (length > m->size - m->used) {
		give_up(m);
		return;
	}
	memcpy(m->out + m->used, text, length);
	m->used += length;
}

static void put_text(struct mangled *m, const char *text)
{
	put(m, text, strlen(text));
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool enter(struct mangled *m)
{
	if (++m->nesting > NESTING_MAX)
		give_up(m);
	return !m->failed;
}

/* <number>, without sign */
static size_t number(struct mangled *m)
{
	size_t value = 0;

	if (!is_digit(peek(m, 0)))
		give_up(m);
	while (is_digit(peek(m, 0)) && value <= UFTRACE_DEMANGLE_MAX)
		value = value * 10 + (size_t)(*m->at++ - '0');
	return value;
}

/* <source-name> */
static struct uftrace_str source_name(struct mangled *m)
{
	size_t length = number(m);

	if (!length || length > (size_t)(m->end - m->at)) {
		give_up(m);
		return (struct uftrace_str){ "", 0 };
	}
	m->at += length;
	return (struct uftrace_str){ m->at - length, length };
}

/* "S_", "S0_" and so on. */
static void skip_back_reference(struct mangled *m)
{
	while (is_digit(peek(m, 0)) || (peek(m, 0) >= 'A' && peek(m, 0) <= 'Z'))
		m->at++;
	if (!take(m, '_'))
		give_up(m);
}

/* The class behind "S": allocator and others of std. NULL: another letter. */
static const char *standard_class(char letter)
{
	switch (letter) {
	case 'a':
		return "allocator";
	case 'b':
		return "basic_string";
	case 's':
		return "basic_string<>";
	case 'i':
		return "basic_istream";
	case 'o':
		return "basic_ostream";
	case 'd':
		return "basic_iostream";
	default:
		return NULL;
	}
}

/* <template-arg> */
static void skip_template_argument(struct mangled *m)
{
	if (!enter(m))
		return;
	if (take(m, 'J')) {
		while (!m->failed && !take(m, 'E'))
			skip_template_argument(m);
	} else if (take(m, 'L')) {
		if (peek(m, 0) == '_')
			give_up(m); /* the name of a function */
		else
			skip_type(m);
		while (!m->failed && !take(m, 'E')) {
			if (m->at == m->end)
				give_up(m);
			else
				m->at++;
		}
	} else if (peek(m, 0) == 'X') {
		give_up(m); /* an expression */
	} else {
		skip_type(m);
	}
	m->nesting--;
}

static void skip_template_arguments(struct mangled *m)
{
	if (!take(m, 'I'))
		return;
	while (!m->failed && !take(m, 'E'))
		skip_template_argument(m);
}

static void skip_types_up_to_end(struct mangled *m)
{
	while (!m->failed && !take(m, 'E')) {
		if ((peek(m, 0) == 'R' || peek(m, 0) == 'O') && peek(m, 1) == 'E')
			m->at++; /* a member function of that kind */
		else
			skip_type(m);
	}
}

/* A name within a type. */
static void skip_name(struct mangled *m)
{
	char *out = m->out;
	struct uftrace_str last = m->last;

	m->out = NULL;
	read_name(m);
	m->out = out;
	m->last = last;
}

/* Types that begin with "D". */
static void skip_d_type(struct mangled *m)
{
	char c = peek(m, 1);

	m->at += 2;
	if (c == 'p' || c == 'o') {
		skip_type(m);
	} else if (c == 'v') {
		number(m);
		if (take(m, '_'))
			skip_type(m);
		else
			give_up(m);
	} else if (!c || !strchr("defhisuacn", c)) {
		give_up(m); /* the type of an expression */
	}
}

static void skip_s_type(struct mangled *m)
{
	char c = peek(m, 1);

	if (c == 't') {
		skip_name(m);
		return;
	}
	m->at++;
	if (standard_class(c))
		m->at++;
	else
		skip_back_reference(m);
	skip_template_arguments(m);
}

/* <type> */
static void skip_type(struct mangled *m)
{
	if (!enter(m))
		return;
	while (peek(m, 0) && strchr("rVKPROCG", peek(m, 0)))
		m->at++;
	char c = peek(m, 0);
	if (c && strchr("vwbcahstijlmxynofdegz", c)) {
		m->at++;
	} else if (c == 'F') {
		m->at += peek(m, 1) == 'Y' ? 2 : 1;
		skip_types_up_to_end(m);
	} else if (c == 'A') {
		m->at++;
		if (is_digit(peek(m, 0)))
			number(m);
		if (take(m, '_'))
			skip_type(m);
		else
			give_up(m);
	} else if (c == 'M') {
		m->at++;
		skip_type(m);
		skip_type(m);
	} else if (c == 'U') {
		m->at++;
		source_name(m);
		skip_template_arguments(m);
		skip_type(m);
	} else if (c == 'u') {
		m->at++;
		source_name(m);
	} else if (c == 'T' && (peek(m, 1) == '_' || is_digit(peek(m, 1)))) {
		m->at++;
		skip_back_reference(m);
		skip_template_arguments(m);
	} else if (c == 'D') {
		skip_d_type(m);
	} else if (c == 'S') {
		skip_s_type(m);
	} else if (c == 'N' || c == 'Z' || is_digit(c)) {
		skip_name(m);
	} else {
		give_up(m);
	}
	m->nesting--;
}

/* <operator-name> */
static void read_operator(struct mangled *m)
{
	static const char *const names[] = {
		"nw new", "na new[]", "dl delete", "da delete[]", "aw co_await", "ps +",  "ng -",  "ad &",   "de *",  "co ~",
		"pl +",	  "mi -",     "ml *",	   "dv /",	  "rm %",	 "an &",  "or |",  "eo ^",   "aS =",  "pL +=",
		"mI -=",  "mL *=",    "dV /=",	   "rM %=",	  "aN &=",	 "oR |=", "eO ^=", "ls <<",  "rs >>", "lS <<=",
		"rS >>=", "eq ==",    "ne !=",	   "lt <",	  "gt >",	 "le <=", "ge >=", "ss <=>", "nt !",  "aa &&",
		"oo ||",  "pp ++",    "mm --",	   "cm ,",	  "pm ->*",	 "pt ->", "cl ()", "ix []",  "qu ?",
	};
	char first = peek(m, 0), second = peek(m, 1);

	if (!first || !second) {
		give_up(m);
		return;
	}
	m->at += 2;
	if (first == 'c' && second == 'v') {
		put_text(m, "operator(cast)");
		skip_type(m);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i][0] != first || names[i][1] != second)
			continue;
		put_text(m, names[i][3] >= 'a' && names[i][3] <= 'z' ? "operator " : "operator");
		put_text(m, names[i] + 3);
		return;
	}
	give_up(m);
}

/* <ctor-dtor-name> */
static void read_structor(struct mangled *m)
{
	if (!is_digit(peek(m, 1)) || !m->last.length) {
		give_up(m);
		return;
	}
	if (*m->at == 'D')
		put_text(m, "~");
	m->at += 2;
	put(m, m->last.text, m->last.length);
}

/* <unnamed-type-name>: a lambda function */
static void read_lambda(struct mangled *m)
{
	m->at += 2;
	skip_types_up_to_end(m);
	char digits[2] = { '0', '\0' };
	if (is_digit(peek(m, 0)))
		digits[0] = (char)(*m->at++ + 1);
	if (!take(m, '_') || !is_digit(digits[0])) {
		give_up(m);
		return;
	}
	put_text(m, "$_");
	put_text(m, digits);
}

/* <unqualified-name> with its template arguments */
static void read_unqualified(struct mangled *m)
{
	char c = peek(m, 0);

	if (c == 'L') { /* of internal linkage */
		m->at++;
		c = peek(m, 0);
	}
	if (is_digit(c)) {
		m->last = source_name(m);
		put(m, m->last.text, m->last.length);
	} else if (c == 'C' || (c == 'D' && is_digit(peek(m, 1)))) {
		read_structor(m);
	} else if (c == 'U' && peek(m, 1) == 'l') {
		read_lambda(m);
	} else if (c >= 'a' && c <= 'z') {
		read_operator(m);
	} else {
		give_up(m);
	}
	while (take(m, 'B')) { /* <abi-tags> */
		struct uftrace_str tag = source_name(m);
		put_text(m, "::");
		put(m, tag.text, tag.length);
		m->last = tag;
	}
	skip_template_arguments(m);
}

/* <nested-name>, behind its "N" */
static void read_nested(struct mangled *m)
{
	bool first = true;

	while (peek(m, 0) && strchr("rVK", peek(m, 0)))
		m->at++;
	if (peek(m, 0) == 'R' || peek(m, 0) == 'O')
		m->at++;
	while (!m->failed && !take(m, 'E')) {
		if (!first)
			put_text(m, "::");
		if (first && peek(m, 0) == 'S') {
			const char *class = standard_class(peek(m, 1));
			if (!class && peek(m, 1) != 't' && m->out) {
				give_up(m);
				break;
			}
			m->at++;
			if (!class && peek(m, 0) != 't') {
				skip_back_reference(m);
			} else {
				m->at++;
				put_text(m, class ? "std::" : "std");
				if (class) {
					m->last = (struct uftrace_str){ class, strlen(class) };
					put_text(m, class);
				}
			}
			skip_template_arguments(m);
		} else if (first && peek(m, 0) == 'T' && !m->out) {
			skip_type(m);
		} else {
			read_unqualified(m);
		}
		first = false;
	}
}

/* <name> */
static void read_name(struct mangled *m)
{
	if (!enter(m))
		return;
	if (take(m, 'N')) {
		read_nested(m);
	} else if (take(m, 'Z')) { /* <local-name>: of a function, within it */
		read_name(m);
		skip_types_up_to_end(m);
		put_text(m, "::");
		if (peek(m, 0) == 's' || peek(m, 0) == 'd')
			give_up(m);
		else
			read_name(m);
		if (take(m, '_')) /* <discriminator> */
			while (is_digit(peek(m, 0)) || peek(m, 0) == '_')
				m->at++;
	} else if (peek(m, 0) == 'S' && peek(m, 1) == 't') {
		m->at += 2;
		put_text(m, "std::");
		read_unqualified(m);
	} else {
		read_unqualified(m);
	}
	m->nesting--;
}

/* <special-name>: thunks and clones have the name of their function. */
static void skip_special(struct mangled *m)
{
	bool virtual = peek(m, 1) == 'v';

	if (peek(m, 0) == 'G' && peek(m, 1) == 'T' && (peek(m, 2) == 't' || peek(m, 2) == 'n')) {
		m->at += 3;
	} else if (peek(m, 0) == 'T' && (peek(m, 1) == 'h' || virtual)) {
		m->at += 2;
		for (unsigned i = 0; i < 1u + virtual; i++) { /* <call-offset> */
			take(m, 'n');
			number(m);
			if (!take(m, '_'))
				give_up(m);
		}
	}
}

bool uftrace_demangle(struct uftrace_str mangled, char *out, size_t size, struct uftrace_str *result)
{
	struct mangled m = { .at = mangled.text, .end = mangled.text + mangled.length, .out = out, .size = size };

	if (mangled.length < 3 || mangled.length > UFTRACE_DEMANGLE_MAX || !take(&m, '_') || !take(&m, 'Z'))
		return false;
	skip_special(&m);
	read_name(&m);
	*result = (struct uftrace_str){ out, m.used };
	return !m.failed && m.used;
}
