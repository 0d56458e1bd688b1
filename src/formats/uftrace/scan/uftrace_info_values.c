/* info: what its lines say, once it is known which of them stay. */
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_spec.h"

static uint64_t parse_elapsed(struct uftrace_str v)
{
	uint64_t s = 0, ns = 0;
	const char *dot = memchr(v.text, '.', v.length);
	size_t whole = dot ? (size_t)(dot - v.text) : 0;
	size_t digits = dot ? strspn(dot + 1, "0123456789") : 0;

	if (!dot || !text_parse_u64(v.text, whole, &s) || digits != 9 || whole + 10 > v.length ||
	    !text_parse_u64(dot + 1, digits, &ns) || s > UINT64_C(1) << 33)
		return 0;
	return s * 1000000000u + ns;
}

static void read_version(struct uftrace_walk *w, struct uftrace_str v)
{
	unsigned part[3] = { 0 };
	size_t at = v.length && v.text[0] == 'v' ? 1 : 0;

	w->info->version_text = v;
	for (unsigned i = 0; i < 3 && at < v.length; i++) {
		while (at < v.length && v.text[at] >= '0' && v.text[at] <= '9' && part[i] < 100)
			part[i] = part[i] * 10 + (unsigned)(v.text[at++] - '0');
		if (at >= v.length || v.text[at] != '.')
			break;
		at++;
	}
	w->info->version_number = part[0] * 10000 + part[1] * 100 + part[2];
}

static void read_exit_status(struct uftrace_walk *w, struct source *source, const struct uftrace_line *line)
{
	bool negative = line->value.length && line->value.text[0] == '-';
	uint64_t status;
	bool number = text_parse_u64(line->value.text + negative, line->value.length - negative, &status);

	if (!line->value.length)
		return;
	if (number && negative && status == 1) {
		finding_report(w->findings, UFTRACE_RULE_info_recorder_interrupted, source, line->offset, line->raw,
			       "exit status -1: the recorder was interrupted before the program ended");
		return;
	}
	bool exited = number && !negative && !(status & 0xffffffffffff00ff);
	bool signalled = number && !negative && status < 256 && (status & 0x7f) && (status & 0x7f) != 0x7f;
	if (exited || signalled || (number && !negative && status == 65536))
		return;
	char shown[TEXT_QUOTE_SIZE];
	finding_report(w->findings, UFTRACE_RULE_info_exit_status_undecodable, source, line->offset, line->raw,
		       "exit status '%s' is neither an exit nor a signal, nor 65536 or -1",
		       text_quote(shown, line->value.text, line->value.length));
}

static const char *const pattern_names[] = {
	[UFTRACE_PATTERN_SIMPLE] = "simple", [UFTRACE_PATTERN_REGEX] = "regex", [UFTRACE_PATTERN_GLOB] = "glob"
};

const char *uftrace_info_pattern(unsigned pattern_type)
{
	return pattern_names[pattern_type];
}

unsigned uftrace_info_pattern_type(struct uftrace_str value)
{
	for (unsigned i = 0; i < sizeof(pattern_names) / sizeof(pattern_names[0]); i++)
		if (uftrace_str_is(value, pattern_names[i]))
			return i;
	return UFTRACE_PATTERN_UNKNOWN;
}

/* Its line, where it is not understood, becomes one of what the patterns look like. */
static bool write_pattern(struct uftrace_walk *w, struct uftrace_line *line)
{
	struct bytes b = { 0 };

	bytes_printf(&b, "pattern_type:%s\n", uftrace_info_pattern(w->info->pattern_type));
	bytes_append(&b, "", 1);
	if (b.failed) {
		bytes_free(&b);
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	}
	free(line->text);
	line->text = (char *)b.data;
	line->rule = UFTRACE_RULE_pattern_type_unknown;
	line->why = "what the patterns look like";
	return true;
}

/* How the patterns of the specifications match, once these are known; line: what says so, NULL: nothing does. */
static bool check_pattern(struct uftrace_walk *w, struct source *source, struct uftrace_line *line)
{
	struct uftrace_info *info = w->info;
	unsigned like = uftrace_spec_patterns(w);
	char shown[TEXT_QUOTE_SIZE];

	/* Recorders before 0.9 did not write it. */
	if (!line && (like == UFTRACE_PATTERN_SIMPLE || (info->version_number && info->version_number < 900)))
		return true;
	info->pattern_lost = like != UFTRACE_PATTERN_SIMPLE;
	if (info->pattern_lost)
		info->pattern_type = like;
	if (line && info->pattern_lost)
		finding_report(w->findings, UFTRACE_RULE_pattern_type_unknown, source, line->offset, line->raw,
			       "pattern type '%s' is not simple, regex or glob: readers match no function with the patterns of "
			       "specifications",
			       text_quote(shown, line->value.text, line->value.length));
	else if (line)
		finding_say(
			finding_milder(w->findings, UFTRACE_RULE_pattern_type_unknown, TM_WARNING, source, line->offset, line->raw),
			"pattern type '%s' is not simple, regex or glob", text_quote(shown, line->value.text, line->value.length));
	else if (info->lines.damage)
		finding_explains(info->lines.damage, 1);
	else
		finding_report(
			w->findings, UFTRACE_RULE_pattern_type_unknown, source, UFTRACE_H_INFO_MASK, 8,
			"info does not say how the patterns of its specifications match: readers match no function with them");
	return !line || !info->pattern_lost || write_pattern(w, line);
}

/* As uftrace 0.13 tells it, by the processor; and RISC-V by the version's list of what the recorder was built with. */
static enum uftrace_machine machine_of(struct uftrace_str processor, struct uftrace_str version)
{
	if (processor.length >= 10 && !memcmp(processor.text, "desc=ARM64", 10))
		return UFTRACE_MACHINE_AARCH64;
	if (processor.length >= 9 && !memcmp(processor.text, "desc=ARMv", 9))
		return UFTRACE_MACHINE_ARM;
	for (size_t i = 0; i + 5 <= version.length; i++)
		if (!memcmp(version.text + i, "riscv", 5))
			return UFTRACE_MACHINE_RISCV;
	return UFTRACE_MACHINE_X86;
}

static bool read_specs(struct uftrace_walk *w)
{
	const struct uftrace_lines *l = &w->info->lines;

	for (size_t i = 0; i < l->count; i++) {
		const struct uftrace_line *line = &l->list[i];
		if (line->drop || line->bit != UFTRACE_I_ARG_SPEC)
			continue;
		struct uftrace_str key = { w->info->text + line->offset, line->length - line->value.length - 1 };
		w->specs->present = true;
		if (!uftrace_spec_line(w, key, line->value, line->offset))
			return false;
	}
	return true;
}

/* The last line of a key that stays; NULL: there is none. */
static struct uftrace_line *line_of(const struct uftrace_lines *l, unsigned bit, bool second)
{
	for (size_t i = l->count; i-- > 0;)
		if (!l->list[i].drop && l->list[i].bit == bit && l->list[i].key_second == second)
			return &l->list[i];
	return NULL;
}

static struct uftrace_str value_of(const struct uftrace_lines *l, unsigned bit)
{
	const struct uftrace_line *line = line_of(l, bit, false);

	return line ? line->value : (struct uftrace_str){ NULL, 0 };
}

bool uftrace_info_values(struct uftrace_walk *w)
{
	struct uftrace_info *info = w->info;
	const struct uftrace_lines *l = &info->lines;
	struct source *source = w->dir->files[w->dir->info].source;
	const struct uftrace_line *status = line_of(l, UFTRACE_I_EXIT_STATUS, false),
				  *elapsed = line_of(l, UFTRACE_I_RECORD_DATE, true),
				  *processor = line_of(l, UFTRACE_I_CPUINFO, false);
	const struct uftrace_line *version = line_of(l, UFTRACE_I_VERSION, false);
	struct uftrace_line *pattern = line_of(l, UFTRACE_I_PATTERN_TYPE, false);
	struct uftrace_str build_id = value_of(l, UFTRACE_I_BUILD_ID);
	bool usage = info->head.mask & UFTRACE_BIT(UFTRACE_I_USAGEINFO);

	info->exename = value_of(l, UFTRACE_I_EXE_NAME);
	info->cmdline = value_of(l, UFTRACE_I_CMDLINE);
	if (elapsed)
		info->elapsed = parse_elapsed(elapsed->value);
	if (version)
		read_version(w, version->value);
	info->machine = machine_of(processor ? processor->value : (struct uftrace_str){ NULL, 0 }, info->version_text);
	/* As the QEMU plugin writes them. */
	info->foreign = status && !status->value.length && build_id.length == 40 && strspn(build_id.text, "0") >= 40;
	if (status)
		read_exit_status(w, source, status);
	if (info->head.mask && !usage && !info->foreign && !findings_count(w->findings, UFTRACE_RULE_info_recorder_interrupted))
		finding_report(w->findings, UFTRACE_RULE_info_recorder_interrupted, source, UFTRACE_H_INFO_MASK, 8,
			       "info has no usage data: the recorder was interrupted, or stopped by a finish trigger");
	info->pattern_type = pattern ? uftrace_info_pattern_type(pattern->value) : UFTRACE_PATTERN_REGEX;
	if (!read_specs(w))
		return false;
	return (pattern && info->pattern_type != UFTRACE_PATTERN_UNKNOWN) || check_pattern(w, source, pattern);
}
