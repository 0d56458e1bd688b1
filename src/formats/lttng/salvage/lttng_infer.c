/* Event types whose declarations are lost. An event of 2.x does not tell how long it is, so that one lost declaration costs all
 * that stands behind its events, block for block. But the event behind tells: at the right length there is one whose stamp follows
 * this one's, at any other chance decides, and 27 bits of a stamp are rarely close by chance. So the best path through the lattice
 * of candidate events (lttng_lattice.h) is searched, each event of an unknown type on it is an observation of all models of that
 * type's payload (lttng_model.h), and a type is learned when one model is far enough ahead of all others. Repair writes
 * declarations by what was found, under made-up names, so that readers get on. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/lttng/salvage/lttng_model.h"
#include "formats/lttng/salvage/lttng_lattice.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Types that are inferred, and blocks that are walked up to an event of one of them. */
#define TYPES_MAX 128u
/* Types whose two records are there, and say different names. */
#define JOINED_MAX 16u
/* Blocks whose walk meets a number that is missing. */
#define MET_MIN 2u
#define BLOCKS_MAX 512u
/* Blocks of a file that are walked, and bytes of all blocks. */
#define FILE_BLOCKS 16u
#define WALK (256u * 1024 * 1024)
/* Bytes that searches may decode: for each channel so many for each byte of its blocks, and a reserve for all, for channels that
 * have too few; in all no more than BUDGET_MAX. To observe an event costs some, too, since all models are asked, and so does each
 * search, and each so many bytes of a text whose end is searched. So types of one channel that cannot be learned do not cost those
 * of another. */
#define BUDGET_RESERVE (1536u * 1024 / SEARCH_SHARE)
#define BUDGET_EACH (256u / SEARCH_SHARE)
#define BUDGET_CHANNEL (16u * 1024 * 1024)
#define BUDGET_MAX (128u * 1024 * 1024)
/* Ids that are likely where none is declared of a channel: tracers number its types from 0 on. Where blocks begin with events of
 * higher ones, these are. */
#define IDS_LIKELY 128u
#define OBSERVE_COST (MODELS / 2)
/* A model that is tried costs so much, and one more for so many bytes of text. */
#define TRY_COST 16u
#define TRY_TEXT 64u
/* Events by which a type is judged. */
#define OBSERVED_MAX 24u
/* Bits by which a model must be ahead of the next. First the types are learned that are clear: what is behind their events
 * tells more of the others. */
#define STAGES 3u
static const uint32_t margins[STAGES] = { 60, 36, 20 };
/* How far ids may be above those that are declared, in the first search. */
#define BEYOND 8u
/* Where models are tried one by one: bytes behind an event, and blocks; the margin that is enough; a score above that of any path;
 * and how far behind the best a model may be. */
#define TRY_SPAN 1024u
#define TRY_BLOCKS 8u
#define TRY_MARGIN 6u
#define TRY_WORST 32768
#define TRY_BEHIND 64u
/* Events of a type that may be damage to those of others, if there are no more. */
#define RARE_MAX 2u
/* Bits of penalty that the best model may have, on average an event. */
#define PENALTY_MEAN_MAX 10u

/* An event of an unknown type on the best path. */
struct lttng_observation {
	struct lttng_walk walk;			/* of its block */
	uint64_t rel;				/* behind its header */
	uint64_t size;				/* of its payload, by its header; UINT64_MAX: none */
	uint64_t reach;				/* the furthest end of a payload that matters */
	bool certain;				/* it is known that the event is there */
	uint8_t gaps[LATTICE_GAP_MAX + 1];	/* penalties of a next event so many bytes on */
	uint8_t penalties[LATTICE_GAP_MAX + 1]; /* of a payload that ends there: padding that is not zero counts, too */
};

/* A block that is walked. */
struct lttng_infer_block {
	struct lttng_file *file;
	uint64_t base, limit, begin, end;
	uint64_t rel, stamp;		   /* where the walk is */
	uint64_t searched, searched_stamp; /* how far paths were searched from there */
	uint32_t id;			   /* of the event there */
	uint32_t highest;		   /* id that is declared */
	bool stuck;			   /* the type of the event there is not known */
};

/* A type that is not known. */
struct lttng_lost_type {
	struct lttng_restored is;
	struct lttng_model_score *scores; /* MODELS; owned. NULL: no event was observed, or the type was learned */
	const struct lttng_file *file;	  /* of the first event that was observed, */
	uint64_t at, header;		  /* where it is, and bytes of its header */
	unsigned count;			  /* events that were observed */
	unsigned judged;		  /* the same when the models were compared last: */
	unsigned best;			  /* the best model, */
	uint32_t margin, penalty;	  /* by how much it is ahead of others, and what is against it */
	bool learned;			  /* just now */
};

struct lttng_inference {
	struct lttng_trace *t;
	struct lttng_lost_type *types; /* TYPES_MAX; owned */
	struct lttng_infer_block blocks[BLOCKS_MAX];
	struct lttng_restored found[TYPES_MAX + JOINED_MAX];
	struct lttng_model models[MODELS];
	struct lttng_model_score scores[MODELS];
	unsigned block_count, type_count, found_count;
	bool named_only;  /* no damage to the declarations was seen: numbers that are not declared are damage to events */
	uint32_t walk;	  /* bytes that may still be walked */
	uint32_t given;	  /* bytes that searches may decode, of all channels and the reserve */
	uint32_t reserve; /* what is left of it */
	struct lttng_lattice lattice;
};

/* ---- blocks ---- */

static struct lttng_walk walk_from(struct lttng_trace *t, const struct lttng_infer_block *b)
{
	return (struct lttng_walk){ .in = lttng_stream_open(t, b->file, b->base),
				    .file = b->file,
				    .limit = b->limit,
				    .room = b->limit,
				    .begin = b->begin,
				    .end = b->end,
				    .bound = UINT64_MAX,
				    .stale = UINT64_MAX,
				    .at = { .rel = b->rel, .stamp = b->stamp } };
}

static void window_to(struct lttng_trace *t, const struct lttng_file *f)
{
	if (t->window.source != f->source)
		window_reset(&t->window, f->source);
}

static bool is_unknown(enum lttng_defect defect)
{
	return defect == EVENT_DANGLING || defect == EVENT_NO_FORMAT;
}

static bool is_plausible(const struct lttng_walk *w, const struct lttng_event *e)
{
	return e->word && e->stamp <= w->end && (!e->has_full || e->full >= w->at.stamp);
}

static void pass(struct lttng_inference *inf, struct lttng_walk *w, const struct lttng_event *e)
{
	uint64_t cost = e->end - w->at.rel;
	inf->walk -= cost < inf->walk ? (uint32_t)cost : inf->walk;
	w->at.rel = e->end;
	w->at.stamp = e->stamp;
}

/* Walks the block on to the next event that cannot be read. */
static void block_advance(struct lttng_inference *inf, struct lttng_infer_block *b)
{
	struct lttng_walk w = walk_from(inf->t, b);
	struct lttng_event e;

	window_to(inf->t, b->file);
	b->stuck = false;
	while (inf->walk) {
		enum lttng_defect defect = lttng_event_decode(&w.in, w.at.rel, w.limit, w.at.stamp, &e);
		if (!is_plausible(&w, &e) || (defect != EVENT_OK && !is_unknown(defect)))
			return;
		b->rel = w.at.rel;
		b->stamp = w.at.stamp;
		b->id = e.id;
		if (defect != EVENT_OK) {
			b->searched = b->rel;
			b->searched_stamp = b->stamp;
			b->stuck = true;
			return;
		}
		pass(inf, &w, &e);
	}
}

/* The highest id that is declared; UINT32_MAX: none is. */
static uint32_t highest_declared(const struct lttng_table *table)
{
	uint32_t id = table->types.highest + 1;
	for (const struct lttng_marker *m; id && !((m = lttng_table_get(table, id - 1)) && m->type.declared);)
		id--;
	return id - 1;
}

/* The highest id with which a block of a channel begins that has no declared type, its first event being where its header ends; of
 * two blocks or more, so that one that was hit does not count. */
static uint32_t highest_seen(struct lttng_inference *inf, const struct lttng_channel *c)
{
	uint32_t first = 0, second = 0;

	for (unsigned i = 0; i < inf->block_count && inf->t->window.status == TM_OK; i++) {
		const struct lttng_infer_block *b = &inf->blocks[i];
		struct lttng_walk w = walk_from(inf->t, b);
		struct lttng_event e;
		if (b->file->channel != c)
			continue;
		window_to(inf->t, b->file);
		enum lttng_defect defect = lttng_event_decode(&w.in, w.at.rel, w.limit, w.at.stamp, &e);
		if (!is_plausible(&w, &e) || (defect != EVENT_OK && !is_unknown(defect)))
			continue;
		if (e.id > first) {
			second = first;
			first = e.id;
		} else if (e.id > second) {
			second = e.id;
		}
	}
	return second;
}

/* Which ids are likely in the blocks of channels of which none is declared. */
static void expect_ids(struct lttng_inference *inf)
{
	const struct lttng_channel *asked = NULL;
	uint32_t seen = 0;

	for (unsigned i = 0; i < inf->block_count; i++) {
		struct lttng_infer_block *b = &inf->blocks[i];
		if (b->highest != UINT32_MAX)
			continue;
		if (asked != b->file->channel) {
			asked = b->file->channel;
			seen = highest_seen(inf, asked);
		}
		b->highest = seen > IDS_LIKELY ? seen : IDS_LIKELY;
	}
}

/* ---- the budget ---- */

/* Gives a channel bytes to decode, for so many of its blocks. */
static void budget_give(struct lttng_inference *inf, struct lttng_channel *c, uint64_t bytes)
{
	const uint32_t room = BUDGET_MAX - inf->given;
	uint64_t more = BUDGET_EACH * bytes;

	more = more < BUDGET_CHANNEL - c->budget ? more : BUDGET_CHANNEL - c->budget;
	more = more < room ? more : room;
	c->budget += (uint32_t)more;
	inf->given += (uint32_t)more;
}

/* Before searches in blocks of the channel: what it may spend. */
static void budget_open(struct lttng_inference *inf, const struct lttng_channel *c)
{
	inf->lattice.budget = c->budget + inf->reserve;
}

/* After them. */
static void budget_close(struct lttng_inference *inf, struct lttng_channel *c)
{
	const uint32_t spent = c->budget + inf->reserve - inf->lattice.budget;
	const uint32_t own = spent < c->budget ? spent : c->budget;

	c->budget -= own;
	inf->reserve -= spent - own;
	c->unsearched = !inf->lattice.budget;
}

static void gather_blocks(struct lttng_inference *inf, struct lttng_file *f)
{
	struct lttng_trace *t = inf->t;
	struct lttng_frame frame;
	struct lttng_header h;
	uint32_t highest = highest_declared(f->channel->table);
	uint64_t at = 0;

	window_to(t, f);
	for (unsigned i = 0; i < FILE_BLOCKS && inf->block_count < BLOCKS_MAX && lttng_frame_at(t, f, at, &frame);
	     i++, at = frame.offset + frame.length) {
		if (frame.from != frame.offset || !lttng_header_at(t, f, at, &h) || h.v[LF_BEGIN] > h.v[LF_END])
			continue;
		uint64_t data = lttng_header_data_end(t->coding.layout, &h, frame.length);
		if (data > frame.length)
			data = frame.length; /* the block is cut off */
		if (data <= t->coding.layout->size)
			continue;
		inf->blocks[inf->block_count++] = (struct lttng_infer_block){ .file = f,
									      .base = at,
									      .limit = data,
									      .begin = h.v[LF_BEGIN],
									      .end = h.v[LF_END],
									      .rel = t->coding.layout->size,
									      .stamp = h.v[LF_BEGIN],
									      .highest = highest };
		budget_give(inf, f->channel, data);
	}
}

/* ---- types ---- */

static struct lttng_lost_type *type_of(struct lttng_inference *inf, const struct lttng_file *f, uint32_t id)
{
	struct lttng_channel *c = f->channel;
	struct lttng_marker *m = lttng_table_make(inf->t, c->table, id);
	for (unsigned i = 0; m && i < inf->type_count; i++)
		if (inf->types[i].is.marker == m)
			return &inf->types[i];
	bool too_long = strlen(c->name) + (m && m->type.name ? strlen(m->type.name) : 0) > LTTNG_RESTORED_NAMES;
	if (!m || inf->type_count == TYPES_MAX || too_long || (inf->named_only && !m->type.declared))
		return NULL;
	inf->types[inf->type_count].is = (struct lttng_restored){ .channel = c, .marker = m, .named = m->type.declared };
	return &inf->types[inf->type_count++];
}

/* ---- the evidence ---- */

static bool search(struct lttng_inference *inf, const struct lttng_infer_block *b, const struct lttng_walk *w)
{
	struct lttng_lattice *l = &inf->lattice;

	l->highest = b->highest;
	l->span = LATTICE_SPAN;
	l->known_only = false;
	l->beyond = BEYOND;
	if (lttng_lattice_search(inf->t, w, l))
		return true;
	l->beyond = UINT16_MAX;
	return lttng_lattice_search(inf->t, w, l);
}

/* Where the next event begins, or the data ends. */
static uint64_t next_event(const struct lttng_walk *w, uint64_t align, uint64_t end)
{
	return end == w->limit ? end : lttng_align(end, align);
}

/* Nothing was observed yet. */
static void begin_scores(const struct lttng_inference *inf, struct lttng_model_score scores[MODELS])
{
	memset(scores, 0, sizeof(*scores) * MODELS);
	for (unsigned i = 0; i < MODELS; i++)
		scores[i].excluded = !inf->models[i].distinct;
}

static void end_penalties(struct lttng_observation *o, uint64_t align)
{
	for (uint64_t length = 0; length <= LATTICE_GAP_MAX; length++) {
		uint64_t end = o->rel + length, next = next_event(&o->walk, align, end);
		bool possible = end <= o->walk.limit && next - o->rel <= LATTICE_GAP_MAX;
		o->penalties[length] = possible ? o->gaps[next - o->rel] : LATTICE_WORST;
		const uint8_t *padding = possible && next > end ? lttng_stream_at(&o->walk.in, end, next - end) : NULL;
		if (padding && !bytes_are_zero(padding, (size_t)(next - end)))
			o->penalties[length] += LATTICE_WORST;
	}
}

/* Counts the event for or against a model. */
static void observe_model(struct lttng_trace *t, const struct lttng_observation *o, uint64_t align, const struct lttng_model *m,
			  struct lttng_model_score *score, struct lttng_model_memo *memo)
{
	const uint64_t payload = lttng_align(o->rel, m->align), end = lttng_model_end(t, &o->walk.in, m, payload, o->reach, memo);
	const uint64_t next = next_event(&o->walk, align, end);
	const bool possible = end && end <= o->walk.limit && next - o->rel <= LATTICE_GAP_MAX;

	score->penalty += possible ? o->penalties[end - o->rel] : LATTICE_WORST;
	if (o->size != UINT64_MAX && end - payload != o->size) {
		score->penalty += LATTICE_WORST;
		score->excluded |= o->certain;
	}
	lttng_model_observe(t, m, o->walk.in.base + payload, possible ? o->walk.in.base + end : 0, next, score, memo);
}

/* Counts the event at `start` for all models of its type. The window is at its file. */
static void observe(struct lttng_inference *inf, struct lttng_lost_type *type, struct lttng_observation *o, uint64_t start)
{
	const uint64_t align = lttng_event_align(&inf->t->coding, false);
	struct lttng_model_memo memo = { 0 };

	if (!type->scores) {
		type->count = 0;
		type->scores = malloc(sizeof(*type->scores) * MODELS);
	}
	if (!type->scores) {
		(void)lttng_no_memory(inf->t);
		return;
	}
	if (!type->count++) {
		begin_scores(inf, type->scores);
		type->file = o->walk.file;
		type->at = o->walk.in.base + start;
		type->header = o->rel - start;
	}
	lttng_lattice_spend(&inf->lattice, OBSERVE_COST);
	end_penalties(o, align);
	for (unsigned i = 0; i < MODELS; i++)
		if (!type->scores[i].excluded)
			observe_model(inf->t, o, align, &inf->models[i], &type->scores[i], &memo);
}

/* Observes the events of unknown types on the best path from where the block is searched to. */
static void observe_path(struct lttng_inference *inf, struct lttng_infer_block *b)
{
	struct lttng_lattice *l = &inf->lattice;
	struct lttng_walk w = walk_from(inf->t, b);
	uint32_t node = 0;

	window_to(inf->t, b->file);
	w.at.rel = b->searched;
	w.at.stamp = b->searched_stamp;
	if (!search(inf, b, &w)) {
		b->searched = b->limit;
		return;
	}
	while (node < l->count && (l->at_end || node < l->count / 2)) {
		const struct lttng_node *n = &l->nodes[node];
		struct lttng_lost_type *type = n->kind == NODE_UNKNOWN ? type_of(inf, b->file, n->id) : NULL;
		if (type && type->count < OBSERVED_MAX) {
			struct lttng_observation o = { .walk = w,
						       .rel = l->first + n->header_end,
						       .size = n->size,
						       .certain = !node && b->searched == b->rel };
			lttng_lattice_gaps(l, node, o.gaps);
			o.reach = o.rel + LATTICE_GAP_MAX;
			if (n->size != UINT64_MAX)
				o.reach += n->size;
			if (o.reach > w.limit)
				o.reach = w.limit;
			observe(inf, type, &o, l->first + node);
		}
		b->searched_stamp = n->stamp;
		node = lttng_lattice_next(l, node);
	}
	b->searched = l->first + node;
}

/* The same for all blocks whose walk is stuck. Whether something was observed. */
static bool observe_blocks(struct lttng_inference *inf)
{
	bool observed = false;
	for (unsigned i = 0; i < inf->block_count && inf->t->status == TM_OK; i++) {
		struct lttng_infer_block *b = &inf->blocks[i];
		struct lttng_channel *c = b->file->channel;
		const bool may = !c->unsearched && b->stuck && b->searched < b->limit;
		const struct lttng_lost_type *type = may ? type_of(inf, b->file, b->id) : NULL;
		if (!type || type->count == OBSERVED_MAX)
			continue;
		budget_open(inf, c);
		observe_path(inf, b);
		budget_close(inf, c);
		observed = true;
	}
	return observed;
}

/* Compares the models of a type, if events were observed since the last time. */
static void judge(struct lttng_inference *inf, struct lttng_lost_type *type)
{
	if (type->judged == type->count)
		return;
	type->judged = type->count;
	type->best = lttng_model_best(inf->models, type->scores, &type->margin);
	type->penalty = type->best < MODELS ? type->scores[type->best].penalty : UINT32_MAX;
}

/* The score of the best path from an event of the type, if its payload is as the model says. */
static void try_model(struct lttng_inference *inf, const struct lttng_infer_block *b, struct lttng_marker *marker,
		      const struct lttng_model *m, struct lttng_model_score *score, struct lttng_model_memo *memo)
{
	struct lttng_walk w = walk_from(inf->t, b);
	struct lttng_step steps[MODEL_STEPS];
	struct lttng_event e;

	marker->type.shape = lttng_model_shape(inf->t, m, steps);
	lttng_lattice_spend(&inf->lattice, TRY_COST);
	w.in.seen = &memo->seen;
	const enum lttng_defect defect = lttng_event_decode(&w.in, w.at.rel, w.limit, w.at.stamp, &e);
	w.in.seen = NULL;
	if (defect != EVENT_OK) {
		score->excluded = true;
		return;
	}
	lttng_model_observe(inf->t, m, b->base + e.payload, b->base + e.end,
			    next_event(&w, lttng_event_align(&inf->t->coding, false), e.end), score, memo);
	inf->lattice.highest = b->highest;
	inf->lattice.span = TRY_SPAN;
	inf->lattice.beyond = UINT16_MAX;
	inf->lattice.known_only = true;
	score->penalty += lttng_lattice_search(inf->t, &w, &inf->lattice) ? (uint32_t)(TRY_WORST - inf->lattice.nodes[0].backward)
									  : 2 * TRY_WORST;
}

/* Tries the models one by one where a walk is stuck before an event of the type. The best; MODELS: there is no such block. */
static unsigned try_models(struct lttng_inference *inf, struct lttng_lost_type *type, uint32_t *margin)
{
	struct lttng_marker *marker = type->is.marker;
	const struct lttng_marker was = *marker;
	unsigned tried = 0;

	begin_scores(inf, inf->scores);
	marker->type.declared = true;
	for (unsigned i = 0; i < inf->block_count && tried < TRY_BLOCKS && inf->lattice.budget && inf->t->window.status == TM_OK;
	     i++) {
		const struct lttng_infer_block *b = &inf->blocks[i];
		uint32_t least = UINT32_MAX;
		if (!b->stuck || b->id != was.type.id || b->file->channel->table != type->is.channel->table)
			continue;
		window_to(inf->t, b->file);
		tried++;
		struct lttng_model_memo memo = { 0 };
		for (unsigned j = 0; j < MODELS && inf->lattice.budget; j++) {
			struct lttng_model_score *score = &inf->scores[j];
			if (!score->excluded)
				try_model(inf, b, marker, &inf->models[j], score, &memo);
			if (!score->excluded && score->penalty < least)
				least = score->penalty;
		}
		lttng_lattice_spend(&inf->lattice, memo.seen.searched / TRY_TEXT);
		for (unsigned j = 0; j < MODELS; j++)
			inf->scores[j].excluded |= inf->scores[j].penalty > least + TRY_BEHIND;
	}
	*marker = was;
	return tried && inf->lattice.budget ? lttng_model_best(inf->models, inf->scores, margin) : MODELS;
}

/* ---- what was found ---- */

static void report_found(struct lttng_inference *inf, const struct lttng_lost_type *type, const struct lttng_model *m)
{
	struct lttng_trace *t = inf->t;
	unsigned rule = type->is.named ? LTTNG_RULE_event_without_format : LTTNG_RULE_dangling_event_id;
	/* What lost the declaration was reported, unless that was not seen. */
	const enum tracemend_severity severity = t->declared.broken ? TM_NOTE : lttng_rules[rule].severity;
	struct finding *fd = finding_milder(t->s->findings, rule, severity, type->file->source, type->at, type->header);
	char length[64];

	if (m->texts)
		(void)snprintf(length, sizeof(length), "%u bytes, %s and %u bytes", m->before,
			       m->texts > 1 ? "two texts" : "a text", m->after);
	else
		(void)snprintf(length, sizeof(length), "%u bytes", m->before);
	finding_say(
		fd,
		"the declaration of event type %u of %s is lost; the stamps after %u of its events show that its payload has %s",
		type->is.marker->type.id, type->is.channel->name, type->count, length);
}

/* The first size in the header of an event of the type, whose shape is set for the moment; UINT64_MAX: none has one. */
static uint64_t size_told(struct lttng_inference *inf, const struct lttng_lost_type *type)
{
	for (unsigned i = 0; i < inf->block_count; i++) {
		struct lttng_walk w = walk_from(inf->t, &inf->blocks[i]);
		struct lttng_event e;
		if (w.file->channel->table != type->is.channel->table)
			continue;
		window_to(inf->t, w.file);
		while (inf->walk && inf->t->window.status == TM_OK) {
			enum lttng_defect defect = lttng_event_decode(&w.in, w.at.rel, w.limit, w.at.stamp, &e);
			if (e.type == &type->is.marker->type && e.size_width && (defect == EVENT_OK || defect == EVENT_SIZE))
				return e.size;
			if (defect != EVENT_OK)
				break;
			pass(inf, &w, &e);
		}
	}
	return UINT64_MAX;
}

/* Payloads that padding makes alike are told apart by a size, if any is told. */
static struct lttng_model fit_size(struct lttng_inference *inf, const struct lttng_lost_type *type, struct lttng_model m)
{
	struct lttng_marker *marker = type->is.marker;
	const struct lttng_marker was = *marker;
	struct lttng_step steps[MODEL_STEPS];
	const uint64_t align = lttng_event_align(&inf->t->coding, false);

	if (m.texts || !align)
		return m;
	marker->type.declared = true;
	marker->type.shape = lttng_model_shape(inf->t, &m, steps);
	uint64_t size = size_told(inf, type);
	*marker = was;
	if (size <= MODEL_VALUES_MAX && (size > m.before ? size - m.before : m.before - size) < align)
		m.before = (uint16_t)size;
	return m;
}

/* Learns the type by that model. */
static bool type_learn(struct lttng_inference *inf, struct lttng_lost_type *type, unsigned model)
{
	char format[LTTNG_RESTORED_FORMAT];
	struct lttng_model m = fit_size(inf, type, inf->models[model]);

	lttng_model_format(format, &m);
	type->is.format = lttng_restore(inf->t, type->is.channel, type->is.marker, format);
	if (!type->is.format)
		return false;
	type->is.marker->rare = type->count <= RARE_MAX;
	type->learned = true;
	free(type->scores);
	type->scores = NULL;
	inf->found[inf->found_count++] = type->is;
	if (type->is.named && type->is.marker->home && inf->t->s->plan) {
		plan_doubt(inf->t->s->plan, type->is.marker->home, type->is.marker->from, type->is.marker->length,
			   "nothing describes this type: its name or number may be damaged");
		plan_lost_other(inf->t->s->plan);
	}
	report_found(inf, type, &m);
	return true;
}

static bool may_learn(const struct lttng_inference *inf, const struct lttng_lost_type *type)
{
	return type->count && !type->is.format && inf->t->status == TM_OK && inf->t->window.status == TM_OK;
}

/* Learns the types whose best model is ahead by so many bits. Whether there were any. */
static bool learn_types(struct lttng_inference *inf, uint32_t bits)
{
	bool learned = false;
	for (unsigned i = 0; i < inf->type_count; i++) {
		struct lttng_lost_type *type = &inf->types[i];
		if (!may_learn(inf, type))
			continue;
		judge(inf, type);
		if (type->best < MODELS && type->margin >= bits && type->penalty <= PENALTY_MEAN_MAX * type->count)
			learned |= type_learn(inf, type, type->best);
	}
	return learned;
}

/* The same by trying, where observing was not enough. Margins of both count where they agree. */
static bool learn_by_trial(struct lttng_inference *inf)
{
	for (unsigned i = 0; i < inf->type_count; i++) {
		struct lttng_lost_type *type = &inf->types[i];
		uint32_t margin;
		if (!may_learn(inf, type))
			continue;
		judge(inf, type);
		if (type->is.channel->unsearched)
			continue;
		budget_open(inf, type->is.channel);
		unsigned best = try_models(inf, type, &margin);
		budget_close(inf, type->is.channel);
		uint32_t agrees = best == type->best ? type->margin : 0;
		if (best < MODELS && (margin >= TRY_MARGIN || agrees >= TRY_MARGIN - margin) && type_learn(inf, type, best))
			return true;
	}
	return false;
}

/* Whether a type of that table was just learned. */
static bool has_learned(const struct lttng_inference *inf, const struct lttng_table *table)
{
	for (unsigned i = 0; i < inf->type_count; i++)
		if (inf->types[i].learned && inf->types[i].is.channel->table == table)
			return true;
	return false;
}

/* Where a type was learned, its table's other types are observed anew. */
static void observe_again(struct lttng_inference *inf)
{
	for (unsigned i = 0; i < inf->block_count; i++)
		if (has_learned(inf, inf->blocks[i].file->channel->table))
			block_advance(inf, &inf->blocks[i]);
	for (unsigned i = 0; i < inf->type_count; i++)
		if (has_learned(inf, inf->types[i].is.channel->table))
			inf->types[i].count = inf->types[i].judged = 0;
	for (unsigned i = 0; i < inf->type_count; i++)
		inf->types[i].learned = false;
}

/* Whether enough walks of a table's blocks are stuck at that id: a hit to an event is seen once. */
static bool is_met(const struct lttng_inference *inf, const struct lttng_table *table, uint32_t id)
{
	unsigned met = 0;
	for (unsigned i = 0; i < inf->block_count; i++)
		met += inf->blocks[i].stuck && inf->blocks[i].id == id && inf->blocks[i].file->channel->table == table;
	return met >= MET_MIN;
}

/* Types whose number is damaged, where it left a gap. One that is lost leaves a gap as well. */
static void renumber(struct lttng_inference *inf)
{
	if (!inf->named_only)
		return;
	for (unsigned i = 0; i < inf->block_count && inf->found_count < JOINED_MAX && inf->t->status == TM_OK; i++) {
		struct lttng_channel *c = inf->blocks[i].file->channel;
		uint32_t missing, moved;
		if (!inf->blocks[i].stuck || !lttng_orphans_gap(c->table, &missing, &moved) || inf->blocks[i].id != missing ||
		    !is_met(inf, c->table, missing) ||
		    !lttng_orphans_renumber(inf->t, c, missing, moved, &inf->found[inf->found_count]))
			continue;
		inf->found_count++;
		for (unsigned k = 0; k < inf->block_count; k++)
			if (inf->blocks[k].file->channel->table == c->table)
				block_advance(inf, &inf->blocks[k]);
	}
}

/* Learns one type after the other; each makes the walks go on to the next. */
static void learn(struct lttng_inference *inf)
{
	expect_ids(inf);
	for (unsigned i = 0; i < inf->block_count; i++)
		block_advance(inf, &inf->blocks[i]);
	renumber(inf);
	for (unsigned stage = 0; stage < STAGES && inf->t->window.status == TM_OK && inf->t->status == TM_OK;) {
		bool observed = observe_blocks(inf), learned = learn_types(inf, margins[stage]);
		if (!learned && observed)
			continue;
		if (!learned && ++stage == STAGES)
			learned = learn_by_trial(inf);
		if (learned) {
			observe_again(inf);
			stage = 0;
		}
	}
}

/* Channels that no declaration is left of may have lost them all. */
static void open_table(struct lttng_trace *t, struct lttng_channel *c)
{
	if (t->coding.layout->era == LTTNG_TRACE_MARKERS) {
		c->table = t->declared.table;
	} else if (!c->table) {
		c->table = lttng_table_alloc(t, sizeof(*c->table));
		c->opened = c->table != NULL;
	}
}

/* Says of which channels types may have been missed. */
static void report_limits(const struct lttng_inference *inf)
{
	const struct lttng_channel *said = NULL;
	for (unsigned i = 0; i < inf->block_count; i++) {
		const struct lttng_file *f = inf->blocks[i].file;
		if (!f->channel->unsearched || f->channel == said)
			continue;
		said = f->channel;
		struct finding *fd = finding_milder(inf->t->s->findings, LTTNG_RULE_dangling_event_id, TM_WARNING, f->source, 0, 0);
		finding_say(fd,
			    "the search for the sizes of the lost event types of channel %s reached its limit: some may be missed",
			    said->name);
	}
}

/* Channels of which nothing was found out are as before. */
static void close_tables(struct lttng_inference *inf)
{
	for (struct lttng_channel *c = inf->t->declared.channels; c; c = c->hh.next) {
		bool found = !c->opened;
		for (unsigned i = 0; i < inf->found_count && !found; i++)
			found = inf->found[i].channel == c;
		if (!found) {
			lttng_table_free(c->table);
			c->table = NULL;
		}
	}
}

/* A name that has a number and no description: that is lost, or one of them says a wrong name. */
static bool is_torn(const struct lttng_table *table)
{
	for (const struct lttng_name *n = table ? table->names : NULL; n; n = n->hh.next)
		if (!n->format && n->marker)
			return true;
	return false;
}

static bool any_torn(const struct lttng_trace *t)
{
	for (const struct lttng_channel *c = t->declared.channels; c && t->coding.layout->era == LTTNG_CHANNEL_MARKERS;
	     c = c->hh.next)
		if (is_torn(c->table))
			return true;
	return is_torn(t->declared.table);
}

static bool any_gap(const struct lttng_trace *t)
{
	uint32_t missing, moved;

	if (t->coding.layout->era == LTTNG_TRACE_MARKERS)
		return lttng_orphans_gap(t->declared.table, &missing, &moved);
	for (const struct lttng_channel *c = t->declared.channels; c && t->coding.layout->era == LTTNG_CHANNEL_MARKERS;
	     c = c->hh.next)
		if (lttng_orphans_gap(c->table, &missing, &moved))
			return true;
	return false;
}

/* Whether declarations are lost, or say something wrong. A description without a number leaves a gap as well. */
static bool is_needed(struct lttng_trace *t)
{
	if (t->declared.lost)
		return true;
	const bool torn = any_torn(t), moved = !torn && any_gap(t) && !lttng_orphans_any(t);
	if ((!torn && !moved) || t->coding.layout->era == LTTNG_MARKERS)
		t->declared.lost = t->declared.unseen = lttng_probe(t);
	return torn || moved || t->declared.lost;
}

bool lttng_infer(struct lttng_trace *t)
{
	struct lttng_file *home = lttng_declaring_file(t);

	if (t->coding.layout->era < LTTNG_MARKERS || !home || !is_needed(t))
		return false;
	if (t->s->plan)
		lttng_orphans_doubt(t);
	if (t->coding.layout->era == LTTNG_MARKERS)
		return lttng_told(t, home);
	struct lttng_inference *inf = calloc(1, sizeof(*inf));
	if (inf)
		inf->types = calloc(TYPES_MAX, sizeof(*inf->types));
	if (!inf || !inf->types) {
		free(inf);
		return lttng_no_memory(t);
	}
	inf->t = t;
	inf->named_only = !t->declared.lost;
	inf->found_count = lttng_orphans_join(t, inf->found, JOINED_MAX);
	inf->walk = WALK;
	inf->given = inf->reserve = BUDGET_RESERVE;
	for (unsigned i = 0; i < MODELS; i++)
		inf->models[i] = lttng_model_at(t, i);
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (!f->channel || f->metadata || f->aside || f->empty)
			continue;
		if (!inf->named_only || t->coding.layout->era == LTTNG_TRACE_MARKERS)
			open_table(t, f->channel);
		if (f->channel->table)
			gather_blocks(inf, f);
	}
	if (t->status == TM_OK)
		learn(inf);
	report_limits(inf);
	close_tables(inf);
	if (t->window.status != TM_OK)
		t->status = t->window.status;
	const bool found = inf->found_count && t->status == TM_OK;
	if (found && t->s->plan)
		lttng_redeclare(t, home, inf->found, inf->found_count);
	for (unsigned i = 0; i < inf->type_count; i++)
		free(inf->types[i].scores);
	free(inf->types);
	free(inf);
	return found;
}
