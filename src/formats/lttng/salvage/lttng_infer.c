/* Event types whose declarations are lost. An event of 2.x does not tell how long it is, so that one lost declaration costs all
 * that stands behind its events, block for block. But the event behind tells: at the right length there is one whose clock goes on
 * from this one's, at any other chance decides, and 27 bits of clock are rarely close by chance. A length that all events of a type
 * bear out is taken for theirs. Repair writes declarations by what was found, under made-up names, so that readers get on. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/lttng/salvage/lttng_model.h"
#include "formats/lttng/salvage/lttng_path.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Types that are looked for, and places where the walk stands before one of them. */
#define TYPES_MAX 128u
#define PLACES_MAX 512u
/* Blocks of a file that are looked at, and bytes of all blocks that are walked. */
#define BLOCKS 16u
#define WALK (256u * 1024 * 1024)
/* Bytes that the search for ways may look at: so many, and more for each byte of the blocks; in all no more than BUDGET_MAX. To ask
 * an event about all models costs some, too, and to begin a search anew. */
#define BUDGET_MIN (1536u * 1024)
#define BUDGET_EACH 64u
#define BUDGET_MAX (16u * 1024 * 1024)
#define HEAR_COST (MODELS / 2)
#define TRY_COST 16u
/* Events by which a type is judged. */
#define HEARD_MAX 24u
/* Bits by which an answer must be better than the next. First the types are learned that are clear: what is behind their events
 * tells more of the others. */
#define STAGES 3u
static const uint32_t proof[STAGES] = { 60, 36, 20 };
/* How far ids are thought of beyond those that are declared, where that is enough. */
#define BEYOND 8u
/* Where models are tried one by one: bytes behind a place, and places; bits that no way is beyond, and by which one may be behind.
 */
#define TRY_SPAN 1024u
#define TRY_PLACES 8u
#define TRY_PROOF 6u
#define TRY_WORST 32768
#define TRY_BEHIND 64u
/* Bits of an event, on average, that may be against it. */
#define AGAINST 10u

/* An event of a type that is not known, on the likeliest way. */
struct use {
	struct lttng_walk walk;		   /* of its block */
	uint64_t rel;			   /* behind its header */
	uint64_t size;			   /* that its header tells; UINT64_MAX: none */
	bool sure;			   /* it is known that it is there */
	uint8_t worse[PATH_GAP_MAX + 1];   /* bits against a next event so many bytes on */
	uint8_t against[PATH_GAP_MAX + 1]; /* the same of a payload that ends there, of which padding tells, too */
};

struct place {
	struct lttng_file *file;
	uint64_t base, limit, begin, end; /* of its block */
	uint64_t rel, stamp;
	uint64_t ahead, ahead_stamp; /* how far ways were looked for */
	uint32_t id;		     /* of the event there */
	uint32_t highest;	     /* id that is declared */
	bool stands;		     /* before an event whose type is not known */
};

struct type {
	struct lttng_restored is;
	struct lttng_model_score *scores; /* MODELS; owned. NULL: no event was heard, or it is known */
	const struct lttng_file *file;	  /* of the first event that was heard, */
	uint64_t at, header;		  /* where it is, and bytes of its header */
	unsigned count;			  /* events that were heard */
	unsigned judged;		  /* the same when it was judged last: */
	unsigned best;			  /* the model */
	uint32_t margin, bits;		  /* how much better it is than others; what speaks against it */
	bool news;			  /* it has just become known */
};

struct inference {
	struct lttng_trace *t;
	struct type *types; /* TYPES_MAX */
	struct place places[PLACES_MAX];
	struct lttng_restored found[TYPES_MAX];
	struct lttng_model models[MODELS];
	struct lttng_model_score scores[MODELS];
	unsigned place_count, type_count, found_count;
	uint32_t walk; /* bytes that may still be walked */
	struct lttng_path path;
};

/* ---- places ---- */

static struct lttng_walk walk_from(struct lttng_trace *t, const struct place *p)
{
	return (struct lttng_walk){ .in = lttng_stream_open(t, p->file, p->base),
				    .file = p->file,
				    .limit = p->limit,
				    .room = p->limit,
				    .begin = p->begin,
				    .end = p->end,
				    .bound = UINT64_MAX,
				    .stale = UINT64_MAX,
				    .at = { .rel = p->rel, .stamp = p->stamp } };
}

static void go_to(struct lttng_trace *t, const struct lttng_file *f)
{
	if (t->window.source != f->source)
		window_reset(&t->window, f->source);
}

static bool is_unknown(enum lttng_defect defect)
{
	return defect == EVENT_DANGLING || defect == EVENT_NO_FORMAT;
}

static bool fits(const struct lttng_walk *w, const struct lttng_event *e)
{
	return e->word && e->stamp <= w->end && (!e->has_full || e->full >= w->at.stamp);
}

static void pass(struct inference *n, struct lttng_walk *w, const struct lttng_event *e)
{
	uint64_t cost = e->end - w->at.rel;
	n->walk -= cost < n->walk ? (uint32_t)cost : n->walk;
	w->at.rel = e->end;
	w->at.stamp = e->stamp;
}

/* Walks on from the place to the next event that cannot be read. */
static void place_advance(struct inference *n, struct place *p)
{
	struct lttng_walk w = walk_from(n->t, p);
	struct lttng_event e;

	go_to(n->t, p->file);
	p->stands = false;
	while (n->walk) {
		enum lttng_defect defect = lttng_event_decode(&w.in, w.at.rel, w.limit, w.at.stamp, &e);
		if (!fits(&w, &e) || (defect != EVENT_OK && !is_unknown(defect)))
			return;
		p->rel = w.at.rel;
		p->stamp = w.at.stamp;
		p->id = e.id;
		if (defect != EVENT_OK) {
			p->ahead = p->rel;
			p->ahead_stamp = p->stamp;
			p->stands = true;
			return;
		}
		pass(n, &w, &e);
	}
}

static uint32_t highest_declared(const struct lttng_table *table)
{
	uint32_t id = table->types.highest;
	for (const struct lttng_marker *m; id && !((m = lttng_table_get(table, id)) && m->type.declared);)
		id--;
	return id;
}

static void gather_blocks(struct inference *n, struct lttng_file *f)
{
	struct lttng_trace *t = n->t;
	struct lttng_frame frame;
	struct lttng_header h;
	uint32_t highest = highest_declared(f->channel->table);
	uint64_t at = 0;

	go_to(t, f);
	for (unsigned i = 0; i < BLOCKS && n->place_count < PLACES_MAX && lttng_frame_at(t, f, at, &frame);
	     i++, at += frame.length) {
		if (!lttng_header_at(t, f, at, &h) || h.v[LF_BEGIN] > h.v[LF_END])
			continue;
		uint64_t data = lttng_header_data_end(t->coding.layout, &h, frame.length);
		if (data <= t->coding.layout->size || data > frame.length)
			continue;
		n->places[n->place_count++] = (struct place){ .file = f,
							      .base = at,
							      .limit = data,
							      .begin = h.v[LF_BEGIN],
							      .end = h.v[LF_END],
							      .rel = t->coding.layout->size,
							      .stamp = h.v[LF_BEGIN],
							      .highest = highest };
		uint64_t budget = n->path.budget + BUDGET_EACH * data;
		n->path.budget = budget < BUDGET_MAX ? (uint32_t)budget : BUDGET_MAX;
	}
	f->resync = 0; /* the file is gone through again from its beginning */
}

/* ---- types ---- */

static struct type *type_of(struct inference *n, const struct lttng_file *f, uint32_t id)
{
	const struct lttng_channel *c = f->channel;
	struct lttng_marker *m = lttng_table_make(n->t, c->table, id);
	for (unsigned i = 0; m && i < n->type_count; i++)
		if (n->types[i].is.marker == m)
			return &n->types[i];
	bool too_long = strlen(c->name) + (m && m->type.name ? strlen(m->type.name) : 0) > LTTNG_RESTORED_NAMES;
	if (!m || n->type_count == TYPES_MAX || too_long)
		return NULL;
	n->types[n->type_count].is = (struct lttng_restored){ .channel = c, .marker = m, .named = m->type.declared };
	return &n->types[n->type_count++];
}

/* ---- the evidence ---- */

static bool path_find(struct inference *n, const struct place *p, const struct lttng_walk *w)
{
	struct lttng_path *path = &n->path;

	path->highest = p->highest;
	path->span = PATH_SPAN;
	path->known_only = false;
	path->beyond = BEYOND;
	if (lttng_path_find(n->t, w, path))
		return true;
	path->beyond = UINT16_MAX;
	return lttng_path_find(n->t, w, path);
}

/* Where the next event begins, or the data ends. */
static uint64_t next_event(const struct lttng_walk *w, uint64_t align, uint64_t end)
{
	return end == w->limit ? end : lttng_align(end, align);
}

/* No model has been heard yet. */
static void begin_scores(const struct inference *n, struct lttng_model_score scores[MODELS])
{
	memset(scores, 0, sizeof(*scores) * MODELS);
	for (unsigned i = 0; i < MODELS; i++)
		scores[i].out = !n->models[i].counts;
}

static void weigh_ends(struct use *u, uint64_t align)
{
	for (uint64_t length = 0; length <= PATH_GAP_MAX; length++) {
		uint64_t end = u->rel + length, next = next_event(&u->walk, align, end);
		bool heard = end <= u->walk.limit && next - u->rel <= PATH_GAP_MAX;
		u->against[length] = heard ? u->worse[next - u->rel] : PATH_WORST;
		const uint8_t *padding = heard && next > end ? lttng_stream_at(&u->walk.in, end, next - end) : NULL;
		if (padding && !bytes_are_zero(padding, (size_t)(next - end)))
			u->against[length] += PATH_WORST;
	}
}

/* What the event says to a model. */
static void hear_model(struct lttng_trace *t, const struct use *u, uint64_t align, const struct lttng_model *m,
		       struct lttng_model_score *score, struct lttng_model_memo *memo)
{
	const uint64_t payload = lttng_align(u->rel, m->align), end = lttng_model_end(t, &u->walk, m, payload, memo);
	const uint64_t next = next_event(&u->walk, align, end);
	const bool heard = end && end <= u->walk.limit && next - u->rel <= PATH_GAP_MAX;

	score->bits += heard ? u->against[end - u->rel] : PATH_WORST;
	if (u->size != UINT64_MAX && end - payload != u->size) {
		score->bits += PATH_WORST;
		score->out |= u->sure;
	}
	lttng_model_hear(t, m, u->walk.in.base + payload, heard ? u->walk.in.base + end : 0, next, score, memo);
}

/* What the event, which begins there, says of its type. The window is at its file. */
static void hear(struct inference *n, struct type *type, struct use *u, uint64_t start)
{
	const uint64_t align = lttng_event_align(&n->t->coding, false);
	struct lttng_model_memo memo = { 0 };

	if (!type->scores) {
		type->count = 0;
		type->scores = malloc(sizeof(*type->scores) * MODELS);
	}
	if (!type->scores) {
		(void)lttng_no_memory(n->t);
		return;
	}
	if (!type->count++) {
		begin_scores(n, type->scores);
		type->file = u->walk.file;
		type->at = u->walk.in.base + start;
		type->header = u->rel - start;
	}
	lttng_path_spend(&n->path, HEAR_COST);
	weigh_ends(u, align);
	for (unsigned i = 0; i < MODELS; i++)
		if (!type->scores[i].out)
			hear_model(n->t, u, align, &n->models[i], &type->scores[i], &memo);
}

/* What the likeliest way from the place says of the types on it. */
static void listen(struct inference *n, struct place *p)
{
	struct lttng_path *path = &n->path;
	struct lttng_walk w = walk_from(n->t, p);
	uint32_t spot = 0;

	go_to(n->t, p->file);
	w.at.rel = p->ahead;
	w.at.stamp = p->ahead_stamp;
	if (!path_find(n, p, &w)) {
		p->ahead = p->limit;
		return;
	}
	while (spot < path->count && (path->ends || spot < path->count / 2)) {
		const struct lttng_spot *s = &path->spots[spot];
		struct type *type = s->kind == SPOT_UNKNOWN ? type_of(n, p->file, s->id) : NULL;
		if (type && type->count < HEARD_MAX) {
			struct use use = {
				.walk = w, .rel = path->first + s->header_end, .size = s->size, .sure = !spot && p->ahead == p->rel
			};
			lttng_path_gaps(path, spot, use.worse);
			hear(n, type, &use, path->first + spot);
		}
		p->ahead_stamp = s->stamp;
		spot = lttng_path_next(path, spot);
	}
	p->ahead = path->first + spot;
}

/* From the places on that stand before what is not known. Whether there was something to listen to. */
static bool listen_on(struct inference *n)
{
	bool heard = false;
	for (unsigned i = 0; i < n->place_count && n->path.budget && n->t->status == TM_OK; i++) {
		struct place *p = &n->places[i];
		const struct type *type = p->stands && p->ahead < p->limit ? type_of(n, p->file, p->id) : NULL;
		if (!type || type->count == HEARD_MAX)
			continue;
		listen(n, p);
		heard = true;
	}
	return heard;
}

/* What all events of the type that were heard say. */
static void judge(struct inference *n, struct type *type)
{
	if (type->judged == type->count)
		return;
	type->judged = type->count;
	type->best = n->path.budget ? lttng_model_best(n->models, type->scores, &type->margin) : MODELS;
	type->bits = type->best < MODELS ? type->scores[type->best].bits : UINT32_MAX;
}

/* How the way goes on by a model, from a place that stands before an event of the type. */
static void try_model(struct inference *n, const struct place *p, struct lttng_marker *marker, const struct lttng_model *m,
		      struct lttng_model_score *score, struct lttng_model_memo *memo)
{
	struct lttng_walk w = walk_from(n->t, p);
	struct lttng_step steps[MODEL_STEPS];
	struct lttng_event e;

	marker->type.shape = lttng_model_shape(n->t, m, steps);
	lttng_path_spend(&n->path, TRY_COST);
	if (lttng_event_decode(&w.in, w.at.rel, w.limit, w.at.stamp, &e) != EVENT_OK) {
		score->out = true;
		return;
	}
	lttng_model_hear(n->t, m, p->base + e.payload, p->base + e.end,
			 next_event(&w, lttng_event_align(&n->t->coding, false), e.end), score, memo);
	n->path.highest = p->highest;
	n->path.span = TRY_SPAN;
	n->path.beyond = UINT16_MAX;
	n->path.known_only = true;
	score->bits += lttng_path_find(n->t, &w, &n->path) ? (uint32_t)(TRY_WORST - n->path.spots[0].beta) : 2 * TRY_WORST;
}

/* Tries the models one by one where a place stands before an event of the type. The best; MODELS: there is no such place. */
static unsigned try_models(struct inference *n, struct type *type, uint32_t *margin)
{
	struct lttng_marker *marker = type->is.marker;
	const struct lttng_marker was = *marker;
	unsigned tried = 0;

	begin_scores(n, n->scores);
	marker->type.declared = true;
	for (unsigned i = 0; i < n->place_count && tried < TRY_PLACES && n->path.budget && n->t->window.status == TM_OK; i++) {
		const struct place *p = &n->places[i];
		uint32_t least = UINT32_MAX;
		if (!p->stands || p->id != was.type.id || p->file->channel->table != type->is.channel->table)
			continue;
		go_to(n->t, p->file);
		tried++;
		struct lttng_model_memo memo = { 0 };
		for (unsigned j = 0; j < MODELS && n->path.budget; j++) {
			struct lttng_model_score *score = &n->scores[j];
			if (!score->out)
				try_model(n, p, marker, &n->models[j], score, &memo);
			if (!score->out && score->bits < least)
				least = score->bits;
		}
		for (unsigned j = 0; j < MODELS; j++)
			n->scores[j].out |= n->scores[j].bits > least + TRY_BEHIND;
	}
	*marker = was;
	return tried && n->path.budget ? lttng_model_best(n->models, n->scores, margin) : MODELS;
}

/* ---- what was found ---- */

static void say_found(struct inference *n, const struct type *type, const struct lttng_model *m)
{
	struct lttng_trace *t = n->t;
	unsigned rule = type->is.named ? LTTNG_RULE_event_without_format : LTTNG_RULE_dangling_event_id;
	struct finding *fd = finding_milder(t->s->findings, rule, TM_NOTE, type->file->source, type->at, type->header);
	char length[64];

	if (m->texts)
		(void)snprintf(length, sizeof(length), "%u bytes, %s and %u bytes", m->before,
			       m->texts > 1 ? "two texts" : "a text", m->after);
	else
		(void)snprintf(length, sizeof(length), "%u bytes", m->before);
	finding_say(fd,
		    "the declaration of event type %u of %s is lost; what stands behind %u of its events shows that each has %s",
		    type->is.marker->type.id, type->is.channel->name, type->count, length);
}

/* The first size that a header tells of an event of the type, whose shape is set for the time being; UINT64_MAX: none does. */
static uint64_t size_told(struct inference *n, const struct type *type)
{
	for (unsigned i = 0; i < n->place_count; i++) {
		struct lttng_walk w = walk_from(n->t, &n->places[i]);
		struct lttng_event e;
		if (w.file->channel->table != type->is.channel->table)
			continue;
		go_to(n->t, w.file);
		while (n->walk && n->t->window.status == TM_OK) {
			enum lttng_defect defect = lttng_event_decode(&w.in, w.at.rel, w.limit, w.at.stamp, &e);
			if (e.type == &type->is.marker->type && e.size_width && (defect == EVENT_OK || defect == EVENT_SIZE))
				return e.size;
			if (defect != EVENT_OK)
				break;
			pass(n, &w, &e);
		}
	}
	return UINT64_MAX;
}

/* Payloads that padding makes alike are told apart by a size, if any is told. */
static struct lttng_model fit_size(struct inference *n, const struct type *type, struct lttng_model m)
{
	struct lttng_marker *marker = type->is.marker;
	const struct lttng_marker was = *marker;
	struct lttng_step steps[MODEL_STEPS];
	const uint64_t align = lttng_event_align(&n->t->coding, false);

	if (m.texts || !align)
		return m;
	marker->type.declared = true;
	marker->type.shape = lttng_model_shape(n->t, &m, steps);
	uint64_t size = size_told(n, type);
	*marker = was;
	if (size <= MODEL_VALUES_MAX && (size > m.before ? size - m.before : m.before - size) < align)
		m.before = (uint16_t)size;
	return m;
}

/* The type becomes known by that model. */
static bool type_learn(struct inference *n, struct type *type, unsigned model)
{
	char format[LTTNG_RESTORED_FORMAT];
	struct lttng_model m = fit_size(n, type, n->models[model]);

	lttng_model_format(format, &m);
	type->is.format = lttng_restore(n->t, type->is.channel, type->is.marker, format);
	if (!type->is.format)
		return false;
	type->news = true;
	free(type->scores);
	type->scores = NULL;
	n->found[n->found_count++] = type->is;
	say_found(n, type, &m);
	return true;
}

static bool may_learn(const struct inference *n, const struct type *type)
{
	return type->count && !type->is.format && n->t->status == TM_OK && n->t->window.status == TM_OK;
}

/* Whether types became known that are proven so well. */
static bool learn_types(struct inference *n, uint32_t bits)
{
	bool learned = false;
	for (unsigned i = 0; i < n->type_count; i++) {
		struct type *type = &n->types[i];
		if (!may_learn(n, type))
			continue;
		judge(n, type);
		if (type->best < MODELS && type->margin >= bits && type->bits <= AGAINST * type->count)
			learned |= type_learn(n, type, type->best);
	}
	return learned;
}

/* The same where that was not enough. Both ways to judge may agree. */
static bool learn_by_trial(struct inference *n)
{
	for (unsigned i = 0; i < n->type_count; i++) {
		struct type *type = &n->types[i];
		uint32_t margin;
		if (!may_learn(n, type))
			continue;
		judge(n, type);
		unsigned best = try_models(n, type, &margin);
		uint32_t agrees = best == type->best ? type->margin : 0;
		if (best < MODELS && (margin >= TRY_PROOF || agrees >= TRY_PROOF - margin) && type_learn(n, type, best))
			return true;
	}
	return false;
}

/* Whether a type of that table has just become known. */
static bool has_news(const struct inference *n, const struct lttng_table *table)
{
	for (unsigned i = 0; i < n->type_count; i++)
		if (n->types[i].news && n->types[i].is.channel->table == table)
			return true;
	return false;
}

/* Where there is news, all is heard anew. */
static void start_again(struct inference *n)
{
	for (unsigned i = 0; i < n->place_count; i++)
		if (has_news(n, n->places[i].file->channel->table))
			place_advance(n, &n->places[i]);
	for (unsigned i = 0; i < n->type_count; i++)
		if (has_news(n, n->types[i].is.channel->table))
			n->types[i].count = n->types[i].judged = 0;
	for (unsigned i = 0; i < n->type_count; i++)
		n->types[i].news = false;
}

/* One type after the other becomes known, and with it the way to the next. */
static void learn(struct inference *n)
{
	for (unsigned i = 0; i < n->place_count; i++)
		place_advance(n, &n->places[i]);
	for (unsigned stage = 0; stage < STAGES && n->t->window.status == TM_OK && n->t->status == TM_OK;) {
		bool heard = listen_on(n), learned = learn_types(n, proof[stage]);
		if (!learned && heard)
			continue;
		if (!learned && ++stage == STAGES)
			learned = learn_by_trial(n);
		if (learned) {
			start_again(n);
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

/* Channels of which nothing was found out are as before. */
static void close_tables(struct inference *n)
{
	for (struct lttng_channel *c = n->t->declared.channels; c; c = c->hh.next) {
		bool found = !c->opened;
		for (unsigned i = 0; i < n->found_count && !found; i++)
			found = n->found[i].channel == c;
		if (!found) {
			lttng_table_free(c->table);
			c->table = NULL;
		}
	}
}

void lttng_infer(struct lttng_trace *t)
{
	struct lttng_file *home = lttng_declaring_file(t);

	if (t->coding.layout->era < LTTNG_TRACE_MARKERS || !t->declared.lost || !home)
		return;
	struct inference *n = calloc(1, sizeof(*n));
	if (n)
		n->types = calloc(TYPES_MAX, sizeof(*n->types));
	if (!n || !n->types) {
		free(n);
		(void)lttng_no_memory(t);
		return;
	}
	n->t = t;
	n->walk = WALK;
	n->path.budget = BUDGET_MIN;
	for (unsigned i = 0; i < MODELS; i++)
		n->models[i] = lttng_model_at(t, i);
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (!f->channel || f->metadata || f->aside || f->empty)
			continue;
		open_table(t, f->channel);
		if (f->channel->table)
			gather_blocks(n, f);
	}
	if (t->status == TM_OK)
		learn(n);
	close_tables(n);
	if (t->window.status != TM_OK)
		t->status = t->window.status;
	if (n->found_count && t->s->plan && t->status == TM_OK)
		lttng_redeclare(t, home, n->found, n->found_count);
	for (unsigned i = 0; i < n->type_count; i++)
		free(n->types[i].scores);
	free(n->types);
	free(n);
}
