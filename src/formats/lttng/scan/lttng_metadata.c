/* Declarations of event types are taken in: facility loads to 0.8, markers from 1.0 on. */
#include <stdlib.h>

#include "core/text.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Numbers that types of the tracer itself may have. */
#define CORE_TYPES 4u

/* The table for a declaration: the trace's, or that of the channel it names. */
static struct lttng_table *declared_table(struct lttng_trace *t, const char *channel, size_t length)
{
	if (t->coding.layout->era != LTTNG_CHANNEL_MARKERS)
		return t->declared.table;
	struct lttng_channel *c = lttng_channel_find(t, channel, length, true);
	if (!c)
		return NULL;
	c->declared = true;
	if (!c->table)
		c->table = lttng_table_alloc(t, sizeof(*c->table));
	return c->table;
}

/* Reports something about a declaration. */
#define declaration_report(t, w, e, rule, ...) ((void)PLACE(rule), declaration_report_at((t), (w), (e), (rule), __VA_ARGS__))
static struct finding *PRINTF_LIKE(5, 6) declaration_report_at(struct lttng_trace *t, const struct lttng_walk *w,
							       const struct lttng_event *e, unsigned rule, const char *format, ...)
{
	struct finding *fd = finding_new_at(t->s->findings, rule, w->file->source, w->in.base + e->start, e->end - e->start);
	va_list arguments;
	finding_path(fd, "block %llu > event %llu (%s)", (unsigned long long)w->number, (unsigned long long)w->at.events,
		     e->type ? e->type->name : "");
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

/* Writes bytes of a declaration anew. hit: by damage, which may go on in all of it and in the next event. */
static void patch_declaration(struct lttng_walk *w, const struct lttng_event *e, uint64_t at, const uint8_t *bytes, unsigned width,
			      unsigned rule, bool hit)
{
	struct lttng_doubt doubt = { .torn_from = e->start, .torn_to = e->end };

	doubt.late = doubt.found_again = lttng_damage_lapses(w, e, &doubt.found_to);
	if (w->edits && lttng_edits_add(w->edits, at, width, bytes, width, rule, hit ? &doubt : NULL))
		w->out.patched++;
}

/* Sizes of types: one finding for all declarations that have the same flaw. True: they were written anew, as below. */
static bool judge_sizes(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, const struct lttng_declaration *d)
{
	bool plausible = lttng_sizes_plausible(t, &d->sizes);
	unsigned rule = plausible ? LTTNG_RULE_declared_sizes_vary : LTTNG_RULE_declared_sizes_implausible;
	bool same = !memcmp(&d->sizes, &t->coding.sizes, sizeof(d->sizes));
	/* 0.x: what the facility says of alignment is a flag or a value. */
	if (plausible && same)
		return false;
	if (plausible && t->coding.layout->era == LTTNG_FACILITIES && !memcmp(&d->sizes, &t->coding.sizes, SIZE_ALIGNMENT))
		return false;
	if (t->declared.sizes_blame) {
		finding_explains(t->declared.sizes_blame, 1);
	} else {
		struct finding *fd = declaration_report(
			t, w, e, rule, "int %u, long %u, pointer %u, size_t %u, alignment %u; expected %u, %u, %u, %u, %u",
			d->sizes.v[SIZE_INT], d->sizes.v[SIZE_LONG], d->sizes.v[SIZE_POINTER], d->sizes.v[SIZE_SIZE_T],
			d->sizes.v[SIZE_ALIGNMENT], t->coding.sizes.v[SIZE_INT], t->coding.sizes.v[SIZE_LONG],
			t->coding.sizes.v[SIZE_POINTER], t->coding.sizes.v[SIZE_SIZE_T], t->coding.sizes.v[SIZE_ALIGNMENT]);
		finding_field(fd, w->in.base + d->sizes_at, SIZE_KINDS * d->sizes_width, "sizes of types");
		t->declared.sizes_blame = fd;
	}
	if (!plausible)
		lttng_declarations_lose(&t->declared, t->declared.sizes_blame); /* what else it says may be as wrong */
	uint8_t bytes[4 * SIZE_KINDS];
	for (unsigned i = 0; i < SIZE_KINDS; i++) {
		if (d->sizes_width == 4)
			store_u32(bytes + 4 * i, t->coding.sizes.v[i], t->coding.big_endian);
		else
			bytes[i] = t->coding.sizes.v[i];
	}
	/* What hit the sizes may have hit the number before them, and the next event. */
	patch_declaration(w, e, d->sizes_at, bytes, SIZE_KINDS * d->sizes_width, rule, !plausible);
	return true;
}

static void note_duplicate(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e, const char *name)
{
	if (t->declared.duplicates) {
		finding_explains(t->declared.duplicates, 1);
		return;
	}
	char quoted[TEXT_QUOTE_SIZE];
	t->declared.duplicates = declaration_report(t, w, e, LTTNG_RULE_duplicate_declaration,
						    "%s is declared again, in the same way",
						    text_quote(quoted, name, strlen(name)));
}

const struct lttng_marker *lttng_metadata_core(const struct lttng_table *table, const char *name)
{
	for (uint32_t id = 0; id < CORE_TYPES; id++) {
		const struct lttng_marker *m = lttng_table_get(table, id);
		if (m && m->type.declared && !m->home && m->type.name && !strcmp(m->type.name, name))
			return m;
	}
	return NULL;
}

/* Types of the tracer itself have fixed numbers. */
static void judge_core_number(struct lttng_trace *t, const struct lttng_walk *w, const struct lttng_event *e,
			      const struct lttng_table *table, const char *name, uint32_t id, struct finding **fd)
{
	char quoted[TEXT_QUOTE_SIZE];
	const struct lttng_marker *core = lttng_metadata_core(table, name);

	if (!core || core->type.id == id)
		return;
	*fd = declaration_report(t, w, e, LTTNG_RULE_name_with_two_ids, "%s is event type %u always, and is declared as %u",
				 text_quote(quoted, name, strlen(name)), core->type.id, id);
	if (!t->s->plan)
		return;
	plan_doubt(t->s->plan, w->file->source, w->in.base + e->start, e->end - e->start,
		   "this type has another number always: this one is damaged");
	plan_lost_other(t->s->plan);
}

/* Two types with one number: the one that is out of the row of the others has a damaged one. If that is not the second, which is
 * left out, the events of the first may be those of the second. */
static void doubt_first_of_two(struct lttng_trace *t, struct lttng_marker *m, bool second_in_row)
{
	if (!t->s->plan || !m->home || (m->in_row && !second_in_row))
		return;
	m->guessed = "two types have the number of these events: one of these numbers is damaged";
	plan_doubt(t->s->plan, m->home, m->from, m->length, "another type has the same number: one of the two is damaged");
	plan_lost_other(t->s->plan);
}

static bool take_id(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, const struct lttng_declaration *d,
		    struct lttng_table *table, struct lttng_name *n, struct finding **fd, unsigned *rule)
{
	char quoted[TEXT_QUOTE_SIZE], other[TEXT_QUOTE_SIZE];
	struct lttng_marker *m = lttng_table_make(t, table, d->id);
	if (!m)
		return false;
	const bool in_row = !table->next || d->id == table->next;
	table->next = d->id + 1;
	if (m->type.declared && strcmp(m->type.name, n->name) != 0) {
		*rule = LTTNG_RULE_id_redefined;
		*fd = declaration_report(t, w, e, LTTNG_RULE_id_redefined, "event type %u is %s, and is given to %s here", d->id,
					 text_quote(quoted, m->type.name, strlen(m->type.name)),
					 text_quote(other, n->name, strlen(n->name)));
		doubt_first_of_two(t, m, in_row);
		return false;
	}
	if (m->type.declared) {
		note_duplicate(t, w, e, n->name);
		return true;
	}
	m->type.name = lttng_table_copy(t, n->name, strlen(n->name));
	if (!m->type.name)
		return false;
	m->type.declared = true;
	m->in_row = in_row;
	m->first_use = e->stamp;
	m->home = w->file->source;
	m->from = w->in.base + e->start;
	m->length = e->end - e->start;
	if (n->marker) {
		*fd = declaration_report(t, w, e, LTTNG_RULE_name_with_two_ids,
					 "%s is event type %u already, and is declared as %u",
					 text_quote(quoted, n->name, strlen(n->name)), n->marker->type.id, d->id);
		m->twin = n->marker;
	}
	judge_core_number(t, w, e, table, n->name, d->id, fd);
	n->marker = m;
	struct lttng_marker *twin = m->twin;
	m->twin = NULL;
	lttng_marker_describe(m, n);
	m->twin = twin;
	if (t->coding.layout->era == LTTNG_MARKERS && d->id >= 4 && d->id <= 7) {
		*fd = declaration_report(t, w, e, LTTNG_RULE_reserved_id_range, "%s has the reserved number %u",
					 text_quote(quoted, n->name, strlen(n->name)), d->id);
	}
	return true;
}

/* Formats are text; what is not is damage, and says a wrong size of the events. */
static bool is_text(const char *format, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((uint8_t)format[i] < 0x20 && format[i] != '\t' && format[i] != '\n') || format[i] == 0x7f)
			return false;
	return utf8_is_valid(format, length);
}

static bool take_format(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, const struct lttng_declaration *d,
			struct lttng_name *n, struct finding **fd, unsigned *rule)
{
	char quoted[TEXT_QUOTE_SIZE], other[TEXT_QUOTE_SIZE];
	unsigned flaws;
	size_t at = 0;

	if (n->format && (strlen(n->format) != d->format_length || memcmp(n->format, d->format, d->format_length) != 0)) {
		*rule = LTTNG_RULE_format_conflict;
		*fd = declaration_report(t, w, e, LTTNG_RULE_format_conflict, "%s is \"%s\" here, and was \"%s\"",
					 text_quote(quoted, n->name, strlen(n->name)), d->format, n->format);
		return false;
	}
	if (n->format) {
		note_duplicate(t, w, e, n->name);
		return true;
	}
	char *format = lttng_table_copy(t, d->format, d->format_length);
	if (!format || !lttng_format_parse(&t->coding, &t->declared.budget, format, &n->shape, &flaws, &at)) {
		free(format);
		return lttng_budget_failed(t);
	}
	(void)text_quote(quoted, n->name, strlen(n->name));
	(void)text_quote(other, format + (at < d->format_length ? at : 0), strlen(format + (at < d->format_length ? at : 0)));
	const bool text = is_text(d->format, d->format_length);
	if (!text || flaws & FORMAT_BAD) {
		*rule = LTTNG_RULE_format_syntax;
		*fd = declaration_report(t, w, e, LTTNG_RULE_format_syntax,
					 text ? "the format of %s cannot be parsed from \"%s\" on"
					      : "the format of %s is not text: \"%s\"",
					 quoted, other);
		free(format);
		free(n->shape.steps);
		n->shape = (struct lttng_shape){ 0 };
		n->blame = *fd;
		lttng_marker_describe(n->marker, n);
		return false;
	}
	n->format = format;
	n->home = w->file->source;
	n->from = w->in.base + e->start;
	n->length = e->end - e->start;
	if (flaws & FORMAT_EIGHT) {
		*fd = declaration_report(t, w, e, LTTNG_RULE_format_qualifier_8_ambiguous,
					 "the format of %s has #8 with a shorter type: \"%s\"", quoted, format);
	}
	if (flaws & FORMAT_UNNAMED) {
		*fd = declaration_report(t, w, e, LTTNG_RULE_format_unnamed_field,
					 "the format of %s has a field without a name: \"%s\"", quoted, format);
	}
	n->blame = NULL;
	lttng_marker_describe(n->marker, n);
	return true;
}

static bool take_facility(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e,
			  const struct lttng_declaration *d, struct finding **fd, unsigned *rule)
{
	char name[LTTNG_NAME_MAX];
	char quoted[TEXT_QUOTE_SIZE];
	uint32_t id = d->id;

	(void)text_quote(quoted, d->name, d->name_length);
	if (id > 255 || d->name_length >= sizeof(name)) {
		*rule = LTTNG_RULE_metadata_payload_length;
		*fd = declaration_report(t, w, e, LTTNG_RULE_metadata_payload_length,
					 "facility %s has number %u; numbers are below 256", quoted, id);
		return false;
	}
	struct lttng_name *known = t->declared.facilities[id];
	if (known && (strlen(known->name) != d->name_length || memcmp(known->name, d->name, d->name_length) != 0 ||
		      t->declared.checksums[id] != d->checksum)) {
		*rule = LTTNG_RULE_facility_record_conflict;
		*fd = declaration_report(t, w, e, LTTNG_RULE_facility_record_conflict,
					 "facility %u is %s already, and is loaded as %s with checksum 0x%08x", id, known->name,
					 quoted, d->checksum);
		return false;
	}
	if (known) {
		note_duplicate(t, w, e, known->name);
		return true;
	}
	memcpy(name, d->name, d->name_length);
	name[d->name_length] = '\0';
	uint32_t checksum = d->checksum;
	known = lttng_table_alloc(t, sizeof(*known));
	if (!known)
		return false;
	known->name = lttng_table_copy(t, name, strlen(name));
	known->home = w->file->source;
	known->from = w->in.base + e->start;
	known->length = e->end - e->start;
	t->declared.facilities[id] = known;
	t->declared.checksums[id] = checksum;
	if (known->name && id)
		lttng_facility_describe(t, known->name, id, checksum, w->file, w->in.base + e->start, e->end - e->start);
	return t->status == TM_OK;
}

/* The number of a facility, which stands in front of its sizes. */
static bool judge_number(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, struct lttng_declaration *d)
{
	const struct lttng_misnumbered *is = &t->declared.misnumbered;
	const unsigned width = sizeof(d->id);
	const uint64_t at = d->sizes_at - width;
	char quoted[TEXT_QUOTE_SIZE];
	uint8_t bytes[sizeof(d->id)];

	if (!is->right || d->id != is->wrong)
		return false;
	struct finding *fd =
		declaration_report(t, w, e, LTTNG_RULE_misnumbered_facility,
				   "facility %s has number %u, and no event; events have facility %u, which nothing loads",
				   text_quote(quoted, d->name, d->name_length), is->wrong, is->right);
	finding_field(fd, w->in.base + at, width, "facility number = %u", is->wrong);
	store_u32(bytes, is->right, t->coding.big_endian);
	patch_declaration(w, e, at, bytes, width, LTTNG_RULE_misnumbered_facility, true);
	d->id = is->right;
	return true;
}

/* Judges number and sizes, which may be written anew. True: they were, and the texts of d are not valid any more. */
static bool judge_fields(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, struct lttng_declaration *d)
{
	const bool facility = t->coding.layout->era == LTTNG_FACILITIES, number = facility && judge_number(t, w, e, d);

	return ((facility || e->id == 0) && judge_sizes(t, w, e, d)) || number;
}

bool lttng_metadata_take(struct lttng_trace *t, struct lttng_walk *w, const struct lttng_event *e, struct finding **fd,
			 unsigned *rule)
{
	struct lttng_declaration d;
	const bool facility = t->coding.layout->era == LTTNG_FACILITIES;
	const size_t edits = w->edits->edits.count;
	bool taken = lttng_declaration_read(&w->in, e, &d);

	if (taken && judge_fields(t, w, e, &d)) {
		/* That looked at what stands behind it, which moves the window. */
		const uint32_t id = d.id;
		taken = lttng_declaration_read(&w->in, e, &d);
		d.id = id;
	}
	if (!taken) {
		if (t->window.status != TM_OK)
			return false;
		*rule = LTTNG_RULE_metadata_payload_length;
		*fd = declaration_report(t, w, e, LTTNG_RULE_metadata_payload_length,
					 "the declaration's texts are longer than %u bytes", LTTNG_TEXT_MAX);
		t->declared.broken = *fd;
		t->declared.lost = true;
		return false;
	}
	if (facility) {
		taken = take_facility(t, w, e, &d, fd, rule);
	} else {
		struct lttng_table *table = declared_table(t, d.channel, d.channel_length);
		struct lttng_name *n = table ? lttng_table_name(t, table, d.name, d.name_length) : NULL;
		if (!n)
			return false;
		/* Making room above does not move the window: d is valid. */
		taken = e->id ? take_format(t, w, e, &d, n, fd, rule) : take_id(t, w, e, &d, table, n, fd, rule);
	}
	if (!taken && w->edits->edits.count > edits) {
		w->out.patched -= w->edits->edits.count - edits;
		lttng_edits_cut(w->edits, edits); /* it is left out as a whole */
	}
	return taken;
}

/* ---- afterwards ---- */

/* Events of a number that none declares, by which a declaration of another number may be damaged: not a hit to one of them. */
#define UNKNOWN_MIN 3u

/* Whether `hit` is what damage to one byte of a number often makes of it. */
static bool is_like(uint32_t number, uint32_t hit)
{
	const uint32_t bits = number ^ hit, byte = bits & 0xff ? 0xff : 0xff00;
	return !(bits & ~byte) && (!(bits & (bits - 1)) || !(hit & byte) || (hit & byte) == byte);
}

/* Types that no event has, where events have a number that no type has: one of them may be theirs. Of a few events the number may
 * be damaged, unless one of the types has nearly the same. */
static void doubt_unused(struct lttng_trace *t, const struct lttng_table *table)
{
	const bool lost = t->declared.lost && !t->declared.unseen;
	const struct lttng_marker *few = NULL;
	bool many = false;

	for (uint32_t id = 0; table && id <= table->types.highest && !many; id++) {
		const struct lttng_marker *m = lttng_table_get(table, id);
		const bool restored = m && m->type.declared && m->guessed && !m->home && !lost;
		many = m && (restored || (!m->type.declared && m->unknown >= UNKNOWN_MIN));
		few = m && !m->type.declared && m->unknown && !lost ? m : few;
	}
	for (uint32_t id = 0; (many || few) && id <= table->types.highest; id++) {
		const struct lttng_marker *m = lttng_table_get(table, id);
		if (!m || !m->type.declared || m->used || !m->home || (!many && !is_like(few->type.id, id)))
			continue;
		plan_doubt(t->s->plan, m->home, m->from, m->length,
			   "no event is of this type, and some are of one that nothing declares: its number may be damaged");
		plan_lost_other(t->s->plan);
	}
}

static void judge_unused(struct lttng_trace *t, const struct lttng_table *table, const char *channel)
{
	for (uint32_t id = 0; table && id <= table->types.highest; id++) {
		const struct lttng_marker *m = lttng_table_get(table, id);
		if (!m) {
			if (!table->types.pages[id >> 8])
				id |= 0xff;
			continue;
		}
		if (!m->type.declared || m->type.described || m->blame || m->used)
			continue;
		struct finding *fd = finding_milder(t->s->findings, LTTNG_RULE_event_without_format, TM_WARNING, NULL, 0, 0);
		finding_say(fd, "event type %u (%s) of %s has no description, and no event", id, m->type.name, channel);
	}
}

void lttng_metadata_unused(struct lttng_trace *t)
{
	if (t->coding.layout->era == LTTNG_FACILITIES) {
		if (t->s->plan && t->status == TM_OK)
			lttng_facilities_doubt(t);
		return;
	}
	if (t->s->plan)
		doubt_unused(t, t->declared.table);
	for (const struct lttng_channel *c = t->declared.channels;
	     c && t->s->plan && t->coding.layout->era == LTTNG_CHANNEL_MARKERS; c = c->hh.next)
		doubt_unused(t, c->table);
	if (t->coding.layout->era != LTTNG_CHANNEL_MARKERS) {
		judge_unused(t, t->declared.table, "the trace");
		return;
	}
	for (const struct lttng_channel *c = t->declared.channels; c; c = c->hh.next) {
		judge_unused(t, c->table, c->name);
		if (c->declared && !c->has_file) {
			char quoted[TEXT_QUOTE_SIZE];
			finding_report(t->s->findings, LTTNG_RULE_unknown_channel_in_metadata, NULL, 0, 0,
				       "event types of channel %s are declared, and it has no file",
				       text_quote(quoted, c->name, strlen(c->name)));
			if (t->s->plan)
				plan_lost(t->s->plan, 0, TM_UNKNOWN_COUNT);
		}
	}
}
