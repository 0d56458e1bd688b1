/* Options: checks that use nothing but their bytes. */
#include "core/bytes.h"
#include "formats/tracedat/decode/tracedat_option_layout.h"

const char *tracedat_clock_name(const char *text, size_t size, size_t *length)
{
	const char *open = memchr(text, '[', size);
	const char *close = open ? memchr(open, ']', size - (size_t)(open - text)) : NULL;
	*length = close ? (size_t)(close - open - 1) : 0;
	/* trace-cmd's readers take the first word behind the bracket, and die where there is none. */
	if (*length && (!open[1] || open[1] == ' ' || open[1] == '['))
		*length = 0;
	return close ? open + 1 : NULL;
}

static const char *const clocks[] = { "local", "global", "counter", "uptime", "perf",	  "mono",    "mono_raw",
				      "boot",  "tai",	 "x86-tsc", "ppc-tb", "s390-tod", "tsc2nsec" };

bool tracedat_clock_known(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (strlen(clocks[i]) == length && !memcmp(clocks[i], name, length))
			return true;
	return false;
}

bool tracedat_options_fit(const struct tracedat_shape *shape, const uint8_t *data, size_t at, size_t end)
{
	while (end - at >= 2) {
		uint16_t id = load_u16(data + at, shape->big_endian);
		if (shape->version == 6 && !id)
			return at + 2 == end;
		if (end - at < TRACEDAT_OPTION_HEADER || id > TRACEDAT_ID_LATER)
			return false;
		uint32_t size = load_u32(data + at + 2, shape->big_endian);
		if (size > end - at - TRACEDAT_OPTION_HEADER)
			return false;
		at += TRACEDAT_OPTION_HEADER + size;
		if (!id)
			return size == 8 && at == end;
	}
	return false;
}

size_t tracedat_options_lead(const struct tracedat_shape *shape, const uint8_t *data, size_t from, size_t stop)
{
	const size_t done = shape->version == 6 ? 2 : TRACEDAT_OPTION_HEADER + 8;
	uint8_t leads[TRACEDAT_OPTIONS_LEAD_MAX / 8] = { 0 }; /* a bit for each place in front of stop */
	size_t first = SIZE_MAX;

	if (stop - from > TRACEDAT_OPTIONS_LEAD_MAX - 1)
		from = stop - (TRACEDAT_OPTIONS_LEAD_MAX - 1);
	if (stop - from < done || load_u16(data + stop - done, shape->big_endian) ||
	    (shape->version != 6 && load_u32(data + stop - 8 - 4, shape->big_endian) != 8))
		return SIZE_MAX;
	bit_set(leads, done);
	for (size_t back = done + TRACEDAT_OPTION_HEADER; back <= stop - from; back++) {
		const uint8_t *p = data + stop - back;
		unsigned id = load_u16(p, shape->big_endian);
		uint32_t size = load_u32(p + 2, shape->big_endian);
		if (id - 1u >= TRACEDAT_ID_LATER || size > back - TRACEDAT_OPTION_HEADER - done)
			continue;
		size_t behind = back - TRACEDAT_OPTION_HEADER - size;
		if (bit_get(leads, behind)) {
			bit_set(leads, back);
			/* One of a later version counts where a known one leads to it. */
			first = id <= TRACEDAT_ID_LAST ? stop - back : first;
		}
	}
	return first;
}

/* The one known clock of which these bytes, with their NUL, differ in one byte; NULL: none, or several. */
static const char *clock_but_one(const uint8_t *p, size_t size)
{
	const char *found = NULL;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		size_t differ = 0;
		if (strlen(clocks[i]) + 1 != size)
			continue;
		for (size_t j = 0; j < size; j++)
			differ += p[j] != (uint8_t)clocks[i][j];
		if (differ == 1 && found)
			return NULL;
		if (differ == 1)
			found = clocks[i];
	}
	return found;
}

/* Bytes that are looked at behind the texts for the numbers, where bytes were inserted in front of these. */
#define NUMBERS_AWAY 64u

/* Whether the page size and the number of CPUs may be at p + at: their entries fit in, or fill the payload. Only then they are
 * taken. */
static bool numbers_at(const uint8_t *p, size_t size, size_t at, bool be, bool fill, struct tracedat_buffer_layout *l)
{
	if (size < at || size - at < 8 + 20)
		return false;
	uint32_t page = load_u32(p + at, be), count = load_u32(p + at + 4, be);
	size_t most = (size - at - 8) / 20;
	if (!tracedat_page_size_ok(page) || !count || count > most || (fill && (uint64_t)count * 20 != size - at - 8))
		return false;
	l->page_size = page;
	l->count = count;
	l->entries = at + 8;
	l->fitting = count;
	l->clock_mended = true;
	return true;
}

/* A clock with a byte that became NUL, or without its NUL, moves all that follows. The numbers behind a known clock fill the option
 * again. */
static bool clock_mend(const uint8_t *p, size_t size, bool be, struct tracedat_buffer_layout *l)
{
	size_t from = 8 + l->name_size;
	for (size_t length = 4; length <= 9 && size - from >= length + 8; length++) {
		const char *clock = clock_but_one(p + from, length);
		if (!clock || !numbers_at(p, size, from + length, be, true, l))
			continue;
		l->clock = clock;
		l->clock_size = length;
		return true;
	}
	return false;
}

/* Bytes of the offset are gone, and a known clock stands where the name of the buffer should, which is empty: zeros of both are one
 * row. */
static bool offset_mend(const uint8_t *p, size_t size, bool be, bool fill, struct tracedat_buffer_layout *l)
{
	for (size_t from = 2; from <= 8; from++) {
		const uint8_t *nul = size - from >= 8 + 20 && !p[from - 1] ? memchr(p + from, 0, size - from) : NULL;
		size_t length = nul ? (size_t)(nul - p) - from : 0;
		if (!length || !tracedat_clock_known((const char *)p + from, length) ||
		    !numbers_at(p, size, from + length + 1, be, fill, l))
			continue;
		l->name = (const char *)p + from - 1;
		l->name_size = 1;
		l->clock = (const char *)p + from;
		l->clock_size = length + 1;
		l->offset = be ? l->offset >> (8 * (9 - from)) : l->offset & ((UINT64_C(1) << (8 * (from - 1))) - 1);
		return true;
	}
	return false;
}

/* Bytes that were removed or inserted move the numbers of a BUFFER payload. */
static void numbers_mend(const uint8_t *p, size_t size, bool be, bool fill, struct tracedat_buffer_layout *l)
{
	const size_t texts = 8 + l->name_size + l->clock_size;
	if (offset_mend(p, size, be, fill, l))
		return;
	for (size_t away = 1; away <= NUMBERS_AWAY && size > texts + away; away++)
		if (numbers_at(p, size, texts + away, be, fill, l))
			return;
}

size_t tracedat_buffer_measure(const uint8_t *p, size_t room, bool be)
{
	struct tracedat_buffer_layout l;
	if (!tracedat_buffer_layout(p, room, be, false, &l))
		return 0;
	if (!l.clock_mended && (!tracedat_page_size_ok(l.page_size) || l.count > l.fitting))
		numbers_mend(p, room, be, false, &l);
	return l.count <= l.fitting ? l.entries + 20 * (size_t)l.count : 0;
}

/* Cuts a BUFFER payload (MAN7 "OPTIONS"). False where not even the texts end. */
bool tracedat_buffer_layout(const uint8_t *p, size_t size, bool be, bool text, struct tracedat_buffer_layout *l)
{
	*l = (struct tracedat_buffer_layout){ 0 };
	if (size < 10)
		return false;
	l->offset = load_u64(p, be);
	l->name = (const char *)p + 8;
	const uint8_t *nul = memchr(p + 8, 0, size - 8);
	if (!nul)
		return false;
	l->name_size = (size_t)(nul - p) - 7;
	l->clock = l->name + l->name_size;
	size_t at = 8 + l->name_size;
	nul = memchr(p + at, 0, size - at);
	if (!nul)
		return false;
	l->clock_size = (size_t)(nul - p) - at + 1;
	at += l->clock_size;
	if (text) {
		l->exact = at == size;
		return true;
	}
	if (size - at < 8)
		return false;
	l->page_size = load_u32(p + at, be);
	l->count = load_u32(p + at + 4, be);
	l->entries = at + 8;
	l->fitting = (size - at - 8) / 20;
	l->exact = (uint64_t)l->count * 20 == size - at - 8;
	if (!l->exact && !clock_mend(p, size, be, l))
		numbers_mend(p, size, be, true, l);
	return true;
}
