/* Where findings are, and what a repair does with the bytes: bins of files. */
#include "report/report_map.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/limits.h"

/* ---- files ---- */

static bool map_add_file(struct report_map *m, struct tracemend_input *input, size_t index)
{
	struct report_strip *s = &m->strips[index];
	char name[FINDING_TEXT_MAX];

	s->file = tracemend_input_file(input, index, &s->role, &s->size, name, sizeof(name));
	s->file = s->file && s->role != TM_ROLE_DONOR;
	s->name = strdup(name);
	/* Names of other roles may be the same: findings are about the input. */
	if (s->name && s->file && s->role == TM_ROLE_INPUT)
		return map_set(&m->names, report_hash(name), (uint32_t)index, SIZE_MAX) == TM_OK;
	return s->name;
}

struct report_map *report_map_new(struct tracemend_input *input)
{
	struct report_map *m = calloc(1, sizeof(*m));
	size_t files = 0;

	if (!m)
		return NULL;
	m->count = tracemend_input_count(input);
	m->capacity = m->count + 1;
	m->strips = calloc(m->capacity, sizeof(*m->strips));
	bool good = m->strips;
	for (size_t i = 0; i < m->count && good; i++) {
		good = map_add_file(m, input, i);
		files += m->strips[i].file;
	}
	if (!good) {
		report_map_free(m);
		return NULL;
	}
	files = files < REPORT_STRIPS ? files : REPORT_STRIPS;
	m->bins = files < 4 ? REPORT_BINS : REPORT_STRIPS_BINS / (uint32_t)files;
	m->current = UINT32_MAX;
	return m;
}

static void bins_free(struct report_bins *b)
{
	for (size_t i = 0; b && i <= TM_ERROR; i++)
		free(b->found[i]);
	for (size_t i = 0; b && i < REPORT_FATES; i++)
		free(b->fate[i]);
	free(b);
}

void report_map_free(struct report_map *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count && m->strips; i++) {
		free(m->strips[i].name);
		bins_free(m->strips[i].bins);
	}
	report_times_free(&m->times);
	map_free(&m->names);
	free(m->strips);
	free(m->drops);
	free(m);
}

static struct report_bins *bins_new(uint32_t most, uint64_t size, bool repair)
{
	struct report_bins *b = calloc(1, sizeof(*b));
	bool good = b;

	if (!b)
		return NULL;
	b->width = size / most + (size % most ? 1 : 0);
	b->count = (uint32_t)(size / b->width + (size % b->width ? 1 : 0));
	for (size_t i = 0; i <= TM_ERROR; i++)
		good = (b->found[i] = calloc(b->count + 1, sizeof(*b->found[i]))) && good;
	for (size_t i = 0; i < REPORT_FATES && repair; i++)
		good = (b->fate[i] = calloc(b->count, sizeof(*b->fate[i]))) && good;
	if (good)
		return b;
	bins_free(b);
	return NULL;
}

/* The bins of a strip, which are made where there is something to show. NULL: it gets none. */
static struct report_bins *map_bins(struct report_map *m, struct report_strip *s)
{
	if (s->bins || !s->size || !s->file || m->binned == REPORT_STRIPS)
		return s->bins;
	s->bins = bins_new(s->made ? 1 : m->bins, s->size, m->repair);
	m->failed |= !s->bins;
	m->binned += s->bins != NULL;
	return s->bins;
}

size_t report_map_strip(const struct report_map *m, const char *file)
{
	if (m->current < m->count && !strcmp(m->strips[m->current].name, file))
		return m->current;
	uint32_t index = map_get(&m->names, report_hash(file));
	return index != MAP_NONE && !strcmp(m->strips[index].name, file) ? index : SIZE_MAX;
}

/* ---- findings ---- */

static void map_observe(void *ctx, const struct tracemend_finding *f)
{
	struct report_map *m = ctx;
	size_t index = report_map_strip(m, f->file);

	if (index == SIZE_MAX)
		return;
	m->current = (uint32_t)index;
	struct report_strip *s = &m->strips[index];
	struct report_bins *b = map_bins(m, s);
	s->found[f->severity]++;
	if (!b)
		return;
	uint64_t first = f->offset / b->width, last = (f->offset + (f->length ? f->length - 1 : 0)) / b->width;
	first = first < b->count ? first : b->count - 1;
	last = last < b->count ? last : b->count - 1;
	b->found[f->severity][first]++;
	b->found[f->severity][last + 1]--;
}

/* ---- a repair ---- */

static void map_fate(struct report_map *m, size_t strip, enum report_fate fate, uint64_t from, uint64_t length)
{
	if (strip >= m->count || !length)
		return;
	struct report_strip *s = &m->strips[strip];
	s->fate[fate] += length;
	struct report_bins *b = map_bins(m, s);
	/* What is made anew takes no bytes of the input: it stands at one place, which may be the end. */
	if (b && fate == REPORT_MADE) {
		uint64_t bin = from / b->width;
		b->fate[fate][bin < b->count ? bin : b->count - 1] += length;
		return;
	}
	while (b && length && from / b->width < b->count) {
		uint64_t bin = from / b->width, room = (bin + 1) * b->width - from;
		room = room < length ? room : length;
		b->fate[fate][bin] += room;
		from += room;
		length -= room;
	}
}

/* The segments of an output one after the other, each as often as it comes. */
struct segments {
	const struct tracemend_repair *repair;
	size_t output, next, count;
	size_t group_at;
	uint32_t group;		   /* segments of the open run; 0: none is open */
	uint64_t times, times_max; /* of the open run */
};

static bool segments_next(struct segments *it, struct tracemend_segment *s)
{
	if (it->group && it->next == it->group_at + it->group) {
		it->times++;
		it->next = it->times < it->times_max ? it->group_at : it->next;
		it->group = it->times < it->times_max ? it->group : 0;
	}
	if (it->next >= it->count)
		return false;
	*s = tracemend_repair_segment(it->repair, it->output, it->next);
	if (!it->group && s->group) {
		it->group_at = it->next;
		it->group = s->group;
		it->times = 0;
		it->times_max = s->times;
	}
	it->next++;
	if (it->group) {
		s->offset += it->times * s->repeat_offset;
		s->from += s->bytes ? 0 : it->times * s->repeat_from;
	}
	return true;
}

/* Where literals go: behind the copy before them, in place of what the next copy leaves out. Zeros in place of content are no
 * content: it is dropped, not changed. */
struct literals {
	size_t strip; /* SIZE_MAX: no copy came before them */
	uint64_t at, length, zeros;
};

/* Shorter ones may be values. */
#define LITERAL_ZEROS_MIN 16u

bool report_literal_is_zeros(const struct tracemend_segment *s)
{
	uint64_t i = 0;

	while (i < s->length && !s->bytes[i])
		i++;
	return i == s->length && i >= LITERAL_ZEROS_MIN;
}

static void map_literals(struct report_map *m, struct literals *l, size_t strip, uint64_t from)
{
	if (l->strip == SIZE_MAX && strip != SIZE_MAX)
		*l = (struct literals){ strip, 0, l->length, l->zeros };
	uint64_t gap = l->strip == strip && from > l->at ? from - l->at : strip == SIZE_MAX ? UINT64_MAX : 0;
	if (l->strip != SIZE_MAX && l->strip < m->count) {
		uint64_t left = m->strips[l->strip].size > l->at ? m->strips[l->strip].size - l->at : 0;
		gap = gap < left ? gap : left;
		uint64_t changed = l->length < gap ? l->length : gap;
		map_fate(m, l->strip, REPORT_CHANGED, l->at, changed > l->zeros ? changed - l->zeros : 0);
		map_fate(m, l->strip, REPORT_MADE, l->at + changed, l->length - changed);
	}
	l->length = l->zeros = 0;
}

/* A file of the output that has no part of the input, as one bin. */
static bool map_add_made(struct report_map *m, const char *file, uint64_t size)
{
	if (array_room(&m->strips, &m->capacity, m->count, sizeof(*m->strips), SIZE_MAX) != TM_OK)
		return false;
	struct report_strip *s = &m->strips[m->count];
	*s = (struct report_strip){ .name = strdup(file), .size = size, .role = TM_ROLE_INPUT, .file = true, .made = true };
	if (!s->name)
		return false;
	map_fate(m, m->count++, REPORT_MADE, 0, size);
	return true;
}

static void map_output(struct report_map *m, const struct tracemend_repair *repair, size_t output)
{
	const struct tracemend_output *o = tracemend_repair_output(repair, output);
	struct segments it = { .repair = repair, .output = output, .count = o->segment_count };
	struct literals l = { SIZE_MAX, 0, 0, 0 };
	struct tracemend_segment s;

	while (segments_next(&it, &s)) {
		if (s.bytes) {
			l.length += s.length;
			l.zeros += report_literal_is_zeros(&s) ? s.length : 0;
			continue;
		}
		map_literals(m, &l, s.input, s.from);
		l = (struct literals){ s.input, s.from + s.length, 0, 0 };
	}
	if (l.strip == SIZE_MAX && l.length) { /* all of it is made anew, perhaps in place of a file of that name */
		l.strip = report_map_strip(m, o->file);
		if (l.strip == SIZE_MAX) {
			m->failed |= !map_add_made(m, o->file, l.length);
			return;
		}
	}
	map_literals(m, &l, SIZE_MAX, 0);
}

static int drop_compare(const void *a, const void *b)
{
	const struct report_drop *x = a, *y = b;

	if (x->strip != y->strip)
		return x->strip < y->strip ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Calls take() for each range, as often as it comes. */
static void map_ranges(struct report_map *m, const struct tracemend_repair *repair, size_t count, enum report_fate fate,
		       struct tracemend_range (*get)(const struct tracemend_repair *repair, size_t index))
{
	for (size_t i = 0; i < count; i++) {
		struct tracemend_range r = get(repair, i);
		for (uint64_t k = 0; k < (r.times ? r.times : 1); k++)
			map_fate(m, r.input, fate, r.from + k * r.repeat_from, r.length);
		if (fate != REPORT_DROPPED || r.times > 1 || m->failed)
			continue;
		if (array_room(&m->drops, &m->drop_capacity, m->drop_count, sizeof(*m->drops), PLAN_RANGES_MAX) != TM_OK) {
			m->failed = true;
			return;
		}
		m->drops[m->drop_count++] = (struct report_drop){ (uint32_t)r.input, r.from, r.length };
	}
}

void report_map_repair(struct report_map *m, const struct tracemend_repair *repair)
{
	m->repair = true;
	map_ranges(m, repair, tracemend_repair_dropped_count(repair), REPORT_DROPPED, tracemend_repair_dropped);
	map_ranges(m, repair, tracemend_repair_doubtful_count(repair), REPORT_DOUBTFUL, tracemend_repair_doubtful);
	for (size_t i = 0; i < tracemend_repair_output_count(repair); i++)
		map_output(m, repair, i);
	if (m->drop_count)
		qsort(m->drops, m->drop_count, sizeof(*m->drops), drop_compare);
	/* A changed byte was dropped, and a literal stands in its place: it is shown once. */
	for (size_t i = 0; i < m->count; i++) {
		struct report_strip *s = &m->strips[i];
		uint64_t changed = s->fate[REPORT_CHANGED];
		s->fate[REPORT_DROPPED] -= changed < s->fate[REPORT_DROPPED] ? changed : s->fate[REPORT_DROPPED];
		for (uint32_t k = 0; s->bins && k < s->bins->count; k++) {
			uint64_t *dropped = &s->bins->fate[REPORT_DROPPED][k];
			changed = s->bins->fate[REPORT_CHANGED][k];
			*dropped -= changed < *dropped ? changed : *dropped;
		}
	}
}

bool report_map_dropped(const struct report_map *m, size_t strip, uint64_t from, uint64_t to)
{
	const struct report_drop *d = m->drops;
	size_t i; /* the first that begins at from or behind it */

	array_search(i, m->drop_count, d[i].strip < strip || (d[i].strip == strip && d[i].from < from));
	return i < m->drop_count && d[i].strip == strip && d[i].from < to;
}

/* ---- records ---- */

static void map_record(void *ctx, const struct tracemend_record *r)
{
	struct report_map *m = ctx;
	size_t strip = m->drop_count && !r->rule ? report_map_strip(m, r->file) : SIZE_MAX;
	bool gap = false;

	if (strip != SIZE_MAX) {
		uint64_t from = strip == m->at_strip ? m->at : 0;
		gap = r->offset > from && report_map_dropped(m, strip, from, r->offset);
		m->at_strip = (uint32_t)strip;
		m->at = r->offset + r->length;
	}
	m->failed |= !report_times_take(&m->times, r, gap);
}

void report_map_listen(struct report_map *m, struct tracemend_options *options)
{
	options->record = map_record;
	options->record_ctx = m;
	options->arguments = false;
	options->observe = map_observe;
	options->observe_ctx = m;
}

void report_map_settle(struct report_map *m)
{
	size_t room = REPORT_STRIPS - m->binned;

	report_times_settle(&m->times);
	for (size_t i = 0; i < m->count; i++) {
		struct report_strip *s = &m->strips[i];
		s->shown = s->bins || (s->file && room);
		room -= s->shown && !s->bins;
	}
}
