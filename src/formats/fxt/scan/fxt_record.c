/* The meaning of a sound record: registrations, references, timestamps, events. fxt_fast.c does the same for plain records. */
#include "formats/fxt/scan/fxt_walk.h"

#include "formats/fxt/scan/fxt_hash.h"
#include "formats/fxt/scan/fxt_journal.h"

/* ---- metadata ---- */

/* A second archive: what it introduces is new. */
static void begin_archive(struct fxt_walk *w, uint64_t magic)
{
	for (size_t i = 0; i < w->registry.count; i++)
		w->registry.list[i]->introduced = false;
	w->doubt.archive = magic;
}

/* Whether the record before the position, which is sound, ends in the magic number: it was cut, and another trace is behind it. It
 * is dropped then, and what it ends in is the magic number. */
static void uncover_magic(struct fxt_walk *w)
{
	struct fxt_position *here = &w->report.here;
	uint64_t last = here->records ? fxt_position_recent(here, 1) : here->at;
	const uint8_t *p = here->at - last > FXT_WORD ? window_at(&w->resync.window, here->at - FXT_WORD, FXT_WORD) : NULL;
	struct fxt_record *o = &w->resync.other;

	if (!p || load_u64(p, w->decoder.big_endian) != FXT_MAGIC || last < w->repair.keep_from ||
	    !fxt_decode_other(&w->resync, last) || last + o->words * FXT_WORD != here->at || o->payload_length)
		return;
	struct finding *fd = fxt_report(&w->report, FXT_RULE_swallowed_records, last, here->at - last,
					"the record is cut: it takes in the magic number of another trace behind it");
	if (fd)
		fxt_path(&w->report, fd, o, NULL);
	fxt_repair_drop(&w->repair, last, here->at - FXT_WORD, FXT_RULE_swallowed_records, "a record that was cut");
	fxt_repair_lost(&w->repair, 1, TM_EXACT);
	begin_archive(w, here->at - FXT_WORD);
}

static void accept_info(struct fxt_walk *w, const struct fxt_record *r, uint64_t offset)
{
	uncover_magic(w);
	struct fxt_provider *provider = fxt_provider_get(&w->registry, r->id);
	const uint8_t *name = r->data + r->text_at;
	if (!provider)
		return;
	fxt_doubt_leave(&w->doubt, offset);
	fxt_journal_enter(&w->registry, provider);
	fxt_provider_enter(&w->registry, provider);
	if (provider->introduced) {
		if (provider->name_length != r->text_length || memcmp(provider->name, name, provider->name_length)) {
			fxt_report(&w->report, FXT_RULE_provider_name_changed, offset, r->words * FXT_WORD,
				   "the name of provider %u differs from that of its earlier provider info record", r->id);
		} else
			fxt_report(&w->report, FXT_RULE_duplicate_provider_info, offset, r->words * FXT_WORD,
				   "provider %u was introduced before; readers forget its strings and threads", r->id);
	}
	fxt_provider_reset(&w->registry, provider);
	fxt_journal_reset(&w->registry, provider);
	provider->sessions += provider->timed != 0;
	provider->introduced = true;
	provider->placeholder = false;
	provider->cause = NULL;
	provider->offset = offset;
	provider->name_length = (uint8_t)r->text_length;
	memcpy(provider->name, name, provider->name_length);
	provider->ticks = FXT_TICKS_DEFAULT;
	provider->tick_limit = INT64_MAX;
	provider->initialized = false;
	provider->rate_offset = 0;
	fxt_doubt_forget(&w->doubt, provider);
	provider->distrust = (struct fxt_distrust){ 0 };
	w->registry.introduced = true;
}

static void accept_section(struct fxt_walk *w, const struct fxt_record *r, uint64_t offset)
{
	struct fxt_provider *provider = fxt_provider_find(&w->registry, r->id);
	struct fxt_provider *first = w->registry.list[0];
	bool used = first->initialized || first->strings || first->threads;
	/* Readers know the context before any provider as number 0. */
	if (!provider && !r->id && (!w->registry.introduced || used)) {
		fxt_doubt_leave(&w->doubt, offset);
		if (w->registry.introduced)
			fxt_journal_enter(&w->registry, first);
		fxt_provider_enter(&w->registry, first);
		/* The record that introduced a provider 0 may be what was hit. */
		first->distrust.info |= w->doubt.seam && !w->registry.introduced;
		return;
	}
	if (!provider) {
		uint64_t info = fxt_header(FXT_METADATA, 1) | fxt_field(16, 4, FXT_PROVIDER_INFO) | fxt_field(20, 32, r->id);
		provider = fxt_provider_get(&w->registry, r->id);
		if (!provider)
			return;
		if (w->report.damage)
			finding_explains(w->report.damage, 1);
		else
			provider->cause = fxt_report(&w->report, FXT_RULE_unknown_provider_section, offset, FXT_WORD,
						     "no provider info record of provider %u precedes this section", r->id);
		fxt_doubt_provider(&w->doubt, r->id);
		fxt_repair_insert(&w->repair, offset, &info, 1, FXT_RULE_unknown_provider_section,
				  "a provider info record for a provider whose own is lost");
		fxt_repair_lost(&w->repair, 0, TM_UNKNOWN_COUNT);
		provider->introduced = provider->placeholder = true;
		provider->offset = offset;
		provider->distrust.clock = true;
		w->registry.introduced = true;
	}
	fxt_doubt_leave(&w->doubt, offset);
	fxt_journal_enter(&w->registry, provider);
	fxt_provider_enter(&w->registry, provider);
}

static void accept_magic(struct fxt_walk *w, uint64_t offset)
{
	if (w->report.magic_seen) {
		fxt_report(&w->report, FXT_RULE_duplicate_magic, offset, FXT_WORD, "a second magic number record");
		begin_archive(w, offset);
	} else if (offset && !w->lost_prefix) {
		w->report.no_magic = fxt_report(&w->report, FXT_RULE_magic_not_first, offset, FXT_WORD,
						"the offset of the magic number record is %llu, expected 0",
						(unsigned long long)offset);
	}
	if (!w->report.magic_seen && w->magic_written && !w->registry.introduced) {
		fxt_repair_drop(&w->repair, offset, offset + FXT_WORD, FXT_RULE_magic_not_first, "moved to the beginning");
		w->repair.moved++;
	}
	w->report.magic_seen = true;
}

static void accept_metadata(struct fxt_walk *w, const struct fxt_record *r, uint64_t offset)
{
	struct fxt_provider *provider;
	switch (r->subtype) {
	case FXT_PROVIDER_INFO:
		accept_info(w, r, offset);
		break;
	case FXT_PROVIDER_SECTION:
		accept_section(w, r, offset);
		break;
	case FXT_PROVIDER_EVENT:
		provider = fxt_provider_find(&w->registry, r->id);
		if (!provider && (r->id || w->registry.introduced))
			fxt_note(&w->report, FXT_RULE_unknown_provider_event_id, offset, FXT_WORD,
				 "no provider info record of provider %u precedes this event", r->id);
		if (fxt_bits(r->header, 52, 4) == FXT_PROVIDER_BUFFER_FULL) {
			w->report.buffer_full = true;
			if (provider)
				provider->buffer_full = true;
			fxt_report(&w->report, FXT_RULE_buffer_full, offset, FXT_WORD,
				   "the buffer of provider %u was full: records were dropped", r->id);
		}
		break;
	case FXT_TRACE_INFO:
		if (r->known)
			accept_magic(w, offset);
		break;
	default:
		break;
	}
}

/* ---- events ---- */

static void accept_event(struct fxt_walk *w, unsigned event, struct fxt_thread *t, uint64_t process, uint64_t category,
			 uint64_t name, uint64_t time, uint64_t tail, uint64_t offset)
{
	switch (event) {
	case FXT_DURATION_BEGIN:
		if (t)
			fxt_nesting_begin(&w->nesting, t, time, offset, name);
		break;
	case FXT_DURATION_END:
		if (t)
			fxt_nesting_end(&w->nesting, t, time, offset, name);
		break;
	case FXT_DURATION_COMPLETE:
		if (t)
			t->completes = true;
		fxt_check_complete(&w->check, time, tail, offset);
		break;
	case FXT_ASYNC_BEGIN:
	case FXT_ASYNC_INSTANT:
	case FXT_ASYNC_END:
		fxt_async(&w->operations, event, (const uint64_t[4]){ process, category, name, tail }, time,
			  w->registry.provider->last, offset);
		break;
	case FXT_FLOW_BEGIN:
	case FXT_FLOW_STEP:
	case FXT_FLOW_END:
		fxt_flow(&w->operations, event, tail, time, w->registry.provider->last, offset, t);
		break;
	default:
		break;
	}
}

static void check_blob(struct fxt_walk *w, const struct fxt_record *r, uint64_t name, uint64_t offset)
{
	if (r->id == FXT_BLOB_DATA && !r->strings[0].ref) {
		fxt_note(&w->report, FXT_RULE_filler_blob, offset, r->words * FXT_WORD, "a blob of %llu bytes without a name",
			 (unsigned long long)r->payload_length);
		return;
	}
	const uint64_t other = fxt_blob_stream(&w->operations, w->registry.provider->id, name, r, offset);
	if (other != FXT_BLOB_ALONE)
		fxt_doubt_pair(&w->doubt, other, offset, "one of two blobs of a name whose types differ: either may be damaged");
}

/* ---- the whole record ---- */

/* The threads of the record; the track of the first one. */
static struct fxt_thread *accept_threads(struct fxt_walk *w, const struct fxt_record *r, uint64_t offset, uint64_t *process)
{
	struct fxt_thread *track = NULL;
	for (unsigned n = 0; n < r->thread_count && w->report.status == TM_OK; n++) {
		const struct fxt_thread_ref *t = &r->threads[n];
		if (t->ref) {
			struct fxt_thread_entry *e = fxt_thread_use(&w->registry, r, t->ref);
			if (e && !n) {
				track = e->track;
				*process = e->process;
			}
			continue;
		}
		fxt_check_koid(&w->check, t->process, offset + t->at);
		fxt_check_koid(&w->check, t->thread, offset + t->at);
		if (!t->process_only && fxt_thread_is_unknown(t->process, t->thread) && r->type != FXT_SCHEDULING)
			fxt_note(&w->report, FXT_RULE_unknown_inline_thread, offset + t->at, 2 * FXT_WORD,
				 "process koid 0, thread koid 0");
		if (!n) {
			*process = t->process;
			if (r->type == FXT_EVENT)
				track = fxt_nesting_thread(&w->nesting, t->process, t->thread);
		}
	}
	return track;
}

static void accept_string(struct fxt_walk *w, const struct fxt_record *r, uint64_t offset)
{
	uint64_t hash = fxt_hash(r->data + r->text_at, (size_t)r->text_length);

	fxt_journal_string(&w->registry, r->id, hash);
	fxt_string_register(&w->registry, r->id, hash, offset, r->words * FXT_WORD);
}

void fxt_record_accept(struct fxt_walk *w, const struct fxt_record *r, uint64_t offset)
{
	uint64_t category = 0, name = 0, process = 0, arguments[FXT_ARGUMENTS_MAX] = { 0 };

	w->totals.by_type[r->type]++;
	if (r->type == FXT_METADATA) {
		if (r->known)
			accept_metadata(w, r, offset);
		if (w->report.status == TM_OK)
			w->registry.provider->records++;
		return;
	}
	w->registry.provider->records++;
	if (!r->known)
		return;
	struct fxt_thread *track = r->type == FXT_THREAD ? NULL : accept_threads(w, r, offset, &process);
	for (unsigned n = 0; n < r->string_count && w->report.status == TM_OK; n++) {
		const struct fxt_string_ref *s = &r->strings[n];
		uint64_t hash = s->ref ? fxt_string_use(&w->registry, r, s) : 0;
		if (s->role == FXT_ROLE_CATEGORY)
			category = hash;
		else if (s->role == FXT_ROLE_NAME)
			name = hash;
		else if (s->role == FXT_ROLE_ARGUMENT_NAME)
			arguments[s->argument] = hash;
	}
	if (w->report.status != TM_OK)
		return;
	if (r->has_timestamp)
		fxt_clock_time(&w->clock, w->registry.provider, r->timestamp, offset);
	fxt_check_arguments(&w->check, r, arguments, offset);
	fxt_check_newer(&w->check, r);
	switch (r->type) {
	case FXT_INITIALIZATION:
		fxt_journal_rate(&w->registry, r->tail);
		fxt_clock_initialize(&w->clock, w->registry.provider, r->tail, !w->registry.introduced, offset,
				     r->words * FXT_WORD);
		break;
	case FXT_STRING:
		if (r->id)
			accept_string(w, r, offset);
		break;
	case FXT_THREAD:
		fxt_check_koid(&w->check, r->threads[0].process, offset + FXT_WORD);
		fxt_check_koid(&w->check, r->threads[0].thread, offset + FXT_WORD);
		if (r->id)
			fxt_journal_thread(&w->registry, r->id, r->threads[0].process, r->threads[0].thread);
		if (r->id)
			fxt_thread_register(&w->registry, r->id, r->threads[0].process, r->threads[0].thread, offset);
		break;
	case FXT_EVENT:
		w->totals.by_event[r->subtype]++;
		w->totals.eventful = true;
		if (r->subtype == FXT_COUNTER)
			fxt_check_counter(&w->check, r, offset);
		accept_event(w, r->subtype, track, process, category, name, r->timestamp, r->tail, offset);
		break;
	case FXT_KERNEL:
		fxt_check_kernel_object(&w->check, r, offset);
		break;
	case FXT_SCHEDULING:
		w->totals.eventful = true;
		fxt_check_scheduling(&w->check, r, offset);
		break;
	case FXT_BLOB:
		w->totals.eventful = true;
		check_blob(w, r, name, offset);
		break;
	case FXT_LARGE:
		fxt_check_large(&w->check, r, offset);
		w->totals.eventful = true;
		break;
	case FXT_LOG:
		w->totals.eventful = true;
		break;
	default:
		break;
	}
}
