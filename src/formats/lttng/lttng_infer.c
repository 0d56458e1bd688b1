/* Event types whose declarations are lost. An event of 2.x does not tell how long it is, so that one lost declaration costs all that
 * stands behind its events, block for block. But the event behind tells: at the right length there is one whose clock goes on from
 * this one's, at any other chance decides, and 27 bits of clock are rarely close by chance. A length that all events of a type bear
 * out is taken for theirs. Repair writes declarations by what was found, under made-up names, so that readers get on. */
#include "lttng.h"

#include <stdio.h>
#include <stdlib.h>

/* Types that are looked for, and places where the walk stands before one of them. */
#define TYPES_MAX 128u
#define PLACES_MAX 512u
/* Blocks of a file that are looked at, and bytes of all blocks. */
#define BLOCKS 16u
#define WALK (256u * 1024 * 1024)
/* Places and events behind each by which a type is judged, and stamps that count behind one of the type. */
#define WITNESSES 24u
#define ROW 24u
#define STAMPS 6u
/* First the types are learned of which so many events are seen, then those of fewer: behind the former may stand more of the latter. */
#define STAGES 3u
static const unsigned stages[STAGES] = { 8, 3, 1 };
/* Bytes behind a place that a model may look at, and all of them together; an event costs no less than COST_MIN. */
#define ROW_REACH 4096u
#define BUDGET (16u * 1024 * 1024)
#define COST_MIN 16u

/* Bits of chance that an answer must be beyond; and on average, of each stamp. */
#define PROOF 36u
#define PROOF_FEW 50u /* of one event or two */
#define PROOF_EACH 7u
/* With so many, more places may be against it. */
#define PROOF_MANY 144u
/* With so many it may be the answer, and no longer one is. */
#define HINT 12u
/* The most that a stamp says, a full one whose low bits agree, too: values of payloads repeat as well. */
#define RARITY_MAX 20u

/* Payloads that are thought of: values, texts, values. */
struct model {
	uint16_t before, after; /* bytes of values */
	uint8_t texts;
	bool wide;		/* the values before hold one of eight bytes */
};
#define VALUES_MAX 192u
#define BEFORE_MAX 32u
#define AFTER_MAX 32u
#define TEXTS_MAX 2u
#define MODELS_PLAIN (2u * (VALUES_MAX + 1)) /* those without texts come first */
#define MODELS (MODELS_PLAIN + 2u * TEXTS_MAX * (BEFORE_MAX + 1) * (AFTER_MAX + 1))
#define STEPS_MAX (2u + TEXTS_MAX)

/* What speaks for a model. */
struct score {
	uint32_t bits, stamps;
	uint32_t length; /* of the events at the places, up to where the next may begin */
	uint32_t uses, heard, against; /* heard: places whose stamps count; against: those where they say little */
	uint32_t texts, clear_texts; /* uses with texts that are not empty; clear: ASCII, with some in a row */
	bool out;	 /* refuted */
};

struct place {
	struct lttng_file *file;
	uint64_t base, limit, begin, end; /* of its block */
	uint64_t rel, stamp;
	uint32_t id;
	bool stands; /* before an event of type `id`, which is not known */
};

struct type {
	struct lttng_restored is;
	unsigned tried[STAGES]; /* places by which it was judged last */
};

struct inference {
	struct lttng_trace *t;
	struct place places[PLACES_MAX];
	struct type types[TYPES_MAX];
	struct lttng_restored found[TYPES_MAX];
	struct score scores[MODELS];
	unsigned place_count, type_count, found_count;
	uint32_t walk;	 /* bytes that may still be walked */
	uint32_t budget; /* and looked at for models */
};

/* ---- places ---- */

static struct lttng_walk walk_from(const struct place *p)
{
	return (struct lttng_walk){ .file = p->file, .base = p->base, .limit = p->limit, .room = p->limit, .begin = p->begin,
				    .end = p->end, .bound = UINT64_MAX, .stale = UINT64_MAX, .rel = p->rel, .stamp = p->stamp };
}

static void go_to(struct lttng_trace *t, const struct lttng_file *f)
{
	if (t->w.source != f->source)
		window_reset(&t->w, f->source);
}

static bool is_unknown(enum lttng_defect defect)
{
	return defect == EVENT_DANGLING || defect == EVENT_NO_FORMAT;
}

static bool fits(const struct lttng_walk *k, const struct lttng_event *e)
{
	return e->word && e->stamp <= k->end && (!e->has_full || e->full >= k->stamp);
}

/* Walks on from the place to the next event that cannot be read. */
static void place_advance(struct inference *n, struct place *p)
{
	struct lttng_walk k = walk_from(p);
	struct lttng_event e;

	go_to(n->t, p->file);
	p->stands = false;
	while (n->walk) {
		enum lttng_defect defect = lttng_event_decode(n->t, &k, k.rel, k.limit, k.stamp, &e);
		if (!fits(&k, &e) || (defect != EVENT_OK && !is_unknown(defect)))
			return;
		p->rel = k.rel;
		p->stamp = k.stamp;
		p->id = e.id;
		if (defect != EVENT_OK) {
			p->stands = true;
			return;
		}
		uint64_t cost = e.end - k.rel;
		n->walk -= cost < n->walk ? (uint32_t)cost : n->walk;
		k.rel = e.end;
		k.stamp = e.stamp;
	}
}

static void gather_blocks(struct inference *n, struct lttng_file *f)
{
	struct lttng_trace *t = n->t;
	struct lttng_frame frame;
	struct lttng_header h;
	uint64_t at = 0;

	go_to(t, f);
	for (unsigned i = 0; i < BLOCKS && n->place_count < PLACES_MAX && lttng_frame_at(t, f, at, &frame); i++, at += frame.length) {
		if (!lttng_header_at(t, f, at, &h) || h.v[LF_BEGIN] > h.v[LF_END])
			continue;
		uint64_t data = lttng_header_data_end(t->layout, &h, frame.length);
		if (data <= t->layout->size || data > frame.length)
			continue;
		n->places[n->place_count++] = (struct place){ .file = f, .base = at, .limit = data, .begin = h.v[LF_BEGIN], .end = h.v[LF_END],
							      .rel = t->layout->size, .stamp = h.v[LF_BEGIN] };
	}
	f->resync = 0; /* the file is gone through again from its beginning */
}

/* ---- models ---- */

static struct model model_at(unsigned i)
{
	if (i < MODELS_PLAIN)
		return (struct model){ .before = (uint16_t)(i / 2), .wide = i % 2 };
	unsigned rest = (i - MODELS_PLAIN) / 2;
	return (struct model){ .wide = i % 2, .after = (uint16_t)(rest % (AFTER_MAX + 1)),
			       .texts = (uint8_t)(1 + rest / (AFTER_MAX + 1) % TEXTS_MAX),
			       .before = (uint16_t)(rest / (AFTER_MAX + 1) / TEXTS_MAX) };
}

/* Whether it is like no other: wide values only where that makes a difference. */
static bool model_counts(const struct lttng_trace *t, const struct model *m)
{
	bool differs = lttng_value_align(t, 8) > lttng_value_align(t, 4);
	return !m->wide || (differs && m->before >= 8);
}

/* The largest value that a row of so many bytes begins with. */
static uint32_t largest(uint32_t bytes, bool wide)
{
	return bytes >= 8 && wide ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
}

static void add_values(const struct lttng_trace *t, struct lttng_shape *s, uint32_t bytes, bool wide)
{
	if (!bytes)
		return;
	uint8_t align = lttng_value_align(t, largest(bytes, wide));
	s->steps[s->count++] = (struct lttng_step){ .kind = STEP_FIXED, .align = align, .pad = 1, .size = bytes };
	s->align = s->align > align ? s->align : align;
}

/* As the model's format would be parsed. steps has room for STEPS_MAX. */
static struct lttng_shape model_shape(const struct lttng_trace *t, const struct model *m, struct lttng_step *steps)
{
	struct lttng_shape s = { .steps = steps, .align = 1 };
	add_values(t, &s, m->before, m->wide);
	for (unsigned i = 0; i < m->texts; i++)
		s.steps[s.count++] = (struct lttng_step){ .kind = STEP_STRING, .align = 1, .pad = 1 };
	add_values(t, &s, m->after, true);
	lttng_shape_finish(&s);
	return s;
}

static size_t print_values(char *to, size_t room, unsigned *number, uint32_t bytes, bool wide)
{
	size_t at = 0;
	while (bytes) {
		uint32_t size = largest(bytes, wide);
		at += (size_t)snprintf(to + at, room - at, "lost_%u #%uu%%%s ", ++*number, size, size == 8 ? "llu" : "u");
		bytes -= size;
	}
	return at;
}

static void model_format(char to[LTTNG_RESTORED_FORMAT], const struct model *m)
{
	unsigned number = 0;
	size_t at = print_values(to, LTTNG_RESTORED_FORMAT, &number, m->before, m->wide);
	for (unsigned i = 0; i < m->texts; i++)
		at += (size_t)snprintf(to + at, LTTNG_RESTORED_FORMAT - at, "lost_%u %%s ", ++number);
	at += print_values(to + at, LTTNG_RESTORED_FORMAT - at, &number, m->after, true);
	if (at)
		to[at - 1] = '\0';
	else
		memcpy(to, " ", 2); /* as tracers write where there are no fields */
}

/* ---- the evidence ---- */

/* How unlikely it is that chance brings a stamp that close. */
static uint32_t rarity(const struct lttng_event *e, uint64_t before)
{
	unsigned bits = LTTNG_TIME_BITS;
	if (e->has_full)
		return RARITY_MAX;
	for (uint64_t delta = e->stamp - before; delta && bits; delta >>= 1)
		bits--;
	return bits < RARITY_MAX ? bits : RARITY_MAX;
}

/* Whether the texts can be texts, and what they look like. */
static bool is_text(struct lttng_trace *t, const struct place *p, const struct lttng_event *e, const struct model *m, struct score *score)
{
	uint64_t from = e->payload + m->before, to = e->end - m->after;
	size_t got, run = 0;
	if (to <= from)
		return false;
	const uint8_t *s = window_upto(&t->w, p->base + from, to - from < 256 ? (size_t)(to - from) : 256, &got);
	bool ascii = true, letters = false;
	for (size_t i = 0; s && i < got; i++) {
		if (s[i] && s[i] < 0x20 && s[i] != '\n' && s[i] != '\t')
			return false;
		ascii = ascii && s[i] < 0x7f;
		run = s[i] >= 0x20 ? run + 1 : 0;
		letters |= run >= 4;
	}
	score->texts += to - from > m->texts;
	score->clear_texts += ascii && letters;
	return s != NULL;
}

struct row {
	unsigned uses, behind; /* behind: events since the last use */
	unsigned first, poor;  /* stamps behind the first use, of two, and those of them that say little */
	uint32_t least;	       /* bits of the stamps behind the last use: none vouches for one before it that is far off */
};

static void row_hears(struct row *r, struct score *score, uint32_t bits)
{
	if (!r->uses || ++r->behind > STAMPS || (r->poor && r->uses > 1))
		return;
	r->least = bits < r->least ? bits : r->least;
	score->bits += r->least;
	score->stamps++;
	if (r->uses == 1 && r->behind <= 2) {
		r->first++;
		r->poor += bits < PROOF_EACH;
	}
}

/* An event of the type. Only the first one of a row is sure to be one: where what is behind it says little, no other counts. */
static void row_uses(struct row *r, struct score *score)
{
	r->uses++;
	r->behind = 0;
	r->least = RARITY_MAX;
	score->uses++;
}

/* Follows the events from the place, by the model that the type's marker has for the time being. */
static void try_place(struct inference *n, const struct place *p, const struct lttng_marker *marker, const struct model *m,
		      struct score *score)
{
	struct lttng_walk k = walk_from(p);
	struct row r = { 0 };

	if (k.limit - k.rel > ROW_REACH)
		k.limit = k.rel + ROW_REACH;
	for (unsigned i = 0; i < ROW && k.rel < k.limit && n->budget; i++) {
		struct lttng_event e;
		enum lttng_defect defect = lttng_event_decode(n->t, &k, k.rel, k.limit, k.stamp, &e);
		uint64_t cost = defect == EVENT_STRING_CUT ? k.limit - k.rel : e.end > k.rel + COST_MIN ? e.end - k.rel : COST_MIN;
		n->budget -= cost < n->budget ? (uint32_t)cost : n->budget;
		bool use = defect == EVENT_OK && e.marker == marker, cut = k.limit < p->limit && r.uses &&
			   (defect == EVENT_HEADER_CUT || defect == EVENT_PAYLOAD_CUT || defect == EVENT_STRING_CUT);
		if (cut)
			break;
		if (!fits(&k, &e) || e.padded || (defect != EVENT_OK && !is_unknown(defect)) ||
		    (use && m->texts && !is_text(n->t, p, &e, m, score))) {
			score->out = true;
			return;
		}
		row_hears(&r, score, rarity(&e, k.stamp));
		if (defect != EVENT_OK)
			break;
		if (use && !r.uses)
			score->length += (uint32_t)(lttng_align(e.end, lttng_event_align(n->t, p->file)) - e.start);
		if (use)
			row_uses(&r, score);
		k.rel = e.end;
		k.stamp = e.stamp;
	}
	score->heard += r.first != 0;
	score->against += r.first && r.poor == r.first;
}

static bool is_possible(const struct score *s, uint32_t bits)
{
	uint32_t doubts = s->bits >= PROOF_MANY ? 2 : 3;
	return !s->out && s->bits >= bits && s->bits >= PROOF_EACH * s->stamps && doubts * s->against <= s->heard;
}

static bool is_clear(const struct score *s)
{
	return s->clear_texts && 2 * s->clear_texts >= s->texts;
}

/* Of those that measure the same: what padding hides are zeros of values, more often than not, and what reads as text is text. */
static bool is_likelier(unsigned model, unsigned than)
{
	struct model m = model_at(model), o = model_at(than);
	if (!m.texts != !o.texts)
		return m.texts;
	if (!(m.before % 4) != !(o.before % 4))
		return !(m.before % 4);
	if (!(m.after % 4) != !(o.after % 4))
		return !(m.after % 4);
	return m.texts && m.before + m.after < o.before + o.after;
}

/* The shortest payload that is proven; MODELS: none. The shortest, as one that takes the next event in is borne out as well. */
static unsigned best_model(const struct inference *n, unsigned uses)
{
	unsigned best = MODELS;
	uint32_t most = 0; /* bits of a stamp, on average */

	for (unsigned i = 0; i < MODELS; i++) {
		const struct score *s = &n->scores[i];
		if (is_possible(s, PROOF) && s->bits / s->stamps > most)
			most = s->bits / s->stamps;
	}
	for (unsigned i = 0; i < MODELS; i++) {
		const struct score *s = &n->scores[i], *than = best < MODELS ? &n->scores[best] : NULL;
		if (!is_possible(s, HINT) || 2 * s->bits < most * s->stamps || (i >= MODELS_PLAIN && !is_clear(s)))
			continue;
		if (!than || s->length < than->length || (s->length == than->length && is_likelier(i, best)))
			best = i;
	}
	const struct score *s = best < MODELS ? &n->scores[best] : NULL;
	return s && s->uses >= uses && s->bits >= (s->uses > 2 ? PROOF : PROOF_FEW) ? best : MODELS;
}

static void judge_models(struct inference *n, struct type *type, const struct place *const *witnesses, unsigned count)
{
	struct lttng_trace *t = n->t;
	struct lttng_marker *m = type->is.marker;
	const struct lttng_marker was = *m;

	memset(n->scores, 0, sizeof(n->scores));
	m->declared = true;
	for (unsigned w = 0; w < count && t->w.status == TM_OK; w++) {
		go_to(t, witnesses[w]->file);
		for (unsigned i = 0; i < MODELS && n->budget; i++) {
			struct model model = model_at(i);
			struct lttng_step steps[STEPS_MAX];
			if (n->scores[i].out || !model_counts(t, &model))
				continue;
			m->shape = model_shape(t, &model, steps);
			try_place(n, witnesses[w], m, &model, &n->scores[i]);
		}
	}
	*m = was;
	if (!n->budget)
		memset(n->scores, 0, sizeof(n->scores)); /* not all were heard */
}

/* ---- what was found ---- */

static void say_found(struct inference *n, const struct type *type, const struct place *p, const struct model *m, unsigned uses)
{
	struct lttng_trace *t = n->t;
	unsigned rule = type->is.named ? LTTNG_RULE_event_without_format : LTTNG_RULE_dangling_event_id;
	struct finding *fd = finding_new_as(t->f, rule, TM_NOTE, p->file->source, p->base + p->rel, 4);
	char length[64];

	if (m->texts)
		(void)snprintf(length, sizeof(length), "%u bytes, %s and %u bytes", m->before, m->texts > 1 ? "two texts" : "a text", m->after);
	else
		(void)snprintf(length, sizeof(length), "%u bytes", m->before);
	finding_say(fd, "the declaration of event type %u of %s is lost; what stands behind %u of its events shows that each has %s",
		    type->is.marker->id, type->is.channel->name, uses, length);
}

/* Texts that happen to be empty look like values of one byte. */
static bool may_be_empty(const struct inference *n, unsigned values)
{
	struct model m = model_at(values);
	for (unsigned i = MODELS_PLAIN; i < MODELS && (m.before == 1 || m.before == 5); i++) {
		struct model o = model_at(i);
		const struct score *s = &n->scores[i];
		if (o.before % 4 == 0 && o.after % 4 == 0 && is_possible(s, HINT) && !is_clear(s) && s->bits >= n->scores[values].bits)
			return true;
	}
	return false;
}

static bool type_learn(struct inference *n, struct type *type, const struct place *const *witnesses, unsigned count, unsigned uses)
{
	char format[LTTNG_RESTORED_FORMAT];

	judge_models(n, type, witnesses, count);
	unsigned best = best_model(n, uses);
	if (best == MODELS || (best < MODELS_PLAIN && may_be_empty(n, best)))
		return false;
	struct model m = model_at(best);
	model_format(format, &m);
	type->is.format = lttng_metadata_restore(n->t, type->is.channel, type->is.marker, format);
	if (!type->is.format)
		return false;
	n->found[n->found_count++] = type->is;
	say_found(n, type, witnesses[0], &m, n->scores[best].uses);
	return true;
}

static struct type *type_of(struct inference *n, const struct place *p)
{
	const struct lttng_channel *c = p->file->channel;
	struct lttng_marker *m = lttng_table_make(n->t, c->table, p->id);
	for (unsigned i = 0; m && i < n->type_count; i++)
		if (n->types[i].is.marker == m)
			return &n->types[i];
	bool too_long = strlen(c->name) + (m && m->name ? strlen(m->name) : 0) > LTTNG_RESTORED_NAMES;
	if (!m || n->type_count == TYPES_MAX || too_long)
		return NULL;
	n->types[n->type_count] = (struct type){ .is = { .channel = c, .marker = m, .named = m->declared } };
	return &n->types[n->type_count++];
}

/* The places that stand before an event of the type. */
static unsigned gather_witnesses(const struct inference *n, const struct type *type, const struct place **witnesses)
{
	unsigned count = 0;
	for (unsigned i = 0; i < n->place_count && count < WITNESSES; i++) {
		const struct place *p = &n->places[i];
		if (p->stands && p->id == type->is.marker->id && p->file->channel->table == type->is.channel->table)
			witnesses[count++] = p;
	}
	return count;
}

/* Tries the types that places stand before. Whether one was learned. */
static bool learn_one(struct inference *n, unsigned stage)
{
	for (unsigned i = 0; i < n->place_count && n->t->status == TM_OK; i++) {
		const struct place *witnesses[WITNESSES];
		struct type *type = n->places[i].stands ? type_of(n, &n->places[i]) : NULL;
		unsigned count = type ? gather_witnesses(n, type, witnesses) : 0;
		if (!type || count <= type->tried[stage])
			continue;
		type->tried[stage] = count;
		if (!type_learn(n, type, witnesses, count, stages[stage]))
			continue;
		for (unsigned j = 0; j < n->place_count; j++)
			if (n->places[j].stands && n->places[j].id == type->is.marker->id)
				place_advance(n, &n->places[j]);
		return true;
	}
	return false;
}

/* One type after the other becomes known, and with it the way to the next. */
static void learn(struct inference *n)
{
	for (unsigned i = 0; i < n->place_count; i++)
		place_advance(n, &n->places[i]);
	for (unsigned stage = 0; stage < STAGES && n->t->w.status == TM_OK && n->t->status == TM_OK;)
		stage = learn_one(n, stage) ? 0 : stage + 1;
}

/* Channels that no declaration is left of may have lost them all. */
static void open_table(struct lttng_trace *t, struct lttng_channel *c)
{
	if (t->layout->era == LTTNG_TRACE_MARKERS) {
		c->table = t->table;
	} else if (!c->table) {
		c->table = lttng_table_alloc(t, sizeof(*c->table));
		c->opened = c->table != NULL;
	}
}

/* Channels of which nothing was found out are as before. */
static void close_tables(struct inference *n)
{
	for (struct lttng_channel *c = n->t->channels; c; c = c->hh.next) {
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

	if (t->layout->era < LTTNG_TRACE_MARKERS || !t->metadata_lost || !home)
		return;
	struct inference *n = calloc(1, sizeof(*n));
	if (!n) {
		(void)lttng_no_memory(t);
		return;
	}
	n->t = t;
	n->walk = WALK;
	n->budget = BUDGET;
	for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files[i];
		if (!f->channel || f->metadata || f->aside || f->empty)
			continue;
		open_table(t, f->channel);
		if (f->channel->table)
			gather_blocks(n, f);
	}
	if (t->status == TM_OK)
		learn(n);
	close_tables(n);
	if (t->w.status != TM_OK)
		t->status = t->w.status;
	if (n->found_count && t->scan->plan && t->status == TM_OK)
		lttng_redeclare(t, home, n->found, n->found_count);
	free(n);
}
