/* The layout of sections of version 7. */
#include "formats/tracedat/decode/tracedat_section_layout.h"

/* Lines of one kind, one behind the other, that show the kind of a text. */
#define LINES_ALIKE 3u

void tracedat_section_header_read(const uint8_t *p, bool be, struct tracedat_section_header *h)
{
	h->id = load_u16(p, be);
	h->flags = load_u16(p + 2, be);
	h->description = (int32_t)load_u32(p + 4, be);
	h->size = load_u64(p + 8, be);
}

bool tracedat_body_is(const uint8_t *p, unsigned id, uint64_t size, bool be)
{
	switch (id) {
	case TRACEDAT_DONE:
		return size >= 14 && load_u16(p, be) <= TRACEDAT_ID_LATER &&
		       (load_u32(p + 2, be) <= size - 6 || load_u32(p + 2, be) == 0x08000000);
	case TRACEDAT_HEADER_INFO:
		return size >= 12 && !memcmp(p, "header_page", 12);
	case TRACEDAT_FTRACE_EVENTS:
		return size >= 4 && (size >= 17 ? !memcmp(p + 12, "name:", 5) : size == 4 && !load_u32(p, be));
	case TRACEDAT_EVENT_FORMATS:
		return size >= 4 && (size >= 17 ? load_u32(p, be) - 1 < 65536 && p[4] > 0x20 && p[4] < 0x7f : size == 4);
	case TRACEDAT_KALLSYMS:
	case TRACEDAT_PRINTK:
		return size >= 4 && load_u32(p, be) == size - 4;
	case TRACEDAT_CMDLINES:
		return size >= 8 && load_u64(p, be) == size - 8;
	default:
		return false;
	}
}

bool tracedat_body_begins(const uint8_t *p, unsigned id)
{
	switch (id) {
	case TRACEDAT_KALLSYMS:
		return (p[4] >= '0' && p[4] <= '9') || (p[4] >= 'a' && p[4] <= 'f');
	case TRACEDAT_PRINTK:
		return p[4] == '0' && p[5] == 'x';
	case TRACEDAT_CMDLINES:
		return p[8] >= '0' && p[8] <= '9';
	default:
		return true;
	}
}

static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The first line of kallsyms: an address, the type, a name. */
static bool symbol_begins(const uint8_t *p, size_t size)
{
	size_t digits = 0;
	while (digits < size && digits < 17 && is_hex(p[digits]))
		digits++;
	return digits >= 1 && digits <= 16 && size > digits + 3 && p[digits] == ' ' && (p[digits + 1] | 0x20) >= 'a' &&
	       (p[digits + 1] | 0x20) <= 'z' && p[digits + 2] == ' ' && p[digits + 3] > ' ';
}

/* The first system: its name, the number of its events, the size of the first one, which begins with its name. */
static bool system_begins(const uint8_t *p, size_t size)
{
	size_t name = strnlen((const char *)p, size < 256 ? size : 256);
	for (size_t i = 0; i < name; i++)
		if (p[i] <= ' ' || p[i] >= 0x7f)
			return false;
	return name && size >= name + 18 && !p[name] && !memcmp(p + name + 13, "name:", 5);
}

/* The section id of content that begins with p[0, length). */
unsigned tracedat_content_kind(const uint8_t *p, size_t length, bool be, uint64_t *size)
{
	*size = 0;
	if (length < 20)
		return 0;
	if (!memcmp(p, "header_page", 12))
		return TRACEDAT_HEADER_INFO;
	if (!memcmp(p + 12, "name:", 5) && load_u32(p, be) <= TRACEDAT_SECTIONS_MAX)
		return TRACEDAT_FTRACE_EVENTS;
	if (load_u32(p, be) <= 65536 && system_begins(p + 4, length - 4))
		return TRACEDAT_EVENT_FORMATS;
	*size = 4 + (uint64_t)load_u32(p, be);
	if (symbol_begins(p + 4, length - 4))
		return TRACEDAT_KALLSYMS;
	if (!memcmp(p + 4, "0x", 2) && is_hex(p[6]))
		return TRACEDAT_PRINTK;
	*size = 8 + load_u64(p, be);
	const uint8_t *digit = p + 8;
	while (digit < p + length && *digit >= '0' && *digit <= '9')
		digit++;
	return *size <= TRACEDAT_BLOCK_MAX && digit > p + 8 && digit < p + length && *digit == ' ' ? TRACEDAT_CMDLINES : 0;
}

/* The section of which a line that begins at p is. */
static unsigned line_kind(const uint8_t *p, size_t size)
{
	size_t digits = 0;
	if (symbol_begins(p, size))
		return TRACEDAT_KALLSYMS;
	if (size > 24 && !memcmp(p, "0x", 2) && is_hex(p[2]) && memmem(p, 24, " : \"", 4))
		return TRACEDAT_PRINTK;
	while (digits < size && p[digits] >= '0' && p[digits] <= '9')
		digits++;
	return digits && digits < 8 && digits + 1 < size && p[digits] == ' ' && p[digits + 1] > ' ' ? TRACEDAT_CMDLINES : 0;
}

unsigned tracedat_lines_kind(const uint8_t *p, size_t size)
{
	unsigned before = 0, same = 0;
	for (size_t at = 0; at < size;) {
		unsigned kind = line_kind(p + at, size - at);
		same = kind && kind == before ? same + 1 : 0;
		before = kind;
		if (same == LINES_ALIKE - 1)
			return kind;
		const uint8_t *lf = memchr(p + at, '\n', size - at);
		at = lf ? (size_t)(lf - p) + 1 : size;
	}
	return 0;
}
