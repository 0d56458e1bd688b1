/* TID.dat: the fast path. It takes calls and returns of which the walk would have nothing to say, and leaves everything else to
 * it. Nothing is reported here. */
#include "core/format.h"
#include "core/inline.h"
#include "formats/uftrace/scan/uftrace_fast_contract.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_stream.h"

#define RULE(symbol, ...) [UFTRACE_RULE_##symbol] = FAST_##symbol,
const uint8_t uftrace_fast_contract[UFTRACE_RULE_COUNT] = {
#include "formats/uftrace/uftrace_rules.def"
};
#undef RULE

/* Calls and returns: magic 5, and a type of which bit 1 is clear. */
#define CALL_MASK 0x3au
#define CALL (UFTRACE_RECORD_MAGIC << 3)
#define MORE 4u

/* The state of the walk between two records. */
struct fast_state {
	size_t at, values;  /* values: bytes of them so far */
	size_t with_values; /* the last record that has some */
	uint64_t time, word;
	unsigned depth;
	unsigned gap, in_front; /* bytes behind the last record; behind the one in front of it */
};

/* The size of the values behind a record, -1 where the walk has to see them. */
static int values_size(const struct uftrace_spec *spec, const uint8_t *p, size_t size, bool big)
{
	struct uftrace_strings strings;
	int length = spec ? uftrace_argspec_size(spec, p, size, big, &strings) : -1;

	return length >= 0 && strings.longest <= UFTRACE_STRING_WRITER_MAX && !strings.nul ? length : -1;
}

/* Each byte order has a loop of its own, and so have other writers (the QEMU plugin), whose depths are not checked: see
 * uftrace_nest(). */
static ALWAYS_INLINE struct fast_state run(const struct uftrace_stream *t, const uint8_t *p, size_t size, unsigned gap,
					   const bool big, const bool foreign)
{
	const uint64_t limit = t->time_limit, era = t->era;
	const unsigned top = t->w->info->head.max_stack < 1024 ? t->w->info->head.max_stack : 1024, unknown = t->unknown;
	uint64_t *const frames = t->frames;
	struct fast_state now = { .time = t->time, .word = t->last_word, .depth = t->depth, .gap = gap }, before = now;

	while (size - now.at >= UFTRACE_RECORD_SIZE) {
		uint64_t time = load_u64(p + now.at, big), word = load_u64(p + now.at + 8, big), address = word >> 16;
		unsigned is_exit = word & 1, level = now.depth - is_exit;
		const struct uftrace_known *known = uftrace_known_at(t, address);
		if ((word & CALL_MASK) != CALL || time < now.time || time >= limit || known->key != (address | era) ||
		    known->place < UFTRACE_PLACE_MAPPED)
			break;
		if (foreign ? uftrace_is_again(time, word, now.time, now.word)
			    : uftrace_word_depth(word) != level || level < unknown || level >= top ||
				      (is_exit & (frames[level] != address)))
			break;
		unsigned in_front = now.gap;
		if (word & MORE) {
			size_t body = now.at + UFTRACE_RECORD_SIZE;
			int values = values_size(known->specs[is_exit], p + body, size - body, big);
			if (values < 0)
				break;
			before = now;
			now.with_values = now.at;
			now.at += (unsigned)values;
			now.values += (unsigned)values;
			now.gap = (unsigned)values;
		} else {
			now.gap = 0;
		}
		now.in_front = in_front;
		now.at += UFTRACE_RECORD_SIZE;
		now.time = time;
		now.word = word;
		if (!foreign) {
			frames[level] = address; /* of a return it is there */
			now.depth = level + 1 - is_exit;
		}
	}
	/* Values are as long as they seem only if a record follows. */
	return now.word & MORE ? before : now;
}

size_t uftrace_fast(struct uftrace_stream *t, uint64_t at, const uint8_t *p, size_t size)
{
	bool big = t->w->info->head.big_endian;
	unsigned gap = t->back.at + UFTRACE_RECORD_SIZE < at;
	struct fast_state end = t->w->info->foreign ? (big ? run(t, p, size, gap, true, true) : run(t, p, size, gap, false, true))
				: big		    ? run(t, p, size, gap, true, false)
						    : run(t, p, size, gap, false, false);

	if (!end.at)
		return 0;
	uint64_t count = (end.at - end.values) / UFTRACE_RECORD_SIZE;
	t->depth = end.depth;
	t->time = t->last_time = end.time;
	t->last_word = end.word;
	t->suspect = t->ahead = false;
	t->back.at = at + (end.word & MORE ? end.with_values : end.at - UFTRACE_RECORD_SIZE);
	t->back.behind_values = end.in_front > 0;
	t->dat->records += count;
	t->w->records->fast += count;
	if (end.time > t->dat->last_time)
		t->dat->last_time = end.time;
	return end.at;
}
