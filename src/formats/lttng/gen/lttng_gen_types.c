/* Event types of generated traces: descriptions, and payloads that fit them. */
#include "formats/lttng/gen/lttng_gen.h"

#include <stdio.h>
#include <string.h>

/* Fields: c char, h short, i int, l long, z size_t, p pointer or ptrdiff_t, 1 2 4 8 fixed, s string. */
const struct lttng_kind lttng_kinds[] = {
	{ "sched_schedule", "prev_pid %d next_pid %d prev_state #2d%ld", "ii2" },
	{ "open", "filename %s fd %d", "si" },
	{ "irq_exit", " ", "" },
	{ "syscall_entry", "ip #p%ld syscall_id #2u%u", "p2" },
	{ "printk", "string %s", "s" },
	{ "read", "fd %u count %zu", "iz" },
	{ "irq_entry", "irq_id #1u%u kernel_mode #1u%u", "11" },
	{ "timer_set", "expires #8u%llu function %p", "8p" },
	{ "dev_receive", "protocol #n2u%hu address #n4u%u", "24" },
	{ "mount", "device %s type %s flags %lu", "ssl" },
	{ "statistics", "state %c load %#hx size %Zu offset %td", "chzp" },
	{ "process_exit", "code #4d%d at 100 %% of %ld", "4l" },
	{ "mixture", "a %d s %s b #8u%llu c #2u%hu", "is82" },
};
const unsigned lttng_kind_count = sizeof(lttng_kinds) / sizeof(lttng_kinds[0]);

#define FOUR "a #8u%llu b #8u%llu c #8u%llu d #8u%llu "
#define FORTY FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR
const struct lttng_kind lttng_kind_wide = { "wide", FORTY, "8888888888888888888888888888888888888888" };
const struct lttng_kind lttng_kind_text = { "text", "text %s", "s" };

uint32_t lttng_gen_long(const struct lttng_gen *g)
{
	return g->arch;
}

static uint32_t field_size(const struct lttng_gen *g, char field)
{
	switch (field) {
	case 'c':
	case '1':
		return 1;
	case 'h':
	case '2':
		return 2;
	case 'i':
	case '4':
		return 4;
	case '8':
		return 8;
	case 's':
		return 0;
	default:
		return g->arch;
	}
}

static uint8_t value_align(const struct lttng_gen *g, uint32_t size)
{
	if (!g->alignment || size <= 1)
		return 1;
	return (uint8_t)(g->l->natural || size < g->alignment ? size : g->alignment);
}

static void put_text(struct lttng_gen *g)
{
	static const char *const texts[] = {
		"", "<NULL>", "/etc/passwd", "eth0", "\xc3\xa9t\xc3\xa9", "a longer text, of several words"
	};
	uint64_t n = g->huge && choices_chance(g->c, 1, 12) ? choices_below(g->c, 4) : 4;
	static const uint32_t lengths[] = { 65533, 65534, 65535, 70000 };

	if (n < 4 && g->scratch.size + lengths[n] < LTTNG_GEN_PAYLOAD) {
		uint8_t *p = bytes_grow(&g->scratch, lengths[n]);
		if (p)
			memset(p, 'x', lengths[n]);
	} else {
		bytes_text(&g->scratch, texts[choices_below(g->c, sizeof(texts) / sizeof(texts[0]))]);
	}
	bytes_u8(&g->scratch, 0);
	if (g->l->era == LTTNG_FACILITIES && g->alignment)
		bytes_align(&g->scratch, g->arch);
}

uint8_t lttng_gen_payload(struct lttng_gen *g, const struct lttng_kind *kind)
{
	uint8_t most = 1;
	g->scratch.size = 0;
	for (const char *field = kind->fields; *field; field++) {
		uint32_t size = field_size(g, *field);
		if (!size) {
			put_text(g);
			continue;
		}
		uint8_t align = value_align(g, size);
		most = align > most ? align : most;
		bytes_align(&g->scratch, align);
		uint8_t *p = bytes_grow(&g->scratch, size);
		uint64_t v = choices_u64(g->c);
		if (p)
			memcpy(p, &v, size);
	}
	return most;
}

/* ---- facilities ---- */

static uint32_t crc_text(uint32_t crc, const char *text)
{
	for (; *text; text++) {
		crc ^= (uint8_t)*text;
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
	}
	return crc;
}

/* XML of a type, and its name in the checksum. */
static void field_xml(char field, const char **xml, const char **name)
{
	static const struct {
		char field;
		const char *xml, *name;
	} types[] = {
		{ 'c', "<char/>", "signed char" },
		{ 'h', "<short/>", "short" },
		{ 'i', "<int/>", "int" },
		{ 'l', "<ulong/>", "unsigned long" },
		{ 'z', "<size_t/>", "size_t" },
		{ 'p', "<pointer/>", "void *" },
		{ 's', "<string/>", "string" },
		{ '1', "<uint_fixed size=\"1\"/>", "uint8_t" },
		{ '2', "<uint_fixed size=\"2\"/>", "uint16_t" },
		{ '4', "<int_fixed size=\"4\"/>", "int32_t" },
		{ '8', "<uint_fixed size=\"8\"/>", "uint64_t" },
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].field == field) {
			*xml = types[i].xml;
			*name = types[i].name;
		}
}

uint32_t lttng_gen_xml(struct lttng_gen *g, struct bytes *to, const char *facility, const struct lttng_kind *const *kinds,
		       unsigned count)
{
	uint32_t crc = crc_text(UINT32_MAX, facility) ^ UINT32_MAX;
	(void)g;
	bytes_printf(to, "<?xml version=\"1.0\"?>\n<facility name=\"%s\">\n<description>Events of %s</description>\n", facility,
		     facility);
	for (unsigned i = 0; i < count; i++) {
		bytes_printf(to, "<event name=\"%s\">\n", kinds[i]->name);
		crc = crc_text(crc, kinds[i]->name);
		unsigned number = 0;
		for (const char *field = kinds[i]->fields; *field; field++) {
			char name[16];
			const char *xml = "", *type = "";
			field_xml(*field, &xml, &type);
			(void)snprintf(name, sizeof(name), "field_%u", number++);
			bytes_printf(to, "  <field name=\"%s\">%s</field>\n", name, xml);
			crc = crc_text(crc_text(crc, name), type);
		}
		bytes_text(to, "</event>\n");
	}
	bytes_text(to, "</facility>\n");
	return crc;
}
