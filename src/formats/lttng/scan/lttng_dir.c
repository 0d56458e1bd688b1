/* The directory: which trace a file belongs to, and what its name says. "A trace is contained in a directory tree". */
#include "formats/lttng/lttng.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"

/* ---- names ---- */

size_t lttng_name_split(const char *base, int64_t *cpu, bool *loose)
{
	const char *bar = strrchr(base, '_');
	*cpu = -1;
	*loose = false;
	if (!bar || bar == base)
		return 0;
	const char *p = bar + 1;
	bool negative = *p == '-';
	p += negative;
	if (*p < '0' || *p > '9')
		return 0;
	const char *digits = p;
	int64_t value = 0;
	while (*p >= '0' && *p <= '9') {
		if (value < INT64_C(1) << 40)
			value = 10 * value + (*p - '0');
		p++;
	}
	*cpu = negative ? -value - 1 : value;
	*loose = *p != '\0' || (*digits == '0' && p - digits > 1);
	return (size_t)(bar - base);
}

static bool name_is(const char *base, size_t length, const char *name)
{
	return strlen(name) == length && !memcmp(base, name, length);
}

#define FLIGHT "flight-"
#define FLIGHT_LENGTH (sizeof(FLIGHT) - 1)

static bool is_flight(const char *base)
{
	return !strncmp(base, FLIGHT, FLIGHT_LENGTH);
}

/* Whether a file declares events: its channel, without prefix. */
static bool is_metadata(const char *base)
{
	int64_t cpu;
	bool loose;
	if (is_flight(base))
		base += FLIGHT_LENGTH;
	size_t n = lttng_name_split(base, &cpu, &loose);
	return name_is(base, n, "metadata") || name_is(base, n, "facilities");
}

static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

/* Some part of the path begins with a dot. */
static bool is_hidden(const char *name)
{
	for (const char *p = name; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
		if (*p == '.')
			return true;
	return false;
}

static bool has_directory(const char *name, const char *directory)
{
	size_t n = strlen(directory);
	for (const char *p = name; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
		if (!strncmp(p, directory, n) && p[n] == '/')
			return true;
	return false;
}

/* Length of the directory part with its slash, less a last "control/". */
static size_t root_of(const char *name)
{
	static const char control[] = "control/";
	size_t n = (size_t)(base_name(name) - name), c = sizeof(control) - 1;
	if (n >= c && !memcmp(name + n - c, control, c) && (n == c || name[n - c - 1] == '/'))
		n -= c;
	return n;
}

/* ---- traces of a bundle ---- */

struct root {
	const char *name; /* borrowed */
	size_t length;
};

struct member {
	size_t root;
	size_t source;
};

static int root_order(const void *left, const void *right)
{
	const struct root *a = left, *b = right;
	size_t n = a->length < b->length ? a->length : b->length;
	int order = n ? memcmp(a->name, b->name, n) : 0;
	return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

static int member_order(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	return a->source < b->source ? -1 : a->source > b->source;
}

static bool is_candidate(const struct source *s)
{
	int64_t cpu;
	bool loose;
	return s->kind == SOURCE_FILE && s->role == TM_ROLE_INPUT && !is_hidden(s->name) && !has_directory(s->name, "info") &&
	       !has_directory(s->name, "eventdefs") && lttng_name_split(base_name(s->name), &cpu, &loose) != 0;
}

#define NO_ROOT SIZE_MAX

/* The deepest root above the file; NO_ROOT when there is none. */
static size_t root_for(const struct root *roots, size_t count, const char *name)
{
	struct root key = { name, (size_t)(base_name(name) - name) };
	for (;;) {
		const struct root *found = bsearch(&key, roots, count, sizeof(*roots), root_order);
		if (found)
			return (size_t)(found - roots);
		if (!key.length)
			return NO_ROOT;
		key.length--;
		while (key.length && name[key.length - 1] != '/')
			key.length--;
	}
}

/* Puts roots in order, each once. */
static size_t roots_unite(struct root *roots, size_t count)
{
	size_t kept = 0;
	if (count)
		qsort(roots, count, sizeof(*roots), root_order);
	for (size_t i = 0; i < count; i++)
		if (!kept || root_order(&roots[kept - 1], &roots[i]))
			roots[kept++] = roots[i];
	return kept;
}

/* The directories that hold declarations, and those of tracefiles that have none above them; in order, at least one. */
static size_t find_roots(const struct bundle *b, struct root *roots)
{
	size_t declared, count = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct source *s = b->sources[i];
		if (is_candidate(s) && is_metadata(base_name(s->name)))
			roots[count++] = (struct root){ s->name, root_of(s->name) };
	}
	declared = count = roots_unite(roots, count);
	for (size_t i = 0; i < b->count; i++)
		if (is_candidate(b->sources[i]) && root_for(roots, declared, b->sources[i]->name) == NO_ROOT)
			roots[count++] = (struct root){ b->sources[i]->name, root_of(b->sources[i]->name) };
	if (!count)
		roots[count++] = (struct root){ "", 0 };
	return roots_unite(roots, count);
}

static bool lttng_file_add(struct lttng_trace *t, struct source *s);

/* The files of one trace, in order of name. */
static void trace_collect(struct lttng_trace *t, const struct member *members, size_t count)
{
	for (size_t i = 0; i < count && t->status == TM_OK; i++) {
		struct source *s = t->in->sources[members[i].source];
		(void)lttng_file_add(t, s);
	}
}

static void scan_single(struct scan *s, struct source *source)
{
	finding_report(s->findings, LTTNG_RULE_trace_dir_missing, source, 0, source ? source->size : 0, "%s",
		       source && source->size ? "this is a single tracefile; the directory with its declarations is needed"
					      : "there is no tracefile here");
}

/* What repair does with files that are no input of this capture. */
static void drop_extras(struct scan *s)
{
	for (size_t i = 0; i < s->in->count; i++) {
		const struct source *e = s->in->sources[i];
		if (e->role == TM_ROLE_EXTRA && e->kind == SOURCE_FILE)
			plan_drop(s->plan, e, 0, e->size, LTTNG_RULE_file_name_grammar, "there are no extra pieces in this format");
	}
}

enum tracemend_status lttng_scan(struct scan *s)
{
	struct bundle *b = s->in;
	struct source *single = bundle_single(b);
	enum tracemend_status status = TM_OK;

	if (single || !b->count) {
		bool big;
		int major, minor;
		uint8_t head[96];
		size_t n = single && single->size < sizeof(head) ? (size_t)single->size : sizeof(head);
		scan_single(s, single);
		if (single && source_read(single, 0, head, n) == TM_OK) {
			const struct lttng_layout *l = lttng_identify(head, n, &big, &major, &minor);
			(void)snprintf(s->version, sizeof(s->version), "%s", l ? l->name : "");
		}
		return s->plan ? TM_NOTHING : TM_OK;
	}
	struct root *roots = malloc((b->count + 1) * sizeof(*roots));
	struct member *members = malloc(b->count * sizeof(*members));
	struct lttng_trace *t = malloc(sizeof(*t));
	if (!roots || !members || !t) {
		status = fault_memory(&b->error);
	} else {
		size_t root_count = find_roots(b, roots), count = 0;
		for (size_t i = 0; i < b->count; i++) {
			const struct source *source = b->sources[i];
			if (source->kind != SOURCE_FILE || source->role != TM_ROLE_INPUT)
				continue;
			size_t root = root_for(roots, root_count, source->name);
			members[count++] = (struct member){ root == NO_ROOT ? 0 : root, i };
		}
		if (count)
			qsort(members, count, sizeof(*members), member_order);
		if (s->plan)
			drop_extras(s);
		uint64_t kept = 0;
		bool hopeless = false;
		for (size_t i = 0, at = 0; i < root_count && status == TM_OK; i++) {
			size_t first = at;
			while (at < count && members[at].root == i)
				at++;
			memset(t, 0, sizeof(*t));
			t->scan = s;
			t->in = b;
			trace_collect(t, members + first, at - first);
			status = lttng_trace_scan(s, roots[i].name, roots[i].length, t);
			kept += t->kept + t->patched;
			hopeless |= status == TM_NOTHING;
			if (status == TM_NOTHING && root_count > 1)
				status = TM_OK;
			lttng_trace_free(t);
		}
		if (status == TM_OK && hopeless && !kept)
			status = TM_NOTHING;
	}
	free(roots);
	free(members);
	free(t);
	return status;
}

/* ---- files of a trace ---- */

static bool lttng_file_add(struct lttng_trace *t, struct source *s)
{
	if (t->file_count == t->file_capacity) {
		size_t capacity = t->file_capacity ? 2 * t->file_capacity : 16;
		struct lttng_file *files = realloc(t->files, capacity * sizeof(*files));
		if (!files)
			return lttng_no_memory(t);
		t->files = files;
		t->file_capacity = capacity;
	}
	t->files[t->file_count++] = (struct lttng_file){ .source = s };
	return true;
}

struct lttng_channel *lttng_channel_find(struct lttng_trace *t, const char *name, size_t length, bool make)
{
	struct lttng_channel *c = NULL;
	HASH_FIND(hh, t->channels, name, length, c);
	if (c || !make)
		return c;
	c = lttng_table_alloc(t, sizeof(*c));
	char *copy = c ? lttng_table_alloc(t, length + 1) : NULL;
	if (!copy) {
		free(c);
		return NULL;
	}
	memcpy(copy, name, length);
	c->name = copy;
	HASH_ADD_KEYPTR(hh, t->channels, copy, length, c);
	if (!c->hh.tbl) {
		free(copy);
		free(c);
		(void)lttng_no_memory(t);
		return NULL;
	}
	return c;
}

static void file_aside(struct lttng_file *f, unsigned rule, const char *why)
{
	f->aside = true;
	f->aside_rule = rule;
	f->aside_why = why;
}

static void judge_name(struct lttng_trace *t, struct lttng_file *f, bool loose)
{
	const char *bar = strrchr(f->base, '_');
	if (f->cpu < 0 || f->cpu > (int64_t)LTTNG_CPU_MAX) {
		finding_report(t->f, LTTNG_RULE_cpu_number_range, f->source, 0, 0,
			       "the cpu number in the name, %s, is not one from 0 to %u", bar ? bar + 1 : "", LTTNG_CPU_MAX);
		file_aside(f, LTTNG_RULE_cpu_number_range, "no reader can take this cpu number");
	} else if (loose) {
		finding_report(t->f, LTTNG_RULE_cpu_leading_zero, f->source, 0, 0, "readers take \"%s\" for cpu %lld",
			       bar ? bar + 1 : "", (long long)f->cpu);
	}
	if (f->flight && f->metadata) {
		finding_report(t->f, LTTNG_RULE_flight_prefix_on_metadata, f->source, 0, 0,
			       "declarations are in %s; readers look for %s", f->base, f->base + FLIGHT_LENGTH);
	}
	if (!strncmp(f->base, "normal-", 7)) {
		finding_report(t->f, LTTNG_RULE_normal_prefix, f->source, 0, 0, "readers take \"%.*s\" for the name of the channel",
			       (int)(bar ? bar - f->base : 0), f->base);
	}
}

/* Fills in what the name says. False: it is no tracefile. */
static bool file_name(struct lttng_trace *t, struct lttng_file *f)
{
	const char *name = f->source->name + t->root_length;
	bool loose;

	f->base = base_name(f->source->name);
	/* What is below no root goes with the first one, and is no tracefile. */
	if (strncmp(f->source->name, t->root, t->root_length) != 0)
		return false;
	if (is_hidden(f->source->name) || has_directory(name, "eventdefs") || has_directory(name, "info"))
		return false;
	size_t n = lttng_name_split(f->base, &f->cpu, &loose);
	if (!n) {
		if (strcmp(f->base, "bookmarks.xml") != 0 && strcmp(f->base, "bookmarks") != 0) {
			finding_report(t->f, LTTNG_RULE_file_name_grammar, f->source, 0, 0,
				       "%s is not a name of the form channel_cpu", f->base);
		}
		return false;
	}
	/* A channel without a name between its prefix and its CPU is none. */
	if (is_flight(f->base) && n <= FLIGHT_LENGTH)
		return false;
	size_t directory = (size_t)(f->base - name);
	f->control = directory == 8 && !memcmp(name, "control/", 8);
	f->metadata = is_metadata(f->base);
	f->flight = is_flight(f->base);
	/* The prefix is no part of the channel, where it is at the beginning of the relative path. */
	const char *channel = f->flight && (!directory || f->metadata) ? f->base + FLIGHT_LENGTH : name;
	size_t length = (size_t)(f->base + n - channel);
	if (f->flight && f->metadata && directory)
		channel = name, length = directory + n; /* control/flight-facilities: judged above, found by its own name */
	f->compact = name_is(channel, length, "compact");
	f->channel = lttng_channel_find(t, channel, length, true);
	if (f->channel) {
		f->channel->has_file = true;
		f->channel->has_data |= f->source->size != 0;
		judge_name(t, f, loose);
	}
	return f->channel != NULL;
}

struct slot {
	const struct lttng_channel *channel;
	int64_t cpu;
	size_t file;
};

static int slot_order(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;
	int order = a->channel == b->channel ? 0 : strcmp(a->channel->name, b->channel->name);
	if (order)
		return order;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->file < b->file ? -1 : a->file > b->file;
}

/* Duplicates, and cpus that channels have or lack. */
static void judge_slots(struct lttng_trace *t, struct slot *slots, size_t count)
{
	qsort(slots, count, sizeof(*slots), slot_order);
	for (size_t i = 1; i < count; i++) {
		if (slots[i].channel != slots[i - 1].channel || slots[i].cpu != slots[i - 1].cpu)
			continue;
		struct lttng_file *f = &t->files[slots[i].file], *other = &t->files[slots[i - 1].file];
		finding_report(t->f, LTTNG_RULE_duplicate_channel_cpu, f->source, 0, 0, "%s and %s are both channel %s, cpu %lld",
			       other->base, f->base, f->channel->name, (long long)f->cpu);
		file_aside(f, LTTNG_RULE_duplicate_channel_cpu, "another file is of the same channel and cpu");
		slots[i].file = slots[i - 1].file;
	}
}

void lttng_dir_collect(struct lttng_trace *t)
{
	struct slot *slots = malloc((t->file_count + 1) * sizeof(*slots));
	size_t count = 0, kept = 0;
	if (!slots) {
		(void)lttng_no_memory(t);
		return;
	}
	for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files[i];
		if (file_name(t, f)) {
			if (!f->aside)
				slots[count++] = (struct slot){ f->channel, f->cpu, kept };
			t->files[kept++] = *f;
			continue;
		}
		if (t->status != TM_OK)
			break;
		/* No tracefile: looked at as XML, and copied, once the version is known. */
		t->files[i].channel = NULL;
		t->files[kept++] = *f;
	}
	if (t->status == TM_OK && count)
		judge_slots(t, slots, count);
	free(slots);
}

/* ---- what the version asks for ---- */

static bool has_file_below(struct lttng_trace *t, const char *directory)
{
	size_t n = strlen(directory);
	for (size_t i = 0; i < t->file_count; i++) {
		const char *name = t->files[i].source->name;
		if (!strncmp(name, t->root, t->root_length) && !strncmp(name + t->root_length, directory, n) &&
		    name[t->root_length + n] == '/')
			return true;
	}
	/* Or empty. */
	char *path = malloc(t->root_length + n + 1);
	if (!path)
		return lttng_no_memory(t);
	memcpy(path, t->root, t->root_length);
	memcpy(path + t->root_length, directory, n + 1);
	bool found = bundle_find(t->in, TM_ROLE_INPUT, path) != NULL;
	free(path);
	return found;
}

struct cpu_set {
	uint64_t bits[(LTTNG_CPU_MAX + 1) / 64];
};

static bool cpu_set_has(const struct cpu_set *set, int64_t cpu)
{
	return set->bits[cpu / 64] >> (cpu % 64) & 1;
}

static void judge_channel_cpus(struct lttng_trace *t, const struct cpu_set *have, unsigned highest, const struct slot *slots,
			       size_t count)
{
	struct cpu_set of = { { 0 } };
	for (size_t i = 0; i < count; i++) {
		of.bits[slots[i].cpu / 64] |= UINT64_C(1) << (slots[i].cpu % 64);
		if (!cpu_set_has(have, slots[i].cpu)) {
			finding_report(t->f, LTTNG_RULE_channel_cpu_without_metadata_cpu, t->files[slots[i].file].source, 0, 0,
				       "there is no declarations file of cpu %lld", (long long)slots[i].cpu);
		}
	}
	for (unsigned i = 0; i <= highest; i++)
		if (cpu_set_has(have, i) && !cpu_set_has(&of, i)) {
			finding_report(t->f, LTTNG_RULE_channel_cpu_missing, NULL, 0, 0, "channel %s has no file of cpu %u",
				       slots[0].channel->name, i);
			break;
		}
}

static void judge_cpus(struct lttng_trace *t)
{
	struct cpu_set have = { { 0 } };
	unsigned highest = 0, cpus = 0;
	size_t count = 0;
	struct slot *slots = malloc((t->file_count + 1) * sizeof(*slots));

	if (!slots) {
		(void)lttng_no_memory(t);
		return;
	}
	for (size_t i = 0; i < t->file_count; i++) {
		const struct lttng_file *f = &t->files[i];
		if (!f->channel || f->aside)
			continue;
		if (!f->metadata) {
			slots[count++] = (struct slot){ f->channel, f->cpu, i };
			continue;
		}
		have.bits[f->cpu / 64] |= UINT64_C(1) << (f->cpu % 64);
		highest = f->cpu > (int64_t)highest ? (unsigned)f->cpu : highest;
		cpus++;
	}
	if (cpus && highest + 1 != cpus) {
		finding_report(t->f, LTTNG_RULE_cpu_gap, NULL, 0, 0,
			       "there are %u declaration files, and the highest cpu number is %u", cpus, highest);
		finding_report(t->f, LTTNG_RULE_reader_abort_risk, NULL, 0, 0,
			       "the text module of LTTV crashes where cpu numbers have gaps");
	}
	if (cpus && count) {
		qsort(slots, count, sizeof(*slots), slot_order);
		for (size_t i = 0, first = 0; i <= count; i++)
			if (i == count || slots[i].channel != slots[first].channel) {
				judge_channel_cpus(t, &have, highest, slots + first, i - first);
				first = i;
			}
	}
	free(slots);
}

static void judge_flight(struct lttng_trace *t)
{
	bool flight = false;
	for (size_t i = 0; i < t->file_count; i++)
		flight |= t->files[i].channel && t->files[i].flight;
	uint64_t flag = t->want.v[LF_FLIGHT];
	if (!lttng_has(t->layout, LF_FLIGHT) || (flag ? flight : !flight))
		return;
	finding_report(t->f, LTTNG_RULE_flight_flag_mismatch, NULL, 0, 0,
		       flag ? "the headers have flight_recorder = %llu, and no file name begins with flight-"
			    : "the headers have flight_recorder = %llu, and there are flight- files",
		       (unsigned long long)flag);
}

/* Declarations must be where the version looks for them. */
static bool metadata_in_place(const struct lttng_trace *t, const struct lttng_file *f)
{
	bool facilities = !strncmp(f->base + (f->flight ? FLIGHT_LENGTH : 0), "facilities", 10);
	switch (t->layout->era) {
	case LTTNG_FACILITIES:
	case LTTNG_MARKERS:
		return facilities && f->control;
	case LTTNG_TRACE_MARKERS:
		return !facilities && f->control;
	case LTTNG_CHANNEL_MARKERS:
	default:
		return !facilities && f->base == f->source->name + t->root_length;
	}
}

void lttng_dir_judge(struct lttng_trace *t)
{
	bool metadata = false, first = false;
	enum lttng_era era = t->layout->era;
	struct finding *fd;

	for (size_t i = 0; i < t->file_count; i++) {
		struct lttng_file *f = &t->files[i];
		if (!f->channel || f->aside)
			continue;
		f->metadata = f->metadata && metadata_in_place(t, f);
		metadata |= f->metadata && f->source->size;
		first |= f->metadata && f->cpu == 0;
		t->has_compact |= f->compact;
		if (era == LTTNG_CHANNEL_MARKERS && !f->metadata && f->base != f->source->name + t->root_length) {
			finding_report(t->f, LTTNG_RULE_control_dir_unexpected, f->source, 0, 0,
				       "%s: tracefiles of %s are not in subdirectories", f->source->name + t->root_length,
				       t->layout->name);
		}
	}
	if (!metadata) {
		bool control = era <= LTTNG_MARKERS && !has_file_below(t, "control");
		fd = finding_report(t->f, control ? LTTNG_RULE_control_dir_missing : LTTNG_RULE_no_metadata_file, NULL, 0, 0,
				    "a trace of version %s needs %s with data", t->layout->name,
				    era <= LTTNG_MARKERS	 ? "control/facilities_0"
				    : era == LTTNG_TRACE_MARKERS ? "control/metadata_0"
								 : "metadata_0");
		t->metadata_broken = fd;
		t->metadata_lost = true;
		unsigned rule = control ? LTTNG_RULE_control_dir_missing : LTTNG_RULE_no_metadata_file;
		for (size_t i = 0; i < t->file_count; i++)
			if (t->files[i].channel && !t->files[i].aside)
				file_aside(&t->files[i], rule, lttng_rules[rule].title);
	} else if (!first) {
		finding_report(t->f, LTTNG_RULE_reader_abort_risk, NULL, 0, 0,
			       "there are declarations, but none of cpu 0, which LTTV opens first");
	}
	if (era == LTTNG_FACILITIES && !has_file_below(t, "eventdefs")) {
		finding_report(t->f, LTTNG_RULE_eventdefs_missing, NULL, 0, 0,
			       "a trace of version %s needs the directory eventdefs with descriptions of its facilities",
			       t->layout->name);
		if (t->scan->plan) {
			static const char core[] = "<?xml version=\"1.0\"?>\n<facility name=\"core\">\n</facility>\n";
			char *name = lttng_table_alloc(t, t->root_length + 32);
			if (name) {
				memcpy(name, t->root, t->root_length);
				memcpy(name + t->root_length, "eventdefs/core.xml", sizeof("eventdefs/core.xml"));
				(void)plan_literal(t->scan->plan, plan_output(t->scan->plan, name), core, sizeof(core) - 1,
						   LTTNG_RULE_eventdefs_missing, "readers ask for the directory");
				free(name);
			}
		}
	}
	judge_cpus(t);
	judge_flight(t);
}
