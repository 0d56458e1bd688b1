/* Groups of cases: what two captures must have in common for it to be one bug of the reader, and the name of that bug. */
#include "cli/try.h"

#include <ctype.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

/* ---- the baseline ---- */

/* Whether the reader ends in the same way: by the same signal or exit code, at the same place, with the same words. */
static bool try_ends_alike(const struct try_case *a, const struct try_case *b)
{
	if (a->end != b->end)
		return false;
	if (a->end == CHILD_HUNG)
		return true;
	if (a->site || b->site)
		return a->site && b->site && !strcmp(a->site, b->site);
	if (!a->last || !b->last)
		return a->code == b->code && a->last == b->last;
	return a->code == b->code && !strcmp(a->last, b->last);
}

/* What the reader does with the capture of the same seed without the defect as well is not the defect's doing. */
static void try_attribute(struct try *t)
{
	for (size_t i = 0; i < t->case_count; i++) {
		struct try_case *c = &t->cases[i];
		if (!c->has_baseline || c->skipped || c->failed)
			continue;
		struct try_case *baseline = &t->cases[c->baseline];
		if (baseline->skipped || baseline->failed || baseline->spoiled || baseline->outcome == TRY_FINE ||
		    !try_ends_alike(c, baseline))
			continue;
		c->outcome = baseline->outcome;
		c->rule = baseline->rule;
		c->valid = baseline->valid;
		c->alike = true;
		baseline->unasked = false;
	}
}

/* ---- keys ---- */

/* The defect, as far as a key needs it. */
static const char *try_defect(const struct try_case *c)
{
	return c->rule ? c->rule->id : c->valid ? "no defect" : "not recognised";
}

/* Whether what the reader says of a case without a place is one bug, whatever rule its capture breaks. */
bool try_says(const struct try_case *c)
{
	return c->last && (c->outcome == TRY_SIGNAL || c->outcome == TRY_CRASH || c->outcome == TRY_REJECTED ||
			   c->outcome == TRY_COUNT || c->outcome == TRY_DIFFER);
}

char *try_key(const struct try_case *c)
{
	bool killed = c->outcome == TRY_SIGNAL, says = try_says(c);
	char *key = NULL, end[48] = "";
	int length;

	if (killed)
		(void)child_signal_name(end, c->code);
	else if (c->outcome == TRY_REJECTED || (c->outcome == TRY_CRASH && c->message != NULL))
		(void)snprintf(end, sizeof(end), "exit %d", c->code);
	if ((killed || c->outcome == TRY_CRASH) && c->site)
		length = asprintf(&key, "in %s", c->site);
	else
		length = asprintf(&key, "%s %s %s", end, says ? "says" : "on", says ? c->last : try_defect(c));
	return length < 0 ? NULL : key;
}

char *try_mask(const char *text)
{
	char *out = malloc(strlen(text) + 1), *to = out;
	bool word = false; /* in a word that did not begin with a digit: "page_v2" */

	for (const char *at = text; out && *at;) {
		if (!isdigit((unsigned char)*at)) {
			word = isalpha((unsigned char)*at) || *at == '_';
			*to++ = *at++;
			continue;
		}
		at += !word && at[0] == '0' && at[1] == 'x' ? 2 : 0;
		at += strspn(at, word ? "0123456789" : "0123456789abcdefABCDEF");
		*to++ = '#';
	}
	if (out)
		*to = '\0';
	return out;
}

/* Twelve hex digits that name the group, the same on every machine. */
static void try_name_group(const struct try *t, struct try_group *g)
{
	const char *parts[] = { t->reader.name, t->reader.version, try_outcome_name(g->first->outcome), g->first->key };
	struct sha256_ctx hash;
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_init(&hash);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		sha256_update(&hash, strlen(parts[i]) + 1, (const uint8_t *)parts[i]);
	sha256_digest(&hash, sizeof(digest), digest);
	for (size_t i = 0; i < (TRY_ID_SIZE - 1) / 2; i++)
		(void)snprintf(g->id + 2 * i, 3, "%02x", digest[i]);
}

/* ---- groups ---- */

static bool try_counts(const struct try_case *c)
{
	return !c->skipped && !c->failed && !c->unasked;
}

static bool try_wanted(const struct try *t, const struct try_case *c)
{
	return c->outcome != TRY_FINE && try_counts(c) && (t->options->outcomes & 1u << c->outcome);
}

/* The worst outcome first, then by key; within a group, captures that show it by themselves first, in the order of the cases. */
static int try_compare(const void *left, const void *right)
{
	const struct try_case *a = *(const struct try_case *const *)left, *b = *(const struct try_case *const *)right;

	if (a->outcome != b->outcome)
		return a->outcome > b->outcome ? -1 : 1;
	int order = strcmp(a->key, b->key);
	if (!order)
		order = a->alike - b->alike;
	return order ? order : (a > b) - (a < b);
}

static bool try_same_group(const struct try_case *a, const struct try_case *b)
{
	return a->outcome == b->outcome && !strcmp(a->key, b->key);
}

static size_t try_count_alike(const struct try *t, const struct try_case *like)
{
	size_t count = 0;

	for (size_t i = 0; i < t->case_count; i++) {
		const struct try_case *c = &t->cases[i];
		count += try_counts(c) &&
			 (like->site || try_says(like) || (c->rule == like->rule && (c->rule || c->valid == like->valid)));
	}
	return count;
}

/* Their options; NULL: out of memory. */
static char *try_group_features(const struct tracemend_recipe *r)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; r->with && r->with[i]; i++)
		fprintf(out, " --with %s", r->with[i]);
	for (size_t i = 0; r->without && r->without[i]; i++)
		fprintf(out, " --without %s", r->without[i]);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* The command that generates the case, or its path. */
static char *try_origin(const struct try_case *c)
{
	const struct tracemend_recipe *r = &c->recipe;
	char *line = NULL, *with = NULL, size[48] = "", kind[300] = "--valid";

	if (c->path)
		return strdup(c->path);
	if (r->rule)
		(void)snprintf(kind, sizeof(kind), "--rule %s", r->rule);
	else if (r->damage)
		(void)snprintf(kind, sizeof(kind), "--damage %s", tracemend_damage_name(r->damage));
	if (r->size)
		(void)snprintf(size, sizeof(size), " --size %llu", (unsigned long long)r->size);
	with = try_group_features(r);
	if (!with || asprintf(&line, "tracemend gen -f %s%s%s%s%s %s%s --seed %llu%s -o DIR", r->format, r->host ? " --host" : "",
			      with, r->profile ? " --profile " : "", r->profile ? r->profile : "", kind, r->sound ? " --sound" : "",
			      (unsigned long long)r->seed, size) < 0)
		line = NULL;
	free(with);
	return line;
}

static void try_group_add(struct try_group *g, const struct try_case *c)
{
	const struct try_case *before = g->cases ? g->list[g->cases - 1] : g->first;

	g->cases++;
	g->alike += c->alike;
	g->others += !c->alike && c->rule != g->first->rule && c->rule != before->rule;
}

bool try_group(struct try *t)
{
	const struct try_case **found = t->found = calloc(t->case_count + 1, sizeof(const struct try_case *));
	size_t count = 0;
	bool good = true;

	try_attribute(t);
	t->groups = calloc(t->case_count + 1, sizeof(*t->groups));
	for (size_t i = 0; found && good && i < t->case_count; i++) {
		struct try_case *c = &t->cases[i];
		t->outcomes[c->outcome] += try_counts(c);
		if (!try_wanted(t, c))
			continue;
		found[count++] = c;
		c->key = try_key(c);
		good = c->key != NULL;
	}
	if (!found || !t->groups || !good)
		return false;
	qsort(found, count, sizeof(const struct try_case *), try_compare);
	for (size_t i = 0; i < count && good; i++) {
		if (!i || !try_same_group(found[i - 1], found[i])) {
			struct try_group *g = &t->groups[t->group_count++];
			g->first = found[i];
			g->list = &found[i];
			g->of = try_count_alike(t, found[i]);
			g->origin = try_origin(found[i]);
			g->size = found[i]->size;
			try_name_group(t, g);
			good = g->origin != NULL;
		}
		try_group_add(&t->groups[t->group_count - 1], found[i]);
	}
	return good;
}

bool try_similar(const struct try_group *a, const struct try_group *b)
{
	const char *one = a->first->site, *other = b->first->site;

	if (a == b || !one || !other)
		return false;
	size_t length = strcspn(one, "<");
	return length == strcspn(other, "<") && !strncmp(one, other, length);
}
