/* The small XML of this format: descriptions of facilities, system.xml and bookmarks. Tags and attributes are all there is to it,
 * in a dialect that XML libraries refuse (no prolog, unquoted attributes): hence a scanner of our own. */
#include "formats/lttng/decode/lttng_xml.h"

#include "core/text.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool xml_fail(struct lttng_xml *x, size_t at, const char *why)
{
	x->failed = true;
	x->failed_at = at;
	x->why = why;
	return false;
}

/* Moves behind `mark`. */
static bool skip_past(struct lttng_xml *x, const char *mark)
{
	size_t n = strlen(mark);
	const char *p = memmem(x->text + x->position, x->length - x->position, mark, n);
	if (!p)
		return false;
	x->position = (size_t)(p - x->text) + n;
	return true;
}

/* Offset of the '>' or '<' at or behind `at` that is outside of quotes; x->length: there is none. */
static size_t tag_end(const struct lttng_xml *x, size_t at)
{
	char quote = 0;
	for (; at < x->length; at++) {
		char c = x->text[at];
		if (quote)
			quote = c == quote ? '\0' : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '>' || c == '<')
			break;
	}
	return at;
}

/* Reads the tag at `at`, and moves behind it. */
static bool read_tag(struct lttng_xml *x, size_t at, struct lttng_xml_tag *tag)
{
	size_t end = tag_end(x, at + 1);
	if (end >= x->length || x->text[end] != '>')
		return xml_fail(x, at, "a tag without end");
	tag->at = at;
	tag->kind = x->text[at + 1] == '/' ? XML_CLOSE : XML_OPEN;
	size_t name = at + (tag->kind == XML_CLOSE ? 2 : 1), stop = name, last = end;
	if (tag->kind == XML_OPEN && x->text[end - 1] == '/' && end - 1 > at) {
		tag->empty = true;
		last = end - 1;
	}
	while (stop < last && !is_blank(x->text[stop]))
		stop++;
	if (stop == name)
		return xml_fail(x, at, "a tag without a name");
	tag->name = x->text + name;
	tag->name_length = stop - name;
	tag->attributes = x->text + stop;
	tag->attributes_length = last - stop;
	x->position = end + 1;
	return true;
}

bool lttng_xml_next(struct lttng_xml *x, struct lttng_xml_tag *tag)
{
	const char *zero = x->position || x->failed || !x->length ? NULL : memchr(x->text, 0, x->length);

	if (zero) /* within a text it would pass, and hide what it has replaced */
		(void)xml_fail(x, (size_t)(zero - x->text), "a zero byte, which XML does not allow,");
	for (;;) {
		const char *open = x->failed || x->position >= x->length
					   ? NULL
					   : memchr(x->text + x->position, '<', x->length - x->position);
		*tag = (struct lttng_xml_tag){ .kind = XML_END, .at = x->length };
		if (!open)
			return false;
		size_t at = (size_t)(open - x->text), left = x->length - at;
		x->position = at;
		if (left >= 4 && !memcmp(open, "<!--", 4)) {
			if (!skip_past(x, "-->"))
				return xml_fail(x, at, "a comment without end");
		} else if (left >= 2 && (open[1] == '?' || open[1] == '!')) {
			if (!skip_past(x, ">"))
				return xml_fail(x, at, "a declaration without end");
		} else {
			return read_tag(x, at, tag);
		}
	}
}

bool lttng_xml_is(const struct lttng_xml_tag *tag, const char *name)
{
	return strlen(name) == tag->name_length && !memcmp(tag->name, name, tag->name_length);
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* The value of an attribute at *p, in quotes or not; *p moves behind it. */
static const char *read_value(const char **p, const char *end, size_t *length)
{
	const char *value = *p;
	if (value < end && (*value == '"' || *value == '\'')) {
		const char *close = memchr(value + 1, *value, (size_t)(end - value - 1));
		*p = close ? close : end;
		value++;
		*length = (size_t)(*p - value);
		*p += close != NULL;
		return value;
	}
	while (*p < end && !is_blank(**p))
		(*p)++;
	*length = (size_t)(*p - value);
	return value;
}

const char *lttng_xml_attribute(const struct lttng_xml_tag *tag, const char *name, size_t *length)
{
	const char *p = tag->attributes, *end = p + tag->attributes_length;
	size_t n = strlen(name);

	while (p < end) {
		p = skip_blanks(p, end);
		const char *key = p;
		while (p < end && *p != '=' && !is_blank(*p))
			p++;
		size_t key_length = (size_t)(p - key);
		p = skip_blanks(p, end);
		if (p >= end || *p != '=')
			continue;
		p = skip_blanks(p + 1, end);
		const char *value = read_value(&p, end, length);
		if (key_length == n && !memcmp(key, name, n))
			return value;
	}
	return NULL;
}

bool lttng_xml_number(const struct lttng_xml_tag *tag, const char *name, uint64_t *value)
{
	size_t length;
	const char *text = lttng_xml_attribute(tag, name, &length);
	return text && text_parse_u64(text, length, value);
}

/* ---- well-formed ---- */

static bool is_name(const char *p, const char *end)
{
	for (const char *c = p; c < end; c++)
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') && *c != '_')
			return false;
	return p < end;
}

/* Attributes are names, or names with values, and blanks between them. */
static bool attributes_sound(const struct lttng_xml_tag *tag)
{
	const char *p = tag->attributes, *end = p + tag->attributes_length;
	size_t length;

	while ((p = skip_blanks(p, end)) < end) {
		const char *key = p;
		while (p < end && *p != '=' && !is_blank(*p))
			p++;
		if (!is_name(key, p))
			return false;
		p = skip_blanks(p, end);
		if (p >= end || *p != '=')
			continue;
		p = skip_blanks(p + 1, end);
		const bool quoted = p < end && (*p == '"' || *p == '\'');
		const char *value = read_value(&p, end, &length);
		if (quoted ? value + length == end || (p < end && !is_blank(*p))
			   : !length || memchr(value, '"', length) || memchr(value, '\'', length))
			return false;
	}
	return true;
}

/* An open element, and the last one in it that needs no end. */
struct xml_level {
	struct lttng_xml_tag tag, leaf;
};

static bool same_name(const struct lttng_xml_tag *a, const struct lttng_xml_tag *b)
{
	return a->name_length && a->name_length == b->name_length && !memcmp(a->name, b->name, a->name_length);
}

/* The next tag against the elements that are open. NULL: it fits. */
static const char *pair_tag(struct xml_level *levels, size_t *depth, const struct lttng_xml_tag *tag, bool leaf)
{
	struct xml_level *top = &levels[*depth];

	if (!is_name(tag->name, tag->name + tag->name_length) || !attributes_sound(tag))
		return "a tag that cannot be read";
	if (tag->kind == XML_CLOSE && tag->attributes_length &&
	    skip_blanks(tag->attributes, tag->attributes + tag->attributes_length) < tag->attributes + tag->attributes_length)
		return "an end tag with attributes";
	if (tag->empty)
		return NULL;
	if (leaf && tag->kind == XML_CLOSE)
		return same_name(&top->leaf, tag) ? NULL : "an end tag of an element that was not begun";
	if (leaf) {
		top->leaf = *tag;
		return NULL;
	}
	if (tag->kind == XML_CLOSE) {
		if (!*depth || !same_name(&top->tag, tag))
			return "an end tag of another name than the element that it ends";
		(*depth)--;
		return NULL;
	}
	if (*depth + 1 >= LTTNG_XML_DEPTH_MAX)
		return "elements are nested too deeply";
	levels[++*depth] = (struct xml_level){ .tag = *tag };
	return NULL;
}

bool lttng_xml_paired(struct lttng_xml *x, bool (*is_leaf)(const struct lttng_xml_tag *tag))
{
	const struct lttng_xml begin = *x;
	struct xml_level levels[LTTNG_XML_DEPTH_MAX] = { 0 };
	struct lttng_xml_tag tag;
	size_t depth = 0;

	while (lttng_xml_next(x, &tag)) {
		const char *why = pair_tag(levels, &depth, &tag, is_leaf(&tag));
		if (why)
			return xml_fail(x, tag.at, why);
	}
	if (x->failed)
		return false;
	if (depth)
		return xml_fail(x, levels[depth].tag.at, "an element without end");
	*x = begin;
	return true;
}

/* ---- system.xml and bookmarks ---- */

static bool is_decimal(const char *text, size_t length)
{
	bool point = false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '.' && !point)
			point = true;
		else if (text[i] < '0' || text[i] > '9')
			return false;
	}
	return length != 0;
}

static const char *judge_system(const struct lttng_xml_tag *tag)
{
	static const char *const wanted[] = { "node_name", "cpu", "arch_size", "endian", "kernel_name", "kernel_release" };
	static const char *const sizes[] = { "LP32", "ILP32", "LP64", "ILP64" };
	size_t n;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!lttng_xml_attribute(tag, wanted[i], &n))
			return wanted[i];
	const char *arch = lttng_xml_attribute(tag, "arch_size", &n);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (strlen(sizes[i]) == n && !memcmp(arch, sizes[i], n))
			return NULL;
	return "arch_size";
}

static const char *judge_location(const struct lttng_xml_tag *tag)
{
	static const char *const times[] = { "time", "start_time", "end_time", "cycle", "start_cycle", "end_cycle" };
	bool any = false;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		size_t n;
		const char *text = lttng_xml_attribute(tag, times[i], &n);
		uint64_t cycle;
		if (!text)
			continue;
		any = true;
		if (i < 3 ? !is_decimal(text, n) : !text_parse_u64(text, n, &cycle))
			return times[i];
	}
	return any ? NULL : "time";
}

struct lttng_xml_info lttng_xml_info(struct lttng_xml *x)
{
	struct lttng_xml_info info = { 0 };
	struct lttng_xml_tag tag;

	while (lttng_xml_next(x, &tag)) {
		if (tag.kind == XML_OPEN && lttng_xml_is(&tag, "system")) {
			info.what = "system description";
			info.flaw = info.flaw ? info.flaw : judge_system(&tag);
		} else if (tag.kind == XML_OPEN && lttng_xml_is(&tag, "bookmarks")) {
			info.what = "list of bookmarks";
		} else if (tag.kind == XML_OPEN && lttng_xml_is(&tag, "location")) {
			info.locations++;
			info.flaw = info.flaw ? info.flaw : judge_location(&tag);
		}
	}
	return info;
}
