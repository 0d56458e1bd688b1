#include "mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/choices.h"
#include "engine/engine.h"

#define TAR_BLOCK 512u
/* Maximal number of changes in one mutant. */
#define CHANGES_MAX 8u
/* Attempts to make a mutant in which all measures fit their fields. */
#define ATTEMPTS_MAX 4u

/* ---- byte strings and outlines ---- */

bool mutation_open(struct mutation_input *in, const char *format, const char *profile, const uint8_t *data, size_t size,
		   bool fields)
{
	struct tracemend_options options = { .format = format, .profile = profile };
	struct tracemend_error error = { 0 };

	*in = (struct mutation_input){ 0 };
	capture_parse(&in->capture, data, size);
	in->bundle = capture_bundle(&in->capture, &options, NULL);
	in->format = in->bundle && size <= MUTATE_INPUT_MAX ? format_recognise(in->bundle, &options, &error) : NULL;
	if (in->format) {
		profile = format_profile(in->format, profile, &error);
		in->open = in->format->outline && outline_make(&in->outline, in->bundle, in->format, profile, fields) == TM_OK;
	}
	if (!in->open)
		mutation_close(in);
	return in->open && in->format;
}

void mutation_close(struct mutation_input *in)
{
	outline_free(&in->outline);
	bundle_free(in->bundle);
	capture_free(&in->capture);
	in->bundle = NULL;
	in->open = false;
}

static void tar_number(uint8_t *field, size_t length, uint64_t value)
{
	for (size_t i = length - 1; i-- > 0; value >>= 3)
		field[i] = (uint8_t)('0' + (value & 7));
}

/* Appends a member in the form that capture_parse() reads: POSIX ustar. */
static void tar_member(struct bytes *out, const char *name, const uint8_t *data, size_t size)
{
	uint8_t *header = bytes_grow(out, TAR_BLOCK);
	size_t length = strlen(name), front = 0;
	unsigned sum = 0;

	if (!header)
		return;
	/* Longer names are split at a '/'. */
	while (length - front > 100) {
		const char *slash = memchr(name + front, '/', length - front);
		if (!slash || slash - name > 155)
			break;
		front = (size_t)(slash - name) + 1;
	}
	memcpy(header, name + front, length - front < 100 ? length - front : 100);
	if (front)
		memcpy(header + 345, name, front - 1);
	tar_number(header + 100, 8, 0644);
	tar_number(header + 108, 8, 0);
	tar_number(header + 116, 8, 0);
	tar_number(header + 124, 12, size);
	tar_number(header + 136, 12, 0);
	memset(header + 148, ' ', 8);
	header[156] = '0';
	memcpy(header + 257, "ustar\00000", 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += header[i];
	tar_number(header + 148, 7, sum);
	bytes_append(out, data, size);
	(void)bytes_grow(out, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

bool mutation_write(struct outline *o, struct bytes *out, uint32_t *misfits)
{
	struct outline_output *files = calloc(o->file_count + 1, sizeof(*files));
	bool ok = files && outline_write(o, files, misfits) == TM_OK;

	out->size = 0;
	for (uint32_t i = 0; files && i < o->file_count; i++) {
		if (ok && !files[i].deleted && o->directory)
			tar_member(out, o->files[i].name, files[i].bytes.data, files[i].bytes.size);
		else if (ok && !o->directory)
			bytes_append(out, files[i].bytes.data, files[i].bytes.size);
		bytes_free(&files[i].bytes);
	}
	if (ok && o->directory)
		(void)bytes_grow(out, 2 * TAR_BLOCK);
	free(files);
	return ok && !out->failed;
}

void mutation_pack(const struct tracemend_sample *sample, struct bytes *out)
{
	size_t count = tracemend_sample_file_count(sample), size;
	const uint8_t *data;

	out->size = 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = tracemend_sample_file(sample, i, &data, &size);
		if (tracemend_sample_is_directory(sample))
			tar_member(out, name, data, size);
		else
			bytes_append(out, data, size);
	}
	if (tracemend_sample_is_directory(sample))
		(void)bytes_grow(out, 2 * TAR_BLOCK);
}

/* ---- operators that need another capture ---- */

static bool generate(const struct mutation *m, const char *rule, struct choices *c, struct bytes *out)
{
	/* The size of generated captures: small, since one record of each kind is enough and generating is the slowest step. */
	struct tracemend_recipe recipe = {
		.format = m->of->public.name, .profile = m->profile, .rule = rule, .seed = choices_u64(c)
	};
	struct tracemend_sample *sample = tracemend_generate(&recipe, NULL);
	if (!sample)
		return false;
	mutation_pack(sample, out);
	tracemend_sample_free(sample);
	return !out->failed && out->size;
}

static bool insert(struct mutation *m, struct outline *o, struct choices *c)
{
	struct bytes bytes = { 0 };
	struct mutation_input from;
	bool done = false;

	if (generate(m, NULL, c, &bytes) && mutation_open(&from, m->of->public.name, m->profile, bytes.data, bytes.size, true)) {
		done = mutate_import(o, &from.outline, OUTLINE_NONE, c);
		mutation_close(&from);
	}
	bytes_free(&bytes);
	return done;
}

static bool splice(struct mutation *m, struct outline *o, struct choices *c)
{
	struct mutation_input from;
	if (!m->other_size || !mutation_open(&from, m->of->public.name, m->profile, m->other, m->other_size, true))
		return false;
	bool done = mutate_import(o, &from.outline, OUTLINE_NONE, c);
	for (uint64_t more = choices_below(c, 4); done && more; more--)
		(void)mutate_import(o, &from.outline, OUTLINE_NONE, c);
	mutation_close(&from);
	return done;
}

/* The innermost movable part that contains an offset of a file. */
static uint32_t part_at(const struct outline *o, const char *file, uint64_t offset)
{
	uint32_t found = OUTLINE_NONE;
	for (uint32_t i = 0; i < o->file_count; i++) {
		if (strcmp(o->files[i].name, file) != 0)
			continue;
		for (uint32_t part = o->files[i].part; part != OUTLINE_NONE;) {
			uint32_t child = o->parts[part].first;
			while (child != OUTLINE_NONE &&
			       !(offset >= o->parts[child].offset && offset - o->parts[child].offset < o->parts[child].length))
				child = o->parts[child].next;
			part = child;
			if (part != OUTLINE_NONE && mutation_may_move(o, part))
				found = part;
		}
	}
	return found;
}

/* The first finding of the rule that check reports for an input, or its first error when rule is NULL. */
static bool find(const struct mutation_input *in, const char *profile, const struct tracemend_rule *rule,
		 struct tracemend_finding *found, struct tracemend_report **report)
{
	const struct tracemend_options options = { .format = in->format->public.name, .profile = profile, .max_findings = 1 };
	enum tracemend_status status;
	struct tracemend_error error;
	bool hit = false;

	*report = engine_scan(in->bundle, in->format, &options, NULL, &status, &error);
	size_t count = *report ? tracemend_report_finding_count(*report) : 0;
	for (size_t i = 0; i < count && !hit; i++) {
		const struct tracemend_finding *fd = tracemend_report_finding(*report, i);
		hit = rule ? fd->rule == rule : fd->severity == TM_ERROR;
		if (hit)
			*found = *fd;
	}
	return hit;
}

/* Copies the record that the rule is about from a broken capture. */
static bool graft(struct mutation *m, struct outline *o, const struct bytes *broken, struct choices *c)
{
	struct mutation_input from;
	struct tracemend_finding fd;
	struct tracemend_report *report = NULL;
	bool done = false;

	if (!mutation_open(&from, m->of->public.name, m->profile, broken->data, broken->size, true))
		return false;
	if (find(&from, m->profile, m->rule, &fd, &report)) {
		uint32_t part = part_at(&from.outline, fd.file, fd.offset);
		done = part != OUTLINE_NONE && mutate_import(o, &from.outline, part, c);
	}
	tracemend_report_free(report);
	mutation_close(&from);
	return done;
}

/* Runs the breaker of a rule. MUTATE_GRAFT: its record is copied into o; MUTATE_BREAK: m->result is the whole capture. */
static enum mutate_operator break_rule(struct mutation *m, struct outline *o, struct choices *c)
{
	struct bytes broken = { 0 };
	enum mutate_operator done = MUTATE_OPERATORS;

	m->rule = &m->of->rules[choices_below(c, m->of->rule_count)];
	bool whole = choices_chance(c, 1, 2);
	if (generate(m, m->rule->id, c, &broken)) {
		if (!whole && graft(m, o, &broken, c)) {
			done = MUTATE_GRAFT;
		} else {
			m->result.size = 0;
			bytes_append(&m->result, broken.data, broken.size);
			done = MUTATE_BREAK;
		}
	} else {
		m->rule = NULL;
	}
	bytes_free(&broken);
	return done;
}

/* ---- one mutant ---- */

/* Probability of each operator in percent. Insertion and breakers are expensive: each generates a capture. */
static const struct {
	enum mutate_operator operation;
	unsigned weight;
} weights[] = {
	{ MUTATE_EDIT, 48 },  { MUTATE_DUPLICATE, 12 }, { MUTATE_DELETE, 12 }, { MUTATE_SWAP, 8 },
	{ MUTATE_SPLICE, 8 }, { MUTATE_INSERT, 8 },	{ MUTATE_BREAK, 4 },
};

static enum mutate_operator draw(struct choices *c)
{
	uint64_t n = choices_below(c, 100);
	for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		if (n < weights[i].weight)
			return weights[i].operation;
		n -= weights[i].weight;
	}
	return MUTATE_EDIT;
}

/* Applies an operator. True when m->result is already the complete mutant. */
static bool change(struct mutation *m, struct outline *o, enum mutate_operator operation, struct choices *c)
{
	const char *field = NULL;
	bool done = false;

	switch (operation) {
	case MUTATE_INSERT:
		done = insert(m, o, c);
		break;
	case MUTATE_DELETE:
		done = mutate_delete(o, c);
		break;
	case MUTATE_DUPLICATE:
		done = mutate_duplicate(o, c);
		break;
	case MUTATE_SWAP:
		done = mutate_swap(o, c);
		break;
	case MUTATE_SPLICE:
		done = splice(m, o, c);
		break;
	case MUTATE_BREAK:
		operation = break_rule(m, o, c);
		done = operation != MUTATE_OPERATORS;
		break;
	case MUTATE_EDIT:
		field = mutate_edit(o, c);
		break;
	case MUTATE_FAULT:
		field = mutate_fault(o, c);
		break;
	case MUTATE_GRAFT:
	case MUTATE_GENERATE:
	case MUTATE_OPERATORS:
	default:
		break;
	}
	if (field)
		m->field = field;
	if (done && operation == MUTATE_BREAK)
		m->operators = 0; /* earlier changes are not in it */
	if (done || field)
		m->operators |= 1u << operation;
	return done && operation == MUTATE_BREAK;
}

/* Generates a capture in place of an input that cannot be parsed or changed. */
static bool generate_instead(struct mutation *m, struct choices *c)
{
	m->operators = 1u << MUTATE_GENERATE;
	m->rule = choices_chance(c, 1, 2) && m->of->rule_count ? &m->of->rules[choices_below(c, m->of->rule_count)] : NULL;
	if (generate(m, m->rule ? m->rule->id : NULL, c, &m->result))
		return true;
	m->rule = NULL;
	return generate(m, NULL, c, &m->result);
}

static bool attempt(struct mutation *m, struct choices *c, uint32_t *misfits)
{
	struct mutation_input in;
	bool ok = mutation_open(&in, m->format, m->profile, m->data, m->size, true);

	*misfits = 0;
	m->operators = 0;
	m->rule = NULL;
	m->field = NULL;
	if (ok)
		m->of = in.format;
	if (!ok || !m->of || !in.outline.count) {
		if (ok)
			mutation_close(&in);
		return m->of && generate_instead(m, c);
	}
	struct outline *o = &in.outline;
	bool whole = false;
	uint64_t changes = 1;
	while (changes < CHANGES_MAX && choices_chance(c, 3, 5))
		changes++;
	for (uint64_t i = 0; i < changes && !whole && o->status == TM_OK; i++)
		whole = change(m, o, draw(c), c);
	/* No operator applied (no second input, nothing to swap): there are nearly always fields to edit. */
	if (!whole && !m->operators)
		whole = change(m, o, MUTATE_EDIT, c);
	if (!whole && !m->no_fault && choices_chance(c, 1, MUTATE_FAULT_IN))
		whole = change(m, o, MUTATE_FAULT, c);
	if (!whole)
		ok = mutation_write(o, &m->result, misfits);
	mutation_close(&in);
	/* The mutant exceeded a limit of the outline. */
	return ok ? true : generate_instead(m, c);
}

/* Chooses the format when the input is not a capture. */
static bool settle_format(struct mutation *m)
{
	m->of = m->format ? format_find(m->format) : NULL;
	return !m->format || m->of;
}

bool mutation_make(struct mutation *m)
{
	struct choices c = choices_from_seed(m->seed);
	uint32_t misfits = 1;
	bool ok = settle_format(m);

	m->result.failed = false;
	for (unsigned i = 0; i < ATTEMPTS_MAX && ok; i++) {
		ok = attempt(m, &c, &misfits);
		bool fits = !m->size_max || m->result.size <= m->size_max;
		if (ok && !misfits && fits)
			return true;
		if (ok && fits && i + 1 == ATTEMPTS_MAX)
			return true;
	}
	if (!ok)
		return false;
	/* Every mutant is too large: the result is the start of the input. */
	m->operators = 0;
	m->result.size = 0;
	bytes_append(&m->result, m->data, m->size < m->size_max ? m->size : m->size_max);
	return !m->result.failed;
}

void mutation_free(struct mutation *m)
{
	bytes_free(&m->result);
}

/* ---- names ---- */

static const char *const operator_names[MUTATE_OPERATORS] = { "insert", "delete", "duplicate", "swap",	"splice",
							      "edit",	"break",  "graft",     "fault", "generate" };

static void append(char *out, size_t size, size_t *at, const char *text)
{
	for (; *text && *at + 1 < size; text++) {
		bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9') ||
			     *text == ':' || *text == '+' || *text == ',';
		out[(*at)++] = (char)(plain ? *text : '-');
	}
	out[*at] = '\0';
}

static const struct tracemend_rule *first_error(const struct mutation *m)
{
	struct mutation_input in;
	struct tracemend_finding fd = { 0 };
	struct tracemend_report *report = NULL;

	if (!m->of || !mutation_open(&in, m->of->public.name, m->profile, m->result.data, m->result.size, false))
		return NULL;
	const struct tracemend_rule *rule = find(&in, m->profile, NULL, &fd, &report) ? fd.rule : NULL;
	tracemend_report_free(report);
	mutation_close(&in);
	return rule;
}

const char *mutation_name(const struct mutation *m, const struct tracemend_rule *rule, char *out, size_t size)
{
	size_t at = 0;

	if (!size)
		return out;
	*out = '\0';
	append(out, size, &at, "op:");
	if (!m->operators)
		append(out, size, &at, "none");
	for (unsigned i = 0, n = 0; i < MUTATE_OPERATORS; i++) {
		if (!(m->operators & 1u << i))
			continue;
		append(out, size, &at, n++ ? "+" : "");
		append(out, size, &at, operator_names[i]);
		if (m->field && (i == MUTATE_FAULT || (i == MUTATE_EDIT && !(m->operators & 1u << MUTATE_FAULT)))) {
			append(out, size, &at, "-");
			append(out, size, &at, m->field);
		}
	}
	const char *id = rule ? strchr(rule->id, '/') : NULL;
	append(out, size, &at, ",rule:");
	append(out, size, &at, id ? id + 1 : "none");
	return out;
}

const char *mutation_describe(struct mutation *m, char *out, size_t size)
{
	char seed[32];

	(void)mutation_name(m, m->rule ? m->rule : first_error(m), out, size);
	(void)snprintf(seed, sizeof(seed), ",seed:%llu", (unsigned long long)m->seed);
	/* Whole or not at all. */
	if (strlen(out) + strlen(seed) < size)
		strcat(out, seed);
	return out;
}
