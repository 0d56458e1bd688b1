/* kernel_header and kernel-cpuN.dat: what ftrace recorded in the kernel. */
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

static bool read_head(struct kernel *k, const char **p, const char *end)
{
	struct uftrace_str page, word, order;

	if (!header_value(p, end, "PAGE_SIZE: ", &page) || !header_value(p, end, "LONG_SIZE: ", &word) ||
	    !header_value(p, end, "ENDIAN: ", &order))
		return false;
	if (!text_parse_u64(page.text, page.length, &k->page_size) || !text_parse_u64(word.text, word.length, &k->long_size))
		return false;
	k->big_endian = uftrace_str_is(order, "BE");
	return k->page_size >= 64 && k->page_size <= UFTRACE_KERNEL_PAGE_MAX && k->page_size % 8 == 0 &&
	       (k->long_size == 4 || k->long_size == 8) && (k->big_endian || uftrace_str_is(order, "LE"));
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

/* One block at p: its length with the line, or 0. */
static size_t block_length(const char *p, const char *end)
{
	const char *lf = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	uint64_t bytes;

	if (!lf || lf - p < 10 || memcmp(p, "TRACEFS: ", 9) != 0)
		return 0;
	const char *colon = text_last_byte(p, ':', (size_t)(lf - p));
	struct uftrace_str name = { p + 9, colon && colon > p + 9 ? (size_t)(colon - p - 9) : 0 };
	if (!name.length || !block_name_known(name) || colon + 2 > lf || colon[1] != ' ' ||
	    !text_parse_u64(colon + 2, (size_t)(lf - colon - 2), &bytes) || bytes > UFTRACE_KERNEL_BLOCK_MAX ||
	    bytes > (uint64_t)(end - lf - 1))
		return 0;
	size_t length = (size_t)(lf - p) + 1 + (size_t)bytes;
	if (!uftrace_str_is(name, "events/header_page") && !format_is_read(lf + 1, (size_t)bytes))
		return 0;
	/* The next block begins right after it. */
	if (p + length < end && ((size_t)(end - p) - length < 9 || memcmp(p + length, "TRACEFS: ", 9) != 0))
		return 0;
	return length;
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
	*usable = read_head(k, &p, end);
	if (!*usable) {
		finding_report(w->findings, UFTRACE_RULE_kernel_header_malformed, f->source, 0, size < 64 ? size : 64,
			       "the first three lines are not PAGE_SIZE, LONG_SIZE and ENDIAN with sound values");
		free(text);
		return drop_all(w, "kernel files whose header cannot be read");
	}
	while (p < end) {
		size_t length = block_length(p, end);
		if (length) {
			p += length;
			continue;
		}
		const char *next = p + 1;
		do {
			next = memmem(next, (size_t)(end - next), "TRACEFS: ", 9);
			if (next && block_length(next, end))
				break;
			next = next ? next + 1 : NULL;
		} while (next);
		uint64_t offset = (uint64_t)(p - text), n = (uint64_t)((next ? next : end) - p);
		finding_report(w->findings, UFTRACE_RULE_kernel_header_malformed, f->source, offset, n,
			       "a block of unknown name, or of more than 4096 bytes, of another length than it says, or of a "
			       "format that cannot be read");
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

/* Events of one page: they end exactly where the page says. */
static bool page_is_sound(const uint8_t *page, const struct kernel *k)
{
	size_t head = 8 + (size_t)k->long_size;
	uint64_t commit = k->long_size == 8 ? load_u64(page + 8, k->big_endian) : load_u32(page + 8, k->big_endian);
	uint64_t data = commit & UFTRACE_KERNEL_COMMIT_MASK;
	uint64_t at = 0;

	if (data > k->page_size - head)
		return false;
	while (at + 4 <= data) {
		uint32_t word = load_u32(page + head + at, k->big_endian), delta;
		uint32_t type = k->big_endian ? word >> 27 : word & 31;
		uint64_t length;
		delta = k->big_endian ? word & 0x7ffffff : word >> 5;
		if (type >= 1 && type <= 28)
			length = 4 + 4 * (uint64_t)type;
		else if (at + 8 > data && (type != 29 || delta))
			return false;
		else if (type == 0)
			length = 4 + (uint64_t)load_u32(page + head + at + 4, k->big_endian);
		else if (type == 29)
			length = delta ? 8 + (uint64_t)load_u32(page + head + at + 4, k->big_endian) - 4 : data - at;
		else
			length = 8;
		if (length < 4 || length > data - at)
			return false;
		at += (length + 3) & ~UINT64_C(3);
	}
	return true;
}

/* *kept: bytes that stay, of all files. */
static bool walk_pages(struct uftrace_walk *w, struct uftrace_file *f, const struct kernel *k, uint64_t *kept)
{
	struct source *source = f->source;
	struct window window;
	unsigned out = w->plan ? plan_output(w->plan, uftrace_dir_name(f)) : 0;
	uint64_t at = 0, beside = UINT64_MAX; /* the end of damaged pages */

	window_open(&window, source);
	for (; source->size - at >= k->page_size; at += k->page_size) {
		const uint8_t *page = window_at(&window, at, (size_t)k->page_size);
		if (!page)
			break;
		if (page_is_sound(page, k)) {
			if (w->plan)
				plan_copy(w->plan, out, source, at, k->page_size);
			if (w->plan && at == beside)
				plan_doubt(w->plan, source, at, k->page_size, "directly after damaged bytes");
			*kept += k->page_size;
			continue;
		}
		struct finding *fd = finding_report(w->findings, UFTRACE_RULE_kernel_page_malformed, source, at, k->page_size,
						    "page %llu: its length, or that of a record in it, passes its end",
						    (unsigned long long)(at / k->page_size));
		finding_field(fd, at + 8, 8, "commit word");
		if (w->plan) {
			if (at && at != beside)
				plan_doubt(w->plan, source, at - k->page_size, k->page_size, "directly before damaged bytes");
			plan_drop(w->plan, source, at, k->page_size, UFTRACE_RULE_kernel_page_malformed,
				  "a page that crashes readers");
			plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
		}
		beside = at + k->page_size;
	}
	enum tracemend_status status = window.status;
	window_close(&window);
	if (status != TM_OK)
		return uftrace_walk_fail(w, status);
	if (at < source->size) {
		finding_report(w->findings, UFTRACE_RULE_kernel_size, source, at, source->size - at,
			       "%llu bytes after the last whole page of %llu", (unsigned long long)(source->size - at),
			       (unsigned long long)k->page_size);
		if (w->plan)
			plan_copy(w->plan, out, source, at, source->size - at);
		*kept += source->size - at;
	}
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
