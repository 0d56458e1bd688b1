#include "oracle.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "inject.h"
#include "oracle_parts.h"

/* Selects the window and the faults to test, and whether to: differently for each input, the same for one input. */
static uint64_t capture_hash(const struct capture *c)
{
	uint64_t hash = TEXT_HASH_NONE;
	for (size_t i = 0; i < c->count; i++)
		hash = text_hash_more(hash, c->files[i].data, c->files[i].size);
	return hash ^ (hash >> 29);
}

static bool is_sampled(const struct oracle *o, uint64_t hash)
{
	return !o->sample || (hash >> 32) % o->sample == 0;
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

/* P2: repair of a capture without errors. Where it warns, some of it may be doubtful; then it is not known whether all is there. */
static void repair_leaves_alone(const struct tracemend_outcome *outcome, bool same, uint64_t records, bool doubtful)
{
	if (!same)
		oracle_broken("P2", "a capture without errors was changed");
	if ((outcome->lost && !doubtful) || outcome->dropped || outcome->patched || outcome->added || outcome->kept != records)
		oracle_broken("P2", "a capture without errors: kept %llu of %llu records, patched %llu, added %llu, dropped %llu",
			      (unsigned long long)outcome->kept, (unsigned long long)records, (unsigned long long)outcome->patched,
			      (unsigned long long)outcome->added, (unsigned long long)outcome->dropped);
}

/* P1: the output of a repair checks clean, with the records that the repair counted. */
static void output_is_clean(const struct oracle *o, const struct capture *out, const struct tracemend_outcome *outcome)
{
	struct oracle_run check = { 0 };

	oracle_run_check(&check, o, out, 0);
	if (!check.report)
		oracle_broken("P1", "the output is not recognised: %s", check.error.message);
	const struct tracemend_summary *s = tracemend_report_summary(check.report);
	if (!s->complete || s->errors)
		oracle_broken("P1", "the output has %llu errors (%s)", (unsigned long long)s->errors,
			      s->errors ? tracemend_report_finding(check.report, 0)->message : s->incomplete);
	oracle_report_is_sane(check.report, out);
	if (s->records != outcome->kept + outcome->patched + outcome->added)
		oracle_broken("P4", "the output has %llu records; kept %llu, patched %llu, added %llu",
			      (unsigned long long)s->records, (unsigned long long)outcome->kept,
			      (unsigned long long)outcome->patched, (unsigned long long)outcome->added);
	oracle_run_close(&check);
}

/* P3: repairing the output of a repair does not change it. */
static void output_is_final(const struct oracle *o, const struct capture *out)
{
	struct oracle_run repair = { 0 };
	struct capture twice;

	oracle_run_repair(&repair, o, out, 0);
	if (!repair.repair)
		oracle_broken("P3", "the output cannot be repaired again: %s", repair.error.message);
	oracle_plan_replay(&repair, out, &twice);
	if (!captures_equal(out, &twice))
		oracle_broken("P3", "the second repair changes the output of the first");
	capture_free(&twice);
	oracle_run_close(&repair);
}

static void repair_properties(const struct oracle *o, const struct capture *c, uint64_t hash, struct oracle_run *r,
			      struct oracle_verdict *verdict)
{
	struct capture out;
	const struct tracemend_outcome *outcome = tracemend_repair_outcome(r->repair);
	oracle_plan_replay(r, c, &out);

	bool same = captures_equal(c, &out);
	if (outcome->changed == same)
		oracle_broken("P4", "changed is %d, and the output is %s", outcome->changed, same ? "the input" : "another");
	if (!verdict->errors && !capture_has_pieces(c))
		repair_leaves_alone(outcome, same, verdict->records,
				    tracemend_repair_doubtful_count(r->repair) != 0 || verdict->warnings);
	verdict->repaired = true;
	verdict->changed = outcome->changed;
	if (!same) {
		struct oracle again = *o;
		const char *format = tracemend_report_summary(tracemend_repair_report(r->repair))->format;
		if (*format)
			again.format = format;
		output_is_clean(&again, &out, outcome);
		if (is_sampled(o, hash))
			output_is_final(&again, &out);
	}
	capture_free(&out);
}

/* ---- a capture ---- */

/* The most moves of a window in a pass over a capture: each of them costs an allocation where stale pointers are looked for. */
#define MOVES_MAX 65536u

/* P9: a run gives the same result as `expected` with each window size, or with the one selected by the hash. */
static void windows_agree(const struct oracle *o, const struct capture *c, oracle_run_function *run, uint64_t hash,
			  const struct oracle_text *expected)
{
	static const size_t windows[] = { 1, 7, 4096, 0 };
	const size_t count = sizeof(windows) / sizeof(windows[0]), least = (size_t)(capture_size(c) / MOVES_MAX);

	for (size_t i = 0; i < count; i++) {
		struct oracle_run other = { 0 };
		struct oracle_text t = { 0 };
		if (o->effort != ORACLE_ALL && i != hash % count)
			continue;
		run(&other, o, c, windows[i] && windows[i] < least ? least : windows[i]);
		oracle_run_print(&t, &other);
		oracle_texts_agree("P9",
				   windows[i] ? "another window size gives another result" : "a second run gives another result",
				   expected, &t);
		oracle_text_free(&t);
		oracle_run_close(&other);
	}
}

/* Checks once, and again with other windows. Returns whether the report is complete. */
static bool check_properties(const struct oracle *o, const struct capture *c, uint64_t hash, struct oracle_verdict *verdict)
{
	struct oracle_run r = { 0 };
	struct oracle_text expected = { 0 };
	bool complete = false;

	inject_arm(0, false);
	oracle_run_check(&r, o, c, 0);
	oracle_run_is_bounded(&r, "check", capture_size(c), 1);
	inject.armed = false;
	if (is_sampled(o, hash))
		oracle_run_print(&expected, &r);
	if (r.error.status == TM_BUG || r.error.status == TM_IO || r.error.status == TM_NO_MEMORY)
		oracle_broken("P8", "check ended with status %d: %s", (int)r.error.status, r.error.message);
	if (r.report) {
		const struct tracemend_summary *s = tracemend_report_summary(r.report);
		oracle_report_is_sane(r.report, c);
		*verdict = (struct oracle_verdict){
			.recognised = true, .errors = s->errors, .warnings = s->warnings, .notes = s->notes, .records = s->records
		};
		complete = s->complete;
	}
	inject.armed = true;
	oracle_run_close(&r);
	inject_disarm();
	if (inject.live)
		oracle_broken("P8", "check leaks %lld allocations", (long long)inject.live);
	if (is_sampled(o, hash))
		windows_agree(o, c, oracle_run_check, hash, &expected);
	oracle_text_free(&expected);
	return complete;
}

/* Repairs once, and again with other windows. sound: check was complete and found no errors. */
static void plan_properties(const struct oracle *o, const struct capture *c, uint64_t hash, bool sound,
			    struct oracle_verdict *verdict)
{
	struct oracle_run r = { 0 };
	struct oracle_text expected = { 0 };

	inject_arm(0, false);
	oracle_run_repair(&r, o, c, 0);
	oracle_run_is_bounded(&r, "repair", capture_size(c), 3);
	inject.armed = false;
	if (!r.repair && r.error.status != TM_NOTHING && r.error.status != TM_LIMIT && r.error.status != TM_UNRECOGNISED &&
	    r.error.status != TM_USAGE)
		oracle_broken("P8", "repair ended with status %d: %s", (int)r.error.status, r.error.message);
	if (!r.repair && sound)
		oracle_broken("P2", "a capture without errors cannot be repaired: %s", r.error.message);
	if (is_sampled(o, hash))
		oracle_run_print(&expected, &r);
	if (r.repair)
		repair_properties(o, c, hash, &r, verdict);
	inject.armed = true;
	oracle_run_close(&r);
	inject_disarm();
	if (is_sampled(o, hash))
		windows_agree(o, c, oracle_run_repair, hash >> 8, &expected);
	oracle_text_free(&expected);
}

struct oracle_verdict oracle_capture(const struct oracle *o, const struct capture *c)
{
	struct oracle_verdict verdict = { 0 };
	uint64_t hash = capture_hash(c);
	bool complete = check_properties(o, c, hash, &verdict);

	if (o->effort == ORACLE_CHECK)
		return verdict;
	plan_properties(o, c, hash, complete && !verdict.errors, &verdict);
	unsigned faults = o->effort == ORACLE_ALL ? o->faults : is_sampled(o, hash) ? 1 : 0;
	if (faults) {
		oracle_faults(o, c, oracle_run_check, faults, hash >> 16);
		oracle_faults(o, c, oracle_run_repair, faults, hash >> 24);
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
				oracle_broken("P8", "cut at %zu of %zu, '%s' is called clean with %llu of %llu records",
					      cut.files[i].size, size, c->files[i].name, (unsigned long long)v.records,
					      (unsigned long long)whole.records);
		}
	}
}

void oracle_byte_changes(const struct oracle *o, const struct capture *c, unsigned places, unsigned values)
{
	/* The first masks: one bit at either end, all bits; then those of an odd multiplier. 255 values: all masks. */
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
		/* A breaker may remove what the format is recognised by, but the format is forced here. */
		oracle_broken("gen", "%s, seed %llu: %s", what, (unsigned long long)recipe->seed, error.message);
	}
	const struct tracemend_summary *s = tracemend_report_summary(report);
	if (!s->complete)
		oracle_broken("gen", "%s, seed %llu: the check is not complete: %s", what, (unsigned long long)recipe->seed,
			      s->incomplete);
	for (size_t i = 0; i < tracemend_report_finding_count(report); i++) {
		const struct tracemend_finding *fd = tracemend_report_finding(report, i);
		if (fd->severity == TM_ERROR && !sample_expects(sample, fd->rule))
			oracle_broken("gen", "%s, seed %llu: reports %s at %s:%llu: %s", what, (unsigned long long)recipe->seed,
				      fd->rule->id, fd->file, (unsigned long long)fd->offset, fd->message);
	}
	for (size_t i = 0; i < tracemend_sample_expect_count(sample); i++) {
		const struct tracemend_rule *rule = tracemend_sample_expect(sample, i);
		if (!tracemend_report_rule_count(report, rule))
			oracle_broken("gen", "%s, seed %llu: %s is not reported", what, (unsigned long long)recipe->seed, rule->id);
	}
	if (!recipe->rule && s->records != tracemend_sample_records(sample))
		oracle_broken("gen", "%s, seed %llu: %llu records, and the generator made %llu", what,
			      (unsigned long long)recipe->seed, (unsigned long long)s->records,
			      (unsigned long long)tracemend_sample_records(sample));
	tracemend_report_free(report);
	tracemend_close(input);
}

/* P9: the same recipe makes the same capture. */
static void sample_is_made_again(const struct tracemend_recipe *recipe, const struct capture *c)
{
	struct tracemend_error error = { 0 };
	struct tracemend_sample *again = tracemend_generate(recipe, &error);
	struct capture d;

	if (!again)
		oracle_broken("P9", "%s, seed %llu: made once, and not again: %s", recipe->rule ? recipe->rule : "valid",
			      (unsigned long long)recipe->seed, error.message);
	capture_from_sample(&d, again);
	if (!captures_equal(c, &d))
		oracle_broken("P9", "%s, seed %llu: the generator made two different captures",
			      recipe->rule ? recipe->rule : "valid", (unsigned long long)recipe->seed);
	capture_free(&d);
	tracemend_sample_free(again);
}

void oracle_recipe(const struct oracle *o, const struct tracemend_recipe *recipe)
{
	struct tracemend_error error = { 0 };
	struct tracemend_sample *sample = tracemend_generate(recipe, &error);
	struct capture c;
	if (!sample && recipe->rule && error.status == TM_USAGE)
		return; /* a rule of another profile */
	if (!sample)
		oracle_broken("gen", "%s, seed %llu: %s", recipe->rule ? recipe->rule : "valid", (unsigned long long)recipe->seed,
			      error.message);
	capture_from_sample(&c, sample);
	const bool sampled = is_sampled(o, capture_hash(&c)), looked = recipe->damage == TM_DAMAGE_NONE;
	if (looked)
		sample_is_as_promised(o, recipe, sample);
	if (sampled)
		sample_is_made_again(recipe, &c);
	if (sampled || !looked || o->effort != ORACLE_CHECK)
		(void)oracle_capture(o, &c);
	capture_free(&c);
	tracemend_sample_free(sample);
}

/* ---- containers ---- */

void oracle_container(const uint8_t *data, size_t size)
{
	struct oracle_text first = { 0 }, second = { 0 };
	for (int i = 0; i < 2; i++) {
		struct tracemend_options options = { .max_findings = 16, .window = i ? 7 : 0 };
		struct tracemend_error error = { 0 };
		struct tracemend_input *input = tracemend_open_memory("container", data, size, &options, &error);
		struct tracemend_report *report = input ? tracemend_check(input, &options, &error) : NULL;
		if (report ? tracemend_report_summary(report)->complete != (error.status == TM_OK) : error.status == TM_OK)
			oracle_broken("P8", "status %d (%s) does not fit the report", (int)error.status, error.message);
		oracle_text_is_sane("error message", error.message);
		oracle_text_add(i ? &second : &first, "status %d '%s'\n", (int)error.status, error.message);
		if (report) {
			oracle_report_is_sane(report, NULL);
			oracle_report_print(i ? &second : &first, report);
		}
		tracemend_report_free(report);
		tracemend_close(input);
	}
	oracle_texts_agree("P9", "another window size gives another report", &first, &second);
	oracle_text_free(&first);
	oracle_text_free(&second);
}
