/* What scanners and generators share: facts, limits, generated files. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/facts.h"
#include "core/format.h"
#include "core/text.h"

void facts_free(struct facts *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free((void *)(uintptr_t)f->list[i].key);
		free((void *)(uintptr_t)f->list[i].value);
		for (size_t j = 0; j < f->list[i].field_count; j++)
			free((void *)(uintptr_t)f->list[i].fields[j].text);
		free((void *)(uintptr_t)f->list[i].fields);
	}
	free(f->list);
	*f = (struct facts){ 0 };
}

void scan_fact(struct scan *s, const char *key, const char *format, ...)
{
	struct facts *f = s->facts;
	char text[FINDING_TEXT_MAX];
	va_list arguments;

	if (!f || f->failed)
		return;
	f->full = f->count >= FACTS_MAX;
	if (f->full)
		return;
	if (array_room(&f->list, &f->capacity, f->count, sizeof(*f->list), FACTS_MAX) != TM_OK) {
		f->failed = true;
		return;
	}
	va_start(arguments, format);
	text_format(text, sizeof(text), format, arguments);
	va_end(arguments);
	char *k = strdup(key), *v = strdup(text);
	if (!k || !v) {
		free(k);
		free(v);
		f->failed = true;
		return;
	}
	f->list[f->count++] = (struct tracemend_fact){ .key = k, .value = v };
}

/* The newest fact; NULL: there is none, or it was left out. */
static struct tracemend_fact *newest_fact(const struct scan *s)
{
	struct facts *f = s->facts;
	return f && !f->failed && !f->full && f->count ? &f->list[f->count - 1] : NULL;
}

void scan_fact_name(struct scan *s, const char *name)
{
	struct tracemend_fact *fact = newest_fact(s);
	if (fact)
		fact->name = name;
}

/* Takes text, which was allocated. */
static void add_field(struct scan *s, struct tracemend_fact *fact, const char *name, char *text, uint64_t number)
{
	/* They are made for all at once: a fact that has fields has several. */
	struct tracemend_fact_field *fields = (struct tracemend_fact_field *)(uintptr_t)fact->fields;

	if (!fields)
		fact->fields = fields = calloc(FACT_FIELDS_MAX, sizeof(*fields));
	if (!fields || fact->field_count == FACT_FIELDS_MAX) {
		free(text);
		s->facts->failed = true;
		return;
	}
	fields[fact->field_count++] = (struct tracemend_fact_field){ .name = name, .text = text, .number = number };
}

void scan_fact_number(struct scan *s, const char *name, uint64_t number)
{
	struct tracemend_fact *fact = newest_fact(s);
	if (fact)
		add_field(s, fact, name, NULL, number);
}

void scan_fact_text(struct scan *s, const char *name, const char *text)
{
	struct tracemend_fact *fact = newest_fact(s);
	char clean[FINDING_TEXT_MAX];

	if (!fact)
		return;
	text_sanitise(clean, sizeof(clean), text);
	char *copy = strdup(clean);
	if (copy)
		add_field(s, fact, name, copy, 0);
	else
		s->facts->failed = true;
}

void scan_advise(struct scan *s, enum tracemend_role role, const char *path, const char *format, ...)
{
	struct advice *a = &s->advice[s->advice_count];
	va_list arguments;

	if (s->advice_count >= ADVICE_MAX)
		return;
	a->role = role;
	text_sanitise(a->path, sizeof(a->path), path);
	va_start(arguments, format);
	text_format(a->text, sizeof(a->text), format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < s->advice_count; i++)
		if (s->advice[i].role == role && !strcmp(s->advice[i].path, a->path))
			return;
	s->advice_count++;
}

enum tracemend_status scan_limit(struct scan *s, const char *format, ...)
{
	va_list arguments;
	if (!*s->incomplete) {
		va_start(arguments, format);
		text_format(s->incomplete, sizeof(s->incomplete), format, arguments);
		va_end(arguments);
	}
	return TM_LIMIT;
}

struct bytes *gen_file(struct gen *g, const char *name)
{
	for (size_t i = 0; i < g->file_count; i++)
		if (!strcmp(g->files[i].name, name))
			return &g->files[i].bytes;
	char *copy = strdup(name);
	if (!copy || array_room(&g->files, &g->file_capacity, g->file_count, sizeof(*g->files), SIZE_MAX) != TM_OK) {
		free(copy);
		g->failed = true;
		return NULL;
	}
	g->files[g->file_count] = (struct gen_file){ .name = copy };
	return &g->files[g->file_count++].bytes;
}

void gen_file_remove(struct gen *g, const char *name)
{
	for (size_t i = 0; i < g->file_count; i++)
		if (!strcmp(g->files[i].name, name)) {
			free(g->files[i].name);
			bytes_free(&g->files[i].bytes);
			memmove(&g->files[i], &g->files[i + 1], (g->file_count - i - 1) * sizeof(*g->files));
			g->file_count--;
			return;
		}
}

void gen_files_free(struct gen *g)
{
	for (size_t i = 0; i < g->file_count; i++) {
		free(g->files[i].name);
		bytes_free(&g->files[i].bytes);
	}
	free(g->files);
	g->files = NULL;
	g->file_count = g->file_capacity = 0;
}

bool gen_has(struct gen *g, unsigned feature, bool drawn)
{
	const uint64_t bit = FEATURE_BIT(feature);

	drawn = (drawn && !(g->without & bit)) || (g->with & bit);
	g->has |= drawn ? bit : 0;
	return drawn;
}

uint64_t gen_choice(const struct gen *g, uint64_t features)
{
	uint64_t left = (g->with & features ? g->with & features : features) & ~g->without;
	return left ? left : features;
}

void gen_expect(struct gen *g, unsigned rule)
{
	g->expected[rule] = true;
}
