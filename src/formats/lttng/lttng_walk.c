/* Walking the events of a block: the fast path for those that are fine, and what to do about the others. */
#include "lttng.h"

#define MASK27 ((UINT64_C(1) << LTTNG_TIME_BITS) - 1)
/* So many zero bytes where an event should begin are no events. */
#define ZEROS_MIN 64u
/* Bytes that the fast path asks for; it uses all that the window has. */
#define CHUNK 4096u

enum { NOTED_LATE, NOTED_PADDING, NOTED_EXTENDED, NOTED_BACK };

/* ---- the fast path ---- */

struct chunk {
	const uint8_t *data; /* of rel `from` */
	uint64_t from, to;
};

static bool chunk_at(struct lttng_trace *t, const struct lttng_walk *k, uint64_t rel, struct chunk *c)
{
	uint64_t left = k->limit - rel;
	size_t got;
	c->data = window_upto(&t->w, k->base + rel, left < CHUNK ? (size_t)left : CHUNK, &got);
	if (!c->data)
		return false;
	uint64_t have = t->w.base + t->w.length - (k->base + rel);
	c->from = rel;
	c->to = rel + (have < left ? have : left);
	return true;
}

/* End of a payload that lies within the chunk; 0: not there. */
static uint64_t chunk_measure(const struct chunk *c, const struct lttng_shape *shape, uint64_t rel)
{
	uint64_t at = 0;
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct lttng_step *s = &shape->steps[i];
		at = lttng_align(at, s->align);
		if (s->kind == STEP_FIXED) {
			at += s->size;
			continue;
		}
		if (s->kind == STEP_SEQUENCE || rel + at >= c->to)
			return 0;
		const uint8_t *p = c->data + (rel + at - c->from);
		const uint8_t *nul = memchr(p, 0, (size_t)(c->to - rel - at));
		if (!nul)
			return 0;
		at = lttng_align(at + (uint64_t)(nul - p) + 1, s->pad);
	}
	return rel + at;
}

/* Whether padding within the chunk is zero; at most 7 bytes. */
static bool chunk_zero(const struct chunk *c, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		if (c->data[from - c->from])
			return false;
	return true;
}

/* 2.x events of the short form and of form 31. Stops before the first event that is anything else. Without alignment the
 * compiler drops all of it from the copy for packed traces. */
static inline __attribute__((always_inline)) void fast_words(struct lttng_trace *t, struct lttng_walk *k, const bool packed)
{
	const struct lttng_table *table = k->file->channel->table;
	struct lttng_marker *const *types = table ? table->pages[0] : NULL;
	const uint64_t align = packed ? 1 : t->alignment < 4 ? t->alignment : 4, limit = k->limit, end = k->end;
	const uint32_t serial = k->file->serial;
	const bool big = t->big_endian;
	uint64_t rel = k->rel, stamp = k->stamp, events = 0;
	struct chunk c;

	while (types && rel < limit && chunk_at(t, k, rel, &c)) {
		uint64_t start = rel;
		while (rel + 16 <= c.to) {
			uint64_t at = packed ? rel : lttng_align(rel, align), header = at + 4;
			uint32_t word = load_u32(c.data + (at - c.from), big), id = word >> LTTNG_TIME_BITS;
			const struct lttng_marker *m;
			if (id < LTTNG_FORM_FULL) {
				m = word ? types[id] : NULL;
			} else if (id == LTTNG_FORM_ID) {
				id = load_u16(c.data + (header - c.from), big);
				m = id < 256 ? types[id] : lttng_table_get(table, id);
				header += 2;
				if (id < LTTNG_FORM_FULL)
					goto out; /* noted in the slow path */
			} else {
				goto out;
			}
			if (!m || m->ready != serial)
				goto out;
			uint64_t now = stamp + ((word - stamp) & MASK27);
			uint64_t payload = packed ? header : lttng_align(header, m->shape.align), next = payload + m->shape.fixed;
			if (!m->shape.is_fixed) {
				next = payload <= c.to ? chunk_measure(&c, &m->shape, payload) : 0;
				if (!next)
					goto out;
			}
			if (now > end || next > limit)
				goto out;
			if (!packed && (payload > c.to || !chunk_zero(&c, rel, at) || !chunk_zero(&c, header, payload)))
				goto out;
			rel = next;
			stamp = now;
			events++;
		}
		if (rel == start)
			break;
	}
out:
	k->rel = rel;
	k->kept = events ? rel : k->kept;
	k->stamp = stamp;
	k->events += events;
}

static void fast_packed(struct lttng_trace *t, struct lttng_walk *k)
{
	fast_words(t, k, true);
}

static void fast_aligned(struct lttng_trace *t, struct lttng_walk *k)
{
	fast_words(t, k, false);
}

/* Events to 1.0 with stamps of 32 bits whose size is that of their description. */
static void fast_old(struct lttng_trace *t, struct lttng_walk *k)
{
	const struct lttng_table *table = k->file->channel->table;
	const uint64_t align = t->alignment, limit = k->limit, end = k->end;
	const bool big = t->big_endian, facilities = t->layout->era == LTTNG_FACILITIES;
	uint64_t rel = k->rel, stamp = k->stamp, events = 0;
	struct chunk c;

	while (table && rel < limit && chunk_at(t, k, rel, &c)) {
		uint64_t start = rel;
		for (;;) {
			uint64_t at = lttng_align(rel, align);
			uint64_t payload = lttng_align(at + 8, align);
			if (payload > c.to)
				break;
			const uint8_t *p = c.data + (at - c.from);
			uint32_t id = facilities ? (uint32_t)p[4] << 8 | p[5] : load_u16(p + 4, big);
			const struct lttng_marker *m = lttng_table_get(table, id);
			if (!m || m->ready != k->file->serial)
				goto out;
			uint64_t now = stamp + ((load_u32(p, big) - stamp) & UINT32_MAX);
			uint32_t size = load_u16(p + 6, big);
			uint64_t next = m->shape.is_fixed ? payload + m->shape.fixed : chunk_measure(&c, &m->shape, payload);
			if (now > end || next > limit || size == LTTNG_SIZE_ESCAPE || next - payload != size)
				goto out;
			if (align > 1 && (!chunk_zero(&c, rel, at) || !chunk_zero(&c, at + 8, payload)))
				goto out;
			rel = next;
			stamp = now;
			events++;
		}
		if (rel == start)
			break;
	}
out:
	k->rel = rel;
	k->kept = events ? rel : k->kept;
	k->stamp = stamp;
	k->events += events;
}

/* ---- findings ---- */

/* NULL: folded under what is wrong with the block. */
static struct finding *event_finding(struct lttng_trace *t, const struct lttng_walk *k, unsigned rule,
				     enum tracemend_severity severity, uint64_t from, uint64_t to)
{
	uint64_t size = k->file->source->size, at = k->base + from;
	if (severity == TM_ERROR && k->cause) {
		finding_explains(k->cause, 1);
		return NULL;
	}
	uint64_t length = at < size ? (to > from ? to - from : 0) : 0;
	if (length > size - at)
		length = size - at;
	struct finding *fd = finding_new_as(t->f, rule, severity, k->file->source, at, length);
	finding_path(fd, "block %llu > event %llu", (unsigned long long)k->number, (unsigned long long)k->events);
	return fd;
}

static const char *event_name(const struct lttng_event *e)
{
	return e->marker && e->marker->name ? e->marker->name : "of an unknown type";
}

static void event_finding_names(struct finding *fd, const struct lttng_walk *k, const struct lttng_event *e)
{
	if (fd)
		finding_path(fd, "block %llu > event %llu (%s)", (unsigned long long)k->number, (unsigned long long)k->events, event_name(e));
}

/* Notes and warnings on an event that stays; one of a kind a block. */
static void judge_event(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, uint64_t before)
{
	struct finding *fd;

	if (t->quiet)
		return;
	if (e->padded && !k->noted[NOTED_PADDING]) {
		k->noted[NOTED_PADDING] = true;
		fd = event_finding(t, k, LTTNG_RULE_event_alignment_nonzero_pad, TM_NOTE, e->start, e->end);
		lttng_say(fd, "the bytes that align event %s are not zero", event_name(e));
	}
	if (!k->noted[NOTED_EXTENDED] && e->form == LTTNG_FORM_ID && e->id < LTTNG_FORM_FULL) {
		k->noted[NOTED_EXTENDED] = true;
		fd = event_finding(t, k, LTTNG_RULE_reserved_id_used, TM_WARNING, e->start, e->end);
		lttng_say(fd, "id %u is written in the long form, and would fit the event word", e->id);
	}
	if (!k->noted[NOTED_EXTENDED] && e->form && e->escaped && e->size < LTTNG_SIZE_ESCAPE) {
		k->noted[NOTED_EXTENDED] = true;
		fd = event_finding(t, k, LTTNG_RULE_event_size_escape_small, TM_WARNING, e->start, e->end);
		lttng_say(fd, "a size of %llu is written in the long form", (unsigned long long)e->size);
	}
	if (t->layout->era <= LTTNG_MARKERS && e->escaped && !k->noted[NOTED_EXTENDED] && e->end &&
	    e->end - e->payload < LTTNG_SIZE_ESCAPE) {
		k->noted[NOTED_EXTENDED] = true;
		fd = event_finding(t, k, LTTNG_RULE_event_size_escape_small, TM_WARNING, e->start, e->end);
		lttng_say(fd, "the size is given as 65,535 or more, and is %llu", (unsigned long long)(e->end - e->payload));
	}
	if (e->has_full && e->full < k->begin && !k->noted[NOTED_BACK]) {
		k->noted[NOTED_BACK] = true;
		fd = event_finding(t, k, LTTNG_RULE_event_before_begin, TM_WARNING, e->start, e->end);
		lttng_say(fd, "the stamp %llu is before the block's begin, %llu", (unsigned long long)e->full,
			    (unsigned long long)k->begin);
	} else if (e->has_full && e->full < before && !k->noted[NOTED_BACK]) {
		k->noted[NOTED_BACK] = true;
		fd = event_finding(t, k, LTTNG_RULE_tsc_not_monotonic, TM_WARNING, e->start, e->end);
		lttng_say(fd, "the stamp %llu is before that of the event before, %llu", (unsigned long long)e->full,
			    (unsigned long long)before);
	}
	if (e->stamp > k->end) {
		k->late_events++;
		if (!k->noted[NOTED_LATE] && !k->open) {
			k->noted[NOTED_LATE] = true;
			bool wrapped = !e->has_full && e->stamp - before >= (MASK27 + 1) / 2 && t->layout->era >= LTTNG_TRACE_MARKERS;
			fd = event_finding(t, k, wrapped ? LTTNG_RULE_tsc_not_monotonic : LTTNG_RULE_event_after_end, TM_WARNING,
					   e->start, e->end);
			lttng_say(fd, wrapped ? "the event's stamp goes back, or forward to %llu, behind the block's end, %llu" :
						  "the stamp %llu is behind the block's end, %llu",
				    (unsigned long long)e->stamp, (unsigned long long)k->end);
		}
	}
	struct lttng_marker *m = e->marker;
	if (m && m->ready != k->file->serial && m->first_use > e->stamp && !m->late) {
		m->late = true;
		if (t->late_use) {
			finding_explains(t->late_use, 1);
		} else {
			t->late_use = fd = event_finding(t, k, LTTNG_RULE_declaration_after_use, TM_WARNING, e->start, e->end);
			lttng_say(fd, "event type %s is used at %llu and declared at %llu", event_name(e),
				  (unsigned long long)e->stamp, (unsigned long long)m->first_use);
		}
	}
	bool heartbeat = t->layout->era == LTTNG_MARKERS ? e->id == 2 || e->id == 3 : t->layout->era == LTTNG_FACILITIES && e->id == 2;
	if (heartbeat && !t->heartbeat && !k->noted[NOTED_EXTENDED]) {
		k->noted[NOTED_EXTENDED] = true;
		fd = event_finding(t, k, LTTNG_RULE_heartbeat_in_nohb_trace, TM_WARNING, e->start, e->end);
		lttng_say(fd, "there is a heartbeat event, and has_heartbeat is 0");
	}
}

static unsigned defect_rule(const struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e,
			    enum lttng_defect defect)
{
	switch (defect) {
	case EVENT_HEADER_CUT:
		return LTTNG_RULE_header_truncated;
	case EVENT_STRING_CUT:
		return LTTNG_RULE_string_not_terminated;
	case EVENT_DANGLING:
		return LTTNG_RULE_dangling_event_id;
	case EVENT_NO_FORMAT:
		return LTTNG_RULE_event_without_format;
	case EVENT_SIZE:
		return k->file->metadata && t->layout->era != LTTNG_FACILITIES && e->id <= 1 ?
			       LTTNG_RULE_metadata_payload_length : LTTNG_RULE_event_size_mismatch;
	case EVENT_LOW_BITS:
		return LTTNG_RULE_full_stamp_low_bits;
	case EVENT_CORE_ID:
		return LTTNG_RULE_core_id_in_data_file;
	case EVENT_NOT_CORE:
		return LTTNG_RULE_non_core_in_facilities;
	case EVENT_NO_FACILITY:
		return LTTNG_RULE_dangling_facility_id;
	case EVENT_NO_NUMBER:
		return LTTNG_RULE_event_id_out_of_facility;
	case EVENT_OK:
	case EVENT_END:
	case EVENT_PAYLOAD_CUT:
	case EVENT_MALFORMED:
	default:
		return LTTNG_RULE_payload_truncated;
	}
}

/* Types that are not known: one finding a type, and none where the declarations themselves are damaged. */
static struct finding *dangling_finding(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e,
					enum lttng_defect defect)
{
	struct lttng_table *table = k->file->channel->table;
	struct lttng_marker *m = table ? lttng_table_make(t, table, e->id) : NULL;
	struct finding *blame = m && m->blame ? m->blame : t->metadata_lost ? t->metadata_broken : NULL;

	if (blame) {
		finding_explains(blame, 1);
		return blame;
	}
	struct finding *fd = event_finding(t, k, defect_rule(t, k, e, defect), TM_ERROR, e->start, e->payload);
	if (defect == EVENT_NO_FORMAT)
		lttng_say(fd, "event type %u (%s) is used, and nothing describes it", e->id, event_name(e));
	else if (defect == EVENT_NO_FACILITY)
		lttng_say(fd, "facility %u was never loaded", e->id >> 8);
	else if (defect == EVENT_NO_NUMBER)
		lttng_say(fd, "facility %u has no event %u", e->id >> 8, e->id & 0xff);
	else
		lttng_say(fd, "no record declares event type %u of channel %s", e->id, k->file->channel->name);
	if (m && fd)
		m->blame = fd;
	return fd;
}

static struct finding *defect_finding(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e,
				      enum lttng_defect defect)
{
	struct finding *fd;
	uint64_t to = e->end ? e->end : e->payload ? e->payload : k->limit;

	if (t->quiet)
		return NULL;
	if (defect == EVENT_DANGLING || defect == EVENT_NO_FORMAT || defect == EVENT_NO_FACILITY || defect == EVENT_NO_NUMBER)
		return dangling_finding(t, k, e, defect);
	if (to > k->room)
		to = k->room;
	fd = event_finding(t, k, defect_rule(t, k, e, defect), TM_ERROR, e->start < to ? e->start : to, to);
	event_finding_names(fd, k, e);
	switch (defect) {
	case EVENT_HEADER_CUT:
		lttng_say(fd, "%llu bytes are left of the data, which is no event header", (unsigned long long)(k->limit - k->rel));
		break;
	case EVENT_STRING_CUT:
		lttng_say(fd, "a string of event %s has no end before that of the data", event_name(e));
		break;
	case EVENT_SIZE:
		if (e->end)
			lttng_say(fd, "the size is %llu, and the payload of %s has %llu bytes", (unsigned long long)e->size,
				    event_name(e), (unsigned long long)(e->end - e->payload));
		else
			lttng_say(fd, "the size is %llu, and the payload of %s is longer", (unsigned long long)e->size, event_name(e));
		if (fd)
			finding_field(fd, k->base + e->size_at, e->size_width, "event_size = %llu", (unsigned long long)e->size);
		break;
	case EVENT_LOW_BITS:
		lttng_say(fd, "the full stamp is 0x%llx, and the event word has 0x%07llx for its low bits",
			    (unsigned long long)e->full, (unsigned long long)(e->word & MASK27));
		if (fd)
			finding_field(fd, k->base + e->start, 4, "event word = 0x%08x", e->word);
		break;
	case EVENT_CORE_ID:
		lttng_say(fd, "event %u declares an event type, in a data file", e->id);
		break;
	case EVENT_NOT_CORE:
		lttng_say(fd, "event type %u does not belong among the declarations", e->id);
		break;
	case EVENT_PAYLOAD_CUT:
	case EVENT_MALFORMED:
	case EVENT_OK:
	case EVENT_END:
	case EVENT_DANGLING:
	case EVENT_NO_FORMAT:
	case EVENT_NO_FACILITY:
	case EVENT_NO_NUMBER:
	default:
		lttng_say(fd, "event %s goes on behind the end of the block", event_name(e));
		break;
	}
	return fd;
}

/* ---- what to do about a defect ---- */

static uint64_t widest_align(const struct lttng_trace *t)
{
	return !t->alignment ? 1 : t->layout->natural ? 8 : t->alignment;
}

/* Whether an event decodes at rel, or the data ends there. */
static bool decodes(struct lttng_trace *t, const struct lttng_walk *k, uint64_t rel, uint64_t stamp, struct lttng_event *e)
{
	enum lttng_defect d = lttng_event_decode(t, k, rel, k->limit, stamp, e);
	return d == EVENT_END || (d == EVENT_OK && e->word);
}

static struct lttng_edit *edit_add(struct lttng_trace *t, struct lttng_walk *k)
{
	if (k->edit_count == LTTNG_EDITS_MAX)
		return NULL;
	struct lttng_edit *e = &t->edits[k->edit_count++];
	*e = (struct lttng_edit){ 0 };
	return e;
}

/* Back to the end of the last event that stays: changes behind it are no changes of what stays. */
static void trim_edits(const struct lttng_trace *t, struct lttng_walk *k)
{
	while (k->edit_count && t->edits[k->edit_count - 1].rel >= k->kept)
		k->edit_count--;
	k->rel = k->kept;
}

/* Leaves out the event between the last kept one and `end`, if what follows stays aligned and in time. */
static bool drop_event(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, uint64_t end, unsigned rule)
{
	struct lttng_event next;
	bool old = t->layout->era <= LTTNG_MARKERS;
	uint64_t step = old ? t->alignment : t->alignment < 4 ? t->alignment : 4;
	uint64_t from = lttng_align(k->rel, step), to = end;

	if (!end || end > k->limit || end <= from || end - from > UINT32_MAX)
		return false;
	if (end < k->limit) {
		to = lttng_align(end, step);
		if (to >= k->limit || (to - from) % widest_align(t) || lttng_event_decode(t, k, end, k->limit, e->stamp, &next) == EVENT_HEADER_CUT)
			return false;
		uint64_t turn = t->layout->era >= LTTNG_TRACE_MARKERS ? MASK27 : UINT32_MAX;
		if (!next.has_full && (next.stamp - k->stamp > turn || e->has_full))
			return false;
	} else {
		/* The padding before it goes, too, and with it what was left out just before. */
		trim_edits(t, k);
		from = k->rel;
	}
	struct lttng_edit *edit = edit_add(t, k);
	if (!edit)
		return false;
	edit->rel = from;
	edit->drop = (uint32_t)(to - from);
	edit->rule = rule;
	k->dropped++;
	k->rel = to;
	return true;
}

bool lttng_walk_patch(struct lttng_trace *t, struct lttng_walk *k, uint64_t rel, const void *bytes, size_t length, unsigned rule)
{
	struct lttng_edit *edit = edit_add(t, k);
	if (!edit || length > sizeof(edit->bytes))
		return false;
	edit->rel = rel;
	edit->drop = (uint32_t)length;
	edit->length = (uint8_t)length;
	edit->rule = rule;
	memcpy(edit->bytes, bytes, length);
	return true;
}

static bool patch_event(struct lttng_trace *t, struct lttng_walk *k, uint64_t at, unsigned width, uint64_t value, unsigned rule)
{
	uint8_t bytes[4];
	if (width == 2)
		store_u16(bytes, (uint16_t)value, t->big_endian);
	else
		store_u32(bytes, (uint32_t)value, t->big_endian);
	return lttng_walk_patch(t, k, at, bytes, width, rule);
}

static void keep_event(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e)
{
	judge_event(t, k, e, k->stamp);
	if (t->scan->outline && !t->quiet)
		lttng_outline_event(t, k, e);
	if (!k->events)
		k->first_stamp = e->stamp;
	k->events++;
	k->rel = k->kept = e->end;
	k->stamp = e->stamp;
	if (e->marker) {
		e->marker->used = true;
		/* Declarations and heartbeats are looked at one by one. */
		if (!k->file->metadata && e->marker->shape.known && (t->layout->era >= LTTNG_CHANNEL_MARKERS || e->id > 3) && !k->open)
			e->marker->ready = k->file->serial;
	}
	/* Heartbeats that carry a whole stamp. */
	bool full = (t->layout->era == LTTNG_MARKERS && e->id == 3) ||
		    (t->layout->era == LTTNG_FACILITIES && t->layout->minor == 8 && e->id == 3);
	const uint8_t *p = full && e->end - e->payload >= 8 ? window_at(&t->w, k->base + e->payload, 8) : NULL;
	if (p)
		k->stamp = load_u64(p, t->big_endian);
}

static void stop(struct lttng_walk *k, struct finding *fd, unsigned rule, bool broken)
{
	k->broken = broken;
	k->finding = fd ? fd : k->cause;
	k->rule = rule;
}

/* The size in the header is not that of the description. */
static bool mend_size(struct lttng_trace *t, struct lttng_walk *k, struct lttng_event *e)
{
	struct lttng_event next;
	unsigned rule = defect_rule(t, k, e, EVENT_SIZE);
	uint64_t size = e->end - e->payload;
	uint64_t most = e->size_width == 2 ? LTTNG_SIZE_ESCAPE - 1u : UINT32_MAX;

	unsigned edits = k->edit_count;
	if (e->end && size <= most && decodes(t, k, e->end, e->stamp, &next) &&
	    patch_event(t, k, e->size_at, e->size_width, size, rule)) {
		struct finding *fd = NULL;
		unsigned ignored = rule;
		if (!lttng_metadata_is_declaration(t, k, e) || lttng_metadata_take(t, k, e, &fd, &ignored)) {
			keep_event(t, k, e);
			k->patched++;
			return true;
		}
		k->edit_count = edits;
	}
	return decodes(t, k, e->sized_end, e->stamp, &next) && drop_event(t, k, e, e->sized_end, rule);
}

static bool mend_low_bits(struct lttng_trace *t, struct lttng_walk *k, struct lttng_event *e)
{
	struct lttng_event next;
	if (e->end && (!e->size_width || e->end - e->payload == e->size) && e->full >= k->stamp && e->full <= k->end &&
	    decodes(t, k, e->end, e->full, &next) &&
	    patch_event(t, k, e->start, 4, (e->word & ~MASK27) | (e->full & MASK27), LTTNG_RULE_full_stamp_low_bits)) {
		keep_event(t, k, e);
		k->patched++;
		return true;
	}
	return drop_event(t, k, e, e->end, LTTNG_RULE_full_stamp_low_bits);
}

/* The event crosses the end of the data. If it is whole within the block, the end is wrong: go on without one. */
static bool cross_end(struct lttng_trace *t, struct lttng_walk *k)
{
	struct lttng_event e;
	if (k->limit >= k->room || k->cut_explained)
		return false;
	if (lttng_event_decode(t, k, k->rel, k->room, k->stamp, &e) != EVENT_OK || e.start >= k->limit || e.stamp > k->end || !e.word)
		return false;
	struct finding *fd = NULL;
	if (!t->quiet) {
		fd = event_finding(t, k, LTTNG_RULE_data_end_mid_event, TM_ERROR, e.start, e.end);
		event_finding_names(fd, k, &e);
		lttng_say(fd, "the data ends %llu bytes into event %s, which is whole and has %llu",
			    (unsigned long long)(k->limit - e.start), event_name(&e), (unsigned long long)(e.end - e.start));
	}
	stop(k, fd, LTTNG_RULE_data_end_mid_event, false);
	k->open = true;
	k->end_moved = true;
	k->limit = k->room;
	k->bound = k->end;
	return true;
}

/* Zeros where an event should begin. True: the walk is over. */
static bool zeros_end(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e)
{
	uint64_t zeros = window_skip_zeros(&t->w, k->base + e->start) - k->base;
	uint64_t run = (zeros < k->limit ? zeros : k->limit) - e->start;
	struct finding *fd = NULL;
	bool to_end = zeros >= k->limit;

	/* A declaration of zeros declares nothing. */
	uint64_t header = t->layout->era <= LTTNG_MARKERS && !t->heartbeat ? 12 : 8;
	uint64_t least = k->file->metadata ? header : ZEROS_MIN;
	if (run < least && !(to_end && (e->stamp > k->end || k->open)))
		return false;
	if (k->open || t->quiet) {
		if (!k->open)
			stop(k, NULL, LTTNG_RULE_zero_hole, true);
		return true;
	}
	unsigned rule = to_end ? LTTNG_RULE_data_end_in_padding : LTTNG_RULE_zero_hole;
	struct finding *before = k->mended && k->rel == k->mended_to ? k->mended : k->rel == t->layout->size ? k->header_cause : NULL;
	if (before) {
		/* The event or the header before reaches into the hole. */
		finding_explains(before, 1);
		stop(k, before, rule, true);
		k->end_moved = true;
		return true;
	}
	fd = event_finding(t, k, rule, TM_ERROR, e->start, e->start + run);
	if (to_end)
		lttng_say(fd, "the last %llu bytes of the data are zeros", (unsigned long long)run);
	else
		lttng_say(fd, "%llu zero bytes where an event should begin", (unsigned long long)run);
	stop(k, fd, rule, true);
	k->end_moved = true;
	return true;
}

/* Rules for blocks whose end is not known: whether the event is still one of this block. */
static bool open_accepts(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e)
{
	if (e->start >= k->stale || e->stamp > k->bound || (e->has_full && (e->full < k->begin || e->full < k->stamp)))
		return false;
	return !lttng_seen_test(t, k, e);
}

/* A defect in a block whose end is known. False: the walk is over. */
static bool mend(struct lttng_trace *t, struct lttng_walk *k, struct lttng_event *e, enum lttng_defect defect)
{
	struct finding *fd;
	bool mended = false;

	if (defect == EVENT_HEADER_CUT || defect == EVENT_PAYLOAD_CUT || defect == EVENT_STRING_CUT) {
		if (cross_end(t, k))
			return true;
		fd = k->cut_explained ? NULL : defect_finding(t, k, e, defect);
		stop(k, fd, defect_rule(t, k, e, defect), true);
		k->cut_known = !k->cut_explained;
		k->dropped += k->cut_known && defect != EVENT_HEADER_CUT;
		k->end_moved = true;
		return false;
	}
	fd = defect_finding(t, k, e, defect);
	if (defect == EVENT_SIZE)
		mended = mend_size(t, k, e);
	else if (defect == EVENT_LOW_BITS)
		mended = mend_low_bits(t, k, e);
	else
		mended = drop_event(t, k, e, e->sized_end, defect_rule(t, k, e, defect));
	if (k->file->metadata && !t->quiet && !t->metadata_lost) {
		t->metadata_lost = true;
		t->metadata_broken = fd;
	}
	if (!mended)
		stop(k, fd, defect_rule(t, k, e, defect), true);
	k->mended = fd;
	k->mended_to = k->rel;
	return mended;
}

void lttng_walk_events(struct lttng_trace *t, struct lttng_walk *k)
{
	bool old = t->layout->era <= LTTNG_MARKERS;
	bool fast = !t->quiet && !t->scan->outline && !k->file->compact && !k->file->metadata && (!old || t->heartbeat);

	window_reset(&t->w, k->file->source);
	k->stamp = k->begin;
	k->kept = k->rel;
	k->first_stamp = 0;
	while (t->status == TM_OK) {
		struct lttng_event e;
		if (fast && k->events && !k->open) {
			if (old)
				fast_old(t, k);
			else if (t->alignment)
				fast_aligned(t, k);
			else
				fast_packed(t, k);
		}
		enum lttng_defect defect = lttng_event_decode(t, k, k->rel, k->limit, k->stamp, &e);
		if (t->w.status != TM_OK)
			t->status = t->w.status;
		if (defect == EVENT_END || t->status != TM_OK)
			break;
		if (!e.word && defect != EVENT_HEADER_CUT && zeros_end(t, k, &e))
			break;
		if (k->open && (defect != EVENT_OK || !open_accepts(t, k, &e)))
			break;
		if (defect != EVENT_OK) {
			if (!mend(t, k, &e, defect))
				break;
			continue;
		}
		if (lttng_metadata_is_declaration(t, k, &e)) {
			/* A hole behind it may have cut its last text short. */
			struct lttng_event hole = { .start = lttng_align(e.end, old ? t->alignment : widest_align(t)), .stamp = e.stamp };
			if (hole.start < k->limit && !k->open && zeros_end(t, k, &hole))
				break;
			struct finding *fd = NULL;
			unsigned rule = LTTNG_RULE_metadata_payload_length;
			if (!lttng_metadata_take(t, k, &e, &fd, &rule)) {
				if (rule == LTTNG_RULE_metadata_payload_length && !t->metadata_lost) {
					t->metadata_lost = true;
					t->metadata_broken = fd;
				}
				if (t->status == TM_OK && drop_event(t, k, &e, e.end, rule))
					continue;
				stop(k, fd, rule, true);
				break;
			}
		}
		if (k->open)
			lttng_seen_add(t, k, &e);
		keep_event(t, k, &e);
	}
	if (k->broken || k->end_moved || k->open)
		trim_edits(t, k);
}
