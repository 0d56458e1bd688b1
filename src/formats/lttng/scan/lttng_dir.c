/* The directory: which trace a file belongs to, and what its name says. "A trace is contained in a directory tree". */
#include <stdlib.h>

#include "core/array.h"
#include "formats/lttng/decode/lttng_name.h"
#include "formats/lttng/repair/lttng_repair.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* ---- files of a trace ---- */

bool lttng_files_add(struct lttng_trace *t, struct source *s)
{
	struct lttng_files *files = &t->files;
	if (array_room(&files->list, &files->capacity, files->count, sizeof(*files->list), SIZE_MAX) != TM_OK)
		return lttng_no_memory(t);
	files->list[files->count++] = (struct lttng_file){ .source = s };
	return true;
}

static void judge_name(struct lttng_trace *t, struct lttng_file *f, bool loose)
{
	const char *bar = strrchr(f->base, '_');
	if (f->cpu < 0 || f->cpu > (int64_t)LTTNG_CPU_MAX) {
		finding_report(t->s->findings, LTTNG_RULE_cpu_number_range, f->source, 0, 0,
			       "the cpu number in the name, %s, is not one from 0 to %u", bar ? bar + 1 : "", LTTNG_CPU_MAX);
		lttng_file_aside(f, LTTNG_RULE_cpu_number_range, "no reader accepts this cpu number");
	} else if (loose) {
		finding_report(t->s->findings, LTTNG_RULE_cpu_leading_zero, f->source, 0, 0, "readers take \"%s\" for cpu %lld",
			       bar ? bar + 1 : "", (long long)f->cpu);
	}
	if (f->flight && f->metadata) {
		finding_report(t->s->findings, LTTNG_RULE_flight_prefix_on_metadata, f->source, 0, 0,
			       "declarations are in %s; readers look for %s", f->base, f->base + LTTNG_FLIGHT_LENGTH);
	}
	if (!strncmp(f->base, "normal-", 7)) {
		finding_report(t->s->findings, LTTNG_RULE_normal_prefix, f->source, 0, 0,
			       "readers take \"%.*s\" for the name of the channel", (int)(bar ? bar - f->base : 0), f->base);
	}
}

/* Fills in what the name says. False: it is not a tracefile. */
static bool file_name(struct lttng_trace *t, struct lttng_file *f)
{
	const char *name = f->source->name + t->files.root_length;
	bool loose;

	f->base = lttng_name_base(f->source->name);
	/* Files below no root belong to the first one, and are not tracefiles. */
	if (strncmp(f->source->name, t->files.root, t->files.root_length) != 0)
		return false;
	if (lttng_name_is_hidden(f->source->name) || lttng_name_has_directory(name, "eventdefs") ||
	    lttng_name_has_directory(name, "info"))
		return false;
	size_t n = lttng_name_split(f->base, &f->cpu, &loose);
	if (!n) {
		if (strcmp(f->base, "bookmarks.xml") != 0 && strcmp(f->base, "bookmarks") != 0) {
			finding_report(t->s->findings, LTTNG_RULE_file_name_grammar, f->source, 0, 0,
				       "%s is not a name of the form channel_cpu", f->base);
		}
		return false;
	}
	/* A channel without a name between its prefix and its CPU is none. */
	if (lttng_name_is_flight(f->base) && n <= LTTNG_FLIGHT_LENGTH)
		return false;
	size_t directory = (size_t)(f->base - name);
	f->control = directory == 8 && !memcmp(name, "control/", 8);
	f->metadata = lttng_name_is_metadata(f->base);
	f->flight = lttng_name_is_flight(f->base);
	/* The prefix is not part of the channel where it is at the beginning of the relative path. */
	const char *channel = f->flight && (!directory || f->metadata) ? f->base + LTTNG_FLIGHT_LENGTH : name;
	size_t length = (size_t)(f->base + n - channel);
	if (f->flight && f->metadata && directory)
		channel = name, length = directory + n; /* control/flight-facilities: judged above, found by its own name */
	f->compact = lttng_name_is(channel, length, "compact");
	f->channel = lttng_channel_find(t, channel, length, true);
	if (f->channel) {
		f->channel->has_file = true;
		f->channel->has_data |= f->source->size != 0;
		judge_name(t, f, loose);
	}
	return f->channel != NULL;
}

void lttng_dir_collect(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		/* Not a tracefile: read as XML, and copied, once the version is known. */
		if (!file_name(t, f))
			f->channel = NULL;
	}
	if (t->status == TM_OK)
		lttng_cpus_duplicates(t);
}

/* ---- what the version requires ---- */

static bool has_file_below(struct lttng_trace *t, const char *directory)
{
	size_t n = strlen(directory);
	for (size_t i = 0; i < t->files.count; i++) {
		const char *name = t->files.list[i].source->name;
		if (!strncmp(name, t->files.root, t->files.root_length) && !strncmp(name + t->files.root_length, directory, n) &&
		    name[t->files.root_length + n] == '/')
			return true;
	}
	/* Or empty. */
	char *path = malloc(t->files.root_length + n + 1);
	if (!path)
		return lttng_no_memory(t);
	memcpy(path, t->files.root, t->files.root_length);
	memcpy(path + t->files.root_length, directory, n + 1);
	bool found = bundle_find(t->s->in, TM_ROLE_INPUT, path) != NULL;
	free(path);
	return found;
}

static void judge_flight(struct lttng_trace *t)
{
	bool flight = false;
	for (size_t i = 0; i < t->files.count; i++)
		flight |= t->files.list[i].channel && t->files.list[i].flight;
	uint64_t flag = t->constants.want.v[LF_FLIGHT];
	if (!lttng_has(t->coding.layout, LF_FLIGHT) || (flag ? flight : !flight))
		return;
	finding_report(t->s->findings, LTTNG_RULE_flight_flag_mismatch, NULL, 0, 0,
		       flag ? "the headers have flight_recorder = %llu, and no file name begins with flight-"
			    : "the headers have flight_recorder = %llu, and there are flight- files",
		       (unsigned long long)flag);
}

void lttng_dir_aside(struct lttng_trace *t, unsigned rule)
{
	for (size_t i = 0; i < t->files.count; i++)
		if (t->files.list[i].channel && !t->files.list[i].aside)
			lttng_file_aside(&t->files.list[i], rule, lttng_rules[rule].title);
}

/* No file declares the events: to 0.8 nothing can be read; the types of later ones are told or inferred. */
static void judge_no_metadata(struct lttng_trace *t)
{
	const enum lttng_era era = t->coding.layout->era;
	static const char *const names[] = { "control/facilities_0", "control/facilities_0", "control/metadata_0", "metadata_0" };
	bool control = era <= LTTNG_MARKERS && !has_file_below(t, "control");
	unsigned rule = control ? LTTNG_RULE_control_dir_missing : LTTNG_RULE_no_metadata_file;
	struct finding *fd;

	if (control)
		fd = finding_report(t->s->findings, LTTNG_RULE_control_dir_missing, NULL, 0, 0,
				    "a trace of version %s needs %s with data", t->coding.layout->name, names[era]);
	else
		fd = finding_report(t->s->findings, LTTNG_RULE_no_metadata_file, NULL, 0, 0,
				    "a trace of version %s needs %s with data", t->coding.layout->name, names[era]);
	t->declared.broken = fd;
	t->declared.lost = true;
	if (t->s->plan && !*t->s->incomplete)
		(void)snprintf(
			t->s->incomplete, sizeof(t->s->incomplete),
			"%s, which describes the events of the whole trace, is missing or empty. Was the copy or the download "
			"complete? Get that file, and try again",
			names[era]);
	t->declared.absent = era >= LTTNG_MARKERS;
	if (!t->declared.absent)
		lttng_dir_aside(t, rule);
	/* Declarations where no reader looks for them are no events. */
	for (size_t i = 0; i < t->files.count; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->channel && !f->aside && !f->metadata && lttng_name_is_metadata(f->base))
			lttng_file_aside(f, rule, lttng_rules[rule].title);
	}
}

/* Which files are metadata, by where they are. Returns whether one of them has data; *first: one is of cpu 0. */
static bool find_metadata(struct lttng_trace *t, bool *first)
{
	bool metadata = false, zero = false;

	*first = false;
	for (size_t i = 0; i < t->files.count; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (!f->channel || f->aside)
			continue;
		f->metadata = f->metadata && lttng_metadata_in_place(t, f, t->coding.layout->era);
		metadata |= f->metadata && f->source->size;
		*first |= f->metadata && f->cpu == 0;
		zero |= f->metadata && f->cpu == 0 && f->source->size;
		if (t->coding.layout->era == LTTNG_CHANNEL_MARKERS && !f->metadata &&
		    f->base != f->source->name + t->files.root_length)
			finding_report(t->s->findings, LTTNG_RULE_control_dir_unexpected, f->source, 0, 0,
				       "%s: tracefiles of %s are not in subdirectories", f->source->name + t->files.root_length,
				       t->coding.layout->name);
	}
	/* Tracers declare most types on cpu 0. */
	if (metadata && !zero)
		lttng_declarations_lose(&t->declared, NULL);
	return metadata;
}

void lttng_dir_judge(struct lttng_trace *t)
{
	bool first;

	if (!find_metadata(t, &first))
		judge_no_metadata(t);
	else if (!first)
		finding_report(t->s->findings, LTTNG_RULE_reader_abort_risk, NULL, 0, 0,
			       "there are declarations, but none of cpu 0, which LTTV opens first");
	if (t->coding.layout->era == LTTNG_FACILITIES && !has_file_below(t, "eventdefs")) {
		finding_report(t->s->findings, LTTNG_RULE_eventdefs_missing, NULL, 0, 0,
			       "a trace of version %s needs the directory eventdefs with descriptions of its facilities",
			       t->coding.layout->name);
		if (t->s->plan)
			lttng_repair_eventdefs(t);
	}
	lttng_cpus_copies(t);
	if (t->status == TM_OK)
		lttng_cpus_judge(t);
	judge_flight(t);
}
