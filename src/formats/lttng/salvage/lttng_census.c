/* What the declarations of a trace agree on, before anything is judged: the sizes of C types, by majority vote; and, in 0.x,
 * whether the number of a facility is not the one that its events have. */
#include "formats/lttng/salvage/lttng_salvage.h"

/* Different answers that are counted. */
#define CENSUS_VOTES 16u
/* Facilities, and blocks of a file whose first events are looked at. Traces had some 20 facilities. */
#define CENSUS_LOADS 64u
#define CENSUS_BLOCKS 16u
/* Blocks that begin with an event of a facility which nothing loads: fewer may be damaged events. */
#define STRANGERS_MIN 2u

struct census {
	struct {
		struct lttng_sizes sizes;
		unsigned count;
	} votes[CENSUS_VOTES];
	uint32_t loads[CENSUS_LOADS + 1]; /* numbers of facilities, but of the one that compact events have; one more: too many */
	unsigned load_count;
	uint64_t events;
	enum lttng_fit fit; /* of the first block with data */
	bool first_only;
};

bool lttng_sizes_plausible(const struct lttng_trace *t, const struct lttng_sizes *s)
{
	const uint64_t *v = t->constants.want.v;
	/* The word in 0.x is a flag or a value. */
	bool aligned = t->coding.layout->era == LTTNG_FACILITIES ? (s->v[SIZE_ALIGNMENT] != 0) == (v[LF_ALIGNMENT] != 0)
								 : s->v[SIZE_ALIGNMENT] == v[LF_ALIGNMENT];
	return s->v[SIZE_INT] == 4 && (s->v[SIZE_LONG] == 4 || s->v[SIZE_LONG] == 8) && s->v[SIZE_POINTER] == t->coding.arch &&
	       (s->v[SIZE_SIZE_T] == 4 || s->v[SIZE_SIZE_T] == 8) && aligned;
}

static void vote(struct census *c, const struct lttng_sizes *sizes)
{
	for (unsigned i = 0; i < CENSUS_VOTES; i++) {
		if (c->votes[i].count && memcmp(&c->votes[i].sizes, sizes, sizeof(*sizes)) != 0)
			continue;
		c->votes[i].sizes = *sizes;
		c->votes[i].count++;
		return;
	}
}

static bool is_loaded(const struct census *c, uint32_t facility)
{
	for (unsigned i = 0; i < c->load_count; i++)
		if (c->loads[i] == facility)
			return true;
	return false;
}

static void take_load(struct census *c, const struct lttng_declaration *d)
{
	const bool compact = d->name_length == strlen("compact") && !memcmp(d->name, "compact", d->name_length);

	if (!compact && c->load_count <= CENSUS_LOADS && !is_loaded(c, d->id))
		c->loads[c->load_count++] = d->id;
}

/* Where the data of the block ends, as its header says. */
static uint64_t block_limit(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame)
{
	struct lttng_header h;
	if (!lttng_header_at(t, f, frame->offset, &h))
		return frame->length;
	uint64_t end = lttng_header_data_end(t->coding.layout, &h, frame->length);
	return end >= t->coding.layout->size && end < frame->length ? end : frame->length;
}

/* Whether the event declares sizes, which are read. */
static bool declares_sizes(const struct lttng_stream *in, const struct lttng_event *e, struct lttng_declaration *d)
{
	return lttng_event_declares(in, e) && (in->coding->layout->era == LTTNG_FACILITIES || e->id == 0) &&
	       lttng_declaration_read(in, e, d);
}

/* The declarations of a block. Nothing is judged. */
static void census_block(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame, struct census *c)
{
	const struct lttng_stream in = lttng_stream_open(t, f, frame->offset);
	uint64_t limit = block_limit(t, f, frame), rel = t->coding.layout->size, stamp = 0;
	bool strays = false;

	if (limit <= rel)
		return;
	window_reset(&t->window, f->source);
	for (;;) {
		struct lttng_event e;
		struct lttng_declaration d;
		enum lttng_defect defect = lttng_event_decode(&in, rel, limit, stamp, &e);
		if (defect == EVENT_SIZE && e.sized_end && e.end)
			e.end = e.sized_end;
		else if (defect != EVENT_OK && defect != EVENT_LOW_BITS)
			break;
		if (defect != EVENT_SIZE && declares_sizes(&in, &e, &d)) {
			vote(c, &d.sizes);
			if (t->coding.layout->era == LTTNG_FACILITIES)
				take_load(c, &d);
		}
		c->events++;
		strays |= defect == EVENT_SIZE || !lttng_event_declares(&in, &e);
		if (e.end <= rel)
			break;
		rel = e.end;
		stamp = e.stamp;
	}
	if (rel == limit && c->fit != LTTNG_FITS)
		c->fit = strays ? LTTNG_FITS_LOOSELY : LTTNG_FITS;
	if (t->window.status != TM_OK)
		t->status = t->window.status;
}

static void census_take(struct lttng_trace *t, struct census *c)
{
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		struct lttng_frame frame;
		if (!f->channel || !f->metadata || f->aside || !f->layout)
			continue;
		if (t->coding.layout->era != LTTNG_CHANNEL_MARKERS)
			f->channel->table = t->declared.table;
		if (!f->block_size && !t->coding.layout->variable)
			lttng_frame_open(t, f);
		for (uint64_t at = 0; lttng_frame_at(t, f, at, &frame); at = frame.offset + frame.length) {
			census_block(t, f, &frame, c);
			if (c->first_only && c->events)
				break;
		}
	}
}

enum lttng_fit lttng_census_fit(struct lttng_trace *t)
{
	struct census c = { .first_only = true };
	census_take(t, &c);
	return c.events ? c.fit : LTTNG_FITS_NOT;
}

/* ---- numbers of facilities ---- */

/* The facility of the first event of a block that is not one of the tracer itself; 0: there is none. */
static uint32_t first_facility(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame)
{
	const struct lttng_stream in = lttng_stream_open(t, f, frame->offset);
	const uint64_t limit = block_limit(t, f, frame);
	uint64_t rel = t->coding.layout->size, stamp = 0;

	if (t->window.source != f->source)
		window_reset(&t->window, f->source);
	while (rel < limit) {
		struct lttng_event e;
		const enum lttng_defect defect = lttng_event_decode(&in, rel, limit, stamp, &e);
		if (defect == EVENT_NO_FACILITY || (defect == EVENT_OK && e.id >> 8))
			return e.id >> 8;
		if (defect != EVENT_OK || e.end <= rel)
			return 0;
		rel = e.end;
		stamp = e.stamp;
	}
	return 0;
}

/* How many blocks begin with an event of each facility. */
static void count_facilities(struct lttng_trace *t, uint64_t used[256])
{
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		struct lttng_frame frame;
		unsigned blocks = 0;
		if (!f->channel || f->metadata || f->aside || f->compact || !f->layout || f->empty)
			continue;
		f->channel->table = t->declared.table;
		for (uint64_t at = 0; blocks < CENSUS_BLOCKS && lttng_frame_at(t, f, at, &frame);
		     at = frame.offset + frame.length) {
			const uint32_t facility = first_facility(t, f, &frame);
			used[facility & 255] += facility != 0;
			blocks++;
		}
		if (t->window.status != TM_OK)
			t->status = t->window.status;
	}
}

/* The one number that blocks begin with and no facility has; 0: there is none, or they are many. */
static uint32_t stranger(const struct census *c, const uint64_t used[256])
{
	uint64_t all = 0;
	uint32_t most = 0;

	for (uint32_t id = 1; id < 256; id++) {
		if (!used[id] || is_loaded(c, id))
			continue;
		all += used[id];
		most = used[id] > used[most] ? id : most;
	}
	return used[most] >= STRANGERS_MIN && used[most] * 4 > all * 3 ? most : 0;
}

/* The one facility whose number no block begins with. Tracers number facilities one after the other: of several it is the one whose
 * number is too high. 0: there is none, or they are many. */
static uint32_t idle(const struct census *c, const uint64_t used[256])
{
	uint32_t any = 0, high = 0;
	unsigned idle_count = 0, high_count = 0;

	for (unsigned i = 0; i < c->load_count; i++) {
		const uint32_t id = c->loads[i];
		if (!id || (id < 256 && used[id]))
			continue;
		any = id;
		idle_count++;
		if (id > c->load_count + 1) {
			high = id;
			high_count++;
		}
	}
	return idle_count == 1 ? any : high_count == 1 ? high : 0;
}

static void compare_facilities(struct lttng_trace *t, const struct census *c)
{
	uint64_t used[256] = { 0 };

	if (t->status != TM_OK || t->coding.layout->era != LTTNG_FACILITIES || c->load_count > CENSUS_LOADS)
		return;
	count_facilities(t, used);
	const uint32_t right = stranger(c, used), wrong = idle(c, used);
	if (right && wrong)
		t->declared.misnumbered = (struct lttng_misnumbered){ .wrong = wrong, .right = right };
}

void lttng_census(struct lttng_trace *t)
{
	struct census c = { 0 };
	unsigned best = 0;

	census_take(t, &c);
	compare_facilities(t, &c);
	for (unsigned i = 0; i < CENSUS_VOTES && c.votes[i].count; i++) {
		const struct lttng_sizes *sizes = &c.votes[i].sizes;
		/* What a kernel has: one size of long, size_t and pointers. */
		const bool usual = sizes->v[SIZE_LONG] == t->coding.arch && sizes->v[SIZE_SIZE_T] == t->coding.arch;
		const bool plausible = lttng_sizes_plausible(t, sizes);
		/* Four times the votes, so that the rest only breaks ties. */
		unsigned weight = 4 * c.votes[i].count + 2 * plausible + (plausible && usual);
		if (weight > best) {
			best = weight;
			t->coding.sizes = *sizes;
			t->declared.sizes_known = true;
		}
	}
}
