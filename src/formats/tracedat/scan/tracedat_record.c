/* The slow path over the records of one page of the ring buffer, down to each event word: all that tracedat_fast.c leaves. */
#include "formats/tracedat/scan/tracedat_record.h"

#include "formats/tracedat/salvage/tracedat_salvage.h"

/* ---- findings ---- */

struct finding *tracedat_page_finding_at(struct tracedat_page *p, unsigned rule, uint32_t at, uint32_t length)
{
	const struct tracedat_page_place *o = p->where;
	const char *name = p->stream->buffer->name;
	struct finding *fd;
	if (o->in_chunk)
		fd = tracedat_finding_at(p->w, rule, o->offset, o->length);
	else
		fd = tracedat_finding_at(p->w, rule, o->offset + at, length);
	if (!finding_kept(fd))
		return fd;
	if (o->in_chunk)
		finding_path(fd, "%s%sCPU %u > page %llu > byte %u, decompressed", name, *name ? " > " : "", p->stream->cpu->cpu,
			     (unsigned long long)p->stream->index, at);
	else
		finding_path(fd, "%s%sCPU %u > page %llu > byte %u", name, *name ? " > " : "", p->stream->cpu->cpu,
			     (unsigned long long)p->stream->index, at);
	return fd;
}

struct finding *tracedat_page_report_at(struct tracedat_page *p, unsigned rule, uint32_t at, uint32_t length, const char *format,
					...)
{
	struct finding *fd = tracedat_page_finding_at(p, rule, at, length);
	va_list arguments;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

/* ---- edits ---- */

void tracedat_page_edit(struct tracedat_page *p, uint32_t at, uint32_t remove, const void *bytes, size_t length, unsigned rule,
			const char *why)
{
	edits_add(&p->w->pages.edits, at, remove, bytes, length, rule, why);
}

static uint32_t word_make(uint32_t type, uint32_t delta, bool be)
{
	return be ? type << 27 | delta : delta << 5 | type;
}

/* Adds the time deltas of removed records to the event at `at`. */
static void carry_add(struct tracedat_page *p, uint32_t at, uint32_t type, uint32_t delta)
{
	static const char why[] = "the time of a record that was removed";
	uint8_t word[8];
	uint64_t sum = p->carry + delta;
	uint32_t replaced = 4, length = 4;

	if (!p->carry)
		return;
	p->carry = 0;
	if (type == TRACEDAT_WORD_STAMP)
		return;
	if (type == TRACEDAT_WORD_EXTEND) {
		sum += (uint64_t)load_u32(p->data + at + 4, p->be) << 27;
		replaced = length = 8;
	} else if (sum > TRACEDAT_WORD_DELTA_MAX) {
		/* A time extension of its own takes 8 of the bytes that the record had. */
		sum -= delta;
		type = TRACEDAT_WORD_EXTEND;
		replaced = 0;
		length = 8;
		p->removed -= 8;
	}
	store_u32(word, word_make(type, (uint32_t)(sum & TRACEDAT_WORD_DELTA_MAX), p->be), p->be);
	if (length == 8)
		store_u32(word + 4, (uint32_t)(sum >> 27), p->be);
	tracedat_page_edit(p, p->head + at, replaced, word, length, TRACEDAT_RULE_record_unknown_event_id, why);
}

/* Ranges within pages that are listed; of further pages all is listed, so that the list does not grow with the records. */
#define DOUBTS_MAX 65536u

void tracedat_page_doubt(struct tracedat_page *p, uint32_t from, uint32_t to, const char *why)
{
	if (!p->emitting || from >= to || p->listed)
		return;
	p->listed = p->where->in_chunk || p->w->pages.doubts++ >= DOUBTS_MAX;
	if (p->where->in_chunk)
		p->stream->doubtful = why; /* of a chunk all is listed */
	else if (p->listed)
		plan_doubt(p->w->s->plan, p->w->source, p->where->offset, p->where->length, why);
	else
		plan_doubt(p->w->s->plan, p->w->source, p->where->offset + p->head + from, to - from, why);
}

/* Where the last data record ends. */
static uint32_t last_end(const struct tracedat_page *p)
{
	struct tracedat_word word;
	return p->records && tracedat_word_read(p->data, p->last, p->limit, p->be, &word) ? p->last + word.total : p->sync;
}

static const char why_record[] = "this record has values that no kernel writes";
static const char why_blind[] = "the format of the event is lost: nothing shows whether the record was hit";
static const char why_before[] = "what was hit may begin inside of this record";
static const char why_stamp[] = "an absolute time contradicts the times of these records";
static const char why_behind[] = "the times of these records hang on what was lost before them in the page";

/* The data record in front of that at `end` in the chain that is walked; `end`: there is none. */
static uint32_t record_previous(const struct tracedat_page *p, uint32_t end)
{
	uint32_t last = end;
	struct tracedat_word word;
	for (uint32_t at = p->sync; at < end && tracedat_word_read(p->data, at, p->limit, p->be, &word); at += word.total)
		last = word.type < TRACEDAT_WORD_PADDING ? at : last;
	return last;
}

void tracedat_page_doubt_before(struct tracedat_page *p, uint32_t at)
{
	if (!p->emitting || !p->records || last_end(p) != at || p->last < p->sync)
		return;
	/* Where it begins with a word that was hit, so may the end of the one in front of it have been. */
	tracedat_page_doubt(p, record_previous(p, p->last), at, why_before);
}

/* Behind damage at data[from, to): the record in front of it, and the times behind it. */
static void page_suspect(struct tracedat_page *p, uint32_t from, uint32_t to)
{
	p->holed = true;
	tracedat_page_doubt_before(p, from);
	if (p->unsure == UINT32_MAX)
		p->unsure = to;
}

/* Times are known again, or the page ends. */
static void page_sure(struct tracedat_page *p, uint32_t at)
{
	/* Where the walk ends there, and goes on behind a length that was hit, it is still unknown. */
	if (p->unsure >= at)
		return;
	tracedat_page_doubt(p, p->unsure, at, why_behind);
	p->unsure = UINT32_MAX;
}

/* The time at the end of the last data record of the chain that is walked. */
static uint64_t chain_time(const struct tracedat_page *p, uint32_t end)
{
	uint64_t time = p->sync_time;
	struct tracedat_word word;
	for (uint32_t at = p->sync; at < end && tracedat_word_read(p->data, at, p->limit, p->be, &word); at += word.total) {
		uint64_t high = word.type >= TRACEDAT_WORD_EXTEND ? (uint64_t)load_u32(p->data + at + 4, p->be) << 27 : 0;
		if (word.type == TRACEDAT_WORD_STAMP)
			time = ((high + word.delta) & TRACEDAT_WORD_STAMP_MASK) | (time & ~TRACEDAT_WORD_STAMP_MASK);
		else if (word.type != TRACEDAT_WORD_PADDING || word.delta != 1)
			time += high + word.delta;
	}
	return time;
}

/* The walk stopped at `at`. Leaves out what is damaged and returns where sound records go on; 0: there are none. */
static uint32_t page_hole(struct tracedat_page *p, uint32_t at, bool open)
{
	uint32_t next = p->cut ? 0 : tracedat_page_resync(p, at, open), from = last_end(p);
	struct tracedat_word word;

	if (!next)
		return 0;
	/* Words of time in front of it may be damaged already. */
	if (from > at || from < p->sync)
		from = at;
	/* A record that was removed there counts once. */
	from = from < p->cleared && p->cleared <= at ? p->cleared : from;
	uint64_t time = chain_time(p, from);
	/* Where the word of the record that was hit leads to the next one, its time may be right as well. */
	uint32_t delta = tracedat_word_read(p->data, at, p->limit, p->be, &word) && at + word.total == next &&
					 word.type < TRACEDAT_WORD_PADDING && time + word.delta <= p->latest
				 ? word.delta
				 : 0;
	p->bad++;
	p->failed = p->cut = false;
	page_suspect(p, from, next);
	p->carry = 0;
	if (p->emitting) {
		tracedat_page_edit(p, p->head + from, next - from, NULL, 0, p->stop_rule, "bytes that are not a record");
		p->removed += next - from;
		p->cleared = next;
		p->stream->pending_missed = true;
		p->carry = delta;
	}
	p->sync = next;
	p->sync_time = p->time = time + delta;
	return next;
}

static void record_remove(struct tracedat_page *p, uint32_t at, uint32_t length, uint32_t delta, unsigned rule)
{
	p->bad++;
	p->records--;
	page_suspect(p, at, at + length);
	p->records++;
	if (!p->emitting)
		return;
	p->records--;
	tracedat_page_edit(p, p->head + at, length, NULL, 0, rule, "a record that cannot be decoded");
	p->removed += length;
	p->cleared = at + length;
	p->carry += delta;
}

/* ---- records ---- */

/* Returns true when the record stays. */
static void record_size(struct tracedat_unknown *u, uint32_t size)
{
	u->least = u->most && u->least < size ? u->least : size;
	u->most = u->most > size ? u->most : size;
}

static bool record_unknown(struct tracedat_page *p, uint32_t at, uint32_t id, uint32_t size)
{
	struct tracedat_walk *w = p->w;

	if (id && id == w->events.blk_id)
		return true;
	if (p->emitting)
		return false;
	if (!tracedat_unknown_table(w))
		return true;
	struct tracedat_unknown *u = &w->events.unknown[id];
	if (p->bounded)
		return true; /* counted in the first walk */
	record_size(u, size);
	u->records++;
	if (w->events.finding) {
		finding_explains(w->events.finding, 1);
	} else if (u->finding) {
		finding_explains(u->finding, 1);
	} else {
		u->finding = tracedat_page_report(p, TRACEDAT_RULE_record_unknown_event_id, p->head + at, 8,
						  "event ID %u has no format", id);
	}
	return true;
}

/* The record of that payload is not what was recorded. */
static void record_suspect(struct tracedat_page *p, const uint8_t *payload, uint32_t size)
{
	uint32_t at = (uint32_t)(payload - p->data);
	tracedat_page_doubt(p, at, at + size, why_record);
}

static void dynamic_check(struct tracedat_page *p, const uint8_t *payload, uint32_t size, const struct tracedat_event *e)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < e->dynamic_count; i++) {
		const struct tracedat_dynamic *d = &p->w->events.dynamics[e->dynamic + i];
		struct tracedat_array a = tracedat_array_read(d, payload, p->be);
		uint32_t field = (uint32_t)(payload - p->bytes) + d->offset;
		if (tracedat_array_outside(&a, e, size)) {
			(void)tracedat_page_report(
				p, TRACEDAT_RULE_record_data_loc_range, field, 4,
				"%s: the dynamic array at byte %u has %u bytes, in a record of %u with %u of fixed fields", e->name,
				a.offset, a.length, size, e->fixed);
			p->bad++;
			if (p->emitting) {
				uint8_t empty[4];
				uint32_t at = (uint32_t)(payload - p->data);
				tracedat_page_doubt(p, at, at + size, "an array of this record is lost");
				store_u32(empty, d->relative ? e->fixed - d->offset - 4u : e->fixed, p->be);
				tracedat_page_edit(p, field, 4, empty, 4, TRACEDAT_RULE_record_data_loc_range,
						   "an empty array: its offset is unknown");
			}
			continue;
		}
		if (tracedat_array_without_nul(&a, d, payload)) {
			(void)tracedat_page_report(p, TRACEDAT_RULE_record_data_loc_string, field, 4,
						   "%s: the text of %u bytes has no NUL", e->name, a.length);
			record_suspect(p, payload, size);
			/* What took the NUL at the end of the record may reach into the word behind it. */
			if (size - a.offset - a.length < 4 && p->unsure == UINT32_MAX)
				p->unsure = (uint32_t)(payload - p->data) + size;
		}
		if (a.length && a.offset < end)
			(void)tracedat_page_report(p, TRACEDAT_RULE_record_data_loc_order, field, 4,
						   "%s: the dynamic array is at byte %u, before the end of the previous one at %u",
						   e->name, a.offset, end);
		if (a.length)
			end = a.offset + a.length;
	}
}

/* The printk format that the record names does not exist. */
static bool printk_dangles(const struct tracedat_page *p, const struct tracedat_event *e, const uint8_t *payload)
{
	return e->printk && !tracedat_printk_known(&p->w->texts, tracedat_long(&p->w->shape, payload + e->printk));
}

/* Records of one event in the least block of a disk, at most. */
#define RECORDS_IN_SECTOR (TRACEDAT_SECTOR_OF_DISK / 16)

/* An ID that no other record has may be that of a record that was hit, and its delta as well. Where no format is lost and the
 * kernel counted another number of events, a few such records may be those of a block of another file, as what is beside them. */
static void unknown_suspect(struct tracedat_page *p, uint32_t at, uint64_t records)
{
	const struct tracedat_cpu *c = p->stream->cpu;
	bool block = records <= RECORDS_IN_SECTOR && !p->w->events.finding && c && c->stat && c->stat->known && !c->agrees;

	if (records != 1 && !block)
		return;
	if (block)
		tracedat_page_doubt(p, at > TRACEDAT_SECTOR_OF_DISK ? at - TRACEDAT_SECTOR_OF_DISK : 0, at, why_before);
	else
		tracedat_page_doubt_before(p, at);
	if (p->unsure == UINT32_MAX)
		p->unsure = at;
}

static void special_check(struct tracedat_page *p, uint32_t at, const uint8_t *payload, uint32_t size,
			  const struct tracedat_event *e)
{
	struct tracedat_walk *w = p->w;

	if (e->contested && w->events.unknown && !p->emitting)
		record_size(&w->events.unknown[e->id], size);
	if (e->dynamic_count)
		dynamic_check(p, payload, size, e);
	/* Of a chunk all would be listed: tracedat_page_check() does that where most of its records are such. */
	p->blind += e->blind;
	if (e->blind && !p->where->in_chunk)
		tracedat_page_doubt(p, at, (uint32_t)(payload - p->data) + size, why_blind);
	if (e->blind && p->emitting && w->events.unknown)
		unknown_suspect(p, at, w->events.unknown[e->id].records);
	if (e->doubtful)
		tracedat_page_doubt(p, at, (uint32_t)(payload - p->data) + size,
				    "the format of the event, or the name of its system, was hit");
	if (p->emitting)
		return;
	if (printk_dangles(p, e, payload)) {
		if (w->pages.printk_finding) {
			finding_explains(w->pages.printk_finding, 1);
		} else {
			w->pages.printk_finding = tracedat_page_report(
				p, TRACEDAT_RULE_record_printk_dangling, p->head + at, 8, "%s: no printk format at 0x%llx", e->name,
				(unsigned long long)tracedat_long(&w->shape, payload + e->printk));
		}
	}
	for (unsigned i = 0; i < 2 && e->ip[i] && w->texts.symbols; i++) {
		uint64_t address = tracedat_long(&p->w->shape, payload + e->ip[i]);
		if (tracedat_symbol_known(&w->texts, address))
			continue;
		if (w->pages.ip_finding) {
			finding_explains(w->pages.ip_finding, 1);
		} else {
			w->pages.ip_finding = tracedat_page_report(p, TRACEDAT_RULE_record_ip_dangling, p->head + at, 8,
								   "%s: address 0x%llx is outside the symbol table", e->name,
								   (unsigned long long)address);
		}
	}
}

static void pid_check(struct tracedat_page *p, uint32_t at, uint32_t pid)
{
	struct tracedat_walk *w = p->w;
	if (p->emitting)
		return;
	if (pid > TRACEDAT_PID_MAX) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_pid_range, p->head + at, 8,
					   "the process id is %d, expected 0 to 4194304", (int)pid);
		return;
	}
	/* Reported once for each process: from now on it is known. */
	if (!tracedat_pids_add(&w->texts.pids, pid))
		tracedat_no_memory(w);
	if (!w->texts.cmdlines)
		return;
	if (w->pages.pid_finding) {
		finding_explains(w->pages.pid_finding, 1);
		return;
	}
	w->pages.pid_finding = tracedat_page_report(p, TRACEDAT_RULE_record_pid_unknown, p->head + at, 8,
						    "process %u is not among the saved command lines", pid);
}

/* Whether a record of the event with that size was reported: of many of one size the format is wrong, or they were hit alike. */
static bool odd_again(const struct tracedat_event *e, uint32_t size)
{
	if (!e->odd || e->odd_size != size)
		return false;
	finding_explains(e->odd, 1);
	return true;
}

static void odd_note(const struct tracedat_page *p, struct tracedat_event *e, uint32_t size, struct finding *fd)
{
	e->odd = p->w->findings == p->w->scratch ? NULL : fd;
	e->odd_size = size;
}

/* A record of another size than its format. Returns true when it stays. */
static bool record_odd(struct tracedat_page *p, uint32_t at, uint32_t size, struct tracedat_event *e)
{
	if (size < e->fixed) {
		if (p->emitting)
			return false;
		if (e->contested && p->w->events.unknown)
			record_size(&p->w->events.unknown[e->id], size);
		if (!odd_again(e, size))
			odd_note(p, e, size,
				 tracedat_page_report(p, TRACEDAT_RULE_record_shorter_than_format, p->head + at, 4 + size,
						      "%s: the record has %u bytes, but its fields end at %u", e->name, size,
						      e->fixed));
		p->w->pages.shorter++;
		p->bad++;
		return true;
	}
	if (!p->emitting && !odd_again(e, size))
		odd_note(p, e, size,
			 tracedat_page_report(p, TRACEDAT_RULE_record_longer_than_format, p->head + at, 4 + size,
					      "%s: the record has %u bytes, but its fields end at %u", e->name, size, e->fixed));
	/* Its size may have been hit: then it covers records, and their times are missing behind it. The hit may begin in front of
	 * it. */
	tracedat_page_doubt_before(p, at);
	record_suspect(p, p->data + at + 4, size);
	if (p->unsure == UINT32_MAX)
		p->unsure = at + 4 + size;
	return true;
}

/* Where the fields and arrays of a record end in its payload; `size`: it may have as many bytes as it has. */
static uint32_t content_end(const struct tracedat_page *p, const struct tracedat_event *e, const uint8_t *payload, uint32_t size)
{
	const struct tracedat_events *events = &p->w->events;
	uint32_t end = e->fixed, slack = e->dynamic_count || e->loose ? tracedat_arrays_slack(e) : e->slack;

	if (e->open || size < e->fixed)
		return size;
	for (uint32_t i = 0; i < e->dynamic_count; i++) {
		struct tracedat_array a = tracedat_array_read(&events->dynamics[e->dynamic + i], payload, p->be);
		if (tracedat_array_outside(&a, e, size))
			return size;
		end = a.length && a.offset + a.length > end ? a.offset + a.length : end;
	}
	return size - end > slack ? end : size;
}

/* A record whose arrays end well before it does, in a capture of which records were hit: its size may have been as well. Then it
 * covers what followed, and the times of that are missing behind it. */
static void arrays_suspect(struct tracedat_page *p, const struct tracedat_event *e, const uint8_t *payload, uint32_t size)
{
	const struct tracedat_walk *w = p->w;
	const uint32_t at = (uint32_t)(payload - p->data);

	if (!p->emitting || !e->dynamic_count || e->loose || content_end(p, e, payload, size) == size ||
	    !(findings_errors(w->findings) || TRACEDAT_ANY(w, TRACEDAT_RULE_record_data_loc_string)))
		return;
	record_suspect(p, payload, size);
	if (p->unsure == UINT32_MAX)
		p->unsure = at + size;
}

/* Judges a data record; total: with its words. Returns true when it stays. */
static bool record_check(struct tracedat_page *p, uint32_t at, uint32_t total, const uint8_t *payload, uint32_t size,
			 uint32_t delta)
{
	struct tracedat_walk *w = p->w;

	p->records++;
	if (w->s->sink)
		tracedat_record_note(p, at, total, total - size, true);
	if (size < TRACEDAT_COMMON_MIN) {
		if (!p->emitting) {
			(void)tracedat_page_report(p, TRACEDAT_RULE_record_payload_short, p->head + at, total,
						   "the record has %u bytes, expected at least the 8 of the common fields", size);
		}
		record_remove(p, at, total, delta, TRACEDAT_RULE_record_payload_short);
		return false;
	}
	uint32_t id = load_u16(payload, p->be), pid = load_u32(payload + 4, p->be);
	uint16_t index = w->events.index[id];
	bool stays = true;
	if (!index) {
		stays = record_unknown(p, at, id, size);
		if (!stays)
			record_remove(p, at, total, delta, TRACEDAT_RULE_record_unknown_event_id);
		return stays;
	}
	struct tracedat_event *e = &w->events.list[index - 1];
	if (tracedat_size_odd(e, size)) {
		stays = record_odd(p, at, size, e);
		if (!stays) {
			record_remove(p, at, total, delta, TRACEDAT_RULE_record_shorter_than_format);
			return false;
		}
	}
	if (size >= e->fixed && e->special)
		special_check(p, at, payload, size, e);
	arrays_suspect(p, e, payload, size);
	if (!tracedat_pid_known(&w->texts, pid))
		pid_check(p, at, pid);
	if (tracedat_flags_impossible(payload) && !p->emitting) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_flags_impossible, p->head + at, total,
					   "the flags are 0x%02x, the preemption count is 0x%02x", payload[2], payload[3]);
	}
	if (pid > TRACEDAT_PID_MAX)
		record_suspect(p, payload, size);
	return true;
}

/* ---- the walk ---- */

#define walk_stop(p, rule, ...) ((void)PLACE(rule), walk_stop_at((p), (rule), __VA_ARGS__))
static uint32_t walk_stop_at(struct tracedat_page *p, unsigned rule, uint32_t at, uint32_t length, const char *what, uint32_t value)
{
	struct tracedat_walk *w = p->w;
	/* Without formats records look like this. */
	const bool formless = w->events.lost && w->events.finding &&
			      (rule == TRACEDAT_RULE_record_unknown_event_id || rule == TRACEDAT_RULE_record_data_length);
	if (!p->failed && formless && !p->emitting)
		tracedat_follows(w, rule, w->events.finding);
	else if (!p->failed)
		(void)tracedat_page_report_at(p, rule, p->head + at, length, "%s %u at byte %u of %u", what, value, at, p->limit);
	p->failed = true;
	p->stop_rule = rule;
	return at;
}

/* Whether other records begin behind the content of a record: its size was hit. */
static bool records_inside(struct tracedat_page *p, uint32_t from, uint32_t to)
{
	to = to < p->limit ? to : p->limit;
	for (uint32_t at = (from + 3) & ~3u; at < to; at += 4)
		if (tracedat_page_chain(p, at, false))
			return true;
	return false;
}

/* Whether the records at `at`, two or all up to the end of the page, have formats. */
static bool records_known(const struct tracedat_page *p, uint32_t at)
{
	const struct tracedat_events *events = &p->w->events;
	struct tracedat_word word;
	unsigned known = 0;

	for (; known < 2 && p->limit - at >= 4 && tracedat_word_read(p->data, at, p->limit, p->be, &word); at += word.total) {
		if (word.type >= TRACEDAT_WORD_PADDING)
			continue;
		const struct tracedat_event *e = word.total - word.skip < TRACEDAT_COMMON_MIN
							 ? NULL
							 : tracedat_event_of(events, load_u16(p->data + at + word.skip, p->be));
		if (!e || e->blind)
			return false;
		known++;
	}
	return known > 0;
}

/* Words that are followed where formats are lost: at each place of a record. */
#define FILL_WORDS_MAX 64u

/* Whether records lead from `at` exactly to `to`, also of events whose format is lost: with the id of one, and a known process. */
static bool records_fill(const struct tracedat_page *p, uint32_t at, uint32_t to)
{
	const struct tracedat_walk *w = p->w;
	struct tracedat_word word;
	unsigned words = 0, records = 0;

	for (; at < to && words < FILL_WORDS_MAX && tracedat_word_read(p->data, at, to, p->be, &word); at += word.total, words++) {
		if (word.type >= TRACEDAT_WORD_PADDING)
			continue;
		const uint8_t *payload = p->data + at + word.skip;
		const uint32_t size = word.total - word.skip;
		const struct tracedat_event *e = size < TRACEDAT_COMMON_MIN
							 ? NULL
							 : tracedat_event_of(&w->events, load_u16(payload, p->be));
		if (!e || tracedat_size_odd(e, size) || tracedat_flags_impossible(payload) ||
		    !tracedat_pid_known(&w->texts, load_u32(payload + 4, p->be)))
			return false;
		records++;
	}
	return at == to && records;
}

/* The same behind what the event has to hold; e: NULL where its format is lost. Without formats
 * anything looks like a record. */
static bool record_holds_records(struct tracedat_page *p, const struct tracedat_event *e, uint32_t payload, uint32_t size)
{
	if (size < TRACEDAT_COMMON_MIN)
		return false;
	uint32_t to = payload + size < p->limit ? payload + size : p->limit;
	if (e && !e->blind && size >= e->fixed && p->w->texts.printk_count && printk_dangles(p, e, p->data + payload)) {
		/* Its arguments may have any size, and its word may be that of a time extension that was hit. */
		for (uint32_t at = payload + 4; at < to; at += 4)
			if (records_known(p, at) && records_fill(p, at, to))
				return true;
	}
	/* Where formats are lost or short, nearly all payloads hold something like a record: what stands behind it decides. */
	if (p->w->events.lost && (!e || tracedat_size_odd(e, size)) &&
	    (payload + size == p->limit || tracedat_page_chain(p, payload + size, false)))
		return false;
	if (e && !e->blind)
		return records_inside(p, payload + content_end(p, e, p->data + payload, size), payload + size);
	for (uint32_t at = (payload + TRACEDAT_COMMON_MIN + 3) & ~3u; at < to; at += 4)
		if ((records_known(p, at) && tracedat_page_chain(p, at, false)) || (e && records_fill(p, at, to)))
			return true;
	return false;
}

/* Whether the size of the record, which is longer than the page, was hit, and not the length of the page. */
static bool cut_is_hit(struct tracedat_page *p, uint32_t at, uint32_t total)
{
	const uint32_t size = total - 4;
	const struct tracedat_event *e = tracedat_event_of(&p->w->events, load_u16(p->data + at + 4, p->be));
	const bool known = e && !e->blind && size >= TRACEDAT_COMMON_MIN;
	return record_holds_records(p, e, at + 4, size) || (known && !e->loose && content_end(p, e, p->data + at + 4, size) < size);
}

/* The size of a data record whose word is at *at, and of its words before the payload. False: the walk stops. */
static bool data_size(struct tracedat_page *p, uint32_t *at, uint32_t type, bool open, uint32_t *total, uint32_t *skip)
{
	uint32_t left = p->limit - *at;

	if (type) {
		*skip = 4;
		*total = 4 + 4 * type;
		if (*total <= left)
			return true;
		if (open)
			return false;
		p->cut = *total <= p->capacity - *at && !cut_is_hit(p, *at, *total);
		if (p->cut)
			(void)walk_stop(p, TRACEDAT_RULE_page_commit_mid_record, *at, left,
					"the length of the page cuts a record of", *total);
		else
			(void)walk_stop(p, TRACEDAT_RULE_record_past_commit, *at, left, "the size of a record is", *total);
		return false;
	}
	uint32_t length = left >= 8 ? load_u32(p->data + *at + 4, p->be) : 0;
	*skip = 8;
	*total = 4 + length;
	if (length >= 5 && !(length & 3) && length <= left - 4)
		return true;
	if (open)
		return false;
	(void)walk_stop(p, TRACEDAT_RULE_record_data_length, *at, left < 8 ? left : 8, "the length of a long record is", length);
	return false;
}

/* Where a page was hit, its words lead into the middle of records. True: this is not a record, which is reported. */
static bool record_garbled(struct tracedat_page *p, uint32_t at, uint32_t total, uint32_t skip, uint32_t delta)
{
	const struct tracedat_events *events = &p->w->events;
	const uint8_t *payload = p->data + at + skip;
	uint32_t size = total - skip, id = size >= TRACEDAT_COMMON_MIN ? load_u16(payload, p->be) : 0;
	const struct tracedat_event *e = tracedat_event_of(events, id);
	bool small = size < TRACEDAT_COMMON_MIN, unknown = !small && !e && !(id && id == events->blk_id);

	if (p->bounded && p->time + delta > p->latest) {
		(void)walk_stop(p, TRACEDAT_RULE_record_time_ahead, at, 4, "a record is later than the next page; its delta is",
				delta);
	} else if (small && !tracedat_page_goes_on(p, at + total, id)) {
		(void)walk_stop(p, TRACEDAT_RULE_record_payload_short, at, total,
				"a record is shorter than the common fields: its payload has the size", size);
	} else if (unknown && (load_u32(payload + 4, p->be) > TRACEDAT_PID_MAX || !tracedat_page_goes_on(p, at + total, id))) {
		(void)walk_stop(p, TRACEDAT_RULE_record_unknown_event_id, at, total,
				"bytes that are not a record: no format has the ID", id);
	} else if (e && size < e->fixed && !e->contested && !tracedat_page_goes_on(p, at + total, id)) {
		(void)walk_stop(p, TRACEDAT_RULE_record_shorter_than_format, at, total,
				"a record is shorter than its fields: its payload has the size", size);
	} else if (!small && record_holds_records(p, e, at + skip, size)) {
		(void)walk_stop(p, TRACEDAT_RULE_record_data_length, at, 8, "records begin inside of a record of", total);
	} else {
		return false;
	}
	return true;
}

/* Each of these walks over one word and its data. False: the walk stops at *at. */
static bool walk_data(struct tracedat_page *p, uint32_t *at, uint32_t type, uint32_t delta, bool open)
{
	uint32_t total, skip;

	if (!data_size(p, at, type, open, &total, &skip))
		return false;
	if (record_garbled(p, *at, total, skip, delta))
		return false;
	if (type && type < 3 && !p->emitting)
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_small_type_len, p->head + *at, total,
					   "the record has %u bytes of payload, expected at least 12", 4 * type);
	p->time += delta;
	if (record_check(p, *at, total, p->data + *at + skip, total - skip, delta)) {
		if (p->carry)
			carry_add(p, *at, type, delta);
		p->last = *at;
	}
	*at += total;
	return true;
}

static bool walk_padding(struct tracedat_page *p, uint32_t *at, uint32_t delta, bool open)
{
	uint32_t left = p->limit - *at, length = left >= 8 ? load_u32(p->data + *at + 4, p->be) : 0;

	if (!delta) {
		if (!open)
			(void)walk_stop(p, TRACEDAT_RULE_record_null_padding_inside, *at, left,
					"padding to the end of the page; bytes left:", left);
		return false;
	}
	if (length < 4 || length & 3 || length > left - 4) {
		if (!open)
			(void)walk_stop(p, TRACEDAT_RULE_record_padding_length, *at, left < 8 ? left : 8,
					"the length of a discarded record is", length);
		return false;
	}
	/* It has the room of one record, whose process is left: a word that was hit takes the records behind it. */
	if (!open && records_inside(p, *at + 8, *at + 4 + length)) {
		(void)walk_stop(p, TRACEDAT_RULE_record_padding_length, *at, 8, "records begin inside of a discarded record of",
				4 + length);
		return false;
	}
	carry_add(p, *at, TRACEDAT_WORD_PADDING, delta);
	if (delta != 1)
		p->time += delta;
	*at += 4 + length;
	return true;
}

/* Records of a page that are later than its begin by so much may have times that were hit. */
#define STAMP_STEP UINT64_C(1000000000)

/* An absolute time before that of the record in front of it. Where it is after the time of the page, a delta since the last time
 * that is known was hit; else it was hit itself. */
static void stamp_backwards(struct tracedat_page *p, uint32_t at, uint64_t stamp)
{
	if (!p->emitting)
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_absolute_backwards, p->head + at, 8,
					   "the absolute time is %llu, before the previous time %llu", (unsigned long long)stamp,
					   (unsigned long long)p->time);
	const uint64_t begin = load_u64(p->bytes, p->be);
	if (stamp >= begin || stamp >= p->stream->last || (p->time > begin && p->time - begin > STAMP_STEP))
		tracedat_page_doubt(p, p->sure, at, why_stamp);
	if (stamp >= begin)
		return;
	tracedat_page_doubt_before(p, at);
	p->unsure = at + 8;
}

static bool walk_time(struct tracedat_page *p, uint32_t *at, uint32_t type, uint32_t delta, bool open)
{
	uint32_t left = p->limit - *at;

	if (left < 8) {
		if (!open)
			(void)walk_stop(p, TRACEDAT_RULE_page_commit_mid_record, *at, left,
					"the length of the page cuts a time stamp of", 8);
		return false;
	}
	uint64_t high = (uint64_t)load_u32(p->data + *at + 4, p->be) << 27;
	uint64_t later = type == TRACEDAT_WORD_EXTEND
				 ? p->time + high + delta
				 : (((high + delta) & TRACEDAT_WORD_STAMP_MASK) | (p->time & ~TRACEDAT_WORD_STAMP_MASK));
	if (p->bounded && later > p->latest) {
		(void)walk_stop(p, TRACEDAT_RULE_record_time_ahead, *at, 8,
				"a time stamp is later than the next page; its high part is", load_u32(p->data + *at + 4, p->be));
		return false;
	}
	carry_add(p, *at, type, delta);
	p->dangling = *at + 8 == p->limit ? later - p->time : 0;
	if (type == TRACEDAT_WORD_EXTEND) {
		p->time = later;
	} else {
		page_sure(p, *at);
		if (later < p->time)
			stamp_backwards(p, *at, later);
		p->sure = *at + 8;
		p->time = later;
	}
	*at += 8;
	if (*at == p->limit && !p->emitting && !open)
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_time_extend_dangling, p->head + *at - 8, 8,
					   "the last word of the page is a time stamp");
	return true;
}

/* Whether the length of the page, or that of a page that is cut, is why the walk stopped: the records in front of it were not hit.
 */
static bool stopped_by_length(const struct tracedat_page *p, uint32_t at)
{
	if (p->where->available)
		return p->limit - at < 4 + TRACEDAT_COMMON_MIN || tracedat_page_record_begins(p, at);
	return p->stop_rule == TRACEDAT_RULE_page_commit_mid_record && tracedat_page_record_whole(p, at);
}

uint32_t tracedat_page_walk(struct tracedat_page *p, uint32_t at, bool open)
{
	bool slow = p->w->s->slow, goes_on = true;

	while (goes_on) {
		/* A removed record changes the next one, whatever that is. */
		if (!slow && !p->carry && !p->bounded)
			at = tracedat_fast(p, at);
		if (at >= p->limit || p->limit - at < 4)
			break;
		uint32_t word = load_u32(p->data + at, p->be);
		uint32_t type = p->be ? word >> 27 : word & 31, delta = p->be ? word & TRACEDAT_WORD_DELTA_MAX : word >> 5;
		if (type < TRACEDAT_WORD_PADDING)
			goes_on = walk_data(p, &at, type, delta, open);
		else if (type == TRACEDAT_WORD_PADDING)
			goes_on = walk_padding(p, &at, delta, open);
		else
			goes_on = walk_time(p, &at, type, delta, open);
		uint32_t next = goes_on ? 0 : page_hole(p, at, open);
		goes_on |= next != 0;
		at = next ? next : at;
	}
	const bool unsure = p->unsure < at;
	page_sure(p, at);
	/* What goes on behind the length of the page hangs on the same. */
	if (unsure && p->cut)
		p->unsure = at;
	if (!goes_on && p->failed && !open && !stopped_by_length(p, at))
		tracedat_page_doubt_before(p, at);
	return at;
}
