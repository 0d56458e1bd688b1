/* info: the lines after the header, "key:value", in the order of the bits of info_mask. */
#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_taskinfo.h"

/* Lines of info that are read; what follows them counts as trailing bytes. */
#define INFO_lines_MAX 65536u

static const struct {
	const char *key;
	unsigned bit;
	unsigned max; /* lines after "lines="; 0: a single line */
} keys[] = {
	{ "exename", UFTRACE_I_EXE_NAME, 0 },
	{ "build_id", UFTRACE_I_BUILD_ID, 0 },
	{ "exit_status", UFTRACE_I_EXIT_STATUS, 0 },
	{ "cmdline", UFTRACE_I_CMDLINE, 0 },
	{ "cpuinfo", UFTRACE_I_CPUINFO, 2 },
	{ "meminfo", UFTRACE_I_MEMINFO, 0 },
	{ "osinfo", UFTRACE_I_OSINFO, 3 },
	{ "taskinfo", UFTRACE_I_TASKINFO, 2 },
	{ "usageinfo", UFTRACE_I_USAGEINFO, 6 },
	{ "loadinfo", UFTRACE_I_LOADINFO, 0 },
	{ "argspec", UFTRACE_I_ARG_SPEC, 6 },
	{ "retspec", UFTRACE_I_ARG_SPEC, 6 },
	{ "argauto", UFTRACE_I_ARG_SPEC, 6 },
	{ "retauto", UFTRACE_I_ARG_SPEC, 6 },
	{ "enumauto", UFTRACE_I_ARG_SPEC, 6 },
	{ "auto-args", UFTRACE_I_ARG_SPEC, 6 },
	{ "record_date", UFTRACE_I_RECORD_DATE, 0 },
	{ "elapsed_time", UFTRACE_I_RECORD_DATE, 0 },
	{ "pattern_type", UFTRACE_I_PATTERN_TYPE, 0 },
	{ "uftrace_version", UFTRACE_I_VERSION, 0 },
	{ "utc_offset", UFTRACE_I_UTC_OFFSET, 0 },
	{ "sysctl", UFTRACE_I_SYSCTL, 0 },
};

static const char *const bit_keys[UFTRACE_I_COUNT] = { "exename",      "build_id",	  "exit_status", "cmdline",
						       "cpuinfo",      "meminfo",	  "osinfo",	 "taskinfo",
						       "usageinfo",    "loadinfo",	  "argspec",	 "record_date",
						       "pattern_type", "uftrace_version", "utc_offset",	 "sysctl" };

static unsigned block_max(unsigned bit)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].bit == bit)
			return keys[i].max;
	return 0;
}

static void line_identify(struct uftrace_line *line, const char *text)
{
	line->bit = UFTRACE_I_COUNT;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t n = strlen(keys[i].key);
		if (line->length <= n || memcmp(text, keys[i].key, n) != 0 || text[n] != ':')
			continue;
		line->bit = keys[i].bit;
		line->key_second = !strcmp(keys[i].key, "elapsed_time") ||
				   (keys[i].bit == UFTRACE_I_ARG_SPEC && strcmp(keys[i].key, "argspec") != 0);
		line->value = (struct uftrace_str){ text + n + 1, line->length - n - 1 };
		return;
	}
}

static void line_drop(struct uftrace_line *line, enum uftrace_rule rule, const char *why)
{
	if (line->drop)
		return;
	line->drop = true;
	line->rule = (unsigned)rule;
	line->why = why;
}

/* Writes prefix and the line itself, ended by an LF, in place of the line. */
static bool line_rewrite(struct uftrace_walk *w, struct uftrace_line *line, const char *prefix, struct uftrace_str body,
			 enum uftrace_rule rule, const char *why)
{
	if (!w->plan)
		return true;
	size_t n = strlen(prefix);
	char *text = malloc(n + body.length + 2);
	if (!text)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	memcpy(text, prefix, n);
	memcpy(text + n, body.text, body.length);
	/* The text is kept NUL-terminated; a NUL within it becomes a blank. */
	for (size_t i = n; i < n + body.length; i++)
		if (!text[i])
			text[i] = ' ';
	text[n + body.length] = '\n';
	text[n + body.length + 1] = '\0';
	free(line->text);
	line->text = text;
	line->rule = (unsigned)rule;
	line->why = why;
	return true;
}

static struct uftrace_str line_body(const struct uftrace_walk *w, const struct uftrace_line *line)
{
	return (struct uftrace_str){ w->info->text + line->offset, line->length };
}

/* Splits the text; finds where it ends: after the last line whose key is known. */
static bool split(struct uftrace_walk *w)
{
	struct uftrace_lines *l = &w->info->lines;
	size_t at = w->info->begin, known = 0;

	while (at < w->info->size && l->count < INFO_lines_MAX) {
		const char *text = w->info->text + at;
		const char *end = memchr(text, '\n', w->info->size - at);
		size_t raw = end ? (size_t)(end - text) + 1 : w->info->size - at;
		if (!uftrace_walk_room(w, &l->list, &l->capacity, l->count, sizeof(*l->list)))
			return false;
		struct uftrace_line *list = l->list;
		struct uftrace_line *line = &list[l->count++];
		*line = (struct uftrace_line){ .offset = at, .raw = raw, .length = end ? raw - 1 : raw, .ended = end != NULL };
		line->length = uftrace_line_length(text, line->length);
		line_identify(line, text);
		if (line->bit < UFTRACE_I_COUNT)
			known = l->count;
		at += raw;
	}
	l->trailing = known < l->count ? l->list[known].offset : at;
	l->count = known;
	return true;
}

static void check_ends(struct uftrace_walk *w, struct source *source)
{
	struct uftrace_lines *l = &w->info->lines;
	struct finding *fd = NULL;
	uint64_t faulty = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct uftrace_line *line = &l->list[i];
		bool cr = line->ended && line->raw - line->length >= 2, blank = line->ended && !line->length;
		if (!cr && !blank)
			continue;
		if (!faulty++) {
			fd = finding_report(w->findings, UFTRACE_RULE_info_crlf_or_blank, source, line->offset, line->raw,
					    cr ? "the line ends in CR LF: readers take the CR for a part of the value"
					       : "an empty line: readers give up here");
			finding_path(fd, "line %zu", i + 1);
		}
		if (blank)
			line_drop(line, UFTRACE_RULE_info_crlf_or_blank, "an empty line");
	}
	if (faulty > 1)
		finding_explains(fd, faulty - 1);
	bool reported = false;
	for (size_t i = 0; i < l->count; i++) {
		const struct uftrace_line *line = &l->list[i];
		const char *nul = line->length ? memchr(w->info->text + line->offset, '\0', line->length) : NULL;
		if (!nul)
			continue;
		uftrace_repair_doubt(w, source, line->offset, line->raw);
		if (!reported)
			finding_report(w->findings, UFTRACE_RULE_info_nul_in_text, source, (uint64_t)(nul - w->info->text), 1,
				       "a NUL byte in the text: readers see the line end there");
		reported = true;
	}
}

/* The last line lacks its LF: the file was cut. */
static void check_tail(struct uftrace_walk *w, struct source *source)
{
	struct uftrace_lines *l = &w->info->lines;
	struct uftrace_line *last = l->count ? &l->list[l->count - 1] : NULL;

	if (w->info->size <= w->info->begin || (last && last->ended && l->trailing == w->info->size))
		return;
	if (last && !last->ended) {
		struct finding *fd = finding_report(w->findings, UFTRACE_RULE_info_no_final_newline, source, last->offset,
						    last->raw,
						    "the last line has no LF: the file was cut, and the value may be incomplete");
		finding_path(fd, "line %zu (%s)", l->count, bit_keys[last->bit]);
		if (last->bit == UFTRACE_I_TASKINFO || last->bit == UFTRACE_I_ARG_SPEC || last->bit == UFTRACE_I_RECORD_DATE ||
		    last->bit == UFTRACE_I_BUILD_ID || block_max(last->bit))
			line_drop(last, UFTRACE_RULE_info_no_final_newline, "the value may be incomplete");
		else {
			line_rewrite(w, last, "", line_body(w, last), UFTRACE_RULE_info_no_final_newline, "the end of the line");
			if (w->plan)
				plan_doubt(w->plan, source, last->offset, last->raw, "the value may be incomplete");
		}
		if (!l->damage)
			l->damage = fd;
		return;
	}
	/* What follows the last known line. Cut short of its key? */
	const char *text = w->info->text + l->trailing;
	size_t n = w->info->size - (size_t)l->trailing;
	bool cut = false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && n < 20; i++)
		cut |= n <= strlen(keys[i].key) && !memcmp(text, keys[i].key, n);
	if (cut) {
		struct finding *fd = finding_report(w->findings, UFTRACE_RULE_info_no_final_newline, source, l->trailing, n,
						    "the last line is cut in the middle of its key");
		l->trailing_drop = true;
		if (!l->damage)
			l->damage = fd;
		if (w->plan)
			plan_lost_other(w->plan);
		return;
	}
	finding_report(w->findings, UFTRACE_RULE_info_trailing_bytes, source, l->trailing, n, "%zu bytes after the last line", n);
	uftrace_repair_doubt(w, source, l->trailing, n);
}

/* A block of lines: its first one, "key:lines=N", and the number of the others. */
struct block {
	unsigned bit;
	size_t first, end;	   /* lines[first, end); those of other bits in between do not count */
	struct uftrace_line *head; /* NULL: there is none */
	bool number;		   /* N is a number: said */
	bool again;		   /* it comes twice */
	uint64_t claimed;
	unsigned items, max; /* items: max + 1 when there were more */
};

static void count_lines(struct uftrace_lines *l, struct block *b)
{
	for (size_t i = b->first; i < b->end; i++) {
		struct uftrace_line *line = &l->list[i];
		if (line->drop || line->bit != b->bit)
			continue;
		bool lines = line->value.length >= 6 && !memcmp(line->value.text, "lines=", 6) && !line->key_second;
		if (!b->head && !b->items && lines) {
			b->head = line;
			b->number = text_parse_u64(line->value.text + 6, line->value.length - 6, &b->claimed);
		} else if (lines || b->items >= b->max) {
			line_drop(line, UFTRACE_RULE_info_lines_count, "one line too many");
			b->again |= lines;
			b->items += b->items >= b->max;
		} else {
			b->items++;
		}
	}
}

static void report_count(struct uftrace_walk *w, struct source *source, const struct block *b)
{
	struct uftrace_lines *l = &w->info->lines;
	const struct uftrace_line *at = b->head ? b->head : &l->list[b->first];
	struct finding *fd;

	if (l->damage && w->info->recorder_died != l->damage && !b->head) {
		finding_explains(l->damage, 1);
		return;
	}
	if (b->again && b->head && b->number && b->claimed == b->items)
		fd = finding_report(w->findings, UFTRACE_RULE_info_lines_count, source, at->offset, at->raw,
				    "the block says twice how many lines follow: readers give up");
	else if (b->head && b->number)
		fd = finding_report(w->findings, UFTRACE_RULE_info_lines_count, source, at->offset, at->raw,
				    "the block says that %llu lines follow; there are %u", (unsigned long long)b->claimed,
				    b->items);
	else
		fd = finding_report(w->findings, UFTRACE_RULE_info_lines_count, source, at->offset, at->raw,
				    b->head ? "the number of lines that follow is not a number"
					    : "the block does not say how many lines follow");
	finding_path(fd, "%s", bit_keys[b->bit]);
	l->torn = true;
	if (!l->damage)
		l->damage = fd;
}

static bool check_count(struct uftrace_walk *w, struct source *source, size_t first, size_t end, unsigned bit)
{
	struct uftrace_lines *l = &w->info->lines;
	struct block b = { .bit = bit, .first = first, .end = end, .max = block_max(bit) };
	const struct uftrace_str none = { "", 0 };
	const char *why = "the number of lines that follow";
	char prefix[40];

	count_lines(l, &b);
	if (bit == UFTRACE_I_ARG_SPEC && !b.head && b.items == 1 && !l->list[first].key_second)
		return true; /* writers before 0.8.1 */
	if (b.head && b.number && b.claimed == b.items && b.items <= b.max && !b.again)
		return true;
	report_count(w, source, &b);
	/* As far as is known, it had more lines. */
	if (w->plan && b.head && b.number && b.claimed > b.items)
		plan_lost_other(w->plan);
	snprintf(prefix, sizeof(prefix), "%s:lines=%u%s", bit_keys[bit], b.items > b.max ? b.max : b.items, b.head ? "" : "\n");
	if (b.head)
		return line_rewrite(w, b.head, prefix, none, UFTRACE_RULE_info_lines_count, why);
	for (size_t i = first; i < end; i++)
		if (!l->list[i].drop && l->list[i].bit == bit)
			return line_rewrite(w, &l->list[i], prefix, line_body(w, &l->list[i]), UFTRACE_RULE_info_lines_count, why);
	return true;
}

/* Each line on its own: length, digits. */
static void check_values(struct uftrace_walk *w, struct source *source)
{
	struct uftrace_lines *l = &w->info->lines;

	for (size_t i = 0; i < l->count; i++) {
		struct uftrace_line *line = &l->list[i];
		if (line->drop || line->bit >= UFTRACE_I_COUNT)
			continue;
		if (line->length + 1 > UFTRACE_INFO_LINE_MAX && line->bit != UFTRACE_I_TASKINFO &&
		    line->bit != UFTRACE_I_ARG_SPEC) {
			struct finding *fd =
				finding_report(w->findings, UFTRACE_RULE_info_line_too_long, source, line->offset, line->raw,
					       "the line has %zu bytes; readers take at most 4095 with the LF", line->length + 1);
			finding_path(fd, "line %zu (%s)", i + 1, bit_keys[line->bit]);
			struct uftrace_str body = { w->info->text + line->offset, UFTRACE_INFO_LINE_MAX - 1 };
			line_rewrite(w, line, "", body, UFTRACE_RULE_info_line_too_long, "cut to what readers take");
			if (w->plan)
				plan_lost_other(w->plan);
		}
		if (line->bit == UFTRACE_I_BUILD_ID) {
			bool good = line->value.length == 40;
			for (size_t k = 0; good && k < 40; k++)
				good = strchr("0123456789abcdefABCDEF", line->value.text[k]) && line->value.text[k];
			if (!good) {
				char shown[TEXT_QUOTE_SIZE];
				finding_report(w->findings, UFTRACE_RULE_info_build_id_format, source, line->offset, line->raw,
					       "build id '%s' is not 40 hexadecimal digits",
					       text_quote(shown, line->value.text, line->value.length));
				line_drop(line, UFTRACE_RULE_info_build_id_format, "not a build id");
			}
		}
	}
}

/* Two dates are one bit: both or none. */
static void check_dates(struct uftrace_walk *w, struct source *source)
{
	struct uftrace_lines *l = &w->info->lines;
	struct uftrace_line *date = NULL, *elapsed = NULL;

	for (size_t i = 0; i < l->count; i++) {
		struct uftrace_line *line = &l->list[i];
		if (line->drop || line->bit != UFTRACE_I_RECORD_DATE)
			continue;
		struct uftrace_line **slot = line->key_second ? &elapsed : &date;
		if (!*slot && !(line->key_second && !date)) {
			*slot = line;
			continue;
		}
		line_drop(line, UFTRACE_RULE_info_block_order, "a repetition, or in the wrong order");
		l->torn = true;
		if (l->damage)
			finding_explains(l->damage, 1);
		else
			l->damage = finding_report(w->findings, UFTRACE_RULE_info_block_order, source, line->offset, line->raw,
						   *slot ? "the line is there twice: readers give up"
							 : "elapsed_time without record_date in front of it: readers give up");
	}
	if (!date || elapsed)
		return;
	l->torn = true;
	if (l->damage) {
		finding_explains(l->damage, 1);
	} else {
		l->damage = finding_report(w->findings, UFTRACE_RULE_info_block_missing, source, date->offset, date->raw,
					   "record_date is not followed by elapsed_time");
	}
	line_drop(date, UFTRACE_RULE_info_block_missing, "the line that belongs to it is missing");
}

/* A block that occurs twice or comes too early. *order: the finding of the first such block, NULL before it. */
static void report_order(struct uftrace_walk *w, struct source *source, size_t index, bool again, unsigned highest,
			 struct finding **order)
{
	const struct uftrace_line *line = &w->info->lines.list[index];

	w->info->lines.torn |= again;
	if (*order) {
		finding_explains(*order, 1);
		return;
	}
	*order = finding_report(w->findings, UFTRACE_RULE_info_block_order, source, line->offset, line->raw,
				again ? "'%s' occurs twice"
				      : "'%s' comes after '%s'; readers take the lines in the order of the bits of info_mask",
				bit_keys[line->bit], bit_keys[highest]);
	finding_path(*order, "line %zu (%s)", index + 1, bit_keys[line->bit]);
}

/* Of a single line only the first counts. */
static void check_single(struct uftrace_walk *w, struct source *source, size_t first, size_t end, struct finding **order)
{
	struct uftrace_lines *l = &w->info->lines;
	unsigned bit = l->list[first].bit;

	for (size_t i = first + 1; i < end; i++) {
		struct uftrace_line *line = &l->list[i];
		if (line->drop || line->bit != bit)
			continue;
		line_drop(line, UFTRACE_RULE_info_block_order, "a repetition");
		l->torn = true;
		if (*order)
			finding_explains(*order, 1);
		else
			*order = finding_report(w->findings, UFTRACE_RULE_info_block_order, source, line->offset, line->raw,
						"'%s' occurs twice", bit_keys[bit]);
	}
}

/* The blocks against info_mask and against each other. Returns the mask of the lines that are kept. */
static bool check_blocks(struct uftrace_walk *w, struct source *source, uint64_t *kept)
{
	struct uftrace_lines *l = &w->info->lines;
	uint64_t seen = 0;
	unsigned highest = 0;
	struct finding *order = NULL;

	for (size_t i = 0, end; i < l->count; i = end) {
		unsigned bit = l->list[i].bit;
		end = i + 1;
		if (l->list[i].drop || bit >= UFTRACE_I_COUNT)
			continue;
		while (end < l->count && (l->list[end].bit == bit || l->list[end].bit >= UFTRACE_I_COUNT || l->list[end].drop))
			end++;
		bool again = seen & UFTRACE_BIT(bit);
		if (again || (seen && bit < highest))
			report_order(w, source, i, again, highest, &order);
		if (again)
			for (size_t k = i; k < end; k++)
				line_drop(&l->list[k], UFTRACE_RULE_info_block_order, "a repetition");
		else if (block_max(bit) && !check_count(w, source, i, end, bit))
			return false;
		else if (!block_max(bit) && bit != UFTRACE_I_RECORD_DATE) /* two lines: check_dates() */
			check_single(w, source, i, end, &order);
		seen |= UFTRACE_BIT(bit);
		highest = bit > highest ? bit : highest;
	}
	check_dates(w, source);
	*kept = 0;
	for (size_t i = 0; i < l->count; i++)
		if (!l->list[i].drop && l->list[i].bit < UFTRACE_I_COUNT)
			*kept |= UFTRACE_BIT(l->list[i].bit);
	return true;
}

static void check_mask(struct uftrace_walk *w, struct source *source, uint64_t kept)
{
	struct uftrace_lines *l = &w->info->lines;
	struct finding *missing = l->damage, *extra = w->info->head.mask ? NULL : l->damage;
	uint64_t lines = 0; /* of any kind, those that are dropped among them */

	for (size_t i = 0; i < l->count; i++)
		lines |= UFTRACE_BIT(l->list[i].bit);
	for (unsigned bit = 0; bit < UFTRACE_I_COUNT; bit++) {
		bool promised = w->info->head.mask & UFTRACE_BIT(bit), there = kept & UFTRACE_BIT(bit);
		if (promised == there || (!there && lines & UFTRACE_BIT(bit)))
			continue;
		struct finding **fd = there ? &extra : &missing;
		if (!there && w->plan)
			plan_lost_other(w->plan);
		if (*fd) {
			finding_explains(*fd, 1);
			continue;
		}
		*fd = finding_new(w->findings, there ? UFTRACE_RULE_info_block_unannounced : UFTRACE_RULE_info_block_missing,
				  source, UFTRACE_H_INFO_MASK, 8);
		if (there)
			finding_say(*fd, "the line '%s' is there, and bit %u of info_mask is clear", bit_keys[bit], bit);
		else
			finding_say(*fd, "bit %u of info_mask is set, and the line '%s' is not there", bit, bit_keys[bit]);
		finding_field(*fd, UFTRACE_H_INFO_MASK, 8, "info_mask = 0x%llx", (unsigned long long)w->info->head.mask);
		if (!there) {
			l->damage = *fd;
			l->torn = true;
		}
	}
}

/* Lines whose key is not known, among those that are: readers give up at the first. */
static void check_strays(struct uftrace_walk *w, struct source *source, uint64_t kept)
{
	struct uftrace_lines *l = &w->info->lines;
	struct finding *fd = NULL;

	for (size_t i = 0; i < l->count; i++) {
		struct uftrace_line *line = &l->list[i];
		if (line->bit < UFTRACE_I_COUNT || line->drop)
			continue;
		if (!l->damage && !fd && !(w->info->head.mask & ~kept & (UFTRACE_BIT(UFTRACE_I_COUNT) - 1))) {
			fd = finding_report(w->findings, UFTRACE_RULE_info_block_missing, source, line->offset, line->raw,
					    "a line whose key no reader knows: it stands where another is expected");
			finding_path(fd, "line %zu", i + 1);
			l->damage = fd;
		}
		line_drop(line, UFTRACE_RULE_info_block_missing, "a line whose key no reader knows");
		l->torn = true;
	}
}

/* Whether the value holds the beginning of another line: the end of this one was hit. */
static bool holds_key(struct uftrace_str value)
{
	for (size_t i = 0; i < value.length; i++) {
		if (value.text[i] != ':')
			continue;
		for (unsigned bit = 0; bit < UFTRACE_I_COUNT; bit++) {
			size_t n = strlen(bit_keys[bit]);
			if (n <= i && !memcmp(value.text + i - n, bit_keys[bit], n))
				return true;
		}
	}
	return false;
}

/* Where lines are missing or are none, others that seem to be whole may have been hit: any of them. A file that ends too early is
 * only short; of it these are those in front of what no reader knows, those that go on as another one, those that are not text. */
static void doubt_lines(struct uftrace_walk *w, struct source *source)
{
	const struct uftrace_lines *l = &w->info->lines;

	for (size_t i = 0; (l->damage || l->torn) && i < l->count; i++) {
		const struct uftrace_line *line = &l->list[i];
		if (line->drop || line->bit >= UFTRACE_I_COUNT)
			continue;
		if (l->torn || (i + 1 < l->count && l->list[i + 1].bit >= UFTRACE_I_COUNT) || !uftrace_str_is_text(line->value) ||
		    holds_key(line->value))
			uftrace_repair_doubt(w, source, line->offset, line->raw);
	}
}

bool uftrace_info_text(struct uftrace_walk *w)
{
	struct source *source = w->dir->files[w->dir->info].source;
	uint64_t kept;

	if (!split(w))
		return false;
	check_ends(w, source);
	check_tail(w, source);
	check_values(w, source);
	if (!check_blocks(w, source, &kept))
		return false;
	check_strays(w, source, kept);
	check_mask(w, source, kept);
	doubt_lines(w, source);
	w->info->head.new_mask = kept;
	w->info->head.mask = w->info->head.present ? w->info->head.mask : 0;
	return w->status == TM_OK && uftrace_info_values(w) && uftrace_taskinfo_read(w);
}
