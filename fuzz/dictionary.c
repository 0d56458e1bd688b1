/* tracemend-dictionary FORMAT: prints a dictionary for AFL++ and libFuzzer. It generates a capture with each defect, and some
 * valid ones; the tokens are the magic numbers, tags and repeated words in their outlines. A tag that is some bits of a word is
 * one token for each of its values: the word with it that most captures have. The output is always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/choices.h"
#include "engine/engine.h"
#include "mutate.h"

#define TOKEN_MAX 32u
#define TOKENS_MAX 65536u
/* Valid captures, in addition to one for each rule. */
#define VALID 24u
/* A word must be in this number of captures, to be one of the format and not of a single capture. */
#define COMMON 6u
#define PRINTED_MAX 400u

struct token {
	uint8_t bytes[TOKEN_MAX];
	uint8_t length;
	uint8_t kind; /* enum field_kind */
	bool bits;    /* a tag of some bits in a word */
	bool printed; /* or another word with its value is */
	const char *name;
	uint64_t value;		 /* of the bits */
	unsigned captures, last; /* the number of captures with it; the last of them */
};

struct tokens {
	struct token *list;
	size_t count;
};

/* value: of a tag of some bits. */
static void token_add(struct tokens *t, const struct part *f, const uint8_t *bytes, uint64_t value, unsigned capture)
{
	size_t length = f->length;
	bool bits = f->width != 0;
	for (size_t i = 0; i < t->count; i++) {
		struct token *k = &t->list[i];
		if (k->length != length || k->bits != bits || memcmp(k->bytes, bytes, length) != 0)
			continue;
		if (bits && (k->value != value || strcmp(k->name, f->name) != 0))
			continue;
		k->captures += k->last != capture;
		k->last = capture;
		return;
	}
	if (t->count == TOKENS_MAX)
		return;
	struct token *k = &t->list[t->count++];
	*k = (struct token){ .length = (uint8_t)length,
			     .kind = f->field,
			     .bits = bits,
			     .name = f->name,
			     .value = value,
			     .captures = 1,
			     .last = capture };
	memcpy(k->bytes, bytes, length);
}

static void gather(struct tokens *t, const struct format *f, const char *rule, uint64_t seed, unsigned capture)
{
	struct tracemend_recipe recipe = { .format = f->public.name, .rule = rule, .seed = seed };
	struct tracemend_sample *sample = tracemend_generate(&recipe, NULL);
	struct mutation_input in;
	struct bytes bytes = { 0 };

	if (!sample)
		return;
	mutation_pack(sample, &bytes);
	if (mutation_open(&in, f->public.name, NULL, bytes.data, bytes.size, true)) {
		const struct outline *o = &in.outline;
		for (uint32_t i = 0; i < o->count; i++) {
			const struct part *p = &o->parts[i];
			bool wanted = p->kind == PART_FIELD && p->parent != OUTLINE_NONE && p->length >= 2 &&
				      p->length <= TOKEN_MAX &&
				      (p->field == FIELD_MAGIC || p->field == FIELD_TAG || p->field == FIELD_TEXT);
			const uint8_t *data = wanted ? outline_bytes(o, i) : NULL;
			if (data)
				token_add(t, p, data, p->width ? outline_value(o, i) : 0, capture);
		}
		mutation_close(&in);
	}
	bytes_free(&bytes);
	tracemend_sample_free(sample);
}

/* Magic numbers first, then tags, then words; the most frequent first, then by their bytes. */
static int compare(const void *a, const void *b)
{
	const struct token *x = a, *y = b;
	unsigned rx = x->kind == FIELD_MAGIC ? 0
		      : x->kind == FIELD_TAG ? 1
					     : 2,
		 ry = y->kind == FIELD_MAGIC ? 0
		      : y->kind == FIELD_TAG ? 1
					     : 2;
	if (rx != ry)
		return rx < ry ? -1 : 1;
	if (x->captures != y->captures)
		return x->captures > y->captures ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return memcmp(x->bytes, y->bytes, x->length);
}

static void print_token(const struct token *k, unsigned number)
{
	for (const char *p = k->name; *p; p++)
		putchar((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') ? *p : '_');
	printf("_%u=\"", number);
	for (size_t i = 0; i < k->length; i++) {
		uint8_t c = k->bytes[i];
		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\')
			putchar(c);
		else
			printf("\\x%02x", c);
	}
	printf("\"\n");
}

/* What follows and is the same token is not printed: another word with its value, or the same bytes under another name. Returns the
 * number of captures with the token; one that has several of its words is counted for each. */
static unsigned settle(struct tokens *t, size_t index)
{
	const struct token *k = &t->list[index];
	unsigned captures = k->captures;

	for (size_t i = index + 1; i < t->count; i++) {
		struct token *other = &t->list[i];
		bool same = k->length == other->length && !memcmp(k->bytes, other->bytes, k->length);
		bool value = k->bits && other->bits && k->value == other->value && !strcmp(k->name, other->name);
		if (value && !other->printed)
			captures += other->captures;
		other->printed = other->printed || same || value;
	}
	return captures;
}

int main(int argc, char **argv)
{
	const struct format *f = argc == 2 ? format_find(argv[1]) : NULL;
	struct tokens t = { 0 };
	unsigned capture = 0, printed = 0;

	if (!f) {
		fprintf(stderr, "usage: tracemend-dictionary fxt|uftrace|ktrace|tracedat|lttng\n");
		return 2;
	}
	t.list = calloc(TOKENS_MAX, sizeof(*t.list));
	if (!t.list)
		return 1;
	for (uint64_t seed = 1; seed <= VALID; seed++)
		gather(&t, f, NULL, seed, ++capture);
	for (size_t i = 0; i < f->rule_count; i++)
		gather(&t, f, f->rules[i].id, 1, ++capture);
	qsort(t.list, t.count, sizeof(*t.list), compare);
	printf("# %s: %s. Made by tracemend-dictionary %s from its tables and generators.\n", f->public.name, f->public.title,
	       TRACEMEND_VERSION);
	for (size_t i = 0; i < t.count && printed < PRINTED_MAX; i++) {
		const struct token *k = &t.list[i];
		/* A broken magic number is not a token, and neither is a word of a single capture. */
		if (!k->printed && settle(&t, i) >= COMMON)
			print_token(k, printed++);
	}
	free(t.list);
	return 0;
}
