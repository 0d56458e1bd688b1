/* What the headers of a trace agree on. "The trace header" is repeated in every block of every file; one block or file that
 * differs is damaged, so every constant is what most headers say. */
#include "formats/lttng/decode/lttng_name.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Headers of a file that vote, beside the first. */
#define VOTES_MAX 8u
/* Bytes at the start of a file that are searched for a header when no file begins with one. */
#define SEARCH_BYTES (64u * LTTNG_PAGE)

/* More than clocks have. */
#define FREQ_MAX UINT64_C(1000000000000)
#define SCALE_MAX 1000000u

struct ballot {
	uint64_t value;
	unsigned votes;
};

#define BALLOTS 8u

struct poll {
	struct ballot ballots[LF_COUNT][BALLOTS];
	struct ballot begins[BALLOTS];
	unsigned headers;
};

static void ballot_add(struct ballot *ballots, uint64_t value, unsigned weight)
{
	for (unsigned i = 0; i < BALLOTS; i++)
		if (!ballots[i].votes || ballots[i].value == value) {
			ballots[i].value = value;
			ballots[i].votes += weight;
			return;
		}
}

/* Whether a value is one that the field can have: breaks ties. */
bool lttng_value_plausible(enum lttng_field field, uint64_t v, bool nanoseconds)
{
	switch ((int)field) {
	case LF_ARCH_SIZE:
		return v == 4 || v == 8;
	case LF_ALIGNMENT:
		return v == 0 || v == 4 || v == 8;
	case LF_FREQ:
		return v && v <= FREQ_MAX;
	case LF_SCALE:
		return v && v <= SCALE_MAX;
	case LF_HEARTBEAT:
	case LF_HAS_TSC:
		return v <= 1;
	case LF_FLIGHT:
		return v <= 2;
	case LF_SUBSEC:
		return v < (nanoseconds ? 1000000000u : 1000000u);
	case LF_SEC:
		return v > 1041379200 && v < 1924992000;
	default:
		return true;
	}
}

bool lttng_file_votes(const struct lttng_trace *t, const struct lttng_file *f)
{
	return f->layout && f->channel && !f->aside && f->big_endian == t->coding.big_endian && f->layout == t->coding.layout;
}

bool lttng_header_plausible(const struct lttng_layout *l, const struct lttng_header *h, bool first)
{
	for (unsigned i = LF_FIRST_CONSTANT; i < LF_COUNT; i++)
		if (lttng_has(l, (enum lttng_field)i) && (first || (i != LF_SCALE && i != LF_FREQ)) &&
		    !lttng_value_plausible((enum lttng_field)i, h->v[i], l->nanoseconds))
			return false;
	return true;
}

/* Whether a block can have the size that its header tells, or was never closed. */
static bool size_plausible(const struct lttng_layout *l, const struct lttng_header *h)
{
	const uint64_t size = h->v[LF_SIZE];
	return size == LTTNG_OPEN || (size >= LTTNG_PAGE && (l->variable ? size % LTTNG_PAGE == 0 : !(size & (size - 1))));
}

static void header_votes(struct poll *p, const struct lttng_layout *l, const struct lttng_header *h, bool first)
{
	/* One that shows damage in one constant, or in the size of its block, has half a vote for the others. */
	const unsigned weight = lttng_header_plausible(l, h, first) && size_plausible(l, h) ? 2 : 1;
	p->headers++;
	for (unsigned i = LF_FIRST_CONSTANT; i < LF_COUNT; i++) {
		/* Vendor kernels of 0.8 count losses there in later blocks. */
		if (!first && l->major == 0 && l->minor == 8 && !h->v[LF_SCALE] && (i == LF_SCALE || i == LF_FREQ))
			continue;
		if (lttng_has(l, (enum lttng_field)i))
			ballot_add(p->ballots[i], h->v[i], weight);
	}
}

/* The first block of a file and some of the next ones, as far as its sizes lead to them. */
static void poll_file(struct lttng_trace *t, struct lttng_file *f, struct poll *p)
{
	uint8_t head[LTTNG_HEADER_MAX];
	struct lttng_header h = f->first;
	uint64_t at = 0, last = 0;

	header_votes(p, t->coding.layout, &h, true);
	if (!f->flight && h.v[LF_BEGIN] <= LTTNG_CLOCK_MAX)
		ballot_add(p->begins, h.v[LF_BEGIN], 1);
	for (unsigned i = 0; i < VOTES_MAX; i++) {
		uint64_t step = h.v[LF_SIZE];
		bool big;
		int major, minor;
		if (step < t->coding.layout->size || step > f->source->size - at)
			step = last;
		if (!step || step > f->source->size - at)
			return;
		last = step;
		at += step;
		if (f->source->size - at < t->coding.layout->size)
			return;
		if (source_read(f->source, at, head, t->coding.layout->size) != TM_OK) {
			t->status = TM_IO;
			return;
		}
		const struct lttng_layout *l = lttng_identify(head, t->coding.layout->size, &big, &major, &minor);
		if (!l || l->magic != t->coding.layout->magic || big != t->coding.big_endian)
			return;
		lttng_header_load(&h, t->coding.layout, t->coding.big_endian, head);
		header_votes(p, t->coding.layout, &h, false);
	}
}

/* By its votes, and between equals by whether it is plausible. */
static unsigned ballot_weight(const struct lttng_trace *t, enum lttng_field field, const struct ballot *b)
{
	return 2 * b->votes + lttng_value_plausible(field, b->value, t->coding.layout->nanoseconds);
}

/* Whether as many headers say another value as the one that won. */
static bool is_tied(const struct lttng_trace *t, const struct poll *p, enum lttng_field field)
{
	unsigned best = 0, times = 0;

	for (unsigned k = 0; k < BALLOTS && p->ballots[field][k].votes; k++) {
		const unsigned weight = ballot_weight(t, field, &p->ballots[field][k]);
		times = weight > best ? 1 : times + (weight == best);
		best = weight > best ? weight : best;
	}
	return times > 1;
}

/* Where headers contradict each other, and none has more votes: the trace starts when most of its files begin; else it is not clear
 * which is right, and nothing of the trace tells its times. */
static void judge_ties(struct lttng_trace *t, const struct poll *p)
{
	static const enum lttng_field clock[] = { LF_FREQ, LF_SCALE, LF_SEC, LF_SUBSEC, LF_TSC };

	for (unsigned i = 0; i < sizeof(clock) / sizeof(clock[0]); i++) {
		bool settled = false;
		if (!lttng_has(t->coding.layout, clock[i]) || !is_tied(t, p, clock[i]))
			continue;
		for (unsigned k = 0; k < BALLOTS && p->ballots[clock[i]][k].votes && clock[i] == LF_TSC; k++)
			settled |= p->ballots[clock[i]][k].value == t->constants.begin;
		if (settled)
			t->constants.want.v[LF_TSC] = t->constants.begin;
		else
			t->constants.doubted = "the headers contradict each other on the clock, and as many say one as the other";
	}
}

static void poll_winners(struct lttng_trace *t, const struct poll *p)
{
	for (unsigned i = 0; i < LF_COUNT; i++) {
		unsigned best = 0;
		for (unsigned k = 0; k < BALLOTS && p->ballots[i][k].votes; k++) {
			const unsigned weight = ballot_weight(t, (enum lttng_field)i, &p->ballots[i][k]);
			if (weight > best) {
				best = weight;
				t->constants.want.v[i] = p->ballots[i][k].value;
			}
		}
	}
	unsigned best = 0;
	for (unsigned k = 0; k < BALLOTS && p->begins[k].votes; k++)
		if (p->begins[k].votes > best) {
			best = p->begins[k].votes;
			t->constants.begin = p->begins[k].value;
		}
	t->constants.lone = p->headers == 1;
	t->constants.doubted = NULL;
	judge_ties(t, p);
	t->constants.want.v[LF_MAGIC] = LTTNG_MAGIC;
	t->constants.want.v[LF_MAJOR] = t->coding.layout->major;
	t->constants.want.v[LF_MINOR] = t->coding.layout->minor;
}

/* Some header within the beginning of a file, at a page. */
static bool find_layout(struct lttng_trace *t, struct lttng_file *f)
{
	uint8_t head[LTTNG_HEADER_MAX];
	uint64_t size = f->source->size;
	for (uint64_t at = 0; at < SEARCH_BYTES && at + sizeof(head) <= size; at += LTTNG_PAGE) {
		bool big;
		int major, minor;
		if (source_read(f->source, at, head, sizeof(head)) != TM_OK) {
			t->status = TM_IO;
			return false;
		}
		const struct lttng_layout *l = lttng_identify(head, sizeof(head), &big, &major, &minor);
		if (!l)
			continue;
		t->coding.layout = l;
		t->coding.big_endian = big;
		struct lttng_header h;
		lttng_header_load(&h, l, big, head);
		t->constants.want = h;
		t->constants.begin = h.v[LF_BEGIN] <= LTTNG_CLOCK_MAX ? h.v[LF_BEGIN] : 0;
		return true;
	}
	return false;
}

static void probe_file(struct lttng_trace *t, struct lttng_file *f)
{
	uint8_t head[LTTNG_HEADER_MAX] = { 0 };
	size_t n = f->source->size < sizeof(head) ? (size_t)f->source->size : sizeof(head);

	f->major = f->minor = -1;
	f->empty = n == 0;
	if (!f->channel || f->empty)
		return;
	if (source_read(f->source, 0, head, n) != TM_OK) {
		t->status = TM_IO;
		return;
	}
	f->layout = lttng_identify(head, n, &f->big_endian, &f->major, &f->minor);
	f->header = f->layout ? f->layout->size : 0;
	if (n < f->header)
		f->layout = NULL;
	if (f->layout)
		lttng_header_load(&f->first, f->layout, f->big_endian, head);
}

bool lttng_metadata_in_place(const struct lttng_trace *t, const struct lttng_file *f, enum lttng_era era)
{
	bool facilities = !strncmp(f->base + (f->flight ? LTTNG_FLIGHT_LENGTH : 0), "facilities", 10);

	switch (era) {
	case LTTNG_FACILITIES:
	case LTTNG_MARKERS:
		return facilities && f->control;
	case LTTNG_TRACE_MARKERS:
		return !facilities && f->control;
	case LTTNG_CHANNEL_MARKERS:
	default:
		return !facilities && f->base == f->source->name + t->files.root_length;
	}
}

/* How much the first header of a file says of the version: less where it shows damage in a constant, least where the version would
 * have the file elsewhere. */
static unsigned layout_weight(const struct lttng_trace *t, const struct lttng_file *f)
{
	if (f->metadata && !lttng_metadata_in_place(t, f, f->layout->era))
		return 1;
	if (!lttng_header_plausible(f->layout, &f->first, true))
		return 2;
	return f->metadata ? 12 : 8;
}

static void choose_layout(struct lttng_trace *t)
{
	unsigned best = 0;
	for (size_t i = 0; i < lttng_layout_count; i++) {
		unsigned votes[2] = { 0, 0 };
		for (size_t k = 0; k < t->files.count; k++) {
			const struct lttng_file *f = &t->files.list[k];
			if (f->channel && !f->aside && f->layout == &lttng_layouts[i])
				votes[f->big_endian] += layout_weight(t, f);
		}
		for (unsigned big = 0; big < 2; big++)
			if (votes[big] > best) {
				best = votes[big];
				t->coding.layout = &lttng_layouts[i];
				t->coding.big_endian = big != 0;
			}
	}
}

/* The headers of all files of one kind. */
static void poll_files_of(struct lttng_trace *t, bool metadata, struct poll *p)
{
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->layout && f->layout + 1 == t->coding.layout && t->coding.layout->literal)
			(void)lttng_file_load(t, f);
		if (lttng_file_votes(t, f) && f->metadata == metadata)
			poll_file(t, f, p);
	}
}

/* Of values with the same number of votes the first one wins: that of the metadata files. */
static void poll_files(struct lttng_trace *t)
{
	struct poll p = { 0 };

	poll_files_of(t, true, &p);
	poll_files_of(t, false, &p);
	poll_winners(t, &p);
}

/* Whether the header of 2.0 goes on behind its fields, where the first headers do not tell the size of pointers: values that are
 * aligned to 8 make it do so, and no event begins with four zeros. Without events, its end is that of the data. */
static bool is_wide(struct lttng_trace *t)
{
	const uint64_t arch = t->constants.want.v[LF_ARCH_SIZE], alignment = t->constants.want.v[LF_ALIGNMENT];
	const struct lttng_layout *l = t->coding.layout;
	uint8_t hole[4];

	if (arch == 4 || arch == 8 || alignment == 8)
		return arch != 4;
	for (size_t i = 0; i < t->files.count; i++) {
		const struct lttng_file *f = &t->files.list[i];
		if (!lttng_file_votes(t, f) || f->source->size < l->size + sizeof(hole))
			continue;
		if (source_read(f->source, l->size, hole, sizeof(hole)) != TM_OK) {
			t->status = TM_IO;
			return false;
		}
		return bytes_are_zero(hole, sizeof(hole)) && lttng_header_data_end(l, &f->first, f->first.v[LF_SIZE]) != l->size;
	}
	return false;
}

/* The other layout of 2.0, where the first headers have a damaged size of pointers, by which files have the smaller one. */
static void judge_width(struct lttng_trace *t)
{
	const struct lttng_layout *was = t->coding.layout;

	if (was->major != 2 || was->minor || was->size == 64 || !is_wide(t))
		return;
	t->coding.layout++;
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->layout != was)
			continue;
		f->header = t->coding.layout->size;
		if (f->source->size < f->header)
			f->layout = NULL;
		else
			(void)lttng_file_load(t, f);
	}
	if (t->status == TM_OK)
		poll_files(t);
}

void lttng_vote(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++)
		probe_file(t, &t->files.list[i]);
	choose_layout(t);
	for (size_t i = 0; i < t->files.count && !t->coding.layout && t->status == TM_OK; i++)
		if (t->files.list[i].channel && !t->files.list[i].aside && find_layout(t, &t->files.list[i]))
			return;
	if (!t->coding.layout || t->status != TM_OK)
		return;
	/* The document's own layout of 1.0, where it is asked for. */
	if (!strcmp(t->s->profile, "literal") && t->coding.layout->major == 1 && !t->coding.layout->literal)
		t->coding.layout++;
	poll_files(t);
	if (t->status == TM_OK)
		judge_width(t);
}
