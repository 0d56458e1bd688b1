/* The other kinds of chunks: property lists, and the kinds that no check looks into. */
#include "formats/ktrace/decode/ktrace_kind.h"
#include "formats/ktrace/gen/ktrace_gen.h"

#include <string.h>

/* ---- binary property lists: objects, the table of their offsets, the trailer ---- */

#define LIST_OBJECTS 64u
#define LIST_ENTRIES 12u

struct list {
	struct ktrace_gen *g;
	struct bytes *to;
	size_t start;
	uint16_t offsets[LIST_OBJECTS];
	uint8_t count;
};

static uint8_t list_object(struct list *l)
{
	l->offsets[l->count] = (uint16_t)(l->to->size - l->start);
	return l->count++;
}

/* The marker of an object with a length: 15 and more are a number behind it. */
static void list_marker(struct list *l, uint8_t type, size_t length)
{
	bytes_u8(l->to, (uint8_t)(type | (length < 15 ? length : 15)));
	if (length >= 15) {
		bytes_u8(l->to, 0x10);
		bytes_u8(l->to, (uint8_t)length);
	}
}

static uint8_t list_text(struct list *l, const char *text, size_t length)
{
	uint8_t object = list_object(l);
	list_marker(l, 0x50, length);
	bytes_append(l->to, text, length);
	return object;
}

/* A value that holds no others. */
static uint8_t list_value(struct list *l)
{
	static const char *const texts[] = { "Darwin", "com.apple.xpc.activity", "arm64e", "/usr/lib/libSystem.B.dylib" };
	const char *text = texts[choices_below(l->g->c, 4)];
	uint8_t object, number[8];

	switch (choices_below(l->g->c, 4)) {
	case 0:
		object = list_object(l);
		bytes_u8(l->to, choices_chance(l->g->c, 1, 2) ? 0x09 : 0x08); /* true, false */
		return object;
	case 1:
		object = list_object(l);
		store_u64(number, choices_number(l->g->c) >> 1, true);
		bytes_u8(l->to, 0x13); /* an integer of 8 bytes */
		bytes_append(l->to, number, sizeof(number));
		return object;
	case 2:
		object = list_object(l);
		list_marker(l, 0x40, 16); /* data: an identifier */
		for (unsigned i = 0; i < 16; i++)
			bytes_u8(l->to, (uint8_t)choices_below(l->g->c, 256));
		return object;
	default:
		return list_text(l, text, strlen(text));
	}
}

/* A value, or an array of them. */
static uint8_t list_any(struct list *l)
{
	uint8_t members[4], n = choices_chance(l->g->c, 1, 3) ? (uint8_t)choices_below(l->g->c, 4) : 0;

	if (!n)
		return list_value(l);
	for (uint8_t i = 0; i < n; i++)
		members[i] = list_value(l);
	uint8_t object = list_object(l);
	list_marker(l, 0xa0, n);
	bytes_append(l->to, members, n);
	return object;
}

void ktrace_make_plist(struct ktrace_gen *g, struct bytes *to, const char *keys)
{
	struct list l = { .g = g, .to = to, .start = to->size };
	uint8_t names[LIST_ENTRIES], values[LIST_ENTRIES], n = 0, trailer[32] = { [6] = 2, [7] = 1 };

	bytes_text(to, "bplist00");
	for (const char *key = keys, *end; *key && n < LIST_ENTRIES; key = *end ? end + 1 : end) {
		end = key + strcspn(key, " ");
		names[n] = list_text(&l, key, (size_t)(end - key));
		values[n++] = list_any(&l);
	}
	trailer[23] = list_object(&l); /* the top one */
	list_marker(&l, 0xd0, n);
	bytes_append(to, names, n);
	bytes_append(to, values, n);
	store_u64(trailer + 24, to->size - l.start, true);
	trailer[15] = l.count;
	for (unsigned i = 0; i < l.count; i++) {
		bytes_u8(to, (uint8_t)(l.offsets[i] >> 8));
		bytes_u8(to, (uint8_t)l.offsets[i]);
	}
	bytes_append(to, trailer, sizeof(trailer));
}

/* ---- kinds ---- */

/* What the payload of a kind is made of: keys of a property list; a text; else `size` bytes at least. */
struct other {
	uint32_t tag;
	uint16_t major;
	bool in_header;
	uint8_t size;
	const char *keys, *text;
};

static const struct other others[] = {
	{ .tag = KTRACE_RESERVED_1A, .in_header = true, .size = 4 },
	{ .tag = KTRACE_TRIMMED, .major = 1, .in_header = true, .size = 8 },
	{ .tag = KTRACE_CONFIG_KERNEL, .size = 8 },
	{ .tag = 0x5001, .size = 44 },
	{ .tag = 0x5002, .major = 1, .keys = "Kernel64bit GPUInfo" },
	{ .tag = 0x51f6, .size = 48 },
	{ .tag = 0x51f9, .size = 16 },
	{ .tag = 0x51fa, .keys = "signposts" },
	{ .tag = 0x51fb, .size = 16 },
	{ .tag = 0x51fe, .size = 16 },
	{ .tag = 0x51ff, .size = 16 },
	{ .tag = KTRACE_NESTED },
	{ .tag = 0x8001, .keys = "Binaries" },
	{ .tag = KTRACE_IMAGES, .major = 1, .keys = "pid uuid path base" },
	{ .tag = 0x8005, .keys = "Binaries KernelMap" },
	{ .tag = 0x8008, .keys = "kernel report" },
	{ .tag = KTRACE_REMOTE_TIME, .size = 24 },
	{ .tag = 0x8010, .keys = "pid name uniqueid" },
	{ .tag = 0x8011, .keys = "Events" },
	{ .tag = 0x8012, .keys = "StringIndex Strings" },
	{ .tag = KTRACE_CATALOG, .major = 1, .size = 24 },
	{ .tag = KTRACE_PASSIVE_INTERVAL, .size = 48 },
	{ .tag = 0x9000, .size = 16 },
	{ .tag = 0x9008, .size = 8 },
	{ .tag = 0x9009, .size = 8 },
	{ .tag = 0x900a, .keys = "mach_abs_time mach_cont_time" },
	{ .tag = 0x12001, .text = "{\"1\": \"exit\", \"3\": \"read\"}" },
	{ .tag = 0xe001e001, .major = 1, .size = 32 },
};

/* A whole file without chunks. */
static void make_nested(struct ktrace_gen *g, struct bytes *to)
{
	uint8_t *p = bytes_grow(to, KTRACE_HEADER);
	if (!p)
		return;
	store_u32(p, KTRACE_MAGIC, false);
	store_u64(p + 8, KTRACE_HEADER - KTRACE_HEADER_UNCOUNTED, false);
	store_u32(p + 16, g->numer, false);
	store_u32(p + 20, g->denom, false);
	store_u64(p + 32, g->seconds, false);
	store_u32(p + 52, g->flags, false);
}

void ktrace_make_others(struct ktrace_gen *g, bool in_header)
{
	uint64_t n = choices_below(g->c, in_header ? 2 : 4);

	if (!ktrace_gen_has(g, KTRACE_FEATURE_OTHERS, n))
		return;
	for (n += !n; n; n--) {
		/* The first two are those of the header. */
		const struct other *o = &others[in_header ? choices_below(g->c, 2)
							  : 2 + choices_below(g->c, sizeof(others) / sizeof(others[0]) - 2)];
		bool again = ktrace_kind_find(o->tag)->single && ktrace_made_find(g, o->tag);
		struct ktrace_made *m = again ? NULL : ktrace_make_chunk(g, o->tag, o->major, in_header);
		if (!m)
			return;
		if (o->tag == KTRACE_NESTED) {
			make_nested(g, &m->payload);
		} else if (o->keys) {
			ktrace_make_plist(g, &m->payload, o->keys);
		} else if (o->text) {
			bytes_text(&m->payload, o->text);
		} else {
			bool fixed = ktrace_kind_fixed_size(ktrace_kind_find(o->tag));
			for (uint64_t size = o->size + (fixed ? 0 : choices_below(g->c, 64)); size; size--)
				bytes_u8(&m->payload, (uint8_t)choices_below(g->c, 256));
		}
	}
}
