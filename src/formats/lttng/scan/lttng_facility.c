/* Facilities of 0.6 to 0.8: eventdefs/<name>.xml describes their events. */
#include <stdio.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/text.h"
#include "formats/lttng/decode/lttng_xml.h"
#include "formats/lttng/repair/lttng_repair.h"

/* ---- checksum: CRC-32, polynomial EDB88320 ---- */

static uint32_t crc_update(uint32_t crc, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		crc ^= (uint8_t)text[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
	}
	return crc;
}

/* ---- types ---- */

struct facility_parse {
	struct lttng_trace *t;
	struct lttng_xml x;
	uint32_t crc;
	const struct lttng_sizes *sizes;
	uint32_t id;
	const char *why; /* what cannot be understood */
	size_t why_at;
	struct named_type *types; /* owned */
	size_t type_count, type_room;
	uint64_t work; /* bytes read for references to named types, and names compared */
};

/* <type name=...>: an event refers to it in front of it or behind it. */
struct named_type {
	const char *name;
	size_t length, position; /* of what it holds */
};

/* A type as steps: of a struct or event, its fields one after the other. */
struct type {
	uint32_t size; /* fixed bytes; 0 where it varies */
	uint8_t align;
	bool varies;
};

static bool parse_flaw(struct facility_parse *p, const struct lttng_xml_tag *tag, const char *why)
{
	if (!p->why) {
		p->why = why;
		p->why_at = tag->at;
	}
	return false;
}

static bool add_step(struct facility_parse *p, struct lttng_shape *shape, struct lttng_step step)
{
	return lttng_shape_add(&p->t->declared.budget, shape, step) || lttng_budget_failed(p->t);
}

static void crc_text(struct facility_parse *p, const char *text)
{
	p->crc = crc_update(p->crc, text, strlen(text));
}

/* Simple types by tag: bytes, and the name that the checksum has for them. */
static const struct simple {
	const char *tag, *text;
	uint8_t size, kind;
} simple_types[] = {
	{ "char", "signed char", 1, 0 },
	{ "uchar", "unsigned char", 1, 0 },
	{ "short", "short", 2, 0 },
	{ "ushort", "unsigned short", 2, 0 },
	{ "int", "int", 0, SIZE_INT + 1 },
	{ "uint", "uint", 0, SIZE_INT + 1 },
	{ "enum", "enum", 0, SIZE_INT + 1 },
	{ "long", "long", 0, SIZE_LONG + 1 },
	{ "ulong", "unsigned long", 0, SIZE_LONG + 1 },
	{ "pointer", "void *", 0, SIZE_POINTER + 1 },
	{ "size_t", "size_t", 0, SIZE_SIZE_T + 1 },
	{ "ssize_t", "ssize_t", 0, SIZE_SIZE_T + 1 },
	{ "off_t", "off_t", 0, SIZE_SIZE_T + 1 },
	{ "float", "float", 4, 0 },
	{ "int_fixed", "int", 4, 0 },
	{ "uint_fixed", "uint", 4, 0 },
};

/* An element that holds nothing: the files of 2005 and early 2006 leave out the slash of its tag. */
static bool is_leaf(const struct lttng_xml_tag *tag)
{
	if (lttng_xml_is(tag, "string") || lttng_xml_is(tag, "typeref") || lttng_xml_is(tag, "label"))
		return true;
	for (size_t i = 0; i < sizeof(simple_types) / sizeof(simple_types[0]); i++)
		if (lttng_xml_is(tag, simple_types[i].tag))
			return strcmp(simple_types[i].tag, "enum") != 0;
	return false;
}

/* The next tag, leaves as empty elements. */
static bool next_tag(struct facility_parse *p, struct lttng_xml_tag *tag)
{
	while (lttng_xml_next(&p->x, tag)) {
		if (!is_leaf(tag))
			return true;
		if (tag->kind == XML_OPEN)
			return tag->empty = true;
	}
	return false;
}

/* What the checksum has of a type, beside its name: up to 0.7 how its values are printed. */
static void crc_print_format(struct facility_parse *p, const struct lttng_xml_tag *tag)
{
	size_t n;
	const char *format = p->t->coding.layout->minor < 8 ? lttng_xml_attribute(tag, "format", &n) : NULL;
	if (format)
		p->crc = crc_update(p->crc, format, n);
}

static uint32_t simple_size(struct facility_parse *p, const struct lttng_xml_tag *tag, char name[32])
{
	for (size_t i = 0; i < sizeof(simple_types) / sizeof(simple_types[0]); i++) {
		const struct simple *types = simple_types;
		uint64_t given = 0;
		if (!lttng_xml_is(tag, types[i].tag))
			continue;
		(void)snprintf(name, 32, "%s", types[i].text);
		uint32_t size = types[i].kind ? p->sizes->v[types[i].kind - 1] : types[i].size;
		if (lttng_xml_number(tag, "size", &given)) {
			if (given != 1 && given != 2 && given != 4 && given != 8)
				return 0;
			size = (uint32_t)given;
			if (!strcmp(types[i].text, "float"))
				(void)snprintf(name, 32, "%s", size == 8 ? "double" : "float");
			else if (strcmp(types[i].text, "enum") != 0)
				(void)snprintf(name, 32, "%s%u_t", types[i].tag[0] == 'u' ? "uint" : "int", 8 * size);
		}
		return size;
	}
	return 0;
}

static bool skip_element(struct facility_parse *p, const struct lttng_xml_tag *open)
{
	struct lttng_xml_tag tag;
	unsigned depth = 1;
	if (open->empty)
		return true;
	while (depth && next_tag(p, &tag)) {
		if (tag.kind == XML_CLOSE)
			depth--;
		else if (!tag.empty)
			depth++;
		if (tag.kind == XML_OPEN && lttng_xml_is(&tag, "label") && lttng_xml_is(open, "enum")) {
			size_t n;
			const char *name = lttng_xml_attribute(&tag, "name", &n);
			if (name)
				p->crc = crc_update(p->crc, name, n);
		}
	}
	return depth ? parse_flaw(p, open, "an element without end") : true;
}

static bool parse_type(struct facility_parse *p, const struct lttng_xml_tag *tag, struct lttng_shape *shape, unsigned depth,
		       struct type *type);

/* The next tag that opens a type; descriptions are passed over. False at the end of the element. */
static bool next_type(struct facility_parse *p, struct lttng_xml_tag *tag)
{
	while (next_tag(p, tag)) {
		if (tag->kind == XML_CLOSE)
			return false;
		if (!lttng_xml_is(tag, "description"))
			return true;
		if (!skip_element(p, tag))
			return false;
	}
	return false;
}

/* <field name=...> type </field> */
static bool parse_field(struct facility_parse *p, const struct lttng_xml_tag *tag, struct lttng_shape *shape, unsigned depth,
			struct type *type)
{
	size_t n = 0;
	struct lttng_xml_tag inner;
	if (!lttng_xml_is(tag, "field"))
		return parse_flaw(p, tag, "a field was expected");
	const char *name = lttng_xml_attribute(tag, "name", &n);
	p->crc = crc_update(p->crc, name ? name : "", name ? n : 0);
	if (tag->empty || !next_type(p, &inner))
		return parse_flaw(p, tag, "a field without a type");
	if (!parse_type(p, &inner, shape, depth + 1, type))
		return false;
	return !next_type(p, &inner) || parse_flaw(p, &inner, "two types in one field");
}

/* The fields of a struct, from the tag of the first one to the end of what holds them. */
static bool parse_fields(struct facility_parse *p, struct lttng_xml_tag *tag, struct lttng_shape *shape, unsigned depth,
			 struct type *whole)
{
	*whole = (struct type){ .align = 1 };
	do {
		struct type type;
		if (!parse_field(p, tag, shape, depth, &type))
			return false;
		whole->varies |= type.varies;
		whole->align = type.align > whole->align ? type.align : whole->align;
		uint64_t size = lttng_align(whole->size, type.align) + type.size;
		if (size > UINT32_MAX / 2)
			return parse_flaw(p, tag, "a type of more than 2 GiB");
		whole->size = (uint32_t)size;
	} while (next_type(p, tag));
	return !p->x.failed && !p->why;
}

/* A struct begins where its largest member may. */
static bool parse_struct(struct facility_parse *p, const struct lttng_xml_tag *open, struct lttng_shape *shape, unsigned depth,
			 struct type *whole)
{
	struct lttng_xml_tag tag;
	struct lttng_shape inner = { 0 };
	*whole = (struct type){ .align = 1 };
	crc_text(p, "struct");
	if (open->empty || !next_type(p, &tag))
		return !p->x.failed && !p->why;
	bool good = parse_fields(p, &tag, &inner, depth, whole);
	if (inner.count)
		inner.steps[0].align = whole->align;
	for (uint32_t i = 0; good && i < inner.count; i++)
		good = add_step(p, shape, inner.steps[i]);
	free(inner.steps);
	return good;
}

/* A union is as long as its longest member. */
static bool parse_union(struct facility_parse *p, const struct lttng_xml_tag *open, struct lttng_shape *shape, unsigned depth,
			struct type *whole)
{
	struct lttng_xml_tag tag;
	*whole = (struct type){ .align = 1 };
	crc_text(p, "union");
	while (!open->empty && next_type(p, &tag)) {
		struct type type;
		struct lttng_shape scrap = { 0 };
		bool good = parse_field(p, &tag, &scrap, depth, &type);
		free(scrap.steps);
		if (!good || type.varies)
			return parse_flaw(p, &tag, "members of a union of varying size");
		whole->align = type.align > whole->align ? type.align : whole->align;
		whole->size = type.size > whole->size ? type.size : whole->size;
	}
	return !p->x.failed && !p->why &&
	       add_step(p, shape, (struct lttng_step){ .kind = STEP_FIXED, .align = whole->align, .pad = 1, .size = whole->size });
}

/* ---- named types ---- */

/* References may go forward, and to types that refer to others: each is read again where it is used, which costs up to so many
 * times the file (lttng/eventdefs-syntax beyond). */
#define REFERENCE_WORK(length) (16 * (uint64_t)(length) + 65536)

/* Collects the named types of the facility whose tag was read, and comes back to where it was. */
static bool find_named_types(struct facility_parse *p)
{
	const struct lttng_xml here = p->x;
	struct lttng_xml_tag tag;
	while (next_tag(p, &tag)) {
		size_t n;
		const char *name = tag.kind == XML_OPEN && lttng_xml_is(&tag, "type") ? lttng_xml_attribute(&tag, "name", &n)
										      : NULL;
		if (!name || tag.empty)
			continue;
		p->t->status = array_room(&p->types, &p->type_room, p->type_count, sizeof(p->types[0]), LTTNG_XML_MAX);
		if (p->t->status != TM_OK)
			return false;
		p->types[p->type_count++] = (struct named_type){ .name = name, .length = n, .position = p->x.position };
	}
	p->x = here;
	return true;
}

static bool parse_reference(struct facility_parse *p, const struct lttng_xml_tag *tag, struct lttng_shape *shape, unsigned depth,
			    struct type *type)
{
	size_t n = 0, i = 0;
	const char *name = lttng_xml_attribute(tag, "name", &n);
	while (i < p->type_count && (!name || p->types[i].length != n || memcmp(p->types[i].name, name, n) != 0))
		i++;
	p->work += i;
	if (i == p->type_count)
		return parse_flaw(p, tag, "a reference to a type that is not there");
	const struct lttng_xml here = p->x;
	struct lttng_xml_tag inner;
	p->x.position = p->types[i].position;
	bool good = p->work < REFERENCE_WORK(p->x.length) && next_type(p, &inner) && parse_type(p, &inner, shape, depth + 1, type);
	p->work += p->x.position - p->types[i].position;
	p->x = here;
	return good || parse_flaw(p, tag, "a reference to a type that cannot be read");
}

/* An element of an array or sequence, which must have one size. */
static bool parse_element(struct facility_parse *p, const struct lttng_xml_tag *open, unsigned depth, struct type *type)
{
	struct lttng_xml_tag tag;
	struct lttng_shape scrap = { 0 };
	bool good = !open->empty && next_type(p, &tag) && parse_type(p, &tag, &scrap, depth + 1, type);
	free(scrap.steps);
	if (good && type->varies)
		return parse_flaw(p, open, "elements of varying size");
	return good || parse_flaw(p, open, "an element type was expected");
}

/* Passes over what is left of an element. */
static bool skip_rest(struct facility_parse *p)
{
	struct lttng_xml_tag tag;
	while (next_type(p, &tag))
		if (!skip_element(p, &tag))
			return false;
	return true;
}

/* What strings and sequences of 0.x are padded to, where values are aligned. */
static uint8_t tail_pad(const struct facility_parse *p)
{
	const struct lttng_coding *c = &p->t->coding;
	uint8_t tail = c->alignment && c->layout->era == LTTNG_FACILITIES ? p->sizes->v[SIZE_POINTER] & 0xcu : 0;
	return tail ? tail : 1;
}

static bool parse_array(struct facility_parse *p, const struct lttng_xml_tag *tag, struct lttng_shape *shape, unsigned depth,
			struct type *type)
{
	struct type element;
	char name[32];
	uint64_t n;

	if (!lttng_xml_number(tag, "size", &n) || !n || n > UINT32_MAX)
		return parse_flaw(p, tag, "an array without a size");
	(void)snprintf(name, sizeof(name), "array %llu", (unsigned long long)n);
	crc_text(p, name);
	crc_print_format(p, tag);
	if (!parse_element(p, tag, depth, &element) || (uint64_t)element.size * n > UINT32_MAX / 2)
		return parse_flaw(p, tag, "an array of more than 2 GiB");
	*type = (struct type){ .size = (uint32_t)(element.size * n), .align = element.align };
	return skip_rest(p) &&
	       add_step(p, shape, (struct lttng_step){ .kind = STEP_FIXED, .align = type->align, .pad = 1, .size = type->size });
}

static bool parse_sequence(struct facility_parse *p, const struct lttng_xml_tag *tag, struct lttng_shape *shape, unsigned depth,
			   struct type *type)
{
	struct type count, element;
	struct lttng_xml_tag inner;
	struct lttng_shape scrap = { 0 };

	crc_text(p, "sequence ");
	if (!parse_element(p, tag, depth, &count) || count.size > 8 || (count.size & (count.size - 1)))
		return parse_flaw(p, tag, "a sequence without a count");
	if (!next_type(p, &inner))
		return parse_flaw(p, tag, "a sequence without elements");
	bool good = parse_type(p, &inner, &scrap, depth + 1, &element);
	free(scrap.steps);
	if (!good || element.varies)
		return parse_flaw(p, tag, "a sequence of varying elements");
	if (!skip_rest(p))
		return false;
	type->varies = true;
	uint8_t align = count.align > element.align ? count.align : element.align;
	return add_step(p, shape,
			(struct lttng_step){ .kind = STEP_SEQUENCE,
					     .align = align,
					     .pad = tail_pad(p),
					     .count_size = (uint8_t)count.size,
					     .size = element.size });
}

static bool parse_type(struct facility_parse *p, const struct lttng_xml_tag *tag, struct lttng_shape *shape, unsigned depth,
		       struct type *type)
{
	char name[32];

	*type = (struct type){ .align = 1 };
	if (depth > LTTNG_TYPE_DEPTH_MAX)
		return parse_flaw(p, tag, "types are nested too deeply");
	if (lttng_xml_is(tag, "string")) {
		crc_text(p, "string");
		crc_print_format(p, tag);
		type->varies = true;
		return skip_element(p, tag) &&
		       add_step(p, shape, (struct lttng_step){ .kind = STEP_STRING, .align = 1, .pad = tail_pad(p) });
	}
	if (lttng_xml_is(tag, "struct"))
		return parse_struct(p, tag, shape, depth, type);
	if (lttng_xml_is(tag, "union"))
		return parse_union(p, tag, shape, depth, type);
	if (lttng_xml_is(tag, "typeref"))
		return parse_reference(p, tag, shape, depth, type);
	if (lttng_xml_is(tag, "array"))
		return parse_array(p, tag, shape, depth, type);
	if (lttng_xml_is(tag, "sequence"))
		return parse_sequence(p, tag, shape, depth, type);
	uint32_t size = simple_size(p, tag, name);
	if (!size)
		return parse_flaw(p, tag, "an unknown type");
	crc_text(p, name);
	crc_print_format(p, tag);
	*type = (struct type){ .size = size, .align = lttng_value_align(&p->t->coding, size) };
	return skip_element(p, tag) &&
	       add_step(p, shape, (struct lttng_step){ .kind = STEP_FIXED, .align = type->align, .pad = 1, .size = size });
}

/* What an event holds: fields, or, in the first files, a struct of them or a reference to one. */
static bool parse_body(struct facility_parse *p, struct lttng_shape *shape)
{
	struct lttng_xml_tag tag;
	struct type whole;
	if (!next_type(p, &tag))
		return !p->x.failed && !p->why;
	if (lttng_xml_is(&tag, "field"))
		return parse_fields(p, &tag, shape, 0, &whole);
	return parse_type(p, &tag, shape, 0, &whole) && skip_rest(p);
}

static bool parse_event(struct facility_parse *p, const struct lttng_xml_tag *tag, uint32_t number)
{
	struct lttng_trace *t = p->t;
	size_t n = 0;
	const char *name = lttng_xml_attribute(tag, "name", &n);
	if (!name)
		return parse_flaw(p, tag, "an event without a name");
	p->crc = crc_update(p->crc, name, n);
	struct lttng_marker *m = number > 255 ? NULL : lttng_table_make(t, t->declared.table, p->id << 8 | number);
	if (!m)
		return t->status == TM_OK ? parse_flaw(p, tag, "more than 256 events") : false;
	if (!m->type.name) {
		m->type.name = lttng_table_copy(t, name, n);
		if (!m->type.name)
			return false;
	}
	m->type.declared = m->type.described = m->owns_steps = true;
	m->guessed = NULL;
	if (!tag->empty && !parse_body(p, &m->type.shape))
		return false;
	lttng_shape_finish(&m->type.shape);
	return true;
}

static bool parse_facility(struct facility_parse *p, uint32_t *events)
{
	struct lttng_xml_tag tag;
	*events = 0;
	if (!next_type(p, &tag) || !lttng_xml_is(&tag, "facility"))
		return p->x.failed ? false : parse_flaw(p, &tag, "a facility was expected");
	size_t n = 0;
	const char *name = lttng_xml_attribute(&tag, "name", &n);
	p->crc = crc_update(UINT32_MAX, name ? name : "", name ? n : 0) ^ UINT32_MAX;
	if (tag.empty)
		return true;
	if (!find_named_types(p))
		return false;
	while (next_type(p, &tag)) {
		if (!lttng_xml_is(&tag, "event")) {
			if (!skip_element(p, &tag)) /* named types */
				return false;
			continue;
		}
		if (!parse_event(p, &tag, *events))
			return false;
		(*events)++;
	}
	return !p->x.failed && !p->why && tag.kind == XML_CLOSE && lttng_xml_is(&tag, "facility");
}

/* ---- a facility of the trace ---- */

/* What stands behind the name of a facility whose events depend on the machine ("kernel_arch_i386"); "": nothing does. */
static const char *machine_suffix(const struct lttng_trace *t, const char *name)
{
	static const char *const machines[] = { "_i386", "_ppc",   "_sh",     "_s390", "_mips",
						"_arm",	 "_ppc64", "_x86_64", "_c2",   "_powerpc" };
	uint64_t type = t->constants.want.v[LF_ARCH_TYPE];
	size_t n = strlen(name);
	bool machine = n >= 5 && !strcmp(name + n - 5, "_arch") && type && type <= sizeof(machines) / sizeof(machines[0]);
	return machine ? machines[type - 1] : "";
}

/* eventdefs/<name>.xml of the trace. */
static struct source *find_description(struct lttng_trace *t, const char *prefix, const char *name)
{
	const char *suffix = machine_suffix(t, name);
	size_t room = t->files.root_length + strlen(prefix) + strlen(name) + strlen(suffix) + sizeof("eventdefs/.xml");
	char *path = malloc(room);
	if (!path) {
		(void)lttng_no_memory(t);
		return NULL;
	}
	(void)snprintf(path, room, "%.*seventdefs/%s%s%s.xml", (int)t->files.root_length, t->files.root, prefix, name, suffix);
	struct source *s = bundle_find(t->s->in, TM_ROLE_INPUT, path);
	free(path);
	return s && s->kind == SOURCE_FILE ? s : NULL;
}

/* Marks a description file that cannot be parsed, so that repair sets it aside. */
static void description_aside(struct lttng_trace *t, const struct source *s)
{
	for (size_t i = 0; i < t->files.count; i++)
		if (t->files.list[i].source == s) {
			lttng_file_aside(&t->files.list[i], LTTNG_RULE_eventdefs_syntax, "readers stop at this description");
		}
}

/* Marks one that is whole, as its checksum proves, up to `end`: repair leaves out the rest. */
static void description_cut(struct lttng_trace *t, const struct source *s, uint64_t end)
{
	for (size_t i = 0; i < t->files.count; i++)
		if (t->files.list[i].source == s)
			t->files.list[i].kept_to = end;
}

/* The facility is loaded, and its events are not described. */
static void undescribed(struct lttng_trace *t, uint32_t id)
{
	for (uint32_t i = 0; i < 256; i++) {
		struct lttng_marker *m = lttng_table_make(t, t->declared.table, id << 8 | i);
		if (!m)
			return;
		if (m->owns_steps)
			free(m->type.shape.steps);
		m->type.shape = (struct lttng_shape){ 0 };
		m->owns_steps = false;
		m->type.declared = true;
		m->guessed = "the description that these events were recorded by is not there";
	}
}

/* A description file as read. */
struct description {
	bool good;
	uint32_t crc, events;
	size_t cut;   /* where it ends, and bytes follow that make it none; 0: there are none */
	size_t where; /* of what is not good */
	const char *why;
};

/* Where the first facility ends. */
static size_t facility_end(const char *text, size_t size)
{
	static const char tag[] = "</facility>";
	const char *end = memmem(text, size, tag, sizeof(tag) - 1);
	return end ? (size_t)(end - text) + sizeof(tag) - 1 : 0;
}

/* Fills the table by it. False: t->status. */
static bool description_read(struct lttng_trace *t, struct source *s, uint32_t id, struct description *d)
{
	char *text = NULL;
	size_t size = 0;
	enum tracemend_status status = source_slurp(s, LTTNG_XML_MAX, &text, &size);

	if (status != TM_OK) {
		t->status = status;
		return false;
	}
	struct facility_parse p = { .t = t, .x = { .text = text, .length = size }, .sizes = &t->coding.sizes, .id = id };
	bool paired = lttng_xml_paired(&p.x, is_leaf);
	const struct lttng_xml whole = p.x;
	d->cut = paired ? 0 : facility_end(text, size);
	if (d->cut) {
		p.x = (struct lttng_xml){ .text = text, .length = d->cut };
		paired = lttng_xml_paired(&p.x, is_leaf);
	}
	d->good = paired && parse_facility(&p, &d->events);
	free(p.types);
	d->crc = p.crc;
	const struct lttng_xml *x = d->cut ? &whole : &p.x;
	d->where = p.why && !d->cut ? p.why_at : x->failed ? x->failed_at : size;
	d->why = p.why && !d->cut ? p.why : x->failed ? x->why : "the facility has no end";
	free(text);
	return t->status == TM_OK;
}

static void description_adopt(struct lttng_trace *t, const char *name, uint32_t id, uint32_t events)
{
	/* An empty facility is one, too. */
	if (!events)
		(void)lttng_table_make(t, t->declared.table, id << 8);
	if (!strcmp(name, "compact")) {
		t->coding.compact_facility = id;
		t->coding.compact_events = events;
	}
}

static bool is_description_of(const struct source *s, const char *name)
{
	static const char folder[] = "eventdefs/";
	const char *base = strrchr(s->name, '/');
	size_t n = strlen(name), room = sizeof(folder) - 1;
	if (s->role != TM_ROLE_DONOR || s->kind != SOURCE_FILE || s->size > LTTNG_XML_MAX || !base++ ||
	    strncmp(base, name, n) != 0 || strcmp(base + n, ".xml") != 0 || (size_t)(base - s->name) < room ||
	    memcmp(base - room, folder, room) != 0)
		return false;
	return base - room == s->name || base[-(ptrdiff_t)room - 1] == '/';
}

/* A description is a file of the traced system, the same for each of its recordings. Which one a facility was recorded by its
 * checksum tells, over the names and types of all fields: a donor's file with that checksum is the one that is missing. */
static bool donated(struct lttng_trace *t, const char *name, uint32_t id, uint32_t checksum)
{
	for (size_t i = 0; i < t->s->in->count && t->s->plan; i++) {
		struct source *s = t->s->in->sources[i];
		struct description d = { 0 };
		if (!is_description_of(s, name))
			continue;
		if (!description_read(t, s, id, &d))
			return false;
		if (!d.good || d.cut || d.crc != checksum) {
			undescribed(t, id);
			continue;
		}
		lttng_repair_description(t, name, s);
		description_adopt(t, name, id, d.events);
		return true;
	}
	return false;
}

void lttng_facility_describe(struct lttng_trace *t, const char *name, uint32_t id, uint32_t checksum, const struct lttng_file *f,
			     uint64_t at, uint64_t length)
{
	struct finding *fd;
	struct source *s = find_description(t, "", name);
	struct description d = { 0 };
	char quoted[TEXT_QUOTE_SIZE];

	(void)text_quote(quoted, name, strlen(name));
	if (!s && find_description(t, "user_", name)) {
		finding_report(t->s->findings, LTTNG_RULE_user_facility_prefix, f->source, at, 0,
			       "facility %s is loaded, and only user_%s is described", quoted, quoted);
	}
	if (!s || s->size > LTTNG_XML_MAX) {
		/* Sizes are in the events: readers pass over those that nothing describes. */
		fd = finding_milder(t->s->findings, LTTNG_RULE_event_without_format, TM_WARNING, f->source, at, 0);
		if (s)
			finding_say(fd, "the description of facility %s has %llu bytes, of which at most %u are read", quoted,
				    (unsigned long long)s->size, LTTNG_XML_MAX);
		else
			finding_say(fd, "eventdefs has no description of facility %s", quoted);
		if ((s || !donated(t, name, id, checksum)) && t->status == TM_OK)
			undescribed(t, id);
		return;
	}
	if (!description_read(t, s, id, &d))
		return;
	if (!d.good || d.cut)
		finding_report(t->s->findings, LTTNG_RULE_eventdefs_syntax, s, d.where, 0, "%s at byte %zu", d.why, d.where);
	if (!d.good || (d.cut && d.crc != checksum)) {
		description_aside(t, s);
		undescribed(t, id);
		return;
	}
	if (d.cut)
		description_cut(t, s, d.cut);
	if (d.crc != checksum) {
		finding_report(t->s->findings, LTTNG_RULE_facility_checksum, f->source, at, 0,
			       "facility %s has checksum 0x%08x, and its description 0x%08x: its events are not checked against it",
			       quoted, checksum, d.crc);
		undescribed(t, id);
		if (t->s->plan)
			plan_doubt(t->s->plan, f->source, at, length,
				   "no description has this checksum: one of them may be damaged");
		return;
	}
	description_adopt(t, name, id, d.events);
}

/* Whether the file has the name of a description, and is none of those of the `count` facilities that were loaded. */
static bool is_left_over(const struct lttng_trace *t, const struct lttng_file *f, struct source *const *used, unsigned count)
{
	static const char folder[] = "eventdefs/", suffix[] = ".xml";
	const char *name = f->source->name;
	const size_t length = strlen(name), ends = sizeof(suffix) - 1;

	if (f->channel || !f->base || strcmp(f->base, "core.xml") == 0 || length < t->files.root_length + sizeof(folder) + ends ||
	    strncmp(name + t->files.root_length, folder, sizeof(folder) - 1) != 0 || strcmp(name + length - ends, suffix) != 0)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (used[i] == f->source)
			return false;
	return true;
}

void lttng_facilities_doubt(struct lttng_trace *t)
{
	struct source *used[2 * 256];
	const struct lttng_name *bare[256];
	unsigned used_count = 0, count = 0;
	bool left = false;

	for (unsigned id = 0; id < 256 && t->status == TM_OK; id++) {
		const struct lttng_name *n = t->declared.facilities[id];
		struct source *s = n && n->name ? find_description(t, "", n->name) : NULL;
		if (n && n->name && n->home && (id ? !s : strcmp(n->name, "core") != 0))
			bare[count++] = n;
		if (s && id)
			used[used_count++] = s;
		s = n && n->name ? find_description(t, "user_", n->name) : NULL;
		if (s)
			used[used_count++] = s;
	}
	for (size_t i = 0; i < t->files.count && count && !left && t->status == TM_OK; i++)
		left = is_left_over(t, &t->files.list[i], used, used_count);
	for (unsigned i = 0; i < count && left && t->status == TM_OK; i++) {
		plan_doubt(t->s->plan, bare[i]->home, bare[i]->from, bare[i]->length,
			   "nothing describes this facility, and something describes one that is not loaded: its name may be "
			   "damaged");
		plan_lost_other(t->s->plan);
	}
}
