/* One page of the ring buffer, down to each event word. This is the hot path: nothing is allocated and nothing is formatted
 * for a record that is fine. */
#include "tracedat_page.h"

#include <stdlib.h>

#define HOUR UINT64_C(3600000000000)

/* What a walk over one page carries along. */
struct page {
	struct tracedat *t;
	struct tracedat_walk *w;
	const uint8_t *bytes; /* of the page */
	const uint8_t *data;  /* behind its header */
	const struct tracedat_place_of *where;
	uint32_t head;	      /* bytes of the header */
	uint32_t limit;	      /* of the data that is walked */
	uint32_t capacity;
	uint32_t records, bad;
	uint32_t removed;     /* bytes of removed records */
	uint32_t last;	      /* where the last data record begins */
	uint64_t time, carry; /* carry: deltas of removed records */
	struct tracedat_edit nowhere; /* written to and never read, when memory is short */
	bool be, emitting, failed, garbled; /* garbled: its header cannot be right */
	bool cut;	      /* its length ends inside of a record */
};

/* ---- findings ---- */

static struct finding *page_report(struct page *p, unsigned rule, enum tracemend_severity severity, uint32_t at, uint32_t length)
{
	const struct tracedat_place_of *o = p->where;
	const char *name = p->w->buffer->name;
	struct finding *fd;
	if (o->in_chunk)
		fd = tracedat_report_as(p->t, rule, severity, o->offset, o->length);
	else
		fd = tracedat_report_as(p->t, rule, severity, o->offset + at, length);
	if (!finding_kept(fd))
		return fd;
	if (o->in_chunk)
		finding_path(fd, "%s%sCPU %u > page %llu > byte %u, decompressed", name, *name ? " > " : "", p->w->cpu->cpu,
			     (unsigned long long)p->w->index, at);
	else
		finding_path(fd, "%s%sCPU %u > page %llu > byte %u", name, *name ? " > " : "", p->w->cpu->cpu,
			     (unsigned long long)p->w->index, at);
	return fd;
}

/* ---- edits ---- */

static struct tracedat_edit *page_edit(struct page *p, uint32_t at, uint32_t remove, unsigned rule, const char *why)
{
	struct tracedat *t = p->t;
	if (!tracedat_room(t, &t->edits, &t->edit_capacity, t->edit_count, sizeof(*t->edits), TRACEDAT_PAGE_MAX))
		return &p->nowhere;
	struct tracedat_edit *e = &t->edits[t->edit_count++];
	*e = (struct tracedat_edit){ .at = at, .remove = remove, .rule = (uint16_t)rule, .why = why };
	return e;
}

static uint32_t word_make(uint32_t type, uint32_t delta, bool be)
{
	return be ? type << 27 | delta : delta << 5 | type;
}

/* Gives what removed records had of time to the event at `at`. n: bytes of the time words that it has. */
static void carry_settle(struct page *p, uint32_t at, uint32_t type, uint32_t delta)
{
	uint8_t word[8];
	uint64_t sum = p->carry + delta;
	struct tracedat_edit *e;

	if (!p->carry)
		return;
	p->carry = 0;
	if (type == WORD_STAMP)
		return;
	if (type == WORD_EXTEND) {
		sum += (uint64_t)load_u32(p->data + at + 4, p->be) << 27;
		e = page_edit(p, p->head + at, 8, TRACEDAT_RULE_record_unknown_event_id, "the time of a record that was removed");
		store_u32(word, word_make(type, (uint32_t)(sum & WORD_DELTA_MAX), p->be), p->be);
		store_u32(word + 4, (uint32_t)(sum >> 27), p->be);
		e->length = 8;
	} else if (sum <= WORD_DELTA_MAX) {
		e = page_edit(p, p->head + at, 4, TRACEDAT_RULE_record_unknown_event_id, "the time of a record that was removed");
		store_u32(word, word_make(type, (uint32_t)sum, p->be), p->be);
		e->length = 4;
	} else {
		/* A time extension of its own takes 8 of the bytes that the record had. */
		e = page_edit(p, p->head + at, 0, TRACEDAT_RULE_record_unknown_event_id, "the time of a record that was removed");
		sum -= delta;
		store_u32(word, word_make(WORD_EXTEND, (uint32_t)(sum & WORD_DELTA_MAX), p->be), p->be);
		store_u32(word + 4, (uint32_t)(sum >> 27), p->be);
		e->length = 8;
		p->removed -= 8;
	}
	memcpy(e->bytes, word, e->length);
}

static void record_remove(struct page *p, uint32_t at, uint32_t length, uint32_t delta, unsigned rule)
{
	p->bad++;
	if (!p->emitting)
		return;
	p->records--;
	(void)page_edit(p, p->head + at, length, rule, "a record that cannot be decoded");
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

static bool record_unknown(struct page *p, uint32_t at, uint32_t id, uint32_t size)
{
	struct tracedat *t = p->t;

	if (id && id == t->blk_id)
		return true;
	if (p->emitting)
		return false;
	if (!tracedat_unknown_table(t))
		return true;
	struct tracedat_unknown *u = &t->unknown[id];
	record_size(u, size);
	u->records++;
	if (t->format_finding) {
		finding_explains(t->format_finding, 1);
	} else if (u->finding) {
		finding_explains(u->finding, 1);
	} else {
		u->finding = page_report(p, TRACEDAT_RULE_record_unknown_event_id, TM_ERROR, p->head + at, 8);
		finding_say(u->finding, "event ID %u has no format", id);
	}
	return true;
}

static void dynamic_judge(struct page *p, uint32_t at, const uint8_t *payload, uint32_t size, const struct tracedat_event *e)
{
	struct tracedat *t = p->t;
	uint32_t end = 0;

	for (uint32_t i = 0; i < e->dynamic_count; i++) {
		const struct tracedat_dynamic *d = &t->dynamics[e->dynamic + i];
		uint32_t v = load_u32(payload + d->offset, p->be);
		uint32_t offset = (v & 0xffff) + (d->relative ? d->offset + 4u : 0), length = v >> 16;
		uint32_t field = at + (uint32_t)(payload - (p->data + at)) + d->offset;
		struct finding *fd;
		if (length && (offset < e->fixed || offset + length > size)) {
			fd = page_report(p, TRACEDAT_RULE_record_data_loc_range, TM_ERROR, p->head + field, 4);
			finding_say(fd, "%s: a dynamic array from byte %u of %u bytes, in a record of %u with %u of fields", e->name, offset,
				    length, size, e->fixed);
			p->bad++;
			if (p->emitting) {
				struct tracedat_edit *edit = page_edit(p, p->head + field, 4, TRACEDAT_RULE_record_data_loc_range,
								       "an empty array: where it was is not known");
				store_u32(edit->bytes, d->relative ? e->fixed - d->offset - 4u : e->fixed, p->be);
				edit->length = 4;
			}
			continue;
		}
		if (length && d->text && !memchr(payload + offset, 0, length)) {
			fd = page_report(p, TRACEDAT_RULE_record_data_loc_string, TM_WARNING, p->head + field, 4);
			finding_say(fd, "%s: a text of %u bytes without NUL", e->name, length);
		}
		if (length && offset < end) {
			fd = page_report(p, TRACEDAT_RULE_record_data_loc_order, TM_NOTE, p->head + field, 4);
			finding_say(fd, "%s: a dynamic array at byte %u, before the end of the one before it at %u", e->name, offset, end);
		}
		if (length)
			end = offset + length;
	}
}

static bool printk_known(const struct tracedat *t, uint64_t address)
{
	size_t low = 0, high = t->printk_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->printk[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->printk_count && t->printk[low].address == address;
}

static uint64_t load_long(const struct page *p, const uint8_t *at)
{
	return p->t->long_size == 8 ? load_u64(at, p->be) : load_u32(at, p->be);
}

static void special_judge(struct page *p, uint32_t at, const uint8_t *payload, uint32_t size, const struct tracedat_event *e)
{
	struct tracedat *t = p->t;

	if (e->contested && t->unknown && !p->emitting)
		record_size(&t->unknown[e->id], size);
	if (e->dynamic_count)
		dynamic_judge(p, at, payload, size, e);
	if (p->emitting)
		return;
	if (e->printk) {
		uint64_t address = load_long(p, payload + e->printk);
		if (!printk_known(t, address)) {
			if (t->printk_finding) {
				finding_explains(t->printk_finding, 1);
			} else {
				t->printk_finding = page_report(p, TRACEDAT_RULE_record_printk_dangling, TM_WARNING, p->head + at, 8);
				finding_say(t->printk_finding, "%s: no printk format at 0x%llx", e->name, (unsigned long long)address);
			}
		}
	}
	for (unsigned i = 0; i < 2 && e->ip[i] && t->symbols; i++) {
		uint64_t address = load_long(p, payload + e->ip[i]);
		if (address >= t->symbol_low && address <= t->symbol_high)
			continue;
		if (t->ip_finding) {
			finding_explains(t->ip_finding, 1);
		} else {
			t->ip_finding = page_report(p, TRACEDAT_RULE_record_ip_dangling, TM_NOTE, p->head + at, 8);
			finding_say(t->ip_finding, "%s: address 0x%llx is outside of the symbols", e->name, (unsigned long long)address);
		}
	}
}

static void pid_judge(struct page *p, uint32_t at, uint32_t pid)
{
	struct tracedat *t = p->t;
	if (p->emitting)
		return;
	if (pid > TRACEDAT_PID_MAX) {
		struct finding *fd = page_report(p, TRACEDAT_RULE_record_pid_range, TM_WARNING, p->head + at, 8);
		finding_say(fd, "process id %d", (int)pid);
		return;
	}
	/* Told once a process: from now on it is known. */
	t->pids[pid / 8] |= (uint8_t)(1u << pid % 8);
	if (!t->cmdlines)
		return;
	if (t->pid_finding) {
		finding_explains(t->pid_finding, 1);
		return;
	}
	t->pid_finding = page_report(p, TRACEDAT_RULE_record_pid_unknown, TM_NOTE, p->head + at, 8);
	finding_say(t->pid_finding, "process %u is not among the saved command lines", pid);
}

/* A record whose size or event asks for a closer look. Returns true when it stays. */
static bool record_odd(struct page *p, uint32_t at, uint32_t size, const struct tracedat_event *e)
{
	struct finding *fd;
	if (size < e->fixed) {
		if (p->emitting)
			return false;
		if (e->contested && p->t->unknown)
			record_size(&p->t->unknown[e->id], size);
		fd = page_report(p, TRACEDAT_RULE_record_shorter_than_format, TM_ERROR, p->head + at, 4 + size);
		finding_say(fd, "%s: the record has %u bytes, its fields end at %u", e->name, size, e->fixed);
		p->bad++;
		return true;
	}
	if (!p->emitting) {
		fd = page_report(p, TRACEDAT_RULE_record_longer_than_format, TM_WARNING, p->head + at, 4 + size);
		finding_say(fd, "%s: the record has %u bytes, its fields end at %u", e->name, size, e->fixed);
	}
	return true;
}

/* Judges a data record; total: with its words. Returns true when it stays. */
static inline bool record_judge(struct page *p, uint32_t at, uint32_t total, const uint8_t *payload, uint32_t size, uint32_t delta)
{
	struct tracedat *t = p->t;

	p->records++;
	if (__builtin_expect(size < 8, 0)) {
		if (!p->emitting) {
			struct finding *fd = page_report(p, TRACEDAT_RULE_record_payload_short, TM_ERROR, p->head + at, total);
			finding_say(fd, "a record of %u bytes has no room for the common fields", size);
		}
		record_remove(p, at, total, delta, TRACEDAT_RULE_record_payload_short);
		return false;
	}
	uint32_t id = load_u16(payload, p->be), pid = load_u32(payload + 4, p->be);
	uint16_t index = t->event_index[id];
	bool stays = true;
	if (__builtin_expect(!index, 0)) {
		stays = record_unknown(p, at, id, size);
		if (!stays)
			record_remove(p, at, total, delta, TRACEDAT_RULE_record_unknown_event_id);
		return stays;
	}
	const struct tracedat_event *e = &t->events[index - 1];
	if (__builtin_expect(size - e->fixed > e->slack, 0)) {
		stays = record_odd(p, at, size, e);
		if (!stays) {
			record_remove(p, at, total, delta, TRACEDAT_RULE_record_shorter_than_format);
			return false;
		}
	}
	if (size >= e->fixed && e->special)
		special_judge(p, at, payload, size, e);
	if (__builtin_expect(pid > TRACEDAT_PID_MAX || (pid && !(t->pids[pid / 8] & 1u << pid % 8)), 0))
		pid_judge(p, at, pid);
	if (__builtin_expect((payload[2] & 0x48) == 0x40 || (payload[3] & 15) == 15, 0) && !p->emitting) {
		struct finding *fd = page_report(p, TRACEDAT_RULE_record_flags_impossible, TM_NOTE, p->head + at, total);
		finding_say(fd, "flags 0x%02x, preemption count 0x%02x", payload[2], payload[3]);
	}
	return true;
}

/* ---- the walk ---- */

static uint32_t walk_stop(struct page *p, uint32_t at, unsigned rule, uint32_t length, const char *what, uint32_t value)
{
	if (!p->failed) {
		struct finding *fd = page_report(p, rule, TM_ERROR, p->head + at, length);
		finding_say(fd, "%s %u at byte %u of %u", what, value, at, p->limit);
	}
	p->failed = true;
	return at;
}

/* Where zeros stop the walk they may have begun inside of the last record: one that ends in zeros is not vouched for. */
static uint32_t hole_begins(struct page *p, uint32_t at, uint32_t word, uint32_t length)
{
	if (word || length || !p->records || at < 4 || p->last >= at || load_u32(p->data + at - 4, p->be))
		return at;
	if (p->removed)
		return at;
	p->records--;
	p->bad++;
	return p->last;
}

/* Walks records from `at` up to p->limit. Returns where it stopped: the limit when all is well. In a page whose length is not
 * trusted (`open`) a zero word is its end. */
static inline uint32_t page_walk(struct page *p, uint32_t at, bool be, bool open)
{
	const uint8_t *data = p->data;
	uint32_t limit = p->limit;

	while (at < limit) {
		if (limit - at < 4)
			return at;
		uint32_t word = load_u32(data + at, be);
		uint32_t type = be ? word >> 27 : word & 31, delta = be ? word & WORD_DELTA_MAX : word >> 5;
		uint32_t total, skip = 4;
		if (type - 1 < 28) {
			total = 4 + 4 * type;
			if (total > limit - at) {
				bool page = total <= p->capacity - at;
				if (open)
					return at;
				p->cut = page;
				return walk_stop(p, at, page ? TRACEDAT_RULE_page_commit_mid_record : TRACEDAT_RULE_record_past_commit,
						 limit - at, page ? "the length of the page cuts a record of" : "a record of", total);
			}
			if (__builtin_expect(type < 3, 0) && !p->emitting) {
				struct finding *fd = page_report(p, TRACEDAT_RULE_record_small_type_len, TM_NOTE, p->head + at, total);
				finding_say(fd, "a record with %u bytes of payload", 4 * type);
			}
		} else if (type == 0) {
			uint32_t length = limit - at >= 8 ? load_u32(data + at + 4, be) : 0;
			if (open && !word && !length)
				return at;
			if (length < 5 || length & 3 || length > limit - at - 4) {
				if (open)
					return at;
				at = hole_begins(p, at, word, length);
				return walk_stop(p, at, TRACEDAT_RULE_record_data_length, limit - at < 8 ? limit - at : 8,
						 "a long record that claims a length of", length);
			}
			total = 4 + length;
			skip = 8;
		} else if (type == WORD_PADDING) {
			if (!delta) {
				if (open)
					return at;
				return walk_stop(p, at, TRACEDAT_RULE_record_null_padding_inside, limit - at,
						 "padding to the end of the page; bytes left:", limit - at);
			}
			uint32_t length = limit - at >= 8 ? load_u32(data + at + 4, be) : 0;
			if (length < 4 || length & 3 || length > limit - at - 4) {
				if (open)
					return at;
				return walk_stop(p, at, TRACEDAT_RULE_record_padding_length, limit - at < 8 ? limit - at : 8,
						 "a discarded record that claims a length of", length);
			}
			carry_settle(p, at, type, delta);
			if (delta != 1)
				p->time += delta;
			at += 4 + length;
			continue;
		} else {
			if (limit - at < 8) {
				if (open)
					return at;
				return walk_stop(p, at, TRACEDAT_RULE_page_commit_mid_record, limit - at, "the length of the page cuts a time stamp of", 8);
			}
			uint64_t high = (uint64_t)load_u32(data + at + 4, be) << 27;
			carry_settle(p, at, type, delta);
			if (type == WORD_EXTEND) {
				p->time += high + delta;
			} else {
				uint64_t stamp = (high + delta) & ((UINT64_C(1) << 59) - 1);
				stamp |= p->time & ~((UINT64_C(1) << 59) - 1);
				if (stamp < p->time && !p->emitting) {
					struct finding *fd = page_report(p, TRACEDAT_RULE_record_absolute_backwards, TM_WARNING, p->head + at, 8);
					finding_say(fd, "an absolute time of %llu after %llu", (unsigned long long)stamp,
						    (unsigned long long)p->time);
				}
				p->time = stamp;
			}
			at += 8;
			if (at == limit && !p->emitting && !open) {
				struct finding *fd = page_report(p, TRACEDAT_RULE_record_time_extend_dangling, TM_NOTE, p->head + at - 8, 8);
				finding_say(fd, "the last word of the page is a time stamp");
			}
			continue;
		}
		p->time += delta;
		if (record_judge(p, at, total, data + at + skip, total - skip, delta) && __builtin_expect(p->carry != 0, 0))
			carry_settle(p, at, type, delta);
		p->last = at;
		at += total;
	}
	return at;
}

static uint32_t page_walk_any(struct page *p, uint32_t at, bool open)
{
	return p->be ? page_walk(p, at, true, open) : page_walk(p, at, false, open);
}

/* ---- the page ---- */

static bool page_is_filled(const uint8_t *page, uint32_t size, uint8_t with)
{
	return page[0] == with && !memcmp(page, page + 1, size - 1);
}

/* Looked at only where time and length are those of the page before. */
static bool page_is_previous(struct page *p)
{
	struct tracedat *t = p->t;
	uint32_t size = p->w->page_size;

	if (p->where->in_chunk)
		return p->where->in >= size && !memcmp(p->bytes - size, p->bytes, size);
	if (p->where->offset < p->w->cpu->from + size)
		return false;
	if (!t->previous)
		t->previous = malloc(TRACEDAT_PAGE_MAX);
	if (!t->previous) {
		tracedat_no_memory(t);
		return false;
	}
	return source_read(t->source, p->where->offset - size, t->previous, size) == TM_OK && !memcmp(t->previous, p->bytes, size);
}

static void page_times(struct page *p, uint64_t ts, uint64_t commit)
{
	struct tracedat_walk *w = p->w;
	struct finding *fd;

	if (p->emitting)
		return;
	if (!ts) {
		fd = page_report(p, TRACEDAT_RULE_page_timestamp_zero, TM_WARNING, 0, 8);
		finding_say(fd, "the page has events and time 0");
	} else if (w->started && ts < w->last) {
		fd = page_report(p, TRACEDAT_RULE_page_time_backwards, TM_WARNING, 0, 8);
		finding_say(fd, "the page begins at %llu, the one before ended at %llu", (unsigned long long)ts, (unsigned long long)w->last);
		if (!w->sound && p->t->scan->plan && !p->where->in_chunk)
			plan_doubt(p->t->scan->plan, p->t->source, p->where->offset, p->where->length,
				   "the page steps back in time, and the one before is damaged: its time may be, too");
	} else if (w->started && w->last && ts - w->last > HOUR) {
		fd = page_report(p, TRACEDAT_RULE_page_time_jump, TM_NOTE, 0, 8);
		finding_say(fd, "the page begins %llu s after the one before", (unsigned long long)((ts - w->last) / 1000000000));
	}
	if (w->started && ts == w->page_time && commit == w->page_commit && page_is_previous(p)) {
		fd = page_report(p, TRACEDAT_RULE_page_duplicate, TM_WARNING, 0, w->page_size);
		finding_say(fd, "the page is the same as the one before");
	}
}

/* The count of lost events, where there is one. */
static void page_missed(struct page *p, uint64_t *commit, uint32_t length)
{
	unsigned long_size = p->t->long_size;
	bool stored = *commit & PAGE_MISSED_STORED, missed = *commit & PAGE_MISSED_EVENTS;
	struct finding *fd;

	if (stored && !missed) {
		fd = page_report(p, TRACEDAT_RULE_page_missed_stored_alone, TM_ERROR, 8, long_size);
		finding_say(fd, "bit 30 of the commit word is set without bit 31");
		*commit &= ~(uint64_t)PAGE_MISSED_STORED;
	} else if (stored && p->capacity - length < long_size) {
		fd = page_report(p, TRACEDAT_RULE_page_missed_no_room, TM_ERROR, 8, long_size);
		finding_say(fd, "a count of lost events is announced, but %u bytes are left of the page", p->capacity - length);
		*commit &= ~(uint64_t)PAGE_MISSED_STORED;
	} else if (stored) {
		uint64_t count = load_long(p, p->data + length);
		if (!p->emitting && (count == 0 || count > UINT64_C(1) << 40)) {
			fd = page_report(p, TRACEDAT_RULE_page_missed_count, TM_WARNING, p->head + length, long_size);
			finding_say(fd, "%lld events are said to be lost", (long long)count);
		}
	}
	if (missed) {
		p->w->cpu->missed = true;
		if (!p->emitting) {
			fd = page_report(p, TRACEDAT_RULE_page_missed_events, TM_NOTE, 8, long_size);
			if (stored && p->capacity - length >= long_size)
				finding_say(fd, "%llu events were lost before this page", (unsigned long long)load_long(p, p->data + length));
			else
				finding_say(fd, "events were lost before this page");
		}
	}
}

static void commit_edit(struct page *p, uint64_t commit, unsigned rule, const char *why)
{
	struct tracedat_edit *e = &p->t->edits[0];
	e->remove = p->t->long_size;
	e->length = p->t->long_size;
	e->rule = (uint16_t)rule;
	e->why = why;
	if (p->t->long_size == 8)
		store_u64(e->bytes, commit, p->be);
	else
		store_u32(e->bytes, (uint32_t)commit, p->be);
}

/* The kernel keeps bits 32 to 63 clear, or copies bit 31 into them. */
static uint64_t commit_clean(struct page *p, uint64_t commit)
{
	uint64_t high = p->t->long_size == 8 ? commit >> 32 : 0;
	bool extended = high == UINT32_MAX && commit & PAGE_MISSED_EVENTS;
	if (!(commit & PAGE_RESERVED_BITS) && (!high || extended))
		return commit;
	struct finding *fd = page_report(p, TRACEDAT_RULE_page_commit_reserved, TM_ERROR, 8, p->t->long_size);
	finding_say(fd, "the commit word is 0x%llx; bits 27 to 29 and 32 to 63 are reserved", (unsigned long long)commit);
	return commit & ~(uint64_t)PAGE_RESERVED_BITS & (extended ? UINT64_MAX : UINT32_MAX);
}

/* Ends the page at `end` of its data. */
static enum tracedat_verdict page_end(struct page *p, uint64_t commit, uint32_t end, unsigned rule)
{
	struct tracedat *t = p->t;
	uint32_t kept = end - p->removed;

	if (!p->records)
		return TRACEDAT_LEAVE;
	commit_edit(p, kept | (commit & PAGE_MISSED_EVENTS ? (commit & ~(uint64_t)(PAGE_LENGTH_MASK | PAGE_MISSED_STORED)) : 0), rule,
		    "the length up to which the records are sound");
	struct tracedat_edit *e = page_edit(p, p->head + end, p->capacity - end, rule, "zeros after the last sound record");
	e->zeros = p->capacity - kept;
	return t->status == TM_OK ? TRACEDAT_PATCH : TRACEDAT_LEAVE;
}

/* The same where records are lost behind it. */
static enum tracedat_verdict page_trim(struct page *p, uint64_t commit, uint32_t end, unsigned rule)
{
	p->w->pending_missed = true;
	p->t->lost_is = TM_UNKNOWN_COUNT;
	return page_end(p, commit, end, rule);
}

/* A length that ends inside of a record, which no writer leaves: where records of known events go on up to nothing but zeros
 * the length was too small. Returns where they end. */
static uint32_t page_go_on(struct page *p, uint32_t at)
{
	uint32_t records, end = at + tracedat_page_prefix(p->t, p->data + at, p->capacity - at, true, &records);
	p->cut = records && bytes_are_zero(p->data + end, p->capacity - end);
	if (!p->cut)
		return at;
	p->limit = end;
	return page_walk_any(p, at, true);
}

static void page_remember(struct page *p, uint64_t ts, uint64_t commit)
{
	struct tracedat_walk *w = p->w;
	struct tracedat_cpu *c = w->cpu;
	if (p->emitting)
		return;
	if (!c->records && p->records)
		c->first_time = ts;
	if (p->records) {
		c->last_time = p->time;
		w->last = p->time;
	} else if (ts) {
		w->last = ts;
	}
	c->records += p->records;
	w->page_time = ts;
	w->page_commit = commit;
	w->started = true;
}

/* Sound so far: what edits there are make it a patched one. */
static enum tracedat_verdict page_finish(struct page *p, uint64_t commit, uint64_t old, uint32_t length)
{
	struct tracedat *t = p->t;
	if (!p->emitting)
		return TRACEDAT_KEEP;
	bool mark = p->w->pending_missed && !(commit & PAGE_MISSED_EVENTS);
	p->w->pending_missed = false;
	if (mark)
		commit |= PAGE_MISSED_EVENTS;
	if (p->removed) {
		if (!p->records)
			return TRACEDAT_LEAVE;
		uint32_t stored = commit & PAGE_MISSED_STORED ? t->long_size : 0;
		struct tracedat_edit *e = page_edit(p, p->head + length + stored, 0, TRACEDAT_RULE_record_unknown_event_id,
						    "zeros in place of the records that were removed");
		e->zeros = p->removed;
		commit -= p->removed;
	}
	if (commit != old)
		commit_edit(p, commit, mark ? TRACEDAT_RULE_v7_chunk_decode : TRACEDAT_RULE_page_commit_reserved,
			    mark ? "marks that events were lost before this page" : "the commit word as the kernel would write it");
	bool patched = t->edit_count > 1 || t->edits[0].length;
	return t->status != TM_OK ? TRACEDAT_LEAVE : patched ? TRACEDAT_PATCH : TRACEDAT_KEEP;
}

/* A page with time 0 and length 0. */
static enum tracedat_verdict page_blank(struct page *p)
{
	struct tracedat_walk *w = p->w;
	struct finding *fd;

	if (bytes_are_zero(p->bytes, w->page_size)) {
		if (p->emitting)
			return TRACEDAT_KEEP;
		if (w->zero) {
			finding_explains(w->zero, 1);
		} else {
			w->zero = page_report(p, TRACEDAT_RULE_page_all_zero, TM_WARNING, 0, w->page_size);
			finding_say(w->zero, "a page of zeros");
		}
		return TRACEDAT_KEEP;
	}
	fd = page_report(p, TRACEDAT_RULE_page_commit_length, TM_ERROR, 0, p->head);
	finding_say(fd, "time and length of the page are 0, but it is not empty");
	w->pending_missed = true;
	p->garbled = true;
	return TRACEDAT_LEAVE;
}

static enum tracedat_verdict page_empty(struct page *p, uint64_t ts, uint64_t commit, uint64_t old)
{
	/* Records behind a length of 0 are lost to readers. */
	uint32_t records = 0;
	if (!bytes_are_zero(p->data, p->capacity) && tracedat_page_plausible(p->t, p->bytes, p->w->page_size, &records) && records) {
		struct finding *fd = page_report(p, TRACEDAT_RULE_page_commit_length, TM_ERROR, 8, p->t->long_size);
		finding_say(fd, "the length of the page is 0, but %u records follow", records);
		p->limit = p->capacity;
		p->time = ts;
		uint32_t end = page_walk_any(p, 0, true);
		page_remember(p, ts, commit);
		return p->emitting ? page_trim(p, commit, end, TRACEDAT_RULE_page_commit_length) : TRACEDAT_KEEP;
	}
	uint32_t tail = commit & PAGE_MISSED_STORED ? p->t->long_size : 0;
	if (!bytes_are_zero(p->data + tail, p->capacity - tail)) {
		struct finding *fd = page_report(p, TRACEDAT_RULE_page_commit_length, TM_ERROR, 8, p->t->long_size);
		finding_say(fd, "the length of the page is 0, but it is not empty");
		p->w->pending_missed = true;
		p->garbled = true;
		return TRACEDAT_LEAVE;
	}
	if (!p->emitting && !(commit & PAGE_MISSED_EVENTS)) {
		struct finding *fd = page_report(p, TRACEDAT_RULE_page_empty, TM_NOTE, 0, p->head);
		finding_say(fd, "a page with time %llu and no data", (unsigned long long)ts);
	}
	page_remember(p, ts, commit);
	return page_finish(p, commit, old, 0);
}

static enum tracedat_verdict page_judge(struct page *p)
{
	struct tracedat *t = p->t;
	uint64_t ts = load_u64(p->bytes, p->be), old = load_long(p, p->bytes + 8), commit = old;
	struct finding *fd;

	if (ts == UINT64_MAX && page_is_filled(p->bytes, p->w->page_size, 0xff)) {
		fd = page_report(p, TRACEDAT_RULE_page_all_ones, TM_ERROR, 0, p->w->page_size);
		finding_say(fd, "every byte of the page is 0xff");
		p->w->pending_missed = true;
		return TRACEDAT_LEAVE;
	}
	commit = commit_clean(p, commit);
	if (!ts && !commit)
		return page_blank(p);
	uint32_t length = (uint32_t)(commit & PAGE_LENGTH_MASK);
	p->time = ts;
	if (length > p->capacity) {
		p->garbled = true;
		fd = page_report(p, TRACEDAT_RULE_page_commit_length, TM_ERROR, 8, t->long_size);
		finding_say(fd, "the length of the page is %u, at most %u fit", length, p->capacity);
		/* With a length that lies only records of known events count. */
		uint32_t there = p->where->available ? (p->where->available - p->head) & ~3u : p->capacity;
		p->limit = tracedat_page_prefix(t, p->data, there, true, NULL);
		uint32_t end = page_walk_any(p, 0, true);
		page_remember(p, ts, old);
		return p->emitting ? page_trim(p, commit & ~(uint64_t)PAGE_MISSED_STORED, end, TRACEDAT_RULE_page_commit_length) :
				     TRACEDAT_KEEP;
	}
	page_missed(p, &commit, length);
	if (!length)
		return page_empty(p, ts, commit, old);
	page_times(p, ts, old);
	if (length & 3) {
		fd = page_report(p, TRACEDAT_RULE_page_commit_unaligned, TM_ERROR, 8, t->long_size);
		finding_say(fd, "the length of the page is %u, not a multiple of 4", length);
		p->failed = true;
	}
	bool unaligned = p->failed;
	p->limit = length & ~3u;
	/* Of a page that is cut only what is there counts; whoever cut it is reported already. */
	uint32_t there = p->where->available ? p->where->available - p->head : p->capacity;
	if (p->limit > there) {
		p->limit = there & ~3u;
		p->failed = true;
	}
	uint32_t end = page_walk_any(p, 0, false);
	if (p->cut && !p->where->available)
		end = page_go_on(p, end);
	else
		p->cut = false;
	page_remember(p, ts, old);
	if (p->cut && p->emitting)
		return page_end(p, commit & ~(uint64_t)PAGE_MISSED_STORED, end, TRACEDAT_RULE_page_commit_mid_record);
	if (p->failed)
		return p->emitting ? page_trim(p, commit, end, unaligned ? TRACEDAT_RULE_page_commit_unaligned :
									   TRACEDAT_RULE_page_commit_mid_record) :
				     TRACEDAT_KEEP;
	uint32_t tail = length + (commit & PAGE_MISSED_STORED ? t->long_size : 0);
	if (tail < p->capacity && !p->emitting && !bytes_are_zero(p->data + tail, p->capacity - tail)) {
		fd = page_report(p, TRACEDAT_RULE_page_tail_not_zero, TM_WARNING, p->head + tail, p->capacity - tail);
		finding_say(fd, "%u bytes after the data of the page are not zero", p->capacity - tail);
	}
	return page_finish(p, commit, old, length);
}

/* ---- the encoding of Linux 2.6.30 and before ---- */

static void old_ring_walk(struct page *p)
{
	uint64_t ts = load_u64(p->bytes, p->be);
	uint32_t length = (uint32_t)load_long(p, p->bytes + 8), at = 0;

	p->time = ts;
	if (length > p->capacity)
		length = p->capacity;
	while (length - at >= 4) {
		uint32_t word = load_u32(p->data + at, p->be);
		uint32_t type = p->be ? word >> 30 : word & 3, units = p->be ? word >> 27 & 7 : word >> 2 & 7;
		if (type == 0)
			break;
		if (type == 3) {
			uint32_t size = units ? 4 * units : length - at >= 8 ? load_u32(p->data + at + 4, p->be) : 0;
			if (!size || size > length - at)
				break;
			p->records++;
			at += 4 + ((size + 3) & ~3u);
		} else {
			at += type == 1 ? 8 : 16;
		}
		if (at > length)
			break;
	}
	page_remember(p, ts, length);
}

/* ---- outside ---- */

enum tracedat_verdict tracedat_page(struct tracedat *t, struct tracedat_walk *w, const uint8_t *page,
				    const struct tracedat_place_of *where, uint32_t *records, uint32_t *bad)
{
	struct page p = { .t = t, .w = w, .bytes = page, .where = where, .head = tracedat_page_data(t), .be = t->big_endian,
			  .capacity = tracedat_page_capacity(t, w->page_size), .emitting = t->emitting };
	enum tracedat_verdict verdict = TRACEDAT_KEEP;

	p.data = page + p.head;
	t->edit_count = 0;
	if (t->emitting) {
		/* The first edit is that of the commit word, wherever it is decided. */
		(void)page_edit(&p, 8, 0, 0, NULL);
		if (t->status != TM_OK)
			return TRACEDAT_LEAVE;
	}
	if (t->old_ring)
		old_ring_walk(&p);
	else
		verdict = page_judge(&p);
	*records = p.records;
	*bad = p.bad;
	w->sound = !p.failed && !p.garbled;
	/* Fields of a record are judged in the order of its format, not of their offsets. */
	for (size_t i = 2; i < t->edit_count; i++)
		for (size_t k = i; k > 1 && t->edits[k].at < t->edits[k - 1].at; k--) {
			struct tracedat_edit swap = t->edits[k];
			t->edits[k] = t->edits[k - 1];
			t->edits[k - 1] = swap;
		}
	return verdict;
}
