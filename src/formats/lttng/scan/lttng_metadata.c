/* Records that declare event types: facility loads to 0.8, markers from 1.0 on. */
#include "formats/lttng/lttng.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/cursor.h"
#include "core/text.h"

void lttng_table_free(struct lttng_table *table)
{
	struct lttng_name *n, *next;
	if (!table)
		return;
	for (unsigned i = 0; i < 256; i++) {
		for (unsigned j = 0; table->pages[i] && j < 256; j++) {
			struct lttng_marker *m = table->pages[i][j];
			if (!m)
				continue;
			if (m->owns_steps)
				free(m->shape.steps);
			free(m->name);
			free(m);
		}
		free(table->pages[i]);
	}
	n = table->names;
	HASH_CLEAR(hh, table->names);
	for (; n; n = next) {
		next = n->hh.next;
		free(n->name);
		free(n->format);
		free(n->shape.steps);
		free(n);
	}
	free(table);
}

static char *table_copy(struct lttng_trace *t, const char *text, size_t length)
{
	char *copy = lttng_table_alloc(t, length + 1);
	if (copy)
		memcpy(copy, text, length);
	return copy;
}

static struct lttng_name *name_find(struct lttng_trace *t, struct lttng_table *table, const char *name, size_t length)
{
	struct lttng_name *n = NULL;
	HASH_FIND(hh, table->names, name, length, n);
	if (n)
		return n;
	n = lttng_table_alloc(t, sizeof(*n));
	char *copy = n ? table_copy(t, name, length) : NULL;
	if (!copy) {
		free(n);
		return NULL;
	}
	n->name = copy;
	HASH_ADD_KEYPTR(hh, table->names, copy, length, n);
	if (!n->hh.tbl) {
		free(copy);
		free(n);
		(void)lttng_no_memory(t);
		return NULL;
	}
	return n;
}

/* The table for a declaration: the trace's, or that of the channel it names. */
static struct lttng_table *declared_table(struct lttng_trace *t, const char *channel, size_t length)
{
	if (t->layout->era != LTTNG_CHANNEL_MARKERS)
		return t->table;
	struct lttng_channel *c = lttng_channel_find(t, channel, length, true);
	if (!c)
		return NULL;
	c->declared = true;
	if (!c->table)
		c->table = lttng_table_alloc(t, sizeof(*c->table));
	return c->table;
}

/* ---- core types ---- */

static bool core_add(struct lttng_trace *t, struct lttng_table *table, uint32_t id, const char *name,
		     const struct lttng_step *steps, size_t count)
{
	struct lttng_marker *m = lttng_table_make(t, table, id);
	if (!m)
		return false;
	m->name = table_copy(t, name, strlen(name));
	m->declared = m->described = m->used = m->owns_steps = true;
	for (size_t i = 0; i < count && t->status == TM_OK; i++) {
		struct lttng_step s = steps[i];
		s.align = s.kind == STEP_STRING ? 1 : lttng_value_align(t, s.align);
		s.pad = s.pad > 1 && t->alignment ? s.pad : 1;
		if (!lttng_shape_add(t, &m->shape, s))
			return false;
	}
	lttng_shape_finish(&m->shape);
	return t->status == TM_OK;
}

#define VALUE(bytes) \
	{ \
		.kind = STEP_FIXED, .align = bytes, .pad = 1, .size = bytes \
	}
#define VALUES(bytes, n) \
	{ \
		.kind = STEP_FIXED, .align = bytes, .pad = 1, .size = (bytes) * (n) \
	}
#define STRING \
	{ \
		.kind = STEP_STRING, .align = 1, .pad = 1 \
	}
#define PADDED \
	{ \
		.kind = STEP_STRING, .align = 1, .pad = 4 \
	}

bool lttng_metadata_core(struct lttng_trace *t)
{
	static const struct lttng_step load[] = { PADDED, VALUES(4, 7) }, number[] = { VALUE(4) }, stamp[] = { VALUE(8) };
	static const struct lttng_step id[] = { STRING, VALUE(2), VALUES(1, 5) }, format[] = { STRING, STRING };
	static const struct lttng_step channel_id[] = { STRING, STRING, VALUE(2), VALUES(1, 5) };
	static const struct lttng_step channel_format[] = { STRING, STRING, STRING };
	bool full = t->layout->minor == 8;

	if (t->layout->era == LTTNG_CHANNEL_MARKERS) {
		struct lttng_channel *c = lttng_channel_find(t, "metadata", 8, true);
		if (!c)
			return false;
		c->table = lttng_table_alloc(t, sizeof(*c->table));
		return c->table && core_add(t, c->table, 0, "core_marker_id", channel_id, 4) &&
		       core_add(t, c->table, 1, "core_marker_format", channel_format, 3);
	}
	t->table = lttng_table_alloc(t, sizeof(*t->table));
	if (!t->table)
		return false;
	if (t->layout->era == LTTNG_FACILITIES)
		return core_add(t, t->table, 0, "facility_load", load, 2) &&
		       core_add(t, t->table, 1, "facility_unload", number, 1) && core_add(t, t->table, 2, "heartbeat", NULL, 0) &&
		       (full ? core_add(t, t->table, 3, "heartbeat_full", stamp, 1) &&
					core_add(t, t->table, 4, "state_dump_facility_load", load, 2)
			     : core_add(t, t->table, 3, "state_dump_facility_load", load, 2));
	if (!core_add(t, t->table, 0, "core_marker_id", id, 3) || !core_add(t, t->table, 1, "core_marker_format", format, 2))
		return false;
	return t->layout->era != LTTNG_MARKERS ||
	       (core_add(t, t->table, 2, "core_heartbeat_32", NULL, 0) && core_add(t, t->table, 3, "core_heartbeat_64", stamp, 1));
}

bool lttng_metadata_is_declaration(const struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e)
{
	if (!k->file->metadata)
		return false;
	if (t->layout->era == LTTNG_FACILITIES)
		return e->id == 0 || e->id == (t->layout->minor == 8 ? 4u : 3u);
	return e->id <= 1;
}

bool lttng_metadata_is_whole(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e)
{
	static const uint8_t no_fields[] = { '\0', ' ', '\0' };
	uint64_t length = e->id == 0 ? SIZE_KINDS : sizeof(no_fields);
	if (e->size_width)
		return true;
	if (e->id > 1 || e->end - e->payload < length)
		return false;
	const uint8_t *p = window_at(&t->w, k->base + e->end - length, (size_t)length);
	return p && (e->id == 0 ? p[SIZE_INT] && p[SIZE_LONG] && p[SIZE_POINTER] && p[SIZE_SIZE_T]
				: !memcmp(p, no_fields, sizeof(no_fields)));
}

/* ---- votes ---- */

#define SIZE_BALLOTS 16u

struct size_votes {
	struct lttng_sizes sizes;
	unsigned count;
};

/* Whether the sizes can be those of the machine that the headers tell of. */
static bool sizes_plausible(const struct lttng_trace *t, const struct lttng_sizes *s)
{
	/* The word in 0.x is a flag or a value. */
	bool aligned = t->layout->era == LTTNG_FACILITIES ? (s->v[SIZE_ALIGNMENT] != 0) == (t->want.v[LF_ALIGNMENT] != 0)
							  : s->v[SIZE_ALIGNMENT] == t->want.v[LF_ALIGNMENT];
	return s->v[SIZE_INT] == 4 && (s->v[SIZE_LONG] == 4 || s->v[SIZE_LONG] == 8) && s->v[SIZE_POINTER] == t->arch &&
	       (s->v[SIZE_SIZE_T] == 4 || s->v[SIZE_SIZE_T] == 8) && aligned;
}

/* The fields of a declaration, read out of its payload. */
struct declaration {
	const char *channel, *name, *format;
	size_t channel_length, name_length, format_length;
	uint32_t id, checksum;
	struct lttng_sizes sizes;
	uint64_t sizes_at;    /* rel */
	unsigned sizes_width; /* of each */
};

static const char *take_string(struct cursor *c, size_t *length)
{
	const uint8_t *p = c->data + c->position;
	const uint8_t *nul = c->failed ? NULL : memchr(p, 0, cursor_left(c));
	*length = nul ? (size_t)(nul - p) : 0;
	cursor_skip(c, nul ? *length + 1 : cursor_left(c) + 1);
	return (const char *)p;
}

/* False: it is not one, or far too long. The text stays valid until the window moves. */
static bool declaration_read(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e, struct declaration *d)
{
	uint64_t length = e->end - e->payload;
	const uint8_t *p = length <= 3u * LTTNG_TEXT_MAX ? window_at(&t->w, k->base + e->payload, (size_t)length) : NULL;
	*d = (struct declaration){ 0 };
	if (!p)
		return false;
	struct cursor c = cursor_make(p, (size_t)length, t->big_endian);
	if (t->layout->era == LTTNG_CHANNEL_MARKERS)
		d->channel = take_string(&c, &d->channel_length);
	d->name = take_string(&c, &d->name_length);
	if (t->layout->era == LTTNG_FACILITIES) {
		cursor_seek(&c, (size_t)lttng_align(c.position, t->alignment ? 4 : 0));
		d->checksum = cursor_u32(&c);
		d->id = cursor_u32(&c);
		d->sizes_width = 4;
		d->sizes_at = e->payload + c.position;
		for (unsigned i = 0; i < SIZE_KINDS; i++) {
			uint32_t v = cursor_u32(&c);
			d->sizes.v[i] = v > 255 ? 255 : (uint8_t)v;
		}
	} else if (e->id == 1) {
		d->format = take_string(&c, &d->format_length);
	} else {
		cursor_seek(&c, (size_t)lttng_align(c.position, lttng_value_align(t, 2)));
		d->id = cursor_u16(&c);
		d->sizes_width = 1;
		d->sizes_at = e->payload + c.position;
		for (unsigned i = 0; i < SIZE_KINDS; i++)
			d->sizes.v[i] = cursor_u8(&c);
	}
	return !c.failed && d->name_length <= LTTNG_TEXT_MAX && d->format_length <= LTTNG_TEXT_MAX;
}

/* Walks the events of the metadata files without judging them. `see` may stop it by returning false. */
struct quiet_walk {
	struct size_votes votes[SIZE_BALLOTS];
	uint64_t events;
	bool exact; /* the first block with data ended where it should */
	bool first_only;
};

static void quiet_block(struct lttng_trace *t, struct lttng_file *f, const struct lttng_frame *frame, struct quiet_walk *q)
{
	struct lttng_header h;
	uint64_t limit = frame->length;
	if (lttng_header_at(t, f, frame->offset, &h)) {
		uint64_t end = lttng_header_data_end(t->layout, &h, frame->length);
		limit = end >= t->layout->size && end < limit ? end : limit;
	}
	struct lttng_walk k = { .file = f,
				.base = frame->offset,
				.limit = limit,
				.room = limit,
				.begin = h.v[LF_BEGIN],
				.end = UINT64_MAX,
				.bound = UINT64_MAX,
				.stale = UINT64_MAX,
				.rel = t->layout->size };
	if (limit <= t->layout->size)
		return;
	window_reset(&t->w, f->source);
	for (;;) {
		struct lttng_event e;
		struct declaration d;
		enum lttng_defect defect = lttng_event_decode(t, &k, k.rel, k.limit, k.stamp, &e);
		if (defect == EVENT_SIZE && e.sized_end && e.end)
			e.end = e.sized_end;
		else if (defect != EVENT_OK && defect != EVENT_LOW_BITS)
			break;
		if (lttng_metadata_is_declaration(t, &k, &e) && (t->layout->era == LTTNG_FACILITIES || e.id == 0) &&
		    defect != EVENT_SIZE && declaration_read(t, &k, &e, &d)) {
			for (unsigned i = 0; i < SIZE_BALLOTS; i++) {
				struct size_votes *v = &q->votes[i];
				if (v->count && memcmp(&v->sizes, &d.sizes, sizeof(d.sizes)) != 0)
					continue;
				v->sizes = d.sizes;
				v->count++;
				break;
			}
		}
		q->events++;
		if (e.end <= k.rel)
			break;
		k.rel = e.end;
		k.stamp = e.stamp;
	}
	q->exact |= k.rel == limit && limit > t->layout->size;
	if (t->w.status != TM_OK)
		t->status = t->w.status;
}

static void quiet_walk(struct lttng_trace *t, struct quiet_walk *q)
{
	for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files[i];
		struct lttng_frame frame;
		if (!f->channel || !f->metadata || f->aside || !f->layout)
			continue;
		f->channel->table = t->layout->era == LTTNG_CHANNEL_MARKERS ? f->channel->table : t->table;
		if (!f->block_size && !t->layout->variable)
			lttng_frame_open(t, f);
		for (uint64_t at = 0; lttng_frame_at(t, f, at, &frame); at += frame.length) {
			quiet_block(t, f, &frame, q);
			if (q->first_only && q->events)
				break;
		}
	}
}

uint64_t lttng_metadata_fits(struct lttng_trace *t)
{
	struct quiet_walk q = { .first_only = true };
	quiet_walk(t, &q);
	return q.exact ? q.events : 0;
}

void lttng_metadata_vote(struct lttng_trace *t)
{
	struct quiet_walk q = { 0 };
	unsigned best = 0;

	quiet_walk(t, &q);
	for (unsigned i = 0; i < SIZE_BALLOTS && q.votes[i].count; i++) {
		unsigned weight = 2 * q.votes[i].count + sizes_plausible(t, &q.votes[i].sizes);
		if (weight > best) {
			best = weight;
			t->sizes = q.votes[i].sizes;
			t->sizes_known = true;
		}
	}
}

/* ---- taking them in ---- */

/* Reports something about a declaration. */
#define declaration_report(t, k, e, rule, ...) ((void)PLACE(rule), declaration_report_at((t), (k), (e), (rule), __VA_ARGS__))
static struct finding *PRINTF_LIKE(5, 6) declaration_report_at(struct lttng_trace *t, const struct lttng_walk *k,
							       const struct lttng_event *e, unsigned rule, const char *format, ...)
{
	struct finding *fd = finding_new_at(t->f, rule, k->file->source, k->base + e->start, e->end - e->start);
	va_list arguments;
	finding_path(fd, "block %llu > event %llu (%s)", (unsigned long long)k->number, (unsigned long long)k->events,
		     e->marker ? e->marker->name : "");
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

void lttng_metadata_lose(struct lttng_trace *t, struct finding *fd)
{
	if (t->metadata_lost)
		return;
	t->metadata_lost = true;
	t->metadata_broken = fd;
}

/* Sizes of types: one finding for all declarations that have the same flaw. */
static void judge_sizes(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, const struct declaration *d)
{
	bool plausible = sizes_plausible(t, &d->sizes);
	unsigned rule = plausible ? LTTNG_RULE_declared_sizes_vary : LTTNG_RULE_declared_sizes_implausible;
	bool same = !memcmp(&d->sizes, &t->sizes, sizeof(d->sizes));
	/* 0.x: what the facility says of alignment is a flag or a value. */
	if (plausible && same)
		return;
	if (plausible && t->layout->era == LTTNG_FACILITIES && !memcmp(&d->sizes, &t->sizes, SIZE_ALIGNMENT))
		return;
	if (t->sizes_blame) {
		finding_explains(t->sizes_blame, 1);
	} else {
		struct finding *fd = declaration_report(
			t, k, e, rule, "int %u, long %u, pointer %u, size_t %u, alignment %u; expected %u, %u, %u, %u, %u",
			d->sizes.v[SIZE_INT], d->sizes.v[SIZE_LONG], d->sizes.v[SIZE_POINTER], d->sizes.v[SIZE_SIZE_T],
			d->sizes.v[SIZE_ALIGNMENT], t->sizes.v[SIZE_INT], t->sizes.v[SIZE_LONG], t->sizes.v[SIZE_POINTER],
			t->sizes.v[SIZE_SIZE_T], t->sizes.v[SIZE_ALIGNMENT]);
		finding_field(fd, k->base + d->sizes_at, SIZE_KINDS * d->sizes_width, "sizes of types");
		t->sizes_blame = fd;
	}
	if (!plausible)
		lttng_metadata_lose(t, t->sizes_blame); /* what else it says may be as wrong */
	uint8_t bytes[4 * SIZE_KINDS];
	for (unsigned i = 0; i < SIZE_KINDS; i++) {
		if (d->sizes_width == 4)
			store_u32(bytes + 4 * i, t->sizes.v[i], t->big_endian);
		else
			bytes[i] = t->sizes.v[i];
	}
	if (lttng_walk_patch(t, k, d->sizes_at, bytes, SIZE_KINDS * d->sizes_width, rule))
		k->patched++;
}

static void note_duplicate(struct lttng_trace *t, const struct lttng_walk *k, const struct lttng_event *e, const char *name)
{
	if (t->duplicates) {
		finding_explains(t->duplicates, 1);
		return;
	}
	char quoted[TEXT_QUOTE_SIZE];
	t->duplicates = declaration_report(t, k, e, LTTNG_RULE_duplicate_declaration, "%s is declared again, in the same way",
					   text_quote(quoted, name, strlen(name)));
}

static void marker_describe(struct lttng_marker *m, const struct lttng_name *n)
{
	for (; m; m = m->twin) {
		m->described = n->format != NULL;
		m->shape = n->shape;
		m->blame = n->blame;
	}
}

static bool take_id(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, const struct declaration *d,
		    struct lttng_table *table, struct lttng_name *n, struct finding **fd, unsigned *rule)
{
	char quoted[TEXT_QUOTE_SIZE], other[TEXT_QUOTE_SIZE];
	struct lttng_marker *m = lttng_table_make(t, table, d->id);
	if (!m)
		return false;
	if (m->declared && strcmp(m->name, n->name) != 0) {
		*rule = LTTNG_RULE_id_redefined;
		*fd = declaration_report(t, k, e, LTTNG_RULE_id_redefined, "event type %u is %s, and is given to %s here", d->id,
					 text_quote(quoted, m->name, strlen(m->name)), text_quote(other, n->name, strlen(n->name)));
		return false;
	}
	if (m->declared) {
		note_duplicate(t, k, e, n->name);
		return true;
	}
	m->name = table_copy(t, n->name, strlen(n->name));
	if (!m->name)
		return false;
	m->declared = true;
	m->first_use = e->stamp;
	if (n->marker) {
		*fd = declaration_report(t, k, e, LTTNG_RULE_name_with_two_ids,
					 "%s is event type %u already, and is declared as %u",
					 text_quote(quoted, n->name, strlen(n->name)), n->marker->id, d->id);
		m->twin = n->marker;
	}
	n->marker = m;
	struct lttng_marker *twin = m->twin;
	m->twin = NULL;
	marker_describe(m, n);
	m->twin = twin;
	if (t->layout->era == LTTNG_MARKERS && d->id >= 4 && d->id <= 7) {
		*fd = declaration_report(t, k, e, LTTNG_RULE_reserved_id_range, "%s has the reserved number %u",
					 text_quote(quoted, n->name, strlen(n->name)), d->id);
	}
	return true;
}

static bool take_format(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, const struct declaration *d,
			struct lttng_name *n, struct finding **fd, unsigned *rule)
{
	char quoted[TEXT_QUOTE_SIZE], other[TEXT_QUOTE_SIZE];
	unsigned flaws;
	size_t at = 0;

	if (n->format && (strlen(n->format) != d->format_length || memcmp(n->format, d->format, d->format_length) != 0)) {
		*rule = LTTNG_RULE_format_conflict;
		*fd = declaration_report(t, k, e, LTTNG_RULE_format_conflict, "%s is \"%s\" here, and was \"%s\"",
					 text_quote(quoted, n->name, strlen(n->name)), d->format, n->format);
		return false;
	}
	if (n->format) {
		note_duplicate(t, k, e, n->name);
		return true;
	}
	char *format = table_copy(t, d->format, d->format_length);
	if (!format || !lttng_format_parse(t, format, &n->shape, &flaws, &at)) {
		free(format);
		return false;
	}
	(void)text_quote(quoted, n->name, strlen(n->name));
	(void)text_quote(other, format + (at < d->format_length ? at : 0), strlen(format + (at < d->format_length ? at : 0)));
	if (flaws & FORMAT_BAD) {
		*rule = LTTNG_RULE_format_syntax;
		*fd = declaration_report(t, k, e, LTTNG_RULE_format_syntax, "the format of %s cannot be understood from \"%s\" on",
					 quoted, other);
		free(format);
		free(n->shape.steps);
		n->shape = (struct lttng_shape){ 0 };
		n->blame = *fd;
		marker_describe(n->marker, n);
		return false;
	}
	n->format = format;
	if (flaws & FORMAT_EIGHT) {
		*fd = declaration_report(t, k, e, LTTNG_RULE_format_qualifier_8_ambiguous,
					 "the format of %s has #8 with a shorter type: \"%s\"", quoted, format);
	}
	if (flaws & FORMAT_UNNAMED) {
		*fd = declaration_report(t, k, e, LTTNG_RULE_format_unnamed_field,
					 "the format of %s has a field without a name: \"%s\"", quoted, format);
	}
	n->blame = NULL;
	marker_describe(n->marker, n);
	return true;
}

static bool take_facility(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, const struct declaration *d,
			  struct finding **fd, unsigned *rule)
{
	char name[LTTNG_NAME_MAX];
	char quoted[TEXT_QUOTE_SIZE];
	uint32_t id = d->id;

	(void)text_quote(quoted, d->name, d->name_length);
	if (id > 255 || d->name_length >= sizeof(name)) {
		*rule = LTTNG_RULE_metadata_payload_length;
		*fd = declaration_report(t, k, e, LTTNG_RULE_metadata_payload_length,
					 "facility %s has number %u; numbers are below 256", quoted, id);
		return false;
	}
	struct lttng_name *known = t->facilities[id];
	if (known && (strlen(known->name) != d->name_length || memcmp(known->name, d->name, d->name_length) != 0 ||
		      t->facility_checksums[id] != d->checksum)) {
		*rule = LTTNG_RULE_facility_record_conflict;
		*fd = declaration_report(t, k, e, LTTNG_RULE_facility_record_conflict,
					 "facility %u is %s already, and is loaded as %s with checksum 0x%08x", id, known->name,
					 quoted, d->checksum);
		return false;
	}
	if (known) {
		note_duplicate(t, k, e, known->name);
		return true;
	}
	memcpy(name, d->name, d->name_length);
	name[d->name_length] = '\0';
	uint32_t checksum = d->checksum;
	known = lttng_table_alloc(t, sizeof(*known));
	if (!known)
		return false;
	known->name = table_copy(t, name, strlen(name));
	t->facilities[id] = known;
	t->facility_checksums[id] = checksum;
	if (known->name && id)
		lttng_facility_describe(t, known->name, id, checksum, k->file, k->base + e->start);
	return t->status == TM_OK;
}

bool lttng_metadata_take(struct lttng_trace *t, struct lttng_walk *k, const struct lttng_event *e, struct finding **fd,
			 unsigned *rule)
{
	struct declaration d;
	bool facility = t->layout->era == LTTNG_FACILITIES;

	if (!declaration_read(t, k, e, &d)) {
		if (t->w.status != TM_OK)
			return false;
		*rule = LTTNG_RULE_metadata_payload_length;
		*fd = declaration_report(t, k, e, LTTNG_RULE_metadata_payload_length,
					 "the declaration's texts are longer than %u bytes", LTTNG_TEXT_MAX);
		t->metadata_broken = *fd;
		t->metadata_lost = true;
		return false;
	}
	unsigned edits = k->edit_count;
	if (facility || e->id == 0)
		judge_sizes(t, k, e, &d);
	bool taken;
	if (facility) {
		taken = take_facility(t, k, e, &d, fd, rule);
	} else {
		struct lttng_table *table = declared_table(t, d.channel, d.channel_length);
		struct lttng_name *n = table ? name_find(t, table, d.name, d.name_length) : NULL;
		if (!n)
			return false;
		/* Making room above does not move the window: d is valid. */
		taken = e->id ? take_format(t, k, e, &d, n, fd, rule) : take_id(t, k, e, &d, table, n, fd, rule);
	}
	if (!taken && k->edit_count > edits) {
		k->edit_count = edits; /* it is left out as a whole */
		k->patched--;
	}
	return taken;
}

/* ---- declarations that are made up ---- */

/* A name for a type that has none: no other has it. */
static struct lttng_name *name_make_up(struct lttng_trace *t, struct lttng_table *table, uint32_t id)
{
	char name[32];
	struct lttng_name *n;
	for (unsigned i = 0;; i++) {
		int length = i ? snprintf(name, sizeof(name), "lost_%u_%u", id, i) : snprintf(name, sizeof(name), "lost_%u", id);
		HASH_FIND(hh, table->names, name, (size_t)length, n);
		if (!n)
			return name_find(t, table, name, (size_t)length);
	}
}

const char *lttng_metadata_restore(struct lttng_trace *t, const struct lttng_channel *c, struct lttng_marker *m, const char *format)
{
	unsigned flaws;
	size_t at;
	struct lttng_name *n = m->declared ? name_find(t, c->table, m->name, strlen(m->name)) : name_make_up(t, c->table, m->id);
	if (!n)
		return NULL;
	char *name = m->name ? m->name : table_copy(t, n->name, strlen(n->name));
	char *copy = name ? table_copy(t, format, strlen(format)) : NULL;
	m->name = name;
	free(n->shape.steps);
	n->shape = (struct lttng_shape){ 0 };
	if (!copy || !lttng_format_parse(t, copy, &n->shape, &flaws, &at)) {
		free(copy);
		return NULL;
	}
	free(n->format);
	n->format = copy;
	n->blame = NULL;
	n->marker = n->marker ? n->marker : m;
	m->declared = true;
	marker_describe(n->marker, n);
	return n->format;
}

/* ---- afterwards ---- */

static void judge_unused(struct lttng_trace *t, const struct lttng_table *table, const char *channel)
{
	for (uint32_t id = 0; table && id <= table->highest; id++) {
		const struct lttng_marker *m = lttng_table_get(table, id);
		if (!m) {
			if (!table->pages[id >> 8])
				id |= 0xff;
			continue;
		}
		if (!m->declared || m->described || m->blame || m->used)
			continue;
		struct finding *fd = finding_milder(t->f, LTTNG_RULE_event_without_format, TM_WARNING, NULL, 0, 0);
		finding_say(fd, "event type %u (%s) of %s has no description, and no event", id, m->name, channel);
	}
}

void lttng_metadata_unused(struct lttng_trace *t)
{
	if (t->layout->era == LTTNG_FACILITIES)
		return;
	if (t->layout->era != LTTNG_CHANNEL_MARKERS) {
		judge_unused(t, t->table, "the trace");
		return;
	}
	for (const struct lttng_channel *c = t->channels; c; c = c->hh.next) {
		judge_unused(t, c->table, c->name);
		if (c->declared && !c->has_file) {
			char quoted[TEXT_QUOTE_SIZE];
			finding_report(t->f, LTTNG_RULE_unknown_channel_in_metadata, NULL, 0, 0,
				       "event types of channel %s are declared, and it has no file",
				       text_quote(quoted, c->name, strlen(c->name)));
		}
	}
}
