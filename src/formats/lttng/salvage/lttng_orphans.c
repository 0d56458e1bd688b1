/* Declarations whose halves do not fit together. A type is declared by two records, its number and its description, which find each
 * other by name; where a name is damaged, both are left alone. Both are doubtful then. If one of the few descriptions that are
 * alone has nearly the name of a number that is, of the same length, they belong together. */
#include <string.h>

#include "formats/lttng/repair/lttng_repair.h"
#include "formats/lttng/salvage/lttng_salvage.h"

/* Numbers and descriptions that are alone; where there are more, none is joined. */
#define ORPHANS_MAX 16u
/* Types of which one may have a wrong number. */
#define GAP_TYPES_MIN 4u
#define GAP_TYPES_MAX 256u

/* A record that is alone. */
struct orphan {
	struct lttng_channel *channel; /* NULL: the names are those of the trace */
	struct lttng_table *table;
	struct lttng_name *name;
};

struct orphans {
	struct orphan numbers[ORPHANS_MAX], descriptions[ORPHANS_MAX];
	unsigned number_count, description_count; /* more than ORPHANS_MAX: too many */
};

static void add(struct orphan *list, unsigned *count, const struct orphan *o)
{
	if (*count < ORPHANS_MAX)
		list[*count] = *o;
	*count += *count <= ORPHANS_MAX;
}

/* Whether a record describes it, and no number is known. */
static bool lacks_number(const struct lttng_table *table, const struct lttng_name *n)
{
	return n->format && !n->marker && n->home && !lttng_metadata_core(table, n->name);
}

static void gather(struct orphans *all, struct lttng_channel *c, struct lttng_table *table)
{
	for (struct lttng_name *n = table ? table->names : NULL; n; n = n->hh.next) {
		const struct orphan o = { c, table, n };
		if (lacks_number(table, n))
			add(all->descriptions, &all->description_count, &o);
		else if (!n->format && n->marker && n->marker->home && !n->blame)
			add(all->numbers, &all->number_count, &o);
	}
}

/* The lists of the trace, or of all channels. */
static void gather_all(const struct lttng_trace *t, struct orphans *all)
{
	gather(all, NULL, t->declared.table);
	for (struct lttng_channel *c = t->declared.channels; c && t->coding.layout->era == LTTNG_CHANNEL_MARKERS; c = c->hh.next)
		gather(all, c, c->table);
}

static void doubt_table(const struct lttng_trace *t, const struct lttng_table *table)
{
	for (const struct lttng_name *n = table ? table->names : NULL; n; n = n->hh.next) {
		if (lacks_number(table, n))
			plan_doubt(t->s->plan, n->home, n->from, n->length,
				   "no number belongs to the name that this describes: it may be damaged");
		else if (!n->format && n->marker && n->marker->home && !n->blame)
			plan_doubt(t->s->plan, n->marker->home, n->marker->from, n->marker->length,
				   "nothing describes this type, and something describes one without a number: its name may be "
				   "damaged");
		else
			continue;
		plan_lost_other(t->s->plan);
	}
}

bool lttng_orphans_any(const struct lttng_trace *t)
{
	struct orphans all = { .number_count = 0 };

	gather_all(t, &all);
	return all.description_count != 0;
}

void lttng_orphans_doubt(const struct lttng_trace *t)
{
	struct orphans all = { .number_count = 0 };

	gather_all(t, &all);
	/* A number that nothing describes is legal where no description is left over. */
	if (!all.description_count)
		return;
	doubt_table(t, t->declared.table);
	for (const struct lttng_channel *c = t->declared.channels; c && t->coding.layout->era == LTTNG_CHANNEL_MARKERS;
	     c = c->hh.next)
		doubt_table(t, c->table);
}

/* Whether names of event types and channels have that byte. */
static bool is_usual(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether one of two names is the other with some bytes damaged, no more than half of them: some became what names do not have, or
 * one bit is another one. There are names that are like others. */
static bool is_like(const char *a, const char *b)
{
	const size_t length = strlen(a);
	size_t other = 0, unusual = 0, bits = 0;

	if (strlen(b) != length)
		return false;
	for (size_t i = 0; i < length; i++) {
		const unsigned changed = (unsigned char)(a[i] ^ b[i]);
		other += changed != 0;
		unusual += changed && (!is_usual(a[i]) || !is_usual(b[i]));
		bits += changed && !(changed & (changed - 1));
	}
	return !other || (2 * other <= length && (unusual || (other == 1 && bits)));
}

static bool belong(const struct orphan *a, const struct orphan *b)
{
	return is_like(a->name->name, b->name->name) && (a->channel == b->channel || is_like(a->channel->name, b->channel->name));
}

/* The one description that may belong to a number, and to no other number; NULL: there is none, or more. */
static const struct orphan *partner(const struct orphans *all, const struct orphan *number)
{
	const struct orphan *found = NULL;

	for (unsigned i = 0; i < all->description_count; i++) {
		if (!belong(number, &all->descriptions[i]))
			continue;
		if (found)
			return NULL;
		found = &all->descriptions[i];
	}
	for (unsigned i = 0; i < all->number_count && found; i++)
		if (&all->numbers[i] != number && belong(&all->numbers[i], found))
			return NULL;
	return found;
}

/* The type of a number and its description. The channel that has a file is the right one. */
static bool join(struct lttng_trace *t, const struct orphan *number, const struct orphan *description, struct lttng_restored *is)
{
	const bool own = number->table == description->table || number->channel->has_file;
	const struct orphan *home = own ? number : description;
	struct lttng_marker *m = own ? number->name->marker : lttng_table_make(t, home->table, number->name->marker->type.id);

	if (!m || (!own && m->type.declared) || !home->channel || strlen(description->name->format) >= LTTNG_RESTORED_FORMAT ||
	    strlen(home->channel->name) + strlen(home->name->name) > LTTNG_RESTORED_NAMES)
		return false;
	if (!own)
		m->type.name = lttng_table_copy(t, home->name->name, strlen(home->name->name));
	*is = (struct lttng_restored){ .channel = home->channel, .marker = m, .named = own };
	is->format = m->type.name ? lttng_restore(t, is->channel, m, description->name->format) : NULL;
	if (!is->format)
		return false;
	const struct lttng_marker *said = number->name->marker;
	struct finding *fd = finding_new(t->s->findings, LTTNG_RULE_event_without_format, said->home, said->from, said->length);
	finding_say(fd, "event type %u of %s has no description, and that of %s no number: one of these names is damaged",
		    said->type.id, number->name->name, description->name->name);
	return true;
}

unsigned lttng_orphans_join(struct lttng_trace *t, struct lttng_restored *types, unsigned room)
{
	struct orphans all = { .number_count = 0 };
	unsigned count = 0;

	if (t->coding.layout->era != LTTNG_CHANNEL_MARKERS)
		return 0;
	gather_all(t, &all);
	if (all.number_count > ORPHANS_MAX || all.description_count > ORPHANS_MAX)
		return 0;
	for (unsigned i = 0; i < all.number_count && count < room && t->status == TM_OK; i++) {
		const struct orphan *description = partner(&all, &all.numbers[i]);
		if (description && join(t, &all.numbers[i], description, &types[count]))
			count++;
	}
	return count;
}

/* The declared types of a table, as they stand in their file, up to GAP_TYPES_MAX. How many; 0: they are more, or one number
 * follows the other, or they are in several files. */
static unsigned in_order(const struct lttng_table *table, const struct lttng_marker *list[GAP_TYPES_MAX])
{
	unsigned count = 0;
	bool follow = true;

	for (uint32_t id = 0; table && id <= table->types.highest; id++) {
		const struct lttng_marker *m = lttng_table_get(table, id);
		if (!m || !m->type.declared || !m->home)
			continue;
		if (count == GAP_TYPES_MAX || (count && m->home != list[0]->home))
			return 0;
		follow &= !count || lttng_table_get(table, id - 1) == list[count - 1];
		list[count++] = m;
	}
	if (follow)
		return 0;
	for (unsigned i = 1; i < count; i++)
		for (unsigned k = i; k && list[k]->from < list[k - 1]->from; k--) {
			const struct lttng_marker *other = list[k];
			list[k] = list[k - 1];
			list[k - 1] = other;
		}
	return count;
}

/* Tracers number types one after the other, as they declare them. *missing: the number that no type has; *moved: the one that
 * stands in its place. False: there are none, or more. */
bool lttng_orphans_gap(const struct lttng_table *table, uint32_t *missing, uint32_t *moved)
{
	const struct lttng_marker *list[GAP_TYPES_MAX];
	const unsigned count = in_order(table, list);
	uint32_t base = 0, other = 0;
	int votes = 0;

	/* What most of them say the first number is (R. S. Boyer, J S. Moore, "MJRTY", 1981). */
	for (unsigned i = 0; i < count; i++) {
		const uint32_t says = list[i]->type.id - i;
		base = votes ? base : says;
		votes += says == base ? 1 : -1;
	}
	for (unsigned i = 0; i < count; i++) {
		if (list[i]->type.id - i == base)
			continue;
		other++;
		*missing = base + i;
		*moved = list[i]->type.id;
	}
	const struct lttng_marker *there = count && other == 1 ? lttng_table_get(table, *missing) : NULL;
	return count >= GAP_TYPES_MIN && other == 1 && !(there && there->type.declared);
}

bool lttng_orphans_renumber(struct lttng_trace *t, struct lttng_channel *c, uint32_t missing, uint32_t moved,
			    struct lttng_restored *is)
{
	struct lttng_marker *m = lttng_table_make(t, c->table, missing), *said = lttng_table_get(c->table, moved);
	struct lttng_name *n = NULL;

	if (said && said->type.name)
		HASH_FIND(hh, c->table->names, said->type.name, strlen(said->type.name), n);
	if (!m || m->type.declared || !n || !n->format || strlen(n->format) >= LTTNG_RESTORED_FORMAT ||
	    strlen(c->name) > LTTNG_RESTORED_NAMES / 2)
		return false;
	*is = (struct lttng_restored){ .channel = c, .marker = m };
	is->format = lttng_restore(t, c, m, n->format);
	if (!is->format)
		return false;
	struct finding *fd = finding_new(t->s->findings, LTTNG_RULE_dangling_event_id, said->home, said->from, said->length);
	finding_say(fd, "no record declares event type %u of channel %s, and blocks begin with it; %s has the number %u instead",
		    missing, c->name, n->name, moved);
	if (t->s->plan) {
		plan_doubt(t->s->plan, said->home, said->from, said->length,
			   "no event is of this type, and some are of one that nothing declares: its number may be damaged");
		plan_lost_other(t->s->plan);
	}
	return true;
}
