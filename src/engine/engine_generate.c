/* Samples: generated captures, broken or damaged on request. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/container.h"
#include "core/damage.h"
#include "core/publish.h"
#include "engine/engine.h"

/* Bytes, at least, of a capture whose line ends are to be converted. */
#define LINE_ENDS_SIZE 16384u

void tracemend_sample_free(struct tracemend_sample *s)
{
	if (!s)
		return;
	gen_files_free(&s->gen);
	free(s->gen.expected);
	free(s->expected);
	free(s->name);
	free(s);
}

/* The rule to break: its index in the table of the format or of containers; -1: none. */
struct target {
	const struct tracemend_rule *rule;
	int own, container;
};

static enum tracemend_status recipe_target(const struct tracemend_recipe *recipe, const struct format *f, struct target *target,
					   struct tracemend_error *error)
{
	*target = (struct target){ .own = -1, .container = -1 };
	if (!recipe->rule)
		return TM_OK;
	target->rule = tracemend_rule_find(recipe->rule);
	if (!target->rule)
		return fault_set(error, TM_USAGE, "unknown rule: %s", recipe->rule);
	if (!strcmp(target->rule->format, "container"))
		target->container = (int)(target->rule - container_rules);
	else if (!strcmp(target->rule->format, f->public.name))
		target->own = (int)(target->rule - f->rules);
	else
		return fault_set(error, TM_USAGE, "rule %s is not one of format %s", recipe->rule, f->public.name);
	return TM_OK;
}

/* The features of a list of names, as bits. */
static enum tracemend_status recipe_bits(const struct format *f, const char *const *names, uint64_t *bits,
					 struct tracemend_error *error)
{
	for (; names && *names; names++) {
		size_t i = 0;
		while (i < f->feature_count && strcmp(f->features[i].name, *names) != 0)
			i++;
		if (i == f->feature_count)
			return fault_set(error, TM_USAGE, "%s has no feature '%s'", f->public.name, *names);
		*bits |= FEATURE_BIT(i);
	}
	return TM_OK;
}

/* What the recipe says of features. */
static enum tracemend_status recipe_features(struct gen *g, const struct tracemend_recipe *recipe, const struct format *f,
					     struct tracemend_error *error)
{
	if (recipe_bits(f, recipe->with, &g->with, error) != TM_OK || recipe_bits(f, recipe->without, &g->without, error) != TM_OK)
		return error->status;
	for (size_t i = 0; i < f->feature_count; i++) {
		if (g->with & g->without & FEATURE_BIT(i))
			return fault_set(error, TM_USAGE, "with and without '%s'", f->features[i].name);
		if (recipe->host && !f->features[i].host)
			g->without |= FEATURE_BIT(i) & ~g->with;
	}
	return TM_OK;
}

/* Whether a capture without a defect has what was asked for. */
static enum tracemend_status recipe_met(const struct gen *g, const struct tracemend_recipe *recipe, const struct format *f,
					struct tracemend_error *error)
{
	for (size_t i = 0; i < f->feature_count && !recipe->rule; i++) {
		const char *of = f->features[i].one_of;
		bool met = !(g->with & FEATURE_BIT(i)) || g->has & FEATURE_BIT(i);
		for (size_t k = 0; k < f->feature_count && of; k++)
			met |= f->features[k].one_of && !strcmp(of, f->features[k].one_of) && g->has & g->with & FEATURE_BIT(k);
		if (!met || (g->without & g->has & FEATURE_BIT(i)))
			return fault_set(error, TM_USAGE, "no capture of %s%s%s %s '%s' and what else is asked for", f->public.name,
					 g->profile ? ", profile " : "", g->profile ? g->profile : "", met ? "is without" : "has",
					 f->features[i].name);
	}
	return TM_OK;
}

static enum tracemend_status sample_make(struct tracemend_sample *s, const struct tracemend_recipe *recipe,
					 const struct target *target, struct tracemend_error *error)
{
	struct choices choices = recipe->choices ? choices_from_bytes(recipe->choices, recipe->choices_size)
						 : choices_from_seed(recipe->seed);
	s->gen.choices = &choices;
	s->gen.size = recipe->size;
	s->gen.rule = target->own;
	s->gen.sound = recipe->sound;
	if (recipe_features(&s->gen, recipe, s->format, error) != TM_OK)
		return error->status;
	if ((unsigned)recipe->damage >= TM_DAMAGE_COUNT)
		return fault_set(error, TM_USAGE, "unknown kind of damage");
	if (recipe->size > GEN_BYTES_MAX)
		return fault_set(error, TM_LIMIT, "a generated capture has at most %llu bytes", (unsigned long long)GEN_BYTES_MAX);
	s->gen.expected = calloc(s->format->rule_count, sizeof(*s->gen.expected));
	if (!s->gen.expected)
		return fault_memory(error);
	if (target->own >= 0 && !recipe->sound)
		gen_expect(&s->gen, (unsigned)target->own);
	/* In a smaller one there may be no byte 0x0a at all. */
	if (target->container == CONTAINER_RULE_line_ends && s->gen.size < LINE_ENDS_SIZE)
		s->gen.size = LINE_ENDS_SIZE;
	enum tracemend_status status = s->format->generate(&s->gen);
	for (size_t i = 0; i < s->gen.file_count; i++)
		if (s->gen.files[i].bytes.failed)
			s->gen.failed = true;
	if (status == TM_OK && !s->gen.failed && target->container >= 0 && !recipe->sound) {
		status = container_break(&s->gen, s->directory, (unsigned)target->container);
		s->directory = false;
	}
	if (status == TM_OK && !s->gen.failed)
		damage_apply(&s->gen, recipe->damage);
	s->gen.choices = NULL;
	if (s->gen.failed || status == TM_NO_MEMORY)
		return fault_memory(error);
	if (status == TM_USAGE && target->rule)
		return fault_set(error, status, "no capture of profile %s breaks rule %s",
				 s->gen.profile ? s->gen.profile : "default", target->rule->id);
	return status == TM_OK ? recipe_met(&s->gen, recipe, s->format, error)
			       : fault_set(error, status, "the generator of %s failed", recipe->format);
}

/* The broken rule first, then its companions in table order. */
static enum tracemend_status sample_expect(struct tracemend_sample *s, const struct target *target, struct tracemend_error *error)
{
	s->expected = calloc(s->format->rule_count + 1, sizeof(*s->expected));
	if (!s->expected)
		return fault_memory(error);
	if (target->rule && !s->gen.sound)
		s->expected[s->expected_count++] = target->rule;
	for (size_t i = 0; i < s->format->rule_count; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): sample_make() allocated it */
		if (s->gen.expected[i] && !s->gen.sound && (int)i != target->own)
			s->expected[s->expected_count++] = &s->format->rules[i];
	return TM_OK;
}

static enum tracemend_status sample_title(struct tracemend_sample *s, const struct tracemend_recipe *recipe,
					  const struct target *target, struct tracemend_error *error)
{
	const char *what = target->rule	    ? strchr(target->rule->id, '/') + 1
			   : recipe->damage ? tracemend_damage_name(recipe->damage)
					    : "valid";
	const char *packed = target->container < 0 || recipe->sound ? "" : s->format->public.directory ? ".tar.gz" : ".gz";
	if (asprintf(&s->name, "%s%s-%04llu%s%s", recipe->sound && target->rule ? "sound-" : "", what,
		     (unsigned long long)recipe->seed, s->format->public.extension, packed) < 0) {
		s->name = NULL;
		return fault_memory(error);
	}
	return TM_OK;
}

struct tracemend_sample *tracemend_generate(const struct tracemend_recipe *given, struct tracemend_error *error)
{
	struct tracemend_error fallback;
	struct tracemend_recipe own;
	const struct tracemend_recipe *recipe = &own;
	struct target target;

	error = engine_begin(error, &fallback);
	if (!engine_take(&own, sizeof(own), sizeof(own), given, given ? given->struct_size : 0, error))
		return NULL;
	const struct format *f = format_find(recipe->format);
	if (!f) {
		(void)fault_set(error, TM_USAGE, "unknown format: %s", recipe->format ? recipe->format : "none");
		return NULL;
	}
	if (recipe_target(recipe, f, &target, error) != TM_OK)
		return NULL;
	struct tracemend_sample *s = calloc(1, sizeof(*s));
	if (!s) {
		(void)fault_memory(error);
		return NULL;
	}
	s->format = f;
	s->directory = f->public.directory;
	s->gen.profile = format_profile(f, recipe->profile, error);
	if (error->status != TM_OK || sample_make(s, recipe, &target, error) != TM_OK ||
	    sample_expect(s, &target, error) != TM_OK || sample_title(s, recipe, &target, error) != TM_OK) {
		tracemend_sample_free(s);
		return NULL;
	}
	return s;
}

struct tracemend_input *tracemend_open_sample(const struct tracemend_sample *s, const struct tracemend_options *options,
					      struct tracemend_error *error)
{
	struct tracemend_error fallback;
	struct tracemend_options own;

	error = engine_begin(error, &fallback);
	if (!s)
		return engine_null(error, "sample");
	if (!s->directory)
		return tracemend_open_memory(s->name, s->gen.files[0].bytes.data, s->gen.files[0].bytes.size, options, error);
	if (!engine_options(&own, options, error))
		return NULL;
	struct bundle *b = bundle_new(s->name, &own);
	if (!b) {
		(void)fault_memory(error);
		return NULL;
	}
	b->directory = true;
	for (size_t i = 0; i < s->gen.file_count; i++) {
		const struct gen_file *file = &s->gen.files[i];
		if (file->link)
			(void)bundle_add_source(b, TM_ROLE_INPUT, SOURCE_SYMLINK, file->name, 0, NULL, NULL);
		else
			(void)bundle_add_memory(b, file->name, file->bytes.data, file->bytes.size);
	}
	bundle_sort(b);
	if (b->error.status != TM_OK) {
		*error = b->error;
		bundle_free(b);
		return NULL;
	}
	return input_from_bundle(b, error);
}

static void sample_write_link(struct publication *p, const struct gen_file *file)
{
	char target[256] = "";
	size_t length = file->bytes.size < sizeof(target) ? file->bytes.size : sizeof(target) - 1;
	if (length)
		memcpy(target, file->bytes.data, length);
	(void)publication_link(p, file->name, target);
}

static enum tracemend_status make_directory(const char *path, struct tracemend_error *error)
{
	struct stat st;
	if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return TM_OK;
	return fault_set(error, TM_IO, "%s: cannot be created: %s", path, strerror(errno));
}

enum tracemend_status tracemend_sample_write(const struct tracemend_sample *s, const char *directory, struct tracemend_error *error)
{
	struct tracemend_error fallback;
	char *path = NULL;

	error = engine_begin(error, &fallback);
	if (!s || !directory) {
		(void)engine_null(error, s ? "directory" : "sample");
		return error->status;
	}
	if (make_directory(directory, error) != TM_OK)
		return error->status;
	if (asprintf(&path, "%s/%s", directory, s->name) < 0)
		return fault_memory(error);
	enum tracemend_status status = tracemend_sample_write_as(s, path, error);
	free(path);
	return status;
}

enum tracemend_status tracemend_sample_write_as(const struct tracemend_sample *s, const char *path, struct tracemend_error *error)
{
	struct tracemend_error fallback;

	error = engine_begin(error, &fallback);
	if (!s || !path) {
		(void)engine_null(error, s ? "path" : "sample");
		return error->status;
	}
	struct publication *p = publication_begin(path, s->directory, error);
	if (!p)
		return error->status;
	for (size_t i = 0; i < s->gen.file_count; i++) {
		const struct gen_file *file = &s->gen.files[i];
		if (file->link)
			sample_write_link(p, file);
		else if (publication_file(p, file->name) == TM_OK)
			(void)publication_write(p, file->bytes.data, file->bytes.size);
	}
	return publication_commit(p, error);
}

const char *tracemend_sample_name(const struct tracemend_sample *s)
{
	return s ? s->name : "";
}

bool tracemend_sample_is_directory(const struct tracemend_sample *s)
{
	return s && s->directory;
}

size_t tracemend_sample_file_count(const struct tracemend_sample *s)
{
	return s ? s->gen.file_count : 0;
}

const char *tracemend_sample_file(const struct tracemend_sample *s, size_t index, const uint8_t **data, size_t *size)
{
	bool known = index < tracemend_sample_file_count(s);

	if (data)
		*data = known ? s->gen.files[index].bytes.data : NULL;
	if (size)
		*size = known ? s->gen.files[index].bytes.size : 0;
	return known ? s->gen.files[index].name : NULL;
}

uint64_t tracemend_sample_records(const struct tracemend_sample *s)
{
	return s ? s->gen.records : 0;
}

size_t tracemend_sample_expect_count(const struct tracemend_sample *s)
{
	return s ? s->expected_count : 0;
}

const struct tracemend_rule *tracemend_sample_expect(const struct tracemend_sample *s, size_t index)
{
	return index < tracemend_sample_expect_count(s) ? s->expected[index] : NULL;
}
