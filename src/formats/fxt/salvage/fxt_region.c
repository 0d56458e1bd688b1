#include "formats/fxt/salvage/fxt_region.h"

#include "formats/fxt/salvage/fxt_inner.h"
#include "formats/fxt/scan/fxt_journal.h"

#include <inttypes.h>
#include <stdio.h>

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
		return "less than a word at the end of the file";
	case FXT_RULE_swallowed_records:
		return "the size of the record is damaged";
	default:
		return "not a sound record";
	}
}

void fxt_region_at(struct fxt_walk *w, unsigned rule, uint64_t from, uint64_t until, const struct fxt_record *r,
		   enum tracemend_exactness lost, uint64_t records, const char *say)
{
	struct finding *fd = finding_new_at(w->s->findings, rule, w->report.source, from, until - from);
	if (finding_kept(fd)) {
		if (say)
			finding_say(fd, "%s", say);
		else
			fxt_issue_say(fd, r, &r->fault);
		if (r)
			fxt_path(&w->report, fd, r, NULL);
		if (r && r->fault.length && !say)
			finding_field(fd, from + r->fault.at, r->fault.length, "header 0x%016" PRIx64, r->header);
	}
	w->report.damage = fd;
	fxt_report_hole(&w->report, fd, from, until);
	fxt_doubt_region(&w->doubt, rule, from, until, lost,
			 r && r->words < FXT_RECORD_WORDS_MAX ? from + r->words * FXT_WORD : until);
	fxt_repair_drop(&w->repair, from, until, rule, region_why(rule));
	/* Bytes beyond the size field of the record may have been more records, or none. */
	bool sure = lost == TM_EXACT && (!r || until - from <= r->words * FXT_WORD);
	fxt_repair_lost(&w->repair, records, sure ? TM_EXACT : TM_UNKNOWN_COUNT);
	w->previous.header = 0;
	w->report.here.at = until;
}

/* The word at w->report.here.at is zero. */
static void zeros(struct fxt_walk *w)
{
	uint64_t from = w->report.here.at, end = window_skip_zeros(&w->resync.window, from);
	char say[96];
	if (w->resync.window.status != TM_OK)
		return;
	if (end >= w->report.here.size) {
		snprintf(say, sizeof(say), "%" PRIu64 " zero bytes up to the end of the file", w->report.here.size - from);
		fxt_region(w, FXT_RULE_zero_filled_tail, from, w->report.here.size, NULL, TM_UNKNOWN_COUNT, 0, say);
		return;
	}
	uint64_t until = from + (end - from) / FXT_WORD * FXT_WORD;
	snprintf(say, sizeof(say), "%" PRIu64 " zero words between records", (end - from) / FXT_WORD);
	if (!fxt_next_is_sound(&w->resync, until)) {
		/* What follows is the rest of a record whose beginning is in the hole, or begins with zeros off the grid. */
		struct fxt_record *r = &w->record;
		fxt_record_clear(r);
		struct fxt_resume resume = fxt_resync(&w->resync, until - FXT_WORD, r);
		until = fxt_inner_single(&w->resync, &w->registry, until - FXT_WORD, resume.at);
		snprintf(say, sizeof(say), "%" PRIu64 " zero words, and %" PRIu64 " bytes up to the next sound record",
			 (end - from) / FXT_WORD, until - from - (end - from) / FXT_WORD * FXT_WORD);
	}
	fxt_region(w, FXT_RULE_zero_word_padding, from, until, NULL, TM_UNKNOWN_COUNT, 0, say);
}

void fxt_bad_magic_at(struct fxt_walk *w, struct fxt_record *r, unsigned rule)
{
	uint64_t from = w->report.here.at, until = from + FXT_WORD;
	uint64_t by_size = from + r->words * FXT_WORD;
	struct finding *fd = finding_new_at(w->s->findings, rule, w->report.source, from, FXT_WORD);

	if (finding_kept(fd)) {
		finding_say(fd, "the magic number record is 0x%016" PRIx64 ", expected 0x%016" PRIx64, r->header, FXT_MAGIC);
		fxt_path(&w->report, fd, r, NULL);
		finding_field(fd, from, FXT_WORD, "magic number record");
	}
	/* The further words that the size field says are kept if they are records; zeros belong to the record. */
	if (r->words > 1 && by_size <= w->report.here.size && r->words <= FXT_RECORD_WORDS_MAX) {
		const uint8_t *rest = window_at(&w->resync.window, until, (size_t)(by_size - until));
		if ((rest && bytes_are_zero(rest, (size_t)(by_size - until))) ||
		    (!fxt_next_is_sound(&w->resync, until) && fxt_next_is_sound(&w->resync, by_size)))
			until = by_size;
	}
	if (w->report.magic_seen || (from && rule == FXT_RULE_bad_magic_value)) {
		fxt_doubt_before(&w->doubt, rule, from, until, TM_AT_LEAST);
		fxt_repair_drop(&w->repair, from, until, rule, "not a magic number record");
		fxt_repair_lost(&w->repair, 1, TM_EXACT);
	} else {
		fxt_repair_magic(&w->repair, from, rule);
		fxt_repair_drop(&w->repair, from + FXT_WORD, until, rule, "the magic number record is one word long");
		w->report.magic_seen = true;
		w->totals.by_type[FXT_METADATA]++;
		w->registry.provider->records++;
		fxt_position_accept(&w->report.here, from);
		fxt_record_give(w, r, from);
	}
	w->report.here.at = until;
}

void fxt_region_misaligned(struct fxt_walk *w, const struct fxt_record *r, uint64_t until)
{
	char say[160];
	snprintf(say, sizeof(say), "sound records continue after %" PRIu64 " bytes, %" PRIu64 " bytes off the 8-byte grid",
		 until - w->report.here.at, (until - w->report.here.at) % FXT_WORD);
	fxt_region(w, FXT_RULE_misaligned_records, w->report.here.at, until, r, TM_UNKNOWN_COUNT, 0, say);
}

/* Types of which a size can be set: what changes who is speaking, or when, is not taken back by what it refers to. */
static bool may_be_resized(unsigned type)
{
	return type != FXT_METADATA && type != FXT_INITIALIZATION && type <= FXT_LOG;
}

bool fxt_region_resized(struct fxt_walk *w, struct fxt_record *r, unsigned rule, uint64_t until)
{
	uint64_t from = w->report.here.at, length = until - from, words = length / FXT_WORD, stated = r->words, left;
	struct fxt_decoder d = w->decoder;
	struct fxt_record *o = &w->resync.other;
	bool all;

	if (length % FXT_WORD || words > FXT_RECORD_WORDS_MAX || words == stated || !may_be_resized(r->header & 15))
		return false;
	const uint8_t *p = window_at(&w->window, from, (size_t)length);
	if (!p)
		return false;
	left = w->report.here.size - from;
	d.flip = r->header ^ ((r->header & ~fxt_field(4, 12, UINT64_MAX)) | fxt_field(4, 12, words));
	if (!fxt_decode(&d, o, p, length, left, FXT_DECODE_STRICT) || !fxt_is_strict(o) || o->extended)
		return false;
	(void)fxt_refs_known(w->registry.provider, o, &all);
	if (!all)
		return false;
	(void)fxt_decode(&d, r, p, length, left, FXT_DECODE_STRICT);
	/* Arguments that end too soon, or have no end, are content that is too long. */
	if (rule != FXT_RULE_record_size_zero && rule != FXT_RULE_record_size_too_small && rule != FXT_RULE_record_past_end &&
	    rule != FXT_RULE_swallowed_records)
		rule = FXT_RULE_record_content_overrun;
	fxt_issues_report(&w->report, r, from);
	fxt_report(&w->report, rule, from, length,
		   "the size of the record is %" PRIu64 " words; its content has %" PRIu64 ", and the next record begins there",
		   stated, words);
	issue_add(&r->issues, fxt_rules, rule, .length = FXT_WORD);
	bool doubtful = fxt_doubt_record(&w->doubt, r, w->magic_written, false);
	fxt_record_accept(w, r, from);
	fxt_doubt_accepted(&w->doubt, r, doubtful);
	if (w->report.status == TM_OK && fxt_repair_record(&w->repair, r, from) != TM_OK)
		fxt_report_no_memory(&w->report);
	w->doubt.faulty = w->corrected = until;
	fxt_position_accept(&w->report.here, from);
	fxt_record_give(w, r, from);
	w->previous.header = 0;
	w->report.here.at = until;
	return true;
}

void fxt_region_resume(struct fxt_walk *w, struct fxt_record *r, unsigned rule)
{
	uint64_t from = w->report.here.at;
	char say[240];
	struct fxt_resume resume = fxt_resync(&w->resync, from, r);
	if (w->resync.window.status != TM_OK)
		return;
	if (resume.at == w->report.here.size && rule != FXT_RULE_truncated_record &&
	    window_skip_zeros(&w->resync.window, from + FXT_WORD) == w->report.here.size) {
		snprintf(say, sizeof(say), "all words of the record but its header are zero, up to the end of the file");
		fxt_region(w, FXT_RULE_zero_filled_tail, from, w->report.here.size, r, TM_UNKNOWN_COUNT, 1, say);
		return;
	}
	const uint64_t single = resume.exactly_one ? resume.at : fxt_inner_single(&w->resync, &w->registry, from, resume.at);
	if (resume.shifted && single == resume.at) {
		fxt_region_misaligned(w, r, resume.at);
		return;
	}
	resume.at = single;
	if (rule == FXT_RULE_truncated_record && resume.at < w->report.here.size)
		rule = FXT_RULE_record_past_end;
	if (!r->fatal && resume.at < from + r->words * FXT_WORD)
		rule = FXT_RULE_swallowed_records;
	if (resume.exactly_one && fxt_region_resized(w, r, rule, resume.at))
		return;
	/* Its size may end by chance where a record behind it ends. */
	const uint64_t inner = resume.exactly_one ? fxt_inner_last(&w->resync, &w->registry, from, resume.at) : resume.at;
	resume.exactly_one = resume.exactly_one && inner == resume.at;
	resume.at = inner;
	if (rule == FXT_RULE_swallowed_records || rule == FXT_RULE_unreadable_bytes) {
		if (rule == FXT_RULE_swallowed_records)
			snprintf(say, sizeof(say), "the size field says %" PRIu64 " words, and sound records begin after %" PRIu64,
				 r->words, (resume.at - from) / FXT_WORD);
		else
			snprintf(say, sizeof(say), "the record that decodes here is faulty, and no record follows it");
		fxt_region(w, rule, from, resume.at, r, resume.exactly_one ? TM_EXACT : TM_AT_LEAST, 1, say);
		return;
	}
	fxt_region(w, rule, from, resume.at, r, resume.exactly_one ? TM_EXACT : TM_AT_LEAST, 1, NULL);
}

void fxt_region_broken(struct fxt_walk *w, struct fxt_record *r)
{
	unsigned rule = r->fault.length ? r->fault.rule : (unsigned)FXT_RULE_unreadable_bytes;

	if (!r->header) {
		zeros(w);
		return;
	}
	if (rule == FXT_RULE_bad_magic_size || rule == FXT_RULE_bad_magic_value) {
		fxt_bad_magic(w, r, rule);
		return;
	}
	fxt_region_resume(w, r, rule);
}

bool fxt_region_goes_back(struct fxt_walk *w)
{
	struct fxt_position *here = &w->report.here;
	const uint64_t end = here->at, last = here->records ? fxt_position_recent(here, 1) : end;
	const struct fxt_record *o = &w->resync.other;

	/* What was corrected in it would have to be taken back as well. */
	if (last >= end || w->corrected == end || !fxt_decode_other(&w->resync, last) || last + o->words * FXT_WORD != end ||
	    o->type == FXT_METADATA || o->type == FXT_INITIALIZATION)
		return false;
	const uint64_t header = o->header, at = fxt_inner_torn(&w->resync, &w->registry, last, end);
	if (at == end)
		return false;
	fxt_journal_unregister(&w->registry, header, last);
	fxt_position_take_back(here);
	here->at = last;
	fxt_region(w, FXT_RULE_swallowed_records, last, at, NULL, TM_EXACT, 1,
		   "bytes of the record are missing: it takes in the beginning of the one behind it");
	return true;
}
