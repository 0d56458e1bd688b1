/* Version 6 with wrong sizes: blocks are searched from both ends, forward by their texts, backward from the data tag by
 * sizes that lead exactly to a known block. */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_place.h"
#include "formats/tracedat/scan/tracedat_v6.h"

/* Bytes behind the command lines in which the first page of events is searched. */
#define EVENTS_SEARCH_MAX (1024u * 1024)

size_t tracedat_v6_find(const struct tracedat_v6 *v, size_t from, const char *what, size_t length)
{
	if (from >= v->size)
		return TRACEDAT_V6_UNKNOWN;
	const uint8_t *p = memmem(v->data + from, v->size - from, what, length);
	return p ? (size_t)(p - v->data) : TRACEDAT_V6_UNKNOWN;
}

/* The first of the three tags at or after `from`. */
static size_t find_tag(const struct tracedat_v6 *v, size_t from)
{
	size_t a = tracedat_v6_find(v, from, "options  ", 10), b = tracedat_v6_find(v, from, "flyrecord", 10);
	size_t c = tracedat_v6_find(v, from, "latency  ", 10);
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* The systems: the first format that follows a name and a count instead of another format. */
static size_t find_systems(const struct tracedat_v6 *v, size_t from, size_t end)
{
	const uint8_t *d = v->data;
	for (size_t at = from; at < end;) {
		const uint8_t *p = memmem(d + at, end - at, "name:", 5);
		if (!p)
			return TRACEDAT_V6_UNKNOWN;
		size_t text = (size_t)(p - d);
		at = text + 5;
		if (text < from + 18 || d[text - 13])
			continue;
		size_t name = text - 13;
		while (name > from + 4 && name + 255 > text - 13 && d[name - 1] > 0x20 && d[name - 1] < 0x7f)
			name--;
		/* The last bytes of the number of systems may be printable: it follows the last line of the ftrace formats. */
		for (size_t i = 1; i < 4 && name + i < text - 13 && d[name - 5] != '\n'; i++)
			if (d[name - 5 + i] == '\n')
				name += i;
		if (name < text - 13 && load_u32(d + text - 12, v->w->shape.big_endian) - 1 < 65536)
			return name - 4;
	}
	return TRACEDAT_V6_UNKNOWN;
}

/* The offset, at or after `low`, of a size of `width` bytes whose text ends exactly at `to`. */
static size_t find_size(const struct tracedat_v6 *v, size_t low, size_t to, size_t width,
			bool (*fits)(const uint8_t *text, size_t size))
{
	if (to == TRACEDAT_V6_UNKNOWN || to < width)
		return TRACEDAT_V6_UNKNOWN;
	for (size_t at = to - width + 1; at-- > low;) {
		uint64_t size = width == 8 ? load_u64(v->data + at, v->w->shape.big_endian)
					   : load_u32(v->data + at, v->w->shape.big_endian);
		if (size == to - at - width && fits(v->data + at + width, (size_t)size))
			return at;
	}
	return TRACEDAT_V6_UNKNOWN;
}

static bool fits_printk(const uint8_t *text, size_t size)
{
	return !size || (size > 2 && text[0] == '0' && text[1] == 'x');
}

static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool fits_kallsyms(const uint8_t *text, size_t size)
{
	return !size || (size > 4 && is_hex(text[0]) && is_hex(text[1]));
}

static bool fits_cmdlines(const uint8_t *text, size_t size)
{
	return !size || (text[0] >= '0' && text[0] <= '9') || text[0] == '-';
}

/* Where lines in the syntax of the block end. */
static size_t measure_lines(const struct tracedat_v6 *v, size_t at, size_t end, bool printk)
{
	const uint8_t *d = v->data;
	while (at < end) {
		const uint8_t *lf = memchr(d + at, '\n', end - at);
		size_t stop = lf ? (size_t)(lf - d) : end;
		bool fine = stop - at >= 6 && (printk ? d[at] == '0' && d[at + 1] == 'x' : is_hex(d[at]) && is_hex(d[at + 1]));
		if (!lf || !fine || memchr(d + at, 0, stop - at))
			break;
		at = stop + 1;
	}
	return at;
}

/* Where text that ends at `end` begins: behind the last byte that is no text. */
static size_t measure_back(const struct tracedat_v6 *v, size_t low, size_t end)
{
	size_t at = end;
	while (at > low && v->data[at - 1])
		at--;
	/* The last bytes of a big-endian size may be printable. */
	size_t first = at;
	while (at < end && at < first + 3 && (v->data[at] < '0' || v->data[at] > '9'))
		at++;
	return at;
}

/* Blocks in front of a known one, by sizes that lead exactly to it. */
static void texts_backward(struct tracedat_v6 *v, size_t low)
{
	struct tracedat_v6_map *m = &v->m;
	if (m->printk == TRACEDAT_V6_UNKNOWN)
		m->printk = find_size(v, low, m->cmdlines, 4, fits_printk);
	if (m->kallsyms == TRACEDAT_V6_UNKNOWN)
		m->kallsyms = find_size(v, low, m->printk, 4, fits_kallsyms);
}

/* printk formats behind known symbols: where the lines of the symbols end, or where their size leads if printk formats begin
 * there. */
static void printk_forward(struct tracedat_v6 *v, size_t end)
{
	struct tracedat_v6_map *m = &v->m;
	size_t stop = m->cmdlines != TRACEDAT_V6_UNKNOWN ? m->cmdlines : end;

	if (m->kallsyms > stop || stop - m->kallsyms < 4)
		return;
	uint32_t declared = load_u32(v->data + m->kallsyms, v->w->shape.big_endian);
	size_t at = measure_lines(v, m->kallsyms + 4, stop, false);
	size_t claimed = declared <= stop - m->kallsyms - 4 ? m->kallsyms + 4 + declared : TRACEDAT_V6_UNKNOWN;

	if (claimed != TRACEDAT_V6_UNKNOWN && stop - claimed >= 8 && v->data[claimed + 4] == '0' && v->data[claimed + 5] == 'x')
		at = claimed;
	if (stop - at >= 4)
		m->printk = at;
}

/* The same for command lines behind known printk formats. */
static void cmdlines_forward(struct tracedat_v6 *v, size_t end)
{
	struct tracedat_v6_map *m = &v->m;

	if (m->printk > end || end - m->printk < 4)
		return;
	uint32_t declared = load_u32(v->data + m->printk, v->w->shape.big_endian);
	size_t at = measure_lines(v, m->printk + 4, end, true);
	size_t claimed = declared <= end - m->printk - 4 ? m->printk + 4 + declared : TRACEDAT_V6_UNKNOWN;

	if (claimed != TRACEDAT_V6_UNKNOWN && end - claimed >= 9 && v->data[claimed + 8] >= '0' && v->data[claimed + 8] <= '9')
		at = claimed;
	if (end - at >= 8)
		m->cmdlines = at;
}

/* Symbols in front of known printk formats whose size was hit, and maybe the first of them: text that holds more than one line. */
static void kallsyms_backward(struct tracedat_v6 *v, size_t low)
{
	struct tracedat_v6_map *m = &v->m;
	size_t text = measure_back(v, low, m->printk);
	const uint8_t *lf = memchr(v->data + text, '\n', m->printk - text);
	size_t second = lf ? (size_t)(lf - v->data) + 1 : m->printk;

	if (text >= low + 4 && second < m->printk && measure_lines(v, second, m->printk, false) == m->printk)
		m->kallsyms = text - 4;
}

/* Where command lines end whose size was hit, with all that is between them and the first page of events; else unknown. */
static size_t cmdlines_before_events(const struct tracedat_v6 *v)
{
	const uint32_t page = v->w->shape.page_size;
	const size_t first = v->m.cmdlines + 8;
	size_t end = tracedat_page_size_ok(page) ? (size_t)tracedat_align(first + 14, page) : v->size, at = first;

	while (end < v->size && end - first < EVENTS_SEARCH_MAX && !tracedat_page_at(v->w, end, page))
		end += page;
	if (end >= v->size || end - first >= EVENTS_SEARCH_MAX)
		return TRACEDAT_V6_UNKNOWN;
	for (const uint8_t *lf; (lf = memchr(v->data + at, '\n', end - at)) != NULL; at = (size_t)(lf - v->data) + 1)
		if (!fits_cmdlines(v->data + at, 1) || memchr(v->data + at, 0, (size_t)(lf - v->data) - at))
			break;
	return at;
}

static void salvage_texts(struct tracedat_v6 *v, size_t low)
{
	struct tracedat_v6_map *m = &v->m;
	size_t end = m->cpus != TRACEDAT_V6_UNKNOWN ? m->cpus : v->size;

	if (m->cmdlines == TRACEDAT_V6_UNKNOWN && m->cpus != TRACEDAT_V6_UNKNOWN)
		m->cmdlines = find_size(v, low, m->cpus, 8, fits_cmdlines);
	texts_backward(v, low);
	if (m->kallsyms != TRACEDAT_V6_UNKNOWN && m->printk == TRACEDAT_V6_UNKNOWN)
		printk_forward(v, end);
	if (m->printk != TRACEDAT_V6_UNKNOWN && m->cmdlines == TRACEDAT_V6_UNKNOWN)
		cmdlines_forward(v, end);
	if (m->cmdlines == TRACEDAT_V6_UNKNOWN && m->cpus != TRACEDAT_V6_UNKNOWN) {
		size_t text = measure_back(v, low, m->cpus);
		if (text >= low + 8)
			m->cmdlines = text - 8;
		texts_backward(v, low);
	}
	if (m->kallsyms == TRACEDAT_V6_UNKNOWN && m->printk != TRACEDAT_V6_UNKNOWN)
		kallsyms_backward(v, low);
	/* The tag is lost: the size of the command lines leads to it, or they end in front of the events. */
	if (m->cmdlines != TRACEDAT_V6_UNKNOWN && m->cpus == TRACEDAT_V6_UNKNOWN && v->size - m->cmdlines >= 22) {
		uint64_t declared = load_u64(v->data + m->cmdlines, v->w->shape.big_endian);
		if (declared <= v->size - m->cmdlines - 22)
			m->cpus = m->cmdlines + 8 + (size_t)declared;
		else
			m->cpus = cmdlines_before_events(v);
		m->tag = m->cpus != TRACEDAT_V6_UNKNOWN ? m->cpus + 4 : m->tag;
	}
}

/* A chain of sizes over whole lines up to a valid CPU count is accepted, whatever tag follows. */
static bool chain_without_tag(struct tracedat_v6 *v)
{
	const uint8_t *d = v->data;
	bool be = v->w->shape.big_endian;
	size_t at = v->m.kallsyms, places[3];

	for (unsigned i = 0; i < 3; i++) {
		size_t width = i == 2 ? 8 : 4;
		places[i] = at;
		if (v->size - at < width)
			return false;
		uint64_t size = width == 8 ? load_u64(d + at, be) : load_u32(d + at, be);
		if (size > v->size - at - width || (size && d[at + width + size - 1] != '\n'))
			return false;
		at += width + (size_t)size;
	}
	if (v->size - at < 14 || load_u32(d + at, be) - 1 >= TRACEDAT_CPUS_MAX)
		return false;
	v->m.printk = places[1];
	v->m.cmdlines = places[2];
	v->m.cpus = at;
	v->m.tag = at + 4;
	return true;
}

void tracedat_v6_salvage(struct tracedat_v6 *v)
{
	struct tracedat_v6_map *m = &v->m;
	if (m->kallsyms != TRACEDAT_V6_UNKNOWN && chain_without_tag(v))
		return;
	size_t low = m->kallsyms != TRACEDAT_V6_UNKNOWN	 ? m->kallsyms
		     : m->systems != TRACEDAT_V6_UNKNOWN ? m->systems
		     : m->ftrace != TRACEDAT_V6_UNKNOWN	 ? m->ftrace
							 : m->header;

	m->tag = find_tag(v, low);
	/* Options in front of one of the other tags have a tag of their own. */
	if (m->tag != TRACEDAT_V6_UNKNOWN && v->data[m->tag] != 'o') {
		size_t options = tracedat_options_lead(&v->w->shape, v->data, low, m->tag);
		if (options != SIZE_MAX && options >= low + TRACEDAT_TAG_SIZE)
			m->tag = options - TRACEDAT_TAG_SIZE;
	}
	if (m->tag != TRACEDAT_V6_UNKNOWN && m->tag >= low + 4)
		m->cpus = m->tag - 4;
	else
		m->tag = TRACEDAT_V6_UNKNOWN;
	/* The size of a known symbol table leads to the printk formats, even where the tag is wrong. */
	if (m->kallsyms != TRACEDAT_V6_UNKNOWN && v->size - m->kallsyms >= 4) {
		size_t size = load_u32(v->data + m->kallsyms, v->w->shape.big_endian), at = m->kallsyms + 4;
		if (size <= v->size - at && v->size - at - size >= 6 && v->data[at + size + 4] == '0' &&
		    v->data[at + size + 5] == 'x')
			m->printk = at + size;
	}
	salvage_texts(v, low);
	size_t end = m->kallsyms != TRACEDAT_V6_UNKNOWN	  ? m->kallsyms
		     : m->printk != TRACEDAT_V6_UNKNOWN	  ? m->printk
		     : m->cmdlines != TRACEDAT_V6_UNKNOWN ? m->cmdlines
		     : m->cpus != TRACEDAT_V6_UNKNOWN	  ? m->cpus
							  : v->size;
	if (m->ftrace == TRACEDAT_V6_UNKNOWN) {
		size_t first = tracedat_v6_find(v, m->header, "name: ", 6);
		if (first != TRACEDAT_V6_UNKNOWN && first < end && first >= m->header + 12)
			m->ftrace = first - 12;
	}
	if (m->systems == TRACEDAT_V6_UNKNOWN && m->ftrace != TRACEDAT_V6_UNKNOWN)
		m->systems = find_systems(v, m->ftrace + 4, end);
}

/* Bytes behind the damage in which a table is searched. */
#define TABLE_SEARCH_MAX (256u * 1024)
/* Bytes of a clock block between a table and its data. */
#define CLOCK_SIZE_MAX 4096u

/* Whether the entries of a table at `at` have data: behind it, page by page, that of each CPU where that of the one before ends.
 * empty: entries without data say nothing, and may have been hit. */
static bool table_fits(const struct tracedat_v6 *v, size_t at, bool empty)
{
	const struct tracedat_walk *w = v->w;
	uint32_t page = w->shape.page_size;
	uint64_t behind = at + 16ull * w->data.cpu_count, all = w->source->size, end = 0;

	if (at > v->size || v->size - at < 16ull * w->data.cpu_count)
		return false;
	for (uint32_t i = 0; i < w->data.cpu_count; i++) {
		const uint8_t *p = v->data + at + 16ull * i;
		uint64_t offset = load_u64(p, w->shape.big_endian), size = load_u64(p + 8, w->shape.big_endian);
		if (!size && empty)
			continue;
		if (offset % page || size % page || offset < behind || size > all || offset > all + page)
			return false;
		/* Bytes may be missing: the data is less than a page in front of its place then. */
		if (size && (offset + size >= all + page || (end ? offset != end : offset > behind + CLOCK_SIZE_MAX + page)))
			return false;
		if (size && !end && !tracedat_page_at(v->w, offset, page) &&
		    tracedat_page_shifted(v->w, offset, page, size / page, behind, all) == UINT64_MAX)
			return false;
		end = size ? offset + size : end;
	}
	return end != 0;
}

size_t tracedat_v6_table_find(const struct tracedat_v6 *v, size_t from)
{
	const struct tracedat_walk *w = v->w;
	uint32_t count = w->data.cpu_count, page = w->shape.page_size;
	const struct tracedat_option *last = w->dir.option_count ? &w->dir.options[w->dir.option_count - 1] : NULL;

	if (!count || count > TRACEDAT_CPUS_MAX || !tracedat_page_size_ok(page))
		return TRACEDAT_V6_UNKNOWN;
	/* Where the end of the options and the tag would be, if both were hit. */
	size_t here = last ? last->at + last->size + 2 + TRACEDAT_TAG_SIZE : TRACEDAT_V6_UNKNOWN;
	if (last && table_fits(v, here, true))
		return here;
	for (size_t at = from; at < from + TABLE_SEARCH_MAX && at <= v->size; at++) {
		/* Behind the first page there are no more tables of this buffer. */
		if (at % page == 0 && tracedat_page_at(v->w, at, page))
			break;
		if (table_fits(v, at, false))
			return at;
	}
	return TRACEDAT_V6_UNKNOWN;
}
