/* The slow path over the records of one page of the ring buffer, down to each event word: all that tracedat_fast.c leaves. */
#include "formats/tracedat/scan/tracedat_record.h"

#include "formats/tracedat/salvage/tracedat_salvage.h"

/* ---- findings ---- */

struct finding *tracedat_page_finding_at(struct tracedat_page *p, unsigned rule, uint32_t at, uint32_t length)
{
	const struct tracedat_place_of *o = p->where;
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

/* Gives what removed records had of time to the event at `at`. */
static void carry_settle(struct tracedat_page *p, uint32_t at, uint32_t type, uint32_t delta)
{
	static const char why[] = "the time of a record that was removed";
	uint8_t word[8];
	uint64_t sum = p->carry + delta;
	uint32_t replaced = 4, length = 4;

	if (!p->carry)
		return;
	p->carry = 0;
	if (type == WORD_STAMP)
		return;
	if (type == WORD_EXTEND) {
		sum += (uint64_t)load_u32(p->data + at + 4, p->be) << 27;
		replaced = length = 8;
	} else if (sum > WORD_DELTA_MAX) {
		/* A time extension of its own takes 8 of the bytes that the record had. */
		sum -= delta;
		type = WORD_EXTEND;
		replaced = 0;
		length = 8;
		p->removed -= 8;
	}
	store_u32(word, word_make(type, (uint32_t)(sum & WORD_DELTA_MAX), p->be), p->be);
	if (length == 8)
		store_u32(word + 4, (uint32_t)(sum >> 27), p->be);
	tracedat_page_edit(p, p->head + at, replaced, word, length, TRACEDAT_RULE_record_unknown_event_id, why);
}

static void record_remove(struct tracedat_page *p, uint32_t at, uint32_t length, uint32_t delta, unsigned rule)
{
	p->bad++;
	if (!p->emitting)
		return;
	p->records--;
	tracedat_page_edit(p, p->head + at, length, NULL, 0, rule, "a record that cannot be decoded");
	p->removed += length;
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

static void dynamic_judge(struct tracedat_page *p, const uint8_t *payload, uint32_t size, const struct tracedat_event *e)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < e->dynamic_count; i++) {
		const struct tracedat_dynamic *d = &p->w->events.dynamics[e->dynamic + i];
		struct tracedat_array a = tracedat_array_read(d, payload, p->be);
		uint32_t field = (uint32_t)(payload - p->bytes) + d->offset;
		if (tracedat_array_outside(&a, e, size)) {
			(void)tracedat_page_report(
				p, TRACEDAT_RULE_record_data_loc_range, field, 4,
				"%s: a dynamic array from byte %u of %u bytes, in a record of %u with %u of fields", e->name,
				a.offset, a.length, size, e->fixed);
			p->bad++;
			if (p->emitting) {
				uint8_t empty[4];
				store_u32(empty, d->relative ? e->fixed - d->offset - 4u : e->fixed, p->be);
				tracedat_page_edit(p, field, 4, empty, 4, TRACEDAT_RULE_record_data_loc_range,
						   "an empty array: where it was is not known");
			}
			continue;
		}
		if (tracedat_array_without_nul(&a, d, payload))
			(void)tracedat_page_report(p, TRACEDAT_RULE_record_data_loc_string, field, 4,
						   "%s: a text of %u bytes without NUL", e->name, a.length);
		if (a.length && a.offset < end)
			(void)tracedat_page_report(p, TRACEDAT_RULE_record_data_loc_order, field, 4,
						   "%s: a dynamic array at byte %u, before the end of the one before it at %u",
						   e->name, a.offset, end);
		if (a.length)
			end = a.offset + a.length;
	}
}

static void special_judge(struct tracedat_page *p, uint32_t at, const uint8_t *payload, uint32_t size,
			  const struct tracedat_event *e)
{
	struct tracedat_walk *w = p->w;

	if (e->contested && w->events.unknown && !p->emitting)
		record_size(&w->events.unknown[e->id], size);
	if (e->dynamic_count)
		dynamic_judge(p, payload, size, e);
	if (p->emitting)
		return;
	if (e->printk) {
		uint64_t address = tracedat_long(&p->w->shape, payload + e->printk);
		if (!tracedat_printk_known(&w->texts, address)) {
			if (w->pages.printk_finding) {
				finding_explains(w->pages.printk_finding, 1);
			} else {
				w->pages.printk_finding = tracedat_page_report(p, TRACEDAT_RULE_record_printk_dangling,
									       p->head + at, 8, "%s: no printk format at 0x%llx",
									       e->name, (unsigned long long)address);
			}
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
								   "%s: address 0x%llx is outside of the symbols", e->name,
								   (unsigned long long)address);
		}
	}
}

static void pid_judge(struct tracedat_page *p, uint32_t at, uint32_t pid)
{
	struct tracedat_walk *w = p->w;
	if (p->emitting)
		return;
	if (pid > TRACEDAT_PID_MAX) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_pid_range, p->head + at, 8, "process id %d", (int)pid);
		return;
	}
	/* Told once a process: from now on it is known. */
	w->texts.pids[pid / 8] |= (uint8_t)(1u << pid % 8);
	if (!w->texts.cmdlines)
		return;
	if (w->pages.pid_finding) {
		finding_explains(w->pages.pid_finding, 1);
		return;
	}
	w->pages.pid_finding = tracedat_page_report(p, TRACEDAT_RULE_record_pid_unknown, p->head + at, 8,
						    "process %u is not among the saved command lines", pid);
}

/* A record whose size or event asks for a closer look. Returns true when it stays. */
static bool record_odd(struct tracedat_page *p, uint32_t at, uint32_t size, const struct tracedat_event *e)
{
	if (size < e->fixed) {
		if (p->emitting)
			return false;
		if (e->contested && p->w->events.unknown)
			record_size(&p->w->events.unknown[e->id], size);
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_shorter_than_format, p->head + at, 4 + size,
					   "%s: the record has %u bytes, its fields end at %u", e->name, size, e->fixed);
		p->bad++;
		return true;
	}
	if (!p->emitting) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_longer_than_format, p->head + at, 4 + size,
					   "%s: the record has %u bytes, its fields end at %u", e->name, size, e->fixed);
	}
	return true;
}

/* Judges a data record; total: with its words. Returns true when it stays. */
static bool record_judge(struct tracedat_page *p, uint32_t at, uint32_t total, const uint8_t *payload, uint32_t size,
			 uint32_t delta)
{
	struct tracedat_walk *w = p->w;

	p->records++;
	if (size < TRACEDAT_COMMON_MIN) {
		if (!p->emitting) {
			(void)tracedat_page_report(p, TRACEDAT_RULE_record_payload_short, p->head + at, total,
						   "a record of %u bytes has no room for the common fields", size);
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
	const struct tracedat_event *e = &w->events.list[index - 1];
	if (tracedat_size_odd(e, size)) {
		stays = record_odd(p, at, size, e);
		if (!stays) {
			record_remove(p, at, total, delta, TRACEDAT_RULE_record_shorter_than_format);
			return false;
		}
	}
	if (size >= e->fixed && e->special)
		special_judge(p, at, payload, size, e);
	if (!tracedat_pid_known(&w->texts, pid))
		pid_judge(p, at, pid);
	if (tracedat_flags_impossible(payload) && !p->emitting) {
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_flags_impossible, p->head + at, total,
					   "flags 0x%02x, preemption count 0x%02x", payload[2], payload[3]);
	}
	return true;
}

/* ---- the walk ---- */

#define walk_stop(p, rule, ...) ((void)PLACE(rule), walk_stop_at((p), (rule), __VA_ARGS__))
static uint32_t walk_stop_at(struct tracedat_page *p, unsigned rule, uint32_t at, uint32_t length, const char *what, uint32_t value)
{
	if (!p->failed)
		(void)tracedat_page_report_at(p, rule, p->head + at, length, "%s %u at byte %u of %u", what, value, at, p->limit);
	p->failed = true;
	return at;
}

/* Where zeros stop the walk they may have begun inside of the last record: one that ends in zeros is not vouched for. */
static uint32_t hole_begins(struct tracedat_page *p, uint32_t at, uint32_t word, uint32_t length)
{
	if (word || length || !p->records || at < 4 || p->last >= at || load_u32(p->data + at - 4, p->be))
		return at;
	if (p->removed)
		return at;
	p->records--;
	p->bad++;
	return p->last;
}

/* The size of a data record whose word is at *at: all of it, and what comes before its payload. False: the walk stops. */
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
		p->cut = *total <= p->capacity - *at;
		if (p->cut)
			(void)walk_stop(p, TRACEDAT_RULE_page_commit_mid_record, *at, left,
					"the length of the page cuts a record of", *total);
		else
			(void)walk_stop(p, TRACEDAT_RULE_record_past_commit, *at, left, "a record of", *total);
		return false;
	}
	uint32_t word = load_u32(p->data + *at, p->be), length = left >= 8 ? load_u32(p->data + *at + 4, p->be) : 0;
	*skip = 8;
	*total = 4 + length;
	if (length >= 5 && !(length & 3) && length <= left - 4)
		return true;
	if (open)
		return false;
	*at = hole_begins(p, *at, word, length);
	left = p->limit - *at;
	(void)walk_stop(p, TRACEDAT_RULE_record_data_length, *at, left < 8 ? left : 8, "a long record that claims a length of",
			length);
	return false;
}

/* Each of these walks over one word and what belongs to it. False: the walk stops at *at. */
static bool walk_data(struct tracedat_page *p, uint32_t *at, uint32_t type, uint32_t delta, bool open)
{
	uint32_t total, skip;

	if (!data_size(p, at, type, open, &total, &skip))
		return false;
	if (type && type < 3 && !p->emitting)
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_small_type_len, p->head + *at, total,
					   "a record with %u bytes of payload", 4 * type);
	p->time += delta;
	if (record_judge(p, *at, total, p->data + *at + skip, total - skip, delta) && p->carry)
		carry_settle(p, *at, type, delta);
	p->last = *at;
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
					"a discarded record that claims a length of", length);
		return false;
	}
	carry_settle(p, *at, WORD_PADDING, delta);
	if (delta != 1)
		p->time += delta;
	*at += 4 + length;
	return true;
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
	carry_settle(p, *at, type, delta);
	if (type == WORD_EXTEND) {
		p->time += high + delta;
	} else {
		uint64_t stamp = ((high + delta) & WORD_STAMP_MASK) | (p->time & ~WORD_STAMP_MASK);
		if (stamp < p->time && !p->emitting)
			(void)tracedat_page_report(p, TRACEDAT_RULE_record_absolute_backwards, p->head + *at, 8,
						   "an absolute time of %llu after %llu", (unsigned long long)stamp,
						   (unsigned long long)p->time);
		p->time = stamp;
	}
	*at += 8;
	if (*at == p->limit && !p->emitting && !open)
		(void)tracedat_page_report(p, TRACEDAT_RULE_record_time_extend_dangling, p->head + *at - 8, 8,
					   "the last word of the page is a time stamp");
	return true;
}

uint32_t tracedat_page_walk(struct tracedat_page *p, uint32_t at, bool open)
{
	bool slow = p->w->s->slow, goes_on = true;

	while (goes_on) {
		/* A removed record changes the next one, whatever that is. */
		if (!slow && !p->carry)
			at = tracedat_fast(p, at);
		if (at >= p->limit || p->limit - at < 4)
			break;
		uint32_t word = load_u32(p->data + at, p->be);
		uint32_t type = p->be ? word >> 27 : word & 31, delta = p->be ? word & WORD_DELTA_MAX : word >> 5;
		if (type < WORD_PADDING)
			goes_on = walk_data(p, &at, type, delta, open);
		else if (type == WORD_PADDING)
			goes_on = walk_padding(p, &at, delta, open);
		else
			goes_on = walk_time(p, &at, type, delta, open);
	}
	return at;
}
