/* The lines of sid-<sid>.map. */
#include "formats/uftrace/decode/uftrace_map_line.h"

#include <string.h>

#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"

static bool take_hex(const char *text, size_t length, size_t *at, uint64_t *value)
{
	size_t n = uftrace_hex_digits(text + *at, length - *at);

	if (!n || n > 16 || !text_parse_hex(text + *at, n, value))
		return false;
	*at += n;
	return true;
}

/* As scanf("%s") has it. */
static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct uftrace_str take_word(const char *text, size_t length, size_t *at)
{
	while (*at < length && is_blank(text[*at]))
		++*at;
	struct uftrace_str word = { text + *at, 0 };
	while (*at < length && !is_blank(text[*at])) {
		++*at;
		word.length++;
	}
	return word;
}

/* Whether the words are those of /proc/<pid>/maps: flags, a path of text, and at most a build id behind it. */
static bool is_odd(struct uftrace_str prot, struct uftrace_str path, struct uftrace_str behind)
{
	static const char *const flags_of[] = { "r-", "w-", "x-", "ps" };

	for (unsigned i = 0; i < 4; i++)
		if (!prot.text[i] || !strchr(flags_of[i], prot.text[i]))
			return true;
	bool id = behind.length >= 9 && !memcmp(behind.text, "build-id:", 9);
	if (!uftrace_str_is_text(path) || (!id && !uftrace_str_is_text(behind)))
		return true;
	if (!behind.length || id)
		return false;
	/* The rest of a path with a blank, or another line: a path from the root, flags, numbers. */
	bool flags = behind.length == 4;
	for (unsigned i = 0; flags && i < 4; i++)
		flags = strchr(flags_of[i], behind.text[i]) != NULL;
	return (path.text[0] != '/' && path.text[0] != '[') || behind.text[0] == '/' || flags ||
	       (behind.text[0] >= '0' && behind.text[0] <= '9');
}

/* Whether a digit of the addresses, which end at the first blank, is a capital. */
static bool has_capital(const char *text, size_t length)
{
	for (size_t i = 0; i < length && text[i] != ' '; i++)
		if (text[i] >= 'A' && text[i] <= 'F')
			return true;
	return false;
}

enum uftrace_map_state uftrace_map_line_read(const char *text, size_t length, struct uftrace_map_line *out)
{
	size_t at = 0;

	if (!length || text[0] == '#')
		return length ? UFTRACE_MAP_SKIPPED : UFTRACE_MAP_BAD;
	if (!take_hex(text, length, &at, &out->start) || at >= length || text[at++] != '-' ||
	    !take_hex(text, length, &at, &out->end) || at >= length || text[at] != ' ')
		return UFTRACE_MAP_BAD;
	struct uftrace_str prot = take_word(text, length, &at);
	struct uftrace_str offset = take_word(text, length, &at), device = take_word(text, length, &at);
	struct uftrace_str inode = take_word(text, length, &at);
	out->prot = prot.length;
	if (prot.length > 4)
		return UFTRACE_MAP_LONG;
	uint64_t ignored;
	size_t colon = device.length ? (size_t)strcspn(device.text, ":") : 0;
	if (prot.length != 4 || !text_parse_hex(offset.text, offset.length, &ignored) || colon >= device.length ||
	    !text_parse_hex(device.text, colon, &ignored) ||
	    !text_parse_hex(device.text + colon + 1, device.length - colon - 1, &ignored) ||
	    !text_parse_u64(inode.text, inode.length, &ignored))
		return UFTRACE_MAP_BAD;
	out->path = take_word(text, length, &at);
	if (!out->path.length)
		return UFTRACE_MAP_ANONYMOUS;
	if (out->path.length > UFTRACE_PATH_MAX ||
	    (out->path.text[0] != '[' && uftrace_basename(out->path).length > UFTRACE_PROGRAM_MAX))
		return UFTRACE_MAP_LONG;
	out->id_at = at;
	struct uftrace_str id = take_word(text, length, &at);
	if (id.length >= 9 && !memcmp(id.text, "build-id:", 9)) {
		out->build_id = (struct uftrace_str){ id.text + 9, id.length - 9 };
		if (id.length > 49)
			return UFTRACE_MAP_LONG_ID;
	}
	out->rest = id.length && !uftrace_str_is(id, "(deleted)");
	out->odd = is_odd(prot, out->path, id) || has_capital(text, length);
	return UFTRACE_MAP_GOOD;
}

/* The last word of text[*from, *length), which is cut off, and the blanks in front of it. */
static struct uftrace_str take_last(const char *text, size_t from, size_t *length)
{
	while (*length > from && is_blank(text[*length - 1]))
		--*length;
	size_t end = *length;
	while (*length > from && !is_blank(text[*length - 1]))
		--*length;
	return (struct uftrace_str){ text + *length, end - *length };
}

bool uftrace_map_line_recover(const char *text, size_t length, struct uftrace_map_line *out, size_t *at, size_t *size)
{
	const uint64_t page = 0xfff;
	size_t begin = 0, end = length;

	*out = (struct uftrace_map_line){ 0 };
	if (!take_hex(text, length, &begin, &out->start) || begin >= length || text[begin++] != '-' ||
	    !take_hex(text, length, &begin, &out->end) || begin >= length || text[begin] != ' ' || out->start >= out->end ||
	    (out->start | out->end) & page)
		return false;
	struct uftrace_str prot = take_word(text, length, &begin), last = take_last(text, begin, &end);
	if (last.length == 49 && !memcmp(last.text, "build-id:", 9)) {
		out->build_id = (struct uftrace_str){ last.text + 9, 40 };
		last = take_last(text, begin, &end);
	}
	out->path = last;
	out->id_at = (size_t)(last.text - text) + last.length;
	*at = begin;
	*size = end - begin;
	return prot.length == 4 && end > begin && last.length > 1 && last.length <= UFTRACE_PATH_MAX && last.text[0] == '/' &&
	       uftrace_basename(last).length <= UFTRACE_PROGRAM_MAX && (!out->build_id.text || uftrace_str_is_hex(out->build_id)) &&
	       !is_odd(prot, last, (struct uftrace_str){ text, 0 });
}
