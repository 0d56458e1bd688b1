/* Argument specifications: "arg1,arg2/s,retval/i32". */
#include "formats/uftrace/decode/uftrace_argspec.h"

#include <string.h>

#include "core/bytes.h"
#include "formats/uftrace/decode/uftrace_record.h"

static bool is_digit(struct uftrace_str t, size_t at)
{
	return at < t.length && t.text[at] >= '0' && t.text[at] <= '9';
}

/* The number at *at, up to about max; *at goes behind it. */
static unsigned number(struct uftrace_str t, size_t *at, unsigned max)
{
	unsigned value = 0;

	while (is_digit(t, *at) && value < max)
		value = value * 10 + (unsigned)(t.text[(*at)++] - '0');
	return value;
}

/* What the item is of: "retval", "arg<n>" or "fparg<n>". *at: behind it; 0: something else. False: the index is missing. */
static bool item_name(struct uftrace_str t, struct uftrace_item *item, size_t *at)
{
	bool floating = t.length > 5 && !memcmp(t.text, "fparg", 5);

	if (t.length >= 6 && !memcmp(t.text, "retval", 6)) {
		item->retval = true;
		*at = 6;
		return true;
	}
	if (!floating && !(t.length > 3 && !memcmp(t.text, "arg", 3))) {
		*at = 0;
		return true;
	}
	*at = floating ? 5 : 3;
	item->index = (uint16_t)number(t, at, 1000);
	item->floating = floating;
	if (floating)
		item->size = 8;
	return item->index != 0;
}

/* A size in bits that a register can have; long double has 80. */
static bool set_bits(struct uftrace_item *item, unsigned bits, bool floating)
{
	item->size = (uint16_t)(bits / 8);
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 || (floating && bits == 80);
}

/* What is behind the slash: a letter, and a size. */
static bool item_format(struct uftrace_str t, size_t at, struct uftrace_item *item)
{
	char format = at < t.length && !is_digit(t, at) ? t.text[at++] : '\0';
	size_t from = at;
	unsigned size = number(t, &at, 100000);
	bool sized = at > from;

	switch (format) {
	case 's':
	case 'S':
		item->string = true;
		return true;
	case 'e': /* "e:name" of an enumeration */
		return at < t.length && t.text[at] == ':' && !sized;
	case '\0':
	case 'f':
		if (format == 'f')
			item->size = 8;
		return !sized || set_bits(item, size, true);
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'o':
		return !sized || set_bits(item, size, false);
	case 'c':
		item->size = 1;
		return true;
	case 'p':
		return true;
	case 't': /* a structure: its bytes */
		item->size = (uint16_t)size;
		return sized && size <= UFTRACE_PAYLOAD_MAX;
	default:
		return false;
	}
}

static bool item_parse(struct uftrace_str t, unsigned long_size, struct uftrace_item *item, bool *ignored)
{
	size_t at;

	*item = (struct uftrace_item){ .size = (uint16_t)long_size };
	if (!item_name(t, item, &at))
		return false;
	*ignored = !at; /* a module, or another trigger */
	if (!at || at >= t.length || t.text[at] == '%')
		return true;
	return t.text[at] == '/' && item_format(t, at + 1, item);
}

/* Splits at the commas; false at the first item that is not understood. */
bool uftrace_argspec_items(struct uftrace_str t, unsigned long_size, bool retval, struct uftrace_item *items, size_t *count)
{
	for (size_t at = 0; at < t.length;) {
		const char *comma = memchr(t.text + at, ',', t.length - at);
		struct uftrace_str one = { t.text + at, comma ? (size_t)(comma - t.text) - at : t.length - at };
		struct uftrace_item item;
		bool ignored;
		at += one.length + 1;
		if (!one.length)
			continue;
		if (!item_parse(one, long_size, &item, &ignored))
			return false;
		if (ignored || item.retval != retval)
			continue;
		size_t k = 0;
		while (k < *count && (items[k].index != item.index || items[k].floating != item.floating))
			k++;
		if (k == *count && *count < UFTRACE_ITEMS_MAX)
			++*count;
		if (k < UFTRACE_ITEMS_MAX)
			items[k] = item;
	}
	return true;
}

int uftrace_argspec_size(const struct uftrace_spec *spec, const uint8_t *data, size_t size, bool big_endian, unsigned *longest)
{
	size_t at = 0;

	*longest = 0;
	for (size_t i = 0; i < spec->count; i++) {
		size_t length = spec->items[i].size;
		if (spec->items[i].string) {
			if (at + 2 > size)
				return -1;
			length = load_u16(data + at, big_endian);
			if (length > *longest)
				*longest = (unsigned)length;
			length += 2;
		}
		at += (length + 3) & ~(size_t)3;
		if (at > UFTRACE_PAYLOAD_MAX)
			return -1;
	}
	at = (at + 7) & ~(size_t)7;
	return at > size ? -1 : (int)at;
}
