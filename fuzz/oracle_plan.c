/* P4: the plan of a repair, replayed from the public accessors. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "oracle_parts.h"

struct coverage {
	struct tracemend_range *ranges;
	size_t count, capacity;
};

static void coverage_add(struct coverage *v, size_t input, uint64_t from, uint64_t length)
{
	if (array_room(&v->ranges, &v->capacity, v->count, sizeof(*v->ranges), SIZE_MAX) != TM_OK)
		abort();
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
		oracle_broken("P4", "%s names input %zu, which is none", what, input);
	const struct tracemend_member *m = tracemend_repair_member(repair, input);
	if (from > m->size || length > m->size - from)
		oracle_broken("P4", "%s [%llu, +%llu) is outside of %s", what, (unsigned long long)from, (unsigned long long)length,
			      m->file);
}

/* The first and the last of a run. */
static void range_is_sane(const struct tracemend_repair *repair, const char *what, const struct tracemend_range *r)
{
	if (!r->times)
		oracle_broken("P4", "%s comes no time", what);
	member_range_is_sane(repair, what, r->input, r->from, r->length);
	member_range_is_sane(repair, what, r->input, r->from + (r->times - 1) * r->repeat_from, r->length);
}

/* The bytes of an escaped name. */
static void name_unescape(char name[CAPTURE_NAME_MAX], const char *shown)
{
	size_t n = 0;
	for (; *shown; n++) {
		char digits[3] = { 0 };
		if (n + 1 >= CAPTURE_NAME_MAX)
			oracle_broken("P4", "a longer name than the oracle can hold: '%s'", shown);
		name[n] = *shown++;
		if (name[n] != '\\')
			continue;
		if (shown[0] != 'x' || !isxdigit((unsigned char)shown[1]) || !isxdigit((unsigned char)shown[2]))
			oracle_broken("P4", "a backslash in the name '%s' that escapes nothing", shown);
		memcpy(digits, shown + 1, 2);
		const uint8_t byte = (uint8_t)strtol(digits, NULL, 16);
		memcpy(&name[n], &byte, 1);
		shown += 3;
	}
	name[n] = '\0';
}

/* Copies the range of a segment to `to`. */
static void copy_replay(const struct tracemend_repair *repair, const struct tracemend_segment *s, const char *file,
			const struct capture *c, uint8_t *to, struct coverage *v)
{
	member_range_is_sane(repair, "a segment", s->input, s->from, s->length);
	const struct tracemend_member *m = tracemend_repair_member(repair, s->input);
	char name[CAPTURE_NAME_MAX];
	name_unescape(name, m->file);
	const struct capture_file *f = capture_find(c, m->role, name);
	if (!f)
		oracle_broken("P4", "member '%s' is not a file of the capture", m->file);
	memcpy(to, f->data + s->from, (size_t)s->length);
	if (s->rule && (!s->why || !*s->why))
		oracle_broken("P4", "a second copy at %llu of '%s' without a reason", (unsigned long long)s->offset, file);
	if (!s->rule && m->role != TM_ROLE_DONOR)
		coverage_add(v, s->input, s->from, s->length);
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
	uint64_t time = w->time;
	if (!s->times || (s->times == 1 && s->group))
		oracle_broken("P4", "segment %zu comes %llu times, in a group of %u", w->next - 1, (unsigned long long)s->times,
			      s->group);
	if (s->times > 1) { /* at the end of its group the run begins again */
		size_t end = w->next, first = w->next - 1;
		while (first && !tracemend_repair_segment(repair, output, first).group)
			first--;
		if (end == first + tracemend_repair_segment(repair, output, first).group) {
			w->time = time + 1 < s->times ? time + 1 : 0;
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
		if (s.offset != at || !s.length || s.length > output->size - at)
			oracle_broken("P4", "the segment before %zu of '%s' is [%llu, +%llu) after %llu of %llu bytes", walk.next,
				      output->file, (unsigned long long)s.offset, (unsigned long long)s.length,
				      (unsigned long long)at, (unsigned long long)output->size);
		oracle_text_is_sane("segment", s.why ? s.why : "");
		if (s.bytes && (!s.rule || !s.why || !*s.why))
			oracle_broken("P4", "a literal at %llu of '%s' without rule or reason", (unsigned long long)at,
				      output->file);
		if (s.bytes)
			memcpy(data + at, s.bytes, (size_t)s.length);
		else
			copy_replay(repair, &s, output->file, c, data + at, v);
		at += s.length;
	}
	if (at != output->size)
		oracle_broken("P4", "the segments of '%s' give %llu of %llu bytes", output->file, (unsigned long long)at,
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
				oracle_broken("P4", "bytes of '%s' from %llu are %s", m->file,
					      (unsigned long long)(r->from < at ? r->from : at),
					      r->from < at ? "kept or dropped twice" : "neither kept nor dropped");
			at += r->length;
		}
		if (at != m->size)
			oracle_broken("P4", "bytes of '%s' from %llu to its end at %llu are neither kept nor dropped", m->file,
				      (unsigned long long)at, (unsigned long long)m->size);
	}
	if (next != v->count)
		oracle_broken("P4", "a range of a donor is counted as kept or dropped");
}

void oracle_plan_print(struct oracle_text *t, const struct tracemend_repair *repair)
{
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(repair);
	oracle_text_add(t, "changed %d lost %d kept %llu patched %llu added %llu dropped %llu (%d) passes %u\n", outcome->changed,
			outcome->lost, (unsigned long long)outcome->kept, (unsigned long long)outcome->patched,
			(unsigned long long)outcome->added, (unsigned long long)outcome->dropped, (int)outcome->dropped_is,
			outcome->passes);
	for (size_t i = 0; i < tracemend_repair_output_count(repair); i++) {
		const struct tracemend_output *output = tracemend_repair_output(repair, i);
		oracle_text_add(t, "output '%s' %llu\n", output->file, (unsigned long long)output->size);
		for (size_t k = 0; k < output->segment_count; k++) {
			struct tracemend_segment s = tracemend_repair_segment(repair, i, k);
			oracle_text_add(t, "  %llu+%llu (%u, %llu times, %llu and %llu further) ", (unsigned long long)s.offset,
					(unsigned long long)s.length, s.group, (unsigned long long)s.times,
					(unsigned long long)s.repeat_offset, (unsigned long long)s.repeat_from);
			if (s.bytes)
				oracle_text_hex(t, s.bytes, s.length);
			else
				oracle_text_add(t, "input %zu from %llu", s.input, (unsigned long long)s.from);
			oracle_text_add(t, " %s %s\n", s.rule ? s.rule->id : "", s.why ? s.why : "");
		}
	}
	for (size_t i = 0; i < tracemend_repair_dropped_count(repair); i++) {
		struct tracemend_range r = tracemend_repair_dropped(repair, i);
		oracle_text_add(t, "dropped %zu %llu+%llu, %llu times, %llu further %s %s\n", r.input, (unsigned long long)r.from,
				(unsigned long long)r.length, (unsigned long long)r.times, (unsigned long long)r.repeat_from,
				r.rule ? r.rule->id : "", r.why);
	}
	for (size_t i = 0; i < tracemend_repair_doubtful_count(repair); i++) {
		struct tracemend_range r = tracemend_repair_doubtful(repair, i);
		oracle_text_add(t, "doubtful %zu %llu+%llu %s\n", r.input, (unsigned long long)r.from, (unsigned long long)r.length,
				r.why);
	}
}

char *oracle_text(const struct tracemend_report *report, const struct tracemend_repair *repair)
{
	struct oracle_text t = { 0 };
	oracle_text_add(&t, "%s", "");
	if (report)
		oracle_report_print(&t, report);
	if (repair)
		oracle_plan_print(&t, repair);
	return t.data;
}

/* Replays all outputs by their segments; the result must be what the repair itself reads. */
static void outputs_replay(struct tracemend_repair *repair, const struct capture *c, struct capture *out, struct coverage *v)
{
	size_t outputs = tracemend_repair_output_count(repair);

	if (!outputs)
		oracle_broken("P4", "a repair without output");
	if (outputs > 1 && !out->directory)
		oracle_broken("P4", "%zu outputs, and the result is not a directory", outputs);
	for (size_t i = 0; i < outputs; i++) {
		const struct tracemend_output *output = tracemend_repair_output(repair, i);
		if (out->count == CAPTURE_FILES_MAX)
			oracle_broken("P4", "more outputs than the oracle can hold");
		struct capture_file *f = &out->files[out->count++];
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it is owned by *out */
		uint8_t *data = f->owned = output_replay(repair, i, c, v);
		uint8_t *read = malloc(output->size ? (size_t)output->size : 1);
		if (!read)
			abort();
		if (tracemend_repair_read(repair, i, 0, read, (size_t)output->size) != TM_OK)
			oracle_broken("P4", "output '%s' cannot be read", output->file);
		if (output->size && memcmp(read, data, (size_t)output->size) != 0)
			oracle_broken("P4", "output '%s' is not what its segments say", output->file);
		free(read);
		name_unescape(f->name, output->file);
		f->data = data;
		f->size = (size_t)output->size;
	}
}

void oracle_plan_replay(struct oracle_run *r, const struct capture *c, struct capture *out)
{
	struct tracemend_repair *repair = r->repair;
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(repair);
	struct coverage v = { 0 };

	memset(out, 0, sizeof(*out));
	out->directory = tracemend_repair_is_directory(repair);
	outputs_replay(repair, c, out, &v);
	for (size_t i = 0; i < tracemend_repair_dropped_count(repair); i++) {
		struct tracemend_range d = tracemend_repair_dropped(repair, i);
		range_is_sane(repair, "a dropped range", &d);
		if (!d.length || !d.rule || !d.why || !*d.why)
			oracle_broken("P4", "a dropped range is empty, or without rule or reason");
		oracle_text_is_sane("dropped", d.why);
		for (uint64_t time = 0; time < d.times; time++)
			coverage_add(&v, d.input, d.from + time * d.repeat_from, d.length);
	}
	for (size_t i = 0; i < tracemend_repair_doubtful_count(repair); i++) {
		struct tracemend_range d = tracemend_repair_doubtful(repair, i);
		range_is_sane(repair, "a doubtful range", &d);
		oracle_text_is_sane("doubtful", d.why ? d.why : "");
	}
	coverage_verify(&v, repair);
	free(v.ranges);
	if (!outcome->lost && (outcome->dropped || outcome->dropped_is != TM_EXACT))
		oracle_broken("P8", "nothing is called lost, and %llu records are dropped", (unsigned long long)outcome->dropped);
}
