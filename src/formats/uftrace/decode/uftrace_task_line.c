/* The lines of task.txt. */
#include "formats/uftrace/decode/uftrace_task_line.h"

#include <string.h>

#include "core/text.h"

struct parse {
	const char *text;
	size_t length, at;
	bool failed, odd_digits, odd_quotes;
	char *anew;		 /* the same text, into which words are written that were hit; NULL: they are only counted */
	unsigned wrong, allowed; /* bytes of words that are others; so many may be */
	bool headless;		 /* `at` is behind the keyword, which is not there */
};

static void expect(struct parse *p, const char *word)
{
	size_t n = strlen(word);

	if (p->failed || p->length - p->at < n) {
		p->failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		p->wrong += p->text[p->at + i] != word[i];
	p->failed = p->wrong > p->allowed;
	if (p->anew && !p->failed)
		memcpy(p->anew + p->at, word, n);
	p->at += n;
}

static uint64_t number(struct parse *p)
{
	size_t n = 0;
	uint64_t value = 0;

	while (p->at + n < p->length && p->text[p->at + n] >= '0' && p->text[p->at + n] <= '9')
		n++;
	if (p->failed || !text_parse_u64(p->text + p->at, n, &value))
		p->failed = true;
	p->at += n;
	return value;
}

static int64_t identifier(struct parse *p)
{
	bool negative = !p->failed && p->at < p->length && p->text[p->at] == '-';
	p->at += negative;
	uint64_t value = number(p);
	if (value > INT32_MAX)
		p->failed = true;
	return negative ? -(int64_t)value : (int64_t)value;
}

/* The fraction is a count of nanoseconds, however many digits it has. */
static uint64_t timestamp(struct parse *p)
{
	expect(p, "timestamp=");
	uint64_t seconds = number(p);
	expect(p, ".");
	size_t before = p->at;
	uint64_t ns = number(p);
	p->odd_digits = p->at - before != 9;
	if (seconds > UINT64_C(10000000000) || ns > UINT64_C(1000000000000000000))
		p->failed = true;
	return p->failed ? 0 : seconds * 1000000000u + ns;
}

static struct uftrace_str word(struct parse *p)
{
	struct uftrace_str s = { p->text + p->at, 0 };
	while (!p->failed && p->at < p->length && p->text[p->at] != ' ') {
		p->at++;
		s.length++;
	}
	if (!s.length)
		p->failed = true;
	return s;
}

/* Readers skip one character as the first quote, and end at the last quote of the line. */
static struct uftrace_str quoted(struct parse *p)
{
	struct uftrace_str s = { p->text + p->at, p->length - p->at };

	if (p->failed || p->at >= p->length) {
		p->failed = true;
		return (struct uftrace_str){ "", 0 };
	}
	s.length = uftrace_line_length(s.text, s.length);
	p->at = p->length;
	bool first = s.length && s.text[0] == '"', last = s.length > 1 && s.text[s.length - 1] == '"';
	p->odd_quotes = !first || !last;
	if (s.length < 2) {
		p->failed = true;
		return s;
	}
	s.text++;
	s.length -= 1u + last;
	return s;
}

static void finish(struct parse *p)
{
	while (p->at < p->length && (p->text[p->at] == '\r' || p->text[p->at] == ' '))
		p->at++;
	if (p->at != p->length)
		p->failed = true;
}

static const char *const keywords[] = { "SESS ", "TASK ", "FORK ", "DLOP " };

/* Reads a line of out->kind. */
static bool line_read(struct parse *start, struct uftrace_task_parsed *out)
{
	struct parse p = *start;

	if (!p.headless)
		expect(&p, out->kind < UFTRACE_LINE_OTHER ? keywords[out->kind] : "");
	out->time = timestamp(&p);
	switch (out->kind) {
	case UFTRACE_LINE_OTHER:
		return false;
	case UFTRACE_LINE_SESS:
		expect(&p, " ");
		if (!p.failed && p.length - p.at >= 4 && !memcmp(p.text + p.at, "tid=", 4))
			p.at += 4; /* older writers */
		else
			expect(&p, "pid=");
		out->id = identifier(&p);
		expect(&p, " sid=");
		out->sid = word(&p);
		expect(&p, " exename=");
		out->path = quoted(&p);
		break;
	case UFTRACE_LINE_TASK:
		expect(&p, " tid=");
		out->id = identifier(&p);
		expect(&p, " pid=");
		out->parent = identifier(&p);
		finish(&p);
		break;
	case UFTRACE_LINE_FORK:
		expect(&p, " pid=");
		out->id = identifier(&p);
		expect(&p, " ppid=");
		out->parent = identifier(&p);
		finish(&p);
		break;
	case UFTRACE_LINE_DLOP: {
		expect(&p, " tid=");
		out->id = identifier(&p);
		expect(&p, " sid=");
		out->sid = word(&p);
		expect(&p, " base=");
		size_t n = p.at < p.length ? uftrace_hex_digits(p.text + p.at, p.length - p.at) : 0;
		if (!text_parse_hex(p.text + (p.at < p.length ? p.at : 0), n, &out->base))
			p.failed = true;
		p.at += n;
		expect(&p, " libname=");
		out->path = quoted(&p);
		break;
	}
	}
	out->odd_digits = p.odd_digits;
	out->odd_quotes = p.odd_quotes;
	start->wrong = p.wrong;
	return !p.failed;
}

bool uftrace_task_line_read(const char *text, size_t length, struct uftrace_task_parsed *out)
{
	return line_read(&(struct parse){ .text = text, .length = length }, out);
}

/* Whether the keyword of a line may be that one after a hit; another in capitals is that of a later version, which readers skip. */
static bool keyword_was(const char *text, size_t length, const char *keyword)
{
	unsigned wrong = 0, capitals = 0;

	for (size_t i = 0; i < 4 && i < length; i++) {
		wrong += text[i] != keyword[i];
		capitals += text[i] >= 'A' && text[i] <= 'Z';
	}
	return wrong < 2 || capitals < 4;
}

unsigned uftrace_task_line_mend(char *text, size_t length, struct uftrace_task_parsed *out)
{
	unsigned fits = 0;

	for (unsigned kind = 0; kind < UFTRACE_LINE_OTHER; kind++) {
		struct uftrace_task_parsed tried = { .kind = (enum uftrace_task_kind)kind };
		if (!keyword_was(text, length, keywords[kind]) ||
		    !line_read(&(struct parse){ .text = text, .length = length, .allowed = UFTRACE_LINE_WRONG_MAX }, &tried))
			continue;
		fits++;
		*out = tried;
	}
	struct parse p = { .text = text, .length = length, .anew = text, .allowed = UFTRACE_LINE_WRONG_MAX };
	return fits == 1 && line_read(&p, out) ? p.wrong : 0;
}

#define WORDS_MAX 128u /* bytes up to the path, with blanks that are too many */

size_t uftrace_task_line_squeeze(char *text, size_t length, struct uftrace_task_parsed *out, bool *sure)
{
	char was[WORDS_MAX];
	const char *quote = memchr(text, '"', length);
	const size_t words = quote ? (size_t)(quote - text) : length;
	size_t n = 0;

	*sure = true;
	out->kind = uftrace_task_keyword(text, length);
	if (out->kind == UFTRACE_LINE_OTHER || words > sizeof(was))
		return 0;
	memcpy(was, text, words);
	for (size_t i = 0; i < words; i++) {
		bool blank = was[i] == ' ' || was[i] == '\t';
		if (blank && n && text[n - 1] == ' ')
			*sure &= n == 5;
		else
			text[n++] = blank ? ' ' : was[i];
	}
	const size_t left = length - (words - n);
	memmove(text + n, text + words, length - words);
	if (left < length && uftrace_task_line_read(text, left, out))
		return left;
	memmove(text + words, text + n, length - words);
	memcpy(text, was, words);
	return 0;
}

size_t uftrace_task_line_behead(const char *text, size_t length, struct uftrace_task_parsed *out)
{
	static const char first[] = "timestamp=";
	size_t at = 0;
	unsigned fits = 0;

	/* The keyword has four letters and a blank, of which at least one is gone. */
	while (at < 5 && (length < at + sizeof(first) || memcmp(text + at, first, sizeof(first) - 1) != 0))
		at++;
	if (at == 5)
		return SIZE_MAX;
	for (unsigned kind = 0; kind < UFTRACE_LINE_OTHER; kind++) {
		struct uftrace_task_parsed tried = { .kind = (enum uftrace_task_kind)kind };
		if (!line_read(&(struct parse){ .text = text, .length = length, .at = at, .headless = true }, &tried))
			continue;
		fits++;
		*out = tried;
	}
	return fits == 1 ? at : SIZE_MAX;
}

const char *uftrace_task_word(enum uftrace_task_kind kind)
{
	return keywords[kind];
}

enum uftrace_task_kind uftrace_task_keyword(const char *text, size_t length)
{
	unsigned kind = 0;

	while (kind < UFTRACE_LINE_OTHER && (length < 4 || memcmp(text, keywords[kind], 4) != 0))
		kind++;
	return (enum uftrace_task_kind)kind;
}
