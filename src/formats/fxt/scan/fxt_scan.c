/* The walk over an FXT file: runs of plain records by the fast path (fxt_fast.c), every other record one by one. */
#include "formats/fxt/scan/fxt_scan.h"

#include "formats/fxt/salvage/fxt_inner.h"
#include "formats/fxt/salvage/fxt_region.h"
#include "formats/fxt/salvage/fxt_splice.h"
#include "formats/fxt/scan/fxt_journal.h"
#include "formats/fxt/scan/fxt_missing.h"
#include "formats/fxt/scan/fxt_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"

/* ---- sound records off the fast path ---- */

static void check_late_padding(struct fxt_walk *w, struct fxt_record *r)
{
	uint64_t at = r->payload_at + r->payload_length;
	uint64_t length = r->content * FXT_WORD - at;
	const uint8_t *p = window_at(&w->resync.window, w->report.here.at + at, (size_t)length);
	if (p && !bytes_are_zero(p, (size_t)length))
		issue_add(&r->issues, fxt_rules, FXT_RULE_nonzero_padding, .at = at, .length = (uint32_t)length,
			  .got = r->payload_length);
}

static bool has_unknown_refs(const struct fxt_walk *w, const struct fxt_record *r)
{
	for (unsigned i = 0; i < r->string_count; i++)
		if (!fxt_string_known(w->registry.provider, r->strings[i].ref))
			return true;
	for (unsigned i = 0; i < r->thread_count && r->type != FXT_THREAD; i++)
		if (!fxt_thread_known(w->registry.provider, r->threads[i].ref))
			return true;
	return false;
}

/* Whether the record has faults, or is sound but unlikely in its place, so that other types are tried. */
static bool is_suspect(const struct fxt_walk *w, const struct fxt_record *r, bool unknown_refs)
{
	if (r->issues.worst == TM_ERROR || unknown_refs)
		return true;
	if (r->type != FXT_METADATA)
		return false;
	return (r->subtype == FXT_PROVIDER_INFO && r->issues.worst > TM_NOTE) ||
	       (r->subtype == FXT_PROVIDER_SECTION && (r->issues.worst > TM_NOTE || !fxt_provider_find(&w->registry, r->id)));
}

static bool is_wrong_in_size_alone(const struct fxt_record *r)
{
	for (uint32_t i = 0; i < r->issues.count; i++)
		if (r->issues.list[i].severity != TM_NOTE && r->issues.list[i].rule != FXT_RULE_record_trailing_words &&
		    r->issues.list[i].rule != FXT_RULE_provider_name_length_mismatch)
			return false;
	return true;
}

static void check_repeat(struct fxt_walk *w, const struct fxt_record *r)
{
	uint64_t length = r->words * FXT_WORD;
	bool repeat = false;

	if (r->type != FXT_EVENT)
		return;
	if (r->header == w->previous.header && r->timestamp == w->previous.time && w->report.here.at >= length &&
	    length <= FXT_RECORD_WORDS_MAX * FXT_WORD) {
		const uint8_t *p = window_at(&w->resync.window, w->report.here.at - length, (size_t)(2 * length));
		repeat = p && !memcmp(p, p + length, (size_t)length);
	}
	w->previous.header = r->header;
	w->previous.time = r->timestamp;
	if (!repeat)
		return;
	struct finding *fd = fxt_note(&w->report, FXT_RULE_suspicious_repeat, w->report.here.at, length,
				      "the record is equal to the record before it");
	if (fd)
		fxt_path(&w->report, fd, r, NULL);
}

/* Whether the record may be longer than its content: its type is unassigned, or words follow the content. */
static bool is_loose(const struct fxt_record *r)
{
	return !r->known || (r->content < r->words && !r->extended);
}

/* Records inside what the size of the record at `from` claims: reports it up to the first of them. */
static bool covers_records(struct fxt_walk *w, struct fxt_record *r, uint64_t from)
{
	char say[160];
	uint64_t end = from + r->words * FXT_WORD, covered, first;
	bool exact = false;

	if (is_loose(r) && r->known &&
	    (fxt_swallows(&w->resync, from, r, &covered) || fxt_inner_swallowed(&w->resync, &w->registry, from, r, &covered))) {
		first = fxt_inner_section(&w->resync, &w->registry, from, fxt_inner_records(&w->resync, from, covered));
		/* Exactly one record with a damaged size, unless it has other faults. */
		exact = first == covered && is_wrong_in_size_alone(r) && !has_unknown_refs(w, r);
		if (exact && fxt_region_resized(w, r, FXT_RULE_swallowed_records, first))
			return true;
	} else {
		first = fxt_hidden_records(&w->resync, r, from);
		if (first >= end)
			return false;
		if ((first - from) % FXT_WORD) {
			fxt_region_misaligned(w, r, first);
			return true;
		}
		first = fxt_inner_section(&w->resync, &w->registry, from, first);
	}
	const uint64_t single = fxt_inner_single(&w->resync, &w->registry, from, first);
	exact = exact && single == first;
	first = single;
	snprintf(say, sizeof(say), "the size field says %" PRIu64 " words, and sound records begin after %" PRIu64, r->words,
		 (first - from) / FXT_WORD);
	fxt_region(w, FXT_RULE_swallowed_records, from, first, r, exact ? TM_EXACT : TM_AT_LEAST, 1, say);
	return true;
}

/* The offset of a magic number record inside the record, of which nothing but a payload may have it: the record was cut, and
 * another trace is behind it. The end of the record where there is none. */
static uint64_t magic_within(const struct fxt_walk *w, const struct fxt_record *r)
{
	const uint64_t end = r->words * FXT_WORD, from = w->report.here.at;
	/* In a sound record, the beginning of a block of a disk alone. */
	const uint64_t step = r->issues.count ? FXT_WORD : FXT_SECTOR_BYTES;
	uint64_t at = step - (step > FXT_WORD ? from % step : 0);

	if (r->payload_length || end > FXT_RECORD_WORDS_MAX * FXT_WORD)
		return end;
	while (at < end && (at % FXT_WORD || load_u64(r->data + at, w->decoder.big_endian) != FXT_MAGIC))
		at += step;
	return at < end ? at : end;
}

static bool covers_magic(struct fxt_walk *w, struct fxt_record *r, uint64_t from)
{
	uint64_t until = from + magic_within(w, r);

	if (until == from + r->words * FXT_WORD)
		return false;
	fxt_region(w, FXT_RULE_swallowed_records, from, until, r, TM_EXACT, 1,
		   "the record is cut: it takes in the magic number of another trace behind it");
	return true;
}

/* The record is faulty, or out of place, and exact as another type. */
static bool has_other_type(struct fxt_walk *w, struct fxt_record *r, uint64_t from, bool unknown_refs)
{
	char kind[64], other[64], say[240];

	if (!is_suspect(w, r, unknown_refs) || !fxt_type_damaged(&w->resync, w->registry.provider, from, r))
		return false;
	fxt_describe(r, kind, sizeof(kind));
	fxt_describe(&w->resync.other, other, sizeof(other));
	snprintf(say, sizeof(say), "the record type is damaged: the record is faulty as %s, and exact as %s", kind, other);
	fxt_region(w, FXT_RULE_unreadable_bytes, from, from + r->words * FXT_WORD, r, TM_EXACT, 1, say);
	return true;
}

/* An event of no assigned type that refers to what is not registered: no recorder writes a new type of event only there, so that
 * its header was hit. */
static bool is_hit_event(struct fxt_walk *w, struct fxt_record *r, uint64_t from, bool unknown_refs)
{
	char say[160];

	if (r->type != FXT_EVENT || r->known || !unknown_refs)
		return false;
	snprintf(say, sizeof(say),
		 "an event of type %u, which is not assigned, refers to what is not registered: its header is damaged", r->subtype);
	fxt_region(w, FXT_RULE_unreadable_bytes, from, from + r->words * FXT_WORD, r, TM_EXACT, 1, say);
	return true;
}

/* A second tick rate, which no clock has: two words of a value. */
static bool is_chance_rate(struct fxt_walk *w, struct fxt_record *r, uint64_t from)
{
	const struct fxt_provider *p = w->registry.provider;
	char say[160];

	if (r->type != FXT_INITIALIZATION || !(p->initialized || p->timed) || !r->tail || r->tail == p->ticks ||
	    (r->issues.worst <= TM_NOTE && fxt_rate_is_plausible(r->tail)))
		return false;
	snprintf(say, sizeof(say),
		 "a tick rate of %" PRIu64 " a second after one of %" PRIu64 ": bytes that only look like a record", r->tail,
		 p->ticks);
	fxt_region(w, FXT_RULE_unreadable_bytes, from, from + r->words * FXT_WORD, r, TM_EXACT, 1, say);
	return true;
}

/* Bytes that decode as a record by chance: it is faulty, and no record follows it, or it is too long as well. */
static bool is_noise(struct fxt_walk *w, struct fxt_record *r, uint64_t from, bool unknown_refs)
{
	uint64_t length = r->words * FXT_WORD;
	bool faulty = r->issues.worst == TM_ERROR;
	unsigned first = 0;

	if (!faulty && !unknown_refs)
		return false;
	if (fxt_next_fits(&w->resync, from + length, length, true) &&
	    !(is_loose(r) && faulty && !fxt_next_is_sound(&w->resync, from + length)))
		return false;
	while (first < r->issues.count && r->issues.list[first].severity != TM_ERROR)
		first++;
	if (first < r->issues.count)
		r->fault = r->issues.list[first];
	fxt_region_resume(w, r, first < r->issues.count ? r->fault.rule : (unsigned)FXT_RULE_unreadable_bytes);
	return true;
}

/* The record at the position decodes. */
static void sound(struct fxt_walk *w, struct fxt_record *r)
{
	uint64_t from = w->report.here.at, length = r->words * FXT_WORD;

	if (covers_magic(w, r, from) || covers_records(w, r, from))
		return;
	if (is_loose(r) && !fxt_next_fits(&w->resync, from + length, length, false)) {
		fxt_region_resume(w, r, FXT_RULE_unreadable_bytes);
		return;
	}
	bool unknown_refs = has_unknown_refs(w, r);
	if (fxt_splice_undo(w, r, unknown_refs))
		unknown_refs = has_unknown_refs(w, r);
	if (has_other_type(w, r, from, unknown_refs) || is_chance_rate(w, r, from) || is_noise(w, r, from, unknown_refs) ||
	    is_hit_event(w, r, from, unknown_refs))
		return;
	if (r->type == FXT_INITIALIZATION && !r->tail)
		issue_add(&r->issues, fxt_rules, FXT_RULE_zero_tick_rate, .at = FXT_WORD, .length = FXT_WORD);
	fxt_issues_report(&w->report, r, from);
	check_repeat(w, r);
	bool doubtful = fxt_doubt_record(&w->doubt, r, w->magic_written, unknown_refs);
	fxt_doubt_mistaken(&w->doubt, r, unknown_refs);
	const uint64_t odd = w->report.odd;
	fxt_record_accept(w, r, from);
	if (w->report.odd != odd && !doubtful)
		fxt_doubt_odd(&w->doubt, r);
	fxt_doubt_accepted(&w->doubt, r, doubtful);
	if (r->issues.worst == TM_ERROR && w->report.status == TM_OK && fxt_repair_record(&w->repair, r, from) != TM_OK)
		fxt_report_no_memory(&w->report);
	if (fxt_is_hit(r))
		w->doubt.faulty = from + length;
	if (r->issues.worst == TM_ERROR)
		w->corrected = from + length;
	fxt_position_accept(&w->report.here, from);
	fxt_record_give(w, r, from);
	w->report.here.at = from + length;
}

static void walk_record(struct fxt_walk *w, uint64_t header, uint64_t left)
{
	uint64_t words = fxt_size(header);
	size_t have = words && words <= left / FXT_WORD ? fxt_span(words) : FXT_WORD;
	struct fxt_record *r = &w->record;

	const uint8_t *p = window_at(&w->window, w->report.here.at, have);
	if (!p)
		return;
	fxt_decode(&w->decoder, r, p, have, left, 0);
	if (!r->fatal && r->late_padding)
		check_late_padding(w, r);
	/* What is wrong, and how far, costs far more than that something is. */
	if (w->s->in->trial && ((r->fatal && header) || r->issues.worst == TM_ERROR)) {
		w->report.status = TM_CANCELLED;
		return;
	}
	if ((r->fatal || is_loose(r) || r->issues.worst == TM_ERROR) && fxt_region_goes_back(w))
		return;
	if (r->fatal)
		fxt_region_broken(w, r);
	else
		sound(w, r);
}

/* ---- beginning and end ---- */

static unsigned bits_apart(uint64_t a, uint64_t b)
{
	return (unsigned)__builtin_popcountll(a ^ b);
}

static void write_magic(struct fxt_walk *w)
{
	uint64_t magic = FXT_MAGIC;
	fxt_repair_insert(&w->repair, w->repair.keep_from, &magic, 1, FXT_RULE_missing_magic,
			  "the magic number record, by which readers recognise the file");
	w->magic_written = true;
}

/* The file does not begin with anything like a magic number. */
static void begin_without_magic(struct fxt_walk *w)
{
	if (fxt_begins_sound(&w->resync)) {
		write_magic(w);
		/* Before the first provider info record only the magic number can be missing. */
		const uint8_t *p = window_at(&w->window, 0, FXT_WORD);
		uint64_t header = p ? load_u64(p, w->decoder.big_endian) : 0;
		if ((header & 15) != FXT_METADATA || fxt_bits(header, 16, 4) != FXT_PROVIDER_INFO)
			fxt_repair_lost(&w->repair, 0, TM_UNKNOWN_COUNT);
		return;
	}
	/* A prefix is lost, and with it the beginning of a record; or something was put in front. */
	struct fxt_record *r = &w->record;
	fxt_record_clear(r);
	struct fxt_resume resume = fxt_resync(&w->resync, 0, r);
	const uint8_t *p = resume.at < w->report.here.size ? window_at(&w->resync.window, resume.at, FXT_WORD) : NULL;
	char say[128];
	if (w->resync.window.status != TM_OK)
		return;
	if (!p) {
		/* No two sound records follow each other, but single ones may be there. */
		write_magic(w);
		return;
	}
	w->lost_prefix = true;
	if (load_u64(p, w->decoder.big_endian) == FXT_MAGIC) {
		snprintf(say, sizeof(say), "%" PRIu64 " bytes that are not a record precede the magic number record", resume.at);
		fxt_region(w, FXT_RULE_magic_not_first, 0, resume.at, NULL, TM_UNKNOWN_COUNT, 0, say);
		w->report.damage = NULL;
		return;
	}
	snprintf(say, sizeof(say),
		 "no magic number record, and the first sound record is at offset %" PRIu64 ": the beginning is lost", resume.at);
	write_magic(w);
	fxt_region(w, FXT_RULE_missing_magic, 0, resume.at, NULL, TM_UNKNOWN_COUNT, 0, say);
	w->report.magic_seen = true; /* reported; a later one belongs to another archive */
}

static void begin(struct fxt_walk *w)
{
	const uint8_t *p = window_at(&w->window, 0, FXT_WORD);
	if (!p)
		return;
	uint64_t word = load_u64(p, false), swapped = load_u64(p, true);
	if (word == FXT_MAGIC)
		return;
	bool big = bits_apart(swapped, FXT_MAGIC) <= FXT_MAGIC_DAMAGE_MAX;
	if (!big && bits_apart(word, FXT_MAGIC) > FXT_MAGIC_DAMAGE_MAX) {
		size_t got, at;
		if (w->s->in->trial) {
			w->report.status = TM_CANCELLED;
			return;
		}
		p = window_upto(&w->resync.window, 0, FXT_PROBE_BYTES, &got);
		if (!p || !fxt_probe(p, got, w->report.here.size, &big, &at))
			big = false;
	}
	w->decoder.big_endian = w->repair.big_endian = big;
	if (big) {
		finding_report(w->s->findings, FXT_RULE_big_endian_trace, w->report.source, 0, FXT_WORD,
			       "the magic number record is stored with the most significant byte first");
	}
	word = big ? swapped : word;
	if (word == FXT_MAGIC)
		return;
	if (bits_apart(word, FXT_MAGIC) > FXT_MAGIC_DAMAGE_MAX) {
		begin_without_magic(w);
		return;
	}
	struct fxt_record *r = &w->record;
	fxt_record_clear(r);
	r->header = word;
	r->words = fxt_size(word);
	r->subtype = FXT_TRACE_INFO;
	bool size_only = !((word ^ FXT_MAGIC) & ~fxt_field(4, 12, 0xfff));
	fxt_bad_magic(w, r, size_only ? FXT_RULE_bad_magic_size : FXT_RULE_bad_magic_value);
}

static void finish(struct fxt_walk *w)
{
	uint64_t left = w->report.here.size - w->report.here.at;

	if (w->report.status == TM_OK && left) {
		char say[80];
		snprintf(say, sizeof(say), "%" PRIu64 " bytes are left, expected a multiple of 8", left);
		fxt_region(w, FXT_RULE_file_size_not_multiple_of_8, w->report.here.at, w->report.here.size, NULL, TM_UNKNOWN_COUNT,
			   0, say);
	}
	if (w->report.status == TM_OK && !w->report.magic_seen) {
		w->report.no_magic = finding_report(w->s->findings, FXT_RULE_missing_magic, w->report.source, 0, FXT_WORD,
						    "no record is a magic number record");
	}
	fxt_doubt_missing(&w->doubt);
	fxt_doubt_mistaken_providers(&w->doubt);
	fxt_missing_report(&w->registry);
	fxt_nesting_report(&w->nesting);
	fxt_operations_report(&w->operations);
	fxt_unused_report(&w->registry);
	if (w->report.status == TM_OK && !w->totals.eventful && !w->totals.by_type[FXT_EVENT]) {
		finding_report(w->s->findings, FXT_RULE_no_events, w->report.source, 0, 0,
			       "%" PRIu64 " records, none of them an event", w->report.here.records);
	}
	fxt_notes_flush(&w->report);
	fxt_facts(w);
}

static void walk(struct fxt_walk *w)
{
	struct fxt_position *here = &w->report.here;

	begin(w);
	while (w->report.status == TM_OK) {
		uint64_t left = here->size - here->at;
		const uint8_t *p = left >= FXT_WORD ? window_at(&w->window, here->at, FXT_WORD) : NULL;
		if (!p)
			break;
		uint64_t header = load_u64(p, w->decoder.big_endian);
		if (w->doubt.plan && !w->doubt.stale.counting)
			fxt_stale_mark(&w->doubt.stale, here->at);
		/* The fast path knows no doubt, and not whose the records behind damage are. */
		if (!w->s->slow && !w->doubt.active && here->at != w->doubt.seam && fxt_fast_run(w, header))
			continue;
		walk_record(w, header, left);
		if (w->window.status != TM_OK || w->resync.window.status != TM_OK)
			break;
	}
	if (w->report.status == TM_OK)
		w->report.status = w->window.status != TM_OK ? w->window.status : w->resync.window.status;
}

static bool walk_open(struct fxt_walk *w, struct scan *s, struct source *source)
{
	w->s = s;
	w->decoder.profile = s->profile && !strcmp(s->profile, "2022") ? FXT_2022 : FXT_LATEST;
	window_open(&w->window, source);
	w->report.s = s;
	w->report.source = source;
	w->report.here.size = source->size;
	w->report.here.record = &w->record;
	w->nesting.report = w->clock.report = w->operations.report = &w->report;
	fxt_check_open(&w->check, &w->report);
	fxt_resync_open(&w->resync, source, &w->window, &w->decoder);
	fxt_repair_open(&w->repair, s->plan, source);
	w->doubt = (struct fxt_doubt){
		.plan = s->plan, .source = source, .resync = &w->resync, .registry = &w->registry, .here = &w->report.here
	};
	w->doubt.stale.resync = &w->resync;
	w->doubt.stale.registry = &w->registry;
	return fxt_registry_open(&w->registry, &w->report, &w->nesting, &w->repair);
}

static void walk_close(struct fxt_walk *w)
{
	fxt_doubt_close(&w->doubt);
	fxt_journal_close(&w->registry);
	fxt_registry_close(&w->registry);
	fxt_nesting_close(&w->nesting);
	fxt_operations_close(&w->operations);
	fxt_check_close(&w->check);
	fxt_repair_close(&w->repair);
	fxt_resync_close(&w->resync);
	window_close(&w->window);
}

enum tracemend_status fxt_scan(struct scan *s)
{
	struct source *source = bundle_single(s->in);
	struct fxt_walk *w = source ? calloc(1, sizeof(*w)) : NULL;

	if (!w)
		return source ? fault_memory(&s->in->error) : fault_set(&s->in->error, TM_UNRECOGNISED, "an FXT trace is one file");
	if (walk_open(w, s, source)) {
		walk(w);
		finish(w);
	}
	s->records = w->report.here.records + w->report.here.taken_back;
	snprintf(s->version, sizeof(s->version), "%s", w->decoder.big_endian ? "big-endian" : "little-endian");
	enum tracemend_status status = w->report.status;
	if (s->plan && status == TM_OK) {
		fxt_repair_keep(&w->repair, w->report.here.size);
		fxt_doubt_finish(&w->doubt, &w->report);
		plan_kept(s->plan, w->report.here.records - w->repair.patched - w->repair.moved);
		status = w->report.status == TM_OK && !s->records ? TM_NOTHING : w->report.status;
	}
	walk_close(w);
	free(w);
	return status;
}
