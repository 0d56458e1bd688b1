/* info, written anew where its header, a line or the list of tasks is not as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/uftrace/decode/uftrace_info_value.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/salvage/uftrace_infer.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_taskinfo.h"

static void plan_lines_of(struct uftrace_walk *w, unsigned out, unsigned bit, bool write)
{
	struct uftrace_lines *l = &w->info->lines;
	struct source *source = w->dir->files[w->dir->info].source;

	for (size_t i = 0; i < l->count; i++) {
		struct uftrace_line *line = &l->list[i];
		if (line->bit != bit)
			continue;
		/* In an info that is damaged, what no recorder writes there was hit, too. */
		if (write && !line->drop && !line->text && l->damage && l->damage != w->info->recorder_died &&
		    !uftrace_info_value_fits(bit, line->key_second, line->value))
			plan_doubt(w->plan, source, line->offset, line->raw, "a value of another form");
		if (line->drop && line->rule != UFTRACE_RULE_info_crlf_or_blank && line->rule != UFTRACE_RULE_argspec_missing)
			plan_lost_other(w->plan);
		if (!write || line->drop)
			plan_drop(w->plan, source, line->offset, line->raw, line->drop ? line->rule : l->taskinfo_rule,
				  line->drop ? line->why : l->taskinfo_why);
		else if (line->text)
			plan_replace(w->plan, out, source, line->offset, line->raw, line->text, strlen(line->text), line->rule,
				     line->why);
		else if (line->ended && line->raw - line->length >= 2) {
			plan_copy(w->plan, out, source, line->offset, line->length);
			plan_drop(w->plan, source, line->offset + line->length, line->raw - line->length - 1,
				  UFTRACE_RULE_info_crlf_or_blank, "a CR");
			plan_copy(w->plan, out, source, line->offset + line->raw - 1, 1);
		} else
			plan_copy(w->plan, out, source, line->offset, line->raw);
	}
}

static int tid_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

static bool plan_taskinfo(struct uftrace_walk *w, unsigned out)
{
	struct bytes text = { 0 };

	if (w->taskinfo->count)
		qsort(w->taskinfo->tids, w->taskinfo->count, sizeof(*w->taskinfo->tids), tid_compare);
	bytes_printf(&text, "taskinfo:lines=2\ntaskinfo:nr_tid=%zu\ntaskinfo:tids=", w->taskinfo->count);
	for (size_t i = 0; i < w->taskinfo->count; i++)
		bytes_printf(&text, "%s%lld", i ? "," : "", (long long)w->taskinfo->tids[i]);
	bytes_text(&text, "\n");
	bool failed = text.failed;
	if (!failed)
		plan_literal(w->plan, out, text.data, text.size, w->info->lines.taskinfo_rule, w->info->lines.taskinfo_why);
	bytes_free(&text);
	return !failed || uftrace_walk_fail(w, TM_NO_MEMORY);
}

/* A name for a rebuilt info: the program of the first session. */
static void plan_exename(struct uftrace_walk *w, unsigned out)
{
	struct bytes text = { 0 };

	bytes_text(&text, "exename:");
	bytes_append(&text, w->sessions->list[0].exename.text, w->sessions->list[0].exename.length);
	bytes_text(&text, "\n");
	if (!text.failed)
		plan_literal(w->plan, out, text.data, text.size, w->info->lines.header_rule, w->info->lines.header_why);
	else
		uftrace_walk_fail(w, TM_NO_MEMORY);
	bytes_free(&text);
}

static bool exename_can_be_written(const struct uftrace_walk *w)
{
	if (!w->sessions->count)
		return false;
	struct uftrace_str name = w->sessions->list[0].exename;
	return name.length && name.length < UFTRACE_INFO_LINE_MAX - 16 && !memchr(name.text, '\n', name.length) &&
	       !memchr(name.text, '\r', name.length) && !memchr(name.text, '\0', name.length);
}

static void plan_header(struct uftrace_walk *w, unsigned out, uint64_t mask)
{
	struct uftrace_head *h = &w->info->head;
	struct uftrace_lines *l = &w->info->lines;
	uint8_t header[UFTRACE_HEADER_SIZE] = { 0 };
	struct source *source = w->dir->info != UFTRACE_NONE ? w->dir->files[w->dir->info].source : NULL;

	if (source && source->size >= sizeof(header) && h->present && w->info->text)
		memcpy(header, w->info->header, sizeof(header));
	else
		store_u16(header + UFTRACE_H_HEADER_SIZE, UFTRACE_HEADER_SIZE, h->big_endian);
	memcpy(header, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE);
	store_u32(header + UFTRACE_H_VERSION, h->version, h->big_endian);
	header[UFTRACE_H_ENDIAN] = h->big_endian ? UFTRACE_BIG : UFTRACE_LITTLE;
	if (!h->present || (h->class_lost && h->class == UFTRACE_64))
		header[UFTRACE_H_CLASS] = (uint8_t)h->class;
	store_u64(header + UFTRACE_H_FEAT_MASK, h->new_feat, h->big_endian);
	store_u64(header + UFTRACE_H_INFO_MASK, mask, h->big_endian);
	if (h->version != 3)
		store_u16(header + UFTRACE_H_MAX_STACK, (uint16_t)h->new_max_stack, h->big_endian);
	unsigned rule = l->header_rule != UFTRACE_RULE_COUNT ? l->header_rule : UFTRACE_RULE_info_block_missing;
	const char *why = l->header_rule != UFTRACE_RULE_COUNT ? l->header_why : "the mask of the lines that are kept";
	if (!source || !source->size)
		plan_literal(w->plan, out, header, sizeof(header), rule, why);
	else if (source->size < sizeof(header))
		plan_replace(w->plan, out, source, 0, source->size, header, sizeof(header), rule, why);
	else if (w->info->text && w->info->begin == sizeof(header) && !memcmp(header, w->info->text, sizeof(header)))
		plan_copy(w->plan, out, source, 0, sizeof(header));
	else
		plan_replace(w->plan, out, source, 0, w->info->begin, header, sizeof(header), rule, why);
}

static void plan_pattern(struct uftrace_walk *w, unsigned out)
{
	bool lost = w->info->pattern_lost;
	char line[32];
	int n = snprintf(line, sizeof(line), "pattern_type:%s\n",
			 uftrace_info_pattern(lost ? w->info->pattern_type : UFTRACE_PATTERN_REGEX));

	plan_literal(w->plan, out, line, (size_t)n, lost ? UFTRACE_RULE_pattern_type_unknown : UFTRACE_RULE_argspec_missing,
		     "how the specifications name functions");
}

static const char *why_specs(struct uftrace_walk *w)
{
	const unsigned guessed = w->infer->guessed;
	const char *from = w->infer->donor.size ? "the specifications of the donor, and what else the records show"
						: "specifications by the debug information and by the records";

	if (!guessed)
		return from;
	return plan_why(w->plan, "%s; %u of them are guesses by the sizes of the values, whose types and number are lost", from,
			guessed);
}

bool uftrace_repair_info(struct uftrace_walk *w)
{
	struct uftrace_head *h = &w->info->head;
	struct uftrace_lines *l = &w->info->lines;
	bool text = w->info->text != NULL;
	uint64_t mask = h->new_mask | UFTRACE_BIT(UFTRACE_I_TASKINFO) | (h->mask & ~(UFTRACE_BIT(UFTRACE_I_COUNT) - 1));
	unsigned out = plan_output(w->plan, "info");
	bool exename = !(mask & UFTRACE_BIT(UFTRACE_I_EXE_NAME)) && w->info->head.damaged && exename_can_be_written(w);

	bool specs = w->infer->block.size,
	     pattern = (specs || w->info->pattern_lost) && !(mask & UFTRACE_BIT(UFTRACE_I_PATTERN_TYPE));

	if (exename)
		mask |= UFTRACE_BIT(UFTRACE_I_EXE_NAME);
	if (pattern)
		mask |= UFTRACE_BIT(UFTRACE_I_PATTERN_TYPE);
	if (l->taskinfo_rewrite && !l->taskinfo_why) {
		l->taskinfo_rule = l->header_rule != UFTRACE_RULE_COUNT ? l->header_rule : (unsigned)UFTRACE_RULE_taskinfo_missing;
		l->taskinfo_why = "the tasks of task.txt and of the records";
	}
	/* The command line, the exit status and the machine that it named are known to nobody else; specifications that are made
	 * anew stand in for those that were there. */
	if (!text || w->info->pattern_lost || specs)
		plan_lost_other(w->plan);
	plan_header(w, out, mask);
	if (exename)
		plan_exename(w, out);
	for (unsigned bit = 0; bit < UFTRACE_I_COUNT; bit++) {
		bool rewrite = bit == UFTRACE_I_TASKINFO && l->taskinfo_rewrite;
		if (rewrite && !plan_taskinfo(w, out))
			return false;
		if (specs && bit == UFTRACE_I_ARG_SPEC)
			plan_literal(w->plan, out, w->infer->block.data, w->infer->block.size, UFTRACE_RULE_argspec_missing,
				     why_specs(w));
		if (pattern && bit == UFTRACE_I_PATTERN_TYPE)
			plan_pattern(w, out);
		if (text)
			plan_lines_of(w, out, bit, !rewrite);
	}
	if (text) {
		plan_lines_of(w, out, UFTRACE_I_COUNT, false);
		struct source *source = w->dir->files[w->dir->info].source;
		if (l->trailing < source->size && l->trailing_drop)
			plan_drop(w->plan, source, l->trailing, source->size - l->trailing, UFTRACE_RULE_info_no_final_newline,
				  "a line that was cut");
		else if (l->trailing < source->size)
			plan_copy(w->plan, out, source, l->trailing, source->size - l->trailing);
	}
	if (w->dir->info != UFTRACE_NONE)
		w->dir->files[w->dir->info].planned = true;
	return true;
}
