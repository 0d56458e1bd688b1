/* Argument specifications: "arg1,arg2/s,retval/i32". */
#include "formats/uftrace/decode/uftrace_argspec.h"

#include <string.h>

#include "core/bytes.h"
#include "formats/uftrace/decode/uftrace_record.h"

static bool item_parse(struct uftrace_str t, unsigned long_size, struct uftrace_item *item, bool *ignored)
{
	size_t at = 0;
	bool fp = false;

	*item = (struct uftrace_item){ .size = (uint16_t)long_size };
	*ignored = false;
	if (t.length >= 6 && !memcmp(t.text, "retval", 6)) {
		item->retval = true;
		at = 6;
	} else if ((t.length > 3 && !memcmp(t.text, "arg", 3)) || (t.length > 5 && !memcmp(t.text, "fparg", 5))) {
		fp = t.text[0] == 'f';
		at = fp ? 5 : 3;
		unsigned index = 0;
		while (at < t.length && t.text[at] >= '0' && t.text[at] <= '9' && index < 1000)
			index = index * 10 + (unsigned)(t.text[at++] - '0');
		if (!index)
			return false;
		item->index = (uint16_t)index;
		item->floating = fp;
		if (fp)
			item->size = 8;
	} else {
		*ignored = true; /* a module, or another trigger */
		return true;
	}
	if (at >= t.length || t.text[at] == '%')
		return true;
	if (t.text[at++] != '/')
		return false;
	char format = 0;
	if (at < t.length && !(t.text[at] >= '0' && t.text[at] <= '9'))
		format = t.text[at++];
	if (format == 's' || format == 'S') {
		item->string = true;
		return true;
	}
	if (format == 'e')
		return at < t.length && t.text[at] == ':';
	unsigned bits = 0;
	bool digits = false;
	while (at < t.length && t.text[at] >= '0' && t.text[at] <= '9' && bits < 100000) {
		bits = bits * 10 + (unsigned)(t.text[at++] - '0');
		digits = true;
	}
	switch (format) {
	case 0:
	case 'f':
		if (format == 'f' || fp)
			item->size = 8;
		if (digits && bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 80)
			return false;
		if (digits)
			item->size = (uint16_t)(bits / 8);
		return true;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'o':
		if (digits && bits != 8 && bits != 16 && bits != 32 && bits != 64)
			return false;
		if (digits)
			item->size = (uint16_t)(bits / 8);
		return true;
	case 'c':
		item->size = 1;
		return true;
	case 'p':
		return true;
	case 't':
		if (!digits || bits > UFTRACE_PAYLOAD_MAX)
			return false;
		item->size = (uint16_t)bits;
		return true;
	default:
		return false;
	}
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
