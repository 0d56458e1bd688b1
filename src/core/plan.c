#include "core/plan_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/container.h"
#include "core/limits.h"
#include "core/text.h"

struct plan *plan_new(struct bundle *b, const struct tracemend_rule *table, size_t count)
{
	struct plan *p = calloc(1, sizeof(*p));
	if (p) {
		p->in = b;
		p->table = table;
		p->rules = count;
	}
	return p;
}

void plan_free(struct plan *p)
{
	if (p) {
		plan_clear(p);
		free(p);
	}
}

unsigned plan_output(struct plan *p, const char *name)
{
	const uint64_t hash = text_hash(name, strlen(name));
	const uint32_t last = map_get(&p->by_name, hash);

	for (size_t i = last == MAP_NONE ? 0 : (size_t)last + 1; i; i = p->outputs[i - 1].before)
		if (!strcmp(p->outputs[i - 1].name, name))
			return (unsigned)(i - 1);
	if (!plan_room(p, &p->outputs, &p->output_capacity, p->output_count, sizeof(*p->outputs), BUNDLE_SOURCES_MAX))
		return 0;
	char *copy = strdup(name);
	if (!copy) {
		plan_fail(p, TM_NO_MEMORY);
		return 0;
	}
	enum tracemend_status status = map_set(&p->by_name, hash, (uint32_t)p->output_count, BUNDLE_SOURCES_MAX);
	if (status != TM_OK) {
		free(copy);
		plan_fail(p, status);
		return 0;
	}
	p->outputs[p->output_count] = (struct output){ .name = copy, .before = last == MAP_NONE ? 0 : (size_t)last + 1 };
	return (unsigned)p->output_count++;
}

/* Whether a piece goes on where the last one of the list ends, for the same reason. */
static bool piece_goes_on(const struct pieces *list, const struct piece *piece)
{
	const struct piece_run *run = list->run_count ? &list->runs[list->run_count - 1] : NULL;

	if (!list->count || (run && run->first + run->size == list->count))
		return false;
	const struct piece *last = &list->items[list->count - 1];
	return last->source == piece->source && last->from + last->length == piece->from && last->rule == piece->rule &&
	       last->why == piece->why && last->again == piece->again;
}

bool pieces_add(struct plan *p, struct pieces *list, struct piece piece)
{
	/* After a failure there may be no list at all. */
	if (p->status != TM_OK || !piece.length)
		return false;
	if (piece_goes_on(list, &piece)) {
		list->items[list->count - 1].length += piece.length;
		return true;
	}
	pieces_fold(p, list);
	if (!plan_room(p, &list->items, &list->capacity, list->count, sizeof(*list->items), PLAN_RANGES_MAX))
		return false;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): plan_room() made room */
	list->items[list->count++] = piece;
	return true;
}

void plan_append(struct plan *p, unsigned output, struct piece piece)
{
	if (p->status == TM_OK && pieces_add(p, &p->outputs[output].pieces, piece))
		p->outputs[output].size += piece.length;
}

void plan_copy(struct plan *p, unsigned output, const struct source *s, uint64_t from, uint64_t length)
{
	plan_append(p, output, (struct piece){ .length = length, .from = from, .source = s->index, .rule = NO_RULE, .why = "" });
}

void plan_copy_again(struct plan *p, unsigned output, const struct source *s, uint64_t from, uint64_t length, unsigned rule,
		     const char *why)
{
	plan_append(
		p, output,
		(struct piece){
			.length = length, .from = from, .source = s->index, .rule = (uint16_t)rule, .again = true, .why = why });
}

void plan_literal(struct plan *p, unsigned output, const void *bytes, size_t length, unsigned rule, const char *why)
{
	struct piece piece = { .length = length, .from = p->literals.size, .source = LITERAL, .rule = (uint16_t)rule, .why = why };

	if (p->status != TM_OK)
		return;
	if (!piece_goes_on(&p->outputs[output].pieces, &piece))
		pieces_fold(p, &p->outputs[output].pieces); /* it may take literals back */
	piece.from = p->literals.size;
	if (length > PLAN_LITERALS_MAX - piece.from) {
		plan_fail(p, TM_LIMIT);
		(void)fault_set(&p->in->error, TM_LIMIT, "the repair of %s needs more than %u new bytes", p->in->path,
				PLAN_LITERALS_MAX);
		return;
	}
	bytes_append(&p->literals, bytes, length);
	if (p->literals.failed)
		plan_fail(p, TM_NO_MEMORY);
	plan_append(p, output, piece);
}

void plan_drop(struct plan *p, const struct source *s, uint64_t from, uint64_t length, unsigned rule, const char *why)
{
	(void)pieces_add(p, &p->dropped,
			 (struct piece){ .length = length, .from = from, .source = s->index, .rule = (uint16_t)rule, .why = why });
}

void plan_replace(struct plan *p, unsigned output, const struct source *s, uint64_t from, uint64_t length, const void *bytes,
		  size_t bytes_length, unsigned rule, const char *why)
{
	plan_drop(p, s, from, length, rule, why);
	plan_literal(p, output, bytes, bytes_length, rule, why);
}

void plan_doubt(struct plan *p, const struct source *s, uint64_t from, uint64_t length, const char *why)
{
	/* A doubt is of bytes that are there. */
	if (from >= s->size)
		return;
	if (length > s->size - from)
		length = s->size - from;
	(void)pieces_add(p, &p->doubtful,
			 (struct piece){ .length = length, .from = from, .source = s->index, .rule = NO_RULE, .why = why });
}

void plan_keep_doubts(struct plan *p)
{
	p->doubts_stay = true;
}

const char *plan_why(struct plan *p, const char *format, ...)
{
	char text[FINDING_TEXT_MAX];
	va_list arguments;

	va_start(arguments, format);
	text_format(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (p->why_count && !strcmp(p->whys[p->why_count - 1], text))
		return p->whys[p->why_count - 1];
	if (!plan_room(p, &p->whys, &p->why_capacity, p->why_count, sizeof(*p->whys), PLAN_RANGES_MAX))
		return "";
	char *copy = strdup(text);
	if (!copy) {
		plan_fail(p, TM_NO_MEMORY);
		return "";
	}
	p->whys[p->why_count++] = copy;
	return copy;
}

uint64_t plan_size(const struct plan *p, unsigned output)
{
	return output < p->output_count ? p->outputs[output].size : 0;
}

void plan_kept(struct plan *p, uint64_t records)
{
	p->outcome.kept += records;
}

void plan_patched(struct plan *p, uint64_t records)
{
	p->outcome.patched += records;
}

void plan_added(struct plan *p, uint64_t records)
{
	p->outcome.added += records;
}

void plan_lost(struct plan *p, uint64_t records, enum tracemend_exactness how)
{
	p->outcome.dropped += records;
	if (how > p->outcome.dropped_is)
		p->outcome.dropped_is = how;
}

void plan_lost_other(struct plan *p)
{
	p->outcome.lost = true;
}

enum tracemend_status plan_status(const struct plan *p)
{
	return p->status;
}

bool output_index(struct plan *p, struct output *o)
{
	if (o->offsets)
		return true;
	o->offsets = malloc((o->pieces.count + 1) * sizeof(*o->offsets));
	if (!o->offsets) {
		plan_fail(p, TM_NO_MEMORY);
		return false;
	}
	uint64_t at = 0;
	size_t run = 0;
	for (size_t i = 0; i < o->pieces.count; i++) {
		o->offsets[i] = at;
		at += o->pieces.items[i].length;
		if (run < o->pieces.run_count && i + 1 == o->pieces.runs[run].first + o->pieces.runs[run].size) {
			at += (at - o->offsets[o->pieces.runs[run].first]) * (o->pieces.runs[run].times - 1);
			run++;
		}
	}
	o->offsets[o->pieces.count] = at;
	return true;
}

/* ---- reading what will be written ---- */

/* The last item in [low, high) that begins at or before offset. */
static size_t output_search(const struct output *o, uint64_t offset, size_t low, size_t high)
{
	high--;
	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;
		if (o->offsets[middle] <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

struct piece output_piece(struct output *o, uint64_t offset, uint64_t *skip)
{
	size_t i = o->last;

	if (i >= o->pieces.count || offset < o->offsets[i] || offset >= o->offsets[i + 1])
		i = i + 1 < o->pieces.count && offset >= o->offsets[i + 1] && offset < o->offsets[i + 2]
			    ? i + 1
			    : output_search(o, offset, 0, o->pieces.count);
	o->last = i;
	const struct piece_run *run = pieces_run_of(&o->pieces, i);
	struct piece piece = o->pieces.items[i];
	*skip = offset - o->offsets[i];
	if (!run)
		return piece;
	/* The offsets of a run's items are those of its first group; the last item seems to reach to the end of all. */
	const struct piece *end = &o->pieces.items[run->first + run->size - 1];
	uint64_t base = o->offsets[run->first], group = o->offsets[run->first + run->size - 1] + end->length - base;
	uint64_t time = (offset - base) / group, in = base + (offset - base) % group;
	i = output_search(o, in, run->first, run->first + run->size);
	piece = o->pieces.items[i];
	*skip = in - o->offsets[i];
	if (piece.source != LITERAL)
		piece.from += time * run->step;
	return piece;
}

#define NEAR_LENGTH 4096u      /* a copy is small */
#define NEAR_STEP (64u * 1024) /* from the end of one to the next */
#define NEAR_STEPS_MIN 8u      /* from here on they are read through the window */

static enum tracemend_status copy_read(struct plan_near *near, struct source *s, uint64_t from, uint8_t *to, size_t length)
{
	if (length > NEAR_LENGTH)
		return source_read(s, from, to, length);
	if (near->window.source != s) {
		window_reset(&near->window, s);
		near->steps = 0;
	}
	near->steps = near->steps && from - near->end < NEAR_STEP ? near->steps + (near->steps < NEAR_STEPS_MIN) : 1;
	near->end = from + length;
	if (near->steps < NEAR_STEPS_MIN)
		return source_read(s, from, to, length);
	const uint8_t *p = window_at(&near->window, from, length);
	if (p)
		memcpy(to, p, length);
	else if (near->window.status == TM_OK)
		return source_read(s, from, to, length);
	return near->window.status;
}

enum tracemend_status plan_read(struct plan *p, size_t output, uint64_t offset, void *buffer, size_t length)
{
	struct output *o = &p->outputs[output];
	uint8_t *to = buffer;

	if (offset > o->size || length > o->size - offset)
		return TM_BUG;
	if (!length)
		return TM_OK;
	if (!output_index(p, o))
		return TM_NO_MEMORY;
	while (length) {
		uint64_t skip;
		struct piece piece = output_piece(o, offset, &skip);
		size_t n = piece.length - skip < length ? (size_t)(piece.length - skip) : length;
		if (piece.source == LITERAL) {
			memcpy(to, p->literals.data + piece.from + skip, n);
		} else {
			enum tracemend_status status = copy_read(&p->near, p->in->sources[piece.source], piece.from + skip, to, n);
			if (status != TM_OK)
				return status;
		}
		to += n;
		offset += n;
		length -= n;
	}
	return TM_OK;
}

static enum tracemend_status plan_source_read(struct source *s, uint64_t offset, void *buffer, size_t length,
					      struct tracemend_error *error)
{
	struct plan_source *from = s->data;
	enum tracemend_status status = plan_read(from->plan, from->output, offset, buffer, length);
	return status == TM_OK ? TM_OK : fault_set(error, status, "%s", from->plan->in->error.message);
}

static void plan_source_close(struct source *s)
{
	free(s->data);
}

static const struct source_ops plan_source_ops = { .read = plan_source_read, .close = plan_source_close };

struct bundle *plan_bundle(struct plan *p, const struct tracemend_options *options, struct tracemend_error *error)
{
	struct bundle *b = bundle_new(p->in->path, options);
	if (!b) {
		(void)fault_memory(error);
		return NULL;
	}
	b->directory = !(p->output_count == 1 && !*p->outputs[0].name);
	for (size_t i = 0; i < p->output_count; i++) {
		struct plan_source *from = malloc(sizeof(*from));
		if (!from) {
			(void)fault_memory(&b->error);
			break;
		}
		*from = (struct plan_source){ p, i };
		if (!bundle_add_source(b, TM_ROLE_INPUT, SOURCE_FILE, p->outputs[i].name, p->outputs[i].size, &plan_source_ops,
				       from)) {
			free(from);
			break;
		}
	}
	if (b->error.status != TM_OK) {
		(void)fault_set(error, b->error.status, "%s", b->error.message);
		bundle_free(b);
		return NULL;
	}
	bundle_sort(b);
	return b;
}

/* ---- access ---- */

static const struct tracemend_rule *plan_rule(const struct plan *p, const struct piece *piece)
{
	if (piece->rule >= PLAN_CONTAINER && piece->rule < PLAN_CONTAINER + CONTAINER_RULE_COUNT)
		return &container_rules[piece->rule - PLAN_CONTAINER];
	return piece->rule < p->rules ? &p->table[piece->rule] : NULL;
}

size_t plan_output_count(const struct plan *p)
{
	return p->output_count;
}

const char *plan_output_name(const struct plan *p, size_t output)
{
	return p->outputs[output].name;
}

size_t plan_segment_count(const struct plan *p, size_t output)
{
	return p->outputs[output].pieces.count;
}

struct tracemend_segment plan_segment_at(const struct plan *p, size_t output, size_t index)
{
	const struct output *o = &p->outputs[output];
	const struct piece *piece = &o->pieces.items[index];
	const struct piece_run *run = pieces_run_of(&o->pieces, index);
	struct tracemend_segment segment = { .length = piece->length, .rule = plan_rule(p, piece), .why = piece->why, .times = 1 };

	segment.offset = o->offsets ? o->offsets[index] : 0;
	if (piece->source == LITERAL) {
		segment.bytes = p->literals.data + piece->from;
	} else {
		segment.input = piece->source;
		segment.from = piece->from;
	}
	if (run) {
		segment.group = index == run->first ? run->size : 0;
		segment.times = run->times;
		segment.repeat_from = run->step;
		for (size_t i = 0; i < run->size; i++)
			segment.repeat_offset += o->pieces.items[run->first + i].length;
	}
	return segment;
}

static struct tracemend_range plan_range(const struct plan *p, const struct pieces *list, size_t index)
{
	const struct piece *piece = &list->items[index];
	const struct piece_run *run = pieces_run_of(list, index);
	struct tracemend_range range = { .input = piece->source,
					 .from = piece->from,
					 .length = piece->length,
					 .rule = plan_rule(p, piece),
					 .why = piece->why,
					 .times = 1 };

	if (run) {
		range.group = index == run->first ? run->size : 0;
		range.times = run->times;
		range.repeat_from = run->step;
	}
	return range;
}

size_t plan_dropped_count(const struct plan *p)
{
	return p->dropped.count;
}

struct tracemend_range plan_dropped_at(const struct plan *p, size_t index)
{
	return plan_range(p, &p->dropped, index);
}

size_t plan_doubtful_count(const struct plan *p)
{
	return p->doubtful.count;
}

struct tracemend_range plan_doubtful_at(const struct plan *p, size_t index)
{
	return plan_range(p, &p->doubtful, index);
}
