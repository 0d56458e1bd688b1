#include "oracle.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "core/text.h"
#include "tracemend.h"
#include "inject.h"

/* Bytes fetched from sources for a byte of input, and besides. A few passes, each of which may meet some bytes twice
 * where a record spans two windows; a directory's small files are read whole for each purpose. */
#define WORK_FACTOR 24u
#define WORK_CONSTANT (1024u * 1024u)
/* The same for the memory that one run asks for at a time, and in all. */
#define REQUEST_LARGEST (64u * 1024u * 1024u)
#define REQUEST_FACTOR 4096u
#define REQUEST_CONSTANT (UINT64_C(256) * 1024 * 1024)

/* ---- texts that are compared ---- */

struct text {
	char *data;
	size_t size, capacity;
};

static void broken(const char *promise, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
static void broken(const char *promise, const char *format, ...)
{
	va_list arguments;
	fprintf(stderr, "oracle: %s broken: ", promise);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	abort();
}

static void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void text_add(struct text *t, const char *format, ...)
{
	va_list arguments;
	for (;;) {
		size_t room = t->capacity - t->size;
		va_start(arguments, format);
		int n = vsnprintf(t->data ? t->data + t->size : NULL, room, format, arguments);
		va_end(arguments);
		if (n < 0)
			abort();
		if ((size_t)n < room) {
			t->size += (size_t)n;
			return;
		}
		t->capacity = t->capacity * 2 + (size_t)n + 256;
		t->data = realloc(t->data, t->capacity);
		if (!t->data)
			abort();
	}
}

/* Literals of a plan may be as long as a block. */
static void text_add_hex(struct text *t, const uint8_t *data, uint64_t length)
{
	char shown[129];
	for (uint64_t i = 0, n; i < length; i += n) {
		n = length - i < sizeof(shown) / 2 ? length - i : sizeof(shown) / 2;
		text_hex(shown, data + i, (size_t)n);
		text_add(t, "%s", shown);
	}
}

static void text_free(struct text *t)
{
	free(t->data);
	*t = (struct text){ 0 };
}

/* Aborts with the first line that differs. */
static void texts_agree(const char *promise, const char *what, const struct text *a, const struct text *b)
{
	if (a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size)))
		return;
	const char *p = a->data ? a->data : "", *q = b->data ? b->data : "";
	while (*p || *q) {
		size_t m = strcspn(p, "\n"), n = strcspn(q, "\n");
		if (m != n || memcmp(p, q, m) != 0)
			broken(promise, "%s:\n  one    %.*s\n  other  %.*s", what, (int)m, p, (int)n, q);
		p += m + (p[m] == '\n');
		q += n + (q[n] == '\n');
	}
	broken(promise, "%s", what);
}

/* ---- reports ---- */

static void text_is_sane(const char *what, const char *text)
{
	if (!text)
		broken("P7", "%s is NULL", what);
	size_t n = strlen(text);
	if (utf8_valid_prefix(text, n) != n)
		broken("P7", "%s is not valid UTF-8", what);
	for (size_t i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)text[i];
		if (byte < 0x20 || byte == 0x7f || (byte == 0xc2 && (unsigned char)text[i + 1] < 0xa0))
			broken("P7", "%s has the control character 0x%02x: %s", what, byte, text);
	}
}

static bool rule_is_of(const struct tracemend_rule *rule, const char *format)
{
	return rule && (!strcmp(rule->format, format) || !strcmp(rule->format, "container")) &&
	       tracemend_rule_find(rule->id) == rule;
}

/* Members whose names had to be escaped are not looked up. */
static void finding_is_sane(const struct tracemend_finding *fd, const char *format, const struct capture *c)
{
	if (!rule_is_of(fd->rule, format))
		broken("P7", "a finding's rule is not one of %s", format);
	const char *id = fd->rule->id;
	text_is_sane(id, fd->file);
	text_is_sane(id, fd->path);
	text_is_sane(id, fd->message);
	if (fd->field_length)
		text_is_sane(id, fd->field);
	if (!*fd->message)
		broken("P7", "%s: a finding without a message", id);
	if (fd->severity != TM_NOTE && fd->severity != TM_WARNING && fd->severity != TM_ERROR)
		broken("P7", "%s: severity %d", id, (int)fd->severity);
	if (fd->severity > fd->rule->severity)
		broken("P7", "%s is reported graver than its row says", id);
	const struct capture_file *f = c ? capture_find_shown(c, TM_ROLE_INPUT, fd->file) : NULL;
	if (!f && c)
		f = capture_find_shown(c, TM_ROLE_EXTRA, fd->file);
	if (!f)
		return;
	uint64_t size = f->size;
	if (fd->offset > size || fd->length > size - fd->offset)
		broken("P7", "%s: [%llu, +%llu) is outside of %s (%llu bytes)", id, (unsigned long long)fd->offset,
		       (unsigned long long)fd->length, fd->file, (unsigned long long)size);
	if (fd->field_length && (fd->field_offset > size || fd->field_length > size - fd->field_offset))
		broken("P7", "%s: its field [%llu, +%u) is outside of %s (%llu bytes)", id, (unsigned long long)fd->field_offset,
		       fd->field_length, fd->file, (unsigned long long)size);
	if (fd->context_length > TRACEMEND_CONTEXT ||
	    (fd->context_length && (fd->context_offset > size || fd->context_length > size - fd->context_offset)))
		broken("P7", "%s: its context is outside of %s", id, fd->file);
	if (fd->context_length && f->role == TM_ROLE_INPUT &&
	    memcmp(fd->context, f->data + fd->context_offset, fd->context_length) != 0)
		broken("P7", "%s: its context is not what %s has there", id, fd->file);
}

static void report_print(struct text *t, const struct tracemend_report *report)
{
	const struct tracemend_summary *s = tracemend_report_summary(report);
	text_add(t, "format %s version %s size %llu records %llu errors %llu warnings %llu notes %llu complete %d %s\n", s->format,
		 s->format_version, (unsigned long long)s->size, (unsigned long long)s->records, (unsigned long long)s->errors,
		 (unsigned long long)s->warnings, (unsigned long long)s->notes, s->complete, s->incomplete);
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *fd = tracemend_report_finding(report, i);
		text_add(t, "%s %d file '%s' at %llu+%llu path '%s' message '%s' explains %llu field %llu+%u '%s' context %llu ",
			 fd->rule->id, (int)fd->severity, fd->file, (unsigned long long)fd->offset, (unsigned long long)fd->length,
			 fd->path, fd->message, (unsigned long long)fd->explains, (unsigned long long)fd->field_offset,
			 fd->field_length, fd->field_length ? fd->field : "", (unsigned long long)fd->context_offset);
		text_add_hex(t, fd->context, fd->context_length);
		text_add(t, "\n");
	}
	for (size_t i = 0; i < tracemend_report_fact_count(report); i++) {
		const struct tracemend_fact *fact = tracemend_report_fact(report, i);
		text_add(t, "fact %s = %s\n", fact->key, fact->value);
	}
}

static void report_is_sane(const struct tracemend_report *report, const struct capture *c)
{
	const struct tracemend_summary *s = tracemend_report_summary(report);
	uint64_t counts[3] = { 0 };
	uint64_t kept = 0;
	text_is_sane("format version", s->format_version);
	text_is_sane("reason of incompleteness", s->incomplete);
	if (s->complete == (*s->incomplete != '\0'))
		broken("P8", "complete is %d and the reason is '%s'", s->complete, s->incomplete);
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *fd = tracemend_report_finding(report, i);
		finding_is_sane(fd, s->format, c);
		counts[fd->severity]++;
		kept++;
		if (!tracemend_report_rule_count(report, fd->rule))
			broken("P7", "%s is listed and counted zero times", fd->rule->id);
	}
	if (kept > s->errors + s->warnings + s->notes || counts[TM_ERROR] > s->errors || counts[TM_WARNING] > s->warnings ||
	    counts[TM_NOTE] > s->notes)
		broken("P7", "more findings are listed than counted");
	for (size_t i = 0; i < tracemend_report_fact_count(report); i++) {
		text_is_sane("fact", tracemend_report_fact(report, i)->key);
		text_is_sane("fact", tracemend_report_fact(report, i)->value);
	}
}

/* ---- one run ---- */

/* What one open, check or repair, and close did. */
struct run {
	struct tracemend_options options;
	struct capture_faults faults;
	struct tracemend_error error;
	struct tracemend_input *input;
	struct tracemend_report *report;
	struct tracemend_repair *repair;
};

static void run_open(struct run *r, const struct oracle *o, const struct capture *c, size_t window)
{
	r->options = (struct tracemend_options){
		.format = o->format, .profile = o->profile, .max_findings = 64, .window = window, .facts = true
	};
	struct bundle *b = capture_bundle(c, &r->options, &r->faults);
	if (!b)
		(void)fault_memory(&r->error);
	else
		r->input = input_from_bundle(b, &r->error);
}

static void run_close(struct run *r)
{
	tracemend_report_free(r->report);
	tracemend_repair_free(r->repair);
	tracemend_close(r->input);
	r->report = NULL;
	r->repair = NULL;
	r->input = NULL;
}

static void run_check(struct run *r, const struct oracle *o, const struct capture *c, size_t window)
{
	run_open(r, o, c, window);
	if (r->input)
		r->report = tracemend_check(r->input, &r->options, &r->error);
	if (r->report ? tracemend_report_summary(r->report)->complete != (r->error.status == TM_OK) : r->error.status == TM_OK)
		broken("P8", "check gave %s and status %d (%s)",
		       !r->report				       ? "no report"
		       : tracemend_report_summary(r->report)->complete ? "a complete report"
								       : "an incomplete report",
		       (int)r->error.status, r->error.message);
	text_is_sane("error message", r->error.message);
}

static void run_repair(struct run *r, const struct oracle *o, const struct capture *c, size_t window)
{
	run_open(r, o, c, window);
	if (r->input)
		r->repair = tracemend_repair(r->input, &r->options, &r->error);
	if (!r->repair == (r->error.status == TM_OK))
		broken("P8", "repair gave %s and status %d (%s)", r->repair ? "a plan" : "no plan", (int)r->error.status,
		       r->error.message);
	if (r->error.status == TM_BUG)
		broken("P1", "%s", r->error.message);
	text_is_sane("error message", r->error.message);
}

/* P7: work and memory stay within a few times the input. */
static void run_is_bounded(const struct run *r, const char *what, uint64_t size, unsigned passes)
{
	if (r->input) {
		uint64_t work = input_bundle(r->input)->bytes_read;
		if (work > size * WORK_FACTOR * passes + WORK_CONSTANT)
			broken("P7", "%s read %llu bytes of a capture of %llu", what, (unsigned long long)work,
			       (unsigned long long)size);
	}
	if (inject.largest > REQUEST_LARGEST)
		broken("P7", "%s asked for %zu bytes at once, for a capture of %llu", what, inject.largest,
		       (unsigned long long)size);
	if (inject.bytes > size * REQUEST_FACTOR + REQUEST_CONSTANT)
		broken("P7", "%s asked for %llu bytes in all, for a capture of %llu", what, (unsigned long long)inject.bytes,
		       (unsigned long long)size);
}

static void run_print(struct text *t, const struct run *r)
{
	text_add(t, "status %d '%s'\n", (int)r->error.status, r->error.message);
	if (r->report)
		report_print(t, r->report);
}

/* ---- P4: the plan, replayed ---- */

struct coverage {
	struct tracemend_range *ranges;
	size_t count, capacity;
};

static void coverage_add(struct coverage *v, size_t input, uint64_t from, uint64_t length)
{
	if (v->count == v->capacity) {
		v->capacity = v->capacity * 2 + 64;
		v->ranges = realloc(v->ranges, v->capacity * sizeof(*v->ranges));
		if (!v->ranges)
			abort();
	}
	v->ranges[v->count++] = (struct tracemend_range){ .input = input, .from = from, .length = length };
}

static int range_order(const void *a, const void *b)
{
	const struct tracemend_range *p = a, *q = b;
	if (p->input != q->input)
		return p->input < q->input ? -1 : 1;
	return p->from == q->from ? 0 : p->from < q->from ? -1 : 1;
}

static void member_range_is_sane(const struct tracemend_repair *repair, const char *what, size_t input, uint64_t from,
				 uint64_t length)
{
	if (input >= tracemend_repair_member_count(repair))
		broken("P4", "%s names input %zu, which is none", what, input);
	const struct tracemend_member *m = tracemend_repair_member(repair, input);
	if (from > m->size || length > m->size - from)
		broken("P4", "%s [%llu, +%llu) is outside of %s", what, (unsigned long long)from, (unsigned long long)length,
		       m->file);
}

/* The name that a member or output is shown by, with its bytes back. */
static void name_unescape(char name[CAPTURE_NAME_MAX], const char *shown)
{
	size_t n = 0;
	for (; *shown; n++) {
		char digits[3] = { 0 };
		if (n + 1 >= CAPTURE_NAME_MAX)
			broken("P4", "a longer name than the oracle can hold: '%s'", shown);
		name[n] = *shown++;
		if (name[n] != '\\')
			continue;
		if (shown[0] != 'x' || !isxdigit((unsigned char)shown[1]) || !isxdigit((unsigned char)shown[2]))
			broken("P4", "a backslash in the name '%s' that escapes nothing", shown);
		memcpy(digits, shown + 1, 2);
		const uint8_t byte = (uint8_t)strtol(digits, NULL, 16);
		memcpy(&name[n], &byte, 1);
		shown += 3;
	}
	name[n] = '\0';
}

/* Walks the segments of an output with all repetitions of runs. Zero-initialise. */
struct segments_walk {
	size_t next;
	uint64_t time;
};

static bool segments_next(const struct tracemend_repair *repair, size_t output, struct segments_walk *w,
			  struct tracemend_segment *s)
{
	if (w->next == tracemend_repair_output(repair, output)->segment_count)
		return false;
	*s = tracemend_repair_segment(repair, output, w->next++);
	uint64_t time = w->time, times = s->times;
	if (!times || (times == 1 && s->group))
		broken("P4", "segment %zu comes %llu times, in a group of %u", w->next - 1, (unsigned long long)times, s->group);
	if (times > 1) { /* at the end of its group the run begins again */
		size_t end = w->next, first = w->next - 1;
		while (first && !tracemend_repair_segment(repair, output, first).group)
			first--;
		size_t size = tracemend_repair_segment(repair, output, first).group;
		if (end == first + size) {
			w->time = time + 1 < times ? time + 1 : 0;
			w->next = w->time ? first : end;
		}
	}
	s->offset += time * s->repeat_offset;
	if (!s->bytes)
		s->from += time * s->repeat_from;
	return true;
}

/* The bytes of output i by its segments; owned by the caller. */
static uint8_t *output_replay(const struct tracemend_repair *repair, size_t i, const struct capture *c, struct coverage *v)
{
	const struct tracemend_output *output = tracemend_repair_output(repair, i);
	uint64_t at = 0;
	uint8_t *data = malloc(output->size ? (size_t)output->size : 1);
	if (!data)
		abort();
	struct segments_walk walk = { 0 };
	for (struct tracemend_segment s; segments_next(repair, i, &walk, &s);) {
		size_t k = walk.next;
		if (s.offset != at || !s.length || s.length > output->size - at)
			broken("P4", "the segment before %zu of '%s' is [%llu, +%llu) after %llu of %llu bytes", k, output->file,
			       (unsigned long long)s.offset, (unsigned long long)s.length, (unsigned long long)at,
			       (unsigned long long)output->size);
		text_is_sane("segment", s.why ? s.why : "");
		if (s.bytes) {
			if (!s.rule || !s.why || !*s.why)
				broken("P4", "a literal at %llu of '%s' without rule or reason", (unsigned long long)at,
				       output->file);
			memcpy(data + at, s.bytes, (size_t)s.length);
		} else {
			member_range_is_sane(repair, "a segment", s.input, s.from, s.length);
			const struct tracemend_member *m = tracemend_repair_member(repair, s.input);
			char name[CAPTURE_NAME_MAX];
			name_unescape(name, m->file);
			const struct capture_file *f = capture_find(c, m->role, name);
			if (!f)
				broken("P4", "member '%s' is no file of the capture", m->file);
			memcpy(data + at, f->data + s.from, (size_t)s.length);
			if (s.rule && (!s.why || !*s.why))
				broken("P4", "a second copy at %llu of '%s' without a reason", (unsigned long long)at,
				       output->file);
			if (!s.rule && m->role != TM_ROLE_DONOR)
				coverage_add(v, s.input, s.from, s.length);
		}
		at += s.length;
	}
	if (at != output->size)
		broken("P4", "the segments of '%s' give %llu of %llu bytes", output->file, (unsigned long long)at,
		       (unsigned long long)output->size);
	return data;
}

static void coverage_verify(struct coverage *v, const struct tracemend_repair *repair)
{
	size_t next = 0;
	if (v->count)
		qsort(v->ranges, v->count, sizeof(*v->ranges), range_order);
	for (size_t i = 0; i < tracemend_repair_member_count(repair); i++) {
		const struct tracemend_member *m = tracemend_repair_member(repair, i);
		uint64_t at = 0;
		if (m->role == TM_ROLE_DONOR)
			continue;
		for (; next < v->count && v->ranges[next].input == i; next++) {
			const struct tracemend_range *r = &v->ranges[next];
			if (r->from != at)
				broken("P4", "bytes of '%s' from %llu are %s", m->file,
				       (unsigned long long)(r->from < at ? r->from : at),
				       r->from < at ? "kept or dropped twice" : "neither kept nor dropped");
			at += r->length;
		}
		if (at != m->size)
			broken("P4", "bytes of '%s' from %llu to its end at %llu are neither kept nor dropped", m->file,
			       (unsigned long long)at, (unsigned long long)m->size);
	}
	if (next != v->count)
		broken("P4", "a range of a donor is counted as kept or dropped");
}

static void plan_print(struct text *t, const struct tracemend_repair *repair)
{
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(repair);
	text_add(t, "changed %d lost %d kept %llu patched %llu added %llu dropped %llu (%d) passes %u\n", outcome->changed,
		 outcome->lost, (unsigned long long)outcome->kept, (unsigned long long)outcome->patched,
		 (unsigned long long)outcome->added, (unsigned long long)outcome->dropped, (int)outcome->dropped_is,
		 outcome->passes);
	for (size_t i = 0; i < tracemend_repair_output_count(repair); i++) {
		const struct tracemend_output *output = tracemend_repair_output(repair, i);
		text_add(t, "output '%s' %llu\n", output->file, (unsigned long long)output->size);
		for (size_t k = 0; k < output->segment_count; k++) {
			struct tracemend_segment s = tracemend_repair_segment(repair, i, k);
			text_add(t, "  %llu+%llu (%u, %llu times, %llu and %llu further) ", (unsigned long long)s.offset,
				 (unsigned long long)s.length, s.group, (unsigned long long)s.times,
				 (unsigned long long)s.repeat_offset, (unsigned long long)s.repeat_from);
			if (s.bytes)
				text_add_hex(t, s.bytes, s.length);
			else
				text_add(t, "input %zu from %llu", s.input, (unsigned long long)s.from);
			text_add(t, " %s %s\n", s.rule ? s.rule->id : "", s.why ? s.why : "");
		}
	}
	for (size_t i = 0; i < tracemend_repair_dropped_count(repair); i++) {
		struct tracemend_range r = tracemend_repair_dropped(repair, i);
		text_add(t, "dropped %zu %llu+%llu %llu times, %llu further %s %s\n", r.input, (unsigned long long)r.from,
			 (unsigned long long)r.length, (unsigned long long)r.times, (unsigned long long)r.repeat_from,
			 r.rule ? r.rule->id : "", r.why);
	}
	for (size_t i = 0; i < tracemend_repair_doubtful_count(repair); i++) {
		struct tracemend_range r = tracemend_repair_doubtful(repair, i);
		text_add(t, "doubtful %zu %llu+%llu %s\n", r.input, (unsigned long long)r.from, (unsigned long long)r.length,
			 r.why);
	}
}

char *oracle_text(const struct tracemend_report *report, const struct tracemend_repair *repair)
{
	struct text t = { 0 };
	text_add(&t, "%s", "");
	if (report)
		report_print(&t, report);
	if (repair)
		plan_print(&t, repair);
	return t.data;
}

/* Replays the plan into *out (owned bytes), and holds it to P4. */
static void plan_replay(struct run *r, const struct capture *c, struct capture *out)
{
	struct tracemend_repair *repair = r->repair;
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(repair);
	struct coverage v = { 0 };
	memset(out, 0, sizeof(*out));
	out->directory = tracemend_repair_is_directory(repair);
	size_t outputs = tracemend_repair_output_count(repair);
	if (!outputs)
		broken("P4", "a repair without output");
	if (outputs > 1 && !out->directory)
		broken("P4", "%zu outputs that are no directory", outputs);
	for (size_t i = 0; i < outputs; i++) {
		const struct tracemend_output *output = tracemend_repair_output(repair, i);
		if (out->count == CAPTURE_FILES_MAX)
			broken("P4", "more outputs than the oracle can hold");
		struct capture_file *f = &out->files[out->count++];
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it is owned by *out */
		uint8_t *data = f->owned = output_replay(repair, i, c, &v);
		uint8_t *read = malloc(output->size ? (size_t)output->size : 1);
		if (!read)
			abort();
		if (tracemend_repair_read(repair, i, 0, read, (size_t)output->size) != TM_OK)
			broken("P4", "output '%s' cannot be read", output->file);
		if (output->size && memcmp(read, data, (size_t)output->size) != 0)
			broken("P4", "output '%s' is not what its segments say", output->file);
		free(read);
		name_unescape(f->name, output->file);
		f->data = data;
		f->size = (size_t)output->size;
	}
	for (size_t i = 0; i < tracemend_repair_dropped_count(repair); i++) {
		struct tracemend_range d = tracemend_repair_dropped(repair, i);
		if (!d.times)
			broken("P4", "a dropped range comes no time");
		member_range_is_sane(repair, "a dropped range", d.input, d.from, d.length);
		member_range_is_sane(repair, "the last of dropped ranges", d.input, d.from + (d.times - 1) * d.repeat_from,
				     d.length);
		if (!d.length || !d.rule || !d.why || !*d.why)
			broken("P4", "a dropped range is empty, or without rule or reason");
		text_is_sane("dropped", d.why);
		for (uint64_t time = 0; time < d.times; time++)
			coverage_add(&v, d.input, d.from + time * d.repeat_from, d.length);
	}
	for (size_t i = 0; i < tracemend_repair_doubtful_count(repair); i++) {
		struct tracemend_range d = tracemend_repair_doubtful(repair, i);
		member_range_is_sane(repair, "a doubtful range", d.input, d.from, d.length);
		member_range_is_sane(repair, "the last of doubtful ranges", d.input, d.from + (d.times - 1) * d.repeat_from,
				     d.length);
		text_is_sane("doubtful", d.why ? d.why : "");
	}
	coverage_verify(&v, repair);
	free(v.ranges);
	if (!outcome->lost && (outcome->dropped || outcome->dropped_is != TM_EXACT))
		broken("P8", "nothing is called lost, and %llu records are dropped", (unsigned long long)outcome->dropped);
}

static bool captures_equal(const struct capture *a, const struct capture *b)
{
	size_t inputs = 0;
	for (size_t i = 0; i < a->count; i++) {
		if (a->files[i].role != TM_ROLE_INPUT || a->files[i].kind != SOURCE_FILE)
			continue;
		const struct capture_file *f = capture_find(b, TM_ROLE_INPUT, a->files[i].name);
		inputs++;
		if (!f || f->size != a->files[i].size || (f->size && memcmp(f->data, a->files[i].data, f->size) != 0))
			return false;
	}
	return inputs == b->count && a->directory == b->directory;
}

static bool capture_has_pieces(const struct capture *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->files[i].role == TM_ROLE_EXTRA)
			return true;
	return false;
}

static void repair_properties(const struct oracle *o, const struct capture *c, struct run *r, struct oracle_verdict *verdict)
{
	struct capture out;
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(r->repair);
	plan_replay(r, c, &out);

	bool same = captures_equal(c, &out);
	if (outcome->changed == same)
		broken("P4", "changed is %d, and the output is %s", outcome->changed, same ? "the input" : "another");
	if (!verdict->errors && !capture_has_pieces(c)) {
		if (!same)
			broken("P2", "a capture without errors was changed");
		if (outcome->lost || outcome->dropped || outcome->patched || outcome->added || outcome->kept != verdict->records)
			broken("P2", "a capture without errors: kept %llu of %llu records, patched %llu, added %llu, dropped %llu",
			       (unsigned long long)outcome->kept, (unsigned long long)verdict->records,
			       (unsigned long long)outcome->patched, (unsigned long long)outcome->added,
			       (unsigned long long)outcome->dropped);
	}
	verdict->repaired = true;
	verdict->changed = outcome->changed;
	if (!same) {
		struct oracle again = *o;
		struct run check = { 0 }, repair = { 0 };
		if (tracemend_report_summary(tracemend_repair_report(r->repair))->format[0])
			again.format = tracemend_report_summary(tracemend_repair_report(r->repair))->format;
		run_check(&check, &again, &out, 0);
		if (!check.report)
			broken("P1", "the output is not recognised: %s", check.error.message);
		const struct tracemend_summary *s = tracemend_report_summary(check.report);
		if (!s->complete || s->errors)
			broken("P1", "the output has %llu errors (%s)", (unsigned long long)s->errors,
			       s->errors ? tracemend_report_finding(check.report, 0)->message : s->incomplete);
		report_is_sane(check.report, &out);
		if (s->records != outcome->kept + outcome->patched + outcome->added)
			broken("P4", "the output has %llu records; kept %llu, patched %llu, added %llu",
			       (unsigned long long)s->records, (unsigned long long)outcome->kept,
			       (unsigned long long)outcome->patched, (unsigned long long)outcome->added);
		run_close(&check);
		run_repair(&repair, &again, &out, 0);
		if (!repair.repair)
			broken("P3", "the output cannot be repaired again: %s", repair.error.message);
		struct capture twice;
		plan_replay(&repair, &out, &twice);
		if (!captures_equal(&out, &twice))
			broken("P3", "the second repair changes the output of the first");
		capture_free(&twice);
		run_close(&repair);
	}
	capture_free(&out);
}

/* ---- P8: faults ---- */

typedef void run_function(struct run *r, const struct oracle *o, const struct capture *c, size_t window);

/* One run with the read or the allocation k failing; `expected` is the result without faults. */
static void fault_run(const struct oracle *o, const struct capture *c, run_function *run, bool read, uint64_t k, bool sticky,
		      const struct text *expected)
{
	struct run r = { 0 };
	struct text t = { 0 };
	const char *what = read ? "read" : "allocation";
	if (read)
		r.faults.fail_at = k;
	inject_arm(read ? 0 : k, sticky);
	run(&r, o, c, 0);
	bool armed_fired = read ? r.faults.fired : inject.fired;
	inject.armed = false;
	run_print(&t, &r);
	if (r.repair) {
		report_print(&t, tracemend_repair_report(r.repair));
		plan_print(&t, r.repair);
	}
	inject.armed = true;
	run_close(&r);
	inject_disarm();
	if (inject.live)
		broken("P8", "%lld allocations leak after failed %s %llu", (long long)inject.live, what, (unsigned long long)k);
	if (armed_fired && r.error.status != (read ? TM_IO : TM_NO_MEMORY)) {
		/* A failure that the code lives with must not change what it says. */
		char text[96];
		snprintf(text, sizeof(text), "status %d after failed %s %llu, and not the usual result", (int)r.error.status, what,
			 (unsigned long long)k);
		texts_agree("P8", text, expected, &t);
	}
	text_free(&t);
}

static void fault_runs(const struct oracle *o, const struct capture *c, run_function *run, unsigned faults, uint64_t rotate)
{
	struct run r = { 0 };
	struct text expected = { 0 };
	inject_arm(0, false);
	run(&r, o, c, 0);
	uint64_t allocations = inject.calls, reads = r.faults.reads;
	inject.armed = false;
	run_print(&expected, &r);
	if (r.repair) {
		report_print(&expected, tracemend_repair_report(r.repair));
		plan_print(&expected, r.repair);
	}
	inject.armed = true;
	run_close(&r);
	inject_disarm();
	if (inject.live)
		broken("P8", "%lld allocations leak", (long long)inject.live);
	for (int read = 0; read < 2; read++) {
		uint64_t total = read ? reads : allocations;
		if (!total)
			continue;
		uint64_t step = total > faults ? total / faults : 1;
		for (uint64_t k = 1 + rotate % (faults == 1 ? total : step); k <= total; k += step) {
			fault_run(o, c, run, read, k, (k + rotate) & 1, &expected);
			if (faults == 1)
				break;
		}
	}
	text_free(&expected);
}

/* ---- a capture ---- */

/* Spreads the rotating choices over the inputs, the same way each time for one input. */
static uint64_t capture_hash(const struct capture *c)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < c->files[i].size; k++)
			h = (h ^ c->files[i].data[k]) * UINT64_C(0x100000001b3);
	return h ^ (h >> 29);
}

struct oracle_verdict oracle_capture(const struct oracle *o, const struct capture *c)
{
	static const size_t windows[] = { 1, 7, 4096, 0 };
	const size_t window_count = sizeof(windows) / sizeof(windows[0]);
	struct oracle_verdict verdict = { 0 };
	struct run r = { 0 };
	struct text expected = { 0 };
	uint64_t size = capture_size(c), hash = capture_hash(c);

	inject_arm(0, false);
	run_check(&r, o, c, 0);
	run_is_bounded(&r, "check", size, 1);
	inject.armed = false;
	run_print(&expected, &r);
	if (r.error.status == TM_BUG || r.error.status == TM_IO || r.error.status == TM_NO_MEMORY)
		broken("P8", "check ended with status %d: %s", (int)r.error.status, r.error.message);
	bool complete = false;
	if (r.report) {
		const struct tracemend_summary *s = tracemend_report_summary(r.report);
		report_is_sane(r.report, c);
		verdict = (struct oracle_verdict){
			.recognised = true, .errors = s->errors, .warnings = s->warnings, .notes = s->notes, .records = s->records
		};
		complete = s->complete;
	}
	inject.armed = true;
	run_close(&r);
	inject_disarm();
	if (inject.live)
		broken("P8", "check leaks %lld allocations", (long long)inject.live);
	for (size_t i = 0; i < window_count; i++) {
		struct run other = { 0 };
		struct text t = { 0 };
		if (o->effort != ORACLE_ALL && i != hash % window_count)
			continue;
		run_check(&other, o, c, windows[i]);
		run_print(&t, &other);
		texts_agree("P9", windows[i] ? "another window size gives another report" : "a second check gives another report",
			    &expected, &t);
		text_free(&t);
		run_close(&other);
	}
	text_free(&expected);
	if (o->effort == ORACLE_CHECK)
		return verdict;

	inject_arm(0, false);
	run_repair(&r, o, c, 0);
	run_is_bounded(&r, "repair", size, 3);
	inject.armed = false;
	if (!r.repair && r.error.status != TM_NOTHING && r.error.status != TM_LIMIT && r.error.status != TM_UNRECOGNISED)
		broken("P8", "repair ended with status %d: %s", (int)r.error.status, r.error.message);
	if (!r.repair && complete && !verdict.errors)
		broken("P2", "a capture without errors cannot be repaired: %s", r.error.message);
	run_print(&expected, &r);
	if (r.repair) {
		plan_print(&expected, r.repair);
		repair_properties(o, c, &r, &verdict);
	}
	inject.armed = true;
	run_close(&r);
	inject_disarm();
	for (size_t i = 0; i < window_count; i++) {
		struct run other = { 0 };
		struct text t = { 0 };
		if (o->effort != ORACLE_ALL && i != (hash >> 8) % window_count)
			continue;
		run_repair(&other, o, c, windows[i]);
		run_print(&t, &other);
		if (other.repair)
			plan_print(&t, other.repair);
		texts_agree("P9", windows[i] ? "another window size gives another plan" : "a second repair gives another plan",
			    &expected, &t);
		text_free(&t);
		run_close(&other);
	}
	text_free(&expected);

	unsigned faults = o->effort == ORACLE_ALL ? o->faults : 1;
	if (faults) {
		fault_runs(o, c, run_check, faults, hash >> 16);
		fault_runs(o, c, run_repair, faults, hash >> 24);
	}
	return verdict;
}

struct oracle_verdict oracle_bytes(const struct oracle *o, const uint8_t *data, size_t size)
{
	struct capture c;
	capture_parse(&c, data, size);
	struct oracle_verdict verdict = oracle_capture(o, &c);
	capture_free(&c);
	return verdict;
}

void oracle_prefixes(const struct oracle *o, const struct capture *c, unsigned cuts)
{
	struct oracle_verdict whole = oracle_capture(o, c);
	for (size_t i = 0; i < c->count; i++) {
		size_t size = c->files[i].size;
		for (unsigned k = 0; k < cuts && k < size; k++) {
			struct capture cut = *c;
			cut.files[i].owned = NULL;
			cut.files[i].size = size <= cuts ? k : (size_t)((uint64_t)size * k / cuts + k % 8);
			if (cut.files[i].size >= size)
				continue;
			struct oracle_verdict v = oracle_capture(o, &cut);
			if (v.recognised && !v.errors && v.records > whole.records)
				broken("P8", "cut at %zu of %zu, '%s' is called clean with %llu of %llu records", cut.files[i].size,
				       size, c->files[i].name, (unsigned long long)v.records, (unsigned long long)whole.records);
		}
	}
}

void oracle_byte_changes(const struct oracle *o, const struct capture *c, unsigned places, unsigned values)
{
	/* One bit at either end, all bits, then whatever a multiplier that is odd leads to: 255 of them are all values. */
	static const uint8_t first[] = { 0x01, 0x80, 0xff };
	for (size_t i = 0; i < c->count; i++) {
		const size_t size = c->files[i].size;
		uint8_t *data = size ? malloc(size) : NULL;
		if (!data)
			continue;
		memcpy(data, c->files[i].data, size);
		struct capture changed = *c;
		changed.files[i].owned = NULL;
		changed.files[i].data = data;
		const size_t step = size <= places ? 1 : size / places;
		for (size_t at = 0; at < size; at += step) {
			const uint8_t was = data[at];
			for (unsigned k = 0; k < values && k < 255; k++) {
				const uint8_t mask = values >= 255 ? (uint8_t)(k + 1) : k < 3 ? first[k] : (uint8_t)(k * 37 + 2);
				data[at] = was ^ mask;
				oracle_capture(o, &changed);
			}
			data[at] = was;
		}
		free(data);
	}
}

/* ---- generated captures ---- */

static bool sample_expects(const struct tracemend_sample *sample, const struct tracemend_rule *rule)
{
	for (size_t i = 0; i < tracemend_sample_expect_count(sample); i++)
		if (tracemend_sample_expect(sample, i) == rule)
			return true;
	return false;
}

static void sample_is_as_promised(const struct oracle *o, const struct tracemend_recipe *recipe,
				  const struct tracemend_sample *sample)
{
	struct tracemend_options options = { .format = o->format, .profile = o->profile };
	struct tracemend_error error = { 0 };
	const char *what = recipe->rule ? recipe->rule : "a valid capture";
	struct tracemend_input *input = tracemend_open_sample(sample, &options, &error);
	struct tracemend_report *report = input ? tracemend_check(input, &options, &error) : NULL;
	if (!report) {
		/* A breaker may take away what the format is recognised by; not when it is forced. */
		broken("gen", "%s, seed %llu: %s", what, (unsigned long long)recipe->seed, error.message);
	}
	const struct tracemend_summary *s = tracemend_report_summary(report);
	if (!s->complete)
		broken("gen", "%s, seed %llu: the check is not complete: %s", what, (unsigned long long)recipe->seed,
		       s->incomplete);
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *fd = tracemend_report_finding(report, i);
		if (fd->severity == TM_ERROR && !sample_expects(sample, fd->rule))
			broken("gen", "%s, seed %llu: reports %s at %s:%llu: %s", what, (unsigned long long)recipe->seed,
			       fd->rule->id, fd->file, (unsigned long long)fd->offset, fd->message);
	}
	for (size_t i = 0; i < tracemend_sample_expect_count(sample); i++) {
		const struct tracemend_rule *rule = tracemend_sample_expect(sample, i);
		if (!tracemend_report_rule_count(report, rule))
			broken("gen", "%s, seed %llu: %s is not reported", what, (unsigned long long)recipe->seed, rule->id);
	}
	if (!recipe->rule && s->records != tracemend_sample_records(sample))
		broken("gen", "%s, seed %llu: %llu records, and the generator made %llu", what, (unsigned long long)recipe->seed,
		       (unsigned long long)s->records, (unsigned long long)tracemend_sample_records(sample));
	tracemend_report_free(report);
	tracemend_close(input);
}

void oracle_recipe(const struct oracle *o, const struct tracemend_recipe *recipe)
{
	struct tracemend_error error = { 0 };
	struct tracemend_sample *sample = tracemend_generate(recipe, &error);
	struct tracemend_sample *again = tracemend_generate(recipe, &error);
	struct capture c, d;
	if (!sample && recipe->rule && error.status == TM_USAGE)
		return; /* a rule of another profile */
	if (!sample || !again)
		broken("gen", "%s, seed %llu: %s", recipe->rule ? recipe->rule : "valid", (unsigned long long)recipe->seed,
		       error.message);
	capture_from_sample(&c, sample);
	capture_from_sample(&d, again);
	if (!captures_equal(&c, &d))
		broken("P9", "%s, seed %llu: the generator made two different captures", recipe->rule ? recipe->rule : "valid",
		       (unsigned long long)recipe->seed);
	if (recipe->damage == TM_DAMAGE_NONE)
		sample_is_as_promised(o, recipe, sample);
	tracemend_sample_free(again);
	(void)oracle_capture(o, &c);
	capture_free(&c);
	tracemend_sample_free(sample);
}

/* ---- containers ---- */

void oracle_container(const uint8_t *data, size_t size)
{
	struct text first = { 0 }, second = { 0 };
	for (int i = 0; i < 2; i++) {
		struct tracemend_options options = { .max_findings = 16, .window = i ? 7 : 0 };
		struct tracemend_error error = { 0 };
		struct tracemend_input *input = tracemend_open_memory("container", data, size, &options, &error);
		struct tracemend_report *report = input ? tracemend_check(input, &options, &error) : NULL;
		if (report ? tracemend_report_summary(report)->complete != (error.status == TM_OK) : error.status == TM_OK)
			broken("P8", "status %d (%s) does not fit the report", (int)error.status, error.message);
		text_is_sane("error message", error.message);
		text_add(i ? &second : &first, "status %d '%s'\n", (int)error.status, error.message);
		if (report) {
			report_is_sane(report, NULL);
			report_print(i ? &second : &first, report);
		}
		tracemend_report_free(report);
		tracemend_close(input);
	}
	texts_agree("P9", "another window size gives another report", &first, &second);
	text_free(&first);
	text_free(&second);
}
