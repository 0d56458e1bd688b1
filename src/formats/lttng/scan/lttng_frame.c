/* Where blocks begin and end. "Each tracefile is divided into equal size blocks" up to 2.4; from 2.5 on every block tells how far
 * away the next one is. Where that does not lead to a header, the next sound header is searched for, once. */
#include "formats/lttng/scan/lttng_frame.h"

#include "formats/lttng/salvage/lttng_salvage.h"

#define SIZE_TRUSTED_MAX (UINT64_C(1) << 28) /* a block size that nothing else confirms */

/* Constants of a header that must agree where all others are zeros. */
#define REST_MIN 2u

unsigned lttng_header_score(const struct lttng_trace *t, const struct lttng_header *h, unsigned *of)
{
	unsigned score = 0;
	*of = 0;
	for (unsigned i = LF_ARCH_TYPE; i < LF_COUNT; i++) {
		/* Zeros agree with a hole, too. */
		if (!lttng_has(t->coding.layout, (enum lttng_field)i) || !t->constants.want.v[i])
			continue;
		(*of)++;
		score += h->v[i] == t->constants.want.v[i];
	}
	return score;
}

bool lttng_header_is_rest(const struct lttng_trace *t, const struct lttng_header *h)
{
	unsigned left = 0;
	for (unsigned i = LF_ARCH_TYPE; i < LF_COUNT; i++) {
		if (h->v[i] && h->v[i] != t->constants.want.v[i])
			return false;
		left += h->v[i] != 0;
	}
	return left >= REST_MIN;
}

static bool header_is_sound(const struct lttng_trace *t, const struct lttng_header *h)
{
	unsigned of, score = lttng_header_score(t, h, &of);
	return h->v[LF_MAGIC] == LTTNG_MAGIC && 2 * score >= of;
}

/* False: there is no room for one, or it cannot be read (t->status). */
static bool header_read(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, struct lttng_header *h)
{
	uint8_t head[LTTNG_HEADER_MAX];
	if (offset > f->source->size || f->source->size - offset < t->coding.layout->size || t->status != TM_OK)
		return false;
	if (!lttng_file_read(t, f, offset, head, t->coding.layout->size))
		return false;
	lttng_header_load(h, t->coding.layout, t->coding.big_endian, head);
	return true;
}

bool lttng_header_at(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, struct lttng_header *h)
{
	return header_read(t, f, offset, h) && header_is_sound(t, h);
}

/* Offset of the first sound header at or after `from`; UINT64_MAX: none. Linear in what it passes. */
static uint64_t search_header(struct lttng_trace *t, struct lttng_file *f, uint64_t from)
{
	uint8_t magic[4];
	size_t got;
	const uint8_t *p;
	struct lttng_header h;
	uint64_t at = from + t->coding.layout->magic;

	store_u32(magic, LTTNG_MAGIC, t->coding.big_endian);
	window_reset(&t->window, f->source);
	while ((p = window_upto(&t->window, at, 65536, &got)) != NULL && got >= sizeof(magic)) {
		const uint8_t *hit = memmem(p, got, magic, sizeof(magic));
		if (!hit) {
			at += got - (sizeof(magic) - 1);
			continue;
		}
		at += (uint64_t)(hit - p);
		if (lttng_header_at(t, f, at - t->coding.layout->magic, &h))
			return at - t->coding.layout->magic;
		at++;
	}
	if (t->window.status != TM_OK)
		t->status = t->window.status;
	return UINT64_MAX;
}

/* The next sound header behind offset, found once and remembered. */
static uint64_t next_header(struct lttng_trace *t, struct lttng_file *f, uint64_t offset)
{
	if (f->resync <= offset || f->resync_from > offset) {
		f->resync = search_header(t, f, offset + 1);
		f->resync_from = offset;
	}
	return f->resync;
}

bool lttng_frame_follows(struct lttng_trace *t, struct lttng_file *f)
{
	return next_header(t, f, 0) != UINT64_MAX;
}

static bool power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

static bool size_possible(const struct lttng_trace *t, uint64_t size)
{
	return size && size >= t->coding.layout->size && size < LTTNG_OPEN;
}

/* Whether a header is there that claims this size of blocks, if only of another session, or a sound one that claims none. */
static bool header_agrees(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, uint64_t size)
{
	struct lttng_header h;
	if (!header_read(t, f, offset, &h) || h.v[LF_MAGIC] != LTTNG_MAGIC)
		return false;
	return h.v[LF_SIZE] == size || (!size_possible(t, h.v[LF_SIZE]) && header_is_sound(t, &h));
}

/* How well a block size fits the file: headers found at up to three of its multiples. A multiple of the size leads to headers, too;
 * these claim the size itself. */
static unsigned size_evidence(struct lttng_trace *t, struct lttng_file *f, uint64_t size, unsigned *expected)
{
	unsigned found = 0;
	*expected = 0;
	for (unsigned k = 1; k <= 3 && size <= (f->source->size - t->coding.layout->size) / k; k++) {
		(*expected)++;
		found += header_agrees(t, f, k * size, size);
	}
	return found;
}

/* Whether a header inside of the first block claims a size that leads to it: the block is smaller. */
static bool size_has_parts(struct lttng_trace *t, struct lttng_file *f, uint64_t size)
{
	for (uint64_t part = size / 2; size % 2 == 0 && part >= LTTNG_PAGE; part /= 2) {
		struct lttng_header h;
		if (lttng_header_at(t, f, part, &h) && h.v[LF_SIZE] == part)
			return true;
	}
	return false;
}

/* The size that the first header claims, if headers confirm it; 0: they do not. */
static uint64_t size_confirmed(struct lttng_trace *t, struct lttng_file *f, uint64_t claimed)
{
	unsigned expected;
	if (!size_possible(t, claimed))
		return 0;
	unsigned found = size_evidence(t, f, claimed, &expected);
	bool whole = f->source->size % claimed == 0 && found == expected && (expected || !size_has_parts(t, f, claimed));
	if (whole)
		f->channel->block_size = claimed;
	return whole || found ? claimed : 0;
}

/* The size that another file of the channel has, if it fits this one; 0: it does not. */
static uint64_t size_of_channel(struct lttng_trace *t, struct lttng_file *f)
{
	uint64_t size = f->channel->block_size;
	unsigned expected;
	return size && (f->source->size % size == 0 || size_evidence(t, f, size, &expected)) ? size : 0;
}

/* The size by the distance to the next sound header; 0: there is none. */
static uint64_t size_by_distance(struct lttng_trace *t, struct lttng_file *f, uint64_t claimed)
{
	struct lttng_header h;
	uint64_t next = next_header(t, f, 0);
	if (next == UINT64_MAX)
		return 0;
	uint64_t size = lttng_header_at(t, f, next, &h) && size_possible(t, h.v[LF_SIZE]) ? h.v[LF_SIZE] : next;
	if (!size_possible(t, size))
		return 0;
	return next % size && size_possible(t, claimed) && power_of_two(claimed) ? claimed : size;
}

/* Whether a size that no header confirms is one that a tracer would have used. */
static bool size_usual(const struct lttng_trace *t, const struct lttng_file *f, uint64_t claimed)
{
	uint64_t file = f->source->size;
	if (!size_possible(t, claimed) || claimed > SIZE_TRUSTED_MAX || claimed < LTTNG_PAGE)
		return false;
	/* Behind the end of a file that is cut, it is at least one of whole pages. */
	const bool cut = claimed > file && claimed % LTTNG_PAGE == 0;
	return power_of_two(claimed) || (!power_of_two(file) && (cut || file % claimed == 0));
}

/* One block, as long as a tracer would have made it. */
static uint64_t size_of_file(const struct lttng_file *f)
{
	uint64_t size = LTTNG_PAGE;
	while (size < f->source->size && size < (UINT64_C(1) << 31))
		size *= 2;
	return size;
}

/* Whether the last field of a header whose value is known has it, if the block began `shift` bytes (modulo 2^64) behind `from` and
 * were of that length. */
static bool header_ends(struct lttng_trace *t, struct lttng_file *f, uint64_t from, uint64_t shift, uint64_t length)
{
	const struct lttng_layout *l = t->coding.layout;
	const uint64_t missing = shift > INT64_MAX ? -shift : 0, at = missing ? from : from + shift;
	uint8_t head[LTTNG_HEADER_MAX] = { 0 };
	struct lttng_header h;
	unsigned last = 0;
	bool ends = false;

	if (missing >= l->size || at > f->source->size || f->source->size - at < l->size - missing ||
	    !lttng_file_read(t, f, at, head + missing, (size_t)(l->size - missing)))
		return false;
	lttng_header_load(&h, l, t->coding.big_endian, head);
	for (unsigned i = 0; i < LF_COUNT; i++) {
		uint64_t want = i == LF_SIZE ? length : i >= LF_FIRST_CONSTANT ? t->constants.want.v[i] : 0;
		if (!lttng_has(l, (enum lttng_field)i) || !want || l->places[i].offset < last)
			continue;
		last = l->places[i].offset;
		ends = h.v[i] == want;
	}
	return ends;
}

/* The only block of a file, into whose header bytes came, or where they are missing; 0: it is not so. */
static uint64_t size_of_shifted(struct lttng_trace *t, struct lttng_file *f)
{
	const uint64_t size = f->source->size, over = size % LTTNG_PAGE;
	const uint64_t shifts[] = { over, over - LTTNG_PAGE };

	for (unsigned i = 0; over && i < 2; i++)
		if (size - shifts[i] >= LTTNG_PAGE && header_ends(t, f, 0, shifts[i], size - shifts[i]) &&
		    !header_ends(t, f, 0, 0, size - shifts[i]))
			return size - shifts[i];
	return 0;
}

void lttng_frame_open(struct lttng_trace *t, struct lttng_file *f)
{
	f->block_size = 0;
	if (t->coding.layout->variable || f->source->size < t->coding.layout->size)
		return;
	uint64_t claimed = f->layout == t->coding.layout ? f->first.v[LF_SIZE] : 0;
	f->block_size = size_confirmed(t, f, claimed);
	if (!f->block_size)
		f->block_size = size_of_channel(t, f);
	if (!f->block_size)
		f->block_size = size_by_distance(t, f, claimed);
	/* A size of which a part is at another place may be a usual one, too. */
	if (!f->block_size)
		f->block_size = size_of_shifted(t, f);
	if (!f->block_size && size_usual(t, f, claimed))
		f->block_size = claimed;
	if (!f->block_size)
		f->block_size = f->channel->block_size;
	if (!f->block_size)
		f->block_size = size_of_file(f);
}

/* From 2.5 on: the distance to the next block, as the header has it; 0: it cannot be, and the next block is searched for. */
static uint64_t variable_step(const struct lttng_trace *t, const struct lttng_header *h)
{
	uint64_t step = h->v[LF_SIZE];
	bool data_fits = h->v[LF_UNUSED] <= step || h->v[LF_UNUSED] == LTTNG_OPEN;
	return step % LTTNG_PAGE == 0 && step >= t->coding.layout->size && data_fits ? step : 0;
}

/* Whether the block before the next header, `distance` bytes on, lacks some bytes of its own header: the one at `offset` has all
 * its bytes then. */
static bool lacks_header_bytes(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, uint64_t distance, uint64_t step)
{
	const uint64_t missing = 2 * step - distance;
	return !t->coding.layout->variable && distance > step && missing < t->coding.layout->size &&
	       header_ends(t, f, offset + step, -missing, step);
}

/* From 2.5 on: the first block that begins in the padding of the one at `offset`, not before it; 0: none does. A size that is too
 * large leads to a header as well, or to the end of the file, and takes in the blocks before it. Linear in the padding. */
static uint64_t block_in_padding(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, const struct lttng_header *h,
				 uint64_t step)
{
	const uint64_t end = step < f->source->size - offset ? offset + step : f->source->size;
	uint64_t at = offset + lttng_align(h->v[LF_UNUSED], LTTNG_PAGE);
	struct lttng_header next;

	if (h->v[LF_UNUSED] < t->coding.layout->size || h->v[LF_UNUSED] > step || at >= end)
		return 0;
	if (t->window.source != f->source)
		window_reset(&t->window, f->source);
	while (at < end && (at = window_skip_zeros_to(&t->window, at, end)) < end) {
		at -= (at - offset) % LTTNG_PAGE;
		if (lttng_header_at(t, f, at, &next) && next.v[LF_BEGIN] >= h->v[LF_BEGIN])
			return at - offset;
		at += LTTNG_PAGE;
	}
	if (t->window.status != TM_OK)
		t->status = t->window.status;
	return 0;
}

/* Bytes came into the header, or are missing there: the end of the header and all events are that far from where they should be. */
static void frame_shift(struct lttng_trace *t, struct lttng_file *f, struct lttng_frame *frame)
{
	const uint64_t unit = t->coding.layout->variable ? LTTNG_PAGE : f->block_size;
	const uint64_t left = f->source->size - frame->from;
	/* What is left behind the last block is no other one. */
	const bool last = frame->last || (!frame->next_sound && left - frame->length < t->coding.layout->size);
	const uint64_t length = last ? left : frame->length;
	uint64_t over = unit ? length % unit : 0, shift = over > unit / 2 ? over - unit : over;

	if (!over || frame->repeat.length || frame->again || t->s->outline || !(frame->next_sound || last) || length - shift < unit)
		return;
	if (header_ends(t, f, frame->from, 0, length - shift) || !header_ends(t, f, frame->from, shift, length - shift))
		return;
	frame->offset += shift;
	frame->length = length - shift;
	frame->last = last;
}

/* Whether the block is too long, or too short, since some of its bytes are there twice. next: the next header, or the end of the
 * file. */
static bool frame_repeats(struct lttng_trace *t, struct lttng_file *f, uint64_t step, uint64_t next, struct lttng_frame *frame)
{
	const uint64_t distance = next - frame->offset;

	if (!step || distance == step || distance >= 2 * step)
		return false;
	if (distance > step && !lttng_repeat_find(t, f, frame->offset, next, distance - step, &frame->repeat))
		frame->repeat.length = 0;
	frame->again = distance < step && next < f->source->size && lttng_repeat_header(t, f, frame->offset, distance);
	return frame->repeat.length || frame->again;
}

static bool frame_find(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, struct lttng_frame *frame)
{
	uint64_t size = f->source->size;
	struct lttng_header h = { { 0 } };

	*frame = (struct lttng_frame){ .offset = offset, .from = offset };
	if (offset >= size || t->status != TM_OK)
		return false;
	frame->sound = lttng_header_at(t, f, offset, &h);
	uint64_t step = t->coding.layout->variable ? (frame->sound ? variable_step(t, &h) : 0) : f->block_size;
	uint64_t left = size - offset;
	const uint64_t within = t->coding.layout->variable && step ? block_in_padding(t, f, offset, &h, step) : 0;
	if (within) {
		frame->length = within;
		frame->next_sound = true;
		return true;
	}
	if (step == left) {
		frame->length = left;
		frame->last = true;
		return true;
	}
	if (step && step < left && lttng_header_at(t, f, offset + step, &h)) {
		frame->length = step;
		frame->next_sound = true;
		return true;
	}
	uint64_t next = next_header(t, f, offset);
	const uint64_t until = next == UINT64_MAX ? size : next;
	if (frame_repeats(t, f, step, until, frame)) {
		frame->length = until - offset;
		frame->next_sound = next != UINT64_MAX;
		frame->last = !frame->next_sound;
		return true;
	}
	if (next == UINT64_MAX) {
		frame->length = step && step < left ? step : left;
		frame->last = frame->length == left;
		return true;
	}
	uint64_t distance = next - offset;
	/* Where bytes came in between, the block reaches to the next header, and is too long. */
	bool to_next = !step || distance < step ||
		       (!t->coding.layout->variable && distance < 2 * step && !lacks_header_bytes(t, f, offset, distance, step));
	frame->length = to_next ? distance : step;
	frame->next_sound = to_next || distance == step;
	return true;
}

bool lttng_frame_at(struct lttng_trace *t, struct lttng_file *f, uint64_t offset, struct lttng_frame *frame)
{
	if (!frame_find(t, f, offset, frame))
		return false;
	frame_shift(t, f, frame);
	return true;
}
