/* Format 1.0: event types whose declarations are lost, and whose events tell their sizes in their headers. Events are counted from
 * the start of each block on, as long as they lead to the next one. Where all events of a type have one size, values of that size
 * describe them; where the sizes differ, the values and texts do that end where each event does. Compact events tell no size. */
#include <stdlib.h>

#include "formats/lttng/salvage/lttng_model.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Types that are found out. */
#define TYPES_MAX 256u
/* Events of a type by which texts are found. */
#define SEEN_MAX 24u
/* Events of a type that nothing declares, by which it is one. */
#define MET_MIN 3u
/* Bytes of values that one format can describe. */
#define VALUES_MAX 400u

/* An event of a lost type. */
struct lttng_told_event {
	struct lttng_file *file;
	uint64_t base;		/* of its block */
	uint64_t payload, size; /* rel */
};

struct lttng_told_type {
	struct lttng_restored is;
	struct lttng_told_event seen[SEEN_MAX];
	uint64_t count, at, header; /* events; where the first is in its file, and bytes of its header */
	bool vary;		    /* their sizes differ */
};

struct lttng_told {
	struct lttng_trace *t;
	struct lttng_told_type *types[TYPES_MAX]; /* owned */
	unsigned count;
};

static bool is_unknown(enum lttng_defect defect)
{
	return defect == EVENT_DANGLING || defect == EVENT_NO_FORMAT;
}

/* Whether it can be an event behind one of that stamp. */
static bool is_plausible(const struct lttng_walk *w, enum lttng_defect defect, const struct lttng_event *e, uint64_t stamp)
{
	const bool ends = defect == EVENT_OK ? e->end != 0 : is_unknown(defect) && e->sized_end;
	return ends && e->word && e->stamp <= w->end && e->stamp >= stamp;
}

/* Whether the next event is where the size of this one says, or the data ends there. */
static bool leads_on(const struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_event next;
	const enum lttng_defect defect = lttng_event_decode(&w->in, e->sized_end, w->limit, e->stamp, &next);
	return defect == EVENT_END || is_plausible(w, defect, &next, e->stamp);
}

/* The type of that number; NULL: it is not to be found out, or t->status. */
static struct lttng_told_type *type_of(struct lttng_told *told, struct lttng_channel *c, uint32_t id)
{
	struct lttng_trace *t = told->t;
	struct lttng_marker *m = lttng_table_make(t, c->table, id);

	for (unsigned i = 0; m && i < told->count; i++)
		if (told->types[i]->is.marker == m)
			return told->types[i];
	if (!m || told->count == TYPES_MAX || (m->type.name && strlen(m->type.name) > LTTNG_RESTORED_NAMES) ||
	    (!t->declared.lost && !m->type.declared))
		return NULL;
	struct lttng_told_type *type = calloc(1, sizeof(*type));
	if (!type) {
		(void)lttng_no_memory(t);
		return NULL;
	}
	type->is = (struct lttng_restored){ .channel = c, .marker = m, .named = m->type.declared };
	told->types[told->count++] = type;
	return type;
}

static void take(struct lttng_told *told, const struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_told_type *type = type_of(told, w->file->channel, e->id);

	if (!type)
		return;
	if (!type->count) {
		type->at = w->in.base + e->start;
		type->header = e->payload - e->start;
	}
	type->vary |= type->count && e->size != type->seen[0].size;
	if (type->count < SEEN_MAX)
		type->seen[type->count] =
			(struct lttng_told_event){ .file = w->file, .base = w->in.base, .payload = e->payload, .size = e->size };
	type->count++;
}

/* Takes the events of a block, as far as they follow each other. */
static void take_block(struct lttng_told *told, struct lttng_walk *w)
{
	struct lttng_trace *t = told->t;
	struct lttng_event e;

	while (t->status == TM_OK && t->window.status == TM_OK) {
		const enum lttng_defect defect = lttng_event_decode(&w->in, w->at.rel, w->limit, w->at.stamp, &e);
		if (!is_plausible(w, defect, &e, w->at.stamp))
			return;
		if (is_unknown(defect)) {
			if (!leads_on(w, &e))
				return;
			take(told, w, &e);
			e.end = e.sized_end;
		}
		w->at.rel = e.end;
		w->at.stamp = e.stamp;
	}
}

static void take_file(struct lttng_told *told, struct lttng_file *f)
{
	struct lttng_trace *t = told->t;
	struct lttng_frame frame;
	struct lttng_header h;

	f->channel->table = t->declared.table;
	window_reset(&t->window, f->source);
	for (uint64_t at = 0; t->status == TM_OK && lttng_frame_at(t, f, at, &frame); at = frame.offset + frame.length) {
		if (frame.from != frame.offset || !lttng_header_at(t, f, at, &h) || h.v[LF_BEGIN] > h.v[LF_END])
			continue;
		const uint64_t data = lttng_header_data_end(t->coding.layout, &h, frame.length);
		struct lttng_walk w = { .in = lttng_stream_open(t, f, at),
					.file = f,
					.limit = data < frame.length ? data : frame.length,
					.begin = h.v[LF_BEGIN],
					.end = h.v[LF_END],
					.at = { .rel = t->coding.layout->size, .stamp = h.v[LF_BEGIN] } };
		take_block(told, &w);
	}
}

/* Whether the models' values and texts end where an event does. */
static void observe(struct lttng_trace *t, const struct lttng_told_event *e, struct lttng_model_score scores[MODELS])
{
	const struct lttng_stream in = lttng_stream_open(t, e->file, e->base);
	const uint64_t told_end = e->payload + e->size;
	struct lttng_model_memo memo = { 0 };

	if (t->window.source != e->file->source)
		window_reset(&t->window, e->file->source);
	for (unsigned i = MODELS_PLAIN; i < MODELS && t->window.status == TM_OK; i++) {
		if (scores[i].excluded)
			continue;
		const struct lttng_model m = lttng_model_at(t, i);
		const uint64_t end = lttng_model_end(t, &in, &m, e->payload, told_end, &memo);
		scores[i].excluded |= !m.distinct || end != told_end;
		if (!scores[i].excluded)
			lttng_model_observe(t, &m, e->base + e->payload, e->base + end, end, &scores[i], &memo);
	}
}

/* The values and texts that describe the events. False: none do, or t->status. */
static bool find_model(struct lttng_trace *t, const struct lttng_told_type *type, struct lttng_model *found)
{
	const uint64_t count = type->count < SEEN_MAX ? type->count : SEEN_MAX;
	uint32_t readable = 0;

	if (!type->vary) {
		*found = (struct lttng_model){ .before = (uint16_t)type->seen[0].size, .wide = true };
		return type->seen[0].size <= VALUES_MAX;
	}
	struct lttng_model_score *scores = calloc(MODELS, sizeof(*scores));
	if (!scores)
		return lttng_no_memory(t);
	/* All models of one event, and then of the next, which may be in another file. */
	for (uint64_t i = 0; i < count; i++)
		observe(t, &type->seen[i], scores);
	for (unsigned i = MODELS_PLAIN; i < MODELS && t->window.status == TM_OK; i++) {
		if (scores[i].excluded || scores[i].readable_texts < readable)
			continue;
		/* Of those alike, the first has the fewest values before its texts. */
		if (!readable || scores[i].readable_texts > readable)
			*found = lttng_model_at(t, i);
		readable = scores[i].readable_texts ? scores[i].readable_texts : 1;
	}
	free(scores);
	return readable != 0;
}

static void report(struct lttng_trace *t, const struct lttng_told_type *type)
{
	const unsigned rule = type->is.named ? LTTNG_RULE_event_without_format : LTTNG_RULE_dangling_event_id;
	/* What lost the declaration was reported, unless that was not seen. */
	const enum tracemend_severity severity = t->declared.broken ? TM_NOTE : lttng_rules[rule].severity;
	struct finding *fd = finding_milder(t->s->findings, rule, severity, type->seen[0].file->source, type->at, type->header);

	finding_say(fd, "the declaration of event type %u is lost; %llu of its events tell their sizes in their headers",
		    type->is.marker->type.id, (unsigned long long)type->count);
}

/* Describes a type again. False: nothing describes it, or t->status. */
static bool restore(struct lttng_trace *t, struct lttng_told_type *type)
{
	char format[LTTNG_RESTORED_FORMAT];
	struct lttng_model m;

	if (!find_model(t, type, &m))
		return false;
	lttng_model_format(format, &m);
	type->is.format = lttng_restore(t, type->is.channel, type->is.marker, format);
	if (type->is.format)
		report(t, type);
	return type->is.format != NULL;
}

/* Describes all types, and has repair declare them. Whether there were any. */
static bool restore_all(struct lttng_told *told, struct lttng_file *home)
{
	struct lttng_trace *t = told->t;
	struct lttng_restored found[TYPES_MAX];
	size_t count = 0;

	for (unsigned i = 0; i < told->count && t->status == TM_OK; i++) {
		const struct lttng_told_type *type = told->types[i];
		/* Where no loss was seen, one event of a type may be a hit. */
		const uint64_t enough = !t->declared.unseen || type->is.named ? 1 : MET_MIN;
		if (type->count >= enough && restore(t, told->types[i]))
			found[count++] = type->is;
	}
	if (count && t->s->plan && t->status == TM_OK)
		lttng_redeclare(t, home, found, count);
	return count && t->status == TM_OK;
}

bool lttng_told(struct lttng_trace *t, struct lttng_file *home)
{
	struct lttng_told told = { .t = t };

	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->channel && !f->metadata && !f->aside && !f->empty && !f->compact)
			take_file(&told, f);
	}
	const bool found = restore_all(&told, home);
	if (t->window.status != TM_OK)
		t->status = t->window.status;
	for (unsigned i = 0; i < told.count; i++)
		free(told.types[i]);
	return found && t->status == TM_OK;
}
