/* The layout of values whose specification is lost, guessed from many records of one function.
 *
 * The hypotheses are all sequences of up to six values, each of 4 bytes, of 8 bytes or a string, with at least one string; a
 * record contradicts those whose length differs from its own or whose strings are not text. A few records may: where a value looks
 * like a record, those before it seem shorter than they are. The fourth contradiction within some thousand records is one too many.
 * What has always the same length is a number, or bytes. */
#include "formats/uftrace/salvage/uftrace_guess.h"

#include <stdio.h>

#include "core/bytes.h"
#include "formats/uftrace/decode/uftrace_record.h"

#define VALUES_MAX 6u
#define HYPOTHESES 1092u /* 3 + 9 + 27 + 81 + 243 + 729 */

_Static_assert(HYPOTHESES <= 64 * UFTRACE_GUESS_WORDS, "a bit for each hypothesis");

enum value { VALUE_STRING, VALUE_8, VALUE_4 };

struct layout {
	unsigned count, strings;
	enum value values[VALUES_MAX];
};

static struct layout layout_of(unsigned hypothesis)
{
	struct layout l = { .count = 1 };

	for (unsigned size = 3; hypothesis >= size; size *= 3, l.count++)
		hypothesis -= size;
	for (unsigned i = 0; i < l.count; i++, hypothesis /= 3) {
		l.values[i] = (enum value)(hypothesis % 3);
		l.strings += l.values[i] == VALUE_STRING;
	}
	return l;
}

static bool is_text(const uint8_t *p, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((p[i] < 32 && p[i] != '\t' && p[i] != '\n' && p[i] != '\r' && p[i] != 27) || p[i] == 127)
			return false;
	return true;
}

/* The bytes of all strings; -1: the values are not so laid out. *shortest: of the shortest string. */
static int letters_of(const struct layout *l, const uint8_t *p, size_t size, bool big, size_t *shortest)
{
	size_t at = 0, letters = 0;

	*shortest = SIZE_MAX;
	for (unsigned i = 0; i < l->count; i++) {
		size_t length = l->values[i] == VALUE_4 ? 4 : 8;
		if (l->values[i] == VALUE_STRING) {
			if (size - at < 2)
				return -1;
			size_t n = load_u16(p + at, big);
			if (n > UFTRACE_STRING_WRITER_MAX || n + 2 > size - at || !is_text(p + at + 2, n))
				return -1;
			letters += n;
			*shortest = n < *shortest ? n : *shortest;
			length = (n + 2 + 3) & ~(size_t)3;
		}
		if (length > size - at)
			return -1;
		at += length;
	}
	return ((at + 7) & ~(size_t)7) == size ? (int)letters : -1;
}

/* The most frequent of many sizes is found with room for few (Misra and Gries 1982). */
static void count_size(struct uftrace_guess *g, size_t size)
{
	unsigned empty = UFTRACE_GUESS_SIZES;

	g->count++;
	for (unsigned i = 0; i < UFTRACE_GUESS_SIZES; i++) {
		if (g->often[i] && g->sizes[i] == size) {
			g->often[i]++;
			g->exact[i]++;
			return;
		}
		empty = g->often[i] ? empty : i;
	}
	if (empty < UFTRACE_GUESS_SIZES) {
		g->sizes[empty] = (uint16_t)size;
		g->often[empty] = g->exact[empty] = 1;
		return;
	}
	for (unsigned i = 0; i < UFTRACE_GUESS_SIZES; i++)
		g->often[i]--;
}

/* The size that all records have, or all but few. */
static bool fixed_size(const struct uftrace_guess *g, unsigned *size)
{
	for (unsigned i = 0; i < UFTRACE_GUESS_SIZES; i++)
		if (g->often[i] && (g->count - g->exact[i]) * UFTRACE_GUESS_STRAY <= g->count) {
			*size = g->sizes[i];
			return true;
		}
	return false;
}

/* One more contradiction of the hypotheses of a word. */
static void contradict(struct uftrace_guess *g, unsigned word, uint64_t bits)
{
	uint64_t carry = g->against[0][word] & bits;

	g->against[0][word] ^= bits;
	g->dead[word] |= g->against[1][word] & carry;
	g->against[1][word] ^= carry;
}

/* One contradiction less, where there are some. */
static void forget(struct uftrace_guess *g)
{
	for (unsigned i = 0; i < sizeof(g->dead) / sizeof(g->dead[0]); i++) {
		uint64_t some = g->against[0][i] | g->against[1][i], borrow = some & ~g->against[0][i];
		g->against[0][i] ^= some;
		g->against[1][i] ^= borrow;
	}
}

static unsigned contradictions(const struct uftrace_guess *g, unsigned hypothesis)
{
	unsigned word = hypothesis >> 6, bit = hypothesis & 63;
	return (unsigned)(g->against[0][word] >> bit & 1) + 2 * (unsigned)(g->against[1][word] >> bit & 1);
}

void uftrace_guess_take(struct uftrace_guess *g, const uint8_t *p, size_t size, bool big_endian)
{
	count_size(g, size);
	if (g->count % UFTRACE_GUESS_LEAK == 0)
		forget(g);
	unsigned most = 0;
	for (unsigned i = 0; i < HYPOTHESES; i++) {
		uint64_t bit = UINT64_C(1) << (i & 63);
		if (g->dead[i >> 6] == UINT64_MAX)
			i |= 63; /* none of its word is left */
		if (g->dead[i >> 6] & bit)
			continue;
		struct layout l = layout_of(i);
		size_t shortest;
		int letters = l.strings ? letters_of(&l, p, size, big_endian, &shortest) : -1;
		if (letters < 0)
			contradict(g, i >> 6, bit);
		else if (shortest && (unsigned)letters > most)
			most = (unsigned)letters;
	}
	/* What speaks for strings best. */
	if ((!g->any || most > g->letters) && size <= sizeof(g->sample)) {
		if (size)
			memcpy(g->sample, p, size);
		g->sample_size = (uint16_t)size;
		g->letters = (uint16_t)most;
	}
	g->any = true;
}

/* The first layout of those that the fewest records contradict, and that the sample has in strings with letters. */
static bool find_layout(const struct uftrace_guess *g, bool retval, bool big, struct layout *out)
{
	for (unsigned against = 0; against <= 3 && against * UFTRACE_GUESS_STRAY <= g->count; against++)
		for (unsigned i = 0; g->letters >= 2 && i < HYPOTHESES; i++) {
			size_t shortest;
			*out = layout_of(i);
			if (!(g->dead[i >> 6] >> (i & 63) & 1) && contradictions(g, i) == against && out->strings &&
			    !(retval && out->count > 1) && letters_of(out, g->sample, g->sample_size, big, &shortest) >= 2 &&
			    shortest)
				return true;
		}
	return false;
}

bool uftrace_guess_items(const struct uftrace_guess *g, bool retval, bool big_endian, char out[UFTRACE_GUESS_TEXT])
{
	struct layout l;

	if (!g->any)
		return false;
	if (!find_layout(g, retval, big_endian, &l)) {
		unsigned size;
		if (!fixed_size(g, &size))
			return false;
		const char *name = retval ? "retval" : "arg1";
		if (size == 8)
			snprintf(out, UFTRACE_GUESS_TEXT, "%s/x64", name);
		else
			snprintf(out, UFTRACE_GUESS_TEXT, "%s/t%u", name, size);
		return true;
	}
	if (retval) {
		snprintf(out, UFTRACE_GUESS_TEXT, "retval/s");
		return true;
	}
	size_t n = 0;
	for (unsigned i = 0; i < l.count; i++)
		n += (size_t)snprintf(out + n, UFTRACE_GUESS_TEXT - n, "%sarg%u/%s", i ? "," : "", i + 1,
				      l.values[i] == VALUE_STRING ? "s"
				      : l.values[i] == VALUE_4	  ? "x32"
								  : "x64");
	return true;
}
