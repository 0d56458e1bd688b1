/* The records of a task in the output. */
#include "formats/uftrace/repair/uftrace_repair_dat.h"

#include <stdio.h>

#include "formats/uftrace/scan/uftrace_stream.h"
#include "formats/uftrace/salvage/uftrace_infer.h"
#include "formats/uftrace/scan/uftrace_info.h"

void uftrace_repair_keep(struct uftrace_stream *t, uint64_t upto)
{
	if (t->w->plan && t->output.planned && upto > t->output.kept_from)
		plan_copy(t->w->plan, t->output.out, t->source, t->output.kept_from, upto - t->output.kept_from);
	t->output.kept_from = upto;
}

void uftrace_repair_leave(struct uftrace_stream *t, uint64_t from, uint64_t upto, unsigned rule, const char *why)
{
	uftrace_repair_keep(t, from);
	if (t->w->plan && upto > from)
		plan_drop(t->w->plan, t->source, from, upto - from, rule, why);
	t->output.kept_from = upto;
}

void uftrace_repair_strip(struct uftrace_stream *t, uint64_t at, uint64_t next, uint64_t word, unsigned rule)
{
	uint64_t place = uftrace_word_at(t->w, at, 0, 1);
	const uint8_t low = (uint8_t)(word & ~UINT64_C(4));

	if (!t->w->plan)
		return;
	/* One byte is changed: the rest of the record is that of the input. */
	uftrace_repair_keep(t, place);
	if (t->output.planned)
		plan_replace(t->w->plan, t->output.out, t->source, place, 1, &low, 1, rule, "the record has no arguments");
	t->output.kept_from = place + 1;
	uftrace_repair_leave(t, at + UFTRACE_RECORD_SIZE, next, rule, "arguments that cannot be read");
	/* It is its values that were hit, or what is around them; or the address, which is that of a function without values. */
	if (rule == UFTRACE_RULE_dat_payload_desync || rule == UFTRACE_RULE_dat_string_length ||
	    (rule == UFTRACE_RULE_dat_payload_without_spec && !t->w->infer->cause))
		uftrace_repair_doubt_record(t, at, at + UFTRACE_RECORD_SIZE);
	/* What hit the end of the values, or a record that is taken for one, may have hit the time behind them. */
	if (rule == UFTRACE_RULE_dat_payload_desync || rule == UFTRACE_RULE_dat_string_length ||
	    (rule == UFTRACE_RULE_dat_payload_without_spec && next - at > 2 * UFTRACE_RECORD_SIZE &&
	     uftrace_payload_was_record(t, next - UFTRACE_RECORD_SIZE, next, t->time)))
		uftrace_repair_doubt_behind(t, next);
	t->output.lost_some = true; /* arguments, and what was found behind them may be another record than the next */
	t->output.kept_from = next;
	t->output.patched++;
}

void uftrace_repair_lost(struct uftrace_stream *t, uint64_t count)
{
	uint8_t record[UFTRACE_RECORD_SIZE] = { 0 };

	if (!t->w->plan || !t->output.planned)
		return;
	store_u64(record + 8, uftrace_word(UFTRACE_LOST, false, 0, count), t->w->info->head.big_endian);
	plan_literal(t->w->plan, t->output.out, record, sizeof(record), UFTRACE_RULE_dat_bad_magic,
		     "a record of lost events where damaged bytes were; how many is estimated from their length");
	plan_added(t->w->plan, 1);
}

void uftrace_repair_mark(struct uftrace_walk *w, uint64_t tid)
{
	uint8_t record[UFTRACE_RECORD_SIZE] = { 0 };
	char name[32];

	(void)snprintf(name, sizeof(name), "%llu.dat", (unsigned long long)tid);
	store_u64(record + 8, uftrace_word(UFTRACE_LOST, false, 0, 1), w->info->head.big_endian);
	plan_literal(w->plan, plan_output(w->plan, name), record, sizeof(record), UFTRACE_RULE_dat_all_empty,
		     "a record of lost events: all of them are, and how many there were is not known");
	plan_added(w->plan, 1);
	plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
}

#define VALUE_UNIT 8u /* values are padded to it */

/* Lists [from, upto), but for what is listed already. */
static void doubt(struct uftrace_stream *t, uint64_t from, uint64_t upto, const char *why)
{
	if (from < t->output.doubted)
		from = t->output.doubted;
	if (!t->w->plan || !t->output.planned || from >= upto)
		return;
	plan_doubt(t->w->plan, t->source, from, upto - from, why);
	t->output.doubted = upto;
}

void uftrace_repair_doubt_before(struct uftrace_stream *t, uint64_t at)
{
	uint64_t start = at < UFTRACE_RECORD_SIZE ? 0 : at - UFTRACE_RECORD_SIZE;

	if (t->started && t->back.at < start && at - t->back.at <= UFTRACE_RECORD_SIZE + UFTRACE_PAYLOAD_MAX)
		start = t->back.at;
	if (start < t->output.kept_from)
		start = t->output.kept_from;
	doubt(t, start, at, "directly before damaged bytes");
}

void uftrace_repair_doubt_last(struct uftrace_stream *t, uint64_t at)
{
	/* Not one of another file. */
	if (t->back.at >= at || t->back.at < t->output.kept_from)
		return;
	if (t->back.behind_values)
		uftrace_repair_doubt_values(t, t->back.at - VALUE_UNIT, t->back.at);
	uftrace_repair_doubt_record(t, t->back.at, t->back.at + UFTRACE_RECORD_SIZE);
}

void uftrace_repair_doubt_values(struct uftrace_stream *t, uint64_t from, uint64_t at)
{
	if (from >= t->output.kept_from)
		doubt(t, from, at, "values directly before a record that does not fit");
}

void uftrace_repair_doubt_record(struct uftrace_stream *t, uint64_t at, uint64_t next)
{
	doubt(t, at, next, "a record that does not fit those around it");
}

void uftrace_repair_doubt_behind(struct uftrace_stream *t, uint64_t at)
{
	doubt(t, at, at + UFTRACE_RECORD_SIZE, "directly after damaged bytes");
}

#define CALL_SPAN (UINT64_C(64) << 10) /* so far in front of its return a call is looked for */

void uftrace_repair_doubt_call(struct uftrace_stream *t, uint64_t at, unsigned depth, uint64_t address)
{
	const uint64_t word = uftrace_word(UFTRACE_ENTRY, false, depth & UFTRACE_DEPTH_MASK, address);
	const uint64_t most = at < CALL_SPAN ? at : CALL_SPAN;
	const bool big = t->w->info->head.big_endian;

	if (!t->w->plan || !t->output.planned)
		return;
	uftrace_stream_open_other(t);
	/* Most calls return soon. */
	for (uint64_t from = 0, back = most < 512 ? most : 512;; from = back, back = back * 8 < most ? back * 8 : most) {
		size_t got = 0;
		const uint8_t *p = t->recall >= back ? window_upto(&t->other, at - back, (size_t)back, &got) : NULL;
		if (!p || got != back)
			return;
		t->recall -= back;
		for (uint64_t k = (from < UFTRACE_RECORD_SIZE ? UFTRACE_RECORD_SIZE : from); k <= back; k += VALUE_UNIT)
			if ((load_u64(p + (back - k) + 8, big) & ~UINT64_C(4)) == word) {
				plan_doubt(t->w->plan, t->source, at - k, UFTRACE_RECORD_SIZE, "a call whose return is another's");
				return;
			}
		if (back == most)
			return;
	}
}
