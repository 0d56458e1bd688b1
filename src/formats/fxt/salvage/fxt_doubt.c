/* Doubtful records are kept, and listed in the manifest: they decode, but are next to damage, or refer to something that is not
 * registered. */
#include "formats/fxt/salvage/fxt_doubt.h"

#include "formats/fxt/salvage/fxt_distrust.h"
#include "formats/fxt/salvage/fxt_moved.h"
#include "formats/fxt/salvage/fxt_strange.h"
#include "formats/fxt/salvage/fxt_unpaired.h"
#include "formats/fxt/scan/fxt_clock.h"

/* Ranges that are listed one by one. Beyond it a range takes in what is between it and the last one, so that the list does not grow
 * with the file. */
#define DOUBTS_LISTED 65536u

/* The same for records in the order of the walk. */
static void doubt_in_order(struct fxt_doubt *d, uint64_t at, uint64_t length, const char *why)
{
	if (at != d->listed_until && d->listed++ >= DOUBTS_LISTED && at > d->listed_until) {
		length += at - d->listed_until;
		at = d->listed_until;
	}
	d->listed_until = at + length;
	fxt_doubt_list(d, at, length, why);
}

/* Lists the record before the position, where it ends there; hit: and what it registers. */
static void doubt_last(struct fxt_doubt *d, bool hit, const char *why)
{
	uint64_t last = d->here->records ? fxt_position_recent(d->here, 1) : d->here->at;
	uint64_t header = last < d->here->at ? fxt_doubt_header_at(d, last) : FXT_MAGIC;

	/* Each bit of the magic number is known. */
	if (header == FXT_MAGIC || fxt_size(header) * FXT_WORD != d->here->at - last)
		return;
	if (hit && fxt_registers(header & 15))
		fxt_distrust(d, last);
	fxt_doubt_list(d, last, d->here->at - last, why);
}

void fxt_doubt_close(struct fxt_doubt *d)
{
	fxt_stale_close(&d->stale);
}

/* Whether something that the record refers to is registered by another provider only. */
static bool refers_elsewhere(const struct fxt_registry *reg, const struct fxt_record *r)
{
	for (unsigned i = 0; i < r->string_count; i++)
		if (!fxt_string_known(reg->provider, r->strings[i].ref) && reg->anywhere_strings[r->strings[i].ref])
			return true;
	for (unsigned i = 0; i < r->thread_count && r->type != FXT_THREAD; i++)
		if (!fxt_thread_known(reg->provider, r->threads[i].ref) && reg->anywhere_threads[r->threads[i].ref])
			return true;
	return false;
}

/* String and thread records are distinctive. A record that may be an argument of one whose beginning is lost, or that has no
 * references to verify, is not. */
static bool is_verified(struct fxt_doubt *d, const struct fxt_record *r)
{
	bool all;
	/* No argument has its header, but two words of a payload may; no clock rate is as odd as such words. */
	if (r->type == FXT_INITIALIZATION)
		return fxt_rate_is_round(r->tail);
	if (fxt_may_be_argument(r))
		return false;
	if (r->type == FXT_METADATA)
		return r->words > 1 || (r->subtype == FXT_PROVIDER_SECTION && fxt_provider_find(d->registry, r->id));
	return (fxt_refs_known(d->registry->provider, r, &all) && all) || fxt_registers(r->type);
}

static const char strange[] =
	"has content that the format document does not describe, or a time that cannot be or is far from all others";

/* Why the record is doubtful by itself or its place; NULL: it is not. */
static const char *why_by_place(struct fxt_doubt *d, const struct fxt_record *r, bool wrote_magic)
{
	uint64_t at = d->here->at;

	if (!at && wrote_magic && !r->known)
		return "is of an unassigned type, where the magic number is expected";
	if (fxt_is_hit(r))
		return "was corrected in place: what else of it was hit is not known";
	if (at && at == d->seam)
		d->unverified = at;
	/* The first verified record behind damage verifies those that follow it. */
	if (!at || (at != d->unverified && at != d->faulty) || is_verified(d, r))
		return NULL;
	d->unverified = at + r->words * FXT_WORD;
	if (at == d->faulty)
		return "follows a faulty record, and refers to nothing that is registered";
	return fxt_may_be_argument(r) ? "follows bytes that are not a record, and may be an argument of a record"
				      : "follows bytes that are not a record, and refers to nothing that is registered";
}

/* A timestamp is lower than that of the record before: one of the two is out of order, and if it is alone it may be damaged. */
static void note_step_back(struct fxt_doubt *d, const struct fxt_record *r)
{
	const struct fxt_provider *p = d->registry->provider;
	uint64_t last = fxt_position_recent(d->here, 1), before = fxt_position_recent(d->here, 2);

	d->steps_back++;
	fxt_leaps_add(&d->leaps, p->previous - r->timestamp, d->here->at);
	if (d->steps_back <= FXT_STEPS_BACK)
		fxt_doubt_repeat(d, last, d->here->at + r->words * FXT_WORD);
	if (d->step_count == FXT_STEPS_BACK || d->here->records < 3 || d->here->at - last > UINT16_MAX)
		return;
	struct fxt_step *step = &d->steps[d->step_count++];
	if (p->outlier_open && p->outlier_before <= r->timestamp) {
		*step = (struct fxt_step){ p->outlier_offset, fxt_doubt_length_at(d, p->outlier_offset), true };
		return;
	}
	/* Time of an event record: the second word. */
	const bool big = d->resync->decoder->big_endian;
	const uint8_t *w = window_at(&d->resync->window, before, 2 * FXT_WORD);
	bool high = w && (load_u64(w, big) & 15) == FXT_EVENT && p->timed > 2 && load_u64(w + FXT_WORD, big) <= r->timestamp;
	*step = (struct fxt_step){ high ? last : d->here->at, high ? d->here->at - last : r->words * FXT_WORD, false };
}

/* No recorder changes its rate: the record that introduces another provider may be lost, or this one is in a block from elsewhere.
 */
static void note_rate(struct fxt_doubt *d)
{
	struct fxt_distrust *trust = &d->registry->provider->distrust;

	d->context = d->context || d->section_gap;
	if (!trust->rate)
		trust->rate = d->registry->provider->ticks;
	if (!d->active && !d->other_rate)
		d->other_rate = d->here->at;
}

bool fxt_doubt_record(struct fxt_doubt *d, const struct fxt_record *r, bool wrote_magic, bool unknown_refs)
{
	const char *why;
	const struct fxt_provider *p = d->registry->provider;

	if (!d->plan)
		return false;
	if (unknown_refs && fxt_doubt_has_several(d) && refers_elsewhere(d->registry, r))
		fxt_distrust_section(d);
	fxt_doubt_foreign(d, fxt_seam_pass(&d->seams, d->registry, d->here->at), d->here->at);
	if (fxt_is_hit(r))
		fxt_doubt_foreign(d, fxt_seam_hit(&d->seams, d->here, r), d->here->at);
	if (unknown_refs) {
		fxt_doubt_foreign(d, fxt_seam_missing(&d->seams, d->registry, d->here->at, d->seam), d->here->at);
		fxt_distrust_rate(d);
		fxt_distrust_replaced(d);
	}
	if (r->type == FXT_INITIALIZATION && p->initialized && r->tail != p->ticks && (p->timed || d->section_gap))
		note_rate(d);
	d->version = p->version;
	d->headless = wrote_magic;
	why = why_by_place(d, r, wrote_magic);
	if (!why && fxt_is_strange(r, d->registry->provider, d->active)) {
		why = strange;
		if (d->strange++ < FXT_STRANGE_HABIT)
			fxt_doubt_repeat(d, d->here->at, d->here->at + r->words * FXT_WORD);
		d->faulty = d->here->at + r->words * FXT_WORD;
	}
	if (!why && fxt_registers(r->type) && !r->id) {
		why = "registers index 0, which readers ignore: the index may be damaged";
		d->strange++;
	}
	if (!why)
		why = fxt_distrust_why(d, r);
	if (r->has_timestamp && p->timed && r->timestamp < p->previous)
		note_step_back(d, r);
	/* Damage that begins with the record may begin in the one before. */
	if (fxt_is_hit(r) || unknown_refs || fxt_refs_rare(d->registry, r) ||
	    (fxt_is_strange_header(r) && d->strange <= (d->regions + 1) * FXT_STRANGE_HABIT))
		doubt_last(d, fxt_is_hit(r), "precedes a record that is damaged");
	if (why)
		doubt_in_order(d, d->here->at, r->words * FXT_WORD, why);
	return why;
}

void fxt_doubt_odd(struct fxt_doubt *d, const struct fxt_record *r)
{
	if (!d->plan)
		return;
	d->strange++;
	doubt_in_order(d, d->here->at, r->words * FXT_WORD, strange);
}

void fxt_doubt_pair(struct fxt_doubt *d, uint64_t one, uint64_t other, const char *why)
{
	if (!d->plan)
		return;
	fxt_doubt_list(d, one, fxt_doubt_length_at(d, one), why);
	fxt_doubt_list(d, other, fxt_doubt_length_at(d, other), why);
}

/* Moves blocks of which what they changed is undone to the end of the list; returns how many. */
static unsigned undone_of(const struct fxt_doubt *d, struct fxt_block *blocks, unsigned count)
{
	unsigned undone = 0;

	for (unsigned i = count; i--;)
		if (fxt_doubt_is_undone(d, blocks[i].from, blocks[i].until)) {
			const struct fxt_block b = blocks[i];
			blocks[i] = blocks[count - ++undone];
			blocks[count - undone] = b;
		}
	return undone;
}

/* Blocks from elsewhere by their times, and what was registered for others; returns how many blocks. */
static unsigned doubt_out_of_place(struct fxt_doubt *d, bool errors)
{
	struct fxt_block blocks[FXT_UNTIMELY_MAX];
	unsigned count = fxt_untimely_find(d->resync, d->here->size, &d->leaps, blocks);

	if (!errors)
		count = fxt_untimely_rare(&d->leaps, blocks, count);

	for (unsigned i = 0; i < count; i++)
		fxt_doubt_list(d, blocks[i].from, blocks[i].until - blocks[i].from,
			       "may be a block from elsewhere: its times are far from those on both sides");
	/* Behind those that are undone all is as it was in front of them. */
	const unsigned left = count - undone_of(d, blocks, count);
	fxt_moved_doubt(d->resync, d->registry, d->plan, d->source, blocks, left);
	return count;
}

/* At the end of a file that is damaged or cut: times that may be damaged as well. */
static void doubt_times(struct fxt_doubt *d)
{
	for (size_t i = 0; d->plan && i < d->registry->count; i++) {
		const struct fxt_provider *p = d->registry->list[i];
		if (p->outlier_open && p->outlier_offset == fxt_position_recent(d->here, 1))
			fxt_doubt_list(d, p->outlier_offset, fxt_doubt_length_at(d, p->outlier_offset), strange);
	}
	const bool rare = d->steps_back <= FXT_STEPS_BACK &&
			  (d->steps_back <= FXT_STEPS_FEW || d->steps_back * FXT_STEPS_RARE <= d->here->records);
	for (unsigned i = 0; i < d->step_count; i++)
		if (rare || d->steps[i].far)
			fxt_doubt_list(d, d->steps[i].at, d->steps[i].length, "its timestamp is out of order, which is rare here");
}

void fxt_doubt_finish(struct fxt_doubt *d, const struct fxt_report *report)
{
	const bool errors = findings_errors(report->s->findings);

	fxt_distrust_settle(d);
	for (size_t i = 0; i < d->registry->count; i++)
		fxt_doubt_forget(d, d->registry->list[i]);
	if (d->plan && errors && d->other_rate)
		fxt_doubt_list(d, d->other_rate, d->here->at - d->other_rate,
			       "a provider gets another tick rate here, in front of damage: what sets it may be from elsewhere");
	const unsigned blocks = d->plan ? doubt_out_of_place(d, errors) : 0;
	const struct fxt_unpaired u = { d->resync, d->registry->nesting, d->plan, d->source };
	fxt_unpaired_doubt(&u, findings_errors(report->s->findings), report);
	for (unsigned i = 0; d->plan && errors && i < d->filled_count; i++)
		fxt_doubt_list(d, d->filled[i].from, d->filled[i].until - d->filled[i].from,
			       "has records in its payload: a block from elsewhere may be in it");
	/* Something may have been lost where no byte shows it: a begin without an end, an archive behind one that may be cut. */
	if (report->unpaired || findings_count(report->s->findings, FXT_RULE_duplicate_magic))
		plan_lost(d->plan, 0, TM_UNKNOWN_COUNT);
	if (errors || report->unpaired)
		doubt_times(d);
	/* What is strange again and again is how the recorder writes, unless there is damage. */
	if (!errors && (blocks || d->strange < FXT_STRANGE_HABIT))
		plan_keep_doubts(d->plan);
}
