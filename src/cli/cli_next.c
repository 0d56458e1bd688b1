/* What to do next: the command that repairs a damaged capture, what it would keep, and where more of the capture may be. */
#include "cli/cli.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "report/report.h"

/* Planning a repair reads a capture about three times; of larger ones, only the command is printed. */
#define NEXT_BYTES_MAX (UINT64_C(64) << 20)

static const char *next_lost(const struct tracemend_outcome *o, char text[96])
{
	char number[32];

	if (!o->lost)
		return "nothing was lost";
	switch (o->dropped_is) {
	case TM_EXACT:
		if (!o->dropped)
			return "no record was dropped, but other content is lost or unverified";
		(void)snprintf(text, 96, "%s record%s lost", text_number(number, o->dropped), o->dropped == 1 ? " was" : "s were");
		return text;
	case TM_AT_LEAST:
		(void)snprintf(text, 96, "at least %s record%s lost", text_number(number, o->dropped),
			       o->dropped == 1 ? " was" : "s were");
		return text;
	case TM_UNKNOWN_COUNT:
		break;
	}
	return "the number of lost records is unknown";
}

void cli_next_totals(FILE *out, const struct tracemend_outcome *outcome)
{
	char text[96], kept[32], patched[32], added[32];

	fprintf(out, "  records: %s kept, %s patched, %s added; %s\n", text_number(kept, outcome->kept),
		text_number(patched, outcome->patched), text_number(added, outcome->added), next_lost(outcome, text));
}

bool cli_next_wanted(const struct cli_options *o, const struct tracemend_report *report)
{
	return ((o->paths.count == 1 && !o->quiet && !strcmp(o->format, "text")) || cli_map_wanted(o)) && report &&
	       tracemend_report_summary(report)->errors && tracemend_report_summary(report)->complete;
}

/* Whether files match an advice on this machine. */
static bool next_is_here(const struct tracemend_advice *advice)
{
	glob_t found = { 0 };
	bool here = advice->role == TM_ROLE_EXTRA && !glob(advice->path, GLOB_NOSORT, NULL, &found) && found.gl_pathc;

	globfree(&found);
	return here;
}

/* Whether the file is the owner's, and no link. */
static bool next_is_of(const char *path, uid_t owner)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == owner;
}

/* Adds the pieces that are on this machine, as the printed command does. owner: of which they must be; NULL: of anybody. */
static bool next_add(struct tracemend_input *input, const struct tracemend_report *report, const uid_t *owner,
		     struct tracemend_error *error)
{
	for (size_t i = 0; i < tracemend_report_advice_count(report); i++) {
		struct tracemend_advice advice = tracemend_report_advice(report, i);
		glob_t found = { 0 };
		bool good = true;
		if (next_is_here(&advice) && !glob(advice.path, 0, NULL, &found))
			for (size_t k = 0; k < found.gl_pathc && good; k++)
				good = (owner && !next_is_of(found.gl_pathv[k], *owner)) ||
				       tracemend_add(input, found.gl_pathv[k], TM_ROLE_EXTRA, error) == TM_OK;
		globfree(&found);
		if (!good)
			return false;
	}
	return true;
}

bool cli_next_take(struct tracemend_input *input, const char *path, const struct tracemend_options *library,
		   struct tracemend_error *error)
{
	struct stat st;
	const uid_t owner = stat(path, &st) ? geteuid() : st.st_uid;
	struct tracemend_report *report = tracemend_check(input, library, error);
	bool good = report && next_add(input, report, &owner, error);

	tracemend_report_free(report);
	return good;
}

struct tracemend_repair *cli_next_plan(struct tracemend_input *input, const struct tracemend_report *report,
				       const struct tracemend_options *library, struct tracemend_error *error)
{
	if (tracemend_report_summary(report)->size > NEXT_BYTES_MAX)
		return NULL;
	return next_add(input, report, NULL, error) ? tracemend_repair(input, library, error) : NULL;
}

/* Prints a word as a shell reads it back. Bytes that cannot be shown are escaped in the way of $'...'. */
static void next_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/+,:@%";
	char shown[CLI_TEXT_MAX];
	bool escaped = strcmp(cli_show(shown, word), word) != 0;

	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, out);
		return;
	}
	fputs(escaped ? "$'" : "'", out);
	for (const char *p = shown; *p; p++) {
		if (*p == '\'')
			fputs(escaped ? "\\'" : "'\\''", out);
		else
			fputc(*p, out);
	}
	fputc('\'', out);
}

static void next_path(FILE *out, const char *path)
{
	if (*path == '-' && path[1])
		fputs("./", out);
	next_word(out, path);
}

/* The end of the advices that have the text of this one: they differ in what is to be added. */
static size_t next_alike(const struct tracemend_report *report, size_t first)
{
	struct tracemend_advice advice = tracemend_report_advice(report, first);
	size_t end = first + 1;

	for (; end < tracemend_report_advice_count(report); end++) {
		struct tracemend_advice other = tracemend_report_advice(report, end);
		if (other.role != advice.role || strcmp(other.text, advice.text) != 0)
			break;
	}
	return end;
}

/* Prints the text of these advices, and behind it where further pieces are. */
static void next_text(FILE *out, const struct tracemend_report *report, size_t first, size_t end)
{
	struct tracemend_advice advice = tracemend_report_advice(report, first);
	struct bytes text = { 0 };

	bytes_text(&text, advice.text);
	for (size_t i = first; i < end && advice.role == TM_ROLE_EXTRA; i++)
		bytes_printf(&text, "%s%s", i == first ? ": " : ", ", tracemend_report_advice(report, i).path);
	bytes_u8(&text, 0);
	cli_wrap(out, "  ", 2, text.failed ? advice.text : (const char *)text.data);
	bytes_free(&text);
}

void cli_next_advice(FILE *out, const struct tracemend_report *report, bool donor_needed)
{
	for (size_t i = 0, end; i < tracemend_report_advice_count(report); i = end) {
		struct tracemend_advice advice = tracemend_report_advice(report, i);
		bool donor = advice.role == TM_ROLE_DONOR, here = false;
		end = next_alike(report, i);
		if (donor && !donor_needed)
			continue;
		next_text(out, report, i, end);
		for (size_t k = i; k < end; k++) {
			struct tracemend_advice one = tracemend_report_advice(report, k);
			here |= next_is_here(&one);
		}
		fputs(here ? "  They are on this machine: repair again with" : "  Repair with", out);
		for (size_t k = i; k < end; k++) {
			struct tracemend_advice one = tracemend_report_advice(report, k);
			if (here && !next_is_here(&one))
				continue;
			fputs(donor ? " --donor " : " --extra ", out);
			next_word(out, one.path);
		}
		fputc('\n', out);
	}
}

void cli_next_donors(FILE *out, const struct cli_options *o, const char *format)
{
	for (size_t i = 0; i < o->donor.count; i++) {
		const char *path = o->donor.items[i];
		struct tracemend_error error = { 0 };
		struct tracemend_options library = { .max_findings = 1 };
		struct tracemend_input *input = tracemend_open(path, &library, &error);
		struct tracemend_report *report = input ? tracemend_check(input, &library, &error) : NULL;
		const struct tracemend_summary *s = report ? tracemend_report_summary(report) : NULL;
		char shown[CLI_TEXT_MAX], count[64];
		if (!s)
			fprintf(out, "  the donor cannot be used: %s\n", cli_show(shown, error.message));
		else if (*format && strcmp(s->format, format) != 0)
			fprintf(out, "  the donor %s is a capture of the format %s; one of %s is needed\n", cli_show(shown, path),
				s->format, format);
		else if (s->errors)
			fprintf(out, "  the donor %s is damaged itself: %s; a healthy one is needed\n", cli_show(shown, path),
				text_count(count, s->errors, "error"));
		tracemend_report_free(report);
		tracemend_close(input);
	}
}

static void next_command(FILE *out, const char *path, const struct tracemend_report *report, bool donor)
{
	const struct tracemend_format *format = cli_format_find(tracemend_report_summary(report)->format);
	struct stat st;
	bool directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	char *output = cli_output_named(path, directory || format->directory, format->extension);

	fputs("next: tracemend repair ", out);
	next_path(out, path);
	fputs(" -o ", out);
	next_path(out, output ? output : "OUT");
	for (size_t i = 0; i < tracemend_report_advice_count(report); i++) {
		struct tracemend_advice advice = tracemend_report_advice(report, i);
		if (advice.role == TM_ROLE_DONOR ? donor : next_is_here(&advice)) {
			fputs(advice.role == TM_ROLE_DONOR ? " --donor " : " --extra ", out);
			next_word(out, advice.path);
		}
	}
	fputc('\n', out);
	free(output);
}

void cli_next(FILE *out, const char *path, const struct tracemend_report *report, const struct tracemend_repair *repair,
	      const struct tracemend_error *error)
{
	bool nothing = !repair && error->status == TM_NOTHING, donor = false;

	if (repair && !tracemend_repair_outcome(repair)->changed)
		return;
	for (size_t i = 0; i < tracemend_report_advice_count(report); i++)
		donor |= nothing && tracemend_report_advice(report, i).role == TM_ROLE_DONOR;
	if (nothing && !donor) {
		char shown[CLI_TEXT_MAX];
		const char *reason = strstr(error->message, ": nothing can be salvaged");
		fprintf(out, "next: %s\n", cli_show(shown, reason ? reason + 2 : error->message));
		return;
	}
	next_command(out, path, report, donor);
	if (repair)
		cli_next_totals(out, tracemend_repair_outcome(repair));
	else if (!nothing)
		fputs("  repair -n prints what it would keep and what is lost\n", out);
	for (size_t i = 0, end; i < tracemend_report_advice_count(report); i = end) {
		end = next_alike(report, i);
		if (tracemend_report_advice(report, i).role != TM_ROLE_DONOR || donor)
			next_text(out, report, i, end);
	}
}
