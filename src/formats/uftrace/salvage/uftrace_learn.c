/* A walk over the records of all tasks that only learns how long the values of each function are. A length is known where a
 * specification says it and a record follows there; else it is the first after which a record follows that fits: its magic, a time
 * not before, an address that is mapped, and the depth that the calls which are open ask for. */
#include <stdlib.h>

#include "formats/uftrace/salvage/uftrace_infer.h"
#include "formats/uftrace/salvage/uftrace_resync.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/scan/uftrace_task.h"

/* A call or return, and the state behind it. */
struct learned {
	uint64_t time, word, body;
	struct uftrace_infer_function *function; /* NULL: not known */
};

static void nest(struct uftrace_stream *t, uint64_t word)
{
	unsigned depth = uftrace_word_depth(word);

	if (uftrace_word_type(word) == UFTRACE_ENTRY) {
		t->unknown = depth == t->depth && !t->find_depth ? t->unknown : depth;
		t->frames[depth] = uftrace_word_address(word);
		t->depth = depth + 1;
	} else {
		t->unknown = depth + 1 == t->depth && !t->find_depth ? t->unknown : depth;
		t->depth = depth;
	}
	if (t->unknown > t->depth)
		t->unknown = t->depth;
	t->find_depth = false;
}

/* Whether a call or return has the depth and the address that the open calls ask for. */
static bool nests(const struct uftrace_stream *t, uint64_t word)
{
	unsigned depth = uftrace_word_depth(word);

	if (t->find_depth || t->wrap || t->w->info->foreign)
		return true;
	if (uftrace_word_type(word) == UFTRACE_ENTRY)
		return depth == t->depth;
	return depth + 1 == t->depth && (depth < t->unknown || t->frames[depth] == uftrace_word_address(word));
}

/* Whether a record that fits is at `at`. exact: depth and address, too. */
static bool follows(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, bool exact)
{
	const uint8_t *p = end - at >= UFTRACE_RECORD_SIZE ? window_at(&t->window, at, UFTRACE_RECORD_SIZE) : NULL;

	if (!p)
		return false;
	uint64_t when = load_u64(p, t->w->info->head.big_endian), word = load_u64(p + 8, t->w->info->head.big_endian);
	enum uftrace_type type = uftrace_word_type(word);
	if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC || (type == UFTRACE_LOST) != !when)
		return false;
	if (type != UFTRACE_LOST && (when < time || when - time > uftrace_resync_horizon(t->w)))
		return false;
	/* A program that was begun in place of this one has its own depths. */
	if (exact && type <= UFTRACE_EXIT && when < t->session.next && !nests(t, word))
		return false;
	/* One that has the depth that is asked for is enough: behind it, longjmp() may have another. */
	return uftrace_resync_plausible(t, at, end, time, exact ? 1 : 2);
}

static const uint8_t *values_at(struct uftrace_stream *t, uint64_t at, uint64_t end, size_t *size)
{
	*size = end - at < UFTRACE_PAYLOAD_MAX ? (size_t)(end - at) : UFTRACE_PAYLOAD_MAX;
	return *size ? window_at(&t->window, at, *size) : NULL;
}

/* The length of the values of the last record, behind which none is: where they are a string that ends with the file. -1: not so.
 */
static int measure_last(struct uftrace_stream *t, uint64_t body, uint64_t end)
{
	size_t size;
	const uint8_t *p = values_at(t, body, end, &size);

	if (!p || size != end - body || size < sizeof(uint64_t))
		return -1;
	return ((load_u16(p, t->w->info->head.big_endian) + 2u + 7u) & ~7u) == size ? (int)size : -1;
}

/* The length of the values; -1: not known. */
static int measure(struct uftrace_stream *t, const struct learned *l, uint64_t end)
{
	bool retval = uftrace_word_type(l->word) == UFTRACE_EXIT, big = t->w->info->head.big_endian;
	struct uftrace_infer_side *side = l->function ? &l->function->sides[retval] : NULL;

	if (side && side->spec && side->misfits <= side->fits + 2) {
		size_t size;
		struct uftrace_strings strings;
		const uint8_t *p = values_at(t, l->body, end, &size);
		int length = p || !size ? uftrace_argspec_size(side->spec, p, size, big, &strings) : -1;
		uint64_t left = length < 0 ? 0 : end - l->body - (unsigned)length;
		if (length >= 0 && strings.longest <= UFTRACE_STRING_WRITER_MAX &&
		    (left < UFTRACE_RECORD_SIZE || follows(t, end - left, end, l->time, false))) {
			side->fits++;
			return length;
		}
		side->misfits++;
	}
	for (unsigned exact = 2; exact-- > 0;)
		for (unsigned size = 0; size <= UFTRACE_PAYLOAD_MAX && size <= end - l->body; size += 8)
			if (follows(t, l->body + size, end, l->time, exact))
				return (int)size;
	return measure_last(t, l->body, end);
}

/* Bytes of an event with its data; 0: it is cut. */
static uint64_t event_size(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t word)
{
	const uint8_t *p = uftrace_word_more(word) && end - at >= UFTRACE_RECORD_SIZE + 2
				   ? window_at(&t->window, at + UFTRACE_RECORD_SIZE, 2)
				   : NULL;

	if (!uftrace_word_more(word))
		return UFTRACE_RECORD_SIZE;
	return p ? UFTRACE_RECORD_SIZE + ((load_u16(p, t->w->info->head.big_endian) + 2u + 7u) & ~UINT64_C(7)) : 0;
}

/* A call or return; returns where the next record begins, 0 when that is not known. */
static uint64_t learn_call(struct uftrace_stream *t, uint64_t at, uint64_t end, uint64_t time, uint64_t word)
{
	struct learned l = { .time = time, .word = word, .body = at + UFTRACE_RECORD_SIZE };
	uint64_t address = uftrace_word_address(word);

	uftrace_place_session(t, time);
	struct uftrace_mapping *m = t->session.map ? uftrace_map_find(t->session.map, address) : NULL;
	l.function = m ? uftrace_infer_function_at(t->w, m, address) : NULL;
	nest(t, word);
	t->started = true;
	t->time = time;
	if (!uftrace_word_more(word))
		return l.body;
	int length = measure(t, &l, end);
	if (length < 0)
		return 0;
	t->w->infer->sized += length > 0;
	const uint8_t *p = length ? window_at(&t->window, l.body, (size_t)length) : NULL;
	if (!t->w->infer->values++ && !t->w->infer->nameless) {
		t->w->infer->first = t->source;
		t->w->infer->first_at = at;
	}
	if (l.function && (p || !length))
		uftrace_guess_take(&l.function->sides[uftrace_word_type(word) == UFTRACE_EXIT].guess, p, (size_t)length,
				   t->w->info->head.big_endian);
	return l.body + (unsigned)length;
}

static uint64_t learn_item(struct uftrace_stream *t, uint64_t at, uint64_t end)
{
	const uint8_t *p = window_at(&t->window, at, UFTRACE_RECORD_SIZE);
	uint64_t next = 0;

	if (!p)
		return end;
	uint64_t time = load_u64(p, t->w->info->head.big_endian), word = load_u64(p + 8, t->w->info->head.big_endian);
	if (uftrace_word_magic(word) == UFTRACE_RECORD_MAGIC) {
		switch (uftrace_word_type(word)) {
		case UFTRACE_LOST:
			t->find_depth = true;
			return at + UFTRACE_RECORD_SIZE;
		case UFTRACE_EVENT:
			next = event_size(t, at, end, word);
			next += next ? at : 0;
			break;
		case UFTRACE_ENTRY:
		case UFTRACE_EXIT:
			next = learn_call(t, at, end, time, word);
			break;
		}
	}
	if (next && next <= end)
		return next;
	t->find_depth = true;
	return uftrace_resync(t, at + 1, end, end, uftrace_resync_time(t));
}

static bool learn_range(struct uftrace_stream *t, struct source *source, uint64_t at, uint64_t end)
{
	t->source = source;
	window_reset(&t->window, source);
	while (at < end && end - at >= UFTRACE_RECORD_SIZE && t->window.status == TM_OK && t->w->status == TM_OK)
		at = learn_item(t, at, end);
	return t->w->status == TM_OK && (t->window.status == TM_OK || uftrace_walk_fail(t->w, t->window.status));
}

static bool learn_task(struct uftrace_stream *t, struct uftrace_dat *dat)
{
	struct uftrace_walk *w = t->w;
	bool good = true;

	uftrace_stream_begin(t, dat);
	t->begin = dat->first_time;
	t->time = dat->first_time;
	if (dat->file != UFTRACE_NONE) {
		struct source *source = w->dir->files[dat->file].source;
		good = learn_range(t, source, 0, source->size);
	}
	for (uint32_t i = 0; good && i < dat->shm_count; i++) {
		struct source *source = w->dir->files[w->records->shm[dat->shm_first + i]].source;
		uint8_t head[4];
		if (source_read(source, 0, head, sizeof(head)) != TM_OK)
			return uftrace_walk_fail(w, source->bundle->error.status);
		t->find_depth = true;
		good = learn_range(t, source, UFTRACE_SHM_HEADER_SIZE,
				   UFTRACE_SHM_HEADER_SIZE + load_u32(head, w->info->head.big_endian));
	}
	return good;
}

bool uftrace_learn(struct uftrace_walk *w)
{
	struct uftrace_stream *t = uftrace_stream_new(w);
	bool good = t != NULL;

	for (size_t i = 0; i < w->records->dat_count && good; i++) {
		struct uftrace_dat *dat = &w->records->dats[i];
		if (dat->file != UFTRACE_NONE || dat->shm_count)
			good = learn_task(t, dat);
	}
	uftrace_stream_free(t);
	return good;
}
