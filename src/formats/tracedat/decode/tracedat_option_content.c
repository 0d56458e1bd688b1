/* What the content of an option says about its id and its size. */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/decode/tracedat_section_layout.h"

/* Options that are one text with its NUL. */
static bool is_text(unsigned id)
{
	return id == TRACEDAT_DATE || id == TRACEDAT_CPUSTAT || id == TRACEDAT_TRACECLOCK || id == TRACEDAT_UNAME ||
	       id == TRACEDAT_HOOK || id == TRACEDAT_OFFSET || id == TRACEDAT_VERSION || id == TRACEDAT_PROCMAPS ||
	       id == TRACEDAT_LAST_BOOT;
}

/* Bytes up to the first NUL at or behind `from`, with it; 0: there is none. */
static size_t text_end(const uint8_t *p, size_t from, size_t room)
{
	const uint8_t *nul = from < room ? memchr(p + from, 0, room - from) : NULL;
	return nul ? (size_t)(nul - p) + 1 : 0;
}

size_t tracedat_option_measure(const struct tracedat_shape *shape, unsigned id, const uint8_t *p, size_t room)
{
	struct tracedat_buffer_layout l;

	if (is_text(id))
		return text_end(p, 0, room);
	if (id == TRACEDAT_CPUCOUNT)
		return 4;
	if (id == TRACEDAT_TRACEID)
		return 8;
	if (id == TRACEDAT_TSC2NSEC)
		return 16;
	if (id == TRACEDAT_BUFFER && shape->version == 6)
		return text_end(p, 8, room);
	if (shape->version == 6)
		return 0;
	if (id == TRACEDAT_BUFFER)
		return tracedat_buffer_measure(p, room, shape->big_endian);
	if (id == TRACEDAT_BUFFER_TEXT && tracedat_buffer_layout(p, room, shape->big_endian, true, &l))
		return 8 + l.name_size + l.clock_size;
	return tracedat_id_is_pointer(id) ? 8 : 0;
}

bool tracedat_option_item_at(const struct tracedat_shape *shape, const uint8_t *data, size_t at, size_t end)
{
	if (end - at < 2)
		return false;
	unsigned id = load_u16(data + at, shape->big_endian);
	if (!id && shape->version == 6)
		return end - at >= 2 + TRACEDAT_TAG_SIZE &&
		       (!memcmp(data + at + 2, "flyrecord", 9) || !memcmp(data + at + 2, "latency", 7) ||
			!memcmp(data + at + 2, "options", 7));
	if (end - at < TRACEDAT_OPTION_HEADER || id > TRACEDAT_ID_LATER)
		return false;
	uint32_t size = load_u32(data + at + 2, shape->big_endian);
	return size <= end - at - TRACEDAT_OPTION_HEADER && (id || size == 8);
}

bool tracedat_cpustat_begins(const char *text, size_t size)
{
	bool lf = size && *text == '\n'; /* in front of the name of an instance */
	text += lf;
	size -= lf;
	if (size > 8 && !memcmp(text, "Buffer: ", 8))
		return true;
	return size > 6 && !memcmp(text, "CPU: ", 5) && text[5] >= '0' && text[5] <= '9';
}

/* A line "label: number" of tracing_stats_read(). */
static bool stat_line(const char *line, size_t length)
{
	size_t at = 0;
	while (at < length && ((line[at] >= 'a' && line[at] <= 'z') || (at && line[at] == ' ')))
		at++;
	if (!at || at == length || line[at++] != ':')
		return false;
	while (at < length && line[at] == ' ')
		at++;
	size_t digits = at;
	while (at < length && ((line[at] >= '0' && line[at] <= '9') || line[at] == '.'))
		at++;
	return at == length && at > digits;
}

bool tracedat_cpustat_sound(const char *text, size_t size)
{
	while (size && (!text[size - 1] || text[size - 1] == '\n'))
		size--;
	for (size_t at = 0; at < size;) {
		const char *lf = memchr(text + at, '\n', size - at), *line = text + at;
		size_t length = (lf ? (size_t)(lf - text) : size) - at, from = 0;
		bool sound = true;

		if (length > 8 && !memcmp(line, "Buffer: ", 8)) {
			for (from = 8; from < length; from++)
				sound &= (uint8_t)line[from] >= 0x20 && line[from] != 0x7f;
		} else if (length > 5 && !memcmp(line, "CPU: ", 5)) {
			for (from = 5; from < length; from++)
				sound &= line[from] >= '0' && line[from] <= '9';
		} else if (length) {
			sound = stat_line(line, length);
		}
		if (!sound)
			return false;
		at += length + 1;
	}
	return true;
}
