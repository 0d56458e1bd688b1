/* header_page and header_event (MAN6 "HEADER INFO FORMAT"): the shape of a page. */
#include "formats/tracedat/decode/tracedat_header_text.h"
#include "formats/tracedat/scan/tracedat_blocks.h"

#define PAGE_TAG "header_page"
#define PAGE_TAG_SIZE 12u
#define EVENT_TAG "header_event"
#define EVENT_TAG_SIZE 13u

/* Where the long size cannot be read: by majority of the commit size, the data offset and the user space. */
static uint8_t page_long_size(const struct tracedat_prefix *prefix, const struct tracedat_page_fields *p)
{
	bool commit = p->has_commit && (p->commit.size == 4 || p->commit.size == 8);
	bool data = p->has_data && (p->data.offset == 12 || p->data.offset == 16);
	if (data && (!commit || p->data.offset != 8 + p->commit.size))
		return (uint8_t)(p->data.offset - 8);
	if (commit)
		return (uint8_t)p->commit.size;
	return prefix->user_long == 4 ? 4 : 8;
}

static void header_page_check(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t size)
{
	const char *text = (const char *)b->data + at;
	struct tracedat_page_fields p;
	bool shape = tracedat_page_fields_parse(text, size, &p);

	w->shape.long_size = page_long_size(&w->prefix, &p);
	w->meta.header.long_stated = p.has_commit && p.has_data && p.commit.size == w->shape.long_size &&
				     p.data.offset == 8u + w->shape.long_size;
	uint64_t end = p.has_data ? (uint64_t)p.data.offset + p.data.size : 0;
	w->meta.header.regenerate = true;
	if (!shape) {
		w->meta.header.rule = TRACEDAT_RULE_header_page_fields;
		if (!tracedat_tail_explained(w, b, at + size))
			(void)tracedat_block_report(
				w, TRACEDAT_RULE_header_page_fields, b, at, size,
				"the fields of header_page are not timestamp, commit, overwrite and data at their offsets");
	} else if (p.timestamp.size != 8) {
		w->meta.header.rule = TRACEDAT_RULE_header_page_timestamp_size;
		(void)tracedat_block_report(w, TRACEDAT_RULE_header_page_timestamp_size, b, at + p.timestamp.line,
					    p.timestamp.line_end - p.timestamp.line, "the timestamp has %u bytes, expected 8",
					    p.timestamp.size);
	} else if (p.commit.size != 4 && p.commit.size != 8) {
		w->meta.header.rule = TRACEDAT_RULE_header_page_commit_size;
		(void)tracedat_block_report(w, TRACEDAT_RULE_header_page_commit_size, b, at + p.commit.line,
					    p.commit.line_end - p.commit.line, "the commit word has %u bytes, expected 4 or 8",
					    p.commit.size);
	} else if (p.data.offset != 8 + p.commit.size || !tracedat_page_size_ok(end)) {
		w->meta.header.rule = TRACEDAT_RULE_header_page_data_range;
		(void)tracedat_block_report(w, TRACEDAT_RULE_header_page_data_range, b, at + p.data.line,
					    p.data.line_end - p.data.line,
					    "data is at offset %u with %u bytes; expected offset %u, and a page size as their sum",
					    p.data.offset, p.data.size, 8 + p.commit.size);
	} else if (p.has_overwrite &&
		   (p.overwrite.offset != 8 || (p.overwrite.size != 1 && p.overwrite.size != w->shape.long_size))) {
		w->meta.header.rule = TRACEDAT_RULE_header_page_fields;
		(void)tracedat_block_report(w, TRACEDAT_RULE_header_page_fields, b, at + p.overwrite.line,
					    p.overwrite.line_end - p.overwrite.line,
					    "overwrite is at offset %u with %u bytes, expected offset 8 and 1 byte",
					    p.overwrite.offset, p.overwrite.size);
	} else {
		w->meta.header.regenerate = false;
	}
	if (tracedat_page_size_ok(end))
		w->meta.header_page_size = (uint32_t)end;
	if (w->meta.header.regenerate)
		return;
	if (w->prefix.page_size_bad) {
		w->shape.page_size = w->meta.header_page_size;
	} else if (w->meta.header_page_size != w->shape.page_size) {
		(void)tracedat_report(w, TRACEDAT_RULE_page_size_vs_header_page, w->prefix.end - 4, 4,
				      "the page size is %u, expected %u by the fields of header_page", w->shape.page_size,
				      w->meta.header_page_size);
		w->meta.header.rule = TRACEDAT_RULE_page_size_vs_header_page;
	}
	if (w->shape.long_size == 4 && w->prefix.user_long == 8) {
		(void)tracedat_report(w, TRACEDAT_RULE_user_long_exceeds_kernel_long, w->prefix.end - 5, 1,
				      "the long size is 8 in programs and 4 in the kernel");
	}
}

static void header_event_check(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t size)
{
	static const struct {
		const char *label;
		int value;
		bool optional;
	} expected[] = {
		{ "type_len ", 5, false },	     { "time_delta ", 27, false },  { "array ", 32, false },
		{ "padding ", 29, false },	     { "time_extend ", 30, false }, { "time_stamp ", 31, true },
		{ "data max type_len ", 28, false },
	};
	const char *text = (const char *)b->data + at;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		int value = tracedat_header_event_number(text, size, expected[i].label);
		if (value == expected[i].value || (value < 0 && expected[i].optional))
			continue;
		(void)tracedat_block_report(w, TRACEDAT_RULE_header_event_constants, b, at, size,
					    "header_event has %d for \"%s\", expected %d", value, expected[i].label,
					    expected[i].value);
		return;
	}
}

/* Finds header_page in block[at, end). False: there is not even its size. */
static bool page_text_find(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end)
{
	struct tracedat_header_place *h = &w->meta.header;
	size_t tag = at;

	if (end - at < PAGE_TAG_SIZE || memcmp(b->data + at, PAGE_TAG, PAGE_TAG_SIZE)) {
		const uint8_t *found = memmem(b->data + at, end - at, PAGE_TAG, PAGE_TAG_SIZE);
		tag = found ? (size_t)(found - b->data) : at;
		h->page_tag_bad = true;
		if (end - at >= PAGE_TAG_SIZE || memcmp(b->data + at, PAGE_TAG, end - at) || !tracedat_tail_explained(w, b, end))
			(void)tracedat_block_report(w, TRACEDAT_RULE_header_page_tag, b, at, PAGE_TAG_SIZE,
						    "expected the tag header_page here%s", found ? "; it follows later" : "");
	}
	h->size_at = tag + PAGE_TAG_SIZE;
	h->text = tag + PAGE_TAG_SIZE + 8;
	return h->text <= end;
}

/* Finds the tag of header_event behind the text of header_page, by its size or by the tag itself. Returns where it is. */
static size_t event_tag_find(struct tracedat_walk *w, const struct tracedat_block *b, size_t end)
{
	struct tracedat_header_place *h = &w->meta.header;
	uint64_t size = load_u64(b->data + h->size_at, w->shape.big_endian);
	size_t room = end - h->text;
	bool fits = size <= TRACEDAT_HEADER_MAX && size <= room;

	if (fits && room - size >= EVENT_TAG_SIZE && !memcmp(b->data + h->text + size, EVENT_TAG, EVENT_TAG_SIZE))
		return h->text + (size_t)size;
	const uint8_t *found = memmem(b->data + h->text, room, EVENT_TAG, EVENT_TAG_SIZE);
	if (!found) {
		size_t tag = fits ? h->text + (size_t)size : end;
		bool torn = size <= TRACEDAT_HEADER_MAX && end - tag < EVENT_TAG_SIZE &&
			    !memcmp(b->data + tag, EVENT_TAG, end - tag);
		h->event_tag_bad = true;
		if (!torn || !tracedat_tail_explained(w, b, end))
			(void)tracedat_block_report(w, TRACEDAT_RULE_header_event_tag, b, tag, EVENT_TAG_SIZE,
						    "expected the tag header_event here");
		return tag;
	}
	size_t tag = (size_t)(found - b->data);
	if (!h->page_tag_bad)
		(void)tracedat_block_report(w, TRACEDAT_RULE_header_page_size, b, h->size_at, 8,
					    "the size of header_page is %llu, expected the %zu bytes of its text",
					    (unsigned long long)size, tag - h->text);
	return tag;
}

/* The text of header_event fills the rest of the block. */
static void event_text_find(struct tracedat_walk *w, const struct tracedat_block *b, size_t tag, size_t end)
{
	struct tracedat_header_place *h = &w->meta.header;

	h->event_size_at = tag + EVENT_TAG_SIZE;
	h->event = tag + EVENT_TAG_SIZE + 8;
	h->event_lost = h->event > end;
	if (h->event_lost)
		return;
	uint64_t size = load_u64(b->data + h->event_size_at, w->shape.big_endian);
	h->event_size = end - h->event;
	/* The file may also end inside of the number of formats, or before the text of the first shows itself. */
	bool torn = size <= TRACEDAT_HEADER_MAX && (size > h->event_size || h->event_size - size < 4 + 8 + 5);
	if (size == h->event_size || h->event_tag_bad || (torn && tracedat_tail_explained(w, b, end)))
		return;
	(void)tracedat_block_report(w, TRACEDAT_RULE_header_page_size, b, h->event_size_at, 8,
				    "the size of header_event is %llu, expected the %zu bytes of its text",
				    (unsigned long long)size, h->event_size);
	h->event_lost = h->event_size > TRACEDAT_HEADER_MAX;
}

void tracedat_header_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end)
{
	struct tracedat_header_place *h = &w->meta.header;

	h->block = b;
	w->meta.seen[0] = true;
	w->shape.long_size = w->prefix.user_long == 4 ? 4 : 8;
	if (!page_text_find(w, b, at, end)) {
		h->page_lost = h->event_lost = true;
		return;
	}
	size_t tag = event_tag_find(w, b, end);
	h->text_size = tag - h->text;
	event_text_find(w, b, tag, end);
	if (!h->text_size && !h->event_size && !h->event_lost) {
		w->shape.old_ring = true;
		(void)tracedat_block_report(w, TRACEDAT_RULE_header_sizes_old_kernel, b, h->size_at, 8,
					    "header_page and header_event are empty: the encoding of Linux 2.6.30 and before");
		return;
	}
	if (h->page_tag_bad && !h->text_size)
		h->page_lost = true;
	else
		header_page_check(w, b, h->text, h->text_size);
	if (!h->event_lost && !h->event_tag_bad)
		header_event_check(w, b, h->event, h->event_size);
}

void tracedat_header_compose(struct tracedat_walk *w)
{
	struct tracedat_pieces *p = &w->meta.parts[0];
	bool seen = w->meta.seen[0];
	struct bytes page = { 0 }, event = { 0 };
	uint8_t size[8];
	uint64_t old = TRACEDAT_NO_OLD;
	bool page_new = !seen || w->meta.header.page_lost || w->meta.header.regenerate ||
			(w->meta.header_page_size && w->meta.header_page_size != w->shape.page_size);
	bool event_new = !seen || w->meta.header.event_lost || w->meta.header.event_tag_bad;

	if (w->shape.old_ring)
		page_new = event_new = false;
	if (page_new)
		tracedat_header_page_text(&page, w->shape.long_size, w->shape.page_size);
	if (event_new)
		tracedat_header_event_text(&event);
	if (seen && !w->meta.header.page_lost)
		old = w->meta.header.size_at - PAGE_TAG_SIZE;
	unsigned rule = w->meta.header.rule ? w->meta.header.rule
			: seen		    ? TRACEDAT_RULE_header_page_tag
					    : TRACEDAT_RULE_v7_mandatory_section;
	static const char why[] = "the value that the content of the header needs";
	(void)tracedat_pieces_field(p, NULL, old, PAGE_TAG, PAGE_TAG_SIZE, rule, why);
	store_u64(size, page_new ? page.size : w->meta.header.text_size, w->shape.big_endian);
	(void)tracedat_pieces_field(p, NULL, old == TRACEDAT_NO_OLD ? old : w->meta.header.size_at, size, 8,
				    TRACEDAT_RULE_header_page_size, why);
	if (page_new)
		(void)tracedat_pieces_literal(p, page.data, page.size, rule,
					      "header_page for the long size and page size of the capture");
	else
		tracedat_pieces_copy(p, NULL, w->meta.header.text, w->meta.header.text_size);
	old = event_new ? TRACEDAT_NO_OLD : w->meta.header.event_size_at - EVENT_TAG_SIZE;
	(void)tracedat_pieces_field(p, NULL, old, EVENT_TAG, EVENT_TAG_SIZE, TRACEDAT_RULE_header_event_tag, why);
	store_u64(size, event_new ? event.size : w->meta.header.event_size, w->shape.big_endian);
	(void)tracedat_pieces_field(p, NULL, event_new ? TRACEDAT_NO_OLD : w->meta.header.event_size_at, size, 8,
				    TRACEDAT_RULE_header_page_size, why);
	if (event_new)
		(void)tracedat_pieces_literal(p, event.data, event.size, TRACEDAT_RULE_header_event_tag,
					      "header_event of all kernels");
	else
		tracedat_pieces_copy(p, NULL, w->meta.header.event, w->meta.header.event_size);
	p->failed |= page.failed || event.failed;
	bytes_free(&page);
	bytes_free(&event);
}
