/* kernel_header and kernel-cpuN.dat: what ftrace recorded in the kernel. */
#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_str.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_side.h"

struct kernel {
	uint64_t page_size, long_size;
	bool big_endian;
};

static bool header_value(const char **p, const char *end, const char *key, struct uftrace_str *value)
{
	size_t n = strlen(key);
	const char *lf = *p < end ? memchr(*p, '\n', (size_t)(end - *p)) : NULL;

	if (!lf || (size_t)(lf - *p) < n || memcmp(*p, key, n) != 0)
		return false;
	*value = (struct uftrace_str){ *p + n, (size_t)(lf - *p) - n };
	*p = lf + 1;
	return true;
}

/* What is wrong, in words with the value that stands there and the one that is expected. */
struct fault {
	char text[TEXT_QUOTE_SIZE + 160];
};

static bool head_is_read(const char *text, const char **p, const char *end, struct uftrace_str values[3], struct fault *why)
{
	static const char *const keys[] = { "PAGE_SIZE: ", "LONG_SIZE: ", "ENDIAN: " };

	for (unsigned i = 0; i < 3; i++) {
		char shown[TEXT_QUOTE_SIZE];
		if (header_value(p, end, keys[i], &values[i]))
			continue;
		const char *lf = *p < end ? memchr(*p, '\n', (size_t)(end - *p)) : NULL;
		snprintf(why->text, sizeof(why->text), "line %u is '%s'; '%s' and a value are expected", i + 1,
			 text_quote(shown, *p, (size_t)((lf ? lf : end) - *p)), keys[i]);
		return false;
	}
	return *p > text;
}

static bool read_head(struct kernel *k, const char **p, const char *end, struct fault *why)
{
	struct uftrace_str value[3];
	char shown[TEXT_QUOTE_SIZE];

	if (!head_is_read(*p, p, end, value, why))
		return false;
	if (!text_parse_u64(value[0].text, value[0].length, &k->page_size) || k->page_size < 64 ||
	    k->page_size > UFTRACE_KERNEL_PAGE_MAX || k->page_size % 8 != 0)
		snprintf(why->text, sizeof(why->text), "PAGE_SIZE is '%s'; a multiple of 8 from 64 to %u is expected",
			 text_quote(shown, value[0].text, value[0].length), UFTRACE_KERNEL_PAGE_MAX);
	else if (!text_parse_u64(value[1].text, value[1].length, &k->long_size) || (k->long_size != 4 && k->long_size != 8))
		snprintf(why->text, sizeof(why->text), "LONG_SIZE is '%s'; 4 or 8 is expected",
			 text_quote(shown, value[1].text, value[1].length));
	else if (!uftrace_str_is(value[2], "BE") && !uftrace_str_is(value[2], "LE"))
		snprintf(why->text, sizeof(why->text), "ENDIAN is '%s'; LE or BE is expected",
			 text_quote(shown, value[2].text, value[2].length));
	else {
		k->big_endian = uftrace_str_is(value[2], "BE");
		return true;
	}
	return false;
}

static bool block_name_known(struct uftrace_str name)
{
	return uftrace_str_is(name, "events/header_page") ||
	       (name.length > 14 && !memcmp(name.text, "events/", 7) && !memcmp(name.text + name.length - 7, "/format", 7));
}

/* What readers need of an event's format: its name, its id and the head of its fields. They refuse the recording without. */
static bool format_is_read(const char *p, size_t size)
{
	static const char name[] = "name: ", id[] = "\nID: ", fields[] = "\nformat:\n";
	const char *found = memmem(p, size, id, sizeof(id) - 1), *end = p + size;

	if (size < sizeof(name) || memcmp(p, name, sizeof(name) - 1) != 0 || !found || !memmem(p, size, fields, sizeof(fields) - 1))
		return false;
	for (size_t i = 0; i < size; i++)
		if (((unsigned char)p[i] < ' ' && p[i] != '\n' && p[i] != '\t') || (unsigned char)p[i] > 126)
			return false;
	const char *digit = found + sizeof(id) - 1;
	while (digit < end && *digit >= '0' && *digit <= '9')
		digit++;
	return digit > found + sizeof(id) - 1 && digit < end && *digit == '\n';
}

/* The line at p of a block: its name and how many bytes it claims. False: it is none. */
static bool block_line(const char *p, const char *lf, struct uftrace_str *name, uint64_t *bytes)
{
	if (!lf || lf - p < 10 || memcmp(p, "TRACEFS: ", 9) != 0)
		return false;
	const char *colon = text_last_byte(p, ':', (size_t)(lf - p));
	*name = (struct uftrace_str){ p + 9, colon && colon > p + 9 ? (size_t)(colon - p - 9) : 0 };
	return name->length && colon + 2 <= lf && colon[1] == ' ' && text_parse_u64(colon + 2, (size_t)(lf - colon - 2), bytes);
}

/* One block at p: its length with the line, or 0. why: NULL, or what is wrong then. */
static size_t block_length(const char *p, const char *end, struct fault *why)
{
	const char *lf = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	struct fault ignored;
	struct uftrace_str name;
	uint64_t bytes = 0;
	char shown[TEXT_QUOTE_SIZE];

	why = why ? why : &ignored;
	if (!block_line(p, lf, &name, &bytes)) {
		snprintf(why->text, sizeof(why->text), "'%s' is not the first line of a block, 'TRACEFS: NAME: BYTES'",
			 text_quote(shown, p, (size_t)((lf ? lf : end) - p)));
		return 0;
	}
	text_quote(shown, name.text, name.length);
	const uint64_t left = (uint64_t)(end - lf - 1);
	const char *behind = lf + 1 + (bytes < left ? bytes : left);
	if (!block_name_known(name))
		snprintf(why->text, sizeof(why->text),
			 "a block of the name '%s'; events/header_page or events/NAME/format is expected", shown);
	else if (bytes > UFTRACE_KERNEL_BLOCK_MAX)
		snprintf(why->text, sizeof(why->text), "the block '%s' claims %llu bytes; readers have room for %u", shown,
			 (unsigned long long)bytes, UFTRACE_KERNEL_BLOCK_MAX);
	else if (bytes > left)
		snprintf(why->text, sizeof(why->text), "the block '%s' claims %llu bytes, and the file has %llu more", shown,
			 (unsigned long long)bytes, (unsigned long long)left);
	else if (!uftrace_str_is(name, "events/header_page") && !format_is_read(lf + 1, (size_t)bytes))
		snprintf(why->text, sizeof(why->text),
			 "the block '%s' is not a format: 'name: ', 'ID: ' with a number and 'format:' are "
			 "expected, in plain text",
			 shown);
	/* The next block begins right after it. */
	else if (behind < end && (end - behind < 9 || memcmp(behind, "TRACEFS: ", 9) != 0))
		snprintf(why->text, sizeof(why->text), "the block '%s' claims %llu bytes, and behind them is no 'TRACEFS: '", shown,
			 (unsigned long long)bytes);
	else
		return (size_t)(behind - p);
	return 0;
}

/* False: they were all that there is. */
static bool drop_all(struct uftrace_walk *w, const char *why)
{
	if (w->plan && !w->records->count)
		return uftrace_walk_fail(w, TM_NOTHING);
	for (size_t i = 0; i < w->dir->count; i++) {
		struct uftrace_file *f = &w->dir->files[i];
		if (f->kind == UFTRACE_FILE_KERNEL_HEADER || f->kind == UFTRACE_FILE_KERNEL_DAT)
			uftrace_repair_drop(w, f, UFTRACE_RULE_kernel_header_malformed, why);
	}
	if (w->plan)
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	if (w->info->head.new_feat & UFTRACE_BIT(UFTRACE_F_KERNEL)) {
		w->info->head.new_feat &= ~UFTRACE_BIT(UFTRACE_F_KERNEL);
		uftrace_info_blame(w->info, UFTRACE_RULE_kernel_header_malformed, "the kernel files cannot be read");
	}
	return true;
}

/* False: no kernel file can be read. */
static bool walk_header(struct uftrace_walk *w, struct kernel *k, bool *usable)
{
	struct uftrace_file *f = &w->dir->files[w->dir->kernel_header];
	struct edits edits = { 0 };
	char *text = NULL;
	size_t size = 0;

	if (!uftrace_walk_slurp(w, f->source, &text, &size))
		return false;
	const char *p = text, *end = text + size;
	struct fault why;
	*usable = read_head(k, &p, end, &why);
	if (!*usable) {
		finding_report(w->findings, UFTRACE_RULE_kernel_header_malformed, f->source, 0, size < 64 ? size : 64, "%s",
			       why.text);
		free(text);
		return drop_all(w, "kernel files whose header cannot be read");
	}
	while (p < end) {
		size_t length = block_length(p, end, &why);
		if (length) {
			p += length;
			continue;
		}
		const char *next = p + 1;
		do {
			next = memmem(next, (size_t)(end - next), "TRACEFS: ", 9);
			if (next && block_length(next, end, NULL))
				break;
			next = next ? next + 1 : NULL;
		} while (next);
		uint64_t offset = (uint64_t)(p - text), n = (uint64_t)((next ? next : end) - p);
		finding_report(w->findings, UFTRACE_RULE_kernel_header_malformed, f->source, offset, n, "%s", why.text);
		uftrace_edit_add(w, &edits, offset, n, NULL, 0, UFTRACE_RULE_kernel_header_malformed,
				 "not a block of kernel_header");
		if (w->plan)
			plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
		p = next ? next : end;
	}
	uftrace_edit_apply(w, &edits, f, uftrace_dir_name(f));
	edits_free(&edits);
	free(text);
	return w->status == TM_OK;
}

/* A page, and what is sound of it. */
struct page {
	uint64_t number, at, size; /* its number, its place in the file, and so many bytes the file has of it */
	uint64_t head, commit;	   /* bytes in front of the data; the commit word */
	uint64_t data;		   /* bytes of data that the commit word claims */
	uint64_t sound, last,
		claims; /* so many are events; where the last of these begins; the length of what is behind, 0: none */
};

/* The length of the event at p, of whose page `left` bytes of data remain, `there` of them in the file; 0: it is none. */
static uint64_t event_length(const uint8_t *p, uint64_t left, uint64_t there, const struct kernel *k)
{
	uint32_t word = load_u32(p, k->big_endian);
	uint32_t type = k->big_endian ? word >> 27 : word & 31, delta = k->big_endian ? word & 0x7ffffff : word >> 5;

	if (type >= 1 && type <= 28)
		return 4 + 4 * (uint64_t)type;
	if (type == 29 && !delta)
		return left;
	if (type >= 30 || there < 8)
		return 8;
	uint64_t length = 4 + (uint64_t)load_u32(p + 4, k->big_endian);
	return length < 8 ? 0 : length;
}

/* Whether the events of bytes[0, page->size) end exactly where the page says. */
static bool page_read(const uint8_t *bytes, const struct kernel *k, struct page *page)
{
	page->head = 8 + k->long_size;
	if (page->size < page->head)
		return bytes_are_zero(bytes, (size_t)page->size);
	page->commit = k->long_size == 8 ? load_u64(bytes + 8, k->big_endian) : load_u32(bytes + 8, k->big_endian);
	page->data = page->commit & UFTRACE_KERNEL_COMMIT_MASK;
	if (page->data > k->page_size - page->head)
		return false;
	const uint64_t end = page->head + page->data <= page->size ? page->data : page->size - page->head;
	while (page->sound + 4 <= end) {
		uint64_t there = end - page->sound;
		page->claims = event_length(bytes + page->head + page->sound, page->data - page->sound, there, k);
		if (!page->claims || page->claims > there)
			return false;
		page->last = page->sound;
		page->sound += (page->claims + 3) & ~UINT64_C(3);
	}
	if (page->sound > end)
		page->sound = end;
	return end == page->data;
}

static void report_page(struct uftrace_walk *w, const struct source *source, const struct kernel *k, const struct page *page)
{
	const unsigned long long number = page->number, data = page->data, room = k->page_size - page->head;
	struct finding *fd = finding_new(w->findings, UFTRACE_RULE_kernel_page_malformed, source, page->at, page->size);

	if (page->size < page->head) {
		finding_say(fd, "page %llu has %llu bytes; its header has %llu", number, (unsigned long long)page->size,
			    (unsigned long long)page->head);
		return;
	}
	if (data > room)
		finding_say(fd, "page %llu claims %llu bytes of data; it has room for %llu", number, data, room);
	else if (page->size < page->head + data)
		finding_say(fd, "page %llu claims %llu bytes of data, and the file ends after %llu of them", number, data,
			    (unsigned long long)(page->size - page->head));
	else if (!page->claims)
		finding_say(fd, "page %llu: byte %llu of its data begins no event: the length there is less than 4", number,
			    (unsigned long long)page->sound);
	else
		finding_say(fd, "page %llu: the event at byte %llu of its data claims %llu bytes, and %llu are left", number,
			    (unsigned long long)page->sound, (unsigned long long)page->claims,
			    (unsigned long long)(data - page->sound));
	finding_field(fd, page->at + 8, (uint32_t)k->long_size, "commit word: %llu bytes of data", data);
}

/* Keeps the events in front of the damage: the page ends there. */
static void cut_page(struct uftrace_walk *w, unsigned out, const struct source *source, const struct kernel *k,
		     const struct page *page)
{
	static const char why[] = "damaged, and what comes behind it has no time";
	const uint64_t keep = page->head + page->sound, commit = page->commit & ~(UINT64_C(1) << 30 | UFTRACE_KERNEL_COMMIT_MASK);
	uint8_t word[8], zeros[256] = { 0 };

	if (k->long_size == 8)
		store_u64(word, commit | page->sound, k->big_endian);
	else
		store_u32(word, (uint32_t)(commit | page->sound), k->big_endian);
	plan_copy(w->plan, out, source, page->at, 8);
	plan_replace(w->plan, out, source, page->at + 8, k->long_size, word, (size_t)k->long_size,
		     UFTRACE_RULE_kernel_page_malformed, "the bytes of data that are events");
	plan_copy(w->plan, out, source, page->at + page->head, page->sound);
	plan_drop(w->plan, source, page->at + keep, page->size - keep, UFTRACE_RULE_kernel_page_malformed, why);
	for (uint64_t left = k->page_size - keep, n; left; left -= n) {
		n = left < sizeof(zeros) ? left : sizeof(zeros);
		plan_literal(w->plan, out, zeros, (size_t)n, UFTRACE_RULE_kernel_page_malformed, "the rest of a page");
	}
	plan_doubt(w->plan, source, page->at + page->head + page->last, page->sound - page->last, "directly before damaged bytes");
}

/* What becomes of a damaged page. beside: the end of the damaged page in front of it. Returns how many bytes stay. */
static uint64_t mend_page(struct uftrace_walk *w, unsigned out, const struct source *source, const struct kernel *k,
			  const struct page *page, uint64_t beside)
{
	if (!w->plan)
		return page->sound ? page->size : 0;
	plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	if (page->sound) {
		cut_page(w, out, source, k, page);
		return page->size;
	}
	if (page->at && page->at != beside)
		plan_doubt(w->plan, source, page->at - k->page_size, k->page_size, "directly before damaged bytes");
	plan_drop(w->plan, source, page->at, page->size, UFTRACE_RULE_kernel_page_malformed, "a page whose events cannot be read");
	return 0;
}

static void keep_page(struct uftrace_walk *w, unsigned out, const struct source *source, const struct kernel *k,
		      const struct page *page, uint64_t beside)
{
	if (page->size < k->page_size)
		finding_report(w->findings, UFTRACE_RULE_kernel_size, source, page->at, page->size,
			       "%llu bytes after the last whole page of %llu", (unsigned long long)page->size,
			       (unsigned long long)k->page_size);
	if (!w->plan)
		return;
	plan_copy(w->plan, out, source, page->at, page->size);
	if (page->at == beside)
		plan_doubt(w->plan, source, page->at, page->size, "directly after damaged bytes");
}

/* *kept: bytes that stay, of all files. */
static bool walk_pages(struct uftrace_walk *w, struct uftrace_file *f, const struct kernel *k, uint64_t *kept)
{
	struct source *source = f->source;
	struct window window;
	unsigned out = w->plan ? plan_output(w->plan, uftrace_dir_name(f)) : 0;
	uint64_t beside = UINT64_MAX; /* the end of damaged pages */
	struct page page = { 0 };

	window_open(&window, source);
	for (uint64_t at = 0; at < source->size; at += page.size) {
		uint64_t left = source->size - at;
		page = (struct page){ .number = at / k->page_size, .at = at, .size = left < k->page_size ? left : k->page_size };
		const uint8_t *bytes = window_at(&window, at, (size_t)page.size);
		if (!bytes)
			break;
		if (page_read(bytes, k, &page)) {
			keep_page(w, out, source, k, &page, beside);
			*kept += page.size;
			continue;
		}
		report_page(w, source, k, &page);
		*kept += mend_page(w, out, source, k, &page, beside);
		beside = at + page.size;
	}
	enum tracemend_status status = window.status;
	window_close(&window);
	if (status != TM_OK)
		return uftrace_walk_fail(w, status);
	f->planned = true;
	return true;
}

bool uftrace_kernel_walk(struct uftrace_walk *w)
{
	struct kernel k = { 0 };
	bool usable = false;
	uint64_t kept = 0;

	if (w->dir->kernel_header == UFTRACE_NONE)
		return true;
	if (!walk_header(w, &k, &usable))
		return false;
	for (size_t i = 0; i < w->dir->count && usable; i++)
		if (w->dir->files[i].kind == UFTRACE_FILE_KERNEL_DAT && !walk_pages(w, &w->dir->files[i], &k, &kept))
			return false;
	if (w->plan && usable && w->dir->has_kernel && !kept && !w->records->count)
		return uftrace_walk_fail(w, TM_NOTHING);
	return true;
}
