/* What is said of events: errors, and notes on events that stay. */
#include "formats/lttng/salvage/lttng_salvage.h"

enum { NOTED_LATE, NOTED_PADDING, NOTED_EXTENDED, NOTED_BACK };

/* What is to blame for what does not fit a type that is not known: what was said of it before, or that declarations are lost. */
static struct finding *blame_of(const struct lttng_trace *t, const struct lttng_marker *m)
{
	return m && m->blame ? m->blame : t->declared.lost ? t->declared.broken : NULL;
}

static struct finding *guess_blamed(const struct lttng_trace *t, struct lttng_type *type)
{
	const struct lttng_marker *m = type ? lttng_marker_of(type) : NULL;
	return m && m->guessed ? blame_of(t, m) : NULL;
}

/* What explains an error at an event, which may be NULL: what is wrong with the block; or its type is a guess, or that of the event
 * before it is: these end where the guess says. NULL: nothing. */
static struct finding *explained_by(const struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e)
{
	struct finding *fd = w->causes.block ? w->causes.block : e ? guess_blamed(t, e->type) : NULL;
	struct lttng_event before;

	if (fd || !w->at.events || !t->declared.lost ||
	    lttng_event_decode(&w->in, w->at.last, w->room, w->at.before, &before) != EVENT_OK)
		return fd;
	return guess_blamed(t, before.type);
}

static struct finding *event_say(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e, unsigned rule,
				 uint64_t from, uint64_t to, const char *format, va_list arguments)
	__attribute__((format(printf, 7, 0)));
static struct finding *event_say(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e, unsigned rule,
				 uint64_t from, uint64_t to, const char *format, va_list arguments)
{
	uint64_t size = w->file->source->size, at = w->in.base + from;
	struct finding *cause = lttng_rules[rule].severity == TM_ERROR ? explained_by(t, w, e) : NULL;
	if (cause) {
		finding_explains(cause, 1);
		return NULL;
	}
	uint64_t length = at < size ? (to > from ? to - from : 0) : 0;
	if (length > size - at)
		length = size - at;
	struct finding *fd = finding_new_at(t->s->findings, rule, w->file->source, at, length);
	finding_path(fd, "block %llu > event %llu", (unsigned long long)w->number, (unsigned long long)w->at.events);
	finding_say_list(fd, format, arguments);
	return fd;
}

struct finding *lttng_event_report_at(struct lttng_trace *t, const struct lttng_walk *w, unsigned rule, uint64_t from, uint64_t to,
				      const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct finding *fd = event_say(t, w, NULL, rule, from, to, format, arguments);
	va_end(arguments);
	return fd;
}

const char *lttng_event_name(const struct lttng_event *e)
{
	return e->type && e->type->name ? e->type->name : "of an unknown type";
}

struct finding *lttng_event_named_at(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e, unsigned rule,
				     uint64_t from, uint64_t to, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct finding *fd = event_say(t, w, e, rule, from, to, format, arguments);
	va_end(arguments);
	if (fd)
		finding_path(fd, "block %llu > event %llu (%s)", (unsigned long long)w->number, (unsigned long long)w->at.events,
			     lttng_event_name(e));
	return fd;
}

/* True for the first of its kind in the block. */
static bool note_once(struct lttng_walk *w, unsigned kind)
{
	bool first = !w->causes.noted[kind];
	w->causes.noted[kind] = true;
	return first;
}

/* Headers that are longer than they need be. */
static void judge_extension(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	uint64_t size = e->end - e->payload;

	if (w->causes.noted[NOTED_EXTENDED])
		return;
	if (e->form == LTTNG_FORM_ID && e->id < LTTNG_FORM_FULL) {
		(void)note_once(w, NOTED_EXTENDED);
		lttng_event_report(t, w, LTTNG_RULE_reserved_id_used, e->start, e->end,
				   "id %u is written in the long form, and would fit the event word", e->id);
	} else if (e->form && e->escaped && e->size < LTTNG_SIZE_ESCAPE) {
		(void)note_once(w, NOTED_EXTENDED);
		lttng_event_report(t, w, LTTNG_RULE_event_size_escape_small, e->start, e->end,
				   "a size of %llu is written in the long form", (unsigned long long)e->size);
	} else if (t->coding.layout->era <= LTTNG_MARKERS && e->escaped && e->end && size < LTTNG_SIZE_ESCAPE) {
		(void)note_once(w, NOTED_EXTENDED);
		lttng_event_report(t, w, LTTNG_RULE_event_size_escape_small, e->start, e->end,
				   "the size is given as 65,535 or more, and is %llu", (unsigned long long)size);
	}
}

/* A full stamp against the block's begin and the event before. */
static void judge_full_stamp(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, uint64_t before)
{
	if (!e->has_full || (e->full >= w->begin && e->full >= before) || !note_once(w, NOTED_BACK))
		return;
	if (e->full < w->begin)
		lttng_event_report(t, w, LTTNG_RULE_event_before_begin, e->start, e->end,
				   "the stamp %llu is before the block's begin, %llu", (unsigned long long)e->full,
				   (unsigned long long)w->begin);
	else
		lttng_event_report(t, w, LTTNG_RULE_tsc_not_monotonic, e->start, e->end,
				   "the stamp %llu is before that of the event before, %llu", (unsigned long long)e->full,
				   (unsigned long long)before);
}

/* A stamp against the block's end. */
static void judge_late(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, uint64_t before)
{
	if (e->stamp <= w->end || w->open || !note_once(w, NOTED_LATE))
		return;
	/* A step back is a step forward by nearly all that the few bits of a stamp can say. */
	if (!e->has_full && e->stamp - before >= (LTTNG_TIME_MASK + 1) / 2 && t->coding.layout->era >= LTTNG_TRACE_MARKERS)
		lttng_event_report(t, w, LTTNG_RULE_tsc_not_monotonic, e->start, e->end,
				   "the stamp goes back, or forward to %llu, past the block's end, %llu",
				   (unsigned long long)e->stamp, (unsigned long long)w->end);
	else
		lttng_event_report(t, w, LTTNG_RULE_event_after_end, e->start, e->end,
				   "the stamp %llu is past the block's end, %llu", (unsigned long long)e->stamp,
				   (unsigned long long)w->end);
}

/* A wrap of the clock that no full stamp announces, where the tracer announces all. */
static void judge_wrap(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, uint64_t before)
{
	if (t->coding.layout->era < LTTNG_TRACE_MARKERS || w->file->metadata || w->open || e->stamp > w->end ||
	    !lttng_laps_back(t, before, e) || !note_once(w, NOTED_BACK))
		return;
	lttng_event_report(
		t, w, LTTNG_RULE_tsc_not_monotonic, e->start, e->end,
		"the stamp goes back by %llu ticks, or forward to %llu without the full stamp that this trace has at such "
		"a place",
		(unsigned long long)(LTTNG_TIME_MASK + 1 - (e->stamp - before)), (unsigned long long)e->stamp);
}

/* A use against the declaration of the type: the first in each file. */
static void judge_use(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e)
{
	struct lttng_marker *m = e->type ? lttng_marker_of(e->type) : NULL;

	if (!m || m->ready == w->file->serial || m->first_use <= e->stamp || m->late)
		return;
	m->late = true;
	if (t->declared.late_use)
		finding_explains(t->declared.late_use, 1);
	else
		t->declared.late_use = lttng_event_report(t, w, LTTNG_RULE_declaration_after_use, e->start, e->end,
							  "event type %s is used at %llu and declared at %llu", lttng_event_name(e),
							  (unsigned long long)e->stamp, (unsigned long long)m->first_use);
}

static bool is_heartbeat(const struct lttng_coding *c, const struct lttng_event *e)
{
	if (c->layout->era == LTTNG_MARKERS)
		return e->id == 2 || e->id == 3;
	return c->layout->era == LTTNG_FACILITIES && e->id == 2;
}

void lttng_event_judge(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, uint64_t before)
{
	if (!w->out.unusual && (e->padded || e->stamp > w->end || (e->has_full && e->full < before)))
		w->out.unusual = e->start;
	if (e->padded && note_once(w, NOTED_PADDING))
		lttng_event_report(t, w, LTTNG_RULE_event_alignment_nonzero_pad, e->start, e->end,
				   "the bytes that align event %s are not zero", lttng_event_name(e));
	judge_extension(t, w, e);
	judge_full_stamp(t, w, e, before);
	judge_late(t, w, e, before);
	judge_wrap(t, w, e, before);
	judge_use(t, w, e);
	if (!t->coding.heartbeat && is_heartbeat(&t->coding, e) && note_once(w, NOTED_EXTENDED))
		lttng_event_report(t, w, LTTNG_RULE_heartbeat_in_nohb_trace, e->start, e->end,
				   "there is a heartbeat event, and has_heartbeat is 0");
}

/* Whether types are lost that the search had no room for: what seems to be an event may be among the values of one. */
static bool is_unsure(const struct lttng_walk *w)
{
	return w->file->channel->unsearched;
}

unsigned lttng_defect_rule(const struct lttng_walk *w, const struct lttng_event *e, enum lttng_defect defect)
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
		return w->in.metadata && w->in.coding->layout->era != LTTNG_FACILITIES && e->id <= 1
			       ? LTTNG_RULE_metadata_payload_length
			       : LTTNG_RULE_event_size_mismatch;
	case EVENT_LOW_BITS:
		return LTTNG_RULE_full_stamp_low_bits;
	case EVENT_CORE_ID:
		return is_unsure(w) ? LTTNG_RULE_dangling_event_id : LTTNG_RULE_core_id_in_data_file;
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
static struct finding *dangling_finding(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e,
					enum lttng_defect defect)
{
	struct lttng_table *table = w->file->channel->table;
	struct lttng_marker *m = table ? lttng_table_make(t, table, e->id) : NULL;
	if (m)
		m->unknown += m->unknown < UINT32_MAX;
	struct finding *fd = blame_of(t, m);

	if (fd) {
		finding_explains(fd, 1);
		return fd;
	}
	if (defect == EVENT_NO_FORMAT)
		fd = lttng_event_report(t, w, LTTNG_RULE_event_without_format, e->start, e->payload,
					"event type %u (%s) is used, and has no description", e->id, lttng_event_name(e));
	else if (defect == EVENT_NO_FACILITY)
		fd = lttng_event_report(t, w, LTTNG_RULE_dangling_facility_id, e->start, e->payload, "facility %u was never loaded",
					e->id >> 8);
	else if (defect == EVENT_NO_NUMBER)
		fd = lttng_event_report(t, w, LTTNG_RULE_event_id_out_of_facility, e->start, e->payload,
					"facility %u has no event %u", e->id >> 8, e->id & 0xff);
	else
		fd = lttng_event_report(t, w, LTTNG_RULE_dangling_event_id, e->start, e->payload,
					"no record declares event type %u of channel %s", e->id, w->file->channel->name);
	if (m && fd)
		m->blame = fd;
	return fd;
}

/* The size in the header is not that of the description. */
static struct finding *size_finding(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, uint64_t from,
				    uint64_t to)
{
	const unsigned rule = lttng_defect_rule(w, e, EVENT_SIZE);
	struct finding *fd;
	if (e->end)
		fd = lttng_event_named(t, w, e, rule, from, to, "the size is %llu, and the payload of %s has %llu bytes",
				       (unsigned long long)e->size, lttng_event_name(e), (unsigned long long)(e->end - e->payload));
	else
		fd = lttng_event_named(t, w, e, rule, from, to, "the size is %llu, and the payload of %s is longer",
				       (unsigned long long)e->size, lttng_event_name(e));
	if (fd)
		finding_field(fd, w->in.base + e->size_at, e->size_width, "event_size = %llu", (unsigned long long)e->size);
	return fd;
}

struct finding *lttng_defect_finding(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e,
				     enum lttng_defect defect)
{
	struct finding *fd;
	uint64_t to = e->end ? e->end : e->payload ? e->payload : w->limit;

	if (to > w->room)
		to = w->room;
	uint64_t from = defect == EVENT_HEADER_CUT ? w->at.rel : e->start;
	from = from < to ? from : to;
	switch (defect) {
	case EVENT_DANGLING:
	case EVENT_NO_FORMAT:
	case EVENT_NO_FACILITY:
	case EVENT_NO_NUMBER:
		return dangling_finding(t, w, e, defect);
	case EVENT_HEADER_CUT:
		return lttng_event_named(t, w, e, LTTNG_RULE_header_truncated, from, to,
					 "%llu bytes are left of the data, which is not an event header",
					 (unsigned long long)(w->limit - w->at.rel));
	case EVENT_STRING_CUT:
		return lttng_event_named(t, w, e, LTTNG_RULE_string_not_terminated, from, to,
					 "a string of event %s has no end before that of the data", lttng_event_name(e));
	case EVENT_SIZE:
		return size_finding(t, w, e, from, to);
	case EVENT_LOW_BITS:
		fd = lttng_event_named(t, w, e, LTTNG_RULE_full_stamp_low_bits, from, to,
				       "the full stamp is 0x%llx, and the event word has 0x%07llx for its low bits",
				       (unsigned long long)e->full, (unsigned long long)(e->word & LTTNG_TIME_MASK));
		if (fd)
			finding_field(fd, w->in.base + e->start, 4, "event word = 0x%08x", e->word);
		return fd;
	case EVENT_CORE_ID:
		if (is_unsure(w))
			return dangling_finding(t, w, e, defect);
		return lttng_event_named(t, w, e, LTTNG_RULE_core_id_in_data_file, from, to,
					 "event %u declares an event type, in a data file", e->id);
	case EVENT_NOT_CORE:
		return lttng_event_named(t, w, e, LTTNG_RULE_non_core_in_facilities, from, to,
					 "event type %u does not belong among the declarations", e->id);
	case EVENT_PAYLOAD_CUT:
	case EVENT_MALFORMED:
	case EVENT_OK:
	case EVENT_END:
	default:
		return lttng_event_named(t, w, e, LTTNG_RULE_payload_truncated, from, to,
					 "event %s continues past the end of the block", lttng_event_name(e));
	}
}
