/* The manifest of a repair: every output byte and where it comes from, every input byte and where it went. It may have
 * millions of segments, so it is printed piece by piece. */
#include "report/report.h"

#include <stdlib.h>

/* Prints `,` and a line end between members, and the value. */
static void manifest_item(struct report_run *run, size_t index, json_t *value)
{
	fputs(index ? ",\n" : "\n", run->out);
	report_json_print(run, value);
}

static json_t *manifest_member(const struct tracemend_member *m)
{
	static const char *const roles[] = { "input", "extra", "donor" };
	json_t *o = json_object();

	if (report_json_set(o, "path", json_string(m->path)) && report_json_set(o, "file", json_string(m->file)) &&
	    (m->role == TM_ROLE_INPUT || report_json_set(o, "role", json_string(roles[m->role]))) &&
	    report_json_set(o, "size", report_json_number(m->size)) && report_json_set(o, "sha256", json_string(m->sha256)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *manifest_hex(const uint8_t *bytes, uint64_t length)
{
	static const char digits[] = "0123456789abcdef";
	char *text = length < SIZE_MAX / 2 ? malloc(2 * (size_t)length + 1) : NULL;

	if (!text)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	json_t *value = json_stringn(text, 2 * (size_t)length);
	free(text);
	return value;
}

/* {"count":n,"offset":a,"from":b}; offset is left out where there is no output, from where nothing is of the input. */
static json_t *manifest_repeat(uint64_t times, bool output, uint64_t offset, uint64_t from)
{
	json_t *o = json_object();

	if (report_json_set(o, "count", report_json_number(times)) &&
	    (!output || report_json_set(o, "offset", report_json_number(offset))) &&
	    report_json_set(o, "from", report_json_number(from)))
		return o;
	json_decref(o);
	return NULL;
}

/* repeated: the segment says itself that it comes again; the segments of a larger group leave that to the group. */
static json_t *manifest_segment(const struct tracemend_segment *s, bool repeated)
{
	json_t *o = json_object();

	if (report_json_set(o, "offset", report_json_number(s->offset)) &&
	    report_json_set(o, "length", report_json_number(s->length)) &&
	    (s->bytes ? report_json_set(o, "bytes", manifest_hex(s->bytes, s->length))
		      : report_json_set(o, "input", report_json_number(s->input)) &&
				report_json_set(o, "from", report_json_number(s->from))) &&
	    (!s->rule || report_json_set(o, "rule", json_string(s->rule->id))) &&
	    (!*s->why || report_json_set(o, "why", json_string(s->why))) &&
	    (!repeated || report_json_set(o, "repeat", manifest_repeat(s->times, true, s->repeat_offset, s->repeat_from))))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *manifest_range(const struct tracemend_range *r, bool repeated)
{
	json_t *o = json_object();

	if (report_json_set(o, "input", report_json_number(r->input)) && report_json_set(o, "from", report_json_number(r->from)) &&
	    report_json_set(o, "length", report_json_number(r->length)) &&
	    (!r->rule || report_json_set(o, "rule", json_string(r->rule->id))) && report_json_set(o, "why", json_string(r->why)) &&
	    (!repeated || report_json_set(o, "repeat", manifest_repeat(r->times, false, 0, r->repeat_from))))
		return o;
	json_decref(o);
	return NULL;
}

/* A group of several entries, whose object is printed by hand, entry by entry. */
struct manifest_group {
	uint32_t left; /* entries of the open group that are still to come; 0: none is open */
	uint64_t times, offset, from;
	bool output;
};

/* Prints an entry, and what begins before it and ends behind it. */
static void manifest_entry(struct report_run *run, size_t index, struct manifest_group *g, json_t *value)
{
	bool first = g->left && index != SIZE_MAX;

	if (first)
		fputs(index ? ",\n{\"group\":[" : "\n{\"group\":[", run->out);
	manifest_item(run, first ? 0 : index, value);
	if (g->left && !--g->left) {
		fputs("],\"repeat\":", run->out);
		report_json_print(run, manifest_repeat(g->times, g->output, g->offset, g->from));
		fputs("}", run->out);
	}
}

static json_t *manifest_records(const struct tracemend_outcome *outcome)
{
	static const char *const exactness[] = { "exact", "at-least", "unknown" };
	json_t *o = json_object();

	if (report_json_set(o, "kept", report_json_number(outcome->kept)) &&
	    report_json_set(o, "patched", report_json_number(outcome->patched)) &&
	    report_json_set(o, "added", report_json_number(outcome->added)) &&
	    report_json_set(o, "dropped", report_json_number(outcome->dropped)) &&
	    report_json_set(o, "dropped_is", json_string(exactness[outcome->dropped_is])))
		return o;
	json_decref(o);
	return NULL;
}

static void manifest_segments(struct report_run *run, const struct tracemend_repair *repair, size_t output, size_t count)
{
	struct manifest_group g = { 0 };

	for (size_t k = 0; k < count && !run->failed; k++) {
		struct tracemend_segment s = tracemend_repair_segment(repair, output, k);
		bool inside = g.left;
		if (s.group > 1)
			g = (struct manifest_group){ s.group, s.times, s.repeat_offset, s.repeat_from, true };
		manifest_entry(run, inside ? SIZE_MAX : k, &g, manifest_segment(&s, s.group == 1));
	}
}

static void manifest_ranges(struct report_run *run, const struct tracemend_repair *repair, size_t count,
			    struct tracemend_range (*get)(const struct tracemend_repair *repair, size_t index))
{
	struct manifest_group g = { 0 };

	for (size_t k = 0; k < count && !run->failed; k++) {
		struct tracemend_range r = get(repair, k);
		bool inside = g.left;
		if (r.group > 1)
			g = (struct manifest_group){ r.group, r.times, 0, r.repeat_from, false };
		manifest_entry(run, inside ? SIZE_MAX : k, &g, manifest_range(&r, r.group == 1));
	}
}

static void manifest_outputs(struct report_run *run, const struct tracemend_repair *repair)
{
	size_t outputs = tracemend_repair_output_count(repair);

	for (size_t i = 0; i < outputs && !run->failed; i++) {
		const struct tracemend_output *o = tracemend_repair_output(repair, i);
		fprintf(run->out, "%s\n{\"file\":", i ? "," : "");
		report_json_print(run, json_string(o->file));
		fprintf(run->out, ",\"size\":%llu,\"sha256\":\"%s\",\"segments\":[", (unsigned long long)o->size, o->sha256);
		manifest_segments(run, repair, i, o->segment_count);
		fputs("]}", run->out);
	}
}

/* 2 where runs are used, which a reader of version 1 does not know. */
static unsigned manifest_version(const struct tracemend_repair *repair)
{
	for (size_t i = 0; i < tracemend_repair_output_count(repair); i++)
		for (size_t k = 0; k < tracemend_repair_output(repair, i)->segment_count; k++)
			if (tracemend_repair_segment(repair, i, k).times > 1)
				return 2;
	for (size_t k = 0; k < tracemend_repair_dropped_count(repair); k++)
		if (tracemend_repair_dropped(repair, k).times > 1)
			return 2;
	for (size_t k = 0; k < tracemend_repair_doubtful_count(repair); k++)
		if (tracemend_repair_doubtful(repair, k).times > 1)
			return 2;
	return 1;
}

bool report_manifest(FILE *out, const struct tracemend_repair *repair)
{
	struct report_run run = { .out = out };
	size_t count = tracemend_repair_member_count(repair);

	fprintf(out, "{\"tool\":\"tracemend\",\"version\":\"%s\",\"manifest_version\":%u,\"format\":\"%s\",\n\"inputs\":[",
		TRACEMEND_VERSION, manifest_version(repair), tracemend_report_summary(tracemend_repair_report(repair))->format);
	for (size_t i = 0; i < count && !run.failed; i++)
		manifest_item(&run, i, manifest_member(tracemend_repair_member(repair, i)));
	fputs("],\n\"outputs\":[", out);
	manifest_outputs(&run, repair);
	fputs("],\n\"dropped\":[", out);
	manifest_ranges(&run, repair, tracemend_repair_dropped_count(repair), tracemend_repair_dropped);
	fputs("],\n\"doubtful\":[", out);
	manifest_ranges(&run, repair, tracemend_repair_doubtful_count(repair), tracemend_repair_doubtful);
	fputs("],\n\"records\":", out);
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(repair);
	report_json_print(&run, manifest_records(outcome));
	fprintf(out, ",\n\"lost\":%s}\n", outcome->lost ? "true" : "false");
	return !run.failed;
}
