/* The walk over an FXT file: plain events in runs (fxt_events.c), every other sound record one by one, and what to do
 * about bytes that are none. */
#include "formats/fxt/scan/fxt_scan.h"

#include "formats/fxt/scan/fxt_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"

#define PROBE_BYTES (64u * 1024)

/* ---- bytes that are no record ---- */

static const char *region_why(unsigned rule)
{
	switch (rule) {
	case FXT_RULE_truncated_record:
		return "the record is cut off by the end of the file";
	case FXT_RULE_zero_filled_tail:
		return "zeros up to the end of the file";
	case FXT_RULE_zero_word_padding:
		return "zeros between records";
	case FXT_RULE_file_size_not_multiple_of_8:
		return "stray bytes at the end";
	case FXT_RULE_swallowed_records:
		return "the size of the record is damaged";
	default:
		return "no sound record";
	}
}

/* Reports [from, until) as damage, drops it, and goes on behind it. */
#define region(x, rule, ...) ((void)PLACE(rule), region_at((x), (rule), __VA_ARGS__))
static void region_at(struct fxt_walk *x, unsigned rule, uint64_t from, uint64_t until, const struct fxt_record *r,
		      enum tracemend_exactness lost, uint64_t records, const char *say)
{
	struct finding *fd = finding_new_at(x->s->findings, rule, x->source, from, until - from);
	if (finding_kept(fd)) {
		if (say)
			finding_say(fd, "%s", say);
		else
			fxt_issue_say(fd, r, &r->fault);
		if (r)
			fxt_path(x, fd, r, NULL);
		if (r && r->fault.length && !say)
			finding_field(fd, from + r->fault.at, r->fault.length, "header 0x%016" PRIx64, r->header);
	}
	x->damage = fd;
	if (!x->gapped && (lost != TM_EXACT || !r || r->type == FXT_STRING || r->type == FXT_THREAD)) {
		x->gapped = true;
		x->gap = until;
	}
	fxt_doubt_before(x, rule, from, until, lost);
	fxt_doubt_behind_zeros(x, until);
	if (lost != TM_EXACT)
		x->torn = until;
	fxt_drop(x, from, until, rule, region_why(rule));
	/* Bytes that no size vouches for may have been more records, or none. */
	bool sure = lost == TM_EXACT && (!r || until - from <= r->words * FXT_WORD);
	if (x->s->plan)
		plan_lost(x->s->plan, records, sure ? TM_EXACT : TM_UNKNOWN_COUNT);
	x->previous_header = 0;
	x->at = until;
}

/* The word at x->at is zero. */
static void zeros(struct fxt_walk *x)
{
	uint64_t from = x->at, end = window_skip_zeros(&x->peek, from);
	char say[96];
	if (x->peek.status != TM_OK)
		return;
	if (end >= x->size) {
		snprintf(say, sizeof(say), "%" PRIu64 " zero bytes up to the end of the file", x->size - from);
		region(x, FXT_RULE_zero_filled_tail, from, x->size, NULL, TM_UNKNOWN_COUNT, 0, say);
		return;
	}
	uint64_t until = from + (end - from) / FXT_WORD * FXT_WORD;
	snprintf(say, sizeof(say), "%" PRIu64 " zero words between records", (end - from) / FXT_WORD);
	if (!fxt_next_is_sound(x, until)) {
		/* What follows belongs to the hole: the rest of a record whose beginning it took. */
		struct fxt_record *r = &x->record;
		fxt_record_clear(r);
		struct fxt_resume resume = fxt_resync(x, until, r);
		until = resume.at;
		snprintf(say, sizeof(say), "%" PRIu64 " zero words, and %" PRIu64 " bytes up to the next sound record",
			 (end - from) / FXT_WORD, until - from - (end - from) / FXT_WORD * FXT_WORD);
	}
	region(x, FXT_RULE_zero_word_padding, from, until, NULL, TM_UNKNOWN_COUNT, 0, say);
}

/* A magic number record with a wrong size or number. */
#define bad_magic(x, r, rule) ((void)PLACE(rule), bad_magic_at((x), (r), (rule)))
static void bad_magic_at(struct fxt_walk *x, struct fxt_record *r, unsigned rule)
{
	uint64_t from = x->at, until = from + FXT_WORD;
	uint64_t by_size = from + r->words * FXT_WORD;
	struct finding *fd = finding_new_at(x->s->findings, rule, x->source, from, FXT_WORD);

	if (finding_kept(fd)) {
		finding_say(fd, "the magic number record is 0x%016" PRIx64 ", expected 0x%016" PRIx64, r->header, FXT_MAGIC);
		fxt_path(x, fd, r, NULL);
		finding_field(fd, from, FXT_WORD, "magic number record");
	}
	/* Words that a longer record would have are kept if they are records; zeros are its own. */
	if (r->words > 1 && by_size <= x->size && r->words <= FXT_RECORD_WORDS_MAX) {
		const uint8_t *rest = window_at(&x->peek, until, (size_t)(by_size - until));
		if ((rest && bytes_are_zero(rest, (size_t)(by_size - until))) ||
		    (!fxt_next_is_sound(x, until) && fxt_next_is_sound(x, by_size)))
			until = by_size;
	}
	if (x->magic_seen || (from && rule == FXT_RULE_bad_magic_value)) {
		fxt_doubt_before(x, rule, from, until, TM_AT_LEAST);
		fxt_drop(x, from, until, rule, "no magic number");
		if (x->s->plan)
			plan_lost(x->s->plan, 1, TM_EXACT);
	} else {
		uint8_t magic[FXT_WORD];
		store_u64(magic, FXT_MAGIC, x->decoder.big_endian);
		if (x->s->plan) {
			fxt_keep_flush(x, from);
			plan_replace(x->s->plan, x->output, x->source, from, FXT_WORD, magic, FXT_WORD, rule, "the magic number");
			plan_patched(x->s->plan, 1);
			x->patched++;
			x->keep_from = from + FXT_WORD;
		}
		fxt_drop(x, from + FXT_WORD, until, rule, "the magic number record is one word long");
		x->magic_seen = true;
		x->by_type[FXT_METADATA]++;
		x->provider->records++;
		fxt_took(x, from);
	}
	x->at = until;
}

static void misaligned(struct fxt_walk *x, const struct fxt_record *r, uint64_t until)
{
	char say[160];
	snprintf(say, sizeof(say), "sound records go on after %" PRIu64 " bytes, %" PRIu64 " off the 8-byte grid", until - x->at,
		 (until - x->at) % FXT_WORD);
	region(x, FXT_RULE_misaligned_records, x->at, until, r, TM_UNKNOWN_COUNT, 0, say);
}

/* Finds where to go on behind what is broken at x->at, and reports what lies in between under `rule`. */
static void resume_after(struct fxt_walk *x, struct fxt_record *r, unsigned rule)
{
	uint64_t from = x->at;
	char say[240];
	struct fxt_resume resume = fxt_resync(x, from, r);
	if (x->peek.status != TM_OK)
		return;
	if (resume.at == x->size && rule != FXT_RULE_truncated_record && window_skip_zeros(&x->peek, from + FXT_WORD) == x->size) {
		snprintf(say, sizeof(say), "a record of which all but the header is zero, up to the end of the file");
		region(x, FXT_RULE_zero_filled_tail, from, x->size, r, TM_UNKNOWN_COUNT, 1, say);
		return;
	}
	if (resume.shifted) {
		misaligned(x, r, resume.at);
		return;
	}
	if (rule == FXT_RULE_truncated_record && resume.at < x->size)
		rule = FXT_RULE_record_past_end;
	if (!r->fatal && resume.at < from + r->words * FXT_WORD)
		rule = FXT_RULE_swallowed_records;
	if (rule == FXT_RULE_swallowed_records || rule == FXT_RULE_unreadable_bytes) {
		if (rule == FXT_RULE_swallowed_records)
			snprintf(say, sizeof(say), "the size claims %" PRIu64 " words, and sound records begin after %" PRIu64,
				 r->words, (resume.at - from) / FXT_WORD);
		else
			snprintf(say, sizeof(say), "what decodes here as a record is faulty, and no record fits behind it");
		region(x, rule, from, resume.at, r, resume.exactly_one ? TM_EXACT : TM_AT_LEAST, 1, say);
		return;
	}
	region(x, rule, from, resume.at, r, resume.exactly_one ? TM_EXACT : TM_AT_LEAST, 1, NULL);
}

/* The record at x->at cannot be used. */
static void broken(struct fxt_walk *x, struct fxt_record *r)
{
	unsigned rule = r->fault.length ? r->fault.rule : (unsigned)FXT_RULE_unreadable_bytes;

	if (!r->header) {
		zeros(x);
		return;
	}
	if (rule == FXT_RULE_bad_magic_size || rule == FXT_RULE_bad_magic_value) {
		bad_magic(x, r, rule);
		return;
	}
	resume_after(x, r, rule);
}

/* ---- sound records off the fast path ---- */

static void check_late_padding(struct fxt_walk *x, struct fxt_record *r)
{
	uint64_t at = r->payload_at + r->payload_length;
	uint64_t length = r->content * FXT_WORD - at;
	const uint8_t *p = window_at(&x->peek, x->at + at, (size_t)length);
	if (p && !bytes_are_zero(p, (size_t)length))
		issue_add(&r->issues, fxt_rules, FXT_RULE_nonzero_padding, .at = at, .length = (uint32_t)length,
			  .got = r->payload_length);
}

static bool has_unknown_refs(const struct fxt_walk *x, const struct fxt_record *r)
{
	for (unsigned i = 0; i < r->string_count; i++)
		if (!fxt_string_known(x->provider, r->strings[i].ref))
			return true;
	for (unsigned i = 0; i < r->thread_count && r->type != FXT_THREAD; i++)
		if (!fxt_thread_known(x->provider, r->threads[i].ref))
			return true;
	return false;
}

/* A record that is sound in itself but in the wrong place: would another type fit better? */
static bool is_suspect(const struct fxt_walk *x, const struct fxt_record *r, bool unknown_refs)
{
	if (r->issues.worst == TM_ERROR || unknown_refs)
		return true;
	if (r->type != FXT_METADATA)
		return false;
	return (r->subtype == FXT_PROVIDER_INFO && r->issues.worst > TM_NOTE) ||
	       (r->subtype == FXT_PROVIDER_SECTION && (r->issues.worst > TM_NOTE || !fxt_provider_find(x, r->id)));
}

static bool is_wrong_in_size_alone(const struct fxt_record *r)
{
	for (uint32_t i = 0; i < r->issues.count; i++)
		if (r->issues.list[i].severity != TM_NOTE && r->issues.list[i].rule != FXT_RULE_record_trailing_words &&
		    r->issues.list[i].rule != FXT_RULE_provider_name_length_mismatch)
			return false;
	return true;
}

static void check_repeat(struct fxt_walk *x, const struct fxt_record *r)
{
	uint64_t length = r->words * FXT_WORD;
	bool repeat = false;

	if (r->type != FXT_EVENT)
		return;
	if (r->header == x->previous_header && r->timestamp == x->previous_time && x->at >= length &&
	    length <= FXT_RECORD_WORDS_MAX * FXT_WORD) {
		const uint8_t *p = window_at(&x->peek, x->at - length, (size_t)(2 * length));
		repeat = p && !memcmp(p, p + length, (size_t)length);
	}
	x->previous_header = r->header;
	x->previous_time = r->timestamp;
	if (!repeat)
		return;
	struct finding *fd = fxt_note(x, FXT_RULE_suspicious_repeat, x->at, length, "the record equals the one before it");
	if (fd)
		fxt_path(x, fd, r, NULL);
}

/* Inside the record at x->at, and on across its end, stand others: from `first` on. */
static void hiding(struct fxt_walk *x, struct fxt_record *r, uint64_t first)
{
	char say[240];
	if ((first - x->at) % FXT_WORD) {
		misaligned(x, r, first);
		return;
	}
	snprintf(say, sizeof(say), "the size claims %" PRIu64 " words, and sound records begin after %" PRIu64, r->words,
		 (first - x->at) / FXT_WORD);
	region(x, FXT_RULE_swallowed_records, x->at, first, r, TM_AT_LEAST, 1, say);
}

static void sound(struct fxt_walk *x, struct fxt_record *r)
{
	uint64_t from = x->at, end = from + r->words * FXT_WORD;
	char say[240];

	bool loose = !r->known || (r->content < r->words && !r->extended);
	uint64_t covered;
	if (loose && r->known && fxt_swallows(x, from, r, &covered)) {
		uint64_t first = fxt_inner_records(x, from, covered);
		/* One record with a damaged size, unless more speaks against it than its size. */
		bool exact = first == covered && is_wrong_in_size_alone(r) && !has_unknown_refs(x, r);
		snprintf(say, sizeof(say), "the size claims %" PRIu64 " words, and sound records begin after %" PRIu64, r->words,
			 (first - from) / FXT_WORD);
		region(x, FXT_RULE_swallowed_records, from, first, r, exact ? TM_EXACT : TM_AT_LEAST, 1, say);
		return;
	}
	uint64_t hidden = fxt_hidden_records(x, r, from);
	if (hidden < end) {
		hiding(x, r, hidden);
		return;
	}
	if (loose && !fxt_next_fits(x, end, end - from, false)) {
		resume_after(x, r, FXT_RULE_unreadable_bytes);
		return;
	}
	bool unknown_refs = has_unknown_refs(x, r), suspect = is_suspect(x, r, unknown_refs);
	if (suspect && fxt_type_damaged(x, from, r)) {
		char kind[64], other[64];
		fxt_describe(r, kind, sizeof(kind));
		fxt_describe(&x->other, other, sizeof(other));
		snprintf(say, sizeof(say), "the type is damaged: the record is faulty as %s, and exact as %s", kind, other);
		region(x, FXT_RULE_unreadable_bytes, from, end, r, TM_EXACT, 1, say);
		return;
	}
	/* Faulty, and nothing that fits behind it, or too long on top of it: noise that happens to decode. */
	if ((r->issues.worst == TM_ERROR || unknown_refs) &&
	    (!fxt_next_fits(x, end, end - from, true) || (loose && r->issues.worst == TM_ERROR && !fxt_next_is_sound(x, end)))) {
		unsigned first = 0;
		while (first < r->issues.count && r->issues.list[first].severity != TM_ERROR)
			first++;
		if (first < r->issues.count)
			r->fault = r->issues.list[first];
		resume_after(x, r, first < r->issues.count ? r->fault.rule : (unsigned)FXT_RULE_unreadable_bytes);
		return;
	}
	if (r->type == FXT_INITIALIZATION && !r->tail)
		issue_add(&r->issues, fxt_rules, FXT_RULE_zero_tick_rate, .at = FXT_WORD, .length = FXT_WORD);
	fxt_issues_report(x, r, from);
	check_repeat(x, r);
	fxt_doubt_record(x, r);
	fxt_record_accept(x, r, from);
	if (r->issues.worst == TM_ERROR && x->status == TM_OK)
		fxt_patch(x, r, from);
	if (r->issues.worst == TM_ERROR)
		x->faulty = end;
	fxt_took(x, from);
	x->at = end;
}

static void walk_record(struct fxt_walk *x, uint64_t header, uint64_t left)
{
	uint64_t words = fxt_size(header);
	size_t have = words && words <= left / FXT_WORD ? fxt_span(words) : FXT_WORD;
	struct fxt_record *r = &x->record;

	const uint8_t *p = window_at(&x->window, x->at, have);
	if (!p)
		return;
	fxt_decode(&x->decoder, r, p, have, left, 0);
	if (!r->fatal && r->late_padding)
		check_late_padding(x, r);
	if (r->fatal)
		broken(x, r);
	else
		sound(x, r);
}

/* ---- beginning and end ---- */

static unsigned bits_apart(uint64_t a, uint64_t b)
{
	return (unsigned)__builtin_popcountll(a ^ b);
}

static void write_magic(struct fxt_walk *x)
{
	uint64_t magic = FXT_MAGIC;
	fxt_insert(x, x->keep_from, &magic, 1, FXT_RULE_missing_magic, "the magic number, by which readers know the file");
	x->magic_written = true;
}

/* The file does not begin with anything like a magic number. */
static void begin_without_magic(struct fxt_walk *x)
{
	if (fxt_begins_sound(x)) {
		write_magic(x);
		/* Nothing came before a provider but the magic number. */
		const uint8_t *p = window_at(&x->window, 0, FXT_WORD);
		uint64_t header = p ? load_u64(p, x->decoder.big_endian) : 0;
		if (x->s->plan && ((header & 15) != FXT_METADATA || fxt_bits(header, 16, 4) != FXT_PROVIDER_INFO))
			plan_lost(x->s->plan, 0, TM_UNKNOWN_COUNT);
		return;
	}
	/* A prefix is lost, and with it the beginning of a record; or something was put in front. */
	struct fxt_record *r = &x->record;
	fxt_record_clear(r);
	struct fxt_resume resume = fxt_resync(x, 0, r);
	const uint8_t *p = resume.at < x->size ? window_at(&x->peek, resume.at, FXT_WORD) : NULL;
	char say[128];
	if (x->peek.status != TM_OK)
		return;
	if (!p) {
		/* Not one pair of sound records: single ones may still be there. */
		write_magic(x);
		return;
	}
	x->lost_prefix = true;
	if (load_u64(p, x->decoder.big_endian) == FXT_MAGIC) {
		snprintf(say, sizeof(say), "%" PRIu64 " bytes that are no record precede the magic number", resume.at);
		region(x, FXT_RULE_magic_not_first, 0, resume.at, NULL, TM_UNKNOWN_COUNT, 0, say);
		x->damage = NULL;
		return;
	}
	snprintf(say, sizeof(say),
		 "no magic number, and the first sound record stands at offset %" PRIu64 ": the beginning is lost", resume.at);
	write_magic(x);
	region(x, FXT_RULE_missing_magic, 0, resume.at, NULL, TM_UNKNOWN_COUNT, 0, say);
	x->magic_seen = true; /* said; a later one is another archive's */
}

static void begin(struct fxt_walk *x)
{
	const uint8_t *p = window_at(&x->window, 0, FXT_WORD);
	if (!p)
		return;
	uint64_t word = load_u64(p, false), swapped = load_u64(p, true);
	if (word == FXT_MAGIC)
		return;
	bool big = bits_apart(swapped, FXT_MAGIC) <= FXT_MAGIC_DAMAGE_MAX;
	if (!big && bits_apart(word, FXT_MAGIC) > FXT_MAGIC_DAMAGE_MAX) {
		size_t got, at;
		p = window_upto(&x->peek, 0, PROBE_BYTES, &got);
		if (!p || !fxt_probe(p, got, x->size, &big, &at))
			big = false;
	}
	x->decoder.big_endian = big;
	if (big) {
		finding_report(x->s->findings, FXT_RULE_big_endian_trace, x->source, 0, FXT_WORD,
			       "words are stored with the most significant byte first");
	}
	word = big ? swapped : word;
	if (word == FXT_MAGIC)
		return;
	if (bits_apart(word, FXT_MAGIC) > FXT_MAGIC_DAMAGE_MAX) {
		begin_without_magic(x);
		return;
	}
	struct fxt_record *r = &x->record;
	fxt_record_clear(r);
	r->header = word;
	r->words = fxt_size(word);
	r->subtype = FXT_TRACE_INFO;
	bool size_only = !((word ^ FXT_MAGIC) & ~fxt_field(4, 12, 0xfff));
	bad_magic(x, r, size_only ? FXT_RULE_bad_magic_size : FXT_RULE_bad_magic_value);
}

static void finish(struct fxt_walk *x)
{
	uint64_t left = x->size - x->at;

	if (x->status == TM_OK && left) {
		char say[80];
		snprintf(say, sizeof(say), "%" PRIu64 " bytes are left, a word has 8", left);
		region(x, FXT_RULE_file_size_not_multiple_of_8, x->at, x->size, NULL, TM_UNKNOWN_COUNT, 0, say);
	}
	if (x->status == TM_OK && !x->magic_seen) {
		x->headless = finding_report(x->s->findings, FXT_RULE_missing_magic, x->source, 0, FXT_WORD,
					     "the first record is no magic number, nor is any other");
	}
	fxt_missing_report(x);
	fxt_nesting_report(x);
	fxt_ids_report(x);
	for (struct fxt_provider *p = x->first; p; p = p->next)
		fxt_unused_report(x, p);
	if (x->status == TM_OK && !x->eventful && !x->by_type[FXT_EVENT]) {
		finding_report(x->s->findings, FXT_RULE_no_events, x->source, 0, 0, "%" PRIu64 " records, none of them an event",
			       x->records);
	}
	fxt_notes_flush(x);
	fxt_facts(x);
}

static void walk(struct fxt_walk *x)
{
	begin(x);
	while (x->status == TM_OK) {
		uint64_t left = x->size - x->at;
		const uint8_t *p = left >= FXT_WORD ? window_at(&x->window, x->at, FXT_WORD) : NULL;
		if (!p)
			break;
		uint64_t header = load_u64(p, x->decoder.big_endian);
		/* What stands right behind damage is looked at for itself: how far a run goes depends on the window. */
		bool plain = !x->at || (x->at != x->torn && x->at != x->faulty && x->at != x->unvouched);
		if (plain &&
		    ((header & 15) == FXT_EVENT ? fxt_events_run(x) : (header & 15) == FXT_STRING && fxt_string_plain(x, header)))
			continue;
		walk_record(x, header, left);
		if (x->window.status != TM_OK)
			break;
		if (x->peek.status != TM_OK)
			break;
	}
	if (x->status == TM_OK)
		x->status = x->window.status != TM_OK ? x->window.status : x->peek.status;
}

static bool walk_open(struct fxt_walk *x)
{
	x->hash_process = fxt_hash("process", 7);
	x->hash_weight = fxt_hash("weight", 6);
	x->hash_incoming = fxt_hash("incoming_weight", 15);
	x->hash_outgoing = fxt_hash("outgoing_weight", 15);
	x->hash_waker = fxt_hash("waker", 5);
	if (!fxt_tables_open(x) || !(x->provider = fxt_provider_get(x, 0))) {
		x->status = fault_memory(&x->s->in->error);
		return false;
	}
	x->provider->anonymous = true;
	return true;
}

enum tracemend_status fxt_scan(struct scan *s)
{
	struct source *source = bundle_single(s->in);
	struct fxt_walk *x = source ? calloc(1, sizeof(*x)) : NULL;

	if (!x)
		return source ? fault_memory(&s->in->error) : fault_set(&s->in->error, TM_UNRECOGNISED, "an FXT trace is one file");
	x->s = s;
	x->source = source;
	x->size = source->size;
	x->decoder.profile = s->profile && !strcmp(s->profile, "2022") ? FXT_2022 : FXT_LATEST;
	window_open(&x->window, source);
	window_open(&x->peek, source);
	if (s->plan)
		x->output = plan_output(s->plan, "");
	if (walk_open(x)) {
		walk(x);
		finish(x);
	}
	s->records = x->records;
	snprintf(s->version, sizeof(s->version), "%s", x->decoder.big_endian ? "big-endian" : "little-endian");
	enum tracemend_status status = x->status;
	if (s->plan && status == TM_OK) {
		fxt_keep_flush(x, x->size);
		fxt_doubt_stale(x);
		plan_kept(s->plan, x->records - x->patched - x->moved);
		if (!x->records)
			status = TM_NOTHING;
	}
	fxt_tables_close(x);
	fxt_nesting_close(x);
	fxt_ids_close(x);
	free(x->cpu_times);
	window_close(&x->window);
	window_close(&x->peek);
	free(x);
	return status;
}
