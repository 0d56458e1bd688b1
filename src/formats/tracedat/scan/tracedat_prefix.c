/* The initial block (MAN6 "INITIAL FORMAT") and the compression header of version 7. */
#include "formats/tracedat/scan/tracedat_blocks.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"

#define PREFIX_READ 192u
#define VERSION_MAX 16u

struct prefix {
	struct tracedat_walk *w;
	const uint8_t *data; /* of the file from 0 */
	size_t size;
};

static void prefix_magic(struct prefix *p)
{
	/* Of a file that is cut in front of the end of the magic, the cut is the one error. */
	if (p->size && !memcmp(p->data, "\x17\x08\x44tracing", p->size < 10 ? p->size : 10))
		return;
	struct finding *fd = tracedat_finding(p->w, TRACEDAT_RULE_bad_magic, 0, 10);
	char shown[TEXT_QUOTE_SIZE];
	finding_say(fd, "the first bytes are %s, expected \\x17\\x08Dtracing",
		    text_quote(shown, p->data, p->size < 10 ? p->size : 10));
}

/* The version of what stands behind the page size, at most `slack` bytes further; 0: nothing shows it. */
static unsigned prefix_version_shown(const struct prefix *p, size_t after, size_t slack)
{
	if (after + 18 <= p->size && !memcmp(p->data + after + 6, "header_page", 12))
		return 6;
	for (size_t i = after + 6; i + 6 < p->size && i <= after + 6 + slack; i++)
		if (!memcmp(p->data + i, "zstd", 5) || !memcmp(p->data + i, "zlib", 5) || !memcmp(p->data + i, "none", 5))
			return 7;
	return 0;
}

/* The version whose layout the content has. */
static unsigned prefix_version_by_content(const struct prefix *p, size_t after)
{
	unsigned shown = prefix_version_shown(p, after, 5);
	if (shown)
		return shown;
	struct tracedat_inferred found;
	return tracedat_infer(&p->w->window, p->w->source->size, &found) ? found.version : 6;
}

/* Whether the initial block is cut, and another trace.dat begins there. */
static bool prefix_is_torn(const struct prefix *p)
{
	const uint8_t *other = p->size > 1 ? memmem(p->data + 1, p->size - 1, TRACEDAT_MAGIC, TRACEDAT_MAGIC_SIZE) : NULL;
	size_t own = other ? (size_t)(other - p->data) : 0;
	return own && !memcmp(p->data, TRACEDAT_MAGIC, own < TRACEDAT_MAGIC_SIZE ? own : TRACEDAT_MAGIC_SIZE);
}

/* The bytes of a version that was hit, by what stands at its distance from it: header_page or the name of a compressor. Else 2, as
 * in all that is known. */
static size_t prefix_version_measure(const struct prefix *p)
{
	static const char *const names[] = { "header_page", "none", "zstd", "zlib" };
	for (size_t length = 1; length <= VERSION_MAX; length++)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			size_t at = 10 + length + 6, size = strlen(names[i]) + 1;
			if (at + size <= p->size && !memcmp(p->data + at, names[i], i ? size : size - 1))
				return length;
		}
	return 2;
}

/* The bytes of the version with its NUL, whatever it says. */
static size_t prefix_version_length(const struct prefix *p, const uint8_t *text, size_t room)
{
	/* A valid byte order and long size at their usual offset show that the version has two bytes, whatever its text. */
	if (room >= 4 && text[2] <= 1 && (text[3] == 4 || text[3] == 8))
		return 2;
	const uint8_t *nul = memchr(text, 0, room < VERSION_MAX ? room : VERSION_MAX);
	bool number = nul && nul > text && nul[-1] >= '0' && nul[-1] <= '9';
	return number ? (size_t)(nul - text) + 1 : prefix_version_measure(p);
}

/* Returns the bytes of the version with its NUL; 0: not a trace.dat at all. */
static size_t prefix_version(struct prefix *p)
{
	struct tracedat_walk *w = p->w;
	const uint8_t *text = p->data + 10;
	size_t room = p->size > 10 ? p->size - 10 : 0;
	char shown[TEXT_QUOTE_SIZE];

	if (room < 2)
		return 0;
	size_t length = prefix_version_length(p, text, room);
	if (length == 2 && !text[1] && (text[0] == '6' || text[0] == '7')) {
		unsigned stated = text[0] == '6' ? 6 : 7, content = prefix_version_shown(p, 10 + length, 0);
		w->shape.version = content ? content : stated;
		if (content && content != stated) {
			(void)tracedat_report(w, TRACEDAT_RULE_version_unsupported, 10, length,
					      "the version is %u, the content is that of version %u", stated, content);
		}
		return length;
	}
	if (length == 4 && !memcmp(text, "0.6", 4)) {
		(void)tracedat_report(w, TRACEDAT_RULE_perf_tracing_blob, 0, 14,
				      "version 0.6 is the tracing data inside of a perf.data; it has no events of its own");
		return 0;
	}
	size_t digits = 0, first = 0;
	while (first < length && (text[first] == ' ' || text[first] == '+' || text[first] == '0'))
		first++;
	while (first + digits < length && text[first + digits] >= '0' && text[first + digits] <= '9')
		digits++;
	bool known = digits == 1 && (text[first] == '6' || text[first] == '7');
	w->shape.version = known ? (text[first] == '6' ? 6 : 7) : prefix_version_by_content(p, 10 + length);
	(void)tracedat_report(w, known ? TRACEDAT_RULE_version_not_canonical : TRACEDAT_RULE_version_unsupported, 10, length,
			      "the version is \"%s\", expected \"6\" or \"7\"; the content is that of version %u",
			      text_quote(shown, text, text[length - 1] ? length : length - 1), w->shape.version);
	return length;
}

/* Evidence for a byte order in the numbers behind the prefix. */
static unsigned prefix_order_score(const struct prefix *p, size_t at, bool big_endian)
{
	unsigned score = 0;
	if (at + 6 <= p->size && tracedat_page_size_ok(load_u32(p->data + at + 2, big_endian)))
		score += 2;
	if (p->w->shape.version == 6) {
		uint64_t size = at + 26 <= p->size ? load_u64(p->data + at + 18, big_endian) : UINT64_MAX;
		if (size <= TRACEDAT_HEADER_MAX)
			score += 2;
		return score;
	}
	const uint8_t *nul = at + 6 < p->size ? memchr(p->data + at + 6, 0, p->size - at - 6) : NULL;
	nul = nul ? memchr(nul + 1, 0, p->size - (size_t)(nul + 1 - p->data)) : NULL;
	size_t offset = nul ? (size_t)(nul + 1 - p->data) : p->size;
	if (offset + 10 <= p->size) {
		uint64_t options = load_u64(p->data + offset, big_endian);
		score += options < p->w->source->size;
		score += load_u16(p->data + offset + 8, big_endian) <= TRACEDAT_ID_LAST;
	}
	return score;
}

/* Whether the sections or formats behind have the other byte order than the flag says, or show none. */
static bool content_has_other_order(const struct prefix *p, bool stated)
{
	struct tracedat_inferred found;
	return !tracedat_infer(&p->w->window, p->w->source->size, &found) || found.big_endian != stated;
}

static void prefix_order(struct prefix *p, size_t at)
{
	struct tracedat_walk *w = p->w;
	uint8_t flag = p->data[at];
	unsigned little = prefix_order_score(p, at, false), big = prefix_order_score(p, at, true);

	if (flag > 1) {
		w->shape.big_endian = big > little;
		(void)tracedat_report(w, TRACEDAT_RULE_endian_flag_invalid, at, 1,
				      "the byte-order flag is %u, expected 0 or 1; the sizes that follow are %s", flag,
				      w->shape.big_endian ? "big-endian" : "little-endian");
		return;
	}
	w->shape.big_endian = flag == 1;
	unsigned stated = flag ? big : little, other = flag ? little : big;
	/* Page sizes like 4096 are valid in both byte orders: the other numbers decide. One of them may have been hit. */
	if (stated <= 2 && other == 4 && content_has_other_order(p, flag)) {
		w->shape.big_endian = !flag;
		(void)tracedat_report(w, TRACEDAT_RULE_endian_flag_mismatch, at, 1,
				      "the flag states %s, but the sizes that follow are valid only as %s",
				      flag ? "big-endian" : "little-endian", flag ? "little-endian" : "big-endian");
	}
}

static bool compressor_known(const uint8_t *name, size_t length, enum tracedat_codec *codec)
{
	static const char *const names[] = { "none", "zstd", "zlib" };
	for (size_t i = 0; i < 3; i++)
		if (length == 4 && !memcmp(name, names[i], 4)) {
			*codec = (enum tracedat_codec)i;
			return true;
		}
	return false;
}

/* The compressor, by the frames in the file. */
static enum tracedat_codec compressor_by_content(struct tracedat_walk *w, uint64_t from)
{
	size_t got;
	const uint8_t *data = window_upto(&w->window, from, 65536, &got);
	for (size_t i = 0; data && i + 26 <= got; i++) {
		uint16_t id = load_u16(data + i, w->shape.big_endian);
		if (id < TRACEDAT_HEADER_INFO || id > TRACEDAT_CMDLINES ||
		    load_u16(data + i + 2, w->shape.big_endian) != TRACEDAT_COMPRESSED)
			continue;
		if (tracedat_frame_begins(TRACEDAT_ZSTD, data + i + 24, got - i - 24))
			return TRACEDAT_ZSTD;
		if (tracedat_frame_begins(TRACEDAT_ZLIB, data + i + 24, got - i - 24))
			return TRACEDAT_ZLIB;
	}
	return TRACEDAT_NONE;
}

/* Major number of a version text; 0 when there is none. */
static unsigned version_major(const uint8_t *text, size_t length)
{
	unsigned major = 0;
	for (size_t i = 0; i < length && i < 4 && text[i] >= '0' && text[i] <= '9'; i++)
		major = major * 10 + (unsigned)(text[i] - '0');
	return major;
}

/* MAN7 "COMPRESSION HEADER": name, version, offset of the first options. */
static bool prefix_compression(struct prefix *p, size_t at)
{
	struct tracedat_walk *w = p->w;
	char shown[TEXT_QUOTE_SIZE];
	const uint8_t *name = p->data + at;
	const uint8_t *nul = at < p->size ? memchr(name, 0, p->size - at < 33 ? p->size - at : 33) : NULL;
	const uint8_t *version = nul ? nul + 1 : NULL;
	size_t rest = version ? p->size - (size_t)(version - p->data) : 0;
	const uint8_t *end = version ? memchr(version, 0, rest < 65 ? rest : 65) : NULL;
	struct finding *fd;

	if (!end || (size_t)(end - p->data) + 9 > p->size) {
		w->shape.codec = compressor_by_content(w, at);
		w->prefix.codec_bad = true;
		w->prefix.options_at = 0;
		w->dir.chain_cut = p->size == w->source->size && (nul || p->size - at < 33) && (end || !nul || rest < 65);
		w->prefix.header_end = w->dir.chain_cut ? p->size : at;
		fd = tracedat_report(w, w->dir.chain_cut ? TRACEDAT_RULE_truncated_file : TRACEDAT_RULE_v7_compressor_name, at,
				     p->size - at,
				     "the compression header is incomplete: expected name, version and the offset of the options");
		w->dir.truncated = w->dir.chain_cut ? fd : NULL;
		return true;
	}
	size_t name_length = (size_t)(nul - name), version_length = (size_t)(end - version);
	if (!compressor_known(name, name_length, &w->shape.codec)) {
		w->shape.codec = compressor_by_content(w, at);
		w->prefix.codec_bad = true;
		(void)tracedat_report(w, TRACEDAT_RULE_v7_compressor_name, at, name_length + 1,
				      "the compressor is \"%s\", expected none, zstd or zlib; the sections are %s",
				      text_quote(shown, name, name_length),
				      w->shape.codec == TRACEDAT_NONE	? "not compressed"
				      : w->shape.codec == TRACEDAT_ZSTD ? "zstd"
									: "zlib");
	} else if ((w->shape.codec == TRACEDAT_NONE) != (version_length == 0) ||
		   (w->shape.codec == TRACEDAT_ZLIB && version_major(version, version_length) != 1)) {
		(void)tracedat_report(w, TRACEDAT_RULE_v7_compressor_version, (uint64_t)(version - p->data), version_length + 1,
				      "the version of the compressor is \"%s\"", text_quote(shown, version, version_length));
	}
	w->prefix.options_at = (uint64_t)(end + 1 - p->data);
	w->prefix.options_offset = load_u64(end + 1, w->shape.big_endian);
	w->prefix.header_end = w->prefix.options_at + 8;
	return true;
}

/* Whether no field of the initial block is valid. */
static bool prefix_is_lost(const struct prefix *p)
{
	const uint8_t *d = p->data;
	if (p->size < 18 || !memcmp(d, "\x17\x08\x44", 3) || !memcmp(d + 3, "tracing", 7))
		return false;
	return (d[10] != '6' && d[10] != '7') || d[11] || d[12] > 1 || (d[13] != 4 && d[13] != 8);
}

/* Infers a lost initial block from the content. Its values are guesses until the pages confirm them. */
static bool prefix_infer(struct prefix *p)
{
	struct tracedat_walk *w = p->w;
	struct tracedat_inferred found;

	if (!prefix_is_lost(p) || !tracedat_infer(&w->window, w->source->size, &found))
		return false;
	struct finding *fd = tracedat_report(w, TRACEDAT_RULE_bad_magic, 0, 18,
					     "the initial block is lost; the content is that of version %u, %s", found.version,
					     found.big_endian ? "big-endian" : "little-endian");
	/* Version, byte order, long size and page size. */
	finding_explains(fd, 4);
	w->prefix.lost = w->prefix.page_size_bad = true;
	w->events.lost = true; /* the first ones may have been there, too */
	w->shape.version = found.version;
	w->prefix.version_length = 2;
	w->shape.big_endian = found.big_endian;
	w->shape.long_size = 8;
	w->prefix.end = w->prefix.header_end = 18;
	w->shape.codec = found.codec;
	w->prefix.codec_bad = true;
	w->s->version[0] = (char)('0' + found.version);
	return true;
}

bool tracedat_prefix_read(struct tracedat_walk *w)
{
	struct prefix p = { .w = w };
	p.data = window_upto(&w->window, 0, PREFIX_READ, &p.size);
	if (!p.data)
		return false;
	/* The window may move while the compressor is searched. */
	uint8_t copy[PREFIX_READ];
	memcpy(copy, p.data, p.size);
	p.data = copy;
	w->prefix.torn = prefix_is_torn(&p);
	if (prefix_infer(&p))
		return true;
	prefix_magic(&p);
	w->prefix.version_length = prefix_version(&p);
	if (!w->prefix.version_length) {
		if (p.size < 12) {
			(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, 0, p.size,
					      "the file has %zu bytes, expected at least the 12 of the initial block", p.size);
		}
		return false;
	}
	w->s->version[0] = w->shape.version == 6 ? '6' : '7';
	size_t at = 10 + w->prefix.version_length;
	w->prefix.end = at + 6;
	if (p.size < at + 6) {
		(void)tracedat_report(w, TRACEDAT_RULE_truncated_file, 0, p.size, "the file ends inside the initial block");
		return false;
	}
	prefix_order(&p, at);
	w->prefix.user_long = p.data[at + 1];
	if (w->prefix.user_long != 4 && w->prefix.user_long != 8) {
		(void)tracedat_report(w, TRACEDAT_RULE_user_long_invalid, at + 1, 1,
				      "the long size of the user space is %u, expected 4 or 8", w->prefix.user_long);
	}
	w->shape.long_size = w->prefix.user_long == 4 ? 4 : 8; /* until header_page is read */
	w->shape.page_size = load_u32(p.data + at + 2, w->shape.big_endian);
	if (!tracedat_page_size_ok(w->shape.page_size)) {
		(void)tracedat_report(w, TRACEDAT_RULE_page_size_invalid, at + 2, 4,
				      "the page size is %u, expected a power of two from %u to %u", w->shape.page_size,
				      TRACEDAT_PAGE_MIN, TRACEDAT_PAGE_MAX);
		w->prefix.page_size_bad = true;
	}
	w->prefix.header_end = w->prefix.end;
	return w->shape.version == 6 || prefix_compression(&p, at + 6);
}
