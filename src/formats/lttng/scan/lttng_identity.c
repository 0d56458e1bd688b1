/* Files whose first bytes are not those of the trace: another version, another format, or damage. */
#include "formats/lttng/salvage/lttng_salvage.h"

/* Bytes that are searched for signs of a text conversion. */
#define TEXT_LOOK 4096u
/* Where the magic number of 0.6 ends, which lies furthest in. */
#define MAGICS_END 76u

enum conversion_kind { NOT_CONVERTED, CONVERTED_UTF8, CONVERTED_CRLF };

static enum conversion_kind text_converted(const uint8_t *p, size_t n, const struct source *s)
{
	size_t triples = 0, invalid = 0, feeds = 0, pairs = 0;
	for (size_t i = 0; i < n; i++) {
		if (i + 2 < n && p[i] == 0xef && p[i + 1] == 0xbf && p[i + 2] == 0xbd) {
			triples++;
			i += 2;
		} else if (p[i] >= 0xf8 || (p[i] >= 0x80 && p[i] < 0xc0 && (!i || p[i - 1] < 0x80))) {
			invalid++;
		} else if (p[i] == '\n') {
			feeds++;
			pairs += i && p[i - 1] == '\r';
		}
	}
	if (triples >= 2 && !invalid)
		return CONVERTED_UTF8;
	return feeds >= 4 && pairs == feeds && s->size % LTTNG_PAGE ? CONVERTED_CRLF : NOT_CONVERTED;
}

static void aside(struct lttng_file *f, unsigned rule)
{
	lttng_file_aside(f, rule, lttng_rules[rule].title);
}

static bool is_foreign(const uint8_t *p, size_t n)
{
	uint32_t magic = n >= 4 ? load_u32(p, false) : 0;
	return magic == UINT32_C(0xC1FC1FC1) || magic == UINT32_C(0xC11FFCC1);
}

/* Where the version ends in a header that shows none of those that are known. */
static size_t version_end(const struct lttng_file *f, const uint8_t *head, size_t n)
{
	static const uint8_t magics[] = { 16, 40, 56, 72 };
	for (size_t i = 0; i < sizeof(magics); i++) {
		size_t end = magics[i] + (magics[i] == 16 ? 6u : 19u);
		if (end <= n && load_u32(head + magics[i], f->big_endian) == LTTNG_MAGIC)
			return end;
	}
	return n < 24 ? n : 24;
}

static void judge_short(struct lttng_trace *t, struct lttng_file *f, uint32_t header)
{
	finding_report(t->s->findings, LTTNG_RULE_file_shorter_than_header, f->source, 0, f->source->size,
		       "the file has %llu bytes, and a block header %u", (unsigned long long)f->source->size, header);
	lttng_file_aside(f, LTTNG_RULE_file_shorter_than_header, NULL);
}

/* Whether a header with another version is one of this trace all the same: most of it agrees, or a hole took the version and what
 * is left agrees. The block says what is wrong with it. */
static bool only_version(const struct lttng_trace *t, const uint8_t *head, size_t n)
{
	const struct lttng_layout *l = t->coding.layout;
	struct lttng_header h = { { 0 } };
	unsigned of;

	if (!l || n < l->size)
		return false;
	lttng_header_load(&h, l, t->coding.big_endian, head);
	bool agrees = 2 * lttng_header_score(t, &h, &of) >= of || (!h.v[LF_MINOR] && lttng_header_is_rest(t, &h));
	return h.v[LF_MAGIC] == LTTNG_MAGIC && agrees;
}

/* Whether the first header of a file is a damaged one of this trace: the version is the trace's or none that is known, and the
 * header shows values that no version has, or headers of the trace follow in the file. */
static bool damaged_version(struct lttng_trace *t, struct lttng_file *f, const uint8_t *head, size_t n)
{
	const struct lttng_layout *l = t->coding.layout;
	struct lttng_header h;

	if (!l || n < l->size)
		return false;
	if (f->layout && f->layout->major == l->major && f->layout->minor == l->minor)
		return true;
	lttng_header_load(&h, l, t->coding.big_endian, head);
	/* Of a version that is known, the values of that one. */
	const bool other = !f->layout || f->layout->magic == l->magic;
	const bool shows = f->layout ? !lttng_header_plausible(f->layout, &f->first, true) : !lttng_header_plausible(l, &h, true);
	return (other && shows) || lttng_frame_follows(t, f);
}

/* A file with a magic number and another version. */
static void judge_version(struct lttng_trace *t, struct lttng_file *f, const uint8_t *head, size_t n)
{
	const struct lttng_layout *l = t->coding.layout;

	if (only_version(t, head, n) || damaged_version(t, f, head, n))
		return;
	if (f->source->size < f->header) {
		judge_short(t, f, f->header);
		return;
	}
	if (f->layout)
		finding_report(t->s->findings, LTTNG_RULE_version_mixed, f->source, 0, version_end(f, head, n),
			       "the file is of version %s, and the trace of %s", f->layout->name, l ? l->name : "none");
	else
		finding_report(t->s->findings, LTTNG_RULE_unsupported_version, f->source, 0, version_end(f, head, n),
			       "the file is of version %d.%d; 0.6 to 0.8, 1.0 and 2.0 to 2.6 are checked", f->major, f->minor);
	aside(f, f->layout ? LTTNG_RULE_version_mixed : LTTNG_RULE_unsupported_version);
}

void lttng_identity_judge(struct lttng_trace *t, struct lttng_file *f)
{
	const struct lttng_layout *l = t->coding.layout;
	uint8_t head[TEXT_LOOK];
	size_t n = f->source->size < sizeof(head) ? (size_t)f->source->size : sizeof(head);

	if (f->empty) {
		finding_report(t->s->findings, LTTNG_RULE_empty_file, f->source, 0, 0, "the file has no bytes");
		return;
	}
	if (f->layout && f->layout == l && f->big_endian == t->coding.big_endian)
		return;
	if (source_read(f->source, 0, head, n) != TM_OK) {
		t->status = TM_IO;
		return;
	}
	enum conversion_kind converted = text_converted(head, n, f->source);
	if (is_foreign(head, n)) {
		finding_report(t->s->findings, LTTNG_RULE_foreign_format, f->source, 0, n < 64 ? n : 64,
			       "the file begins with the magic number of a CTF stream");
		aside(f, LTTNG_RULE_foreign_format);
	} else if (converted != NOT_CONVERTED && f->major < 0) {
		finding_report(t->s->findings, LTTNG_RULE_text_transcoded, f->source, 0, f->source->size, "%s",
			       converted == CONVERTED_UTF8 ? "bytes were replaced by EF BF BD, as when text is made UTF-8"
							   : "every LF has a CR before it, as when text is made for DOS");
		aside(f, LTTNG_RULE_text_transcoded);
	} else if (f->source->size < (l ? l->size : 60u)) {
		judge_short(t, f, l ? l->size : 60u);
	} else if (f->major >= 0 && l && f->big_endian != t->coding.big_endian) {
		finding_report(t->s->findings, LTTNG_RULE_byte_order_mixed, f->source, 0, l->size,
			       "the file is %s-endian, and the trace is not", f->big_endian ? "big" : "little");
		aside(f, LTTNG_RULE_byte_order_mixed);
	} else if (f->major >= 0) {
		judge_version(t, f, head, n);
	} else if (!l) {
		finding_report(t->s->findings, LTTNG_RULE_bad_magic_first_block, f->source, 0, MAGICS_END,
			       "there is no magic number at the offset of any version");
		aside(f, LTTNG_RULE_bad_magic_first_block);
	}
}
