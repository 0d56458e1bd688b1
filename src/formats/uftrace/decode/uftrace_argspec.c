/* Argument specifications: "arg1,arg2/s,retval/i32". What is taken and what is refused is as in readers of release 0.13
 * (utils/argspec.c, parse_argument_spec(); utils/filter.c, setup_trigger_action()). */
#include "formats/uftrace/decode/uftrace_argspec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/bytes.h"
#include "formats/uftrace/decode/uftrace_record.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* An item, as it is read from left to right; ends in a NUL. */
struct item_text {
	const char *at;
};

/* As strtol() has it: blanks and a sign in front. False: there is no number. */
static bool take_number(struct item_text *t, long *value)
{
	char *end;

	*value = strtol(t->at, &end, 10);
	bool any = end != t->at;
	t->at = end;
	return any;
}

static bool take_word(struct item_text *t, const char *word)
{
	size_t n = strlen(word);
	bool there = !strncmp(t->at, word, n);

	t->at += there ? n : 0;
	return there;
}

/* A size in bits that a register can have; long double has 80. */
static bool set_bits(struct uftrace_item *item, long bits, bool floating)
{
	item->size = (uint16_t)(bits / 8);
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 || (floating && bits == 80);
}

/* Behind "%": a place on the stack, or a register for arguments of that machine. */
static bool take_place(const char *text, enum uftrace_machine machine)
{
	static const struct {
		enum uftrace_machine machine;
		const char *name; /* a number follows where it ends in '#', from 0 to 7 */
	} registers[] = {
		{ UFTRACE_MACHINE_X86, "rdi" },	   { UFTRACE_MACHINE_X86, "rsi" },    { UFTRACE_MACHINE_X86, "rdx" },
		{ UFTRACE_MACHINE_X86, "rcx" },	   { UFTRACE_MACHINE_X86, "r8" },     { UFTRACE_MACHINE_X86, "r9" },
		{ UFTRACE_MACHINE_X86, "ecx" },	   { UFTRACE_MACHINE_X86, "edx" },    { UFTRACE_MACHINE_X86, "xmm#" },
		{ UFTRACE_MACHINE_ARM, "r#" },	   { UFTRACE_MACHINE_ARM, "s#" },     { UFTRACE_MACHINE_ARM, "d#" },
		{ UFTRACE_MACHINE_AARCH64, "x#" }, { UFTRACE_MACHINE_AARCH64, "s#" }, { UFTRACE_MACHINE_AARCH64, "d#" },
		{ UFTRACE_MACHINE_RISCV, "a#" },   { UFTRACE_MACHINE_RISCV, "fa#" },
	};

	if (!strncmp(text, "stack", 5))
		return true;
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		const char *name = registers[i].name;
		size_t n = strcspn(name, "#");
		if (registers[i].machine != machine || strncasecmp(text, name, n) != 0)
			continue;
		if (name[n] ? text[n] >= '0' && text[n] <= '7' && !text[n + 1] : !text[n])
			return true;
	}
	return false;
}

/* Behind "/": a letter and a size; of floating arguments a size alone, too. */
static bool take_format(struct item_text *t, const struct uftrace_argspec_of *of, struct uftrace_item *item)
{
	bool floating = item->floating;
	char format = '\0';
	long number;

	if (!(item->floating && is_digit(*t->at)))
		format = *t->at ? *t->at++ : '?';
	switch (format) {
	case 't': /* a structure: its bytes, and behind them its name and registers */
		if (!take_number(t, &number))
			number = 0;
		item->size = (uint16_t)number;
		t->at += strlen(t->at);
		return number >= 0 && number <= (long)UFTRACE_PAYLOAD_MAX;
	case 'e': /* "e:name" of an enumeration */
		if (*t->at++ != ':' || !*t->at)
			return false;
		t->at += strcspn(t->at, "%");
		return true;
	case 's':
	case 'S':
		item->string = true;
		break;
	case 'o':
		if (!of->octal)
			return false;
		break;
	case 'c':
		item->size = 1;
		break;
	case 'f':
		floating = true;
		item->size = 8;
		break;
	case '\0':
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'p':
		break;
	default:
		return false;
	}
	if (!*t->at || *t->at == '%')
		return true;
	return take_number(t, &number) && set_bits(item, number, floating);
}

/* Behind its name: format and place. */
static bool take_rest(struct item_text *t, const struct uftrace_argspec_of *of, struct uftrace_item *item)
{
	if (*t->at == '/') {
		t->at++;
		if (!take_format(t, of, item))
			return false;
	}
	return !*t->at || (*t->at == '%' && take_place(t->at + 1, of->machine));
}

/* Words for other things than arguments; what follows them does not matter. */
static bool is_trigger(const char *text)
{
	static const char *const words[] = { "filter", "notrace", "hide",    "depth=", "time=",	 "size=",     "trace",
					     "color=", "read=",	  "recover", "finish", "caller", "backtrace", "auto-args" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Whether the module is the one that an item names, by the beginning of its name. */
static bool is_module(const char *text, const struct uftrace_argspec_of *of)
{
	if (!of->module.text)
		return true;
	if (!strcasecmp(text, "plt"))
		return of->plt;
	size_t n = strlen(text);
	return n <= of->module.length && !memcmp(text, of->module.text, n);
}

enum item_kind { ITEM_ARGUMENT, ITEM_OTHER, ITEM_ELSEWHERE, ITEM_REFUSED };

static enum item_kind read_item(const char *text, const struct uftrace_argspec_of *of, struct uftrace_item *item)
{
	struct item_text t = { text };
	long number = 0;

	*item = (struct uftrace_item){ .size = (uint16_t)of->long_size };
	if (take_word(&t, "retval")) {
		item->retval = true;
	} else if (take_word(&t, "fparg") || take_word(&t, "arg")) {
		item->floating = text[0] == 'f';
		item->size = item->floating ? 8 : item->size;
		if (!is_digit(*t.at) || !take_number(&t, &number))
			return ITEM_REFUSED;
		item->index = (uint16_t)(number < UINT16_MAX ? number : UINT16_MAX);
	} else if (is_trigger(text)) {
		return ITEM_OTHER;
	} else {
		return is_module(text, of) ? ITEM_OTHER : ITEM_ELSEWHERE;
	}
	if (!take_rest(&t, of, item))
		return ITEM_REFUSED;
	/* "arg0" is none, and stands for no bytes; with it, what is recorded automatically is not. */
	if (!item->retval && !item->index) {
		item->size = 0;
		item->string = false;
	}
	return ITEM_ARGUMENT;
}

static void add_item(struct uftrace_item *items, size_t *count, const struct uftrace_item *item)
{
	size_t k = 0;

	while (k < *count && (items[k].index != item->index || items[k].floating != item->floating))
		k++;
	if (k == *count && *count < UFTRACE_ITEMS_MAX)
		++*count;
	if (k < UFTRACE_ITEMS_MAX)
		items[k] = *item;
}

#define ITEM_LENGTH_MAX 1023u /* of one item; names of structures and enumerations are in it */

enum uftrace_argspec_state uftrace_argspec_items(struct uftrace_str t, const struct uftrace_argspec_of *of, bool retval,
						 struct uftrace_item *items, size_t *count, bool *any)
{
	struct uftrace_item own[UFTRACE_ITEMS_MAX];
	size_t own_count = 0;
	bool elsewhere = false, found[2] = { false, false }, refused[2] = { false, false }; /* of arguments, of the value */

	for (size_t at = 0; at < t.length;) {
		const char *comma = memchr(t.text + at, ',', t.length - at);
		size_t length = comma ? (size_t)(comma - t.text) - at : t.length - at;
		struct uftrace_item item;
		char text[ITEM_LENGTH_MAX + 1];
		if (length > ITEM_LENGTH_MAX || memchr(t.text + at, '\0', length))
			return UFTRACE_ARGSPEC_REFUSED;
		memcpy(text, t.text + at, length);
		text[length] = '\0';
		at += length + 1;
		enum item_kind kind = read_item(text, of, &item);
		elsewhere |= kind == ITEM_ELSEWHERE;
		refused[item.retval] |= kind == ITEM_REFUSED;
		if (kind != ITEM_ARGUMENT)
			continue;
		found[item.retval] = true;
		if (item.retval == retval)
			add_item(own, &own_count, &item);
	}
	/* Readers go through it once for each, and pass over the items of the other. */
	*any |= !elsewhere && ((found[0] && !refused[0]) || (found[1] && !refused[1]));
	if (refused[retval])
		return UFTRACE_ARGSPEC_REFUSED;
	if (elsewhere)
		return UFTRACE_ARGSPEC_ELSEWHERE;
	for (size_t i = 0; i < own_count; i++)
		add_item(items, count, &own[i]);
	return UFTRACE_ARGSPEC_TAKEN;
}

/* See struct uftrace_spec. */
static unsigned fixed_size(const struct uftrace_item *items, size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		if (items[i].string)
			return 0;
		at += ((size_t)items[i].size + 3) & ~(size_t)3;
	}
	at = (at + 7) & ~(size_t)7;
	return at <= UFTRACE_PAYLOAD_MAX ? (unsigned)at : 0;
}

struct uftrace_spec *uftrace_argspec_known(const struct uftrace_item *items, size_t count)
{
	struct uftrace_spec *spec = malloc(sizeof(*spec) + count * sizeof(*items));

	if (!spec)
		return NULL;
	spec->state = UFTRACE_SPEC_KNOWN;
	spec->fixed = fixed_size(items, count);
	spec->count = count;
	memcpy(spec->items, items, count * sizeof(*items));
	return spec;
}

int uftrace_argspec_size(const struct uftrace_spec *spec, const uint8_t *data, size_t size, bool big_endian,
			 struct uftrace_strings *strings)
{
	size_t at = 0;

	*strings = (struct uftrace_strings){ 0 };
	if (spec->fixed)
		return spec->fixed <= size ? (int)spec->fixed : -1;
	for (size_t i = 0; i < spec->count; i++) {
		size_t length = spec->items[i].size;
		if (spec->items[i].string) {
			if (at + 2 > size)
				return -1;
			length = load_u16(data + at, big_endian);
			if (length > strings->longest)
				strings->longest = (unsigned)length;
			/* Some count the NUL behind it. */
			if (length > 1 && length <= size - at - 2 && memchr(data + at + 2, '\0', length - 1))
				strings->nul = true;
			length += 2;
		}
		at += (length + 3) & ~(size_t)3;
		if (at > UFTRACE_PAYLOAD_MAX)
			return -1;
	}
	at = (at + 7) & ~(size_t)7;
	return at > size ? -1 : (int)at;
}
